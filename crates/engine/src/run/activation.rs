//! The short activations that a run advances by: start, advance, answer, cancel. Each takes the project's lock, folds the
//! journal, goes on until blocked or done, syncs and lets go. Nothing waits in memory for a person.

use super::{
    Resume, RunContext, RunError, RunOptions, RunReport,
    active::{CONVERSATION, archive_active},
    cleanup,
    driver::{Driver, Stop},
    exit_code,
    plan_tools::{WISH, never_allowed},
    projection, questions,
    reopen::{driver, lock_for, refuse_session, reopen, turn},
    report::UnusedAnswer,
    run_id,
};
use crate::{
    flow::RunLog,
    nearest,
    store::{Event, Means, Project, event::JOURNAL_VERSION},
    view::RunView,
};
use agentctl_base::question::{AnsweredBy, Outcome};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Among a run's input: what the user asked for.
const REQUEST: &str = "request";

/// Begins a run.
pub async fn start(cx: RunContext<'_>, options: RunOptions) -> Result<RunReport, RunError> {
    can_begin(&cx, &options)?;
    let run_id = run_id::new(cx.effects, cx.project)?;
    let mut lock = lock_for(&cx, Some(&run_id))?;
    let order = turn(cx.project, &mut lock, cx.effects, &RunView::default())?;
    archive_active(cx.project, &run_id, cx.observer)?;
    cleanup::clear(cx.project, cx.gateway, &run_id, cx.observer).await;
    let project = cx.project;
    let mut driver = begin(cx, run_id, Some(order), options)?;
    driver.carry_on(project).await
}

/// Makes the run's journal with its first records: from here on it is a run that can be gone on with. `order`: the project's turn;
/// None for a turn of a conversation, which does not hold the project.
pub(super) fn begin<'a>(
    cx: RunContext<'a>,
    run_id: String,
    order: Option<u64>,
    options: RunOptions,
) -> Result<Driver<'a>, RunError> {
    let paths = cx.project.run(&run_id)?;
    let journal = cx.project.begin_run(&run_id)?;
    let begun = Event::RunStarted {
        journal_version: JOURNAL_VERSION,
        agentctl_version: env!("CARGO_PKG_VERSION").to_owned(),
        run_id,
        flow: cx.pack.flow.name.clone(),
        pack_hash: cx.pack.hash.clone(),
        input: input(&cx, &options),
    };
    let folded = (
        RunLog::new(&cx.pack.flow),
        RunView::default(),
        cx.gateway.guards(cx.pack.flow.scope_field()),
    );
    let mut driver = driver(
        cx,
        (paths, journal, order),
        folded,
        options.answering,
        options.limits,
    );
    driver.record(begun, false)?;
    if let Some(mut session) = options.session {
        driver.heard = session.heard.take();
        let parent = session.parent.take();
        driver.record((*session).into(), false)?;
        if let Some(parent) = parent {
            driver.record(Event::Linked(parent), false)?;
        }
    }
    if let Some(grants) = &options.grants {
        driver.pin("user", grants)?;
    }
    driver.activate("start", Some(driver.means()))?;
    Ok(driver)
}

/// What the flow sees as `input`, and what of the surroundings a later look at the run has to know.
fn input(cx: &RunContext<'_>, options: &RunOptions) -> Map<String, Value> {
    // A secret in the request is hidden before anything reads or records it. It stands first, and nothing else can take its place.
    let request = Value::from(agentctl_base::secrets::hide(&options.request));
    let mut input = Map::from_iter([(REQUEST.to_owned(), request.clone())]);
    input.extend(options.input.clone());
    input.insert(REQUEST.into(), request);
    input.insert("yes".into(), options.answering.yes.into());
    input.shift_remove(CONVERSATION);
    if let Some(session) = &options.session {
        input.insert(CONVERSATION.into(), session.id.clone().into());
    }
    let resources = cx.gateway.resources();
    input.extend(resources.abilities());
    let loosened = cx.pack.policy.loosened();
    if !loosened.is_empty() {
        input.insert("policy_loosened".into(), loosened.into());
    }
    if !cx.pack.overrides.is_empty() {
        input.insert(
            projection::OVERRIDES.into(),
            cx.pack.overrides.clone().into(),
        );
    }
    if !options.answering.answers.is_empty() {
        let kept = questions::without_secrets(cx.pack, &options.answering.answers);
        input.insert("answers".into(), kept.into());
    }
    if let Some(outside) = options.plan_tools {
        input.insert(WISH.into(), outside.name().into());
    }
    resources.note_place(&mut input);
    input
}

