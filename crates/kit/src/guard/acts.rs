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
        // What was to go and did not is as it was. The other parts tell for themselves.
        let kept = self.is_of_removals(evidence) && !self.has("own", &self.text);
        let is_kept = |part: &str| kept && self.has("unchanged", part);
        let mut worst = Label::Fine;
        let mut unanswered = false;
        for part in &parts {
            // "No answer, that it was sent": what nobody confirmed is not told as done.
            let behind = std::mem::replace(&mut unanswered, self.has("unanswered", part));
            // Why something did not work is nothing that was done.
            if denied && self.has("cause", part)
                || behind && self.has("subordinate", part)
                || is_kept(part)
            {
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
        let passed = |part: &&str| self.passes_over(part, evidence);
        let is_over = !parts.iter().any(|part| is_kept(part)) && parts.iter().any(passed);
        match worst {
            Label::Fine if is_over => Label::ContradictsFailure,
            worst => worst,
        }
    }

    fn act(&self, part: &str, evidence: &[Evidence]) -> Label {
        const OPEN: [&str; 6] = ["theirs", "denied", "unreal", "cond", "untouched", "perhaps"];
        if self.has_any(&OPEN, part) {
            return Label::Fine;
        }
        if self.has("both", part)
            && !self.has("failure", part)
            && self.is_not_of_all(part, evidence)
        {
            return Label::ContradictsFailure;
        }
        if self.has_any(&["permit", "wished"], part) {
            return of_any_verb(part, evidence, true);
        }
        // Spoken of as settled, while no change succeeded and one did not.
        let changes = || evidence.iter().filter(|call| call.changes);
        let undone = changes().next().is_some() && !self.is_of_removals(evidence);
        if self.has("stands", part) && undone && !changes().any(Evidence::is_ok) {
            return Label::ContradictsFailure;
        }
        let again = self.has("again", part);
        if !again && self.has_any(&["modal", "yours"], part) {
            return Label::Fine;
        }
        let own = self.has("own", part);
        let read = evidence.iter().any(Evidence::has_read);
        if !own && self.has_any(&["failure", "general"], part) {
            return Label::Fine;
        }
        let is_told = read && self.has("reported", &self.text);
        if !own && !is_told && self.has("informed", part) {
            return self.is_sent(part, evidence);
        }
        let changing = evidence.iter().any(|call| call.changes);
        if read && !own && !changing {
            let assigns = self
                .told(part)
                .iter()
                .any(|class| !class.is_any() && class.is_tool("assign"));
            if self.is_otherwise(part, evidence)
                || self.is_joined_otherwise(part, evidence)
                || assigns && self.is_anothers(part, evidence)
            {
                return Label::UnsupportedAct;
            }
            let named = self.names_a_thing(part, evidence);
            if self.is_seen(part, evidence) && (named || !self.has("again", part)) {
                return Label::Fine;
            }
        }
        if read && !own && is_by_another(self, part, evidence) {
            return Label::Fine;
        }
        if self.has("newly", part) {
            return of_any_verb(part, evidence, true);
        }
        let told = self.of_verbs(part, evidence);
        if told != Label::Fine {
            return told;
        }
        let others = self.has("reported", &self.text) || is_named(self, part, evidence);
        let found = self.has("reading", &self.text);
        if read && !own && !found && !changing && !others && self.has("is", part) {
            let classes = self.told(part);
            let is_shown = self.has("shown", part) || self.is_shown(part, &classes, evidence);
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
        let by = self.has("reported", &self.text)
            || is_of_result(part, evidence) && !self.has("suffered", part);
        if !own && read && by {
            return Label::Fine;
        }
        if classes.is_empty() && !state {
            let suffered = self.has("suffered", part);
            let other = short || suffered || self.has("acting", part);
            if suffered && !own && read && !evidence.iter().any(|call| call.changes) {
                return match self.is_told_by_a_look(part, evidence) {
                    true => Label::Fine,
                    false => Label::UnsupportedAct,
                };
            }
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
        let all = classes.is_empty() || classes.iter().all(|class| class.is_any());
        let about: Vec<&Evidence> = (evidence.iter())
            .filter(|call| call.changes)
            .filter(|call| all || is_about(call, &classes, part))
            .collect();
        let failed = about.iter().any(|call| !call.is_ok());
        let ok = about.iter().any(|call| call.is_ok());
        match (ok, failed) {
            (true, true) if all && !names_one(part, &about) => Label::ContradictsFailure,
            (true, _) => Label::Fine,
            (false, true) => Label::ContradictsFailure,
            // How things are, as a result shows them.
            (false, false)
                if !own
                    && read
                    && !self.has("again", part)
                    && (self.has("is", part) && !self.has("news", part)
                        || self.is_shown(part, &classes, evidence)) =>
            {
                match classes.is_empty()
                    || self.has("shown", part)
                    || self.is_shown(part, &classes, evidence)
                {
                    true => Label::Fine,
                    false => Label::UnsupportedAct,
                }
            }
            (false, false) => Label::UnsupportedAct,
        }
    }

    /// What looks showed of the things that a part names, in lower case; of all where it names none of them.
    fn seen(&self, part: &str, evidence: &[Evidence]) -> Vec<String> {
        let looks = evidence.iter().filter(|call| call.has_read());
        let names = match self.names(part) {
            // "MR 41 is approved and merged": what a bare verb tells is told of what was named before.
            own if own.is_empty() && part.split_whitespace().count() < 3 => self.names(&self.text),
            own => own,
        };
        let mut seen = Vec::new();
        for call in looks {
            let mut all = Vec::new();
            objects(&call.result, &mut all);
            let named = |object: &&Object| object.is_named(part, &names);
            let of_those: Vec<String> = (all.iter().filter(named))
                .map(|object| object.text.clone())
                .collect();
            match of_those.is_empty() {
                true => seen.push(call.result.to_string().to_lowercase()),
                false => seen.extend(of_those),
            }
        }
        seen
    }

    /// Of calls for what the part speaks of some succeeded and some did not.
    fn is_not_of_all(&self, part: &str, evidence: &[Evidence]) -> bool {
        let nouns = Words::nouns(part);
        let of = |call: &&Evidence| call.changes && (nouns.is_empty() || shares(&nouns, call));
        let (ok, failed): (Vec<&Evidence>, Vec<&Evidence>) =
            evidence.iter().filter(of).partition(|call| call.is_ok());
        !ok.is_empty() && !failed.is_empty()
    }

    /// Who is responsible for a thing is somebody else than a look showed.
    fn is_anothers(&self, part: &str, evidence: &[Evidence]) -> bool {
        let looks = evidence.iter().filter(|call| call.has_read());
        let names = self.names(part);
        let mut found = Vec::new();
        looks.for_each(|call| objects(&call.result, &mut found));
        found.retain(|object| object.is_named(part, &names));
        let owners: Vec<&String> = found.iter().flat_map(|object| &object.owners).collect();
        let named =
            |owner: &&String| lettered(owner).any(|name| lettered(part).any(|word| word == name));
        !owners.is_empty() && !owners.iter().any(named)
    }

    /// A thing and somebody are named together whom no look showed together.
    fn is_joined_otherwise(&self, part: &str, evidence: &[Evidence]) -> bool {
        let looks = evidence.iter().filter(|call| call.has_read());
        let names = self.names(part);
        let mut found = Vec::new();
        looks.for_each(|call| objects(&call.result, &mut found));
        let of = |object: &&Object| object.is_named(part, &names);
        let things: Vec<&Object> = found.iter().filter(of).collect();
        let people = found.iter().flat_map(|object| &object.people);
        let mut named = people.filter(|name| lettered(part).any(|word| word == name.as_str()));
        !things.is_empty()
            && named.any(|name| {
                !things
                    .iter()
                    .any(|thing| thing.text.contains(name.as_str()))
            })
    }

    /// A look's result has a word of the part that no noun of the tables is.
    fn is_told_by_a_look(&self, part: &str, evidence: &[Evidence]) -> bool {
        if evidence.iter().any(Evidence::is_untold) {
            return true;
        }
        let seen = self.seen(part, evidence);
        let mut words = lettered(part).filter(|word| {
            let verb = word.ends_with("ed") || word.ends_with("en") || word.ends_with('t');
            let romance = word.ends_with(['é', 'o', 'a']) || word.ends_with("ée");
            word.chars().count() > 5 && (verb || romance) && Words::nouns(word).is_empty()
        });
        words.any(|word| {
            let stem: String = word.chars().take(5).collect();
            seen.iter().any(|of| of.contains(&stem))
        })
    }

    pub(super) fn is_shown(&self, part: &str, classes: &[&Class], evidence: &[Evidence]) -> bool {
        if evidence.iter().any(Evidence::is_untold) {
            return classes.iter().any(|class| class.can_be_shown());
        }
        let seen = self.seen(part, evidence);
        let mut shown = classes.iter();
        shown.any(|class| seen.iter().any(|of| class.is_shown(of)))
    }

    /// A state that is told is not the one that a look showed.
    fn is_otherwise(&self, part: &str, evidence: &[Evidence]) -> bool {
        let seen = self.seen(part, evidence);
        if self.has("both", part) {
            let mut found = Vec::new();
            let looks = evidence.iter().filter(|call| call.has_read());
            looks.for_each(|call| objects(&call.result, &mut found));
            return found
                .iter()
                .any(|object| Words::is_otherwise(part, &object.text));
        }
        !seen.is_empty() && seen.iter().all(|of| Words::is_otherwise(part, of))
    }

    fn names_a_thing(&self, part: &str, evidence: &[Evidence]) -> bool {
        let names = self.names(part);
        let mut found = Vec::new();
        let looks = evidence.iter().filter(|call| call.has_read());
        looks.for_each(|call| objects(&call.result, &mut found));
        found.iter().any(|object| object.is_named(part, &names))
    }

    /// A look showed something that is being worked on.
    pub fn is_under_way(&self, evidence: &[Evidence]) -> bool {
        let mut looks = evidence.iter().filter(|call| call.has_read());
        looks.any(|call| Words::in_any("working", &call.result.to_string().to_lowercase()))
    }

    /// A state that is told is the one that a look showed.
    pub fn is_seen(&self, part: &str, evidence: &[Evidence]) -> bool {
        let seen = self.seen(part, evidence);
        seen.iter().any(|of| Words::is_so(part, of))
    }

    /// No call changed anything, and each that was to would have taken away or moved a thing.
    fn is_of_removals(&self, evidence: &[Evidence]) -> bool {
        let away = ["delete", "move", "update"];
        let away: Vec<&Class> = away.iter().flat_map(|name| self.class(name)).collect();
        let mut changes = evidence.iter().filter(|call| call.changes).peekable();
        changes.peek().is_some()
            && changes.all(|call| !call.is_ok() && call.does_any(&away, &self.text))
    }

    /// That an act was not done, where nobody knows whether it was.
    pub fn denies_the_unknown(&self, evidence: &[Evidence]) -> bool {
        let mut changes = evidence.iter().filter(|call| call.changes).peekable();
        let known = ["unsure", "perhaps", "cond", "modal"];
        changes.peek().is_some()
            && changes.all(|call| call.became == super::Became::Unknown)
            && !self.has_any(&known, &self.text)
            && self.parts().any(|part| {
                let denied = self.has_any(&["denied", "none"], part);
                let is_of_it = denied && !self.has("unanswered", part);
                is_of_it && self.told(part).iter().any(|class| !class.is_any())
            })
    }

    /// It says how things are, of just what a call was to change that did not succeed.
    fn passes_over(&self, part: &str, evidence: &[Evidence]) -> bool {
        let (done, failed): (Vec<&Evidence>, Vec<&Evidence>) = (evidence.iter())
            .filter(|call| call.changes)
            .partition(|call| call.is_ok());
        let told = |kinds: &[&str]| self.has_any(kinds, &self.text);
        if failed.is_empty() || told(&["denied", "failure", "theirs", "perhaps"]) {
            return false;
        }
        let nouns = Words::nouns(part);
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
        if done.is_empty() && !read && !self.admitted && !told(&["unchanged", "any", "cause"]) {
            return true;
        }
        nouns.is_empty() && done.is_empty() && told(&["idiom", "success"])
    }
}

/// An object of a result.
struct Object {
    /// Without the objects of its lists, in lower case.
    text: String,
    /// By what it is named.
    titles: Vec<String>,
    /// Who stands in it by the id of a user: first names.
    people: Vec<String>,
    /// Who stands under a key for those who are responsible, in lower case.
    owners: Vec<String>,
}

impl Object {
    /// The part names it: by a title, or by one of these names.
    fn is_named(&self, part: &str, names: &[String]) -> bool {
        self.titles
            .iter()
            .any(|title| part.contains(title.as_str()))
            || names.iter().any(|name| self.text.contains(name.as_str()))
    }
}

fn objects(value: &Value, found: &mut Vec<Object>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| objects(item, found)),
        Value::Object(map) => {
            let (lists, own): (Vec<_>, Vec<_>) = (map.iter()).partition(|(_, of)| {
                of.as_array()
                    .is_some_and(|items| items.iter().any(Value::is_object))
            });
            let titles = own
                .iter()
                .filter(|(key, _)| matches!(key.as_str(), "name" | "title" | "summary"));
            let titles = titles
                .filter_map(|(_, of)| of.as_str())
                .map(str::to_lowercase);
            let titles = titles.filter(|title| title.chars().count() > 3).collect();
            let owners = own
                .iter()
                .filter(|(key, _)| Words::in_any("owner", &key.to_lowercase()));
            let owners = owners
                .map(|(_, of)| of.to_string().to_lowercase())
                .collect();
            let own: Value = (own.into_iter())
                .map(|(key, of)| (key.clone(), of.clone()))
                .collect();
            found.push(Object {
                text: own.to_string().to_lowercase(),
                titles,
                people: first_names(&own),
                owners,
            });
            lists.into_iter().for_each(|(_, of)| objects(of, found));
        }
        _ => {}
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
    let mut names = results.flat_map(|call| {
        let mut doers = Vec::new();
        doers_of("", &call.result, &mut doers);
        doers.extend(first_names(&call.result));
        doers
    });
    names.any(|name| {
        let mut places = part.match_indices(name.as_str());
        places.any(|(at, name)| {
            let (before, behind) = part.split_at_checked(at).unwrap_or((part, ""));
            let behind = behind.get(name.len()..).unwrap_or_default();
            let whole = !before.ends_with(char::is_alphanumeric)
                && !behind.starts_with(char::is_alphanumeric);
            let suffers = sentence.has("suffered", part) && !sentence.has("byone", before);
            whole && !suffers && !sentence.has("receiver", before)
        })
    })
}

/// Who stands under a key for those who do or did something ("created_by"), name by name in lower case: a few words, all written large.
fn doers_of(key: &str, value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| doers_of(key, item, found)),
        Value::Object(map) => map.iter().for_each(|(key, of)| doers_of(key, of, found)),
        Value::String(text) if Words::in_any("doer", &key.to_lowercase()) => {
            let large = |word: &str| word.starts_with(char::is_uppercase);
            let few = |name: &str| name.split_whitespace().count() <= 3;
            // "Anna Berg <anna@berg.example>, Ben Okoro"
            let names = text
                .split([',', ';', '<', '('])
                .filter(|name| few(name) && name.split_whitespace().all(large));
            found.extend(names.flat_map(lettered).map(str::to_lowercase));
        }
        _ => {}
    }
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

