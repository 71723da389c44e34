//! Models that talk nonsense, fall silent, are interrupted, or repeat a key: what a run makes of it.

use crate::models::{REQUEST, build, configured, fits_the_schema, lines};
use crate::support::{Project, Ran};
use crate::wire::{Reply, Says, Server, openai};
use crate::wires::{KEY, WIRES};
use base64::Engine;
use nix::{sys::signal, unistd::Pid};
use std::io::{BufRead, BufReader};
use std::process::Stdio;

const SAID: Says<'static> = Says {
    words: &["{\"requirements\"", ": {"],
    calls: &[],
    ends: None,
};

/// How often the model was asked, and why the step failed.
fn nonsense(kind: &str, path: &str, reply: &Reply) -> (usize, String) {
    let server = Server::new((0..9).map(|_| reply.clone()).collect());
    let project = configured(&server);
    let settings = std::fs::read_to_string(project.file("agentctl.toml")).unwrap();
    let settings = settings
        .replace("kind = \"openai\"", &format!("kind = \"{kind}\""))
        .replace("/v1\"", &format!("/{path}\""));
    project.write("agentctl.toml", &settings);
    let ran = build(&project, &[]);
    assert!([1, 3].contains(&ran.code), "{kind}: {}", ran.stderr);
    let events = lines(&ran);
    fits_the_schema(&events);
    let failed = events.iter().find(|e| e["type"] == "step.failed").unwrap();
    let why = failed["error"].as_str().unwrap().to_owned();
    (server.seen().len(), why)
}

#[test]
fn nonsense_is_told_twice_and_then_the_step_fails_with_the_reason() {
    for (says, asked, why) in [
        (Says::default(), 3, "the answer was empty"),
        (SAID, 3, "the answer is not JSON"),
        (
            Says {
                ends: Some("length"),
                ..SAID
            },
            3,
            "cut off at the limit",
        ),
        (
            Says {
                ends: Some("content_filter"),
                ..SAID
            },
            3,
            "would not answer",
        ),
        (
            Says {
                calls: &[("fly_to_moon", "{}")],
                ..Says::default()
            },
            3,
            "fly_to_moon",
        ),
        (
            Says {
                calls: &[("load_skill", "{\"name\": oops")],
                ..Says::default()
            },
            3,
            "load_skill",
        ),
    ] {
        let (times, reason) = nonsense("openai", "v1/", &openai(says));
        assert!(reason.contains(why), "{why}: {reason}");
        assert_eq!(times, asked, "{why}: {reason}");
    }
}

#[test]
fn an_unknown_tool_is_told_twice_on_every_wire() {
    for (kind, path, says) in WIRES {
        let reply = says(Says {
            calls: &[("fly_to_moon", "{}")],
            ..Says::default()
        });
        let (times, reason) = nonsense(kind, path, &reply);
        assert!(reason.contains("fly_to_moon"), "{kind}: {reason}");
        assert_eq!(times, 3, "{kind}: {reason}");
    }
}

#[test]
fn a_signal_amid_a_stream_saves_the_run_and_it_goes_on() {
    for (sent, code) in [
        (signal::Signal::SIGHUP, 129),
        (signal::Signal::SIGINT, 130),
        (signal::Signal::SIGQUIT, 131),
        (signal::Signal::SIGTERM, 143),
    ] {
        interrupted(sent, code);
    }
}

