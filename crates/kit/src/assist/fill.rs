//! Values of a tool's parameters out of what was said: answers first, then what the schema allows (a pattern, one of a list), then
//! where a parameter of that name stands by the pack's own words (behind a colon, in quotation marks, beside its label).

use super::lexicon::Lexicon;
use crate::words::{Text, fold};
use regex::RegexBuilder;
use serde_json::{Map, Value};

/// The key of a ticket.
pub(crate) const TICKET: &str = "^[A-Z][A-Z0-9]+-[0-9]+$";

/// What values are taken from.
pub(crate) struct Said<'a> {
    /// The part of the task that the tool is for.
    pub clause: &'a str,
    /// The whole task.
    pub whole: &'a str,
    /// What the user answered when asked for it, by parameter.
    pub answers: &'a Map<String, Value>,
    /// What the words mean.
    pub lexicon: &'a Lexicon,
    /// What another agent found and hands over.
    pub content: Option<&'a str>,
    /// `parameters` of the task: name → {from, labels, values}.
    pub how: &'a Value,
    /// Names that were listed to choose from, by parameter.
    pub listed: &'a Map<String, Value>,
    /// Ids that a search found, by parameter.
    pub found: &'a Map<String, Value>,
}

const QUOTES: [(char, char); 7] = [
    ('"', '"'),
    ('“', '”'),
    ('„', '“'),
    ('„', '”'),
    ('«', '»'),
    ('‘', '’'),
    ('‚', '‘'),
];

/// Where something stands in quotation marks, without the marks, from byte to byte and in order. An apostrophe begins a quotation only
/// where a word begins, and ends one only where a word ends.
fn spans(text: &str) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (open, close) in QUOTES {
        let mut from = 0;
        while let Some(at) = text.get(from..).and_then(|rest| rest.find(open)) {
            let start = from + at + open.len_utf8();
            let Some(length) = text.get(start..).and_then(|rest| rest.find(close)) else {
                break;
            };
            found.push((start, start + length));
            from = start + length + close.len_utf8();
        }
    }
    let letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let around = |at: usize| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        (before, text.get(at + 1..).and_then(|t| t.chars().next()))
    };
    let mut begun: Option<usize> = None;
    for (at, _) in text.match_indices('\'') {
        let (before, after) = around(at);
        match begun {
            None if !letter(before) && letter(after) => begun = Some(at + 1),
            Some(start) if !letter(after) && before.is_some_and(|c| !c.is_whitespace()) => {
                found.push((start, at));
                begun = None;
            }
            _ => {}
        }
    }
    found.sort_unstable();
    let mut end = 0;
    found.retain(|(from, to)| {
        let whole = *from >= end && text.get(*from..*to).is_some_and(|t| !t.trim().is_empty());
        end = if whole { *to } else { end };
        whole
    });
    found
}

/// The texts in quotation marks, in order.
pub(crate) fn quoted(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (from, to) in spans(text) {
        let inner = text.get(from..to).unwrap_or_default().trim();
        if !found.iter().any(|known| known == inner) {
            found.push(inner.to_owned());
        }
    }
    found
}

/// The text without what stands in quotation marks.
pub(crate) fn unquoted(text: &str) -> String {
    without(text, |_| " ".to_owned())
}

/// The text with as many words, of which those in quotation marks mean nothing.
pub(crate) fn masked(text: &str) -> String {
    let hidden = |c: char| if c.is_alphabetic() { 'x' } else { c };
    without(text, |inner| inner.chars().map(hidden).collect())
}

fn without(text: &str, instead: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    let mut at = 0;
    for (from, to) in spans(text) {
        out += text.get(at..from).unwrap_or_default();
        out += &instead(text.get(from..to).unwrap_or_default());
        at = to;
    }
    out + text.get(at..).unwrap_or_default()
}

/// What stands behind the first colon that ends a head; None: there is none.
pub(crate) fn behind_colon(text: &str) -> Option<(&str, &str)> {
    let mut from = 0;
    while let Some(at) = text.get(from..)?.find(':') {
        let at = from + at;
        let behind = text.get(at + 1..).unwrap_or_default();
        if behind.starts_with([' ', '\n', '\u{a0}']) && !behind.trim().is_empty() {
            return Some((text.get(..at).unwrap_or_default().trim(), behind.trim()));
        }
        from = at + 1;
    }
    None
}

