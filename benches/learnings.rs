//! What the index of learnings costs to read, and how long a search takes. Prints the sizes first, then measures.
//! `cargo bench --bench learnings`
#![expect(clippy::print_stdout, reason = "measurements and examples print")]

use agentctl_knowledge::{Learning, Query, index, parse, search, tokens};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use std::hint::black_box;

const SERVICES: [&str; 24] = [
    "slack",
    "googleSheets",
    "webhook",
    "httpRequest",
    "notion",
    "postgres",
    "code",
    "if",
    "switch",
    "merge",
    "set",
    "gmail",
    "airtable",
    "hubspot",
    "stripe",
    "jira",
    "github",
    "telegram",
    "discord",
    "mySql",
    "redis",
    "s3",
    "scheduleTrigger",
    "splitInBatches",
];

/// An entry as long as ours are: about 120 words, different from every other one.
fn entry(n: usize) -> Learning {
    let service = SERVICES.get(n % SERVICES.len()).copied().unwrap_or("code");
    Learning {
        id: format!("L-{n:03}"),
        title: format!(
            "Setting {} of {service} takes a value, not its label",
            n % 311
        ),
        date: Some("2026-01-02".into()),
        node_types: vec![format!("n8n-nodes-base.{service}")],
        finding_codes: vec![format!("n8n/code-{}", n % 29)],
        tags: vec![format!("area-{}", n % 173), service.to_lowercase()],
        problem: format!(
            "Setting {} of the {service} node is reported as missing in case {n}, although a value stands there in the editor; the step after it \
             gets nothing, and the run ends with an error that names another node.",
            n % 311
        ),
        cause: format!(
            "The editor shows a label, the workflow stores a value. With an unknown value the parameters of operation {} are not displayed, so what \
             was set for them does not count; version {} of the node had other names.",
            n % 41,
            n % 7
        ),
        solution: format!(
            "Take value {} from the node's schema for its version, set resource and operation first, then the parameters that the schema lists as \
             required, each in the form that it names: a resource locator is an object with mode and value.",
            n % 97
        ),
        evidence: format!(
            "run 019a, events {n} and {}, finding {:08x}",
            n + 4,
            n * 2_654_435
        ),
        ..Learning::default()
    }
}

fn file(entries: usize) -> String {
    (1..=entries).map(|n| entry(n).render() + "\n").collect()
}

/// What a researcher reads with the index: its first page and the two entries that it needs; past one level, a search that
/// finds them comes in between. Without it: the whole file.
fn sizes() {
    println!(
        "entries | whole file | first page | search of 3 lines | 2 entries | first page and 1 entry | all of it"
    );
    for count in [10, 30, 60, 100, 1_000, 10_000] {
        let text = file(count);
        let entries = parse(&text).0;
        let first = tokens(&index(&entries).first);
        let lines = search(&text, &Query::parse("node:httpRequest setting"), 3);
        // Where the first page has every entry, nothing needs to be searched.
        let searched: usize = match count > 60 {
            true => lines.iter().map(|l| tokens(&l.text) + 4).sum(),
            false => 0,
        };
        let found: Vec<usize> = entries
            .iter()
            .filter(|e| lines.iter().any(|l| l.id == e.id))
            .chain(&entries)
            .take(2)
            .map(|e| tokens(&e.render()))
            .collect();
        let one = found.first().copied().unwrap_or(0);
        let two: usize = found.iter().sum();
        let whole = tokens(&text);
        let share = |read: usize| format!("{:.1} %", read as f64 * 100.0 / whole as f64);
        println!(
            "{count} | {whole} | {first} | {searched} | {two} | {} | {}",
            share(first + searched + one),
            share(first + searched + two)
        );
    }
}

fn searches(criterion: &mut Criterion) {
    sizes();
    let mut group = criterion.benchmark_group("learnings");
    let text = file(10_000);
    for query in [
        "resource locator channel",
        "code:n8n/code-4",
        "node:slack tag:area-7 label",
        "nothing of this stands there",
    ] {
        group.bench_with_input(
            BenchmarkId::new("search 10,000", query),
            query,
            |b, query| {
                b.iter(|| search(black_box(&text), &Query::parse(query), 20));
            },
        );
    }
    let entries = parse(&text).0;
    group.bench_function("index 10,000", |b| b.iter(|| index(black_box(&entries))));
    group.bench_function("parse 10,000", |b| b.iter(|| parse(black_box(&text))));
    group.finish();
}

criterion_group!(benches, searches);
criterion_main!(benches);
