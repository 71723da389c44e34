//! Reads a request into a plan.

pub mod act;
pub mod agent;
pub mod args;
pub mod clause;
pub mod cond;
pub mod special;
pub mod text;
pub mod trigger;
pub mod value;
pub mod when;
