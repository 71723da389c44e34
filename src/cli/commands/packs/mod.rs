//! `agentctl packs`: which packs there are, what is in them, whether they do what their dialogues say, and a new one to begin with.

mod export;
mod new;
mod test;

use crate::cli::error::{CliError, Exit};
use crate::cli::folder_trust;
use crate::cli::output::Output;
use crate::cli::progress::plain_long;
use crate::cli::session;
use agentctl_base::counted::counted;
use agentctl_engine::flow;
use agentctl_engine::pack::Pack;
use clap::Subcommand;
use console::style;
use serde_json::{Value, json};
use std::path::Path;

/// The packs: agent systems that run on the same engine
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  agentctl packs list")]
pub enum PacksCommand {
    /// Every pack, built in or of this project
    #[command(after_help = "Example:\n  agentctl packs list")]
    List,
    /// One pack: its flows, agents, data, and which of its files are this project's
    #[command(after_help = "Example:\n  agentctl packs show n8n-builder")]
    Show {
        /// Its name
        #[arg(value_name = "PACK")]
        pack: String,
    },
    /// Check every file of a pack, or of all; every mistake with file and line
    #[command(after_help = "Example:\n  agentctl packs check")]
    Check {
        /// Its name; without it every pack is checked
        #[arg(value_name = "PACK")]
        pack: Option<String>,
    },
    /// Draw a flow of a pack as a Mermaid diagram
    #[command(after_help = "Example:\n  agentctl packs graph n8n-builder > flow.mmd")]
    Graph {
        /// The pack, or one of its flows: PACK/FLOW
        #[arg(value_name = "PACK[/FLOW]")]
        pack: String,
    },
    /// Make a small pack in this project, to begin with
    #[command(
        after_help = "Example:\n  agentctl packs new helpdesk\n\nIt has a flow, an agent, a skill, texts and a dialogue, and works at once:\nagentctl packs test helpdesk, agentctl chat helpdesk. docs/packs.md explains each file."
    )]
    New {
        /// Its name: small letters, digits and hyphens
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Write a pack of a main agent and agents that it calls as workflows of n8n
    #[command(
        after_help = "Examples:\n  agentctl packs export assistant --to n8n n8n-assistant\n  agentctl qa n8n-assistant/*.json\n  agentctl packs export assistant --to n8n n8n-assistant --push --set INTEGRATION_URL=https://platform.example.com --set ASSISTANT_MODEL=gpt-4\n\nThe workflows of the called agents come first; n8n has to know them before the main one.\nWith --push each is created, or updated where its file follows one; each push is a run that `agentctl undo RUN` takes back. Nothing is published.\nExit code 2: the pack has no such agents, a tool that n8n has no node for, or no node that asks for a credential of such a type; 5: a workflow was changed on n8n since (--force), or a guard asks (--allow)."
    )]
    Export(export::ExportArgs),
    /// Play the dialogues of a pack, and say which of their expectations hold
    #[command(
        after_help = "Examples:\n  agentctl packs test\n  agentctl packs test front-door --min 95\n  agentctl packs test front-door happy.yaml --only German\n  agentctl packs test front-door --report junit=packs.xml\n  agentctl packs test helpdesk ../more.yaml --model anthropic::claude-sonnet-4-6 --record tape.json\n  agentctl packs test helpdesk ../more.yaml --replay tape.json\n\nEach dialogue is played in an empty folder that is deleted afterwards, with the offline model unless one is named.\nExit code 0: enough of the expectations hold; 1: not enough; 2: a mistake in a file."
    )]
    Test(test::TestArgs),
}

pub fn packs(root: &Path, command: &PacksCommand, out: &Output) -> Result<Exit, CliError> {
    match command {
        PacksCommand::List => list(root, out),
        PacksCommand::Show { pack } => show(&session::named_pack(root, pack, out)?, out),
        PacksCommand::New { name } => new::new(root, name, out),
        PacksCommand::Export(args) => export::export(root, args, out),
        PacksCommand::Test(args) => test::test(root, args, out),
        PacksCommand::Check { pack } => check(root, pack.as_deref(), out),
        PacksCommand::Graph { pack } => {
            let pack = session::named_pack(root, pack, out)?;
            let graph = flow::mermaid(&pack.flow);
            out.document(|| graph.clone(), || json!({"mermaid": graph}))
        }
    }
}

