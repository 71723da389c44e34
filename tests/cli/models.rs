//! Runs with a model behind a wire, with the built binary: settings, keys, retries, limits, recordings, events.

use crate::support::Project;
use crate::wire::{Reply, Says, Server, openai};
use crate::wires::{HELLO, KEY};
use serde_json::{Value, json};

pub const REQUEST: &str = "Every day at 9:00 post \"stand-up\" to Slack #dev";

pub fn configured(server: &Server) -> Project {
    let project = Project::new();
    let url = server.url("v1");
    project.write(
        "agentctl.toml",
        &format!("[models]\ndefault = \"mine::m\"\n[providers.mine]\nkind = \"openai\"\nbase_url = \"{url}\"\napi_key_env = \"MINE_SECRET\"\n"),
    );
    project
}

pub fn build(project: &Project, more: &[&str]) -> crate::support::Ran {
    let mut args = vec!["build", "--output-format", "stream-json", "--yes", REQUEST];
    args.extend(more);
    let mut command = project.command(&args);
    command.env("MINE_SECRET", KEY).output().unwrap().into()
}

pub fn lines(ran: &crate::support::Ran) -> Vec<Value> {
    ran.stdout
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect()
}

#[test]
fn tiers_agents_and_flags_name_models_and_models_says_whether_they_answer() {
    let server = Server::new(vec![
        openai(Says {
            words: &["{\"ok\": true}"],
            ..Says::default()
        }),
        Reply::error(401, "who are you?"),
    ]);
    let project = configured(&server);
    let settings = std::fs::read_to_string(project.file("agentctl.toml")).unwrap();
    let tiers = "[models]\nopus = \"mine::large\"\nhaiku = \"mine::small\"\n[models.agents]\nqa = \"mine::careful\"";
    let settings = settings.replace("[models]\ndefault = \"mine::m\"", tiers);
    project.write("agentctl.toml", &settings);
    let plan = |more: &[&str]| {
        let mut args = vec!["models", "--no-call", "--output-format", "json"];
        args.extend(more);
        let mut command = project.command(&args);
        let ran: crate::support::Ran = command.env("MINE_SECRET", KEY).output().unwrap().into();
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let told = ran.json()["models"].as_array().unwrap().clone();
        move |agent: &str| {
            let plays = |m: &&Value| m["agents"].as_array().unwrap().contains(&json!(agent));
            told.iter().find(plays).unwrap()["model"]
                .as_str()
                .unwrap()
                .to_owned()
        }
    };
    let by_settings = plan(&[]);
    assert_eq!(by_settings("architect"), "mine::large", "a tier");
    assert_eq!(
        by_settings("qa"),
        "mine::careful",
        "an agent before its tier"
    );
    assert_eq!(
        by_settings("builder"),
        "offline",
        "a tier that nobody named"
    );
    let by_flags = plan(&["--model", "mine::all", "--model-for", "builder=mine::own"]);
    assert_eq!(
        (by_flags("qa"), by_flags("builder")),
        ("mine::all".to_owned(), "mine::own".to_owned())
    );
    let asked = |code: i32, answers: bool| {
        let args = ["models", "--model", "mine::m", "--output-format", "json"];
        let mut command = project.command(&args);
        let ran: crate::support::Ran = command.env("MINE_SECRET", KEY).output().unwrap().into();
        assert_eq!(ran.code, code, "{}", ran.stderr);
        assert_eq!(ran.json()["models"][0]["answers"], answers);
        ran.stdout
    };
    asked(0, true);
    assert!(asked(6, false).contains("who are you?"));
}

