//! The skills, one file each: a pure function from a task to its answer.

mod act;
mod compose;
mod elicit;
mod route;
mod signs;
mod team;

use crate::task::{KitError, Task};
use serde_json::Value;

type Skill = fn(Task<'_>) -> Result<Value, KitError>;

/// What `skill` in `offline.yaml` may name.
pub const SKILLS: [&str; 5] = ["route", "extract", "match", "act", "compose"];

/// In the order of [`SKILLS`].
const BY_NAME: [Skill; 5] = [
    route::route,
    elicit::elicit,
    team::team,
    act::act,
    compose::compose,
];

/// Answers a task as `offline.yaml` says.
///
/// # Errors
/// When the task, its skill or something that the skill needs is not there.
pub fn answer(task: Task<'_>) -> Result<Value, KitError> {
    let entry = task.entry()?;
    let skill = entry.get("skill").and_then(Value::as_str).unwrap_or("");
    let at = SKILLS.iter().position(|name| *name == skill);
    match at.and_then(|at| BY_NAME.get(at)) {
        Some(skill) => skill(task),
        None => Err(KitError::NoSkill {
            task: task.name.to_owned(),
            skill: skill.to_owned(),
        }),
    }
}
