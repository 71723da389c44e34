//! Spans as a collector receives them: the tree of a run, what its spans say, and what they do not.
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::type_complexity,
    dead_code,
    reason = "tests fail loudly; the project folder and the server are those of the CLI's tests"
)]

#[path = "../cli/support.rs"]
mod support;
/// Answers are held against their schemas where the commands are tested.
mod published {
    pub fn held(_: &[&str], _: &super::support::Ran) {}
}
#[path = "../cli/wire.rs"]
mod wire;

use serde_json::Value;
use std::collections::BTreeMap;
use support::{Project, Ran};
use wire::{Reply, Says, Server, openai};

const REQUEST: &str = "Every day at 9:00 post \"stand-up\" to Slack #dev";

#[derive(Debug, Clone)]
struct Span {
    trace: String,
    parent: String,
    name: String,
    kind: i64,
    error: bool,
    attributes: BTreeMap<String, Value>,
}

/// A collector that takes everything.
fn collector() -> Server {
    Server::new((0..200).map(|_| Reply::text("{}")).collect())
}

fn traced(project: &Project, to: &str, more: &[(&str, &str)], args: &[&str]) -> Ran {
    let mut command = project.command(args);
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", to)
        .env("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")
        .envs(more.iter().copied());
    command.output().unwrap().into()
}

/// All spans that came in, by id.
fn spans(server: &Server) -> BTreeMap<String, Span> {
    let mut spans = BTreeMap::new();
    for seen in server.seen() {
        assert_eq!(seen.path, "/v1/traces");
        for resource in seen.body["resourceSpans"].as_array().unwrap() {
            let about = resource["resource"]["attributes"].to_string();
            assert!(
                about.contains("service.name") && about.contains("\"agentctl\""),
                "{about}"
            );
            for scope in resource["scopeSpans"].as_array().unwrap() {
                for span in scope["spans"].as_array().unwrap() {
                    let text = |key: &str| span[key].as_str().unwrap_or_default().to_owned();
                    let attributes = span["attributes"].as_array().unwrap().iter();
                    let attributes = attributes
                        .map(|a| (a["key"].as_str().unwrap().to_owned(), a["value"].clone()));
                    let (begun, ended) = (text("startTimeUnixNano"), text("endTimeUnixNano"));
                    assert!(
                        begun.parse::<u64>().unwrap() <= ended.parse::<u64>().unwrap(),
                        "{span}"
                    );
                    let one = Span {
                        trace: text("traceId"),
                        parent: text("parentSpanId"),
                        name: text("name"),
                        kind: span["kind"].as_i64().unwrap(),
                        error: span["status"]["code"] == 2,
                        attributes: attributes.collect(),
                    };
                    let before = spans.insert(text("spanId"), one);
                    assert!(before.is_none(), "one id, one span");
                }
            }
        }
    }
    spans
}

impl Span {
    fn says(&self, key: &str) -> &str {
        self.attributes[key]["stringValue"].as_str().unwrap()
    }
}

/// The names from the root to the span.
fn path(spans: &BTreeMap<String, Span>, id: &str) -> Vec<String> {
    let span = &spans[id];
    let mut names = match span.parent.as_str() {
        "" => Vec::new(),
        parent => path(spans, parent),
    };
    names.push(span.name.clone());
    names
}

#[test]
fn a_run_is_a_tree_of_phases_agents_calls_of_models_and_tools() {
    let server = collector();
    let project = Project::new();
    let args = ["build", "--yes", "--output-format", "json", REQUEST];
    let ran = traced(&project, &server.url(""), &[], &args);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let spans = spans(&server);
    let run = ran.json()["run_id"].clone();
    let mut tools = 0;
    let mut phases = Vec::new();
    for (id, span) in &spans {
        let path = path(&spans, id);
        let kinds: Vec<&str> = path
            .iter()
            .map(|name| name.split(' ').next().unwrap())
            .collect();
        match kinds.last().copied().unwrap() {
            "invoke_workflow" => {
                assert_eq!(kinds.len(), 1);
                assert_eq!(span.says("agentctl.outcome"), "complete");
            }
            "phase" => {
                assert_eq!(kinds, ["invoke_workflow", "phase"]);
                phases.push(span.says("agentctl.phase").to_owned());
            }
            "invoke_agent" => {
                assert_eq!(kinds, ["invoke_workflow", "phase", "invoke_agent"]);
                assert_eq!(
                    span.name,
                    format!("invoke_agent {}", span.says("gen_ai.agent.name"))
                );
            }
            "chat" => {
                assert_eq!(kinds, ["invoke_workflow", "phase", "invoke_agent", "chat"]);
                assert_eq!((span.name.as_str(), span.kind), ("chat offline", 1));
                assert_eq!(span.says("gen_ai.provider.name"), "agentctl");
                assert_eq!(
                    span.attributes["gen_ai.usage.input_tokens"]["intValue"],
                    "0"
                );
            }
            "execute_tool" => {
                tools += 1;
                assert!(
                    kinds.ends_with(&["invoke_agent", "execute_tool"]) || kinds.len() == 3,
                    "{path:?}"
                );
                assert_eq!(
                    span.name,
                    format!("execute_tool {}", span.says("gen_ai.tool.name"))
                );
            }
            other => panic!("{other}: {path:?}"),
        }
        assert_eq!(
            span.attributes["gen_ai.conversation.id"]["stringValue"],
            run
        );
        // Files cannot be executed: the one call that fails here, and says so.
        let refused = span.name == "execute_tool rehearse_workflow";
        assert_eq!(span.error, refused, "{span:?}");
    }
    assert_eq!(ran.json()["usage"]["tool_calls"], tools);
    phases.sort();
    phases.dedup();
    assert!(phases.len() >= 4, "{phases:?}");
    assert!(
        spans
            .values()
            .all(|s| s.trace == spans.values().next().unwrap().trace)
    );
    let sent: String = server
        .seen()
        .iter()
        .map(|seen| seen.body.to_string())
        .collect();
    assert!(!sent.contains("stand-up"), "no word of what was said");
}

