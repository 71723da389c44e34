//! Cases 275, 276, 280 to 282, 285: what is taken from records when something is done: snapshots, the active run, leftovers, a
//! workflow's history, an open session.

use crate::attack::*;
use crate::records::*;
use crate::support::*;
use agentctl_base::model::{ToolResult, ToolStatus};
use agentctl_engine::run::{self, Counted, Serving, SessionTerms, ToolSessions, Undo, Unobserved};
use agentctl_engine::store::ResourceId;
use agentctl_engine::store::event::JOURNAL_VERSION;
use agentctl_engine::store::event::{Change, MutationExpectation};
use agentctl_engine::store::{Event, Journal, Project, StateFile, Whose};
use agentctl_knowledge::{Knowledge, Skill};
use agentctl_mcp::serve::{Client, Hosts as _};
use agentctl_n8n::{Workflow, catalog::Catalog, hash::graph_hash};
use agentctl_n8n_tools::noted::{Noted, Rehearsing};
use agentctl_n8n_tools::resources::parse;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

const MAKER: fn() -> SessionTerms = || SessionTerms {
    role: "maker".into(),
    lender: None,
    only: None,
    scope: None,
};

fn sessions(shop: &Shop) -> ToolSessions {
    ToolSessions::new(Serving {
        project: shop.project.clone(),
        gateway: gateway(shop.dir.path(), &shop.pack),
        pack: shop.pack.clone(),
        effects: Box::new(Counted::from(1_960_000_000)),
        observer: Mutex::new(Box::new(Unobserved)),
        terms: MAKER(),
        lock_wait: std::time::Duration::ZERO,
    })
}

fn client() -> Client {
    Client {
        name: "tester".into(),
        version: "1".into(),
        transport: "stdio",
    }
}

fn call(host: &Arc<dyn agentctl_mcp::serve::Host>, name: &str, arguments: Value) -> ToolResult {
    let never = Box::pin(std::future::pending());
    block_on(host.call(name.into(), arguments.to_string(), never))
}

fn note(text: &str) -> Value {
    json!({"workflow_id": "orders", "ops": [
        {"op": "set_parameter", "node": "Tell", "pointer": "/note", "value": text}
    ]})
}

/// The session's run: the newest.
fn newest(shop: &Shop) -> String {
    shop.project.run_ids().unwrap().pop().unwrap()
}
#[test]
fn case_275_a_swapped_or_missing_snapshot_is_said_and_never_put_back() {
    let (mut shop, _) = after_orders(changing);
    let before = std::fs::read_to_string(orders(&shop)).unwrap();
    let run = shop.start(request("change orders")).unwrap().run_id;
    let left = std::fs::read_to_string(orders(&shop)).unwrap();
    let versions = shop.dir.path().join("memory/versions");
    let snapshots = shop.project.run(&run).unwrap().snapshots();
    let snapshot = std::fs::read_dir(&snapshots).unwrap().next().unwrap();
    let snapshot = snapshot.unwrap().path();
    assert_eq!(std::fs::read_to_string(&snapshot).unwrap(), before);
    let journaled = shop.journal_of(&run).len();

    // The same graph under another name; another graph; none.
    let renamed = before.replacen("\"Orders\"", "\"Not the same\"", 1);
    let hash = |text: &str| graph_hash(&serde_json::from_str::<Workflow>(text).unwrap());
    assert_eq!(hash(&renamed), hash(&before));
    assert_ne!(renamed, before);
    copy(&versions, &shop.dir.path().join("kept"));
    std::fs::remove_dir_all(&versions).unwrap();
    for (swapped, said) in [
        (
            Some(renamed.as_str()),
            "its sha-256 is not the one in the journal",
        ),
        (Some("{}"), "its sha-256 is not the one in the journal"),
        (None, "there is none"),
    ] {
        match swapped {
            Some(text) => std::fs::write(&snapshot, text).unwrap(),
            None => std::fs::remove_file(&snapshot).unwrap(),
        }
        let error = take_back(&mut shop, Undo::Run(Some(run.clone()))).unwrap_err();
        assert_eq!(error.exit_code(), 5);
        assert!(error.to_string().contains(said), "{error}");
        assert_eq!(std::fs::read_to_string(orders(&shop)).unwrap(), left);
        assert_eq!(shop.journal_of(&run).len(), journaled);
        let verified = run::verify(&shop.project, &parse, &run).unwrap();
        assert_eq!(verified.damaged_snapshots.len(), 1);
        assert!(!verified.is_whole());
    }
    // Where another copy has the graph it is put back, and that is said; what was swapped in is nowhere.
    copy(&shop.dir.path().join("kept"), &versions);
    std::fs::write(&snapshot, &renamed).unwrap();
    take_back(&mut shop, Undo::Run(Some(run))).unwrap();
    assert_eq!(std::fs::read_to_string(orders(&shop)).unwrap(), before);
    let said = shop.watched.notes.iter();
    let said: Vec<_> = said
        .filter(|note| note.contains("another copy with the same graph is put back instead"))
        .collect();
    assert_eq!(said.len(), 1, "{:?}", shop.watched.notes);
}

