//! What is lost of a workflow over all runs, sessions and clients: cases 290 to 304. Those that only the program shows are in
//! `loss_served`.

use crate::support::*;
use agentctl_base::question::Outcome;
use agentctl_engine::gateway::Gateway;
use agentctl_engine::pack::Pack;
use agentctl_engine::run::{Undo, undo};
use agentctl_engine::store::Event;
use agentctl_host::home::Home;
use agentctl_knowledge::{Knowledge, Skill};
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::{Workflow, WorkflowId};
use agentctl_n8n_tools::N8n;
use agentctl_n8n_tools::accepted::{Accepted, HomeShelf, MemoryShelf, NoShelf, NotKept};
use agentctl_n8n_tools::backend::{Backend as _, EmbeddedBackend};
use agentctl_n8n_tools::fixture::gateway_with;
use agentctl_n8n_tools::noted::{BaseHow, Counted, Noted};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// A user's folder; each shelf that is opened on it stands for a process.
pub struct User(tempfile::TempDir);

impl User {
    pub fn new() -> User {
        User(tempfile::tempdir().unwrap())
    }

    pub fn shelf(&self) -> Arc<dyn Accepted> {
        let home = self.0.path().join("home").to_str().unwrap().to_owned();
        let variable = |name: &str| (name == "AGENTCTL_HOME").then(|| home.clone());
        let home = Home::find(variable, Path::new("/no/project")).unwrap();
        Arc::new(HomeShelf::new(home, "project /somewhere"))
    }
}

/// A served session of a builder: it has read `orders`, and nobody can be asked.
pub async fn session(bench: Bench, user: &User) -> Bench {
    let mut bench = bench.again(user.shelf());
    bench.can_ask = false;
    bench
        .ok("builder", "get_workflow", json!({"workflow_id": "orders"}))
        .await;
    bench
}

pub fn update(ops: Value) -> Value {
    json!({"workflow_id": "orders", "ops": ops})
}

pub fn removed(nodes: std::ops::Range<usize>) -> Value {
    let each = nodes.map(|i| json!({"op": "remove_node", "node": format!("id-{i}")}));
    update(each.collect())
}

/// The trigger first, then nodes that say something each.
pub fn orders(count: usize) -> Workflow {
    let mut workflow = chain("orders", count);
    for (i, node) in workflow.nodes.iter_mut().enumerate() {
        let parameters = match i {
            0 => json!({"rule": {"interval": [{"field": "hours", "hoursInterval": 2}]}}),
            _ => {
                json!({"resource": "message", "operation": "post", "channel": format!("#c{i}"), "text": format!("text {i}")})
            }
        };
        node.edit_parameters(|p| *p = parameters.as_object().unwrap().clone());
        if i == 0 {
            node.set("type", json!("n8n-nodes-base.scheduleTrigger"));
        }
    }
    workflow
}

pub fn held(backend: &MemoryBackend) -> usize {
    backend.held("orders").unwrap().nodes.len()
}

/// What the journal says of the last change.
pub fn counted(bench: &Bench) -> Counted {
    let counted = |event: &Event| match event {
        Event::ToolIntent { expect, .. } => Noted::in_expectation(expect.as_ref()?).counted,
        _ => None,
    };
    let events = bench.desk.events.iter().rev();
    events.filter_map(|(e, _)| counted(e)).next().unwrap()
}

/// The shop's gateway, counting from what this user accepted.
fn accepting(dir: &tempfile::TempDir, pack: &Pack, user: &User) -> Gateway {
    let backend = Arc::new(EmbeddedBackend::new(dir.path()).unwrap());
    let n8n = N8n::new(backend, Catalog::embedded()).with_accepted(user.shelf());
    let knowledge = Knowledge::new(dir.path(), Vec::<Skill>::new());
    gateway_with(pack.policy.clone(), n8n, knowledge)
}

