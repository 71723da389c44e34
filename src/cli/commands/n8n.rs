//! `agentctl n8n up|down|status`: a throw-away n8n to develop against.

use crate::cli::catalog_file;
use crate::cli::error::{CliError, Exit};
use crate::cli::folder_trust::{self, Before};
use crate::cli::output::Output;
use crate::cli::runtime;
use crate::cli::spinner::spinner;
use crate::trust::Kind;
use agentctl_base::shell;
use agentctl_engine::run::{Cancel, Cause};
use agentctl_host::files::write_atomic;
use agentctl_host::home::variable;
use agentctl_n8n_tools::server::{
    self, Cache, Down, Folder, ServerError, State, Step, UpOptions, published,
};
use clap::{Args, Subcommand};
use indicatif::ProgressBar;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A throw-away n8n of your own to develop against: install, start, stop
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  agentctl n8n up && source .agentctl/n8n/env")]
pub enum N8nCommand {
    Up(N8nUpArgs),
    /// Stop it; its data stays for the next start
    #[command(after_help = "Examples:\n  agentctl n8n down\n  agentctl n8n down --delete")]
    Down {
        /// Forget its workflows, executions and keys
        #[arg(long)]
        delete: bool,
        #[command(flatten)]
        folder: N8nFolder,
    },
    /// Whether it runs, where, and as which process
    #[command(
        after_help = "Example:\n  agentctl n8n status --output-format json\n\nExit code 0: it runs and answers; 7: it does not."
    )]
    Status {
        #[command(flatten)]
        folder: N8nFolder,
    },
}

/// Install n8n from npm (once, some minutes and 2.5 GB), start it on the loopback interface and make its keys
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl n8n up\n  agentctl n8n up --port 5690 --write-mcp\n  source .agentctl/n8n/env && agentctl doctor\n\nNeeds npm. n8n's data and keys stay in .agentctl/n8n/ of the project, which git passes over; the installation is shared by your projects. Run again, it says where n8n is. Exit code 1: not installed or no port; 7: n8n does not start."
)]
pub struct N8nUpArgs {
    /// The port; n8n also uses the one after it. Default: that of last time, else the first free from 5678 on
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..65535))]
    pub port: Option<u16>,
    /// Which release of n8n, e.g. 1.123.81. Default: that of last time, else 2.22.6, the one that agentctl is tried on
    #[arg(long, value_name = "VERSION", value_parser = release)]
    pub n8n_version: Option<String>,
    /// How long n8n may take to be ready, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 180)]
    pub wait: u64,
    /// Add its MCP servers to .mcp.json, by the names of variables and never with a key
    #[arg(long)]
    pub write_mcp: bool,
    /// Where n8n is installed; default: agentctl's folder in your cache
    #[arg(long, value_name = "DIR", env = "AGENTCTL_CACHE", hide_env = true)]
    pub cache: Option<PathBuf>,
    #[command(flatten)]
    pub folder: N8nFolder,
}

#[derive(Debug, Args)]
pub struct N8nFolder {
    /// Where its data lies; default: .agentctl/n8n of the project
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
}

pub fn n8n(project: &Path, command: &N8nCommand, out: &Output) -> Result<Exit, CliError> {
    match command {
        N8nCommand::Up(args) => up(project, args, out),
        N8nCommand::Down { delete, folder } => down(&data(project, folder), *delete, out),
        N8nCommand::Status { folder } => status(&data(project, folder), out),
    }
}

fn release(text: &str) -> Result<String, String> {
    match published::is_release(text) {
        true => Ok(text.to_owned()),
        false => Err("a release of n8n is like 2.22.6".to_owned()),
    }
}

pub(super) fn data(project: &Path, named: &N8nFolder) -> Folder {
    match &named.data {
        Some(dir) => Folder::at(dir),
        None => Folder::of_project(project),
    }
}

