//! Messages are taken: each once, carried through whether or not its sender waits.

use super::pushes;
use super::refused::Refused;
use super::said::{self, Said};
use super::task::{self, Seen};
use crate::ask::Ask;
use crate::clients::May;
use crate::once::Once;
use crate::problem::Problem;
use crate::push::{self, Wanted};
use crate::runs::{self, Found};
use crate::server::{ServedPack, Server};
use agentctl_a2a::{Fault, Kind, SendMessage};
use agentctl_sessions::{Answered, Claimed};
use hyper::StatusCode;
use std::sync::Arc;
use tokio::sync::oneshot;

/// Takes a message, and waits until its task is at its end or waits itself, or no longer than until it is begun, where the client
/// does not want to wait.
pub async fn send(
    server: &Arc<Server>,
    ask: &Ask,
    pack: &Arc<ServedPack>,
    request: &SendMessage,
    tenant: Option<&str>,
) -> Result<(Found, Seen), Refused> {
    let configuration = request.configuration.as_ref();
    let at_once = configuration.and_then(|c| c.return_immediately) == Some(true);
    let most = task::history_length(configuration.and_then(|c| c.history_length))?;
    let (found, mut seen) = begin(server, ask, pack, request, tenant, !at_once).await?;
    seen.keep_history(most);
    Ok((found, seen))
}

/// The same for who is told the task's events: it waits until the task is begun.
pub async fn begin(
    server: &Arc<Server>,
    ask: &Ask,
    pack: &Arc<ServedPack>,
    request: &SendMessage,
    tenant: Option<&str>,
    to_its_end: bool,
) -> Result<(Found, Seen), Refused> {
    ask.may(May::Turn)?;
    let once = said::once(ask, pack, &request.message)?;
    let configuration = request.configuration.as_ref();
    let tells = configuration.and_then(|c| c.task_push_notification_config.as_ref());
    let tells = match tells {
        Some(config) => Some(pushes::wanted(server, config).await?),
        None => None,
    };
    let as_this = (request, &once, tells);
    begin_as(server, ask, pack, as_this, tenant, to_its_end).await
}

/// The same of a message that is taken as this one, and whose task is told to this receiver.
pub async fn begin_as(
    server: &Arc<Server>,
    ask: &Ask,
    pack: &Arc<ServedPack>,
    (request, once, tells): (&SendMessage, &Once, Option<Wanted>),
    tenant: Option<&str>,
    to_its_end: bool,
) -> Result<(Found, Seen), Refused> {
    let said = said::read(server, ask, pack, (request, once), tenant).await?;
    let (started, begun) = oneshot::channel();
    let mut task = {
        let (server, pack) = (Arc::clone(server), Arc::clone(pack));
        tokio::spawn(async move { carry(&server, &pack, said, tells, started).await })
    };
    let run = tokio::select! {
        biased;
        Ok(run) = begun, if !to_its_end => run,
        done = &mut task => done.map_err(|_| crate::once::broke_off())??,
    };
    // One that was sent before is of the conversation that it came to then.
    let found = runs::find(server, ask, &run).await?;
    let seen = task::look(server, &found).await?;
    Ok((found, seen))
}

