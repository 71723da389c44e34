//! A pack of a main agent and agents that it calls, as n8n workflows: one for the main agent (webhook, memory, a "Call 'X Agent'" tool for
//! each), one for each agent that is called. Pure. Names of nodes are those that people of n8n know from such systems.
//!
//! n8n does there what prompts say, not what this program guards: there is no guard of replies, and what must have been listed before is
//! only asked for.

mod accounts;
mod requests;
mod settings;

pub use accounts::{Account, Accounts};

use crate::sync::Local;
use agentctl_base::canonical::sha256_hex;
use agentctl_engine::flow::{Step, StepKind};
use agentctl_engine::pack::{Agent, DeclaredTool, Pack, ToolKind};
use agentctl_n8n::workflow::number;
use serde_json::{Map, Value, json};
use settings::Settings;
use std::collections::BTreeMap;

/// One workflow, with the name of its file.
#[derive(Debug, Clone, PartialEq)]
pub struct Exported {
    pub file: String,
    pub workflow: Value,
}

/// A pack as workflows.
#[derive(Debug, Clone, PartialEq)]
pub struct Export {
    /// Those of called agents first.
    pub workflows: Vec<Exported>,
    /// The agents that stay behind, since they work with what n8n has no node for: why, as sentences.
    pub left_out: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoExport {
    #[error(
        "the pack {0} has no agent that calls other agents, so there is no main agent to begin with"
    )]
    NoMainAgent(String),
    #[error("{file}: {why}")]
    Tool { file: String, why: String },
    #[error("{name} cannot be {value:?}: {why}")]
    Value {
        name: String,
        value: String,
        why: &'static str,
    },
    #[error("{name} stands nowhere in the workflows; what can be set: {known}")]
    Unknown { name: String, known: String },
    #[error(
        "no node of these workflows asks for a credential of the type {credential_type}; asked for: {known}"
    )]
    NoSuchCredential {
        credential_type: String,
        known: String,
    },
}

const LANGCHAIN: &str = "@n8n/n8n-nodes-langchain.";
const BASE: &str = "n8n-nodes-base.";
const AGENT: &str = "AI Agent";
const MODEL: &str = "workoflow-proxy";
/// The variable with the name of the model.
const MODEL_NAME: &str = "ASSISTANT_MODEL";
const SET_USER: &str = "SET USER";
pub(crate) const TRIGGER: &str = "When Executed by Another Workflow";
const ANSWER: &str = "Answer with one JSON object and nothing else: {\"output\": text, \"data\": object or null, \"attachment\": link or null}.";
/// What a reply is, whether the agent kept to the form or not.
const REPLY: &str =
    "$json.output.parseJson() || { output: $json.output, data: null, attachment: null }";

/// The workflows of a pack, those of called agents first: n8n has to know them before the main one.
///
/// # Errors
/// When no agent calls others, none of them works with tools that n8n has nodes for, or a value is set that stands nowhere or
/// cannot stand in a workflow.
///
/// `set`: variables whose values are written into the workflows; the others are read from n8n's own environment.
pub fn workflows(pack: &Pack, set: &BTreeMap<String, String>) -> Result<Export, NoExport> {
    let settings = Settings::of(set)?;
    let calls = |agent: &Agent| -> Vec<DeclaredTool> {
        let tools = agent.tools.iter().filter_map(|name| pack.tools.get(name));
        let flows = tools.filter(|tool| matches!(tool.kind, ToolKind::Flow { .. }));
        flows.cloned().collect()
    };
    let main = pack.agents.values().map(|agent| (agent, calls(agent)));
    let (main, tools) = main
        .max_by_key(|(_, tools)| tools.len())
        .filter(|(_, tools)| !tools.is_empty())
        .ok_or_else(|| NoExport::NoMainAgent(pack.manifest.name.clone()))?;
    let mut exported = Vec::new();
    let mut called = Vec::new();
    let mut left_out = Vec::new();
    for tool in &tools {
        let ToolKind::Flow { flow } = &tool.kind else {
            continue;
        };
        let steps = pack
            .flows
            .get(flow)
            .map(|loaded| loaded.flow.steps.as_slice());
        let steps = steps.unwrap_or_default();
        let agent = steps.iter().find_map(|step| match &step.kind {
            StepKind::Agent(spec) => pack.agents.get(&spec.agent),
            _ => None,
        });
        let Some(agent) = agent else { continue };
        let workflow = match of_agent(pack, agent, tool, steps, &settings) {
            Ok(workflow) => workflow,
            Err(error) => {
                left_out.push(error);
                continue;
            }
        };
        called.push((tool, title(&agent.name), id(pack, &agent.name)));
        exported.push(Exported {
            file: format!("{}.json", agent.name),
            workflow,
        });
    }
    if called.is_empty()
        && let Some(error) = left_out.pop()
    {
        return Err(error);
    }
    exported.push(Exported {
        file: format!("{}.json", main.name),
        workflow: of_main(pack, main, &called, &settings),
    });
    settings.all_stand()?;
    Ok(Export {
        workflows: exported,
        left_out: left_out.iter().map(NoExport::to_string).collect(),
    })
}

