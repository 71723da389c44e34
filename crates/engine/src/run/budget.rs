//! What a run has used of what it may use: the whole run, and the agent that is at work. Looked at before each call. What calls under
//! way will use at least is reserved, so that several at once cannot go beyond a limit together.

use super::{
    RunUsage,
    driver::{Driver, Stop, TooLate},
    limits::{Limits, Next},
};
use crate::flow::{Step, within};
use crate::store::event::StepPath;
use std::collections::BTreeMap;

/// Who works on a step (None: the flow itself), and since when.
pub(super) struct AtWork {
    agent: Option<String>,
    since_ms: u64,
}

/// The work of this activation on a step and on what is inside of it. What is done at the same time counts once.
#[derive(Default)]
pub(super) struct Clock {
    worked_ms: u64,
    at_work: u32,
    since_ms: u64,
}

impl Clock {
    fn enter(&mut self, now: u64) {
        if self.at_work == 0 {
            self.since_ms = now;
        }
        self.at_work += 1;
    }

    fn leave(&mut self, now: u64) {
        self.at_work = self.at_work.saturating_sub(1);
        if self.at_work == 0 {
            self.worked_ms += now.saturating_sub(self.since_ms);
        }
    }

    fn ms(&self, now: u64) -> u64 {
        match self.at_work {
            0 => self.worked_ms,
            _ => self.worked_ms + now.saturating_sub(self.since_ms),
        }
    }
}

/// Steps at work, by path.
#[derive(Default)]
pub(super) struct Hours {
    at_work: BTreeMap<StepPath, AtWork>,
    /// The one that is looked after at this moment.
    current: Option<StepPath>,
    clocks: BTreeMap<StepPath, Clock>,
}

impl Hours {
    fn enter(&mut self, step: &str, agent: Option<&str>, now: u64) {
        for around in around(step) {
            self.clocks.entry(around.to_owned()).or_default().enter(now);
        }
        let at = AtWork {
            agent: agent.map(str::to_owned),
            since_ms: now,
        };
        self.at_work.insert(step.to_owned(), at);
        self.current = Some(step.to_owned());
    }

    fn leave(&mut self, step: &str, now: u64) -> Option<AtWork> {
        let left = self.at_work.remove(step)?;
        for around in around(step) {
            if let Some(clock) = self.clocks.get_mut(around) {
                clock.leave(now);
            }
        }
        if self.current.as_deref() == Some(step) {
            self.current = None;
        }
        Some(left)
    }

    fn forget(&mut self, step: &str) {
        self.clocks.retain(|of, _| !within(of, step));
    }

    fn agent(&self) -> Option<&str> {
        self.at_work.get(self.current.as_ref()?)?.agent.as_deref()
    }
}

/// The step and those around it, outermost first; of an item of a list the step that goes through the list.
fn around(step: &str) -> impl Iterator<Item = &str> {
    let ends = step.match_indices('/').map(|(end, _)| end);
    ends.chain([step.len()]).filter_map(|end| {
        let path = step.get(..end)?;
        Some(match path.strip_suffix(']') {
            Some(item) => item.rsplit_once('[')?.0,
            None => path,
        })
    })
}

