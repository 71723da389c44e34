//! The sticky note that says on n8n's canvas what is still to do for a workflow: credentials to connect, values to fill in. It is known by
//! its name, which n8n shows nowhere, and by its form: one that somebody wrote in is theirs. It is no part of the document: whoever
//! reads a workflow takes it out, and whoever writes one puts it beside.

use super::layout::ROOT_WIDTH;
use super::workflow::{Node, NodeId, Workflow, number};
use serde_json::{Map, Value, json};

pub const NAME: &str = "To do (agentctl)";
const TYPE: &str = "n8n-nodes-base.stickyNote";
const HEADING: &str = "## To do";
/// n8n's yellow.
const COLOR: u32 = 1;
const WIDTH: f64 = 320.0;
const LEAST_HEIGHT: f64 = 96.0;
/// Of a heading with the borders, and of a line of text.
const FRAME: f64 = 72.0;
const LINE: f64 = 24.0;
/// Pixels that a character takes on average.
const LETTER: f64 = 7.5;
/// Between the note and what stands below it.
const GAP: f64 = 48.0;
const GRID: f64 = 16.0;
/// A node with its label below.
const NODE_HEIGHT: f64 = 144.0;

/// One thing to do; without a node it is about the whole workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub node: String,
    pub text: String,
}

/// Takes the note out of a workflow; None: it has none, or somebody wrote in it, and then it is a node like any other.
pub fn take(workflow: &mut Workflow) -> Option<Node> {
    let mut notes = (workflow.nodes.iter().enumerate())
        .filter(|(_, node)| node.is_sticky() && node.name() == NAME);
    let (at, note) = notes.next()?;
    items(content(note))?;
    Some(workflow.nodes.remove(at))
}

/// What a note says.
pub fn said(note: &Node) -> Vec<Item> {
    items(content(note)).unwrap_or_default()
}

/// Those of the items that still hold once `after` is written over `before`: about the whole, or about a node that stays as it is.
pub fn still(items: Vec<Item>, before: &Workflow, after: &Workflow) -> Vec<Item> {
    let holds = |item: Item| {
        if item.node.is_empty() {
            return Some(item);
        }
        let old = before.node_by_name(&item.node)?;
        let node = after.node(&old.id())?;
        let same = |key: &str| node.map().get(key) == old.map().get(key);
        (same("parameters") && same("credentials")).then(|| Item {
            node: node.name().to_owned(),
            text: item.text,
        })
    };
    items.into_iter().filter_map(holds).collect()
}

/// The note that says this beside the nodes of a workflow. `old`: the one that stood there; it stays where it is as long as it covers
/// nothing. None: there is nothing to say, or a node of the workflow has its name.
pub fn note(workflow: &Workflow, items: &[Item], old: Option<&Node>, id: &str) -> Option<Node> {
    if items.is_empty() || workflow.node_by_name(NAME).is_some() {
        return None;
    }
    let text = written(items);
    let mut note = old.cloned().unwrap_or_else(|| {
        let parameters = Map::from_iter([("color".to_owned(), json!(COLOR))]);
        Node::new(NodeId(id.to_owned()), NAME, TYPE, 1.0, parameters)
    });
    let stood = old.and_then(place);
    let width = stood.map_or(WIDTH, |stood| stood.width);
    let height = height(&text, width);
    let kept = stood.map(|stood| Rect { height, ..stood });
    let new = kept
        .filter(|kept| is_free(workflow, kept))
        .unwrap_or_else(|| above(workflow, anchor(workflow, items), (width, height)));
    note.set_position(new.x, new.y);
    note.edit_parameters(|parameters| {
        parameters.insert("content".into(), text.into());
        parameters.insert("height".into(), number(new.height));
        parameters.insert("width".into(), number(new.width));
    });
    Some(note)
}

fn content(note: &Node) -> &str {
    let content = note.parameters().and_then(|p| p.get("content"));
    content.and_then(Value::as_str).unwrap_or_default()
}

