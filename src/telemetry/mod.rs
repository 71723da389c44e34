//! A run, and each request of `serve`, as OpenTelemetry spans (feature `otel`): run > phase > agent > model call and tool call, named as the GenAI
//! semantic conventions name them. Made from the journal's events and their times, so nothing else in the program knows of
//! it. Must never change a run, hold one up beyond the exporter's own time limit, or send words of a conversation unless
//! asked to.

mod export;
mod requests;
mod spans;

pub use export::{Exporter, Requests, wanted};
pub use spans::{Attribute, Finished, Kind, Spans};
