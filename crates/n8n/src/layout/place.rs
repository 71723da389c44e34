//! Placing added nodes near what they are connected to, so that their connections run to the right and nothing overlaps: other nodes
//! move only where there is no room between the two that one joins, to the right and as they stand to one another; and moving those
//! that a change reconnected against the direction.

use super::flow::Flow;
use super::{COLUMN_GAP, NODE_WIDTH, ROOT_WIDTH, ROW_HEIGHT, SUB_ROW_HEIGHT, SUB_WIDTH, snapped};
use crate::workflow::{NodeId, Workflow};
use std::collections::{HashMap, HashSet};

/// Rows tried around the wanted one before going below everything.
const ROWS_TRIED: i32 = 12;
/// Air around a node, label included.
const CLEAR_X: f64 = 48.0;
const CLEAR_Y: f64 = 64.0;
/// A connection that is shorter cannot be seen.
const SHORTEST_EDGE: f64 = 16.0;

#[derive(Debug, Clone, Copy)]
struct Frame {
    x: f64,
    y: f64,
    width: f64,
}

impl Frame {
    fn right(&self) -> f64 {
        self.x + self.width
    }

    fn overlaps(&self, other: &Frame) -> bool {
        self.x < other.right() + CLEAR_X
            && other.x < self.right() + CLEAR_X
            && (self.y - other.y).abs() < NODE_WIDTH + CLEAR_Y
    }
}

/// Places the named nodes. A node between two others stands between them: in their row where there is room, else below. Where not even
/// its connections would run to the right, what stands from there on makes room; every other node and sticky note stays where it is.
pub fn place_new(workflow: &mut Workflow, new_ids: &[NodeId]) {
    if new_ids.is_empty() {
        return;
    }
    let mut scene = Scene::of(workflow, new_ids);
    scene.make_room(workflow);
    while !scene.pending.is_empty() {
        // A node of the main flow waits until one beside it stands, as long as there is any other to begin with.
        let near = |beside: bool| {
            let all = scene.pending.iter().enumerate();
            let asked = all.filter(|(_, at)| !beside || !scene.is_beside(**at));
            asked
                .filter_map(|(i, &at)| Some((i, scene.wanted_near(at)?)))
                .next()
        };
        let mains = scene.pending.iter().enumerate();
        let main = mains
            .filter_map(|(i, &at)| Some((i, scene.between(at)?)))
            .map(|(i, (x, y))| (i, (x, y, Step::Rows)))
            .next();
        let found = main.or_else(|| near(true)).or_else(|| near(false));
        let (i, (x, y, step)) = found.unwrap_or((0, scene.below_everything()));
        let at = scene.pending.remove(i);
        let frame = scene.free_near(x, y, step, scene.width(at));
        scene.put(workflow, at, frame);
    }
}

