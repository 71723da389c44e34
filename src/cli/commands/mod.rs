//! One file a command.

pub mod meta;
pub mod qa;
