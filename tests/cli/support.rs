//! A project folder and the binary in it.

use regex::Regex;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub struct Project {
    dir: tempfile::TempDir,
    /// The user's own folder, outside of the project.
    home: tempfile::TempDir,
}

/// What a command left: exit code, stdout, stderr.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| {
            panic!(
                "stdout is not JSON ({e}): {}\nstderr: {}",
                self.stdout, self.stderr
            )
        })
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
        }
    }
}

impl Project {
    pub fn new() -> Self {
        Project {
            dir: tempfile::tempdir().unwrap(),
            home: tempfile::tempdir().unwrap(),
        }
    }
    pub fn home(&self) -> &Path {
        self.home.path()
    }
    pub fn path(&self) -> &Path {
        self.dir.path()
    }
    pub fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.file(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }
    pub fn read_json(&self, name: &str) -> Value {
        serde_json::from_slice(&std::fs::read(self.file(name)).unwrap()).unwrap()
    }
    /// The binary in this project, which its user trusts for each command; without a terminal, the caller's settings and home.
    pub fn command(&self, args: &[&str]) -> Command {
        self.stranger(&[&["--trust-once"], args].concat())
    }
    /// The same where nobody has said that the project is trusted.
    pub fn stranger(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agentctl"));
        command
            .current_dir(self.path())
            .args(args)
            .stdin(Stdio::null());
        command
            .env_remove("AGENTCTL_MODEL")
            .env_remove("AGENTCTL_PROJECT")
            .env_remove("AGENTCTL_TRUST")
            .env_remove("CI")
            .env_remove("COLUMNS")
            .env("AGENTCTL_HOME", self.home())
            .env("AGENTCTL_CONFIG", self.file("no-such-settings.toml"))
            // What runs on the machine of whoever tests, and where that stands, is nobody's business here.
            .env("TZ", "")
            .env("AGENTCTL_LOOK", "no")
            .env("NO_COLOR", "1");
        command
    }
    /// What it says in JSON is held against the schema of the command.
    pub fn run(&self, args: &[&str]) -> Ran {
        let ran = self.command(args).output().unwrap().into();
        super::published::held(args, &ran);
        ran
    }
    /// All that a command says: exit code, stdout, stderr; what differs from run to run is named instead. The command is one
    /// text, with quotes '…' around what has blanks.
    pub fn said(&self, typed: &str) -> String {
        self.saying(self.command(&[]), typed)
    }
    /// The same, of a command that was set up already.
    pub fn saying(&self, mut command: Command, typed: &str) -> String {
        let quoted = typed.split('\'').enumerate();
        let words = quoted.flat_map(|(i, part)| match i % 2 {
            0 => part.split_whitespace().collect::<Vec<_>>(),
            _ => vec![part],
        });
        let ran: Ran = command.args(words).output().unwrap().into();
        let mut text = format!("exit code {}\n{}", ran.code, ran.stdout);
        if !ran.stderr.is_empty() {
            text.push_str(&format!("-- stderr --\n{}", ran.stderr));
        }
        self.without_what_varies(&text)
    }
    /// What differs from run to run, named instead.
    pub fn without_what_varies(&self, text: &str) -> String {
        let mut text = text.to_owned();
        let binary = Path::new(env!("CARGO_BIN_EXE_agentctl"));
        for (place, name) in [
            (self.path(), "[PROJECT]"),
            (self.home(), "[HOME]"),
            (binary, "[AGENTCTL]"),
        ] {
            text = text.replace(place.to_str().unwrap(), name);
        }
        for (pattern, name) in [
            (r"\b\d{8}-\d{6}-[0-9a-f]{6,10}\b", "[RUN]"),
            (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "[UUID]"),
            (r"\b[0-9a-f]{64}\b", "[HASH]"),
            (r"\b20\d\d-\d\d-\d\dT[0-9:.]+Z", "[MOMENT]"),
            (r"\b20\d\d-\d\d-\d\d\b", "[DAY]"),
            (r"\b\d\d:\d\d:\d\d\b", "[TIME]"),
            (r"\[DAY\] \d\d:\d\d\b", "[DAY] [TIME]"),
            (r"\bprocess \d+", "process [ID]"),
            (r"\bnode-[a-z]+-[a-z0-9]+@", "node-[PLATFORM]@"),
            (r"\bagentctl \d+\.\d+\.\d+\b", "agentctl [VERSION]"),
            (r"127\.0\.0\.1:\d+", "127.0.0.1:[PORT]"),
            (r"(?m)[ \t]+$", ""),
        ] {
            let pattern = Regex::new(pattern).unwrap();
            text = pattern.replace_all(&text, name).into_owned();
        }
        text
    }
    /// Names of the workflow files, sorted.
    pub fn workflows(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.file("workflows")) else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// Runs a command on a terminal, and types these keys when the question stands there. What the terminal showed, and the exit code.
pub fn on_a_terminal(command: Command, question: &str, keys: &[u8]) -> (i32, String) {
    in_turn_on_a_terminal(command, &[(question, keys)])
}

/// The exit code of a command whose terminal goes away, without a signal, while this question stands there; None: it goes on for 20 s.
pub fn left_by_its_terminal(mut command: Command, question: &str) -> Option<i32> {
    use nix::fcntl::OFlag;
    use nix::pty::{grantpt, posix_openpt, ptsname_r, unlockpt};
    use std::io::Read;
    // Nobody that another test starts beside has an end of it.
    let mut master = posix_openpt(OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let slave = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(ptsname_r(&master).unwrap())
        .unwrap();
    command
        .stdin(slave.try_clone().unwrap())
        .stdout(Stdio::null())
        .stderr(slave)
        .env("TERM", "xterm");
    let mut child = command.spawn().unwrap();
    drop(command);
    let (mut shown, mut bytes) = (Vec::new(), [0; 4096]);
    while !String::from_utf8_lossy(&shown).contains(question) {
        let read = master.read(&mut bytes).unwrap();
        shown.extend_from_slice(&bytes[..read]);
    }
    drop(master);
    for _ in 0..200 {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}

/// The same for several questions: each pair's keys are typed when its text is seen behind the one before; without keys the command is killed there.
pub fn in_turn_on_a_terminal(mut command: Command, typed: &[(&str, &[u8])]) -> (i32, String) {
    use std::io::{Read, Write};
    let size = nix::pty::Winsize {
        ws_row: 40,
        ws_col: 120,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let pty = nix::pty::openpty(Some(&size), None).unwrap();
    if !command.get_envs().any(|(name, _)| name == "TERM") {
        command.env("TERM", "xterm");
    }
    command
        .stdin(pty.slave.try_clone().unwrap())
        .stdout(Stdio::null())
        .stderr(pty.slave);
    let mut child = command.spawn().unwrap();
    // The child has the only ends of it now, so that reading ends with the child.
    drop(command);
    let mut master = std::fs::File::from(pty.master);
    let (mut shown, mut seen, mut typed) = (Vec::new(), 0, typed.iter());
    let mut next = typed.next();
    let mut bytes = [0; 4096];
    while let Ok(read @ 1..) = master.read(&mut bytes) {
        shown.extend_from_slice(&bytes[..read]);
        let behind = String::from_utf8_lossy(&shown[seen..]).into_owned();
        if let Some((_, keys)) = next.filter(|(question, _)| behind.contains(question)) {
            (seen, next) = (shown.len(), typed.next());
            match keys.is_empty() {
                true => child.kill().unwrap(),
                false => master.write_all(keys).unwrap(),
            }
        }
    }
    let code = child.wait().unwrap().code().unwrap_or(-1);
    (code, String::from_utf8_lossy(&shown).into_owned())
}

/// What is kept in the repository holds no key and no place of a machine, and is not too large.
pub fn is_harmless(text: &str, name: &str) {
    assert!(text.len() < 60_000, "{name} has {} bytes", text.len());
    let text = text.to_lowercase();
    for secret in [
        "bearer ey",
        "\"sk-",
        "xoxb-",
        "authorization\":",
        "/home/",
        "127.0.0.1",
    ] {
        assert!(!text.contains(secret), "{name}: {secret}");
    }
}
