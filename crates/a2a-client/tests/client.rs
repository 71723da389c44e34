//! The client against scripted servers that speak the real protocol.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests, which clippy does not know for such"
)]

use agentctl_a2a::{Kind, Message, Part, Role, SendMessage, TaskState};
use agentctl_a2a_client::{Agent, CardPin, Client, Credentials, Error, Limits, Reply};
use agentctl_host::reach::Addresses;
use agentctl_testkit::fake_http::{Asked, Request, response, serve};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::Instant;
use url::Url;

const JSON: &str = "content-type: application/json\r\n";
const EVENTS: &str = "content-type: text/event-stream\r\n";

fn card(address: &str, binding: &str, streaming: bool) -> Value {
    json!({
        "name": "desk", "description": "Answers.", "version": "1",
        "supportedInterfaces": [
            {"url": "grpc://x", "protocolBinding": "GRPC", "protocolVersion": "1.0"},
            {"url": format!("{address}/a2a"), "protocolBinding": binding, "protocolVersion": "1.0"}
        ],
        "capabilities": {"streaming": streaming}, "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"], "skills": [], "ofTomorrow": true
    })
}

fn ok(value: &Value) -> Vec<u8> {
    response("200 OK", JSON, value.to_string().as_bytes())
}

fn rpc(result: &Value) -> Vec<u8> {
    ok(&json!({"jsonrpc": "2.0", "id": 1, "result": result}))
}

fn task(state: &str) -> Value {
    json!({"id": "t", "contextId": "c", "status": {"state": state}, "artifacts": [
        {"artifactId": "reply", "parts": [{"text": "done"}]}]})
}

fn events(all: &[Value]) -> Vec<u8> {
    let whole = all.iter().map(|event| {
        let event = json!({"jsonrpc": "2.0", "id": 1, "result": event});
        format!(": alive\r\nevent: message\r\ndata: {event}\r\n\r\n")
    });
    response("200 OK", EVENTS, whole.collect::<String>().as_bytes())
}

/// A server whose card names itself; all else is the script's.
async fn agent(
    binding: &'static str,
    streaming: bool,
    script: impl Fn(&Request) -> Vec<u8> + Send + Sync + 'static,
) -> (Agent, Asked) {
    let (address, asked) = serve(move |request| {
        let host = request
            .head
            .lines()
            .find_map(|line| line.strip_prefix("host: "));
        match request.line.contains(".well-known") {
            true => ok(&card(
                &format!("http://{}", host.unwrap()),
                binding,
                streaming,
            )),
            false => script(request),
        }
    })
    .await;
    let url = Url::parse(&address).unwrap();
    let agent = Agent {
        allow: Addresses::default().and(&url),
        credentials: Some(Credentials::Bearer("secret-token".to_owned())),
        limits: Limits {
            answer: Duration::from_secs(5),
            max_bytes: 4096,
            max_stream_bytes: 8192,
        },
        keys: None,
        url,
    };
    (agent, asked)
}

fn message() -> SendMessage {
    SendMessage {
        message: Message::new("m-1", Role::User, vec![Part::text("hello")]),
        configuration: None,
        tenant: None,
    }
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(5)
}

async fn conversed(client: &Client) -> Result<Reply, Error> {
    client.converse(&message(), soon(), &mut |_| {}).await
}

fn state(reply: &Reply) -> TaskState {
    match reply {
        Reply::Task(task) => task.status.state,
        Reply::Message(_) => panic!("{reply:?}"),
    }
}

