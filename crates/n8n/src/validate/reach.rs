//! What runs before what: the main connections as a graph, with questions answered in bulk so that ten thousand nodes cost
//! ten thousand times one node. Pure graph work on node indexes.

/// How many sources one pass through the graph carries.
const LANES: usize = 64;

/// By index in `nodes`, the nodes one step further.
#[derive(Default)]
pub(super) struct Neighbours(Vec<Vec<usize>>);

impl Neighbours {
    pub(super) fn of(
        count: usize,
        steps: impl Iterator<Item = (Option<usize>, Option<usize>)>,
    ) -> Self {
        let mut lists = vec![Vec::new(); count];
        for (from, to) in steps {
            if let (Some(from), Some(to)) = (from, to)
                && let Some(list) = lists.get_mut(from)
            {
                list.push(to);
            }
        }
        Neighbours(lists)
    }

    pub(super) fn of_node(&self, node: usize) -> &[usize] {
        self.0.get(node).map_or(&[], Vec::as_slice)
    }

    /// By node, whether it is reached from `starts` in any number of steps, the starts themselves included.
    pub(super) fn reached(&self, starts: impl IntoIterator<Item = usize>) -> Vec<bool> {
        let mut reached = vec![false; self.0.len()];
        let mut open: Vec<usize> = starts.into_iter().collect();
        while let Some(at) = open.pop() {
            if let Some(seen) = reached.get_mut(at)
                && !*seen
            {
                *seen = true;
                open.extend(self.of_node(at));
            }
        }
        reached
    }
}

pub(super) struct Reach {
    /// The strongly connected part that each node is in. A part has a higher number than all that follow it.
    part: Vec<usize>,
    /// The nodes of each part.
    members: Vec<Vec<usize>>,
    /// There is a way round inside the part.
    circular: Vec<bool>,
    /// For nodes that a start leads to: numbers by which one node encloses another in the tree of dominators.
    span: Vec<Option<(usize, usize)>>,
    /// The first 64 starts that lead to the node, as bits.
    starts: Vec<u64>,
    start_count: usize,
}

impl Reach {
    pub(super) fn of(after: &Neighbours, count: usize, starts: &[usize]) -> Self {
        let (part, members) = parts(after, count);
        let circular = members
            .iter()
            .map(|m| m.len() > 1 || m.iter().any(|&n| after.of_node(n).contains(&n)))
            .collect();
        let mut reach = Reach {
            part,
            members,
            circular,
            span: dominator_spans(after, count, starts),
            starts: Vec::new(),
            start_count: starts.len(),
        };
        let first: Vec<usize> = starts.iter().copied().take(LANES).collect();
        reach.starts = reach.carried(after, &first, true);
        reach
    }

    /// The sets of nodes that lie on a circle together.
    pub(super) fn circles(&self) -> impl Iterator<Item = &[usize]> {
        let parts = self.members.iter().zip(&self.circular);
        parts.filter(|(_, c)| **c).map(|(m, _)| m.as_slice())
    }

    pub(super) fn same_circle(&self, a: usize, b: usize) -> bool {
        let part = |n: usize| self.part.get(n).copied();
        part(a).is_some() && part(a) == part(b) && self.on_circle(a)
    }

    pub(super) fn on_circle(&self, node: usize) -> bool {
        let part = self.part.get(node);
        part.is_some_and(|p| self.circular.get(*p) == Some(&true))
    }

    /// For each pair, whether a way of at least one step leads from the first node to the second.
    pub(super) fn leads(&self, after: &Neighbours, pairs: &[(usize, usize)]) -> Vec<bool> {
        let mut sources: Vec<usize> = pairs.iter().map(|(from, _)| *from).collect();
        sources.sort_unstable();
        sources.dedup();
        let mut answers = vec![false; pairs.len()];
        let mut by_source: Vec<usize> = (0..pairs.len()).collect();
        let source_of = |i: usize| pairs.get(i).map_or(0, |p| p.0);
        by_source.sort_by_key(|&i| source_of(i));
        let mut open = by_source.into_iter().peekable();
        for lanes in sources.chunks(LANES) {
            let masks = self.carried(after, lanes, false);
            while let Some(&i) = open.peek() {
                let Some(lane) = lanes.binary_search(&source_of(i)).ok() else {
                    break;
                };
                let to = pairs.get(i).map_or(0, |p| p.1);
                if let Some(answer) = answers.get_mut(i) {
                    *answer = masks.get(to).is_some_and(|m| m >> lane & 1 == 1);
                }
                open.next();
            }
        }
        answers
    }

