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

/// Its first figure was 1 of 8. B01 needs to know that of a mirror across and its diameter are one.
#[test]
fn falsehoods_of_the_observatory_are_found() {
    let corpus = of_folder(&at("tests/research/observatory/corpus"));
    let (missed, wrong) = measured(&corpus, "tests/research/observatory/questions.json");
    assert_eq!((missed, wrong), (vec!["B01".to_owned()], Vec::new()));
}
