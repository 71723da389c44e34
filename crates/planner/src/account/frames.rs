//! Which evidence shows that a verb was obeyed: `knowledge/frames.tsv`.

use super::evidence::Evidence;
use super::{Fate, built, context, found};
use crate::lex::{BadRow, Sense, rows};
use std::collections::HashMap;
use std::sync::LazyLock;

const TABLE: &str = include_str!("../../knowledge/frames.tsv");

/// A frame: what in a workflow shows it. What it does to the world stands in the table beside it, and is checked.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    acts: &'static str,
    shown_by: Vec<&'static str>,
}

type Frames = HashMap<&'static str, Frame>;

static FRAMES: LazyLock<Frames> = LazyLock::new(|| read().unwrap_or_default());

pub(super) fn read() -> Result<Frames, BadRow> {
    const ACTS: [&str; 7] = [
        "outside", "destroys", "pays", "executes", "reads", "shapes", "none",
    ];
    const FORMS: [&str; 4] = ["op=", "node=", "tag=", "text="];
    let mut frames = Frames::new();
    for row in rows("frames.tsv", TABLE, 3) {
        let (row, cells) = row?;
        let bad = |why: String| BadRow {
            row: row.clone(),
            why,
        };
        if !ACTS.contains(&cells.at(1)) {
            return Err(bad(format!(
                "`{}` is none of {}",
                cells.at(1),
                ACTS.join(", ")
            )));
        }
        let shown_by: Vec<&str> = cells.at(2).split_whitespace().collect();
        let known = |token: &&&str| {
            FORMS.iter().any(|f| token.starts_with(f))
                || ["trigger", "branch", "any"].contains(*token)
        };
        if let Some(token) = shown_by.iter().find(|t| !known(t)) {
            return Err(bad(format!("`{token}` is no kind of evidence")));
        }
        let acts = cells.at(1);
        frames.insert(cells.at(0), Frame { acts, shown_by });
    }
    Ok(frames)
}

/// Whether a verb, in its likeliest sense, is obeyed by a step alone: it acts on something, and needs more than to be said.
pub(crate) fn asks_for_a_step(sense: &Sense) -> bool {
    let first = sense.says.first().and_then(|name| frame(name));
    first.is_some_and(|f| f.acts != "none" && !f.shown_by.contains(&"any"))
}

/// Whether an operation of this name destroys something. A query may do anything, and its text says what.
pub(super) fn destroys(operation: &str) -> bool {
    let operation = operation.to_lowercase();
    if operation == "executequery" {
        return false;
    }
    let destroying = FRAMES.values().filter(|f| f.acts == "destroys");
    let mut tokens = destroying.flat_map(|f| &f.shown_by);
    tokens.any(|t| {
        let of = t.strip_prefix("op=").map(str::to_lowercase);
        of.is_some_and(|op| operation.starts_with(&op))
    })
}

/// Whether a frame destroys something.
pub(super) fn is_destroying(name: &str) -> bool {
    frame(name).is_some_and(|f| f.acts == "destroys")
}

pub(crate) fn frame(name: &str) -> Option<&'static Frame> {
    FRAMES.get(name)
}

/// Whether a verb was obeyed. A negated verb is obeyed where nothing shows it, and where something else of its kind was asked for.
pub(super) fn verb(sense: &Sense, negated: bool, evidence: &Evidence) -> Fate {
    // "must not show up": what is to be left out wants a test.
    if negated && sense.calls("HAPPEN") {
        return found(evidence.choice());
    }
    if negated {
        return context("said not to happen");
    }
    for name in &sense.says {
        let Some(frame) = frame(name) else {
            continue;
        };
        for token in &frame.shown_by {
            if *token == "any" {
                return context("needs no step of its own");
            }
            if let Some(by) = evidence.shows(token) {
                return built(by);
            }
        }
    }
    if sense.says.is_empty() {
        return context("helps another verb");
    }
    // A field that has the verb for its name does nothing; an event, or a choice, may.
    if asks_for_a_step(sense) {
        return found(evidence.plainly(&sense.concept));
    }
    evidence
        .word(&sense.concept, "en")
        .map_or(Fate::Missing, built)
}
