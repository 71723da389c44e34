//! `POST /chat/{pack}`: n8n's chat contract, so that its widget and what was written for it talk to a pack.

use crate::answer::{Answer, Events, json};
use crate::ask::Ask;
use crate::fields::Fields;
use crate::files::Attached;
use crate::once::Once;
use crate::places::Priority;
use crate::problem::Problem;
use crate::router::named;
use crate::runs::{Found, standing};
use crate::server::{ServedPack, Server};
use crate::turning::{Begun, Next, asked, text_with, waits};
use agentctl_sessions::{Role, SessionKey};
use agentctl_turns::{Submit, TurnReply};
use hyper::StatusCode;
use hyper::body::Incoming;
use serde_json::{Map, Value, json as value};
use std::sync::Arc;
use tokio::sync::oneshot;

/// So many of the last messages a widget is given back.
const PREVIOUS: u32 = 100;

pub async fn post(
    server: &Arc<Server>,
    ask: &Ask,
    pack: &Arc<ServedPack>,
    body: Incoming,
) -> Result<Answer, Problem> {
    let (bytes, body) = ask.object(body).await?;
    let mut fields = Fields::of(&body);
    let action = fields.text("action").unwrap_or("sendMessage");
    let conversation = fields.required("sessionId");
    let is_blank = |id: &str| id.trim().is_empty();
    if body
        .get("sessionId")
        .and_then(Value::as_str)
        .is_some_and(is_blank)
    {
        fields.wrong("sessionId", "is blank");
    }
    let metadata = fields.object("metadata");
    let message = match action {
        "sendMessage" => fields.required("chatInput"),
        _ => "",
    };
    fields.fit()?;
    let key = ask.key(&pack.pack.manifest.name, None, None, conversation)?;
    match action {
        "sendMessage" => {
            let metadata = metadata.map(|metadata| ("metadata".into(), metadata.clone().into()));
            let input: Map<String, Value> = metadata.into_iter().collect();
            let submit = Submit {
                message: Some(message.to_owned()),
                input,
                ..Submit::default()
            };
            let once = Once::of(ask, &format!("chat/{}", key.pack), None, &bytes)?;
            send(server, ask, pack, key, submit, once).await
        }
        "loadPreviousSession" => previous(server, pack, key).await,
        other => Err(Problem::bad(format!("there is no action {other:?}"))
            .hint("sendMessage, loadPreviousSession")),
    }
}

async fn send(
    server: &Arc<Server>,
    ask: &Ask,
    pack: &Arc<ServedPack>,
    key: SessionKey,
    submit: Submit,
    once: Option<Once>,
) -> Result<Answer, Problem> {
    if !ask.wants_events() {
        let shape = |reply: &TurnReply, attached: &Attached| {
            let mut said = value!({"output": text_with(reply, attached)});
            if let (Value::Object(said), Some(Value::Object(waits))) = (&mut said, waits(reply)) {
                said.extend(waits);
            }
            Ok(said.to_string())
        };
        let shape = Box::new(shape);
        return match pack.pack.manifest.channels.later && ask.prefers_later() {
            true => server.turn_later(pack, key, submit, once, shape).await,
            false => server.turn_once(pack, key, submit, once, shape).await,
        };
    }
    if once.is_some() {
        return Err(Problem::bad("events are not told again")
            .hint("send it without Idempotency-Key, or without Accept: text/event-stream"));
    }
    let (started, run) = oneshot::channel();
    let mut begun = server.begin(
        pack,
        key.clone(),
        submit,
        Priority::default(),
        Some(started),
    )?;
    let run = begun.run(run).await?;
    let (events, answer) = Events::answer();
    let answer = named(answer, Some(&run), Some(&key.id()));
    let whose = (Arc::clone(server), Arc::clone(pack), key);
    tokio::spawn(async move { tell(&whose.0, (&whose.1, &whose.2), begun, events).await });
    Ok(answer)
}

/// Tells a turn as it goes.
async fn tell(
    server: &Server,
    (pack, key): (&ServedPack, &SessionKey),
    mut begun: Begun,
    events: Events,
) {
    let last = loop {
        match begun.next().await {
            Next::Said(said) => {
                let one = std::slice::from_ref(&said);
                let attached = match server.attached_to(pack, key, one).await {
                    Ok(attached) => attached,
                    Err(problem) => break Err(problem),
                };
                let item = value!({"type": "item", "content": attached.told(&said.text, said.attachment.as_deref())});
                events.send(None, None, &item.to_string()).await;
            }
            Next::Quiet => {
                events.heartbeat().await;
            }
            Next::Done(done) => break done,
        }
    };
    let last = match last {
        Ok(reply) => {
            let attached = server.attached_to(pack, key, &reply.messages).await;
            attached.map(|attached| (reply, attached))
        }
        Err(problem) => Err(problem),
    };
    let last = match last {
        Ok((reply, attached)) => value!({
            "type": "end", "output": text_with(&reply, &attached), "run_id": reply.run_id, "session_id": reply.session_id,
            "expects": reply.expects
        }),
        Err(problem) => {
            let mut told = value!({"type": "error", "content": problem.detail, "status": problem.status.as_u16()});
            if let Value::Object(told) = &mut told {
                told.extend(
                    problem
                        .hint
                        .clone()
                        .map(|hint| ("hint".to_owned(), hint.into())),
                );
                told.extend(problem.more.clone());
            }
            told
        }
    };
    events.send(None, None, &last.to_string()).await;
}

/// The conversation as the widget keeps messages: as LangChain writes them down; last a turn that waits, with what it asks.
async fn previous(
    server: &Server,
    pack: &Arc<ServedPack>,
    key: SessionKey,
) -> Result<Answer, Problem> {
    let messages = server.sessions.messages(&key, PREVIOUS).await?;
    let attached = messages.iter().filter_map(|m| m.said.attachment.as_deref());
    let attached: Vec<&str> = attached.collect();
    let attached = server.attached(pack, &key, &attached).await?;
    let mut kept: Vec<Value> = messages
        .iter()
        .map(|message| {
            let said = attached.told(&message.said.text, message.said.attachment.as_deref());
            one(message.said.role, &said)
        })
        .collect();
    if let Some(run) = server.sessions.load(&key).await?.open_run {
        let (key, pack) = (key.clone(), Arc::clone(pack));
        let standing = standing(server, &Found { run, key, pack })?;
        if let Some((question, expects)) = standing.question() {
            kept.push(one(Role::User, &standing.message));
            kept.push(one(
                Role::Assistant,
                &asked(question, expects, &standing.report.run_id),
            ));
        }
    }
    let told = value!({"data": kept});
    Ok(named(json(StatusCode::OK, &told), None, Some(&key.id())))
}

fn one(role: Role, said: &str) -> Value {
    let kind = match role {
        Role::User => "HumanMessage",
        Role::Assistant => "AIMessage",
    };
    value!({
        "lc": 1, "type": "constructor", "id": ["langchain_core", "messages", kind],
        "kwargs": {"content": said, "additional_kwargs": {}, "response_metadata": {}}
    })
}
