//! `get_workflow`: a workflow, whole or in short; one that is too large for an answer in parts.

use super::content::{bad_cursor, head, outline_of};
use super::memory::GET_WORKFLOW;
use super::n8n::N8n;
use super::shown::difference;
use crate::arguments::{arguments, cursor, text, workflow_id};
use crate::backend::{BackendError, Stored};
use crate::capability as can;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_base::canonical::sha256_hex;
use agentctl_base::length::{longest_length_of_map, written_length, written_length_of_map};
use agentctl_engine::redact::clean;
use agentctl_engine::toolset::{Answer, Cx, Head, Outcome, PAGE_BYTES, Read};
use agentctl_n8n::part::{Part, Parts};
use agentctl_n8n::{Node, Workflow};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Bytes of the diff in a review of a workflow that comes in parts: the nodes need room beside it.
const MOST_OF_DIFF: usize = PAGE_BYTES / 4;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum View {
    Summary,
    /// What a reviewer needs: nodes as they work, without ids and places, and what the run changed.
    Review,
    #[default]
    Full,
}

arguments! {
    GetWorkflow {
        required workflow_id: String = workflow_id();
        #[serde(default)]
        optional view: View = json!({"type": "string", "enum": ["full", "summary", "review"], "default": "full"});
        optional about: Option<String> = text("what you are after, in words, names or values: of a large workflow the nodes that it speaks of come first");
        optional cursor: Option<String> = cursor();
    }
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::read::<GetWorkflow>(Head::new(
        GET_WORKFLOW,
        can::GET_WORKFLOW,
        "Read a workflow. view `full` (default): the document, node by node; `summary`: names, types and connections; `review`: nodes without ids and places, and the diff since this run began. A large one comes in parts: `left` counts what is in later ones, `incoming` are connections from there. Returns its graph hash, which later edits are checked against.",
        GetWorkflow::schema,
    ))
}

impl Read for On<N8n, GetWorkflow> {
    fn run<'a>(&'a self, cx: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        Box::pin(self.on.get_workflow(cx, &self.args))
    }
}

impl N8n {
    async fn get_workflow(&self, cx: &mut Cx<'_>, get: &GetWorkflow) -> Answer {
        let stored = self.stored(&get.workflow_id).await?;
        if get.cursor.is_none() && fits(&stored.workflow, get.view) {
            let before = self.before(cx, &stored, get.view)?;
            let since = before.map(|before| difference(cx.redactor, &before, &stored.workflow));
            return Ok(whole(stored, get.view, since, self.backend.place()));
        }
        // What is looked for must not tell what a hidden value holds, so it is looked for in what is shown.
        let shown = clean(cx.redactor, stored.workflow.to_value());
        let shown = Workflow::from_value(shown)
            .map_err(|error| BackendError::rejected(error.to_string()))?;
        let mut review = Review::default();
        if get.view == View::Review && !cx.guards.log().made(&stored.id.0) {
            let before = self.before(cx, &stored, get.view)?;
            let before = before.as_deref();
            let touched = before.map(|before| touched(before, &stored.workflow));
            review.touched = Some(touched.unwrap_or_default());
            review.diff = before
                .filter(|_| get.cursor.is_none())
                .map(|before| shortened(difference(cx.redactor, before, &stored.workflow)));
        }
        Ok(in_part(&stored, &shown, get, review))
    }

    /// What the run found, for a reviewer; None: the run made it, or did not change it.
    fn before(
        &self,
        cx: &mut Cx<'_>,
        stored: &Stored,
        view: View,
    ) -> Result<Option<Arc<Workflow>>, BackendError> {
        if view != View::Review || cx.guards.log().made(&stored.id.0) {
            return Ok(None);
        }
        let before = self.found(cx, stored);
        before.map_err(|fault| BackendError::rejected(fault.to_string()))
    }
}

/// Everything fits into one answer.
fn fits(workflow: &Workflow, view: View) -> bool {
    let document = |length: &dyn Fn(&Map<String, Value>) -> usize| {
        let nodes = workflow.nodes.iter().map(|node| match view {
            View::Full | View::Review => length(node.map()) + 1,
            View::Summary => written_length(&outline_of(node)) + 1,
        });
        let head = match view {
            View::Full | View::Review => length(&workflow.head),
            View::Summary => 0,
        };
        let links = workflow.edges();
        let links =
            links.map(|(from, kind, _, link)| from.len() + link.node.len() + 2 * kind.len() + 60);
        nodes.sum::<usize>() + links.sum::<usize>() + head
    };
    document(&longest_length_of_map) <= PAGE_BYTES || document(&written_length_of_map) <= PAGE_BYTES
}

