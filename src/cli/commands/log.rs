//! `agentctl log`: the records of a run in words, from its beginning or while it goes on; or the changes of a workflow over all runs.
//! It takes no lock and writes nothing.

use super::runs::{all_runs, not_yours};
use crate::cli::args::{ModelOptions, OutputFormat};
use crate::cli::error::{CliError, Exit};
use crate::cli::fit;
use crate::cli::output::{Output, write_to_reader};
use crate::cli::progress::{plain, plain_long};
use crate::cli::project;
use crate::cli::runtime;
use crate::cli::session::{self, Session};
use crate::cli::timeline::{Detail, Timeline, history_line, outcome};
use agentctl_base::counted::counted;
use agentctl_base::question::Outcome;
use agentctl_base::shell;
use agentctl_engine::run::{self, Made, Numbering, RunUsage};
use agentctl_engine::store::{Event, Held, Link, Project, ProjectLock, Record, Side, Tail};
use agentctl_engine::view::RunView;
use clap::Args;
use console::style;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// Read a run's journal as a story: who did what, when, by which rule, at what cost
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl log\n  agentctl log 20261121-1009 --since 40\n  agentctl log --follow\n  agentctl log --workflow orders\n\nWith --follow it ends when the run ends, waits for an answer, or is found dead."
)]
pub struct LogArgs {
    /// The run; default: the active one
    #[arg(value_name = "RUN", conflicts_with = "workflow")]
    pub run: Option<String>,
    /// The numbered changes of this workflow over all runs, instead of a run
    #[arg(long, value_name = "ID|FILE", conflicts_with_all = ["follow", "since"])]
    pub workflow: Option<String>,
    /// Go on with what comes, until the run ends or stops
    #[arg(long, short)]
    pub follow: bool,
    /// Only records from this number on
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub since: u64,
}

/// How long a follower sleeps between two looks at the journal.
const LOOK: Duration = Duration::from_millis(200);
/// After so many looks without news a follower asks whether the run is still alive.
const LOOKS_BEFORE_ASKING: u32 = 10;

pub fn log(root: &Path, args: &LogArgs, out: &Output) -> Result<Exit, CliError> {
    match &args.workflow {
        Some(named) => history(root, named, out),
        None => records(root, args, out),
    }
}

fn history(root: &Path, named: &str, out: &Output) -> Result<Exit, CliError> {
    let session = Session::open(root, &ModelOptions::offline(), out)?;
    let (project, resources) = (&session.project, session.gateway.resources());
    let runs = all_runs(project, out)?;
    let made = runtime::block_on(runs.changes(resources, named))?;
    let (id, made) = made.map_err(|e| session::run_error(&e))?;
    out.answer(
        Exit::Complete,
        || {
            let lines: String = made.iter().map(history_line).collect();
            format!(
                "{lines}next: agentctl undo --workflow {} --to N puts it as change N left it (0: as before the first)\n",
                shell::word(&id)
            )
        },
        || json!({"workflow_id": id, "changes": listed(&made)}),
    )
}

/// What is gathered while records go by.
#[derive(Default)]
struct Gathered {
    seen: u64,
    usage: RunUsage,
    /// A process is at work, as far as the journal says.
    at_work: Option<u32>,
    came_to: Option<Outcome>,
    numbering: Numbering,
    made: Vec<Made>,
    /// Kept for `--output-format json` only.
    records: Vec<Record>,
    /// The runs whose stories were told.
    known: BTreeSet<String>,
}

impl Gathered {
    fn take(&mut self, run_id: &str, record: &Record) {
        self.seen = record.seq;
        self.made.extend(self.numbering.take(run_id, record));
        match &record.event {
            Event::ModelAnswered { answer, .. } => self.usage.add_answer(&answer.usage),
            Event::ToolFinished { .. } => self.usage.tool_calls += 1,
            Event::ActivationStarted { pid, .. } => self.at_work = Some(*pid),
            Event::ActivationEnded { outcome, .. } => {
                self.at_work = None;
                self.came_to = Some(*outcome);
            }
            _ => {}
        }
    }
}

