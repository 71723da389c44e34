//! Where a step stands, and what it is given: a reading that nobody reads, a message before what it tells of, something done that
//! only tells of the start, a call that sends nothing, a title that holds the whole item.

use super::finished::{Finished, all_texts, is_outside, mapping, parameters, reads, text};
use crate::clause::Intro;
use agentctl_n8n::{Node, short_type};
use serde_json::Value;

/// Methods that send something along.
const SENDS: &[&str] = &["POST", "PUT", "PATCH"];
/// Parameters that hold a line, whatever the service calls it.
const LINES: &[&str] = &["title", "subject", "name", "summary"];

/// Whether a node reads, nobody reads what it gives, and the workflow does more than that.
pub(super) fn is_read_by_nobody(finished: &Finished<'_>, node: &Node) -> bool {
    let connected = finished.before(node).next().is_some();
    let last = finished.behind(node).next().is_none();
    let waits = |n: &Node| {
        let mode = text(n, "responseMode");
        mode == "lastNode" || mode == "responseNode"
    };
    let more = finished.nodes().filter(|n| is_outside(n)).count() > 1;
    reads(node) && is_outside(node) && connected && last && more && !finished.nodes().any(waits)
}

/// Whether a node tells people something before what it would tell of is read.
pub(super) fn tells_before_it_reads(finished: &Finished<'_>, node: &Node) -> bool {
    let blind = finished
        .source(node)
        .is_some_and(|n| finished.brings_nothing(n));
    if !is_outside(node) || reads(node) || short_type(node.node_type()) == "httpRequest" || !blind {
        return false;
    }
    let said = finished.part(node);
    let fixed = said.is_some_and(|part| {
        let quoted = |i: &crate::chart::Item| i.shape() == Some(crate::spot::Kind::Quote);
        part.chart.items.iter().any(quoted)
    });
    let later = finished.reached([node], |_, _| true);
    let read = |n: &Node| reads(n) && later.contains(&n.name());
    !fixed && finished.nodes().any(read)
}

/// Whether a node does something outside, and the part of the request that it was made of only tells what starts the workflow.
pub(super) fn acts_on_its_start(finished: &Finished<'_>, node: &Node) -> bool {
    let whole = finished.whole();
    let Some(said) = finished
        .said(node)
        .filter(|_| is_outside(node) && !reads(node))
    else {
        return false;
    };
    let first = whole.clauses.iter().position(|c| c.verb.is_some());
    let Some(first) = first.and_then(|at| whole.clauses.get(at)) else {
        return false;
    };
    let words = finished.words_of(first);
    let tells = first.intro == Intro::When && first.verb.is_some();
    let also = |n: &&Node| short_type(n.node_type()).ends_with("Trigger");
    let starts = finished
        .nodes()
        .filter(also)
        .any(|n| !finished.brings_nothing(n));
    tells && starts && !words.is_empty() && words.contains(said)
}

/// Whether a call that was to send something sends nothing.
pub(super) fn sends_nothing(finished: &Finished<'_>, node: &Node) -> bool {
    let calls = short_type(node.node_type()) == "httpRequest";
    let sends = SENDS.contains(&text(node, "method"));
    let holds = parameters(node).get("sendBody") == Some(&Value::Bool(true));
    if !calls || !sends || holds {
        return false;
    }
    let Some(part) = finished.part(node) else {
        return false;
    };
    // "call … with POST" says how, and not what.
    let method = |p: &crate::clause::Phrase| {
        let head = p.head(&part.chart).map(|item| item.text.to_uppercase());
        head.is_some_and(|head| head == text(node, "method"))
    };
    // "send it to https://…", "POST the order to …": what is sent stands before the address, or behind "with".
    let given = |p: &crate::clause::Phrase| {
        let names = p.head.is_some() || p.pronoun.is_some();
        names && (p.prep.is_empty() || p.prep == "with") && p.names.is_empty() && !method(p)
    };
    part.clauses.iter().any(|c| c.after.iter().any(given))
}

/// Whether a call sends the item of a file that was just fetched, and not the file.
pub(super) fn sends_no_file(finished: &Finished<'_>, node: &Node) -> bool {
    let calls = short_type(node.node_type()) == "httpRequest";
    let whole = all_texts(node)
        .iter()
        .any(|t| t.contains("JSON.stringify($json)"));
    let file = finished
        .source(node)
        .is_some_and(|n| text(n, "operation") == "download");
    calls && whole && file
}

/// Whether a test stands last of all: nothing is done, or left, by what it says.
pub(super) fn tests_for_nothing(finished: &Finished<'_>, node: &Node) -> bool {
    let tests = matches!(short_type(node.node_type()), "if" | "filter" | "switch");
    let waits = |n: &Node| text(n, "responseMode") == "lastNode";
    tests && finished.behind(node).next().is_none() && !finished.nodes().any(waits)
}

/// Whether an address was said with a part to be filled in, and nothing fills it.
pub(super) fn leaves_a_part_open(finished: &Finished<'_>, node: &Node) -> bool {
    let said = finished.said(node).unwrap_or_default();
    let parts = said
        .split('{')
        .skip(1)
        .filter_map(|rest| rest.split_once('}'));
    let mut parts = parts
        .map(|(name, _)| name)
        .filter(|name| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_'));
    let url = text(node, "url");
    let bare = !url.starts_with('=') || !url.contains("{{");
    short_type(node.node_type()) == "httpRequest"
        && said.contains("://")
        && parts.next().is_some()
        && bare
}

/// Whether what is one line holds the whole item, and the request says what stands there.
pub(super) fn is_a_whole_item(finished: &Finished<'_>, node: &Node) -> bool {
    let said = |part: super::finished::Part| {
        let content = |p: &crate::clause::Phrase| {
            let kind = p.kind(&part.chart);
            p.prep == "with" || p.prep.is_empty() && matches!(kind, "field" | "text")
        };
        part.clauses.iter().any(|c| c.after.iter().any(content))
    };
    holds_a_whole_item(node) && finished.part(node).is_some_and(said)
}

/// Whether what is one line of what a node makes holds the whole item.
pub(in crate::account) fn holds_a_whole_item(node: &Node) -> bool {
    fn holds(key: &str, value: &Value) -> bool {
        match value {
            Value::String(text) => {
                let key = key.to_lowercase();
                text.starts_with("={{ JSON.stringify(") && LINES.iter().any(|l| key.ends_with(l))
            }
            Value::Object(map) => map.iter().any(|(key, value)| holds(key, value)),
            _ => false,
        }
    }
    is_outside(node)
        && parameters(node)
            .iter()
            .any(|(key, value)| holds(key, value))
}

/// Whether a node writes down, column by column, what was just looked up by what came, in place of what came.
pub(super) fn writes_what_it_looked_up(finished: &Finished<'_>, node: &Node) -> bool {
    let adds = ["append", "create", "insert"];
    let operation = text(node, "operation").to_lowercase();
    if mapping(node) != "autoMapInputData" || !adds.iter().any(|a| operation.starts_with(a)) {
        return false;
    }
    let looked = |n: &Node| {
        let asks = all_texts(n).iter().any(|t| t.starts_with('='));
        reads(n) && is_outside(n) && asks
    };
    let brings = finished
        .nodes()
        .any(|n| short_type(n.node_type()).ends_with("Trigger") && !finished.brings_nothing(n));
    let hooked = finished
        .nodes()
        .any(|n| short_type(n.node_type()) == "webhook");
    (brings || hooked) && finished.source(node).is_some_and(looked)
}