#[test]
fn words_go_along_only_when_asked_for() {
    let server = collector();
    let content = ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true");
    let args = ["build", "--yes", REQUEST];
    let ran = traced(&Project::new(), &server.url(""), &[content], &args);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let spans = spans(&server);
    let holds = |key: &str| {
        spans.values().any(|s| {
            s.attributes
                .get(key)
                .is_some_and(|v| v.to_string().contains("stand-up"))
        })
    };
    for key in ["gen_ai.output.messages", "gen_ai.tool.call.arguments"] {
        assert!(holds(key), "{key}");
    }
}

#[test]
fn faults_are_marked_and_a_resumed_run_goes_on_in_the_same_trace() {
    let words = Says {
        words: &["no JSON"],
        ..Says::default()
    };
    let model = Server::new(vec![
        Reply::error(429, "slow down").with("retry-after", "0"),
        openai(words),
        Reply::error(400, "no more"),
    ]);
    let server = collector();
    let project = Project::new();
    project.write(
        "agentctl.toml",
        &format!("[models]\ndefault = \"mine::m\"\n[providers.mine]\nkind = \"openai\"\nbase_url = \"{}\"\n", model.url("v1")),
    );
    let ran = traced(&project, &server.url(""), &[], &["build", "--yes", REQUEST]);
    assert_eq!(ran.code, 6, "{}", ran.stderr);
    let mut chats: Vec<(bool, bool)> = spans(&server)
        .into_values()
        .filter(|span| span.name == "chat m")
        .map(|span| {
            assert_eq!((span.kind, span.says("gen_ai.provider.name")), (3, "mine"));
            let counted = span.attributes.get("gen_ai.usage.input_tokens");
            (span.error, counted.is_some_and(|n| n["intValue"] == "100"))
        })
        .collect();
    chats.sort_unstable();
    assert_eq!(chats, [(false, true), (true, false), (true, false)]);
    let ran = traced(
        &project,
        &server.url(""),
        &[],
        &["resume", "--yes", "--model", "offline"],
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let spans = spans(&server);
    let roots: Vec<&Span> = spans.values().filter(|s| s.parent.is_empty()).collect();
    assert_eq!(roots.len(), 2, "one for each activation");
    assert_eq!(roots[0].trace, roots[1].trace);
    let mut errors: Vec<bool> = roots.iter().map(|root| root.error).collect();
    errors.sort_unstable();
    assert_eq!(errors, [false, true]);
}

#[test]
fn a_collector_that_is_not_there_is_a_remark() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let args = ["build", "--yes", REQUEST];
    let ran = traced(
        &Project::new(),
        &format!("http://{nobody}"),
        &[("OTEL_EXPORTER_OTLP_TIMEOUT", "1000")],
        &args,
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("spans were not sent"), "{}", ran.stderr);
    // Nobody named one: nothing is said.
    let ran = Project::new().run(&args);
    assert!(!ran.stderr.contains("spans"), "{}", ran.stderr);
}

/// A request to a server of its own; its traceparent, where it has one. Status.
fn asked(address: &str, head: &str, more: &str) -> u16 {
    use std::io::{Read as _, Write as _};
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let body = r#"{"sessionId": "s", "chatInput": "/log"}"#;
    let text = format!(
        "{head} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\nauthorization: Bearer {TOKEN}\r\ncontent-type: application/json\r\n{more}content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

#[cfg(unix)]
#[test]
fn a_request_of_serve_is_a_span_of_its_callers_trace() {
    use std::io::BufRead as _;
    let server = collector();
    let project = Project::new();
    let mut command = project.command(&["serve", "--listen", "127.0.0.1:0", "--ready-json"]);
    let mut child = command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", server.url(""))
        .env("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")
        .env("AGENTCTL_SERVE_TOKEN", TOKEN)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    let ready: Value = serde_json::from_str(&line).unwrap();
    let address = ready["address"].as_str().unwrap().replace("http://", "");
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let parent = |flags: &str| format!("traceparent: 00-{trace}-00f067aa0ba902b7-{flags}\r\n");
    let chat = "POST /chat/front-door?secret=1";
    assert_eq!(asked(&address, chat, &parent("01")), 200);
    assert_eq!(asked(&address, chat, &parent("00")), 200, "not sampled");
    assert_eq!(asked(&address, "GET /nothing/here", ""), 404);
    let killed = std::process::Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status();
    assert!(killed.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(143));
    let mut all: Vec<Span> = spans(&server).into_values().collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    let [stranger, chat] = &all[..] else {
        panic!("{all:?}")
    };
    assert_eq!(
        (
            stranger.name.as_str(),
            stranger.parent.as_str(),
            stranger.kind
        ),
        ("GET", "", 2)
    );
    assert_ne!(stranger.trace, trace);
    assert_eq!(
        stranger.attributes["http.response.status_code"]["intValue"],
        "404"
    );
    assert_eq!(
        (chat.name.as_str(), chat.parent.as_str()),
        ("POST /chat/{pack}", "00f067aa0ba902b7")
    );
    assert_eq!(
        (chat.trace.as_str(), chat.kind, chat.error),
        (trace, 2, false)
    );
    assert_eq!(chat.says("http.route"), "/chat/{pack}");
    assert_eq!(chat.says("url.path"), "/chat/front-door");
    assert_eq!(chat.says("agentctl.client"), "local");
    assert!(!chat.says("gen_ai.conversation.id").is_empty());
}
