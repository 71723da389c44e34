//! Learnings as tools give them: the index first, then single entries by id. No tool gives the whole file.

use super::Gateway;
use super::content::{Outcome, knowledge_failure};
use super::reads::limit;
use super::tools::{ReadLearning, SearchLearnings};
use agentctl_knowledge::{IndexLine, Learning, Query, plans_for, quoted};
use serde_json::{Map, Value, json};

/// So many entries one call may read.
const MOST_ENTRIES: usize = 20;
/// So many characters of an entry are given: ten times what one should have.
const MOST_CHARS: usize = 12_000;
/// So many patterns are offered for a request.
const MOST_PLANS: usize = 3;

impl Gateway {
    /// The index for an empty query, else the lines that fit.
    pub(super) fn search_learnings(&self, search: &SearchLearnings) -> Outcome {
        let line = |l: &IndexLine| json!({"id": l.id, "line": l.text});
        if search.plan_for.is_some()
            || (search.query.trim().is_empty() && search.findings.is_empty())
        {
            let patterns = match self.knowledge.patterns() {
                Ok(patterns) => patterns,
                Err(error) => return knowledge_failure(&error),
            };
            if let Some(wanted) = &search.plan_for {
                let most = limit(search.limit).min(MOST_PLANS);
                let fitting = plans_for(&patterns, &wanted.request, &wanted.node_types, most);
                let lines: Vec<Value> = fitting.iter().map(|p| line(&p.line())).collect();
                return Outcome::Ok(json!({"patterns": lines, "learnings": []}));
            }
            let plans = patterns.iter().filter(|p| p.is_plan()).count();
            return match self.knowledge.learning_index() {
                Ok(index) => Outcome::Ok(json!({"index": index, "plans": plans, "learnings": []})),
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
            false => self.knowledge.patterns(),
        };
        let read =
            patterns.and_then(|patterns| Ok((patterns, self.knowledge.read_learnings(&ids)?)));
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
