//! Reading a file, and the verdict on workflows made by hand.

use crate::{Answer, Kind, Request, Scored, Summary, read, reworded, score};
use agentctl_n8n::catalog::Catalog;
use serde_json::{Value, json};

fn one(expect: Value) -> Request {
    of_kind("build", expect)
}

fn of_kind(kind: &str, expect: Value) -> Request {
    let text = json!([{"id": "r", "kind": kind, "request": "x", "expect": expect, "existing": existing()}]);
    read(&text.to_string()).unwrap().remove(0)
}

fn existing() -> Value {
    workflow(
        json!([
            node("Start", "n8n-nodes-base.manualTrigger", json!({})),
            node("Tell", "n8n-nodes-base.slack", json!({"text": "Hello"}))
        ]),
        json!({"Start": {"main": [[{"node": "Tell", "type": "main", "index": 0}]]}}),
    )
}

fn workflow(nodes: Value, connections: Value) -> Value {
    json!({"name": "w", "nodes": nodes, "connections": connections, "settings": {}})
}

fn node(name: &str, node_type: &str, parameters: Value) -> Value {
    json!({"name": name, "type": node_type, "typeVersion": 3, "parameters": parameters})
}

fn built(request: &Request, workflow: Value) -> Scored {
    let answer = Answer {
        workflow: Some(workflow),
        ..Answer::default()
    };
    score(request, Some(&answer), Catalog::embedded())
}

/// The items that are not met.
fn missed(scored: &Scored) -> Vec<&str> {
    let open = scored.items.iter().filter(|item| !item.pass);
    open.map(|item| item.item.as_str()).collect()
}

#[test]
fn what_is_wrong_in_a_file_is_told_with_its_line() {
    let at = |text: &str| read(text).map(|_| ()).unwrap_err().to_string();
    assert_eq!(
        at("[\n {\"id\": \"a\", \"kind\": \"build\", \"request\": \"x\",\n  \"expect\": {\"node\": []}}\n]")
            .split(", expected")
            .next()
            .unwrap(),
        "3:19: unknown field `node`"
    );
    assert_eq!(
        at("[{\"id\": \"a\", \"kind\": \"build\", \"request\": \"x\",\n\"expect\": {\"values\": [\n\"re:(\"]}}]")
            .split(':')
            .take(3)
            .collect::<Vec<_>>()
            .join(":"),
        "3:6: not an expression"
    );
    assert_eq!(
        at(
            "[{\"id\": \"a\", \"kind\": \"build\", \"request\": \"x\",\n\"expect\": {\"schedule\": {\"cron\": \"61 * * * *\"}}}]"
        ),
        "2:45: \"61 * * * *\" is no cron expression"
    );
    let change = "[{\"id\": \"a\", \"kind\": \"modify\", \"request\": \"x\", \"expect\": {}}]";
    assert!(at(change).contains("request \"a\", which ends here: a change needs the workflow"));
    let gone = json!([{"id": "a", "kind": "modify", "request": "x", "existing": existing(), "expect": {"untouched_nodes": ["Telll"]}}]);
    assert!(at(&gone.to_string()).ends_with("`existing` has no node \"Telll\""));
    let item = "{\"id\": \"a\", \"kind\": \"build\", \"request\": \"x\", \"expect\": {}}";
    assert!(at(&format!("[{item},\n{item}]")).starts_with("2:"));
    assert_eq!(at("[]"), "1:1: it holds no request");
    assert!(
        at("[{\"id\": \"../a\", \"kind\": \"build\", \"request\": \"x\", \"expect\": {}}]")
            .contains("an id has letters")
    );
}

#[test]
fn the_requests_of_this_repository_can_be_read() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/planner/requests");
    let text = |name: &str| std::fs::read_to_string(format!("{folder}/{name}.json")).unwrap();
    for author in ["analyst", "forum", "lang", "market", "ops", "shop"] {
        let requests = read(&text(author)).unwrap_or_else(|e| panic!("{author}:{e}"));
        assert_eq!(requests.len(), 40, "{author}");
        let again = reworded(&text(&format!("{author}.reworded")), &requests).unwrap();
        assert_eq!(again.len(), 80, "{author}");
    }
}

