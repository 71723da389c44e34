//! `write_learning`: a lesson is recorded.

use super::answers::knowledge_failure;
use crate::arguments::{arguments, text, texts, workflow_id};
use crate::capability as can;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::store::SnapshotRef;
use agentctl_engine::toolset::{
    Act, Change, Cx, Head, Keep, Outcome, Performed, Plan, Planning, Touches,
};
use agentctl_knowledge::{Knowledge, NewLearning};
use serde_json::{Value, json};
use std::sync::Arc;

arguments! {
    WriteLearning {
        required title: String = json!({"type": "string", "maxLength": 120});
        /// What one sees.
        required problem: String = text("what one sees");
        required cause: String = text("why");
        required solution: String = text("what to do next time");
        required evidence: String = text("where it was seen: run and event, finding id");
        optional workflow_id: Option<String> = workflow_id();
        #[serde(default)]
        optional node_types: Vec<String> = texts();
        #[serde(default)]
        optional finding_codes: Vec<String> = texts();
        #[serde(default)]
        optional tags: Vec<String> = texts();
        /// `checker`, or edit operations as JSON: how the builder can clear the finding.
        optional fix: Option<String> = text("only if the fix is always the same: `checker` (the checker's likely fix), or a JSON array of update_workflow operations without `node`");
    }
}

pub(super) fn tool() -> Tool<Knowledge> {
    Tool::change::<WriteLearning>(Head {
        repeatable: true,
        ..Head::new(
            "write_learning",
            can::WRITE_LEARNINGS,
            "Record a lesson: what one sees, why, what to do, and where it was seen. Returns its id.",
            WriteLearning::schema,
        )
    })
}

impl WriteLearning {
    fn entry(&self, date: String) -> NewLearning {
        let args = self.clone();
        NewLearning {
            title: args.title,
            date,
            workflow: args.workflow_id,
            node_types: args.node_types,
            finding_codes: args.finding_codes,
            tags: args.tags,
            problem: args.problem,
            cause: args.cause,
            solution: args.solution,
            evidence: args.evidence,
            fix: args.fix,
        }
    }
}

impl Change for On<Knowledge, WriteLearning> {
    fn plan<'a>(&'a self, cx: &'a mut Cx<'_>, _: &'a Value) -> BoxFuture<'a, Planning> {
        let date = cx.recorder.now().strftime("%Y-%m-%d").to_string();
        let act = Write {
            knowledge: Arc::clone(&self.on),
            entry: self.args.entry(date),
        };
        Box::pin(std::future::ready(Ok(Ok(Plan::unguarded(Box::new(act))))))
    }
}

struct Write {
    knowledge: Arc<Knowledge>,
    entry: NewLearning,
}

impl Act for Write {
    fn touches(&self) -> Touches {
        Touches::Nothing
    }
    fn keep(&self) -> Option<Keep> {
        None
    }
    fn perform<'a>(&'a mut self, _: Option<&'a SnapshotRef>) -> BoxFuture<'a, Performed> {
        let entry = &self.entry;
        let outcome = match self.knowledge.write_learning(entry) {
            Ok(id) => Outcome::Ok(json!({"learning_id": id, "title": entry.title})),
            Err(error) => knowledge_failure(&error),
        };
        Box::pin(std::future::ready((Ok(outcome), None)))
    }
}
