//! What a language's grammar says of tagged words: particles that stand apart from their verb, verbs of being where no other
//! verb follows, "ne … que" for "only".

use super::{Item, What, item_at};
use crate::lex::{Class, Lexicon, Sense};
use crate::spot::Kind;

/// Refines the tags of items that belong together over a distance.
pub(super) fn refined(mut items: Vec<Item>, language: &str) -> Vec<Item> {
    let lexicon = Lexicon::of(language);
    match language {
        "de" => particles(&mut items, lexicon),
        "en" => passives(&mut items, lexicon),
        "fr" => {
            only(&mut items);
            reflexive(&mut items);
        }
        _ => {}
    }
    if language != "en" {
        copulas(&mut items, lexicon);
    }
    sheets(&mut items);
    items
}

fn set(items: &mut [Item], at: usize, what: What) {
    if let Some(item) = items.get_mut(at) {
        item.what = what;
    }
}

fn word(class: &str) -> What {
    What::Word(Sense {
        class: Class::Function,
        concept: class.to_owned(),
        says: Vec::new(),
        form: String::new(),
        row: String::new(),
    })
}

/// Whether a clause may end before this item.
fn ends(item: Option<&Item>) -> bool {
    item.is_none_or(|i| {
        i.stops()
            || ["and", "or", "then", "if", "when", "else", "because"]
                .iter()
                .any(|c| i.is(c))
    })
}

/// "Lege … an": the verb is the one with the particle that stands at the end of the clause.
fn particles(items: &mut [Item], lexicon: &Lexicon) {
    const FURTHEST: usize = 30;
    for at in 0..items.len() {
        let Some(verb) = item_at(items, at).verb() else {
            continue;
        };
        if verb.form == "ing" || lexicon.senses(&item_at(items, at).text).len() < 2 {
            continue;
        }
        let whole = |p: &Item| {
            lexicon
                .senses(&item_at(items, at).text)
                .iter()
                .filter(|s| s.class == Class::Verb && !item_at(items, at).text.starts_with(&p.text))
                .find(|s| {
                    s.concept
                        .strip_prefix(p.text.as_str())
                        .is_some_and(|rest| rest.chars().count() > 3)
                })
                .cloned()
        };
        let reach = crate::cut::from(items, at + 1)
            .iter()
            .take(FURTHEST)
            .take_while(|i| i.shape() != Some(Kind::End));
        let found = reach
            .enumerate()
            .map(|(n, i)| (at + 1 + n, i))
            .find_map(|(n, i)| {
                let sense = whole(i).filter(|_| !i.text.is_empty() && ends(items.get(n + 1)))?;
                Some((n, sense))
            });
        if let Some((n, sense)) = found {
            set(items, at, What::Word(sense));
            set(items, n, word("filler"));
        }
    }
}

/// "Each issue gets posted to …": a verb of getting right before a participle that belongs to no noun helps it.
fn passives(items: &mut [Item], lexicon: &Lexicon) {
    for at in 0..items.len() {
        let helps = lexicon.can_be(&item_at(items, at).text, "passive");
        let done = item_at(items, at + 1)
            .verb()
            .is_some_and(|v| v.form == "past");
        let next = item_at(items, at + 2);
        let owned = next.noun().is_some() || next.service().is_some() || next.literal();
        if helps && done && !owned {
            set(items, at, word("aux"));
        }
    }
}

/// A helper that is also a verb of being or having is one where its clause has no other verb.
fn copulas(items: &mut [Item], lexicon: &Lexicon) {
    for at in 0..items.len() {
        if !item_at(items, at).is("aux") {
            continue;
        }
        let Some(sense) = lexicon
            .senses(&item_at(items, at).text)
            .iter()
            .find(|s| ["STATE", "EXIST", "GO"].iter().any(|f| s.calls(f)))
        else {
            continue;
        };
        let closes = |i: &&Item| !ends(Some(i)) && !i.is("aux");
        let after = crate::cut::from(items, at + 1)
            .iter()
            .take_while(closes)
            .any(|i| i.verb().is_some());
        let helped = at
            .checked_sub(1)
            .is_some_and(|b| item_at(items, b).verb().is_some() || item_at(items, b).is("aux"))
            || items.get(at + 1).is_some_and(|n| n.is("aux"));
        if !after && !helped {
            set(items, at, What::Word(sense.clone()));
        }
    }
}

/// "the Google file 'X'" of a request that speaks of rows or tabs is a spreadsheet.
fn sheets(items: &mut [Item]) {
    const SPEAKS: &[&str] = &["row", "tab", "column", "spreadsheet"];
    let tables = items.iter().any(|i| {
        i.noun()
            .is_some_and(|n| SPEAKS.contains(&n.concept.as_str()))
    });
    let Some(sheets) = crate::lexicon::service("googleSheets").filter(|_| tables) else {
        return;
    };
    for at in 0..items.len() {
        let file = |i: &Item| {
            i.noun().is_some_and(|n| {
                matches!(n.concept.as_str(), "file" | "spreadsheet" | "table" | "tab")
            })
        };
        let before = crate::cut::before(items, at)
            .iter()
            .rev()
            .find(|i| !i.is("prep") && !i.is("det"));
        let beside = before.is_some_and(file) || items.get(at + 1).is_some_and(file);
        if item_at(items, at).text == "google" && item_at(items, at).what == What::Unknown && beside
        {
            set(items, at, What::Service(sheets));
        }
    }
}

/// "s'" is "if" before "il" alone; elsewhere it belongs to a verb.
fn reflexive(items: &mut [Item]) {
    for at in 0..items.len() {
        let himself = items
            .get(at + 1)
            .is_none_or(|n| !matches!(n.text.as_str(), "il" | "ils"));
        if item_at(items, at).text == "s'" && item_at(items, at).is("if") && himself {
            set(items, at, word("pronoun"));
        }
    }
}

/// "n'envoie que les factures": only the invoices.
fn only(items: &mut [Item]) {
    const FURTHEST: usize = 6;
    for at in 0..items.len() {
        if !matches!(item_at(items, at).text.as_str(), "ne" | "n'") {
            continue;
        }
        let rest = items.iter().enumerate().skip(at + 1).take(FURTHEST);
        let found = rest
            .take_while(|(_, i)| !i.stops() && !i.is("neg"))
            .find(|(_, i)| matches!(i.text.as_str(), "que" | "qu'"))
            .map(|(n, _)| n);
        if let Some(n) = found {
            set(items, at, word("filler"));
            set(items, n, word("only"));
        }
    }
}