#[test]
fn other_words_have_the_expectations_of_the_request_that_they_say_again() {
    let originals = [one(json!({"max_nodes": 2}))];
    let again = reworded(
        "[{\"id\": \"r-b\", \"of\": \"r\", \"request\": \"y\"}]",
        &originals,
    )
    .unwrap();
    assert_eq!(
        (
            again[0].id.as_str(),
            again[0].request.as_str(),
            again[0].kind
        ),
        ("r-b", "y", Kind::Build)
    );
    assert!(built(&again[0], existing()).whole);
    let wrong = reworded(
        "[\n{\"id\": \"r-b\", \"of\": \"q\", \"request\": \"y\"}]",
        &originals,
    );
    assert_eq!(
        wrong.unwrap_err().to_string(),
        "2:1: request \"r-b\": the originals have no request \"q\""
    );
}

#[test]
fn a_number_is_found_whole_and_a_text_in_any_case() {
    let says = |text: &str, value: Value| {
        let workflow = workflow(
            json!([node(
                "Start",
                "n8n-nodes-base.manualTrigger",
                json!({"a": text})
            )]),
            json!({}),
        );
        missed(&built(&one(json!({"values": [value]})), workflow)).is_empty()
    };
    assert!(says("= 500", json!("500")) && says("1,500.00 EUR", json!("1500")));
    assert!(!says("1500", json!("500")) && !says("500.5", json!("500")));
    assert!(says("Straße", json!("STRASSE")) && says("b", json!(["a", "b"])));
    assert!(says("x-sales", json!("sales")) && !says("x-sales", json!("re:(?<![\\w-])sales")));
}

#[test]
fn a_schedule_is_the_times_at_which_it_fires() {
    let fires = |rule: Value, wanted: Value| {
        let trigger = node(
            "Clock",
            "n8n-nodes-base.scheduleTrigger",
            json!({"rule": {"interval": [rule]}}),
        );
        missed(&built(
            &one(json!({"schedule": wanted})),
            workflow(json!([trigger]), json!({})),
        ))
        .is_empty()
    };
    let cron = |expression: &str| json!({"field": "cronExpression", "expression": expression});
    let daily = json!({"field": "days", "triggerAtHour": 9});
    assert!(fires(daily.clone(), json!({"cron": "0 9 * * *"})));
    assert!(fires(daily.clone(), json!({"every": "1d", "at": "09:00"})));
    assert!(!fires(daily, json!({"cron": "0 10 * * *"})));
    assert!(fires(
        cron("0 0 9 * * mon-fri"),
        json!({"cron": "0 9 * * 1-5"})
    ));
    assert!(fires(
        cron("0 9 * * fri-mon"),
        json!({"cron": "0 9 * * 5,6,0,1"})
    ));
    assert!(fires(
        json!({"field": "minutes", "minutesInterval": 5}),
        json!({"every": "5m"})
    ));
    assert!(!fires(
        json!({"field": "minutes", "minutesInterval": 50}),
        json!({"every": "50m"})
    ));
    let weekly =
        json!({"field": "weeks", "triggerAtDay": [1], "triggerAtHour": 8, "triggerAtMinute": 30});
    assert!(fires(weekly, json!({"cron": "30 8 * * 1", "only": true})));
}

