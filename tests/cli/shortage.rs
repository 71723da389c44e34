//! Too few file handles, and files that cannot grow as on a full disk: code 1 with the reason, whichever call meets it first.

use super::support::{Project, Ran};
use std::process::Command;

const REQUEST: &str = "Every day at 9:00 post the open Jira bugs to Slack #dev";

/// The command below a limit of the system, set by a shell.
fn under(project: &Project, limit: &str, args: &[&str]) -> Ran {
    let agentctl = project.command(args);
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{limit}; exec \"$@\""), "sh"]);
    command
        .arg(agentctl.get_program())
        .args(agentctl.get_args());
    command.current_dir(project.path());
    for (name, value) in agentctl.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.output().unwrap().into()
}

#[test]
fn too_few_file_handles_are_told_before_anything_is_done() {
    let project = Project::new();
    for handles in [8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 24] {
        for args in [
            &["build", "--yes", REQUEST][..],
            &["status"],
            &["mcp", "list"],
        ] {
            let ran = under(&project, &format!("ulimit -n {handles}"), args);
            assert_eq!(ran.code, 1, "{handles} {args:?}: {}", ran.stderr);
            let told = format!("too few file handles are left of {handles}: Too many open files");
            assert!(ran.stderr.contains(&told), "{handles}: {}", ran.stderr);
            assert!(ran.stderr.contains("ulimit -n 1024"), "{}", ran.stderr);
        }
    }
    assert!(!project.file("memory").exists());
    // As many as are wanted are enough, and what may be raised is raised.
    for limit in ["ulimit -n 32", "ulimit -S -n 8"] {
        let project = Project::new();
        let ran = under(&project, limit, &["build", "--yes", REQUEST]);
        assert_eq!(ran.code, 0, "{limit}: {}", ran.stderr);
    }
}

#[test]
fn files_that_cannot_grow_end_a_command_with_code_1_and_the_file() {
    let built = Project::new();
    assert_eq!(built.run(&["build", "--yes", REQUEST]).code, 0);
    for blocks in 0..8 {
        // With the signal or without it a write beyond the limit fails as on a full disk.
        let trap = if blocks % 2 == 0 {
            "trap '' XFSZ; "
        } else {
            ""
        };
        let limit = format!("{trap}ulimit -f {blocks}");
        let new = Project::new();
        let build = ["build", "--yes", "--quiet", REQUEST];
        let init = ["init"];
        let undo = ["undo"];
        for (project, args) in [(&new, &build[..]), (&new, &init), (&built, &undo)] {
            let ran = under(project, &limit, args);
            assert!([0, 1].contains(&ran.code), "{blocks} {args:?}: {ran:?}");
            let told = ran.stderr.contains("error: cannot") && ran.stderr.contains("too large");
            assert_eq!(told, ran.code == 1, "{blocks} {args:?}: {}", ran.stderr);
        }
        assert_eq!(new.run(&["runs", "verify"]).code, 0, "{blocks}");
    }
}

/// Without the key the run would be nobody's, and nothing told of it with `--quiet`.
#[test]
fn a_key_that_cannot_be_written_ends_a_command_before_anything_is_done() {
    let project = Project::new();
    let build = ["build", "--yes", "--quiet", REQUEST];
    let ran = under(&project, "trap '' XFSZ; ulimit -f 0", &build);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let key = ran.stderr.contains("error: cannot write") && ran.stderr.contains("/key: ");
    assert!(key, "{}", ran.stderr);
    assert!(!project.file("memory").exists() && !project.file("workflows").exists());
    assert_eq!(project.run(&build).code, 0);
    assert_eq!(project.run(&["undo"]).code, 0);
}

/// Nobody refused it, and the folder is as it should be.
#[test]
fn accepted_states_that_cannot_grow_are_a_fault_of_the_machine() {
    let project = Project::new();
    assert_eq!(project.run(&["build", "--yes", REQUEST]).code, 0);
    let workflow = std::fs::read_dir(project.file("workflows"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let accept = ["accept", "--yes", workflow.path().to_str().unwrap()].map(str::to_owned);
    let accept = accept.each_ref().map(String::as_str);
    let ran = under(&project, "trap '' XFSZ; ulimit -f 0", &accept);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("/accepted/"), "{}", ran.stderr);
    assert_eq!(project.run(&accept).code, 0);
}
