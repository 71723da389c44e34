//! The plan of tools: before a run calls any tool, a model reads out of the user's words which tools of other servers the run
//! needs and where their arguments must come from. It sees no result of any tool, so no result can talk it into more; the
//! program checks the plan, pins it in the journal, and holds every later call against it.

use super::{
    RunError,
    ask_model::Asking,
    driver::{Driver, Stop},
};
use crate::{
    agent::{Input, Turn, TurnAction},
    flow::StepKind,
    pack::Pack,
    policy::{Grants, Outside},
    store::Event,
};
use agentctl_base::{
    foreign::split_foreign,
    model::{AgentTask, ToolSpec},
    question::Outcome,
};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Its place in the journal. No step of a flow is called so.
const STEP: &str = "plan-tools";
/// Model calls, repairs included.
const MAX_TURNS: u32 = 4;
/// Where a run's input says that a plan is wanted.
pub(super) const WISH: &str = "plan_tools";

const SYSTEM: &str = "You plan which tools another agent may use to do what the user asks. You see the user's words and the \
tools; you call none. A program enforces your plan: what is not in it is asked for. Plan the least that does the work. For each \
tool say how often it is needed (`times`) and what each argument may be: `equals` or `one_of` for values that the user gave, \
`matches` for a pattern that the whole value must fit, `from` for where a value must come from (user; tool:NAME, the result of \
that earlier tool; several may be listed), or \"any\" where any value is harmless, such as the wording of a text. Never allow \
\"any\" for whom something is sent to, where data goes, which account or file is changed, or how much is paid.";

const INSTRUCTIONS: &str = "Answer with the plan for this request. `tool` is a tool's exact name. An argument that you leave \
out must be the user's own word or be left out by the agent too; for a tool that only reads it may be anything.";

/// JSON Schema of the plan.
fn contract() -> Value {
    let text = json!({"type": "string", "minLength": 1});
    let allowed = json!({"anyOf": [
        {"const": "any"},
        {"type": "object", "additionalProperties": false, "minProperties": 1, "properties": {
            "equals": {},
            "one_of": {"type": "array", "minItems": 1},
            "from": {"anyOf": [text, {"type": "array", "minItems": 1, "items": text}]},
            "matches": text,
        }},
    ]});
    json!({
        "type": "object", "required": ["tools"], "additionalProperties": false,
        "properties": {"tools": {"type": "array", "items": {
            "type": "object", "required": ["tool"], "additionalProperties": false,
            "properties": {
                "tool": text,
                "times": {"type": "integer", "minimum": 0},
                "args": {"type": "object", "additionalProperties": allowed},
            },
        }}},
    })
}

