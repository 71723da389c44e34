//! The pack's skills as the knowledge floor takes them.

use crate::knowledge::Skill;
use crate::pack::SkillHead;

impl From<&SkillHead> for Skill {
    fn from(head: &SkillHead) -> Self {
        Skill {
            name: head.name.clone(),
            description: head.description.clone(),
            place: head.place.clone(),
        }
    }
}
