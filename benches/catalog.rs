//! How fast the compiled-in catalog answers: `cargo bench --bench catalog`.

use std::hint::black_box;

use agentctl_n8n::catalog::{Catalog, Lookup};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use serde_json::{Map, json};

const FILE: &[u8] = include_bytes!("../crates/n8n/catalog/n8n-2.39.4.bin");

fn bench(c: &mut Criterion) {
    // What a fresh process pays for its first lookup: index, facts, one description.
    c.bench_function("first lookup (slack)", |b| {
        b.iter_batched(
            || Catalog::from_static(FILE),
            |catalog| {
                let found = catalog.map(|c| c.lookup("n8n-nodes-base.slack", None));
                black_box(matches!(found, Ok(Lookup::Known(_))))
            },
            BatchSize::PerIteration,
        );
    });
    c.bench_function("read and check a file", |b| {
        b.iter(|| black_box(Catalog::from_bytes(FILE).is_ok()));
    });
    let catalog = Catalog::embedded();
    c.bench_function("repeated lookup (slack)", |b| {
        b.iter(|| black_box(catalog.lookup("n8n-nodes-base.slack", None)));
    });
    c.bench_function("search (index built)", |b| {
        b.iter(|| black_box(catalog.search("append a row to a google sheet", 10)));
    });
    if let Some(slack) = catalog.lookup("n8n-nodes-base.slack", None).known() {
        let mut params = Map::new();
        params.insert("resource".into(), json!("message"));
        params.insert("operation".into(), json!("post"));
        c.bench_function("fill defaults (slack post)", |b| {
            b.iter(|| black_box(slack.fill_defaults(&params)));
        });
        c.bench_function("recipe (slack post)", |b| {
            b.iter(|| black_box(slack.recipe(Some("message"), Some("post"))));
        });
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
