//! Which fields of a node's output the rest of the workflow reads: `$json.a.b` behind it, `$('Name').item.json.a.b` anywhere,
//! and the usual forms in code. Found by their syntax; what is computed is not seen, so a field too few is possible.

use super::sample::{Fields, Path, Step, Want, note};
use crate::edit::references::references;
use crate::passing::hands_on;
use crate::workflow::short_type;
use crate::{Node, Workflow};
use regex::Regex;
use serde_json::{Value, json};
use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::LazyLock;

/// A place in a text where an item is read, and what follows it.
pub(super) struct Read {
    pub path: Path,
    pub want: Want,
    /// Where it stands in the text, in bytes: from the root's first character to the path's last.
    pub span: Range<usize>,
    /// Where the path begins in the text.
    pub begins: usize,
}

/// What every reader wants of the node's output, in the order of the document, so that each condition sends it down its `branch`.
pub fn fields_read(workflow: &Workflow, of: &str, branch: usize) -> Fields {
    let mut fields = Fields::new();
    let behind = readers(workflow, of);
    for node in &workflow.nodes {
        let prefixes: Vec<&Path> = behind
            .iter()
            .filter(|(name, _)| name == node.name())
            .map(|(_, prefix)| prefix)
            .collect();
        each_text(node, &mut |_, key, text| {
            for prefix in &prefixes {
                for read in own_reads(key, text) {
                    let path = prefix.iter().cloned().chain(read.path).collect();
                    note(&mut fields, path, read.want);
                }
            }
            for read in named_reads(text, of) {
                note(&mut fields, read.path, read.want);
            }
        });
        for prefix in &prefixes {
            conditions(node, branch, &mut |path, want| {
                note(
                    &mut fields,
                    prefix.iter().cloned().chain(path).collect(),
                    want,
                );
            });
            for path in split_fields(node) {
                let whole = prefix.iter().cloned().chain(path).chain([Step::Element]);
                note(&mut fields, whole.collect(), Want::Any);
            }
        }
    }
    fields.retain(|(path, _)| !path.is_empty());
    fields
}

/// The nodes whose `$json` is (a part of) the node's output, each with where in it.
fn readers(workflow: &Workflow, of: &str) -> Vec<(String, Path)> {
    const MOST: usize = 2_000;
    let mut found: Vec<(String, Path)> = Vec::new();
    let mut seen: BTreeSet<(String, Path)> = BTreeSet::new();
    let mut open: VecDeque<(String, Path)> = VecDeque::from([(of.to_owned(), Path::new())]);
    while let Some((from, prefix)) = open.pop_front() {
        let served = workflow.edges().filter(|(source, kind, _, link)| {
            // A sub-node reads the item of the node that it serves.
            if *kind == "main" {
                *source == from
            } else {
                link.node == from && from != of
            }
        });
        let next: Vec<String> = served
            .map(|(source, kind, _, link)| {
                if kind == "main" {
                    link.node.clone()
                } else {
                    source.to_owned()
                }
            })
            .collect();
        for name in next {
            let state = (name.clone(), prefix.clone());
            if name == of || found.len() >= MOST || !seen.insert(state.clone()) {
                continue;
            }
            found.push(state);
            let Some(node) = workflow.node_by_name(&name) else {
                continue;
            };
            if passes(node) {
                open.push_back((name, prefix.clone()));
            } else if let Some(path) = split_fields(node).into_iter().next() {
                let inside = prefix.iter().cloned().chain(path).chain([Step::Element]);
                open.push_back((name, inside.collect()));
            } else {
                // Its sub-nodes read what it reads, and nothing behind it does.
                for (source, kind, _, link) in workflow.edges() {
                    let state = (source.to_owned(), prefix.clone());
                    if kind != "main" && link.node == name && seen.insert(state.clone()) {
                        found.push(state);
                    }
                }
            }
        }
    }
    found
}

/// The items come out as they went in (with more fields, at most).
pub(super) fn passes(node: &Node) -> bool {
    if node.disabled() {
        return true;
    }
    let kept = |key: &str| node.parameters().and_then(|p| p.get(key)) == Some(&json!(true));
    match short_type(node.node_type()) {
        "set" => kept("includeOtherFields"),
        _ => hands_on(node.node_type()),
    }
}

