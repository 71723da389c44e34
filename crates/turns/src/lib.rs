//! One turn of a conversation, whatever door it comes through: hold the session, read what it keeps, run the pack's flow, write back
//! what the turn leaves. The journal comes first; a turn that was killed in between is found and brought to its end by the next one.

mod commands;
mod later;
mod reply;
mod settle;
mod user_view;

pub use agentctl_engine::run::AnswerTo;
pub use commands::{Command, help};
pub use later::{Gone, again, answer, erase, was_heard};
pub use reply::{Expects, TurnReply};
pub use settle::{Settled, settle, stop, withdraw};
pub use user_view::{Seen, done, seen, words};

use agentctl_engine::gateway::Gateway;
use agentctl_engine::pack::Pack;
use agentctl_engine::run::{
    Answering, Budgets, Cancel, Effects, Left, Models, Observer, Resume, RunContext, RunError,
    RunOptions, RunReport, SessionGiven, Turn,
};
use agentctl_engine::store::{LedgerError, Link, Project, StoreError};
use agentctl_sessions::{
    Finish, Message, NewMessage, Role, Session, SessionError, SessionKey, Sessions,
};
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};

/// How long a turn waits for the one before it.
pub const WAIT: Duration = Duration::from_secs(10);
/// How long lies between two looks at a run that another replica has.
const AGAIN: Duration = Duration::from_millis(100);
/// No message is longer, in characters.
pub const MAX_MESSAGE: usize = 20_000;
/// So many of the last messages a flow can read.
const MESSAGES: u32 = 200;

/// What every turn of one pack needs.
pub struct Host<'a> {
    pub project: &'a Project,
    pub pack: &'a Pack,
    pub gateway: &'a Gateway,
    pub models: &'a dyn Models,
    pub effects: &'a dyn Effects,
    pub cancel: &'a Cancel,
    pub sessions: &'a dyn Sessions,
    pub limits: Budgets,
    /// How long a turn waits for the one before it.
    pub wait: Duration,
}

/// What came in.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Submit {
    /// What the user said; None: something happened instead, which the input tells.
    pub message: Option<String>,
    /// What the flow sees as `input` besides the message.
    pub input: Map<String, Value>,
    /// The request that was claimed for it ([`Sessions::claim`]); None: it has no name.
    pub request: Option<String>,
    /// The turn that has to be open and waiting for the user, since the message is for it and for no other; None: for whatever the
    /// conversation waits for.
    pub to: Option<String>,
    /// What its sender calls it; None: nothing.
    pub heard: Option<String>,
    /// The call of another run that it is a turn for.
    pub parent: Option<Link>,
    /// Where answers to what the turn asks come from, before the user is asked.
    pub answering: Answering,
}

impl Submit {
    /// What the run's records call it: as its sender does, else by the request that was claimed for it.
    fn name(&self) -> Option<&str> {
        self.heard.as_deref().or(self.request.as_deref())
    }
}

#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("the message has {0} characters; at most {MAX_MESSAGE} are read at once")]
    TooLong(usize),
    #[error("run {0} waits for no message: nothing was done")]
    NotOpen(String),
}

impl TurnError {
    /// Another replica took the run: what this one did since counts for nothing.
    pub fn is_lost(&self) -> bool {
        let TurnError::Run(RunError::Store(StoreError::Ledger(error))) = self else {
            return false;
        };
        matches!(error, LedgerError::Lost { .. })
    }
}

impl Host<'_> {
    fn context<'b>(&'b self, observer: &'b mut dyn Observer) -> RunContext<'b> {
        RunContext {
            project: self.project,
            pack: self.pack,
            gateway: self.gateway,
            models: self.models,
            effects: self.effects,
            cancel: self.cancel,
            observer,
            asker: None,
        }
    }

    fn now(&self) -> i64 {
        self.effects.now().as_millisecond()
    }

    /// A turn that was begun before; None: nothing was done. One that another replica has is waited for: it may have died, and what it
    /// held is free a little later.
    async fn reopen<'b>(
        &'b self,
        run: &str,
        observer: &'b mut dyn Observer,
    ) -> Result<Option<Turn<'b>>, RunError> {
        let until = Instant::now() + self.wait;
        while let Some(held) = self.project.held_by(run)? {
            if Instant::now() >= until {
                return Err(StoreError::from(held).into());
            }
            tokio::time::sleep(AGAIN).await;
        }
        let resume = Resume {
            limits: self.limits.clone(),
            // A conversation outlives its pack's versions.
            allow_other_pack: true,
            ..Resume::default()
        };
        Turn::reopen(self.context(observer), run, resume)
    }
}

