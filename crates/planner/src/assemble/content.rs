//! What a step writes: the text of a message, the fields of a row, titles and dates.

use super::{Reading, arg, field, figure, lit, number};
use crate::clause::{Clause, Phrase};
use crate::plan::{Arg, Role, Val};
use crate::spot::Kind;
use crate::time::TimeMeaning;

impl Reading<'_> {
    /// The fields that a clause lists (in brackets, after "with", after a colon), as values of the data at hand.
    pub(super) fn fields(&self, i: usize) -> Vec<String> {
        let clause = self.clause_at(i);
        let plain = |p: &Phrase| {
            p.service.is_none()
                && p.pronoun.is_none()
                && p.numbers.is_empty()
                && !p
                    .names
                    .iter()
                    .any(|n| !matches!(self.chart.item(*n).shape(), Some(Kind::Id) | None))
                && !matches!(self.kind(p), "container" | "place" | "context" | "web")
        };
        let mut fields: Vec<String> = Vec::new();
        let mut begun = false;
        for (n, phrase) in clause.after.iter().enumerate() {
            let listed_next = clause.after.get(n + 1).is_some_and(|p| p.listed);
            let begins = phrase.aside
                || phrase.prep == "with"
                || phrase.listed && begun
                || phrase.prep.is_empty()
                    && (listed_next
                        || self.kind(phrase) == "field"
                        || self.kind(phrase) == "money")
                    && !matches!(self.kind(phrase), "message" | "record" | "file");
            if begins && plain(phrase) {
                begun = true;
                let mut name = self.field_name(phrase);
                if let Some(of) = clause
                    .after
                    .get(n + 1)
                    .filter(|p| p.prep == "of" && plain(p))
                {
                    name = format!("{} {name}", self.words(of));
                }
                if !name.is_empty() && !fields.contains(&name) {
                    fields.push(name);
                }
            } else if matches!(self.kind(phrase), "place" | "container") || phrase.service.is_some()
            {
                begun = true;
            } else if phrase.prep != "of" && !phrase.listed {
                begun = false;
            }
        }
        let next = self.clauses.get(i + 1).filter(|n| {
            n.verb.is_none()
                && n.intro == crate::clause::Intro::None
                && n.colon
                && n.sentence == clause.sentence
        });
        fields.extend(
            next.into_iter()
                .flat_map(|n| n.after.iter())
                .filter(|p| plain(p))
                .map(|p| self.field_name(p))
                .filter(|f| !f.is_empty()),
        );
        fields
    }

    /// A quoted text that a message is to say.
    pub(super) fn quote(&self, clause: &Clause) -> Option<Val> {
        let container = |p: &Phrase| {
            matches!(self.kind(p), "container" | "place" | "field") || p.service.is_some()
        };
        let at = clause
            .phrases()
            .filter(|p| !container(p))
            .flat_map(|p| p.names.iter())
            .find(|n| self.chart.item(**n).shape() == Some(Kind::Quote));
        at.map(|n| template(&self.name(*n)))
    }

    /// The text of a message: what is quoted, else the fields that are listed.
    pub(super) fn text_of(&self, i: usize) -> Option<Arg> {
        if let Some(quote) = self.quote(self.clause_at(i)) {
            return Some(arg(Role::Text, quote));
        }
        let fields = self.fields(i);
        if fields.is_empty() {
            return None;
        }
        let mut parts = Vec::new();
        for (n, name) in fields.iter().enumerate() {
            let line = if n == 0 { "" } else { "\n" };
            parts.push(lit(format!("{line}{name}: ")));
            parts.push(field(name));
        }
        Some(arg(Role::Text, Val::Template { parts }))
    }

    /// Who a message goes to: addresses, people, "the customer".
    pub(super) fn recipients(&self, clause: &Clause) -> Vec<Arg> {
        let mut args = Vec::new();
        for phrase in clause.phrases() {
            for name in &phrase.names {
                if self.chart.item(*name).shape() == Some(Kind::Mail) && phrase.prep != "from" {
                    args.push(arg(Role::To, lit(self.raw(*name))));
                }
            }
        }
        if args.is_empty() {
            let person = clause.phrases().find(|p| {
                self.kind(p) == "person"
                    && matches!(p.prep.as_str(), "to" | "")
                    && p.names.is_empty()
            });
            if let Some(person) = person {
                args.push(arg(
                    Role::To,
                    field(&format!("{} email", self.words(person))),
                ));
            }
        }
        args
    }

    /// "the subject as the title, the text of the mail as description": what fills which field.
    fn given_as(&self, clause: &Clause) -> Vec<Arg> {
        let mut args = Vec::new();
        let phrases = &clause.after;
        for (n, phrase) in phrases.iter().enumerate().skip(1) {
            let fits = matches!(
                self.kind(phrase),
                "field" | "text" | "date" | "money" | "number"
            ) && phrase.prep == "as";
            if !fits {
                continue;
            }
            let mut from = n - 1;
            while from > 0 && phrases.get(from).is_some_and(|p| p.prep == "of") {
                from -= 1;
            }
            let Some(source) = phrases.get(from) else {
                continue;
            };
            let value = match source.names.first() {
                Some(name) => template(&self.name(*name)),
                None => field(&self.words(source)),
            };
            let name = self.words(phrase);
            let role = match self.concept(phrase) {
                "title" => Role::Title,
                "subject" => Role::Subject,
                _ => Role::Field(name),
            };
            args.push(arg(role, value));
        }
        args
    }

    /// Title, due date, priority, status and limits that a clause gives.
    pub(super) fn details(&self, clause: &Clause) -> Vec<Arg> {
        let mut args = self.given_as(clause);
        for (n, phrase) in clause.after.iter().enumerate() {
            let value = phrase.names.first().map(|n| lit(self.name(*n)));
            let next = clause.after.get(n + 1);
            match self.concept(phrase) {
                "title" | "subject" if value.is_some() => {
                    args.extend(value.map(|v| arg(Role::Title, v)))
                }
                "priority" | "status" | "stage" => {
                    let role = if self.concept(phrase) == "priority" {
                        Role::Priority
                    } else {
                        Role::Status
                    };
                    let figure = phrase
                        .numbers
                        .first()
                        .and_then(|n| figure(self.raw(*n)))
                        .map(|n| lit(number(n)));
                    let said = next
                        .filter(|p| matches!(p.prep.as_str(), "to" | "" | "as"))
                        .map(|p| self.words(p))
                        .filter(|w| !w.is_empty())
                        .map(lit);
                    let before =
                        (!phrase.modifiers.is_empty() || !phrase.states.is_empty()).then(|| {
                            let own = self.words(phrase);
                            let head = phrase.head(self.chart).map_or("", |h| h.text.as_str());
                            lit(own.trim_end_matches(head).trim().to_owned())
                        });
                    args.extend(value.or(figure).or(before).or(said).map(|v| arg(role, v)));
                }
                "row" | "task" | "event" | "page" | "issue" | "card" | "ticket" | "deal"
                | "draft" | "message"
                    if phrase.literal(self.chart, Kind::Quote).is_some() =>
                {
                    let quote = phrase
                        .literal(self.chart, Kind::Quote)
                        .map(|q| template(&q.text));
                    args.extend(quote.map(|v| arg(Role::Title, v)));
                }
                _ => {}
            }
        }
        for time in &clause.times {
            if let TimeMeaning::Offset { seconds } = time.means {
                args.push(arg(
                    Role::Due,
                    Val::Now {
                        offset_seconds: seconds,
                        format: None,
                    },
                ));
            }
        }
        args
    }
}

/// A text with its holes (`<name>`, `{name}`) as fields.
pub(super) fn template(text: &str) -> Val {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find(['<', '{']) {
        let close = if crate::cut::rest(rest, open).starts_with('<') {
            '>'
        } else {
            '}'
        };
        let Some(end) = crate::cut::rest(rest, open).find(close).map(|e| open + e) else {
            break;
        };
        let name = crate::cut::text(rest, open + 1, end).trim_matches(['{', '}', ' ', '$']);
        let plain = crate::cut::text(rest, 0, open);
        if !plain.is_empty() {
            parts.push(lit(plain));
        }
        parts.push(field(name));
        rest = crate::cut::rest(rest, end + 1).trim_start_matches('}');
    }
    if parts.is_empty() {
        return lit(text);
    }
    if !rest.is_empty() {
        parts.push(lit(rest));
    }
    Val::Template { parts }
}
