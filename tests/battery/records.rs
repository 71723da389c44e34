//! Cases 270 to 289: records that somebody else made. A chain can be computed by anybody; what counts is this user's mark.

use crate::attack::*;
use crate::support::*;
use agentctl_base::model::{ModelAnswer, ToolResult, ToolStatus};
use agentctl_base::question::{AnsweredBy, Outcome};
use agentctl_engine::run::{self, Counted, RunError, Undo};
use agentctl_engine::store::ResourceId;
use agentctl_engine::store::event::Change;
use agentctl_engine::store::event::JOURNAL_VERSION;
use agentctl_engine::store::{Event, Foreign, Journal, Marks, Project, StoreError, Whose};
use agentctl_host::key::Key;
use agentctl_n8n::{Workflow, hash::graph_hash};
use agentctl_n8n_tools::resources::parse;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Writes a journal of these events with a chain that holds, as anybody can.
pub fn forge(path: &Path, events: &[Event]) {
    let _ = std::fs::remove_file(path);
    let mut journal = Journal::create(path).unwrap();
    // Who forges says the name of the folder: the journal of another run is refused for that alone.
    let folder = path.parent().and_then(Path::file_name).unwrap();
    for (second, event) in events.iter().enumerate() {
        let at = jiff::Timestamp::from_second(1_850_000_000 + second as i64).unwrap();
        let mut event = event.clone();
        if let Event::RunStarted { run_id, .. } = &mut event {
            *run_id = folder.to_str().unwrap().to_owned();
        }
        journal.append(at, event, false).unwrap();
    }
}

/// Appends to a journal without a key.
pub fn append(path: &Path, event: Event) {
    let (mut journal, _) = Journal::open(path).unwrap();
    let at = "2027-06-01T00:00:00Z".parse().unwrap();
    journal.append(at, event, true).unwrap();
}

pub fn copy(from: &Path, to: &Path) {
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

pub fn journal_of(shop: &Shop, run: &str) -> PathBuf {
    shop.project.run(run).unwrap().journal()
}

pub fn orders(shop: &Shop) -> PathBuf {
    shop.dir.path().join("workflows/orders.json")
}

pub fn take_back(shop: &mut Shop, what: Undo) -> Result<run::UndoReport, RunError> {
    block_on(run::undo(shop.context(None), what, false))
}

/// From which record on the run was refused as foreign, and why; it is exit code 5.
#[track_caller]
pub fn refused<T: std::fmt::Debug>(came_to: Result<T, RunError>) -> (u64, Whose) {
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
pub fn all(shop: &Shop) -> Vec<(String, Vec<u8>)> {
    let mut files = files_below(shop.dir.path());
    files.retain(|(name, _)| !name.ends_with("agentctl.lock"));
    files
}

/// All that acts on a run refuses this one, and nothing in the project changes.
#[track_caller]
pub fn nothing_is_done_with(shop: &mut Shop, run: &str) -> (u64, Whose) {
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
    let verified = run::verify(&shop.project, &parse, run).unwrap();
    assert_eq!(verified.foreign, foreign);
    found
}

/// Changes the workflow `orders` that is there already.
pub fn changing(seen: &Seen<'_>) -> ModelAnswer {
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
pub fn deleting(seen: &Seen<'_>) -> ModelAnswer {
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
pub fn after_orders(script: fn(&Seen<'_>) -> ModelAnswer) -> (Shop, String) {
    let mut first = Shop::new(good);
    let run = first.start(request("orders")).unwrap().run_id;
    let mut shop = Shop::at(first.dir, script);
    shop.effects = Counted::from(1_900_000_000);
    (shop, run)
}

/// A run that waits for the user's word to delete `orders`.
pub fn waiting() -> (Shop, String) {
    let (mut shop, _) = after_orders(deleting);
    let report = shop.start(request("clean up")).unwrap();
    assert_eq!(report.outcome, Outcome::Waiting);
    (shop, report.run_id)
}

pub fn approval_of(events: &[Event]) -> Event {
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
pub fn with_own(folder: &Path, own: &Path, args: &[&str]) -> (i32, String, String) {
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
        journal_version: JOURNAL_VERSION,
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
        }
        .into(),
        change: Some(Change {
            resource: ResourceId::new("workflow", "orders"),
            before: Some(hash(&evil)),
            after: Some(hash(&now)),
            size: 2,
            snapshot: Some("001-orders.json".into()),
        }),
    };
    let taken = Event::SnapshotTaken {
        resource: ResourceId::new("workflow", "orders"),
        file: "001-orders.json".into(),
        revision: hash(&evil),
        size: 2,
        sha256: Some(agentctl_base::canonical::sha256_hex(evil.as_bytes())),
    };
    forge(&paths.journal(), &[begun, taken, done]);
    assert_eq!(nothing_is_done_with(&mut shop, run), (1, Whose::Unmarked));
    // Nor by way of the workflow, or of what is active: that is the user's own run still.
    let report = take_back(&mut shop, Undo::Resource("orders".into())).unwrap();
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
        let before = all(&shop);
        let what = Undo::Run(Some(run.to_owned()));
        let whose = |shop: &Shop| run::verify(&shop.project, &parse, run).unwrap_err();
        for error in [
            shop.resume(Some(run)).unwrap_err(),
            take_back(&mut shop, what).unwrap_err(),
            run::cancel(shop.context(None), Some(run)).unwrap_err(),
            whose(&shop),
        ] {
            let said = format!("lies in the folder of run {run}");
            assert!(error.to_string().contains(&said), "{error}");
        }
        assert!(all(&shop) == before, "something was written");
    }
    assert_eq!(
        run::verify(&shop.project, &parse, &first).unwrap().foreign,
        None
    );
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
    assert_eq!(
        run::verify(&shop.project, &parse, &run).unwrap().foreign,
        None
    );
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
