//! Another agent's tool calls: a run of its own, kept to one list and to some of its items.

use crate::support::{House, block_on, gateway, good, list_of};
use agentctl_base::model::{ToolResult, ToolStatus};
use agentctl_base::question::Outcome;
use agentctl_engine::run::{
    Counted, RunError, Serving, SessionTerms, ToolSessions, Undo, Unobserved, list, show, undo,
};
use agentctl_engine::store::Event;
use agentctl_mcp::serve::{Client, Host, Hosts};
use serde_json::{Value, json};
use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn terms(house: &House, only: Option<&str>, scope: &[&str]) -> Result<SessionTerms, RunError> {
    let scope: Vec<String> = scope.iter().map(|entry| (*entry).to_owned()).collect();
    let (pack, gateway) = (&house.pack, &house.gateway);
    block_on(SessionTerms::settle(pack, gateway, "keeper", only, &scope))
}

fn sessions(house: &House, terms: SessionTerms) -> ToolSessions {
    ToolSessions::new(Serving {
        project: house.project.clone(),
        gateway: gateway(house.dir.path(), &house.pack),
        pack: house.pack.clone(),
        effects: Box::new(Counted::from(1_800_000_000)),
        observer: Mutex::new(Box::new(Unobserved)),
        terms,
        lock_wait: Duration::ZERO,
    })
}

fn opened(sessions: &ToolSessions) -> Arc<dyn Host> {
    sessions.open(Client {
        name: "tester".into(),
        version: "1".into(),
        transport: "stdio",
    })
}

fn call(host: &Arc<dyn Host>, name: &str, args: Value) -> ToolResult {
    block_on(host.call(name.into(), args.to_string(), Box::pin(pending())))
}

fn done(host: &Arc<dyn Host>, item: &str, id: &str) -> ToolResult {
    let ops = json!([{"op": "set", "item": item, "done": true}]);
    call(host, "edit_list", json!({"list_id": id, "ops": ops}))
}

fn house() -> House {
    let house = House::new(good);
    house.put("old", &list_of("Old", &["a", "b", "c"]));
    house.put("other", &list_of("Other", &["x", "y"]));
    house
}

#[test]
fn a_session_is_kept_to_one_list_and_the_items_that_it_was_given() {
    let mut house = house();
    // The list is the one that has the item.
    let terms = terms(&house, None, &["a"]).unwrap();
    assert_eq!(terms.only.as_deref(), Some("old"));
    let sessions = sessions(&house, terms);
    let offer = sessions.offer();
    let tools: Vec<&str> = offer.tools.iter().map(|t| t.spec.name.as_str()).collect();
    assert_eq!(tools, ["edit_list", "read_list"]);
    assert!(
        offer
            .instructions
            .contains("Only the list `old` may be changed, and in it only: a"),
        "{}",
        offer.instructions
    );
    let host = opened(&sessions);
    for id in ["old", "other"] {
        let read = call(&host, "read_list", json!({"list_id": id}));
        assert_eq!(read.status, ToolStatus::Ok, "{}", read.content);
    }
    let rule = |result: ToolResult| {
        assert_eq!(result.status, ToolStatus::Refused, "{}", result.content);
        result.content["rule"].as_str().unwrap().to_owned()
    };
    assert_eq!(rule(done(&host, "b", "old")), "guard.items");
    let other = rule(done(&host, "x", "other"));
    assert!(["guard.list", "guard.items"].contains(&other.as_str()));
    let result = done(&host, "a", "old");
    assert_eq!(result.status, ToolStatus::Ok, "{}", result.content);
    block_on(host.close());

    let [run] = list(&house.project).unwrap().try_into().unwrap();
    assert_eq!(
        (run.outcome, run.resources),
        (Some(Outcome::Complete), vec!["old".to_owned()])
    );
    let report = show(&house.project, &house.pack, &run.run_id, &mut |_| ()).unwrap();
    assert_eq!(report.made["list"]["id"], "old");
    assert!(house.list("old").unwrap().items[0].done);
    block_on(undo(house.context(), Undo::Run(Some(run.run_id)), false)).unwrap();
    assert_eq!(house.list("old"), Some(list_of("Old", &["a", "b", "c"])));
}

#[test]
fn what_only_the_user_may_allow_is_refused_with_the_toolsets_own_way_out() {
    let house = house();
    let sessions = sessions(&house, terms(&house, Some("old"), &[]).unwrap());
    let host = opened(&sessions);
    call(&host, "read_list", json!({"list_id": "old"}));
    let ops = json!([{"op": "remove", "item": "a"}, {"op": "remove", "item": "b"}]);
    let result = call(&host, "edit_list", json!({"list_id": "old", "ops": ops}));
    assert_eq!(
        result.content,
        json!({
            "error": "2 of 3 items would be lost; that needs the user's word, and nobody can be asked here: the user can edit the file",
            "rule": "guard.loss",
            "hint": "set items to done instead of removing them",
        })
    );
    block_on(host.close());
    assert_eq!(house.list("old").unwrap().items.len(), 3);
}

#[test]
fn terms_that_name_nothing_are_the_users_mistake() {
    let house = house();
    let said = |only, scope: &[&str]| match terms(&house, only, scope) {
        Err(RunError::Usage(said)) => said,
        other => panic!("{other:?}"),
    };
    assert_eq!(said(Some("old"), &["x"]), "the list `old` has no item x");
    let missing = said(Some("nothing"), &[]);
    assert!(missing.contains("nothing"), "{missing}");
}

/// The call that is refused whatever it says costs nothing but its place in a count.
#[test]
fn calls_beyond_the_limit_are_counted_and_not_journaled_one_by_one() {
    let house = house();
    let sessions = sessions(&house, terms(&house, None, &[]).unwrap());
    let host = opened(&sessions);
    let bytes = |house: &House| {
        let run = house.project.run_ids().unwrap().pop().unwrap();
        let journal = house.project.run(&run).unwrap().journal();
        std::fs::metadata(journal).unwrap().len()
    };
    let limit = house.pack.policy.limits().max_tool_calls;
    for number in 0..limit {
        // Some of them are refused: they count too.
        let result = call(&host, "unheard_of", json!({"n": number}));
        assert_eq!(result.content["rule"], "tools.unknown");
    }
    let (records, full) = (house.records().len(), bytes(&house));
    let beyond = 1_000;
    for number in 0..beyond {
        let text = "x".repeat(500);
        let result = call(&host, "read_list", json!({"list_id": text, "n": number}));
        assert_eq!(result.status, ToolStatus::Refused);
        assert_eq!(result.content["rule"], "budget.tool_calls");
    }
    // One line when there were 1, 2, 4 … 512 of them, each of them short.
    assert_eq!(house.records().len() - records, 10);
    assert!(bytes(&house) - full < 10 * 500, "{}", bytes(&house) - full);
    block_on(host.close());

    let counts: Vec<u64> = house
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::CallsTurnedAway { count, .. } => Some(count),
            _ => None,
        })
        .collect();
    assert_eq!(counts, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000]);
    let [run] = list(&house.project).unwrap().try_into().unwrap();
    let report = show(&house.project, &house.pack, &run.run_id, &mut |_| ()).unwrap();
    assert_eq!(report.usage.tool_calls, limit);
    assert_eq!(
        report.message,
        format!("the session ended: {limit} calls, 0 changes, {beyond} calls turned away")
    );
}
