//! The pack's skills as the knowledge floor takes them.

use crate::pack::SkillHead;
use agentctl_knowledge::Skill;

impl From<&SkillHead> for Skill {
    fn from(head: &SkillHead) -> Self {
        Skill {
            name: head.name.clone(),
            description: head.description.clone(),
            place: head.place.clone(),
        }
    }
}
