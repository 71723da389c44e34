//! The GitHub Action and the pre-commit hook that the repository offers: their scripts, run as a runner would.

use super::support::Project;
use serde_json::{Map, Value, json};
use std::process::Command;

fn yaml(name: &str) -> Value {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    serde_saphyr::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

const UNSET: &str = r#"{"name": "W", "nodes": [
  {"id": "h", "name": "Hook", "type": "n8n-nodes-base.webhook", "typeVersion": 2, "position": [0, 0], "parameters": {"path": "x"}},
  {"id": "a", "name": "Ask", "type": "n8n-nodes-base.httpRequest", "typeVersion": 4.2, "position": [0, 0], "parameters": {"url": ""}}],
  "connections": {"Hook": {"main": [[{"node": "Ask", "type": "main", "index": 0}]]}}}"#;

/// A repository with one commit in which `w/old.json` has a finding.
fn repository() -> Project {
    let project = Project::new();
    project.write("w/old.json", UNSET);
    git(&project, &["init", "-q"]);
    git(&project, &["add", "-A"]);
    git(
        &project,
        &[
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.com",
            "commit",
            "-q",
            "-m",
            "x",
        ],
    );
    project
}

fn git(project: &Project, args: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(project.path())
        .args(args)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A shell line with our binary in front of everything else on the PATH.
fn bash(project: &Project, script: &str) -> Command {
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_agentctl"))
        .parent()
        .unwrap();
    let path = std::env::join_paths(
        std::iter::once(bin.to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    )
    .unwrap();
    let mut command = Command::new("bash");
    command
        .args(["-c", script])
        .current_dir(project.path())
        .env("PATH", path)
        .env("AGENTCTL_HOME", project.home())
        .env("NO_COLOR", "1");
    command
}

/// The action's last step, with these inputs beside the defaults.
fn action(project: &Project, given: &[(&str, &str)], base: &str) -> (i32, String) {
    let action = yaml("action.yml");
    let step = action["runs"]["steps"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    let inputs: Map<String, Value> = action["inputs"].as_object().unwrap().clone();
    let mut command = bash(project, step["run"].as_str().unwrap());
    for (variable, value) in step["env"].as_object().unwrap() {
        let value = value.as_str().unwrap();
        let resolved = match value
            .strip_prefix("${{ inputs.")
            .and_then(|v| v.strip_suffix(" }}"))
        {
            Some(input) => given
                .iter()
                .find(|(name, _)| *name == input)
                .map_or_else(|| inputs[input]["default"].as_str().unwrap(), |(_, v)| v)
                .to_owned(),
            None => {
                assert_eq!(value, "${{ github.event.pull_request.base.sha }}");
                base.to_owned()
            }
        };
        command.env(variable, resolved);
    }
    let output = command.output().unwrap();
    let text =
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), text)
}

#[test]
fn the_action_checks_what_a_pull_request_touches_and_everything_else_on_a_push() {
    let project = repository();
    let base = git(&project, &["rev-parse", "HEAD"]);
    let (code, text) = action(&project, &[], &base);
    assert_eq!(code, 0, "{text}");
    let (code, text) = action(&project, &[], "");
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("::error file=w/old.json,line=3"), "{text}");
    project.write("w/new one.json", UNSET);
    let (code, text) = action(
        &project,
        &[
            ("sarif", "out.sarif"),
            ("junit", "out.xml"),
            ("paths", "w/new one.json\nw"),
        ],
        &base,
    );
    assert_eq!(code, 1, "{text}");
    assert!(
        text.contains("::error file=w/new one.json") && !text.contains("file=w/old.json"),
        "{text}"
    );
    assert_eq!(
        project.read_json("out.sarif")["runs"][0]["results"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert!(project.file("out.xml").is_file());
    let (code, text) = action(
        &project,
        &[("changed-only", "false"), ("ignore", "n8n/,agentctl/")],
        &base,
    );
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("2 workflows, 2 clean"), "{text}");
}

#[test]
fn every_input_of_the_action_is_used_and_described() {
    let action = yaml("action.yml");
    let steps = action["runs"]["steps"].as_array().unwrap();
    let env: String = steps.iter().map(|step| step["env"].to_string()).collect();
    for (name, input) in action["inputs"].as_object().unwrap() {
        assert!(env.contains(&format!("inputs.{name} ")), "{name}");
        assert!(!input["description"].as_str().unwrap().is_empty(), "{name}");
    }
    // Text from outside reaches a script by its environment only.
    for step in steps {
        assert!(!step["run"].as_str().unwrap().contains("${{"));
        assert_eq!(step["shell"], "bash");
    }
}

#[test]
fn the_hook_checks_what_the_commit_touches() {
    let hooks = yaml(".pre-commit-hooks.yaml");
    let hook = &hooks[0];
    assert_eq!(
        (&hook["id"], &hook["pass_filenames"]),
        (&json!("agentctl-qa"), &json!(false))
    );
    let args: Vec<&str> = hook["args"]
        .as_array()
        .unwrap()
        .iter()
        .map(|a| a.as_str().unwrap())
        .collect();
    assert_eq!(hook["language"], "script");
    // pre-commit runs it from its own clone of this repository.
    let clone = env!("CARGO_MANIFEST_DIR");
    let entry = hook["entry"].as_str().unwrap();
    let line = format!("'{clone}/{entry}' {}", args.join(" "));
    let project = repository();
    let run = || {
        bash(&project, &line)
            .env("GIT_DIR", ".git")
            .env("GIT_INDEX_FILE", ".git/index")
            .status()
            .unwrap()
            .code()
    };
    assert_eq!(run(), Some(0));
    project.write("w/new.json", UNSET);
    git(&project, &["add", "w/new.json"]);
    assert_eq!(run(), Some(1));
}

/// What must be green is run for every change, and what a browser saw is kept.
#[test]
fn every_change_is_checked_and_its_pictures_are_kept() {
    let ci = yaml(".github/workflows/ci.yml");
    for event in ["push", "pull_request"] {
        assert!(ci["on"].get(event).is_some(), "{ci}");
    }
    let steps = ci["jobs"]["all"]["steps"].as_array().unwrap();
    assert!(steps.iter().any(|step| step["run"] == ".ci/run"), "{ci}");
    let kept = |path: &str| {
        let uploads = |step: &&Value| step["with"]["path"] == path;
        let found = steps.iter().find(uploads).unwrap();
        found["uses"]
            .as_str()
            .unwrap()
            .starts_with("actions/upload-artifact@")
    };
    assert!(kept("target/serve-ui/*.png") && kept("target/site/book"));
}
