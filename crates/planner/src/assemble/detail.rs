//! What a clause says of a step that was made before: what its message tells, which fields its row has.

use super::content::template;
use super::flow::Tree;
use super::{Reading, arg, field, lit};
use crate::clause::{Clause, Intro, Phrase};
use crate::lexicon;
use crate::plan::{Arg, Does, Role, Step, Val, Verb};
use crate::spot::Kind;

/// Frames of verbs that say what something holds.
const HOLDS: &[&str] = &["INCLUDE", "SAY", "NAME"];

impl Reading<'_> {
    /// "It should say who the supplier is and the number of boxes", "card title = mail subject": adds to the last step that
    /// writes something.
    pub(super) fn holds(&mut self, tree: &mut Tree, i: usize, clause: &Clause) -> bool {
        let tells = clause.verb.as_ref().is_some_and(|v| {
            let says = clause.intro == Intro::Relative && v.calls("SAY");
            (HOLDS.contains(&v.frame()) || says) && !v.negated
        });
        let sets = self.assigns(clause)
            || clause.calls("UPDATE") && !clause.negated() && self.sets_more(tree, clause);
        let lists = clause.verb.is_none() && self.lists(clause);
        let free = matches!(clause.intro, Intro::None | Intro::Relative | Intro::Purpose);
        let aimed = clause
            .phrases()
            .any(|p| p.service.is_some() || self.addresses(p));
        let says = tells && self.of_a_message(clause) || self.retold(clause);
        if !free || aimed || !(says || lists || sets) {
            return false;
        }
        let given = match (sets, lists) {
            (true, _) => self.details(clause),
            (_, true) => self.listed_after(clause),
            _ => self.told(i, clause),
        };
        let Some(step) = last_written(tree.here()).filter(|_| !given.is_empty()) else {
            return false;
        };
        add(step, given);
        true
    }

    /// "fields: company name, number of pieces", "-> data: who, when": a label and what it stands for, on a line of its own.
    fn lists(&self, clause: &Clause) -> bool {
        let [label, rest @ ..] = clause.after.as_slice() else {
            return false;
        };
        let labels = matches!(
            self.concept(label),
            "column" | "text" | "data" | "message" | "description"
        );
        let asides = rest.iter().filter(|p| p.aside || p.listed).count();
        let alone = label.names.is_empty() && label.numbers.is_empty() && label.prep.is_empty();
        let bare = |p: &Phrase| {
            let column = |n: &usize| matches!(self.chart.item(*n).shape(), Some(Kind::Id) | None);
            p.prep.is_empty()
                && p.numbers.is_empty()
                && p.pronoun.is_none()
                && p.compared.is_none()
                && p.names.iter().all(column)
        };
        let listed = rest.iter().all(|p| p.listed) && !rest.is_empty();
        if clause.arrow && listed && clause.after.iter().all(bare) {
            return true;
        }
        labels && alone && asides > 0 && asides == rest.iter().filter(|p| p.prep.is_empty()).count()
    }

    /// What a label stands for: each thing of its list, as a field.
    fn listed_after(&self, clause: &Clause) -> Vec<Arg> {
        let label = clause.after.first().is_some_and(|p| {
            matches!(
                self.concept(p),
                "column" | "text" | "data" | "message" | "description"
            )
        });
        let rest = crate::cut::from(&clause.after, usize::from(label)).iter();
        let names = rest
            .filter(|p| p.pronoun.is_none() && p.numbers.is_empty() && p.compared.is_none())
            .map(|p| self.field_name(p))
            .filter(|n| !n.is_empty());
        names
            .map(|n| arg(Role::Field(n.clone()), field(&n)))
            .collect()
    }

    /// Whether a clause names an address that something goes to.
    pub(super) fn addresses(&self, phrase: &Phrase) -> bool {
        [Kind::Channel, Kind::Mail, Kind::Phone, Kind::Handle]
            .iter()
            .any(|k| phrase.literal(self.chart, *k).is_some())
    }

    /// "…, tell the customer name and the amount": what a message before it tells, where nobody is told.
    fn retold(&self, clause: &Clause) -> bool {
        let tells = clause
            .verb
            .as_ref()
            .is_some_and(|v| v.frame() == "NOTIFY" && !v.negated);
        let fielded = |p: &Phrase| {
            matches!(self.kind(p), "field" | "money" | "number" | "date") && p.prep.is_empty()
        };
        tells
            && clause.before.is_empty()
            && clause.after.first().is_some_and(fielded)
            && clause.after.iter().all(|p| fielded(p) || p.prep == "of")
    }

    /// The subject of a clause is what was written: "it", "the message", "the row"; or nothing.
    fn of_a_message(&self, clause: &Clause) -> bool {
        clause.before.iter().all(|p| {
            let kind = self.kind(p);
            let own = matches!(
                kind,
                "message" | "record" | "text" | "container" | "context" | "file"
            );
            let speaker = p
                .pronoun
                .is_some_and(|at| matches!(self.raw(at), "I" | "we" | "you"));
            p.service.is_none() && p.names.is_empty() && (own || p.pronoun.is_some() && !speaker)
        })
    }

    /// "Update the row: set status to synced": what the update before it changes.
    fn sets_more(&self, tree: &mut Tree, clause: &Clause) -> bool {
        let updates = |s: &Step| {
            matches!(
                &s.does,
                Does::Service {
                    verb: Verb::Update | Verb::Upsert,
                    ..
                }
            )
        };
        let last = tree
            .here()
            .iter()
            .rev()
            .find(|s| writes(s))
            .is_some_and(updates);
        let row = clause.phrases().any(|p| self.kind(p) == "record");
        last && !row && !self.details(clause).is_empty()
    }

    /// "title = subject, text = body": the clause holds nothing else.
    fn assigns(&self, clause: &Clause) -> bool {
        let value = |p: &Phrase| p.compared.is_some_and(|at| self.raw(at) == "=");
        let pairs = crate::cut::from(&clause.after, 0).chunks(2);
        let mut all = true;
        for pair in pairs {
            all &= matches!(pair, [name, given] if !value(name) && value(given));
        }
        all && !clause.after.is_empty() && clause.before.is_empty() && clause.verb.is_none()
    }

    /// The fields, and the quoted text, that a clause tells of.
    fn told(&self, i: usize, clause: &Clause) -> Vec<Arg> {
        if let Some(quote) = self.quote(clause) {
            return vec![arg(Role::Text, quote)];
        }
        let mut names = self.fields(i);
        for phrase in &clause.after {
            let fits = phrase.pronoun.is_none()
                && phrase.names.is_empty()
                && phrase.numbers.is_empty()
                && phrase.compared.is_none()
                && !matches!(self.kind(phrase), "context" | "" | "container" | "place");
            let name = self.field_name(phrase);
            let part = names
                .iter()
                .any(|n| n.ends_with(&name) || name.ends_with(n.as_str()));
            if fits && !name.is_empty() && !part {
                names.push(name);
            }
        }
        let of = |n: String| arg(Role::Field(n.clone()), field(&n));
        names.into_iter().map(of).collect()
    }
}

