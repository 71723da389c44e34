//! agentctl's HTTP server. Its doors (webhook, chat, OpenAI, MCP) only translate: what comes in becomes a turn of a conversation
//! (`agentctl_turns`), and its reply the answer of the door. Who comes in is known by authentication, never by what a body says.
//! No door knows a pack, an agent or a field; what a pack wants of a door stands in its pack.yaml.

mod a2a;
mod answer;
mod ask;
mod asked;
mod chat;
pub mod clients;
mod commands;
mod ending;
mod events;
mod fields;
mod files;
mod following;
mod hooks;
mod jws;
mod jwt;
mod kept;
mod listed;
mod live;
mod mcp;
mod once;
mod openai;
mod page;
mod paths;
mod places;
mod problem;
mod push;
mod reads;
#[cfg(feature = "restate")]
pub mod restate;
mod router;
mod runs;
mod server;
mod takeover;
mod threads;
mod tls;
mod turning;
mod ui;

pub use a2a::Envelope;
pub use agentctl_mcp::serve::Rate;
pub use asked::{Asked, Parent, Told};
pub use clients::{Client, Clients, How, May, RESTATE, Secret};
pub use jws::MessageKeys;
pub use jwt::{Jwt, NoKeys};
pub use mcp::McpDoor;
pub use reads::Reads;
pub use server::{Limits, Log, ServedPack, Server, Settled, serve};
pub use tls::{NoTls, Tls};
pub use ui::{Reports, Ui};
