//! A form of n8n's own: its title and its fields, with their kinds and choices.

use super::Reading;
use crate::clause::{Clause, Phrase};
use crate::plan::{FormField, Trigger};

impl Reading<'_> {
    pub(super) fn form(&self, i: usize) -> Trigger {
        let clause = &self.clauses[i];
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
        let mut fields = Vec::new();
        let after = clause
            .after
            .iter()
            .skip_while(|p| self.concept(p) == "form" && !p.aside);
        let next = self.clauses.get(i + 1).filter(|n| {
            n.verb.is_none() && (n.colon || n.sentence == clause.sentence || n.line > clause.line)
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

    /// "where I can upload that file", "a CV to upload": what is uploaded in the sentence of the form is a field of it.
    fn uploads(&self, i: usize, fields: &mut Vec<FormField>) {
        let clause = &self.clauses[i];
        let same = |c: &&Clause| c.sentence == clause.sentence && c.calls("UPLOAD");
        let Some(upload) = self.clauses[i..].iter().find(same) else {
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
        let kind = match (self.kind(phrase), self.concept(phrase)) {
            (_, "email") => "email",
            ("date", _) => "date",
            ("money" | "number", _) => "number",
            ("file", _) => "file",
            ("message" | "text", _) | (_, "description") => "textarea",
            _ => "text",
        };
        fields.push(FormField {
            label: capital(&name),
            kind: kind.to_owned(),
            options: Vec::new(),
            required: true,
        });
    }
}

fn capital(text: &str) -> String {
    crate::lexicon::capital(text)
}
