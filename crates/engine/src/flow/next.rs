//! What comes next. Total and deterministic: for every log there is one action or one error, whatever was cut off before.

use super::FlowError;
use super::log::ATTEMPT;
use super::merge::{check_patch, without_blanks};
use super::model::{AgentSpec, End, Flow, GateSpec, Otherwise, PROGRAM, SaySpec, Step, StepKind};
use super::prepare::prepare;
use super::run_log::{Brief, Conversation, Prepared, RunLog, StepRecord, StepStatus};
use super::scope::{holds, text, value};
use crate::condition::Condition;
use crate::store::event::{Event, StepPath};
use agentctl_base::question::{Outcome, Question};
use indexmap::IndexMap;
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// A pure decision: the driver journals it, applies it to the log and calls [`next`] again.
    Record(Event),
    Agent(AgentStep),
    /// The questions of a step that have no answer yet and must be put to the user; never empty. The driver journals
    /// `QuestionAsked` for each and `AnswerGiven` for each answer; an optional one may stay open.
    Ask {
        path: StepPath,
        questions: Vec<Question>,
    },
    /// The flow itself calls a tool, as `role`, through the same gateway as everybody.
    Tool {
        path: StepPath,
        role: String,
        tool: String,
        args: Map<String, Value>,
    },
    /// The step failed and is tried again: the driver waits, then journals the decision.
    Again {
        path: StepPath,
        wait_ms: u64,
        decision: String,
    },
    End {
        outcome: Outcome,
        message: String,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct AgentStep {
    pub path: StepPath,
    pub agent: String,
    pub task: String,
    pub instructions: String,
    /// Frozen when the step started.
    pub input: Map<String, Value>,
    /// JSON Schema of the answer.
    pub contract: Value,
    /// State fields that the step may write.
    pub writes: Vec<String>,
    /// Model calls, at most.
    pub max_turns: u32,
    /// False: the agent is asked for its word alone and has no tools in this step.
    pub tools: bool,
    /// Of its tools only these; empty: all.
    pub only: Vec<String>,
    /// Said before the task.
    pub conversation: Conversation,
    /// The key of the answer whose text is shown while it comes.
    pub speak: Option<String>,
}

/// How a list of steps goes on.
pub(super) enum Walk {
    /// What can be done now; never empty. More than one: each in a branch of its own.
    Act(Vec<Action>),
    Through,
    Leave(String),
    Exhaust(String),
    End(Outcome, String),
}

impl Walk {
    pub fn one(action: Action) -> Walk {
        Walk::Act(vec![action])
    }
}

/// Decisions are taken one at a time, and before any work: they change what can be done.
pub(super) fn first_decision(actions: Vec<Action>) -> Vec<Action> {
    let decision = |action: &Action| matches!(action, Action::Record(_));
    match actions.iter().position(decision) {
        Some(at) => actions.into_iter().skip(at).take(1).collect(),
        None => actions,
    }
}

/// The next action of a run, for whoever does one thing at a time: a branch is gone through before the next one begins.
pub fn next(flow: &Flow, log: &RunLog) -> Result<Action, FlowError> {
    let action = walked(flow, log)?.into_iter().next();
    action.ok_or_else(|| FlowError::Step {
        step: flow.name.clone(),
        message: "nothing can be done, and the flow is not at its end".to_owned(),
    })
}

/// What can be done now: one decision, or work in as many branches as may be worked on at once.
pub fn ready(flow: &Flow, log: &RunLog) -> Result<Vec<Action>, FlowError> {
    walked(flow, log).map(first_decision)
}

fn walked(flow: &Flow, log: &RunLog) -> Result<Vec<Action>, FlowError> {
    if let Some((outcome, _, message)) = log.ended() {
        return Ok(vec![Action::End {
            outcome,
            message: message.to_owned(),
        }]);
    }
    let (outcome, message) = match (Walker {
        flow,
        log,
        own: true,
    })
    .list(&flow.steps, "")?
    {
        Walk::Act(actions) => return Ok(actions),
        Walk::End(outcome, message) => (outcome, message),
        // The loader lets no gate name a loop that is not around it.
        Walk::Leave(id) | Walk::Exhaust(id) => {
            return Err(FlowError::Step {
                step: id,
                message: "a gate outside of this loop wants to leave it".to_owned(),
            });
        }
        Walk::Through => {
            let message = match &flow.finish {
                Some(finish) => text(flow, log, "", finish)?,
                None => String::new(),
            };
            let outcome = if flow.blocked_stage.as_deref() == Some(log.stage()) {
                Outcome::Blocked
            } else {
                Outcome::Complete
            };
            (outcome, message)
        }
    };
    let target = match outcome {
        Outcome::Complete | Outcome::Draft => flow.stages.last(),
        Outcome::Blocked => flow.blocked_stage.as_ref(),
        _ => None,
    };
    if let Some(action) = target.and_then(|stage| towards(flow, log, stage)) {
        return Ok(vec![action]);
    }
    Ok(vec![Action::End { outcome, message }])
}

/// One step of the stage towards `target`; None: it is there, or further. Every stage in between is passed through.
fn towards(flow: &Flow, log: &RunLog, target: &str) -> Option<Action> {
    let now = flow.stage_index(log.stage())?;
    let to = if flow.blocked_stage.as_deref() == Some(target) {
        target
    } else if flow.stage_index(target)? > now {
        flow.stages.get(now + 1)?
    } else {
        return None;
    };
    Some(Action::Record(Event::StageChanged {
        from: log.stage().to_owned(),
        to: to.to_owned(),
    }))
}

#[derive(Clone, Copy)]
pub(super) struct Walker<'a> {
    pub flow: &'a Flow,
    pub log: &'a RunLog,
    /// It is the run's own flow: only that one has a stage.
    pub own: bool,
}