#[test]
fn case_276_a_rollback_to_a_swapped_snapshot_writes_nothing() {
    let (mut shop, _) = after_orders(changing);
    let tools = &mut shop.pack.agents["maker"].tools;
    tools.push("rollback_workflow".into());
    let sessions = sessions(&shop);
    let host = sessions.open(client());
    let ok = |name: &str, arguments: Value| {
        let result = call(&host, name, arguments);
        assert_eq!(result.status, ToolStatus::Ok, "{:?}", result.content);
    };
    ok("get_workflow", json!({"workflow_id": "orders"}));
    ok("update_workflow", note("by a session"));
    let run = newest(&shop);
    let left = std::fs::read_to_string(orders(&shop)).unwrap();
    let snapshots = shop.project.run(&run).unwrap().snapshots();
    let snapshot = std::fs::read_dir(&snapshots).unwrap().next().unwrap();
    let snapshot = snapshot.unwrap().path();
    let text = std::fs::read_to_string(&snapshot).unwrap();
    std::fs::write(&snapshot, text.replacen("\"Orders\"", "\"Theirs\"", 1)).unwrap();
    // So that the run is read again from its records, as another process would.
    let journal = journal_of(&shop, &run);
    let same = std::fs::read(&journal).unwrap();
    std::fs::remove_file(&journal).unwrap();
    std::fs::write(&journal, same).unwrap();
    let result = call(&host, "rollback_workflow", json!({"workflow_id": "orders"}));
    assert_eq!(result.status, ToolStatus::Failed, "{:?}", result.content);
    assert!(
        text_of(&result.content["error"]).contains("is not the workflow that was taken"),
        "{:?}",
        result.content
    );
    assert_eq!(std::fs::read_to_string(orders(&shop)).unwrap(), left);
    // Put back, it is taken.
    std::fs::write(&snapshot, text).unwrap();
    ok("rollback_workflow", json!({"workflow_id": "orders"}));
}

#[test]
fn case_285_a_session_whose_records_somebody_else_went_on_with_takes_no_further_call() {
    let (mut shop, _) = after_orders(changing);
    let sessions = sessions(&shop);
    let host = sessions.open(client());
    let get = json!({"workflow_id": "orders"});
    assert_eq!(
        call(&host, "get_workflow", get.clone()).status,
        ToolStatus::Ok
    );
    let run = newest(&shop);
    assert_eq!(
        run::verify(&shop.project, &parse, &run).unwrap().foreign,
        None
    );
    // As if the session had made the workflow, so that it may delete it unasked.
    let left = std::fs::read(orders(&shop)).unwrap();
    append(
        &journal_of(&shop, &run),
        Event::ToolFinished {
            step: "mcp[1]".into(),
            role: "maker".into(),
            result: ToolResult {
                call_id: "c9".into(),
                name: "create_workflow".into(),
                status: ToolStatus::Ok,
                content: json!({"id": "orders"}),
            }
            .into(),
            change: Some(Change {
                resource: ResourceId::new("workflow", "orders"),
                before: None,
                after: Some("0".into()),
                size: 2,
                snapshot: None,
            }),
        },
    );
    for _ in 0..2 {
        let result = call(&host, "delete_workflow", get.clone());
        assert_ne!(result.status, ToolStatus::Ok, "{:?}", result.content);
        assert!(
            text_of(&result.content["error"]).contains("was not written by your agentctl"),
            "{:?}",
            result.content
        );
    }
    assert_eq!(std::fs::read(orders(&shop)).unwrap(), left);
    assert_eq!(nothing_is_done_with(&mut shop, &run).1, Whose::Unmarked);
}

