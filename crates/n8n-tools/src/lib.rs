//! n8n as a place to work: workflows as files, a running n8n in three ways, and an n8n of one's own for trying things.
//! Knows no roles, no flow and no pack.

pub mod backend;
pub mod findings;
pub mod server;
pub mod sync;
pub mod vocabulary;
