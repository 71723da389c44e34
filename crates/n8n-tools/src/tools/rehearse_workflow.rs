//! `rehearse_workflow`: a test by a real run of a temporary copy, as one journaled procedure. What it leaves behind when it is
//! interrupted is named in its intent, and taken away before anything else is done.

use super::memory::memory;
use super::n8n::{N8n, mark, reserve, resource};
use super::rehearsal::Test;
use crate::arguments::{arguments, text, workflow_id};
use crate::backend::BackendErrorKind;
use crate::capability as can;
use crate::guards;
use crate::noted::{Noted, Rehearsing};
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_base::model::ToolCall;
use agentctl_base::strict_json;
use agentctl_engine::store::SnapshotRef;
use agentctl_engine::store::event::MutationExpectation;
use agentctl_engine::toolset::{
    Act, Change, Cx, Fault, Head, Keep, Outcome, Performed, Plan, Planning, Touches,
};
use agentctl_n8n::rehearsal::{COPY, Ground, Wishes, payload, rehearse};
use agentctl_n8n::trigger_points;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

arguments! {
    RehearseWorkflow {
        required workflow_id: String = workflow_id();
        /// The trigger to start from; None: the one from which most nodes are reached.
        optional start: Option<String> = text("the trigger to start from; without it the one from which most nodes are reached");
        /// The trigger's item; empty: made from what the workflow reads.
        #[serde(default)]
        optional payload: Map<String, Value> = json!({"type": "object", "description": "the trigger's item, a webhook's as {body, query, headers}; without it one is made from the fields that the workflow reads"});
        /// Names of nodes that may act on the outside world; the user is asked.
        #[serde(default)]
        optional let_act: Vec<String> = json!({"type": "array", "items": {"type": "string"}, "description": "names of nodes that shall act on the outside world although this is a test; the user is asked"});
    }
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::change::<RehearseWorkflow>(Head {
        destructive: true,
        idempotent: false,
        open_world: true,
        ..Head::new(
            "rehearse_workflow",
            can::TRIGGER_WORKFLOW,
            "Test a workflow by one real run on a temporary copy, which is removed again. Nodes that would act on the outside world, and those without their credential, are simulated. Returns which nodes ran, were simulated or not reached, the execution, and findings. On a backend that cannot execute it fails and says: not executed.",
            RehearseWorkflow::schema,
        )
    })
}

impl Change for On<N8n, RehearseWorkflow> {
    fn plan<'a>(&'a self, cx: &'a mut Cx<'_>, exact: &'a Value) -> BoxFuture<'a, Planning> {
        Box::pin(async move {
            let can = self.on.backend.can();
            if !(can.execute && can.activate) {
                return Ok(Err(self.on.unable("execute workflows")));
            }
            self.on.plan_rehearsal(cx, &self.args, exact).await
        })
    }
}

/// Whether the call let a node act.
pub(super) fn let_something_act(call: &ToolCall) -> bool {
    let arguments = strict_json::object(&call.arguments).unwrap_or_default();
    let named = arguments.get("let_act").and_then(Value::as_array);
    // What cannot be read may have been anything.
    named.map_or(arguments.contains_key("let_act"), |list| !list.is_empty())
}

struct Rehearse {
    n8n: Arc<N8n>,
    test: Test,
}

impl Act for Rehearse {
    /// Its document stays.
    fn keep(&self) -> Option<Keep> {
        None
    }
    fn touches(&self) -> Touches {
        Touches::Existing(mark(&self.test.at))
    }
    fn perform<'a>(&'a mut self, _: Option<&'a SnapshotRef>) -> BoxFuture<'a, Performed> {
        Box::pin(async { (self.n8n.try_out(&mut self.test).await, None) })
    }
}

impl N8n {
    async fn plan_rehearsal(
        self: &Arc<Self>,
        cx: &mut Cx<'_>,
        test: &RehearseWorkflow,
        exact: &Value,
    ) -> Planning {
        let at = match self.current(&test.workflow_id).await? {
            Ok(stored) => stored,
            Err(outcome) => return Ok(Err(outcome)),
        };
        let mut notes = Vec::new();
        let credentials = self.credential_ids(&mut notes).await?;
        let path = format!("{COPY}-{}", cx.recorder.new_id());
        let said = memory(cx.guards).let_act();
        let (there, unknown): (Vec<&String>, Vec<&String>) = said
            .iter()
            .partition(|name| at.workflow.node_by_name(name).is_some());
        notes.extend(unknown.iter().map(|name| {
            format!("{name:?} was allowed to act; the workflow has no node of that name")
        }));
        let asked: Vec<String> = test
            .let_act
            .iter()
            .filter(|name| !said.contains(*name))
            .cloned()
            .collect();
        let wishes = Wishes {
            path: &path,
            start: test.start.as_deref(),
            allowed: test.let_act.iter().chain(there).cloned().collect(),
            ground: Ground {
                hosts: self.test_hosts.with(memory(cx.guards).test_hosts()),
                n8n: self.backend.place(),
            },
            credentials,
        };
        let rehearsal = match rehearse(&at.workflow, self.catalog, &wishes) {
            Ok(rehearsal) => rehearsal,
            Err(why) => {
                let hint = "nothing was executed; report why";
                return Ok(Err(Outcome::failed(why.to_string(), "rehearsal", hint)));
            }
        };
        let payload = if test.payload.is_empty() {
            payload(&at.workflow, &rehearsal)
        } else {
            test.payload.clone()
        };
        // Only a workflow of this run: nobody else counts on its being inactive.
        let as_it_is = !at.active
            && cx.guards.log().made(&at.id.0)
            && rehearsal.fits_as_it_is(&at.workflow)
            && trigger_points(&at.workflow)
                .iter()
                .any(|point| point.node == rehearsal.start.node);
        let reserved = vec![reserve(guards::acts(&asked), &at, "test", exact)];
        let noted = Noted {
            rehearsal: Some(Rehearsing {
                copy: rehearsal.copy.name().to_owned(),
                activates: as_it_is,
            }),
            ..Noted::default()
        };
        let expect = MutationExpectation {
            resource: Some(resource(&at.id)),
            before: Some(at.graph_hash.clone()),
            after: Some(at.graph_hash.clone()),
            diff: None,
            more: noted.written(),
        };
        let checked = self.findings(&at.workflow);
        Ok(Ok(Plan {
            act: Box::new(Rehearse {
                n8n: Arc::clone(self),
                test: Test {
                    at,
                    rehearsal,
                    payload,
                    as_it_is,
                    checked,
                    notes,
                },
            }),
            reserved,
            expect: Some(expect),
            question: None,
        }))
    }

    /// Type and id of what the n8n has; None where it cannot be asked.
    async fn credential_ids(
        &self,
        notes: &mut Vec<String>,
    ) -> Result<Option<BTreeSet<(String, String)>>, Fault> {
        if !self.backend.can().credentials {
            return Ok(None);
        }
        match self.backend.credentials().await {
            Ok(list) => Ok(Some(
                list.into_iter()
                    .map(|c| (c.credential_type, c.id))
                    .collect(),
            )),
            Err(error) if error.kind == BackendErrorKind::Unavailable => {
                Err(self.unavailable(error))
            }
            Err(error) => {
                notes.push(format!("which credentials there are is not known: {error}"));
                Ok(None)
            }
        }
    }
}
