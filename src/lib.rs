//! agentctl: agents build, check and repair n8n workflows; the program enforces the rules.
//!
//! Floors, top to bottom; a module may use only those below it:
//! `cli` → `run` → `gateway` → `agent` → `model`, `mcp` → `backend` → `pack` → `flow`, `policy`, `n8n` → `knowledge`, `store`.
//! `flow`, `policy`, `n8n`, the turn machine and the offline planner do no IO and read no clock.
//! The library never prints and never exits; `cli` turns errors into text and an exit code.

// The tests' fixtures name the crate as its users do, so that suites outside can take them in.
#[cfg(test)]
extern crate self as agentctl;

pub mod agent;
pub mod backend;
pub mod cli;
pub mod condition;
pub mod flow;
pub mod gateway;
pub mod knowledge;
pub mod mcp;
pub mod model;
pub mod n8n;
pub mod pack;
mod pattern;
pub mod policy;
pub mod qa;
pub mod run;
mod secrets;
pub mod store;
mod strict_json;
pub mod yaml;
