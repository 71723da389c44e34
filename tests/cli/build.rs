//! The main job through the built binary: build, questions, answers, changes, undo.

use super::support::{Project, Ran};
use serde_json::{Value, json};

const ORDERS: &str = "When a webhook receives an order over 100 EUR, post it to Slack #sales and append it to the Google Sheet Orders";

fn types(workflow: &Value) -> Vec<&str> {
    let mut types: Vec<&str> = workflow["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| n["type"].as_str().unwrap())
        .collect();
    types.sort_unstable();
    types
}

#[test]
fn the_first_command_builds_a_workflow_that_passes_the_check() {
    let project = Project::new();
    let ran = project.run(&["build", "--yes", "--output-format", "json", ORDERS]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let report = ran.json();
    assert_eq!(report["stage"], "complete");
    assert_eq!(report["outcome"], "complete");
    assert_eq!(report["exit_code"], 0);
    assert_eq!(report["qa_report"]["status"], "pass");
    assert_eq!(report["qa_report"]["error_count"], 0);
    assert_eq!(report["qa_report"]["executed"], false);
    let file = report["workflow"]["file"].as_str().unwrap();
    let workflow = project.read_json(file);
    let types = types(&workflow);
    for wanted in [
        "n8n-nodes-base.webhook",
        "n8n-nodes-base.slack",
        "n8n-nodes-base.googleSheets",
    ] {
        assert!(types.contains(&wanted), "{wanted} is not in {types:?}");
    }
    assert_eq!(
        report["workflow"]["node_count"].as_u64().unwrap() as usize,
        types.len()
    );
    let qa = project.run(&["qa", "workflows"]);
    assert_eq!(qa.code, 0, "{}", qa.stdout);
    // The summary on disk says the same, and the full report lies beside it.
    let state = project.read_json("memory/run_state.json");
    assert_eq!(state["stage"], "complete");
    assert_eq!(
        state["state"]["workflow"]["graph_hash"],
        report["workflow"]["graph_hash"]
    );
}

#[test]
fn a_new_request_leaves_a_workflow_of_other_matters_alone() {
    let project = Project::new();
    let first = "When a webhook /orders is called, post it to Slack #sales";
    let ran = project.run(&["build", "--yes", "--output-format", "json", first]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let file = ran.json()["workflow"]["file"].as_str().unwrap().to_owned();
    let before = project.read_json(&file);
    let second = "When a webhook /refunds is called, post it to Slack #finance";
    let ran = project.run(&["build", "--yes", "--output-format", "json", second]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_ne!(ran.json()["workflow"]["file"], file.as_str());
    assert_eq!(project.read_json(&file), before);
}

#[test]
fn the_same_request_again_finds_its_workflow() {
    let project = Project::new();
    let ran = project.run(&["build", "--yes", "--output-format", "json", ORDERS]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let built = ran.json()["workflow"]["id"].as_str().unwrap().to_owned();
    let ran = project.run(&["build", "--yes", "--output-format", "json", ORDERS]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let note = format!("{built} does all of this already; nothing was changed");
    assert_eq!(ran.json()["notes"][0], note);
}

/// What is only like a workflow that is there leaves it as it is where nobody is asked, and says which one it could have changed.
#[test]
fn with_yes_a_workflow_that_is_only_alike_is_not_changed() {
    let project = Project::new();
    let first = "Every hour get https://api.example.com/items, keep those with price over 10, and POST each to https://api.example.com/sink";
    let ran = project.run(&["build", "--yes", "--output-format", "json", first]);
    let made = ran.json()["workflow"].clone();
    let file = project.file(made["file"].as_str().unwrap());
    let before = std::fs::read_to_string(&file).unwrap();
    let alike = "Every hour get https://api.example.com/items and POST each to https://api.example.com/sink";
    let ran = project.run(&["build", "--yes", "--output-format", "json", alike]);
    let second = ran.json();
    assert_ne!(second["workflow"]["id"], made["id"], "{}", ran.stderr);
    assert_eq!(second["could_change"]["workflow_id"], made["id"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
}

/// The one that the request names is looked for among all, however little it is like the request.
#[test]
fn with_yes_the_workflow_that_the_request_names_is_changed() {
    let project = Project::new();
    let first = "When a webhook POST /d arrives, answer {\"ok\": true}";
    let ran = project.run(&["build", "--yes", "--output-format", "json", first]);
    let made = ran.json()["workflow"].clone();
    let request = format!(
        "Add a Slack message to #dev to the workflow \"{}\"",
        made["name"].as_str().unwrap()
    );
    let ran = project.run(&["build", "--yes", "--output-format", "json", &request]);
    assert_eq!(ran.json()["workflow"]["id"], made["id"], "{}", ran.stderr);
    // To be run is not to be changed.
    let request = format!(
        "Every hour run the workflow \"{}\"",
        made["name"].as_str().unwrap()
    );
    let ran = project.run(&["build", "--yes", "--output-format", "json", &request]);
    assert_ne!(ran.json()["workflow"]["id"], made["id"], "{}", ran.stderr);
}

/// It is read as a change, as with --workflow: nothing is built beside it.
#[test]
fn a_request_that_names_a_workflow_is_a_change_of_it() {
    let project = Project::new();
    let first = "When a webhook POST /d arrives, if amount is over 100, answer {\"big\": true}, otherwise answer {\"big\": false}";
    let ran = project.run(&["build", "--yes", "--output-format", "json", first]);
    let made = ran.json()["workflow"].clone();
    let name = made["name"].as_str().unwrap();
    for (wish, answers, told) in [
        (
            "answer {\"huge\": true} instead of {\"big\": true}",
            "huge",
            1,
        ),
        ("change the threshold from 100 to 250", "Amount > 250?", 2),
    ] {
        let request = format!("Change the workflow \"{name}\": {wish}");
        let ran = project.run(&["build", "--yes", "--output-format", "json", &request]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let after = ran.json();
        assert_eq!(after["workflow"]["id"], made["id"], "{told}");
        assert_eq!(
            after["workflow"]["node_count"], made["node_count"],
            "{after}"
        );
        let file = made["file"].as_str().unwrap();
        let document = std::fs::read_to_string(project.file(file)).unwrap();
        assert!(document.contains(answers), "{document}");
        assert!(
            ran.stderr
                .contains(&format!("the request names the workflow {name:?}")),
            "{}",
            ran.stderr
        );
    }
}

/// A time of day is in the caller's timezone; where nobody knows it, it is asked for, and told whose it is else.
#[test]
fn a_time_of_day_without_a_timezone_is_asked_about() {
    const DAILY: &str = "Every day at 9:00 post hello to Slack channel #dev";
    let ran = |more: &[&str], tz: &str| -> Ran {
        let project = Project::new();
        project.write("answers.json", r#"{"timezone": "Europe/Vienna"}"#);
        let args = [&["build", "--output-format", "json"], more, &[DAILY]].concat();
        let ran = project.command(&args).env("TZ", tz).output().unwrap();
        ran.into()
    };
    let own = "its time of day is in n8n's own timezone";
    let notes = |ran: &Ran| ran.json()["notes"].to_string();
    // Nobody can be asked: the default, told.
    for left in [ran(&[], ""), ran(&["--yes"], "")] {
        assert!(notes(&left).contains(own), "{}", left.stdout);
    }
    for (more, tz) in [
        (&["--yes"][..], "Europe/Vienna"),
        (&["--answers", "answers.json"], ""),
    ] {
        let ran = ran(more, tz);
        let vienna = "its time of day is in your timezone, Europe/Vienna";
        assert!(
            notes(&ran).contains(vienna),
            "{more:?} {}{}",
            ran.stdout,
            ran.stderr
        );
    }
}

#[test]
fn stream_json_begins_with_init_and_ends_with_the_result() {
    let project = Project::new();
    let ran = project.run(&[
        "build",
        "--yes",
        "--quiet",
        "--output-format",
        "stream-json",
        ORDERS,
    ]);
    let lines: Vec<Value> = ran
        .stdout
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(lines.first().unwrap()["type"], "init");
    let last = lines.last().unwrap();
    assert_eq!(last["type"], "result");
    assert_eq!(last["exit_code"], 0);
    assert_eq!(ran.code, 0);
    assert_eq!(ran.stderr, "");
}

#[test]
fn a_vague_request_stops_with_questions_and_goes_on_with_answers() {
    let project = Project::new();
    let ran = project.run(&[
        "build",
        "--output-format",
        "json",
        "post our new stuff on social media automatically",
    ]);
    assert_eq!(ran.code, 4, "{}", ran.stderr);
    let report = ran.json();
    assert_eq!(report["outcome"], "waiting");
    let questions = report["questions"].as_array().unwrap();
    assert!(questions.len() >= 2, "{questions:?}");
    assert!(
        project.workflows().is_empty(),
        "nothing is built before the answers"
    );
    let run = report["run_id"].as_str().unwrap();

    // The answers by topic, from a file, later.
    let mut answers = serde_json::Map::new();
    for question in questions {
        let value = question["options"]
            .get(0)
            .map_or_else(|| json!("every day at 9:00"), |o| o["value"].clone());
        answers.insert(question["topic"].as_str().unwrap().to_owned(), value);
    }
    project.write("answers.json", &Value::Object(answers).to_string());
    let resumed = project.run(&[
        "resume",
        run,
        "--answers",
        "answers.json",
        "--yes",
        "--output-format",
        "json",
    ]);
    // Whole, a question more, or a draft that names what no word of the answers told.
    assert!([0, 4, 9].contains(&resumed.code), "{}", resumed.stderr);
    let asked_again = resumed.json()["questions"].as_array().unwrap().clone();
    for question in &asked_again {
        assert!(
            !questions.iter().any(|q| q["topic"] == question["topic"]),
            "{question} was answered already"
        );
    }
}

/// Without a terminal an approval is printed with all that a person needs to decide, and nothing is done before.
#[test]
fn an_approval_is_printed_with_the_call_its_diff_and_the_command_that_approves_it() {
    let project = Project::new();
    project.run(&["build", "--yes", ORDERS]);
    let file = format!("workflows/{}", project.workflows().first().unwrap());
    let mut workflow = project.read_json(&file);
    workflow["active"] = json!(true);
    let published = serde_json::to_string_pretty(&workflow).unwrap();
    project.write(&file, &published);
    let ran = project.run(&[
        "build",
        "--workflow",
        &file,
        "post to #orders instead of #sales",
    ]);
    assert_eq!(ran.code, 4, "{}\n{}", ran.stderr, ran.stdout);
    assert_eq!(
        std::fs::read_to_string(project.file(&file)).unwrap(),
        published,
        "nothing is done before the answer"
    );
    let run = project.run(&["status", "--output-format", "json"]).json();
    let run = run["run_id"].as_str().unwrap().to_owned();
    let command = format!("agentctl answer {run} approve-1=approve");
    for shown in [
        "call: builder → update_workflow {",
        "rule: guard.publish; an answer counts until ",
        "--- before",
        "+++ after",
        "#sales",
        "#orders",
        "approve = Yes, this once",
        "refuse = No, leave it as it is",
        &command,
    ] {
        assert!(ran.stdout.contains(shown), "no {shown:?} in {}", ran.stdout);
    }
    let removed = ran
        .stdout
        .lines()
        .any(|l| l.trim_start().starts_with('-') && l.contains("#sales"));
    let added = ran
        .stdout
        .lines()
        .any(|l| l.trim_start().starts_with('+') && l.contains("#orders"));
    assert!(removed && added, "{}", ran.stdout);

    // The printed command is the one that goes on.
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    let answered = project.run(&words);
    assert!(
        [0, 4].contains(&answered.code),
        "{}\n{}",
        answered.stderr,
        answered.stdout
    );
    let after = std::fs::read_to_string(project.file(&file)).unwrap();
    assert!(
        after.contains("#orders") && !after.contains("#sales"),
        "{after}"
    );
}

#[test]
fn a_wrong_answer_is_refused_and_nothing_is_lost() {
    let project = Project::new();
    let waiting = project
        .run(&[
            "build",
            "--output-format",
            "json",
            "post our new stuff on social media automatically",
        ])
        .json();
    let run = waiting["run_id"].as_str().unwrap();
    let ran = project.run(&["answer", run, "no-such-question=1"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("no-such-question"), "{}", ran.stderr);
    let again = project.run(&["status", "--output-format", "json"]).json();
    assert_eq!(again["questions"], waiting["questions"]);
}

#[test]
fn a_secret_in_the_request_is_refused_and_stays_out_of_every_file() {
    let project = Project::new();
    let ran = project.run(&["build", "--yes", "--output-format", "json", "Every day at 7 log in to https://intranet.example.com with the password Sommer2031! and put it straight into the HTTP Request node"]);
    assert_eq!(ran.code, 5, "{}", ran.stdout);
    assert!(
        ran.json()["refusal"]["reason"]
            .as_str()
            .is_some_and(|r| !r.is_empty())
    );
    assert!(project.workflows().is_empty());
    for entry in walkdir::WalkDir::new(project.path()) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let text = String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()).into_owned();
            assert!(
                !text.contains("Sommer2031!"),
                "the secret is in {}",
                entry.path().display()
            );
        }
    }
}

#[test]
fn a_change_touches_only_what_was_asked_and_can_be_undone() {
    let project = Project::new();
    project.run(&["build", "--yes", ORDERS]);
    let file = format!("workflows/{}", project.workflows().first().unwrap());
    let before = project.read_json(&file);
    let ran = project.run(&[
        "build",
        "--yes",
        "--output-format",
        "json",
        "--workflow",
        &file,
        "post to #orders instead of #sales",
    ]);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stderr, ran.stdout);
    assert!(
        ran.stderr.contains("#orders"),
        "the diff is shown before it is written: {}",
        ran.stderr
    );
    let after = project.read_json(&file);
    let (mut changed, mut same) = (Vec::new(), 0);
    for (old, new) in before["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .zip(after["nodes"].as_array().unwrap())
    {
        if old == new {
            same += 1
        } else {
            changed.push(new["type"].as_str().unwrap())
        }
    }
    assert_eq!(changed, ["n8n-nodes-base.slack"]);
    assert_eq!(same, before["nodes"].as_array().unwrap().len() - 1);
    assert_eq!(before["connections"], after["connections"]);

    let undone = project.run(&["undo"]);
    assert_eq!(undone.code, 0, "{}", undone.stderr);
    assert_eq!(project.read_json(&file), before);
}

#[test]
fn a_second_build_while_one_runs_is_refused_with_the_holder_named() {
    let project = Project::new();
    project.run(&["build", "--yes", ORDERS]);
    // The lock is held by this process, as a running build would hold it.
    let lock = project.file("memory/agentctl.lock");
    let file = std::fs::OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(&lock)
        .unwrap();
    fs2::FileExt::lock_exclusive(&file).unwrap();
    project.write("memory/agentctl.lock", r#"{"pid": 7, "since": "now"}"#);
    let ran = project.run(&["build", "--yes", ORDERS]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("in use by process"), "{}", ran.stderr);
}

#[test]
fn a_project_with_its_own_catalog_gets_versions_that_its_n8n_has() {
    let project = Project::new();
    project.write(
        "nodes.json",
        r#"[{"name": "n8n-nodes-base.httpRequest", "displayName": "HTTP Request", "version": [3, 4, 4.1], "defaultVersion": 4.1,
            "group": ["output"], "inputs": ["main"], "outputs": ["main"], "properties": [
            {"displayName": "Method", "name": "method", "type": "options", "default": "GET",
             "options": [{"name": "GET", "value": "GET"}, {"name": "POST", "value": "POST"}]},
            {"displayName": "URL", "name": "url", "type": "string", "default": "", "required": true}]}]"#,
    );
    let synced = project.run(&["catalog", "sync", "nodes.json"]);
    assert_eq!(synced.code, 0, "{}", synced.stderr);
    let request = "When a webhook on /fwd is called, call http://127.0.0.1:9/hook with POST";
    let built = project.run(&["build", "--yes", "--output-format", "json", request]);
    // That n8n has no webhook node, so the run ends blocked; what matters here is the version of the other node.
    assert_eq!(built.code, 3, "{}", built.stderr);
    let file = built.json()["workflow"]["file"]
        .as_str()
        .unwrap()
        .to_owned();
    let workflow = project.read_json(&file);
    assert_eq!(workflow["nodes"][1]["typeVersion"], json!(4.1));
}

/// An answer under a wrong name was not taken: that is a mistake and no success, in a file ahead of the question and behind it.
#[test]
fn an_answer_that_no_question_takes_is_a_mistake_of_what_was_typed() {
    let project = Project::new();
    let vague = "post our new stuff on social media automatically";
    project.write("a.json", r#"{"timming": "hourly"}"#);
    insta::assert_snapshot!(told(&project, &["build", vague, "--answers", "a.json", "--no-input"]), @r#"
    exit code 2
    error: no question has this id or topic, so the answer was not used: "timming" (did you mean "timing"?)
    hint: open: social, source, timing, action; agentctl answer [RUN] social=…
    "#);
    let ran = project.run(&["resume", "--answers", "a.json", "--output-format", "json"]);
    let report = ran.json();
    assert_eq!(
        (ran.code, &report["exit_code"]),
        (2, &json!(2)),
        "{}",
        ran.stderr
    );
    assert_eq!(
        report["unused_answers"],
        json!([{"key": "timming", "meant": "timing"}])
    );
    assert_eq!(report["outcome"], "waiting");
    // It is said of what was given now, not of what was given once.
    assert_eq!(project.run(&["resume", "--no-input"]).code, 4);
    insta::assert_snapshot!(told(&project, &["answer", "timming=hourly"]), @r#"
    exit code 2
    error: no open question "timming"; did you mean "timing"?; open: social, source, timing, action
    "#);
    // Nothing is asked: the answer was for nothing.
    let ran = project.run(&["build", "--yes", ORDERS, "--answers", "a.json"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("\"timming\""), "{}", ran.stderr);
}

/// The exit code and what stderr says of a mistake.
fn told(project: &Project, args: &[&str]) -> String {
    let ran = project.run(args);
    let lines = ran.stderr.lines();
    let mistake: Vec<&str> = lines
        .skip_while(|line| !line.starts_with("error:"))
        .collect();
    project.without_what_varies(&format!("exit code {}\n{}\n", ran.code, mistake.join("\n")))
}
