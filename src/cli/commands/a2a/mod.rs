//! `agentctl a2a …`: other agents, by hand. What they say is a stranger's word: it is shown as harmless text, and it decides nothing.

mod card;
mod sign;
mod tasks;
mod told;

use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::remote::{self, Remote};
use crate::cli::settings;
use clap::{Args, Subcommand};
use std::path::{Path, PathBuf};

/// Other agents over A2A: their cards, messages to them, their tasks
#[derive(Debug, Subcommand)]
#[command(
    after_help = "Examples:\n  agentctl a2a card https://agents.example.com\n  agentctl a2a send desk \"How long is the heating network of Norrfeld?\"\n\nAgents have names in agentctl.toml: [a2a.agents.NAME] url, and token_env, token_file or basic."
)]
pub enum A2aCommand {
    /// What an agent says of itself, and whether you approved that
    #[command(
        after_help = "Examples:\n  agentctl a2a card desk\n  agentctl a2a card http://127.0.0.1:8137 --output-format json"
    )]
    Card {
        #[command(flatten)]
        target: Target,
        /// The card for those that the agent lets in, where it has one
        #[arg(long)]
        extended: bool,
    },
    /// Approve an agent's card as it is now; tools of packs reach no other, and a changed card is refused
    #[command(after_help = "Example:\n  agentctl a2a approve desk")]
    Approve {
        #[command(flatten)]
        target: Target,
    },
    /// Check that a key that you know signed an agent's card as it is; else exit code 5
    #[command(
        after_help = "Example:\n  agentctl a2a verify https://agents.example.com --keys keys.json"
    )]
    Verify {
        #[command(flatten)]
        target: Target,
    },
    /// Print the public half of the key that signs your agents' cards; the first time it is made
    #[command(
        after_help = "Example:\n  agentctl a2a keygen > keys.json\n\n[serve] sign_cards = true has the server sign every card."
    )]
    Keygen {
        /// Make a new key in the place of the old one
        #[arg(long)]
        renew: bool,
    },
    /// Sign a card of another making with your key
    #[command(
        name = "sign-card",
        after_help = "Example:\n  agentctl a2a sign-card card.json > signed.json"
    )]
    SignCard {
        /// The card (`-`: stdin)
        #[arg(value_name = "FILE")]
        file: String,
    },
    Send(tasks::SendArgs),
    /// How a task stands
    #[command(after_help = "Example:\n  agentctl a2a get desk 20260102-030405-0123456789")]
    Get {
        #[command(flatten)]
        target: Target,
        /// The task's id
        #[arg(value_name = "TASK")]
        task: String,
    },
    /// Watch a task until it is at its end or waits for somebody
    #[command(after_help = "Example:\n  agentctl a2a watch desk 20260102-030405-0123456789")]
    Watch {
        #[command(flatten)]
        target: Target,
        /// The task's id
        #[arg(value_name = "TASK")]
        task: String,
        #[command(flatten)]
        time: Time,
    },
    /// Cancel a task
    #[command(after_help = "Example:\n  agentctl a2a cancel desk 20260102-030405-0123456789")]
    Cancel {
        #[command(flatten)]
        target: Target,
        /// The task's id
        #[arg(value_name = "TASK")]
        task: String,
    },
}

#[derive(Debug, Args)]
pub struct Target {
    /// The agent's address, or its name in agentctl.toml
    #[arg(value_name = "AGENT")]
    agent: String,
    /// The variable with the bearer token for an address
    #[arg(long, value_name = "VARIABLE")]
    token_env: Option<String>,
    /// Keys (a JSON Web Key Set), one of which has to have signed the agent's card
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Time {
    /// So long the task is waited for; it goes on without us
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = crate::config::limit::seconds)]
    timeout: u64,
}

impl Target {
    fn find(&self, root: &Path, out: &Output) -> Result<Remote, CliError> {
        let config = settings::of_project(root, out)?;
        let (token, keys) = (self.token_env.as_deref(), self.keys.as_deref());
        remote::named(root, &config, &self.agent, token, keys, out)
    }
}

pub fn a2a(root: &Path, command: &A2aCommand, out: &Output) -> Result<Exit, CliError> {
    match command {
        A2aCommand::Card { target, extended } => match extended {
            true => card::extended(&target.find(root, out)?, out),
            false => card::show(&target.find(root, out)?, out),
        },
        A2aCommand::Approve { target } => card::approve(root, &target.find(root, out)?, out),
        A2aCommand::Verify { target } => sign::verify(&target.find(root, out)?, out),
        A2aCommand::Keygen { renew } => sign::keygen(root, *renew, out),
        A2aCommand::SignCard { file } => sign::sign(root, file, out),
        A2aCommand::Send(args) => tasks::send(root, args, out),
        A2aCommand::Get { target, task } => tasks::get(&target.find(root, out)?, task, out),
        A2aCommand::Watch { target, task, time } => {
            tasks::watch(&target.find(root, out)?, task, time, out)
        }
        A2aCommand::Cancel { target, task } => tasks::cancel(&target.find(root, out)?, task, out),
    }
}
