//! A message in pieces: what stands between commas, "and" and the ends of sentences. A value of several words stays whole.

use crate::phrases::{Languages, PHRASES};
use crate::values::Hit;
use crate::words::{Gap, Text};
use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub words: Range<usize>,
    pub sentence: usize,
    /// What stands before it.
    pub opens: Gap,
    /// What stands behind it.
    pub closes: Gap,
}

/// A sentence: its words, and whether it ends with a question mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sentence {
    pub words: Range<usize>,
    pub asks: bool,
}

/// The sentences of a text; lines end them too.
pub(crate) fn sentences(text: &Text<'_>) -> Vec<Sentence> {
    let count = text.words.len();
    let mut found = Vec::new();
    let mut from = 0;
    for at in 1..=count {
        if at == count || text.gap(at) >= Gap::End {
            let behind = text.before(at);
            let asks = behind.split('\n').next().is_some_and(|b| b.contains('?'));
            found.push(Sentence {
                words: from..at,
                asks,
            });
            from = at;
        }
    }
    found
}

/// The pieces of the sentences. `cuts`: words before which a piece begins whatever stands there.
pub(crate) fn pieces(
    text: &Text<'_>,
    sentences: &[Sentence],
    hits: &[Hit],
    cuts: &[usize],
    languages: Languages<'_>,
) -> Vec<Piece> {
    let whole = |at: usize| hits.iter().any(|h| h.words.start < at && at < h.words.end);
    let mut found: Vec<Piece> = Vec::new();
    for (number, sentence) in sentences.iter().enumerate() {
        let (mut from, mut at) = (sentence.words.start, sentence.words.start);
        let mut opens = if from == 0 { Gap::Line } else { text.gap(from) };
        while at < sentence.words.end {
            let joined = PHRASES
                .at("and", &text.words, at, languages)
                .filter(|end| *end < sentence.words.end && at > from && !whole(at));
            let gap = text.gap(at);
            let torn = at > from && !whole(at) && (gap > Gap::None || cuts.contains(&at));
            if torn || joined.is_some() {
                found.push(Piece {
                    words: from..at,
                    sentence: number,
                    opens,
                    closes: gap.max(Gap::Pause),
                });
                opens = gap.max(Gap::Pause);
                from = at;
            }
            // A joining word belongs to no piece.
            match joined.or_else(|| {
                let end = PHRASES.at("and", &text.words, at, languages)?;
                (torn && end < sentence.words.end).then_some(end)
            }) {
                Some(end) => {
                    from = end;
                    at = end;
                }
                None => at += 1,
            }
        }
        let closes = match sentence.words.end {
            end if end == text.words.len() => Gap::Paragraph,
            end => text.gap(end),
        };
        found.push(Piece {
            words: from..sentence.words.end,
            sentence: number,
            opens,
            closes,
        });
    }
    found.retain(|p| !p.words.is_empty());
    found
}
