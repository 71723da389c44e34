//! The guard of replies on sentences that were written and labelled before anybody looked at its word lists (`sentences.tsv`): a label and
//! the names of its calls (`evidence.json`), then the same sentence in English, German, French and Spanish.
//!
//! Every second sentence of a label is the blind half: words and patterns are never mended by it, so its figure is what unseen sentences get.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "tests"
)]

use agentctl_kit::guard::{Became, Evidence, Label, label};
use serde_json::Value;

const LANGUAGES: [&str; 4] = ["en", "de", "fr", "es"];

const FIRST: &str = include_str!("sentences.tsv");
/// Each written after the patterns were mended by those before; what they got at first stands in `docs/assistant.md`. Then they were mended
/// by these too.
const LATER: &str = include_str!("later.tsv");
const LAST: &str = include_str!("last.tsv");
const NEWEST: &str = include_str!("newest.tsv");
/// Idioms and other voices, by an author who had read the patterns. Nothing is mended by them.
const VOICES: &str = include_str!("voices.tsv");
/// Written before its author had seen a word of the tables. Mended was by the first sentence of each pair; the others are blind.
const FRESH: &str = include_str!("fresh.tsv");

struct Sentence {
    /// Kept out of all mending.
    blind: bool,
    language: &'static str,
    label: &'static str,
    evidence: Vec<Evidence>,
    text: &'static str,
}

fn evidence(names: &str, known: &Value) -> Vec<Evidence> {
    let names = names.split(' ').filter(|name| *name != "none");
    names
        .map(|name| {
            let of = &known[name];
            Evidence {
                tool: of["tool"].as_str().expect(name).to_owned(),
                changes: of["effect"] == "changes",
                became: Became::of(of["status"].as_str().expect(name)),
                result: match of.get("error") {
                    Some(error) => serde_json::json!({"error": error}),
                    None => of["result"].clone(),
                },
            }
        })
        .collect()
}

fn sentences(table: &'static str) -> Vec<Sentence> {
    let known: Value = serde_json::from_str(include_str!("evidence.json")).unwrap();
    let mut sentences = Vec::new();
    let (mut head, mut seen, mut language) = (("", ""), Vec::new(), 0);
    for line in table.lines() {
        let Some(text) = line.strip_prefix('\t') else {
            head = line.split_once('\t').unwrap();
            seen.push(head.0);
            language = 0;
            continue;
        };
        sentences.push(Sentence {
            blind: seen.iter().filter(|label| **label == head.0).count() % 2 == 0,
            language: LANGUAGES[language],
            label: head.0,
            evidence: evidence(head.1, &known),
            text,
        });
        language += 1;
    }
    sentences
}

/// Precision and recall of "this must not be said", in thousandths, and the sentences that were judged otherwise.
fn figures(table: &'static str, blind: Option<bool>) -> (usize, usize, Vec<String>) {
    let (mut right, mut over, mut missed) = (0, 0, 0);
    let mut wrong = Vec::new();
    for one in sentences(table)
        .iter()
        .filter(|one| blind.is_none_or(|blind| one.blind == blind))
    {
        let said = label(one.text, &one.evidence);
        match (one.label != "fine", said != Label::Fine) {
            (true, true) => right += 1,
            (false, true) => over += 1,
            (true, false) => missed += 1,
            (false, false) => {}
        }
        if (one.label == "fine") != (said == Label::Fine) {
            wrong.push(format!(
                "{} {} ({}): {}",
                one.language,
                one.label,
                said.name(),
                one.text
            ));
        }
    }
    (
        right * 1000 / (right + over),
        right * 1000 / (right + missed),
        wrong,
    )
}

#[test]
fn there_are_four_hundred_in_each_language_the_same() {
    let all = sentences(FIRST);
    assert!(all.len() >= 400, "{}", all.len());
    for language in LANGUAGES {
        assert_eq!(
            all.iter().filter(|one| one.language == language).count(),
            all.len() / 4
        );
    }
}

#[test]
fn the_half_that_was_mended_by() {
    let (precision, recall, wrong) = figures(FIRST, Some(false));
    assert!(
        precision >= 980 && recall >= 980,
        "{precision} {recall} {wrong:#?}"
    );
}

/// Only the figure is shown: who reads the sentences here spoils them.
#[test]
fn the_blind_half() {
    let (precision, recall, _) = figures(FIRST, Some(true));
    assert!(precision >= 980 && recall >= 940, "{precision} {recall}");
}

#[test]
fn sentences_of_a_later_day() {
    for table in [LATER, LAST, NEWEST] {
        let (precision, recall, wrong) = figures(table, None);
        assert!(
            precision >= 980 && recall >= 950,
            "{precision} {recall} {wrong:#?}"
        );
    }
}

#[test]
fn fresh_sentences_that_were_mended_by() {
    let (precision, recall, wrong) = figures(FRESH, Some(false));
    assert!(
        precision >= 980 && recall >= 980,
        "{precision} {recall} {wrong:#?}"
    );
}

/// Only the figure is shown. What is missed here is known to be missed; the figure must not fall.
#[test]
fn fresh_sentences_that_nothing_was_mended_by() {
    let (precision, recall, _) = figures(FRESH, Some(true));
    assert!(precision >= 960 && recall >= 915, "{precision} {recall}");
}

/// What is missed here is known to be missed; the figure must not fall.
#[test]
fn idioms_that_nothing_was_mended_by() {
    let (precision, recall, _) = figures(VOICES, None);
    assert!(precision >= 980 && recall >= 820, "{precision} {recall}");
}
