//! The compiler, from a plan to a whole workflow: what it writes, and that n8n would take it.
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::type_complexity,
    reason = "tests and measurements fail loudly"
)]

mod cases;
mod plans;
