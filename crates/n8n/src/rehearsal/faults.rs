//! What a failed node means: whose fault it is, and the smallest change that clears it, where the workflow itself shows one.
//! An error's text is data from outside: it is recognised by n8n's own fixed phrases, and never acted on otherwise.

use super::reads::each_text;
use super::trace::{Fault, Trace};
use crate::finding::{Confidence, Fix};
use crate::workflow::short_type;
use crate::{EditOp, Finding, Node};
use regex::Regex;
use serde_json::{Value, json};
use std::sync::LazyLock;

/// What kind of failure it was. The word is part of a finding's id, so it stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    UnknownNode,
    NotRunYet,
    InvalidUrl,
    InvalidJson,
    WrongType,
    MissingParameter,
    Expression,
    /// The node is there to fail.
    Stopped,
    /// The account, the network or the other side: no edit of the workflow clears it.
    Outside,
    /// A field by a computed name, in the look that only the copy of a test has.
    Looked,
    Other,
}

impl Kind {
    pub fn word(self) -> &'static str {
        match self {
            Kind::UnknownNode => "unknown-node",
            Kind::NotRunYet => "not-run-yet",
            Kind::InvalidUrl => "invalid-url",
            Kind::InvalidJson => "invalid-json",
            Kind::WrongType => "wrong-type",
            Kind::MissingParameter => "missing-parameter",
            Kind::Expression => "expression",
            Kind::Stopped => "stopped",
            Kind::Outside | Kind::Looked => "outside",
            Kind::Other => "other",
        }
    }

    pub fn of(fault: &Fault, node: Option<&Node>) -> Kind {
        let text = format!(
            "{} {}",
            fault.message,
            fault.description.as_deref().unwrap_or("")
        )
        .to_lowercase();
        let has = |parts: &[&str]| parts.iter().any(|part| text.contains(part));
        // n8n may cut it in two at a colon.
        if has(&[super::plain::SAYS]) {
            Kind::Looked
        } else if node.is_some_and(|n| short_type(n.node_type()) == "stopAndError") {
            Kind::Stopped
        } else if has(&[
            "referenced node doesn't exist",
            "node doesn't exist",
            "no node with the name",
            "node does not exist",
        ]) || (text.contains("can't get data for expression")
            && text.contains("doesn't exist"))
        {
            Kind::UnknownNode
        } else if has(&[
            "referenced node is unexecuted",
            "hasn't been executed",
            "no execution data available",
            "no path back to referenced node",
        ]) {
            Kind::NotRunYet
        } else if has(&[
            "invalid url",
            "url must start with",
            "unsupported protocol",
            "only absolute urls",
            "invalid protocol",
        ]) {
            Kind::InvalidUrl
        } else if has(&[
            "valid json",
            "invalid json",
            "unexpected token",
            "is not valid json",
            "unterminated string in json",
            "json parameter",
            "expected property name",
        ]) {
            Kind::InvalidJson
        } else if has(&[
            "wrong type:",
            "was expecting a",
            "expects a ",
            "try changing the type of comparison",
        ]) {
            Kind::WrongType
        } else if has(&[
            "could not get parameter",
            "is required",
            "required parameter",
            "missing parameter",
            "parameter is missing",
            "must be set",
            "no value provided",
        ]) {
            Kind::MissingParameter
        } else if fault
            .http_code
            .is_some_and(|code| matches!(code, 300..=399 | 401..=404 | 407 | 408 | 429 | 500..))
            || has(&[
                "enotfound",
                "econnrefused",
                "econnreset",
                "etimedout",
                "ehostunreach",
                "enetunreach",
                "eai_again",
                "socket hang up",
                "certificate",
                "credential",
                "authorization failed",
                "unauthorized",
                "forbidden",
                "rate limit",
                "too many requests",
                "quota",
                "timed out",
                "timeout",
                "could not be found",
                "connection cannot be established",
                "service refused the connection",
                "could not connect",
            ])
        {
            Kind::Outside
        } else if has(&[
            "expression",
            "invalid syntax",
            "cannot read propert",
            "is not a function",
            "is not defined",
            "undefined",
        ]) {
            Kind::Expression
        } else {
            Kind::Other
        }
    }

    /// What to do, in words.
    pub fn advice(self) -> &'static str {
        match self {
            Kind::UnknownNode => "name an existing node in the expression",
            Kind::NotRunYet => "read a node that has run by then",
            Kind::InvalidUrl => "give the whole address, beginning with https://",
            Kind::InvalidJson => "make the body valid JSON; put values in with JSON.stringify",
            Kind::WrongType => "compare values of one type, or convert them",
            Kind::MissingParameter => "fill in the parameter",
            Kind::Expression => "correct the expression",
            Kind::Stopped => {
                "the workflow ended itself here; give it data that does not lead here, if that was not meant"
            }
            Kind::Outside => {
                "check the account, the address and the network; the workflow itself is not at fault"
            }
            Kind::Looked => {
                "the test ended itself here; give it data that names a field, or see what the workflow does in n8n"
            }
            Kind::Other => "read the error and change what it names",
        }
    }
}