/// The lists that a Split Out node takes apart.
fn split_fields(node: &Node) -> Vec<Path> {
    if short_type(node.node_type()) != "splitOut" {
        return Vec::new();
    }
    let fields = node.parameters().and_then(|p| p.get("fieldToSplitOut"));
    let text = fields.and_then(Value::as_str).unwrap_or("");
    let plain = |name: &str| !name.is_empty() && !name.starts_with('=') && !name.contains("{{");
    text.split(',')
        .map(str::trim)
        .filter(|name| plain(name))
        .map(|name| {
            name.split('.')
                .map(|key| Step::Key(key.to_owned()))
                .collect()
        })
        .collect()
}

/// Every text among the parameters: its place below them, its own key, and itself.
pub(super) fn each_text<'n>(node: &'n Node, visit: &mut dyn FnMut(&str, &'n str, &'n str)) {
    fn walk<'n>(
        at: &str,
        key: &'n str,
        value: &'n Value,
        visit: &mut dyn FnMut(&str, &'n str, &'n str),
    ) {
        match value {
            Value::String(text) => visit(at, key, text),
            Value::Array(list) => {
                for (i, item) in list.iter().enumerate() {
                    walk(&format!("{at}/{i}"), key, item, visit);
                }
            }
            Value::Object(map) => {
                for (key, item) in map {
                    walk(&below(at, key), key, item, visit);
                }
            }
            _ => {}
        }
    }
    for (key, value) in node.parameters().into_iter().flatten() {
        walk(&below("", key), key, value, visit);
    }
}

fn below(at: &str, key: &str) -> String {
    format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"))
}

pub(super) fn is_code(key: &str) -> bool {
    matches!(key, "jsCode" | "functionCode" | "pythonCode")
}

/// `$json…`, and what stands for the item in code.
pub(super) fn own_reads(key: &str, text: &str) -> Vec<Read> {
    static EXPRESSION: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"\$json|\$input\.(?:item|first\(\)|last\(\)|all\(\)\[\d+\])\.json|\$data\b")
            .ok()
    });
    static CODE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"\$json|\b(?:item|i|it|x|row|entry|element|items\[\d+\]|(?:first|last)\(\)|all\(\)\[\d+\])\.json|_json|\bitem\[["']json["']\]"#).ok()
    });
    let code = is_code(key);
    if !code && !text.starts_with('=') {
        return Vec::new();
    }
    let roots = if code { &CODE } else { &EXPRESSION };
    let Some(roots) = roots.as_ref() else {
        return Vec::new();
    };
    let mut reads: Vec<Read> = Vec::new();
    for root in roots.find_iter(text) {
        // `$('Name').item.json` is somebody else's.
        let before = text.get(..root.start()).unwrap_or("").trim_end();
        let others = code && before.ends_with([')', '.']) && !before.ends_with("$input.");
        if !others {
            reads.push(read_at(text, root.start(), root.end()));
        }
    }
    if code {
        reads.extend(through_names(text, &reads));
    }
    reads
}

/// `const body = $json.body; … body.email`.
fn through_names(text: &str, reads: &[Read]) -> Vec<Read> {
    static NAMED: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?:const|let|var)\s+([A-Za-z_]\w*)\s*=\s*$").ok());
    let mut found = Vec::new();
    for read in reads.iter().filter(|read| read.want == Want::Any) {
        let before = text.get(..read.span.start).unwrap_or("");
        // `$input.first().json` is found from `first()` on.
        let before = before.strip_suffix("$input.").unwrap_or(before);
        let name = NAMED.as_ref().and_then(|named| named.captures(before));
        let Some(name) = name.and_then(|c| c.get(1)).map(|m| m.as_str()) else {
            continue;
        };
        let Ok(uses) = Regex::new(&format!(r"\b{}\b", regex::escape(name))) else {
            continue;
        };
        for used in uses.find_iter(text.get(read.span.end..).unwrap_or("")) {
            let start = read.span.end + used.start();
            if text
                .get(..start)
                .is_some_and(|before| before.ends_with('.'))
            {
                continue;
            }
            let inner = read_at(text, start, read.span.end + used.end());
            if !inner.path.is_empty() {
                let path = read.path.iter().cloned().chain(inner.path).collect();
                found.push(Read { path, ..inner });
            }
        }
    }
    found
}

