//! Turns: admitted, carried to their end whether or not somebody still waits for the reply, and cut off at the limit of time.

use crate::files::Attached;
use crate::live::Watch;
use crate::places::{Place, Places, Priority};
use crate::problem::Problem;
use crate::server::{ServedPack, Server};
use agentctl_base::question::{Outcome, Question};
use agentctl_engine::run::{Cancel, Cause, Reply};
use agentctl_sessions::{SessionError, SessionKey};
use agentctl_turns::{self as turns, Expects, Submit, TurnError, TurnReply};
use hyper::StatusCode;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};

/// So many turns wait for a place among those that are taken at once; the next one is refused.
const MOST_WAITING: usize = 256;

/// Those that are under way, and those that wait to be.
pub struct Turns {
    places: Arc<Places>,
    queue: Arc<Semaphore>,
    state: Mutex<State>,
    changed: Notify,
    ends: watch::Sender<bool>,
}

#[derive(Default)]
struct State {
    ending: bool,
    next: u64,
    under_way: HashMap<u64, Cancel>,
    /// By conversation: those that are under way or wait for it.
    lines: HashMap<String, Line>,
}

/// The turns of one conversation, in the order in which they came.
struct Line {
    /// One is under way, the others wait.
    count: u32,
    /// Ready when the last that came has left.
    last: oneshot::Receiver<()>,
}

/// A place in a conversation's line; dropped, it is the next one's turn.
struct Ticket {
    server: Arc<Server>,
    key: String,
    /// Ready when those before have left.
    before: Option<oneshot::Receiver<()>>,
    _leaves: oneshot::Sender<()>,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut state = self.server.turns.state();
        if let Some(line) = state.lines.get_mut(&self.key) {
            line.count -= 1;
            if line.count == 0 {
                state.lines.remove(&self.key);
            }
        }
    }
}

