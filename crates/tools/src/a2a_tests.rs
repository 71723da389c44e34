use super::{KIND, Remote};
use crate::direct::Given;
use crate::mock::Mode;
use crate::toolset::{Surroundings, Tools};
use agentctl_a2a_client::{Agent, CardPin, Limits};
use agentctl_base::yaml::{self, Place};
use agentctl_engine::pack::{DeclaredTool, ToolKind, ToolLimits};
use agentctl_host::reach::Addresses;
use agentctl_testkit::fake_http::{Asked, Request, response, serve};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn declared(changes: bool) -> DeclaredTool {
    DeclaredTool {
        id: "ask_desk",
        name: "Ask the desk".into(),
        description: "Asks the desk.".into(),
        category: String::new(),
        keywords: Vec::new(),
        acts: Vec::new(),
        parameters: Arc::new(
            json!({"type": "object", "properties": {"question": {"type": "string"}, "task": {"type": "string"}}, "required": ["question"], "additionalProperties": false}),
        ),
        output_schema: None,
        examples: Vec::new(),
        kind: ToolKind::Other {
            name: "a2a",
            section: json!({"agent": "desk", "text": "{question}", "data": {"site": "{site}"}, "task": "{task}"}),
        },
        bind: Default::default(),
        changes,
        reads_when: None,
        requires: None,
        limits: ToolLimits {
            timeout_s: 2,
            max_bytes: 4096,
            retries: 2,
            ..ToolLimits::default()
        },
        cache_s: None,
        mock: Some(json!({"text": "from the mock"})),
        readme: None,
        tests: Vec::new(),
        file: "tool.yaml".into(),
        place: Place::default(),
    }
}

fn ok(value: &Value) -> Vec<u8> {
    response(
        "200 OK",
        "content-type: application/json\r\n",
        value.to_string().as_bytes(),
    )
}

