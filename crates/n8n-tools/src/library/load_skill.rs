//! `load_skill`: a skill's text.

use super::answers::{knowledge_failure, paged};
use crate::arguments::{arguments, cursor, text};
use crate::capability as can;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::{Answer, Cx, Head, Read};
use agentctl_knowledge::Knowledge;
use serde_json::json;

arguments! {
    LoadSkill {
        required name: String = text("the skill's name");
        optional cursor: Option<String> = cursor();
    }
}

pub(super) fn tool() -> Tool<Knowledge> {
    Tool::read::<LoadSkill>(Head::new(
        "load_skill",
        can::READ_SKILLS,
        "Read a skill's text and the names of its further files.",
        LoadSkill::schema,
    ))
}

impl Read for On<Knowledge, LoadSkill> {
    fn run<'a>(&'a self, _: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        let told = match self.on.load_skill(&self.args.name) {
            Ok(skill) => paged(
                json!({"name": skill.name, "description": skill.description, "files": skill.files}),
                &skill.body,
                self.args.cursor.as_deref(),
            ),
            Err(error) => knowledge_failure(&error),
        };
        Box::pin(std::future::ready(Ok(told)))
    }
}
