//! `read_learning`: single entries and patterns by their ids.

use super::answers::knowledge_failure;
use crate::arguments::arguments;
use crate::capability as can;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::{Answer, Cx, Head, Outcome, Read};
use agentctl_knowledge::{Knowledge, Learning, quoted};
use serde_json::{Map, Value, json};

/// So many entries one call may read.
const MOST_ENTRIES: usize = 20;
/// So many characters of an entry are given: ten times what one should have.
const MOST_CHARS: usize = 12_000;

arguments! {
    ReadLearning {
        required ids: Vec<String> = json!({"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": MOST_ENTRIES});
    }
}

pub(super) fn tool() -> Tool<Knowledge> {
    Tool::read::<ReadLearning>(Head::new(
        "read_learning",
        can::READ_LEARNINGS,
        "Read learnings (L-001) and patterns (P-001) by their ids, as search_learnings names them.",
        ReadLearning::schema,
    ))
}

impl Read for On<Knowledge, ReadLearning> {
    fn run<'a>(&'a self, _: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        let told = read_learnings(&self.on, &self.args);
        Box::pin(std::future::ready(Ok(told)))
    }
}

fn read_learnings(knowledge: &Knowledge, of: &ReadLearning) -> Outcome {
    if of.ids.len() > MOST_ENTRIES {
        return Outcome::failed(
            format!("{} entries in one call", of.ids.len()),
            "arguments",
            "read at most 20 by id, those whose index line fits",
        );
    }
    let (plans, ids): (Vec<String>, Vec<String>) = of
        .ids
        .iter()
        .map(|id| id.trim().to_owned())
        .partition(|id| {
            id.get(..2)
                .is_some_and(|start| start.eq_ignore_ascii_case("P-"))
        });
    let patterns = match plans.is_empty() {
        true => Ok(Vec::new()),
        false => knowledge.patterns(),
    };
    let read = patterns.and_then(|patterns| Ok((patterns, knowledge.read_learnings(&ids)?)));
    match read {
        Ok((patterns, (entries, mut missing))) => {
            let mut read: Vec<Value> = entries.iter().map(entry).collect();
            for id in plans {
                match patterns.iter().find(|p| p.id.eq_ignore_ascii_case(&id)) {
                    Some(pattern) => read.push(pattern.shown()),
                    None => missing.push(id),
                }
            }
            Outcome::Ok(json!({"learnings": read, "missing": missing}))
        }
        Err(error) => knowledge_failure(&error),
    }
}

fn entry(entry: &Learning) -> Value {
    let mut map = Map::new();
    map.insert("id".into(), json!(entry.id));
    map.insert("title".into(), json!(quoted(&cut(&entry.title))));
    map.insert("node_types".into(), json!(entry.node_types));
    map.insert("finding_codes".into(), json!(entry.finding_codes));
    if let Some(fix) = &entry.fix {
        map.insert("fix".into(), json!(fix));
    }
    map.insert("body".into(), json!(cut(&entry.body())));
    Value::Object(map)
}

/// An entry that is no entry any more (`learnings check` tells it) does not fill an agent's memory.
fn cut(text: &str) -> String {
    match text.char_indices().nth(MOST_CHARS) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}… (cut)", text.get(..at).unwrap_or_default()),
    }
}
