//! A change that a command of the user's makes: a run of its own with one change, listed, shown and undone like the session of a
//! client, which it is but for who decides.

use super::{
    Answering, Asker, RunError,
    driver::gateway_error,
    questions::{self, Got},
    session_run::{Serving, SessionRun, Told},
    tool_session::ToolSession,
};
use crate::gateway::{ByUser, CallContext, Settled};
use crate::store::Event;
use agentctl_base::{model::ToolResult, question::Outcome};
use agentctl_mcp::serve::{Client, Host};
use std::sync::Arc;

/// As whom it is journaled.
pub const USER: &str = "user";

/// What came of it.
#[derive(Debug, Clone)]
pub struct ByUserDone {
    pub run_id: String,
    pub result: ToolResult,
    /// Why an answer that was given did not count.
    pub notes: Vec<String>,
}

/// Makes the change once. What a guard asks is answered from `answering`, by its topic, or by `asker`; with neither it is refused.
pub async fn by_user(
    serving: Arc<Serving>,
    own: &ByUser<'_>,
    answering: &Answering,
    mut asker: Option<&mut (dyn Asker + '_)>,
) -> Result<ByUserDone, RunError> {
    let client = Client {
        name: format!("agentctl {}", own.command),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        transport: "command",
    };
    let session = ToolSession::new(Arc::clone(&serving), client);
    let mut notes = Vec::new();
    let (run_id, result) = {
        let mut state = session.state.lock().await;
        let mut lock = session.wait_for_lock(None).await?;
        let live = session.live(&mut state)?;
        let order = Some(session.turn(&mut lock, &live)?);
        let mut told = Told(&serving.observer);
        let mut session_run = SessionRun::new(&serving, live, order, &mut told);
        session_run.activate(own.command)?;
        let can_ask = asker.is_some() || !answering.answers.is_empty();
        let result = loop {
            let mut cx = CallContext {
                role: USER,
                step: own.command,
                offered: None,
                can_ask,
                bound: None,
                guards: &mut session_run.guards,
                recorder: &mut session_run.recorder,
            };
            let settled = serving.gateway.by_user(&mut cx, own).await;
            session_run.recorder.sound()?;
            let question = match settled.map_err(gateway_error)? {
                Settled::Done(result) => break result,
                Settled::NeedsApproval(question) => *question,
                Settled::Begun => {
                    return Err(RunError::Internal(
                        "a command of the user's began a flow".into(),
                    ));
                }
            };
            session_run.record(
                Event::QuestionAsked {
                    step: own.command.to_owned(),
                    question: question.clone(),
                },
                true,
            )?;
            let given = Some(&answering.answers);
            let person = asker.as_mut().map(|asker| &mut **asker as &mut dyn Asker);
            match questions::find(&question, given, answering.yes, person, &mut notes) {
                Got::Answer(value, by) => session_run.record(
                    Event::AnswerGiven {
                        step: own.command.to_owned(),
                        question_id: question.id,
                        value,
                        by,
                    },
                    true,
                )?,
                Got::Nothing | Got::Interrupted => {
                    let message = question.text.clone();
                    session_run.rest(Outcome::Complete, true)?;
                    state.live = Some(session_run.live());
                    drop(state);
                    drop(lock);
                    session.close().await;
                    return Err(RunError::Refused {
                        message,
                        hint: (own.allowing)(question.topic.trim_start_matches("approve-")),
                    });
                }
            }
        };
        session_run.rest(Outcome::Complete, true)?;
        let live = session_run.live();
        let run_id = live.view.run_id.clone();
        state.live = Some(live);
        (run_id, result)
    };
    session.close().await;
    Ok(ByUserDone {
        run_id,
        result,
        notes,
    })
}