impl Turns {
    pub fn new(at_once: usize) -> Turns {
        Turns {
            places: Places::new(at_once),
            queue: Arc::new(Semaphore::new(at_once + MOST_WAITING)),
            state: Mutex::default(),
            changed: Notify::new(),
            ends: watch::Sender::new(false),
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_ending(&self) -> bool {
        self.state().ending
    }

    /// Ready when the server ends.
    pub async fn ending(&self) {
        let mut ends = self.ends.subscribe();
        // The sender is here: it does not go away.
        let _ = ends.wait_for(|ends| *ends).await;
    }

    /// How many are under way or wait.
    pub fn count(&self) -> usize {
        self.state().under_way.len()
    }

    /// None: the server ends.
    fn enter(&self, cancel: &Cancel) -> Option<u64> {
        let mut state = self.state();
        if state.ending {
            return None;
        }
        state.next += 1;
        let number = state.next;
        state.under_way.insert(number, cancel.clone());
        Some(number)
    }

    fn leave(&self, number: u64) {
        self.state().under_way.remove(&number);
        self.changed.notify_waiters();
    }

    /// Takes no more turns.
    pub fn end(&self) {
        self.state().ending = true;
        self.ends.send_replace(true);
    }

    /// Takes no more turns, waits for those that are under way, and stops at their next step those that take longer than `drain`.
    pub async fn finish(&self, drain: Duration) {
        self.end();
        if tokio::time::timeout(drain, self.none_left()).await.is_ok() {
            return;
        }
        for cancel in self.state().under_way.values() {
            cancel.request(Cause::Terminate);
        }
        self.none_left().await;
    }

    async fn none_left(&self) {
        loop {
            let changed = self.changed.notified();
            if self.count() == 0 {
                return;
            }
            // One that left between the two lines above is seen at the next look.
            let _ = tokio::time::timeout(Duration::from_millis(100), changed).await;
        }
    }
}

/// A turn that was admitted.
pub struct Begun {
    /// What the flow says, as it says it.
    pub said: mpsc::UnboundedReceiver<Reply>,
    done: oneshot::Receiver<Result<TurnReply, Problem>>,
    /// It ended before anything of it was told on.
    early: Option<Box<TurnReply>>,
}

impl Begun {
    pub async fn reply(self) -> Result<TurnReply, Problem> {
        ended(self.done.await)
    }

    /// Waits until its run is in the journal, and tells which one it is. Err: nothing was begun.
    pub async fn run(&mut self, started: oneshot::Receiver<String>) -> Result<String, Problem> {
        tokio::select! {
            biased;
            Ok(run) = started => Ok(run),
            done = &mut self.done => {
                let reply = ended(done)?;
                let run = reply.run_id.clone();
                self.early = Some(Box::new(reply));
                Ok(run)
            }
        }
    }

    /// What comes next, for who tells it on as it comes.
    pub async fn next(&mut self) -> Next {
        if let Some(reply) = self.early.take() {
            return match self.said.try_recv() {
                Ok(said) => {
                    self.early = Some(reply);
                    Next::Said(said)
                }
                Err(_) => Next::Done(Ok(reply)),
            };
        }
        tokio::select! {
            biased;
            Some(said) = self.said.recv() => Next::Said(said),
            done = &mut self.done => Next::Done(ended(done).map(Box::new)),
            () = tokio::time::sleep(QUIET) => Next::Quiet,
        }
    }
}

/// So long nothing comes before a connection is shown to be alive.
const QUIET: Duration = Duration::from_secs(10);

pub enum Next {
    Said(Reply),
    /// Nothing came for a while.
    Quiet,
    Done(Result<Box<TurnReply>, Problem>),
}

fn ended(
    done: Result<Result<TurnReply, Problem>, oneshot::error::RecvError>,
) -> Result<TurnReply, Problem> {
    done.unwrap_or_else(|_| {
        Err(Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the turn broke off: this is a bug in agentctl",
        )
        .hint("the run is saved, `agentctl runs list` tells how far it came"))
    })
}

impl Server {
    /// Admits a turn. It is carried to its end by itself; `started` is told its run when that is in the journal. `priority` counts
    /// while it waits for a place.
    pub fn begin(
        self: &Arc<Self>,
        pack: &Arc<ServedPack>,
        key: SessionKey,
        submit: Submit,
        priority: Priority,
        started: Option<oneshot::Sender<String>>,
    ) -> Result<Begun, Problem> {
        let cancel = Cancel::default();
        let queue = Arc::clone(&self.turns.queue);
        let waits = queue.try_acquire_owned().map_err(|_| busy())?;
        let number = self.turns.enter(&cancel).ok_or_else(ends)?;
        let left = Left(Arc::clone(self), number);
        let mut ticket = self.line_up(&key)?;
        let (said, hears) = mpsc::unbounded_channel();
        let (done, waiting) = oneshot::channel();
        let (server, pack) = (Arc::clone(self), Arc::clone(pack));
        tokio::spawn(async move {
            let _left = left;
            let _waits = waits;
            let place = async {
                if let Some(before) = ticket.before.take() {
                    // It is dropped, not sent.
                    let _ = before.await;
                }
                let places = Arc::clone(&server.turns.places);
                places.take(priority).await
            };
            // What has not begun when the server ends is not begun any more.
            let place = tokio::select! {
                biased;
                () = server.turns.ending() => None,
                place = place => Some(place),
            };
            let Some(_place) = place else {
                let _ = done.send(Err(ends()));
                return;
            };
            let mut watch =
                Watch::new(Arc::clone(&server.live), &cancel, &key, said).telling(started);
            let reply = server.take(&pack, &key, &submit, &cancel, &mut watch).await;
            drop(watch);
            drop(ticket);
            // The journal and the conversation have it.
            if let Err(unheard) = done.send(reply) {
                server.tell(unheard_of(&unheard));
            }
        });
        Ok(Begun {
            said: hears,
            done: waiting,
            early: None,
        })
    }

    /// A place behind those of the same conversation. It is refused where too many wait.
    fn line_up(self: &Arc<Self>, key: &SessionKey) -> Result<Ticket, Problem> {
        let (leaves, last) = oneshot::channel();
        let key = key.id();
        let mut state = self.turns.state();
        let before = match state.lines.get_mut(&key) {
            None => {
                state.lines.insert(key.clone(), Line { count: 1, last });
                None
            }
            Some(line) if line.count > agentctl_sessions::MOST_WAITING => {
                return Err(SessionError::Queue.into());
            }
            Some(line) => {
                line.count += 1;
                Some(std::mem::replace(&mut line.last, last))
            }
        };
        drop(state);
        Ok(Ticket {
            server: Arc::clone(self),
            key,
            before,
            _leaves: leaves,
        })
    }

    /// A place among what is done at once, for something that is no turn. It is refused where too many wait.
    pub(crate) async fn place(
        &self,
        priority: Priority,
    ) -> Result<(OwnedSemaphorePermit, Place), Problem> {
        let queue = Arc::clone(&self.turns.queue);
        let waits = queue.try_acquire_owned().map_err(|_| busy())?;
        Ok((waits, self.turns.places.take(priority).await))
    }

