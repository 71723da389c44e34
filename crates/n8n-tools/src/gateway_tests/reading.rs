//! What a call shows: pages, marks for secrets, findings compared.

use super::*;
use crate::backend::{BackendErrorKind, ServerVerdict, TemplateHead};
use crate::fixture::Lie;

/// Every text of a value as it is, without the escapes of JSON.
fn strings(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => {
            out.push_str(text);
            out.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| strings(item, out)),
        Value::Object(map) => {
            for (key, item) in map {
                out.push_str(key);
                strings(item, out);
            }
        }
        _ => {}
    }
}

#[tokio::test]
async fn secrets_and_escapes_do_not_get_through() {
    let mut b = bench();
    let path = b.dir.path().join("workflows");
    std::fs::create_dir_all(&path).unwrap();
    let mut workflow = chain("old", 3);
    workflow.nodes[0].map_mut().insert(
        "parameters".into(),
        json!({"password": "hunter2hunter2", "h": "opaque-secret-value", "note": "a\u{1b}[31m\u{202e}b"}),
    );
    std::fs::write(path.join("old.json"), workflow.to_text()).unwrap();
    let read = b
        .ok("writer", "get_workflow", json!({"workflow_id": "old"}))
        .await;
    assert_eq!(
        read["workflow"]["nodes"][0]["parameters"],
        json!({"password": "[redacted:value]", "h": "[redacted:known]", "note": "a\u{fffd}[31m\u{fffd}b"})
    );
    // What was hidden cannot be written back over the real value.
    let back = json!({"workflow_id": "old", "ops": [{"op": "replace_parameters", "node": "id-0", "parameters": read["workflow"]["nodes"][0]["parameters"]}]});
    assert_eq!(
        b.refused("writer", "update_workflow", back).await,
        rules::REDACTED
    );
    b.ok(
        "writer",
        "update_workflow",
        set("old", "id-1", json!("opaque-secret-value")),
    )
    .await;
    // Nor in what a refusal quotes.
    b.refused(
        "writer",
        "list_workflows",
        json!({"query": {"opaque-secret-value": 1}}),
    )
    .await;
    b.refused(
        "writer",
        "get_workflow",
        json!({"workflow_id": "old", "view": "opaque-secret-value\u{1b}"}),
    )
    .await;
    let raw = "{\"workflow_id\": \"\u{1b}[2J opaque-secret-value";
    assert!(b.raw("writer", "get_workflow", raw).await.is_ok());
    let mut journal = String::new();
    for (event, _) in &b.desk.events {
        strings(&json!(event), &mut journal);
    }
    for secret in [
        "hunter2hunter2",
        "opaque-secret-value",
        "\u{1b}",
        "\u{202e}",
    ] {
        assert!(!journal.contains(secret), "{secret:?} is in the journal");
    }
    assert_eq!(
        b.file("old").unwrap().nodes[1].parameters().unwrap()["x"],
        "opaque-secret-value",
        "the call itself is made as it was meant"
    );
}

#[tokio::test]
async fn the_final_check_compares_with_the_one_before() {
    let mut b = bench();
    let mut args = two_nodes("W");
    args["nodes"][1]["type"] = json!("n8n-nodes-base.noSuchNode");
    b.ok("writer", "create_workflow", args).await;
    let first = b
        .ok("checker", "validate_workflow", json!({"workflow_id": "w"}))
        .await;
    assert_eq!(first["passed"], false);
    assert!(first.get("fixed").is_none());
    let bad = b.file("w").unwrap().node_by_name("End").unwrap().id();
    assert!(
        first["edit_scope"]
            .as_array()
            .unwrap()
            .contains(&json!(bad))
    );
    b.ok("writer", "update_workflow", json!({"workflow_id": "w", "ops": [
        {"op": "remove_node", "node": "End"},
        {"op": "add_node", "node": {"name": "End", "type": "n8n-nodes-base.noOp", "typeVersion": 1}},
        {"op": "connect", "from": "Start", "to": "End"},
    ]})).await;
    b.refold();
    let second = b
        .ok("checker", "validate_workflow", json!({"workflow_id": "w"}))
        .await;
    assert_eq!(second["passed"], true, "{second:#}");
    let ids = |v: &Value| -> BTreeSet<String> {
        v.as_array()
            .unwrap()
            .iter()
            .map(|i| i.as_str().unwrap().to_owned())
            .collect()
    };
    assert!(!ids(&second["fixed"]).is_empty());
    assert!(ids(&second["fixed"]).is_subset(&ids(&first["finding_ids"])));
    assert_eq!(
        memory(&b.guards).last_validation("w").unwrap().error_count,
        0
    );
}

