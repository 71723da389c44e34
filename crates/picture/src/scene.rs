//! What stands where: nodes as n8n shows them, or laid out anew where the document's own places are none; notes; how large it all is.
//! Lengths are pixels, x to the right and y down, from the picture's own corner.

use crate::icons::{self, Icon};
use crate::words;
use crate::{MOST_NODES, Subject, TooLarge, is_of};
use agentctl_n8n::layout::{NODE_WIDTH, ROOT_WIDTH, layout};
use agentctl_n8n::tree::telling;
use agentctl_n8n::{Branches, Finding, Node, Workflow};
use std::collections::{HashMap, HashSet};

/// Room around everything.
const MARGIN: f64 = 64.0;
/// The workflow's name above.
const HEAD: f64 = 40.0;
/// Documents that spread further are laid out anew: nobody could read them in one picture.
const WIDEST: f64 = 40_000.0;
/// Between two outputs of a node.
const PORT: f64 = 22.0;
/// n8n draws a node that serves another one smaller, as a circle.
const SUB: f64 = 80.0;

/// Sizes of text, in pixels.
pub const NAME: f64 = 13.0;
pub const DETAIL: f64 = 11.0;
/// Lines of a name.
pub const NAME_LINES: usize = 2;
pub const LINE: f64 = 16.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Starts the workflow.
    Trigger,
    Step,
    /// Served by others, so wider, with its name inside.
    Served,
    /// Serves another one.
    Sub,
}

/// A node as it is drawn.
#[derive(Debug)]
pub struct Drawn<'a> {
    pub shape: Shape,
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
    pub name: &'a str,
    pub lines: Vec<String>,
    pub detail: String,
    pub icon: &'static Icon,
    pub is_off: bool,
    pub branches: Branches,
    /// Main inputs that something hangs on; at least one, but for what starts.
    pub inputs: usize,
    /// The kinds of what serves it, in the document's order.
    pub served_by: Vec<&'a str>,
    pub findings: Vec<&'a Finding>,
}

/// A note on the canvas.
#[derive(Debug)]
pub struct Note {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
    pub lines: Vec<String>,
}

#[derive(Debug)]
pub struct Scene<'a> {
    pub nodes: Vec<Drawn<'a>>,
    pub index: HashMap<&'a str, usize>,
    pub notes: Vec<Note>,
    /// Notes that have no place, since the nodes were laid out anew.
    pub notes_left: usize,
    pub width: f64,
    pub height: f64,
}

impl Drawn<'_> {
    /// Where a main connection ends.
    pub fn input(&self, index: u32) -> (f64, f64) {
        (
            self.x,
            self.y + part(self.height, index as usize, self.inputs),
        )
    }
    /// Where a main connection begins.
    pub fn output(&self, index: u32) -> (f64, f64) {
        let count = self.branches.count().max(1);
        (
            self.x + self.width,
            self.y + part(self.height, index as usize, count),
        )
    }
    /// Where those of a kind that serve it hang.
    pub fn below(&self, kind: &str) -> (f64, f64) {
        let at = self.served_by.iter().position(|k| *k == kind).unwrap_or(0);
        let count = self.served_by.len().max(1);
        (self.x + part(self.width, at, count), self.y + self.height)
    }
    pub fn top(&self) -> (f64, f64) {
        (self.x + self.width / 2.0, self.y)
    }
    /// With the text below it.
    pub fn bottom(&self) -> f64 {
        let detail = if self.detail.is_empty() { 0.0 } else { LINE };
        let below = match self.shape {
            Shape::Served => 0.0,
            _ => self.lines.len() as f64 * LINE + 6.0 + detail,
        };
        self.y + self.height + below
    }
}

/// The middle of one of `count` equal parts of a length.
fn part(length: f64, at: usize, count: usize) -> f64 {
    let at = at.min(count.saturating_sub(1));
    length * (at as f64 + 0.5) / count as f64
}

