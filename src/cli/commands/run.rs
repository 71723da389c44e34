//! `agentctl run PACK[/FLOW] [MESSAGE]`: any flow of a pack, once.

use crate::cli::activation::{self, Start};
use crate::cli::args::{AnswerOptions, LimitOptions, ModelOptions};
use crate::cli::error::{CliError, Exit};
use crate::cli::given::{is_pair, sorted};
use crate::cli::output::Output;
use crate::cli::session::{self, Given, Session, Which};
use agentctl_engine::nearest::nearest;
use agentctl_engine::pack::Pack;
use agentctl_engine::run::RunOptions;
use agentctl_host::files::read_given_text;
use clap::Args;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Run a flow of a pack once
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl run front-door \"I need a monthly report\"\n  agentctl run my-pack/check --input customer=42 region=north input.json"
)]
pub struct RunArgs {
    /// The pack, or one of its flows
    #[arg(value_name = "PACK[/FLOW]")]
    pub pack: String,
    /// What the flow sees as `input.message` (`-`: read it from stdin)
    #[arg(value_name = "MESSAGE")]
    pub message: Option<String>,
    /// What else it sees as `input`: KEY=VALUE (JSON, else text), or a JSON file; several may follow, and it may be given several times
    #[arg(long, value_name = "FILE|KEY=VALUE", num_args = 1..)]
    pub input: Vec<String>,
    /// Which of the pack's orchestrators works (`agentctl orchestrators list`), or a JSON file of your own
    #[arg(long, value_name = "NAME|FILE")]
    pub orchestrator: Option<String>,
    /// The agents that are asked; default: all that the orchestrator names
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub agents: Vec<String>,
    /// A folder of documents (md, html, txt, csv, pdf, docx, xlsx) that the pack's tools read in place of the pack's own
    #[arg(long, value_name = "DIR")]
    pub corpus: Option<PathBuf>,
    #[command(flatten)]
    pub answers: AnswerOptions,
    #[command(flatten)]
    pub model: ModelOptions,
    #[command(flatten)]
    pub limits: LimitOptions,
}

const MAX_INPUT: u64 = 4 * 1024 * 1024;

pub fn run(root: &Path, args: &RunArgs, out: &Output) -> Result<Exit, CliError> {
    let given = sorted(&args.input, Path::is_file);
    let message = match (args.message.as_deref(), given.words.as_slice()) {
        (message, []) => message,
        (None, [word]) => Some(*word),
        _ => {
            return Err(CliError::usage(format!(
                "what is {:?} behind --input?",
                given.words.join(" ")
            ))
            .hint("agentctl run PACK MESSAGE --input KEY=VALUE KEY=VALUE"));
        }
    };
    let message = match message {
        Some(typed) => {
            let said = super::build::words(typed)?;
            if said.trim().is_empty() {
                let pack = &args.pack;
                return Err(CliError::usage(format!("there is nothing to run {pack} with: the message is empty"))
                    .hint(format!("say what it is about: agentctl run {pack} \"…\"; a pack that needs no message is run without one")));
            }
            super::build::whole(&said)?
        }
        None => String::new(),
    };
    let mut input = Map::new();
    for given in given.input {
        input.extend(read_input(given)?);
    }
    if input.contains_key(CORPUS) {
        return Err(CliError::usage(format!(
            "--input gives {CORPUS}, which opens a folder of yours"
        ))
        .hint("name the folder with --corpus DIR"));
    }
    input.insert(
        "message".into(),
        agentctl_base::secrets::hide(&message).into(),
    );
    let folder = args.corpus.as_deref().map(folder).transpose()?;
    if let Some(folder) = &folder {
        input.insert(CORPUS.into(), folder.display().to_string().into());
    }
    if !args.agents.is_empty() {
        input.insert(AGENTS.into(), args.agents.clone().into());
    }
    let given = Given {
        orchestrator: args.orchestrator.clone().map_or(Which::AsSet, Which::Named),
        folder,
        ..Given::default()
    };
    let session = Session::given(root, &args.pack, &given, &args.model, out)?;
    asked(&args.agents, &session.pack)?;
    let options = RunOptions {
        grants: None,
        plan_tools: None,
        session: None,
        request: message,
        input,
        answering: session::answering(&args.answers)?,
        limits: activation::limits(&session.pack, &args.limits)?.over(&session.budgets),
    };
    session.init("run", out)?;
    let start = Start::New(options);
    activation::activate(&session, root, args.answers.no_input, out, false, start)
}

/// What the packs' tools find the user's folder under; set by --corpus alone.
const CORPUS: &str = "corpus";
/// What an orchestrator finds under it: who was asked for.
const AGENTS: &str = "agents";

/// Whoever is asked for has to be somebody, before anything starts.
fn asked(agents: &[String], pack: &Pack) -> Result<(), CliError> {
    let known = pack.orchestrator.as_ref();
    let known = known.map_or(&[][..], |in_force| in_force.agents.as_slice());
    let Some(unknown) = agents.iter().find(|name| !known.contains(name)) else {
        return Ok(());
    };
    let near = nearest(unknown, known.iter().map(String::as_str));
    let hint = match known {
        [] => format!(
            "the pack {} has no orchestrator whose agents could be chosen",
            pack.manifest.name
        ),
        known => format!("there are: {}", known.join(", ")),
    };
    Err(CliError::usage(format!("--agents: there is no agent {unknown:?}{near}")).hint(hint))
}

/// The folder that was named, from the root on.
fn folder(named: &Path) -> Result<PathBuf, CliError> {
    let shown = named.display();
    let real = named.canonicalize();
    let real = real.map_err(|e| CliError::usage(format!("cannot read the folder {shown}: {e}")))?;
    match real.is_dir() {
        true => Ok(real),
        false => Err(CliError::usage(format!("{shown} is no folder"))
            .hint("--corpus names a folder with md, html, txt, csv, pdf, docx or xlsx files")),
    }
}

/// `KEY=VALUE`, or a file with a JSON object.
pub(super) fn read_input(given: &str) -> Result<Map<String, Value>, CliError> {
    if let Some((key, value)) = given.split_once('=').filter(|_| is_pair(given)) {
        let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        return Ok(Map::from_iter([(key.to_owned(), value)]));
    }
    let path = PathBuf::from(given);
    let text = read_given_text(&path, MAX_INPUT)
        .map_err(|e| CliError::usage(format!("cannot read the input {given}: {e}")))?;
    match serde_json::from_str(&text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(CliError::usage(format!("{given}: expected a JSON object"))),
        Err(e) => Err(CliError::usage(format!(
            "{given}:{}:{}: not valid JSON: {e}",
            e.line(),
            e.column()
        ))),
    }
}
