//! What a reply may say, sentence by sentence: nothing is promised, because nobody works on after the reply; what is told as done was
//! done by a successful call of this turn that changes something; a call that failed, or whose outcome is unknown, is not told as a
//! success. Pure; the words stand in `words/guard/`.

mod words;

use crate::language::counted;
use serde_json::Value;
use words::{Class, Words};

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Became {
    Ok,
    Failed,
    Refused,
    Unknown,
}

impl Became {
    /// The status of a call by its name; what nobody knows is unknown.
    pub fn of(name: &str) -> Became {
        match name {
            "ok" => Became::Ok,
            "failed" | "cancelled" => Became::Failed,
            "refused" => Became::Refused,
            _ => Became::Unknown,
        }
    }
}

/// One call of this turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// The name of the tool, as its words tell what it does.
    pub tool: String,
    pub changes: bool,
    pub became: Became,
    pub result: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    Promise,
    UnsupportedAct,
    ContradictsFailure,
    Fine,
}

impl Label {
    pub fn name(self) -> &'static str {
        match self {
            Label::Promise => "promise",
            Label::UnsupportedAct => "unsupported_act",
            Label::ContradictsFailure => "contradicts_failure",
            Label::Fine => "fine",
        }
    }
}

/// What a sentence says, held against the calls of this turn.
pub fn label(sentence: &str, evidence: &[Evidence]) -> Label {
    let said = Sentence::of(sentence);
    if said.text.trim_end().ends_with('?') {
        return Label::Fine;
    }
    if said.promises(evidence) {
        return Label::Promise;
    }
    if let Some(label) = said.read_without_an_answer(evidence) {
        return label;
    }
    let mut worst = Label::Fine;
    for part in said.parts() {
        match said.act(part, evidence) {
            Label::ContradictsFailure => return Label::ContradictsFailure,
            Label::UnsupportedAct => worst = Label::UnsupportedAct,
            Label::Promise | Label::Fine => {}
        }
    }
    worst
}

/// The sentences of a reply; a line is one too. None ends within quotation marks.
pub fn sentences(reply: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut from = 0;
    let mut until: Option<char> = None;
    let mut chars = reply.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, c)| *c);
        until = match until {
            _ if c == '\n' => None,
            Some(end) if c == end => None,
            Some(end) => Some(end),
            None => closing(c),
        };
        let stops = matches!(c, '.' | '!' | '?' | '…') && next.is_none_or(char::is_whitespace);
        if c == '\n' || stops && until.is_none() {
            let to = at + c.len_utf8();
            found.extend(reply.get(from..to));
            from = to;
        }
    }
    found.extend(reply.get(from..));
    found.retain(|text| text.chars().any(char::is_alphanumeric));
    found
}

/// The mark that ends what this one begins to quote.
fn closing(mark: char) -> Option<char> {
    match mark {
        '"' => Some('"'),
        '“' => Some('”'),
        '„' => Some('“'),
        '«' => Some('»'),
        _ => None,
    }
}

/// Whether a reply says that something did not succeed, or that nobody knows.
pub fn tells_failure(reply: &str) -> bool {
    sentences(reply).into_iter().any(|sentence| {
        let said = Sentence::of(sentence);
        said.has("denied", &said.text) || said.has("failure", &said.text)
    })
}

/// The numbers of two digits and more, without the marks between thousands, and the ids of a text.
pub fn numbers(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let words = text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | ',' | '-'));
    for word in words {
        let word = word.trim_matches(['.', ',', '-']);
        let digits: String = word.chars().filter(char::is_ascii_digit).collect();
        let number = word
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '.' | ','));
        if number && digits.len() >= 2 {
            found.push(digits);
        } else if let Some((name, number)) = word.rsplit_once('-')
            && name.starts_with(|c: char| c.is_ascii_uppercase())
            && !number.is_empty()
            && number.chars().all(|c| c.is_ascii_digit())
        {
            found.push(word.to_owned());
        }
    }
    found
}

