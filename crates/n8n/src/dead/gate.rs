//! Nodes that may hold back everything that comes to them, whether or not they do: told by what kind of node it is, not by what
//! its conditions say. Those that surely let something through, by their own parameters, are none.

use super::{Ways, code, code_of, literal, number, ways};
use crate::Node;
use crate::validate::is_plain_path;
use serde_json::{Map, Value};

/// How much a node may hold back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gate {
    /// Everything.
    Shuts,
    /// All but what leaves by one of these outputs, by index from 0.
    OneOf(Vec<u32>),
}

/// Types that hold back by what they are there for.
const KINDS: [&str; 13] = [
    "aiTransform",
    "code",
    "compareDatasets",
    "filter",
    "form",
    "function",
    "functionItem",
    "if",
    "limit",
    "merge",
    "removeDuplicates",
    "switch",
    "wait",
];

/// The type without n8n's own package.
fn kind(node: &Node) -> Option<&str> {
    node.node_type().strip_prefix("n8n-nodes-base.")
}

/// Whether a Switch goes by an expression, so that its rules mean nothing.
fn is_computed(given: &Map<String, Value>) -> bool {
    given.get("mode").is_some_and(|mode| mode != "rules")
}

fn asks_a_person(node: &Node) -> bool {
    let operation = node.parameters().and_then(|given| given.get("operation"));
    let operation = operation.and_then(Value::as_str);
    operation.is_some_and(|operation| operation.starts_with(ASKS))
}

/// What the operation of a node begins with that sends a question and waits for its answer.
pub const ASKS: &str = "sendAndWait";

/// Whether the node is of a kind that can be a gate, without a look at what else it says.
pub fn may_be_gate(node: &Node) -> bool {
    kind(node).is_some_and(|kind| KINDS.contains(&kind)) || asks_a_person(node)
}

/// None: it surely lets something through, or nothing (then it is no gate but a wall, and `ways` says so), or is of another kind.
pub fn gate(node: &Node) -> Option<Gate> {
    if !may_be_gate(node) || node.disabled() || ways(node) == Ways::Shut {
        return None;
    }
    let given = node.parameters();
    let text = |key: &str| {
        given
            .and_then(|given| given.get(key))
            .and_then(Value::as_str)
    };
    let shuts = Some(Gate::Shuts);
    // A person, or whoever answers, may never do so.
    if asks_a_person(node) {
        return shuts;
    }
    match kind(node)? {
        "filter" | "compareDatasets" | "form" => shuts,
        "if" => Some(Gate::OneOf(vec![0, 1])),
        "switch" => {
            let options = given.and_then(|given| given.get("options"));
            let fallback = options.and_then(|options| options.get("fallbackOutput"));
            let rules = given.and_then(|given| given.get("rules"));
            let rules = rules.and_then(|rules| rules.get("values"));
            let count = rules.and_then(Value::as_array).map_or(0, Vec::len);
            match fallback.and_then(Value::as_str) {
                Some("extra") if !given.is_some_and(is_computed) => Some(Gate::OneOf(
                    (0..=u32::try_from(count).unwrap_or(u32::MAX)).collect(),
                )),
                _ => shuts,
            }
        }
        "code" | "function" | "functionItem" | "aiTransform" => {
            match code::of(node).is_some_and(|code| code.passes_on()) {
                true => None,
                false => shuts,
            }
        }
        "wait" => {
            let resume = text("resume").unwrap_or("timeInterval");
            let amount = given.and_then(|given| given.get("amount"));
            let fixed = amount.is_none_or(|amount| number(amount).is_some());
            (resume != "timeInterval" || !fixed).then_some(Gate::Shuts)
        }
        "limit" => {
            let most = given.and_then(|given| given.get("maxItems"));
            let fixed = most.is_none_or(|most| literal(most).is_some());
            (!fixed).then_some(Gate::Shuts)
        }
        "merge" => match text("mode") {
            None | Some("append") => None,
            _ => shuts,
        },
        "removeDuplicates" => match text("operation") {
            None | Some("removeDuplicateInputItems") => None,
            _ => shuts,
        },
        _ => None,
    }
}

/// Whether what the node holds back is said by its expressions.
pub fn is_conditional(node: &Node) -> bool {
    matches!(kind(node), Some("filter" | "if" | "switch"))
}

/// What a gate is about, as whoever asked for it would have put it.
#[derive(Debug, Clone, PartialEq)]
pub enum About {
    /// Of each condition the fixed value that it compares with, or the name of the field that it looks at when there is none.
    Values(Vec<Value>),
    /// Somebody's answer.
    Answer,
}

/// None: it holds back by something else, or what it asks cannot be told.
pub fn about(node: &Node) -> Option<About> {
    let named = kind(node).filter(|kind| KINDS.contains(kind));
    if named.is_none() && asks_a_person(node) {
        return Some(About::Answer);
    }
    let given = node.parameters()?;
    let filters: Vec<&Value> = match named? {
        "if" | "filter" => vec![given.get("conditions")?],
        "switch" if !is_computed(given) => {
            let rules = given.get("rules")?.get("values")?.as_array()?;
            rules
                .iter()
                .map(|rule| rule.get("conditions"))
                .collect::<Option<_>>()?
        }
        _ => return None,
    };
    let mut values = Vec::new();
    for filter in filters {
        let list = filter.get("conditions")?.as_array()?;
        for condition in list {
            values.push(compared_with(condition)?);
        }
    }
    (!values.is_empty()).then_some(About::Values(values))
}

fn compared_with(condition: &Value) -> Option<Value> {
    let operation = condition.get("operator")?.get("operation")?.as_str()?;
    // The others compare with the right side, whatever else the operator says of itself.
    let alone = ["exists", "notExists", "empty", "notEmpty", "true", "false"];
    if !alone.contains(&operation) {
        match condition.get("rightValue").and_then(literal) {
            Some(Value::Number(number)) => return Some(Value::Number(number)),
            Some(Value::String(text)) if !text.trim().is_empty() => {
                let number = text.trim().parse::<serde_json::Number>();
                return Some(number.map_or(Value::String(text), Value::Number));
            }
            Some(Value::Bool(_) | Value::Null | Value::String(_)) => {}
            _ => return None,
        }
    }
    field(condition.get("leftValue")?).map(Value::from)
}

/// The name that a plain path ends with: `={{ $json.customer.email }}` → `email`.
fn field(expression: &Value) -> Option<&str> {
    let code = code_of(expression)?.trim();
    if !is_plain_path(code) {
        return None;
    }
    let (_, name) = code.rsplit_once('.')?;
    let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    (plain && !name.is_empty()).then_some(name)
}

/// Whether what it holds back hangs on an answer, whatever it says.
pub fn is_answered(node: &Node) -> bool {
    kind(node) == Some("form") || asks_a_person(node)
}

/// The lines of a Code node's ways out before its end. None: it has no code, or none that can be read.
pub fn early_exits(node: &Node) -> Option<Vec<String>> {
    code::of(node)?.early_exits()
}
