//! The test itself: a temporary copy is created, activated, called, read and removed.
//! Must never change the workflow itself, and never let a node act that the user did not allow.

use super::content::head;
use super::n8n::N8n;
use super::superseded::Touched;
use super::uncovered::OPEN_BECAUSE;
use crate::backend::{
    BackendError, BackendErrorKind, ListQuery, Listed, Stored, TriggerCall, Triggered, list_all,
};
use crate::noted::Rehearsing;
use agentctl_engine::toolset::{Answer, Fault, Outcome, backend_failure, error_content};
use agentctl_n8n::rehearsal::{
    COPY, Case, Item, Part, Rehearsal, Seen, Trace, Tried, Verdict, comes_through, evidence,
    is_copy, judge, judge_case, not_loaded, sent, without_headers,
};
use agentctl_n8n::{Finding, Workflow, WorkflowId, trigger_points};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

/// The first item of a node is told up to this many bytes of JSON.
const SAMPLE: usize = 600;

/// A test that is about to be made.
pub(super) struct Test {
    pub at: Stored,
    pub rehearsal: Rehearsal,
    pub payload: Item,
    /// What must come out of it.
    pub case: Option<Case>,
    /// What starts it is what an earlier execution was given, somebody's own data; and these nodes failed then.
    pub recorded: Option<Vec<String>>,
    /// The case is one of before, in a run that did this to the workflow.
    pub of_before: Option<Touched>,
    /// It is for what the tests before it did not come to.
    pub only_if_missing: bool,
    /// Try the workflow itself before a copy is made.
    pub as_it_is: bool,
    pub checked: Vec<Finding>,
    pub notes: Vec<String>,
}

impl Test {
    /// A case says what the trigger hands on; else it is made from what the workflow reads, or as it was.
    fn is_given(&self) -> bool {
        let case = self.case.as_ref().filter(|_| self.recorded.is_none());
        case.is_some_and(|case| !case.input.is_empty())
    }
}

impl N8n {
    /// One run after the other. What one of them cannot do ends them all: nothing says that the next one could.
    pub(super) async fn try_all(&self, tests: &mut [Test]) -> Answer {
        let mut all: Option<Map<String, Value>> = None;
        for test in tests {
            if test.only_if_missing && !all.as_ref().is_some_and(leaves_something_out) {
                break;
            }
            let told = match self.try_out(test).await? {
                Outcome::Ok(Value::Object(told)) if !told.contains_key("left_behind") => told,
                Outcome::Ok(Value::Object(told)) => {
                    return Ok(Outcome::Ok(Value::Object(together(all, told))));
                }
                Outcome::Failed(Value::Object(told)) => {
                    return Ok(Outcome::Failed(Value::Object(together(all, told))));
                }
                other => return Ok(other),
            };
            all = Some(together(all, told));
        }
        Ok(Outcome::Ok(Value::Object(all.unwrap_or_default())))
    }

    /// The run itself. However it goes, what it put on the n8n is taken away again.
    pub(super) async fn try_out(&self, test: &mut Test) -> Answer {
        if test.as_it_is {
            match self.run_as_it_is(test).await {
                Ok(outcome) => return Ok(outcome),
                Err(error) if error.kind == BackendErrorKind::Unavailable => return Err(error),
                // For example an address that another workflow has: a copy has its own.
                Err(error) => test.notes.push(format!(
                    "the workflow itself could not be activated: {error}"
                )),
            }
        }
        let left = Rehearsing {
            copy: test.rehearsal.copy.name().to_owned(),
            activates: false,
        };
        let mut known = None;
        let run = self.run_copy(test, &mut known).await;
        let gone = match &known {
            Some(id) => self.remove_copy(id).await,
            None => self.remove_copies(&left.copy).await,
        };
        let mut outcome = match run {
            Ok(outcome) => outcome,
            // What stays there has to be told, and no error could.
            Err(error) if gone.is_err() && error.kind != BackendErrorKind::Unavailable => {
                Outcome::Failed(backend_failure(&error))
            }
            Err(error) => return Err(error),
        };
        if let (Err(error), Outcome::Ok(Value::Object(map)) | Outcome::Failed(Value::Object(map))) =
            (gone, &mut outcome)
        {
            let what = format!(
                "the temporary copy {:?} could not be removed: {error}; delete it in n8n",
                left.copy
            );
            map.insert("left_behind".into(), Value::String(what));
        }
        Ok(outcome)
    }

