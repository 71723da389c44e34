//! agentctl: agents build, check and repair n8n workflows; the program enforces the rules.
//!
//! The floors are crates (docs/architecture.md); what stands here is the command line, and above the engine what still ties it to n8n.
//! Top to bottom, a module uses only those below it: `cli` → `analysis`, `dialogues` → `held` → `config`, `pack` → `trust`.
//! The library never prints and never exits; `cli` turns errors into text and an exit code.

// The tests' fixtures name the crate as its users do, so that suites outside can take them in.
#[cfg(test)]
extern crate self as agentctl;

#[cfg(feature = "full")]
pub mod analysis;
#[cfg(feature = "full")]
pub mod cli;
#[cfg(not(feature = "full"))]
#[path = "checker/mod.rs"]
pub mod cli;
#[cfg(feature = "full")]
pub mod config;
#[cfg(feature = "full")]
pub mod dialogues;
pub mod held;
#[cfg(feature = "full")]
pub mod offline;
#[cfg(feature = "full")]
pub mod pack;
#[cfg(feature = "otel")]
pub mod telemetry;
#[cfg(feature = "full")]
pub mod trust;
