//! The engine's own functions of expressions besides CEL's: over lists, texts, and definitions of what is to be known. All are pure and
//! give no more than they are given, as `cost` reckons it.

use super::functions::Function;
use super::of_data::evaluated;
use agentctl_base::own_words::own_words;
use cel::common::ast::{CallExpr, Expr, operators};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeSet;
use unicode_normalization::UnicodeNormalization as _;

type Given<'a> = &'a [Value];
type Result = std::result::Result<Value, String>;

/// The key by which a definition is named; one with an id is named by that.
const NAMES: [&str; 2] = ["id", "name"];

pub(super) const FUNCTIONS: &[Function] = &[
    function("last", 2, last),
    function("flat", 1, flat),
    function("lower", 1, lower),
    function("trim", 1, trim),
    function("join", 2, join),
    function("keys", 1, keys),
    function("has_text", 1, has_text),
    function("missing", 3, missing),
    function("percent", 2, percent),
    function("quote_in", 2, quote_in),
    function("in_language", 2, in_language),
    function("replaced", 2, replaced),
    function("evaluated", 2, evaluated),
    function(AT, 2, at),
];

/// `a[b]` inside of `has_text`: null where nothing stands. No expression can spell it.
const AT: &str = "@at";

const fn function(name: &'static str, arguments: usize, call: fn(Given) -> Result) -> Function {
    Function {
        name,
        arguments,
        call,
    }
}

/// Whether something stands at a place is asked of places where nothing does.
pub(super) fn lenient(call: &mut CallExpr) {
    if call.func_name == "has_text"
        && let Some(Expr::Call(inner)) = call.args.first_mut().map(|arg| &mut arg.expr)
        && inner.func_name == operators::INDEX
    {
        inner.func_name = AT.to_owned();
    }
}

/// Whether an expression that calls these calls the function.
pub(super) fn is_called(function: &Function, called: &BTreeSet<String>) -> bool {
    let name = match function.name {
        AT => "has_text",
        name => name,
    };
    called.contains(name)
}

fn at(given: Given) -> Result {
    let [of, index] = given else {
        return Ok(Value::Null);
    };
    let found = match (of, index) {
        (Value::Object(map), Value::String(key)) => map.get(key),
        (Value::Array(items), index) => index
            .as_u64()
            .and_then(|at| items.get(usize::try_from(at).ok()?)),
        _ => None,
    };
    Ok(found.cloned().unwrap_or_default())
}

fn in_language(given: Given) -> Result {
    let [text, language] = given else {
        return Ok(Value::Null);
    };
    let language = language.as_str().unwrap_or("en");
    Ok(match text {
        Value::Object(map) => map
            .get(language)
            .or_else(|| map.get(language.split('-').next().unwrap_or_default()))
            .or_else(|| map.get("en"))
            .or_else(|| map.values().next())
            .cloned()
            .unwrap_or_default(),
        text => text.clone(),
    })
}

/// `{name}` in a text becomes the value of the name.
fn replaced(given: Given) -> Result {
    let [Value::String(text), Value::Object(values)] = given else {
        return Err("`replaced` takes a text and a map of texts".to_owned());
    };
    let mut out = text.clone();
    let mut room = text.len();
    for (name, value) in values {
        let value = value.as_str().ok_or("`replaced` takes a map of texts")?;
        room += name.len() + value.len();
        out = out.replace(&format!("{{{name}}}"), value);
    }
    if out.len() > room {
        return Err("`replaced` would make more text than it was given".to_owned());
    }
    Ok(out.into())
}

fn last(given: Given) -> Result {
    let [list, n] = given else {
        return Ok(Value::Null);
    };
    let items = items("last", list)?;
    let n = n
        .as_u64()
        .ok_or("`last` takes a whole number of items, 0 or more")?;
    let skipped = items
        .len()
        .saturating_sub(usize::try_from(n).unwrap_or(usize::MAX));
    Ok(items.iter().skip(skipped).cloned().collect())
}

fn lower(given: Given) -> Result {
    text_of("lower", given).map(|text| text.to_lowercase().into())
}

fn trim(given: Given) -> Result {
    text_of("trim", given).map(|text| text.trim().into())
}

/// Texts, numbers and truth values with the separator between; null is left out.
fn join(given: Given) -> Result {
    let [list, separator] = given else {
        return Ok(Value::Null);
    };
    let separator = separator
        .as_str()
        .ok_or("`join` takes a text as separator")?;
    let written = items("join", list)?.iter().filter(|item| !item.is_null());
    let parts: Vec<Cow<'_, str>> = written
        .map(|item| match item {
            Value::String(text) => Ok(Cow::Borrowed(text.as_str())),
            Value::Number(_) | Value::Bool(_) => Ok(Cow::Owned(item.to_string())),
            _ => Err("`join` takes a list of texts, numbers and truth values"),
        })
        .collect::<std::result::Result<_, _>>()?;
    Ok(parts.join(separator).into())
}

