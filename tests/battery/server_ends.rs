//! Servers that hang, die, ask and babble: cases 74 to 77.

use super::server::{CHANGE, FIND, approved, called, connected, done, gateway, line, q, tools};
use super::support::Bench;
use agentctl_base::model::{ToolResult, ToolStatus};
use agentctl_engine::gateway::Settled;
use agentctl_engine::store::Event;
use agentctl_mcp::fake::{Act, answer, object, polite, server, text, tool};
use agentctl_mcp::{CALL_LIMIT, Called, MAX_SKIPPED, McpClient, Pins, parse};
use serde_json::{Value, json};
use std::path::Path;

/// A server as a real process: starts a session, lists `change`, and does `at_call` when it is called.
fn process(at_call: &str) -> McpClient {
    let hello = r#"{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}\n"#;
    let schema = Value::Object(tool("change", "").schema);
    let list = format!(
        r#"{{"jsonrpc":"2.0","id":%s,"result":{{"tools":[{{"name":"change","description":"Changes a page.","inputSchema":{schema}}}]}}}}\n"#
    );
    let script = format!(
        r#"while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9][0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) printf '{hello}' "$id";;
    *'"tools/list"'*) printf '{list}' "$id";;
    *'"tools/call"'*) {at_call};;
    *'"id"'*) printf '{{"jsonrpc":"2.0","id":%s,"error":{{"code":-32601,"message":"no"}}}}\n' "$id";;
  esac
done"#
    );
    command("docs", &script)
}

fn command(name: &str, script: &str) -> McpClient {
    // Dollars are the file's own way to name variables, so the script is one.
    let text = json!({"mcpServers": {name: {"command": "sh", "args": ["-c", "${SCRIPT}"]}}});
    let config = parse(&text.to_string(), Path::new(".mcp.json"), &|name| {
        (name == "SCRIPT").then(|| script.to_owned())
    })
    .unwrap();
    McpClient::new(&config.servers[0])
}

fn statuses(bench: &Bench) -> Vec<ToolStatus> {
    let of = |(event, _): &(Event, bool)| match event {
        Event::ToolFinished { result, .. } => Some(result.status),
        _ => None,
    };
    bench.desk.events.iter().filter_map(of).collect()
}

#[tokio::test(start_paused = true)]
async fn case_074_a_server_that_hangs_or_drips_is_given_up_after_the_time_limit() {
    for act in [
        Act::Nothing,
        Act::Drip(line(
            json!({"jsonrpc": "2.0", "id": 2, "result": text("slow, very slow, and slower than that: so slow that nobody waits for it, and then some")}),
        )),
        Act::Drip(b"still starting\n".repeat(1_000)),
    ] {
        let (mut b, heard) = called(move |_, _| vec![act.clone()]);
        let before = tokio::time::Instant::now();
        let result = b.call("role", CHANGE, q()).await;
        assert_eq!(result.status, ToolStatus::Unknown, "{:#}", result.content);
        assert_eq!(before.elapsed(), CALL_LIMIT);
        assert_eq!(heard.calls().len(), 1);
    }
}

#[tokio::test]
async fn case_074_what_died_in_the_middle_may_have_happened_and_is_not_done_again() {
    let (mut b, heard) = called(|life, message| match life {
        1 => vec![Act::Die],
        _ => polite(message, &[]),
    });
    let result: ToolResult = b.call("role", CHANGE, q()).await;
    assert_eq!(result.status, ToolStatus::Unknown);
    let error = result.content["error"].as_str().unwrap();
    assert!(error.ends_with("it may have happened"), "{error}");
    assert_eq!(heard.calls().len(), 1);
    // The intent was on the disk before the call, and says that it changes something.
    let (intent, durable) = b.desk.events[0].clone();
    assert!(matches!(intent, Event::ToolIntent { mutates: true, .. }) && durable);
    // The server is started once more, for the next call.
    b.ok("role", CHANGE, q()).await;
    assert_eq!(heard.of("initialize").len(), 2);
    assert_eq!(statuses(&b), [ToolStatus::Unknown, ToolStatus::Ok]);

    // A call that only reads is made again, once.
    let (mut b, heard) = called(|life, message| match life {
        1 => vec![Act::Die],
        _ => polite(message, &[]),
    });
    b.ok("role", FIND, q()).await;
    assert_eq!(heard.calls().len(), 2);
    let (mut b, heard) = called(|_, _| vec![Act::Die]);
    let result = b.call("role", FIND, q()).await;
    assert_eq!(result.status, ToolStatus::Failed);
    assert_eq!(heard.calls().len(), 2);

    // When it is we who die between intent and result, the next life settles it the same way: unknown, and not called.
    let settled = b.settle("role", &intent).await.unwrap();
    assert_eq!(settled.status, ToolStatus::Unknown);
    assert_eq!(heard.calls().len(), 2);
}

