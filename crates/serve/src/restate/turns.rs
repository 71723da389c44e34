//! What Restate hands out, done by the turns of every door. A step may be handed out twice: what was done for this very order before is
//! found again by the order's id, which the journal and the conversation have, and gone on with.

use super::steps::Gate;
use crate::ending;
use crate::places::Priority;
use crate::problem::Problem;
use crate::runs::Found;
use crate::server::{ServedPack, Server};
use crate::turning::{CutOff, ended_well};
use agentctl_base::question::Outcome;
use agentctl_engine::run::{self, Cancel, Cause, Observer, RunError};
use agentctl_engine::store::Event;
use agentctl_sessions::{Claimed, Session, SessionKey};
use agentctl_turns::{self as turns, AnswerTo, Host, Submit, TurnError, TurnReply};
use hyper::StatusCode;
use serde_json::{Value, json};
use std::sync::Arc;

/// One thing to be done in a conversation.
pub struct Order {
    pub server: Arc<Server>,
    pub pack: Arc<ServedPack>,
    pub key: SessionKey,
    /// The same however often it is handed out.
    pub id: String,
    pub work: Work,
}

pub enum Work {
    /// A turn. `only`: the conversation has this one and no other.
    Start {
        submit: Box<Submit>,
        only: bool,
    },
    Answer(Answer),
    /// Goes on with what is open.
    Advance,
}

pub enum Answer {
    /// In the user's words.
    Said(String),
    /// To the question of this id; `approves`: it is an approval.
    To {
        question: String,
        value: Value,
        approves: bool,
    },
}

/// Does what was ordered, as far as it goes now.
pub async fn take(order: Order, gate: Gate, cancel: &Cancel) -> Result<Value, Problem> {
    let server = &order.server;
    let _place = server.place(Priority::default()).await?;
    let _under_way = server.under_way(cancel).ok_or_else(left_open)?;
    let host = server.host(&order.pack, cancel);
    let mut watch = server.watching(cancel, &order.key).gated(gate);
    let work = order.carry_out(&host, &mut watch);
    let (taken, late) = server.in_time(cancel, work).await;
    let reply = taken?;
    if reply.outcome != Outcome::Interrupted {
        return told(&ended_well(reply)?);
    }
    let why = match (late, cancel.cause()) {
        (true, _) => CutOff::Late(server.limits.turn_timeout),
        (false, Some(Cause::Interrupt)) => CutOff::Cancelled,
        // Nobody waited for its next step, or this worker ends: it is for who is handed it next.
        (false, _) => return Err(left_open()),
    };
    Err(server
        .cut_off(&order.pack, &order.key, &reply, why, &mut watch)
        .await?)
}

pub fn told(reply: &TurnReply) -> Result<Value, Problem> {
    let told = serde_json::to_value(reply);
    told.map_err(|e| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, e.to_string()))
}

fn left_open() -> Problem {
    Problem::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "the turn stopped after a step, since nobody waited for the next one here; it is gone on with from its journal",
    )
    .retry(1)
}

fn nothing_open() -> Problem {
    Problem::new(
        StatusCode::CONFLICT,
        "nothing is open here: nothing was done",
    )
    .hint("start begins a turn")
}

impl Order {
    async fn carry_out(
        &self,
        host: &Host<'_>,
        observer: &mut dyn Observer,
    ) -> Result<TurnReply, Problem> {
        match &self.work {
            Work::Start { submit, only } => self.start(host, submit, *only, observer).await,
            Work::Answer(answer) => self.answer(host, answer, observer).await,
            Work::Advance => {
                let run = self.session().await?.open_run.ok_or_else(nothing_open)?;
                self.again(host, &run, &Submit::default(), observer).await
            }
        }
    }

    async fn session(&self) -> Result<Session, Problem> {
        Ok(self.server.sessions.load(&self.key).await?)
    }

