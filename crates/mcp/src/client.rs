//! One server, connected: it is started when it is first needed and once more when it died. Every wait has a limit. A call is made
//! once: when its answer does not come, that is the outcome, for it may have happened.

use super::child::{LastWords, LinePipe, Reading, Writing};
use super::config::{McpServer, McpTransport};
use super::http::HttpPipe;
use super::npx;
use super::secret::{Hidden, scrub};
use super::wire::{CLOSED, LOST, NOT_SENT, Oddities, Pipe, Wire, WireEye};
use agentctl_host::machine::is_short;
use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, ClientRequest,
    Implementation, ListToolsRequest, PaginatedRequestParams, ProtocolVersion, ServerResult,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RunningService, ServiceError,
};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::pin::pin;
use std::sync::OnceLock;
use std::time::Duration;

/// How long listing all of a server's tools may take.
pub const LIST_LIMIT: Duration = Duration::from_secs(30);
/// How long one call may take.
pub const CALL_LIMIT: Duration = Duration::from_secs(120);
/// How long closing may take.
const CLOSE_LIMIT: Duration = Duration::from_secs(8);
/// How often a start that takes long is told of.
const STILL: Duration = Duration::from_secs(5);
/// How often a server that died is started again.
const RESTARTS: u32 = 1;
const MAX_PAGES: usize = 50;
pub const MAX_TOOLS: usize = 1_000;
/// Of all names, descriptions and schemas of one server.
const MAX_TOOLS_BYTES: usize = 8 * 1024 * 1024;
/// Lines of a server's stderr that are quoted when it fails.
const WORDS: usize = 3;
/// What is quoted of a server's error.
const SHOWN: usize = 500;

/// A tool, as the server describes it: untrusted text.
#[derive(Debug, Clone, PartialEq)]
pub struct McpTool {
    pub name: String,
    pub description: String,
    /// The JSON Schema of its arguments.
    pub schema: Map<String, Value>,
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Called {
    /// `is_error`: the server says that it failed.
    Answer { content: Value, is_error: bool },
    /// It was not made, or the server refused it.
    Failed(String),
    /// No answer: it may have happened.
    Unknown(String),
}

/// The server cannot be used; nothing was called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the MCP server {server:?}: {reason}")]
pub struct McpError {
    pub server: String,
    pub reason: String,
    pub hint: String,
    /// The last lines of its stderr, secrets hidden.
    pub stderr: Vec<String>,
    /// The fault is this machine's: it has no file handles left to start it, or no room.
    pub machine: bool,
}

impl McpError {
    /// `; its last words: …` for the end of a message: the last lines of its stderr that say something. Where it stood in its
    /// code (stack traces, the name of its interpreter) says nothing to its user. Empty when it said nothing.
    pub fn last_words(&self) -> String {
        let says = |line: &&str| {
            line.chars().any(char::is_alphanumeric)
                && !line.starts_with("at ")
                && !line.starts_with("Node.js v")
        };
        let lines: Vec<&str> = self.stderr.iter().map(|line| line.trim()).collect();
        let mut last: Vec<&str> = lines.into_iter().rev().filter(says).take(WORDS).collect();
        last.reverse();
        match last.is_empty() {
            true => String::new(),
            false => format!("; its last words: {}", last.join(" | ")),
        }
    }
}

/// A server that takes its time to start.
#[derive(Debug, Clone, Copy)]
pub struct Starting<'a> {
    pub server: &'a str,
    pub seconds: u64,
    /// How long it is waited for in all.
    pub limit: u64,
    /// A package runner starts it, which fetches it the first time.
    pub fetches: bool,
}

