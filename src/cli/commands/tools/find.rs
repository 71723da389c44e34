//! `agentctl tools discover` and `tools stats`: which tool fits a need, and what came of the tools' calls in this project's runs.

use super::made;
use crate::cli::declared::{calls_of, figures_of};
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use agentctl_base::counted::counted;
use agentctl_engine::flow::StepKind;
use agentctl_engine::pack::{DeclaredTool, Pack};
use agentctl_tools::{Figures, Scored, ranked, wilson};
use clap::Args;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Debug, Args)]
pub struct DiscoverArgs {
    /// What is to be done, in words
    #[arg(value_name = "NEED")]
    need: String,
    /// Only the tools that this role may use
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// So many at most
    #[arg(long, value_name = "N", default_value_t = 5)]
    top: usize,
    /// Say what each score is made of
    #[arg(long)]
    explain: bool,
}

/// By tool: the tasks of the steps that called it, as their flow names them, with how many steps that were and how many it helped. A step
/// that is no agent's has its own name.
fn by_task(pack: &Pack, figures: &Figures) -> BTreeMap<String, BTreeMap<String, (u64, u64)>> {
    let mut tasks: BTreeMap<String, BTreeMap<String, (u64, u64)>> = BTreeMap::new();
    for ((tool, step), (steps, useful)) in figures.by_step() {
        let last = step.rsplit('/').next().unwrap_or_default();
        let flows = std::iter::once(&pack.flow).chain(pack.flows.values().map(|of| &of.flow));
        let task = flows.filter_map(|flow| match &flow.step(last)?.kind {
            StepKind::Agent(agent) => Some(agent.task.to_string()),
            _ => None,
        });
        let task = task.into_iter().next().unwrap_or_else(|| last.to_owned());
        let of = tasks
            .entry(tool.clone())
            .or_default()
            .entry(task)
            .or_default();
        of.0 += steps;
        of.1 += useful;
    }
    tasks
}

pub(super) fn stats(root: &Path, out: &Output) -> Result<Exit, CliError> {
    let (pack, _) = made(root, out)?;
    let names: Vec<&str> = pack.tools.keys().map(String::as_str).collect();
    let figures = figures_of(root, &names)?;
    let tasks = by_task(&pack, &figures);
    let calls = figures.told();
    let of = |name: &str| calls.get(name).copied().unwrap_or_default();
    let of_tasks = |name: &str| tasks.get(name).cloned().unwrap_or_default();
    out.answer(
        Exit::Complete,
        || {
            let lines = names.iter().map(|name| {
                let calls = of(name);
                let tasks: String = of_tasks(name)
                    .iter()
                    .map(|(task, (steps, useful))| format!("  {task}: helped {useful} of {}\n", counted(*steps, "step")))
                    .collect();
                format!(
                    "{name}: {} in {}, {} ok, {} refused, helped {} (at least {:.2}), {} ms\n{tasks}",
                    counted(calls.made, "call"), counted(calls.steps, "step"), calls.ok, calls.refused, calls.useful, wilson(calls.useful, calls.steps), calls.p50_ms
                )
            });
            lines.collect()
        },
        || {
            let all = names.iter().map(|name| {
                let calls = of(name);
                let tasks = of_tasks(name);
                let tasks = tasks
                    .iter()
                    .map(|(task, (steps, useful))| json!({"task": task, "steps": steps, "useful": useful}));
                json!({"tool_id": name, "tasks": tasks.collect::<Vec<_>>(), "calls": calls.made, "steps": calls.steps, "ok": calls.ok, "refused": calls.refused, "useful": calls.useful, "at_least": wilson(calls.useful, calls.steps), "p50_ms": calls.p50_ms})
            });
            json!({"tools": all.collect::<Vec<_>>()})
        },
    )
}

pub(super) fn discover(root: &Path, args: &DiscoverArgs, out: &Output) -> Result<Exit, CliError> {
    let (pack, tools) = made(root, out)?;
    let names: Vec<&str> = pack.tools.keys().map(String::as_str).collect();
    let calls = calls_of(root, &names)?;
    let allowed = args
        .role
        .as_ref()
        .map(|role| pack.policy.allowed_tools(role));
    let offered = pack.tools.values().filter(|tool| {
        allowed
            .as_ref()
            .is_none_or(|allowed| allowed.iter().any(|name| name == tool.id))
    });
    let stands = |tool: &DeclaredTool| tools.stands(tool);
    let found: Vec<Scored<'_>> = ranked(&args.need, offered, &calls, stands)
        .into_iter()
        .take(args.top)
        .collect();
    out.answer(
        Exit::Complete,
        || {
            if found.is_empty() {
                return "no tool has a word of that\n".to_owned();
            }
            let lines = found.iter().map(|one| {
                let why = match args.explain {
                    true => format!("  = {}", one.why()),
                    false => String::new(),
                };
                format!("{:.3} {}{why}\n", one.score, one.tool.id)
            });
            lines.collect()
        },
        || {
            let all = found.iter().map(|one| {
                json!({"tool_id": one.tool.id, "score": one.score, "text": one.text, "health": one.health, "useful": one.useful, "cost": one.cost})
            });
            json!({"tools": all.collect::<Vec<_>>()})
        },
    )
}