    /// By node, the bits of the sources that lead to it; with `own`, also the bit of a source itself.
    fn carried(&self, after: &Neighbours, sources: &[usize], own: bool) -> Vec<u64> {
        let mut above = vec![0_u64; self.members.len()];
        let mut bits = vec![0_u64; self.part.len()];
        let mut first = vec![0_u64; self.part.len()];
        for (lane, &source) in sources.iter().enumerate().take(LANES) {
            if let Some(mask) = first.get_mut(source) {
                *mask |= 1 << lane;
            }
        }
        for part in (0..self.members.len()).rev() {
            let members = self.members.get(part).map_or(&[][..], Vec::as_slice);
            let entering = above.get(part).copied().unwrap_or(0);
            let inside = members
                .iter()
                .filter_map(|&n| first.get(n))
                .fold(0, |all, mask| all | mask);
            let circular = self.circular.get(part) == Some(&true);
            for &node in members {
                let seen = if own || circular {
                    entering | inside
                } else {
                    entering
                };
                if let Some(mask) = bits.get_mut(node) {
                    *mask = seen;
                }
                for &next in after.of_node(node) {
                    let target = self.part.get(next).copied().unwrap_or(part);
                    if target != part
                        && let Some(mask) = above.get_mut(target)
                    {
                        *mask |= entering | inside;
                    }
                }
            }
        }
        bits
    }

    /// No start leads to both nodes, so that no run has both.
    pub(super) fn never_together(&self, a: usize, b: usize) -> bool {
        if self.start_count == 0 || self.start_count > LANES {
            return false;
        }
        let starts = |n: usize| self.starts.get(n).copied().unwrap_or(0);
        starts(a) & starts(b) == 0
    }

    /// Whatever way a run takes to `node`, it comes through `gate` first.
    pub(super) fn only_through(&self, gate: usize, node: usize) -> bool {
        let span = |n: usize| self.span.get(n).copied().flatten();
        match (span(gate), span(node)) {
            (Some((from, to)), Some((at, _))) => from <= at && at < to,
            _ => false,
        }
    }
}

/// Tarjan's algorithm without recursion.
fn parts(after: &Neighbours, count: usize) -> (Vec<usize>, Vec<Vec<usize>>) {
    const NONE: usize = usize::MAX;
    let mut part = vec![NONE; count];
    let mut low = vec![0; count];
    let mut number = vec![NONE; count];
    let mut members: Vec<Vec<usize>> = Vec::new();
    let mut stack = Vec::new();
    let mut next_number = 0;
    let get = |list: &[usize], n: usize| list.get(n).copied().unwrap_or(NONE);
    let set = |list: &mut [usize], n: usize, value: usize| {
        if let Some(slot) = list.get_mut(n) {
            *slot = value;
        }
    };
    for root in 0..count {
        if get(&number, root) != NONE {
            continue;
        }
        let mut work = vec![(root, 0)];
        while let Some((node, step)) = work.pop() {
            if step == 0 {
                set(&mut number, node, next_number);
                set(&mut low, node, next_number);
                next_number += 1;
                stack.push(node);
            }
            if let Some(&next) = after.of_node(node).get(step) {
                work.push((node, step + 1));
                if get(&number, next) == NONE {
                    work.push((next, 0));
                } else if get(&part, next) == NONE {
                    let lowest = get(&low, node).min(get(&number, next));
                    set(&mut low, node, lowest);
                }
                continue;
            }
            if get(&low, node) == get(&number, node) {
                let mut whole = Vec::new();
                while let Some(member) = stack.pop() {
                    set(&mut part, member, members.len());
                    whole.push(member);
                    if member == node {
                        break;
                    }
                }
                members.push(whole);
            }
            if let Some(&(parent, _)) = work.last() {
                let lowest = get(&low, parent).min(get(&low, node));
                set(&mut low, parent, lowest);
            }
        }
    }
    (part, members)
}

