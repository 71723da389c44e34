//! One sentence by its form: who speaks of whom, whether it is a condition, a denial or what somebody else said, and what it promises. What
//! it tells as done is held against the calls beside it.

use super::words::{Class, Words};
use super::{Evidence, Label, unquoted};
use crate::language::counted;

pub(super) struct Sentence {
    /// In lower case, without what stands in quotation marks, and without small talk.
    pub text: String,
    /// As it was written, without that too: "Sie" is not "sie".
    pub written: String,
    /// The sentence with its quotations.
    whole: String,
    words: Vec<&'static Words>,
    /// Another sentence of the reply tells what did not succeed.
    pub admitted: bool,
}

/// Kinds by which something is denied. That it went without a problem denies nothing.
const DENIALS: [&str; 3] = ["denied", "failure", "none"];

impl Sentence {
    pub fn of(sentence: &str) -> Sentence {
        let written = unquoted(sentence).replace(['’', '‘', '`'], "'");
        let text = written.to_lowercase();
        let counts = counted(&text);
        let most = counts.iter().map(|(n, _)| *n).max().unwrap_or(0);
        // Few small words do not tell the language: then it may be any that has nearly as many.
        let least = if most <= 1 { 0 } else { most };
        let spoken = counts.iter().filter(|(n, _)| *n >= least);
        let words: Vec<&'static Words> = spoken.filter_map(|(_, name)| Words::of(name)).collect();
        Sentence {
            text: (words.iter()).fold(text, |text, words| words.without("polite", &text)),
            words,
            written,
            whole: sentence.to_owned(),
            admitted: false,
        }
    }

    pub fn beside(self, admitted: bool) -> Sentence {
        Sentence { admitted, ..self }
    }

    pub fn has(&self, kind: &str, text: &str) -> bool {
        let fits = |text: &str| self.words.iter().any(|words| words.has(kind, text));
        if !DENIALS.contains(&kind) {
            return fits(text);
        }
        let plain = (self.words.iter()).fold(text.to_owned(), |text, words| {
            words.without("success", &text)
        });
        fits(&plain)
    }

    pub fn has_any(&self, kinds: &[&str], text: &str) -> bool {
        kinds.iter().any(|kind| self.has(kind, text))
    }

