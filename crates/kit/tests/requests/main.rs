//! What the offline model of the pack `assistant` makes of a conversation, from the user's words to the parameters of a call: nothing is
//! made up, nothing that was said is lost, and what is not done is said.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

use agentctl_kit::assist::{Done, Next, next};
use agentctl_kit::{Said, Task};
use serde_json::{Map, Value, json};
use std::path::Path;

fn offline() -> Value {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packs/assistant/agents/offline.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    agentctl_base::yaml::read(&text, "offline.yaml")
        .unwrap()
        .to_json()
}

const AGENTS: [&str; 7] = [
    "ask_confluence",
    "ask_gitlab",
    "ask_jira",
    "ask_sharepoint",
    "ask_system",
    "ask_trello",
    "ask_workflows",
];

fn tool(id: &str, required: &[&str], optional: &[&str]) -> Value {
    let schema = |name: &&str| ((*name).to_owned(), json!({"type": "string"}));
    let properties: Map<String, Value> = required.iter().chain(optional).map(schema).collect();
    json!({"id": id, "description": id.replace('_', " "), "parameters": {"type": "object", "properties": properties, "required": required}})
}

fn tools() -> Value {
    json!([
        tool("jira_search_1", &[], &["assignee", "status", "project"]),
        tool("jira_get_sprint_1", &[], &["sprint"]),
        read_issue(),
        tool(
            "jira_create_issue_1",
            &["project", "summary"],
            &["description"]
        ),
        tool("jira_add_comment_1", &["issue_key", "comment"], &[]),
        tool("jira_assign_issue_1", &["issue_key", "assignee"], &[]),
        tool("confluence_create_page_1", &["title", "body"], &["space"]),
    ])
}

/// Its description has words that join the parts of a request.
fn read_issue() -> Value {
    let mut tool = tool("jira_get_issue_1", &["issue_key"], &[]);
    tool["description"] = "Read one Jira issue with description and comments.".into();
    tool
}

/// The main agent's next call or answer. `said`: the user first, then in turn.
fn served(said: &[&str], done: &[Done]) -> Next {
    let said: Vec<Said> = (said.iter().enumerate())
        .map(|(at, text)| Said {
            by_user: at % 2 == 0,
            text: (*text).to_owned(),
        })
        .collect();
    let offline = offline();
    let input = Map::from_iter([("locale".to_owned(), json!("en-US"))]);
    let task = Task {
        name: "serve",
        offline: &offline,
        data: &Map::new(),
        input: &input,
        said: &said,
        contract: &Value::Null,
    };
    next(task, &AGENTS.map(str::to_owned), done).unwrap()
}

/// What the agent of a system does with its task.
fn executed(task: &str, said: &str, locale: &str, done: &[Done]) -> Next {
    let offline = offline();
    let input = json!({"task": task, "said": said, "locale": locale, "tool_type": "jira", "tools": tools()});
    let task = Task {
        name: "execute",
        offline: &offline,
        data: &Map::new(),
        input: input.as_object().unwrap(),
        said: &[],
        contract: &Value::Null,
    };
    next(task, &["current_user_execute_tool".to_owned()], done).unwrap()
}

/// The tool and the parameters, or what is asked for instead. Looks on the way to it find nothing.
fn called(task: &str) -> (String, Value) {
    let mut done: Vec<Done> = Vec::new();
    loop {
        match executed(task, task, "en-US", &done) {
            Next::Answer(answer) => {
                let error = answer["data"]["error"].as_str().unwrap_or("none");
                return (error.to_owned(), answer["data"]["parameter"].clone());
            }
            Next::Call { args, tool } => {
                let id = args["tool_id"].as_str().unwrap().to_owned();
                let look =
                    id == "jira_search_1" || id.contains("sprint") && !task.contains("Sprint");
                if !look {
                    return (id, args["parameters"].clone());
                }
                done.push(Done {
                    tool,
                    args: args.as_object().unwrap().clone(),
                    ok: true,
                    content: json!({"result": {"total": 0, "issues": []}}),
                });
            }
        }
    }
}

/// The agent that is asked and its task.
fn asked(said: &[&str]) -> (String, String) {
    match served(said, &[]) {
        Next::Call { tool, args } => (tool, args["taskDescription"].as_str().unwrap().to_owned()),
        Next::Answer(answer) => ("answer".to_owned(), answer["output"].to_string()),
    }
}

/// The whole way: what the main agent makes of the conversation, and what the agent of the system then does.
fn through(said: &[&str]) -> (String, Value) {
    called(&asked(said).1)
}

const PROJECT: &str = "In which project shall it be? I need the key of the project for that.";
const SUMMARY: &str = "What shall the summary be, in one line?";

