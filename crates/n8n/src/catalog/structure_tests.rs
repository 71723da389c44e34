use super::super::Catalog;
use super::*;
use serde_json::json;

fn map(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

fn structural(node_type: &str, version: f64, params: Value) -> Vec<String> {
    let node = Catalog::embedded().lookup(node_type, Some(version)).known();
    let node = node.unwrap_or_else(|| panic!("{node_type} {version}"));
    let params = map(params);
    let paths = node.structural(&params);
    paths.into_iter().map(str::to_owned).collect()
}

#[test]
fn what_the_ports_follow_from_and_what_sorts_items_is_structure() {
    let about = |more: &[&str]| {
        let mut all: Vec<String> = ABOUT.iter().chain(more).map(|p| (*p).to_owned()).collect();
        all.sort();
        all
    };
    assert_eq!(
        structural("n8n-nodes-base.slack", 2.3, json!({})),
        about(&[])
    );
    assert_eq!(
        structural("n8n-nodes-base.if", 2.2, json!({})),
        about(&["conditions"])
    );
    assert_eq!(
        structural("n8n-nodes-base.merge", 3.1, json!({})),
        about(&["combineBy", "mode", "numberInputs"])
    );
    let store = "@n8n/n8n-nodes-langchain.vectorStoreInMemory";
    assert_eq!(
        structural(store, 1.3, json!({"mode": "insert"})),
        about(&["mode"])
    );
    // Only a store that is read may have a reranker.
    assert_eq!(
        structural(store, 1.3, json!({"mode": "load"})),
        about(&["mode", "useReranker"])
    );
    let switch = "n8n-nodes-base.switch";
    assert_eq!(
        structural(switch, 3.2, json!({"mode": "expression"})),
        about(&["mode", "numberOutputs"])
    );
    assert_eq!(
        structural(switch, 3.2, json!({})),
        about(&["mode", "options.fallbackOutput", "rules.values"])
    );
}

/// What shows only with another choice counts, too; what changes no port does not.
#[test]
fn every_choice_is_looked_at_for_what_can_change_the_ports() {
    let catalog = Catalog::embedded();
    let possible = |name: &str| {
        let known = catalog.lookup(name, None).known().unwrap();
        known.possible_port_parameters(&serde_json::Map::new())
    };
    let switch = possible("n8n-nodes-base.switch");
    assert!(switch.contains("mode") && switch.contains("numberOutputs"));
    assert!(!switch.contains("looseTypeValidation"));
    assert!(possible("n8n-nodes-base.slack").is_empty());
}

/// Each type whose ports are computed: other values of what is not read leave the ports as they are.
#[test]
fn what_is_not_read_changes_no_port() {
    let catalog = Catalog::embedded();
    let mut looked_at = 0;
    for node_type in catalog.types() {
        let Some(node) = catalog.lookup(node_type, None).known() else {
            continue;
        };
        if ![&node.inputs, &node.outputs]
            .iter()
            .any(|p| matches!(p, Ports::Rule(_)))
        {
            continue;
        }
        let before = map(json!({}));
        let paths = node.port_parameters(&before);
        for property in node.properties.iter() {
            if paths
                .iter()
                .any(|path| path.split('.').next() == Some(&property.name))
            {
                continue;
            }
            let mut values: Vec<Value> = property.options.iter().map(|o| o.value.clone()).collect();
            values.extend([json!(true), json!(false), json!(7)]);
            for value in values {
                let after = map(json!({property.name.as_str(): value}));
                assert_eq!(
                    node.inputs_for(&before),
                    node.inputs_for(&after),
                    "{node_type} {after:?}"
                );
                assert_eq!(
                    node.outputs_for(&before, &Map::new()),
                    node.outputs_for(&after, &Map::new()),
                    "{node_type} {after:?}"
                );
                looked_at += 1;
            }
        }
    }
    assert!(looked_at > 1000, "{looked_at}");
}

#[test]
fn parameters_part_at_paths() {
    let params = map(json!({
        "mode": "rules", "text": "hi",
        "options": {"fallbackOutput": "extra", "ignoreCase": true}, "rules": {"values": [1]},
    }));
    let paths = BTreeSet::from([
        "mode",
        "options.fallbackOutput",
        "rules.values",
        "options.none",
        "mode.deep",
    ]);
    assert_eq!(
        Value::Object(at(&params, &paths)),
        json!({"mode": "rules", "options": {"fallbackOutput": "extra"}, "rules": {"values": [1]}})
    );
    assert_eq!(
        Value::Object(elsewhere(&params, &paths)),
        json!({"text": "hi", "options": {"ignoreCase": true}})
    );
}
