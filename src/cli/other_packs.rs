//! Other packs that a pack's tools talk with: each message is a turn of its own, in the caller's own conversation with that pack, under
//! that pack's policy and with its own journal, in which the caller's run is named.

use super::args::ModelOptions;
use super::conversations::{host, store, turn_error};
use super::error::CliError;
use super::output::Output;
use super::runtime::block_on;
use super::session::{Given, Session};
use agentctl_base::BoxFuture;
use agentctl_base::question::Outcome;
use agentctl_base::shell;
use agentctl_engine::run::{self, Answering, Cancel, Cause, Unobserved};
use agentctl_engine::store::{Project, Side};
use agentctl_sessions::{Session as Kept, SessionKey};
use agentctl_tools::{Approval, CallOf, Message, Packs, Told, Waits, With};
use agentctl_turns::{self as turns, Expects, Submit, TurnReply};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// So many packs stand below one another at most, besides the first.
pub const DEEPEST: u8 = 2;

pub struct OtherPacks {
    /// The pack whose tools talk with them.
    of: String,
    /// How many stand above it.
    depth: u8,
    root: PathBuf,
    model: ModelOptions,
    out: Output,
}

impl OtherPacks {
    /// `of`: the pack whose tools talk, and how many packs stand above it.
    pub fn new(
        (of, depth): (&str, u8),
        root: &Path,
        model: &ModelOptions,
        out: &Output,
    ) -> Arc<OtherPacks> {
        Arc::new(OtherPacks {
            of: of.to_owned(),
            depth,
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
        if self.depth >= DEEPEST {
            return Some(format!("{DEEPEST} packs stand above this one already"));
        }
        if self.model.record.is_some() || self.model.replay.is_some() {
            return Some("a run that is recorded or replayed talks with no other pack".to_owned());
        }
        let options = super::session::load_options(&self.root, &self.out).ok()?;
        let known = crate::pack::names(&self.root, &options);
        (!known.iter().any(|name| name == pack)).then(|| format!("there is no pack {pack}"))
    }

    fn say(&self, with: With, message: Message) -> BoxFuture<'_, Result<Told, String>> {
        let told = self.turn(with, Step::Say(message));
        Box::pin(async move { Ok(told.await?.unwrap_or_default()) })
    }

    fn begun(&self, with: With, call: CallOf) -> BoxFuture<'_, Result<Option<Told>, String>> {
        self.turn(with, Step::Begun(call))
    }

    fn allow(&self, with: With, asked: Waits, yes: bool) -> BoxFuture<'_, Result<Told, String>> {
        let told = self.turn(with, Step::Allow(asked, yes));
        Box::pin(async move { Ok(told.await?.unwrap_or_default()) })
    }
}

/// What is done in a conversation with another pack.
enum Step {
    Say(Message),
    /// The turn of this very call, gone on with.
    Begun(CallOf),
    Allow(Waits, bool),
}

impl OtherPacks {
    fn turn(&self, with: With, step: Step) -> BoxFuture<'_, Result<Option<Told>, String>> {
        let (root, model, out) = (self.root.clone(), self.model.clone(), self.out.clone());
        let above = (self.of.clone(), self.depth + 1);
        let cancel = Cancel::default();
        let of_turn = cancel.clone();
        let (tell, heard) = tokio::sync::oneshot::channel();
        // A turn needs a runtime of its own: its run is not one that is moved between threads.
        let turn = std::thread::Builder::new().name("other pack".to_owned());
        let begun = turn.spawn(move || {
            let told = turn_of(&root, &model, &out, (&with, above), step, of_turn);
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
    (with, (of, depth)): (&With, (String, u8)),
    step: Step,
    cancel: Cancel,
) -> Result<Option<Told>, CliError> {
    let given = Given {
        depth,
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
                let parent = |call: CallOf| call.link(Side::Parent, &call.run_id, &of);
                let submit = Submit {
                    message: Some(message.text),
                    input: message.input,
                    answering: Answering {
                        yes: message.recommended,
                        ..Answering::default()
                    },
                    parent: message.call.map(parent),
                    ..Submit::default()
                };
                turns::turn(&host, &key, &submit, nobody).await.map(Some)
            }
            Step::Begun(call) => {
                let kept = sessions.load(&key).await;
                let kept = kept.map_err(|e| CliError::failed(e.to_string()))?;
                match for_call(&session.project, kept, &call) {
                    Some(run) => turns::again(&host, &key, &run, &Submit::default(), nobody).await,
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
    Ok(reply.as_ref().map(told))
}

/// The last turn of the conversation, if it was begun for this call. While the call has no result, no further turn is begun.
fn for_call(project: &Project, kept: Kept, call: &CallOf) -> Option<String> {
    let last = [kept.open_run, kept.last_run].into_iter().flatten();
    last.into_iter().find(|run| {
        let parent = run::view(project, run)
            .ok()
            .and_then(|view| view.parent().cloned());
        parent.is_some_and(|parent| parent == call.link(Side::Parent, &call.run_id, &parent.pack))
    })
}

/// Where what it made stands: the file, else the address, of the first thing that has one.
fn place(reply: &TurnReply) -> Option<String> {
    let output = reply
        .output
        .as_object()
        .into_iter()
        .flat_map(|map| map.values());
    let things = reply.made.values().chain(output);
    things.into_iter().find_map(|thing| {
        let text = |key: &str| thing.get(key).and_then(Value::as_str);
        text("file").or_else(|| text("url")).map(str::to_owned)
    })
}

/// What is left to a person, a line each.
fn open(reply: &TurnReply) -> Vec<String> {
    let partly = matches!(reply.outcome, Outcome::Draft | Outcome::Partial);
    let why = partly.then(|| reply.message.clone());
    let asked = reply
        .question
        .as_ref()
        .filter(|_| reply.expects == Expects::Answer);
    let asked = asked.map(|asked| {
        format!(
            "{} (agentctl answer {} {}=…)",
            asked.text,
            reply.run_id,
            shell::word(&asked.id)
        )
    });
    let taken = reply.taken.iter().map(|taken| {
        let value = taken
            .value
            .as_str()
            .map_or_else(|| taken.value.to_string(), str::to_owned);
        format!("taken for granted: {} {value}", taken.question)
    });
    why.into_iter()
        .chain(asked)
        .chain(reply.todo.iter().cloned())
        .chain(taken)
        .collect()
}

fn told(reply: &TurnReply) -> Told {
    let said: Vec<&str> = reply.messages.iter().map(|m| m.text.as_str()).collect();
    let last = reply.messages.last();
    let asked = reply.question.as_ref();
    let good = matches!(
        reply.outcome,
        Outcome::Complete | Outcome::Draft | Outcome::Partial
    );
    Told {
        run: reply.run_id.clone(),
        outcome: reply.outcome.name().to_owned(),
        place: place(reply),
        open: open(reply),
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
