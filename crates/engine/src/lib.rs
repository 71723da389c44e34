//! What runs a pack: the journal, the flow, the policy, conditions, the turn of an agent, and packs as they are read.
//! Knows no n8n, no pack and no agent by name. `flow`, `policy`, `condition` and the turn do no IO and read no clock.

pub mod agent;
pub mod condition;
pub mod flow;
pub mod pack;
pub mod policy;
pub mod redact;
pub mod store;
pub mod toolset;
