//! The turn machine: one agent step as a conversation. It says what to do next and is fed what came of it; being plain
//! data it can be stored, compared and rebuilt by feeding it the journal's answers and results again.

use super::{compact, contract::Contract};
use agentctl_base::counted::counted;
use agentctl_base::model::{
    AgentTask, Finish, Message, ModelAnswer, ModelRequest, Room, ToolCall, ToolResult, ToolSpec,
    ToolStatus,
};
use agentctl_base::untrusted;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// How much of a refusal's words is told.
const MAX_SAID: usize = 200;

const TOO_LONG: &str = "the answer was cut off at the limit on an answer's length; make it shorter, with fewer or smaller tool calls at once";

/// How often a step may be told that its answer does not fit, over all its turns.
pub const MAX_REPAIRS: u32 = 2;

/// More calls in one answer are not made: a thousand refusals would fill the journal and help nobody.
pub const MAX_CALLS: usize = 64;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    request: ModelRequest,
    max_turns: u32,
    /// Model calls so far.
    turns: u32,
    repairs: u32,
    /// Turns in a row in which a call could not even be understood.
    #[serde(default)]
    misspoken: u32,
    /// Every call id of this step: an id that a provider uses twice would make results ambiguous.
    used_ids: BTreeSet<String>,
    /// Calls of the last answer that were dropped.
    #[serde(default)]
    surplus: usize,
    /// The conversation's tokens right after it was shortened last.
    #[serde(default)]
    short: Option<u64>,
    waiting: Waiting,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Waiting {
    Start,
    Model,
    Tools(Vec<ToolCall>),
    /// The answer fits the contract; whoever runs the step may still refuse it.
    Verdict,
    Over,
}

/// What the machine is fed.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    Start,
    Answer(ModelAnswer),
    /// One result for each call of the last `CallTools`; a call without one counts as cancelled.
    Results(Vec<ToolResult>),
    /// After `Done`: the answer breaks a rule outside the contract (ownership, claims); each line says which and where.
    Refused(Vec<String>),
}

#[derive(Debug, Clone, PartialEq)]
pub enum TurnAction {
    CallModel(Box<ModelRequest>),
    CallTools(Vec<ToolCall>),
    /// The answer, a JSON object that fits the contract.
    Done(Value),
    Failed {
        reason: String,
    },
}

/// The machine was fed something that it did not wait for: a bug of its user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the turn machine of step {step:?} waits for {waits}, not for {fed}")]
pub struct TurnError {
    pub step: String,
    pub waits: &'static str,
    pub fed: &'static str,
}

impl Turn {
    /// `tools` sorted by name; `contract` is the JSON Schema of the answer; `max_turns` counts model calls, repairs included.
    pub fn new(
        model: String,
        task: AgentTask,
        system: String,
        tools: Vec<ToolSpec>,
        contract: Value,
        max_turns: u32,
    ) -> Self {
        let first = super::prompt::task_message(&task, &contract);
        Turn {
            request: ModelRequest {
                model,
                task,
                system,
                messages: vec![Message::User { text: first }],
                task_at: 0,
                tools,
                output_schema: contract,
                shortened: Vec::new(),
            },
            max_turns,
            turns: 0,
            repairs: 0,
            misspoken: 0,
            used_ids: BTreeSet::new(),
            surplus: 0,
            short: None,
            waiting: Waiting::Start,
        }
    }

    /// The same, about a conversation: what was said stands before the task, as messages of those who said it.
    #[must_use]
    pub fn after(mut self, said: Vec<Message>) -> Self {
        self.request.task_at = said.len();
        self.request.messages.splice(0..0, said);
        self
    }

    /// The number of the model call that was asked for last, from 1.
    pub fn turn(&self) -> u32 {
        self.turns
    }

    /// What the model is asked next.
    pub fn request(&self) -> &ModelRequest {
        &self.request
    }

    /// The calls whose results should give way to a line each before the model is asked; none while there is room, nor in a
    /// conversation that did not grow since it was shortened.
    pub fn to_shorten(&self, room: &Room) -> Vec<String> {
        let tokens = self.request.estimated_tokens();
        match self.short {
            Some(short) if tokens <= short => Vec::new(),
            _ => compact::choose(&self.request.messages, tokens, room),
        }
    }

    pub fn shorten(&mut self, calls: &[String]) {
        compact::shorten(&mut self.request.messages, calls);
        self.request.shortened = calls.to_vec();
        self.short = Some(self.request.estimated_tokens());
    }

    pub fn step(&mut self, input: Input) -> Result<TurnAction, TurnError> {
        match (std::mem::replace(&mut self.waiting, Waiting::Over), input) {
            (Waiting::Start, Input::Start) => Ok(self.ask_model()),
            (Waiting::Model, Input::Answer(answer)) => Ok(self.take_answer(answer)),
            (Waiting::Tools(calls), Input::Results(results)) => {
                Ok(self.take_results(calls, results))
            }
            (Waiting::Verdict, Input::Refused(faults)) => Ok(self.repair(faults)),
            (waiting, input) => {
                let error = TurnError {
                    step: self.request.task.step.clone(),
                    waits: waiting.name(),
                    fed: input.name(),
                };
                self.waiting = waiting;
                Err(error)
            }
        }
    }

    fn ask_model(&mut self) -> TurnAction {
        if self.turns >= self.max_turns {
            return self.fail(format!(
                "no final answer within {} of the model",
                counted(self.max_turns, "turn")
            ));
        }
        self.turns += 1;
        self.waiting = Waiting::Model;
        TurnAction::CallModel(Box::new(self.request.clone()))
    }

