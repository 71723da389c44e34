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

/// What must come out of what is seen before anything is built: while it is read, in the look, beside a question, and in JSON.
#[test]
fn the_cases_of_a_request_are_shown_before_anything_is_built() {
    let request = r#"A webhook POST /double that gets {"amount": 5} and answers {"total": 10}"#;
    let told = r#"case amount 5: {"amount":5} → answer {"total":10}"#;
    let project = Project::new();
    let ran = project.run(&["build", "--plan", request]);
    assert_eq!(ran.code, 4, "{}\n{}", ran.stderr, ran.stdout);
    assert!(
        ran.stderr.contains(&format!("    {told}\n")),
        "{}",
        ran.stderr
    );
    let look = told.replacen("case ", "case: ", 1);
    assert!(ran.stdout.contains(&look), "{}", ran.stdout);
    let status = project.run(&["status", "--output-format", "json"]).json();
    let case = json!({"name": "amount 5", "input": {"body": {"amount": 5}}, "expect": {"answer": {"total": 10}}});
    assert_eq!(status["cases"], json!([case]));
    let glance = &status["questions"][0]["proposal"]["glance"];
    assert_eq!(glance["cases"], json!([case]));
    // A question before that has them too.
    let asked = Project::new();
    let built = asked.run(&[
        "build",
        "--yes",
        &format!("{request}, then post it to Slack"),
    ]);
    assert_eq!(built.code, 0, "{}", built.stderr);
    let ran = asked.run(&["build", &format!("{request} and post it to Slack")]);
    assert_eq!(ran.code, 4, "{}\n{}", ran.stderr, ran.stdout);
    let (before, question) = ran.stdout.split_once("? waiting for").unwrap();
    assert!(before.contains(&format!("{told}\n")), "{}", ran.stdout);
    assert!(question.contains("(decision)"), "{question}");
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

const DAILY: &str = "Every day at 9:00 post the open Jira bugs to Slack #dev";

/// Says "Change something" at a look, with these words; then yes to the second look.
fn changed_after_a_look(command: std::process::Command, wish: &str) -> (i32, String) {
    let (change, yes) = (format!("{UP}\r"), format!("{UP}{UP}\r"));
    let wish = format!("{wish}\r");
    let typed: [(&str, &[u8]); 3] = [
        ("before you say yes", change.as_bytes()),
        ("What should be otherwise?", wish.as_bytes()),
        ("before you say yes", yes.as_bytes()),
    ];
    in_turn_on_a_terminal(command, &typed)
}

/// What is wanted otherwise is a change of the proposal: one that replaces something leaves nothing of the old beside it.
#[test]
fn on_a_terminal_a_wish_changes_what_was_proposed() {
    for (wish, holds, lacks) in [
        (
            "at 10:00, not 9:00",
            "\"triggerAtHour\": 10",
            "\"triggerAtHour\": 9",
        ),
        ("post to #qa instead of #dev", "#qa", "#dev"),
    ] {
        let project = Project::new();
        let command = project.command(&["build", "--plan", DAILY]);
        let (code, shown) = changed_after_a_look(command, wish);
        assert_eq!(code, 0, "{wish}: {shown}");
        assert!(!shown.contains("not covered"), "{wish}: {shown}");
        let made = text(
            &project,
            &format!("workflows/{}", project.workflows().first().unwrap()),
        );
        assert!(
            made.contains(holds) && !made.contains(lacks),
            "{wish}: {made}"
        );
        assert_eq!(made.matches("n8n-nodes-base.slack\"").count(), 1, "{made}");
        // The journal tells it again as it was, and it can be taken back.
        assert_eq!(project.run(&["runs", "verify"]).code, 0);
        assert_eq!(project.run(&["undo"]).code, 0);
        assert_eq!(project.workflows(), [""; 0]);
    }
}

#[test]
fn on_a_terminal_a_wish_changes_a_change() {
    let (project, file) = built();
    let command = project.command(&["build", "--workflow", &file, CHANGE]);
    let (code, shown) = changed_after_a_look(command, "post to #qa instead of #orders");
    assert_eq!(code, 0, "{shown}");
    let made = text(&project, &file);
    assert!(made.contains("#qa"), "{made}");
    assert!(
        !made.contains("#orders") && !made.contains("#sales"),
        "{made}"
    );
}

#[test]
fn what_of_a_wish_is_not_done_is_said_before_anything_is_written() {
    let project = Project::new();
    let command = project.command(&["build", "--plan", DAILY]);
    let (change, wish) = (
        format!("{UP}\r"),
        "post to #qa instead of #dev and frobnicate the wombats\r",
    );
    let typed: [(&str, &[u8]); 3] = [
        ("before you say yes", change.as_bytes()),
        ("What should be otherwise?", wish.as_bytes()),
        ("before you say yes", b"\r"),
    ];
    let (code, shown) = in_turn_on_a_terminal(command, &typed);
    assert_eq!(code, 5, "{shown}");
    let said = "not covered: 'frobnicate the wombats'";
    assert!(shown.contains(said), "{shown}");
    assert_eq!(project.workflows(), [""; 0]);
}

/// A change that is asked for in one go is done in all its parts, or the run says which it is not.
#[test]
fn a_change_of_two_things_does_both() {
    let project = Project::new();
    assert_eq!(project.run(&["build", "--yes", DAILY]).code, 0);
    let file = format!("workflows/{}", project.workflows().first().unwrap());
    let change = "post to #qa instead of #dev and at 10:00 instead of 9:00";
    let ran = project.run(&["build", "--yes", "--workflow", &file, change]);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stderr, ran.stdout);
    let made = text(&project, &file);
    assert!(
        made.contains("#qa") && made.contains("\"triggerAtHour\": 10"),
        "{made}"
    );
    let again = project.run(&[
        "build",
        "--yes",
        "--workflow",
        &file,
        "Post to #sales instead of #qa, at 11:00",
    ]);
    assert_eq!(again.code, 0, "{}\n{}", again.stderr, again.stdout);
    let made = text(&project, &file);
    assert!(
        made.contains("#sales") && made.contains("\"triggerAtHour\": 11"),
        "{made}"
    );
    // There is no schedule whose time could be another: what is not done is named, and nothing is said to be complete.
    let (project, file) = built();
    let change = "post to #qa instead of #sales, at 10:00";
    let ran = project.run(&["build", "--yes", "--workflow", &file, change]);
    assert_eq!(ran.code, 9, "{}\n{}", ran.stderr, ran.stdout);
    assert!(ran.stdout.contains("at 10:00"), "{}", ran.stdout);
}

