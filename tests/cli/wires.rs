//! Models over the real wires: what is sent, what comes back, and what happens when it does not.

use crate::wire::{Reply, Says, Seen, Server, anthropic, gemini, openai, responses};
use agentctl_base::model::{
    AgentTask, Finish, Message, Model, ModelAnswer, ModelError, ModelRequest, ToolCall, ToolResult,
    ToolSpec, ToolStatus,
};
use agentctl_base::plain_http::PlainHttp;
use agentctl_models::Price;
use agentctl_models::provider::{Access, Key, Kind, TimeLimits, Wire};
use serde_json::{Map, json};
use std::sync::Mutex;

/// No word like any that hides by its look: it must be hidden because it is known.
pub const KEY: &str = "correct-horse-battery";
pub const WIRES: [(&str, &str, fn(Says<'_>) -> Reply); 4] = [
    ("openai", "v1/", openai),
    ("openai_resp", "v1/", responses),
    ("anthropic", "v1/", anthropic),
    ("gemini", "v1beta/", gemini),
];
pub const HELLO: Says<'static> = Says {
    words: &["{\"n\"", ": 3}"],
    calls: &[],
    ends: None,
};

fn access(kind: &str, url: &str) -> Access {
    Access {
        name: format!("mine::{kind}-model").parse().unwrap(),
        model: format!("{kind}-model"),
        kind: Kind::from_name(kind).unwrap(),
        base_url: Some(url.parse().unwrap()),
        key: Key::new(KEY),
        json_schema: None,
        price: Some(Price {
            input: 10.0,
            output: 100.0,
            cached: Some(1.0),
            cache_write: None,
        }),
        room: 100_000,
        time: TimeLimits::default(),
        plain_http: PlainHttp::default(),
    }
}

fn request() -> ModelRequest {
    ModelRequest {
        model: "mine::m".into(),
        task: AgentTask {
            agent: "a".into(),
            step: "s".into(),
            task: "t".into(),
            instructions: String::new(),
            input: Map::new(),
        },
        system: "You count.".into(),
        messages: vec![Message::User {
            text: "Count.".into(),
        }],
        tools: vec![],
        output_schema: json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}),
        shortened: vec![],
        task_at: 0,
    }
}

fn ask(access: Access, request: &ModelRequest) -> (Result<ModelAnswer, ModelError>, String) {
    let heard = Mutex::new(String::new());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let wire = Wire::new(access).unwrap();
    let answer = runtime.block_on(wire.call(request, &|text| heard.lock().unwrap().push_str(text)));
    (answer, heard.into_inner().unwrap())
}

/// What one reply on a wire is taken for.
fn on_wire(
    kind: &str,
    path: &str,
    reply: Reply,
    time: TimeLimits,
) -> (Result<ModelAnswer, ModelError>, Vec<Seen>) {
    let server = Server::new(vec![reply]);
    let access = Access {
        time,
        ..access(kind, &server.url(path))
    };
    (ask(access, &request()).0, server.seen())
}

