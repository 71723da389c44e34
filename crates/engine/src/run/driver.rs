//! What a run does besides asking models: questions to the user, calls of tools, the end. It owns the run's state while it runs, and
//! does one thing at a time with it.

use super::{
    Answering, Asker, Budgets, Cancel, Cause, Models, RunError, RunUsage,
    budget::Hours,
    limits::Limits,
    questions::{self, Got},
    recorder::RunRecorder,
    reopen::wait_for_lock,
    step::Pace,
};
use crate::gateway::CallContext;
use crate::gateway::Gateway;
use crate::gateway::Settled;
use crate::guards::{GuardState, rules};
use crate::toolset::{Fault, is_unreachable};
use crate::{
    pack::Pack,
    store::{Event, ProjectLock},
    toolset::Resources,
};
use agentctl_base::{
    model::{ToolCall, ToolResult, ToolStatus},
    question::{AnsweredBy, Outcome, Question},
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::time::Duration;

/// How long a turn waits for whoever works in the project.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// Why the loop came back.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Stop {
    /// The flow is at its end; `RunEnded` is written.
    Ended,
    Waiting,
    /// The user said no to what the run was about to do.
    Declined,
    /// A call was refused, and the model sees no other way: what it says.
    GaveUp(String),
    Interrupted(Cause),
    Budget(String),
    /// The time that a step has for one attempt is over: the step fails, the run goes on.
    TooLate(TooLate),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct TooLate {
    pub step: String,
    pub error: String,
}

pub(super) struct Driver<'a> {
    pub pack: &'a Pack,
    pub gateway: &'a Gateway,
    /// What the tools work on.
    pub resources: &'a dyn Resources,
    pub models: &'a dyn Models,
    pub cancel: &'a Cancel,
    pub asker: Option<&'a mut dyn Asker>,
    pub answering: Answering,
    /// What was said with this activation, of the answers above: only it can be about a question that was asked before.
    pub said_now: Map<String, Value>,
    /// What the sender called the message that the next activation answers.
    pub heard: Option<String>,
    /// Of the whole run.
    pub limits: Limits,
    /// As they were set, for the run and for agents.
    pub budgets: Budgets,
    /// What is worked on, and for how long.
    pub hours: Hours,
    /// What models' calls that are under way will use at least, by step.
    pub reserved: BTreeMap<String, RunUsage>,
    pub guards: GuardState,
    pub recorder: RunRecorder<'a>,
    pub started_ms: u64,
    /// Work of earlier activations.
    pub worked_ms: u64,
    /// The same by step, and that of this activation's finished steps.
    pub worked_ms_of: BTreeMap<String, u64>,
    /// Attempts of this activation that failed for now and were made again.
    pub retries: u32,
}

