//! `agentctl sessions`: the conversations that are kept.

use crate::cli::ask;
use crate::cli::conversations::{local_key, postgres, session_error, store};
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::progress::{plain, plain_long};
use crate::cli::{project, runtime, session};
use crate::pack::NoPack;
use agentctl_base::counted::counted;
use agentctl_engine::nearest::nearest;
use agentctl_host::files::{read_given_text, write_atomic};
use agentctl_sessions::{
    Finish, Message, NewMessage, Role, Scope, Session, SessionError, SessionKey, Sessions, Summary,
    n8n_history,
};
use clap::{Args, Subcommand};
use console::style;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// The conversations that are kept
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  agentctl sessions list")]
pub enum SessionsCommand {
    /// All conversations, the one that was used last first
    #[command(after_help = "Example:\n  agentctl sessions list")]
    List,
    /// One conversation: what is collected, and its messages
    #[command(after_help = "Example:\n  agentctl sessions show helen")]
    Show {
        /// Its name, or its id
        #[arg(value_name = "SESSION")]
        session: String,
    },
    /// Forget what was said and collected in a conversation
    #[command(after_help = "Example:\n  agentctl sessions clear helen")]
    Clear {
        /// Its name, or its id
        #[arg(value_name = "SESSION")]
        session: String,
    },
    /// Erase a conversation with its runs
    #[command(after_help = "Example:\n  agentctl sessions delete helen --yes")]
    Delete {
        /// Its name, or its id
        #[arg(value_name = "SESSION")]
        session: String,
        /// Do not ask
        #[arg(long, short)]
        yes: bool,
    },
    /// Make a conversation yours that somebody else's agentctl wrote
    #[command(after_help = "Example:\n  agentctl sessions adopt helen")]
    Adopt {
        /// Its name, or its id
        #[arg(value_name = "SESSION")]
        session: String,
    },
    /// Write a conversation to a file, or into n8n's chat memory
    #[command(
        after_help = "Examples:\n  agentctl sessions export helen --to helen.json\n  agentctl sessions export helen --n8n-session user-7"
    )]
    Export(ExportArgs),
    /// Read a conversation from a file, or from n8n's chat memory
    #[command(
        after_help = "Examples:\n  agentctl sessions import front-door helen --from helen.json\n  agentctl sessions import front-door helen --n8n-session user-7"
    )]
    Import(ImportArgs),
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Its name, or its id
    #[arg(value_name = "SESSION")]
    pub session: String,
    /// A new JSON file
    #[arg(long, value_name = "FILE", required_unless_present = "n8n_session")]
    pub to: Option<PathBuf>,
    #[command(flatten)]
    pub n8n: N8nHistory,
}

#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The pack that it is a conversation with
    #[arg(value_name = "PACK")]
    pub pack: String,
    /// The name of a conversation that has no messages yet
    #[arg(value_name = "SESSION")]
    pub session: String,
    /// A file of `sessions export`
    #[arg(long, value_name = "FILE", required_unless_present = "n8n_session")]
    pub from: Option<PathBuf>,
    #[command(flatten)]
    pub n8n: N8nHistory,
}

/// n8n's own Postgres Chat Memory, in the database of [sessions] url_env.
#[derive(Debug, Args)]
pub struct N8nHistory {
    /// The session's key in n8n's Postgres Chat Memory, in the database of `[sessions] url_env`
    #[arg(long, value_name = "KEY")]
    pub n8n_session: Option<String>,
    /// Its table
    #[arg(long, value_name = "TABLE", default_value = n8n_history::TABLE, requires = "n8n_session")]
    pub n8n_history: String,
}

/// More conversations than these are not listed.
const MOST_LISTED: u32 = 1_000;
/// More messages than these are not read of one conversation.
const MOST_MESSAGES: u32 = 100_000;
const MAX_FILE: u64 = 256 * 1024 * 1024;

/// What `export` writes.
#[derive(Serialize, Deserialize)]
struct Exported {
    format: String,
    key: SessionKey,
    state: Map<String, Value>,
    messages: Vec<NewMessage>,
}

const FORMAT: &str = "agentctl-session-1";

