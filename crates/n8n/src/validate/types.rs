//! `n8n/unknown-type`, `n8n/unknown-version`: the node is not in the catalog; and types that a default n8n does not load.

use super::{
    report::{Draft, Report},
    rules,
    subject::{Known, NodeView, Subject},
};
use crate::workflow::short_type;
use crate::{
    catalog::{Catalog, Lookup},
    edit::EditOp,
    finding::{Confidence, Severity},
};
use std::collections::HashMap;

/// n8n 2.x leaves these out unless NODES_EXCLUDE says otherwise.
const EXCLUDED: [&str; 2] = [
    "n8n-nodes-base.executeCommand",
    "n8n-nodes-base.localFileTrigger",
];
const SUGGESTIONS: usize = 3;

pub(super) fn check(subject: &Subject, report: &mut Report) {
    let mut suggested: HashMap<&str, Vec<String>> = HashMap::new();
    for node in subject.nodes.iter().filter(|n| !n.is_sticky()) {
        match &node.known {
            Known::Yes(_) => {}
            Known::UnknownType => {
                let similar = suggested
                    .entry(node.node_type)
                    .or_insert_with(|| similar(node.node_type, subject.catalog));
                unknown_type(node, similar, report);
            }
            Known::UnknownVersion(_) => unknown_version(node, subject.catalog, report),
        }
        if EXCLUDED.contains(&node.node_type) && !node.disabled {
            let message = format!(
                "a default n8n 2.x does not load {}; the server has to allow it (NODES_EXCLUDE)",
                node.node_type
            );
            report.node(node, rules::EXCLUDED_BY_DEFAULT.at("/type", message));
        }
    }
}

fn similar(node_type: &str, catalog: &Catalog) -> Vec<String> {
    let short = short_type(node_type);
    let hits = catalog.search(&words(short), SUGGESTIONS);
    hits.into_iter().map(|hit| hit.node_type).collect()
}

fn unknown_type(node: &NodeView, similar: &[String], report: &mut Report) {
    let hint = if similar.is_empty() {
        "look it up with `agentctl catalog search`".to_owned()
    } else {
        format!("similar: {}", similar.join(", "))
    };
    let message = format!("the node type {:?} is not known; {hint}", node.node_type);
    report.node(
        node,
        Draft::new("n8n/unknown-type", Severity::Error, "/type", message).key(node.node_type),
    );
}

/// `googleSheetsTrigger` → `google sheets trigger`
fn words(name: &str) -> String {
    let mut words = String::new();
    for c in name.chars() {
        if c.is_uppercase() {
            words.push(' ');
        }
        words.extend(c.to_lowercase());
    }
    words
}

fn unknown_version(node: &NodeView, catalog: &Catalog, report: &mut Report) {
    let written = node
        .raw
        .get("typeVersion")
        .map(ToString::to_string)
        .unwrap_or_default();
    let Lookup::UnknownVersion { known, default } = catalog.lookup(node.node_type, Some(f64::NAN))
    else {
        return;
    };
    let list: Vec<String> = known.iter().map(ToString::to_string).collect();
    // Where a type has one description for all versions, n8n's server runs the node with that. Its editor shows no such node, and what
    // the parameters mean in that version nobody knows.
    let message = format!(
        "{} has no version {written}; it has {}",
        node.node_type,
        list.join(", ")
    );
    let draft = Draft::new(
        "n8n/unknown-version",
        Severity::Error,
        "/typeVersion",
        message,
    )
    .key(written);
    let wanted = node
        .raw
        .get("typeVersion")
        .and_then(serde_json::Value::as_f64);
    let nearest = wanted.and_then(|wanted| {
        let below = known.iter().copied().filter(|v| *v <= wanted);
        below.reduce(f64::max)
    });
    let version = nearest.unwrap_or(default);
    report.node(
        node,
        draft.fix(
            Confidence::Likely,
            format!("use version {version}"),
            vec![EditOp::SetTypeVersion {
                node: node.address(),
                type_version: version,
            }],
        ),
    );
}
