//! `agentctl chat [PACK] [MESSAGE]`: a conversation with a pack, one turn or many.

use super::run::read_input;
use crate::cli::activation;
use crate::cli::args::{LimitOptions, ModelOptions};
use crate::cli::choices::Events;
use crate::cli::conversations::{host, local_key, store, turn_error};
use crate::cli::error::{CliError, Exit};
use crate::cli::given::{is_pair, sorted};
use crate::cli::observer::RunObserver;
use crate::cli::output::Output;
use crate::cli::progress::plain_long;
use crate::cli::session::{self, Session};
use crate::cli::{runtime, streams};
use agentctl_base::counted::counted;
use agentctl_base::shell;
use agentctl_engine::nearest::nearest;
use agentctl_engine::pack::{Pack, Taken, is_name};
use agentctl_engine::run::Budgets;
use agentctl_n8n_tools::tools::WORKFLOW;
use agentctl_sessions::{SessionKey, Sessions};
use agentctl_turns::{self as turns, Expects, Submit, TurnReply};
use clap::Args;
use serde_json::{Map, Value, json};
use std::io::{BufRead as _, IsTerminal as _};
use std::path::Path;

/// Talk with a pack; the conversation is kept and goes on tomorrow
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl chat\n  agentctl chat \"When a form comes in, store it in Postgres and tell #sales on Slack\"\n  agentctl chat --workflow workflows/orders.json\n  agentctl chat front-door --session helen\n  agentctl chat front-door --session s1 --output-format json \"I need a monthly report\"\n  agentctl chat my-pack --input request.json\n\n/help in a conversation lists what the program answers by itself; /quit or Ctrl-D ends it."
)]
pub struct ChatArgs {
    /// The pack (`agentctl packs list`); without it the one that talks for the default pack
    #[arg(id = "talk_to", value_name = "PACK")]
    pub talk_to: Option<String>,
    /// One message, for scripts; without it lines are read until /quit or the end of input
    #[arg(value_name = "MESSAGE")]
    pub message: Option<String>,
    /// Which conversation; a new name begins a new one
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub session: String,
    /// Something that happened instead of a message, e.g. `joined`
    #[arg(long, value_name = "EVENT", conflicts_with = "message")]
    pub event: Option<String>,
    /// The workflow that the conversation is to be about, for a pack that works on one: a file, or the id of a workflow in the project; it counts at the first message
    #[arg(long, short, value_name = "FILE|ID")]
    pub workflow: Option<String>,
    /// A request as the pack's webhook takes it (a JSON file; its user, conversation and message count), or KEY=VALUE that the flow
    /// sees as `input`; several may follow, and it may be given several times
    #[arg(long, value_name = "FILE|KEY=VALUE", num_args = 1.., conflicts_with = "event")]
    pub input: Vec<String>,
    /// What --output-format stream-json tells of what happens
    #[arg(long, value_name = "WHICH", default_value = "user")]
    pub events: Events,
    #[command(flatten)]
    pub model: ModelOptions,
    #[command(flatten)]
    pub limits: LimitOptions,
}

/// The longest name of a conversation, in characters.
const MAX_NAME: usize = 200;

pub fn chat(root: &Path, args: &ChatArgs, out: &Output) -> Result<Exit, CliError> {
    if args.session.trim().is_empty() || args.session.chars().count() > MAX_NAME {
        return Err(CliError::usage(format!(
            "the name of a conversation has 1 to {MAX_NAME} characters"
        )));
    }
    let behind = sorted(&args.input, Path::is_file);
    let (pack, message) = addressed(root, args, &behind.words, out)?;
    let session = Session::of_pack(root, &pack, &args.model, out)?;
    let limits = activation::limits(&session.pack, &args.limits)?.over(&session.budgets);
    let Given {
        key,
        with_all,
        submit,
    } = given(&session.pack, message, &behind.input, args)?;
    mistyped(&session.pack, &behind.input, out);
    session.init("chat", out)?;
    let says = submit.is_some();
    let talk = async {
        let sessions = store(root, out).await?;
        let chat = Chat {
            session: &session,
            sessions: &*sessions,
            key: &key,
            limits,
            given: with_all,
            events: args.events,
            out,
        };
        match submit {
            None => chat.until_quit().await,
            Some(submit) => {
                let reply = chat.turn(&submit).await?;
                chat.told(&reply)
            }
        }
    };
    let exit = runtime::block_on_until(&session.cancel, talk)??;
    if let Some(tape) = &session.tape {
        // Of lines that are typed nobody knows whether the last one was said.
        tape.finish(says && exit == Exit::Complete)
            .map_err(|e| CliError::failed(e.to_string()))?;
    }
    Ok(exit)
}

