//! n8n's part of a run's report: the workflow, where it is, how it was checked, what was lost. Made from the journal's changes and
//! from the fields to which the flow gives these sections.

use crate::noted::{Counted, Noted};
use crate::resources::{NODE_FACTS, PLACE};
use crate::tools::{NO_CASE, NO_CASE_OF, OPEN_BECAUSE};
use agentctl_engine::claims::Reported;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The section about the workflow that was made or changed.
pub const WORKFLOW: &str = "workflow";
/// The section about its last check.
pub const QA_REPORT: &str = "qa_report";
const LOSSES: &str = "losses";

/// The sections that a field of the flow may make.
pub const SECTIONS: [&str; 2] = [WORKFLOW, QA_REPORT];

/// n8n's sections of the report, typed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Built {
    pub workflow: Option<WorkflowReport>,
    /// The address of the n8n that it worked on; None: files of the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n8n: Option<String>,
    /// The node facts are not those of that n8n, so node types and versions were not checked against it: whose they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_facts: Option<String>,
    pub qa_report: Option<QaReport>,
    /// What was lost of each workflow, by id, and from when that was counted; only where something was.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub losses: BTreeMap<String, Counted>,
}

impl Built {
    /// Out of the sections of a report.
    pub fn of(made: &Map<String, Value>, lost: &Map<String, Value>) -> Built {
        let all = made.iter().chain(lost);
        let all = all.map(|(key, value)| (key.clone(), value.clone()));
        serde_json::from_value(Value::Object(all.collect())).unwrap_or_default()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkflowReport {
    pub id: String,
    pub name: String,
    /// Below the project, when the backend keeps files.
    pub file: Option<String>,
    pub node_count: u64,
    pub graph_hash: String,
    /// Not all that was asked for is in it: `not_understood` names the rest.
    #[serde(default)]
    pub draft: bool,
    /// The phrases of the request that whoever built it did not understand, as they stand in the request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_understood: Vec<String>,
    /// How many parts the request has, and how many of them are built; None: whoever built it did not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Parts>,
    /// What was decided while it was built, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What the check warns of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    pub code: String,
    /// The node that it is about; None: the workflow as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    pub message: String,
}

/// A requirement that is not in the workflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NotCovered {
    /// As the requirements have it.
    pub requirement: Value,
    /// What is missing, in words.
    pub missing: String,
}

/// How much of a request is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parts {
    pub built: u64,
    pub of: u64,
}

/// How many phrases a line quotes.
pub const MOST_QUOTED: usize = 5;

