//! Node.js and n8n from npm into the user's cache. An installation counts when its marker is there, which is written last;
//! whatever lies there without one is removed first.

use super::folder::{Cache, tail};
use super::{ServerError, Step, Tell, published, recipe};
use agentctl_host::family::Family;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::process::Command;

/// How often a long step is told of.
const STILL: Duration = Duration::from_secs(5);
const TAIL: usize = 20;
const MARKER: &str = "installed";

/// What can be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    pub node: PathBuf,
    /// n8n's own start file.
    pub n8n: PathBuf,
}

pub async fn install(
    cache: &Cache,
    release: &str,
    tell: Tell<'_>,
) -> Result<Installed, ServerError> {
    let _lock = cache.lock()?;
    let (node, fetched) = node(cache, release, tell).await?;
    let app = cache.app(release);
    let n8n = start_file(cache, release);
    if is_there(cache, release) {
        // Made before this version was asked for. Without it one node cannot be loaded, and the others can.
        if let Err(error) = published::exchange(&app, recipe::DATES).await {
            tell(Step::Unmended {
                why: error.to_string(),
            });
        }
        return Ok(Installed { node, n8n });
    }
    tell(Step::Install {
        version: release.to_owned(),
    });
    remove(&app)?;
    std::fs::create_dir_all(&app).map_err(ServerError::io("make the folder", &app))?;
    write(
        &app.join("package.json"),
        &format!("{:#}\n", recipe::package(release)),
    )?;
    let mut npm = npm(&app, &node);
    // Without it npm's resolver works for an hour.
    npm.env("npm_config_legacy_peer_deps", "true");
    if let Some(fetched) = fetched {
        // Native modules are built against the headers that came with it.
        npm.env("npm_config_nodedir", fetched);
    }
    let what = format!("n8n {release}");
    run(npm, &app, &what, tell).await?;
    if !n8n.is_file() {
        return Err(ServerError::Install {
            what,
            tail: format!("{} is not there", n8n.display()),
        });
    }
    write(&app.join(MARKER), &format!("{}\n", recipe::label(release)))?;
    Ok(Installed { node, n8n })
}

fn start_file(cache: &Cache, release: &str) -> PathBuf {
    let modules = cache.app(release).join("node_modules");
    modules.join("n8n").join("bin").join("n8n")
}

/// Whether the whole installation is there.
pub(super) fn is_there(cache: &Cache, release: &str) -> bool {
    let marker = std::fs::read_to_string(cache.app(release).join(MARKER));
    marker.is_ok_and(|marker| marker.trim() == recipe::label(release))
        && start_file(cache, release).is_file()
}

/// A Node.js that n8n runs on: this machine's, or one of ours with the folder that it was fetched into.
async fn node(
    cache: &Cache,
    release: &str,
    tell: Tell<'_>,
) -> Result<(PathBuf, Option<PathBuf>), ServerError> {
    if let Some(path) = fitting("node", release).await {
        return Ok((path, None));
    }
    let package = recipe::node_package(std::env::consts::OS, std::env::consts::ARCH)?;
    let folder = cache.node();
    let home = folder.join("node_modules").join(package);
    let binary = home.join("bin").join("node");
    if fitting(&binary, release).await.is_none() {
        let wanted = recipe::node_wanted(package);
        tell(Step::FetchNode {
            package: wanted.clone(),
        });
        remove(&folder)?;
        std::fs::create_dir_all(&folder).map_err(ServerError::io("make the folder", &folder))?;
        write(&folder.join("package.json"), "{\"private\": true}\n")?;
        let mut npm = npm(&folder, &binary);
        npm.arg(&wanted);
        run(npm, &folder, &wanted, tell).await?;
        if fitting(&binary, release).await.is_none() {
            return Err(ServerError::Install {
                what: wanted,
                tail: format!("{} does not run", binary.display()),
            });
        }
    }
    Ok((binary, Some(home)))
}