impl Driver<'_> {
    /// Whether the run is a turn of a conversation or a client's session: it does not hold the project and is never the active run.
    pub(super) fn is_turn(&self) -> bool {
        self.recorder.view.session.is_some() || self.recorder.log.session().is_some()
    }

    /// Journals an event of the driver's own; the gateway journals (and observes) its own.
    pub(super) fn record(&mut self, event: Event, durable: bool) -> Result<(), RunError> {
        self.guards.observe(&event);
        self.recorder.write(event, durable)?;
        self.recorder.sound()
    }

    pub(super) fn finish_step(&mut self, step: &str, output: Value) -> Result<(), RunError> {
        self.record(
            Event::StepFinished {
                step: step.to_owned(),
                output,
            },
            false,
        )
    }

    pub(super) fn fail_step(&mut self, step: &str, error: String) -> Result<(), RunError> {
        self.record(
            Event::StepFailed {
                step: step.to_owned(),
                error,
            },
            false,
        )
    }

    pub(super) fn end(&mut self, outcome: Outcome, message: String) -> Result<(), RunError> {
        self.record(
            Event::RunEnded {
                outcome,
                exit_code: super::exit_code(outcome, None),
                message,
            },
            false,
        )?;
        self.gateway.run_ended(&self.recorder.view.run_id);
        Ok(())
    }

    /// Journals that a question is asked.
    fn put(&mut self, step: &str, question: &Question) -> Result<(), RunError> {
        let asked = Event::QuestionAsked {
            step: step.to_owned(),
            question: question.clone(),
        };
        self.record(asked, false)
    }

    /// Puts a step's questions. The flow goes on by itself once the required ones are answered.
    pub(super) fn ask(
        &mut self,
        step: &str,
        questions: &[Question],
    ) -> Result<Option<Stop>, RunError> {
        let marked = |question: &Question| questions::marked(self.pack, step, question.clone());
        let mut open: Vec<Question> = questions.iter().map(marked).collect();
        for question in &open.clone() {
            if !self.is_asked(step, &question.id) {
                self.put(step, question)?;
            }
        }
        // An optional question is put once by the flow; while its step is open it can still be answered.
        for asked in self.recorder.view.open_questions() {
            if asked.step == step && !open.iter().any(|q| q.id == asked.question.id) {
                open.push(asked.question.clone());
            }
        }
        let mut missing = false;
        for question in &open {
            match self.find_answer(step, question, Counted::All)? {
                Got::Answer(..) => {}
                Got::Nothing => missing |= question.required,
                Got::Interrupted => return Ok(Some(Stop::Interrupted(Cause::Interrupt))),
            }
        }
        Ok(missing.then_some(Stop::Waiting))
    }

    fn is_asked(&self, step: &str, id: &str) -> bool {
        let all = &self.recorder.view.questions;
        all.iter().any(|a| a.step == step && a.question.id == id)
    }

    /// Looks for an answer and journals the one it finds.
    fn find_answer(
        &mut self,
        step: &str,
        question: &Question,
        counted: Counted,
    ) -> Result<Got, RunError> {
        let mut notes = Vec::new();
        let asker = self.asker.as_deref_mut();
        let given = match counted {
            Counted::All => Some(&self.answering.answers),
            Counted::SaidNow => Some(&self.said_now),
            Counted::None => None,
        };
        let got = questions::find(question, given, self.answering.yes, asker, &mut notes);
        for note in notes {
            self.recorder.observer.mistake(&note);
        }
        if let Got::Answer(value, by) = &got {
            self.record(
                Event::AnswerGiven {
                    step: step.to_owned(),
                    question_id: question.id.clone(),
                    value: questions::kept(question, value.clone()),
                    by: *by,
                },
                // What a person typed cannot be had again from a file.
                *by == AnsweredBy::Terminal,
            )?;
        }
        Ok(got)
    }

    pub(super) async fn flow_tool(
        &mut self,
        step: &str,
        role: &str,
        tool: &str,
        args: Map<String, Value>,
    ) -> Result<Pace, RunError> {
        let call = ToolCall {
            id: step.to_owned(),
            name: tool.to_owned(),
            arguments: Value::Object(args).to_string(),
        };
        match self.tool_call(step, role, None, &call).await? {
            Ok(result) if result.status == ToolStatus::Ok => {
                self.finish_step(step, result.content)?;
                Ok(Pace::Over)
            }
            Ok(result) => {
                let why = result.content.get("error").and_then(Value::as_str);
                let error = format!("{tool}: {}", why.unwrap_or("it did not succeed"));
                self.fail_step(step, error)?;
                Ok(Pace::Over)
            }
            Err(stop) => self.stopped(stop),
        }
    }

    /// The project's lock for one call of a run that does not hold it: a turn of a conversation is alone only while it changes a
    /// resource. What the call finds then is what it is judged by.
    async fn project_for(&mut self, tool: &str) -> Result<Option<ProjectLock>, RunError> {
        let recorder = &self.recorder;
        if recorder.order.is_some() || !self.gateway.changes_resources(tool) {
            return Ok(None);
        }
        // Taken out of the recorder, whose observer is no other thread's to see while this one waits.
        let (project, effects) = (recorder.project, recorder.effects);
        let run_id = recorder.view.run_id.clone();
        let lock = wait_for_lock(project, self.resources, effects, Some(&run_id), LOCK_WAIT);
        lock.await.map(Some)
    }

    /// One call through the gateway. A result in the journal is the result; a call that was begun and has none is settled.
    pub(super) async fn tool_call(
        &mut self,
        step: &str,
        role: &str,
        offered: Option<&[String]>,
        call: &ToolCall,
    ) -> Result<Result<ToolResult, Stop>, RunError> {
        let mut approved: Vec<String> = Vec::new();
        if self.has_begun_a_flow(step, call) {
            return self.flow_of_tool(step, role, call).await;
        }
        if let Some(result) = self.settled(step, role, offered, call).await? {
            return Ok(Ok(result));
        }
        let bound = self.bound(step, role, &call.name)?;
        loop {
            if let Some(cause) = self.cancel.cause() {
                return Ok(Err(Stop::Interrupted(cause)));
            }
            if let Some(late) = self.too_late() {
                return Ok(Err(Stop::TooLate(late)));
            }
            // What changes nothing may be let go in the middle; what does is waited for.
            let droppable = self.gateway.only_reads(&call.name);
            let over = match self.step_left_ms() {
                Some(ms) if droppable => self.recorder.effects.over(ms),
                _ => Box::pin(std::future::pending()),
            };
            let cancel = self.cancel;
            let _held = self.project_for(&call.name).await?;
            let settled = {
                let mut cx = CallContext {
                    role,
                    step,
                    offered,
                    can_ask: true,
                    bound: bound.as_ref(),
                    guards: &mut self.guards,
                    recorder: &mut self.recorder,
                };
                let settled = tokio::select! {
                    biased;
                    settled = self.gateway.call(&mut cx, call) => Some(settled),
                    () = over => None,
                    // It has no result then: who goes on with the run makes it again.
                    cause = cancel.requested(), if droppable => {
                        return Ok(Err(Stop::Interrupted(cause)));
                    }
                };
                match settled {
                    Some(settled) => settled,
                    None => self.gateway.let_it_go(&mut cx, call).map(Settled::Done),
                }
            };
            self.recorder.sound()?;
            match settled.map_err(gateway_error)? {
                Settled::Done(result) => {
                    let refused = result.status == ToolStatus::Refused;
                    return Ok(match refused && self.guards.said_no(Some(rules::LOOK)) {
                        true => Err(Stop::Declined),
                        false => Ok(result),
                    });
                }
                Settled::Begun => return self.flow_of_tool(step, role, call).await,
                Settled::NeedsApproval(question) => {
                    let key = question.approves.clone().unwrap_or_default();
                    if approved.contains(&key) {
                        return Err(RunError::Usage(format!(
                            "the approval of {} was too old before it could be used; raise max_approval_seconds in agents/policy.yaml",
                            call.name
                        )));
                    }
                    if let Some(stop) = self.approval(step, *question)? {
                        return Ok(Err(stop));
                    }
                    approved.push(key);
                }
            }
        }
    }

    /// What became of the call before this activation; None: it is still to be made.
    async fn settled(
        &mut self,
        step: &str,
        role: &str,
        offered: Option<&[String]>,
        call: &ToolCall,
    ) -> Result<Option<ToolResult>, RunError> {
        let Some(trace) = self.recorder.view.trace(step) else {
            return Ok(None);
        };
        // A backend that could not be reached stopped the run; the call is taken up again, not its failure.
        let result = trace.results.get(&call.id);
        if let Some(result) = result.filter(|r| !is_unreachable(r)) {
            return Ok(Some(ToolResult::clone(result)));
        }
        let begun = trace.begun.get(&call.id);
        let Some(intent) = begun.and_then(|begun| begun.intent.clone()) else {
            return Ok(None);
        };
        let bound = self.bound(step, role, &call.name)?;
        let mut cx = CallContext {
            role,
            step,
            offered,
            can_ask: true,
            bound: bound.as_ref(),
            guards: &mut self.guards,
            recorder: &mut self.recorder,
        };
        let settled = self.gateway.settle(&mut cx, &intent).await;
        self.recorder.sound()?;
        settled.map_err(gateway_error)
    }

    /// Asks for an approval. None: it was answered, either way; the gateway reads the answer.
    fn approval(&mut self, step: &str, question: Question) -> Result<Option<Stop>, RunError> {
        let now = self.recorder.effects.now();
        let all = &self.recorder.view.questions;
        let open = all.iter().rev().find(|a| {
            a.step == step
                && a.answer.is_none()
                && a.question.approves == question.approves
                && !questions::is_too_late(&a.question, now)
        });
        // An answer prepared ahead cannot approve what its writer had not seen: what is said now counts for a question asked
        // before, what was said when the run began for none.
        let counted = match open {
            Some(_) => Counted::SaidNow,
            None => Counted::None,
        };
        let question = match open {
            Some(asked) => asked.question.clone(),
            None => {
                self.put(step, &question)?;
                question
            }
        };
        Ok(match self.find_answer(step, &question, counted)? {
            Got::Answer(..) => None,
            Got::Nothing => Some(Stop::Waiting),
            Got::Interrupted => Some(Stop::Interrupted(Cause::Interrupt)),
        })
    }
}

/// Which of the answers given ahead may answer a question.
#[derive(Clone, Copy)]
enum Counted {
    All,
    SaidNow,
    None,
}

pub(super) fn gateway_error(error: Fault) -> RunError {
    match error {
        Fault::Store(error) => RunError::Store(error),
        Fault::Kept(error) => RunError::Refused {
            message: error.to_string(),
            hint: "mend that folder, then go on with the run".into(),
        },
        Fault::Backend { backend, mut error } => {
            error.hint.get_or_insert_with(|| {
                "the run is saved; `agentctl resume` goes on when it is back".to_owned()
            });
            RunError::unavailable(error, |error| {
                format!("the {backend} backend is not available: {error}")
            })
        }
    }
}
