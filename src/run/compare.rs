//! What differs between two states of a workflow, fit to be shown: secrets hidden, and a change of a hidden value still told.

use super::{
    RunError,
    history::{self, Made},
    inspect,
    states::{Believe, States},
};
use crate::gateway::{Gateway, Redactor};
use agentctl_engine::store::Project;
use agentctl_n8n::{
    Connections, NodeId, Workflow, WorkflowId,
    diff::{NodeRef, ValueChange, WorkflowDiff, changes, text_diff},
    hash::graph_hash,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Which states are compared. Numbers are those of the run's or of the workflow's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Compare {
    /// What a run did: from what it started from to what it left. None: the active run.
    Run {
        run: Option<String>,
        from: Option<u32>,
        to: Option<u32>,
    },
    /// From before the last run that changed the workflow to how it is now.
    Workflow {
        named: String,
        from: Option<u32>,
        to: Option<u32>,
    },
}

/// One workflow in two states.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    pub workflow_id: String,
    pub from: Side,
    pub to: Side,
    #[serde(flatten)]
    pub difference: Difference,
}

/// One state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// The state after this change; 0: before the first. None: as it is now.
    pub change: Option<u32>,
    /// None: there was no such workflow.
    pub graph_hash: Option<String>,
}

/// A difference, with secrets hidden.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Every change, typed.
    pub changes: WorkflowDiff,
    /// The unified diff of the documents; empty when they are the same but for what is hidden.
    pub diff: String,
}

impl Difference {
    /// None on a side: there is no such workflow.
    pub fn of(redactor: &Redactor, before: Option<&Workflow>, after: Option<&Workflow>) -> Self {
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
            changes: found,
            diff: text_diff(&shown_old, &shown_new),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.diff.is_empty()
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

/// Compares what the request names.
pub async fn compare(
    project: &Project,
    gateway: &Gateway,
    what: Compare,
) -> Result<Vec<Compared>, RunError> {
    let states = States {
        project,
        backend: gateway.backend(),
        believe: Believe::Any,
    };
    match what {
        Compare::Run { run, from, to } => {
            let run_id = inspect::run_named(project, run.as_deref())?;
            let made = inspect::changes(project, &run_id)?;
            let last = made.last().map_or(0, |m| m.number);
            let what = format!("run {run_id}");
            let (from, to) = (
                within(from, 0, last, &what)?,
                within(to, last, last, &what)?,
            );
            let mut compared = Vec::new();
            for id in history::workflows(&made) {
                let of_it = history::only(&made, &id);
                compared.push(one(&states, gateway, &id, &of_it, from, Some(to)).await?);
            }
            Ok(compared)
        }
        Compare::Workflow { named, from, to } => {
            let (id, made) = inspect::workflow_changes(project, gateway.backend(), &named).await?;
            let last = made.last().map_or(0, |m| m.number);
            let what = format!("workflow {:?}", id.0);
            let from = within(from, history::before_last_run(&made), last, &what)?;
            let to = to
                .map(|to| within(Some(to), last, last, &what))
                .transpose()?;
            Ok(vec![one(&states, gateway, &id, &made, from, to).await?])
        }
    }
}

/// The number asked for, when there is such a state.
pub(super) fn within(
    asked: Option<u32>,
    default: u32,
    last: u32,
    what: &str,
) -> Result<u32, RunError> {
    match asked {
        None => Ok(default),
        Some(number) if number <= last => Ok(number),
        Some(number) => Err(RunError::Usage(format!(
            "there is no change {number} of {what}: it has {}; 0 is the state before the first",
            match last {
                0 => "no changes".to_owned(),
                1 => "change 1 only".to_owned(),
                last => format!("changes 1 to {last}"),
            }
        ))),
    }
}

async fn one(
    states: &States<'_>,
    gateway: &Gateway,
    id: &WorkflowId,
    made: &[Made],
    from: u32,
    to: Option<u32>,
) -> Result<Compared, RunError> {
    let now = states.now(id).await?;
    let before = states.document(id, made, from, now.as_ref()).await?;
    let before = before.map(|found| found.workflow);
    let after = match to {
        Some(to) => {
            let found = states.document(id, made, to, now.as_ref()).await?;
            found.map(|found| found.workflow)
        }
        None => now.map(|now| now.workflow),
    };
    let side = |change: Option<u32>, workflow: Option<&Workflow>| Side {
        change,
        graph_hash: workflow.map(graph_hash),
    };
    Ok(Compared {
        workflow_id: id.0.clone(),
        from: side(Some(from), before.as_ref()),
        to: side(to, after.as_ref()),
        difference: Difference::of(gateway.redactor(), before.as_ref(), after.as_ref()),
    })
}
