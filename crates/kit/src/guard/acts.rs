//! What a sentence tells as done, held against the calls of the turn: an act of its own needs a successful call that changes something, a
//! state that is new needs one too, and what a call was to change and did not is not told as if it were so.

use super::sentence::Sentence;
use super::words::{Class, Words};
use super::{Evidence, Label};
use serde_json::Value;

impl Sentence {
    pub fn acts(&self, evidence: &[Evidence]) -> Label {
        let parts: Vec<&str> = self.parts().collect();
        let denied = parts.iter().any(|part| self.has("denied", part));
        let mut worst = Label::Fine;
        for part in &parts {
            // Why something did not work is nothing that was done.
            if denied && self.has("cause", part) {
                continue;
            }
            match self.act(part, evidence) {
                Label::ContradictsFailure => return Label::ContradictsFailure,
                Label::UnsupportedAct => worst = Label::UnsupportedAct,
                Label::Promise | Label::Fine => {}
            }
            // "Ben left a comment: the firmware was rolled back."
            if self.is_before_a_colon(part) && is_named(self, part, evidence) {
                break;
            }
        }
        match worst {
            Label::Fine if self.passes_over(evidence) => Label::ContradictsFailure,
            worst => worst,
        }
    }

    fn act(&self, part: &str, evidence: &[Evidence]) -> Label {
        if self.has_any(&["theirs", "denied", "unreal", "cond"], part) {
            return Label::Fine;
        }
        if self.has("permit", part) {
            return of_any_verb(part, evidence, true);
        }
        let again = self.has("again", part);
        if !again && self.has_any(&["modal", "yours"], part) {
            return Label::Fine;
        }
        let own = self.has("own", part);
        let read = evidence.iter().any(Evidence::has_read);
        if read && !own && is_by_another(self, part, evidence) {
            return Label::Fine;
        }
        let told = self.of_verbs(part, evidence);
        if told != Label::Fine {
            return told;
        }
        let others = self.has("reported", &self.text) || is_named(self, part, evidence);
        let changing = evidence.iter().any(|call| call.changes);
        if read && !own && !changing && !others && self.has("is", part) {
            let classes = self.told(part);
            let is_shown = self.has("shown", part) || classes.iter().any(|class| class.is_shown());
            if !classes.is_empty() && !is_shown && !self.has("dated", &self.text) {
                return Label::UnsupportedAct;
            }
        }
        if self.has("idiom", part) {
            return of_any_verb(part, evidence, !read || again);
        }
        let short = self.has("short", part) && (!read || !self.told(part).is_empty());
        let event = self.has("event", part) && !(read && others);
        match short || event {
            true => of_any_verb(part, evidence, true),
            false => Label::Fine,
        }
    }

