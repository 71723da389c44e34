//! Corpora with planted falsehoods (`tests/research/`): each sentence is checked as a claim of its own. The planted ones are found, and
//! nothing true is called contradicted.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use agentctl_base::yaml;
use agentctl_evidence::{Corpus, Document, Format, Verdict};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn at(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

fn of_folder(folder: &Path) -> Corpus {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let documents = paths.iter().map(|path| {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        Document::read(name, Format::Markdown, &text).unwrap()
    });
    Corpus::new(documents.collect())
}

fn of_pack() -> Corpus {
    let text = std::fs::read_to_string(at("packs/research/data/documents.yaml")).unwrap();
    let entries = yaml::read(&text, "documents.yaml").unwrap().to_json();
    let of = |entry: &Value, key: &str| entry[key].as_str().unwrap().to_owned();
    let documents = entries.as_array().unwrap().iter().map(|entry| Document {
        doc: of(entry, "doc"),
        title: of(entry, "title"),
        source: of(entry, "source"),
        date: of(entry, "date"),
        text: of(entry, "text"),
    });
    Corpus::new(documents.collect())
}

/// Every sentence that is called contradicted.
fn contradicted(corpus: &Corpus) -> Vec<String> {
    let mut found = Vec::new();
    for document in corpus.documents() {
        let ids = (1..).map(|n| format!("{}#{n}", document.doc));
        for (id, quote) in ids.map_while(|id| Some((id.clone(), corpus.quote(&id)?))) {
            let checked = corpus.check(&quote, &[id]).unwrap();
            if checked.verdict == Verdict::Contradicted {
                let against = checked.sources.iter().filter(|s| s.says == "otherwise");
                assert!(against.count() >= 2, "{quote}");
                found.push(quote);
            }
        }
    }
    found
}

/// The planted falsehoods that were missed, and the other sentences that were called contradicted.
fn measured(corpus: &Corpus, questions: &str) -> (Vec<String>, Vec<String>) {
    let spec: Value =
        serde_json::from_str(&std::fs::read_to_string(at(questions)).unwrap()).unwrap();
    let found = contradicted(corpus);
    let lies = spec["falsehoods"].as_array().unwrap();
    let sentence = |lie: &Value| lie["sentence"].as_str().unwrap().to_owned();
    let missed = lies.iter().filter(|lie| !found.contains(&sentence(lie)));
    let missed = missed
        .map(|lie| lie["id"].as_str().unwrap().to_owned())
        .collect();
    let wrong = found
        .into_iter()
        .filter(|said| !lies.iter().any(|lie| sentence(lie) == *said));
    (missed, wrong.collect())
}

#[test]
fn falsehoods_of_the_documents_of_the_pack_are_found() {
    let (missed, wrong) = measured(&of_pack(), "tests/research/shipped.json");
    assert!(
        missed.is_empty() && wrong.is_empty(),
        "missed {missed:?}, wrong {wrong:#?}"
    );
}

/// N07 needs to know that who may take something along has it carried.
#[test]
fn falsehoods_of_the_night_train_are_found() {
    let corpus = of_folder(&at("tests/research/blind/corpus"));
    let (missed, wrong) = measured(&corpus, "tests/research/blind/questions.json");
    assert_eq!((missed, wrong), (vec!["N07".to_owned()], Vec::new()));
}

/// It was written when the mechanisms were as they were, and gave 7 of 10 and one true sentence at first.
#[test]
fn falsehoods_of_the_orchard_are_found() {
    let corpus = of_folder(&at("tests/research/orchard/corpus"));
    let (missed, wrong) = measured(&corpus, "tests/research/orchard/questions.json");
    assert!(
        missed.is_empty() && wrong.is_empty(),
        "missed {missed:?}, wrong {wrong:#?}"
    );
}

/// Corpora that were written before the mechanisms read them, and what of each is still missed (docs/research.md).
#[test]
fn falsehoods_of_corpora_of_many_styles_are_found_and_nothing_true_is_called_contradicted() {
    let known: [(&str, &[&str]); 10] = [
        ("observatory", &["B05", "B06"]),
        ("cablecar", &["F4", "F5", "F8", "F11", "F12"]),
        ("bridge", &["F3", "F10"]),
        ("hospital", &["F1", "F2", "F3", "F5", "F9"]),
        (
            "museum",
            &["F1", "F2", "F5", "F6", "F9", "F10", "F11", "F12"],
        ),
        ("dam", &["F1", "F3", "F6", "F8", "F9", "F10"]),
        ("cable", &["F1", "F2", "F3", "F4", "F7", "F9", "F11"]),
        (
            "beaver",
            &["V02", "V03", "V04", "V05", "V07", "V09", "V10", "V12"],
        ),
        ("cheese", &["C02", "C05", "C07", "C08", "C10", "C11"]),
        (
            "choir",
            &[
                "Q01", "Q02", "Q03", "Q06", "Q07", "Q08", "Q09", "Q10", "Q11", "Q12",
            ],
        ),
    ];
    for (name, missing) in known {
        let corpus = of_folder(&at(&format!("tests/research/{name}/corpus")));
        let questions = format!("tests/research/{name}/questions.json");
        let (missed, wrong) = measured(&corpus, &questions);
        assert!(wrong.is_empty(), "{name}: wrong {wrong:#?}");
        assert_eq!(missed, missing, "{name}");
    }
}

/// A corpus of sentences, each of a publisher of its own; the claim is the first.
fn among(sentences: &[&str]) -> Corpus {
    let documents = sentences.iter().enumerate().map(|(n, text)| Document {
        doc: format!("d{n}"),
        title: String::new(),
        source: format!("Publisher {n}"),
        date: String::new(),
        text: (*text).to_owned(),
    });
    Corpus::new(documents.collect())
}

fn said(sentences: &[&str]) -> (Verdict, Vec<&'static str>) {
    let text = sentences[0];
    let checked = among(sentences).check(text, &["d0#1".to_owned()]).unwrap();
    let says = checked.sources.iter().map(|source| source.says);
    (checked.verdict, says.collect())
}

#[test]
fn a_sentence_that_denies_another_or_says_the_opposite_is_no_source_for_it() {
    let pairs = [
        (
            "The vaccine is not safe for 12 percent of patients.",
            "The vaccine is safe for 12 percent of patients.",
        ),
        (
            "The vaccine is NOT safe for 12 percent of patients.",
            "The vaccine is safe for 12 percent of patients.",
        ),
        (
            "On 3 May 2021 the council voted for the bridge.",
            "The council voted against the bridge on 3 May 2021.",
        ),
        (
            "On 3 May 2021 the council voted for the bridge.",
            "The council did not vote for the bridge on 3 May 2021.",
        ),
        (
            "The network of Norrfeld is not 148 kilometres long.",
            "The network of Norrfeld is 148 kilometres long.",
        ),
        (
            "The length of the network of Norrfeld is not 148 kilometres.",
            "The length of the network of Norrfeld is 148 kilometres.",
        ),
        (
            "The network never lost 9 percent of its heat.",
            "The network lost 9 percent of its heat.",
        ),
        (
            "Nobody at all was connected on 12 October 1987.",
            "The first house was connected on 12 October 1987.",
        ),
        (
            "None of the houses was connected on 12 October 1987.",
            "The houses were connected on 12 October 1987.",
        ),
        (
            "Nobody was killed in the accident of 1854, when a sail broke.",
            "In the accident of 1854 two millers were killed when a sail broke.",
        ),
        (
            "The council of Uvik wanted no bridge over the river.",
            "The council of Uvik wanted a bridge over the river.",
        ),
        (
            "Der Impfstoff ist nicht sicher, 12 Tonnen wurden vernichtet.",
            "Der Impfstoff ist sicher, 12 Tonnen wurden vernichtet.",
        ),
        (
            "Der Rat stimmte am 3. 5. 2021 für 12 Tonnen, er stimmte für die Brücke.",
            "Der Rat stimmte gegen die Brücke, für 12 Tonnen.",
        ),
    ];
    for (one, other) in pairs {
        for sentences in [[one, other], [other, one]] {
            let (verdict, says) = said(&sentences);
            assert_eq!(verdict, Verdict::Unverified, "{sentences:?}");
            assert!(!says.contains(&"same"), "{sentences:?}: {says:?}");
        }
    }
    let (_, says) = said(&[pairs[0].0, pairs[0].1]);
    assert_eq!(says, ["claims", "otherwise"]);
    let (_, says) = said(&[pairs[2].0, pairs[2].1]);
    assert_eq!(says, ["claims", "otherwise"]);
}

#[test]
fn two_denials_and_a_denial_of_the_opposite_say_the_same() {
    for sentences in [
        [
            "The vaccine is not safe for 12 percent of patients.",
            "For 12 percent of patients the vaccine is not safe.",
        ],
        [
            "The vaccine is not safe for 12 percent of patients.",
            "For 12 percent of patients the vaccine is dangerous.",
        ],
        [
            "On 3 May 2021 the council voted for the bridge.",
            "The council did not vote against the bridge on 3 May 2021.",
        ],
    ] {
        assert_eq!(said(&sentences).0, Verdict::Supported, "{sentences:?}");
    }
    let against = "The council voted against the bridge on 3 May 2021.";
    let others = [
        "On 3 May 2021 the council voted for the bridge.",
        "The council did not vote against the bridge on 3 May 2021.",
    ];
    assert_eq!(
        said(&[against, others[0], others[1]]).0,
        Verdict::Contradicted
    );
}

#[test]
fn a_claim_is_held_against_the_sentences_that_it_cites() {
    let corpus = of_pack();
    let says = |text: &str, cited: &[&str]| {
        let cited: Vec<String> = cited.iter().map(|id| (*id).to_owned()).collect();
        corpus.says(text, &cited)
    };
    assert!(says("The network is 148 kilometres long.", &["heat-01#1"]));
    assert!(says(
        "The heating network of Norrfeld is 148 km long.",
        &["heat-01#1"]
    ));
    assert!(says(&corpus.quote("heat-01#5").unwrap(), &["heat-01#5"]));
    for (text, cited) in [
        ("The network is 184 kilometres long.", "heat-01#1"),
        ("The network is not 148 kilometres long.", "heat-01#1"),
        ("The network of Uvik is 148 kilometres long.", "heat-01#1"),
        ("The moon is made of cheese.", "heat-01#1"),
        ("The network never lost 9 percent of its heat.", "heat-01#5"),
        (
            "Nobody at all was connected on 12 October 1987.",
            "heat-01#4",
        ),
        ("The network is 148 kilometres long.", "none#1"),
    ] {
        assert!(!says(text, &[cited]), "{text}");
    }
}

fn pairs(kind: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(at("tests/research/pairs.yaml")).unwrap();
    let entries = yaml::read(&text, "pairs.yaml").unwrap().to_json();
    serde_json::from_value(entries[kind].clone()).unwrap()
}

/// The verdict over each of the sentences, as a claim of its own.
fn verdicts(sentences: &[String]) -> Vec<Verdict> {
    let sentences: Vec<&str> = sentences.iter().map(String::as_str).collect();
    let corpus = among(&sentences);
    let passages = corpus.passages().into_iter();
    let checked = passages.map(|p| corpus.check(&p.quote, std::slice::from_ref(&p.id)).unwrap());
    checked.map(|checked| checked.verdict).collect()
}

#[test]
fn whoever_has_another_figure_sign_or_order_is_no_second_source() {
    for pair in pairs("differ") {
        let found = verdicts(&pair);
        assert_eq!(found, vec![Verdict::Unverified; 2], "{pair:?}");
    }
}

#[test]
fn the_same_in_other_words_and_other_figures_is_a_second_source() {
    for pair in pairs("same") {
        assert_eq!(verdicts(&pair), vec![Verdict::Supported; 2], "{pair:?}");
    }
}

#[test]
fn what_is_denied_of_one_thing_is_not_contradicted_by_what_is_said_of_another() {
    for three in pairs("apart") {
        let found = verdicts(&three);
        assert!(!found.contains(&Verdict::Contradicted), "{three:?}");
    }
}

#[test]
fn a_figure_that_differs_is_supported_by_nobody_and_a_part_of_a_claim_is_named() {
    let dose = |n: u32| format!("The dose of the drug in Ost was {n} mg a day.");
    let found = verdicts(&[dose(50), dose(5), format!("{} So it was.", dose(5))]);
    assert_eq!(found[0], Verdict::Contradicted);
    let sentences = [
        "The tower of Ost was opened on 3 May 1931.",
        "The tower of Ost was opened in 1931.",
    ];
    let checked = among(&sentences)
        .check(sentences[0], &["d0#1".to_owned()])
        .unwrap();
    let says: Vec<&str> = checked.sources.iter().map(|source| source.says).collect();
    assert_eq!(checked.verdict, Verdict::Unverified);
    assert_eq!(says, ["claims", "near"]);
    assert_eq!(checked.why, "no other source was found to say all of it");
}

#[test]
fn german_sentences_do_not_end_at_an_ordinal_or_an_abbreviation() {
    let corpus = among(&[
        "Der Turm von Ost wurde am 3. Mai 1931 eröffnet. Er kostete 3 Mio. Euro. Im 12. Bezirk steht er bzw. Teile davon.",
    ]);
    let quotes: Vec<String> = corpus.passages().into_iter().map(|p| p.quote).collect();
    assert_eq!(
        quotes,
        [
            "Der Turm von Ost wurde am 3. Mai 1931 eröffnet.",
            "Er kostete 3 Mio. Euro.",
            "Im 12. Bezirk steht er bzw. Teile davon."
        ]
    );
}

/// The question and each of its parts, as the offline analyst asks them.
fn parts(question: &str) -> Vec<&str> {
    let parts = question.split(['?', ';', ',']);
    let parts = parts.flat_map(|part| part.split(" and "));
    let parts = parts.filter(|part| part.split_whitespace().count() >= 2);
    std::iter::once(question).chain(parts).take(4).collect()
}

/// Whether a text has a pattern, which stands for itself where it is a number; of a list any.
fn has(text: &str, pattern: &Value) -> bool {
    if let Some(any) = pattern.as_array() {
        return any.iter().any(|one| has(text, one));
    }
    let (text, pattern) = (
        text.to_lowercase(),
        pattern.as_str().unwrap().to_lowercase(),
    );
    let digits = |c: char| c.is_ascii_digit() && pattern.contains(|c: char| c.is_ascii_digit());
    text.match_indices(&pattern).any(|(at, _)| {
        !text[..at].ends_with(digits) && !text[at + pattern.len()..].starts_with(digits)
    })
}

/// What a good report holds is among the sentences that are searched for: those that a question's words are in, those that point back to
/// such a one, and what several publishers give in the documents that fit.
#[test]
fn what_answers_a_question_is_found_by_its_words() {
    let mut missed = Vec::new();
    let mut all = 0;
    let folders = [
        "blind", "orchard", "cablecar", "bridge", "hospital", "museum", "dam", "cable", "beaver",
        "cheese", "choir",
    ];
    let folders = folders.iter().map(|name| {
        let corpus = of_folder(&at(&format!("tests/research/{name}/corpus")));
        (corpus, format!("tests/research/{name}/questions.json"))
    });
    let shipped = (of_pack(), "tests/research/shipped.json".to_owned());
    for (corpus, spec) in folders.chain([shipped]) {
        let text = std::fs::read_to_string(at(&spec)).unwrap();
        let spec: Value = serde_json::from_str(&text).unwrap();
        for question in spec["questions"].as_array().unwrap() {
            let asked = question["question"].as_str().unwrap();
            let found = parts(asked).into_iter().flat_map(|part| {
                let found = corpus.search(part, 40);
                let least = found.first().map_or(0.0, |best| 0.3 * best.score);
                found.into_iter().filter(move |p| p.score >= least).take(18)
            });
            let found: Vec<_> = found.collect();
            for must in question["must"].as_array().unwrap() {
                all += 1;
                let matched = must["match"].as_array().unwrap();
                let docs = must["docs"].as_array().unwrap();
                if !found.iter().any(|passage| {
                    docs.iter().any(|doc| *doc == passage.doc)
                        && matched.iter().all(|m| has(&passage.quote, m))
                }) {
                    missed.push(format!("{asked} {matched:?}"));
                }
            }
        }
    }
    assert_eq!(all, 168);
    assert!(missed.len() <= 3, "{} missed: {missed:#?}", missed.len());
}

/// A claim of somebody else, which no document here says: each sentence is held against the documents without its own one.
#[test]
fn a_claim_from_outside_is_contradicted_or_shown_what_others_say() {
    for (name, contradicted, shown) in [("blind", 5, 1), ("orchard", 6, 3), ("bridge", 2, 7)] {
        let all = of_folder(&at(&format!("tests/research/{name}/corpus")));
        let spec = at(&format!("tests/research/{name}/questions.json"));
        let spec: Value = serde_json::from_str(&std::fs::read_to_string(spec).unwrap()).unwrap();
        let lies = spec["falsehoods"].as_array().unwrap();
        let is_lie = |said: &str| lies.iter().any(|lie| lie["sentence"] == said);
        let (mut found, mut near, mut wrong) = (0, 0, Vec::new());
        for document in all.documents() {
            let others = all.documents().iter().filter(|d| d.doc != document.doc);
            let others = Corpus::new(others.cloned().collect());
            let ids = (1..).map(|n| format!("{}#{n}", document.doc));
            for quote in ids.map_while(|id| all.quote(&id)) {
                let held = others.held(&quote);
                let verdict = held.as_ref().map(|held| held.verdict);
                assert_ne!(verdict, Some(Verdict::Supported), "{quote}");
                match (verdict, is_lie(&quote)) {
                    (Some(Verdict::Contradicted), true) => found += 1,
                    (Some(Verdict::Contradicted), false) => wrong.push(quote),
                    (Some(_), true) => near += 1,
                    _ => {}
                }
            }
        }
        assert!(wrong.is_empty(), "{name}: {wrong:#?}");
        assert_eq!((found, near), (contradicted, shown), "{name}");
    }
}
