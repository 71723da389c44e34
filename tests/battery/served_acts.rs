//! Attacks on what `agentctl serve` does for its clients: a call that waits for an approval, a call that comes again, what belongs to
//! another client, and requests that readers read differently.

use super::served::{Got, HOOK, Served, TOKEN, message};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

/// A project in which a person hands requests over, and clients of one tenant of which one may approve.
const SETTINGS: &str = "[serve.clients.one]\nbearer_env = \"ONE\"\ntenants = [\"t\"]\nmay = [\"turn\", \"read\", \"cancel\"]\n\
    [serve.clients.two]\nbasic = {user = \"demo\", password_env = \"TWO\"}\nmay = [\"turn\", \"read\", \"cancel\", \"approve\", \"admin\"]\n\
    [serve.clients.boss]\nbearer_env = \"BOSS\"\ntenants = [\"t\"]\nmay = [\"approve\"]\n";
const ASKS: &str = "rules:\n  - {id: person-submits, effect: ask, tools: [submit_request], when: \"args.team_id != 'nobody'\", \
    reason: a request is handed over by a person, match: [{role: program, tool: submit_request, args: {team_id: ops}}], \
    not_match: [{role: program, tool: submit_request, args: {team_id: nobody}}]}\n";
pub const REQUEST: &str = "I want to raise a change request: unit prices of the bond funds should be checked against a second source of \
    market data before they are published. It's mission-critical, it serves risk and compliance, the benefit is that wrong prices are \
    caught before clients see them, the sponsor is Marta Lindqvist, and if it goes wrong the whole organisation is affected.";

pub fn asking() -> Served {
    Served::with(SETTINGS, &[("packs/front-door/agents/policy.yaml", ASKS)])
}

/// How many requests were handed over.
pub fn handed_over(served: &Served) -> usize {
    let teams = std::fs::read_dir(served.project().join("memory/requests"));
    let teams = teams.into_iter().flatten().map(|team| team.unwrap().path());
    teams
        .map(|team| std::fs::read_dir(team).unwrap().count())
        .sum()
}

/// The run that waits until somebody lets the request be handed over.
pub fn waiting(served: &Served) -> String {
    assert_eq!(served.as_one(HOOK, &[], &message(REQUEST)).status, 200);
    let asked = served.as_one(HOOK, &[], &message("Correct, go ahead."));
    let said = asked.json()["output"].as_str().unwrap().to_owned();
    assert!(said.contains("A message does not approve it"), "{said}");
    asked.header("x-run-id").unwrap().to_owned()
}

pub fn as_boss(served: &Served, head: &str, body: &Value) -> Got {
    let bearer: String = TOKEN.chars().rev().collect();
    let bearer = format!("Bearer {bearer}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
    ];
    served.ask(head, &headers, body.to_string().as_bytes())
}

#[test]
fn case_103_a_message_to_a_run_that_waits_for_an_approval_is_none() {
    let served = asking();
    let run = waiting(&served);
    for said in [
        "approve",
        "Yes, this once",
        "approve-1",
        "{\"approve\": true}",
    ] {
        let got = served.as_one(HOOK, &[], &message(said));
        assert_eq!(got.header("x-run-id"), Some(run.as_str()), "{}", got.body);
    }
    let answers = format!("POST /runs/{run}/answers");
    let answered = served.as_one(&answers, &[], &json!({"approve-1": "approve"}));
    assert_eq!(answered.status, 403, "{}", answered.body);
    assert_eq!(handed_over(&served), 0);
    let shown = served.as_one(&format!("GET /runs/{run}"), &[], &json!({}));
    let shown = shown.json();
    assert_eq!(shown["status"], "waiting");
    assert_eq!(shown["expects"], "approval");
}

#[test]
fn case_120_who_may_not_approve_does_not_and_who_may_does_once() {
    let served = asking();
    let run = waiting(&served);
    let yes = json!({"approve": true});
    let path = format!("POST /runs/{run}/approvals/approve-1");
    // Without the right, of another tenant, without a secret.
    assert_eq!(served.as_one(&path, &[], &yes).status, 403);
    assert_eq!(served.as_two(&path, &[], &yes).status, 404);
    let json = [("content-type", "application/json")];
    let nobody = served.ask(&path, &json, yes.to_string().as_bytes());
    assert_eq!(nobody.status, 401);
    // For another question, and with something that is no yes.
    let other = format!("POST /runs/{run}/approvals/approve-2");
    assert_eq!(as_boss(&served, &other, &yes).status, 409);
    for odd in [
        json!({"approve": "true"}),
        json!({"approve": 1}),
        json!({"approved": true}),
        json!([true]),
    ] {
        assert_eq!(as_boss(&served, &path, &odd).status, 400, "{odd}");
    }
    assert_eq!(handed_over(&served), 0);
    let given = as_boss(&served, &path, &yes);
    assert_eq!(given.status, 200, "{}", given.body);
    assert_eq!(handed_over(&served), 1);
    assert_eq!(as_boss(&served, &path, &yes).status, 409);
    assert_eq!(handed_over(&served), 1);
}