/// The same of a value, with how many there are in each of its lists.
pub fn numbers_of(value: &Value) -> Vec<String> {
    fn counted(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Array(items) => {
                found.push(items.len().to_string());
                items.iter().for_each(|item| counted(item, found));
            }
            Value::Object(map) => map.values().for_each(|item| counted(item, found)),
            _ => {}
        }
    }
    let mut found = numbers(&value.to_string());
    counted(value, &mut found);
    found
}

struct Sentence {
    /// In lower case, without what stands in quotation marks.
    text: String,
    /// As it was written, without that too: "Sie" is not "sie".
    written: String,
    words: Vec<&'static Words>,
}

impl Sentence {
    fn of(sentence: &str) -> Sentence {
        let written = unquoted(sentence).replace(['’', '‘', '`'], "'");
        let text = written.to_lowercase();
        let counts = counted(&text);
        let most = counts.iter().map(|(n, _)| *n).max().unwrap_or(0);
        let spoken = counts
            .iter()
            .filter(|(n, _)| *n == most)
            .filter_map(|(_, name)| Words::of(name));
        Sentence {
            words: spoken.collect(),
            text,
            written,
        }
    }

    fn has(&self, kind: &str, text: &str) -> bool {
        self.words.iter().any(|words| words.has(kind, text))
    }

    fn promises(&self, evidence: &[Evidence]) -> bool {
        let offers = self.has("offer", &self.text)
            || self.written.contains("obald Sie ")
            || self.written.contains("Nachdem Sie ");
        if offers {
            return false;
        }
        if self.has("promise", &self.text) && !self.only_denied() {
            return true;
        }
        let read = evidence.iter().any(|call| call.became == Became::Ok);
        self.has("coming", &self.text) && !(read && self.has("dated", &self.text))
    }

    /// "I will not …" is no promise; "I could not … and will try again" is one.
    fn only_denied(&self) -> bool {
        let parts: Vec<&str> = self.parts().collect();
        let promising = parts.iter().filter(|part| self.has("promise", part));
        let mut promising = promising.peekable();
        promising.peek().is_some()
            && promising.all(|part| self.has("denied", part) && !self.has("coming", part))
    }

    /// What was found, or that nothing was, while no look succeeded.
    fn read_without_an_answer(&self, evidence: &[Evidence]) -> Option<Label> {
        let mut looks = evidence.iter().filter(|call| !call.changes).peekable();
        looks.peek()?;
        if looks.any(|call| call.became == Became::Ok) || self.has("failure", &self.text) {
            return None;
        }
        let tells = self.has("nothing", &self.text) || self.has("reading", &self.text);
        tells.then_some(Label::ContradictsFailure)
    }

    fn parts(&self) -> impl Iterator<Item = &str> {
        let text = self.text.as_str();
        let joins = [
            " and ", " und ", " et ", " y ", "; ", ", ", ": ", ". ", "! ",
        ];
        let mut cuts: Vec<(usize, usize)> = joins
            .iter()
            .flat_map(|join| text.match_indices(join).map(|(at, j)| (at, at + j.len())))
            .collect();
        cuts.sort_unstable();
        let mut from = 0;
        let mut parts = Vec::new();
        for (at, to) in cuts {
            if at >= from {
                parts.extend(text.get(from..at));
                from = to;
            }
        }
        parts.extend(text.get(from..));
        parts.into_iter()
    }

