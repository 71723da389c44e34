//! `create_workflow`: a new workflow from all its nodes, or from operations on an empty one.

use super::created::fill_added_versions;
use super::edit::Part;
use super::memory::memory;
use super::n8n::N8n;
use super::n8n::resource;
use super::perform::Was;
use super::shown::difference;
use crate::arguments::{arguments, as_in_update, object, position, text, todo};
use crate::backend::{BackendError, BackendErrorKind};
use crate::capability as can;
use crate::guards;
use crate::noted::{CreateMark, Noted};
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_base::decision::Decision;
use agentctl_base::question::Glance;
use agentctl_engine::guards::rules::REPEAT;
use agentctl_engine::redact::Redactor;
use agentctl_engine::store::SnapshotRef;
use agentctl_engine::store::event::{Change as Changed, MutationExpectation};
use agentctl_engine::toolset::{
    Act, Change, Cx, Fault, Head, Keep, Outcome, Performed, Plan, Planning, Reserved, Touches,
    Wanted, backend_failure,
};
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::hash::graph_hash;
use agentctl_n8n::workflow::{Connections, number};
use agentctl_n8n::{EditOp, Node, NodeId, Workflow, WorkflowId, edit, layout};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

arguments! {
    /// Either `nodes` (with `connections` and `settings`), or `ops` on an empty workflow.
    CreateWorkflow {
        required name: String = json!({"type": "string", "minLength": 1});
        optional nodes: Option<Vec<CreatedNode>> = json!({"type": "array", "items": node_schema()});
        optional connections: Option<Connections> = json!({
            "type": "object",
            "description": "source node name → output type → list per output index of lists of {node, type, index}",
        });
        optional settings: Option<Map<String, Value>> = json!({"type": "object"});
        optional ops: Option<Vec<EditOp>> = as_in_update("instead of nodes, on an empty workflow");
        /// Whoever called reads it in the call again; nothing is done with it here.
        #[serde(default)]
        optional todo: Vec<String> = todo();
    }
}

/// A node of a new workflow: the keys that n8n's editor writes, and no others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CreatedNode {
    #[serde(default)]
    pub id: Option<String>,
    pub name: String,
    #[serde(rename = "type")]
    pub node_type: String,
    #[serde(default)]
    pub type_version: Option<f64>,
    #[serde(default)]
    pub position: Option<[f64; 2]>,
    #[serde(default)]
    pub parameters: Map<String, Value>,
    #[serde(default)]
    pub credentials: Option<Map<String, Value>>,
    #[serde(default)]
    pub disabled: Option<bool>,
    #[serde(default)]
    pub notes: Option<String>,
    #[serde(default)]
    pub notes_in_flow: Option<bool>,
    #[serde(default)]
    pub on_error: Option<String>,
    #[serde(default)]
    pub retry_on_fail: Option<bool>,
    #[serde(default)]
    pub max_tries: Option<u32>,
    #[serde(default)]
    pub wait_between_tries: Option<u32>,
    #[serde(default)]
    pub execute_once: Option<bool>,
    #[serde(default)]
    pub always_output_data: Option<bool>,
    #[serde(default)]
    pub webhook_id: Option<String>,
}

impl CreatedNode {
    /// The node as n8n keeps it. `id` is used when the node brings none.
    pub fn into_node(self, id: impl FnOnce() -> String) -> Node {
        let id = self.id.filter(|id| !id.is_empty()).unwrap_or_else(id);
        let mut node = Node::new(
            NodeId(id),
            self.name,
            self.node_type,
            self.type_version.unwrap_or(1.0),
            self.parameters,
        );
        match self.position {
            Some([x, y]) => node.set_position(x, y),
            None => {
                node.map_mut().shift_remove("position");
            }
        }
        if self.type_version.is_none() {
            node.map_mut().shift_remove("typeVersion");
        }
        let rest = [
            ("credentials", self.credentials.map(Value::Object)),
            ("disabled", self.disabled.map(Value::Bool)),
            ("notes", self.notes.map(Value::String)),
            ("notesInFlow", self.notes_in_flow.map(Value::Bool)),
            ("onError", self.on_error.map(Value::String)),
            ("retryOnFail", self.retry_on_fail.map(Value::Bool)),
            ("maxTries", self.max_tries.map(f64::from).map(number)),
            (
                "waitBetweenTries",
                self.wait_between_tries.map(f64::from).map(number),
            ),
            ("executeOnce", self.execute_once.map(Value::Bool)),
            ("alwaysOutputData", self.always_output_data.map(Value::Bool)),
            ("webhookId", self.webhook_id.map(Value::String)),
        ];
        for (key, value) in rest {
            if let Some(value) = value {
                node.set(key, value);
            }
        }
        node
    }
}

fn node_schema() -> Value {
    let mut node = json!({
        "name": text("unique in the workflow"),
        "type": text("full type name, e.g. n8n-nodes-base.slack"),
        "typeVersion": {"type": "number"},
        "parameters": {"type": "object"},
        "id": {"type": "string"},
        "position": position(),
        "credentials": {"type": "object", "description": "leave out; the user attaches credentials"},
    });
    if let Value::Object(map) = &mut node {
        map.extend(node_settings());
    }
    object(node, &["name", "type", "parameters"])
}