impl<'a> Scene<'a> {
    pub fn of(subject: Subject<'a>) -> Result<Self, TooLarge> {
        let count = subject
            .workflow
            .nodes
            .iter()
            .filter(|n| !n.is_sticky())
            .count();
        if count > MOST_NODES {
            return Err(TooLarge { nodes: count });
        }
        let uses = Uses::of(subject.workflow);
        let own: Vec<Option<(f64, f64)>> =
            subject.workflow.nodes.iter().map(Node::position).collect();
        let is_kept = stands(subject.workflow, &own, &uses);
        let places = match is_kept {
            true => own,
            false => laid_out(subject.workflow),
        };
        let mut scene = Scene {
            nodes: Vec::new(),
            index: HashMap::new(),
            notes: Vec::new(),
            notes_left: 0,
            width: 0.0,
            height: 0.0,
        };
        for (node, place) in subject.workflow.nodes.iter().zip(places) {
            let place = place.unwrap_or_default();
            if !node.is_sticky() {
                scene.index.insert(node.name(), scene.nodes.len());
                scene.nodes.push(drawn(subject, node, place, &uses));
            } else if is_kept {
                scene.notes.push(note(node, place));
            } else {
                scene.notes_left += 1;
            }
        }
        scene.settle();
        Ok(scene)
    }

    /// Moves everything to the picture's own corner and measures it.
    fn settle(&mut self) {
        let corners = self.nodes.iter().map(|n| (n.x, n.y));
        let corners = corners.chain(self.notes.iter().map(|n| (n.x, n.y)));
        let least = corners.reduce(|a, b| (a.0.min(b.0), a.1.min(b.1)));
        let (x, y) = least.unwrap_or_default();
        let (dx, dy) = (MARGIN - x, MARGIN + HEAD - y);
        let (mut right, mut bottom) = (0.0_f64, 0.0_f64);
        for node in &mut self.nodes {
            (node.x, node.y) = (node.x + dx, node.y + dy);
            right = right.max(node.x + node.width);
            bottom = bottom.max(node.bottom());
        }
        for note in &mut self.notes {
            (note.x, note.y) = (note.x + dx, note.y + dy);
            right = right.max(note.x + note.width);
            bottom = bottom.max(note.y + note.height);
        }
        self.width = right + MARGIN;
        self.height = bottom.max(MARGIN + HEAD) + MARGIN / 2.0;
    }
}

/// What hangs on what.
pub(crate) struct Uses<'a> {
    /// The highest main output and input that is used.
    pub outputs: HashMap<&'a str, u32>,
    inputs: HashMap<&'a str, u32>,
    served_by: HashMap<&'a str, Vec<&'a str>>,
    pub serves: HashSet<&'a str>,
}

impl<'a> Uses<'a> {
    pub fn of(workflow: &'a Workflow) -> Self {
        let mut uses = Uses {
            outputs: HashMap::new(),
            inputs: HashMap::new(),
            served_by: HashMap::new(),
            serves: HashSet::new(),
        };
        for (from, kind, output, link) in workflow.edges() {
            if kind == "main" {
                let most = uses.outputs.entry(from).or_default();
                *most = output.max(*most);
                let most = uses.inputs.entry(link.node.as_str()).or_default();
                // A document from elsewhere may say any number.
                *most = link.index.min(MOST_PORTS).max(*most);
            } else {
                uses.serves.insert(from);
                let kinds = uses.served_by.entry(link.node.as_str()).or_default();
                if !kinds.contains(&kind) {
                    kinds.push(kind);
                }
            }
        }
        uses
    }

    fn shape(&self, node: &Node, is_trigger: bool) -> Shape {
        let name = node.name();
        let in_main = self.inputs.contains_key(name) || self.outputs.contains_key(name);
        match (
            self.served_by.contains_key(name),
            self.serves.contains(name) && !in_main,
        ) {
            (true, _) => Shape::Served,
            (false, true) => Shape::Sub,
            (false, false) if is_trigger => Shape::Trigger,
            (false, false) => Shape::Step,
        }
    }
}

/// Inputs and outputs that are drawn apart.
const MOST_PORTS: u32 = 63;

