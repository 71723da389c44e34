//! Fields that the item at a node cannot have: the node before it makes an item of known fields, and another one is read. Only where
//! every node before is known to make such an item; what is handled (`??`, `||`, `?.`) or asked after counts as meant.

use super::{
    leaves,
    report::Report,
    rules,
    subject::{NodeView, Subject},
    template,
};
use regex::Regex;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::sync::LazyLock;

const WEBHOOK: &str = "n8n-nodes-base.webhook";
/// What a webhook's item is made of.
const OF_WEBHOOK: [&str; 7] = [
    "headers",
    "params",
    "query",
    "body",
    "webhookUrl",
    "executionMode",
    "jwtPayload",
];
const OF_SCHEDULE: [&str; 11] = [
    "timestamp",
    "Readable date",
    "Readable time",
    "Day of week",
    "Year",
    "Month",
    "Day of month",
    "Hour",
    "Minute",
    "Second",
    "Timezone",
];
/// Nodes that hand on the items that they get.
const PASS: [&str; 6] = [
    "n8n-nodes-base.if",
    "n8n-nodes-base.filter",
    "n8n-nodes-base.switch",
    "n8n-nodes-base.noOp",
    "n8n-nodes-base.limit",
    "n8n-nodes-base.sort",
];
/// Operations of a condition that ask whether something is there.
const ASK: [&str; 4] = ["exists", "notExists", "empty", "notEmpty"];
/// Nodes in a row that hand on, at most.
const DEEPEST: usize = 20;

/// `$json.name` and `$json["name"]`, the same of a node that is named (`$('Name').item.json.name`), and what stands behind.
static READS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?:(?:^|[^\w$.])\$json|\$\(\s*(?:"([^"\\]+)"|'([^'\\]+)')\s*\)\.(?:item|first\(\)|last\(\))\.json)(?:\.([A-Za-z_$][\w$]*)|\[\s*(?:"([^"]+)"|'([^']+)')\s*\])\s*(\()?"#,
    )
    .ok()
});
/// Code that reckons with a field that is not there.
static MEANT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\?|\|\||&&|typeof|\bif\b|\bin\b|isEmpty|hasOwn|hasField|\btry\b").ok()
});

type Fields = BTreeSet<String>;

pub(super) fn check(subject: &Subject, report: &mut Report) {
    let pinned = |node: &NodeView| {
        let name = node.name.unwrap_or_default();
        subject
            .pinned
            .is_some_and(|pinned| pinned.contains_key(name))
    };
    for node in subject.judged() {
        if node.is_sub_node() || !subject.served.of_node(node.index).is_empty() {
            continue;
        }
        let own = arriving(subject, node, &pinned, 0);
        let mut said = BTreeSet::new();
        leaves::each(node, &mut |leaf| {
            if !leaf.is_expression() || leaf.is_code() || asks(node, leaf.pointer) {
                return;
            }
            for code in template::code(leaf.text.get(1..).unwrap_or_default()) {
                for (of, read) in reads(code) {
                    let (fields, before) = match &of {
                        None => (own.clone(), before(subject, node)),
                        Some(name) => {
                            let other = subject.named(name).and_then(|at| subject.nodes.get(at));
                            let made = other.and_then(|o| made(subject, o, &pinned, 0));
                            (made, name.clone())
                        }
                    };
                    let Some(fields) = fields.filter(|fields| !fields.contains(&read)) else {
                        continue;
                    };
                    if said.insert((leaf.pointer.to_owned(), of, read.clone())) {
                        let draft = rules::FIELD_NOT_THERE
                            .at(leaf.pointer, message(&before, &read, &fields));
                        report.node(node, draft.key(read));
                    }
                }
            }
        });
    }
}

/// The name of a node that hands its items on to this one.
fn before(subject: &Subject, node: &NodeView) -> String {
    let before = subject.main_before.of_node(node.index).first();
    let before = before.and_then(|at| subject.nodes.get(*at));
    before.and_then(|n| n.name).unwrap_or_default().to_owned()
}

fn message(before: &str, read: &str, fields: &Fields) -> String {
    let in_body = fields.contains("body") && fields.contains("headers");
    let instead = if in_body {
        format!("what was sent is at $json.body.{read}")
    } else if fields.is_empty() {
        "it has no fields".to_owned()
    } else {
        let known: Vec<&str> = fields.iter().map(String::as_str).take(8).collect();
        format!("it has {}", known.join(", "))
    };
    format!("reads $json.{read}, which the item from {before:?} cannot have: {instead}")
}

