//! Which of the n8n's credentials a new node gets: the one that the user chooses, or named when the run began; else none, and the
//! answer says which would fit. The only one that fits is a proposal like any other: a node whose address somebody else wrote would
//! send it there. Names, types and ids are all that is ever read, and no id is taken that the n8n did not name.

use super::memory::memory;
use super::n8n::N8n;
use crate::backend::CredentialHead;
use crate::guards;
use agentctl_base::question::{Proposal, Question, QuestionOption};
use agentctl_engine::guards::{GuardState, approval_hash};
use agentctl_engine::redact::clean_text;
use agentctl_engine::toolset::{Cx, Fault};
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::needs::{Need, needs};
use agentctl_n8n::{Node, Workflow};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Types of credentials that go wherever a node's address says.
const GENERIC: &[&str] = &[
    "httpBasicAuth",
    "httpBearerAuth",
    "httpCustomAuth",
    "httpDigestAuth",
    "httpHeaderAuth",
    "httpQueryAuth",
    "httpSslAuth",
    "oAuth1Api",
    "oAuth2Api",
];
/// Parameters that hold an address.
const ADDRESSES: &[&str] = &["url", "endpoint", "endpointUrl", "baseUrl", "host"];
/// So much of an address is shown.
const SHOWN: usize = 200;

/// What became of the needs of new nodes.
#[derive(Default)]
pub(super) struct Attached {
    /// For the answer: what was taken, what could be chosen from, what is missing.
    pub told: Vec<Value>,
    /// What the user has to be asked before the call is made.
    pub question: Option<Box<Question>>,
}

impl N8n {
    /// Connects the nodes that `before` does not have. `exact` is the call itself: a choice counts for it alone.
    pub(super) async fn attach(
        &self,
        cx: &mut Cx<'_>,
        before: Option<&Workflow>,
        after: &mut Workflow,
        exact: &Value,
    ) -> Result<Attached, Fault> {
        let known: BTreeSet<&str> = (before.iter().flat_map(|w| &w.nodes))
            .map(Node::id_text)
            .collect();
        let open: Vec<Need> = after
            .nodes
            .iter()
            .filter(|node| !node.disabled() && !known.contains(node.id_text()))
            .flat_map(|node| needs(node, self.catalog))
            .filter(|need| need.id.is_none())
            .collect();
        if open.is_empty() || !self.backend.can().credentials {
            return Ok(Attached::default());
        }
        let list = match self.backend.credentials().await {
            Ok(list) => list,
            // For example a key that may not list them: then the user connects them, as without a list.
            Err(error) if error.is_of_this_alone() => return Ok(Attached::default()),
            Err(error) => return Err(self.unavailable(error)),
        };
        // A node that goes where its address says is asked for by itself, with the address.
        let mut groups: BTreeMap<(&str, Option<&str>), Vec<String>> = BTreeMap::new();
        for need in &open {
            let node = after.node_by_name(&need.node);
            let elsewhere = !node.is_some_and(|node| of_its_service(node, &need.credential_type));
            let alone = elsewhere.then_some(need.node.as_str());
            let nodes = groups.entry((&need.credential_type, alone)).or_default();
            nodes.push(need.node.clone());
        }
        let mut attached = Attached::default();
        for ((credential_type, alone), nodes) in groups {
            let fitting: Vec<&CredentialHead> = list
                .iter()
                .filter(|c| c.credential_type == credential_type)
                .collect();
            let taken = match fitting.as_slice() {
                [] => None,
                several
                    if alone.is_none() && memory(cx.guards).account(credential_type).is_some() =>
                {
                    let name = memory(cx.guards).account(credential_type);
                    let mut same = several.iter().filter(|c| Some(c.name.as_str()) == name);
                    same.next().filter(|_| same.next().is_none()).copied()
                }
                several => {
                    let sender = alone.and_then(|name| after.node_by_name(name));
                    let to = sender.map(sends_to).unwrap_or_default();
                    let chosen = self.chosen(cx, credential_type, (&nodes, &to), several, exact);
                    if attached.question.is_none() {
                        attached.question = chosen.1;
                    }
                    chosen.0
                }
            };
            for name in &nodes {
                if let Some(taken) = taken {
                    connect(after, name, taken);
                }
                attached
                    .told
                    .push(self.account_entry(name, credential_type, &fitting, taken));
            }
        }
        Ok(attached)
    }

    /// Which one the user chose, or the question. Where nobody can be asked it stays open.
    fn chosen<'a>(
        &self,
        cx: &Cx<'_>,
        credential_type: &str,
        (nodes, to): (&[String], &str),
        several: &[&'a CredentialHead],
        exact: &Value,
    ) -> (Option<&'a CredentialHead>, Option<Box<Question>>) {
        let ids: Vec<&str> = several.iter().map(|c| c.id.as_str()).collect();
        let subject = json!({"call": exact, "type": credential_type, "nodes": nodes, "ids": ids});
        let hash = approval_hash(guards::ACCOUNT, &subject);
        match cx.guards.choice(&hash) {
            Some(chosen) => (several.iter().copied().find(|c| c.id == chosen), None),
            None if !cx.can_ask => (None, None),
            None => {
                let accounts = Accounts {
                    label: self.credential_label(credential_type),
                    credential_type,
                    nodes,
                    to,
                    fitting: several
                        .iter()
                        .map(|c| (c.id.as_str(), c.name.as_str()))
                        .collect(),
                };
                let tool = exact.get("tool").and_then(Value::as_str);
                let called = (cx.role, tool.unwrap_or_default());
                let expires = cx.expires;
                let mut question = account_question(cx.guards, &accounts, hash, called, expires);
                question.text = clean_text(cx.redactor, &question.text);
                for option in &mut question.options {
                    option.label = clean_text(cx.redactor, &option.label);
                }
                (None, Some(Box::new(question)))
            }
        }
    }

