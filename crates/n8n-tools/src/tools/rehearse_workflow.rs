//! `rehearse_workflow`: a test by a real run of a temporary copy, as one journaled procedure. What it leaves behind when it is
//! interrupted is named in its intent, and taken away before anything else is done.

use super::memory::memory;
use super::n8n::{N8n, mark, reserve, resource};
use super::rehearsal::Test;
use super::uncovered::{with_no_case, with_uncovered};
use crate::arguments::{arguments, object, text, workflow_id};
use crate::backend::{BackendErrorKind, Stored};
use crate::capability as can;
use crate::guards;
use crate::noted::{Noted, Rehearsing};
use crate::there::credential_ids;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_base::model::ToolCall;
use agentctl_base::strict_json;
use agentctl_engine::store::event::MutationExpectation;
use agentctl_engine::store::{ResourceMark, SnapshotRef};
use agentctl_engine::toolset::{
    Act, Change, Cx, Fault, Head, Keep, Outcome, Performed, Plan, Planning, Touches,
};
use agentctl_n8n::rehearsal::{
    COPY, Case, Ground, Item, Rehearsal, Replay, Trace, Wishes, branches, payload, rehearse,
};
use agentctl_n8n::{Workflow, trigger_points};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use std::sync::Arc;

arguments! {
    RehearseWorkflow {
        required workflow_id: String = workflow_id();
        /// The trigger to start from; None: the one from which most nodes are reached.
        optional start: Option<String> = text("the trigger to start from; without it the one from which most nodes are reached");
        /// The trigger's item; empty: made from what the workflow reads.
        #[serde(default)]
        optional payload: Map<String, Value> = json!({"type": "object", "description": "the trigger's item, a webhook's as {body, query, headers}; without it one is made from the fields that the workflow reads"});
        /// An execution of this workflow whose items start one more run, and whose answers stand in for the simulated nodes.
        optional execution: Option<String> = text("an execution of this workflow to go through again with what it was given");
        /// What must come out, case by case; empty: one run with the payload, and more where it left branches out.
        #[serde(default)]
        optional cases: Vec<Case> = json!({"type": "array", "maxItems": MOST_CASES, "items": case()});
        /// Names of nodes that may act on the outside world; the user is asked.
        #[serde(default)]
        optional let_act: Vec<String> = json!({"type": "array", "items": {"type": "string"}, "description": "names of nodes that shall act on the outside world although this is a test; the user is asked"});
    }
}

/// Each is a run of its own.
const MOST_CASES: usize = 8;
/// So many branches of the widest condition are tried, one run each.
const MOST_BRANCHES: usize = 5;

/// One run that is wanted.
#[derive(Default)]
struct Wanted {
    case: Option<Case>,
    /// The trigger's item; empty: made from what the workflow reads.
    payload: Map<String, Value>,
    /// The case is one that the workflow had before.
    is_of_before: bool,
    /// What an earlier execution was given and saw.
    replay: Option<Replay>,
    /// Which branch each condition takes of what is made.
    branch: usize,
    /// Only for what the runs before it do not come to.
    only_if_missing: bool,
}

/// The runs that a call asks for: each of its cases and the earlier execution, or the plain one; and without cases, as long as something
/// is left out, one for each branch.
fn wanted(
    test: &RehearseWorkflow,
    before: &[&Case],
    workflow: &Workflow,
    replay: Option<Replay>,
) -> Vec<Wanted> {
    let by_cases = !test.cases.is_empty() || !before.is_empty();
    let given = test.cases.iter().map(|case| (case, false));
    let before = before.iter().map(|case| (*case, true));
    let mut all: Vec<Wanted> = given
        .chain(before)
        .map(|(case, is_of_before)| Wanted {
            case: Some(case.clone()),
            payload: case.input.clone(),
            is_of_before,
            ..Wanted::default()
        })
        .collect();
    all.extend(replay.map(|replay| Wanted {
        case: Some(replay.case.clone()),
        payload: replay.case.input.clone(),
        replay: Some(replay),
        ..Wanted::default()
    }));
    if by_cases {
        return all;
    }
    if all.is_empty() {
        all.push(Wanted {
            payload: test.payload.clone(),
            ..Wanted::default()
        });
    }
    let made = 0..branches(workflow).min(MOST_BRANCHES);
    all.extend(made.map(|branch| Wanted {
        branch,
        only_if_missing: true,
        ..Wanted::default()
    }));
    all
}