#[test]
fn case_290_half_at_a_time_in_many_sessions_is_counted_together() {
    block_on(async {
        let user = User::new();
        let (bench, backend) = attacked();
        backend.put("orders", chain("orders", 32), false);
        let mut bench = session(bench, &user).await;
        bench
            .ok("builder", "update_workflow", removed(16..32))
            .await;
        let from_now = |how, lost| Counted {
            how,
            since: Some("2026-01-02T03:04:05Z".to_owned()),
            lost,
            total: 32,
            requested: false,
        };
        assert_eq!(counted(&bench), from_now(BaseHow::FirstSeen, 16));
        for _ in 0..3 {
            bench = session(bench, &user).await;
            // Eight of sixteen are half of what this session found, and 24 of 32 of what was there.
            let result = bench
                .call("builder", "update_workflow", removed(8..16))
                .await;
            assert_eq!(
                result.content["error"],
                "this run would lose 24 of the 32 nodes that were there on 2026-01-02, when agentctl was about to change it for the first time: Node 8, Node 9, Node 10, Node 11, Node 12, Node 13, Node 14, Node 15 and 16 more; if what is there now is what is wanted, `agentctl accept orders` counts from that; that needs the user's word, and nobody can be asked here: the user can do it in n8n, or with `agentctl build --workflow ID \"…\"`, which asks"
            );
            assert_eq!(held(&backend), 16);
            // Adding is no losing.
            let add = update(
                json!([{"op": "add_node", "node": {"name": "More", "type": "n8n-nodes-base.noOp", "typeVersion": 1}}, {"op": "remove_node", "node": "More"}]),
            );
            bench.ok("builder", "update_workflow", add).await;
        }
    });
}

#[test]
fn case_291_many_builds_of_one_workflow_are_counted_together() {
    let user = User::new();
    let dir = tempfile::tempdir().unwrap();
    let mut shop = Shop::at(dir, |seen| {
        let results = seen.results();
        match (seen.task(), results.last()) {
            ("think", _) => says(json!({"plan": {"name": "orders"}})),
            ("make", None) => calls(&[("get_workflow", json!({"workflow_id": "orders"}))]),
            ("make", Some(("get_workflow", _, content))) => {
                let count = content["node_count"].as_u64().unwrap() as usize;
                calls(&[("update_workflow", removed(count / 2..count))])
            }
            ("make", Some(_)) => says(json!({"workflow": {"id": "orders"}})),
            ("look", None) => calls(&[("validate_workflow", json!({"workflow_id": "orders"}))]),
            ("look", Some((_, _, content))) => {
                let status = if content["passed"] == true {
                    "pass"
                } else {
                    "fail"
                };
                says(json!({"qa_report": {"status": status}, "edit_scope": []}))
            }
            _ => says(json!({"workflow": {"id": "orders"}, "fixes_tried": []})),
        }
    });
    let backend = EmbeddedBackend::new(shop.dir.path()).unwrap();
    let id = block_on(backend.reserve("orders")).unwrap();
    block_on(backend.create(id.as_ref(), &chain("orders", 32))).unwrap();
    let counting = |shop: &Shop| accepting(&shop.dir, &shop.pack, &user);
    let nodes = |shop: &Shop| {
        let text = std::fs::read_to_string(shop.dir.path().join("workflows/orders.json")).unwrap();
        serde_json::from_str::<Workflow>(&text).unwrap().nodes.len()
    };
    shop.gateway = counting(&shop);
    let first = shop.start(request("less")).unwrap();
    assert_ne!(first.outcome, Outcome::Waiting, "{}", first.message);
    assert_eq!(built(&first).losses["orders"].lost, 16);
    assert_eq!(nodes(&shop), 16);
    // The next run, of a process of its own, asks; so would each that follows.
    shop.gateway = counting(&shop);
    let second = shop.start(request("less")).unwrap();
    assert_eq!(second.outcome, Outcome::Waiting);
    assert_eq!(second.questions[0].topic, "approve-wipe");
    assert_eq!(nodes(&shop), 16);
    // A yes is a person's word for what comes of it.
    let third = shop.answer(json!({"approve-wipe": "approve"})).unwrap();
    assert_ne!(third.outcome, Outcome::Waiting, "{}", third.message);
    assert_eq!(nodes(&shop), 8);
    shop.gateway = counting(&shop);
    shop.start(request("less")).unwrap();
    assert_eq!(nodes(&shop), 4);
    let base = || {
        let base = user
            .shelf()
            .known(&WorkflowId("orders".into()))
            .unwrap()
            .unwrap();
        (base.how, base.outline.total())
    };
    assert_eq!(base(), (BaseHow::Approved, 8));
    // So is what the user puts back.
    block_on(undo(shop.context(None), Undo::Run(None), false)).unwrap();
    assert_eq!((nodes(&shop), base()), (8, (BaseHow::Undone, 8)));
}

