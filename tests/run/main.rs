//! Whole runs through the driver, the real flow engine, the real gateway and the embedded backend, with a scripted model.
//! The pack is not the built-in one: other agents, other stages.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod approvals;
mod crash;
mod damage;
mod endings;
mod gated;
mod leftovers;
mod meanings;
mod other_toolset;
mod questions;
mod room;
mod sessions;
mod support;
mod taking_back;
mod unread;
