//! A build by one agent (`multi_agent: false`) on a connected n8n: the same agent tries out what it built (step `test_alone`), and what it
//! says of that is held against what its call showed. The model and the n8n are scripted.

use crate::models::configured;
use crate::support::{Project, Ran};
use crate::wire::{Reply, Says, Server, openai};
use crate::wires::KEY;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;

/// An n8n that keeps workflows and, at a call of an active one's webhook, answers what its Respond to Webhook node says and has an
/// execution in which every node ran.
#[derive(Default)]
pub struct N8n {
    workflows: Vec<Value>,
    executions: Vec<Value>,
}

impl N8n {
    /// Its address.
    pub fn start() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let mut n8n = N8n::default();
            for stream in listener.incoming() {
                let mut stream = BufReader::new(stream.unwrap());
                let mut line = String::new();
                stream.read_line(&mut line).unwrap();
                let mut words = line.split_whitespace();
                let (method, path) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
                let (mut length, mut head) = (0, String::new());
                while stream.read_line(&mut head).is_ok_and(|read| read > 2) {
                    let (name, value) = head.split_once(':').unwrap_or(("", ""));
                    if name.eq_ignore_ascii_case("content-length") {
                        length = value.trim().parse().unwrap();
                    }
                    head.clear();
                }
                let mut body = vec![0; length];
                stream.read_exact(&mut body).unwrap();
                let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
                let text = n8n.answer(method, path, body);
                let status = match text.contains("\"not found\"") {
                    true => "404 Not Found",
                    false => "200 OK",
                };
                let _gone = write!(
                    stream.get_mut(),
                    "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{text}",
                    text.len()
                );
            }
        });
        address
    }

    fn answer(&mut self, method: &str, path: &str, body: Value) -> String {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        if let Some(at) = path.strip_prefix("/webhook/") {
            return self.called(at, &body);
        }
        let path = path.trim_start_matches("/api/v1");
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let page = |of: &[Value]| json!({"data": of, "nextCursor": null});
        let answer = match (method, parts.as_slice()) {
            ("GET", ["workflows"]) => page(&self.workflows),
            ("POST", ["workflows"]) => {
                let mut made = body;
                made["id"] = json!(format!("w{}", self.workflows.len() + 1));
                made["versionId"] = json!("v1");
                made["active"] = json!(false);
                made["isArchived"] = json!(false);
                made["tags"] = json!([]);
                made["createdAt"] = json!("2026-11-01T00:00:00.000Z");
                made["updatedAt"] = json!("2026-11-01T00:00:00.000Z");
                self.workflows.push(made.clone());
                made
            }
            ("GET", ["executions"]) if query.contains("status=running") => page(&[]),
            ("GET", ["executions"]) => page(&self.executions),
            ("GET", ["executions", id]) => {
                let id: usize = id.parse().unwrap();
                self.executions[id - 1].clone()
            }
            ("POST", ["tags"]) => json!({"id": "t1", "name": body["name"]}),
            ("GET", ["tags" | "credentials"]) => page(&[]),
            (_, ["workflows", id, rest @ ..]) => {
                let Some(at) = self.workflows.iter().position(|w| w["id"] == *id) else {
                    return json!({"message": "not found"}).to_string();
                };
                match (method, rest) {
                    ("DELETE", []) => self.workflows.remove(at),
                    ("PUT", []) => {
                        for key in ["name", "nodes", "connections"] {
                            self.workflows[at][key] = body[key].clone();
                        }
                        // As n8n does: those that are not sent stay.
                        for (key, value) in body["settings"].as_object().into_iter().flatten() {
                            self.workflows[at]["settings"][key] = value.clone();
                        }
                        self.workflows[at].clone()
                    }
                    ("POST", [way]) => {
                        self.workflows[at]["active"] = json!(*way == "activate");
                        self.workflows[at].clone()
                    }
                    _ => self.workflows[at].clone(),
                }
            }
            _ => json!({}),
        };
        answer.to_string()
    }

    fn called(&mut self, at: &str, body: &Value) -> String {
        let is_there = |w: &&Value| {
            let nodes = w["nodes"].as_array().unwrap();
            w["active"] == true && nodes.iter().any(|n| n["parameters"]["path"] == *at)
        };
        let Some(workflow) = self.workflows.iter().find(is_there) else {
            return json!({"code": 404, "message": "not registered"}).to_string();
        };
        let item = json!({"json": {"body": body, "headers": {}, "query": {}, "params": {}}});
        let run = json!([{"startTime": 0, "executionTime": 1, "executionStatus": "success", "source": [], "data": {"main": [[item]]}}]);
        let nodes = workflow["nodes"].as_array().unwrap();
        let ran: serde_json::Map<String, Value> = nodes
            .iter()
            .map(|node| (node["name"].as_str().unwrap().to_owned(), run.clone()))
            .collect();
        let says = nodes
            .iter()
            .find_map(|n| n["parameters"]["responseBody"].as_str());
        let says = says.unwrap_or_default().to_owned();
        self.executions.push(json!({
            "id": self.executions.len() + 1, "workflowId": workflow["id"], "status": "success", "finished": true, "mode": "webhook",
            "startedAt": "2026-11-01T00:00:00.000Z", "stoppedAt": "2026-11-01T00:00:01.000Z",
            "data": {"resultData": {"runData": ran, "lastNodeExecuted": "Answer"}},
        }));
        says
    }
}

