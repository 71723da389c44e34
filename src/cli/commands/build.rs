//! `agentctl build REQUEST`: begins a run.

use crate::cli::activation::{self, Start};
use crate::cli::args::{AnswerOptions, LimitOptions, ModelOptions};
use crate::cli::cases;
use crate::cli::connection;
use crate::cli::error::{CliError, Exit};
use crate::cli::look::Look;
use crate::cli::nearby;
use crate::cli::output::Output;
use crate::cli::runtime;
use crate::cli::session::{self, Session};
use crate::config::timezone_around;
use agentctl_engine::guards::LOOK_FIRST;
use agentctl_engine::policy::{Grants, Outside};
use agentctl_engine::run::{Answering, RunOptions};
use agentctl_engine::toolset::BackendErrorKind;
use agentctl_host::files::{read_given_text, read_regular_text};
use agentctl_n8n::rehearsal::Hosts;
use agentctl_n8n_tools::backend::{Backend, ListQuery, Stored, list_all};
use agentctl_n8n_tools::tools::{
    ACCOUNTS, ASKED_ANSWER, ASKED_CASES, CASES, LET_ACT, TEST_HOSTS, WORKFLOW, names,
};
use agentctl_planner::{acceptance, wish};
use clap::{Args, ValueEnum};
use serde_json::{Map, json};
use std::path::{Path, PathBuf};

/// Build a workflow from a request, or change an existing one with --workflow
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl build \"When a webhook receives an order over 100 EUR, post it to Slack #sales\"\n  agentctl build --workflow workflows/orders.json \"post to #orders instead of #sales\"\n  agentctl build --plan \"Every Monday at 8 mail the open Xero invoices to ap@example.com\"\n  agentctl build --yes --output-format json \"Every Monday at 8 mail the open Xero invoices to ap@example.com\"\n  agentctl build --answers answers.json \"Tell me when a build fails\"\n\nOn a terminal a change of a workflow that is there is shown before it is written, as with --plan; --yes writes at once.\nWithout a terminal, unanswered questions end the run with exit code 4; go on with\n`agentctl answer RUN ID=VALUE` or `agentctl resume --answers FILE`."
)]
pub struct BuildArgs {
    /// What to build or to change, in plain words (`-`: read it from stdin; `@FILE`: from a file)
    #[arg(value_name = "REQUEST", required_unless_present = "file")]
    pub request: Option<String>,
    /// Words that the shell parted because the request is not in quotes
    #[arg(hide = true)]
    pub more: Vec<String>,
    /// Read the request from a text file
    #[arg(long, short, value_name = "FILE", conflicts_with = "request")]
    pub file: Option<PathBuf>,
    /// The workflow to change: a file, or the id of a workflow in the project
    #[arg(long, short, value_name = "FILE|ID")]
    pub workflow: Option<String>,
    /// Let this node act on the outside world in the test run instead of simulating it; may be given several times
    #[arg(long, value_name = "NODE")]
    pub let_act: Vec<String>,
    /// Let a model read out of the request, before any tool is called, which tools of other servers the run needs; it gets no others
    #[arg(long, conflicts_with = "grants")]
    pub plan_tools: bool,
    /// The same list from your own JSON file: {"tools": [{"tool": …, "times": …, "args": {…}}]}
    #[arg(long, value_name = "FILE")]
    pub grants: Option<PathBuf>,
    /// What becomes of a call outside of that list
    #[arg(long, value_name = "WHAT")]
    pub outside_plan: Option<OutsidePlan>,
    /// Let the test run read this host (a GET without an account and without computed values); may be given several times
    #[arg(long, value_name = "HOST", value_parser = Hosts::host)]
    pub test_host: Vec<String>,
    /// Connect new nodes of a service to this account of the n8n, by the credential's type and name; may be given several times
    #[arg(long, value_name = "TYPE=NAME", value_parser = named_account)]
    pub account: Vec<String>,
    /// Show what became of each word of the request (`agentctl explain` shows it without building)
    #[arg(long, conflicts_with = "workflow")]
    pub explain: bool,
    /// Look first: take every recommendation, show the workflow as it would be with the diff and what would be left to do, and write
    /// nothing before your yes. Without a terminal the run waits for it
    #[arg(long, conflicts_with = "yes")]
    pub plan: bool,
    #[command(flatten)]
    pub answers: AnswerOptions,
    #[command(flatten)]
    pub model: ModelOptions,
    #[command(flatten)]
    pub limits: LimitOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutsidePlan {
    /// You are asked; without a terminal the run waits, exit code 4
    Ask,
    /// It is refused, and the run goes on
    Deny,
}

impl From<OutsidePlan> for Outside {
    fn from(typed: OutsidePlan) -> Self {
        match typed {
            OutsidePlan::Ask => Outside::Ask,
            OutsidePlan::Deny => Outside::Deny,
        }
    }
}

fn named_account(text: &str) -> Result<String, &'static str> {
    match text.split_once('=') {
        Some((kind, name)) if !kind.is_empty() && !name.is_empty() => Ok(text.to_owned()),
        _ => Err("write the credential's type and its name, e.g. slackApi=Sales"),
    }
}

