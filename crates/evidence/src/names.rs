//! Names in a sentence, and the slot that each fills: behind which preposition, beside which role, of which deed.

use crate::text::{Kind, Token};
use crate::values::Value;
use crate::words::{is_small, month, sense};

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

impl Name {
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
        let named =
            token.kind == Kind::Word && token.capital && !valued && month(&token.fold).is_none();
        if !named || is_small(&token.fold) {
            break;
        }
        to += 1;
    }
    to
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
        "by" => {
            slots.push(Slot::Behind("by"));
            let deed = tokens
                .get(..before.unwrap_or_default())
                .and_then(|t| t.iter().rev().take(3).find(|t| content(t)));
            slots.extend(deed.map(|t| Slot::Does(sense(&t.stem))));
        }
        "from" => slots.push(Slot::Behind("from")),
        "in" | "at" | "near" => slots.push(Slot::Behind("in")),
        "to" | "towards" => slots.push(Slot::Behind("to")),
        "after" => slots.push(Slot::Behind("after")),
        // `its director is NAME`
        "is" | "was" => {
            let part = tokens.get(..before.unwrap_or_default()).unwrap_or_default();
            let role = part
                .iter()
                .rev()
                .take_while(|t| t.kind == Kind::Word)
                .find(|t| content(t));
            slots.extend(role.map(|t| Slot::Role(sense(&t.stem))));
        }
        "," => slots.extend(role_before(tokens, before.unwrap_or_default())),
        _ => {
            let role = before.and_then(|at| tokens.get(at)).filter(|t| content(t));
            slots.extend(role.map(|t| Slot::Role(sense(&t.stem))));
            // `drawn by the architect NAME`
            let further = before.and_then(|at| at.checked_sub(1));
            let further = if fold(further) == "the" {
                further.and_then(|at| at.checked_sub(1))
            } else {
                further
            };
            if fold(further) == "by" {
                slots.push(Slot::Behind("by"));
            }
        }
    }
    slots.extend(behind(tokens, to));
    slots
}

fn content(token: &Token) -> bool {
    token.kind == Kind::Word && !is_small(&token.fold)
}

/// `the director of the line, NAME`: the word before `of`, else the last one.
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
