//! n8n's public REST API: the part of it that a backend needs, typed.

use super::document::{self, Held, checked_id, held};
use super::http::{Effect, Http};
use crate::backend::{
    BackendError, BackendErrorKind, BackendResult, CredentialHead, ExecutionHead, ExecutionQuery,
    InstanceCheck, ListQuery, Listing, NodeTypesFile, Stored,
};
use agentctl_n8n::todo_note::Item;
use agentctl_n8n::{Workflow, WorkflowId};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::{Method, Url};
use serde_json::{Map, Value, json};

/// Of one page: a workflow can be long.
const PAGE: &str = "50";
/// n8n's own bound.
const MOST_EXECUTIONS: usize = 250;
const MAX_PAGES: usize = 400;
const DESCRIPTION: &str = "description";

#[derive(Clone)]
pub(super) struct Rest {
    http: Http,
}

impl Rest {
    pub fn new(http: Http) -> Self {
        Rest { http }
    }

    pub fn http(&self) -> &Http {
        &self.http
    }

    fn url(&self, parts: &[&str]) -> Url {
        let parts: Vec<&str> = ["api", "v1"]
            .into_iter()
            .chain(parts.iter().copied())
            .collect();
        self.http.url(&parts)
    }

    async fn read(&self, parts: &[&str], query: &[(&str, &str)]) -> BackendResult<Value> {
        let mut url = self.url(parts);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        self.http.json(Effect::Reads, Method::GET, url, None).await
    }

    async fn write(
        &self,
        method: Method,
        parts: &[&str],
        body: Option<&Value>,
    ) -> BackendResult<Value> {
        let url = self.url(parts);
        self.http.json(Effect::Writes, method, url, body).await
    }

