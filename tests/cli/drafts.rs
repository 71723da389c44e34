//! What was not understood of a request: a draft that names it, or a question; and what became of each word.

use super::support::Project;
use serde_json::{Value, json};

/// The words of its second condition stand in no table, and no service has them.
const LOST: &str = "When a webhook receives an order over 100 EUR that is not marked as frobnicated, post it to Slack #sales";
const WHOLE: &str = "When a webhook receives an order over 100 EUR, post it to Slack #sales";
const NONSENSE: &str = "blorp the frobs with a grommet";

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[test]
fn a_lost_condition_makes_a_draft_that_says_so_first_and_everywhere() {
    let project = Project::new();
    let ran = project.run(&["build", "--yes", LOST]);
    assert_eq!(ran.code, 9, "{}", ran.stdout);
    let said = "built 1 of 2 parts; not understood: 'frobnicated'";
    assert_eq!(first_line(&ran.stdout), said);
    assert_eq!(project.workflows().len(), 1);

    let state = project.read_json("memory/run_state.json");
    let of = |key: &str| state["state"]["workflow"][key].clone();
    assert_eq!(
        (&state["outcome"], &state["stage"], &state["message"]),
        (&json!("draft"), &json!("complete"), &json!(said))
    );
    assert_eq!(of("not_understood"), json!(["frobnicated"]));
    assert_eq!(of("parts"), json!({"built": 1, "of": 2}));

    let status = project.run(&["status"]).stdout;
    assert!(first_line(&status).ends_with("· draft"), "{status}");
    assert!(status.contains(said), "{status}");
    let id = state["run_id"].as_str().unwrap();
    for command in [["runs", "show", id].as_slice(), &["runs", "list"]] {
        let told = project.run(command).stdout;
        assert!(told.contains("draft"), "{told}");
    }
    let shown = project.run(&["runs", "show", id]).stdout;
    assert!(shown.contains(said), "{shown}");
    let analysis = project.run(&["analyze", id]).stdout;
    assert!(analysis.contains("partly built"), "{analysis}");
}

#[test]
fn the_json_of_a_draft_names_the_phrases_and_the_stream_ends_with_it() {
    let project = Project::new();
    let ran = project.run(&["build", "--yes", "--output-format", "json", LOST]);
    assert_eq!(ran.code, 9, "{}", ran.stdout);
    let report = ran.json();
    assert_eq!(
        (&report["outcome"], &report["exit_code"]),
        (&json!("draft"), &json!(9))
    );
    let of = |key: &str| report["workflow"][key].clone();
    assert_eq!(
        (of("draft"), of("not_understood"), of("parts")),
        (
            json!(true),
            json!(["frobnicated"]),
            json!({"built": 1, "of": 2})
        )
    );

    let other = Project::new();
    let ran = other.run(&["build", "--yes", "--output-format", "stream-json", LOST]);
    let ended = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .find(|event| event["type"] == "run.ended")
        .unwrap();
    assert_eq!(
        (&ended["outcome"], &ended["exit_code"]),
        (&json!("draft"), &json!(9))
    );
}

#[test]
fn a_request_that_is_understood_is_complete() {
    let project = Project::new();
    let ran = project.run(&["build", "--yes", "--output-format", "json", WHOLE]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    let workflow = &ran.json()["workflow"];
    assert_eq!(workflow["draft"], false);
    assert_eq!(workflow.get("not_understood"), None);
}

#[test]
fn nonsense_is_quoted_in_one_question_and_nothing_is_built() {
    let project = Project::new();
    let ran = project.run(&["build", "--no-input", "--output-format", "json", NONSENSE]);
    assert_eq!(ran.code, 4, "{}", ran.stdout);
    let report = ran.json();
    let questions = report["questions"].as_array().unwrap();
    assert_eq!(questions.len(), 1, "{questions:?}");
    let text = questions[0]["text"].as_str().unwrap();
    assert!(text.contains(&format!("'{NONSENSE}'")), "{text}");
    assert_eq!(project.workflows(), Vec::<String>::new());

    // The answer says what was quoted: nothing of the first text is missing any more.
    let run = report["run_id"].as_str().unwrap();
    let answer = "steps=Every day at 9:00 post the open Jira bugs to Slack #dev";
    let ran = project.run(&["answer", "--output-format", "json", run, answer]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert_eq!(ran.json()["outcome"], "complete");
}

#[test]
fn an_answer_that_is_not_understood_either_builds_nothing() {
    let project = Project::new();
    let ran = project.run(&["build", "--no-input", "--output-format", "json", NONSENSE]);
    let report = ran.json();
    let run = report["run_id"].as_str().unwrap();
    let ran = project.run(&["answer", run, "steps=grommet all the blorping frobs"]);
    assert_eq!(ran.code, 5, "{}", ran.stdout);
    assert!(ran.stdout.contains("Not understood"), "{}", ran.stdout);
    assert_eq!(project.workflows(), Vec::<String>::new());
}

#[test]
fn a_change_that_is_read_in_half_is_a_draft() {
    let project = Project::new();
    let ran = project.run(&["build", "--yes", "--output-format", "json", WHOLE]);
    let file = ran.json()["workflow"]["file"].clone();
    let change = "Post to #orders instead of #sales. Frobnicate the quux widely.";
    let file = file.as_str().unwrap();
    let ran = project.run(&["build", "--yes", "--workflow", file, change]);
    assert_eq!(ran.code, 9, "{}", ran.stdout);
    assert!(
        first_line(&ran.stdout).contains("'Frobnicate the quux widely'"),
        "{}",
        ran.stdout
    );
}

#[test]
fn each_word_is_explained() {
    let project = Project::new();
    let told = project.run(&["explain", LOST]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    let row = |word: &str| {
        let mut rows = told.stdout.lines().filter(|line| line.starts_with(word));
        rows.next().unwrap_or_default().to_owned()
    };
    assert!(row("Slack").contains("built"), "{}", told.stdout);
    assert!(
        row("frobnicated").contains("not understood"),
        "{}",
        told.stdout
    );
    assert_eq!(project.workflows(), Vec::<String>::new());

    let told = project
        .run(&["explain", "--output-format", "json", LOST])
        .json();
    assert_eq!(told["not_understood"], json!(["frobnicated"]));
    let built = project.run(&[
        "build",
        "--yes",
        "--explain",
        "--output-format",
        "json",
        LOST,
    ]);
    assert_eq!(built.json()["explained"]["words"], told["words"]);
}

/// A test that always goes the same way is warned of: in the report before the credentials, and in the JSON without them.
#[test]
fn what_the_check_warns_of_is_told() {
    const SAME: &str = "Get all rows from the Airtable table Inventory every night at 2am, if the ID is missing then send an email to purchasing@acme.io";
    let project = Project::new();
    let ran = project.run(&["build", "--yes", "--output-format", "json", SAME]);
    assert_eq!(ran.code, 9, "{}", ran.stdout);
    let warnings = ran.json()["qa_report"]["warnings"].clone();
    let warnings = warnings.as_array().unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(warnings[0]["code"], "agentctl/constant-condition");
    assert!(warnings[0]["node"].is_string(), "{warnings:?}");

    let other = Project::new();
    let told = other.run(&["build", "--yes", SAME]).stdout;
    let at = |text: &str| told.find(text).unwrap_or_else(|| panic!("{text}: {told}"));
    assert!(
        at("agentctl/constant-condition") < at("n8n/credential"),
        "{told}"
    );
}
