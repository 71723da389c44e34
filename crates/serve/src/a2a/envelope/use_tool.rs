//! `request:use-tool`: one call of a tool, as the role that the pack's `channels.a2a.tools` names. The gateway decides and journals as for
//! an agent; what a person would be asked is refused. Like every message it is done once.

use super::KIND;
use super::depends::later;
use super::read::Envelope;
use super::told::{Reason, Reply};
use crate::a2a::said;
use crate::ask::Ask;
use crate::clients::May;
use crate::once::{Once, broke_off};
use crate::places::Priority;
use crate::problem::Problem;
use crate::server::{ServedPack, Server};
use agentctl_base::model::{ToolResult, ToolStatus};
use agentctl_engine::run::Cancel;
use agentctl_mcp::serve::{Client, Hosts};
use agentctl_sessions::{Answered, Claimed};
use hyper::StatusCode;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Whether other agents may use this tool of the pack.
pub fn is_offered(pack: &ServedPack, tool: &str) -> bool {
    let offered = pack.tools.as_ref().map(|hosts| &hosts.offer().tools);
    offered.is_some_and(|tools| tools.iter().any(|offered| offered.spec.name == tool))
}

pub async fn made(
    server: &Arc<Server>,
    ask: &Ask,
    pack: &Arc<ServedPack>,
    envelope: &Envelope,
) -> Result<Reply, Reason> {
    ask.may_signed(May::Turn)
        .map_err(|problem| Reason::of(&problem.into()))?;
    let named = envelope.payload.get("tool_id").and_then(Value::as_str);
    let tool = named.unwrap_or_default().to_owned();
    let Some(hosts) = pack.tools.clone().filter(|_| is_offered(pack, &tool)) else {
        let shown: String = tool.chars().take(64).collect();
        let told = format!("there is no tool {shown:?} here that other agents may use");
        return Err(Reason::new("unknown_tool", told, StatusCode::NOT_FOUND)
            .hint("request:discover-tools lists those that there are"));
    };
    let once = said::once_of(ask, pack, &envelope.id, &envelope.said);
    let longest = server.limits.turn_timeout;
    let left = envelope.left(server.now())?.unwrap_or(longest);
    let call = Call {
        client: ask.client.name.clone(),
        tool,
        arguments: envelope.payload.get("parameters").cloned(),
        longest: left.min(longest),
        priority: Priority::of(Some(&envelope.metadata)),
        once,
    };
    let (server, pack, envelope) = (Arc::clone(server), Arc::clone(pack), envelope.clone());
    // Carried through whether or not its sender waits.
    let made = tokio::spawn(async move { call.once(&server, &pack, hosts, &envelope).await });
    made.await.map_err(|_| Reason::of(&broke_off().into()))?
}

struct Call {
    client: String,
    tool: String,
    arguments: Option<Value>,
    longest: Duration,
    priority: Priority,
    once: Once,
}

impl Call {
    async fn once(
        self,
        server: &Arc<Server>,
        pack: &ServedPack,
        hosts: Arc<dyn Hosts>,
        envelope: &Envelope,
    ) -> Result<Reply, Reason> {
        let lock = server.onces.of(&self.once.id);
        let _alone = lock.lock().await;
        let now = pack.effects.now().as_millisecond();
        let claimed = server.sessions.claim(&self.once.id, self.once.body(), now);
        match claimed.await.map_err(kept)? {
            Claimed::New => {}
            Claimed::Answered(answered) if answered.content_type == KIND => {
                return Ok(Reply::again(&answered));
            }
            Claimed::Answered(_) | Claimed::Other => {
                let told = "another message had this id before; nothing was done";
                let status = StatusCode::UNPROCESSABLE_ENTITY;
                return Err(Reason::new("invalid_message", told, status));
            }
            Claimed::Begun(_) => {
                let told = format!(
                    "{} was called for this message before, and what came of it is not known; it is not called again",
                    self.tool
                );
                let status = StatusCode::BAD_GATEWAY;
                return Err(Reason::new("outcome_unknown", told, status)
                    .hint("look whether it was done, then send a message of another id"));
            }
        }
        let result = self.call(server, &*hosts).await;
        let reply = result.and_then(|result| told(pack, envelope, &self.tool, result));
        match &reply {
            Ok(reply) => {
                let answered = Answered {
                    status: StatusCode::OK.as_u16(),
                    content_type: KIND.to_owned(),
                    body: reply.text.to_string(),
                    run: None,
                    session: None,
                };
                let answered = server.sessions.answered(&self.once.id, &answered);
                answered.await.map_err(kept)?;
            }
            // What may have been done is not done again by the same message.
            Err(reason) if reason.reason == "outcome_unknown" => {}
            Err(_) => server.sessions.unclaim(&self.once.id).await.map_err(kept)?,
        }
        reply
    }

    async fn call(&self, server: &Arc<Server>, hosts: &dyn Hosts) -> Result<ToolResult, Reason> {
        let refused = |problem: Problem| Reason::of(&problem.into());
        let cancel = Cancel::default();
        let ends = || later("the server ends; nothing was done".to_owned());
        let _under_way = server.under_way(&cancel).ok_or_else(ends)?;
        let _place = server.place(self.priority).await.map_err(refused)?;
        let host = hosts.open(Client {
            name: self.client.clone(),
            version: String::new(),
            transport: "a2a",
        });
        let arguments = self.arguments.clone().unwrap_or_else(|| json!({}));
        let late = Box::pin(tokio::time::sleep(self.longest));
        let result = host
            .call(self.tool.clone(), arguments.to_string(), late)
            .await;
        host.close().await;
        Ok(result)
    }
}

fn kept(error: agentctl_sessions::SessionError) -> Reason {
    Reason::of(&Problem::from(error).into())
}

fn told(
    pack: &ServedPack,
    envelope: &Envelope,
    tool: &str,
    result: ToolResult,
) -> Result<Reply, Reason> {
    let of = |key: &str| result.content.get(key).and_then(Value::as_str);
    let why = || {
        let error = of("error").unwrap_or("it gave no reason");
        match of("hint").filter(|hint| !hint.is_empty()) {
            Some(hint) => format!("{tool}: {error}; {hint}"),
            None => format!("{tool}: {error}"),
        }
    };
    let (reason, status) = match result.status {
        ToolStatus::Ok => {
            let payload = json!({
                "in_reply_to": envelope.id, "tool_id": tool, "status": "ok", "result": result.content
            });
            return Ok(Reply::plain(&pack.pack.manifest.name, envelope, &payload));
        }
        ToolStatus::Refused => ("tool_refused", StatusCode::FORBIDDEN),
        ToolStatus::Failed if of("rule") == Some("project.busy") => return Err(later(why())),
        ToolStatus::Failed => ("tool_failed", StatusCode::BAD_GATEWAY),
        ToolStatus::Cancelled => ("deadline_passed", StatusCode::OK),
        ToolStatus::Unknown => ("outcome_unknown", StatusCode::BAD_GATEWAY),
    };
    let mut told = Reason::new(reason, why(), status);
    told.errors = of("rule")
        .map(|rule| format!("rule: {rule}"))
        .into_iter()
        .collect();
    Err(told)
}
