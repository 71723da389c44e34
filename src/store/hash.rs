//! Canonical JSON and sha-256: one way to turn a value into a hash, for the journal's chain and for checksums.

use serde_json::Value;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::ops::Range;

/// Lower-case hex of the sha-256.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

pub(super) fn hex(bytes: &[u8]) -> String {
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
pub(super) fn sorted(json: &str) -> String {
    let mut sorter = Sorter {
        json,
        at: 0,
        out: String::with_capacity(json.len()),
        members: Vec::new(),
    };
    sorter.value();
    sorter.out
}

/// Copies a text, and puts the members of each object in order as soon as it ends.
struct Sorter<'j> {
    json: &'j str,
    at: usize,
    out: String,
    /// Of the objects that are open: the key between its quotes, and where key and value stand in `out`.
    members: Vec<(&'j str, Range<usize>)>,
}

impl<'j> Sorter<'j> {
    fn value(&mut self) {
        match self.next() {
            Some(b'{') => self.object(),
            Some(b'[') => {
                self.copy(1);
                while !matches!(self.next(), Some(b']' | b'}') | None) {
                    self.value();
                    self.comma();
                }
                self.copy(1);
            }
            Some(b'"') => {
                let length = self.text().len();
                self.copy(length);
            }
            _ => {
                let rest = self.rest();
                let end = rest.find([',', ']', '}']).unwrap_or(rest.len());
                self.copy(end);
            }
        }
    }

    fn object(&mut self) {
        self.copy(1);
        let (first, start) = (self.members.len(), self.out.len());
        while !matches!(self.next(), Some(b'}') | None) {
            let (key, begins) = (self.text(), self.out.len());
            self.copy(key.len() + 1); // with its colon
            self.value();
            self.members.push((key, begins..self.out.len()));
            self.comma();
        }
        let members = self.members.get_mut(first..).unwrap_or_default();
        if !members.is_sorted_by(|(a, _), (b, _)| plain(a) <= plain(b)) {
            members.sort_by(|(a, _), (b, _)| plain(a).cmp(&plain(b)));
            let mut ordered = String::with_capacity(self.out.len() - start);
            for (_, place) in members.iter() {
                if !ordered.is_empty() {
                    ordered.push(',');
                }
                ordered.push_str(self.out.get(place.clone()).unwrap_or_default());
            }
            self.out.truncate(start);
            self.out.push_str(&ordered);
        }
        self.members.truncate(first);
        self.copy(1);
    }

    fn comma(&mut self) {
        if self.next() == Some(b',') {
            self.copy(1);
        }
    }

    fn rest(&self) -> &'j str {
        self.json.get(self.at..).unwrap_or_default()
    }

    fn next(&self) -> Option<u8> {
        self.json.as_bytes().get(self.at).copied()
    }

    fn copy(&mut self, length: usize) {
        let end = self.json.len().min(self.at + length);
        self.out
            .push_str(self.json.get(self.at..end).unwrap_or_default());
        self.at = end;
    }

    /// The text that begins here, with its quotes.
    fn text(&self) -> &'j str {
        let rest = self.rest();
        let mut end = 1;
        while let Some(found) =
            (rest.as_bytes().get(end..)).and_then(|tail| memchr::memchr2(b'"', b'\\', tail))
        {
            end += found + 1;
            if rest.as_bytes().get(end - 1) == Some(&b'"') {
                break;
            }
            end += 1; // what is escaped
        }
        rest.get(..end).unwrap_or(rest)
    }
}

/// A key without its quotes, and what it says where something in it is escaped.
fn plain(quoted: &str) -> Cow<'_, str> {
    match quoted.contains('\\') {
        true => serde_json::from_str(quoted).unwrap_or(Cow::Borrowed(quoted)),
        false => Cow::Borrowed(quoted.trim_matches('"')),
    }
}

/// Hash of one journal record: each part ends with a newline, which no part can contain (the event is JSON). `event` is the text
/// that `serde_json` makes of it.
pub(super) fn chain(prev: &str, seq: u64, at: &str, event: &str) -> String {
    let mut hasher = Sha256::new();
    for part in [prev, &seq.to_string(), at, &sorted(event)] {
        hasher.update(part.as_bytes());
        hasher.update(b"\n");
    }
    hex(&hasher.finalize())
}
