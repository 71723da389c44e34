//! A session of tool calls that another agent makes through `mcp serve`: the same gateway, journal, snapshots and lock as a run of
//! the flow, so that it is listed, shown, verified and undone like one. No flow drives it, and nobody can be asked.
//!
//! Each call is a short activation: take the project's lock, make the call, let go. In between, builds and other sessions may
//! work; whatever they wrote is seen, because the journal is looked at again each time. A session that calls nothing leaves nothing.

use super::{
    Observer, RunError,
    active::SESSION_FLOW,
    driver::gateway_error,
    fold::Taking,
    projection,
    reopen::{turn, wait_for_lock},
    run_id,
    session_run::{Live, Serving, SessionRun, Told, cancelled_result, outside},
    told,
    turned_away::TurnedAway,
};
use crate::gateway::CallContext;
use crate::gateway::Gateway;
use crate::gateway::Settled;
use crate::toolset::{Fault, ResourceId};
use crate::{
    flow::{RunLog, evaluated},
    store::{Event, ProjectLock, Record, StateFile, StoreError, event::JOURNAL_VERSION},
    view::RunView,
};
use agentctl_base::counted::counted;
use agentctl_base::{
    BoxFuture,
    foreign::split_foreign,
    model::{ToolCall, ToolResult, ToolStatus},
    question::Outcome,
};
use agentctl_mcp::serve::{Client, Host, Hosts, Offer};
use serde_json::{Map, Value};
use std::sync::Arc;
use tokio::sync::Mutex;

/// Longer names of clients are cut.
const MAX_CLIENT: usize = 80;

/// Opens a [`ToolSession`] for each client.
pub struct ToolSessions {
    serving: Arc<Serving>,
    offer: Offer,
}

impl ToolSessions {
    pub fn new(serving: Serving) -> Self {
        ToolSessions {
            offer: serving.terms.offer(&serving.pack, &serving.gateway),
            serving: Arc::new(serving),
        }
    }
}

impl Hosts for ToolSessions {
    fn offer(&self) -> &Offer {
        &self.offer
    }
    fn open(&self, client: Client) -> Arc<dyn Host> {
        let offered = self.offer.tools.iter();
        Arc::new(ToolSession {
            serving: Arc::clone(&self.serving),
            client: Client {
                name: plain(&self.serving.gateway, &client.name),
                version: plain(&self.serving.gateway, &client.version),
                transport: client.transport,
            },
            offered: offered.map(|tool| tool.spec.name.clone()).collect(),
            state: Mutex::new(State::default()),
        })
    }
}

/// What a client says of itself is text from outside.
fn plain(gateway: &Gateway, text: &str) -> String {
    let shown = gateway.clean_text(text);
    let shown = shown.replace(['\n', '\t'], " ");
    shown.chars().take(MAX_CLIENT).collect()
}

pub struct ToolSession {
    serving: Arc<Serving>,
    client: Client,
    offered: Vec<String>,
    pub(super) state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    run_id: Option<String>,
    pub(super) live: Option<Live>,
    worked_ms: u64,
    /// Calls in a row that mean the same are one step: what the limit on identical calls counts.
    row: u32,
    last: Option<(String, String)>,
    turned_away: TurnedAway,
    /// Why no further call is taken.
    over: Option<String>,
}

type Cancelled = BoxFuture<'static, ()>;

impl Host for ToolSession {
    fn call(
        &self,
        name: String,
        arguments: String,
        mut cancelled: Cancelled,
    ) -> BoxFuture<'_, ToolResult> {
        Box::pin(async move {
            let mut state = tokio::select! {
                biased;
                state = self.state.lock() => state,
                () = &mut cancelled => return cancelled_result(String::new(), name),
            };
            match self
                .activation(&mut state, &name, arguments, cancelled)
                .await
            {
                Ok(result) => result,
                Err(error) => self.broken(&mut state, name, &error),
            }
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let mut state = self.state.lock().await;
            if let Err(error) = self.end(&mut state).await {
                Told(&self.serving.observer)
                    .note(&format!("the session's end was not journaled: {error}"));
            }
            state
                .over
                .get_or_insert_with(|| "the session is closed".into());
        })
    }
}

