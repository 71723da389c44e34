//! What the page of a run says of its check and its test: the findings, the nodes, and the cases of the request.

use super::Told;
use crate::cli::cases;
use crate::cli::progress::plain;
use agentctl_base::counted::counted;
use agentctl_base::untrusted::prose;
use agentctl_n8n_tools::report::{Built, QA_REPORT, QaReport};
use agentctl_picture::page::{table, text};
use serde_json::Value;

/// What the run's own check and test came to.
pub(super) fn checked(told: &Told) -> Option<String> {
    let made = Built::of(&told.report.made, &told.report.lost);
    let cases = cases(told, made.qa_report.as_ref());
    let Some(qa) = made.qa_report else {
        return Some(cases).filter(|cases| !cases.is_empty());
    };
    let class = if qa.error_count > 0 { "error" } else { "good" };
    let mut part = format!(
        "<p><span class=\"{class}\">{}, {}</span>, cycle {}.</p>\n",
        counted(qa.error_count, "error"),
        counted(qa.warning_count, "warning"),
        qa.cycle
    );
    let section = told.report.sections.get(QA_REPORT);
    let findings = section
        .and_then(|r| r.get("findings"))
        .and_then(Value::as_array);
    let findings = findings.map(Vec::as_slice).unwrap_or_default();
    if !findings.is_empty() {
        let row = |finding: &Value| {
            let field = |key: &str| text(finding.get(key).and_then(Value::as_str).unwrap_or(""));
            ["severity", "code", "node", "message"].map(field).to_vec()
        };
        part.push_str(&table(
            &["severity", "code", "node", "what"],
            findings.iter().map(row),
        ));
    }
    part.push_str(&test(&qa));
    part.push_str(&cases);
    Some(part)
}

/// What must come out of what by the request, and what came of it; empty: the request says nothing of that.
fn cases(told: &Told, qa: Option<&QaReport>) -> String {
    let wanted = cases::named(cases::of_state(&told.report.state));
    if wanted.is_empty() {
        return String::new();
    }
    let field = |of: &Value, key: &str| of.get(key).and_then(Value::as_str).map(str::to_owned);
    let tried = |name: &str| {
        let mut all = qa.into_iter().flat_map(|qa| &qa.cases);
        all.find(|case| field(case, "name").is_some_and(|tried| prose(&plain(&tried)) == name))
    };
    let row = |(name, words): &(String, String)| {
        let (came_to, seen) = match tried(name) {
            None => ("not tried".to_owned(), String::new()),
            Some(case) => {
                let checks = case.get("checks").and_then(Value::as_array);
                let missed = checks.into_iter().flatten();
                let missed =
                    missed.filter(|check| field(check, "outcome").as_deref() != Some("passed"));
                let missed = missed.map(|check| {
                    let of = |key: &str| field(check, key).unwrap_or_default();
                    format!("{}: {}", of("what"), of("why"))
                });
                let outcome = field(case, "outcome").unwrap_or_default().replace('_', " ");
                (outcome, missed.collect::<Vec<_>>().join("; "))
            }
        };
        vec![text(name), text(words), text(&came_to), text(&seen)]
    };
    let rows = table(
        &[
            "case",
            "what must come out",
            "came to",
            "what was otherwise",
        ],
        wanted.iter().map(row),
    );
    format!("<h3>Cases</h3>\n{rows}")
}

/// The test, node by node.
fn test(qa: &QaReport) -> String {
    if !qa.executed {
        return "<p>It was not executed.</p>\n".to_owned();
    }
    let came_to = qa.test_status.as_deref().unwrap_or("unknown");
    let id = qa.execution_id.as_deref().unwrap_or("unknown");
    let mut part = format!("<p>Executed ({}): {}.</p>\n", text(id), text(came_to));
    let row = |name: &String, how: &str, why: &str| vec![text(name), how.to_owned(), text(why)];
    let because = |name: &String| qa.simulated_because.get(name).map_or("", String::as_str);
    let ran = qa.ran.iter().map(|name| row(name, "ran", ""));
    let simulated = qa
        .simulated
        .iter()
        .map(|name| row(name, "simulated", because(name)));
    let not = qa
        .not_reached
        .iter()
        .map(|name| row(name, "not reached", ""));
    let rows: Vec<Vec<String>> = ran.chain(simulated).chain(not).collect();
    if !rows.is_empty() {
        part.push_str(&table(&["node", "in the test", "why"], rows));
    }
    part
}
