//! The loop: ask the flow what can be done, do it, write down what came of it. Models are waited for together, in as many branches as
//! the flow lets be worked on at once; all else is done one thing after the other, by the one hand that holds the run's state. So a
//! change of what tools work on is never beside another one.

use super::{
    RunError,
    driver::{Driver, Stop},
    step::{AgentWork, Pace},
    under_way::{Came, UnderWay},
};
use crate::agent::Input;
use crate::flow::{self, Action};
use crate::store::{Event, event::StepPath};
use agentctl_base::model::{ModelError, ToolStatus};
use agentctl_base::question::Outcome;
use std::collections::{BTreeMap, BTreeSet};

/// Pure decisions in a row that no working flow needs: one that does not move on is a bug, not a reason to spin.
const MAX_DECISIONS_IN_A_ROW: u32 = 10_000;

/// A step that something is waited for.
enum Work {
    Agent(Box<AgentWork>),
    /// It is tried again after a wait; the decision says so.
    Again(String),
}

/// What is worked on.
#[derive(Default)]
struct Desk<'a> {
    under_way: UnderWay<'a>,
    work: BTreeMap<StepPath, Work>,
    /// Steps that wait for a person.
    waiting: BTreeSet<StepPath>,
}

impl<'a> Driver<'a> {
    pub(super) async fn drive(&mut self) -> Result<Stop, RunError> {
        self.drive_to_end(None).await
    }

    /// The same for the flow that an agent's call of a tool is; `path`: where that flow stands. Ended: something came of it.
    pub(super) async fn drive_called(&mut self, path: &str) -> Result<Stop, RunError> {
        self.drive_to_end(Some(path)).await
    }

    async fn drive_to_end(&mut self, called: Option<&str>) -> Result<Stop, RunError> {
        let mut desk = Desk::default();
        let end = self.go_on(&mut desk, called).await;
        let end = match end {
            Err(RunError::Model(ModelError::Failed { .. } | ModelError::GaveUp { .. }))
                if self.gave_up_at_a_no() =>
            {
                Ok(Stop::Declined)
            }
            Err(RunError::Model(ModelError::GaveUp { reason })) if self.was_refused() => {
                Ok(Stop::GaveUp(reason))
            }
            Err(RunError::Model(ModelError::GaveUp { reason })) => {
                Err(RunError::Stuck { message: reason })
            }
            end => end,
        };
        // A journal that cannot be written is not written to.
        if !matches!(end, Err(RunError::Store(_))) {
            let waits = !matches!(end, Ok(Stop::Interrupted(_)));
            self.clear(desk, waits).await?;
        }
        match end {
            Ok(Stop::Declined) if called.is_none() => self.refused_with("you said no"),
            Ok(Stop::GaveUp(why)) if called.is_none() => self.refused_with(&why),
            end => end,
        }
    }

    /// A model that sees no other way than the one to which the user said no has not failed.
    fn gave_up_at_a_no(&self) -> bool {
        self.was_refused() && self.guards.said_no(None)
    }

    /// Whether the call that returned last was refused.
    fn was_refused(&self) -> bool {
        let last = self.recorder.view.returned().pop();
        last.is_some_and(|(_, r)| r.result.status == ToolStatus::Refused)
    }

    /// A no, the user's or a rule's, is the end of the run, and says what became of the rest.
    fn refused_with(&mut self, why: &str) -> Result<Stop, RunError> {
        let changed = self.recorder.view.changed_resources();
        let message = match changed.as_slice() {
            [] => format!("{why}; nothing was changed"),
            ids => format!(
                "{why}; what the run had changed before stays: {} (agentctl undo takes it back)",
                ids.join(", ")
            ),
        };
        self.end(Outcome::Refused, message)?;
        Ok(Stop::Ended)
    }

    /// Goes on until something stops the run. `called`: only in the flow that stands there.
    async fn go_on(&mut self, desk: &mut Desk<'a>, called: Option<&str>) -> Result<Stop, RunError> {
        let mut decisions = 0;
        loop {
            // Whoever listens for signals may share this thread; a model that answers at once would never let it run.
            tokio::task::yield_now().await;
            if let Some(cause) = self.cancel.cause() {
                return Ok(Stop::Interrupted(cause));
            }
            let (whole, log) = (self.recorder.flow, &self.recorder.log);
            let ready = match called {
                None => flow::ready(whole, log).map(Some),
                Some(path) => flow::ready_called(whole, log, path),
            };
            let ready = ready.map_err(|e| RunError::Pack(e.to_string()))?;
            let Some(mut actions) = ready else {
                return Ok(Stop::Ended);
            };
            self.let_go(desk, &actions);
            if let [Action::Record(event)] = actions.as_slice() {
                decisions += 1;
                self.record(event.clone(), false)?;
                if decisions > MAX_DECISIONS_IN_A_ROW {
                    return Err(stuck());
                }
                continue;
            }
            decisions = 0;
            if let [Action::End { outcome, message }] = actions.as_slice() {
                self.end(*outcome, message.clone())?;
                return Ok(Stop::Ended);
            }
            // What was begun and has no result comes first: until it is known what became of it, nothing else is done.
            actions.sort_by_key(|action| !self.is_unsettled(action));
            let new = |action: &Action| step_of(action).is_some_and(|step| !desk.has(step));
            let paced = match actions.into_iter().find(new) {
                Some(action) => self.begin(desk, action).await?,
                None => match self.next_of(&mut desk.under_way).await {
                    Some((step, came)) => self.take(desk, step, came).await?,
                    None if desk.waiting.is_empty() => return Err(stuck()),
                    None => return Ok(Stop::Waiting),
                },
            };
            if let Some(stop) = paced {
                return Ok(stop);
            }
        }
    }

