//! `note_todo`: the note beside a workflow of an n8n says what is still to do for it, and nothing that is done. For flows: no model writes
//! it. The note is no part of the document, so nothing is changed in it, and nothing is counted from it.

use super::n8n::{N8n, mark};
use crate::arguments::{arguments, workflow_id};
use crate::backend::{BackendError, Stored};
use crate::capability as can;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_engine::store::SnapshotRef;
use agentctl_engine::toolset::{
    Act, Change, Cx, Fault, Head, Keep, Outcome, Performed, Plan, Planning, Touches,
};
use agentctl_n8n::needs::all_needs;
use agentctl_n8n::todo_note::{self, Item};
use agentctl_n8n::{Node, Workflow};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// How what is to be connected begins, here and where the offline planner says it; whether it is done, the workflow itself says.
const CONNECT: &str = "connect a credential: ";

arguments! {
    NoteTodo {
        required workflow_id: String = workflow_id();
        /// As texts, or as {node, text}.
        required todo: Vec<Value> = json!({"type": "array", "items": {"type": ["string", "object"]}, "description": "what this run left to do"});
    }
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::change::<NoteTodo>(Head {
        repeatable: true,
        ..Head::new(
            "note_todo",
            can::NOTE_TODO,
            "Renew the note beside a workflow that says what is still to do: what is given, what it said already of nodes that nobody changed since, and the credentials that are missing.",
            NoteTodo::schema,
        )
    })
}

impl Change for On<N8n, NoteTodo> {
    fn plan<'a>(&'a self, cx: &'a mut Cx<'_>, _: &'a Value) -> BoxFuture<'a, Planning> {
        Box::pin(async move {
            let n8n = &self.on;
            let at = match n8n.current(&self.args.workflow_id).await? {
                Ok(stored) => stored,
                Err(outcome) => return Ok(Err(outcome)),
            };
            let todo = n8n.still_to_do(cx, &at, &self.args.todo)?;
            if at.workflow.node_by_name(todo_note::NAME).is_some() {
                let why = "somebody wrote in the note, so it is theirs and stays";
                let same = json!({"todo": todo.len(), "changed": false, "why": why});
                return Ok(Err(Outcome::Ok(same)));
            }
            if todo == at.todo {
                let same = json!({"todo": todo.len(), "changed": false});
                return Ok(Err(Outcome::Ok(same)));
            }
            Ok(Ok(Plan::unguarded(Box::new(Note {
                n8n: Arc::clone(n8n),
                at,
                todo,
                new_id: cx.recorder.new_id(),
            }))))
        })
    }
}

struct Note {
    n8n: Arc<N8n>,
    at: Stored,
    todo: Vec<Item>,
    new_id: String,
}

impl Act for Note {
    /// The document stays.
    fn keep(&self) -> Option<Keep> {
        None
    }
    fn touches(&self) -> Touches {
        Touches::Existing(mark(&self.at))
    }
    fn perform<'a>(&'a mut self, _: Option<&'a SnapshotRef>) -> BoxFuture<'a, Performed> {
        Box::pin(async {
            if let Some(refused) = self.n8n.moved_on(&self.at).await {
                return (refused, None);
            }
            let backend = &self.n8n.backend;
            let said = json!({"todo": self.todo.len(), "changed": true});
            let noted = async {
                backend
                    .note_todo(&self.at.id, &self.todo, &self.new_id)
                    .await?;
                let now = backend.get(&self.at.id).await?.todo;
                match todo_note::written(&now) == todo_note::written(&self.todo) {
                    true => Ok(Outcome::Ok(said)),
                    false => Err(BackendError::rejected(
                        "the note was written, and n8n does not hold it as it was meant",
                    )),
                }
            };
            (noted.await, None)
        })
    }
}

impl N8n {
    /// What is left, in this order: what the note still says, what is given, the credentials that are missing.
    fn still_to_do(
        &self,
        cx: &mut Cx<'_>,
        now: &Stored,
        given: &[Value],
    ) -> Result<Vec<Item>, Fault> {
        let made = cx.guards.log().made(&now.id.0);
        let found = match made {
            true => None,
            false => self.found(cx, now)?,
        };
        let mut about: BTreeSet<String> = touched(found.as_deref(), &now.workflow);
        about.extend(now.todo.iter().map(|item| item.node.clone()));
        let connects = |item: &Item| !item.node.is_empty() && item.text.starts_with(CONNECT);
        // How many lacked one before is no line of its own here: the note has those that it asks for.
        let counts = |given: &&Value| {
            let of = |key: &str| given.get(key).and_then(Value::as_str);
            (of("kind"), of("node")) == (Some("credential"), Some(""))
        };
        let given = given.iter().filter(|given| !counts(given));
        let given = given.filter_map(|given| item(given, &now.workflow));
        let mut all: Vec<Item> = now.todo.iter().cloned().chain(given).collect();
        all.retain(|item| !connects(item));
        // Of nodes that were there before and that nobody touched or spoke of, nothing is asked.
        let open = all_needs(&now.workflow, self.catalog).into_iter();
        let open = open.filter(|need| need.id.is_none() && (made || about.contains(&need.node)));
        all.extend(open.map(|need| {
            let label = self.catalog.credential_label(&need.credential_type);
            let text = format!("{CONNECT}{}", label.unwrap_or(&need.credential_type));
            Item {
                node: need.node,
                text,
            }
        }));
        let mut once: Vec<Item> = Vec::new();
        for item in all {
            if !once.contains(&item) {
                once.push(item);
            }
        }
        Ok(once)
    }
}

/// What a call says, in the words that models and the planner use for it.
fn item(given: &Value, workflow: &Workflow) -> Option<Item> {
    let field = |key: &str| given.get(key).and_then(Value::as_str);
    let text = given.as_str().or_else(|| field("text"))?;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_node = |name: &str| workflow.node_by_name(name).is_some();
    let (node, text) = match (field("node"), text.split_once(": ")) {
        (Some(node), _) if is_node(node) => (node.to_owned(), text),
        (Some(of), _) if !of.is_empty() => (String::new(), format!("{of}: {text}")),
        (_, Some((name, rest))) if is_node(name) => (name.to_owned(), rest.to_owned()),
        _ => (String::new(), text),
    };
    (!text.is_empty()).then_some(Item { node, text })
}

/// The nodes that the run added or changed. `found`: the workflow as the run found it; None: it changed nothing.
fn touched(found: Option<&Workflow>, now: &Workflow) -> BTreeSet<String> {
    let Some(found) = found else {
        return BTreeSet::new();
    };
    let is_other = |node: &&Node| {
        let old = found.node(&node.id());
        old.is_none_or(|old| old.parameters() != node.parameters())
    };
    let nodes = now.nodes.iter().filter(is_other);
    nodes.map(|node| node.name().to_owned()).collect()
}