    fn take_answer(&mut self, mut answer: ModelAnswer) -> TurnAction {
        self.request.shortened.clear();
        let surplus = answer.tool_calls.len().saturating_sub(MAX_CALLS);
        answer.tool_calls.truncate(MAX_CALLS);
        for (i, call) in answer.tool_calls.iter_mut().enumerate() {
            if call.id.is_empty() || self.used_ids.contains(&call.id) {
                call.id = format!("{}-{}-{}", call.name, self.turns, i + 1);
            }
            self.used_ids.insert(call.id.clone());
        }
        let misspoken = self.misspoken_calls(&answer.tool_calls);
        if answer.finish == Finish::Length && !misspoken.is_empty() {
            // What was cut off in the middle of a call is no call: nothing of it is carried out.
            answer.tool_calls.clear();
            self.misspoken = 0;
            self.keep(&answer);
            return self.repair(vec![TOO_LONG.to_owned()]);
        }
        self.keep(&answer);
        if misspoken.is_empty() {
            self.misspoken = 0;
        } else {
            self.misspoken += 1;
            if self.misspoken > MAX_REPAIRS {
                return self.fail(format!(
                    "the model was told {MAX_REPAIRS} times and still made calls that cannot be made: {}",
                    misspoken.join("; ")
                ));
            }
        }
        // Words beside tool calls are thinking aloud; the answer is what comes without a call.
        if !answer.tool_calls.is_empty() {
            self.waiting = Waiting::Tools(answer.tool_calls.clone());
            self.surplus = surplus;
            return TurnAction::CallTools(answer.tool_calls);
        }
        let contract = match Contract::compile(&self.request.output_schema) {
            Ok(contract) => contract,
            Err(e) => return self.fail(e.to_string()),
        };
        match contract.read(&answer.text) {
            Ok(value) => {
                self.waiting = Waiting::Verdict;
                TurnAction::Done(value)
            }
            Err(faults) => self.repair(match answer.finish {
                Finish::Done => faults,
                Finish::Length => vec![TOO_LONG.to_owned()],
                Finish::Refused => vec![format!(
                    "the model or its provider's filter would not answer{}",
                    match answer.text.trim() {
                        "" => String::new(),
                        said => format!(": {}", said.chars().take(MAX_SAID).collect::<String>()),
                    }
                )],
            }),
        }
    }

    fn keep(&mut self, answer: &ModelAnswer) {
        self.request.messages.push(Message::Assistant {
            text: answer.text.clone(),
            tool_calls: answer.tool_calls.clone(),
        });
    }

    /// Calls of tools that this step does not have, and calls whose arguments are no JSON object.
    fn misspoken_calls(&self, calls: &[ToolCall]) -> Vec<String> {
        calls
            .iter()
            .filter_map(|call| {
                if !self.request.tools.iter().any(|t| t.name == call.name) {
                    return Some(format!("there is no tool {:?} in this step", call.name));
                }
                match serde_json::from_str::<Value>(&call.arguments) {
                    Ok(Value::Object(_)) => None,
                    Ok(_) => Some(format!("the arguments of {} are no JSON object", call.name)),
                    Err(e) => Some(format!("the arguments of {} are not JSON: {e}", call.name)),
                }
            })
            .collect()
    }

    fn take_results(&mut self, calls: Vec<ToolCall>, mut results: Vec<ToolResult>) -> TurnAction {
        let in_order = calls
            .into_iter()
            .map(
                |call| match results.iter().position(|r| r.call_id == call.id) {
                    Some(at) => results.swap_remove(at),
                    None => ToolResult {
                        call_id: call.id,
                        name: call.name,
                        status: ToolStatus::Cancelled,
                        content: json!({"error": "the call was not made"}),
                    },
                },
            )
            .collect();
        self.request
            .messages
            .push(Message::Tool { results: in_order });
        if self.surplus > 0 {
            self.tell(&format!(
                "Only the first {MAX_CALLS} calls of your answer were made; {} were dropped.",
                self.surplus
            ));
            self.surplus = 0;
        }
        if self.turns + 1 == self.max_turns {
            self.tell("This is your last turn: answer now with the final JSON object. Tool calls will not be made any more.");
        }
        self.ask_model()
    }

    /// An answer that is not accepted now is not asked for again.
    pub fn is_last_try(&self) -> bool {
        self.repairs >= MAX_REPAIRS
    }

    fn repair(&mut self, faults: Vec<String>) -> TurnAction {
        if self.repairs >= MAX_REPAIRS {
            return self.fail(format!(
                "the answer was still not accepted after {MAX_REPAIRS} repairs: {}",
                faults.join("; ")
            ));
        }
        self.repairs += 1;
        // A fault may quote what stood in the answer: one line each, so that none looks like a message of its own.
        let list: String = faults
            .iter()
            .map(|fault| format!("- {}\n", untrusted::line(fault).replace('<', "‹")))
            .collect();
        self.tell(&format!(
            "Your answer was not accepted:\n{list}Answer again with the whole JSON object, mended, and nothing else."
        ));
        self.ask_model()
    }

    fn tell(&mut self, text: &str) {
        self.request.messages.push(Message::User {
            text: text.to_owned(),
        });
    }

    fn fail(&mut self, reason: String) -> TurnAction {
        self.waiting = Waiting::Over;
        TurnAction::Failed { reason }
    }
}

impl Waiting {
    fn name(&self) -> &'static str {
        match self {
            Waiting::Start => "its start",
            Waiting::Model => "a model's answer",
            Waiting::Tools(_) => "tool results",
            Waiting::Verdict => "a verdict on its answer",
            Waiting::Over => "nothing: it is over",
        }
    }
}

impl Input {
    fn name(&self) -> &'static str {
        match self {
            Input::Start => "its start",
            Input::Answer(_) => "a model's answer",
            Input::Results(_) => "tool results",
            Input::Refused(_) => "a refusal of its answer",
        }
    }
}