/// Cooper, Harvey and Kennedy's dominators over a root before all starts, as spans of a walk through their tree.
fn dominator_spans(
    after: &Neighbours,
    count: usize,
    starts: &[usize],
) -> Vec<Option<(usize, usize)>> {
    let root = count;
    let steps = |node: usize| {
        if node == root {
            starts
        } else {
            after.of_node(node)
        }
    };
    let (order, place) = post_order(root, steps, count + 1);
    let mut before = vec![Vec::new(); count + 1];
    for &node in &order {
        for &next in steps(node) {
            if let Some(list) = before.get_mut(next) {
                list.push(node);
            }
        }
    }
    let mut above: Vec<Option<usize>> = vec![None; count + 1];
    if let Some(slot) = above.get_mut(root) {
        *slot = Some(root);
    }
    let at = |node: usize| place.get(node).copied().flatten().unwrap_or(0);
    let mut changed = true;
    while changed {
        changed = false;
        for &node in order.iter().rev().filter(|n| **n != root) {
            let mut common: Option<usize> = None;
            for &source in before.get(node).into_iter().flatten() {
                if above.get(source).copied().flatten().is_none() {
                    continue;
                }
                common = Some(match common {
                    None => source,
                    Some(other) => meet(source, other, &above, &at),
                });
            }
            if let Some(slot) = above.get_mut(node)
                && *slot != common
            {
                *slot = common;
                changed = true;
            }
        }
    }
    spans(&above, root, count)
}

fn meet(a: usize, b: usize, above: &[Option<usize>], at: &dyn Fn(usize) -> usize) -> usize {
    let (mut a, mut b) = (a, b);
    let up = |n: usize| above.get(n).copied().flatten().unwrap_or(n);
    while a != b {
        let (from, to) = (a, b);
        if at(a) < at(b) {
            a = up(a);
        } else {
            b = up(b);
        }
        if (from, to) == (a, b) {
            break; // the root, which meets everything
        }
    }
    a
}

/// Nodes in post-order from the root, and each node's place in it.
fn post_order<'a>(
    root: usize,
    steps: impl Fn(usize) -> &'a [usize],
    count: usize,
) -> (Vec<usize>, Vec<Option<usize>>) {
    let mut seen = vec![false; count];
    let mut order = Vec::new();
    let mut place = vec![None; count];
    let mut work = vec![(root, 0)];
    if let Some(slot) = seen.get_mut(root) {
        *slot = true;
    }
    while let Some((node, step)) = work.pop() {
        match steps(node).get(step) {
            Some(&next) => {
                work.push((node, step + 1));
                if let Some(slot) = seen.get_mut(next)
                    && !*slot
                {
                    *slot = true;
                    work.push((next, 0));
                }
            }
            None => {
                if let Some(slot) = place.get_mut(node) {
                    *slot = Some(order.len());
                }
                order.push(node);
            }
        }
    }
    (order, place)
}

/// When a walk through the tree enters and leaves each node.
fn spans(above: &[Option<usize>], root: usize, count: usize) -> Vec<Option<(usize, usize)>> {
    let mut below = vec![Vec::new(); count + 1];
    for (node, parent) in above.iter().enumerate().filter(|(n, _)| *n != root) {
        if let Some(list) = parent.and_then(|p| below.get_mut(p)) {
            list.push(node);
        }
    }
    let mut spans = vec![None; count + 1];
    let mut clock = 0;
    let mut work = vec![(root, false)];
    while let Some((node, leaving)) = work.pop() {
        let Some(slot) = spans.get_mut(node) else {
            continue;
        };
        if leaving {
            let entered = slot.map_or(0, |(from, _)| from);
            *slot = Some((entered, clock));
            continue;
        }
        *slot = Some((clock, clock));
        clock += 1;
        work.push((node, true));
        for &child in below.get(node).into_iter().flatten() {
            work.push((child, false));
        }
    }
    spans.truncate(count);
    spans
}

#[cfg(test)]
#[path = "reach_tests.rs"]
mod reach_tests;
