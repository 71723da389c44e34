//! Credentials of a workflow that comes from another n8n: ids mean something on one n8n only, so each is found again by its type and
//! its name. Pure; what an n8n has is given.

use crate::backend::CredentialHead;
use agentctl_n8n::Workflow;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// By credential type and name in the file: the name there, where it is another one.
pub type Names = BTreeMap<String, BTreeMap<String, String>>;

/// A credential of a node that was found again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    pub node: String,
    pub credential_type: String,
    pub name: String,
    pub id: String,
}

/// One that was not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Missing {
    pub node: String,
    pub credential_type: String,
    /// Empty: the file gives an id alone.
    pub name: String,
    /// How many of that type and name there are: none, or too many to tell which is meant.
    pub there: usize,
}

/// A workflow with the credentials of the n8n that it goes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Moved {
    pub workflow: Workflow,
    /// Those whose id is another one now.
    pub found: Vec<Found>,
    /// Those that this n8n does not have; they stand as they were.
    pub missing: Vec<Missing>,
}

/// Looks each credential up on the n8n that has these. An id that it has, for that type, stays, unless `names` says another one.
pub fn moved(workflow: &Workflow, there: &[CredentialHead], names: &Names) -> Moved {
    let mut moved = Moved {
        workflow: workflow.clone(),
        found: Vec::new(),
        missing: Vec::new(),
    };
    for node in &mut moved.workflow.nodes {
        let Some(mut credentials) = node.credentials().cloned() else {
            continue;
        };
        let title = node.name().to_owned();
        for (credential_type, value) in &mut credentials {
            let of_type = || {
                there
                    .iter()
                    .filter(|head| head.credential_type == *credential_type)
            };
            let said = match &*value {
                Value::String(name) => name.as_str(),
                value => value
                    .get("name")
                    .and_then(Value::as_str)
                    .unwrap_or_default(),
            };
            let renamed = names.get(credential_type).and_then(|names| names.get(said));
            let id = value.get("id").and_then(Value::as_str);
            let stays = id.is_some_and(|id| of_type().any(|head| head.id == id));
            if stays && renamed.is_none() {
                continue;
            }
            let name = renamed.map_or(said, String::as_str);
            let named: Vec<&CredentialHead> = of_type().filter(|head| head.name == name).collect();
            match named.as_slice() {
                [one] => {
                    moved.found.push(Found {
                        node: title.clone(),
                        credential_type: credential_type.clone(),
                        name: one.name.clone(),
                        id: one.id.clone(),
                    });
                    *value = json!({"id": one.id, "name": one.name});
                }
                several => moved.missing.push(Missing {
                    node: title.clone(),
                    credential_type: credential_type.clone(),
                    name: name.to_owned(),
                    there: several.len(),
                }),
            }
        }
        if node.credentials() != Some(&credentials) {
            node.set("credentials", Value::Object(credentials));
        }
    }
    moved
}

/// The same without those that were not found: each of these nodes asks for its credential in n8n's editor.
pub fn without(moved: Moved) -> Workflow {
    let mut workflow = moved.workflow;
    for missing in &moved.missing {
        for node in &mut workflow.nodes {
            let Some(mut credentials) = node.credentials().cloned() else {
                continue;
            };
            if node.name() == missing.node
                && credentials.shift_remove(&missing.credential_type).is_some()
            {
                node.set("credentials", Value::Object(credentials));
            }
        }
    }
    workflow
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(id: &str, name: &str, credential_type: &str) -> CredentialHead {
        CredentialHead {
            id: id.to_owned(),
            name: name.to_owned(),
            credential_type: credential_type.to_owned(),
        }
    }

    fn workflow(credentials: &[Value]) -> Workflow {
        let nodes = credentials.iter().enumerate().map(|(at, credentials)| {
            json!({"id": at.to_string(), "name": format!("N{at}"), "type": "n8n-nodes-base.slack", "typeVersion": 2,
                "position": [0, 0], "parameters": {}, "credentials": credentials})
        });
        let nodes: Vec<Value> = nodes.collect();
        Workflow::from_value(json!({"name": "W", "nodes": nodes, "connections": {}})).unwrap()
    }

    fn credentials(workflow: &Workflow) -> Vec<Value> {
        let nodes = workflow.nodes.iter();
        nodes.map(|node| json!(node.credentials())).collect()
    }

    #[test]
    fn a_credential_is_found_again_by_its_type_and_name() {
        let there = [
            head("p1", "Sales", "slackApi"),
            head("p2", "Sales", "slackOAuth2Api"),
            head("p3", "Ops (live)", "slackApi"),
            head("p4", "Twice", "slackApi"),
            head("p5", "Twice", "slackApi"),
        ];
        let file = workflow(&[
            json!({"slackApi": {"id": "d1", "name": "Sales"}}),
            json!({"slackApi": "Sales"}),
            json!({"slackApi": {"id": "d2", "name": "Ops"}}),
            json!({"slackApi": {"id": "p5", "name": "whatever"}}),
            json!({"slackApi": {"id": "d4", "name": "Twice"}}),
            json!({"slackApi": {"id": "d5", "name": "Nobody's"}, "slackOAuth2Api": {"id": null, "name": "Sales"}}),
        ]);
        let names = Names::from([(
            "slackApi".to_owned(),
            BTreeMap::from([("Ops".to_owned(), "Ops (live)".to_owned())]),
        )]);
        let moved = moved(&file, &there, &names);
        assert_eq!(
            credentials(&moved.workflow),
            [
                json!({"slackApi": {"id": "p1", "name": "Sales"}}),
                json!({"slackApi": {"id": "p1", "name": "Sales"}}),
                json!({"slackApi": {"id": "p3", "name": "Ops (live)"}}),
                json!({"slackApi": {"id": "p5", "name": "whatever"}}),
                json!({"slackApi": {"id": "d4", "name": "Twice"}}),
                json!({"slackApi": {"id": "d5", "name": "Nobody's"}, "slackOAuth2Api": {"id": "p2", "name": "Sales"}}),
            ]
        );
        let missing: Vec<(&str, &str, usize)> = (moved.missing.iter())
            .map(|m| (m.node.as_str(), m.name.as_str(), m.there))
            .collect();
        assert_eq!(missing, [("N4", "Twice", 2), ("N5", "Nobody's", 0)]);
        let left = credentials(&without(moved));
        assert_eq!(left[4], json!({}));
        assert_eq!(
            left[5],
            json!({"slackOAuth2Api": {"id": "p2", "name": "Sales"}})
        );
    }

    #[test]
    fn what_stays_is_the_same_to_the_byte() {
        let file = workflow(&[
            json!({"slackApi": {"id": "a", "name": "Old name"}}),
            json!(null),
        ]);
        let there = [head("a", "New name", "slackApi")];
        let moved = moved(&file, &there, &Names::new());
        assert_eq!((moved.workflow, moved.found.len()), (file, 0));
    }
}