/// `$('Name').item.json.a`, `$('Name').first().json.a`, `$node["Name"].json.a`.
pub(super) fn named_reads(text: &str, of: &str) -> Vec<Read> {
    static HOP: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"^["'`]?\s*[)\]]?\s*(?:\.(?:item|first\(\)|last\(\)|all\(\)\[\d+\]|itemMatching\([^()]*\)))?\.json"#).ok()
    });
    let mut reads = Vec::new();
    for reference in references(text, false) {
        if reference.node != of {
            continue;
        }
        let tail_at = reference.end();
        let Some(tail) = text.get(tail_at..) else {
            continue;
        };
        if let Some(hop) = HOP.as_ref().and_then(|hop| hop.find(tail)) {
            reads.push(read_at(text, reference.offset(), tail_at + hop.end()));
        }
    }
    reads
}

/// The path that follows, and what its last step says of the value.
fn read_at(text: &str, start: usize, end: usize) -> Read {
    static KEY: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"^(?:\?\.)?(?:\.?([A-Za-z_$][\w$]*)|\[\s*(?:"([^"\\]+)"|'([^'\\]+)')\s*\]|(\[\s*\d+\s*\]))"#).ok()
    });
    let mut path = Path::new();
    let mut want = Want::Any;
    let mut at = end;
    while let Some(rest) = text.get(at..) {
        if !rest.starts_with(['.', '[', '?']) {
            break;
        }
        let Some(found) = KEY.as_ref().and_then(|key| key.captures(rest)) else {
            break;
        };
        let whole = found.get(0).map_or(0, |m| m.end());
        let key = found.get(1).or(found.get(2)).or(found.get(3));
        let dotted = found.get(1).is_some() && !rest.starts_with('[');
        let after = rest.get(whole..).unwrap_or("");
        match key {
            Some(key) if dotted && (after.starts_with('(') || key.as_str() == "length") => {
                want = by_method(key.as_str());
                break;
            }
            Some(key) => path.push(Step::Key(key.as_str().to_owned())),
            None => path.push(Step::Element),
        }
        at += whole;
    }
    Read {
        path,
        want,
        span: start..at,
        begins: end,
    }
}

fn by_method(name: &str) -> Want {
    match name {
        "map" | "filter" | "forEach" | "reduce" | "join" | "some" | "every" | "find" | "first"
        | "last" | "flatMap" | "sort" | "pluck" | "unique" | "length" | "push" => Want::List,
        "toFixed" | "round" | "floor" | "ceil" | "isOdd" | "isEven" | "toPrecision" => Want::Number,
        "format" | "toDate" | "plus" | "minus" | "toISO" | "diff" => Want::Date,
        "toLowerCase" | "toUpperCase" | "trim" | "split" | "replace" | "replaceAll"
        | "startsWith" | "endsWith" | "match" | "slice" | "substring" | "toTitleCase"
        | "toSentenceCase" | "toDateTime" | "charAt" | "padStart" | "padEnd" | "isEmail"
        | "extractEmail" => Want::Text,
        _ => Want::Any,
    }
}