    pub async fn list(&self, query: &ListQuery) -> BackendResult<Listing> {
        let mut asked = vec![("limit", PAGE), ("excludePinnedData", "true")];
        // n8n finds names that hold the text; which of them is meant is settled below.
        asked.extend(query.name.as_deref().map(|name| ("name", name)));
        asked.extend(query.tag.as_deref().map(|tag| ("tags", tag)));
        asked.extend(
            query
                .active
                .map(|a| ("active", if a { "true" } else { "false" })),
        );
        asked.extend(query.cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let page = match self.read(&["workflows"], &asked).await {
            Err(e) if e.kind == BackendErrorKind::NotFound => {
                return Err(BackendError::unavailable(format!(
                    "{} has no public API",
                    self.http.base()
                ))
                .with_hint(
                    "switch it on (N8N_PUBLIC_API_DISABLED=false), or correct N8N_API_URL",
                ));
            }
            page => page?,
        };
        let mut listing = Listing {
            next: next(&page),
            ..Listing::default()
        };
        for workflow in items(page)? {
            let held = held(workflow)?;
            let listed = held.stored.listed();
            if !held.archived && query.fits(&listed) {
                listing.workflows.push(listed);
            }
        }
        Ok(listing)
    }

    /// The published ones, whole.
    pub async fn active(&self) -> BackendResult<Vec<Stored>> {
        let asked = [
            ("limit", PAGE),
            ("excludePinnedData", "true"),
            ("active", "true"),
        ];
        let found = self.pages(&["workflows"], &asked).await?.into_iter();
        let found: Vec<Held> = found.map(held).collect::<BackendResult<_>>()?;
        let active = found.into_iter().filter(|held| !held.archived);
        Ok(active.map(|held| held.stored).collect())
    }

    pub async fn get(&self, id: &WorkflowId) -> BackendResult<Held> {
        let id = checked_id(&id.0)?;
        let found = self.read(&["workflows", id], &[]).await;
        present(id, found.and_then(held))
    }

    /// The new workflow's id. n8n takes a description in an update only; a creation with one it refuses before it does
    /// anything.
    pub async fn create(&self, workflow: &Workflow, in_mcp: bool) -> BackendResult<WorkflowId> {
        let mut body = document::to_create(workflow, in_mcp);
        match self.made(body.clone()).await {
            Err(e) if refuses_a_key(&e) && body.shift_remove(DESCRIPTION).is_some() => {
                let id = self.made(body).await?;
                self.replace(&id, workflow).await?;
                Ok(id)
            }
            made => made,
        }
    }

    async fn made(&self, body: Map<String, Value>) -> BackendResult<WorkflowId> {
        let body = Value::Object(body);
        let answer = self
            .write(Method::POST, &["workflows"], Some(&body))
            .await?;
        Ok(held(answer)?.stored.id)
    }

    pub async fn replace(&self, id: &WorkflowId, workflow: &Workflow) -> BackendResult<Held> {
        let now = self.get(id).await?;
        let body = Value::Object(document::to_replace(workflow, &now));
        let id = checked_id(&id.0)?;
        let answer = self
            .write(Method::PUT, &["workflows", id], Some(&body))
            .await;
        present(id, answer.and_then(held))
    }

    /// Writes the note, where it does not say this already.
    pub async fn note_todo(
        &self,
        id: &WorkflowId,
        todo: &[Item],
        note_id: &str,
    ) -> BackendResult<()> {
        let now = self.get(id).await?;
        if now.stored.todo == todo {
            return Ok(());
        }
        let body = Value::Object(document::with_note(
            &now.stored.workflow,
            &now,
            todo,
            note_id,
        ));
        let id = checked_id(&id.0)?;
        let done = self
            .write(Method::PUT, &["workflows", id], Some(&body))
            .await;
        present(id, done.map(|_| ()))
    }

    pub async fn delete(&self, id: &WorkflowId) -> BackendResult<()> {
        let id = checked_id(&id.0)?;
        let done = self.write(Method::DELETE, &["workflows", id], None).await;
        present(id, done.map(|_| ()))
    }

    pub async fn set_active(&self, id: &WorkflowId, active: bool) -> BackendResult<()> {
        let verb = if active { "activate" } else { "deactivate" };
        let id = checked_id(&id.0)?;
        let none = json!({});
        let done = self
            .write(Method::POST, &["workflows", id, verb], Some(&none))
            .await;
        present(id, done.map(|_| ()))
    }

    pub async fn set_tags(&self, id: &WorkflowId, tags: &[String]) -> BackendResult<()> {
        let mut known: Vec<(String, String)> = Vec::new();
        let pages = self.pages(&["tags"], &[("limit", "250")]).await?;
        for tag in pages {
            let text = |key: &str| tag.get(key).and_then(Value::as_str).map(str::to_owned);
            known.extend(text("name").zip(text("id")));
        }
        let mut ids = Vec::with_capacity(tags.len());
        for name in tags {
            let found = known.iter().find(|(known, _)| known == name);
            let id = match found {
                Some((_, id)) => id.clone(),
                None => {
                    let body = json!({"name": name});
                    let made = self.write(Method::POST, &["tags"], Some(&body)).await?;
                    let id = made.get("id").and_then(Value::as_str);
                    id.map(str::to_owned).ok_or_else(|| {
                        BackendError::unavailable(format!("n8n gave the new tag {name:?} no id"))
                    })?
                }
            };
            ids.push(json!({"id": id}));
        }
        let id = checked_id(&id.0)?;
        let body = Value::Array(ids);
        let done = self
            .write(Method::PUT, &["workflows", id, "tags"], Some(&body))
            .await;
        present(id, done.map(|_| ()))
    }

    /// Deletes a tag, unless a workflow carries it.
    pub async fn forget_tag(&self, name: &str) -> BackendResult<()> {
        let carried = self
            .read(&["workflows"], &[("limit", "1"), ("tags", name)])
            .await?;
        if !items(carried)?.is_empty() {
            return Ok(());
        }
        for tag in self.pages(&["tags"], &[("limit", "250")]).await? {
            let text = |key: &str| tag.get(key).and_then(Value::as_str);
            if let (Some(id), true) = (text("id"), text("name") == Some(name)) {
                let id = checked_id(id)?;
                self.write(Method::DELETE, &["tags", id], None).await?;
            }
        }
        Ok(())
    }

    pub async fn executions(&self, query: &ExecutionQuery) -> BackendResult<Vec<ExecutionHead>> {
        let limit = query.limit.clamp(1, MOST_EXECUTIONS).to_string();
        let mut asked = vec![("limit", limit.as_str()), ("includeData", "false")];
        if let Some(id) = &query.workflow {
            asked.push(("workflowId", checked_id(&id.0)?));
        }
        asked.extend(query.status.as_deref().map(|status| ("status", status)));
        let page = self.read(&["executions"], &asked).await?;
        let mut heads: Vec<ExecutionHead> = items(page)?.iter().filter_map(head).collect();
        heads.sort_by_key(|head| std::cmp::Reverse(head.id.parse::<u64>().unwrap_or(0)));
        Ok(heads)
    }

    pub async fn execution(&self, id: &str) -> BackendResult<Value> {
        let id = checked_id(id)?;
        let found = self
            .read(&["executions", id], &[("includeData", "true")])
            .await;
        found.map_err(|e| match e.kind {
            BackendErrorKind::NotFound => {
                BackendError::not_found(format!("there is no execution `{id}`"))
                    .with_hint("list_executions shows those that n8n kept")
            }
            _ => e,
        })
    }

    pub async fn credentials(&self) -> BackendResult<Vec<CredentialHead>> {
        let found = self.pages(&["credentials"], &[("limit", "250")]).await;
        let found = found.map_err(|e| match e.kind {
            BackendErrorKind::Unsupported | BackendErrorKind::NotFound => {
                BackendError::unsupported("this n8n does not list credentials to API clients")
                    .with_hint("newer releases do, to keys of the owner or an admin")
            }
            _ => e,
        })?;
        let mut heads: Vec<CredentialHead> = found.iter().filter_map(credential).collect();
        heads.sort();
        Ok(heads)
    }

    /// All items of all pages.
    async fn pages(&self, parts: &[&str], query: &[(&str, &str)]) -> BackendResult<Vec<Value>> {
        let mut all = Vec::new();
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let mut asked = query.to_vec();
            asked.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
            let page = self.read(parts, &asked).await?;
            let following = next(&page);
            all.extend(items(page)?);
            if following.is_none() || following == cursor {
                return Ok(all);
            }
            cursor = following;
        }
        Err(BackendError::unavailable(
            "n8n's pages do not come to an end",
        ))
    }

