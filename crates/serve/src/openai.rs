//! `/v1/chat/completions` and `/v1/models`: a pack looks like a model, so that what talks to one talks to a pack. The conversation is
//! kept here, by `X-Session-Id` or `user`; a request without either is a conversation of its own, told anew in its messages.

use crate::answer::{Answer, Events, json};
use crate::ask::Ask;
use crate::fields::Fields;
use crate::files::Attached;
use crate::kept;
use crate::once::Once;
use crate::places::Priority;
use crate::problem::Problem;
use crate::router::named;
use crate::server::{ServedPack, Server};
use crate::turning::{Begun, Next, text, text_with};
use agentctl_engine::pack::Fault;
use agentctl_engine::view::RunUsage;
use agentctl_sessions::SessionKey;
use agentctl_turns::{Submit, TurnReply};
use hyper::StatusCode;
use hyper::body::Incoming;
use serde_json::{Map, Value, json as value};
use std::sync::Arc;
use tokio::sync::oneshot;

/// What a caller can ask of a model and not of a pack, which has its own.
const REFUSED: [&str; 4] = ["tools", "functions", "tool_choice", "function_call"];

pub fn models(server: &Server, ask: &Ask) -> Answer {
    let packs = server.packs.values();
    let reached = packs.filter(|pack| ask.client.reaches(&pack.pack.manifest.name));
    let listed: Vec<Value> = reached.map(|pack| shown(server, pack)).collect();
    json(StatusCode::OK, &value!({"object": "list", "data": listed}))
}

pub fn model(server: &Server, ask: &Ask, name: &str) -> Result<Answer, Problem> {
    let pack = server.pack(ask, name)?;
    Ok(json(StatusCode::OK, &shown(server, &pack)))
}

fn shown(server: &Server, pack: &ServedPack) -> Value {
    value!({"id": pack.pack.manifest.name, "object": "model", "created": server.since, "owned_by": "agentctl"})
}

pub async fn completions(
    server: &Arc<Server>,
    ask: &Ask,
    body: Incoming,
) -> Result<Answer, Problem> {
    let (bytes, body) = ask.object(body).await?;
    for refused in REFUSED {
        if body
            .get(refused)
            .is_some_and(|v| !v.is_null() && *v != value!([]))
        {
            return Err(Problem::bad(format!(
                "{refused:?} is not taken: a pack has its own tools"
            ))
            .hint("send the request without it; what a pack may use stands in its policy.yaml"));
        }
    }
    if body.get("n").and_then(Value::as_u64).is_some_and(|n| n > 1) {
        return Err(Problem::bad("one answer is given, not several").hint("send it without n"));
    }
    let mut fields = Fields::of(&body);
    let model = fields.required("model");
    let (user, is_stream) = (fields.text("user"), fields.flag("stream"));
    let message = last_message(&body);
    if let Err(why) = &message {
        fields.wrong("messages", *why);
    }
    fields.fit()?;
    let message = message.unwrap_or_default();
    let pack = server.pack(ask, model)?;
    let key = conversation(server, ask, model, user).await?;
    let submit = Submit {
        message: Some(message),
        input: Map::new(),
        ..Submit::default()
    };
    let request = Once::of(ask, "v1", None, &bytes)?;
    let told = Told {
        id: format!("chatcmpl-{}", uuid::Uuid::new_v4().simple()),
        made: server.now(),
        model: model.to_owned(),
    };
    if is_stream != Some(true) {
        let shape = move |reply: &TurnReply, attached: &Attached| {
            Ok(told.whole(reply, attached).to_string())
        };
        return server
            .turn_once(&pack, key, submit, request, Box::new(shape))
            .await;
    }
    if request.is_some() {
        return Err(Problem::bad("a stream is not told again")
            .hint("send it without Idempotency-Key, or without stream"));
    }
    let (started, run) = oneshot::channel();
    let mut begun = server.begin(
        &pack,
        key.clone(),
        submit,
        Priority::default(),
        Some(started),
    )?;
    let run = begun.run(run).await?;
    let options = body.get("stream_options");
    let with_usage = options.and_then(|options| options.get("include_usage"));
    let with_usage = with_usage.and_then(Value::as_bool) == Some(true);
    let (events, answer) = Events::answer();
    let answer = named(answer, Some(&run), Some(&key.id()));
    let whose = (Arc::clone(server), pack, key);
    tokio::spawn(async move {
        let (server, pack, key) = whose;
        tell(&server, (&pack, &key), begun, events, &told, with_usage).await;
    });
    Ok(answer)
}

/// The conversation of a request: the client's own with the id that `X-Session-Id` is, as replies name it; else the one of that name, or of
/// `user`; else one of its own.
async fn conversation(
    server: &Server,
    ask: &Ask,
    model: &str,
    user: Option<&str>,
) -> Result<SessionKey, Problem> {
    let given = ask.header("x-session-id")?;
    let named = given.or(user).filter(|name| !name.trim().is_empty());
    let Some(named) = named else {
        let once = format!("once-{}", uuid::Uuid::new_v4());
        return ask.key(model, None, None, &once);
    };
    let known = match given {
        Some(id) => kept::own(server, ask, id).await?,
        None => None,
    };
    match known {
        Some(key) if key.pack == model => Ok(key),
        Some(key) => Err(Problem::fields(vec![Fault {
            field: "X-Session-Id".to_owned(),
            message: format!("is a conversation with {:?}, not with {model:?}", key.pack),
        }])),
        None => ask.key(model, None, None, named),
    }
}

