//! The doors of a server, each asked by hand-written HTTP.
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "tests fail loudly"
)]

mod again;
mod callers;
mod ends;
mod said;
mod support;