/// The ids by which a workflow calls others, as they are on an n8n.
pub fn rewire(workflow: &mut Value, ids: &BTreeMap<String, String>) {
    let nodes = workflow.get_mut("nodes").and_then(Value::as_array_mut);
    for node in nodes.into_iter().flatten() {
        let called = node.pointer_mut("/parameters/workflowId/value");
        if let Some(called) = called
            && let Some(id) = called.as_str().and_then(|id| ids.get(id))
        {
            *called = id.as_str().into();
        }
    }
}

/// What a file that is written anew keeps of the one before: the workflow that it follows, and the credentials that somebody chose.
pub fn keep(workflow: &mut Value, before: &Local) {
    let Some(map) = workflow.as_object_mut() else {
        return;
    };
    if let (Some(id), Some(base)) = (&before.id, &before.base) {
        map.insert("id".into(), json!(id));
        map.insert("meta".into(), json!({"agentctl": base}));
    }
    // What n8n set besides stays as it is.
    if let Some(Value::Object(settings)) = before.workflow.head.get("settings") {
        let mut settings = settings.clone();
        if let Some(Value::Object(own)) = map.get("settings") {
            settings.extend(own.clone());
        }
        map.insert("settings".into(), settings.into());
    }
    let nodes = map.get_mut("nodes").and_then(Value::as_array_mut);
    for node in nodes.into_iter().flatten().filter_map(Value::as_object_mut) {
        let name = node.get("name").and_then(Value::as_str);
        let same = name.and_then(|name| before.workflow.node_by_name(name));
        let same =
            same.filter(|same| node.get("type").and_then(Value::as_str) == Some(same.node_type()));
        if let Some(credentials) = same.and_then(|same| same.credentials()) {
            node.insert("credentials".into(), Value::Object(credentials.clone()));
        }
    }
}

