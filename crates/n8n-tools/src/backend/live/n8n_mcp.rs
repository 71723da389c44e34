//! The npm server `n8n-mcp`: how it is started so that it can do no harm, and the few of its tools that are called. Its own
//! repairs, deployments, rollbacks and test calls are never used, and are switched off in the process that we start.

use super::document::{self, Held, held};
use super::http::Effect;
use super::rest::{self, Rest, present};
use super::server::{Got, ToolServer};
use crate::backend::{
    BackendError, BackendErrorKind, BackendResult, CredentialHead, ServerVerdict, TemplateHead,
};
use agentctl_host::files::read_regular_text;
use agentctl_mcp::{McpClient, McpServer, McpTransport};
use agentctl_n8n::{Workflow, WorkflowId};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use url::{Host, Url};

const CREATE: &str = "n8n_create_workflow";
const GET: &str = "n8n_get_workflow";
const REPLACE: &str = "n8n_update_full_workflow";
const ACTIVATE: &str = "n8n_update_partial_workflow";
const DELETE: &str = "n8n_delete_workflow";
const VALIDATE: &str = "n8n_validate_workflow";
const CREDENTIALS: &str = "n8n_manage_credentials";
const TEMPLATES: &str = "search_templates";
const TEMPLATE: &str = "get_template";
/// The package's own list of names, as far as a backend has no use for them.
const SWITCHED_OFF: &str = "n8n_autofix_workflow,n8n_deploy_template,n8n_test_workflow,n8n_evaluations,n8n_workflow_versions,n8n_manage_datatable,n8n_manage_folders,n8n_manage_agents,n8n_audit_instance,n8n_explore_node_resources";
/// A `package.json` is short.
const MAX_MANIFEST: u64 = 4 * 1024 * 1024;
const OPERATIONS_OFF: &str = "n8n_executions:delete";
/// A page of templates; its answers are long.
pub(super) const MOST_TEMPLATES: usize = 10;

pub(super) struct N8nMcp {
    server: ToolServer,
}

/// What its tools for documents take; other keys they drop without a word.
const TAKEN: [&str; 4] = ["name", "nodes", "connections", "settings"];

/// Whether a document can be written through this server without losing a part of it.
pub(super) fn takes(workflow: &Workflow) -> bool {
    let body = document::to_create(workflow, false);
    body.keys().all(|key| TAKEN.contains(&key.as_str()))
}

#[derive(Serialize)]
struct ById<'a> {
    id: &'a str,
}

impl N8nMcp {
    /// Not started yet. `n8n` is the address that the server is given.
    pub fn new(server: &McpServer, n8n: &Url) -> Self {
        N8nMcp::over(McpClient::new(&prepared(server, n8n)))
    }

    pub fn over(client: McpClient) -> Self {
        N8nMcp {
            server: ToolServer::new(client),
        }
    }

    pub fn server(&self) -> &ToolServer {
        &self.server
    }

