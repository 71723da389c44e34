//! Files of requests with what a right answer must hold, and the scoring of answers against them (docs/bench.md).
//!
//! `file` reads such a file strictly (`expect` is what can stand in it), `Answer` is what was made of a request, `score` holds one against the other, `Summary` adds up.
//! Pure: nothing here builds a workflow, reads a file or prints.

mod answer;
mod checks;
mod expect;
mod file;
mod fires;
mod graph;
mod parameters;
mod pattern;
mod score;
#[cfg(test)]
mod score_tests;
mod summary;

pub use answer::Answer;
pub use file::{FileError, Kind, Request, read, reworded};
pub use score::{Item, Scored, score};
pub use summary::{BY, Summary, Sums};