#[test]
fn case_280_the_summary_cannot_choose_which_run_is_meant() {
    let (mut shop, first) = after_orders(changing);
    let second = shop.start(request("change orders")).unwrap().run_id;
    let named = |shop: &Shop| run::run_named(&shop.project, None).unwrap();
    assert_eq!(named(&shop), second);
    let file = shop.project.state_file();
    let StateFile::Good(state) = StateFile::read(&file).unwrap() else {
        panic!()
    };
    // Another run of the user's, with the mark of this one, with none, and a run that there is not.
    let mark = state.more["mark"].clone();
    for (run, mark) in [
        (&first, Some(mark)),
        (&first, None),
        (&"20990101-000000-abcdef".to_owned(), None),
    ] {
        let mut forged = (*state).clone();
        forged.run_id.clone_from(run);
        forged.more.shift_remove("mark");
        if let Some(mark) = mark {
            forged.more.insert("mark".into(), mark);
        }
        std::fs::remove_file(&file).unwrap();
        StateFile::write(&file, &forged).unwrap();
        assert_eq!(named(&shop), second);
    }
    // Nor a foreign run by being the newest, whatever the summary says.
    let foreign = "20990101-000000-abcdef";
    std::fs::create_dir_all(shop.project.run(foreign).unwrap().dir()).unwrap();
    forge(&journal_of(&shop, foreign), &shop.journal_of(&first));
    assert_eq!(named(&shop), second);
    // The summary that makes room is not written through a link.
    let outside = tempfile::tempdir().unwrap();
    let linked = "20980101-000000-abcdef";
    std::os::unix::fs::symlink(outside.path(), shop.project.runs().join(linked)).unwrap();
    let mut forged = (*state).clone();
    forged.run_id = linked.to_owned();
    std::fs::remove_file(&file).unwrap();
    StateFile::write(&file, &forged).unwrap();
    shop.start(request("change orders again")).unwrap();
    assert_eq!(files_below(outside.path()), []);
}

#[test]
fn case_281_a_forged_interrupted_test_gets_nothing_removed_from_the_n8n() {
    let mut shop = Shop::new(good);
    let backend = Arc::new(MemoryBackend::new());
    let copy = "agentctl-rehearsal-0123: Orders";
    let mut victim = chain("orders", 3);
    victim.set_name(copy);
    backend.put("victim", victim, true);
    backend.tag("victim", &["agentctl-rehearsal"]);
    shop.gateway = agentctl_n8n_tools::fixture::gateway_on(
        shop.pack.policy.clone(),
        backend.clone(),
        Knowledge::new(shop.dir.path(), Vec::<Skill>::new()),
        Catalog::embedded(),
    );
    let run = "20200101-000000-abcdef";
    std::fs::create_dir_all(shop.project.run(run).unwrap().dir()).unwrap();
    let begun = Event::RunStarted {
        journal_version: JOURNAL_VERSION,
        agentctl_version: "0.1.0".into(),
        run_id: run.into(),
        flow: shop.pack.flow.name.clone(),
        pack_hash: shop.pack.hash.clone(),
        input: serde_json::Map::new(),
    };
    let intent = Event::ToolIntent {
        step: "look".into(),
        role: "checker".into(),
        call: agentctl_base::model::ToolCall {
            id: "c".into(),
            name: "rehearse_workflow".into(),
            arguments: "{}".into(),
        }
        .into(),
        decision: agentctl_base::decision::Decision::Allow { rule: "x".into() },
        mutates: true,
        carries: None,
        expect: Some(MutationExpectation {
            resource: Some(ResourceId::new("workflow", "victim")),
            more: Noted {
                rehearsal: Some(Rehearsing {
                    copy: copy.into(),
                    activates: true,
                }),
                ..Noted::default()
            }
            .written(),
            ..MutationExpectation::default()
        }),
    };
    forge(&journal_of(&shop, run), &[begun, intent]);
    shop.start(request("orders")).unwrap();
    let touched = |write: &String| write.contains("victim");
    assert!(
        !backend.writes().iter().any(touched),
        "{:?}",
        backend.writes()
    );
    let said =
        |note: &String| note.contains("your agentctl did not write it, so nothing is removed");
    assert_eq!(shop.watched.notes.iter().filter(|n| said(n)).count(), 1);
}

