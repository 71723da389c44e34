//! Attacks on `agentctl serve`, the built binary with two clients: over HTTP, by whoever reaches the port.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

pub const TOKEN: &str = "0123456789abcdef0123456789abcdef";
/// `demo:demo`.
const BASIC: &str = "Basic ZGVtbzpkZW1v";
const SETTINGS: &str = "[serve.clients.one]\nbearer_env = \"ONE\"\nmay = [\"turn\", \"read\", \"admin\"]\norigins = [\"https://chat.example\"]\n\
    [serve.clients.two]\nbasic = {user = \"demo\", password_env = \"TWO\"}\nmay = [\"turn\", \"read\", \"cancel\"]\n";

pub struct Served {
    child: Child,
    address: String,
    folder: tempfile::TempDir,
}

pub struct Got {
    pub status: u16,
    head: String,
    pub body: String,
}

impl Got {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().skip(1);
        lines.find_map(|line| line.strip_prefix(&format!("{name}: ")))
    }
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Served {
    pub fn start() -> Served {
        Served::with(SETTINGS, &[])
    }

    /// With these settings and files of the project.
    pub fn with(settings: &str, files: &[(&str, &str)]) -> Served {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        for (path, text) in files.iter().chain([&("agentctl.toml", settings)]) {
            let path = project.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let mut child = Command::new(env!("CARGO_BIN_EXE_agentctl"))
            .args([
                "--trust-once",
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--ready-json",
            ])
            .current_dir(&project)
            .env("AGENTCTL_HOME", folder.path().join("home"))
            .env("AGENTCTL_LOOK", "no")
            .env("ONE", TOKEN)
            .env("TWO", "demo")
            .env("BOSS", TOKEN.chars().rev().collect::<String>())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        let address = ready["address"].as_str().unwrap().replace("http://", "");
        Served {
            child,
            address,
            folder,
        }
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn project(&self) -> std::path::PathBuf {
        self.folder.path().join("project")
    }

    fn begin(&self, head: &str, headers: &[(&str, &str)], body: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let mut text = format!(
            "{head} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n",
            self.address
        );
        for (name, value) in headers {
            text += &format!("{name}: {value}\r\n");
        }
        text += &format!("content-length: {}\r\n\r\n", body.len());
        stream.write_all(text.as_bytes()).unwrap();
        // Who is sent away at the head may not read the body.
        let _ = stream.write_all(body);
        stream
    }

    pub fn ask(&self, head: &str, headers: &[(&str, &str)], body: &[u8]) -> Got {
        let mut answer = Vec::new();
        let _ = self.begin(head, headers, body).read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        Got {
            status: head
                .split(' ')
                .nth(1)
                .and_then(|s| s.parse().ok())
                .unwrap_or(0),
            head: head.to_lowercase(),
            body: body.to_owned(),
        }
    }

    pub fn as_one(&self, head: &str, more: &[(&str, &str)], body: &Value) -> Got {
        let bearer = format!("Bearer {TOKEN}");
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
        ];
        self.ask(
            head,
            &[&headers[..], more].concat(),
            body.to_string().as_bytes(),
        )
    }

    pub fn as_two(&self, head: &str, more: &[(&str, &str)], body: &Value) -> Got {
        let headers = [
            ("authorization", BASIC),
            ("content-type", "application/json"),
        ];
        self.ask(
            head,
            &[&headers[..], more].concat(),
            body.to_string().as_bytes(),
        )
    }
}

pub const HOOK: &str = "POST /hooks/front-door";

pub fn message(text: &str) -> Value {
    json!({"from": {"id": "u"}, "conversation": {"id": "c", "tenantId": "t"}, "text": text})
}

#[test]
fn case_117_two_clients_with_one_tenant_user_and_conversation_see_nothing_of_each_other() {
    let served = Served::start();
    let one = served.as_one(HOOK, &[], &message("I want to submit a request"));
    let two = served.as_two(HOOK, &[], &message("/log"));
    assert_eq!((one.status, two.status), (200, 200));
    assert_eq!(
        two.json()["output"],
        "Nothing was said in this conversation yet."
    );
    assert_ne!(one.header("x-session-id"), two.header("x-session-id"));
    let (run, session) = (
        one.header("x-run-id").unwrap(),
        one.header("x-session-id").unwrap(),
    );
    let head = |method: &str, path: &str| format!("{method} {path}");
    for path in [
        head("GET", &format!("/runs/{run}")),
        head("GET", &format!("/runs/{run}/events")),
        head("POST", &format!("/runs/{run}/cancel")),
        head("POST", &format!("/runs/{run}/answers")),
        head("GET", &format!("/sessions/{session}")),
    ] {
        assert_eq!(
            served.as_two(&path, &[], &json!({"a": 1})).status,
            404,
            "{path}"
        );
    }
    let tenant = [("x-tenant-id", "client:one:t")];
    let chat = json!({"sessionId": "c", "chatInput": "/log"});
    let forged = served.as_two("POST /chat/front-door", &tenant, &chat);
    assert_eq!(
        forged.json()["output"],
        "Nothing was said in this conversation yet."
    );
}

#[test]
fn case_118_a_header_that_readers_read_differently_lets_nobody_in() {
    let served = Served::start();
    let bearer = format!("Bearer {TOKEN}");
    let both = format!("{BASIC}, {bearer}");
    let nul = "Basic ZGVtbzpkZW1vAA==";
    let latin = "Basic ZGVtbzpkZW3p";
    let wrong: [&[(&str, &str)]; 9] = [
        &[("authorization", &bearer), ("authorization", BASIC)],
        &[("authorization", BASIC), ("authorization", BASIC)],
        &[("authorization", &both)],
        &[("authorization", nul)],
        &[("authorization", latin)],
        &[("authorization", "Basic demo:demo")],
        &[("authorization", "Bearer demo")],
        &[("proxy-authorization", &bearer)],
        &[("cookie", "token=0123456789abcdef0123456789abcdef")],
    ];
    for headers in wrong {
        let headers = [headers, &[("content-type", "application/json")]].concat();
        let got = served.ask(HOOK, &headers, message("hello").to_string().as_bytes());
        assert_eq!(got.status, 401, "{headers:?}");
        assert!(got.header("x-run-id").is_none());
    }
    assert_eq!(served.as_two(HOOK, &[], &message("hello")).status, 200);
}

#[test]
fn case_119_a_page_of_a_browser_calls_for_nobody_who_does_not_name_it() {
    let served = Served::start();
    for origin in [
        "https://evil.example",
        "null",
        "http://127.0.0.1",
        "https://chat.example.evil",
    ] {
        let got = served.as_one(HOOK, &[("origin", origin)], &message("hello"));
        assert_eq!(got.status, 403, "{origin}");
        assert!(got.header("access-control-allow-origin").is_none());
        let before = [
            ("origin", origin),
            ("access-control-request-method", "POST"),
        ];
        assert_eq!(
            served.ask("OPTIONS /hooks/front-door", &before, b"").status,
            405,
            "{origin}"
        );
    }
    // What a form of a page can send without asking first is no JSON.
    let bearer = format!("Bearer {TOKEN}");
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
    ] {
        let headers = [("authorization", bearer.as_str()), ("content-type", kind)];
        let got = served.ask(HOOK, &headers, message("hello").to_string().as_bytes());
        assert_eq!(got.status, 415, "{kind}");
    }
    let named = served.as_one(
        HOOK,
        &[("origin", "https://chat.example")],
        &message("hello"),
    );
    assert_eq!(named.status, 200);
    assert_eq!(
        served
            .as_two(
                HOOK,
                &[("origin", "https://chat.example")],
                &message("hello")
            )
            .status,
        403
    );
}

