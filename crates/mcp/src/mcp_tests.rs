use super::*;
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

fn parsed(text: &str, variables: &[(&str, &str)]) -> McpConfig {
    let variables: HashMap<&str, &str> = variables.iter().copied().collect();
    parse(text, Path::new(".mcp.json"), &|name| {
        variables.get(name).map(|value| (*value).to_owned())
    })
    .unwrap()
}

fn lines(notes: &[Note]) -> Vec<String> {
    notes.iter().map(ToString::to_string).collect()
}

#[test]
fn no_value_of_a_variable_is_in_the_debug_form() {
    let config = parsed(
        r#"{"mcpServers": {"a": {"type": "http", "url": "https://u:p@h/${T}", "headers": {"X": "Bearer ${T}"}}}}"#,
        &[("T", "very-secret-key")],
    );
    assert!(!format!("{config:?}").contains("very-secret-key"));
}

#[test]
fn both_transports_are_read_with_their_variables() {
    let config = parsed(
        r#"{
  "mcpServers": {
    "n8n": {
      "command": "npx",
      "args": ["-y", "n8n-mcp@${VERSION:-latest}"],
      "env": {"N8N_API_URL": "${N8N_API_URL:-http://localhost:5678}", "N8N_API_KEY": "${N8N_API_KEY}"},
      "startupTimeoutMs": 45000,
      "disabledTools": ["n8n_delete_workflow"],
      "required": true
    },
    "docs": {
      "type": "http",
      "url": "https://user:pw@mcp.example.com/v1/mcp?k=${N8N_API_KEY}",
      "headers": {"Authorization": "Bearer ${N8N_API_KEY}"}
    },
    "off": {"disabled": true, "command": "${NOT_SET}"}
  }
}"#,
        &[("N8N_API_KEY", "very-secret-key"), ("VERSION", "")],
    );
    assert_eq!(
        (lines(&config.problems), lines(&config.warnings)),
        (vec![], vec![])
    );
    let [n8n, docs] = config.servers.as_slice() else {
        panic!("{config:?}")
    };
    assert_eq!(n8n.startup_timeout, Duration::from_secs(45));
    assert_eq!(
        (n8n.line, n8n.required, n8n.shown.as_str()),
        (3, true, "npx")
    );
    assert_eq!(n8n.disabled_tools, ["n8n_delete_workflow"]);
    let McpTransport::Stdio { command, args, env } = &n8n.transport else {
        panic!()
    };
    assert_eq!(command.expose(), "npx");
    assert_eq!(
        args.iter().map(Secret::expose).collect::<Vec<_>>(),
        ["-y", "n8n-mcp@latest"]
    );
    assert_eq!(env["N8N_API_KEY"].expose(), "very-secret-key");
    assert_eq!(docs.shown, "https://mcp.example.com/v1/mcp");
    let McpTransport::Http { headers, .. } = &docs.transport else {
        panic!()
    };
    assert_eq!(headers["Authorization"].expose(), "Bearer very-secret-key");
    assert_eq!(
        n8n_urls(&config),
        [("n8n".to_owned(), "http://localhost:5678".to_owned())]
    );
    assert!(n8n.hidden.contains(&"very-secret-key".to_owned()));
    let shown = format!("{:?}", config.servers[0].transport);
    assert!(!shown.contains("very-secret-key"), "{shown}");
}

#[test]
fn everything_that_is_wrong_is_told_at_once_with_its_line() {
    let config = parsed(
        r#"{
  "mcpServers": {
    "a": {"type": "sse", "url": "https://x.example"},
    "b": {"url": "https://x.example"},
    "c": {
      "command": "npx",
      "args": ["${MISSING}"],
      "tokens": 1
    },
    "d": {"type": "http", "url": "ftp://x.example"},
    "e": {"command": "ok", "env": {
      "PORT": 1
    }},
    "f": {},
    "g": {"type": "ws", "url": "ws://x.example"},
    "h": {"type": "streamable-http", "url": "https://x.example/mcp"},
    "h": {"command": "ok"}
  },
  "extra": 1
}"#,
        &[],
    );
    insta::assert_snapshot!(lines(&config.problems).join("\n"), @r#"
    .mcp.json:3: server "a": the transport "sse" was removed from MCP and is not supported; use the server's streamable HTTP address with "type": "http", or a bridge that speaks stdio
    .mcp.json:4: server "b" has a url and no type; add "type": "http"
    .mcp.json:7: server "c": the variable MISSING is not set; set it, or write ${MISSING:-default}
    .mcp.json:10: server "d": `url` must be an http or https address
    .mcp.json:12: server "e": `env.PORT` must be a text; put it in quotes
    .mcp.json:14: server "f" needs a `command` (stdio) or "type": "http" with a `url`
    .mcp.json:15: server "g": unknown type "ws"; use "stdio" or "http"
    .mcp.json:17: the key "h" stands twice; keep one of them
    "#);
    insta::assert_snapshot!(lines(&config.warnings).join("\n"), @r#"
    .mcp.json:8: server "c": unknown key "tokens" is ignored
    .mcp.json:19: unknown key "extra" is ignored
    "#);
}

#[test]
fn what_is_no_json_says_where() {
    let error = parse(
        "{\n  \"mcpServers\": {,}\n}",
        Path::new(".mcp.json"),
        &|_| None,
    )
    .unwrap_err();
    assert!(
        error.to_string().starts_with(".mcp.json:2: not JSON"),
        "{error}"
    );
    assert_eq!(
        lines(&parsed("[]", &[]).problems),
        [".mcp.json:1: expected an object with the key `mcpServers`"]
    );
    assert_eq!(
        lines(&parsed("{}", &[]).problems),
        [".mcp.json:1: the key `mcpServers` is missing"]
    );
}

#[test]
fn no_file_is_no_error() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(
        read(dir.path(), &crate::ServersInForce::all(), &|_| None),
        Ok(None)
    ));
    std::fs::write(dir.path().join(FILE), "{\"mcpServers\": {}}").unwrap();
    assert_eq!(
        read(dir.path(), &crate::ServersInForce::all(), &|_| None).unwrap(),
        Some(McpConfig::default())
    );
}

