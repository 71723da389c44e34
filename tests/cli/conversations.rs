//! Twelve builds that a model really made, replayed through the whole program without a network: `tests/conversations/NAME/` has
//! the request, the recording, and the workflow as it came out (a further file: the one that was to be changed). Eight of them were
//! made by one agent as well (`multi_agent: false`), by the same mind and with the same workflow: `one-agent.json`.
//!
//! A prompt, a tool's description or a check that changes on purpose makes these fail with the part that differs. Then
//! `RENEW_CONVERSATIONS=1 cargo test --test cli` writes recordings, workflows and `tests/prompts` anew, with the same answers to what
//! is asked now. A recording holds hashes of what was asked; what changed in a prompt is in the diff of `tests/prompts`.

use crate::support::{Project, Ran, is_harmless};
use serde_json::Value;
use std::path::{Path, PathBuf};

const RENEW: &str = "if that is meant: RENEW_CONVERSATIONS=1 cargo test --test cli";

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/conversations")
        .join(name)
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// How a build is made: the name of its recording, and the settings of the pack.
type Way = (&'static str, &'static str);
const FIVE: Way = ("recording.json", "multi_agent: true\n");
const ONE: Way = ("one-agent.json", "multi_agent: false\n");

/// The build of a conversation in one way, with its recording and more options.
fn build(project: &Project, name: &str, way: Way, request: &str, more: &[&str]) -> Ran {
    let folder = folder(name);
    let recording = folder.join(way.0);
    if way != FIVE {
        project.write("agents/settings.yaml", way.1);
    }
    let mut args = vec!["build", "--yes", "--no-input", "--replay"];
    args.push(recording.to_str().unwrap());
    let before = workflow_before(&folder);
    if let Some(id) = &before {
        let file = format!("{id}.json");
        project.write(&format!("workflows/{file}"), &text(&folder.join(file)));
        args.extend(["--workflow", id]);
    }
    args.extend(more);
    args.push(request);
    project.run(&args)
}

/// The id of the workflow that is to be changed, if there is one: the further JSON file of the folder.
fn workflow_before(folder: &Path) -> Option<String> {
    let files = std::fs::read_dir(folder).unwrap();
    let mut names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let other = names.find(|name| {
        name.ends_with(".json") && ![FIVE.0, ONE.0, "after.json"].contains(&name.as_str())
    });
    other.map(|name| name.trim_end_matches(".json").to_owned())
}

/// The workflow in the project, without the ids that differ from run to run.
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

fn renewing() -> bool {
    std::env::var_os("RENEW_CONVERSATIONS").is_some()
}

fn replays(name: &str, way: Way) {
    let folder = folder(name);
    let request = text(&folder.join("request.txt"));
    let project = Project::new();
    let after = folder.join("after.json");
    if renewing() {
        let new = project.file("renewed.json");
        let ran = build(
            &project,
            name,
            way,
            &request,
            &["--record", new.to_str().unwrap()],
        );
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        std::fs::copy(&new, folder.join(way.0)).unwrap();
        if way != FIVE {
            return;
        }
        let workflow = serde_json::to_string_pretty(&made(&project)).unwrap();
        std::fs::write(&after, workflow + "\n").unwrap();
        return;
    }
    let ran = build(&project, name, way, &request, &[]);
    assert_eq!(ran.code, 0, "{}\n{RENEW}", ran.stderr);
    let expected: Value = serde_json::from_str(&text(&after)).unwrap();
    assert_eq!(made(&project), expected, "{RENEW}");
}

macro_rules! conversations {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            let name = stringify!($name).replace('_', "-");
            replays(&name, FIVE);
            if folder(&name).join(ONE.0).exists() {
                replays(&name, ONE);
            }
        })*
        #[test]
        fn each_recording_is_a_test_and_has_no_secret() {
            let mut names: Vec<String> = std::fs::read_dir(folder("")).unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            let mut tested = [$(stringify!($name).replace('_', "-")),*];
            tested.sort();
            assert_eq!(names, tested);
            let mut by_one = 0;
            for name in names {
                if renewing() {
                    continue;
                }
                is_harmless(&text(&folder(&name).join(FIVE.0)), &name);
                let alone = folder(&name).join(ONE.0);
                if alone.exists() {
                    is_harmless(&text(&alone), &name);
                    by_one += 1;
                }
            }
            assert!(renewing() || by_one == 8, "{by_one}");
        }
    };
}

conversations! {
    alerts_on_push
    convert_api
    expense_approval
    lead_routing
    news_digest
    nightly_audit
    open_incidents
    price_quote_api
    sensor_ingest
    survey_leads
    urgent_only
    vacation_mcp_server
}

#[test]
fn a_conversation_that_asks_something_else_fails_with_the_difference() {
    if renewing() {
        return;
    }
    let request = text(&folder("sensor-ingest").join("request.txt")).replace("temp", "humidity");
    let project = Project::new();
    let ran = build(&project, "sensor-ingest", FIVE, &request, &[]);
    assert_eq!(ran.code, 6, "{}", ran.stderr);
    let told = &ran.stderr;
    assert!(
        told.contains("turn 1 of architect at clarify asks something else than was recorded"),
        "{told}"
    );
    assert!(
        told.contains("\nmessage 1, input request: changed\n")
            && told.contains("(device_id, humidity, ts"),
        "{told}"
    );
    assert!(
        told.contains("--replay with --record renews the recording"),
        "{told}"
    );
    assert_eq!(project.workflows(), Vec::<String>::new());
}

#[test]
fn a_recording_that_is_renewed_without_a_change_stays_as_it_is() {
    if renewing() {
        return;
    }
    let project = Project::new();
    let name = "vacation-mcp-server";
    let new = project.file("renewed.json");
    let request = text(&folder(name).join("request.txt"));
    let ran = build(
        &project,
        name,
        FIVE,
        &request,
        &["--record", new.to_str().unwrap()],
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        text(&new) == text(&folder(name).join("recording.json")),
        "{RENEW}"
    );
}