fn up(project: &Path, args: &N8nUpArgs, out: &Output) -> Result<Exit, CliError> {
    let cache = match &args.cache {
        Some(dir) => {
            Cache::at(std::path::absolute(dir).map_err(|e| CliError::io("find", dir, &e))?)
        }
        None => Cache::of_user(variable).map_err(told)?,
    };
    let folder = data(project, &args.folder);
    let mine = folder_trust::n8n_data(project, folder.root(), out)?;
    let options = UpOptions {
        release: args.n8n_version.clone(),
        port: args.port,
        patience: Duration::from_secs(args.wait),
    };
    let cancel = Cancel::default();
    let mut steps = Steps::new(out);
    let started = runtime::block_on_until(&cancel, async {
        let mut tell = |step| steps.tell(&step);
        tokio::select! {
            started = server::up(&cache, &folder, &options, &mut tell) => started.map_err(told),
            cause = cancel.requested() => Err(given_up(cause)),
        }
    });
    steps.done();
    let started = started??;
    mine.keep()?;
    // Whoever works on an n8n of this release is then offered what it has.
    catalog_file::keep_installed(&cache, &started.server.version)?;
    let written = match args.write_mcp {
        true => {
            let trusted = Before::of(project, out)?;
            let written = write_mcp(project)?;
            trusted.keep(|kind| kind == Kind::Server)?;
            Some(written)
        }
        false => None,
    };
    let (server, env_file) = (&started.server, folder.env_file());
    let url = server.url();
    out.answer(
        Exit::Complete,
        || {
            let runs = if started.already {
                "runs already"
            } else {
                "runs"
            };
            let mut text = format!(
                "n8n {} {runs} at {url} (process {}; log: {})\n",
                server.version,
                server.process.pid,
                folder.log().display()
            );
            if let Some((file, added)) = &written {
                let file = file.display();
                match added.as_slice() {
                    [] => text.push_str(&format!("{file} has its servers already\n")),
                    added => text.push_str(&format!("{file}: added {}\n", added.join(", "))),
                }
            }
            text.push_str(&format!(
                "next: source {}\n",
                shell::word(&env_file.display().to_string())
            ));
            let named = args.folder.data.as_ref();
            let data = named.map_or_else(String::new, |dir| {
                format!(" --data {}", shell::word(&dir.display().to_string()))
            });
            text.push_str(&format!(
                "      agentctl doctor\nstop it with: agentctl n8n down{data}\n"
            ));
            text
        },
        || {
            json!({
                "version": server.version,
                "url": url,
                "mcp_url": started.keys.mcp_url(),
                "pid": server.process.pid,
                "already": started.already,
                "env_file": env_file.display().to_string(),
                "log": folder.log().display().to_string(),
                "mcp_servers_added": written.as_ref().map(|(_, added)| added),
            })
        },
    )
}

/// Adds the servers to the project's `.mcp.json`.
fn write_mcp(project: &Path) -> Result<(PathBuf, Vec<&'static str>), CliError> {
    let file = project.join(agentctl_mcp::FILE);
    let before = match agentctl_host::files::read_regular_text(&file, agentctl_mcp::MAX_BYTES) {
        Ok(text) => Some(text),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => None,
        Err(e) => return Err(CliError::io("read", &file, &e)),
    };
    let (text, added) = server::with_servers(before.as_deref()).map_err(|why| {
        CliError::usage(format!("{} was not changed: {why}", file.display()))
            .hint("n8n runs; mend the file and run this again")
    })?;
    if !added.is_empty() {
        write_atomic(&file, text.as_bytes()).map_err(|e| CliError::failed(e.to_string()))?;
    }
    Ok((file, added))
}

fn down(folder: &Folder, delete: bool, out: &Output) -> Result<Exit, CliError> {
    let done = runtime::block_on(server::down(folder, delete))?.map_err(told)?;
    let pid = match done {
        Down::Stopped { pid } => Some(pid),
        Down::WasNotRunning => None,
    };
    out.answer(
        Exit::Complete,
        || {
            let mut text = match pid {
                Some(pid) => format!("stopped n8n (process {pid})\n"),
                None => "n8n was not running\n".to_owned(),
            };
            if delete {
                text.push_str("its data and keys are gone; the installation stays\n");
            }
            text
        },
        || json!({"stopped": pid, "deleted": delete}),
    )
}

