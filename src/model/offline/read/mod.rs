//! Reads a request into a plan.

pub mod clause;
pub mod text;
pub mod value;
pub mod when;