/// The items of the lists of a list.
fn flat(given: Given) -> Result {
    let [lists] = given else {
        return Ok(Value::Null);
    };
    let mut all = Vec::new();
    for list in items("flat", lists)? {
        all.extend_from_slice(items("flat", list)?);
    }
    Ok(Value::Array(all))
}

/// Sorted.
fn keys(given: Given) -> Result {
    match given {
        [Value::Object(map)] => {
            let keys: BTreeSet<&String> = map.keys().collect();
            Ok(keys.into_iter().cloned().collect())
        }
        [Value::Null] => Ok(Value::Array(Vec::new())),
        _ => Err("`keys` takes a map".to_owned()),
    }
}

fn has_text(given: Given) -> Result {
    Ok(given.first().is_some_and(|value| !is_blank(value)).into())
}

/// The definitions that have neither a value nor stand among the unknown ones.
fn missing(given: Given) -> Result {
    let [definitions, values, unknown] = given else {
        return Ok(Value::Null);
    };
    let definitions = items("missing", definitions)?;
    let unknown: BTreeSet<&str> = items("missing", unknown)?
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let lacks = |definition: &&Value| {
        name_of(definition)
            .is_none_or(|name| !unknown.contains(name) && values.get(name).is_none_or(is_blank))
    };
    Ok(definitions.iter().filter(lacks).cloned().collect())
}

/// Rounded down; of nothing everything is there.
fn percent(given: Given) -> Result {
    let [part, whole] = given else {
        return Ok(Value::Null);
    };
    match (part.as_u64(), whole.as_u64()) {
        (Some(_), Some(0)) => Ok(100.into()),
        (Some(part), Some(whole)) => Ok((part.saturating_mul(100) / whole).min(100).into()),
        _ => Err("`percent` takes two whole numbers, 0 or more".to_owned()),
    }
}

/// Whether each quote (a text, or a list of texts) stands in the own words of one of the messages: texts, or `{role, text}`, of which
/// only the user's count. Case, spaces and kinds of quotation marks and dashes do not matter; a part of a word is no quote.
fn quote_in(given: Given) -> Result {
    let [quote, messages] = given else {
        return Ok(Value::Null);
    };
    let quotes = match quote {
        Value::Array(quotes) => quotes.as_slice(),
        one => std::slice::from_ref(one),
    };
    let messages: Vec<String> = items("quote_in", messages)?
        .iter()
        .filter_map(|message| match message {
            Value::String(text) => Some(text.as_str()),
            said if said.get("role").and_then(Value::as_str) == Some("user") => {
                said.get("text").and_then(Value::as_str)
            }
            _ => None,
        })
        .map(|text| one_spelling(&own_words(text)))
        .collect();
    let stands = |quote: &Value| {
        let quote = quote.as_str().map(one_spelling).unwrap_or_default();
        quote.chars().any(char::is_alphanumeric)
            && messages.iter().any(|said| holds_words(said, &quote))
    };
    Ok((!quotes.is_empty() && quotes.iter().all(stands)).into())
}

fn one_spelling(text: &str) -> String {
    let marks = text.nfkc().map(|c| match c {
        '“' | '”' | '„' | '«' | '»' | '‘' | '’' | '‚' | '`' | '´' | '\'' => '"',
        '–' | '—' | '‑' | '−' => '-',
        c => c,
    });
    let lower: String = marks.flat_map(char::to_lowercase).collect();
    let words: Vec<&str> = lower
        .split(|c: char| c.is_whitespace() || c == '\0')
        .filter(|word| !word.is_empty())
        .collect();
    let words = words.join(" ");
    words
        .trim_matches(|c: char| !c.is_alphanumeric() && !"+-%€$£#".contains(c))
        .to_owned()
}

/// Whether the words stand in the text, not as parts of longer ones.
fn holds_words(text: &str, words: &str) -> bool {
    let inner = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let whole = |(at, found): (usize, &str)| {
        let before = text.get(..at).and_then(|b| b.chars().next_back());
        let after = text.get(at + found.len()..).and_then(|a| a.chars().next());
        !(inner(before) && inner(found.chars().next()))
            && !(inner(after) && inner(found.chars().next_back()))
    };
    text.match_indices(words).any(whole)
}

/// What no field should take for a value: nothing, blanks, and what models write for nothing.
pub fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => {
            let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
            text.is_empty() || text == "null" || text == "\\u0000"
        }
        Value::Array(items) => items.iter().all(is_blank),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// What a definition is called: its id, else its name.
pub fn name_of(definition: &Value) -> Option<&str> {
    NAMES.iter().find_map(|key| definition.get(key)?.as_str())
}

fn items<'a>(function: &str, list: &'a Value) -> std::result::Result<&'a [Value], String> {
    match list {
        Value::Array(items) => Ok(items),
        Value::Null => Ok(&[]),
        _ => Err(format!("`{function}` takes a list")),
    }
}

/// Nothing counts as an empty text.
fn text_of<'a>(function: &str, given: Given<'a>) -> std::result::Result<&'a str, String> {
    match given {
        [Value::String(text)] => Ok(text),
        [Value::Null] => Ok(""),
        _ => Err(format!("`{function}` takes a text")),
    }
}