/// The real path of a Node.js that fits; a shim in its place may be another one in another folder.
async fn fitting(program: impl AsRef<std::ffi::OsStr>, release: &str) -> Option<PathBuf> {
    let child = Command::new(program)
        .args(["-p", "process.version + '\\n' + process.execPath"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let family = child.id().map(Family::of);
    let output = child.wait_with_output();
    let output = tokio::time::timeout(Duration::from_secs(20), output)
        .await
        .ok()?
        .ok()?;
    family.into_iter().for_each(Family::let_go);
    let text = String::from_utf8(output.stdout).ok()?;
    let (version, path) = text.trim().split_once('\n')?;
    recipe::node_fits(release, version).then(|| PathBuf::from(path.trim()))
}

/// `npm install` in a folder, with this Node.js for all that it starts.
fn npm(folder: &Path, node: &Path) -> Command {
    let mut npm = Command::new("npm");
    npm.arg("install")
        .args([
            "--no-audit",
            "--no-fund",
            "--no-update-notifier",
            "--loglevel=error",
            "--fetch-retries=3",
        ])
        .current_dir(folder)
        .env("PATH", path_with(node));
    npm
}

/// PATH with this Node.js in front.
pub fn path_with(node: &Path) -> OsString {
    let old = std::env::var_os("PATH").unwrap_or_default();
    let folders = node
        .parent()
        .map(Path::to_owned)
        .into_iter()
        .chain(std::env::split_paths(&old));
    std::env::join_paths(folders).unwrap_or(old)
}

/// Runs npm to its end; given up, it is ended with all that it started.
async fn run(
    mut npm: Command,
    folder: &Path,
    what: &str,
    tell: Tell<'_>,
) -> Result<(), ServerError> {
    let log = folder.join("install.log");
    let file = File::create(&log).map_err(ServerError::io("write", &log))?;
    let again = file.try_clone().map_err(ServerError::io("write", &log))?;
    let child = npm
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(again)
        .process_group(0)
        .spawn();
    let mut child = match child {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Err(ServerError::NoNpm),
        other => other.map_err(ServerError::io("run npm in", folder))?,
    };
    let family = child.id().map(Family::of);
    let began = tokio::time::Instant::now();
    let status = loop {
        match tokio::time::timeout(STILL, child.wait()).await {
            Ok(status) => break status.map_err(ServerError::io("wait for npm in", folder))?,
            Err(_) => tell(Step::Still {
                seconds: began.elapsed().as_secs(),
            }),
        }
    };
    family.into_iter().for_each(Family::let_go);
    if status.success() {
        return Ok(());
    }
    Err(failed(what, folder, status, &tail(&log, TAIL)))
}

/// npm's own words tell why.
pub(super) fn failed(what: &str, folder: &Path, status: ExitStatus, tail: &str) -> ServerError {
    let says = |words: &[&str]| words.iter().any(|word| tail.contains(word));
    let what = what.to_owned();
    if says(&["ENOSPC"]) {
        return ServerError::Full {
            what,
            place: folder.to_owned(),
        };
    }
    let tail = match tail {
        "" => format!("npm ended with {status} and said nothing"),
        said => said.to_owned(),
    };
    let network = [
        "ENOTFOUND",
        "EAI_AGAIN",
        "ECONNREFUSED",
        "ECONNRESET",
        "ETIMEDOUT",
        "ENETUNREACH",
        "EHOSTUNREACH",
        "ERR_SOCKET_TIMEOUT",
    ];
    if network.iter().any(|word| tail.contains(word)) {
        return ServerError::NoNetwork { what, tail };
    }
    ServerError::Install { what, tail }
}

fn remove(folder: &Path) -> Result<(), ServerError> {
    match std::fs::remove_dir_all(folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(ServerError::io("remove", folder)(e))
        }
        _ => Ok(()),
    }
}

fn write(path: &Path, text: &str) -> Result<(), ServerError> {
    std::fs::write(path, text).map_err(ServerError::io("write", path))
}
