//! One agent's work on one step: what it is told (prompt), how the conversation goes (turn machine), what it must answer
//! (contract). Pure: it asks for model calls and tool calls and is fed their results; it never makes one.

mod compact;
mod contract;
mod prompt;
mod spoken;
mod turn;

#[cfg(test)]
mod compact_tests;
#[cfg(test)]
mod prompt_tests;
#[cfg(test)]
mod turn_tests;

pub use compact::MAX_COMPACTIONS;
pub use contract::{Contract, ContractError};
pub use prompt::{LATEST, Skill, conversation_messages, result_block, system_prompt, task_message};
pub use spoken::SpokenText;
pub use turn::{Input, MAX_REPAIRS, Turn, TurnAction, TurnError};
