//! A toolset that is not n8n's: to-do lists, one file a list, with tools, guards, resources, claims and a report of their own, and a
//! pack with other agents, fields and stages. It is written against the engine's public interface alone, and whole runs go through it:
//! what only one toolset could do would show here.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod blocked;
mod branches;
mod calls;
mod crash;
mod explorer;
mod guards;
mod many;
mod packs;
mod pruning;
mod resources;
mod rules;
mod runs;
mod sessions;
mod store;
mod support;
mod taking_back;
mod talk;
mod tools;
mod turns;
mod words;