/// The rules of a Switch node, each with its conditions.
fn rules(node: &Node) -> &[Value] {
    let rules = node.parameters().and_then(|p| p.get("rules"));
    let values = rules.and_then(|rules| rules.get("values"));
    values.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// How many ways an item can take at the node by what it holds.
fn ways(node: &Node) -> usize {
    match short_type(node.node_type()) {
        "if" => 2,
        // The last one is that no rule holds.
        "switch" => rules(node).len() + 1,
        _ => 1,
    }
}

/// How many branches the workflow's widest condition has.
pub fn branches(workflow: &Workflow) -> usize {
    let on = workflow.nodes.iter().filter(|node| !node.disabled());
    on.map(ways).max().unwrap_or(1)
}

/// What an If, Filter or Switch node wants of an item that it sends down its `branch`, from 0; a node with fewer takes the last one,
/// and a Filter always lets it through.
fn conditions(node: &Node, branch: usize, visit: &mut dyn FnMut(Path, Want)) {
    let Some(parameters) = node.parameters() else {
        return;
    };
    let branch = branch.min(ways(node) - 1);
    match short_type(node.node_type()) {
        "filter" => condition_list(parameters.get("conditions"), true, visit),
        "if" => condition_list(parameters.get("conditions"), branch == 0, visit),
        "switch" => match rules(node).get(branch) {
            Some(rule) => condition_list(rule.get("conditions"), true, visit),
            None => {
                for rule in rules(node) {
                    condition_list(rule.get("conditions"), false, visit);
                }
            }
        },
        _ => {}
    }
}

/// What lets these conditions hold, or none of them.
fn condition_list(filter: Option<&Value>, hold: bool, visit: &mut dyn FnMut(Path, Want)) {
    let list = filter
        .and_then(|f| f.get("conditions"))
        .and_then(Value::as_array);
    for condition in list.into_iter().flatten() {
        let left = condition
            .get("leftValue")
            .and_then(Value::as_str)
            .unwrap_or("");
        let Some(inner) = left
            .strip_prefix("={{")
            .and_then(|rest| rest.trim_end().strip_suffix("}}"))
        else {
            continue;
        };
        let inner = inner.trim();
        let Some(end) = inner.strip_prefix("$json").map(|_| "$json".len()) else {
            continue;
        };
        let read = read_at(inner, 0, end);
        if read.span.end != inner.len() || read.path.is_empty() {
            continue;
        }
        let right = condition.get("rightValue").cloned().unwrap_or(Value::Null);
        let operator = |key: &str| {
            condition
                .get("operator")
                .and_then(|o| o.get(key))
                .and_then(Value::as_str)
                .unwrap_or("")
        };
        let (kind, operation) = (operator("type"), operator("operation"));
        let want = match hold {
            true => satisfying(kind, operation, &right),
            false => failing(kind, operation, &right),
        };
        visit(read.path, want);
    }
}

fn satisfying(kind: &str, operation: &str, right: &Value) -> Want {
    let computed = right.as_str().is_some_and(|text| text.starts_with('='));
    let number = right
        .as_f64()
        .or_else(|| right.as_str().and_then(|text| text.parse().ok()));
    let exact = |number: f64| Want::Exactly(crate::workflow::number(number));
    match (kind, operation, number, right.as_str()) {
        ("boolean", "true" | "exists" | "notEmpty", ..) => Want::Exactly(json!(true)),
        ("boolean", "false", ..) => Want::Exactly(json!(false)),
        ("boolean", "equals", ..) if right.is_boolean() => Want::Exactly(right.clone()),
        ("boolean", ..) => Want::Bool,
        ("number", _, Some(_), _) if computed => Want::Number,
        ("number", "gt" | "larger" | "notEquals", Some(n), _) => exact(n + 1.0),
        ("number", "lt" | "smaller", Some(n), _) => exact(n - 1.0),
        ("number", "gte" | "lte" | "equals" | "largerEqual" | "smallerEqual", Some(n), _) => {
            exact(n)
        }
        ("number", ..) => Want::Number,
        ("string", "equals" | "contains" | "startsWith" | "endsWith", _, Some(text))
            if !computed =>
        {
            Want::Exactly(json!(text))
        }
        ("string", "empty", ..) => Want::Exactly(json!("")),
        ("string", ..) => Want::Text,
        ("array", ..) => Want::List,
        ("dateTime", ..) => Want::Date,
        _ => Want::Any,
    }
}

/// What lets the condition not hold.
fn failing(kind: &str, operation: &str, right: &Value) -> Want {
    let opposite = match (kind, operation) {
        ("boolean", "true" | "exists" | "notEmpty") => ("boolean", "false"),
        ("boolean", "false") => ("boolean", "true"),
        ("boolean", "equals") => ("boolean", "notEquals"),
        ("number", "gt" | "larger") => ("number", "lt"),
        ("number", "lt" | "smaller") => ("number", "gt"),
        ("number", "gte" | "largerEqual") => ("number", "lt"),
        ("number", "lte" | "smallerEqual") => ("number", "gt"),
        ("number", "equals") => ("number", "notEquals"),
        ("number", "notEquals") => ("number", "equals"),
        ("string", "notEquals" | "notContains" | "notStartsWith" | "notEndsWith") => {
            ("string", "equals")
        }
        ("string", "notEmpty") => ("string", "empty"),
        ("string", "equals" | "contains" | "startsWith" | "endsWith") => {
            return Want::Exactly(json!(OTHER));
        }
        // Any text of a sample is not empty; whether a field exists no value can deny.
        (kind, _) => (kind, ""),
    };
    match (opposite, right) {
        (("boolean", "notEquals"), Value::Bool(right)) => Want::Exactly(json!(!right)),
        ((kind, operation), right) => satisfying(kind, operation, right),
    }
}

/// A text that no condition is likely to ask for.
const OTHER: &str = "another";
