//! Webhooks and the nodes that answer for them: as n8n checks when a call comes in, and when it publishes.

use super::{
    report::Report,
    rules,
    subject::{NodeView, Subject},
};
use crate::{
    edit::EditOp,
    finding::{Confidence, Severity},
};
use serde_json::Value;
use std::collections::HashMap;

const RESPOND: &str = "n8n-nodes-base.respondToWebhook";
const WEBHOOK: &str = "n8n-nodes-base.webhook";
const WAIT: &str = "n8n-nodes-base.wait";
/// What a "Respond to Webhook" node can answer for.
const ANSWERED: [&str; 4] = [
    WEBHOOK,
    WAIT,
    "n8n-nodes-base.formTrigger",
    "@n8n/n8n-nodes-langchain.chatTrigger",
];

pub(super) fn check(subject: &Subject, report: &mut Report) {
    let responds: Vec<&NodeView> = all(subject, RESPOND).collect();
    let enabled = |n: &&&NodeView| !n.disabled;
    let answered = subject
        .main_before
        .reached(responds.iter().filter(enabled).map(|n| n.index));
    for hook in all(subject, WEBHOOK).filter(|n| !n.disabled) {
        let has_respond = answered.get(hook.index) == Some(&true);
        if mode(hook) == Some("responseNode") && !has_respond {
            missing(hook, report);
        }
    }
    unused(subject, &responds, report);
    whole_requests(subject, &responds, report);
    addresses(subject, report);
}

/// Right behind a webhook the incoming item is all of the request.
fn whole_requests(subject: &Subject, responds: &[&NodeView], report: &mut Report) {
    let message = "the caller gets back all of the request, with its headers; answer with what is meant, for example $json.body";
    let is_hook = |at: &usize| {
        let node = subject.nodes.get(*at);
        node.is_some_and(|node| node.node_type == WEBHOOK && !node.disabled)
    };
    let is_whole = |node: &&&NodeView| {
        let with = node.filled.get("respondWith").and_then(Value::as_str);
        matches!(with, Some("firstIncomingItem" | "allIncomingItems")) && !node.disabled
    };
    for node in responds.iter().filter(is_whole) {
        if subject.main_before.of_node(node.index).iter().any(is_hook) {
            let finding = rules::ANSWERS_WITH_HEADERS.at("/parameters/respondWith", message);
            report.node(node, finding);
        }
    }
    let gives_nothing = |node: &NodeView| {
        let data = node.filled.get("responseData").and_then(Value::as_str);
        matches!(data, Some("noData" | "firstEntryBinary"))
    };
    for hook in all(subject, WEBHOOK).filter(|hook| !hook.disabled) {
        let is_last = subject.leaving(hook.index).next().is_none();
        if mode(hook) == Some("lastNode") && is_last && !gives_nothing(hook) {
            report.node(
                hook,
                rules::ANSWERS_WITH_HEADERS.at("/parameters/responseMode", message),
            );
        }
    }
}

fn all<'s, 'a>(subject: &'s Subject<'a>, wanted: &str) -> impl Iterator<Item = &'s NodeView<'a>> {
    let known = subject.nodes.iter().filter(|n| n.description().is_some());
    known.filter(move |n| n.node_type == wanted)
}

fn mode<'n>(node: &'n NodeView) -> Option<&'n str> {
    node.filled.get("responseMode").and_then(Value::as_str)
}

fn version(node: &NodeView) -> f64 {
    node.description().map_or(0.0, |d| d.version)
}

fn set_mode(node: &NodeView, mode: &str) -> Vec<EditOp> {
    vec![EditOp::SetParameter {
        node: node.address(),
        pointer: "/responseMode".to_owned(),
        value: mode.into(),
    }]
}

fn missing(hook: &NodeView, report: &mut Report) {
    let message = "answers by a \"Respond to Webhook\" node, but none is behind it; add one or set responseMode to \"onReceived\" or \"lastNode\"";
    let draft = rules::RESPOND_NODE_MISSING.at("/parameters/responseMode", message);
    report.node(
        hook,
        draft.fix(
            Confidence::Likely,
            "answer with the last node's data",
            set_mode(hook, "lastNode"),
        ),
    );
}

