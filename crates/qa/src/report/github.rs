//! GitHub annotations: workflow commands that the runner turns into remarks beside the lines of a pull request.

use crate::check::{Checked, State};
use crate::source::relative;
use agentctl_n8n::finding::Severity;
use std::fmt::Write as _;
use std::path::Path;

/// One line for each open finding; `root` is the folder that paths are seen from (the repository's).
pub fn annotations(files: &[Checked], root: &Path) -> String {
    let mut out = String::new();
    for file in files {
        let path = property(&relative(Path::new(&file.path), root));
        for judged in file.findings.iter().filter(|j| j.state == State::Open) {
            let finding = &judged.finding;
            let command = match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Info => "notice",
            };
            let node = finding
                .node
                .as_deref()
                .map(|n| format!("{n}: "))
                .unwrap_or_default();
            let place = &judged.place;
            // Writing to a String cannot fail.
            let _ = writeln!(
                out,
                "::{command} file={path},line={},endLine={},col={},endColumn={},title={}::{}",
                place.line,
                place.end_line,
                place.column,
                place.end_column,
                property(&finding.code),
                message(&format!("{node}{}", finding.message)),
            );
        }
    }
    out
}

fn message(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
#[path = "github_tests.rs"]
mod github_tests;
