//! Messages that are known by their name alone, as "a welcome mail" is (`lang/*/greetings.tsv`).

use super::{Reading, arg, field};
use crate::chart::Item;
use crate::clause::{Clause, Phrase};
use crate::lex::{Table, by_language};
use crate::plan::{Arg, Role, Trigger};

pub(super) const TABLES: [(&str, Table); 4] = by_language!("greetings.tsv", 3, "../../");

impl<'a> Reading<'a> {
    /// Subject and text of the message that a clause names so; no text where the clause says what stands in it.
    pub(super) fn greeting(&self, clause: &Clause) -> Option<(&'static str, Option<&'static str>)> {
        let (_, table) = TABLES.iter().find(|(l, _)| *l == self.chart.language)?;
        let items = self.chart.items.iter().enumerate();
        let items = items.skip(clause.from).take(clause.to - clause.from);
        let mut found = items.filter_map(|(at, item)| {
            let named = |cell: &str| cell.split('|').any(|w| item.text.eq_ignore_ascii_case(w));
            Some((at, table.rows().find(|row| named(row.at(0)))?))
        });
        let (at, row) = found.next().filter(|_| self.quote(clause).is_none())?;
        // "The employees with a birthday this month" are no greeting.
        let is_told_of = |p: &Phrase| {
            let within = (p.from..p.to).contains(&at);
            within && matches!(p.prep.as_str(), "with" | "of" | "about")
        };
        if clause.after.iter().any(is_told_of) {
            return None;
        }
        let detail = |p: &Phrase| p.prep == "with" && !(p.from..p.to).contains(&at);
        let text = (!clause.after.iter().any(detail)).then(|| row.at(2));
        Some((row.at(1), text))
    }

    /// "Post hello to #dev", "send good morning team to …": a greeting right behind the verb, with what follows it up to where it
    /// goes, is what is said.
    pub(super) fn greets(&self, clause: &Clause) -> Option<&'a str> {
        let behind = clause.verb.as_ref()?.at + 1;
        let at = match self.chart.items.get(behind)?.is("det") {
            true => behind + 1,
            false => behind,
        };
        let first = self.chart.items.get(at).filter(|_| at < clause.to)?;
        if !first.tells("greeting") {
            return None;
        }
        let timed = |i: &&Item| {
            clause
                .times
                .iter()
                .any(|t| (t.from..t.to).contains(&i.from))
        };
        let ends = |i: &&Item| i.is("prep") || i.service().is_some() || i.stops() || timed(i);
        let rest = self.chart.items.get(at..clause.to)?;
        let last = rest.iter().take_while(|i| !ends(i)).last()?;
        self.text.get(first.from..last.to)
    }

    /// "post hello2 to #dev": letters and a figure read as the name of a message are what it says, where no record is at hand whose
    /// field they could be.
    pub(super) fn said_outright(&self, clause: &Clause) -> Option<&'a str> {
        const FEWEST_LETTERS: usize = 3;
        let mut messages = clause.phrases().filter(|p| self.kind(p) == "message");
        let [name] = messages.next()?.names.as_slice() else {
            return None;
        };
        let said = self.raw(*name);
        let word = said.trim_end_matches(|c: char| c.is_ascii_digit());
        let coined = word.len() < said.len() && word.len() >= FEWEST_LETTERS;
        let plain = word.chars().all(char::is_lowercase);
        (coined && plain && self.starts_blind()).then_some(said)
    }

    /// Who such a message goes to where nobody is named: who filled in the form.
    pub(super) fn greeted(&self) -> Option<Arg> {
        let email = |t: &Trigger| match t {
            Trigger::Form { fields, .. } => {
                let field = fields.iter().find(|f| f.kind == "email");
                field.map(|f| f.label.clone())
            }
            _ => None,
        };
        let label = self.plan.triggers.iter().find_map(email)?;
        Some(arg(Role::To, field(&label)))
    }
}
