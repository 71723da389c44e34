//! What an entry of `.mcp.json` is once it is read: a server, how it is reached, and what is wrong with the file.

use super::ground::Start;
use super::secret::{Hidden, Secret};
use super::written::Written;
use agentctl_base::plain_http::PlainHttp;
use agentctl_host::machine::is_at_fault;
use indexmap::IndexMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// A first start may have to download the server.
pub(super) const STARTUP_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpTransport {
    Stdio {
        command: Secret,
        args: Vec<Secret>,
        env: IndexMap<String, Secret>,
    },
    Http {
        url: Secret,
        headers: IndexMap<String, Secret>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    pub name: String,
    pub transport: McpTransport,
    /// As the file has them, before variables were filled in: safe to show.
    pub shown: String,
    pub startup_timeout: Duration,
    /// None: all of the server's tools.
    pub enabled_tools: Option<Vec<String>>,
    pub disabled_tools: Vec<String>,
    /// A run cannot go on without it.
    pub required: bool,
    pub line: usize,
    /// What no message may hold, longest first.
    pub(super) hidden: Hidden,
    /// Where it starts; None: where agentctl itself runs.
    pub(super) start: Option<Start>,
    /// The command line as the file has it: what it says, and not what variables fill in, decides where it starts.
    pub(super) written: Written,
    /// The folder that the entry names.
    pub(super) cwd: Option<String>,
    /// What of it would be a key on its way, e.g. `the header Authorization`; None: nothing.
    pub(super) key: Option<String>,
    /// Where the user lets a key go over plain http.
    pub(super) plain_http: PlainHttp,
}

impl McpServer {
    /// A server that no file names.
    pub fn over_http(name: &str, url: &str, header: &str, value: String) -> Self {
        let transport = McpTransport::Http {
            url: Secret::new(url),
            headers: IndexMap::from_iter([(header.to_owned(), Secret::new(value))]),
        };
        McpServer {
            name: name.to_owned(),
            hidden: hidden(&transport, &[]),
            transport,
            shown: name.to_owned(),
            startup_timeout: STARTUP_TIMEOUT,
            enabled_tools: None,
            disabled_tools: Vec::new(),
            required: false,
            line: 0,
            start: None,
            written: Written::default(),
            cwd: None,
            key: Some(format!("the header {header}")),
            plain_http: PlainHttp::default(),
        }
    }

    /// Sets a variable of a server that is a program.
    pub fn set_variable(&mut self, name: &str, value: String) {
        if let McpTransport::Stdio { env, .. } = &mut self.transport {
            env.insert(name.to_owned(), Secret::new(value));
        }
    }

    /// Keeps a variable from a server that is a program.
    pub fn drop_variable(&mut self, name: &str) {
        if let McpTransport::Stdio { env, .. } = &mut self.transport {
            env.shift_remove(name);
        }
    }
}

/// Something to say about a place of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub file: PathBuf,
    pub line: usize,
    pub message: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file.display(), self.line, self.message)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct McpConfig {
    pub servers: Vec<McpServer>,
    /// Servers with `"disabled": true`, by name; nothing else of them was read.
    pub disabled: Vec<String>,
    /// Servers that the user has not trusted, by name, with what is shown of each; no variable was looked up for them.
    pub withheld: Vec<(String, String)>,
    /// Servers that cannot be used, by name; `problems` says why.
    pub unusable: Vec<String>,
    pub problems: Vec<Note>,
    pub warnings: Vec<Note>,
}

impl McpConfig {
    /// What no output may hold.
    pub fn secrets(&self) -> Vec<String> {
        let hidden = self.servers.iter().flat_map(|server| server.hidden.iter());
        hidden.cloned().collect()
    }
}

#[derive(Debug, thiserror::Error)]
pub enum McpConfigError {
    #[error("cannot read {}: {source}", path.display())]
    Io {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{0}")]
    NotJson(Note),
}

impl McpConfigError {
    /// The file could not be read for want of something of the machine's, whatever stands in it.
    pub fn is_machine(&self) -> bool {
        match self {
            McpConfigError::Io { source, .. } => is_at_fault(source),
            McpConfigError::NotJson(_) => false,
        }
    }
}

/// Values that could be secrets: what variables gave (plain addresses excepted), the environment's by their names, every header,
/// and what an argument says behind its `=`.
pub(super) fn hidden(transport: &McpTransport, filled: &[String]) -> Hidden {
    let plain_address = |value: &str| {
        reqwest::Url::parse(value)
            .is_ok_and(|url| url.has_host() && url.username().is_empty() && url.query().is_none())
    };
    let mut all: Vec<String> = filled
        .iter()
        .filter(|value| !plain_address(value))
        .cloned()
        .collect();
    match transport {
        McpTransport::Stdio { args, env, .. } => {
            let named = env.iter().filter(|(name, _)| {
                let name = name.to_ascii_uppercase();
                [
                    "KEY",
                    "TOKEN",
                    "SECRET",
                    "PASS",
                    "AUTH",
                    "CREDENTIAL",
                    "BEARER",
                ]
                .iter()
                .any(|word| name.contains(word))
            });
            all.extend(named.map(|(_, value)| value.expose().to_owned()));
            let said = args.iter().filter_map(|arg| arg.expose().split_once('='));
            all.extend(said.map(|(_, value)| value.to_owned()));
        }
        McpTransport::Http { url, headers } => {
            for value in headers.values() {
                // A scheme in front is no part of the secret: of `Bearer abc`, `abc` is hidden too.
                all.extend(value.expose().rsplit(' ').next().map(str::to_owned));
                all.push(value.expose().to_owned());
            }
            if !plain_address(url.expose()) {
                all.push(url.expose().to_owned());
            }
        }
    }
    Hidden::of(all)
}
