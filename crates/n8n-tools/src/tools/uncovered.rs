//! What no case says anything of: of a change the nodes that it added or changed, and of a request what must come out, where no case
//! was tried. Nothing was compared of it then.

use super::n8n::N8n;
use crate::backend::Stored;
use agentctl_engine::toolset::{Cx, Fault, Outcome};
use agentctl_n8n::diff::changes;
use agentctl_n8n::{Node, Workflow};
use serde_json::{Map, Value, json};

/// The key of a test's result, and of the report on it.
pub const NO_CASE_OF: &str = "no_case_of";
/// The same: what the request says must come out of what, where no case was tried; in words.
pub const NO_CASE: &str = "no_case";
/// The same: why the test is inconclusive, in words.
pub const OPEN_BECAUSE: &str = "inconclusive_because";

impl N8n {
    /// What this run added to a workflow of before, or changed in it; of one that it made nothing.
    pub(super) fn changed_here(&self, cx: &mut Cx<'_>, at: &Stored) -> Result<Vec<String>, Fault> {
        if cx.guards.log().made(&at.id.0) {
            return Ok(Vec::new());
        }
        let before = self.found(cx, at)?;
        Ok(before.map_or_else(Vec::new, |before| changed(&before, &at.workflow)))
    }
}

/// The nodes by their names now. A note does nothing, and a node that is switched off is not meant to be reached.
fn changed(before: &Workflow, after: &Workflow) -> Vec<String> {
    let diff = changes(before, after);
    let other = diff.nodes_changed.iter();
    let other = other.filter(|change| change.is_beyond_position() && !change.only_follows_rename());
    let names = diff
        .nodes_added
        .iter()
        .chain(other.map(|change| &change.after));
    let works = |name: &&String| {
        let node = after.node_by_name(name);
        node.is_some_and(|node: &Node| !node.is_sticky() && !node.disabled())
    };
    names
        .map(|node| &node.name)
        .filter(works)
        .cloned()
        .collect()
}

/// With what no case came to; also where that is nothing, since a test before it may have said otherwise.
pub(super) fn with_uncovered(changed: &[String], outcome: Outcome) -> Outcome {
    let Outcome::Ok(Value::Object(mut told)) = outcome else {
        return outcome;
    };
    if !changed.is_empty() {
        let missed: Vec<&String> = changed.iter().filter(|name| !came(&told, name)).collect();
        told.insert(NO_CASE_OF.into(), json!(missed));
    }
    Outcome::Ok(Value::Object(told))
}

/// A test that tried no case of a request that says what must come out is inconclusive at best. `asked`: that, in words.
pub(super) fn with_no_case(asked: Option<&str>, outcome: Outcome) -> Outcome {
    let Some(asked) = asked else { return outcome };
    let Outcome::Ok(Value::Object(mut told)) = outcome else {
        return outcome;
    };
    let tried = told.get("cases").and_then(Value::as_array);
    if tried.is_some_and(|cases| !cases.is_empty()) {
        return Outcome::Ok(Value::Object(told));
    }
    told.insert(NO_CASE.into(), asked.into());
    if told.get("test_status") == Some(&json!("pass")) {
        told.insert("test_status".into(), json!("inconclusive"));
        let because = "what ran came through, but nothing of what the request says was compared";
        told.insert(OPEN_BECAUSE.into(), because.into());
    }
    Outcome::Ok(Value::Object(told))
}

/// What the request says must come out of what, in words; None: it says nothing of it that the program reads. `cases`: those that it
/// read; `open`: an answer that the request names, and of which no case could be made.
pub(super) fn asked_for(cases: &[Value], open: Option<&str>) -> Option<String> {
    let told = cases.iter().filter_map(|case| {
        let name = case.get("name")?.as_str()?;
        let expect = case.get("expect")?;
        let answer = expect.get("answer").map(Value::to_string);
        let keys = || Some(format!("an answer with {}", expect.get("answer_has")?));
        Some(format!("{name}: {}", answer.or_else(keys)?))
    });
    let told: Vec<String> = told.collect();
    match told.is_empty() {
        true => open.map(str::to_owned),
        false => Some(told.join("; ")),
    }
}

