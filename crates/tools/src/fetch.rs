//! `kind: fetch`: a page of the web as a document. In a run only an address that a search of that run gave is fetched: no text from
//! outside, and no model, makes up where a request goes. Redirects are followed, each judged like the first address.

use crate::answer::{FAILED, TELL, TIMEOUT};
use crate::builtin::Reader;
use crate::call::{ADDRESS, Call, REQUIRES, deny};
use crate::kind::{KindOfTool, Work};
use crate::places::only;
use crate::web;
use agentctl_base::BoxFuture;
use agentctl_base::yaml::Node;
use agentctl_documents::Form;
use agentctl_engine::toolset::Outcome;
use agentctl_engine::vocabulary::Faults;
use agentctl_evidence::{Corpus, Document, Format};
use agentctl_host::reach::{self, Addresses, NoWay};
use reqwest::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use serde_json::{Map, Value};
use std::time::Duration;
use url::Url;

pub(crate) const KIND: KindOfTool = KindOfTool {
    name: "fetch",
    check,
    make: |section| Box::new(Spec::of(section)),
};
const KEYS: [&str; 1] = ["address"];
/// The argument that says what is looked for on the page.
const QUERY: &str = "query";
const REDIRECTS: usize = 4;
const TAKES: &str = "text/html, text/plain, text/markdown, text/csv, application/pdf, application/vnd.openxmlformats-officedocument.wordprocessingml.document, application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/// What the file says; it was checked when the pack was loaded.
struct Spec {
    /// The argument that names the address.
    address: String,
}

/// How a page is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text(Format),
    Packed(Form),
}

impl Spec {
    fn of(section: &Value) -> Spec {
        let address = section.get("address").and_then(Value::as_str);
        Spec {
            address: address.unwrap_or_default().to_owned(),
        }
    }
}

impl Work for Spec {
    fn work<'a>(
        &'a self,
        call: &'a Call,
        values: Map<String, Value>,
        _: bool,
    ) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let text = |key: &str| values.get(key).and_then(Value::as_str).unwrap_or_default();
            let Ok(mut url) = Url::parse(text(&self.address)) else {
                return Outcome::failed("the address is no URL", FAILED, "take one of a search");
            };
            url.set_fragment(None);
            let given = |document: &Document| web::address(&document.doc) == Some(url.as_str());
            if let Some(found) = &call.found
                && !found.iter().any(given)
            {
                let why = format!("no search of this run gave the address {url}");
                return Outcome::Refused(deny(REQUIRES, why));
            }
            let limits = call.made.tool.limits;
            let limit = Duration::from_secs(limits.timeout_s);
            let surroundings = &call.shared.surroundings;
            let fetched = fetched(url, &surroundings.allow, limits.max_bytes);
            let page = match tokio::time::timeout(limit, fetched).await {
                Err(_) => return Outcome::failed("no answer came in time", TIMEOUT, TELL),
                Ok(Err(refused)) => return refused,
                Ok(Ok(page)) => page,
            };
            match page
                .document(surroundings.reader.as_ref(), text(QUERY))
                .await
            {
                Ok(document) => {
                    let title = document.title.clone();
                    let mut content = web::result(vec![document], text(QUERY));
                    content.insert("title".into(), title.into());
                    Outcome::Ok(Value::Object(content))
                }
                Err(why) => Outcome::failed(why, FAILED, TELL),
            }
        })
    }
}

struct Page {
    url: Url,
    /// As its server calls it.
    mime: String,
    body: Vec<u8>,
}

