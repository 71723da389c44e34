//! What a step writes: the text of a message, the fields of a row, titles and dates.

use super::{Reading, arg, field, figure, lit, number};
use crate::chart::{Item, What};
use crate::clause::{Clause, Phrase};
use crate::lex::{Class, Table};
use crate::plan::{Arg, Role, Val};
use crate::spot::Kind;
use crate::time::TimeMeaning;

pub(super) const CONTENT: Table = Table {
    file: "content.tsv",
    text: include_str!("../../knowledge/content.tsv"),
    columns: 2,
};

/// Whether the table of contents as a whole has a word in a class.
pub(super) fn says(class: &str, word: &str) -> bool {
    let mut rows = CONTENT.rows().filter(|cells| cells.at(0) == class);
    rows.any(|cells| cells.at(1).split('|').any(|w| w == word))
}

/// The value of an answer's field that who answers knows: the moment, or that all is well.
pub(super) fn known(field: &str) -> Option<Val> {
    let field = field.to_lowercase();
    if says("now", &field) {
        return Some(Val::Now {
            offset_seconds: 0,
            format: None,
        });
    }
    says("well", &field).then(|| lit("ok"))
}

/// Whether a participle or an adjective says no more than that something came.
fn only_came(item: &Item) -> bool {
    match &item.what {
        What::Word(s) if s.class == Class::Verb => {
            s.says.first().is_some_and(|frame| says("verb", frame))
        }
        What::Word(s) => says("adjective", s.kind()),
        _ => false,
    }
}