fn came(told: &Map<String, Value>, node: &str) -> bool {
    let cases = told.get("cases").and_then(Value::as_array);
    let names = |case: &Value, key: &str| {
        let list = case.get(key).and_then(Value::as_array);
        list.is_some_and(|list| list.iter().any(|name| name == node))
    };
    let mut cases = cases.into_iter().flatten();
    cases.any(|case| names(case, "ran") || names(case, "simulated"))
}

#[cfg(test)]
mod uncovered_tests {
    use super::*;

    fn workflow(nodes: Value) -> Workflow {
        Workflow::from_value(json!({"name": "W", "nodes": nodes, "connections": {}})).unwrap()
    }

    fn node(name: &str, value: i64) -> Value {
        json!({"id": name, "name": name, "type": "n8n-nodes-base.set", "typeVersion": 3.4, "position": [0, value], "parameters": {"v": value}})
    }

    #[test]
    fn only_what_a_change_does_is_asked_for() {
        let off = json!({"id": "Off", "name": "Off", "type": "n8n-nodes-base.noOp", "typeVersion": 1, "position": [0, 0], "disabled": true, "parameters": {}});
        let before = workflow(json!([node("A", 1), node("B", 1)]));
        let mut moved = node("A", 1);
        moved["position"] = json!([9, 9]);
        let after = workflow(json!([moved, node("B", 2), node("New", 1), off]));
        assert_eq!(changed(&before, &after), ["New", "B"]);
    }

    #[test]
    fn a_test_that_tried_no_case_of_a_request_that_has_some_does_not_pass() {
        let cases = [json!({"name": "amount 5", "input": {}, "expect": {"answer": {"total": 10}}})];
        let asked = asked_for(&cases, None);
        assert_eq!(asked.as_deref(), Some("amount 5: {\"total\":10}"));
        let of = |asked: Option<&str>, told: Value| match with_no_case(asked, Outcome::Ok(told)) {
            Outcome::Ok(told) => [told["test_status"].clone(), told["no_case"].clone()],
            _ => panic!("a test that was made stays one"),
        };
        let plain = json!({"test_status": "pass"});
        let none = of(asked.as_deref(), plain.clone());
        assert_eq!(
            none,
            [json!("inconclusive"), json!("amount 5: {\"total\":10}")]
        );
        let tried = json!({"test_status": "pass", "cases": [{"name": "five"}]});
        assert_eq!(of(asked.as_deref(), tried), [json!("pass"), Value::Null]);
        // A failure stays one, and a request that says nothing of it is told nothing.
        let failed = of(asked.as_deref(), json!({"test_status": "fail"}));
        assert_eq!(failed[0], "fail");
        assert_eq!(of(None, plain), [json!("pass"), Value::Null]);
        // An answer that is worked out is asked for too.
        assert_eq!(
            asked_for(&[], Some("the name in upper case")).as_deref(),
            Some("the name in upper case")
        );
    }

    #[test]
    fn a_node_that_a_case_ran_or_simulated_is_covered() {
        let changed = ["A".to_owned(), "B".to_owned(), "C".to_owned()];
        let of = |told: Value| match with_uncovered(&changed, Outcome::Ok(told)) {
            Outcome::Ok(told) => told.get(NO_CASE_OF).cloned(),
            _ => panic!("a test that was made stays one"),
        };
        let case = json!({"ran": ["A"], "simulated": ["C"]});
        // A run without a case shows that it comes through, and nothing of what must come out.
        assert_eq!(
            of(json!({"ran": ["A", "B", "C"], "cases": [case]})),
            Some(json!(["B"]))
        );
        assert_eq!(of(json!({"ran": ["A", "B", "C"]})), Some(json!(changed)));
        let all = json!({"ran": ["A", "B"], "simulated": ["C"]});
        assert_eq!(of(json!({"cases": [all]})), Some(json!([])));
    }
}
