//! What a sentence is after: whether it asks something, wants a request, or gives orders to the program.

use crate::phrases::{Languages, PHRASES};
use crate::pieces::Sentence;
use crate::words::{Gap, Text};
use std::ops::Range;

/// Whether a sentence asks something.
pub(crate) fn question(text: &Text<'_>, sentence: &Sentence, languages: Languages<'_>) -> bool {
    let at = |class: &str, at: usize| PHRASES.at(class, &text.words, at, languages).is_some();
    let start = sentence.words.start;
    let polite = at("ask.polite", start) || at("ask.polite", start + 1);
    let begins = sentence.words.clone().any(|i| {
        let opens = i == start || matches!(text.gap(i), Gap::Pause | Gap::Colon);
        opens && at("ask", i)
    });
    sentence.asks && !polite && sentence.words.len() > 1
        || begins && (sentence.asks || at("ask", start))
}

/// Whether a question hopes for something, instead of asking after it: "can't a robot do that?", "what if the form were shorter?"
pub(crate) fn hopes(text: &Text<'_>, sentence: &Sentence, languages: Languages<'_>) -> bool {
    let words = &sentence.words;
    let find = |class: &str| PHRASES.find(class, &text.words, words.clone(), languages);
    let begins = |class: &str| {
        PHRASES
            .at(class, &text.words, words.start, languages)
            .is_some()
    };
    // "It is broken, could you see to it?"
    const BEHIND: usize = 3;
    let asks_you = || find("ask.you").is_some_and(|(at, _)| at - words.start >= BEHIND);
    sentence.asks && (find("want.ask").is_some() || begins("want") || asks_you() && !begins("ask"))
}

/// Where a sentence wants a request: "open a request", "I need a change request", "hand in an idea", "new request".
pub(crate) fn wish(
    text: &Text<'_>,
    sentence: &Sentence,
    languages: Languages<'_>,
) -> Option<Range<usize>> {
    const REACH: usize = 5;
    const NEAR: usize = 6;
    const EARLY: usize = 14;
    if question(text, sentence, languages) {
        return None;
    }
    let words = sentence.words.clone();
    let early = words.start..words.end.min(words.start + EARLY);
    let find =
        |class: &str, within: Range<usize>| PHRASES.find(class, &text.words, within, languages);
    let in_one_breath = |within: Range<usize>| {
        let mut between = within;
        between.all(|i| text.gap(i) == Gap::None)
    };
    let follows = |first: &str, second: &str, reach: usize| {
        early.clone().find_map(|at| {
            let first_end = PHRASES.at(first, &text.words, at, languages)?;
            let near = first_end..words.end.min(first_end + reach);
            let (second_at, end) = find(second, near)?;
            Some((at, first_end..second_at, end))
        })
    };
    let unbroken = |found: Option<(usize, Range<usize>, usize)>| {
        let whole = |(at, between, end): (usize, Range<usize>, usize)| {
            let breath = between.start..end;
            in_one_breath(breath).then_some((at, end))
        };
        found.and_then(whole)
    };
    let any = |found: Option<(usize, Range<usize>, usize)>| found.map(|(at, _, end)| (at, end));
    let found = [
        // "Anfrage:", "request for you:", "change needed:" at the beginning.
        ["request", "heading"].iter().find_map(|class| {
            let (_, end) = find(class, words.start..words.end.min(words.start + NEAR))?;
            let headed = |at: &usize| text.gap(*at) == Gap::Colon;
            let at = (end..words.end.min(end + NEAR)).find(headed)?;
            Some((words.start, at))
        }),
        // "Ich möchte beantragen, dass …"
        unbroken(follows("need", "apply", 3)),
        // What follows a colon is the request itself.
        unbroken(follows("request", "open", REACH)),
        unbroken(follows("thing", "hand", REACH)),
        any(follows("open", "request", REACH)),
        unbroken(follows("need", "request", NEAR)),
        unbroken(follows("hand", "thing", NEAR)),
        unbroken(follows("new", "thing", 1)).filter(|(at, _)| *at == words.start),
        unbroken(follows("new", "request", 1)),
        find("wish", early.clone()),
        asked_for(text, &words, languages),
    ];
    let (from, end) = found.into_iter().flatten().max_by_key(|(_, end)| *end)?;
    let near = from.saturating_sub(REACH).max(words.start);
    let negated = find("not", near..from)
        .is_some_and(|(_, at)| find("but", at..from).is_none() && in_one_breath(at..from));
    // "A question about my request", "je voudrais demander si …" are none.
    let behind = words.end.min(end + 1);
    let asked = find("query", words.start..behind)
        .is_some_and(|(at, to)| in_one_breath(to.min(end)..end) || at >= from);
    (!negated && !asked).then_some(from..end)
}

/// A sentence that has the word for a request somewhere, and somewhere else what wants, makes or politely asks for one.
fn asked_for(
    text: &Text<'_>,
    sentence: &Range<usize>,
    languages: Languages<'_>,
) -> Option<(usize, usize)> {
    const EARLY: usize = 25;
    let early = sentence.start..sentence.end.min(sentence.start + EARLY);
    let find =
        |class: &str, within: Range<usize>| PHRASES.find(class, &text.words, within, languages);
    let (at, end) = find("request", early.clone())?;
    // "Please cancel the request", "please change the sponsor of my request".
    let other = ["abandon", "abandon.any", "change", "correct", "set"];
    if other
        .iter()
        .any(|class| find(class, early.clone()).is_some())
    {
        return None;
    }
    let apart = |found: &(usize, usize)| found.1 <= at || end <= found.0;
    ["need", "open", "hand", "apply", "please", "ask.polite"]
        .into_iter()
        .filter_map(|class| find(class, early.clone()).filter(apart))
        .min()
        .map(|(from, _)| (from.min(at), end))
}

/// Whether a text gives orders to the program, or begins a line as if somebody else spoke.
pub(crate) fn orders(text: &Text<'_>, languages: Languages<'_>) -> bool {
    let mut languages = languages.to_vec();
    if !languages.contains(&"en") {
        languages.push("en");
    }
    let all = 0..text.words.len();
    if PHRASES
        .find("order", &text.words, all.clone(), &languages)
        .is_some()
    {
        return true;
    }
    all.filter(|at| *at == 0 || text.gap(*at) >= Gap::End)
        .any(|at| {
            let Some(end) = PHRASES.at("speaker", &text.words, at, &languages) else {
                return false;
            };
            let behind = text.before(end).trim_start();
            let before = text.before(at).trim_end();
            behind.starts_with([':', ']', '>', '}', '*']) || before.ends_with(['[', '<', '#', '{'])
        })
}