#[test]
fn case_121_the_key_of_another_callers_request_is_worth_nothing() {
    let served = Served::start();
    let key = [("idempotency-key", "k")];
    let one = served.as_one(HOOK, &key, &message("hello"));
    let again = served.as_one(HOOK, &key, &message("hello"));
    assert_eq!(one.header("x-run-id"), again.header("x-run-id"));
    let two = served.as_two(HOOK, &key, &message("hello"));
    assert_eq!(two.status, 200);
    assert_ne!(one.header("x-run-id"), two.header("x-run-id"));
    assert_eq!(served.as_one(HOOK, &key, &message("bye")).status, 422);
}

#[test]
fn case_122_turns_of_one_conversation_at_once_come_one_after_the_other() {
    let served = Served::start();
    let served = &served;
    let got: Vec<Got> = std::thread::scope(|scope| {
        let each = (0..6).map(|_| scope.spawn(move || served.as_one(HOOK, &[], &message("hello"))));
        let each: Vec<_> = each.collect();
        each.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(got.iter().all(|got| got.status == 200));
    let session = got[0].header("x-session-id").unwrap();
    let shown = served
        .as_one(&format!("GET /sessions/{session}"), &[], &json!({}))
        .json();
    let messages = shown["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages
        .iter()
        .map(|m| m["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["user", "assistant"].repeat(6));
    assert_eq!(shown["open_run"], Value::Null);
}

#[test]
fn case_095_what_is_too_large_or_no_json_is_refused_at_every_door_of_serve() {
    let served = Served::start();
    let bearer = format!("Bearer {TOKEN}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
    ];
    let large = vec![b' '; 4 * 1024 * 1024 + 1];
    for door in [
        "/hooks/front-door",
        "/chat/front-door",
        "/v1/chat/completions",
    ] {
        let head = format!("POST {door}");
        assert_eq!(served.ask(&head, &headers, &large).status, 413, "{door}");
        let packed = [&headers[..], &[("content-encoding", "gzip")]].concat();
        assert_eq!(served.ask(&head, &packed, b"{}").status, 415, "{door}");
        for odd in [
            &b"{\"text\": 1, \"text\": 2}"[..],
            b"[]",
            b"{",
            b"\xff",
            b"1e999",
        ] {
            let got = served.ask(&head, &headers, odd);
            assert!([400, 422].contains(&got.status), "{door}: {}", got.status);
        }
    }
    assert_eq!(served.as_one(HOOK, &[], &message("hello")).status, 200);
}

#[test]
fn case_102_a_run_and_a_conversation_are_worth_nothing_without_a_secret() {
    let served = Served::start();
    let one = served.as_one(HOOK, &[], &message("hello"));
    let (run, session) = (
        one.header("x-run-id").unwrap(),
        one.header("x-session-id").unwrap(),
    );
    for head in [
        format!("GET /runs/{run}"),
        format!("GET /runs/{run}/events"),
        format!("GET /sessions/{session}"),
        format!("DELETE /sessions/{session}"),
        HOOK.to_owned(),
    ] {
        let got = served.ask(&head, &[("x-session-id", session)], b"{}");
        assert_eq!(got.status, 401, "{head}");
        assert!(!got.body.contains(run));
    }
}

#[test]
fn case_104_readers_that_never_read_hold_up_nobody() {
    let served = Served::start();
    let one = served.as_one(
        "POST /chat/front-door",
        &[],
        &json!({"sessionId": "s", "chatInput": "hello"}),
    );
    let run = one.header("x-run-id").unwrap();
    let bearer = format!("Bearer {TOKEN}");
    let headers = [("authorization", bearer.as_str())];
    let never: Vec<TcpStream> = (0..200)
        .map(|_| served.begin(&format!("GET /runs/{run}/events?view=all"), &headers, b""))
        .collect();
    for _ in 0..5 {
        assert_eq!(served.as_one(HOOK, &[], &message("hello")).status, 200);
    }
    drop(never);
}
