//! What makes one text of another: pieces of the old one, and what is new. For long texts in which little changes. Pure.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A piece of the new text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Piece {
    /// Where it stands in the old text, and how long it is, in bytes.
    Old([usize; 2]),
    New(String),
}

/// Shorter pieces of the old text are said as new: naming them costs as much.
const LEAST: usize = 48;

/// The pieces that the new text is made of, in order. Lines that stand once in the old text find what was moved.
pub fn pieces(old: &str, new: &str) -> Vec<Piece> {
    let head = same_start(old, new);
    let (old_rest, new_rest) = (rest(old, head), rest(new, head));
    let tail = same_end(old_rest, new_rest);
    let inner = new_rest.get(..new_rest.len() - tail).unwrap_or_default();
    let mut made = Pieces::default();
    made.old(0, head, old);
    middle(old, inner, &mut made);
    made.old(old.len() - tail, tail, old);
    made.all
}

/// The new text; None: the pieces are not of this old text, or make one of more than `most` bytes.
pub fn patched(old: &str, pieces: &[Piece], most: usize) -> Option<String> {
    let mut text = String::new();
    for piece in pieces {
        let piece = match piece {
            Piece::Old([at, length]) => old.get(*at..at.checked_add(*length)?)?,
            Piece::New(new) => new,
        };
        if piece.len() > most.saturating_sub(text.len()) {
            return None;
        }
        text.push_str(piece);
    }
    Some(text)
}

#[derive(Default)]
struct Pieces {
    all: Vec<Piece>,
}

impl Pieces {
    fn old(&mut self, at: usize, length: usize, text: &str) {
        if length >= LEAST {
            self.all.push(Piece::Old([at, length]));
        } else {
            self.fresh(text.get(at..at + length).unwrap_or_default());
        }
    }

    fn fresh(&mut self, text: &str) {
        match self.all.last_mut() {
            _ if text.is_empty() => {}
            Some(Piece::New(before)) => before.push_str(text),
            _ => self.all.push(Piece::New(text.to_owned())),
        }
    }
}

fn middle(old: &str, new: &str, made: &mut Pieces) {
    if new.len() < LEAST {
        made.fresh(new);
        return;
    }
    let once = lines_once(old);
    let (mut at, mut said) = (0, 0);
    while let Some(line) = rest(new, at).split_inclusive('\n').next() {
        let Some(Some(found)) = once.get(line) else {
            at += line.len();
            continue;
        };
        // What stands before it may be the same too, as far as it was not said yet.
        let back = same_end(
            old.get(..*found).unwrap_or_default(),
            new.get(said..at).unwrap_or_default(),
        );
        let ahead = same_start(rest(old, *found), rest(new, at));
        if back + ahead < LEAST {
            at += line.len();
            continue;
        }
        made.fresh(new.get(said..at - back).unwrap_or_default());
        made.old(found - back, back + ahead, old);
        at += ahead;
        said = at;
    }
    made.fresh(rest(new, said));
}

/// Lines that stand once in a text, and where; None: more than once.
fn lines_once(text: &str) -> HashMap<&str, Option<usize>> {
    let mut once = HashMap::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        once.entry(line)
            .and_modify(|place| *place = None)
            .or_insert(Some(at));
        at += line.len();
    }
    once
}

fn rest(text: &str, at: usize) -> &str {
    text.get(at..).unwrap_or_default()
}

/// Bytes that two texts have in common at their start, up to a whole character of both.
fn same_start(a: &str, b: &str) -> usize {
    let same = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y);
    let mut count = same.count();
    while !(a.is_char_boundary(count) && b.is_char_boundary(count)) {
        count -= 1;
    }
    count
}

fn same_end(a: &str, b: &str) -> usize {
    let same = a.bytes().rev().zip(b.bytes().rev());
    let mut count = same.take_while(|(x, y)| x == y).count();
    while !(a.is_char_boundary(a.len() - count) && b.is_char_boundary(b.len() - count)) {
        count -= 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn numbered(count: usize) -> Vec<String> {
        (0..count)
            .map(|i| format!("line {i} of a text\n"))
            .collect()
    }

    proptest! {
        #[test]
        fn the_pieces_make_the_new_text(
            old in "([ab€\n]{0,9}|line [0-9] of a text that is long enough to be found again\n){0,40}",
            new in "([ab€\n]{0,9}|line [0-9] of a text that is long enough to be found again\n){0,40}",
        ) {
            prop_assert_eq!(patched(&old, &pieces(&old, &new), 1 << 20), Some(new.clone()));
            prop_assert_eq!(patched(&old, &pieces(&old, &old), 1 << 20), Some(old));
        }
    }

    #[test]
    fn little_that_changed_is_little() {
        let old = numbered(20_000);
        let mut new = old.clone();
        new[100] = "another line\n".to_owned();
        let moved = new.remove(15_000);
        new.insert(3, moved);
        new.push("one more\n".to_owned());
        let (old, new) = (old.concat(), new.concat());
        let made = pieces(&old, &new);
        assert_eq!(patched(&old, &made, 1 << 20), Some(new));
        assert!(
            serde_json::to_string(&made).unwrap().len() < 400,
            "{made:?}"
        );
        assert_eq!(patched("short", &made, 1 << 20), None);
        assert_eq!(patched("x", &[Piece::Old([1, usize::MAX])], 1 << 20), None);
        // A few words that would fill the memory.
        let again = vec![Piece::Old([0, 5]); 3];
        assert_eq!(patched("short", &again, 15), Some("short".repeat(3)));
        assert_eq!(patched("short", &again, 14), None);
    }
}
