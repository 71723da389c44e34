//! The battery: `plain.tsv` holds one request a line and what it means.
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

#[test]
fn plain_requests_are_read_as_their_writers_mean_them() {
    let mut failures = Vec::new();
    let mut count = 0;
    for row in include_str!("plain.tsv")
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with("# "))
    {
        let (request, expected) = row.split_once('\t').expect("a request and what it means");
        count += 1;
        if let Some(line) = wrong(&request.replace("\\n", "\n"), expected) {
            failures.push(format!("{request}\n    want {expected}\n    got  {line}"));
        }
    }
    println!("{} of {count} as meant", count - failures.len());
    assert!(
        failures.is_empty(),
        "{} of {count} read otherwise:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
