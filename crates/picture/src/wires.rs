//! The lines between nodes: forward in one curve, back around the nodes from below, and up from what serves.

use crate::scene::{Drawn, Scene};
use crate::words;
use agentctl_n8n::Workflow;

/// How far a line runs on before it turns.
const STUB: f64 = 28.0;
/// Between a line that goes back and the nodes above it.
const BELOW: f64 = 22.0;
/// Between two such lines.
const LANE: f64 = 12.0;
const CORNER: f64 = 10.0;
/// Size of the names of branches, in pixels, and the room for one.
pub const LABEL: f64 = 11.0;
const LABEL_ROOM: f64 = 104.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Main,
    /// The branch that n8n takes when the node fails.
    Error,
    /// From what serves to what is served.
    Serves,
}

#[derive(Debug)]
pub struct Wire {
    pub kind: Kind,
    /// As an SVG path.
    pub path: String,
    /// Where it arrives.
    pub end: (f64, f64),
}

/// The name of an output, or of a kind of what serves.
#[derive(Debug, PartialEq)]
pub struct Label {
    pub x: f64,
    pub y: f64,
    pub text: String,
    /// All of it, where there is room for a part alone.
    pub whole: Option<String>,
    pub is_middle: bool,
    pub kind: Kind,
}

/// A number as SVG takes it: to a tenth of a pixel.
pub fn number(value: f64) -> String {
    let tenth = (value * 10.0).round() / 10.0;
    format!("{tenth}")
}

fn point((x, y): (f64, f64)) -> String {
    format!("{} {}", number(x), number(y))
}

/// All lines, in the document's order, and how far down they reach.
pub fn wires(workflow: &Workflow, scene: &Scene<'_>) -> (Vec<Wire>, f64) {
    let mut wires = Vec::new();
    let mut bottom = scene.height;
    let mut lanes = 0;
    let find = |name: &str| scene.nodes.get(*scene.index.get(name)?);
    for (from, kind, output, link) in workflow.edges() {
        let (Some(from), Some(to)) = (find(from), find(&link.node)) else {
            continue;
        };
        if kind != "main" {
            wires.push(up(from.top(), to.below(kind)));
            continue;
        }
        let (start, end) = (from.output(output), to.input(link.index));
        let path = if end.0 > start.0 {
            forward(start, end)
        } else {
            let lane = lowest(scene, from, to) + BELOW + LANE * f64::from(lanes % 6);
            lanes += 1;
            bottom = bottom.max(lane + BELOW);
            back(start, end, lane)
        };
        wires.push(Wire {
            kind: kind_of(from, output),
            path,
            end,
        });
    }
    (wires, bottom)
}

fn kind_of(from: &Drawn<'_>, output: u32) -> Kind {
    let name = from.branches.name(output);
    match name.as_deref().map(str::to_lowercase).as_deref() {
        Some("error") => Kind::Error,
        _ => Kind::Main,
    }
}

fn forward(start: (f64, f64), end: (f64, f64)) -> String {
    let reach = ((end.0 - start.0) / 2.0).max(STUB);
    format!(
        "M{}C{} {} {}",
        point(start),
        point((start.0 + reach, start.1)),
        point((end.0 - reach, end.1)),
        point(end)
    )
}

/// Right, down below the nodes, left, and up again.
fn back(start: (f64, f64), end: (f64, f64), lane: f64) -> String {
    let (right, left) = (start.0 + STUB, end.0 - STUB);
    let turn = |corner: (f64, f64), to: (f64, f64)| format!("Q{} {}", point(corner), point(to));
    format!(
        "M{}H{}{}V{}{}H{}{}V{}{}H{}",
        point(start),
        number(right - CORNER),
        turn((right, start.1), (right, start.1 + CORNER)),
        number(lane - CORNER),
        turn((right, lane), (right - CORNER, lane)),
        number(left + CORNER),
        turn((left, lane), (left, lane - CORNER)),
        number(end.1 + CORNER),
        turn((left, end.1), (left + CORNER, end.1)),
        number(end.0)
    )
}

fn up(start: (f64, f64), end: (f64, f64)) -> Wire {
    let reach = ((start.1 - end.1).abs() / 2.0).max(STUB);
    Wire {
        kind: Kind::Serves,
        path: format!(
            "M{}C{} {} {}",
            point(start),
            point((start.0, start.1 - reach)),
            point((end.0, end.1 + reach)),
            point(end)
        ),
        end,
    }
}

/// The lower edge of what stands between two nodes, with their texts and what serves them: of all that is not further below.
fn lowest(scene: &Scene<'_>, from: &Drawn<'_>, to: &Drawn<'_>) -> f64 {
    let (left, right) = (to.x - STUB, from.x + from.width + STUB);
    let mut floor = from.bottom().max(to.bottom());
    let mut between: Vec<&Drawn<'_>> = scene
        .nodes
        .iter()
        .filter(|node| node.x < right && node.x + node.width > left)
        .collect();
    between.sort_by(|a, b| a.y.total_cmp(&b.y));
    for node in between {
        // A line at the floor would go through it.
        if node.y < floor + BELOW + LANE {
            floor = floor.max(node.bottom());
        }
    }
    floor
}

/// The names of a node's outputs, beside them, and of the kinds of what serves it, below it.
pub fn labels(node: &Drawn<'_>) -> Vec<Label> {
    let outputs = u32::try_from(node.branches.count()).unwrap_or(u32::MAX);
    let mut labels = Vec::new();
    for output in 0..outputs.min(64) {
        let Some(name) = node.branches.name(output) else {
            continue;
        };
        let (x, y) = node.output(output);
        let name = agentctl_base::untrusted::line(&name);
        let text = words::cut(&name, LABEL_ROOM / LABEL);
        labels.push(Label {
            x: x + 9.0,
            y: y - 5.0,
            whole: Some(name).filter(|name| *name != text),
            text,
            is_middle: false,
            kind: kind_of(node, output),
        });
    }
    for kind in &node.served_by {
        let (x, y) = node.below(kind);
        let room = node.width / node.served_by.len().max(1) as f64;
        labels.push(Label {
            x,
            y: y + 21.0,
            text: words::cut(&agentctl_base::untrusted::line(spoken(kind)), room / LABEL),
            whole: None,
            is_middle: true,
            kind: Kind::Serves,
        });
    }
    labels
}

/// n8n's words for the kinds of its connections.
fn spoken(kind: &str) -> &str {
    match kind {
        "ai_languageModel" => "model",
        "ai_memory" => "memory",
        "ai_tool" => "tool",
        "ai_outputParser" => "output parser",
        "ai_embedding" => "embedding",
        "ai_vectorStore" => "vector store",
        "ai_document" => "document",
        "ai_textSplitter" => "text splitter",
        "ai_retriever" => "retriever",
        "ai_reranker" => "reranker",
        "ai_agent" => "agent",
        "ai_chain" => "chain",
        other => other,
    }
}
