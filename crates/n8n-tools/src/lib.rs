//! n8n as a place to work: workflows as files, a running n8n in three ways, an n8n of one's own for trying things, and the tools and
//! guards by which agents work on it. Knows no role, no stage and no agent by name.

pub mod accepted;
mod arguments;
pub mod backend;
mod callable;
pub mod capability;
pub mod claims;
pub mod export;
pub mod findings;
pub mod guards;
pub mod library;
pub mod noted;
pub mod report;
pub mod requests;
pub mod resources;
pub mod server;
pub mod sync;
pub mod there;
mod tool;
pub mod tools;
pub mod vocabulary;

#[cfg(any(test, feature = "testkit"))]
pub mod fixture;
#[cfg(test)]
mod gateway_tests;
#[cfg(test)]
mod noted_tests;

pub use callable::Callable;
pub use tools::{N8n, N8nTools};