    /// The classes of the acts that a part tells.
    pub fn told(&self, part: &str) -> Vec<&'static Class> {
        let words = self.words.iter();
        words.flat_map(|words| words.told(part)).collect()
    }

    /// The class of this name, in the languages of the sentence.
    pub fn class(&self, name: &str) -> impl Iterator<Item = &'static Class> {
        self.words.iter().filter_map(move |words| words.class(name))
    }

    pub fn label(&self, evidence: &[Evidence]) -> Label {
        if self.is_question() || self.is_of_the_user() || self.repeats_an_error(evidence) {
            return Label::Fine;
        }
        if self.has("says", &self.text) {
            let blind = self.without_a_look(evidence).is_some();
            return self
                .read_without_an_answer(evidence)
                .filter(|_| blind)
                .unwrap_or(Label::Fine);
        }
        if self.promises(evidence) {
            return Label::Promise;
        }
        if self.has("unreal", &self.text) || self.is_ability() {
            return Label::Fine;
        }
        match self.read_without_an_answer(evidence) {
            Some(label) => label,
            None if self.denies_the_unknown(evidence) => Label::ContradictsFailure,
            None => self.acts(evidence),
        }
    }

    /// It tells how things are: no question, no offer, no denial, and not what the user said.
    pub fn tells(&self) -> bool {
        let open = ["denied", "failure", "unreal", "modal", "cond"];
        let said = self.has("says", &self.text) && !self.has("cites", &self.text);
        !self.is_question() && !self.is_of_the_user() && !said && !self.has_any(&open, &self.text)
    }

    /// What the speaker can do, one thing after the other.
    fn is_ability(&self) -> bool {
        let mut parts = self.parts();
        let able = parts.next().is_some_and(|part| self.has("soft", part));
        able && !parts.any(|part| self.has_any(&["own", "again", "passive"], part))
    }

    fn is_question(&self) -> bool {
        let text = self.text.trim_end_matches([' ', ')', '»', '"', '”']);
        text.ends_with('?')
    }

    /// A condition about what the user wants, and that the user is asked before anything is done.
    fn is_of_the_user(&self) -> bool {
        self.has_any(&["wish", "asks"], &self.text) || self.has("wanted", &self.written)
    }

    /// That a thing is there already is why it was not made, where the call said so.
    fn repeats_an_error(&self, evidence: &[Evidence]) -> bool {
        let mut failed = evidence.iter().filter(|call| call.changes && !call.is_ok());
        let mut own = self.parts().filter(|part| self.has("own", part));
        self.has("any", &self.text)
            && !self.has("promise", &self.text)
            && own.all(|part| self.has_any(&["untouched", "denied"], part))
            && failed.any(|call| Words::in_any("exists", call.error()))
    }

    fn promises(&self, evidence: &[Evidence]) -> bool {
        let parts: Vec<&str> = self.parts().collect();
        if !self.has("denied", &self.text) && self.has("likely", &self.text) {
            let changed = evidence.iter().any(|call| call.changes && call.is_ok());
            return !changed || !self.has("cond", &self.text);
        }
        let joined = |part: &str| {
            self.words
                .iter()
                .any(|words| self.has("promise", &format!("{}{part}", words.join().trim_start())))
        };
        let mut at = 0;
        let promise = |part: &&str| {
            at += 1;
            let told = self.has("promise", part) || at > 1 && joined(part);
            told && !self.has_any(&["unreal", "soft", "denied"], part)
        };
        if parts.iter().any(promise) {
            return true;
        }
        // Some forms reach over a comma.
        let plain = |part: &&str| !self.has_any(&["soft", "denied"], part);
        let whole = parts.iter().all(plain) && !self.has("unreal", &self.text);
        if whole && self.has("promise", &self.text) {
            return true;
        }
        let denied = self.has("denied", &self.text);
        let changed = evidence.iter().any(|call| call.changes && call.is_ok());
        // What a result shows at work is nobody's promise.
        if !self.has_any(&["own", "to_you"], &self.text) && self.is_under_way(evidence) {
            return false;
        }
        if !denied && !changed && self.has("ongoing", &self.text) {
            return true;
        }
        let known = evidence.iter().any(Evidence::is_ok);
        !denied
            && self.has("coming", &self.text)
            && !(known && self.has("dated", &self.text))
            && !self.has_any(&["modal", "yours"], &self.text)
            && !self.is_seen(&self.text, evidence)
    }

    /// No look succeeded that the sentence could be about. None: one did, or none was made.
    fn without_a_look(&self, evidence: &[Evidence]) -> Option<()> {
        let (good, bad): (Vec<&Evidence>, Vec<&Evidence>) = (evidence.iter())
            .filter(|call| !call.changes)
            .partition(|call| call.is_ok());
        if bad.is_empty() {
            return None;
        }
        if good.is_empty() {
            return (!evidence.iter().any(Evidence::is_ok)).then_some(());
        }
        if self.has("both", &self.text) && Words::nouns(&self.text).is_empty() {
            return Some(());
        }
        let about = |calls: &[&Evidence]| {
            calls.iter().any(|call| {
                let tool = super::does::words_of(&call.tool);
                let system = tool.split_whitespace().next();
                self.shares(&self.text, call)
                    || system.is_some_and(|system| self.text.contains(system))
            })
        };
        (about(&bad) && !about(&good)).then_some(())
    }

    /// What was found, or that nothing was, while no look succeeded.
    fn read_without_an_answer(&self, evidence: &[Evidence]) -> Option<Label> {
        self.without_a_look(evidence)?;
        let text = &self.text;
        let told = self.has_any(&["cites", "says"], text);
        let open = self.has_any(&["modal", "yours"], text) && !told;
        if open || self.has_any(&["failure", "unsure", "undone"], text) {
            return Some(Label::Fine);
        }
        let mut errors = evidence
            .iter()
            .filter(|call| !call.is_ok())
            .map(Evidence::error);
        let tells = self.has_any(&["nothing", "none", "reading"], text);
        // That there is no such thing is what the call said.
        if tells && errors.any(|error| Words::in_any("absent", error)) {
            return Some(Label::Fine);
        }
        // "The page does not say so" tells what nobody has read.
        let denied = self.has("denied", text);
        let of_a_thing = !self.has("own", text) && !Words::nouns(text).is_empty();
        (tells || !denied || of_a_thing).then_some(Label::ContradictsFailure)
    }

    /// Whether a text and a tool speak of the same thing.
    pub fn shares(&self, text: &str, call: &Evidence) -> bool {
        super::acts::shares(&Words::nouns(text), call)
    }

    pub fn parts(&self) -> impl Iterator<Item = &str> {
        let text = self.text.as_str();
        let shared = ["; ", ", ", ": "];
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

    /// What a part names: quoted texts, ids and numbers, in lower case.
    pub fn names(&self, part: &str) -> Vec<String> {
        let mut names = match part.contains('…') {
            true => super::quoted(&self.whole),
            false => Vec::new(),
        };
        let words = part.split(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '.' | '_'));
        let named = words.map(|word| word.trim_matches(['.', '-']));
        let named =
            named.filter(|word| word.contains(|c: char| c.is_ascii_digit()) && word.len() > 1);
        names.extend(named.map(str::to_owned));
        names.iter().map(|name| name.to_lowercase()).collect()
    }

    /// Whether a colon stands right behind the part: what follows is what somebody wrote.
    pub fn is_before_a_colon(&self, part: &str) -> bool {
        let at = self.text.find(part).map(|at| at + part.len());
        at.and_then(|at| self.text.get(at..))
            .is_some_and(|rest| rest.starts_with(':'))
    }
}