/// Takes one turn. One that does not come to its end (no model, an interrupt) leaves the session as it was: sent again, it is the
/// same turn and goes on where it stopped.
pub async fn turn(
    host: &Host<'_>,
    key: &SessionKey,
    submit: &Submit,
    observer: &mut dyn Observer,
) -> Result<TurnReply, TurnError> {
    let length = submit.message.as_ref().map_or(0, |m| m.chars().count());
    if length > MAX_MESSAGE {
        return Err(TurnError::TooLong(length));
    }
    let _held = host.sessions.turn(key, host.wait).await?;
    let mut session = own(host.sessions.load(key).await?)?;
    if let Some(to) = submit.to.as_ref()
        && session.open_run.as_ref() != Some(to)
    {
        return Err(TurnError::NotOpen(to.clone()));
    }
    // While this one waited, another replica may have taken the turn for the very same request.
    if let Some(request) = &submit.request
        && let Some(run) = host.sessions.asked(request).await?.and_then(|of| of.run)
        && let Some(reply) = later::again_in(host, &session, &run, submit, observer).await?
    {
        return Ok(reply);
    }
    let command = submit.message.as_deref().filter(|_| submit.to.is_none());
    let command = command.and_then(Command::of);
    // A command is no answer, and ends nothing: a turn that is open stays so.
    if let Some(run) = session.open_run.clone().filter(|_| command.is_none()) {
        if let Some(reply) = unfinished(host, &session, &run, submit, observer).await? {
            return Ok(reply);
        }
        session = own(host.sessions.load(key).await?)?;
    }
    let (fields, reset) = kept_fields(host.pack, &session.state);
    for field in &reset {
        observer.note(&format!(
            "the field {field:?} of this conversation no longer fits the pack; it was set back"
        ));
    }
    let messages = host.sessions.messages(key, MESSAGES).await?;
    if let Some(foreign) = messages.iter().find_map(|m| m.foreign) {
        let id = session.id;
        return Err(SessionError::Foreign { id, foreign }.into());
    }
    let mut input = submit.input.clone();
    // What the user types may hold a key by mistake; it is hidden before anything reads or keeps it.
    let message = submit.message.as_deref();
    let message = message.map(|m| agentctl_base::secrets::hide(m).to_string());
    input.insert("message".into(), message.clone().unwrap_or_default().into());
    let mut options = options(host, &session, fields, &messages, input);
    options.request = message.unwrap_or_default();
    options.answering = submit.answering.clone();
    if let Some(given) = &mut options.session {
        given.heard = submit.name().map(str::to_owned);
        given.parent = submit.parent.clone();
    }
    let begun = Turn::begin(host.context(observer), options)?;
    if let Some(command) = command {
        return commands::run(host, &session, &messages, command, begun).await;
    }
    let request = submit.request.as_deref();
    let noted = host
        .sessions
        .begin_for(&session, begun.run_id(), request, host.now());
    let version = noted.await?.version;
    let input = begun.input().clone();
    let (report, left) = begun.drive().await?;
    if is_over(&report) {
        keep(host, key, version, &input, &report, &left).await?;
    }
    Ok(TurnReply::of(
        host.pack,
        &session.id,
        &report,
        &left,
        &reset,
    ))
}

/// What a turn of this conversation is begun with.
fn options(
    host: &Host<'_>,
    session: &Session,
    fields: Map<String, Value>,
    messages: &[Message],
    input: Map<String, Value>,
) -> RunOptions {
    RunOptions {
        request: String::new(),
        input,
        limits: host.limits.clone(),
        answering: Answering::default(),
        grants: None,
        plan_tools: None,
        session: Some(Box::new(SessionGiven {
            id: session.id.clone(),
            version: u64::try_from(session.version).unwrap_or_default(),
            fields,
            messages: messages.iter().map(|m| of_message(&m.said)).collect(),
            heard: None,
            parent: None,
        })),
    }
}

/// A session whose rows this user's agentctl wrote.
fn own(session: Session) -> Result<Session, SessionError> {
    match session.foreign {
        None => Ok(session),
        Some(foreign) => Err(SessionError::Foreign {
            id: session.id,
            foreign,
        }),
    }
}

