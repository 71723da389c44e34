//! Killed at any point: the journal cut after every event of a finished run, the lists as they were then, resumed.

use crate::store::List;
use crate::support::{House, good, request};
use agentctl_base::question::Outcome;
use agentctl_engine::store::{Event, Journal, Record};
use std::fs;

pub fn changes(records: &[Record]) -> Vec<(Option<String>, Option<String>)> {
    let change = |record: &Record| match &record.event {
        Event::ToolFinished {
            change: Some(change),
            ..
        } => Some((change.before.clone(), change.after.clone())),
        _ => None,
    };
    records.iter().filter_map(change).collect()
}

pub fn begun(records: &[Record]) -> usize {
    let begins = |record: &&Record| matches!(record.event, Event::ToolIntent { mutates: true, .. });
    records.iter().filter(begins).count()
}

/// A new house, in which the same run came so far.
pub fn cut(
    house: House,
    whole: &House,
    run: &str,
    records: &[Record],
    list: Option<&List>,
) -> House {
    let from = whole.project.run(run).unwrap().snapshots();
    let paths = house.project.run(run).unwrap();
    fs::create_dir_all(paths.snapshots()).unwrap();
    // A run that only made lists has none.
    for entry in fs::read_dir(from).into_iter().flatten() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), paths.snapshots().join(entry.file_name())).unwrap();
    }
    let journal = Journal::create(&paths.journal()).unwrap();
    let mut journal = journal.marked(house.project.marks(run));
    for record in records {
        let at = record.at.parse().unwrap();
        journal.append(at, record.event.clone(), false).unwrap();
    }
    if let Some(list) = list {
        house.put("chores", list);
    }
    house
}

#[test]
fn cut_after_every_event_it_comes_to_the_same_whether_or_not_the_write_happened() {
    let mut whole = House::new(good);
    let report = whole.start(request("the house"));
    let records = whole.records();
    let last = whole.list("chores").unwrap();
    let mut made = last.clone();
    made.items[1].owner = None;
    let worlds = [None, Some(&made), Some(&last)];
    let done = changes(&records);
    assert_eq!(done.len(), 2);
    for at in 1..=records.len() {
        let so_far = &records[..at];
        for world in &worlds[changes(so_far).len()..=begun(so_far)] {
            let mut house = cut(House::new(good), &whole, &report.run_id, so_far, *world);
            let again = house.resume(&report.run_id).unwrap();
            let event = &records[at - 1].event;
            assert_eq!(again.outcome, Outcome::Complete, "cut after {event:?}");
            assert_eq!(again.made, report.made, "cut after {event:?}");
            assert_eq!(again.state, report.state, "cut after {event:?}");
            assert_eq!(house.list("chores").as_ref(), Some(&last));
            // Each change stands in the journal once, however often the call was begun.
            assert_eq!(changes(&house.records()), done, "cut after {event:?}");
            // No answer that was journaled is asked for again.
            let answered = |records: &[Record]| {
                let answer = |r: &&Record| matches!(r.event, Event::ModelAnswered { .. });
                records.iter().filter(answer).count()
            };
            assert_eq!(
                answered(so_far) + house.asked_count(),
                answered(&records),
                "cut after {event:?}"
            );
        }
    }
}

#[test]
fn a_list_that_is_neither_as_before_nor_as_planned_is_not_guessed_about() {
    let mut whole = House::new(good);
    let report = whole.start(request("the house"));
    let records = whole.records();
    let edit = records.iter().rposition(|record| {
        matches!(&record.event, Event::ToolIntent { call, .. } if call.name == "edit_list")
    });
    let mut strange = whole.list("chores").unwrap();
    strange.add("by hand", None);
    let mut house = cut(
        House::new(good),
        &whole,
        &report.run_id,
        &records[..=edit.unwrap()],
        Some(&strange),
    );
    let again = house.resume(&report.run_id).unwrap();
    assert_eq!(again.outcome, Outcome::Blocked, "{}", again.message);
    let settled: Vec<String> = house
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::ToolFinished { result, .. } if result.name == "edit_list" => {
                Some(result.content["error"].as_str()?.to_owned())
            }
            _ => None,
        })
        .collect();
    assert_eq!(settled, ["the list is neither as before nor as planned"]);
    assert_eq!(house.list("chores"), Some(strange));
}
