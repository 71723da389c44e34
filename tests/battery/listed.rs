//! The table in docs/security.md and the tests say the same: every case has its row, every row a test or a reason, every test its row.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const CASES: u32 = 127;

/// Test functions of this suite by the number in their name: `case_024_an_approval_…`.
fn tests() -> BTreeMap<u32, Vec<String>> {
    let mut found: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/battery");
    for entry in std::fs::read_dir(here).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for line in text.lines() {
            let Some((_, rest)) = line.split_once(concat!("fn ", "case_")) else {
                continue;
            };
            let name = rest.split('(').next().unwrap_or_default();
            let number: u32 = name.split('_').next().unwrap().parse().unwrap_or(0);
            found
                .entry(number)
                .or_default()
                .push(format!("case_{name}"));
        }
        assert!(
            !text.contains(concat!("#[", "ignore")),
            "no case is ignored"
        );
    }
    found
}

/// "`cargo test -p agentctl-CRATE WORD`": whether the crate has a file of tests of that name, with tests in it.
fn is_of_a_crate(cell: &str) -> bool {
    let command = cell.strip_prefix("`cargo test -p agentctl-");
    let named = command.and_then(|c| c.strip_suffix('`')?.split_once(' '));
    named.is_some_and(|(name, word)| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let file = root.join(format!("crates/{name}/src/{word}_tests.rs"));
        std::fs::read_to_string(file).is_ok_and(|text| text.contains("test]"))
    })
}

#[test]
fn the_page_lists_every_case_with_its_test_or_the_reason_why_not() {
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/security.md"))
            .unwrap();
    let tests = tests();
    let mut rows = BTreeSet::new();
    let mut wrong = Vec::new();
    for line in page.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let Some(number) = cells.first().and_then(|n| n.parse::<u32>().ok()) else {
            continue;
        };
        rows.insert(number);
        let last = cells.last().copied().unwrap_or_default();
        match tests.get(&number) {
            Some(names) if names.iter().all(|name| last.contains(name.as_str())) => {}
            Some(names) => wrong.push(format!("{number}: the row must name {names:?}")),
            None if last.starts_with("not yet: ") || last.starts_with("live suite: ") => {}
            // What only its own crate can play.
            None if is_of_a_crate(last) => {}
            None => wrong.push(format!("{number}: neither a test nor a reason")),
        }
    }
    wrong.extend(
        (1..=CASES)
            .filter(|n| !rows.contains(n))
            .map(|n| format!("{n}: no row")),
    );
    wrong.extend(
        tests
            .keys()
            .filter(|n| !rows.contains(n))
            .map(|n| format!("{n}: a test without a row")),
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
}