#[tokio::test]
async fn both_bindings_say_the_same() {
    let (rpc_agent, asked) = agent("JSONRPC", false, |_| {
        rpc(&json!({"task": task("TASK_STATE_COMPLETED")}))
    })
    .await;
    let got = rpc_agent
        .connect(None)
        .await
        .unwrap()
        .send(&message())
        .await
        .unwrap();
    assert_eq!(state(&got), TaskState::Completed);
    let all = asked.all();
    assert_eq!(all[0].line, "GET /.well-known/agent-card.json");
    // The card is public: nobody needs to see the token for it.
    assert!(!all[0].head.contains("secret-token"));
    assert_eq!(all[1].line, "POST /a2a");
    assert!(all[1].head.contains("authorization: bearer secret-token"));
    assert!(all[1].head.contains("a2a-version: 1.0"));
    assert_eq!(all[1].body["method"], "SendMessage");

    let (rest_agent, asked) = agent("HTTP+JSON", false, |request| match request.line.as_str() {
        "POST /a2a/message:send" => ok(&json!({"task": task("TASK_STATE_COMPLETED")})),
        "GET /a2a/tasks/t%2F1?historyLength=1" => ok(&task("TASK_STATE_WORKING")),
        "POST /a2a/tasks/t:cancel" => ok(&task("TASK_STATE_CANCELED")),
        other => panic!("{other}"),
    })
    .await;
    let client = rest_agent.connect(None).await.unwrap();
    assert_eq!(client.send(&message()).await.unwrap(), got);
    assert_eq!(asked.bodies()[1]["message"]["messageId"], "m-1");
    client.get("t/1", Some(1)).await.unwrap();
    let ended = client.cancel("t").await.unwrap();
    assert_eq!(ended.status.state, TaskState::Canceled);
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_taken_up_and_the_task_itself_counts() {
    let asked_for = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked_for);
    let (agent, asked) = agent("JSONRPC", true, move |request| {
        let update = |state| json!({"statusUpdate": {"taskId": "t", "contextId": "c", "status": {"state": state}}});
        match request.body["method"].as_str().unwrap() {
            "SendStreamingMessage" => events(&[json!({"task": task("TASK_STATE_WORKING")})]),
            "SubscribeToTask" => events(&[json!({"task": task("TASK_STATE_WORKING")}), update("TASK_STATE_COMPLETED")]),
            "GetTask" => match count.fetch_add(1, Ordering::SeqCst) {
                0 => rpc(&task("TASK_STATE_WORKING")),
                _ => rpc(&task("TASK_STATE_COMPLETED")),
            },
            other => panic!("{other}"),
        }
    })
    .await;
    let client = agent.connect(None).await.unwrap();
    let mut told = 0;
    let got = client
        .converse(&message(), soon(), &mut |_| told += 1)
        .await
        .unwrap();
    assert_eq!((state(&got), told), (TaskState::Completed, 3));
    let bodies = asked.bodies();
    let methods: Vec<&str> = bodies[1..]
        .iter()
        .map(|body| body["method"].as_str().unwrap())
        .collect();
    assert_eq!(
        methods,
        [
            "SendStreamingMessage",
            "GetTask",
            "SubscribeToTask",
            "GetTask"
        ]
    );
}

#[tokio::test]
async fn an_agent_that_closes_each_of_its_streams_is_asked_instead() {
    let asked_for = AtomicUsize::new(0);
    let (agent, asked) = agent("JSONRPC", true, move |request| {
        match request.body["method"].as_str().unwrap() {
            "GetTask" => match asked_for.fetch_add(1, Ordering::SeqCst) {
                // A server that is started again: nothing comes, and then it does.
                0 => Vec::new(),
                1..=4 => rpc(&task("TASK_STATE_WORKING")),
                _ => rpc(&task("TASK_STATE_COMPLETED")),
            },
            _ => events(&[json!({"task": task("TASK_STATE_WORKING")})]),
        }
    })
    .await;
    let client = agent.connect(None).await.unwrap();
    let got = conversed(&client).await.unwrap();
    assert_eq!(state(&got), TaskState::Completed);
    let bodies = asked.bodies();
    let subscribed = bodies
        .iter()
        .filter(|body| body["method"] == "SubscribeToTask");
    assert_eq!(subscribed.count(), 3);
}

#[tokio::test]
async fn an_agent_that_does_not_stream_is_asked_until_its_task_rests() {
    let count = AtomicUsize::new(0);
    let (agent, asked) = agent("JSONRPC", false, move |request| {
        match (
            request.body["method"].as_str().unwrap(),
            count.fetch_add(1, Ordering::SeqCst),
        ) {
            ("SendMessage", _) => rpc(&json!({"task": task("TASK_STATE_SUBMITTED")})),
            ("GetTask", 1) => response("503 Busy", "", b""),
            ("GetTask", _) => rpc(&task("TASK_STATE_INPUT_REQUIRED")),
            other => panic!("{other:?}"),
        }
    })
    .await;
    let client = agent.connect(None).await.unwrap();
    assert_eq!(
        state(&conversed(&client).await.unwrap()),
        TaskState::InputRequired
    );
    assert_eq!(
        asked.bodies()[1]["params"]["configuration"]["returnImmediately"],
        true
    );
}