#[test]
fn case_282_a_workflows_history_is_made_of_this_users_records() {
    let (mut shop, first) = after_orders(changing);
    let second = shop.start(request("change orders")).unwrap().run_id;
    let numbers = |shop: &Shop| {
        let resources = shop.gateway.resources();
        let runs = run::AllRuns::look(&shop.project).unwrap();
        let made = block_on(runs.changes(resources, "orders"));
        let runs = made.map(|(_, made)| made.into_iter().map(|m| m.run_id).collect::<Vec<_>>());
        runs.map_err(|e| e.to_string())
    };
    let own = vec![first.clone(), first.clone(), second.clone()];
    assert_eq!(numbers(&shop), Ok(own.clone()));
    // A run that says it changed the workflow last.
    let forged = "20990101-000000-abcdef";
    std::fs::create_dir_all(shop.project.run(forged).unwrap().dir()).unwrap();
    forge(&journal_of(&shop, forged), &shop.journal_of(&second));
    assert_eq!(numbers(&shop), Ok(own.clone()));
    // And records behind one's own.
    let change = shop.journal_of(&second).into_iter().rev().find(|event| {
        matches!(
            event,
            Event::ToolFinished {
                change: Some(_),
                ..
            }
        )
    });
    append(&journal_of(&shop, &second), change.unwrap());
    assert_eq!(numbers(&shop), Ok(own));
    // Undoing the workflow means the run that is now not wholly the user's: refused.
    let of_orders = take_back(&mut shop, Undo::Resource("orders".into()));
    assert_eq!(refused(of_orders).1, Whose::Unmarked);
    // Where only others changed it, that is said.
    for run in [&first, &second] {
        std::fs::remove_dir_all(shop.project.run(run).unwrap().dir()).unwrap();
    }
    let why = numbers(&shop).unwrap_err();
    assert!(
        why.ends_with(&format!(
            "not counted, because your agentctl did not write them: {forged}"
        )),
        "{why}"
    );
}

#[test]
fn case_381_approvals_of_a_foreign_run_are_shown_as_foreign_and_a_planted_summary_names_no_run() {
    let dir = tempfile::tempdir().unwrap();
    let project = Project::new(dir.path());
    let (code, _, told) = ran(agentctl(
        dir.path(),
        &["build", "post our new stuff on social media automatically"],
    ));
    assert_eq!(code, 4, "{told}");
    let own = project.run_ids().unwrap().pop().unwrap();
    let show = |args: &[&str]| {
        let args = [&["approvals", "show"], args].concat();
        let (code, told, noted) = ran(agentctl(dir.path(), &args));
        assert_eq!(code, 0, "{told}{noted}");
        (told, noted)
    };
    // The same run with an approval that it never asked for, under another name, and that name as the active one.
    let loaded = Journal::read(&project.run(&own).unwrap().journal()).unwrap();
    let events: Vec<Event> = loaded
        .records
        .into_iter()
        .map(|record| match record.event {
            Event::QuestionAsked { step, mut question } => {
                question.approves = Some("aa".into());
                Event::QuestionAsked { step, question }
            }
            event => event,
        })
        .collect();
    let foreign = "20990101-000000-abcdef";
    let paths = project.run(foreign).unwrap();
    std::fs::create_dir_all(paths.dir()).unwrap();
    forge(&paths.journal(), &events);
    let file = project.state_file();
    let StateFile::Good(state) = StateFile::read(&file).unwrap() else {
        panic!()
    };
    let mut forged = (*state).clone();
    forged.run_id = foreign.to_owned();
    std::fs::remove_file(&file).unwrap();
    StateFile::write(&file, &forged).unwrap();
    let (told, noted) = show(&[]);
    assert_eq!(told, format!("run {own} waits for no approval\n"));
    assert!(!noted.contains("was not written by"), "{noted}");
    // Named, it is shown for what it is, and nothing is offered to do with it.
    let (told, noted) = show(&[foreign]);
    assert!(
        noted.contains("was not written by your agentctl"),
        "{noted}"
    );
    assert!(!told.contains("next: "), "{told}");
    let (told, _) = show(&[foreign, "--output-format", "json"]);
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["foreign"], true);
    assert_eq!(told["approvals"][0]["approves"], "aa");
}
