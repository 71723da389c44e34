//! The patterns of `matches`: written out, compiled once when the expression is loaded, and measured, because a large one takes long
//! on a long text.

use cel::common::ast::{CallExpr, EntryExpr, Expr, IdedExpr, LiteralValue};
use regex::{Regex, RegexBuilder};
use std::collections::HashMap;

/// A longer pattern is refused, and so is one that compiles to more than this.
const MAX_PATTERN: usize = 500;
const MAX_COMPILED: usize = 1024 * 1024;
/// What is quoted of a long expression or pattern.
pub(super) const MAX_SHOWN: usize = 200;
/// The function as it is called after loading; no expression can spell it.
pub(super) const MATCHES: &str = "@matches";

#[derive(Debug)]
struct Pattern {
    regex: Regex,
    /// In bytes, about; a measure of how many of its parts one character of a text can be held against.
    compiled: usize,
}

/// All patterns of one expression, as they are written.
#[derive(Debug, Default)]
pub(super) struct Patterns(HashMap<String, Pattern>);

impl Patterns {
    /// Compiles the patterns of the expression, and makes its calls use them.
    pub fn of(expression: &mut IdedExpr) -> Result<Patterns, String> {
        let mut patterns = Patterns::default();
        patterns.walk(expression)?;
        Ok(patterns)
    }

    pub fn is_match(&self, text: &str, pattern: &str) -> Result<bool, String> {
        let pattern = self.0.get(pattern);
        let pattern = pattern.ok_or("its pattern was not there when it was loaded")?;
        Ok(pattern.regex.is_match(text))
    }

    /// How large the pattern of a call is; one that is not known is larger than all others.
    pub fn compiled(&self, call: &CallExpr) -> usize {
        let pattern = written(call).and_then(|pattern| self.0.get(pattern));
        pattern.map_or(MAX_COMPILED, |pattern| pattern.compiled)
    }

    fn walk(&mut self, node: &mut IdedExpr) -> Result<(), String> {
        match &mut node.expr {
            Expr::Call(call) => {
                if call.func_name == "matches" {
                    self.add(written(call).ok_or("the pattern of `matches` must be written out")?)?;
                    call.func_name = MATCHES.to_owned();
                    // The text is the first of its arguments, however it was called.
                    if let Some(text) = call.target.take() {
                        call.args.insert(0, *text);
                    }
                }
                super::lists_and_texts::lenient(call);
                if let Some(target) = &mut call.target {
                    self.walk(target)?;
                }
                call.args.iter_mut().try_for_each(|arg| self.walk(arg))
            }
            Expr::Comprehension(each) => {
                self.walk(&mut each.iter_range)?;
                self.walk(&mut each.accu_init)?;
                self.walk(&mut each.loop_cond)?;
                self.walk(&mut each.loop_step)?;
                self.walk(&mut each.result)
            }
            Expr::List(list) => list.elements.iter_mut().try_for_each(|e| self.walk(e)),
            Expr::Map(map) => {
                let mut entries = map.entries.iter_mut();
                entries.try_for_each(|entry| self.walk_entry(&mut entry.expr))
            }
            Expr::Struct(made) => {
                let mut entries = made.entries.iter_mut();
                entries.try_for_each(|entry| self.walk_entry(&mut entry.expr))
            }
            Expr::Select(select) => self.walk(&mut select.operand),
            Expr::Ident(_) | Expr::Literal(_) | Expr::Unspecified => Ok(()),
        }
    }

    fn walk_entry(&mut self, entry: &mut EntryExpr) -> Result<(), String> {
        match entry {
            EntryExpr::StructField(field) => self.walk(&mut field.value),
            EntryExpr::MapEntry(entry) => {
                self.walk(&mut entry.key)?;
                self.walk(&mut entry.value)
            }
        }
    }

    fn add(&mut self, pattern: &str) -> Result<(), String> {
        if self.0.contains_key(pattern) {
            return Ok(());
        }
        let wrong = || {
            let shown: String = pattern.chars().take(MAX_SHOWN).collect();
            format!("`{shown}` is not a regular expression, or too large a one")
        };
        if pattern.len() > MAX_PATTERN {
            return Err(wrong());
        }
        let regex = RegexBuilder::new(pattern).size_limit(MAX_COMPILED).build();
        let pattern_compiled = Pattern {
            regex: regex.map_err(|_| wrong())?,
            compiled: measured(pattern),
        };
        self.0.insert(pattern.to_owned(), pattern_compiled);
        Ok(())
    }
}

/// The pattern of a call: its last argument, of two with the text.
fn written(call: &CallExpr) -> Option<&str> {
    let parts = call.args.len() + usize::from(call.target.is_some());
    match call.args.last().map(|last| &last.expr) {
        Some(Expr::Literal(LiteralValue::String(pattern))) if parts == 2 => Some(pattern.inner()),
        _ => None,
    }
}

/// What the pattern compiles to, up to a factor of two. Tables of letters are left out where that can be done: they make a
/// pattern large, but a character is looked up in them once.
fn measured(pattern: &str) -> usize {
    let within = |limit: usize, unicode: bool| {
        regex::bytes::RegexBuilder::new(pattern)
            .unicode(unicode)
            .size_limit(limit)
            .build()
            .is_ok()
    };
    let unicode = !within(MAX_COMPILED, false);
    let mut limit = 512;
    while limit < MAX_COMPILED && !within(limit, unicode) {
        limit *= 2;
    }
    limit
}
