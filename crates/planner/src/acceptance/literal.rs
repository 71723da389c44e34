//! Literals of a request: objects in braces and texts in quotes, with where they stand.

use crate::lexicon::rx;
use agentctl_base::yaml;
use serde_json::{Map, Value};

/// What is sent for a hole in a text.
const SOMEBODY: &str = "Ann";

/// What a literal says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Said {
    Value(Value),
    /// `{status, time}`: which keys there are, and nothing of what is in them.
    Keys(Vec<String>),
}

pub(super) struct Literal {
    pub said: Said,
    pub from: usize,
    pub to: usize,
}

impl Literal {
    pub fn is_object(&self) -> bool {
        matches!(&self.said, Said::Value(value) if value.is_object())
    }

    /// Without holes.
    pub fn plain(&self) -> Option<Value> {
        match &self.said {
            Said::Value(value) if !has_hole(value) => Some(value.clone()),
            _ => None,
        }
    }

    /// As it stands there; None: something of what comes in goes into it, or it is none.
    pub fn whole(&self) -> Option<Value> {
        match &self.said {
            Said::Value(value) if !value.to_string().contains("{{") => Some(value.clone()),
            _ => None,
        }
    }

    /// Of keys alone: whether the request speaks of one of them beside them, as more than the call's address or an HTTP status.
    pub fn is_explained(&self, request: &str, status: &str) -> bool {
        let Said::Keys(keys) = &self.said else {
            return false;
        };
        let around = [request.get(..self.from), request.get(self.to..)];
        let around = around.map(Option::unwrap_or_default).join(" ");
        let other = rx(&format!(r"(?i)\b{status}\s*:?\s*[1-5]\d\d\b|\S*/\S*"));
        let around = other.replace_all(&around, " ");
        let around = around.to_lowercase();
        let spoken = |key: &String| {
            let key = key.to_lowercase();
            let mut words = around.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            words.any(|word| word.starts_with(&key))
        };
        keys.iter().any(spoken)
    }
}

/// In order. What stands in a literal is none of its own.
pub(super) fn literals(request: &str) -> Vec<Literal> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(rest) = request.get(from..) {
        let Some(start) = rest.find(['{', '"', '“', '„', '«', '`', '\'']) else {
            break;
        };
        let at = from + start;
        let Some(open) = rest.get(start..).and_then(|rest| rest.chars().next()) else {
            break;
        };
        from = at + open.len_utf8();
        let Some(to) = closed(request, at, open) else {
            continue;
        };
        let whole = request.get(at..to).unwrap_or("");
        let inner = || {
            let end = whole.char_indices().last().map_or(0, |(end, _)| end);
            whole.get(open.len_utf8()..end).unwrap_or("").trim()
        };
        let said = match open {
            '{' => in_braces(whole),
            '`' if inner().starts_with('{') => in_braces(inner()),
            _ => Some(Said::Value(Value::String(inner().to_owned()))),
        };
        if let Some(said) = said {
            found.push(Literal { said, from: at, to });
        }
        from = to;
    }
    found
}

