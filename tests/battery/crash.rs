//! Cases 84, 85, 90, 93: a run's records cut at any byte, one event short of the world, changed by hand, or of a newer program.

use crate::attack::*;
use crate::support::*;
use agentctl_base::question::Outcome;
use agentctl_engine::run::{self, RunError};
use agentctl_engine::store::event::JOURNAL_VERSION;
use agentctl_engine::store::{Event, Journal, StateFile, StoreError};
use agentctl_n8n_tools::resources::parse;
use serde_json::{Value, json};

/// A journal is cut at every byte. The reader keeps every whole record, says how many bytes are left over, and goes on behind
/// them; what it set aside and what it kept are together what was there.
#[test]
fn case_084_cut_at_any_byte_a_journal_loses_no_whole_record() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.jsonl");
    let mut journal = Journal::create(&path).unwrap();
    let at: jiff::Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
    let input = json!({"request": "ö \u{1b} 👩‍🚀", "workflow": null})
        .as_object()
        .unwrap()
        .clone();
    let events = [
        Event::RunStarted {
            journal_version: JOURNAL_VERSION,
            agentctl_version: "0".into(),
            run_id: "r".into(),
            flow: "f".into(),
            pack_hash: "p".into(),
            input,
        },
        Event::StepStarted {
            step: "größer".into(),
        },
        Event::StepFailed {
            step: "a".into(),
            error: "line\nline \u{9b}".into(),
        },
        Event::RunEnded {
            outcome: Outcome::Failed,
            exit_code: 1,
            message: "{\"a\": \"}\\\"".into(),
        },
    ];
    for event in &events {
        journal.append(at, event.clone(), false).unwrap();
    }
    drop(journal);
    let whole = std::fs::read(&path).unwrap();
    let ends: Vec<usize> = whole
        .iter()
        .enumerate()
        .filter(|(_, b)| **b == b'\n')
        .map(|(at, _)| at + 1)
        .collect();
    assert_eq!(ends.len(), events.len());
    for cut in 0..=whole.len() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        std::fs::write(&path, &whole[..cut]).unwrap();
        // A record is whole without its line break.
        let kept = ends.iter().filter(|end| **end <= cut + 1).count();
        let looked = Journal::read(&path).unwrap_or_else(|e| panic!("cut at {cut}: {e}"));
        assert_eq!(looked.records.len(), kept, "cut at {cut}");
        assert_eq!(
            std::fs::read(&path).unwrap(),
            &whole[..cut],
            "looking changes nothing"
        );
        let (mut journal, loaded) = Journal::open(&path).unwrap();
        assert_eq!(
            loaded.records.iter().map(|r| &r.event).collect::<Vec<_>>(),
            events[..kept].iter().collect::<Vec<_>>()
        );
        let start = if kept == 0 {
            0
        } else {
            ends[kept - 1].min(cut)
        };
        assert_eq!(
            loaded.torn.as_ref().map_or(0, |torn| torn.bytes),
            cut - start,
            "cut at {cut}"
        );
        if let Some(torn) = &loaded.torn {
            assert_eq!(
                std::fs::read(torn.kept_as.as_ref().unwrap()).unwrap(),
                &whole[start..cut]
            );
        }
        for event in events.iter().skip(kept) {
            journal.append(at, event.clone(), true).unwrap();
        }
        assert_eq!(
            std::fs::read(&path).unwrap(),
            whole,
            "cut at {cut}: gone on to the same file"
        );
    }
    // What a disk leaves after a power cut: zeroes behind the last record, or a piece of another file.
    for tail in [
        vec![0; 700],
        b"{\"seq\":5,\"at\":\"2026\xff".to_vec(),
        vec![b'x'; 5000],
    ] {
        std::fs::write(&path, [whole.as_slice(), &tail].concat()).unwrap();
        let (_, loaded) = Journal::open(&path).unwrap();
        assert_eq!(
            (loaded.records.len(), loaded.torn.unwrap().bytes),
            (events.len(), tail.len())
        );
        assert_eq!(std::fs::read(&path).unwrap(), whole);
    }
}