#[test]
fn case_294_clients_that_take_turns_share_one_count() {
    block_on(async {
        let user = User::new();
        let (one, backend) = attacked();
        let other = Bench::with(built_in().policy.clone(), |_| backend.clone());
        let mut clients = [session(one, &user).await, session(other, &user).await];
        for i in 0..5 {
            let client = &mut clients[i % 2];
            client
                .ok("builder", "get_workflow", json!({"workflow_id": "orders"}))
                .await;
            client
                .ok("builder", "update_workflow", removed(9 - i..10 - i))
                .await;
        }
        for client in &mut clients {
            client
                .ok("builder", "get_workflow", json!({"workflow_id": "orders"}))
                .await;
            let refused = client
                .refused("builder", "update_workflow", removed(4..5))
                .await;
            assert_eq!(refused, "guard.wipe");
        }
        assert_eq!(held(&backend), 5);
    });
}

#[test]
fn case_295_parameters_replaced_by_junk_are_lost_at_once_or_little_by_little() {
    let junk = |nodes: std::ops::Range<usize>| -> Value {
        let each = nodes.map(|i| json!({"op": "replace_parameters", "node": format!("id-{i}"), "parameters": {"resource": "x", "operation": "x", "channel": "x", "text": "x"}}));
        update(each.collect())
    };
    block_on(async {
        let user = User::new();
        let (bench, backend) = attacked();
        backend.put("orders", orders(32), false);
        let mut bench = session(bench, &user).await;
        assert_eq!(
            bench
                .refused("builder", "update_workflow", junk(1..32))
                .await,
            "guard.wipe"
        );
        assert_eq!(backend.writes(), Vec::<String>::new());
        for from in [1, 5, 9, 13] {
            bench = session(bench, &user).await;
            bench
                .ok("builder", "update_workflow", junk(from..from + 4))
                .await;
        }
        bench = session(bench, &user).await;
        assert_eq!(
            bench
                .refused("builder", "update_workflow", junk(17..18))
                .await,
            "guard.wipe"
        );
        // An ordinary edit of every node is none.
        let (bench, backend) = attacked();
        backend.put("orders", orders(32), false);
        let mut bench = session(bench, &User::new()).await;
        let edit = (1..32).map(|i| json!({"op": "set_parameter", "node": format!("id-{i}"), "pointer": "/channel", "value": "#all"}));
        bench
            .ok("builder", "update_workflow", update(edit.collect()))
            .await;
        assert_eq!(counted(&bench).lost, 0);
    });
}

/// Refused as a wipe, with nobody to ask; the workflow stays.
pub fn is_refused(workflow: &Workflow, ops: Value) {
    block_on(async {
        let (bench, backend) = attacked();
        backend.put("orders", workflow.clone(), false);
        let mut bench = session(bench, &User::new()).await;
        let refused = bench
            .refused("builder", "update_workflow", update(ops.clone()))
            .await;
        assert_eq!(refused, "guard.wipe", "{ops}");
        assert_eq!(backend.held("orders").as_ref(), Some(workflow));
    });
}

fn gate(node_type: &str, version: f64, parameters: Value) -> Value {
    json!([
        {"op": "add_node", "node": {"name": "Gate", "type": node_type, "typeVersion": version, "parameters": parameters}},
        {"op": "rewire", "from": "id-0", "to": "id-1", "new_to": "Gate"},
        {"op": "connect", "from": "Gate", "to": "id-1"}])
}

