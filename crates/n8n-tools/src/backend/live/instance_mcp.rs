//! n8n's own MCP server: which of its tools this release has is asked, never assumed. It takes no whole documents, so writing
//! them is the REST API's part; a workflow that is closed to it is read there too.

use super::document::{self, Held, held};
use super::http::Effect;
use super::rest::{self, present};
use super::server::{Got, ToolServer};
use crate::backend::{
    BackendError, BackendErrorKind, BackendResult, CredentialHead, ExecutionHead, ExecutionQuery,
    TriggerCall, Triggered,
};
use agentctl_mcp::{McpClient, McpServer};
use agentctl_n8n::{TriggerKind, WorkflowId};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::time::Duration;
use tokio::time::Instant;

const GET: &str = "get_workflow_details";
const PUBLISH: &str = "publish_workflow";
const UNPUBLISH: &str = "unpublish_workflow";
const EXECUTE: &str = "execute_workflow";
const EXECUTIONS: &str = "search_executions";
const EXECUTION: &str = "get_execution";
const CREDENTIALS: &str = "list_credentials";
const ARCHIVE: &str = "archive_workflow";
const LIST: &str = "search_workflows";
const MOST: usize = 200;
/// Its answers are counted: a hundred calls in five minutes are all that n8n takes by default.
const LOOK: Duration = Duration::from_secs(2);

pub(super) struct InstanceMcp {
    server: ToolServer,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OfWorkflow<'a> {
    workflow_id: &'a str,
}

/// What this server does not do: the caller has another way, or says so.
fn elsewhere(error: &BackendError) -> bool {
    error.kind == BackendErrorKind::Unsupported || error.message.contains("asked too often")
}

impl InstanceMcp {
    pub fn new(server: &McpServer) -> Self {
        InstanceMcp::over(McpClient::new(server))
    }

    pub fn over(client: McpClient) -> Self {
        InstanceMcp {
            server: ToolServer::new(client),
        }
    }

    pub fn server(&self) -> &ToolServer {
        &self.server
    }

