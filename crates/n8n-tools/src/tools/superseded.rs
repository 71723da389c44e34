//! Cases of before, in a run that changes the workflow: what a case expects may be just what was to be changed. Where it comes to what
//! was changed, that it comes out otherwise now is told, and is no error. What the change does not touch still has to come out so.

use super::n8n::N8n;
use crate::backend::Stored;
use agentctl_engine::toolset::{Cx, Fault};
use agentctl_n8n::Workflow;
use agentctl_n8n::diff::{Aspect, changes};
use agentctl_n8n::rehearsal::{CaseVerdict, Trace};

/// What a change did to nodes that were there before.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Touched {
    /// Those whose work it changed, by their names now.
    changed: Vec<String>,
    /// Those that it took away, by their names then.
    removed: Vec<String>,
}

impl N8n {
    /// What this run did to a workflow of before; of one that it made nothing.
    pub(super) fn touched_here(&self, cx: &mut Cx<'_>, at: &Stored) -> Result<Touched, Fault> {
        if cx.guards.log().made(&at.id.0) {
            return Ok(Touched::default());
        }
        let before = self.found(cx, at)?;
        Ok(before.map_or_else(Touched::default, |before| {
            Touched::of(&before, &at.workflow)
        }))
    }
}

impl Touched {
    fn of(before: &Workflow, after: &Workflow) -> Touched {
        let diff = changes(before, after);
        let works = |aspect: &Aspect| {
            matches!(
                aspect,
                Aspect::Parameters | Aspect::Type | Aspect::TypeVersion | Aspect::Disabled
            )
        };
        let changed = diff.nodes_changed.iter();
        let changed = changed
            .filter(|change| change.aspects.iter().any(works) && !change.only_follows_rename());
        Touched {
            changed: changed.map(|change| change.after.name.clone()).collect(),
            removed: (diff.nodes_removed.iter())
                .map(|node| node.name.clone())
                .collect(),
        }
    }

    /// Whether the case yields to the change: something of it did not come, and the run came to what was changed.
    pub fn takes_over(&self, judged: &mut CaseVerdict, trace: &Trace) -> bool {
        let on_its_way = self.changed.iter().filter(|name| trace.ran(name));
        let names: Vec<String> = on_its_way
            .chain(&self.removed)
            .map(|name| format!("{name:?}"))
            .collect();
        if names.is_empty() {
            return false;
        }
        let before = judged.clone();
        judged.say_nothing(&format!(
            "it is a case of before, and this change changes {}",
            names.join(", ")
        ));
        *judged != before
    }
}

#[cfg(test)]
mod superseded_tests {
    use super::*;
    use agentctl_n8n::rehearsal::{CaseOutcome, Check};
    use serde_json::{Value, json};

    fn workflow(threshold: i64, answer: &str) -> Workflow {
        let node = |name: &str, parameters: Value| json!({"id": name, "name": name, "type": "n8n-nodes-base.set", "typeVersion": 3.4, "position": [0, 0], "parameters": parameters});
        let nodes = json!([
            node("Big?", json!({"over": threshold})),
            node("Yes", json!({"answer": answer})),
            node("No", json!({"answer": "no"})),
        ]);
        Workflow::from_value(json!({"name": "W", "nodes": nodes, "connections": {}})).unwrap()
    }

    fn ran(nodes: &[&str]) -> Trace {
        let runs = nodes.iter().map(|name| {
            (
                (*name).to_owned(),
                json!([{"data": {"main": [[{"json": {}}]]}}]),
            )
        });
        let runs: serde_json::Map<String, Value> = runs.collect();
        Trace::read(
            &json!({"id": "1", "status": "success", "data": {"resultData": {"runData": runs}}}),
        )
    }

    fn judged(outcome: CaseOutcome) -> CaseVerdict {
        let check = Check {
            what: "answer".to_owned(),
            outcome,
            why: "no, not yes".to_owned(),
            seen: Some(json!("no")),
        };
        CaseVerdict {
            outcome,
            checks: vec![check],
        }
    }

    #[test]
    fn a_case_of_before_yields_to_a_change_of_what_it_comes_to_and_to_no_other() {
        let before = workflow(100, "yes");
        let outcome = |after: &Workflow, nodes: &[&str], was: CaseOutcome| {
            let mut judged = judged(was);
            let touched = Touched::of(&before, after);
            let yields = touched.takes_over(&mut judged, &ran(nodes));
            (yields, judged.outcome)
        };
        let (failed, open) = (CaseOutcome::Failed, CaseOutcome::Inconclusive);
        // The border was changed, and the literal answer.
        let border = workflow(250, "yes");
        assert_eq!(outcome(&border, &["Big?", "No"], failed), (true, open));
        let answer = workflow(100, "sure");
        assert_eq!(outcome(&answer, &["Big?", "Yes"], failed), (true, open));
        // The other branch was changed: this one still has to do what it did.
        assert_eq!(outcome(&answer, &["Big?", "No"], failed), (false, failed));
        assert_eq!(outcome(&before, &["Big?", "No"], failed), (false, failed));
        // What came out as before stays a case.
        let passed = CaseOutcome::Passed;
        assert_eq!(outcome(&border, &["Big?", "Yes"], passed), (false, passed));
    }
}
