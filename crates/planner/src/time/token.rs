//! Cuts a text into the tokens that the grammar of times reads. What stands in quotes, in an address, an id or a path is
//! one opaque token; a cron expression is one token too, also in quotes.

use super::cron;
use super::lexicon::Lexicon;

/// What a token is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    Word,
    Number(u32),
    Mark(char),
    Cron(String),
    /// No part of a time, whatever it says.
    Opaque,
}

#[derive(Debug, Clone)]
pub(super) struct Token {
    pub from: usize,
    pub to: usize,
    pub shape: Shape,
    /// A word as the tables are keyed; a number's digits.
    pub key: String,
    /// No space between this token and the one before it.
    pub glued: bool,
    pub capital: bool,
    /// The key is the word that was meant, one letter away from what was written.
    pub mistyped: bool,
}

/// Opening marks and what closes them.
const QUOTES: [(char, &[char]); 9] = [
    ('"', &['"']),
    ('`', &['`']),
    ('\'', &['\'']),
    ('\u{201c}', &['\u{201d}']),
    ('\u{201e}', &['\u{201c}', '\u{201d}']),
    ('\u{ab}', &['\u{bb}']),
    ('\u{bb}', &['\u{ab}']),
    ('\u{2018}', &['\u{2019}']),
    ('\u{201a}', &['\u{2018}', '\u{2019}']),
];

/// The tokens of a text, in order.
pub(super) fn tokens(text: &str, lexicon: &Lexicon) -> Vec<Token> {
    let mut cutter = Cutter {
        text,
        lexicon,
        out: Vec::new(),
    };
    let mut whole: Vec<(usize, usize, Shape)> = cron::expressions(text)
        .into_iter()
        .map(|c| (c.from, c.to, Shape::Cron(c.expression)))
        .collect();
    for (from, to) in quoted(text) {
        if !whole.iter().any(|(a, b, _)| *a < to && from < *b) {
            whole.push((from, to, Shape::Opaque));
        }
    }
    whole.sort_by_key(|(from, ..)| *from);
    let mut at = 0;
    for (from, to, shape) in whole {
        if from < at {
            continue;
        }
        cutter.plain(at, from);
        cutter.push(from, to, shape);
        at = to;
    }
    cutter.plain(at, text.len());
    cutter.out
}

/// The quotations of a text, with their marks.
fn quoted(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut skip = 0;
    let mut before: Option<char> = None;
    for (i, c) in text.char_indices() {
        let opens = before.is_none_or(|b| !b.is_alphanumeric());
        before = Some(c);
        if i < skip || !opens {
            continue;
        }
        let Some((_, closing)) = QUOTES.iter().find(|(open, _)| *open == c) else {
            continue;
        };
        let inner = i + c.len_utf8();
        let rest = text.get(inner..).unwrap_or_default();
        let line = rest
            .find('\n')
            .map_or(rest, |end| rest.get(..end).unwrap_or(rest));
        let end = line.char_indices().find_map(|(j, d)| {
            let end = inner + j + d.len_utf8();
            let after = text.get(end..).and_then(|t| t.chars().next());
            (closing.contains(&d) && !after.is_some_and(char::is_alphanumeric)).then_some(end)
        });
        if let Some(end) = end {
            found.push((i, end));
            skip = end;
        }
    }
    found
}

struct Cutter<'t> {
    text: &'t str,
    lexicon: &'t Lexicon,
    out: Vec<Token>,
}

