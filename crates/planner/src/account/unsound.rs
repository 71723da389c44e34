//! What a finished workflow cannot do, whatever its words are: read a field that no node gives, delete something that nobody
//! named, change a record without saying which, look for something without saying by what, write what was never read. It is held
//! against itself and against what the catalog knows of its nodes; the part of the request that such a node was made of is not built.
//! Then each clause of the request is looked for in what was made of it: where it stands, what it tests, what it says word for word.

mod finished;
mod hand;
mod placed;
mod record;
#[cfg(test)]
mod said_tests;
mod sought;
mod tested;
#[cfg(test)]
mod unsound_tests;
mod verbatim;
mod ways;

use super::frames;
use crate::compile::Compiled;
use crate::modify;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::validate::validate;
use agentctl_n8n::{Node, short_type};
pub(super) use finished::Finished;
pub(crate) use finished::all_texts;
use finished::{destroys, values};
pub(super) use placed::holds_a_whole_item;
use serde_json::Value;

/// Findings of what cannot be meant: a field that the node before cannot give, a test whose answer is always the same.
const NEVER_MEANT: &[&str] = &["agentctl/field-not-there", "agentctl/constant-condition"];

/// What makes a node one that cannot be right.
type Check = fn(&Finished<'_>, &Node) -> bool;

const CHECKS: &[Check] = &[
    destroys_anything,
    destroys_by_a_guess,
    is_sent_astray,
    says_nothing,
    record::makes_its_own_start,
    record::changes_nothing,
    record::changes_no_record,
    record::matches_by_nothing,
    record::gives_back_what_it_read,
    record::writes_twice,
    record::destroys_unasked,
    record::changes_by_an_answer,
    hand::tells_of_nothing,
    hand::is_not_used,
    hand::reads_a_word_for_a_field,
    hand::takes_a_figure_for_a_yes,
    sought::looks_for_nothing,
    sought::hears_another_event,
    placed::is_read_by_nobody,
    placed::tells_before_it_reads,
    placed::acts_on_its_start,
    placed::sends_nothing,
    placed::sends_no_file,
    placed::tests_for_nothing,
    placed::leaves_a_part_open,
    placed::is_a_whole_item,
    placed::writes_what_it_looked_up,
    tested::compares_another_field,
    ways::tests_no_error,
];

/// The parts of the request of which such nodes were made; where none is known, the finding or the node.
pub(super) fn unsound(request: &str, language: &str, built: &Compiled) -> Vec<String> {
    let finished = Finished::of(request, language, built);
    let mut parts: Vec<String> = Vec::new();
    let mut add = |part: String| {
        if !parts.contains(&part) {
            parts.push(part);
        }
    };
    for finding in validate(&built.workflow, Catalog::embedded()) {
        if !NEVER_MEANT.contains(&finding.code.as_str()) {
            continue;
        }
        let name = finding.node.as_deref();
        let reader = name.and_then(|name| built.workflow.node_by_name(name));
        let said = reader.and_then(|node| finished.said(node));
        add(said.map_or(finding.message, str::to_owned));
    }
    for node in finished.nodes() {
        if CHECKS.iter().any(|check| check(&finished, node)) {
            let said = finished.said(node);
            add(said.unwrap_or_else(|| node.name()).to_owned());
        }
    }
    let clauses = 0..finished.whole().clauses.len();
    for at in clauses.filter(|_| !built.made.is_empty()) {
        let checks = ways::SAID.iter().chain(tested::SAID).chain(verbatim::SAID);
        if checks.into_iter().any(|check| check(&finished, at)) {
            let clause = finished.whole().clauses.get(at);
            let said = clause.map(|c| finished.words_of(c)).unwrap_or_default();
            if !said.is_empty() {
                add(said.to_owned());
            }
        }
    }
    parts
}

/// Whether a node destroys something and does not know what.
fn destroys_anything(_: &Finished<'_>, node: &Node) -> bool {
    destroys(node) && values(node).filter_map(Value::as_str).any(modify::is_open)
}

/// Whether a node destroys what its own service gave just before, and takes the id from a part of that: such records carry their id
/// themselves.
fn destroys_by_a_guess(finished: &Finished<'_>, node: &Node) -> bool {
    destroys(node)
        && values(node)
            .filter_map(|value| value.as_str().or_else(|| value.get("value")?.as_str()))
            .any(is_of_a_part)
        && finished
            .before(node)
            .any(|before| before.node_type() == node.node_type())
}

/// `={{ $json.PART.id }}`.
fn is_of_a_part(value: &str) -> bool {
    let path = value.strip_prefix("={{ $json.");
    let path = path.and_then(|path| path.strip_suffix(".id }}"));
    path.is_some_and(|part| !part.is_empty() && part.chars().all(char::is_alphanumeric))
}

/// Whether a node has an address of mail where a telephone number belongs.
fn is_sent_astray(_: &Finished<'_>, node: &Node) -> bool {
    let short = short_type(node.node_type());
    let mut parameters = node.parameters().into_iter().flatten();
    parameters.any(|(key, value)| modify::is_astray(short, key, value))
}

/// Whether what a node is to say or write was not said.
fn says_nothing(_: &Finished<'_>, node: &Node) -> bool {
    let mut parameters = node.parameters().into_iter().flatten();
    parameters.any(|(key, value)| modify::is_unsaid(key, value))
}
