//! What one sentence says: which of its parts promise, tell an act, or read, and what the calls of the turn say of that.

use super::words::{Class, Words};
use super::{Became, Evidence, Label, unquoted};
use crate::language::counted;

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
