//! Checking workflow files for people and for CI: which files, what is wrong with each and where, what is known or waived,
//! what can be fixed, and the forms in which CI systems read it.
//!
//! `source`, `changed` and `staged` read files and ask git, `check` reads and (for fixes) writes the files under check; the rest is
//! pure. Nothing here prints, and no file's trouble stops the others from being checked.

pub mod baseline;
pub mod changed;
pub mod check;
pub mod document;
#[cfg(test)]
mod fixture;
pub mod git;
mod mend;
mod place;
pub mod report;
mod rewrite;
pub mod rules;
mod scan;
pub mod source;
pub mod staged;
pub mod summary;
pub mod waiver;

pub use baseline::Baseline;
pub use check::{Check, Checked, FixMode, Judged, Outcome, State};
pub use place::Place;
pub use source::Source;
pub use summary::{Summary, Threshold};
pub use waiver::Waiver;