impl ToolSession {
    /// One that offers no tools.
    pub(super) fn new(serving: Arc<Serving>, client: Client) -> Self {
        ToolSession {
            serving,
            client,
            offered: Vec::new(),
            state: Mutex::new(State::default()),
        }
    }

    /// One call, from the lock to its result in the journal.
    async fn activation(
        &self,
        state: &mut State,
        name: &str,
        arguments: String,
        mut cancelled: Cancelled,
    ) -> Result<ToolResult, RunError> {
        if let Some(why) = &state.over {
            let hint = "open a new session (reconnect the MCP server)";
            return Ok(outside(
                name,
                ToolStatus::Refused,
                why,
                "session.over",
                hint,
            ));
        }
        let mut lock = tokio::select! {
            biased;
            lock = self.wait_for_lock(state.run_id.as_deref()) => lock?,
            () = &mut cancelled => return Ok(cancelled_result(String::new(), name.to_owned())),
        };
        let mut live = self.live(state)?;
        live.guards.set_worked_ms(state.worked_ms);
        if let Some((decision, refused)) = self.serving.gateway.spent(&live.guards, name) {
            let order = lock.turn();
            let counted = &mut state.turned_away;
            state.live = Some(counted.one_more(&self.serving, live, order, &decision)?);
            return Ok(refused);
        }
        let bound = match self.bound(&live, name) {
            Ok(bound) => bound,
            Err(refused) => {
                state.live = Some(live);
                return Ok(*refused);
            }
        };
        // What only reads changes no order, and need not wait for a disk.
        let order = match self.serving.gateway.tool(name) {
            Some(tool) if !tool.changes => lock.turn(),
            _ => Some(self.turn(&mut lock, &live)?),
        };
        let means = (name.to_owned(), arguments.clone());
        if state.last.as_ref() != Some(&means) {
            state.row += 1;
            state.last = Some(means);
        }
        let began = self.serving.effects.elapsed_ms();
        let step = format!("mcp[{}]", state.row);
        let made = self
            .make((live, order), &step, (name, arguments), bound, cancelled)
            .await;
        let took = self.serving.effects.elapsed_ms().saturating_sub(began);
        state.worked_ms = state.worked_ms.saturating_add(took);
        let (live, result) = made?;
        state.live = Some(live);
        Ok(result)
    }

    async fn make(
        &self,
        (live, order): (Live, Option<u64>),
        step: &str,
        (name, arguments): (&str, String),
        bound: Option<Map<String, Value>>,
        mut cancelled: Cancelled,
    ) -> Result<(Live, ToolResult), RunError> {
        let serving = &*self.serving;
        let mut told = Told(&serving.observer);
        let mut session_run = SessionRun::new(serving, live, order, &mut told);
        session_run.activate("call")?;
        let call = ToolCall {
            id: format!("c{}", session_run.guards.tool_calls() + 1),
            name: name.to_owned(),
            arguments,
        };
        // A change is carried through whatever the client does; a read may be dropped.
        let droppable = match serving.gateway.tool(name) {
            Some(tool) => !tool.changes,
            // It is under way on another server.
            None => split_foreign(name).is_none(),
        };
        let settled = {
            let mut cx = CallContext {
                role: &serving.terms.role,
                step,
                offered: Some(&self.offered),
                can_ask: false,
                bound: bound.as_ref(),
                guards: &mut session_run.guards,
                recorder: &mut session_run.recorder,
            };
            tokio::select! {
                biased;
                settled = serving.gateway.call(&mut cx, &call) => Some(settled),
                () = &mut cancelled, if droppable => None,
            }
        };
        session_run.recorder.sound()?;
        let trace = session_run.recorder.view.trace(step);
        let journaled = trace.and_then(|trace| trace.results.get(&call.id));
        let journaled = journaled.map(|result| ToolResult::clone(result));
        let result = match settled {
            Some(Ok(Settled::Done(result))) => result,
            Some(Ok(Settled::NeedsApproval(_) | Settled::Begun)) => {
                return Err(RunError::Internal(
                    "a call asked, or began a flow, where neither can be".into(),
                ));
            }
            Some(Err(error @ (Fault::Store(_) | Fault::Kept(_)))) => {
                return Err(gateway_error(error));
            }
            Some(Err(Fault::Backend { error, .. })) => journaled.unwrap_or_else(|| {
                let hint = error.hint.clone().unwrap_or_default();
                let rule = "backend.unavailable";
                outside(name, ToolStatus::Failed, &error.message, rule, &hint)
            }),
            None => {
                let begun = trace.is_some_and(|trace| trace.begun.contains_key(&call.id));
                let result = cancelled_result(call.id, name.to_owned());
                if begun {
                    session_run.record(
                        Event::ToolFinished {
                            step: step.to_owned(),
                            role: serving.terms.role.clone(),
                            result: result.clone().into(),
                            change: None,
                        },
                        false,
                    )?;
                }
                result
            }
        };
        session_run.rest(Outcome::Complete, false)?;
        Ok((session_run.live(), result))
    }

