//! Inflection by table: the ending of a lemma says which endings its forms have.

use super::tables::{BadRow, rows};

/// One row: how lemmas of a class with an ending are inflected.
#[derive(Debug)]
struct Rule {
    class: String,
    ending: String,
    /// (tag, ending); a leading `+` doubles the letter before it.
    forms: Vec<(String, String)>,
}

/// The inflection of a language.
#[derive(Debug, Default)]
pub(super) struct Inflection {
    rules: Vec<Rule>,
}

impl Inflection {
    pub(super) fn read(file: &str, text: &str) -> Result<Self, BadRow> {
        let mut rules = Vec::new();
        for row in rows(file, text, 3) {
            let (row, cells) = row?;
            let mut forms = Vec::new();
            for part in cells.at(2).split_whitespace() {
                let Some((tag, endings)) = part.split_once(':') else {
                    let why = format!("`{part}` is no `tag:ending,ending`");
                    return Err(BadRow { row, why });
                };
                forms.extend(endings.split(',').map(|e| (tag.to_owned(), e.to_owned())));
            }
            rules.push(Rule {
                class: cells.at(0).to_owned(),
                ending: cells.at(1).trim_start_matches('-').to_owned(),
                forms,
            });
        }
        Ok(Inflection { rules })
    }

    /// The forms of a lemma with their tags; of a lemma of several words its first word is a verb's, its last a noun's.
    pub(super) fn forms(&self, class: &str, lemma: &str) -> Vec<(String, String)> {
        let (before, word, after) = match (class, lemma.split_once(' '), lemma.rsplit_once(' ')) {
            ("verb", Some((word, after)), _) => ("", word, after),
            (_, _, Some((before, word))) => (before, word, ""),
            _ => ("", lemma, ""),
        };
        let fits = |r: &&Rule| {
            r.class == class && word.len() > r.ending.len() && word.ends_with(&r.ending)
        };
        let Some(rule) = self
            .rules
            .iter()
            .filter(fits)
            .max_by_key(|r| r.ending.len())
        else {
            return vec![(lemma.to_owned(), "base".to_owned())];
        };
        let stem = word.strip_suffix(&rule.ending).unwrap_or(word);
        let whole = |form: String| {
            let parts = [before, form.as_str(), after];
            let parts: Vec<&str> = parts.into_iter().filter(|p| !p.is_empty()).collect();
            parts.join(" ")
        };
        let form = |(tag, ending): &(String, String)| {
            let form = match (ending.strip_prefix('+'), stem.chars().next_back()) {
                (Some(rest), Some(last)) => format!("{stem}{last}{rest}"),
                _ => format!("{stem}{ending}"),
            };
            (whole(form), tag.clone())
        };
        rule.forms.iter().map(form).collect()
    }
}