impl Cutter<'_> {
    fn push(&mut self, from: usize, to: usize, shape: Shape) {
        let said = self.text.get(from..to).unwrap_or_default();
        let key = match shape {
            Shape::Word => self.lexicon.key(&said.replace('.', "")),
            Shape::Number(_) => said.to_owned(),
            _ => String::new(),
        };
        let meant = match shape {
            Shape::Word => self.lexicon.near(&key).map(str::to_owned),
            _ => None,
        };
        let mistyped = meant.is_some();
        let key = meant.unwrap_or(key);
        let glued = self.out.last().is_some_and(|t| t.to == from);
        self.out.push(Token {
            from,
            to,
            shape,
            key,
            glued,
            capital: said.chars().next().is_some_and(char::is_uppercase),
            mistyped,
        });
    }

    /// A stretch without quotations.
    fn plain(&mut self, from: usize, to: usize) {
        let stretch = self.text.get(from..to).unwrap_or_default();
        let mut at = 0;
        for chunk in stretch.split(char::is_whitespace) {
            self.chunk(from + at, chunk);
            at += chunk.len();
            let space = stretch.get(at..).and_then(|t| t.chars().next());
            at += space.map_or(0, char::len_utf8);
        }
    }

    /// What stands between two spaces.
    fn chunk(&mut self, from: usize, chunk: &str) {
        let opened =
            chunk.trim_start_matches(['(', '[', '*', '"', '\'', '\u{201c}', '\u{201e}', '\u{ab}']);
        let offset = chunk.len() - opened.len();
        let core = opened
            .trim_end_matches(|c: char| ".,;:!?)]*\"'`\u{201d}\u{201c}\u{bb}\u{2026}".contains(c));
        if !core.is_empty() && opaque(core, self.lexicon) {
            self.cut(from, chunk.get(..offset).unwrap_or_default());
            let start = from + offset;
            self.push(start, start + core.len(), Shape::Opaque);
            let rest = chunk.get(offset + core.len()..).unwrap_or_default();
            self.cut(start + core.len(), rest);
        } else {
            self.cut(from, chunk);
        }
    }

    /// Words, digits and marks.
    fn cut(&mut self, from: usize, text: &str) {
        let mut at = 0;
        while let Some(rest) = text.get(at..).filter(|r| !r.is_empty()) {
            let start = from + at;
            let first = rest.chars().next().unwrap_or_default();
            let length = if first.is_ascii_digit() {
                run(rest, |c| c.is_ascii_digit())
            } else if first.is_alphabetic() {
                initials(rest).unwrap_or_else(|| run(rest, char::is_alphabetic))
            } else {
                first.len_utf8()
            };
            let said = rest.get(..length).unwrap_or_default();
            if first.is_ascii_digit() {
                let number = said.parse().ok().filter(|_| said.len() <= 9);
                let shape = number.map_or(Shape::Opaque, Shape::Number);
                self.push(start, start + length, shape);
            } else if first.is_alphabetic() {
                self.word(start, said);
            } else if first.is_alphanumeric() {
                self.push(start, start + length, Shape::Opaque);
            } else {
                let after = rest.get(length..).and_then(|r| r.chars().next());
                let inside = at > 0 && after.is_some_and(char::is_alphanumeric);
                if !(inside && matches!(first, '\'' | '\u{2019}')) {
                    self.push(start, start + length, Shape::Mark(first));
                }
            }
            at += length;
        }
    }

    fn word(&mut self, from: usize, said: &str) {
        let key = self.lexicon.key(said);
        let split = if self.lexicon.words.contains(&key) {
            None
        } else {
            self.lexicon.compound(&key)
        };
        let parts = split.and_then(|(day, part)| {
            let (mid, _) = said.char_indices().nth(day.chars().count())?;
            (self.lexicon.key(said.get(mid..)?) == part).then_some(mid)
        });
        match parts {
            Some(mid) => {
                self.push(from, from + mid, Shape::Word);
                self.push(from + mid, from + said.len(), Shape::Word);
            }
            None => self.push(from, from + said.len(), Shape::Word),
        }
    }
}

fn run(text: &str, is: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is(c)).unwrap_or(text.len())
}

/// The length of single letters with dots, as in `a.m.`
fn initials(text: &str) -> Option<usize> {
    let chars: Vec<char> = text.chars().take(5).collect();
    match chars.as_slice() {
        [a, '.', b, rest @ ..] if a.is_alphabetic() && b.is_alphabetic() => {
            let end = a.len_utf8() + 1 + b.len_utf8();
            match rest {
                [c, ..] if c.is_alphanumeric() => None,
                ['.', ..] => Some(end + 1),
                _ => Some(end),
            }
        }
        _ => None,
    }
}

