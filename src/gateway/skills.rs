//! The pack's skills as the knowledge floor reads them. Stands here because neither of the two may know the other.

use crate::knowledge::{Skill, SkillPlace};
use crate::pack::SkillHead;
use std::borrow::Cow;

impl From<SkillHead> for Skill {
    fn from(head: SkillHead) -> Self {
        Skill::from(&head)
    }
}

impl From<&SkillHead> for Skill {
    fn from(head: &SkillHead) -> Self {
        let place = match &head.dir {
            Some(dir) => SkillPlace::Folder(dir.clone()),
            None => {
                let mut names = head.files();
                names.push("SKILL.md".to_owned());
                let embedded = |name: String| {
                    let text = head.read_file(&name).ok()?;
                    Some((name, Cow::Owned(text.into_bytes())))
                };
                SkillPlace::Embedded(names.into_iter().filter_map(embedded).collect())
            }
        };
        Skill {
            name: head.name.clone(),
            description: head.description.clone(),
            place,
        }
    }
}
