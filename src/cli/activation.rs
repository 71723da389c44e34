//! One activation of a run, as `build`, `resume` and `answer` enter it, and how its end is told.

use super::args::LimitOptions;
use crate::cli::commands::explain;
use crate::cli::error::{CliError, Exit};
use crate::cli::look::Look;
use crate::cli::observer::{RunObserver, Terminal};
use crate::cli::output::Output;
use crate::cli::progress::plain;
use crate::cli::runtime;
use crate::cli::session::{self, Session};
use crate::cli::traces::Traces;
use crate::cli::{cases, catalog_file, model_choice, report};
use agentctl_base::question::Outcome;
use agentctl_engine::pack::Pack;
use agentctl_engine::run::{
    self, Asker, Budgets, LimitOverrides, Resume, RunError, RunOptions, RunReport, UnusedAnswer,
};
use agentctl_host::files::read_regular;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::{Workflow, WorkflowId};
use agentctl_n8n_tools::report::{Built, WORKFLOW};
use agentctl_n8n_tools::tools::LET_ACT;
use agentctl_planner::explain::explanation;
use serde_json::{Map, Value, json};
use std::path::Path;

const MAX_WORKFLOW: u64 = 64 * 1024 * 1024;

/// What was typed, as limits of the run and of its agents.
pub fn limits(pack: &Pack, options: &LimitOptions) -> Result<Budgets, CliError> {
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
    model_choice::known_agents(pack, budgets.agents.keys(), "a limit")?;
    Ok(budgets)
}

/// How a run is entered.
pub enum Start {
    New(RunOptions),
    Resume(Option<String>, Resume),
    Answer(String, Map<String, Value>, Resume),
}

pub fn activate(
    session: &Session,
    root: &Path,
    no_input: bool,
    out: &Output,
    explains: bool,
    start: Start,
) -> Result<Exit, CliError> {
    let (exit, _) = look_and_activate(session, root, (no_input, None), out, explains, start)?;
    Ok(exit)
}

