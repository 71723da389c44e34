//! A place in the tokens, what was read to get there, and at what cost. A reading that fails leaves the cursor where it was.

use super::kind::{Kind, Unit};
use super::lexicon::{Form, Lexicon};
use super::token::{Shape, Token};

/// Tokens and words that a reading looks at.
#[derive(Debug)]
pub(super) struct Reader<'t> {
    pub text: &'t str,
    pub tokens: Vec<Token>,
    pub lexicon: &'static Lexicon,
}

/// Where a reading stands.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'r> {
    pub reader: &'r Reader<'r>,
    pub at: usize,
    pub cost: u32,
    /// Lines of the language's table that were used.
    pub rows: Vec<u32>,
}

impl<'r> Cursor<'r> {
    pub(super) fn new(reader: &'r Reader<'r>, at: usize) -> Self {
        Cursor {
            reader,
            at,
            cost: 0,
            rows: Vec::new(),
        }
    }

    /// Reads by `read`, or stays here.
    pub(super) fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let mut ahead = self.clone();
        let found = read(&mut ahead)?;
        *self = ahead;
        Some(found)
    }

    pub(super) fn token(&self) -> Option<&'r Token> {
        self.reader.tokens.get(self.at)
    }

    pub(super) fn token_after(&self, n: usize) -> Option<&'r Token> {
        self.reader.tokens.get(self.at + n)
    }

    pub(super) fn token_before(&self) -> Option<&'r Token> {
        self.reader.tokens.get(self.at.checked_sub(1)?)
    }

    /// The longest form of this kind here: its value, the token after it, its row and its cost.
    fn longest(&self, kind: Kind, at: usize) -> Option<([i32; 2], usize, u32, u32)> {
        let token = self
            .reader
            .tokens
            .get(at)
            .filter(|t| matches!(t.shape, Shape::Word | Shape::Number(_)))?;
        let cost = u32::from(token.mistyped);
        let mut best: Option<([i32; 2], usize, u32, u32)> = None;
        let forms = self.reader.lexicon.forms.get(&token.key)?;
        for form in forms.iter().filter(|f| f.kind == kind) {
            if cost > 0 && !form.rest.is_empty() {
                continue;
            }
            if let Some(end) = self.rest(form, at + 1)
                && best.is_none_or(|(_, to, ..)| end > to)
            {
                best = Some((form.value, end, form.line, cost));
            }
        }
        best
    }

    /// The token after the other words of a form; a hyphen between two words does not part them.
    fn rest(&self, form: &Form, mut at: usize) -> Option<usize> {
        for word in &form.rest {
            let tokens = &self.reader.tokens;
            if let (Some(hyphen), Some(next)) = (tokens.get(at), tokens.get(at + 1))
                && hyphen.shape == Shape::Mark('-')
                && hyphen.glued
                && next.glued
            {
                at += 1;
            }
            let token = tokens.get(at)?;
            let same = match token.shape {
                Shape::Word | Shape::Number(_) => token.key == *word,
                _ => false,
            };
            if !same {
                return None;
            }
            at += 1;
        }
        Some(at)
    }

    /// Reads a form of this kind.
    pub(super) fn eat(&mut self, kind: Kind) -> Option<[i32; 2]> {
        let (value, end, row, cost) = self.longest(kind, self.at)?;
        self.at = end;
        self.cost += cost;
        self.rows.push(row);
        Some(value)
    }

    pub(super) fn sees(&self, kind: Kind) -> bool {
        self.longest(kind, self.at).is_some()
    }

    /// Does a form of this kind end right before this place?
    pub(super) fn follows(&self, kind: Kind) -> bool {
        (1..=4).any(|back| {
            self.at.checked_sub(back).is_some_and(|at| {
                self.longest(kind, at)
                    .is_some_and(|(_, end, ..)| end == self.at)
            })
        })
    }

    /// Is there a form of this kind that begins at one of the tokens at a distance from .. to from here, in this sentence?
    pub(super) fn near(&self, kind: Kind, back: usize, ahead: usize) -> bool {
        let ends = |t: &Token| matches!(t.shape, Shape::Mark('.' | ';' | '!' | '?'));
        let before = (1..=back)
            .map_while(|n| self.at.checked_sub(n))
            .take_while(|at| self.reader.tokens.get(*at).is_some_and(|t| !ends(t)))
            .any(|at| self.longest(kind, at).is_some());
        before
            || (self.at..self.at + ahead)
                .take_while(|at| self.reader.tokens.get(*at).is_some_and(|t| !ends(t)))
                .any(|at| self.longest(kind, at).is_some())
    }

    pub(super) fn mark(&mut self, mark: char) -> bool {
        let is = self.token().is_some_and(|t| t.shape == Shape::Mark(mark));
        self.at += usize::from(is);
        is
    }

    /// A mark without a space before it.
    pub(super) fn glued_mark(&mut self, mark: char) -> bool {
        self.token().is_some_and(|t| t.glued) && self.mark(mark)
    }

    /// A number in digits.
    pub(super) fn digits(&mut self) -> Option<u32> {
        let Shape::Number(n) = self.token()?.shape else {
            return None;
        };
        self.at += 1;
        Some(n)
    }

    /// Two digits without a space before them.
    pub(super) fn two_digits(&mut self) -> Option<u32> {
        self.token().filter(|t| t.glued && t.key.len() == 2)?;
        self.digits()
    }

    /// A whole number in digits or words.
    pub(super) fn whole(&mut self) -> Option<u32> {
        self.digits()
            .or_else(|| self.eat(Kind::Num).and_then(|[n, _]| u32::try_from(n).ok()))
    }

    /// A unit written out; `glued` = also one that stands only behind digits.
    pub(super) fn unit(&mut self, after_digits: bool) -> Option<Unit> {
        let glued = self.token().is_some_and(|t| t.glued);
        let mut found = self.eat(Kind::Unit);
        if found.is_none() && after_digits {
            found = self.eat(Kind::Abbr);
        }
        if found.is_none() && after_digits && glued {
            found = self.eat(Kind::Glued);
        }
        found.map(|[index, _]| Unit::of(index))
    }

    /// Ends the sentence, the phrase or the text here?
    pub(super) fn at_end(&self) -> bool {
        self.token()
            .is_none_or(|t| matches!(t.shape, Shape::Mark(_)))
    }

    /// Is the next token a word that no table knows, or an opaque one?
    pub(super) fn stranger(&self) -> bool {
        self.token().is_some_and(|t| match t.shape {
            Shape::Word => !self.reader.lexicon.words.contains(&t.key),
            Shape::Opaque => true,
            _ => false,
        })
    }

    /// A thing is counted here: a measure, a percent or a currency sign.
    pub(super) fn measured(&self) -> bool {
        self.sees(Kind::Measure)
            || self.token().is_some_and(|t| {
                matches!(t.shape, Shape::Mark('%' | '\u{b0}'))
                    || t.shape == Shape::Opaque && t.to - t.from <= 3
            })
    }
}
