//! What is told, written and tested: the item of what brings nothing, an answer that nobody reads, a word that names no field.

use super::finished::{Finished, all_texts, mapping, parameters};
use crate::lex::{Class, Lexicon};
use agentctl_n8n::{Node, short_type};
use serde_json::Value;

/// What a whole item is put into a text by.
const WHOLE: &str = "JSON.stringify(";
/// Models that answer with something of their own.
const ANSWERS: &[&str] = &["informationExtractor", "chainLlm", "sentimentAnalysis"];
/// Nodes that hand on what they are given together with something of their own.
const KEEPS: &[&str] = &["code", "aggregate", "merge", "set"];

/// Whether a node says, or writes, the item of a rhythm or of a person's click.
pub(super) fn tells_of_nothing(finished: &Finished<'_>, node: &Node) -> bool {
    let empty = |n: &&Node| finished.brings_nothing(n);
    let blind = finished.source(node).is_some_and(|n| empty(&n));
    let named = finished.nodes().filter(empty);
    let named = named.map(|n| format!("$('{}').item.json", n.name()));
    let items: Vec<String> = named.chain(blind.then(|| "$json".to_owned())).collect();
    // `JSON.stringify($json)`, and with its indentation.
    let tells = |value: &str| {
        let whole = |item: &String| {
            let ends = [")", ","].map(|end| format!("{WHOLE}{item}{end}"));
            ends.iter().any(|text| value.contains(text))
        };
        items.iter().any(whole)
    };
    all_texts(node).into_iter().any(tells) || blind && mapping(node) == "autoMapInputData"
}

/// Whether what a model answers goes nowhere, where a file is opened behind it: no node behind it reads it, and none names it.
pub(super) fn is_not_used(finished: &Finished<'_>, node: &Node) -> bool {
    if !ANSWERS.contains(&short_type(node.node_type())) {
        return false;
    }
    let name = format!("$('{}')", node.name());
    let named = finished
        .nodes()
        .any(|n| all_texts(n).iter().any(|t| t.contains(&name)));
    // What is made of each item, or of all, holds it still.
    let readers = finished.readers(node, KEEPS);
    let opens = |n: &&Node| short_type(n.node_type()) == "extractFromFile";
    let reads = |n: &&Node| {
        !opens(n)
            && !KEEPS.contains(&short_type(n.node_type()))
            && all_texts(n).iter().any(|t| t.contains("$json"))
    };
    !named && readers.iter().any(opens) && !readers.iter().any(reads)
}

/// The words behind `json.` and `json['` of an expression, up to the end of each path: the last name of each.
pub(super) fn fields(expression: &str) -> Vec<String> {
    const ITEM: &str = "$json";
    let mut found = Vec::new();
    let items = expression.replace(".item.json", ITEM);
    let items = items.replace(".first().json", ITEM);
    for path in items.split(ITEM).skip(1) {
        let ends = |c: char| !(c.is_alphanumeric() || "_.[]'?".contains(c));
        let path = path.split(ends).next().unwrap_or_default();
        let last = path.rsplit(['.', '[']).next().unwrap_or_default();
        let last = last.trim_matches(['\'', ']', '?']);
        if path.starts_with(['.', '[']) && !last.is_empty() {
            found.push(last.to_owned());
        }
    }
    found
}

/// Nouns that name a field of anything, and so none of a record, by their concepts.
const ANY_FIELD: &[&str] = &["column", "thing"];

/// Whether a node reads a field that is called by a word for fields, or for anything at all: `$json.column`, `$json.anything`.
pub(super) fn reads_a_word_for_a_field(finished: &Finished<'_>, node: &Node) -> bool {
    let lexicons = [Lexicon::of("en"), Lexicon::of(finished.language)];
    let bare = |word: &str| {
        let senses = || lexicons.iter().flat_map(|l| l.senses(word));
        senses().any(|s| s.class == Class::Noun && ANY_FIELD.contains(&s.concept.as_str()))
            && lexicons.iter().all(|l| {
                let mut own = l.senses(word).iter();
                own.all(|s| s.class != Class::Noun || ANY_FIELD.contains(&s.concept.as_str()))
            })
            || word == "json"
    };
    let all = |name: &String| {
        let name = name.to_lowercase();
        let mut words = name.split('_').filter(|w| !w.is_empty()).peekable();
        // The body of a call is its own field.
        let shown = words.peek().is_some() && name != "body";
        shown && words.all(|w| bare(w) || w == "body")
    };
    let mut expressions = all_texts(node).into_iter().filter(|t| t.starts_with('='));
    expressions.any(|t| fields(t).iter().any(all))
}

/// Whether a test holds an amount or a date against yes or no.
pub(super) fn takes_a_figure_for_a_yes(finished: &Finished<'_>, node: &Node) -> bool {
    let tests = parameters(node)
        .get("conditions")
        .and_then(|c| c.get("conditions")?.as_array());
    let measured = |name: &String| {
        let senses = Lexicon::of("en").senses(name).iter();
        let mut senses = senses.chain(Lexicon::of(finished.language).senses(name));
        senses.any(|s| matches!(s.kind(), "money" | "number" | "date"))
    };
    let clashes = |test: &Value| {
        let right = test.get("rightValue").and_then(Value::as_str);
        let left = test
            .get("leftValue")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let operator = test
            .get("operator")
            .and_then(|o| o.get("operation")?.as_str());
        let flag =
            matches!(right, Some("true" | "false")) || matches!(operator, Some("true" | "false"));
        flag && fields(left).iter().any(measured)
    };
    tests.is_some_and(|tests| tests.iter().any(clashes))
}
