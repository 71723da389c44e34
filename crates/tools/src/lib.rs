//! The tools that a pack's files declare: what each kind does outside. Everything that decides about a call (role, policy, budget,
//! journal) is the gateway's; here a call that was allowed is made, or refused because of where it would go. Knows no pack.

mod address;
mod answer;
mod call;
mod direct;
mod http;
mod mock;
mod places;
mod registry;
mod seen;
mod toolset;

pub use address::{Addresses, BadAddress};
pub use direct::{Came, Given};
pub use http::kinds;
pub use mock::Mode;
pub use registry::{Calls, Scored, Stands, ranked, wilson};
pub use toolset::{Mocked, Surroundings, Tools};
