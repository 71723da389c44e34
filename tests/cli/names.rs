//! What a field, an agent or a stage of the built-in pack is called, its own files say: no code below the toolset and the command line
//! has such a name in a text of its own.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Where no name of a pack may stand.
const FLOORS: [&str; 5] = [
    "crates/engine/src",
    "crates/models/src",
    "crates/mcp/src",
    "crates/knowledge/src",
    "src/analysis",
];

/// Words that are the program's own, though the built-in pack uses them as names too: file, word, why.
const OWN_WORDS: [(&str, &str, &str); 8] = [
    (
        "crates/engine/src/flow/load.rs",
        "blocked",
        "a key of flow.yaml",
    ),
    (
        "crates/engine/src/store/event/v1.rs",
        "edit_scope",
        "a key of records of journal version 1",
    ),
    (
        "crates/engine/src/store/event/v1.rs",
        "workflow",
        "a key of records of journal version 1",
    ),
    (
        "crates/engine/src/store/project.rs",
        "memory",
        "the project's folder of runs",
    ),
    (
        "crates/mcp/src/content.rs",
        "memory",
        "the project's folder of runs",
    ),
    (
        "crates/knowledge/src/entry.rs",
        "workflow",
        "a key of an entry in LEARNINGS.md",
    ),
    (
        "crates/knowledge/src/import_fields.rs",
        "workflow",
        "a key of an entry in LEARNINGS.md",
    ),
    (
        "crates/knowledge/src/quote.rs",
        "workflow",
        "a word of texts that are quoted",
    ),
];

/// The texts in a Rust source, without comments and without the tests inside it.
pub(super) fn texts(source: &str) -> Vec<String> {
    let source = source
        .split_once("#[cfg(test)]\nmod tests {")
        .map_or(source, |(production, _)| production);
    let chars: Vec<char> = source.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let mut found = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        match at(i) {
            '/' if at(i + 1) == '/' => {
                while i < chars.len() && at(i) != '\n' {
                    i += 1;
                }
            }
            // A character, not a lifetime.
            '\'' if at(i + 1) == '\\' => i += 3,
            '\'' if at(i + 2) == '\'' => i += 2,
            'r' if at(i + 1) == '"' || (at(i + 1) == '#' && matches!(at(i + 2), '"' | '#')) => {
                let hashes = (i + 1..).take_while(|j| at(*j) == '#').count();
                let end: String = format!("\"{}", "#".repeat(hashes));
                let rest: String = chars[i + hashes + 2..].iter().collect();
                let (text, _) = rest.split_once(&end).unwrap_or((&rest, ""));
                i += hashes + 1 + text.chars().count() + end.len();
                found.push(text.to_owned());
            }
            '"' => {
                let mut text = String::new();
                i += 1;
                while i < chars.len() && at(i) != '"' {
                    if at(i) == '\\' {
                        text.push(at(i));
                        i += 1;
                    }
                    text.push(at(i));
                    i += 1;
                }
                found.push(text);
            }
            _ => {}
        }
        i += 1;
    }
    found
}

pub(super) fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            // What only tests use may speak of what they test.
            if name != "testkit" {
                sources(&path, found);
            }
        } else if name.ends_with(".rs")
            && !name.ends_with("_tests.rs")
            && !["tests.rs", "fixture.rs"].contains(&name)
        {
            found.push(path);
        }
    }
}

#[test]
fn a_source_is_read_for_its_texts() {
    let source = "// \"no\"\nlet a = \"one \\\" more\"; let c = '\"'; fn f<'a>() { r#\"raw \"x\" \"#; '\\''; \"two\" }\n#[cfg(test)]\nmod tests { \"no\" }";
    assert_eq!(texts(source), ["one \\\" more", "raw \"x\" ", "two"]);
}

#[test]
fn no_code_below_the_toolset_knows_a_field_an_agent_or_a_stage_by_name() {
    let pack = agentctl::pack::built_in().unwrap();
    let names: BTreeSet<&str> = (pack.flow.fields.keys())
        .chain(&pack.flow.stages)
        .chain(&pack.flow.blocked_stage)
        .chain(pack.agents.keys())
        .map(String::as_str)
        .collect();
    assert!(names.contains("qa_report") && names.contains("builder"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for floor in FLOORS {
        sources(&root.join(floor), &mut files);
    }
    files.sort();
    let mut found: BTreeSet<(String, &str)> = BTreeSet::new();
    for path in &files {
        let file = path.strip_prefix(root).unwrap().to_str().unwrap();
        for text in texts(&std::fs::read_to_string(path).unwrap()) {
            // A name of two words is a name wherever it stands; one word alone may be a word of a sentence.
            let named =
                |name: &&&str| text == **name || (name.contains('_') && text.contains(**name));
            for name in names.iter().filter(named) {
                found.insert((file.to_owned(), *name));
            }
        }
    }
    let own: BTreeSet<(String, &str)> = OWN_WORDS
        .iter()
        .map(|(file, word, _)| ((*file).to_owned(), *word))
        .collect();
    let foreign: Vec<_> = found.difference(&own).collect();
    assert!(
        foreign.is_empty(),
        "names of the built-in pack; say in agents/flow.yaml what the field means: {foreign:?}"
    );
    let stale: Vec<_> = own.difference(&found).collect();
    assert!(stale.is_empty(), "no longer needed: {stale:?}");
}
