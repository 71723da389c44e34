//! What one sentence says: which of its parts promise, tell an act, or read, and what the calls of the turn say of that.

use super::words::{Class, Words};
use super::{Became, Evidence, Label, unquoted};
use crate::language::counted;
use serde_json::Value;

pub(super) struct Sentence {
    /// In lower case, without what stands in quotation marks.
    pub text: String,
    /// As it was written, without that too: "Sie" is not "sie".
    written: String,
    words: Vec<&'static Words>,
}

impl Sentence {
    pub fn of(sentence: &str) -> Sentence {
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

    pub fn has(&self, kind: &str, text: &str) -> bool {
        self.words.iter().any(|words| words.has(kind, text))
    }

    pub fn promises(&self, evidence: &[Evidence]) -> bool {
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
    pub fn read_without_an_answer(&self, evidence: &[Evidence]) -> Option<Label> {
        let mut looks = evidence.iter().filter(|call| !call.changes).peekable();
        looks.peek()?;
        if looks.any(|call| call.became == Became::Ok) || self.has("failure", &self.text) {
            return None;
        }
        let tells = self.has("nothing", &self.text) || self.has("reading", &self.text);
        tells.then_some(Label::ContradictsFailure)
    }

    pub fn parts(&self) -> impl Iterator<Item = &str> {
        let text = self.text.as_str();
        let shared = ["; ", ", ", ": ", ". ", "! "];
        let joins: Vec<&str> = (self.words.iter().map(|words| words.join()))
            .chain(shared)
            .collect();
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

    pub fn act(&self, part: &str, evidence: &[Evidence]) -> Label {
        if ["theirs", "offer", "denied"]
            .iter()
            .any(|kind| self.has(kind, part))
            || self.has("reading", part)
            || self.has("reading", &self.text) && !self.has("own", part)
        {
            return Label::Fine;
        }
        let own = self.has("own", &self.text);
        let spoken = || {
            self.words
                .iter()
                .any(|words| words.told(part).next().is_some())
        };
        let short = self.has("short", part) && (spoken() || !Words::nouns(part).is_empty());
        let passive = short
            || ["passive", "opening"]
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
        if !own && read && (self.has("reported", &self.text) || is_of_result(part, evidence)) {
            return Label::Fine;
        }
        if classes.is_empty() && !state {
            let other = short || ["acting", "suffered"].iter().any(|k| self.has(k, part));
            return match (other, here) {
                (true, _) => of_any_verb(part, evidence, own || short),
                (false, true) => self.of_here(part, evidence),
                (false, false) => Label::Fine,
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

    /// It says how things are, of just what a call was to change that did not succeed.
    pub fn passes_over(&self, evidence: &[Evidence]) -> bool {
        let told = |kinds: &[&str]| kinds.iter().any(|kind| self.has(kind, &self.text));
        // "You can look there" asks; "you can open it now" tells that it is there.
        if told(&["denied", "failure", "theirs", "offer", "any"])
            || told(&["yours"]) && !told(&["news"])
        {
            return false;
        }
        let ok = |call: &&Evidence| call.became == Became::Ok;
        let (done, failed): (Vec<&Evidence>, Vec<&Evidence>) =
            evidence.iter().filter(|call| call.changes).partition(ok);
        let nouns = Words::nouns(&self.text);
        let about = |calls: &[&Evidence]| calls.iter().any(|call| shares(&nouns, call));
        let read = evidence.iter().any(|call| !call.changes && ok(&call));
        if done.is_empty() && !failed.is_empty() && told(&["success"]) && !told(&["reading"]) {
            return nouns.is_empty() || about(&failed);
        }
        about(&failed) && !about(&done) && (!read || told(&["news", "state"]))
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

/// The part begins with a name that a result holds, which so is who did it: "Ben left a comment".
fn is_of_result(part: &str, evidence: &[Evidence]) -> bool {
    let letters = |c: char| !c.is_alphabetic();
    let Some(name) = part.split(letters).find(|word| !word.is_empty()) else {
        return false;
    };
    let read = evidence
        .iter()
        .filter(|call| !call.changes && call.became == Became::Ok);
    // A name is written large, or is a part of an address or of a user's id.
    let holds = |result: &Value| {
        let text = result.to_string();
        let id = [format!("\"{name}."), format!("\"{name}@")];
        let mut words = text.split(letters);
        let large = words.any(|word| word != name && word.to_lowercase() == name);
        large || id.iter().any(|begin| text.contains(begin.as_str()))
    };
    let is_small = [
        "the", "das", "der", "die", "les", "los", "las", "una", "une", "eine", "your", "ihre",
    ];
    name.chars().count() > 2
        && !is_small.contains(&name)
        && Words::nouns(name).is_empty()
        && read.into_iter().any(|call| holds(&call.result))
}

/// An act of a verb that no table has: any call may have done it that is for the same thing.
fn of_any_verb(part: &str, evidence: &[Evidence], own: bool) -> Label {
    let nouns = Words::nouns(part);
    let of_nothing =
        |call: &Evidence| nouns.is_empty() || Words::nouns(&words_of(&call.tool)).is_empty();
    let about = evidence
        .iter()
        .filter(|call| call.changes && (of_nothing(call) || shares(&nouns, call)));
    let (ok, failed): (Vec<&Evidence>, Vec<&Evidence>) =
        about.partition(|call| call.became == Became::Ok);
    let read = evidence
        .iter()
        .any(|call| !call.changes && call.became == Became::Ok);
    match (ok.is_empty(), failed.is_empty()) {
        (false, _) => Label::Fine,
        (true, false) => Label::ContradictsFailure,
        (true, true) if !own && read => Label::Fine,
        (true, true) => Label::UnsupportedAct,
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
