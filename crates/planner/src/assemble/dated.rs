//! Conditions on days, and what a thing has or lacks: "whose birthday is today", "due tomorrow", "without a tracking number",
//! "from ann@x.example".

use super::{Reading, field, lit};
use crate::clause::{Clause, Phrase};
use crate::plan::{Cmp, Cond, Val};
use crate::spot::Kind;
use crate::time::TimeMeaning;

/// The day alone, as dates are written.
const DAY: &str = "yyyy-MM-dd";
/// What comes round each year: its month and day.
const DAY_OF_YEAR: &str = "MM-dd";

impl Reading<'_> {
    /// "whose birthday is today", "due tomorrow", "yesterday's orders": a date that lies on a day.
    pub(super) fn on_a_day(&self, clause: &Clause) -> Option<Cond> {
        let offset_seconds = clause.times.iter().find_map(|t| match t.means {
            TimeMeaning::Today => Some(0),
            TimeMeaning::Offset { seconds } if seconds % 86_400 == 0 => Some(seconds),
            _ => None,
        })?;
        let date = clause.phrases().find(|p| self.kind(p) == "date");
        let yearly = date.is_some_and(|p| matches!(self.concept(p), "birthday" | "anniversary"));
        let (op, format) = match yearly {
            true => (Cmp::Contains, DAY_OF_YEAR),
            false => (Cmp::StartsWith, DAY),
        };
        let left = date.map(|p| self.words(p)).filter(|w| !w.is_empty());
        Some(Cond::Compare {
            left: field(left.as_deref().unwrap_or("date")),
            op,
            right: Val::Now {
                offset_seconds,
                format: Some(format.to_owned()),
            },
        })
    }

    /// "without a tracking number", "that have no phone number": a field that is empty.
    pub(super) fn lacking(&self, clause: &Clause) -> Option<Cond> {
        let own = |p: &Phrase| {
            p.negated && !clause.negated()
                || p.preps.iter().any(|prep| prep == "without")
                || p.prep == "without"
        };
        let fits = |p: &&Phrase| {
            own(p)
                && p.service.is_none()
                && p.names.is_empty()
                && p.numbers.is_empty()
                && !matches!(self.kind(p), "person" | "context" | "container" | "place")
        };
        let lacked = clause.phrases().find(fits)?;
        let name = self.field_name(lacked);
        (!name.is_empty()).then(|| Cond::Compare {
            left: field(&name),
            op: Cmp::Missing,
            right: lit(true),
        })
    }

    /// "mails from ann@x.example": who something comes from, where it is sifted.
    pub(super) fn sent_by(&self, clause: &Clause) -> Option<Cond> {
        let from = clause.phrases().find_map(|p| {
            let mail = p.literal(self.chart, Kind::Mail)?;
            (p.prep == "from" || p.prep == "of").then(|| mail.text.clone())
        })?;
        Some(Cond::Compare {
            left: field("from"),
            op: Cmp::Contains,
            right: lit(from),
        })
    }
}
