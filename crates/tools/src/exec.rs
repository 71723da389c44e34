//! `kind: exec`: one fixed program of this machine. It gets the values as one JSON object on stdin and answers with one JSON value on
//! stdout. No shell reads anything, no value becomes an argument, and the program is confined: what it may read is in the file, what it
//! writes is thrown away, and it reaches nothing else.

use crate::answer::{FAILED, TELL, TIMEOUT, late, unknown};
use crate::call::Call;
use crate::child::{self, Silent};
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
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::process::Child;

pub(crate) const KIND: KindOfTool = KindOfTool {
    name: "exec",
    check,
    make: |section| Box::new(Spec::of(section)),
};
const KEYS: [&str; 4] = ["program", "args", "reads", "env"];
/// What a program is told of its surroundings besides what the file names.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
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

/// What a program that was started comes to.
async fn ran(started: (Child, Family), input: &str, limits: ToolLimits, changes: bool) -> Outcome {
    let limit = Duration::from_secs(limits.timeout_s);
    let said = match child::said(started, input.as_bytes(), limit, limits.max_bytes).await {
        Err(Silent::Late) => return late(changes, TIMEOUT),
        Err(Silent::Broken(why)) if changes => return unknown(&why, None),
        Err(Silent::Broken(why)) => return Outcome::failed(why, FAILED, TELL),
        Ok(said) => said,
    };
    let status = said.status;
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
