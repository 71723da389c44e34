//! `agentctl bench FILE`: runs the requests of a file, each in an empty folder of its own, and scores what came of them.

mod run;
mod table;

use crate::cli::activation;
use crate::cli::args::{LimitOptions, ModelNames};
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::session::Elsewhere;
use agentctl_bench::{Kind, Request, Summary, read, reworded};
use agentctl_host::files::{read_given_text, write_atomic};
use clap::{Args, ValueEnum};
use run::{Ran, Runner};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// No file of requests is larger.
const MAX_FILE: u64 = 64 * 1024 * 1024;
/// So many requests at once are enough for any provider.
const MOST_JOBS: u16 = 64;

/// Run the requests of a file with a model, and score what it builds
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl bench requests.json\n  agentctl bench requests.json --model anthropic::claude-sonnet-4-6 --jobs 4 --total-cost 5\n  agentctl bench requests.json --ids r01,r07 --keep answers --output-format json\n  agentctl bench again.json --of requests.json --min 80\n\nEach request runs in an empty folder that is deleted afterwards; the project, its workflows and its\nn8n are not touched. docs/bench.md says how a file is written and what is counted."
)]
pub struct BenchArgs {
    /// The requests with what a right answer must hold: a JSON list (`-`: stdin)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// FILE says the requests of this one in other words
    #[arg(long, value_name = "FILE")]
    of: Option<PathBuf>,
    /// Only these requests
    #[arg(long, value_name = "ID,…", value_delimiter = ',')]
    ids: Vec<String>,
    /// Only requests of this kind
    #[arg(long, value_name = "KIND")]
    kind: Option<Which>,
    /// So many requests at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=i64::from(MOST_JOBS)))]
    jobs: u16,
    /// Take every recommendation instead of ending with a question
    #[arg(long, short)]
    yes: bool,
    /// Keep each answer as DIR/ID.json: the workflow, the questions or the refusal
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Begin no request once all of them have cost so many US dollars: exit code 8
    #[arg(long, value_name = "USD", value_parser = crate::config::limit::usd)]
    total_cost: Option<f64>,
    /// Exit code 1 when fewer of the items are met
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    min: Option<u8>,
    #[command(flatten)]
    model: ModelNames,
    #[command(flatten)]
    limits: LimitOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    Build,
    Modify,
    Clarify,
    Refuse,
}

impl From<Which> for Kind {
    fn from(typed: Which) -> Self {
        match typed {
            Which::Build => Kind::Build,
            Which::Modify => Kind::Modify,
            Which::Clarify => Kind::Clarify,
            Which::Refuse => Kind::Refuse,
        }
    }
}

pub fn bench(root: &Path, args: &BenchArgs, out: &Output) -> Result<Exit, CliError> {
    let requests = requests(args)?;
    if let Some(folder) = &args.keep {
        std::fs::create_dir_all(folder).map_err(|e| CliError::io("make the folder", folder, &e))?;
    }
    let elsewhere = Elsewhere::open(root, &args.model, out)?;
    let limits = activation::limits(&elsewhere.pack, &args.limits)?.over(&elsewhere.budgets);
    out.stream(&json!({"type": "init", "command": "bench", "model": elsewhere.models.names().join(", "), "requests": requests.len()}))?;
    let runner = Runner {
        elsewhere,
        limits,
        yes: args.yes,
        jobs: usize::from(args.jobs),
        total_cost: args.total_cost,
    };
    let model = runner.elsewhere.models.names().join(", ");
    let ran = run::all(runner, requests, out)?;
    if let Some(folder) = &args.keep {
        for ran in &ran {
            keep(folder, ran)?;
        }
    }
    tell(&model, &ran, args.min, out)
}

/// The requests of the file that were asked for, in its order.
fn requests(args: &BenchArgs) -> Result<Vec<Request>, CliError> {
    let all = match &args.of {
        None => of_file(&args.file, read)?,
        Some(of) => {
            let originals = of_file(of, read)?;
            of_file(&args.file, |text| reworded(text, &originals))?
        }
    };
    let there: BTreeSet<&str> = all.iter().map(|r| r.id.as_str()).collect();
    if let Some(id) = args.ids.iter().find(|id| !there.contains(id.as_str())) {
        let shown = args.file.display();
        return Err(CliError::usage(format!("{shown} has no request {id:?}")));
    }
    let asked = |request: &Request| {
        (args.ids.is_empty() || args.ids.contains(&request.id))
            && args
                .kind
                .is_none_or(|kind| Kind::from(kind) == request.kind)
    };
    let asked: Vec<Request> = all.iter().filter(|r| asked(r)).cloned().collect();
    match asked.is_empty() {
        true => Err(CliError::usage("no request of the file is of this kind")),
        false => Ok(asked),
    }
}

fn of_file<T>(
    path: &Path,
    read: impl FnOnce(&str) -> Result<T, agentctl_bench::FileError>,
) -> Result<T, CliError> {
    let shown = path.display();
    let text = if path == Path::new("-") {
        crate::cli::session::read_stdin()?
    } else {
        read_given_text(path, MAX_FILE)
            .map_err(|e| CliError::usage(format!("cannot read the requests {shown}: {e}")))?
    };
    read(&text).map_err(|wrong| {
        CliError::usage(format!("{shown}:{wrong}"))
            .hint("docs/bench.md says what a request and its expectations are made of")
    })
}

fn keep(folder: &Path, ran: &Ran) -> Result<(), CliError> {
    let Some(answer) = &ran.answer else {
        return Ok(());
    };
    let file = folder.join(format!("{}.json", ran.scored.id));
    let text = format!("{:#}\n", answer.to_value());
    write_atomic(&file, text.as_bytes())
        .map_err(|e| CliError::failed(format!("cannot write {}: {e}", file.display())))
}

/// What was scored, and how the command ends: a request that could not be run makes the figures no figures of the model.
fn tell(model: &str, ran: &[Ran], min: Option<u8>, out: &Output) -> Result<Exit, CliError> {
    let scored: Vec<_> = ran.iter().map(|r| r.scored.clone()).collect();
    let summary = Summary::of(&scored);
    let below = min.is_some_and(|min| summary.all.percent() < f64::from(min));
    let trouble = ran.iter().filter_map(|r| r.trouble.as_ref());
    let exit = match trouble.map(|t| t.exit).next() {
        Some(exit) => exit,
        None if below => Exit::Failed,
        None => Exit::Complete,
    };
    out.answer(
        exit,
        || table::text(model, ran, &summary),
        || {
            json!({
                "model": model,
                "summary": summary,
                "usage": run::used(ran),
                "requests": ran.iter().map(Ran::to_value).collect::<Vec<_>>(),
                "exit_code": exit.code(),
            })
        },
    )
}
