//! Branches beside one another, and loops over lists. What two of them would write over one another is a mistake of the file.

use super::load_steps::Steps;
use super::model::{Branch, FieldKind, ForEachSpec, Join, JoinSpec, ParallelSpec, Step, StepKind};
use super::scope::CLAIM_VARIABLES;
use agentctl_base::yaml::{Node, Place};
use indexmap::IndexMap;

/// The item's number, from 1, in the expressions of a loop over a list.
pub(super) const INDEX: &str = "index";
const AT_ONCE: usize = 4;
const ITEMS: usize = 100;

impl Steps<'_, '_> {
    pub(super) fn parallel(&mut self, node: &Node, how: &Node, what: &str) -> Option<ParallelSpec> {
        let keys = ["max_at_once", "join", "on_branch_failure", "timeout_s"];
        self.reader.keys(how, "`parallel`", &keys);
        let how = self.how(how, "on_branch_failure");
        let list = self.reader.required(node, "branches", what)?;
        let items = list.as_list().unwrap_or_default();
        if items.is_empty() {
            self.add(list.place, "`branches` must be a list of branches");
        }
        let mut branches: Vec<Branch> = Vec::new();
        let mut written: IndexMap<String, String> = IndexMap::new();
        for item in items {
            self.reader.keys(item, "a branch", &["id", "when", "steps"]);
            let id = self.reader.required(item, "id", "a branch");
            let id = id
                .and_then(|n| self.reader.name(n, "a branch"))
                .unwrap_or_default();
            if branches.iter().any(|branch| branch.id == id) {
                self.add(
                    item.place,
                    format!("the branch {id:?} stands twice in {what}"),
                );
            }
            let when = item.get("when").and_then(|n| self.expression(n));
            let steps = self.reader.required(item, "steps", "a branch");
            let steps = steps.map_or_else(Vec::new, |n| self.inside(n, &[], "`steps` of a branch"));
            for field in self.replaced(&steps) {
                match written.get(&field) {
                    Some(other) => {
                        let message = format!(
                            "the branches {other:?} and {id:?} both write {field:?}, and one would be lost"
                        );
                        self.add(item.place, message);
                    }
                    None => {
                        written.insert(field, id.clone());
                    }
                }
            }
            branches.push(Branch { id, when, steps });
        }
        self.enough(list.place, how.join, branches.len());
        Some(ParallelSpec { how, branches })
    }

    pub(super) fn for_each(&mut self, node: &Node, each: &Node, what: &str) -> Option<ForEachSpec> {
        let keys = [
            "of",
            "as",
            "max",
            "max_at_once",
            "join",
            "on_item_failure",
            "timeout_s",
        ];
        self.reader.keys(each, "`for_each`", &keys);
        let how = self.how(each, "on_item_failure");
        let of = self.reader.required(each, "of", "`for_each`");
        let of = of.and_then(|n| self.expression(n));
        let item = self.reader.required(each, "as", "`for_each`");
        let item = item.and_then(|n| {
            let name = self.reader.name(n, "an item")?;
            if CLAIM_VARIABLES.contains(&name.as_str()) || name == INDEX || name.contains('-') {
                self.add(n.place, format!("{name:?} is no name for an item: expressions have it already, or cannot spell it"));
            }
            Some(name)
        });
        let max = each.get("max").and_then(|n| self.reader.count(n, "max"));
        let max = max.and_then(|n| usize::try_from(n).ok()).unwrap_or(ITEMS);
        let steps = self.reader.required(node, "steps", what);
        let bound = [item.clone().unwrap_or_default(), INDEX.to_owned()];
        let steps = steps.map_or_else(Vec::new, |n| self.inside(n, &bound, "`steps`"));
        for field in self.replaced(&steps) {
            self.add(
                node.place,
                format!("each item of {what} would write {field:?} over what the one before it wrote; a field of kind append, set or object keeps them all"),
            );
        }
        Some(ForEachSpec {
            how,
            of: of?,
            item: item?,
            max,
            steps,
        })
    }

