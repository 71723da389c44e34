//! Starts or reaches a server, asks for its tools, and lets go of it: what `doctor` shows.
//! A child gets only the variables it is given and the few that any program needs.

use super::config::{McpServer, McpTransport};
use super::secret::Secret;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::RoleClient;
use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RunningService};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use std::collections::HashMap;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::ChildStderr;
use tokio::task::JoinHandle;

/// What is kept of a server's stderr.
const TAIL_LINES: usize = 12;
const TAIL_LINE_CHARS: usize = 300;
/// After the tools were listed (or not): how long closing may take.
const CLOSE: Duration = Duration::from_secs(4);
/// After a failure: how long its stderr may still be read.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Variables that programs need to start at all. Nothing else of our environment is handed on.
const PASSED_ON: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "TMP",
    "TEMP",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "SYSTEMROOT",
    "COMSPEC",
    "PATHEXT",
    "APPDATA",
    "LOCALAPPDATA",
    "USERPROFILE",
    "PROGRAMFILES",
    "WINDIR",
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProbeOutcome {
    Ready {
        /// The server's own name and version.
        server: String,
        protocol: String,
        /// Sorted.
        tools: Vec<String>,
    },
    Failed {
        reason: String,
        hint: String,
        /// The last lines of its stderr, secrets hidden.
        stderr: Vec<String>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerStatus {
    pub name: String,
    /// `stdio` or `http`.
    pub transport: &'static str,
    /// The command or address as the file has it.
    pub shown: String,
    pub required: bool,
    pub outcome: ProbeOutcome,
}

/// All of them at once; the answers in the file's order.
pub async fn probe_all(servers: &[McpServer]) -> Vec<ServerStatus> {
    let mut tasks = tokio::task::JoinSet::new();
    for (i, server) in servers.iter().cloned().enumerate() {
        tasks.spawn(async move { (i, probe(&server).await) });
    }
    let mut done: Vec<(usize, ServerStatus)> = Vec::new();
    while let Some(joined) = tasks.join_next().await {
        // A probe that panicked is a server without a status: the caller sees that one is missing.
        if let Ok(status) = joined {
            done.push(status);
        }
    }
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, status)| status).collect()
}

/// Never longer than the server's startup timeout and a few seconds to close.
pub async fn probe(server: &McpServer) -> ServerStatus {
    let tail = Tail::default();
    let asked = tokio::time::timeout(server.startup_timeout, ask(server, &tail)).await;
    let secrets = &server.hidden;
    let outcome = match asked {
        Ok(Ok(ready)) => ready,
        Ok(Err(Failure { reason, hint })) => ProbeOutcome::Failed {
            reason: scrub(&reason, secrets),
            hint,
            stderr: tail.lines(secrets).await,
        },
        Err(_) => ProbeOutcome::Failed {
            reason: format!(
                "no answer in {} s",
                server.startup_timeout.as_secs_f64().ceil()
            ),
            hint: "a first start may download the server: run its command once by hand, or raise startupTimeoutMs"
                .to_owned(),
            stderr: tail.lines(secrets).await,
        },
    };
    ServerStatus {
        name: server.name.clone(),
        transport: match server.transport {
            McpTransport::Stdio { .. } => "stdio",
            McpTransport::Http { .. } => "http",
        },
        shown: server.shown.clone(),
        required: server.required,
        outcome,
    }
}

struct Failure {
    reason: String,
    hint: String,
}

fn lifecycle() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    }
}