#[test]
fn case_296_a_filter_that_nothing_passes_cuts_off_what_lies_behind_it() {
    let equals = |left: Value, right: Value| json!({"conditions": {"options": {}, "combinator": "and", "conditions": [{"leftValue": left, "rightValue": right, "operator": {"type": "number", "operation": "equals"}}]}});
    let none = json!({"conditions": {"options": {}, "combinator": "or", "conditions": []}});
    for ops in [
        gate("n8n-nodes-base.filter", 2.2, equals(json!(1), json!(2))),
        gate(
            "n8n-nodes-base.filter",
            2.2,
            equals(json!("={{ 1 }}"), json!("={{ 2 }}")),
        ),
        gate("n8n-nodes-base.filter", 2.2, none),
        gate("n8n-nodes-base.if", 2.2, equals(json!(1), json!(2))),
        gate("n8n-nodes-base.limit", 1.0, json!({"maxItems": 0})),
        gate("n8n-nodes-base.code", 2.0, json!({"jsCode": "return [];"})),
    ] {
        is_refused(&orders(8), ops);
    }
    // One that depends on the item is an edit where it stands before no more than half.
    block_on(async {
        let (bench, backend) = attacked();
        backend.put("orders", orders(8), false);
        let mut bench = session(bench, &User::new()).await;
        let depends = equals(json!("={{ $json.n }}"), json!(2));
        let open = json!([
            {"op": "add_node", "node": {"name": "Gate", "type": "n8n-nodes-base.filter", "typeVersion": 2.2, "parameters": depends}},
            {"op": "rewire", "from": "id-4", "to": "id-5", "new_to": "Gate"},
            {"op": "connect", "from": "Gate", "to": "id-5"}]);
        bench.ok("builder", "update_workflow", update(open)).await;
        assert_eq!(counted(&bench).lost, 0);
    });
    // Before most of the workflow it is asked (cases 346 to 348).
    is_refused(
        &orders(8),
        gate(
            "n8n-nodes-base.filter",
            2.2,
            equals(json!("={{ $json.n }}"), json!(2)),
        ),
    );
}

#[test]
fn case_297_a_start_that_never_begins_cuts_off_what_lies_behind_it() {
    let cron = |text: &str| json!({"rule": {"interval": [{"field": "cronExpression", "expression": text}]}});
    let set = |parameters: Value| json!([{"op": "replace_parameters", "node": "id-0", "parameters": parameters}]);
    for ops in [
        set(cron("0 0 30 2 *")),
        set(json!({"rule": {"interval": [{"field": "hours", "hoursInterval": 0}]}})),
        json!([{"op": "disable_node", "node": "id-0"}]),
        json!([{"op": "remove_node", "node": "id-0"}]),
        json!([
            {"op": "remove_node", "node": "id-0"},
            {"op": "add_node", "node": {"name": "Never", "type": "n8n-nodes-base.scheduleTrigger", "typeVersion": 1.2, "parameters": cron("0 0 31 4 *")}},
            {"op": "connect", "from": "Never", "to": "id-1"}]),
    ] {
        is_refused(&orders(8), ops);
    }
    block_on(async {
        let (bench, backend) = attacked();
        backend.put("orders", orders(8), false);
        let mut bench = session(bench, &User::new()).await;
        let often = update(set(cron("*/5 * * * *")));
        bench.ok("builder", "update_workflow", often).await;
    });
}

#[test]
fn case_298_an_edit_outside_is_a_persons_and_losses_count_from_it() {
    block_on(async {
        let user = User::new();
        let (bench, backend) = attacked();
        let mut bench = session(bench, &user).await;
        bench.ok("builder", "update_workflow", removed(5..10)).await;
        // Somebody takes a sixth away in n8n's editor.
        let mut edited = backend.held("orders").unwrap();
        edited.nodes.truncate(4);
        edited.connections.shift_remove("Node 3");
        backend.put("orders", edited, false);
        let mut bench = session(bench, &user).await;
        bench.ok("builder", "update_workflow", removed(2..4)).await;
        assert_eq!(
            counted(&bench),
            Counted {
                how: BaseHow::Edited,
                since: Some("2026-01-02T03:04:05Z".into()),
                lost: 2,
                total: 4,
                requested: false
            }
        );
        let mut bench = session(bench, &user).await;
        let refused = bench
            .refused("builder", "update_workflow", removed(1..2))
            .await;
        assert_eq!((refused.as_str(), held(&backend)), ("guard.wipe", 2));
    });
}

#[test]
fn case_299_what_the_user_accepts_is_where_the_count_begins() {
    block_on(async {
        let user = User::new();
        let (bench, backend) = attacked();
        let mut bench = session(bench, &user).await;
        bench.ok("builder", "update_workflow", removed(5..10)).await;
        assert_eq!(
            bench
                .refused("builder", "update_workflow", removed(4..5))
                .await,
            "guard.wipe"
        );
        // In another process, while the session is open.
        let at = backend.get(&WorkflowId("orders".into())).await.unwrap();
        let other = N8n::new(backend.clone(), Catalog::embedded()).with_accepted(user.shelf());
        other
            .accept(&at, BaseHow::Accepted, bench.desk.now)
            .unwrap();
        bench.ok("builder", "update_workflow", removed(3..5)).await;
        assert_eq!(
            counted(&bench).from_when(),
            "counted from 2026-01-02, when you accepted it"
        );
        let refused = bench
            .refused("builder", "update_workflow", removed(2..3))
            .await;
        assert_eq!((refused.as_str(), held(&backend)), ("guard.wipe", 3));
    });
}

