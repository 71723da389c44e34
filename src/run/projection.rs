//! What is written beside the journal at the end of an activation: run_state.json, the full results, the report. All of it
//! is made from the folded journal and can be made again.

use super::{
    QaReport, RunError, RunReport, WorkflowReport,
    activation::OVERRIDES,
    active::{ACTIVE_MARK, SESSION_FLOW},
    driver::Driver,
};
use crate::gateway::resources::PLACE;
use agentctl_base::question::{Outcome, Question};
use agentctl_engine::{
    flow::RunLog,
    run::{Asked, RunView},
    store::{JournalHead, Project, RunState, STATE_SCHEMA_VERSION, StateFile, StoreError},
};
use agentctl_host::files::write_atomic_on;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A field larger than this goes to a file of its own; run_state.json keeps its place.
const MAX_INLINE_BYTES: usize = 8 * 1024;

const WORKFLOW_SUMMARY: [&str; 4] = ["id", "name", "node_count", "graph_hash"];
const QA_SUMMARY: [&str; 8] = [
    "status",
    "error_count",
    "warning_count",
    "cycle",
    "executed",
    "execution",
    "test_status",
    "edit_scope",
];

/// A file to be written under `memory/agent_results/`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ResultFile {
    kind: String,
    id: String,
    content: Value,
}

/// The state with large parts replaced by summaries, and the files that hold them whole.
pub(super) fn summarise(
    run_id: &str,
    state: &Map<String, Value>,
) -> (Map<String, Value>, Vec<ResultFile>) {
    let mut summary = Map::new();
    let mut files = Vec::new();
    let workflow_id = state
        .get("workflow")
        .and_then(|w| w.get("id"))
        .and_then(Value::as_str);
    for (field, value) in state {
        let keys: Option<&[&str]> = match field.as_str() {
            "workflow" => Some(&WORKFLOW_SUMMARY),
            "qa_report" => Some(&QA_SUMMARY),
            _ => None,
        };
        let short = match (keys, value) {
            (Some(keys), Value::Object(map)) => {
                if map.is_empty() {
                    Value::Object(Map::new())
                } else {
                    files.push(ResultFile {
                        kind: field.clone(),
                        id: workflow_id.unwrap_or(run_id).to_owned(),
                        content: value.clone(),
                    });
                    let kept = keys
                        .iter()
                        .filter_map(|k| Some(((*k).to_owned(), map.get(*k)?.clone())));
                    Value::Object(kept.collect())
                }
            }
            _ => {
                let bytes = value.to_string().len();
                if bytes > MAX_INLINE_BYTES {
                    files.push(ResultFile {
                        kind: field.clone(),
                        id: run_id.to_owned(),
                        content: value.clone(),
                    });
                    json!({"bytes": bytes, "stored": "agent_results"})
                } else {
                    value.clone()
                }
            }
        };
        summary.insert(field.clone(), short);
    }
    (summary, files)
}

/// Writes the full results; a blocked run leaves its whole state as the evidence of its post-mortem.
pub(super) fn write_results(
    project: &Project,
    view: &RunView,
    state: &Map<String, Value>,
    outcome: Option<Outcome>,
) -> Result<(), StoreError> {
    let (_, mut files) = summarise(&view.run_id, state);
    if outcome == Some(Outcome::Blocked) {
        files.push(ResultFile {
            kind: "post_mortem".into(),
            id: view.run_id.clone(),
            content: Value::Object(state.clone()),
        });
    }
    if !view.put_aside.is_empty() {
        files.push(ResultFile {
            kind: "tool_results".into(),
            id: view.run_id.clone(),
            content: json!(view.put_aside),
        });
    }
    for file in files {
        let content = json!({"run_id": view.run_id, file.kind.as_str(): file.content});
        let text = serde_json::to_string_pretty(&content).map_err(|e| StoreError::Encode {
            what: "an agent's result",
            reason: e.to_string(),
        })?;
        write_atomic_on(
            project.disk().as_ref(),
            &project.result_file(&file.kind, &file.id),
            format!("{}\n", agentctl_base::untrusted::json(&text)).as_bytes(),
        )?;
    }
    Ok(())
}

