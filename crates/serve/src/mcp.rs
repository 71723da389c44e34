//! `/mcp`: agentctl's own tools for MCP clients, the same server that `agentctl mcp serve` is (`agentctl_mcp::serve::http`), for callers
//! that this server let in. A session belongs to the client that opened it.

use crate::answer::{Answer, Body};
use crate::ask::Ask;
use crate::clients::May;
use crate::problem::Problem;
use agentctl_mcp::serve::Hosts;
use agentctl_mcp::serve::http::{HttpLimits, Mcp};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::ORIGIN;
use hyper::{Request, StatusCode};
use std::sync::Arc;

/// Whose tools are served.
pub struct McpDoor {
    /// The pack that the tools are of.
    pub pack: String,
    pub role: String,
    mcp: Mcp,
}

impl McpDoor {
    pub fn new(pack: &str, role: &str, hosts: Arc<dyn Hosts>) -> McpDoor {
        McpDoor {
            pack: pack.to_owned(),
            role: role.to_owned(),
            mcp: Mcp::new(hosts, HttpLimits::default()),
        }
    }

    pub async fn answer(&self, ask: &Ask, request: Request<Incoming>) -> Result<Answer, Problem> {
        ask.may(May::Turn)?;
        if !ask.client.reaches(&self.pack) {
            let why = format!(
                "the client {:?} does not reach the pack {:?}, whose tools these are",
                ask.client.name, self.pack
            );
            return Err(Problem::new(StatusCode::FORBIDDEN, why));
        }
        // No page of a browser is an MCP client.
        if ask.headers.contains_key(ORIGIN) {
            let why = "calls from web pages are not accepted at /mcp";
            return Err(Problem::new(StatusCode::FORBIDDEN, why));
        }
        let (head, body) = self
            .mcp
            .answer(request, &ask.client.name)
            .await
            .into_parts();
        let Ok(whole) = body.collect().await;
        let whole = whole.to_bytes();
        let body = Body::Whole((!whole.is_empty()).then_some(whole));
        Ok(Answer::from_parts(head, body))
    }

    pub async fn finish(&self) {
        self.mcp.finish().await;
    }
}
