//! Patterns that n8n's own process may search by: those that come to their end in a time that grows with the text alone, whatever
//! the text is. Nothing is repeated but single characters, so often as is said or at the end, behind which nothing can fail.

use oxc_ast::ast::RegExpLiteral;
use oxc_regular_expression::ast::{Alternative, Term};

/// More repetitions than these were written by no hand.
const MOST: u64 = 100;
/// So many characters a pattern may compare at each place of the text, its repetitions and all of its ways counted.
const WIDEST: u64 = 300;

pub(super) fn is_quick(pattern: &RegExpLiteral<'_>) -> bool {
    let parsed = pattern.regex.pattern.pattern.as_deref();
    parsed.is_some_and(|parsed| {
        let ways = &parsed.body.body;
        let width: u64 = ways.iter().flat_map(|way| &way.body).map(width).sum();
        width <= WIDEST && ways.iter().all(goes_through)
    })
}

fn width(term: &Term<'_>) -> u64 {
    match term {
        Term::Quantifier(it) => it.min.clamp(1, WIDEST + 1),
        _ => 1,
    }
}

fn goes_through(alternative: &Alternative<'_>) -> bool {
    let last = alternative.body.len().saturating_sub(1);
    let mut terms = alternative.body.iter().enumerate();
    terms.all(|(at, term)| match term {
        Term::BoundaryAssertion(_) => true,
        Term::Quantifier(it) if it.min > MOST || !is_character(&it.body) => false,
        Term::Quantifier(it) => it.max == Some(it.min) || at == last,
        term => is_character(term),
    })
}

fn is_character(term: &Term<'_>) -> bool {
    match term {
        Term::Character(_) | Term::Dot(_) | Term::CharacterClassEscape(_) => true,
        Term::UnicodePropertyEscape(it) => !it.strings,
        Term::CharacterClass(it) => !it.strings,
        _ => false,
    }
}