/// The summary of a run as folded from its journal up to `head`.
pub(super) fn run_state(
    view: &RunView,
    log: &RunLog,
    head: (u64, &str),
    at: &str,
    message: &str,
) -> RunState {
    RunState {
        schema_version: STATE_SCHEMA_VERSION,
        run_id: view.run_id.clone(),
        flow: view.flow.clone(),
        stage: stage_of(view, log),
        outcome: outcome_of(view),
        message: message.to_owned(),
        updated_at: at.to_owned(),
        journal: JournalHead {
            seq: head.0,
            hash: head.1.to_owned(),
        },
        questions: waiting_for(view),
        state: summarise(&view.run_id, log.state()).0,
        more: Map::new(),
    }
}

/// A session has no stages.
fn stage_of(view: &RunView, log: &RunLog) -> String {
    match view.session {
        None => log.stage().to_owned(),
        Some(_) => SESSION_FLOW.to_owned(),
    }
}

/// How the run stands: its end, else how its last activation ended.
pub(super) fn outcome_of(view: &RunView) -> Option<Outcome> {
    match &view.ended {
        Some(ended) => Some(ended.outcome),
        None => view.activation_outcome,
    }
}

/// The open questions, when the run waits for them.
pub(super) fn waiting_for(view: &RunView) -> Vec<Question> {
    if outcome_of(view) != Some(Outcome::Waiting) {
        return Vec::new();
    }
    let last = view.open_questions().last().map(|a| a.step.clone());
    // An approval whose time was up was asked again: the newest is the one that can be answered.
    let newest = |asked: &Asked| {
        let same = |a: &&Asked| a.question.approves == asked.question.approves;
        let last = view.open_questions().filter(same).last();
        asked.question.approves.is_none()
            || last.is_some_and(|a| a.question.id == asked.question.id)
    };
    view.open_questions()
        .filter(|a| Some(&a.step) == last.as_ref() && newest(a))
        .map(|a| a.question.clone())
        .collect()
}

/// The report of a run, from its folded journal.
pub(super) fn report(
    view: &RunView,
    log: &RunLog,
    outcome: Outcome,
    exit_code: u8,
    message: String,
) -> RunReport {
    let state = log.state();
    let mut errors: Vec<Value> = view.errors.clone();
    if let Some(Value::Array(more)) = state.get("errors") {
        errors.extend(more.iter().filter(|e| !view.errors.contains(e)).cloned());
    }
    RunReport {
        run_id: view.run_id.clone(),
        stage: stage_of(view, log),
        outcome,
        message,
        workflow: workflow_report(view, state),
        n8n: view
            .input
            .get(PLACE)
            .and_then(Value::as_str)
            .map(str::to_owned),
        qa_report: qa_report(state, log.cycle()),
        questions: waiting_for(view),
        errors,
        usage: view.usage,
        losses: (view.losses.iter())
            .filter(|(_, counted)| counted.lost > 0)
            .map(|(id, counted)| (id.clone(), counted.clone()))
            .collect(),
        policy_loosened: texts_of(view, "policy_loosened"),
        overrides: texts_of(view, OVERRIDES),
        foreign: None,
        grants: view.grants.clone(),
        exit_code,
        state: state.clone(),
    }
}

/// As the run's first record has it.
fn texts_of(view: &RunView, key: &str) -> Vec<String> {
    let list = view.input.get(key);
    let texts = list.and_then(Value::as_array).into_iter().flatten();
    texts
        .filter_map(|what| what.as_str().map(str::to_owned))
        .collect()
}