pub fn sessions(root: &Path, command: &SessionsCommand, out: &Output) -> Result<Exit, CliError> {
    runtime::block_on(async {
        let store = store(root, out).await?;
        let kept = Kept {
            root,
            store: &*store,
            out,
        };
        match command {
            SessionsCommand::List => kept.list().await,
            SessionsCommand::Show { session } => kept.show(session).await,
            SessionsCommand::Clear { session } => kept.clear(session).await,
            SessionsCommand::Delete { session, yes } => kept.delete(session, *yes).await,
            SessionsCommand::Adopt { session } => kept.adopt(session).await,
            SessionsCommand::Export(args) => kept.export(args).await,
            SessionsCommand::Import(args) => kept.import(args).await,
        }
    })?
}

struct Kept<'a> {
    root: &'a Path,
    store: &'a dyn Sessions,
    out: &'a Output,
}

impl Kept<'_> {
    async fn all(&self) -> Result<Vec<Summary>, CliError> {
        let all = self.store.list(&Scope::Operator, MOST_LISTED).await;
        all.map_err(|e| session_error(&e))
    }

    /// The conversation of this name or id.
    async fn find(&self, given: &str) -> Result<SessionKey, CliError> {
        let all = self.all().await?;
        let mut found = all
            .iter()
            .filter(|s| s.id == given || s.key.conversation == given);
        match (found.next(), found.next()) {
            (Some(one), None) => Ok(one.key.clone()),
            (Some(_), Some(_)) => Err(CliError::usage(format!(
                "several conversations are called {given:?}"
            ))
            .hint("name one by its id: agentctl sessions list")),
            (None, _) => {
                let names = all.iter().map(|s| s.key.conversation.as_str());
                let near = nearest(given, names);
                Err(
                    CliError::usage(format!("there is no conversation {given:?}{near}"))
                        .hint("agentctl sessions list names them; agentctl chat PACK begins one"),
                )
            }
        }
    }

    async fn loaded(&self, key: &SessionKey) -> Result<Session, CliError> {
        self.store.load(key).await.map_err(|e| session_error(&e))
    }

    async fn messages(&self, key: &SessionKey) -> Result<Vec<Message>, CliError> {
        let messages = self.store.messages(key, MOST_MESSAGES).await;
        messages.map_err(|e| session_error(&e))
    }

    /// Held while it is changed, so that no turn is under way.
    async fn held(&self, key: &SessionKey) -> Result<agentctl_sessions::Turn, CliError> {
        let held = self.store.turn(key, agentctl_turns::WAIT).await;
        held.map_err(|e| session_error(&e))
    }

    async fn list(&self) -> Result<Exit, CliError> {
        let all = self.all().await?;
        self.out.answer(
            Exit::Complete,
            || match all.is_empty() {
                true => "no conversation is kept; agentctl chat PACK begins one\n".to_owned(),
                false => {
                    let line = |s: &Summary| {
                        let open = match s.open_run {
                            Some(_) => ", a turn is unfinished",
                            None => "",
                        };
                        format!(
                            "{}  {}  {}, {}, {}{open}\n",
                            s.id,
                            style(plain(&s.key.conversation)).bold(),
                            plain(&s.key.pack),
                            counted(s.messages, "message"),
                            when(s.updated)
                        )
                    };
                    all.iter().map(line).collect()
                }
            },
            || json!({"sessions": all}),
        )
    }

    async fn show(&self, given: &str) -> Result<Exit, CliError> {
        let key = self.find(given).await?;
        let session = self.loaded(&key).await?;
        let messages = self.messages(&key).await?;
        if let Some(foreign) = &session.foreign {
            self.out.note(&format!("not yours: {foreign}"));
        }
        self.out.answer(
            Exit::Complete,
            || {
                let mut text = format!(
                    "{} ({}), pack {}, {}, last used {}\n",
                    style(plain(&key.conversation)).bold(),
                    session.id,
                    plain(&key.pack),
                    counted(messages.len(), "message"),
                    when(session.updated)
                );
                for (name, value) in &session.state {
                    text += &format!("  {}: {}\n", plain(name), plain_long(&value.to_string()));
                }
                for message in &messages {
                    let who = match message.said.role {
                        Role::User => "you",
                        Role::Assistant => "agent",
                    };
                    let doubt = message.foreign.map(|f| format!(" [not yours: {f}]"));
                    text += &format!(
                        "{who}{}: {}\n",
                        doubt.unwrap_or_default(),
                        plain_long(&message.said.text)
                    );
                }
                text
            },
            || {
                let mut whole = json!(session);
                if let Value::Object(map) = &mut whole {
                    map.insert("messages".into(), json!(messages));
                }
                whole
            },
        )
    }

    async fn clear(&self, given: &str) -> Result<Exit, CliError> {
        let key = self.find(given).await?;
        let _held = self.held(&key).await?;
        let session = self.loaded(&key).await?;
        let gone = session.message_count();
        let finish = Finish {
            run: None,
            open_run: None,
            version: session.version,
            state: Map::new(),
            clear: true,
            add: Vec::new(),
            now: jiff::Timestamp::now().as_millisecond(),
        };
        let cleared = self.store.finish(&key, &finish).await;
        cleared.map_err(|e| session_error(&e))?;
        self.out.answer(
            Exit::Complete,
            || format!("cleared: {} and what was collected are gone; the journals of its runs stay until `agentctl sessions delete`\n", counted(gone, "message")),
            || json!({"session_id": session.id, "messages": gone}),
        )
    }

    async fn delete(&self, given: &str, yes: bool) -> Result<Exit, CliError> {
        let key = self.find(given).await?;
        if !yes {
            let sure = self.out.can_ask()
                && ask::sure(
                    format!(
                        "Erase the conversation {:?} with its messages and the journals of its runs?",
                        plain(&key.conversation)
                    ),
                    "Erase it",
                    "Keep it",
                )?;
            if !sure {
                return Err(CliError::new(Exit::Waiting, "nothing was erased")
                    .hint("--yes erases without asking"));
            }
        }
        let _held = self.held(&key).await?;
        let project = project::open(self.root, self.out)?;
        let gone = agentctl_turns::erase(&project, self.store, &key).await;
        let agentctl_turns::Gone {
            messages,
            runs,
            left,
        } = gone.map_err(|e| session_error(&e))?;
        let exit = match left.is_empty() {
            true => Exit::Complete,
            false => Exit::Failed,
        };
        self.out.answer(
            exit,
            || {
                let mut text = format!(
                    "erased: {}, {}. What its runs handed on (files in memory/requests, calls of services) stays\n",
                    counted(messages, "message"),
                    counted(runs.len(), "run")
                );
                for what in &left {
                    text += &format!("could not be erased: {}\n", plain_long(what));
                }
                text
            },
            || json!({"session_id": key.id(), "messages": messages, "runs": runs, "left": left}),
        )
    }

    async fn adopt(&self, given: &str) -> Result<Exit, CliError> {
        let key = self.find(given).await?;
        let _held = self.held(&key).await?;
        let session = self
            .store
            .adopt(&key)
            .await
            .map_err(|e| session_error(&e))?;
        self.out.answer(
            Exit::Complete,
            || {
                format!(
                    "{} is yours: its {} and what it collected count from now on\n",
                    plain(&key.conversation),
                    counted(session.message_count(), "message")
                )
            },
            || json!(session),
        )
    }

    async fn export(&self, args: &ExportArgs) -> Result<Exit, CliError> {
        let key = self.find(&args.session).await?;
        let session = self.loaded(&key).await?;
        let messages = self.messages(&key).await?;
        let count = messages.len();
        let to = match (&args.n8n.n8n_session, &args.to) {
            (Some(n8n), _) => {
                let database = self.database().await?;
                let written = database.write_n8n_history(&args.n8n.n8n_history, n8n, &messages);
                written.await.map_err(|e| session_error(&e))?;
                format!("table {}, session {n8n}", args.n8n.n8n_history)
            }
            (None, Some(path)) => {
                if path.symlink_metadata().is_ok() {
                    return Err(CliError::usage(format!(
                        "{} is there already; nothing was written",
                        path.display()
                    ))
                    .hint("name a new file"));
                }
                let whole = Exported {
                    format: FORMAT.to_owned(),
                    key,
                    state: session.state,
                    messages: messages.into_iter().map(|m| m.said).collect(),
                };
                let text = serde_json::to_string_pretty(&whole)
                    .map_err(|e| CliError::failed(e.to_string()))?;
                write_atomic(path, format!("{text}\n").as_bytes())
                    .map_err(|e| CliError::failed(e.to_string()))?;
                path.display().to_string()
            }
            (None, None) => {
                return Err(CliError::usage(
                    "export to where? --to FILE or --n8n-session KEY",
                ));
            }
        };
        self.out.answer(
            Exit::Complete,
            || format!("written to {}: {}\n", plain(&to), counted(count, "message")),
            || json!({"messages": count, "to": to}),
        )
    }

    async fn import(&self, args: &ImportArgs) -> Result<Exit, CliError> {
        let known = crate::pack::names(self.root, &session::load_options(self.root, self.out)?);
        if !known.contains(&args.pack) {
            let name = args.pack.clone();
            return Err(session::no_pack(&NoPack::Unknown { name, known }));
        }
        let key = local_key(&args.pack, &args.session);
        let _held = self.held(&key).await?;
        let session = self.loaded(&key).await?;
        if session.message_count() > 0 {
            return Err(CliError::usage(format!(
                "the conversation {:?} has {} already; nothing was imported",
                args.session,
                counted(session.message_count(), "message")
            ))
            .hint("choose another name, or clear it first"));
        }
        let now = jiff::Timestamp::now().as_millisecond();
        let (state, messages, left_out) = match (&args.n8n.n8n_session, &args.from) {
            (Some(n8n), _) => {
                let database = self.database().await?;
                let read = database.read_n8n_history(&args.n8n.n8n_history, n8n, now);
                let read = read.await.map_err(|e| session_error(&e))?;
                (Map::new(), read.messages, read.left_out.len())
            }
            (None, Some(path)) => {
                let read = read_exported(path)?;
                (read.state, read.messages, 0)
            }
            (None, None) => {
                return Err(CliError::usage(
                    "import from where? --from FILE or --n8n-session KEY",
                ));
            }
        };
        let count = messages.len();
        let finish = Finish {
            run: None,
            open_run: None,
            version: session.version,
            state,
            clear: false,
            add: messages,
            now,
        };
        let written: Result<_, SessionError> = self.store.finish(&key, &finish).await;
        written.map_err(|e| session_error(&e))?;
        self.out.answer(
            Exit::Complete,
            || {
                let mut text = format!(
                    "read into {}: {}\n",
                    plain(&args.session),
                    counted(count, "message")
                );
                if left_out > 0 {
                    text += &format!(
                        "left out: {}, neither a person's nor an assistant's words\n",
                        counted(left_out, "row")
                    );
                }
                text
            },
            || json!({"session_id": key.id(), "messages": count, "left_out": left_out}),
        )
    }

    async fn database(&self) -> Result<agentctl_sessions::PostgresSessions, CliError> {
        postgres(self.root, self.out).await?.ok_or_else(|| {
            CliError::usage("n8n's chat memory is read and written in the database of [sessions] url_env, and none is set")
                .hint("agentctl.toml: [sessions] url_env = \"DATABASE_URL\"")
        })
    }
}

fn read_exported(path: &Path) -> Result<Exported, CliError> {
    let shown = path.display();
    let text = read_given_text(path, MAX_FILE)
        .map_err(|e| CliError::usage(format!("cannot read {shown}: {e}")))?;
    let read: Exported = serde_json::from_str(&text).map_err(|e| {
        CliError::usage(format!(
            "{shown}:{}:{}: no file of `agentctl sessions export`: {e}",
            e.line(),
            e.column()
        ))
    })?;
    match read.format == FORMAT {
        true => Ok(read),
        false => Err(CliError::usage(format!(
            "{shown}: the format {:?} is not known; this agentctl reads {FORMAT}",
            read.format
        ))),
    }
}

fn when(at: i64) -> String {
    let moment = jiff::Timestamp::from_millisecond(at);
    moment.map_or_else(
        |_| "?".to_owned(),
        |at| at.strftime("%Y-%m-%d %H:%M").to_string(),
    )
}
