//! What a clause measures without saying it in so many words: the beginning of a text, a field by its value, a date ahead.

use super::{Reading, field, lit};
use crate::clause::{Clause, Phrase};
use crate::lex::Table;
use crate::plan::{Cmp, Cond, Trigger, Val};
use std::sync::LazyLock;

pub(super) const VALUES: Table = Table {
    file: "values.tsv",
    text: include_str!("../../knowledge/values.tsv"),
    columns: 2,
};

/// A kind of field: its names, and the values by which it is known; none where it is known by its name alone.
struct Kind {
    names: Vec<&'static str>,
    values: Vec<&'static str>,
}

static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    let of = |cell: &'static str| cell.split('|').filter(|w| *w != "*").collect();
    let kinds = VALUES.rows().map(|cells| Kind {
        names: of(cells.at(0)),
        values: of(cells.at(1)),
    });
    kinds.collect()
});

impl Reading<'_> {
    /// "messages that begin with /note", "fängt die PLZ mit 8 oder 9 an": how a text begins.
    pub(super) fn begun(&self, clause: &Clause) -> Option<Cond> {
        if !clause.calls("BEGIN") {
            return None;
        }
        let value = |p: &Phrase| {
            let literal = p.names.first().map(|n| self.name(*n));
            literal.or_else(|| p.numbers.first().map(|n| self.raw(*n).to_owned()))
        };
        let valued = |p: &&Phrase| {
            value(p).is_some() && p.head.is_none() && p.prep != "from" && p.prep != "to"
        };
        let found: Vec<&Phrase> = clause.after.iter().filter(valued).collect();
        let first = found.first()?.from;
        let named = |p: &&Phrase| {
            p.from < first && p.pronoun.is_none() && matches!(p.prep.as_str(), "" | "of" | "in")
        };
        let subject = clause.phrases().filter(named).last();
        let of_message = subject.is_none_or(|p| self.kind(p) == "message");
        let left = match subject.filter(|_| !of_message) {
            Some(p) => field(&self.field_name(p)),
            None if self.talks() => Val::Field {
                name: "text".into(),
                of: Some("trigger".into()),
            },
            None => self.topic.field.clone().unwrap_or_else(|| field("text")),
        };
        let compare = |p: &&Phrase| Cond::Compare {
            left: left.clone(),
            op: Cmp::StartsWith,
            right: lit(value(p).unwrap_or_default()),
        };
        let mut all: Vec<Cond> = found.iter().map(compare).collect();
        match all.len() {
            0 | 1 => all.pop(),
            _ => Some(Cond::Any { of: all }),
        }
    }

    /// "the number of rows", "die Anzahl der Zeilen": how many there are of something is told; what of.
    pub(super) fn counts(&self, clause: &Clause) -> Option<String> {
        let phrases: Vec<&Phrase> = clause.phrases().collect();
        let several = |p: &Phrase| p.noun(self.chart).is_some_and(|n| n.form == "many");
        let tells = |at: &usize| {
            let noun = self.chart.item(*at).noun();
            noun.is_some_and(|n| n.concept == "count")
        };
        phrases.iter().enumerate().find_map(|(n, p)| {
            let told = p.prep.is_empty() && p.compared.is_none() && p.numbers.is_empty();
            let nouns = || p.modifiers.iter().chain(&p.head);
            let many = |at: &usize| {
                let noun = self.chart.item(*at).noun();
                noun.is_some_and(|n| n.form == "many")
            };
            let own = nouns().any(tells) && nouns().any(|at| !tells(at) && many(at));
            let next = phrases.get(n + 1).filter(|q| q.prep == "of" && several(q));
            let quantity = matches!(self.concept(p), "count" | "quantity") && next.is_some();
            let of = next
                .map(|q| format!(" {}", self.words(q)))
                .unwrap_or_default();
            (told && (own || quantity)).then(|| match own {
                true => self.words(p),
                false => format!("{}{of}", self.words(p)),
            })
        })
    }

    /// "send me the total", of many: the sum of what it is of. In which column that stands, nobody may have said.
    pub(super) fn totalled(&mut self, clause: &Clause) -> Vec<crate::plan::Step> {
        let alone = |p: &Phrase| {
            let one = p.head(self.chart).is_some_and(|h| !h.text.contains(' '));
            let bare = p.modifiers.is_empty() && p.names.is_empty() && p.compared.is_none();
            self.concept(p) == "total" && p.prep.is_empty() && !p.listed && one && bare
        };
        let Some(n) = clause.after.iter().position(alone) else {
            return Vec::new();
        };
        let next = clause.after.get(n + 1);
        if next.is_some_and(|q| q.listed) {
            return Vec::new();
        }
        let measured =
            |q: &&Phrase| q.prep == "of" && matches!(self.kind(q), "field" | "money" | "number");
        let Some(of) = next.filter(measured).cloned() else {
            let said = clause.after.get(n).map(|p| self.words(p));
            self.plan.unread.extend(said);
            return Vec::new();
        };
        let sum = Clause {
            before: Vec::new(),
            after: vec![of],
            ..clause.clone()
        };
        self.measured(&sum, "SUM")
    }

    /// "if it ships to France", "critical", "for the silver ones": a value whose field nobody names, by what it is a value of.
    pub(super) fn by_value(&self, clause: &Clause) -> Option<Cond> {
        let plain = |p: &&Phrase| {
            p.compared.is_none()
                && p.service.is_none()
                && p.numbers.is_empty()
                && p.pronoun.is_none()
                && matches!(
                    p.prep.as_str(),
                    "" | "to" | "in" | "from" | "for" | "of" | "at" | "on" | "with" | "into"
                )
        };
        let found = clause.phrases().filter(plain).find_map(|p| {
            let (left, right) = self.field_of(p)?;
            Some((p.to, left, right))
        });
        let (to, left, first) = found?;
        let more = clause
            .phrases()
            .skip_while(|p| p.from < to)
            .take_while(|p| p.listed)
            .filter_map(|p| self.field_of(p).filter(|(of, _)| *of == left))
            .map(|(_, value)| value);
        let equals = |value: String| Cond::Compare {
            left: field(&left),
            op: Cmp::Eq,
            right: lit(value),
        };
        let mut all: Vec<Cond> = std::iter::once(first).chain(more).map(equals).collect();
        match all.len() {
            1 => all.pop(),
            _ => Some(Cond::Any { of: all }),
        }
    }

    /// The field that a phrase is a value of, and the value; where it is in the table.
    fn field_of(&self, phrase: &Phrase) -> Option<(String, String)> {
        let said = match phrase.names.first() {
            Some(name) => self.name(*name),
            None => self.words(phrase),
        };
        let key = said.to_lowercase();
        let kind = KINDS.iter().find(|k| k.values.contains(&key.as_str()))?;
        let spoken = |name: &&&str| {
            let text = |i: &crate::chart::Item| i.text.eq_ignore_ascii_case(name);
            self.chart.items.iter().any(text)
        };
        let name = kind.names.iter().find(spoken).or(kind.names.first())?;
        Some(((*name).to_owned(), said))
    }

    /// The field that cases sort by, where nobody names it: of the fields that came the only one that has few values.
    pub(super) fn sorted_by(&self, values: &[String]) -> Option<Val> {
        let in_table = values.iter().find_map(|v| {
            let key = v.to_lowercase();
            KINDS.iter().find(|k| k.values.contains(&key.as_str()))
        });
        let came = self.fields_that_came();
        let fits = |kind: &Kind| {
            let of = |f: &&String| kind.names.contains(&f.to_lowercase().as_str());
            let mut known = came.iter().filter(of);
            let one = known.next()?;
            known.next().is_none().then(|| one.clone())
        };
        let by_name = || KINDS.iter().filter(|k| k.values.is_empty()).find_map(fits);
        let name = in_table.and_then(fits).or_else(by_name);
        let name = name.or_else(|| in_table?.names.first().map(|n| (*n).to_owned()));
        name.map(|n| field(&n))
    }

    /// The names of the fields that what starts the workflow brings.
    pub(super) fn fields_that_came(&self) -> Vec<String> {
        let of = |t: &Trigger| match t {
            Trigger::Webhook { fields, .. } => fields.clone(),
            Trigger::SubWorkflow { inputs } => inputs.clone(),
            Trigger::Form { fields, .. } => fields.iter().map(|f| f.label.clone()).collect(),
            _ => Vec::new(),
        };
        self.plan.triggers.iter().flat_map(of).collect()
    }
}