fn passing(answer: Result<ModelAnswer, ModelError>) -> String {
    match answer {
        Err(ModelError::Passing { reason, .. }) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_answer_is_streamed_and_its_tokens_are_counted_on_every_wire() {
    for (kind, path, says) in WIRES {
        let server = Server::new(vec![says(HELLO)]);
        let (answer, heard) = ask(access(kind, &server.url(path)), &request());
        let answer = answer.unwrap();
        assert_eq!(
            (answer.text.as_str(), heard.as_str()),
            ("{\"n\": 3}", "{\"n\": 3}"),
            "{kind}"
        );
        assert_eq!(answer.finish, Finish::Done);
        let usage = answer.usage;
        assert_eq!(
            (usage.input_tokens, usage.cached_tokens, usage.output_tokens),
            (100, 40, 7),
            "{kind}"
        );
        let cost = usage.cost_usd.unwrap();
        assert!(
            (cost - (60.0 * 10.0 + 40.0 + 7.0 * 100.0) / 1e6).abs() < 1e-12,
            "{kind}: {cost}"
        );
    }
}

#[test]
fn calls_come_back_as_the_model_wrote_them_and_their_results_go_out() {
    for (kind, path, says) in WIRES {
        let called = Says {
            calls: &[("look", "{\"id\":\"a\"}"), ("list", "{}")],
            ..Says::default()
        };
        let server = Server::new(vec![says(called), says(HELLO)]);
        let mut request = request();
        request.tools = vec![ToolSpec {
            name: "look".into(),
            description: "Look.".into(),
            parameters: json!({"type": "object", "properties": {"id": {"type": "string"}}}),
        }];
        let (answer, _) = ask(access(kind, &server.url(path)), &request);
        let calls = answer.unwrap().tool_calls;
        let got: Vec<_> = calls
            .iter()
            .map(|c| (c.name.as_str(), c.arguments.as_str()))
            .collect();
        assert_eq!(got, [("look", "{\"id\":\"a\"}"), ("list", "{}")], "{kind}");
        let result = |call: &ToolCall| ToolResult {
            call_id: call.id.clone(),
            name: call.name.clone(),
            status: ToolStatus::Ok,
            content: json!({"found": call.name}),
        };
        let results = calls.iter().map(result).collect();
        request.messages.push(Message::Assistant {
            text: String::new(),
            tool_calls: calls,
        });
        request.messages.push(Message::Tool { results });
        ask(access(kind, &server.url(path)), &request).0.unwrap();
        let sent = server.seen().pop().unwrap().body.to_string();
        for word in ["You count.", "Look.", "found", "look", "list"] {
            assert!(sent.contains(word), "{kind}: {word} in {sent}");
        }
    }
}

#[test]
fn arguments_that_are_no_json_are_kept_for_the_gateway_to_refuse() {
    let says = Says {
        calls: &[("look", "{\"id\": oops")],
        ..Says::default()
    };
    for (kind, reply) in [
        ("openai", openai(says)),
        ("openai_resp", responses(says)),
        ("anthropic", anthropic(says)),
    ] {
        let answer = on_wire(kind, "v1/", reply, TimeLimits::default())
            .0
            .unwrap();
        assert_eq!(answer.tool_calls[0].arguments, "{\"id\": oops", "{kind}");
    }
}

#[test]
fn the_key_goes_where_the_wire_wants_it_and_the_prefix_is_marked() {
    for (kind, path, says) in WIRES {
        let (answer, seen) = on_wire(kind, path, says(HELLO), TimeLimits::default());
        answer.unwrap();
        let sent = &seen[0];
        let (header, value) = match kind {
            "openai" | "openai_resp" => ("authorization", format!("Bearer {KEY}")),
            "anthropic" => ("x-api-key", KEY.to_owned()),
            _ => ("x-goog-api-key", KEY.to_owned()),
        };
        assert_eq!(sent.header(header), Some(value.as_str()), "{kind}");
        assert!(!sent.path.contains(KEY), "{kind}");
        match kind {
            "openai" => {
                assert!(sent.body["prompt_cache_key"].is_string());
                assert_eq!(
                    sent.body["response_format"]["json_schema"]["schema"],
                    request().output_schema
                );
                assert_eq!(sent.body["stream_options"]["include_usage"], true);
            }
            "openai_resp" => {
                assert!(sent.body["prompt_cache_key"].is_string());
                assert_eq!(
                    sent.body["text"]["format"]["schema"],
                    request().output_schema
                );
                // Models that do not reason refuse it.
                assert_eq!(sent.body.get("include"), None);
                assert_eq!(sent.body["store"], false);
            }
            "anthropic" => {
                assert_eq!(sent.body["system"][0]["cache_control"]["type"], "ephemeral");
                assert_eq!(
                    sent.body["messages"][0]["content"][0]["cache_control"]["type"],
                    "ephemeral"
                );
            }
            _ => {}
        }
    }
}

#[test]
fn azure_gets_its_own_header_and_a_server_without_a_key_gets_none() {
    let server = Server::new(vec![openai(HELLO), openai(HELLO)]);
    ask(
        access("azure", &server.url("openai/?api-version=1")),
        &request(),
    )
    .0
    .unwrap();
    let keyless = Access {
        key: None,
        ..access("openai", &server.url("v1/"))
    };
    ask(keyless, &request()).0.unwrap();
    let seen = server.seen();
    assert_eq!(seen[0].path, "/openai/chat/completions?api-version=1");
    assert_eq!(seen[0].header("api-key"), Some(KEY));
    assert_eq!(seen[1].path, "/v1/chat/completions");
    assert_eq!(
        (
            seen[0].header("authorization"),
            seen[1].header("authorization")
        ),
        (None, None)
    );
}

#[test]
fn a_key_is_not_sent_in_the_clear_to_another_machine() {
    let far = access("openai", "http://models.example/v1/");
    let error = Wire::new(far).err().unwrap().to_string();
    assert!(
        error.contains("over plain http") && !error.contains(KEY),
        "{error}"
    );
    let mut allowed = access("openai", "http://models.example/v1/");
    allowed.plain_http = PlainHttp::new(["models.example:80"]).unwrap();
    assert!(Wire::new(allowed).is_ok());
}

#[test]
fn a_stream_that_breaks_off_is_no_answer() {
    for (kind, path, says) in WIRES {
        let whole = says(HELLO);
        for events in 0..4 {
            let (answer, _) = on_wire(kind, path, whole.clone().cut(events), TimeLimits::default());
            // Gemini's last event stands in the third place.
            if kind == "gemini" && events == 3 {
                answer.unwrap();
                continue;
            }
            let reason = passing(answer);
            assert!(reason.contains("broke off"), "{kind} {events}: {reason}");
        }
    }
}

#[test]
fn a_server_that_falls_silent_is_not_waited_for() {
    for (kind, path, says) in WIRES {
        let silent = TimeLimits {
            first_token: 0,
            ..TimeLimits::default()
        };
        let (answer, _) = on_wire(kind, path, says(HELLO).cut(0).hanging(), silent);
        assert_eq!(passing(answer), "no word within 0 s", "{kind}");
        let silent = TimeLimits {
            idle: 0,
            ..TimeLimits::default()
        };
        let (answer, _) = on_wire(kind, path, says(HELLO).cut(3).hanging(), silent);
        if kind != "gemini" {
            assert_eq!(passing(answer), "no word more within 0 s", "{kind}");
        }
        let silent = TimeLimits {
            call: 0,
            ..TimeLimits::default()
        };
        let (answer, _) = on_wire(kind, path, says(HELLO).cut(1).hanging(), silent);
        let why = answer.unwrap_err().to_string();
        assert!(why.contains("no whole answer within 0 s"), "{kind}: {why}");
    }
}

#[test]
fn overload_may_pass_and_a_wrong_key_may_not() {
    let plain = TimeLimits::default;
    let limited = Reply::error(429, "slow down").with("retry-after", "2");
    match on_wire("openai", "v1/", limited, plain()).0 {
        Err(ModelError::Passing {
            reason, wait_ms, ..
        }) => {
            assert_eq!(wait_ms, Some(2000));
            assert!(reason.contains("slow down"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
    passing(on_wire("anthropic", "v1/", Reply::error(529, "overloaded"), plain()).0);
    passing(on_wire("gemini", "v1beta/", Reply::error(500, "oops"), plain()).0);
    let refused = on_wire(
        "openai",
        "v1/",
        Reply::error(401, &format!("no {KEY}")),
        plain(),
    )
    .0;
    assert!(
        matches!(refused, Err(ModelError::Unavailable { .. })),
        "{refused:?}"
    );
    let wrong = on_wire("openai", "v1/", Reply::error(400, "bad"), plain()).0;
    assert!(matches!(wrong, Err(ModelError::Failed { .. })), "{wrong:?}");
}

#[test]
fn a_key_follows_no_redirect() {
    let other = Server::new(vec![openai(HELLO)]);
    let away = Reply::error(307, "gone").with("location", &other.url("v1/chat/completions"));
    let (answer, _) = on_wire("openai", "v1/", away, TimeLimits::default());
    assert!(
        matches!(answer, Err(ModelError::Unavailable { .. })),
        "{answer:?}"
    );
    assert!(other.seen().is_empty());
}

#[test]
fn a_page_instead_of_a_stream_is_no_answer() {
    for (kind, path, _) in WIRES {
        let (answer, _) = on_wire(
            kind,
            path,
            Reply::text("<html>Welcome to the proxy</html>"),
            TimeLimits::default(),
        );
        assert!(answer.is_err(), "{kind}: {answer:?}");
    }
}

#[test]
fn why_an_answer_ended_is_known_on_every_wire() {
    for (kind, path, says, length, refused) in [
        (
            "openai",
            "v1/",
            openai as fn(Says<'_>) -> Reply,
            "length",
            "content_filter",
        ),
        ("anthropic", "v1/", anthropic, "max_tokens", "refusal"),
        ("gemini", "v1beta/", gemini, "MAX_TOKENS", "SAFETY"),
    ] {
        for (word, finish) in [(length, Finish::Length), (refused, Finish::Refused)] {
            let reply = says(Says {
                ends: Some(word),
                ..HELLO
            });
            let answer = on_wire(kind, path, reply, TimeLimits::default()).0.unwrap();
            assert_eq!(answer.finish, finish, "{kind} {word}");
        }
    }
}