/// Who must answer sees the same as who sits at the terminal: what is not covered, and what was taken.
#[test]
fn without_a_terminal_the_look_says_what_is_not_covered_and_what_was_taken() {
    let (project, file) = built();
    let change = "post to #x instead of #sales and frobnicate the wombats";
    let ran = project.run(&["build", "--plan", "--workflow", &file, change]);
    assert_eq!(ran.code, 4, "{}", ran.stderr);
    let odd = "not covered: 'frobnicate the wombats'";
    assert!(ran.stdout.contains(odd), "{}", ran.stdout);
    for command in ["status", "approvals show"] {
        let told = project.run(&command.split(' ').collect::<Vec<_>>());
        assert!(told.stdout.contains(odd), "{command}: {}", told.stdout);
    }
    let told = project.run(&["status", "--output-format", "json"]).json();
    let glance = &told["questions"][0]["proposal"]["glance"];
    assert_eq!(glance["not_covered"], json!(["frobnicate the wombats"]));

    let project = Project::new();
    let request = "Every day post the open Jira bugs to Slack #dev and frobnicate the wombats";
    let ran = project.run(&["build", "--plan", request]);
    assert_eq!(ran.code, 4, "{}", ran.stderr);
    assert!(ran.stdout.contains("not covered: "), "{}", ran.stdout);
    assert!(ran.stdout.contains("wombats'"), "{}", ran.stdout);
}