    pub async fn get(&self, id: &WorkflowId, rest: &Rest) -> BackendResult<Held> {
        #[derive(Serialize)]
        struct Get<'a> {
            id: &'a str,
            mode: &'a str,
        }
        let named = document::checked_id(&id.0)?;
        let asked = Get {
            id: named,
            mode: "full",
        };
        match self.server.call(GET, &asked, Effect::Reads).await {
            Ok(Got::Answer(workflow)) => present(named, held(workflow)),
            // One that is too long for the server's answers is read from n8n itself.
            Ok(Got::Cut | Got::NoTool) => rest.get(id).await,
            Err(error) => present(named, Err(error)),
        }
    }

    /// The new workflow's id.
    pub async fn create(&self, workflow: &Workflow) -> BackendResult<WorkflowId> {
        let body = document::to_create(workflow, false);
        match self.server.call(CREATE, &body, Effect::Writes).await? {
            Got::Answer(made) => {
                let id = rest::id_text(made.get("id"));
                id.map(WorkflowId)
                    .ok_or_else(|| BackendError::unavailable("n8n-mcp gave the new workflow no id"))
            }
            Got::Cut => Err(BackendError::unavailable("n8n-mcp's answer was cut off")),
            Got::NoTool => Err(no_tool(CREATE)),
        }
    }

    pub async fn replace(
        &self,
        id: &WorkflowId,
        workflow: &Workflow,
        now: &Held,
    ) -> BackendResult<()> {
        let mut body = document::to_replace(workflow, now);
        body.insert("id".into(), document::checked_id(&id.0)?.into());
        self.done(REPLACE, &body).await
    }

    pub async fn set_active(&self, id: &WorkflowId, active: bool) -> BackendResult<()> {
        #[derive(Serialize)]
        struct Operation {
            r#type: &'static str,
        }
        #[derive(Serialize)]
        struct Update<'a> {
            id: &'a str,
            operations: [Operation; 1],
        }
        let verb = match active {
            true => "activateWorkflow",
            false => "deactivateWorkflow",
        };
        let update = Update {
            id: document::checked_id(&id.0)?,
            operations: [Operation { r#type: verb }],
        };
        self.done(ACTIVATE, &update).await
    }

    pub async fn delete(&self, id: &WorkflowId) -> BackendResult<()> {
        let id = document::checked_id(&id.0)?;
        present(id, self.done(DELETE, &ById { id }).await)
    }

    async fn done(&self, tool: &str, arguments: &impl Serialize) -> BackendResult<()> {
        match self.server.call(tool, arguments, Effect::Writes).await? {
            Got::Answer(_) | Got::Cut => Ok(()),
            Got::NoTool => Err(no_tool(tool)),
        }
    }

    /// The server's own opinion, with the options fixed: a model cannot soften it.
    pub async fn verdict(&self, id: &WorkflowId) -> BackendResult<Option<ServerVerdict>> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Options {
            validate_nodes: bool,
            validate_connections: bool,
            validate_expressions: bool,
            profile: &'static str,
        }
        #[derive(Serialize)]
        struct Validate<'a> {
            id: &'a str,
            options: Options,
        }
        let asked = Validate {
            id: document::checked_id(&id.0)?,
            options: Options {
                validate_nodes: true,
                validate_connections: true,
                validate_expressions: true,
                profile: "runtime",
            },
        };
        let Got::Answer(told) = self.server.call(VALIDATE, &asked, Effect::Reads).await? else {
            return Ok(None);
        };
        let Some(valid) = told.get("valid").and_then(Value::as_bool) else {
            return Ok(None);
        };
        let lines = |key: &str| -> Vec<String> {
            let items = told.get(key).and_then(Value::as_array);
            let line = |item: &Value| {
                let message = item.get("message")?.as_str()?;
                Some(match item.get("node").and_then(Value::as_str) {
                    Some(node) => format!("{node}: {message}"),
                    None => message.to_owned(),
                })
            };
            items.into_iter().flatten().filter_map(line).collect()
        };
        Ok(Some(ServerVerdict {
            server: "n8n-mcp".to_owned(),
            valid,
            errors: lines("errors"),
            warnings: lines("warnings"),
        }))
    }

    pub async fn credentials(&self) -> BackendResult<Option<Vec<CredentialHead>>> {
        #[derive(Serialize)]
        struct List {
            action: &'static str,
            limit: usize,
        }
        let asked = List {
            action: "list",
            limit: 100,
        };
        let Got::Answer(told) = self.server.call(CREDENTIALS, &asked, Effect::Reads).await? else {
            return Ok(None);
        };
        // More than one page: n8n itself lists them all.
        if told.get("nextCursor").is_some_and(|next| !next.is_null()) {
            return Ok(None);
        }
        let list = told.get("credentials").and_then(Value::as_array);
        let list = list.into_iter().flatten();
        let mut heads: Vec<CredentialHead> = list.filter_map(rest::credential).collect();
        heads.sort();
        Ok(Some(heads))
    }

    pub async fn search_templates(
        &self,
        query: &str,
        limit: usize,
    ) -> BackendResult<Vec<TemplateHead>> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Search<'a> {
            search_mode: &'static str,
            query: &'a str,
            limit: usize,
            fields: [&'static str; 5],
        }
        let asked = Search {
            search_mode: "keyword",
            query,
            limit: limit.clamp(1, MOST_TEMPLATES),
            fields: ["id", "name", "description", "nodes", "views"],
        };
        let told = match self.server.call(TEMPLATES, &asked, Effect::Reads).await? {
            Got::Answer(told) => told,
            Got::Cut => return Err(BackendError::unavailable("n8n-mcp's answer was cut off")),
            Got::NoTool => return Ok(Vec::new()),
        };
        let items = told.get("items").or(told.get("templates"));
        let items = items.and_then(Value::as_array).into_iter().flatten();
        Ok(items.filter_map(template_head).collect())
    }

    pub async fn template(&self, id: &str) -> BackendResult<Workflow> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Get {
            template_id: u64,
            mode: &'static str,
        }
        let missing = || {
            BackendError::not_found(format!("n8n-mcp has no template `{id}`"))
                .with_hint("search_templates finds their ids")
        };
        let asked = Get {
            template_id: id.parse().map_err(|_| missing())?,
            mode: "full",
        };
        let told = match self.server.call(TEMPLATE, &asked, Effect::Reads).await {
            Ok(Got::Answer(told)) => told,
            Ok(Got::Cut | Got::NoTool) => return Err(missing()),
            Err(e) if e.kind == BackendErrorKind::Rejected => return Err(missing()),
            Err(e) => return Err(e),
        };
        let template = told.get("template").unwrap_or(&told);
        let name = template.get("name").and_then(Value::as_str).unwrap_or(id);
        let graph = template.get("workflow").unwrap_or(template);
        let mut document = Map::from_iter([("name".to_owned(), Value::from(name))]);
        for key in ["nodes", "connections", "settings"] {
            document.insert(key.into(), graph.get(key).cloned().unwrap_or(json!({})));
        }
        serde_json::from_value(Value::Object(document))
            .map_err(|e| BackendError::rejected(format!("the template `{id}` is no workflow: {e}")))
    }
}

