//! What runs a pack: the journal, a run as its journal tells it, the flow, the policy, conditions, the turn of an agent, and packs as they are read.
//! Knows no n8n, no pack and no agent by name. `run`, `flow`, `policy`, `condition` and the turn do no IO and read no clock.

pub mod agent;
pub mod claims;
pub mod condition;
pub mod flow;
pub mod gateway;
pub mod guards;
pub mod nearest;
pub mod pack;
pub mod policy;
pub mod redact;
pub mod run;
pub mod store;
#[cfg(any(test, feature = "testkit"))]
pub mod testkit;
pub mod toolset;
pub mod view;
pub mod vocabulary;
