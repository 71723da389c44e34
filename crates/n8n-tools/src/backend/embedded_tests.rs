use super::*;
use agentctl_n8n::{Node, NodeId, TriggerKind, TriggerPoint};
use std::path::Path;

fn workflow(name: &str, nodes: usize) -> Workflow {
    let mut workflow = Workflow::empty(name);
    for i in 0..nodes {
        let mut node = Node::new(
            NodeId(format!("id-{i}")),
            format!("Node {i}"),
            "n8n-nodes-base.noOp",
            1.0,
            serde_json::Map::new(),
        );
        node.set_position(i as f64 * 200.0, 0.0);
        workflow.nodes.push(node);
    }
    workflow
}

fn project() -> (tempfile::TempDir, EmbeddedBackend) {
    let dir = tempfile::tempdir().unwrap();
    let backend = EmbeddedBackend::new(dir.path()).unwrap();
    (dir, backend)
}

async fn create(backend: &EmbeddedBackend, workflow: &Workflow) -> Stored {
    let id = backend.reserve(workflow.name()).await.unwrap();
    backend.create(id.as_ref(), workflow).await.unwrap()
}

fn id(text: &str) -> WorkflowId {
    WorkflowId(text.to_owned())
}

#[test]
fn half_written_files_are_removed_and_nothing_else() {
    let (dir, backend) = project();
    backend.tidy().unwrap();
    let folder = dir.path().join("workflows");
    std::fs::create_dir(&folder).unwrap();
    let kept = [
        "orders.json",
        ".orders.json",
        ".orders.tmp",
        ".notes.v1-2.tmp",
        "orders.json.12-0.tmp",
    ];
    for name in kept.iter().chain(&[".orders.json.4711-0.tmp"]) {
        std::fs::write(folder.join(name), "{}").unwrap();
    }
    backend.tidy().unwrap();
    let mut left: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    let mut kept = kept.map(str::to_owned).to_vec();
    kept.sort();
    assert_eq!(left, kept);
}

#[test]
fn slugs_are_ascii_and_keep_the_sense() {
    for (name, want) in [
        ("Orders to Slack", "orders-to-slack"),
        (
            "  Größe & Übermaß:  Prüfung!  ",
            "groesse-and-uebermass-pruefung",
        ),
        ("Notificación del año — señal", "notificacion-del-ano-senal"),
        ("L'été à Orléans", "lete-a-orleans"),
        ("注文 → Slack", "slack"),
        ("注文", "workflow"),
        ("../../etc/passwd", "etc-passwd"),
        ("CON", "con-workflow"),
        ("com1", "com1-workflow"),
        ("", "workflow"),
    ] {
        assert_eq!(slug(name), want, "{name:?}");
    }
    let long = slug(&"very long name ".repeat(20));
    assert!(long.len() <= 60 && !long.ends_with('-') && long.starts_with("very-long-name"));
}

#[tokio::test]
async fn a_workflow_is_a_file_that_n8n_imports() {
    let (dir, backend) = project();
    let stored = create(&backend, &workflow("Orders to Slack", 2)).await;
    assert_eq!(stored.id, id("orders-to-slack"));
    assert_eq!(
        stored.file.as_deref(),
        Some(Path::new("workflows/orders-to-slack.json"))
    );
    let text = std::fs::read_to_string(dir.path().join("workflows/orders-to-slack.json")).unwrap();
    assert_eq!(text, workflow("Orders to Slack", 2).to_text());
    assert_eq!(
        std::fs::read_dir(dir.path().join("workflows"))
            .unwrap()
            .count(),
        1,
        "no temporary file is left"
    );
}

