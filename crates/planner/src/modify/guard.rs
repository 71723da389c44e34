//! What a reader of a clause must not do, whatever it read; what it did in spite of that is taken back.

use super::{branch, condition, only, place, slot, wire, words};
use crate::account::all_texts;
use crate::chart::{Item, chart};
use crate::compile::existing::Patch;
use crate::cover;
use agentctl_n8n::{Node, Workflow};
use std::ops::Range;

/// Whether something is said to stand "instead of" a channel or an address, and what holds that one holds it still.
fn keeps_the_former(before: &Workflow, after: &Workflow, clause: &str, language: &str) -> bool {
    let former = |place: Range<usize>| {
        let rest = clause.get(place.end..)?.trim_start();
        let word = rest.split_whitespace().next()?;
        let word = word.trim_matches(|c: char| ".,;:!?\"'()".contains(c));
        let is_place = word.starts_with('#') || word.contains('@') || word.contains("://");
        is_place.then(|| word.to_lowercase())
    };
    let holds = |node: &Node, value: &str| {
        let held = all_texts(node);
        held.iter().any(|held| held.to_lowercase() == value)
    };
    let places = words::places(clause, language, "instead");
    places.into_iter().filter_map(former).any(|value| {
        let mut stood = before.nodes.iter().filter(|node| holds(node, &value));
        let still = |node: &Node| {
            let now = after.node_by_name(node.name());
            now.is_some_and(|now| holds(now, &value))
        };
        stood.next().is_some_and(still) && stood.all(still)
    })
}

/// Whether a reader took more than was said: where the flow begins goes, though the clause does not name it by its whole name, a
/// pronoun was written as a value, or a value stands where its kind never does.
fn overreaches(before: &Workflow, after: &Workflow, clause: &str, language: &str) -> bool {
    let leads = |name: &str| {
        before
            .edges()
            .any(|(from, kind, _, _)| from == name && kind == "main")
    };
    let is_led_to = |name: &str| before.edges().any(|(_, _, _, link)| link.node == name);
    let lost_start = before.nodes.iter().map(Node::name).any(|name| {
        let begins = leads(name) && !is_led_to(name);
        begins && after.node_by_name(name).is_none() && !wire::names(before, clause, name)
    });
    // "Remove the branch for small orders" means no step, where others would hang free.
    let gone = |node: &&Node| after.node(&node.id()).is_none();
    let nameless = |node: &Node| !wire::names(before, clause, node.name());
    let frees = before.nodes.iter().filter(gone).any(nameless)
        && after.nodes.len() < before.nodes.len()
        && !wire::loose(before, after).is_empty();
    let known: Vec<&str> = before.nodes.iter().flat_map(all_texts).collect();
    let mut texts = after.nodes.iter().flat_map(all_texts);
    lost_start
        || frees
        || names_as_text(before, after, clause, language)
        || slot::misplaced(before, after)
        || compares_nothing(before, after)
        || texts.any(|text| !known.contains(&text) && words::is_all(text, language, "pronoun"))
}

/// Whether a text of a node became the bare name of a service that the clause does not give word for word: "send a message on Slack" says
/// where to.
fn names_as_text(before: &Workflow, after: &Workflow, clause: &str, language: &str) -> bool {
    let quoted: Vec<String> = { chart(clause, language).items.into_iter() }
        .filter(Item::literal)
        .filter_map(|item| clause.get(item.from..item.to).map(str::to_owned))
        .collect();
    let is_service = |text: &str| {
        let items = chart(text, language).items;
        let [one] = items.as_slice() else {
            return false;
        };
        one.service().is_some() && !quoted.iter().any(|quoted| quoted.contains(text))
    };
    after.nodes.iter().any(|node| {
        let was = before.node(&node.id()).and_then(|was| was.parameters());
        let (Some(was), Some(now)) = (was, node.parameters()) else {
            return false;
        };
        now.iter().any(|(key, value)| {
            was.get(key) != Some(value) && value.as_str().is_some_and(is_service)
        })
    })
}

/// Whether a new condition compares nothing: no field was read, and what stands for one is a text.
fn compares_nothing(before: &Workflow, after: &Workflow) -> bool {
    let new = after.nodes.iter();
    let new = new.filter(|node| before.node(&node.id()).is_none());
    let conditions = new.filter_map(|node| {
        let all = node.parameters()?.get("conditions")?.get("conditions")?;
        all.as_array()
    });
    let left = |condition: &serde_json::Value| {
        let left = condition.get("leftValue").and_then(|left| left.as_str());
        left.is_some_and(str::is_empty)
    };
    conditions.flatten().any(left)
}

/// Whether new steps take every item, where the clause says which ones.
fn is_unsorted(before: &Workflow, after: &Workflow, clause: &str, language: &str) -> bool {
    let clause = wire::without_names(before, clause);
    let says = only::is_conditional(&clause, language) || branch::tells_size(&clause, language);
    let is_new = |node: &&Node| before.node(&node.id()).is_none();
    let sorts = |node: &Node| {
        let short = agentctl_n8n::short_type(node.node_type());
        ["if", "filter", "switch"].contains(&short)
    };
    let new: Vec<&Node> = after.nodes.iter().filter(is_new).collect();
    let behind = |node: &&Node| {
        let mut into = after
            .edges()
            .filter(|(_, _, _, link)| link.node == node.name());
        into.any(|(from, ..)| after.node_by_name(from).is_some_and(sorts))
    };
    let told = new.iter().any(|node| sorts(node) || behind(node));
    // "If it is over 5000, mail X too": that is no mail to X in any case.
    let conditions = |workflow: &Workflow| -> Vec<serde_json::Value> {
        let nodes = workflow
            .nodes
            .iter()
            .filter_map(|n| n.parameters()?.get("conditions"));
        nodes.cloned().collect()
    };
    let condition = clause
        .split_once(", ")
        .filter(|_| words::begins(&clause, language, "if"));
    let compared = condition.is_some_and(|(condition, _)| {
        let signs = words::places(condition, language, "if");
        let end = signs.iter().map(|sign| sign.end).min().unwrap_or_default();
        let asked = condition.get(end..).unwrap_or_default();
        condition::read_condition(asked).is_some()
            && place::event(before, asked, language).is_none()
    });
    (says && !new.is_empty() && !told)
        || (compared && !told && conditions(before) == conditions(after))
}

/// Lets a reader try. What it did counts only when everything that the clause names is in it; otherwise it is taken back.
pub(super) fn attempt<'a>(
    read: &dyn Fn(&mut Patch<'a>) -> bool,
    patch: &mut Patch<'a>,
    clause: &str,
    language: &str,
) -> bool {
    let mut trial = patch.clone();
    if !read(&mut trial) || trial.workflow() == patch.workflow() {
        return false;
    }
    if is_unsorted(patch.workflow(), trial.workflow(), clause, language) {
        return false;
    }
    if overreaches(patch.workflow(), trial.workflow(), clause, language) {
        return false;
    }
    // "To #big, not #sales" changes what goes to #sales, and is no step beside it.
    if keeps_the_former(patch.workflow(), trial.workflow(), clause, language) {
        return false;
    }
    // "Also" puts nothing in the place of what is there.
    if slot::adds(clause, language) && slot::overwrites(patch.workflow(), trial.workflow()) {
        return false;
    }
    let said = trial.notes().get(patch.notes().len()..).unwrap_or_default();
    let lost = cover::lost(clause, patch.workflow(), trial.workflow());
    let told = |thing: &cover::Unused| said.iter().any(|note| note.contains(&thing.said));
    if !lost.iter().all(told) {
        return false;
    }
    *patch = trial;
    true
}
