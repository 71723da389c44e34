//! Fields that the item at a node cannot have: the node before it makes an item of known fields, and another one is read. Only where
//! every node before is known to make such an item; what is handled (`??`, `||`, `?.`) or asked after counts as meant.

use super::{
    field_reads::FieldRead,
    leaves::{self, Leaf},
    made::{CODE, Fields, Made},
    report::Report,
    rules,
    subject::{NodeView, Subject},
    template,
};
use regex::Regex;
use serde_json::Value;
use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Operations of a condition that ask whether something is there.
const ASK: [&str; 4] = ["exists", "notExists", "empty", "notEmpty"];
/// `$json.name` and `$json["name"]`, the same of the first item and of a node that is named (`$('Name').item.json.name`), and what stands
/// behind: a call, or something that is written there.
static READS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?:(?:^|[^\w$.])(?:\$json|\$input\.(?:item|first\(\)|last\(\))\.json|items\[0\]\.json)|(?:\$\(\s*(?:"([^"\\]+)"|'([^'\\]+)')\s*\)\.(?:item|first\(\)|last\(\))|\$node\[\s*(?:"([^"\\]+)"|'([^'\\]+)')\s*\])\.json)(?:\.([A-Za-z_$][\w$]*)|\[\s*(?:"([^"]+)"|'([^']+)')\s*\])\s*(\(|=[^=>])?"#,
    )
    .ok()
});
/// Code that reckons with a field that is not there.
static MEANT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"\?|\|\||&&|typeof|\bif\b|\bin\b|isEmpty|ifEmpty|isNotEmpty|hasOwn|hasField|\btry\b|undefined|null",
    )
    .ok()
});

pub(super) fn check(subject: &Subject, report: &mut Report) {
    let made = Made::of(subject);
    for node in subject.judged() {
        if node.is_sub_node() || !subject.served.of_node(node.index).is_empty() {
            continue;
        }
        // Known only when something is read of them.
        let own = LazyCell::new(|| made.arriving(node));
        let mut said = BTreeSet::new();
        leaves::each(node, &mut |leaf| {
            if asks(node, leaf.pointer) {
                return;
            }
            for FieldRead { node: of, field } in reads_of(&made, node, &leaf) {
                let fields = match &of {
                    None => (*own).clone(),
                    Some(name) => subject.named(name).and_then(|at| made.given(at)),
                };
                let Some(fields) = fields.filter(|fields| !fields.contains(&field)) else {
                    continue;
                };
                let before = of.clone().unwrap_or_else(|| before(subject, node));
                if said.insert((leaf.pointer.to_owned(), of, field.clone())) {
                    let draft =
                        rules::FIELD_NOT_THERE.at(leaf.pointer, message(&before, &field, &fields));
                    report.node(node, draft.key(field));
                }
            }
        });
    }
}

/// The fields that a text reads: the code parts of an expression, each by itself, and the JavaScript of a Code node.
fn reads_of(made: &Made, node: &NodeView, leaf: &Leaf) -> Vec<FieldRead> {
    if leaf.is_code() {
        if node.node_type != CODE || leaf.key != "jsCode" {
            return Vec::new();
        }
        let script = made.script(node);
        return script.map_or_else(Vec::new, |script| script.field_reads.clone());
    }
    match leaf.is_expression() {
        true => template::code(leaf.text.get(1..).unwrap_or_default())
            .flat_map(reads)
            .collect(),
        false => Vec::new(),
    }
}

/// The name of a node that hands its items on to this one.
fn before(subject: &Subject, node: &NodeView) -> String {
    let before = subject.main_before.of_node(node.index).first();
    let before = before.and_then(|at| subject.nodes.get(*at));
    before.and_then(|n| n.name).unwrap_or_default().to_owned()
}

fn message(before: &str, read: &str, fields: &Fields) -> String {
    let first = read.split('.').next().unwrap_or(read);
    let instead = if first != read && fields.contains(first) {
        format!("{read:?} is read as one name; it stands at $json.{read}")
    } else if fields.contains("webhookUrl") {
        format!("what was sent is at $json.body.{read}")
    } else if fields.contains("statusCode") {
        format!("what was answered is at $json.body.{read}")
    } else if fields.is_empty() {
        "it has no fields".to_owned()
    } else {
        let known: Vec<&str> = fields.iter().map(String::as_str).take(8).collect();
        format!("it has {}", known.join(", "))
    };
    format!("reads $json.{read}, which the item from {before:?} cannot have: {instead}")
}

/// The fields that an expression reads, where it does not reckon with their absence: of its item, or of a node's that it names.
fn reads(code: &str) -> Vec<FieldRead> {
    let (Some(reads), Some(meant)) = (READS.as_ref(), MEANT.as_ref()) else {
        return Vec::new();
    };
    if meant.is_match(code) {
        return Vec::new();
    }
    let found = reads
        .captures_iter(code)
        .filter(|found| found.get(8).is_none());
    found
        .filter_map(|found| {
            let node = (1..=4).find_map(|at| found.get(at));
            let name = (5..=7).find_map(|at| found.get(at))?;
            Some(FieldRead {
                node: node.map(|node| node.as_str().to_owned()),
                field: name.as_str().to_owned(),
            })
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
        let told = |read: super::FieldRead| match read.node {
            Some(node) => format!("{node}:{}", read.field),
            None => read.field,
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
        assert_eq!(
            found(
                "f($input.first().json.a, $input.item.json['b'], items[0].json.c, $node[\"D\"].json.e)"
            ),
            "a,b,c,D:e"
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
            "$json.a === undefined",
            "$ifEmpty($json.a, 1)",
            "$input.first().json.a = 1",
        ] {
            assert_eq!(found(code), "", "{code}");
        }
    }
}
