//! Pushes to other n8n taken back, and what somebody else changes while a change is decided about.

use crate::published::{Trouble, n8n_with};
use crate::support::{Project, Ran};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A project whose own n8n, and whose target `prod`, is this one.
struct Connected {
    project: Project,
    address: String,
}

impl Connected {
    fn to(trouble: &Arc<Trouble>) -> Connected {
        Connected::at(n8n_with(Arc::clone(trouble)))
    }

    fn at(address: String) -> Connected {
        let project = Project::new();
        project.write(
            "agentctl.toml",
            &format!("[targets.prod]\nurl = \"{address}\"\nkey_env = \"PROD_N8N_API_KEY\"\n"),
        );
        Connected { project, address }
    }

    fn run(&self, typed: &[&str]) -> Ran {
        let args = [&["--output-format", "json"], typed].concat();
        let mut command = self.project.command(&args);
        command.env("N8N_API_URL", &self.address);
        command.envs([("N8N_API_KEY", "k"), ("PROD_N8N_API_KEY", "k")]);
        command.output().unwrap().into()
    }

    fn ok(&self, typed: &[&str]) -> Value {
        let ran = self.run(typed);
        assert_eq!(ran.code, 0, "{typed:?}: {}\n{}", ran.stdout, ran.stderr);
        ran.json()
    }

    fn named(&self, path: &str, name: &str) {
        let mut workflow = self.project.read_json(path);
        workflow["nodes"][0]["name"] = json!(name);
        self.project.write(path, &workflow.to_string());
    }
}

#[test]
fn without_a_run_the_last_push_to_a_target_is_taken_back() {
    let here = Connected::to(&Arc::default());
    here.ok(&["--backend", "rest", "pull", "w1"]);
    let path = format!("workflows/{}", here.project.workflows().remove(0));
    here.named(&path, "Begin");
    let first = here.ok(&["push", &path, "--target", "prod", "--id", "w1", "--force"]);
    here.named(&path, "Go");
    let second = here.ok(&["push", &path, "--target", "prod"]);
    for pushed in [&second, &first] {
        let undone = here.ok(&["undo", "--target", "prod"]);
        assert_eq!(undone["run_id"], pushed["run"], "{undone:#}");
    }
    let none = here.run(&["undo", "--target", "prod"]);
    assert_eq!(none.code, 2, "{}", none.stderr);
    assert!(
        none.stdout.contains("no push to the target")
            || none.stderr.contains("no push to the target"),
        "{}{}",
        none.stdout,
        none.stderr
    );
}

