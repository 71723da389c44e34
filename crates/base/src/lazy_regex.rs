//! A case-insensitive pattern over what a person wrote, compiled only for a text that could match. A request meets nearly all
//! patterns of the reader and holds few of their words; so each pattern knows the words of which one must be there.

use regex_automata::meta::{BuildError, Config, Regex};
use regex_automata::util::{captures, syntax};
use regex_automata::{Input, Span};
use regex_syntax::ast::{self, Ast};
use std::{borrow::Cow, ops::Range, sync::OnceLock};

/// The letters of the four languages that we read. The whole of Unicode would make each pattern many times as large.
const WORD: &str = r"0-9A-Za-z_À-ÖØ-öø-ɏ";
const LETTER: &str = r"A-Za-zÀ-ÖØ-öø-ɏ";
const DIGIT: &str = "0-9";
const SPACE: &str = r" \t\r\n\u{a0}";
/// In bytes: what a request or a part of it mostly stays below.
const SHORT: usize = 400;
/// A longer list is no quick check any more.
const MOST_WORDS: usize = 400;

type Words = Vec<String>;

#[derive(Debug)]
pub struct Pattern {
    source: String,
    /// Lists of lower-case texts: of each list one is in everything that matches.
    needs: Vec<Words>,
    short: OnceLock<Regex>,
    long: OnceLock<Regex>,
}

/// Where in the text something was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Match<'t> {
    text: &'t str,
    span: Span,
}

impl<'t> Match<'t> {
    pub fn as_str(&self) -> &'t str {
        self.text.get(self.span.range()).unwrap_or_default()
    }

    /// In bytes.
    pub const fn start(&self) -> usize {
        self.span.start
    }

    /// In bytes, behind the last.
    pub const fn end(&self) -> usize {
        self.span.end
    }

    pub const fn range(&self) -> Range<usize> {
        self.span.start..self.span.end
    }
}

/// A match and its groups.
#[derive(Debug)]
pub struct Captures<'t> {
    text: &'t str,
    found: captures::Captures,
}

impl<'t> Captures<'t> {
    /// The group of this number; 0 is the whole match.
    pub fn get(&self, group: usize) -> Option<Match<'t>> {
        let span = self.found.get_group(group)?;
        Some(Match {
            text: self.text,
            span,
        })
    }

    /// The group of this name.
    pub fn name(&self, group: &str) -> Option<Match<'t>> {
        let span = self.found.get_group_by_name(group)?;
        Some(Match {
            text: self.text,
            span,
        })
    }

    /// How many groups the pattern has, the whole match included.
    pub fn groups(&self) -> usize {
        self.found.group_len()
    }
}

