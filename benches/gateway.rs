//! What the gateway adds to a call: the same calls straight to a backend in memory, through the door, and through the door with
//! every journal record put together and hashed. No disk and no network is in any figure: snapshots stay in memory, and the
//! journal's bytes are dropped where they would be written and synced.
//!
//! The overhead of a call is its time through the gateway, journaled, less that of the backend alone in the same run: parsing,
//! permission, budget, guards, the snapshot's text, the diff, redaction, and the journal's records. Memory comes from the
//! program's own allocator.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a measurement"
)]

use agentctl_engine::policy::Policy;
use agentctl_engine::redact::Redactor;
use agentctl_engine::store::Journal;
use agentctl_host::files::Disk;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::diff::{changes, text_diff};
use agentctl_n8n::edit::{self, EditOp};
use agentctl_n8n::hash::graph_hash;
use agentctl_n8n::validate::validate;
use agentctl_n8n::{Workflow, WorkflowId};
use agentctl_n8n_tools::backend::Backend;
use agentctl_n8n_tools::fixture::{Bench, MemoryBackend, N8nBench as _, chain};
use agentctl_n8n_tools::guards;
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const POLICY: &str = "
roles:
  builder: [get-workflow, update-workflow]
  qa: [get-workflow]
limits: {max_tool_calls: 1000000000, max_identical_calls: 1000000000}
";

/// Takes what is written and forgets it: a record is put together, hashed and handed over, and no file is touched.
#[derive(Debug)]
struct NoDisk;

impl Disk for NoDisk {
    fn write(&self, _: &mut File, _: &[u8], _: &Path) -> std::io::Result<()> {
        Ok(())
    }
    fn sync(&self, _: &File, _: &Path) -> std::io::Result<()> {
        Ok(())
    }
}

/// Snapshots stay in memory; the journal's records are dropped before or after they are put together.
fn bench(journaled: bool) -> (Bench, Arc<MemoryBackend>) {
    let (mut bench, backend) = Bench::in_memory(
        Policy::load(POLICY, "policy.yaml", agentctl_n8n_tools::vocabulary::n8n()).unwrap(),
    );
    bench.desk.kept = Some(BTreeMap::new());
    if journaled {
        let path = bench.dir.path().join("journal.jsonl");
        bench.desk.journal = Some(Journal::create_on(Arc::new(NoDisk), &path).unwrap());
    }
    backend.put("w", workflow(), false);
    (bench, backend)
}

fn node_id(i: usize) -> String {
    format!("0f8c1e2a-5b7d-4c3e-9a1b-2c3d4e5f{i:04x}")
}

/// Twenty nodes with ids, addresses and parameters as real workflows have them.
fn workflow() -> Workflow {
    let mut workflow = chain("w", 20);
    for (i, node) in workflow.nodes.iter_mut().enumerate() {
        node.set("id", json!(node_id(i)));
        node.set(
            "parameters",
            json!({
                "x": i, "method": "POST", "url": "https://api.example.com/v1/orders/{{ $('Node 0').item.json.id }}", "sendBody": true,
                "bodyParameters": {"parameters": [{"name": "id", "value": "={{ $json.id }}"}, {"name": "total", "value": "={{ $json.total }}"}]},
                "options": {"timeout": 10000},
            }),
        );
    }
    workflow
}

fn update(n: u64) -> String {
    json!({"workflow_id": "w", "ops": [{"op": "set_parameter", "node": node_id(7), "pointer": "/x", "value": n}]}).to_string()
}

