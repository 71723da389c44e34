//! The last pass: retries, error branches, credentials to connect, a check of every parameter against the catalog, layout.

use agentctl_n8n::short_type;
use serde_json::{Value, json};

use super::draft::{At, Draft, End};
use super::facts::prune;
use agentctl_n8n::catalog::NodeKind;

/// Nodes that reach outside and can fail there.
pub(crate) fn reaches_out(node_type: &str) -> bool {
    let inside = [
        "if",
        "switch",
        "filter",
        "merge",
        "set",
        "code",
        "noOp",
        "wait",
        "splitInBatches",
        "aggregate",
        "splitOut",
        "sort",
        "limit",
        "removeDuplicates",
        "respondToWebhook",
        "html",
        "summarize",
        "convertToFile",
        "extractFromFile",
        "compression",
        "stickyNote",
        "dateTime",
        "markdown",
        "xml",
        "stopAndError",
    ];
    let short = short_type(node_type);
    !inside.contains(&short)
}

impl Draft<'_> {
    pub(super) fn finish(&mut self, _end: At) {
        self.retries();
        self.error_branch();
        self.check_parameters();
        self.fill_what_is_missing();
        self.credentials();
        self.names_for_ids();
        self.name_todos();
        agentctl_n8n::layout::layout(&mut self.workflow);
    }

    /// What was said to do of a service or a type is said of its node, where there is one of it.
    fn name_todos(&mut self) {
        let nodes = &self.workflow.nodes;
        for todo in &mut self.todo {
            if nodes.iter().any(|node| node.name() == todo.node) {
                continue;
            }
            let service = format!("{}:", todo.node);
            let mut of = nodes.iter().filter(|node| {
                let (name, node_type) = (node.name(), node.node_type());
                let types = [node_type, short_type(node_type)];
                name.starts_with(&service) || types.contains(&todo.node.as_str())
            });
            if let (Some(one), None) = (of.next(), of.next()) {
                todo.node = one.name().to_owned();
            }
        }
    }

    /// Names of the action nodes that reach out, in order.
    fn outside_nodes(&self) -> Vec<String> {
        self.workflow
            .nodes
            .iter()
            .filter(|n| reaches_out(n.node_type()))
            .filter(|n| {
                self.facts(n.node_type())
                    .is_some_and(|f| f.0.kind == NodeKind::Action)
            })
            .map(|n| n.name().to_owned())
            .collect()
    }

    fn retries(&mut self) {
        let Some(retry) = self.plan.retry.clone() else {
            return;
        };
        for node in self.outside_nodes() {
            self.set(&node, "retryOnFail", Value::Bool(true));
            // n8n takes 2 to 5 tries and up to 5 seconds between them
            self.set(&node, "maxTries", json!(retry.max_tries.clamp(2, 5)));
            if let Some(seconds) = retry.wait_seconds {
                self.set(&node, "waitBetweenTries", json!((seconds * 1000).min(5000)));
                if seconds > 5 {
                    self.note("n8n waits 5 seconds at most between two tries");
                }
            }
        }
    }

    fn error_branch(&mut self) {
        if self.plan.on_error.is_empty() {
            return;
        }
        let nodes: Vec<String> = self
            .outside_nodes()
            .into_iter()
            .filter(|name| {
                let outputs = self
                    .workflow
                    .connections
                    .get(name)
                    .and_then(|c| c.get("main"))
                    .map_or(0, Vec::len);
                outputs <= 1
            })
            .collect();
        let meant: Vec<String> = nodes
            .iter()
            .filter(|name| self.failing.contains(name))
            .cloned()
            .collect();
        let nodes = if meant.is_empty() { nodes } else { meant };
        if nodes.is_empty() {
            return;
        }
        let mut ends = Vec::new();
        for node in &nodes {
            self.set(node, "onError", json!("continueErrorOutput"));
            ends.push(End {
                node: node.clone(),
                output: 1,
            });
        }
        let mut place = At::start();
        place.ends = ends;
        // several steps speak of the failure: they find it by the name of one node
        let failed = match (nodes.as_slice(), self.plan.on_error.len()) {
            ([one], _) => one.clone(),
            (_, 1) => String::new(),
            _ => {
                let name = self.node(
                    &place,
                    "On failure",
                    "n8n-nodes-base.noOp",
                    serde_json::Map::new(),
                );
                place = place.from(&name, 0);
                name
            }
        };
        // what a failed node gives out is the item with its error
        let origin = super::data::Origin::default()
            .about("error failure")
            .field("error|error message|message|what failed|reason", "error")
            .field("text", "error");
        let index = self.origins.len();
        self.origins.push(super::data::Origin {
            node: failed,
            ..origin
        });
        place.json = Some(index);
        place.seen.push(index);
        let steps = self.plan.on_error.clone();
        self.steps(&steps, place);
    }

    /// Whatever the catalog would not show under the node's own parameters is not ours to write.
    fn check_parameters(&mut self) {
        for index in 0..self.workflow.nodes.len() {
            let Some(node) = self.workflow.nodes.get(index) else {
                continue;
            };
            let Some(facts) = self.facts(node.node_type()) else {
                continue;
            };
            let name = node.name().to_owned();
            let Some(node) = self.workflow.nodes.get_mut(index) else {
                continue;
            };
            let dropped = node.edit_parameters(|params| prune(&facts, params));
            if !dropped.is_empty() {
                let empty = |d: &String| {
                    matches!(
                        d.as_str(),
                        "options" | "additionalFields" | "otherOptions" | "updateFields"
                    )
                };
                let told: Vec<&String> = dropped.iter().filter(|d| !empty(d)).collect();
                if !told.is_empty() {
                    self.note(format!(
                        "{name}: left out {told:?}, which this operation does not take"
                    ));
                }
            }
        }
    }

    fn credentials(&mut self) {
        for index in 0..self.workflow.nodes.len() {
            let Some(node) = self.workflow.nodes.get(index) else {
                continue;
            };
            let Some(facts) = self.facts(node.node_type()) else {
                continue;
            };
            let empty = serde_json::Map::new();
            let params = node.parameters().unwrap_or(&empty);
            let slot = facts
                .0
                .visible_credentials(params)
                .into_iter()
                .find(|s| s.required)
                .cloned();
            let generic = params
                .get("genericAuthType")
                .and_then(Value::as_str)
                .map(str::to_owned);
            let kind = slot
                .map(|s| s.type_label.or(s.label).unwrap_or(s.name))
                .or(generic);
            let name = node.name().to_owned();
            if let Some(kind) = kind {
                self.todo("credential", &name, format!("connect a credential: {kind}"));
            }
        }
    }
}