#[test]
fn a_look_tells_the_recommendations_that_were_taken() {
    let project = Project::new();
    let first = "Every hour get https://api.example.com/items, keep those with price over 10, and POST each to https://api.example.com/sink";
    assert_eq!(project.run(&["build", "--yes", first]).code, 0);
    let alike = "Every hour get https://api.example.com/items and POST each to https://api.example.com/sink";
    let ran = project.run(&["build", "--plan", alike]);
    assert_eq!(ran.code, 4, "{}", ran.stderr);
    let taken = "taken: Change an existing workflow or build a new one? build";
    assert!(ran.stdout.contains(taken), "{}", ran.stdout);
    let told = project.run(&["approvals", "show"]).stdout;
    assert!(told.contains(taken), "{told}");
}

/// What the look says is left to do is what the report says once it is written.
#[test]
fn what_would_be_left_to_do_is_what_is_left_to_do() {
    for request in [
        DAILY,
        "When a form is submitted, create a Jira issue",
        "When a customer writes to support@x.com, add a row to a Google Sheet and post it to Slack",
    ] {
        let project = Project::new();
        let ran = project.run(&["build", "--plan", "--output-format", "json", request]);
        assert_eq!(ran.code, 4, "{request}: {}", ran.stderr);
        let ahead = ran.json();
        let shown = project.run(&["status"]).stdout;
        let ran = project.run(&["answer", "approve-1=approve", "--output-format", "json"]);
        let done = ran.json();
        assert_eq!(ahead["todo"], done["todo"], "{request}");
        assert_eq!(ahead["notes"], done["notes"], "{request}");
        for item in done["todo"].as_array().unwrap() {
            let line = format!(
                "left to do: [{}] {}",
                item["node"].as_str().unwrap(),
                item["text"].as_str().unwrap().replace('<', "< ")
            );
            assert!(shown.contains(&line), "{request}: no {line:?} in {shown}");
        }
        let found = &ahead["questions"][0]["proposal"]["glance"]["findings"];
        let warnings = found.as_array().unwrap().len() as u64;
        assert_eq!(
            done["qa_report"]["warning_count"].as_u64(),
            Some(warnings),
            "{request}"
        );
    }
}

/// The points of a list, in words.
fn points(of: &Value) -> Vec<String> {
    let all = of["todo"].as_array().unwrap().iter();
    let told = all.map(|item| {
        format!(
            "[{}] {}",
            item["node"].as_str().unwrap(),
            item["text"].as_str().unwrap()
        )
    });
    told.collect()
}

/// What a change brings is left to do, before it is written and afterwards; what stood there before is only counted.
#[test]
fn what_a_change_leaves_to_do_is_said_before_and_after() {
    let (project, file) = built();
    let stood = "[] 1 node had no credential before this change either: Slack: Send message";
    for (change, wanted) in [
        ("also post to #ops", vec!["connect a credential: Slack API"]),
        (
            "also create a Jira issue and append it to the Google Sheet Leads",
            vec![
                "[Jira Software: Create issue] ",
                "[Google Sheets: Append row] connect a credential",
            ],
        ),
    ] {
        let args = [
            "build",
            "--plan",
            "--workflow",
            &file,
            change,
            "--output-format",
            "json",
        ];
        let ran = project.run(&args);
        assert_eq!(ran.code, 4, "{change}: {}", ran.stderr);
        let ahead = points(&ran.json());
        let done = project.run(&["answer", "approve-1=approve", "--output-format", "json"]);
        let done = points(&done.json());
        assert_eq!(ahead, done, "{change}");
        for wanted in wanted {
            assert!(
                done.iter().any(|point| point.contains(wanted)),
                "no {wanted:?} in {done:#?}"
            );
        }
        assert!(done.iter().any(|point| point == stood), "{done:#?}");
        let nodes = text(&project, &file);
        let nodes: Value = serde_json::from_str(&nodes).unwrap();
        let nodes = nodes["nodes"].as_array().unwrap();
        for point in &done {
            let node = point.trim_start_matches('[').split(']').next().unwrap();
            let is_there = nodes.iter().any(|of| of["name"] == node);
            assert!(node.is_empty() || is_there, "{change}: no node {node:?}");
        }
        assert_eq!(project.run(&["undo"]).code, 0);
    }
}

