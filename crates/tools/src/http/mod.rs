//! `kind: http`: what a tool file says of a request, read and checked. The host is fixed by the file or by the user's environment; a
//! value of a call can only be a part of the path, of the query, or of the body.

mod request;

use crate::kind::KindOfTool;
use crate::places::{Piece, check_query, check_shape, known, only, pieces};
use agentctl_base::yaml::{Node, Place};
use agentctl_engine::vocabulary::Faults;
use serde_json::Value;

pub(crate) const KIND: KindOfTool = KindOfTool {
    name: "http",
    check,
    make: |section| Box::new(Spec::of(section)),
};
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const KEYS: [&str; 6] = ["method", "url", "query", "body", "auth", "answer"];
const ANSWER: [&str; 4] = ["value", "failed_when", "error", "lists"];

/// What the file says; it was checked when the pack was loaded.
#[derive(Debug, Clone)]
pub(crate) struct Spec {
    pub method: String,
    pub url: String,
    pub query: Vec<(String, String)>,
    pub body: Option<Value>,
    pub auth: Option<Auth>,
    pub answer: AnswerSpec,
}

/// Where the credentials are: names of variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Auth {
    Basic { user: String, password: String },
    Bearer(String),
    Header { name: String, value: String },
}

/// How the body of an answer is read.
#[derive(Debug, Clone, Default)]
pub(crate) struct AnswerSpec {
    /// The key whose value is the result.
    pub value: Option<String>,
    /// Keys and values by which a body says that it did not work, whatever the status.
    pub failed_when: Vec<(String, Value)>,
    /// Keys that say why, the best first.
    pub error: Vec<String>,
    /// The answer is a list of tools that the caller may have executed.
    pub lists_tools: bool,
}

impl Spec {
    pub fn of(section: &Value) -> Spec {
        let text = |key: &str| section.get(key).and_then(Value::as_str).map(str::to_owned);
        let map = section.get("query").and_then(Value::as_object);
        let query = map.into_iter().flatten();
        let query = query.filter_map(|(k, v)| Some((k.clone(), v.as_str()?.to_owned())));
        Spec {
            method: text("method").unwrap_or_else(|| "GET".to_owned()),
            url: text("url").unwrap_or_default(),
            query: query.collect(),
            body: section.get("body").cloned(),
            auth: section.get("auth").and_then(auth),
            answer: section.get("answer").map(answer).unwrap_or_default(),
        }
    }

    /// Variables without which the request cannot be made.
    pub fn variables(&self) -> Vec<&str> {
        let texts = std::iter::once(&self.url).chain(self.query.iter().map(|(_, text)| text));
        let pieces = texts.flat_map(|text| pieces(text).unwrap_or_default());
        let mut names: Vec<&str> = pieces
            .filter_map(|piece| match piece {
                Piece::Variable(name) => Some(name),
                _ => None,
            })
            .collect();
        match &self.auth {
            Some(Auth::Basic { user, password }) => names.extend([user.as_str(), password]),
            Some(Auth::Bearer(name)) => names.push(name),
            Some(Auth::Header { value, .. }) => names.push(value),
            None => {}
        }
        names
    }
}

fn auth(node: &Value) -> Option<Auth> {
    let text = |of: &Value, key: &str| of.get(key).and_then(Value::as_str).map(str::to_owned);
    if let Some(basic) = node.get("basic") {
        let (user, password) = (text(basic, "user_env")?, text(basic, "password_env")?);
        return Some(Auth::Basic { user, password });
    }
    if let Some(bearer) = node.get("bearer") {
        return text(bearer, "token_env").map(Auth::Bearer);
    }
    let header = node.get("header")?;
    let (name, value) = (text(header, "name")?, text(header, "value_env")?);
    Some(Auth::Header { name, value })
}

fn answer(node: &Value) -> AnswerSpec {
    let failed = node.get("failed_when").and_then(Value::as_object);
    let failed = failed.into_iter().flatten();
    let error = node.get("error").and_then(Value::as_array);
    let error = error.into_iter().flatten().filter_map(Value::as_str);
    AnswerSpec {
        value: node.get("value").and_then(Value::as_str).map(str::to_owned),
        failed_when: failed.map(|(k, v)| (k.clone(), v.clone())).collect(),
        error: error.map(str::to_owned).collect(),
        lists_tools: node.get("lists").and_then(Value::as_str) == Some("tools"),
    }
}

