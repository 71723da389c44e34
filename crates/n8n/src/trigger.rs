//! Where a workflow can be started from outside: its webhooks, forms and public chats, as its document says them. The address
//! of a call is made from this by the backend, so no model ever names one.

use super::{Node, Workflow};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TriggerKind {
    Webhook,
    Form,
    Chat,
}

/// A node that starts the workflow when somebody calls it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriggerPoint {
    /// The node's name.
    pub node: String,
    pub kind: TriggerKind,
    /// `GET`, `POST`, …
    pub method: String,
    /// What comes behind n8n's own first segment: segments of letters that need no escaping, `:name` for one that varies.
    pub path: String,
    /// A form's fields by label, in their order: n8n takes them by position.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
}

const WEBHOOK: &str = "n8n-nodes-base.webhook";
const FORM: &str = "n8n-nodes-base.formTrigger";
const CHAT: &str = "@n8n/n8n-nodes-langchain.chatTrigger";

/// All enabled triggers that can be called from outside, in the document's order.
pub fn trigger_points(workflow: &Workflow) -> Vec<TriggerPoint> {
    let enabled = workflow.nodes.iter().filter(|node| !node.disabled());
    enabled.filter_map(point).collect()
}

fn point(node: &Node) -> Option<TriggerPoint> {
    let none = Map::new();
    let parameters = node.parameters().unwrap_or(&none);
    let text = |key: &str| {
        let value = parameters.get(key).and_then(Value::as_str);
        // An expression is n8n's to work out.
        value.filter(|value| !value.is_empty() && !value.starts_with('='))
    };
    let webhook_id = node.map().get("webhookId").and_then(Value::as_str);
    let webhook_id = webhook_id.filter(|id| !id.is_empty());
    let (kind, method, path) = match node.node_type() {
        WEBHOOK => {
            let path = text("path").or(webhook_id)?.trim_matches('/');
            // n8n puts the node's own id before a path with a part that varies, so that two of them do not meet.
            let path = match (
                path.split('/').any(|part| part.starts_with(':')),
                webhook_id,
            ) {
                (true, Some(id)) => format!("{id}/{path}"),
                _ => path.to_owned(),
            };
            (TriggerKind::Webhook, webhook_method(parameters), path)
        }
        FORM => {
            let options = parameters.get("options").and_then(|o| o.get("path"));
            let path = options.and_then(Value::as_str).or(text("path"));
            let path = path.filter(|path| !path.is_empty() && !path.starts_with('='));
            let path = path.or(webhook_id)?.trim_matches('/').to_owned();
            (TriggerKind::Form, "POST".to_owned(), path)
        }
        CHAT => {
            // One that is not public answers in the editor only.
            if parameters.get("public") != Some(&Value::Bool(true)) {
                return None;
            }
            (
                TriggerKind::Chat,
                "POST".to_owned(),
                format!("{}/chat", webhook_id?),
            )
        }
        _ => return None,
    };
    if !plain(&path) {
        return None;
    }
    Some(TriggerPoint {
        node: node.name().to_owned(),
        kind,
        method,
        path,
        fields: match kind {
            TriggerKind::Form => fields(parameters),
            TriggerKind::Webhook | TriggerKind::Chat => Vec::new(),
        },
    })
}

fn webhook_method(parameters: &Map<String, Value>) -> String {
    let known = |method: &str| {
        ["DELETE", "GET", "HEAD", "PATCH", "POST", "PUT"]
            .into_iter()
            .find(|known| known.eq_ignore_ascii_case(method))
    };
    let found = match parameters.get("httpMethod") {
        Some(Value::String(method)) => known(method),
        Some(Value::Array(several)) => {
            let mut several = several.iter().filter_map(Value::as_str).filter_map(known);
            let first = several.next();
            several.find(|method| *method == "POST").or(first)
        }
        _ => None,
    };
    found.unwrap_or("GET").to_owned()
}

