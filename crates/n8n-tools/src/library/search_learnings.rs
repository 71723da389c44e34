//! `search_learnings`: the index first, then single lines that fit. No tool gives the whole file.

use super::answers::knowledge_failure;
use crate::arguments::{arguments, limit, most, object, text};
use crate::capability as can;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::{Answer, Cx, Head, Outcome, Read};
use agentctl_knowledge::{IndexLine, Knowledge, Query, plans_for};
use serde::Deserialize;
use serde_json::{Value, json};

/// So many patterns are offered for a request.
const MOST_PLANS: usize = 3;

arguments! {
    SearchLearnings {
        required query: String = text("words, or code:CODE, node:TYPE, tag:NAME; empty gives the index");
        /// Only what was learned about one of their codes; their messages rank it.
        #[serde(default)]
        optional findings: Vec<SeenFinding> = json!({"type": "array",
            "items": object(json!({"code": text("e.g. n8n/parameter"), "message": text("as the check gave it")}), &["code"]),
            "description": "what was learned about these findings"});
        /// The patterns that are plans for this request, instead of entries.
        optional plan_for: Option<PlanFor> = object(
            json!({"request": text("the request's words"), "node_types": {"type": "array", "items": {"type": "string"}, "description": "as far as they are known"}}),
            &["request"],
        );
        optional limit: Option<usize> = limit();
    }
}

/// A request as far as patterns are chosen by it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanFor {
    pub request: String,
    /// The node types that it needs, as far as they are known.
    #[serde(default)]
    pub node_types: Vec<String>,
}

/// A finding as far as a search needs it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeenFinding {
    pub code: String,
    #[serde(default)]
    pub message: String,
}

pub(super) fn tool() -> Tool<Knowledge> {
    Tool::read::<SearchLearnings>(Head::new(
        "search_learnings",
        can::READ_LEARNINGS,
        "Search past lessons. An empty query gives the index; words, or code:CODE, node:TYPE, tag:NAME, give ids with one line each; `plan_for` gives the patterns that fit a request.",
        SearchLearnings::schema,
    ))
}

impl Read for On<Knowledge, SearchLearnings> {
    fn run<'a>(&'a self, _: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        let told = search_learnings(&self.on, &self.args);
        Box::pin(std::future::ready(Ok(told)))
    }
}

/// The index for an empty query, else the lines that fit.
fn search_learnings(knowledge: &Knowledge, search: &SearchLearnings) -> Outcome {
    let line = |l: &IndexLine| json!({"id": l.id, "line": l.text});
    if search.plan_for.is_some() || (search.query.trim().is_empty() && search.findings.is_empty()) {
        let patterns = match knowledge.patterns() {
            Ok(patterns) => patterns,
            Err(error) => return knowledge_failure(&error),
        };
        if let Some(wanted) = &search.plan_for {
            let most = most(search.limit).min(MOST_PLANS);
            let fitting = plans_for(&patterns, &wanted.request, &wanted.node_types, most);
            let lines: Vec<Value> = fitting.iter().map(|p| line(&p.line())).collect();
            return Outcome::Ok(json!({"patterns": lines, "learnings": []}));
        }
        let plans = patterns.iter().filter(|p| p.is_plan()).count();
        return match knowledge.learning_index() {
            Ok(index) => Outcome::Ok(json!({"index": index, "plans": plans, "learnings": []})),
            Err(error) => knowledge_failure(&error),
        };
    }
    let mut query = Query::parse(&search.query);
    for finding in &search.findings {
        query.about(&finding.code, &finding.message);
    }
    let found = knowledge.search_learnings(&query, most(search.limit));
    match found {
        Ok(lines) => Outcome::Ok(json!({"learnings": lines.iter().map(line).collect::<Vec<_>>()})),
        Err(error) => knowledge_failure(&error),
    }
}