/// Who is talked to, and what is said. The one word that is given may be either: what is no pack's name, nor nearly one, is a message.
/// `behind`: words that stand behind the input.
fn addressed<'a>(
    root: &Path,
    args: &'a ChatArgs,
    behind: &[&'a str],
    out: &Output,
) -> Result<(String, Option<&'a str>), CliError> {
    let words = [args.talk_to.as_deref(), args.message.as_deref()];
    let words: Vec<&str> = words
        .into_iter()
        .flatten()
        .chain(behind.iter().copied())
        .collect();
    if words.len() > 2 {
        let more = words.iter().skip(2).map(|word| format!("{word:?}"));
        let more = more.collect::<Vec<_>>().join(" ");
        return Err(
            CliError::usage(format!("what is {more} behind the message?"))
                .hint("agentctl chat PACK \"one message\" --input KEY=VALUE KEY=VALUE"),
        );
    }
    let message = words.get(1).copied();
    match words.first().copied() {
        Some(pack) if message.is_some() => Ok((pack.to_owned(), message)),
        Some(word) if word.split('/').all(is_name) => {
            let known = crate::pack::names(root, &session::load_options(root, out)?);
            let name = word.split('/').next().unwrap_or(word);
            if known.iter().any(|known| known == name) {
                return Ok((word.to_owned(), None));
            }
            let pack = session::talking_pack(root, out)?;
            // "revert", "60s": a plain word that is not nearly a name is said, and the user sees to whom.
            let near = nearest(name, known.iter().map(String::as_str));
            if word.chars().all(char::is_alphanumeric) && near.is_empty() {
                out.note(&format!(
                    "there is no pack {word:?}: it goes to {pack} as a message"
                ));
                return Ok((pack, Some(word)));
            }
            Err(
                CliError::usage(format!("there is no pack {word:?} to talk with")).hint(format!(
                    "as a message: agentctl chat {pack} {}; there are {}",
                    shell::word(word),
                    known.join(", ")
                )),
            )
        }
        message => Ok((session::talking_pack(root, out)?, message)),
    }
}

/// Whose conversation it is, and what is said in it; None: lines will say it.
struct Given {
    key: SessionKey,
    /// What goes with every line.
    with_all: Map<String, Value>,
    submit: Option<Submit>,
}

fn given(
    pack: &Pack,
    message: Option<&str>,
    input_given: &[&str],
    args: &ChatArgs,
) -> Result<Given, CliError> {
    let mut key = local_key(&pack.manifest.name, &args.session);
    let mut with_all = Map::new();
    if let Some(workflow) = &args.workflow {
        with_all.insert(WORKFLOW.to_owned(), workflow.as_str().into());
    }
    let mut input = of_event(args.event.as_deref());
    let mut message = message.map(str::to_owned);
    for given in input_given {
        if is_pair(given) {
            input.extend(read_input(given)?);
            continue;
        }
        let taken = taken(pack, given)?;
        input.extend(taken.input);
        message = message.or(taken.message);
        key.tenant = taken.tenant.unwrap_or(key.tenant);
        key.user = taken.user.unwrap_or(key.user);
        key.conversation = taken.conversation.unwrap_or(key.conversation);
    }
    let says = message.is_some() || args.event.is_some() || !input_given.is_empty();
    input.extend(with_all.clone());
    Ok(Given {
        key,
        with_all,
        submit: says.then_some(Submit {
            message,
            input,
            ..Submit::default()
        }),
    })
}

/// Warns of a KEY that is none of the pack's input, and nearly one of it.
fn mistyped(pack: &Pack, given: &[&str], out: &Output) {
    let webhook = pack.manifest.channels.webhook.as_ref();
    let known: Vec<&str> = webhook.into_iter().flat_map(|hook| hook.inputs()).collect();
    let pairs = given.iter().filter(|word| is_pair(word));
    for (key, _) in pairs.filter_map(|pair| pair.split_once('=')) {
        let near = nearest(key, known.iter().copied());
        if !known.contains(&key) && !near.is_empty() {
            out.note(&format!(
                "the pack {} reads no input {key:?}{near}",
                pack.manifest.name
            ));
        }
    }
}

/// A file as the pack's webhook would take it.
fn taken(pack: &Pack, file: &str) -> Result<Taken, CliError> {
    let Some(webhook) = &pack.manifest.channels.webhook else {
        let name = &pack.manifest.name;
        return Err(CliError::usage(format!(
            "the pack {name} takes no requests: its pack.yaml has no channels.webhook"
        ))
        .hint("give the message itself, and KEY=VALUE for what else the flow reads"));
    };
    let body = Value::Object(read_input(file)?);
    webhook.take(&body).map_err(|faults| {
        let faults = faults
            .iter()
            .map(|fault| format!("{} {}", fault.field, fault.message));
        CliError::usage(format!("{file}: {}", faults.collect::<Vec<_>>().join("; ")))
    })
}

fn of_event(event: Option<&str>) -> Map<String, Value> {
    let event = event.map(|event| ("event".to_owned(), event.into()));
    event.into_iter().collect()
}