#[tokio::test]
async fn ids_do_not_collide_and_a_create_never_overwrites() {
    let (dir, backend) = project();
    create(&backend, &workflow("Orders", 1)).await;
    let second = create(&backend, &workflow("Orders", 2)).await;
    assert_eq!(second.id, id("orders-2"));
    std::fs::write(dir.path().join("workflows/ORDERS-3.json"), "not a workflow").unwrap();
    assert_eq!(
        backend.reserve("orders").await.unwrap(),
        Some(id("orders-4"))
    );
    let error = backend
        .create(Some(&id("orders")), &workflow("Other", 3))
        .await
        .unwrap_err();
    assert_eq!(error.kind, BackendErrorKind::Rejected);
    assert_eq!(
        backend
            .get(&id("orders"))
            .await
            .unwrap()
            .workflow
            .nodes
            .len(),
        1
    );
}

#[tokio::test]
async fn a_broken_file_is_reported_and_never_written_over() {
    let (dir, backend) = project();
    create(&backend, &workflow("Good", 1)).await;
    for (name, text) in [
        ("cut", "{\"nodes\": ["),
        ("list", "[{\"nodes\": [], \"connections\": {}}]"),
        ("other", "{\"hello\": 1}"),
        ("empty", ""),
    ] {
        std::fs::write(dir.path().join(format!("workflows/{name}.json")), text).unwrap();
    }
    std::fs::create_dir(dir.path().join("workflows/folder.json")).unwrap();
    let listing = backend.list(&ListQuery::default()).await.unwrap();
    let good: Vec<&str> = listing.workflows.iter().map(|w| w.id.0.as_str()).collect();
    assert_eq!(good, ["good"]);
    let broken: Vec<String> = listing
        .broken
        .iter()
        .map(|b| b.file.display().to_string())
        .collect();
    assert_eq!(
        broken,
        ["cut", "empty", "folder", "list", "other"].map(|n| format!("workflows/{n}.json"))
    );
    for name in ["cut", "list", "other", "empty", "folder"] {
        let at = id(name);
        for error in [
            backend.get(&at).await.unwrap_err(),
            backend.replace(&at, &workflow("New", 1)).await.unwrap_err(),
            backend.delete(&at).await.unwrap_err(),
        ] {
            assert_eq!(error.kind, BackendErrorKind::Rejected, "{error}");
        }
    }
    assert_eq!(
        std::fs::read_to_string(dir.path().join("workflows/cut.json")).unwrap(),
        "{\"nodes\": ["
    );
}

#[tokio::test]
async fn versions_hold_what_was_before_each_change() {
    let (dir, backend) = project();
    let first = create(&backend, &workflow("Orders", 1)).await;
    assert_eq!(backend.versions(&first.id).await.unwrap(), []);
    backend
        .replace(&first.id, &workflow("Orders", 2))
        .await
        .unwrap();
    backend
        .replace(&first.id, &workflow("Orders", 2))
        .await
        .unwrap(); // nothing changes, nothing is kept
    backend
        .replace(&first.id, &workflow("Orders", 3))
        .await
        .unwrap();
    backend.delete(&first.id).await.unwrap();
    let versions = backend.versions(&first.id).await.unwrap();
    let shape: Vec<(u32, usize)> = versions.iter().map(|v| (v.number, v.node_count)).collect();
    assert_eq!(shape, [(3, 3), (2, 2), (1, 1)]);
    assert_eq!(
        backend.version(&first.id, &versions[2].id).await.unwrap(),
        workflow("Orders", 1)
    );
    assert!(
        dir.path()
            .join("memory/versions/orders")
            .join(format!("{}.json", versions[0].id))
            .is_file()
    );
    let error = backend.version(&first.id, "../orders").await.unwrap_err();
    assert_eq!(error.kind, BackendErrorKind::NotFound);
}