#[test]
fn what_may_pass_is_asked_again_and_every_attempt_is_an_event() {
    let wait = || Reply::error(429, "slow down").with("retry-after", "0");
    let server = Server::new(vec![
        wait(),
        wait(),
        Reply::error(400, &format!("no more for {KEY}")),
    ]);
    let project = configured(&server);
    let ran = build(&project, &[]);
    assert_eq!(ran.code, 6, "{}", ran.stderr);
    assert_eq!(server.seen().len(), 3);
    let events = lines(&ran);
    let retried: Vec<_> = events
        .iter()
        .filter(|e| e["type"] == "model.retried")
        .collect();
    assert_eq!(retried.len(), 2);
    assert_eq!(
        (&retried[1]["attempt"], &retried[1]["turn"]),
        (&json!(2), &json!(1))
    );
    fits_the_schema(&events);
    assert!(!ran.stdout.contains(KEY) && !ran.stderr.contains(KEY));
    let used = project.run(&["usage", "--output-format", "json"]).json();
    assert_eq!(
        (&used["retries"], &used["total"]["model_calls"]),
        (&json!(2), &json!(0))
    );
}

#[test]
fn a_command_asks_again_twenty_times_and_no_more() {
    let wait = || Reply::error(503, "busy").with("retry-after", "0");
    let mut script = Vec::new();
    for turn in 0..5 {
        script.extend((0..4).map(|_| wait()));
        script.push(openai(Says {
            calls: &[("load_skill", &format!("{{\"name\": \"slack {turn}\"}}"))],
            ..Says::default()
        }));
    }
    script.extend((0..4).map(|_| wait()));
    let server = Server::new(script);
    let project = configured(&server);
    let ran = build(&project, &[]);
    assert_eq!(ran.code, 6, "{}", ran.stderr);
    let retried = lines(&ran)
        .iter()
        .filter(|e| e["type"] == "model.retried")
        .count();
    assert_eq!(retried, 20);
    // Each failed attempt that was made again, five answers, and the one that was the last.
    assert_eq!(server.seen().len(), 26);
}

#[test]
fn an_answer_that_never_fits_fails_the_step_with_the_reason() {
    let script = (0..9).map(|_| {
        openai(Says {
            words: &["I cannot", " do JSON.\n"],
            ..Says::default()
        })
    });
    let server = Server::new(script.collect());
    let project = configured(&server);
    let ran = build(&project, &[]);
    let events = lines(&ran);
    let failed = events.iter().find(|e| e["type"] == "step.failed").unwrap();
    assert!(
        failed["error"]
            .as_str()
            .unwrap()
            .contains("still not accepted after 2 repairs"),
        "{failed}"
    );
    assert!(
        events
            .iter()
            .any(|e| e["type"] == "model.text" && e["text"] == "I cannot do JSON.\n")
    );
    fits_the_schema(&events);
    assert_eq!(server.seen().len(), 3);
}

#[test]
fn a_limit_that_the_next_call_breaks_stops_before_it() {
    let server = Server::new(vec![]);
    let project = configured(&server);
    for (limit, value, why) in [
        ("--max-tokens", "10", "the next call needs about"),
        ("--max-cost", "1", "the price of the model is unknown"),
        ("--max-time", "0s", "0 seconds"),
    ] {
        let ran = build(&project, &[limit, value]);
        assert_eq!(ran.code, 8, "{limit}: {}", ran.stderr);
        let last = lines(&ran).pop().unwrap();
        assert!(
            last["message"].as_str().unwrap().contains(why),
            "{limit}: {last}"
        );
    }
    assert!(server.seen().is_empty());
}

#[test]
fn what_is_missing_or_not_allowed_is_told_before_anything_is_asked() {
    let project = Project::new();
    let ran = project
        .command(&["build", "--model", "openai::gpt-4.1", REQUEST])
        .env_remove("OPENAI_API_KEY")
        .output()
        .unwrap();
    let ran = crate::support::Ran::from(ran);
    assert_eq!(ran.code, 6);
    assert!(
        ran.stderr.contains("OPENAI_API_KEY is not set"),
        "{}",
        ran.stderr
    );
    for (text, code, why) in [
        (
            "[providers.a]\napi_key = \"x\"",
            2,
            "agentctl.toml:2: keys do not belong",
        ),
        ("[model]\n", 2, "agentctl.toml:1: unknown field"),
        (
            "[models]\nopus = \"nosuch::m\"",
            6,
            "there is no provider \"nosuch\"",
        ),
        (
            "[models.agents]\nnobody = \"offline\"",
            2,
            "no agent \"nobody\"",
        ),
    ] {
        project.write("agentctl.toml", text);
        let ran = project.run(&["build", REQUEST]);
        assert_eq!(ran.code, code, "{text}: {}", ran.stderr);
        assert!(ran.stderr.contains(why), "{text}: {}", ran.stderr);
        assert!(project.workflows().is_empty());
    }
}