fn records(root: &Path, args: &LogArgs, out: &Output) -> Result<Exit, CliError> {
    let project = project::open(root, out)?;
    let run_id =
        run::run_named(&project, args.run.as_deref()).map_err(|e| session::run_error(&e))?;
    let paths = project
        .run(&run_id)
        .map_err(|e| CliError::failed(e.to_string()))?;
    let mut tail = Tail::new(&paths.journal()).of(project.marks(&run_id));
    let mut told = false;
    let mut timeline = Timeline::new(Detail::Whole).since(args.since);
    let mut gathered = Gathered::default();
    out.stream(&json!({
        "type": "init", "agentctl": env!("CARGO_PKG_VERSION"), "command": "log", "run_id": run_id,
    }))?;
    let mut looks = 0;
    let ended = loop {
        let (records, read) = tail.more();
        if let Some(foreign) = tail.foreign().filter(|_| !told) {
            told = true;
            out.note(&not_yours(&run_id, foreign));
        }
        looks = if records.is_empty() { looks + 1 } else { 0 };
        for record in &records {
            gathered.take(&run_id, record);
            if !show(record, args.since, &mut timeline, &mut gathered, out)?
                || !show_linked(&project, &run_id, record, args.since, &mut gathered, out)?
            {
                return Ok(Exit::Complete);
            }
        }
        read.map_err(|e| CliError::failed(e.to_string()))?;
        if gathered.seen == 0 {
            // A journal that is lost has nothing to say, and that is to be said.
            run::read(&project, &run_id).map_err(|e| CliError::failed(e.to_string()))?;
        }
        if !args.follow || gathered.at_work.is_none() {
            break None;
        }
        if looks > 0 && looks % LOOKS_BEFORE_ASKING == 0 && !is_alive(&project, &run_id, &gathered)?
        {
            break Some("nobody works on this run any more: it was killed".to_owned());
        }
        std::thread::sleep(LOOK);
    };
    let short = project.ends_too_soon(&run_id, gathered.seen);
    if let Some(short) = short.map_err(|e| CliError::failed(e.to_string()))? {
        out.note(&plain_long(&short.to_string()));
    }
    out.answer(
        Exit::Complete,
        || footer(&run_id, &gathered, ended.as_deref()),
        || {
            let mut result = json!({
                "run_id": run_id,
                "outcome": gathered.came_to.filter(|_| gathered.at_work.is_none()),
                "usage": gathered.usage,
                "changes": listed(&gathered.made),
                "foreign": tail.foreign(),
            });
            let linked = linked(&project, &run_id);
            if let Some(map) = result.as_object_mut().filter(|_| !linked.is_empty()) {
                map.insert("linked".into(), linked.into());
            }
            if let (OutputFormat::Json, Some(map)) = (out.format, result.as_object_mut()) {
                map.insert("records".into(), json!(gathered.records));
            }
            result
        },
    )
}

/// Changes as a program reads them. They are n8n's: the words are those of its workflows.
fn listed(made: &[Made]) -> Vec<Value> {
    let one = |made: &Made| {
        json!({
            "number": made.number,
            "run_id": made.run_id,
            "seq": made.seq,
            "at": made.at,
            "by": made.by,
            "workflow_id": made.change.id(),
            "before": made.change.before,
            "after": made.change.after,
            "node_count": made.change.size,
            "snapshot": made.change.snapshot,
        })
    };
    made.iter().map(one).collect()
}

/// False when nobody reads any more.
fn show(
    record: &Record,
    since: u64,
    timeline: &mut Timeline,
    gathered: &mut Gathered,
    out: &Output,
) -> Result<bool, CliError> {
    match out.format {
        OutputFormat::Text => {
            let text = timeline.lines(record);
            Ok(text.is_empty() || write_to_reader(fit::for_stdout(&text).as_bytes())?)
        }
        _ if record.seq < since => Ok(true),
        OutputFormat::StreamJson => write_to_reader(format!("{}\n", record.line()).as_bytes()),
        OutputFormat::Json => {
            gathered.records.push(record.clone());
            Ok(true)
        }
    }
}

/// In words for people the story of a run that worked on a call stands behind the call. False when nobody reads any more.
fn show_linked(
    project: &Project,
    run_id: &str,
    record: &Record,
    since: u64,
    gathered: &mut Gathered,
    out: &Output,
) -> Result<bool, CliError> {
    match &record.event {
        Event::Linked(link)
            if out.format == OutputFormat::Text
                && record.seq >= since
                && link.side == Side::Child =>
        {
            let text = story(project, run_id, link, &mut gathered.known);
            Ok(text.is_empty() || write_to_reader(fit::for_stdout(&text).as_bytes())?)
        }
        _ => Ok(true),
    }
}