    /// None: not by this server. Then the caller has another way, or says so.
    async fn ask(
        &self,
        tool: &str,
        arguments: &impl Serialize,
        effect: Effect,
    ) -> BackendResult<Option<Value>> {
        match self.server.call(tool, arguments, effect).await {
            Ok(Got::Answer(value)) => Ok(Some(value)),
            Ok(Got::NoTool) => Ok(None),
            Ok(Got::Cut) if effect == Effect::Reads => Ok(None),
            Ok(Got::Cut) => Ok(Some(Value::Null)),
            Err(error) if elsewhere(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub async fn get(&self, id: &WorkflowId) -> BackendResult<Option<Held>> {
        let id = document::checked_id(&id.0)?;
        let asked = OfWorkflow { workflow_id: id };
        match self.ask(GET, &asked, Effect::Reads).await {
            Ok(Some(mut told)) => {
                let workflow = match told.get_mut("workflow") {
                    Some(workflow) => workflow.take(),
                    None => told,
                };
                present(id, held(workflow)).map(Some)
            }
            Ok(None) => Ok(None),
            Err(error) => present::<Held>(id, Err(error)).map(Some),
        }
    }

    /// Whether it shows a workflow as it was saved: one that cannot publish shows the published one alone, and without all that is in it.
    pub async fn shows_drafts(&self) -> BackendResult<bool> {
        self.server.has(PUBLISH).await
    }

    /// Ids of all workflows that the token can see, by name where one is asked for.
    pub async fn ids(&self, name: Option<&str>) -> BackendResult<Option<Vec<WorkflowId>>> {
        #[derive(Serialize)]
        struct Search<'a> {
            limit: usize,
            #[serde(skip_serializing_if = "Option::is_none")]
            query: Option<&'a str>,
        }
        let asked = Search {
            limit: MOST,
            query: name,
        };
        let Some(told) = self.ask(LIST, &asked, Effect::Reads).await? else {
            return Ok(None);
        };
        let list = told.get("data").and_then(Value::as_array);
        let open = |item: &&Value| item.get("availableInMCP") != Some(&Value::Bool(false));
        let ids = list.into_iter().flatten().filter(open);
        let ids = ids.filter_map(|item| rest::id_text(item.get("id")));
        Ok(Some(ids.map(WorkflowId).collect()))
    }

    pub async fn set_active(&self, id: &WorkflowId, active: bool) -> BackendResult<Option<()>> {
        let tool = if active { PUBLISH } else { UNPUBLISH };
        let asked = OfWorkflow {
            workflow_id: document::checked_id(&id.0)?,
        };
        Ok(self.ask(tool, &asked, Effect::Writes).await?.map(|_| ()))
    }

    /// Into n8n's archive: this server does not delete.
    pub async fn archive(&self, id: &WorkflowId) -> BackendResult<Option<()>> {
        let asked = OfWorkflow {
            workflow_id: document::checked_id(&id.0)?,
        };
        Ok(self.ask(ARCHIVE, &asked, Effect::Writes).await?.map(|_| ()))
    }

    pub async fn credentials(&self) -> BackendResult<Option<Vec<CredentialHead>>> {
        let asked = Map::from_iter([("limit".to_owned(), json!(MOST))]);
        let Some(told) = self.ask(CREDENTIALS, &asked, Effect::Reads).await? else {
            return Ok(None);
        };
        let Some(list) = told.get("data").and_then(Value::as_array) else {
            return Ok(None);
        };
        if list.len() >= MOST {
            return Ok(None); // there may be more
        }
        let mut heads: Vec<CredentialHead> = list.iter().filter_map(rest::credential).collect();
        heads.sort();
        Ok(Some(heads))
    }

    pub async fn executions(
        &self,
        query: &ExecutionQuery,
    ) -> BackendResult<Option<Vec<ExecutionHead>>> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Search<'a> {
            #[serde(skip_serializing_if = "Option::is_none")]
            workflow_id: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            status: Option<[&'a str; 1]>,
            limit: usize,
        }
        let workflow_id = match &query.workflow {
            Some(id) => Some(document::checked_id(&id.0)?),
            None => None,
        };
        let asked = Search {
            workflow_id,
            status: query.status.as_deref().map(|status| [status]),
            limit: query.limit.clamp(1, MOST),
        };
        let Some(told) = self.ask(EXECUTIONS, &asked, Effect::Reads).await? else {
            return Ok(None);
        };
        let list = told.get("data").and_then(Value::as_array);
        let list = list.into_iter().flatten();
        let mut heads: Vec<ExecutionHead> = list.filter_map(rest::head).collect();
        heads.sort_by_key(|head| std::cmp::Reverse(head.id.parse::<u64>().unwrap_or(0)));
        Ok(Some(heads))
    }

    /// As the REST API would give it: the execution's own keys, and `data` beside them.
    pub async fn execution(&self, of: &WorkflowId, id: &str) -> BackendResult<Option<Value>> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Get<'a> {
            workflow_id: &'a str,
            execution_id: &'a str,
            include_data: bool,
        }
        let asked = Get {
            workflow_id: document::checked_id(&of.0)?,
            execution_id: document::checked_id(id)?,
            include_data: true,
        };
        let Some(mut told) = self.ask(EXECUTION, &asked, Effect::Reads).await? else {
            return Ok(None);
        };
        let data = told.get_mut("data").map(Value::take);
        let Some(Value::Object(mut execution)) = told.get_mut("execution").map(Value::take) else {
            return Ok(None);
        };
        execution.insert("data".into(), data.unwrap_or(Value::Null));
        Ok(Some(Value::Object(execution)))
    }

    /// Runs the published workflow as its trigger would, and waits for its end.
    pub async fn trigger(
        &self,
        id: &WorkflowId,
        call: &TriggerCall,
    ) -> BackendResult<Option<Triggered>> {
        let asked = json!({
            "workflowId": document::checked_id(&id.0)?,
            "executionMode": "production",
            "inputs": inputs(call),
        });
        let Some(told) = self.ask(EXECUTE, &asked, Effect::Writes).await? else {
            return Ok(None);
        };
        let Some(execution) = rest::id_text(told.get("executionId")) else {
            return Ok(Some(Triggered {
                execution: None,
                status: None,
                answer: Some(told),
            }));
        };
        let mut head = ExecutionHead {
            id: execution,
            workflow_id: id.clone(),
            status: "running".to_owned(),
            started_at: None,
            stopped_at: None,
        };
        let deadline = Instant::now() + call.wait;
        loop {
            let seen = self.executions(&ExecutionQuery::of(id, 20)).await?;
            let found = seen.into_iter().flatten().find(|seen| seen.id == head.id);
            head = found.unwrap_or(head);
            let ended = !matches!(head.status.as_str(), "new" | "running" | "unknown");
            if ended || Instant::now() >= deadline {
                break;
            }
            tokio::time::sleep(LOOK).await;
        }
        Ok(Some(Triggered {
            execution: Some(head),
            status: None,
            answer: None,
        }))
    }
}

fn inputs(call: &TriggerCall) -> Value {
    let payload = &call.payload;
    match call.point.kind {
        TriggerKind::Chat => {
            let said = payload.get("chatInput").and_then(Value::as_str);
            json!({"type": "chat", "chatInput": said.unwrap_or_default()})
        }
        TriggerKind::Form => json!({"type": "form", "formData": payload}),
        TriggerKind::Webhook => {
            let method = call.point.method.as_str();
            let sent = if matches!(method, "GET" | "HEAD" | "DELETE") {
                let text = |value: &Value| match value {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                let query: Map<String, Value> = payload
                    .iter()
                    .map(|(key, value)| (key.clone(), text(value).into()))
                    .collect();
                json!({"method": method, "query": query})
            } else {
                json!({"method": method, "body": payload})
            };
            json!({"type": "webhook", "webhookData": sent})
        }
    }
}