fn measure(c: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();

    let id = WorkflowId("w".into());
    let (mut b, _) = bench(true);
    c.bench_function("refused/through the gateway, journaled", |m| {
        m.iter(|| {
            runtime
                .block_on(b.raw("qa", "update_workflow", &update(1)))
                .unwrap()
        });
    });

    // What has to be done whoever decides: read, and hand it over as a value.
    let (_, backend) = bench(false);
    c.bench_function("read/backend alone", |m| {
        m.iter(|| {
            runtime
                .block_on(backend.get(black_box(&id)))
                .unwrap()
                .workflow
                .to_value()
        });
    });
    let args = json!({"workflow_id": "w"}).to_string();
    for (name, journaled) in [
        ("read/through the gateway", false),
        ("read/through the gateway, journaled", true),
    ] {
        let (mut b, _) = bench(journaled);
        c.bench_function(name, |m| {
            m.iter(|| {
                runtime
                    .block_on(b.raw("builder", "get_workflow", &args))
                    .unwrap()
            });
        });
    }

    let mut n = 0;
    // What has to be done whoever decides: read, edit, write, read back, check what is there now.
    let (_, backend) = bench(false);
    c.bench_function("update/backend alone", |m| {
        m.iter(|| {
            n += 1;
            let ops: Value = serde_json::from_str(&update(n)).unwrap();
            let ops: Vec<EditOp> = serde_json::from_value(ops["ops"].clone()).unwrap();
            runtime.block_on(async {
                let before = backend.get(&id).await.unwrap();
                let after = edit::apply(&before.workflow, &ops, &mut String::new).unwrap();
                backend.replace(&id, &after).await.unwrap();
                let written = backend.get(&id).await.unwrap().workflow;
                validate(&written, Catalog::embedded())
            })
        });
    });
    for (name, journaled) in [
        ("update/through the gateway", false),
        ("update/through the gateway, journaled", true),
    ] {
        let (mut b, _) = bench(journaled);
        runtime.block_on(b.ok("builder", "get_workflow", json!({"workflow_id": "w"})));
        c.bench_function(name, |m| {
            m.iter(|| {
                n += 1;
                let settled = runtime
                    .block_on(b.raw("builder", "update_workflow", &update(n)))
                    .unwrap();
                let agentctl_engine::gateway::Settled::Done(result) = settled else {
                    panic!()
                };
                assert_eq!(result.content["changed"], Value::Bool(true));
                // A run keeps its snapshots on a disk: here they would fill the memory, but for the first, which losses are
                // counted from.
                if let Some(kept) = &mut b.desk.kept {
                    kept.retain(|file, _| file == "000000.json");
                }
            });
        });
    }

    // The parts of what the gateway adds to an update, each by itself.
    let before = workflow();
    let mut after = before.clone();
    after.nodes[7].edit_parameters(|p| p.insert("x".into(), json!("new")));
    let redactor = Redactor::new(["opaque-secret-value".to_owned()]);
    c.bench_function("part/graph hash", |m| {
        let before = graph_hash(&before);
        m.iter_batched(
            || {
                let mut after = after.clone();
                after.nodes[7].edit_parameters(|p| p.insert("x".into(), json!("newer")));
                after
            },
            |after| assert_ne!(graph_hash(&after), before),
            BatchSize::SmallInput,
        );
    });
    let base = guards::Outline::of(&before, &|_| guards::Start::No);
    c.bench_function("part/wipe guard", |m| {
        m.iter(|| guards::loss(black_box(&base), &after, &|_| guards::Start::No));
    });
    c.bench_function("part/what losses are counted from", |m| {
        m.iter(|| guards::Outline::of(black_box(&before), &|_| guards::Start::No));
    });
    c.bench_function("part/credentials guard", |m| {
        m.iter(|| guards::credentials(Some(black_box(&before)), &after));
    });
    c.bench_function("part/what changed", |m| {
        m.iter(|| changes(black_box(&before), &after).to_string());
    });
    c.bench_function("part/diff for people", |m| {
        m.iter(|| text_diff(black_box(&before), &after));
    });
    c.bench_function("part/snapshot text", |m| {
        m.iter(|| black_box(&before).to_text())
    });
    c.bench_function("part/check, which is the tool's own work", |m| {
        m.iter(|| validate(black_box(&after), Catalog::embedded()));
    });
    c.bench_function("part/secrets hidden in the whole document", |m| {
        m.iter_batched(
            || before.to_value(),
            |value| redactor.value(value),
            BatchSize::SmallInput,
        );
    });
}

criterion_group!(benches, measure);
criterion_main!(benches);