/// The last of these steps, or of their ways, that writes something to a service.
fn last_written(steps: &mut [Step]) -> Option<&mut Step> {
    let at = steps.iter().rposition(writes)?;
    steps.get_mut(at)
}

fn writes(step: &Step) -> bool {
    let reads = [Verb::Get, Verb::GetMany, Verb::Query, Verb::Delete];
    match &step.does {
        Does::Service { verb, .. } => !reads.contains(verb),
        Does::Approval { .. } => true,
        _ => false,
    }
}

/// Adds what was told to a step: to a message as lines of its text, to a record as fields.
fn add(step: &mut Step, given: Vec<Arg>) {
    let (Does::Service { args, service, .. } | Does::Approval { args, service, .. }) =
        &mut step.does
    else {
        return;
    };
    let entry = lexicon::services()
        .iter()
        .find(|s| !s.actions.is_empty() && s.actions == service.node_types);
    let speaks = entry.is_some_and(|e| e.speaks());
    for one in given {
        match (&one.role, speaks) {
            (Role::Field(name), true) => {
                let parts = vec![lit(format!("{name}: ")), one.value.clone()];
                add_text(args, Val::Template { parts });
            }
            (Role::Text, _) => add_text(args, one.value),
            _ if args.iter().any(|a| a.role == one.role) => {}
            _ => args.push(one),
        }
    }
}

/// Adds a line to the text among arguments; the first one where there is none.
pub(super) fn add_text(args: &mut Vec<Arg>, more: Val) {
    let more = match more {
        Val::Template { parts } => parts,
        Val::Lit { value } => value.as_str().map_or_else(Vec::new, |s| vec![template(s)]),
        other => vec![other],
    };
    let Some(text) = args.iter_mut().find(|a| a.role == Role::Text) else {
        args.push(arg(Role::Text, Val::Template { parts: more }));
        return;
    };
    let before = std::mem::replace(&mut text.value, lit(""));
    let mut parts = match before {
        Val::Template { parts } => parts,
        other => vec![other],
    };
    parts.push(lit("\n"));
    parts.extend(more);
    text.value = Val::Template { parts };
}
