//! Code that gives n8n nothing to make items of.

use super::{
    expressions::Language,
    leaves::Leaf,
    made::CODE,
    report::Report,
    returns::{self, Given},
    rules,
    subject::NodeView,
};
use crate::finding::Severity;
use serde_json::Value;

const FUNCTION_ITEM: &str = "n8n-nodes-base.functionItem";
const RETURNING: [&str; 3] = [CODE, "n8n-nodes-base.function", FUNCTION_ITEM];

/// What n8n makes no items of: nothing at all, a text, a number; in the mode for each item a list.
pub(super) fn check(
    node: &NodeView,
    leaf: &Leaf,
    code: &str,
    language: Language,
    report: &mut Report,
) {
    if !RETURNING.contains(&node.node_type) {
        return;
    }
    let each = match node.node_type {
        CODE => node.filled.get("mode").and_then(Value::as_str) == Some("runOnceForEachItem"),
        other => other == FUNCTION_ITEM,
    };
    let nothing = "the code returns nothing, and n8n takes no run of a Code node without items; end it with `return`";
    // In the mode for each item n8n goes on without the item.
    let drops = each && node.node_type == CODE;
    let mut say = |message: &str, sure: bool| {
        let mut draft = rules::CODE_WITHOUT_RETURN.at(leaf.pointer, message);
        if !sure {
            draft = draft.at_most(Severity::Warning);
        }
        report.node(node, draft);
    };
    if language == Language::Python {
        // What always throws means to.
        let ends = ["return", "raise"].iter().any(|word| code.contains(word));
        if !ends && !drops {
            say(nothing, true);
        }
        return;
    }
    let Some(returns) = returns::of(code) else {
        return;
    };
    let gives = |wanted: &Given| returns.given.contains(wanted);
    let plain = returns.given.iter().find_map(|given| match given {
        Given::Plain(what) => Some(what),
        _ => None,
    });
    let list =
        each && (returns.given.iter()).any(|given| matches!(given, Given::Items(_) | Given::Input));
    if let Some(what) = plain {
        say(
            &format!(
                "the code returns {what}, of which n8n makes no item; return objects: `return [{{json: {{…}}}}]`"
            ),
            true,
        );
    } else if list {
        say(
            "in the mode \"Run Once for Each Item\" the code returns a list, and n8n takes one item: `return {json: {…}}`",
            true,
        );
    } else if returns.given.iter().all(|given| *given == Given::Nothing) {
        if drops && (returns.falls_through || gives(&Given::Nothing)) {
            say(
                "the code returns nothing, so no item comes out of the node; end it with `return`",
                false,
            );
        } else if returns.falls_through || gives(&Given::Nothing) {
            say(nothing, true);
        }
    } else if !drops && (returns.falls_through || gives(&Given::Nothing)) {
        say(
            "on one of its ways the code returns nothing, and the node fails there; return a list on each, if need be an empty one",
            false,
        );
    }
}
