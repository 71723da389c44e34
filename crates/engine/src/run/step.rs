//! One agent step: the turn machine, fed with what the journal already has and then with live calls. An answer that was
//! paid for is never asked for again; a call that was begun is settled before anything else happens.

use super::{
    RunError,
    claims::{self, Evidence},
    driver::{Driver, Stop},
};
use crate::{
    agent::{Input, LATEST, Skill, Turn, TurnAction, conversation_messages, system_prompt},
    flow::{self, AgentSpec, AgentStep, PatchRefusal, StepKind},
    store::Event,
};
use agentctl_base::model::{AgentTask, ToolCall, ToolResult};
use serde_json::{Map, Value};

impl Driver<'_> {
    /// Runs the step to its end, or as far as it goes now.
    pub(super) async fn agent_step(&mut self, step: &AgentStep) -> Result<Option<Stop>, RunError> {
        let Some(agent) = self.pack.agents.get(&step.agent) else {
            return Err(RunError::Pack(format!(
                "step {} needs the agent {:?}, which the pack does not have",
                step.path, step.agent
            )));
        };
        let chosen = self.models.for_agent(&agent.name, agent.tier)?;
        let tools = match step.tools {
            true => self.gateway.tools_for(&agent.name, &agent.tools),
            false => Vec::new(),
        };
        let offered: Vec<String> = tools.iter().map(|t| t.name.clone()).collect();
        let skills: Vec<Skill<'_>> = self
            .pack
            .skills
            .iter()
            .filter(|s| agent.skills.contains(&s.name))
            .map(|s| Skill {
                name: &s.name,
                description: &s.description,
            })
            .collect();
        let task = AgentTask {
            agent: step.agent.clone(),
            step: step.path.clone(),
            task: step.task.clone(),
            instructions: instructions(step),
            input: step.input.clone(),
        };
        let talks = self.recorder.flow.talks(&agent.name);
        let vocabulary = self.pack.policy.vocabulary();
        let mut turn = Turn::new(
            chosen.name.clone(),
            task,
            system_prompt(&agent.prompt, &skills, vocabulary, talks),
            tools,
            step.contract.clone(),
            step.max_turns
                .min(agent.max_turns)
                .min(self.most_turns(&agent.name)),
        )
        .after(conversation_messages(&step.conversation));
        let mut input = Input::Start;
        loop {
            let action = turn
                .step(input)
                .map_err(|e| RunError::Internal(e.to_string()))?;
            input = match action {
                TurnAction::CallModel(asked) => {
                    let smaller = self.compact(step, &mut turn, &chosen)?;
                    let request = smaller.unwrap_or(*asked);
                    let speak = step.speak.as_deref();
                    match self
                        .model_call(&step.path, turn.turn(), &request, &chosen, speak)
                        .await?
                    {
                        Ok(answer) => Input::Answer(answer),
                        Err(stop) => return self.cut_off(stop),
                    }
                }
                TurnAction::CallTools(calls) => {
                    let made = self.tool_calls(&step.path, &step.agent, &offered, &calls);
                    match made.await? {
                        Ok(results) => Input::Results(results),
                        Err(stop) => return self.cut_off(stop),
                    }
                }
                TurnAction::Done(answer) => match self.take_patch(step, turn.turn(), answer)? {
                    None => return Ok(None),
                    Some(faults) => Input::Refused(faults),
                },
                TurnAction::Failed { reason } => {
                    self.fail_step(&step.path, reason)?;
                    return Ok(None);
                }
            };
        }
    }

    fn most_turns(&self, agent: &str) -> u32 {
        let of_agent = self
            .budgets
            .agents
            .get(agent)
            .and_then(|limits| limits.max_turns);
        let of_run = self.limits.turns;
        of_run
            .into_iter()
            .chain(of_agent)
            .min()
            .and_then(|turns| u32::try_from(turns).ok())
            .unwrap_or(u32::MAX)
    }

    /// Makes the calls of one answer, in order.
    pub(super) async fn tool_calls(
        &mut self,
        step: &str,
        role: &str,
        offered: &[String],
        calls: &[ToolCall],
    ) -> Result<Result<Vec<ToolResult>, Stop>, RunError> {
        let mut results = Vec::with_capacity(calls.len());
        for call in calls {
            match self.tool_call(step, role, Some(offered), call).await? {
                Ok(result) => results.push(result),
                Err(stop) => return Ok(Err(stop)),
            }
        }
        Ok(Ok(results))
    }

    /// Takes the answer as the step's patch, or says what is wrong with it.
    fn take_patch(
        &mut self,
        step: &AgentStep,
        turn: u32,
        answer: Value,
    ) -> Result<Option<Vec<String>>, RunError> {
        let mut answer = answer;
        let taken = self.recorder.view.trace(&step.path);
        if let Some(patch) = taken.and_then(|t| t.patched.clone()) {
            // Its fields are as they were taken; what the flow reads besides them stands in the answer alone.
            match &mut answer {
                _ if self.maps(step) => {}
                Value::Object(map) => map.extend(patch),
                other => *other = Value::Object(patch),
            }
            self.finish_step(&step.path, answer)?;
            return Ok(None);
        }
        let (refusals, patch) = self.judge(step, &mut answer)?;
        if !refusals.is_empty() {
            // When the next turn is in the journal already, so are these refusals.
            if self.answered(&step.path, turn + 1).is_none() {
                for refusal in &refusals {
                    self.record(
                        Event::PatchRefused {
                            step: step.path.clone(),
                            agent: step.agent.clone(),
                            field: refusal.field.clone(),
                            rule: refusal.rule.clone(),
                        },
                        false,
                    )?;
                }
            }
            let told = refusals
                .into_iter()
                .map(|r| format!("{}: {} (rule {})", r.field, r.message, r.rule))
                .collect();
            return Ok(Some(told));
        }
        if self.writes(step) {
            self.record(
                Event::StatePatched {
                    step: step.path.clone(),
                    agent: step.agent.clone(),
                    patch,
                },
                false,
            )?;
        }
        self.finish_step(&step.path, answer)?;
        Ok(None)
    }

    fn spec(&self, step: &AgentStep) -> Option<&AgentSpec> {
        match &self.recorder.flow.step_at(&step.path)?.kind {
            StepKind::Agent(spec) => Some(spec),
            _ => None,
        }
    }

    /// An agent that chooses a case writes nothing.
    fn writes(&self, step: &AgentStep) -> bool {
        self.spec(step).is_some()
    }

    /// What goes into the state stands under other names in the answer.
    fn maps(&self, step: &AgentStep) -> bool {
        self.spec(step).is_some_and(|spec| !spec.maps.is_empty())
    }

    /// Every reason not to take the answer, and the patch that it is. Facts that the journal knows better are filled in on the way.
    fn judge(
        &self,
        step: &AgentStep,
        answer: &mut Value,
    ) -> Result<(Vec<PatchRefusal>, Map<String, Value>), RunError> {
        let whole = self.recorder.flow;
        let flow = whole.flow_at(&step.path);
        let state = self.recorder.log.state_at(&step.path);
        let mut refusals = Vec::new();
        if let Value::Object(map) = answer {
            let evidence = Evidence {
                flow,
                vocabulary: self.pack.policy.vocabulary(),
                view: &self.recorder.view,
                trace: self.recorder.view.trace(&step.path),
                state,
                capability_of: &|tool| self.pack.policy.capability_of(tool),
            };
            refusals = claims::settle(map, &evidence);
        }
        if let Some(place) = trap_in(answer, "answer") {
            refusals.push(PatchRefusal {
                field: place,
                rule: "unknown-field".into(),
                message: "no field can have this name; leave it out".into(),
            });
        }
        let taken = flow::patch_of(whole, &self.recorder.log, &step.path, answer);
        let patch = taken.unwrap_or_else(|refusal| {
            refusals.push(refusal);
            Map::new()
        });
        for field in patch.keys().filter(|field| !step.writes.contains(field)) {
            refusals.push(PatchRefusal {
                field: field.clone(),
                rule: "writes".into(),
                message: format!(
                    "this step writes {} and nothing else",
                    step.writes.join(", ")
                ),
            });
        }
        for refusal in flow::check_patch(flow, &step.agent, state, &patch) {
            if !refusals.iter().any(|r| r.field == refusal.field) {
                refusals.push(refusal);
            }
        }
        let claims = flow::verify_output(whole, &self.recorder.log, &step.path, answer)
            .map_err(|e| RunError::Pack(e.to_string()))?;
        refusals.extend(claims.into_iter().map(|c| PatchRefusal {
            field: "answer".into(),
            rule: format!("claims: {}", c.claim),
            message: c.message,
        }));
        Ok((refusals, patch))
    }
}

/// The step's own words, and what of a longer conversation they are about.
fn instructions(step: &AgentStep) -> String {
    let said = &step.conversation;
    if said.latest && said.said.len() > 1 {
        return format!("{}\n\n{LATEST}", step.instructions.trim_end());
    }
    step.instructions.clone()
}

/// Where a key stands that is harmless here, and changes every object for a reader in JavaScript.
fn trap_in(value: &Value, place: &str) -> Option<String> {
    match value {
        Value::Object(map) => map.iter().find_map(|(key, item)| {
            let place = format!("{place}.{key}");
            if key == "__proto__" {
                return Some(place);
            }
            trap_in(item, &place)
        }),
        Value::Array(items) => items.iter().find_map(|item| trap_in(item, place)),
        _ => None,
    }
}
