//! The attacks that a runner with permissions must survive, by number: a scripted model that has been taken over, a hostile or
//! failing server, a hostile workflow, a process killed at the worst moment. docs/security.md lists them; `listed` holds the two together.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod attack;
mod authority;
mod between;
mod carriers;
mod crash;
mod domain;
mod files;
mod harmless;
mod holes;
mod injection;
mod listed;
mod loss;
mod loss_gates;
mod loss_served;
mod loss_ways;
mod orders;
mod parts;
mod policy;
mod records;
mod records_used;
mod records_user;
mod remote_agents;
mod secrets;
mod served;
mod served_acts;
mod served_agents;
mod served_files;
mod server;
mod server_ends;
mod servers;
mod state;
#[allow(
    dead_code,
    unused_imports,
    reason = "shared with other suites, each of which uses a part"
)]
mod support;
mod surroundings;
mod tools;
mod tools_documents;
mod tools_exec;
mod tools_pack;
mod trust;
mod trust_later;
mod unasked;
mod wire;
mod wire_server;
