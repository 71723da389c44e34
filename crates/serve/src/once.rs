//! Requests that may be sent again: the second time they are answered as the first time, for a day, and nothing is done twice.

use crate::answer::{Answer, whole};
use crate::ask::Ask;
use crate::files::Attached;
use crate::places::Priority;
use crate::problem::Problem;
use crate::router::named;
use crate::server::{ServedPack, Server};
use agentctl_base::canonical::sha256_hex;
use agentctl_engine::run::Cancel;
use agentctl_sessions::{Answered, Claimed, SessionKey};
use agentctl_turns::{self as turns, Submit, TurnReply};
use hyper::StatusCode;
use hyper::header::{HeaderValue, LOCATION};
use serde_json::json;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::oneshot;

/// The longest name of a request, in characters.
const MAX_NAME: usize = 255;

/// A request with the name that its sender gave it.
#[derive(Debug, Clone)]
pub struct Once {
    pub id: String,
    body: String,
}

impl Once {
    /// `own`: what the body calls itself. None: the request has no name, and is a new one each time.
    pub fn of(
        ask: &Ask,
        door: &str,
        own: Option<&str>,
        body: &[u8],
    ) -> Result<Option<Once>, Problem> {
        let named = match ask.header("idempotency-key")? {
            Some(key) => Some(format!("key:{key}")),
            None => own.map(|own| format!("id:{own}")),
        };
        let Some(name) = named else { return Ok(None) };
        if name.chars().count() > MAX_NAME {
            return Err(Problem::bad(format!(
                "Idempotency-Key has more than {} characters",
                MAX_NAME - 4
            )));
        }
        Ok(Some(Once::named(ask, door, &name, body)))
    }

    /// Of a door whose requests always have a name.
    pub fn named(ask: &Ask, door: &str, name: &str, body: &[u8]) -> Once {
        // Another caller's request of the same name is another request.
        let id = [&ask.client.name, door, name].map(|part| format!("{}:{part}", part.len()));
        Once {
            id: sha256_hex(id.concat().as_bytes()),
            body: sha256_hex(body),
        }
    }

    /// A hash of what was asked.
    pub fn body(&self) -> &str {
        &self.body
    }
}

/// The requests that are being answered: the same one waits.
#[derive(Debug, Default)]
pub struct Onces(Mutex<HashMap<String, Weak<tokio::sync::Mutex<()>>>>);

impl Onces {
    pub fn of(&self, id: &str) -> Arc<tokio::sync::Mutex<()>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get(id).and_then(Weak::upgrade) {
            return known;
        }
        all.retain(|_, other| other.strong_count() > 0);
        let made = Arc::default();
        all.insert(id.to_owned(), Arc::downgrade(&made));
        made
    }
}

/// How a door puts a reply.
pub type Shape = Box<dyn Fn(&TurnReply, &Attached) -> Result<String, Problem> + Send + Sync>;

impl Server {
    /// A turn's reply as the door shapes it. It is carried through, and its answer kept, whether or not its caller waits.
    pub(crate) async fn turn_once(
        self: &Arc<Self>,
        pack: &Arc<ServedPack>,
        key: SessionKey,
        submit: Submit,
        once: Option<Once>,
        shape: Shape,
    ) -> Result<Answer, Problem> {
        self.turn_told(pack, key, submit, once, shape, None).await
    }

    /// The same for a caller that need not wait: 202 and where its reply will be, as soon as the run is in the journal. What is
    /// answered before that, because it was refused or is answered again, is the answer.
    pub(crate) async fn turn_later(
        self: &Arc<Self>,
        pack: &Arc<ServedPack>,
        key: SessionKey,
        submit: Submit,
        once: Option<Once>,
        shape: Shape,
    ) -> Result<Answer, Problem> {
        let session = key.id();
        let (started, run) = oneshot::channel();
        let (server, pack) = (Arc::clone(self), Arc::clone(pack));
        let mut turn = tokio::spawn(async move {
            server
                .turn_told(&pack, key, submit, once, shape, Some(started))
                .await
        });
        tokio::select! {
            biased;
            Ok(run) = run => Ok(accepted(&run, &session)),
            done = &mut turn => done.map_err(|_| broke_off())?,
        }
    }

    async fn turn_told(
        self: &Arc<Self>,
        pack: &Arc<ServedPack>,
        key: SessionKey,
        mut submit: Submit,
        once: Option<Once>,
        shape: Shape,
        started: Option<oneshot::Sender<String>>,
    ) -> Result<Answer, Problem> {
        let Some(once) = once else {
            let begun = self.begin(pack, key.clone(), submit, Priority::default(), started)?;
            let reply = begun.reply().await?;
            return Ok(written(&self.put(pack, &key, &reply, &shape).await?));
        };
        submit.request = Some(once.id.clone());
        let (server, pack) = (Arc::clone(self), Arc::clone(pack));
        let task = tokio::spawn(async move {
            let lock = server.onces.of(&once.id);
            let _alone = lock.lock().await;
            server
                .answered_once(&pack, key, submit, &once, &shape, started)
                .await
        });
        let answered = task.await.map_err(|_| broke_off())??;
        Ok(written(&answered))
    }

