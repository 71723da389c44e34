//! `analyze`: why a run went as it did, what can be learned from it, and trends over runs. Reads only, until the user accepts
//! a learning.

mod workflow;

use crate::analysis::{self, Analysis};
use crate::cli::args::ModelOptions;
use crate::cli::ask;
use crate::cli::commands::learnings::{today, told};
use crate::cli::commands::runs::not_yours;
use crate::cli::error::{CliError, Exit};
use crate::cli::folder_trust;
use crate::cli::output::Output;
use crate::cli::progress::{plain, plain_long};
use crate::cli::project;
use crate::cli::session;
use crate::pack;
use agentctl_base::{line_diff, untrusted};
use agentctl_engine::flow::Flow;
use agentctl_engine::pack::{FLOW_FILE, LoadOptions};
use agentctl_engine::run;
use agentctl_engine::store::{Event, Loaded, Project, Record};
use agentctl_engine::view::RunView;
use agentctl_knowledge::{ENTRIES, FOLDER, Learning, Learnings, PATTERNS};
use agentctl_n8n_tools::tools::WORKFLOW;
use clap::Args;
use serde_json::{Value, json};
use std::io::{BufRead as _, Read as _};
use std::path::Path;
use workflow::{explain, only_lived, outside};

/// Lines around a change of a learning.
const CONTEXT: usize = 3;

/// Why a run went as it did, and what can be learned from it; reads only
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl analyze\n  agentctl analyze 019a… --accept-learnings\n  agentctl analyze --since 30d\n  agentctl analyze --workflow orders --executions 20\n  agentctl analyze --explain --model provider::model"
)]
pub struct AnalyzeArgs {
    /// The run; default: the newest
    #[arg(value_name = "RUN", conflicts_with_all = ["workflow", "since"])]
    pub run: Option<String>,
    /// This workflow: its versions, its changes, and the newest run that changed it
    #[arg(long, value_name = "ID", conflicts_with = "since")]
    pub workflow: Option<String>,
    /// Its last executions as well (200 at most), where the backend executes
    #[arg(long, value_name = "N", requires = "workflow")]
    pub executions: Option<usize>,
    /// All runs since then together: 30d, 12h, 2w or YYYY-MM-DD
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Write the proposed learnings, and name them at the patterns that they belong to
    #[arg(long, conflicts_with = "since")]
    pub accept_learnings: bool,
    /// One call of a model on top: claims that name no event, finding or execution of the journal are left out
    #[arg(long, conflicts_with = "since")]
    pub explain: bool,
    #[command(flatten)]
    pub model: ModelOptions,
}

pub fn analyze(root: &Path, args: &AnalyzeArgs, out: &Output) -> Result<Exit, CliError> {
    let project = project::open(root, out)?;
    if let Some(since) = &args.since {
        return trends(root, &project, since, out);
    }
    let lived = match &args.workflow {
        Some(workflow) => Some(outside(root, &project, workflow, args.executions, out)?),
        None => None,
    };
    let run = match (&args.run, &lived) {
        (Some(run), _) => project
            .find_run(run)
            .map_err(|e| CliError::usage(e.to_string()).hint("agentctl runs list"))?,
        (None, Some(lived)) => match newest(&project, Some(&lived.workflow))? {
            Some(run) => run,
            None => return only_lived(lived, out),
        },
        (None, None) => newest(&project, None)?.ok_or_else(|| {
            CliError::usage("there is no run yet").hint("agentctl build \"…\" starts one")
        })?,
    };
    let loaded = read(&project, &run)?;
    // What somebody else wrote is looked at, and no lesson is taken from it.
    let own = loaded.foreign.is_none();
    if args.accept_learnings {
        run::own(&run, loaded.clone()).map_err(|e| session::run_error(&e.into()))?;
    }
    if let Some(foreign) = &loaded.foreign {
        out.note(&not_yours(&run, foreign));
    }
    let short = project.lost_end(&run, &loaded);
    if let Some(short) = short.map_err(|e| CliError::failed(e.to_string()))? {
        out.note(&plain_long(&short.to_string()));
    }
    let pack = RunView::of(&loaded.records)
        .means
        .and_then(|means| means.pack);
    let flow = flow(root, pack.as_deref().unwrap_or(pack::BUILDER), out)?;
    let mut analysis = analysis::analyze(&loaded.records, &flow, &today());
    if let Some(executions) = lived.as_ref().and_then(|l| l.executions.as_ref()) {
        let ids = executions.iter().map(|e| e.id.to_lowercase());
        analysis.known.executions.extend(ids);
    }
    let explained = match args.explain {
        true => Some(explain(root, &args.model, &analysis, lived.as_ref(), out)?),
        false => None,
    };
    let learnings = Learnings::new(project.root());
    let proposed = Proposed::of(&learnings, &analysis)?;
    let accept = args.accept_learnings
        || (own && !proposed.entries.is_empty() && asked(&analysis, &proposed, out)?);
    let accepted = if accept {
        accept_all(&learnings, &analysis)?
    } else {
        Vec::new()
    };
    let ids: Vec<&str> = accepted.iter().map(|e| e.id.as_str()).collect();
    out.answer(
        Exit::Complete,
        || {
            let mut text = lived.as_ref().map_or_else(String::new, |lived| {
                untrusted::text(&analysis::history_markdown(lived)).into_owned() + "\n"
            });
            let said = explained.as_ref().map(analysis::explained_markdown);
            text.push_str(&page(
                &analysis,
                &proposed,
                &ids,
                (args.accept_learnings, said),
            ));
            text
        },
        || {
            let mut value = serde_json::to_value(&analysis).unwrap_or_default();
            if let Value::Object(map) = &mut value {
                map.insert("diff".into(), json!(proposed.diff));
                map.insert("accepted".into(), json!(ids));
                if let Some(explained) = &explained {
                    map.insert("explained".into(), json!(explained));
                }
                if let Some(lived) = &lived {
                    map.insert("history".into(), json!(lived));
                }
            }
            value
        },
    )
}

