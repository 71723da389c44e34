//! The model port: one request in, one answer out. Providers, the offline planner, record and replay stand behind it.
//! Nothing here decides what runs next; a model proposes, the run decides.

mod name;
pub mod nearby;
mod prices;
pub mod provider;
pub mod tape;

pub use name::{BadModelName, ModelName};
pub use prices::{Price, Prices};
