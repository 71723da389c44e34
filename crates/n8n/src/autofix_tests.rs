use super::*;
use crate::catalog::Catalog;
use crate::edit::EditOp;
use crate::finding::Fix;
use crate::validate::validate;
use serde_json::json;

fn workflow() -> Workflow {
    let nodes = json!([
        {"id": "h", "name": "Hook", "type": "n8n-nodes-base.webhook", "typeVersion": 2, "position": [0, 0], "parameters": {"path": "x"}},
        {"id": "a", "name": "Ask", "type": "n8n-nodes-base.httpRequest", "typeVersion": 4.2, "position": [0, 0],
            "parameters": {"url": "https://x.test/{{ $json.id }}", "onError": "continueRegularOutput"}},
        {"id": "b", "name": "Tell", "type": "n8n-nodes-base.httpRequest", "typeVersion": 4.2, "position": [0, 0], "parameters": {"url": "https://x.test/{{ $json.id }}"}},
    ]);
    let connections = json!({"Hook": {"main": [[{"node": "Ask", "type": "main", "index": 0}]]}, "Ask": {"main": [[{"node": "Tell", "type": "main", "index": 0}]]}});
    Workflow::from_value(json!({"name": "W", "nodes": nodes, "connections": connections})).unwrap()
}

fn check(workflow: &Workflow) -> Vec<Finding> {
    validate(workflow, Catalog::embedded())
}

fn run(
    wanted: &dyn Fn(&Finding) -> bool,
    allowed: &dyn Fn(&Workflow) -> bool,
    check: &dyn Fn(&Workflow) -> Vec<Finding>,
) -> (Vec<String>, Fixed) {
    let rules = Rules {
        check,
        wanted,
        allowed,
    };
    let fixed = fix(&workflow(), &rules, &mut || "new-id".to_owned());
    let of = fixed
        .fixed
        .iter()
        .map(|f| format!("{} {}", f.code, f.node.as_deref().unwrap_or("")));
    (of.collect(), fixed)
}

#[test]
fn sure_fixes_are_applied_and_their_findings_are_gone() {
    let (of, fixed) = run(&|_| true, &|_| true, &check);
    assert_eq!(
        of,
        [
            "agentctl/node-setting-inside-parameters Ask",
            "agentctl/missing-expression-prefix Ask",
            "agentctl/missing-expression-prefix Tell"
        ]
    );
    assert!(!fixed.left.iter().any(is_sure), "{:?}", fixed.left);
    assert_eq!(fixed.left, check(&fixed.workflow));
    let ask = fixed.workflow.node_by_name("Ask").unwrap();
    assert_eq!(ask.map()["onError"], "continueRegularOutput");
    assert_eq!(
        ask.map()["parameters"],
        json!({"url": "=https://x.test/{{ $json.id }}"})
    );
}

#[test]
fn what_is_not_wanted_or_not_allowed_stays() {
    let (of, _) = run(&|f| f.node.as_deref() == Some("Tell"), &|_| true, &check);
    assert_eq!(of, ["agentctl/missing-expression-prefix Tell"]);
    let before = workflow();
    let allowed = |after: &Workflow| after.node_by_name("Ask") == before.node_by_name("Ask");
    let (of, _) = run(&|_| true, &allowed, &check);
    assert_eq!(of, ["agentctl/missing-expression-prefix Tell"]);
}

#[test]
fn a_fix_that_brings_an_error_is_left_out_and_the_others_stay() {
    let harmful = |workflow: &Workflow| {
        let mut findings = check(workflow);
        for finding in &mut findings {
            if finding.node.as_deref() == Some("Tell") && finding.fix.is_some() {
                finding.fix = Some(Fix {
                    confidence: Confidence::Sure,
                    title: "wrong".into(),
                    ops: vec![EditOp::SetParameter {
                        node: "b".into(),
                        pointer: "/url".into(),
                        value: json!(null),
                    }],
                });
            }
        }
        findings
    };
    let (of, fixed) = run(&|_| true, &|_| true, &harmful);
    assert_eq!(
        of,
        [
            "agentctl/node-setting-inside-parameters Ask",
            "agentctl/missing-expression-prefix Ask"
        ]
    );
    assert_eq!(
        fixed.workflow.node_by_name("Tell"),
        workflow().node_by_name("Tell")
    );
}

#[test]
fn fixes_that_chase_each_other_end() {
    let restless = |workflow: &Workflow| {
        let url = workflow.node_by_name("Tell").unwrap().map()["parameters"]["url"]
            .as_str()
            .unwrap()
            .to_owned();
        let mut finding = check(workflow)
            .into_iter()
            .next()
            .unwrap_or_else(|| panic!());
        finding.id = url.clone();
        finding.severity = Severity::Warning;
        finding.fix = Some(Fix {
            confidence: Confidence::Sure,
            title: "again".into(),
            ops: vec![EditOp::SetParameter {
                node: "b".into(),
                pointer: "/url".into(),
                value: json!(format!("{url}x")),
            }],
        });
        vec![finding]
    };
    let (of, _) = run(&|_| true, &|_| true, &restless);
    assert_eq!(of.len(), MAX_ROUNDS);
}
