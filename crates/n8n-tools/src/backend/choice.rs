//! Which n8n a project works on: what was asked for, in the order flag, `agentctl.toml`, `.mcp.json`; and where its address and
//! keys come from. Deciding touches no network and starts nothing; where nothing is asked for, it is the files in the project.

use super::live::{LiveBackend, RestTarget};
use super::{Backend, BackendResult, EmbeddedBackend};
use agentctl_base::plain_http::{PlainHttp, Readable};
use agentctl_mcp::{McpConfig, McpServer, McpTransport, Secret};
use serde::Deserialize;
use std::path::Path;
use std::sync::Arc;

/// What can be asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BackendName {
    /// The n8n server of `.mcp.json` when one is enabled there, else embedded
    #[default]
    Auto,
    /// Files in the project, no n8n
    Embedded,
    /// The npm server n8n-mcp of `.mcp.json`
    N8nMcp,
    /// n8n's own MCP server
    InstanceMcp,
    /// n8n's REST API alone
    Rest,
}

impl BackendName {
    pub fn word(self) -> &'static str {
        match self {
            BackendName::Auto => "auto",
            BackendName::Embedded => "embedded",
            BackendName::N8nMcp => "n8n-mcp",
            BackendName::InstanceMcp => "instance-mcp",
            BackendName::Rest => "rest",
        }
    }
}

/// What a project and its surroundings offer.
pub struct Offered<'a> {
    /// `--backend`.
    pub flag: Option<BackendName>,
    /// `[n8n] backend` of `agentctl.toml`.
    pub settings: Option<BackendName>,
    /// `.mcp.json`; None: there is none.
    pub servers: Option<&'a McpConfig>,
    /// Looks up an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Where the user lets a key go over plain http.
    pub plain_http: &'a PlainHttp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    Embedded,
    N8nMcp {
        server: Box<McpServer>,
        rest: RestTarget,
    },
    InstanceMcp {
        server: Box<McpServer>,
        rest: Option<RestTarget>,
    },
    Rest(RestTarget),
}

/// What was chosen, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    pub target: Target,
    /// E.g. `the server "n8n" of .mcp.json`.
    pub why: String,
}

/// What cannot be had, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ChoiceError {
    pub message: String,
    pub hint: String,
    /// It is there, and a rule of agentctl stands against it.
    pub is_refused: bool,
}

impl From<Readable> for ChoiceError {
    fn from(refused: Readable) -> Self {
        ChoiceError {
            is_refused: true,
            ..ChoiceError::new(refused.to_string(), refused.hint())
        }
    }
}

impl ChoiceError {
    fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        ChoiceError {
            message: message.into(),
            hint: hint.into(),
            is_refused: false,
        }
    }
}

/// Which kind of n8n server an entry of `.mcp.json` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    N8nMcp,
    Instance,
}

/// What the entry starts or reaches counts, not what it is called.
fn kind(server: &McpServer) -> Option<Kind> {
    match &server.transport {
        McpTransport::Stdio { command, args, env } => {
            let words = std::iter::once(command).chain(args);
            let package = words.map(Secret::expose).any(|word| {
                word.split(['/', '\\'])
                    .any(|part| part == "n8n-mcp" || part.starts_with("n8n-mcp@"))
            });
            (package && env.contains_key("N8N_API_KEY")).then_some(Kind::N8nMcp)
        }
        McpTransport::Http { url, .. } => {
            let url = url::Url::parse(url.expose()).ok()?;
            let path = url.path().trim_end_matches('/');
            path.ends_with("/mcp-server/http").then_some(Kind::Instance)
        }
    }
}

/// Whether an entry of `.mcp.json` starts an n8n-mcp that is not the backend of the project, so that nothing needs it.
pub fn is_idle(server: &McpServer, choice: &Choice) -> bool {
    let is_backend = match &choice.target {
        Target::N8nMcp { server: chosen, .. } => chosen.name == server.name,
        _ => false,
    };
    kind(server) == Some(Kind::N8nMcp) && !is_backend
}

