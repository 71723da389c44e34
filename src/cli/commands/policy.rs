//! `agentctl policy show|check`: who may do what, and by which rule.

use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::session;
use agentctl_base::decision::Decision;
use agentctl_engine::policy::Facts;
use agentctl_host::files::read_regular_text;
use clap::Subcommand;
use console::style;
use serde_json::{Map, Value, json};
use std::path::Path;
use std::path::PathBuf;

/// Show the permission matrix, or explain one decision
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  agentctl policy check builder update_workflow")]
pub enum PolicyCommand {
    /// The permission matrix and the limits in force
    #[command(after_help = "Example:\n  agentctl policy show")]
    Show,
    /// What would be decided for a call, and by which rule
    #[command(
        after_help = "Example:\n  agentctl policy check qa delete_workflow '{\"workflow_id\":\"orders\"}'"
    )]
    Check {
        #[arg(value_name = "ROLE")]
        role: String,
        #[arg(value_name = "TOOL")]
        tool: String,
        /// The call's arguments as a JSON object
        #[arg(value_name = "ARGS-JSON")]
        args: Option<String>,
        /// What the run knows: a JSON object with `request`, `answers`, `calls`, `grants`, `bound`
        #[arg(long, value_name = "FILE")]
        facts: Option<PathBuf>,
    },
}

const MAX_FACTS: u64 = 16 * 1024 * 1024;

pub fn policy(root: &Path, command: &PolicyCommand, out: &Output) -> Result<Exit, CliError> {
    let pack = session::load_pack(root, out)?;
    match command {
        PolicyCommand::Show => {
            let roles: Vec<&String> = pack.agents.keys().collect();
            let matrix: Vec<(&String, Vec<String>)> = roles
                .iter()
                .map(|role| (*role, pack.policy.allowed_tools(role)))
                .collect();
            out.answer(
                Exit::Complete,
                || {
                    let mut text = String::new();
                    for (role, tools) in &matrix {
                        let tools = if tools.is_empty() { "no tools".to_owned() } else { tools.join(", ") };
                        text.push_str(&format!("{}\n  {tools}\n", style(role).bold()));
                    }
                    text.push_str(&format!("\n{}\n", style("limits").bold()));
                    let limits = json!(pack.policy.limits());
                    for (name, value) in limits.as_object().into_iter().flatten() {
                        text.push_str(&format!("  {name}: {value}\n"));
                    }
                    text
                },
                || json!({"roles": matrix.iter().map(|(r, t)| ((*r).clone(), json!(t))).collect::<Map<String, Value>>(), "limits": pack.policy.limits()}),
            )
        }
        PolicyCommand::Check {
            role,
            tool,
            args,
            facts,
        } => {
            if !pack.agents.contains_key(role) {
                let known: Vec<&str> = pack.agents.keys().map(String::as_str).collect();
                return Err(CliError::usage(format!("there is no role {role:?}"))
                    .hint(format!("roles: {}", known.join(", "))));
            }
            let arguments = match args.as_deref().map(serde_json::from_str::<Value>) {
                None => Map::new(),
                Some(Ok(Value::Object(map))) => map,
                Some(Ok(_)) => return Err(CliError::usage("the arguments must be a JSON object")),
                Some(Err(e)) => {
                    return Err(CliError::usage(format!(
                        "the arguments are not valid JSON: {e}"
                    )));
                }
            };
            let facts = match facts {
                None => Facts::default(),
                Some(path) => read_facts(path)?,
            };
            let explained = pack.policy.explain(role, tool, &arguments, &facts);
            let decision = &explained.decision;
            let exit = match decision {
                Decision::Allow { .. } => Exit::Complete,
                Decision::Ask { .. } => Exit::Waiting,
                Decision::Deny { .. } => Exit::Refused,
            };
            out.answer(
                exit,
                || format!("{explained}guards (edit scope, wipe, stale, …) decide on the workflow as it is, at the call\n"),
                || json!({"role": role, "tool": tool, "capability": explained.capability, "decision": decision, "considered": explained.considered}),
            )
        }
    }
}

/// What a run would know, from a file.
fn read_facts(path: &Path) -> Result<Facts, CliError> {
    let shown = path.display();
    let text = read_regular_text(path, MAX_FACTS)
        .map_err(|e| CliError::usage(format!("cannot read the facts {shown}: {e}")))?;
    let value = serde_json::from_str(&text)
        .map_err(|e| CliError::usage(format!("{shown}: not valid JSON: {e}")))?;
    Facts::from_json(&value).map_err(|why| CliError::usage(format!("{shown}: {why}")))
}
