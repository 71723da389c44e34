//! `undo`: taking back what was done to workflows, with the diff of what that changed.

use super::diff::text as diff_text;
use crate::cli::args::ModelOptions;
use crate::cli::ask;
use crate::cli::error::{CliError, Exit};
use crate::cli::look;
use crate::cli::observer::{RunObserver, Terminal};
use crate::cli::output::Output;
use crate::cli::progress::plain;
use crate::cli::project;
use crate::cli::runtime;
use crate::cli::session::{self, Session};
use crate::cli::streams;
use crate::cli::words::{LISTED, in_words};
use agentctl_base::shell;
use agentctl_engine::run::{
    self, Asker, RunError, RunSummary, Undo, UndoReport, UndoTerms, Undone, UndoneHow,
};
use agentctl_engine::store::{Event, Project, Record};
use agentctl_engine::view::RunView;
use agentctl_n8n::Workflow;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n_tools::tools::{Push, glance_at};
use clap::Args;
use console::style;
use serde_json::Value;
use std::path::Path;

/// Take back what a run changed, all of it or down to one of its changes
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl undo\n  agentctl undo 20261121-1009 --to 2\n  agentctl undo --plan\n  agentctl undo --workflow orders\n  agentctl undo --workflow orders --to 0\n  agentctl undo --target prod --plan\n\nChanges are numbered from 1; `agentctl log RUN` and `agentctl log --workflow ID` show the numbers. State N is what change N left, 0 is what was there before the first. An undo is a change too: `--to` a later number brings back what was undone."
)]
pub struct UndoArgs {
    /// The run whose changes are taken back; default: the active run
    #[arg(value_name = "RUN", conflicts_with = "workflow")]
    pub run: Option<String>,
    /// Take back what the last run did to this workflow, instead of a whole run
    #[arg(long, value_name = "ID|FILE")]
    pub workflow: Option<String>,
    /// Put it as change N left it (0: as before the first change); default: as before the run
    #[arg(long, value_name = "N")]
    pub to: Option<u32>,
    /// Also when the workflow was changed since by somebody else
    #[arg(long)]
    pub force: bool,
    /// Allow what would be asked: publish (the workflow is active, so that the change is live at once)
    #[arg(long, value_name = "GUARD", value_parser = ["publish"])]
    pub allow: Vec<String>,
    /// The n8n that it was pushed to, a target of agentctl.toml; without RUN: the last push to it
    #[arg(long, value_name = "NAME")]
    pub target: Option<String>,
    /// Look first: show what would be taken back and what would be left to do. On a terminal you then say yes or no; elsewhere nothing
    /// is changed
    #[arg(long)]
    pub plan: bool,
    /// Never ask on the terminal
    #[arg(long)]
    pub no_input: bool,
}

/// What was, or would be, taken back: of the run itself, and of those that worked on its calls, by their packs.
struct TakenBack {
    own: UndoReport,
    linked: Vec<(String, UndoReport)>,
}

impl TakenBack {
    /// Whether there is anything of that.
    fn changes(&self) -> bool {
        let linked = self.linked.iter().map(|(_, report)| report);
        let mut all = linked.chain([&self.own]).flat_map(|of| &of.resources);
        all.any(|item| item.what != UndoneHow::Unchanged)
    }
}

pub fn undo(root: &Path, args: &UndoArgs, out: &Output) -> Result<Exit, CliError> {
    let taken = taken_back(root, args, args.plan, out)?;
    let asks = args.plan && !args.no_input && out.is_text() && out.can_ask();
    if !(asks && taken.changes()) {
        return told(&taken, args, args.plan, out);
    }
    streams::tell(&text(&taken, args, true));
    let question = "Take this back? Nothing is changed before you say yes.".to_owned();
    if !ask::sure(
        question,
        "yes, take it back",
        "no, leave everything as it is",
    )? {
        streams::tell(&format!(
            "{} you said no; nothing was changed\n",
            style("refused:").for_stderr().red().bold()
        ));
        return Ok(Exit::Refused);
    }
    let taken = taken_back(root, args, false, out)?;
    told(&taken, args, false, out)
}

/// `plan`: only what would be done.
fn taken_back(
    root: &Path,
    args: &UndoArgs,
    plan: bool,
    out: &Output,
) -> Result<TakenBack, CliError> {
    if let Some((run_id, members)) = of_linked(root, args, out)? {
        let mut linked = all(root, args, &members, plan, out)?;
        let own = linked
            .iter()
            .position(|(_, report)| report.run_id == run_id);
        let own = own.map(|at| linked.remove(at).1);
        let none = UndoReport {
            run_id,
            resources: Vec::new(),
            redo: None,
        };
        return Ok(TakenBack {
            own: own.unwrap_or(none),
            linked,
        });
    }
    let (target, offline) = (args.target.as_deref(), ModelOptions::offline());
    let session = match (&args.workflow, target) {
        (None, None) => Session::to_undo(root, args.run.as_deref(), target, &offline, out)?,
        _ => Session::at(root, target, &offline, out)?,
    };
    let what = match (&args.workflow, &args.run, &args.target) {
        (Some(id), ..) => Undo::Resource(id.clone()),
        (None, None, Some(target)) => Undo::Run(Some(last_pushed(&session.project, target)?)),
        (None, run, _) => Undo::Run(run.clone()),
    };
    session.init("undo", out)?;
    let own = match one(&session, what, args, plan, out) {
        Err(error) if error.exit == Exit::Usage && args.run.is_none() => {
            return Err(with_another(error, &session.project));
        }
        own => own?,
    };
    let linked = Vec::new();
    Ok(TakenBack { own, linked })
}