fn node_settings() -> Map<String, Value> {
    let Value::Object(map) = json!({
        "disabled": {"type": "boolean"},
        "notes": {"type": "string"},
        "notesInFlow": {"type": "boolean"},
        "onError": {"type": "string", "enum": ["stopWorkflow", "continueRegularOutput", "continueErrorOutput"]},
        "retryOnFail": {"type": "boolean"},
        "maxTries": {"type": "integer"},
        "waitBetweenTries": {"type": "integer", "description": "milliseconds"},
        "executeOnce": {"type": "boolean"},
        "alwaysOutputData": {"type": "boolean"},
        "webhookId": {"type": "string"},
    }) else {
        return Map::new();
    };
    map
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::change::<CreateWorkflow>(Head {
        makes_or_deletes: true,
        idempotent: false,
        ..Head::new(
            "create_workflow",
            can::CREATE_WORKFLOW,
            "Create a workflow from all its nodes and connections (or from a list of operations). Ids and positions may be left out. Returns id, file, node count and graph hash as read back, and what a check says of it.",
            CreateWorkflow::schema,
        )
    })
}

impl Change for On<N8n, CreateWorkflow> {
    fn plan<'a>(&'a self, cx: &'a mut Cx<'_>, exact: &'a Value) -> BoxFuture<'a, Planning> {
        Box::pin(self.on.plan_create(cx, &self.args, Part::Whole, exact))
    }
}

struct Create {
    n8n: Arc<N8n>,
    id: Option<WorkflowId>,
    after: Workflow,
    /// The graph hash of `after`.
    meant: String,
    /// Where the backend chooses the id.
    mark: Option<CreateMark>,
    /// Which credentials were taken, and which are missing.
    accounts: Vec<Value>,
}

impl Act for Create {
    /// There is none yet.
    fn keep(&self) -> Option<Keep> {
        None
    }
    fn touches(&self) -> Touches {
        Touches::New
    }
    fn diff(&self, redactor: &Redactor) -> Option<String> {
        Some(difference(redactor, &Workflow::empty(""), &self.after))
    }
    fn after_it(&self) -> Option<Value> {
        Some(self.after.to_value())
    }
    fn glance(&self, wanted: &Wanted<'_>) -> Option<Glance> {
        Some(self.n8n.glance(wanted, None, &self.after))
    }
    fn before(&mut self, _: &Decision, _: bool) -> Result<Result<(), Decision>, Fault> {
        match &self.id {
            Some(id) => self.n8n.note_new(id),
            None => Ok(Ok(())),
        }
    }
    fn perform<'a>(&'a mut self, _: Option<&'a SnapshotRef>) -> BoxFuture<'a, Performed> {
        Box::pin(async {
            let n8n = &self.n8n;
            let written = n8n.backend.create(self.id.as_ref(), &self.after).await;
            let (id, error) = match (written, self.id.clone(), &self.mark) {
                (Ok(stored), _, _) => (stored.id, None),
                (Err(error), Some(id), _) => (id, Some(error)),
                // It may be there all the same: then it is ours, and no second one is made.
                (Err(error), None, Some(mark)) => match n8n.created(mark).await {
                    Ok(found) => match found.as_slice() {
                        [one] => (one.id.clone(), None),
                        _ => return (Err(error), None),
                    },
                    Err(_) => return (Err(error), None),
                },
                (Err(error), None, None) => return (Err(error), None),
            };
            let was = Was {
                id,
                before: None,
                snapshot: None,
                judged: None,
            };
            let mut notes = Map::from_iter([("created".to_owned(), Value::Bool(true))]);
            if !self.accounts.is_empty() {
                notes.insert("credentials".into(), Value::Array(self.accounts.clone()));
            }
            n8n.read_back(was, &self.meant, error, notes).await
        })
    }
    fn after<'a>(
        &'a mut self,
        change: Option<&'a Changed>,
        now: jiff::Timestamp,
    ) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(self.n8n.note_done(change, Some(&self.meant), None, now))
    }
}

