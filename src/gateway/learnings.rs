//! Learnings as tools give them: the index first, then single entries by id. No tool gives the whole file.

use super::Gateway;
use super::content::{Outcome, knowledge_failure};
use super::reads::limit;
use super::tools::{ReadLearning, SearchLearnings};
use crate::knowledge::{IndexLine, Learning, Query, quoted};
use serde_json::{Map, Value, json};

/// So many entries one call may read.
const MOST_ENTRIES: usize = 20;

impl Gateway {
    /// The index for an empty query, else the lines that fit.
    pub(super) fn search_learnings(&self, search: &SearchLearnings) -> Outcome {
        if search.query.trim().is_empty() && search.findings.is_empty() {
            return match self.knowledge.learning_index() {
                Ok(index) => Outcome::Ok(json!({"index": index, "learnings": []})),
                Err(error) => knowledge_failure(&error),
            };
        }
        let mut query = Query::parse(&search.query);
        for finding in &search.findings {
            query.about(&finding.code, &finding.message);
        }
        let found = self.knowledge.search_learnings(&query, limit(search.limit));
        match found {
            Ok(lines) => {
                let line = |l: &IndexLine| json!({"id": l.id, "line": l.text});
                Outcome::Ok(json!({"learnings": lines.iter().map(line).collect::<Vec<_>>()}))
            }
            Err(error) => knowledge_failure(&error),
        }
    }

    pub(super) fn read_learnings(&self, of: &ReadLearning) -> Outcome {
        if of.ids.len() > MOST_ENTRIES {
            return Outcome::failed(
                format!("{} entries in one call", of.ids.len()),
                "arguments",
                "read at most 20 by id, those whose index line fits",
            );
        }
        match self.knowledge.read_learnings(&of.ids) {
            Ok((entries, missing)) => Outcome::Ok(json!({
                "learnings": entries.iter().map(entry).collect::<Vec<_>>(),
                "missing": missing,
            })),
            Err(error) => knowledge_failure(&error),
        }
    }
}

fn entry(entry: &Learning) -> Value {
    let mut map = Map::new();
    map.insert("id".into(), json!(entry.id));
    map.insert("title".into(), json!(quoted(&entry.title)));
    map.insert("node_types".into(), json!(entry.node_types));
    map.insert("finding_codes".into(), json!(entry.finding_codes));
    if let Some(fix) = &entry.fix {
        map.insert("fix".into(), json!(fix));
    }
    map.insert("body".into(), json!(entry.body()));
    Value::Object(map)
}
