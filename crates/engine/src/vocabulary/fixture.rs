//! A vocabulary for the engine's own tests: a store of items.

use super::{Capability, Does, Fact, NamedTool, Vocabulary, Words};
use crate::condition::Function;
use serde_json::{Value, json};

const CAPABILITIES: [(&str, Does); 8] = [
    ("list-items", Does::Read),
    ("get-item", Does::Read),
    ("create-item", Does::Change),
    ("update-item", Does::Change),
    ("delete-item", Does::Change),
    ("check-item", Does::Read),
    ("search-library", Does::Egress),
    ("read-notes", Does::Read),
];

const TOOLS: [(&str, &str, bool); 9] = [
    ("list_items", "list-items", false),
    ("get_item", "get-item", false),
    ("create_item", "create-item", true),
    ("update_item", "update-item", true),
    ("delete_item", "delete-item", true),
    ("check_item", "check-item", false),
    ("search_library", "search-library", false),
    ("get_sample", "search-library", false),
    ("read_note", "read-notes", false),
];

pub(crate) fn words() -> Words {
    Words {
        tools: TOOLS
            .iter()
            .map(|(name, capability, changes)| NamedTool {
                name,
                capability: Capability::named(capability),
                changes: *changes,
            })
            .collect(),
        capabilities: CAPABILITIES
            .iter()
            .map(|(name, does)| (Capability::named(name), *does))
            .collect(),
        retired: vec![("hand-over", "no tool ever needed it")],
        functions: vec![Function {
            name: "pair",
            arguments: 2,
            call: |given| match given {
                [Value::Null, _] => Err("there is no first".to_owned()),
                given => Ok(json!(given)),
            },
        }],
        material: vec!["items"],
        loads_skills: Some("read_note"),
        facts: vec![Fact {
            name: "item",
            check: |_, _| Vec::new(),
        }],
        reports: vec!["items"],
        report: None,
        ..Words::default()
    }
}

pub(crate) fn vocabulary() -> Vocabulary {
    Vocabulary::new(words()).unwrap()
}
