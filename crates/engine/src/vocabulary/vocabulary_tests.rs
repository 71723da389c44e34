use super::fixture::{vocabulary, words};
use super::*;
use serde_json::json;

fn told(change: impl FnOnce(&mut Words)) -> String {
    let mut words = words();
    change(&mut words);
    Vocabulary::new(words).unwrap_err().to_string()
}

#[test]
fn a_tool_is_found_by_the_exact_bytes_of_its_name() {
    let vocabulary = vocabulary();
    assert_eq!(
        vocabulary.capability_of("get_item"),
        Some(Capability::named("get-item"))
    );
    assert_eq!(vocabulary.does("get_item"), Some(Does::Read));
    assert_eq!(vocabulary.does("search_library"), Some(Does::Egress));
    assert_eq!(vocabulary.does("update_item"), Some(Does::Change));
    for name in ["Get_item", "get_item ", "get-item", "", "mcp__s__get_item"] {
        assert_eq!(vocabulary.capability_of(name), None, "{name:?}");
        assert_eq!(vocabulary.does(name), None, "{name:?}");
        assert!(!vocabulary.is_tool(name), "{name:?}");
    }
    let names: Vec<&str> = vocabulary.tools().iter().map(|tool| tool.name).collect();
    assert!(names.is_sorted(), "{names:?}");
}

#[test]
fn a_capability_is_written_as_its_name() {
    let vocabulary = vocabulary();
    for (capability, _) in vocabulary.capabilities() {
        assert_eq!(vocabulary.capability(capability.name()), Some(capability));
        assert_eq!(
            serde_json::to_value(capability).unwrap(),
            json!(capability.name())
        );
    }
    assert_eq!(vocabulary.capability("hand-over"), None);
    assert_eq!(
        vocabulary.retired("hand-over"),
        Some("no tool ever needed it")
    );
    assert_eq!(vocabulary.retired("get-item"), None);
}

#[test]
fn an_empty_vocabulary_knows_nothing() {
    let none = Vocabulary::default();
    assert!(none.tools().is_empty() && none.functions().is_empty() && none.facts().is_empty());
    assert_eq!(none.does(""), None);
    assert_eq!(Vocabulary::new(Words::default()), Ok(none));
}

#[test]
fn mistakes_of_a_toolset_are_found_when_the_vocabulary_is_made() {
    let first = |words: &Words| words.tools[0];
    for (told, part) in [
        (
            told(|w| w.tools.push(first(w))),
            "the tool \"list_items\" is named twice",
        ),
        (
            told(|w| w.tools[0].capability = Capability::named("fly")),
            "the tool \"list_items\" has the unknown capability \"fly\"",
        ),
        (
            told(|w| w.tools[0].changes = true),
            "the tool \"list_items\" changes something, its capability \"list-items\" does not",
        ),
        (
            told(|w| w.tools[0].name = "mcp__s__list"),
            "is named as one of another server",
        ),
        (
            told(|w| w.tools[0].name = "List Items"),
            "\"List Items\" is no name for a tool",
        ),
        (
            told(|w| {
                w.capabilities
                    .push((Capability::named("get-item"), Does::Read))
            }),
            "the capability \"get-item\" is named twice",
        ),
        (
            told(|w| w.retired.push(("get-item", "x"))),
            "the capability \"get-item\" is named twice",
        ),
        (
            told(|w| w.functions.push(w.functions[0])),
            "the function \"pair\" is named twice",
        ),
        (
            told(|w| w.functions[0].name = "origin"),
            "the function \"origin\" has the name of one that every condition has",
        ),
        (
            told(|w| w.loads_skills = Some("load_skill")),
            "\"load_skill\", which loads skills, is no tool",
        ),
        (
            told(|w| w.facts.push(w.facts[0])),
            "the fact \"item\" is named twice",
        ),
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }
}