    /// Activated for one call. An error: it was not called.
    async fn run_as_it_is(&self, test: &Test) -> Answer {
        let id = &test.at.id;
        if let Err(error) = self.backend.set_active(id, true).await {
            // It may have been activated all the same.
            let _inactive = self.backend.set_active(id, false).await;
            return Err(error);
        }
        let start = &test.rehearsal.start;
        let part = match start.method.as_deref() {
            Some("GET" | "HEAD") => "query",
            _ => "body",
        };
        let sent = match test.payload.get(part) {
            Some(Value::Object(part)) => part.clone(),
            _ => test.payload.clone(),
        };
        let run = self.started(id, &test.at.workflow, &start.node, sent).await;
        let off = self.backend.set_active(id, false).await;
        let mut outcome = self.told(test, run?, "as_it_is").await?;
        if let (Err(error), Outcome::Ok(Value::Object(map)) | Outcome::Failed(Value::Object(map))) =
            (off, &mut outcome)
        {
            let what = format!("the workflow could not be deactivated again: {error}");
            map.insert("left_behind".into(), Value::String(what));
        }
        Ok(outcome)
    }

    async fn run_copy(&self, test: &Test, known: &mut Option<WorkflowId>) -> Answer {
        let copy = &test.rehearsal.copy;
        let reserved = self.backend.reserve(copy.name()).await?;
        let made = self.backend.create(reserved.as_ref(), copy).await?;
        *known = Some(made.id.clone());
        if self.backend.can().tags {
            let tags = [COPY.to_owned()];
            // The name says it too; a tag that cannot be set is no reason not to test.
            let _tagged = self.backend.set_tags(&made.id, &tags).await;
        }
        if let Err(error) = self.backend.set_active(&made.id, true).await {
            if error.kind == BackendErrorKind::Unavailable {
                return Err(error);
            }
            let mut failure = backend_failure(&error);
            if let Value::Object(map) = &mut failure {
                map.insert("executed".into(), Value::Bool(false));
                map.insert("nodes".into(), json!(test.rehearsal.parts));
                if error.kind == BackendErrorKind::Rejected {
                    map.insert("findings".into(), json!([not_loaded(&error.to_string())]));
                }
            }
            return Ok(Outcome::Failed(failure));
        }
        let entry = &test.rehearsal.start.entry;
        let run = self
            .started(&made.id, copy, entry, test.payload.clone())
            .await?;
        self.told(test, run, "copy").await
    }

    async fn started(
        &self,
        id: &WorkflowId,
        workflow: &Workflow,
        node: &str,
        payload: Map<String, Value>,
    ) -> Result<Triggered, BackendError> {
        let points = trigger_points(workflow);
        let point = points.into_iter().find(|point| point.node == node);
        let point = point.ok_or_else(|| {
            BackendError::rejected(format!(
                "the trigger {node:?} cannot be called from outside"
            ))
        })?;
        self.backend
            .trigger(id, &TriggerCall::new(point, payload))
            .await
    }

