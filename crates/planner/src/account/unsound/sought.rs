//! What is looked for and what is waited for: a look that says by what, an event that is the one that was said.

use super::finished::{Finished, Part, READS, all_texts, parameters, text};
use crate::compile::words::plain;
use crate::lex::{Class, Lexicon};
use agentctl_n8n::catalog::{Catalog, PropertyKind};
use agentctl_n8n::{Node, short_type};
use serde_json::Value;

/// Parameters of triggers that say what they fire on.
const EVENTS: &[&str] = &["event", "events", "triggerOn", "topic"];

/// Whether a part of a request says by what something is looked up, or asks whether it is there.
fn looks_up(part: &Part) -> bool {
    let by = |clause: &crate::clause::Clause| {
        let key = |p: &crate::clause::Phrase| {
            let one = p.noun(&part.chart).is_some_and(|n| n.form == "one");
            p.prep == "by" && p.numbers.is_empty() && one
        };
        // "look up the email in the sheet": what is looked for.
        let sought = |p: &crate::clause::Phrase| {
            let one = p.noun(&part.chart).is_some_and(|n| n.form == "one");
            let key = matches!(p.kind(&part.chart), "field") || p.concept(&part.chart) == "email";
            one && key && p.prep.is_empty() && p.quantity.is_none()
        };
        clause.calls("SEARCH") && (clause.phrases().any(key) || clause.after.iter().any(sought))
    };
    let exists = |item: &crate::chart::Item| item.verb().is_some_and(|v| v.calls("EXIST"));
    part.clauses.iter().any(by) || part.chart.items.iter().any(exists)
}

/// Whether a node reads everything, where its part of the request says by what something is looked up, or whether it is there.
pub(super) fn looks_for_nothing(finished: &Finished<'_>, node: &Node) -> bool {
    let operation = text(node, "operation").to_lowercase();
    if !READS.iter().any(|word| operation.starts_with(word)) {
        return false;
    }
    let computed = |n: &Node| all_texts(n).iter().any(|t| t.starts_with('='));
    // A query that was written out, and a filter of the node's own, say it.
    let own = ["query", "filterByFormula", "formula", "where"];
    let asks = |name: &&str| {
        let value = parameters(node).get(*name);
        value.is_some_and(|v| v.as_str() != Some("") && *v != serde_json::json!({}))
    };
    if computed(node) || own.iter().any(asks) {
        return false;
    }
    let compares = |n: &Node| {
        let short = short_type(n.node_type());
        let chooses = matches!(
            short,
            "if" | "filter" | "compareDatasets" | "merge" | "code"
        );
        chooses
            && (short != "if" && short != "filter"
                || all_texts(n).iter().any(|t| t.contains("$('")))
    };
    let later = finished.behind(node).any(compares);
    !later && finished.part(node).is_some_and(|part| looks_up(&part))
}

/// The frames of the verb in an event's name (`eventCancelled`, `order.created`), and its other words.
fn told(name: &str) -> (Option<Vec<String>>, Vec<String>) {
    let verb = |word: &String| {
        let senses = Lexicon::of("en").senses(word).iter();
        let mut verbs = senses.filter(|s| s.class == Class::Verb && s.form == "past");
        verbs.next().map(|s| s.says.clone())
    };
    let words = plain(name);
    let frames = words.iter().find_map(verb);
    let rest = words.into_iter().filter(|w| verb(w).is_none()).collect();
    (frames, rest)
}

/// Whether a trigger fires on another event of a thing than the one that the request tells of, where it knows that one.
pub(super) fn hears_another_event(finished: &Finished<'_>, node: &Node) -> bool {
    if !short_type(node.node_type()).ends_with("Trigger") {
        return false;
    }
    let Some(facts) = Catalog::embedded()
        .lookup(node.node_type(), node.type_version())
        .known()
    else {
        return false;
    };
    let whole = finished.whole();
    let Some(verb) = whole.event().and_then(|c| c.verb.as_ref()) else {
        return false;
    };
    let shown = facts.visible_properties(parameters(node));
    let choice =
        |kind: &PropertyKind| matches!(kind, PropertyKind::Options | PropertyKind::MultiOptions);
    let mut asked = shown
        .into_iter()
        .filter(|p| EVENTS.contains(&p.name.as_str()) && choice(&p.kind));
    asked.any(|property| {
        let chosen: Vec<&str> = match parameters(node).get(&property.name) {
            Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(one)) => vec![one],
            _ => Vec::new(),
        };
        let [chosen] = chosen.as_slice() else {
            return false;
        };
        let (frames, of) = told(chosen);
        let meant = |name: &str| {
            let (frames, rest) = told(name);
            rest == of && frames.as_ref() == Some(&verb.sense.says)
        };
        let mut others = property.options.iter().filter_map(|o| o.value.as_str());
        frames.is_some_and(|frames| frames != verb.sense.says) && others.any(meant)
    })
}
