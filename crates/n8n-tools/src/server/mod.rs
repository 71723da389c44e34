//! A throw-away n8n for development: installed from npm once for each user, started for one project, on the loopback interface.
//! Owns that n8n's folder, process and keys. It stops no process but the one that it started, never prints a key, and asks
//! nothing of an n8n that it did not start.

mod account;
mod folder;
mod install;
mod instance;
mod keys;
mod mcp_file;
pub mod published;
mod recipe;

pub use account::session_cookie;
pub use agentctl_host::process::Identity;
pub use folder::{Cache, Folder};
pub use instance::{Down, Server, Started, State, UpOptions, down, status, up};
pub use keys::Keys;
pub use mcp_file::with_servers;
pub use recipe::N8N_VERSION;

use agentctl_host::files::FileError;
use std::path::PathBuf;

/// What is being done; told as it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// This machine's Node.js is too old for n8n, or there is none.
    FetchNode {
        package: String,
    },
    /// Some minutes, once for each user and version.
    Install {
        version: String,
    },
    /// The installation that is there lacks what a node needs, and npm cannot fetch it.
    Unmended {
        why: String,
    },
    /// The step before takes its time.
    Still {
        seconds: u64,
    },
    Start {
        port: u16,
    },
    /// The owner and the keys are being made.
    Keys,
}

/// Hears the steps.
pub type Tell<'a> = &'a mut (dyn FnMut(Step) + Send);

#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error("npm is missing: n8n is installed with it")]
    NoNpm,
    #[error(
        "this platform has no Node.js package on npm ({os}, {arch}), and the Node.js here is older than {needed}"
    )]
    NoNode {
        os: &'static str,
        arch: &'static str,
        needed: String,
    },
    #[error("no folder for downloads is known: neither XDG_CACHE_HOME nor HOME is set")]
    NoCache,
    #[error("npm cannot reach its registry while installing {what}:\n{tail}")]
    NoNetwork { what: String, tail: String },
    #[error("npm did not install {what}:\n{tail}")]
    Install { what: String, tail: String },
    #[error("{} is full: npm could not write {what}", place.display())]
    Full { what: String, place: PathBuf },
    #[error("another agentctl works on {}", place.display())]
    Busy { place: PathBuf },
    #[error("port {port} is taken")]
    PortTaken { port: u16, free: Option<u16> },
    #[error("no two free ports are left from {from} on")]
    NoPort { from: u16 },
    #[error("n8n ended while it was starting ({status}):\n{tail}")]
    Died { status: String, tail: String },
    #[error("n8n was not ready after {seconds} s:\n{tail}")]
    NotReady { seconds: u64, tail: String },
    #[error("the n8n here is {there}, not {wanted}")]
    OtherRelease { there: String, wanted: String },
    #[error("n8n's process {pid} does not end")]
    DoesNotEnd { pid: u32 },
    #[error("n8n refused {doing}: {why}")]
    Account { doing: &'static str, why: String },
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        doing: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{} cannot be read: {reason}", path.display())]
    Broken { path: PathBuf, reason: String },
    #[error("{} is a link; the development n8n keeps its data in a folder of its own", path.display())]
    Linked { path: PathBuf },
    #[error(transparent)]
    Store(#[from] FileError),
}

impl ServerError {
    fn io(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| ServerError::Io {
            doing,
            path,
            source,
        }
    }

    /// What to do next.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            ServerError::NoNpm => "install Node.js 22.16 or newer, which brings npm (nodejs.org)".to_owned(),
            ServerError::NoNode { needed, .. } => format!("install Node.js {needed} or newer"),
            ServerError::NoCache => "say where: --cache DIR".to_owned(),
            ServerError::NoNetwork { .. } => {
                "check the network, HTTPS_PROXY and npm's registry (`npm config get registry`), then run `agentctl n8n up` again".to_owned()
            }
            ServerError::Install { .. } => {
                "run `agentctl n8n up` again; what failed is removed first. Native modules may need a C++ compiler, make and python3".to_owned()
            }
            ServerError::Full { .. } => "make room (about 3 GB), or name another folder: --cache DIR".to_owned(),
            ServerError::Busy { .. } => "wait until it is done".to_owned(),
            ServerError::PortTaken { free: Some(port), .. } => format!("this one is free: --port {port}"),
            ServerError::PortTaken { .. } | ServerError::NoPort { .. } => "name another one: --port N (n8n also uses the port after it)".to_owned(),
            ServerError::Died { .. } => "`agentctl n8n down --delete` forgets its data; then `agentctl n8n up` starts afresh".to_owned(),
            ServerError::NotReady { .. } => "give it longer with --wait SECONDS".to_owned(),
            ServerError::OtherRelease { .. } => "--data DIR starts another one beside it; `agentctl n8n down --delete` forgets this one and its data".to_owned(),
            ServerError::DoesNotEnd { .. } => "it may hang in the kernel; look at it with ps".to_owned(),
            ServerError::Account { .. } => "`agentctl n8n down --delete` forgets this n8n's data and keys; then `agentctl n8n up` makes new ones".to_owned(),
            ServerError::Broken { .. } => "remove the file, or `agentctl n8n down --delete`".to_owned(),
            ServerError::Linked { .. } => "put a real folder there, or name another one: --data DIR".to_owned(),
            ServerError::Io { .. } | ServerError::Store(_) => return None,
        })
    }

    /// Whether it is n8n that is not there, and not what installs or starts it.
    pub fn is_unavailable(&self) -> bool {
        matches!(
            self,
            ServerError::Died { .. } | ServerError::NotReady { .. } | ServerError::Account { .. }
        )
    }
}

#[cfg(test)]
mod n8n_server_tests;
