//! Records that are lost are told by who looks, checks or takes back; nothing is done with another run in their place.

use crate::support::{Seen, Shop, block_on, calls, good, request, says};
use agentctl_base::{model::ModelAnswer, question::Outcome};
use agentctl_engine::run::{RunError, Undo, UndoneHow, list, status, undo, undo_to, verify};
use agentctl_n8n_tools::resources::parse;
use serde_json::json;
use std::{fs, path::PathBuf};

/// Two runs, each of which made a workflow; the second is the active one.
fn two_runs() -> (Shop, [String; 2]) {
    let mut shop = Shop::new(good);
    let first = shop.start(request("orders")).unwrap().run_id;
    let second = shop.start(request("orders")).unwrap().run_id;
    assert_eq!(shop.workflows().len(), 2);
    (shop, [first, second])
}

fn journal(shop: &Shop, run: &str) -> PathBuf {
    shop.project.run(run).unwrap().journal()
}

fn told(result: Result<impl std::fmt::Debug, RunError>) -> String {
    result.unwrap_err().to_string()
}

/// What is told of it, and how it is lost.
type Loss<'a> = (&'a str, &'a dyn Fn(&PathBuf));

/// Whatever became of the active run's journal, every command names that run, and the other one stays as it is.
#[test]
fn a_lost_journal_of_the_active_run_is_told_and_no_other_run_is_taken_back() {
    let lost: [Loss<'_>; 5] = [
        ("is not there", &|path| fs::remove_file(path).unwrap()),
        ("is not there", &|path| {
            fs::remove_dir_all(path.parent().unwrap()).unwrap();
        }),
        ("holds no whole record", &|path| {
            fs::write(path, "").unwrap()
        }),
        ("holds no whole record", &|path| {
            let bytes = fs::metadata(path).unwrap().len();
            fs::write(path, vec![0; usize::try_from(bytes).unwrap()]).unwrap();
        }),
        ("is no file", &|path| {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        }),
    ];
    for (how, lose) in lost {
        let (mut shop, [first, second]) = two_runs();
        let workflows = shop.workflows();
        lose(&journal(&shop, &second));
        let said = format!("the journal of run {second} is lost");
        for error in [
            told(status(&shop.project, &shop.pack)),
            told(verify(&shop.project, &parse, &second)),
            told(block_on(undo(shop.context(None), Undo::Run(None), false))),
            told(block_on(undo(shop.context(None), Undo::Run(None), true))),
            told(shop.resume(None)),
        ] {
            assert!(error.contains(&said) && error.contains(how), "{error}");
        }
        let listed = list(&shop.project).unwrap();
        let broken: Vec<_> = listed.iter().map(|run| run.broken.is_some()).collect();
        assert_eq!(broken, [false, true]);
        assert_eq!(shop.workflows(), workflows);
        // The other run is there for who names it, and a new one can be begun.
        assert!(verify(&shop.project, &parse, &first).unwrap().is_whole());
        assert_eq!(
            shop.start(request("more")).unwrap().outcome,
            Outcome::Complete
        );
    }
}

/// A way in which the files of the lost run are gone, too.
type Gone<'a> = (&'a str, &'a dyn Fn(&Shop, &str));

/// Also without the summary that named it the lost run is meant, and no older one in its place.
#[test]
fn a_lost_run_that_no_summary_names_is_told_and_no_other_run_is_taken_back() {
    fn zero(path: &PathBuf) {
        let bytes = fs::metadata(path).unwrap().len();
        fs::write(path, vec![0; usize::try_from(bytes).unwrap()]).unwrap();
    }
    let paths = |shop: &Shop, run: &str| shop.project.run(run).unwrap();
    let gone: [Gone<'_>; 5] = [
        ("removed", &|shop, run| {
            fs::remove_file(journal(shop, run)).unwrap();
            fs::remove_file(shop.project.state_file()).unwrap();
        }),
        ("emptied", &|shop, run| {
            fs::write(journal(shop, run), "").unwrap();
            fs::write(shop.project.state_file(), "").unwrap();
        }),
        ("zeroed", &|shop, run| {
            zero(&journal(shop, run));
            zero(&shop.project.state_file());
        }),
        ("only the snapshots are left", &|shop, run| {
            zero(&journal(shop, run));
            fs::remove_file(shop.project.state_file()).unwrap();
            fs::remove_file(paths(shop, run).checkpoint()).unwrap();
        }),
        ("only what it told is left", &|shop, run| {
            zero(&journal(shop, run));
            fs::remove_file(shop.project.state_file()).unwrap();
            fs::remove_dir_all(paths(shop, run).snapshots()).unwrap();
        }),
    ];
    for (how, lose) in gone {
        let (mut shop, [first, second]) = two_runs();
        let workflows = shop.workflows();
        lose(&shop, &second);
        let said = format!("the journal of run {second} is lost");
        for error in [
            told(status(&shop.project, &shop.pack)),
            told(block_on(undo(shop.context(None), Undo::Run(None), false))),
            told(block_on(undo(shop.context(None), Undo::Run(None), true))),
            told(shop.resume(None)),
        ] {
            assert!(error.contains(&said), "{how}: {error}");
            assert!(error.contains("`agentctl undo RUN`"), "{how}: {error}");
        }
        assert_eq!(shop.workflows(), workflows, "{how}");
        // Who names a run has it.
        let what = Undo::Run(Some(first));
        block_on(undo(shop.context(None), what, false)).unwrap();
        assert_eq!(shop.workflows().len(), 1, "{how}");
    }
}