/// What no run of this flow can be begun with: grants that the policy gives to nobody, input that the flow does not take.
pub(super) fn can_begin(cx: &RunContext<'_>, options: &RunOptions) -> Result<(), RunError> {
    if let Some(grants) = &options.grants {
        let wrong = never_allowed(grants, cx.pack);
        if !wrong.is_empty() {
            return Err(RunError::Usage(format!(
                "the policy allows these tools to no role, so no run can be granted them: {}",
                wrong.join(", ")
            )));
        }
    }
    let flow = &cx.pack.flow;
    let Some(schema) = &flow.input else {
        return Ok(());
    };
    let mut given = options.input.clone();
    given.insert(REQUEST.into(), options.request.clone().into());
    let faults = schema.faults(&Value::Object(given));
    if faults.is_empty() {
        return Ok(());
    }
    Err(RunError::Usage(format!(
        "the flow {} cannot take this input: {}",
        flow.name,
        faults.join("; ")
    )))
}

/// Goes on with a run: the active one, or the one named.
pub async fn advance(
    cx: RunContext<'_>,
    run: Option<&str>,
    resume: Resume,
) -> Result<RunReport, RunError> {
    let (_lock, mut driver, project) = reopen(cx, run, resume)?;
    refuse_session(&driver)?;
    if let Some(ended) = driver.recorder.view.ended.clone() {
        // It may have been killed between its end and the projections.
        driver.project(project, &ended.message)?;
        let report = projection::report(
            driver.pack,
            &driver.recorder.view,
            &driver.recorder.log,
            ended.outcome,
            ended.exit_code,
            ended.message,
        );
        return Ok(report.with_unused(driver.unused_answers()));
    }
    driver.activate("resume", Some(driver.means()))?;
    driver.carry_on(project).await
}

/// Answers open questions by id or topic, then goes on. An answer to no open question, or one that does not fit, is refused
/// before anything is written.
pub async fn answer(
    cx: RunContext<'_>,
    run: Option<&str>,
    answers: Map<String, Value>,
    resume: Resume,
) -> Result<RunReport, RunError> {
    let (_lock, mut driver, project) = reopen(cx, run, resume)?;
    refuse_session(&driver)?;
    if driver.recorder.view.ended.is_some() {
        return Err(RunError::Usage(format!(
            "run {} has ended; it has no open question",
            driver.recorder.view.run_id
        )));
    }
    let now = driver.recorder.effects.now();
    let given = match_answers(&driver.recorder.view, answers, now)?;
    driver.activate("answer", Some(driver.means()))?;
    for event in given {
        driver.record(event, false)?;
    }
    driver.carry_on(project).await
}

/// Ends a run that is not finished. What it built stays; `undo` takes it back.
pub fn cancel(cx: RunContext<'_>, run: Option<&str>) -> Result<RunReport, RunError> {
    let resume = Resume {
        allow_other_pack: true,
        ..Resume::default()
    };
    let (_lock, mut driver, project) = reopen(cx, run, resume)?;
    if driver.recorder.view.ended.is_some() {
        return Err(RunError::Usage(format!(
            "run {} has ended already",
            driver.recorder.view.run_id
        )));
    }
    driver.activate("cancel", None)?;
    driver.end(Outcome::Cancelled, "cancelled by the user".into())?;
    driver.close(project, Ok(Stop::Ended))
}

/// The answers as events; every key must name an open question.
fn match_answers(
    view: &RunView,
    answers: Map<String, Value>,
    now: jiff::Timestamp,
) -> Result<Vec<Event>, RunError> {
    let mut events = Vec::new();
    for (key, value) in answers {
        let open: Vec<_> = view.open_questions().collect();
        let asked = open
            .iter()
            .rev()
            .find(|a| a.question.id == key)
            .or_else(|| open.iter().rev().find(|a| a.question.topic == key));
        let Some(asked) = asked else {
            let known: Vec<&str> = open.iter().map(|a| a.question.id.as_str()).collect();
            let topics = open.iter().map(|a| a.question.topic.as_str());
            let near = nearest::nearest(&key, known.iter().copied().chain(topics));
            return Err(RunError::Usage(format!(
                "no open question {key:?}{near}; open: {}",
                if known.is_empty() {
                    "none".to_owned()
                } else {
                    known.join(", ")
                }
            )));
        };
        if questions::is_too_late(&asked.question, now) {
            return Err(RunError::Usage(format!(
                "the question {key:?} was asked too long ago to be answered; `agentctl resume {}` asks again",
                view.run_id
            )));
        }
        questions::fits(&asked.question, &value)
            .map_err(|why| RunError::Usage(format!("the answer to {key:?} does not fit: {why}")))?;
        events.push(Event::AnswerGiven {
            step: asked.step.clone(),
            question_id: asked.question.id.clone(),
            value: questions::kept(&asked.question, value),
            by: AnsweredBy::Command,
        });
    }
    Ok(events)
}

