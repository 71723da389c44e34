//! A step that calls another flow: what it is given and what is taken from it, held against what that flow says of itself.

use super::load_all::MAX_DEPTH;
use super::load_steps::Steps;
use super::model::{CallSpec, Flow, PROGRAM};
use super::remote::RemoteAgent;
use super::scope::CLAIM_VARIABLES;
use crate::condition::Condition;
use crate::nearest::nearest;
use agentctl_base::yaml::Node;
use indexmap::IndexMap;
use serde_json::Value;
use std::sync::Arc;

impl Steps<'_, '_> {
    pub(super) fn call(&mut self, node: &Node, name: &Node, what: &str) -> Option<CallSpec> {
        let with = node
            .get("with")
            .map_or_else(IndexMap::new, |n| self.expressions_of(n, "`with`"));
        let called = match RemoteAgent::of(name) {
            None => self.reader.text(name, "a flow")?,
            Some(Ok(remote)) => {
                self.reader.keys(name, "`call`", &RemoteAgent::KEYS);
                remote.flow()
            }
            Some(Err((place, message))) => {
                self.add(place, message);
                return None;
            }
        };
        // One that is not there, or is wrong itself, is told elsewhere.
        let flow = self.reader.callees.get(&called).cloned().flatten();
        let take = node
            .get("take")
            .map_or_else(IndexMap::new, |n| self.take(n, flow.as_deref()));
        let flow: Arc<Flow> = flow?;
        self.given(node, &with, &flow, what);
        if flow.depth() >= MAX_DEPTH {
            self.add(
                name.place,
                format!("the flow {called} has others {} deep below it; at most {MAX_DEPTH} stand below one another", flow.depth() - 1),
            );
        }
        self.keeps_the_scope(name, &flow);
        Some(CallSpec {
            name: called,
            flow,
            with,
            take,
            as_tool: false,
        })
    }

    /// The callee's input by its schema, as far as it lists keys.
    fn given(&mut self, node: &Node, with: &IndexMap<String, Condition>, flow: &Flow, what: &str) {
        let Some(schema) = flow.input.as_ref().map(|schema| schema.value()) else {
            return;
        };
        let place = node.get("with").map_or(node.place, |n| n.place);
        let required = schema.get("required").and_then(Value::as_array);
        for key in required.into_iter().flatten().filter_map(Value::as_str) {
            // One whose expression is wrong is told of that alone.
            let written = node.get("with").is_some_and(|with| with.get(key).is_some());
            if !with.contains_key(key) && !written {
                let message = format!(
                    "{what} does not give {key:?}, which the flow {} needs",
                    flow.name
                );
                self.add(place, message);
            }
        }
        let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
        let listed = schema.get("properties").and_then(Value::as_object);
        let needed = required.into_iter().flatten().filter_map(Value::as_str);
        let named = listed.into_iter().flatten().map(|(key, _)| key.as_str());
        let known: Vec<&str> = named.chain(needed).collect();
        for key in with.keys() {
            if known.contains(&key.as_str()) {
                continue;
            }
            // An open schema may have more keys, but not one more that is nearly one of its own.
            let near = nearest(key, known.iter().copied());
            if closed || !near.is_empty() {
                let written = node.get("with").and_then(|with| with.get(key));
                let place = written.map_or(place, |value| value.place);
                self.add(
                    place,
                    format!("the flow {} takes no {key:?}{near}", flow.name),
                );
            }
        }
    }

    /// Field → what of `output` goes into it.
    fn take(&mut self, node: &Node, flow: Option<&Flow>) -> IndexMap<String, Condition> {
        let mut take = IndexMap::new();
        let schema = flow
            .and_then(|flow| flow.output.as_ref()?.schema.as_ref())
            .and_then(|schema| schema.value().get("properties")?.as_object());
        for entry in self.reader.map(node, "`take`").unwrap_or_default() {
            if let Some(spec) = self.field(entry.key_place, &entry.key)
                && !spec.writers.iter().any(|writer| writer == PROGRAM)
            {
                let message = format!(
                    "{:?} has no writer {PROGRAM:?}, so `take` may not write it",
                    entry.key
                );
                self.add(entry.key_place, message);
            }
            let Some(condition) = self.expression_over(&entry.value, CLAIM_VARIABLES) else {
                continue;
            };
            for path in condition.paths() {
                if let [root, key, ..] = path.as_slice()
                    && root == "output"
                    && schema.is_some_and(|schema| !schema.contains_key(key))
                {
                    let message = format!("the flow's output has no {key:?}");
                    self.add(entry.value.place, message);
                }
            }
            take.insert(entry.key.clone(), condition);
        }
        take
    }

    /// What a fix cycle may change is said in one field of one flow: that of the run. Guards know it by its name.
    fn keeps_the_scope(&mut self, name: &Node, flow: &Flow) {
        let own = self.fields.iter().find(|(_, spec)| spec.meaning.is_scope);
        let own = own.map(|(field, _)| field.clone());
        for inner in flow.flows() {
            let taken = inner
                .fields
                .iter()
                .find(|(field, spec)| spec.meaning.is_scope || own.as_ref() == Some(*field));
            if let Some((field, _)) = taken {
                self.add(
                    name.place,
                    format!(
                        "the field {field:?} of the flow {} would be taken for what a fix cycle may change, which only the flow that a run starts with says; call it otherwise",
                        inner.name
                    ),
                );
            }
        }
    }
}
