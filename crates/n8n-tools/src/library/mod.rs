//! The tools of what is known: skills, and what earlier runs learned. Any pack may offer them.

mod answers;
mod get_best_practices;
mod load_skill;
mod read_learning;
mod read_skill_file;
mod search_learnings;
mod write_learning;

use crate::tool::{Table, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::store::Event;
use agentctl_engine::toolset::{Cx, Fault, Head, Parsed, Settling, Toolset};
use agentctl_knowledge::Knowledge;
use serde_json::{Map, Value};
use std::sync::Arc;

pub struct Library {
    knowledge: Arc<Knowledge>,
    table: Table<Knowledge>,
}

/// Every tool, sorted by name.
fn table() -> Vec<Tool<Knowledge>> {
    vec![
        get_best_practices::tool(),
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
    /// Where nothing was learned there is nothing to look for.
    fn serves(&self, tool: &str) -> bool {
        match tool {
            "search_learnings" | "read_learning" => self.knowledge.has_learned(),
            _ => true,
        }
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