/// Moves nodes that were there before and that do not stand right of what `workflow` newly leads to them from (but where that closes a
/// loop): to the right of it. One that would then stand right of what it leads to, that other nodes serve, or that is among `fixed`, stays.
pub fn turn(before: &Workflow, workflow: &mut Workflow, fixed: &HashSet<NodeId>) {
    // By id: a node that was renamed is led to as before.
    let mains = |workflow: &Workflow| -> HashSet<(NodeId, NodeId)> {
        let ids: HashMap<&str, NodeId> = (workflow.nodes.iter())
            .map(|node| (node.name(), node.id()))
            .collect();
        let of_name = |name: &str| ids.get(name).cloned();
        let edges = workflow.edges().filter(|(_, kind, ..)| *kind == "main");
        edges
            .filter_map(|(from, _, _, link)| Some((of_name(from)?, of_name(&link.node)?)))
            .collect()
    };
    let there: HashSet<NodeId> = before.nodes.iter().map(|node| node.id()).collect();
    let (old, now) = (mains(before), mains(workflow));
    let may_move = |to: &NodeId| there.contains(to) && !fixed.contains(to);
    let led_to: HashSet<&NodeId> = (now.difference(&old))
        .map(|(_, to)| to)
        .filter(|to| may_move(to))
        .collect();
    if led_to.is_empty() {
        return;
    }
    let mut scene = Scene::of(workflow, &[]);
    let is_new = |from: usize, to: &NodeId| {
        let from = workflow.nodes.get(from).map(|from| from.id());
        from.is_some_and(|from| !old.contains(&(from, to.clone())))
    };
    let nodes = workflow.nodes.iter().enumerate();
    let mut ends: Vec<usize> = nodes
        .filter(|(at, node)| {
            let id = node.id();
            let mut backwards = scene.before(*at).filter(|from| scene.runs_back(*from, *at));
            led_to.contains(&id) && backwards.any(|from| is_new(from, &id))
        })
        .map(|(at, _)| at)
        .collect();
    // What stands further left is what others are led to from.
    ends.sort_by(|a, b| scene.x(*a).total_cmp(&scene.x(*b)));
    for at in ends {
        if let Some(frame) = scene.turned(at) {
            scene.put(workflow, at, frame);
        }
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
    /// Main connections without those that close a loop.
    parents: Vec<Vec<usize>>,
    children: Vec<Vec<usize>>,
    /// The other connections: (source, target).
    serves: Vec<(usize, usize)>,
    has_subs: Vec<bool>,
}

/// What stands on one side of a pending node, as far as it is placed.
#[derive(Clone, Copy, Default)]
struct Side {
    /// Of the nearest, the left side.
    x: Option<f64>,
    /// Of any, where it ends.
    end: Option<f64>,
    /// Pending nodes in between, on the longest way.
    between: usize,
}

impl Scene {
    fn of(workflow: &Workflow, new_ids: &[NodeId]) -> Scene {
        let nodes = || workflow.nodes.iter().enumerate();
        let index: HashMap<&str, usize> = nodes().map(|(i, n)| (n.name(), i)).collect();
        let flow = Flow::of(workflow);
        let count = workflow.nodes.len();
        let parents: Vec<Vec<usize>> = (0..count).map(|at| flow.parents(at).to_vec()).collect();
        let mut children = vec![Vec::new(); count];
        for (at, parents) in parents.iter().enumerate() {
            for parent in parents {
                if let Some(list) = children.get_mut(*parent) {
                    list.push(at);
                }
            }
        }
        let serves: Vec<(usize, usize)> = workflow
            .edges()
            .filter(|(_, kind, ..)| *kind != "main")
            .filter_map(|(from, _, _, link)| {
                Some((*index.get(from)?, *index.get(link.node.as_str())?))
            })
            .collect();
        let mut has_subs = vec![false; count];
        for &(_, to) in &serves {
            if let Some(flag) = has_subs.get_mut(to) {
                *flag = true;
            }
        }
        let is_new = |id: &NodeId| new_ids.contains(id);
        let mut scene = Scene {
            pending: nodes()
                .filter(|(_, n)| is_new(&n.id()))
                .map(|(i, _)| i)
                .collect(),
            frames: HashMap::new(),
            parents,
            children,
            serves,
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

    fn put(&mut self, workflow: &mut Workflow, at: usize, frame: Frame) {
        if let Some(node) = workflow.nodes.get_mut(at) {
            node.set_position(frame.x, frame.y);
        }
        self.frames.insert(at, frame);
    }

    fn width(&self, at: usize) -> f64 {
        match self.has_subs.get(at) {
            Some(true) => ROOT_WIDTH,
            _ => NODE_WIDTH,
        }
    }

    fn x(&self, at: usize) -> f64 {
        self.frames.get(&at).map_or(0.0, |frame| frame.x)
    }

    /// Whether a connection between the two runs to the left; of nodes that lie on one another, nobody drew it.
    fn runs_back(&self, from: usize, to: usize) -> bool {
        match (self.frames.get(&from), self.frames.get(&to)) {
            (Some(from), Some(to)) if from.overlaps(to) => to.x < from.x,
            (Some(from), Some(to)) => to.x < from.right(),
            _ => false,
        }
    }

    fn before(&self, at: usize) -> impl Iterator<Item = usize> {
        self.parents.get(at).into_iter().flatten().copied()
    }

    fn after(&self, at: usize) -> impl Iterator<Item = usize> {
        self.children.get(at).into_iter().flatten().copied()
    }

    fn is_forward(&self, from: usize, to: usize) -> bool {
        match (self.frames.get(&from), self.frames.get(&to)) {
            (Some(from), Some(to)) => from.x < to.x,
            _ => true,
        }
    }

    /// Moves what stands from the right one of two nodes on to the right, where those that are to come between them have no room: by as
    /// much as puts each of them into a column of its own.
    fn make_room(&mut self, workflow: &mut Workflow) {
        for at in self.pending.clone() {
            let left = self.side(at, &self.parents, f64::max);
            let right = self.side(at, &self.children, f64::min);
            let (Some(from), Some(end), Some(to)) = (left.x, left.end, right.x) else {
                continue;
            };
            let others = (left.between + right.between) as f64;
            let nodes = self.width(at) + others * NODE_WIDTH;
            let edges = others + 2.0;
            let room = to - end;
            // Nothing can run forward between what stands the other way round.
            if from < to && room < nodes + edges * SHORTEST_EDGE {
                let by = snapped(nodes + edges * COLUMN_GAP - room);
                self.move_on(workflow, to, by);
            }
        }
    }

    /// Moves all that stands there or further right, sub-nodes with what they serve.
    fn move_on(&mut self, workflow: &mut Workflow, from: f64, by: f64) {
        let count = workflow.nodes.len();
        let stands_there = |at: usize| {
            let position = workflow.nodes.get(at).and_then(|node| node.position());
            !self.pending.contains(&at) && position.is_some_and(|(x, _)| x >= from)
        };
        let goes: Vec<usize> = (0..count)
            .filter(|at| stands_there(self.root_of(*at)))
            .collect();
        for at in goes {
            super::shift(workflow, at, by, 0.0);
            if let Some(frame) = self.frames.get_mut(&at) {
                frame.x += by;
            }
        }
    }

    /// The node of the main flow that a node serves, over others that do; itself, where it serves none.
    fn root_of(&self, at: usize) -> usize {
        let mut root = at;
        // A ring of sub-nodes comes to an end, too.
        for _ in 0..=self.serves.len() {
            match self.serves.iter().find(|(from, _)| *from == root) {
                Some((_, to)) => root = *to,
                None => break,
            }
        }
        root
    }

    /// The nearest placed nodes that lead here (`next`: parents), or that are led to from here (children), past pending ones.
    fn side(&self, at: usize, next: &[Vec<usize>], nearer: fn(f64, f64) -> f64) -> Side {
        // Loops are left out of both, so this comes to an end; each node once, deepest first.
        let mut side = Side::default();
        let mut ways = vec![(at, 0)];
        let mut deepest: HashMap<usize, usize> = HashMap::new();
        while let Some((node, between)) = ways.pop() {
            for &next in next.get(node).into_iter().flatten() {
                if let Some(frame) = self.frames.get(&next) {
                    side.x = Some(side.x.map_or(frame.x, |x| nearer(x, frame.x)));
                    let end = frame.right();
                    side.end = Some(side.end.map_or(end, |right| right.max(end)));
                    side.between = side.between.max(between);
                    continue;
                }
                let known = deepest.get(&next).copied();
                if self.pending.contains(&next) && known.is_none_or(|known| known < between + 1) {
                    deepest.insert(next, between + 1);
                    ways.push((next, between + 1));
                }
            }
        }
        side
    }

    /// Whether main connections lead to the node or from it, those that close a loop aside.
    fn is_beside(&self, at: usize) -> bool {
        self.before(at).chain(self.after(at)).next().is_some()
    }

    /// Where the node should stand, judged by the node that it serves, or those that serve it.
    fn wanted_near(&self, at: usize) -> Option<(f64, f64, Step)> {
        let placed = |node: &usize| self.frames.get(node);
        let mut served = self.serves.iter().filter(|(from, _)| *from == at);
        if let Some(root) = served.find_map(|(_, to)| placed(to)) {
            let below = snapped(root.y + SUB_ROW_HEIGHT);
            return Some((snapped(root.x), below, Step::Right));
        }
        let mut served_by = self.serves.iter().filter(|(_, to)| *to == at);
        let sub = served_by.find_map(|(from, _)| placed(from))?;
        let above = snapped(sub.y - SUB_ROW_HEIGHT);
        Some((snapped(sub.x), above, Step::Rows))
    }

    /// Where the node should stand in the main flow: right of what leads here, left of what is led to, between both where they leave room.
    fn between(&self, at: usize) -> Option<(f64, f64)> {
        let placed = |node: usize| self.frames.get(&node);
        let row = self.before(at).chain(self.after(at)).find_map(placed)?;
        let left = self.side(at, &self.parents, f64::max);
        let right = self.side(at, &self.children, f64::min);
        // Columns are left free for those that are still to come in between.
        let columns = |side: Side| side.between as f64 * (NODE_WIDTH + COLUMN_GAP);
        let last = self.before(at).filter_map(placed).map(Frame::right);
        let last = last.reduce(f64::max).map(|last| {
            let nearest = left.x.map_or(last, |x| x + NODE_WIDTH + columns(left));
            snapped(last.max(nearest) + COLUMN_GAP)
        });
        let x = match (left.x, right.x, last) {
            (Some(from), Some(to), beside) if from < to => {
                let parts = left.between + right.between + 2;
                let part = (left.between + 1) as f64 / parts as f64;
                let most = inside(from, from + (to - from) * part, to);
                beside.filter(|x| *x <= most).unwrap_or(most)
            }
            (_, _, Some(beside)) => beside,
            (_, to, None) => {
                let right_end = to.unwrap_or(row.x) - COLUMN_GAP - columns(right);
                snapped(right_end - self.width(at))
            }
        };
        Some((x, snapped(row.y)))
    }

    /// The place right of all that leads to this node, in its row or near it; None: it cannot go there, or is better where it is.
    fn turned(&mut self, at: usize) -> Option<Frame> {
        if self.has_subs.get(at) == Some(&true) || self.serves.iter().any(|(from, _)| *from == at) {
            return None;
        }
        let own = self.frames.get(&at).copied()?;
        let placed = |node: usize| self.frames.get(&node);
        let rights = self.before(at).filter_map(placed).map(Frame::right);
        let right = rights.reduce(f64::max)?;
        // What runs forward from here still does.
        let forward = self.after(at).filter(|to| self.is_forward(at, *to));
        let limit = forward.filter_map(placed).map(|frame| frame.x);
        let limit = limit.reduce(f64::min).unwrap_or(f64::INFINITY);
        let wanted = snapped(right + COLUMN_GAP);
        let x = match wanted + own.width <= limit {
            true => wanted,
            false => inside(right, (right + limit - own.width) / 2.0, limit),
        };
        if x < right || x >= limit {
            return None;
        }
        self.frames.remove(&at);
        let frame = self.free_near(x, own.y, Step::Rows, own.width);
        self.frames.insert(at, own);
        Some(frame)
    }

    fn below_everything(&self) -> (f64, f64, Step) {
        let frames = self.frames.values();
        let corner = frames
            .map(|f| (f.x, f.y))
            .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        let (x, y) = corner.map_or((0.0, 0.0), |(x, y)| (x, y + ROW_HEIGHT));
        (snapped(x), snapped(y), Step::Rows)
    }

    fn free_near(&self, x: f64, y: f64, step: Step, width: f64) -> Frame {
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
                frame((x, below))
            })
    }
}

/// On the grid where that is between the two, else as it is.
fn inside(from: f64, wanted: f64, to: f64) -> f64 {
    let on_grid = snapped(wanted);
    match from < on_grid && on_grid < to {
        true => on_grid,
        false => wanted,
    }
}
