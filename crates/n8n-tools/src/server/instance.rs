//! Starting, stopping and looking at the development n8n.

use super::folder::{Cache, Folder, tail, write_private};
use super::install::{Installed, install, path_with};
use super::keys::Keys;
use super::{ServerError, Step, Tell, account, recipe};
use agentctl_host::family::Family;
use agentctl_host::process::Identity;
use serde::{Deserialize, Serialize};
use std::fs::OpenOptions;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const FIRST_PORT: u16 = 5678;
const LAST_PORT: u16 = 5778;
const LOOK_AGAIN: Duration = Duration::from_millis(250);
const TAIL: usize = 20;
/// How long n8n may take to end when its start is given up.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// What n8n needs of the environment to run and to reach the network; whatever else is set there (a database, a queue, keys)
/// belongs to another n8n.
const PASSED_ON: [&str; 16] = [
    "HOME",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "USER",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_OPTIONS",
];

/// What is running: which process, where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    pub version: String,
    pub port: u16,
    #[serde(flatten)]
    pub process: Identity,
}

impl Server {
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

#[derive(Debug, Clone)]
pub struct UpOptions {
    /// None: the release of last time, else `N8N_VERSION`.
    pub release: Option<String>,
    /// None: the one of last time, else the first that is free.
    pub port: Option<u16>,
    /// How long n8n may take to be ready.
    pub patience: Duration,
}

#[derive(Debug, Clone)]
pub struct Started {
    pub server: Server,
    pub keys: Keys,
    /// It ran before.
    pub already: bool,
}

/// What `status` found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Nothing was ever started here, or it was forgotten.
    None,
    /// It was started once; its data is there.
    Stopped {
        version: String,
        port: u16,
    },
    Running {
        server: Server,
        healthy: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Down {
    WasNotRunning,
    Stopped { pid: u32 },
}

/// Installs what is missing, starts n8n unless it runs, and makes its keys. Given up before it is done, it leaves nothing
/// running that it started.
pub async fn up(
    cache: &Cache,
    folder: &Folder,
    options: &UpOptions,
    tell: Tell<'_>,
) -> Result<Started, ServerError> {
    let _lock = folder.lock()?;
    let known = known(folder)?;
    let release = release(options.release.as_deref(), known.as_ref())?;
    if let Some(server) = known.as_ref().filter(|server| server.process.is_alive()) {
        let server = server.clone();
        if let Some(port) = options.port.filter(|port| *port != server.port) {
            return Err(ServerError::PortTaken {
                port,
                free: Some(server.port),
            });
        }
        ready(&server, None, folder, options.patience).await?;
        return finish(folder, server, true, tell).await;
    }
    let wanted = options.port.or(known
        .map(|server| server.port)
        .filter(|port| is_free(*port)));
    let port = port(wanted)?;
    let installed = install(cache, &release, tell).await?;
    tell(Step::Start { port });
    let mut child = spawn(&installed, &release, folder, port)?;
    let family = Family::of(child.id());
    let Some(process) = Identity::of(child.id()) else {
        return Err(died(&mut child, folder));
    };
    let server = Server {
        version: release,
        port,
        process,
    };
    let text = serde_json::to_string(&server).unwrap_or_default();
    let starting = Starting {
        process: &server.process,
        family: Some(family),
    };
    write_private(&folder.server_file(), &text)?;
    if let Err(error) = ready(&server, Some(&mut child), folder, options.patience).await {
        server.process.end().await;
        return Err(error);
    }
    let started = finish(folder, server.clone(), false, tell).await?;
    starting.is_up();
    Ok(started)
}

/// What to start. Data of one release is not given to another one: n8n does not go back to an older one.
fn release(wanted: Option<&str>, known: Option<&Server>) -> Result<String, ServerError> {
    match (wanted, known) {
        (Some(wanted), Some(known)) if known.version != wanted => Err(ServerError::OtherRelease {
            there: known.version.clone(),
            wanted: wanted.to_owned(),
        }),
        (Some(wanted), _) => Ok(wanted.to_owned()),
        (None, Some(known)) => Ok(known.version.clone()),
        (None, None) => Ok(recipe::N8N_VERSION.to_owned()),
    }
}

/// What does not come up: asked to end when it is dropped, and after a while ended with what it started.
struct Starting<'a> {
    process: &'a Identity,
    family: Option<Family>,
}

impl Starting<'_> {
    /// From here on it outlives this program.
    fn is_up(mut self) {
        self.family.take().into_iter().for_each(Family::let_go);
    }
}

impl Drop for Starting<'_> {
    fn drop(&mut self) {
        if self.family.is_some() {
            self.process.ask_to_end();
            self.process.wait_until_gone(LAST_WORDS);
        }
    }
}

async fn finish(
    folder: &Folder,
    server: Server,
    already: bool,
    tell: Tell<'_>,
) -> Result<Started, ServerError> {
    let keys = account::keys(folder, &server.url(), tell).await?;
    write_private(&folder.env_file(), &keys.to_text())?;
    Ok(Started {
        server,
        keys,
        already,
    })
}

