//! One file a command, or a family of commands.

pub mod accept;
pub mod adopt;
pub mod analyze;
mod analyze_workflow;
pub mod approvals;
pub mod build;
pub mod catalog;
pub mod diff;
pub mod doctor;
pub mod flow;
pub mod follow;
pub mod init;
pub mod learnings;
pub mod log;
pub mod mcp;
pub mod mcp_serve;
pub mod meta;
pub mod models;
pub mod n8n;
pub mod pack;
pub mod policy;
pub mod qa;
pub mod qa_live;
pub mod runs;
pub mod trust;
pub mod undo;
pub mod usage;
