//! What differs between two states of a workflow, fit to be shown: secrets hidden, and a change of a hidden value still told.

use agentctl_engine::redact::Redactor;
use agentctl_engine::toolset::Difference;
use agentctl_n8n::{
    Connections, NodeId, Workflow,
    diff::{NodeRef, ValueChange, WorkflowDiff, changes, text_diff},
};
use serde_json::{Map, Value, json};

/// None on a side: there is no such workflow. `changes` is a [`WorkflowDiff`].
pub fn difference(
    redactor: &Redactor,
    before: Option<&Workflow>,
    after: Option<&Workflow>,
) -> Difference {
    let nothing = Workflow {
        head: Map::new(),
        nodes: Vec::new(),
        connections: Connections::new(),
    };
    let (old, new) = (before.unwrap_or(&nothing), after.unwrap_or(&nothing));
    let (shown_old, shown_new) = (hidden(redactor, old), hidden(redactor, new));
    let mut found = changes(old, new);
    let ends = Ends {
        redactor,
        old: (old, &shown_old),
        new: (new, &shown_new),
    };
    ends.hide(&mut found);
    Difference {
        lines: found.to_string().lines().map(str::to_owned).collect(),
        changes: json!(found),
        diff: text_diff(&shown_old, &shown_new),
    }
}

/// The document with its secrets hidden; nodes and keys keep their places.
fn hidden(redactor: &Redactor, workflow: &Workflow) -> Workflow {
    let shown = Workflow::from_value(redactor.value(workflow.to_value()));
    // A document that hiding takes apart is better not shown at all.
    shown.unwrap_or_else(|_| Workflow::empty(""))
}

/// Both sides, each as it is and as it may be shown.
struct Ends<'a> {
    redactor: &'a Redactor,
    old: (&'a Workflow, &'a Workflow),
    new: (&'a Workflow, &'a Workflow),
}

impl Ends<'_> {
    fn hide(&self, diff: &mut WorkflowDiff) {
        for change in &mut diff.nodes_changed {
            let node = |(real, shown): (&Workflow, &Workflow), at: &NodeRef| -> Value {
                let same = |n: &agentctl_n8n::Node| n.id() == at.id && n.name() == at.name;
                let place = real.nodes.iter().position(same);
                let node = place.and_then(|i| shown.nodes.get(i));
                node.map_or(Value::Null, |n| Value::Object(n.map().clone()))
            };
            let (old, new) = (
                node(self.old, &change.before),
                node(self.new, &change.after),
            );
            self.values(&mut change.values, &old, &new);
            self.name(&mut change.before);
            self.name(&mut change.after);
        }
        let head = |w: &Workflow| Value::Object(w.head.clone());
        let settings = |w: &Workflow| w.head.get("settings").cloned().unwrap_or_default();
        let (old, new) = (self.old.1, self.new.1);
        self.values(&mut diff.document, &head(old), &head(new));
        self.values(&mut diff.settings, &settings(old), &settings(new));
        for node in diff.nodes_added.iter_mut().chain(&mut diff.nodes_removed) {
            self.name(node);
        }
        for edge in diff.edges_added.iter_mut().chain(&mut diff.edges_removed) {
            self.name(&mut edge.from);
            self.name(&mut edge.to);
        }
    }

    fn name(&self, node: &mut NodeRef) {
        node.name = self.redactor.text(&node.name);
        node.id = NodeId(self.redactor.text(&node.id.0));
    }

    /// Each value as it stands in the shown document; one that is not found there was under a hidden key.
    fn values(&self, values: &mut [ValueChange], old: &Value, new: &Value) {
        for value in values {
            for (real, shown) in [(&mut value.old, old), (&mut value.new, new)] {
                if let Some(real) = real {
                    *real = match shown.pointer(&value.pointer) {
                        Some(shown) => shown.clone(),
                        None => Value::String(agentctl_base::secrets::mark("value")),
                    };
                }
            }
            value.pointer = self.redactor.text(&value.pointer);
        }
    }
}

#[cfg(test)]
#[path = "difference_tests.rs"]
mod tests;
