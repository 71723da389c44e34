//! Judging a workflow: `n8n/*` is what n8n itself enforces on save and publish, `agentctl/*` what a run would hit.
//! One file per family of rules. A rule reads the `Subject` and adds to the `Report`; it never changes the document, never
//! panics on a malformed one, and says nothing about what it cannot know.
//!
//! Severity: error means it will fail. A credential that is not set is a warning ("still to connect"): n8n refuses to publish
//! without it, but only the user can connect an account, so a finished draft always has some.

mod api;
mod binds;
pub(crate) mod conditions;
mod connections;
mod content;
mod credentials;
mod ends;
mod expressions;
mod field_reads;
mod field_type;
mod fields;
mod flow;
mod javascript;
mod js;
mod js_date;
mod leaves;
mod made;
mod options;
mod parameters;
mod path;
mod plain_path;
mod python;
mod reach;
mod references;
mod report;
mod returns;
mod rules;
mod schedule;
mod script;
mod structure;
mod subject;
mod template;
mod there;
mod trigger;
mod types;
mod webhook;
mod without_return;

use super::{catalog::Catalog, finding::Finding, workflow::Workflow};
pub use api::refused_by_api;
pub(crate) use expressions::{Language, PROGRAMS};
use javascript::JavaScript;
pub(crate) use javascript::{BODY_START, with_stack};
pub(crate) use js::{number_text, text_number};
pub(crate) use plain_path::is_plain_path;
use rayon::prelude::*;
use references::References;
use report::Report;
pub use rules::{Half, RULES, Rule, rule};
use serde_json::Value;
use subject::{MANY, NodeView, SHARE, Subject, Types};
pub use there::{HeldAddress, There};

/// Every finding about the workflow, sorted by node, place and code.
pub fn validate(workflow: &Workflow, catalog: &Catalog) -> Vec<Finding> {
    validate_value(&workflow.to_value(), catalog)
}

/// The same for any JSON document; one that is no workflow has `n8n/structure` findings.
pub fn validate_value(document: &Value, catalog: &Catalog) -> Vec<Finding> {
    let mut report = Report::default();
    structure::check(document, &mut report);
    api::check(document, &mut report);
    let types = Types::of(document, catalog);
    let subject = Subject::of(document, catalog, &types);
    if !subject.nodes.is_empty() || document.get("nodes").is_some_and(Value::is_array) {
        trigger::check(&subject, &mut report);
    }
    types::check(&subject, &mut report);
    let references = nodes(&subject, &mut report);
    references.judge(&subject, &mut report);
    webhook::check(&subject, &mut report);
    let ports = connections::ports(&subject);
    connections::check(&subject, &ports, &mut report);
    flow::check(&subject, &ports, &mut report);
    ends::check(&subject, &ports, &mut report);
    fields::check(&subject, &mut report);
    report.finish()
}

/// Judges every node by itself; with the nodes that they name, which are judged together.
fn nodes<'a>(subject: &'a Subject, report: &mut Report) -> References<'a> {
    let judged: Vec<&NodeView> = subject.judged().collect();
    if judged.len() < MANY {
        return share(subject, &judged, report);
    }
    let shares = judged.par_chunks(SHARE).map(|nodes| {
        let mut report = Report::default();
        let references = share(subject, nodes, &mut report);
        (report, references)
    });
    let mut references = References::default();
    for (found, named) in shares.collect::<Vec<_>>() {
        report.append(found);
        references.append(named);
    }
    references
}

fn share<'a>(subject: &'a Subject, nodes: &[&'a NodeView], report: &mut Report) -> References<'a> {
    let mut javascript = JavaScript::default();
    let mut references = References::default();
    for node in nodes {
        parameters::check(node, report);
        credentials::check(node, report);
        options::check(node, report);
        conditions::check(node, report);
        schedule::check(node, report);
        leaves::each(node, &mut |leaf| {
            content::check(node, &leaf, report);
            let (javascript, references) = (&mut javascript, &mut references);
            expressions::check(subject, node, &leaf, javascript, references, report);
        });
    }
    references
}

#[cfg(test)]
mod pages_tests;
#[cfg(test)]
mod validate_tests;
