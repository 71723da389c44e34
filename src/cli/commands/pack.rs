//! `agents list|show|check` and `skills list|show`: what the pack holds.

use crate::cli::args::{AgentsCommand, SkillsCommand};
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::progress::plain_long;
use crate::cli::session;
use crate::cli::trusting;
use agentctl_engine::pack::{Pack, SkillSource};
use console::style;
use serde_json::{Value, json};
use std::path::Path;

pub fn agents(root: &Path, command: &AgentsCommand, out: &Output) -> Result<Exit, CliError> {
    if matches!(command, AgentsCommand::Check) {
        trusting::needs_pack(root, out)?;
    }
    let pack = session::load_pack(root, out)?;
    match command {
        AgentsCommand::List => out.answer(
            Exit::Complete,
            || {
                pack.agents
                    .values()
                    .map(|a| format!("{} ({})\n  {}\n  tools: {}\n", style(&a.name).bold(), a.tier.name(), plain_long(&a.description), pack.policy.allowed_tools(&a.name).join(", ")))
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
                        "{} ({}, at most {} turns)\n{}\ntools it may use: {}\nskills: {}\nfrom: {}\n\n{}\n",
                        style(&found.name).bold(),
                        found.tier.name(),
                        found.max_turns,
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
            || format!("{} agents, {} skills, flow {}: no mistakes, {} warnings\n", pack.agents.len(), pack.skills.len(), pack.flow.name, pack.warnings.len()),
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

pub fn skills(root: &Path, command: &SkillsCommand, out: &Output) -> Result<Exit, CliError> {
    let pack = session::load_pack(root, out)?;
    match command {
        SkillsCommand::List => {
            let users = |skill: &str| -> Vec<&str> {
                pack.agents
                    .values()
                    .filter(|a| a.skills.iter().any(|s| s == skill))
                    .map(|a| a.name.as_str())
                    .collect()
            };
            out.answer(
                Exit::Complete,
                || {
                    pack.skills
                        .iter()
                        .map(|s| format!("{} [{}] {}\n  {}\n", style(&s.name).bold(), users(&s.name).join(", "), style(origin(&s.source)).dim(), plain_long(&s.description)))
                        .collect()
                },
                || json!({"skills": pack.skills.iter().map(|s| json!({"name": s.name, "description": s.description, "source": origin(&s.source), "agents": users(&s.name)})).collect::<Vec<_>>()}),
            )
        }
        SkillsCommand::Show { name, file } => {
            let Some(skill) = pack.skills.iter().find(|s| s.name == *name) else {
                return Err(CliError::usage(format!("there is no skill {name:?}"))
                    .hint("agentctl skills list names them"));
            };
            match file {
                Some(file) => {
                    let text = skill
                        .place
                        .read(file)
                        .map_err(|e| CliError::usage(e.to_string()))?;
                    out.answer(
                        Exit::Complete,
                        || text.clone(),
                        || json!({"skill": name, "file": file, "text": text}),
                    )
                }
                None => {
                    let files = skill.place.files();
                    out.answer(
                        Exit::Complete,
                        || {
                            let more = if files.is_empty() {
                                String::new()
                            } else {
                                format!("\nfiles: {}\n", files.join(", "))
                            };
                            format!("{}\n{more}", skill.body)
                        },
                        || json!({"skill": name, "text": skill.body, "files": files}),
                    )
                }
            }
        }
    }
}

fn origin(source: &SkillSource) -> &str {
    match source {
        SkillSource::BuiltIn => "built-in",
        SkillSource::Project(folder) => folder,
    }
}
