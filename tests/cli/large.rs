//! Workflows of hundreds and thousands of nodes: one of them is changed, nothing else, whoever the model is.

use crate::models::configured;
use crate::support::{Project, Ran};
use crate::wire::{Says, Server, openai};
use crate::wires::KEY;
use agentctl_testkit::large::workflow;
use serde_json::{Value, json};

const FILE: &str = "workflows/parts.json";
const URL: &str = "https://api.example.com/changed";

fn put(project: &Project, document: &Value) {
    let text = serde_json::to_string_pretty(document).unwrap();
    project.write(FILE, &(text + "\n"));
}

fn change(project: &Project, request: &str) -> Ran {
    let args = ["build", "--yes", "--no-input", "--workflow", FILE, request];
    let mut command = project.command(&args);
    command.env("MINE_SECRET", KEY).output().unwrap().into()
}

/// Names of the nodes that are no longer as they were, when nothing but nodes is.
fn changed(before: &Value, after: &Value) -> Vec<String> {
    let rest = |document: &Value| {
        let mut document = document.clone();
        document["nodes"] = Value::Null;
        document
    };
    assert_eq!(rest(before), rest(after));
    let nodes = |document: &Value| document["nodes"].as_array().unwrap().clone();
    let (before, after) = (nodes(before), nodes(after));
    assert_eq!(before.len(), after.len());
    let pairs = before.iter().zip(&after).filter(|(was, is)| was != is);
    pairs
        .map(|(was, _)| was["name"].as_str().unwrap().to_owned())
        .collect()
}

/// The longest line of the newest run's journal, in bytes.
fn longest_record(project: &Project) -> usize {
    let runs = std::fs::read_dir(project.file("memory/runs")).unwrap();
    let newest = runs.map(|run| run.unwrap().path()).max().unwrap();
    let journal = std::fs::read_to_string(newest.join("journal.jsonl")).unwrap();
    journal.lines().map(str::len).max().unwrap()
}

fn offline(count: usize) {
    let project = Project::new();
    let before = workflow(count);
    put(&project, &before);
    let last = (count - 2) / 3 * 3 - 2;
    let request = format!("In \"Fetch part {last}\" set the url to {URL}");
    let ran = change(&project, &request);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    let after = project.read_json(FILE);
    assert_eq!(changed(&before, &after), [format!("Fetch part {last}")]);
    assert_eq!(after["nodes"][last]["parameters"]["url"], URL);
    assert!(ran.stdout.len() < 200_000, "{}", ran.stdout.len());
    assert!(longest_record(&project) < 40_000);
}

#[test]
fn the_offline_model_changes_one_node_of_500() {
    offline(500);
}

#[test]
fn the_offline_model_changes_one_node_of_3_000() {
    offline(3_000);
}

#[test]
fn the_offline_model_changes_one_node_of_10_000() {
    offline(10_000);
}

/// Nodes that hold a value are changed wherever they are, and no other.
#[test]
fn what_is_spoken_of_is_read_to_its_end() {
    let project = Project::new();
    let mut before = workflow(1_000);
    for i in [400, 700, 997] {
        before["nodes"][i]["type"] = json!("n8n-nodes-base.slack");
        before["nodes"][i]["typeVersion"] = json!(2.3);
        before["nodes"][i]["parameters"] = json!({"select": "channel", "channelId": {"__rl": true, "mode": "name", "value": "#old-news"}, "text": "x".repeat(60_000), "otherOptions": {}});
    }
    put(&project, &before);
    let ran = change(&project, "post to #fresh-news instead of #old-news");
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    let names = [400, 700, 997].map(|i| before["nodes"][i]["name"].as_str().unwrap().to_owned());
    assert_eq!(changed(&before, &project.read_json(FILE)), names);
}

