use super::super::subject::Types;
use super::*;
use crate::catalog::Catalog;
use serde_json::json;

fn node(name: &str, node_type: &str, version: f64, parameters: Value) -> Value {
    json!({"name": name, "type": format!("n8n-nodes-base.{node_type}"), "typeVersion": version, "parameters": parameters})
}

/// With main connections from each to those named.
fn document(nodes: Vec<Value>, connections: &[(String, Vec<String>)]) -> Value {
    let to = |names: &[String]| {
        let links: Vec<Value> = names
            .iter()
            .map(|name| json!({"node": name, "type": "main", "index": 0}))
            .collect();
        json!({"main": [links]})
    };
    let connections: Map<String, Value> = connections
        .iter()
        .map(|(from, names)| (from.clone(), to(names)))
        .collect();
    json!({"nodes": nodes, "connections": connections})
}

fn with<T>(document: &Value, look: impl FnOnce(&Made) -> T) -> T {
    let catalog = Catalog::embedded();
    let types = Types::of(document, catalog);
    let subject = Subject::of(document, catalog, &types);
    look(&Made::of(&subject))
}

fn told(fields: &Known) -> Option<String> {
    let fields = fields.as_ref()?;
    Some(fields.iter().cloned().collect::<Vec<_>>().join(","))
}

fn named(layer: usize, width: usize) -> Vec<String> {
    (0..width).map(|at| format!("{layer}-{at}")).collect()
}

fn layers(deep: usize, width: usize) -> Value {
    let mut nodes = vec![node("Start", "manualTrigger", 1.0, json!({}))];
    let mut connections = vec![("Start".to_owned(), named(0, width))];
    for layer in 0..deep {
        for name in named(layer, width) {
            nodes.push(node(&name, "noOp", 1.0, json!({})));
            connections.push((name, named(layer + 1, width)));
        }
    }
    document(nodes, &connections)
}

/// As many ways lead through them as no machine could go one by one.
#[test]
fn layers_of_nodes_are_gone_through_once() {
    let last = |made: &Made| told(&made.given(made.subject.nodes.len() - 1));
    assert_eq!(with(&layers(60, 3), last).as_deref(), Some(""));
}

#[test]
fn a_row_of_thousands_of_nodes_is_no_matter_of_the_stack() {
    let row = layers(20_000, 1);
    let small = std::thread::Builder::new().stack_size(512 * 1024);
    let last = |made: &Made| told(&made.given(made.subject.nodes.len() - 1));
    let read = small.spawn(move || with(&row, last)).unwrap();
    assert_eq!(read.join().unwrap().as_deref(), Some(""));
}

#[test]
fn a_circle_of_nodes_that_hand_on_says_nothing() {
    let nodes = vec![
        node("Start", "manualTrigger", 1.0, json!({})),
        node("A", "noOp", 1.0, json!({})),
        node("B", "noOp", 1.0, json!({})),
    ];
    let to = |from: &str, name: &str| (from.to_owned(), vec![name.to_owned()]);
    let circle = document(nodes, &[to("Start", "A"), to("A", "B"), to("B", "A")]);
    let known = with(&circle, |made| [0, 1, 2].map(|at| told(&made.given(at))));
    assert_eq!(known, [Some(String::new()), None, None]);
}

#[test]
fn code_is_read_once_for_all_that_read_of_it() {
    let code = node(
        "C",
        "code",
        2.0,
        json!({"jsCode": "return [{json: {a: $json.b}}];"}),
    );
    with(&document(vec![code], &[]), |made| {
        let script = || made.script(&made.subject.nodes[0]).unwrap();
        let first = script();
        assert_eq!(told(&made.given(0)).as_deref(), Some("a"));
        assert!(Rc::ptr_eq(&first, &script()));
    });
}

#[test]
fn an_item_of_more_fields_than_anybody_writes_is_not_known() {
    let fields = |count: usize| {
        let values: Vec<Value> = (0..count)
            .map(|at| json!({"name": format!("f{at}"), "value": "1", "type": "string"}))
            .collect();
        let set = json!({"assignments": {"assignments": values}, "includeOtherFields": false, "options": {}});
        let document = document(vec![node("S", "set", 3.4, set)], &[]);
        with(&document, |made| made.given(0).map(|fields| fields.len()))
    };
    assert_eq!(fields(300), Some(300));
    assert_eq!(fields(301), None);
}
