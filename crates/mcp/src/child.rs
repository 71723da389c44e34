//! A server as a child process: it gets the variables that the file declares and the few that any program needs, no search path
//! into the project, its own process group, and an end. Its stdin and stdout carry messages; of its stderr the last words are kept.

use super::frame::{Cut, Lines};
use super::ground::{self, Start};
use super::orphans::{self, Entry};
use super::secret::{Secret, scrub};
use super::wire::{Inbound, Outgoing, Pipe};
use agentctl_host::family::Family;
use indexmap::IndexMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::process::ChildStderr;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// What is kept of a server's stderr.
const TAIL_BYTES: usize = 4_096;
const TAIL_LINES: usize = 12;
const TAIL_LINE_CHARS: usize = 300;
/// A line of a secret of several lines that is shorter says nothing by itself.
const SECRET_LINE: usize = 8;
/// After a failure: how long its stderr may still be read.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// After its stdin was closed: how long a server may take to end.
const GRACE: Duration = Duration::from_secs(3);

/// Variables that programs need to start at all. Nothing else of our environment is handed on.
const PASSED_ON: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "TMP",
    "TEMP",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "SYSTEMROOT",
    "COMSPEC",
    "PATHEXT",
    "APPDATA",
    "LOCALAPPDATA",
    "USERPROFILE",
    "PROGRAMFILES",
    "WINDIR",
];

pub(super) type Reading = Box<dyn AsyncRead + Send + Unpin>;
pub(super) type Writing = Box<dyn AsyncWrite + Send + Unpin>;

/// Lines to and from a server.
pub(super) struct LinePipe {
    lines: Lines<Reading>,
    writer: Arc<tokio::sync::Mutex<Option<Writing>>>,
    /// Told when the server no longer reads. That is how it ended, not how a message failed: what it was sent may have arrived.
    unread: Arc<Notify>,
    child: Option<Child>,
}

impl LinePipe {
    pub fn new(reader: Reading, writer: Writing) -> Self {
        LinePipe {
            lines: Lines::new(reader),
            writer: Arc::new(tokio::sync::Mutex::new(Some(writer))),
            unread: Arc::default(),
            child: None,
        }
    }

    /// Starts the command where `start` says; None: where agentctl itself runs.
    pub fn start(
        command: &Secret,
        args: &[Secret],
        env: &IndexMap<String, Secret>,
        start: Option<&Start>,
        last_words: &LastWords,
    ) -> std::io::Result<Self> {
        let mut process = tokio::process::Command::new(program(command.expose(), start));
        if let Some(start) = start {
            if start.is_neutral {
                ground::prepare(&start.folder)?;
            }
            process.current_dir(&start.folder);
        }
        process
            .args(args.iter().map(Secret::expose))
            .env_clear()
            .envs(PASSED_ON.iter().filter_map(|name| {
                let value = std::env::var_os(name)?;
                Some((name, value))
            }))
            .envs(env.iter().map(|(name, value)| (name, value.expose())))
            .envs(search_path(env, start))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let entries = orphans::folder();
        if let Some(entries) = &entries {
            orphans::end_orphans(entries);
        }
        // What it starts in turn (a package runner starts the server itself) ends with it; Ctrl-C is ours to handle.
        let mut child = process.process_group(0).spawn()?;
        let family = child.id().map(Family::of);
        let entry = entries
            .zip(child.id())
            .and_then(|(entries, child)| orphans::enter(&entries, child, std::process::id()));
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        if let Some(stderr) = child.stderr.take() {
            last_words.follow(stderr);
        }
        let (Some(stdin), Some(stdout)) = (stdin, stdout) else {
            return Err(std::io::Error::other("its stdin or stdout is not there"));
        };
        let mut pipe = LinePipe::new(Box::new(stdout), Box::new(stdin));
        pipe.child = Some(Child {
            family,
            process: child,
            _entry: entry,
        });
        Ok(pipe)
    }
}

/// A command that is a path is one from the folder in which it starts.
fn program(command: &str, start: Option<&Start>) -> PathBuf {
    match start {
        Some(start) if command.contains('/') => start.folder.join(command),
        _ => PathBuf::from(command),
    }
}

/// The search path, the file's own or ours, without what lies in the project or depends on the folder.
fn search_path(
    env: &IndexMap<String, Secret>,
    start: Option<&Start>,
) -> Option<(&'static str, OsString)> {
    let path = match env.get("PATH") {
        Some(own) => OsString::from(own.expose()),
        None => std::env::var_os("PATH")?,
    };
    let kept = match start {
        Some(start) => start.ground.search_path(&path).0,
        None => {
            let entries = std::env::split_paths(&path).filter(|entry| entry.is_absolute());
            std::env::join_paths(entries).unwrap_or_default()
        }
    };
    Some(("PATH", kept))
}

