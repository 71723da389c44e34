//! Files that are more than text are read by a child process: agentctl itself, confined, with bounds on memory, time and what it says. A
//! file that breaks the child breaks nothing else.

use crate::child::{self, Silent};
use agentctl_documents::{Answer, Form, MAX_TEXT, Text};
use agentctl_host::confined::{self, Most, Program};
use std::path::PathBuf;
use std::time::Duration;

/// Address space, which holds the program itself too; seconds of computing, and in all.
const MEMORY: u64 = 1024 * 1024 * 1024;
const CPU_S: u64 = 10;
const TIME: Duration = Duration::from_secs(30);
/// It writes no files.
const FILE: u64 = 0;
/// Of its answer: text as JSON is longer than the text.
const ANSWER: u64 = 2 * MAX_TEXT as u64 + 65_536;
/// What an allocator says last.
const NO_MEMORY: &str = "memory allocation of";

/// The program that reads such files: it gets the form's name as its last argument and the file on stdin
/// ([`agentctl_documents::answer`]).
#[derive(Debug, Clone)]
pub struct Reader {
    pub program: PathBuf,
    pub args: Vec<String>,
}

impl Reader {
    /// Err: why the file is not read, as a sentence without its end.
    pub(crate) async fn text(&self, form: Form, bytes: &[u8]) -> Result<Text, String> {
        let folder = tempfile::tempdir().map_err(|e| format!("no folder to work in: {e}"))?;
        let mut args = self.args.clone();
        args.push(form.name().to_owned());
        let program = Program {
            path: self.program.clone(),
            args,
            env: Vec::new(),
            folder: folder.path().to_owned(),
            reads: Vec::new(),
        };
        let most = Most {
            memory: MEMORY,
            file: FILE,
            cpu_s: CPU_S,
        };
        let started = confined::spawn(program, most).await;
        let started = started.map_err(|e| e.to_string())?;
        let said = match child::said(started, bytes, TIME, ANSWER).await {
            Ok(said) => said,
            Err(Silent::Late) => return Err(too_long()),
            Err(Silent::Broken(why)) => return Err(why),
        };
        if !said.status.success() {
            use std::os::unix::process::ExitStatusExt as _;
            const XCPU: i32 = 24;
            let killed = matches!(said.status.signal(), Some(9 | XCPU));
            return Err(match said.stderr.contains(NO_MEMORY) {
                true => format!("reading it takes more than {} MiB", MEMORY / 1024 / 1024),
                false if killed => too_long(),
                false => format!("it breaks what reads it ({})", said.status),
            });
        }
        let answer = serde_json::from_slice(&said.stdout).ok();
        match answer.as_ref().and_then(Answer::of_json) {
            Some(Answer::Text(text)) => Ok(text),
            Some(Answer::Refused(why)) => Err(why),
            None => Err("what reads it said something else than its text".to_owned()),
        }
    }
}

fn too_long() -> String {
    format!("reading it takes more than {CPU_S} s")
}
