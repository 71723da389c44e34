//! Canonical JSON and sha-256: one way to turn a value into a hash, for chains of records and for checksums.

use serde_json::Value;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::ops::Range;

/// Lower-case hex of the sha-256.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |n: u8| {
        DIGITS
            .get(usize::from(n & 15))
            .map_or('0', |d| char::from(*d))
    };
    bytes
        .iter()
        .flat_map(|b| [digit(b >> 4), digit(*b)])
        .collect()
}

/// JSON without spaces and with every object's keys sorted by their bytes: the same value always gives the same text.
pub fn canonical(value: &Value) -> String {
    sorted(&value.to_string())
}

/// The same, of a value that `serde_json` wrote without spaces.
pub fn sorted(json: &str) -> String {
    let mut sorter = Sorter {
        json,
        at: 0,
        copied: 0,
        out: String::with_capacity(json.len()),
        members: Vec::new(),
    };
    sorter.value();
    sorter.copy();
    sorter.out
}

/// Goes through a text, and puts the members of each object in order as soon as it ends. What needs no order is copied in one
/// piece with what follows it.
struct Sorter<'j> {
    json: &'j str,
    at: usize,
    /// How much of the text is in `out`.
    copied: usize,
    out: String,
    /// Of the objects that are open: what the key says, and where key and value will stand in `out`.
    members: Vec<(Cow<'j, str>, Range<usize>)>,
}

impl<'j> Sorter<'j> {
    fn value(&mut self) {
        match self.next() {
            Some(b'{') => self.object(),
            Some(b'[') => {
                self.at += 1;
                while !matches!(self.next(), Some(b']' | b'}') | None) {
                    self.value();
                    self.comma();
                }
                self.at += 1;
            }
            Some(b'"') => {
                self.quoted();
            }
            _ => {
                let rest = self.rest();
                let end = rest.iter().position(|b| matches!(b, b',' | b']' | b'}'));
                self.at += end.unwrap_or(rest.len());
            }
        }
    }

    fn object(&mut self) {
        self.at += 1;
        let (first, start) = (self.members.len(), self.place());
        while !matches!(self.next(), Some(b'}') | None) {
            let begins = self.place();
            let (key, escaped) = self.quoted();
            self.at += 1; // the colon
            self.value();
            self.members
                .push((plain(key, escaped), begins..self.place()));
            self.comma();
        }
        let members = self.members.get(first..).unwrap_or_default();
        if !members.is_sorted_by(|(a, _), (b, _)| a <= b) {
            self.copy();
            self.put_in_order(first, start);
        }
        self.members.truncate(first);
        self.at += 1;
    }

    /// The members from `first` on, which stand in `out` from `start` to the end.
    fn put_in_order(&mut self, first: usize, start: usize) {
        let members = self.members.get_mut(first..).unwrap_or_default();
        members.sort_by(|(a, _), (b, _)| a.cmp(b));
        let end = self.out.len();
        for (_, place) in members.iter() {
            if self.out.len() > end {
                self.out.push(',');
            }
            self.out.extend_from_within(place.clone());
        }
        self.out.drain(start..end);
    }

    /// Where in `out` that will stand which is read next.
    fn place(&self) -> usize {
        self.out.len() + self.at - self.copied
    }

    /// All that was read.
    fn copy(&mut self) {
        let read = self.json.get(self.copied..self.at);
        self.out.push_str(read.unwrap_or_default());
        self.copied = self.at;
    }

    fn comma(&mut self) {
        if self.next() == Some(b',') {
            self.at += 1;
        }
    }

    fn rest(&self) -> &'j [u8] {
        self.json.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn next(&self) -> Option<u8> {
        self.json.as_bytes().get(self.at).copied()
    }

    /// The text that begins here, with its quotes, and whether something in it is escaped.
    fn quoted(&mut self) -> (&'j str, bool) {
        let rest = self.rest();
        let (mut end, mut escaped) = (1, false);
        while let Some(found) =
            (rest.get(end..)).and_then(|tail| memchr::memchr2(b'"', b'\\', tail))
        {
            end += found + 1;
            if rest.get(end - 1) == Some(&b'"') {
                break;
            }
            escaped = true;
            end += 1; // what is escaped
        }
        let quoted = self.json.get(self.at..self.at + end).unwrap_or_default();
        self.at += end;
        (quoted, escaped)
    }
}

/// A key without its quotes, and what it says where something in it is escaped.
fn plain(quoted: &str, escaped: bool) -> Cow<'_, str> {
    if escaped {
        return serde_json::from_str(quoted).map_or(Cow::Borrowed(quoted), Cow::Owned);
    }
    let bare = quoted.strip_prefix('"').and_then(|q| q.strip_suffix('"'));
    Cow::Borrowed(bare.unwrap_or(quoted))
}