/// What is put in the place of a match: a text in which `$1` means the first group, or what a function makes of the match.
pub trait Replacement {
    fn put(&mut self, found: &Captures<'_>, out: &mut String);
}

impl Replacement for &str {
    fn put(&mut self, found: &Captures<'_>, out: &mut String) {
        found.found.interpolate_string_into(found.text, self, out);
    }
}

impl<F: FnMut(&Captures<'_>) -> T, T: AsRef<str>> Replacement for F {
    fn put(&mut self, found: &Captures<'_>, out: &mut String) {
        out.push_str(self(found).as_ref());
    }
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
            short: OnceLock::new(),
            long: OnceLock::new(),
        }
    }

    pub fn is_match(&self, text: &str) -> bool {
        self.possible(text) && self.regex(text).is_match(text)
    }

    pub fn find<'t>(&self, text: &'t str) -> Option<Match<'t>> {
        self.find_at(text, 0)
    }

    /// The next match from a byte of the text on; what stands before it still counts for `\b` and `^`.
    pub fn find_at<'t>(&self, text: &'t str, from: usize) -> Option<Match<'t>> {
        if !self.possible(text) {
            return None;
        }
        let found = self.regex(text).find(Input::new(text).range(from..))?;
        Some(Match {
            text,
            span: found.span(),
        })
    }

    pub fn find_iter<'t>(&self, text: &'t str) -> impl Iterator<Item = Match<'t>> {
        self.possible(text)
            .then(|| self.regex(text).find_iter(text))
            .into_iter()
            .flatten()
            .map(move |found| Match {
                text,
                span: found.span(),
            })
    }

    pub fn captures<'t>(&self, text: &'t str) -> Option<Captures<'t>> {
        self.captures_at(text, 0)
    }

    /// The next match from a byte of the text on; what stands before it still counts for `\b` and `^`.
    pub fn captures_at<'t>(&self, text: &'t str, from: usize) -> Option<Captures<'t>> {
        if !self.possible(text) {
            return None;
        }
        let regex = self.regex(text);
        let mut found = regex.create_captures();
        regex.captures(Input::new(text).range(from..), &mut found);
        found.is_match().then_some(Captures { text, found })
    }

    pub fn captures_iter<'t>(&self, text: &'t str) -> impl Iterator<Item = Captures<'t>> {
        self.possible(text)
            .then(|| self.regex(text).captures_iter(text))
            .into_iter()
            .flatten()
            .map(move |found| Captures { text, found })
    }

    pub fn split<'r, 't>(&'r self, text: &'t str) -> impl Iterator<Item = &'t str> + use<'r, 't> {
        let parts = self.regex(text).split(text);
        parts.map(move |part| text.get(part.range()).unwrap_or_default())
    }

    /// The first match replaced.
    pub fn replace<'t>(&self, text: &'t str, by: impl Replacement) -> Cow<'t, str> {
        self.replaced(text, by, self.captures(text).into_iter())
    }

    pub fn replace_all<'t>(&self, text: &'t str, by: impl Replacement) -> Cow<'t, str> {
        self.replaced(text, by, self.captures_iter(text))
    }

    fn replaced<'t>(
        &self,
        text: &'t str,
        mut by: impl Replacement,
        found: impl Iterator<Item = Captures<'t>>,
    ) -> Cow<'t, str> {
        let mut out = String::new();
        let mut from = 0;
        for found in found {
            let Some(whole) = found.get(0) else { continue };
            out.push_str(text.get(from..whole.start()).unwrap_or_default());
            by.put(&found, &mut out);
            from = whole.end();
        }
        if from == 0 && out.is_empty() {
            return Cow::Borrowed(text);
        }
        out.push_str(text.get(from..).unwrap_or_default());
        Cow::Owned(out)
    }

    /// False only when the pattern cannot match.
    fn possible(&self, text: &str) -> bool {
        if self.needs.is_empty() || self.made_for(text).get().is_some() {
            return true;
        }
        let text = text.to_lowercase();
        self.needs
            .iter()
            .all(|words| words.iter().any(|word| text.contains(word.as_str())))
    }

    fn made_for(&self, text: &str) -> &OnceLock<Regex> {
        if text.len() > SHORT {
            &self.long
        } else {
            &self.short
        }
    }

    fn regex(&self, text: &str) -> &Regex {
        self.made_for(text).get_or_init(|| {
            let compiled = compile(&self.source, text.len() > SHORT);
            debug_assert!(
                compiled.is_ok(),
                "broken pattern {}: {compiled:?}",
                self.source
            );
            compiled.unwrap_or_else(|_| never())
        })
    }
}

/// Most patterns see a few short texts, so that making one takes longer than all its searches: then without the quick search for its
/// words (`needs` is ours), and for short texts without the automata that a long one needs to be read in one pass.
fn compile(source: &str, long: bool) -> Result<Regex, Box<BuildError>> {
    let lean = Config::new().auto_prefilter(false).onepass(false);
    Regex::builder()
        .configure(lean.hybrid(long).dfa(long))
        .syntax(syntax::Config::new().case_insensitive(true))
        .build(source)
        .map_err(Box::new)
}

fn never() -> Regex {
    #[expect(clippy::expect_used, reason = "a constant pattern that compiles")]
    compile(r"[^\s\S]", false).expect("the empty class compiles")
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
#[path = "lazy_regex_tests.rs"]
mod lazy_regex_tests;
