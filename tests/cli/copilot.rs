//! Conversations with the pack n8n-copilot, offline: a turn changes what its message names and nothing else, a question changes
//! nothing, and each change can be taken back and brought back.

use crate::support::Project;
use serde_json::Value;

fn say(project: &Project, message: &str) -> Value {
    let args = [
        "chat",
        "n8n-copilot",
        "--session",
        "s",
        "--output-format",
        "json",
        message,
    ];
    project.run(&args).json()
}

fn phases(reply: &Value) -> Vec<&str> {
    let log = reply["state"]["coordination"].as_array().unwrap();
    log.iter()
        .map(|entry| entry["phase"].as_str().unwrap())
        .collect()
}

fn document(project: &Project) -> Value {
    let files = project.workflows();
    assert_eq!(files.len(), 1, "{files:?}");
    project.read_json(&format!("workflows/{}", files[0]))
}

fn node<'w>(workflow: &'w Value, kind: &str) -> &'w Value {
    let nodes = workflow["nodes"].as_array().unwrap();
    let is = |node: &&Value| node["type"].as_str().unwrap().ends_with(kind);
    nodes
        .iter()
        .find(is)
        .unwrap_or_else(|| panic!("no {kind}: {nodes:?}"))
}

#[test]
fn a_workflow_is_talked_into_being_and_changed_turn_by_turn() {
    let project = Project::new();
    let built = say(
        &project,
        "When a form comes in, store it in the Postgres table leads and tell #sales on Slack.",
    );
    assert_eq!(
        phases(&built),
        ["discovery", "builder", "configurator"],
        "{built:#}"
    );
    assert_eq!(built["route"], "discovery");
    let first = document(&project);
    let made = &built["output"]["workflow"];
    assert_eq!(made["id"], built["state"]["workflow_id"], "{built:#}");
    assert_eq!(
        made["file"],
        format!("workflows/{}", project.workflows()[0])
    );

    let asked = say(&project, "Where does the form's data get stored?");
    assert_eq!(
        (&asked["route"], phases(&asked)),
        (&Value::from("responder"), vec![])
    );
    assert!(
        asked["messages"][0]["text"]
            .as_str()
            .unwrap()
            .contains("leads")
    );
    assert_eq!(document(&project), first);

    let exchanged = say(&project, "Use Microsoft Teams instead of Slack.");
    assert_eq!(exchanged["route"], "discovery", "{exchanged:#}");
    let second = document(&project);
    node(&second, "microsoftTeams");
    for kind in ["formTrigger", "postgres"] {
        assert_eq!(node(&second, kind), node(&first, kind), "{kind}");
    }

    for (command, wanted) in [("/undo", &first), ("/redo", &second), ("/undo", &first)] {
        let reply = say(&project, command);
        assert_eq!(reply["usage"]["model_calls"], 0);
        assert_eq!(&document(&project), wanted, "{command}: {reply:#}");
    }
    let last = say(&project, "/undo");
    assert_eq!(
        document(&project),
        first,
        "what made it is not taken back: {last:#}"
    );
}

fn told(reply: &Value) -> &str {
    reply["messages"][0]["text"].as_str().unwrap()
}

/// The words of a new user: no pack is named, and the one argument is a message.
#[test]
fn chat_talks_with_the_copilot_where_no_pack_is_named() {
    let project = Project::new();
    let say = |message: &str| {
        let args = ["chat", "--output-format", "json", message];
        project.run(&args).json()
    };
    let built = say("when a form comes in, store it in Postgres and tell #sales");
    assert_eq!(built["pack"], "n8n-copilot");
    assert!(told(&built).starts_with("Made: "), "{built:#}");
    let first = document(&project);
    let gated = say("only if the budget is over 5k");
    // The gate stands before most of the workflow, and the user's own words asked for it.
    assert_eq!(gated["expects"], "nothing", "{gated:#}");
    assert!(
        told(&gated).contains("+ node \"Budget > 5000?\""),
        "{gated:#}"
    );
    let second = document(&project);
    let kinds = |workflow: &Value| workflow["nodes"].as_array().unwrap().len();
    assert_eq!(kinds(&second), kinds(&first) + 1);
    for kind in ["formTrigger", "postgres", "slack"] {
        assert_eq!(node(&second, kind), node(&first, kind), "{kind}");
    }
    let third = say("what does the third node do?");
    assert!(told(&third).starts_with("Postgres: Insert"), "{third:#}");
    assert_eq!(document(&project), second);
    assert!(told(&say("/diff")).contains("+ node \"Budget > 5000?\""));
    say("/undo");
    assert_eq!(document(&project), first);
    let help = say("/help");
    for command in ["/undo", "/redo", "/diff", "/workflow", "/clear", "/compact"] {
        assert!(told(&help).contains(command), "{command}: {help:#}");
    }
    assert!(told(&say("/clear")).contains("cleared"));
    assert!(told(&say("/workflow")).contains("no workflow yet"));
    let unknown = project.run(&["chat", "front-dor"]);
    assert_eq!(unknown.code, 2);
    assert!(
        unknown
            .stderr
            .contains("agentctl chat n8n-copilot front-dor"),
        "{}",
        unknown.stderr
    );
}