/// The journal of a whole run, cut at bytes all over it: each resume comes to the same end.
#[test]
fn case_084_a_run_cut_at_any_byte_comes_to_the_same_end() {
    let mut shop = Shop::new(good);
    let report = shop.start(request("orders")).unwrap();
    let done = changes(&shop.journal());
    let path = shop.project.run(&report.run_id).unwrap().journal();
    let whole = std::fs::read(&path).unwrap();
    let first = whole.iter().position(|b| *b == b'\n').unwrap();
    // The cuts that may lose a change that the world already has are case 85; here the world stays at its end.
    let last_change = String::from_utf8_lossy(&whole).rfind("\"change\"").unwrap();
    let cuts: Vec<usize> = (last_change..whole.len()).step_by(997).collect();
    assert!(cuts.len() > 3 && cuts[0] > first);
    for cut in cuts {
        let cut = whole.len().min(
            whole[..cut]
                .iter()
                .rposition(|b| *b == b'\n')
                .map_or(cut, |at| cut.max(at + 2)),
        );
        std::fs::write(&path, &whole[..cut]).unwrap();
        std::fs::remove_file(shop.project.state_file()).unwrap();
        let again = shop.resume(Some(&report.run_id)).unwrap();
        assert_eq!(
            (again.outcome, built(&again).workflow),
            (Outcome::Complete, built(&report).workflow),
            "cut at {cut}"
        );
        assert_eq!(changes(&shop.journal()), done, "cut at {cut}");
    }
}

/// Killed between the write of a workflow and the record of its result: the write is found, and is not made again.
#[test]
fn case_085_killed_between_a_write_and_its_record_nothing_is_done_twice() {
    for nth in 0..2 {
        let mut shop = Shop::new(good);
        let report = shop.start(request("orders")).unwrap();
        let workflows = shop.workflows();
        let done = changes(&shop.journal());
        let path = shop.project.run(&report.run_id).unwrap().journal();
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let intents: Vec<usize> = (0..lines.len())
            .filter(|at| lines[*at].contains("\"mutates\":true"))
            .collect();
        assert_eq!(intents.len(), 2);
        // The journal ends with the intent; the world is as the call left it. (For the first, the second is undone by hand.)
        std::fs::write(&path, lines[..=intents[nth]].concat()).unwrap();
        std::fs::remove_file(shop.project.state_file()).unwrap();
        if nth == 0 {
            let snapshots = shop.project.run(&report.run_id).unwrap().snapshots();
            let first = std::fs::read_dir(snapshots)
                .unwrap()
                .next()
                .unwrap()
                .unwrap()
                .path();
            let file = shop
                .dir
                .path()
                .join(built(&report).workflow.unwrap().file.unwrap());
            std::fs::copy(first, file).unwrap();
        }
        let again = shop.resume(None).unwrap();
        assert_eq!(
            (again.outcome, built(&again).workflow),
            (Outcome::Complete, built(&report).workflow)
        );
        assert_eq!(
            (shop.workflows(), changes(&shop.journal())),
            (workflows, done)
        );
        let settled = shop.journal().iter().filter(|e| matches!(e, Event::ToolFinished { result, .. } if result.content.get("settled") == Some(&Value::Bool(true)))).count();
        assert_eq!(settled, 1);
    }
}

