//! The loop: ask the flow, do what it says, write down what came of it. It owns the run's state while it runs.

use super::{
    Answering, Asker, Budgets, Cancel, Cause, Models, RunError,
    limits::Limits,
    questions::{self, Got},
    recorder::RunRecorder,
};
use crate::gateway::CallContext;
use crate::gateway::Gateway;
use crate::gateway::Settled;
use crate::guards::GuardState;
use crate::toolset::{Fault, is_unreachable};
use crate::{
    flow::{self, Action},
    pack::Pack,
    store::Event,
    toolset::Resources,
};
use agentctl_base::{
    model::{ToolCall, ToolResult, ToolStatus},
    question::{AnsweredBy, Outcome, Question},
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Why the loop came back.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Stop {
    /// The flow is at its end; `RunEnded` is written.
    Ended,
    Waiting,
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

/// Pure decisions in a row that no working flow needs: one that does not move on is a bug, not a reason to spin.
const MAX_DECISIONS_IN_A_ROW: u32 = 10_000;

/// The step that is worked on, and the agent that works; None: the flow itself does.
pub(super) struct AgentAt {
    pub agent: Option<String>,
    pub step: String,
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
    /// Of the whole run.
    pub limits: Limits,
    /// As they were set, for the run and for agents.
    pub budgets: Budgets,
    /// The step that is worked on, and since when.
    pub at_step: Option<(AgentAt, u64)>,
    pub guards: GuardState,
    pub recorder: RunRecorder<'a>,
    pub started_ms: u64,
    /// Work of earlier activations.
    pub worked_ms: u64,
    /// The same by step, and that of this activation's finished steps.
    pub worked_ms_of: BTreeMap<String, u64>,
    /// Work of this activation on attempts that are not over, by step.
    pub tried_ms_of: BTreeMap<String, u64>,
    /// Attempts of this activation that failed for now and were made again.
    pub retries: u32,
}

impl Driver<'_> {
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

    /// What stops a step stops the run, except for the step's own time.
    pub(super) fn cut_off(&mut self, stop: Stop) -> Result<Option<Stop>, RunError> {
        match stop {
            Stop::TooLate(late) => {
                self.fail_step(&late.step, late.error)?;
                Ok(None)
            }
            stop => Ok(Some(stop)),
        }
    }

    /// Waits, then says that the step is tried again.
    async fn again(
        &mut self,
        path: String,
        wait_ms: u64,
        decision: String,
    ) -> Result<Option<Stop>, RunError> {
        if wait_ms > 0 {
            tokio::select! {
                biased;
                () = self.recorder.effects.sleep(wait_ms) => {}
                cause = self.cancel.requested() => return Ok(Some(Stop::Interrupted(cause))),
            }
        }
        self.tried_anew(&path);
        self.record(
            Event::FlowDecided {
                step: path,
                decision,
            },
            false,
        )?;
        Ok(None)
    }

    pub(super) async fn drive(&mut self) -> Result<Stop, RunError> {
        let mut decisions = 0;
        loop {
            // Whoever listens for signals may share this thread; a model that answers at once would never let it run.
            tokio::task::yield_now().await;
            if let Some(cause) = self.cancel.cause() {
                return Ok(Stop::Interrupted(cause));
            }
            let action = flow::next(self.recorder.flow, &self.recorder.log)
                .map_err(|e| RunError::Pack(e.to_string()))?;
            if !matches!(action, Action::Record(_)) {
                decisions = 0;
            }
            if matches!(action, Action::Agent(_) | Action::Tool { .. })
                && let Some(stop) = self.plan_tools().await?
            {
                return Ok(stop);
            }
            let before = self.recorder.journal.head().0;
            let stop = match action {
                Action::Record(event) => {
                    decisions += 1;
                    self.record(event, false)?;
                    None
                }
                Action::Agent(step) => {
                    self.enter(&step.path, Some(&step.agent));
                    let stop = self.agent_step(&step).await?;
                    self.leave();
                    stop
                }
                Action::Ask { path, questions } => self.ask(&path, &questions)?,
                Action::Tool {
                    path,
                    role,
                    tool,
                    args,
                } => {
                    self.enter(&path, None);
                    let stop = self.flow_tool(&path, &role, &tool, args).await?;
                    self.leave();
                    stop
                }
                Action::Again {
                    path,
                    wait_ms,
                    decision,
                } => self.again(path, wait_ms, decision).await?,
                Action::End { outcome, message } => {
                    self.end(outcome, message)?;
                    Some(Stop::Ended)
                }
            };
            if let Some(stop) = stop {
                return Ok(stop);
            }
            if decisions > MAX_DECISIONS_IN_A_ROW || self.recorder.journal.head().0 == before {
                return Err(RunError::Internal(
                    "the flow does not move on from where it is".into(),
                ));
            }
        }
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
    fn ask(&mut self, step: &str, questions: &[Question]) -> Result<Option<Stop>, RunError> {
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
            self.recorder.observer.note(&note);
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

    async fn flow_tool(
        &mut self,
        step: &str,
        role: &str,
        tool: &str,
        args: Map<String, Value>,
    ) -> Result<Option<Stop>, RunError> {
        let call = ToolCall {
            id: step.to_owned(),
            name: tool.to_owned(),
            arguments: Value::Object(args).to_string(),
        };
        match self.tool_call(step, role, None, &call).await? {
            Ok(result) if result.status == ToolStatus::Ok => {
                self.finish_step(step, result.content)?;
                Ok(None)
            }
            Ok(result) => {
                let why = result.content.get("error").and_then(Value::as_str);
                let error = format!("{tool}: {}", why.unwrap_or("it did not succeed"));
                self.fail_step(step, error)?;
                Ok(None)
            }
            Err(stop) => self.cut_off(stop),
        }
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
        if let Some(result) = self.settled(step, role, offered, call).await? {
            return Ok(Ok(result));
        }
        loop {
            if let Some(cause) = self.cancel.cause() {
                return Ok(Err(Stop::Interrupted(cause)));
            }
            if let Some(late) = self.too_late() {
                return Ok(Err(Stop::TooLate(late)));
            }
            // What changes nothing may be let go in the middle; what does is waited for.
            let over = match self.step_left_ms() {
                Some(ms) if self.gateway.only_reads(&call.name) => self.recorder.effects.over(ms),
                _ => Box::pin(std::future::pending()),
            };
            let settled = {
                let mut cx = CallContext {
                    role,
                    step,
                    offered,
                    can_ask: true,
                    guards: &mut self.guards,
                    recorder: &mut self.recorder,
                };
                let settled = tokio::select! {
                    biased;
                    settled = self.gateway.call(&mut cx, call) => Some(settled),
                    () = over => None,
                };
                match settled {
                    Some(settled) => settled,
                    None => self.gateway.let_it_go(&mut cx, call).map(Settled::Done),
                }
            };
            self.recorder.sound()?;
            match settled.map_err(gateway_error)? {
                Settled::Done(result) => return Ok(Ok(result)),
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
            return Ok(Some(result.clone()));
        }
        let Some(intent) = trace.begun.get(&call.id).cloned() else {
            return Ok(None);
        };
        let mut cx = CallContext {
            role,
            step,
            offered,
            can_ask: true,
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
