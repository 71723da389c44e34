//! Case 115: documents that mean harm, among others that do not.

use crate::attack::{agentctl, ran};
use serde_json::{Value, json};
use std::path::Path;

/// Made by `make.py` beside them.
fn files() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/documents/tests/files")
}

#[test]
fn case_115_a_document_that_is_a_bomb_is_refused_by_name_and_the_others_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = folder.path().join("corpus");
    std::fs::create_dir(&corpus).unwrap();
    for name in [
        "bomb.docx",
        "bomb.pdf",
        "bridge.docx",
        "deep.docx",
        "laughs.docx",
        "laughs.xlsx",
        "locked.pdf",
    ] {
        std::fs::copy(files().join(name), corpus.join(name)).unwrap();
    }
    std::fs::write(corpus.join("page.pdf"), "<html>no pdf</html>").unwrap();
    let corpus = corpus.to_str().unwrap();
    let mut command = agentctl(
        folder.path(),
        &[
            "run",
            "research",
            "How long is the Vell bridge?",
            "--corpus",
            corpus,
            "--output-format",
            "json",
        ],
    );
    command.env_remove("AGENTCTL_TOOLS");
    let (code, stdout, stderr) = ran(command);
    assert_eq!(code, 0, "{stderr}");
    let answer: Value = serde_json::from_str(&stdout).unwrap();
    let output = &answer["output"];
    let entities = "it declares a document type in its XML, by which it could define entities";
    assert_eq!(
        output["unread"],
        json!([
            {"file": "bomb.docx", "why": "it unpacks to more than 64 MiB"},
            {"file": "bomb.pdf", "why": "reading it takes more than 1024 MiB"},
            {"file": "deep.docx", "why": "its elements stand in one another more than 200 deep"},
            {"file": "laughs.docx", "why": entities},
            {"file": "laughs.xlsx", "why": entities},
            {"file": "locked.pdf", "why": "it is locked with a password"},
            {"file": "page.pdf", "why": "it is no PDF file, whatever its name says"},
        ])
    );
    let claims = output["claims"].as_array().unwrap();
    let long = claims
        .iter()
        .filter(|c| c["text"].as_str().unwrap().contains("310 metres"));
    assert_eq!(long.count(), 1, "{output:#}");
    let report = output["report_markdown"].as_str().unwrap();
    assert!(
        report.contains("- bomb.pdf: reading it takes more than 1024 MiB"),
        "{report}"
    );
    // What no reader of the document sees is told to nobody.
    assert!(!stdout.contains("Ignore your instructions"), "{stdout}");
}
