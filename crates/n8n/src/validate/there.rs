//! What only the n8n that a workflow is on, or goes to, tells: credentials that it does not have, and addresses that another active workflow
//! holds. Pure; what the n8n has is given.

use super::{
    path::joined,
    report::Report,
    rules,
    subject::{Subject, Types},
    webhook::{claimed, hooks},
};
use crate::{
    Workflow,
    catalog::Catalog,
    finding::{Finding, Severity},
    needs,
};
use serde_json::Value;
use std::collections::BTreeSet;

/// What an n8n has.
#[derive(Debug, Clone, Default)]
pub struct There {
    /// Type and id of each credential; None: it does not list them.
    pub credentials: Option<BTreeSet<(String, String)>>,
    pub held: Vec<HeldAddress>,
}

/// An address that an active workflow answers at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldAddress {
    pub workflow_id: String,
    pub workflow: String,
    pub method: String,
    /// Without slashes at its ends.
    pub path: String,
}

impl There {
    /// Adds the addresses of an active workflow.
    pub fn hold(&mut self, id: &str, workflow: &Workflow, catalog: &Catalog) {
        let document = workflow.to_value();
        let types = Types::of(&document, catalog);
        let subject = Subject::of(&document, catalog, &types);
        let claims = hooks(&subject).flat_map(|hook| claimed(hook));
        self.held.extend(claims.map(|(method, path)| HeldAddress {
            workflow_id: id.to_owned(),
            workflow: workflow.name().to_owned(),
            method: method.to_owned(),
            path: path.to_owned(),
        }));
    }