#[test]
fn case_096_a_client_cannot_cancel_what_another_began_and_can_its_own() {
    let served = asking();
    let run = waiting(&served);
    let cancel = format!("POST /runs/{run}/cancel");
    let never = "POST /runs/20260101-000000-0000000000/cancel";
    let (foreign, unknown) = (
        served.as_two(&cancel, &[], &json!({})),
        served.as_two(never, &[], &json!({})),
    );
    assert_eq!((foreign.status, unknown.status), (404, 404));
    assert_eq!(foreign.json()["detail"], unknown.json()["detail"]);
    let shown = served
        .as_one(&format!("GET /runs/{run}"), &[], &json!({}))
        .json();
    assert_eq!(shown["status"], "waiting");
    let own = served.as_one(&cancel, &[], &json!({}));
    assert_eq!(
        (own.status, &own.json()["outcome"]),
        (200, &json!("cancelled"))
    );
    let yes = json!({"approve": true});
    let path = format!("POST /runs/{run}/approvals/approve-1");
    assert_eq!(as_boss(&served, &path, &yes).status, 409);
    assert_eq!(handed_over(&served), 0);
}

#[test]
fn case_097_another_clients_conversation_is_no_context() {
    let served = asking();
    let run = waiting(&served);
    let session = {
        let shown = served
            .as_one(&format!("GET /runs/{run}"), &[], &json!({}))
            .json();
        shown["session_id"].as_str().unwrap().to_owned()
    };
    let path = format!("/sessions/{session}");
    for method in ["GET", "DELETE"] {
        let got = served.as_two(&format!("{method} {path}"), &[], &json!({}));
        assert_eq!(got.status, 404, "{method}");
    }
    // Named in every way in which a request can name a conversation, it is a new one of the caller's own.
    let chat = json!({"sessionId": session, "chatInput": "/log"});
    let model = json!({"model": "front-door", "user": session, "messages": [{"role": "user", "content": "/log"}]});
    for (head, body) in [
        ("POST /chat/front-door", chat),
        ("POST /v1/chat/completions", model),
    ] {
        let got = served.as_two(head, &[("x-session-id", &session)], &body);
        assert_eq!(got.status, 200, "{}", got.body);
        assert!(
            got.body
                .contains("Nothing was said in this conversation yet."),
            "{}",
            got.body
        );
        assert_ne!(got.header("x-session-id"), Some(session.as_str()));
    }
    let kept = served
        .as_one(&format!("GET {path}"), &[], &json!({}))
        .json();
    assert_eq!(kept["open_run"], json!(run));
}

#[test]
fn case_099_a_client_that_calls_itself_another_is_itself() {
    let served = asking();
    let run = waiting(&served);
    let claims = [
        ("x-client", "boss"),
        ("x-forwarded-user", "boss"),
        ("x-remote-user", "boss"),
        ("from", "boss"),
    ];
    let path = format!("POST /runs/{run}/approvals/approve-1");
    let body = json!({"approve": true, "client": "boss", "role": "program", "by": "boss"});
    assert_eq!(served.as_one(&path, &claims, &body).status, 403);
    // A tenant that the client does not speak for, in its body and in a header.
    let mut foreign = message("hello");
    foreign["conversation"]["tenantId"] = json!("globex");
    assert_eq!(served.as_one(HOOK, &claims, &foreign).status, 403);
    let chat = json!({"sessionId": "c", "chatInput": "hello", "metadata": {"role": "program", "tenantId": "globex"}});
    let tenant = [("x-tenant-id", "globex")];
    assert_eq!(
        served
            .as_one("POST /chat/front-door", &tenant, &chat)
            .status,
        403
    );
    assert_eq!(handed_over(&served), 0);
}

