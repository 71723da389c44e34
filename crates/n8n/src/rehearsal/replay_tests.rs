use super::super::fixture::{chain, execution, node, run, set, slack, tried};
use super::super::{Part, Seen, Tried, Wishes, judge, judge_case, rehearse};
use super::*;
use crate::catalog::Catalog;
use serde_json::json;

/// Daily → Customer (a service) → Shape → Tell sales.
fn orders() -> Workflow {
    chain(vec![
        node("Daily", "n8n-nodes-base.scheduleTrigger", 1.2, json!({})),
        node("Customer", "n8n-nodes-base.postgres", 2.6, json!({})),
        set("Shape", "who", "={{ $json.name }}"),
        slack(),
    ])
}

fn failed(start: Value) -> Trace {
    let runs = vec![
        run("Daily", None, start, Value::Null),
        run(
            "Customer",
            Some("Daily"),
            json!([{"name": "Ann"}, {"name": "Bo"}]),
            Value::Null,
        ),
        run(
            "Shape",
            Some("Customer"),
            json!([]),
            json!({"message": "no"}),
        ),
    ];
    Trace::read(&execution("error", runs))
}

#[test]
fn a_repair_is_given_what_the_failed_execution_was_given() {
    let replay = Replay::of(&orders(), "w1", &failed(json!([{"day": 1}]))).unwrap();
    assert_eq!(replay.case.name, "execution 77 again");
    assert_eq!(replay.case.start.as_deref(), Some("Daily"));
    assert_eq!(json!(replay.case.input), json!({"day": 1}));
    assert_eq!(
        json!(replay.case.expect),
        json!({"nodes": {"Shape": {"reached": true}}})
    );
    assert_eq!(
        json!(replay.answers),
        json!({"Customer": [{"name": "Ann"}, {"name": "Bo"}]})
    );
    assert_eq!(replay.several(), None);
    let wishes = Wishes {
        path: "k3",
        answers: replay.answers,
        ..Wishes::default()
    };
    let copy = rehearse(&orders(), Catalog::embedded(), &wishes).unwrap();
    let simulated: Vec<(&str, &Part)> = copy
        .simulated()
        .map(|p| (p.node.as_str(), &p.part))
        .collect();
    let Part::Simulated { hands_on, .. } = simulated[0].1 else {
        panic!()
    };
    assert_eq!(
        (simulated[0].0, hands_on),
        ("Customer", &Some(json!([{"name": "Ann"}, {"name": "Bo"}])))
    );
    // What ran for real then runs for real again.
    assert_eq!(
        simulated.iter().map(|s| s.0).collect::<Vec<_>>(),
        ["Customer", "Tell sales"]
    );
}

#[test]
fn several_items_of_the_trigger_are_handed_on_all_together() {
    let items = json!([{"day": 1}, {"day": 2}]);
    let replay = Replay::of(&orders(), "w1", &failed(items.clone())).unwrap();
    let several = replay.several();
    assert_eq!(json!(several), items);
    let wishes = Wishes {
        path: "k3",
        items: several,
        ..Wishes::default()
    };
    let copy = rehearse(&orders(), Catalog::embedded(), &wishes)
        .unwrap()
        .copy;
    let way: Vec<(String, String)> = (copy.edges())
        .map(|(from, _, _, link)| (from.to_owned(), link.node.clone()))
        .filter(|(from, _)| from != "Customer" && from != "Shape" && from != "Daily")
        .collect();
    assert_eq!(
        way,
        [
            ("Daily is given".to_owned(), "Daily".to_owned()),
            ("Rehearsal start".to_owned(), "Daily is given".to_owned())
        ]
    );
}

#[test]
fn what_cannot_be_gone_through_again_is_told() {
    let of = |workflow: &Workflow, id: &str| {
        let replay = Replay::of(workflow, id, &failed(json!([{}])));
        replay.unwrap_err().to_string()
    };
    assert_eq!(
        of(&orders(), "w2"),
        "the execution 77 is of another workflow"
    );
    let other = chain(vec![set("Shape", "who", "x")]);
    assert!(of(&other, "w1").starts_with("the execution 77 did not start at a trigger"));
}

/// Daily → Shape → Tell sales, of which `failed` failed then; with what the case of the replay comes to now.
fn again(shape: &str, failed: &str, item: Value) -> (&'static str, CaseVerdict) {
    let workflow = chain(vec![
        node("Daily", "n8n-nodes-base.manualTrigger", 1.0, json!({})),
        set("Shape", "who", shape),
        slack(),
    ]);
    let item = json!([item]);
    let runs = vec![
        run("Daily", None, item.clone(), Value::Null),
        run("Shape", Some("Daily"), item.clone(), Value::Null),
        run("Tell sales", Some("Shape"), item, Value::Null),
    ];
    let trace = Trace::read(&execution("success", runs));
    let rehearsal = tried(&workflow);
    let sent = IndexMap::new();
    let tried = Tried {
        rehearsal: &rehearsal,
        sent: &sent,
        is_given: false,
    };
    let mut verdict = judge(&workflow, tried, &trace, &[]);
    let expect = json!({"nodes": {failed: {"reached": true}}});
    let expect: Expect = serde_json::from_value(expect).unwrap();
    let seen = Seen {
        trace: &trace,
        status: None,
        answer: None,
        sent: &sent,
        has_failed: verdict.test_status == "fail",
        stopped: verdict.stopped(),
    };
    let mut judged = judge_case(&expect, &workflow, &rehearsal, seen);
    comes_through(
        &mut judged,
        &[failed.to_owned()],
        &rehearsal,
        &verdict,
        &trace,
    );
    verdict.with_case(&workflow, "again", &judged);
    (verdict.test_status, judged)
}

#[test]
fn a_node_that_failed_comes_through_with_what_it_reads_or_is_not_repaired() {
    let item = || json!({"name": "Ann", "body": {"customer": {"name": "Ann"}}});
    let (status, judged) = again("={{ $json.name }}", "Shape", item());
    assert_eq!((status, judged.outcome), ("pass", CaseOutcome::Passed));
    // n8n makes nothing of what fails within an expression.
    let (status, judged) = again("={{ $json.nobody.trim() }}", "Shape", item());
    assert_eq!((status, judged.outcome), ("fail", CaseOutcome::Failed));
    let (status, judged) = again("={{ $json.name }}", "Tell sales", item());
    assert_eq!(
        (status, judged.outcome),
        ("inconclusive", CaseOutcome::Inconclusive)
    );
    let why = &judged.checks[1].why;
    assert!(why.contains("only simulated"), "{why}");
}