/// Names the last run that there is something to take back of.
fn with_another(error: CliError, project: &Project) -> CliError {
    let runs = run::list(project).unwrap_or_default();
    let can_be = |run: &&RunSummary| {
        !run.taken_back
            && !run.resources.is_empty()
            && run.foreign.is_none()
            && run.broken.is_none()
    };
    match runs.iter().rev().find(can_be) {
        Some(run) => error.hint(format!(
            "the last run that changed something is {id}: agentctl undo {id}",
            id = plain(&run.run_id)
        )),
        None => error.hint("no run of this project changed anything that could be taken back"),
    }
}

/// One undo; `plan`: only what it would do.
fn one(
    session: &Session,
    what: Undo,
    args: &UndoArgs,
    plan: bool,
    out: &Output,
) -> Result<UndoReport, CliError> {
    let mut observer = RunObserver::new(out, None);
    let progress = observer.progress.clone();
    let mut terminal = Terminal::new(&progress);
    let can_ask = !args.no_input && out.can_ask();
    let asker = can_ask.then_some(&mut terminal as &mut dyn Asker);
    let context = session.context(&mut observer, asker);
    let terms = UndoTerms {
        to: args.to,
        force: args.force,
        allow_publish: args.allow.iter().any(|guard| guard == "publish"),
        plan,
    };
    let done = runtime::block_on_until(&session.cancel, run::undo_by(context, what, terms))?;
    progress.finish();
    if let Some(error) = observer.finish() {
        return Err(error);
    }
    done.map_err(|e| session::run_error(&e))
}

/// A run and those that worked on its calls.
struct Member {
    run_id: String,
    pack: String,
    /// When it changed something last.
    last: (Option<u64>, String),
}

/// A run whose calls other runs worked on, and which of them all changed something, the last change first. None: no other run did, or
/// numbers of one run's changes were given.
fn of_linked(
    root: &Path,
    args: &UndoArgs,
    out: &Output,
) -> Result<Option<(String, Vec<Member>)>, CliError> {
    if args.workflow.is_some() || args.target.is_some() || args.to.is_some() {
        return Ok(None);
    }
    let project = project::open(root, out)?;
    let told = |error: RunError| session::run_error(&error);
    let run_id = run::run_named(&project, args.run.as_deref()).map_err(told)?;
    // What is wrong with the run itself is told by its undo.
    let Ok(view) = run::view(&project, &run_id) else {
        return Ok(None);
    };
    let mut members = Vec::new();
    let linked = run::linked(&project, &view);
    if linked.is_empty() {
        return Ok(None);
    }
    let mut add = |pack: &str, view: &RunView| {
        if let Some(last) = view.changes.last() {
            members.push(Member {
                run_id: view.run_id.clone(),
                pack: pack.to_owned(),
                last: (last.turn, last.at.clone()),
            });
        }
    };
    add("", &view);
    for one in &linked {
        match &one.view {
            Ok(view) => add(&one.link.pack, view),
            Err(why) => out.note(&format!(
                "what run {} did is not looked at: {}",
                one.link.run_id,
                plain(why)
            )),
        }
    }
    if members.is_empty() {
        let ids: Vec<&str> = linked.iter().map(|one| one.link.run_id.as_str()).collect();
        return Err(CliError::usage(format!(
            "run {run_id} changed no workflow, and neither did what worked for it ({})",
            ids.join(", ")
        )));
    }
    members.sort_by(|a, b| b.last.cmp(&a.last));
    Ok(Some((run_id, members)))
}

/// Takes all of them back, or none: what one of them refuses is known before the first is touched.
fn all(
    root: &Path,
    args: &UndoArgs,
    members: &[Member],
    only_plan: bool,
    out: &Output,
) -> Result<Vec<(String, UndoReport)>, CliError> {
    let mut reports: Vec<(String, UndoReport)> = Vec::new();
    for plan in [true, false] {
        if !plan && only_plan {
            break;
        }
        reports.clear();
        for member in members {
            let run = Some(member.run_id.as_str());
            let session = Session::to_undo(root, run, None, &ModelOptions::offline(), out)?;
            if plan && reports.is_empty() {
                session.init("undo", out)?;
            }
            let what = Undo::Run(Some(member.run_id.clone()));
            let done = one(&session, what, args, plan, out);
            let done = done.map_err(|mut error| {
                let before: Vec<&str> = reports.iter().map(|(_, r)| r.run_id.as_str()).collect();
                let before = match (plan, before.is_empty()) {
                    (false, false) => format!("taken back before: {}", before.join(", ")),
                    _ => "nothing was taken back".to_owned(),
                };
                error.message = format!("run {}: {}; {before}", member.run_id, error.message);
                error
            })?;
            reports.push((member.pack.clone(), done));
        }
    }
    Ok(reports)
}

