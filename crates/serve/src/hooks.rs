//! `POST /hooks/{pack}`: a body of the sender's own form, as the pack's `channels.webhook` reads it, and an answer of the pack's form.

use crate::answer::Answer;
use crate::ask::Ask;
use crate::files::Attached;
use crate::once::Once;
use crate::problem::Problem;
use crate::server::{ServedPack, Server};
use crate::turning::{for_channel, waits};
use agentctl_turns::{Submit, TurnReply};
use hyper::StatusCode;
use hyper::body::Incoming;
use serde_json::Value;
use std::sync::Arc;

/// Of a conversation that the body does not name.
const CONVERSATION: &str = "default";

pub async fn post(
    server: &Arc<Server>,
    ask: &Ask,
    pack: &Arc<ServedPack>,
    body: Incoming,
) -> Result<Answer, Problem> {
    let Some(webhook) = &pack.pack.manifest.channels.webhook else {
        return Err(Problem::not_found("webhook of this pack")
            .hint("its pack.yaml has no channels.webhook (docs/webhooks.md)"));
    };
    let (bytes, body) = ask.value(body).await?;
    let taken = webhook.take(&body).map_err(Problem::fields)?;
    let key = ask.key(
        &pack.pack.manifest.name,
        taken.tenant.as_deref(),
        taken.user.as_deref(),
        taken.conversation.as_deref().unwrap_or(CONVERSATION),
    )?;
    let submit = Submit {
        message: taken.message,
        input: taken.input,
        ..Submit::default()
    };
    let door = format!("hooks/{}", pack.pack.manifest.name);
    let once = Once::of(ask, &door, taken.id.as_deref(), &bytes)?;
    let shaper = Arc::clone(pack);
    let shape = move |reply: &TurnReply, attached: &Attached| shaped(&shaper, reply, attached);
    let shape = Box::new(shape);
    match pack.pack.manifest.channels.later && ask.prefers_later() {
        true => server.turn_later(pack, key, submit, once, shape).await,
        false => server.turn_once(pack, key, submit, once, shape).await,
    }
}

/// The reply in the pack's form.
fn shaped(pack: &ServedPack, reply: &TurnReply, attached: &Attached) -> Result<String, Problem> {
    let Some(webhook) = &pack.pack.manifest.channels.webhook else {
        return Err(Problem::not_found("webhook of this pack"));
    };
    let mut said = webhook.reply(&for_channel(reply, attached)).map_err(|e| {
        let detail = format!("the reply could not be put into the pack's form: {e}");
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, detail).with("run_id", reply.run_id.clone())
    })?;
    // A form that has no place of its own for what the turn waits for gets one: who does not see it waits for ever.
    if let (Value::Object(said), Some(Value::Object(waits))) = (&mut said, waits(reply)) {
        for (name, value) in waits {
            said.entry(name).or_insert(value);
        }
    }
    Ok(said.to_string())
}
