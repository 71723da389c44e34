//! The battery: `plain.tsv` holds one request a line and what it means, `plain.open.tsv` those that are read otherwise today.
//!
//! An expectation is `trigger > step > step`; every word of a part must stand in that part of the plan's summary, and the
//! plan has as many parts as the expectation. `ask a b` = nothing may be built before these topics are asked.

use super::summary::parts;
use agentctl_planner::read::{ReadContext, read};

/// What is wrong with the reading of a request, if anything.
fn wrong(request: &str, expected: &str) -> Option<String> {
    let reading = read(request, &ReadContext::default());
    let mut actual = parts(&reading.plan);
    let topics: Vec<&str> = reading.questions.iter().map(|q| q.topic.as_str()).collect();
    let line = format!("{} ?[{}]", actual.join(" > "), topics.join(" "));
    if let Some(wanted) = expected.strip_prefix("ask ") {
        let asks = reading.questions.iter().any(|q| q.required)
            && wanted.split_whitespace().all(|w| topics.contains(&w));
        return (!asks).then_some(line);
    }
    let wanted: Vec<&str> = expected.split(" > ").collect();
    // One message for a list may be put together before it is sent or while it is sent.
    if !expected.contains("aggregate") {
        actual.retain(|a| !a.starts_with("aggregate"));
    }
    let same = actual.len() == wanted.len()
        && actual.iter().zip(&wanted).all(|(a, w)| {
            let a = a.to_lowercase();
            w.split_whitespace()
                .all(|word| a.contains(&word.replace('~', " ").to_lowercase()))
        });
    let quiet = reading.questions.is_empty() && reading.refusal.is_none();
    (!(same && quiet)).then_some(line)
}

/// The rows of a table: a request and what it means.
fn rows(table: &'static str) -> impl Iterator<Item = (String, &'static str)> {
    table
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with("# "))
        .map(|row| {
            let (request, expected) = row.split_once('\t').expect("a request and what it means");
            (request.replace("\\n", "\n"), expected)
        })
}

#[test]
fn plain_requests_are_read_as_their_writers_mean_them() {
    let failures: Vec<String> = rows(include_str!("plain.tsv"))
        .filter_map(|(request, expected)| {
            let line = wrong(&request, expected)?;
            Some(format!("{request}\n    want {expected}\n    got  {line}"))
        })
        .collect();
    assert!(
        failures.is_empty(),
        "{} read otherwise:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

/// A row that is read as its writer meant it belongs to the other table, so that it stays so.
#[test]
fn what_is_read_otherwise_today_is_listed_apart() {
    let right: Vec<String> = rows(include_str!("plain.open.tsv"))
        .filter(|(request, expected)| wrong(request, expected).is_none())
        .map(|(request, _)| request)
        .collect();
    assert!(right.is_empty(), "move to plain.tsv:\n{}", right.join("\n"));
}
