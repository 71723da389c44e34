//! What the gateway adds to a call: the same calls through the door and straight to a backend in memory, with a journal and
//! snapshots in memory, so that no disk and no network is in the figures.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a measurement"
)]

#[expect(
    dead_code,
    unused_imports,
    reason = "the tests' fixture, of which a part is used"
)]
#[path = "../src/gateway/fixture/mod.rs"]
mod fixture;

use agentctl::backend::Backend;
use agentctl::n8n::edit::{self, EditOp};
use agentctl::n8n::{Workflow, WorkflowId};
use agentctl::policy::Policy;
use criterion::{Criterion, criterion_group, criterion_main};
use fixture::{Bench, MemoryBackend, chain};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;

const POLICY: &str = "
roles:
  builder: [get-workflow, update-workflow]
  qa: [get-workflow]
limits: {max_tool_calls: 1000000000, max_identical_calls: 1000000000}
";

fn bench() -> (Bench, Arc<MemoryBackend>) {
    let (mut bench, backend) = Bench::in_memory(Policy::load(POLICY, "policy.yaml").unwrap());
    bench.desk.kept = Some(BTreeMap::new());
    backend.put("w", workflow(), false);
    (bench, backend)
}

/// Twenty nodes with parameters of a usual size.
fn workflow() -> Workflow {
    let mut workflow = chain("w", 20);
    for (i, node) in workflow.nodes.iter_mut().enumerate() {
        node.set(
            "parameters",
            json!({
                "x": i, "method": "POST", "url": "={{ $('Node 0').item.json.url }}", "sendBody": true,
                "bodyParameters": {"parameters": [{"name": "id", "value": "={{ $json.id }}"}, {"name": "total", "value": "={{ $json.total }}"}]},
                "options": {"timeout": 10000},
            }),
        );
    }
    workflow
}

fn update(n: u64) -> String {
    json!({"workflow_id": "w", "ops": [{"op": "set_parameter", "node": "id-7", "pointer": "/x", "value": n}]}).to_string()
}

fn measure(c: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();

    let (mut b, _) = bench();
    c.bench_function("refused/not permitted", |m| {
        m.iter(|| {
            runtime
                .block_on(b.raw("qa", "update_workflow", &update(1)))
                .unwrap()
        });
    });

    let (mut b, _) = bench();
    let args = json!({"workflow_id": "w"}).to_string();
    c.bench_function("read/through the gateway", |m| {
        m.iter(|| {
            b.desk.events.clear();
            runtime
                .block_on(b.raw("builder", "get_workflow", &args))
                .unwrap()
        });
    });
    let (_, backend) = bench();
    let id = WorkflowId("w".into());
    c.bench_function("read/backend alone", |m| {
        m.iter(|| {
            runtime
                .block_on(backend.get(black_box(&id)))
                .unwrap()
                .workflow
                .to_value()
        });
    });

    let (mut b, _) = bench();
    runtime.block_on(b.ok("builder", "get_workflow", json!({"workflow_id": "w"})));
    let mut n = 0;
    c.bench_function("update/through the gateway", |m| {
        m.iter(|| {
            n += 1;
            b.desk.events.clear();
            let settled = runtime
                .block_on(b.raw("builder", "update_workflow", &update(n)))
                .unwrap();
            let agentctl::gateway::Settled::Done(result) = settled else {
                panic!()
            };
            assert_eq!(result.content["changed"], Value::Bool(true));
        });
    });
    // What has to be done whoever decides: read, edit, write, read back.
    let (_, backend) = bench();
    c.bench_function("update/backend alone", |m| {
        m.iter(|| {
            n += 1;
            let ops: Value = serde_json::from_str(&update(n)).unwrap();
            let ops: Vec<EditOp> = serde_json::from_value(ops["ops"].clone()).unwrap();
            runtime.block_on(async {
                let before = backend.get(&id).await.unwrap();
                let after = edit::apply(&before.workflow, &ops, &mut String::new).unwrap();
                backend.replace(&id, &after).await.unwrap();
                backend.get(&id).await.unwrap()
            })
        });
    });
}

criterion_group!(benches, measure);
criterion_main!(benches);
