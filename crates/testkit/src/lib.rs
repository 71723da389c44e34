//! What tests of several crates need: servers that do what their script says and speak the real protocol, and samples.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop where it stands"
)]

pub mod fake_http;
pub mod large;
pub mod secrets;