/// A new node takes no name of a node that was not read.
#[test]
fn a_new_node_has_a_name_of_its_own() {
    let project = Project::new();
    let mut before = workflow(800);
    let request = "insert a pause of 5 minutes after \"Fetch part 7\"";
    put(&project, &before);
    let ran = change(&project, request);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    let after = project.read_json(FILE);
    let new = after["nodes"][800]["name"].as_str().unwrap().to_owned();
    before["nodes"][500]["name"] = json!(new);
    let connections = before["connections"].to_string();
    let connections = connections.replace("\"Note part 500\"", &json!(new).to_string());
    before["connections"] = serde_json::from_str(&connections).unwrap();
    let second = Project::new();
    put(&second, &before);
    let ran = change(&second, request);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    let after = second.read_json(FILE);
    assert_eq!(after["nodes"][500]["name"], new);
    assert_ne!(after["nodes"][800]["name"], new);
}

fn scripted(count: usize) {
    let about = json!({"workflow_id": "parts", "about": "Fetch part 400"}).to_string();
    let ops = json!({"workflow_id": "parts", "ops": [{"op": "set_parameter", "node": "Fetch part 400", "pointer": "/url", "value": URL}]}).to_string();
    let calls = |call| {
        openai(Says {
            calls: &[call],
            ..Says::default()
        })
    };
    let answer = json!({"workflow": {"id": "parts", "name": "Parts", "todo": []}}).to_string();
    let server = Server::new(vec![
        calls(("get_workflow", &about)),
        calls(("update_workflow", &ops)),
        openai(Says {
            words: &[&answer],
            ..Says::default()
        }),
    ]);
    let project = configured(&server);
    let settings = std::fs::read_to_string(project.file("agentctl.toml")).unwrap();
    let builder = settings.replace(
        "default = \"mine::m\"",
        "[models.agents]\nbuilder = \"mine::m\"",
    );
    project.write("agentctl.toml", &builder);
    let before = workflow(count);
    put(&project, &before);
    let ran = change(
        &project,
        &format!("In \"Fetch part 400\" set the url to {URL}"),
    );
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    assert_eq!(
        changed(&before, &project.read_json(FILE)),
        ["Fetch part 400"]
    );
    let sent = server.seen();
    assert_eq!(sent.len(), 3);
    for asked in sent {
        assert!(asked.body.to_string().len() < 120_000);
    }
}

#[test]
fn a_scripted_model_changes_one_node_of_500() {
    scripted(500);
}

#[test]
fn a_scripted_model_changes_one_node_of_3_000() {
    scripted(3_000);
}

#[test]
fn a_scripted_model_changes_one_node_of_10_000() {
    scripted(10_000);
}

/// What is longer than an answer is cut; when that is the reason that nothing can be done, it is said, and nothing is changed.
#[test]
fn a_cut_answer_is_named_as_the_cause() {
    let project = Project::new();
    let mut before = workflow(30);
    before["nodes"][5]["parameters"]["notes"] = json!("n".repeat(400_000));
    put(&project, &before);
    let ran = change(
        &project,
        "In \"Note part 5\" set the greeting flourish of the frobnicator",
    );
    assert_eq!(ran.code, 6, "{}\n{}", ran.stdout, ran.stderr);
    for said in ["Note part 5", "was cut", "bytes"] {
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
    }
    assert_eq!(project.read_json(FILE), before);
    // Another node is changed all the same.
    let ran = change(
        &project,
        &format!("In \"Fetch part 7\" set the url to {URL}"),
    );
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    assert_eq!(changed(&before, &project.read_json(FILE)), ["Fetch part 7"]);
}

#[test]
fn what_was_not_understood_of_a_large_workflow_says_how_much_was_read() {
    let project = Project::new();
    put(&project, &workflow(700));
    let ran = change(&project, "frobnicate the gizmo of the zorp");
    assert_eq!(ran.code, 4, "{}\n{}", ran.stdout, ran.stderr);
    let told = ran.stdout + &ran.stderr;
    assert!(told.contains("of 700 nodes were looked at"), "{told}");
}