fn said(answer: &Value) -> Reply {
    openai(Says {
        words: &[&answer.to_string()],
        ..Says::default()
    })
}

fn called(tool: &str, args: &Value) -> Reply {
    openai(Says {
        calls: &[(tool, &args.to_string())],
        ..Says::default()
    })
}

fn create() -> Reply {
    called(
        "create_workflow",
        &json!({"name": "Ping", "nodes": [
            {"name": "Ping", "type": "n8n-nodes-base.webhook", "typeVersion": 2, "parameters": {"httpMethod": "POST", "path": "ping", "responseMode": "responseNode"}},
            {"name": "Answer", "type": "n8n-nodes-base.respondToWebhook", "typeVersion": 1.1, "parameters": {"respondWith": "text", "responseBody": "pong"}},
        ], "connections": {"Ping": {"main": [[{"node": "Answer", "type": "main", "index": 0}]]}}, "todo": []}),
    )
}

fn rows() -> Value {
    json!([{"requirement": 1, "nodes": ["Ping"]}, {"requirement": 2, "nodes": ["Answer"]}])
}

fn built(case: &Value) -> Reply {
    said(&json!({
        "requirements": {"goal": "answer", "trigger": "a webhook", "steps": ["answer"], "constraints": [], "questions": [], "cases": [case]},
        "workflow": {"id": "w1", "todo": []}, "coverage": rows(),
    }))
}

fn case(answer: &str) -> Value {
    json!({"name": "a ping", "input": {"body": {"from": "Ann"}}, "expect": {"answer": answer}})
}

fn tries(cases: &Value) -> Reply {
    called(
        "rehearse_workflow",
        &json!({"workflow_id": "w1", "cases": cases}),
    )
}

fn reports(status: &str, findings: &Value, scope: &Value) -> Reply {
    said(
        &json!({"qa_report": {"executed": true, "test_status": status}, "findings": findings, "edit_scope": scope}),
    )
}

fn build(says: Vec<Reply>) -> (Server, Ran) {
    build_of("When /ping is called, answer", says)
}

fn build_of(request: &str, says: Vec<Reply>) -> (Server, Ran) {
    let server = Server::new(says);
    let project: Project = configured(&server);
    project.write("agents/settings.yaml", "multi_agent: false\n");
    let mut command = project.command(&[
        "--backend",
        "rest",
        "build",
        "--no-input",
        "--yes",
        "--output-format",
        "json",
        request,
    ]);
    command.env("MINE_SECRET", KEY);
    command.envs([("N8N_API_URL", N8n::start().as_str()), ("N8N_API_KEY", "k")]);
    let ran = command.output().unwrap().into();
    (server, ran)
}

#[test]
fn what_it_built_it_tries_with_every_case() {
    let says = vec![
        create(),
        built(&case("pong")),
        // Without the case of the requirements it is not enough.
        tries(&json!([])),
        reports("pass", &json!([]), &json!([])),
        tries(&json!([case("pong")])),
        reports("pass", &json!([]), &json!([])),
    ];
    let (server, ran) = build(says);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    let told = ran.json();
    let report = &told["qa_report"];
    assert_eq!(
        (
            &told["outcome"],
            &report["executed"],
            &report["test_status"]
        ),
        (&json!("complete"), &json!(true), &json!("pass")),
        "{told:#}"
    );
    assert_eq!(report["execution_id"], "2", "{told:#}");
    let asked = server.seen();
    let sent_back = asked[4].body.to_string();
    assert!(
        sent_back.contains("a case of the requirements was not tried"),
        "{sent_back}"
    );
}