type Tell = Box<dyn Fn(&Starting<'_>) + Send + Sync>;
static TELL: OnceLock<Tell> = OnceLock::new();

/// Who hears of starts that take long, for the whole program; the first one who asks.
pub fn tell_of_starts(tell: impl Fn(&Starting<'_>) + Send + Sync + 'static) {
    let _ = TELL.set(Box::new(tell));
}

/// Reaches a server: called for the first start and for the second.
pub type Dial = Box<dyn FnMut() -> std::io::Result<(Reading, Writing)> + Send>;

enum Source {
    Configured(Box<McpServer>),
    Given(Dial),
}

pub struct McpClient {
    name: String,
    source: Source,
    hidden: Hidden,
    start_limit: Duration,
    enabled_tools: Option<Vec<String>>,
    disabled_tools: Vec<String>,
    live: Option<Live>,
    starts: u32,
}

struct Live {
    service: RunningService<RoleClient, ClientConfig>,
    eye: WireEye,
    server: String,
    protocol: String,
}

/// A start that failed.
struct Failure {
    reason: String,
    hint: &'static str,
    machine: bool,
}

impl McpClient {
    /// Not started yet.
    pub fn new(server: &McpServer) -> Self {
        McpClient {
            name: server.name.clone(),
            source: Source::Configured(Box::new(server.clone())),
            hidden: server.hidden.clone(),
            start_limit: server.startup_timeout,
            enabled_tools: server.enabled_tools.clone(),
            disabled_tools: server.disabled_tools.clone(),
            live: None,
            starts: 0,
        }
    }

    /// A server whose bytes come from somewhere else, for example from the same process.
    pub fn over(name: &str, dial: Dial) -> Self {
        McpClient {
            name: name.to_owned(),
            source: Source::Given(dial),
            hidden: Hidden::default(),
            start_limit: Duration::from_secs(30),
            enabled_tools: None,
            disabled_tools: Vec::new(),
            live: None,
            starts: 0,
        }
    }

    /// Which tools count: as `enabledTools` and `disabledTools` of the file say.
    #[cfg(test)]
    pub(super) fn keep_tools(&mut self, enabled: Option<Vec<String>>, disabled: Vec<String>) {
        self.enabled_tools = enabled;
        self.disabled_tools = disabled;
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The server's own name with its version, and the protocol; None before it was started.
    pub fn identity(&self) -> Option<(&str, &str)> {
        self.live
            .as_ref()
            .map(|live| (live.server.as_str(), live.protocol.as_str()))
    }

    /// What this connection had to skip or refuse.
    pub fn oddities(&self) -> Oddities {
        self.live
            .as_ref()
            .map(|live| live.eye.oddities())
            .unwrap_or_default()
    }

    /// True when the tools must be listed before the next call: nothing was listed on this connection, the server says that
    /// they changed (told once), or the connection is over.
    pub fn take_tools_changed(&mut self) -> bool {
        self.live
            .as_ref()
            .is_none_or(|live| live.eye.take_tools_changed() || live.eye.why_ended().is_some())
    }

    /// True when the connection is over although nobody closed it.
    pub fn died(&self) -> bool {
        self.live
            .as_ref()
            .is_some_and(|live| live.eye.why_ended().is_some())
    }

    /// Starts or reaches the server, unless it is there.
    pub async fn ready(&mut self) -> Result<(), McpError> {
        if let Some(live) = &self.live {
            let Some(why) = live.eye.why_ended() else {
                return Ok(());
            };
            if self.starts > RESTARTS {
                return Err(self.error(
                    why,
                    "it died twice, and is not started again; see its own log",
                    Vec::new(),
                ));
            }
            self.close().await;
        }
        if let Source::Configured(server) = &self.source
            && let Err(refused) = server.may_be_reached()
        {
            return Err(self.error(refused.to_string(), &refused.hint(), Vec::new()));
        }
        self.starts += 1;
        let words = LastWords::default();
        let limit = self.start_limit;
        let installs = match &self.source {
            Source::Configured(server) => npx::folder(server),
            Source::Given(_) => None,
        };
        if let Some(folder) = &installs {
            npx::remove_left(folder);
        }
        let started = {
            let started = pin!(start(&mut self.source, &words));
            let tell = |seconds| {
                let told = Starting {
                    server: &self.name,
                    seconds,
                    limit: limit.as_secs(),
                    fetches: installs.is_some(),
                };
                TELL.get().iter().for_each(|tell| tell(&told));
            };
            within(limit, started, tell).await
        };
        let mut failure = match started {
            Some(Ok(live)) => {
                self.live = Some(live);
                return Ok(());
            }
            Some(Err(failure)) => failure,
            None => Failure {
                reason: format!("no answer in {} s", limit.as_secs_f64().ceil()),
                machine: false,
                hint: "a first start may download the server: run its command once by hand, or raise startupTimeoutMs",
            },
        };
        // It was ended in the middle of its installation, and would fail on what is there of it for ever.
        if installs.is_some_and(|folder| npx::remove(&folder)) {
            failure.hint = "its installation was not done, and what was there of it is removed: run the command again, with a higher startupTimeoutMs where the network is slow";
        }
        let stderr = words.lines(&self.hidden).await;
        Err(McpError {
            machine: failure.machine,
            ..self.error(failure.reason, failure.hint, stderr)
        })
    }

    /// All of its tools, sorted by name; those that the file leaves out are left out.
    pub async fn tools(&mut self) -> Result<Vec<McpTool>, McpError> {
        self.ready().await?;
        let Some(live) = &self.live else {
            return Err(self.error("it is not there".to_owned(), "", Vec::new()));
        };
        let mut eye = live.eye.clone();
        let listed = tokio::select! {
            biased;
            listed = list(&live.service) => listed,
            why = eye.ended() => Err(why),
            () = tokio::time::sleep(LIST_LIMIT) => Err(format!("no list of its tools in {} s", LIST_LIMIT.as_secs())),
        };
        let mut tools = listed.map_err(|why| {
            self.error(
                format!("it did not list its tools: {why}"),
                "check the server's own log",
                Vec::new(),
            )
        })?;
        tools.retain(|tool| {
            let enabled = self.enabled_tools.as_ref();
            enabled.is_none_or(|names| names.contains(&tool.name))
                && !self.disabled_tools.contains(&tool.name)
        });
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(tools)
    }

    /// Makes one call on the connection that is there, once. Never connects: what is called is what was listed.
    pub async fn call(&mut self, tool: &str, arguments: &Map<String, Value>) -> Called {
        let Some(live) = &self.live else {
            return Called::Failed("the server is not connected".to_owned());
        };
        if let Some(why) = live.eye.why_ended() {
            return Called::Failed(self.shown(&why));
        }
        let mut eye = live.eye.clone();
        let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments.clone());
        let called = tokio::select! {
            biased;
            answered = live.service.call_tool_once(request) => outcome(answered, &eye),
            why = eye.ended() => Called::Unknown(why),
            () = tokio::time::sleep(CALL_LIMIT) => Called::Unknown(format!("no answer in {} s", CALL_LIMIT.as_secs())),
        };
        match called {
            Called::Failed(why) => Called::Failed(self.shown(&why)),
            Called::Unknown(why) => Called::Unknown(self.shown(&why)),
            answer => answer,
        }
    }

    /// Ends the connection, and the server with it when it is a child.
    pub async fn close(&mut self) {
        if let Some(mut live) = self.live.take() {
            // Closing is a courtesy; a child that does not end is killed when its pipe is dropped.
            let _ = live.service.close_with_timeout(CLOSE_LIMIT).await;
        }
    }

    fn shown(&self, text: &str) -> String {
        scrub(text, &self.hidden).chars().take(SHOWN).collect()
    }

    fn error(&self, reason: String, hint: &str, stderr: Vec<String>) -> McpError {
        McpError {
            server: self.name.clone(),
            reason: self.shown(&reason),
            hint: hint.to_owned(),
            stderr,
            machine: false,
        }
    }
}

/// The work's end, within this time; it is told how long it takes.
async fn within<T>(
    limit: Duration,
    mut work: std::pin::Pin<&mut impl Future<Output = T>>,
    tell: impl Fn(u64),
) -> Option<T> {
    let began = tokio::time::Instant::now();
    loop {
        let left = limit
            .checked_sub(began.elapsed())
            .filter(|left| !left.is_zero())?;
        if let Ok(done) = tokio::time::timeout(left.min(STILL), work.as_mut()).await {
            return Some(done);
        }
        if left > STILL {
            tell(began.elapsed().as_secs());
        }
    }
}

fn lifecycle() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    }
}