#[test]
fn case_090_records_changed_by_hand_are_refused_with_their_line() {
    let mut shop = Shop::new(good);
    let report = shop.start(request("orders")).unwrap();
    let path = shop.project.run(&report.run_id).unwrap().journal();
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let changed = |line: usize, with: String| {
        let mut all: Vec<String> = lines.iter().map(|l| (*l).to_owned()).collect();
        all[line] = with;
        all.join("\n") + "\n"
    };
    let at = lines
        .iter()
        .position(|l| l.contains("qa_report") && l.contains("fail"))
        .unwrap();
    let without = |n: usize| {
        lines
            .iter()
            .enumerate()
            .filter(|(i, _)| *i != n)
            .map(|(_, l)| format!("{l}\n"))
            .collect::<String>()
    };
    let mut swapped = lines.clone();
    swapped.swap(4, 5);
    let edits = [
        (
            "a verdict changed",
            at + 1,
            changed(at, lines[at].replace("fail", "pass")),
            "changed after it was written",
        ),
        (
            "a time changed",
            4,
            changed(3, lines[3].replace("2027", "2026")),
            "changed after it was written",
        ),
        (
            "a line taken out",
            6,
            without(5),
            "records are missing or were moved",
        ),
        (
            "two lines swapped",
            5,
            swapped.join("\n") + "\n",
            "records are missing or were moved",
        ),
        (
            "a line repeated",
            7,
            changed(6, lines[5].to_owned()),
            "records are missing or were moved",
        ),
        (
            "a line of another kind",
            3,
            changed(2, "{}".into()),
            "not a record",
        ),
        (
            "half a line in the middle",
            9,
            changed(8, lines[8][..lines[8].len() / 2].to_owned()),
            "not a record",
        ),
    ];
    for (what, line, broken, reason) in edits {
        std::fs::write(&path, &broken).unwrap();
        let refused = shop.resume(None);
        let Err(RunError::Store(StoreError::Broken {
            line: found,
            reason: why,
            ..
        })) = &refused
        else {
            panic!("{what}: {refused:?}")
        };
        assert!(
            *found == line as u64 && why.contains(reason),
            "{what}: line {found}, {why}"
        );
        assert!(run::verify(&shop.project, &parse, &report.run_id).is_err());
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            broken,
            "{what}: left as it is"
        );
        let (code, _, stderr) = ran(agentctl(shop.dir.path(), &["runs", "verify"]));
        assert!(
            code == 1 || stderr.contains(&format!("line {line}")),
            "{what}: {code} {stderr}"
        );
    }
    std::fs::write(&path, &text).unwrap();
    // The summary is never believed: it is made again, and the changed one kept.
    let state = shop.project.state_file();
    let summary = std::fs::read_to_string(&state).unwrap();
    for forged in [
        summary.replace("\"complete\"", "\"waiting\""),
        "{}".into(),
        "not json".into(),
        summary[..summary.len() / 2].to_owned(),
        "[1]".into(),
    ] {
        std::fs::write(&state, &forged).unwrap();
        assert_eq!(run::status(&shop.project, &shop.pack).unwrap(), report);
        assert_eq!(shop.resume(None).unwrap(), report);
        assert!(matches!(StateFile::read(&state), Ok(StateFile::Good(_))));
        let aside = files_below(&shop.project.memory())
            .into_iter()
            .any(|(name, bytes)| {
                name.starts_with("run_state.json.corrupt-") && bytes == forged.as_bytes()
            });
        assert!(aside, "the forged file is kept");
    }
}

#[test]
fn case_093_a_newer_programs_journal_is_refused_by_name_and_its_news_are_skipped() {
    let mut shop = Shop::new(good);
    let report = shop.start(request("orders")).unwrap();
    let path = shop.project.run(&report.run_id).unwrap().journal();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(
        &path,
        text.replacen("\"journal_version\":2", "\"journal_version\":3", 1),
    )
    .unwrap();
    // Its chain does not hold either; a real one from tomorrow is made below.
    assert!(shop.resume(None).is_err());
    let dir = tempfile::tempdir().unwrap();
    let newer = dir.path().join("journal.jsonl");
    let mut journal = Journal::create(&newer).unwrap();
    let at: jiff::Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
    let begun = Event::RunStarted {
        journal_version: 3,
        agentctl_version: "9".into(),
        run_id: "r".into(),
        flow: "f".into(),
        pack_hash: "p".into(),
        input: serde_json::Map::new(),
    };
    journal.append(at, begun, true).unwrap();
    drop(journal);
    let before = std::fs::read(&newer).unwrap();
    for result in [
        Journal::read(&newer).map(|_| ()),
        Journal::open(&newer).map(|_| ()),
    ] {
        assert!(
            matches!(
                result,
                Err(StoreError::NewerVersion {
                    found: 3,
                    known: JOURNAL_VERSION,
                    ..
                })
            ),
            "{result:?}"
        );
    }
    assert_eq!(std::fs::read(&newer).unwrap(), before);
    // In a project such a run is listed with the reason, and the command says what to do.
    let run = shop.project.run("20990101-000000-abcdef").unwrap();
    std::fs::create_dir_all(run.dir()).unwrap();
    std::fs::copy(&newer, run.journal()).unwrap();
    let (code, _, stderr) = ran(agentctl(
        shop.dir.path(),
        &["resume", "20990101-000000-abcdef"],
    ));
    assert!(
        code == 1 && stderr.contains("newer agentctl") && stderr.contains("update agentctl"),
        "{code}: {stderr}"
    );
    let listed = run::list(&shop.project).unwrap();
    assert!(listed.iter().any(|r| {
        r.broken
            .as_deref()
            .is_some_and(|why| why.contains("newer agentctl"))
    }));
}