    /// The findings about a workflow, which has this id there.
    pub fn findings(&self, id: &str, workflow: &Workflow, catalog: &Catalog) -> Vec<Finding> {
        if self.credentials.is_none() && self.held.is_empty() {
            return Vec::new();
        }
        let document = workflow.to_value();
        let types = Types::of(&document, catalog);
        let subject = Subject::of(&document, catalog, &types);
        let mut report = Report::default();
        for hook in hooks(&subject) {
            for (method, path) in claimed(hook) {
                let of_other = |held: &&HeldAddress| {
                    held.workflow_id != id && held.method == method && held.path == path
                };
                let Some(held) = self.held.iter().find(of_other) else {
                    continue;
                };
                let message = format!(
                    "{method} {path:?} belongs to the active workflow {:?} ({}), so n8n does not publish this one; give it another path, or deactivate that workflow",
                    held.workflow, held.workflow_id
                );
                let mut draft = rules::WEBHOOK_PATH_CONFLICT.at("/parameters/path", message);
                // A draft, which may be there to take the other one's place.
                if !workflow.active() {
                    draft = draft.at_most(Severity::Warning);
                }
                report.node(hook, draft.key(format!("{method}@{}", held.workflow_id)));
            }
        }
        let Some(known) = &self.credentials else {
            return report.finish();
        };
        for node in subject.judged() {
            let named = node.raw.get("credentials").and_then(Value::as_object);
            let Some(description) = node.description() else {
                continue;
            };
            let used =
                |(kind, _): &(&String, &Value)| needs::takes(description, &node.filled, kind);
            for (kind, credential) in named.into_iter().flatten().filter(used) {
                let Some(id) = credential.get("id").and_then(Value::as_str) else {
                    continue;
                };
                if id.is_empty() || known.contains(&(kind.clone(), id.to_owned())) {
                    continue;
                }
                let name = credential.get("name").and_then(Value::as_str);
                let message = format!(
                    "names the {kind} credential {:?} ({id}), which this n8n does not have; choose one there (agentctl credentials list shows them)",
                    name.unwrap_or_default()
                );
                let draft =
                    rules::CREDENTIAL_NOT_CONNECTED.at(joined("/credentials", kind), message);
                report.node(node, draft.key(id));
            }
        }
        report.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn workflow(name: &str, path: &str, credential: Value) -> Workflow {
        let hook = json!({"name": "Hook", "type": "n8n-nodes-base.webhook", "typeVersion": 2, "parameters": {"path": path, "httpMethod": "POST"}});
        let post = json!({"name": "Post", "type": "n8n-nodes-base.slack", "typeVersion": 2.3, "parameters": {}, "credentials": {"slackApi": credential}});
        let document = json!({"name": name, "nodes": [hook, post], "connections": {}});
        Workflow::from_value(document).unwrap()
    }

    fn told(there: &There, id: &str, workflow: &Workflow) -> Vec<String> {
        let findings = there.findings(id, workflow, Catalog::embedded());
        let line = |f: Finding| format!("{} {}: {}", f.code, f.pointer, f.message);
        findings.into_iter().map(line).collect()
    }

    #[test]
    fn an_address_that_another_active_workflow_holds_is_found_and_its_own_is_not() {
        let mut there = There::default();
        let holder = workflow("Holder", "/orders/", json!({"id": "1", "name": "Team"}));
        there.hold("w1", &holder, Catalog::embedded());
        let rival = workflow("Rival", "orders", json!({"id": "1", "name": "Team"}));
        assert_eq!(
            told(&there, "w2", &rival),
            [
                "agentctl/webhook-path-conflict /nodes/0/parameters/path: POST \"orders\" belongs to the active workflow \"Holder\" (w1), so n8n does not publish this one; give it another path, or deactivate that workflow"
            ]
        );
        assert_eq!(told(&there, "w1", &holder), [""; 0]);
        let severities = |workflow: &Workflow| -> Vec<Severity> {
            let findings = there.findings("w2", workflow, Catalog::embedded());
            findings.iter().map(|finding| finding.severity).collect()
        };
        assert_eq!(severities(&rival), [Severity::Warning]);
        let mut document = rival.to_value();
        document["active"] = json!(true);
        let published = Workflow::from_value(document).unwrap();
        assert_eq!(severities(&published), [Severity::Error]);
        let other = workflow("Other", "bills", json!({"id": "1", "name": "Team"}));
        assert_eq!(told(&there, "w3", &other), [""; 0]);
    }

    #[test]
    fn a_credential_that_the_n8n_does_not_have_is_found_where_it_lists_them() {
        let one = workflow("One", "a", json!({"id": "9", "name": "Old"}));
        let other = workflow("Other", "a", json!({"id": "1", "name": "Team"}));
        assert_eq!(told(&There::default(), "w", &one), [""; 0]);
        let there = There {
            credentials: Some([("slackApi".to_owned(), "1".to_owned())].into()),
            ..There::default()
        };
        assert_eq!(
            told(&there, "w", &one),
            [
                "agentctl/credential-not-connected /nodes/1/credentials/slackApi: names the slackApi credential \"Old\" (9), which this n8n does not have; choose one there (agentctl credentials list shows them)"
            ]
        );
        assert_eq!(told(&there, "w", &other), [""; 0]);
    }

    #[test]
    fn a_credential_that_the_parameters_do_not_take_is_not_judged() {
        let there = There {
            credentials: Some(BTreeSet::new()),
            ..There::default()
        };
        let asks = |authentication: Value| {
            let mut parameters = json!({"url": "https://shop.test"});
            parameters
                .as_object_mut()
                .unwrap()
                .extend(authentication.as_object().unwrap().clone());
            let ask = json!({"name": "Ask", "type": "n8n-nodes-base.httpRequest", "typeVersion": 4.2, "parameters": parameters, "credentials": {"httpHeaderAuth": {"id": "9", "name": "Old"}}});
            let document = json!({"name": "One", "nodes": [ask], "connections": {}});
            told(&there, "w", &Workflow::from_value(document).unwrap()).len()
        };
        assert_eq!(asks(json!({"authentication": "none"})), 0);
        assert_eq!(
            asks(
                json!({"authentication": "genericCredentialType", "genericAuthType": "httpBasicAuth"})
            ),
            0
        );
        assert_eq!(
            asks(
                json!({"authentication": "genericCredentialType", "genericAuthType": "httpHeaderAuth"})
            ),
            1
        );
    }
}
