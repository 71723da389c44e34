//! Messages that the program answers by itself: they begin with a slash, and no model is asked.

use super::{Host, MESSAGES, TurnError, TurnReply};
use agentctl_engine::run;
use agentctl_sessions::{Finish, Message, NewMessage, Role, Session};
use serde_json::{Map, Value};

/// What `/help` says.
pub const HELP: &str = "/clear    forget this conversation: messages and what was collected\n/compact  forget all but the last messages\n/log      the turns of this conversation\n/usage    what it has used\n/help     this";

/// So many messages `/compact` leaves.
const COMPACT: usize = 10;
/// So many of the last turns `/log` shows.
const LOGGED: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    Clear,
    Compact,
    Log,
    Usage,
    Help,
}

impl Command {
    /// The command that a message is, in any case; None: it is none, also where it only begins like one.
    pub fn of(message: &str) -> Option<Command> {
        Some(match message.trim().to_lowercase().as_str() {
            "/clear" => Command::Clear,
            "/compact" => Command::Compact,
            "/log" => Command::Log,
            "/usage" => Command::Usage,
            "/help" => Command::Help,
            _ => return None,
        })
    }
}

pub(super) async fn run(
    host: &Host<'_>,
    session: &Session,
    message: &str,
    command: Command,
) -> Result<TurnReply, TurnError> {
    let reply = TurnReply::nothing(host.pack, session);
    let state = session.state.clone();
    match command {
        Command::Help => Ok(reply.saying(HELP.to_owned(), state)),
        Command::Log => {
            let text = logged(host, session).await?;
            Ok(reply.saying(text, state))
        }
        Command::Usage => {
            let text = used(host, session).await?;
            Ok(reply.saying(text, state))
        }
        Command::Clear => {
            let text = "The conversation has been cleared.";
            let add = vec![
                said(host, Role::User, message.trim()),
                said(host, Role::Assistant, text),
            ];
            write(host, session, Map::new(), add).await?;
            Ok(reply.saying(text.to_owned(), Map::new()))
        }
        Command::Compact => {
            let messages = host.sessions.messages(&session.key, MESSAGES).await?;
            let standing = usize::try_from(session.message_count()).unwrap_or_default();
            let kept: Vec<NewMessage> = last(&messages, COMPACT).map(|m| m.said.clone()).collect();
            let text = match standing.saturating_sub(kept.len()) {
                0 => "There is nothing to forget: the conversation is short.".to_owned(),
                gone => {
                    write(host, session, state.clone(), kept).await?;
                    format!("{gone} older messages were forgotten; what was collected stays.")
                }
            };
            Ok(reply.saying(text, state))
        }
    }
}

/// Writes the session anew with these messages alone.
async fn write(
    host: &Host<'_>,
    session: &Session,
    state: Map<String, Value>,
    add: Vec<NewMessage>,
) -> Result<(), TurnError> {
    let finish = Finish {
        run: None,
        version: session.version,
        state,
        clear: true,
        add,
        now: host.now(),
    };
    host.sessions.finish(&session.key, &finish).await?;
    Ok(())
}

fn said(host: &Host<'_>, role: Role, text: &str) -> NewMessage {
    NewMessage {
        role,
        text: text.to_owned(),
        data: None,
        attachment: None,
        at: host.now(),
    }
}

fn last(messages: &[Message], most: usize) -> impl Iterator<Item = &Message> {
    messages.iter().skip(messages.len().saturating_sub(most))
}

/// The runs of the messages that stand, oldest first.
async fn runs(host: &Host<'_>, session: &Session) -> Result<Vec<String>, TurnError> {
    let messages = host.sessions.messages(&session.key, MESSAGES).await?;
    let mut runs: Vec<String> = messages.into_iter().filter_map(|m| m.run).collect();
    runs.dedup();
    Ok(runs)
}

async fn logged(host: &Host<'_>, session: &Session) -> Result<String, TurnError> {
    let runs = runs(host, session).await?;
    if runs.is_empty() {
        return Ok("Nothing was said in this conversation yet.".to_owned());
    }
    let skipped = runs.len().saturating_sub(LOGGED);
    let mut lines = Vec::new();
    for run in runs.iter().skip(skipped) {
        lines.push(match run::show(host.project, host.pack, run) {
            Ok((report, _)) => format!(
                "{run}  {}  {} model calls, {} tool calls",
                report.outcome.name(),
                report.usage.model_calls,
                report.usage.tool_calls
            ),
            Err(error) => format!("{run}  {error}"),
        });
    }
    lines.push("agentctl runs show RUN tells more".to_owned());
    Ok(lines.join("\n"))
}

async fn used(host: &Host<'_>, session: &Session) -> Result<String, TurnError> {
    let (mut turns, mut model_calls, mut tool_calls, mut tokens) = (0u64, 0u64, 0u64, 0u64);
    for run in runs(host, session).await? {
        if let Ok((report, _)) = run::show(host.project, host.pack, &run) {
            turns += 1;
            model_calls += report.usage.model_calls;
            tool_calls += report.usage.tool_calls;
            tokens += report.usage.input_tokens + report.usage.output_tokens;
        }
    }
    Ok(format!(
        "{turns} turns, {model_calls} model calls, {tool_calls} tool calls, {tokens} tokens"
    ))
}
