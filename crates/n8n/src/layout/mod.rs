//! Where nodes stand on the canvas: left to right along main connections, branches below one another in output order, merges
//! between their branches, AI sub-nodes in a row below the node they serve. Sticky notes are never moved.
//! Positions are the top left corner in pixels, x to the right and y down, on n8n's 16 px grid.

mod flow;
mod place;

use super::workflow::Workflow;
use flow::Flow;

pub use place::{place_new, turn};

/// n8n's canvas grid.
const GRID: f64 = 16.0;
/// A node is a square; one with sub-node inputs is wider.
pub const NODE_WIDTH: f64 = 96.0;
/// The same of one that other nodes serve (models, memories, tools).
pub const ROOT_WIDTH: f64 = 256.0;
/// Between a node and the next column: room for the edge, the plus button and the label.
const COLUMN_GAP: f64 = 144.0;
/// A row: the node, its label below, and air.
const ROW_HEIGHT: f64 = 176.0;
/// A sub-node with its label.
const SUB_WIDTH: f64 = 160.0;
const SUB_ROW_HEIGHT: f64 = 192.0;

/// Places all nodes but sticky notes. The top left corner of the whole stays where it was; a second call changes nothing.
pub fn layout(workflow: &mut Workflow) {
    let flow = Flow::of(workflow);
    let (origin_x, origin_y) = corner(workflow, &flow.placeable());
    let blocks: Vec<Block> = (0..flow.len()).map(|at| Block::of(&flow, at)).collect();
    let columns = flow.columns();
    let ys = rows(&flow, &columns, &blocks);
    let mut left = 0.0;
    for column in &columns {
        let mut width: f64 = 0.0;
        for &at in column {
            let Some(block) = blocks.get(at) else {
                continue;
            };
            width = width.max(block.width);
            let y = ys.get(at).copied().unwrap_or(0.0);
            set(workflow, at, left + block.root_offset, y);
            place_subs(workflow, &flow, at, (left, y), block.width - COLUMN_GAP);
        }
        left += width;
    }
    let (x, y) = corner(workflow, &flow.placeable());
    for at in flow.placeable() {
        shift(workflow, at, origin_x - x, origin_y - y);
    }
}

fn corner(workflow: &Workflow, nodes: &[usize]) -> (f64, f64) {
    let positions = nodes
        .iter()
        .filter_map(|&at| workflow.nodes.get(at)?.position());
    let least = positions.reduce(|a, b| (a.0.min(b.0), a.1.min(b.1)));
    let (x, y) = least.unwrap_or((0.0, 0.0));
    (snapped(x), snapped(y))
}

fn snapped(value: f64) -> f64 {
    (value / GRID).round() * GRID
}

fn set(workflow: &mut Workflow, at: usize, x: f64, y: f64) {
    if let Some(node) = workflow.nodes.get_mut(at) {
        node.set_position(x, y);
    }
}

fn shift(workflow: &mut Workflow, at: usize, dx: f64, dy: f64) {
    if let Some(node) = workflow.nodes.get_mut(at)
        && let Some((x, y)) = node.position()
    {
        node.set_position(x + dx, y + dy);
    }
}

/// A node of the main flow with all its sub-nodes: what takes room in a column.
struct Block {
    /// With the gap to the next column.
    width: f64,
    height: f64,
    /// The node's own distance from the block's left side.
    root_offset: f64,
}

impl Block {
    fn of(flow: &Flow, at: usize) -> Block {
        let below: f64 = flow.subs(at).iter().map(|&sub| sub_width(flow, sub)).sum();
        let own = own_width(flow, at);
        let width = below.max(own);
        Block {
            width: width + COLUMN_GAP,
            height: ROW_HEIGHT + SUB_ROW_HEIGHT * sub_depth(flow, at),
            root_offset: snapped((width - own) / 2.0),
        }
    }
}

fn own_width(flow: &Flow, at: usize) -> f64 {
    if flow.is_wide(at) {
        ROOT_WIDTH
    } else {
        NODE_WIDTH
    }
}

/// Sub-nodes can have sub-nodes (a vector store and its embedding): the width of the whole below.
fn sub_width(flow: &Flow, at: usize) -> f64 {
    let below: f64 = flow.subs(at).iter().map(|&sub| sub_width(flow, sub)).sum();
    below.max(own_width(flow, at) + SUB_WIDTH - NODE_WIDTH)
}

fn sub_depth(flow: &Flow, at: usize) -> f64 {
    let below = flow.subs(at).iter().map(|&sub| sub_depth(flow, sub));
    below.reduce(f64::max).map_or(0.0, |deepest| deepest + 1.0)
}