/// All answers of get_workflow, page by page.
async fn pages(b: &mut Bench, mut args: Value) -> Vec<Value> {
    let mut pages = Vec::new();
    loop {
        let page = b.ok("writer", "get_workflow", args.clone()).await;
        assert!(page.to_string().len() < 130_000);
        assert_eq!(page.get("cut"), None);
        let next = page.get("next_cursor").cloned();
        assert_eq!(page.get("left").is_some(), next.is_some());
        pages.push(page);
        match next {
            Some(next) => args["cursor"] = next,
            None => return pages,
        }
    }
}

fn names<'v>(pages: &'v [Value], nodes: &str) -> Vec<&'v str> {
    let of_page = |page: &'v Value| page.pointer(nodes).unwrap().as_array().unwrap();
    let all = pages.iter().flat_map(of_page);
    all.map(|node| node["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_large_workflow_comes_in_pages() {
    for (count, bytes) in [(40, 10_000), (500, 200), (1_000, 5)] {
        let mut b = bench();
        let path = b.dir.path().join("workflows");
        std::fs::create_dir_all(&path).unwrap();
        let mut workflow = chain("big", count);
        for node in &mut workflow.nodes {
            node.set("notes", json!("n".repeat(bytes)));
        }
        let wired: Vec<String> = (workflow.edges())
            .map(|(from, _, _, link)| format!("{from} -> {}", link.node))
            .collect();
        std::fs::write(path.join("big.json"), workflow.to_text()).unwrap();
        let in_order: Vec<String> = (0..count).map(|i| format!("Node {i}")).collect();

        let full = pages(&mut b, json!({"workflow_id": "big"})).await;
        assert!(full.len() > 1);
        assert_eq!(full[0]["node_count"], count);
        assert_eq!(names(&full, "/workflow/nodes"), in_order);
        let mut connections: Vec<&String> = Vec::new();
        for page in &full {
            connections.extend(page["workflow"]["connections"].as_object().unwrap().keys());
        }
        assert_eq!(
            connections,
            in_order[..count - 1].iter().collect::<Vec<_>>()
        );
        assert_eq!(full[0]["workflow"]["name"], workflow.name());

        let short = pages(&mut b, json!({"workflow_id": "big", "view": "summary"})).await;
        assert_eq!(names(&short, "/nodes"), in_order);
        let lines = short
            .iter()
            .flat_map(|p| p["connections"].as_array().unwrap());
        assert_eq!(
            lines.map(|l| l.as_str().unwrap()).collect::<Vec<_>>(),
            wired
        );

        let about = pages(
            &mut b,
            json!({"workflow_id": "big", "about": "rename Node 31"}),
        )
        .await;
        assert!(
            about[0].to_string().len() < 10_000 + 6 * bytes,
            "{}",
            about[0]
        );
        assert!(names(&about[..1], "/workflow/nodes").contains(&"Node 31"));
        assert_eq!(about[0]["left"]["named"], 0);
        let once: BTreeSet<&str> = names(&about, "/workflow/nodes").into_iter().collect();
        assert_eq!(once.len(), count);
        assert_eq!(names(&about, "/workflow/nodes").len(), count);
    }
}

#[tokio::test]
async fn a_review_of_a_large_workflow_begins_with_what_the_run_changed() {
    let mut b = bench();
    let path = b.dir.path().join("workflows");
    std::fs::create_dir_all(&path).unwrap();
    let mut workflow = chain("big", 1_000);
    for node in &mut workflow.nodes {
        node.set("notes", json!("n".repeat(200)));
    }
    std::fs::write(path.join("big.json"), workflow.to_text()).unwrap();
    let review = json!({"workflow_id": "big", "view": "review"});
    let unchanged = pages(&mut b, review.clone()).await;
    assert!(unchanged[0].to_string().len() < 10_000);
    assert_eq!(unchanged[0].get("diff"), None);

    b.ok(
        "writer",
        "update_workflow",
        json!({"workflow_id": "big", "ops": [
            {"op": "set_node_settings", "node": "Node 512", "settings": {"notes": "of the run"}},
        ]}),
    )
    .await;
    let changed = pages(&mut b, review).await;
    assert!(changed[0].to_string().len() < 10_000, "{}", changed[0]);
    let first = names(&changed[..1], "/nodes");
    for name in ["Node 511", "Node 512", "Node 513"] {
        assert!(first.contains(&name), "{first:?}");
    }
    assert!(changed[0]["diff"].as_str().unwrap().contains("+"));
    assert_eq!(changed[0]["left"]["named"], 0);
    for (pages, diffs) in [(&unchanged, 0), (&changed, 1)] {
        let once: BTreeSet<&str> = names(pages, "/nodes").into_iter().collect();
        assert_eq!((once.len(), names(pages, "/nodes").len()), (1_000, 1_000));
        let with = pages.iter().filter(|page| page.get("diff").is_some());
        assert_eq!(with.count(), diffs);
    }
}

/// Errors and what the run brought are listed; warnings that were there before are counted, and read with the cursor.
#[tokio::test]
async fn the_final_check_lists_what_the_run_brought() {
    let mut b = bench();
    let path = b.dir.path().join("workflows");
    std::fs::create_dir_all(&path).unwrap();
    let big = agentctl_testkit::large::workflow(900).to_string();
    std::fs::write(path.join("big.json"), big).unwrap();
    let of = json!({"workflow_id": "big"});
    let first = b.ok("checker", "validate_workflow", of.clone()).await;
    let all = first["warning_count"].as_u64().unwrap();
    let listed = |answer: &Value| answer["findings"].as_array().unwrap().len() as u64;
    assert!(all > 200 && listed(&first) == 10, "{first:#}");
    assert_eq!(first["known"]["warning_count"], all - 10);
    assert_eq!(first["finding_ids"], json!([]));

    b.ok("writer", "get_workflow", of.clone()).await;
    b.ok("writer", "update_workflow", json!({"workflow_id": "big", "ops": [
        {"op": "set_parameter", "node": "Fetch part 400", "pointer": "/url", "value": "={{ $('Nobody').item.json.x }}"},
    ]}))
    .await;
    b.refold();
    let second = b.ok("checker", "validate_workflow", of.clone()).await;
    let errors = second["error_count"].as_u64().unwrap();
    assert!(errors > 0 && !second["passed"].as_bool().unwrap());
    let found = second["findings"].as_array().unwrap();
    assert_eq!(found[0]["severity"], "error");
    assert_eq!(found[0]["node"], "Fetch part 400");
    assert_eq!(second["new"], second["finding_ids"]);
    assert_eq!(second["new"][0], found[0]["id"]);
    assert_eq!(second["fixed"], json!([]));
    assert_eq!(second["edit_scope"].as_array().unwrap().len(), 1);
    let (mut read, mut page) = (listed(&second), second);
    while let Some(next) = page.get("next_cursor").cloned() {
        let more = json!({"workflow_id": "big", "cursor": next});
        page = b.ok("checker", "validate_workflow", more).await;
        read += listed(&page);
    }
    let counted = |key: &str| page[key].as_u64().unwrap();
    assert_eq!(
        read,
        errors + counted("warning_count") + counted("info_count")
    );
    assert_eq!(page["known"]["warning_count"], 0);
}

#[tokio::test]
async fn a_cursor_is_of_one_state_and_one_question() {
    let mut b = bench();
    let path = b.dir.path().join("workflows");
    std::fs::create_dir_all(&path).unwrap();
    let mut workflow = chain("big", 40);
    for node in &mut workflow.nodes {
        node.set("notes", json!("n".repeat(10_000)));
    }
    std::fs::write(path.join("big.json"), workflow.to_text()).unwrap();
    let first = b
        .ok("writer", "get_workflow", json!({"workflow_id": "big"}))
        .await;
    let cursor = first["next_cursor"].as_str().unwrap().to_owned();
    let (at, mark) = cursor.split_once('-').unwrap();
    for wrong in [
        json!({"cursor": "99"}),
        json!({"cursor": format!("4000-{mark}")}),
        json!({"cursor": format!("{at}-00000000")}),
        json!({"cursor": cursor, "view": "summary"}),
        json!({"cursor": cursor, "about": "Node 7"}),
    ] {
        let mut args = json!({"workflow_id": "big"});
        args.as_object_mut()
            .unwrap()
            .extend(wrong.as_object().unwrap().clone());
        let answer = b.call("writer", "get_workflow", args).await;
        assert_eq!(answer.content["rule"], "arguments", "{wrong}");
    }
    // What was changed meanwhile is not read on: a node would be missing or come twice.
    b.ok(
        "writer",
        "update_workflow",
        set("big", "id-1", json!("other")),
    )
    .await;
    let args = json!({"workflow_id": "big", "cursor": cursor});
    let answer = b.call("writer", "get_workflow", args).await;
    assert!(
        answer.content["error"]
            .as_str()
            .unwrap()
            .contains("another state")
    );
}

/// A node that alone is larger than a page is cut, which is told; no other node is.
#[tokio::test]
async fn a_huge_node_is_cut_alone() {
    let mut b = bench();
    let path = b.dir.path().join("workflows");
    std::fs::create_dir_all(&path).unwrap();
    let mut workflow = chain("big", 12);
    workflow.nodes[5].set("notes", json!("n".repeat(400_000)));
    let secret = json!({"password": "hunter2hunter2"});
    workflow.nodes[7].set("parameters", secret);
    std::fs::write(path.join("big.json"), workflow.to_text()).unwrap();
    let mut args = json!({"workflow_id": "big"});
    let (mut seen, mut cut) = (Vec::new(), Vec::new());
    loop {
        let page = b.ok("writer", "get_workflow", args.clone()).await;
        let nodes = page["workflow"]["nodes"].as_array().unwrap();
        seen.extend(nodes.iter().map(|n| n["name"].as_str().unwrap().to_owned()));
        if page.get("cut").is_some() {
            assert_eq!(page["cut_at"], json!(["/workflow/nodes/0/notes"]));
            cut.push(nodes[0]["name"].clone());
        }
        match page.get("next_cursor") {
            Some(next) => args["cursor"] = next.clone(),
            None => break,
        }
    }
    assert_eq!(
        seen,
        (0..12).map(|i| format!("Node {i}")).collect::<Vec<_>>()
    );
    assert_eq!(cut, ["Node 5"]);
    // Whether a hidden value is looked for or another one makes no difference.
    let mut first = Vec::new();
    for guess in ["\"hunter2hunter2\"", "\"hunter3hunter3\""] {
        let args = json!({"workflow_id": "big", "about": guess});
        let page = b.ok("writer", "get_workflow", args).await;
        first.push(page["workflow"]["nodes"].clone());
    }
    assert_eq!(first[0], first[1]);
}

/// Its rules are its own: what it says stands beside our verdict, which it cannot turn.
#[tokio::test]
async fn the_servers_word_stands_beside_the_verdict() {
    let (mut b, backend) =
        Bench::in_memory(Policy::load(POLICY, "policy.yaml", crate::vocabulary::n8n()).unwrap());
    backend.put("old", chain("old", 3), false);
    let of_old = json!({"workflow_id": "old"});
    let ours = b.ok("checker", "validate_workflow", of_old.clone()).await;
    assert_eq!(ours.get("server"), None);
    backend.judges(ServerVerdict {
        server: "n8n-mcp".into(),
        valid: !ours["passed"].as_bool().unwrap(),
        errors: vec!["Node 1: no".into()],
        warnings: vec![],
    });
    let both = b.ok("checker", "validate_workflow", of_old.clone()).await;
    for key in ["passed", "error_count", "findings", "edit_scope"] {
        assert_eq!(both[key], ours[key], "{key}");
    }
    assert_eq!(
        both["server"],
        json!({"name": "n8n-mcp", "valid": !ours["passed"].as_bool().unwrap(), "error_count": 1, "errors": ["Node 1: no"], "warning_count": 0, "warnings": []})
    );
    // One that cannot be asked is said to be so; the check is made all the same.
    for kind in [BackendErrorKind::Unavailable, BackendErrorKind::Rejected] {
        let (mut b, backend) = Bench::in_memory(
            Policy::load(POLICY, "policy.yaml", crate::vocabulary::n8n()).unwrap(),
        );
        backend.put("old", chain("old", 3), false);
        backend.next("server_verdict", Lie::Fails(kind));
        let alone = b.ok("checker", "validate_workflow", of_old.clone()).await;
        assert_eq!(alone["passed"], ours["passed"]);
        assert_eq!(
            alone["server"],
            json!({"name": "memory", "failed": "told to fail"})
        );
    }
}

/// By the same points as a workflow of that name and those node types, best first.
#[tokio::test]
async fn templates_are_scored_as_workflows_are() {
    let (mut b, backend) =
        Bench::in_memory(Policy::load(POLICY, "policy.yaml", crate::vocabulary::n8n()).unwrap());
    let types = ["n8n-nodes-base.webhook", "n8n-nodes-base.noOp"];
    for (id, name, count) in [("1", "Something", 1), ("2", "Orders", 2)] {
        backend.offers(TemplateHead {
            id: id.into(),
            name: name.into(),
            description: String::new(),
            node_types: types[..count].iter().map(|t| (*t).to_owned()).collect(),
            views: None,
        });
    }
    let wanted = json!({"node_types": [types[1]], "trigger_types": [types[0]], "words": ["orders"], "values": []});
    let asked = json!({"query": "orders", "wanted": wanted});
    let found = b.ok("reader", "search_templates", asked).await;
    let told: Vec<Value> = found["templates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| json!([t["id"], t["fit_score"]]))
        .collect();
    // 1: the trigger alone, 20 of 85 points.
    assert_eq!(told, [json!(["2", 100]), json!(["1", 24])]);
    let plain = b
        .ok("reader", "search_templates", json!({"query": "orders"}))
        .await;
    assert_eq!(plain["templates"][0].get("fit_score"), None);
}

#[tokio::test]
async fn of_many_workflows_those_that_fit_best_are_listed_and_the_others_counted() {
    let mut b = bench();
    for i in 0..60 {
        b = b.with_file(&format!("other-{i}"), 1, false);
    }
    b = b.with_file("orders", 2, false);
    let wanted = json!({"node_types": [], "trigger_types": [], "words": ["orders"], "values": []});
    let asked = json!({"wanted": wanted});
    let found = b.ok("writer", "list_workflows", asked).await;
    let listed = found["workflows"].as_array().unwrap();
    assert_eq!((listed.len(), &found["total"]), (40, &json!(61)));
    assert_eq!(listed[0]["id"], "orders");
    assert!(listed.iter().all(|one| one["fit_score"].is_u64()));
    assert_eq!(
        found["note"],
        "21 more fit less; without `wanted`, or with `query`, they are listed"
    );
    let all = b.ok("writer", "list_workflows", json!({})).await;
    assert_eq!(all["total"], 61);
    assert_eq!(all.get("note"), None);
}
