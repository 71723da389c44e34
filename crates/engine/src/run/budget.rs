//! What a run has used of what it may use: the whole run, and the agent that is at work. Looked at before each call.

use super::{
    RunUsage,
    driver::{AgentAt, Driver, Stop, TooLate},
    limits::{Limits, Next},
};
use crate::flow::Step;

impl Driver<'_> {
    /// Before each paid or outward action: a stop that was asked for, or a limit that is reached.
    pub(super) fn may_go_on(&self) -> Option<Stop> {
        if let Some(cause) = self.cancel.cause() {
            return Some(Stop::Interrupted(cause));
        }
        let of_run = self
            .limits
            .spent("the run", &self.recorder.view.usage, self.elapsed_ms());
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
                .or_else(|| self.limits.forbids("the run", &view.usage, next))
                .or_else(of_agent)
                .map(Stop::Budget)
        })
    }

    /// The limits of the agent at work, and what all its steps used; None: none were set for it.
    fn of_agent(&self) -> Option<(String, Limits, RunUsage)> {
        let agent = self.agent_at_work()?;
        let limits = self.budgets.agents.get(agent)?;
        let usage = self
            .recorder
            .view
            .usage_of
            .iter()
            .filter(|(step, _)| self.is_of(step, agent))
            .fold(RunUsage::default(), |sum, (_, of_step)| sum.plus(of_step));
        let whose = format!("the agent {agent}");
        Some((whose, Limits::default().lowered(limits), usage))
    }

    fn agent_at_work(&self) -> Option<&str> {
        let (at, _) = self.at_step.as_ref()?;
        at.agent.as_deref()
    }

    fn is_of(&self, step: &str, agent: &str) -> bool {
        let at = self.recorder.flow.step_at(step);
        at.and_then(Step::agent) == Some(agent)
    }

    /// Work of the agent at work, in all its steps.
    fn agent_ms(&self) -> u64 {
        let (Some(agent), Some((_, since))) = (self.agent_at_work(), &self.at_step) else {
            return 0;
        };
        let before: u64 = self
            .worked_ms_of
            .iter()
            .filter(|(step, _)| self.is_of(step, agent))
            .map(|(_, ms)| ms)
            .sum();
        let now = self.recorder.effects.elapsed_ms();
        before.saturating_add(now.saturating_sub(*since))
    }

    /// `agent`: who works on it; None: the flow itself.
    pub(super) fn enter(&mut self, step: &str, agent: Option<&str>) {
        let at = AgentAt {
            agent: agent.map(str::to_owned),
            step: step.to_owned(),
        };
        self.at_step = Some((at, self.recorder.effects.elapsed_ms()));
    }

    pub(super) fn leave(&mut self) {
        if let Some((at, since)) = self.at_step.take() {
            let worked = self.recorder.effects.elapsed_ms().saturating_sub(since);
            *self.tried_ms_of.entry(at.step.clone()).or_default() += worked;
            if at.agent.is_some() {
                *self.worked_ms_of.entry(at.step).or_default() += worked;
            }
        }
    }

    /// What was worked on the attempts before this one does not count for it.
    pub(super) fn tried_anew(&mut self, step: &str) {
        self.tried_ms_of.retain(|of, _| !is_within(of, step));
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
        let at = self.at_step.as_ref();
        let ends = at.into_iter().flat_map(|(at, since)| {
            let whole = at.step.as_str();
            let inner = whole.match_indices('/').map(|(end, _)| end);
            inner
                .chain([whole.len()])
                .filter_map(|end| Some((whole.get(..end)?, *since)))
        });
        ends.filter_map(|(step, since)| {
            let limit = self.recorder.flow.step_at(step)?.timeout_ms?;
            let before: u64 = self
                .tried_ms_of
                .iter()
                .filter(|(of, _)| is_within(of, step))
                .map(|(_, ms)| ms)
                .sum();
            let now = self.recorder.effects.elapsed_ms();
            let worked = before.saturating_add(now.saturating_sub(since));
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

/// Whether the step is the other one, or inside of it.
fn is_within(step: &str, of: &str) -> bool {
    let rest = step.strip_prefix(of);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '[']))
}
