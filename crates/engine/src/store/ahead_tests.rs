//! A journal that threads read ahead comes to what it comes to read line by line, whatever was done to it.

use super::event::Shared;
use super::marks::Foreign;
use super::read::{Each, Loaded, Reading, stream_with};
use super::{Event, Journal, Marks, Record, StoreError};
use agentctl_base::model::{ToolResult, ToolStatus};
use agentctl_host::key::Key;
use proptest::prelude::*;
use serde_json::json;
use std::path::Path;

const RUN: &str = "20260101-000000-long";

/// A journal of several batches, in lines of very different lengths.
fn written(dir: &Path) -> (Vec<u8>, Marks) {
    let path = dir.join("journal.jsonl");
    let marks = Marks::of(Some(Key::fixed([7; 32])), dir, RUN);
    let mut journal = Journal::create(&path).unwrap().marked(marks.clone());
    let begun = crate::testkit::journals::begun(RUN);
    let finished = |n: usize| Event::ToolFinished {
        step: "s".into(),
        role: "r".into(),
        result: Shared::from(ToolResult {
            call_id: format!("c{n}"),
            name: "look".into(),
            status: ToolStatus::Ok,
            content: json!({"n": n, "text": "é".repeat(if n.is_multiple_of(97) { 50_000 } else { n % 700 })}),
        }),
        change: None,
    };
    let events = std::iter::once(begun).chain((0..600).map(finished));
    for event in events {
        journal
            .append(jiff::Timestamp::UNIX_EPOCH, event, false)
            .unwrap();
    }
    journal.sync().unwrap();
    (std::fs::read(&path).unwrap(), marks)
}

type Came = (
    Vec<(Record, bool)>,
    Result<(Loaded, Option<Foreign>), String>,
);

fn read(path: &Path, marks: &Marks, hands: usize) -> Came {
    let mut records = Vec::new();
    let each: Each<'_> = &mut |record: &Record, own| records.push((record.clone(), own));
    let reading = Reading {
        marks,
        checked: None,
        note: &[3, 599],
        each,
    };
    let read = stream_with(path, reading, &|_| hands);
    let read = read.map(|streamed| {
        let foreign = streamed.loaded.foreign.clone();
        (streamed.loaded, foreign)
    });
    (records, read.map_err(|e: StoreError| e.to_string()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn read_ahead_or_in_place_it_comes_to_the_same(
        done in proptest::collection::vec((0..5_u8, any::<prop::sample::Index>(), any::<u8>()), 0..3),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (mut bytes, marks) = written(dir.path());
        for (what, at, with) in done {
            let place = at.index(bytes.len());
            let mut lines: Vec<Vec<u8>> =
                bytes.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
            let line = at.index(lines.len());
            match what {
                0 => bytes[place] = with,
                1 => bytes.truncate(place.max(1)),
                2 => {
                    lines.remove(line);
                    bytes = lines.concat();
                }
                3 => {
                    {
                        let other = usize::from(with) % lines.len();
                        lines.swap(line, other);
                    }
                    bytes = lines.concat();
                }
                // The mark of another.
                _ => {
                    let text = String::from_utf8_lossy(&lines[line]).replacen("\"mark\":\"", "\"mark\":\"0", 1);
                    lines[line] = text.into_bytes();
                    bytes = lines.concat();
                }
            }
            if bytes.is_empty() {
                bytes.push(b'{');
            }
        }
        let path = dir.path().join("journal.jsonl");
        std::fs::write(&path, &bytes).unwrap();
        let alone = read(&path, &marks, 0);
        for hands in [1, 3] {
            prop_assert!(read(&path, &marks, hands) == alone, "{hands} threads: another result");
        }
    }
}
