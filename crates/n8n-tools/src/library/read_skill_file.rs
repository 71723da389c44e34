//! `read_skill_file`: one further file of a skill.

use super::answers::{knowledge_failure, paged};
use crate::arguments::{arguments, cursor, text};
use crate::capability as can;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::{Answer, Cx, Head, Read};
use agentctl_knowledge::Knowledge;
use serde_json::json;

arguments! {
    ReadSkillFile {
        required skill: String = text("the skill's name");
        required path: String = text("as load_skill lists it");
        optional cursor: Option<String> = cursor();
    }
}

pub(super) fn tool() -> Tool<Knowledge> {
    Tool::read::<ReadSkillFile>(Head::new(
        "read_skill_file",
        can::READ_SKILLS,
        "Read one file of a skill, by its path inside the skill.",
        ReadSkillFile::schema,
    ))
}

impl Read for On<Knowledge, ReadSkillFile> {
    fn run<'a>(&'a self, _: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        let of = &self.args;
        let told = match self.on.skill_file(&of.skill, &of.path) {
            Ok(text) => paged(
                json!({"skill": of.skill, "path": of.path}),
                &text,
                of.cursor.as_deref(),
            ),
            Err(error) => knowledge_failure(&error),
        };
        Box::pin(std::future::ready(Ok(told)))
    }
}
