//! Plays a dialogue turn by turn, as a person would talk: each turn through the same door, in an empty folder that is deleted afterwards.
//! Nothing of the project that the pack comes from is touched.

use super::expect::Expectation;
use super::file::{Dialogue, TurnSpec};
use agentctl_base::question::Outcome;
use agentctl_base::yaml::Place;
use agentctl_engine::gateway::Gateway;
use agentctl_engine::pack::Pack;
use agentctl_engine::run::{self, Budgets, Cancel, Cause, Effects as _, Models, Observer, System};
use agentctl_engine::store::Project;
use agentctl_engine::view::RunView;
use agentctl_host::key::Key;
use agentctl_sessions::{
    Finish, Marks, NewMessage, Role, SessionError, SessionKey, Sessions as _, SqliteSessions,
};
use agentctl_turns::{self as turns, Host, Submit, TurnError, TurnReply};
use serde_json::{Map, Value};
use std::path::Path;

/// Opens the door to tools that work in a folder; calls of the tools that are named fail.
pub type Door<'a> = dyn Fn(&Path, &[String]) -> Result<Gateway, String> + 'a;

/// What all dialogues of a pack are played with.
pub struct Stage<'a> {
    pub pack: &'a Pack,
    pub models: &'a dyn Models,
    pub cancel: &'a Cancel,
    pub limits: Budgets,
    pub gateway: &'a Door<'a>,
}

/// A dialogue that was played.
#[derive(Debug, Clone)]
pub struct Played {
    pub name: String,
    pub place: Place,
    pub turns: Vec<PlayedTurn>,
}

#[derive(Debug, Clone)]
pub struct PlayedTurn {
    /// What was said to the pack; None: something happened instead.
    pub say: Option<String>,
    /// What it said.
    pub said: String,
    pub held: Vec<Held>,
}

/// An expectation, and what there was where it does not hold.
#[derive(Debug, Clone)]
pub struct Held {
    pub name: String,
    pub place: Place,
    /// None: it holds.
    pub got: Option<String>,
}

impl Played {
    pub fn all(&self) -> impl Iterator<Item = &Held> {
        self.turns.iter().flat_map(|turn| &turn.held)
    }

    pub fn failed(&self) -> usize {
        self.all().filter(|held| held.got.is_some()).count()
    }
}

/// A session between two turns.
pub(super) struct Kept {
    pub state: Map<String, Value>,
    pub messages: i64,
}

/// A turn as its expectations see it.
pub(super) struct Seen<'a> {
    pub before: Kept,
    pub after: &'a Kept,
    pub reply: &'a TurnReply,
    /// Tools and their arguments, in order.
    pub calls: Vec<(String, Value)>,
}

impl Seen<'_> {
    pub fn said(&self) -> String {
        said(self.reply)
    }
}

fn said(reply: &TurnReply) -> String {
    let texts = reply.messages.iter().map(|message| message.text.as_str());
    texts.collect::<Vec<_>>().join("\n")
}

/// Why nothing could be played; a turn that goes wrong is told as an expectation that does not hold.
#[derive(Debug, thiserror::Error)]
pub enum NotPlayed {
    #[error("no folder to play in: {0}")]
    Folder(String),
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The model gives no answers.
    #[error(transparent)]
    Turn(TurnError),
    #[error("interrupted")]
    Interrupted(Cause),
}

