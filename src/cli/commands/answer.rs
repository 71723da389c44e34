//! `agentctl answer RUN ID=VALUE`: answers the questions of a run, and goes on with it.

use super::chat::told;
use crate::cli::activation::{self, Start};
use crate::cli::args::{LimitOptions, ModelOptions};
use crate::cli::choices::Events;
use crate::cli::conversations::{host, session_error, store, turn_error};
use crate::cli::error::{CliError, Exit};
use crate::cli::observer::RunObserver;
use crate::cli::output::Output;
use crate::cli::plain::plain;
use crate::cli::session::{self, Session};
use crate::cli::{ask, runtime};
use agentctl_base::question::{Question, QuestionOption};
use agentctl_base::shell;
use agentctl_engine::run::{self, Answering, Budgets, Resume};
use agentctl_turns as turns;
use clap::Args;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Answer the questions of a waiting run, and go on with it
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl answer channel=#sales\n  agentctl answer 019a… channel=#sales\n  agentctl answer 019a… --answers answers.json --yes"
)]
pub struct AnswerArgs {
    /// The run that waits (default: the active one), then answers, each as ID=VALUE or TOPIC=VALUE
    #[arg(value_name = "[RUN] ID=VALUE")]
    pub words: Vec<String>,
    /// More answers from a JSON file (`-`: stdin)
    #[arg(long, value_name = "FILE")]
    pub answers: Option<PathBuf>,
    /// Take the recommendation of every other question; it approves nothing: what waits for a yes or a no waits on
    #[arg(long, short)]
    pub yes: bool,
    #[command(flatten)]
    pub model: ModelOptions,
    #[command(flatten)]
    pub limits: LimitOptions,
}

/// The answers that a question offers, as they are typed.
fn choices(key: &str, options: &[QuestionOption]) -> String {
    let typed = |option: &QuestionOption| {
        let value = option.value.as_str();
        let value = value.map_or_else(|| option.value.to_string(), str::to_owned);
        shell::word(&format!("{key}={value}"))
    };
    let all: Vec<String> = options.iter().map(typed).collect();
    format!("it can be {}", all.join(" or "))
}

pub fn answer(root: &Path, args: &AnswerArgs, out: &Output) -> Result<Exit, CliError> {
    let (run, pairs) = match args.words.split_first() {
        Some((run, pairs)) if !run.contains('=') => (Some(run.as_str()), pairs),
        _ => (None, args.words.as_slice()),
    };
    let session = Session::reopen(root, run, &args.model, out)?;
    let shown = match run {
        Some(run) => run::report(&session.project, &session.pack, run),
        None => run::status(&session.project, &session.pack),
    };
    let shown = shown.map_err(|e| session::run_error(&e))?;
    let (open, run_id) = (shown.questions, shown.run_id);
    let mut answers = session::read_answers(args.answers.as_deref())?;
    for pair in pairs {
        let Some((key, typed)) = pair.split_once('=') else {
            return Err(CliError::usage(format!("{pair:?} is no answer"))
                .hint("write ID=VALUE, e.g. channel=#sales"));
        };
        let question = open
            .iter()
            .find(|q| q.id == key)
            .or_else(|| open.iter().find(|q| q.topic == key));
        let value = match question {
            Some(question) => ask::read_answer(typed, &question.schema).map_err(|why| {
                let error = CliError::usage(format!("the answer to {key:?} does not fit: {why}"));
                match question.options.as_slice() {
                    [] => error,
                    options => error.hint(choices(key, options)),
                }
            })?,
            None => Value::String(typed.to_owned()),
        };
        // What a turn asks is answered by its id.
        let key = question.map_or(key, |question| question.id.as_str());
        answers.insert(key.to_owned(), value);
    }
    if run::conversation(&session.project, &run_id)
        .map_err(|e| session::run_error(&e))?
        .is_some()
    {
        session.init("answer", out)?;
        let limits = activation::limits(&session.pack, &args.limits)?.over(&session.budgets);
        let approves = open.first().is_none_or(|asked| asked.approves.is_some());
        return of_turn(root, &session, (&run_id, answers, approves), limits, out);
    }
    if answers.is_empty() && !args.yes {
        return Err(CliError::usage("no answer was given").hint(format!(
            "agentctl answer {run_id} ID=VALUE; the questions are in agentctl runs show {run_id}; --yes takes the recommendations"
        )));
    }
    if args.yes {
        tell_unapproved(&open, &answers, &run_id, out);
    }
    let resume = Resume {
        answering: Answering {
            answers: Map::new(),
            yes: args.yes,
        },
        limits: activation::limits(&session.pack, &args.limits)?,
        ..Resume::default()
    };
    session.init("answer", out)?;
    activation::activate(
        &session,
        root,
        true,
        out,
        false,
        Start::Answer(run_id, answers, resume),
    )
}

/// Says of approvals that are left that no recommendation answers them.
fn tell_unapproved(open: &[Question], answers: &Map<String, Value>, run: &str, out: &Output) {
    let is_left = |q: &&Question| {
        let given = answers.contains_key(&q.id) || answers.contains_key(&q.topic);
        q.approves.is_some() && q.recommended.is_none() && !given
    };
    for question in open.iter().filter(is_left) {
        let id = plain(&question.id);
        out.note(&format!(
            "--yes approves nothing: {id} is for you to say (agentctl answer {run} {id}=approve, or {id}=refuse)"
        ));
    }
}

/// The same for the turn of a conversation, which goes on with it. Who sits at this terminal may approve.
fn of_turn(
    root: &Path,
    session: &Session,
    (run, answers, approves): (&str, Map<String, Value>, bool),
    limits: Budgets,
    out: &Output,
) -> Result<Exit, CliError> {
    let mut answers = answers.into_iter();
    let (Some((question, value)), None) = (answers.next(), answers.next()) else {
        return Err(
            CliError::usage("a turn of a conversation waits for one answer").hint(format!(
                "agentctl answer {run} ID=VALUE; agentctl runs show {run} tells the question"
            )),
        );
    };
    let talk = async {
        let sessions = store(root, out).await?;
        let key = sessions.of_run(run).await;
        let key = key.map_err(|e| session_error(&e))?.ok_or_else(|| {
            CliError::failed(format!("no conversation is kept whose turn run {run} is"))
                .hint("its session was deleted, or is kept in another store ([sessions] of agentctl.toml)")
        })?;
        let host = host(session, &*sessions, limits);
        let mut observer = RunObserver::new(out, session.tape.clone()).telling(Events::User);
        let progress = observer.progress.clone();
        let given = turns::AnswerTo {
            question: &question,
            value,
            approves,
            heard: None,
        };
        let reply = turns::answer(&host, &key, run, given, &mut observer).await;
        progress.finish();
        if let Some(error) = observer.finish() {
            return Err(error);
        }
        told(out, Events::User, &reply.map_err(|e| turn_error(&e))?)
    };
    runtime::block_on_until(&session.cancel, talk)?
}
