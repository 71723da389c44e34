//! The compiled-in catalog: counts, lookups, variants, operations, recipes, search.

use serde_json::{Map, Value, json};

use super::*;

fn node(node_type: &str, version: Option<f64>) -> std::sync::Arc<NodeDescription> {
    match Catalog::embedded().lookup(node_type, version) {
        Lookup::Known(description) => description,
        other => panic!("{node_type} {version:?}: {other:?}"),
    }
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().expect("an object").clone()
}

fn names(list: &[&Property]) -> Vec<String> {
    list.iter().map(|p| p.name.clone()).collect()
}

#[test]
fn counts_are_those_of_the_published_packages() {
    let catalog = Catalog::embedded();
    let source = catalog.source();
    assert_eq!((source.types, source.type_versions), (565, 1001));
    assert_eq!(source.n8n_version.as_deref(), Some("2.39.4"));
    let mut plain = (0, 0);
    let mut tools = (0, 0);
    let mut hitl = (0, 0);
    for name in catalog.types() {
        let d = node(name, None);
        let count = match (&d.made_from, name.ends_with("HitlTool")) {
            (None, _) => &mut plain,
            (Some(_), false) => &mut tools,
            (Some(_), true) => &mut hitl,
        };
        count.0 += 1;
        count.1 += d.versions.len();
    }
    assert_eq!(plain, (565, 1001));
    assert_eq!((tools, hitl), ((268, 381), (10, 26)));
}

#[test]
fn every_pair_of_type_and_version_decodes() {
    let catalog = Catalog::embedded();
    for name in catalog.types() {
        for version in node(name, None).versions.clone() {
            let d = node(name, Some(version));
            assert_eq!((d.node_type.as_str(), d.version), (name, version));
            assert!(
                d.inputs != Ports::Dynamic && d.outputs != Ports::Dynamic,
                "{name} {version} has ports without a rule"
            );
            d.try_fill_defaults(&Map::new())
                .unwrap_or_else(|e| panic!("{name} {version}: {e}"));
        }
    }
}
