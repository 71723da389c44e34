//! Cases 270 to 289: records that somebody else made. A chain can be computed by anybody; what counts is this user's mark.

use crate::attack::*;
use crate::support::*;
use agentctl::gateway::Gateway;
use agentctl::home::{Home, HomeError};
use agentctl::knowledge::{Knowledge, Skill};
use agentctl::mcp::serve::{Client, Hosts as _};
use agentctl::mcp::{OLD_PINS, Pins};
use agentctl::model::{ModelAnswer, ToolResult, ToolStatus};
use agentctl::n8n::{Workflow, catalog::Catalog, hash::graph_hash};
use agentctl::run::{
    self, Asked, Asker, Counted, RunError, Serving, Terms, ToolSessions, Undo, UndoTerms,
    Unobserved,
};
use agentctl::store::event::{AnsweredBy, Change, MutationExpectation, Rehearsing};
use agentctl::store::{
    Event, Foreign, Journal, Key, Marks, Outcome, Project, Question, StateFile, StoreError, Whose,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Writes a journal of these events with a chain that holds, as anybody can.
fn forge(path: &Path, events: &[Event]) {
    let _ = std::fs::remove_file(path);
    let mut journal = Journal::create(path).unwrap();
    for (second, event) in events.iter().enumerate() {
        let at = jiff::Timestamp::from_second(1_850_000_000 + second as i64).unwrap();
        journal.append(at, event.clone(), false).unwrap();
    }
}

/// Appends to a journal without a key.
fn append(path: &Path, event: Event) {
    let (mut journal, _) = Journal::open(path).unwrap();
    let at = "2027-06-01T00:00:00Z".parse().unwrap();
    journal.append(at, event, true).unwrap();
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

fn journal_of(shop: &Shop, run: &str) -> PathBuf {
    shop.project.run(run).unwrap().journal()
}

fn orders(shop: &Shop) -> PathBuf {
    shop.dir.path().join("workflows/orders.json")
}

fn take_back(shop: &mut Shop, what: Undo) -> Result<run::UndoReport, RunError> {
    block_on(run::undo(shop.context(None), what, false))
}

/// From which record on the run was refused as foreign, and why; it is exit code 5.
#[track_caller]
fn refused<T: std::fmt::Debug>(came_to: Result<T, RunError>) -> (u64, Whose) {
    match came_to {
        Err(error @ RunError::Store(StoreError::Foreign { .. })) => {
            assert_eq!(error.exit_code(), 5);
            assert!(error.to_string().contains("agentctl runs adopt"), "{error}");
            let RunError::Store(StoreError::Foreign { foreign, .. }) = error else {
                panic!()
            };
            (foreign.from, foreign.why)
        }
        other => panic!("{other:?}"),
    }
}

/// Everything in the project but the lock, whose text says who held it last.
fn all(shop: &Shop) -> Vec<(String, Vec<u8>)> {
    let mut files = files_below(shop.dir.path());
    files.retain(|(name, _)| !name.ends_with("agentctl.lock"));
    files
}

/// All that acts on a run refuses this one, and nothing in the project changes.
#[track_caller]
fn nothing_is_done_with(shop: &mut Shop, run: &str) -> (u64, Whose) {
    let before = all(shop);
    let asked = shop.asked_count();
    let found = refused(shop.resume(Some(run)));
    assert_eq!(
        refused(take_back(shop, Undo::Run(Some(run.to_owned())))),
        found
    );
    let answers = json!({"approve-1": "approve"}).as_object().unwrap().clone();
    let answered = run::answer(shop.context(None), Some(run), answers, Default::default());
    assert_eq!(refused(block_on(answered)), found);
    assert_eq!(refused(run::cancel(shop.context(None), Some(run))), found);
    assert_eq!(refused(run::means(&shop.project, Some(run))), found);
    assert_eq!(shop.asked_count(), asked);
    assert!(all(shop) == before, "something was written");
    // It is shown for what it is.
    let foreign = Some(Foreign {
        from: found.0,
        why: found.1,
    });
    let listed = run::list(&shop.project).unwrap();
    let listed = listed.into_iter().find(|r| r.run_id == run).unwrap();
    assert_eq!((listed.foreign, listed.broken), (foreign.clone(), None));
    let verified = run::verify(&shop.project, run).unwrap();
    assert_eq!(verified.foreign, foreign);
    found
}

/// Changes the workflow `orders` that is there already.
fn changing(seen: &Seen<'_>) -> ModelAnswer {
    let results = seen.results();
    match (seen.task(), results.len()) {
        ("make", 0) => calls(&[("get_workflow", json!({"workflow_id": "orders"}))]),
        ("make", 1) => calls(&[(
            "update_workflow",
            json!({"workflow_id": "orders", "ops": [
                {"op": "set_parameter", "node": "Tell", "pointer": "/note", "value": "changed by a run"}
            ]}),
        )]),
        ("make", _) => says(json!({"workflow": {"id": "orders"}})),
        ("look", 1) => says(json!({"qa_report": {"status": "pass"}, "edit_scope": []})),
        _ => good(seen),
    }
}

/// Deletes the workflow `orders`, for which the user is asked.
fn deleting(seen: &Seen<'_>) -> ModelAnswer {
    match (seen.task(), seen.results().len()) {
        ("make", 0) => calls(&[("get_workflow", json!({"workflow_id": "orders"}))]),
        ("make", 1) => calls(&[("delete_workflow", json!({"workflow_id": "orders"}))]),
        ("make", 2) => calls(&[("create_workflow", creation("Other"))]),
        ("make", _) => says(json!({"workflow": {"id": "other"}})),
        ("look", 1) => says(json!({"qa_report": {"status": "pass"}, "edit_scope": []})),
        _ => good(seen),
    }
}

/// A project with `orders`, made by a run, and what comes next by this script; its run's id.
fn after_orders(script: fn(&Seen<'_>) -> ModelAnswer) -> (Shop, String) {
    let mut first = Shop::new(good);
    let run = first.start(request("orders")).unwrap().run_id;
    let mut shop = Shop::at(first.dir, script);
    shop.effects = Counted::from(1_900_000_000);
    (shop, run)
}

/// A run that waits for the user's word to delete `orders`.
fn waiting() -> (Shop, String) {
    let (mut shop, _) = after_orders(deleting);
    let report = shop.start(request("clean up")).unwrap();
    assert_eq!(report.outcome, Outcome::Waiting);
    (shop, report.run_id)
}

fn approval_of(events: &[Event]) -> Event {
    let asked = |event: &Event| match event {
        Event::QuestionAsked { step, question } => Some((step.clone(), question.id.clone())),
        _ => None,
    };
    let (step, question_id) = events.iter().rev().find_map(asked).unwrap();
    Event::AnswerGiven {
        step,
        question_id,
        value: json!("approve"),
        by: AnsweredBy::Terminal,
    }
}

/// The program, with this folder as the user's own.
fn with_own(folder: &Path, own: &Path, args: &[&str]) -> (i32, String, String) {
    let mut command = agentctl(folder, args);
    command.env("AGENTCTL_HOME", own);
    ran(command)
}

/// A forged run: attacker's document in the snapshot, the graph of now as what it "left", a chain that holds.
#[test]
fn case_270_a_forged_run_with_a_chain_that_holds_is_neither_undone_nor_resumed() {
    let (mut shop, _) = after_orders(changing);
    let now = std::fs::read_to_string(orders(&shop)).unwrap();
    let evil = now.replace("Tell", "Steal");
    let hash = |text: &str| graph_hash(&serde_json::from_str::<Workflow>(text).unwrap());
    let run = "20990101-000000-abcdef";
    let paths = shop.project.run(run).unwrap();
    std::fs::create_dir_all(paths.snapshots()).unwrap();
    std::fs::write(paths.snapshots().join("001-orders.json"), &evil).unwrap();
    let begun = Event::RunStarted {
        journal_version: 1,
        agentctl_version: "0.1.0".into(),
        run_id: run.into(),
        flow: shop.pack.flow.name.clone(),
        pack_hash: shop.pack.hash.clone(),
        input: serde_json::Map::new(),
    };
    let done = Event::ToolFinished {
        step: "make".into(),
        role: "maker".into(),
        result: ToolResult {
            call_id: "c".into(),
            name: "update_workflow".into(),
            status: ToolStatus::Ok,
            content: json!({}),
        },
        change: Some(Change {
            workflow_id: "orders".into(),
            before: Some(hash(&evil)),
            after: Some(hash(&now)),
            node_count: 2,
            snapshot: Some("001-orders.json".into()),
        }),
    };
    let taken = Event::SnapshotTaken {
        workflow_id: "orders".into(),
        file: "001-orders.json".into(),
        graph_hash: hash(&evil),
        node_count: 2,
        sha256: Some(agentctl::store::sha256_hex(evil.as_bytes())),
    };
    forge(&paths.journal(), &[begun, taken, done]);
    assert_eq!(nothing_is_done_with(&mut shop, run), (1, Whose::Unmarked));
    // Nor by way of the workflow, or of what is active: that is the user's own run still.
    let report = take_back(&mut shop, Undo::Workflow("orders".into())).unwrap();
    assert_ne!(report.run_id, run);
    assert_ne!(run::run_named(&shop.project, None).unwrap(), run);
    assert!(!orders(&shop).exists(), "the user's own run had created it");

    let (code, told, _) = ran(agentctl(shop.dir.path(), &["runs", "verify", run]));
    assert_eq!(code, 5);
    assert!(
        told.contains("3 records, chain whole, author unknown"),
        "{told}"
    );
    // Before anything is chosen, started or asked by what it says.
    for args in [
        &["resume", run][..],
        &["answer", run, "a=b"],
        &["undo", run],
    ] {
        let (code, _, told) = ran(agentctl(shop.dir.path(), args));
        assert_eq!(code, 5, "{args:?} {told}");
        assert!(told.contains("was not written by your agentctl"), "{told}");
    }
    for args in [&["log", run][..], &["runs", "show", run]] {
        let (code, _, told) = ran(agentctl(shop.dir.path(), args));
        assert_eq!(code, 0, "{told}");
        assert!(told.contains("was not written by your agentctl"), "{told}");
    }
    let (_, told, _) = ran(agentctl(shop.dir.path(), &["runs", "list"]));
    let line = told.lines().find(|line| line.contains(run)).unwrap();
    assert!(line.contains("foreign"), "{told}");
    let (_, told, _) = ran(agentctl(shop.dir.path(), &["doctor"]));
    assert!(
        told.contains("every chain is whole; not written by your agentctl"),
        "{told}"
    );
}

/// The whole run of somebody else, its question asked and answered.
#[test]
fn case_271_a_waiting_run_with_its_answer_already_in_it_is_not_gone_on_with() {
    let (mut shop, run) = waiting();
    let mut events = shop.journal_of(&run);
    events.push(approval_of(&events));
    forge(&journal_of(&shop, &run), &events);
    assert_eq!(nothing_is_done_with(&mut shop, &run), (1, Whose::Unmarked));
    assert!(orders(&shop).exists());
}

#[test]
fn case_272_a_journal_in_another_runs_folder_is_nobodys() {
    let (mut shop, first) = after_orders(changing);
    let second = shop.start(request("change orders")).unwrap().run_id;
    // Under a name of its own, and over a run that is the user's as well.
    let other = "20990101-000000-abcdef";
    std::fs::create_dir_all(shop.project.run(other).unwrap().dir()).unwrap();
    std::fs::copy(journal_of(&shop, &first), journal_of(&shop, other)).unwrap();
    std::fs::copy(journal_of(&shop, &first), journal_of(&shop, &second)).unwrap();
    for run in [other, &second] {
        assert_eq!(
            nothing_is_done_with(&mut shop, run),
            (1, Whose::AnotherMark)
        );
    }
    assert_eq!(run::verify(&shop.project, &first).unwrap().foreign, None);
}

#[test]
fn case_273_a_run_copied_to_another_folder_of_the_same_user_is_nobodys_there() {
    let (mut shop, run) = waiting();
    let dir = tempfile::tempdir().unwrap();
    copy(shop.dir.path(), dir.path());
    let mut copied = Shop::at(dir, deleting);
    copied.effects = Counted::from(1_950_000_000);
    assert_eq!(
        nothing_is_done_with(&mut copied, &run),
        (1, Whose::AnotherMark)
    );
    // An approval given there counts for nothing here, and the other way round.
    let approved = shop.answer(json!({"approve-1": "approve"})).unwrap();
    assert_eq!(approved.outcome, Outcome::Complete);
    std::fs::copy(journal_of(&shop, &run), journal_of(&copied, &run)).unwrap();
    assert_eq!(
        nothing_is_done_with(&mut copied, &run),
        (1, Whose::AnotherMark)
    );
    assert!(orders(&copied).exists());
    // A folder that was moved away and back is the same folder.
    let moved = copied.dir.path().with_extension("moved");
    std::fs::rename(shop.dir.path(), &moved).unwrap();
    std::fs::rename(&moved, shop.dir.path()).unwrap();
    assert_eq!(run::verify(&shop.project, &run).unwrap().foreign, None);
}

#[test]
fn case_274_what_is_appended_to_ones_own_run_is_foreign_from_there_on() {
    let (mut shop, run) = waiting();
    let path = journal_of(&shop, &run);
    let own = std::fs::read(&path).unwrap();
    let events = shop.journal_of(&run);
    let next = events.len() as u64 + 1;
    append(&path, approval_of(&events));
    assert_eq!(
        nothing_is_done_with(&mut shop, &run),
        (next, Whose::Unmarked)
    );
    // With a mark that was made for another record, or with one of somebody else.
    let text = std::fs::read_to_string(&path).unwrap();
    let stolen = text
        .lines()
        .nth(3)
        .and_then(|line| line.split("\"mark\"").nth(1));
    let stolen = stolen.unwrap().split("\"event\"").next().unwrap();
    let last = text.lines().last().unwrap();
    let marked = last.replace("\"event\"", &format!("\"mark\"{stolen}\"event\""));
    std::fs::write(&path, text.replace(last, &marked)).unwrap();
    assert_eq!(
        nothing_is_done_with(&mut shop, &run),
        (next, Whose::AnotherMark)
    );
    // Its line torn, it is what a crash leaves: cut off, kept aside and said.
    let torn = [own, last.as_bytes()[..last.len() - 3].to_vec()].concat();
    std::fs::write(&path, torn).unwrap();
    let report = shop.resume(Some(&run)).unwrap();
    assert_eq!(report.outcome, Outcome::Waiting);
    assert!(orders(&shop).exists());
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
        let verified = run::verify(&shop.project, &run).unwrap();
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

const MAKER: fn() -> Terms = || Terms {
    role: "maker".into(),
    workflow: None,
    edit_scope: None,
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

fn call(host: &Arc<dyn agentctl::mcp::serve::Host>, name: &str, arguments: Value) -> ToolResult {
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
fn case_276_a_rollback_to_a_swapped_snapshot_writes_nothing() {
    let (shop, _) = after_orders(changing);
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

#[tokio::test]
async fn case_277_approvals_of_servers_that_came_with_the_folder_count_for_nothing() {
    use crate::server::fake::{polite, server};
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join("project");
    std::fs::create_dir_all(project.join("memory")).unwrap();
    let home = |own: &str| {
        let own = dir.path().join(own).display().to_string();
        let variable = move |name: &str| (name == "AGENTCTL_HOME").then(|| own.clone());
        Home::find(variable, &project).unwrap()
    };
    // What `mcp approve` wrote, on somebody else's machine, put where it lay before.
    let theirs = home("theirs");
    let mut pins = Pins::default();
    crate::server::approved("docs", &crate::server::tools(), &mut pins);
    pins.write(&theirs, &project).unwrap();
    let written = files_below(theirs.dir());
    let [(name, bytes)] = written.as_slice() else {
        panic!("{written:?}")
    };
    assert!(
        name.starts_with("pins/") && name.ends_with(".json"),
        "{name}"
    );
    std::fs::write(project.join(OLD_PINS), bytes).unwrap();
    let mine = home("mine");
    let pins = Pins::read(&mine, &project).unwrap();
    assert!(pins.is_empty());
    let (client, heard) = server("docs", |_, message| {
        polite(message, &crate::server::tools())
    });
    let mut bench = crate::server::gateway([client], pins);
    let result = bench
        .call("role", crate::server::FIND, crate::server::q())
        .await;
    assert_eq!(result.status, ToolStatus::Refused, "{:?}", result.content);
    assert!(heard.calls().is_empty());
    // Nor do those of another folder of one's own.
    let other = dir.path().join("other");
    std::fs::create_dir(&other).unwrap();
    assert!(Pins::read(&theirs, &other).unwrap().is_empty());
    assert!(!Pins::read(&theirs, &project).unwrap().is_empty());
}

#[test]
fn case_278_a_key_of_the_wrong_size_or_that_others_may_read_marks_nothing() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let (own, project) = (dir.path().join("own"), dir.path().join("project"));
    std::fs::create_dir(&project).unwrap();
    let home = || {
        let own = own.display().to_string();
        Home::find(
            move |name| (name == "AGENTCTL_HOME").then(|| own.clone()),
            &project,
        )
        .unwrap()
    };
    home().key().unwrap();
    let key = own.join("key");
    let good = std::fs::read(&key).unwrap();
    let mode = |mode| std::fs::set_permissions(&key, std::fs::Permissions::from_mode(mode));
    let request = "Every day at 9 post hello to Slack #dev";
    for (bytes, bits, why) in [
        (good[..31].to_vec(), 0o600, "a key has 32 bytes"),
        (Vec::new(), 0o600, "a key has 32 bytes"),
        ([&good[..], b"\n"].concat(), 0o600, "a key has 32 bytes"),
        (good.clone(), 0o640, "others may read it"),
        (good.clone(), 0o604, "others may read it"),
    ] {
        std::fs::write(&key, &bytes).unwrap();
        mode(bits).unwrap();
        for found in [home().known_key().map(|_| ()), home().key().map(|_| ())] {
            let Err(HomeError::Broken { why: said, .. }) = found else {
                panic!("{found:?}")
            };
            assert!(said.contains(why), "{said}");
        }
        let (code, _, told) = with_own(&project, &own, &["build", "--yes", request]);
        assert_eq!(code, 1, "{told}");
        assert!(
            told.contains(why) && told.contains("move it away"),
            "{told}"
        );
        assert!(!project.join("memory/runs").exists());
        assert_eq!(std::fs::read(&key).unwrap(), bytes, "no key is replaced");
    }
    // Moved away, a new one is made; what the old one marked is another's then.
    std::fs::write(&key, &good).unwrap();
    mode(0o600).unwrap();
    assert_eq!(with_own(&project, &own, &["build", "--yes", request]).0, 0);
    assert_eq!(with_own(&project, &own, &["runs", "verify"]).0, 0);
    std::fs::rename(&key, own.join("away")).unwrap();
    home().key().unwrap();
    let (code, told, _) = with_own(&project, &own, &["runs", "verify"]);
    assert_eq!(code, 5, "{told}");
    assert!(told.contains("marks of another user"), "{told}");
    assert_eq!(with_own(&project, &own, &["undo"]).0, 5);
}

#[test]
fn case_279_a_run_marked_by_another_user_is_shown_and_not_acted_on() {
    let (mut shop, run) = waiting();
    shop.project = Project::new(shop.dir.path()).with_key(Some(Key::fixed([9; 32])));
    assert_eq!(
        nothing_is_done_with(&mut shop, &run),
        (1, Whose::AnotherMark)
    );
    let report = run::status(&shop.project, &shop.pack).unwrap();
    assert_eq!(
        (report.run_id, report.foreign.map(|f| f.why)),
        (run.clone(), Some(Whose::AnotherMark))
    );
    // Records marked by the other user behind one's own, with the chain going on.
    shop.project = project(shop.dir.path());
    let path = journal_of(&shop, &run);
    let events = shop.journal_of(&run);
    let (journal, _) = Journal::open(&path).unwrap();
    let root = shop.dir.path().canonicalize().unwrap();
    let theirs = Marks::of(Some(Key::fixed([9; 32])), &root, &run);
    let at = "2027-06-01T00:00:00Z".parse().unwrap();
    let mut journal = journal.marked(theirs);
    journal.append(at, approval_of(&events), true).unwrap();
    assert_eq!(
        nothing_is_done_with(&mut shop, &run),
        (events.len() as u64 + 1, Whose::AnotherMark)
    );
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
    shop.gateway = Gateway::with_policy(
        shop.pack.policy.clone(),
        backend.clone(),
        Knowledge::new(shop.dir.path(), Vec::<Skill>::new()),
        Catalog::embedded(),
    );
    let run = "20200101-000000-abcdef";
    std::fs::create_dir_all(shop.project.run(run).unwrap().dir()).unwrap();
    let begun = Event::RunStarted {
        journal_version: 1,
        agentctl_version: "0.1.0".into(),
        run_id: run.into(),
        flow: shop.pack.flow.name.clone(),
        pack_hash: shop.pack.hash.clone(),
        input: serde_json::Map::new(),
    };
    let intent = Event::ToolIntent {
        step: "look".into(),
        role: "checker".into(),
        call: agentctl::model::ToolCall {
            id: "c".into(),
            name: "rehearse_workflow".into(),
            arguments: "{}".into(),
        },
        decision: agentctl::policy::Decision::Allow { rule: "x".into() },
        mutates: true,
        expect: Some(MutationExpectation {
            workflow_id: Some("victim".into()),
            before: None,
            after: None,
            diff: None,
            rehearsal: Some(Rehearsing {
                copy: copy.into(),
                activates: true,
            }),
            created: None,
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
        let backend = shop.gateway.backend();
        let made = block_on(run::workflow_changes(&shop.project, backend, "orders"));
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
    let of_orders = take_back(&mut shop, Undo::Workflow("orders".into()));
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
fn case_283_no_learning_is_accepted_from_a_foreign_run() {
    let (mut shop, run) = waiting();
    shop.answer(json!({"approve-1": "refuse"})).unwrap();
    let before = all(&shop);
    let (code, _, told) = ran(agentctl(
        shop.dir.path(),
        &["analyze", &run, "--accept-learnings"],
    ));
    assert_eq!(code, 5, "{told}");
    assert!(told.contains("was not written by your agentctl"), "{told}");
    let (code, page, told) = ran(agentctl(shop.dir.path(), &["analyze", &run]));
    assert_eq!(code, 0, "{told}");
    assert!(page.contains(&run) && told.contains("was not written by your agentctl"));
    assert!(all(&shop) == before);
}

struct Says(&'static str, Vec<Question>);

impl Asker for Says {
    fn ask(&mut self, question: &Question) -> Result<Asked, String> {
        self.1.push(question.clone());
        Ok(Asked::Answer(json!(self.0)))
    }
}

#[test]
fn case_284_undo_on_a_published_workflow_asks() {
    let (mut shop, _) = after_orders(changing);
    let before = std::fs::read_to_string(orders(&shop)).unwrap();
    let run = shop.start(request("change orders")).unwrap().run_id;
    let of_run = || Undo::Run(Some(run.clone()));
    let mut now: Value =
        serde_json::from_str(&std::fs::read_to_string(orders(&shop)).unwrap()).unwrap();
    now["active"] = json!(true);
    std::fs::write(orders(&shop), now.to_string()).unwrap();
    let published = all(&shop);

    let error = take_back(&mut shop, of_run()).unwrap_err();
    assert_eq!(error.exit_code(), 5);
    assert_eq!(
        error.to_string(),
        "the workflow \"orders\" is published, so what is put back is live at once; nothing was done"
    );
    assert!(error.hint().unwrap().contains("--allow publish"));
    let mut no = Says("refuse", vec![]);
    let said_no = run::undo(shop.context(Some(&mut no)), of_run(), true);
    assert_eq!(block_on(said_no).unwrap_err().exit_code(), 5);
    assert!(all(&shop) == published);
    let [question] = no.1.as_slice() else {
        panic!("{:?}", no.1)
    };
    assert_eq!(question.recommended, None, "--yes is no answer");
    let diff = question.proposal.as_ref().unwrap().diff.as_ref().unwrap();
    assert!(
        diff.contains("-") && diff.contains("changed by a run"),
        "{diff}"
    );

    let mut yes = Says("approve", vec![]);
    block_on(run::undo(shop.context(Some(&mut yes)), of_run(), false)).unwrap();
    assert_eq!(std::fs::read_to_string(orders(&shop)).unwrap(), before);
    let said: Vec<Event> = shop.journal_of(&run);
    let said = said.iter().filter(|event| {
        matches!(event, Event::AnswerGiven { step, value, by: AnsweredBy::Terminal, .. }
            if step == "undo" && value == "approve")
    });
    assert_eq!(said.count(), 1);
    // Taking the undo back would publish the file's workflow again: that is asked too, and may be allowed beforehand.
    let again = UndoTerms {
        to: Some(1),
        ..UndoTerms::default()
    };
    let asked = block_on(run::undo_by(shop.context(None), of_run(), again));
    assert_eq!(asked.unwrap_err().exit_code(), 5);
    let allowed = UndoTerms {
        allow_publish: true,
        ..again
    };
    block_on(run::undo_by(shop.context(None), of_run(), allowed)).unwrap();
    let now: Value =
        serde_json::from_str(&std::fs::read_to_string(orders(&shop)).unwrap()).unwrap();
    assert_eq!(now["active"], true);
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
    assert_eq!(run::verify(&shop.project, &run).unwrap().foreign, None);
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
            },
            change: Some(Change {
                workflow_id: "orders".into(),
                before: None,
                after: Some("0".into()),
                node_count: 2,
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
fn case_286_without_a_folder_of_ones_own_a_run_works_and_is_foreign_afterwards() {
    let (mut shop, _) = after_orders(changing);
    shop.project = Project::new(shop.dir.path());
    let report = shop.start(request("change orders")).unwrap();
    assert_eq!((report.outcome, report.foreign), (Outcome::Complete, None));
    let text = std::fs::read_to_string(journal_of(&shop, &report.run_id)).unwrap();
    assert!(!text.contains("\"mark\""));
    assert_eq!(
        nothing_is_done_with(&mut shop, &report.run_id),
        (1, Whose::NoKey)
    );

    let dir = tempfile::tempdir().unwrap();
    let homeless = |args: &[&str]| {
        let mut command = agentctl(dir.path(), args);
        command
            .env_remove("AGENTCTL_HOME")
            .env_remove("XDG_STATE_HOME")
            .env_remove("HOME");
        ran(command)
    };
    let request = "Every day at 9 post hello to Slack #dev";
    let (code, _, told) = homeless(&["build", "--yes", request]);
    assert_eq!(code, 0, "{told}");
    assert!(told.contains("runs are not marked as yours"), "{told}");
    for args in [&["undo"][..], &["resume"], &["runs", "adopt", "2"]] {
        let (code, _, told) = homeless(args);
        assert_eq!(code, 5, "{args:?} {told}");
        assert!(told.contains("AGENTCTL_HOME"), "{args:?} {told}");
    }
    assert_eq!(homeless(&["runs", "verify"]).0, 5);
    // With one, it was written by nobody that is known.
    let own = tempfile::tempdir().unwrap();
    let (code, _, told) = with_own(dir.path(), own.path(), &["undo"]);
    assert_eq!(code, 5);
    assert!(told.contains("it carries no mark"), "{told}");
}

#[test]
fn case_287_adopting_shows_what_would_happen_and_needs_the_users_word() {
    let (mut shop, run) = waiting();
    let mut events = shop.journal_of(&run);
    events.push(approval_of(&events));
    forge(&journal_of(&shop, &run), &events);
    let now = jiff::Timestamp::from_second(1_850_000_100).unwrap();
    let look = |shop: &Shop| {
        let (project, pack) = (&shop.project, &shop.pack);
        block_on(run::adoption(project, pack, &shop.gateway, &run, now)).unwrap()
    };
    let found = look(&shop);
    let [answer] = found.answers.as_slice() else {
        panic!("{:?}", found.answers)
    };
    let call = answer.approves.as_ref().unwrap();
    assert_eq!(
        (&answer.value, answer.by, call.tool.as_str(), call.counts),
        (
            &json!("approve"),
            AnsweredBy::Terminal,
            "delete_workflow",
            true
        )
    );
    assert!(found.pack_in_force && !found.ended);

    // The program shows it, and without a word nothing is done.
    let own = tempfile::tempdir().unwrap();
    let before = all(&shop);
    let (code, _, told) = with_own(shop.dir.path(), own.path(), &["runs", "adopt", &run]);
    assert_eq!(code, 5, "{told}");
    for said in [
        "answer in it to approve-1",
        "delete_workflow",
        "other agents, another flow or another policy",
        "--yes",
    ] {
        assert!(told.contains(said), "{said}: {told}");
    }
    assert!(all(&shop) == before);

    // What is adopted is what was shown.
    append(
        &journal_of(&shop, &run),
        Event::StepStarted { step: "x".into() },
    );
    let changed = run::adopt(&shop.project, &shop.gateway, &shop.effects, &found);
    assert!(
        matches!(changed, Err(RunError::Store(StoreError::Broken { .. }))),
        "{changed:?}"
    );
    assert!(orders(&shop).exists());
    forge(&journal_of(&shop, &run), &events);
    let found = look(&shop);
    let chain = std::fs::read_to_string(journal_of(&shop, &run)).unwrap();
    let adopted = run::adopt(&shop.project, &shop.gateway, &shop.effects, &found).unwrap();
    assert_eq!(adopted, found.foreign);
    let verified = run::verify(&shop.project, &run).unwrap();
    assert_eq!(
        (verified.foreign, verified.records),
        (None, events.len() as u64 + 1)
    );
    let last = chain.lines().last().unwrap();
    let hash = last.split("\"hash\":\"").nth(1).unwrap().get(..64).unwrap();
    let after = std::fs::read_to_string(journal_of(&shop, &run)).unwrap();
    let behind = after.lines().last().unwrap();
    assert!(
        behind.contains(&format!("\"prev\":\"{hash}\"")),
        "the chain is as it was"
    );
    assert!(behind.contains("\"type\":\"adopted\",\"from\":1"));
    // A second time there is nothing to adopt.
    assert_eq!(look(&shop).foreign, None);
    // Now it is the user's word, and the run goes on.
    shop.effects = Counted::from(1_850_000_200);
    shop.resume(Some(&run)).unwrap();
    assert!(!orders(&shop).exists());
}

#[test]
fn case_288_a_beginning_of_ones_own_run_is_told_from_the_whole() {
    let (mut shop, run) = waiting();
    let path = journal_of(&shop, &run);
    let whole = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let cut = lines.len() - 2;
    std::fs::write(&path, lines[..cut].concat()).unwrap();
    let verified = run::verify(&shop.project, &run).unwrap();
    // Marks tell who wrote a record, not that none came after it; the summary does.
    assert_eq!(
        (verified.foreign.clone(), verified.shorter_than_state),
        (None, Some(lines.len() as u64))
    );
    assert!(!verified.is_whole());
    // It comes to the same question again, and nothing is done without an answer.
    assert_eq!(shop.resume(Some(&run)).unwrap().outcome, Outcome::Waiting);
    assert!(orders(&shop).exists());
}

/// What agentctl wrote before there were marks: a run that changed a workflow, and one that waits.
#[test]
fn case_289_an_old_projects_runs_are_listed_adopted_resumed_and_undone() {
    let (changed, waits) = ("20261122-055119-d5ce56", "20261122-055120-6e7785");
    let dir = tempfile::tempdir().unwrap();
    let own = tempfile::tempdir().unwrap();
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/old_project");
    copy(&old, dir.path());
    let run = |args: &[&str]| with_own(dir.path(), own.path(), args);
    let (code, told, _) = run(&["runs", "list"]);
    assert_eq!(code, 0);
    assert_eq!(told.matches("foreign").count(), 2, "{told}");
    let (code, told, _) = run(&["runs", "verify"]);
    assert_eq!(code, 5, "{told}");
    assert_eq!(told.matches("chain whole, author unknown").count(), 2);
    let status = run(&["status"]);
    assert_eq!(status.0, 0, "{}", status.2);
    assert!(status.1.contains(waits) && status.2.contains("it carries no mark"));
    let workflow = dir
        .path()
        .join("workflows/orders-over-100-eur-to-slack.json");
    let left = std::fs::read(&workflow).unwrap();
    assert_eq!(run(&["undo", changed]).0, 5);
    assert_eq!(run(&["resume", waits, "--allow-pack-change"]).0, 5);
    assert_eq!(run(&["answer", waits, "timing=every day at 9:00"]).0, 5);
    assert_eq!(std::fs::read(&workflow).unwrap(), left);

    let (code, told, shown) = run(&["runs", "adopt", changed, "--yes"]);
    assert_eq!(code, 0, "{shown}");
    assert!(told.contains("is yours now"), "{told}");
    assert!(
        shown.contains("undo would do this:") && shown.contains("#sales"),
        "{shown}"
    );
    let (code, _, told) = run(&["undo", changed]);
    assert_eq!(code, 0, "{told}");
    let kept = old.join("memory/runs").join(changed).join("snapshots");
    let kept = std::fs::read_dir(kept).unwrap().next().unwrap().unwrap();
    assert_eq!(
        std::fs::read(&workflow).unwrap(),
        std::fs::read(kept.path()).unwrap()
    );

    assert_eq!(run(&["runs", "adopt", waits, "--yes"]).0, 0);
    let answers = dir.path().join("answers.json");
    let given = json!({"timing": "every day at 9:00", "recipient": "Slack #builds"});
    std::fs::write(&answers, given.to_string()).unwrap();
    let answers = answers.display().to_string();
    let resume = [
        "resume",
        waits,
        "--yes",
        "--allow-pack-change",
        "--answers",
        &answers,
    ];
    let (code, _, told) = run(&resume);
    // It goes on: to its end, or to the next question.
    assert!(code == 0 || code == 4, "{code} {told}");
    assert_eq!(run(&["runs", "verify"]).0, 0);
    let (_, told, _) = run(&["log", waits]);
    assert!(told.contains("you took the run over"), "{told}");
}
