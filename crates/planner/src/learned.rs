//! How the offline model uses what earlier runs taught: it looks up entries for the nodes in hand, and makes the repair that an
//! accepted entry names. An entry is data: its repair goes through the same tools, scope and guards as any other change.

use super::roles::Seen;
use agentctl_base::model::ToolStatus;
use serde_json::{Map, Value, json};

type Call = (&'static str, Value);

/// So many entries are read for a request.
const MOST: usize = 3;

/// Entries about the nodes that the request needs, when the index says that there are any at all.
pub fn look_up(input: &Map<String, Value>, node_types: &[String]) -> Option<Call> {
    let index = input.get("learnings")?.as_str()?;
    // Above the entries of an index stand two lines.
    if index.lines().count() <= 2 || node_types.is_empty() {
        return None;
    }
    let query: Vec<String> = node_types.iter().map(|t| format!("node:{t}")).collect();
    Some((
        "search_learnings",
        json!({"query": query.join(" "), "limit": MOST}),
    ))
}

/// Reads what the look-up found, once.
pub fn read_found(seen: &Seen<'_>) -> Option<Vec<Call>> {
    let found = seen.ok("search_learnings")?.get("learnings")?.as_array()?;
    let ids: Vec<&Value> = found.iter().filter_map(|line| line.get("id")).collect();
    if ids.is_empty() || seen.last("read_learning").is_some() {
        return None;
    }
    Some(vec![("read_learning", json!({"ids": ids}))])
}

/// What the entries say to do, for the builder.
pub fn guidance(seen: &Seen<'_>) -> Vec<String> {
    let Some(entries) = seen
        .ok("read_learning")
        .and_then(|c| c.get("learnings"))
        .and_then(Value::as_array)
    else {
        return Vec::new();
    };
    entries
        .iter()
        .filter_map(|entry| {
            let body = entry.get("body")?.as_str()?;
            let solution = body.lines().find_map(|l| l.strip_prefix("- solution: "))?;
            Some(format!("{}: {solution}", entry.get("id")?.as_str()?))
        })
        .collect()
}

/// What is to be done about the findings that entries know a repair for.
pub enum Repair {
    Call(Call),
    /// What was changed, for `fixes_tried`.
    Done(Vec<Value>),
}

/// Reads the workflow, changes it, tells what was changed: one call after the other.
pub fn repair(
    input: &Map<String, Value>,
    workflow: &str,
    findings: &[Value],
    seen: &Seen<'_>,
) -> Repair {
    let entries: &[Value] = input
        .get("learnings")
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice);
    let shown = findings.iter().any(|finding| from_run(finding).is_some());
    if !shown && !entries.iter().any(|entry| entry.get("fix").is_some()) {
        return Repair::Done(Vec::new());
    }
    let Some(summary) = seen.last("get_workflow") else {
        let names = findings.iter().filter_map(|f| f.get("node")?.as_str());
        let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
        let args = json!({"workflow_id": workflow, "view": "summary", "about": names.join(", ")});
        return Repair::Call(("get_workflow", args));
    };
    let tried: &[Value] = input
        .get("fixes_tried")
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice);
    let mut ops = Vec::new();
    let mut told = Vec::new();
    for finding in findings {
        let node_type = type_of(&summary.content, finding);
        let known = entries.iter().find_map(|entry| {
            let ops = operations(entry, finding, node_type)?;
            Some((format!("learning {}", entry.get("id")?.as_str()?), ops))
        });
        let known = known.or_else(|| Some(("the test run shows it".into(), from_run(finding)?)));
        let Some((why, of)) = known else { continue };
        // What did not help once does not help again.
        let again =
            |t: &Value| t.get("finding") == finding.get("id") && t.get("why") == Some(&json!(why));
        if tried.iter().any(again) {
            continue;
        }
        told.push(json!({"finding": finding.get("id"), "change": Value::Array(of.clone()).to_string(), "why": why}));
        ops.extend(of);
    }
    match seen.last("update_workflow") {
        None if ops.is_empty() => Repair::Done(Vec::new()),
        None => Repair::Call((
            "update_workflow",
            json!({"workflow_id": workflow, "ops": ops}),
        )),
        Some(done) if done.status == ToolStatus::Ok => Repair::Done(told),
        Some(_) => Repair::Done(Vec::new()),
    }
}

/// The change that an execution's own error points at.
fn from_run(finding: &Value) -> Option<Vec<Value>> {
    let code = finding.get("code")?.as_str()?;
    let ops = finding.pointer("/fix/ops")?.as_array()?;
    (code.starts_with("run/") && finding["severity"] == "error").then(|| ops.clone())
}

/// The type of the node that a finding is about.
fn type_of<'a>(workflow: &'a Value, finding: &Value) -> Option<&'a str> {
    let nodes = workflow.get("nodes")?.as_array()?;
    let same = |node: &&Value, key: &str, of: &str| {
        let named = finding.get(of).filter(|v| v.is_string());
        named.is_some() && node.get(key) == named
    };
    nodes
        .iter()
        .find(|node| same(node, "id", "node_id") || same(node, "name", "node"))?
        .get("type")?
        .as_str()
}

/// The operations that an entry names for a finding; None when it is about something else.
fn operations(entry: &Value, finding: &Value, node_type: Option<&str>) -> Option<Vec<Value>> {
    let holds = |key: &str, wanted: &str| {
        let list = entry.get(key).and_then(Value::as_array);
        list.is_some_and(|list| list.iter().any(|item| item.as_str() == Some(wanted)))
    };
    let about_any = entry
        .get("node_types")
        .and_then(Value::as_array)
        .is_none_or(Vec::is_empty);
    if !holds("finding_codes", finding.get("code")?.as_str()?)
        || !(about_any || node_type.is_some_and(|t| holds("node_types", t)))
    {
        return None;
    }
    let fix = entry.get("fix")?.as_str()?;
    if fix == "checker" {
        return finding.pointer("/fix/ops")?.as_array().cloned();
    }
    let node = finding.get("node_id").filter(|id| id.is_string());
    let node = node.or_else(|| finding.get("node"))?;
    let mut ops: Vec<Value> = serde_json::from_str(fix).ok()?;
    for op in &mut ops {
        op.as_object_mut()?
            .entry("node")
            .or_insert_with(|| node.clone());
    }
    Some(ops)
}
