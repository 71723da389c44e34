//! A running n8n behind the port: through n8n-mcp, through n8n's own MCP server, or by its REST API alone. Each does what it can
//! and leaves the rest to REST, where that is given. Every write is answered with what reading it back says.

mod call;
mod document;
mod http;
mod instance_mcp;
mod n8n_mcp;
mod rest;
mod server;
mod tool_answer;

use super::{
    Backend, BackendAbilities, BackendError, BackendErrorKind, BackendResult, CredentialHead,
    ExecutionHead, ExecutionQuery, InstanceCheck, ListQuery, Listing, NodeTypesFile, ServerVerdict,
    Stored, TemplateHead, TriggerCall, Triggered, VersionHead,
};
use agentctl_base::BoxFuture;
use agentctl_base::counted::counted;
use agentctl_base::plain_http::PlainHttp;
use agentctl_mcp::{McpServer, McpTransport, Secret};
use agentctl_n8n::todo_note::Item;
use agentctl_n8n::{Workflow, WorkflowId};
use document::Held;
use http::Http;
use instance_mcp::InstanceMcp;
use n8n_mcp::N8nMcp;
use rest::Rest;
use serde_json::Value;

/// Where n8n's REST API is, and the key for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestTarget {
    pub url: String,
    pub key: Secret,
    /// Where the user lets the key go over plain http.
    pub plain_http: PlainHttp,
}

impl RestTarget {
    fn open(&self) -> BackendResult<Rest> {
        let http = Http::new(http::base(&self.url)?, Some(&self.key), &self.plain_http)?;
        Ok(Rest::new(http))
    }
}

/// The release of the n8n at this address, asked without a key; None: it is none, or it does not tell.
pub async fn release_at(address: &str) -> Option<String> {
    let http = Http::new(http::base(address).ok()?, None, &PlainHttp::default()).ok()?;
    Rest::new(http).version().await
}

/// What n8n's own server leaves to REST, and a build cannot do without.
const WRITE: &str = "create a workflow from a document";

pub struct LiveBackend {
    name: &'static str,
    /// The n8n's address.
    place: String,
    wire: Wire,
    rest: Option<Rest>,
}

enum Wire {
    Rest,
    N8nMcp(N8nMcp),
    Instance(InstanceMcp),
}

impl LiveBackend {
    /// The REST API alone. Nothing is reached yet.
    pub fn rest(target: &RestTarget) -> BackendResult<Self> {
        let rest = target.open()?;
        Ok(LiveBackend {
            name: "rest",
            place: rest.http().base().to_string(),
            wire: Wire::Rest,
            rest: Some(rest),
        })
    }

    /// The npm server, and REST for what it lacks; both talk to the same n8n. Nothing is started yet.
    pub fn n8n_mcp(server: &McpServer, target: &RestTarget) -> BackendResult<Self> {
        let rest = target.open()?;
        let wire = N8nMcp::new(server, rest.http().base());
        Ok(LiveBackend {
            name: "n8n-mcp",
            place: rest.http().base().to_string(),
            wire: Wire::N8nMcp(wire),
            rest: Some(rest),
        })
    }

    /// n8n's own server; without REST no document can be written.
    pub fn instance_mcp(server: &McpServer, target: Option<&RestTarget>) -> BackendResult<Self> {
        let rest = target.map(RestTarget::open).transpose()?;
        let address = match &server.transport {
            McpTransport::Http { url, .. } => url.expose(),
            McpTransport::Stdio { .. } => "",
        };
        let address = address.trim_end_matches('/');
        let place = http::base(address.strip_suffix("/mcp-server/http").unwrap_or(address))?;
        Ok(LiveBackend {
            name: "instance-mcp",
            place: place.to_string(),
            wire: Wire::Instance(InstanceMcp::new(server)),
            rest,
        })
    }

    fn by_rest(&self, what: &str) -> BackendResult<&Rest> {
        self.rest.as_ref().ok_or_else(|| {
            BackendError::unsupported(format!("n8n's own MCP server cannot {what}")).with_hint(
                "set N8N_API_URL and N8N_API_KEY: what the server does not offer is done over n8n's API",
            )
        })
    }

