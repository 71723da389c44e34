//! The output contract: the JSON Schema of a step's answer. Faults are told by place and rule, so that a model can mend
//! them; an answer that does not parse is told so.

use serde_json::Value;

/// A schema ready to check answers with.
#[derive(Debug)]
pub struct Contract(jsonschema::Validator);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the output contract is not a JSON Schema: {0}")]
pub struct ContractError(String);

/// More faults than this help nobody.
const MAX_FAULTS: usize = 8;
const MAX_FAULT_CHARS: usize = 300;

impl Contract {
    pub fn compile(schema: &Value) -> Result<Self, ContractError> {
        jsonschema::validator_for(schema)
            .map(Contract)
            .map_err(|e| ContractError(e.to_string()))
    }

    /// The faults of `answer`, each with its place; empty: it fits.
    pub fn faults(&self, answer: &Value) -> Vec<String> {
        let mut faults: Vec<String> = self
            .0
            .iter_errors(answer)
            .take(MAX_FAULTS + 1)
            .map(|e| {
                let place = e.instance_path().to_string();
                let place = if place.is_empty() {
                    "/"
                } else {
                    place.as_str()
                };
                format!("{place}: {}", cut(&e.to_string()))
            })
            .collect();
        if faults.len() > MAX_FAULTS {
            faults.truncate(MAX_FAULTS);
            faults.push("and more; mend these first".to_owned());
        }
        faults
    }

    /// Reads a model's final text: the JSON alone, in a code fence, or with words around it.
    pub fn read(&self, text: &str) -> Result<Value, Vec<String>> {
        let Some(answer) = find_json(text) else {
            let why = if text.trim().is_empty() {
                "the answer was empty".to_owned()
            } else {
                match serde_json::from_str::<Value>(text.trim()) {
                    Err(e) => format!("the answer is not JSON: {e}"),
                    Ok(_) => "the answer is not a JSON object".to_owned(),
                }
            };
            return Err(vec![why]);
        };
        let faults = self.faults(&answer);
        if faults.is_empty() {
            Ok(answer)
        } else {
            Err(faults)
        }
    }
}

fn cut(text: &str) -> String {
    if text.chars().count() <= MAX_FAULT_CHARS {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(MAX_FAULT_CHARS).collect();
    short.push('…');
    short
}

/// The one JSON object in the text: all of it, the last fenced block, or what stands between the outermost braces.
fn find_json(text: &str) -> Option<Value> {
    let object = |candidate: &str| {
        serde_json::from_str::<Value>(candidate.trim())
            .ok()
            .filter(Value::is_object)
    };
    if let Some(value) = object(text) {
        return Some(value);
    }
    let mut blocks = text.split("```").skip(1).step_by(2).collect::<Vec<_>>();
    blocks.reverse();
    for block in blocks {
        let body = block
            .split_once('\n')
            .filter(|(language, _)| !language.contains('{'))
            .map_or(block, |(_, body)| body);
        if let Some(value) = object(body) {
            return Some(value);
        }
    }
    let (start, end) = (text.find('{')?, text.rfind('}')?);
    object(text.get(start..=end)?)
}
