//! A Restate server as a door (docs/restate.md). It hands out what is to be done, for each conversation one thing at a time, and hands
//! it out again where whoever did it died. What a turn did stands in its run's own journal, as with every door; Restate has the numbers
//! of its steps and the reply. Nothing waits in a handler: it acts until the turn is at its end or waits for a person, and returns.

mod identity;
mod orders;
mod steps;
mod turns;

use crate::clients::{Client, May};
use crate::ending;
use crate::problem::Problem;
use crate::server::Server;
use orders::{Kind, answer, start};
use restate_sdk::prelude::{
    ContextSideEffects as _, Endpoint, HandlerError, HandlerResult, HttpServer,
    IntoServiceDefinition as _, Json, ObjectContext, RunFuture as _, ServiceOptions,
    SharedObjectContext, TerminalError,
};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use steps::{Next, Steps};
use tokio::net::TcpListener;
use tokio::sync::Mutex;
use turns::Work;

pub use steps::Gate;

/// After a step that failed, the first time and at most.
const AGAIN: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));
/// So much longer than a turn may take, Restate waits for a sign of life.
const MARGIN: Duration = Duration::from_secs(60);

/// Does what a Restate server hands out.
pub struct Worker {
    server: Arc<Server>,
    /// Whoever reaches the Restate server, as one client: it knows no callers.
    client: Client,
}

/// What is wrong with the key of a Restate server.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotAKey(String);

impl Worker {
    pub fn new(server: Arc<Server>, client: Client) -> Worker {
        Worker { server, client }
    }

    /// Works until `stop` is ready. Turns under way have the time then that a server gives them, and stop at a step: they are for who
    /// is handed them next. `key`: the one server that may call; None: whoever reaches the listener.
    pub async fn work(
        self,
        listener: TcpListener,
        key: Option<&str>,
        stop: impl Future<Output = ()>,
    ) -> Result<(), NotAKey> {
        identity::provide();
        let server = Arc::clone(&self.server);
        let worker = Arc::new(self);
        let options = || {
            let patience = server.limits.turn_timeout + MARGIN;
            ServiceOptions::new()
                .inactivity_timeout(patience)
                .abort_timeout(patience)
                .retry_policy_initial_interval(AGAIN.0)
                .retry_policy_max_interval(AGAIN.1)
        };
        let sessions = Session(Arc::clone(&worker)).into_service_definition();
        let runs = Run(worker).into_service_definition();
        let mut endpoint = Endpoint::builder()
            .bind(sessions.options(options()))
            .bind(runs.options(options()));
        if let Some(key) = key {
            let keyed = endpoint.identity_key(key);
            endpoint = keyed.map_err(|error| NotAKey(error.to_string()))?;
        }
        let heeds = Arc::clone(&server);
        let heeding = tokio::spawn(async move { ending::heed(&heeds).await });
        let leave = async {
            stop.await;
            server.turns.end();
        };
        HttpServer::new(endpoint.build())
            .serve_with_cancel(listener, leave)
            .await;
        server.turns.finish(server.limits.drain).await;
        heeding.abort();
        Ok(())
    }

    /// Carries out an order in steps that Restate knows.
    async fn carry_out(
        &self,
        kind: Kind,
        ctx: &ObjectContext<'_>,
        work: Result<Work, Problem>,
    ) -> HandlerResult<Json<Value>> {
        let order = work.and_then(|work| self.order(kind, ctx.key(), ctx.invocation_id(), work));
        let steps = Arc::new(Mutex::new(Steps::of(order.map_err(refused)?)));
        let mut number = 0;
        loop {
            number += 1;
            let mine = Arc::clone(&steps);
            let step = async move {
                let next = mine.lock().await.next().await;
                next.map(Json::from).map_err(failed)
            };
            let done = ctx.run(|| step).name(format!("step {number}")).await;
            match done.map(Json::into_inner) {
                Ok(Next::Step { .. }) => {}
                Ok(Next::Done(reply)) => return Ok(Json::from(reply)),
                Err(error) => {
                    // It was refused, or Restate was told to cancel it.
                    steps.lock().await.end().await;
                    return Err(error.into());
                }
            }
        }
    }