/// The same for a run whose user looks at each change before it is made; gives back what was said to it. With a wish there nothing is
/// told of the run: another one takes its place.
pub fn look_and_activate(
    session: &Session,
    root: &Path,
    (no_input, look): (bool, Option<Look>),
    out: &Output,
    explains: bool,
    start: Start,
) -> Result<(Exit, Option<Look>), CliError> {
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
    let mut observer = RunObserver::new(out, session.tape.clone()).traced(traces);
    let progress = observer.progress.clone();
    let mut terminal = Terminal::new(&progress);
    terminal.look = look;
    let asker: Option<&mut dyn Asker> = if !no_input && out.can_ask() {
        Some(&mut terminal)
    } else {
        None
    };
    let context = session.context(&mut observer, asker);
    let (ended, held) = runtime::block_on_until(&session.cancel, async move {
        let ended: Result<RunReport, RunError> = match start {
            Start::New(options) => run::start(context, options).await,
            Start::Resume(run, resume) => run::advance(context, run.as_deref(), resume).await,
            Start::Answer(run, answers, resume) => {
                run::answer(context, Some(&run), answers, resume).await
            }
        };
        let held = match &ended {
            Ok(report) => held(session, report).await,
            Err(_) => None,
        };
        (ended, held)
    })?;
    progress.finish();
    if let Some(error) = observer.finish() {
        return Err(error);
    }
    let report = ended.map_err(|e| session::run_error(&e))?;
    if let Some(tape) = &session.tape {
        let is_over = matches!(
            report.outcome,
            Outcome::Complete
                | Outcome::Draft
                | Outcome::Partial
                | Outcome::Blocked
                | Outcome::Refused
                | Outcome::Failed
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
    if terminal
        .look
        .as_ref()
        .is_some_and(|look| look.wish.is_some())
    {
        return Ok((session::exit_of(&report), terminal.look));
    }
    let exit = tell(root, &report, held, explains, out)?;
    if let Some(mistake) = unused_answers(&report) {
        out.mistake(&mistake);
    }
    Ok((exit, terminal.look))
}

/// The answers that no question took, as the mistake that they are; None: there are none.
fn unused_answers(report: &RunReport) -> Option<CliError> {
    let (first, more) = report.unused_answers.split_first()?;
    let named = |unused: &UnusedAnswer| {
        let meant = unused.meant.as_deref();
        let meant = meant.map(|m| format!(" (did you mean {:?}?)", plain(m)));
        format!("{:?}{}", plain(&unused.key), meant.unwrap_or_default())
    };
    let all: Vec<String> = std::iter::once(first).chain(more).map(named).collect();
    let open: Vec<String> = report.questions.iter().map(|q| plain(&q.id)).collect();
    let error = CliError::usage(format!(
        "no question has this id or topic, so the answer was not used: {}",
        all.join(", ")
    ));
    Some(match open.as_slice() {
        [] => error.hint(format!(
            "no question is open; the run went to its end without it (agentctl runs show {}; agentctl undo takes it back)",
            report.run_id
        )),
        open => error.hint(format!(
            "open: {}; agentctl answer {} {}=…",
            open.join(", "),
            report.run_id,
            open.first().map_or("ID", String::as_str)
        )),
    })
}

/// The workflow that the run left on the n8n, to be shown; one that cannot be read is shown by its address alone.
async fn held(session: &Session, report: &RunReport) -> Option<Workflow> {
    let made = Built::of(&report.made, &report.lost);
    made.n8n?;
    let id = WorkflowId(made.workflow?.id);
    let stored = session.any_n8n()?.backend().get(&id).await.ok()?;
    Some(stored.workflow)
}

/// The end of a run: text for people, or the one object. `held`: the workflow, where an n8n keeps it. `explains`: with what became
/// of each word of the request.
pub fn tell(
    root: &Path,
    report: &RunReport,
    held: Option<Workflow>,
    explains: bool,
    out: &Output,
) -> Result<Exit, CliError> {
    let exit = match (session::exit_of(report), not_served(report)) {
        (Exit::Complete, Some(error)) => {
            out.note(&format!(
                "the run came to its end, and what was asked for did not: data.error is {error}"
            ));
            Exit::Failed
        }
        (exit, _) => exit,
    };
    let workflow = match held {
        Some(held) => Workflow::from_value(out.redactor().value(held.to_value())).ok(),
        None => document(root, report, out),
    };
    // A catalog file that broke meanwhile must not hide how the run ended.
    let catalog = catalog_file::of(root, out).unwrap_or_else(|_| Catalog::embedded());
    let explained = workflow.as_ref().filter(|_| explains);
    let explained = explained.map(|w| explanation(&report.request, Some(w), catalog));
    out.answer(
        exit,
        || {
            let text = report::text(report, workflow.as_ref().map(|w| (w, catalog)));
            match &explained {
                Some(explained) => format!("{text}\n{}", explain::text(explained)),
                None => text,
            }
        },
        || {
            let mut value = whole(report);
            if let Value::Object(map) = &mut value {
                map.insert("exit_code".into(), exit.code().into());
                if let Some(explained) = &explained {
                    map.insert("explained".into(), json!(explained));
                }
            }
            value
        },
    )
}

/// By which errors in its data an output says that it is none of what was asked for (docs/assistant.md).
const NOT_SERVED: [&str; 3] = ["tool_failed", "timeout", "unknown"];

/// That error of a run's output; None: it says none of them.
fn not_served(report: &RunReport) -> Option<&str> {
    let error = report
        .output
        .as_ref()?
        .get("data")?
        .get("error")?
        .as_str()?;
    NOT_SERVED.contains(&error).then_some(error)
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
    // What a run that waits would leave to do stands beside the document that it would write.
    let open = report.questions.iter().filter_map(|q| q.proposal.as_ref());
    let ahead = open.filter_map(|proposal| proposal.glance.as_ref()).next();
    let left = |key: &str| match (ahead, key) {
        (Some(glance), "todo") => json!(glance.todo),
        (Some(glance), _) => json!(glance.notes),
        (None, key) => kept(key),
    };
    if let Value::Object(map) = &mut value {
        map.insert("todo".into(), left("todo"));
        map.insert("notes".into(), left("notes"));
        map.insert("refusal".into(), at("/refusal").unwrap_or(Value::Null));
        let cases = match ahead {
            Some(glance) => glance.cases.as_slice(),
            None => cases::of_state(&report.state),
        };
        if !cases.is_empty() {
            map.insert("cases".into(), json!(cases));
        }
        let decision = report.state.get("decision");
        let other = decision.and_then(|d| d.get("could_change"));
        map.extend(
            other
                .filter(|other| other.is_object())
                .map(|other| ("could_change".into(), other.clone())),
        );
    }
    value
}
