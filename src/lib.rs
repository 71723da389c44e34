//! agentctl: agents build, check and repair n8n workflows; the program enforces the rules.
//!
//! Floors, top to bottom; a module may use only those below it:
//! `cli` → `analysis` → `run` → `gateway` → `agent` → `model`, `mcp`, `n8n_server` → `sync` → `backend` → `config`, `pack` → `flow`, `policy`, `n8n` → `trust` → `home`, `knowledge`, `store`.
//! `analysis`, `flow`, `policy`, `n8n`, the turn machine and the offline planner do no IO and read no clock.
//! The library never prints and never exits; `cli` turns errors into text and an exit code.

// The tests' fixtures name the crate as its users do, so that suites outside can take them in.
#[cfg(test)]
extern crate self as agentctl;

pub mod analysis;
pub mod cli;
pub mod config;
pub mod gateway;
pub mod held;
pub mod pack;
pub mod run;
#[cfg(feature = "otel")]
pub mod telemetry;
pub mod trust;