impl Target {
    pub fn name(&self) -> BackendName {
        match self {
            Target::Embedded => BackendName::Embedded,
            Target::N8nMcp { .. } => BackendName::N8nMcp,
            Target::InstanceMcp { .. } => BackendName::InstanceMcp,
            Target::Rest(_) => BackendName::Rest,
        }
    }

    /// Makes the backend; nothing is reached or started before its first use.
    pub fn open(&self, project: &Path) -> BackendResult<Arc<dyn Backend>> {
        Ok(match self {
            Target::Embedded => Arc::new(EmbeddedBackend::new(project)?),
            Target::N8nMcp { server, rest } => Arc::new(LiveBackend::n8n_mcp(server, rest)?),
            Target::InstanceMcp { server, rest } => {
                Arc::new(LiveBackend::instance_mcp(server, rest.as_ref())?)
            }
            Target::Rest(rest) => Arc::new(LiveBackend::rest(rest)?),
        })
    }
}

/// The backend of a project. An n8n that was asked for and cannot be had is an error, never silently the files; so is one to which
/// a key would go readable for others.
pub fn choose(offered: &Offered<'_>) -> Result<Choice, ChoiceError> {
    reachable(chosen(offered)?, offered.plain_http)
}

/// An n8n that was named, over its REST API.
pub fn choose_rest(
    url: String,
    key: Secret,
    why: String,
    plain_http: &PlainHttp,
) -> Result<Choice, ChoiceError> {
    let target = Target::Rest(RestTarget {
        url,
        key,
        plain_http: PlainHttp::default(),
    });
    reachable(Choice { target, why }, plain_http)
}

/// Where the user lets its keys go.
fn reachable(mut choice: Choice, plain_http: &PlainHttp) -> Result<Choice, ChoiceError> {
    let (server, rest) = match &mut choice.target {
        Target::Embedded => (None, None),
        Target::N8nMcp { server, rest } => (Some(server), Some(rest)),
        Target::InstanceMcp { server, rest } => (Some(server), rest.as_mut()),
        Target::Rest(rest) => (None, Some(rest)),
    };
    if let Some(server) = server {
        **server = (**server).clone().with_plain_http(plain_http);
        server.may_be_reached()?;
    }
    if let Some(rest) = rest {
        rest.plain_http = plain_http.clone();
        // What is no address is told when it is opened.
        if let Ok(url) = url::Url::parse(rest.url.trim()) {
            plain_http.check("the API key of n8n", &url)?;
        }
    }
    Ok(choice)
}

fn chosen(offered: &Offered<'_>) -> Result<Choice, ChoiceError> {
    let (asked, by) = match (offered.flag, offered.settings) {
        (Some(name), _) => (name, format!("--backend {}", name.word())),
        (None, Some(name)) => (
            name,
            format!("backend = {:?} in agentctl.toml", name.word()),
        ),
        (None, None) => (BackendName::Auto, String::new()),
    };
    let found = |target, why: String| Ok(Choice { target, why });
    match asked {
        BackendName::Embedded => found(Target::Embedded, by),
        BackendName::Rest => {
            let rest = rest(offered, None).ok_or_else(|| {
                ChoiceError::new(
                    format!("{by} needs an n8n and a key"),
                    "set N8N_API_URL (e.g. http://localhost:5678) and N8N_API_KEY (n8n: Settings → n8n API)",
                )
            })?;
            found(Target::Rest(rest), by)
        }
        BackendName::N8nMcp => {
            let server = first(offered, Kind::N8nMcp).ok_or_else(|| {
                missing(offered, &format!("{by}: .mcp.json has no enabled server that starts n8n-mcp with an N8N_API_KEY"))
            })?;
            found(with_n8n_mcp(offered, server)?, by)
        }
        BackendName::InstanceMcp => {
            let server = first(offered, Kind::Instance).cloned();
            let server = server.or_else(|| of_environment(offered)).ok_or_else(|| {
                missing(offered, &format!("{by}: neither .mcp.json nor N8N_MCP_URL and N8N_MCP_TOKEN name n8n's MCP server"))
            })?;
            found(with_instance(offered, server), by)
        }
        BackendName::Auto => automatic(offered),
    }
}

