//! A submitted request that another pack drafts (`handoff` in the team's data): one request, one draft, in runs that name each other, whatever
//! is killed in between and however often the message comes.

use crate::support::{Project, Ran};
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};

const WISH: &str =
    "When a webhook receives an order over 100 EUR, post it to the Slack channel #sales";
const TEAMS: &str = r##"- id: automation
  name: Automation
  description: Takes repetitive manual work over by software - workflows, messages, alerts, lists, reports.
  keywords: [automate, workflow, webhook, message, slack, mail, report]
  handoff:
    pack: n8n-builder
    when: "fields.urgency != 'can wait'"
    input: {message: fields.wish}
"##;
const FIELDS: &str = "- {name: title, label: Title, type: text, required: true, ask: false, max: 120}
- {name: wish, label: Wish, type: text, required: true, max: 4000, question: What should happen?}
- {name: urgency, label: Urgency, type: choice, required: true, question: 'How urgent is it: it can wait, or this week?', values: [{value: can wait, also: [it can wait]}, this week]}
";

/// An office with these teams.
fn office(teams: &str) -> Project {
    let project = Project::new();
    let made = project.run(&["init", "."]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    project.write("packs/front-door/data/teams.yaml", teams);
    project.write("packs/front-door/data/fields.yaml", FIELDS);
    let checked = project.run(&["packs", "check", "front-door"]);
    assert_eq!(checked.code, 0, "{}{}", checked.stdout, checked.stderr);
    project
}

fn say(project: &Project, message: &str) -> Value {
    let ran = project.run(&["chat", "front-door", message, "--output-format", "json"]);
    assert_eq!(ran.code, 0, "{message}: {}{}", ran.stdout, ran.stderr);
    ran.json()
}

/// Up to the review.
fn reviewed(project: &Project, wish: &str, urgency: &str) {
    for message in ["I want to submit a request", wish, urgency] {
        say(project, message);
    }
}

fn said(reply: &Value) -> String {
    let messages = reply["messages"].as_array().unwrap();
    let texts = messages.iter().map(|m| m["text"].as_str().unwrap());
    texts.collect::<Vec<_>>().join("\n")
}

/// The requests that were handed over.
fn requests(project: &Project) -> Vec<Value> {
    let mut files: Vec<PathBuf> = Vec::new();
    for team in std::fs::read_dir(project.file("memory/requests"))
        .into_iter()
        .flatten()
    {
        let team = std::fs::read_dir(team.unwrap().path()).unwrap();
        files.extend(team.map(|file| file.unwrap().path()));
    }
    let read = |file: &PathBuf| serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    files.iter().map(read).collect()
}

/// The journals of the project's runs, as far as they are written.
fn journals(project: &Project) -> Vec<(String, Vec<Value>)> {
    let runs = std::fs::read_dir(project.file("memory/runs"))
        .into_iter()
        .flatten();
    let read = |run: std::io::Result<std::fs::DirEntry>| {
        let folder = run.unwrap().path();
        let text = std::fs::read_to_string(folder.join("journal.jsonl")).unwrap_or_default();
        let events = text.lines().filter_map(|line| {
            let record: Value = serde_json::from_str(line).ok()?;
            Some(record["event"].clone())
        });
        let id = folder.file_name().unwrap().to_str().unwrap().to_owned();
        (id, events.collect())
    };
    runs.map(read).collect()
}

/// The runs that worked on a call of another one.
fn children(project: &Project) -> Vec<String> {
    let is_child = |event: &Value| event["type"] == "linked" && event["side"] == "parent";
    let all = journals(project).into_iter();
    let children = all.filter(|(_, events)| events.iter().any(is_child));
    children.map(|(id, _)| id).collect()
}

fn ok(ran: Ran) -> Ran {
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    ran
}

#[test]
fn a_submitted_request_is_drafted_once_and_its_runs_are_followed() {
    let project = office(TEAMS);
    reviewed(&project, WISH, "this week");
    let reply = say(&project, "yes");
    let [request] = &requests(&project)[..] else {
        panic!("{:?}", requests(&project));
    };
    let [draft] = &project.workflows()[..] else {
        panic!("{:?}", project.workflows());
    };
    let handed = &request["handoff"];
    assert_eq!(handed["status"], "complete", "{request:#}");
    assert_eq!(handed["place"], format!("workflows/{draft}"));
    let open = handed["open"].as_array().unwrap();
    let credential = |line: &Value| line.as_str().unwrap().contains("connect a credential");
    assert!(open.iter().any(credential), "{request:#}");
    assert_eq!(reply["messages"][1]["data"]["handoff"], *handed);
    let told = said(&reply);
    assert!(told.contains("memory/requests/automation/"), "{told}");
    assert!(told.contains(&format!("workflows/{draft}")), "{told}");
    assert!(told.contains("connect a credential"), "{told}");

    // Both journals say so, and the commands follow.
    let (parent, child) = (
        reply["run_id"].as_str().unwrap(),
        handed["run"].as_str().unwrap(),
    );
    assert_eq!(children(&project), [child]);
    let log = ok(project.run(&["log", parent])).stdout;
    assert!(
        log.contains(&format!("n8n-builder worked on it in run {child}")),
        "{log}"
    );
    assert!(
        log.contains("│") && log.contains("create_workflow"),
        "{log}"
    );
    let log = ok(project.run(&["log", parent, "--output-format", "json"])).json();
    assert_eq!(log["linked"][0]["run_id"], child, "{log:#}");
    let usage = ok(project.run(&["usage", parent])).stdout;
    assert!(usage.contains(&format!("{child} (n8n-builder)")), "{usage}");
    let usage = ok(project.run(&["usage", parent, "--output-format", "json"])).json();
    let calls = |of: &Value| of["tool_calls"].as_u64().unwrap();
    assert_eq!(usage["linked"][0]["run_id"], child);
    assert!(calls(&usage["linked"][0]["total"]) > 0);
    assert_eq!(
        calls(&usage["together"]),
        calls(&usage["total"]) + calls(&usage["linked"][0]["total"])
    );
    ok(project.run(&["report", parent, "--html", "story.html"]));
    let page = std::fs::read_to_string(project.file("story.html")).unwrap();
    let (_, linked) = page.split_once("Runs that worked for it").unwrap();
    assert!(
        linked.contains(child) && linked.contains("<svg"),
        "{linked}"
    );
    ok(project.run(&["runs", "verify"]));

    // An undo names the other run, and takes its draft away; the request stays.
    let plan = ok(project.run(&["undo", parent, "--plan"]));
    assert!(
        plan.stdout.contains(&format!("run {child} (n8n-builder)")),
        "{}",
        plan.stdout
    );
    assert_eq!(project.workflows().len(), 1);
    let undone = ok(project.run(&["undo", parent, "--output-format", "json"])).json();
    assert_eq!(undone["linked"][0]["run_id"], child, "{undone:#}");
    assert_eq!(undone["linked"][0]["workflows"][0]["what"], "removed");
    assert!(project.workflows().is_empty());
    assert_eq!(requests(&project).len(), 1);
}

#[test]
fn an_undo_that_one_run_refuses_changes_nothing() {
    let project = office(TEAMS);
    reviewed(&project, WISH, "this week");
    let reply = say(&project, "yes");
    let draft = project.file(&format!("workflows/{}", project.workflows()[0]));
    let by_hand = std::fs::read_to_string(&draft)
        .unwrap()
        .replace("#sales", "#orders");
    std::fs::write(&draft, by_hand).unwrap();
    let child = requests(&project)[0]["handoff"]["run"]
        .as_str()
        .unwrap()
        .to_owned();
    let refused = project.run(&["undo", reply["run_id"].as_str().unwrap()]);
    assert_eq!(refused.code, 5, "{}{}", refused.stdout, refused.stderr);
    assert!(refused.stderr.contains(&child), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("nothing was taken back"),
        "{}",
        refused.stderr
    );
    assert_eq!(project.workflows().len(), 1);
}

#[test]
fn what_the_condition_does_not_want_is_submitted_and_no_more() {
    let project = office(TEAMS);
    reviewed(&project, WISH, "it can wait");
    say(&project, "yes");
    let [request] = &requests(&project)[..] else {
        panic!();
    };
    assert!(request.get("handoff").is_none(), "{request:#}");
    assert!(project.workflows().is_empty());
    assert_eq!(children(&project), [""; 0]);
}

#[test]
fn a_message_that_came_before_hands_nothing_over_again() {
    let project = office(TEAMS);
    let body = |text: &str, id: &str| serde_json::json!({"id": id, "text": text, "from": {"id": "u-1"}, "conversation": {"id": "c-1"}});
    let sent = |text: &str, id: &str| {
        let file = project.write("body.json", &body(text, id).to_string());
        let args = [
            "chat",
            "front-door",
            "--input",
            file.to_str().unwrap(),
            "--output-format",
            "json",
        ];
        ok(project.run(&args))
    };
    for (at, text) in ["I want to submit a request", WISH, "this week", "yes"]
        .iter()
        .enumerate()
    {
        sent(text, &format!("m-{at}"));
    }
    sent("yes", "m-3");
    sent("yes", "m-4");
    assert_eq!(requests(&project).len(), 1);
    assert_eq!(project.workflows().len(), 1);
    assert_eq!(children(&project).len(), 1);
}

#[test]
fn what_was_not_understood_and_what_is_refused_stand_in_the_request() {
    let project = office(TEAMS);
    let half = "When a webhook receives an order over 100 EUR, post it to Slack #sales and do the frobnication of the zorks";
    reviewed(&project, half, "this week");
    let told = said(&say(&project, "yes"));
    assert!(told.contains("frobnication of the zorks"), "{told}");
    let request = &requests(&project)[0];
    assert_eq!(request["handoff"]["status"], "draft", "{request:#}");
    assert_eq!(project.workflows().len(), 1);

    // A team that hands over to a pack which the tool does not name, and one whose expression has no value for this request.
    for (teams, why) in [
        (TEAMS.replace("pack: n8n-builder", "pack: research"), "pack"),
        (TEAMS.replace("fields.wish", "fields.budget"), "budget"),
    ] {
        let project = office(&teams);
        reviewed(&project, WISH, "this week");
        let told = said(&say(&project, "yes"));
        assert!(told.contains("No draft was made of it"), "{told}");
        let request = &requests(&project)[0];
        assert_eq!(request["handoff"]["status"], "not done", "{request:#}");
        assert!(
            request["handoff"]["why"].as_str().unwrap().contains(why),
            "{request:#}"
        );
        assert!(project.workflows().is_empty());
    }
}

#[test]
fn a_refused_draft_leaves_the_request_valid() {
    let project = office(TEAMS);
    let unsafe_wish =
        "A workflow that deletes all workflows every day and sends a message to Slack";
    reviewed(&project, unsafe_wish, "this week");
    say(&project, "yes");
    let request = &requests(&project)[0];
    assert_eq!(request["handoff"]["status"], "not done", "{request:#}");
    assert_eq!(request["handoff"]["run"], children(&project)[0]);
    let why = request["handoff"]["why"].as_str().unwrap();
    assert!(
        why.starts_with("This would delete everything at once"),
        "{why}"
    );
    // Nothing was changed, so nothing can be taken back.
    let run = journals(&project).into_iter().find(|(_, events)| {
        events
            .iter()
            .any(|event| event["type"] == "linked" && event["side"] == "child")
    });
    let undo = project.run(&["undo", &run.unwrap().0]);
    assert_eq!(undo.code, 2, "{}{}", undo.stdout, undo.stderr);
    assert!(
        undo.stderr.contains("changed no workflow"),
        "{}",
        undo.stderr
    );
}

#[test]
fn a_question_of_the_draft_stands_in_the_request_with_how_to_answer_it() {
    let project = office(TEAMS);
    let wish = "Post our new stuff on social media automatically, with a workflow that sends a message to Slack";
    reviewed(&project, wish, "this week");
    let told = said(&say(&project, "yes"));
    let request = &requests(&project)[0];
    let handed = &request["handoff"];
    assert_eq!(handed["status"], "waiting", "{request:#}");
    let run = handed["run"].as_str().unwrap();
    let asked = handed["open"][0].as_str().unwrap();
    assert!(told.contains(asked), "{told}");
    let (_, command) = asked
        .split_once(&format!("(agentctl answer {run} "))
        .unwrap();
    let (question, _) = command.split_once('=').unwrap();
    let steps = "When a webhook is called, post its text to the Slack channel #news";
    let answered = project.run(&["answer", run, &format!("{question}={steps}")]);
    assert!(
        matches!(answered.code, 0 | 9),
        "{}{}",
        answered.stdout,
        answered.stderr
    );
    assert_eq!(project.workflows().len(), 1);
}

/// The assistant has the copilot build, which is a pack of its own: both are followed and taken back as well.
#[test]
fn what_the_assistant_had_built_is_taken_back_with_its_run() {
    let project = Project::new();
    let wish =
        "Build a workflow: when a webhook is called, post its text to the Slack channel #support";
    let built = ok(project.run(&["chat", "assistant", wish, "--output-format", "json"])).json();
    assert_eq!(project.workflows().len(), 1, "{built:#}");
    let run = built["run_id"].as_str().unwrap();
    let log = ok(project.run(&["log", run])).stdout;
    assert!(log.contains("n8n-copilot worked on it in run"), "{log}");
    let undone = ok(project.run(&["undo", run])).stdout;
    assert!(undone.contains("(n8n-copilot):"), "{undone}");
    assert!(project.workflows().is_empty());
}

/// Where it is asked for, the copilot says first what documents say.
#[test]
fn a_copilot_has_the_research_team_look_first_where_the_settings_say_so() {
    let project = Project::new();
    project.write(
        "packs/n8n-copilot/data/settings.yaml",
        "multi_agent: true\nassess: true\n",
    );
    project.write(
        "packs/research/data/documents.yaml",
        "- {doc: rules, title: Slack, source: IT handbook, text: Slack takes at most one message a second.}\n",
    );
    ok(project.run(&["trust", "--yes"]));
    let wish = "When a webhook is called, post its text to the Slack channel #support";
    let reply = ok(project.run(&["chat", "n8n-copilot", wish, "--output-format", "json"])).json();
    let told = said(&reply);
    assert!(
        told.contains("“Slack takes at most one message a second.” (IT handbook; unverified)"),
        "{told}"
    );
    assert_eq!(project.workflows().len(), 1);
    assert_eq!(children(&project).len(), 1);
    // What is changed in it later is no new wish.
    ok(project.run(&["chat", "n8n-copilot", "Post to #orders instead of #support"]));
    assert_eq!(children(&project).len(), 1);
}

#[test]
fn a_mistake_in_the_expression_of_a_team_is_told_with_its_line() {
    let project = office(TEAMS);
    project.write(
        "packs/front-door/data/teams.yaml",
        &TEAMS.replace("fields.urgency !=", "urgency !="),
    );
    let checked = project.run(&["packs", "check", "front-door"]);
    assert_eq!(checked.code, 2, "{}", checked.stdout);
    let told = format!("{}{}", checked.stdout, checked.stderr);
    assert!(
        told.contains("teams.yaml:7") && told.contains("urgency"),
        "{told}"
    );
}

fn killed(child: &mut Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// kill -9 of the front door with the request submitted and the hand-over about to be made, and within the other pack's run: at its first
/// record, with its change about to be made, with its change made, and at its end.
#[test]
fn a_hand_over_that_was_killed_is_gone_on_with_and_nothing_is_done_twice() {
    let moments: [(&str, fn(&Value) -> bool); 5] = [
        ("submitted", |event| {
            event["type"] == "tool_intent" && event["call"]["name"] == "hand_over"
        }),
        ("the draft's run began", |event| {
            event["type"] == "linked" && event["side"] == "parent"
        }),
        ("a change is about to be made", |event| {
            event["type"] == "tool_intent" && event["call"]["name"] == "create_workflow"
        }),
        ("a change was made", |event| event["change"].is_object()),
        ("the draft's run ended", |event| {
            event["type"] == "run_ended" && event["message"].to_string().contains("checked")
        }),
    ];
    let mut whole = 0;
    for (moment, is_now) in moments {
        let project = office(TEAMS);
        reviewed(&project, WISH, "this week");
        let mut command = project.command(&["chat", "front-door", "yes"]);
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        loop {
            let seen = journals(&project)
                .iter()
                .any(|(_, events)| events.iter().any(is_now));
            if seen || child.try_wait().unwrap().is_some() {
                break;
            }
        }
        killed(&mut child);
        // What was killed too late was not killed at all.
        whole += usize::from(
            requests(&project)
                .iter()
                .any(|r| r.get("handoff").is_some()),
        );

        let reply = say(&project, "yes");
        let [request] = &requests(&project)[..] else {
            panic!("{moment}: {reply:#}");
        };
        assert_eq!(
            request["handoff"]["status"], "complete",
            "{moment}: {request:#}"
        );
        assert_eq!(project.workflows().len(), 1, "{moment}");
        let runs = children(&project);
        let begun = |run: &String| {
            let all = journals(&project);
            let (_, events) = all.iter().find(|(id, _)| id == run).unwrap();
            events.iter().any(|event| event["type"] == "tool_intent")
        };
        // A run that was killed before it was noted down did nothing, and another one did.
        assert_eq!(
            runs.iter().filter(|run| begun(run)).count(),
            1,
            "{moment}: {runs:?}"
        );
        let verified = project.run(&["runs", "verify"]);
        assert_eq!(verified.code, 0, "{moment}: {}", verified.stdout);
    }
    assert!(whole < 5, "no process was killed in time");
}

#[test]
fn the_events_of_a_hand_over_name_the_other_run() {
    let project = office(TEAMS);
    reviewed(&project, WISH, "this week");
    let args = [
        "chat",
        "front-door",
        "yes",
        "--output-format",
        "stream-json",
        "--events",
        "all",
    ];
    let mut child = project
        .command(&args)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let events: Vec<Value> = lines
        .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
        .collect();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let linked: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "linked")
        .collect();
    assert_eq!(linked.len(), 1, "{linked:#?}");
    assert_eq!(linked[0]["side"], "child");
    assert_eq!(linked[0]["pack"], "n8n-builder");
    assert_eq!(linked[0]["run_id"], requests(&project)[0]["handoff"]["run"]);
}

/// The lines of README, as they stand there.
#[test]
fn the_story_that_the_readme_tells_is_so() {
    let readme =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let (_, section) = readme
        .split_once("\n## From a wish to a workflow\n")
        .unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    assert!(section.lines().count() <= 45, "the story has 40 lines");
    let mut blocks = section
        .split("```sh\n")
        .skip(1)
        .map(|rest| rest.split_once("```").unwrap().0);
    let (story, asked) = (blocks.next().unwrap(), blocks.next().unwrap());

    let project = Project::new();
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_agentctl"))
        .parent()
        .unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let typed = |script: &str, folder: &str| {
        let like = project.command(&[]);
        let mut shell = std::process::Command::new("sh");
        for (name, value) in like.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        shell
            .args(["-eu", "-c", script])
            .current_dir(project.file(folder))
            .env("PATH", &path);
        let out = shell.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let (stdout, stderr) = (text(out.stdout), text(out.stderr));
        assert!(out.status.success(), "{stdout}\n{stderr}");
        (stdout, stderr)
    };
    let (told, noted) = typed(story, ".");
    for part in [
        "Your request was submitted: memory/requests/automation/",
        "A first draft was made of it: workflows/",
        "connect a credential: Slack API",
        "research: “Slack takes at most one message a second.” (IT handbook; unverified)",
        "0 errors",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let run = noted
        .lines()
        .rfind(|line| line.starts_with("run ") && line.ends_with("(front-door)"));
    let run = run.unwrap().split(' ').nth(1).unwrap();
    let (told, _) = typed(&asked.replace("RUN", run), "office");
    for part in [
        "n8n-builder worked on it in run",
        "research worked on it in run",
        "would be removed",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(project.file("office/story.html").is_file());
}