/// What is said of giving the run up leads there: the folder goes with the summary, not the summary alone.
#[test]
fn a_lost_run_is_given_up_with_its_whole_folder() {
    let (shop, [first, second]) = two_runs();
    fs::remove_file(journal(&shop, &second)).unwrap();
    let error = told(status(&shop.project, &shop.pack));
    let folder = shop.project.run(&second).unwrap().dir().to_owned();
    let summary = shop.project.state_file();
    let said = format!(
        "the whole of {} and {}",
        folder.display(),
        summary.display()
    );
    assert!(error.contains(&said), "{error}");
    fs::remove_dir_all(&folder).unwrap();
    // With the folder gone nothing more is to be removed.
    let error = told(status(&shop.project, &shop.pack));
    assert!(!error.contains("give the lost run up"), "{error}");
    fs::remove_file(summary).unwrap();
    assert_eq!(status(&shop.project, &shop.pack).unwrap().run_id, first);
}

/// Not the active run's: a snapshot or its own summary tells that it was there.
#[test]
fn a_lost_journal_of_an_older_run_is_told() {
    let (shop, [first, _]) = two_runs();
    fs::write(journal(&shop, &first), "").unwrap();
    assert_eq!(shop.project.run_ids().unwrap()[0], first);
    let paths = shop.project.run(&first).unwrap();
    fs::remove_file(paths.archived_state()).unwrap();
    fs::remove_file(paths.checkpoint()).unwrap();
    let error = told(verify(&shop.project, &parse, &first));
    assert!(error.contains("snapshots"), "{error}");
    // A run that was killed before its first record left nothing else, and is none.
    let begun = shop.project.run("20300101-000000-abcdef").unwrap();
    fs::create_dir_all(begun.dir()).unwrap();
    fs::write(begun.journal(), "").unwrap();
    assert_eq!(shop.project.run_ids().unwrap().len(), 2);
}

#[test]
fn a_journal_in_the_folder_of_another_run_is_refused() {
    let (mut shop, [first, second]) = two_runs();
    let workflows = shop.workflows();
    let (a, b) = (journal(&shop, &first), journal(&shop, &second));
    let (of_first, of_second) = (fs::read(&a).unwrap(), fs::read(&b).unwrap());
    fs::write(&a, of_second).unwrap();
    fs::write(&b, of_first).unwrap();
    for run in [&first, &second] {
        let what = Undo::Run(Some(run.clone()));
        for error in [
            told(verify(&shop.project, &parse, run)),
            told(block_on(undo(shop.context(None), what, true))),
        ] {
            let said = format!("lies in the folder of run {run}");
            assert!(error.contains(&said), "{error}");
        }
    }
    assert_eq!(shop.workflows(), workflows);
}

/// The chain of what is left holds; the summary names a record that is not there.
#[test]
fn a_journal_that_ends_before_the_record_that_the_summary_names_is_told() {
    let (mut shop, [_, second]) = two_runs();
    let workflows = shop.workflows();
    let path = journal(&shop, &second);
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let intent = lines.iter().position(|l| l.contains("\"mutates\":true"));
    let intent = intent.unwrap();
    fs::write(&path, lines[..intent].concat()).unwrap();
    let said = format!("was made from record {}", lines.len());
    let verified = verify(&shop.project, &parse, &second).unwrap();
    assert_eq!(verified.shorter_than_state, Some(lines.len() as u64));
    let shown = status(&shop.project, &shop.pack).unwrap();
    assert!(shown.damage[0].contains(&said), "{:?}", shown.damage);
    for error in [
        told(shop.resume(None)),
        told(block_on(undo(shop.context(None), Undo::Run(None), true))),
    ] {
        assert!(error.contains(&said), "{error}");
    }
    assert_eq!(shop.workflows(), workflows);
    assert_eq!(fs::read_to_string(&path).unwrap(), lines[..intent].concat());
    // What the message says: without the summary the run goes on with what is left.
    fs::remove_file(shop.project.state_file()).unwrap();
    assert_eq!(
        shop.resume(Some(&second)).unwrap().outcome,
        Outcome::Complete
    );
}

