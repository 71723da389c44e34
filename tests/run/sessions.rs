//! Sessions of another agent's tool calls: journaled, narrowed, undone like runs, and at peace with what else goes on in the project.

use crate::gated::Gated;
use crate::support::{Shop, block_on, built, creation, gateway, good, request};
use agentctl_base::{
    model::{ToolResult, ToolStatus},
    question::Outcome,
};
use agentctl_engine::run::{
    Counted, Effects, RunError, Serving, SessionTerms, ToolSessions, Undo, Unobserved, list, show,
    undo, verify,
};
use agentctl_engine::{
    pack::Pack,
    policy::Policy,
    store::{Event, Holder, ProjectLock},
};
use agentctl_knowledge::{Knowledge, Skill};
use agentctl_mcp::serve::{Client, Host, Hosts};
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n_tools::backend::EmbeddedBackend;
use agentctl_n8n_tools::resources::parse;
use serde_json::{Value, json};
use std::{
    fs,
    future::pending,
    path::Path,
    sync::{Arc, Mutex, atomic::AtomicU64, atomic::Ordering},
    time::Duration,
};
use tokio::sync::Notify;

/// A clock that says that every look at it was seconds later.
struct Slow(Counted, AtomicU64);

impl Effects for Slow {
    fn now(&self) -> jiff::Timestamp {
        self.0.now()
    }
    fn new_id(&self) -> String {
        uuid::Uuid::now_v7().to_string()
    }
    fn pid(&self) -> u32 {
        1
    }
    fn elapsed_ms(&self) -> u64 {
        self.1.fetch_add(20_000, Ordering::Relaxed)
    }
}

const ANY: fn() -> SessionTerms = || SessionTerms {
    role: "maker".into(),
    lender: None,
    only: None,
    scope: None,
};

fn sessions(shop: &Shop, terms: SessionTerms, pack: Pack) -> ToolSessions {
    ToolSessions::new(Serving {
        project: shop.project.clone(),
        gateway: gateway(shop.dir.path(), &pack),
        pack,
        effects: Box::new(Slow(Counted::from(1_800_000_000), AtomicU64::new(0))),
        observer: Mutex::new(Box::new(Unobserved)),
        terms,
        lock_wait: Duration::ZERO,
    })
}

fn limited(shop: &Shop, limits: &str) -> Pack {
    let policy = format!(
        "roles:\n  maker: [get-workflow, list-workflows, create-workflow, update-workflow, delete-workflow]\nlimits: {{{limits}}}\n"
    );
    Pack {
        policy: Policy::load(
            &policy,
            "policy.yaml",
            agentctl_n8n_tools::vocabulary::n8n(),
        )
        .unwrap(),
        ..shop.pack.clone()
    }
}

fn opened(sessions: &ToolSessions) -> Arc<dyn Host> {
    sessions.open(Client {
        name: "tester".into(),
        version: "1.2".into(),
        transport: "stdio",
    })
}

fn call(host: &Arc<dyn Host>, name: &str, args: Value) -> ToolResult {
    block_on(host.call(name.into(), args.to_string(), Box::pin(pending())))
}

fn ok(host: &Arc<dyn Host>, name: &str, args: Value) -> Value {
    let result = call(host, name, args);
    assert_eq!(result.status, ToolStatus::Ok, "{:?}", result.content);
    result.content
}

/// The rule that refused the call.
fn refused(host: &Arc<dyn Host>, name: &str, args: Value) -> String {
    let result = call(host, name, args);
    assert_eq!(result.status, ToolStatus::Refused, "{:?}", result.content);
    result.content["rule"].as_str().unwrap().to_owned()
}

fn note(id: &str, node: &str, text: &str) -> Value {
    json!({"workflow_id": id, "ops": [{"op": "set_parameter", "node": node, "pointer": "/note", "value": text}]})
}

