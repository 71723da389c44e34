//! What a check costs per node: flat from 10 to 10,000 nodes. `cargo bench --bench validate`

use agentctl_n8n::{catalog::Catalog, validate};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use serde_json::{Map, Value, json};

/// A chain of ordinary nodes behind a webhook: every kind of parameter, references backwards, some mistakes.
fn workflow(nodes: usize) -> Value {
    let kinds: [(&str, f64, Value); 6] = [
        (
            "n8n-nodes-base.set",
            3.4,
            json!({"assignments": {"assignments": [{"id": "1", "name": "a", "value": "={{ $json.body.a }}", "type": "string"}]}, "options": {}}),
        ),
        (
            "n8n-nodes-base.if",
            2.2,
            json!({"conditions": {"options": {"caseSensitive": true, "leftValue": "", "typeValidation": "strict", "version": 2}, "combinator": "and", "conditions": [{"id": "1", "leftValue": "={{ $json.a }}", "rightValue": "b", "operator": {"type": "string", "operation": "equals"}}]}, "options": {}}),
        ),
        (
            "n8n-nodes-base.httpRequest",
            4.2,
            json!({"url": "=https://example.com/{{ $json.a }}", "sendQuery": true, "queryParameters": {"parameters": [{"name": "q", "value": "={{ $('Start').item.json.body.q }}"}]}, "options": {}}),
        ),
        (
            "n8n-nodes-base.googleSheets",
            4.5,
            json!({"operation": "append", "documentId": {"__rl": true, "mode": "id", "value": "abcdefghij"}, "sheetName": {"__rl": true, "mode": "list", "value": ""}, "columns": {"mappingMode": "autoMapInputData", "value": {}, "schema": [], "matchingColumns": []}, "options": {}}),
        ),
        (
            "n8n-nodes-base.code",
            2.0,
            json!({"jsCode": "return $input.all().map(item => ({ json: { ...item.json, seen: true } }));"}),
        ),
        (
            "n8n-nodes-base.slack",
            2.3,
            json!({"select": "channel", "channelId": {"__rl": true, "mode": "name", "value": "#general"}, "text": "=Done: {{ $json.a }}", "otherOptions": {}}),
        ),
    ];
    let node = |i: usize, name: String, (kind, version, parameters): (&str, f64, Value)| json!({"id": format!("id-{i}"), "name": name, "type": kind, "typeVersion": version, "position": [i * 200, 0], "parameters": parameters});
    let hook = json!({"path": "start", "httpMethod": "POST", "options": {}});
    let mut list = vec![node(
        0,
        "Start".into(),
        ("n8n-nodes-base.webhook", 2.0, hook),
    )];
    let mut connections = Map::new();
    let mut before = "Start".to_owned();
    for (i, kind) in (1..nodes).zip(kinds.iter().cycle()) {
        let name = format!("Step {i}");
        list.push(node(i, name.clone(), kind.clone()));
        connections.insert(
            before,
            json!({"main": [[{"node": name, "type": "main", "index": 0}]]}),
        );
        before = name;
    }
    json!({"name": "bench", "nodes": list, "connections": connections})
}

fn per_node(c: &mut Criterion) {
    let catalog = Catalog::embedded();
    let mut group = c.benchmark_group("validate");
    group.sample_size(10);
    for nodes in [10, 100, 1_000, 10_000] {
        let document = workflow(nodes);
        group.throughput(Throughput::Elements(nodes as u64));
        group.bench_with_input(
            BenchmarkId::from_parameter(nodes),
            &document,
            |b, document| {
                b.iter(|| validate::validate_value(document, catalog));
            },
        );
    }
    group.finish();
}

criterion_group!(benches, per_node);
criterion_main!(benches);