/// The fields of the items that arrive; None: not known.
fn arriving(
    subject: &Subject,
    node: &NodeView,
    pinned: &dyn Fn(&NodeView) -> bool,
    depth: usize,
) -> Option<Fields> {
    if depth > DEEPEST {
        return None;
    }
    let mut all = Fields::new();
    let mut any = false;
    for edge in subject.entering(node.index) {
        if edge.kind != "main" || edge.input != 0 {
            return None;
        }
        let before = subject.nodes.get(edge.from?)?;
        all.extend(made(subject, before, pinned, depth + 1)?);
        any = true;
    }
    any.then_some(all)
}

/// The fields of the items that a node gives out; None: not known.
fn made(
    subject: &Subject,
    node: &NodeView,
    pinned: &dyn Fn(&NodeView) -> bool,
    depth: usize,
) -> Option<Fields> {
    let description = node.description()?;
    // A failed item has other fields, and so has one that somebody pinned; a node that is off may be meant to be on.
    if node.disabled
        || pinned(node)
        || node.raw.get("onError").is_some_and(|e| e != "stopWorkflow")
        || node.raw.get("continueOnFail") == Some(&Value::Bool(true))
    {
        return None;
    }
    let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect();
    if PASS.contains(&node.node_type) {
        return arriving(subject, node, pinned, depth);
    }
    match node.node_type {
        WEBHOOK => Some(names(&OF_WEBHOOK)),
        "n8n-nodes-base.scheduleTrigger" => Some(names(&OF_SCHEDULE)),
        "n8n-nodes-base.manualTrigger" => Some(Fields::new()),
        "n8n-nodes-base.set" => {
            let (mut own, keeps) = of_set(node, description.version)?;
            if keeps {
                own.extend(arriving(subject, node, pinned, depth)?);
            }
            Some(own)
        }
        "n8n-nodes-base.aggregate" => of_aggregate(node),
        "n8n-nodes-base.summarize" => of_summarize(node),
        _ => None,
    }
}

/// What a Set node writes, and whether it keeps the rest.
fn of_set(node: &NodeView, version: f64) -> Option<(Fields, bool)> {
    let text = |key: &str| node.filled.get(key).and_then(Value::as_str);
    let flag = |key: &str| node.filled.get(key).and_then(Value::as_bool);
    if version < 3.0 {
        let keeps = flag("keepOnlySet") != Some(true);
        let mut names = Fields::new();
        let values = node.filled.get("values").and_then(Value::as_object);
        for list in values.into_iter().flat_map(Map::values) {
            for value in list.as_array().into_iter().flatten() {
                names.insert(top(value.get("name")?.as_str()?)?);
            }
        }
        return Some((names, keeps));
    }
    if text("mode") != Some("manual") {
        return None;
    }
    let keeps = match (flag("includeOtherFields"), text("include")) {
        (Some(false), _) | (None, Some("none")) => false,
        (Some(true) | None, Some("all") | None) => true,
        _ => return None,
    };
    let list = ["assignments/assignments", "fields/values"]
        .iter()
        .find_map(|place| {
            let (group, list) = place.split_once('/')?;
            node.filled.get(group)?.get(list)?.as_array()
        });
    let mut names = Fields::new();
    for value in list.into_iter().flatten() {
        names.insert(top(value.get("name")?.as_str()?)?);
    }
    // Nothing is set: the node is not set up yet.
    (keeps || !names.is_empty()).then_some((names, keeps))
}

fn of_aggregate(node: &NodeView) -> Option<Fields> {
    let text = |key: &str| node.filled.get(key).and_then(Value::as_str);
    if text("aggregate")? == "aggregateAllItemData" {
        return Some(Fields::from([top(text("destinationFieldName")?)?]));
    }
    let list = node.filled.get("fieldsToAggregate")?;
    let mut names = Fields::new();
    for field in list.get("fieldToAggregate")?.as_array()? {
        let of = |key: &str| field.get(key).and_then(Value::as_str);
        let renamed = field.get("renameField") == Some(&Value::Bool(true));
        let name = of(if renamed {
            "outputFieldName"
        } else {
            "fieldToAggregate"
        })?;
        names.insert(top(name)?);
        // A path gives its last name.
        names.extend(name.rsplit('.').next().map(str::to_owned));
    }
    (!names.is_empty()).then_some(names)
}