/// Said before a model is asked for anything.
fn can_write(backend: &dyn Backend) -> Result<(), CliError> {
    match backend.can().reads_only {
        false => Ok(()),
        true => Err(CliError::new(
            Exit::Backend,
            format!("the {} backend cannot write workflows here", backend.name()),
        )
        .hint(
            "set N8N_API_URL and N8N_API_KEY of the same n8n: workflows are written over its API",
        )),
    }
}

/// The user's timezone among a flow's input, and what stands there where nobody knows it and the user may be asked.
const TIMEZONE: &str = "timezone";
const UNKNOWN: &str = "unknown";

/// No request is this long; a file given by mistake is.
const MAX_REQUEST: usize = 20_000;
const MAX_GRANTS: u64 = 1024 * 1024;

pub fn build(root: &Path, args: &BuildArgs, out: &Output) -> Result<Exit, CliError> {
    let request = match (&args.request, &args.file) {
        (Some(first), _) if !args.more.is_empty() => return Err(parted(first, &args.more)),
        (Some(typed), _) => request(typed)?,
        (None, Some(file)) => whole(&of_file(file)?)?,
        (None, None) => whole("")?,
    };
    let found = nearby::taken(root, &args.model, out)?;
    let pack = session::chosen_pack(root, out)?;
    let session = Session::of_pack(root, &pack, &args.model.or_model(found), out)?;
    if session.models.is_offline() {
        out.note("model: offline (no key needed; it reads plain requests and asks about the rest)");
    }
    if let Some(n8n) = session.any_n8n() {
        can_write(n8n.backend())?;
    }
    let mut input = Map::new();
    if !args.let_act.is_empty() {
        if !session.n8n()?.backend().can().execute {
            out.note(
                "--let-act: nothing is executed here; connect an n8n to have the workflow tested",
            );
        }
        input.insert(LET_ACT.into(), json!(args.let_act));
    }
    for (key, named) in [(TEST_HOSTS, &args.test_host), (ACCOUNTS, &args.account)] {
        if !named.is_empty() {
            input.insert(key.into(), json!(named));
        }
    }
    let workflow = match &args.workflow {
        Some(workflow) => Some(workflow.clone()),
        None => named(&session, &request, out),
    };
    if let Some(workflow) = &workflow {
        let there = known(&session, workflow)?;
        let cases = match &there {
            Some(stored) => cases::known(root, &session.project, stored)?,
            None => Vec::new(),
        };
        if !cases.is_empty() {
            input.insert(CASES.into(), json!(cases));
        }
    }
    // Of a change the words say what differs, not all that is there.
    if workflow.is_none() {
        let asked = acceptance::cases(&request);
        if !asked.is_empty() {
            input.insert(ASKED_CASES.into(), json!(asked));
        } else if let Some(open) = acceptance::open_answer(&request) {
            input.insert(ASKED_ANSWER.into(), json!(open));
        }
    }
    let tz = std::env::var("TZ").ok();
    let around = timezone_around(tz.as_deref(), Path::new("/etc/localtime"));
    session.user.say(around, &mut input);
    // `--yes` asks for nothing that has a default; the notes say which one was taken.
    if !args.answers.yes && session.any_n8n().is_some() {
        input.entry(TIMEZONE).or_insert_with(|| json!(UNKNOWN));
    }
    let is_change = workflow.is_some();
    input.insert(WORKFLOW.into(), json!(workflow));
    let outside = args.outside_plan.map_or(Outside::Ask, Outside::from);
    let grants = match &args.grants {
        Some(path) => Some(read_grants(path)?.at_least(outside)),
        None => None,
    };
    let planned =
        args.plan_tools || (args.outside_plan.is_some() && session.pack.flow.plan_tools.is_some());
    if args.outside_plan.is_some() && !planned && grants.is_none() {
        return Err(CliError::usage("--outside-plan needs a plan of tools")
            .hint("add --plan-tools, or --grants FILE"));
    }
    let answering = session::answering(&args.answers)?;
    let looks = looks(args, is_change, out);
    if looks {
        input.insert(LOOK_FIRST.into(), json!(true));
    }
    let options = RunOptions {
        grants,
        plan_tools: planned.then_some(outside),
        request,
        input,
        answering: Answering {
            yes: answering.yes || args.plan,
            ..answering
        },
        limits: activation::limits(&session.pack, &args.limits)?.over(&session.budgets),
        session: None,
    };
    session.init("build", out)?;
    run(&session, root, args, looks, options, out)
}

/// Each change is shown before it is made: where that was asked for, and where a person at the terminal changes what is there.
fn looks(args: &BuildArgs, is_change: bool, out: &Output) -> bool {
    let person = out.can_ask() && !args.answers.yes && out.is_text();
    args.plan || (person && is_change)
}