pub(super) fn decided(path: &str, decision: impl Into<String>) -> Walk {
    Walk::one(Action::Record(Event::FlowDecided {
        step: path.to_owned(),
        decision: decision.into(),
    }))
}

/// How it goes on behind a step that failed.
pub(super) fn failed(step: &Step, path: &str, record: &StepRecord) -> Walk {
    if let Some(again) = again(step, path, record) {
        return Walk::one(again);
    }
    if step.continue_on_failure {
        return Walk::Through;
    }
    let error = record.error.as_deref().unwrap_or("no reason given");
    Walk::End(Outcome::Failed, format!("step {path} failed: {error}"))
}

pub(super) fn record(event: Event) -> Result<Walk, FlowError> {
    Ok(Walk::one(Action::Record(event)))
}

/// The next attempt of a step that failed; None: there is none.
pub(super) fn again(step: &Step, path: &str, record: &StepRecord) -> Option<Action> {
    let retry = step.retry?;
    let tried = record.failed_attempts + 1;
    (tried < retry.attempts).then(|| Action::Again {
        path: path.to_owned(),
        wait_ms: retry.wait_ms(tried),
        decision: format!("{ATTEMPT}{}", tried + 1),
    })
}

pub(super) fn case(path: &str, name: &str) -> Walk {
    decided(path, format!("case {name}"))
}