/// The change that clears it. `checked`: what the checker says of this node; it has seen the workflow, and n8n's error says that
/// it matters.
pub(super) fn fix(kind: Kind, node: &Node, checked: &[&Finding], trace: &Trace) -> Option<Fix> {
    let from_check = |codes: &[&str]| {
        let fits = |f: &&&Finding| codes.is_empty() || codes.contains(&f.code.as_str());
        checked.iter().filter(fits).find_map(|f| f.fix.clone())
    };
    match kind {
        Kind::UnknownNode => {
            from_check(&["agentctl/unknown-reference"]).or_else(|| only_source(node, trace))
        }
        Kind::NotRunYet => from_check(&["agentctl/reference-not-upstream"]),
        Kind::InvalidUrl => whole_address(node),
        Kind::InvalidJson => {
            valid_json(node).or_else(|| from_check(&["agentctl/json-body-invalid"]))
        }
        Kind::WrongType => loose_comparison(node),
        Kind::MissingParameter => from_check(&["n8n/parameter", "agentctl/unknown-parameter-key"]),
        Kind::Expression => from_check(&[
            "agentctl/expression-syntax",
            "agentctl/unbalanced-expression",
            "agentctl/missing-expression-prefix",
            "agentctl/unknown-reference",
        ]),
        Kind::Stopped | Kind::Outside | Kind::Looked => None,
        Kind::Other => from_check(&[]),
    }
}

fn set(node: &Node, pointer: &str, value: Value, title: impl Into<String>) -> Fix {
    Fix {
        confidence: Confidence::Likely,
        title: title.into(),
        ops: vec![EditOp::SetParameter {
            node: node.id().0,
            pointer: pointer.to_owned(),
            value,
        }],
    }
}

/// The one name that does not exist can only mean the node that the items come from.
fn only_source(node: &Node, trace: &Trace) -> Option<Fix> {
    let (from, _) = trace.nodes.get(node.name())?.from.clone()?;
    let mut found: Option<(String, String, String)> = None;
    let mut several = false;
    each_text(node, &mut |pointer, key, text| {
        for reference in crate::edit::references::references(text, false) {
            if trace.nodes.contains_key(&reference.node) {
                continue;
            }
            let python = crate::edit::references::is_python(key);
            let names = (reference.node.as_str(), from.as_str());
            let is_node = |name: &str| trace.nodes.contains_key(name);
            match crate::edit::references::rename(text, python, names, is_node) {
                Some(new) if found.is_none() => {
                    found = Some((pointer.to_owned(), new, reference.node))
                }
                _ => several = true,
            }
        }
    });
    let (pointer, text, _) = found.filter(|_| !several)?;
    Some(set(
        node,
        &pointer,
        json!(text),
        format!("refer to {from:?}, which the items come from"),
    ))
}

/// `example.com/x` → `https://example.com/x`; also behind a mistyped scheme.
fn whole_address(node: &Node) -> Option<Fix> {
    static SCHEME: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)^(?:h?t{1,3}ps?|https?)(?:\s*[:;,.]?\s*/{1,3}|:/{0,3})\s*").ok()
    });
    let url = node.parameters()?.get("url")?.as_str()?;
    let (prefix, rest) = match url.strip_prefix('=') {
        Some(rest) => ("=", rest),
        None => ("", url),
    };
    let rest = rest.trim_start();
    // An address that is computed as a whole cannot be judged here.
    if rest.is_empty()
        || rest.starts_with("{{")
        || rest.to_lowercase().starts_with("https://")
        || rest.to_lowercase().starts_with("http://")
    {
        return None;
    }
    let bare = SCHEME.as_ref().map_or(rest, |scheme| {
        let end = scheme.find(rest).map_or(0, |found| found.end());
        rest.get(end..).unwrap_or(rest)
    });
    let host = bare.trim_start_matches('/');
    if host.is_empty() || !host.starts_with(|c: char| c.is_alphanumeric()) {
        return None;
    }
    let scheme = if rest.to_lowercase().starts_with("http:")
        || host.starts_with("localhost")
        || host.starts_with("127.")
    {
        "http"
    } else {
        "https"
    };
    let whole = format!("{prefix}{scheme}://{host}");
    Some(set(
        node,
        "/url",
        json!(whole),
        format!("begin the address with {scheme}://"),
    ))
}

/// A JSON text that does not parse once its expressions are filled in: the values go in through JSON.stringify, and small slips
/// (a comma too many, single quotes, a key without quotes) are mended.
fn valid_json(node: &Node) -> Option<Fix> {
    let mut found = None;
    each_text(node, &mut |pointer, key, text| {
        let is_json = matches!(
            key,
            "jsonBody"
                | "jsonOutput"
                | "jsonHeaders"
                | "jsonQuery"
                | "body"
                | "jsonParameters"
                | "responseBody"
                | "json"
        );
        if found.is_some() || !is_json {
            return;
        }
        if let Some(mended) = mended_json(text)
            && mended != text
        {
            found = Some(set(node, pointer, json!(mended), "make it valid JSON"));
        }
    });
    found
}