fn interrupted(sent: signal::Signal, code: i32) {
    let words = Says {
        words: &["thinking\n", "more\n"],
        ..Says::default()
    };
    let server = Server::new(vec![
        openai(words).cut(1).hanging(),
        Reply::error(400, "no more"),
    ]);
    let project = configured(&server);
    let mut child = project
        .command(&["build", "--output-format", "stream-json", "--yes", REQUEST])
        .env("MINE_SECRET", KEY)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
    let streamed =
        |line: &std::io::Result<String>| line.as_ref().unwrap().contains("\"model.text\"");
    assert!(
        out.any(|line| streamed(&line)),
        "words come as they are said"
    );
    signal::kill(Pid::from_raw(child.id().cast_signed()), sent).unwrap();
    let last = out.last().unwrap().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(code), "{last}");
    let last: serde_json::Value = serde_json::from_str(&last).unwrap();
    assert_eq!(
        (&last["outcome"], &last["exit_code"]),
        (&"interrupted".into(), &code.into())
    );
    let verified = project.run(&["runs", "verify"]);
    assert_eq!(verified.code, 0, "{}", verified.stderr);
    let resumed: Ran = project
        .command(&["resume", "--yes"])
        .env("MINE_SECRET", KEY)
        .output()
        .unwrap()
        .into();
    assert_eq!(
        (resumed.code, server.seen().len()),
        (6, 2),
        "{}",
        resumed.stderr
    );
    let bodies: Vec<_> = server.seen().into_iter().map(|seen| seen.body).collect();
    assert_eq!(bodies[0], bodies[1], "the same is asked again");
}

/// A key that a command gave stands in no name and looks like nothing; a provider that repeats it everywhere gives nothing away.
#[test]
fn a_key_from_a_command_turns_up_nowhere() {
    let coded = base64::engine::general_purpose::STANDARD.encode(KEY);
    let said = format!("your key is {KEY}\nor {coded}\n");
    let called = format!("{{\"name\": \"{KEY}\"}}");
    let reply = |words: &[&str], calls: &[(&str, &str)]| {
        openai(Says {
            words,
            calls,
            ends: None,
        })
    };
    for format in ["text", "json", "stream-json"] {
        let server = Server::new(vec![
            Reply::error(500, &format!("cannot do this for {KEY}")).with("retry-after", "0"),
            reply(&[&said], &[]),
            reply(&["look\n"], &[("load_skill", &called), (KEY, &called)]),
            Reply::error(400, &format!("no more for {coded} and {KEY}")),
        ]);
        let outside = tempfile::tempdir().unwrap();
        let key_file = outside.path().join("key");
        std::fs::write(&key_file, KEY).unwrap();
        let project = Project::new();
        project.write(
            "agentctl.toml",
            &format!(
                "[models]\ndefault = \"mine::m\"\n[providers.mine]\nkind = \"openai\"\nbase_url = \"{}\"\nkey_command = [\"cat\", \"{}\"]\n",
                server.url("v1"),
                key_file.display()
            ),
        );
        let mut seen = Vec::new();
        let mut run = |args: &[&str]| {
            let ran: Ran = project.command(args).output().unwrap().into();
            seen.push((args.join(" "), ran.stdout.clone()));
            seen.push((args.join(" "), ran.stderr.clone()));
            ran
        };
        let tape = project.file("tape.json");
        let built = run(&[
            "build",
            "--yes",
            "--output-format",
            format,
            "--record",
            tape.to_str().unwrap(),
            REQUEST,
        ]);
        assert_eq!(
            (built.code, server.seen().len()),
            (6, 4),
            "{}",
            built.stderr
        );
        for command in [
            &["models"][..],
            &["status"],
            &["usage"],
            &["log"],
            &["doctor"],
            &["runs", "list"],
            &["analyze"],
        ] {
            run(&[command, &["--output-format", format]].concat());
        }
        for entry in walkdir::WalkDir::new(project.path()) {
            let entry = entry.unwrap();
            if entry.file_type().is_file() {
                let text = std::fs::read(entry.path()).unwrap();
                seen.push((
                    entry.path().display().to_string(),
                    String::from_utf8_lossy(&text).into_owned(),
                ));
            }
        }
        for (place, text) in seen {
            assert!(
                !text.contains(KEY) && !text.contains(&coded),
                "{format}: {place}:\n{text}"
            );
        }
        let header = format!("Bearer {KEY}");
        assert_eq!(
            server.seen()[0].header("authorization"),
            Some(header.as_str())
        );
    }
}
