//! One agent step: the turn machine, fed with what the journal already has and then with live calls. An answer that was
//! paid for is never asked for again; a call that was begun is settled before anything else happens.

use super::{
    ChosenModel, RunError,
    ask_model::{Asked, Asking},
    claims::{self, Evidence},
    driver::{Driver, Stop},
    must_call::not_called,
    under_way::{Came, UnderWay},
};
use crate::{
    agent::{
        Contract, Input, LATEST, Skill, Turn, TurnAction, conversation_messages, system_prompt,
    },
    flow::{self, AgentSpec, AgentStep, PatchRefusal, StepKind},
    store::Event,
};
use agentctl_base::model::{AgentTask, ToolCall, ToolResult, ToolSpec, ToolStatus};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A longer text that a step is given is material, not what it is about; in bytes.
const MAX_NEED: usize = 2_000;

/// An agent's step at work.
pub(super) struct AgentWork {
    pub step: AgentStep,
    turn: Turn,
    chosen: ChosenModel,
    /// The names of the tools that the agent is shown.
    offered: Vec<String>,
    /// What its model was asked last.
    pub asking: Option<Asking>,
}

/// How far a step got.
pub(super) enum Pace {
    /// Its model's answer is waited for.
    Waits,
    /// What came of it is written down.
    Over,
    Stops(Stop),
}

impl<'a> Driver<'a> {
    /// What the agent is given, and with what it works.
    pub(super) fn agent_work(&mut self, step: AgentStep) -> Result<AgentWork, RunError> {
        let Some(agent) = self.pack.agents.get(&step.agent) else {
            return Err(RunError::Pack(format!(
                "step {} needs the agent {:?}, which the pack does not have",
                step.path, step.agent
            )));
        };
        let chosen = self.models.for_agent(&agent.name, agent.tier)?;
        let mut tools = match step.tools {
            true => self.gateway.tools_for(&agent.name, &agent.tools),
            false => Vec::new(),
        };
        let only = self.spec(&step).and_then(|spec| spec.tools.as_ref());
        tools.retain(|tool| {
            self.gateway.serves(&tool.name) && only.is_none_or(|only| only.contains(&tool.name))
        });
        let left_out = self.left_out(&step, &tools)?;
        tools.retain(|tool| !left_out.contains(&tool.name));
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
            instructions: instructions(&step),
            input: step.input.clone(),
        };
        let talks = self.recorder.flow.talks(&agent.name);
        let vocabulary = self.pack.policy.vocabulary();
        let turn = Turn::new(
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
        Ok(AgentWork {
            step,
            turn,
            chosen,
            offered,
            asking: None,
        })
    }

    /// The tools that the step does not offer though the role may use them. Settled once, whatever becomes of the tools' figures meanwhile.
    fn left_out(&mut self, step: &AgentStep, tools: &[ToolSpec]) -> Result<Vec<String>, RunError> {
        let trace = self.recorder.view.trace(&step.path);
        if let Some(settled) = trace.and_then(|trace| trace.left_out.clone()) {
            return Ok(settled);
        }
        let Some(offer) = self.gateway.offer(tools, &need(step), &step.task) else {
            return Ok(Vec::new());
        };
        let names = offer.left_out.iter().map(|weighed| weighed.tool.clone());
        let names = names.collect();
        let event = Event::ToolsOffered {
            step: step.path.clone(),
            agent: step.agent.clone(),
            tools: offer.tools,
            left_out: offer.left_out,
        };
        self.record(event, false)?;
        Ok(names)
    }

    /// Takes what came of the question to the step's model, and goes on.
    pub(super) async fn agent_heard(
        &mut self,
        work: &mut AgentWork,
        came: Came,
        under_way: &mut UnderWay<'a>,
    ) -> Result<Pace, RunError> {
        let Some(mut asking) = work.asking.take() else {
            return Err(RunError::Internal(format!(
                "the step {} asked nothing",
                work.step.path
            )));
        };
        match self.heard(&mut asking, came, under_way)? {
            Asked::Answered(answer) => {
                let input = Input::Answer(answer);
                self.agent_goes_on(work, input, under_way).await
            }
            Asked::UnderWay => {
                work.asking = Some(asking);
                Ok(Pace::Waits)
            }
            Asked::Not(stop) => self.stopped(stop),
        }
    }