impl Said<'_> {
    /// The value of a parameter; None: nothing says it.
    pub fn value(&self, name: &str, schema: &Value, required: bool) -> Option<Value> {
        let text = self.text(name, schema, required)?;
        match schema.get("type").and_then(Value::as_str) {
            Some("integer") => text.parse::<i64>().ok().map(Value::from),
            Some("number") => text.parse::<f64>().ok().map(Value::from),
            Some("boolean") => Some(Value::from(text == "true")),
            Some("array") => Some(Value::from(vec![text])),
            _ => Some(Value::from(text)),
        }
    }

    fn text(&self, name: &str, schema: &Value, required: bool) -> Option<String> {
        if let Some(answer) = self.answers.get(name).and_then(Value::as_str) {
            return Some(in_list(answer, schema).unwrap_or_else(|| answer.to_owned()));
        }
        let how = self.how.get(name);
        if let Some(options) = schema.get("enum").and_then(Value::as_array) {
            return self.option(options, how);
        }
        if let Some(found) = self.found.get(name).and_then(Value::as_str) {
            return Some(found.to_owned());
        }
        if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
            return by_pattern(pattern, self.clause).or_else(|| by_pattern(pattern, self.whole));
        }
        if let Some(named) = how.and_then(|h| h.get("values")) {
            let named = Lexicon::of(Some(named)).first(&unquoted(self.clause));
            if named.is_some() {
                return named;
            }
        }
        let ways = how.and_then(|h| h.get(if required { "from" } else { "optional" }));
        let ways = ways
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        ways.into_iter().find_map(|way| self.by(way, name, how))
    }

    fn by(&self, way: &str, name: &str, how: Option<&Value>) -> Option<String> {
        let clean = |text: String| {
            Some(
                text.trim()
                    .trim_end_matches(['.', '!', '?'])
                    .trim()
                    .to_owned(),
            )
            .filter(|t| !t.is_empty())
        };
        match way {
            "colon" => {
                let (head, behind) = behind_colon(self.clause)?;
                if self.ends_with_label(head, how) {
                    return None;
                }
                clean(behind.lines().next().unwrap_or(behind).to_owned())
            }
            "colon_text" => behind_colon(self.clause).map(|(_, behind)| behind.trim().to_owned()),
            "quoted" => quoted(self.clause).into_iter().next(),
            "quoted_last" => Some(quoted(self.clause)).filter(|q| q.len() > 1)?.pop(),
            "content" => self.content.map(str::to_owned),
            "content_title" => self
                .content
                .and_then(|c| c.lines().next())
                .map(|l| l.trim().to_owned()),
            "listed" => self
                .listed
                .get(name)
                .and_then(Value::as_str)
                .map(str::to_owned),
            "label" => self.beside(how).and_then(clean),
            "named" => self.named(how).and_then(clean),
            "person" => self.person(),
            "number" => self.number(how),
            "ticket" => by_pattern(TICKET, self.clause).or_else(|| by_pattern(TICKET, self.whole)),
            "key" => key(self.clause).or_else(|| key(self.whole)),
            "rest" => clean(self.rest(how)),
            "brackets" => {
                let (_, behind) = self.clause.split_once('(')?;
                clean(behind.split_once(')')?.0.to_owned())
            }
            _ => None,
        }
    }

    fn option(&self, options: &[Value], how: Option<&Value>) -> Option<String> {
        let plain = unquoted(self.clause);
        let head = behind_colon(&plain)
            .map_or(plain.as_str(), |(head, _)| head)
            .to_owned();
        let said = format!(" {} ", fold(&head));
        let mut texts: Vec<&str> = options.iter().filter_map(Value::as_str).collect();
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        let named = how.and_then(|h| h.get("values"));
        let named = Lexicon::of(named).first_of(&head, &texts);
        let literal = texts.iter().find(|text| {
            let text = fold(text);
            said.match_indices(text.as_str()).any(|(at, _)| {
                let before = said.get(..at).and_then(|s| s.chars().next_back());
                let after = said.get(at + text.len()..).and_then(|s| s.chars().next());
                !before.is_some_and(char::is_alphanumeric)
                    && !after.is_some_and(char::is_alphanumeric)
            })
        });
        literal.map(|text| (*text).to_owned()).or(named)
    }

    /// What stands before a colon says that something else follows: "with the text: …".
    fn ends_with_label(&self, head: &str, how: Option<&Value>) -> bool {
        let Some(text) = Text::new(head).words.pop() else {
            return false;
        };
        let others = how.and_then(|h| h.get("not_behind")?.as_array());
        let mut others = others.into_iter().flatten().filter_map(Value::as_str);
        others.any(|other| fold(other) == text.fold)
    }

    /// What stands behind a phrase that says that a name follows: a quotation, else the words up to one that goes on with the sentence.
    fn named(&self, how: Option<&Value>) -> Option<String> {
        let list = |key: &str| -> Vec<Vec<String>> {
            let phrases = how.and_then(|h| h.get(key)?.as_array());
            let phrases = phrases.into_iter().flatten().filter_map(Value::as_str);
            phrases
                .map(|phrase| phrase.split_whitespace().map(fold).collect())
                .collect()
        };
        let text = Text::new(self.clause);
        let hidden = masked(self.clause);
        let plain = Text::new(&hidden);
        let stands = |phrase: &[String], at: usize| {
            let words = plain.words.get(at..at + phrase.len());
            !phrase.is_empty()
                && words.is_some_and(|words| words.iter().zip(phrase).all(|(w, p)| w.fold == *p))
        };
        let (marks, ends) = (list("marks"), list("ends"));
        let from = (0..plain.words.len()).find_map(|at| {
            let fitting = marks.iter().filter(|mark| stands(mark, at));
            fitting.map(Vec::len).max().map(|length| at + length)
        })?;
        let begin = text.words.get(from)?.from;
        let quoted = spans(self.clause).into_iter();
        if let Some((start, to)) = quoted.into_iter().find(|(start, _)| *start == begin) {
            return self.clause.get(start..to).map(str::to_owned);
        }
        let mut end = from + 1;
        while end < text.words.len()
            && text.gap(end) == crate::words::Gap::None
            && !ends.iter().any(|phrase| stands(phrase, end))
        {
            end += 1;
        }
        let particles: Vec<String> = list("particles").into_iter().flatten().collect();
        while end > from + 1
            && text
                .words
                .get(end - 1)
                .is_some_and(|w| particles.contains(&w.fold))
        {
            end -= 1;
        }
        Some(text.said(from..end).to_owned())
    }

    /// Somebody: the id of a user (`ben.okoro`), else words in capital letters that mean nothing else, not at the beginning.
    fn person(&self) -> Option<String> {
        let text = Text::new(self.clause);
        let ids = self
            .clause
            .split_whitespace()
            .map(|w| w.trim_matches(['.', ',', '?', '!']));
        let is_id = |word: &&str| {
            let parts: Vec<&str> = word.split('.').collect();
            parts.len() == 2
                && parts
                    .iter()
                    .all(|p| p.len() > 1 && p.chars().all(|c| c.is_ascii_lowercase()))
        };
        if let Some(id) = ids.into_iter().find(is_id) {
            return Some(id.to_owned());
        }
        let known = self.lexicon.hits(self.clause);
        let is_name = |at: usize| {
            let of = |word: &crate::words::Word| {
                let said = self.clause.get(word.from..word.to).unwrap_or_default();
                word.capital && !said.contains(|c: char| c.is_ascii_digit())
            };
            at > 0
                && text.words.get(at).is_some_and(of)
                && !known.iter().any(|hit| (hit.from..hit.to).contains(&at))
        };
        let from = (0..text.words.len()).find(|at| is_name(*at))?;
        let mut to = from + 1;
        while is_name(to) && text.gap(to) == crate::words::Gap::None {
            to += 1;
        }
        Some(text.said(from..to).to_owned())
    }

    /// The words behind a label, or before it: capital letters and what is between them.
    fn beside(&self, how: Option<&Value>) -> Option<String> {
        let labels = how?.get("labels")?.as_array()?;
        let labels: Vec<String> = labels.iter().filter_map(Value::as_str).map(fold).collect();
        let text = Text::new(self.clause);
        let stops = [
            "in", "on", "to", "the", "im", "in", "auf", "an", "zu", "a", "et", "und", "and", "y",
            "en", "el", "la", "le", "de", "with", "mit", "avec", "con", "at", "of", "from", "aus",
            "von", "vom", "du", "des", "del", "desde", "for", "für", "para", "pour", "called",
            "titled",
        ];
        let at = text.words.iter().position(|w| labels.contains(&w.fold))?;
        let mut end = at + 1;
        while let Some(word) = text.words.get(end)
            && !stops.contains(&word.fold.as_str())
            && text.gap(end) == crate::words::Gap::None
        {
            end += 1;
        }
        if end > at + 1 {
            return Some(text.said(at + 1..end).to_owned());
        }
        let mut from = at;
        while from > 0
            && text
                .words
                .get(from - 1)
                .is_some_and(|w| !stops.contains(&w.fold.as_str()))
            && text.gap(from) == crate::words::Gap::None
        {
            from -= 1;
        }
        Some(text.said(from..at).to_owned()).filter(|said| !said.is_empty())
    }

    /// The number right behind a label.
    fn number(&self, how: Option<&Value>) -> Option<String> {
        let labels = how?.get("labels")?.as_array()?;
        let text = Text::new(self.clause);
        let is_label = |fold: &str| {
            labels
                .iter()
                .filter_map(Value::as_str)
                .any(|label| label == fold)
        };
        let at = text.words.iter().position(|w| is_label(&w.fold))?;
        let next = text.words.get(at + 1)?;
        let all_digits = !next.fold.is_empty() && next.fold.chars().all(|c| c.is_ascii_digit());
        all_digits.then(|| next.fold.clone())
    }

    /// The words that carry meaning, without those that the pack says are not looked for.
    fn rest(&self, how: Option<&Value>) -> String {
        let quotes = quoted(self.clause);
        if !quotes.is_empty() {
            return quotes.join(" ");
        }
        let without = Lexicon::of(how.and_then(|h| h.get("without")));
        let gone = without.hits(self.clause);
        let text = Text::new(self.clause);
        let kept = text.words.iter().enumerate().filter(|(at, word)| {
            !gone.iter().any(|hit| (hit.from..hit.to).contains(at))
                && !crate::language::is_small(&word.fold)
                && word.fold.chars().any(char::is_alphanumeric)
        });
        let kept: Vec<&str> = kept.map(|(at, _)| text.said(at..at + 1)).collect();
        kept.join(" ")
    }
}

