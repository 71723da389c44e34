//! What is compared: the field that the request names, by the comparison that it names, and nowhere else than in a test.

use super::finished::{Finished, is_outside, parameters, reads, texts};
use super::ways::Said;
use crate::chart::{Chart, Item, What};
use crate::clause::{Clause, Intro};
use crate::lex::{Class, Lexicon};
use crate::spot::Kind;
use agentctl_n8n::{Node, short_type};
use serde_json::Value;

pub(super) const SAID: &[Said] = &[is_said_elsewhere, is_compared_otherwise];

/// Kinds of nouns that name a field.
const FIELDS: &[&str] = &["field", "date", "number", "money"];
/// What an expression says besides the fields that it reads.
const AROUND: &[&str] = &["json", "item", "first", "body"];

/// A test of a node: its left side, the operation, its right side.
struct Test<'n> {
    left: &'n str,
    operation: &'n str,
    right: String,
}

/// The tests of a node that chooses.
fn tests(node: &Node) -> Vec<Test<'_>> {
    fn within<'n>(value: &'n Value, found: &mut Vec<Test<'n>>) {
        match value {
            Value::Object(map) if map.contains_key("rightValue") => {
                let text = |key: &str| map.get(key).and_then(Value::as_str).unwrap_or_default();
                let right = match map.get("rightValue") {
                    Some(Value::String(text)) => text.clone(),
                    Some(other) => other.to_string(),
                    None => String::new(),
                };
                let operator = map
                    .get("operator")
                    .and_then(|o| o.get("operation")?.as_str());
                found.push(Test {
                    left: text("leftValue"),
                    operation: operator.unwrap_or_default(),
                    right: right.to_lowercase(),
                });
            }
            Value::Object(map) => map.values().for_each(|v| within(v, found)),
            Value::Array(list) => list.iter().for_each(|v| within(v, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    for value in parameters(node).values() {
        within(value, &mut found);
    }
    found
}

/// The words of the fields that an expression reads.
fn read_by(expression: &str) -> Vec<String> {
    let own = expression
        .split("$('")
        .enumerate()
        .map(|(n, part)| match n {
            0 => part,
            _ => part.split_once("')").map_or("", |(_, rest)| rest),
        });
    let text: String = own.collect();
    let words = crate::compile::words::plain(&text);
    words
        .into_iter()
        .filter(|w| !AROUND.contains(&w.as_str()))
        .collect()
}

/// The field that stands right before a value: "status = 'open'", "Stock is below 5", "status ready".
fn field_before(chart: &Chart, at: usize) -> Option<&Item> {
    let joins = |i: &Item| {
        let still = i.verb().is_some_and(|v| v.calls("STATE") || v.calls("BE"));
        let small = ["aux", "equal", "more", "less", "filler"]
            .iter()
            .any(|c| i.is(c));
        i.shape() == Some(Kind::Sign) || still || small
    };
    let before = crate::cut::before(&chart.items, at).iter().rev();
    let mut before = before.skip_while(|i| joins(i));
    let field = before.next()?;
    let named = match &field.what {
        What::Unknown => chart.item(at).shape() != Some(Kind::Number),
        What::Word(sense) => sense.class == Class::Noun && FIELDS.contains(&sense.kind()),
        _ => false,
    };
    named.then_some(field)
}

/// Whether a test compares another field with a value than the one that the request names right before it.
pub(super) fn compares_another_field(finished: &Finished<'_>, node: &Node) -> bool {
    let tests = tests(node);
    if tests.is_empty() {
        return false;
    }
    let Some(part) = finished.part(node) else {
        return false;
    };
    let lexicons = [Lexicon::of("en"), Lexicon::of(finished.language)];
    let concepts = |word: &str| -> Vec<&str> {
        let senses = lexicons.iter().flat_map(|l| l.senses(word));
        let nouns = senses.filter(|s| s.class == Class::Noun);
        nouns.map(|s| s.concept.as_str()).collect()
    };
    let other = |test: &Test<'_>| {
        let value = |i: &Item| i.text.to_lowercase() == test.right;
        let Some(at) = part.chart.items.iter().position(value) else {
            return false;
        };
        let read = read_by(test.left);
        let Some(field) = field_before(&part.chart, at).filter(|_| !read.is_empty()) else {
            return false;
        };
        let named = crate::compile::words::plain(&field.text);
        let own: Vec<&str> = named.iter().flat_map(|w| concepts(w)).collect();
        let same = |word: &String| {
            let near = |n: &String| crate::account::assumed::is_near(n, word);
            named.iter().any(near) || concepts(word).iter().any(|c| own.contains(c))
        };
        !read.iter().any(same)
    };
    tests.iter().any(other)
}

/// The literal things that a clause tests, as they stand in the chart.
fn tested_in<'c>(chart: &'c Chart, clauses: &[Clause], at: usize) -> Vec<&'c Item> {
    let Some(clause) = clauses.get(at) else {
        return Vec::new();
    };
    let states = clause.verb.as_ref().is_none_or(|v| {
        let still = ["STATE", "BE", "INCLUDE", "BEGIN", "SAY"];
        still.iter().any(|f| v.calls(f))
    });
    let tests = matches!(clause.intro, Intro::If | Intro::Unless | Intro::Relative) && states;
    let quote = |i: &usize| chart.item(*i).shape() == Some(Kind::Quote);
    let mut found: Vec<&Item> = clause
        .phrases()
        .filter(|p| p.compared.is_some() || tests)
        .flat_map(|p| &p.names)
        .filter(|i| quote(i))
        .map(|i| chart.item(*i))
        .collect();
    // "… contains 'a' or 'b' should be forwarded": one more value of the test before.
    let first = clause.from;
    let or = first.checked_sub(1).is_some_and(|b| chart.item(b).is("or"));
    let before = first.checked_sub(2).is_some_and(|b| quote(&b));
    let tested = at
        .checked_sub(1)
        .is_some_and(|b| !tested_in(chart, clauses, b).is_empty());
    if or && before && tested && quote(&first) {
        found.push(chart.item(first));
    }
    found
}

/// Whether a value that is tested stands in what is done, and in no test.
fn is_said_elsewhere(finished: &Finished<'_>, at: usize) -> bool {
    let whole = finished.whole();
    let values = tested_in(&whole.chart, &whole.clauses, at);
    let holds = |node: &Node, value: &str| {
        let all = parameters(node).values().flat_map(texts);
        all.into_iter().any(|t| t.to_lowercase().contains(value))
    };
    let done = |n: &Node| is_outside(n) && !reads(n);
    values.iter().any(|item| {
        let value = item.text.to_lowercase();
        let mut held = finished.nodes().filter(|n| holds(n, &value)).peekable();
        held.peek().is_some() && held.all(done)
    })
}

/// Whether something is to contain a value, and is compared with it as a whole.
fn is_compared_otherwise(finished: &Finished<'_>, at: usize) -> bool {
    let whole = finished.whole();
    let contains = whole.clauses.get(at).is_some_and(|c| c.calls("INCLUDE"));
    if !contains {
        return false;
    }
    let values = tested_in(&whole.chart, &whole.clauses, at);
    let chooses = |n: &&Node| matches!(short_type(n.node_type()), "if" | "filter" | "switch");
    let tests: Vec<Test<'_>> = finished.nodes().filter(chooses).flat_map(tests).collect();
    values.iter().any(|item| {
        let value = item.text.to_lowercase();
        let mut of = tests.iter().filter(|t| t.right == value).peekable();
        of.peek().is_some() && of.all(|t| matches!(t.operation, "equals" | "notEquals"))
    })
}