/// The run that a message is for, when it is at its end or waits. The same message sent again is the same run's.
async fn carry(
    server: &Arc<Server>,
    pack: &Arc<ServedPack>,
    said: Said,
    tells: Option<Wanted>,
    started: oneshot::Sender<String>,
) -> Result<String, Refused> {
    let once = said.once.clone();
    let lock = server.onces.of(&once.id);
    let _alone = lock.lock().await;
    let now = pack.effects.now().as_millisecond();
    let claimed = server.sessions.claim(&once.id, once.body(), now).await;
    let begun = match claimed.map_err(Problem::from)? {
        Claimed::Answered(answered) => return known(answered.run),
        Claimed::Other => {
            return Err(Fault::field(
                "message.messageId",
                "another message had it before; nothing was done",
            )
            .into());
        }
        Claimed::Begun(run) => run,
        Claimed::New => None,
    };
    // A process before this one, or another replica, keeps it already: how far it was told stands there.
    let is_kept = match &begun {
        Some(run) => {
            let of_run = server.sessions.pushes_of(run).await;
            let of_run = of_run.map_err(Problem::from)?;
            of_run
                .iter()
                .any(|push| push.request.as_deref() == Some(once.id.as_str()))
        }
        None => false,
    };
    // Kept before anything is done: whenever this process is killed, who is to be told is known.
    let kept = match (&tells, pushes::offered(server)) {
        (Some(wanted), Ok(outbox)) if !is_kept => {
            Some(push::keep_for(server, outbox, &once.id, wanted, said.last).await?)
        }
        _ => None,
    };
    let started = match &kept {
        Some(_) => told_first(server, &once, started),
        None => started,
    };
    let again = match &begun {
        // A process before this one began it.
        Some(run) => {
            let key = server.sessions.of_run(run).await.map_err(Problem::from)?;
            let key = key.as_ref().unwrap_or(&said.key);
            server.gone_on_with(pack, key, run, &said.submit).await
        }
        None => None,
    };
    let session = said.key.id();
    let done = match (again, said.answers.is_some()) {
        (Some(done), _) => done,
        (None, true) => answer(server, said, started).await,
        (None, false) => {
            let begun = server.begin(pack, said.key, said.submit, said.priority, Some(started));
            match begun {
                Ok(begun) => begun.reply().await,
                Err(problem) => Err(problem),
            }
        }
    };
    let run = match done {
        Ok(reply) => Ok(reply.run_id),
        // It began, and did not come about: its task tells why.
        Err(problem) => match problem.more.get("run_id").and_then(|run| run.as_str()) {
            Some(run) => Ok(run.to_owned()),
            None => Err(problem),
        },
    };
    match (&run, kept) {
        (_, None) => {}
        (Ok(run), Some(_)) => push::begun(server, &once.id, run).await?,
        (Err(_), Some(kept)) => server
            .sessions
            .forget_push(&kept)
            .await
            .map_err(Problem::from)?,
    }
    keep(server, &once, &session, &run).await?;
    Ok(run?)
}

/// Who waits for a run to begin hears of it when its receiver is known to be told.
fn told_first(
    server: &Arc<Server>,
    once: &Once,
    started: oneshot::Sender<String>,
) -> oneshot::Sender<String> {
    let (tell, told) = oneshot::channel::<String>();
    let (server, request) = (Arc::clone(server), once.id.clone());
    tokio::spawn(async move {
        if let Ok(run) = told.await {
            // What failed here is tried again when the turn is over.
            let _ = push::begun(&server, &request, &run).await;
            let _ = started.send(run);
        }
    });
    tell
}

fn known(run: Option<String>) -> Result<String, Refused> {
    run.ok_or_else(|| Fault::new(Kind::Internal, "the message was answered without a run").into())
}

/// What did nothing is not kept: sent again, it may do what it did not.
async fn keep(
    server: &Server,
    once: &Once,
    session: &str,
    run: &Result<String, Problem>,
) -> Result<(), Problem> {
    match run {
        Ok(run) => {
            let answered = Answered {
                status: StatusCode::OK.as_u16(),
                content_type: agentctl_a2a::MEDIA_TYPE.to_owned(),
                body: String::new(),
                run: Some(run.clone()),
                session: Some(session.to_owned()),
            };
            server.sessions.answered(&once.id, &answered).await?;
        }
        Err(_) => server.sessions.unclaim(&once.id).await?,
    }
    Ok(())
}

/// An answer that is data, to the question that a run waits for.
async fn answer(
    server: &Arc<Server>,
    said: Said,
    started: oneshot::Sender<String>,
) -> Result<agentctl_turns::TurnReply, Problem> {
    let Some((found, question, value)) = said.answers else {
        return Err(crate::once::broke_off());
    };
    let given = runs::Given {
        question,
        value,
        approves: false,
        heard: said.submit.heard,
    };
    runs::give(server, &found, given, Some(started)).await
}