impl Walker<'_> {
    pub fn list(self, steps: &[Step], prefix: &str) -> Result<Walk, FlowError> {
        for step in steps {
            let path = if prefix.is_empty() {
                step.id.clone()
            } else {
                format!("{prefix}/{}", step.id)
            };
            match self.step(step, &path)? {
                Walk::Through => {}
                other => return Ok(other),
            }
        }
        Ok(Walk::Through)
    }

    fn step(self, step: &Step, path: &str) -> Result<Walk, FlowError> {
        let record = self.log.step_record(path);
        match (record.map(|r| r.status), &step.when) {
            // A gate that was passed, and a case that was chosen, still say where it goes on.
            (Some(StepStatus::Skipped | StepStatus::Done), _)
                if !matches!(step.kind, StepKind::Gate(_) | StepKind::Route(_)) =>
            {
                return Ok(Walk::Through);
            }
            (Some(StepStatus::Skipped), _) => return Ok(Walk::Through),
            (None, Some(when)) => {
                let taken = holds(self.flow, self.log, path, when)?;
                return Ok(decided(path, if taken { "taken" } else { "skipped" }));
            }
            _ => {}
        }
        let entering = !record.is_some_and(|r| r.cycle > 0 || r.status != StepStatus::Taken);
        if entering
            && self.own
            && let Some(stage) = &step.stage
            && let Some(action) = towards(self.flow, self.log, stage)
        {
            return Ok(Walk::one(action));
        }
        match &step.kind {
            StepKind::Agent(_) | StepKind::Ask(_) | StepKind::Tool(_) => {
                self.work(step, path, record)
            }
            StepKind::Call(spec) => self.call(step, spec, path, record),
            StepKind::Set(fields) => self.set(path, fields),
            StepKind::Gate(gate) => self.gate(path, gate, record),
            StepKind::Route(route) => self.route(path, route, record),
            StepKind::Loop(l) => self.cycles(path, l, record),
            StepKind::Say(spec) => self.say(path, spec),
            StepKind::Clear(spec) => Ok(Walk::one(Action::Record(Event::Cleared {
                step: path.to_owned(),
                fields: spec.fields.clone(),
                messages: spec.messages,
            }))),
            StepKind::End(end) => self.end(path, end),
            StepKind::Block(steps) => self.list(steps, path),
            StepKind::Parallel(spec) => self.branches(step, path, record, spec.how),
            StepKind::ForEach(spec) => self.branches(step, path, record, spec.how),
        }
    }

    fn say(self, path: &str, spec: &SaySpec) -> Result<Walk, FlowError> {
        let given = |condition: &Option<Condition>| match condition {
            Some(condition) => value(self.flow, self.log, path, condition),
            None => Ok(Value::Null),
        };
        let attachment = match given(&spec.attachment)? {
            Value::Null => None,
            Value::String(place) => Some(place),
            other => {
                return Err(FlowError::Step {
                    step: path.to_owned(),
                    message: format!("an attachment is a text or null, not {other}"),
                });
            }
        };
        Ok(Walk::one(Action::Record(Event::Said {
            step: path.to_owned(),
            text: text(self.flow, self.log, path, &spec.text)?,
            data: given(&spec.data)?,
            attachment,
        })))
    }

    fn work(self, step: &Step, path: &str, record: Option<&StepRecord>) -> Result<Walk, FlowError> {
        let Some(record) = record.filter(|r| r.status != StepStatus::Taken) else {
            // Prepared once here, so that a mistake shows before anything is journaled.
            prepare(self.flow, self.log, step, path)?;
            return Ok(Walk::one(Action::Record(Event::StepStarted {
                step: path.to_owned(),
            })));
        };
        if record.status == StepStatus::Failed {
            return Ok(failed(step, path, record));
        }
        let action = match (&step.kind, &record.prepared) {
            (StepKind::Agent(spec), Prepared::Agent(brief)) => {
                Action::Agent(self.agent(spec, path, brief))
            }
            (StepKind::Tool(spec), Prepared::Input(args)) => Action::Tool {
                path: path.to_owned(),
                role: spec.role.clone(),
                tool: spec.tool.clone(),
                args: args.clone(),
            },
            (StepKind::Ask(_), Prepared::Questions(questions)) => self.ask(path, questions),
            _ => {
                return Err(FlowError::Step {
                    step: path.to_owned(),
                    message: "the journal has work of this step before its start".to_owned(),
                });
            }
        };
        Ok(Walk::one(action))
    }

    fn agent(self, spec: &AgentSpec, path: &str, brief: &Brief) -> AgentStep {
        AgentStep {
            path: path.to_owned(),
            agent: spec.agent.clone(),
            task: spec.task.clone(),
            instructions: spec.instructions.clone(),
            input: brief.input.clone(),
            contract: spec.contract.value().clone(),
            writes: spec.writes.clone(),
            max_turns: spec.max_turns.unwrap_or(self.flow.limits.max_turns),
            tools: true,
            only: spec.tools.clone(),
            conversation: brief.conversation.clone(),
            speak: spec.speak.as_deref().map(str::to_owned),
        }
    }

    /// A required question is asked until it is answered, an optional one once.
    fn ask(self, path: &str, questions: &[Question]) -> Action {
        let open = |q: &&Question| self.log.answer(&q.id).is_none();
        let must: Vec<Question> = questions
            .iter()
            .filter(open)
            .filter(|q| q.required || self.log.asked_by(&q.id) != Some(path))
            .cloned()
            .collect();
        if must.is_empty() {
            let answers: Map<String, Value> = questions
                .iter()
                .filter_map(|q| Some((q.id.clone(), self.log.answer(&q.id)?.clone())))
                .collect();
            return Action::Record(Event::StepFinished {
                step: path.to_owned(),
                output: Value::Object(answers),
            });
        }
        Action::Ask {
            path: path.to_owned(),
            questions: must,
        }
    }

    fn set(self, path: &str, fields: &IndexMap<String, Condition>) -> Result<Walk, FlowError> {
        let mut patch = Map::new();
        for (field, condition) in fields {
            patch.insert(field.clone(), value(self.flow, self.log, path, condition)?);
        }
        let patch = without_blanks(self.flow, patch);
        if let Some(refusal) =
            check_patch(self.flow, PROGRAM, self.log.state_at(path), &patch).first()
        {
            return Err(FlowError::Step {
                step: path.to_owned(),
                message: refusal.message.clone(),
            });
        }
        Ok(Walk::one(Action::Record(Event::StatePatched {
            step: path.to_owned(),
            agent: PROGRAM.to_owned(),
            patch,
        })))
    }

    fn gate(
        self,
        path: &str,
        gate: &GateSpec,
        record: Option<&StepRecord>,
    ) -> Result<Walk, FlowError> {
        match record
            .filter(|r| r.status == StepStatus::Done)
            .and_then(|r| r.decision.as_deref())
        {
            None => {
                let passed = holds(self.flow, self.log, path, &gate.that)?;
                Ok(decided(path, if passed { "passed" } else { "stopped" }))
            }
            Some("passed") => Ok(Walk::Through),
            Some(_) => match &gate.otherwise {
                Otherwise::Leave(id) => Ok(Walk::Leave(id.clone())),
                Otherwise::Exhaust(id) => Ok(Walk::Exhaust(id.clone())),
                Otherwise::End(end) => self.end(path, end),
            },
        }
    }

    pub fn end(self, path: &str, end: &End) -> Result<Walk, FlowError> {
        let message = match &end.message {
            Some(message) => text(self.flow, self.log, path, message)?,
            None => String::new(),
        };
        Ok(Walk::End(end.outcome, message))
    }
}
