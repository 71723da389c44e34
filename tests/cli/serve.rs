//! `agentctl mcp serve` as a client starts it.

use super::support::{Project, Ran};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "piped", "version": "3"}}})
}

/// Everything that a client would send, on stdin at once.
fn piped(project: &Project, args: &[&str], messages: &[Value]) -> Ran {
    let mut command = project.command(&[&["mcp", "serve"], args].concat());
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    for message in messages {
        writeln!(input, "{message}").unwrap();
    }
    drop(input);
    child.wait_with_output().unwrap().into()
}

/// Answers by id.
fn answer(ran: &Ran, id: u64) -> Value {
    let lines = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines
        .into_iter()
        .find(|m| m["id"] == id)
        .unwrap_or_else(|| panic!("no answer {id}: {ran:?}"))
}

#[test]
fn a_session_over_pipes_does_its_work_is_listed_and_undone() {
    let project = Project::new();
    let call = |id: u64, name: &str, args: Value| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": args}});
    let ran = piped(
        &project,
        &["--role", "builder"],
        &[
            initialize(),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
            call(
                2,
                "create_workflow",
                json!({"name": "Orders", "nodes": [{"name": "Start", "type": "n8n-nodes-base.manualTrigger", "parameters": {}}]}),
            ),
            call(3, "write_learning", json!({})),
        ],
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.stdout.lines().count(), 4, "{}", ran.stdout);
    let tools = answer(&ran, 1)["result"]["tools"].clone();
    let names: Vec<&str> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "autofix_workflow",
            "check_workflow",
            "create_workflow",
            "delete_workflow",
            "draft_workflow",
            "get_node",
            "get_workflow",
            "list_workflows",
            "load_skill",
            "qa_workflows",
            "read_learning",
            "read_skill_file",
            "rollback_workflow",
            "search_learnings",
            "update_workflow"
        ]
    );
    assert_eq!(
        answer(&ran, 2)["result"]["structuredContent"]["id"],
        "orders"
    );
    let refused = answer(&ran, 3);
    assert_eq!(refused["result"]["isError"], true);
    assert!(
        ran.stderr.contains("builder → create_workflow"),
        "{}",
        ran.stderr
    );
    assert_eq!(project.workflows(), ["orders.json"]);

    let runs = project
        .run(&["--output-format", "json", "runs", "list"])
        .json();
    let run = &runs["runs"][0];
    assert_eq!(
        run["session"],
        json!({"role": "builder", "client": "piped", "client_version": "3"})
    );
    let id = run["run_id"].as_str().unwrap();
    let shown = project.run(&["runs", "show", id]);
    assert!(
        shown.stdout.contains("session of piped 3 as builder"),
        "{}",
        shown.stdout
    );
    assert_eq!(project.run(&["runs", "verify"]).code, 0);
    assert_eq!(project.run(&["resume", id]).code, 2);
    assert_eq!(project.run(&["undo", id]).code, 0);
    assert_eq!(project.workflows(), Vec::<String>::new());
}

