//! The published schemas, held against what the program really prints.

use super::support::Project;
use serde_json::Value;

/// The schema as the program prints it.
fn schema(project: &Project, name: &str) -> jsonschema::Validator {
    let printed = project.run(&["schema", name]).json();
    jsonschema::validator_for(&printed).unwrap()
}

fn fits(schema: &jsonschema::Validator, answer: &Value) {
    let wrong: Vec<String> = schema
        .iter_errors(answer)
        .map(|e| format!("{}: {e}", e.instance_path()))
        .collect();
    assert_eq!(wrong, [""; 0], "{answer:#}");
}

const ORDERS: &str = "When a webhook receives an order over 100 EUR, post it to Slack #sales";

#[test]
fn what_build_prints_fits_however_it_ends() {
    let project = Project::new();
    let build = schema(&project, "build");
    let requests = [
        &["--yes", ORDERS][..],
        &[
            "--no-input",
            "post our new stuff on social media automatically",
        ],
        &[
            "--plan",
            "Every Monday at 8 mail the open Xero invoices to ap@example.com",
        ],
        &["--yes", "Delete all my workflows"],
        &[
            "--yes",
            "Every day at 9:00 frobnicate the moon and post it to Slack #dev",
        ],
    ];
    for request in requests {
        let args = [&["build", "--output-format", "json"], request].concat();
        let ran = project.run(&args);
        let answer = ran.json();
        assert_eq!(answer["exit_code"], ran.code, "{request:?}: {}", ran.stderr);
        fits(&build, &answer);
    }
}

#[test]
fn what_qa_and_show_print_fits() {
    let project = Project::new();
    assert_eq!(project.run(&["build", "--yes", ORDERS]).code, 0);
    project.write("workflows/broken.json", "{\"nodes\": [");
    project.write("workflows/other.json", "{}");
    project.write("workflows/odd.json", r#"[{"name": "a", "nodes": [{"id": "1", "name": "X", "type": "no.such", "typeVersion": 1, "position": [0, 0], "parameters": {}}], "connections": {}}, {"nodes": []}]"#);
    let qa = schema(&project, "qa");
    for more in [
        &[][..],
        &["--baseline", "known.json", "--write-baseline"],
        &["--baseline", "known.json"],
        &["--fix", "--dry-run"],
    ] {
        let args = [&["qa", "workflows", "--output-format", "json"], more].concat();
        fits(&qa, &project.run(&args).json());
    }
    let show = schema(&project, "show");
    fits(
        &show,
        &project
            .run(&["show", "workflows/odd.json", "--output-format", "json"])
            .json(),
    );
}

#[test]
fn what_runs_list_usage_and_status_print_fits_however_a_run_stands() {
    let project = Project::new();
    let printed = |args: &[&str]| {
        let ran = project.run(&[args, &["--output-format", "json"]].concat());
        ran.json()
    };
    let [runs, usage, build] = ["runs", "usage", "build"].map(|name| schema(&project, name));
    let looks = || {
        fits(&runs, &printed(&["runs", "list"]));
        fits(&usage, &printed(&["usage"]));
        fits(&build, &printed(&["status"]));
    };
    fits(&runs, &printed(&["runs", "list"]));
    let vague = "post our new stuff on social media automatically";
    assert_eq!(project.run(&["build", "--no-input", vague]).code, 4);
    looks();
    assert_eq!(project.run(&["build", "--yes", ORDERS]).code, 0);
    looks();
    assert_eq!(project.run(&["undo"]).code, 0);
    looks();
    project.write("memory/runs/20200101-000000-0000/journal.jsonl", "{\n");
    let listed = printed(&["runs", "list"]);
    fits(&runs, &listed);
    let of = |key: &str| {
        let all = listed["runs"].as_array().unwrap().iter();
        all.map(|run| run[key].clone()).collect::<Vec<Value>>()
    };
    assert!(of("taken_back").contains(&Value::Bool(true)), "{listed:#}");
    assert!(of("broken").iter().any(Value::is_string), "{listed:#}");
}

#[test]
fn what_a_check_of_the_server_prints_fits() {
    let project = Project::new();
    project.write(
        "agentctl.toml",
        "[serve]\npacks = [\"n8n-copilot\"]\n[serve.mcp]\nrole = \"builder\"\n",
    );
    let ran = project.run(&["serve", "--check", "--output-format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    fits(&schema(&project, "serve"), &ran.json());
}
