//! What a call of a tool of the kind http costs besides the network: the same request made bare, made by the tool, and made through the
//! gateway with every journal record put together and hashed. The server answers at once, on the loopback interface; no disk is in any
//! figure.
//!
//! The overhead of the gateway is the last line less the second. What the tool itself does for a request (the address judged and pinned, a
//! client of its own, limits) is the second less the first.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a measurement")]

use agentctl_base::yaml::Place;
use agentctl_engine::gateway::Settled;
use agentctl_engine::pack::{DeclaredTool, ToolKind, ToolLimits};
use agentctl_engine::policy::{Does, Policy};
use agentctl_engine::store::Journal;
use agentctl_engine::testkit::Bench;
use agentctl_engine::vocabulary::{DeclaredName, Vocabulary};
use agentctl_host::files::Disk;
use agentctl_host::reach::Addresses;
use agentctl_tools::{Given, Mode, Surroundings, Tools};
use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;

const POLICY: &str = "
roles:
  reader: [look_up]
limits: {max_tool_calls: 1000000000, max_identical_calls: 1000000000}
";

/// Takes what is written and forgets it.
#[derive(Debug)]
struct NoDisk;

impl Disk for NoDisk {
    fn write(&self, _: &mut File, _: &[u8], _: &Path) -> std::io::Result<()> {
        Ok(())
    }
    fn sync(&self, _: &File, _: &Path) -> std::io::Result<()> {
        Ok(())
    }
}

/// Twelve tickets, as a platform lists them; one connection each, on a thread of its own.
fn server() -> String {
    let issues: Vec<Value> = (1..=12)
        .map(|n| json!({"key": format!("NH-{n}"), "summary": "The gate camera is blurry", "status": "In Progress", "assignee": "ben.okoro"}))
        .collect();
    let body = json!({"success": true, "result": {"total": 12, "issues": issues}}).to_string();
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = [0; 4096];
            if stream.read(&mut head).is_ok() {
                let _gone = stream.write_all(answer.as_bytes());
            }
        }
    });
    format!("http://{address}")
}

/// The address is the user's own, as `INTEGRATION_URL` would be.
static URL: std::sync::OnceLock<String> = std::sync::OnceLock::new();

fn tool() -> DeclaredTool {
    let section = json!({
        "method": "GET", "url": "${PLATFORM}/api/{tenant}/issues", "query": {"q": "{words}"},
        "answer": {"value": "result", "failed_when": {"success": false}, "error": ["message"]}
    });
    DeclaredTool {
        id: "look_up",
        name: "Look up".into(),
        description: "Looks tickets up.".into(),
        category: String::new(),
        keywords: Vec::new(),
        acts: Vec::new(),
        parameters: Arc::new(
            json!({"type": "object", "properties": {"words": {"type": "string"}, "tenant": {"type": "string"}}, "required": ["words", "tenant"], "additionalProperties": false}),
        ),
        output_schema: None,
        examples: Vec::new(),
        kind: ToolKind::Other {
            name: "http",
            section,
        },
        bind: Default::default(),
        changes: false,
        reads_when: None,
        requires: None,
        limits: ToolLimits::default(),
        cache_s: None,
        mock: None,
        readme: None,
        tests: Vec::new(),
        file: "tool.yaml".into(),
        place: Place::default(),
    }
}

fn tools() -> Tools {
    let host = URL.get().unwrap().trim_start_matches("http://").to_owned();
    let surroundings = Surroundings {
        mode: Mode::Real,
        variable: |name| (name == "PLATFORM").then(|| URL.get().cloned()).flatten(),
        allow: Addresses::of([host.as_str()]).unwrap(),
        servers: None,
        workflows: None,
        agents: BTreeMap::new(),
        packs: None,
        root: None,
        engine: None,
        reader: None,
        folder: None,
    };
    Tools::new([&tool()], Arc::default(), surroundings)
}

fn measure(c: &mut Criterion) {
    URL.get_or_init(server);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let url = format!("{}/api/t-1/issues?q=open", URL.get().unwrap());
    c.bench_function("http/request alone", |m| {
        m.iter(|| {
            runtime.block_on(async {
                let client = agentctl_host::http::client().no_proxy().build().unwrap();
                let answer = client.get(&url).send().await.unwrap();
                let value: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
                assert_eq!(value.pointer("/result/total"), Some(&json!(12)));
            });
        });
    });
    let direct = tools();
    let given = Given {
        args: json!({"words": "open", "tenant": "t-1"})
            .as_object()
            .cloned()
            .unwrap(),
        ..Given::default()
    };
    c.bench_function("http/the tool alone", |m| {
        m.iter(|| {
            let came = runtime
                .block_on(direct.directly("look_up", &given))
                .unwrap();
            assert_eq!(came.content.pointer("/result/total"), Some(&json!(12)));
        });
    });
    let declared = [DeclaredName {
        name: "look_up",
        does: Does::Egress,
        is_flow: false,
        takes: Vec::new(),
        bound: Vec::new(),
    }];
    let (vocabulary, _) = Vocabulary::default().with_declared(&declared);
    let policy = Policy::load(POLICY, "policy.yaml", &vocabulary).unwrap();
    let mut bench = Bench::new(policy, |_| (vec![Arc::new(tools())], Arc::new(())));
    let path = bench.dir.path().join("journal.jsonl");
    bench.desk.journal = Some(Journal::create_on(Arc::new(NoDisk), &path).unwrap());
    let arguments = json!({"words": "open", "tenant": "t-1"}).to_string();
    c.bench_function("http/through the gateway, journaled", |m| {
        m.iter(|| {
            let settled = runtime.block_on(bench.raw("reader", "look_up", &arguments));
            let Settled::Done(result) = settled.unwrap() else {
                panic!()
            };
            assert_eq!(result.content.pointer("/result/total"), Some(&json!(12)));
        });
    });
}

criterion_group!(benches, measure);
criterion_main!(benches);