impl Driver<'_> {
    /// Pins the plan, if this run wants one and has none. To be called before each agent and each tool.
    pub(super) async fn plan_tools(&mut self) -> Result<Option<Stop>, RunError> {
        let Some(outside) = self.wish() else {
            return Ok(None);
        };
        if !self.recorder.view.grants.is_empty() {
            return Ok(None);
        }
        if self
            .guards
            .facts()
            .calls()
            .iter()
            .any(|call| call.was_made())
        {
            return self.no_plan("a tool was called before there was one");
        }
        let tools = self.plannable();
        if tools.is_empty() {
            self.pin("plan", &Grants::nothing(outside))?;
            return Ok(None);
        }
        let Some(agent) = self.planner() else {
            return self.no_plan("the pack has no agent");
        };
        let chosen = self.models.for_agent(&agent.0, agent.1)?;
        let task = AgentTask {
            agent: agent.0.clone(),
            step: STEP.to_owned(),
            task: STEP.to_owned(),
            instructions: INSTRUCTIONS.to_owned(),
            input: self.words(&tools),
        };
        let mut turn = Turn::new(
            chosen.name.clone(),
            task,
            SYSTEM.to_owned(),
            Vec::new(),
            contract(),
            MAX_TURNS,
        );
        let mut input = Input::Start;
        loop {
            let action = turn
                .step(input)
                .map_err(|e| RunError::Internal(e.to_string()))?;
            input = match action {
                TurnAction::CallModel(request) => {
                    let asking = Asking {
                        step: STEP.to_owned(),
                        turn: turn.turn(),
                        request: Arc::new(*request),
                        chosen: chosen.clone(),
                        speak: None,
                        attempts: 0,
                    };
                    match self.model_call(asking).await? {
                        Ok(answer) => Input::Answer(answer),
                        Err(stop) => return Ok(Some(stop)),
                    }
                }
                TurnAction::CallTools(calls) => {
                    // It is offered none, so each is refused, and journaled.
                    match self.tool_calls(STEP, &agent.0, &[], &calls).await? {
                        Ok(results) => Input::Results(results),
                        Err(stop) => return Ok(Some(stop)),
                    }
                }
                TurnAction::Done(answer) => match checked(&answer, &tools) {
                    Ok(grants) => {
                        self.pin("plan", &grants.at_least(outside))?;
                        return Ok(None);
                    }
                    Err(faults) => Input::Refused(faults),
                },
                TurnAction::Failed { reason } => return self.no_plan(&reason),
            };
        }
    }

    /// Whether a plan is wanted, by the command or by the flow; the stricter of both.
    fn wish(&self) -> Option<Outside> {
        let said = self.recorder.view.input.get(WISH).map(|wish| {
            let said = wish.as_str().and_then(Outside::from_name);
            said.unwrap_or(Outside::Deny)
        });
        let of_flow = self.pack.flow.plan_tools.as_ref().map(|plan| plan.outside);
        said.into_iter().chain(of_flow).max()
    }

    pub(super) fn pin(&mut self, by: &str, grants: &Grants) -> Result<(), RunError> {
        let event = Event::GrantsPinned {
            by: by.to_owned(),
            grants: grants.to_json(),
        };
        self.record(event, true)
    }

    /// Without its plan a run does nothing.
    fn no_plan(&mut self, why: &str) -> Result<Option<Stop>, RunError> {
        self.end(Outcome::Failed, format!("no plan of tools: {why}"))?;
        Ok(Some(Stop::Ended))
    }

    /// Every tool of another server that some role may call in this flow.
    fn plannable(&self) -> Vec<ToolSpec> {
        let mut tools: Vec<ToolSpec> = Vec::new();
        let mut add = |specs: Vec<ToolSpec>| {
            for spec in specs {
                let foreign = split_foreign(&spec.name).is_some();
                if foreign && !tools.iter().any(|known| known.name == spec.name) {
                    tools.push(spec);
                }
            }
        };
        for agent in self.pack.agents.values() {
            add(self.gateway.tools_for(&agent.name, &agent.tools));
        }
        for step in self.pack.flow.steps_of_all() {
            if let StepKind::Tool(called) = &step.kind {
                let named = std::slice::from_ref(&called.tool);
                add(self.gateway.tools_for(&called.role, named));
            }
        }
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        tools
    }

    /// The agent that the flow names for it, else the flow's first.
    fn planner(&self) -> Option<(String, crate::pack::Tier)> {
        let named = self.pack.flow.plan_tools.as_ref();
        let named = named.and_then(|plan| plan.agent.as_ref());
        let first = || {
            let steps = self.pack.flow.steps_of_all();
            steps
                .into_iter()
                .find_map(|step| self.pack.agents.get(step.agent()?))
        };
        let agent = match named {
            Some(name) => self.pack.agents.get(name),
            None => first().or_else(|| self.pack.agents.values().next()),
        };
        agent.map(|agent| (agent.name.clone(), agent.tier))
    }

    /// The user's words, and the tools: all that the planner sees.
    fn words(&self, tools: &[ToolSpec]) -> Map<String, Value> {
        let answered = self.recorder.view.questions.iter().filter_map(|asked| {
            let (value, _) = asked.answer.as_ref()?;
            Some(json!({"question": asked.question.text, "answer": value}))
        });
        let told = tools.iter().map(|tool| {
            json!({"tool": tool.name, "description": tool.description, "arguments": tool.parameters})
        });
        let request = self.recorder.view.input.get("request").cloned();
        Map::from_iter([
            ("request".to_owned(), request.unwrap_or_default()),
            ("answers".to_owned(), answered.collect()),
            ("tools".to_owned(), told.collect()),
        ])
    }
}

/// The plan, or what is wrong with it in words for the planner.
fn checked(answer: &Value, tools: &[ToolSpec]) -> Result<Grants, Vec<String>> {
    let grants = Grants::parse(answer).map_err(|why| vec![why])?;
    let mut faults = Vec::new();
    for (tool, args) in grants.named() {
        let Some(spec) = tools.iter().find(|spec| spec.name == tool) else {
            faults.push(format!("there is no tool {tool:?} in the list"));
            continue;
        };
        let known = spec.parameters.get("properties").and_then(Value::as_object);
        for arg in args {
            if !known.is_some_and(|known| known.contains_key(arg)) {
                faults.push(format!("{tool} has no argument {arg:?}"));
            }
        }
    }
    match faults.is_empty() {
        true => Ok(grants),
        false => Err(faults),
    }
}

/// What the user's own list asks for that the policy allows nobody.
pub(super) fn never_allowed<'a>(grants: &'a Grants, pack: &Pack) -> Vec<&'a str> {
    let allowed: Vec<String> = pack
        .agents
        .keys()
        .flat_map(|role| pack.policy.allowed_tools(role))
        .collect();
    let named = grants.named().map(|(tool, _)| tool);
    named
        .filter(|tool| !allowed.iter().any(|known| known == tool))
        .collect()
}
