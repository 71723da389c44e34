//! Any JSON document as a workflow: reading, checking, mending, drawing and laying it out neither panic nor lose a thing.
#![no_main]

use agentctl_n8n::{
    Finding, Severity, Workflow, autofix, catalog::Catalog, diff::changes, hash::graph_hash,
    layout::layout, tree::tree, validate,
};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|data: &[u8]| {
    let Ok(document) = serde_json::from_slice::<Value>(data) else {
        return;
    };
    let catalog = Catalog::embedded();
    let found = validate::validate_value(&document, catalog);
    let Ok(workflow) = Workflow::from_value(document) else {
        assert!(!found.is_empty(), "no workflow, and nothing found");
        return;
    };
    let again = Workflow::from_value(workflow.to_value()).expect("what was read is read again");
    assert_eq!(again, workflow);
    assert_eq!(graph_hash(&again), graph_hash(&workflow));
    assert!(changes(&workflow, &again).is_empty());
    assert_eq!(
        validate::validate(&workflow, catalog),
        validate::validate(&again, catalog)
    );
    let _ = tree(&workflow, Some(catalog));
    let mut tidy = workflow.clone();
    layout(&mut tidy);
    assert_eq!(
        graph_hash(&tidy),
        graph_hash(&workflow),
        "tidying changed the graph"
    );
    let errors = |found: &[Finding]| {
        found
            .iter()
            .filter(|f| f.severity == Severity::Error)
            .count()
    };
    let mut number = 0;
    let rules = autofix::Rules {
        check: &|w| validate::validate(w, catalog),
        wanted: &|_| true,
        allowed: &|_| true,
    };
    let mended = autofix::fix(&workflow, &rules, &mut || {
        number += 1;
        format!("new-{number}")
    });
    // Where the shape of the document is wrong, names, ids and connection ends are looked at only once it is mended.
    let shapeless = found.iter().any(|f| f.code == "n8n/structure");
    assert!(
        shapeless || errors(&mended.left) <= errors(&found),
        "mending made it worse: {:#?}",
        mended.left
    );
});