#[test]
fn case_300_a_crash_at_any_moment_makes_no_change_of_ours_an_outside_edit() {
    // The journal's events of one change: snapshot, intent, result. It dies before each of them, and after all.
    for dies_at in 0..4 {
        block_on(async {
            let user = User::new();
            let (bench, backend) = attacked();
            let mut bench = session(bench, &user).await;
            bench.ok("builder", "update_workflow", removed(9..10)).await;
            bench.desk.fails_from = bench.desk.events.len() + dies_at;
            let ended = bench
                .raw("builder", "update_workflow", &removed(5..9).to_string())
                .await;
            assert_eq!(ended.is_ok(), dies_at == 3);
            let written = dies_at >= 2;
            assert_eq!(held(&backend), if written { 5 } else { 9 });
            bench.desk.fails_from = usize::MAX;
            let mut bench = session(bench, &user).await;
            let refused = bench
                .refused(
                    "builder",
                    "update_workflow",
                    removed(4..9 - 4 * usize::from(written)),
                )
                .await;
            let base = user
                .shelf()
                .known(&WorkflowId("orders".into()))
                .unwrap()
                .unwrap();
            assert_eq!(
                (refused.as_str(), base.how, base.outline.total()),
                ("guard.wipe", BaseHow::FirstSeen, 10),
                "{dies_at}"
            );
        });
    }
}

#[test]
fn case_301_workflows_are_counted_each_for_itself_and_a_renamed_file_is_another() {
    block_on(async {
        let user = User::new();
        let policy = built_in().policy.clone();
        let mut bench = Bench::embedded(policy)
            .with_file("orders", 10, false)
            .with_file("bills", 10, false)
            .accepting(user.shelf());
        bench.can_ask = false;
        let half = |id: &str, from: usize, to: usize| {
            let ops: Value = (from..to)
                .map(|i| json!({"op": "remove_node", "node": format!("id-{i}")}))
                .collect();
            json!({"workflow_id": id, "ops": ops})
        };
        for id in ["orders", "bills"] {
            bench
                .ok("builder", "get_workflow", json!({"workflow_id": id}))
                .await;
            bench
                .ok("builder", "update_workflow", half(id, 5, 10))
                .await;
        }
        for id in ["orders", "workflows/orders.json", "bills"] {
            assert_eq!(
                bench
                    .refused("builder", "update_workflow", half(id, 4, 5))
                    .await,
                "guard.wipe"
            );
        }
        // A rename by a tool changes no file's name, so it begins nothing anew.
        let rename = json!({"workflow_id": "orders", "ops": [{"op": "set_name", "name": "Other"}]});
        bench.ok("builder", "update_workflow", rename).await;
        assert_eq!(
            bench
                .refused("builder", "update_workflow", half("orders", 4, 5))
                .await,
            "guard.wipe"
        );
        // A person's rename of the file does, and leaves the other workflow alone.
        let folder = bench.dir.path().join("workflows");
        std::fs::rename(folder.join("orders.json"), folder.join("moved.json")).unwrap();
        bench
            .ok("builder", "get_workflow", json!({"workflow_id": "moved"}))
            .await;
        bench
            .ok("builder", "update_workflow", half("moved", 3, 5))
            .await;
        assert_eq!(
            bench
                .refused("builder", "update_workflow", half("moved", 2, 3))
                .await,
            "guard.wipe"
        );
        assert_eq!(
            bench
                .refused("builder", "update_workflow", half("bills", 4, 5))
                .await,
            "guard.wipe"
        );
    });
}

