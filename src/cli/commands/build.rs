//! `build`, `resume`, `answer`: one activation of a run each, and its end told.

use crate::cli::args::{AnswerArgs, BuildArgs, LimitOptions, ResumeArgs};
use crate::cli::catalog_file;
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::session::{self, Session};
use crate::cli::traces::Traces;
use crate::cli::watcher::{Terminal, Watcher};
use crate::cli::{ask, choose, report};
use agentctl_n8n_tools::report::{Built, WORKFLOW, WORKFLOW_INPUT};
use agentctl_n8n_tools::tools::ACCOUNTS;
use agentctl_n8n_tools::tools::LET_ACT;
use agentctl_n8n_tools::tools::TEST_HOSTS;

use crate::run::{self, Asker, Budgets, LimitOverrides, Resume, RunError, RunOptions, RunReport};
use agentctl_base::question::Outcome;
use agentctl_engine::policy::{Grants, Outside};
use agentctl_host::files::{read_regular, read_regular_text};
use agentctl_n8n::{Workflow, WorkflowId, catalog::Catalog};
use serde_json::{Map, Value, json};
use std::path::Path;

/// No request is this long; a file given by mistake is.
const MAX_REQUEST: usize = 20_000;
const MAX_GRANTS: u64 = 1024 * 1024;
const MAX_WORKFLOW: u64 = 64 * 1024 * 1024;

