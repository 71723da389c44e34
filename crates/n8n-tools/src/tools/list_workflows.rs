//! `list_workflows`: what there is, and how well each fits what is wanted.

use super::content::bad_cursor;
use super::memory::{N8nMemory, memory};
use super::n8n::N8n;
use crate::arguments::{arguments, cursor, text, wanted};
use crate::backend::{BackendErrorKind, ListQuery, Listed, list_all};
use crate::capability as can;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::{Answer, Cx, Head, Outcome, Read, page};
use agentctl_n8n::fit::{Wanted, fit_score, listed_score};
use agentctl_n8n::rehearsal;
use serde_json::{Map, Value, json};

/// So many workflows are read whole to see how well they fit; where it is asked, the others are counted and not listed: each list stays
/// in the run's journal.
const MOST_READ: usize = 40;

/// The key of a workflow that the run's request names as the one to change.
const NAMED: &str = "named";

arguments! {
    ListWorkflows {
        /// Only those whose name or node types hold all these words.
        optional query: Option<String> = text("words that the name or the node types must hold");
        /// Score each workflow against this, best first.
        optional wanted: Option<Wanted> = wanted("what a new workflow would need; each listed workflow then has a fit_score (0-100) with its parts, best first");
        optional cursor: Option<String> = cursor();
    }
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::read::<ListWorkflows>(Head::new(
        "list_workflows",
        can::LIST_WORKFLOWS,
        "List the workflows: id, name, active, node count, node types. Files that cannot be read are listed as broken.",
        ListWorkflows::schema,
    ))
}

impl Read for On<N8n, ListWorkflows> {
    fn run<'a>(&'a self, cx: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        Box::pin(self.on.list_workflows(&self.args, memory(cx.guards)))
    }
}

impl N8n {
    async fn list_workflows(&self, list: &ListWorkflows, memory: &N8nMemory) -> Answer {
        let listing = list_all(self.backend(), &ListQuery::default()).await?;
        let words: Vec<String> = list
            .query
            .iter()
            .flat_map(|q| q.split_whitespace())
            .map(str::to_lowercase)
            .collect();
        let mut workflows: Vec<Value> = Vec::new();
        let mut left_out = 0;
        let mut matching: Vec<&Listed> = listing
            .workflows
            .iter()
            .filter(|w| {
                let (types, tags) = (w.node_types.join(" "), w.tags.join(" "));
                let text = format!("{} {} {types} {tags}", w.id, w.name).to_lowercase();
                words.iter().all(|word| text.contains(word)) && !w.name.starts_with(rehearsal::COPY)
            })
            .collect();
        if let Some(wanted) = &list.wanted
            && matching.len() > MOST_READ
        {
            // Each one that is scored is read whole; of many only those that look like it are.
            matching.sort_by_cached_key(|w| {
                let score = listed_score(wanted, &w.name, &w.node_types);
                std::cmp::Reverse((memory.names(&w.name), score))
            });
            left_out = matching.len() - MOST_READ;
            matching.truncate(MOST_READ);
        }
        for found in matching {
            let mut entry = json!(found);
            if let Some(entry) = entry.as_object_mut().filter(|_| memory.names(&found.name)) {
                entry.insert(NAMED.into(), json!(true));
            }
            if let Some(wanted) = &list.wanted {
                // One that vanished or broke since it was listed simply does not fit.
                let fit = match self.backend.get(&found.id).await {
                    Ok(stored) => fit_score(wanted, &stored.workflow),
                    Err(error) if error.kind == BackendErrorKind::Unavailable => return Err(error),
                    Err(_) => continue,
                };
                if let Value::Object(entry) = &mut entry {
                    entry.insert("fit_score".into(), json!(fit.score));
                    entry.insert("fit_parts".into(), json!(fit.parts));
                }
            }
            workflows.push(entry);
        }
        if list.wanted.is_some() {
            let fit = |w: &Value| w.get("fit_score").and_then(Value::as_u64);
            workflows.sort_by_key(|w| std::cmp::Reverse((w.get(NAMED).is_some(), fit(w))));
        }
        let page = match page(workflows, list.cursor.as_deref()) {
            Ok(page) => page,
            Err(why) => return Ok(bad_cursor(why)),
        };
        let mut content = Map::new();
        content.insert("workflows".into(), Value::Array(page.items));
        content.insert("total".into(), json!(page.total + left_out));
        if left_out > 0 {
            let note = format!(
                "{left_out} more fit less; without `wanted`, or with `query`, they are listed"
            );
            content.insert("note".into(), note.into());
        }
        if !listing.broken.is_empty() {
            content.insert("broken".into(), json!(listing.broken));
        }
        if let Some(next) = page.next {
            content.insert("next_cursor".into(), json!(next));
        }
        Ok(Outcome::Ok(Value::Object(content)))
    }
}