/// `place`: the address of the n8n that keeps it; None: it is a file.
fn whole(stored: Stored, view: View, since: Option<String>, place: Option<&str>) -> Outcome {
    let mut content = head(&stored);
    if let Some(place) = place {
        content.insert("instance".into(), json!(place));
    }
    match view {
        View::Full => {
            content.insert("workflow".into(), stored.workflow.into_value());
        }
        View::Summary => {
            let nodes = stored.workflow.nodes.iter().map(outline_of);
            content.insert("nodes".into(), nodes.collect());
            content.insert("connections".into(), json!(lines(&stored.workflow)));
        }
        View::Review => {
            content.shift_remove("file");
            let nodes = stored.workflow.nodes.iter().map(working);
            content.insert("nodes".into(), nodes.collect());
            content.insert("connections".into(), json!(lines(&stored.workflow)));
            if let Some(settings) = stored.workflow.head.get("settings") {
                content.insert("settings".into(), settings.clone());
            }
            if let Some(diff) = since {
                content.insert("diff".into(), diff.into());
            }
        }
    }
    Outcome::Ok(Value::Object(content))
}

/// A node as it works, without what only the editor and the store need.
fn working(node: &Node) -> Value {
    const APART: [&str; 3] = ["id", "position", "webhookId"];
    let kept = node.map().iter().filter(|(key, value)| {
        let nothing = value.as_object().is_some_and(Map::is_empty);
        !APART.contains(&key.as_str()) && !nothing
    });
    Value::Object(kept.map(|(k, v)| (k.clone(), v.clone())).collect())
}

/// What a review in parts begins with.
#[derive(Default)]
struct Review {
    /// The nodes that the run changed, by their index; None: it made them all.
    touched: Option<BTreeSet<usize>>,
    diff: Option<String>,
}

/// The nodes that are not as they were, or lead elsewhere.
fn touched(before: &Workflow, now: &Workflow) -> BTreeSet<usize> {
    let mut were: HashMap<&str, &Node> = HashMap::with_capacity(before.nodes.len());
    for node in &before.nodes {
        were.entry(node.name()).or_insert(node);
    }
    let leads = |of: &Workflow, name: &str| of.connections.get(name).cloned();
    let changed = now.nodes.iter().enumerate().filter(|(_, node)| {
        let name = node.name();
        were.get(name).is_none_or(|was| was.map() != node.map())
            || leads(before, name) != leads(now, name)
    });
    changed.map(|(i, _)| i).collect()
}

/// A long diff ends after a line, and says so.
fn shortened(mut diff: String) -> String {
    if diff.len() <= MOST_OF_DIFF {
        return diff;
    }
    let all = diff.len();
    diff.truncate(diff.floor_char_boundary(MOST_OF_DIFF));
    diff.truncate(diff.rfind('\n').map_or(diff.len(), |at| at + 1));
    diff.push_str(&format!("# {} more bytes\n", all - diff.len()));
    diff
}

