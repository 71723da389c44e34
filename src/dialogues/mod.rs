//! A pack's dialogues: conversations written down as data, with what must hold after each turn. They are played turn by turn through the
//! same door as every conversation, each in an empty folder of its own.

mod expect;
mod failing;
mod file;
mod junit;
mod play;
mod spec;

pub use failing::Failing;
pub use file::{Dialogue, DialogueFile, read};
pub use junit::junit;
pub use play::{Held, NotPlayed, Played, PlayedTurn, Stage, play};

#[cfg(test)]
mod tests;