impl Reading<'_> {
    /// "the received data": what came as a whole, by no more than its name.
    pub(super) fn is_what_came(&self, phrase: &Phrase) -> bool {
        says("came", self.concept(phrase)) && self.is_unshaped(phrase)
    }

    /// "a response", "a bare status": the answer itself, by no more than its name.
    pub(super) fn is_the_answer(&self, phrase: &Phrase) -> bool {
        says("answer", self.concept(phrase)) && self.is_unshaped(phrase)
    }

    fn is_unshaped(&self, phrase: &Phrase) -> bool {
        let mut states = phrase.states.iter();
        states.all(|s| only_came(self.chart.item(*s)))
    }

    /// The fields that a clause lists (in brackets, after "with", after a colon), as values of the data at hand.
    pub(super) fn fields(&self, i: usize) -> Vec<String> {
        let clause = self.clause_at(i);
        let plain = |p: &Phrase| self.owned_column(p).is_some() || self.is_plain_field(p);
        let mut fields: Vec<String> = Vec::new();
        let mut begun = false;
        // Whether the phrase before says where it goes.
        let mut placed = false;
        let assigned: Vec<usize> = self.assigned(clause).into_iter().map(|(n, _)| n).collect();
        for (n, phrase) in clause.after.iter().enumerate() {
            if assigned.contains(&n) || n > 0 && assigned.contains(&(n - 1)) {
                begun = true;
                continue;
            }
            let listed_next = clause.after.get(n + 1).is_some_and(|p| p.listed);
            let column = self.owned_column(phrase);
            // "post it to #sales and frobnicate the moon", "to LinkedIn and X": one more thing of no known kind behind a place is no
            // field.
            let is_odd = placed && !listed_next && self.kind(phrase).is_empty();
            let begins = phrase.aside
                || column.is_some()
                || phrase.prep == "with"
                || phrase.listed && begun && !is_odd
                || phrase.prep.is_empty()
                    && (listed_next
                        || self.kind(phrase) == "field"
                        || self.kind(phrase) == "money")
                    && !matches!(self.kind(phrase), "message" | "record" | "file");
            placed = false;
            let part = phrase.prep == "as" && self.kind(phrase) == "field";
            if part || self.is_given_as(clause, phrase) {
                begun = true;
                continue;
            }
            if begins && (column.is_some() || self.is_plain_field(phrase)) {
                begun = true;
                let mut name = column.unwrap_or_else(|| self.field_name(phrase));
                let of = clause.after.get(n + 1).filter(|p| p.prep == "of");
                let failed = self.plan.triggers.contains(&crate::plan::Trigger::Error);
                if failed && of.is_some_and(|p| self.concept(p) == "workflow") {
                    name = "workflow name".to_owned();
                } else if let Some(of) = of.filter(|p| plain(p)) {
                    name = format!("{} {name}", self.words(of));
                }
                if !name.is_empty() && !fields.contains(&name) {
                    fields.push(name);
                }
            } else if matches!(self.kind(phrase), "place" | "container") || phrase.service.is_some()
            {
                begun = true;
                placed = true;
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
        // "title, start and end are enough".
        let enough = self
            .clauses
            .get(i + 1)
            .filter(|n| n.sentence == clause.sentence && n.calls("SUFFICE") && !n.negated());
        let more = enough.into_iter().flat_map(Clause::phrases);
        let more = more.filter(|p| plain(p)).map(|p| self.field_name(p));
        for name in more.filter(|f| !f.is_empty()).collect::<Vec<_>>() {
            if !fields.contains(&name) {
                fields.push(name);
            }
        }
        fields.extend(
            next.into_iter()
                .flat_map(|n| n.after.iter())
                .filter(|p| plain(p))
                .map(|p| self.field_name(p))
                .filter(|f| !f.is_empty()),
        );
        if fields.is_empty() {
            fields = self.handed_columns(i);
        }
        fields
    }

    /// Whether a phrase names a field by its words alone: no service, no place, no name given word for word.
    fn is_plain_field(&self, phrase: &Phrase) -> bool {
        let kind = self.kind(phrase);
        let literal = |n: &usize| !matches!(self.chart.item(*n).shape(), Some(Kind::Id) | None);
        let placed = matches!(kind, "container" | "place" | "context")
            && !(phrase.listed && kind == "context");
        phrase.service.is_none()
            && !says("form", &self.words(phrase).to_lowercase())
            && (phrase.listed || !self.is_what_came(phrase))
            && phrase.pronoun.is_none()
            && phrase.numbers.is_empty()
            && !phrase.names.iter().any(literal)
            && !placed
            && (phrase.names.is_empty() || phrase.head.is_none())
            && (phrase.head.is_some() || !phrase.modifiers.is_empty() || !phrase.names.is_empty())
    }

    /// "that release's tag_name": the column of a thing that is no container.
    fn owned_column(&self, phrase: &Phrase) -> Option<String> {
        let [name] = phrase.names.as_slice() else {
            return None;
        };
        let head = self.chart.items.get(phrase.head?)?;
        let between = self.text.get(head.to..self.chart.items.get(*name)?.from)?;
        let owns = between.contains(['\'', '\u{2019}']);
        let free = phrase.service.is_none() && phrase.numbers.is_empty();
        let id = self.chart.item(*name).shape() == Some(Kind::Id);
        (owns && free && id).then(|| self.name(*name))
    }

    /// "From the body: order_no, tracking_no → new row": columns that stand alone before the arrow.
    fn handed_columns(&self, i: usize) -> Vec<String> {
        let clause = self.clause_at(i);
        let before = i.checked_sub(1).map(|b| self.clause_at(b));
        let Some(before) = before.filter(|b| {
            let same = clause.arrow && b.line == clause.line && b.sentence == clause.sentence;
            same && b.verb.is_none() && b.intro == crate::clause::Intro::None
        }) else {
            return Vec::new();
        };
        let column = |p: &&Phrase| {
            let id =
                matches!(p.names.as_slice(), [n] if self.chart.item(*n).shape() == Some(Kind::Id));
            id && p.head.is_none() && p.service.is_none() && p.prep.is_empty()
        };
        let told = |p: &&Phrase| {
            let came = matches!(self.concept(p), "text" | "data" | "column" | "submission");
            came && p.names.is_empty() && p.numbers.is_empty()
        };
        let columns: Vec<&Phrase> = before.after.iter().filter(column).collect();
        let all = before.after.iter().all(|p| column(&p) || told(&p));
        match all {
            true => columns.into_iter().map(|p| self.field_name(p)).collect(),
            false => Vec::new(),
        }
    }

    /// A quoted text that a message is to say.
    pub(super) fn quote(&self, clause: &Clause) -> Option<Val> {
        let container = |p: &Phrase| {
            matches!(self.kind(p), "container" | "place" | "field") || p.service.is_some()
        };
        let at = clause
            .phrases()
            .filter(|p| !container(p) && !self.is_given_as(clause, p))
            .flat_map(|p| p.names.iter())
            .find(|n| self.chart.item(**n).shape() == Some(Kind::Quote));
        at.map(|n| template(&self.name(*n)))
    }

    /// The text of a message: what is quoted, else the fields that are listed.
    pub(super) fn text_of(&self, i: usize) -> Option<Arg> {
        if let Some(quote) = self.quote(self.clause_at(i)) {
            return Some(arg(Role::Text, quote));
        }
        if let Some(text) = self.greets(self.clause_at(i)) {
            return Some(arg(Role::Text, lit(text)));
        }
        if let Some((_, Some(text))) = self.greeting(self.clause_at(i)) {
            return Some(arg(Role::Text, lit(text)));
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
            args.extend(self.address_by_column(clause));
        }
        if args.is_empty() && self.to_each(clause) {
            args.push(arg(Role::To, field("email")));
        }
        if args.is_empty() {
            let person = clause.phrases().find(|p| {
                self.kind(p) == "person"
                    && matches!(p.prep.as_str(), "to" | "")
                    && p.names.is_empty()
            });
            if let Some(person) = person {
                // "everybody", "each person": whoever it is has an address of no other name.
                let name = match self.concept(person) {
                    "person" => "email".to_owned(),
                    _ => {
                        let who = Phrase {
                            states: Vec::new(),
                            ..person.clone()
                        };
                        format!("{} email", self.words(&who))
                    }
                };
                args.push(arg(Role::To, field(&name)));
            }
        }
        args
    }

    /// "to the address in column Email": which field says where it goes.
    fn address_by_column(&self, clause: &Clause) -> Option<Arg> {
        clause.after.windows(2).find_map(|pair| match pair {
            [to, column] => {
                let address = matches!(self.concept(to), "address" | "email") && to.prep == "to";
                let within = matches!(column.prep.as_str(), "in" | "from" | "of");
                let said = column.names.first().map(|n| self.name(*n));
                let said = said.or_else(|| {
                    let head = column.head.filter(|_| !column.modifiers.is_empty())?;
                    Some(self.raw(head).to_owned())
                });
                let named = matches!(self.concept(column), "column" | "field" | "email");
                let name = said.filter(|_| address && within && named)?;
                Some(arg(Role::To, field(&name)))
            }
            _ => None,
        })
    }

    /// "send each of them a mail": whoever it is, of each item.
    fn to_each(&self, clause: &Clause) -> bool {
        let them = |i: &crate::chart::Item| i.is("each") && i.text.contains(' ');
        self.items(clause).iter().any(them)
    }

    /// The address of whom the data is about, for a mail to somebody who is not named: "la personne reçoit un mail", "envoie-lui
    /// un mail". Nobody is meant where the one who asks is.
    pub(super) fn own_address(&self, clause: &Clause) -> Option<Arg> {
        let speaker = |p: &Phrase| p.pronoun.is_some_and(|at| self.speaks(at));
        let somebody =
            |p: &Phrase| p.pronoun.is_some() || self.kind(p) == "person" || p.quantity.is_some();
        let given = ["GET", "RECEIVE"].iter().any(|f| clause.calls(f));
        let meant = given && clause.before.is_empty() || clause.phrases().any(somebody);
        if !meant || clause.phrases().any(speaker) {
            return None;
        }
        let listed =
            self.chart.items.iter().filter(|i| {
                i.noun().is_some_and(|n| n.concept == "email") && i.service().is_none()
            });
        let column = |i: &&crate::chart::Item| {
            let before = self.text.get(..i.from).unwrap_or("").trim_end();
            let after = self.text.get(i.to..).unwrap_or("").trim_start();
            before.ends_with([',', '(', ':']) && after.starts_with([',', ')', '.', ';'])
                || before.ends_with(',') && !after.is_empty()
        };
        let named = listed.into_iter().find(column);
        let name = named.and_then(|i| self.text.get(i.from..i.to));
        Some(arg(Role::To, field(name.unwrap_or("email"))))
    }

    /// "the subject as the title, the text of the mail as description": what fills which field.
    fn given_as(&self, clause: &Clause) -> Vec<Arg> {
        let mut args = Vec::new();
        let phrases = &clause.after;
        for (n, phrase) in phrases.iter().enumerate().skip(1) {
            let column = self.concept(phrase) == "column"
                && matches!(phrase.prep.as_str(), "in" | "into")
                && !phrase.names.is_empty();
            // "the link in the description": where in a record it stands.
            let part = matches!(self.concept(phrase), "text" | "description")
                && matches!(phrase.prep.as_str(), "in" | "into")
                && phrases.get(n - 1).is_some_and(|p| {
                    p.names.is_empty()
                        && p.service.is_none()
                        && matches!(self.kind(p), "web" | "field")
                });
            let fits = column
                || part
                || matches!(
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
            let value = match (source.names.first(), source.numbers.first()) {
                (Some(name), _) => template(&self.name(*name)),
                (None, Some(at)) => {
                    figure(self.raw(*at)).map_or_else(|| lit(self.raw(*at)), |n| lit(number(n)))
                }
                (None, None) => field(&self.words(source)),
            };
            let name = match phrase.names.first().filter(|_| column) {
                Some(name) => self.name(*name),
                None => self.words(phrase),
            };
            let role = match self.concept(phrase) {
                "title" => Role::Title,
                "subject" => Role::Subject,
                "priority" => Role::Priority,
                _ => Role::Field(name),
            };
            args.push(arg(role, value));
        }
        args
    }

    /// Whether the phrase behind this one says which part of a message it is: "'Alarm' as the title".
    fn is_given_as(&self, clause: &Clause, phrase: &Phrase) -> bool {
        let next = clause.after.iter().find(|p| p.from >= phrase.to);
        next.is_some_and(|n| n.prep == "as" && self.kind(n) == "field")
    }

    /// "summary = subject", "set the state to lost": fields that a clause gives a value, with the places of their phrases.
    fn assigned(&self, clause: &Clause) -> Vec<(usize, Arg)> {
        let sets = clause.calls("UPDATE");
        let mut found = Vec::new();
        for (n, pair) in clause.after.windows(2).enumerate() {
            let [name, value] = pair else { continue };
            let sign = value.compared.is_some_and(|at| self.raw(at) == "=");
            let to = sets
                && matches!(value.prep.as_str(), "to" | "on" | "into" | "as")
                && value.service.is_none()
                && !matches!(self.kind(value), "container" | "place" | "person")
                && !matches!(self.kind(name), "container" | "place");
            let known = matches!(self.concept(name), "status" | "priority" | "stage");
            let words = self.field_name(name);
            if !(sign || to && !known) || words.is_empty() || name.service.is_some() {
                continue;
            }
            let given = match (value.names.first(), value.numbers.first()) {
                (Some(at), _) if self.chart.item(*at).shape() == Some(Kind::Id) && sign => {
                    field(self.raw(*at))
                }
                (Some(at), _) => template(&self.name(*at)),
                (None, Some(at)) => {
                    figure(self.raw(*at)).map_or_else(|| lit(self.raw(*at)), |n| lit(number(n)))
                }
                (None, None) => {
                    let words = self.words(value);
                    let noun = value.noun(self.chart).is_some() && sign;
                    if noun { field(&words) } else { lit(words) }
                }
            };
            let role = match self.concept(name) {
                "title" => Role::Title,
                "subject" => Role::Subject,
                "status" => Role::Status,
                "priority" => Role::Priority,
                "text" | "message" => Role::Text,
                _ => Role::Field(words),
            };
            found.push((n, arg(role, given)));
        }
        found
    }

    /// Title, due date, priority, status and limits that a clause gives.
    pub(super) fn details(&self, clause: &Clause) -> Vec<Arg> {
        let mut args = self.given_as(clause);
        args.extend(self.assigned(clause).into_iter().map(|(_, a)| a));
        for (n, phrase) in clause.after.iter().enumerate() {
            let value = phrase.names.first().map(|n| template(&self.name(*n)));
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
                        // "subject, priority and requester email": the next of a list is no value.
                        .filter(|p| !p.listed && matches!(p.prep.as_str(), "to" | "" | "as"))
                        .map(|p| {
                            p.names
                                .first()
                                .map_or_else(|| self.words(p), |n| self.name(*n))
                        })
                        .filter(|w| !w.is_empty())
                        .map(lit);
                    let before =
                        (!phrase.modifiers.is_empty() || !phrase.states.is_empty()).then(|| {
                            let own = self.words(phrase);
                            let head = phrase.head(self.chart).map_or("", |h| h.text.as_str());
                            lit(own.trim_end_matches(head).trim().to_owned())
                        });
                    let given = value.or(figure).or(said).or(before);
                    args.extend(given.map(|v| arg(role, v)));
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
        if name.is_empty() || name.contains(['"', ':', '<', '\n']) {
            // No hole but a bracket of JSON, or a comparison.
            let upto = open + 1;
            parts.push(lit(crate::cut::text(rest, 0, upto)));
            rest = crate::cut::rest(rest, upto);
            continue;
        }
        let plain = crate::cut::text(rest, 0, open);
        if !plain.is_empty() {
            parts.push(lit(plain));
        }
        parts.push(field(name));
        rest = crate::cut::rest(rest, end + 1).trim_start_matches('}');
    }
    if parts.iter().all(|p| matches!(p, Val::Lit { .. })) {
        return lit(text);
    }
    if !rest.is_empty() {
        parts.push(lit(rest));
    }
    Val::Template { parts }
}

/// The members of a JSON object, with its holes as fields; none where it is no object.
pub(super) fn members(text: &str) -> Option<Vec<Arg>> {
    let text = text.trim();
    if !text.starts_with('{') {
        return None;
    }
    let mut plain = String::new();
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            // A hole without quotes is a value of its own.
            '<' | '>' if !quoted => plain.push('"'),
            _ => {}
        }
        plain.push(c);
    }
    let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&plain).ok()?;
    let member = |(name, value): (String, serde_json::Value)| {
        let value = match &value {
            serde_json::Value::String(said) => template(said),
            _ => lit(value),
        };
        arg(Role::Field(name), value)
    };
    Some(object.into_iter().map(member).collect())
}
