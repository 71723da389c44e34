//! Conditions: what is compared with what, from the phrases of a clause.

use super::{Reading, field, figure, lit, number};
use crate::chart::Item;
use crate::clause::{Clause, Phrase};
use crate::lex::Class;
use crate::plan::{Cmp, Cond, Val};
use crate::spot::Kind;
use crate::time::TimeMeaning;

/// Frames of verbs that tell how something is, and so join conditions.
pub(super) const STILL: &[&str] = &["STATE", "INCLUDE", "REACH", "EXIST", "SAY", "BEGIN"];

impl Reading<'_> {
    /// The condition that a clause states; none where nothing in it can be compared.
    pub(super) fn condition(&mut self, clause: &Clause) -> Option<Cond> {
        let negated = clause.negated();
        let found = self
            .begun(clause)
            .or_else(|| self.several(clause))
            .or_else(|| self.between(clause))
            .or_else(|| self.answer_status(clause))
            .or_else(|| self.compared(clause))
            .or_else(|| self.equated(clause))
            .or_else(|| self.contained(clause))
            .or_else(|| self.holding(clause).filter(|_| clause.verb.is_none()))
            .or_else(|| self.aged(clause))
            .or_else(|| self.on_a_day(clause))
            .or_else(|| self.stated(clause))
            .or_else(|| self.done_to(clause))
            .or_else(|| self.lacking(clause))
            .or_else(|| self.by_value(clause))?;
        if let Cond::Compare { left, .. } = &found {
            self.topic.field = Some(left.clone());
        }
        // "the status isn't 'ok'": the helping verb is none of the clause's.
        let denied = clause.verb.is_none()
            && self.items(clause).iter().any(|i| i.is("neg"))
            && matches!(
                &found,
                Cond::Compare {
                    op: Cmp::Eq | Cmp::Contains,
                    right: Val::Lit { .. },
                    ..
                }
            );
        Some(match negated || denied {
            true => not(found),
            false => found,
        })
    }

    /// "more than 21 days and level 1", "severity = critical, status = open": several conditions in a row.
    fn several(&mut self, clause: &Clause) -> Option<Cond> {
        let free = clause.verb.is_none() && clause.before.is_empty();
        if !free || !clause.after.iter().any(|p| p.listed) {
            return None;
        }
        let mut parts: Vec<Vec<Phrase>> = vec![Vec::new()];
        for phrase in &clause.after {
            if phrase.listed {
                parts.push(Vec::new());
            }
            parts.last_mut()?.push(phrase.clone());
        }
        let begins = |part: &[Phrase]| {
            let first = part.first().and_then(|p| self.chart.items.get(p.from));
            first.map_or(0, |i| i.from)
        };
        let starts: Vec<usize> = parts.iter().map(|p| begins(p)).collect();
        let mut found = Vec::new();
        for (n, part) in parts.into_iter().enumerate() {
            let from = starts.get(n).copied().unwrap_or(0);
            let to = starts.get(n + 1).copied().unwrap_or(usize::MAX);
            let within = |t: &&crate::time::TimeSpan| t.from >= from && t.from < to;
            let alone = Clause {
                times: clause.times.iter().filter(within).cloned().collect(),
                after: part,
                ..clause.clone()
            };
            // A part that says nothing to compare is another value of the one before.
            let told = self.between(&alone).or_else(|| self.compared(&alone));
            found.push(told.or_else(|| self.aged(&alone))?);
        }
        let or = self.items(clause).iter().any(|i| i.is("or"));
        Some(match (found.len(), or) {
            (0 | 1, _) => return None,
            (_, true) => Cond::Any { of: found },
            (_, false) => Cond::All { of: found },
        })
    }

    /// "only *.csv": files by the ending of their names.
    pub(super) fn ending(&self, clause: &Clause) -> Option<Cond> {
        let names = clause.phrases().flat_map(|p| p.names.iter());
        let ending = names
            .filter_map(|n| {
                self.raw(*n)
                    .trim_matches(['`', '"', '\''])
                    .strip_prefix('*')
            })
            .next()?;
        ending.starts_with('.').then(|| Cond::Compare {
            left: field("name"),
            op: Cmp::EndsWith,
            right: lit(ending),
        })
    }

    /// What a clause compares, or says that something contains; not the state that it tells of.
    pub(super) fn measured_by(&self, clause: &Clause) -> Option<Cond> {
        let bound = clause.phrases().any(|p| p.compared.is_some());
        let quoted = || {
            clause
                .phrases()
                .any(|p| p.literal(self.chart, Kind::Quote).is_some())
        };
        let within = |p: &Phrase| p.prep == "with" && self.kind(p) == "field";
        if bound {
            return self.compared(clause);
        }
        if quoted() && clause.phrases().any(within) {
            return self.contained(clause).or_else(|| self.holding(clause));
        }
        self.aged(clause)
    }

    /// "the status is paid", "the state was archived": the participle behind a field is its value.
    fn done_to(&self, clause: &Clause) -> Option<Cond> {
        let verb = clause.verb.as_ref().filter(|v| v.passive)?;
        let subject = clause.before.last().filter(|p| self.kind(p) == "field")?;
        let alone = clause.after.is_empty() && clause.times.is_empty();
        let left = self.left(subject).filter(|_| alone)?;
        Some(Cond::Compare {
            left,
            op: Cmp::Eq,
            right: lit(self.raw(verb.at)),
        })
    }

    /// "with the subject containing 'invoice'".
    fn holding(&self, clause: &Clause) -> Option<Cond> {
        let phrase = clause.phrases().find(|p| {
            p.prep == "with"
                && self.kind(p) == "field"
                && p.literal(self.chart, Kind::Quote).is_some()
        })?;
        let holds = self
            .items(clause)
            .iter()
            .any(|i| i.verb().is_some_and(|v| v.calls("INCLUDE")));
        let right = lit(self.name(*phrase.names.first()?));
        let left = field(self.raw(phrase.head?));
        let op = if holds { Cmp::Contains } else { Cmp::Eq };
        Some(Cond::Compare { left, op, right })
    }

    /// The condition of a clause that was not understood: it lets nothing pass until its left side is filled in, so that
    /// what depends on it is never done without it.
    pub(super) fn closed(&self, clause: &Clause) -> Cond {
        let value = clause.phrases().find_map(|p| {
            let name = p.names.first().map(|n| self.name(*n));
            name.or_else(|| p.numbers.first().map(|n| self.raw(*n).to_owned()))
                .or_else(|| {
                    p.head(self.chart)
                        .filter(|h| h.capital)
                        .map(|_| self.words(p))
                })
        });
        Cond::Compare {
            left: lit(""),
            op: Cmp::Eq,
            right: lit(value.unwrap_or_else(|| self.said(clause))),
        }
    }

    /// "total over 100", "severity = critical", "status is Retired".
    fn compared(&self, clause: &Clause) -> Option<Cond> {
        let phrases: Vec<&Phrase> = clause.phrases().collect();
        for (i, phrase) in phrases.iter().enumerate() {
            let Some(sign) = phrase.compared else {
                continue;
            };
            let right = self
                .right(phrase)
                .or_else(|| phrases.get(i + 1).and_then(|p| self.right(p)))?;
            if let Some(flag) = self.flag(sign, phrase, &right) {
                return Some(flag);
            }
            // "an order over 100 euros": of a record the amount is meant.
            let recorded = |p: &Phrase| matches!(self.kind(p), "record" | "event" | "message");
            let of = crate::cut::before(&phrases, i).iter().rev();
            // "un pedido por webhook de más de 50 EUR": nor what it comes through.
            let place = |p: &Phrase| {
                let named = p.service.is_some() && p.head.is_none();
                named || self.kind(p) == "container" || self.concept(p) == "webhook"
            };
            // Of a record no text is the amount.
            let figure = !matches!(&right, Val::Lit { value } if value.is_string());
            let left = of
                .filter(|p| (!p.aside || phrase.aside) && !place(p))
                .filter(|p| figure || !recorded(p))
                .filter_map(|p| Some((p, self.left(p)?)))
                .map(|(p, left)| match recorded(p) {
                    true => self.unit(phrase).unwrap_or_else(|| field("amount")),
                    false => left,
                })
                .next()
                .or_else(|| self.topic.field.clone());
            let left = left
                .or_else(|| self.unit(phrase))
                .or_else(|| self.spoken_field(clause))?;
            let op = self.sign(sign, phrase);
            let right = self
                .other_field(op, phrase, phrases.get(i + 1))
                .unwrap_or(right);
            return Some(self.or_more(clause, phrase, Cond::Compare { left, op, right }));
        }
        let reach = clause.calls("REACH");
        let is = clause.verb.as_ref().is_some_and(|v| v.calls("BE"));
        let says = clause.calls("SAY") || clause.calls("STATE");
        let told = phrases.iter().find(|p| {
            p.literal(self.chart, Kind::Quote).is_some()
                && matches!(p.prep.as_str(), "" | "in" | "to")
                && !matches!(self.kind(p), "container" | "place")
                && self.concept(p) != "column"
                && (says && p.prep != "to" || self.kind(p) == "field")
        });
        if let Some(phrase) = told
            && let Some(right) = self.right(phrase)
            && let Some(left) = self.left(phrase).or_else(|| {
                let subject = clause.before.iter().rev().find_map(|p| self.left(p));
                let field = |p: &&&Phrase| self.kind(p) == "field";
                let earlier = phrases.iter().take_while(|p| !std::ptr::eq(**p, *phrase));
                let earlier = || earlier.filter(field).find_map(|p| self.left(p));
                subject
                    .or_else(earlier)
                    .or_else(|| self.topic.field.clone())
            })
        {
            return Some(Cond::Compare {
                left,
                op: Cmp::Eq,
                right,
            });
        }
        if !reach && !is {
            return self.equal(clause);
        }
        let left = clause
            .before
            .iter()
            .rev()
            .find_map(|p| self.left(p))
            .or_else(|| self.topic.field.clone())?;
        let right = clause.after.iter().find_map(|p| self.right(p))?;
        Some(Cond::Compare {
            left,
            op: match reach {
                true if clause.calls("LESS") => Cmp::Lt,
                true => Cmp::Gt,
                false => Cmp::Eq,
            },
            right,
        })
    }

    /// "paid = false": the word before the sign is a field that is one of two.
    fn flag(&self, sign: usize, phrase: &Phrase, right: &Val) -> Option<Cond> {
        let Val::Lit { value } = right else {
            return None;
        };
        let yes: bool = value.as_str()?.parse().ok()?;
        let op = self.sign(sign, phrase);
        let at = sign.checked_sub(1)?;
        let named = !self.chart.item(at).stops();
        (matches!(op, Cmp::Eq | Cmp::Ne) && named).then(|| Cond::Compare {
            left: field(self.raw(at)),
            op,
            right: lit(yes),
        })
    }

    /// "stock <= reorder_level", "below its limit": one field bounded by another, named as columns are or owned.
    fn other_field(&self, op: Cmp, phrase: &Phrase, next: Option<&&Phrase>) -> Option<Val> {
        if matches!(op, Cmp::Eq | Cmp::Ne | Cmp::Contains) {
            return None;
        }
        let of = match phrase.names.is_empty() && phrase.head.is_none() {
            true => next?,
            false => phrase,
        };
        let column = of.names.first().map(|n| self.raw(*n))?;
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        (of.numbers.is_empty() && column.contains('_') && column.chars().all(plain))
            .then(|| field(column))
    }

    /// "90 to 96", "between 90 and 96": both bounds included.
    fn between(&self, clause: &Clause) -> Option<Cond> {
        let phrases: Vec<&Phrase> = clause.phrases().collect();
        let plain = |p: &Phrase| p.numbers.len() == 1 && p.compared.is_none() && p.names.is_empty();
        let (at, pair) = phrases
            .windows(2)
            .enumerate()
            .find(|(_, pair)| match pair {
                [low, high] => {
                    let to = high.prep == "to" && low.prep.is_empty() && clause.verb.is_none();
                    let between = low.prep == "between" && high.listed;
                    plain(low) && plain(high) && high.head.is_none() && (to || between)
                }
                _ => false,
            })?;
        let [low, high] = pair else { return None };
        let timed = |p: &Phrase| {
            p.numbers.iter().any(|n| {
                let item = self.chart.item(*n);
                clause
                    .times
                    .iter()
                    .any(|t| item.from >= t.from && item.to <= t.to)
            })
        };
        if timed(low) || timed(high) {
            return None;
        }
        let before = crate::cut::before(&phrases, at).iter().rev();
        let left = before
            .filter_map(|p| self.left(p))
            .next()
            .or_else(|| self.topic.field.clone())
            .or_else(|| self.spoken_field(clause))?;
        let bound = |op: Cmp, of: &Phrase| {
            Some(Cond::Compare {
                left: left.clone(),
                op,
                right: self.right(of)?,
            })
        };
        Some(Cond::All {
            of: vec![bound(Cmp::Ge, low)?, bound(Cmp::Le, high)?],
        })
    }

    /// "level 2", before what is done then: a field with the figure behind it.
    fn equal(&self, clause: &Clause) -> Option<Cond> {
        if clause.verb.is_some() {
            return None;
        }
        let mut phrases = clause.phrases();
        let phrase = phrases.next()?;
        // "reminder_level 0": a column, and its figure.
        let column = phrase
            .names
            .first()
            .filter(|n| self.chart.item(**n).shape() == Some(Kind::Id));
        if let (Some(column), Some(next)) = (column, phrases.next())
            && let (true, Some(value)) = (
                next.head.is_none() && next.prep.is_empty(),
                next.numbers.first(),
            )
        {
            return Some(Cond::Compare {
                left: field(self.raw(*column)),
                op: Cmp::Eq,
                right: figure(self.raw(*value)).map(|n| lit(number(n)))?,
            });
        }
        let at = *phrase.numbers.first()?;
        let named = phrase.head.is_some_and(|h| h < at) && phrase.names.is_empty();
        let timed = clause.times.iter().any(|t| {
            let item = self.chart.item(at);
            item.from >= t.from && item.to <= t.to
        });
        let left = self.left(phrase).filter(|_| named && !timed)?;
        let right = figure(self.raw(at)).map(|n| lit(number(n)))?;
        Some(Cond::Compare {
            left,
            op: Cmp::Eq,
            right,
        })
    }

    /// "if it doesn't return 200": the status of the answer of an address that is called.
    fn answer_status(&self, clause: &Clause) -> Option<Cond> {
        let answers = clause.calls("ANSWER") || clause.calls("REPLY");
        let called = self
            .chart
            .items
            .iter()
            .any(|i| i.shape() == Some(Kind::Url));
        let code = clause.after.iter().find_map(|p| p.numbers.first())?;
        let code = figure(self.raw(*code)).filter(|n| (100.0..600.0).contains(n))?;
        let bound = clause.phrases().any(|p| p.compared.is_some());
        (answers && called && !bound).then(|| Cond::Compare {
            left: field("status code"),
            op: Cmp::Eq,
            right: lit(number(code)),
        })
    }

    /// "country is Germany": a field, a form of to be, and a name.
    fn equated(&self, clause: &Clause) -> Option<Cond> {
        let phrases: Vec<&Phrase> = clause.phrases().collect();
        let [subject, value] = phrases.as_slice() else {
            return None;
        };
        let joined = |p: &Phrase| !p.prep.is_empty() || p.listed;
        if clause.verb.is_some() || joined(subject) || joined(value) {
            return None;
        }
        let (from, to) = (subject.head?, value.head?);
        let is = (from + 1..to).any(|at| self.chart.item(at).is("aux"));
        let named = value.head(self.chart).is_some_and(|head| head.capital);
        // "the status is ok": what a field is, needs no capital.
        // "where the plan is gold": so is what a column of a table is.
        let narrowed = self.chart.item(clause.from).text == "where";
        let named = named || self.kind(subject) == "field" || narrowed;
        let left = self.left(subject).filter(|_| is && named)?;
        Some(Cond::Compare {
            left,
            op: Cmp::Eq,
            right: lit(self.words(value)),
        })
    }

    /// What is compared: a field, by the words of a phrase.
    fn left(&self, phrase: &Phrase) -> Option<Val> {
        if let Some(id) = phrase
            .names
            .iter()
            .find(|n| self.chart.item(**n).shape() == Some(Kind::Id))
        {
            return Some(field(self.raw(*id)));
        }
        let words = self.words(phrase);
        // "the column `status`", "the field 'Company'".
        if let Some(name) = phrase.names.first()
            && self.concept(phrase) == "column"
        {
            return Some(field(self.name(*name).trim_matches('`')));
        }
        (!words.is_empty() && phrase.pronoun.is_none()).then(|| field(&words))
    }

    /// "with 200 employees or more": the unit is the field.
    fn unit(&self, phrase: &Phrase) -> Option<Val> {
        let head = phrase.head(self.chart)?;
        let noun = head.noun()?;
        Some(match (noun.kind(), noun.concept.as_str()) {
            // "more than 100 euros": what is counted in money is an amount.
            ("money", _) | (_, "currency") => field("amount"),
            _ => field(&self.words(phrase)),
        })
    }

    /// What the clauses before spoke of last that can be compared: a field, a figure, what a statement is about.
    fn spoken_field(&self, clause: &Clause) -> Option<Val> {
        const NEAR: usize = 4;
        let before = self.clauses.iter().rev().filter(|c| c.to <= clause.from);
        before.take(NEAR).find_map(|c| {
            let states = c.verb.as_ref().is_some_and(|v| v.frame() == "STATE");
            let subject = c.before.iter().rev().filter(|_| states);
            // What is bounded is a figure, no name.
            let named = [
                "name",
                "email",
                "title",
                "subject",
                "address",
                "phone",
                "description",
            ];
            let field = |p: &&Phrase| {
                p.compared.is_none()
                    && matches!(self.kind(p), "field" | "number" | "money")
                    && !named.contains(&self.concept(p))
            };
            let told = c.phrases().filter(field).last();
            subject.chain(told).find_map(|p| self.left(p))
        })
    }

    /// "is Austria or Switzerland": one of several values.
    fn or_more(&self, clause: &Clause, phrase: &Phrase, first: Cond) -> Cond {
        let Cond::Compare {
            left, op: Cmp::Eq, ..
        } = &first
        else {
            return first;
        };
        let same = clause
            .phrases()
            .skip_while(|p| p.from <= phrase.from)
            .take_while(|p| p.listed && p.compared.is_none() && p.prep.is_empty());
        let joined = self.items(clause).iter().any(|i| i.is("or"));
        let more: Vec<Cond> = same
            .filter(|_| joined)
            .filter_map(|p| self.right(p))
            .map(|right| Cond::Compare {
                left: left.clone(),
                op: Cmp::Eq,
                right,
            })
            .collect();
        if more.is_empty() {
            return first;
        }
        Cond::Any {
            of: std::iter::once(first).chain(more).collect(),
        }
    }

    /// What it is compared with: a figure, a quoted text, a name.
    fn right(&self, phrase: &Phrase) -> Option<Val> {
        if let Some(at) = phrase.numbers.first() {
            return figure(self.raw(*at)).map(|n| lit(number(n)));
        }
        if let Some(at) = phrase.names.first() {
            return Some(lit(self.name(*at)));
        }
        let words = self.words(phrase);
        (!words.is_empty() && phrase.prep.is_empty()).then(|| lit(words))
    }

    fn sign(&self, at: usize, phrase: &Phrase) -> Cmp {
        let item = self.chart.item(at);
        let cmp = match item.text.as_str() {
            ">" => Cmp::Gt,
            ">=" | "\u{2265}" => Cmp::Ge,
            "<" => Cmp::Lt,
            "<=" | "\u{2264}" => Cmp::Le,
            "!=" | "!==" | "<>" | "\u{2260}" => Cmp::Ne,
            _ if item.is("more") => {
                if item.tells("or") {
                    Cmp::Ge
                } else {
                    Cmp::Gt
                }
            }
            _ if item.is("less") => {
                if item.tells("or") {
                    Cmp::Le
                } else {
                    Cmp::Lt
                }
            }
            _ => Cmp::Eq,
        };
        if phrase.negated {
            cmp.opposite().unwrap_or(cmp)
        } else {
            cmp
        }
    }

    /// "the subject contains 'x'", "'x' is in the subject", "labelled 'x'".
    pub(super) fn contained(&self, clause: &Clause) -> Option<Cond> {
        let quote = |p: &&Phrase| p.literal(self.chart, Kind::Quote).is_some();
        let name = |p: &Phrase| p.names.first().map(|n| lit(self.name(*n)));
        if clause.calls("INCLUDE") {
            let left = clause
                .before
                .iter()
                .rev()
                .find_map(|p| self.left(p))
                .or_else(|| self.topic.field.clone())?;
            let right = clause
                .after
                .iter()
                .find_map(|p| name(p).or_else(|| self.right(p)))?;
            let contains = |right: Val| Cond::Compare {
                left: left.clone(),
                op: Cmp::Contains,
                right,
            };
            // "contains 'overdue' or 'reminder'": any of them, or all.
            let quotes = clause.after.iter().filter(|p| quote(p));
            let mut of: Vec<Cond> = quotes.filter_map(name).map(contains).collect();
            return Some(
                match (of.len(), self.items(clause).iter().any(|i| i.is("or"))) {
                    (0 | 1, _) => of.pop().unwrap_or_else(|| contains(right)),
                    (_, true) => Cond::Any { of },
                    (_, false) => Cond::All { of },
                },
            );
        }
        let phrases: Vec<&Phrase> = clause.phrases().collect();
        let (at, quoted) = phrases.iter().enumerate().find(|(_, p)| quote(p))?;
        let right = name(quoted)?;
        let place = phrases.get(at + 1).filter(|p| p.prep == "in")?;
        Some(Cond::Compare {
            left: self.left(place)?,
            op: Cmp::Contains,
            right,
        })
    }

    /// "older than 30 days".
    fn aged(&self, clause: &Clause) -> Option<Cond> {
        let age = clause.times.iter().find_map(|t| match t.means {
            TimeMeaning::Age { older, seconds } => Some((older, seconds)),
            _ => None,
        });
        let (older, seconds) = age?;
        let column = |p: &&Phrase| {
            let id = |n: &usize| self.chart.item(*n).shape() == Some(Kind::Id);
            self.kind(p) == "date"
                || p.names.iter().any(id) && p.service.is_none() && p.head.is_none()
        };
        let named = clause.phrases().find(column);
        let date = named.map(|p| match p.names.first() {
            Some(name) => self.name(*name),
            None => self.words(p),
        });
        Some(Cond::Age {
            field: field(date.as_deref().unwrap_or("date")),
            older,
            seconds,
        })
    }

    /// "is paid", "is missing", "exists", "it's Germany".
    fn stated(&self, clause: &Clause) -> Option<Cond> {
        let subject = clause.before.iter().rev().find_map(|p| self.left(p));
        if clause.calls("EXIST") {
            return Some(Cond::Compare {
                left: subject?,
                op: Cmp::Exists,
                right: lit(true),
            });
        }
        // A state in a list of columns is the name of one.
        for phrase in clause.phrases().filter(|p| !p.listed || p.head.is_some()) {
            let Some(state) = phrase
                .states
                .iter()
                .find_map(|s| self.chart.item(*s).sense(Class::Adjective))
            else {
                continue;
            };
            if state.kind() != "state" {
                continue;
            }
            let own = self.left(&Phrase {
                states: Vec::new(),
                ..phrase.clone()
            });
            let there = match state.concept.as_str() {
                "missing" => Some(Cmp::Missing),
                "present" => Some(Cmp::Exists),
                _ => None,
            };
            if let Some(op) = there {
                let column = clause.phrases().find(|p| self.concept(p) == "column");
                let column = column
                    .filter(|p| !p.names.is_empty())
                    .and_then(|p| self.left(p));
                return Some(Cond::Compare {
                    left: own.or(column).or(subject)?,
                    op,
                    right: lit(true),
                });
            }
            // "SUSPENDED" in capitals is the value as it stands.
            let said = phrase
                .states
                .iter()
                .map(|s| self.raw(*s))
                .find(|raw| is_constant(raw));
            return Some(Cond::Compare {
                left: field("status"),
                op: Cmp::Eq,
                right: lit(said.map_or_else(|| state.concept.clone(), str::to_owned)),
            });
        }
        let verb = clause.verb.as_ref()?;
        let named = clause.after.iter().find_map(|p| {
            p.head(self.chart)
                .filter(|h: &&Item| h.capital)
                .map(|h| self.text.get(h.from..h.to).unwrap_or("").to_owned())
        });
        if verb.calls("STATE") {
            let left = subject.or_else(|| self.topic.field.clone())?;
            return Some(Cond::Compare {
                left,
                op: Cmp::Eq,
                right: lit(named?),
            });
        }
        None
    }
}

/// Whether a word is written as a constant: in capitals.
pub(super) fn is_constant(raw: &str) -> bool {
    let letters = || raw.chars().filter(|c| c.is_alphabetic());
    letters().count() > 1 && letters().all(char::is_uppercase)
}

fn not(cond: Cond) -> Cond {
    let turned = match &cond {
        Cond::Compare { op, .. } => op.opposite(),
        _ => None,
    };
    match (cond, turned) {
        (Cond::Compare { left, right, .. }, Some(op)) => Cond::Compare { left, op, right },
        (other, _) => Cond::Not {
            of: Box::new(other),
        },
    }
}