    fn credential_label<'a>(&'a self, credential_type: &'a str) -> &'a str {
        let label = self.catalog.credential_label(credential_type);
        label.unwrap_or(credential_type)
    }

    fn account_entry(
        &self,
        node: &str,
        credential_type: &str,
        fitting: &[&CredentialHead],
        taken: Option<&CredentialHead>,
    ) -> Value {
        let mut entry = Map::new();
        entry.insert("node".into(), json!(node));
        entry.insert("type".into(), json!(credential_type));
        entry.insert(
            "label".into(),
            json!(self.credential_label(credential_type)),
        );
        match (taken, fitting) {
            (Some(taken), _) => entry.insert("taken".into(), named(taken)),
            (None, []) => entry.insert("missing".into(), Value::Bool(true)),
            (None, several) => {
                let choice: Vec<Value> = several.iter().map(|c| named(c)).collect();
                entry.insert("candidates".into(), Value::Array(choice))
            }
        };
        Value::Object(entry)
    }
}

/// The node's own type asks for this credential, so it goes to that service and nowhere else. By compiled-in facts.
fn of_its_service(node: &Node, credential_type: &str) -> bool {
    let known = Catalog::embedded().lookup(node.node_type(), node.type_version());
    known.known().is_some_and(|description| {
        let slot = |slot: &agentctl_n8n::catalog::CredentialSlot| slot.name == credential_type;
        !GENERIC.contains(&credential_type)
            && node.node_type() != "n8n-nodes-base.httpRequest"
            && description.credentials.iter().any(slot)
    })
}

/// Where the node would send it, as far as its parameters say, for a question.
fn sends_to(node: &Node) -> String {
    let said = node
        .parameters()
        .and_then(|given| ADDRESSES.iter().find_map(|key| given.get(*key)?.as_str()));
    match said {
        Some(said) => {
            let said: String = said.chars().take(SHOWN).collect();
            format!(" (which sends it to {said:?})")
        }
        None => " (which sends it where its parameters say)".to_owned(),
    }
}

fn named(credential: &CredentialHead) -> Value {
    json!({"id": credential.id, "name": credential.name})
}

fn connect(workflow: &mut Workflow, node: &str, credential: &CredentialHead) {
    if let Some(node) = workflow.nodes.iter_mut().find(|n| n.name() == node) {
        let mut all = node.credentials().cloned().unwrap_or_default();
        all.insert(credential.credential_type.clone(), named(credential));
        node.set("credentials", Value::Object(all));
    }
}

/// Which credential of one type is meant, if any.
struct Accounts<'a> {
    pub label: &'a str,
    pub credential_type: &'a str,
    /// The nodes that need it.
    pub nodes: &'a [String],
    /// Where the node would send it, as " (which sends it to …)", where the node and not the service says it; else empty.
    pub to: &'a str,
    /// Id and name of each.
    pub fitting: Vec<(&'a str, &'a str)>,
}

/// The answer that takes none of them.
const NO_ACCOUNT: &str = "none";

/// Asks for one of the accounts by its id. `hash`: of the call and of what there is to choose from.
fn account_question(
    state: &GuardState,
    accounts: &Accounts<'_>,
    hash: String,
    (role, tool): (&str, &str),
    expires: Timestamp,
) -> Question {
    let mut options: Vec<QuestionOption> = accounts
        .fitting
        .iter()
        .map(|(id, name)| QuestionOption::new(*id, *name))
        .collect();
    options.push(QuestionOption::new(
        NO_ACCOUNT,
        "None of these; I choose it in n8n later",
    ));
    let ids: Vec<&Value> = options.iter().map(|option| &option.value).collect();
    let schema = json!({"type": "string", "enum": ids});
    let names: Vec<String> = accounts.nodes.iter().map(|n| format!("{n:?}")).collect();
    Question {
        id: state.next_question_id("credential"),
        topic: "credential".to_owned(),
        text: {
            let (label, to, names) = (accounts.label, accounts.to, names.join(", "));
            match accounts.fitting.as_slice() {
                [(_, name)] => format!(
                    "Shall {names}{to} use the credential {name:?} ({label})? It is the only one of its type on the n8n."
                ),
                _ => format!(
                    "Which credential ({label}) shall {names}{to} use? Several of this type are on the n8n."
                ),
            }
        },
        options,
        // No account is better than a wrong one.
        recommended: Some(json!(NO_ACCOUNT)),
        required: true,
        schema,
        approves: Some(hash),
        proposal: Some(Box::new(Proposal {
            after: None,
            glance: None,
            rule: guards::ACCOUNT.to_owned(),
            role: role.to_owned(),
            tool: tool.to_owned(),
            arguments: json!({"credential_type": accounts.credential_type, "nodes": accounts.nodes}),
            diff: None,
            expires_at: expires.to_string(),
            hidden: None,
        })),
        asked_by: None,
        asks_secret: false,
    }
}
