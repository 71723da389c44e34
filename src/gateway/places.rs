//! What the arguments of another server's tool can carry besides their values: a place to go to, and keys that no schema names.
//! Which words name a place is data (`places.tsv`). A name or a value that only may be one counts as one.

use agentctl_engine::policy::keys_of;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::LazyLock;

const TABLE: &str = include_str!("places.tsv");

/// Keys of a schema below which stand values and no schemas.
const VALUES: [&str; 4] = ["const", "default", "enum", "examples"];
/// Keys of a schema below which stand schemas by names that are anybody's choice: one may be called `default`.
const NAMED: [&str; 4] = [
    "$defs",
    "definitions",
    "dependentSchemas",
    "patternProperties",
];

#[derive(Debug, Default)]
struct Words {
    names: BTreeSet<&'static str>,
    endings: BTreeSet<&'static str>,
    formats: BTreeSet<&'static str>,
    said: BTreeSet<&'static str>,
    schemes: BTreeSet<&'static str>,
    files: BTreeSet<&'static str>,
}

/// None: a line of the table cannot be read, so every argument names a place; a test says so before.
static WORDS: LazyLock<Option<Words>> = LazyLock::new(|| words(TABLE));

fn words(table: &'static str) -> Option<Words> {
    let mut words = Words::default();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let (kind, word) = line.split_once('\t')?;
        let of_kind = match kind {
            "name" => &mut words.names,
            "ending" => &mut words.endings,
            "format" => &mut words.formats,
            "said" => &mut words.said,
            "scheme" => &mut words.schemes,
            "file" => &mut words.files,
            _ => return None,
        };
        let fine = !word.is_empty()
            && word.trim() == word
            && word
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, ' ' | '-'));
        if !fine || !of_kind.insert(word) {
            return None;
        }
    }
    Some(words)
}

/// Whether an argument of the tool names a place to go to: by its name, by its format, or by what is said of it, at any depth.
pub(super) fn in_schema(schema: &Map<String, Value>) -> bool {
    WORDS.as_ref().is_none_or(|words| words.in_schema(schema))
}

/// The same of the arguments as they are given: by the name of one, or by what it looks like.
pub(super) fn in_arguments(arguments: &Map<String, Value>) -> bool {
    WORDS.as_ref().is_none_or(|words| words.in_map(arguments))
}

/// The keys of the arguments, at any depth, that no property of the schema is called by.
pub(super) fn unnamed_keys(
    schema: &Map<String, Value>,
    arguments: &Map<String, Value>,
) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    properties(schema, &mut |name, _| {
        named.insert(name.to_owned());
        false
    });
    let mut found: BTreeSet<String> = arguments.keys().cloned().collect();
    let values = arguments.values();
    values.for_each(|value| keys_of(value, &mut found));
    found.retain(|key| !named.contains(key));
    found
}

/// Each property that a schema names, at any depth, until one is the one that was looked for.
fn properties(schema: &Map<String, Value>, wanted: &mut dyn FnMut(&str, &Value) -> bool) -> bool {
    schema.iter().any(|(key, value)| match value {
        Value::Object(inner) if key == "properties" => inner
            .iter()
            .any(|(name, of)| wanted(name, of) || below(of, wanted)),
        Value::Object(inner) if NAMED.contains(&key.as_str()) => {
            inner.values().any(|of| below(of, wanted))
        }
        _ if VALUES.contains(&key.as_str()) => false,
        Value::Object(_) | Value::Array(_) => below(value, wanted),
        _ => false,
    })
}

fn below(value: &Value, wanted: &mut dyn FnMut(&str, &Value) -> bool) -> bool {
    match value {
        Value::Object(inner) => properties(inner, wanted),
        Value::Array(items) => items.iter().any(|item| below(item, wanted)),
        _ => false,
    }
}