fn card(request: &Request) -> Vec<u8> {
    let mut lines = request.head.lines();
    let host = lines.find_map(|line| line.strip_prefix("host: ")).unwrap();
    ok(&json!({
        "name": "desk", "description": "Answers.", "version": "1", "capabilities": {},
        "supportedInterfaces": [{"url": format!("http://{host}/a2a"), "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]
    }))
}

fn told(state: &str, words: &str) -> Vec<u8> {
    let message = json!({"messageId": "s", "role": "ROLE_AGENT", "parts": [{"text": words}]});
    ok(&json!({"jsonrpc": "2.0", "id": 1, "result": {"task": {
        "id": "t", "contextId": "c", "status": {"state": state, "message": message},
        "artifacts": [{"artifactId": "a", "parts": [{"text": "42 km"}, {"data": {"km": 42}}, {"url": "https://a.example/f"}]}]
    }}}))
}

/// The tool over an agent whose messages the script answers. `approved`: the card as it is, another one, or none was.
async fn desk(
    changes: bool,
    approved: Option<bool>,
    script: impl Fn(&Request) -> Vec<u8> + Send + Sync + 'static,
) -> (Tools, Asked) {
    let (address, asked) = serve(move |request| match request.line.starts_with("GET") {
        true => card(request),
        false => script(request),
    })
    .await;
    let url = address.parse().unwrap();
    let agent = Agent {
        allow: Addresses::default().and(&url),
        credentials: None,
        limits: Limits::default(),
        keys: None,
        url,
    };
    let whole = agent.card().await.unwrap().whole;
    let url = agent.card_url().unwrap();
    let pin = approved.map(|as_it_is| {
        let card = if as_it_is {
            whole
        } else {
            json!({"name": "desk"})
        };
        CardPin::new(&url, card, "2026-01-02T03:04:05Z")
    });
    let remote = Remote { agent, pin };
    (
        tools(changes, BTreeMap::from([("desk".to_owned(), Ok(remote))])),
        asked,
    )
}

fn surroundings(agents: BTreeMap<String, Result<Remote, String>>) -> Surroundings {
    Surroundings {
        mode: Mode::Auto,
        variable: |_| None,
        allow: Addresses::default(),
        servers: None,
        workflows: None,
        agents,
        packs: None,
        root: None,
        folder: None,
        engine: None,
        reader: None,
    }
}

fn tools(changes: bool, agents: BTreeMap<String, Result<Remote, String>>) -> Tools {
    Tools::new([&declared(changes)], Arc::default(), surroundings(agents))
}

async fn called(tools: &Tools, args: Value) -> (&'static str, Value) {
    let object = |value: Value| value.as_object().cloned().unwrap();
    let given = Given {
        args: object(args),
        bound: object(json!({"site": "own"})),
        after: None,
    };
    let came = tools.directly("ask_desk", &given).await.unwrap();
    (came.status, came.content)
}

fn question() -> Value {
    json!({"question": "How long?"})
}

/// The messages that came.
fn messages(asked: &Asked) -> Vec<Value> {
    let bodies = asked.bodies().into_iter();
    bodies
        .filter(|body| body["method"] == "SendMessage")
        .map(|body| body["params"]["message"].clone())
        .collect()
}

#[tokio::test]
async fn a_call_is_one_message_and_what_its_task_gave() {
    let (tools, asked) = desk(false, Some(true), |_| told("TASK_STATE_COMPLETED", "")).await;
    let (status, content) = called(&tools, question()).await;
    assert_eq!(status, "ok");
    assert_eq!(
        content,
        json!({
            "result": {"text": "42 km", "data": [{"km": 42}], "files": [{"url": "https://a.example/f", "filename": ""}]},
            "task_id": "t", "context_id": "c", "effect": "reads"
        })
    );
    let sent = &messages(&asked)[0];
    assert_eq!(
        sent["parts"],
        json!([{"text": "How long?"}, {"data": {"site": "own"}, "mediaType": "application/json"}])
    );
    assert_eq!(sent.get("taskId"), None);
}

#[tokio::test]
async fn a_question_is_given_up_and_answered_in_its_task() {
    let (tools, asked) = desk(true, Some(true), |request| {
        match request.body["params"]["message"]["taskId"] {
            Value::Null => told("TASK_STATE_INPUT_REQUIRED", "Which city?"),
            _ => told("TASK_STATE_COMPLETED", ""),
        }
    })
    .await;
    let (status, content) = called(&tools, question()).await;
    assert_eq!(
        (status, &content["rule"]),
        ("failed", &json!("a2a.input_required"))
    );
    assert_eq!(
        (&content["error"], &content["task_id"]),
        (&json!("Which city?"), &json!("t"))
    );
    let answer = json!({"question": "Norrfeld", "task": content["task_id"]});
    assert_eq!(called(&tools, answer).await.0, "ok");
    assert_eq!(messages(&asked)[1]["taskId"], "t");
}

#[tokio::test]
async fn a_card_that_was_not_approved_gets_no_message() {
    let (changed, asked) = desk(false, Some(false), |_| told("TASK_STATE_COMPLETED", "")).await;
    let (status, content) = called(&changed, question()).await;
    assert_eq!(
        (status, &content["rule"]),
        ("refused", &json!("guard.card"))
    );
    assert_eq!(messages(&asked), Vec::<Value>::new());
    // One that was never looked at is not asked either.
    let (never, asked) = desk(false, None, |_| told("TASK_STATE_COMPLETED", "")).await;
    assert_eq!(
        never.lacks("ask_desk").unwrap(),
        "the card of the agent desk is not approved (agentctl a2a approve desk)"
    );
    assert_eq!(called(&never, question()).await.1["text"], "from the mock");
    assert_eq!(messages(&asked), Vec::<Value>::new());
    // Nobody described the agent: its mock answers, as for any tool that lacks something.
    let none = tools(false, BTreeMap::new());
    assert_eq!(
        none.lacks("ask_desk").unwrap(),
        "the settings do not describe the agent desk: [a2a.agents.desk] url = \"https://…\" in agentctl.toml or your own config.toml does"
    );
    assert_eq!(none.mocked().len(), 1);
}

#[tokio::test]
async fn a_message_is_sent_again_only_where_no_task_was_made() {
    let count = AtomicUsize::new(0);
    let (tools, asked) = desk(true, Some(true), move |_| {
        match count.fetch_add(1, Ordering::SeqCst) {
            0 => response("503 Busy", "", b""),
            _ => told("TASK_STATE_COMPLETED", ""),
        }
    })
    .await;
    assert_eq!(called(&tools, question()).await.0, "ok");
    let sent = messages(&asked);
    assert_eq!(sent.len(), 2);
    assert_eq!(sent[0]["messageId"], sent[1]["messageId"]);
    for (changes, expected) in [(true, "unknown"), (false, "failed")] {
        let (tools, asked) = desk(changes, Some(true), |_| Vec::new()).await;
        assert_eq!(called(&tools, question()).await.0, expected);
        assert_eq!(messages(&asked).len(), 1);
    }
}

#[tokio::test]
async fn a_task_that_was_made_is_not_made_again() {
    // It begins, and then its server says that it is busy, to the end.
    let (tools, asked) = desk(true, Some(true), |request| {
        match request.body["method"].as_str() {
            Some("SendMessage") => told("TASK_STATE_WORKING", ""),
            _ => response("503 Busy", "", b""),
        }
    })
    .await;
    assert_eq!(called(&tools, question()).await.0, "unknown");
    assert_eq!(messages(&asked).len(), 1);
}

#[tokio::test]
async fn an_artifact_without_end_and_a_task_without_end_are_cut_off() {
    let (large, _) = desk(true, Some(true), |_| {
        told("TASK_STATE_COMPLETED", &"x".repeat(5000))
    })
    .await;
    let (status, content) = called(&large, question()).await;
    assert_eq!(
        (status, &content["error"]),
        (
            "unknown",
            &json!("the answer is larger than 4096 bytes; ask whoever runs it")
        )
    );
    let (late, asked) = desk(true, Some(true), |request| match request.body["method"].as_str() {
        Some("SendMessage") => told("TASK_STATE_WORKING", ""),
        Some("CancelTask") => ok(&json!({"result": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_CANCELED"}}})),
        _ => ok(&json!({"result": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}})),
    })
    .await;
    let (status, content) = called(&late, question()).await;
    // What it did before it was cancelled nobody knows.
    assert_eq!(
        (status, &content["rule"]),
        ("unknown", &json!("tools.unknown_outcome"))
    );
    assert_eq!(asked.bodies().last().unwrap()["method"], "CancelTask");
}

#[tokio::test]
async fn a_task_whose_talk_is_let_go_is_cancelled() {
    let (working, asked) = desk(false, Some(true), |request| match request.body["method"].as_str() {
        Some("SendMessage") => told("TASK_STATE_WORKING", ""),
        Some("CancelTask") => ok(&json!({"result": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_CANCELED"}}})),
        _ => ok(&json!({"result": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}})),
    })
    .await;
    let calling = tokio::spawn(async move { called(&working, question()).await });
    let methods = || -> Vec<String> {
        let bodies = asked.bodies().into_iter();
        bodies
            .filter_map(|body| Some(body["method"].as_str()?.to_owned()))
            .collect()
    };
    while !methods().iter().any(|method| method == "GetTask") {
        tokio::task::yield_now().await;
    }
    calling.abort();
    assert!(calling.await.unwrap_err().is_cancelled());
    super::left().await;
    assert_eq!(methods().last().unwrap(), "CancelTask");
}

#[tokio::test]
async fn where_the_file_says_so_a_question_is_a_result() {
    let waiting = |state: &'static str| async move {
        let (_, asked) = desk(true, Some(true), move |_| told(state, "Which city?")).await;
        let address = asked.all()[0]
            .head
            .lines()
            .find_map(|l| l.strip_prefix("host: ").map(str::to_owned));
        let url = format!("http://{}", address.unwrap()).parse().unwrap();
        let agent = Agent {
            allow: Addresses::default().and(&url),
            credentials: None,
            limits: Limits::default(),
            keys: None,
            url,
        };
        let pin = CardPin::new(
            &agent.card_url().unwrap(),
            agent.card().await.unwrap().whole,
            "2026-01-02T03:04:05Z",
        );
        let mut declared = declared(true);
        if let ToolKind::Other { section, .. } = &mut declared.kind {
            section["waits"] = "result".into();
        }
        let remote = Ok(Remote {
            agent,
            pin: Some(pin),
        });
        let surroundings = surroundings(BTreeMap::from([("desk".to_owned(), remote)]));
        let tools = Tools::new([&declared], Arc::default(), surroundings);
        called(&tools, question()).await
    };
    assert_eq!(
        waiting("TASK_STATE_INPUT_REQUIRED").await,
        (
            "ok",
            json!({"waits": "Which city?", "question": "s", "task_id": "t", "context_id": "c", "effect": "changes"})
        )
    );
    let (status, content) = waiting("TASK_STATE_AUTH_REQUIRED").await;
    assert_eq!(
        (status, &content["rule"]),
        ("failed", &json!("a2a.approval_required"))
    );
}

#[test]
fn what_a_file_says_is_checked() {
    let faults = |text: &str| {
        let node = yaml::read(text, "tool.yaml").unwrap();
        let faults = (KIND.check)(&node, &["question".to_owned()]);
        faults.into_iter().map(|(_, why)| why).collect::<Vec<_>>()
    };
    assert_eq!(
        faults("{agent: desk, text: '{question}'}"),
        Vec::<String>::new()
    );
    for (text, why) in [
        ("{text: '{question}'}", "a2a needs an agent"),
        (
            "{agent: '{question}', text: a}",
            "agent is a name of [a2a.agents]; no value of a call names it",
        ),
        ("{agent: desk}", "a2a needs text, data or both"),
        (
            "{agent: desk, text: '{other}'}",
            "\"other\" is neither a parameter of the tool nor bound",
        ),
        (
            "{agent: desk, text: a, url: b}",
            "there is no \"url\" here; there are agent, text, data, task, question, context, waits",
        ),
        ("{agent: desk, text: a, waits: long}", "waits can be result"),
    ] {
        assert_eq!(faults(text), [why], "{text}");
    }
}
