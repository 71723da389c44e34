//! The same by the built program, as an agent and its user have it: cases 292 and 293.

use crate::attack::{agentctl, ran};
use crate::support::chain;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// A project with `orders`, a chain of 32 nodes.
fn project() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join("project");
    std::fs::create_dir_all(project.join("workflows")).unwrap();
    let text = chain("orders", 32).to_text();
    std::fs::write(project.join("workflows/orders.json"), text).unwrap();
    (dir, project)
}

fn nodes(project: &Path) -> usize {
    let text = std::fs::read(project.join("workflows/orders.json")).unwrap();
    let workflow: Value = serde_json::from_slice(&text).unwrap();
    workflow["nodes"].as_array().unwrap().len()
}

fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "piped", "version": "3"}}})
}

fn call(id: u64, name: &str, args: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": args}})
}

/// Takes the upper half of `count` nodes away, after reading.
fn halving(count: usize) -> [Value; 2] {
    let ops: Value = (count / 2..count)
        .map(|i| json!({"op": "remove_node", "node": format!("id-{i}")}))
        .collect();
    [
        call(1, "get_workflow", json!({"workflow_id": "orders"})),
        call(
            2,
            "update_workflow",
            json!({"workflow_id": "orders", "ops": ops}),
        ),
    ]
}

/// One served session over pipes; its answer to the change.
fn served(project: &Path, count: usize) -> Value {
    let mut command = agentctl(project, &["mcp", "serve", "--role", "builder", "--quiet"]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let [read, change] = halving(count);
    for message in [initialize(), ready, read, change] {
        writeln!(input, "{message}").unwrap();
    }
    drop(input);
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines = text
        .lines()
        .map(|l| serde_json::from_str::<Value>(l).unwrap());
    lines.find(|answer| answer["id"] == 2).unwrap()["result"].clone()
}

fn refused_as_a_wipe(result: &Value) -> bool {
    result["isError"] == true
        && result["structuredContent"]["rule"] == "guard.wipe"
        && result["structuredContent"]["error"]
            .as_str()
            .unwrap()
            .contains("`agentctl accept orders` counts from that")
}

#[test]
fn case_292_a_server_for_each_session_counts_as_one_until_the_user_accepts() {
    let (_dir, project) = project();
    assert_ne!(served(&project, 32)["isError"], true);
    for _ in 0..3 {
        let result = served(&project, 16);
        assert!(refused_as_a_wipe(&result), "{result:#}");
        assert_eq!(nodes(&project), 16);
    }
    // Without a terminal nobody can be asked, and silence accepts nothing.
    let (code, _, stderr) = ran(agentctl(&project, &["accept", "orders"]));
    assert_eq!(code, 5, "{stderr}");
    assert!(stderr.contains("lost 16 of 32 nodes"), "{stderr}");
    assert!(refused_as_a_wipe(&served(&project, 16)));
    let (code, stdout, stderr) = ran(agentctl(&project, &["accept", "orders", "--yes"]));
    assert_eq!(
        (code, stdout.as_str()),
        (
            0,
            "accepted: losses of orders are counted from its 16 nodes of now\n"
        ),
        "{stderr}"
    );
    assert_ne!(served(&project, 16)["isError"], true);
    assert_eq!(nodes(&project), 8);
    let (_, shown, _) = ran(agentctl(
        &project,
        &["runs", "list", "--output-format", "json"],
    ));
    let runs: Value = serde_json::from_str(&shown).unwrap();
    let last = runs["runs"][0]["run_id"].as_str().unwrap();
    let (code, shown, _) = ran(agentctl(&project, &["runs", "show", last]));
    let day = jiff::Timestamp::now().to_string();
    let lost = format!(
        "lost of orders: 8 of 16 nodes, counted from {}, when you accepted it",
        &day[..10]
    );
    assert!(code == 0 && shown.contains(&lost), "{shown}");
    // What nobody knows cannot be accepted.
    let (code, _, stderr) = ran(agentctl(&project, &["accept", "nothing", "--yes"]));
    assert_eq!(code, 2, "{stderr}");
}

/// One request, its status and its JSON; `session`: the id of one that is open.
fn post(address: &str, session: Option<&str>, body: &Value) -> (String, Value) {
    let mut stream = TcpStream::connect(address).unwrap();
    let body = body.to_string();
    let session = session.map_or(String::new(), |id| format!("Mcp-Session-Id: {id}\r\n"));
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n{session}Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream
        .write_all(format!("{head}{body}").as_bytes())
        .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let id = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("mcp-session-id")
            .then(|| value.to_owned())
    });
    (
        id.unwrap_or_default(),
        serde_json::from_str(body).unwrap_or_default(),
    )
}

#[test]
fn case_293_a_new_session_for_each_change_over_http_begins_no_new_count() {
    let (_dir, project) = project();
    let mut command: Command = agentctl(&project, &["mcp", "serve", "--role", "builder", "--http"]);
    command
        .env("AGENTCTL_MCP_TOKEN", TOKEN)
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    let address = first.split("http://").nth(1).unwrap();
    let address = address.strip_suffix("/mcp").unwrap();
    for (count, left) in [(32, 16), (16, 16), (16, 16), (16, 16)] {
        let (session, _) = post(address, None, &initialize());
        post(
            address,
            Some(&session),
            &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        );
        let [read, change] = halving(count);
        post(address, Some(&session), &read);
        let (_, answer) = post(address, Some(&session), &change);
        assert_eq!(
            refused_as_a_wipe(&answer["result"]),
            count == 16,
            "{answer:#}"
        );
        assert_eq!(nodes(&project), left);
    }
    child.kill().unwrap();
    child.wait().unwrap();
}
