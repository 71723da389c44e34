//! `agentctl answer RUN ID=VALUE`: answers the questions of a run, and goes on with it.

use crate::cli::activation::{self, Start};
use crate::cli::args::{LimitOptions, ModelOptions};
use crate::cli::ask;
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::session::{self, Session};
use agentctl_engine::run;
use clap::Args;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Answer the questions of a waiting run, and go on with it
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl answer 019a… channel=#sales\n  agentctl answer 019a… --answers answers.json"
)]
pub struct AnswerArgs {
    /// The run that waits
    #[arg(value_name = "RUN")]
    pub run: String,
    /// Answers, each as ID=VALUE or TOPIC=VALUE
    #[arg(value_name = "ID=VALUE")]
    pub pairs: Vec<String>,
    /// More answers from a JSON file (`-`: stdin)
    #[arg(long, value_name = "FILE")]
    pub answers: Option<PathBuf>,
    #[command(flatten)]
    pub model: ModelOptions,
    #[command(flatten)]
    pub limits: LimitOptions,
}

pub fn answer(root: &Path, args: &AnswerArgs, out: &Output) -> Result<Exit, CliError> {
    let session = Session::reopen(root, Some(&args.run), &args.model, out)?;
    let open = run::show(&session.project, &session.pack, &args.run, &mut |_| ())
        .map_err(|e| session::run_error(&e))?
        .questions;
    let mut answers = session::read_answers(args.answers.as_deref())?;
    for pair in &args.pairs {
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
                CliError::usage(format!("the answer to {key:?} does not fit: {why}"))
            })?,
            None => Value::String(typed.to_owned()),
        };
        answers.insert(key.to_owned(), value);
    }
    if answers.is_empty() {
        return Err(CliError::usage("no answer was given").hint(format!(
            "agentctl answer {} ID=VALUE; the questions are in agentctl runs show {}",
            args.run, args.run
        )));
    }
    let limits = activation::limits(&session.pack, &args.limits)?;
    session.init("answer", out)?;
    activation::activate(
        &session,
        root,
        true,
        out,
        false,
        Start::Answer(args.run.clone(), answers, limits),
    )
}
