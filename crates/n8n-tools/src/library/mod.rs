//! The tools of what is known: skills, and what earlier runs learned. Any pack may offer them.

mod load_skill;
mod read_learning;
mod read_skill_file;
mod search_learnings;
mod write_learning;

use crate::tool::{Table, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::store::Event;
use agentctl_engine::toolset::{Cx, Fault, Head, Outcome, Parsed, Settling, Toolset, text_page};
use agentctl_knowledge::{Knowledge, KnowledgeError};
use serde_json::{Map, Value, json};
use std::sync::Arc;

pub struct Library {
    knowledge: Arc<Knowledge>,
    table: Table<Knowledge>,
}

/// Every tool, sorted by name.
fn table() -> Vec<Tool<Knowledge>> {
    vec![
        load_skill::tool(),
        read_learning::tool(),
        read_skill_file::tool(),
        search_learnings::tool(),
        write_learning::tool(),
    ]
}

/// What policies, packs and clients are told of the tools.
pub fn heads() -> Vec<Head> {
    Table::new(table()).heads
}

impl Library {
    pub fn new(knowledge: Knowledge) -> Self {
        Library {
            knowledge: Arc::new(knowledge),
            table: Table::new(table()),
        }
    }
}

impl Toolset for Library {
    fn backend(&self) -> &str {
        "project"
    }
    fn tools(&self) -> &[Head] {
        &self.table.heads
    }
    fn parse(&self, tool: &str, args: Map<String, Value>) -> Result<Parsed, String> {
        self.table.parse(&self.knowledge, tool, args)
    }
    /// Its one change is repeatable, and so never comes here: a learning is written once however often it is asked for.
    fn settle<'a>(
        &'a self,
        _: &'a mut Cx<'_>,
        _: &'a Event,
    ) -> BoxFuture<'a, Result<Settling, Fault>> {
        let why = "the run was interrupted during this call; it may have happened";
        Box::pin(std::future::ready(Ok(Settling::Unknown(why.to_owned()))))
    }
}

pub(super) fn knowledge_failure(error: &KnowledgeError) -> Outcome {
    let (rule, hint) = match error {
        KnowledgeError::NotFound { known, .. } => (
            "knowledge.not_found",
            format!("there are: {}", known.join(", ")),
        ),
        KnowledgeError::Outside { .. } => (
            "knowledge.outside",
            "name a file as load_skill lists it".to_owned(),
        ),
        KnowledgeError::Unreadable { .. } | KnowledgeError::Unwritable { .. } => {
            ("knowledge.io", "go on without it".to_owned())
        }
        KnowledgeError::Invalid(_) => ("arguments", "shorten or complete it".to_owned()),
    };
    Outcome::failed(error.to_string(), rule, &hint)
}

/// A page of a text, with what else is told.
fn paged(content: Value, text: &str, cursor: Option<&str>) -> Outcome {
    let (text, next) = match text_page(text, cursor) {
        Ok(page) => page,
        Err(why) => {
            let hint = "use `next_cursor` as the answer before gave it";
            return Outcome::failed(why, "arguments", hint);
        }
    };
    let Value::Object(mut map) = content else {
        return Outcome::Ok(content);
    };
    map.insert("text".into(), Value::String(text));
    if let Some(next) = next {
        map.insert("next_cursor".into(), json!(next));
    }
    Outcome::Ok(Value::Object(map))
}
