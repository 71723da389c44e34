//! Names in a sentence, and the slot that each fills: behind which preposition, beside which role, of which deed.

use crate::text::{Kind, Token};
use crate::values::Value;
use crate::words::{is_small, is_title, month, sense};

/// What a name is said to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Slot {
    /// Behind this preposition; `at` and `near` count as `in`.
    Behind(&'static str),
    /// The one that has this role.
    Role(String),
    /// The one who does this: before the verb, or behind `by` after it.
    Does(String),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Name {
    /// In lower case.
    pub words: Vec<String>,
    pub from: usize,
    pub to: usize,
    pub slots: Vec<Slot>,
}

impl Slot {
    /// The role or the deed.
    pub fn word(&self) -> Option<&String> {
        match self {
            Slot::Role(word) | Slot::Does(word) => Some(word),
            Slot::Behind(_) => None,
        }
    }

    /// Whether the two are one place: who founded it is its founder.
    pub fn is_one(&self, other: &Slot) -> bool {
        let does = |role: &str, deed: &str| {
            let agent = role.strip_suffix("er").or_else(|| role.strip_suffix("or"));
            let like = |agent: &str| agent.get(..2) == deed.get(..2) && sense(agent) == deed;
            role == deed || agent.is_some_and(like)
        };
        match (self, other) {
            (Slot::Role(role), Slot::Does(deed)) | (Slot::Does(deed), Slot::Role(role)) => {
                does(role, deed)
            }
            (a, b) => a == b,
        }
    }
}

impl Name {
    pub fn place(&self) -> crate::facts::Place {
        crate::facts::Place {
            from: self.from,
            to: self.to,
        }
    }

    /// Whether the two may be one name: they have a word in common.
    pub fn may_be(&self, other: &Name) -> bool {
        self.words.iter().any(|word| other.words.contains(word))
    }
}

pub(crate) fn names(tokens: &[Token], values: &[Value]) -> Vec<Name> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let to = end(tokens, values, at);
        if to == at {
            at += 1;
            continue;
        }
        let from = at;
        at = to;
        // A single capital at the beginning tells nothing; a role or an article there belongs to no name.
        let begins = from == 0
            || tokens
                .get(from - 1)
                .is_some_and(|t| matches!(t.fold.as_str(), "\"" | "“" | ":"));
        let from = if begins && to - from > 2 {
            from + 1
        } else {
            from
        };
        if begins && to - from < 2 {
            continue;
        }
        let words = tokens
            .get(from..to)
            .unwrap_or_default()
            .iter()
            .map(|t| t.fold.trim_end_matches("'s").to_owned());
        let words: Vec<String> = words.collect();
        // How somebody is addressed makes no two people one.
        let called: Vec<String> = words
            .iter()
            .filter(|word| !is_title(word))
            .cloned()
            .collect();
        let words = if called.is_empty() { words } else { called };
        found.push(Name {
            slots: slots(tokens, from, to),
            words,
            from,
            to,
        });
    }
    found
}

/// Behind the last word of a name that begins here.
fn end(tokens: &[Token], values: &[Value], at: usize) -> usize {
    let mut to = at;
    while let Some(token) = tokens.get(to) {
        let valued = values.iter().any(|v| (v.from..v.to).contains(&to));
        let named = token.kind == Kind::Word
            && token.capital
            && !valued
            && month(&token.fold).is_none()
            && !is_weekday(&token.fold);
        if !named || is_small(&token.fold) {
            break;
        }
        to += 1;
    }
    to
}

fn is_weekday(word: &str) -> bool {
    matches!(
        word,
        "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | "sunday"
    )
}