fn template_head(item: &Value) -> Option<TemplateHead> {
    let text = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
    let nodes = item.get("nodes").and_then(Value::as_array);
    // It names the type of each node; as in a listing of workflows, each counts once.
    let types: BTreeSet<&str> = nodes
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let description: String = text("description").chars().take(300).collect();
    Some(TemplateHead {
        id: rest::id_text(item.get("id"))?,
        name: text("name").to_owned(),
        description,
        node_types: types.into_iter().map(str::to_owned).collect(),
        views: item.get("views").and_then(Value::as_u64),
    })
}

fn no_tool(tool: &str) -> BackendError {
    BackendError::unsupported(format!("the MCP server has no tool {tool:?}"))
        .with_hint("take it out of DISABLED_TOOLS, or use n8n-mcp 2.87 or newer")
}

/// The server as it is started: quiet, without telemetry, with a database of its own, able to reach this n8n and to do no more
/// than is asked of it here.
pub(super) fn prepared(server: &McpServer, n8n: &Url) -> McpServer {
    let mut server = server.clone();
    let McpTransport::Stdio { command, args, env } = &server.transport else {
        return server;
    };
    let given = |name: &str| env.get(name).map(|value| value.expose().to_owned());
    let mut set: Vec<(&str, String)> = [
        ("MCP_MODE", "stdio"),
        ("LOG_LEVEL", "error"),
        ("DISABLE_CONSOLE_OUTPUT", "true"),
        ("N8N_MCP_TELEMETRY_DISABLED", "true"),
    ]
    .map(|(name, value)| (name, value.to_owned()))
    .into();
    if given("WEBHOOK_SECURITY_MODE").is_none() {
        set.push(("WEBHOOK_SECURITY_MODE", security_mode(n8n).to_owned()));
    }
    for (name, ours) in [
        ("DISABLED_TOOLS", SWITCHED_OFF),
        ("DISABLED_TOOL_OPERATIONS", OPERATIONS_OFF),
    ] {
        let theirs = given(name).filter(|theirs| !theirs.trim().is_empty());
        set.push((
            name,
            theirs.map_or(ours.to_owned(), |theirs| format!("{theirs},{ours}")),
        ));
    }
    if given("NODE_DB_PATH").is_none() {
        let words = std::iter::once(command).chain(args);
        let words: Vec<String> = words.map(|word| word.expose().to_owned()).collect();
        let copy = own_database(&words);
        set.extend(copy.map(|copy| ("NODE_DB_PATH", copy.display().to_string())));
    }
    for (name, value) in set {
        server.set_variable(name, value);
    }
    // It would open tools that act on n8n with another key.
    server.drop_variable("N8N_MCP_ACCESS_TOKEN");
    server
}

