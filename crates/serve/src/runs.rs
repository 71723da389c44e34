//! `/runs/{id}`: how a turn's run stands, and what it is told from outside. A run that is not the
//! client's looks like one that never was.

use crate::answer::{Answer, json};
use crate::ask::Ask;
use crate::clients::May;
use crate::ending;
use crate::once::broke_off;
use crate::problem::Problem;
use crate::router::{named, naming};
use crate::server::{ServedPack, Server};
use crate::turning::{ended_well, text_with};
use agentctl_base::model::ToolStatus;
use agentctl_base::question::Question;
use agentctl_engine::pack::Pack;
use agentctl_engine::run::{self, Cancel, RunReport};
use agentctl_engine::store::{Event, Project, Record};
use agentctl_sessions::SessionKey;
use agentctl_turns::{self as turns, Expects, TurnReply};
use hyper::StatusCode;
use hyper::body::Incoming;
use serde_json::{Value, json as value};
use std::borrow::Cow;
use std::sync::Arc;
use tokio::sync::oneshot;

/// A run of a pack and a conversation that are the client's.
#[derive(Clone)]
pub struct Found {
    pub run: String,
    pub key: SessionKey,
    pub pack: Arc<ServedPack>,
}

pub async fn find(server: &Server, ask: &Ask, run: &str) -> Result<Found, Problem> {
    let none = || Problem::not_found("such run, or it is not yours");
    let key = server.whose(run).await?.ok_or_else(none)?;
    let mine = ask.client.owns(&key.tenant) && ask.client.reaches(&key.pack);
    let pack = server.packs.get(&key.pack).filter(|_| mine);
    let pack = Arc::clone(pack.ok_or_else(none)?);
    Ok(Found {
        run: run.to_owned(),
        key,
        pack,
    })
}

/// A run that a client may look at.
#[derive(Clone)]
pub struct Readable {
    pub run: String,
    /// The conversation that it is a turn of; None: a command began it.
    pub key: Option<SessionKey>,
    pub pack: Arc<ServedPack>,
    /// The flow of the pack that it is of; None: the one that is served.
    pub flow: Option<String>,
}

impl From<Found> for Readable {
    fn from(found: Found) -> Readable {
        Readable {
            run: found.run,
            key: Some(found.key),
            pack: found.pack,
            flow: None,
        }
    }
}

impl Readable {
    /// The pack with the run's flow. One that is not there any more cannot be told: what was served stands for it, and does not fit.
    pub fn as_it_runs(&self) -> Cow<'_, Pack> {
        let served = &self.pack.pack;
        let named = self
            .flow
            .as_deref()
            .filter(|flow| served.manifest.entry != *flow);
        let own = named.and_then(|flow| served.clone().with_flow(flow));
        own.map_or(Cow::Borrowed(served), Cow::Owned)
    }

    /// What AG-UI calls its thread.
    pub fn thread(&self) -> String {
        let key = self.key.as_ref();
        key.map_or_else(|| self.run.clone(), SessionKey::id)
    }
}

impl Found {
    fn is_live(&self, server: &Server) -> bool {
        server.live.of(&self.run).is_some()
    }
}

/// How a run stands.
pub struct Standing {
    /// `running`, `waiting` or `ended`.
    pub status: &'static str,
    /// What was said to begin it.
    pub message: String,
    pub report: RunReport,
    /// The tools whose calls changed something, in order.
    pub done: Vec<String>,
    /// Of a run that has ended: those whose calls may have, and nobody saw.
    pub unsure: Vec<String>,
}

impl Standing {
    /// The question that it waits for, and what that expects.
    pub fn question(&self) -> Option<(&Question, Expects)> {
        let first = self.report.questions.first();
        let question = first.filter(|_| self.status == "waiting")?;
        let expects = match question.approves {
            Some(_) => Expects::Approval,
            None => Expects::Answer,
        };
        Some((question, expects))
    }
}

pub fn standing(server: &Server, found: &Found) -> Result<Standing, Problem> {
    let (project, pack) = (&found.pack.project, &found.pack.pack);
    standing_of(project, pack, &found.run, found.is_live(server))
}

/// `pack`: with the flow that the run is of; `is_live`: this server works on it.
pub fn standing_of(
    project: &Project,
    pack: &Pack,
    run: &str,
    is_live: bool,
) -> Result<Standing, Problem> {
    let (mut ended, mut message) = (false, String::new());
    let (mut done, mut begun) = (Vec::new(), Vec::new());
    let mut look = |record: &Record| match &record.event {
        Event::RunStarted { input, .. } => {
            let said = input.get("message").and_then(Value::as_str);
            said.unwrap_or_default().clone_into(&mut message);
        }
        Event::RunEnded { .. } => ended = true,
        Event::ToolIntent { call, mutates, .. } if *mutates => {
            begun.retain(|(id, _)| *id != call.id);
            begun.push((call.id.clone(), call.name.clone()));
        }
        Event::ToolFinished { result, .. } => {
            let at = begun.iter().position(|(id, _)| *id == result.call_id);
            match (at, result.status) {
                (Some(at), ToolStatus::Ok) => done.push(begun.remove(at).1),
                (Some(_), ToolStatus::Unknown) | (None, _) => {}
                (Some(at), _) => drop(begun.remove(at)),
            }
        }
        _ => {}
    };
    let shown = run::show(project, pack, run, &mut look);
    let report = shown.map_err(|e| Problem::from(turns::TurnError::from(e)))?;
    let status = match (ended, is_live, report.questions.is_empty()) {
        (true, ..) => "ended",
        (false, false, false) => "waiting",
        _ => "running",
    };
    let unsure = match status {
        "ended" => begun.into_iter().map(|(_, tool)| tool).collect(),
        _ => Vec::new(),
    };
    Ok(Standing {
        status,
        message,
        report,
        done,
        unsure,
    })
}

