//! `kind: exec`: one fixed program of this machine. It gets the values as one JSON object on stdin and answers with one JSON value on
//! stdout. No shell reads anything, no value becomes an argument, and the program is confined: what it may read is in the file, what it
//! writes is thrown away, and it reaches nothing else.

use crate::answer::{FAILED, TELL, TIMEOUT, late, unknown};
use crate::call::Call;
use crate::kind::{KindOfTool, Work};
use crate::places::only;
use crate::toolset::Surroundings;
use agentctl_base::BoxFuture;
use agentctl_base::yaml::Node;
use agentctl_engine::pack::ToolLimits;
use agentctl_engine::toolset::Outcome;
use agentctl_engine::vocabulary::Faults;
use agentctl_host::confined::{self, Most, Program, is_program};
use agentctl_host::family::Family;
use serde_json::{Map, Value, json};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Child;

pub(crate) const KIND: KindOfTool = KindOfTool {
    name: "exec",
    check,
    make: |section| Box::new(Spec::of(section)),
};
const KEYS: [&str; 4] = ["program", "args", "reads", "env"];
/// What a program is told of its surroundings besides what the file names.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// Of what it says on stderr, in bytes.
const SAID: usize = 2_000;
const MEMORY: u64 = 2 * 1024 * 1024 * 1024;
const FILE: u64 = 64 * 1024 * 1024;

/// What the file says; it was checked when the pack was loaded.
struct Spec {
    program: PathBuf,
    args: Vec<String>,
    reads: Vec<PathBuf>,
    /// Names of variables that it gets.
    env: Vec<String>,
}

impl Spec {
    fn of(section: &Value) -> Spec {
        let texts = |key: &str| {
            let list = section.get(key).and_then(Value::as_array);
            let texts = list.into_iter().flatten().filter_map(Value::as_str);
            texts.map(str::to_owned).collect::<Vec<_>>()
        };
        let program = section.get("program").and_then(Value::as_str);
        Spec {
            program: program.unwrap_or_default().into(),
            args: texts("args"),
            reads: texts("reads").into_iter().map(PathBuf::from).collect(),
            env: texts("env"),
        }
    }

    fn program(&self, folder: &Path, variable: fn(&str) -> Option<String>) -> Program {
        let home = folder.to_string_lossy().into_owned();
        let own = [
            ("PATH", PATH),
            ("LANG", "C.UTF-8"),
            ("HOME", &home),
            ("TMPDIR", &home),
        ];
        let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let given = self
            .env
            .iter()
            .filter_map(|name| Some((name.clone(), variable(name)?)));
        Program {
            path: self.program.clone(),
            args: self.args.clone(),
            env: own.into_iter().chain(given).collect(),
            folder: folder.to_owned(),
            reads: self.reads.clone(),
        }
    }
}

impl Work for Spec {
    fn lacks(&self, of: &Surroundings) -> Option<String> {
        if !is_program(&self.program) {
            return Some(format!(
                "{} is no program of this machine",
                self.program.display()
            ));
        }
        if let Some(path) = self.reads.iter().find(|path| !path.exists()) {
            return Some(format!("{} is not there", path.display()));
        }
        let missing = self.env.iter().find(|name| (of.variable)(name).is_none());
        missing.map(|name| format!("{name} is not set"))
    }

    fn work<'a>(
        &'a self,
        call: &'a Call,
        values: Map<String, Value>,
        changes: bool,
    ) -> BoxFuture<'a, Outcome> {
        let limits = call.made.tool.limits;
        let variable = call.shared.surroundings.variable;
        Box::pin(async move {
            // Gone with all that is in it when the call is over.
            let folder = match tempfile::tempdir() {
                Ok(folder) => folder,
                Err(e) => {
                    return Outcome::failed(format!("no folder to work in: {e}"), FAILED, TELL);
                }
            };
            let program = self.program(folder.path(), variable);
            let most = Most {
                memory: MEMORY,
                file: FILE,
                cpu_s: limits.timeout_s,
            };
            let started = match confined::spawn(program, most).await {
                Ok(started) => started,
                Err(e) => return Outcome::failed(e.to_string(), FAILED, "tell the user"),
            };
            ran(started, &Value::Object(values).to_string(), limits, changes).await
        })
    }
}