impl Page {
    fn kind(&self) -> Option<Kind> {
        let text = |format| Some(Kind::Text(format));
        let packed = |form| Some(Kind::Packed(form));
        match self.mime.as_str() {
            "text/html" | "application/xhtml+xml" => text(Format::Html),
            "text/markdown" => text(Format::Markdown),
            "text/csv" => text(Format::Csv),
            "application/pdf" => packed(Form::Pdf),
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document" => {
                packed(Form::Docx)
            }
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" => {
                packed(Form::Xlsx)
            }
            // What says too little of itself is what its name says.
            "text/plain" | "application/octet-stream" | "" => {
                let named = Format::of_name(self.url.path()).map(Kind::Text);
                let named = named.or_else(|| Form::of_name(self.url.path()).map(Kind::Packed));
                named.or((self.mime == "text/plain").then_some(Kind::Text(Format::Text)))
            }
            _ => None,
        }
    }

    /// Err: why it is not read, as a sentence without its end.
    async fn document(&self, reader: Option<&Reader>, query: &str) -> Result<Document, String> {
        let (title, text) = match self.kind() {
            None => return Err(format!("{:?} is of no kind that is read", self.mime)),
            Some(Kind::Text(format)) => {
                let text = String::from_utf8_lossy(&self.body);
                let read = Document::read(self.url.as_str(), format, &text);
                let read = read.map_err(|e| e.to_string())?;
                (read.title, read.text)
            }
            Some(Kind::Packed(form)) => {
                let reader =
                    reader.ok_or_else(|| format!("nothing here reads {} files", form.name()))?;
                let read = reader.text(form, &self.body).await?;
                (read.title, read.text)
            }
        };
        let text = best(&text, query);
        let found = web::document(self.url.as_str(), &title, "", &text);
        found.ok_or_else(|| "it holds no text".to_owned())
    }
}

/// As many of its sentences as a result has, in their order: those that fit the query best, else the first ones.
fn best(text: &str, query: &str) -> String {
    let document = Document {
        doc: "page".to_owned(),
        text: text.to_owned(),
        ..Document::default()
    };
    let corpus = Corpus::new(vec![document]);
    let all = corpus.passages();
    if all.len() <= web::MAX_SENTENCES {
        return text.to_owned();
    }
    let fitting = corpus.search(query, web::MAX_SENTENCES);
    let fits = |id: &str| fitting.is_empty() || fitting.iter().any(|passage| passage.id == id);
    let chosen = all.iter().filter(|passage| fits(&passage.id));
    let chosen: Vec<&str> = chosen
        .map(|passage| passage.quote.as_str())
        .take(web::MAX_SENTENCES)
        .collect();
    chosen.join("\n")
}

/// Err: what the call comes to.
async fn fetched(mut url: Url, allow: &Addresses, max_bytes: u64) -> Result<Page, Outcome> {
    for _ in 0..=REDIRECTS {
        let at = reach::way(&url, allow, false)
            .await
            .map_err(|no| match no {
                NoWay::Unknown(why) => Outcome::failed(why, FAILED, TELL),
                NoWay::Forbidden(why) => Outcome::Refused(deny(ADDRESS, why)),
            })?;
        let failed = |why: String| Outcome::failed(why, FAILED, TELL);
        let client = reach::client(&url, at).build();
        let client = client.map_err(|e| failed(e.to_string()))?;
        let sent = client.get(url.clone()).header(ACCEPT, TAKES).send().await;
        let response = sent.map_err(|_| failed("the server cannot be reached".to_owned()))?;
        let status = response.status();
        let header = |name| {
            let value = response
                .headers()
                .get(name)
                .and_then(|value| value.to_str().ok());
            value.unwrap_or_default().to_owned()
        };
        if status.is_redirection() {
            let moved = url.join(&header(LOCATION));
            url = moved.map_err(|_| failed("it moved to an address that is none".to_owned()))?;
            continue;
        }
        if !status.is_success() {
            return Err(failed(format!(
                "the server answered with status {}",
                status.as_u16()
            )));
        }
        let mime = header(CONTENT_TYPE);
        let mime = mime
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase();
        return match reach::body(response, max_bytes).await {
            reach::Body::Whole(body) => Ok(Page { url, mime, body }),
            reach::Body::Unreadable(why) => Err(failed(why)),
            reach::Body::Lost(_) => Err(failed("the connection was cut".to_owned())),
        };
    }
    let why = format!("it moved more than {REDIRECTS} times");
    Err(Outcome::failed(why, FAILED, TELL))
}

fn check(node: &Node, values: &[String]) -> Faults {
    let mut faults = Faults::new();
    only(node, &KEYS, &mut faults);
    match node.get("address").and_then(Node::as_text) {
        Some(name) if values.iter().any(|value| value == name) => {}
        _ => faults.push((
            node.place,
            "fetch needs address: the parameter that names it".to_owned(),
        )),
    }
    faults
}

#[cfg(test)]
#[path = "fetch_tests.rs"]
mod fetch_tests;
