//! The steps in which the program itself acts: it sets and clears fields, says something, ends the flow. Several of them on one step
//! of the file are read as one step for each, in the order of the file.

use super::load_steps::Steps;
use super::model::{ClearSpec, End, PROGRAM, SaySpec, Step, StepKind};
use crate::condition::Condition;
use crate::nearest::nearest;
use agentctl_base::question::Outcome;
use agentctl_base::yaml::{Entry, Node};
use indexmap::IndexMap;

/// How a flow may say that it ends.
const ENDS: [Outcome; 6] = [
    Outcome::Complete,
    Outcome::Draft,
    Outcome::Partial,
    Outcome::Blocked,
    Outcome::Refused,
    Outcome::Failed,
];

impl Steps<'_, '_> {
    /// Their ids are the step's with the kind behind; no file can spell them.
    pub(super) fn actions(&mut self, entries: &[&Entry], id: &str) -> Vec<Step> {
        let last = entries.len().saturating_sub(1);
        let mut steps = Vec::new();
        for (i, entry) in entries.iter().enumerate() {
            if entry.key == "end" && i != last {
                self.add(
                    entry.key_place,
                    "`end` must be the last action of its step: nothing is done after it",
                );
            }
            if let Some(kind) = self.action(entry) {
                let step = Step {
                    id: format!("{id}.{}", entry.key),
                    place: entry.key_place,
                    when: None,
                    stage: None,
                    continue_on_failure: false,
                    timeout_ms: None,
                    retry: None,
                    kind,
                };
                self.fits_a_branch(&step);
                steps.push(step);
            }
        }
        steps
    }

    pub(super) fn action(&mut self, entry: &Entry) -> Option<StepKind> {
        match entry.key.as_str() {
            "say" => self.say(&entry.value).map(StepKind::Say),
            "clear" => Some(StepKind::Clear(self.clear(&entry.value))),
            "end" => self.end(&entry.value).map(StepKind::End),
            _ => Some(StepKind::Set(self.set(&entry.value))),
        }
    }

    fn set(&mut self, node: &Node) -> IndexMap<String, Condition> {
        for entry in self.reader.map(node, "`set`").unwrap_or_default() {
            if let Some(spec) = self.field(entry.key_place, &entry.key)
                && !spec.writers.iter().any(|w| w == PROGRAM)
            {
                self.add(
                    entry.key_place,
                    format!(
                        "{:?} has no writer {PROGRAM:?}, so `set` may not write it",
                        entry.key
                    ),
                );
            }
        }
        self.expressions_of(node, "`set`")
    }

    fn say(&mut self, node: &Node) -> Option<SaySpec> {
        self.reader
            .keys(node, "`say`", &["text", "data", "attachment"]);
        let text = self.reader.required(node, "text", "`say`");
        let text = text.and_then(|n| self.expression(n));
        let data = node.get("data").and_then(|n| self.expression(n));
        let attachment = node.get("attachment").and_then(|n| self.expression(n));
        Some(SaySpec {
            text: text?,
            data,
            attachment,
        })
    }

    fn clear(&mut self, node: &Node) -> ClearSpec {
        self.reader
            .keys(node, "`clear`", &["groups", "fields", "messages"]);
        let mut fields: Vec<String> = Vec::new();
        let groups = node.get("groups").map(|n| self.reader.names(n, "groups"));
        for (place, group) in groups.unwrap_or_default() {
            let of_it = |(name, spec): (&String, &super::model::FieldSpec)| {
                (spec.group.as_ref() == Some(&group)).then(|| name.clone())
            };
            let members: Vec<String> = self.fields.iter().filter_map(of_it).collect();
            if members.is_empty() {
                let groups = self
                    .fields
                    .values()
                    .filter_map(|spec| spec.group.as_deref());
                let hint = nearest(&group, groups);
                self.add(place, format!("no field is of the group {group:?}{hint}"));
            }
            fields.extend(members);
        }
        let named = node.get("fields").map(|n| self.reader.names(n, "fields"));
        for (place, name) in named.unwrap_or_default() {
            if self.field(place, &name).is_some() {
                fields.push(name);
            }
        }
        for name in &fields {
            if self
                .fields
                .get(name)
                .is_some_and(|spec| spec.meaning.is_scope)
            {
                self.add(
                    node.place,
                    format!("{name:?} says what a fix cycle may change, so it cannot be cleared"),
                );
            }
        }
        fields.dedup();
        let messages = self.reader.flag(node, "messages", false);
        if fields.is_empty() && !messages && node.as_map().is_some() {
            self.add(
                node.place,
                "`clear` needs `groups`, `fields`, or `messages: true`",
            );
        }
        ClearSpec { fields, messages }
    }

    /// `true`, or a map of `outcome` and `message`.
    pub(super) fn end(&mut self, node: &Node) -> Option<End> {
        if node.as_bool() == Some(true) {
            return Some(End {
                outcome: Outcome::Complete,
                message: None,
            });
        }
        self.reader.keys(node, "`end`", &["outcome", "message"]);
        let outcome = self.reader.required(node, "outcome", "`end`");
        let outcome = outcome.and_then(|n| {
            let named = |outcome: &Outcome| n.as_text() == Some(outcome.name());
            let found = ENDS.into_iter().find(named);
            if found.is_none() {
                let names = ENDS.map(Outcome::name).join(", ");
                self.add(n.place, format!("`outcome` must be one of {names}"));
            }
            found
        });
        let message = match node.get("message") {
            Some(n) => Some(self.expression(n)?),
            None if matches!(outcome, Some(Outcome::Complete) | None) => None,
            None => {
                self.add(
                    node.place,
                    "`end` has no \"message\": the user must learn why it ended so",
                );
                None
            }
        };
        Some(End {
            outcome: outcome?,
            message,
        })
    }
}
