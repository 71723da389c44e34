//! The workflow as a layered graph: main edges without those that close a loop, columns by longest path, sub-nodes by owner.

use crate::workflow::Workflow;
use std::collections::HashMap;

pub(super) struct Flow {
    /// Targets of main edges in output order, loops left out.
    children: Vec<Vec<usize>>,
    parents: Vec<Vec<usize>>,
    /// The children that hang on this node when each node hangs on one parent in the column before it.
    tree: Vec<Vec<usize>>,
    subs: Vec<Vec<usize>>,
    /// n8n draws nodes with sub-node inputs wider.
    wide: Vec<bool>,
    column_of: Vec<Option<usize>>,
    /// Main nodes in the order of a walk along the outputs.
    walk: Vec<usize>,
    placeable: Vec<usize>,
}

impl Flow {
    pub(super) fn of(workflow: &Workflow) -> Flow {
        let count = workflow.nodes.len();
        let nodes = workflow.nodes.iter().enumerate();
        let index: HashMap<&str, usize> = nodes.map(|(i, n)| (n.name(), i)).collect();
        let mut main: Vec<Vec<usize>> = vec![Vec::new(); count];
        let mut has_main_input = vec![false; count];
        let mut served: Vec<Option<usize>> = vec![None; count];
        let mut wide = vec![false; count];
        for (from, kind, _, link) in workflow.edges() {
            let (Some(&from), Some(&to)) = (index.get(from), index.get(link.node.as_str())) else {
                continue;
            };
            if kind == "main" {
                push_once(&mut main, from, to);
                mark(&mut has_main_input, to);
                continue;
            }
            mark(&mut wide, to);
            if let Some(slot) = served.get_mut(from)
                && slot.is_none()
                && from != to
            {
                *slot = Some(to);
            }
        }
        let is_sticky = |at: usize| workflow.nodes.get(at).is_none_or(|n| n.is_sticky());
        let in_main = |at: usize| {
            has_main_input.get(at) == Some(&true) || main.get(at).is_some_and(|m| !m.is_empty())
        };
        let mut owner: Vec<Option<usize>> = vec![None; count];
        let mut subs: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (at, target) in served.iter().enumerate() {
            let Some(target) = *target else { continue };
            if in_main(at) || is_sticky(at) || is_sticky(target) || reaches(&owner, target, at) {
                continue;
            }
            if let Some(slot) = owner.get_mut(at) {
                *slot = Some(target);
            }
            push_once(&mut subs, target, at);
        }
        let placeable: Vec<usize> = (0..count).filter(|&at| !is_sticky(at)).collect();
        let is_main = |at: &usize| matches!(owner.get(*at), Some(None));
        let mains: Vec<usize> = placeable.iter().copied().filter(is_main).collect();
        let (walk, children) = without_loops(&mains, &has_main_input, &main);
        let mut flow = Flow {
            parents: vec![Vec::new(); count],
            tree: vec![Vec::new(); count],
            column_of: vec![None; count],
            children,
            subs,
            wide,
            walk,
            placeable,
        };
        flow.assign_columns();
        flow
    }

    pub(super) fn len(&self) -> usize {
        self.children.len()
    }
    /// Every node but sticky notes.
    pub(super) fn placeable(&self) -> Vec<usize> {
        self.placeable.clone()
    }
    pub(super) fn parents(&self, at: usize) -> &[usize] {
        self.parents.get(at).map_or(&[], Vec::as_slice)
    }
    pub(super) fn tree_children(&self, at: usize) -> &[usize] {
        self.tree.get(at).map_or(&[], Vec::as_slice)
    }
    pub(super) fn is_wide(&self, at: usize) -> bool {
        self.wide.get(at) == Some(&true)
    }
    pub(super) fn subs(&self, at: usize) -> &[usize] {
        self.subs.get(at).map_or(&[], Vec::as_slice)
    }
    fn children(&self, at: usize) -> &[usize] {
        self.children.get(at).map_or(&[], Vec::as_slice)
    }
    fn column(&self, at: usize) -> usize {
        self.column_of.get(at).copied().flatten().unwrap_or(0)
    }