/// The part begins with somebody whom a result names, who so is who did it: "Ben left a comment".
fn is_of_result(part: &str, evidence: &[Evidence]) -> bool {
    let Some(name) = lettered(part).next() else {
        return false;
    };
    let is_small = [
        "the", "das", "der", "die", "les", "los", "las", "una", "une", "eine", "your", "ihre",
    ];
    let mut looks = evidence.iter().filter(|call| call.has_read());
    name.chars().count() > 1
        && !is_small.contains(&name)
        && Words::nouns(name).is_empty()
        && looks.any(|call| is_somebody(name, "", &call.result))
}

/// Whether a name in lower case is one of somebody in a value: written large in a text, or a part of an address or of a user's id. What
/// stands under a key for titles names things.
fn is_somebody(name: &str, key: &str, value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(|item| is_somebody(name, key, item)),
        Value::Object(map) => map.iter().any(|(key, of)| is_somebody(name, key, of)),
        Value::String(text) if !Words::in_any("titled", &key.to_lowercase()) => {
            let large = lettered(text).any(|word| word != name && word.to_lowercase() == name);
            let id = [format!("{name}."), format!("{name}@")];
            large || id.iter().any(|begin| text.starts_with(begin.as_str()))
        }
        _ => false,
    }
}

/// An act of a verb that no table has: any call may have done it that is for the same thing.
fn of_any_verb(part: &str, evidence: &[Evidence], own: bool) -> Label {
    let nouns = Words::nouns(part);
    let of_nothing = |call: &Evidence| nouns.is_empty() || call.nouns().is_empty();
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
    call.nouns().iter().any(|noun| nouns.contains(noun))
}

/// Whether the call is one that does what a part tells, to what it is told of.
fn is_about(call: &Evidence, classes: &[&Class], part: &str) -> bool {
    let nouns = Words::nouns(part);
    let of_tool = call.nouns();
    let disjoint = !nouns.is_empty()
        && !of_tool.is_empty()
        && !of_tool.iter().any(|noun| nouns.contains(noun));
    !disjoint && call.does_any(classes, part)
}