fn automatic(offered: &Offered<'_>) -> Result<Choice, ChoiceError> {
    let Some(servers) = offered.servers else {
        return Ok(Choice {
            target: Target::Embedded,
            why: "no .mcp.json names an n8n".to_owned(),
        });
    };
    for server in &servers.servers {
        let target = match kind(server) {
            None => continue,
            Some(Kind::N8nMcp) => with_n8n_mcp(offered, server)?,
            Some(Kind::Instance) => with_instance(offered, server.clone()),
        };
        let why = format!("the server {:?} of .mcp.json", server.name);
        return Ok(Choice { target, why });
    }
    // One that is meant for n8n and cannot be used must not turn a change of n8n into a file.
    if let Some(name) = servers.unusable.iter().find(|name| name.contains("n8n")) {
        return Err(missing(
            offered,
            &format!("the server {name:?} of .mcp.json cannot be used"),
        ));
    }
    Ok(Choice {
        target: Target::Embedded,
        why: "no enabled server of .mcp.json is an n8n".to_owned(),
    })
}

/// With what is wrong in the file, since that may be why.
fn missing(offered: &Offered<'_>, message: &str) -> ChoiceError {
    let problem = offered.servers.and_then(|servers| servers.problems.first());
    match problem {
        Some(problem) => ChoiceError::new(
            format!("{message}: {problem}"),
            "mend it, or go on without n8n: --backend embedded",
        ),
        None => ChoiceError::new(
            message,
            "compare .mcp.json with .mcp.json.example (agentctl init writes it), or go on without n8n: --backend embedded",
        ),
    }
}

fn first<'a>(offered: &Offered<'a>, wanted: Kind) -> Option<&'a McpServer> {
    let servers = &offered.servers?.servers;
    servers.iter().find(|server| kind(server) == Some(wanted))
}

fn with_n8n_mcp(offered: &Offered<'_>, server: &McpServer) -> Result<Target, ChoiceError> {
    let rest = rest(offered, Some(server)).ok_or_else(|| {
        ChoiceError::new(
            format!(
                "the server {:?} of .mcp.json is given no N8N_API_URL or no N8N_API_KEY",
                server.name
            ),
            "write both into its `env`",
        )
    })?;
    Ok(Target::N8nMcp {
        server: Box::new(server.clone()),
        rest,
    })
}

/// REST goes along only when it is the same n8n: the key belongs to one.
fn with_instance(offered: &Offered<'_>, server: McpServer) -> Target {
    let place = |url: &str| url::Url::parse(url).ok().map(|url| url.origin());
    let own = match &server.transport {
        McpTransport::Http { url, .. } => place(url.expose()),
        McpTransport::Stdio { .. } => None,
    };
    let rest = rest(offered, first(offered, Kind::N8nMcp));
    let rest = rest.filter(|rest| own.is_some() && place(&rest.url) == own);
    Target::InstanceMcp {
        server: Box::new(server),
        rest,
    }
}

/// The address and the key: the server's own, else the environment's. Never one of each.
fn rest(offered: &Offered<'_>, server: Option<&McpServer>) -> Option<RestTarget> {
    if let Some(McpTransport::Stdio { env, .. }) = server.map(|server| &server.transport) {
        let url = env.get("N8N_API_URL")?.expose().trim();
        let key = env.get("N8N_API_KEY")?;
        let whole = !url.is_empty() && !key.expose().trim().is_empty();
        return whole.then(|| RestTarget {
            url: url.to_owned(),
            key: key.clone(),
            plain_http: PlainHttp::default(),
        });
    }
    let set = |name: &str| (offered.variable)(name).filter(|value| !value.trim().is_empty());
    Some(RestTarget {
        url: set("N8N_API_URL")?,
        key: Secret::new(set("N8N_API_KEY")?),
        plain_http: PlainHttp::default(),
    })
}

fn of_environment(offered: &Offered<'_>) -> Option<McpServer> {
    let set = |name: &str| (offered.variable)(name).filter(|value| !value.trim().is_empty());
    let bearer = format!("Bearer {}", set("N8N_MCP_TOKEN")?.trim());
    let url = set("N8N_MCP_URL")?;
    Some(McpServer::over_http(
        "n8n",
        url.trim(),
        "Authorization",
        bearer,
    ))
}