    fn act(&self, part: &str, evidence: &[Evidence]) -> Label {
        if ["theirs", "offer", "denied"]
            .iter()
            .any(|kind| self.has(kind, part))
            || self.has("reading", part)
            || self.has("reading", &self.text) && !self.has("own", part)
        {
            return Label::Fine;
        }
        let own = self.has("own", &self.text);
        let passive = ["passive", "opening"]
            .iter()
            .any(|kind| self.has(kind, &self.text));
        let state = self.has("state", part);
        let here = self.has("here", part);
        let mut classes: Vec<&Class> = self
            .words
            .iter()
            .flat_map(|words| words.told(part))
            .collect();
        if !own && !passive && !here && !state {
            return Label::Fine;
        }
        // What somebody else did, as a result tells it.
        let read = evidence
            .iter()
            .any(|call| !call.changes && call.became == Became::Ok);
        if !own && read && self.has("reported", &self.text) {
            return Label::Fine;
        }
        if classes.is_empty() && !state {
            return match here {
                true => self.of_here(part, evidence),
                false => Label::Fine,
            };
        }
        let done = classes.iter().any(|class| class.is_any());
        if done && classes.len() > 1 {
            classes.retain(|class| !class.is_any());
        }
        let nouns = Words::nouns(part);
        let all = classes.is_empty() || classes.iter().all(|class| class.is_any());
        let about: Vec<&Evidence> = (evidence.iter())
            .filter(|call| call.changes)
            .filter(|call| all || is_about(call, &classes, &nouns))
            .collect();
        let failed = about.iter().any(|call| call.became != Became::Ok);
        let ok = about.iter().any(|call| call.became == Became::Ok);
        match (ok, failed) {
            (true, true) if all && !names_one(part, &about) => Label::ContradictsFailure,
            (true, _) => Label::Fine,
            (false, true) => Label::ContradictsFailure,
            // How things are, as a result shows them.
            (false, false) if !own && read && self.has("is", part) && !self.has("news", part) => {
                Label::Fine
            }
            (false, false) => Label::UnsupportedAct,
        }
    }

    /// "Here is your PDF" after the call that would have made it.
    fn of_here(&self, part: &str, evidence: &[Evidence]) -> Label {
        let nouns = Words::nouns(part);
        let about = evidence
            .iter()
            .filter(|call| call.changes && shares(&nouns, call));
        let mut about = about.peekable();
        if about.peek().is_none() {
            return Label::Fine;
        }
        match about.any(|call| call.became == Became::Ok) {
            true => Label::Fine,
            false => Label::ContradictsFailure,
        }
    }
}

/// Whether one call of those is meant by its noun, and that one succeeded.
fn names_one(part: &str, about: &[&Evidence]) -> bool {
    let nouns = Words::nouns(part);
    let mut named = about.iter().filter(|call| shares(&nouns, call)).peekable();
    named.peek().is_some() && named.all(|call| call.became == Became::Ok)
}

fn shares(nouns: &[&'static str], call: &Evidence) -> bool {
    let of_tool = Words::nouns(&words_of(&call.tool));
    of_tool.iter().any(|noun| nouns.contains(noun))
}

/// Whether the call is one that does what is told, to what it is told of.
fn is_about(call: &Evidence, classes: &[&Class], nouns: &[&'static str]) -> bool {
    let tool = words_of(&call.tool);
    let of_tool = Words::nouns(&tool);
    let disjoint = !nouns.is_empty()
        && !of_tool.is_empty()
        && !of_tool.iter().any(|noun| nouns.contains(noun));
    if disjoint {
        return false;
    }
    // A tool whose name tells nothing may do anything.
    !Words::is_known(&tool) || classes.iter().any(|class| class.is_tool(&tool))
}

/// `jira_addComment` → `jira add comment`.
fn words_of(tool: &str) -> String {
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

/// The text without what is quoted; an apostrophe is no quotation mark.
fn unquoted(text: &str) -> String {
    let mut out = String::new();
    let mut until: Option<char> = None;
    for c in text.chars() {
        match (until, c) {
            (Some(end), c) if c == end || end == '“' && c == '”' => {
                until = None;
                out.push('…');
            }
            (Some(_), _) => {}
            (None, c) => match closing(c) {
                Some(end) => until = Some(end),
                None => out.push(c),
            },
        }
    }
    match until {
        // A mark that stands alone quotes nothing.
        Some(_) => text.replace(['"', '“', '”', '„', '«', '»'], " "),
        None => out,
    }
}

#[cfg(test)]
#[path = "guard_tests.rs"]
mod guard_tests;
