//! What a run's page, `status` and `usage` say of runs that were taken back, failed, asked something or talked; and that every command
//! that is printed can be typed as it stands.

use super::models::fits_the_schema;
use super::support::{Project, Ran};
use serde_json::Value;

const ORDERS: &str = "When a webhook receives an order over 100 EUR, post it to Slack #sales";

/// The active run's page.
fn page(project: &Project) -> String {
    let ran = project.run(&["report", "--html", "run.html"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    std::fs::read_to_string(project.file("run.html")).unwrap()
}

/// What stands under a heading of a page.
fn section<'p>(page: &'p str, heading: &str) -> &'p str {
    let (_, part) = page.split_once(&format!("<h2>{heading}</h2>")).unwrap();
    part.split("</section>").next().unwrap()
}

#[test]
fn the_page_of_a_run_that_was_taken_back_shows_what_it_did() {
    let project = Project::new();
    assert_eq!(project.run(&["build", "--yes", ORDERS]).code, 0);
    let file = format!("workflows/{}", project.workflows().remove(0));
    let change = [
        "build",
        "--yes",
        "--workflow",
        &file,
        "post to #orders instead of #sales",
    ];
    assert_eq!(project.run(&change).code, 0);
    let before = page(&project);
    std::thread::sleep(std::time::Duration::from_millis(1_200));
    assert_eq!(project.run(&["undo"]).code, 0);
    let after = page(&project);
    for shown in [
        "<span class=\"warning\">complete, taken back</span>",
        "<dt>taken back</dt>",
    ] {
        assert!(after.contains(shown), "no {shown:?}");
    }
    let workflow = section(&after, "Workflow");
    assert!(
        workflow.contains("Put back</span> by an undo at "),
        "{workflow}"
    );
    let without = |text: &str| -> String {
        let lines = text
            .lines()
            .filter(|line| !line.contains("Put back</span>"));
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_eq!(without(workflow), without(section(&before, "Workflow")));
    assert!(workflow.contains("#orders") && workflow.contains("#sales"));
    // The time until the undo is no phase of the run.
    assert_eq!(section(&after, "Phases"), section(&before, "Phases"));

    let status = project.run(&["status"]).stdout;
    let hint = status.split(", agentctl ").nth(1).unwrap();
    let command = hint.split(" brings them back").next().unwrap();
    let typed: Vec<&str> = command.split(' ').collect();
    assert_eq!(project.run(&typed).code, 0, "{command}");
    let made = std::fs::read_to_string(project.file(&file)).unwrap();
    assert!(made.contains("#orders"), "{command}: {made}");
}

#[test]
fn a_run_that_failed_says_why_afterwards() {
    let project = Project::new();
    let mut command = project.command(&["build", "--yes", "--model", "ollama::nope", ORDERS]);
    // Nobody listens there.
    command.env("OLLAMA_HOST", "http://127.0.0.1:9");
    let ran = Ran::from(command.output().unwrap());
    assert_eq!(ran.code, 6, "{}", ran.stderr);
    let status = project.run(&["status"]).stdout;
    let line = status
        .lines()
        .find(|line| line.starts_with("failed:"))
        .unwrap();
    assert!(line.contains("nope"), "{status}");
    let why = line.strip_prefix("failed: ").unwrap();
    assert!(ran.stderr.contains(why), "{why} is not in {}", ran.stderr);
    let json = project.run(&["status", "--output-format", "json"]).json();
    assert!(json["message"].as_str().unwrap().contains("nope"), "{json}");
    let page = page(&project);
    assert!(section(&page, "How it ended").contains("nope"), "{page}");
    assert!(
        section(&page, "What happened").contains("it stopped: "),
        "{page}"
    );
    let log = project.run(&["log"]).stdout;
    assert!(log.contains("ended: failed ("), "{log}");
}

#[test]
fn cases_that_were_not_tried_are_told() {
    let project = Project::new();
    let request = r#"A webhook POST /double that gets {"amount": 5} and answers {"total": 10}"#;
    let ran = project.run(&["build", "--yes", request]);
    let case = r#"case amount 5: {"amount":5} → answer {"total":10}: not tried"#;
    assert!(ran.stdout.contains(case), "{}", ran.stdout);
    assert!(project.run(&["status"]).stdout.contains(case));
    let page = page(&project);
    let checked = section(&page, "Findings and tests");
    let row = r#"<td>amount 5</td><td>{&quot;amount&quot;:5} → answer {&quot;total&quot;:10}</td><td>not tried</td>"#;
    assert!(checked.contains(row), "{checked}");
}

/// Whatever pack answers by it: nobody was asked for anything.
#[test]
fn the_offline_model_costs_nothing_in_every_pack() {
    for pack in ["front-door", "research", "n8n-copilot", "assistant"] {
        let project = Project::new();
        let args = ["chat", pack, "I want to automate our monthly report"];
        let ran = project.run(&args);
        assert!([0, 4].contains(&ran.code), "{pack}: {}", ran.stderr);
        let runs = project
            .run(&["runs", "list", "--output-format", "json"])
            .json();
        let run = runs["runs"][0]["run_id"].as_str().unwrap().to_owned();
        let used = project
            .run(&["usage", &run, "--output-format", "json"])
            .json();
        let total = &used["total"];
        assert!(
            total["model_calls"] == 0 || total["cost_usd"] == 0.0,
            "{pack}: {total}"
        );
        let ran = project.run(&["report", &run, "--html", "run.html"]);
        assert_eq!(ran.code, 0, "{pack}: {}", ran.stderr);
        let page = std::fs::read_to_string(project.file("run.html")).unwrap();
        let told = section(&page, "What happened").matches("<tr>").count();
        assert!(told > 3, "{pack}: {told} records told");
        assert!(section(&page, "What happened").contains("said: "), "{pack}");
        assert!(!page.contains("unknown cost"), "{pack}");
    }
}

/// A workflow whose name has blanks and letters that a shell would read.
#[test]
fn a_command_that_is_printed_can_be_typed_as_it_stands() {
    let project = Project::new();
    assert_eq!(project.run(&["build", "--yes", ORDERS]).code, 0);
    let old = project.file(&format!("workflows/{}", project.workflows().remove(0)));
    let mut workflow: Value = serde_json::from_slice(&std::fs::read(&old).unwrap()).unwrap();
    let name = "Bestellung ä ö's $HOME";
    workflow["id"] = name.into();
    std::fs::remove_file(old).unwrap();
    let file = format!("workflows/{name}.json");
    project.write(&file, &workflow.to_string());
    let change = [
        "build",
        "--yes",
        "--workflow",
        &file,
        "post to #orders instead of #sales",
    ];
    let ran = project.run(&change);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let history = project.run(&["log", "--workflow", name]);
    assert_eq!(history.code, 0, "{}", history.stderr);
    let mut printed = Vec::new();
    for line in ran.stdout.lines().chain(history.stdout.lines()) {
        let Some((_, rest)) = line.split_once("next: agentctl ") else {
            continue;
        };
        let command = rest.split(" to change it").next().unwrap();
        printed.push(command.split(" puts it as").next().unwrap());
    }
    assert_eq!(printed.len(), 2, "{}{}", ran.stdout, history.stdout);
    for command in printed {
        let words = std::process::Command::new("sh")
            .args(["-c", &format!("printf '%s\\n' {command}")])
            .output()
            .unwrap();
        let words = String::from_utf8(words.stdout).unwrap();
        let words: Vec<&str> = words.lines().collect();
        let at = words.iter().position(|word| *word == "--workflow").unwrap();
        assert!(
            [name, &file].contains(&words[at + 1]),
            "{command}: {words:?}"
        );
    }
}

#[test]
fn a_log_in_lines_of_json_has_the_published_form() {
    let project = Project::new();
    assert_eq!(project.run(&["build", "--yes", ORDERS]).code, 0);
    let ran = project.run(&["log", "--output-format", "stream-json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let lines: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(lines.len() > 10);
    assert_eq!(
        (&lines[0]["type"], &lines[lines.len() - 1]["type"]),
        (&"init".into(), &"result".into())
    );
    fits_the_schema(&lines);
}

#[test]
fn what_was_typed_wrongly_is_an_error_in_json_too() {
    let project = Project::new();
    for (args, said) in [
        (&["build", "--output-format", "json"][..], "<REQUEST>"),
        (
            &["runs", "list", "--status", "wa", "--output-format=json"],
            "wa",
        ),
        (&["--output-format", "stream-json", "bild", "x"], "bild"),
        (
            &[
                "runs",
                "prune",
                "--older-than",
                "soon",
                "--output-format",
                "json",
            ],
            "30d",
        ),
    ] {
        let ran = project.run(args);
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.stderr);
        let told = ran.json();
        assert_eq!(
            (&told["type"], &told["exit_code"]),
            (&"result".into(), &2.into())
        );
        let words = told["error"].to_string();
        assert!(words.contains(said), "{args:?}: {words}");
    }
    // For people it stays on stderr alone.
    assert_eq!(project.run(&["runs", "list", "--status", "wa"]).stdout, "");
}

#[test]
fn small_things_are_said_with_what_to_type() {
    let project = Project::new();
    assert_eq!(project.run(&["build", "--plan", ORDERS]).code, 4);
    let ran = project.run(&["answer", "approve-1=yes"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("approve-1=approve or approve-1=refuse"),
        "{}",
        ran.stderr
    );
    std::fs::create_dir_all(project.file("some folder")).unwrap();
    let ran = project.run(&["show", "some folder"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("agentctl qa 'some folder'"),
        "{}",
        ran.stderr
    );
    for days in ["30", "30d", "4w"] {
        assert_eq!(
            project.run(&["runs", "prune", "--older-than", days]).code,
            0
        );
    }
    let ran = project.run(&["schema", "nope"]);
    assert!(
        ran.stderr.len() < 300 && ran.stderr.contains("agentctl schema"),
        "{}",
        ran.stderr
    );
    let ran = project.run(&["qa", "--only", "n8n/credentials", "x.json"]);
    assert!(ran.stderr.contains("n8n/credential,"), "{}", ran.stderr);
}