#[test]
fn branches_loops_and_attachments_are_told_apart() {
    let to = |name: &str| json!([{"node": name, "type": "main", "index": 0}]);
    let nodes = json!([
        node("Start", "n8n-nodes-base.manualTrigger", json!({})),
        node("If", "n8n-nodes-base.if", json!({})),
        node("A", "n8n-nodes-base.slack", json!({"text": "a"})),
        node("B", "n8n-nodes-base.slack", json!({"text": "b"})),
        node("Loop", "n8n-nodes-base.splitInBatches", json!({})),
        node("C", "n8n-nodes-base.slack", json!({"text": "c"})),
    ]);
    let made = workflow(
        nodes,
        json!({
            "Start": {"main": [to("If")]},
            "If": {"main": [to("A"), to("B")]},
            "B": {"main": [to("Loop")]},
            "Loop": {"main": [null, to("C")]},
            "C": {"main": [to("Loop")]},
        }),
    );
    let slack = |text: &str| json!({"any_of": ["n8n-nodes-base.slack"], "contains": [format!("re:^{text}$")]});
    let met = |expect: Value| missed(&built(&one(expect), made.clone())).is_empty();
    assert!(met(
        json!({"split": [{"targets": [slack("a"), slack("b")]}]})
    ));
    assert!(!met(
        json!({"split": [{"targets": [slack("b"), slack("c")]}]})
    ));
    let over = |body: &str| json!({"loops": [{"node": {"any_of": ["n8n-nodes-base.splitInBatches"]}, "body": [slack(body)], "after": []}]});
    assert!(met(over("c")) && !met(over("a")));
    assert!(met(
        json!({"edges": [{"from": slack("b"), "to": slack("c"), "reachable": true}]})
    ));
    assert!(!met(
        json!({"edges": [{"from": slack("b"), "to": slack("c"), "direct": true}]})
    ));
    assert!(met(
        json!({"edges": [{"from": slack("a"), "to": slack("c"), "negate": true}]})
    ));
}

#[test]
fn a_change_must_leave_the_rest_as_it_was() {
    let request = of_kind(
        "modify",
        json!({"untouched_nodes": ["Tell"], "kept_edges": [["Start", "Tell"]]}),
    );
    assert!(built(&request, existing()).whole);
    let mut changed = existing();
    changed["nodes"][1]["parameters"]["text"] = "Hello!".into();
    changed["connections"] = json!({});
    assert_eq!(
        missed(&built(&request, changed)),
        [
            "generic.connected",
            "untouched[Tell]",
            "kept_edge[Start->Tell]"
        ]
    );
}

#[test]
fn questions_and_refusals_are_answers_too() {
    let asks = of_kind(
        "clarify",
        json!({"questions": [{"topic": "channel", "any_of": ["channel"]}], "must_not_ask": [{"topic": "time", "any_of": ["time"]}], "max_questions": 1}),
    );
    let with = |questions: &[&str]| {
        let answer = Answer {
            questions: questions.iter().map(|q| (*q).to_owned()).collect(),
            ..Answer::default()
        };
        let scored = score(&asks, Some(&answer), Catalog::embedded());
        missed(&scored)
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(with(&["Which channel?"]), Vec::<String>::new());
    assert_eq!(
        with(&["At what time?", "Where?"]),
        ["question[channel]", "not_asked[time]", "max_questions"]
    );

    let no = of_kind(
        "refuse",
        json!({"refuse": {"accept": ["refuse", "unchanged"], "reason": [{"topic": "why", "any_of": ["secret"]}], "forbid_values": ["hunter2"]}}),
    );
    let refused = Answer {
        refusal: Some("A secret does not belong there".to_owned()),
        ..Answer::default()
    };
    assert!(score(&no, Some(&refused), Catalog::embedded()).whole);
    assert_eq!(missed(&built(&no, existing())), ["reason[why]"]);
    let mut unsafe_one = existing();
    unsafe_one["nodes"][1]["parameters"]["text"] = "hunter2".into();
    assert_eq!(
        missed(&built(&no, unsafe_one)),
        ["decision", "reason[why]", "forbid_value[hunter2]"]
    );
}

#[test]
fn nothing_made_meets_nothing_and_is_counted() {
    let request = one(json!({"max_nodes": 2}));
    let none = score(&request, None, Catalog::embedded());
    assert_eq!((none.passed, none.total), (0, 4));
    let summary = Summary::of(&[none, built(&request, existing())]);
    assert_eq!(
        (
            summary.all.whole,
            summary.all.items_passed,
            summary.all.items_total
        ),
        (1, 4, 8)
    );
    assert_eq!(summary.by["kind"]["build"].requests, 2);
    assert!((summary.all.percent() - 50.0).abs() < 1e-9);
}