/// A server in a few lines of shell: says what it is and lists two tools.
#[cfg(unix)]
const SERVER: &str = r#"
echo "starting" >&2
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9][0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1.2"}}}\n' "$id";;
    *'"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"b","inputSchema":{"type":"object"}},{"name":"a","inputSchema":{"type":"object"}}]}}\n' "$id";;
    *'"id"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}\n' "$id";;
  esac
done
"#;

#[cfg(unix)]
fn shell(script: &str, timeout: u64) -> McpServer {
    let text = serde_json::json!({"mcpServers": {"fake": {
        "command": "sh", "args": ["-c", script], "env": {"TOKEN_SHOWN": "${T}"}, "startupTimeoutMs": timeout,
    }}});
    let config = parse(&text.to_string(), Path::new(".mcp.json"), &|name| {
        Some(match name {
            "T" => "very-secret-token".to_owned(),
            // The scripts use the shell's own variables in the same spelling.
            other => format!("${{{other}}}"),
        })
    })
    .unwrap();
    assert_eq!(lines(&config.problems), Vec::<String>::new());
    config.servers.into_iter().next().unwrap()
}

#[cfg(unix)]
#[tokio::test]
async fn a_server_that_answers_is_ready() {
    let statuses = probe_all(&[shell(SERVER, 20_000)]).await;
    let [status] = statuses.as_slice() else {
        panic!("{statuses:?}")
    };
    assert_eq!(
        (
            status.name.as_str(),
            status.transport,
            status.shown.as_str()
        ),
        ("fake", "stdio", "sh")
    );
    assert_eq!(
        status.outcome,
        ProbeOutcome::Ready {
            server: "fake 1.2".into(),
            protocol: "2025-06-18".into(),
            tools: vec!["a".into(), "b".into()],
        }
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_server_that_dies_shows_its_last_words_without_the_secret() {
    let status = probe(&shell(
        "echo \"bad token $TOKEN_SHOWN\" \"ours:$CARGO_MANIFEST_DIR\" >&2; exit 3",
        20_000,
    ))
    .await;
    let ProbeOutcome::Failed(McpError { reason, stderr, .. }) = status.outcome else {
        panic!()
    };
    assert!(
        reason.starts_with("the server did not start a session"),
        "{reason}"
    );
    assert_eq!(
        stderr,
        ["bad token (hidden) ours:"],
        "no variable of ours is handed on"
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_command_that_is_not_there_is_said_so() {
    let mut server = shell("exit 0", 20_000);
    if let McpTransport::Stdio { command, .. } = &mut server.transport {
        *command = Secret::new("no-such-command-anywhere");
    }
    let ProbeOutcome::Failed(McpError { reason, .. }) = probe(&server).await.outcome else {
        panic!()
    };
    assert!(reason.starts_with("cannot start the command"), "{reason}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let status = probe(&shell("while read -r line; do :; done", 300)).await;
    let ProbeOutcome::Failed(McpError { reason, .. }) = status.outcome else {
        panic!()
    };
    assert_eq!(reason, "no answer in 1 s");
}

/// Answers one request with the status and hands back the request's first line.
fn answer_once(status: &'static str) -> (u16, std::thread::JoinHandle<String>) {
    use std::io::{BufRead, BufReader, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut first = String::new();
        BufReader::new(stream.try_clone().unwrap())
            .read_line(&mut first)
            .unwrap();
        write!(
            stream,
            "HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        )
        .unwrap();
        first
    });
    (port, served)
}

#[tokio::test]
async fn health_is_asked_at_healthz() {
    for (status, healthy, detail) in [
        ("200 OK", true, "HTTP 200"),
        ("503 Service Unavailable", false, "HTTP 503"),
        ("302 Found", false, "HTTP 302"),
    ] {
        let (port, served) = answer_once(status);
        let health = n8n_health(&format!(
            "http://user:pw@127.0.0.1:{port}/base/api/v1?key=1"
        ))
        .await;
        assert_eq!(
            health,
            N8nHealth {
                url: format!("http://127.0.0.1:{port}/base/healthz"),
                healthy,
                detail: detail.into()
            }
        );
        assert_eq!(served.join().unwrap(), "GET /base/healthz HTTP/1.1\r\n");
    }
    let nobody = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let health = n8n_health(&format!("http://127.0.0.1:{nobody}")).await;
    assert_eq!(
        (health.healthy, health.detail.as_str()),
        (false, "cannot connect")
    );
    assert!(!n8n_health("no address").await.healthy);
}

#[test]
fn the_last_words_of_a_server_are_those_that_say_something() {
    let failed = |stderr: &str| McpError {
        server: "n8n".into(),
        reason: "ended".into(),
        hint: String::new(),
        stderr: stderr.lines().map(str::to_owned).collect(),
        machine: false,
    };
    let crash = "starting\nconnecting\n/opt/server/index.js:12\n    throw new Error('no database')\n    ^\n\nError: no database\n    at main (index.js:12:3)\n    at node:internal/main:1:1\n\nNode.js v20.11.0";
    assert_eq!(
        failed(crash).last_words(),
        "; its last words: /opt/server/index.js:12 | throw new Error('no database') | Error: no database"
    );
    assert_eq!(failed("  \n}\n").last_words(), "");
    assert_eq!(failed("bye").last_words(), "; its last words: bye");
}
