//! The way to a model for somebody who has one and set none.

use crate::support::{Project, Ran, on_a_terminal};
use crate::wires::KEY;

const REQUEST: &str = "When a webhook receives an order over 100 EUR, post it to Slack #sales";

/// Keys of the environment only: no server is looked for where nobody could be.
fn with_key(project: &Project, args: &[&str]) -> std::process::Command {
    let mut command = project.stranger(args);
    command
        .env("AGENTCTL_LOOK", "keys")
        .env("ANTHROPIC_API_KEY", KEY)
        .env_remove("OPENAI_API_KEY");
    command
}

fn said(ran: &Ran) -> Vec<&str> {
    let lines = ran.stderr.lines();
    lines
        .filter(|line| line.contains("a model is there"))
        .collect()
}

#[test]
fn without_a_terminal_a_key_is_told_in_one_line_and_not_used() {
    let project = Project::new();
    let ran: Ran = with_key(&project, &["build", "--yes", REQUEST])
        .output()
        .unwrap()
        .into();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(
        said(&ran),
        [
            "a model is there: anthropic::claude-sonnet-4-6 (by your ANTHROPIC_API_KEY); --model anthropic::claude-sonnet-4-6 uses it, [models] default in agentctl.toml keeps it, AGENTCTL_LOOK=no stops looking"
        ]
    );
    assert!(ran.stderr.contains("model: offline"), "{}", ran.stderr);
    assert_eq!(project.workflows().len(), 1);

    // Whoever says a model, or set one, is not told about others.
    let ran: Ran = with_key(&project, &["build", "--yes", "--model", "offline", REQUEST])
        .output()
        .unwrap()
        .into();
    assert_eq!(said(&ran), [""; 0]);
    let mut command = with_key(&project, &["build", "--yes", REQUEST]);
    let ran: Ran = command.env("AGENTCTL_LOOK", "no").output().unwrap().into();
    assert_eq!(said(&ran), [""; 0]);
}

#[test]
fn on_a_terminal_no_is_kept_in_the_users_own_settings_and_asked_once() {
    const DOWN: &str = "\x1b[B";
    let project = Project::new();
    let own = project.home().join("config.toml");
    std::fs::write(&own, "# mine\n").unwrap();
    let args = ["build", "--yes", REQUEST];
    let ask = || {
        let mut command = with_key(&project, &args);
        command.env("AGENTCTL_CONFIG", &own);
        on_a_terminal(command, "Build with it?", format!("{DOWN}\r").as_bytes())
    };
    let (code, shown) = ask();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("by your ANTHROPIC_API_KEY"), "{shown}");
    assert_eq!(
        std::fs::read_to_string(&own).unwrap(),
        "# mine\n\n[models]\ndefault = \"offline\"\n"
    );
    let (code, shown) = ask();
    assert_eq!(code, 0, "{shown}");
    assert!(!shown.contains("A model is there"), "{shown}");
}