struct Chat<'a> {
    session: &'a Session,
    sessions: &'a dyn Sessions,
    key: &'a SessionKey,
    limits: Budgets,
    /// What the flow sees as `input` with every message.
    given: Map<String, Value>,
    events: Events,
    out: &'a Output,
}

impl Chat<'_> {
    fn with_given(&self, mut input: Map<String, Value>) -> Map<String, Value> {
        input.extend(self.given.clone());
        input
    }

    async fn turn(&self, submit: &Submit) -> Result<TurnReply, CliError> {
        let session = self.session;
        let host = host(session, self.sessions, self.limits.clone());
        let mut observer = RunObserver::new(self.out, session.tape.clone()).telling(self.events);
        let progress = observer.progress.clone();
        let reply = turns::turn(&host, self.key, submit, &mut observer).await;
        progress.finish();
        if let Some(error) = observer.finish() {
            return Err(error);
        }
        reply.map_err(|e| turn_error(&e))
    }

    /// Line by line, until the person ends it. What goes wrong with one message is told, and the next one may come.
    async fn until_quit(&self) -> Result<Exit, CliError> {
        let person = std::io::stdin().is_terminal();
        if person {
            let count = self.sessions.load(self.key).await;
            let count = count.map_or(0, |session| session.message_count());
            self.out.note(&format!(
                "{}, conversation {:?} ({}); /help, /quit",
                self.session.pack.manifest.title,
                self.key.conversation,
                counted(count, "message")
            ));
            if count == 0 {
                let joined = Submit {
                    message: None,
                    input: self.with_given(of_event(Some("joined"))),
                    ..Submit::default()
                };
                self.show(self.turn(&joined).await)?;
            }
        }
        loop {
            if person {
                streams::tell("> ");
            }
            let line = tokio::task::spawn_blocking(|| {
                let mut line = String::new();
                let read = std::io::stdin().lock().read_line(&mut line);
                read.map(|bytes| (bytes > 0).then_some(line))
            });
            let line = tokio::select! {
                line = line => line,
                () = self.stopped() => return Ok(self.ended()),
            };
            let line = line
                .map_err(|e| CliError::failed(format!("cannot read stdin: {e}")))?
                .map_err(|e| CliError::failed(format!("cannot read stdin: {e}")))?;
            let Some(line) = line.filter(|line| !line.trim().eq_ignore_ascii_case("/quit")) else {
                return Ok(Exit::Complete);
            };
            let submit = Submit {
                message: Some(line.trim_end_matches(['\r', '\n']).to_owned()),
                input: self.given.clone(),
                ..Submit::default()
            };
            self.show(self.turn(&submit).await)?;
            if self.session.cancel.cause().is_some() {
                return Ok(self.ended());
            }
        }
    }

    /// Until somebody asks to stop.
    async fn stopped(&self) {
        while self.session.cancel.cause().is_none() {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    }

    fn told(&self, reply: &TurnReply) -> Result<Exit, CliError> {
        told(self.out, self.events, reply)
    }

    fn ended(&self) -> Exit {
        self.session
            .cancel
            .cause()
            .map_or(Exit::Complete, Exit::from)
    }

    fn show(&self, reply: Result<TurnReply, CliError>) -> Result<(), CliError> {
        match reply {
            Ok(reply) => self.told(&reply).map(drop),
            Err(error) => {
                self.out.error(&error);
                Ok(())
            }
        }
    }
}

/// The end of a turn. What streams for a person ends with what became of it, without the fields that the pack keeps.
pub(super) fn told(out: &Output, events: Events, reply: &TurnReply) -> Result<Exit, CliError> {
    let exit = Exit::from_code(reply.exit_code);
    match events {
        Events::User => out.answer_or_last(
            exit,
            || text(reply),
            || json!(reply),
            || turns::done(reply).line(),
        ),
        Events::All => out.answer(exit, || text(reply), || json!(reply)),
    }
}

/// The reply as a person reads it.
fn text(reply: &TurnReply) -> String {
    let mut parts: Vec<String> = Vec::new();
    for message in &reply.messages {
        let mut part = message.text.clone();
        if let Some(place) = &message.attachment {
            part += &format!("\n({place})");
        }
        parts.push(part);
    }
    if !reply.message.is_empty() && reply.expects == Expects::Nothing {
        parts.push(reply.message.clone());
    }
    if let Some(question) = &reply.question {
        let mut part = question.text.clone();
        for option in &question.options {
            part += &format!("\n- {}", option.label);
        }
        if reply.expects == Expects::Approval {
            part += &format!(
                "\nagentctl answer {} {}=… decides; a message does not",
                reply.run_id,
                shell::word(&question.id)
            );
        }
        parts.push(part);
    }
    let lines = parts.iter().flat_map(|part| part.lines());
    lines
        .map(|line| format!("{}\n", plain_long(line)))
        .collect()
}
