//! Our own tools as an MCP server: what rmcp needs of us, and nothing that decides. Who serves hands in a [`Hosts`]; each MCP
//! session gets a [`Host`] of its own, and every call goes to it. The server never asks its client for anything (no sampling, no
//! elicitation, no roots), and what is not acceptable JSON-RPC never reaches rmcp.
//!
//! Entry points: [`stream::serve`] (standard input and output, or any pair of pipes) and [`http::serve`] (loopback, with a token).

mod door;
mod frame;
mod guests;
pub mod http;
pub mod listen;
mod pending;
mod rate;
mod sessions;
mod stall;
pub mod stream;

#[cfg(test)]
mod frame_tests;
#[cfg(test)]
mod serve_tests;

pub use door::{Token, WeakToken};
pub use guests::{Guest, Seats};
pub use rate::Rate;

use agentctl_base::BoxFuture;
use agentctl_base::model::{ToolResult, ToolSpec, ToolStatus};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestMethod,
    CompleteRequestParams, CompleteResult, ContentBlock, CustomRequest, CustomResult,
    DiscoverRequestMethod, DiscoverResult, ErrorCode, ErrorData, Implementation,
    InitializeRequestParams, InitializeResult, ListPromptsRequestMethod, ListPromptsResult,
    ListResourceTemplatesRequestMethod, ListResourceTemplatesResult, ListResourcesRequestMethod,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// The name under which the server introduces itself.
pub const SERVER_NAME: &str = "agentctl";

/// What a tool does to its surroundings, for a client that shows or asks. Hints only: the gateway decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hints {
    pub read_only: bool,
    /// It may take something away, not only add.
    pub destructive: bool,
    /// The same call twice does no more than once.
    pub idempotent: bool,
    /// It reaches beyond the project.
    pub open_world: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Offered {
    pub spec: ToolSpec,
    pub hints: Hints,
    /// JSON Schema of what it answers when it succeeds; None: it is not promised.
    pub returns: Option<Value>,
}

/// What every session of a server is offered.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    /// Sorted by name.
    pub tools: Vec<Offered>,
    /// For the client's model: who it is here and what to expect.
    pub instructions: String,
}

/// Who is at the other end, as it named itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    pub name: String,
    pub version: String,
    /// `stdio` or `http`.
    pub transport: &'static str,
}

/// Opens a host for each session.
pub trait Hosts: Send + Sync {
    fn offer(&self) -> &Offer;
    fn open(&self, client: Client) -> Arc<dyn Host>;
}

/// One session's calls. A call that changes something is carried through even when it is cancelled.
pub trait Host: Send + Sync {
    fn call(
        &self,
        name: String,
        arguments: String,
        cancelled: BoxFuture<'static, ()>,
    ) -> BoxFuture<'_, ToolResult>;
    /// Waits for the call that is under way, and takes no more.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// The protocol versions that are spoken: all that open with `initialize`.
fn versions() -> &'static [ProtocolVersion] {
    ProtocolVersion::known_up_to(&ProtocolVersion::LATEST_WITH_INITIALIZE)
}

/// One session, as rmcp drives it.
struct Session {
    hosts: Arc<dyn Hosts>,
    transport: &'static str,
    /// Who was let in; empty: there is one caller only.
    caller: String,
    host: Arc<OnceLock<Arc<dyn Host>>>,
}

impl ServerHandler for Session {
    fn get_info(&self) -> ServerConfig {
        let mut server = Implementation::new(SERVER_NAME, env!("CARGO_PKG_VERSION"));
        server.title = Some("agentctl: n8n workflows under rules".to_owned());
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_instructions(self.hosts.offer().instructions.clone());
        info.server_info = server;
        info.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        info
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(versions())
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let answer = self.negotiate_initialize(&request)?;
        let named = &request.client_info.name;
        let client = Client {
            name: match self.caller.as_str() {
                "" => named.clone(),
                caller => format!("{named} of {caller}"),
            },
            version: request.client_info.version.clone(),
            transport: self.transport,
        };
        if self.host.get().is_some() || self.host.set(self.hosts.open(client)).is_err() {
            return Err(ErrorData::invalid_request(
                "this session was initialized already",
                None,
            ));
        }
        context.peer.set_peer_info(request);
        Ok(answer)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        // One page holds them all, so no cursor was ever given out.
        if request.is_some_and(|page| page.cursor.is_some()) {
            return Err(ErrorData::invalid_params("no such cursor", None));
        }
        let tools = self.hosts.offer().tools.iter().map(tool).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(host) = self.host.get() else {
            return Err(ErrorData::invalid_request("initialize first", None));
        };
        let arguments = Value::Object(request.arguments.unwrap_or_default()).to_string();
        let cancelled = Box::pin(context.ct.cancelled_owned());
        let result = host.call(request.name.into_owned(), arguments, cancelled);
        Ok(CallToolResponse::Complete(shown(result.await)))
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(unknown_method(request.method))
    }

    // rmcp answers these with empty lists by itself; what a server does not have, it does not know.
    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }
    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }
    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourcesRequestMethod>())
    }
    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(ErrorData::method_not_found::<
            ListResourceTemplatesRequestMethod,
        >())
    }
    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        Err(ErrorData::method_not_found::<DiscoverRequestMethod>())
    }
}

fn unknown_method(method: String) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None)
}

fn tool(offered: &Offered) -> Tool {
    let schema = match &offered.spec.parameters {
        Value::Object(schema) => schema.clone(),
        _ => serde_json::Map::new(),
    };
    let hints = offered.hints;
    let tool = Tool::new(
        offered.spec.name.clone(),
        offered.spec.description.clone(),
        schema,
    )
    .with_annotations(
        ToolAnnotations::new()
            .read_only(hints.read_only)
            .destructive(hints.destructive)
            .idempotent(hints.idempotent)
            .open_world(hints.open_world),
    );
    match &offered.returns {
        Some(Value::Object(schema)) => tool.with_raw_output_schema(Arc::new(schema.clone())),
        _ => tool,
    }
}

/// A result as a client sees it: the value itself, and the same as text for clients (and models) that read only text.
fn shown(result: ToolResult) -> CallToolResult {
    let content = match result.content {
        object @ Value::Object(_) => object,
        other => json!({"result": other}),
    };
    if result.status == ToolStatus::Ok {
        return CallToolResult::structured(content);
    }
    let text = |key: &str| content.get(key).and_then(Value::as_str).unwrap_or_default();
    let more = match result.status {
        ToolStatus::Unknown => ", it may have happened",
        ToolStatus::Ok | ToolStatus::Refused | ToolStatus::Failed | ToolStatus::Cancelled => "",
    };
    let mut told = format!("{}{more}: {}", result.status.name(), text("error"));
    for (label, key) in [("rule", "rule"), ("what to do", "hint")] {
        if !text(key).is_empty() {
            told.push_str(&format!("\n{label}: {}", text(key)));
        }
    }
    let mut shown = CallToolResult::error(vec![ContentBlock::text(told)]);
    let mut whole = json!({"status": result.status});
    if let (Value::Object(whole), Value::Object(content)) = (&mut whole, content) {
        whole.extend(content);
    }
    shown.structured_content = Some(whole);
    shown
}
