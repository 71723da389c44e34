//! Placing added nodes near what they are connected to, without moving any other and without overlap.

use super::{COLUMN_GAP, NODE_WIDTH, ROOT_WIDTH, ROW_HEIGHT, SUB_ROW_HEIGHT, SUB_WIDTH, snapped};
use crate::workflow::{NodeId, Workflow};
use std::collections::HashMap;

/// Rows tried around the wanted one before going below everything.
const ROWS_TRIED: i32 = 12;
/// Air around a node, label included.
const CLEAR_X: f64 = 48.0;
const CLEAR_Y: f64 = 64.0;

#[derive(Debug, Clone, Copy)]
struct Frame {
    x: f64,
    y: f64,
    width: f64,
}

impl Frame {
    fn overlaps(&self, other: &Frame) -> bool {
        self.x < other.x + other.width + CLEAR_X
            && other.x < self.x + self.width + CLEAR_X
            && (self.y - other.y).abs() < NODE_WIDTH + CLEAR_Y
    }
}

/// Places the named nodes; every other node and all sticky notes stay where they are.
pub fn place_new(workflow: &mut Workflow, new_ids: &[NodeId]) {
    let mut scene = Scene::of(workflow, new_ids);
    while !scene.pending.is_empty() {
        let anchored = scene.pending.iter().enumerate();
        let found = anchored
            .filter_map(|(i, &at)| Some((i, scene.wanted_near(at)?)))
            .next();
        let (i, (x, y, step)) = found.unwrap_or((0, scene.below_everything()));
        let at = scene.pending.remove(i);
        let frame = scene.free_near(x, y, step, scene.width(at));
        if let Some(node) = workflow.nodes.get_mut(at) {
            node.set_position(frame.x, frame.y);
        }
        scene.frames.insert(at, frame);
    }
}

/// How a search goes on from an occupied place.
#[derive(Clone, Copy)]
enum Step {
    /// Below, above, further below, …
    Rows,
    /// To the right, then the next row: sub-nodes.
    Right,
}

struct Scene {
    pending: Vec<usize>,
    frames: HashMap<usize, Frame>,
    /// (source, target, is main)
    edges: Vec<(usize, usize, bool)>,
    has_subs: Vec<bool>,
}

impl Scene {
    fn of(workflow: &Workflow, new_ids: &[NodeId]) -> Scene {
        let nodes = || workflow.nodes.iter().enumerate();
        let index: HashMap<&str, usize> = nodes().map(|(i, n)| (n.name(), i)).collect();
        let edges: Vec<(usize, usize, bool)> = workflow
            .edges()
            .filter_map(|(from, kind, _, link)| {
                let ends = (*index.get(from)?, *index.get(link.node.as_str())?);
                Some((ends.0, ends.1, kind == "main"))
            })
            .collect();
        let mut has_subs = vec![false; workflow.nodes.len()];
        for &(_, to, is_main) in &edges {
            if let Some(flag) = has_subs.get_mut(to) {
                *flag |= !is_main;
            }
        }
        let is_new = |id: &NodeId| new_ids.contains(id);
        let mut scene = Scene {
            pending: nodes()
                .filter(|(_, n)| is_new(&n.id()))
                .map(|(i, _)| i)
                .collect(),
            frames: HashMap::new(),
            edges,
            has_subs,
        };
        for (i, node) in nodes() {
            if let Some((x, y)) = node.position()
                && !is_new(&node.id())
                && !node.is_sticky()
            {
                let width = scene.width(i);
                scene.frames.insert(i, Frame { x, y, width });
            }
        }
        scene
    }

    fn width(&self, at: usize) -> f64 {
        match self.has_subs.get(at) {
            Some(true) => ROOT_WIDTH,
            _ => NODE_WIDTH,
        }
    }

    /// Where the node should stand, judged by a placed neighbour.
    fn wanted_near(&self, at: usize) -> Option<(f64, f64, Step)> {
        let placed = |node: &usize| self.frames.get(node);
        let serves = self
            .edges
            .iter()
            .find_map(|(from, to, main)| (*from == at && !main).then(|| placed(to)).flatten());
        if let Some(root) = serves {
            return Some((root.x, root.y + SUB_ROW_HEIGHT, Step::Right));
        }
        let before = self
            .edges
            .iter()
            .find_map(|(from, to, main)| (*to == at && *main).then(|| placed(from)).flatten());
        if let Some(before) = before {
            return Some((before.x + before.width + COLUMN_GAP, before.y, Step::Rows));
        }
        let after = self
            .edges
            .iter()
            .find_map(|(from, to, main)| (*from == at && *main).then(|| placed(to)).flatten());
        if let Some(after) = after {
            let x = after.x - COLUMN_GAP - self.width(at);
            return Some((x, after.y, Step::Rows));
        }
        let served_by = self
            .edges
            .iter()
            .find_map(|(from, to, main)| (*to == at && !main).then(|| placed(from)).flatten());
        served_by.map(|sub| (sub.x, sub.y - SUB_ROW_HEIGHT, Step::Rows))
    }

    fn below_everything(&self) -> (f64, f64, Step) {
        let frames = self.frames.values();
        let corner = frames
            .map(|f| (f.x, f.y))
            .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        let (x, y) = corner.map_or((0.0, 0.0), |(x, y)| (x, y + ROW_HEIGHT));
        (x, y, Step::Rows)
    }

    fn free_near(&self, x: f64, y: f64, step: Step, width: f64) -> Frame {
        let (x, y) = (snapped(x), snapped(y));
        let tried: Vec<(f64, f64)> = match step {
            Step::Rows => std::iter::once(0)
                .chain((1..=ROWS_TRIED).flat_map(|row| [row, -row]))
                .map(|row| (x, y + f64::from(row) * ROW_HEIGHT))
                .collect(),
            Step::Right => (0..ROWS_TRIED)
                .flat_map(|row| (0..4).map(move |column| (row, column)))
                .map(|(row, column)| {
                    let (right, down) = (f64::from(column), f64::from(row));
                    (x + right * SUB_WIDTH, y + down * SUB_ROW_HEIGHT)
                })
                .collect(),
        };
        let frame = |(x, y): (f64, f64)| Frame { x, y, width };
        let is_free = |wanted: &Frame| !self.frames.values().any(|f| f.overlaps(wanted));
        tried
            .into_iter()
            .map(frame)
            .find(is_free)
            .unwrap_or_else(|| {
                let (_, below, _) = self.below_everything();
                frame((x, snapped(below)))
            })
    }
}