/// `jira_agent` → `Jira Agent`.
fn title(name: &str) -> String {
    let words = name.split(['_', '-']).map(|word| {
        let mut letters = word.chars();
        let first = letters.next().map(|c| c.to_uppercase().collect::<String>());
        first.unwrap_or_default() + letters.as_str()
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The same for the same pack and agent, so that an import takes the place of the last one.
fn id(pack: &Pack, agent: &str) -> String {
    let mut hash = sha256_hex(format!("{}/{agent}", pack.manifest.name).as_bytes());
    hash.truncate(16);
    hash
}

struct Drawn {
    nodes: Vec<Value>,
    connections: Map<String, Value>,
}

impl Drawn {
    fn new() -> Drawn {
        Drawn {
            nodes: Vec::new(),
            connections: Map::new(),
        }
    }

    /// `kind`: type and version; `at`: where it is drawn.
    fn node(
        &mut self,
        name: &str,
        kind: (&str, f64),
        at: (i64, i64),
        parameters: Value,
        more: Value,
    ) {
        let id = name
            .to_lowercase()
            .replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let mut node = json!({"id": id, "name": name, "type": kind.0, "typeVersion": number(kind.1), "position": [at.0, at.1], "parameters": parameters});
        if let (Value::Object(node), Value::Object(more)) = (&mut node, more) {
            node.extend(more);
        }
        self.nodes.push(node);
    }

    /// `outputs`: the node that each output leads to.
    fn wire(&mut self, from: &str, port: &str, outputs: &[&str]) {
        let ends = outputs
            .iter()
            .map(|to| json!([{"node": to, "type": port, "index": 0}]));
        let wired = json!({port: ends.collect::<Vec<_>>()});
        self.connections.insert(from.to_owned(), wired);
    }

    fn model(&mut self, at: (i64, i64), settings: &Settings) {
        let parameters = json!({"model": settings.alone(MODEL_NAME), "options": {"maxRetries": 2}});
        self.node(
            MODEL,
            (&format!("{LANGCHAIN}lmChatAzureOpenAi"), 1.0),
            at,
            parameters,
            json!({}),
        );
        self.wire(MODEL, "ai_languageModel", &[AGENT]);
    }

    fn workflow(self, name: &str, id: &str) -> Value {
        json!({"id": id, "name": name, "nodes": self.nodes, "connections": self.connections, "settings": {"executionOrder": "v1"}})
    }
}

/// What SET USER makes of a body, wrapped in `body` or not: name → expression.
fn set_user() -> Value {
    let body = "($json.body.body || $json.body)";
    let fields = [
        (
            "userID",
            format!("{body}.from.aadObjectId || {body}.from.id"),
        ),
        ("userName", format!("{body}.from.name || ''")),
        ("chatInput", format!("{body}.text")),
        ("sessionId", format!("{body}.conversation.id")),
        ("tenantId", format!("{body}.conversation.tenantId")),
        ("locale", format!("{body}.locale || 'en-US'")),
    ];
    let fields = fields.map(|(name, value)| json!({"id": name, "name": name, "type": "string", "value": format!("={{{{ {value} }}}}")}));
    json!({"assignments": {"assignments": fields}, "options": {}})
}

fn of_main(
    pack: &Pack,
    agent: &Agent,
    called: &[(&DeclaredTool, String, String)],
    settings: &Settings,
) -> Value {
    let mut drawn = Drawn::new();
    let base = |name: &str| format!("{BASE}{name}");
    let path = pack.manifest.name.clone();
    drawn.node(
        "Webhook",
        (&base("webhook"), 2.1),
        (-600, 0),
        json!({"httpMethod": "POST", "path": path, "authentication": "basicAuth", "responseMode": "responseNode", "options": {}}),
        json!({"webhookId": id(pack, "webhook")}),
    );
    drawn.node(
        SET_USER,
        (&base("set"), 3.4),
        (-400, 0),
        set_user(),
        json!({}),
    );
    let names: Vec<&str> = called.iter().map(|(_, title, _)| title.as_str()).collect();
    let system = format!(
        "{}\n\nThe agents that you can call: {}.\n{ANSWER}",
        agent.prompt,
        names.join(", ")
    );
    drawn.node(
        AGENT,
        (&format!("{LANGCHAIN}agent"), 3.1),
        (-100, 0),
        json!({"promptType": "define", "text": "={{ $json.chatInput }}", "options": {"systemMessage": system, "maxIterations": 15}}),
        json!({"onError": "continueRegularOutput"}),
    );
    drawn.model((-200, 220), settings);
    let key = "={{ $('SET USER').item.json.tenantId + '/' + $('SET USER').item.json.userID + '/' + $('SET USER').item.json.sessionId }}";
    drawn.node(
        "Postgres Chat Memory",
        (&format!("{LANGCHAIN}memoryPostgresChat"), 1.4),
        (0, 220),
        json!({"sessionIdType": "customKey", "sessionKey": key, "contextWindowLength": 20}),
        json!({}),
    );
    drawn.wire("Postgres Chat Memory", "ai_memory", &[AGENT]);
    for (at, (tool, title, id)) in (0_i64..).zip(called) {
        let name = format!("Call '{title}'");
        let parameters = call_of(tool, title, id);
        drawn.node(
            &name,
            (&format!("{LANGCHAIN}toolWorkflow"), 2.2),
            (200 + 180 * at, 220),
            parameters,
            json!({}),
        );
        drawn.wire(&name, "ai_tool", &[AGENT]);
    }
    let condition = json!({"id": "successful", "leftValue": "={{ $json.output !== undefined && $json.error === undefined }}", "rightValue": "", "operator": {"type": "boolean", "operation": "true", "singleValue": true}});
    let options =
        json!({"caseSensitive": true, "leftValue": "", "typeValidation": "strict", "version": 3});
    drawn.node(
        "Successful?",
        (&base("if"), 2.3),
        (300, 0),
        json!({"conditions": {"options": options, "combinator": "and", "conditions": [condition]}, "options": {}}),
        json!({}),
    );
    let respond = |body: String, code: Option<u16>| {
        let options = code.map_or(json!({}), |code| json!({"responseCode": code}));
        json!({"respondWith": "json", "responseBody": format!("={{{{ JSON.stringify({body}) }}}}"), "options": options})
    };
    drawn.node(
        "Respond to Webhook",
        (&base("respondToWebhook"), 1.5),
        (520, -100),
        respond(REPLY.to_owned(), None),
        json!({}),
    );
    let failed = "{ output: 'That did not work, and nothing can be said about it.', data: { error: 'tool_failed' }, attachment: null }";
    drawn.node(
        "Error Response",
        (&base("respondToWebhook"), 1.5),
        (520, 100),
        respond(failed.to_owned(), Some(502)),
        json!({}),
    );
    drawn.wire("Webhook", "main", &[SET_USER]);
    drawn.wire(SET_USER, "main", &[AGENT]);
    drawn.wire(AGENT, "main", &["Successful?"]);
    drawn.wire(
        "Successful?",
        "main",
        &["Respond to Webhook", "Error Response"],
    );
    drawn.workflow(&title(&agent.name), &id(pack, &agent.name))
}

/// The node that calls the workflow of an agent: what is bound comes from SET USER, only the rest is the model's.
fn call_of(tool: &DeclaredTool, title: &str, id: &str) -> Value {
    let mut values = Map::new();
    for (name, from) in &tool.bind {
        let source = from.source();
        let path = source
            .strip_prefix("input.")
            .filter(|path| path.chars().all(char::is_alphanumeric));
        let field = match path.unwrap_or(name) {
            "userId" => "userID",
            "tenantID" => "tenantId",
            "userPrompt" | "message" => "chatInput",
            other => other,
        };
        let field = if name == "locale" { "locale" } else { field };
        values.insert(
            name.clone(),
            format!("={{{{ $('{SET_USER}').item.json.{field} }}}}").into(),
        );
    }
    for (name, schema) in requests::parameters(tool) {
        values.insert(
            name.clone(),
            format!("={{{{ {} }}}}", requests::from_ai(name, schema)).into(),
        );
    }
    let schema: Vec<Value> = values
        .keys()
        .map(|name| json!({"id": name, "displayName": name, "required": false, "defaultMatch": false, "display": true, "canBeUsedToMatch": true, "type": "string"}))
        .collect();
    json!({
        "description": tool.told(),
        "workflowId": {"__rl": true, "mode": "id", "value": id, "cachedResultName": title},
        "workflowInputs": {"mappingMode": "defineBelow", "value": values, "matchingColumns": [], "schema": schema, "attemptToConvertTypes": false, "convertFieldsToString": false},
    })
}

fn of_agent(
    pack: &Pack,
    agent: &Agent,
    called: &DeclaredTool,
    steps: &[Step],
    settings: &Settings,
) -> Result<Value, NoExport> {
    let mut drawn = Drawn::new();
    let inputs = called
        .bind
        .keys()
        .chain(requests::parameters(called).map(|(name, _)| name));
    let inputs: Vec<Value> = inputs.map(|name| json!({"name": name})).collect();
    drawn.node(
        TRIGGER,
        (&format!("{BASE}executeWorkflowTrigger"), 1.1),
        (-400, 0),
        json!({"workflowInputs": {"values": inputs}}),
        json!({}),
    );
    let tools: Vec<&DeclaredTool> = agent
        .tools
        .iter()
        .filter_map(|name| pack.tools.get(name))
        .collect();
    let order = tools.iter().filter_map(|tool| {
        let first = tool.requires.as_ref()?;
        Some(format!(
            "Always call {} first, then {}.",
            first.tool.to_uppercase(),
            tool.id.to_uppercase()
        ))
    });
    let order: Vec<String> = order.collect();
    let system = format!(
        "{}\n\n{}\nWhere the list is empty, say which integration has to be set up and answer data {{\"error\": \"no_tools\"}}.\n{ANSWER}",
        agent.prompt,
        order.join("\n")
    );
    let text = "=Task: {{ $json.taskDescription }}\nLanguage of the answer: {{ $json.locale }}\nThe user's words: {{ $json.userPrompt }}";
    drawn.node(
        AGENT,
        (&format!("{LANGCHAIN}agent"), 3.1),
        (-100, 0),
        json!({"promptType": "define", "text": text, "options": {"systemMessage": system, "maxIterations": agent.max_turns}}),
        json!({}),
    );
    drawn.model((-200, 220), settings);
    for (at, tool) in (0_i64..).zip(tools) {
        let name = tool.id.to_uppercase();
        let parameters =
            requests::request(tool, steps, settings).map_err(|why| NoExport::Tool {
                file: tool.file.clone(),
                why,
            })?;
        drawn.node(
            &name,
            (&format!("{BASE}httpRequestTool"), 4.2),
            (20 + 200 * at, 220),
            parameters,
            json!({}),
        );
        drawn.wire(&name, "ai_tool", &[AGENT]);
    }
    // Nobody waits for a response here: the last node's item is what the main agent gets.
    drawn.node(
        "Respond to Webhook",
        (&format!("{BASE}set"), 3.4),
        (300, 0),
        json!({"mode": "raw", "jsonOutput": format!("={{{{ {REPLY} }}}}"), "options": {}}),
        json!({}),
    );
    drawn.wire(TRIGGER, "main", &[AGENT]);
    drawn.wire(AGENT, "main", &["Respond to Webhook"]);
    Ok(drawn.workflow(&title(&agent.name), &id(pack, &agent.name)))
}