#[test]
fn what_is_gone_at_a_target_is_told_with_the_way_to_make_it_anew() {
    let here = Connected::at(crate::tested_alone::N8n::start());
    let start = json!({"id": "s", "name": "Start", "type": "n8n-nodes-base.manualTrigger", "typeVersion": 1, "position": [0, 0], "parameters": {}});
    let file = json!({"name": "Moved", "nodes": [start], "connections": {}});
    here.project.write("moved.json", &file.to_string());
    here.ok(&["push", "moved.json", "--target", "prod"]);
    here.ok(&["undo", "--target", "prod"]);
    let ran = here.run(&["push", "moved.json", "--target", "prod"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let way = "--new creates a new workflow, which the file follows then";
    assert!(ran.stdout.contains(way), "{}{}", ran.stdout, ran.stderr);
    let anew = here.ok(&["push", "moved.json", "--target", "prod", "--new"]);
    assert_eq!(anew["what"], "created");
    // It follows the new one from now on.
    let again = here.ok(&["push", "moved.json", "--target", "prod"]);
    assert_eq!(
        (&again["what"], &again["id"]),
        (&json!("unchanged"), &anew["id"])
    );
}

/// The same where the file follows the n8n of the project; and what cannot be read in a folder is no reason for silence.
#[test]
fn a_workflow_that_was_taken_back_is_pushed_anew() {
    let here = Connected::at(crate::tested_alone::N8n::start());
    let start = json!({"id": "s", "name": "Start", "type": "n8n-nodes-base.manualTrigger", "typeVersion": 1, "position": [0, 0], "parameters": {}});
    let file = json!({"name": "Moved", "nodes": [start], "connections": {}});
    here.project.write("files/moved.json", &file.to_string());
    let made = here.ok(&["--backend", "rest", "push", "files/moved.json"]);
    let run = made["run"].as_str().unwrap();
    here.ok(&["--backend", "rest", "undo", run]);
    let gone = here.run(&["--backend", "rest", "push", "files/moved.json"]);
    assert_ne!(gone.code, 0, "{}", gone.stdout);
    here.project.write("files/broken.json", "{\"nodes\": [");
    let folder = here.run(&["--backend", "rest", "push", "files", "--new"]);
    let files = folder.json()["files"].clone();
    assert_ne!(folder.code, 0, "{files}");
    let of = |name: &str| -> Value {
        let mut all = files.as_array().unwrap().iter();
        all.find(|f| f["file"].as_str().unwrap().ends_with(name))
            .unwrap()
            .clone()
    };
    assert_eq!(of("broken.json")["what"], "not pushed", "{files}");
    assert_eq!(of("moved.json")["what"], "created", "{files}");
}

#[test]
fn what_changed_while_it_was_published_is_looked_at_again() {
    let trouble = Arc::new(Trouble::default());
    let here = Connected::to(&trouble);
    // Read to be found, to be judged, and once more right before it is published.
    trouble.changed_after.store(2, Ordering::SeqCst);
    let ran = here.run(&["--backend", "rest", "workflows", "activate", "w1", "--yes"]);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    assert!(
        ran.stderr.contains("looking at it as it is now"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_call_that_failed_is_no_fault_of_a_model() {
    let trouble = Arc::new(Trouble::default());
    let here = Connected::to(&trouble);
    trouble.forgets.store(true, Ordering::SeqCst);
    let ran = here.run(&[
        "--backend",
        "rest",
        "build",
        "--yes",
        "--workflow",
        "w1",
        "Rename the node Start to Begin",
    ]);
    assert_eq!(ran.code, 1, "{}\n{}", ran.stdout, ran.stderr);
    let told = format!("{}{}", ran.stdout, ran.stderr);
    assert!(told.contains("reads back"), "{told}");
}

/// The workflow of this id as the n8n holds it.
fn held(address: &str, id: &str) -> Value {
    let at = address.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(at).unwrap();
    write!(stream, "GET /api/v1/workflows/{id} HTTP/1.1\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap()
}

#[test]
fn what_a_build_leaves_to_do_stands_beside_the_workflow_and_in_none_of_its_documents() {
    let here = Connected::at(crate::tested_alone::N8n::start());
    let on = ["--backend", "rest"];
    let build = |typed: &[&str]| {
        let ran = here.run(&[&on, &["build", "--yes"], typed].concat());
        assert_eq!(ran.code, 0, "{typed:?}: {}\n{}", ran.stdout, ran.stderr);
        ran
    };
    let request = "When a webhook receives an order over 100 EUR, post it to Slack #sales";
    let built = build(&[request]);
    assert_eq!(built.json()["workflow"]["node_count"], 3);
    let note = |workflow: &Value| -> Option<Value> {
        let nodes = workflow["nodes"].as_array().unwrap();
        let mut notes = nodes
            .iter()
            .filter(|n| n["type"] == "n8n-nodes-base.stickyNote");
        let note = notes.next().cloned();
        assert_eq!(notes.next(), None);
        note.map(|note| note["parameters"]["content"].clone())
    };
    let first = held(&here.address, "w1");
    assert_eq!(
        note(&first),
        Some(json!(
            "## To do\n- **Slack: Send message**: connect a credential: Slack API"
        ))
    );
    // No document has it: what is pulled, what is shown, what changed.
    here.ok(&[&on[..], &["pull", "w1"]].concat());
    let path = format!("workflows/{}", here.project.workflows().remove(0));
    assert_eq!(note(&here.project.read_json(&path)), None);
    let diff = here.run(&[&on[..], &["diff"]].concat());
    assert!(!diff.stdout.contains("sticky"), "{}", diff.stdout);
    here.ok(&["--backend", "rest", "push", &path]);
    assert_eq!(note(&held(&here.address, "w1")), note(&first));
    // It says the same of a step that another change leaves alone, and goes with the workflow's last step that needs something.
    build(&["--workflow", "w1", "Use the path new-orders"]);
    assert_eq!(note(&held(&here.address, "w1")), note(&first));
    here.ok(&[&on[..], &["undo"]].concat());
    assert_eq!(note(&held(&here.address, "w1")), note(&first));
    build(&["--workflow", "w1", "Remove the Slack step"]);
    assert_eq!(note(&held(&here.address, "w1")), None);
}
