//! The tools that a pack's files declare: what each kind does outside. Everything that decides about a call (role, policy, budget,
//! journal) is the gateway's; here a call that was allowed is made, or refused because of where it would go. Knows no pack.

mod a2a;
mod answer;
mod builtin;
mod call;
mod child;
mod direct;
mod exec;
mod fetch;
mod figures;
mod http;
mod kind;
mod mcp;
mod mock;
mod n8n;
mod pack;
mod places;
mod registry;
mod search;
mod seen;
mod toolset;
mod web;

pub use a2a::{NAME as A2A, Remote, agent_of, left};
pub use builtin::Reader;
pub use direct::{Came, Given};
pub use figures::Figures;
pub use mcp::NAME as MCP;
pub use mock::Mode;
pub use n8n::{NAME as N8N, NotRun, Ran, Which, Workflows};
pub use pack::{Approval, CallOf, Message, NAME as PACK, Packs, Told, Waits, With};
pub use registry::{Calls, Scored, Stands, Steps, in_order, ranked, wilson};
pub use search::NAME as SEARCH;
pub use toolset::{Mocked, Surroundings, Tools};

use agentctl_engine::vocabulary::Kind;

/// The kinds that a pack's tool files may name, for whoever puts the vocabulary together.
pub fn kinds() -> Vec<Kind> {
    let kind = |kind: &kind::KindOfTool| Kind {
        name: kind.name,
        check: kind.check,
    };
    kind::KINDS.iter().map(kind).collect()
}