#[cfg(unix)]
#[tokio::test]
async fn case_074_a_process_that_is_killed_in_the_middle_of_a_call_leaves_it_unknown() {
    let mut pins = Pins::default();
    approved("docs", &[tool("change", "Changes a page.")], &mut pins);
    let mut b = gateway([process("kill -9 $$")], pins);
    let Settled::Done(result) = b.raw("role", CHANGE, &q().to_string()).await.unwrap() else {
        panic!()
    };
    assert_eq!(result.status, ToolStatus::Unknown, "{:#}", result.content);
    let error = result.content["error"].as_str().unwrap();
    assert!(error.contains("the server was killed"), "{error}");
}

#[tokio::test]
async fn case_075_what_a_server_asks_of_us_is_refused() {
    let requests = [
        (
            "sampling/createMessage",
            json!({"messages": [], "maxTokens": 9}),
        ),
        (
            "elicitation/create",
            json!({"message": "password?", "requestedSchema": {"type": "object", "properties": {}}}),
        ),
        ("roots/list", json!({})),
        ("agentctl/run", json!({"command": "rm"})),
    ];
    let ask = move || -> Vec<Act> {
        let say = |(i, (method, params)): (usize, &(&str, Value))| {
            Act::Say(
                json!({"jsonrpc": "2.0", "id": format!("s{i}"), "method": method, "params": params}),
            )
        };
        requests.iter().enumerate().map(say).collect()
    };
    let mut open = Value::Null;
    let mut told = Vec::new();
    let (mut client, heard) = server("docs", move |_, message| {
        if message.is_null() {
            // Also before the session has begun.
            return ask();
        }
        if message["method"] == "tools/call" {
            open = message["id"].clone();
            told.clear();
            return ask();
        }
        if message.get("method").is_none() {
            told.push(message.clone());
            // The call is answered when every question was.
            return if told.len() == 4 && !open.is_null() {
                answer(&open, text("done"))
            } else {
                Vec::new()
            };
        }
        polite(message, &tools())
    });
    client.ready().await.unwrap();
    assert_eq!(client.call("find", &object(q())).await, done());
    assert_eq!(client.oddities().refused_requests, 8);
    let replies: Vec<Value> = heard
        .all()
        .into_iter()
        .filter(|message| message.get("method").is_none())
        .collect();
    assert_eq!(replies.len(), 8);
    for reply in replies {
        assert_eq!(reply["error"]["code"], -32601, "{reply}");
        assert!(reply.get("result").is_none(), "{reply}");
    }
    // The newer way to ask, by an answer that is none, gets nothing either.
    let (mut client, heard) = connected(|message| {
        answer(
            &message["id"],
            json!({"resultType": "input_required", "inputRequests": {"a": {"method": "elicitation/create", "params": {"message": "password?"}}}, "requestState": "s"}),
        )
    })
    .await;
    let called = client.call("find", &object(q())).await;
    assert!(!matches!(called, Called::Answer { .. }), "{called:?}");
    assert_eq!(heard.calls().len(), 1, "no second round");
}

#[tokio::test]
async fn case_076_noise_on_stdout_is_skipped_and_does_not_go_on_for_ever() {
    let noise = b"Server listening on stdio\n\x1b[2J\x1b[31mready\n\n{ level: 'info' }\n{\"level\":30,\"msg\":\"up\"}\n[1,2]\n".to_vec();
    let between = noise.clone();
    let (mut client, _) = server("docs", move |_, message| {
        let mut acts = vec![Act::Bytes(between.clone())];
        if !message.is_null() {
            acts.extend(polite(message, &tools()));
        }
        acts
    });
    assert_eq!(client.tools().await.unwrap(), tools());
    assert_eq!(client.call("find", &object(q())).await, done());
    let told = client.oddities();
    assert!(told.noise >= 5 * 5, "{told:?}");
    assert!(
        told.told()
            .unwrap()
            .ends_with("lines on its stdout that are no messages")
    );

    let (mut client, _) = server("docs", |_, message| {
        if message.is_null() {
            return vec![Act::Bytes(b"warning: deprecated\n".repeat(MAX_SKIPPED + 1))];
        }
        polite(message, &tools())
    });
    let error = client.ready().await.unwrap_err();
    assert!(
        error.reason.contains("had to be skipped"),
        "{}",
        error.reason
    );
}

#[cfg(unix)]
#[tokio::test]
async fn case_077_a_server_that_ends_at_once_is_said_to_have_ended() {
    for (script, expected) in [
        ("exit 0", "the server ended with exit code 0"),
        ("echo bye; exit 0", "the server ended with exit code 0"),
        ("exit 3", "the server ended with exit code 3"),
    ] {
        let mut client = command("docs", script);
        let error = client.ready().await.unwrap_err();
        assert!(error.reason.ends_with(expected), "{}", error.reason);
    }
    let mut pins = Pins::default();
    approved("docs", &tools(), &mut pins);
    let mut b = gateway([command("docs", "exit 0")], pins);
    let result = b.call("role", CHANGE, q()).await;
    // Nothing was called, so nothing can have happened; the run goes on.
    assert_eq!(result.status, ToolStatus::Failed);
    assert_eq!(result.content["rule"], "foreign.unavailable");
    b.ok("role", "list_workflows", json!({})).await;
}