/// `GET /runs/{id}`.
pub async fn show(server: &Server, found: &Found) -> Result<Answer, Problem> {
    let standing = standing(server, found)?;
    let (report, status) = (&standing.report, standing.status);
    let said = &report.messages;
    let attached = server.attached_to(&found.pack, &found.key, said).await?;
    let messages = report.messages.iter().map(|m| attached.message(m));
    let mut shown = value!({
        "run_id": found.run, "session_id": found.key.id(), "pack": found.key.pack, "status": status,
        "messages": messages.collect::<Vec<Value>>(), "usage": report.usage,
    });
    if let Value::Object(map) = &mut shown {
        if status == "ended" {
            map.insert("outcome".into(), value!(report.outcome));
            map.insert("message".into(), report.message.clone().into());
            map.insert("result".into(), value!(report.output));
        }
        for (name, tools) in [("done", &standing.done), ("unsure", &standing.unsure)] {
            if !tools.is_empty() {
                map.insert(name.into(), value!(tools));
            }
        }
        if let Some((question, expects)) = standing.question() {
            map.insert("expects".into(), value!(expects));
            map.insert("question".into(), value!(question));
        }
    }
    let session = found.key.id();
    Ok(named(
        json(StatusCode::OK, &shown),
        Some(&found.run),
        Some(&session),
    ))
}

/// `POST /runs/{id}/answers`, `POST /runs/{id}/approvals/{question}`.
pub async fn answer(
    server: &Arc<Server>,
    ask: &Ask,
    found: Found,
    approval: Option<&str>,
    body: Incoming,
) -> Result<Answer, Problem> {
    let body = ask.json(body).await?;
    let (question, given) = match approval {
        Some(question) => {
            let yes = body.get("approve").and_then(Value::as_bool);
            let yes = yes.ok_or_else(|| {
                Problem::bad("an approval says {\"approve\": true} or {\"approve\": false}")
            })?;
            let word = if yes { "approve" } else { "refuse" };
            (question.to_owned(), Value::from(word))
        }
        None => {
            let mut all = body.into_iter();
            match (all.next(), all.next()) {
                (Some(one), None) => one,
                _ => {
                    return Err(Problem::bad("one question is answered at a time")
                        .hint("{\"QUESTION ID\": answer}"));
                }
            }
        }
    };
    let given = Given {
        question,
        value: given,
        approves: approval.is_some(),
        heard: None,
    };
    let reply = give(server, &found, given, None).await?;
    let said = &reply.messages;
    let attached = server.attached_to(&found.pack, &found.key, said).await?;
    let shown = value!({"output": text_with(&reply, &attached), "run_id": reply.run_id, "outcome": reply.outcome, "expects": reply.expects});
    Ok(naming(json(StatusCode::OK, &shown), &reply))
}

/// An answer to a question of a run.
pub struct Given {
    pub question: String,
    pub value: Value,
    /// It is an approval.
    pub approves: bool,
    /// What the sender calls the message that gives it.
    pub heard: Option<String>,
}

/// Gives an answer, and goes on with its run, whether or not its caller waits. `started` is told when it goes on.
pub async fn give(
    server: &Arc<Server>,
    found: &Found,
    given: Given,
    started: Option<oneshot::Sender<String>>,
) -> Result<TurnReply, Problem> {
    let (server, found) = (Arc::clone(server), found.clone());
    let task = tokio::spawn(async move {
        let cancel = Cancel::default();
        let Some(_under_way) = server.under_way(&cancel) else {
            return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the server ends").retry(5));
        };
        let host = server.host(&found.pack, &cancel);
        let mut watch = server.watching(&cancel, &found.key).telling(started);
        let given = turns::AnswerTo {
            question: &given.question,
            value: given.value,
            approves: given.approves,
            heard: given.heard,
        };
        let reply = turns::answer(&host, &found.key, &found.run, given, &mut watch).await;
        ended_well(reply?)
    });
    task.await.map_err(|_| broke_off())?
}

/// `POST /runs/{id}/cancel`.
pub async fn cancel(server: &Arc<Server>, ask: &Ask, found: Found) -> Result<Answer, Problem> {
    ask.may(May::Cancel)?;
    if ending::ask(server, &found).await? {
        let told = value!({"run_id": found.run, "status": "running", "message": "it ends at its next step"});
        return Ok(json(StatusCode::ACCEPTED, &told));
    }
    let why = format!("cancelled by the client {}", ask.client.name);
    let stopped = ending::stop(server, &found, &why).await?;
    let reply = stopped.ok_or_else(|| Problem::not_found("such run, or it is not yours"))?;
    let told = value!({"run_id": reply.run_id, "status": "ended", "outcome": reply.outcome, "done": reply.did});
    Ok(naming(json(StatusCode::OK, &told), &reply))
}
