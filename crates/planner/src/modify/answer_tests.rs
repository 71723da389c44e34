//! What a webhook answers on a condition: as the planner builds it, and changes of what is answered and of what is compared with.

use crate::draft::{Draft, of_change, of_request};
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::{Workflow, edit};
use indexmap::IndexMap;
use serde_json::{Value, json};

const BIG: &str = r#"When a webhook POST /th arrives, if amount is over 100, answer {"big": true}, otherwise answer {"big": false}"#;

fn built(request: &str) -> Workflow {
    let draft = of_request(request, IndexMap::new(), Catalog::embedded());
    draft.workflow.unwrap()
}

/// The draft of a change, and the workflow after it.
fn changed(workflow: &Workflow, request: &str) -> (Draft, Workflow) {
    let draft = of_change(workflow, request, &IndexMap::new(), Catalog::embedded());
    let mut next = 0;
    let mut id = || {
        next += 1;
        format!("new-{next}")
    };
    let after = edit::apply(workflow, &draft.ops, &mut id).unwrap();
    (draft, after)
}

fn answers(workflow: &Workflow) -> Vec<Value> {
    let bodies = workflow.nodes.iter().filter_map(|node| {
        let body = node.parameters()?.get("responseBody")?.as_str()?;
        Some(serde_json::from_str(body).unwrap_or_else(|_| json!(body)))
    });
    bodies.collect()
}

#[test]
fn what_is_answered_on_a_condition_needs_no_comma_before_it() {
    let webhook = "When a webhook POST /b arrives, ";
    for told in [
        r#"if amount is greater than 100 answer {"big": true}, otherwise answer {"big": false}"#,
        r#"if amount is over 100 reply {"big": true}, otherwise reply {"big": false}"#,
        r#"if the status is "open" answer {"big": true}, otherwise answer {"big": false}"#,
        r#"if amount > 100 answer {"big": true}, else answer {"big": false}"#,
    ] {
        let workflow = built(&format!("{webhook}{told}"));
        assert_eq!(
            answers(&workflow),
            [json!({"big": true}), json!({"big": false})],
            "{told}"
        );
        let of = |output: u32| {
            let mut edges = workflow.edges();
            let (_, _, _, link) =
                edges.find(|(from, _, at, _)| from.ends_with('?') && *at == output)?;
            let body = workflow
                .node_by_name(&link.node)?
                .parameters()?
                .get("responseBody")?
                .as_str()?;
            serde_json::from_str::<Value>(body).ok()
        };
        assert_eq!(of(0), Some(json!({"big": true})), "{told}");
        assert_eq!(of(1), Some(json!({"big": false})), "{told}");
    }
}

#[test]
fn a_threshold_that_was_changed_leaves_nothing_open() {
    let workflow = built(BIG);
    for request in [
        "change the threshold from 100 to 250",
        "raise the threshold to 250",
        "change the limit from 100 to 250",
        "Change the workflow \"Webhook th\": the threshold is 250 now",
        "ändere die Schwelle von 100 auf 250",
        "cambia el umbral de 100 a 250",
        "change le seuil de 100 à 250",
    ] {
        let (draft, after) = changed(&workflow, request);
        assert_eq!(draft.not_understood, Vec::<String>::new(), "{request}");
        assert!(draft.questions.is_empty(), "{request}: {draft:?}");
        // Its name says what it asks.
        let node = after.node_by_name("Amount > 250?").expect(request);
        let bound = node.parameters().unwrap()["conditions"]["conditions"][0]["rightValue"].clone();
        assert_eq!(bound, json!(250), "{request}");
        assert_eq!(after.nodes.len(), workflow.nodes.len(), "{request}");
    }
    // Where nothing that is compared with was changed, the word is still open.
    let (draft, _) = changed(&workflow, "change the threshold of the hens to green");
    assert!(!draft.not_understood.is_empty() || !draft.questions.is_empty());
}

#[test]
fn only_a_name_that_says_the_condition_follows_it() {
    let mut workflow = built(BIG);
    let rename = agentctl_n8n::EditOp::RenameNode {
        node: "Amount > 100?".into(),
        name: "Large order?".into(),
    };
    workflow = edit::apply(&workflow, &[rename], &mut String::new).unwrap();
    let (_, after) = changed(&workflow, "change the threshold from 100 to 250");
    assert!(after.node_by_name("Large order?").is_some());
    let (_, after) = changed(&built(BIG), "use field total instead of amount");
    assert!(after.node_by_name("Total > 100?").is_some());
    // A name that is given counts.
    let request = "change the threshold to 250 and rename Amount > 100? to Large";
    let (_, after) = changed(&built(BIG), request);
    assert!(after.node_by_name("Large").is_some(), "{after:?}");
}

#[test]
fn another_answer_takes_the_place_of_the_one_that_goes() {
    let huge = vec![json!({"huge": true}), json!({"big": false})];
    let workflow = built(BIG);
    for request in [
        r#"answer {"huge": true} instead of {"big": true}"#,
        r#"Change the workflow "Webhook th": answer {"huge": true} instead of {"big": true}"#,
        r#"Change the workflow Webhook th: instead of {"big": true} answer {"huge": true}"#,
        r#"In the workflow "Webhook th", respond with {"huge": true} instead of {"big": true}"#,
        r#"change the answer {"big": true} to {"huge": true}"#,
        r#"Ändere den Workflow „Webhook th“: antworte {"huge": true} statt {"big": true}"#,
        r#"responde {"huge": true} en lugar de {"big": true}"#,
        r#"réponds {"huge": true} au lieu de {"big": true}"#,
    ] {
        let (draft, after) = changed(&workflow, request);
        assert_eq!(answers(&after), huge, "{request}: {draft:?}");
        assert_eq!(draft.not_understood, Vec::<String>::new(), "{request}");
        assert!(draft.questions.is_empty(), "{request}");
    }
    // Which one goes says the word before it, though both are there.
    let (_, after) = changed(
        &workflow,
        r#"answer {"big": false} instead of {"big": true}"#,
    );
    assert_eq!(
        answers(&after),
        [json!({"big": false}), json!({"big": false})]
    );
}

#[test]
fn one_answer_alone_needs_no_other_beside_it() {
    let workflow = built(r#"When a webhook GET /hi arrives, answer "hello""#);
    for request in [
        r#"answer "good day""#,
        r#"Change the workflow "Webhook hi": answer "good day" instead of what it answers now"#,
        r#"reply with "good day" instead of "hello""#,
    ] {
        let (draft, after) = changed(&workflow, request);
        assert_eq!(answers(&after), [json!("good day")], "{request}: {draft:?}");
    }
    // Of several it is asked which, and what is not there is not changed.
    for request in [
        r#"answer {"huge": true} instead"#,
        r#"answer {"huge": true} instead of {"small": true}"#,
        r#"answer {"huge": true} to the customer by fax"#,
    ] {
        let (draft, _) = changed(&built(BIG), request);
        assert!(draft.ops.is_empty(), "{request}: {draft:?}");
        assert!(!draft.questions.is_empty(), "{request}");
    }
}