    async fn start(
        &self,
        host: &Host<'_>,
        submit: &Submit,
        only: bool,
        observer: &mut dyn Observer,
    ) -> Result<TurnReply, Problem> {
        let now = self.pack.effects.now().as_millisecond();
        let known = self.server.sessions.claim(&self.id, &self.id, now).await?;
        let submit = Submit {
            request: Some(self.id.clone()),
            heard: Some(self.id.clone()),
            ..submit.clone()
        };
        if let Claimed::Begun(Some(run)) = known {
            return self.again(host, &run, &submit, observer).await;
        }
        let session = self.session().await?;
        if let Some(run) = session.last_run.as_ref().filter(|_| only) {
            let told = format!("it was started before, as run {run}: nothing was done");
            return Err(Problem::new(StatusCode::CONFLICT, told)
                .hint("another key is another run; answer and advance go on with this one"));
        }
        if let Some(run) = &session.open_run
            && self.asks(run)?
        {
            let told = format!("run {run} waits for an answer: nothing was done");
            return Err(
                Problem::new(StatusCode::CONFLICT, told).hint("answer gives it, cancel ends it")
            );
        }
        Ok(turns::turn(host, &self.key, &submit, observer).await?)
    }

    async fn answer(
        &self,
        host: &Host<'_>,
        answer: &Answer,
        observer: &mut dyn Observer,
    ) -> Result<TurnReply, Problem> {
        let session = self.session().await?;
        let run = session.open_run.or(session.last_run);
        let run = run.ok_or_else(nothing_open)?;
        let given = match answer {
            Answer::Said(text) => {
                let submit = Submit {
                    message: Some(text.clone()),
                    to: Some(run.clone()),
                    heard: Some(self.id.clone()),
                    ..Submit::default()
                };
                turns::turn(host, &self.key, &submit, observer).await
            }
            Answer::To {
                question,
                value,
                approves,
            } => {
                let given = AnswerTo {
                    question,
                    value: value.clone(),
                    approves: *approves,
                    heard: Some(self.id.clone()),
                };
                turns::answer(host, &self.key, &run, given, observer).await
            }
        };
        match given {
            // It may have been given before, for this very order.
            Err(TurnError::NotOpen(_) | TurnError::Run(RunError::Usage(_)))
                if self.was_heard(&run)? =>
            {
                self.again(host, &run, &Submit::default(), observer).await
            }
            given => Ok(given?),
        }
    }

    async fn again(
        &self,
        host: &Host<'_>,
        run: &str,
        submit: &Submit,
        observer: &mut dyn Observer,
    ) -> Result<TurnReply, Problem> {
        let reply = turns::again(host, &self.key, run, submit, observer).await?;
        reply.ok_or_else(nothing_open)
    }

    /// Whether the run waits for the user.
    fn asks(&self, run: &str) -> Result<bool, Problem> {
        let mut look = |_: &_| ();
        let shown = run::show(&self.pack.project, &self.pack.pack, run, &mut look);
        let shown = shown.map_err(|e| Problem::from(TurnError::from(e)))?;
        Ok(shown.outcome == Outcome::Waiting)
    }

    /// Whether the run has an answer that came with this order.
    fn was_heard(&self, run: &str) -> Result<bool, Problem> {
        let heard = turns::was_heard(&self.pack.project, &self.pack.pack, run, &self.id);
        heard.map_err(|e| TurnError::from(e).into())
    }
}

/// Ends what is open in a conversation: at its next step where somebody works on it, here or elsewhere, else at once.
pub async fn cancel(
    server: &Arc<Server>,
    pack: &Arc<ServedPack>,
    key: &SessionKey,
) -> Result<Value, Problem> {
    let run = server.sessions.load(key).await?.open_run;
    let found = Found {
        run: run.ok_or_else(nothing_open)?,
        key: key.clone(),
        pack: Arc::clone(pack),
    };
    if ending::ask(server, &found).await? {
        return Ok(
            json!({"run_id": found.run, "status": "running", "message": "it ends at its next step"}),
        );
    }
    let stopped = ending::stop(server, &found, "cancelled through Restate").await?;
    told(&stopped.ok_or_else(nothing_open)?)
}