    async fn answered_once(
        self: &Arc<Self>,
        pack: &Arc<ServedPack>,
        key: SessionKey,
        submit: Submit,
        once: &Once,
        shape: &Shape,
        started: Option<oneshot::Sender<String>>,
    ) -> Result<Answered, Problem> {
        let now = pack.effects.now().as_millisecond();
        let run = match self.sessions.claim(&once.id, &once.body, now).await? {
            Claimed::Answered(answered) => return Ok(answered),
            Claimed::Other => {
                return Err(Problem::new(
                    StatusCode::UNPROCESSABLE_ENTITY,
                    "another body came under this name before; nothing was done",
                )
                .hint("a request that is not the same needs another Idempotency-Key or id"));
            }
            Claimed::New => None,
            Claimed::Begun(run) => run,
        };
        let reply = match run {
            // A process before this one began it.
            Some(run) => self.gone_on_with(pack, &key, &run, &submit).await,
            None => None,
        };
        let reply = match reply {
            Some(reply) => reply,
            None => match self.begin(pack, key.clone(), submit, Priority::default(), started) {
                Ok(begun) => begun.reply().await,
                Err(problem) => Err(problem),
            },
        };
        let put = match reply {
            Ok(reply) => self.put(pack, &key, &reply, shape).await,
            Err(problem) => Err(problem),
        };
        match put {
            Ok(answered) => {
                self.sessions.answered(&once.id, &answered).await?;
                Ok(answered)
            }
            Err(problem) if problem.more.contains_key("run_id") => {
                // It goes on where it stopped when it is sent again, here or elsewhere.
                if problem.retry_after.is_some() {
                    return Err(problem);
                }
                let answered = told(&problem);
                self.sessions.answered(&once.id, &answered).await?;
                Ok(answered)
            }
            // What did nothing is not kept: sent again, it may do what it did not.
            Err(problem) => {
                self.sessions.unclaim(&once.id).await?;
                Err(problem)
            }
        }
    }

    /// A reply as it is answered.
    async fn put(
        &self,
        pack: &ServedPack,
        key: &SessionKey,
        reply: &TurnReply,
        shape: &Shape,
    ) -> Result<Answered, Problem> {
        let attached = self.attached_to(pack, key, &reply.messages).await?;
        Ok(Answered {
            status: StatusCode::OK.as_u16(),
            content_type: "application/json".to_owned(),
            body: shape(reply, &attached)?,
            run: Some(reply.run_id.clone()),
            session: Some(reply.session_id.clone()),
        })
    }

    /// None: nothing was done for that run.
    pub(crate) async fn gone_on_with(
        &self,
        pack: &ServedPack,
        key: &SessionKey,
        run: &str,
        submit: &Submit,
    ) -> Option<Result<TurnReply, Problem>> {
        let cancel = Cancel::default();
        let host = self.host(pack, &cancel);
        let mut watch = self.watching(&cancel, key);
        match turns::again(&host, key, run, submit, &mut watch).await {
            Ok(None) => None,
            Ok(Some(reply)) => Some(crate::turning::ended_well(reply)),
            Err(error) => Some(Err(self.unfinished(error, run))),
        }
    }
}

pub fn broke_off() -> Problem {
    Problem::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "what the request asked for broke off: this is a bug in agentctl",
    )
}

fn accepted(run: &str, session: &str) -> Answer {
    let place = format!("/runs/{run}");
    let told = json!({"run_id": run, "session_id": session, "status": "running", "poll": place});
    let mut answer = whole(StatusCode::ACCEPTED, "application/json", told.to_string());
    if let Ok(place) = HeaderValue::from_str(&place) {
        answer.headers_mut().insert(LOCATION, place);
    }
    named(answer, Some(run), Some(session))
}

/// A problem as it is answered again.
fn told(problem: &Problem) -> Answered {
    let of = |key: &str| problem.more.get(key)?.as_str().map(str::to_owned);
    Answered {
        status: problem.status.as_u16(),
        content_type: "application/problem+json".to_owned(),
        body: problem.text(),
        run: of("run_id"),
        session: of("session_id"),
    }
}

fn written(answered: &Answered) -> Answer {
    let status = StatusCode::from_u16(answered.status);
    let kind = match answered.content_type.as_str() {
        "application/json" => "application/json",
        _ => "application/problem+json",
    };
    let answer = whole(
        status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
        kind,
        answered.body.clone(),
    );
    named(answer, answered.run.as_deref(), answered.session.as_deref())
}