    /// What the program fills in of a call of a tool of the pack's files; None: nothing. Error: it is computed from what only a
    /// conversation knows (whose user the call is for), and there is none: nobody else's word stands in for it.
    fn bound(
        &self,
        live: &Live,
        name: &str,
    ) -> Result<Option<Map<String, Value>>, Box<ToolResult>> {
        let pack = &self.serving.pack;
        let Some(tool) = pack.tools.get(name).filter(|tool| !tool.bind.is_empty()) else {
            return Ok(None);
        };
        let bound = evaluated(&pack.flow, &live.log, "", &tool.bind);
        bound.map(Some).map_err(|why| {
            let error = format!("what the program fills in of {name} has no value here: {why}");
            let hint = "have the agent do it, by a message: it works in a conversation";
            Box::new(outside(
                name,
                ToolStatus::Refused,
                &error,
                "tool.bound",
                hint,
            ))
        })
    }

    /// The project's turn in which something may be changed.
    pub(super) fn turn(&self, lock: &mut ProjectLock, live: &Live) -> Result<u64, RunError> {
        let serving = &*self.serving;
        let turn = turn(&serving.project, lock, &*serving.effects, &live.view)?;
        Ok(turn)
    }

    /// Waits for whoever works in the project now, but not for ever.
    pub(super) async fn wait_for_lock(
        &self,
        run_id: Option<&str>,
    ) -> Result<ProjectLock, RunError> {
        let serving = &*self.serving;
        wait_for_lock(
            &serving.project,
            serving.gateway.resources(),
            &*serving.effects,
            run_id,
            serving.lock_wait,
        )
        .await
    }

    /// The session's run as its journal stands now; a new run when there is none yet, or when it was ended (undone) from outside.
    pub(super) fn live(&self, state: &mut State) -> Result<Live, RunError> {
        let serving = &*self.serving;
        if let Some(live) = state.live.take()
            && live.journal.is_current()?
        {
            return Ok(live);
        }
        if let Some(run_id) = &state.run_id {
            let paths = serving.project.run(run_id)?;
            serving.project.refuse_links(Some(&paths))?;
            let mut taking = Taking::up(&serving.pack.flow, &serving.gateway);
            let each = &mut |record: &Record, _| taking.take(record);
            let (journal, _) = serving.project.open_run(run_id, each)?;
            let ((log, view, guards), at) = taking.folded()?;
            if view.ended.is_none() {
                return Ok(Live {
                    journal,
                    log,
                    view,
                    guards,
                    snapshots: serving.project.snapshots(&paths),
                    at,
                });
            }
        }
        let run_id = run_id::new(&*serving.effects, &serving.project)?;
        let live = self.begin(&run_id)?;
        state.run_id = Some(run_id);
        state.last = None;
        state.turned_away = TurnedAway::default();
        Ok(live)
    }

