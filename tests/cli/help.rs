//! The whole `--help` tree, so that no change to it goes unseen; and a rule for all of it.

use super::support::Project;

/// Every command of the tree, as typed.
fn commands(project: &Project) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut open: Vec<Vec<String>> = vec![Vec::new()];
    while let Some(path) = open.pop() {
        let mut args: Vec<&str> = path.iter().map(String::as_str).collect();
        args.push("--help");
        let ran = project.run(&args);
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
        let mut in_commands = false;
        for line in ran.stdout.lines() {
            if line == "Commands:" {
                in_commands = true;
            } else if line.is_empty() {
                in_commands = false;
            } else if in_commands && line.starts_with("  ") && !line.starts_with("   ") {
                let name = line.split_whitespace().next().unwrap().to_owned();
                if name != "help" {
                    open.push([path.clone(), vec![name]].concat());
                }
            }
        }
        if !path.is_empty() {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn every_command_has_help_with_an_example() {
    let project = Project::new();
    let all = commands(&project);
    let names: Vec<String> = all.iter().map(|c| c.join(" ")).collect();
    insta::assert_snapshot!(names.join("\n"));
    for command in &all {
        let mut args: Vec<&str> = command.iter().map(String::as_str).collect();
        args.push("--help");
        let help = project.run(&args).stdout;
        assert!(help.contains("Example"), "{command:?} has no example");
        assert!(
            help.contains(&format!("agentctl {}", command.join(" "))),
            "the example of {command:?} does not use it"
        );
    }
}

#[test]
fn the_help_of_build_is_reviewed() {
    insta::assert_snapshot!(Project::new().run(&["build", "--help"]).stdout);
}
