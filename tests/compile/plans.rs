//! Shorthands for plans in JSON, and what every compiled workflow must hold.

use agentctl_n8n::Severity;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::validate::validate;
use agentctl_planner::compile::{Compiled, compile};
use agentctl_planner::plan::Plan;
use serde_json::{Value, json};

pub fn plan(value: Value) -> Plan {
    let mut whole = json!({"name": "Test", "language": "en", "triggers": [], "steps": [], "timezone": null, "retry": null, "on_error": [], "minimal": false});
    for (key, part) in value.as_object().unwrap() {
        whole[key] = part.clone();
    }
    serde_json::from_value(whole).unwrap()
}

/// Compiles and checks: no error finding, nothing left out, the same twice.
pub fn built(value: Value) -> Compiled {
    let plan = plan(value);
    let catalog = Catalog::embedded();
    let compiled = compile(&plan, catalog);
    assert_eq!(compiled, compile(&plan, catalog), "not deterministic");
    let errors: Vec<String> = validate(&compiled.workflow, catalog)
        .into_iter()
        .filter(|f| f.severity == Severity::Error)
        .map(|f| format!("{:?} {} {}: {}", f.node, f.code, f.pointer, f.message))
        .collect();
    assert_eq!(
        errors,
        Vec::<String>::new(),
        "{}",
        compiled.workflow.to_text()
    );
    let left: Vec<&String> = compiled
        .notes
        .iter()
        .filter(|n| n.contains("left out"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    compiled
}

/// A readable account: nodes with parameters, then edges.
pub fn sketch(compiled: &Compiled) -> String {
    let mut out = String::new();
    for node in &compiled.workflow.nodes {
        let params = node.parameters().cloned().unwrap_or_default();
        let mut extra = String::new();
        for key in [
            "onError",
            "retryOnFail",
            "maxTries",
            "executeOnce",
            "alwaysOutputData",
        ] {
            if let Some(value) = node.map().get(key) {
                extra.push_str(&format!(" {key}={value}"));
            }
        }
        out.push_str(&format!(
            "{} [{}@{}]{extra} {}\n",
            node.name(),
            node.node_type().rsplit('.').next().unwrap(),
            node.type_version().unwrap(),
            without_ids(Value::Object(params))
        ));
    }
    for (from, kind, output, link) in compiled.workflow.edges() {
        let kind = if kind == "main" {
            String::new()
        } else {
            format!("{kind} ")
        };
        out.push_str(&format!(
            "{from} -{kind}{output}-> {} {}\n",
            link.node, link.index
        ));
    }
    out
}

/// Parameters without the bookkeeping ids of assignments and conditions, and without mapper schemas.
fn without_ids(value: Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(
            map.into_iter()
                .filter(|(k, v)| {
                    !(k == "id" && v.as_str().is_some_and(|s| s.len() == 36))
                        && !(k == "schema" && v.is_array())
                })
                .map(|(k, v)| (k, without_ids(v)))
                .collect(),
        ),
        Value::Array(list) => Value::Array(list.into_iter().map(without_ids).collect()),
        other => other,
    }
}

pub fn service(said: &str, node: &str) -> Value {
    json!({"said": said, "node_types": [format!("n8n-nodes-base.{node}")]})
}
pub fn lit(value: impl Into<Value>) -> Value {
    json!({"val": "lit", "value": value.into()})
}
pub fn field(name: &str) -> Value {
    json!({"val": "field", "name": name, "of": null})
}
pub fn arg(role: impl Into<Value>, value: Value) -> Value {
    json!({"role": role.into(), "value": value})
}
pub fn named(name: &str, value: Value) -> Value {
    json!({"role": {"field": name}, "value": value})
}
pub fn step(id: &str, does: Value) -> Value {
    json!({"id": id, "said": "", "does": does})
}
pub fn call(id: &str, said: &str, node: &str, verb: &str, object: &str, args: Vec<Value>) -> Value {
    step(
        id,
        json!({"does": "service", "service": service(said, node), "verb": verb, "object": object, "args": args, "once": false}),
    )
}
pub fn slack(id: &str, channel: &str, text: Value) -> Value {
    call(
        id,
        "Slack",
        "slack",
        "send",
        "message",
        vec![arg("channel", lit(channel)), arg("text", text)],
    )
}
pub fn compare(left: Value, op: &str, right: Value) -> Value {
    json!({"cond": "compare", "left": left, "op": op, "right": right})
}
