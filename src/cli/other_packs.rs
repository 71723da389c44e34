//! Other packs that a pack's tools talk with: each message is a turn of its own, in the caller's own conversation with that pack, under
//! that pack's policy and with its own journal.

use super::args::ModelOptions;
use super::conversations::{host, store, turn_error};
use super::error::CliError;
use super::output::Output;
use super::runtime::block_on;
use super::session::{Given, Session};
use agentctl_base::BoxFuture;
use agentctl_base::question::Outcome;
use agentctl_engine::run::{Cancel, Cause, Unobserved};
use agentctl_sessions::SessionKey;
use agentctl_tools::{Approval, Packs, Told, Waits, With};
use agentctl_turns::{self as turns, Expects, Submit, TurnReply};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub struct OtherPacks {
    root: PathBuf,
    model: ModelOptions,
    out: Output,
}

impl OtherPacks {
    pub fn new(root: &Path, model: &ModelOptions, out: &Output) -> Arc<OtherPacks> {
        Arc::new(OtherPacks {
            root: root.to_owned(),
            model: model.clone(),
            out: out.clone(),
        })
    }
}

/// Stops the turn when nobody waits for it any more.
struct Abandoned(Cancel);

impl Drop for Abandoned {
    fn drop(&mut self) {
        self.0.request(Cause::Interrupt);
    }
}

impl Packs for OtherPacks {
    fn lacks(&self, pack: &str) -> Option<String> {
        if self.model.record.is_some() || self.model.replay.is_some() {
            return Some("a run that is recorded or replayed talks with no other pack".to_owned());
        }
        let options = super::session::load_options(&self.root, &self.out).ok()?;
        let known = crate::pack::names(&self.root, &options);
        (!known.iter().any(|name| name == pack)).then(|| format!("there is no pack {pack}"))
    }

    fn say(&self, with: With, message: String) -> BoxFuture<'_, Result<Told, String>> {
        self.turn(with, Step::Say(message))
    }

    fn waiting(&self, with: With) -> BoxFuture<'_, Result<Option<Waits>, String>> {
        Box::pin(async move {
            let told = self.turn(with, Step::Look).await?;
            let asked = told.approval;
            Ok(asked.map(|asked| Waits {
                run: told.run,
                question: asked.question,
                text: asked.text,
            }))
        })
    }

    fn allow(&self, with: With, asked: Waits, yes: bool) -> BoxFuture<'_, Result<Told, String>> {
        self.turn(with, Step::Allow(asked, yes))
    }
}

/// What is done in a conversation with another pack.
enum Step {
    Say(String),
    /// The turn that is open, as it stands; an empty answer where none is.
    Look,
    Allow(Waits, bool),
}

impl OtherPacks {
    fn turn(&self, with: With, step: Step) -> BoxFuture<'_, Result<Told, String>> {
        let (root, model, out) = (self.root.clone(), self.model.clone(), self.out.clone());
        let cancel = Cancel::default();
        let of_turn = cancel.clone();
        let (tell, heard) = tokio::sync::oneshot::channel();
        // A turn needs a runtime of its own: its run is not one that is moved between threads.
        let turn = std::thread::Builder::new().name("other pack".to_owned());
        let begun = turn.spawn(move || {
            let told = turn_of(&root, &model, &out, &with, step, of_turn);
            // Nobody waits for it any more: then it is in the journal alone.
            let _unheard = tell.send(told.map_err(|error| error.message));
        });
        Box::pin(async move {
            let _abandoned = Abandoned(cancel);
            begun.map_err(|e| format!("no thread is left for it: {e}"))?;
            match heard.await {
                Ok(told) => told,
                Err(_) => Err("its turn broke off".to_owned()),
            }
        })
    }
}

fn turn_of(
    root: &Path,
    model: &ModelOptions,
    out: &Output,
    with: &With,
    step: Step,
    cancel: Cancel,
) -> Result<Told, CliError> {
    let given = Given {
        within: true,
        ..Given::default()
    };
    let mut session = Session::given(root, &with.pack, &given, model, out)?;
    session.cancel = cancel;
    let key = SessionKey {
        pack: with.pack.clone(),
        tenant: with.tenant.clone(),
        user: with.user.clone(),
        conversation: with.conversation.clone(),
    };
    let reply = block_on(async {
        let sessions = store(root, out).await?;
        let host = host(&session, &*sessions, session.budgets.clone());
        let nobody = &mut Unobserved;
        let reply = match step {
            Step::Say(message) => {
                let submit = Submit {
                    message: Some(message),
                    ..Submit::default()
                };
                turns::turn(&host, &key, &submit, nobody).await.map(Some)
            }
            Step::Look => {
                let session = sessions.load(&key).await;
                match session
                    .map_err(|e| CliError::failed(e.to_string()))?
                    .open_run
                {
                    Some(run) => turns::again(&host, &key, &run, nobody).await,
                    None => Ok(None),
                }
            }
            Step::Allow(asked, yes) => {
                let value = Value::from(if yes { "approve" } else { "refuse" });
                let answer = turns::AnswerTo {
                    question: &asked.question,
                    value,
                    approves: true,
                    heard: None,
                };
                turns::answer(&host, &key, &asked.run, answer, nobody)
                    .await
                    .map(Some)
            }
        };
        reply.map_err(|e| turn_error(&e))
    })??;
    Ok(reply.as_ref().map(told).unwrap_or_default())
}

fn told(reply: &TurnReply) -> Told {
    let said: Vec<&str> = reply.messages.iter().map(|m| m.text.as_str()).collect();
    let last = reply.messages.last();
    let asked = reply.question.as_ref();
    let good = matches!(reply.outcome, Outcome::Complete | Outcome::Draft);
    Told {
        run: reply.run_id.clone(),
        output: match (reply.expects, asked) {
            (Expects::Answer, Some(asked)) => {
                [said, vec![asked.text.as_str()]].concat().join("\n\n")
            }
            _ => said.join("\n\n"),
        },
        data: last
            .map(|m| m.data.clone())
            .filter(|data| !data.is_null())
            .unwrap_or_else(|| match &reply.output {
                Value::Object(_) => reply.output.clone(),
                _ => Value::Null,
            }),
        attachment: last.and_then(|m| m.attachment.clone()),
        changed: !reply.did.is_empty(),
        approval: (reply.expects == Expects::Approval).then(|| Approval {
            question: asked.map(|asked| asked.id.clone()).unwrap_or_default(),
            text: asked.map(|asked| asked.text.clone()).unwrap_or_default(),
        }),
        failed: (!good && reply.expects == Expects::Nothing).then(|| {
            match reply.message.as_str() {
                "" => format!("its turn ended as {}", reply.outcome.name()),
                why => why.to_owned(),
            }
        }),
    }
}
