//! The node descriptions of an n8n release, without an n8n: out of the installation that `agentctl n8n up` made, or of the two
//! packages that hold n8n's nodes, by name and version. Nothing of a package is started, and nothing of it is written anywhere.

use super::ServerError;
use super::folder::Cache;
use agentctl_host::family::Family;
use agentctl_host::files::read_regular;
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;

/// The packages that hold n8n's own nodes.
const PACKAGES: [&str; 2] = ["n8n-nodes-base", "@n8n/n8n-nodes-langchain"];
/// What of a package describes its nodes; the first names the package that the others are of.
const FILES: [&str; 3] = [
    "package.json",
    "dist/types/nodes.json",
    "dist/types/credentials.json",
];
/// n8n's largest list is some 20 MB.
const LARGEST: u64 = 256 * 1024 * 1024;
const PATIENCE: Duration = Duration::from_secs(300);

/// Files of node descriptions, each with the name of its source.
pub type Descriptions = Vec<(String, Vec<u8>)>;

/// Whether this can be the name of a release: it becomes part of what npm is asked for.
pub fn is_release(text: &str) -> bool {
    text.len() <= 40
        && text.starts_with(|c: char| c.is_ascii_digit())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-'))
}

/// Those of the release, where `agentctl n8n up` installed it.
pub fn of_installation(cache: &Cache, release: &str) -> Option<Descriptions> {
    if !is_release(release) || !super::install::is_there(cache, release) {
        return None;
    }
    let modules = cache.app(release).join("node_modules");
    let mut found = Vec::new();
    for package in PACKAGES {
        for file in FILES {
            let path = modules.join(package).join(file);
            let bytes = read_regular(&path, LARGEST).ok()?;
            found.push((path.display().to_string(), bytes));
        }
    }
    Some(found)
}

/// Those of any release, from npm.
pub async fn from_npm(release: &str) -> Result<Descriptions, ServerError> {
    let folder = tempfile::tempdir().map_err(ServerError::io("make", std::env::temp_dir()))?;
    let here = folder.path();
    let n8n = format!("n8n@{release}");
    let told = npm(here, &["view", &n8n, "dependencies", "--json"], &n8n).await?;
    let needs: Value = serde_json::from_slice(&told).unwrap_or_default();
    let mut wanted = Vec::new();
    for package in PACKAGES {
        let version = needs.get(package).and_then(Value::as_str);
        let version = version.filter(|version| is_release(version));
        let version = version.ok_or_else(|| ServerError::Install {
            what: n8n.clone(),
            tail: format!("npm does not say which {package} it is made with"),
        })?;
        wanted.push(format!("{package}@{version}"));
    }
    let mut found = Vec::new();
    for package in &wanted {
        let file = fetched(here, package).await?;
        for part in FILES {
            let bytes = unpacked(here, &file, part, package).await?;
            found.push((format!("{package} {part}"), bytes));
        }
    }
    Ok(found)
}

/// Puts a package (`NAME@VERSION`) where the installation has another version of it. One package takes seconds, an installation a
/// quarter of an hour.
pub(super) async fn exchange(app: &Path, (name, version): (&str, &str)) -> Result<(), ServerError> {
    let place = app.join("node_modules").join(name);
    let there = read_regular(&place.join("package.json"), LARGEST).ok();
    let there: Value = there.map_or(Value::Null, |bytes| {
        serde_json::from_slice(&bytes).unwrap_or_default()
    });
    if there.get("version").and_then(Value::as_str) == Some(version) {
        return Ok(());
    }
    let folder = tempfile::tempdir_in(app).map_err(ServerError::io("make a folder in", app))?;
    let (here, package) = (folder.path(), format!("{name}@{version}"));
    let file = fetched(here, &package).await?;
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(&file);
    output(tar, here, &package).await?;
    match std::fs::remove_dir_all(&place) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            return Err(ServerError::io("remove", &place)(e));
        }
        _ => {}
    }
    std::fs::rename(here.join("package"), &place).map_err(ServerError::io("write", &place))
}

/// The file of a package that npm fetches into the folder, checked by its hash there.
async fn fetched(folder: &Path, package: &str) -> Result<String, ServerError> {
    let said = npm(folder, &["pack", package, "--json"], package).await?;
    let packed: Value = serde_json::from_slice(&said).unwrap_or_default();
    let file = packed.pointer("/0/filename").and_then(Value::as_str);
    // npm names files of a scope by their package in some releases, and by what it wrote in others.
    let file = file.map(|name| name.trim_start_matches('@').replace('/', "-"));
    let file = file.filter(|name| folder.join(name).is_file());
    file.ok_or_else(|| ServerError::Install {
        what: package.to_owned(),
        tail: "npm did not say what it fetched".to_owned(),
    })
}

async fn npm(folder: &Path, arguments: &[&str], what: &str) -> Result<Vec<u8>, ServerError> {
    let mut npm = Command::new("npm");
    npm.args(arguments).args([
        "--no-update-notifier",
        "--loglevel=error",
        "--fetch-retries=3",
    ]);
    output(npm, folder, what).await
}

/// One file out of a package, to the pipe and to no disk.
async fn unpacked(
    folder: &Path,
    archive: &str,
    part: &str,
    what: &str,
) -> Result<Vec<u8>, ServerError> {
    let mut tar = Command::new("tar");
    tar.arg("-xzOf").arg(archive).arg(format!("package/{part}"));
    output(tar, folder, what).await
}

/// What a program prints; it is ended, with all that it started, when it takes too long.
async fn output(mut command: Command, folder: &Path, what: &str) -> Result<Vec<u8>, ServerError> {
    let program = command
        .as_std()
        .get_program()
        .to_string_lossy()
        .into_owned();
    let child = command
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn();
    let child = match child {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound && program == "npm" => {
            return Err(ServerError::NoNpm);
        }
        other => other.map_err(|source| ServerError::Io {
            doing: "start",
            path: program.clone().into(),
            source,
        })?,
    };
    let family = child.id().map(Family::of);
    let waited = tokio::time::timeout(PATIENCE, child.wait_with_output()).await;
    let Ok(output) = waited else {
        return Err(ServerError::Install {
            what: what.to_owned(),
            tail: format!("{program} was not done after {} s", PATIENCE.as_secs()),
        });
    };
    family.into_iter().for_each(Family::let_go);
    let output = output.map_err(ServerError::io("wait for npm in", folder))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<String> = said
        .lines()
        .filter(|line| !line.trim().is_empty())
        .take(20)
        .map(agentctl_base::untrusted::line)
        .collect();
    Err(super::install::failed(
        what,
        folder,
        output.status,
        &lines.join("\n"),
    ))
}