#[test]
fn a_client_begins_with_a_draft_and_what_it_answers_is_promised() {
    let project = Project::new();
    project.write(
        "agentctl.toml",
        "[[qa.waiver]]\ncode = \"n8n/\"\npath = \"workflows/old.json\"\nreason = \"kept\"\nexpires = \"2099-01-01\"\n",
    );
    let odd = json!({"name": "old", "nodes": [{"id": "1", "name": "X", "type": "n8n-nodes-base.noSuch", "typeVersion": 1, "position": [0, 0], "parameters": {}}], "connections": {}});
    project.write("workflows/old.json", &odd.to_string());
    let call = |id: u64, name: &str, args: Value| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": args}});
    let request = "When a webhook receives an order over 100 EUR, post it to Slack #sales";
    let ran = piped(
        &project,
        &["--role", "builder"],
        &[
            initialize(),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
            call(2, "draft_workflow", json!({"request": request})),
            call(3, "qa_workflows", json!({})),
        ],
    );
    let tools = answer(&ran, 1)["result"]["tools"].clone();
    for (id, name) in [(2, "draft_workflow"), (3, "qa_workflows")] {
        let tools = tools.as_array().unwrap().iter();
        let tool = tools.clone().find(|tool| tool["name"] == name).unwrap();
        assert_eq!(tool["annotations"]["readOnlyHint"], true);
        let promised = jsonschema::validator_for(&tool["outputSchema"]).unwrap();
        let result = answer(&ran, id)["result"].clone();
        assert!(result["isError"] != true, "{result:#}");
        assert!(
            promised.is_valid(&result["structuredContent"]),
            "{result:#}"
        );
    }
    let drafted = answer(&ran, 2)["result"]["structuredContent"].clone();
    assert_eq!(drafted["complete"], true);
    // What the project decided to live with is not told again.
    let checked = answer(&ran, 3)["result"]["structuredContent"].clone();
    assert_eq!(checked["summary"]["waived"], 2, "{checked:#}");
    assert_eq!(project.workflows(), ["old.json"]);

    let made = piped(
        &project,
        &["--role", "builder"],
        &[
            initialize(),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            call(1, "create_workflow", drafted["create"].clone()),
        ],
    );
    let made = answer(&made, 1)["result"]["structuredContent"].clone();
    assert_eq!(made["created"], true, "{made:#}");
    assert_eq!(project.workflows().len(), 2);
    // QA's clients check; they draft nothing.
    let listed = piped(
        &project,
        &["--role", "qa"],
        &[
            initialize(),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
        ],
    );
    let listed = answer(&listed, 1).to_string();
    assert!(listed.contains("qa_workflows") && !listed.contains("draft_workflow"));
}

