//! What is asked of a turn after its reply: the same again, an answer to what it asks, its end, and that all of it is erased.

use super::{Host, Submit, TurnError, TurnReply, is_over, is_same, keep, own};
use agentctl_engine::pack::Pack;
use agentctl_engine::run::{self, AnswerTo, Observer, RunError};
use agentctl_engine::store::{Event, Project, Record};
use agentctl_sessions::{Session, SessionError, SessionKey, Sessions};

/// The reply of a turn that was begun for this very request before, or that it was to answer: as it was, or after it was gone on with.
/// None: nothing was done.
pub async fn again(
    host: &Host<'_>,
    key: &SessionKey,
    run: &str,
    submit: &Submit,
    observer: &mut dyn Observer,
) -> Result<Option<TurnReply>, TurnError> {
    let _held = host.sessions.turn(key, host.wait).await?;
    let session = own(host.sessions.load(key).await?)?;
    again_in(host, &session, run, submit, observer).await
}

/// The same for who has the conversation's turn.
pub(super) async fn again_in(
    host: &Host<'_>,
    session: &Session,
    run: &str,
    submit: &Submit,
    observer: &mut dyn Observer,
) -> Result<Option<TurnReply>, TurnError> {
    let Some(mut before) = host.reopen(run, observer).await? else {
        return Ok(None);
    };
    // It was noted as the answer, and the process ended before the run had it.
    let asks = before.question().is_some() && !before.has_ended();
    if asks
        && let Some(name) = submit.name()
        && !is_same(before.input(), submit)
        && !was_heard(host.project, host.pack, run, name)?
    {
        before.answer(submit.message.as_deref().unwrap_or_default(), Some(name))?;
    }
    let input = before.input().clone();
    let (report, left) = before.drive().await?;
    if is_over(&report) && session.open_run.as_deref() == Some(run) {
        keep(host, &session.key, session.version, &input, &report, &left).await?;
    }
    let reply = TurnReply::of(host.pack, &session.id, &report, &left, &[]);
    Ok(Some(reply))
}

/// Whether the run was begun by the message that its sender calls so, or has it as an answer.
pub fn was_heard(project: &Project, pack: &Pack, run: &str, name: &str) -> Result<bool, RunError> {
    let (mut last, mut was) = (None, false);
    let mut look = |record: &Record| match &record.event {
        Event::ActivationStarted { kind, heard, .. } => {
            last.clone_from(heard);
            was |= kind == "start" && heard.as_deref() == Some(name);
        }
        Event::AnswerGiven { .. } => was |= last.as_deref() == Some(name),
        _ => {}
    };
    run::show(project, pack, run, &mut look)?;
    Ok(was)
}

/// Answers the question that a turn waits for, and goes on with it.
///
/// Errors: [`RunError::Usage`] for a question that is not open, or an answer that does not fit it; [`RunError::Refused`] for an
/// approval that came as an answer.
pub async fn answer(
    host: &Host<'_>,
    key: &SessionKey,
    run: &str,
    given: AnswerTo<'_>,
    observer: &mut dyn Observer,
) -> Result<TurnReply, TurnError> {
    let _held = host.sessions.turn(key, host.wait).await?;
    let session = own(host.sessions.load(key).await?)?;
    let before = host.reopen(run, observer).await?;
    let mut before = before.ok_or_else(|| RunError::Usage(format!("there is no run {run}")))?;
    before.answer_to(given)?;
    let input = before.input().clone();
    let (report, left) = before.drive().await?;
    if is_over(&report) && session.open_run.as_deref() == Some(run) {
        keep(host, key, session.version, &input, &report, &left).await?;
    }
    Ok(TurnReply::of(host.pack, &session.id, &report, &left, &[]))
}

/// What was erased of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Gone {
    pub messages: i64,
    pub runs: Vec<String>,
    /// What could not be erased, and why.
    pub left: Vec<String>,
}

/// Erases a conversation: its messages, what it collected, the journals of its runs, and the files that they made. Who calls it holds its turn.
pub async fn erase(
    project: &Project,
    sessions: &dyn Sessions,
    key: &SessionKey,
) -> Result<Gone, SessionError> {
    let erased = sessions.erase(key).await?;
    let (mut runs, mut left) = (Vec::new(), Vec::new());
    for run in erased.runs {
        if let Err(e) = project.remove_run_files(&run) {
            left.push(e.to_string());
        }
        match project.remove_run(&run) {
            Ok(true) => runs.push(run),
            Ok(false) => {}
            Err(e) => left.push(e.to_string()),
        }
    }
    Ok(Gone {
        messages: erased.messages,
        runs,
        left,
    })
}
