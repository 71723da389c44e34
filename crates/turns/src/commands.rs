//! Messages that the program answers by itself: they begin with a slash, and no model is asked.

use super::{Host, TurnError, TurnReply};
use agentctl_base::counted::counted;
use agentctl_base::question::Outcome;
use agentctl_engine::pack::Pack;
use agentctl_engine::run::{self, Turn};
use agentctl_sessions::{Finish, Message, NewMessage, Role, Session};
use serde_json::{Map, Value};

/// What every conversation answers, in the order of `/help`.
const COMMANDS: [(&str, &str); 5] = [
    (
        "/clear",
        "forget this conversation: messages and what was collected",
    ),
    ("/compact", "forget all but the last messages"),
    ("/log", "the turns of this conversation"),
    ("/usage", "what it has used"),
    ("/help", "this"),
];

/// What `/help` says: the pack's own commands, and those of every conversation.
pub fn help(pack: &Pack) -> String {
    let own = pack.manifest.commands.iter();
    let own = own.map(|(word, does)| (word.as_str(), does.as_str()));
    let all: Vec<(&str, &str)> = own.chain(COMMANDS).collect();
    let wide = all.iter().map(|(word, _)| word.len()).max();
    let wide = wide.unwrap_or_default();
    let lines = all
        .iter()
        .map(|(word, does)| format!("{word:wide$}  {does}"));
    lines.collect::<Vec<_>>().join("\n")
}

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

/// What a command leaves of the conversation.
struct Done {
    answer: String,
    /// What the session becomes; None: it stays.
    kept: Option<(Map<String, Value>, Vec<NewMessage>)>,
}

impl Done {
    fn saying(answer: String) -> Done {
        Done { answer, kept: None }
    }
}

/// `begun`: the turn of this message, in which no step is taken.
pub(super) async fn run(
    host: &Host<'_>,
    session: &Session,
    messages: &[Message],
    command: Command,
    begun: Turn<'_>,
) -> Result<TurnReply, TurnError> {
    let done = match command {
        Command::Help => Done::saying(help(host.pack)),
        Command::Log => Done::saying(logged(host, messages)),
        Command::Usage => Done::saying(used(host, messages)),
        Command::Clear => clear(host, begun.input()),
        Command::Compact => compact(session, messages),
    };
    let run = begun.run_id().to_owned();
    let report = begun.conclude(Outcome::Complete, &done.answer)?;
    let clear = done.kept.is_some();
    let (state, add) = done
        .kept
        .unwrap_or_else(|| (session.state.clone(), Vec::new()));
    let finish = Finish {
        run: Some(run),
        // Who clears a conversation wants nothing of it to go on.
        open_run: session
            .open_run
            .clone()
            .filter(|_| command != Command::Clear),
        version: session.version,
        state: state.clone(),
        clear,
        add,
        now: host.now(),
    };
    host.sessions.finish(&session.key, &finish).await?;
    Ok(TurnReply::of_command(host.pack, session, &report, state))
}

fn clear(host: &Host<'_>, input: &Map<String, Value>) -> Done {
    let answer = "The conversation has been cleared.".to_owned();
    let typed = input.get("message").and_then(Value::as_str);
    let typed = said(host, Role::User, typed.unwrap_or_default().trim());
    let add = vec![typed, said(host, Role::Assistant, &answer)];
    Done {
        answer,
        kept: Some((Map::new(), add)),
    }
}

fn compact(session: &Session, messages: &[Message]) -> Done {
    let standing = usize::try_from(session.message_count()).unwrap_or_default();
    let kept: Vec<NewMessage> = last(messages, COMPACT).map(|m| m.said.clone()).collect();
    match standing.saturating_sub(kept.len()) {
        0 => Done::saying("There is nothing to forget: the conversation is short.".to_owned()),
        gone => Done {
            answer: format!(
                "Forgotten: {}; what was collected stays.",
                counted(gone, "older message")
            ),
            kept: Some((session.state.clone(), kept)),
        },
    }
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

/// The runs of these messages, oldest first.
fn runs(messages: &[Message]) -> Vec<&str> {
    let mut runs: Vec<&str> = messages.iter().filter_map(|m| m.run.as_deref()).collect();
    runs.dedup();
    runs
}

fn logged(host: &Host<'_>, messages: &[Message]) -> String {
    let runs = runs(messages);
    if runs.is_empty() {
        return "Nothing was said in this conversation yet.".to_owned();
    }
    let shown = runs.iter().skip(runs.len().saturating_sub(LOGGED));
    let line = |run: &&str| match run::report(host.project, host.pack, run) {
        Ok(report) => format!(
            "{run}  {}  {}, {}",
            report.outcome.name(),
            counted(report.usage.model_calls, "model call"),
            counted(report.usage.tool_calls, "tool call")
        ),
        Err(error) => format!("{run}  {error}"),
    };
    let mut lines: Vec<String> = shown.map(line).collect();
    lines.push("agentctl runs show RUN tells more".to_owned());
    lines.join("\n")
}

fn used(host: &Host<'_>, messages: &[Message]) -> String {
    let (mut turns, mut model_calls, mut tool_calls, mut tokens) = (0u64, 0u64, 0u64, 0u64);
    for run in runs(messages) {
        if let Ok(report) = run::report(host.project, host.pack, run) {
            turns += 1;
            model_calls += report.usage.model_calls;
            tool_calls += report.usage.tool_calls;
            tokens += report.usage.input_tokens + report.usage.output_tokens;
        }
    }
    [
        (turns, "turn"),
        (model_calls, "model call"),
        (tool_calls, "tool call"),
        (tokens, "token"),
    ]
    .map(|(count, thing)| counted(count, thing))
    .join(", ")
}