#[test]
fn what_a_wish_brings_is_left_to_do_before_and_after() {
    let project = Project::new();
    let command = project.command(&["build", "--plan", DAILY]);
    let wish = "also append it to the Google Sheet Orders";
    let (code, shown) = changed_after_a_look(command, wish);
    assert_eq!(code, 0, "{shown}");
    let done = points(&project.run(&["status", "--output-format", "json"]).json());
    assert!(
        done.iter().any(|point| point.contains("Google Sheets")),
        "{done:#?}"
    );
    let (_, second) = shown.rsplit_once("What should be otherwise?").unwrap();
    for point in done {
        let words = point.split_once("] ").unwrap().1.replace('<', "< ");
        assert!(second.contains(&words), "no {words:?} in {second}");
    }
}

/// The look says what is new, however large the workflow is.
#[test]
fn a_look_at_a_large_workflow_is_short() {
    let project = Project::new();
    let slack = |n: usize| {
        json!({"id": format!("s{n}"), "name": format!("Post {n}"), "type": "n8n-nodes-base.slack", "typeVersion": 2.3, "position": [200 * n, 0],
        "parameters": {"select": "channel", "channelId": {"__rl": true, "mode": "name", "value": format!("#c{n}")}, "text": "hello"}})
    };
    let mut nodes = vec![
        json!({"id": "m", "name": "By hand", "type": "n8n-nodes-base.manualTrigger", "typeVersion": 1, "position": [0, 0], "parameters": {}}),
    ];
    nodes.extend((1..=150).map(slack));
    let mut connections = serde_json::Map::new();
    for n in 0..150 {
        let from = if n == 0 {
            "By hand".to_owned()
        } else {
            format!("Post {n}")
        };
        let to =
            json!({"main": [[{"node": format!("Post {}", n + 1), "type": "main", "index": 0}]]});
        connections.insert(from, to);
    }
    let workflow =
        json!({"id": "large", "name": "Large", "nodes": nodes, "connections": connections});
    project.write("workflows/large.json", &workflow.to_string());
    let ran = project.run(&[
        "build",
        "--plan",
        "--workflow",
        "large",
        "post to #x instead of #c77",
    ]);
    assert_eq!(ran.code, 4, "{}\n{}", ran.stderr, ran.stdout);
    let lines = ran.stdout.lines().count();
    assert!(lines < 80, "{lines} lines: {}", ran.stdout);
    for shown in [
        "Post 77",
        "#x",
        "150 nodes had no credential before this change either",
    ] {
        assert!(ran.stdout.contains(shown), "no {shown:?} in {}", ran.stdout);
    }
    let lacking = ran.stdout.matches("connect a credential").count();
    assert_eq!(lacking, 0, "{}", ran.stdout);
}

/// The tree of a new workflow says all that its document would, and stands where the question is.
#[test]
fn a_look_at_a_new_workflow_shows_no_document() {
    let project = Project::new();
    let ran = project.run(&["build", "--plan", ORDERS]);
    assert_eq!(ran.code, 4, "{}", ran.stderr);
    assert!(ran.stdout.contains("└─ "), "{}", ran.stdout);
    assert!(!ran.stdout.contains("\"typeVersion\""), "{}", ran.stdout);
}

