//! The guards: rules about one change, after the role's permission and before the call. Each is a pure function from
//! values (the workflow before, the workflow after, what the run has seen) to a decision.
//! A guard must never do IO, and what it cannot judge it refuses.
//!
//! | rule | decides |
//! |---|---|
//! | `guard.edit_scope` | in a fix cycle only nodes and edges in scope change |
//! | `guard.scope` | in a fix cycle, what newly reads a node outside the scope is for the user to allow |
//! | `guard.structure_only` | a call that edits the structure sets no values |
//! | `guard.turn_scope` | values change only of nodes that the user's message is about, or that are new in the run |
//! | `guard.wipe` | losing more than half of the nodes of the last state that a person accepted is for the user to allow; so is putting most of them behind a gate that the user's words do not name, or stopping each run at once |
//! | `guard.publish` | an active workflow is edited only with the user's word, once in a run and again when somebody else changed it |
//! | `guard.stale` | the workflow is what this run last read |
//! | `guard.credentials` | credential ids stay as they are |
//! | `guard.owner` | a workflow that this run did not create, or that somebody else changed since, is deleted only with the user's word |
//! | `guard.acts` | in a test a node acts on the outside world only with the user's word |
//! | `guard.redacted` | a hidden value is not written back as if it were one |
//! | `guard.repeat` | a workflow that this run created is not created again, and a call that is sent twice changes nothing twice |
//! | `guard.workflow` | a session that was given one workflow changes that one only, and neither creates nor deletes |
//! | `budget.tool_calls`, `budget.identical_calls`, `budget.seconds` | how much a run may call, and for how long |

mod asked_for;
mod change;
mod credentials;
mod gates;
mod graph;
mod outline;
mod scope;
mod scope_data;
mod structure_only;
mod turn_scope;
mod wipe;

pub use asked_for::{Asked, is_asked_for};
pub use change::{Edge, GraphChange, NodeKey, keys};
pub use credentials::credentials;
pub use outline::{Outline, Start, Starts};
pub use scope::{Scope, WORKFLOW_ENTRY, edit_scope};
pub use scope_data::scope_data;
pub use structure_only::structure_only;
pub use turn_scope::turn_scope;
pub use wipe::{Loss, loss, wipe};

use agentctl_base::decision::Decision;
use agentctl_engine::guards::rules::{self, CHOICE, REDACTED, REPEAT};

pub use agentctl_engine::guards::rules::{PUBLISH, allow, ask, deny};

pub const EDIT_SCOPE: &str = "guard.edit_scope";
/// What a scope lets out, not what it lets change.
pub const SCOPE: &str = "guard.scope";
/// What whoever joins nodes may set.
pub const STRUCTURE_ONLY: &str = "guard.structure_only";
/// What of a workflow a message is about.
pub const TURN_SCOPE: &str = "guard.turn_scope";
pub const WIPE: &str = "guard.wipe";
pub const STALE: &str = "guard.stale";
pub const CREDENTIALS: &str = "guard.credentials";
pub const OWNER: &str = "guard.owner";
/// Which of several credentials a node gets: a choice, not a permission.
pub const ACCOUNT: &str = CHOICE;
pub const ACTS: &str = "guard.acts";
/// Of a change that was interrupted.
const SETTLE: &str = "settle";

/// What the resources of this toolset are called.
pub const KIND: &str = "workflow";

/// The way out of a refusal, for the model.
pub fn hint(rule: &str) -> Option<&'static str> {
    Some(match rule {
        EDIT_SCOPE => {
            "drop the operations outside edit_scope; if the fix needs another node, say which and why in your answer"
        }
        SCOPE => {
            "take the values from what the node in scope gets itself; if the fix needs another node's data, say which and why in your answer"
        }
        STRUCTURE_ONLY => {
            "leave the values out: resource, operation, and what a node's connections follow from are structure, all else is set by whoever configures the nodes"
        }
        TURN_SCOPE => {
            "set values of the nodes that the message names only; if another one must change, say which and why in your answer"
        }
        WIPE => {
            "edit nodes in place instead of removing, disabling or cutting them off; when a connection moves, disconnect and connect in one list; a condition goes before the nodes that it is about, not before most of the workflow"
        }
        PUBLISH => "the workflow is published; leave it, or let the user decide",
        STALE => {
            "call get_workflow, compare with what you planned, and plan again on what is there now"
        }
        CREDENTIALS => {
            "leave credentials as they are; the user attaches them in n8n, or names the credential to use"
        }
        ACTS => "test without let_act: these nodes are then simulated",
        OWNER => "leave the workflow; only a workflow created in this run may be deleted freely",
        REDACTED => "change single parameters with set_parameter and leave the hidden value alone",
        REPEAT => {
            "what the call made is there: read it with get_workflow, and change that with update_workflow; a change that is meant once more names the graph hash of now as expect_hash"
        }
        SETTLE => "read the workflow with get_workflow before anything else",
        rule if rule == rules::only_rule(KIND) => {
            "say what you would change and why; the user decides who does it"
        }
        _ => return None,
    })
}

/// The workflow must be what this run last saw: either read by `get_workflow` or left by a change of its own, or named by the
/// caller with the hash it has now.
pub fn stale(current: &str, seen: Option<&str>, expected: Option<&str>) -> Decision {
    let short = |hash: &str| hash.chars().take(8).collect::<String>();
    if let Some(expected) = expected {
        if expected == current {
            return allow(STALE);
        }
        return deny(
            STALE,
            format!(
                "expect_hash is {}, but the workflow is {} now",
                short(expected),
                short(current)
            ),
        );
    }
    match seen {
        Some(seen) if seen == current => allow(STALE),
        Some(seen) => deny(
            STALE,
            format!(
                "the workflow was {} when this run last read it and is {} now: somebody changed it",
                short(seen),
                short(current)
            ),
        ),
        None => deny(STALE, "this run has not read the workflow yet"),
    }
}

/// An active workflow goes live with the write. `allowed`: the user said yes to that in this run.
pub fn publish(active: bool, allowed: bool, name: &str) -> Decision {
    if !active || allowed {
        allow(PUBLISH)
    } else {
        ask(
            PUBLISH,
            format!("the workflow {name:?} is active: the change goes live at once"),
        )
    }
}

pub fn owner(created_by_this_run: bool, name: &str) -> Decision {
    if created_by_this_run {
        allow(OWNER)
    } else {
        ask(
            OWNER,
            format!("the workflow {name:?} is not one that this run made and nobody else changed"),
        )
    }
}

/// A workflow that a person publishes by a command of their own.
pub fn goes_live(name: &str) -> Decision {
    ask(
        PUBLISH,
        format!("the trigger of {name:?} fires from then on"),
    )
}

/// `named`: the nodes that are to act during a test.
pub fn acts(named: &[String]) -> Decision {
    if named.is_empty() {
        return allow(ACTS);
    }
    let names: Vec<String> = named.iter().map(|name| format!("{name:?}")).collect();
    ask(
        ACTS,
        format!(
            "{} would act on real accounts and real data in this test",
            names.join(", ")
        ),
    )
}

#[cfg(test)]
mod guards_tests;
