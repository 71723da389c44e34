//! What a run may use and who thinks for it: limits of the run and of single agents, from flags and settings, kept by `resume`.

use crate::models::{build, configured, lines};
use crate::support::Ran;
use crate::wire::{Reply, Says, Server, openai};
use crate::wires::KEY;
use serde_json::{Value, json};

fn resume(project: &crate::support::Project, more: &[&str]) -> Ran {
    let mut args = vec!["resume", "--output-format", "stream-json", "--yes"];
    args.extend(more);
    let mut command = project.command(&args);
    command.env("MINE_SECRET", KEY).output().unwrap().into()
}

fn message(ran: &Ran) -> String {
    let last = lines(ran).pop().unwrap();
    let text = last["message"]
        .as_str()
        .or(last["error"]["message"].as_str());
    text.unwrap_or_default().to_owned()
}

fn means(ran: &Ran) -> Value {
    let started = lines(ran)
        .into_iter()
        .find(|e| e["type"] == "activation.started");
    started.map_or(Value::Null, |e| e["means"].clone())
}

#[test]
fn a_resumed_run_keeps_its_limits_and_its_models_until_others_are_said() {
    let server = Server::new(vec![
        Reply::error(400, "no more"),
        Reply::error(400, "no more"),
    ]);
    let project = configured(&server);
    let begun = build(
        &project,
        &[
            "--model",
            "mine::other",
            "--max-tokens",
            "10",
            "--max-time",
            "10m",
        ],
    );
    assert_eq!(begun.code, 8, "{}", begun.stderr);
    let limits = json!({"run": {"max_tokens": 10, "max_seconds": 600}});
    assert_eq!(means(&begun)["limits"], limits);
    assert_eq!(means(&begun)["models"]["qa"], "mine::other");

    let kept = resume(&project, &[]);
    assert_eq!((kept.code, server.seen().len()), (8, 0), "{}", kept.stderr);
    assert!(
        message(&kept).contains("of the run's 10 are used"),
        "{}",
        message(&kept)
    );
    assert_eq!(means(&kept), Value::Null, "nothing changed");

    let raised = resume(&project, &["--max-tokens", "100000"]);
    assert_eq!(raised.code, 6, "{}", raised.stderr);
    assert_eq!(server.seen()[0].body["model"], "other");
    let limits = json!({"run": {"max_tokens": 100_000, "max_seconds": 600}});
    assert_eq!(means(&raised)["limits"], limits);
    assert!(
        raised
            .stderr
            .contains("model: mine::other, as the run was started"),
        "{}",
        raised.stderr
    );

    let other = resume(&project, &["--model", "offline"]);
    assert_eq!(other.code, 0, "{}", other.stderr);
    assert_eq!(server.seen().len(), 1);
    let used = project.run(&["usage", "--output-format", "json"]).json();
    assert_eq!(used["models"]["offline"]["input_tokens"], 0);
}

#[test]
fn an_agent_has_limits_of_its_own() {
    let words = || {
        openai(Says {
            words: &["nothing"],
            ..Says::default()
        })
    };
    for (limit, asked, why) in [
        (
            "--max-tokens=architect=10",
            0,
            "of the agent architect's 10 are used",
        ),
        (
            "--max-cost=architect=1",
            0,
            "the price of the model is unknown",
        ),
        (
            "--max-time=architect=0",
            0,
            "the agent architect has taken its 0 seconds",
        ),
        ("--max-tokens=qa=10", 3, ""),
    ] {
        let server = Server::new((0..4).map(|_| words()).collect());
        let project = configured(&server);
        let ran = build(&project, &[limit]);
        assert_eq!(ran.code == 8, asked == 0, "{limit}: {}", ran.stderr);
        assert!(message(&ran).contains(why), "{limit}: {}", message(&ran));
        assert_eq!(server.seen().len(), asked, "{limit}");
    }
    let server = Server::new((0..4).map(|_| words()).collect());
    let ran = build(
        &configured(&server),
        &["--max-turns=architect=1", "--max-turns", "9"],
    );
    assert_eq!(server.seen().len(), 1, "{}", ran.stderr);
    let ran = build(&configured(&server), &["--max-tokens=nobody=1"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr
            .contains("a limit: the pack has no agent \"nobody\""),
        "{}",
        ran.stderr
    );
}

#[test]
fn settings_hold_limits_and_a_flag_says_otherwise() {
    let server = Server::new(vec![Reply::error(400, "no more")]);
    let project = configured(&server);
    let settings = std::fs::read_to_string(project.file("agentctl.toml")).unwrap();
    let limited = |limits: &str| project.write("agentctl.toml", &format!("{settings}\n{limits}"));
    for (limits, why) in [
        ("[limits]\nmax_tokens = 10\n", "of the run's 10 are used"),
        (
            "[limits]\nmax_time = \"0s\"\n",
            "the run has taken its 0 seconds",
        ),
        (
            "[limits.agents.architect]\nmax_tokens = 10\n",
            "of the agent architect's 10 are used",
        ),
    ] {
        limited(limits);
        let ran = build(&project, &[]);
        assert_eq!(ran.code, 8, "{limits}: {}", ran.stderr);
        assert!(message(&ran).contains(why), "{limits}: {}", message(&ran));
    }
    let ran = build(&project, &["--max-tokens=architect=100000"]);
    assert_eq!((ran.code, server.seen().len()), (6, 1), "{}", ran.stderr);
    for (limits, line, why) in [
        (
            "[limits]\nmax_turns = 0\n",
            9,
            "write a whole number from 1 on",
        ),
        (
            "[limits]\nmax_time = \"soon\"\n",
            9,
            "write seconds, or like 90s, 10m, 1h",
        ),
        (
            "[limits.agents.nobody]\nmax_turns = 1\n",
            0,
            "no agent \"nobody\"",
        ),
    ] {
        limited(limits);
        let ran = build(&project, &[]);
        assert_eq!(ran.code, 2, "{limits}: {}", ran.stderr);
        assert!(ran.stderr.contains(why), "{limits}: {}", ran.stderr);
        let place = format!("agentctl.toml:{line}:");
        assert!(
            line == 0 || ran.stderr.contains(&place),
            "{limits}: {}",
            ran.stderr
        );
    }
}
