//! Patterns that n8n's own process may search by: those that come to their end in a time that grows with the text alone, whatever
//! the text is. Nothing is repeated but single characters, so often as is said or at the end, behind which nothing can fail.

use oxc_ast::ast::RegExpLiteral;
use oxc_regular_expression::ast::{Alternative, Term};

/// More repetitions than these were written by no hand.
const MOST: u64 = 100;

pub(super) fn is_quick(pattern: &RegExpLiteral<'_>) -> bool {
    let parsed = pattern.regex.pattern.pattern.as_deref();
    parsed.is_some_and(|parsed| parsed.body.body.iter().all(goes_through))
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
