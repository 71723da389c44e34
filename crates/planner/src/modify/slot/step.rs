//! A step that goes, or is switched off or on.

use super::super::{named, order, wire};
use super::{Clause, Read};
use crate::chart::Item;
use crate::compile::existing::Patch;
use crate::spot::Kind;
use crate::time::spans;
use serde_json::{Value, json};

/// What goes or is switched must be named by more than a word of its name: orders that go are no step.
const STEP: usize = 3;

/// A step that goes, or stays and does nothing for now.
pub(super) fn switched(patch: &mut Patch<'_>, clause: &Clause<'_>, kept: &[String]) -> Read {
    let (off, on) = (clause.has("off"), clause.has("on"));
    let gone = clause.has("gone") || clause.has("stop");
    if !off && !on && !gone {
        return Read::Other;
    }
    // Of several steps others read.
    if clause.chart.items.iter().any(|i| i.is("and") || i.is("or")) {
        return Read::Other;
    }
    let counts = |i: &Item| matches!(i.shape(), Some(Kind::Number | Kind::Clock));
    let numbered = order::numbered(patch.workflow(), clause.text, clause.language);
    let is_nth = |i: &Item| {
        numbered
            .as_ref()
            .is_some_and(|(_, place)| place.start == i.from)
    };
    if clause.chart.items.iter().any(|i| counts(i) && !is_nth(i))
        || !spans(clause.text, clause.language).is_empty()
    {
        return Read::Other;
    }
    // What is done no more is a step; orders that go are none.
    let least = if gone && !clause.has("stop") { STEP } else { 1 };
    let mut meant = named::meant(patch.workflow(), clause.text, clause.language, least);
    meant.retain(|name| !kept.contains(name));
    // "And on again": the one that is off.
    if meant.is_empty() && on {
        let nodes = patch.workflow().nodes.iter();
        let is_off = |node: &&agentctl_n8n::Node| node.map().get("disabled") == Some(&json!(true));
        let disabled: Vec<String> = nodes.filter(is_off).map(|n| n.name().to_owned()).collect();
        meant.extend(<[String; 1]>::try_from(disabled).into_iter().flatten());
    }
    let mut known = clause.places(&["off", "on", "gone"]);
    known.extend(numbered.into_iter().map(|(_, place)| place));
    // "Stop telling sales": what is done no more is no more said of it.
    if clause.has("stop") {
        known.extend(clause.places(&["stop"]));
        let verbs = clause
            .chart
            .items
            .iter()
            .filter(|item| item.verb().is_some());
        known.extend(verbs.map(|item| item.from..item.to));
    }
    let whole = meant
        .iter()
        .any(|name| wire::names(patch.workflow(), clause.text, name));
    if meant.is_empty()
        || !whole
            && named::says_more(
                patch.workflow(),
                &meant,
                clause.text,
                clause.language,
                known,
            )
    {
        return Read::Other;
    }
    let [name] = meant.as_slice() else {
        return Read::Which(clause.text.to_owned(), meant);
    };
    if off || on {
        let Some(node) = patch.workflow_mut().node_by_name_mut(name) else {
            return Read::Other;
        };
        node.set("disabled", Value::Bool(off));
        return Read::Done;
    }
    patch.remove(name);
    Read::Done
}