fn slots(tokens: &[Token], from: usize, to: usize) -> Vec<Slot> {
    let fold = |at: Option<usize>| {
        at.and_then(|at| tokens.get(at))
            .map_or("", |t| t.fold.as_str())
    };
    let mut slots = Vec::new();
    let before = from.checked_sub(1);
    let before = if fold(before) == "the" {
        from.checked_sub(2)
    } else {
        before
    };
    match fold(before) {
        "by" => slots.extend(by(tokens, before.unwrap_or_default())),
        "from" => slots.push(Slot::Behind("from")),
        "in" | "at" | "near" => slots.push(Slot::Behind("in")),
        "to" | "towards" => slots.push(Slot::Behind("to")),
        "after" => slots.push(Slot::Behind("after")),
        "is" | "was" => slots.extend(is(tokens, before.unwrap_or_default())),
        "," | ":" => slots.extend(role_before(tokens, before.unwrap_or_default())),
        _ => {
            let role = before.and_then(|at| tokens.get(at)).filter(|t| content(t));
            slots.extend(role.map(|t| Slot::Role(sense(&t.stem))));
            // `drawn by the architect NAME`, `its founder was the teacher NAME`
            let further = before.and_then(|at| at.checked_sub(1));
            let further = match fold(further) {
                "the" | "a" | "an" => further.and_then(|at| at.checked_sub(1)),
                _ => further,
            };
            match fold(further) {
                "by" => slots.extend(by(tokens, further.unwrap_or_default())),
                "is" | "was" => slots.extend(is(tokens, further.unwrap_or_default())),
                _ => {}
            }
        }
    }
    slots.extend(behind(tokens, to));
    slots
}

/// Whose deed it is, behind a `by`.
fn by(tokens: &[Token], at: usize) -> impl Iterator<Item = Slot> {
    let before = tokens.get(..at).unwrap_or_default().iter().rev();
    let deed = before.take(3).find(|t| content(t));
    let does = deed.map(|t| Slot::Does(sense(&t.stem)));
    [Slot::Behind("by")].into_iter().chain(does)
}

/// `its director is NAME`
fn is(tokens: &[Token], at: usize) -> Option<Slot> {
    let before = tokens.get(..at)?;
    // `The architect, they told us, was NAME`
    let before = match before.split_last() {
        Some((comma, rest)) if comma.fold == "," => {
            let other = rest.iter().rposition(|t| t.kind == Kind::Mark)?;
            rest.get(..other)?
        }
        _ => before,
    };
    let mut words = before.iter().rev().take_while(|t| t.kind == Kind::Word);
    let role = words.find(|t| content(t))?;
    Some(Slot::Role(sense(&role.stem)))
}

fn content(token: &Token) -> bool {
    token.kind == Kind::Word && !is_small(&token.fold)
}

/// `the director of the line, NAME`, `Director: NAME`: the word before `of`, else the last one.
fn role_before(tokens: &[Token], comma: usize) -> Option<Slot> {
    let part = tokens.get(..comma)?;
    let begins = part
        .iter()
        .rposition(|t| t.kind == Kind::Mark)
        .map_or(0, |at| at + 1);
    let part = part.get(begins..)?;
    let of = part
        .iter()
        .position(|t| t.fold == "of")
        .unwrap_or(part.len());
    let role = part.get(..of)?.iter().rev().find(|t| content(t))?;
    Some(Slot::Role(sense(&role.stem)))
}

/// `NAME is the director`, `NAME, director of`, `NAME designed`.
fn behind(tokens: &[Token], to: usize) -> Option<Slot> {
    let fold = |at: usize| tokens.get(at).map_or("", |t| t.fold.as_str());
    let article = |at: usize| at + usize::from(matches!(fold(at), "the" | "a" | "an"));
    if matches!(fold(to), "is" | "was" | "," | "as" | "became") {
        let at = article(to + 1);
        let is_role = at > to + 1 || fold(to) == ",";
        // `the new director`: the last of the words.
        let run = tokens
            .get(at..)?
            .iter()
            .take(3)
            .take_while(|t| content(t) && !t.capital);
        let role = run.last().filter(|_| is_role)?;
        return Some(Slot::Role(sense(&role.stem)));
    }
    let deed = tokens.get(to).filter(|t| content(t) && !t.capital)?;
    Some(Slot::Does(sense(&deed.stem)))
}