    /// n8n gives its list of types to its editor only, which has a login.
    pub async fn node_types(&self) -> BackendResult<NodeTypesFile> {
        let url = self.http.url(&["types", "nodes.json"]);
        let source = url.to_string();
        let answer = self.http.send(Effect::Reads, Method::GET, url, None).await;
        match answer {
            Ok(answer) if answer.body.first() == Some(&b'[') => Ok(NodeTypesFile {
                source,
                n8n_version: self.version().await,
                bytes: answer.body,
            }),
            Ok(_) => Err(no_types(&source)),
            Err(e) if e.message.contains("HTTP 40") => Err(no_types(&source)),
            Err(e) => Err(e),
        }
    }

    /// The release, which n8n tells its own editor in the page that starts it.
    pub async fn version(&self) -> Option<String> {
        let page = self.http.url(&[""]);
        let sent = self.http.send(Effect::Reads, Method::GET, page, None).await;
        let page = String::from_utf8(sent.ok()?.body).ok()?;
        let (_, rest) = page.split_once("name=\"n8n:config:sentry\" content=\"")?;
        let (coded, _) = rest.split_once('"')?;
        let told: Value = serde_json::from_slice(&STANDARD.decode(coded).ok()?).ok()?;
        let version = told.get("release")?.as_str()?.strip_prefix("n8n@")?;
        let plain = version.len() <= 40
            && version
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-'));
        plain.then(|| version.to_owned())
    }

