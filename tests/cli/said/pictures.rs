//! Workflows as pictures, runs and checks as pages: `show`, `report`, `qa --html`.

use super::built;
use crate::support::Project;
use serde_json::{Value, json};

fn node(name: &str, node_type: &str, parameters: Value) -> Value {
    json!({"id": name, "name": name, "type": node_type, "typeVersion": 1, "position": [0, 0], "parameters": parameters})
}

fn workflow(name: &str) -> Value {
    json!({
        "name": name,
        "nodes": [
            node("Start", "n8n-nodes-base.manualTrigger", json!({})),
            node("Ask", "n8n-nodes-base.httpRequest", json!({"url": "https://x.test/?api_key=sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"}))
        ],
        "connections": {"Start": {"main": [[{"node": "Ask", "type": "main", "index": 0}]]}}
    })
}

fn project() -> Project {
    let project = Project::new();
    let text = workflow("Orders <b>").to_string();
    project.write("workflows/orders.json", &text);
    let both = json!([workflow("One"), workflow("Two")]);
    project.write("export.json", &both.to_string());
    project
}

#[test]
fn a_file_and_an_id_are_shown_alike() {
    let project = project();
    for what in ["workflows/orders.json", "orders"] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(project.said(&format!("show {what}")), @"
            exit code 0
            Orders <b> (2 nodes)

            Start · manualTrigger
            └─ Ask · httpRequest (https://x.test/?api_key=[redacted:o…)

            0 errors, 2 warnings
            ");
        }
    }
    let chart = project.run(&["show", "orders", "--format", "mermaid"]);
    assert!(
        chart.stdout.starts_with("flowchart LR\n"),
        "{}",
        chart.stdout
    );
}

#[test]
fn a_picture_is_one_file_without_secrets() {
    let project = project();
    for (format, start) in [("svg", "<svg xmlns="), ("html", "<!doctype html>")] {
        let ran = project.run(&["show", "orders", "--format", format]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        assert!(ran.stdout.starts_with(start) && ran.stdout.contains("Orders &lt;b&gt;"));
        assert!(!ran.stdout.contains("abcdefghijklmnop"), "{}", ran.stdout);
        let answer = project
            .run(&[
                "show",
                "orders",
                "--format",
                format,
                "--output-format",
                "json",
            ])
            .json();
        let shown = &answer["workflows"][0];
        assert_eq!(shown["format"], format);
        assert_eq!(
            (&shown["nodes"], &shown["name"]),
            (&json!(2), &json!("Orders <b>"))
        );
    }
}

#[test]
fn a_secret_in_the_name_of_a_node_with_a_finding_is_hidden_too() {
    let project = Project::new();
    let secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789";
    let mut workflow = workflow("Orders");
    workflow["nodes"][1] = node(secret, "n8n-nodes-base.httpRequest", json!({}));
    workflow["connections"]["Start"]["main"][0][0]["node"] = json!(secret);
    project.write("workflows/orders.json", &workflow.to_string());
    let ran = project.run(&["show", "orders", "--format", "html"]);
    assert!(
        ran.stdout.contains("class=\"error\">error"),
        "{}",
        ran.stdout
    );
    assert!(!ran.stdout.contains("abcdefghijklmnop"), "{}", ran.stdout);
}

#[test]
fn of_an_export_one_is_named() {
    let project = project();
    let tree = project.run(&["show", "export.json"]);
    assert!(tree.stdout.contains("One (2 nodes)") && tree.stdout.contains("Two (2 nodes)"));
    let named = project.run(&["show", "export.json", "--name", "Two", "--format", "svg"]);
    assert!(named.stdout.contains("<title>Two</title>"));
    insta::assert_snapshot!(project.said("show export.json --format svg"), @"
    exit code 2
    -- stderr --
    error: export.json holds 2 workflows, and a picture shows one: One, Two
    hint: name one with --name
    ");
    insta::assert_snapshot!(project.said("show export.json --name Three"), @r#"
    exit code 2
    -- stderr --
    error: no workflow is called "Three"
    hint: there are: One, Two
    "#);
}

#[test]
fn what_is_no_workflow_is_said_with_its_place() {
    let project = project();
    project.write("broken.json", "{\"nodes\": [\n  }");
    insta::assert_snapshot!(project.said("show broken.json"), @"
    exit code 2
    -- stderr --
    error: broken.json:2:3: not valid JSON at line 2, column 3: expected value
    hint: name a workflow file, or a workflow by id or name
    ");
    insta::assert_snapshot!(project.said("show nowhere.json"), @"
    exit code 2
    -- stderr --
    error: nowhere.json:1:1: cannot be read: No such file or directory (os error 2)
    hint: name a workflow file, or a workflow by id or name
    ");
    insta::assert_snapshot!(project.said("show nobody"), @"
    exit code 2
    -- stderr --
    error: there is no workflow `nobody` (workflows/nobody.json)
    hint: there are workflows/orders.json
    ");
}

#[test]
fn a_run_is_one_page() {
    let project = built();
    let more = "post to #orders <script>alert(1)</script> instead of #sales";
    let file = project.workflows().remove(0);
    let changed = project.run(&[
        "build",
        "--yes",
        "--workflow",
        &format!("workflows/{file}"),
        more,
    ]);
    assert!([0, 9].contains(&changed.code), "{}", changed.stderr);
    let ran = project.run(&["report", "--html", "run.html", "--output-format", "json"]);
    assert_eq!(
        (ran.code, ran.json()["file"].as_str()),
        (0, Some("run.html")),
        "{}",
        ran.stderr
    );
    let page = std::fs::read_to_string(project.file("run.html")).unwrap();
    for part in [
        "Request",
        "How it ended",
        "Workflow",
        "Findings and tests",
        "Refused",
        "Phases",
        "What happened",
        "Cost",
    ] {
        assert!(page.contains(&format!("<h2>{part}</h2>")), "{part}");
    }
    assert_eq!(page.matches("<figure>").count(), 2, "before and after");
    assert!(page.contains("script-src 'none'") && !page.contains("<script"));
    assert!(page.contains("&lt;script&gt;alert(1)"));
    insta::assert_snapshot!(project.said("report nobody --html run.html"), @r#"
    exit code 2
    -- stderr --
    error: no run "nobody" in this project; `agentctl runs list` shows what there is
    "#);
    insta::assert_snapshot!(built().said("report --html run.html"), @"
    exit code 0
    run [RUN]: run.html
    ");
}

/// A page goes to a file; "-" would be one of that name.
#[test]
fn a_page_is_not_written_to_stdout() {
    let project = built();
    for command in [["report", "--html", "-"], ["qa", "--html", "-"]] {
        let ran = project.run(&command);
        assert_eq!(ran.code, 2, "{}", ran.stdout);
        assert!(ran.stderr.contains("name one"), "{}", ran.stderr);
        assert!(!project.file("-").exists());
    }
}

#[test]
fn a_check_is_one_page_in_every_format() {
    let project = project();
    for format in ["text", "json", "stream-json"] {
        let args = [
            "qa",
            "--html",
            "qa.html",
            "--output-format",
            format,
            "workflows",
        ];
        assert_eq!(project.run(&args).code, 0);
        let page = std::fs::read_to_string(project.file("qa.html")).unwrap();
        assert!(
            page.contains("Orders &lt;b&gt;") && !page.contains("abcdefghijklmnop"),
            "{page}"
        );
        std::fs::remove_file(project.file("qa.html")).unwrap();
    }
}