#[test]
fn an_answer_fills_the_parameter_that_was_asked_for_and_no_other() {
    let missing = |name: &str| ("missing_parameter".to_owned(), json!(name));
    assert_eq!(through(&["Create a Jira ticket"]), missing("project"));
    let one = ["Create a Jira ticket", PROJECT, "NH"];
    assert_eq!(through(&one), missing("summary"));
    let two = [
        &one[..],
        &[SUMMARY, "The gate camera at berth 4 is blurry since Monday"],
    ]
    .concat();
    let made =
        json!({"project": "NH", "summary": "The gate camera at berth 4 is blurry since Monday"});
    assert_eq!(through(&two), ("jira_create_issue_1".to_owned(), made));
    // The other way round, and in German.
    let other = [
        "Erstelle ein Jira-Ticket im Projekt NH",
        "Wie soll die Zusammenfassung (summary) in einer Zeile lauten?",
        "Kamera unscharf",
    ];
    let made = json!({"project": "NH", "summary": "Kamera unscharf"});
    assert_eq!(through(&other), ("jira_create_issue_1".to_owned(), made));
    let page = [
        "Create a Confluence page",
        "What shall be the title of it?",
        "Ops notes",
    ];
    assert_eq!(through(&page), missing("body"));
    let body = [
        &page[..],
        &[
            "What shall be the text (body) of it?",
            "Backups: every night\nRestore: monthly",
        ],
    ]
    .concat();
    let made = json!({"title": "Ops notes", "body": "Backups: every night\nRestore: monthly"});
    assert_eq!(
        through(&body),
        ("confluence_create_page_1".to_owned(), made)
    );
}

/// A question that has no words of its own names the parameter.
#[test]
fn a_parameter_without_a_question_of_its_own_is_known_by_its_name() {
    let said = [
        "Assign the ticket NH-2",
        "What is the story points for this? I need that of you first.",
        "5",
    ];
    assert!(
        asked(&said).1.ends_with("\nstory_points: 5"),
        "{:?}",
        asked(&said)
    );
}

#[test]
fn a_request_is_not_forgotten_when_what_was_answered_did_not_work() {
    let failed = "That did not work in Jira: “there is no project XX”. Nothing was done for you.";
    let said = [
        "Create a Jira ticket: camera blurry",
        PROJECT,
        "XX",
        failed,
        "NH",
    ];
    let made = json!({"project": "NH", "summary": "camera blurry"});
    assert_eq!(through(&said), ("jira_create_issue_1".to_owned(), made));
    let new = [
        "Create a Jira ticket: camera blurry",
        PROJECT,
        "Show me the Trello boards",
    ];
    assert_eq!(asked(&new).0, "ask_trello");
}

#[test]
fn a_title_that_is_said_is_the_title() {
    for (task, title, body) in [
        (
            "Create a Confluence page titled 'Ops notes' with the text: backup runs at 22:00",
            "Ops notes",
            "backup runs at 22:00",
        ),
        (
            "Create a Confluence page called Harbour plan with the text: open from 6",
            "Harbour plan",
            "open from 6",
        ),
        (
            "Erstelle eine Confluence-Seite mit dem Titel Sprintbericht KW 12 und dem Text: alles gut",
            "Sprintbericht KW 12",
            "alles gut",
        ),
        (
            "Crée une page Confluence intitulée Plan du port avec le texte : ouvert dès 6 h",
            "Plan du port",
            "ouvert dès 6 h",
        ),
    ] {
        let made = json!({"title": title, "body": body});
        assert_eq!(
            called(task),
            ("confluence_create_page_1".to_owned(), made),
            "{task}"
        );
    }
    // A text is no title.
    let untitled = called("Create a Confluence page with the text: backup runs at 22:00");
    assert_eq!(untitled, ("missing_parameter".to_owned(), json!("title")));
    let ticket = called("Create a Jira ticket in project NH with the title Broken lamp");
    let made = json!({"project": "NH", "summary": "Broken lamp"});
    assert_eq!(ticket, ("jira_create_issue_1".to_owned(), made));
}

fn answered(task: &str, locale: &str, result: Value) -> String {
    let Next::Call { args, tool } = executed(task, task, locale, &[]) else {
        panic!("{task} calls nothing");
    };
    let done = [Done {
        tool,
        args: args.as_object().unwrap().clone(),
        ok: true,
        content: json!({"result": result}),
    }];
    match executed(task, task, locale, &done) {
        Next::Answer(answer) => answer["output"].as_str().unwrap().to_owned(),
        Next::Call { .. } => panic!("{task} calls once more"),
    }
}

#[test]
fn a_reply_is_in_the_language_of_the_message_or_of_the_locale() {
    for (task, locale, begins) in [
        ("Comment on NH-220: done", "en-US", "I added"),
        (
            "Comment on NH-220: das ist erledigt und wir haben es geprüft",
            "en-US",
            "I added",
        ),
        (
            "Kommentiere NH-220: the work is done and we have checked it",
            "de-DE",
            "Ich habe",
        ),
        (
            "Ajoute un commentaire à NH-220 pour moi : fait",
            "en-US",
            "J'ai",
        ),
    ] {
        let said = answered(task, locale, json!({"comments": 1}));
        assert!(said.starts_with(begins), "{task}: {said}");
    }
}

