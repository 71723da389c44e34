//! `search_templates`: templates, where the backend has them.

use super::n8n::N8n;
use crate::arguments::{arguments, limit, most, wanted};
use crate::backend::{BackendErrorKind, TemplateHead};
use crate::capability as can;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::toolset::{Answer, Cx, Head, Outcome, Read, backend_failure};
use agentctl_n8n::fit::{Wanted, listed_score};
use serde_json::{Value, json};

arguments! {
    SearchTemplates {
        required query: String = json!({"type": "string"});
        /// Score each template against this, best first.
        optional wanted: Option<Wanted> = wanted("as list_workflows takes it; each template then has a fit_score, best first");
        optional limit: Option<usize> = limit();
    }
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::read::<SearchTemplates>(Head {
        open_world: true,
        ..Head::new(
            "search_templates",
            can::SEARCH_TEMPLATES,
            "Find templates, where the backend has them.",
            SearchTemplates::schema,
        )
    })
}

impl Read for On<N8n, SearchTemplates> {
    fn run<'a>(&'a self, _: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        Box::pin(async {
            let (search, backend) = (&self.args, self.on.backend());
            let found = backend.search_templates(&search.query, most(search.limit));
            match found.await {
                Ok(found) if found.is_empty() && !backend.can().templates => Ok(Outcome::Ok(
                    json!({"templates": [], "note": format!("the {} backend has no templates", backend.name())}),
                )),
                Ok(found) => Ok(Outcome::Ok(
                    json!({"templates": scored(found, search.wanted.as_ref())}),
                )),
                Err(error) if error.kind == BackendErrorKind::Unsupported => {
                    Ok(Outcome::Failed(backend_failure(&error)))
                }
                Err(error) => Err(error),
            }
        })
    }
}

/// By name and node types, as workflows of a long list are; best first.
fn scored(found: Vec<TemplateHead>, wanted: Option<&Wanted>) -> Vec<Value> {
    let Some(wanted) = wanted else {
        return found.into_iter().map(|head| json!(head)).collect();
    };
    let mut scored: Vec<(u8, Value)> = found
        .into_iter()
        .map(|head| {
            let score = listed_score(wanted, &head.name, &head.node_types);
            let mut entry = json!(head);
            if let Value::Object(map) = &mut entry {
                map.insert("fit_score".into(), json!(score));
            }
            (score, entry)
        })
        .collect();
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored.into_iter().map(|(_, entry)| entry).collect()
}
