//! A form of n8n's own: its title and its fields, with their kinds and choices.

use super::Reading;
use crate::chart::{Item, What};
use crate::clause::{Clause, Phrase};
use crate::plan::{FormField, Trigger};
use crate::spot::Kind;

impl Reading<'_> {
    pub(super) fn form(&self, i: usize) -> Trigger {
        let clause = self.clause_at(i);
        let form = clause.phrases().find(|p| self.concept(p) == "form");
        let title = form.and_then(|p| {
            p.names
                .first()
                .map(|n| self.name(*n))
                .or_else(|| Some(self.words(p)))
        });
        let title = title
            .filter(|t| !t.is_empty())
            .unwrap_or_else(|| "Form".to_owned());
        let title = title.replace("N8n", "").replace("n8n", "");
        let title = match title.trim() {
            "" => "Form".to_owned(),
            said => said.to_owned(),
        };
        let mut fields = Vec::new();
        let of_form = |p: &Phrase| {
            let said = p.modifiers.iter().chain(&p.head);
            let mut said = said.filter_map(|at| self.chart.items.get(*at)?.noun());
            said.any(|n| n.concept == "form")
        };
        let listed = self.bracketed(clause);
        if let Some(listed) = listed.or_else(|| self.labelled_fields(i)) {
            fields = listed;
            self.demanded(&mut fields);
            self.uploads(i, &mut fields);
            return Trigger::Form {
                title: capital(&title),
                fields,
            };
        }
        let subject = clause.before.iter().skip_while(|p| !of_form(p));
        let after = subject
            .chain(&clause.after)
            .skip_while(|p| of_form(p) && !p.aside);
        let columns = |n: &Clause| {
            n.after
                .first()
                .is_some_and(|p| matches!(self.concept(p), "column" | "data"))
        };
        let next = self.clauses.get(i + 1).filter(|n| {
            let same = n.colon || n.sentence == clause.sentence;
            n.verb.is_none() && (same || n.line > clause.line && columns(n))
        });
        let next = next.into_iter().flat_map(|n| n.after.iter());
        let mut begun = false;
        // "a form for applicants", "to upload": says who fills it in, or what for.
        let aimed = |p: &&Phrase| !(p.prep == "for" && self.kind(p) == "person" || p.prep == "to");
        for phrase in after.chain(next).filter(aimed) {
            let begins =
                phrase.aside || matches!(phrase.prep.as_str(), "with" | "for" | "asking for");
            if begun && !phrase.listed && !phrase.aside && phrase.prep == "in" {
                continue;
            }
            if of_form(phrase) {
                continue;
            }
            if begun && phrase.aside && self.choices(phrase, &mut fields) {
                continue;
            }
            if begins || begun && (phrase.listed || phrase.aside || phrase.prep.is_empty()) {
                begun = true;
                self.field(phrase, &mut fields);
            }
        }
        if fields.is_empty() {
            fields = self.filled_in(i).unwrap_or_default();
        }
        self.demanded(&mut fields);
        self.uploads(i, &mut fields);
        Trigger::Form {
            title: capital(&title),
            fields,
        }
    }

    /// "(yes/no)" after a field: what it can be.
    fn choices(&self, phrase: &Phrase, fields: &mut [FormField]) -> bool {
        let items = self.chart.items.get(phrase.from..phrase.to).unwrap_or(&[]);
        let range = items.first().zip(items.last()).map(|(f, l)| f.from..l.to);
        let said = range.and_then(|r| self.text.get(r)).unwrap_or("");
        let options: Vec<String> = said.split('/').map(|o| o.trim().to_owned()).collect();
        match fields.last_mut() {
            Some(field) if options.len() > 1 && options.iter().all(|o| !o.is_empty()) => {
                field.kind = "dropdown".to_owned();
                field.options = options;
                true
            }
            _ => false,
        }
    }

    /// The fields of a form between brackets after it: parts between commas, whatever words they are.
    fn bracketed(&self, clause: &Clause) -> Option<Vec<FormField>> {
        let items = self.chart.items.get(clause.from..clause.to)?;
        let form = items
            .iter()
            .position(|i| i.noun().is_some_and(|n| n.concept == "form"))?;
        let rest = crate::cut::from(items, form + 1);
        let open = rest
            .iter()
            .take(5)
            .position(|i| i.stops() && matches!(i.text.as_str(), "(" | "{" | "["))?;
        let inside = crate::cut::from(rest, open + 1);
        let fields = self.fields_of(crate::cut::before(inside, closing(inside)?));
        (fields.len() > 1).then_some(fields)
    }

    /// "fields: name / e-mail / from / to", "with the fields mail, last_day (a date)": what stands behind a word for columns, in the
    /// clause of the form or in the next two, up to the end of the sentence.
    fn labelled_fields(&self, i: usize) -> Option<Vec<FormField>> {
        const NEAR: usize = 3;
        let near = crate::cut::from(&self.clauses, i).iter().take(NEAR);
        let places = near.flat_map(|c| c.from..c.to);
        let column = |at: &usize| {
            let noun = self.chart.item(*at).noun();
            let next = self.chart.item(at + 1);
            let listed = next.stops() && next.text == ":";
            noun.is_some_and(|n| n.concept == "column" && (n.form == "many" || listed))
        };
        let at = places.into_iter().find(column)?;
        let rest = self.rest_of_sentence(at + 1);
        let close = closing(rest).unwrap_or(rest.len());
        let fields = self.fields_of(crate::cut::before(rest, close));
        (fields.len() > 1).then_some(fields)
    }

    /// "a form where people leave their name and say whether …": what who fills it in gives, in the sentence of the form.
    fn filled_in(&self, i: usize) -> Option<Vec<FormField>> {
        const GIVES: &[&str] = &[
            "INCLUDE", "STORE", "LET", "SUBMIT", "SAY", "ANSWER", "FILTER", "NOTIFY", "NAME",
            "WRITE",
        ];
        let form = self.clause_at(i);
        let later = crate::cut::from(&self.clauses, i);
        let same = later.iter().take_while(|c| c.sentence == form.sentence);
        let person = |p: &Phrase| {
            let speaker = p
                .pronoun
                .is_some_and(|at| self.chart.item(at).tells("speaker"));
            p.pronoun.is_some() && !speaker || self.kind(p) == "person"
        };
        let gives = |c: &&Clause| {
            let verb = c
                .verb
                .as_ref()
                .is_some_and(|v| GIVES.contains(&v.frame()) && !v.negated);
            verb && c.before.iter().any(person)
                && c.phrases()
                    .all(|p| p.service.is_none_or(|s| s.key == "form"))
        };
        let mut fields = Vec::new();
        let mut begun = false;
        for clause in same {
            let goes_on = begun && clause.phrases().all(|p| p.service.is_none());
            let own = clause
                .verb
                .as_ref()
                .is_none_or(|v| GIVES.contains(&v.frame()) || v.calls("STATE"));
            if gives(&clause) || goes_on && own {
                begun = true;
                let from = clause.verb.as_ref().map_or(clause.from, |v| v.at + 1);
                let items = self.chart.items.get(from..clause.to).unwrap_or(&[]);
                let of_form = |f: &FormField| !f.label.to_lowercase().contains("form");
                fields.extend(self.fields_of(items).into_iter().filter(of_form));
            } else if begun {
                break;
            }
        }
        (!fields.is_empty()).then_some(fields)
    }

    /// The items from a place to the end of its sentence.
    fn rest_of_sentence(&self, at: usize) -> &[Item] {
        let rest = crate::cut::from(&self.chart.items, at);
        let end = rest.iter().position(|i| i.shape() == Some(Kind::End));
        crate::cut::before(rest, end.unwrap_or(rest.len()))
    }

    /// The fields that a list names: its parts between commas, slashes and "and", whatever words they are; what stands in
    /// brackets says of what kind a field is. A part that does something ends the list.
    fn fields_of(&self, items: &[Item]) -> Vec<FormField> {
        const LONGEST: usize = 5;
        let parts_at = |i: &Item| {
            i.is("and")
                || matches!(i.text.as_str(), "," | ";" | "/" | "&" | "-" | "\u{2013}")
                    && i.what != What::Unknown
        };
        let mut fields: Vec<FormField> = Vec::new();
        // A list within a list says what one of its parts can be.
        let mut depth = 0;
        let outside = |i: &Item| {
            depth += depth_of(i);
            depth == 0 && parts_at(i)
        };
        for part in items.split(outside) {
            let open = part.iter().position(|i| depth_of(i) > 0);
            let aside = open.map_or(&[][..], |o| crate::cut::from(part, o + 1));
            let options = self.options_of(aside);
            let part = crate::cut::before(part, open.unwrap_or(part.len()));
            let led = |i: &&Item| {
                i.stops()
                    || ["det", "prep", "filler", "pronoun", "quant", "aux"]
                        .iter()
                        .any(|c| i.is(c))
            };
            // "from / to" are fields where nothing else stands between the marks.
            let bare = part.iter().all(|i| led(&i));
            let skipped = match bare {
                true => part.iter().take_while(|i| i.stops()).count(),
                false => part.iter().take_while(led).count(),
            };
            let part = crate::cut::from(part, skipped);
            let acts = part.iter().any(|i| {
                i.service().is_some()
                    || i.literal() && i.shape() != Some(Kind::Id)
                    || i.is("if")
                    || i.is("when")
                    || i.verb().is_some()
                        && part.len() > 1
                        && !i.verb().is_some_and(|v| v.form == "past")
            });
            let (Some(first), Some(last)) = (part.first(), part.last()) else {
                continue;
            };
            // "email is required", "message - optional" say more of a field.
            let of = |class: &str| super::content::says(class, &first.text);
            let alone = part.len() == 1 && (of("required") || of("optional"));
            if alone || part.iter().any(|i| i.is("aux")) {
                continue;
            }
            if acts || part.len() > LONGEST {
                break;
            }
            let Some(said) = self.text.get(first.from..last.to) else {
                continue;
            };
            let noun = aside.iter().chain(part.iter().rev()).find_map(Item::noun);
            let kind = match options.is_empty() {
                true => noun.map_or("text", |n| kind_of(n.kind(), &n.concept)),
                false => "dropdown",
            };
            let label = capital(said.trim_matches(['"', '\'']));
            if !fields.iter().any(|f| f.label == label) {
                fields.push(FormField {
                    label,
                    kind: kind.to_owned(),
                    options,
                    required: true,
                });
            }
        }
        fields
    }

    /// What a field can be: "[sales, support, other]", "(options: private, company)", "(yes/no)".
    fn options_of(&self, aside: &[Item]) -> Vec<String> {
        let inner = aside.iter().position(|i| depth_of(i) < 0);
        let inner = crate::cut::before(aside, inner.unwrap_or(aside.len()));
        let from = inner.iter().position(|i| i.stops() && i.text == ":");
        let inner = crate::cut::from(inner, from.map_or(0, |at| at + 1));
        let parts_at = |i: &Item| {
            i.is("or")
                || i.is("and")
                || i.stops() && matches!(i.text.as_str(), "," | "/" | ";" | "|")
        };
        let said = |part: &[Item]| {
            let range = part.first().zip(part.last()).map(|(f, l)| f.from..l.to);
            let said = range.and_then(|r| self.text.get(r)).unwrap_or_default();
            said.trim_matches(['"', '\'', ' ']).to_owned()
        };
        let whole = said(inner);
        let parts: Vec<String> = match whole.contains('/') && !whole.contains(',') {
            // "yes/no" may be one word.
            true => whole.split('/').map(|o| o.trim().to_owned()).collect(),
            false => inner.split(parts_at).map(said).collect(),
        };
        let all = parts.len() > 1 && parts.iter().all(|p| !p.is_empty());
        if all { parts } else { Vec::new() }
    }

    /// "email is required", "phone (optional)": where the request says which fields must be filled in, the others need not be.
    fn demanded(&self, fields: &mut [FormField]) {
        let says = |class: &str, item: &Item| super::content::says(class, &item.text);
        let of_field = |field: &FormField, item: &Item| {
            let label = field.label.to_lowercase();
            let first = label.split([' ', '-']).next().unwrap_or_default();
            !first.is_empty() && item.text.to_lowercase().split([' ', '-']).next() == Some(first)
        };
        // What is demanded stands in the same sentence, not farther than the mark before.
        let near = |at: usize| {
            let before = crate::cut::before(&self.chart.items, at);
            let ends = |i: &&Item| i.stops() && i.text != "/";
            let count = before.iter().rev().take_while(|i| !ends(i)).count();
            // "name (required)": what stands before the bracket.
            let open = before.len() - count;
            let mark = self.chart.item(open.saturating_sub(1));
            // A dash opens what is said of the field before, as a bracket does.
            let opens = depth_of(mark) > 0 || matches!(mark.text.as_str(), "-" | "\u{2013}");
            let bracket = count == 0 && open > 0 && opens;
            let outer = crate::cut::before(before, open.saturating_sub(usize::from(bracket)));
            let more = outer
                .iter()
                .rev()
                .take_while(|i| bracket && !ends(i))
                .count();
            (open - more - usize::from(bracket))..at
        };
        let mut demanded: Vec<String> = Vec::new();
        let mut spared: Vec<String> = Vec::new();
        // "an optional phone number"
        for field in fields.iter_mut() {
            let Some((first, rest)) = field.label.split_once(' ') else {
                continue;
            };
            let of = |class: &str| super::content::says(class, &first.to_lowercase());
            let (must, may) = (of("required"), of("optional"));
            if must || may {
                field.label = capital(rest);
                let list = if must { &mut demanded } else { &mut spared };
                list.push(field.label.clone());
            }
        }
        for (at, item) in self.chart.items.iter().enumerate() {
            let (must, may) = (says("required", item), says("optional", item));
            if !must && !may {
                continue;
            }
            // "optional phone" is in the label; "required by our CRM" is of something else.
            let next = self.chart.item(at + 1);
            if !(next.stops() || next.is("and") || next.is("or")) {
                continue;
            }
            let words = crate::cut::between(&self.chart.items, near(at).start, at);
            let named = fields
                .iter()
                .filter(|f| words.iter().any(|i| of_field(f, i)));
            let named: Vec<String> = named.map(|f| f.label.clone()).collect();
            // "is not required"
            let denied = words.iter().any(|i| i.is("neg"));
            match must != denied {
                true => demanded.extend(named),
                false => spared.extend(named),
            }
        }
        for field in fields {
            let one = |list: &[String]| list.contains(&field.label);
            field.required = match demanded.is_empty() {
                true => !one(&spared),
                false => one(&demanded),
            };
        }
    }

    /// "where I can upload that file", "a CV to upload": what is uploaded in the sentence of the form is a field of it.
    fn uploads(&self, i: usize, fields: &mut Vec<FormField>) {
        let clause = self.clause_at(i);
        let same = |c: &&Clause| c.sentence == clause.sentence && c.calls("UPLOAD");
        let Some(upload) = crate::cut::from(&self.clauses, i).iter().find(same) else {
            return;
        };
        let file = |p: &&Phrase| p.head.is_some() && p.service.is_none() && p.pronoun.is_none();
        let things = upload.after.iter().chain(&upload.before);
        let Some(thing) = things.into_iter().find(file) else {
            return;
        };
        let label = capital(&self.words(thing));
        match fields.iter_mut().find(|f| f.label == label) {
            Some(field) => field.kind = "file".to_owned(),
            None => fields.push(FormField {
                label,
                kind: "file".to_owned(),
                options: Vec::new(),
                required: true,
            }),
        }
    }

    fn field(&self, phrase: &Phrase, fields: &mut Vec<FormField>) {
        let name = self.field_name(phrase);
        if name.is_empty() {
            return;
        }
        let kind = kind_of(self.kind(phrase), self.concept(phrase));
        fields.push(FormField {
            label: capital(&name),
            kind: kind.to_owned(),
            options: Vec::new(),
            required: true,
        });
    }
}

/// Where the bracket around these is closed.
fn closing(items: &[Item]) -> Option<usize> {
    let mut depth = 0;
    items.iter().position(|i| {
        depth += depth_of(i);
        depth < 0
    })
}

/// How a bracket changes how deep the place is within brackets.
fn depth_of(item: &Item) -> i32 {
    match item.text.as_str() {
        "(" | "[" | "{" if item.stops() => 1,
        ")" | "]" | "}" if item.stops() => -1,
        _ => 0,
    }
}

/// The kind of a field by its noun's kind and concept.
fn kind_of(kind: &str, concept: &str) -> &'static str {
    match (kind, concept) {
        (_, "email") => "email",
        ("date", _) => "date",
        ("money" | "number", _) => "number",
        ("file", _) => "file",
        ("message" | "text", _) | (_, "description") => "textarea",
        _ => "text",
    }
}

fn capital(text: &str) -> String {
    crate::lexicon::capital(text)
}