/// Is this an address, an id, a path or a name, and so no time?
fn opaque(core: &str, lexicon: &Lexicon) -> bool {
    if core.contains("://") || core.starts_with("www.") || is_iso(core) {
        return !is_iso(core);
    }
    let region = core.split('/').next().unwrap_or_default();
    if core.contains('/') && lexicon.zones.regions.contains(region) {
        return false;
    }
    let inside: Vec<char> = core.chars().collect();
    if inside
        .iter()
        .any(|c| "_=\\{}$~<>|^#&\u{a3}".contains(*c) || *c == '\u{20ac}')
    {
        return !matches!(inside.as_slice(), ['&'] | ['<'] | ['>'] | ['=']);
    }
    if let Some(rest) = core.strip_prefix('@') {
        let key = lexicon.key(rest);
        return rest.chars().next().is_some_and(char::is_alphabetic)
            && !lexicon.words.contains(&key);
    }
    if core.contains('@') {
        return true;
    }
    let pieces: Vec<&str> = core.split(|c: char| !c.is_alphanumeric()).collect();
    if core.contains('/') && !slashed(core, lexicon) {
        return true;
    }
    if dotted(&inside) && initials(core).is_none() {
        return true;
    }
    pieces.iter().any(|piece| {
        let wild = core.contains('-') && pieces.len() > 1;
        !piece.is_empty() && odd(piece, wild, lexicon)
    })
}

/// `Europe/Berlin`, `Mon/Wed`, `3/1/2026`, `5/sec`.
fn slashed(core: &str, lexicon: &Lexicon) -> bool {
    let parts: Vec<&str> = core.split('/').collect();
    !parts.iter().any(|p| p.is_empty())
        && parts.iter().all(|part| {
            part.chars().all(|c| c.is_ascii_digit()) || lexicon.words.contains(&lexicon.key(part))
        })
}

/// A dot between letters, as in a file's or a host's name.
fn dotted(chars: &[char]) -> bool {
    chars.windows(3).any(
        |w| matches!(w, [a, '.', b] if a.is_alphabetic() && b.is_alphanumeric() || a.is_alphanumeric() && b.is_alphabetic() && !a.is_ascii_digit()),
    )
}

/// A piece of a word that is no word of ours: `abc1`, `5f3a`; with hyphens also `report` in `daily-report`.
fn odd(piece: &str, hyphens: bool, lexicon: &Lexicon) -> bool {
    let mut digits = false;
    let mut letters = 0;
    let mut at = 0;
    while let Some(rest) = piece.get(at..).filter(|r| !r.is_empty()) {
        let number = rest.chars().next().is_some_and(|c| c.is_ascii_digit());
        let length = run(rest, |c| c.is_ascii_digit() == number);
        let said = rest.get(..length).unwrap_or_default();
        let mixed = length < piece.len();
        if number && letters > 0 && !digits {
            return true;
        }
        if number {
            digits = true;
        } else {
            letters += 1;
            if (mixed || hyphens) && !lexicon.words.contains(&lexicon.key(said)) {
                return true;
            }
        }
        at += length;
    }
    false
}

/// `2026-03-01T09:00:00Z`, also without the clock time.
fn is_iso(core: &str) -> bool {
    let digits = |text: Option<&str>, n: usize| {
        text.is_some_and(|t| t.len() == n && t.bytes().all(|b| b.is_ascii_digit()))
    };
    digits(core.get(..4), 4)
        && core.get(4..5) == Some("-")
        && digits(core.get(5..7), 2)
        && core.get(7..8) == Some("-")
        && digits(core.get(8..10), 2)
        && core
            .get(10..)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('T') && clock_tail(rest))
}

fn clock_tail(rest: &str) -> bool {
    rest.chars()
        .skip(1)
        .all(|c| c.is_ascii_digit() || ":.Z+-".contains(c))
}
