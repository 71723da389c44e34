//! Nodes named in expressions and code: whether they exist, and whether they have run by then.
//! Collected over the whole workflow and answered together, so that the cost does not grow with its square.

use super::{
    leaves::Leaf,
    path,
    report::{Draft, Report},
    rules,
    subject::{NodeView, Subject},
};
use crate::{
    edit::{
        EditOp,
        references::{self, is_python},
    },
    finding::{Confidence, Severity},
};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};

/// One naming of a node.
pub(super) struct Named<'a> {
    pub node: &'a NodeView<'a>,
    pub pointer: String,
    /// The whole value and the key that holds it.
    pub text: &'a str,
    pub key: &'a str,
    pub name: String,
    /// A failure is handled by the code around it.
    pub caught: bool,
    /// The node must have run: its items are read.
    pub needs_data: bool,
}

#[derive(Default)]
pub(super) struct References<'a> {
    all: Vec<Named<'a>>,
}

impl<'a> References<'a> {
    pub(super) fn add(&mut self, named: Named<'a>) {
        self.all.push(named);
    }

    /// What others were, behind what these are.
    pub(super) fn append(&mut self, mut other: References<'a>) {
        self.all.append(&mut other.all);
    }

    /// What Python names, by its look: whole comment lines often show references as examples.
    pub(super) fn add_text(&mut self, node: &'a NodeView<'a>, leaf: &Leaf<'a, '_>, code: &str) {
        let lines = code.lines().filter(|l| !l.trim_start().starts_with('#'));
        for reference in lines.flat_map(|line| references::references(line, true)) {
            self.all.push(Named {
                node,
                pointer: leaf.pointer.to_owned(),
                text: leaf.text,
                key: leaf.key,
                name: reference.node,
                caught: true,
                needs_data: true,
            });
        }
    }

    pub(super) fn judge(self, subject: &Subject, report: &mut Report) {
        let mut said = BTreeSet::new();
        let mut closest = Closest::default();
        let mut open = Vec::new();
        for named in self.all {
            let target = subject.named(&named.name);
            let place = (named.node.at, named.pointer.clone(), named.name.clone());
            match target {
                None => {
                    if said.insert(place) {
                        unknown(subject, &named, &mut closest, report);
                    }
                }
                Some(target) if named.needs_data => open.push((named, target)),
                Some(_) => {}
            }
        }
        let pairs: Vec<Vec<(usize, usize)>> = open
            .iter()
            .map(|(named, target)| {
                let roots = roots(subject, named.node.index);
                roots.into_iter().map(|root| (*target, root)).collect()
            })
            .collect();
        let flat: Vec<(usize, usize)> = pairs.iter().flatten().copied().collect();
        let mut leads = subject.reach.leads(&subject.main_after, &flat).into_iter();
        for ((named, target), pairs) in open.iter().zip(&pairs) {
            let upstream = leads.by_ref().take(pairs.len()).filter(|yes| *yes).count() > 0;
            let place = (named.node.at, named.pointer.clone(), named.name.clone());
            if !upstream && said.insert(place) {
                not_upstream(subject, named, *target, pairs, report);
            }
        }
    }
}

/// The nodes in whose runs this one's values are read: itself, or what a sub-node serves in the end.
fn roots(subject: &Subject, node: usize) -> Vec<usize> {
    /// A model shared by more nodes than this is not looked at further.
    const MOST: usize = 64;
    if subject.served.of_node(node).is_empty() {
        return vec![node];
    }
    let mut seen = BTreeSet::from([node]);
    let mut open = vec![node];
    while let Some(at) = open.pop() {
        for &next in subject.served.of_node(at) {
            if seen.len() < MOST && seen.insert(next) {
                open.push(next);
            }
        }
    }
    seen.into_iter().collect()
}

fn unknown(subject: &Subject, named: &Named, closest: &mut Closest, report: &mut Report) {
    let nearest = closest.to(&named.name, subject);
    let hint = nearest.map_or(String::new(), |c| format!("; did you mean {c:?}?"));
    let message = format!(
        "refers to the node {:?}, which does not exist{hint}",
        named.name
    );
    let mut draft = rules::UNKNOWN_REFERENCE
        .at(named.pointer.as_str(), message)
        .key(named.name.as_str());
    if named.caught {
        draft = draft.at_most(Severity::Warning);
    }
    let renamed = nearest.and_then(|c| {
        let names = (named.name.as_str(), c);
        let is_node = |name: &str| subject.named(name).is_some();
        references::rename(named.text, is_python(named.key), names, is_node)
    });
    if let (Some(text), Some(nearest)) = (renamed, nearest) {
        let op = EditOp::SetParameter {
            node: named.node.address(),
            pointer: path::below_parameters(&named.pointer),
            value: Value::String(text),
        };
        draft = draft.fix(
            Confidence::Likely,
            format!("refer to {nearest:?}"),
            vec![op],
        );
    }
    report.node(named.node, draft);
}

fn not_upstream(
    subject: &Subject,
    named: &Named,
    target: usize,
    pairs: &[(usize, usize)],
    report: &mut Report,
) {
    let reach = &subject.reach;
    let is_sub_node = subject.nodes.get(target).is_some_and(NodeView::is_sub_node);
    let each = |rule: &dyn Fn(usize) -> bool| pairs.iter().all(|(_, root)| rule(*root));
    // A sub-node's roots include the sub-node itself, which no main connection reaches.
    let runs = |root: usize| root != named.node.index || pairs.len() == 1;
    let apart = each(&|root| !runs(root) || reach.never_together(target, root));
    let later = each(&|root| !runs(root) || reach.only_through(root, target));
    let own = target == named.node.index;
    let message = if own {
        format!(
            "refers to {:?}, which is this node itself: it has no data yet",
            named.name
        )
    } else if apart {
        format!(
            "refers to {:?}, which never runs in the same execution as this node",
            named.name
        )
    } else if later {
        format!(
            "refers to {:?}, which runs only after this node",
            named.name
        )
    } else {
        format!(
            "refers to {:?}, which does not run before this node; its data may be missing",
            named.name
        )
    };
    let mut draft: Draft = rules::REFERENCE_NOT_UPSTREAM
        .at(named.pointer.as_str(), message)
        .key(named.name.as_str());
    let sure = (apart || later) && !is_sub_node && !named.caught;
    if !sure {
        draft = draft.at_most(Severity::Warning);
    }
    report.node(named.node, draft);
}

/// The most similar name, looked for once per unknown name and not at all in very large workflows.
#[derive(Default)]
struct Closest {
    known: HashMap<String, Option<usize>>,
}

impl Closest {
    fn to<'s>(&mut self, name: &str, subject: &'s Subject) -> Option<&'s str> {
        const MOST_NAMES: usize = 100;
        let known = self.known.len() >= MOST_NAMES;
        let found = match self.known.get(name) {
            Some(found) => *found,
            None if known => None,
            None => {
                let found = nearest(name, subject);
                self.known.insert(name.to_owned(), found);
                found
            }
        };
        subject.nodes.get(found?)?.name
    }
}

fn nearest(name: &str, subject: &Subject) -> Option<usize> {
    let wanted = name.to_lowercase();
    let scored = subject.nodes.iter().filter(|n| !n.is_sticky());
    let scored = scored.filter_map(|n| {
        let likeness = strsim::jaro_winkler(&wanted, &n.name?.to_lowercase());
        Some((likeness, n.index))
    });
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 > 0.85).then_some(best.1)
}