fn check(node: &Node, values: &[String]) -> Faults {
    let mut faults = Faults::new();
    if node.as_map().is_none() {
        faults.push((
            node.place,
            "http is a map of method, url, query, body, auth and answer".to_owned(),
        ));
        return faults;
    }
    only(node, &KEYS, &mut faults);
    if let Some(method) = node.get("method")
        && !method.as_text().is_some_and(|m| METHODS.contains(&m))
    {
        faults.push((
            method.place,
            format!("the method is one of {}", METHODS.join(", ")),
        ));
    }
    match node.get("url") {
        Some(url) => check_url(url, values, &mut faults),
        None => faults.push((node.place, "http needs a url".to_owned())),
    }
    for entry in node.entries("query") {
        check_query(&entry.value, values, &mut faults);
    }
    if let Some(body) = node.get("body") {
        check_shape(body, values, &mut faults);
    }
    if let Some(node) = node.get("auth")
        && auth(&node.to_json()).is_none()
    {
        let forms = "auth is {basic: {user_env, password_env}}, {bearer: {token_env}} or {header: {name, value_env}}, each the name of a variable";
        faults.push((node.place, forms.to_owned()));
    }
    for variable in node.entries("auth").iter().flat_map(|way| {
        let names = way.value.as_map().unwrap_or_default().iter();
        names.filter(|entry| entry.key.ends_with("_env"))
    }) {
        let named = variable.value.as_text().is_some_and(is_variable);
        if !named
            && node
                .get("auth")
                .is_some_and(|of| auth(&of.to_json()).is_some())
        {
            let form =
                "here stands the name of a variable of the environment: letters, digits and _";
            faults.push((variable.value.place, form.to_owned()));
        }
    }
    if let Some(answer) = node.get("answer") {
        only(answer, &ANSWER, &mut faults);
        if let Some(value) = answer.get("value").filter(|v| v.as_text().is_none()) {
            let form = "value is the key of the answer whose value is the result";
            faults.push((value.place, form.to_owned()));
        }
        if let Some(lists) = answer.get("lists")
            && lists.as_text() != Some("tools")
        {
            faults.push((lists.place, "lists can be tools".to_owned()));
        }
    }
    faults
}

fn is_variable(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(letter) && name.chars().all(|c| letter(c) || c.is_ascii_digit())
}

/// What is written of the address itself: credentials belong to `auth`, secrets and answers are not sent in the open, and no part of the
/// path leads up from where the value before it stands.
fn check_place(url: &str, place: Place, faults: &mut Faults) {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let host = rest.split(['/', '{', '?', '#']).next().unwrap_or_default();
    if host.contains('@') {
        let form =
            "a url holds no user and no password: they belong to auth, as names of variables";
        faults.push((place, form.to_owned()));
    } else if url.starts_with("http://") && !is_near(host) {
        let form = "the host of a url is asked by https; http:// is for an address of this machine or of a private network";
        faults.push((place, form.to_owned()));
    }
    let path = url.split_once("://").map_or(url, |(_, rest)| rest);
    let leads_up = |segment: &str| {
        let plain = segment.to_ascii_lowercase().replace("%2e", ".");
        matches!(plain.as_str(), "." | "..")
    };
    if path.split(['/', '\\']).skip(1).any(leads_up) {
        let form = "a path goes down only: write it without . and ..";
        faults.push((place, form.to_owned()));
    }
}

/// A host, as it is written, that is this machine or an address of a private network.
fn is_near(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(inner) => inner.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    match name.parse::<std::net::IpAddr>() {
        Ok(std::net::IpAddr::V4(of)) => of.is_loopback() || of.is_private(),
        Ok(std::net::IpAddr::V6(of)) => of.is_loopback() || of.is_unique_local(),
        Err(_) => name == "localhost",
    }
}

/// The host may come from the file and from the environment, never from a value.
fn check_url(node: &Node, values: &[String], faults: &mut Faults) {
    let Some(url) = node.as_text() else {
        faults.push((node.place, "url is a text".to_owned()));
        return;
    };
    let Some(pieces) = pieces(url) else {
        faults.push((node.place, "a bracket stands open".to_owned()));
        return;
    };
    let good_start = match pieces.first() {
        Some(Piece::Variable(_)) => true,
        Some(Piece::Text(text)) => {
            let rest = text
                .strip_prefix("https://")
                .or_else(|| text.strip_prefix("http://"));
            rest.is_some_and(|rest| rest.contains('/') || pieces.len() == 1)
        }
        _ => false,
    };
    if !good_start
        || pieces
            .iter()
            .skip(1)
            .any(|p| matches!(p, Piece::Variable(_)))
    {
        let form = "a url begins with https://HOST/ or with ${VARIABLE}; no value of a call can stand before the path";
        faults.push((node.place, form.to_owned()));
    }
    // What is behind a variable begins a path.
    let variable_first = matches!(pieces.first(), Some(Piece::Variable(_)));
    if variable_first && !matches!(pieces.get(1), None | Some(Piece::Text(_)))
        || variable_first
            && matches!(pieces.get(1), Some(Piece::Text(text)) if !text.starts_with('/'))
    {
        faults.push((
            node.place,
            "behind the variable the path begins, with /".to_owned(),
        ));
    }
    check_place(url, node.place, faults);
    let text = |at: Option<&Piece<'_>>, fits: fn(&str) -> bool| match at {
        Some(Piece::Text(text)) => fits(text),
        Some(_) => false,
        None => true,
    };
    let whole = pieces.iter().enumerate().all(|(at, piece)| {
        let before = at.checked_sub(1).and_then(|at| pieces.get(at));
        !matches!(piece, Piece::Value(_))
            || text(before, |text| text.ends_with('/'))
                && text(pieces.get(at + 1), |text| text.starts_with('/'))
    });
    if !whole {
        let form = "a value is one whole segment of the path: a / stands on both sides of it";
        faults.push((node.place, form.to_owned()));
    }
    if url.contains(['?', '#']) {
        faults.push((
            node.place,
            "what stands behind ? belongs into query".to_owned(),
        ));
    }
    known(&pieces, node.place, values, faults);
}
