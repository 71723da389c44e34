//! What is changed where it is there, and added where it is not.

use super::flow::Tree;
use super::{Reading, arg, field};
use crate::clause::{Clause, Phrase};
use crate::lexicon;
use crate::plan::{Arg, Does, Role, Service, Step, Verb};

/// Kinds of services that keep rows.
const TABLES: &[&str] = &["sheet", "db", "base"];

impl Reading<'_> {
    /// "update existing rows by id, otherwise append": one step that does either, in place of the update before it, and of what was
    /// said of the same place before that.
    pub(super) fn upserts(&mut self, tree: &mut Tree, clause: &Clause) -> bool {
        let adds = clause.verb.as_ref().is_some_and(|v| {
            !v.negated && ["STORE", "CREATE", "UPLOAD"].iter().any(|f| v.calls(f))
        });
        let bare = |p: &Phrase| {
            p.service.is_none() && p.names.is_empty() && p.numbers.is_empty() && p.prep.is_empty()
        };
        if !adds || !clause.phrases().all(bare) {
            return false;
        }
        let steps = tree.here();
        let Some((service, place)) = steps.last().and_then(|s| writing(s, &[Verb::Update])) else {
            return false;
        };
        let before = |s: &Step| {
            let all = [Verb::Update, Verb::Append, Verb::Insert, Verb::Create];
            writing(s, &all).is_some_and(|(of, at)| of == service && (at == place || at.is_none()))
        };
        let last = steps.len() - 1;
        let first = steps
            .iter()
            .rposition(|s| !before(s))
            .map_or(0, |at| at + 1);
        let first = first.min(last);
        steps.drain(first..last);
        if let Some(Step {
            does: Does::Service { verb, .. },
            ..
        }) = steps.last_mut()
        {
            *verb = Verb::Upsert;
        }
        true
    }

    /// "by id": the column that says which row is changed.
    pub(super) fn matched_by(&self, clause: &Clause) -> Option<Arg> {
        let by = |p: &&Phrase| {
            let one = p.noun(self.chart).is_some_and(|n| n.form == "one");
            p.prep == "by" && one && p.names.is_empty() && p.service.is_none()
        };
        let column = self.field_name(clause.after.iter().find(by)?);
        Some(arg(Role::MatchOn, field(&column)))
    }
}

/// The service and the place of a step that writes rows by one of these verbs.
fn writing(step: &Step, verbs: &[Verb]) -> Option<(Service, Option<Arg>)> {
    let Does::Service {
        service,
        verb,
        args,
        ..
    } = &step.does
    else {
        return None;
    };
    let node = service.node_types.first()?;
    let rows = lexicon::acting(|t| t == node).any(|s| s.is_any(TABLES));
    let place = args.iter().find(|a| a.role == Role::Container);
    (rows && verbs.contains(verb)).then(|| (service.clone(), place.cloned()))
}
