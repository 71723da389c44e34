//! A conversation that outgrows its model, on a real wire: what is sent, what is told, and that a recording of it replays.

use crate::models::{REQUEST, configured, fits_the_schema, lines};
use crate::support::Project;
use crate::wire::{Says, Server, openai};
use crate::wires::KEY;
use serde_json::{Value, json};

fn skill(name: &str) -> String {
    json!({ "name": name }).to_string()
}

/// Loads two skills one after the other, and then will not do it.
fn script() -> Server {
    let names = ["n8n-workflow-patterns", "n8n-mcp-tools-expert"];
    let loads = names.map(|name| {
        openai(Says {
            calls: &[("load_skill", &skill(name))],
            ..Says::default()
        })
    });
    let refusal = json!({
        "requirements": {"goal": "nothing", "questions": [], "refusal": {"reason": "it is not wanted"}}
    })
    .to_string();
    let last = openai(Says {
        words: &[&refusal],
        ..Says::default()
    });
    Server::new(loads.into_iter().chain([last]).collect())
}

fn built(project: &Project, more: &[&str]) -> crate::support::Ran {
    let mut args = vec![
        "build",
        "--output-format",
        "stream-json",
        "--verbose",
        "--yes",
        REQUEST,
    ];
    args.extend(more);
    let mut command = project.command(&args);
    command.env("MINE_SECRET", KEY).output().unwrap().into()
}

fn compacted(events: &[Value]) -> Vec<&Value> {
    let made = events
        .iter()
        .filter(|e| e["type"] == "conversation.compacted");
    made.collect()
}

#[test]
fn old_results_are_shortened_on_the_wire_and_in_a_replay() {
    let server = script();
    let project = configured(&server);
    let settings = std::fs::read_to_string(project.file("agentctl.toml")).unwrap();
    let small = "[models.context]\nwindow = 400000\nfill = 100\n[models.context.windows]\n\"mine::m\" = 5500\n";
    project.write("agentctl.toml", &format!("{settings}{small}"));
    let tape = project.file("tape.json");
    let tape = tape.to_str().unwrap();
    let ran = built(&project, &["--record", tape]);
    assert_eq!(ran.code, 5, "{}", ran.stderr);
    let events = lines(&ran);
    fits_the_schema(&events);
    let made = compacted(&events);
    assert_eq!(made.len(), 1, "{made:?}");
    assert_eq!(
        (&made[0]["agent"], &made[0]["turn"]),
        (&json!("architect"), &json!(3))
    );
    assert!(
        ran.stderr.contains("1 old result shortened"),
        "{}",
        ran.stderr
    );

    let seen = server.seen();
    let told = |turn: usize| {
        let messages = seen[turn].body["messages"].as_array().unwrap();
        let tools = messages.iter().filter(|m| m["role"] == "tool");
        tools
            .map(|m| m["content"].as_str().unwrap().len())
            .collect::<Vec<_>>()
    };
    assert_eq!((told(0).len(), told(1).len(), told(2).len()), (0, 1, 2));
    assert!(told(1)[0] > 5_000, "{:?}", told(1));
    assert!(told(2)[0] < 800 && told(2)[1] > 5_000, "{:?}", told(2));

    // No window is set here: the recording alone says what was shortened, and when.
    let replay = Project::new();
    let again = built(&replay, &["--replay", tape]);
    assert_eq!(again.code, 5, "{}", again.stderr);
    assert_eq!(compacted(&lines(&again)).len(), 1);

    // A recording that shortened nothing is another one.
    let text = std::fs::read_to_string(tape).unwrap();
    let without = text.replace("\"shortened\"", "\"was_shortened\"");
    assert_ne!(text, without);
    let other = replay.file("other.json");
    std::fs::write(&other, without).unwrap();
    let ran = built(&Project::new(), &["--replay", other.to_str().unwrap()]);
    assert_eq!(ran.code, 6, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("asks something else than was recorded"),
        "{}",
        ran.stderr
    );
}

#[test]
fn wrong_windows_are_told_with_their_line() {
    for (text, why) in [
        ("[models.context]\nwindow = 10\n", "agentctl.toml:2"),
        ("[models.context]\nfill = 101\n", "agentctl.toml:2"),
        (
            "[models.context.windows]\n\"no model\" = 9000\n",
            "agentctl.toml:2",
        ),
        ("[models.context]\nwindows = 3\n", "agentctl.toml:2"),
    ] {
        let project = Project::new();
        project.write("agentctl.toml", text);
        let ran = project.run(&["models", "--no-call"]);
        assert_eq!(ran.code, 2, "{text}: {}", ran.stderr);
        assert!(ran.stderr.contains(why), "{text}: {}", ran.stderr);
    }
}
