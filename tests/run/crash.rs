//! Killed at any point: the journal cut after every event of a finished run, the world as it was then, resumed.

use crate::support::{FLOW, Seen, Shop, built, good, request, says};
use agentctl_base::{model::ModelAnswer, question::Outcome};
use agentctl_engine::flow;
use agentctl_engine::store::{Event, Journal};
use agentctl_n8n_tools::resources::parse;
use serde_json::json;
use std::{fs, path::Path};

fn copy_dir(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_dir(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn mutations(events: &[Event]) -> Vec<(Option<String>, Option<String>)> {
    events
        .iter()
        .filter_map(|e| match e {
            Event::ToolFinished {
                change: Some(change),
                ..
            } => Some((change.before.clone(), change.after.clone())),
            _ => None,
        })
        .collect()
}

/// The world keeps what the whole run wrote up to a mutation's place; two worlds are tried for each cut inside of a mutation:
/// the write happened, and it did not.
#[test]
fn cut_after_every_event_and_resumed_it_comes_to_the_same() {
    cut_everywhere(good, |shop| shop);
}

/// An answer has a part that is no field of the state, and the flow needs it after the step.
#[test]
fn what_an_answer_says_besides_the_fields_is_not_lost_by_a_cut() {
    fn worded(seen: &Seen<'_>) -> ModelAnswer {
        match (seen.task(), seen.results().last()) {
            ("make", Some((_, _, content))) => {
                says(json!({"workflow": {"id": content["id"]}, "words": "in few words"}))
            }
            _ => good(seen),
        }
    }
    cut_everywhere(worded, |mut shop| {
        let words = "finish: \"'made ' + steps.make.output.words\"";
        let text = FLOW.replace("finish: \"'made ' + state.workflow.name\"", words);
        assert_ne!(text, FLOW);
        shop.pack.flow = flow::load(&text, "flow.yaml", flow::Known::default()).unwrap();
        shop
    });
}

fn cut_everywhere(script: fn(&Seen<'_>) -> ModelAnswer, dressed: fn(Shop) -> Shop) {
    let mut whole = dressed(Shop::new(script));
    let report = whole.start(request("orders")).unwrap();
    assert_eq!(report.outcome, Outcome::Complete);
    let events = whole.journal();
    let done = mutations(&events);
    assert_eq!(done.len(), 2);
    let run = report.run_id.clone();
    let path = whole.project.run(&run).unwrap().journal();
    let records = Journal::read(&path).unwrap().records;
    assert_eq!(records.len(), events.len());

    // The workflow's file after each mutation: none, created, updated.
    let worlds = worlds(&events, &run, &whole);
    for cut in 1..=records.len() {
        let finished = mutations(&events[..cut]).len();
        let begun = events[..cut]
            .iter()
            .filter(|e| matches!(e, Event::ToolIntent { mutates: true, .. }))
            .count();
        for (reached, world) in worlds.iter().enumerate().take(begun + 1).skip(finished) {
            let dir = tempfile::tempdir().unwrap();
            copy_dir(&whole.dir.path().join("memory"), &dir.path().join("memory"));
            let mut shop = dressed(Shop::at(dir, script));
            shop.without_summary();
            // A run belongs to its folder: it is written here as it was there, with the marks of this one.
            let path = shop.project.run(&run).unwrap().journal();
            fs::remove_file(&path).unwrap();
            let mut journal = Journal::create(&path)
                .unwrap()
                .marked(shop.project.marks(&run));
            for record in &records[..cut] {
                let at = record.at.parse().unwrap();
                journal.append(at, record.event.clone(), false).unwrap();
            }
            drop(journal);
            fs::create_dir_all(shop.dir.path().join("workflows")).unwrap();
            if let Some((file, content)) = world {
                fs::write(shop.dir.path().join("workflows").join(file), content).unwrap();
            }
            let again = shop.resume(Some(&run)).unwrap();
            assert_eq!(
                (again.outcome, &again.message),
                (Outcome::Complete, &report.message),
                "cut after {cut}: {:?}",
                events[cut - 1]
            );
            assert_eq!(
                built(&again).workflow,
                built(&report).workflow,
                "cut after {cut}, {reached} writes: {:?}",
                events[cut - 1]
            );
            assert_eq!(shop.workflows(), whole.workflows(), "cut after {cut}");
            let now = shop.journal_of(&run);
            assert_eq!(
                mutations(&now),
                done,
                "cut after {cut}: {:?}",
                events[cut - 1]
            );
            // No answer that was journaled is asked for again.
            let answered = |events: &[Event]| {
                events
                    .iter()
                    .filter(|e| matches!(e, Event::ModelAnswered { .. }))
                    .count()
            };
            assert_eq!(
                answered(&events[..cut]) + shop.asked_count(),
                answered(&events),
                "cut after {cut}"
            );
            // Patches are merged once.
            assert_eq!(
                again.state,
                report.state,
                "cut after {cut}: {:?}",
                events[cut - 1]
            );
        }
    }
}

type World = Option<(String, String)>;

fn worlds(events: &[Event], run: &str, whole: &Shop) -> Vec<World> {
    let (file, _) = whole.workflows().remove(0);
    let last = fs::read_to_string(whole.dir.path().join("workflows").join(&file)).unwrap();
    let before_update = events
        .iter()
        .find_map(|e| match e {
            Event::SnapshotTaken { file, .. } => Some(file.clone()),
            _ => None,
        })
        .unwrap();
    let created = fs::read_to_string(
        whole
            .project
            .run(run)
            .unwrap()
            .snapshots()
            .join(before_update),
    )
    .unwrap();
    vec![None, Some((file.clone(), created)), Some((file, last))]
}

#[test]
fn a_journal_cut_inside_a_line_is_healed_and_the_run_goes_on() {
    let mut whole = Shop::new(good);
    let report = whole.start(request("orders")).unwrap();
    let path = whole.project.run(&report.run_id).unwrap().journal();
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 7]).unwrap();
    whole.without_summary();
    let again = whole.resume(None).unwrap();
    assert_eq!(built(&again).workflow, built(&report).workflow);
    assert!(
        whole
            .watched
            .notes
            .iter()
            .any(|n| n.contains("torn by a crash")),
        "{:?}",
        whole.watched.notes
    );
    let verified = agentctl_engine::run::verify(&whole.project, &parse, &report.run_id).unwrap();
    assert_eq!(verified.torn_bytes, None);
}

#[test]
fn verify_tells_what_the_chain_alone_cannot_show() {
    let mut shop = Shop::new(good);
    let run = shop.start(request("orders")).unwrap().run_id;
    let verify = |shop: &Shop| agentctl_engine::run::verify(&shop.project, &parse, &run).unwrap();
    let whole = verify(&shop);
    assert_eq!(
        (whole.shorter_than_state, whole.damaged_snapshots),
        (None, vec![])
    );
    let paths = shop.project.run(&run).unwrap();
    // A snapshot that was changed after it was taken.
    let snapshot = fs::read_dir(paths.snapshots())
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let text = fs::read_to_string(&snapshot).unwrap();
    fs::write(&snapshot, text.replace("Tell", "Sell")).unwrap();
    let name = snapshot.file_name().unwrap().to_str().unwrap().to_owned();
    assert_eq!(verify(&shop).damaged_snapshots, [name]);
    // Whole records cut off at the end leave a chain that holds; the state file knows better.
    let text = fs::read_to_string(paths.journal()).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    fs::write(paths.journal(), lines[..lines.len() - 2].concat()).unwrap();
    assert_eq!(verify(&shop).shorter_than_state, Some(lines.len() as u64));
}
