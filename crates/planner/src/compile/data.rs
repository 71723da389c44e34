//! Where data comes from: the origins (nodes whose output a later step may read), and how a said field
//! ("customer e-mail", "the order number") becomes an expression. Owns no node parameters.

use super::draft::{At, Draft};
use super::words::{self, alike, js_path, js_string};

/// How a field is spelled when we do not know the service's own name for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Spelling {
    #[default]
    Snake,
    Camel,
    Pascal,
    /// The user's own words: sheet columns, form labels.
    AsSaid,
}

/// A node whose output can be read later.
#[derive(Debug, Clone, Default)]
pub(super) struct Origin {
    pub node: String,
    /// What one item is, in common words: order, ticket, invoice.
    pub about: Vec<String>,
    /// The path that all fields lie below: `body`, `output`, or empty.
    pub base: String,
    /// Known fields: the words for them, and the path below `base`.
    pub fields: Vec<(String, String)>,
    pub spelling: Spelling,
    /// The node acted on something (sent, created): its output is an answer, not the data at hand.
    pub acting: bool,
    /// Only the listed fields exist.
    pub closed: bool,
    /// The fields are those of a service's own records.
    pub of_service: bool,
    /// The node whose items these are once more.
    pub again: Option<String>,
}

impl Origin {
    pub(super) fn about(mut self, text: &str) -> Self {
        for word in words::words(text) {
            if !self.about.contains(&word) {
                self.about.push(word);
            }
        }
        self
    }
    pub(super) fn base(mut self, base: &str) -> Self {
        self.base = base.to_owned();
        self
    }
    pub(super) fn spelled(mut self, spelling: Spelling) -> Self {
        self.spelling = spelling;
        self
    }
    pub(super) fn field(mut self, said: &str, path: &str) -> Self {
        self.fields.push((said.to_owned(), path.to_owned()));
        self
    }

    /// The known field that fits best, with how well (0–1).
    fn known(&self, name: &str) -> Option<(&str, f64)> {
        let said = words::words(name);
        let bare: Vec<String> = said
            .iter()
            .filter(|w| !self.about.contains(w))
            .cloned()
            .collect();
        let mut best: Option<(&str, f64)> = None;
        for (alias, path) in &self.fields {
            for alias in alias.split('|') {
                let full = if words::fold(alias) == words::fold(name) {
                    1.0
                } else {
                    let alias = words::words(alias);
                    let bare = if bare.is_empty() {
                        0.0
                    } else {
                        alike(&bare, &alias) * 0.97
                    };
                    let stray = said.iter().any(|w| {
                        !alias.contains(w)
                            && !self.about.contains(w)
                            && !PERSONS.contains(&w.as_str())
                    });
                    // "order id" is not the `id` of a file
                    let weight = if stray { 0.55 } else { 1.0 };
                    alike(&said, &alias).max(bare) * weight
                };
                if full > best.map_or(0.0, |(_, s)| s) {
                    best = Some((path, full));
                }
            }
        }
        best
    }

    fn spell(&self, name: &str) -> String {
        if name.contains('.') || name.contains('[') {
            return name.to_owned();
        }
        match self.spelling {
            Spelling::AsSaid => return name.to_owned(),
            _ if words::is_key(name) => return name.to_owned(),
            _ => {}
        }
        // "the order's number" of an order is its number
        let bare: Vec<String> = words::plain(name)
            .into_iter()
            .filter(|w| !self.about.contains(w))
            .collect();
        let name = if bare.is_empty() {
            name.to_owned()
        } else {
            bare.join(" ")
        };
        match self.spelling {
            Spelling::Snake | Spelling::AsSaid => words::snake(&name),
            Spelling::Camel => words::camel(&name),
            Spelling::Pascal => words::pascal(&name),
        }
    }

    /// Whether the fields of its records are known, so that a word that names none of them is a guess.
    fn is_known(&self) -> bool {
        !self.fields.is_empty() && (self.closed || self.of_service)
    }

    /// Whether a field of a row only tells which row it is: it shows nothing of what the row holds.
    pub(super) fn numbers_rows(&self, path: &str) -> bool {
        let own = matches!(path, "id" | "createdTime");
        path == "row_number" || own && self.spelling == Spelling::AsSaid
    }

    fn path(&self, path: &str) -> String {
        match (self.base.is_empty(), path.is_empty()) {
            (true, _) => path.to_owned(),
            (false, true) => self.base.clone(),
            (false, false)
                if words::is_identifier(path.split(['.', '[']).next().unwrap_or(""))
                    && path
                        .split('.')
                        .all(|p| words::is_identifier(p.split('[').next().unwrap_or(""))) =>
            {
                format!("{}.{path}", self.base)
            }
            _ => path.to_owned(),
        }
    }
}

