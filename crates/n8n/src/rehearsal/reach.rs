//! The one way by which a test may leave n8n by itself: a plain GET to a host that the user listed, with an address that is written
//! out. No account, no value of the run in it, no header that makes something else of it, no other host on the way.

use super::inside::base;
use super::why::Why;
use crate::Node;
use crate::catalog::Catalog;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Versions whose parameters are these; older ones name and mean them otherwise.
const VERSIONS: &[f64] = &[3.0, 4.0, 4.1, 4.2, 4.3, 4.4, 4.5];
const PARAMETERS: &[&str] = &[
    "authentication",
    "headerParameters",
    "method",
    "options",
    "queryParameters",
    "sendBody",
    "sendHeaders",
    "sendQuery",
    "specifyHeaders",
    "specifyQuery",
    "url",
];
const OPTIONS: &[&str] = &["redirect", "response", "timeout"];
/// Headers that change nothing about what is asked of whom.
const HEADERS: &[&str] = &["accept", "accept-language", "user-agent"];

/// The hosts that the user listed: `api.example.com`, or with a port that is not the scheme's own, `api.example.com:8080`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hosts(BTreeSet<String>);

/// A text that names no host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no host: write its name alone, like api.example.com, or with a port, like api.example.com:8080"
)]
pub struct NoHost(pub String);

impl Hosts {
    /// One host as the user writes it. No scheme, no path, no pattern.
    pub fn host(text: &str) -> Result<String, NoHost> {
        let low = text.trim().to_ascii_lowercase();
        let (name, port) = match low.split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (low.as_str(), None),
        };
        let part = |part: &str| {
            !part.is_empty()
                && !part.starts_with('-')
                && !part.ends_with('-')
                && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        };
        let port_fits = port.is_none_or(|port| {
            port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|p| p > 0)
        });
        match name.split('.').all(part) && port_fits && name.len() <= 253 {
            true => Ok(low),
            false => Err(NoHost(text.to_owned())),
        }
    }

    /// Lists one more; a text that is no host lists nothing.
    pub fn add(&mut self, text: &str) {
        self.0.extend(Self::host(text));
    }

    /// These and more.
    #[must_use]
    pub fn with(&self, more: &BTreeSet<String>) -> Self {
        let mut all = self.clone();
        more.iter().for_each(|host| all.add(host));
        all
    }

    fn has(&self, host: &str) -> bool {
        self.0.contains(host)
    }
}

impl<S: AsRef<str>> FromIterator<S> for Hosts {
    fn from_iter<T: IntoIterator<Item = S>>(list: T) -> Self {
        let mut hosts = Hosts::default();
        list.into_iter().for_each(|host| hosts.add(host.as_ref()));
        hosts
    }
}

/// Host, with its port where that is not the scheme's, of an address that every program reads alike.
pub(super) fn host_of(address: &str) -> Option<String> {
    let (rest, own) = match address.strip_prefix("https://") {
        Some(rest) => (rest, ":443"),
        None => (address.strip_prefix("http://")?, ":80"),
    };
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@%/?".contains(&b);
    if !rest.bytes().all(fits) {
        return None;
    }
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let host = Hosts::host(rest.get(..end)?).ok()?;
    Some(host.strip_suffix(own).unwrap_or(&host).to_owned())
}

/// Whether both addresses are of one machine and port; every name of this machine counts as the same.
fn same_place(host: &str, n8n: &str) -> bool {
    let Some(own) = host_of(n8n) else {
        return false;
    };
    let split = |text: &str| -> (String, String) {
        match text.split_once(':') {
            Some((name, port)) => (name.to_owned(), port.to_owned()),
            None => (text.to_owned(), String::new()),
        }
    };
    let here = |name: &str| {
        name == "localhost"
            || name.ends_with(".localhost")
            || name.starts_with("127.")
            || name == "0.0.0.0"
            || name.bytes().all(|b| b.is_ascii_digit())
    };
    let ((name, port), (own_name, own_port)) = (split(host), split(&own));
    port == own_port && (name == own_name || (here(&name) && here(&own_name)))
}