    async fn cancel(
        &self,
        kind: Kind,
        ctx: &SharedObjectContext<'_>,
    ) -> HandlerResult<Json<Value>> {
        let key = self
            .may(May::Cancel)
            .and_then(|()| self.key(kind, ctx.key()));
        let (pack, key) = key.map_err(refused)?;
        let server = Arc::clone(&self.server);
        let cancelled = async move {
            let done = turns::cancel(&server, &pack, &key).await;
            done.map(Json::from).map_err(failed)
        };
        Ok(ctx.run(|| cancelled).name("cancel").await?)
    }

    fn may(&self, what: May) -> Result<(), Problem> {
        match self.client.may.contains(&what) {
            true => Ok(()),
            false => Err(Problem::new(
                hyper::StatusCode::FORBIDDEN,
                format!("who comes through Restate may not {}", what.name()),
            )
            .hint("the worker's --may-approve lets approvals through")),
        }
    }
}

/// What is wrong with what was asked: it is so the next time as well.
fn refused(problem: Problem) -> HandlerError {
    TerminalError::new_with_code(problem.status.as_u16(), problem.text()).into()
}

/// What went wrong: handed out again where that may help.
fn failed(problem: Problem) -> HandlerError {
    match problem.retry_after {
        Some(_) => HandlerError::from(problem.detail.clone()),
        None => refused(problem),
    }
}

/// A conversation: turn after turn.
struct Session(Arc<Worker>);

/// A turn by itself.
struct Run(Arc<Worker>);

#[restate_sdk::object(client_visibility = "pub(self)")]
impl Session {
    #[handler]
    async fn start(&self, ctx: ObjectContext<'_>, body: Json<Value>) -> HandlerResult<Json<Value>> {
        let work = start(body.into_inner(), Kind::Session);
        self.0.carry_out(Kind::Session, &ctx, work).await
    }

    #[handler]
    async fn answer(
        &self,
        ctx: ObjectContext<'_>,
        body: Json<Value>,
    ) -> HandlerResult<Json<Value>> {
        let work = answer(body.into_inner());
        self.0.carry_out(Kind::Session, &ctx, work).await
    }

    #[handler]
    async fn advance(&self, ctx: ObjectContext<'_>) -> HandlerResult<Json<Value>> {
        self.0
            .carry_out(Kind::Session, &ctx, Ok(Work::Advance))
            .await
    }

    #[handler]
    async fn cancel(&self, ctx: SharedObjectContext<'_>) -> HandlerResult<Json<Value>> {
        self.0.cancel(Kind::Session, &ctx).await
    }
}

#[restate_sdk::object(client_visibility = "pub(self)")]
impl Run {
    #[handler]
    async fn start(&self, ctx: ObjectContext<'_>, body: Json<Value>) -> HandlerResult<Json<Value>> {
        let work = start(body.into_inner(), Kind::Run);
        self.0.carry_out(Kind::Run, &ctx, work).await
    }

    #[handler]
    async fn answer(
        &self,
        ctx: ObjectContext<'_>,
        body: Json<Value>,
    ) -> HandlerResult<Json<Value>> {
        let work = answer(body.into_inner());
        self.0.carry_out(Kind::Run, &ctx, work).await
    }

    #[handler]
    async fn advance(&self, ctx: ObjectContext<'_>) -> HandlerResult<Json<Value>> {
        self.0.carry_out(Kind::Run, &ctx, Ok(Work::Advance)).await
    }

    #[handler]
    async fn cancel(&self, ctx: SharedObjectContext<'_>) -> HandlerResult<Json<Value>> {
        self.0.cancel(Kind::Run, &ctx).await
    }
}