/// What stands before each line of another run's story.
const WITHIN: &str = "      │ ";

fn story(project: &Project, of: &str, link: &Link, known: &mut BTreeSet<String>) -> String {
    if !known.insert(link.run_id.clone()) {
        return String::new();
    }
    let records = match run::read(project, &link.run_id) {
        Ok(loaded) => loaded.records,
        Err(why) => return format!("{WITHIN}{}\n", plain(&why.to_string())),
    };
    let parent = RunView::of(&records)
        .parent()
        .map(|parent| parent.run_id.clone());
    if parent.as_deref() != Some(of) {
        return format!("{WITHIN}its journal does not say that it worked for this run\n");
    }
    let mut timeline = Timeline::new(Detail::Whole);
    let mut text = String::new();
    for record in &records {
        text.push_str(&timeline.lines(record));
        if let Event::Linked(further) = &record.event
            && further.side == Side::Child
        {
            text.push_str(&story(project, &link.run_id, further, known));
        }
    }
    text.lines()
        .map(|line| format!("{WITHIN}{line}\n"))
        .collect()
}

/// The runs that worked on calls of it, for programs.
fn linked(project: &Project, run_id: &str) -> Vec<Value> {
    let linked = run::view(project, run_id).map(|view| run::linked(project, &view));
    let one = |one: run::Linked| {
        let mut told =
            json!({"run_id": one.link.run_id, "pack": one.link.pack, "depth": one.depth});
        if let Some(map) = told.as_object_mut() {
            match one.view {
                Ok(view) => {
                    let outcome = view
                        .ended
                        .map(|ended| ended.outcome)
                        .or(view.activation_outcome);
                    map.insert("outcome".into(), json!(outcome));
                    map.insert("usage".into(), json!(view.usage));
                }
                Err(why) => {
                    map.insert("error".into(), why.into());
                }
            }
        }
        told
    };
    linked.unwrap_or_default().into_iter().map(one).collect()
}

/// The process that said it works is there, or somebody holds the project for this run.
fn is_alive(project: &Project, run_id: &str, gathered: &Gathered) -> Result<bool, CliError> {
    let held =
        ProjectLock::held(&project.lock_file()).map_err(|e| CliError::failed(e.to_string()))?;
    Ok(match held {
        Held::By(Some(holder)) => holder.run_id.is_none_or(|id| id == run_id),
        Held::By(None) => true,
        // A process that takes the lock for each change holds none between two.
        Held::No => gathered
            .at_work
            .is_some_and(|pid| Path::new("/proc").join(pid.to_string()).is_dir()),
    })
}

fn footer(run_id: &str, gathered: &Gathered, ended: Option<&str>) -> String {
    let usage = &gathered.usage;
    let cost = match usage.cost_usd {
        None if usage.model_calls > 0 => ", cost unknown".to_owned(),
        Some(cost) if cost > 0.0 => format!(", ${cost:.4}"),
        _ => String::new(),
    };
    let tokens = match usage.input_tokens + usage.output_tokens {
        0 => String::new(),
        tokens => format!(", {tokens} tokens"),
    };
    let state = match (ended, gathered.at_work, gathered.came_to) {
        (Some(why), _, _) => format!("{why}; `agentctl resume {run_id}` goes on with it"),
        (None, Some(_), _) => {
            "not ended; `agentctl log --follow` goes on with what comes".to_owned()
        }
        (None, None, came_to) => outcome(came_to).to_owned(),
    };
    let mut text = format!(
        "{}\n",
        style(format!(
            "run {}: {state}; {}, {}, {}{tokens}{cost}",
            plain(run_id),
            counted(gathered.seen, "record"),
            counted(usage.model_calls, "model call"),
            counted(usage.tool_calls, "tool call")
        ))
        .bold()
    );
    if let Some(last) = gathered.made.last() {
        text.push_str(&format!(
            "next: agentctl undo {run_id} --to N puts things as change N left them (1 to {}; 0: as before the run)\n",
            last.number
        ));
    }
    text
}