    /// Notes that something is carried through which the end of the server has to wait for. None: it ends already.
    pub(crate) fn under_way(self: &Arc<Self>, cancel: &Cancel) -> Option<UnderWay> {
        let number = self.turns.enter(cancel)?;
        Some(UnderWay(Left(Arc::clone(self), number)))
    }

    /// Sees a turn whose words nobody waits for.
    pub(crate) fn watching(&self, cancel: &Cancel, key: &SessionKey) -> Watch {
        let (said, _) = mpsc::unbounded_channel();
        Watch::new(Arc::clone(&self.live), cancel, key, said)
    }

    async fn take(
        &self,
        pack: &ServedPack,
        key: &SessionKey,
        submit: &Submit,
        cancel: &Cancel,
        watch: &mut Watch,
    ) -> Result<TurnReply, Problem> {
        let host = self.host(pack, cancel);
        let turn = turns::turn(&host, key, submit, watch);
        let (taken, late) = self.in_time(cancel, turn).await;
        let reply = taken.map_err(|error| match &watch.run {
            Some(run) => self.unfinished(error, run),
            None => error.into(),
        })?;
        if reply.outcome != Outcome::Interrupted {
            return ended_well(reply);
        }
        let cause = match (late, cancel.cause()) {
            (true, _) => CutOff::Late(self.limits.turn_timeout),
            (false, Some(Cause::Interrupt)) => CutOff::Cancelled,
            (false, _) => CutOff::Ending,
        };
        Err(self.cut_off(pack, key, &reply, cause, watch).await?)
    }

    /// Why a run's turn has no reply.
    pub(crate) fn unfinished(&self, error: TurnError, run: &str) -> Problem {
        if error.is_lost() {
            self.lost.note(run);
        }
        Problem::from(error).with("run_id", run)
    }

    /// Ends a turn that was interrupted; the problem tells what stays of it.
    pub(crate) async fn cut_off(
        &self,
        pack: &ServedPack,
        key: &SessionKey,
        reply: &TurnReply,
        cause: CutOff,
        watch: &mut Watch,
    ) -> Result<Problem, Problem> {
        let fresh = Cancel::default();
        let host = self.host(pack, &fresh);
        let stopped = turns::stop(&host, key, &reply.run_id, &cause.why(), watch).await?;
        Ok(cause.problem(stopped.as_ref().unwrap_or(reply)))
    }
}

fn ends() -> Problem {
    Problem::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "the server ends; nothing was done",
    )
    .retry(5)
}

/// A turn whose caller had gone when it came to its end, as the log has it.
fn unheard_of(done: &Result<TurnReply, Problem>) -> Value {
    let at = jiff::Timestamp::now().to_string();
    let mut line = match done {
        Ok(reply) => {
            json!({"at": at, "run": reply.run_id, "session": reply.session_id, "outcome": reply.outcome})
        }
        Err(problem) => json!({
            "at": at, "run": problem.more.get("run_id"), "session": problem.more.get("session_id"),
            "status": problem.status.as_u16(),
        }),
    };
    if let Value::Object(line) = &mut line {
        line.insert(
            "unheard".into(),
            "the caller had gone before the turn's end".into(),
        );
    }
    line
}

fn busy() -> Problem {
    Problem::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "too many turns wait already; nothing was done",
    )
    .retry(5)
}

/// Dropped, it is carried through.
pub struct UnderWay(#[expect(dead_code, reason = "held, not read")] Left);

/// However a turn ends, it is no longer under way then.
struct Left(Arc<Server>, u64);

impl Drop for Left {
    fn drop(&mut self) {
        self.0.turns.leave(self.1);
    }
}

/// Why a turn did not come to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CutOff {
    /// It took longer than this.
    Late(Duration),
    /// A client wanted it.
    Cancelled,
    /// The server ended, and the turn took longer than it waits.
    Ending,
}

impl CutOff {
    fn why(self) -> String {
        match self {
            CutOff::Late(limit) => format!("it took longer than {} s", limit.as_secs()),
            CutOff::Cancelled => "a client cancelled it".to_owned(),
            CutOff::Ending => "the server ended".to_owned(),
        }
    }

    /// What was done is told in the past tense, by the program: nothing of it goes on.
    fn problem(self, reply: &TurnReply) -> Problem {
        let status = match self {
            CutOff::Late(_) => StatusCode::GATEWAY_TIMEOUT,
            CutOff::Cancelled => StatusCode::CONFLICT,
            CutOff::Ending => StatusCode::SERVICE_UNAVAILABLE,
        };
        let told = format!("the turn was cancelled: {}; {}", self.why(), done(reply));
        let problem = Problem::new(status, told)
            .hint("GET /runs/{id} shows the run; a new message is a new turn");
        of_reply(problem, reply)
    }
}

