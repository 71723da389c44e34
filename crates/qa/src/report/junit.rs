//! JUnit XML: a suite for each workflow, a case for each finding. What fails the check is a failure, what is known or waived is
//! skipped, the rest passes and says so in its output. A workflow without findings has one case that passes.

use crate::check::{Checked, Judged, State};
use crate::source::relative;
use crate::summary::Threshold;
use std::fmt::Write as _;
use std::path::Path;

/// `root` is the folder that paths are seen from (the repository's).
pub fn junit(files: &[Checked], threshold: Threshold, root: &Path) -> String {
    let mut suites = String::new();
    let (mut tests, mut failures) = (0, 0);
    for file in files {
        let path = relative(Path::new(&file.path), root);
        let mut cases = String::new();
        let count = file.findings.len().max(1);
        let (mut failed, mut passed_over) = (0, 0);
        for judged in &file.findings {
            match case(judged, &path, threshold, &mut cases) {
                Verdict::Failed => failed += 1,
                Verdict::Skipped => passed_over += 1,
                Verdict::Passed => {}
            }
        }
        if file.findings.is_empty() {
            let name = file.workflow.as_deref().unwrap_or("workflow");
            let _ = writeln!(
                cases,
                "    <testcase classname=\"{}\" name=\"{}\" time=\"0\"/>",
                escaped(&path),
                escaped(name)
            );
        }
        // Writing to a String cannot fail.
        let _ = writeln!(
            suites,
            "  <testsuite name=\"{}\" tests=\"{count}\" failures=\"{failed}\" errors=\"0\" skipped=\"{passed_over}\" time=\"0\">",
            escaped(&path)
        );
        suites.push_str(&cases);
        suites.push_str("  </testsuite>\n");
        tests += count;
        failures += failed;
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"agentctl qa\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" time=\"0\">\n{suites}</testsuites>\n"
    )
}

enum Verdict {
    Failed,
    Skipped,
    Passed,
}

fn case(judged: &Judged, path: &str, threshold: Threshold, out: &mut String) -> Verdict {
    let finding = &judged.finding;
    let node = finding
        .node
        .as_deref()
        .map(|n| format!(" [{n}]"))
        .unwrap_or_default();
    let severity = finding.severity.name();
    let (message, code) = (escaped(&finding.message), escaped(&finding.code));
    let text = escaped(&format!(
        "{severity} {}{node}\n{}\nat {path}:{}:{} {}\n",
        finding.code, finding.message, judged.place.line, judged.place.column, finding.pointer
    ));
    // The id keeps the names of cases apart, so that a CI system can follow one over time.
    let name = escaped(&format!("{}{node} {}", finding.code, finding.id));
    let (verdict, body) = match &judged.state {
        State::Known => (
            Verdict::Skipped,
            "<skipped message=\"in the baseline\"/>".to_owned(),
        ),
        State::Waived { reason, expires } => {
            let why = escaped(&format!("waived until {expires}: {reason}"));
            (Verdict::Skipped, format!("<skipped message=\"{why}\"/>"))
        }
        State::Open if threshold.fails(finding) => (
            Verdict::Failed,
            format!("<failure type=\"{code}\" message=\"{message}\">{text}</failure>"),
        ),
        State::Open => (Verdict::Passed, format!("<system-out>{text}</system-out>")),
    };
    let _ = writeln!(
        out,
        "    <testcase classname=\"{}\" name=\"{name}\" time=\"0\">{body}</testcase>",
        escaped(path)
    );
    verdict
}

/// Text for an element or an attribute; what XML cannot hold becomes a question mark.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
#[path = "junit_tests.rs"]
mod junit_tests;
