//! `/sessions/{id}`: what is kept of a conversation, and its end.

use crate::answer::{Answer, json};
use crate::ask::Ask;
use crate::clients::May;
use crate::problem::Problem;
use crate::router::named;
use crate::server::Server;
use agentctl_sessions::SessionKey;
use agentctl_turns as turns;
use hyper::StatusCode;
use serde_json::{Value, json as value};

const MESSAGES: u32 = 1000;

/// The conversation of this id; None: there is none, or it is not the client's.
pub async fn own(server: &Server, ask: &Ask, id: &str) -> Result<Option<SessionKey>, Problem> {
    let key = server.sessions.of_id(id).await?;
    let mine = |key: &SessionKey| {
        ask.client.owns(&key.tenant)
            && ask.client.reaches(&key.pack)
            && server.packs.contains_key(&key.pack)
    };
    Ok(key.filter(mine))
}

async fn find(server: &Server, ask: &Ask, id: &str) -> Result<SessionKey, Problem> {
    let key = own(server, ask, id).await?;
    key.ok_or_else(|| Problem::not_found("such conversation, or it is not yours"))
}

pub async fn show(server: &Server, ask: &Ask, id: &str) -> Result<Answer, Problem> {
    ask.may(May::Read)?;
    let key = find(server, ask, id).await?;
    let session = server.sessions.load(&key).await?;
    let messages = server.sessions.messages(&key, MESSAGES).await?;
    let pack = server.packs.get(&key.pack);
    let pack = pack.ok_or_else(|| Problem::not_found("such conversation, or it is not yours"))?;
    let attached = messages.iter().filter_map(|m| m.said.attachment.as_deref());
    let attached: Vec<&str> = attached.collect();
    let attached = server.attached(pack, &key, &attached).await?;
    let messages = messages.iter().map(|m| {
        let attachment = attached.of(m.said.attachment.as_deref());
        value!({"seq": m.seq, "role": m.said.role, "text": m.said.text, "data": m.said.data, "attachment": attachment, "at": m.said.at, "run": m.run})
    });
    let shown = value!({
        "id": session.id, "pack": key.pack, "user": key.user, "conversation": key.conversation, "version": session.version,
        "state": session.state, "open_run": session.open_run, "last_run": session.last_run,
        "messages": messages.collect::<Vec<Value>>(),
    });
    Ok(named(json(StatusCode::OK, &shown), None, Some(id)))
}

/// Erases it, with the journals of its runs.
pub async fn erase(server: &Server, ask: &Ask, id: &str) -> Result<Answer, Problem> {
    ask.may(May::Admin)?;
    let key = find(server, ask, id).await?;
    let pack = server.packs.get(&key.pack);
    let pack = pack.ok_or_else(|| Problem::not_found("such conversation, or it is not yours"))?;
    let _held = server
        .sessions
        .turn(&key, server.limits.turn_timeout)
        .await?;
    let gone = turns::erase(&pack.project, &*server.sessions, &key).await?;
    let status = match gone.left.is_empty() {
        true => StatusCode::OK,
        false => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let told =
        value!({"session_id": id, "messages": gone.messages, "runs": gone.runs, "left": gone.left});
    Ok(named(json(status, &told), None, Some(id)))
}