/// `observer` sees the events of every turn.
pub async fn play(
    stage: &Stage<'_>,
    dialogue: &Dialogue,
    observer: &mut dyn Observer,
) -> Result<Played, NotPlayed> {
    let folder = tempfile::tempdir().map_err(|e| NotPlayed::Folder(e.to_string()))?;
    let folder = folder.path();
    let real = folder
        .canonicalize()
        .map_err(|e| NotPlayed::Folder(e.to_string()))?;
    // Whose folder it is, nobody will ask.
    let key = Key::nobodys();
    let project = Project::open(&real).map_err(|e| NotPlayed::Folder(e.to_string()))?;
    let project = project.with_key(key.clone());
    let sessions = SqliteSessions::open(&real.join("memory"), Marks::of(key, &real)).await?;
    let key = SessionKey {
        pack: stage.pack.manifest.name.clone(),
        tenant: "test".to_owned(),
        user: "test".to_owned(),
        conversation: dialogue.name.clone(),
    };
    begin(&sessions, &key, dialogue).await?;
    let effects = System::default();
    let mut played = Vec::new();
    for spec in &dialogue.turns {
        let gateway = (stage.gateway)(&real, &spec.fails).map_err(NotPlayed::Folder)?;
        let host = Host {
            project: &project,
            pack: stage.pack,
            gateway: &gateway,
            models: stage.models,
            effects: &effects,
            cancel: stage.cancel,
            sessions: &sessions,
            limits: stage.limits.clone(),
            wait: turns::WAIT,
        };
        let before = kept(&sessions, &key).await?;
        let submit = Submit {
            message: spec.say.clone(),
            input: spec.input.clone(),
            ..Submit::default()
        };
        let replied = turns::turn(&host, &key, &submit, observer).await;
        if let Some(cause) = stage.cancel.cause() {
            return Err(NotPlayed::Interrupted(cause));
        }
        played.push(match replied {
            Ok(reply) => {
                let seen = Seen {
                    before,
                    after: &kept(&sessions, &key).await?,
                    calls: calls(&project, &reply),
                    reply: &reply,
                };
                judged(spec, &seen)
            }
            // Without its model no pack says anything.
            Err(TurnError::Run(error @ run::RunError::Model(_))) => {
                return Err(NotPlayed::Turn(TurnError::Run(error)));
            }
            Err(error) => broken(spec, &error.to_string()),
        });
    }
    Ok(Played {
        name: dialogue.name.clone(),
        place: dialogue.place,
        turns: played,
    })
}

/// Puts in what was said and kept before.
async fn begin(
    sessions: &SqliteSessions,
    key: &SessionKey,
    dialogue: &Dialogue,
) -> Result<(), SessionError> {
    let given = &dialogue.begins;
    if given.state.is_empty() && given.messages.is_empty() {
        return Ok(());
    }
    let now = System::default().now().as_millisecond();
    let add = given.messages.iter().map(|(by_user, text)| NewMessage {
        role: match by_user {
            true => Role::User,
            false => Role::Assistant,
        },
        text: text.clone(),
        data: None,
        attachment: None,
        at: now,
    });
    let finish = Finish {
        run: None,
        open_run: None,
        version: sessions.load(key).await?.version,
        state: given.state.clone(),
        clear: false,
        add: add.collect(),
        now,
    };
    sessions.finish(key, &finish).await.map(drop)
}

async fn kept(sessions: &SqliteSessions, key: &SessionKey) -> Result<Kept, SessionError> {
    let session = sessions.load(key).await?;
    Ok(Kept {
        messages: session.message_count(),
        state: session.state,
    })
}

/// The calls of tools in the turn.
fn calls(project: &Project, reply: &TurnReply) -> Vec<(String, Value)> {
    let Ok(loaded) = run::read(project, &reply.run_id) else {
        return Vec::new();
    };
    let calls = RunView::of(&loaded.records).calls;
    calls
        .into_iter()
        .map(|call| (call.tool.clone(), call.arguments()))
        .collect()
}

fn judged(spec: &TurnSpec, seen: &Seen<'_>) -> PlayedTurn {
    let mut held: Vec<Held> = Vec::new();
    let ended = matches!(seen.reply.outcome, Outcome::Complete | Outcome::Waiting);
    if !ended && !spec.expect.iter().any(Expectation::is_of_outcome) {
        held.push(Held {
            name: "outcome".to_owned(),
            place: spec.place,
            got: Some(format!(
                "{}: {}",
                seen.reply.outcome.name(),
                seen.reply.message
            )),
        });
    }
    held.extend(spec.expect.iter().map(|expected| expected.judge(seen)));
    PlayedTurn {
        say: spec.say.clone(),
        said: seen.said(),
        held,
    }
}

/// Of a turn that gave no reply nothing holds.
fn broken(spec: &TurnSpec, why: &str) -> PlayedTurn {
    let none = spec.expect.iter().map(|expected| Held {
        name: expected.name.clone(),
        place: expected.place,
        got: Some(why.to_owned()),
    });
    let mut held: Vec<Held> = none.collect();
    if held.is_empty() {
        held.push(Held {
            name: "outcome".to_owned(),
            place: spec.place,
            got: Some(why.to_owned()),
        });
    }
    PlayedTurn {
        say: spec.say.clone(),
        said: String::new(),
        held,
    }
}
