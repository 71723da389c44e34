//! The acceptance cases of a workflow: those that stand in the project's files, and those that its last build tried.

use crate::cli::error::CliError;
use crate::cli::progress::{plain, plain_long};
use agentctl_base::untrusted::prose;
use agentctl_base::yaml;
use agentctl_engine::store::Project;
use agentctl_host::files::read_given_text;
use agentctl_n8n::rehearsal::{Case, Expect, Item};
use agentctl_n8n_tools::backend::Stored;
use agentctl_n8n_tools::report::QA_REPORT;
use agentctl_n8n_tools::tools::{CASES, REQUIREMENTS};
use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::Path;

/// A case as it stands in a file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseFile {
    /// The workflow that it is for, by id or name; None: any that it is given for.
    #[serde(default)]
    workflow: Option<String>,
    name: String,
    #[serde(default)]
    start: Option<String>,
    #[serde(default)]
    input: Item,
    #[serde(default)]
    mocks: IndexMap<String, Vec<Item>>,
    expect: Expect,
}

/// Each case's name, and what must come out of what; what is no case is left out.
pub fn named(cases: &[Value]) -> Vec<(String, String)> {
    let read = cases.iter().filter_map(|case| Case::deserialize(case).ok());
    let told = read.map(|case| {
        let told = prose(&plain_long(&case.in_words()));
        (prose(&plain(&case.name)), told)
    });
    told.collect()
}

/// The cases on a line each, as they are told before they are tried.
pub fn in_words(cases: &[Value]) -> Vec<String> {
    let line = |(name, told): (String, String)| match name.as_str() {
        "" => told,
        name => format!("{name}: {told}"),
    };
    named(cases).into_iter().map(line).collect()
}

/// Those that the requirements of a run hold, or the patch of its state.
pub fn of_state(state: &Map<String, Value>) -> &[Value] {
    let requirements = state.get(REQUIREMENTS);
    let cases = requirements.and_then(|fields| fields.get(CASES)?.as_array());
    cases.map_or(&[], Vec::as_slice)
}

pub const FOLDER: &str = "tests";
pub const ENDING: &str = ".case.yaml";
/// No case is larger, in bytes.
const LARGEST: u64 = 1024 * 1024;

/// A case file; with the workflow that it names.
pub fn read(file: &Path) -> Result<(Option<String>, Case), CliError> {
    let shown = plain_long(&file.display().to_string());
    let text = read_given_text(file, LARGEST).map_err(|e| CliError::io("read", file, &e))?;
    let read: CaseFile = yaml::typed(&text, &shown).map_err(|e| {
        CliError::usage(e.to_string()).hint("a case has name, expect, and where it needs them workflow, start, input, mocks (docs/testing.md)")
    })?;
    let case = Case {
        name: read.name,
        start: read.start,
        input: read.input,
        mocks: read.mocks,
        expect: read.expect,
    };
    Ok((read.workflow, case))
}

/// Whether a case that names a workflow so is of this one.
pub fn is_of(named: &str, stored: &Stored) -> bool {
    named == stored.id.0 || named == stored.workflow.name()
}

/// The cases of the project's folder that name this workflow.
fn of_folder(root: &Path, stored: &Stored) -> Result<Vec<Case>, CliError> {
    let folder = root.join(FOLDER);
    let entries = match std::fs::read_dir(&folder) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|e| CliError::io("read the folder", &folder, &e))?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry
            .map_err(|e| CliError::io("read the folder", &folder, &e))?
            .path();
        if path.to_str().is_some_and(|path| path.ends_with(ENDING)) {
            files.push(path);
        }
    }
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let (named, case) = read(&file)?;
        if named.as_ref().is_some_and(|name| is_of(name, stored)) {
            cases.push(case);
        }
    }
    Ok(cases)
}

/// Those of the files, and of the others those whose name no file has.
pub fn known(root: &Path, project: &Project, stored: &Stored) -> Result<Vec<Case>, CliError> {
    let mut cases = of_folder(root, stored)?;
    for case in tried_before(project, stored) {
        if cases.iter().all(|known| known.name != case.name) {
            cases.push(case);
        }
    }
    Ok(cases)
}

/// Those that the last build of the workflow tried. What cannot be read is none: it is no more than a convenience.
fn tried_before(project: &Project, stored: &Stored) -> Vec<Case> {
    let file = project.result_file(QA_REPORT, &stored.id.0);
    let Ok(text) = read_given_text(&file, LARGEST) else {
        return Vec::new();
    };
    let report: Value = serde_json::from_str(&text).unwrap_or_default();
    let cases = report.pointer(&format!("/{QA_REPORT}/cases"));
    let cases = cases.and_then(Value::as_array).into_iter().flatten();
    cases
        .filter_map(|tried| Case::deserialize(tried.get("case")?).ok())
        .collect()
}
