//! What the web gave, as documents: each sentence has an id, and belongs to an address. A run remembers them by its journal, so that a
//! claim can name them, and a fact check hold them against one another, also after a resume.

use agentctl_base::canonical::sha256_hex;
use agentctl_evidence::{Corpus, Document, Passage};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use url::Url;

/// The key of a result that holds such documents.
const WEB: &str = "web";
/// Between an address and the mark of what it said. One address says another thing to each search.
const MARK: char = '~';
/// Of a hash, as a mark.
const MARK_LENGTH: usize = 8;
/// Sentences of one result, at most.
pub(crate) const MAX_SENTENCES: usize = 150;

/// A document of an address. None: it is no address of the web, or there is no text.
pub(crate) fn document(address: &str, title: &str, date: &str, text: &str) -> Option<Document> {
    let mut url = Url::parse(address.trim()).ok()?;
    if !matches!(url.scheme(), "http" | "https") || !text.chars().any(char::is_alphanumeric) {
        return None;
    }
    url.set_fragment(None);
    let host = url.host_str()?;
    let hash = sha256_hex(text.as_bytes());
    let mark = hash.get(..MARK_LENGTH).unwrap_or_default();
    Some(Document {
        doc: format!("{url}{MARK}{mark}"),
        title: title.trim().to_owned(),
        source: host.strip_prefix("www.").unwrap_or(host).to_owned(),
        date: date.trim().to_owned(),
        text: text.to_owned(),
    })
}

/// The address of a document; None: it is none of the web.
pub(crate) fn address(doc: &str) -> Option<&str> {
    let (address, _) = doc.rsplit_once(MARK)?;
    (address.starts_with("http://") || address.starts_with("https://")).then_some(address)
}

/// All sentences of these documents as the result of a search, those that fit the query first.
pub(crate) fn result(documents: Vec<Document>, query: &str) -> Map<String, Value> {
    let corpus = Corpus::new(documents);
    let mut all = corpus.passages();
    all.truncate(MAX_SENTENCES);
    let fitting = corpus.search(query, all.len());
    let fitting: BTreeMap<&str, f64> = (fitting.iter())
        .map(|passage| (passage.id.as_str(), passage.score))
        .collect();
    for passage in &mut all {
        passage.score = fitting
            .get(passage.id.as_str())
            .copied()
            .unwrap_or_default();
    }
    all.sort_by(|a, b| b.score.total_cmp(&a.score));
    let ids: Vec<&str> = all.iter().map(|passage| passage.id.as_str()).collect();
    let results: Vec<Value> = all.iter().map(told).collect();
    Map::from_iter([
        ("results".to_owned(), results.into()),
        ("ids".to_owned(), ids.into()),
        (WEB.to_owned(), true.into()),
    ])
}

/// A sentence as results tell it.
pub(crate) fn told(passage: &Passage) -> Value {
    let mut told = json!({
        "id": passage.id,
        "doc": passage.doc,
        "title": passage.title,
        "source": passage.source,
        "date": passage.date,
        "quote": passage.quote,
        "score": (passage.score * 1000.0).round() / 1000.0,
    });
    if let (Some(address), Value::Object(map)) = (address(&passage.doc), &mut told) {
        map.insert("url".into(), address.into());
    }
    told
}

/// The documents that a result of a search in the web, or of a page, told of; none of any other result.
pub(crate) fn documents_of(content: &Value) -> Vec<Document> {
    if content.get(WEB) != Some(&Value::Bool(true)) {
        return Vec::new();
    }
    let results = content.get("results").and_then(Value::as_array);
    let mut found: BTreeMap<String, (Document, BTreeMap<u32, String>)> = BTreeMap::new();
    for result in results.into_iter().flatten() {
        let text = |key: &str| {
            let text = result.get(key).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        let id = text("id");
        let number = id
            .rsplit_once('#')
            .and_then(|(_, number)| number.parse().ok());
        let Some(number) = number else { continue };
        let entry = found.entry(text("doc")).or_insert_with(|| {
            let document = Document {
                doc: text("doc"),
                title: text("title"),
                source: text("source"),
                date: text("date"),
                text: String::new(),
            };
            (document, BTreeMap::new())
        });
        entry.1.insert(number, text("quote"));
    }
    let documents = found.into_values().map(|(document, sentences)| Document {
        text: sentences.into_values().collect::<Vec<_>>().join("\n"),
        ..document
    });
    documents.collect()
}

#[cfg(test)]
#[path = "web_tests.rs"]
mod web_tests;