/// How the node writes what it did to a field before the field's name.
const SUMS: [&str; 8] = [
    "appended_",
    "average_",
    "concatenated_",
    "count_",
    "unique_count_",
    "max_",
    "min_",
    "sum_",
];

fn of_summarize(node: &NodeView) -> Option<Fields> {
    let split = node.filled.get("fieldsToSplitBy").and_then(Value::as_str);
    let mut names = Fields::new();
    let split = split.unwrap_or_default().split(',').map(str::trim);
    for name in split.filter(|name| !name.is_empty()) {
        names.insert(top(name)?);
        names.insert(name.replace([' ', '.'], "_"));
        names.extend(name.rsplit('.').next().map(str::to_owned));
    }
    let list = node.filled.get("fieldsToSummarize")?;
    let list = list.get("values")?.as_array()?;
    for value in list {
        let name = value.get("field")?.as_str()?;
        top(name)?;
        let name = name.replace([' ', '.'], "_");
        names.extend(SUMS.iter().map(|sum| format!("{sum}{name}")));
    }
    // Nothing is summed up: the node is not set up yet.
    (!list.is_empty()).then_some(names)
}

/// The key that a name with dots stands below; None: it is computed.
fn top(name: &str) -> Option<String> {
    let fixed = !name.starts_with('=') && !name.contains("{{") && !name.trim().is_empty();
    let first = name.split(['.', '[']).next().unwrap_or(name);
    fixed.then(|| first.to_owned())
}

/// The fields that a piece of code reads, where it does not reckon with their absence: of its item, or of a node's that it names.
fn reads(code: &str) -> Vec<(Option<String>, String)> {
    let (Some(reads), Some(meant)) = (READS.as_ref(), MEANT.as_ref()) else {
        return Vec::new();
    };
    if meant.is_match(code) {
        return Vec::new();
    }
    let found = reads
        .captures_iter(code)
        .filter(|found| found.get(6).is_none());
    found
        .filter_map(|found| {
            let node = found.get(1).or(found.get(2));
            let name = found.get(3).or(found.get(4)).or(found.get(5))?;
            Some((
                node.map(|node| node.as_str().to_owned()),
                name.as_str().to_owned(),
            ))
        })
        .collect()
}

/// Whether the text stands in a condition that asks whether something is there.
fn asks(node: &NodeView, pointer: &str) -> bool {
    let condition = pointer
        .strip_suffix("/leftValue")
        .and_then(|at| at.strip_prefix("/parameters"))
        .and_then(|at| at.split_once('/').map(|(_, path)| path.to_owned()));
    let Some(path) = condition else { return false };
    let mut tokens = path.split('/');
    let first = tokens.next().and_then(|token| node.filled.get(token));
    let condition = tokens.try_fold(first, |at: Option<&Value>, token| match at? {
        Value::Array(items) => Some(items.get(token.parse::<usize>().ok()?)),
        value => Some(value.get(token)),
    });
    let operation = condition
        .flatten()
        .and_then(|c| c.get("operator")?.get("operation")?.as_str());
    operation.is_some_and(|operation| ASK.contains(&operation))
}

#[cfg(test)]
mod tests {
    use super::reads;

    #[test]
    fn plain_reads_are_found_and_careful_ones_are_not() {
        let told = |(node, name): (Option<String>, String)| match node {
            Some(node) => format!("{node}:{name}"),
            None => name,
        };
        let found = |code: &str| {
            reads(code)
                .into_iter()
                .map(told)
                .collect::<Vec<_>>()
                .join(",")
        };
        assert_eq!(
            found(" $('A b').item.json.c + $(\"D\").first().json['e f'] "),
            "A b:c,D:e f"
        );
        assert_eq!(
            found(" $json.name + $json['a b'] + $json[\"c\"].d "),
            "name,a b,c"
        );
        for code in [
            "$json.name ?? ''",
            "$json?.name",
            "$json.a || 1",
            "$json.isEmpty()",
            "$json.keys()",
            "$input.item.$json.a",
            "x.$json.a",
            "$json",
            "typeof $json.a",
        ] {
            assert_eq!(found(code), "", "{code}");
        }
    }
}