/// Stops what was started here; with `delete` it also forgets its data and its keys.
pub async fn down(folder: &Folder, delete: bool) -> Result<Down, ServerError> {
    if !folder.root().exists() {
        return Ok(Down::WasNotRunning);
    }
    let _lock = folder.lock()?;
    let done = match known(folder)? {
        Some(server) if server.process.is_alive() => {
            let pid = server.process.pid;
            if !server.process.end().await {
                return Err(ServerError::DoesNotEnd { pid });
            }
            Down::Stopped { pid }
        }
        _ => Down::WasNotRunning,
    };
    if delete {
        folder.delete()?;
    }
    Ok(done)
}

/// Looks, and changes nothing.
pub async fn status(folder: &Folder) -> Result<State, ServerError> {
    let Some(server) = known(folder)? else {
        return Ok(State::None);
    };
    if !server.process.is_alive() {
        return Ok(State::Stopped {
            version: server.version,
            port: server.port,
        });
    }
    let healthy = is_ready(&account::client()?, &server).await;
    Ok(State::Running { server, healthy })
}

fn known(folder: &Folder) -> Result<Option<Server>, ServerError> {
    let file = folder.server_file();
    match agentctl_host::files::read_regular_text(&file, 64 * 1024) {
        Ok(text) => serde_json::from_str(&text)
            .map(Some)
            .map_err(|e| ServerError::Broken {
                path: file,
                reason: e.to_string(),
            }),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(ServerError::io("read", file)(e)),
    }
}

/// The port to use: the wanted one, or the first that is free together with the one after it, which n8n's runners use.
fn port(wanted: Option<u16>) -> Result<u16, ServerError> {
    let first_free = |from: u16| {
        (from..=from.saturating_add(LAST_PORT - FIRST_PORT))
            .step_by(2)
            .find(|port| is_free(*port))
    };
    match wanted {
        Some(port) if is_free(port) => Ok(port),
        Some(port) => Err(ServerError::PortTaken {
            port,
            free: first_free(FIRST_PORT),
        }),
        None => first_free(FIRST_PORT).ok_or(ServerError::NoPort { from: FIRST_PORT }),
    }
}

fn is_free(port: u16) -> bool {
    let free = |port: u16| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok();
    port > 0
        && port
            .checked_add(1)
            .is_some_and(|next| free(port) && free(next))
}

fn spawn(
    installed: &Installed,
    release: &str,
    folder: &Folder,
    port: u16,
) -> Result<Child, ServerError> {
    let log = folder.log();
    let file = OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(true)
        .mode(0o600)
        .open(&log)
        .map_err(ServerError::io("write", &log))?;
    let again = file.try_clone().map_err(ServerError::io("write", &log))?;
    let home =
        std::path::absolute(folder.home()).map_err(ServerError::io("find", folder.home()))?;
    let passed_on = PASSED_ON
        .iter()
        .filter_map(|name| Some((*name, std::env::var_os(name)?)));
    Command::new(&installed.node)
        .arg(&installed.n8n)
        .arg("start")
        .current_dir(folder.root())
        .env_clear()
        .envs(passed_on)
        .env("PATH", path_with(&installed.node))
        .env("N8N_USER_FOLDER", home)
        .env("N8N_LISTEN_ADDRESS", "127.0.0.1")
        .env("N8N_PORT", port.to_string())
        .env(
            "N8N_RUNNERS_BROKER_PORT",
            port.saturating_add(1).to_string(),
        )
        .env("N8N_RUNNERS_MODE", "internal")
        .env("N8N_SECURE_COOKIE", "false")
        .env("N8N_DIAGNOSTICS_ENABLED", "false")
        .env("N8N_VERSION_NOTIFICATIONS_ENABLED", "false")
        .env("N8N_TEMPLATES_ENABLED", "false")
        .env("N8N_PERSONALIZATION_ENABLED", "false")
        .env("N8N_DISABLED_MODULES", recipe::modules_off(release))
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(again)
        // It outlives this program, and Ctrl-C in its terminal.
        .process_group(0)
        .spawn()
        .map_err(ServerError::io("start", &installed.node))
}

/// Waits until n8n answers that it is ready; `child` is asked whether it still lives, when it is ours.
async fn ready(
    server: &Server,
    mut child: Option<&mut Child>,
    folder: &Folder,
    patience: Duration,
) -> Result<(), ServerError> {
    let client = account::client()?;
    let deadline = tokio::time::Instant::now() + patience;
    loop {
        if is_ready(&client, server).await {
            return Ok(());
        }
        if !server.process.is_alive() {
            return Err(match child.take() {
                Some(child) => died(child, folder),
                None => ServerError::Died {
                    status: "it is gone".to_owned(),
                    tail: tail(&folder.log(), TAIL),
                },
            });
        }
        if tokio::time::Instant::now() >= deadline {
            return Err(ServerError::NotReady {
                seconds: patience.as_secs(),
                tail: tail(&folder.log(), TAIL),
            });
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

async fn is_ready(client: &reqwest::Client, server: &Server) -> bool {
    // n8n 1.x says that it is ready before it answers anything else.
    for path in ["healthz/readiness", "rest/settings"] {
        let asked = client.get(format!("{}/{path}", server.url()));
        let answer = asked.timeout(Duration::from_secs(3)).send().await;
        if !answer.is_ok_and(|answer| answer.status().is_success()) {
            return false;
        }
    }
    true
}

fn died(child: &mut Child, folder: &Folder) -> ServerError {
    let status = match child.wait() {
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    ServerError::Died {
        status,
        tail: tail(&folder.log(), TAIL),
    }
}
