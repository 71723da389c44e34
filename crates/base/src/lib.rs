//! What every floor of agentctl speaks: the words of calls, questions and decisions; canonical JSON and hashes; JSON and YAML
//! read strictly, with places; text from outside made harmless to look at; what looks like a secret.
//! Pure: no IO, no clock, no environment. Knows nothing of n8n, flows and agents.

pub mod canonical;
pub mod counted;
pub mod decision;
pub mod foreign;
pub mod lazy_regex;
pub mod length;
pub mod line_diff;
pub mod model;
pub mod names;
pub mod own_words;
pub mod patch;
pub mod plain_http;
pub mod question;
pub mod secrets;
pub mod shell;
pub mod strict_json;
pub mod untrusted;
pub mod worded;
pub mod yaml;

use std::{future::Future, pin::Pin};

/// What an asynchronous method of a trait object returns.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
