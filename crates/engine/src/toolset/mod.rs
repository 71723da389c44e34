//! What a pack brings besides its texts: tools, and the resources that they read and change. The engine keeps the order of a call,
//! approvals, budgets and the journal; a toolset keeps what its tools mean.

mod error;
mod resource;

pub use error::{BackendError, BackendErrorKind, BackendResult};
pub use resource::{
    ByPerson, Difference, Document, Found, PlaceWords, ResourceId, ResourceMark, Resources,
};
