//! What comes next in a route or a loop.

use super::FlowError;
use super::choice;
use super::model::{By, ChooserSpec, LoopSpec, RouteSpec};
use super::next::{Action, AgentStep, Walk, Walker, case, decided};
use super::prepare::possible;
use super::run_log::{Prepared, StepRecord, StepStatus};
use super::scope::{holds, text};
use crate::store::event::Event;
use serde_json::Value;

impl Walker<'_> {
    pub(super) fn route(
        self,
        path: &str,
        route: &RouteSpec,
        record: Option<&StepRecord>,
    ) -> Result<Walk, FlowError> {
        let taken = record
            .and_then(|r| r.decision.as_deref())
            .and_then(|d| d.strip_prefix("case "));
        if let Some(name) = taken {
            return match route.cases.iter().find(|c| c.name == name) {
                Some(case) => self.list(&case.steps, path),
                None => Ok(Walk::Through),
            };
        }
        let mut choice = None;
        if let Some(By::Agent(chooser)) = &route.by {
            return self.choose(path, route, chooser, record);
        }
        if let Some(By::Name(by)) = &route.by {
            let name = text(self.flow, self.log, path, by)?;
            if route.cases.iter().any(|c| c.name == name && !c.otherwise) {
                choice = Some(name);
            } else if !route.cases.iter().any(|c| c.otherwise) {
                return Err(FlowError::Step {
                    step: path.to_owned(),
                    message: format!("there is no case {name:?}"),
                });
            }
        } else {
            for case in &route.cases {
                if let Some(when) = &case.when
                    && holds(self.flow, self.log, path, when)?
                {
                    choice = Some(case.name.clone());
                    break;
                }
            }
        }
        let choice = choice.or_else(|| {
            let case = route.cases.iter().find(|c| c.otherwise)?;
            Some(case.name.clone())
        });
        // "-" is no case's name: nothing applied, the flow goes on.
        Ok(case(path, choice.as_deref().unwrap_or("-")))
    }

    /// An agent chooses among the cases that can be now. Where only one can, nobody is asked; what is no choice is `otherwise`.
    fn choose(
        self,
        path: &str,
        route: &RouteSpec,
        chooser: &ChooserSpec,
        record: Option<&StepRecord>,
    ) -> Result<Walk, FlowError> {
        let Some(record) = record.filter(|r| r.status != StepStatus::Taken) else {
            return match possible(self.flow, self.log, path, route)?.as_slice() {
                [only] => Ok(case(path, only)),
                _ => {
                    let started = Event::StepStarted {
                        step: path.to_owned(),
                    };
                    Ok(Walk::one(Action::Record(started)))
                }
            };
        };
        if record.status == StepStatus::Failed {
            return Ok(case(path, &chooser.otherwise));
        }
        let Prepared::Choice(brief, cases) = &record.prepared else {
            return Err(FlowError::Step {
                step: path.to_owned(),
                message: "the journal has work of this step before its start".to_owned(),
            });
        };
        if record.status == StepStatus::Done {
            let chosen = record.output.get("case").and_then(Value::as_str);
            let chosen = chosen.filter(|name| cases.iter().any(|case| case == name));
            return Ok(case(path, chosen.unwrap_or(&chooser.otherwise)));
        }
        Ok(Walk::one(Action::Agent(AgentStep {
            path: path.to_owned(),
            agent: chooser.agent.clone(),
            task: chooser.task.clone(),
            instructions: choice::instructions(chooser, route, cases),
            input: brief.input.clone(),
            contract: choice::contract(cases),
            writes: Vec::new(),
            max_turns: chooser.max_turns.unwrap_or(self.flow.limits.max_turns),
            tools: false,
            only: Vec::new(),
            conversation: brief.conversation.clone(),
            speak: None,
        })))
    }

    pub(super) fn cycles(
        self,
        path: &str,
        l: &LoopSpec,
        record: Option<&StepRecord>,
    ) -> Result<Walk, FlowError> {
        let decision = record.and_then(|r| r.decision.as_deref());
        let cycle = record.map_or(0, |r| r.cycle);
        let id = super::model::step_id(path);
        if decision == Some("left") {
            return Ok(Walk::Through);
        }
        if decision == Some("exhausted") {
            return match self.list(&l.exhausted, path)? {
                Walk::Through => match &l.exhausted_end {
                    Some(end) => self.end(path, end),
                    None => Ok(Walk::Through),
                },
                other => Ok(other),
            };
        }
        if cycle == 0 {
            return Ok(decided(path, "cycle 1"));
        }
        let iteration = format!("{path}[{cycle}]");
        Ok(match self.list(&l.steps, &iteration)? {
            Walk::Leave(target) if target == id => decided(path, "left"),
            Walk::Exhaust(target) if target == id => decided(path, "exhausted"),
            Walk::Through => {
                let done = match &l.until {
                    Some(until) => holds(self.flow, self.log, &iteration, until)?,
                    None => false,
                };
                if done {
                    decided(path, "left")
                } else if cycle < l.max {
                    decided(path, format!("cycle {}", cycle + 1))
                } else {
                    decided(path, "exhausted")
                }
            }
            other => other,
        })
    }
}
