//! Skills of agents that have tools: `delegate` hands a request to other agents, one after the other where one needs what the other
//! found; `use_tools` picks among tools that were listed, fills in their parameters out of the words, and says what came of it;
//! `use_workflows` does the same with workflows, which have names; those of
//! `inquire` are of a team that researches. Which
//! words mean what is the pack's: `concepts`, `values`, `texts` of its `agents/offline.yaml`.

mod answered;
mod delegate;
mod fill;
mod inquire;
mod language;
mod lexicon;
mod parts;
mod pick;
mod render;
mod use_tools;
mod use_workflows;

use crate::task::{KitError, Task};
use serde_json::{Map, Value};

/// A call of this step that has its result.
#[derive(Debug, Clone, PartialEq)]
pub struct Done {
    pub tool: String,
    pub args: Map<String, Value>,
    pub ok: bool,
    pub content: Value,
}

/// What the agent does next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    Call { tool: String, args: Value },
    Answer(Value),
}

/// The skills of agents that have tools.
pub const TOOL_SKILLS: [&str; 7] = [
    "delegate",
    "use_tools",
    "use_workflows",
    "plan_calls",
    "analyse",
    "hand_over",
    "choose",
];

/// What comes next in a task, whatever its skill. `tools`: what the step has.
///
/// # Errors
/// When the task, its skill or something that the skill needs is not there.
pub fn next(task: Task<'_>, tools: &[String], done: &[Done]) -> Result<Next, KitError> {
    let skill = task.entry()?.get("skill").and_then(Value::as_str);
    match skill {
        Some("delegate") => delegate::next(task, tools, done),
        Some("use_tools") => use_tools::next(task, done),
        Some("use_workflows") => use_workflows::next(task, done),
        Some("plan_calls") => inquire::plan(task),
        Some("analyse") => inquire::analyse(task, done),
        Some("hand_over") => inquire::hand_over(task, done),
        Some("choose") => inquire::choose(task),
        _ => crate::skills::answer(task).map(Next::Answer),
    }
}