    /// Goes on until the model is asked or the step is over.
    pub(super) async fn agent_goes_on(
        &mut self,
        work: &mut AgentWork,
        mut input: Input,
        under_way: &mut UnderWay<'a>,
    ) -> Result<Pace, RunError> {
        loop {
            let action = work
                .turn
                .step(input)
                .map_err(|e| RunError::Internal(e.to_string()))?;
            input = match action {
                TurnAction::CallModel(asked) => {
                    let smaller = self.compact(&work.step, &mut work.turn, &work.chosen)?;
                    let mut asking = Asking {
                        step: work.step.path.clone(),
                        turn: work.turn.turn(),
                        request: Arc::new(smaller.unwrap_or(*asked)),
                        chosen: work.chosen.clone(),
                        speak: work.step.speak.clone(),
                        attempts: 0,
                    };
                    match self.ask_model(&mut asking, under_way)? {
                        Asked::Answered(answer) => Input::Answer(answer),
                        Asked::UnderWay => {
                            work.asking = Some(asking);
                            return Ok(Pace::Waits);
                        }
                        Asked::Not(stop) => return self.stopped(stop),
                    }
                }
                TurnAction::CallTools(calls) => {
                    let step = &work.step;
                    let made = self.tool_calls(&step.path, &step.agent, &work.offered, &calls);
                    match under_way.beside(made).await? {
                        Ok(results) if self.enough(work, &results)? => return Ok(Pace::Over),
                        Ok(results) => Input::Results(results),
                        Err(stop) => return self.stopped(stop),
                    }
                }
                TurnAction::Done(answer) => {
                    let (step, turn) = (&work.step, work.turn.turn());
                    let own = match work.turn.is_last_try() {
                        true => self.in_own_words(step, &answer)?,
                        false => None,
                    };
                    let guarded = own.is_none();
                    match self.take_answer(step, turn, own.unwrap_or(answer), guarded)? {
                        None => return Ok(Pace::Over),
                        Some(faults) => Input::Refused(faults),
                    }
                }
                TurnAction::Failed { reason } => {
                    self.fail_step(&work.step.path, reason)?;
                    return Ok(Pace::Over);
                }
            };
        }
    }

    /// Whether the calls say the step's answer by themselves, and it was taken: then its agent is not asked for it. An answer that
    /// would not be taken is the agent's to give.
    fn enough(&mut self, work: &AgentWork, results: &[ToolResult]) -> Result<bool, RunError> {
        let (step, turn) = (&work.step, work.turn.turn());
        let all_went_well = results.iter().all(|r| r.status == ToolStatus::Ok);
        // What the agent was asked after these calls stands in the journal.
        if !all_went_well || self.answered(&step.path, turn + 1).is_some() {
            return Ok(false);
        }
        let answer = flow::answer_of_calls(self.recorder.flow, &self.recorder.log, &step.path)
            .map_err(|e| RunError::Pack(e.to_string()))?;
        let Some(answer) = answer else {
            return Ok(false);
        };
        let contract =
            Contract::compile(&step.contract).map_err(|e| RunError::Pack(e.to_string()))?;
        if !contract.faults(&answer).is_empty() {
            return Ok(false);
        }
        let taken = self.recorder.view.trace(&step.path);
        if taken.is_none_or(|trace| trace.patched.is_none())
            && !self.judge(step, &mut answer.clone(), true)?.0.is_empty()
        {
            return Ok(false);
        }
        Ok(self.take_patch(step, turn, answer)?.is_none())
    }

    /// What stops a step stops the run, except for the time of a step.
    pub(super) fn stopped(&mut self, stop: Stop) -> Result<Pace, RunError> {
        match stop {
            Stop::TooLate(late) => {
                let (flow, log) = (self.recorder.flow, &self.recorder.log);
                let event = flow::too_late(flow, log, &late.step, late.error)
                    .map_err(|e| RunError::Pack(e.to_string()))?;
                self.record(event, false)?;
                Ok(Pace::Over)
            }
            stop => Ok(Pace::Stops(stop)),
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
        self.take_answer(step, turn, answer, true)
    }

    /// The same; not `guarded`: its reply is the program's own.
    fn take_answer(
        &mut self,
        step: &AgentStep,
        turn: u32,
        answer: Value,
        guarded: bool,
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
        let (refusals, patch) = self.judge(step, &mut answer, guarded)?;
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
                .map(|r| {
                    // A claim's own words say it; the expression behind them stands in the journal.
                    let rule = r.rule.split(": ").next().unwrap_or(&r.rule);
                    format!("{}: {} (rule {rule})", r.field, r.message)
                })
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

    pub(super) fn spec(&self, step: &AgentStep) -> Option<&AgentSpec> {
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
    pub(super) fn judge(
        &self,
        step: &AgentStep,
        answer: &mut Value,
        guarded: bool,
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
        if guarded {
            refusals.extend(self.reply_faults(step, answer)?);
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
                message: match step.writes.as_slice() {
                    [] => "this step writes no field".to_owned(),
                    writes => format!("this step writes {} and nothing else", writes.join(", ")),
                },
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
        let trace = self.recorder.view.trace(&step.path);
        let musts = self.spec(step).into_iter().flat_map(|s| &s.must_call);
        let uncalled = musts.filter_map(|must| not_called(must, trace));
        refusals.extend(uncalled.map(|message| PatchRefusal {
            field: "answer".into(),
            rule: "must_call".into(),
            message,
        }));
        Ok((refusals, patch))
    }
}

/// What a step is about, in the words of whoever wants it: what was said last, and the short texts that it is given; only where there is
/// nothing of that, its own instructions.
fn need(step: &AgentStep) -> String {
    let last = step.conversation.said.last().map(|said| said.text.as_str());
    let given = step.input.values().filter_map(Value::as_str);
    let given = given.filter(|text| text.len() <= MAX_NEED);
    let words: Vec<&str> = last.into_iter().chain(given).collect();
    match words.iter().all(|text| text.trim().is_empty()) {
        true => step.instructions.clone(),
        false => words.join("\n"),
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
