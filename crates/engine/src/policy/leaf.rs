//! The leaves of a tool's result: each value with the keys that lead to it.

use super::literal::Text;
use serde_json::Value;

/// A leaf of a tool's result, with the keys that lead to it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Leaf {
    pub path: String,
    pub text: Text,
}

/// Every leaf of a tool's result.
pub(super) fn leaves(result: &Value) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    collect(result, String::new(), &mut leaves);
    leaves
}

fn collect(value: &Value, path: String, leaves: &mut Vec<Leaf>) {
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(n) => leaves.push(Leaf {
            path,
            text: Text::new(&n.to_string()),
        }),
        Value::String(s) => leaves.push(Leaf {
            path,
            text: Text::new(s),
        }),
        Value::Array(items) => {
            for item in items {
                collect(item, path.clone(), leaves);
            }
        }
        Value::Object(map) => {
            for (key, item) in map {
                // A key that is no name is a value too: addresses are keys of who a file is shared with.
                if !is_name(key) {
                    leaves.push(Leaf {
                        path: path.clone(),
                        text: Text::new(key),
                    });
                }
                let path = match path.as_str() {
                    "" => key.clone(),
                    above => format!("{above}.{key}"),
                };
                collect(item, path, leaves);
            }
        }
    }
}

/// A key as a schema has it.
pub(super) fn is_name(key: &str) -> bool {
    key.chars()
        .all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}
