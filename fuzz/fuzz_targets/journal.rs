//! The journal reader, in three ways by the first byte: any bytes; a real journal with bytes changed, lines moved, doubled,
//! dropped or cut; any events folded. What was tampered with is refused, or reads as a beginning of what was written.
#![no_main]

use agentctl_engine::guards::GuardState;
use agentctl_engine::{
    flow::{self, RunLog},
    store::{Event, Journal, Loaded, Record},
};
use libfuzzer_sys::fuzz_target;
use std::{path::Path, sync::LazyLock};

/// A journal as the program writes it, of the events that stand in the seeds' folder.
static REAL: LazyLock<(Vec<u8>, Vec<Record>)> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("agentctl-fuzz-{}", std::process::id()));
    let path = folder.join("journal.jsonl");
    let mut journal = Journal::create(&path).expect("a new journal");
    for line in include_str!("../seeds/events.jsonl").lines() {
        let event: Event = serde_json::from_str(line).expect("an event");
        journal
            .append(jiff::Timestamp::UNIX_EPOCH, event, false)
            .expect("appended");
    }
    let bytes = std::fs::read(&path).expect("read");
    let records = Journal::read(&path).expect("whole").records;
    std::fs::remove_dir_all(&folder).expect("removed");
    (bytes, records)
});

static FLOW: LazyLock<flow::Flow> =
    LazyLock::new(|| agentctl::pack::built_in().expect("the built-in pack").flow);

fn read(bytes: &[u8]) -> Option<Loaded> {
    let loaded = Loaded::of(Path::new("journal.jsonl"), bytes).ok()?;
    let (seq, _) = loaded.head();
    assert_eq!(seq as usize, loaded.records.len() + loaded.unknown);
    Some(loaded)
}

/// Each step of four bytes changes the journal: what, where (two bytes), with what.
fn tamper(bytes: &mut Vec<u8>, steps: &[u8]) {
    for step in steps.chunks_exact(4).take(8) {
        let (what, at, with) = (
            step[0] % 7,
            usize::from(u16::from_le_bytes([step[1], step[2]])),
            step[3],
        );
        let place = at % bytes.len().max(1);
        let mut lines: Vec<Vec<u8>> = bytes
            .split_inclusive(|b| *b == b'\n')
            .map(<[u8]>::to_vec)
            .collect();
        let line = at % lines.len().max(1);
        match what {
            0 if !bytes.is_empty() => bytes[place] = with,
            1 => bytes.insert(place, with),
            2 if !bytes.is_empty() => drop(bytes.remove(place)),
            3 => bytes.truncate(place),
            4 if !lines.is_empty() => {
                lines.remove(line);
                *bytes = lines.concat();
            }
            5 if !lines.is_empty() => {
                lines.insert(usize::from(with) % (lines.len() + 1), lines[line].clone());
                *bytes = lines.concat();
            }
            6 if !lines.is_empty() => {
                let other = usize::from(with) % lines.len();
                lines.swap(line, other);
                *bytes = lines.concat();
            }
            _ => {}
        }
    }
}

fn fold(text: &str) {
    let (mut guards, mut log) = (
        GuardState::new(Vec::new(), FLOW.scope_field()),
        RunLog::new(&FLOW),
    );
    for line in text.lines().take(64) {
        let Ok(event) = serde_json::from_str::<Event>(line) else {
            continue;
        };
        guards.observe(&event);
        let before = log.clone();
        if log.apply(&FLOW, &event).is_err() {
            assert_eq!(log, before, "a refused event left something behind");
        } else {
            let _ = flow::next(&FLOW, &log);
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((mode, rest)) = data.split_first() else {
        return;
    };
    match mode % 3 {
        0 => drop(read(rest)),
        1 => {
            let (real, records) = &*REAL;
            let mut bytes = real.clone();
            tamper(&mut bytes, rest);
            if let Some(loaded) = read(&bytes) {
                assert_eq!(loaded.unknown, 0);
                assert!(
                    records.starts_with(&loaded.records),
                    "something else was read than was written"
                );
            }
        }
        _ => fold(&String::from_utf8_lossy(rest)),
    }
});