    /// Main nodes by column, each column in walk order.
    pub(super) fn columns(&self) -> Vec<Vec<usize>> {
        let last = self.walk.iter().map(|&at| self.column(at)).max();
        let mut columns = vec![Vec::new(); last.map_or(0, |l| l + 1)];
        for &at in &self.walk {
            if let Some(column) = columns.get_mut(self.column(at)) {
                column.push(at);
            }
        }
        columns
    }

    /// Column = longest path from a start; then parents and the tree of first parents in the column before.
    fn assign_columns(&mut self) {
        let mut waiting = vec![0usize; self.len()];
        for &at in &self.walk {
            for &child in self.children.get(at).map_or(&[][..], Vec::as_slice) {
                if let Some(n) = waiting.get_mut(child) {
                    *n += 1;
                }
                push_once(&mut self.parents, child, at);
            }
        }
        let mut ready: Vec<usize> = self.walk.clone();
        ready.retain(|&at| waiting.get(at) == Some(&0));
        while let Some(at) = ready.pop() {
            let column = self.column(at);
            if let Some(slot) = self.column_of.get_mut(at) {
                *slot = Some(column);
            }
            for child in self.children(at).to_vec() {
                let deepest = self.column(child).max(column + 1);
                if let Some(slot) = self.column_of.get_mut(child) {
                    *slot = Some(deepest);
                }
                if let Some(n) = waiting.get_mut(child) {
                    *n -= 1;
                    if *n == 0 {
                        ready.push(child);
                    }
                }
            }
        }
        let mut has_tree_parent = vec![false; self.len()];
        for at in self.walk.clone() {
            for child in self.children(at).to_vec() {
                let adjacent = self.column(child) == self.column(at) + 1;
                if adjacent && has_tree_parent.get(child) == Some(&false) {
                    mark(&mut has_tree_parent, child);
                    push_once(&mut self.tree, at, child);
                }
            }
        }
    }
}

/// Walks depth first along the outputs, from nodes without an input first; an edge back to a node that is still being
/// walked closes a loop and is left out.
fn without_loops(
    mains: &[usize],
    has_main_input: &[bool],
    main: &[Vec<usize>],
) -> (Vec<usize>, Vec<Vec<usize>>) {
    #[derive(Clone, Copy, PartialEq)]
    enum Visit {
        New,
        Open,
        Done,
    }
    let mut visits = vec![Visit::New; main.len()];
    let mut is_main = vec![false; main.len()];
    for &at in mains {
        mark(&mut is_main, at);
    }
    let mut walk = Vec::with_capacity(mains.len());
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); main.len()];
    let fed = |at: &usize| has_main_input.get(*at) == Some(&true);
    let starts = mains
        .iter()
        .filter(|at| !fed(at))
        .chain(mains.iter().filter(|at| fed(at)));
    for &start in starts {
        if visits.get(start) != Some(&Visit::New) {
            continue;
        }
        let mut stack = vec![(start, 0)];
        while let Some((at, next)) = stack.pop() {
            if next == 0 {
                walk.push(at);
                if let Some(slot) = visits.get_mut(at) {
                    *slot = Visit::Open;
                }
            }
            let Some(&child) = main.get(at).and_then(|m| m.get(next)) else {
                if let Some(slot) = visits.get_mut(at) {
                    *slot = Visit::Done;
                }
                continue;
            };
            stack.push((at, next + 1));
            let visit = visits.get(child).copied().unwrap_or(Visit::Open);
            if visit != Visit::Open && is_main.get(child) == Some(&true) {
                push_once(&mut children, at, child);
                if visit == Visit::New {
                    stack.push((child, 0));
                }
            }
        }
    }
    (walk, children)
}

fn push_once(lists: &mut [Vec<usize>], at: usize, value: usize) {
    if let Some(list) = lists.get_mut(at)
        && !list.contains(&value)
    {
        list.push(value);
    }
}

fn mark(flags: &mut [bool], at: usize) {
    if let Some(flag) = flags.get_mut(at) {
        *flag = true;
    }
}

/// Whether following owners from `from` comes to `to`.
fn reaches(owner: &[Option<usize>], from: usize, to: usize) -> bool {
    let mut at = Some(from);
    while let Some(node) = at {
        if node == to {
            return true;
        }
        at = owner.get(node).copied().flatten();
    }
    false
}
