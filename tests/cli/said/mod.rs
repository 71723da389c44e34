//! All that a command says, of each command once as it should be and once as it should not.

mod a2a;
mod automations;
mod conversations;
mod learnings;
mod mcp;
mod pack;
mod pictures;
mod project;
mod qa;
mod runs;
mod taking_back;

use super::help;
use super::support::Project;

/// The files below, in which each command has its snapshots.
const SNAPSHOTS: [&str; 11] = [
    include_str!("a2a.rs"),
    include_str!("automations.rs"),
    include_str!("conversations.rs"),
    include_str!("learnings.rs"),
    include_str!("mcp.rs"),
    include_str!("pack.rs"),
    include_str!("pictures.rs"),
    include_str!("project.rs"),
    include_str!("qa.rs"),
    include_str!("runs.rs"),
    include_str!("taking_back.rs"),
];

#[test]
fn every_command_has_a_snapshot() {
    let commands = help::commands();
    for command in &commands {
        let is_family = commands
            .iter()
            .any(|other| other.starts_with(&format!("{command} ")));
        let typed = [format!("\"{command} "), format!("\"{command}\"")];
        let has_one = |file: &&str| typed.iter().any(|typed| file.contains(typed));
        assert!(
            is_family || SNAPSHOTS.iter().any(has_one),
            "no snapshot of what `{command}` says in tests/cli/said"
        );
    }
}

/// A project in which one run built one workflow.
fn built() -> Project {
    let project = Project::new();
    let request = "When a webhook receives an order over 100 EUR, post it to Slack #sales";
    let ran = project.run(&["build", "--yes", request]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    project
}
