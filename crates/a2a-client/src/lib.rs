//! Other agents over A2A 1.0, by JSON-RPC or by HTTP+JSON: their cards, messages to them, their tasks. All that comes from them is
//! a stranger's word: bounded in size and time, and never believed beyond its form. Where requests go is judged once
//! (`agentctl_host::reach`); what the user wrote goes nowhere else. Knows no pack and decides nothing.

mod agent;
mod client;
mod error;
mod events;
mod follow;
mod pins;
mod wire;

pub use agent::{Agent, Credentials, Fetched, Limits};
pub use client::{Client, Reply};
pub use error::Error;
pub use events::Events;
pub use pins::{CardChange, CardPin, PinError};
