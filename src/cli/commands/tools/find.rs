//! `agentctl tools discover` and `tools stats`: which tool fits a need, and what came of the tools' calls in this project's runs.

use super::made;
use crate::cli::declared::calls_of;
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use agentctl_base::counted::counted;
use agentctl_engine::nearest::nearest;
use agentctl_engine::pack::DeclaredTool;
use agentctl_tools::{Scored, ranked, wilson};
use clap::Args;
use serde_json::json;
use std::path::Path;

#[derive(Debug, Args)]
pub struct DiscoverArgs {
    /// What is to be done, in words
    #[arg(value_name = "NEED")]
    need: String,
    /// Only the tools that this role may use
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// As for a step with this task (serve, execute): how much a tool helped in that one counts most
    #[arg(long, value_name = "STEP-TASK")]
    task: Option<String>,
    /// So many at most
    #[arg(long, value_name = "N", default_value_t = 5)]
    top: usize,
    /// Say what each score is made of
    #[arg(long)]
    explain: bool,
}

pub(super) fn stats(root: &Path, out: &Output) -> Result<Exit, CliError> {
    let (pack, _) = made(root, out)?;
    let names: Vec<&str> = pack.tools.keys().map(String::as_str).collect();
    let calls = calls_of(root, &pack)?;
    let of = |name: &str| calls.get(name).cloned().unwrap_or_default();
    out.answer(
        Exit::Complete,
        || {
            let lines = names.iter().map(|name| {
                let calls = of(name);
                let tasks: String = (calls.tasks.iter())
                    .map(|(task, of)| format!("  {task}: helped {} of {} (at least {:.2})\n", of.useful, counted(of.made, "step"), calls.useful_at_least(Some(task))))
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
                let tasks = (calls.tasks.iter())
                    .map(|(task, of)| json!({"task": task, "steps": of.made, "useful": of.useful, "at_least": calls.useful_at_least(Some(task))}));
                json!({"tool_id": name, "tasks": tasks.collect::<Vec<_>>(), "calls": calls.made, "steps": calls.steps, "ok": calls.ok, "refused": calls.refused, "useful": calls.useful, "at_least": wilson(calls.useful, calls.steps), "p50_ms": calls.p50_ms})
            });
            json!({"tools": all.collect::<Vec<_>>()})
        },
    )
}

pub(super) fn discover(root: &Path, args: &DiscoverArgs, out: &Output) -> Result<Exit, CliError> {
    let (pack, tools) = made(root, out)?;
    let calls = calls_of(root, &pack)?;
    if let Some(role) = &args.role {
        let known: Vec<&str> = pack.policy.roles().map(|(name, _)| name).collect();
        if !known.contains(&role.as_str()) {
            let near = nearest(role, known.iter().copied());
            let message = format!("the policy has no role {role:?}{near}");
            let hint = format!("there are {}", known.join(", "));
            return Err(CliError::usage(message).hint(hint));
        }
    }
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
    let found: Vec<Scored<'_>> = ranked(&args.need, args.task.as_deref(), offered, &calls, stands)
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