fn list(root: &Path, out: &Output) -> Result<Exit, CliError> {
    let default = session::chosen_pack(root, out)?;
    let options = session::load_options(root, out)?;
    let names = crate::pack::names(root, &options);
    // A broken pack does not hide the others: it is listed with what is wrong.
    let packs: Vec<_> = names
        .iter()
        .map(|name| (name, crate::pack::named(name, root, &options)))
        .collect();
    out.answer(
        Exit::Complete,
        || {
            let lines = packs.iter().map(|(name, pack)| {
                let mark = if **name == default { " (default)" } else { "" };
                let head = format!("{}{mark}", style(name).bold());
                let about = match pack {
                    Ok(pack) => plain_long(&pack.manifest.title),
                    Err(error) => plain_long(&format!("broken: {error}")),
                };
                format!("{head}\n  {about}\n")
            });
            lines.collect()
        },
        || {
            let entries = packs.iter().map(|(name, pack)| match pack {
                Ok(pack) => json!({"name": name, "title": pack.manifest.title, "requires": pack.manifest.requires, "default": **name == default, "overrides": pack.overrides}),
                Err(error) => json!({"name": name, "default": **name == default, "error": error.to_string()}),
            });
            json!({"packs": entries.collect::<Vec<Value>>()})
        },
    )
}

fn show(pack: &Pack, out: &Output) -> Result<Exit, CliError> {
    let manifest = &pack.manifest;
    let flows: Vec<&str> = pack.flows.keys().map(String::as_str).collect();
    let agents: Vec<&str> = pack.agents.keys().map(String::as_str).collect();
    let data: Vec<String> = manifest
        .data
        .iter()
        .map(|(name, path)| format!("{name} ({path})"))
        .collect();
    let or_none = |list: String| match list.as_str() {
        "" => "none".to_owned(),
        _ => list,
    };
    out.answer(
        Exit::Complete,
        || {
            let mut text = format!("{}: {}\n", style(&manifest.name).bold(), plain_long(&manifest.title));
            if !manifest.description.is_empty() {
                text += &format!("  {}\n", plain_long(&manifest.description));
            }
            for (what, list) in [
                ("begins with the flow", manifest.entry.clone()),
                ("flows", flows.join(", ")),
                ("agents", agents.join(", ")),
                ("orchestrators", pack.orchestrators.join(", ")),
                ("data", data.join(", ")),
                ("requires", manifest.requires.join(", ")),
                ("files of this project", pack.overrides.join(", ")),
            ] {
                text += &format!("{what}: {}\n", or_none(plain_long(&list)));
            }
            text
        },
        || {
            json!({
                "name": manifest.name, "title": manifest.title, "description": manifest.description, "entry": manifest.entry,
                "flows": flows, "agents": agents, "orchestrators": pack.orchestrators, "data": manifest.data, "requires": manifest.requires,
                "overrides": pack.overrides, "hash": pack.hash, "warnings": pack.warnings,
            })
        },
    )
}

/// All packs are looked at, so that all mistakes are told at once.
fn check(root: &Path, name: Option<&str>, out: &Output) -> Result<Exit, CliError> {
    folder_trust::needs_pack(root, out)?;
    let options = session::load_options(root, out)?;
    let names = match name {
        Some(name) => vec![name.to_owned()],
        None => crate::pack::names(root, &options),
    };
    let mut sound = Vec::new();
    let mut wrong = Vec::new();
    for name in names {
        match crate::pack::named(&name, root, &options) {
            Ok(pack) => {
                wrong.extend(super::orchestrators::faults(root, &pack, &options, None)?);
                sound.push(pack);
            }
            Err(error @ crate::pack::NoPack::Errors { .. }) => wrong.push(error.to_string()),
            Err(error) => return Err(session::no_pack(&error)),
        }
    }
    if !wrong.is_empty() {
        return Err(CliError::usage(wrong.join("\n")));
    }
    out.answer(
        Exit::Complete,
        || {
            let lines = sound.iter().map(|pack| {
                let mut line = format!(
                    "{}: {}, {}, {}: no mistakes, {}\n",
                    pack.manifest.name,
                    counted(pack.flows.len(), "flow"),
                    counted(pack.agents.len(), "agent"),
                    counted(pack.data.len(), "data file"),
                    counted(pack.warnings.len(), "warning")
                );
                for warning in &pack.warnings {
                    line += &format!("  {}\n", plain_long(warning));
                }
                line
            });
            lines.collect()
        },
        || {
            let packs = sound
                .iter()
                .map(|pack| json!({"name": pack.manifest.name, "warnings": pack.warnings}));
            json!({"packs": packs.collect::<Vec<Value>>()})
        },
    )
}