/// None: it cannot be told what was meant.
pub(super) fn mended_json(text: &str) -> Option<String> {
    static HOLE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?s)\{\{(.*?)\}\}").ok());
    let expression = text.starts_with('=');
    let body = text.strip_prefix('=').unwrap_or(text);
    let hole = HOLE.as_ref()?;
    // The whole text is one expression: its value is not written here.
    if hole
        .find(body)
        .is_some_and(|m| m.as_str().len() == body.trim().len() && expression)
    {
        return None;
    }
    let mut inside: Vec<String> = Vec::new();
    let marked = if expression {
        hole.replace_all(body, |c: &regex::Captures<'_>| {
            inside.push(c.get(1).map_or("", |m| m.as_str()).trim().to_owned());
            format!("\u{1}{}\u{2}", inside.len() - 1)
        })
        .into_owned()
    } else {
        body.to_owned()
    };
    let mut mended = marked;
    for (at, code) in inside.iter().enumerate() {
        let mark = format!("\u{1}{at}\u{2}");
        let done = code.starts_with("JSON.stringify(") || code.ends_with(".toJsonString()");
        let safe = if done {
            code.clone()
        } else {
            format!("JSON.stringify({code})")
        };
        let filled = format!("{{{{ {safe} }}}}");
        // Alone between quotes, or alone as a value: then its JSON stands there. Inside a longer text it is left as it is.
        let quoted = format!("\"{mark}\"");
        if mended.contains(&quoted) {
            mended = mended.replace(&quoted, &filled);
        } else if bare(&mended, &mark) {
            mended = mended.replace(&mark, &filled);
        } else {
            mended = mended.replace(&mark, &format!("{{{{ {code} }}}}"));
        }
    }
    let parses = |text: &str| serde_json::from_str::<Value>(&hole.replace_all(text, "0")).is_ok();
    if !parses(&mended) {
        mended = tidied(&mended);
    }
    parses(&mended).then(|| {
        if expression {
            format!("={mended}")
        } else {
            mended
        }
    })
}

/// The mark stands where a value stands.
fn bare(text: &str, mark: &str) -> bool {
    let Some((before, after)) = text.split_once(mark) else {
        return false;
    };
    before.trim_end().ends_with([':', '[', ',']) && after.trim_start().starts_with([',', '}', ']'])
}

/// Trailing commas, single quotes, keys without quotes. What stands between `{{` and `}}` is not touched.
fn tidied(text: &str) -> String {
    static COMMA: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r",(\s*[}\]])").ok());
    static KEY: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"([{,]\s*)([A-Za-z_][\w-]*)(\s*:)").ok());
    static SINGLE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"([:\[{,]\s*)'([^'"{}]*)'(\s*[:,\]}])"#).ok());
    let mut parts: Vec<String> = Vec::new();
    let mut rest = text;
    // Even parts are JSON, odd ones expressions.
    while let Some((json, tail)) = rest.split_once("{{") {
        let (code, tail) = tail.split_once("}}").unwrap_or((tail, ""));
        parts.push(json.to_owned());
        parts.push(format!("{{{{{code}}}}}"));
        rest = tail;
    }
    parts.push(rest.to_owned());
    for (at, part) in parts.iter_mut().enumerate() {
        if at % 2 == 1 {
            continue;
        }
        let apply = |find: &Option<Regex>, with: &str, text: &str| match find {
            Some(find) => find.replace_all(text, with).into_owned(),
            None => text.to_owned(),
        };
        // Twice: a match takes the sign that the next one begins with.
        for _ in 0..2 {
            *part = apply(&SINGLE, "$1\"$2\"$3", part);
            *part = apply(&KEY, "$1\"$2\"$3", part);
        }
        *part = apply(&COMMA, "$1", part);
    }
    parts.concat()
}

/// "5" and 5 compare as equal when the node is told to convert.
fn loose_comparison(node: &Node) -> Option<Fix> {
    if !matches!(short_type(node.node_type()), "if" | "filter" | "switch") {
        return None;
    }
    let parameters = node.parameters()?;
    let version = node.type_version().unwrap_or(2.0);
    let mut ops = Vec::new();
    let mut put = |pointer: String, value: Value| {
        ops.push(EditOp::SetParameter {
            node: node.id().0,
            pointer,
            value,
        });
    };
    if parameters.contains_key("conditions") {
        put("/conditions/options/typeValidation".into(), json!("loose"));
    }
    let rules = parameters
        .get("rules")
        .and_then(|r| r.get("values"))
        .and_then(Value::as_array);
    for at in 0..rules.map_or(0, Vec::len) {
        put(
            format!("/rules/values/{at}/conditions/options/typeValidation"),
            json!("loose"),
        );
    }
    let newest = if short_type(node.node_type()) == "switch" {
        3.2
    } else {
        2.2
    };
    let pointer = if version >= newest {
        "/looseTypeValidation"
    } else {
        "/options/looseTypeValidation"
    };
    put(pointer.into(), json!(true));
    Some(Fix {
        confidence: Confidence::Likely,
        title: "convert the values before they are compared".into(),
        ops,
    })
}
