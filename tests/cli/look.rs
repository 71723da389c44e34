//! A look before anything is written: `build --plan`, changes of a workflow on a terminal, `undo --plan`.

use crate::support::{Project, in_turn_on_a_terminal, on_a_terminal};
use serde_json::{Value, json};

const ORDERS: &str = "When a webhook receives an order over 100 EUR, post it to Slack #sales";
const CHANGE: &str = "post to #orders instead of #sales";
const UP: &str = "\x1b[A";

/// A project with one workflow, and its file.
fn built() -> (Project, String) {
    let project = Project::new();
    assert_eq!(project.run(&["build", "--yes", ORDERS]).code, 0);
    let file = format!("workflows/{}", project.workflows().first().unwrap());
    (project, file)
}

fn text(project: &Project, file: &str) -> String {
    std::fs::read_to_string(project.file(file)).unwrap()
}

fn active(project: &Project) -> String {
    let status = project.run(&["status", "--output-format", "json"]).json();
    status["run_id"].as_str().unwrap().to_owned()
}

#[test]
fn without_a_terminal_a_plan_is_shown_and_waits_for_its_yes() {
    let project = Project::new();
    let request = "When a webhook receives an order over 100 EUR, post it to Slack #sales";
    let ran = project.run(&["build", "--plan", request]);
    assert_eq!(ran.code, 4, "{}\n{}", ran.stderr, ran.stdout);
    assert_eq!(project.workflows(), [""; 0], "nothing is written");
    for shown in [
        "Allow to make this workflow? Nothing is written before you say yes.",
        "Orders over 100 EUR to Slack (3 nodes)",
        "└─ Only amount > 100 · filter",
        "left to do: [Slack: Send message] connect a credential: Slack API",
        "approve-1=approve",
    ] {
        assert!(ran.stdout.contains(shown), "no {shown:?} in {}", ran.stdout);
    }
    let run = active(&project);
    let ran = project.run(&["answer", &run, "approve-1=approve"]);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stderr, ran.stdout);
    assert_eq!(project.workflows().len(), 1);
}

#[test]
fn a_no_to_a_plan_ends_the_run_and_changes_nothing() {
    let (project, file) = built();
    let before = text(&project, &file);
    let planned = project.run(&[
        "build",
        "--plan",
        "--workflow",
        &file,
        CHANGE,
        "--output-format",
        "json",
    ]);
    assert_eq!(planned.code, 4, "{}", planned.stderr);
    let question = &planned.json()["questions"][0];
    assert_eq!(question["proposal"]["rule"], "guard.look");
    let after = &question["proposal"]["after"];
    assert!(after.to_string().contains("#orders"), "{after}");
    let run = active(&project);
    let ran = project.run(&["answer", &run, "approve-1=refuse"]);
    assert_eq!(ran.code, 5, "{}\n{}", ran.stderr, ran.stdout);
    assert!(
        ran.stdout
            .contains("refused: you said no; nothing was changed"),
        "{}",
        ran.stdout
    );
    assert_eq!(text(&project, &file), before);
    // The run is over: nothing waits, and nothing can be resumed into a change.
    let again = project.run(&["resume", &run]);
    assert_eq!(again.code, 5, "{}", again.stderr);
    assert_eq!(text(&project, &file), before);
}

#[test]
fn a_no_to_a_question_of_the_policy_is_no_failure_of_the_model() {
    let (project, file) = built();
    let mut workflow = project.read_json(&file);
    workflow["active"] = json!(true);
    project.write(&file, &serde_json::to_string_pretty(&workflow).unwrap());
    let before = text(&project, &file);
    assert_eq!(project.run(&["build", "--workflow", &file, CHANGE]).code, 4);
    let ran = project.run(&["answer", &active(&project), "approve-1=refuse"]);
    assert_eq!(ran.code, 5, "{}\n{}", ran.stderr, ran.stdout);
    assert!(
        ran.stdout.contains("you said no; nothing was changed"),
        "{}",
        ran.stdout
    );
    assert_eq!(text(&project, &file), before);
}