fn drawn<'a>(
    subject: Subject<'a>,
    node: &'a Node,
    (x, y): (f64, f64),
    uses: &Uses<'a>,
) -> Drawn<'a> {
    let known = subject
        .catalog
        .lookup(node.node_type(), node.type_version())
        .known();
    let is_trigger = match known.as_deref() {
        Some(known) => known.begins().is_some(),
        None => node.node_type().ends_with("Trigger"),
    };
    let name = node.name();
    let shape = uses.shape(node, is_trigger);
    let branches = Branches::of(node, uses.outputs.get(name).copied(), Some(subject.catalog));
    let ports = branches.count().min(MOST_PORTS as usize + 1);
    let (width, room, most) = match shape {
        Shape::Served => (ROOT_WIDTH, (ROOT_WIDTH - 84.0) / NAME, NAME_LINES),
        Shape::Sub => (SUB, 140.0 / NAME, NAME_LINES),
        Shape::Trigger | Shape::Step => (NODE_WIDTH, 190.0 / NAME, NAME_LINES),
    };
    let least = if shape == Shape::Sub { SUB } else { NODE_WIDTH };
    let mut lines = words::wrapped(&agentctl_base::untrusted::line(name), room, most);
    if node.disabled() {
        lines.push("(off)".to_owned());
    }
    let detail = telling(node).join(": ");
    Drawn {
        shape,
        // A circle stands in the middle of the place that n8n keeps for a square.
        x: if shape == Shape::Sub {
            x + (NODE_WIDTH - SUB) / 2.0
        } else {
            x
        },
        y,
        width,
        height: least.max(PORT * ports as f64),
        name,
        detail: words::cut(
            &agentctl_base::untrusted::line(&detail),
            room * NAME / DETAIL,
        ),
        lines,
        icon: icons::of(node.node_type(), known.as_deref()),
        is_off: node.disabled(),
        branches,
        inputs: match uses.inputs.get(name) {
            Some(most) => *most as usize + 1,
            None => usize::from(matches!(shape, Shape::Step | Shape::Served)),
        },
        served_by: uses.served_by.get(name).cloned().unwrap_or_default(),
        findings: subject.findings.iter().filter(|f| is_of(f, node)).collect(),
    }
}

fn note(node: &Node, (x, y): (f64, f64)) -> Note {
    let parameters = node.parameters();
    let number = |key: &str, least: f64, or: f64| {
        let value = parameters.and_then(|p| p.get(key)).and_then(|v| v.as_f64());
        value.unwrap_or(or).clamp(least, 4_000.0)
    };
    let (width, height) = (number("width", 80.0, 240.0), number("height", 64.0, 160.0));
    let text = parameters
        .and_then(|p| p.get("content"))
        .and_then(|v| v.as_str());
    let text = agentctl_base::secrets::mask(text.unwrap_or_default());
    let rows = ((height - 20.0) / LINE).max(1.0) as usize;
    let mut lines = Vec::new();
    for line in text.lines() {
        let line = agentctl_base::untrusted::line(line.trim_start_matches(['#', ' ']));
        lines.extend(words::wrapped(&line, (width - 24.0) / DETAIL, rows));
    }
    lines.truncate(rows);
    Note {
        x,
        y,
        width,
        height,
        lines,
    }
}

/// Whether the document's own places make a picture: each node has one of its own, and they are not worlds apart.
fn stands(workflow: &Workflow, places: &[Option<(f64, f64)>], uses: &Uses<'_>) -> bool {
    let mut frames: Vec<(f64, f64, f64)> = Vec::new();
    for (node, place) in workflow.nodes.iter().zip(places) {
        let Some((x, y)) = *place else {
            return node.is_sticky();
        };
        if x.abs() > WIDEST || y.abs() > WIDEST {
            return false;
        }
        if node.is_sticky() {
            continue;
        }
        let is_wide = uses.served_by.contains_key(node.name());
        let width = if is_wide { ROOT_WIDTH } else { NODE_WIDTH };
        let meets = |other: &(f64, f64, f64)| {
            x < other.0 + other.2 && other.0 < x + width && (y - other.1).abs() < NODE_WIDTH
        };
        if frames.iter().any(meets) {
            return false;
        }
        frames.push((x, y, width));
    }
    true
}

fn laid_out(workflow: &Workflow) -> Vec<Option<(f64, f64)>> {
    let mut workflow = workflow.clone();
    for node in &mut workflow.nodes {
        node.set_position(0.0, 0.0);
    }
    layout(&mut workflow);
    workflow.nodes.iter().map(Node::position).collect()
}
