//! `agentctl agents list|show|check`: the agents of the pack.

use crate::cli::error::{CliError, Exit};
use crate::cli::folder_trust;
use crate::cli::output::Output;
use crate::cli::progress::plain_long;
use crate::cli::session;
use agentctl_base::counted::counted;
use agentctl_engine::pack::Pack;
use clap::Subcommand;
use console::style;
use serde_json::{Value, json};
use std::path::Path;

/// The agents of the pack
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  agentctl agents list")]
pub enum AgentsCommand {
    /// The agents: role, model tier, tools, skills
    #[command(after_help = "Example:\n  agentctl agents list")]
    List,
    /// One agent with its prompt and the tools it may use
    #[command(after_help = "Example:\n  agentctl agents show builder")]
    Show {
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Check agents, flow, policy and skills; every mistake with file and line
    #[command(after_help = "Example:\n  agentctl agents check --project .")]
    Check,
}

pub fn agents(root: &Path, command: &AgentsCommand, out: &Output) -> Result<Exit, CliError> {
    if matches!(command, AgentsCommand::Check) {
        folder_trust::needs_pack(root, out)?;
    }
    let pack = session::load_pack(root, out)?;
    match command {
        AgentsCommand::List => out.answer(
            Exit::Complete,
            || {
                pack.agents
                    .values()
                    .map(|a| {
                        let tools = pack.policy.allowed_tools(&a.name).join(", ");
                        let about = plain_long(&a.description);
                        format!("{} ({})\n  {about}\n  tools: {tools}\n", style(&a.name).bold(), a.tier.name())
                    })
                    .collect()
            },
            || json!({"agents": pack.agents.keys().map(|name| agent(&pack, name)).collect::<Vec<_>>()}),
        ),
        AgentsCommand::Show { name } => {
            let Some(found) = pack.agents.get(name) else {
                let known: Vec<&str> = pack.agents.keys().map(String::as_str).collect();
                return Err(CliError::usage(format!("there is no agent {name:?}")).hint(format!("agents: {}", known.join(", "))));
            };
            out.answer(
                Exit::Complete,
                || {
                    format!(
                        "{} ({}, at most {})\n{}\ntools it may use: {}\nskills: {}\nfrom: {}\n\n{}\n",
                        style(&found.name).bold(),
                        found.tier.name(),
                        counted(found.max_turns, "turn"),
                        plain_long(&found.description),
                        pack.policy.allowed_tools(name).join(", "),
                        found.skills.join(", "),
                        found.source,
                        found.prompt
                    )
                },
                || {
                    let mut whole = agent(&pack, name);
                    if let Value::Object(map) = &mut whole {
                        map.insert("prompt".into(), found.prompt.clone().into());
                    }
                    whole
                },
            )
        }
        AgentsCommand::Check => out.answer(
            Exit::Complete,
            || format!("{}, {}, flow {}: no mistakes, {}\n", counted(pack.agents.len(), "agent"), counted(pack.skills.len(), "skill"), pack.flow.name, counted(pack.warnings.len(), "warning")),
            || json!({"agents": pack.agents.len(), "skills": pack.skills.len(), "warnings": pack.warnings}),
        ),
    }
}

fn agent(pack: &Pack, name: &str) -> Value {
    match pack.agents.get(name) {
        None => Value::Null,
        Some(a) => json!({
            "name": a.name, "description": a.description, "tier": a.tier.name(), "tools": a.tools,
            "allowed_tools": pack.policy.allowed_tools(name), "skills": a.skills, "max_turns": a.max_turns, "source": a.source,
        }),
    }
}
