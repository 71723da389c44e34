//! A case-insensitive pattern over what a person wrote, compiled only for a text that could match. A request meets nearly all
//! patterns of the reader and holds few of their words; so each pattern knows the words of which one must be there.

use regex::{Captures, Match, Regex, Replacer, Split};
use regex_syntax::ast::{self, Ast};
use std::{borrow::Cow, sync::OnceLock};

/// The letters of the four languages that we read. The whole of Unicode would make each pattern many times as large.
const WORD: &str = r"0-9A-Za-z_À-ÖØ-öø-ɏ";
const LETTER: &str = r"A-Za-zÀ-ÖØ-öø-ɏ";
const DIGIT: &str = "0-9";
const SPACE: &str = r" \t\r\n\u{a0}";
/// A longer list is no quick check any more.
const MOST_WORDS: usize = 400;

type Words = Vec<String>;

#[derive(Debug)]
pub struct Pattern {
    source: String,
    /// Lists of lower-case texts: of each list one is in everything that matches.
    needs: Vec<Words>,
    compiled: OnceLock<Regex>,
}

impl Pattern {
    /// `source` is a pattern of the crate `regex`, its word lists already put in. A broken one matches nothing; the tests name it.
    pub fn new(source: &str) -> Pattern {
        let parsed = ast::parse::Parser::new().parse(source);
        debug_assert!(parsed.is_ok(), "broken pattern {source}: {parsed:?}");
        let mut needs = parsed.map(|ast| needs(&ast)).unwrap_or_default();
        needs.retain(|words| words.len() <= MOST_WORDS);
        // The rarest first: it settles most texts.
        needs.sort_by_key(|words| std::cmp::Reverse(rank(words)));
        Pattern {
            source: narrow(source),
            needs,
            compiled: OnceLock::new(),
        }
    }

    pub fn is_match(&self, text: &str) -> bool {
        self.possible(text) && self.regex().is_match(text)
    }

    pub fn find<'t>(&self, text: &'t str) -> Option<Match<'t>> {
        self.possible(text)
            .then(|| self.regex().find(text))
            .flatten()
    }

    /// The next match from a byte of the text on; what stands before it still counts for `\b` and `^`.
    pub fn find_at<'t>(&self, text: &'t str, from: usize) -> Option<Match<'t>> {
        self.possible(text)
            .then(|| self.regex().find_at(text, from))
            .flatten()
    }

    pub fn find_iter<'t>(&self, text: &'t str) -> impl Iterator<Item = Match<'t>> {
        self.possible(text)
            .then(|| self.regex().find_iter(text))
            .into_iter()
            .flatten()
    }

    pub fn captures<'t>(&self, text: &'t str) -> Option<Captures<'t>> {
        self.possible(text)
            .then(|| self.regex().captures(text))
            .flatten()
    }

    /// The next match from a byte of the text on; what stands before it still counts for `\b` and `^`.
    pub fn captures_at<'t>(&self, text: &'t str, from: usize) -> Option<Captures<'t>> {
        self.possible(text)
            .then(|| self.regex().captures_at(text, from))
            .flatten()
    }

    pub fn captures_iter<'t>(&self, text: &'t str) -> impl Iterator<Item = Captures<'t>> {
        self.possible(text)
            .then(|| self.regex().captures_iter(text))
            .into_iter()
            .flatten()
    }

    pub fn split<'r, 't>(&'r self, text: &'t str) -> Split<'r, 't> {
        self.regex().split(text)
    }

    /// The first match replaced.
    pub fn replace<'t, R: Replacer>(&self, text: &'t str, by: R) -> Cow<'t, str> {
        if self.possible(text) {
            self.regex().replace(text, by)
        } else {
            Cow::Borrowed(text)
        }
    }

    pub fn replace_all<'t, R: Replacer>(&self, text: &'t str, by: R) -> Cow<'t, str> {
        if self.possible(text) {
            self.regex().replace_all(text, by)
        } else {
            Cow::Borrowed(text)
        }
    }

    /// False only when the pattern cannot match.
    fn possible(&self, text: &str) -> bool {
        if self.needs.is_empty() || self.compiled.get().is_some() {
            return true;
        }
        let text = text.to_lowercase();
        self.needs
            .iter()
            .all(|words| words.iter().any(|word| text.contains(word.as_str())))
    }

    fn regex(&self) -> &Regex {
        self.compiled.get_or_init(|| {
            let compiled = Regex::new(&format!("(?i){}", self.source));
            debug_assert!(
                compiled.is_ok(),
                "broken pattern {}: {compiled:?}",
                self.source
            );
            compiled.unwrap_or_else(|_| never())
        })
    }
}

