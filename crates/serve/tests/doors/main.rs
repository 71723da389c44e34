//! The doors of a server, each asked by hand-written HTTP.
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "tests fail loudly"
)]

mod again;
mod agents;
mod agents_0_3;
mod agents_list;
mod agents_stream;
mod approvals;
mod bell;
mod callers;
mod commands;
mod ends;
mod envelope;
mod envelope_tools;
mod envelope_waits;
mod events;
mod files;
mod later;
mod letters;
mod listed;
mod lost;
mod page;
mod pushes;
mod said;
mod support;
mod tls;
mod tools;
mod ui;