    async fn held(&self, id: &WorkflowId) -> BackendResult<Held> {
        match (&self.wire, &self.rest) {
            (Wire::N8nMcp(wire), Some(rest)) => wire.get(id, rest).await,
            (Wire::Instance(wire), Some(rest)) if !wire.shows_drafts().await? => rest.get(id).await,
            (Wire::Instance(wire), _) => match wire.get(id).await? {
                Some(held) => Ok(held),
                None => self.by_rest("show this workflow")?.get(id).await,
            },
            (_, Some(rest)) => rest.get(id).await,
            (_, None) => Err(self
                .by_rest("show workflows")
                .err()
                .unwrap_or_else(|| BackendError::unsupported("there is no way to read workflows"))),
        }
    }

    async fn get_now(&self, id: &WorkflowId) -> BackendResult<Stored> {
        Ok(self.held(id).await?.stored)
    }

    async fn list_now(&self, query: &ListQuery) -> BackendResult<Listing> {
        if let (Wire::Instance(wire), None) = (&self.wire, &self.rest) {
            let ids = wire.ids(query.name.as_deref()).await?;
            let ids = ids.map_or_else(|| self.by_rest("list workflows").map(|_| Vec::new()), Ok)?;
            let mut listing = Listing::default();
            for id in ids {
                let listed = match self.held(&id).await {
                    Ok(held) => held.stored.listed(),
                    Err(e) if e.kind == BackendErrorKind::Unavailable => return Err(e),
                    Err(_) => continue, // gone or closed since it was listed
                };
                if query.fits(&listed) {
                    listing.workflows.push(listed);
                }
            }
            return Ok(listing);
        }
        self.by_rest("list workflows")?.list(query).await
    }

    /// An id, or the name of the only workflow that is called so.
    async fn resolve_now(&self, reference: &str) -> BackendResult<WorkflowId> {
        let reference = reference.trim();
        let named = || async {
            let query = ListQuery::named(reference);
            let found = super::list_all(self, &query).await?.workflows;
            match found.as_slice() {
                [one] => Ok(Some(one.id.clone())),
                [] => Ok(None),
                several => Err(BackendError::rejected(format!(
                    "{} workflows are named {reference:?}",
                    several.len()
                ))
                .with_hint("name one by its id; `list_workflows` shows them")),
            }
        };
        let id = document::checked_id(reference).map(|id| WorkflowId(id.to_owned()));
        // n8n's own ids look like nothing else; whatever does is taken for one without asking.
        let made_by_n8n = reference.len() == 16
            && reference.bytes().all(|b| b.is_ascii_alphanumeric())
            && reference.bytes().any(|b| b.is_ascii_uppercase())
            && reference.bytes().any(|b| b.is_ascii_lowercase());
        match id {
            Ok(id) if made_by_n8n => Ok(id),
            Ok(id) => Ok(named().await?.unwrap_or(id)),
            Err(error) => named().await?.ok_or(error),
        }
    }

    async fn create_now(&self, workflow: &Workflow) -> BackendResult<Stored> {
        let made = match &self.wire {
            Wire::N8nMcp(wire) if n8n_mcp::takes(workflow) => match wire.create(workflow).await {
                // Nothing was sent to n8n.
                Err(e) if e.kind == BackendErrorKind::Unsupported => None,
                made => Some(made?),
            },
            Wire::N8nMcp(_) | Wire::Rest | Wire::Instance(_) => None,
        };
        let id = match made {
            Some(id) => id,
            None => {
                let rest = self.by_rest(WRITE)?;
                let in_mcp = matches!(self.wire, Wire::Instance(_));
                rest.create(workflow, in_mcp).await?
            }
        };
        self.get_now(&id).await
    }