/// The option of a list that a text is, whatever its case.
fn in_list(text: &str, schema: &Value) -> Option<String> {
    let options = schema
        .get("enum")?
        .as_array()?
        .iter()
        .filter_map(Value::as_str);
    let mut same = options.filter(|option| fold(option) == fold(text));
    same.next().map(str::to_owned)
}

/// The first word that fits a pattern.
pub(crate) fn by_pattern(pattern: &str, text: &str) -> Option<String> {
    let regex = RegexBuilder::new(pattern)
        .size_limit(1 << 20)
        .build()
        .ok()?;
    let words = text.split(|c: char| c.is_whitespace() || "\"“”„«»()[],;!?".contains(c));
    let mut words = words.map(|w| w.trim_matches(['.', ':', '\'']));
    words
        .find(|word| !word.is_empty() && regex.is_match(word))
        .map(str::to_owned)
}

/// A short word in capital letters: the key of a project.
fn key(text: &str) -> Option<String> {
    const NONE: [&str; 18] = [
        "PDF", "API", "URL", "CI", "CD", "MR", "JQL", "OK", "HTML", "CSV", "IT", "HR", "EU", "FAQ",
        "ID", "VPN", "SSO", "I",
    ];
    let plain = unquoted(text);
    let head = behind_colon(&plain).map_or(plain.as_str(), |(head, _)| head);
    let words = head.split(|c: char| !c.is_alphanumeric() && c != '-');
    let good = |w: &&str| {
        (2..=10).contains(&w.len())
            && w.chars()
                .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
            && w.starts_with(|c: char| c.is_ascii_uppercase())
            && !NONE.contains(w)
    };
    let behind = text.lines().skip(1).flat_map(str::split_whitespace);
    words.chain(behind).find(good).map(str::to_owned)
}