/// Whether a name is written as one of a program's own ("order_id", "orderId"): the user knows that it is there.
fn is_identifier_of_user(name: &str) -> bool {
    name.contains(['_', '.', '['])
        || words::is_key(name) && name.chars().skip(1).any(char::is_uppercase)
}

const KNOWN: f64 = 0.6;

/// Words for people: "the customer's e-mail" of a form is its e-mail field.
const PERSONS: &[&str] = &[
    "customer",
    "user",
    "person",
    "employee",
    "lead",
    "contact",
    "subscriber",
    "client",
    "author",
    "invitee",
    "attendee",
    "guest",
    "applicant",
    "requester",
    "recipient",
    "buyer",
    "member",
    "visitor",
    "patient",
    "candidate",
    "student",
    "mitarbeiter",
    "mitarbeiterin",
    "bewerber",
    "teilnehmer",
    "person",
    "empleado",
    "usuario",
    "owner",
    "their",
];

impl Draft<'_> {
    /// The item of an origin as seen from here.
    pub(super) fn item(&self, at: &At, origin: usize) -> String {
        if at.json == Some(origin) {
            return "$json".to_owned();
        }
        let Some(origin) = self.origins.get(origin) else {
            return "$json".to_owned();
        };
        let node = js_string(&origin.node);
        if at.paired {
            format!("$({node}).item.json")
        } else {
            format!("$({node}).first().json")
        }
    }

    fn join(&self, item: &str, origin: usize, path: &str) -> String {
        let Some(origin) = self.origins.get(origin) else {
            return js_path(item, path);
        };
        let full = origin.path(path);
        if full == path && !origin.base.is_empty() && !path.is_empty() {
            return js_path(&js_path(item, &origin.base), path);
        }
        js_path(item, &full)
    }

    /// The origin that the data at hand comes from: the current item unless that is only an answer.
    pub(super) fn subject(&self, at: &At) -> Option<usize> {
        let acting = |i: usize| self.origins.get(i).is_some_and(|o| o.acting);
        at.json
            .filter(|i| !acting(*i))
            .or_else(|| at.seen.iter().rev().copied().find(|i| !acting(*i)))
            .or(at.json)
    }

    /// A path (empty: all of it) of a given origin.
    pub(super) fn at_origin(&self, at: &At, origin: usize, path: &str) -> String {
        self.join(&self.item(at, origin), origin, path)
    }

    /// Where a said field is: the origin and the path in it, and whether it is known for sure.
    pub(super) fn locate(
        &self,
        at: &At,
        name: &str,
        of: Option<&str>,
    ) -> Option<(usize, String, bool)> {
        let by_step = of.and_then(|of| self.by_step.get(of)).copied();
        if let Some(index) = by_step {
            let origin = self.origins.get(index)?;
            return Some(match origin.known(name) {
                Some((path, score)) if score >= KNOWN => (index, path.to_owned(), true),
                _ => (index, origin.spell(name), false),
            });
        }
        let of_words = of.map(words::words).unwrap_or_default();
        let said = words::words(name);
        let mut best: Option<(usize, String, f64)> = None;
        for (age, &index) in at.seen.iter().rev().enumerate() {
            let Some(origin) = self.origins.get(index) else {
                continue;
            };
            let Some((path, score)) = origin.known(name) else {
                continue;
            };
            if score < KNOWN {
                continue;
            }
            let belongs = alike(&of_words, &origin.about).max(0.5 * alike(&said, &origin.about));
            if origin.acting && belongs < 0.3 {
                continue;
            }
            let total = score + 0.5 * belongs - 0.02 * age as f64;
            if total > best.as_ref().map_or(0.0, |b| b.2) {
                best = Some((index, path.to_owned(), total));
            }
        }
        if let Some((index, path, _)) = best {
            return Some((index, path, true));
        }
        // not a known field: the origin that it belongs to by its words, else the data at hand
        let named = |words_of: &[String]| {
            at.seen
                .iter()
                .rev()
                .copied()
                .filter(|&i| self.origins.get(i).is_some_and(|o| !o.closed))
                .map(|i| {
                    (
                        i,
                        self.origins
                            .get(i)
                            .map_or(0.0, |o| alike(words_of, &o.about)),
                    )
                })
                .fold(None, |best: Option<(usize, f64)>, (i, s)| {
                    if s > best.map_or(0.3, |b| b.1) {
                        Some((i, s))
                    } else {
                        best
                    }
                })
                .map(|(i, _)| i)
        };
        let index =
            named(&of_words)
                .or_else(|| named(&said))
                .or_else(|| {
                    self.subject(at)
                        .filter(|i| self.origins.get(*i).is_some_and(|o| !o.closed))
                        .or_else(|| {
                            at.seen.iter().rev().copied().find(|i| {
                                self.origins.get(*i).is_some_and(|o| !o.acting && !o.closed)
                            })
                        })
                })
                .or_else(|| {
                    // an answer is better than a trigger that carries nothing
                    at.json
                        .filter(|i| self.origins.get(*i).is_some_and(|o| !o.closed))
                        .or_else(|| self.subject(at))
                })?;
        let origin = self.origins.get(index)?;
        Some((index, origin.spell(name), false))
    }

    /// "how many days" of something that has a start and an end.
    fn length_in_days(&self, at: &At, name: &str) -> Option<String> {
        let found = words::plain(name);
        let asks = found.iter().any(|w| {
            matches!(
                w.as_str(),
                "days"
                    | "day"
                    | "tage"
                    | "tagen"
                    | "dias"
                    | "jours"
                    | "duration"
                    | "dauer"
                    | "length"
                    | "nights"
                    | "naechte"
                    | "anzahltage"
            )
        });
        if !asks {
            return None;
        }
        let exact = |names: &[&str]| {
            at.seen.iter().rev().find_map(|&i| {
                let origin = self.origins.get(i)?;
                let (_, path) = origin.fields.iter().find(|(said, _)| {
                    said.split('|').any(|s| {
                        let s = words::fold(s);
                        names.iter().any(|n| {
                            s == *n
                                || s.starts_with(&format!("{n} "))
                                || s.ends_with(&format!(" {n}"))
                                || s.ends_with(&format!("_{n}"))
                                || s.starts_with(&format!("{n}_"))
                        })
                    })
                })?;
                Some(self.at_origin(at, i, path))
            })
        };
        let start = exact(&[
            "from",
            "start",
            "von",
            "begin",
            "beginn",
            "desde",
            "inicio",
            "du",
            "debut",
            "check-in",
            "checkin",
            "first day",
            "start date",
            "startdatum",
        ])?;
        let end = exact(&[
            "to",
            "end",
            "bis",
            "until",
            "ende",
            "hasta",
            "fin",
            "au",
            "check-out",
            "checkout",
            "last day",
            "end date",
            "enddatum",
        ])?;
        Some(format!(
            "DateTime.fromISO({end}).diff(DateTime.fromISO({start}), 'days').days + 1"
        ))
    }

    /// A said field as JavaScript.
    pub(super) fn field(&self, at: &At, name: &str, of: Option<&str>) -> String {
        if let Some(inputs) = &at.tool {
            let by_step = of.is_some_and(|of| self.by_step.contains_key(of));
            if !by_step {
                return self.from_ai(inputs, name);
            }
        }
        match self.locate(at, name, of) {
            Some((_, _, false)) if of.is_none() && self.length_in_days(at, name).is_some() => {
                self.length_in_days(at, name).unwrap_or_default()
            }
            Some((index, path, known)) => {
                // What a service answers holds none of the fields that a request speaks of, unless they are known.
                let guesses = |o: &Origin| o.is_known() || o.acting;
                let guessed = !known && self.origins.get(index).is_some_and(guesses);
                if guessed && !is_identifier_of_user(name) {
                    self.gap(name);
                }
                self.at_origin(at, index, &path)
            }
            None => js_path(
                "$json",
                &if words::is_key(name) {
                    name.to_owned()
                } else {
                    words::snake(name)
                },
            ),
        }
    }

    /// A value that the agent's model fills in.
    pub(super) fn from_ai(&self, inputs: &[String], name: &str) -> String {
        let said = words::words(name);
        let input = inputs
            .iter()
            .map(|i| (i, alike(&said, &words::words(i))))
            .fold(None, |best: Option<(&String, f64)>, (i, s)| {
                if s >= 0.5 && s > best.map_or(0.0, |b| b.1) {
                    Some((i, s))
                } else {
                    best
                }
            })
            .map_or_else(|| name.to_owned(), |(i, _)| i.clone());
        let key = if words::is_key(&input) {
            input.clone()
        } else {
            words::snake(&input)
        };
        format!(
            "$fromAI({}, {}, 'string')",
            js_string(&key),
            js_string(&input)
        )
    }

    /// Is there a field that fits the name for sure?
    pub(super) fn has_field(&self, at: &At, name: &str) -> Option<String> {
        match self.locate(at, name, None) {
            Some((index, path, true)) => Some(self.at_origin(at, index, &path)),
            _ => None,
        }
    }
}