/// What every part of an answer says of it.
struct Told {
    id: String,
    made: i64,
    model: String,
}

impl Told {
    /// `choice` null: none.
    fn object(&self, object: &str, choice: Value) -> Value {
        let choices: Vec<Value> = Some(choice).filter(|c| !c.is_null()).into_iter().collect();
        value!({"id": self.id, "object": object, "created": self.made, "model": self.model, "choices": choices})
    }

    fn whole(&self, reply: &TurnReply, attached: &Attached) -> Value {
        let message =
            value!({"role": "assistant", "content": text_with(reply, attached), "refusal": null});
        let choice =
            value!({"index": 0, "finish_reason": "stop", "logprobs": null, "message": message});
        let mut whole = self.object("chat.completion", choice);
        add(&mut whole, "usage", usage(&reply.usage));
        add(&mut whole, "agentctl", of_turn(reply));
        whole
    }

    fn part(&self, delta: &Value, finish: Option<&str>) -> String {
        let choice = value!({"index": 0, "delta": delta, "finish_reason": finish});
        self.object("chat.completion.chunk", choice).to_string()
    }
}

/// Tells a turn as it goes.
async fn tell(
    server: &Server,
    (pack, key): (&ServedPack, &SessionKey),
    mut begun: Begun,
    events: Events,
    told: &Told,
    with_usage: bool,
) {
    let first = value!({"role": "assistant", "content": ""});
    events.send(None, None, &told.part(&first, None)).await;
    let mut so_far = String::new();
    let done = loop {
        match begun.next().await {
            Next::Said(said) => {
                let one = std::slice::from_ref(&said);
                let attached = match server.attached_to(pack, key, one).await {
                    Ok(attached) => attached,
                    Err(problem) => break Err(problem),
                };
                let before = if so_far.is_empty() { "" } else { "\n\n" };
                // What is compared with the reply at the end is without links, which are made anew each time.
                so_far = format!("{so_far}{before}{}", said.text);
                let part = attached.told(&said.text, said.attachment.as_deref());
                let part = format!("{before}{part}");
                let part = told.part(&value!({"content": part}), None);
                events.send(None, None, &part).await;
            }
            Next::Quiet => {
                events.heartbeat().await;
            }
            Next::Done(done) => break done,
        }
    };
    match done {
        Ok(reply) => {
            // What was not said while the flow ran: a question, why it ended.
            let whole = text(&reply);
            let rest = whole.strip_prefix(so_far.as_str()).unwrap_or(&whole);
            if !rest.is_empty() {
                let part = told.part(&value!({"content": rest}), None);
                events.send(None, None, &part).await;
            }
            let choice = value!({"index": 0, "delta": {}, "finish_reason": "stop"});
            let mut part = told.object("chat.completion.chunk", choice);
            add(&mut part, "agentctl", of_turn(&reply));
            events.send(None, None, &part.to_string()).await;
            if with_usage {
                let mut last = told.object("chat.completion.chunk", Value::Null);
                add(&mut last, "usage", usage(&reply.usage));
                events.send(None, None, &last.to_string()).await;
            }
        }
        Err(problem) => {
            events
                .send(
                    None,
                    None,
                    &value!({"error": problem.as_error()}).to_string(),
                )
                .await;
        }
    }
    events.send(None, None, "[DONE]").await;
}

/// What no model has: the turn's run and conversation, and what it waits for. Clients of the API pass over members that they do not know.
fn of_turn(reply: &TurnReply) -> Value {
    let mut of =
        value!({"run_id": reply.run_id, "session_id": reply.session_id, "expects": reply.expects});
    if let Some(question) = &reply.question {
        add(&mut of, "question", value!(question));
    }
    of
}

fn add(to: &mut Value, name: &str, value: Value) {
    if let Value::Object(map) = to {
        map.insert(name.to_owned(), value);
    }
}

fn usage(used: &RunUsage) -> Value {
    value!({
        "prompt_tokens": used.input_tokens, "completion_tokens": used.output_tokens,
        "total_tokens": used.input_tokens + used.output_tokens
    })
}

/// The text of the last message, which must be the user's. Error: what is wrong with `messages`.
fn last_message(body: &Map<String, Value>) -> Result<String, &'static str> {
    let Some(messages) = body.get("messages").filter(|all| !all.is_null()) else {
        return Err("is required, as a list; its last message is what is answered");
    };
    let Some(messages) = messages.as_array() else {
        return Err("must be a list of messages");
    };
    let Some(last) = messages.last() else {
        return Err("is empty; the last message is what is answered");
    };
    if last.get("role").and_then(Value::as_str) != Some("user") {
        return Err("must end with a message of the user");
    }
    match last.get("content") {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().map(|part| {
                let text = part.get("text").and_then(Value::as_str);
                text.ok_or("ends with what is not read: text is, pictures and sound are not")
            });
            Ok(texts.collect::<Result<Vec<&str>, _>>()?.join("\n"))
        }
        _ => Err("ends with a message whose content is no text"),
    }
}