impl Driver<'_> {
    /// Before each paid or outward action: a stop that was asked for, or a limit that is reached.
    pub(super) fn may_go_on(&self) -> Option<Stop> {
        if let Some(cause) = self.cancel.cause() {
            return Some(Stop::Interrupted(cause));
        }
        let of_run = self
            .limits
            .spent("the run", &self.used(), self.elapsed_ms());
        let of_agent = || {
            let (whose, limits, usage) = self.of_agent()?;
            limits.spent(&whose, &usage, self.agent_ms())
        };
        let late = || self.too_late().map(Stop::TooLate);
        of_run.or_else(of_agent).map(Stop::Budget).or_else(late)
    }

    /// The same before a call of a model, with what that call will use at least.
    pub(super) fn may_ask(&self, next: &Next) -> Option<Stop> {
        self.may_go_on().or_else(|| {
            let view = &self.recorder.view;
            let repeated = self.limits.repeated(view.most_repeated.as_ref());
            let of_agent = || {
                let (whose, limits, usage) = self.of_agent()?;
                limits.forbids(&whose, &usage, next)
            };
            repeated
                .or_else(|| self.limits.forbids("the run", &self.used(), next))
                .or_else(of_agent)
                .map(Stop::Budget)
        })
    }

    /// What the run used, and what calls under way will.
    fn used(&self) -> RunUsage {
        let reserved = self.reserved.values();
        reserved.fold(self.recorder.view.usage, |sum, of_step| sum.plus(of_step))
    }

    /// The limits of the agent at work, and what all its steps used; None: none were set for it.
    fn of_agent(&self) -> Option<(String, Limits, RunUsage)> {
        let agent = self.hours.agent()?;
        let limits = self.budgets.agents.get(agent)?;
        let used = self.recorder.view.usage_of.iter();
        let usage = used
            .chain(&self.reserved)
            .filter(|(step, _)| self.is_of(step, agent))
            .fold(RunUsage::default(), |sum, (_, of_step)| sum.plus(of_step));
        let whose = format!("the agent {agent}");
        Some((whose, Limits::default().lowered(limits), usage))
    }

    fn is_of(&self, step: &str, agent: &str) -> bool {
        let at = self.recorder.flow.step_at(step);
        at.and_then(Step::agent) == Some(agent)
    }

    /// Work of the agent at work, in all its steps.
    fn agent_ms(&self) -> u64 {
        let Some(agent) = self.hours.agent() else {
            return 0;
        };
        let before = self.worked_ms_of.iter();
        let before = before
            .filter(|(step, _)| self.is_of(step, agent))
            .map(|(_, ms)| *ms);
        let now = self.recorder.effects.elapsed_ms();
        let at_work = self.hours.at_work.values();
        let at_work = at_work
            .filter(|at| at.agent.as_deref() == Some(agent))
            .map(|at| now.saturating_sub(at.since_ms));
        before.chain(at_work).fold(0, u64::saturating_add)
    }

    /// `agent`: who works on it; None: the flow itself.
    pub(super) fn enter(&mut self, step: &str, agent: Option<&str>) {
        let now = self.recorder.effects.elapsed_ms();
        self.hours.enter(step, agent, now);
    }

    /// Goes on with a step at work.
    pub(super) fn look_after(&mut self, step: &str) {
        self.hours.current = Some(step.to_owned());
    }

    pub(super) fn leave(&mut self, step: &str) {
        self.reserved.remove(step);
        let now = self.recorder.effects.elapsed_ms();
        if let Some(left) = self.hours.leave(step, now)
            && left.agent.is_some()
        {
            let worked = now.saturating_sub(left.since_ms);
            *self.worked_ms_of.entry(step.to_owned()).or_default() += worked;
        }
    }

    /// What was worked on the attempts before this one does not count for it.
    pub(super) fn tried_anew(&mut self, step: &str) {
        self.hours.forget(step);
    }

    /// Time that is left to the attempt at the step that is worked on, and to those at the steps around it; None: without a limit.
    pub(super) fn step_left_ms(&self) -> Option<u64> {
        self.deadlines().map(|(_, _, left)| left).min()
    }

    /// The outermost step around the work whose time is over.
    pub(super) fn too_late(&self) -> Option<TooLate> {
        let (step, limit, _) = self.deadlines().find(|(_, _, left)| *left == 0)?;
        Some(TooLate {
            error: format!("it took longer than {} s", limit / 1000),
            step: step.to_owned(),
        })
    }

    /// Outermost first: the step, its limit, and what is left of it, in milliseconds.
    fn deadlines(&self) -> impl Iterator<Item = (&str, u64, u64)> {
        let now = self.recorder.effects.elapsed_ms();
        let current = self.hours.current.as_deref().into_iter();
        current.flat_map(around).filter_map(move |step| {
            let limit = self.recorder.flow.step_at(step)?.timeout_ms?;
            let worked = self.hours.clocks.get(step).map_or(0, |clock| clock.ms(now));
            Some((step, limit, limit.saturating_sub(worked)))
        })
    }

    /// Time that is left to the call of a model; None: without a limit.
    pub(super) fn left_ms(&self) -> Option<u64> {
        let of_run = self.limits.left_ms(self.elapsed_ms());
        let of_agent = self
            .of_agent()
            .and_then(|(_, limits, _)| limits.left_ms(self.agent_ms()));
        let of_step = self.step_left_ms();
        of_run.into_iter().chain(of_agent).chain(of_step).min()
    }

    /// Work of all activations.
    pub(super) fn elapsed_ms(&self) -> u64 {
        self.recorder
            .effects
            .elapsed_ms()
            .saturating_sub(self.started_ms)
            .saturating_add(self.worked_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_worked_on_at_the_same_time_counts_once() {
        let mut hours = Hours::default();
        hours.enter("p/x/a", None, 0);
        hours.enter("p/y/b", Some("agent"), 10);
        assert_eq!(hours.agent(), Some("agent"));
        hours.leave("p/x/a", 30);
        hours.leave("p/y/b", 50);
        hours.enter("p/x/c[2]/d", None, 100);
        let ms = |of: &str| hours.clocks.get(of).map(|clock| clock.ms(107));
        let of = ["p", "p/x", "p/y", "p/x/a", "p/x/c", "p/x/c[2]"].map(ms);
        assert_eq!(of, [Some(57), Some(37), Some(40), Some(30), Some(7), None]);
        hours.forget("p/x");
        assert!(hours.clocks.keys().eq(["p", "p/y", "p/y/b"]));
    }
}