impl Driver<'_> {
    /// `means`: what the run works with from here on; None: as before.
    pub(super) fn activate(&mut self, kind: &str, means: Option<Means>) -> Result<(), RunError> {
        let means = means.filter(|means| self.recorder.view.means.as_ref() != Some(means));
        let event = Event::ActivationStarted {
            activation: self.recorder.view.activation + 1,
            kind: kind.to_owned(),
            pid: self.recorder.effects.pid(),
            means: means.map(Box::new),
            order: self.recorder.order,
            heard: self.heard.take(),
        };
        // Synced, and all before it: the state file that follows must not be ahead of the journal. Of a turn none follows before its end.
        self.record(event, !self.is_turn())?;
        if kind != "cancel" {
            let run = self.recorder.view.run_id.clone();
            self.recorder.observer.goes_on(&run);
        }
        Ok(())
    }

    /// The limits and the models of this activation. A model without a name that can be chosen again (one played from a
    /// recording) is not kept.
    pub(super) fn means(&self) -> Means {
        let mut models = self
            .recorder
            .view
            .means
            .as_ref()
            .map_or_else(BTreeMap::new, |m| m.models.clone());
        for agent in self.pack.agents.values() {
            if let Ok(chosen) = self.models.for_agent(&agent.name, agent.tier)
                && self.models.can_be_named(&chosen.name)
            {
                models.insert(agent.name.clone(), chosen.name);
            }
        }
        Means {
            limits: self.budgets.clone(),
            models,
            pack: self.pack.named.clone(),
            orchestrator: (self.pack.orchestrator.as_ref())
                .and_then(|in_force| in_force.chosen.clone()),
        }
    }

    pub(super) async fn carry_on(&mut self, project: &Project) -> Result<RunReport, RunError> {
        // So that the active run is known by name from its first moment on; a turn never is the active run.
        if !self.is_turn() {
            self.project_state(project, "running")?;
        }
        let came_to = self.drive().await;
        self.close(project, came_to)
    }

    /// What was said with this activation and is the id or topic of no question of the run: often a misspelt one.
    fn unused_answers(&self) -> Vec<UnusedAnswer> {
        let view = &self.recorder.view;
        let said = match view.activation {
            ..=1 => &self.answering.answers,
            _ => &self.said_now,
        };
        let asked = || {
            let all = view.questions.iter();
            all.flat_map(|a| [a.question.id.as_str(), a.question.topic.as_str()])
        };
        let unused = said
            .keys()
            .filter(|key| !asked().any(|a| a == key.as_str()));
        let with_meant = unused.map(|key| UnusedAnswer {
            key: key.clone(),
            meant: nearest::meant(key, asked()).map(str::to_owned),
        });
        with_meant.collect()
    }

    /// Ends the activation, syncs, writes the projections, makes the report. After a failed write nothing more is written.
    pub(super) fn close(
        &mut self,
        project: &Project,
        came_to: Result<Stop, RunError>,
    ) -> Result<RunReport, RunError> {
        let (outcome, cause, message) = match &came_to {
            Err(RunError::Store(_)) => {
                return Err(came_to.err().unwrap_or(RunError::Internal(String::new())));
            }
            Err(e) => (Outcome::Failed, None, e.to_string()),
            Ok(Stop::Ended) => {
                let ended = self.recorder.view.ended.as_ref();
                let outcome = ended.map_or(Outcome::Failed, |e| e.outcome);
                (
                    outcome,
                    None,
                    ended.map(|e| e.message.clone()).unwrap_or_default(),
                )
            }
            Ok(Stop::Declined) => (Outcome::Refused, None, "you said no".to_owned()),
            Ok(Stop::GaveUp(why)) => (Outcome::Refused, None, why.clone()),
            Ok(Stop::Waiting) => (Outcome::Waiting, None, "waiting for an answer".to_owned()),
            Ok(Stop::Interrupted(cause)) => (
                Outcome::Interrupted,
                Some(*cause),
                "interrupted; the state is saved".to_owned(),
            ),
            Ok(Stop::Budget(why)) => (Outcome::Budget, None, why.clone()),
            Ok(Stop::TooLate(late)) => (Outcome::Failed, None, late.error.clone()),
        };
        let stopped = matches!(
            outcome,
            Outcome::Failed | Outcome::Budget | Outcome::Refused
        );
        let ended = Event::ActivationEnded {
            activation: self.recorder.view.activation,
            outcome,
            reason: Some(message.clone())
                .filter(|why| stopped && !why.is_empty() && self.recorder.view.ended.is_none()),
        };
        self.record(ended, true)?;
        self.project(project, &message)?;
        came_to?;
        let report = projection::report(
            self.pack,
            &self.recorder.view,
            &self.recorder.log,
            outcome,
            exit_code(outcome, cause),
            message,
        );
        Ok(report.with_unused(self.unused_answers()))
    }
}