fn case() -> Value {
    let items = json!({"type": "array", "items": {"type": "object"}});
    let node = object(
        json!({
            "reached": {"type": "boolean"},
            "count": {"type": "integer", "minimum": 0, "description": "items that it hands on"},
            "items": items,
            "sent": {"type": "array", "items": {"type": "object"}, "description": "parameters of each call of a simulated node, expressions worked out"},
        }),
        &[],
    );
    let expect = object(
        json!({
            "status": {"type": "integer"},
            "answer": {"description": "of a webhook; objects may have more fields than are expected"},
            "answer_has": {"type": "array", "items": {"type": "string"}, "description": "keys that the answer must hold a value under"},
            "answer_not": {"description": "what must not be answered"},
            "nodes": {"type": "object", "additionalProperties": node},
        }),
        &[],
    );
    object(
        json!({
            "name": text("what is tested"),
            "start": text("the trigger"),
            "input": {"type": "object", "description": "the trigger's item"},
            "mocks": {"type": "object", "additionalProperties": items, "description": "node → the items that it hands on in the place of its service's answer"},
            "expect": expect,
        }),
        &["name", "expect"],
    )
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::change::<RehearseWorkflow>(Head {
        destructive: true,
        idempotent: false,
        open_world: true,
        ..Head::new(
            "rehearse_workflow",
            can::TRIGGER_WORKFLOW,
            "Test a workflow by one real run on a temporary copy, which is removed again. Nodes that would act on the outside world, and those without their credential, are simulated. `cases` say what must come out. Returns which nodes ran, were simulated or not reached, the execution, and findings. On a backend that cannot execute it fails and says: not executed.",
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
    /// One after the other; the copies have one name.
    tests: Vec<Test>,
    /// The nodes that this run changed in a workflow of before.
    changed: Vec<String>,
    /// What the request says must come out, in words.
    asked: Option<String>,
    mark: ResourceMark,
}

impl Act for Rehearse {
    /// Its document stays.
    fn keep(&self) -> Option<Keep> {
        None
    }
    fn touches(&self) -> Touches {
        Touches::Existing(self.mark.clone())
    }
    fn perform<'a>(&'a mut self, _: Option<&'a SnapshotRef>) -> BoxFuture<'a, Performed> {
        Box::pin(async {
            let tried = self.n8n.try_all(&mut self.tests).await;
            let tried = tried.map(|outcome| with_uncovered(&self.changed, outcome));
            let tried = tried.map(|outcome| with_no_case(self.asked.as_deref(), outcome));
            (tried, None)
        })
    }
}

/// A test that a command of the user's makes.
#[derive(Debug, Clone, PartialEq)]
pub struct Tried {
    pub workflow_id: String,
    /// At most `MOST`.
    pub cases: Vec<Case>,
    /// Names of nodes that may act on the outside world.
    pub let_act: Vec<String>,
}

impl Tried {
    /// What the journal calls it; no tool has this name.
    pub const NAME: &'static str = "test_workflow";
    pub const MOST: usize = MOST_CASES;

    /// As the journal has it.
    pub fn arguments(&self) -> Value {
        json!({"workflow_id": self.workflow_id, "cases": self.cases, "let_act": self.let_act})
    }

    /// The change that it is: a copy comes and goes.
    pub fn on(self, n8n: &Arc<N8n>) -> Box<dyn Change> {
        Box::new(On {
            on: Arc::clone(n8n),
            args: RehearseWorkflow {
                workflow_id: self.workflow_id,
                start: None,
                payload: Map::new(),
                execution: None,
                cases: self.cases,
                let_act: self.let_act,
            },
        })
    }
}

/// What the journal says of a test before it is made: the workflow stays as it is, and what has to be taken away when it is interrupted.
/// `activates`: one of them tries the workflow itself.
fn expectation(
    at: &Stored,
    tests: &[(Rehearsal, Item, Wanted)],
    activates: bool,
) -> MutationExpectation {
    let copy = tests.first().map(|(first, ..)| first.copy.name());
    let noted = Noted {
        rehearsal: Some(Rehearsing {
            copy: copy.unwrap_or_default().to_owned(),
            activates,
        }),
        ..Noted::default()
    };
    MutationExpectation {
        resource: Some(resource(&at.id)),
        before: Some(at.graph_hash.clone()),
        after: Some(at.graph_hash.clone()),
        diff: None,
        more: noted.written(),
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
        let changed = self.changed_here(cx, &at)?;
        let touched = self.touched_here(cx, &at)?;
        let mut notes = Vec::new();
        let credentials = match self.backend.can().credentials {
            true => credential_ids(&*self.backend, &mut notes).await,
            false => Ok(None),
        };
        let credentials = credentials.map_err(|error| self.unavailable(error))?;
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
            mocks: IndexMap::new(),
            answers: IndexMap::new(),
            items: None,
            branch: 0,
            credentials,
        };
        let refused = |why: String| {
            let hint = "nothing was executed; mend what the message names";
            Ok(Err(Outcome::failed(why, "rehearsal", hint)))
        };
        if test.cases.len() > MOST_CASES {
            let why = format!(
                "{} cases are too many for one test (at most {MOST_CASES})",
                test.cases.len()
            );
            return refused(why);
        }
        let replay = match &test.execution {
            None => None,
            Some(id) => match self.replay(&at, id).await? {
                Ok(replay) => Some(replay),
                Err(why) => return refused(why),
            },
        };
        let kept = match cx.guards.log().made(&at.id.0) {
            true => &[][..],
            false => memory(cx.guards).cases(),
        };
        let tests = match self.tests_of(test, &at.workflow, &wishes, (kept, replay), &mut notes) {
            Ok(tests) => tests,
            Err(why) => return refused(why),
        };
        // Only a workflow of this run: nobody else counts on its being inactive.
        let ours = !at.active && cx.guards.log().made(&at.id.0);
        let points = trigger_points(&at.workflow);
        let as_it_is = |rehearsal: &Rehearsal| {
            ours && test.execution.is_none()
                && rehearsal.fits_as_it_is(&at.workflow)
                && points
                    .iter()
                    .any(|point| point.node == rehearsal.start.node)
        };
        let reserved = vec![reserve(guards::acts(&asked), &at, "test", exact)];
        let activates = tests.iter().any(|(rehearsal, ..)| as_it_is(rehearsal));
        let expect = expectation(&at, &tests, activates);
        let checked = self.findings(&at.workflow);
        let tests = tests.into_iter().map(|(rehearsal, payload, wanted)| Test {
            at: at.clone(),
            as_it_is: as_it_is(&rehearsal),
            rehearsal,
            payload,
            of_before: wanted.is_of_before.then(|| touched.clone()),
            recorded: wanted.replay.as_ref().map(Replay::failed),
            only_if_missing: wanted.only_if_missing,
            case: wanted.case,
            checked: checked.clone(),
            notes: notes.clone(),
        });
        Ok(Ok(Plan {
            act: Box::new(Rehearse {
                n8n: Arc::clone(self),
                tests: tests.collect(),
                changed,
                asked: memory(cx.guards).said().map(str::to_owned),
                mark: mark(&at),
            }),
            reserved,
            expect: Some(expect),
            question: None,
        }))
    }

    /// The runs that a call asks for; each with its copy and what starts it. `kept`: the cases of before. Err: why one of them cannot be
    /// tried, in words.
    fn tests_of(
        &self,
        test: &RehearseWorkflow,
        workflow: &Workflow,
        wishes: &Wishes<'_>,
        (kept, replay): (&[Case], Option<Replay>),
        notes: &mut Vec<String>,
    ) -> Result<Vec<(Rehearsal, Item, Wanted)>, String> {
        // What a workflow of before had to do it still has to do, where the run does not change just that.
        let other = |case: &&Case| test.cases.iter().all(|given| given.name != case.name);
        let (before, gone): (Vec<&Case>, Vec<&Case>) =
            (kept.iter().filter(other)).partition(|case| case.wrong(workflow).is_empty());
        notes.extend(gone.iter().map(|case| {
            let wrong = case.wrong(workflow).join("; ");
            format!("the case {:?} of before was not tried: {wrong}", case.name)
        }));
        let mut tests: Vec<(Rehearsal, Item, Wanted)> = Vec::new();
        for wanted in wanted(test, &before, workflow, replay) {
            let (rehearsal, payload) = self.rehearsed(workflow, wishes, &wanted)?;
            // A branch that what is made for it cannot tell from another one is no further test.
            let same = |(known, sent, _): &(Rehearsal, Item, Wanted)| {
                *sent == payload && known.copy == rehearsal.copy
            };
            if !wanted.only_if_missing || !tests.iter().any(same) {
                tests.push((rehearsal, payload, wanted));
            }
        }
        Ok(tests)
    }

    /// The copy for one run, and what starts it. Err: why it cannot be tried, in words.
    fn rehearsed(
        &self,
        workflow: &Workflow,
        wishes: &Wishes<'_>,
        wanted: &Wanted,
    ) -> Result<(Rehearsal, Item), String> {
        let mut wishes = Wishes {
            branch: wanted.branch,
            ..wishes.clone()
        };
        if let Some(case) = &wanted.case {
            let wrong = case.wrong(workflow);
            if !wrong.is_empty() {
                let wrong = wrong.join("; ");
                return Err(format!("the case {:?} cannot be tried: {wrong}", case.name));
            }
            wishes.start = case.start.as_deref().or(wishes.start);
            wishes.mocks.clone_from(&case.mocks);
        }
        if let Some(replay) = &wanted.replay {
            wishes.answers.clone_from(&replay.answers);
            wishes.items = replay.several();
        }
        let rehearsal = rehearse(workflow, self.catalog, &wishes).map_err(|why| why.to_string())?;
        let payload = match wanted.payload.is_empty() {
            true => payload(workflow, &rehearsal, wanted.branch),
            false => wanted.payload.clone(),
        };
        Ok((rehearsal, payload))
    }

    /// An execution to go through again. Err: why that cannot be, in words.
    async fn replay(&self, at: &Stored, id: &str) -> Result<Result<Replay, String>, Fault> {
        let document = match self.backend.execution(id).await {
            Ok(document) => document,
            Err(error) if error.kind == BackendErrorKind::Unavailable => {
                return Err(self.unavailable(error));
            }
            Err(error) => return Ok(Err(error.to_string())),
        };
        let replay = Replay::of(&at.workflow, &at.id.0, &Trace::read(&document));
        Ok(replay.map_err(|why| why.to_string()))
    }
}