/// What became of a program that was started. Nothing of it is left when this returns, also when nobody waits for it any more.
async fn ran(
    (mut child, family): (Child, Family),
    input: &str,
    limits: ToolLimits,
    changes: bool,
) -> Outcome {
    let limit = Duration::from_secs(limits.timeout_s);
    let talk = talked(&mut child, &family, input, limits.max_bytes);
    let came = tokio::time::timeout(limit, talk).await;
    match came {
        // It was waited for, and what it started is gone.
        Ok(Ok(_)) => family.let_go(),
        Ok(Err(_)) | Err(_) => drop(family),
    }
    let (status, said) = match came {
        Err(_) => return late(changes, TIMEOUT),
        Ok(Err(why)) if changes => return unknown(&why, None),
        Ok(Err(why)) => return Outcome::failed(why, FAILED, TELL),
        Ok(Ok(came)) => came,
    };
    if !status.success() {
        let why = match said.stderr.trim() {
            "" => format!("the program ended with {status}"),
            words => format!("the program ended with {status}: {words}"),
        };
        return Outcome::failed(why, FAILED, TELL);
    }
    match serde_json::from_slice::<Value>(&said.stdout) {
        Ok(value) => Outcome::Ok(json!({"result": value})),
        Err(_) if changes => unknown("what the program said is not one JSON value", None),
        Err(_) => Outcome::failed("what the program said is not one JSON value", FAILED, TELL),
    }
}

struct Said {
    stdout: Vec<u8>,
    /// Its beginning.
    stderr: String,
}

async fn talked(
    child: &mut Child,
    family: &Family,
    input: &str,
    max_bytes: u64,
) -> Result<(std::process::ExitStatus, Said), String> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let given = async {
        if let Some(mut stdin) = stdin {
            // A program need not read what it is given.
            let _ = stdin.write_all(input.as_bytes()).await;
        }
        Ok(())
    };
    let words = async {
        let mut kept = Vec::new();
        if let Some(stderr) = stderr {
            kept = beginning(stderr, SAID).await?;
        }
        Ok(kept)
    };
    let answer = async {
        let Some(stdout) = stdout else {
            return Ok(Vec::new());
        };
        let mut answer = Vec::new();
        let mut bounded = stdout.take(max_bytes.saturating_add(1));
        let read = bounded.read_to_end(&mut answer).await;
        read.map_err(|e| format!("its answer cannot be read: {e}"))?;
        match u64::try_from(answer.len()).is_ok_and(|bytes| bytes <= max_bytes) {
            true => Ok(answer),
            false => Err(format!("the answer is larger than {max_bytes} bytes")),
        }
    };
    let ended = async {
        let told = |e: io::Error| format!("its end was not seen: {e}");
        family.child_ended().await.map_err(told)?;
        // What it started may hold its pipes open; until it is waited for, they are all found.
        family.kill();
        child.wait().await.map_err(told)
    };
    let ((), stderr, stdout, status) = tokio::try_join!(given, words, answer, ended)?;
    let stderr = String::from_utf8_lossy(&stderr).into_owned();
    Ok((status, Said { stdout, stderr }))
}

/// Its first bytes; the others are read and thrown away, so that nobody has to wait.
async fn beginning(mut of: impl AsyncRead + Unpin, most: usize) -> Result<Vec<u8>, String> {
    let told = |e: io::Error| format!("what it says cannot be read: {e}");
    let mut kept = Vec::new();
    let mut buffer = [0; 8192];
    loop {
        let read = of.read(&mut buffer).await.map_err(told)?;
        let new = buffer.get(..read).unwrap_or_default();
        if new.is_empty() {
            return Ok(kept);
        }
        kept.extend(new.iter().take(most.saturating_sub(kept.len())));
    }
}

fn check(node: &Node, _: &[String]) -> Faults {
    let mut faults = Faults::new();
    only(node, &KEYS, &mut faults);
    let is_absolute = |node: &Node| {
        let text = node.as_text().unwrap_or_default();
        let path = Path::new(text);
        path.is_absolute() && !path.components().any(|part| part.as_os_str() == "..")
    };
    match node.get("program") {
        Some(program) if is_absolute(program) => {}
        program => {
            let form =
                "exec names one program by its whole path: {program: /usr/bin/jq, args: [\".x\"]}";
            faults.push((program.map_or(node.place, |p| p.place), form.to_owned()));
        }
    }
    for (key, form) in [
        (
            "args",
            "args is a list of texts; a call's values come on stdin, as JSON",
        ),
        (
            "reads",
            "reads is a list of folders and files, each by its whole path",
        ),
        ("env", "env is a list of names of variables"),
    ] {
        let Some(list) = node.get(key) else { continue };
        let good = |item: &Node| match key {
            "reads" => is_absolute(item),
            "env" => item.as_text().is_some_and(is_variable),
            _ => item.as_text().is_some_and(|text| !text.contains('\0')),
        };
        if !list.as_list().is_some_and(|items| items.iter().all(good)) {
            faults.push((list.place, form.to_owned()));
        }
    }
    faults
}

fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        // These say which code a program loads.
        && !name.starts_with("LD_")
}

#[cfg(test)]
#[path = "exec_tests.rs"]
mod exec_tests;