impl Pipe for LinePipe {
    fn send(
        &mut self,
        message: Outgoing,
    ) -> impl Future<Output = std::io::Result<()>> + Send + 'static {
        let (writer, unread) = (self.writer.clone(), self.unread.clone());
        async move {
            let mut line = message.message.to_string();
            line.push('\n');
            let mut writer = writer.lock().await;
            let written = match writer.as_mut() {
                Some(writer) => match writer.write_all(line.as_bytes()).await {
                    Ok(()) => writer.flush().await,
                    Err(e) => Err(e),
                },
                None => Err(std::io::ErrorKind::BrokenPipe.into()),
            };
            if written.is_err() {
                unread.notify_one();
            }
            Ok(())
        }
    }

    async fn next(&mut self) -> Result<Inbound, Cut> {
        let line = tokio::select! {
            biased;
            line = self.lines.next() => line?,
            () = self.unread.notified() => {
                // Still true at the next call, should this one be cancelled.
                self.unread.notify_one();
                None
            }
        };
        Ok(match line {
            Some(line) => Inbound::Bytes(line),
            None => match self.child.as_mut() {
                // A server that closes its pipes is about to end: its exit code says more.
                Some(child) => return Err(Cut(child.last_status().await)),
                None => Inbound::Ended,
            },
        })
    }

    async fn close(&mut self) {
        // A write that does not come to its end holds the lock: then there is nobody to be polite to.
        if let Ok(mut writer) = self.writer.try_lock()
            && let Some(mut writer) = writer.take()
        {
            let _ = writer.shutdown().await;
        }
        if let Some(mut child) = self.child.take() {
            child.end().await;
        }
    }
}

/// The process, killed with all that it started when it is dropped; what it leaves behind at its end is killed too.
struct Child {
    /// None once it was waited for. Stands in front, to be dropped while the process is not waited for yet.
    family: Option<Family>,
    process: tokio::process::Child,
    _entry: Option<Entry>,
}

impl Child {
    async fn last_status(&mut self) -> String {
        match self.ended(LAST_WORDS).await {
            Some(status) => match status.code() {
                Some(code) => format!("the server ended with exit code {code}"),
                None => "the server was killed".to_owned(),
            },
            None => "the server closed its stdin or stdout".to_owned(),
        }
    }

    async fn end(&mut self) {
        if self.ended(GRACE).await.is_some() {
            return;
        }
        if let Some(family) = &self.family {
            family.kill();
            self.ended(GRACE).await;
        }
    }

    /// How it ended, when it ends within this time; None when it does not, or was waited for before.
    async fn ended(&mut self, patience: Duration) -> Option<ExitStatus> {
        let family = self.family.as_ref()?;
        let ended = tokio::time::timeout(patience, family.child_ended());
        ended.await.ok()?.ok()?;
        // What it started may still be there.
        family.kill();
        let status = self.process.wait().await.ok()?;
        if let Some(family) = self.family.take() {
            family.let_go();
        }
        Some(status)
    }
}

/// The end of a child's stderr, read while it runs so that it never blocks on a full pipe.
#[derive(Debug, Default, Clone)]
pub(super) struct LastWords {
    kept: Arc<Mutex<Vec<u8>>>,
    reader: Arc<Mutex<Option<JoinHandle<()>>>>,
}

impl LastWords {
    fn follow(&self, mut stderr: ChildStderr) {
        let kept = self.kept.clone();
        let reader = tokio::spawn(async move {
            let mut chunk = [0_u8; 1_024];
            while let Ok(count @ 1..) = stderr.read(&mut chunk).await {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend(chunk.iter().take(count));
                let over = kept.len().saturating_sub(TAIL_BYTES);
                kept.drain(..over);
            }
        });
        *self.reader.lock().unwrap_or_else(PoisonError::into_inner) = Some(reader);
    }

    /// What it said until it ended, or until the wait for its end is over; secrets hidden.
    pub async fn lines(&self, secrets: &[String]) -> Vec<String> {
        let reader = self
            .reader
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(reader) = reader {
            // A child that does not end has said enough.
            let _ = tokio::time::timeout(LAST_WORDS, reader).await;
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let cut = kept.len() >= TAIL_BYTES;
        // Each line of a secret of several: here they stand alone, and the first may be cut off.
        let parts = secrets.iter().flat_map(|secret| secret.lines());
        let parts = parts.filter(|line| line.len() >= SECRET_LINE);
        let secrets: Vec<String> = secrets
            .iter()
            .cloned()
            .chain(parts.map(str::to_owned))
            .collect();
        let text = String::from_utf8_lossy(&kept).into_owned();
        let lines: Vec<&str> = text.lines().skip(usize::from(cut)).collect();
        let first = lines.len().saturating_sub(TAIL_LINES);
        lines
            .into_iter()
            .skip(first)
            .map(|line| {
                let line = scrub(line, &secrets);
                line.chars().take(TAIL_LINE_CHARS).collect()
            })
            .collect()
    }
}