#[test]
fn a_case_that_failed_is_no_pass_and_is_mended() {
    let says = vec![
        create(),
        built(&case("PONG")),
        tries(&json!([case("PONG")])),
        // What the test showed cannot be told otherwise, nor left out.
        reports("pass", &json!([]), &json!([])),
        reports(
            "fail",
            &json!([{"id": "d10b3031f33f4d5c", "severity": "error", "message": "says pong"}]),
            &json!(["Answer"]),
        ),
        called(
            "update_workflow",
            &json!({"workflow_id": "w1", "ops": [{"op": "set_parameter", "node": "Answer", "pointer": "/responseBody", "value": "PONG"}]}),
        ),
        said(
            &json!({"workflow": {"id": "w1"}, "coverage": rows(), "fixes_tried": [{"change": "it answers PONG"}]}),
        ),
        tries(&json!([case("PONG")])),
        reports("pass", &json!([]), &json!([])),
    ];
    let (server, ran) = build(says);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    let report = &ran.json()["qa_report"];
    assert_eq!(
        (&report["cycle"], &report["test_status"]),
        (&json!(2), &json!("pass")),
        "{report:#}"
    );
    let asked = server.seen();
    let sent_back = asked[4].body.to_string();
    for why in [
        "but the last run says",
        "an error that rehearse_workflow returned is missing in findings",
    ] {
        assert!(sent_back.contains(why), "{sent_back}");
    }
    // What the test found is what is to be mended, inside its scope.
    let mends = asked[5].body.to_string();
    for part in ["# Task: mend", "d10b3031f33f4d5c", "[\\\"Answer\\\"]"] {
        assert!(mends.contains(part), "{part}: {mends}");
    }
}

/// The request says what must come out: who writes no case of it is asked for one, and what was tried stands in the answer.
#[test]
fn where_the_request_says_what_must_come_out_a_case_is_asked_for() {
    let none = said(&json!({
        "requirements": {"goal": "answer", "trigger": "a webhook", "steps": ["answer"], "constraints": [], "questions": []},
        "workflow": {"id": "w1", "todo": []}, "coverage": rows(),
    }));
    let says = vec![
        create(),
        none,
        built(&case("pong")),
        tries(&json!([case("pong")])),
        reports("pass", &json!([]), &json!([])),
    ];
    let (server, ran) = build_of("A webhook POST /ping answers \"pong\"", says);
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    let asked = server.seen()[2].body.to_string();
    assert!(
        asked.contains("the request says what must come out of what")
            && !asked.contains("has(input.asked_cases)"),
        "{asked}"
    );
    let told = ran.json();
    let tried = &told["qa_report"]["cases"][0];
    assert_eq!(tried["outcome"], "passed", "{told:#}");
    assert_eq!(tried["checks"][0]["seen"], "pong", "{told:#}");
    assert_eq!(tried["ran"], json!(["Ping", "Answer"]), "{told:#}");
    assert_eq!(told["qa_report"].get("no_case"), None, "{told:#}");
}

/// The offline planner writes the cases of a request itself, and they are tried; a case that is no test of the workflow is a slip of
/// whoever wrote it.
#[test]
fn what_a_request_says_is_tried_and_tried_again_by_hand() {
    let project = Project::new();
    let address = N8n::start();
    let run = |args: &[&str]| -> Ran {
        let mut all = vec!["--backend", "rest"];
        all.extend(args);
        let mut command = project.command(&all);
        command.envs([("N8N_API_URL", address.as_str()), ("N8N_API_KEY", "k")]);
        command.output().unwrap().into()
    };
    let request = "When a webhook POST /ping arrives, answer \"pong\"";
    let built = run(&["build", "--yes", "--output-format", "json", request]);
    assert_eq!(built.code, 0, "{}\n{}", built.stdout, built.stderr);
    let told = built.json();
    let tried = &told["qa_report"]["cases"][0];
    assert_eq!(
        (&tried["name"], &tried["outcome"]),
        (&json!("any call"), &json!("passed")),
        "{told:#}"
    );
    let name = told["workflow"]["name"].as_str().unwrap();
    assert_eq!(name, "Webhook ping");

    let again = run(&["test", name]);
    assert_eq!(again.code, 0, "{}\n{}", again.stdout, again.stderr);
    assert!(
        again.stdout.contains("✓ any call: passed") && again.stdout.contains("    ran: "),
        "{}",
        again.stdout
    );

    project.write(
        "other.yaml",
        "workflow: Orders\nname: other\nexpect: {answer: ping}\n",
    );
    let other = run(&["test", name, "other.yaml"]);
    assert_eq!(other.code, 1, "{}\n{}", other.stdout, other.stderr);
    assert!(
        other.stderr.contains(
            "\"other\" is written for the workflow \"Orders\"; it is tried on \"Webhook ping\""
        ),
        "{}",
        other.stderr
    );

    project.write(
        "slip.yaml",
        "name: slip\nexpect: {nodes: {Nobody: {count: 1}}, answer: {}}\n",
    );
    let slip = run(&["test", name, "slip.yaml"]);
    assert_eq!(slip.code, 2, "{}\n{}", slip.stdout, slip.stderr);
    assert!(
        slip.stderr
            .contains("the workflow has no node named \"Nobody\"")
            && slip.stderr.contains("`answer: {}` fits every object")
            && !slip.stderr.contains("report why"),
        "{}",
        slip.stderr
    );
}