    fn how(&mut self, node: &Node, on_failure: &str) -> JoinSpec {
        let at_once = node
            .get("max_at_once")
            .and_then(|n| self.reader.count(n, "max_at_once"));
        let join = match node.get("join") {
            None => Join::All,
            Some(n) => self.join(n),
        };
        let continue_on_failure = node.get(on_failure).is_some_and(|n| match n.as_text() {
            Some("continue") => true,
            Some("stop") => false,
            _ => {
                self.add(n.place, format!("`{on_failure}` must be continue or stop"));
                false
            }
        });
        JoinSpec {
            max_at_once: at_once
                .and_then(|n| usize::try_from(n).ok())
                .unwrap_or(AT_ONCE),
            join,
            continue_on_failure,
        }
    }

    fn join(&mut self, node: &Node) -> Join {
        match (node.as_text(), node.get("at_least")) {
            (Some("all"), _) => Join::All,
            (Some("any"), _) => Join::Any,
            (_, Some(n)) => {
                self.reader.keys(node, "`join`", &["at_least"]);
                let n = self.reader.count(n, "at_least").unwrap_or(1);
                Join::AtLeast(usize::try_from(n).unwrap_or(usize::MAX))
            }
            _ => {
                self.add(node.place, "`join` must be all, any, or {at_least: N}");
                Join::All
            }
        }
    }

    fn enough(&mut self, place: Place, join: Join, branches: usize) {
        if let Join::AtLeast(n) = join
            && n > branches
        {
            self.add(
                place,
                format!("{n} branches can never come to their end: there are {branches}"),
            );
        }
    }

    /// Steps of a branch: nothing in it steers what is around it, and nothing shows when it was done.
    fn inside(&mut self, node: &Node, bound: &[String], what: &str) -> Vec<Step> {
        let loops = std::mem::take(&mut self.loops);
        let depth = self.bound.len();
        self.bound.extend(bound.iter().cloned());
        self.branches += 1;
        let steps = self.list(node, what);
        self.branches -= 1;
        self.bound.truncate(depth);
        self.loops = loops;
        steps
    }

    /// What has no place in a branch.
    pub(super) fn fits_a_branch(&mut self, step: &Step) {
        if self.branches == 0 {
            return;
        }
        let mut wrong = |what: &str| {
            self.add(
                step.place,
                format!("{what} in a branch; do it behind the join"),
            );
        };
        if step.stage.is_some() {
            wrong("a stage is not entered");
        }
        match &step.kind {
            StepKind::End(_) => wrong("the flow is not ended"),
            StepKind::Say(_) => wrong("nothing is said"),
            StepKind::Clear(_) => wrong("nothing is cleared"),
            StepKind::Loop(l) if l.exhausted_end.is_some() => wrong("the flow is not ended"),
            StepKind::Gate(gate) if gate.ends() => wrong("the flow is not ended"),
            StepKind::Call(call) => {
                let mut steps = call.flow.steps_of_all().into_iter();
                let shows =
                    |step: &Step| matches!(step.kind, StepKind::Say(_) | StepKind::Clear(_));
                if steps.any(shows) {
                    wrong("a flow that says or clears something is not called");
                }
            }
            _ => {}
        }
    }

    /// Fields that steps write so that what stood there is gone.
    fn replaced(&self, steps: &[Step]) -> Vec<String> {
        let mut fields: Vec<String> = Vec::new();
        for step in steps {
            let own: Vec<&String> = match &step.kind {
                StepKind::Agent(spec) => spec.writes.iter().collect(),
                StepKind::Set(set) => set.keys().collect(),
                StepKind::Call(call) => call.take.keys().collect(),
                _ => Vec::new(),
            };
            fields.extend(own.into_iter().cloned());
            fields.extend(
                step.children()
                    .into_iter()
                    .flat_map(|list| self.replaced(list)),
            );
        }
        let lost = |kind| {
            matches!(
                kind,
                FieldKind::Replace | FieldKind::Scalar | FieldKind::Value
            )
        };
        fields.retain(|field| self.fields.get(field).is_some_and(|spec| lost(spec.kind)));
        fields.sort();
        fields.dedup();
        fields
    }
}