fn workflow_report(view: &RunView, state: &Map<String, Value>) -> Option<WorkflowReport> {
    let claimed = state
        .get("workflow")
        .and_then(|w| w.get("id"))
        .and_then(Value::as_str);
    // What the journal says was changed is reported even when no agent got to say so.
    let last = view.last_change(claimed)?;
    let id = last.change.workflow_id.as_str();
    let graph_hash = last.change.after.clone()?;
    if view.undone.iter().any(|undone| undone == id) {
        return None;
    }
    Some(WorkflowReport {
        id: id.to_owned(),
        name: view.workflow_name(id).unwrap_or(id).to_owned(),
        file: view.workflow_file(id).map(str::to_owned),
        node_count: last.change.node_count as u64,
        graph_hash,
    })
}

fn qa_report(state: &Map<String, Value>, cycle: u32) -> Option<QaReport> {
    let report = state
        .get("qa_report")?
        .as_object()
        .filter(|r| !r.is_empty())?;
    let number = |key: &str| report.get(key).and_then(Value::as_u64).unwrap_or(0);
    let executed = report.get("executed") == Some(&Value::Bool(true));
    let text = |value: Option<&Value>| {
        let text = value.and_then(Value::as_str).filter(|_| executed);
        text.map(str::to_owned)
    };
    let names = |key: &str| -> Vec<String> {
        let list = report.get(key).and_then(Value::as_array);
        let list = list.filter(|_| executed).into_iter().flatten();
        list.filter_map(|name| name.as_str().map(str::to_owned))
            .collect()
    };
    Some(QaReport {
        status: report
            .get("status")
            .and_then(Value::as_str)
            .unwrap_or("unknown")
            .to_owned(),
        error_count: number("error_count"),
        warning_count: number("warning_count"),
        cycle: number("cycle").max(u64::from(cycle)),
        executed,
        execution_id: text(report.get("execution").and_then(|e| e.get("id"))),
        test_status: text(report.get("test_status")),
        ran: names("ran"),
        simulated: names("simulated"),
        not_reached: names("not_reached"),
        simulated_because: reasons(report.get("nodes").filter(|_| executed)),
        copy: text(report.get("copy")),
        egress: report
            .get("egress")
            .and_then(Value::as_array)
            .filter(|_| executed)
            .cloned(),
        left_behind: text(report.get("left_behind")),
        server: report.get("server").filter(|s| s.is_object()).cloned(),
    })
}

/// Why nodes were simulated, by their names.
fn reasons(nodes: Option<&Value>) -> BTreeMap<String, String> {
    let nodes = nodes.and_then(Value::as_array).into_iter().flatten();
    let text = |node: &Value, key: &str| node.get(key)?.as_str().map(str::to_owned);
    nodes
        .filter(|node| node.get("as").and_then(Value::as_str) == Some("simulated"))
        .filter_map(|node| Some((text(node, "node")?, text(node, "because")?)))
        .collect()
}

impl Driver<'_> {
    /// Writes the projections of the run as it stands now.
    pub(super) fn project(&mut self, project: &Project, message: &str) -> Result<(), RunError> {
        let outcome = outcome_of(&self.recorder.view);
        write_results(
            project,
            &self.recorder.view,
            self.recorder.log.state(),
            outcome,
        )?;
        self.project_state(project, message)
    }

    /// Writes run_state.json only.
    pub(super) fn project_state(
        &mut self,
        project: &Project,
        message: &str,
    ) -> Result<(), RunError> {
        let recorder = &mut self.recorder;
        let head = recorder.journal.head();
        let mut state = run_state(&recorder.view, &recorder.log, head, &recorder.at, message);
        if let Some(mark) = project.marks(&recorder.view.run_id).active() {
            state.more.insert(ACTIVE_MARK.into(), mark.into());
        }
        let file = match &recorder.view.session {
            None => project.state_file(),
            // The active run's summary stays the active run's.
            Some(_) => project.run(&recorder.view.run_id)?.archived_state(),
        };
        if let Some(aside) = StateFile::write_on(project.disk().as_ref(), &file, &state)? {
            recorder.observer.note(&format!(
                "run_state.json was changed by hand or damaged; it was made again from the journal, the old one is kept as {}",
                aside.display()
            ));
        }
        Ok(())
    }
}