    /// Begins what the flow says.
    async fn begin(
        &mut self,
        desk: &mut Desk<'a>,
        action: Action,
    ) -> Result<Option<Stop>, RunError> {
        if matches!(action, Action::Agent(_) | Action::Tool { .. })
            && let Some(stop) = self.plan_tools().await?
        {
            return Ok(Some(stop));
        }
        let before = self.recorder.journal.head().0;
        let (step, pace) = match action {
            Action::Agent(step) => {
                self.enter(&step.path, Some(&step.agent));
                let mut work = Box::new(self.agent_work(step)?);
                let pace = self.agent_goes_on(&mut work, Input::Start, &mut desk.under_way);
                let pace = pace.await?;
                let path = work.step.path.clone();
                desk.work.insert(path.clone(), Work::Agent(work));
                (path, pace)
            }
            Action::Ask { path, questions } => {
                let pace = match self.ask(&path, &questions)? {
                    Some(stop) => Pace::Stops(stop),
                    None => Pace::Over,
                };
                (path, pace)
            }
            Action::Tool {
                path,
                role,
                tool,
                args,
            } => {
                self.enter(&path, None);
                let made = self.flow_tool(&path, &role, &tool, args);
                let pace = desk.under_way.beside(made).await?;
                (path, pace)
            }
            Action::Again {
                path,
                wait_ms,
                decision,
            } => {
                desk.work.insert(path.clone(), Work::Again(decision));
                self.begin_wait(&path, wait_ms, &mut desk.under_way);
                (path, Pace::Waits)
            }
            Action::Record(_) | Action::End { .. } => return Err(stuck()),
        };
        if matches!(pace, Pace::Over) && self.recorder.journal.head().0 == before {
            return Err(stuck());
        }
        Ok(self.paced(desk, step, pace))
    }

    /// Takes what came of what was waited for.
    async fn take(
        &mut self,
        desk: &mut Desk<'a>,
        step: StepPath,
        came: Came,
    ) -> Result<Option<Stop>, RunError> {
        let Some(work) = desk.work.get_mut(&step) else {
            return Ok(None);
        };
        self.look_after(&step);
        let pace = match (work, came) {
            (Work::Agent(work), came) => self.agent_heard(work, came, &mut desk.under_way).await?,
            (Work::Again(_), Came::Interrupted(cause)) => Pace::Stops(Stop::Interrupted(cause)),
            (Work::Again(decision), _) => {
                let event = Event::FlowDecided {
                    step: step.clone(),
                    decision: decision.clone(),
                };
                self.tried_anew(&step);
                self.record(event, false)?;
                Pace::Over
            }
        };
        Ok(self.paced(desk, step, pace))
    }

    /// Whoever waits for a person holds up nobody else; what else stops a step stops the run.
    fn paced(&mut self, desk: &mut Desk<'a>, step: StepPath, pace: Pace) -> Option<Stop> {
        if matches!(pace, Pace::Waits) {
            return None;
        }
        desk.work.remove(&step);
        self.leave(&step);
        match pace {
            Pace::Stops(Stop::Waiting) => {
                desk.waiting.insert(step);
                None
            }
            Pace::Stops(stop) => Some(stop),
            Pace::Waits | Pace::Over => None,
        }
    }

    /// Lets go what the flow does not wait for any more: the branches around it came together without it.
    fn let_go(&mut self, desk: &mut Desk<'a>, actions: &[Action]) {
        if let [Action::Record(_)] = actions {
            return;
        }
        let wanted = |step: &StepPath| actions.iter().any(|a| step_of(a) == Some(step));
        let idle: Vec<StepPath> = desk.work.keys().filter(|s| !wanted(s)).cloned().collect();
        for step in idle {
            desk.work.remove(&step);
            desk.under_way.give_up(&step);
            self.leave(&step);
        }
        desk.waiting.retain(wanted);
    }

    /// The run stops: what was asked and paid for is kept. `waits`: also what is still to come.
    async fn clear(&mut self, mut desk: Desk<'a>, waits: bool) -> Result<(), RunError> {
        loop {
            let came = match waits {
                true => self.next_of(&mut desk.under_way).await,
                false => desk.under_way.come(),
            };
            let Some((step, came)) = came else {
                return Ok(());
            };
            match (desk.work.get(&step), came) {
                (Some(Work::Agent(work)), Came::Answer(Ok(answer))) => {
                    if let Some(asking) = &work.asking {
                        self.record_answer(asking, &answer)?;
                    }
                }
                (_, Came::Interrupted(_)) => return Ok(()),
                _ => {}
            }
        }
    }

    /// One of the step's calls was begun, and nobody knows what became of it.
    fn is_unsettled(&self, action: &Action) -> bool {
        let trace = step_of(action).and_then(|step| self.recorder.view.trace(step));
        trace.is_some_and(|trace| trace.unsettled().next().is_some())
    }
}

impl Desk<'_> {
    fn has(&self, step: &str) -> bool {
        self.work.contains_key(step) || self.waiting.contains(step)
    }
}

/// The step that an action works on; None: it is a decision.
fn step_of(action: &Action) -> Option<&StepPath> {
    match action {
        Action::Agent(step) => Some(&step.path),
        Action::Ask { path, .. } | Action::Tool { path, .. } | Action::Again { path, .. } => {
            Some(path)
        }
        Action::Record(_) | Action::End { .. } => None,
    }
}

fn stuck() -> RunError {
    RunError::Internal("the flow does not move on from where it is".into())
}
