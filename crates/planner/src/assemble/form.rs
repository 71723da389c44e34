//! A form of n8n's own: its title and its fields, with their kinds and choices.

use super::Reading;
use crate::clause::{Clause, Phrase};
use crate::plan::{FormField, Trigger};

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
        if let Some(listed) = self.bracketed(clause) {
            fields = listed;
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
        let close = rest
            .iter()
            .position(|i| i.stops() && matches!(i.text.as_str(), ")" | "}" | "]"))?;
        let inside = rest.get(open + 1..close)?;
        let mut fields = Vec::new();
        let parts =
            inside.split(|i| i.is("and") || i.stops() && matches!(i.text.as_str(), "," | ";"));
        for part in parts.filter(|p| !p.is_empty()) {
            let said = self.text.get(part.first()?.from..part.last()?.to)?;
            let noun = part.iter().rev().find_map(crate::chart::Item::noun);
            let kind = noun.map_or("text", |n| kind_of(n.kind(), &n.concept));
            fields.push(FormField {
                label: capital(said.trim_matches(['"', '\''])),
                kind: kind.to_owned(),
                options: Vec::new(),
                required: true,
            });
        }
        (fields.len() > 1).then_some(fields)
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