/// Where the literal that opens here ends.
fn closed(request: &str, at: usize, open: char) -> Option<usize> {
    let rest = request.get(at..)?;
    let closers: &[char] = match open {
        '{' => {
            let mut depth = 0_usize;
            for (place, c) in rest.char_indices() {
                match c {
                    '{' => depth += 1,
                    '}' if depth == 1 => return Some(at + place + 1),
                    '}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
            return None;
        }
        '"' => &['"'],
        '“' => &['”'],
        '„' => &['“', '”'],
        '«' => &['»'],
        '`' => &['`'],
        // An apostrophe opens nothing within a word, and closes nothing before one.
        _ if request.get(..at)?.ends_with(char::is_alphanumeric) => return None,
        _ => {
            let mut ends = rest.char_indices().skip(1).filter(|(_, c)| *c == '\'');
            let word = |place: usize| {
                let after = rest.get(place + 1..).unwrap_or("");
                after.starts_with(char::is_alphanumeric)
            };
            let (place, _) = ends.find(|(place, _)| !word(*place))?;
            return Some(at + place + 1);
        }
    };
    let (place, c) = rest
        .char_indices()
        .skip(1)
        .find(|(_, c)| closers.contains(c))?;
    Some(at + place + c.len_utf8())
}

fn in_braces(text: &str) -> Option<Said> {
    let value = object(text).map(Said::Value);
    value.or_else(|| keys(text).map(Said::Keys))
}

/// Names alone, and more than one: `{name}` may stand for what was sent.
fn keys(text: &str) -> Option<Vec<String>> {
    let inner = text.strip_prefix('{')?.strip_suffix('}')?;
    let names = inner.split(',').map(|name| {
        let name = name.trim().trim_matches('"');
        rx(r"^[A-Za-z_]\w*$")
            .is_match(name)
            .then(|| name.to_owned())
    });
    let names: Vec<String> = names.collect::<Option<_>>()?;
    (names.len() > 1).then_some(names)
}

/// As people write it: with keys without quotes too. A bare word that is no value says what is meant, not what it is.
fn object(text: &str) -> Option<Value> {
    if let Ok(value @ Value::Object(_)) = serde_json::from_str(text) {
        return Some(value);
    }
    let spaced = rx(r#"([\w"'])\s*:\s*"#)
        .replace_all(text, "$1: ")
        .into_owned();
    let bare = rx(r#":\s*([^\s"'\[\]{},][^,}\]]*)"#);
    let is_value =
        |said: &str| matches!(said, "true" | "false" | "null") || said.parse::<f64>().is_ok();
    let mut words = bare.captures_iter(&spaced).filter_map(|c| c.get(1));
    if !words.all(|word| is_value(word.as_str().trim())) {
        return None;
    }
    let value: Value = yaml::typed(&spaced, "").ok()?;
    // `{status, time}` names fields, and says nothing of what is in them.
    let written = rx(r"\bnull\b").find_iter(text).count();
    (value.is_object() && nulls(&value) <= written).then_some(value)
}

fn nulls(value: &Value) -> usize {
    match value {
        Value::Null => 1,
        Value::Array(list) => list.iter().map(nulls).sum(),
        Value::Object(map) => map.values().map(nulls).sum(),
        _ => 0,
    }
}

/// A word in capitals; patterns take no notice of them otherwise.
const CAPITALS: &str = r"(?-i:\b[A-Z]{2,}\b)";
const HOLE: &str = r"\{\{?\s*(?:\$json\.(?:body\.|query\.)?)?([A-Za-z_]\w*)\s*\}\}?|<([A-Za-z_]\w*)>|\[([A-Za-z_]\w*)\]|\$([A-Za-z_]\w*)";

fn has_hole(value: &Value) -> bool {
    match value {
        Value::String(text) => {
            rx(HOLE).is_match(text) || rx(CAPITALS).is_match(text) || says_what(text)
        }
        Value::Array(list) => list.iter().any(has_hole),
        Value::Object(map) => map.values().any(has_hole),
        _ => false,
    }
}

/// "the sum of the amounts": no value, but what it is of.
fn says_what(text: &str) -> bool {
    rx(r"(?i)^(?:the|a|an|der|die|das|ein|eine|el|la|los|las|le|les|its|his|her|their)\s|\.\.\.|…")
        .is_match(text)
}

/// "where CITY is the city": what the word in capitals stands for. Some(None): it stands for something, and nobody can say for which
/// field; None: the request does not speak of it beside the text.
fn stands_for(request: &str, text: &str, word: &str) -> Option<Option<String>> {
    let times = |of: &str| of.matches(word).count();
    let beside = request.replacen(text, "", 1);
    let is = rx(&format!(
        r"(?-i:\b{word}\b)\s+(?:is|being|ist|sei|es|est|=|for|für)\s+(?:(?:the|its|der|die|das|el|la|le)\s+)?(\w+)"
    ));
    if times(&beside) == 0 {
        return None;
    }
    let field = is.captures(&beside).and_then(|c| c.get(1));
    let field = field.map(|field| field.as_str().to_owned());
    field.map(|field| (field.to_lowercase() == word.to_lowercase()).then_some(field))
}

/// The text with a value in each of its holes, each of which goes in under its name. A word in capitals is a hole where the request
/// speaks of it: "answer "Hello NAME" with the name that was sent". None: it cannot be said what would stand there.
pub(super) fn filled(
    request: &str,
    text: &str,
    sent: &str,
    input: &mut Map<String, Value>,
) -> Option<String> {
    if says_what(text) {
        return None;
    }
    let mut holes: Vec<(String, String)> = Vec::new();
    for found in rx(HOLE).captures_iter(text) {
        let whole = found.get(0)?.as_str().to_owned();
        let name = (1..=4).find_map(|at| found.get(at))?.as_str().to_owned();
        holes.push((whole, name));
    }
    for word in rx(CAPITALS).find_iter(text) {
        let name = word.as_str().to_lowercase();
        if let Some(said) = stands_for(request, text, word.as_str()) {
            // What it stands for is a field by its name, or nothing that a value can be given for.
            holes.push((word.as_str().to_owned(), said?));
            continue;
        }
        let spoken = rx(&format!(r"\b{name}\b[^.;]*\b{sent}\b"));
        if spoken.is_match(request) {
            holes.push((word.as_str().to_owned(), name));
        }
    }
    let mut out = text.to_owned();
    for (whole, name) in holes {
        let value = input
            .entry(name)
            .or_insert_with(|| Value::String(SOMEBODY.to_owned()));
        let value = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        out = out.replace(&whole, &value);
    }
    Some(out)
}
