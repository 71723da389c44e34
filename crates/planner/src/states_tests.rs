//! The table of states is true of the catalog.

use super::*;
use agentctl_n8n::catalog::{Catalog, Property, PropertyKind};

/// Each row is whole, and what it sets is a parameter of one of its node's reads.
#[test]
fn each_row_names_what_its_node_has() {
    let catalog = Catalog::embedded();
    for row in rows() {
        let row = row.unwrap();
        for short in row.nodes.split('|') {
            let name = format!("n8n-nodes-base.{short}");
            let node = catalog.lookup(&name, None).known();
            let node = node.unwrap_or_else(|| panic!("{name} is no node"));
            if matches!(row.shown, Shown::Test(..) | Shown::Past) {
                continue;
            }
            let (outer, inner) = row.place.split_once('.').unwrap();
            let holds = |p: &Property| {
                let inside = || p.children().iter().filter(|c| c.name == inner);
                p.kind == PropertyKind::Collection && inside().any(|child| takes(child, &row.shown))
            };
            let found = node.properties.named(outer).any(|(_, p)| holds(p));
            assert!(found, "{name}: {} takes no {:?}", row.place, row.shown);
        }
    }
}

/// Whether a parameter takes what is put there: one of its choices, or anything where it has none.
fn takes(property: &Property, shown: &Shown) -> bool {
    let chosen = |value: &Value| {
        property.options.is_empty() || property.options.iter().any(|o| o.value == *value)
    };
    match shown {
        Shown::Set(Value::Array(values)) => values.iter().all(chosen),
        Shown::Set(value) => chosen(value),
        _ => true,
    }
}