async fn ask(server: &McpServer, tail: &Tail) -> Result<ProbeOutcome, Failure> {
    match &server.transport {
        McpTransport::Stdio { command, args, env } => {
            let mut child = tokio::process::Command::new(command.expose());
            child
                .args(args.iter().map(Secret::expose))
                .env_clear()
                .envs(PASSED_ON.iter().filter_map(|name| {
                    let value = std::env::var_os(name)?;
                    Some((name, value))
                }))
                .envs(env.iter().map(|(name, value)| (name, value.expose())));
            let (transport, stderr) = TokioChildProcess::builder(child)
                .stderr(Stdio::piped())
                .spawn()
                .map_err(|e| Failure {
                    reason: format!("cannot start the command: {e}"),
                    hint: "install it, or correct `command` in the file".to_owned(),
                })?;
            if let Some(stderr) = stderr {
                tail.follow(stderr);
            }
            let service =
                ().serve_with_lifecycle(transport, lifecycle())
                    .await
                    .map_err(|e| Failure {
                        reason: format!("the server did not start a session: {e}"),
                        hint: "its last lines may say why; stdout must carry MCP messages only"
                            .to_owned(),
                    })?;
            listed(service).await
        }
        McpTransport::Http { url, headers } => {
            let mut custom = HashMap::new();
            for (name, value) in headers {
                let pair = (
                    HeaderName::try_from(name.as_str()),
                    HeaderValue::try_from(value.expose()),
                );
                let (Ok(name), Ok(mut value)) = pair else {
                    return Err(Failure {
                        reason: format!("the header {name:?} is not one that HTTP can carry"),
                        hint: "correct `headers` in the file".to_owned(),
                    });
                };
                value.set_sensitive(true);
                custom.insert(name, value);
            }
            let config =
                StreamableHttpClientTransportConfig::with_uri(url.expose()).custom_headers(custom);
            let transport = StreamableHttpClientTransport::from_config(config);
            let service =
                ().serve_with_lifecycle(transport, lifecycle())
                    .await
                    .map_err(|e| {
                        let unauthorised =
                            e.to_string().contains("401") || e.to_string().contains("403");
                        Failure {
                            reason: format!("the server did not start a session: {e}"),
                            hint: if unauthorised {
                                "the server wants other credentials: check `headers`".to_owned()
                            } else {
                                "check the address; it must be a streamable HTTP endpoint"
                                    .to_owned()
                            },
                        }
                    })?;
            listed(service).await
        }
    }
}

async fn listed(mut service: RunningService<RoleClient, ()>) -> Result<ProbeOutcome, Failure> {
    let (server, protocol) = match service.peer_info() {
        Some(info) => (
            info.server_info.as_ref().map_or_else(
                || "(unnamed)".to_owned(),
                |own| format!("{} {}", own.name, own.version),
            ),
            info.protocol_version.to_string(),
        ),
        None => ("(unnamed)".to_owned(), "(unknown)".to_owned()),
    };
    let tools = service.list_all_tools().await;
    // Closing is a courtesy; what was learned does not depend on it.
    let _ = tokio::time::timeout(CLOSE, service.close()).await;
    let mut tools: Vec<String> = tools
        .map_err(|e| Failure {
            reason: format!("the server did not list its tools: {e}"),
            hint: "check the server's own log".to_owned(),
        })?
        .into_iter()
        .map(|tool| tool.name.to_string())
        .collect();
    tools.sort();
    Ok(ProbeOutcome::Ready {
        server,
        protocol,
        tools,
    })
}

/// The last lines of a child's stderr, read while it runs so that it never blocks on a full pipe.
#[derive(Debug, Default)]
struct Tail {
    kept: Arc<Mutex<Vec<String>>>,
    reader: Mutex<Option<JoinHandle<()>>>,
}

impl Tail {
    fn follow(&self, stderr: ChildStderr) {
        let kept = self.kept.clone();
        let reader = tokio::spawn(async move {
            let mut lines = BufReader::new(stderr).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                if kept.len() >= TAIL_LINES {
                    kept.remove(0);
                }
                kept.push(line.chars().take(TAIL_LINE_CHARS).collect());
            }
        });
        *self.reader.lock().unwrap_or_else(PoisonError::into_inner) = Some(reader);
    }

    /// What it said until it ended, or until the wait for its end is over.
    async fn lines(&self, secrets: &[String]) -> Vec<String> {
        let reader = self
            .reader
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(reader) = reader {
            // A child that does not end has said enough.
            let _ = tokio::time::timeout(LAST_WORDS, reader).await;
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().map(|line| scrub(line, secrets)).collect()
    }
}

fn scrub(text: &str, secrets: &[String]) -> String {
    let mut out: String = text
        .chars()
        .map(|c| if c.is_control() && c != '\t' { ' ' } else { c })
        .collect();
    for secret in secrets {
        if out.contains(secret.as_str()) {
            out = out.replace(secret.as_str(), "(hidden)");
        }
    }
    out
}
