//! The backends against servers that speak the real protocols and go wrong on purpose.

mod instance_mcp;
mod n8n_mcp;
mod rest;
mod tool_answers;
mod triggers;

use super::*;
use agentctl_n8n::{TriggerKind, TriggerPoint};
use agentctl_testkit::fake_http::{self, Asked, response};
use serde_json::json;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

const KEY: &str = "a-key-that-nobody-may-see-4711";

type Scripted = (String, VecDeque<Vec<u8>>);

/// An n8n of a few scripted answers: what a request's first line is answered with, in order. The last one stays.
#[derive(Clone, Default)]
struct Script {
    answers: Arc<Mutex<Vec<Scripted>>>,
}

impl Script {
    fn on(self, request: &str, answers: Vec<Vec<u8>>) -> Self {
        let entry = (request.to_owned(), answers.into());
        self.answers.lock().unwrap().push(entry);
        self
    }

    fn next(&self, line: &str) -> Vec<u8> {
        let mut answers = self.answers.lock().unwrap();
        let found = answers
            .iter_mut()
            .filter(|(request, _)| line.starts_with(request.as_str()))
            .max_by_key(|(request, _)| request.len());
        match found {
            Some((_, list)) if list.len() > 1 => list.pop_front().unwrap(),
            Some((_, list)) => list.front().cloned().unwrap_or_default(),
            None => http(404, &[], &json!({"message": "Not Found"})),
        }
    }

    /// Where it can be reached, and what it is asked.
    async fn start(&self) -> (RestTarget, Asked) {
        let own = self.clone();
        let (address, asked) = fake_http::serve(move |request| {
            assert!(request.head.contains(&format!("x-n8n-api-key: {KEY}")));
            own.next(&request.line)
        })
        .await;
        let target = RestTarget {
            url: format!("{address}/api/v1"),
            key: Secret::new(KEY),
            plain_http: Default::default(),
        };
        (target, asked)
    }

    /// The backend that reaches it over REST alone.
    async fn rest(&self) -> (LiveBackend, Asked) {
        let (target, asked) = self.start().await;
        (LiveBackend::rest(&target).unwrap(), asked)
    }
}

fn http(status: u16, headers: &[&str], body: &Value) -> Vec<u8> {
    let headers: String = headers.iter().map(|h| format!("{h}\r\n")).collect();
    response(
        &format!("{status} X"),
        &headers,
        body.to_string().as_bytes(),
    )
}

fn ok(body: Value) -> Vec<u8> {
    http(200, &[], &body)
}

/// A workflow as n8n gives it, with all that it adds.
fn given(id: &str, name: &str) -> Value {
    json!({
        "id": id, "name": name, "active": false, "isArchived": false, "versionId": "v-1",
        "createdAt": "2026-01-01T00:00:00.000Z", "updatedAt": "2026-01-02T00:00:00.000Z",
        "nodes": [{"id": "n1", "name": "Start", "type": "n8n-nodes-base.webhook", "typeVersion": 2, "position": [0, 0], "parameters": {"path": "p"}, "webhookId": "w"}],
        "connections": {}, "settings": {"executionOrder": "v1", "availableInMCP": true, "binaryMode": "separate"},
        "staticData": {"last": 1}, "meta": {"instanceId": "x"}, "pinData": null, "triggerCount": 1,
        "shared": [{"project": {"name": "Somebody <somebody@example.com>"}}],
        "tags": [{"id": "t1", "name": "shop"}], "activeVersion": null
    })
}

fn id(id: &str) -> WorkflowId {
    WorkflowId(id.to_owned())
}

fn document(name: &str) -> Workflow {
    serde_json::from_value(json!({
        "name": name, "active": true, "id": "x", "versionId": "v", "meta": {}, "tags": ["a"],
        "nodes": [{"id": "n1", "name": "Start", "type": "n8n-nodes-base.webhook", "typeVersion": 2, "position": [0, 0], "parameters": {"path": "p"}, "createdAt": "x"}],
        "connections": {}, "settings": {"executionOrder": "v1", "timezone": "Europe/Berlin", "availableInMCP": true}
    }))
    .unwrap()
}

fn call(
    kind: TriggerKind,
    method: &str,
    path: &str,
    fields: &[&str],
    payload: Value,
) -> TriggerCall {
    let point = TriggerPoint {
        node: "Start".into(),
        kind,
        method: method.into(),
        path: path.into(),
        fields: fields.iter().map(|f| (*f).to_owned()).collect(),
    };
    TriggerCall::new(point, payload.as_object().cloned().unwrap())
}