    pub async fn check(&self) -> Vec<InstanceCheck> {
        let health = self.http.url(&["healthz"]);
        let there = self
            .http
            .send(Effect::Reads, Method::GET, health, None)
            .await;
        let health = match there {
            Ok(answer) => answer.body,
            Err(error) => return vec![InstanceCheck::bad("reachable", &error)],
        };
        let version = self.version().await;
        let listed = self.read(&["workflows"], &[("limit", "1")]).await;
        let base = self.http.base();
        let reached = match (&version, listed.and_then(items)) {
            (Some(version), listed) => (format!("n8n {version} at {base}"), listed),
            // What gives any list to any question is not asked for anything yet.
            (None, Ok(_)) if !is_well(&health) => {
                let error = BackendError::unavailable(
                    "it does not say of itself what an n8n says (/healthz), so it may be no n8n",
                );
                let error = error.with_hint("check N8N_API_URL: it must be the address of an n8n");
                (format!("something answers at {base}"), Err(error))
            }
            (None, Ok(listed)) => (
                format!("n8n at {base}; it does not tell its version"),
                Ok(listed),
            ),
            // Something is there, and nothing of what it says is n8n's.
            (None, Err(error)) => (format!("something answers at {base}"), Err(error)),
        };
        let key = match reached.1 {
            Ok(_) => InstanceCheck::good("key", "n8n takes the API key"),
            Err(error) => InstanceCheck::bad("key", &error),
        };
        vec![InstanceCheck::good("reachable", reached.0), key]
    }
}

/// What n8n says at `/healthz`.
fn is_well(health: &[u8]) -> bool {
    let said: Value = serde_json::from_slice(health).unwrap_or_default();
    said.get("status").and_then(Value::as_str) == Some("ok")
}

/// In the words of 1.x to 2.40, or in those of 2.41.
fn refuses_a_key(error: &BackendError) -> bool {
    let words = ["additional properties", "Unrecognized key(s)"];
    error.kind == BackendErrorKind::Rejected
        && words.iter().any(|words| error.message.contains(words))
}

fn no_types(source: &str) -> BackendError {
    BackendError::unsupported(format!("n8n gives {source} only to its own editor")).with_hint(
        "agentctl catalog sync --auth-env VAR, with VAR holding the line `Cookie: n8n-auth=…` of a login (the editor's, in the browser's tools); or name that file of the n8n. One that `agentctl n8n up` started needs neither",
    )
}

/// Not found is said of the workflow, and what is in the bin is not there.
pub(super) fn present<T: Archived>(id: &str, found: BackendResult<T>) -> BackendResult<T> {
    let missing = |what: &str| {
        BackendError::not_found(format!("{what} `{id}`"))
            .with_hint("`list_workflows` shows the workflows that exist")
    };
    match found {
        Ok(found) if found.archived() => Err(missing("n8n keeps in its archive the workflow")),
        Err(e) if e.kind == BackendErrorKind::NotFound => Err(missing("n8n has no workflow")),
        found => found,
    }
}

pub(super) trait Archived {
    fn archived(&self) -> bool;
}
impl Archived for () {
    fn archived(&self) -> bool {
        false
    }
}
impl Archived for Held {
    fn archived(&self) -> bool {
        self.archived
    }
}

fn next(page: &Value) -> Option<String> {
    let cursor = page.get("nextCursor").and_then(Value::as_str);
    cursor.filter(|c| !c.is_empty()).map(str::to_owned)
}

fn items(mut page: Value) -> BackendResult<Vec<Value>> {
    match page.get_mut("data").map(Value::take) {
        Some(Value::Array(items)) => Ok(items),
        _ => Err(BackendError::unavailable(
            "the answer is no list of n8n's API, so it may be no n8n",
        )
        .with_hint("check N8N_API_URL: it must be the address of an n8n")),
    }
}

/// Ids are numbers in some releases and texts in others.
pub(super) fn id_text(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

pub(super) fn head(execution: &Value) -> Option<ExecutionHead> {
    let text = |key: &str| {
        execution
            .get(key)
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    let finished = execution.get("finished").and_then(Value::as_bool);
    Some(ExecutionHead {
        id: id_text(execution.get("id"))?,
        workflow_id: WorkflowId(id_text(execution.get("workflowId"))?),
        status: text("status").unwrap_or_else(|| match finished {
            Some(true) => "success".to_owned(),
            _ => "unknown".to_owned(),
        }),
        started_at: text("startedAt"),
        stopped_at: text("stoppedAt"),
    })
}

pub(super) fn credential(credential: &Value) -> Option<CredentialHead> {
    let text = |key: &str| {
        credential
            .get(key)
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    Some(CredentialHead {
        id: id_text(credential.get("id"))?,
        name: text("name")?,
        credential_type: text("type")?,
    })
}