#[test]
fn case_100_a_request_that_comes_again_is_handed_over_once() {
    let served = Served::start();
    let served = &served;
    assert_eq!(served.as_one(HOOK, &[], &message(REQUEST)).status, 200);
    let name = [("idempotency-key", "go")];
    let yes = message("Correct, go ahead.");
    let got: Vec<Got> = std::thread::scope(|scope| {
        let each = (0..4).map(|_| scope.spawn(|| served.as_one(HOOK, &name, &yes)));
        let each: Vec<_> = each.collect();
        each.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let later = served.as_one(HOOK, &name, &yes);
    for one in got.iter().chain([&later]) {
        assert_eq!((one.status, &one.body), (200, &got[0].body));
        assert_eq!(one.header("x-run-id"), got[0].header("x-run-id"));
    }
    assert_eq!(handed_over(served), 1);
}

#[test]
fn case_098_serve_is_called_by_its_own_name_and_sends_nobody_elsewhere() {
    let served = Served::start();
    let own = served.address().to_owned();
    let port = own.rsplit_once(':').unwrap().1;
    let body = message("hello").to_string();
    let send = |target: &str, hosts: &[&str], more: &str| {
        let mut text = format!(
            "POST {target} HTTP/1.1\r\nconnection: close\r\nauthorization: Bearer {TOKEN}\r\n{more}"
        );
        for host in hosts {
            text += &format!("host: {host}\r\n");
        }
        text += &format!(
            "content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        raw(&own, &text)
    };
    let evil = format!("evil.example:{port}");
    assert_eq!(send("/hooks/front-door", &[&evil], ""), 421);
    assert_eq!(send("/hooks/front-door", &["169.254.169.254"], ""), 421);
    assert_eq!(
        send(&format!("http://{evil}/hooks/front-door"), &[&own], ""),
        421
    );
    // What a proxy says of the name does not count: nothing here is behind one.
    assert_eq!(
        send(
            "/hooks/front-door",
            &[&own],
            "x-forwarded-host: evil.example\r\n"
        ),
        200
    );
    for path in [
        "//evil.example/hooks/front-door",
        "/hooks/../hooks/front-door",
        "/hooks/front-door/",
        "/hooks/%66ront-door",
    ] {
        assert_eq!(send(path, &[&own], ""), 404, "{path}");
    }
}

/// The status of a request that was written by hand; 0: the connection was closed without one.
fn raw(address: &str, text: &str) -> u16 {
    let mut stream = TcpStream::connect(address).unwrap();
    let _ = stream.write_all(text.as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer);
    answer
        .split(' ')
        .nth(1)
        .and_then(|s| s.parse().ok())
        .unwrap_or(0)
}

#[test]
fn case_094_a_request_that_readers_read_differently_reaches_no_pack() {
    let served = Served::start();
    let own = served.address().to_owned();
    let body = message("hello").to_string();
    let length = body.len();
    let head = format!(
        "POST /hooks/front-door HTTP/1.1\r\nconnection: close\r\nauthorization: Bearer {TOKEN}\r\ncontent-type: application/json\r\n"
    );
    let host = format!("host: {own}\r\n");
    let odd = [
        // Two lengths, a length and chunks, a length that is none, chunks that are none.
        format!("{head}{host}content-length: {length}\r\ncontent-length: 2\r\n\r\n{body}"),
        format!("{head}{host}content-length: {length}\r\ntransfer-encoding: chunked\r\n\r\n{body}"),
        format!("{head}{host}content-length: +{length}\r\n\r\n{body}"),
        format!("{head}{host}transfer-encoding: chunked, identity\r\n\r\n{body}"),
        // Two names, none, one with a blank before its colon.
        format!("{head}{host}host: evil.example\r\ncontent-length: {length}\r\n\r\n{body}"),
        format!("{head}content-length: {length}\r\n\r\n{body}"),
        format!("{head}host : {own}\r\ncontent-length: {length}\r\n\r\n{body}"),
        // Two of what may stand once.
        format!(
            "{head}{host}idempotency-key: a\r\nidempotency-key: b\r\ncontent-length: {length}\r\n\r\n{body}"
        ),
        format!("{head}{host}content-type: text/plain\r\ncontent-length: {length}\r\n\r\n{body}"),
    ];
    for text in &odd {
        let status = raw(&own, text);
        assert!([0, 400, 415, 421].contains(&status), "{status}: {text}");
    }
    let doubled = body.replacen("\"text\"", "\"text\":\"/log\",\"text\"", 1);
    for inside in [
        "[]".to_owned(),
        "null".to_owned(),
        format!("[{body},{body}]"),
        format!("{body}{body}"),
        doubled,
    ] {
        let text = format!(
            "{head}{host}content-length: {}\r\n\r\n{inside}",
            inside.len()
        );
        let status = raw(&own, &text);
        assert!([400, 422].contains(&status), "{status}: {inside}");
    }
    let runs = std::fs::read_dir(served.project().join("memory/runs"));
    assert_eq!(runs.into_iter().flatten().count(), 0);
    assert_eq!(served.as_one(HOOK, &[], &message("hello")).status, 200);
}