/// A request that may run: its host. Else why not.
pub(super) fn reads(node: &Node, hosts: &Hosts, n8n: Option<&str>) -> Result<String, Why> {
    let acts = |what: &str| Err(Why::Acts(what.to_owned()));
    let none = Map::new();
    let given = node.parameters().unwrap_or(&none);
    let version = node.type_version().filter(|v| VERSIONS.contains(v));
    let known = Catalog::embedded()
        .lookup(node.node_type(), version)
        .known();
    let (Some(_), Some(_), Some("httpRequest")) = (version, known, base(node)) else {
        return acts("a request");
    };
    let text = |key: &str, default: &'static str| match given.get(key) {
        None => Some(default),
        Some(Value::String(text)) => Some(text.as_str()),
        Some(_) => None,
    };
    match text("method", "GET") {
        Some("GET") => {}
        Some(method @ ("DELETE" | "HEAD" | "OPTIONS" | "PATCH" | "POST" | "PUT")) => {
            return acts(&format!("{method} request"));
        }
        _ => return acts("a request of a computed method"),
    }
    if text("authentication", "none") != Some("none") {
        return Err(Why::Account("of the request".to_owned()));
    }
    if computed(&Value::Object(given.clone())) {
        return acts("a GET request with computed values");
    }
    let Some(host) = text("url", "").and_then(host_of) else {
        return acts("a GET request");
    };
    if n8n.is_some_and(|n8n| same_place(&host, n8n)) {
        return acts("a GET request to the n8n itself");
    }
    if !hosts.has(&host) {
        return Err(Why::Host(host));
    }
    if let Some(key) = given.keys().find(|key| !PARAMETERS.contains(&key.as_str())) {
        return acts(&format!("a GET request with {key:?}"));
    }
    if given
        .get("sendBody")
        .is_some_and(|send| *send != json!(false))
    {
        return acts("a GET request with a body");
    }
    let options = match given.get("options") {
        None => &none,
        Some(Value::Object(options)) => options,
        Some(_) => return acts("a GET request"),
    };
    if let Some(option) = options.keys().find(|key| !OPTIONS.contains(&key.as_str())) {
        return acts(&format!("a GET request with the option {option:?}"));
    }
    if !harmless_headers(given) {
        return acts("a GET request with headers of its own");
    }
    Ok(host)
}

fn harmless_headers(given: &Map<String, Value>) -> bool {
    if given
        .get("specifyHeaders")
        .is_some_and(|how| *how != json!("keypair"))
    {
        return false;
    }
    let Some(headers) = given.get("headerParameters") else {
        return true;
    };
    let list = headers.get("parameters").and_then(Value::as_array);
    list.is_some_and(|list| {
        list.iter().all(|header| {
            let name = header.get("name").and_then(Value::as_str);
            name.is_some_and(|name| HEADERS.contains(&name.to_ascii_lowercase().as_str()))
        })
    })
}

/// Anything in it that n8n evaluates, or might.
fn computed(value: &Value) -> bool {
    match value {
        Value::String(text) => text.starts_with('=') || text.contains("{{"),
        Value::Array(list) => list.iter().any(computed),
        Value::Object(map) => map
            .iter()
            .any(|(key, value)| key.starts_with('=') || computed(value)),
        _ => false,
    }
}

/// The same request, which goes to no other host: a redirect is an answer.
pub(super) fn without_redirects(node: &Node) -> Node {
    let mut node = node.clone();
    node.edit_parameters(|parameters| {
        let options = parameters.entry("options").or_insert_with(|| json!({}));
        if let Value::Object(options) = options {
            options.insert(
                "redirect".into(),
                json!({"redirect": {"followRedirects": false}}),
            );
        }
    });
    node
}
