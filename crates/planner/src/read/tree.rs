//! The tree of steps while it grows: where the next step goes, and how branches open and close. Knows no language.

use crate::plan::{Case, Cmp, Cond, Does, Step, Val};

/// A way into a step's branches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Branch {
    Then,
    Otherwise,
    Case(usize),
    Approved,
    Rejected,
    Body,
    After,
}

#[derive(Debug, Default)]
pub struct Tree {
    pub root: Vec<Step>,
    path: Vec<(usize, Branch)>,
    /// The depth that a new sentence falls back to.
    base: usize,
    /// The settled path while its other side is open.
    kept: Vec<(usize, Branch)>,
    /// What a path that no longer exists leads to; never read.
    spare: Vec<Step>,
}

pub fn branch_mut(step: &mut Step, branch: Branch) -> Option<&mut Vec<Step>> {
    match (&mut step.does, branch) {
        (Does::If { then, .. }, Branch::Then) => Some(then),
        (Does::If { otherwise, .. }, Branch::Otherwise) => Some(otherwise),
        (Does::Switch { cases, .. }, Branch::Case(i)) => cases.get_mut(i).map(|c| &mut c.steps),
        (Does::Switch { fallback, .. }, Branch::Otherwise) => {
            Some(fallback.get_or_insert_with(Vec::new))
        }
        (Does::Approval { approved, .. }, Branch::Approved) => Some(approved),
        (Does::Approval { rejected, .. }, Branch::Rejected) => Some(rejected),
        (Does::Loop { body, .. }, Branch::Body) => Some(body),
        (Does::Loop { after, .. }, Branch::After) => Some(after),
        _ => None,
    }
}

impl Tree {
    fn at(&mut self, depth: usize) -> &mut Vec<Step> {
        let path: Vec<(usize, Branch)> = self.path.iter().take(depth).copied().collect();
        match descend(&mut self.root, &path) {
            Some(steps) => steps,
            None => &mut self.spare,
        }
    }

    pub fn here(&mut self) -> &mut Vec<Step> {
        self.at(self.path.len())
    }

    pub fn push(&mut self, step: Step) {
        self.here().push(step);
    }

    /// Into a branch of the last step here.
    pub fn enter(&mut self, branch: Branch) -> bool {
        let here = self.here();
        let Some(index) = here.len().checked_sub(1) else {
            return false;
        };
        let open = here
            .last_mut()
            .is_some_and(|s| branch_mut(s, branch).is_some());
        if open {
            self.path.push((index, branch));
        }
        open
    }

    /// A new sentence: back to where sentences start.
    pub fn sentence(&mut self) {
        self.path.truncate(self.base);
    }

    pub fn depth(&self) -> usize {
        self.path.len()
    }

    /// From now on sentences start here (a loop's body).
    pub fn settle(&mut self) {
        self.base = self.path.len();
    }

    pub fn leave_loop(&mut self, into: Branch) {
        if let Some((index, Branch::Body)) = self.path.get(self.base.saturating_sub(1)).copied()
            && self.base > 0
        {
            self.path.truncate(self.base - 1);
            self.path.push((index, into));
            self.base = self.path.len();
        }
    }

    pub fn in_loop(&self) -> bool {
        self.base > 0
    }

    /// Opens the other side of the nearest decision: inside the open branches first, then the last one at the base.
    pub fn open_other(&mut self, wanted: Branch) -> bool {
        for depth in (0..=self.path.len()).rev() {
            if depth < self.base {
                break;
            }
            let branch = {
                let steps = self.at(depth);
                let found = steps.iter_mut().enumerate().rev().find_map(|(i, s)| {
                    let fits = match (&s.does, wanted) {
                        (Does::If { otherwise, .. }, Branch::Otherwise) => otherwise.is_empty(),
                        (Does::Switch { .. }, Branch::Otherwise) => true,
                        (Does::Approval { .. }, Branch::Approved | Branch::Rejected) => true,
                        (Does::Approval { approved, .. }, Branch::Otherwise) => {
                            !approved.is_empty()
                        }
                        _ => false,
                    };
                    fits.then_some(i)
                });
                found.map(|i| {
                    let real = match steps.get(i).map(|s| &s.does) {
                        Some(Does::Approval { .. }) if wanted == Branch::Otherwise => {
                            Branch::Rejected
                        }
                        _ => wanted,
                    };
                    (i, real)
                })
            };
            if let Some(slot) = branch {
                self.path.truncate(depth);
                self.path.push(slot);
                return true;
            }
        }
        self.open_nested(wanted)
    }

