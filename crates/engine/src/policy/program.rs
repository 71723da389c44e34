//! What stands outside of any run and that decisions know.

use super::literal::Text;
use crate::vocabulary::{Does, Vocabulary};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What stands outside of any run: the `facts` of policy.yaml, which whoever deploys the pack knows, and the tools there are.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Program {
    pub facts: Map<String, Value>,
    pub texts: Arc<Vec<Text>>,
    /// The worst that the calls do that an allow rule lets pass, by the rule's id.
    pub does: BTreeMap<String, Does>,
    pub vocabulary: Vocabulary,
}

impl Program {
    pub fn new(facts: Map<String, Value>, vocabulary: Vocabulary) -> Program {
        Program {
            texts: Arc::new(program_texts(&facts)),
            facts,
            does: BTreeMap::new(),
            vocabulary,
        }
    }
}

/// The texts of the policy's own facts.
pub(super) fn program_texts(facts: &Map<String, Value>) -> Vec<Text> {
    fn walk(value: &Value, texts: &mut Vec<Text>) {
        match value {
            Value::String(text) => texts.push(Text::new(text)),
            Value::Number(n) => texts.push(Text::new(&n.to_string())),
            Value::Array(items) => items.iter().for_each(|item| walk(item, texts)),
            Value::Object(map) => map.values().for_each(|item| walk(item, texts)),
            Value::Null | Value::Bool(_) => {}
        }
    }
    let mut texts = Vec::new();
    facts.values().for_each(|value| walk(value, &mut texts));
    texts
}
