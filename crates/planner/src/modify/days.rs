//! "Also on Thursdays": one more day of the week on which a workflow begins.

use super::slot::{self, clock_of};
use super::{mention, words};
use crate::chart::{Item, chart};
use crate::compile::existing::Patch;
use crate::plan::ScheduleRule;
use crate::time::{TimeMeaning, TimeSpan, spans};
use serde_json::{Value, json};

pub(super) fn added(patch: &mut Patch<'_>, clause: &str, language: &str) -> bool {
    let spans = spans(clause, language);
    // "Los jueves" is read in two ways at one place.
    let Some(span) = spans.first().filter(|first| {
        let mut all = spans.iter();
        all.all(|span| (span.from, span.to) == (first.from, first.to))
    }) else {
        return false;
    };
    let days_of = |span: &TimeSpan| match &span.means {
        TimeMeaning::Window {
            weekdays,
            from: None,
            not: false,
            ..
        } => Some(weekdays.clone()),
        TimeMeaning::Schedule { rules, only: None } => match rules.as_slice() {
            [ScheduleRule::Weeks { n: 1, weekdays, .. }] => Some(weekdays.clone()),
            _ => None,
        },
        _ => None,
    };
    let Some(days) = spans.iter().find_map(days_of) else {
        return false;
    };
    // Nothing else is said: a step on Thursdays is a step.
    let said = |item: &Item| {
        let inside = span.from <= item.from && item.to <= span.to;
        inside || item.stops() || item.is("also")
    };
    let small = ["filler", "article", "definite"];
    let filler: Vec<_> = { small.iter() }
        .flat_map(|class| words::places(clause, language, class))
        .collect();
    let is_filler = |item: &Item| {
        filler
            .iter()
            .any(|place| place.start <= item.from && item.to <= place.end)
    };
    let items = chart(clause, language).items;
    let alone = items.iter().all(|item| said(item) || is_filler(item));
    if days.is_empty() || !alone || !slot::adds(clause, language) {
        return false;
    }
    let triggers = mention::of_type(patch.workflow(), "scheduleTrigger");
    let [name] = triggers.as_slice() else {
        return false;
    };
    let Some(node) = patch.workflow_mut().node_by_name_mut(name) else {
        return false;
    };
    let rule = node.parameters().and_then(|p| p.get("rule").cloned());
    let Some(mut rule) = rule else {
        return false;
    };
    let known = rule.pointer("/interval/0/triggerAtDay");
    let known = known.and_then(Value::as_array).into_iter().flatten();
    let mut all: Vec<u8> = known
        .filter_map(|day| u8::try_from(day.as_u64()?).ok())
        .collect();
    if all.is_empty() || clock_of(&rule).is_none() {
        return false;
    }
    all.extend(days);
    all.sort_unstable();
    all.dedup();
    // The rest of the rhythm (every second week, the time of day) stays.
    if let Some(days) = rule.pointer_mut("/interval/0/triggerAtDay") {
        *days = json!(all);
    }
    node.edit_parameters(|params| {
        params.insert("rule".into(), rule);
        true
    })
}