#[tokio::test]
async fn a_workflow_is_named_by_id_path_or_title() {
    let (dir, backend) = project();
    create(&backend, &workflow("Orders to Slack", 1)).await;
    std::fs::create_dir_all(dir.path().join("flows/sub")).unwrap();
    std::fs::write(
        dir.path().join("flows/sub/Mine.json"),
        workflow("Mine", 1).to_text(),
    )
    .unwrap();
    let absolute = dir.path().join("workflows/orders-to-slack.json");
    for (reference, want) in [
        ("orders-to-slack", "orders-to-slack"),
        ("workflows/orders-to-slack.json", "orders-to-slack"),
        ("./workflows/orders-to-slack.json", "orders-to-slack"),
        ("orders-to-slack.json", "orders-to-slack"),
        (absolute.to_str().unwrap(), "orders-to-slack"),
        ("Orders to Slack", "orders-to-slack"),
        ("flows/sub/Mine.json", "flows/sub/Mine.json"),
        ("no-such", "no-such"),
    ] {
        assert_eq!(
            backend.resolve(reference).await,
            Ok(id(want)),
            "{reference}"
        );
    }
    let mine = id("flows/sub/Mine.json");
    backend.replace(&mine, &workflow("Mine", 2)).await.unwrap();
    assert_eq!(backend.get(&mine).await.unwrap().workflow.nodes.len(), 2);
    assert_eq!(backend.versions(&mine).await.unwrap().len(), 1);
}

#[tokio::test]
async fn nothing_outside_the_project_and_no_record_of_a_run_is_a_workflow() {
    let outer = tempfile::tempdir().unwrap();
    std::fs::write(outer.path().join("secret.json"), workflow("S", 1).to_text()).unwrap();
    let root = outer.path().join("project");
    std::fs::create_dir_all(root.join("memory")).unwrap();
    std::fs::create_dir_all(root.join("workflows")).unwrap();
    std::fs::write(root.join("memory/x.json"), workflow("X", 1).to_text()).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(
        outer.path().join("secret.json"),
        root.join("workflows/link.json"),
    )
    .unwrap();
    let backend = EmbeddedBackend::new(&root).unwrap();
    let long = "x".repeat(300);
    for reference in [
        "../secret.json",
        "workflows/../../secret.json",
        "/etc/passwd.json",
        "memory/x.json",
        ".mcp.json",
        "a/.hidden/b.json",
        "agents/policy.yaml",
        "..\\secret.json",
        "a\0b",
        "a\nb",
        ".hidden",
        "",
        long.as_str(),
    ] {
        let error = match backend.resolve(reference).await {
            Ok(id) => backend.get(&id).await.unwrap_err(),
            Err(error) => error,
        };
        assert_eq!(
            error.kind,
            BackendErrorKind::Rejected,
            "{reference:?}: {error}"
        );
    }
    #[cfg(unix)]
    {
        let link = id("link");
        assert_eq!(
            backend.get(&link).await.unwrap_err().kind,
            BackendErrorKind::Rejected
        );
        assert_eq!(
            backend
                .list(&ListQuery::default())
                .await
                .unwrap()
                .broken
                .len(),
            1
        );
    }
}

#[tokio::test]
async fn a_missing_one_is_not_found_and_names_a_near_one() {
    let (_dir, backend) = project();
    create(&backend, &workflow("Orders to Slack", 1)).await;
    let error = backend.get(&id("order-to-slack")).await.unwrap_err();
    assert_eq!(error.kind, BackendErrorKind::NotFound);
    assert!(error.hint.unwrap().contains("`orders-to-slack`"));
}

#[tokio::test]
async fn what_it_cannot_do_it_says() {
    let (_dir, backend) = project();
    let stored = create(&backend, &workflow("Orders", 1)).await;
    let call = TriggerCall::new(
        TriggerPoint {
            node: "Webhook".into(),
            kind: TriggerKind::Webhook,
            method: "POST".into(),
            path: "orders".into(),
            fields: vec![],
        },
        serde_json::Map::new(),
    );
    let errors = [
        backend.trigger(&stored.id, &call).await.unwrap_err(),
        backend.set_active(&stored.id, true).await.unwrap_err(),
        backend
            .executions(&ExecutionQuery {
                workflow: None,
                status: None,
                limit: 10,
            })
            .await
            .unwrap_err(),
        backend.execution("1").await.unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind, BackendErrorKind::Unsupported);
        assert!(
            error
                .message
                .starts_with("the embedded backend cannot execute workflows")
        );
        assert!(error.hint.unwrap().starts_with("not executed"));
    }
    assert_eq!(backend.search_templates("slack", 5).await.unwrap(), []);
}
