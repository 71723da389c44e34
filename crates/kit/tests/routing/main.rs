//! Which agents the offline model of the pack `assistant` asks for a request, and in which order: requests that were written before anybody
//! looked at its words (`requests.tsv`: the agents, the language, the request; `-` none, `?` a question back, `-?` one of both).
//!
//! Every second line is the blind half: nothing is mended by it, so its figure is what unseen requests get.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use agentctl_kit::assist::{Done, Next, next};
use agentctl_kit::{Said, Task};
use serde_json::{Map, Value, json};
use std::path::Path;

const REQUESTS: &str = include_str!("requests.tsv");
/// Written after the words were mended by the first half. Nothing is mended by them.
const LATER: &str = include_str!("later.tsv");
/// Written before its author had seen a word of the pack. Nothing is mended by them.
const FRESH: &str = include_str!("fresh.tsv");
/// The same by another one.
const STRANGERS: &str = include_str!("strangers.tsv");
const AGENTS: [&str; 7] = [
    "ask_confluence",
    "ask_gitlab",
    "ask_jira",
    "ask_sharepoint",
    "ask_system",
    "ask_trello",
    "ask_workflows",
];

fn offline() -> Value {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packs/assistant/agents/offline.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    agentctl_base::yaml::read(&text, "offline.yaml")
        .unwrap()
        .to_json()
}

/// The agents that are asked where each of them succeeds; `?` for a question, `-` for an answer.
fn asked(offline: &Value, language: &str, request: &str) -> String {
    let said = [Said {
        by_user: true,
        text: request.to_owned(),
    }];
    let locale = if language == "de" { "de-DE" } else { "en-US" };
    let input = Map::from_iter([("locale".to_owned(), json!(locale))]);
    let tools = AGENTS.map(str::to_owned);
    let mut done: Vec<Done> = Vec::new();
    loop {
        let task = Task {
            name: "serve",
            offline,
            data: &Map::new(),
            input: &input,
            said: &said,
            contract: &Value::Null,
        };
        match next(task, &tools, &done).unwrap() {
            Next::Call { tool, args } => done.push(Done {
                tool,
                args: args.as_object().cloned().unwrap_or_default(),
                ok: true,
                content: json!({"output": "Found.", "data": {"title": "One"}, "attachment": null}),
            }),
            Next::Answer(answer) if done.is_empty() => {
                let asks = answer["output"].as_str().unwrap().contains("Jira, Trello");
                return if asks { "?" } else { "-" }.to_owned();
            }
            Next::Answer(_) => {
                let agents = done.iter().map(|d| d.tool.trim_start_matches("ask_"));
                return agents.collect::<Vec<_>>().join(">");
            }
        }
        assert!(done.len() < 9, "{request}");
    }
}

/// How many of how many, and the others.
fn figures(table: &str, blind: Option<bool>) -> (usize, usize, Vec<String>) {
    let offline = offline();
    let (mut right, mut all, mut wrong) = (0, 0, Vec::new());
    for (at, line) in table
        .lines()
        .enumerate()
        .filter(|(at, _)| blind.is_none_or(|blind| (at % 2 == 1) == blind))
    {
        let [wanted, language, request] = line.splitn(3, '\t').collect::<Vec<_>>()[..] else {
            panic!("line {}", at + 1);
        };
        let got = asked(&offline, language, request);
        all += 1;
        let either = wanted == "-?" && matches!(got.as_str(), "-" | "?");
        match got == wanted || either {
            true => right += 1,
            false => wrong.push(format!("{wanted}, got {got}: {request}")),
        }
    }
    (right, all, wrong)
}

#[test]
fn the_half_that_was_mended_by() {
    let (right, all, wrong) = figures(REQUESTS, Some(false));
    assert!(right * 100 >= all * 97, "{right} of {all}: {wrong:#?}");
}

/// Only the figure is shown: who reads the requests here spoils them.
#[test]
fn the_blind_half() {
    let (right, all, _) = figures(REQUESTS, Some(true));
    assert!(right * 100 >= all * 92, "{right} of {all}");
}

/// Only the figure is shown here too.
#[test]
fn requests_of_a_later_day() {
    let (right, all, _) = figures(LATER, None);
    assert!(right * 100 >= all * 92, "{right} of {all}");
}

/// Only the figure is shown here too.
#[test]
fn requests_of_somebody_who_had_seen_no_word() {
    let (right, all, _) = figures(FRESH, None);
    assert!(right * 100 >= all * 92, "{right} of {all}");
}

/// Only the figure is shown here too.
#[test]
fn requests_of_another_who_had_seen_no_word() {
    let (right, all, _) = figures(STRANGERS, None);
    println!("{right} of {all}");
    assert!(right * 100 >= all * 92, "{right} of {all}");
}