fn status(folder: &Folder, out: &Output) -> Result<Exit, CliError> {
    let state = runtime::block_on(server::status(folder))?.map_err(told)?;
    let exit = match &state {
        State::Running { healthy: true, .. } => Exit::Complete,
        _ => Exit::Backend,
    };
    let env_file = folder.env_file();
    out.answer(
        exit,
        || match &state {
            State::None => "no development n8n here; `agentctl n8n up` starts one\n".to_owned(),
            State::Stopped { version, port } => format!("n8n {version} is not running (last on port {port}); `agentctl n8n up` starts it\n"),
            State::Running { server, healthy } => {
                let health = if *healthy { "ready" } else { "does not answer" };
                format!("n8n {} at {}: {health} (process {})\nkeys: source {}\n", server.version, server.url(), server.process.pid, env_file.display())
            }
        },
        || match &state {
            State::None => json!({"state": "none"}),
            State::Stopped { version, port } => json!({"state": "stopped", "version": version, "port": port}),
            State::Running { server, healthy } => {
                json!({"state": "running", "version": server.version, "url": server.url(), "pid": server.process.pid, "healthy": healthy, "env_file": env_file.display().to_string()})
            }
        },
    )
}

pub(super) fn told(error: ServerError) -> CliError {
    let exit = if error.is_unavailable() {
        Exit::Backend
    } else {
        Exit::Failed
    };
    let hint = error.hint();
    let error = CliError::new(exit, error.to_string());
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

fn given_up(cause: Cause) -> CliError {
    CliError::new(
        cause.into(),
        "stopped before n8n was ready; what was started is stopped too",
    )
    .hint("agentctl n8n up goes on with it")
}

/// What is being done, on stderr: a spinner on a terminal, else a line for each step and now and then one for a long one.
struct Steps<'a> {
    out: &'a Output,
    spinner: Option<ProgressBar>,
    doing: String,
    told: u64,
}

/// Between two lines about the same step, in seconds.
const SAY_AGAIN: u64 = 30;

impl<'a> Steps<'a> {
    fn new(out: &'a Output) -> Self {
        let wanted = Some("{spinner:.cyan} {msg} {elapsed:.dim}").filter(|_| !out.quiet);
        Steps {
            out,
            spinner: wanted.and_then(spinner),
            doing: String::new(),
            told: 0,
        }
    }

    fn tell(&mut self, step: &Step) {
        match step {
            Step::FetchNode { package } => {
                self.begin(format!("fetching Node.js for n8n ({package})"))
            }
            Step::Install { version } => self.begin(format!(
                "installing n8n {version} from npm: some minutes and 2.5 GB, once"
            )),
            Step::Start { port } => self.begin(format!("starting n8n on port {port}")),
            Step::Keys => self.begin("making its owner and keys".to_owned()),
            Step::Unmended { why } => self.out.note(&format!(
                "warning: nodes that read calendar files cannot be loaded by this n8n until npm can be reached: {why}"
            )),
            Step::Still { seconds } => {
                if self.spinner.is_none() && *seconds >= self.told + SAY_AGAIN {
                    self.told = *seconds;
                    self.out
                        .note(&format!("{}: {seconds} s so far", self.doing));
                }
            }
        }
    }

    fn begin(&mut self, doing: String) {
        match &self.spinner {
            Some(bar) => {
                bar.reset_elapsed();
                bar.set_message(doing.clone());
            }
            None => self.out.note(&doing),
        }
        self.told = 0;
        self.doing = doing;
    }

    fn done(&self) {
        if let Some(bar) = &self.spinner {
            bar.finish_and_clear();
        }
    }
}
