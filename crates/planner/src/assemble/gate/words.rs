//! Classes of words that the gate looks for, found in a request: the forms of `knowledge/lang/*/gate.tsv`, verbs by their
//! frames and nouns by their concepts.

use super::super::Reading;
use crate::lex::{Table, by_language};
use std::ops::Range;
use std::sync::LazyLock;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// The most words that stand for a `~` of a form.
const LONGEST_GAP: usize = 4;

pub(super) const LANGUAGES: [(&str, Table); 4] = by_language!("gate.tsv", 2, "../../../");

/// A part of a form.
#[derive(Debug)]
enum Part {
    Word(String),
    Stem(String),
    Figure,
    Gap,
}

/// A class of words with its forms.
#[derive(Debug)]
struct Words {
    class: &'static str,
    forms: Vec<Vec<Part>>,
}

/// A class that was found.
#[derive(Debug, Clone)]
pub(super) struct Hit {
    pub class: String,
    pub sentence: usize,
    /// Where it stands in the request, in bytes.
    pub at: Range<usize>,
}

fn words_of(language: &str) -> &'static [Words] {
    static ALL: LazyLock<Vec<Vec<Words>>> = LazyLock::new(|| {
        let read = |(_, table): &(&str, Table)| {
            let mut classes = Vec::new();
            for cells in table.rows() {
                let [class, forms, ..] = cells.as_slice() else {
                    continue;
                };
                let forms = forms.split('|').map(parts).collect();
                classes.push(Words { class, forms });
            }
            classes
        };
        LANGUAGES.iter().map(read).collect()
    });
    let at = LANGUAGES.iter().position(|(l, _)| *l == language);
    ALL.get(at.unwrap_or(0)).map_or(&[], Vec::as_slice)
}

fn parts(form: &str) -> Vec<Part> {
    let part = |word: &str| match word {
        "#" => Part::Figure,
        "~" => Part::Gap,
        _ => match word.strip_suffix('*') {
            Some(stem) => Part::Stem(plain(stem)),
            None => Part::Word(plain(word)),
        },
    };
    form.split_whitespace().map(part).collect()
}

/// A word in lower case without the accents of its letters.
fn plain(word: &str) -> String {
    let lower = word.to_lowercase();
    lower.nfd().filter(|c| !is_combining_mark(*c)).collect()
}

/// A word of the request with the sentence that it stands in.
struct Said {
    word: String,
    sentence: usize,
    at: Range<usize>,
}

fn said(text: &str) -> Vec<Said> {
    let mut all = Vec::new();
    let (mut sentence, mut begun) = (0, None);
    for (i, c) in text.char_indices().chain([(text.len(), ' ')]) {
        if c.is_alphanumeric() {
            begun.get_or_insert(i);
            continue;
        }
        if let Some(from) = begun.take() {
            let word = plain(text.get(from..i).unwrap_or(""));
            all.push(Said {
                word,
                sentence,
                at: from..i,
            });
        }
        let rest = text.get(i + c.len_utf8()..).unwrap_or("");
        let end = rest.starts_with(char::is_whitespace);
        sentence += usize::from(c == '\n' || matches!(c, '.' | '!' | '?') && end);
    }
    all
}

/// How many of these words, all in one sentence, a form takes that begins with the first; none where it doesn't fit.
fn begins(form: &[Part], words: &[Said]) -> Option<usize> {
    let Some((part, rest)) = form.split_first() else {
        return Some(0);
    };
    let sentence = words.first()?.sentence;
    let one = words.iter().take_while(|w| w.sentence == sentence).count();
    if matches!(part, Part::Gap) {
        let from = |n: usize| begins(rest, words.get(n..one)?).map(|used| used + n);
        return (0..=LONGEST_GAP.min(one)).find_map(from);
    }
    let first = words.first()?;
    let fits = match part {
        Part::Word(word) => first.word == *word,
        Part::Stem(stem) => first.word.starts_with(stem.as_str()),
        Part::Figure => first.word.chars().all(|c| c.is_ascii_digit()),
        Part::Gap => false,
    };
    let after = words.get(1..one)?;
    fits.then(|| begins(rest, after)).flatten().map(|n| n + 1)
}

/// All classes that a request holds, a verb that is not negated as `v:FRAME`, a noun as `n:concept`.
pub(super) fn hits(reading: &Reading<'_>) -> Vec<Hit> {
    let words = said(reading.text);
    let mut found: Vec<Hit> = Vec::new();
    let mut of = vec![reading.chart.language];
    if of != ["en"] {
        of.push("en");
    }
    for class in of.into_iter().flat_map(words_of) {
        for (i, word) in words.iter().enumerate() {
            let used = class
                .forms
                .iter()
                .find_map(|f| begins(f, crate::cut::from(&words, i)));
            if let Some(last) = used.and_then(|n| words.get((i + n).checked_sub(1)?)) {
                found.push(Hit {
                    class: class.class.to_owned(),
                    sentence: word.sentence,
                    at: word.at.start..last.at.end,
                });
            }
        }
    }
    for (i, item) in reading.chart.items.iter().enumerate() {
        let place = words.iter().find(|w| w.at.end > item.from);
        let sentence = place.or(words.last()).map_or(0, |w| w.sentence);
        let mut push = |class: String| {
            found.push(Hit {
                class,
                sentence,
                at: item.from..item.to,
            });
        };
        if let Some(noun) = item.noun() {
            push(format!("n:{}", noun.concept));
        }
        let denied =
            |c: &crate::clause::Clause| c.negated() && c.verb.as_ref().is_some_and(|v| v.at == i);
        if let Some(verb) = item.verb()
            && !reading.clauses.iter().any(denied)
        {
            verb.says
                .iter()
                .take(1)
                .for_each(|f| push(format!("v:{f}")));
        }
    }
    found
}
