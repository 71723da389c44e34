//! Eight conversations with the copilot that a model really had, replayed through the whole program without a network, each with the
//! supervisor and its phases, and with one agent instead of them: `tests/copilot/recorded/NAME/` has the messages, a recording of
//! each turn and way, and the workflow as it came out.
//!
//! A prompt, a tool's description or a check that changes on purpose makes these fail with the part that differs. Then
//! `RENEW_CONVERSATIONS=1 cargo test --test cli` writes them anew, with the same answers to what is asked now.

use crate::support::{Project, is_harmless};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const RENEW: &str = "if that is meant: RENEW_CONVERSATIONS=1 cargo test --test cli";
/// With its phases, a conversation needs at most so many of the input tokens that it needs with one agent, in percent.
const SHARE: u64 = 50;

/// How a conversation is led: the name of its recordings, and the settings of the pack.
const WAYS: [(&str, &str); 2] = [
    ("phases", "multi_agent: true\n"),
    ("one-agent", "multi_agent: false\n"),
];

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/copilot/recorded")
        .join(name)
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn given(name: &str) -> Value {
    serde_json::from_str(&read(&folder(name).join("conversation.json"))).unwrap()
}

fn renewing() -> bool {
    std::env::var_os("RENEW_CONVERSATIONS").is_some()
}

/// The one workflow of the project, without the ids that differ from run to run.
fn made(project: &Project) -> Value {
    let files = project.workflows();
    assert_eq!(files.len(), 1, "{files:?}");
    let mut workflow = project.read_json(&format!("workflows/{}", files[0]));
    for node in workflow["nodes"].as_array_mut().unwrap() {
        let node = node.as_object_mut().unwrap();
        node.shift_remove("id");
        node.shift_remove("webhookId");
    }
    workflow
}

/// Plays a conversation in one way; the input tokens that it took, and what became of the workflow.
fn play(name: &str, (way, settings): (&str, &str)) -> (u64, Value) {
    let project = Project::new();
    project.write("packs/n8n-copilot/data/settings.yaml", settings);
    let given = given(name);
    let file = format!("workflows/{}.json", given["id"].as_str().unwrap());
    if let Some(existing) = given.get("existing") {
        let text = serde_json::to_string_pretty(existing).unwrap();
        project.write(&file, &text);
    }
    let mut tokens = 0;
    for (at, turn) in given["turns"].as_array().unwrap().iter().enumerate() {
        let recording = folder(name).join(format!("{way}-{}.json", at + 1));
        let mut args = vec!["chat", "--session", "s", "--output-format", "json"];
        if at == 0 && given.get("existing").is_some() {
            args.extend(["--workflow", file.as_str()]);
        }
        let is_command = turn["say"].as_str().unwrap().starts_with('/');
        if !is_command {
            args.extend(["--replay", recording.to_str().unwrap()]);
        }
        let renewed = project.file("renewed.json");
        if renewing() && !is_command {
            args.extend(["--record", renewed.to_str().unwrap()]);
        }
        args.extend(["--", turn["say"].as_str().unwrap()]);
        let ran = project.run(&args);
        assert_eq!(ran.code, 0, "{name} {way} {at}: {}\n{RENEW}", ran.stderr);
        let reply = ran.json();
        assert_eq!(reply["outcome"], "complete", "{name} {way} {at}: {reply:#}");
        if way == "phases" && !is_command {
            assert_eq!(reply["route"], turn["route"], "{name} {at}");
        }
        let log = reply["state"]["coordination"].as_array().unwrap();
        assert!(
            log.iter().all(|entry| entry["status"] == "completed"),
            "{name} {way} {at}: {log:?}"
        );
        tokens += reply["usage"]["input_tokens"].as_u64().unwrap();
        if renewing() && !is_command {
            // The project and the recordings may lie on two file systems.
            std::fs::copy(&renewed, &recording).unwrap();
            std::fs::remove_file(&renewed).unwrap();
        }
    }
    (tokens, made(&project))
}

fn replays(name: &str) {
    let after = folder(name).join("after.json");
    let [phases, alone] = WAYS.map(|way| play(name, way));
    if renewing() {
        let workflow = serde_json::to_string_pretty(&phases.1).unwrap();
        std::fs::write(&after, workflow + "\n").unwrap();
        let mut given = given(name);
        given["input_tokens"] = json!({"phases": phases.0, "one-agent": alone.0});
        let text = serde_json::to_string_pretty(&given).unwrap();
        std::fs::write(folder(name).join("conversation.json"), text + "\n").unwrap();
        return;
    }
    let expected: Value = serde_json::from_str(&read(&after)).unwrap();
    assert_eq!(phases.1, expected, "{RENEW}");
    assert_eq!(alone.1, expected, "{RENEW}");
    let tokens = json!({"phases": phases.0, "one-agent": alone.0});
    assert_eq!(given(name)["input_tokens"], tokens, "{RENEW}");
}

macro_rules! conversations {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            replays(&stringify!($name).replace('_', "-"));
        })*

        const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

conversations! {
    form_leads
    invoice_desk
    news_feed
    shop_bot
    shop_helper
    ticket_digest
    ticket_intake
    ticket_routing
}

/// Sums that the replays above hold against what is asked now.
#[test]
fn together_the_phases_take_fewer_tokens_than_one_agent() {
    let mut names: Vec<String> = std::fs::read_dir(folder(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let tested: Vec<String> = NAMES.iter().map(|n| n.replace('_', "-")).collect();
    assert_eq!(names, tested);
    let all: Vec<Value> = names.iter().map(|name| given(name)).collect();
    let sum = |way: &str| {
        let tokens = all.iter().map(|g| g["input_tokens"][way].as_u64().unwrap());
        tokens.sum::<u64>()
    };
    let (phases, alone) = (sum("phases"), sum("one-agent"));
    assert!(phases * 100 <= alone * SHARE, "{phases} of {alone}");
}

#[test]
fn no_recording_has_a_secret() {
    for name in NAMES {
        let folder = folder(&name.replace('_', "-"));
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            is_harmless(&read(&path), &path.display().to_string());
        }
    }
}