    async fn replace_now(&self, id: &WorkflowId, workflow: &Workflow) -> BackendResult<Stored> {
        let rest = self.by_rest("change a workflow's document")?;
        match &self.wire {
            Wire::N8nMcp(wire) if n8n_mcp::takes(workflow) => {
                let now = rest.get(id).await?;
                // The server has rules of its own about documents; what n8n says is what counts.
                match wire.replace(id, workflow, &now).await {
                    Err(e)
                        if matches!(
                            e.kind,
                            BackendErrorKind::Rejected | BackendErrorKind::Unsupported
                        ) =>
                    {
                        rest.replace(id, workflow).await?;
                    }
                    done => done?,
                }
            }
            Wire::N8nMcp(_) | Wire::Rest | Wire::Instance(_) => {
                rest.replace(id, workflow).await?;
            }
        }
        self.get_now(id).await
    }

    async fn delete_now(&self, id: &WorkflowId) -> BackendResult<()> {
        match (&self.wire, &self.rest) {
            (Wire::N8nMcp(wire), _) => wire.delete(id).await,
            (_, Some(rest)) => rest.delete(id).await,
            (Wire::Instance(wire), None) => match wire.archive(id).await? {
                Some(()) => Ok(()),
                None => self.by_rest("delete workflows").map(|_| ()),
            },
            (Wire::Rest, None) => self.by_rest("delete workflows").map(|_| ()),
        }
    }

    async fn set_active_now(&self, id: &WorkflowId, active: bool) -> BackendResult<Stored> {
        match &self.wire {
            Wire::N8nMcp(wire) => wire.set_active(id, active).await?,
            Wire::Instance(wire) => {
                if wire.set_active(id, active).await?.is_none() {
                    let rest = self.by_rest("publish this workflow")?;
                    rest.set_active(id, active).await?;
                }
            }
            Wire::Rest => self.by_rest("publish")?.set_active(id, active).await?,
        }
        self.get_now(id).await
    }

    async fn trigger_now(&self, id: &WorkflowId, call: &TriggerCall) -> BackendResult<Triggered> {
        // Over HTTP the caller's side is seen too; without an address the server has to do it.
        match (&self.rest, &self.wire) {
            (Some(rest), _) => call::trigger(rest, id, call).await,
            (None, Wire::Instance(wire)) => wire.trigger(id, call).await?.ok_or_else(|| {
                BackendError::unsupported("this n8n's MCP server runs no workflows")
                    .with_hint("set N8N_API_URL and N8N_API_KEY")
            }),
            (None, _) => Err(BackendError::unsupported("there is no address to call")),
        }
    }

    async fn executions_now(&self, query: &ExecutionQuery) -> BackendResult<Vec<ExecutionHead>> {
        if let (Wire::Instance(wire), None) = (&self.wire, &self.rest)
            && let Some(heads) = wire.executions(query).await?
        {
            return Ok(heads);
        }
        self.by_rest("list executions")?.executions(query).await
    }

    async fn execution_now(&self, id: &str) -> BackendResult<Value> {
        if let (Wire::Instance(wire), None) = (&self.wire, &self.rest) {
            let query = ExecutionQuery {
                workflow: None,
                status: None,
                limit: 200,
            };
            let heads = wire.executions(&query).await?.unwrap_or_default();
            if let Some(head) = heads.iter().find(|head| head.id == id)
                && let Some(whole) = wire.execution(&head.workflow_id, id).await?
            {
                return Ok(whole);
            }
            return Err(BackendError::not_found(format!(
                "n8n's MCP server shows no execution `{id}`"
            )));
        }
        self.by_rest("show executions")?.execution(id).await
    }

    async fn credentials_now(&self) -> BackendResult<Vec<CredentialHead>> {
        let told = match &self.wire {
            Wire::N8nMcp(wire) => wire.credentials().await,
            Wire::Instance(wire) => wire.credentials().await,
            Wire::Rest => Ok(None),
        };
        match told {
            Ok(Some(heads)) => Ok(heads),
            Err(e) if e.kind == BackendErrorKind::Unavailable => Err(e),
            Ok(None) | Err(_) => self.by_rest("list credentials")?.credentials().await,
        }
    }

