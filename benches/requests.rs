//! Builds every request of a benchmark file with the built binary and writes one answer a request, in the form that a
//! scorer of such files reads.
//!
//! `cargo bench --bench requests -- REQUESTS.json OUTDIR [ID…]`
//!
//! REQUESTS.json: an array of `{"id", "kind": build|modify|clarify|refuse, "request", "existing"?: workflow}`.
//! OUTDIR/<id>.json: a workflow (`{"workflow", "questions", "notes"}`), `{"kind": "clarify", "questions"}` or
//! `{"kind": "refuse", "reason", "alternatives"}`. Requests are built with `--yes`, those of kind clarify without.
//! After it: how each ended, and whether `agentctl qa` finds an error in what was built.
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::type_complexity,
    clippy::print_stdout,
    reason = "tests and measurements fail loudly"
)]

use serde_json::{Value, json};

use std::error::Error;
use std::path::Path;
use std::process::Command;

const AGENTCTL: &str = env!("CARGO_BIN_EXE_agentctl");

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    let [file, out, ids @ ..] = args.as_slice() else {
        println!(
            "nothing to do: name a requests file and a folder, see the head of benches/requests.rs"
        );
        return Ok(());
    };
    std::fs::create_dir_all(out)?;
    let requests: Vec<Value> = serde_json::from_slice(&std::fs::read(file)?)?;
    let (mut built, mut with_errors, mut asked, mut refused, mut failed) = (0, 0, 0, 0, 0);
    for request in &requests {
        let id = request["id"].as_str().ok_or("a request without an id")?;
        if !ids.is_empty() && !ids.iter().any(|i| i == id) {
            continue;
        }
        let (answer, error_findings) = build(request)?;
        match answer["kind"].as_str() {
            None => built += 1,
            Some("clarify") => asked += 1,
            Some("refuse") => refused += 1,
            Some(_) => failed += 1,
        }
        if error_findings > 0 {
            with_errors += 1;
        }
        println!(
            "{id:>4} {:<8} errors {error_findings}",
            answer["kind"].as_str().unwrap_or("built")
        );
        std::fs::write(
            Path::new(out).join(format!("{id}.json")),
            serde_json::to_string_pretty(&answer)?,
        )?;
    }
    println!(
        "built {built} ({with_errors} with error findings), asked {asked}, refused {refused}, failed {failed}"
    );
    Ok(())
}

/// One request in a project of its own: the answer, and the error findings of the workflow it left.
fn build(request: &Value) -> Result<(Value, usize), Box<dyn Error>> {
    let project = tempfile::tempdir()?;
    let mut command = Command::new(AGENTCTL);
    command.arg("--project").arg(project.path()).args([
        "--quiet",
        "--output-format",
        "json",
        "build",
        "--no-input",
    ]);
    if request["kind"] != "clarify" {
        command.arg("--yes");
    }
    if let Some(existing) = request.get("existing").filter(|e| e.is_object()) {
        let path = project.path().join("workflows/existing.json");
        std::fs::create_dir_all(project.path().join("workflows"))?;
        std::fs::write(&path, serde_json::to_string_pretty(existing)?)?;
        command.arg("--workflow").arg(&path);
    }
    let output = command
        .arg(
            request["request"]
                .as_str()
                .ok_or("a request without a text")?,
        )
        .output()?;
    let report: Value = serde_json::from_slice(&output.stdout).map_err(|e| {
        format!(
            "{}: no JSON on stdout ({e}); stderr: {}",
            request["id"],
            String::from_utf8_lossy(&output.stderr)
        )
    })?;
    let answer = match output.status.code() {
        Some(0) => {
            let file = project
                .path()
                .join(report["workflow"]["file"].as_str().unwrap_or_default());
            let workflow: Value = serde_json::from_slice(&std::fs::read(&file)?)?;
            let checked = Command::new(AGENTCTL)
                .args(["--output-format", "json", "qa"])
                .arg(&file)
                .output()?;
            let qa: Value = serde_json::from_slice(&checked.stdout)?;
            let errors = qa["summary"]["errors"].as_u64().unwrap_or(1) as usize;
            return Ok((
                json!({"workflow": workflow, "questions": report["questions"], "notes": report["notes"]}),
                errors,
            ));
        }
        Some(4) => json!({"kind": "clarify", "questions": report["questions"]}),
        Some(5) => {
            json!({"kind": "refuse", "reason": report["refusal"]["reason"], "alternatives": report["refusal"]["alternatives"]})
        }
        code => json!({"kind": "failed", "exit_code": code, "report": report}),
    };
    Ok((answer, 0))
}
