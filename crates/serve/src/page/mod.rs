//! `GET /chat/{pack}`: a page to talk to a pack, where the settings want one. It holds nothing that a stranger may not see: who talks shows a
//! client's secret, which the page sends as a header to this server alone. No cookie, nothing from elsewhere, nothing inline.

use crate::answer::{Answer, whole};
use crate::server::ServedPack;
use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderValue, REFERRER_POLICY};

const HTML: &str = include_str!("chat.html");
const STYLE: &str = include_str!("chat.css");
const SCRIPT: &str = include_str!("chat.js");

/// What the page may do: its own script and style, and calls to this server. No other page may hold it in a frame.
const MAY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
                   frame-ancestors 'none'; require-trusted-types-for 'script'";

pub fn page(pack: &ServedPack) -> Answer {
    let manifest = &pack.pack.manifest;
    let title = match manifest.title.is_empty() {
        true => &manifest.name,
        false => &manifest.title,
    };
    let text = HTML.replace("{{title}}", &escaped(title));
    let text = text.replace("{{pack}}", &escaped(&manifest.name));
    answer("text/html; charset=utf-8", text)
}

/// What the page loads; None: it loads no such thing.
pub fn part(name: &str) -> Option<Answer> {
    let (kind, text) = match name {
        "chat.css" => ("text/css; charset=utf-8", STYLE),
        "chat.js" => ("text/javascript; charset=utf-8", SCRIPT),
        _ => return None,
    };
    Some(answer(kind, text.to_owned()))
}

fn answer(kind: &'static str, text: String) -> Answer {
    let mut answer = whole(StatusCode::OK, kind, text);
    let headers = answer.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(MAY));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(
        "cross-origin-opener-policy",
        HeaderValue::from_static("same-origin"),
    );
    headers.insert(
        "cross-origin-resource-policy",
        HeaderValue::from_static("same-origin"),
    );
    answer
}

/// As text of a page, between tags or between double quotes.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            other => escaped.push(other),
        }
    }
    escaped
}