impl N8n {
    pub(super) async fn plan_create(
        self: &Arc<Self>,
        cx: &mut Cx<'_>,
        create: &CreateWorkflow,
        part: Part,
        exact: &Value,
    ) -> Planning {
        if let Some(id) = memory(cx.guards).created_as(&create.name) {
            let reason = format!("this run created {:?} already, as `{id}`", create.name);
            return Ok(Err(Outcome::Refused(guards::deny(REPEAT, reason))));
        }
        let mut after = match built(create, self.catalog, &mut || cx.recorder.new_id()) {
            Ok(after) => after,
            Err(outcome) => return Ok(Err(outcome)),
        };
        if part == Part::Structure {
            let judged = guards::structure_only(&Workflow::empty(""), &after, self.catalog);
            if matches!(judged, Decision::Deny { .. }) {
                return Ok(Err(Outcome::Refused(judged)));
            }
        }
        // What the caller names is the user's to allow; what the program takes by type is not.
        let named = guards::credentials(None, &after);
        let attached = self.attach(cx, None, &mut after, exact).await?;
        let reserve = |decision, with: &str| {
            let what = || format!("create {:?}{with}", create.name);
            Reserved::new(decision, || (what(), exact.clone()))
        };
        let mut reserved = vec![reserve(named, " with credentials")];
        // In a fix cycle a second workflow would be a way round the scope.
        if let Some(entries) = cx.guards.scope().filter(|_| cx.guards.log().has_worked()) {
            let none = Workflow::empty("");
            reserved.push(reserve(
                guards::edit_scope(entries, &none, &none, &after),
                "",
            ));
        }
        let created = self.creation(after, attached.told).await?;
        Ok(created.map(|planned| Plan {
            reserved,
            question: attached.question,
            ..planned
        }))
    }

    /// Where the document would be made and what it will be known by, with no guard's decision yet. `accounts`: which
    /// credentials were taken, and which are missing.
    pub(super) async fn creation(
        self: &Arc<Self>,
        after: Workflow,
        accounts: Vec<Value>,
    ) -> Planning {
        let place = async {
            let id = self.backend.reserve(after.name()).await?;
            let mark = match &id {
                Some(_) => None,
                None => Some(self.create_mark(&after).await?),
            };
            Ok::<_, BackendError>((id, mark))
        };
        let (id, mark) = match place.await {
            Ok(place) => place,
            Err(error) if error.kind == BackendErrorKind::Unavailable => {
                return Err(self.unavailable(error));
            }
            Err(error) => return Ok(Err(Outcome::Failed(backend_failure(&error)))),
        };
        let meant = graph_hash(&after);
        let noted = Noted {
            created: mark.clone(),
            ..Noted::default()
        };
        Ok(Ok(Plan {
            expect: Some(MutationExpectation {
                resource: id.as_ref().map(resource),
                after: Some(meant.clone()),
                more: noted.written(),
                ..MutationExpectation::default()
            }),
            act: Box::new(Create {
                n8n: Arc::clone(self),
                id,
                after,
                meant,
                mark,
                accounts,
            }),
            reserved: Vec::new(),
            question: None,
        }))
    }
}

/// The document of a create call, checked for what no backend could keep.
fn built(
    create: &CreateWorkflow,
    catalog: &Catalog,
    ids: &mut dyn FnMut() -> String,
) -> Result<Workflow, Outcome> {
    let wrong = |why: String| {
        Outcome::failed(
            why,
            "arguments",
            "correct it and send the whole workflow again",
        )
    };
    if create.name.trim().is_empty() {
        return Err(wrong("the name is empty".to_owned()));
    }
    let mut workflow = Workflow::empty(create.name.trim());
    if let Some(ops) = &create.ops {
        if create.nodes.is_some() || create.connections.is_some() {
            return Err(wrong(
                "give nodes and connections, or ops, not both".to_owned(),
            ));
        }
        workflow = edit::apply(&workflow, ops, ids).map_err(|e| wrong(e.to_string()))?;
    }
    for node in create.nodes.iter().flatten() {
        workflow.nodes.push(node.clone().into_node(&mut *ids));
    }
    if let Some(connections) = &create.connections {
        workflow.connections = connections.clone();
    }
    if let Some(settings) = &create.settings
        && let Some(Value::Object(base)) = workflow.head.get_mut("settings")
    {
        base.extend(settings.clone());
    }
    if workflow.nodes.is_empty() {
        return Err(wrong("the workflow has no nodes".to_owned()));
    }
    let mut names = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for node in &workflow.nodes {
        edit::check_name(node.name()).map_err(wrong)?;
        if node.node_type().is_empty() {
            return Err(wrong(format!("the node {:?} has no type", node.name())));
        }
        if !names.insert(node.name()) {
            return Err(wrong(format!("two nodes are named {:?}", node.name())));
        }
        if !seen.insert(node.id()) {
            return Err(wrong(format!("two nodes have the id {:?}", node.id().0)));
        }
    }
    for (from, _, _, link) in workflow.edges() {
        for name in [from, link.node.as_str()] {
            if !names.contains(name) {
                return Err(wrong(format!(
                    "a connection names {name:?}, and no node is named so"
                )));
            }
        }
    }
    fill_added_versions(&Workflow::empty(""), &mut workflow, catalog);
    let unplaced: Vec<NodeId> = workflow
        .nodes
        .iter()
        .filter(|node| node.position().is_none())
        .map(|node| node.id())
        .collect();
    let drawn = create.ops.iter().flatten().any(|op| match op {
        EditOp::AddNode { node } => node.position.is_some(),
        EditOp::MoveNode { .. } => true,
        _ => false,
    });
    if unplaced.len() == workflow.nodes.len() || (create.ops.is_some() && !drawn) {
        layout::layout(&mut workflow);
    } else {
        layout::place_new(&mut workflow, &unplaced);
    }
    Ok(workflow)
}
