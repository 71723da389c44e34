//! What a client's model begins with: drafts, and checks of all there is. Neither writes.

use super::*;

const ORDERS: &str = "When a webhook receives an order over 100 EUR, post it to Slack #sales";

/// What was answered fits what is promised.
fn fits(tool: &str, answer: &Value) {
    let head = heads().into_iter().find(|head| head.name == tool).unwrap();
    let promised = (head.returns.unwrap())();
    let wrong: Vec<String> = jsonschema::validator_for(&promised)
        .unwrap()
        .iter_errors(answer)
        .map(|e| format!("{}: {e}", e.instance_path()))
        .collect();
    assert_eq!(wrong, [""; 0], "{answer:#}");
}

#[tokio::test]
async fn a_draft_is_created_as_it_is_and_changed_by_another_draft() {
    let mut b = bench();
    let drafted = b
        .ok("writer", "draft_workflow", json!({"request": ORDERS}))
        .await;
    fits("draft_workflow", &drafted);
    assert_eq!(drafted["complete"], true, "{drafted:#}");
    assert_eq!(drafted["check"]["error_count"], 0, "{drafted:#}");
    assert!(!b.dir.path().join("workflows").exists());

    let document = drafted["create"].clone();
    let checked = b
        .ok("writer", "qa_workflows", json!({"document": document}))
        .await;
    fits("qa_workflows", &checked);
    assert_eq!(checked["passed"], true, "{checked:#}");

    let made = b
        .ok("writer", "create_workflow", drafted["create"].clone())
        .await;
    let change = json!({"request": "post to #orders instead of #sales", "workflow_id": made["id"]});
    let changed = b.ok("writer", "draft_workflow", change).await;
    fits("draft_workflow", &changed);
    assert_eq!(changed["complete"], true, "{changed:#}");
    let update = changed["update"].clone();
    assert_eq!(update["ops"].as_array().unwrap().len(), 1, "{update:#}");
    let after = b.ok("writer", "update_workflow", update).await;
    assert_ne!(after["graph_hash"], made["graph_hash"]);
}

#[tokio::test]
async fn what_was_not_understood_asked_or_refused_is_said() {
    let mut b = bench();
    let mut draft = async |request: &str| {
        let args = json!({"request": request});
        let drafted = b.ok("writer", "draft_workflow", args).await;
        fits("draft_workflow", &drafted);
        drafted
    };
    let odd =
        draft("Cada lunes envía las facturas pendientes de Xero en una lista a ap@example.com")
            .await;
    assert_eq!(odd["complete"], false);
    assert!(odd["create"].is_object(), "{odd:#}");
    assert!(odd["not_understood"].to_string().contains("pendientes"));
    let vague = draft("post our new stuff on social media automatically").await;
    assert_eq!(vague["complete"], false);
    assert!(vague["questions"][0]["topic"].is_string(), "{vague:#}");
    let empty = draft("Delete all my workflows").await;
    assert!(empty["create"].is_null() && empty["refused"].is_string());
    let empty = b
        .call("writer", "draft_workflow", json!({"request": " "}))
        .await;
    assert_eq!(empty.status, ToolStatus::Failed);
    let other = b
        .call("checker", "draft_workflow", json!({"request": ORDERS}))
        .await;
    assert_eq!(other.status, ToolStatus::Refused);
}

#[tokio::test]
async fn all_workflows_are_checked_in_pages_of_bounded_length() {
    let mut b = bench();
    let path = b.dir.path().join("workflows");
    std::fs::create_dir_all(&path).unwrap();
    for at in 0..120 {
        // Each other one has a type that no node of n8n is.
        let kind = if at % 2 == 0 { "noSuch" } else { "noOp" };
        let workflow = json!({
            "name": format!("chain {at:03}"),
            "nodes": [
                {"id": "1", "name": "Start", "type": "n8n-nodes-base.manualTrigger", "typeVersion": 1, "position": [0, 0], "parameters": {}},
                {"id": "2", "name": "Step", "type": format!("n8n-nodes-base.{kind}"), "typeVersion": 1, "position": [200, 0], "parameters": {}},
            ],
            "connections": {"Start": {"main": [[{"node": "Step", "type": "main", "index": 0}]]}},
        });
        let file = path.join(format!("chain-{at:03}.json"));
        std::fs::write(file, workflow.to_string()).unwrap();
    }
    std::fs::write(path.join("broken.json"), "{").unwrap();
    let (mut names, mut wrong, mut cursor) = (BTreeSet::new(), 0, Value::Null);
    loop {
        let mut args = json!({});
        if cursor.is_string() {
            args["cursor"] = cursor.clone();
        }
        let page = b.ok("writer", "qa_workflows", args).await;
        fits("qa_workflows", &page);
        assert!(page.to_string().len() < 110_000);
        assert_eq!(
            (&page["total"], &page["passed"]),
            (&json!(120), &json!(false))
        );
        assert_eq!(page["broken"][0]["file"], "workflows/broken.json");
        for workflow in page["workflows"].as_array().unwrap() {
            names.insert(workflow["name"].as_str().unwrap().to_owned());
            wrong += usize::from(workflow["error_count"] != 0);
        }
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!((names.len(), wrong), (120, 60));
    let args = json!({"workflow_ids": ["chain-001"], "only": ["n8n/"]});
    let one = b.ok("writer", "qa_workflows", args).await;
    assert_eq!((&one["total"], &one["passed"]), (&json!(1), &json!(true)));
    let unknown = json!({"only": ["n8n/unknwon-type"]});
    let failed = b.call("writer", "qa_workflows", unknown).await;
    assert_eq!(failed.status, ToolStatus::Failed);
    let said = failed.content.to_string();
    assert!(said.contains("did you mean"), "{said}");
}