#[test]
fn a_command_gives_the_key_when_the_project_is_trusted() {
    let server = Server::new(vec![openai(HELLO)]);
    let project = Project::new();
    project.write(
        "agentctl.toml",
        &format!("[models]\ndefault = \"a::m\"\n[providers.a]\nkind = \"openai\"\nbase_url = \"{}\"\nkey_command = [\"echo\", \"{KEY}\"]\n", server.url("v1/")),
    );
    let ran: crate::support::Ran = project
        .command(&["models", "--output-format", "json"])
        .output()
        .unwrap()
        .into();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.json()["models"][0]["answers"], true);
    assert_eq!(
        server.seen()[0].header("authorization"),
        Some(format!("Bearer {KEY}").as_str())
    );
    assert!(!ran.stdout.contains(KEY));
}

#[test]
fn a_recorded_run_replays_and_another_one_fails_with_the_difference() {
    let first = Project::new();
    let tape = first.file("tape.json");
    let tape = tape.to_str().unwrap();
    let recorded = first.run(&[
        "build",
        "--yes",
        "--output-format",
        "json",
        "--record",
        tape,
        REQUEST,
    ]);
    assert_eq!(recorded.code, 0, "{}", recorded.stderr);
    let second = Project::new();
    let replayed = second.run(&[
        "build",
        "--yes",
        "--output-format",
        "json",
        "--replay",
        tape,
        REQUEST,
    ]);
    assert_eq!(replayed.code, 0, "{}", replayed.stderr);
    assert_eq!(first.workflows(), second.workflows());
    let of = |ran: &crate::support::Ran| ran.json()["usage"]["tool_calls"].clone();
    assert_eq!(of(&recorded), of(&replayed));
    let other = Project::new().run(&[
        "build",
        "--yes",
        "--replay",
        tape,
        "Every day at 10:00 post \"x\" to Slack #dev",
    ]);
    assert_eq!(other.code, 6, "{}", other.stderr);
    assert!(
        other
            .stderr
            .contains("asks something else than was recorded"),
        "{}",
        other.stderr
    );
    assert!(
        other.stderr.contains("+  \\\"request\\\"") || other.stderr.contains("10:00"),
        "{}",
        other.stderr
    );
    let again = first.run(&["build", "--yes", "--record", tape, REQUEST]);
    assert_eq!(
        again.code, 2,
        "a recording is never written over: {}",
        again.stderr
    );
}

#[test]
fn every_line_of_an_offline_run_fits_the_schema_of_the_docs() {
    let project = Project::new();
    let ran = project.run(&["build", "--output-format", "stream-json", "--yes", REQUEST]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let events = lines(&ran);
    assert_eq!(events[0]["type"], "init");
    assert_eq!(events.last().unwrap()["type"], "result");
    fits_the_schema(&events);
    let waiting = Project::new().run(&[
        "build",
        "--output-format",
        "stream-json",
        "Tell me when a build fails",
    ]);
    assert_eq!(waiting.code, 4, "{}", waiting.stderr);
    fits_the_schema(&lines(&waiting));
}

/// Every event, and every kind of event has its line in the docs.
pub fn fits_the_schema(events: &[Value]) {
    let schema: Value =
        serde_json::from_str(include_str!("../../docs/schemas/events.schema.json")).unwrap();
    let docs = include_str!("../../docs/events.md");
    let schema = jsonschema::validator_for(&schema).unwrap();
    for event in events {
        let faults: Vec<String> = schema
            .iter_errors(event)
            .map(|e| format!("{}: {e}", e.instance_path()))
            .collect();
        assert!(faults.is_empty(), "{event}: {faults:?}");
        let kind = event["type"].as_str().unwrap();
        assert!(
            docs.contains(&format!("`{kind}`")),
            "{kind} is not in docs/events.md"
        );
    }
}
