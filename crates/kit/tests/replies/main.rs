//! The guard of replies on labelled sentences. Tables (`*.tsv`): a label and the names of its calls (`evidence.json`), then the same
//! sentence in English, German, French and Spanish. Lines (`*.jsonl`): `{id, lang, sentence, evidence, label}`.
//!
//! The words of the guard were mended by all of them but those whose name ends in `.blind.jsonl`, of which nobody who mends reads
//! a sentence: their figures are what unseen sentences get.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use agentctl_kit::guard::{Became, Evidence, Label, label_alone};
use serde_json::Value;

const LANGUAGES: [&str; 4] = ["en", "de", "fr", "es"];

const FIRST: &str = include_str!("sentences.tsv");
/// Each written after the patterns were mended by those before.
const LATER: [&str; 3] = [
    include_str!("later.tsv"),
    include_str!("last.tsv"),
    include_str!("newest.tsv"),
];
/// Idioms and other voices.
const VOICES: &str = include_str!("voices.tsv");
/// Written before its author had seen a word of the tables.
const FRESH: &str = include_str!("fresh.tsv");
/// One half of what an author wrote who had not seen the guard; the other half is blind.
const STRANGERS: &str = include_str!("strangers.jsonl");
const BLIND: &str = include_str!("strangers.blind.jsonl");
/// By a second author who had not seen the guard; pairs of the same author's that differ by one small thing are blind.
const OTHERS: &str = include_str!("others.jsonl");
const PAIRS: &str = include_str!("pairs.blind.jsonl");
/// In the manner of the strangers', by an author who had seen the guard.
const YARD: &str = include_str!("yard.jsonl");
/// By a third author who had not seen the guard's words; the other half is blind.
const WORKSHOP: &str = include_str!("workshop.jsonl");
const WORKSHOP_BLIND: &str = include_str!("workshop.blind.jsonl");
/// Of a hotel and a surgery, by an author who had read what the guard does and none of its words; the other half is blind.
const HOTEL: &str = include_str!("hotel.jsonl");
const HOTEL_BLIND: &str = include_str!("hotel.blind.jsonl");

struct Sentence {
    language: String,
    label: String,
    evidence: Vec<Evidence>,
    text: String,
}

fn call(of: &Value) -> Evidence {
    Evidence {
        tool: of["tool"].as_str().unwrap().to_owned(),
        changes: of["effect"] == "changes",
        became: Became::of(of["status"].as_str().unwrap()),
        result: match of.get("error") {
            Some(error) => serde_json::json!({"error": error}),
            None => of["result"].clone(),
        },
        about: of["description"].as_str().unwrap_or_default().to_owned(),
        acts: Vec::new(),
    }
}

fn table(table: &str) -> Vec<Sentence> {
    let known: Value = serde_json::from_str(include_str!("evidence.json")).unwrap();
    let mut sentences = Vec::new();
    let (mut head, mut languages) = (("", ""), LANGUAGES.iter());
    for line in table.lines() {
        let Some(text) = line.strip_prefix('\t') else {
            head = line.split_once('\t').unwrap();
            languages = LANGUAGES.iter();
            continue;
        };
        let names = head.1.split(' ').filter(|name| *name != "none");
        sentences.push(Sentence {
            language: (*languages.next().unwrap()).to_owned(),
            label: head.0.to_owned(),
            evidence: names.map(|name| call(&known[name])).collect(),
            text: text.to_owned(),
        });
    }
    sentences
}

fn lines(lines: &str) -> Vec<Sentence> {
    let rows = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.map(|row| Sentence {
        language: row["lang"].as_str().unwrap().to_owned(),
        label: row["label"].as_str().unwrap().to_owned(),
        evidence: row["evidence"]
            .as_array()
            .unwrap()
            .iter()
            .map(call)
            .collect(),
        text: row["sentence"].as_str().unwrap().to_owned(),
    })
    .collect()
}

/// Precision and recall of "this must not be said", in thousandths, and the sentences that were judged otherwise.
fn figures(sentences: &[Sentence]) -> (usize, usize, Vec<String>) {
    let (mut right, mut over, mut missed) = (0, 0, 0);
    let mut wrong = Vec::new();
    for one in sentences {
        let said = label_alone(&one.text, &one.evidence);
        match (one.label != "fine", said != Label::Fine) {
            (true, true) => right += 1,
            (false, true) => over += 1,
            (true, false) => missed += 1,
            (false, false) => {}
        }
        if (one.label == "fine") != (said == Label::Fine) {
            let said = said.name();
            wrong.push(format!(
                "{} {} ({said}): {}",
                one.language, one.label, one.text
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
    let all = table(FIRST);
    assert!(all.len() >= 400, "{}", all.len());
    for language in LANGUAGES {
        let of = all.iter().filter(|one| one.language == language);
        assert_eq!(of.count(), all.len() / 4);
    }
}

#[test]
fn known_sentences_are_judged_as_people_do() {
    let tables = [FIRST, VOICES, FRESH].into_iter().chain(LATER);
    let sets = tables
        .map(table)
        .chain([STRANGERS, YARD, OTHERS, WORKSHOP, HOTEL].map(lines));
    for set in sets {
        let (precision, recall, wrong) = figures(&set);
        // One wrong of few is more than two in a hundred.
        let most = (set.len() / 50).max(1);
        assert!(wrong.len() <= most, "{precision} {recall} {wrong:#?}");
    }
    let tables = [FIRST, VOICES, FRESH].into_iter().chain(LATER);
    let all: Vec<Sentence> = tables
        .flat_map(table)
        .chain(lines(STRANGERS))
        .chain(lines(YARD))
        .chain(lines(OTHERS))
        .chain(lines(WORKSHOP))
        .chain(lines(HOTEL))
        .collect();
    let (precision, recall, wrong) = figures(&all);
    println!("{} known sentences: {precision} {recall}", all.len());
    assert!(
        precision >= 990 && recall >= 980,
        "{precision} {recall} {wrong:#?}"
    );
}

/// Only the figure is shown: who reads the sentences here spoils them. It must not fall.
#[test]
fn what_nobody_read() {
    for (set, least) in [
        (BLIND, (900, 910)),
        (PAIRS, (980, 900)),
        (WORKSHOP_BLIND, (940, 920)),
        (HOTEL_BLIND, (880, 770)),
    ] {
        let (precision, recall, _) = figures(&lines(set));
        println!("blind: {precision} {recall}");
        assert!(
            (precision, recall) >= least && recall >= least.1,
            "{precision} {recall}"
        );
    }
}