/// A terminal that takes nothing but lines is asked by lines.
#[test]
fn with_a_dumb_terminal_questions_have_no_escapes() {
    let (project, file) = built();
    let asked = |typed: &[(&str, &[u8])], args: &[&str]| {
        let mut command = project.command(args);
        command.env("TERM", "dumb");
        let (code, shown) = in_turn_on_a_terminal(command, typed);
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
        (code, shown)
    };
    let change = ["build", "--workflow", &file, CHANGE];
    let before = text(&project, &file);
    let (code, shown) = asked(&[("(Enter: 3)", b"\n")], &change);
    assert_eq!(code, 5, "{shown}");
    assert!(shown.contains("2) Change something"), "{shown}");
    assert_eq!(text(&project, &file), before);
    let (code, shown) = asked(&[("(Enter: 3)", b"9\n"), ("from 1 to 3", b"1\n")], &change);
    assert_eq!(code, 0, "{shown}");
    assert!(text(&project, &file).contains("#orders"), "{shown}");
    // A question of the run: a number, or own words.
    for typed in [&b"1\n"[..], b"Mastodon\n"] {
        let project = Project::new();
        let mut command =
            project.command(&["build", "Automate my social media posting from my blog"]);
        command.env("TERM", "dumb");
        let (_, shown) =
            in_turn_on_a_terminal(command, &[("between: ", typed), ("a number: ", b"")]);
        assert!(
            shown.contains("  1) ") && !shown.contains('\u{1b}'),
            "{shown:?}"
        );
    }
}

/// Where nobody can be there, nobody is waited for.
#[test]
fn in_ci_a_terminal_is_asked_nothing() {
    let (project, file) = built();
    let mut command = project.command(&["build", "--plan", "--workflow", &file, CHANGE]);
    command.env("CI", "true");
    let (code, shown) = on_a_terminal(command, "Change something", b"");
    assert_eq!(code, 4, "{shown}");
}

/// The first letter of an answer is that answer.
#[test]
fn at_a_look_the_first_letter_of_an_answer_is_that_answer() {
    for (key, code) in [("n", 5), ("y", 0)] {
        let (project, file) = built();
        let command = project.command(&["build", "--workflow", &file, CHANGE]);
        let keys = format!("{key}\r");
        let (came, shown) = on_a_terminal(command, "before you say yes", keys.as_bytes());
        assert_eq!(came, code, "{key}: {shown}");
    }
}

