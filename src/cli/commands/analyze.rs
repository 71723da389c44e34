//! `analyze`: why a run went as it did, what can be learned from it, and trends over runs. Reads only, until the user accepts
//! a learning.

use super::learnings::{today, told};
use crate::analysis::{self, Analysis};
use crate::backend::{BackendErrorKind, ExecutionHead, ExecutionQuery};
use crate::cli::args::ModelOptions;
use crate::cli::ask;
use crate::cli::error::{CliError, Exit};
use crate::cli::learning_args::AnalyzeArgs;
use crate::cli::output::Output;
use crate::cli::progress::plain;
use crate::cli::session::{self, Session};
use crate::gateway::untrusted;
use crate::knowledge::{ENTRIES, FOLDER, Learning, Learnings, PATTERNS};
use crate::run::Asked;
use crate::store::event::QuestionOption;
use crate::store::{Event, Journal, Project, Question, Record};
use serde_json::{Value, json};
use similar::TextDiff;
use std::path::Path;

pub fn analyze(root: &Path, args: &AnalyzeArgs, out: &Output) -> Result<Exit, CliError> {
    let project = Project::open(root).map_err(|e| CliError::failed(e.to_string()))?;
    if let Some(since) = &args.since {
        return trends(&project, since, out);
    }
    if let (Some(workflow), Some(most)) = (&args.workflow, args.executions) {
        return executions(root, workflow, most, out);
    }
    let run = match (&args.run, &args.workflow) {
        (Some(run), _) => project
            .find_run(run)
            .map_err(|e| CliError::usage(e.to_string()).hint("agentctl runs list"))?,
        (None, Some(workflow)) => newest(&project, Some(workflow))?,
        (None, None) => newest(&project, None)?,
    };
    let analysis = analysis::analyze(&records(&project, &run)?, &today());
    let learnings = Learnings::new(project.root());
    let proposed = Proposed::of(&learnings, &analysis)?;
    let accept = args.accept_learnings
        || (!proposed.entries.is_empty() && asked(&analysis, &proposed, out)?);
    let accepted = if accept {
        accept_all(&learnings, &analysis)?
    } else {
        Vec::new()
    };
    let ids: Vec<&str> = accepted.iter().map(|e| e.id.as_str()).collect();
    out.answer(
        Exit::Complete,
        || page(&analysis, &proposed, &ids, args.accept_learnings),
        || {
            let mut value = serde_json::to_value(&analysis).unwrap_or_default();
            if let Value::Object(map) = &mut value {
                map.insert("diff".into(), json!(proposed.diff));
                map.insert("accepted".into(), json!(ids));
            }
            value
        },
    )
}

fn records(project: &Project, run: &str) -> Result<Vec<Record>, CliError> {
    let failed = |e: crate::store::StoreError| CliError::failed(e.to_string());
    let path = project.run(run).map_err(failed)?.journal();
    Ok(Journal::read(&path).map_err(failed)?.records)
}

