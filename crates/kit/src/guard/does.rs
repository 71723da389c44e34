//! What a tool does and to what, in words: by the acts that its definition declares, else by its name, else by what its definition says.

use super::sentence::Sentence;
use super::words::{Class, Words};
use super::{Evidence, Label};

/// Letters that two forms of one verb have in common at least: "books" and "booked".
const STEM: usize = 4;

impl Evidence {
    /// The words that tell what it does.
    fn does(&self) -> String {
        if !self.acts.is_empty() {
            return self.acts.join(" ").to_lowercase();
        }
        let name = words_of(&self.tool);
        match Words::is_known(&name) {
            true => name,
            false => format!("{name} {}", plain_forms(first_sentence(&self.about))),
        }
    }

    /// What it does it to: by its name, else by its definition.
    pub(super) fn nouns(&self) -> Vec<&'static str> {
        match Words::nouns(&words_of(&self.tool)) {
            of_name if of_name.is_empty() => {
                Words::nouns(&first_sentence(&self.about).to_lowercase())
            }
            of_name => of_name,
        }
    }

    /// Whether it does an act of one of these classes, which a part of a sentence tells. What neither its name nor its definition says is
    /// not done.
    pub(super) fn does_any(&self, classes: &[&Class], part: &str) -> bool {
        let does = self.does();
        classes.iter().any(|class| {
            class.is_tool(&does) || class.word(part).is_some_and(|told| is_form_of(told, &does))
        })
    }
}

impl Sentence {
    /// Somebody else knows of it or has it: something was sent, or a look shows it.
    pub(super) fn is_sent(&self, part: &str, evidence: &[Evidence]) -> Label {
        let classes: Vec<&Class> = self.class("send").collect();
        let mut sends = (evidence.iter())
            .filter(|call| call.changes && call.does_any(&classes, part))
            .peekable();
        let tried = sends.peek().is_some();
        match (sends.any(Evidence::is_ok), tried) {
            (true, _) => Label::Fine,
            (false, true) => Label::ContradictsFailure,
            (false, false) if self.is_shown(part, &classes, evidence) => Label::Fine,
            (false, false) => Label::UnsupportedAct,
        }
    }
}

/// `jira_addComment` → `jira add comment`.
pub(super) fn words_of(tool: &str) -> String {
    let mut out = String::new();
    for c in tool.chars() {
        if c.is_uppercase() {
            out.push(' ');
        }
        match c {
            '_' | '-' | '.' | '/' => out.push(' '),
            c => out.extend(c.to_lowercase()),
        }
    }
    out
}

/// What a definition says first: what the tool does. When to use it, and what else there is to say, follow.
fn first_sentence(about: &str) -> &str {
    let ends = about.find(". ").into_iter().chain(about.find('\n'));
    let end = ends.min().unwrap_or(about.len());
    about.get(..end).unwrap_or_default()
}

/// The words of a text in lower case, each verb of it also as names of tools have it: "Cancels" is "cancel".
fn plain_forms(text: &str) -> String {
    let mut out = String::new();
    for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()) {
        out += word;
        out.push(' ');
        let ends = [
            ("ies", "y"),
            ("es", ""),
            ("es", "e"),
            ("s", ""),
            ("ing", ""),
            ("ing", "e"),
        ];
        for (end, instead) in ends {
            if let Some(stem) = word.strip_suffix(end).filter(|stem| stem.len() > 2) {
                out += &format!("{stem}{instead} ");
            }
        }
    }
    out
}

/// Whether a told act is a form of one of these words.
fn is_form_of(told: &str, words: &str) -> bool {
    let mut words = words.split_whitespace();
    words.any(|word| {
        let same = told.chars().zip(word.chars()).take_while(|(a, b)| a == b);
        same.count() >= STEM.max(word.chars().count().saturating_sub(2))
    })
}