    fn begin(&self, run_id: &str) -> Result<Live, RunError> {
        let serving = &*self.serving;
        let terms = &serving.terms;
        let paths = serving.project.run(run_id)?;
        let live = Live {
            journal: serving.project.begin_run(run_id)?,
            log: RunLog::new(&serving.pack.flow),
            view: RunView::default(),
            guards: serving.gateway.guards(serving.pack.flow.scope_field()),
            snapshots: serving.project.snapshots(&paths),
            at: String::new(),
        };
        let kind = serving.gateway.resources().kind();
        let request = match self.client.transport {
            "command" => format!("{} of the {}", self.client.name, terms.role),
            "a2a" => format!("A tool for {}, as {}", self.client.name, terms.role),
            _ => format!("MCP session of {} as {}", self.client.name, terms.role),
        };
        let mut input = Map::from_iter([("request".to_owned(), Value::from(request))]);
        serving.gateway.resources().note_place(&mut input);
        if !serving.pack.overrides.is_empty() {
            let overrides = serving.pack.overrides.clone();
            input.insert(projection::OVERRIDES.to_owned(), overrides.into());
        }
        let mut told = Told(&serving.observer);
        let mut session_run = SessionRun::new(serving, live, None, &mut told);
        session_run.record(
            Event::RunStarted {
                journal_version: JOURNAL_VERSION,
                agentctl_version: env!("CARGO_PKG_VERSION").to_owned(),
                run_id: run_id.to_owned(),
                flow: SESSION_FLOW.to_owned(),
                pack_hash: serving.pack.hash.clone(),
                input,
            },
            false,
        )?;
        session_run.record(
            Event::SessionOpened {
                role: terms.role.clone(),
                client: self.client.name.clone(),
                client_version: self.client.version.clone(),
                transport: self.client.transport.to_owned(),
                only: (terms.only.as_ref()).map(|id| ResourceId::new(kind, id.as_str())),
                scope: terms.scope.clone(),
            },
            false,
        )?;
        Ok(session_run.live())
    }

    /// Journals the session's end, if it did anything.
    async fn end(&self, state: &mut State) -> Result<(), RunError> {
        if state.over.is_some() || state.run_id.is_none() {
            return Ok(());
        }
        let serving = &*self.serving;
        let lock = self.wait_for_lock(state.run_id.as_deref()).await?;
        let live = match state.live.take() {
            Some(live) if live.journal.is_current()? => live,
            // Somebody else (an undo) had the last word, or the journal broke.
            _ => return Ok(()),
        };
        let mut told = Told(&serving.observer);
        let mut session_run = SessionRun::new(serving, live, lock.turn(), &mut told);
        session_run.activate("close")?;
        state
            .turned_away
            .tell(&mut session_run, &serving.terms.role)?;
        let view = &session_run.recorder.view;
        let mut message = format!(
            "the session ended: {}, {}",
            counted(view.usage.tool_calls, "call"),
            counted(view.standing().count(), "change")
        );
        if view.turned_away > 0 {
            message.push_str(&format!(
                ", {} turned away",
                counted(view.turned_away, "call")
            ));
        }
        session_run.record(
            Event::RunEnded {
                outcome: Outcome::Complete,
                exit_code: super::exit_code(Outcome::Complete, None),
                message: message.clone(),
            },
            false,
        )?;
        session_run.rest(Outcome::Complete, true)?;
        let recorder = &session_run.recorder;
        let summary = projection::run_state(
            &serving.pack.flow,
            &recorder.view,
            &recorder.log,
            recorder.journal.head(),
            &recorder.at,
            &message,
        );
        let paths = serving.project.run(&recorder.view.run_id)?;
        StateFile::write(&paths.archived_state(), &summary)?;
        told::keep(&serving.project, &recorder.view, recorder.journal.checked());
        Ok(())
    }

    /// What the client is told when the call could not be carried through.
    fn broken(&self, state: &mut State, name: String, error: &RunError) -> ToolResult {
        if let RunError::Store(StoreError::Locked { .. }) = error {
            let hint = "call again in a moment; nothing was done";
            return outside(
                &name,
                ToolStatus::Failed,
                &error.to_string(),
                "project.busy",
                hint,
            );
        }
        // What became of it stands in the journal, as far as that can still be read.
        state.live = None;
        Told(&self.serving.observer).note(&format!("{name}: {error}"));
        if matches!(error, RunError::Store(_)) {
            state.over = Some(format!("the journal cannot be kept: {error}"));
        }
        let status = match self.serving.gateway.tool(&name) {
            Some(tool) if tool.changes => ToolStatus::Unknown,
            None if split_foreign(&name).is_some() => ToolStatus::Unknown,
            _ => ToolStatus::Failed,
        };
        let hint = "stop, and tell the user";
        outside(&name, status, &error.to_string(), "run", hint)
    }
}
