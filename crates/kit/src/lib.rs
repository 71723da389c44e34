//! What an offline model of any pack is made of: tokens of a text with their places, the language of a text, and the skills
//! that a pack's `agents/offline.yaml` names. Words and phrases are data (`words/`). Pure: no IO, no clock; it knows no pack.

pub mod assist;
pub mod cut;
mod extract;
mod fields;
pub mod guard;
pub mod language;
mod naming;
mod phrases;
mod pieces;
mod reading;
mod same;
mod skills;
pub mod spot;
mod talk;
mod task;
mod texts;
mod values;
mod wishes;
mod words;

pub use skills::{SKILLS, answer};
pub use talk::Said;
pub use task::{KitError, Task};