fn fields(parameters: &Map<String, Value>) -> Vec<String> {
    let values = parameters.get("formFields").and_then(|f| f.get("values"));
    let values = values.and_then(Value::as_array).into_iter().flatten();
    values
        .map(|field| {
            let named = ["fieldLabel", "fieldName"].into_iter();
            let label = named
                .filter_map(|key| field.get(key))
                .find_map(Value::as_str);
            label.unwrap_or_default().to_owned()
        })
        .collect()
}

/// Nothing that could lead out of the path that it is put behind.
fn plain(path: &str) -> bool {
    !path.is_empty()
        && path.split('/').all(|part| {
            !part.is_empty()
                && part != "."
                && part != ".."
                && part.chars().all(|c| {
                    c.is_ascii_alphanumeric()
                        || matches!(c, '-' | '_' | '.' | '~' | ':' | '@' | '!')
                })
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeId;
    use serde_json::json;

    fn of(node_type: &str, webhook_id: Option<&str>, parameters: Value) -> Vec<TriggerPoint> {
        let parameters = parameters.as_object().cloned().unwrap();
        let mut node = Node::new(NodeId("1".into()), "Start", node_type, 2.0, parameters);
        if let Some(id) = webhook_id {
            node.set("webhookId", id.into());
        }
        let mut workflow = Workflow::empty("W");
        workflow.nodes.push(node);
        trigger_points(&workflow)
    }

    fn point(kind: TriggerKind, method: &str, path: &str, fields: &[&str]) -> Vec<TriggerPoint> {
        vec![TriggerPoint {
            node: "Start".into(),
            kind,
            method: method.into(),
            path: path.into(),
            fields: fields.iter().map(|f| (*f).to_owned()).collect(),
        }]
    }

    #[test]
    fn each_kind_says_where_it_is_called() {
        use TriggerKind::{Chat, Form, Webhook};
        assert_eq!(
            of(
                WEBHOOK,
                None,
                json!({"path": "/orders/new", "httpMethod": "POST"})
            ),
            point(Webhook, "POST", "orders/new", &[])
        );
        assert_eq!(
            of(WEBHOOK, Some("w-1"), json!({})),
            point(Webhook, "GET", "w-1", &[])
        );
        assert_eq!(
            of(
                WEBHOOK,
                Some("w-1"),
                json!({"path": "orders/:id", "httpMethod": ["GET", "POST"]})
            ),
            point(Webhook, "POST", "w-1/orders/:id", &[])
        );
        assert_eq!(
            of(
                FORM,
                Some("f-1"),
                json!({"formFields": {"values": [{"fieldLabel": "Name"}, {"fieldLabel": "Age"}]}})
            ),
            point(Form, "POST", "f-1", &["Name", "Age"])
        );
        assert_eq!(
            of(FORM, Some("f-1"), json!({"options": {"path": "sign-up"}})),
            point(Form, "POST", "sign-up", &[])
        );
        assert_eq!(
            of(CHAT, Some("c-1"), json!({"public": true})),
            point(Chat, "POST", "c-1/chat", &[])
        );
    }

    #[test]
    fn what_cannot_be_called_from_outside_is_no_point() {
        assert_eq!(
            of("n8n-nodes-base.scheduleTrigger", Some("x"), json!({})),
            []
        );
        assert_eq!(of(CHAT, Some("c-1"), json!({})), []);
        assert_eq!(of(WEBHOOK, None, json!({"path": "={{ $json.a }}"})), []);
    }

    #[test]
    fn a_path_cannot_lead_elsewhere() {
        for path in [
            "../api/v1/workflows/1",
            "a/../../b",
            "a//b",
            "a?b",
            "a#b",
            "a%2e%2e",
            "a\\b",
            ".",
        ] {
            assert_eq!(of(WEBHOOK, None, json!({"path": path})), [], "{path}");
        }
    }
}
