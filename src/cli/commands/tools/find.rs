//! `agentctl tools discover` and `tools stats`: which tool fits a need, and what came of the tools' calls in this project's runs.

use super::made;
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::project;
use crate::cli::session;
use agentctl_engine::pack::{DeclaredTool, ToolKind};
use agentctl_engine::run;
use agentctl_tools::{Calls, Figures, Scored, Stands, Tools, ranked, wilson};
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

/// Older runs tell less of how a tool does now.
const NEWEST: usize = 200;

fn stands(tool: &DeclaredTool, tools: &Tools) -> Stands {
    let is_mock = tools.mocked().iter().any(|mocked| mocked.tool == tool.id);
    match (is_mock, tools.lacks(tool.id)) {
        (true, _) => Stands::Mock,
        (false, Some(_)) => Stands::Not,
        (false, None) => Stands::Real,
    }
}

/// By tool, over the newest runs that this user's agentctl wrote. Mock answers do not count.
fn counted(root: &Path, names: &[&str]) -> Result<BTreeMap<String, Calls>, CliError> {
    let project = project::open(root)?;
    let mut runs = run::list(&project).map_err(|e| session::run_error(&e))?;
    runs.sort_by(|a, b| b.started_at.cmp(&a.started_at));
    let mut figures = Figures::default();
    for summary in runs.iter().take(NEWEST) {
        // A journal that cannot be read, or that somebody else wrote, says nothing of the tools.
        let Ok(loaded) = run::read(&project, &summary.run_id) else {
            continue;
        };
        if loaded.foreign.is_none() {
            figures.add(&loaded.records, names);
        }
    }
    Ok(figures.told())
}

pub(super) fn stats(root: &Path, out: &Output) -> Result<Exit, CliError> {
    let (pack, _) = made(root, out)?;
    let names: Vec<&str> = pack.tools.keys().map(String::as_str).collect();
    let calls = counted(root, &names)?;
    let of = |name: &str| calls.get(name).copied().unwrap_or_default();
    out.answer(
        Exit::Complete,
        || {
            let lines = names.iter().map(|name| {
                let calls = of(name);
                format!(
                    "{name}: {} calls in {} steps, {} ok, {} refused, helped {} (at least {:.2}), {} ms\n",
                    calls.made, calls.steps, calls.ok, calls.refused, calls.useful, wilson(calls.useful, calls.steps), calls.p50_ms
                )
            });
            lines.collect()
        },
        || {
            let all = names.iter().map(|name| {
                let calls = of(name);
                json!({"tool_id": name, "calls": calls.made, "steps": calls.steps, "ok": calls.ok, "refused": calls.refused, "useful": calls.useful, "at_least": wilson(calls.useful, calls.steps), "p50_ms": calls.p50_ms})
            });
            json!({"tools": all.collect::<Vec<_>>()})
        },
    )
}

pub(super) fn discover(root: &Path, args: &DiscoverArgs, out: &Output) -> Result<Exit, CliError> {
    let (pack, tools) = made(root, out)?;
    let names: Vec<&str> = pack.tools.keys().map(String::as_str).collect();
    let calls = counted(root, &names)?;
    let allowed = args
        .role
        .as_ref()
        .map(|role| pack.policy.allowed_tools(role));
    let offered = pack.tools.values().filter(|tool| {
        allowed
            .as_ref()
            .is_none_or(|allowed| allowed.iter().any(|name| name == tool.id))
    });
    let stood = |tool: &DeclaredTool| match tool.kind {
        // A flow is as healthy as what it calls.
        ToolKind::Flow { .. } => Stands::Real,
        ToolKind::Other { .. } => stands(tool, &tools),
    };
    let found: Vec<Scored<'_>> = ranked(&args.need, offered, &calls, stood)
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
                    true => format!(
                        "  = {:.2} (words) × {:.2} (health) × {:.2} (useful at least) − {:.2} (cost, time)",
                        one.text, one.health, one.useful, one.cost
                    ),
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