#[test]
fn with_yes_or_without_a_terminal_a_change_is_written_at_once() {
    let (project, file) = built();
    let ran = project.run(&["build", "--workflow", &file, CHANGE]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(text(&project, &file).contains("#orders"));
    let both = project.run(&["build", "--plan", "--yes", ORDERS]);
    assert_eq!(both.code, 2, "{}", both.stderr);
}

#[test]
fn on_a_terminal_a_change_is_shown_first_and_an_enter_leaves_all_as_it_is() {
    let (project, file) = built();
    let before = text(&project, &file);
    let ask = |keys: &str| {
        let command = project.command(&["build", "--workflow", &file, CHANGE]);
        on_a_terminal(command, "before you say yes", keys.as_bytes())
    };
    let (code, shown) = ask("\r");
    assert_eq!(code, 5, "{shown}");
    for line in ["(3 nodes)", "#orders", "left to do:", "Change something"] {
        assert!(shown.contains(line), "no {line:?} in {shown}");
    }
    assert_eq!(text(&project, &file), before);
    let (code, shown) = ask(&format!("{UP}{UP}\r"));
    assert_eq!(code, 0, "{shown}");
    assert!(text(&project, &file).contains("#orders"), "{shown}");
}

#[test]
fn on_a_terminal_a_wish_makes_another_plan() {
    let (project, file) = built();
    let before = text(&project, &file);
    let command = project.command(&["build", "--workflow", &file, CHANGE]);
    let (change, wish) = (format!("{UP}\r"), "also mail it to boss@example.com\r");
    let typed: [(&str, &[u8]); 3] = [
        ("before you say yes", change.as_bytes()),
        ("What should be otherwise?", wish.as_bytes()),
        ("once more with what you said", b""),
    ];
    let (_, shown) = in_turn_on_a_terminal(command, &typed);
    assert!(
        shown.contains("nothing was written; once more with what you said"),
        "{shown}"
    );
    assert_eq!(text(&project, &file), before);
}

#[test]
fn a_planned_undo_says_what_it_would_do_and_does_nothing() {
    let (project, file) = built();
    let before = text(&project, &file);
    let planned = project.run(&["undo", "--plan"]);
    assert_eq!(planned.code, 0, "{}", planned.stderr);
    assert!(
        planned
            .stdout
            .contains("would be removed: the run had created it"),
        "{}",
        planned.stdout
    );
    assert!(
        planned
            .stdout
            .contains("nothing was changed: without --plan this is done")
    );
    assert_eq!(text(&project, &file), before);
    let told: Value = project
        .run(&["undo", "--plan", "--output-format", "json"])
        .json();
    assert_eq!((&told["plan"], &told["redo"]), (&json!(true), &Value::Null));
    assert_eq!(told["workflows"][0]["what"], "removed");
    assert_eq!(project.run(&["undo"]).code, 0);
    assert_eq!(project.workflows(), [""; 0]);
}

/// What is in no list can be typed: the way to an answer in own words stays there whatever the list is filtered by, and begins with it.
#[test]
fn on_a_terminal_an_answer_that_no_option_is_can_be_typed_at_the_list() {
    let project = Project::new();
    let command = project.command(&["build", "post our new stuff on social media automatically"]);
    let typed: [(&str, &[u8]); 2] = [
        ("(in your own words)", b"Instagram\r\r"),
        ("Where is \"new stuff\" kept", b""),
    ];
    in_turn_on_a_terminal(command, &typed);
    let runs = project
        .run(&["runs", "list", "--output-format", "json"])
        .json();
    let run = runs["runs"][0]["run_id"].as_str().unwrap();
    let told = project.run(&["log", run]).stdout;
    assert!(told.contains("social: Instagram (terminal)"), "{told}");
}
