//! Which of the n8n's credentials a new node gets: the only one of the type that it needs; of several the one that the user
//! chooses; else none, and the answer says so. Names, types and ids are all that is ever read, and no id is taken that the n8n did
//! not name.

use super::approval::{Accounts, account_question, approval_hash};
use super::redact::clean_text;
use super::{CallContext, Gateway, GatewayError, guards};
use crate::backend::{BackendErrorKind, CredentialHead};
use crate::n8n::needs::{Need, needs};
use crate::n8n::{Node, Workflow};
use crate::store::event::Question;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// What became of the needs of new nodes.
#[derive(Default)]
pub(super) struct Attached {
    /// For the answer: what was taken, what could be chosen from, what is missing.
    pub told: Vec<Value>,
    /// What the user has to be asked before the call is made.
    pub question: Option<Box<Question>>,
}

impl Gateway {
    /// Connects the nodes that `before` does not have. `exact` is the call itself: a choice counts for it alone.
    pub(super) async fn attach(
        &self,
        cx: &mut CallContext<'_>,
        before: Option<&Workflow>,
        after: &mut Workflow,
        exact: &Value,
    ) -> Result<Attached, GatewayError> {
        let known: BTreeSet<&str> = (before.iter().flat_map(|w| &w.nodes))
            .map(Node::id_text)
            .collect();
        let open: Vec<Need> = after
            .nodes
            .iter()
            .filter(|node| !node.disabled() && !known.contains(node.id_text()))
            .flat_map(|node| needs(node, self.catalog))
            .filter(|need| need.id.is_none())
            .collect();
        if open.is_empty() || !self.backend.can().credentials {
            return Ok(Attached::default());
        }
        let list = match self.backend.credentials().await {
            Ok(list) => list,
            Err(error) if error.kind == BackendErrorKind::Unavailable => {
                return Err(self.unavailable(error));
            }
            // For example a key that may not list them: then the user connects them, as without a list.
            Err(_) => return Ok(Attached::default()),
        };
        let mut by_type: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for need in &open {
            let nodes = by_type.entry(&need.credential_type).or_default();
            nodes.push(need.node.clone());
        }
        let mut attached = Attached::default();
        for (credential_type, nodes) in by_type {
            let fitting: Vec<&CredentialHead> = list
                .iter()
                .filter(|c| c.credential_type == credential_type)
                .collect();
            let taken = match fitting.as_slice() {
                [] => None,
                [one] => Some(*one),
                several => {
                    let chosen = self.chosen(cx, credential_type, &nodes, several, exact);
                    if attached.question.is_none() {
                        attached.question = chosen.1;
                    }
                    chosen.0
                }
            };
            for name in &nodes {
                if let Some(taken) = taken {
                    connect(after, name, taken);
                }
                attached
                    .told
                    .push(self.account_entry(name, credential_type, &fitting, taken));
            }
        }
        Ok(attached)
    }

    /// Which of several the user chose, or the question. Where nobody can be asked it stays open.
    fn chosen<'a>(
        &self,
        cx: &CallContext<'_>,
        credential_type: &str,
        nodes: &[String],
        several: &[&'a CredentialHead],
        exact: &Value,
    ) -> (Option<&'a CredentialHead>, Option<Box<Question>>) {
        let ids: Vec<&str> = several.iter().map(|c| c.id.as_str()).collect();
        let subject = json!({"call": exact, "type": credential_type, "nodes": nodes, "ids": ids});
        let hash = approval_hash(guards::ACCOUNT, &subject);
        match cx.guards.choice(&hash) {
            Some(chosen) => (several.iter().copied().find(|c| c.id == chosen), None),
            None if !cx.can_ask => (None, None),
            None => {
                let accounts = Accounts {
                    label: self.credential_label(credential_type),
                    credential_type,
                    nodes,
                    fitting: several
                        .iter()
                        .map(|c| (c.id.as_str(), c.name.as_str()))
                        .collect(),
                };
                let tool = exact.get("tool").and_then(Value::as_str);
                let called = (cx.role, tool.unwrap_or_default());
                let expires = self.expiry(cx.recorder.now());
                let mut question = account_question(cx.guards, &accounts, hash, called, expires);
                question.text = clean_text(&self.redactor, &question.text);
                for option in &mut question.options {
                    option.label = clean_text(&self.redactor, &option.label);
                }
                (None, Some(Box::new(question)))
            }
        }
    }

    fn credential_label<'a>(&'a self, credential_type: &'a str) -> &'a str {
        let label = self.catalog.credential_label(credential_type);
        label.unwrap_or(credential_type)
    }

    fn account_entry(
        &self,
        node: &str,
        credential_type: &str,
        fitting: &[&CredentialHead],
        taken: Option<&CredentialHead>,
    ) -> Value {
        let mut entry = Map::new();
        entry.insert("node".into(), json!(node));
        entry.insert("type".into(), json!(credential_type));
        entry.insert(
            "label".into(),
            json!(self.credential_label(credential_type)),
        );
        match (taken, fitting) {
            (Some(taken), _) => entry.insert("taken".into(), named(taken)),
            (None, []) => entry.insert("missing".into(), Value::Bool(true)),
            (None, several) => {
                let choice: Vec<Value> = several.iter().map(|c| named(c)).collect();
                entry.insert("candidates".into(), Value::Array(choice))
            }
        };
        Value::Object(entry)
    }
}

fn named(credential: &CredentialHead) -> Value {
    json!({"id": credential.id, "name": credential.name})
}

fn connect(workflow: &mut Workflow, node: &str, credential: &CredentialHead) {
    if let Some(node) = workflow.nodes.iter_mut().find(|n| n.name() == node) {
        let mut all = node.credentials().cloned().unwrap_or_default();
        all.insert(credential.credential_type.clone(), named(credential));
        node.set("credentials", Value::Object(all));
    }
}
