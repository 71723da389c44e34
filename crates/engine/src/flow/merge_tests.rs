//! The merge rules, each by itself and as properties over any state and any patch.

use super::{Flow, Known, PatchRefusal, RunLog, check_patch, load, merge, patch_of};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn flow() -> Flow {
    let text = "\
name: t
stages: [one]
blocked: stuck
fields:
  object: {kind: object, writers: [a], fields: {nodes: {kind: replace}, log: {kind: append}}, schema: {type: object, properties: {n: {type: integer}}}}
  append: {kind: append, writers: [a, b], schema: {type: array, items: {type: [string, integer, object]}}}
  replace: {kind: replace, writers: [b]}
  scalar: {kind: scalar, writers: [a]}
  memory: {kind: object, writers: [a], fields: {\"*\": {kind: append}}}
steps:
  - {id: s, set: {own: '1'}}
"
    .replace("steps:\n  - {id: s, set: {own: '1'}}", "  own: {kind: scalar, writers: [program]}\nsteps:\n  - {id: s, set: {own: '1'}}");
    load(&text, "f", Known::default()).unwrap()
}

fn map(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn taken(output: &Value) -> Map<String, Value> {
    let flow = flow();
    patch_of(&flow, &RunLog::new(&flow), "s", output).unwrap()
}

fn merged(state: Value, patch: Value) -> Value {
    let mut state = map(state);
    merge(&flow(), &mut state, &map(patch));
    Value::Object(state)
}

#[test]
fn each_kind_has_its_rule() {
    assert_eq!(
        merged(
            json!({"object": {"a": {"x": 1}, "b": 2}}),
            json!({"object": {"a": {"y": 2}, "c": 3}})
        ),
        json!({"object": {"a": {"y": 2}, "b": 2, "c": 3}})
    );
    assert_eq!(
        merged(json!({"append": [1]}), json!({"append": [2, 3]})),
        json!({"append": [1, 2, 3]})
    );
    assert_eq!(
        merged(json!({"replace": [1, 2]}), json!({"replace": []})),
        json!({"replace": []})
    );
    assert_eq!(
        merged(json!({"scalar": 1}), json!({"scalar": null})),
        json!({"scalar": null})
    );
    assert_eq!(
        merged(
            json!({"object": {"nodes": [1], "log": [1]}}),
            json!({"object": {"nodes": [2], "log": [2]}})
        ),
        json!({"object": {"nodes": [2], "log": [1, 2]}})
    );
    assert_eq!(
        merged(json!({}), json!({"memory": {"any": ["x"]}})),
        json!({"memory": {"any": ["x"]}})
    );
    assert_eq!(
        merged(
            json!({"memory": {"any": ["x"]}}),
            json!({"memory": {"any": ["y"]}})
        ),
        json!({"memory": {"any": ["x", "y"]}})
    );
}

#[test]
fn what_an_agent_may_not_do_is_refused_by_rule() {
    let flow = flow();
    let rules = |agent: &str, patch: Value| -> Vec<(String, String)> {
        check_patch(&flow, agent, &Map::new(), &map(patch))
            .into_iter()
            .map(|PatchRefusal { field, rule, .. }| (field, rule))
            .collect()
    };
    let one = |field: &str, rule: &str| vec![(field.to_owned(), rule.to_owned())];
    assert_eq!(
        rules(
            "a",
            json!({"object": {"n": 1}, "append": ["x"], "scalar": "s"})
        ),
        vec![]
    );
    assert_eq!(rules("b", json!({"object": {}})), one("object", "owner"));
    assert_eq!(rules("a", json!({"own": 1})), one("own", "owner"));
    assert_eq!(
        rules("a", json!({"stage": "one"})),
        one("stage", "unknown-field")
    );
    assert_eq!(rules("a", json!({"new": 1})), one("new", "unknown-field"));
    assert_eq!(rules("a", json!({"append": "x"})), one("append", "kind"));
    assert_eq!(rules("a", json!({"append": null})), one("append", "kind"));
    assert_eq!(rules("b", json!({"replace": {}})), one("replace", "kind"));
    assert_eq!(
        rules("a", json!({"object": {"nodes": {}}})),
        one("object.nodes", "kind")
    );
    assert_eq!(
        rules("a", json!({"memory": {"any": "x"}})),
        one("memory.any", "kind")
    );
    assert_eq!(
        rules("a", json!({"object": {"n": "x"}})),
        one("object", "schema")
    );
    assert_eq!(
        rules("a", json!({"append": [true]})),
        one("append", "schema")
    );
}

#[test]
fn the_schema_is_that_of_the_field_after_the_merge() {
    let text = "name: t\nstages: [one]\nblocked: stuck\nfields:\n  f: {kind: object, writers: [a], schema: {required: [x]}}\nsteps:\n  - {id: g, gate: true, otherwise: {end: {outcome: failed, message: \"'m'\"}}}\n";
    let flow = load(text, "f", Known::default()).unwrap();
    let patch = map(json!({"f": {"y": 1}}));
    assert_eq!(check_patch(&flow, "a", &Map::new(), &patch).len(), 1);
    assert_eq!(
        check_patch(&flow, "a", &map(json!({"f": {"x": 1}})), &patch),
        vec![]
    );
}

#[test]
fn only_fields_of_the_state_become_a_patch() {
    let output = json!({"object": {}, "other": 1, "stage": "one"});
    assert_eq!(
        Value::Object(taken(&output)),
        json!({"object": {}, "stage": "one"})
    );
    assert_eq!(taken(&json!("text")), Map::new());
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-5i64..5).prop_map(Value::from),
        "[a-c]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("nodes|log|n|a|b", inner, 0..3)
                .prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}

fn any_patch() -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::btree_map(
        "object|append|replace|scalar|memory|own|other|stage",
        any_json(),
        0..5,
    )
    .prop_map(|m| m.into_iter().collect())
}

fn starts_with(all: Option<&Value>, first: Option<&Value>) -> bool {
    let empty = Vec::new();
    let list = |v: Option<&Value>| v.and_then(Value::as_array).unwrap_or(&empty).clone();
    list(all).starts_with(&list(first))
}

proptest! {
    /// Whatever patches come, checked or not: nothing appended is ever lost, no field comes up that the flow does not have.
    #[test]
    fn merging_never_loses_what_was_appended(patches in prop::collection::vec(any_patch(), 1..5)) {
        let flow = flow();
        let mut state = Map::new();
        for patch in patches {
            let before = state.clone();
            merge(&flow, &mut state, &patch);
            prop_assert!(starts_with(state.get("append"), before.get("append")));
            let log = |s: &Map<String, Value>| s.get("object").and_then(|o| o.get("log")).cloned();
            prop_assert!(starts_with(log(&state).as_ref(), log(&before).as_ref()));
            if let Some(Value::Object(memory)) = before.get("memory") {
                for (key, value) in memory {
                    prop_assert!(starts_with(state.get("memory").and_then(|m| m.get(key)), Some(value)));
                }
            }
            if let (Some(Value::Object(old)), Some(Value::Object(new))) = (before.get("object"), state.get("object")) {
                prop_assert!(old.keys().all(|key| new.contains_key(key)));
            }
            prop_assert!(state.keys().all(|key| flow.fields.contains_key(key)));
        }
    }

    /// A patch that is let pass touches only what its agent owns, and leaves every field of its kind and schema.
    #[test]
    fn a_patch_that_passes_keeps_owner_kind_and_schema(agent in "a|b|c", patch in any_patch()) {
        let flow = flow();
        let mut state = Map::new();
        if check_patch(&flow, &agent, &state, &patch).is_empty() {
            merge(&flow, &mut state, &patch);
            for (name, value) in &state {
                let spec = &flow.fields[name];
                prop_assert!(spec.writers.contains(&agent));
                if let Some(schema) = &spec.schema {
                    prop_assert_eq!(schema.faults(value), Vec::<String>::new());
                }
            }
            prop_assert!(patch.keys().all(|key| state.contains_key(key)));
        }
    }
}
