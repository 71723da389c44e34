//! One file a command, or a family of commands.

pub mod build;
pub mod catalog;
pub mod doctor;
pub mod flow;
pub mod init;
pub mod mcp;
pub mod mcp_serve;
pub mod meta;
pub mod pack;
pub mod policy;
pub mod qa;
pub mod runs;
