//! Where in a JSON text a JSON pointer leads: line and column, for annotations. One pass over the text for all pointers.

use super::scan::{Kind, Scanner};
use serde::Serialize;
use std::collections::HashMap;
use std::ops::Range;

/// A stretch of text. Lines and columns count from 1, columns in characters; the end is behind the last character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Place {
    pub line: usize,
    pub column: usize,
    pub end_line: usize,
    pub end_column: usize,
}

impl Place {
    /// The very beginning, for what concerns a file as a whole.
    pub const START: Place = Place::point(1, 1);

    pub const fn point(line: usize, column: usize) -> Place {
        Place {
            line,
            column,
            end_line: line,
            end_column: column,
        }
    }
}

/// For each pointer the place of its member (key and value; of an object or array only the opening bracket), or of the
/// nearest one above it that is there. Of repeated keys the last counts, as in JavaScript.
pub fn locate<'p>(text: &str, pointers: impl IntoIterator<Item = &'p str>) -> Vec<Place> {
    let mut wanted = Wanted::default();
    let mut count = 0;
    for pointer in pointers {
        wanted.add(pointer, count);
        count += 1;
    }
    let scanner = Scanner::new(text);
    let start = scanner.skip_space(0);
    let mut found = vec![0..0; count];
    visit(&scanner, start, start, &wanted, &mut found);
    places(text, &found)
}

/// The pointers as a tree of tokens; `asked` are those that end here.
#[derive(Default)]
struct Wanted {
    asked: Vec<usize>,
    below: HashMap<String, Wanted>,
}

impl Wanted {
    fn add(&mut self, pointer: &str, index: usize) {
        let mut at = self;
        for token in pointer.split('/').skip(1) {
            let token = if token.contains('~') {
                token.replace("~1", "/").replace("~0", "~")
            } else {
                token.to_owned()
            };
            at = at.below.entry(token).or_default();
        }
        at.asked.push(index);
    }

    /// Everything asked for here and below gets this place, until something closer is found.
    fn settle(&self, range: &Range<usize>, found: &mut [Range<usize>]) {
        for index in &self.asked {
            if let Some(slot) = found.get_mut(*index) {
                *slot = range.clone();
            }
        }
        for below in self.below.values() {
            below.settle(range, found);
        }
    }
}

/// `from` is where the member starts (its key, if it has one), `at` where its value does. As deep as the pointers are.
fn visit(scanner: &Scanner, from: usize, at: usize, wanted: &Wanted, found: &mut [Range<usize>]) {
    let kind = scanner.kind(at);
    let end = match kind {
        Kind::Scalar => scanner.value_end(at),
        Kind::Object | Kind::Array => at + 1,
    };
    wanted.settle(&(from..end), found);
    if wanted.below.is_empty() || kind == Kind::Scalar {
        return;
    }
    let mut token = String::new();
    for (index, entry) in scanner.entries(at).enumerate() {
        let below = match &entry.key {
            Some(key) => wanted.below.get(scanner.unescaped(key).as_ref()),
            None => {
                use std::fmt::Write as _;
                token.clear();
                let _ = write!(token, "{index}"); // writing to a String cannot fail
                wanted.below.get(&token)
            }
        };
        if let Some(below) = below {
            let from = entry.key.as_ref().map_or(entry.value.start, |k| k.start);
            visit(scanner, from, entry.value.start, below, found);
        }
    }
}

fn places(text: &str, ranges: &[Range<usize>]) -> Vec<Place> {
    let mut offsets: Vec<usize> = ranges.iter().flat_map(|r| [r.start, r.end]).collect();
    offsets.sort_unstable();
    offsets.dedup();
    let mut points = HashMap::with_capacity(offsets.len());
    let (mut at, mut line, mut column) = (0, 1, 1);
    for offset in offsets {
        let passed = text.get(at..offset).unwrap_or_default();
        match passed.rfind('\n') {
            None => column += passed.chars().count(),
            Some(last) => {
                line += passed.bytes().filter(|b| *b == b'\n').count();
                column = 1 + passed.get(last + 1..).unwrap_or_default().chars().count();
            }
        }
        at = offset;
        points.insert(offset, (line, column));
    }
    let point = |offset: usize| points.get(&offset).copied().unwrap_or((1, 1));
    ranges
        .iter()
        .map(|range| {
            let ((line, column), (end_line, end_column)) = (point(range.start), point(range.end));
            Place {
                line,
                column,
                end_line,
                end_column,
            }
        })
        .collect()
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod place_tests;