fn never() -> Regex {
    #[expect(clippy::expect_used, reason = "a constant pattern that compiles")]
    Regex::new(r"[^\s\S]").expect("the empty class compiles")
}

/// `\w`, `\d`, `\s` and `\p{L}` for the languages that we read.
fn narrow(source: &str) -> String {
    let source = source.replace(r"\p{L}", r"\pL");
    let mut out = String::with_capacity(source.len() * 2);
    let mut depth = 0_usize;
    let mut chars = source.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                let next = chars.next().unwrap_or('\\');
                let class = match next {
                    'w' => WORD,
                    'd' => DIGIT,
                    's' => SPACE,
                    'p' if chars.as_str().starts_with('L') => {
                        chars.next();
                        LETTER
                    }
                    _ => {
                        out.push('\\');
                        out.push(next);
                        continue;
                    }
                };
                if depth > 0 {
                    out.push_str(class);
                } else {
                    out.push('[');
                    out.push_str(class);
                    out.push(']');
                }
            }
            '[' => {
                depth += 1;
                out.push(c);
            }
            ']' => {
                depth = depth.saturating_sub(1);
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

/// Lists of texts; of each list one is in every match.
fn needs(ast: &Ast) -> Vec<Words> {
    match ast {
        Ast::Literal(literal) => vec![vec![literal.c.to_lowercase().collect()]],
        Ast::Group(group) => needs(&group.ast),
        Ast::Repetition(of) if least(&of.op.kind) > 0 => needs(&of.ast),
        Ast::Alternation(of) => {
            let each: Option<Vec<Words>> = of
                .asts
                .iter()
                .map(|part| needs(part).into_iter().max_by_key(|words| rank(words)))
                .collect();
            let Some(each) = each else { return Vec::new() };
            let mut all: Words = each.into_iter().flatten().collect();
            all.sort();
            all.dedup();
            vec![all]
        }
        Ast::Concat(of) => {
            let mut found = Vec::new();
            let mut run = String::new();
            for part in &of.asts {
                if let Ast::Literal(literal) = part {
                    run.extend(literal.c.to_lowercase());
                    continue;
                }
                if !run.is_empty() {
                    found.push(vec![std::mem::take(&mut run)]);
                }
                found.extend(needs(part));
            }
            if !run.is_empty() {
                found.push(vec![run]);
            }
            found
        }
        _ => Vec::new(),
    }
}

fn least(kind: &ast::RepetitionKind) -> u32 {
    match kind {
        ast::RepetitionKind::ZeroOrOne | ast::RepetitionKind::ZeroOrMore => 0,
        ast::RepetitionKind::OneOrMore => 1,
        ast::RepetitionKind::Range(
            ast::RepetitionRange::Exactly(n)
            | ast::RepetitionRange::AtLeast(n)
            | ast::RepetitionRange::Bounded(n, _),
        ) => *n,
    }
}

/// Rarely there is best: a long shortest word, then few of them.
fn rank(words: &[String]) -> (usize, std::cmp::Reverse<usize>) {
    (
        words.iter().map(String::len).min().unwrap_or_default(),
        std::cmp::Reverse(words.len()),
    )
}

#[cfg(test)]
#[path = "pattern_tests.rs"]
mod pattern_tests;