/// Phrases in one line, each in quotes; of many the first ones, and how many more there are.
pub fn quoted(phrases: &[Value]) -> String {
    let said = phrases.iter().filter_map(Value::as_str);
    let mut shown: Vec<String> = said
        .take(MOST_QUOTED)
        .map(|phrase| format!("'{phrase}'"))
        .collect();
    if phrases.len() > MOST_QUOTED {
        shown.push(format!("{} more", phrases.len() - MOST_QUOTED));
    }
    shown.join(", ")
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QaReport {
    pub status: String,
    pub error_count: u64,
    pub warning_count: u64,
    /// The warnings that are about the workflow itself: a credential that is still to be connected stands in what is left to do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    pub cycle: u64,
    /// False: it was checked, never run.
    pub executed: bool,
    /// n8n's id of the last test run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<String>,
    /// `pass`, `fail`, or `inconclusive`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_status: Option<String>,
    /// Why it is inconclusive, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inconclusive_because: Option<String>,
    /// The cases that were tried: `name`, `outcome`, `checks` with what was seen, `execution`, and which nodes ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<Value>,
    /// The request says what must come out of what, and nobody tried it: what, in words. The test is no more than inconclusive then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_case: Option<String>,
    /// Of a change: the nodes that it added or changed to which no case came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub no_case_of: Vec<String>,
    /// The nodes that ran in it, those in whose place something stood, and those that it did not come to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ran: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub simulated: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_reached: Vec<String>,
    /// Those of `not_reached` that act on the outside world, so that nothing is known of what they would do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untried: Vec<String>,
    /// Why each of the simulated ones did not run, by its name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub simulated_because: BTreeMap<String, String>,
    /// The name of the temporary workflow that it ran on; None: on the workflow itself, or not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<String>,
    /// What left n8n in the test: `node`, `by` (`host` or `let_act`), and the `host` or the node's `type`. Empty: nothing did. None:
    /// it was not executed, or before this was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub egress: Option<Vec<Value>>,
    /// Why it was not executed; None: it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_executed: Option<String>,
    /// The requirements that the workflow does not answer for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_covered: Vec<NotCovered>,
    /// What could not be taken away again, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_behind: Option<String>,
    /// What the server behind the n8n says of the workflow by rules of its own: `name` with `valid`, `errors` and `warnings`, or
    /// with `failed`. It decides nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<Value>,
}

/// The sections: what was made and how it was checked, and what was lost.
pub fn sections(of: &Reported<'_>) -> (Map<String, Value>, Map<String, Value>) {
    let said = |key: &str| of.input.get(key)?.as_str().map(str::to_owned);
    let built = Built {
        workflow: workflow_report(of),
        n8n: said(PLACE),
        node_facts: said(NODE_FACTS),
        qa_report: (of.state_of)(QA_REPORT)
            .and_then(Value::as_object)
            .filter(|report| !report.is_empty())
            .map(|report| qa_report(report, of.cycle)),
        losses: (of.noted.iter())
            .filter_map(|(id, noted)| Some((id.clone(), Noted::shown(noted).counted?)))
            .filter(|(_, counted)| counted.lost > 0)
            .collect(),
    };
    let Ok(Value::Object(mut made)) = serde_json::to_value(built) else {
        return Default::default();
    };
    let lost = made.shift_remove_entry(LOSSES);
    (made, lost.into_iter().collect())
}

fn workflow_report(of: &Reported<'_>) -> Option<WorkflowReport> {
    let state = (of.state_of)(WORKFLOW);
    let claimed = state.and_then(|w| w.get("id")).and_then(Value::as_str);
    // What the journal says was changed is reported even when no agent got to say so.
    let last = of.changes.last(claimed)?;
    let id = last.change.id();
    let graph_hash = last.change.after.clone()?;
    if of.undone.iter().any(|undone| undone == id) {
        return None;
    }
    let texts = |key: &str| -> Vec<String> {
        let list = state.and_then(|w| w.get(key)).and_then(Value::as_array);
        let texts = list.into_iter().flatten().filter_map(Value::as_str);
        texts.map(str::to_owned).collect()
    };
    let not_understood = texts("not_understood");
    let parts = state.and_then(|w| w.get("parts"));
    Some(WorkflowReport {
        id: id.to_owned(),
        name: of.changes.name(id).unwrap_or(id).to_owned(),
        file: of.changes.file(id).map(str::to_owned),
        node_count: last.change.size as u64,
        graph_hash,
        draft: !not_understood.is_empty(),
        not_understood,
        parts: parts.and_then(|parts| serde_json::from_value(parts.clone()).ok()),
        notes: texts("notes"),
    })
}

fn qa_report(report: &Map<String, Value>, cycle: u32) -> QaReport {
    let number = |key: &str| report.get(key).and_then(Value::as_u64).unwrap_or(0);
    let findings = report.get("findings").and_then(Value::as_array);
    // A run that was interrupted has its findings before they are counted.
    let counted = |key: &str, severity: &str| {
        let of = |f: &&Value| f.get("severity").and_then(Value::as_str) == Some(severity);
        let listed = findings.into_iter().flatten().filter(of).count() as u64;
        let told = report.get(key).and_then(Value::as_u64);
        told.unwrap_or(0).max(listed)
    };
    let executed = report.get("executed") == Some(&Value::Bool(true));
    let text = |value: Option<&Value>| {
        let text = value.and_then(Value::as_str).filter(|_| executed);
        text.map(str::to_owned)
    };
    let names = |key: &str| -> Vec<String> {
        let list = report.get(key).and_then(Value::as_array);
        let list = list.filter(|_| executed).into_iter().flatten();
        list.filter_map(|name| name.as_str().map(str::to_owned))
            .collect()
    };
    let cases = tried(report.get("cases").filter(|_| executed));
    QaReport {
        status: report
            .get("status")
            .and_then(Value::as_str)
            .unwrap_or("unknown")
            .to_owned(),
        error_count: counted("error_count", "error"),
        warning_count: counted("warning_count", "warning"),
        warnings: warnings(findings.map_or(&[], Vec::as_slice)),
        cycle: number("cycle").max(u64::from(cycle)),
        executed,
        execution_id: text(report.get("execution").and_then(|e| e.get("id"))),
        test_status: text(report.get("test_status")),
        inconclusive_because: text(report.get(OPEN_BECAUSE).filter(|_| executed)),
        cases,
        no_case: text(report.get(NO_CASE).filter(|_| executed)),
        no_case_of: names(NO_CASE_OF),
        ran: names("ran"),
        simulated: names("simulated"),
        not_reached: names("not_reached"),
        untried: names("untried"),
        simulated_because: reasons(report.get("nodes").filter(|_| executed)),
        copy: text(report.get("copy")),
        egress: report
            .get("egress")
            .and_then(Value::as_array)
            .filter(|_| executed)
            .cloned(),
        not_executed: (report.get("not_executed").and_then(Value::as_str))
            .filter(|_| !executed)
            .map(str::to_owned),
        not_covered: (report.get("not_covered").cloned())
            .and_then(|list| serde_json::from_value(list).ok())
            .unwrap_or_default(),
        left_behind: text(report.get("left_behind")),
        server: report.get("server").filter(|s| s.is_object()).cloned(),
    }
}

/// The findings that warn, but for those about credentials.
fn warnings(findings: &[Value]) -> Vec<Warning> {
    let warns = |f: &&Value| f.get("severity").and_then(Value::as_str) == Some("warning");
    let warnings = findings.iter().filter(warns);
    let warnings = warnings.filter_map(|f| Warning::deserialize(f).ok());
    warnings.filter(|w| !is_of_credentials(&w.code)).collect()
}

/// Whether a finding's code is about a credential: `n8n/credential`, `agentctl/credential-not-connected`.
pub fn is_of_credentials(code: &str) -> bool {
    let rule = code.rsplit('/').next().unwrap_or_default();
    rule.starts_with("credential")
}

/// The cases of a test, each without the case itself: it stands in the requirements, and in the QA report of the project.
fn tried(cases: Option<&Value>) -> Vec<Value> {
    let cases = cases.and_then(Value::as_array).into_iter().flatten();
    let cases = cases.filter_map(Value::as_object).cloned();
    cases
        .map(|mut case| {
            case.shift_remove("case");
            Value::Object(case)
        })
        .collect()
}

/// Why nodes were simulated, by their names.
fn reasons(nodes: Option<&Value>) -> BTreeMap<String, String> {
    let nodes = nodes.and_then(Value::as_array).into_iter().flatten();
    let text = |node: &Value, key: &str| node.get(key)?.as_str().map(str::to_owned);
    nodes
        .filter(|node| node.get("as").and_then(Value::as_str) == Some("simulated"))
        .filter_map(|node| Some((text(node, "node")?, text(node, "because")?)))
        .collect()
}

#[cfg(test)]
mod report_tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn why_a_test_is_inconclusive_is_what_the_run_said() {
        let state = json!({"executed": true, "test_status": "inconclusive", "no_case": "amount 5: 10",
            "inconclusive_because": "nothing was compared", "cases": [{"name": "five", "case": {"name": "five"}}]});
        let told = qa_report(state.as_object().unwrap(), 1);
        assert_eq!(told.test_status.as_deref(), Some("inconclusive"));
        assert_eq!(
            told.inconclusive_because.as_deref(),
            Some("nothing was compared")
        );
        assert_eq!(told.no_case.as_deref(), Some("amount 5: 10"));
        assert_eq!(told.cases, [json!({"name": "five"})]);
    }

    #[test]
    fn warnings_are_told_but_for_those_of_credentials() {
        let finding = |code: &str, severity: &str| json!({"code": code, "severity": severity, "node": "If", "message": "compares fixed values only", "pointer": ""});
        let findings = [
            finding("n8n/credential", "warning"),
            finding("agentctl/constant-condition", "warning"),
            finding("n8n/parameter", "error"),
        ];
        let state = json!({"status": "pass", "findings": findings});
        let told = qa_report(state.as_object().unwrap(), 1);
        let warnings = json!(told.warnings);
        assert_eq!(
            warnings,
            json!([{"code": "agentctl/constant-condition", "node": "If", "message": "compares fixed values only"}])
        );
    }

    #[test]
    fn an_interrupted_run_counts_the_findings_that_it_lists() {
        let findings = json!([{"severity": "warning"}, {"severity": "warning"}]);
        let state = json!({"status": "pass", "findings": findings});
        let told = qa_report(state.as_object().unwrap(), 1);
        assert_eq!((told.error_count, told.warning_count), (0, 2));
    }
}
