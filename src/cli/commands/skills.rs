//! `agentctl skills list|show`: the skills of the pack.

use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::progress::plain_long;
use crate::cli::session;
use agentctl_engine::pack::SkillSource;
use clap::Subcommand;
use console::style;
use serde_json::json;
use std::path::Path;

/// The skills that agents can load
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  agentctl skills list")]
pub enum SkillsCommand {
    /// The skills, where they come from and who has them
    #[command(after_help = "Example:\n  agentctl skills list")]
    List,
    /// A skill's text, or one of its files
    #[command(after_help = "Example:\n  agentctl skills show n8n-expression-syntax")]
    Show {
        #[arg(value_name = "NAME")]
        name: String,
        /// A file inside the skill's folder
        #[arg(value_name = "FILE")]
        file: Option<String>,
    },
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
                        .map(|s| {
                            let about = plain_long(&s.description);
                            format!("{} [{}] {}\n  {about}\n", style(&s.name).bold(), users(&s.name).join(", "), style(origin(&s.source)).dim())
                        })
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
                    out.document(
                        || text.clone(),
                        || json!({"skill": name, "file": file, "text": text}),
                    )
                }
                None => {
                    let files = skill.place.files();
                    out.document(
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
