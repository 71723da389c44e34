//! The floors that docs/architecture.md lists are the crates, and each uses only those below it.

use std::collections::BTreeSet;
use std::path::Path;

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The crates of agentctl that a manifest's `[dependencies]` names.
fn uses(manifest: &str) -> Vec<String> {
    let manifest: toml::Table = manifest.parse().unwrap();
    let dependencies = manifest["dependencies"].as_table().unwrap();
    let ours = dependencies
        .keys()
        .filter_map(|name| name.strip_prefix("agentctl-"));
    ours.map(str::to_owned).collect()
}

#[test]
fn the_list_of_floors_is_the_list_of_crates_and_none_uses_one_above_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = text(&root.join("docs/architecture.md"));
    let (_, after) = page.split_once("## Floors are crates").unwrap();
    let (table, _) = after.split_once("\n`testkit`").unwrap();
    let listed: Vec<&str> = table
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(name, _)| name)
        .collect();
    let there: BTreeSet<String> = std::fs::read_dir(root.join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let mut named: BTreeSet<String> = listed.iter().map(|name| (*name).to_owned()).collect();
    assert!(named.remove("agentctl") && named.insert("testkit".to_owned()));
    assert_eq!(named, there);

    for (floor, name) in listed.iter().enumerate() {
        let manifest = match *name {
            "agentctl" => root.join("Cargo.toml"),
            name => root.join("crates").join(name).join("Cargo.toml"),
        };
        for used in uses(&text(&manifest)) {
            let below = listed.iter().skip(floor + 1).any(|below| *below == used);
            assert!(below, "{name} uses {used}, which is not listed below it");
        }
    }
}

/// The production code of a crate: file and text. Tests may speak of a toolset, by `*_tests.rs`, `tests.rs` and fixtures.
fn production(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            // What only tests and measurements use may speak of what they test.
            if name != "testkit" && name != "benches" {
                production(&path, found);
            }
        } else if name.ends_with(".rs") && !name.ends_with("tests.rs") && name != "fixture.rs" {
            found.push((path.display().to_string(), text(&path)));
        }
    }
}

/// What looks at processes and waits for its answer at once.
const NO_FAMILY: [&str; 2] = ["crates/host/src/family.rs", "crates/host/src/process.rs"];

#[test]
fn whoever_starts_a_child_sees_to_its_end() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    production(&root.join("src"), &mut files);
    production(&root.join("crates"), &mut files);
    let starts = |(_, text): &&(String, String)| code(text).contains("Command::new(");
    let started: Vec<&(String, String)> = files.iter().filter(starts).collect();
    assert!(started.len() > 5, "{}", started.len());
    for (file, text) in started {
        let is_known = NO_FAMILY.iter().any(|known| file.ends_with(known));
        let told = "its child may outlive agentctl: agentctl_host::family";
        assert!(is_known || text.contains("Family::of"), "{file}: {told}");
    }
}

#[test]
fn the_engine_names_no_tool_no_capability_and_no_function_of_a_toolset() {
    let words = agentctl_n8n_tools::vocabulary::n8n();
    let mut names: Vec<&str> = words.tools().iter().map(|tool| tool.name).collect();
    names.extend(
        words
            .capabilities()
            .map(|(capability, _)| capability.name()),
    );
    names.extend(words.functions().iter().map(|function| function.name));
    // A word that everybody uses is nobody's name.
    names.retain(|name| name.contains(['_', '-']));
    assert!(names.len() > 40, "{names:?}");
    let mut files = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    production(&root.join("crates/engine/src"), &mut files);
    assert!(files.len() > 40, "{}", files.len());
    for (file, text) in files {
        // What stands in a file's own tests is no production code.
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        for name in &names {
            assert!(!code.contains(name), "{file} names {name}");
        }
    }
}

/// Words of n8n. In code they are names of things that the engine must not know.
const N8N: [&str; 12] = [
    "workflow",
    "n8n",
    "node",
    "execution",
    "graph_hash",
    "graph hash",
    "expect_hash",
    "edit_scope",
    "qa_report",
    "rehears",
    "webhook",
    "credential",
];

/// Where the engine may say one all the same: below this path, the words, why.
const SAID_ALL_THE_SAME: [(&str, &[&str], &str); 6] = [
    (
        "store/event/v1.rs",
        &["workflow", "node", "graph_hash", "edit_scope"],
        "keys of records of journal version 1",
    ),
    ("condition/", &["node", "execution"], "CEL's own words"),
    ("flow/mermaid.rs", &["node"], "a node of a drawn flow"),
    (
        "redact/mod.rs",
        &["n8n", "webhook", "credential"],
        "keys and headers that name a secret, whoever sends them",
    ),
    (
        "pack/channels.rs",
        &["webhook"],
        "the key of a pack.yaml for requests of a sender's own form",
    ),
    (
        "pack/keys.rs",
        &["n8n", "credential"],
        "a sentence that tells the user where a secret belongs",
    ),
];

/// The code without comments and without the tests inside it.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let lines = text.lines().map(|line| match line.find("//") {
        Some(at) if !line[..at].ends_with(':') => &line[..at],
        _ => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_engine_says_no_word_of_n8n() {
    let engine = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/engine/src");
    let mut files = Vec::new();
    production(&engine, &mut files);
    let mut said = BTreeSet::new();
    let mut unknown = BTreeSet::new();
    for (file, text) in files {
        let file = Path::new(&file).strip_prefix(&engine).unwrap();
        let file = file.to_str().unwrap();
        let code = code(&text);
        let of_yaml = text.contains("agentctl_base::yaml");
        let tokens = code.split(|c: char| !c.is_alphanumeric() && c != '_');
        for token in tokens.map(str::to_lowercase) {
            for word in N8N.iter().filter(|word| token.contains(**word)) {
                // A node of YAML.
                if *word == "node" && of_yaml {
                    continue;
                }
                let mut allowed = SAID_ALL_THE_SAME.iter();
                match allowed
                    .position(|(at, words, _)| file.starts_with(at) && words.contains(word))
                {
                    Some(at) => {
                        said.insert((SAID_ALL_THE_SAME[at].0, *word));
                    }
                    None => {
                        unknown.insert((file.to_owned(), token.clone()));
                    }
                }
            }
        }
    }
    assert!(unknown.is_empty(), "words of n8n: {unknown:?}");
    for (at, words, _) in SAID_ALL_THE_SAME {
        for word in words {
            assert!(said.contains(&(at, *word)), "no longer needed: {at} {word}");
        }
    }
}
