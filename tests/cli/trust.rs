//! The first minutes in a folder: cloned, one's own, and with nothing in it to trust.

use super::support::{Project, Ran};

const REQUEST: &str = "When a webhook receives an order over 100 EUR, post it to Slack #sales";
const AGENT: &str =
    "---\nname: architect\ndescription: Of the team.\nmodel: opus\n---\nSpeak plainly.\n";

fn stranger(project: &Project, args: &[&str]) -> Ran {
    project.stranger(args).output().unwrap().into()
}

#[test]
fn a_fresh_clone_builds_restricted_and_says_so_in_one_line() {
    let project = Project::new();
    project.write("agents/architect.md", AGENT);
    project.write(
        ".mcp.json",
        r#"{"mcpServers": {"docs": {"command": "true"}}}"#,
    );
    let built = stranger(&project, &["build", "--yes", "--quiet", REQUEST]);
    assert_eq!((built.code, built.stderr.as_str()), (0, ""));
    assert_eq!(project.workflows().len(), 1);
    let built = stranger(&project, &["build", "--yes", REQUEST]);
    let lines: Vec<&str> = built
        .stderr
        .lines()
        .filter(|line| line.contains("trust"))
        .collect();
    assert_eq!(
        lines,
        [
            "restricted: this folder is not trusted, so these do not count: the server \"docs\" of .mcp.json, agents/architect.md; agentctl trust shows them and lets them"
        ]
    );
    let listed = stranger(&project, &["mcp", "list", "--output-format", "json"]);
    assert_eq!(
        listed.json()["servers"],
        serde_json::json!([{"name": "docs", "enabled": true, "trusted": false, "shown": "true"}])
    );
}

#[test]
fn trusted_once_and_for_all_its_files_are_in_force() {
    let project = Project::new();
    project.write("agents/architect.md", AGENT);
    let prompt = |ran: Ran| (ran.stdout.contains("Speak plainly."), ran.stderr);
    let show = ["agents", "show", "architect"];
    let once = stranger(&project, &[&["--trust-once"], &show[..]].concat());
    assert_eq!(prompt(once), (true, String::new()));
    assert!(!prompt(stranger(&project, &show)).0, "it was for once");
    let trusted = stranger(&project, &["trust"]);
    assert_eq!(trusted.code, 0, "{}", trusted.stderr);
    let hash = trusted.stdout.lines().last().unwrap();
    assert_eq!(
        trusted.stdout,
        format!(
            ".: trusted\n  agents/architect.md (agent) trusted\n    what an agent is told, and which tools it asks for\n{hash}\n"
        )
    );
    assert_eq!(hash.len(), "for CI: AGENTCTL_TRUST=".len() + 64);
    assert_eq!(prompt(stranger(&project, &show)), (true, String::new()));
    let doctor = stranger(&project, &["doctor"]);
    assert!(
        doctor
            .stdout
            .contains("✓ trust: trusted, all 1 items of it\n"),
        "{}",
        doctor.stdout
    );
}

#[test]
fn a_folder_with_nothing_to_trust_is_told_nothing() {
    let project = Project::new();
    project.write("agentctl.toml", "[limits]\nmax_turns = 50\n");
    let built = stranger(&project, &["build", "--yes", REQUEST]);
    assert_eq!(built.code, 0);
    assert!(!built.stderr.contains("trust"), "{}", built.stderr);
    assert_eq!(
        stranger(&project, &["trust", "--show"]).stdout,
        ".: nothing to trust\n"
    );
    // Nothing was written for it into the user's folder but what the run needs.
    assert!(!project.home().join("trust.json").exists());
}

#[test]
fn without_a_home_everything_works_restricted_and_trusting_says_what_is_missing() {
    let project = Project::new();
    project.write("agents/architect.md", AGENT);
    let run = |args: &[&str]| -> Ran {
        let mut command = project.stranger(args);
        for name in ["AGENTCTL_HOME", "XDG_STATE_HOME", "HOME"] {
            command.env_remove(name);
        }
        command.output().unwrap().into()
    };
    let listed = run(&["agents", "list"]);
    assert_eq!(listed.code, 0);
    assert!(
        listed
            .stderr
            .starts_with("restricted: this folder is not trusted (no folder of your own is known:"),
        "{}",
        listed.stderr
    );
    let trust = run(&["trust"]);
    assert_eq!(trust.code, 5);
    assert!(
        trust.stderr.contains("set AGENTCTL_HOME"),
        "{}",
        trust.stderr
    );
    assert_eq!(run(&["init", "new"]).code, 0);
}

#[test]
fn a_book_that_cannot_be_read_is_said_and_no_built_in_thing_takes_its_place() {
    let project = Project::new();
    project.write("agents/architect.md", AGENT);
    std::fs::write(project.home().join("trust.json"), "{").unwrap();
    for args in [&["agents", "list"][..], &["trust"], &["trust", "--show"]] {
        let ran = stranger(&project, args);
        assert_eq!(ran.code, 5, "{args:?}");
        assert!(
            ran.stderr.contains("trust.json cannot be read"),
            "{}",
            ran.stderr
        );
    }
    let doctor = stranger(&project, &["doctor"]);
    assert_eq!(doctor.code, 1);
    assert!(doctor.stdout.contains("✗ trust: "), "{}", doctor.stdout);
}

#[test]
fn what_agentctl_writes_into_a_trusted_folder_is_trusted_too() {
    let project = Project::new();
    project.write("agents/architect.md", AGENT);
    project.write(
        ".mcp.json",
        r#"{"mcpServers": {"docs": {"command": "true"}, "web": {"command": "true", "disabled": true}}}"#,
    );
    let state = || {
        let shown = stranger(&project, &["trust", "--show", "--output-format", "json"]);
        shown.json()["state"].as_str().unwrap().to_owned()
    };
    assert_eq!(stranger(&project, &["mcp", "enable", "web"]).code, 0);
    assert_eq!(state(), "restricted");
    assert_eq!(stranger(&project, &["trust"]).code, 0);
    assert_eq!(stranger(&project, &["mcp", "disable", "docs"]).code, 0);
    assert_eq!(state(), "trusted");
    // Beside something that is new, nothing is taken along.
    project.write("agents/qa.md", AGENT);
    assert_eq!(stranger(&project, &["mcp", "enable", "docs"]).code, 0);
    assert_eq!(state(), "changed");
}