/// One word that is nearly no pack's name is said, and the user sees to whom.
#[test]
fn a_bare_word_is_a_message() {
    let project = Project::new();
    let say = |message: &str| project.run(&["chat", "--output-format", "json", message]);
    say("When a form comes in, store it in Postgres and tell #sales on Slack.").json();
    let first = document(&project);
    say("Use Microsoft Teams instead of Slack.").json();
    assert_ne!(document(&project), first);
    let taken_back = say("revert");
    assert_eq!(document(&project), first);
    assert!(
        taken_back.stderr.contains("there is no pack \"revert\""),
        "{}",
        taken_back.stderr
    );
    assert!(told(&say("hello").json()).contains("You are welcome"));
    let number = say("60s");
    assert!(
        number.stderr.contains("there is no pack \"60s\""),
        "{}",
        number.stderr
    );
    assert_eq!(number.code, 0, "{}", number.stderr);
}

/// Most of a small workflow goes or is held back, one step after the other, each as the user said: that is asked of nobody.
#[test]
fn what_each_message_names_is_done_in_a_small_workflow() {
    let project = Project::new();
    say(
        &project,
        "When a webhook receives a lead, add it to Airtable and tell #leads on Slack.",
    );
    for message in [
        "Use Google Sheets instead of Airtable.",
        "only if the budget is over 3000",
        "Use Microsoft Teams instead of Slack.",
    ] {
        let reply = say(&project, message);
        assert_eq!(reply["expects"], "nothing", "{message}: {reply:#}");
        assert_eq!(reply["outcome"], "complete", "{message}: {reply:#}");
    }
    let workflow = document(&project);
    node(&workflow, "googleSheets");
    node(&workflow, "microsoftTeams");
}

#[test]
fn a_conversation_may_begin_with_a_workflow_that_is_there() {
    let project = Project::new();
    say(
        &project,
        "Every day at 7:30 get https://api.example.com/today and send it to me on Telegram, chat 4711.",
    );
    let file = format!("workflows/{}", project.workflows()[0]);
    let args = [
        "chat",
        "--session",
        "other",
        "--workflow",
        &file,
        "--output-format",
        "json",
    ];
    let reply = project
        .run(&[&args[..], &["Make it 6:45."]].concat())
        .json();
    assert_eq!(reply["route"], "configurator", "{reply:#}");
    assert_eq!(reply["output"]["workflow"]["file"], file);
}

#[test]
fn a_value_is_the_configurators_and_a_connection_the_builders() {
    let project = Project::new();
    say(
        &project,
        "Jeden Montag um 8 Uhr sollen die Daten von https://erp.example.com/api/open geholt und an team@example.com gemailt werden.",
    );
    let before = document(&project);
    let timed = say(&project, "Bitte erst um 10 Uhr.");
    assert_eq!(phases(&timed), ["configurator"], "{timed:#}");
    let after = document(&project);
    assert_eq!(node(&after, "httpRequest"), node(&before, "httpRequest"));
    assert_eq!(after["connections"], before["connections"]);
    let name = node(&after, "emailSend")["name"]
        .as_str()
        .unwrap()
        .to_owned();
    let parted = say(&project, &format!("Trenne bitte die Verbindung zu {name}."));
    assert_eq!(phases(&parted), ["builder", "configurator"], "{parted:#}");
    assert_eq!(document(&project)["nodes"], after["nodes"]);
}

#[test]
fn what_is_not_understood_is_asked_and_nothing_is_done() {
    let project = Project::new();
    let vague = say(&project, "I'd like to automate something with my e-mails.");
    assert!(
        vague["messages"][0]["text"].as_str().unwrap().contains('?'),
        "{vague:#}"
    );
    assert_eq!(project.workflows(), Vec::<String>::new());
    say(
        &project,
        "Every day at 7:30 get https://api.example.com/today and send it to me on Telegram, chat 4711.",
    );
    let before = document(&project);
    for message in [
        "Make it better.",
        "Delete every node, I want the workflow empty.",
        "Activate the workflow now.",
    ] {
        let reply = say(&project, message);
        assert_eq!(phases(&reply), Vec::<&str>::new(), "{message}: {reply:#}");
        assert_eq!(document(&project), before, "{message}");
    }
}
