//! Models over the real wires: what is sent, what comes back, what happens when it does not; and the settings and flags
//! around them, with the built binary.

use crate::support::Project;
use crate::wire::{Reply, Says, Seen, Server, anthropic, gemini, openai};
use agentctl::model::provider::{Access, Key, Kind, TimeLimits, Wire};
use agentctl::model::{
    AgentTask, Finish, Message, Model, ModelAnswer, ModelError, ModelRequest, Price, ToolCall,
    ToolResult, ToolSpec, ToolStatus,
};
use serde_json::{Map, Value, json};
use std::sync::Mutex;

/// No word like any that hides by its look: it must be hidden because it is known.
const KEY: &str = "correct-horse-battery";
const WIRES: [(&str, &str, fn(Says<'_>) -> Reply); 3] = [
    ("openai", "v1/", openai),
    ("anthropic", "v1/", anthropic),
    ("gemini", "v1beta/", gemini),
];
const HELLO: Says<'static> = Says {
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
        time: TimeLimits::default(),
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
    for (kind, reply) in [("openai", openai(says)), ("anthropic", anthropic(says))] {
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
            "openai" => ("authorization", format!("Bearer {KEY}")),
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

// ── with the binary ──

const REQUEST: &str = "Every day at 9:00 post \"stand-up\" to Slack #dev";

fn configured(server: &Server) -> Project {
    let project = Project::new();
    let url = server.url("v1");
    project.write(
        "agentctl.toml",
        &format!("[models]\ndefault = \"mine::m\"\n[providers.mine]\nkind = \"openai\"\nbase_url = \"{url}\"\napi_key_env = \"MINE_SECRET\"\n"),
    );
    project
}

fn build(project: &Project, more: &[&str]) -> crate::support::Ran {
    let mut args = vec!["build", "--output-format", "stream-json", "--yes", REQUEST];
    args.extend(more);
    let mut command = project.command(&args);
    command.env("MINE_SECRET", KEY).output().unwrap().into()
}

fn lines(ran: &crate::support::Ran) -> Vec<Value> {
    ran.stdout
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect()
}

#[test]
fn what_may_pass_is_asked_again_and_every_attempt_is_an_event() {
    let wait = || Reply::error(429, "slow down").with("retry-after", "0");
    let server = Server::new(vec![
        wait(),
        wait(),
        Reply::error(400, &format!("no more for {KEY}")),
    ]);
    let project = configured(&server);
    let ran = build(&project, &[]);
    assert_eq!(ran.code, 6, "{}", ran.stderr);
    assert_eq!(server.seen().len(), 3);
    let events = lines(&ran);
    let retried: Vec<_> = events
        .iter()
        .filter(|e| e["type"] == "model.retried")
        .collect();
    assert_eq!(retried.len(), 2);
    assert_eq!(
        (&retried[1]["attempt"], &retried[1]["turn"]),
        (&json!(2), &json!(1))
    );
    fits_the_schema(&events);
    assert!(!ran.stdout.contains(KEY) && !ran.stderr.contains(KEY));
    let used = project.run(&["usage", "--output-format", "json"]).json();
    assert_eq!(
        (&used["retries"], &used["total"]["model_calls"]),
        (&json!(2), &json!(0))
    );
}

#[test]
fn an_answer_that_never_fits_fails_the_step_with_the_reason() {
    let script = (0..9).map(|_| {
        openai(Says {
            words: &["I cannot", " do JSON.\n"],
            ..Says::default()
        })
    });
    let server = Server::new(script.collect());
    let project = configured(&server);
    let ran = build(&project, &[]);
    let events = lines(&ran);
    let failed = events.iter().find(|e| e["type"] == "step.failed").unwrap();
    assert!(
        failed["error"]
            .as_str()
            .unwrap()
            .contains("still not accepted after 2 repairs"),
        "{failed}"
    );
    assert!(
        events
            .iter()
            .any(|e| e["type"] == "model.text" && e["text"] == "I cannot do JSON.\n")
    );
    fits_the_schema(&events);
    assert_eq!(server.seen().len(), 3);
}

#[test]
fn a_limit_that_the_next_call_breaks_stops_before_it() {
    let server = Server::new(vec![]);
    let project = configured(&server);
    for (limit, value, why) in [
        ("--max-tokens", "10", "the next call needs about"),
        (
            "--max-cost",
            "1",
            "the price of this run's model is unknown",
        ),
        ("--max-time", "0s", "0 seconds"),
    ] {
        let ran = build(&project, &[limit, value]);
        assert_eq!(ran.code, 8, "{limit}: {}", ran.stderr);
        let last = lines(&ran).pop().unwrap();
        assert!(
            last["message"].as_str().unwrap().contains(why),
            "{limit}: {last}"
        );
    }
    assert!(server.seen().is_empty());
}

#[test]
fn what_is_missing_or_not_allowed_is_told_before_anything_is_asked() {
    let project = Project::new();
    let ran = project
        .command(&["build", "--model", "openai::gpt-4.1", REQUEST])
        .env_remove("OPENAI_API_KEY")
        .output()
        .unwrap();
    let ran = crate::support::Ran::from(ran);
    assert_eq!(ran.code, 6);
    assert!(
        ran.stderr.contains("OPENAI_API_KEY is not set"),
        "{}",
        ran.stderr
    );
    for (text, code, why) in [
        (
            "[providers.a]\napi_key = \"x\"",
            2,
            "agentctl.toml:2: keys do not belong",
        ),
        ("[model]\n", 2, "agentctl.toml:1: unknown field"),
        (
            "[models]\nopus = \"nosuch::m\"",
            6,
            "there is no provider \"nosuch\"",
        ),
        (
            "[models.agents]\nnobody = \"offline\"",
            2,
            "no agent \"nobody\"",
        ),
        (
            "[models]\nopus = \"a::m\"\n[providers.a]\nkind = \"openai\"\nbase_url = \"https://far.example/v1/\"",
            5,
            "sends requests to an address of its own",
        ),
        (
            "[models]\nopus = \"a::m\"\n[providers.a]\nkind = \"openai\"\nkey_command = \"echo x\"",
            5,
            "starts a command",
        ),
    ] {
        project.write("agentctl.toml", text);
        let ran = project.run(&["build", REQUEST]);
        assert_eq!(ran.code, code, "{text}: {}", ran.stderr);
        assert!(ran.stderr.contains(why), "{text}: {}", ran.stderr);
        assert!(project.workflows().is_empty());
    }
}

#[test]
fn a_command_gives_the_key_when_the_project_is_trusted() {
    let server = Server::new(vec![openai(HELLO)]);
    let project = Project::new();
    project.write(
        "agentctl.toml",
        &format!("[models]\ndefault = \"a::m\"\n[providers.a]\nkind = \"openai\"\nbase_url = \"{}\"\nkey_command = [\"echo\", \"{KEY}\"]\n", server.url("v1/")),
    );
    let ran: crate::support::Ran = project
        .command(&["models", "--output-format", "json"])
        .env("AGENTCTL_TRUST_PROJECT", "1")
        .output()
        .unwrap()
        .into();
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.json()["models"][0]["answers"], true);
    assert_eq!(
        server.seen()[0].header("authorization"),
        Some(format!("Bearer {KEY}").as_str())
    );
    assert!(!ran.stdout.contains(KEY));
}

#[test]
fn a_recorded_run_replays_and_another_one_fails_with_the_difference() {
    let first = Project::new();
    let tape = first.file("tape.json");
    let tape = tape.to_str().unwrap();
    let recorded = first.run(&[
        "build",
        "--yes",
        "--output-format",
        "json",
        "--record",
        tape,
        REQUEST,
    ]);
    assert_eq!(recorded.code, 0, "{}", recorded.stderr);
    let second = Project::new();
    let replayed = second.run(&[
        "build",
        "--yes",
        "--output-format",
        "json",
        "--replay",
        tape,
        REQUEST,
    ]);
    assert_eq!(replayed.code, 0, "{}", replayed.stderr);
    assert_eq!(first.workflows(), second.workflows());
    let of = |ran: &crate::support::Ran| ran.json()["usage"]["tool_calls"].clone();
    assert_eq!(of(&recorded), of(&replayed));
    let other = Project::new().run(&[
        "build",
        "--yes",
        "--replay",
        tape,
        "Every day at 10:00 post \"x\" to Slack #dev",
    ]);
    assert_eq!(other.code, 6, "{}", other.stderr);
    assert!(
        other
            .stderr
            .contains("asks something else than was recorded"),
        "{}",
        other.stderr
    );
    assert!(
        other.stderr.contains("+  \\\"request\\\"") || other.stderr.contains("10:00"),
        "{}",
        other.stderr
    );
    let again = first.run(&["build", "--yes", "--record", tape, REQUEST]);
    assert_eq!(
        again.code, 2,
        "a recording is never written over: {}",
        again.stderr
    );
}

#[test]
fn every_line_of_an_offline_run_fits_the_schema_of_the_docs() {
    let project = Project::new();
    let ran = project.run(&["build", "--output-format", "stream-json", "--yes", REQUEST]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let events = lines(&ran);
    assert_eq!(events[0]["type"], "init");
    assert_eq!(events.last().unwrap()["type"], "result");
    fits_the_schema(&events);
    let waiting = Project::new().run(&[
        "build",
        "--output-format",
        "stream-json",
        "Tell me when a build fails",
    ]);
    assert_eq!(waiting.code, 4, "{}", waiting.stderr);
    fits_the_schema(&lines(&waiting));
}

/// Every event, and every kind of event has its line in the docs.
fn fits_the_schema(events: &[Value]) {
    let schema: Value =
        serde_json::from_str(include_str!("../../docs/events.schema.json")).unwrap();
    let docs = include_str!("../../docs/events.md");
    let schema = jsonschema::validator_for(&schema).unwrap();
    for event in events {
        let faults: Vec<String> = schema
            .iter_errors(event)
            .map(|e| format!("{}: {e}", e.instance_path()))
            .collect();
        assert!(faults.is_empty(), "{event}: {faults:?}");
        let kind = event["type"].as_str().unwrap();
        assert!(
            docs.contains(&format!("`{kind}`")),
            "{kind} is not in docs/events.md"
        );
    }
}
