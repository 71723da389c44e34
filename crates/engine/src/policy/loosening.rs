//! What a project's rule allows that was not allowed before. Computed from both rules; where two conditions cannot be compared,
//! another condition counts as looser.

use super::decide::{Effect, Rule};

/// How much a rule stops: allow < ask < deny.
fn strictness(effect: Effect) -> u8 {
    match effect {
        Effect::Allow => 0,
        Effect::Ask => 1,
        Effect::Deny => 2,
    }
}

/// What the new rule loosens, in words; `before` is the rule of the same id that it replaces.
pub(super) fn by_rule(before: Option<&Rule>, rule: &Rule) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(before) = before.filter(|before| before.effect != Effect::Allow) {
        found.extend(narrowed(before, rule));
    }
    if rule.effect == Effect::Allow && !before.is_some_and(|before| covers(before, rule)) {
        found.push(format!(
            "the rule {:?} would allow {}",
            rule.id,
            rule.tools.join(", ")
        ));
    }
    found
}

/// Where a rule that asks or denies would do so no more.
fn narrowed(before: &Rule, rule: &Rule) -> Vec<String> {
    let id = &before.id;
    let mut found = Vec::new();
    if strictness(rule.effect) < strictness(before.effect) {
        let (is, was) = (rule.effect.name(), before.effect.name());
        found.push(format!("the rule {id:?} would {is} where it has to {was}"));
    }
    let dropped: Vec<&str> = before
        .tools
        .iter()
        .filter(|tool| !rule.tools.contains(tool))
        .map(String::as_str)
        .collect();
    if !dropped.is_empty() {
        found.push(format!(
            "the rule {id:?} would no longer {} {}",
            before.effect.name(),
            dropped.join(", ")
        ));
    }
    if let Some(roles) = &rule.roles
        && !before
            .roles
            .as_ref()
            .is_some_and(|were| were.iter().all(|role| roles.contains(role)))
    {
        found.push(format!(
            "the rule {id:?} would only be about {}",
            roles.join(", ")
        ));
    }
    if let Some(when) = &rule.when
        && before.when.as_ref().map(|w| w.source()) != Some(when.source())
    {
        found.push(format!(
            "the rule {id:?} would only hold when {}",
            when.source()
        ));
    }
    found
}

/// Whether an allow rule allowed before all that the new one allows.
fn covers(before: &Rule, rule: &Rule) -> bool {
    let tools = rule.tools.iter().all(|tool| before.tools.contains(tool));
    let roles = before.roles.as_ref().is_none_or(|were| {
        let now = rule.roles.as_ref();
        now.is_some_and(|now| now.iter().all(|role| were.contains(role)))
    });
    let same = |a: &Rule, b: &Rule| {
        a.when.as_ref().map(|w| w.source().to_owned())
            == b.when.as_ref().map(|w| w.source().to_owned())
    };
    let does = before.does == rule.does && before.read_only == rule.read_only;
    before.effect == Effect::Allow && tools && roles && does && same(before, rule)
}
