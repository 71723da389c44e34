//! The language to reply in: the message's own; where that is in doubt, the one of the locale.

use super::fill::{behind_colon, unquoted};
use super::lexicon::Lexicon;
use crate::language::{counted, languages};
use crate::words::Text;

/// Words of a request's head that tell its language by themselves.
const ENOUGH: usize = 3;

/// `acts`: concepts of what is to be done; the word for one may be a small word of another language ("comment") and tells nothing.
pub(super) fn language(said: &str, locale: &str, lexicon: &Lexicon, acts: &[&str]) -> &'static str {
    let plain = unquoted(said);
    // What is to be written somewhere may be in any language.
    let head = behind_colon(&plain).map_or(plain.as_str(), |(head, _)| head);
    let acts_in = |text: &str| {
        let hits = lexicon.hits(text);
        hits.iter().any(|hit| acts.contains(&hit.concept.as_str()))
    };
    let head = match Text::new(head).words.len() >= ENOUGH || acts_in(head) {
        true => head,
        false => plain.as_str(),
    };
    let counts = counted(&without(head, lexicon, acts));
    let most = counts.iter().map(|(n, _)| *n).max().unwrap_or(0);
    let best: Vec<&'static str> = counts
        .iter()
        .filter(|(n, _)| *n == most)
        .map(|(_, name)| *name)
        .collect();
    let of_locale = languages().find(|name| locale.to_lowercase().starts_with(name));
    match (best.as_slice(), of_locale) {
        (best, Some(locale)) if most < 2 || best.contains(&locale) => locale,
        ([first, ..], _) if most > 0 => first,
        (_, Some(locale)) => locale,
        _ => "en",
    }
}

fn without(text: &str, lexicon: &Lexicon, acts: &[&str]) -> String {
    let read = Text::new(text);
    let hits = lexicon.hits(text);
    let named = |at: usize| {
        let mut acting = hits
            .iter()
            .filter(|hit| acts.contains(&hit.concept.as_str()));
        acting.any(|hit| hit.from == at && hit.to == at + 1)
    };
    let kept = (0..read.words.len()).filter(|at| !named(*at));
    kept.map(|at| read.said(at..at + 1))
        .collect::<Vec<_>>()
        .join(" ")
}
