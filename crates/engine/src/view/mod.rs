//! A run as its journal tells it: the one fold of its records, which says what was done, asked, answered, changed and used, and
//! when. The flow's own state, from which the next action follows, is `flow::RunLog`. Pure.

mod calls;
mod changes;
mod entries;
mod fold;
mod queries;
mod usage;
mod worked;

pub use calls::{Begun, Call, Intent, ModelCall, Repeated, Returned, Trace};
pub use changes::{By, Changed};
pub use entries::{
    Activation, Asked, Ended, Failed, Patched, Pinned, Point, PutBack, Refused, Said, SessionOf,
    StageChange, Stopped,
};
pub use fold::RunView;
pub use usage::{RunUsage, Use};
pub use worked::Worked;

#[cfg(test)]
mod tests;