#[test]
fn case_302_without_what_losses_are_counted_from_nothing_is_changed() {
    block_on(async {
        let user = User::new();
        let (bench, backend) = attacked();
        let mut bench = session(bench, &user).await;
        bench.ok("builder", "update_workflow", removed(9..10)).await;
        let folder = user.0.path().join("home/accepted");
        let record = std::fs::read_dir(&folder)
            .unwrap()
            .map(|f| f.unwrap().path());
        let record = record
            .into_iter()
            .find(|f| f.extension().unwrap() == "json")
            .unwrap();
        let kept = std::fs::read(&record).unwrap();
        // Broken by hand, also under a session that knows it; a folder in its place.
        std::fs::write(&record, "{}").unwrap();
        let one = removed(8..9);
        assert_eq!(
            bench
                .refused("builder", "update_workflow", one.clone())
                .await,
            "guard.wipe"
        );
        std::fs::remove_file(&record).unwrap();
        std::fs::create_dir(&record).unwrap();
        let mut bench = session(bench, &user).await;
        assert_eq!(
            bench
                .refused("builder", "update_workflow", one.clone())
                .await,
            "guard.wipe"
        );
        std::fs::remove_dir(&record).unwrap();
        std::fs::write(&record, kept).unwrap();
        // A folder that cannot be used at all.
        let unusable: Arc<dyn Accepted> = Arc::new(NoShelf(NotKept::new("others may write to it")));
        let mut bench = bench.again(unusable);
        bench.can_ask = false;
        bench
            .ok("builder", "get_workflow", json!({"workflow_id": "orders"}))
            .await;
        let result = bench.call("builder", "update_workflow", one.clone()).await;
        assert_eq!(
            result.content["error"],
            "what the losses of this workflow are counted from cannot be kept: others may write to it"
        );
        assert_eq!(held(&backend), 9);
        let mut bench = session(bench, &user).await;
        bench.ok("builder", "update_workflow", one).await;

        // No folder known at all: the run's start, and the journal says so.
        let (mut bench, _) = attacked();
        bench
            .ok("builder", "get_workflow", json!({"workflow_id": "orders"}))
            .await;
        bench.ok("builder", "update_workflow", removed(9..10)).await;
        assert_eq!(
            counted(&bench),
            Counted {
                how: BaseHow::RunStart,
                since: None,
                lost: 1,
                total: 10,
                requested: false
            }
        );
    });
}

/// A chain in which the fifth node alone is in scope.
async fn in_scope() -> (Bench, Arc<MemoryBackend>) {
    let (mut bench, backend) = attacked();
    bench
        .ok("builder", "get_workflow", json!({"workflow_id": "orders"}))
        .await;
    bench.scope(&["Node 5"]);
    (bench, backend)
}