    /// An approval may hang inside a branch that a sentence end has closed already.
    fn open_nested(&mut self, wanted: Branch) -> bool {
        if !matches!(wanted, Branch::Approved | Branch::Rejected) {
            return false;
        }
        let base: Vec<(usize, Branch)> = self.path.iter().take(self.base).copied().collect();
        let Some(steps) = descend(&mut self.root, &base) else {
            return false;
        };
        if let Some(mut found) = find_approval(steps) {
            found.push((usize::MAX, wanted));
            let last = found.len() - 1;
            let mut path = base;
            // The pair before the last names the approval's own place.
            for (i, (index, branch)) in found.iter().enumerate() {
                if i + 1 == last {
                    path.push((*index, wanted));
                } else if i < last {
                    path.push((*index, *branch));
                }
            }
            self.path = path;
            return true;
        }
        false
    }

    /// The other side of the decision that sentences settle in (a validation).
    pub fn open_other_of_settled(&mut self) -> bool {
        if let Some((index, Branch::Then)) = self.path.get(self.base.saturating_sub(1)).copied()
            && self.base > 0
        {
            self.kept = self.path.iter().take(self.base).copied().collect();
            self.path.truncate(self.base - 1);
            self.path.push((index, Branch::Otherwise));
            return true;
        }
        false
    }

    /// The condition of the decision whose yes side is open.
    pub fn open_condition(&mut self) -> Option<Cond> {
        let depth = self.path.len();
        let (index, branch) = self.path.last().copied()?;
        if branch != Branch::Then {
            return None;
        }
        match self.at(depth.saturating_sub(1)).get(index).map(|s| &s.does) {
            Some(Does::If { condition, .. }) => Some(condition.clone()),
            _ => None,
        }
    }

    /// Into the open end of a chain of decisions here, when its last one fits.
    pub fn enter_chain(&mut self, fits: impl Fn(&Cond) -> bool) -> bool {
        let before = self.path.clone();
        for _ in 0..20 {
            let here = self.here();
            let Some(index) = here.len().checked_sub(1) else {
                break;
            };
            let Some(Does::If {
                condition,
                otherwise,
                ..
            }) = here.last().map(|s| &s.does)
            else {
                break;
            };
            let (ok, open) = (fits(condition), otherwise.is_empty());
            if !ok {
                break;
            }
            self.path.push((index, Branch::Otherwise));
            if open {
                return true;
            }
        }
        self.path = before;
        false
    }

    /// True in the other side of a decision whose first side does nothing.
    pub fn in_otherwise_of_nothing(&mut self) -> bool {
        let depth = self.path.len();
        let Some((index, Branch::Otherwise)) = self.path.last().copied() else {
            return false;
        };
        self.at(depth.saturating_sub(1))
            .get(index)
            .is_some_and(|s| matches!(&s.does, Does::If { then, .. } if then.is_empty()))
    }

    /// True inside a decision about a mood.
    pub fn in_branch_of_sentiment(&mut self) -> bool {
        let depth = self.path.len();
        let Some(last) = self.path.last().copied() else {
            return false;
        };
        let parent = self.at(depth.saturating_sub(1));
        parent.get(last.0).is_some_and(|s| matches!(&s.does, Does::If { condition: Cond::Compare { left: crate::plan::Val::Field { name, .. }, .. }, .. } if name == "sentiment"))
    }

    /// Sentences start at the outermost list again.
    pub fn unsettle(&mut self) {
        self.base = 0;
        self.path.clear();
    }

    pub fn back_to_settled(&mut self) {
        if !self.kept.is_empty() {
            self.path = std::mem::take(&mut self.kept);
        }
        self.path.truncate(self.base);
    }

    /// Behind the last source of the outermost list.
    pub fn insert_at_root_after_source(&mut self, step: Step) {
        let from = self.root.iter().rposition(is_source).map_or(0, |i| i + 1);
        self.root.insert(from, step);
        for (depth, slot) in self.path.iter_mut().enumerate() {
            if depth == 0 && slot.0 >= from {
                slot.0 += 1;
            }
        }
    }

    /// The items here passed a filter on this field alone or among others, by a word, and something was done with them.
    pub fn filtered_by(&mut self, name: &Val) -> bool {
        fn compares(c: &Cond, name: &Val) -> bool {
            match c {
                Cond::Compare { left, op, .. } => {
                    left == name && matches!(op, Cmp::Eq | Cmp::OneOf)
                }
                Cond::All { of } | Cond::Any { of } => of.iter().any(|c| compares(c, name)),
                _ => false,
            }
        }
        let steps = self.here();
        steps
            .iter()
            .rposition(|s| matches!(s.does, Does::Filter { .. }))
            .is_some_and(|i| {
                i == 0
                    && i + 1 < steps.len()
                    && matches!(steps.get(i).map(|s| &s.does), Some(Does::Filter { condition }) if compares(condition, name))
            })
    }