#[test]
fn words_of_the_request_stay_out_of_the_parameters() {
    let list = "I have found 2 entries for you in Jira:\n- NH-212 “Lamp” (status: To Do)\n- NH-214 “Door” (status: To Do)";
    let turn = |now| ["Show me my Jira tickets", list, now];
    for (now, key) in [
        ("Assign the first one to Ben Okoro", "NH-212"),
        ("Assign the second one to Ben Okoro", "NH-214"),
        ("Weise das letzte Ben Okoro zu", "NH-214"),
    ] {
        let made = json!({"issue_key": key, "assignee": "Ben Okoro"});
        assert_eq!(
            through(&turn(now)),
            ("jira_assign_issue_1".to_owned(), made),
            "{now}"
        );
    }
    let made = |key: &str, to: &str| {
        (
            "jira_assign_issue_1".to_owned(),
            json!({"issue_key": key, "assignee": to}),
        )
    };
    assert_eq!(
        called("Weise NH-223 Ben Okoro zu"),
        made("NH-223", "Ben Okoro")
    );
    assert_eq!(
        called("Weise das Ticket NH-223 anna.berg zu"),
        made("NH-223", "anna.berg")
    );
}

#[test]
fn a_second_wish_that_no_tool_fulfils_is_told_as_not_done() {
    for task in [
        "Assign NH-223 to anna.berg and set its priority to Low",
        "Assign NH-223 to anna.berg and delete NH-224",
    ] {
        let said = answered(
            task,
            "en-US",
            json!({"key": "NH-223", "assignee": "anna.berg"}),
        );
        assert!(said.starts_with("I assigned NH-223 to anna.berg"), "{said}");
        assert!(said.contains("I could not do that"), "{said}");
    }
}

#[test]
fn of_what_was_shown_only_that_is_counted() {
    let said = [
        "Zeig mir den aktuellen Sprint in Jira",
        "Das ist, was ich gefunden habe:",
        "Wie viele Tickets davon sind erledigt?",
    ];
    let (agent, task) = asked(&said);
    assert_eq!(agent, "ask_jira");
    assert_eq!(called(&task).0, "jira_get_sprint_1");
    let sprint = json!({"name": "Sprint 4", "total": 3, "tickets": [{"key": "NH-1", "status": "Done"}, {"key": "NH-2", "status": "To Do"}, {"key": "NH-3", "status": "Done"}]});
    let told = answered(&task, "de-DE", sprint);
    assert!(
        told.contains("2 von den 3 haben den Status „Done“"),
        "{told}"
    );
}

#[test]
fn what_is_quoted_names_no_system() {
    let order = |request: &str| {
        let mut done: Vec<Done> = Vec::new();
        while let Next::Call { tool, args } = served(&[request], &done) {
            done.push(Done {
                tool,
                args: args.as_object().unwrap().clone(),
                ok: true,
                content: json!({"output": "Found.", "data": {"title": "One"}, "attachment": null}),
            });
        }
        done.iter()
            .map(|made| made.tool.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        order("Create a Jira ticket in NH from the merge request 'Gift cards'"),
        ["ask_gitlab", "ask_jira"]
    );
    assert_eq!(
        order("Read the Confluence page \"Trello board rules\""),
        ["ask_confluence"]
    );
    assert_eq!(
        order("Summarise the Confluence page about releases in a PDF"),
        ["ask_confluence", "ask_system"]
    );
    assert_eq!(
        order("Fasse die Confluence-Seite über Releases in einem PDF zusammen"),
        ["ask_confluence", "ask_system"]
    );
}

#[test]
fn entries_are_told_with_what_their_values_are_in_the_marks_of_the_language() {
    let one = json!({"total": 1, "issues": [{"key": "NH-1", "summary": "Lamp", "status": "To Do", "points": 3}]});
    assert_eq!(
        answered("Show me my open Jira tickets", "en-US", one.clone()),
        "I have found one entry for you in Jira:\n- NH-1 “Lamp” (status: “To Do”, points: 3)"
    );
    let german = answered("Zeig mir meine offenen Jira-Tickets", "de-DE", one);
    assert!(
        german.contains("- NH-1 „Lamp“ (status: „To Do“, points: 3)"),
        "{german}"
    );
    assert!(german.contains("in Jira einen Eintrag"), "{german}");
}

#[test]
fn a_summary_or_an_overview_of_tickets_is_a_look_at_all_of_them() {
    for asked in [
        "Give me a summary of my tickets",
        "I need an overview of my Jira tickets",
        "Donne-moi un aperçu de mes tickets",
        "Dame un resumen de mis tickets",
    ] {
        // The look at the tickets needs nothing, and answers.
        assert_eq!(through(&[asked]).0, "none", "{asked}");
    }
    assert_eq!(
        through(&["Show me the ticket DEMO-131 with its comments"]).0,
        "jira_get_issue_1"
    );
}