#[test]
fn yes_to_every_recommendation_approves_nothing_and_says_so() {
    let (project, file) = built();
    assert_eq!(
        project
            .run(&["build", "--plan", "--workflow", &file, CHANGE])
            .code,
        4
    );
    let ran = project.run(&["answer", "--yes"]);
    assert_eq!(ran.code, 4, "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("--yes approves nothing: approve-1 is for you to say"),
        "{}",
        ran.stderr
    );
    // What waits can be taken back nothing of; the run before it can.
    let before = project
        .run(&["runs", "list", "--output-format", "json"])
        .json();
    let mut run = before["runs"].as_array().unwrap().iter();
    let run = run.find(|run| run["outcome"] == "complete").unwrap()["run_id"].clone();
    let ran = project.run(&["undo", "--plan"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    let hint = format!("agentctl undo {}", run.as_str().unwrap());
    assert!(ran.stderr.contains(&hint), "{}", ran.stderr);
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

#[test]
fn a_planned_undo_shows_what_it_would_leave_and_asks_on_a_terminal() {
    let (project, file) = built();
    let first = text(&project, &file);
    assert_eq!(
        project
            .run(&["build", "--yes", "--workflow", &file, CHANGE])
            .code,
        0
    );
    let second = text(&project, &file);
    let planned = project.run(&["undo", "--plan"]);
    for shown in [
        "└─ Only amount > 100 · filter",
        "#sales",
        "left to do: [Slack: Send message]",
        "would be put back",
    ] {
        assert!(
            planned.stdout.contains(shown),
            "no {shown:?} in {}",
            planned.stdout
        );
    }
    let asked = |keys: &str| {
        on_a_terminal(
            project.command(&["undo", "--plan"]),
            "before you say yes",
            keys.as_bytes(),
        )
    };
    let (code, shown) = asked("\r");
    assert_eq!(code, 5, "{shown}");
    assert!(
        shown.contains("you said no; nothing was changed"),
        "{shown}"
    );
    assert_eq!(text(&project, &file), second);
    let (code, shown) = asked("\x1b[B\r");
    assert_eq!(code, 0, "{shown}");
    assert_eq!(text(&project, &file), first);
    // Nothing more would be done: nothing is left undone either.
    let again = project.run(&["undo", "--plan"]);
    assert!(
        again.stdout.contains("already as it was before the run"),
        "{}",
        again.stdout
    );
    assert!(!again.stdout.contains("without --plan"), "{}", again.stdout);
}

/// What is in no list can be typed: the way to an answer in own words stays there whatever the list is filtered by, and begins with it.
#[test]
fn on_a_terminal_an_answer_that_no_option_is_can_be_typed_at_the_list() {
    let project = Project::new();
    let command = project.command(&["build", "post our new stuff on social media automatically"]);
    let typed: [(&str, &[u8]); 3] = [
        ("(in your own words)", b"Instagram \r"),
        ("several with commas", b"\r"),
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

/// Several platforms are several: ahead in a file, behind in a command, and at the list.
#[test]
fn where_several_make_sense_several_can_be_chosen_and_all_are_built() {
    let vague = "post our new stuff on social media automatically";
    let rest = json!({"source": "our blog RSS feed", "timing": "hourly"});
    let both = |project: &Project| {
        let made = text(
            project,
            &format!("workflows/{}", project.workflows().first().unwrap()),
        );
        for node in [
            "n8n-nodes-base.linkedIn\"",
            "n8n-nodes-base.facebookGraphApi\"",
        ] {
            assert!(made.contains(node), "no {node} in {made}");
        }
    };
    let ahead = Project::new();
    let mut answers = rest.clone();
    answers["social"] = json!(["LinkedIn", "Facebook"]);
    ahead.write("a.json", &answers.to_string());
    let ran = ahead.run(&["build", vague, "--answers", "a.json", "--no-input"]);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stderr, ran.stdout);
    both(&ahead);
    assert!(
        ran.stderr.contains("social: LinkedIn, Facebook (file)"),
        "{}",
        ran.stderr
    );

    let behind = Project::new();
    behind.write("a.json", &rest.to_string());
    let waits = behind
        .run(&["build", vague, "--no-input", "--output-format", "json"])
        .json();
    let asked = waits["questions"].as_array().unwrap().iter();
    let asked = asked.clone().find(|q| q["topic"] == "social").unwrap();
    assert_eq!(
        asked["schema"]["items"]["anyOf"][0]["enum"][0], "LinkedIn",
        "{asked}"
    );
    let ran = behind.run(&[
        "answer",
        "--answers",
        "a.json",
        "social=[\"LinkedIn\",\"Facebook\"]",
    ]);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stderr, ran.stdout);
    both(&behind);

    let person = Project::new();
    let command = person.command(&["build", vague]);
    let typed: [(&str, &[u8]); 2] = [
        ("(in your own words)", b" \x1b[B \r"),
        ("Where is \"new stuff\" kept", b""),
    ];
    in_turn_on_a_terminal(command, &typed);
    let runs = person
        .run(&["runs", "list", "--output-format", "json"])
        .json();
    let told = person
        .run(&["log", runs["runs"][0]["run_id"].as_str().unwrap()])
        .stdout;
    assert!(
        told.contains("social: LinkedIn, Facebook (terminal)"),
        "{told}"
    );
}

#[test]
fn an_answer_that_does_not_fit_is_said_however_quiet_it_is() {
    let project = Project::new();
    project.write("a.json", r#"{"social": 7}"#);
    let vague = "post our new stuff on social media automatically";
    let ran = project.run(&["build", "-q", vague, "--answers", "a.json", "--no-input"]);
    assert_eq!(ran.code, 4, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("the answer to \"social\" does not fit"),
        "{}",
        ran.stderr
    );
}