/// What a note that says these has as its text.
pub fn written(items: &[Item]) -> String {
    let mut text = HEADING.to_owned();
    for item in items {
        text.push_str("\n- ");
        if !item.node.is_empty() {
            text.push_str(&format!("**{}**: ", item.node));
        }
        text.push_str(&item.text);
    }
    text
}

/// The items of a text that `written` made; None: somebody else had a hand in it.
fn items(text: &str) -> Option<Vec<Item>> {
    let mut lines = text.trim_end().lines();
    if lines.next() != Some(HEADING) {
        return None;
    }
    let item = |line: &str| {
        let line = line.strip_prefix("- ")?;
        let named = line.strip_prefix("**").and_then(|l| l.split_once("**: "));
        let (node, text) = named.unwrap_or(("", line));
        Some(Item {
            node: node.to_owned(),
            text: text.to_owned(),
        })
    };
    lines.map(item).collect()
}

#[derive(Debug, Clone, Copy)]
struct Rect {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

impl Rect {
    fn overlaps(&self, other: &Rect) -> bool {
        self.x < other.x + other.width
            && other.x < self.x + self.width
            && self.y < other.y + other.height
            && other.y < self.y + self.height
    }
}

/// What a node, or a note, takes of the canvas.
fn place(node: &Node) -> Option<Rect> {
    let (x, y) = node.position()?;
    let size = |key: &str, default: f64| {
        let said = node.parameters().and_then(|p| p.get(key));
        said.and_then(Value::as_f64).unwrap_or(default)
    };
    let (width, height) = match node.is_sticky() {
        true => (size("width", 240.0), size("height", 160.0)),
        // One that others serve is as wide as this, any other less.
        false => (ROOT_WIDTH, NODE_HEIGHT),
    };
    Some(Rect {
        x,
        y,
        width,
        height,
    })
}

fn is_free(workflow: &Workflow, rect: &Rect) -> bool {
    let mut places = workflow.nodes.iter().filter_map(place);
    !places.any(|other| other.overlaps(rect))
}

/// The leftmost node that something is to be done at, else the leftmost of all.
fn anchor(workflow: &Workflow, items: &[Item]) -> (f64, f64) {
    let is_named = |node: &&Node| items.iter().any(|item| item.node == node.name());
    let leftmost = |only: &dyn Fn(&&Node) -> bool| {
        let nodes = workflow.nodes.iter().filter(|node| !node.is_sticky());
        let places = nodes.filter(|node| only(node)).filter_map(Node::position);
        places.min_by(|a, b| a.0.total_cmp(&b.0))
    };
    leftmost(&is_named)
        .or_else(|| leftmost(&|_| true))
        .unwrap_or((0.0, 0.0))
}

/// Right above the anchor where there is room, else above everything.
fn above(workflow: &Workflow, (x, y): (f64, f64), (width, height): (f64, f64)) -> Rect {
    let down = |value: f64| (value / GRID).floor() * GRID;
    let near = Rect {
        x,
        y: down(y - GAP - height),
        width,
        height,
    };
    if is_free(workflow, &near) {
        return near;
    }
    let places = workflow.nodes.iter().filter_map(place);
    let top = places.map(|other| other.y).fold(y, f64::min);
    Rect {
        y: down(top - GAP - height),
        ..near
    }
}

fn height(text: &str, width: f64) -> f64 {
    let letters = (width / LETTER).floor().max(1.0);
    let rows = |line: &str| (line.chars().count() as f64 / letters).ceil().max(1.0);
    let text: f64 = text.lines().skip(1).map(rows).sum();
    let needed = FRAME + LINE * text;
    ((needed / GRID).ceil() * GRID).max(LEAST_HEIGHT)
}

#[cfg(test)]
#[path = "todo_note_tests.rs"]
mod todo_note_tests;