    /// Turns the last filter here into a decision: what follows it becomes its yes side.
    pub fn filter_to_if(&mut self) -> bool {
        let steps = self.here();
        let Some(i) = steps
            .iter()
            .rposition(|s| matches!(s.does, Does::Filter { .. }))
        else {
            return false;
        };
        let rest = steps.split_off(i + 1);
        if let Some(step) = steps.last_mut()
            && let Does::Filter { condition } = &step.does
        {
            step.does = Does::If {
                condition: condition.clone(),
                then: rest,
                otherwise: Vec::new(),
            };
            return true;
        }
        false
    }

    /// Takes the steps of the base that act (all after the last read or filter) out.
    pub fn take_actions(&mut self) -> Vec<Step> {
        self.sentence();
        let steps = self.here();
        let from = steps.iter().rposition(is_source).map_or(0, |i| i + 1);
        steps.split_off(from)
    }

    /// Puts a step behind the last source, before the actions.
    pub fn insert_after_source(&mut self, step: Step) {
        let depth = self.base;
        let steps = self.at(depth);
        let from = steps.iter().rposition(is_source).map_or(0, |i| i + 1);
        steps.insert(from, step);
        self.path.truncate(depth);
    }

    /// Puts a step before the last one here.
    pub fn insert_before_last(&mut self, step: Step) {
        let steps = self.here();
        let at = steps.len().saturating_sub(1);
        steps.insert(at, step);
    }
}

/// Reads and what belongs to reading.
pub fn is_source(step: &Step) -> bool {
    use crate::plan::Verb;
    match &step.does {
        Does::Service { verb, .. } => matches!(
            verb,
            Verb::Get | Verb::GetMany | Verb::Search | Verb::Query | Verb::Download
        ),
        Does::Http { method, .. } => method == "GET",
        Does::Filter { .. }
        | Does::NotIn { .. }
        | Does::Join { .. }
        | Does::FromFile { .. }
        | Does::ReadDisk { .. }
        | Does::Split { .. }
        | Does::Unique { .. }
        | Does::Dedupe { .. } => true,
        Does::Llm { task, .. } => !matches!(
            task,
            crate::plan::LlmTask::Write | crate::plan::LlmTask::Summarize
        ),
        _ => false,
    }
}

fn descend<'t>(root: &'t mut Vec<Step>, path: &[(usize, Branch)]) -> Option<&'t mut Vec<Step>> {
    let Some(((index, branch), rest)) = path.split_first() else {
        return Some(root);
    };
    descend(branch_mut(root.get_mut(*index)?, *branch)?, rest)
}

/// Where the last approval hangs: the places on the way down, its own place last.
fn find_approval(steps: &[Step]) -> Option<Vec<(usize, Branch)>> {
    for (i, s) in steps.iter().enumerate().rev() {
        let sub: Vec<(Branch, &Vec<Step>)> = match &s.does {
            Does::Approval { .. } => return Some(vec![(i, Branch::Approved)]),
            Does::If {
                then, otherwise, ..
            } => vec![(Branch::Then, then), (Branch::Otherwise, otherwise)],
            Does::Loop { body, .. } => vec![(Branch::Body, body)],
            Does::Switch { cases, .. } => cases
                .iter()
                .enumerate()
                .map(|(k, c): (usize, &Case)| (Branch::Case(k), &c.steps))
                .collect(),
            _ => Vec::new(),
        };
        for (branch, list) in sub {
            if let Some(mut rest) = find_approval(list) {
                let mut path = vec![(i, branch)];
                path.append(&mut rest);
                return Some(path);
            }
        }
    }
    None
}

/// A decision around nothing says nothing.
pub fn prune(steps: &mut Vec<Step>) {
    for s in steps.iter_mut() {
        match &mut s.does {
            Does::If {
                then, otherwise, ..
            } => {
                prune(then);
                prune(otherwise);
            }
            Does::Loop { body, after, .. } => {
                prune(body);
                prune(after);
            }
            Does::Approval {
                approved, rejected, ..
            } => {
                prune(approved);
                prune(rejected);
            }
            Does::Switch { cases, .. } => cases.iter_mut().for_each(|c| prune(&mut c.steps)),
            _ => {}
        }
    }
    steps.retain(|s| !matches!(&s.does, Does::If { then, otherwise, .. } if then.is_empty() && otherwise.is_empty()) && !matches!(s.does, Does::Nothing));
}

/// The negation that reads best.
pub fn not(condition: Cond) -> Cond {
    match condition {
        Cond::Not { of } => *of,
        other => Cond::Not {
            of: Box::new(other),
        },
    }
}