async fn start(source: &mut Source, words: &LastWords) -> Result<Live, Failure> {
    match source {
        Source::Given(dial) => {
            let (reader, writer) = dial().map_err(|e| Failure {
                reason: format!("cannot be reached: {e}"),
                hint: "",
                machine: is_short(&e),
            })?;
            let hint = "its stdout must carry MCP messages only";
            serve(LinePipe::new(reader, writer), hint).await
        }
        Source::Configured(server) => match &server.transport {
            McpTransport::Stdio { command, args, env } => {
                let start = server.start.as_ref();
                let pipe =
                    LinePipe::start(command, args, env, start, words).map_err(|e| Failure {
                        machine: is_short(&e),
                        reason: format!("cannot start the command: {e}"),
                        hint: "install it, or correct `command` in the file; no program is looked for inside the project unless `command` is its path",
                    })?;
                let hint = "its last lines may say why; stdout must carry MCP messages only";
                serve(pipe, hint).await
            }
            McpTransport::Http { url, headers } => {
                let pipe = HttpPipe::new(url, headers).map_err(|reason| Failure {
                    reason,
                    hint: "correct `headers` in the file",
                    machine: false,
                })?;
                let hint = "check the address; it must be a streamable HTTP endpoint";
                serve(pipe, hint).await.map_err(|failure| {
                    let unauthorised = ["HTTP 401", "HTTP 403"]
                        .iter()
                        .any(|status| failure.reason.contains(status));
                    if unauthorised {
                        Failure {
                            hint: "the server wants other credentials: check `headers`",
                            ..failure
                        }
                    } else {
                        failure
                    }
                })
            }
        },
    }
}