#[test]
fn what_cannot_be_served_is_said_before_anything_is() {
    let project = Project::new();
    for (args, said) in [
        (vec!["--role", "nobody"], "roles: "),
        (vec!["--role", "builder", "--workflow", "none"], "none"),
        (vec!["--role", "builder", "--scope", "a", "b"], "a, b"),
        (
            vec!["--role", "builder", "--http", "0.0.0.0:8137"],
            "loopback",
        ),
        (
            vec!["--role", "builder", "--http", "192.168.1.2:8137"],
            "loopback",
        ),
        (
            vec!["--role", "builder", "--http", "--print-config", "codex"],
            "port",
        ),
    ] {
        let ran = project.run(&[&["mcp", "serve"], args.as_slice()].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{args:?}");
        assert!(ran.stderr.contains(said), "{args:?}: {}", ran.stderr);
    }
    let weak = project
        .command(&["mcp", "serve", "--role", "builder", "--http"])
        .env("AGENTCTL_MCP_TOKEN", "short")
        .output()
        .unwrap();
    let weak = Ran::from(weak);
    assert_eq!(weak.code, 2);
    assert!(
        weak.stderr.contains("AGENTCTL_MCP_TOKEN") && !weak.stderr.contains("short"),
        "{}",
        weak.stderr
    );
}

#[test]
fn a_signal_ends_it_with_the_code_of_the_signal() {
    let project = Project::new();
    for (args, signal, code) in [(&["--http"][..], "-TERM", 143), (&[][..], "-INT", 130)] {
        let mut command = project.command(&[&["mcp", "serve", "--role", "qa"], args].concat());
        command
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // Kept open: `wait` would close it, and the end of its input ends a server with 0.
        let _input = child.stdin.take();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        assert!(first.starts_with("serving as qa on "), "{first}");
        if args == ["--http"] {
            assert!(first.contains("http://127.0.0.1:"), "{first}");
            let token = lines.next().unwrap().unwrap();
            let token = token.strip_prefix("bearer token (shown once): ").unwrap();
            assert!(
                token.len() == 64 && token.bytes().all(|b| b.is_ascii_hexdigit()),
                "{token}"
            );
        }
        let killed = Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status()
            .unwrap();
        assert!(killed.success());
        assert_eq!(child.wait().unwrap().code(), Some(code));
    }
}

#[test]
fn what_to_paste_into_a_client_names_no_secret() {
    let project = Project::new();
    let print = |args: &[&str]| {
        let ran = project
            .command(&[&["mcp", "serve", "--role", "builder"], args].concat())
            .env("AGENTCTL_MCP_TOKEN", "0123456789abcdef0123456789abcdef")
            .output()
            .unwrap();
        let ran = Ran::from(ran);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(!ran.stdout.contains("0123456789abcdef"), "{}", ran.stdout);
        ran.stdout
    };
    let mut all = String::new();
    for client in ["claude", "codex", "goose", "cursor", "vscode", "json"] {
        all.push_str(&print(&["--print-config", client]));
        all.push_str(&print(&[
            "--http",
            "127.0.0.1:8137",
            "--print-config",
            client,
        ]));
    }
    insta::assert_snapshot!(project.without_what_varies(&all), @r#"
    claude mcp add agentctl -- [AGENTCTL] --project [PROJECT] mcp serve --role builder
    claude mcp add --transport http agentctl http://127.0.0.1:[PORT]/mcp --header "Authorization: Bearer $AGENTCTL_MCP_TOKEN"
    # ~/.codex/config.toml
    [mcp_servers.agentctl]
    command = "[AGENTCTL]"
    args = ["--project", "[PROJECT]", "mcp", "serve", "--role", "builder"]
    # ~/.codex/config.toml
    [mcp_servers.agentctl]
    url = "http://127.0.0.1:[PORT]/mcp"
    bearer_token_env_var = "AGENTCTL_MCP_TOKEN"
    # ~/.config/goose/config.yaml
    extensions:
      agentctl:
        enabled: true
        type: stdio
        name: agentctl
        cmd: "[AGENTCTL]"
        args: ["--project", "[PROJECT]", "mcp", "serve", "--role", "builder"]
        timeout: 300
    # ~/.config/goose/config.yaml
    extensions:
      agentctl:
        enabled: true
        type: streamable_http
        name: agentctl
        uri: "http://127.0.0.1:[PORT]/mcp"
        env_keys: [AGENTCTL_MCP_TOKEN]
        headers:
          Authorization: "Bearer ${AGENTCTL_MCP_TOKEN}"
        timeout: 300
    {
      "mcpServers": {
        "agentctl": {
          "command": "[AGENTCTL]",
          "args": [
            "--project",
            "[PROJECT]",
            "mcp",
            "serve",
            "--role",
            "builder"
          ]
        }
      }
    }
    {
      "mcpServers": {
        "agentctl": {
          "url": "http://127.0.0.1:[PORT]/mcp",
          "headers": {
            "Authorization": "Bearer ${env:AGENTCTL_MCP_TOKEN}"
          }
        }
      }
    }
    {
      "servers": {
        "agentctl": {
          "type": "stdio",
          "command": "[AGENTCTL]",
          "args": [
            "--project",
            "[PROJECT]",
            "mcp",
            "serve",
            "--role",
            "builder"
          ]
        }
      }
    }
    {
      "servers": {
        "agentctl": {
          "type": "http",
          "url": "http://127.0.0.1:[PORT]/mcp",
          "headers": {
            "Authorization": "Bearer ${env:AGENTCTL_MCP_TOKEN}"
          }
        }
      }
    }
    {
      "mcpServers": {
        "agentctl": {
          "command": "[AGENTCTL]",
          "args": [
            "--project",
            "[PROJECT]",
            "mcp",
            "serve",
            "--role",
            "builder"
          ]
        }
      }
    }
    {
      "mcpServers": {
        "agentctl": {
          "type": "http",
          "url": "http://127.0.0.1:[PORT]/mcp",
          "headers": {
            "Authorization": "Bearer ${AGENTCTL_MCP_TOKEN}"
          }
        }
      }
    }
    "#);
}