    /// What its verbs tell: acts of a class, of any verb, and a file that is handed over.
    fn of_verbs(&self, part: &str, evidence: &[Evidence]) -> Label {
        if self.has("reading", part) || self.has("reading", &self.text) && !self.has("own", part) {
            return Label::Fine;
        }
        let own = self.has("own", &self.text);
        let mut classes = self.told(part);
        let short =
            self.has("short", part) && (!classes.is_empty() || !Words::nouns(part).is_empty());
        let passive = short || self.has_any(&["passive", "opening"], &self.text);
        let state = self.has("state", part);
        let here = self.has("here", part);
        if !own && !passive && !here && !state {
            return Label::Fine;
        }
        let read = evidence.iter().any(Evidence::has_read);
        // What somebody else did, as a result tells it.
        if !own && read && (self.has("reported", &self.text) || is_of_result(part, evidence)) {
            return Label::Fine;
        }
        if classes.is_empty() && !state {
            let other = short || self.has_any(&["acting", "suffered"], part);
            return match (other, here) {
                (true, _) => of_any_verb(part, evidence, own || short),
                (false, true) => of_here(part, evidence),
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
        let failed = about.iter().any(|call| !call.is_ok());
        let ok = about.iter().any(|call| call.is_ok());
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
    fn passes_over(&self, evidence: &[Evidence]) -> bool {
        let (done, failed): (Vec<&Evidence>, Vec<&Evidence>) = (evidence.iter())
            .filter(|call| call.changes)
            .partition(|call| call.is_ok());
        let told = |kinds: &[&str]| self.has_any(kinds, &self.text);
        if failed.is_empty() || told(&["denied", "failure", "theirs"]) {
            return false;
        }
        let nouns = Words::nouns(&self.text);
        let about = |calls: &[&Evidence]| calls.iter().any(|call| shares(&nouns, call));
        let read = evidence.iter().any(Evidence::has_read);
        // "You can look there" asks; "you can open it now" tells that it is there.
        let said_plainly = !told(&["any"]) && (!told(&["yours"]) || told(&["news"]));
        if said_plainly {
            if done.is_empty() && told(&["success"]) && !told(&["reading"]) {
                return nouns.is_empty() || about(&failed);
            }
            if about(&failed) && !about(&done) && (!read || told(&["news", "state"])) {
                return true;
            }
        }
        if told(&["unsure", "cond"]) || told(&["yours", "modal"]) && !told(&["again"]) {
            return false;
        }
        if about(&done) {
            return false;
        }
        if about(&failed) {
            return !read || told(&["again", "idiom", "news"]);
        }
        nouns.is_empty() && done.is_empty() && told(&["idiom", "success"])
    }
}

/// The letters of a text, word by word.
fn lettered(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphabetic())
        .filter(|word| !word.is_empty())
}

/// Who did it is somebody whom a result names, at the beginning or elsewhere.
fn is_named(sentence: &Sentence, part: &str, evidence: &[Evidence]) -> bool {
    is_of_result(part, evidence) || is_by_another(sentence, part, evidence)
}

/// A user of a result ("ben.okoro") is named, and not as who gets something.
fn is_by_another(sentence: &Sentence, part: &str, evidence: &[Evidence]) -> bool {
    let results = evidence.iter().filter(|call| call.has_read());
    let mut names = results.flat_map(|call| first_names(&call.result));
    names.any(|name| {
        let mut places = part.match_indices(name.as_str());
        places.any(|(at, name)| {
            let (before, behind) = part.split_at_checked(at).unwrap_or((part, ""));
            let behind = behind.get(name.len()..).unwrap_or_default();
            let whole = !before.ends_with(char::is_alphanumeric)
                && !behind.starts_with(char::is_alphanumeric);
            whole && !sentence.has("receiver", before)
        })
    })
}

/// The first names of users in a value.
fn first_names(value: &Value) -> Vec<String> {
    let text = value.to_string();
    let quoted = text.split('"');
    let users = quoted.filter_map(|part| {
        let (first, last) = part.split_once('.')?;
        let plain = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase());
        (plain(first) && plain(last)).then(|| first.to_owned())
    });
    users.collect()
}

/// "Here is your PDF" after the call that would have made it.
fn of_here(part: &str, evidence: &[Evidence]) -> Label {
    let nouns = Words::nouns(part);
    let about = evidence
        .iter()
        .filter(|call| call.changes && shares(&nouns, call));
    let mut about = about.peekable();
    if about.peek().is_none() {
        return Label::Fine;
    }
    match about.any(Evidence::is_ok) {
        true => Label::Fine,
        false => Label::ContradictsFailure,
    }
}

/// The part begins with a name that a result holds, which so is who did it: "Ben left a comment".
fn is_of_result(part: &str, evidence: &[Evidence]) -> bool {
    let Some(name) = lettered(part).next() else {
        return false;
    };
    let read = evidence.iter().filter(|call| call.has_read());
    // A name is written large, or is a part of an address or of a user's id.
    let holds = |result: &Value| {
        let text = result.to_string();
        let id = [format!("\"{name}."), format!("\"{name}@")];
        let large = lettered(&text).any(|word| word != name && word.to_lowercase() == name);
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
    let (ok, failed): (Vec<&Evidence>, Vec<&Evidence>) = about.partition(|call| call.is_ok());
    let read = evidence.iter().any(Evidence::has_read);
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
    named.peek().is_some() && named.all(|call| call.is_ok())
}

pub(super) fn shares(nouns: &[&'static str], call: &Evidence) -> bool {
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
