//! `kind: search`: a search engine of the web. A request like one of `kind: http`, and where in its answer the results stand. One of them
//! may stand in the place of the search in documents, where the user's environment names it.

use crate::answer::{FAILED, TELL};
use crate::call::Call;
use crate::http;
use crate::kind::{KindOfTool, Work};
use crate::places::only;
use crate::toolset::Surroundings;
use crate::web;
use agentctl_base::BoxFuture;
use agentctl_base::yaml::Node;
use agentctl_engine::toolset::{Outcome, error_content};
use agentctl_engine::vocabulary::Faults;
use agentctl_evidence::Document;
use serde_json::{Map, Value};

pub(crate) const KIND: KindOfTool = KindOfTool {
    name: NAME,
    check,
    make: |section| Box::new(Spec::of(section)),
};
/// The kind, for who has to know which tools are engines.
pub const NAME: &str = "search";
const KEYS: [&str; 2] = ["http", "found"];
const FOUND: [&str; 8] = [
    "list", "within", "url", "title", "text", "date", "first", "most",
];
const FIRST: [&str; 4] = ["url", "title", "text", "date"];
/// The argument that says what is looked for, and the one that says how many results there are to be.
const QUERY: &str = "query";
const LIMIT: &str = "limit";
/// Results that are taken, and characters of one.
const MOST: u64 = 20;
const MAX_TEXT: usize = 4000;

/// What the file says; it was checked when the pack was loaded.
struct Spec {
    http: http::Spec,
    /// The key of the list of results.
    list: String,
    /// The key of a list of results that stands in a result.
    within: Option<String>,
    keys: Keys,
    /// A result that stands beside the list.
    first: Option<Keys>,
    /// Results that the engine gives at once.
    most: u64,
}

/// Under which keys a result has what it says.
#[derive(Default)]
struct Keys {
    url: String,
    title: Option<String>,
    text: Vec<String>,
    date: Option<String>,
}

impl Keys {
    fn of(node: &Value) -> Keys {
        let text = |key: &str| node.get(key).and_then(Value::as_str).map(str::to_owned);
        let texts = node.get("text").map(|text| match text.as_array() {
            Some(list) => list
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            None => text.as_str().map(str::to_owned).into_iter().collect(),
        });
        Keys {
            url: text("url").unwrap_or_default(),
            title: text("title"),
            text: texts.unwrap_or_default(),
            date: text("date"),
        }
    }

    fn document(&self, of: &Value) -> Option<Document> {
        let text = |key: &str| of.get(key).and_then(Value::as_str).map(str::trim);
        let or_none = |key: &Option<String>| key.as_deref().and_then(text).unwrap_or_default();
        let said = self.text.iter().filter_map(|key| text(key));
        let said: String = said.collect::<Vec<_>>().join("\n");
        let said: String = said.chars().take(MAX_TEXT).collect();
        web::document(
            text(&self.url)?,
            or_none(&self.title),
            or_none(&self.date),
            &said,
        )
    }
}

impl Spec {
    fn of(section: &Value) -> Spec {
        let none = Value::Null;
        let found = section.get("found").unwrap_or(&none);
        let text = |key: &str| found.get(key).and_then(Value::as_str).map(str::to_owned);
        Spec {
            http: http::Spec::of(section.get("http").unwrap_or(&none)),
            list: text("list").unwrap_or_default(),
            within: text("within"),
            keys: Keys::of(found),
            first: found.get("first").map(Keys::of),
            most: found.get("most").and_then(Value::as_u64).unwrap_or(MOST),
        }
    }

    /// The results of an answer; None: it holds no list of them. An engine that finds nothing may leave the list out where it has
    /// something else to say.
    fn documents(&self, answer: &Value) -> Option<Vec<Document>> {
        let first = self.first.as_ref().and_then(|first| first.document(answer));
        let list = answer.get(&self.list).and_then(Value::as_array);
        if list.is_none() && !answer.is_object() {
            return None;
        }
        let mut documents: Vec<Document> = first.into_iter().collect();
        for item in list.into_iter().flatten() {
            let inner = self
                .within
                .as_ref()
                .and_then(|key| item.get(key)?.as_array());
            let items = inner.map_or(std::slice::from_ref(item), Vec::as_slice);
            documents.extend(items.iter().filter_map(|item| self.keys.document(item)));
        }
        let mut known = std::collections::BTreeSet::new();
        documents.retain(|document| known.insert(document.doc.clone()));
        Some(documents)
    }
}

impl Work for Spec {
    fn lacks(&self, of: &Surroundings) -> Option<String> {
        self.http.lacks(of)
    }

