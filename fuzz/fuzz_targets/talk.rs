//! What a user says in a conversation, read by the offline skills of a pack: each task has an answer, the same twice, with no key that
//! the step's contract does not know. Paragraphs are turns, the user's and the program's in turn.
#![no_main]

use agentctl::pack::named;
use agentctl_engine::pack::{LoadOptions, Pack};
use agentctl_kit::assist::{Next, next};
use agentctl_kit::{KitError, Said, Task};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, json};
use std::path::Path;
use std::sync::LazyLock;

static PACKS: LazyLock<[Pack; 3]> = LazyLock::new(|| {
    ["front-door", "n8n-copilot", "assistant"].map(|name| {
        named(name, Path::new("/nowhere"), &LoadOptions::default()).expect("a built-in pack")
    })
});

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let turns: Vec<&str> = text.split("\n\n").collect();
    let last = turns.len();
    let said: Vec<Said> = turns
        .into_iter()
        .enumerate()
        .map(|(at, text)| Said {
            // The last is the user's.
            by_user: (last - at) % 2 == 1,
            text: text.to_owned(),
        })
        .collect();
    let input = Map::new();
    let contract = json!({"type": "object"});
    for pack in PACKS.iter() {
        let Some(offline) = &pack.offline else {
            continue;
        };
        let tasks = offline.get("tasks").and_then(|tasks| tasks.as_object());
        for name in tasks.into_iter().flat_map(Map::keys) {
            let task = Task {
                name,
                offline,
                data: &pack.data,
                input: &input,
                said: &said,
                contract: &contract,
            };
            let one = next(task, &[], &[]);
            assert_eq!(one, next(task, &[], &[]), "answered twice");
            match one {
                Ok(Next::Answer(answer)) => assert!(answer.is_object(), "{answer} is no object"),
                Ok(Next::Call { args, .. }) => assert!(args.is_object(), "{args} is no object"),
                // It reads what only a step can give.
                Err(error) => assert!(matches!(error, KitError::Lacks { .. }), "{error}"),
            }
        }
    }
});