impl Words {
    fn in_schema(&self, schema: &Map<String, Value>) -> bool {
        properties(schema, &mut |name, of| {
            let text = |key: &str| of.get(key).and_then(Value::as_str).map(str::to_lowercase);
            let said = [text("title"), text("description")];
            let format = text("format").unwrap_or_default();
            self.is_name(name)
                || self.formats.iter().any(|begins| format.starts_with(begins))
                || said.iter().flatten().any(|said| self.are_said(said))
        })
    }

    fn in_map(&self, map: &Map<String, Value>) -> bool {
        map.iter()
            .any(|(name, value)| self.is_name(name) || self.is_place(name) || self.in_value(value))
    }

    fn in_value(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.is_place(text),
            Value::Array(items) => items.iter().any(|item| self.in_value(item)),
            Value::Object(map) => self.in_map(map),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    fn is_name(&self, name: &str) -> bool {
        parts(name).iter().any(|part| {
            let one = part.strip_suffix('s').unwrap_or(part);
            [part.as_str(), one].iter().any(|part| {
                self.names.contains(part) || self.endings.iter().any(|end| part.ends_with(end))
            })
        })
    }

    /// Whole words, or their plural; of a word with hyphens also its parts.
    fn are_said(&self, told: &str) -> bool {
        fn words(told: &str, within: fn(char) -> bool) -> Vec<&str> {
            let words = told.split(|c: char| !within(c));
            words
                .map(|word| word.strip_suffix('s').unwrap_or(word))
                .collect()
        }
        let whole = words(told, |c| c.is_alphanumeric() || c == '-');
        let parts = words(told, char::is_alphanumeric);
        self.said.iter().any(|said| {
            let said = words(said, |c| c != ' ');
            let stands = |words: &[&str]| words.windows(said.len()).any(|at| at == said);
            stands(&whole) || stands(&parts)
        })
    }

    /// An address, whatever stands around it, or a whole host's name.
    fn is_place(&self, text: &str) -> bool {
        let text = text.trim();
        if text.contains("://") || text.starts_with("//") {
            return true;
        }
        let around = |c: char| c.is_whitespace() || "<>()[]{},;\"'`|".contains(c);
        text.split(around).any(|word| self.is_address(word))
            || (!text.contains(char::is_whitespace) && self.is_host(text))
    }

    fn is_address(&self, word: &str) -> bool {
        let word = word.to_lowercase();
        let word = word.trim_end_matches(['.', '!', '?', ':']);
        let scheme =
            |(scheme, rest): (&str, &str)| self.schemes.contains(scheme) && !rest.is_empty();
        let mail = |(who, host): (&str, &str)| !who.is_empty() && self.is_host(host);
        word.split_once(':').is_some_and(scheme)
            || word.rsplit_once('@').is_some_and(mail)
            || (word.starts_with("www.") && self.is_host(word))
    }

    /// `host`, `host:8080`, `host/path`, an IP address.
    fn is_host(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        let host = text.split(['/', '?', '#', '\\']).next().unwrap_or_default();
        let bare = host.trim_start_matches('[');
        let bare = bare.split_once(']').map_or(bare, |(inside, _)| inside);
        if bare.parse::<IpAddr>().is_ok() {
            return true;
        }
        let host = match host.rsplit_once(':') {
            Some((host, port)) if port.chars().all(|c| c.is_ascii_digit()) => host,
            Some(_) => return false,
            None => host,
        };
        let host = host.strip_suffix('.').unwrap_or(host);
        if host == "localhost" || host.parse::<IpAddr>().is_ok() {
            return true;
        }
        let label = |label: &str| {
            let inside = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
            !label.is_empty() && label.chars().all(inside)
        };
        let Some((above, last)) = host.rsplit_once('.') else {
            return false;
        };
        let top = last.chars().count() > 1
            && (last.chars().all(char::is_alphabetic) || last.starts_with("xn--"));
        top && above.split('.').all(label) && !self.is_file(last, &text)
    }

    /// The last word of a name without a path behind it.
    fn is_file(&self, ending: &str, text: &str) -> bool {
        self.files.contains(ending) && !text.contains('/')
    }
}

/// `targetHost`, `target_host`, `HTTPHost2` → their words, in small letters; and, where capitals tell nothing (`URLs`, `endPoint`,
/// `hRef`), what stands between other characters as one word.
fn parts(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let mut parts = vec![String::new()];
    for (i, c) in chars.iter().enumerate() {
        let before = i.checked_sub(1).and_then(|i| chars.get(i));
        let after = chars.get(i + 1);
        let begins = c.is_uppercase()
            && (before.is_some_and(|b| !b.is_uppercase())
                || after.is_some_and(|a| a.is_lowercase()));
        if begins || !c.is_alphanumeric() {
            parts.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(last) = parts.last_mut()
        {
            last.extend(c.to_lowercase());
        }
    }
    let lower = name.to_lowercase();
    let whole = lower.split(|c: char| !c.is_alphanumeric());
    parts.extend(whole.map(str::to_owned));
    // A number behind a name is another one of its kind: url2. But ipv4 is a word.
    let without = |part: &String| {
        part.trim_end_matches(|c: char| c.is_ascii_digit())
            .to_owned()
    };
    let numbered: Vec<String> = parts.iter().map(without).collect();
    parts.extend(numbered);
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_line_of_the_table_is_read() {
        let words = WORDS.as_ref().unwrap();
        let read = words.names.len()
            + words.endings.len()
            + words.formats.len()
            + words.said.len()
            + words.schemes.len()
            + words.files.len();
        let lines = TABLE.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(read, lines);
        for wrong in [
            "name\tURL",
            "name\t",
            "names\turl",
            "name url",
            "name\ta\nname\ta",
            "",
        ] {
            let lines = words_of(wrong);
            assert_eq!(lines, wrong.is_empty(), "{wrong:?}");
        }
    }

    fn words_of(table: &'static str) -> bool {
        words(table).is_some()
    }

    fn schema(name: &str, of: Value) -> Map<String, Value> {
        let inner = json!({"type": "object", "properties": {name: of}});
        let outer = json!({"$defs": {"a": {"anyOf": [{"type": "null"}, inner]}}});
        outer.as_object().unwrap().clone()
    }

    #[test]
    fn a_place_is_known_by_a_word_of_its_name() {
        for name in [
            "url",
            "URL",
            "urls",
            "baseUrl",
            "base_url",
            "baseurl",
            "image-url",
            "webhookURL",
            "URLList",
            "url2",
            "callbackUri",
            "targetHost",
            "target_host",
            "target-host",
            "host",
            "hosts",
            "hostname",
            "remoteHostName",
            "ip",
            "IPAddress",
            "ipv4",
            "ip_addr",
            "to",
            "sendTo",
            "to_emails",
            "recipient",
            "recipients",
            "mailRecipients",
            "link",
            "permalink",
            "website",
            "web_site",
            "domain",
            "subdomains",
            "endpoint",
            "apiEndpoint",
            "server",
            "fileserver",
            "webhook",
            "cc",
            "bcc",
            "replyTo",
            "ftp_path",
            "smtpServer",
            "proxy",
            "destination",
            "redirect",
            "URLs",
            "imageURLs",
            "IPs",
            "endPoint",
            "api-endPoint",
            "hRef",
            "hRef2",
            "reDirect",
            "my_webSite",
        ] {
            assert!(in_schema(&schema(name, json!({}))), "{name}");
            let given = json!({"headers": [{name: "x"}]});
            assert!(in_arguments(given.as_object().unwrap()), "{name}");
        }
        for name in [
            "q",
            "query",
            "text",
            "body",
            "path",
            "id",
            "ids",
            "limit",
            "total",
            "tools",
            "token",
            "photo",
            "count",
            "date",
            "description",
            "shipping",
            "zip",
            "tip",
            "curl_",
            "historic",
            "ePhoto",
            "toneOfVoice",
            "sitUp",
        ] {
            let found = in_schema(&schema(name, json!({})));
            assert_eq!(found, name == "curl_", "{name}");
        }
        for of in [
            json!({"format": "uri-reference"}),
            json!({"format": "idn-email"}),
            json!({"format": "ipv6"}),
            json!({"format": "hostname"}),
            json!({"description": "The URL to read."}),
            json!({"description": "Whose e-mail it goes to"}),
            json!({"title": "Web pages"}),
            json!({"title": "web-page"}),
            json!({"description": "A URL-encoded query"}),
            json!({"description": "Its IP-address"}),
            json!({"description": "Who gets it: addresses"}),
            json!({"description": "their e-mails"}),
        ] {
            assert!(in_schema(&schema("x", of.clone())), "{of}");
        }
        let told = json!({"description": "A cURL-like tour of curled hostages"});
        assert!(!in_schema(&schema("x", told)));
        // What only looks like a schema.
        let value =
            json!({"default": {"properties": {"url": {}}}, "enum": [{"properties": {"url": 1}}]});
        assert!(!in_schema(&schema("x", value)));
    }

    #[test]
    fn a_place_is_known_by_what_it_looks_like() {
        for text in [
            "https://x.example/a",
            "read http://x.example please",
            "ftp://x",
            "//x.example/a",
            "x.example",
            "X.Example.",
            "x.example:8080",
            "x.example/a.pdf",
            "x.example?q=1",
            "www.x.example",
            "see www.x.example.",
            "localhost",
            "localhost:80",
            "10.0.0.1",
            "10.0.0.1:80",
            "::1",
            "[::1]:80",
            "bob@x.example",
            "Bob <bob@x.example>",
            "write to bob@x.example.",
            "bob@10.0.0.1",
            "mailto:bob",
            "tel:+123",
            "пример.рф",
            "x.xn--p1ai",
            " x.example ",
        ] {
            let given = json!({"q": {"deep": [text]}});
            assert!(in_arguments(given.as_object().unwrap()), "{text}");
            let given = json!({"q": {text: 1}});
            assert!(in_arguments(given.as_object().unwrap()), "as a key: {text}");
        }
        for text in [
            "",
            "hello",
            "report.pdf",
            "a.b.json",
            "v1.2.3",
            "12:30",
            "1.5",
            "1.2.3.4.5",
            "a. b",
            "e.g.",
            "note: this",
            "from:bob",
            "@bob",
            "bob@",
            "bob@here",
            "a/b/c",
            "and so on...",
            "x.y",
        ] {
            let given = json!({"q": {"deep": [text]}});
            assert!(!in_arguments(given.as_object().unwrap()), "{text}");
        }
    }

    #[test]
    fn keys_that_no_property_is_called_by_are_found() {
        let schema = json!({
            "properties": {"fields": {"additionalProperties": true}, "to": {"$ref": "#/$defs/to"}},
            "$defs": {"to": {"properties": {"name": {"default": {"properties": {"sly": {}}}}}}},
        });
        let given = json!({"fields": {"b": [{"name": 1, "sly": {"c": null}}]}, "to": {}, "a": 1});
        let (schema, given) = (schema.as_object().unwrap(), given.as_object().unwrap());
        let found: Vec<String> = unnamed_keys(schema, given).into_iter().collect();
        assert_eq!(found, ["a", "b", "c", "sly"]);
        // A schema that is kept under a name, whatever the name is.
        for below in NAMED {
            for name in ["default", "enum", "properties", "x"] {
                let inner = json!({"properties": {"url": {}}});
                let schema = json!({"properties": {}, below: {name: inner}});
                let schema = schema.as_object().unwrap();
                assert!(in_schema(schema), "{schema:?}");
                let found = unnamed_keys(schema, json!({"url": 1, "x": 1}).as_object().unwrap());
                assert_eq!(found, BTreeSet::from(["x".to_owned()]), "{schema:?}");
            }
        }
    }
}
