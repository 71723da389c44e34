//! The server's own pages: `GET /chat/{pack}`, to talk to a pack, and `GET /ui`, to look at runs, where the settings want them. They hold
//! nothing that a stranger may not see: who uses them shows a client's secret, which the page sends as a header to this server alone. No
//! cookie, nothing from elsewhere, nothing inline.

use crate::answer::{Answer, whole};
use crate::problem::Problem;
use crate::server::{ServedPack, Server};
use crate::ui::Ui;
use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderValue, REFERRER_POLICY};

const CHAT: &str = include_str!("chat.html");
const CHAT_STYLE: &str = include_str!("chat.css");
const CHAT_SCRIPT: &str = include_str!("chat.js");
const UI: &str = include_str!("ui.html");
const UI_STYLE: &str = include_str!("ui.css");
const UI_SCRIPT: &str = include_str!("ui.js");

/// What a page may do: its own script and style, and calls to this server. No other page may hold it in a frame.
const MAY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
                   frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

impl Server {
    /// A page that the settings want, or what one loads; None: the path is no page's.
    pub(crate) fn page(
        &self,
        parts: (&str, Option<&str>, Option<&str>),
    ) -> Option<Result<Answer, Problem>> {
        let (chats, ui) = (self.limits.chat_page, self.ui.as_ref());
        let page = match (parts, ui) {
            (("chat", Some(pack), None), _) if chats => self.packs.get(pack).map(|p| chat(p)),
            (("ui", None, None), Some(ui)) => Some(runs(ui, chats)),
            (("page", Some("chat.css"), None), _) if chats => Some(answer(CSS, CHAT_STYLE)),
            (("page", Some("chat.js"), None), _) if chats => Some(answer(SCRIPT, CHAT_SCRIPT)),
            (("page", Some("ui.css"), None), Some(ui)) => {
                Some(answer(CSS, format!("{}\n{UI_STYLE}", ui.look)))
            }
            (("page", Some("ui.js"), None), Some(_)) => Some(answer(SCRIPT, UI_SCRIPT)),
            (("page", Some(_), None), ui) if chats || ui.is_some() => None,
            _ => return None,
        };
        Some(page.ok_or_else(|| Problem::not_found("such page")))
    }
}

fn chat(pack: &ServedPack) -> Answer {
    let manifest = &pack.pack.manifest;
    let title = match manifest.title.is_empty() {
        true => &manifest.name,
        false => &manifest.title,
    };
    let text = CHAT.replace("{{title}}", &escaped(title));
    let text = text.replace("{{pack}}", &escaped(&manifest.name));
    answer(HTML, text)
}

fn runs(ui: &Ui, chats: bool) -> Answer {
    let text = UI.replace("{{chats}}", if chats { "yes" } else { "no" });
    let mut answer = answer(HTML, text);
    // A run's report is shown in a frame without rights, whose one style is known here.
    let may = MAY.replace(
        "style-src 'self'",
        &format!("style-src 'self' {}", ui.report_style),
    );
    if let Ok(may) = HeaderValue::from_str(&format!("{may}; frame-src blob:")) {
        answer.headers_mut().insert(CONTENT_SECURITY_POLICY, may);
    }
    answer
}

fn answer(kind: &'static str, text: impl Into<String>) -> Answer {
    let mut answer = whole(StatusCode::OK, kind, text.into());
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