    fn work<'a>(
        &'a self,
        call: &'a Call,
        mut values: Map<String, Value>,
        changes: bool,
    ) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let query = values.get(QUERY).and_then(Value::as_str);
            let query = query.unwrap_or_default().to_owned();
            // Whoever asks need not know how many an engine gives.
            let limit = values.get(LIMIT).and_then(Value::as_u64);
            let limit = limit.unwrap_or(self.most).clamp(1, self.most);
            values.insert(LIMIT.to_owned(), limit.into());
            let answer = match self.http.work(call, values, changes).await {
                Outcome::Ok(answer) => answer,
                Outcome::Failed(content) => {
                    let status = content.get("status").and_then(Value::as_u64);
                    return Outcome::Failed(refused(call.made.tool.id, status, content));
                }
                other => return other,
            };
            let documents = answer
                .get("result")
                .and_then(|answer| self.documents(answer));
            let Some(mut documents) = documents else {
                let content = error_content("the answer is no list of results", FAILED, TELL);
                return Outcome::Failed(refused(call.made.tool.id, Some(200), content));
            };
            documents.truncate(usize::try_from(limit).unwrap_or_default());
            Outcome::Ok(Value::Object(web::result(documents, &query)))
        })
    }
}

/// What is told where an engine gave no results: which one, with which status, and what to do.
fn refused(engine: &str, status: Option<u64>, mut content: Value) -> Value {
    let Some(map) = content.as_object_mut() else {
        return content;
    };
    let why = map.get("error").and_then(Value::as_str).unwrap_or_default();
    let answered = status.map(|status| format!("the server answered with status {status}"));
    let why = match (&answered, status) {
        (Some(answered), Some(400..)) if !why.starts_with(answered.as_str()) => {
            format!("{answered}: {why}")
        }
        _ => why.to_owned(),
    };
    let needs = format!("what {engine} needs stands in its README.md");
    let advice = match status {
        Some(401..=403) => format!("it wants another key, or refuses who asks: {needs}"),
        Some(429) => "wait, or name another engine in AGENTCTL_WEB_SEARCH".to_owned(),
        Some(500..) => {
            "it is in trouble: try later, or name another engine in AGENTCTL_WEB_SEARCH".to_owned()
        }
        Some(_) => format!("check its address and settings: {needs}"),
        None => format!("check that it can be reached: {needs}"),
    };
    map.insert("error".into(), format!("{engine}: {why}; {advice}").into());
    content
}

fn check(node: &Node, values: &[String]) -> Faults {
    let mut faults = Faults::new();
    only(node, &KEYS, &mut faults);
    match node.get("http") {
        Some(request) => faults.extend((http::KIND.check)(request, values)),
        None => faults.push((node.place, "search needs http: the request".to_owned())),
    }
    if !values.iter().any(|value| value == QUERY) {
        let form = format!("a search needs the parameter {QUERY:?}, which the tool does not have");
        faults.push((node.place, form));
    }
    let Some(found) = node.get("found") else {
        let form = "search needs found: {list, url, text}, the keys under which results stand in the answer";
        faults.push((node.place, form.to_owned()));
        return faults;
    };
    only(found, &FOUND, &mut faults);
    if found.get("list").and_then(Node::as_text).is_none() {
        let form = "found needs list: the key of the list of results";
        faults.push((found.place, form.to_owned()));
    }
    keys(found, &mut faults);
    if let Some(most) = found.get("most")
        && !most
            .to_json()
            .as_u64()
            .is_some_and(|most| (1..=MOST).contains(&most))
    {
        let form = format!("most is how many results there are at once, from 1 to {MOST}");
        faults.push((most.place, form));
    }
    if let Some(first) = found.get("first") {
        only(first, &FIRST, &mut faults);
        keys(first, &mut faults);
    }
    faults
}

fn keys(node: &Node, faults: &mut Faults) {
    let texts = |node: &Node| match node.as_list() {
        Some(items) => !items.is_empty() && items.iter().all(|item| item.as_text().is_some()),
        None => node.as_text().is_some(),
    };
    if node.get("url").and_then(Node::as_text).is_none() || !node.get("text").is_some_and(texts) {
        let form = "a result has its url under one key, and its text under one or more";
        faults.push((node.place, form.to_owned()));
    }
    for key in ["within", "title", "date"] {
        if let Some(named) = node.get(key).filter(|named| named.as_text().is_none()) {
            faults.push((named.place, format!("{key} is the name of a key")));
        }
    }
}

#[cfg(test)]
#[path = "search_tests.rs"]
pub(crate) mod search_tests;
