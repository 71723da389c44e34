//! What is written beside the journal at the end of an activation: run_state.json, the full results, the report. All of it
//! is made from the folded journal and can be made again.

use super::{
    Reply, RunError, RunReport, Taken,
    active::{ACTIVE_MARK, SESSION_FLOW},
    claims,
    driver::Driver,
    history, shown, told,
};
use crate::{
    claims::Reported,
    flow::{Flow, Reading, RunLog},
    pack::Pack,
    store::{Checked, JournalHead, Project, RunState, STATE_SCHEMA_VERSION, StateFile, StoreError},
    view::{Asked, By, RunView},
};
use agentctl_base::question::{AnsweredBy, Outcome, Question};
use agentctl_host::files::write_atomic_on;
use serde_json::{Map, Value, json};

/// Among a run's input: the project's files that stood over the built-in pack when it began.
pub(super) const OVERRIDES: &str = "overrides";

/// A field larger than this goes to a file of its own; run_state.json keeps its place.
const MAX_INLINE_BYTES: usize = 8 * 1024;

/// A file to be written under `memory/agent_results/`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ResultFile {
    kind: String,
    id: String,
    content: Value,
}

/// The state with large parts replaced by summaries, and the files that hold them whole.
pub(super) fn summarise(
    flow: &Flow,
    run_id: &str,
    state: &Map<String, Value>,
) -> (Map<String, Value>, Vec<ResultFile>) {
    let mut summary = Map::new();
    let mut files = Vec::new();
    let resource = flow.resource_id(state);
    for (field, value) in state {
        let keys = flow
            .fields
            .get(field)
            .and_then(|spec| spec.meaning.summary.as_deref());
        let short = match (keys, value) {
            (Some(keys), Value::Object(map)) => {
                if map.is_empty() {
                    Value::Object(Map::new())
                } else {
                    files.push(ResultFile {
                        kind: field.clone(),
                        id: resource.unwrap_or(run_id).to_owned(),
                        content: value.clone(),
                    });
                    let kept = keys
                        .iter()
                        .filter_map(|k| Some((k.clone(), map.get(k)?.clone())));
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
    flow: &Flow,
    view: &RunView,
    state: &Map<String, Value>,
    outcome: Option<Outcome>,
) -> Result<(), StoreError> {
    let (_, mut files) = summarise(flow, &view.run_id, state);
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
    flow: &Flow,
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
        state: summarise(flow, &view.run_id, log.state()).0,
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
    pack: &Pack,
    view: &RunView,
    log: &RunLog,
    outcome: Outcome,
    exit_code: u8,
    message: String,
) -> RunReport {
    let flow = &pack.flow;
    let state = log.state();
    let mut errors: Vec<Value> = view.errors.clone();
    let failures = flow.failures.as_ref().and_then(|field| state.get(field));
    if let Some(Value::Array(more)) = failures {
        errors.extend(more.iter().filter(|e| !view.errors.contains(e)).cloned());
    }
    let (made, lost) = pack.policy.vocabulary().report(&Reported {
        changes: &claims::changes(view),
        state_of: &|section| state.get(flow.report_field(section)?),
        input: &view.input,
        undone: &view.undone,
        noted: &view.noted,
        cycle: log.cycle(),
    });
    RunReport {
        run_id: view.run_id.clone(),
        stage: stage_of(view, log),
        outcome,
        message,
        taken_back: view.is_taken_back(),
        redo: redo(view),
        made,
        questions: waiting_for(view),
        output: output(flow, log),
        messages: view.said.iter().map(Reply::from).collect(),
        errors,
        usage: view.usage,
        taken: taken(view),
        unused_answers: Vec::new(),
        lost,
        policy_loosened: texts_of(view, "policy_loosened"),
        overrides: texts_of(view, OVERRIDES),
        foreign: None,
        damage: Vec::new(),
        grants: view.grants.clone(),
        exit_code,
        request: (view.input.get("request").and_then(Value::as_str))
            .unwrap_or_default()
            .to_owned(),
        state: state.clone(),
        sections: (flow.fields.iter())
            .filter_map(|(field, spec)| {
                let section = spec.meaning.report.clone()?;
                Some((section, state.get(field)?.clone()))
            })
            .collect(),
        cause: (flow.read_field(Reading::Cause))
            .and_then(|field| state.get(field))
            .cloned(),
    }
}

/// The last change that no undo made, of a run that was taken back.
fn redo(view: &RunView) -> Option<u32> {
    if !view.is_taken_back() {
        return None;
    }
    let made = history::of_run(&view.run_id, &view.changes);
    let own = made.iter().rev().find(|made| made.by != By::Undo);
    own.map(|made| made.number)
}

/// The questions that their recommendations answered, in order.
fn taken(view: &RunView) -> Vec<Taken> {
    let recommended = view.questions.iter().filter_map(|asked| {
        let (value, _) = asked
            .answer
            .as_ref()
            .filter(|(_, by)| *by == AnsweredBy::Recommended)?;
        Some(Taken {
            topic: asked.question.topic.clone(),
            question: asked.question.text.clone(),
            value: value.clone(),
        })
    });
    recommended.collect()
}

/// What came of a flow that is at its good end. A value that cannot be made was told when the run ended.
fn output(flow: &Flow, log: &RunLog) -> Option<Value> {
    let ended = matches!(
        log.outcome(),
        Some(Outcome::Complete | Outcome::Draft | Outcome::Partial)
    );
    flow.output.as_ref().filter(|_| ended)?;
    crate::flow::output(flow, log, "").ok()
}

/// As the run's first record has it.
fn texts_of(view: &RunView, key: &str) -> Vec<String> {
    let list = view.input.get(key);
    let texts = list.and_then(Value::as_array).into_iter().flatten();
    texts
        .filter_map(|what| what.as_str().map(str::to_owned))
        .collect()
}

impl Driver<'_> {
    /// Writes the projections of the run as it stands now.
    pub(super) fn project(&mut self, project: &Project, message: &str) -> Result<(), RunError> {
        let outcome = outcome_of(&self.recorder.view);
        write_results(
            project,
            self.recorder.flow,
            &self.recorder.view,
            self.recorder.log.state(),
            outcome,
        )?;
        self.project_state(project, message)?;
        let recorder = &self.recorder;
        let journal = recorder.journal.checked();
        told::keep(project, &recorder.view, journal.clone());
        if let Some(journal) = journal.filter(Checked::is_long) {
            let shown = shown::of(self.pack, &recorder.view, &recorder.log);
            shown::keep(project, &shown, None, journal);
        }
        Ok(())
    }

    /// Writes run_state.json only.
    pub(super) fn project_state(
        &mut self,
        project: &Project,
        message: &str,
    ) -> Result<(), RunError> {
        let is_turn = self.is_turn();
        let recorder = &mut self.recorder;
        let head = recorder.journal.head();
        let mut state = run_state(
            recorder.flow,
            &recorder.view,
            &recorder.log,
            head,
            &recorder.at,
            message,
        );
        if let Some(mark) = project.marks(&recorder.view.run_id).active() {
            state.more.insert(ACTIVE_MARK.into(), mark.into());
        }
        let moved = match is_turn {
            false => StateFile::write_on(project.disk().as_ref(), &project.state_file(), &state)?,
            // The active run's summary stays the active run's.
            true => {
                let paths = project.run(&recorder.view.run_id)?;
                StateFile::write_unsynced(&paths.archived_state(), &state)?
            }
        };
        if let Some(aside) = moved {
            recorder.observer.note(&format!(
                "run_state.json was changed by hand or damaged; it was made again from the journal, the old one is kept as {}",
                aside.display()
            ));
        }
        Ok(())
    }
}
