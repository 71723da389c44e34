//! What a shell is told when somebody presses Tab: the script asks the binary, which knows what stands in the project.

use super::support::Project;

/// What is proposed for the last of the words, as bash gets it, without the options that may stand there too.
fn proposed(project: &Project, words: &[&str]) -> Vec<String> {
    let mut command = project.stranger(&[]);
    command.args(["--", "agentctl"]).args(words);
    command
        .env("AGENTCTL_COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string())
        .env("_CLAP_COMPLETE_COMP_TYPE", "9")
        .env("_CLAP_COMPLETE_SPACE", "true")
        .env("_CLAP_IFS", "\n");
    let output = command.output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), told.as_str()), (Some(0), ""));
    let out = String::from_utf8(output.stdout).unwrap();
    let values = out.lines().filter(|line| !line.starts_with("--"));
    values.map(str::to_owned).collect()
}

#[test]
fn a_shell_is_told_the_runs_files_codes_packs_and_types_that_there_are() {
    let project = Project::new();
    for request in [
        "Every day at 9:00 post hello to Slack #dev",
        "When a webhook receives an order, post it to Slack #sales",
    ] {
        let ran = project.run(&["build", "--yes", request]);
        assert!([0, 9].contains(&ran.code), "{}", ran.stderr);
    }
    let listed = project.run(&["runs", "list", "--output-format", "json"]);
    let listed = listed.json();
    let listed = listed["runs"].as_array().unwrap();
    let newest_first: Vec<&str> = listed
        .iter()
        .map(|run| run["run_id"].as_str().unwrap())
        .collect();
    assert_eq!(proposed(&project, &["runs", "show", ""]), newest_first);
    assert_eq!(
        proposed(&project, &["undo", newest_first[1]]),
        [newest_first[1]]
    );

    // Elsewhere there are none, and the folder may stand on the command line.
    let elsewhere = Project::new();
    assert!(proposed(&elsewhere, &["runs", "show", "2"]).is_empty());
    let here = project.path().to_str().unwrap();
    let words = ["--project", here, "runs", "show", ""];
    assert_eq!(proposed(&elsewhere, &words), newest_first);

    let mut files: Vec<String> = std::fs::read_dir(project.file("workflows"))
        .unwrap()
        .map(|e| format!("workflows/{}", e.unwrap().file_name().to_str().unwrap()))
        .collect();
    files.sort();
    assert_eq!(files.len(), 2);
    assert_eq!(proposed(&project, &["show", "workflows/"]), files);
    assert_eq!(proposed(&project, &["build", "--workflow", ""]), files);
    // A file that is no workflow of the project.
    project.write("other/flow.json", "{}");
    assert_eq!(proposed(&project, &["show", "other/"]), ["other/flow.json"]);

    let codes = proposed(&project, &["qa", "--explain", "n8n/"]);
    assert!(codes.contains(&"n8n/no-trigger".to_owned()), "{codes:?}");
    assert!(codes.iter().all(|code| code.starts_with("n8n/")));
    assert_eq!(
        proposed(
            &project,
            &["qa", "--ignore", "n8n/no-trigger,agentctl/code-s"]
        ),
        ["n8n/no-trigger,agentctl/code-syntax"]
    );
    assert_eq!(proposed(&project, &["chat", "front"]), ["front-door"]);
    assert_eq!(
        proposed(&project, &["a2a", "get", "desk", newest_first[0]]),
        [newest_first[0]]
    );
    assert_eq!(
        proposed(&project, &["runs", "list", "--status", "t"]),
        ["taken-back"]
    );
    assert_eq!(
        proposed(&project, &["executions", "list", "--status", "e"]),
        ["error"]
    );
    assert_eq!(proposed(&project, &["schema", "runs-v"]), ["runs-verify"]);
    let added = [
        "learnings",
        "add",
        "Locators",
        "--problem",
        "a plain id",
        "--cause",
        "a guess",
        "--solution",
        "a locator",
    ];
    assert_eq!(project.run(&added).code, 0);
    assert_eq!(proposed(&project, &["learnings", "show", "L-"]), ["L-001"]);
    project.write("agents/desk.md", "not an agent");
    assert_eq!(proposed(&project, &["policy", "check", "d"]), ["desk"]);
    assert_eq!(
        proposed(&project, &["mcp", "serve", "--role", "arch"]),
        ["architect"]
    );
    assert_eq!(
        proposed(&project, &["catalog", "show", "n8n-nodes-base.slackTr"]),
        ["n8n-nodes-base.slackTrigger"]
    );
}

#[test]
fn a_hostile_name_is_not_proposed_and_nothing_of_the_folder_is_believed() {
    let project = Project::new();
    project.write("workflows/a\u{1b}[2J.json", "{}");
    project.write("workflows/b.json", "not JSON");
    project.write("packs/mine/pack.yaml", "not a pack");
    assert_eq!(proposed(&project, &["show", ""]), ["workflows/b.json"]);
    assert_eq!(proposed(&project, &["chat", "mi"]), ["mine"]);
}

#[test]
fn every_shell_gets_a_script_that_asks_the_binary() {
    let project = Project::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = project.run(&["completions", shell]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        assert!(ran.stdout.contains("AGENTCTL_COMPLETE"), "{shell}");
        assert!(!ran.stdout.contains("/target/"), "{shell}: {}", ran.stdout);
    }
}