pub fn build(root: &Path, args: &BuildArgs, out: &Output) -> Result<Exit, CliError> {
    let request = if args.request == "-" {
        session::read_stdin()?
    } else {
        args.request.clone()
    };
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
    if args.workflow.is_none() && args.model.may_be_offline() {
        agentctl_planner::read_ahead(&request);
    }
    let session = Session::open(root, &args.model, out)?;
    if session.models.is_offline() {
        out.note("model: offline (no key needed; it reads plain requests and asks about the rest)");
    }
    let mut input = Map::new();
    if !args.let_act.is_empty() {
        if !session.gateway.backend().can().execute {
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
    input.insert(WORKFLOW_INPUT.into(), json!(args.workflow));
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
    let options = RunOptions {
        grants,
        plan_tools: planned.then_some(outside),
        request,
        input,
        answering: session::answering(&args.answers)?,
        limits: limits(&session, &args.limits)?.over(&session.budgets),
    };
    session.init("build", out)?;
    activate(
        &session,
        root,
        args.answers.no_input,
        out,
        Start::New(options),
    )
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

pub fn resume(root: &Path, args: &ResumeArgs, out: &Output) -> Result<Exit, CliError> {
    let session = Session::reopen(root, args.run.as_deref(), &args.model, out)?;
    let resume = Resume {
        answering: session::answering(&args.answers)?,
        limits: limits(&session, &args.limits)?,
        allow_other_pack: args.allow_pack_change,
    };
    session.init("resume", out)?;
    activate(
        &session,
        root,
        args.answers.no_input,
        out,
        Start::Resume(args.run.clone(), resume),
    )
}

pub fn answer(root: &Path, args: &AnswerArgs, out: &Output) -> Result<Exit, CliError> {
    let session = Session::reopen(root, Some(&args.run), &args.model, out)?;
    let open = run::show(&session.project, &session.pack, &args.run)
        .map_err(|e| session::run_error(&e))?
        .0
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
    let limits = limits(&session, &args.limits)?;
    session.init("answer", out)?;
    activate(
        &session,
        root,
        true,
        out,
        Start::Answer(args.run.clone(), answers, limits),
    )
}

/// What was typed, as limits of the run and of its agents.
fn limits(session: &Session, options: &LimitOptions) -> Result<Budgets, CliError> {
    let mut budgets = Budgets::default();
    let mut of = |agent: &Option<String>, set: &dyn Fn(&mut LimitOverrides)| {
        set(match agent {
            None => &mut budgets.run,
            Some(agent) => budgets.agents.entry(agent.clone()).or_default(),
        });
    };
    for limit in &options.max_cost {
        of(&limit.agent, &|l| l.max_cost_usd = Some(limit.value));
    }
    for limit in &options.max_tokens {
        of(&limit.agent, &|l| l.max_tokens = Some(limit.value));
    }
    for limit in &options.max_turns {
        of(&limit.agent, &|l| l.max_turns = Some(limit.value));
    }
    for limit in &options.max_time {
        of(&limit.agent, &|l| l.max_seconds = Some(limit.value));
    }
    choose::known_agents(&session.pack, budgets.agents.keys(), "a limit")?;
    Ok(budgets)
}

/// How a run is entered.
enum Start {
    New(RunOptions),
    Resume(Option<String>, Resume),
    Answer(String, Map<String, Value>, Budgets),
}

fn activate(
    session: &Session,
    root: &Path,
    no_input: bool,
    out: &Output,
    start: Start,
) -> Result<Exit, CliError> {
    let let_act = match &start {
        Start::New(options) => options.input.get(LET_ACT).cloned(),
        Start::Resume(..) | Start::Answer(..) => None,
    };
    let resumed = match &start {
        Start::New(_) => None,
        Start::Resume(run, _) => Some(run.as_deref()),
        Start::Answer(run, ..) => Some(Some(run.as_str())),
    };
    let traces = Traces::start(session, resumed, out);
    let mut watcher = Watcher::new(out, session.tape.clone()).traced(traces);
    let progress = watcher.progress.clone();
    let mut terminal = Terminal {
        progress: progress.clone(),
    };
    let asker: Option<&mut dyn Asker> = if !no_input && out.can_ask() {
        Some(&mut terminal)
    } else {
        None
    };
    let context = session.context(&mut watcher, asker);
    let catalog = catalog_file::of(root, out)?;
    let (ended, held) = session::block_on(&session.cancel, async move {
        let ended: Result<RunReport, RunError> = match start {
            Start::New(options) => {
                let backend = session.gateway.backend();
                if let Some(warning) = catalog_file::warning(catalog, backend).await {
                    out.note(&format!("warning: {warning}"));
                }
                run::start(context, options).await
            }
            Start::Resume(run, resume) => run::advance(context, run.as_deref(), resume).await,
            Start::Answer(run, answers, limits) => {
                run::answer(
                    context,
                    Some(&run),
                    answers,
                    Resume {
                        limits,
                        ..Resume::default()
                    },
                )
                .await
            }
        };
        let held = match &ended {
            Ok(report) => held(session, report).await,
            Err(_) => None,
        };
        (ended, held)
    })?;
    progress.finish();
    if let Some(error) = watcher.finish() {
        return Err(error);
    }
    let report = ended.map_err(|e| session::run_error(&e))?;
    if let Some(tape) = &session.tape {
        let is_over = matches!(
            report.outcome,
            Outcome::Complete | Outcome::Blocked | Outcome::Refused | Outcome::Failed
        );
        tape.finish(is_over)
            .map_err(|e| CliError::failed(e.to_string()))?;
    }
    let named = let_act.as_ref().and_then(Value::as_array);
    let named = named.into_iter().flatten().filter_map(Value::as_str);
    if let Some(workflow) = &held {
        for name in named.filter(|name| workflow.node_by_name(name).is_none()) {
            out.note(&format!("--let-act: the workflow has no node {name:?}"));
        }
    }
    tell(root, &report, held, out)
}

/// The workflow that the run left on the n8n, to be shown; one that cannot be read is shown by its address alone.
async fn held(session: &Session, report: &RunReport) -> Option<Workflow> {
    let made = Built::of(&report.made, &report.lost);
    made.n8n?;
    let id = WorkflowId(made.workflow?.id);
    let stored = session.gateway.backend().get(&id).await.ok()?;
    Some(stored.workflow)
}

/// The end of a run: text for people, or the one object. `held`: the workflow, where an n8n keeps it.
pub fn tell(
    root: &Path,
    report: &RunReport,
    held: Option<Workflow>,
    out: &Output,
) -> Result<Exit, CliError> {
    let exit = session::exit_of(report);
    let workflow = match held {
        Some(held) => Workflow::from_value(out.redactor().value(held.to_value())).ok(),
        None => document(root, report, out),
    };
    // A catalog file that broke meanwhile must not hide how the run ended.
    let catalog = catalog_file::of(root, out).unwrap_or_else(|_| Catalog::embedded());
    out.answer(
        exit,
        || report::text(report, workflow.as_ref().map(|w| (w, catalog))),
        || whole(report),
    )
}

/// The workflow's file as it is now, when the run left one. Its secrets are hidden before a long value is cut: half of one is
/// no longer known as a secret.
fn document(root: &Path, report: &RunReport, out: &Output) -> Option<Workflow> {
    // A path that somebody else wrote down could lead anywhere.
    let own = Some(report).filter(|report| report.foreign.is_none());
    let file = own.and_then(|own| Built::of(&own.made, &own.lost).workflow?.file)?;
    let bytes = read_regular(&root.join(file), MAX_WORKFLOW).ok()?;
    let value = serde_json::from_slice(&bytes).ok()?;
    Workflow::from_value(out.redactor().value(value)).ok()
}

/// The report's JSON, with what only the state knows: refusal, notes and what is still to do.
fn whole(report: &RunReport) -> Value {
    let mut value = serde_json::to_value(report).unwrap_or_default();
    let at = |pointer: &str| {
        report
            .state
            .get("requirements")
            .and_then(|r| r.pointer(pointer))
            .cloned()
    };
    let kept = |key: &str| {
        report
            .sections
            .get(WORKFLOW)
            .and_then(|w| w.get(key))
            .cloned()
            .unwrap_or_else(|| json!([]))
    };
    if let Value::Object(map) = &mut value {
        map.insert("todo".into(), kept("todo"));
        map.insert("notes".into(), kept("notes"));
        map.insert("refusal".into(), at("/refusal").unwrap_or(Value::Null));
    }
    value
}