#[test]
fn a_summary_that_was_made_from_another_record_is_told() {
    let (mut shop, [_, second]) = two_runs();
    let path = journal(&shop, &second);
    let whole = fs::read(&path).unwrap();
    // Another history of the same length: taken back, brought again.
    block_on(undo(shop.context(None), Undo::Run(None), false)).unwrap();
    fs::write(&path, whole).unwrap();
    let error = told(shop.resume(None));
    assert!(error.contains("records of run"), "{error}");
}

#[test]
fn snapshots_that_are_gone_or_changed_are_told() {
    for change in [true, false] {
        let (shop, [_, second]) = two_runs();
        let folder = shop.project.run(&second).unwrap().snapshots();
        let file = fs::read_dir(folder)
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path();
        match change {
            true => fs::write(&file, "{}").unwrap(),
            false => fs::remove_file(&file).unwrap(),
        }
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        let shown = status(&shop.project, &shop.pack).unwrap();
        assert!(shown.damage[0].contains(&name), "{:?}", shown.damage);
        let verified = verify(&shop.project, &parse, &second).unwrap();
        assert_eq!(verified.damaged_snapshots, [name]);
    }
}

/// Changes the workflow `orders`, each time in another way.
fn changing(seen: &Seen<'_>) -> ModelAnswer {
    match (seen.task(), seen.results().len()) {
        ("make", 0) => calls(&[("get_workflow", json!({"workflow_id": "orders"}))]),
        ("make", 1) => calls(&[(
            "update_workflow",
            json!({"workflow_id": "orders", "ops": [
                {"op": "set_parameter", "node": "Tell", "pointer": "/note", "value": seen.request.task.input["plan"]["name"]}
            ]}),
        )]),
        ("make", _) => says(json!({"workflow": {"id": "orders"}})),
        ("look", 1) => says(json!({"qa_report": {"status": "pass"}, "edit_scope": []})),
        _ => good(seen),
    }
}

/// One bit of it is another, and it is as long as it was and of the same time: what is kept beside the journal is not believed
/// where something is written.
#[test]
fn a_workflow_is_not_taken_back_by_what_is_kept_beside_a_changed_journal() {
    let mut shop = Shop::new(good);
    let first = shop.start(request("orders")).unwrap().run_id;
    let mut shop = Shop::at(shop.dir, changing);
    shop.start(request("orders")).unwrap();
    let workflows = shop.workflows();
    let path = journal(&shop, &first);
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("Orders", "Nrders", 1)).unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(modified).unwrap();
    // Lists may go on reading it.
    assert!(list(&shop.project).unwrap()[0].broken.is_none());
    let what = Undo::Resource("orders".into());
    let error = told(block_on(undo_to(shop.context(None), what, Some(0), false)));
    assert!(error.contains("cannot be counted"), "{error}");
    assert_eq!(shop.workflows(), workflows);
}

/// Its changes would be counted without those of the run whose journal is broken: change 1 would be another one.
#[test]
fn changes_of_a_workflow_are_not_counted_without_a_run_whose_journal_is_broken() {
    let mut shop = Shop::new(good);
    let first = shop.start(request("orders")).unwrap().run_id;
    let mut shop = Shop::at(shop.dir, changing);
    shop.start(request("orders")).unwrap();
    let workflows = shop.workflows();
    let path = journal(&shop, &first);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("Orders", "Others", 1)).unwrap();

    let what = || Undo::Resource("orders".into());
    let error = told(block_on(undo_to(
        shop.context(None),
        what(),
        Some(0),
        false,
    )));
    assert!(
        error.contains("cannot be counted") && error.contains("line"),
        "{error}"
    );
    assert_eq!(shop.workflows(), workflows);
    // With the user's word, and told.
    let done = block_on(undo_to(shop.context(None), what(), None, true)).unwrap();
    assert_eq!(done.resources[0].what, UndoneHow::PutBack);
    let notes = &shop.watched.notes;
    let said = format!("the changes of run {first} are not counted");
    assert!(notes.iter().any(|note| note.contains(&said)), "{notes:?}");
}