    /// What the run showed. Without an execution nothing was tested.
    async fn told(&self, test: &Test, run: Triggered, on: &str) -> Answer {
        let mut content = Map::new();
        content.insert("id".into(), json!(test.at.id));
        content.insert("graph_hash".into(), json!(test.at.graph_hash));
        content.insert("executed".into(), json!(run.execution.is_some()));
        content.insert("on".into(), json!(on));
        content.insert("start".into(), json!(test.rehearsal.start.node));
        let payload = Value::Object(test.payload.clone());
        content.insert(
            "payload".into(),
            match test.recorded.is_some() {
                true => sample(&payload),
                false => payload,
            },
        );
        if on == "copy" {
            content.insert("copy".into(), json!(test.rehearsal.copy.name()));
        }
        let Some(execution) = run.execution else {
            let mut failure = error_content(
                "the call started no execution that could be found",
                "rehearsal",
                "report it as not executed",
            );
            content.insert("status".into(), json!(run.status));
            content.insert("answer".into(), json!(run.answer.as_ref().map(sample)));
            content.insert("nodes".into(), json!(test.rehearsal.parts));
            // It may have run all the same.
            content.insert("egress".into(), egress(&test.rehearsal, &|_| true));
            if let Value::Object(failure) = &mut failure {
                failure.extend(content);
            }
            return Ok(Outcome::Failed(failure));
        };
        let document = self.backend.execution(&execution.id).await?;
        let mut trace = Trace::read(&document);
        if trace.status == "unknown" {
            trace.status.clone_from(&execution.status);
        }
        let sent = sent(&test.rehearsal, &mut trace);
        let tried = Tried {
            rehearsal: &test.rehearsal,
            sent: &sent,
            is_given: test.is_given(),
        };
        let mut verdict = judge(&test.at.workflow, tried, &trace, &test.checked);
        let mut is_superseded = false;
        let judged = test.case.as_ref().map(|case| {
            let seen = Seen {
                trace: &trace,
                status: run.status,
                answer: run.answer.as_ref(),
                sent: &sent,
                has_failed: verdict.test_status == "fail",
                stopped: verdict.stopped(),
            };
            let mut judged = judge_case(&case.expect, &test.at.workflow, &test.rehearsal, seen);
            if let Some(failed) = &test.recorded {
                comes_through(&mut judged, failed, &test.rehearsal, &verdict, &trace);
            }
            if let (Some(touched), false) = (&test.of_before, seen.has_failed) {
                is_superseded = touched.takes_over(&mut judged, &trace);
            }
            verdict.with_case(&test.at.workflow, &case.name, &judged);
            judged
        });
        content.insert("execution".into(), json!(execution));
        if let Some(answer) = &run.answer {
            content.insert("answer".into(), sample(answer));
        }
        content.insert("test_status".into(), json!(verdict.test_status));
        if let Some(because) = verdict.because() {
            content.insert(OPEN_BECAUSE.into(), because.into());
        }
        let nodes = told_nodes(&verdict, &trace, &sent);
        let came_to = came_to(&test.rehearsal, &nodes);
        if let (Some(case), Some(judged)) = (&test.case, judged) {
            let mut told = json!({"name": case.name, "outcome": judged.outcome, "checks": judged.checks, "execution": execution.id,
                "test_status": verdict.test_status});
            if let Value::Object(told) = &mut told {
                told.extend(came_to.clone());
                if let Some(because) = verdict.because() {
                    told.insert(OPEN_BECAUSE.into(), because.into());
                }
                // Kept, so that later changes are held to it too.
                if test.recorded.is_none() && !is_superseded {
                    told.insert("case".into(), json!(case));
                }
            }
            content.insert("cases".into(), json!([told]));
        }
        content.extend(came_to);
        let left = egress(&test.rehearsal, &|node| trace.ran(node));
        content.insert("egress".into(), left);
        content.insert("nodes".into(), Value::Array(nodes));
        content.insert("findings".into(), json!(verdict.findings));
        let changes = test.rehearsal.changes.iter().chain(&test.notes);
        let changes: Vec<&String> = changes.filter(|_| on == "copy").collect();
        content.insert("changes".into(), json!(changes));
        Ok(Outcome::Ok(Value::Object(content)))
    }

    async fn remove_copy(&self, id: &WorkflowId) -> Result<(), BackendError> {
        // n8n deletes an active workflow too; one that is off leaves no webhook behind in any version.
        let _off = self.backend.set_active(id, false).await;
        match self.backend.delete(id).await {
            Err(error) if error.kind != BackendErrorKind::NotFound => Err(error),
            _ => {
                // A tag that stays hurts nobody, and another test may be about to set it.
                let _forgotten = self.backend.forget_tag(COPY).await;
                Ok(())
            }
        }
    }