/// The flow that says where agents write about a cause: that of the run's pack as it is in force, else the built-in one. A pack that is
/// broken, or that waits for its user's word, does not hide how a run went.
fn flow(root: &Path, named: &str, out: &Output) -> Result<Flow, CliError> {
    let own = named != pack::BUILDER || root.join(FLOW_FILE).exists();
    let force = own
        .then(|| folder_trust::in_force(root, out).ok())
        .flatten();
    let in_force = force.and_then(|force| {
        let options = LoadOptions {
            files: force.pack().ok()?,
            allow_loosen: true,
            ..LoadOptions::default()
        };
        pack::named(named, root, &options).ok()
    });
    match in_force {
        Some(pack) => Ok(pack.flow),
        None => (pack::built_in().map(|pack| pack.flow))
            .map_err(|errors| CliError::failed(errors.to_string())),
    }
}

pub(super) fn records(project: &Project, run: &str) -> Result<Vec<Record>, CliError> {
    Ok(read(project, run)?.records)
}

fn read(project: &Project, run: &str) -> Result<Loaded, CliError> {
    run::read(project, run).map_err(|e| CliError::failed(e.to_string()))
}

/// The newest run, or the newest that changed the workflow; None: there is none.
fn newest(project: &Project, workflow: Option<&str>) -> Result<Option<String>, CliError> {
    let mut ids = project
        .run_ids()
        .map_err(|e| CliError::failed(e.to_string()))?;
    while let Some(id) = ids.pop() {
        let Some(workflow) = workflow else {
            return Ok(Some(id));
        };
        let touches = |record: &Record| match &record.event {
            Event::ToolFinished { change, .. } => {
                change.as_ref().is_some_and(|c| c.id() == workflow)
            }
            Event::RunStarted { input, .. } => {
                input.get(WORKFLOW).and_then(Value::as_str) == Some(workflow)
            }
            _ => false,
        };
        // A run that cannot be read is no reason to tell nothing about the others.
        if records(project, &id).is_ok_and(|records| records.iter().any(touches)) {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// What the files would become.
struct Proposed {
    entries: Vec<Learning>,
    /// Unified; empty: nothing new.
    diff: String,
}

impl Proposed {
    fn of(learnings: &Learnings, analysis: &Analysis) -> Result<Proposed, CliError> {
        let text = learnings.text().map_err(|e| told(&e))?;
        let (grown, entries) = analysis::grown(&text, &analysis.proposals);
        let patterns = learnings.patterns_text().map_err(|e| told(&e))?;
        let mut diff = String::new();
        for (file, old, new) in [
            (ENTRIES, &text, &grown),
            (PATTERNS, &patterns, &linked(&patterns, &entries)),
        ] {
            if old != new {
                let name = format!("{FOLDER}/{file}");
                diff.push_str(&line_diff::unified(old, new, CONTEXT, Some((&name, &name))));
            }
        }
        Ok(Proposed { entries, diff })
    }
}

fn linked(patterns: &str, entries: &[Learning]) -> String {
    if patterns.is_empty() || entries.is_empty() {
        return patterns.to_owned();
    }
    analysis::patterns_with(patterns, entries)
}

/// A person at the terminal is asked; nobody else's silence is a yes.
fn asked(analysis: &Analysis, proposed: &Proposed, out: &Output) -> Result<bool, CliError> {
    if !out.is_text() || !out.can_ask() {
        return Ok(false);
    }
    out.note(&untrusted::text(&analysis::markdown(analysis)));
    out.note(&untrusted::text(&proposed.diff));
    ask::sure(
        format!("Accept {} proposed learning(s)?", proposed.entries.len()),
        "yes, every later run may read them",
        "no, leave the files",
    )
}

fn accept_all(learnings: &Learnings, analysis: &Analysis) -> Result<Vec<Learning>, CliError> {
    let mut ids = Vec::new();
    for proposal in &analysis.proposals {
        ids.push(learnings.add(proposal.entry()).map_err(|e| told(&e))?);
    }
    let (entries, _) = learnings.read(&ids).map_err(|e| told(&e))?;
    learnings
        .change_patterns(|text| linked(text, &entries))
        .map_err(|e| told(&e))?;
    Ok(entries)
}

fn page(
    analysis: &Analysis,
    proposed: &Proposed,
    accepted: &[&str],
    (asked_for, said): (bool, Option<String>),
) -> String {
    let mut page = analysis::markdown(analysis);
    page.push_str(&said.unwrap_or_default());
    page.push_str("\n## Proposed learnings\n\n");
    if proposed.entries.is_empty() {
        page.push_str(if analysis.proposals.is_empty() {
            "Nothing that would hold for other workflows.\n"
        } else {
            "Known already.\n"
        });
    } else {
        page.push_str(&format!("```diff\n{}```\n\n", proposed.diff));
        if accepted.is_empty() {
            page.push_str(&format!(
                "Not written. To accept: agentctl analyze {} --accept-learnings\n",
                analysis.run_id
            ));
        }
    }
    if !accepted.is_empty() {
        page.push_str(&format!("Accepted: {}\n", accepted.join(", ")));
    } else if asked_for {
        page.push_str("Nothing to accept.\n");
    }
    untrusted::text(&page).into_owned()
}

fn trends(root: &Path, project: &Project, since: &str, out: &Output) -> Result<Exit, CliError> {
    let from = moment(since)?;
    let flow = flow(root, pack::BUILDER, out)?;
    let mut counting = analysis::Counting::default();
    let mut unreadable = Vec::new();
    for id in project
        .run_ids()
        .map_err(|e| CliError::failed(e.to_string()))?
    {
        // An old run's journal is not read beyond its first line.
        if began(project, &id).is_some_and(|at| at < from) {
            continue;
        }
        match records(project, &id) {
            Ok(records) => counting.add(&analysis::analyze(&records, &flow, &today())),
            Err(error) => unreadable.push(format!("{id}: {error}")),
        }
    }
    for line in &unreadable {
        out.note(&format!("left out: {}", plain(line)));
    }
    let trends = counting.done();
    out.answer(
        Exit::Complete,
        || untrusted::text(&analysis::trends_markdown(&trends, since)).into_owned(),
        || json!({"since": from.to_string(), "trends": trends, "unreadable": unreadable}),
    )
}

/// When a run began; None: its first line cannot be read.
fn began(project: &Project, run: &str) -> Option<jiff::Timestamp> {
    let path = project.run(run).ok()?.journal();
    // A pipe in its place would be waited for.
    let is_file = std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
    let journal = is_file.then(|| std::fs::File::open(&path).ok()).flatten()?;
    let mut line = String::new();
    // The first record holds the request, which has a limit of its own.
    let mut first = std::io::BufReader::new(journal).take(4 << 20);
    first.read_line(&mut line).ok()?;
    let record: Value = serde_json::from_str(&line).ok()?;
    record.get("at")?.as_str()?.parse().ok()
}

/// `30d`, `12h`, `2w` before now, or a date.
fn moment(since: &str) -> Result<jiff::Timestamp, CliError> {
    let wrong = || {
        CliError::usage(format!("{since:?} is no time"))
            .hint("write 30d, 12h, 2w or a date like 2026-01-31")
    };
    let now = jiff::Zoned::now();
    if let Ok(date) = since.parse::<jiff::civil::Date>() {
        let start = date
            .to_zoned(now.time_zone().clone())
            .map_err(|_| wrong())?;
        return Ok(start.timestamp());
    }
    let (count, unit) = since
        .split_at_checked(since.len().saturating_sub(1))
        .ok_or_else(wrong)?;
    let count: i64 = count.parse().map_err(|_| wrong())?;
    let hours = match unit {
        "h" => Some(count),
        "d" => count.checked_mul(24),
        "w" => count.checked_mul(24 * 7),
        _ => None,
    };
    let hours = hours
        .filter(|h| (0..=24 * 3660).contains(h))
        .ok_or_else(wrong)?;
    now.timestamp()
        .checked_sub(jiff::SignedDuration::from_hours(hours))
        .map_err(|_| wrong())
}