/// `shown`: the workflow with its secrets hidden. Of a review the first part is what the run changed and what stands beside it.
fn in_part(stored: &Stored, shown: &Workflow, get: &GetWorkflow, review: Review) -> Outcome {
    let parts = Parts::around(shown, get.about.as_deref(), review.touched.as_ref());
    let mark = mark(stored, &parts, get.view);
    let at = match get.cursor.as_deref().map(|cursor| place(cursor, &mark)) {
        None => None,
        Some(Ok(at)) => Some(at),
        Some(Err(why)) => return bad_cursor(why),
    };
    let own = own_keys(shown, get.view);
    let weight: &dyn Fn(&Node) -> usize = match get.view {
        View::Full => &|node| {
            let pinned = pinned(shown).and_then(|pinned| pinned.get(node.name()));
            written_length_of_map(node.map()) + pinned.map_or(0, written_length)
        },
        View::Summary => &|node| written_length(&outline_of(node)),
        View::Review => &|node| written_length(&working(node)),
    };
    let first = written_length_of_map(&own) + review.diff.as_ref().map_or(0, String::len);
    let Some(part) = parts.part(at, first, PAGE_BYTES, weight) else {
        return bad_cursor("there is nothing behind this cursor".to_owned());
    };
    let mut content = head(stored);
    match get.view {
        View::Full => {
            content.insert("workflow".into(), document(shown, own, &parts, &part));
            let (incoming, all) = parts.incoming(&part);
            if !incoming.is_empty() {
                content.insert("incoming".into(), json!(incoming));
            }
            if !all {
                content.insert("more_incoming".into(), Value::Bool(true));
            }
        }
        View::Summary | View::Review => {
            let nodes = part.nodes.iter().filter_map(|i| shown.nodes.get(*i));
            let looks = match get.view {
                View::Review => working,
                View::Summary | View::Full => outline_of,
            };
            content.insert("nodes".into(), nodes.map(looks).collect());
            let mut leaving = Workflow::empty("");
            leaving.connections = parts.connections(&part);
            content.insert("connections".into(), json!(lines(&leaving)));
        }
    }
    if get.view == View::Review {
        content.shift_remove("file");
        if let Some(settings) = shown.head.get("settings").filter(|_| part.head) {
            content.insert("settings".into(), settings.clone());
        }
        if let Some(diff) = review.diff {
            content.insert("diff".into(), diff.into());
        }
    }
    if let Some(next) = part.next {
        let left = parts.left(&part);
        let said = get.about.is_some() || review.touched.is_some();
        let mut told = json!({"nodes": left.nodes});
        if let (Value::Object(told), true) = (&mut told, said) {
            told.insert("named".into(), json!(left.named));
            told.insert("of_kind".into(), json!(left.of_kind));
        }
        content.insert("left".into(), told);
        content.insert("next_cursor".into(), json!(format!("{next}-{mark}")));
    }
    Outcome::Ok(Value::Object(content))
}

const PINNED: &str = "pinData";

fn pinned(workflow: &Workflow) -> Option<&Map<String, Value>> {
    workflow.head.get(PINNED).and_then(Value::as_object)
}

/// What stands in the first part besides nodes, their connections and their pinned data.
fn own_keys(workflow: &Workflow, view: View) -> Map<String, Value> {
    if view != View::Full {
        return Map::new();
    }
    let in_parts = |key: &str| {
        matches!(key, "nodes" | "connections") || (key == PINNED && pinned(workflow).is_some())
    };
    let own = workflow.head.iter().filter(|(key, _)| !in_parts(key));
    own.map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

fn document(shown: &Workflow, own: Map<String, Value>, parts: &Parts<'_>, part: &Part) -> Value {
    let mut document = if part.head { own } else { Map::new() };
    let nodes = part.nodes.iter().filter_map(|i| shown.nodes.get(*i));
    let nodes = nodes.map(|node| Value::Object(node.map().clone()));
    document.insert("nodes".into(), nodes.collect());
    document.insert("connections".into(), json!(parts.connections(part)));
    if let Some(pinned) = pinned(shown) {
        let pinned = parts.by_node(part, pinned);
        if !pinned.is_empty() {
            document.insert(PINNED.into(), Value::Object(pinned));
        }
    }
    Value::Object(document)
}

/// Of which workflow, in which order, a cursor is.
fn mark(stored: &Stored, parts: &Parts<'_>, view: View) -> String {
    let of = format!("{}\n{view:?}\n{}", stored.graph_hash, parts.key());
    sha256_hex(of.as_bytes()).chars().take(8).collect()
}

fn place(cursor: &str, mark: &str) -> Result<usize, String> {
    let parts = cursor.split_once('-');
    let at = parts.and_then(|(at, of)| Some((at.parse().ok()?, of)));
    match at {
        None => Err(format!("{cursor:?} is no cursor of this answer")),
        Some((at, of)) if of == mark => Ok(at),
        Some(_) => Err(
            "the cursor is of another state of the workflow, or of other arguments: read from the start"
                .to_owned(),
        ),
    }
}

/// One line for each connection.
fn lines(workflow: &Workflow) -> Vec<String> {
    let port = |kind: &str, index: u32| match (kind, index) {
        ("main", 0) => String::new(),
        ("main", n) => format!("[{n}]"),
        (kind, 0) => format!("[{kind}]"),
        (kind, n) => format!("[{kind} {n}]"),
    };
    let edges = workflow.edges().map(|(from, kind, output, link)| {
        let (out, into) = (port(kind, output), port(&link.kind, link.index));
        format!("{from}{out} -> {}{into}", link.node)
    });
    edges.collect()
}