    /// The name alone may be anybody's: our tag says so, or (where the test was killed before it was set) the copy's own start.
    async fn is_ours(&self, found: &Listed) -> Result<bool, BackendError> {
        if found.tags.iter().any(|tag| tag == COPY) {
            return Ok(true);
        }
        match self.backend.get(&found.id).await {
            Ok(stored) => Ok(is_copy(&stored.workflow, &found.name)),
            Err(error) if error.kind == BackendErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn remove_copies(&self, name: &str) -> Result<(), BackendError> {
        let listing = list_all(self.backend.as_ref(), &ListQuery::named(name)).await?;
        for copy in listing.workflows.iter().filter(|copy| copy.name == name) {
            if self.is_ours(copy).await? {
                self.remove_copy(&copy.id).await?;
            }
        }
        Ok(())
    }

    /// Takes away what an interrupted test left on the n8n.
    pub async fn clear_rehearsal(&self, id: &WorkflowId, left: &Rehearsing) -> Result<(), Fault> {
        let cleared = async {
            self.remove_copies(&left.copy).await?;
            if left.activates && self.backend.get(id).await.is_ok_and(|stored| stored.active) {
                self.backend.set_active(id, false).await?;
            }
            Ok(())
        };
        cleared.await.map_err(|error| self.unavailable(error))
    }

    /// An execution as far as anybody needs it: which nodes ran, what came out, what failed, and what that means for the
    /// workflow as it is now.
    pub(super) async fn told_execution(&self, id: &str) -> Answer {
        let trace = Trace::read(&self.backend.execution(id).await?);
        let nodes: Map<String, Value> = trace
            .nodes
            .iter()
            .map(|(name, run)| {
                let first = run.first.as_ref().map(sample);
                (name.clone(), json!({"runs": run.runs, "items": run.items, "error": run.error, "first_item": first}))
            })
            .collect();
        let mut content = Map::new();
        if let Some(of) = &trace.workflow_id
            && let Ok(stored) = self.backend.get(&WorkflowId(of.clone())).await
        {
            let checked = self.findings(&stored.workflow);
            let found = evidence(&stored.workflow, &trace, &checked);
            content.insert("workflow".into(), Value::Object(head(&stored)));
            content.insert("findings".into(), json!(found));
        }
        content.insert(
            "execution".into(),
            json!({"id": trace.id, "status": trace.status, "workflow_id": trace.workflow_id, "started_at": trace.started_at,
                "last_node": trace.last_node, "error": trace.error, "faults": trace.faults(), "nodes": nodes}),
        );
        Ok(Outcome::Ok(Value::Object(content)))
    }
}

/// The names of the nodes that ran, those that were simulated, those that were not come to, and of these the ones that act.
fn came_to(rehearsal: &Rehearsal, nodes: &[Value]) -> Map<String, Value> {
    let names = |wanted: &dyn Fn(&Value) -> bool| -> Value {
        let wanted = nodes.iter().filter(|node| wanted(node));
        wanted
            .filter_map(|node| node.get("node").cloned())
            .collect()
    };
    let is = |node: &Value, part: &str| node.get("as").and_then(Value::as_str) == Some(part);
    let reached = |node: &Value| node.get("reached") == Some(&Value::Bool(true));
    let missed = |node: &Value| !reached(node) && !is(node, "left_out");
    let out: Vec<&str> = (rehearsal.parts.iter())
        .filter(|part| part.leaves.is_some() || matches!(part.part, Part::Simulated { .. }))
        .map(|part| part.node.as_str())
        .collect();
    let acts = |node: &Value| {
        let name = node.get("node").and_then(Value::as_str);
        missed(node) && name.is_some_and(|name| out.contains(&name))
    };
    let ran = |node: &Value| reached(node) && (is(node, "run") || is(node, "start"));
    let simulated = |node: &Value| reached(node) && is(node, "simulated");
    let all = [
        ("ran", names(&ran)),
        ("simulated", names(&simulated)),
        ("not_reached", names(&missed)),
        ("untried", names(&acts)),
    ];
    Map::from_iter(all.map(|(key, names)| (key.to_owned(), names)))
}

/// Each node of a run, with a sample of what came out and of what it would have sent.
fn told_nodes(verdict: &Verdict, trace: &Trace, sent: &IndexMap<String, Vec<Value>>) -> Vec<Value> {
    let nodes = verdict.nodes.iter();
    nodes
        .map(|node| {
            let mut told = json!(node);
            let first = trace
                .nodes
                .get(&node.part.node)
                .and_then(|r| r.first.as_ref());
            if let (Some(first), Value::Object(map)) = (first, &mut told) {
                map.insert("first_item".into(), sample(first));
            }
            let calls = sent.get(&node.part.node).filter(|calls| !calls.is_empty());
            if let (Some(calls), Value::Object(map)) = (calls, &mut told) {
                map.insert("calls".into(), json!(calls.len()));
                map.insert(
                    "would_send".into(),
                    calls.first().map(sample).unwrap_or_default(),
                );
            }
            told
        })
        .collect()
}

/// What came through so far did not come to some node.
fn leaves_something_out(told: &Map<String, Value>) -> bool {
    let missed = told.get("not_reached").and_then(Value::as_array);
    let status = told.get("test_status").and_then(Value::as_str);
    // What an earlier execution says nothing of may be told by another branch.
    let goes_on = match status {
        Some("inconclusive") => told.contains_key("cases"),
        status => status == Some("pass"),
    };
    goes_on && missed.is_some_and(|missed| !missed.is_empty())
}

/// What several runs showed: findings, nodes and cases of each, and what none of them reached. Of the rest what the worst one says, of
/// several the first.
fn together(
    before: Option<Map<String, Value>>,
    mut last: Map<String, Value>,
) -> Map<String, Value> {
    let Some(mut before) = before else {
        return last;
    };
    let list = |of: &mut Map<String, Value>, key: &str| match of.remove(key) {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    };
    let mut joined = Map::new();
    for key in ["cases", "ran", "simulated", "findings", "egress"] {
        let (mut all, more) = (list(&mut before, key), list(&mut last, key));
        for one in more {
            if !all.contains(&one) {
                all.push(one);
            }
        }
        if key != "cases" || !all.is_empty() {
            joined.insert(key.to_owned(), Value::Array(all));
        }
    }
    for key in ["not_reached", "untried"] {
        let (missed, again) = (list(&mut before, key), list(&mut last, key));
        let neither = again.into_iter().filter(|node| missed.contains(node));
        joined.insert(key.to_owned(), neither.collect());
    }
    let (mut nodes, again) = (list(&mut before, "nodes"), list(&mut last, "nodes"));
    let reached = |node: &Value| node.get("reached") == Some(&Value::Bool(true));
    for (node, again) in nodes.iter_mut().zip(again) {
        if !reached(node) && reached(&again) {
            *node = again;
        }
    }
    joined.insert("nodes".into(), Value::Array(nodes));
    let worst = |of: &Map<String, Value>| match of.get("test_status").and_then(Value::as_str) {
        Some("pass") => 0,
        Some("inconclusive") => 1,
        _ => 2,
    };
    let mut all = if worst(&last) > worst(&before) {
        last
    } else {
        before
    };
    all.extend(joined);
    all
}

/// What left n8n: each node that went out, with the host where it is known. `ran`: whether the node of this name did.
fn egress(rehearsal: &Rehearsal, ran: &dyn Fn(&str) -> bool) -> Value {
    let out = rehearsal.parts.iter().filter(|part| part.part == Part::Run);
    out.filter(|part| ran(&part.node))
        .filter_map(|part| {
            let mut out = Map::from_iter([("node".to_owned(), json!(part.node))]);
            if let Value::Object(how) = json!(part.leaves.as_ref()?) {
                out.extend(how);
            }
            Some(Value::Object(out))
        })
        .collect()
}

/// An item, or (of a large one) its fields' names. Of a webhook's item the headers are nobody's result.
fn sample(item: &Value) -> Value {
    let item = &without_headers(item);
    if item.to_string().len() <= SAMPLE {
        return item.clone();
    }
    match item {
        Value::Object(map) => json!({"fields": map.keys().take(40).collect::<Vec<_>>()}),
        _ => json!("(a large value)"),
    }
}