fn told(taken: &TakenBack, args: &UndoArgs, plan: bool, out: &Output) -> Result<Exit, CliError> {
    out.answer(
        Exit::Complete,
        || {
            let mut text = text(taken, args, plan);
            if plan && taken.changes() {
                text.push_str("nothing was changed: without --plan this is done\n");
            }
            text
        },
        || {
            let mut listed = in_words(&taken.own, LISTED);
            let linked = taken.linked.iter().map(|(pack, report)| {
                let mut one = in_words(report, LISTED);
                if let Some(map) = one.as_object_mut() {
                    map.insert("pack".into(), pack.as_str().into());
                }
                one
            });
            let linked: Vec<Value> = linked.collect();
            if let Some(map) = listed.as_object_mut() {
                if !linked.is_empty() {
                    map.insert("linked".into(), linked.into());
                }
                if plan {
                    map.insert("plan".into(), true.into());
                }
            }
            listed
        },
    )
}

/// The run that pushed to a target last, of those that were not taken back.
fn last_pushed(project: &Project, target: &str) -> Result<String, CliError> {
    let told = |error: RunError| session::run_error(&error);
    let is_push = |record: &Record| match &record.event {
        Event::ToolIntent { call, .. } => serde_json::from_str(&call.arguments)
            .is_ok_and(|arguments| Push::is_to(&call.name, &arguments, target)),
        _ => false,
    };
    let runs = run::list(project).map_err(told)?;
    let stands = |run: &&RunSummary| !run.taken_back && !run.resources.is_empty();
    // Calls by hand have a session; a run of the flow pushes nothing.
    let by_hand = runs.iter().rev().filter(|run| run.session.is_some());
    for one in by_hand.filter(stands) {
        let journal = run::read(project, &one.run_id).map_err(|e| told(e.into()))?;
        if journal.records.iter().any(is_push) {
            return Ok(one.run_id.clone());
        }
    }
    Err(
        CliError::usage(format!("there is no push to the target {target:?} to take back"))
            .hint("agentctl runs list shows every run; agentctl undo RUN --target NAME takes one of them back"),
    )
}

fn text(taken: &TakenBack, args: &UndoArgs, plan: bool) -> String {
    let mut text = String::new();
    for (pack, one) in &taken.linked {
        text.push_str(&format!("run {} ({}):\n", plain(&one.run_id), plain(pack)));
        text.push_str(&text_of(one, args, plan));
    }
    if taken.linked.is_empty() || !taken.own.resources.is_empty() {
        text.push_str(&text_of(&taken.own, args, plan));
    }
    text
}

fn text_of(report: &UndoReport, args: &UndoArgs, plan: bool) -> String {
    let mut text = String::new();
    for item in &report.resources {
        // A planned undo shows what it would leave there.
        let after = item
            .planned
            .as_ref()
            .filter(|_| item.what != UndoneHow::Unchanged);
        let after = after.and_then(|after| Workflow::from_value(after.content.clone()).ok());
        if let Some(after) = &after {
            let lines = &item.difference.lines;
            let changes = |node: &str| lines.iter().any(|line| line.contains(node));
            text.push_str(&look::document(after, changes));
        }
        text.push_str(&diff_text(&item.difference));
        if let Some(after) = &after {
            text.push_str(&look::known(&glance_at(after, Catalog::embedded())));
        }
        text.push_str(&format!(
            "{}: {}\n",
            style(plain(&item.resource.id)).bold(),
            how(item, args, plan)
        ));
        if let Some(snapshot) = &item.snapshot {
            text.push_str(&format!(
                "  as it was a moment ago: memory/runs/{}/snapshots/{snapshot}\n",
                report.run_id
            ));
        }
    }
    if report.resources.is_empty() {
        text.push_str(&format!(
            "nothing to take back: run {} changed no workflow after that\n",
            report.run_id
        ));
    }
    if let Some(number) = report.redo {
        let at = args
            .target
            .as_ref()
            .map(|name| format!(" --target {}", shell::word(name)));
        let at = at.unwrap_or_default();
        text.push_str(&format!(
            "next: agentctl undo {}{at} --to {number} takes this undo back\n",
            report.run_id
        ));
    }
    text
}

fn how(item: &Undone, args: &UndoArgs, plan: bool) -> String {
    let would = if plan { "would be " } else { "" };
    let then = match (item.to, &args.workflow) {
        (0, None) => "it was before the run".to_owned(),
        (0, Some(_)) => "it was before the first change that is kept".to_owned(),
        (number, _) => format!("change {number} left it"),
    };
    match item.what {
        UndoneHow::PutBack => format!("{would}put back as {then}"),
        UndoneHow::Removed if item.to == 0 && args.workflow.is_none() => {
            format!("{would}removed: the run had created it")
        }
        UndoneHow::Removed => format!("{would}removed: it did not exist then"),
        UndoneHow::Restored => format!("{would}restored as {then}"),
        UndoneHow::Unchanged => format!("already as {then}"),
    }
}