/// A webhook node from version 2 fails when a node behind it answers that it does not wait for.
fn unused(subject: &Subject, responds: &[&NodeView], report: &mut Report) {
    let waiting_step = |n: &&NodeView| {
        let resume = n.filled.get("resume").and_then(Value::as_str);
        !n.disabled
            && resume.is_some_and(|r| ["webhook", "form"].contains(&r))
            && mode(n) == Some("responseNode")
    };
    let owned = all(subject, WAIT).filter(waiting_step).map(|n| n.index);
    let owned = subject.main_after.reached(owned);
    let anything = subject.nodes.iter();
    let anything =
        anything.filter(|n| ANSWERED.contains(&n.node_type) || n.description().is_none());
    let answerable = subject.main_after.reached(anything.map(|n| n.index));
    let mut behind: Vec<(&NodeView, Vec<bool>)> = Vec::new();
    let deaf = |n: &&NodeView| {
        !n.disabled && mode(n).is_some_and(|m| ["onReceived", "lastNode"].contains(&m))
    };
    if !responds.is_empty() {
        // A workflow has a handful of webhooks; a file with thousands is looked at as far as that costs nothing.
        const MOST: usize = 32;
        for hook in all(subject, WEBHOOK).filter(deaf).take(MOST) {
            behind.push((hook, subject.main_after.reached([hook.index])));
        }
    }
    for node in responds.iter().filter(|n| !n.disabled) {
        let is = |list: &[bool]| list.get(node.index) == Some(&true);
        if !is(&answerable) {
            without_webhook(node, report);
        }
        if is(&owned) {
            continue;
        }
        let Some((hook, _)) = behind.iter().find(|(_, reached)| is(reached)) else {
            continue;
        };
        let name = hook.name.unwrap_or_default();
        let message = format!(
            "the webhook {name:?} before it does not wait for a \"Respond to Webhook\" node; set its responseMode to \"responseNode\""
        );
        let sure = if version(hook) >= 2.0 {
            Severity::Error
        } else {
            Severity::Warning
        };
        let draft = rules::RESPOND_NODE_UNUSED
            .at("/type", message)
            .at_most(sure);
        report.node(
            node,
            draft.fix(
                Confidence::Sure,
                format!("let {name:?} answer by this node"),
                set_mode(hook, "responseNode"),
            ),
        );
    }
}

fn without_webhook(node: &NodeView, report: &mut Report) {
    let message =
        "no webhook, form, chat or wait node comes before it, so there is nobody to answer";
    let sure = if version(node) >= 1.1 {
        Severity::Error
    } else {
        Severity::Warning
    };
    report.node(
        node,
        rules::RESPOND_WITHOUT_WEBHOOK
            .at("/type", message)
            .at_most(sure),
    );
}

/// The webhooks of a workflow that are switched on.
pub(super) fn hooks<'s, 'a>(subject: &'s Subject<'a>) -> impl Iterator<Item = &'s NodeView<'a>> {
    all(subject, WEBHOOK).filter(|n| !n.disabled)
}

/// The addresses that a webhook answers at: method and path, without slashes at its ends. A path with a part that each call fills in has
/// none of its own.
pub(super) fn claimed<'n>(hook: &'n NodeView) -> Vec<(&'n str, &'n str)> {
    let path = hook.filled.get("path").and_then(Value::as_str);
    let plain = |path: &&str| !path.is_empty() && !path.starts_with('=') && !path.contains(':');
    let Some(path) = path.filter(plain) else {
        return Vec::new();
    };
    let methods: Vec<&str> = match hook.filled.get("httpMethod") {
        Some(Value::String(method)) => vec![method],
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let path = path.trim_matches('/');
    methods.into_iter().map(|method| (method, path)).collect()
}

/// Two enabled webhooks of the workflow with one method and one path.
fn addresses(subject: &Subject, report: &mut Report) {
    let mut taken: HashMap<(String, &str), &NodeView> = HashMap::new();
    for hook in hooks(subject) {
        for (method, path) in claimed(hook) {
            let address = (method.to_owned(), path);
            let Some(other) = taken.get(&address) else {
                taken.insert(address, hook);
                continue;
            };
            if other.index == hook.index {
                continue;
            }
            let message = format!(
                "{method} {path:?} belongs to the webhook {:?} already; give it another path or method",
                other.name.unwrap_or_default()
            );
            report.node(
                hook,
                rules::WEBHOOK_PATH_CONFLICT
                    .at("/parameters/path", message)
                    .key(method),
            );
        }
    }
}