/// What a turn that was cut off leaves, in the past tense.
fn done(reply: &TurnReply) -> String {
    let named = |tools: &[String]| tools.join(", ");
    let done = match (reply.did.as_slice(), reply.unsure.as_slice()) {
        ([], []) => return "nothing was changed".to_owned(),
        ([], _) => String::new(),
        (did, []) => return format!("what was done before stays: {}", named(did)),
        (did, _) => format!("what was done before stays: {}; ", named(did)),
    };
    let unsure = named(&reply.unsure);
    format!("{done}whether {unsure} took effect was not seen: look there before you send it again")
}

fn of_reply(problem: Problem, reply: &TurnReply) -> Problem {
    let problem = problem
        .with("run_id", reply.run_id.clone())
        .with("session_id", reply.session_id.clone())
        .with("done", json!(reply.did));
    match reply.unsure.is_empty() {
        true => problem,
        false => problem.with("unsure", json!(reply.unsure)),
    }
}

pub fn ended_well(reply: TurnReply) -> Result<TurnReply, Problem> {
    let status = match reply.outcome {
        Outcome::Complete | Outcome::Draft | Outcome::Partial | Outcome::Waiting => {
            return Ok(reply);
        }
        // What the rules refuse is told to who asked, like any reply.
        Outcome::Refused | Outcome::Blocked => return Ok(reply),
        Outcome::Cancelled => StatusCode::CONFLICT,
        Outcome::Budget => StatusCode::SERVICE_UNAVAILABLE,
        Outcome::Failed | Outcome::Interrupted => StatusCode::BAD_GATEWAY,
    };
    let detail = match reply.message.is_empty() {
        true => format!("the turn ended as {}", reply.outcome.name()),
        false => reply.message.clone(),
    };
    let detail = match reply.outcome {
        Outcome::Cancelled => format!("{detail}; {}", done(&reply)),
        _ => detail,
    };
    Err(of_reply(Problem::new(status, detail), &reply))
}

/// All that a reply says, as one text: what the flow said, why it ended, what it asks.
pub fn text(reply: &TurnReply) -> String {
    text_with(reply, &Attached::default())
}

/// The same with where its files are.
pub fn text_with(reply: &TurnReply, attached: &Attached) -> String {
    let mut parts: Vec<String> = {
        let all = reply.messages.iter();
        all.map(|m| attached.told(&m.text, m.attachment.as_deref()))
            .collect()
    };
    if !reply.message.is_empty() && reply.expects == Expects::Nothing {
        parts.push(reply.message.clone());
    }
    if let Some(question) = &reply.question {
        parts.push(asked(question, reply.expects, &reply.run_id));
    }
    parts.join("\n\n")
}

/// A question with its options, a line each. Of an approval none is offered to be typed: no message is one.
pub fn asked(question: &Question, expects: Expects, run: &str) -> String {
    let mut text = question.text.clone();
    if expects == Expects::Approval {
        let id = &question.id;
        text += &format!(
            "\nA message does not approve it; a client that may does (POST /runs/{run}/approvals/{id})."
        );
        return text;
    }
    for option in &question.options {
        text += &format!("\n- {}", option.label);
    }
    text
}

/// What a reply waits for, for doors whose answers have a place for it; None: for nothing.
pub fn waits(reply: &TurnReply) -> Option<Value> {
    let question = reply.question.as_ref()?;
    Some(json!({"expects": reply.expects, "question": question, "run_id": reply.run_id}))
}

/// A reply as a pack's channel sees it under `reply`.
pub fn for_channel(reply: &TurnReply, attached: &Attached) -> Value {
    let last = |of: &dyn Fn(&Reply) -> Value| {
        let mut all = reply.messages.iter().rev().map(of);
        all.find(|value| !value.is_null()).unwrap_or_default()
    };
    json!({
        "text": text(reply),
        "data": last(&|m| m.data.clone()),
        "attachment": last(&|m| attached.of(m.attachment.as_deref())),
        "output": reply.output,
        "outcome": reply.outcome,
        "message": reply.message,
        "question": reply.question,
        "expects": reply.expects,
        "messages": reply.messages.iter().map(|m| attached.message(m)).collect::<Vec<Value>>(),
        "state": reply.state,
    })
}
