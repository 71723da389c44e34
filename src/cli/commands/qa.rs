//! `agentctl qa PATH…`: checks workflow files; every file is checked, whatever is wrong with the others.

use crate::cli::args::{FailOn, QaArgs};
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::n8n::catalog::Catalog;
use crate::n8n::finding::{Finding, Severity};
use crate::n8n::validate;
use console::style;
use serde_json::{Value, json};
use std::io::Read;
use std::path::{Path, PathBuf};

/// What was found in one file.
struct Checked {
    path: String,
    workflow: Option<String>,
    nodes: usize,
    findings: Vec<Finding>,
}

pub fn qa(args: &QaArgs, out: &Output) -> Result<Exit, CliError> {
    let mut files = Vec::new();
    let mut skipped = Vec::new();
    for path in &args.paths {
        collect(path, &mut files)?;
    }
    if files.is_empty() {
        return Err(
            CliError::usage(format!("no workflow files in {}", list(&args.paths)))
                .hint("name a .json file, a folder that has some, or `-` for stdin"),
        );
    }
    let catalog = Catalog::embedded();
    let mut checked = Vec::with_capacity(files.len());
    for file in &files {
        match check(file, catalog)? {
            Some(result) => checked.push(keep(result, args)),
            None => skipped.push(file.path.display().to_string()),
        }
    }
    let count = |s: Severity| {
        checked
            .iter()
            .flat_map(|c| &c.findings)
            .filter(|f| f.severity == s)
            .count()
    };
    let (errors, warnings, infos) = (
        count(Severity::Error),
        count(Severity::Warning),
        count(Severity::Info),
    );
    let failed = match args.fail_on {
        FailOn::Never => false,
        FailOn::Error => errors > 0,
        FailOn::Warning => errors + warnings > 0,
    };
    let exit = if failed { Exit::Failed } else { Exit::Complete };
    out.answer(
        exit,
        || text(&checked, &skipped, errors, warnings),
        || {
            json!({
                "files": checked.iter().map(|c| json!({"path": c.path, "workflow": c.workflow, "nodes": c.nodes, "findings": c.findings})).collect::<Vec<_>>(),
                "summary": {"files": checked.len(), "skipped": skipped, "errors": errors, "warnings": warnings, "infos": infos, "failed": failed}
            })
        },
    )
}

struct Source {
    path: PathBuf,
    /// Named by the user (and not found by walking a folder): it must be a workflow.
    named: bool,
}

fn collect(path: &Path, files: &mut Vec<Source>) -> Result<(), CliError> {
    if path == Path::new("-") || path.is_file() {
        files.push(Source {
            path: path.to_owned(),
            named: true,
        });
        return Ok(());
    }
    if !path.is_dir() {
        return Err(CliError::usage(format!("{} is not there", path.display()))
            .hint("name a workflow file or a folder"));
    }
    for entry in walkdir::WalkDir::new(path).sort_by_file_name() {
        let entry =
            entry.map_err(|e| CliError::failed(format!("cannot walk {}: {e}", path.display())))?;
        if entry.file_type().is_file() && entry.path().extension().is_some_and(|e| e == "json") {
            files.push(Source {
                path: entry.into_path(),
                named: false,
            });
        }
    }
    Ok(())
}

/// None: a JSON file met in a folder that is no workflow at all (no `nodes`).
fn check(source: &Source, catalog: &Catalog) -> Result<Option<Checked>, CliError> {
    let path = source.path.display().to_string();
    let bytes = if path == "-" {
        let mut bytes = Vec::new();
        std::io::stdin()
            .lock()
            .read_to_end(&mut bytes)
            .map_err(|e| CliError::failed(format!("cannot read stdin: {e}")))?;
        bytes
    } else {
        std::fs::read(&source.path).map_err(|e| CliError::io("read", &source.path, &e))?
    };
    let document: Value = match serde_json::from_slice(&bytes) {
        Ok(document) => document,
        Err(e) => {
            let finding = broken(&e);
            return Ok(Some(Checked {
                path,
                workflow: None,
                nodes: 0,
                findings: vec![finding],
            }));
        }
    };
    if !source.named && document.get("nodes").is_none() {
        return Ok(None);
    }
    let workflow = document
        .get("name")
        .and_then(Value::as_str)
        .map(str::to_owned);
    let nodes = document
        .get("nodes")
        .and_then(Value::as_array)
        .map_or(0, Vec::len);
    let findings = validate::validate_value(&document, catalog);
    Ok(Some(Checked {
        path,
        workflow,
        nodes,
        findings,
    }))
}

/// A file that is not JSON: n8n cannot import it.
fn broken(error: &serde_json::Error) -> Finding {
    Finding {
        id: "invalid-json".into(),
        code: "n8n/structure".into(),
        severity: Severity::Error,
        node: None,
        node_id: None,
        pointer: String::new(),
        place: None,
        message: format!(
            "not valid JSON at line {}, column {}: {error}",
            error.line(),
            error.column()
        ),
        fix: None,
    }
}

fn keep(mut checked: Checked, args: &QaArgs) -> Checked {
    let matches = |code: &str, wanted: &str| {
        code == wanted || (wanted.ends_with('/') && code.starts_with(wanted))
    };
    checked.findings.retain(|f| {
        (args.only.is_empty() || args.only.iter().any(|w| matches(&f.code, w)))
            && !args.ignore.iter().any(|w| matches(&f.code, w))
    });
    checked
}

fn text(checked: &[Checked], skipped: &[String], errors: usize, warnings: usize) -> String {
    let mut out = String::new();
    for file in checked.iter().filter(|c| !c.findings.is_empty()) {
        out.push_str(&format!("{}\n", style(&file.path).bold()));
        for finding in &file.findings {
            out.push_str(&finding_line(finding));
        }
        out.push('\n');
    }
    if !skipped.is_empty() {
        out.push_str(&format!(
            "{} JSON files without nodes were skipped (no workflows)\n",
            skipped.len()
        ));
    }
    let files = checked.len();
    let clean = checked.iter().filter(|c| c.findings.is_empty()).count();
    out.push_str(&format!(
        "{files} files, {clean} clean, {errors} errors, {warnings} warnings\n"
    ));
    out
}

/// One finding, with its node and where it is.
pub fn finding_line(finding: &Finding) -> String {
    let severity = match finding.severity {
        Severity::Error => style("error  ").red().bold(),
        Severity::Warning => style("warning").yellow(),
        Severity::Info => style("info   ").dim(),
    };
    let node = finding
        .node
        .as_deref()
        .map(|n| format!(" [{}]", super::super::progress::plain(n)))
        .unwrap_or_default();
    let mut line = format!(
        "  {severity} {}{node} {}\n",
        style(&finding.code).cyan(),
        super::super::progress::plain_long(&finding.message)
    );
    if !finding.pointer.is_empty() {
        line.push_str(&format!("          {}\n", style(&finding.pointer).dim()));
    }
    if let Some(fix) = &finding.fix {
        line.push_str(&format!("          fix: {}\n", fix.title));
    }
    line
}

fn list(paths: &[PathBuf]) -> String {
    paths
        .iter()
        .map(|p| p.display().to_string())
        .collect::<Vec<_>>()
        .join(", ")
}