fn kinds(events: &[Event]) -> Vec<String> {
    let kind = |e: &Event| {
        serde_json::to_value(e).unwrap()["type"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    events.iter().map(kind).collect()
}

fn take_back(shop: &mut Shop, run: &str) -> Result<usize, RunError> {
    let what = Undo::Run(Some(run.to_owned()));
    block_on(undo(shop.context(None), what, false)).map(|report| report.resources.len())
}

#[test]
fn a_session_is_a_run_that_is_listed_shown_and_verified() {
    let shop = Shop::new(good);
    let sessions = sessions(&shop, ANY(), shop.pack.clone());
    let host = opened(&sessions);
    ok(&host, "create_workflow", creation("Orders"));
    assert_eq!(
        refused(&host, "validate_workflow", json!({"workflow_id": "orders"})),
        "maker: no validate-final"
    );
    block_on(host.close());

    let [run] = list(&shop.project).unwrap().try_into().unwrap();
    assert_eq!(run.request, "MCP session of tester as maker");
    let session = run.session.clone().unwrap();
    assert_eq!(
        (
            session.role.as_str(),
            session.client.as_str(),
            session.client_version.as_str()
        ),
        ("maker", "tester", "1.2")
    );
    assert_eq!((run.outcome, run.active), (Some(Outcome::Complete), false));
    assert_eq!(run.resources, ["orders"]);
    assert_eq!(
        kinds(&shop.journal_of(&run.run_id)),
        [
            "run_started",
            "session_opened",
            "activation_started",
            "tool_intent",
            "tool_finished",
            "activation_ended",
            "activation_started",
            "tool_intent",
            "tool_finished",
            "activation_ended",
            "activation_started",
            "run_ended",
            "activation_ended",
        ]
    );
    let report = show(&shop.project, &shop.pack, &run.run_id, &mut |_| ()).unwrap();
    assert_eq!((report.stage.as_str(), report.exit_code), ("session", 0));
    assert_eq!(report.message, "the session ended: 2 calls, 1 change");
    assert_eq!(built(&report).workflow.unwrap().id, "orders");
    let verified = verify(&shop.project, &parse, &run.run_id).unwrap();
    assert_eq!((verified.records, verified.shorter_than_state), (13, None));
}

#[test]
fn a_session_that_calls_nothing_leaves_nothing() {
    let shop = Shop::new(good);
    let sessions = sessions(&shop, ANY(), shop.pack.clone());
    block_on(opened(&sessions).close());
    assert_eq!(list(&shop.project).unwrap(), []);
    assert!(!shop.project.runs().exists());
}

#[test]
fn what_a_session_did_is_taken_back_and_it_goes_on_as_a_new_run() {
    let mut shop = Shop::new(good);
    let sessions = sessions(&shop, ANY(), shop.pack.clone());
    let host = opened(&sessions);
    ok(&host, "create_workflow", creation("Orders"));
    let run = list(&shop.project).unwrap().remove(0).run_id;
    assert_eq!(take_back(&mut shop, &run).unwrap(), 1);
    assert_eq!(shop.workflows(), []);
    // The session was open all the while: its next call belongs to a run of its own.
    ok(&host, "create_workflow", creation("Orders"));
    block_on(host.close());
    let runs = list(&shop.project).unwrap();
    let outcomes: Vec<_> = runs.iter().map(|run| run.outcome).collect();
    assert_eq!(
        outcomes,
        [Some(Outcome::Cancelled), Some(Outcome::Complete)]
    );
    assert_eq!(shop.workflows().len(), 1);
}

#[test]
fn a_session_is_never_the_active_run() {
    let mut shop = Shop::new(good);
    let built = shop.start(request("orders")).unwrap().run_id;
    let state = fs::read(shop.project.state_file()).unwrap();
    let sessions = sessions(&shop, ANY(), shop.pack.clone());
    let host = opened(&sessions);
    ok(&host, "get_workflow", json!({"workflow_id": "orders"}));
    ok(
        &host,
        "update_workflow",
        note("orders", "Tell", "by a session"),
    );
    block_on(host.close());
    let session = list(&shop.project)
        .unwrap()
        .into_iter()
        .find(|run| run.session.is_some())
        .unwrap();
    assert_eq!(take_back(&mut shop, &session.run_id).unwrap(), 1);
    assert_eq!(fs::read(shop.project.state_file()).unwrap(), state);
    let status = agentctl_engine::run::status(&shop.project, &shop.pack).unwrap();
    assert_eq!(status.run_id, built);
    let resumed = shop.resume(Some(&session.run_id)).unwrap_err();
    assert!(resumed.to_string().contains("MCP session"), "{resumed}");
}

#[test]
fn what_would_be_asked_is_refused_and_says_who_can_do_it() {
    let mut shop = Shop::new(good);
    shop.start(request("orders")).unwrap();
    let before = shop.workflows();
    let sessions = sessions(&shop, ANY(), shop.pack.clone());
    let host = opened(&sessions);
    ok(&host, "get_workflow", json!({"workflow_id": "orders"}));
    let result = call(&host, "delete_workflow", json!({"workflow_id": "orders"}));
    assert_eq!(result.status, ToolStatus::Refused);
    assert_eq!(result.content["rule"], "guard.owner");
    let why = result.content["error"].as_str().unwrap();
    assert!(
        why.contains("nobody can be asked here") && why.contains("agentctl build"),
        "{why}"
    );
    assert_eq!(shop.workflows(), before);
}

#[test]
fn a_scope_holds_and_its_workflow_is_the_only_one() {
    let shop = Shop::new(good);
    let pack = shop.pack.clone();
    let free = sessions(&shop, ANY(), pack.clone());
    let host = opened(&free);
    ok(&host, "create_workflow", creation("Orders"));
    let mut other = creation("Other");
    other["nodes"][1]["name"] = json!("Else");
    other["connections"] =
        json!({"Start": {"main": [[{"node": "Else", "type": "main", "index": 0}]]}});
    ok(&host, "create_workflow", other);
    block_on(host.close());

    let gate = gateway(shop.dir.path(), &pack);
    let settle = |workflow: Option<&'static str>, scope: &[&str]| {
        let scope: Vec<String> = scope.iter().map(|s| (*s).to_owned()).collect();
        block_on(SessionTerms::settle(
            &pack, &gate, "maker", workflow, &scope,
        ))
    };
    let terms = settle(None, &["Tell"]).unwrap();
    assert_eq!(terms.only.as_deref(), Some("orders"));
    // Both have it; neither is guessed.
    assert!(
        settle(None, &["Start"])
            .unwrap_err()
            .to_string()
            .contains("--workflow")
    );
    assert!(settle(None, &["Nowhere"]).is_err());
    assert!(settle(Some("orders"), &["Else"]).is_err());
    assert!(settle(Some("missing"), &[]).is_err());
    assert!(block_on(SessionTerms::settle(&pack, &gate, "ghost", None, &[])).is_err());

    let narrowed = sessions(&shop, terms, pack.clone());
    let names: Vec<&str> = narrowed
        .offer()
        .tools
        .iter()
        .map(|t| t.spec.name.as_str())
        .collect();
    assert_eq!(names, ["get_workflow", "update_workflow"]);
    let host = opened(&narrowed);
    for id in ["orders", "other"] {
        ok(&host, "get_workflow", json!({"workflow_id": id}));
    }
    assert_eq!(
        refused(&host, "create_workflow", creation("Third")),
        "tools.not_offered"
    );
    assert_eq!(
        refused(&host, "update_workflow", note("other", "Else", "x")),
        "guard.edit_scope"
    );
    assert_eq!(
        refused(&host, "update_workflow", note("orders", "Start", "x")),
        "guard.edit_scope"
    );
    ok(&host, "update_workflow", note("orders", "Tell", "in scope"));

    let one = sessions(&shop, settle(Some("orders"), &[]).unwrap(), pack.clone());
    let host = opened(&one);
    for id in ["orders", "other"] {
        ok(&host, "get_workflow", json!({"workflow_id": id}));
    }
    assert_eq!(
        refused(&host, "update_workflow", note("other", "Else", "x")),
        "guard.workflow"
    );
    ok(
        &host,
        "update_workflow",
        note("orders", "Start", "any node of it"),
    );
}

#[test]
fn a_session_is_as_finite_as_a_run() {
    let shop = Shop::new(good);
    let host = opened(&sessions(
        &shop,
        ANY(),
        limited(&shop, "max_identical_calls: 2"),
    ));
    let read = json!({"workflow_id": "none"});
    let statuses: Vec<_> = (0..3)
        .map(|_| call(&host, "get_workflow", read.clone()).status)
        .collect();
    assert_eq!(
        statuses,
        [ToolStatus::Failed, ToolStatus::Failed, ToolStatus::Refused]
    );
    // Another call in between: somebody else may have changed something meanwhile.
    call(&host, "get_workflow", json!({"workflow_id": "other"}));
    assert_eq!(call(&host, "get_workflow", read).status, ToolStatus::Failed);

    let host = opened(&sessions(&shop, ANY(), limited(&shop, "max_tool_calls: 2")));
    for id in ["a", "b"] {
        call(&host, "get_workflow", json!({"workflow_id": id}));
    }
    assert_eq!(
        refused(&host, "get_workflow", json!({"workflow_id": "c"})),
        "budget.tool_calls"
    );

    let host = opened(&sessions(&shop, ANY(), limited(&shop, "max_seconds: 30")));
    for id in ["a", "b"] {
        call(&host, "get_workflow", json!({"workflow_id": id}));
    }
    assert_eq!(
        refused(&host, "get_workflow", json!({"workflow_id": "c"})),
        "budget.seconds"
    );
}

#[test]
fn a_project_in_use_is_waited_for_and_not_for_ever() {
    let shop = Shop::new(good);
    let host = opened(&sessions(&shop, ANY(), shop.pack.clone()));
    ok(&host, "create_workflow", creation("Orders"));
    let run = list(&shop.project).unwrap().remove(0).run_id;
    let before = shop.journal_of(&run).len();
    let holder = Holder {
        pid: 4711,
        run_id: Some("a-build".into()),
        since: "now".into(),
        host: None,
    };
    let lock = ProjectLock::take(&shop.project.lock_file(), &holder).unwrap();
    let result = call(&host, "get_workflow", json!({"workflow_id": "orders"}));
    assert_eq!(
        (result.status, &result.content["rule"]),
        (ToolStatus::Failed, &json!("project.busy"))
    );
    assert!(
        result.content["error"]
            .as_str()
            .unwrap()
            .contains("a-build")
    );
    assert_eq!(shop.journal_of(&run).len(), before);
    drop(lock);
    ok(&host, "get_workflow", json!({"workflow_id": "orders"}));
}

#[test]
fn two_sessions_and_a_build_in_one_project_do_not_disturb_each_other() {
    let mut shop = Shop::new(good);
    let all = sessions(&shop, ANY(), shop.pack.clone());
    let (one, two) = (opened(&all), opened(&all));
    ok(&one, "create_workflow", creation("Invoices"));
    ok(&two, "get_workflow", json!({"workflow_id": "invoices"}));
    ok(&one, "update_workflow", note("invoices", "Tell", "one"));
    // What two read is no longer what is there.
    assert_eq!(
        refused(&two, "update_workflow", note("invoices", "Tell", "two")),
        "guard.stale"
    );
    shop.start(request("orders")).unwrap();
    ok(&two, "get_workflow", json!({"workflow_id": "invoices"}));
    ok(&two, "update_workflow", note("invoices", "Tell", "two"));
    assert_eq!(
        refused(&one, "update_workflow", note("invoices", "Start", "one")),
        "guard.stale"
    );
    block_on(one.close());
    block_on(two.close());
    let runs = list(&shop.project).unwrap();
    assert_eq!(runs.len(), 3);
    for run in &runs {
        assert_eq!(run.outcome, Some(Outcome::Complete), "{run:?}");
        verify(&shop.project, &parse, &run.run_id).unwrap();
    }
    // After its end a session takes nothing more.
    assert_eq!(
        refused(&one, "get_workflow", json!({"workflow_id": "invoices"})),
        "session.over"
    );
}

#[test]
fn a_cancelled_read_stops_a_cancelled_change_is_carried_through_a_waiting_call_is_not_made() {
    let shop = Shop::new(good);
    let pack = limited(&shop, "max_tool_calls: 100");
    let mut listing = shop.pack.clone();
    listing.agents["maker"].tools.push("list_workflows".into());
    let pack = Pack {
        agents: listing.agents,
        ..pack
    };
    let gated = Arc::new(Gated {
        inner: EmbeddedBackend::new(shop.dir.path()).unwrap(),
        reached: Notify::new(),
        go: Notify::new(),
    });
    let sessions = ToolSessions::new(Serving {
        project: shop.project.clone(),
        gateway: agentctl_n8n_tools::fixture::gateway_on(
            pack.policy.clone(),
            gated.clone(),
            Knowledge::new(shop.dir.path(), Vec::<Skill>::new()),
            Catalog::embedded(),
        ),
        pack,
        effects: Box::new(Slow(Counted::from(1_800_000_000), AtomicU64::new(0))),
        observer: Mutex::new(Box::new(Unobserved)),
        terms: ANY(),
        lock_wait: Duration::ZERO,
    });
    let host = opened(&sessions);
    let call = |name: &str, args: Value, cancel: &Arc<Notify>| {
        let cancel = Arc::clone(cancel);
        let cancelled = Box::pin(async move { cancel.notified().await });
        host.call(name.into(), args.to_string(), cancelled)
    };
    let journal = || shop.journal();
    let (one, two) = (Arc::new(Notify::new()), Arc::new(Notify::new()));

    let (read, ()) = block_on(async {
        tokio::join!(call("list_workflows", json!({}), &one), async {
            gated.reached.notified().await;
            one.notify_one();
        })
    });
    assert_eq!(read.status, ToolStatus::Cancelled);
    let events = journal();
    assert_eq!(
        kinds(&events)[3..],
        ["tool_intent", "tool_finished", "activation_ended"]
    );
    assert!(
        matches!(&events[4], Event::ToolFinished { result, .. } if result.status == ToolStatus::Cancelled)
    );

    let creation = creation("Orders");
    let (made, waited, ()) = block_on(async {
        tokio::join!(
            call("create_workflow", creation.clone(), &one),
            call("get_workflow", json!({"workflow_id": "orders"}), &two),
            async {
                gated.reached.notified().await;
                one.notify_one();
                two.notify_one();
                tokio::task::yield_now().await;
                gated.go.notify_one();
            }
        )
    });
    assert_eq!(
        (made.status, waited.status),
        (ToolStatus::Ok, ToolStatus::Cancelled)
    );
    assert_eq!(shop.workflows().len(), 1);
    // One more activation, not two.
    assert_eq!(journal().len(), events.len() + 4);
}

/// The journal as a kill left it: the change's intent is there, its result is not.
fn kill_before_the_result(root: &Path, run: &str) {
    let path = root.join("memory/runs").join(run).join("journal.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let kept: Vec<&str> = text
        .lines()
        .take_while(|line| !line.contains("\"type\":\"tool_finished\""))
        .collect();
    fs::write(&path, kept.join("\n") + "\n").unwrap();
}

#[test]
fn a_change_that_a_killed_session_had_begun_is_taken_back_too() {
    let mut shop = Shop::new(good);
    let host = opened(&sessions(&shop, ANY(), shop.pack.clone()));
    ok(&host, "create_workflow", creation("Orders"));
    drop(host);
    let run = list(&shop.project).unwrap().remove(0).run_id;
    kill_before_the_result(shop.dir.path(), &run);
    assert_eq!(
        list(&shop.project).unwrap()[0].resources,
        Vec::<String>::new()
    );
    assert_eq!(take_back(&mut shop, &run).unwrap(), 1);
    assert_eq!(shop.workflows(), []);
    verify(&shop.project, &parse, &run).unwrap();
}

#[test]
fn what_a_client_says_of_itself_is_cleaned() {
    let shop = Shop::new(good);
    let all = sessions(&shop, ANY(), shop.pack.clone());
    let host = all.open(Client {
        name: format!("\u{1b}[2J ghp_{}\n{}", "a1B2".repeat(9), "x".repeat(500)),
        version: "1".into(),
        transport: "http",
    });
    call(&host, "get_workflow", json!({"workflow_id": "none"}));
    let client = list(&shop.project)
        .unwrap()
        .remove(0)
        .session
        .unwrap()
        .client;
    assert!(
        client.chars().count() <= 80 && !client.contains(['\u{1b}', '\n']),
        "{client:?}"
    );
    assert!(!client.contains("a1B2a1B2"), "{client:?}");
}
