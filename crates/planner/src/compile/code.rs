//! Code and sub-workflows.

use serde_json::{Map, Value, json};

use super::super::plan::{Arg, Step};
use super::data::Origin;
use super::draft::{At, Draft};
use super::place::object;

pub(super) const CODE: &str = "n8n-nodes-base.code";

impl Draft<'_> {
    /// A Code node; `each` = once for each item.
    pub(super) fn code(&mut self, at: &At, wish: &str, javascript: &str, each: bool) -> String {
        let mut params = Map::new();
        if each {
            params.insert("mode".into(), json!("runOnceForEachItem"));
        }
        params.insert("jsCode".into(), json!(javascript));
        self.node(at, wish, CODE, params)
    }

    pub(super) fn code_step(&mut self, step: &Step, purpose: &str, javascript: &str, at: At) -> At {
        let each = javascript.contains("$input.item")
            || (!javascript.contains("$input.all")
                && !javascript.contains("items")
                && !javascript.contains("$input.first"));
        let javascript = if javascript.trim().is_empty() {
            "return $input.all();"
        } else {
            javascript
        };
        let each = each && !javascript.contains("$input.all");
        let wish = self.wish(step, super::words::capital(purpose));
        let node = self.code(&at, &wish, javascript, each);
        let mut origin = self
            .subject(&at)
            .and_then(|i| self.origins.get(i))
            .cloned()
            .unwrap_or_default();
        origin.acting = false;
        origin.closed = false;
        // keys that the code returns are known fields
        for key in returned_keys(javascript) {
            origin.fields.insert(0, (key.clone(), key));
        }
        let base = std::mem::take(&mut origin.base);
        if !base.is_empty() && javascript.contains("...") {
            origin.base = base;
        }
        let next = self.produce(&at, &node, Some(&step.id), origin);
        At {
            many: at.many,
            ..next
        }
    }

    pub(super) fn workflow_inputs(&self, pairs: &[(String, Value)]) -> Value {
        let schema: Vec<Value> = pairs
            .iter()
            .map(|(name, _)| json!({"id": name, "displayName": name, "required": false, "defaultMatch": false, "display": true, "canBeUsedToMatch": true, "type": "string"}))
            .collect();
        let value: Map<String, Value> = pairs.iter().cloned().collect();
        json!({"mappingMode": "defineBelow", "value": value, "matchingColumns": [], "schema": schema, "attemptToConvertTypes": false, "convertFieldsToString": false})
    }

    pub(super) fn workflow_ref(&mut self, reference: &str) -> Value {
        json!({"__rl": true, "mode": "id", "value": reference})
    }

    pub(super) fn call_step(
        &mut self,
        step: &Step,
        reference: &str,
        inputs: &[Arg],
        wait: bool,
        at: At,
    ) -> At {
        let pairs = self.body_pairs(&at, inputs);
        let reference_value = self.workflow_ref(reference);
        let params = object(&[
            ("source", json!("database")),
            ("workflowId", reference_value),
            ("workflowInputs", self.workflow_inputs(&pairs)),
            ("mode", json!(if at.many { "each" } else { "once" })),
            (
                "options",
                if wait {
                    json!({"waitForSubWorkflow": true})
                } else {
                    json!({"waitForSubWorkflow": false})
                },
            ),
        ]);
        let wish = self.wish(step, format!("Call {reference}"));
        let node = self.node(&at, &wish, "n8n-nodes-base.executeWorkflow", params);
        let many = at.many;
        let next = self.produce(
            &at,
            &node,
            Some(&step.id),
            Origin::default().about("result finding answer workflow"),
        );
        At { many, ..next }
    }
}

/// The keys in `json: { a, b: … }` of a return.
fn returned_keys(javascript: &str) -> Vec<String> {
    let Some(at) = javascript.rfind("json: {") else {
        return Vec::new();
    };
    let rest = javascript.get(at + 7..).unwrap_or("");
    let mut depth = 0i32;
    let mut part = String::new();
    let mut parts = Vec::new();
    for c in rest.chars() {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => {
                depth -= 1;
                if depth < 0 {
                    break;
                }
            }
            ',' if depth == 0 => {
                parts.push(std::mem::take(&mut part));
                continue;
            }
            _ => {}
        }
        part.push(c);
    }
    parts.push(part);
    parts
        .iter()
        .filter_map(|p| {
            let name = p
                .split(':')
                .next()
                .unwrap_or("")
                .trim()
                .trim_matches(['\'', '"']);
            super::words::is_identifier(name).then(|| name.to_owned())
        })
        .collect()
}