/// What becomes of the turn before, which did not end or whose end was not kept. Some: the message that came now is that turn's, sent
/// again, and this is its reply.
async fn unfinished(
    host: &Host<'_>,
    session: &Session,
    run: &str,
    submit: &Submit,
    observer: &mut dyn Observer,
) -> Result<Option<TurnReply>, TurnError> {
    let Some(mut before) = host.reopen(run, observer).await? else {
        return Ok(None);
    };
    // A turn that asked something has its reply already: what comes now is the answer, or it asks again.
    if before.question().is_some() && !before.has_ended() {
        if let Some(request) = &submit.request {
            host.sessions.goes_on_with(request, run).await?;
        }
        before.answer(submit.message.as_deref().unwrap_or_default(), submit.name())?;
        let input = before.input().clone();
        let (report, left) = before.drive().await?;
        if is_over(&report) {
            keep(host, &session.key, session.version, &input, &report, &left).await?;
        }
        return Ok(Some(TurnReply::of(
            host.pack,
            &session.id,
            &report,
            &left,
            &[],
        )));
    }
    if let Some(to) = &submit.to {
        return Err(TurnError::NotOpen(to.clone()));
    }
    let same = is_same(before.input(), submit);
    if !same && !before.has_ended() {
        before.give_up("another message came before it was finished")?;
        return Ok(None);
    }
    let input = before.input().clone();
    let (report, left) = before.drive().await?;
    if is_over(&report) {
        keep(host, &session.key, session.version, &input, &report, &left).await?;
    }
    Ok(same.then(|| TurnReply::of(host.pack, &session.id, &report, &left, &[])))
}

/// Whether a message is the one that a turn was begun with.
fn is_same(input: &Map<String, Value>, submit: &Submit) -> bool {
    let said = input.get("message").and_then(Value::as_str);
    let message = submit.message.as_deref().unwrap_or_default();
    let message = agentctl_base::secrets::hide(message);
    said == Some(&*message)
        && submit
            .input
            .iter()
            .all(|(key, value)| input.get(key) == Some(value))
}

/// Whether the run came to an end, good or not; one that did not is gone on with.
fn is_over(report: &RunReport) -> bool {
    use agentctl_base::question::Outcome as O;
    matches!(
        report.outcome,
        O::Complete | O::Draft | O::Partial | O::Blocked | O::Refused | O::Failed | O::Cancelled
    )
}

/// Writes into the session what the turn leaves: its fields, what the user said, and what was said to the user.
async fn keep(
    host: &Host<'_>,
    key: &SessionKey,
    version: i64,
    input: &Map<String, Value>,
    report: &RunReport,
    left: &Left,
) -> Result<(), SessionError> {
    let now = host.now();
    let message =
        |role, text: &str, data: Option<&Value>, attachment: Option<&String>| NewMessage {
            role,
            text: text.to_owned(),
            data: data.filter(|data| !data.is_null()).cloned(),
            attachment: attachment.cloned(),
            at: now,
        };
    let said = input.get("message").and_then(Value::as_str);
    // An empty message changes nothing: neither it nor what was answered is remembered. What happened instead of a message is.
    let happened = input.get("event").is_some_and(|event| !event.is_null());
    let blank = said.is_some_and(|said| said.trim().is_empty()) && !happened;
    let said = said.filter(|said| !said.trim().is_empty());
    let mut add: Vec<NewMessage> = said
        .map(|said| message(Role::User, said, None, None))
        .into_iter()
        .collect();
    for (question, answer) in &left.asked {
        add.push(message(Role::Assistant, question, None, None));
        add.push(message(Role::User, answer, None, None));
    }
    let replies = reply::said(host.pack, report, left);
    let replies = replies.iter().filter(|_| !blank);
    add.extend(replies.map(|r| {
        message(
            Role::Assistant,
            &r.text,
            Some(&r.data),
            r.attachment.as_ref(),
        )
    }));
    let finish = Finish {
        run: Some(report.run_id.clone()),
        open_run: None,
        version,
        state: left.fields.clone(),
        clear: left.cleared,
        add,
        now,
    };
    host.sessions.finish(key, &finish).await.map(drop)
}

/// The kept fields that the pack still has and whose schema they fit, and the names of those that do not fit any more.
fn kept_fields(pack: &Pack, state: &Map<String, Value>) -> (Map<String, Value>, Vec<String>) {
    let (mut kept, mut reset) = (Map::new(), Vec::new());
    for (name, value) in state {
        match pack.flow.fields.get(name).filter(|spec| spec.of_session) {
            Some(spec) => {
                let fits = spec
                    .schema
                    .as_ref()
                    .is_none_or(|s| s.faults(value).is_empty());
                match fits {
                    true => {
                        kept.insert(name.clone(), value.clone());
                    }
                    false => reset.push(name.clone()),
                }
            }
            None => reset.push(name.clone()),
        }
    }
    (kept, reset)
}

fn of_message(said: &NewMessage) -> Value {
    json!({"role": said.role.name(), "text": said.text})
}