/// Places the sub-nodes of `at` in a row centred below the span that starts at `left`.
fn place_subs(workflow: &mut Workflow, flow: &Flow, at: usize, (left, y): (f64, f64), span: f64) {
    let widths: f64 = flow.subs(at).iter().map(|&sub| sub_width(flow, sub)).sum();
    let mut x = left + snapped((span - widths) / 2.0);
    for &sub in flow.subs(at) {
        let width = sub_width(flow, sub);
        let below = y + SUB_ROW_HEIGHT;
        let offset = snapped((width - own_width(flow, sub)) / 2.0);
        set(workflow, sub, x + offset, below);
        place_subs(workflow, flow, sub, (x, below), width);
        x += width;
    }
}

/// The y of every main node: a tidy tree gives the first guess, then each column from left to right moves its nodes as
/// little as possible so that merges stand between their branches and nothing overlaps.
fn rows(flow: &Flow, columns: &[Vec<usize>], blocks: &[Block]) -> Vec<f64> {
    let guess = tidy(flow, columns, blocks);
    let at_of = |list: &[f64], at: usize| list.get(at).copied().unwrap_or(0.0);
    let height = |at: usize| blocks.get(at).map_or(ROW_HEIGHT, |b| b.height);
    // Wishes are passed on exact; only what is drawn is snapped, so that a row stays a row.
    let mut exact = vec![0.0; flow.len()];
    let mut drawn = vec![0.0; flow.len()];
    for column in columns {
        let mut wanted: Vec<(f64, usize)> = column
            .iter()
            .map(|&at| {
                let y = match flow.parents(at) {
                    [] => at_of(&guess, at),
                    [one] => at_of(&exact, *one) + at_of(&guess, at) - at_of(&guess, *one),
                    many => many.iter().map(|&p| at_of(&exact, p)).sum::<f64>() / many.len() as f64,
                };
                (y, at)
            })
            .collect();
        // Stable: nodes that want the same row keep the order of the outputs they hang on.
        wanted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut floor = f64::NEG_INFINITY;
        for (y, at) in spread(&wanted, &height) {
            let row = snapped(y).max(floor);
            floor = row + height(at);
            if let (Some(exact), Some(drawn)) = (exact.get_mut(at), drawn.get_mut(at)) {
                (*exact, *drawn) = (y, row);
            }
        }
    }
    drawn
}

/// The closest places to the wanted ones, in this order, that keep every block clear of the next (isotonic regression).
fn spread(wanted: &[(f64, usize)], height: &dyn Fn(usize) -> f64) -> Vec<(f64, usize)> {
    let mut pools: Vec<(f64, usize)> = Vec::new(); // (sum of shifted wishes, members)
    let mut offsets = Vec::with_capacity(wanted.len());
    let mut above = 0.0;
    for &(y, at) in wanted {
        offsets.push(above);
        let mut pool = (y - above, 1);
        above += height(at);
        while let Some(&(sum, count)) = pools.last() {
            if sum / (count as f64) <= pool.0 / (pool.1 as f64) {
                break;
            }
            pools.pop();
            pool = (pool.0 + sum, pool.1 + count);
        }
        pools.push(pool);
    }
    let levels = pools
        .iter()
        .flat_map(|&(sum, count)| std::iter::repeat_n(sum / count as f64, count));
    let placed = levels.zip(offsets).zip(wanted);
    placed
        .map(|((level, above), &(_, at))| (level + above, at))
        .collect()
}

/// The y of a tidy tree: every node in the middle of its children, subtrees stacked in output order, roots below one another.
fn tidy(flow: &Flow, columns: &[Vec<usize>], blocks: &[Block]) -> Vec<f64> {
    let height = |at: usize| blocks.get(at).map_or(ROW_HEIGHT, |b| b.height);
    let at_of = |list: &[f64], at: usize| list.get(at).copied().unwrap_or(0.0);
    let mut heights = vec![0.0; flow.len()];
    for &at in columns.iter().rev().flatten() {
        let below: f64 = flow
            .tree_children(at)
            .iter()
            .map(|&c| at_of(&heights, c))
            .sum();
        if let Some(slot) = heights.get_mut(at) {
            *slot = below.max(height(at));
        }
    }
    let mut tops = vec![0.0; flow.len()];
    let mut next_root = 0.0;
    for &at in columns.iter().flatten() {
        if flow.parents(at).is_empty() {
            if let Some(slot) = tops.get_mut(at) {
                *slot = next_root;
            }
            next_root += at_of(&heights, at);
        }
        let mut top = at_of(&tops, at);
        for &child in flow.tree_children(at) {
            if let Some(slot) = tops.get_mut(child) {
                *slot = top;
            }
            top += at_of(&heights, child);
        }
    }
    let mut ys = tops;
    for &at in columns.iter().rev().flatten() {
        if let (Some(&first), Some(&last)) = (
            flow.tree_children(at).first(),
            flow.tree_children(at).last(),
        ) {
            let middle = (at_of(&ys, first) + at_of(&ys, last)) / 2.0;
            if let Some(slot) = ys.get_mut(at) {
                *slot = middle;
            }
        }
    }
    ys
}

#[cfg(test)]
mod layout_tests;
