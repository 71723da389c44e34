//! A server that is killed while it pushes: the next one tells what was not taken.

use crate::serving::Served;
use crate::support::Project;
use crate::wire::{Reply, Seen, Server};
use serde_json::{Value, json};

const CALL: &str = "/agents/research/a2a";

fn serving(project: &Project) -> Served {
    let mut command = Served::command(project);
    command.env("AGENTCTL_CONFIG", project.home().join("config.toml"));
    Served::of(command)
}

/// What came, once it is as said.
fn came(receiver: &Server, until: impl Fn(&[Seen]) -> bool) -> Vec<Seen> {
    loop {
        let seen = receiver.seen();
        if until(&seen) {
            return seen;
        }
        std::thread::yield_now();
    }
}

fn state(seen: &Seen) -> Option<&str> {
    seen.body["statusUpdate"]["status"]["state"].as_str()
}

#[test]
fn what_a_killed_server_did_not_tell_the_next_one_tells() {
    let project = Project::new();
    let mut script = vec![Reply::error(503, "not now"); 2];
    script.extend(vec![Reply::text("taken"); 200]);
    let receiver = Server::new(script);
    let own = "[serve]\npush_addresses = [\"127.0.0.1\"]\n";
    std::fs::write(project.home().join("config.toml"), own).unwrap();
    let config =
        json!({"url": receiver.url("told?key=of-the-receiver"), "token": "shown-to-the-receiver"});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {
        "message": {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "How long is the heating network of Norrfeld?"}]},
        "configuration": {"taskPushNotificationConfig": config},
    }});
    let first = serving(&project);
    let (_, answer) = first.call(CALL, &call.to_string());
    let task = &answer["result"]["task"];
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED", "{answer}");
    came(&receiver, |seen| !seen.is_empty());
    // SIGKILL, while it waits to try again.
    drop(first);
    let second = serving(&project);
    let ended = |seen: &[Seen]| seen.last().and_then(state) == Some("TASK_STATE_COMPLETED");
    let seen = came(&receiver, ended);
    let artifacts: Vec<&Value> = seen
        .iter()
        .map(|s| &s.body["artifactUpdate"]["artifact"])
        .collect();
    let told: Vec<&Value> = artifacts.into_iter().filter(|a| a.is_object()).collect();
    let wanted: Vec<&Value> = task["artifacts"].as_array().unwrap().iter().collect();
    assert_eq!(told, wanted);
    assert!(
        seen.iter()
            .all(|s| s.header("x-a2a-notification-token") == Some("shown-to-the-receiver"))
    );
    let (_, log) = second.stop();
    assert!(!log.contains("of-the-receiver"), "{log}");
    // Neither the address nor the token stands in any file of the project.
    for entry in walkdir::WalkDir::new(project.path()) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let bytes = std::fs::read(entry.path()).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            for secret in ["of-the-receiver", "shown-to-the-receiver"] {
                assert!(!text.contains(secret), "{}", entry.path().display());
            }
        }
    }
}
