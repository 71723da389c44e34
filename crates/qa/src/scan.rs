//! The smallest JSON scanner that knows where things stand: byte offsets of values and members in a text that a real
//! parser has taken already. On other text it stops early; it never panics and never recurses by itself.

use std::borrow::Cow;
use std::ops::Range;

/// Reads one JSON text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scanner<'a> {
    text: &'a str,
}

/// What a value is, from its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    Array,
    Scalar,
}

/// One entry of an object (with its key) or of an array (without).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// The key with its quotes.
    pub key: Option<Range<usize>>,
    pub value: Range<usize>,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Scanner { text }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    /// The first offset from `at` on that is no white space.
    pub(super) fn skip_space(&self, at: usize) -> usize {
        let rest = self.text.as_bytes().get(at..).unwrap_or_default();
        let blank = rest
            .iter()
            .take_while(|b| matches!(b, b' ' | b'\n' | b'\r' | b'\t'))
            .count();
        at + blank
    }

    pub(super) fn kind(&self, at: usize) -> Kind {
        match self.byte(at) {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            _ => Kind::Scalar,
        }
    }

    /// The end of the string that starts at `at`.
    fn string_end(&self, at: usize) -> usize {
        let mut at = at + 1;
        loop {
            let rest = self.text.as_bytes().get(at..).unwrap_or_default();
            match memchr::memchr2(b'"', b'\\', rest) {
                None => return self.text.len(),
                Some(n) if rest.get(n) == Some(&b'"') => return at + n + 1,
                Some(n) => at += n + 2, // the escaped character too
            }
        }
    }

    /// The end of the value that starts at `at`.
    pub(super) fn value_end(&self, at: usize) -> usize {
        match self.byte(at) {
            Some(b'"') => self.string_end(at),
            Some(b'{' | b'[') => {
                let mut depth = 0usize;
                let mut at = at;
                loop {
                    match self.byte(at) {
                        None => return self.text.len(),
                        Some(b'"') => {
                            at = self.string_end(at);
                            continue;
                        }
                        Some(b'{' | b'[') => depth += 1,
                        Some(b'}' | b']') => {
                            depth = depth.saturating_sub(1);
                            if depth == 0 {
                                return at + 1;
                            }
                        }
                        Some(_) => {}
                    }
                    at += 1;
                }
            }
            _ => {
                let rest = self.text.as_bytes().get(at..).unwrap_or_default();
                let ends =
                    |b: &u8| matches!(b, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t' | b':');
                at + rest.iter().position(ends).unwrap_or(rest.len())
            }
        }
    }

    /// The entries of the object or array that starts at `at`.
    pub(super) fn entries(&self, at: usize) -> Entries<'a> {
        let keyed = match self.kind(at) {
            Kind::Object => true,
            Kind::Array => false,
            Kind::Scalar => {
                return Entries {
                    scanner: *self,
                    next: None,
                    keyed: false,
                };
            }
        };
        Entries {
            scanner: *self,
            next: Some(at + 1),
            keyed,
        }
    }

    /// The text of a string with its quotes, unescaped.
    pub(super) fn unescaped(&self, quoted: &Range<usize>) -> Cow<'a, str> {
        let whole = self.text.get(quoted.clone()).unwrap_or_default();
        let inner = whole.trim_start_matches('"').trim_end_matches('"');
        if whole.contains('\\') {
            serde_json::from_str(whole).map_or(Cow::Borrowed(inner), Cow::Owned)
        } else {
            Cow::Borrowed(inner)
        }
    }
}

/// See [`Scanner::entries`].
pub(super) struct Entries<'a> {
    scanner: Scanner<'a>,
    next: Option<usize>,
    keyed: bool,
}

impl Iterator for Entries<'_> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        let scanner = self.scanner;
        let mut at = scanner.skip_space(self.next.take()?);
        if matches!(scanner.byte(at), None | Some(b'}' | b']')) {
            return None;
        }
        let key = if self.keyed {
            if scanner.byte(at) != Some(b'"') {
                return None;
            }
            let key = at..scanner.string_end(at);
            at = scanner.skip_space(key.end);
            if scanner.byte(at) != Some(b':') {
                return None;
            }
            at = scanner.skip_space(at + 1);
            Some(key)
        } else {
            None
        };
        let value = at..scanner.value_end(at);
        let after = scanner.skip_space(value.end);
        if scanner.byte(after) == Some(b',') {
            self.next = Some(after + 1);
        }
        Some(Entry { key, value })
    }
}