    async fn check_now(&self) -> Vec<InstanceCheck> {
        let mut checks = match &self.rest {
            Some(rest) => rest.check().await,
            None => Vec::new(),
        };
        // That of n8n 1.x lists none, and neither does its API.
        if matches!(self.wire, Wire::Instance(_))
            && self.rest.is_some()
            && checks.iter().all(|check| check.ok)
            && let Err(error) = self.credentials_now().await
        {
            let told = format!("{}; accounts are chosen in n8n", error.message);
            checks.push(InstanceCheck::good("credentials", told));
        }
        let server = match &self.wire {
            Wire::Rest => return checks,
            Wire::N8nMcp(wire) => wire.server(),
            Wire::Instance(wire) => wire.server(),
        };
        checks.push(match server.identity().await {
            Ok((name, tools)) => {
                InstanceCheck::good("server", format!("{name}, {}", counted(tools, "tool")))
            }
            Err(error) => InstanceCheck::bad("server", &error),
        });
        if let Err(error) = self.by_rest(WRITE) {
            checks.push(InstanceCheck::bad("build", &error));
        }
        checks
    }
}

impl Backend for LiveBackend {
    fn name(&self) -> &str {
        self.name
    }
    fn place(&self) -> Option<&str> {
        Some(&self.place)
    }
    fn can(&self) -> BackendAbilities {
        let rest = self.rest.is_some();
        BackendAbilities {
            execute: true,
            activate: true,
            versions: false,
            templates: matches!(self.wire, Wire::N8nMcp(_)),
            credentials: true,
            chosen_ids: false,
            tags: rest,
            node_types: false,
            reads_only: !rest,
        }
    }
    fn list<'a>(&'a self, query: &'a ListQuery) -> BoxFuture<'a, BackendResult<Listing>> {
        Box::pin(self.list_now(query))
    }
    fn resolve<'a>(&'a self, reference: &'a str) -> BoxFuture<'a, BackendResult<WorkflowId>> {
        Box::pin(self.resolve_now(reference))
    }
    fn get<'a>(&'a self, id: &'a WorkflowId) -> BoxFuture<'a, BackendResult<Stored>> {
        Box::pin(self.get_now(id))
    }
    fn reserve<'a>(&'a self, _name: &'a str) -> BoxFuture<'a, BackendResult<Option<WorkflowId>>> {
        Box::pin(std::future::ready(Ok(None)))
    }
    fn create<'a>(
        &'a self,
        _id: Option<&'a WorkflowId>,
        workflow: &'a Workflow,
    ) -> BoxFuture<'a, BackendResult<Stored>> {
        Box::pin(async move {
            let made = self.create_now(workflow).await;
            made.map_err(|e| document::explained(e, workflow))
        })
    }
    fn replace<'a>(
        &'a self,
        id: &'a WorkflowId,
        workflow: &'a Workflow,
    ) -> BoxFuture<'a, BackendResult<Stored>> {
        Box::pin(async move {
            let replaced = self.replace_now(id, workflow).await;
            replaced.map_err(|e| document::explained(e, workflow))
        })
    }
    fn delete<'a>(&'a self, id: &'a WorkflowId) -> BoxFuture<'a, BackendResult<()>> {
        Box::pin(self.delete_now(id))
    }
    fn versions<'a>(
        &'a self,
        id: &'a WorkflowId,
    ) -> BoxFuture<'a, BackendResult<Vec<VersionHead>>> {
        Box::pin(async move {
            Err(BackendError::unsupported(format!(
                "n8n shows API clients no versions of `{}`",
                id.0
            ))
            .with_hint("agentctl's own snapshots are shown by `agentctl log --workflow ID`"))
        })
    }
    fn version<'a>(
        &'a self,
        id: &'a WorkflowId,
        version: &'a str,
    ) -> BoxFuture<'a, BackendResult<Workflow>> {
        Box::pin(async move {
            Err(BackendError::unsupported(format!(
                "n8n shows API clients no versions, so not {version:?} of `{}`",
                id.0
            )))
        })
    }
    fn set_active<'a>(
        &'a self,
        id: &'a WorkflowId,
        active: bool,
    ) -> BoxFuture<'a, BackendResult<Stored>> {
        Box::pin(self.set_active_now(id, active))
    }
    fn set_tags<'a>(
        &'a self,
        id: &'a WorkflowId,
        tags: &'a [String],
    ) -> BoxFuture<'a, BackendResult<Stored>> {
        Box::pin(async move {
            self.by_rest("set tags")?.set_tags(id, tags).await?;
            self.get_now(id).await
        })
    }
    fn forget_tag<'a>(&'a self, name: &'a str) -> BoxFuture<'a, BackendResult<()>> {
        Box::pin(async move {
            match &self.rest {
                Some(rest) => rest.forget_tag(name).await,
                None => Ok(()),
            }
        })
    }
    fn note_todo<'a>(
        &'a self,
        id: &'a WorkflowId,
        todo: &'a [Item],
        note_id: &'a str,
    ) -> BoxFuture<'a, BackendResult<()>> {
        Box::pin(async move {
            let rest = self.by_rest("change a workflow's document")?;
            rest.note_todo(id, todo, note_id).await
        })
    }
    fn trigger<'a>(
        &'a self,
        id: &'a WorkflowId,
        call: &'a TriggerCall,
    ) -> BoxFuture<'a, BackendResult<Triggered>> {
        Box::pin(self.trigger_now(id, call))
    }
    fn executions<'a>(
        &'a self,
        query: &'a ExecutionQuery,
    ) -> BoxFuture<'a, BackendResult<Vec<ExecutionHead>>> {
        Box::pin(self.executions_now(query))
    }
    fn execution<'a>(&'a self, id: &'a str) -> BoxFuture<'a, BackendResult<Value>> {
        Box::pin(self.execution_now(id))
    }
    fn search_templates<'a>(
        &'a self,
        query: &'a str,
        limit: usize,
    ) -> BoxFuture<'a, BackendResult<Vec<TemplateHead>>> {
        Box::pin(async move {
            match &self.wire {
                Wire::N8nMcp(wire) => wire.search_templates(query, limit).await,
                Wire::Rest | Wire::Instance(_) => Ok(Vec::new()),
            }
        })
    }
    fn template<'a>(&'a self, id: &'a str) -> BoxFuture<'a, BackendResult<Workflow>> {
        Box::pin(async move {
            match &self.wire {
                Wire::N8nMcp(wire) => wire.template(id).await,
                Wire::Rest | Wire::Instance(_) => Err(BackendError::unsupported(format!(
                    "the {} backend has no templates, so not `{id}`",
                    self.name
                ))),
            }
        })
    }
    fn credentials(&self) -> BoxFuture<'_, BackendResult<Vec<CredentialHead>>> {
        Box::pin(self.credentials_now())
    }
    fn active(&self) -> BoxFuture<'_, BackendResult<Option<Vec<Stored>>>> {
        Box::pin(async move {
            match &self.rest {
                Some(rest) => rest.active().await.map(Some),
                None => Ok(None),
            }
        })
    }
    fn node_types(&self) -> BoxFuture<'_, BackendResult<NodeTypesFile>> {
        Box::pin(async move {
            self.by_rest("give its list of node types")?
                .node_types()
                .await
        })
    }
    fn release(&self) -> BoxFuture<'_, Option<String>> {
        Box::pin(async move { self.rest.as_ref()?.version().await })
    }
    fn server_verdict<'a>(
        &'a self,
        id: &'a WorkflowId,
    ) -> BoxFuture<'a, BackendResult<Option<ServerVerdict>>> {
        Box::pin(async move {
            match &self.wire {
                Wire::N8nMcp(wire) => wire.verdict(id).await,
                Wire::Rest | Wire::Instance(_) => Ok(None),
            }
        })
    }
    fn check(&self) -> BoxFuture<'_, Vec<InstanceCheck>> {
        Box::pin(self.check_now())
    }
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            match &self.wire {
                Wire::N8nMcp(wire) => wire.server().close().await,
                Wire::Instance(wire) => wire.server().close().await,
                Wire::Rest => {}
            }
        })
    }
}

#[cfg(test)]
mod live_tests;