#[tokio::test]
async fn what_is_too_large_or_not_of_the_protocol_is_told_and_not_kept() {
    let large = json!({"artifactUpdate": {"taskId": "t", "contextId": "c", "artifact": {"artifactId": "a", "parts": [{"text": "x".repeat(5000)}]}}});
    let small = json!({"artifactUpdate": {"taskId": "t", "contextId": "c", "artifact": {"artifactId": "a", "parts": [{"text": "x".repeat(2000)}]}}});
    let other = json!({"statusUpdate": {"taskId": "other", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}}});
    let begun =
        json!({"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}});
    for (told, why) in [
        (vec![large], "an event is larger than 4096 bytes"),
        (
            vec![
                small.clone(),
                small.clone(),
                small.clone(),
                small.clone(),
                small,
            ],
            "the stream is larger than 8192 bytes",
        ),
        (vec![begun, other], "the stream tells of another task"),
    ] {
        let (agent, _) = agent("JSONRPC", true, move |_| events(&told)).await;
        let client = agent.connect(None).await.unwrap();
        assert_eq!(
            conversed(&client).await,
            Err(Error::Unreadable(why.to_owned()))
        );
    }
    let (agent, _) = agent("JSONRPC", false, |_| {
        ok(&json!({"result": "x".repeat(5000)}))
    })
    .await;
    let client = agent.connect(None).await.unwrap();
    let got = client.send(&message()).await;
    assert_eq!(
        got,
        Err(Error::Unreadable(
            "the answer is larger than 4096 bytes".to_owned()
        ))
    );
}

#[tokio::test]
async fn a_card_has_an_end() {
    let (address, _) = serve(|_| {
        let mut large = card("http://127.0.0.1:9", "JSONRPC", false);
        large["description"] = "x".repeat(256 * 1024).into();
        ok(&large)
    })
    .await;
    let url = Url::parse(&address).unwrap();
    let agent = Agent {
        allow: Addresses::default().and(&url),
        credentials: None,
        limits: Limits::default(),
        keys: None,
        url,
    };
    let told = "the answer is larger than 262144 bytes".to_owned();
    assert_eq!(agent.card().await, Err(Error::Unreadable(told)));
}

#[tokio::test]
async fn a_connection_that_is_cut_may_have_made_a_task() {
    let (agent, _) = agent("JSONRPC", false, |_| Vec::new()).await;
    let client = agent.connect(None).await.unwrap();
    let error = client.send(&message()).await.unwrap_err();
    assert!(!error.is_unmade(), "{error:?}");
    let (agent, _) = agent_refusing().await;
    let client = agent.connect(None).await.unwrap();
    let Err(Error::Fault(fault)) = client.send(&message()).await else {
        panic!()
    };
    assert_eq!(fault.kind, Kind::Http(401));
}

async fn agent_refusing() -> (Agent, Asked) {
    agent("JSONRPC", false, |_| {
        response("401 Unauthorized", "", b"no")
    })
    .await
}

#[tokio::test]
async fn a_card_leads_nowhere_else_until_it_is_approved() {
    let (there, asked_there) = serve(|_| rpc(&json!({"task": task("TASK_STATE_COMPLETED")}))).await;
    let told = there.clone();
    let (address, _) = serve(move |_| ok(&card(&told, "JSONRPC", false))).await;
    let url = Url::parse(&address).unwrap();
    let agent = Agent {
        allow: Addresses::default()
            .and(&url)
            .and(&Url::parse(&there).unwrap()),
        credentials: None,
        limits: Limits::default(),
        keys: None,
        url,
    };
    assert!(matches!(
        agent.connect(None).await,
        Err(Error::Forbidden(_))
    ));
    let fetched = agent.card().await.unwrap();
    let pin = CardPin::new(
        &agent.card_url().unwrap(),
        fetched.whole,
        "2026-01-02T03:04:05Z",
    );
    agent
        .connect(Some(&pin))
        .await
        .unwrap()
        .send(&message())
        .await
        .unwrap();
    assert_eq!(asked_there.lines(), ["POST /a2a"]);

    let other = CardPin::new(
        &agent.card_url().unwrap(),
        json!({"name": "desk"}),
        "2026-01-02T03:04:05Z",
    );
    assert!(matches!(
        agent.connect(Some(&other)).await,
        Err(Error::Unapproved(_))
    ));
    // Its own server is not reached either where nobody allows it.
    let stranger = Agent {
        allow: Addresses::default(),
        ..agent
    };
    assert!(matches!(stranger.card().await, Err(Error::Forbidden(_))));
}