async fn serve<P: Pipe>(pipe: P, hint: &'static str) -> Result<Live, Failure> {
    let (wire, eye) = Wire::new(pipe);
    // Nothing is offered to a server: no sampling, no elicitation, no roots.
    let own = ClientConfig::new(
        ClientCapabilities::default(),
        Implementation::new("agentctl", env!("CARGO_PKG_VERSION")),
    );
    let service = own
        .serve_with_lifecycle(wire, lifecycle())
        .await
        .map_err(|e| Failure {
            // That we let go of it is no reason; what it did before is.
            reason: match eye.why_ended().filter(|why| why != CLOSED) {
                Some(why) => format!("the server did not start a session: {why}"),
                None => format!("the server did not start a session: {}", last_word(&e)),
            },
            machine: false,
            hint,
        })?;
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
    Ok(Live {
        service,
        eye,
        server: server.chars().take(120).collect(),
        protocol: protocol.chars().take(40).collect(),
    })
}

/// Both ways to begin were tried: the second one's end says more.
fn last_word(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => last_word(fallback),
        ClientInitializeError::JsonRpcError(error) => error.message.to_string(),
        other => other.to_string(),
    }
}

async fn list(service: &RunningService<RoleClient, ClientConfig>) -> Result<Vec<McpTool>, String> {
    let mut tools: Vec<McpTool> = Vec::new();
    let mut names = HashSet::new();
    let mut cursors = HashSet::new();
    let mut bytes = 0;
    let mut cursor = None;
    loop {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        // Asked directly: rmcp would answer from what it kept.
        let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
        let page = match service.send_request(request).await {
            Ok(ServerResult::ListToolsResult(page)) => page,
            Ok(_) => return Err("the answer is no list of tools".to_owned()),
            Err(e) => return Err(e.to_string()),
        };
        for tool in page.tools {
            let tool = McpTool {
                name: tool.name.into_owned(),
                description: tool.description.map(|d| d.into_owned()).unwrap_or_default(),
                schema: tool.input_schema.as_ref().clone(),
            };
            bytes += tool.name.len() + tool.description.len();
            bytes += Value::Object(tool.schema.clone()).to_string().len();
            if bytes > MAX_TOOLS_BYTES || tools.len() >= MAX_TOOLS {
                return Err(format!(
                    "there are more than {MAX_TOOLS} tools, or more than {} MiB of them",
                    MAX_TOOLS_BYTES / (1024 * 1024)
                ));
            }
            if !names.insert(tool.name.clone()) {
                let name: String = tool.name.chars().take(60).collect();
                return Err(format!("the tool {name:?} is listed twice"));
            }
            tools.push(tool);
        }
        match page.next_cursor {
            None => return Ok(tools),
            Some(next) => {
                if cursors.len() >= MAX_PAGES || !cursors.insert(next.clone()) {
                    return Err("its pages do not come to an end".to_owned());
                }
                cursor = Some(next);
            }
        }
    }
}

fn outcome(answered: Result<CallToolResponse, ServiceError>, eye: &WireEye) -> Called {
    match answered {
        Ok(CallToolResponse::Complete(result)) => {
            let is_error = result.is_error == Some(true);
            match serde_json::to_value(result) {
                Ok(content) => Called::Answer { content, is_error },
                Err(e) => Called::Unknown(format!("the answer cannot be read: {e}")),
            }
        }
        Ok(CallToolResponse::InputRequired(_)) => Called::Failed(
            "the server wants an answer from the user or a model first, which agentctl refuses"
                .to_owned(),
        ),
        Ok(_) => Called::Unknown(
            "the server put the call off and answers later, which agentctl does not wait for"
                .to_owned(),
        ),
        Err(ServiceError::McpError(error)) => match error.code.0 {
            LOST => Called::Unknown(error.message.into_owned()),
            NOT_SENT => Called::Failed(error.message.into_owned()),
            code => Called::Failed(format!("the server refused it ({code}): {}", error.message)),
        },
        Err(error) => Called::Unknown(eye.why_ended().unwrap_or_else(|| error.to_string())),
    }
}