/// The workflow that the request itself says to change, beside that word; of names within one another the longest. It is read as a
/// change then, as with `--workflow`. None: it says none, or it cannot be told which; what is wrong with the n8n the first call tells.
fn named(session: &Session, request: &str, out: &Output) -> Option<String> {
    const WORD: &str = "workflow";
    if !request.to_lowercase().contains(WORD) {
        return None;
    }
    let backend = session.any_n8n()?.backend();
    let listing = runtime::block_on(list_all(backend, &ListQuery::default()))
        .ok()?
        .ok()?;
    let found = listing.workflows.into_iter();
    let found: Vec<_> = found.filter(|w| names(request, &w.name)).collect();
    let longest = found.iter().map(|w| w.name.len()).max()?;
    let mut all = found.into_iter().filter(|w| w.name.len() == longest);
    let one = all.next().filter(|_| all.next().is_none())?;
    out.note(&format!(
        "the request names the workflow {:?} ({}): it is changed, and no new one built",
        one.name, one.id
    ));
    Some(one.id.to_string())
}

/// One run, and another one for each wish of a user who looked and wants something to be otherwise.
fn run(
    session: &Session,
    root: &Path,
    args: &BuildArgs,
    looks: bool,
    mut options: RunOptions,
    out: &Output,
) -> Result<Exit, CliError> {
    loop {
        let look = looks.then(Look::default);
        let again = options.clone();
        let asking = (args.answers.no_input, look);
        let start = Start::New(options);
        let ended = activation::look_and_activate(session, root, asking, out, args.explain, start)?;
        let (exit, look) = ended;
        let look = look.unwrap_or_default();
        let Some(wish) = look.wish else {
            return Ok(exit);
        };
        out.note("nothing was written; once more with what you said");
        options = again;
        options.request = whole(&wish::with(&options.request, &wish))?;
        // What was answered on the way to this look is not asked again.
        options.answering.answers.extend(look.answers);
    }
}

/// A workflow of the project's own files is looked for before a run begins. Where an n8n keeps it, the run's first call finds out whether
/// it is there. Gives it where it can be tried out.
fn known(session: &Session, workflow: &str) -> Result<Option<Stored>, CliError> {
    let backend = session.n8n()?.backend();
    if backend.place().is_some() && !backend.can().execute {
        return Ok(None);
    }
    let found = runtime::block_on(async {
        let id = backend.resolve(workflow).await?;
        backend.get(&id).await
    })?;
    match found {
        Err(error) if error.kind == BackendErrorKind::NotFound && backend.place().is_none() => {
            Err(connection::told(Exit::Usage, error))
        }
        // What else is wrong with it is told by the call that reads it.
        Err(_) => Ok(None),
        Ok(stored) => Ok(Some(stored).filter(|_| backend.can().execute)),
    }
}

/// What was typed, or what it names: `-` stdin, `@FILE` a file.
pub(super) fn request(typed: &str) -> Result<String, CliError> {
    whole(&words(typed)?)
}

/// The words alone; they may be none.
pub(super) fn words(typed: &str) -> Result<String, CliError> {
    match typed.strip_prefix('@') {
        Some(file) if !file.is_empty() && !file.contains(char::is_whitespace) => {
            of_file(Path::new(file))
        }
        _ if typed == "-" => session::read_stdin(),
        _ => Ok(typed.to_owned()),
    }
}

/// Far more than a request may have, so that its length is what is told.
const MAX_FILE: u64 = 1024 * 1024;

fn of_file(file: &Path) -> Result<String, CliError> {
    read_given_text(file, MAX_FILE)
        .map_err(|e| CliError::usage(format!("cannot read the request {}: {e}", file.display())))
}

fn parted(first: &str, more: &[String]) -> CliError {
    CliError::usage(format!(
        "the request came in {} pieces: {first:?}, {:?} …",
        more.len() + 1,
        more.first().map_or("", String::as_str)
    ))
    .hint(format!(
        "put it into quotes: agentctl build \"{first} {}\"",
        more.join(" ")
    ))
}

pub(super) fn whole(request: &str) -> Result<String, CliError> {
    let request = request.trim().to_owned();
    if request.is_empty() {
        return Err(CliError::usage("the request is empty")
            .hint("say what to build: agentctl build \"Every day at 9:00 …\""));
    }
    if request.chars().count() > MAX_REQUEST {
        return Err(CliError::usage(format!(
            "the request has more than {MAX_REQUEST} characters"
        ))
        .hint("say what to build in plain words; workflows are named with --workflow"));
    }
    Ok(request)
}

/// A list of tools from the user's own file.
fn read_grants(path: &Path) -> Result<Grants, CliError> {
    let shown = path.display();
    let text = read_regular_text(path, MAX_GRANTS)
        .map_err(|e| CliError::usage(format!("cannot read the grants {shown}: {e}")))?;
    let value = serde_json::from_str(&text).map_err(|e| {
        CliError::usage(format!(
            "{shown}:{}:{}: not valid JSON: {e}",
            e.line(),
            e.column()
        ))
    })?;
    Grants::parse(&value).map_err(|why| CliError::usage(format!("{shown}: {why}")))
}
