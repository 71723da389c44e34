//! An execution as n8n tells it, read into what matters: which nodes ran, what came out, what failed. The document is data from
//! outside: whatever is missing or of another shape is left out, never guessed.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;

/// A failure, of one node or of the whole.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Fault {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What the other side answered, where it was a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_code: Option<u16>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct NodeRun {
    /// How often it ran.
    pub runs: usize,
    /// Items by output, over all runs.
    pub items: Vec<usize>,
    /// The first item that came out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Fault>,
    /// The node and the output that its items came from.
    #[serde(skip)]
    pub from: Option<(String, usize)>,
    /// The first item of each output.
    #[serde(skip)]
    pub firsts: Vec<Option<Value>>,
    /// The first items of each output, at most `MOST_KEPT`.
    #[serde(skip)]
    pub kept: Vec<Vec<Value>>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Trace {
    pub id: String,
    /// n8n's word: success, error, running, waiting, canceled, crashed, …
    pub status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    pub nodes: IndexMap<String, NodeRun>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_node: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Fault>,
}

impl Trace {
    pub fn read(execution: &Value) -> Trace {
        let execution = execution.get("execution").unwrap_or(execution);
        let text = |key: &str| {
            execution
                .get(key)
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        let id = |key: &str| match execution.get(key) {
            Some(Value::String(id)) => Some(id.clone()),
            Some(Value::Number(id)) => Some(id.to_string()),
            _ => None,
        };
        let result = execution
            .pointer("/data/resultData")
            .or_else(|| execution.get("resultData"));
        let nodes: IndexMap<String, NodeRun> = result
            .and_then(|r| r.get("runData"))
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(name, runs)| (name.clone(), node_run(name, runs)))
            .collect();
        let error = result
            .and_then(|r| r.get("error"))
            .and_then(|e| fault(e, None));
        Trace {
            id: id("id").unwrap_or_default(),
            status: text("status").unwrap_or_else(|| "unknown".into()),
            workflow_id: id("workflowId"),
            started_at: text("startedAt"),
            last_node: result
                .and_then(|r| r.get("lastNodeExecuted"))
                .and_then(Value::as_str)
                .map(str::to_owned),
            nodes,
            error,
        }
    }

    pub fn ran(&self, node: &str) -> bool {
        self.nodes.get(node).is_some_and(|run| run.runs > 0)
    }

    /// What failed: each node's own fault, else the execution's.
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults: Vec<Fault> = self
            .nodes
            .values()
            .filter_map(|run| run.error.clone())
            .collect();
        if faults.is_empty() {
            faults.extend(self.error.clone().map(|error| Fault {
                node: error.node.clone().or_else(|| self.last_node.clone()),
                ..error
            }));
        }
        faults
    }

    /// The first item that went into a node.
    pub fn input_of(&self, node: &str) -> Option<&Value> {
        let (from, output) = self.nodes.get(node)?.from.as_ref()?;
        self.nodes.get(from)?.firsts.get(*output)?.as_ref()
    }
}

/// So many items of an output are looked at.
const MOST_KEPT: usize = 100;

fn node_run(name: &str, runs: &Value) -> NodeRun {
    let mut all = NodeRun::default();
    for run in runs.as_array().into_iter().flatten() {
        all.runs += 1;
        if let Some(error) = run.get("error").and_then(|e| fault(e, Some(name))) {
            all.error = Some(error);
        }
        if all.from.is_none() {
            let source = run.pointer("/source/0").filter(|s| s.is_object());
            let output = source
                .and_then(|s| s.get("previousNodeOutput"))
                .and_then(Value::as_u64);
            all.from = source
                .and_then(|s| s.get("previousNode"))
                .and_then(Value::as_str)
                .map(|from| {
                    (
                        from.to_owned(),
                        output.and_then(|o| usize::try_from(o).ok()).unwrap_or(0),
                    )
                });
        }
        let outputs = run.pointer("/data/main").and_then(Value::as_array);
        for (at, items) in outputs.into_iter().flatten().enumerate() {
            let list = items.as_array().map_or(&[][..], Vec::as_slice);
            if all.items.len() <= at {
                all.items.resize(at + 1, 0);
                all.firsts.resize(at + 1, None);
                all.kept.resize(at + 1, Vec::new());
            }
            if let Some(count) = all.items.get_mut(at) {
                *count += list.len();
            }
            if let Some(kept) = all.kept.get_mut(at) {
                let room = MOST_KEPT.saturating_sub(kept.len());
                kept.extend(
                    list.iter()
                        .take(room)
                        .filter_map(|item| item.get("json").cloned()),
                );
            }
            let first = list.first().and_then(|item| item.get("json")).cloned();
            if let Some(slot) = all.firsts.get_mut(at)
                && slot.is_none()
            {
                slot.clone_from(&first);
            }
            if all.first.is_none() {
                all.first = first;
            }
        }
    }
    all
}

fn fault(error: &Value, node: Option<&str>) -> Option<Fault> {
    let text = |key: &str| {
        error
            .get(key)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    let message = match error {
        Value::String(message) => message.clone(),
        Value::Object(_) => text("message").or_else(|| text("name"))?,
        _ => return None,
    };
    let code =
        ["httpCode", "statusCode", "status"]
            .iter()
            .find_map(|key| match error.get(*key)? {
                Value::String(code) => code.parse().ok(),
                Value::Number(code) => code.as_u64().and_then(|c| u16::try_from(c).ok()),
                _ => None,
            });
    // n8n names the node as an object, or by its name.
    let named = error.get("node").and_then(|node| match node {
        Value::String(name) => Some(name.clone()),
        node => node.get("name").and_then(Value::as_str).map(str::to_owned),
    });
    Some(Fault {
        node: node.map(str::to_owned).or(named),
        message,
        description: text("description"),
        http_code: code.filter(|c| (100..600).contains(c)),
    })
}
