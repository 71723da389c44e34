use super::*;
use crate::arbitrary;
use proptest::prelude::*;
use serde_json::json;

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|s| (*s).to_owned()).collect()
}

fn existing() -> Workflow {
    Workflow::from_value(json!({
        "name": "Order alerts",
        "nodes": [
            {"id": "1", "name": "When an order comes", "type": "n8n-nodes-base.webhook", "typeVersion": 2, "position": [0, 0], "parameters": {"path": "orders"}},
            {"id": "2", "name": "Tell sales", "type": "n8n-nodes-base.slack", "typeVersion": 2.3, "position": [0, 0], "parameters": {"channelId": {"mode": "name", "value": "#Sales"}}},
            {"id": "3", "name": "Row", "type": "n8n-nodes-base.googleSheets", "typeVersion": 4, "position": [0, 0], "parameters": {}, "disabled": true}
        ],
        "connections": {}
    }))
    .unwrap()
}

fn wanted() -> Wanted {
    Wanted {
        node_types: texts(&["n8n-nodes-base.slack", "n8n-nodes-base.googleSheets"]),
        trigger_types: texts(&["n8n-nodes-base.webhook"]),
        words: texts(&["orders", "sales", "invoice"]),
        values: texts(&["#sales", "Orders 2024"]),
    }
}

#[test]
fn points_come_from_evidence_part_by_part() {
    let part = |name: &str, got, most| (name.to_owned(), got, most);
    assert_eq!(
        fit_score(&wanted(), &existing()),
        FitScore {
            score: 63,
            parts: vec![
                part("node types", 18, 35),
                part("services", 8, 15),
                part("trigger", 20, 20),
                part("words", 10, 15),
                part("values", 8, 15),
            ]
        }
    );
}

#[test]
fn what_is_not_asked_for_does_not_count() {
    let only_trigger = Wanted {
        trigger_types: texts(&["n8n-nodes-base.webhook", "n8n-nodes-base.formTrigger"]),
        ..Wanted::default()
    };
    let score = fit_score(&only_trigger, &existing());
    assert_eq!((score.score, score.parts.len()), (100, 1));
    assert_eq!(
        fit_score(&Wanted::default(), &existing()),
        FitScore::default()
    );
}

proptest! {
    #[test]
    fn more_of_what_is_wanted_never_scores_less(workflow in arbitrary::workflow(5)) {
        let before = fit_score(&wanted(), &workflow);
        let mut more = workflow;
        more.nodes.extend(existing().nodes);
        prop_assert!(fit_score(&wanted(), &more).score >= before.score);
    }
}