/// What the server may reach: it refuses this machine and private networks unless it is told otherwise.
pub(super) fn security_mode(n8n: &Url) -> &'static str {
    match n8n.host() {
        Some(Host::Ipv4(ip)) if ip.is_loopback() => "moderate",
        Some(Host::Ipv6(ip)) if ip.is_loopback() => "moderate",
        Some(Host::Domain(name)) if name == "localhost" || name.ends_with(".localhost") => {
            "moderate"
        }
        Some(Host::Ipv4(ip)) if ip.is_private() || ip.is_link_local() => "permissive",
        Some(Host::Ipv6(ip)) if ip.is_unique_local() || ip.is_unicast_link_local() => "permissive",
        Some(Host::Domain(name)) if !name.contains('.') || name.ends_with(".local") => "permissive",
        _ => "strict",
    }
}

/// A copy of the server's database for us: it writes into the one that it is given, and that of the package is not ours. None: it
/// was not found, or cannot be copied; then the server uses its own.
fn own_database(words: &[String]) -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let home = set("HOME").map(PathBuf::from);
    let package = words.iter().find_map(|word| package_of(word));
    let npm = set("npm_config_cache").map(PathBuf::from);
    let npm = npm.or_else(|| Some(home.as_ref()?.join(".npm")));
    let package = package.or_else(|| fetched_by_npx(&npm?, words))?;
    let original = package.join("data/nodes.db");
    let manifest = read_regular_text(&package.join("package.json"), MAX_MANIFEST).ok()?;
    let manifest: Value = serde_json::from_str(&manifest).ok()?;
    let version = manifest.get("version")?.as_str()?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
    if version.is_empty() || !version.chars().all(plain) {
        return None;
    }
    let folder = agentctl_host::cache::of_user(agentctl_host::home::variable)?;
    let copy = folder.join(format!("n8n-mcp-{version}.db"));
    if copy.is_file() {
        return Some(copy);
    }
    std::fs::create_dir_all(&folder).ok()?;
    // Under another name first: a copy that was cut off would look like a database.
    let mut half = tempfile::NamedTempFile::new_in(&folder).ok()?;
    let mut from = std::fs::File::open(original).ok()?;
    std::io::copy(&mut from, &mut half).ok()?;
    half.persist(&copy).ok()?;
    Some(copy)
}

/// The package where npx keeps what it fetched: its first start, which fetches it, goes without a copy.
fn fetched_by_npx(npm: &Path, words: &[String]) -> Option<PathBuf> {
    let wanted = words.iter().find(|word| word.starts_with("n8n-mcp"))?;
    let version = wanted.strip_prefix("n8n-mcp@");
    let fetched = std::fs::read_dir(npm.join("_npx")).ok()?;
    let packages = fetched.flatten();
    let packages = packages.map(|entry| entry.path().join("node_modules/n8n-mcp"));
    let mut packages = packages.filter(|package| package.join("data/nodes.db").is_file());
    packages.find(|package| {
        let manifest = read_regular_text(&package.join("package.json"), MAX_MANIFEST);
        version.is_none_or(|version| {
            manifest.is_ok_and(|text| text.contains(&format!("\"version\": \"{version}\"")))
        })
    })
}

/// The folder of the package that a word of the command line leads into.
fn package_of(word: &str) -> Option<PathBuf> {
    let place = Path::new(word);
    let place = match place.components().count() {
        // The name of a command: where the search path finds it.
        1 => {
            let path = std::env::var_os("PATH")?;
            let found = std::env::split_paths(&path).map(|folder| folder.join(word));
            found.into_iter().find(|file| file.is_file())?
        }
        _ => place.to_owned(),
    };
    let place = place.canonicalize().ok()?;
    place
        .ancestors()
        .find(|folder| folder.ends_with("n8n-mcp") && folder.join("data/nodes.db").is_file())
        .map(Path::to_owned)
}
