//! `approvals show [RUN] [--reveal]`: the calls that wait for a person's word. What is hidden in them is shown on a terminal, to the
//! person who sits there, and goes into no file, no pipe and no JSON.

use super::runs::not_yours;
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::progress::{plain, plain_long};
use crate::cli::{project, questions, session, streams};
use agentctl_base::question::Question;
use agentctl_engine::gateway::HeldCall;
use agentctl_engine::run;
use clap::Subcommand;
use serde_json::json;
use std::path::Path;

/// Look at the calls that wait for your word
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  agentctl approvals show --reveal")]
pub enum ApprovalsCommand {
    /// The calls that a run waits with, each with what it would change
    #[command(
        after_help = "Examples:\n  agentctl approvals show\n  agentctl approvals show 019a… --reveal"
    )]
    Show {
        /// The run; default: the active one
        #[arg(value_name = "RUN")]
        run: Option<String>,
        /// Show the values that are hidden in the calls too: on a terminal only, and nowhere kept
        #[arg(long)]
        reveal: bool,
    },
}

pub fn approvals(root: &Path, command: &ApprovalsCommand, out: &Output) -> Result<Exit, CliError> {
    let ApprovalsCommand::Show { run: named, reveal } = command;
    // Before anything is read.
    if *reveal && !(out.is_text() && out.can_ask()) {
        return Err(CliError::usage(
            "--reveal shows secrets on a terminal only: stdin and stderr must be one, and the output format text",
        )
        .hint("agentctl approvals show, without --reveal, works everywhere"));
    }
    let project = project::open(root, out)?;
    let pack = session::load_pack(root, out)?;
    let run = run::run_named(&project, named.as_deref()).map_err(|e| session::run_error(&e))?;
    let found = run::report(&project, &pack, &run).map_err(|e| session::run_error(&e))?;
    if let Some(foreign) = &found.foreign {
        out.note(&not_yours(&run, foreign));
    }
    let is_foreign = found.foreign.is_some();
    let taken = found.taken;
    let open: Vec<Question> = found
        .questions
        .into_iter()
        .filter(|question| question.approves.is_some())
        .collect();
    // What is kept waits for calls of this user's runs alone.
    if *reveal && !is_foreign {
        show_hidden(root, &run, &open)?;
    }
    out.answer(
        Exit::Complete,
        || match open.as_slice() {
            [] => format!("run {run} waits for no approval\n"),
            open if is_foreign => questions::questions(open, &taken),
            open => format!(
                "{}next: {}\n",
                questions::questions(open, &taken),
                questions::answer_command(&run, open)
            ),
        },
        || json!({"run_id": run, "foreign": is_foreign, "approvals": open}),
    )
}

/// To the terminal itself, past everything that hides and keeps.
fn show_hidden(root: &Path, run: &str, open: &[Question]) -> Result<(), CliError> {
    let held = session::held_calls(root)
        .map_err(|why| CliError::failed(format!("nothing is kept of hidden values: {why}")))?
        .of_run(run);
    for question in open {
        streams::tell(&format!("{}\n", revealed(question, &held)));
    }
    Ok(())
}

fn revealed(question: &Question, held: &[HeldCall]) -> String {
    let id = plain(&question.id);
    let kept = held.iter().find(|call| {
        question
            .approves
            .as_ref()
            .is_some_and(|hash| call.approves.contains(hash))
    });
    match kept {
        Some(call) => format!(
            "{id}: {} {}",
            plain(&call.tool),
            plain_long(&call.arguments)
        ),
        None => format!("{id}: no value of this call is hidden, or its time is over"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_call_is_shown_by_the_approval_that_it_waits_for() {
        let mut question: Question = serde_json::from_value(json!({
            "id": "approve-1", "topic": "approve-x", "text": "Allow?", "approves": "aa",
        }))
        .unwrap();
        let held = [HeldCall {
            step: "s".into(),
            call_id: "c1".into(),
            role: "r".into(),
            tool: "mcp__bank__set_password".into(),
            arguments: "{\"password\":\"Hunter2-\u{1b}[2J\"}".into(),
            approves: vec!["aa".into()],
            expires_at: "2026-01-02T03:04:05Z".into(),
        }];
        assert_eq!(
            revealed(&question, &held),
            "approve-1: mcp__bank__set_password {\"password\":\"Hunter2-\u{fffd}[2J\"}"
        );
        question.approves = Some("bb".into());
        assert_eq!(
            revealed(&question, &held),
            "approve-1: no value of this call is hidden, or its time is over"
        );
    }
}