fn bytes_below(dir: &std::path::Path) -> u64 {
    let entries = std::fs::read_dir(dir).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .map(|path| match path.is_dir() {
            true => bytes_below(&path),
            false => std::fs::metadata(&path).unwrap().len(),
        })
        .sum()
}

/// What each of three changes of one node adds to `memory/`, and all three taken back again.
fn grown_by(count: usize) -> Vec<u64> {
    let project = Project::new();
    let before = workflow(count);
    put(&project, &before);
    let memory = project.file("memory");
    let (mut sizes, mut states) = (vec![0], vec![before]);
    for n in 1..=3 {
        let request = format!("In \"Fetch part 7\" set the url to {URL}/{n}");
        let ran = change(&project, &request);
        assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
        sizes.push(bytes_below(&memory));
        states.push(project.read_json(FILE));
    }
    let verified = project.run(&["runs", "verify"]);
    assert_eq!(verified.code, 0, "{}\n{}", verified.stdout, verified.stderr);
    for to in ["2", "1", "0"] {
        let undone = project.run(&["undo", "--workflow", FILE, "--to", to]);
        assert_eq!(undone.code, 0, "{}", undone.stderr);
        let state = &states[to.parse::<usize>().unwrap()];
        assert_eq!(&project.read_json(FILE), state, "{to}");
    }
    sizes.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// The journal of a run is there whatever the workflow; a large one adds its whole text once, and what changed each time.
#[test]
fn memory_grows_by_what_changed_and_not_by_the_workflow() {
    let (small, large) = (grown_by(20), grown_by(3_000));
    let text = serde_json::to_string_pretty(&workflow(3_000))
        .unwrap()
        .len() as u64;
    assert!(large[0] < small[0] + text + 2_000, "{small:?} {large:?}");
    for n in 1..3 {
        assert!(large[n] < small[n] + 2_000, "{small:?} {large:?}");
    }
}

fn texts(project: &Project) -> Vec<String> {
    let texts = std::fs::read_dir(project.file("memory/texts/parts")).unwrap();
    let mut names: Vec<String> = texts
        .map(|text| text.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Old runs go with the texts that only they rest on, and what stays is taken back.
#[test]
fn a_pruned_run_takes_its_text_with_it() {
    let project = Project::new();
    put(&project, &workflow(500));
    let request = |n: u32| format!("In \"Fetch part 7\" set the url to {URL}/{n}");
    assert_eq!(change(&project, &request(1)).code, 0);
    // Somebody makes another one of it, which has little in common with the first.
    let mut other = workflow(500);
    for (n, node) in other["nodes"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .enumerate()
    {
        node["notes"] = json!(format!("part {n} is new").repeat(20));
    }
    put(&project, &other);
    assert_eq!(change(&project, &request(2)).code, 0);
    let before = project.read_json(FILE);
    assert_eq!(change(&project, &request(3)).code, 0);
    let both = texts(&project);
    assert_eq!(both.len(), 2, "{both:?}");
    let told = project.run(&["runs", "prune", "--keep", "2"]);
    let would = "would go: 1 run, 0 results, 1 version of workflows, 1 whole texts of large ones";
    assert!(told.stdout.starts_with(would), "{}", told.stdout);
    assert_eq!(texts(&project), both);
    let done = project.run(&["runs", "prune", "--keep", "2", "--yes"]);
    let removed = told.stdout.replace("would go", "removed");
    let removed = removed.replace("to remove them: --yes\n", "");
    assert_eq!((done.code, done.stdout), (0, removed), "{}", done.stderr);
    assert_eq!(texts(&project), both[1..]);
    let undone = project.run(&["undo"]);
    assert_eq!(undone.code, 0, "{}", undone.stderr);
    assert_eq!(project.read_json(FILE), before);
    let verified = project.run(&["runs", "verify"]);
    assert_eq!(verified.code, 0, "{}\n{}", verified.stdout, verified.stderr);
}