/// The newest run, or the newest that changed the workflow.
fn newest(project: &Project, workflow: Option<&str>) -> Result<String, CliError> {
    let mut ids = project
        .run_ids()
        .map_err(|e| CliError::failed(e.to_string()))?;
    while let Some(id) = ids.pop() {
        let Some(workflow) = workflow else {
            return Ok(id);
        };
        let touches = |record: &Record| match &record.event {
            Event::ToolFinished { change, .. } => {
                change.as_ref().is_some_and(|c| c.workflow_id == workflow)
            }
            Event::RunStarted { input, .. } => {
                input.get("workflow").and_then(Value::as_str) == Some(workflow)
            }
            _ => false,
        };
        if records(project, &id)?.iter().any(touches) {
            return Ok(id);
        }
    }
    Err(match workflow {
        None => CliError::usage("there is no run yet").hint("agentctl build \"…\" starts one"),
        Some(workflow) => CliError::usage(format!("no run changed {workflow:?}"))
            .hint("agentctl runs list shows what each run changed"),
    })
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
                diff.push_str(
                    &TextDiff::from_lines(old.as_str(), new.as_str())
                        .unified_diff()
                        .header(&name, &name)
                        .to_string(),
                );
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
    let option = |value: &str, label: &str| QuestionOption {
        value: json!(value),
        label: label.to_owned(),
        detail: None,
        fit_score: None,
    };
    let question = Question {
        id: "accept".to_owned(),
        topic: "learnings".to_owned(),
        text: format!("Accept {} proposed learning(s)?", proposed.entries.len()),
        options: vec![
            option("no", "no, leave the files"),
            option("yes", "yes, every later run may read them"),
        ],
        recommended: None,
        required: true,
        schema: json!({"enum": ["no", "yes"]}),
        approves: None,
        proposal: None,
    };
    match ask::ask(&question).map_err(CliError::failed)? {
        Asked::Answer(value) => Ok(value == "yes"),
        _ => Ok(false),
    }
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

fn page(analysis: &Analysis, proposed: &Proposed, accepted: &[&str], asked_for: bool) -> String {
    let mut page = analysis::markdown(analysis);
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

fn trends(project: &Project, since: &str, out: &Output) -> Result<Exit, CliError> {
    let from = moment(since)?;
    let mut runs = Vec::new();
    let mut unreadable = Vec::new();
    for id in project
        .run_ids()
        .map_err(|e| CliError::failed(e.to_string()))?
    {
        match records(project, &id) {
            Ok(records) => {
                let began = records
                    .first()
                    .and_then(|r| r.at.parse::<jiff::Timestamp>().ok());
                if began.is_some_and(|at| at >= from) {
                    runs.push(analysis::analyze(&records, &today()));
                }
            }
            Err(error) => unreadable.push(format!("{id}: {error}")),
        }
    }
    for line in &unreadable {
        out.note(&format!("left out: {}", plain(line)));
    }
    let trends = analysis::trends(&runs);
    out.answer(
        Exit::Complete,
        || untrusted::text(&analysis::trends_markdown(&trends, since)).into_owned(),
        || json!({"since": from.to_string(), "trends": trends, "unreadable": unreadable}),
    )
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

/// The last executions of a workflow: how many failed, on which node, with what.
fn executions(root: &Path, workflow: &str, most: usize, out: &Output) -> Result<Exit, CliError> {
    let session = Session::open(root, &ModelOptions::offline(), out)?;
    let backend = session.gateway.backend();
    if !backend.can().execute {
        return Err(CliError::new(
            Exit::Backend,
            format!("the {} backend executes nothing, so there are no executions to read", backend.name()),
        )
        .hint("connect a live n8n (.mcp.json) to read its executions; agentctl analyze --workflow ID reads the runs"));
    }
    let failed = |e: crate::backend::BackendError| {
        let exit = match e.kind {
            BackendErrorKind::Unavailable => Exit::Backend,
            _ => Exit::Failed,
        };
        CliError::new(exit, e.message)
    };
    let read = session::block_on(&session.cancel, async {
        let id = backend.resolve(workflow).await?;
        let mut whole = Vec::new();
        for head in backend.executions(&ExecutionQuery::of(&id, most)).await? {
            whole.push((head.clone(), backend.execution(&head.id).await?));
        }
        Ok(whole)
    })?
    .map_err(failed)?;
    let seen: Vec<Value> = read
        .iter()
        .map(|(head, whole)| execution(head, whole))
        .collect();
    out.answer(
        Exit::Complete,
        || {
            let mut page = format!("# Executions of {}\n\n", plain(workflow));
            for of in &seen {
                let text = |key: &str| of.get(key).and_then(Value::as_str).unwrap_or("-");
                page.push_str(&format!(
                    "- {}: {} · {} · {}\n",
                    text("id"),
                    text("status"),
                    plain(text("node")),
                    plain(text("error"))
                ));
            }
            page
        },
        || json!({"executions": seen}),
    )
}

/// What an execution says about its end, wherever n8n's interfaces put it.
fn execution(head: &ExecutionHead, whole: &Value) -> Value {
    let at = |pointers: &[&str]| {
        let found = pointers.iter().find_map(|p| whole.pointer(p));
        found.and_then(Value::as_str).map(str::to_owned)
    };
    json!({
        "id": head.id,
        "status": head.status,
        "node": at(&["/data/resultData/error/node/name", "/data/resultData/lastNodeExecuted", "/error/node/name"]),
        "error": at(&["/data/resultData/error/message", "/error/message", "/error"]),
    })
}
