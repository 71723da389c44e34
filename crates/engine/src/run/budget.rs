//! What a run has used of what it may use: the whole run, and the agent that is at work. Looked at before each call.

use super::{
    RunUsage,
    driver::{AgentAt, Driver, Stop},
    limits::{Limits, Next},
};
use crate::flow::{AgentStep, Step};

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
        of_run.or_else(of_agent).map(Stop::Budget)
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
        let (at, _) = self.at_step.as_ref()?;
        let limits = self.budgets.agents.get(&at.agent)?;
        let usage = self
            .recorder
            .view
            .usage_of
            .iter()
            .filter(|(step, _)| self.is_of(step, &at.agent))
            .fold(RunUsage::default(), |sum, (_, of_step)| sum.plus(of_step));
        let whose = format!("the agent {}", at.agent);
        Some((whose, Limits::default().lowered(limits), usage))
    }

    fn is_of(&self, step: &str, agent: &str) -> bool {
        let at = self.recorder.flow.step_at(step);
        at.and_then(Step::agent) == Some(agent)
    }

    /// Work of the agent at work, in all its steps.
    fn agent_ms(&self) -> u64 {
        let Some((at, since)) = &self.at_step else {
            return 0;
        };
        let before: u64 = self
            .worked_ms_of
            .iter()
            .filter(|(step, _)| self.is_of(step, &at.agent))
            .map(|(_, ms)| ms)
            .sum();
        let now = self.recorder.effects.elapsed_ms();
        before.saturating_add(now.saturating_sub(*since))
    }

    pub(super) fn enter(&mut self, step: &AgentStep) {
        let at = AgentAt {
            agent: step.agent.clone(),
            step: step.path.clone(),
        };
        self.at_step = Some((at, self.recorder.effects.elapsed_ms()));
    }

    pub(super) fn leave(&mut self) {
        if let Some((at, since)) = self.at_step.take() {
            let worked = self.recorder.effects.elapsed_ms().saturating_sub(since);
            *self.worked_ms_of.entry(at.step).or_default() += worked;
        }
    }

    /// Time that is left to the call of a model; None: without a limit.
    pub(super) fn left_ms(&self) -> Option<u64> {
        let of_run = self.limits.left_ms(self.elapsed_ms());
        let of_agent = self
            .of_agent()
            .and_then(|(_, limits, _)| limits.left_ms(self.agent_ms()));
        of_run.into_iter().chain(of_agent).min()
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
