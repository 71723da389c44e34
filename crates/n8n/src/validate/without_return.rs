//! Code that gives n8n nothing to make items of: nothing at all, a text, a number; in the mode for each item a list.

use super::{
    leaves::Leaf,
    made::CODE,
    report::Report,
    returns::{Given, Returns},
    rules,
    subject::NodeView,
};
use crate::finding::Severity;
use serde_json::Value;

const FUNCTION_ITEM: &str = "n8n-nodes-base.functionItem";
const RETURNING: [&str; 3] = [CODE, "n8n-nodes-base.function", FUNCTION_ITEM];

const NOTHING: &str = "the code returns nothing, and n8n takes no run of a Code node without items; end it with `return`";
const NO_ITEM: &str =
    "the code returns nothing, so no item comes out of the node; end it with `return`";
const ON_ONE_WAY: &str = "on one of its ways the code returns nothing, and the node fails there; return a list on each, if need be an empty one";
const A_LIST: &str = "in the mode \"Run Once for Each Item\" the code returns a list, and n8n takes one item: `return {json: {…}}`";
const A_LIST_OF_ONE: &str =
    "the code returns a list, and a Function Item node takes one item: `return item`";

/// JavaScript, by what it gives back.
pub(super) fn check(node: &NodeView, leaf: &Leaf, returns: &Returns, report: &mut Report) {
    if !RETURNING.contains(&node.node_type) {
        return;
    }
    let each = node.node_type == FUNCTION_ITEM || is_for_each(node);
    let mut given = returns.given.iter();
    let plain = given.clone().find_map(|given| match given {
        Given::Plain(what) => Some(what),
        _ => None,
    });
    if let Some(what) = plain {
        let message = format!(
            "the code returns {what}, of which n8n makes no item; return objects: `return [{{json: {{…}}}}]`"
        );
        return say(node, leaf, &message, true, report);
    }
    let is_list = |given: &Given| matches!(given, Given::Items(_) | Given::Input);
    if each && given.clone().any(is_list) {
        let message = match node.node_type {
            FUNCTION_ITEM => A_LIST_OF_ONE,
            _ => A_LIST,
        };
        return say(node, leaf, message, true, report);
    }
    let nothing = |given: &Given| *given == Given::Nothing;
    if !returns.falls_through && !given.clone().any(nothing) {
        return;
    }
    // In the mode for each item n8n goes on without the item.
    let drops = is_for_each(node);
    match (given.all(nothing), drops) {
        (true, true) => say(node, leaf, NO_ITEM, false, report),
        (true, false) => say(node, leaf, NOTHING, true, report),
        (false, true) => {}
        (false, false) => say(node, leaf, ON_ONE_WAY, false, report),
    }
}

/// Python, by its words.
pub(super) fn of_python(node: &NodeView, leaf: &Leaf, code: &str, report: &mut Report) {
    // What always throws means to.
    let ends = ["return", "raise"].iter().any(|word| code.contains(word));
    if node.node_type == CODE && !is_for_each(node) && !ends {
        say(node, leaf, NOTHING, true, report);
    }
}

fn is_for_each(node: &NodeView) -> bool {
    let mode = node.filled.get("mode").and_then(Value::as_str);
    node.node_type == CODE && mode == Some("runOnceForEachItem")
}

fn say(node: &NodeView, leaf: &Leaf, message: &str, sure: bool, report: &mut Report) {
    let mut draft = rules::CODE_WITHOUT_RETURN.at(leaf.pointer, message);
    if !sure {
        draft = draft.at_most(Severity::Warning);
    }
    report.node(node, draft);
}