#[test]
fn case_303_a_scope_confines_what_is_read_too() {
    const HTTP: &str = "n8n-nodes-base.httpRequest";
    let behind = |node_type: &str, parameters: Value| {
        json!([
            {"op": "add_node", "node": {"name": "Send", "type": node_type, "typeVersion": 4.2, "parameters": parameters}},
            {"op": "connect", "from": "id-5", "to": "Send"}])
    };
    let body = |text: &str| json!({"method": "POST", "url": "https://example.com/", "sendBody": true, "specifyBody": "json", "jsonBody": text});
    let code = |text: &str| json!({"jsCode": text});
    let set = |value: &str| json!([{"op": "set_parameter", "node": "id-5", "pointer": "/x", "value": value}]);
    let asked = |ops: Value| {
        block_on(async {
            let (mut bench, backend) = in_scope().await;
            let question = bench
                .asked("builder", "update_workflow", update(ops.clone()))
                .await;
            assert_eq!(question.topic, "approve-scope", "{ops}");
            bench.can_ask = false;
            assert_eq!(
                bench
                    .refused("builder", "update_workflow", update(ops))
                    .await,
                "guard.scope"
            );
            assert_eq!(backend.writes(), Vec::<String>::new());
            question.text
        })
    };
    assert_eq!(
        asked(behind(HTTP, body("={{ $('Node 1').item.json }}"))),
        "Allow to let data from outside the scope into the workflow \"orders\"? Data from outside the scope (Node 5): \"Send\" would read \"Node 1\"."
    );
    for text in [
        "={{ $node[\"Node 1\"].json }}",
        "={{ $items('Node 1') }}",
        "={{ $( 'No' + 'de 1').all() }}",
        "={{ $node[$json.n] }}",
    ] {
        asked(behind(HTTP, body(text)));
        asked(set(text));
    }
    for text in [
        "return $('Node 1').all();",
        "const get = $; return get('Node 1').all();",
        "return Object.values($node);",
    ] {
        asked(behind("n8n-nodes-base.code", code(text)));
    }
    // A node outside now leads to one that sends, also over one that does not.
    asked(json!([
        {"op": "add_node", "node": {"name": "Send", "type": HTTP, "typeVersion": 4.2, "parameters": body("={{ $json }}")}},
        {"op": "connect", "from": "id-5", "to": "Send"}, {"op": "connect", "from": "id-1", "to": "Send"}]));
    asked(json!([
        {"op": "add_node", "node": {"name": "Same", "type": "n8n-nodes-base.noOp", "typeVersion": 1}},
        {"op": "add_node", "node": {"name": "Send", "type": HTTP, "typeVersion": 4.2, "parameters": body("={{ $json }}")}},
        {"op": "connect", "from": "id-5", "to": "Same"}, {"op": "connect", "from": "id-1", "to": "Same"}, {"op": "connect", "from": "Same", "to": "Send"}]));
    // In two steps it is the same.
    block_on(async {
        let (mut bench, _) = in_scope().await;
        bench
            .ok(
                "builder",
                "update_workflow",
                update(behind(HTTP, body("={{ $json }}"))),
            )
            .await;
        let then = json!([{"op": "set_parameter", "node": "Send", "pointer": "/jsonBody", "value": "={{ $('Node 1').item.json }}"}]);
        let question = bench
            .asked("builder", "update_workflow", update(then))
            .await;
        assert_eq!(question.topic, "approve-scope");
    });
    // What reaches the scope anyway is nothing new: its own input, by name too, and what was added with it.
    for ops in [
        behind(HTTP, body("={{ $json }}")),
        behind(HTTP, body("={{ $('Node 4').item.json }}")),
        behind(HTTP, body("={{ $('Node 5').item.json }}")),
        behind(
            "n8n-nodes-base.code",
            code("const price = '$' + 5; return $input.all();"),
        ),
        set("={{ $('Node 4').item.json.n }}"),
    ] {
        block_on(async {
            let (mut bench, _) = in_scope().await;
            bench.ok("builder", "update_workflow", update(ops)).await;
        });
    }
    // Without a scope nothing is confined.
    block_on(async {
        let (mut bench, _) = attacked();
        bench
            .ok("builder", "get_workflow", json!({"workflow_id": "orders"}))
            .await;
        let free = behind(HTTP, body("={{ $('Node 1').item.json }}"));
        bench.ok("builder", "update_workflow", update(free)).await;
    });
}

#[test]
fn case_304_a_creation_is_counted_from_when_it_is_next_seen() {
    let user = User::new();
    let mut shop = Shop::new(good);
    shop.gateway = accepting(&shop.dir, &shop.pack, &user);
    let made = shop.start(request("orders")).unwrap();
    assert_eq!(made.outcome, Outcome::Complete);
    let id = WorkflowId("orders".into());
    assert_eq!(
        user.shelf().known(&id).unwrap(),
        None,
        "its own run may change it"
    );
    let run = made.run_id.clone();
    block_on(undo(shop.context(None), Undo::Run(Some(run)), false)).unwrap();
    assert_eq!(
        user.shelf().known(&id).unwrap(),
        None,
        "there is no workflow"
    );

    // Sessions of one client: the first makes it, the second finds it.
    let memory: Arc<dyn Accepted> = Arc::new(MemoryShelf::default());
    let (bench, _) = attacked();
    block_on(async {
        let mut bench = bench.again(Arc::clone(&memory));
        bench
            .ok("builder", "get_workflow", json!({"workflow_id": "orders"}))
            .await;
        bench.ok("builder", "update_workflow", removed(5..10)).await;
        let create = json!({"name": "orders 2", "nodes": [{"name": "Start", "type": "n8n-nodes-base.manualTrigger", "typeVersion": 1, "parameters": {}}]});
        let made = bench.ok("builder", "create_workflow", create).await;
        let made = WorkflowId(made["id"].as_str().unwrap().to_owned());
        assert_eq!(memory.known(&made).unwrap(), None);
        let mut other = bench.again(Arc::clone(&memory));
        other
            .ok("builder", "get_workflow", json!({"workflow_id": made}))
            .await;
        let set = json!({"workflow_id": made, "ops": [{"op": "set_parameter", "node": "Start", "pointer": "/x", "value": 1}]});
        other.ok("builder", "update_workflow", set).await;
        let base = memory.known(&made).unwrap().unwrap();
        assert_eq!((base.how, base.outline.total()), (BaseHow::FirstSeen, 1));
    });
}
