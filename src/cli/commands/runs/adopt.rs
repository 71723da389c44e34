//! `runs adopt`: a run that this user's agentctl did not write is shown for what it would let happen, and made the user's own
//! by the user's word.

use crate::cli::args::ModelOptions;
use crate::cli::ask;
use crate::cli::commands::diff::text as diff_text;
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::progress::{plain, plain_long, shown};
use crate::cli::runtime;
use crate::cli::session::{self, Session};
use crate::cli::timeline::outcome;
use crate::cli::words::{LISTED, in_words};
use agentctl_base::counted::counted;
use agentctl_engine::run::{self, Adoption, Answered, Touched};
use agentctl_n8n_tools::tools::LET_ACT;
use console::style;
use serde_json::{Value, json};
use std::path::Path;

pub fn adopt(root: &Path, run: &str, yes: bool, out: &Output) -> Result<Exit, CliError> {
    let session = Session::open(root, &ModelOptions::offline(), out)?;
    if !session.project.marks(run).has_key() {
        return Err(CliError::new(
            Exit::Refused,
            "a run can be made yours only where a key of yours is kept",
        )
        .hint("set AGENTCTL_HOME to a folder of your own, outside of the project"));
    }
    let backend = session.n8n()?.backend();
    let found = runtime::block_on(async {
        let now = jiff::Timestamp::now();
        let (project, pack) = (&session.project, &session.pack);
        let found = {
            let resources = session.gateway.resources();
            let redactor = session.gateway.redactor();
            run::adoption(project, pack, resources, redactor, run, now).await
        };
        backend.close().await;
        found
    })?;
    let found = found.map_err(|e| session::run_error(&e))?;
    if found.foreign.is_none() {
        return answer(&found, false, out);
    }
    let page = page(&found);
    if !yes {
        if !out.can_ask() {
            out.note(&page);
            return Err(CliError::new(
                Exit::Refused,
                format!("run {} is not adopted: nobody can be asked", found.run_id),
            )
            .hint("look at what it would let happen; to make it yours: --yes"));
        }
        out.note(&page);
        if !asked(&found)? {
            return Err(CliError::new(
                Exit::Refused,
                format!("run {} stays as it is", found.run_id),
            ));
        }
    } else if out.is_text() {
        out.note(&page);
    }
    let resources = session.gateway.resources();
    run::adopt(&session.project, resources, &session.effects, &found)
        .map_err(|e| session::run_error(&e))?;
    answer(&found, true, out)
}

fn asked(found: &Adoption) -> Result<bool, CliError> {
    ask::sure(
        format!("Make run {} yours?", found.run_id),
        "yes, resume and undo may do the above",
        "no, leave it as it is",
    )
}

fn answer(found: &Adoption, adopted: bool, out: &Output) -> Result<Exit, CliError> {
    let shown = out.redactor().value(in_words(found, LISTED));
    out.answer(
        Exit::Complete,
        || match adopted {
            true => format!(
                "run {} is yours now: {} records are marked\n",
                style(&found.run_id).bold(),
                found.records + 1
            ),
            false => format!("run {} is yours already\n", style(&found.run_id).bold()),
        },
        || json!({"adopted": adopted, "run": shown}),
    )
}

/// What the run would let happen. Every text in it came with the run.
fn page(found: &Adoption) -> String {
    let mut lines: Vec<String> = Vec::new();
    if let Some(foreign) = &found.foreign {
        lines.push(format!(
            "run {}: {}, {foreign}",
            found.run_id,
            counted(found.records, "record")
        ));
    }
    lines.push(format!("  it says of itself: {}", plain(&found.request)));
    let pack = match found.pack_in_force {
        true => "the agents, flow and policy in force here",
        false => {
            "other agents, another flow or another policy than are in force here (resume needs --allow-pack-change)"
        }
    };
    lines.push(format!("  made with: flow {}, {pack}", plain(&found.flow)));
    if let Some(n8n) = &found.place {
        lines.push(format!("  works on: the n8n at {}", plain(n8n)));
    }
    if let Some(session) = &found.session {
        lines.push(format!(
            "  a session of {} as {}: it can be undone, not resumed",
            plain(&session.client),
            plain(&session.role)
        ));
    }
    let goes_on = match (found.ended, &found.session) {
        (true, _) => "it is over: resume does nothing".to_owned(),
        (false, Some(_)) => "open".to_owned(),
        (false, None) => format!("{}: resume goes on with it", outcome(found.outcome)),
    };
    lines.push(format!("  state: {goes_on}"));
    for question in &found.questions {
        lines.push(format!(
            "  open question {}: {}",
            plain(&question.id),
            plain_long(&question.text)
        ));
    }
    lines.extend(found.answers.iter().map(answered));
    for (topic, value) in &found.answers_ahead {
        lines.push(format!(
            "  answer ready for {}: {}",
            plain(topic),
            plain(&shown(value))
        ));
    }
    if found.takes_recommendations && !found.ended {
        lines.push("  it takes every recommendation without asking (--yes)".to_owned());
    }
    let let_act = found.outside.get(LET_ACT).filter(|said| !said.is_null());
    if let Some(let_act) = let_act {
        lines.push(format!(
            "  these nodes would act on the outside world in its test: {}",
            plain(&let_act.to_string())
        ));
    }
    for call in &found.begun {
        lines.push(format!(
            "  begun and not settled: {} (settled by reading)",
            plain(call)
        ));
    }
    if found.resources.is_empty() {
        lines.push("  it changed no workflow".to_owned());
    }
    let mut text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    for workflow in &found.resources {
        text.push_str(&touched(workflow));
    }
    text
}

fn answered(answer: &Answered) -> String {
    let by = serde_json::to_value(answer.by).unwrap_or(Value::Null);
    let said = format!(
        "  answer in it to {} ({}): {}, it says by {}",
        plain(&answer.id),
        plain(&answer.text),
        plain(&shown(&answer.value)),
        plain(&shown(&by)),
    );
    match &answer.approves {
        None => said,
        Some(call) => format!(
            "{said}\n    {}: {} {} ({})",
            if call.counts {
                "resume would carry this out without asking"
            } else {
                "used up, refused or too old"
            },
            plain(&call.tool),
            plain(&call.arguments.to_string()),
            plain(&call.rule),
        ),
    }
}

fn touched(workflow: &Touched) -> String {
    let name = workflow.name.as_deref().map(plain).unwrap_or_default();
    let state = match workflow.published {
        Some(true) => ", published: what undo puts back is live at once",
        Some(false) => ", not published",
        None => ", not there now",
    };
    let mut text = format!(
        "  changed the workflow {} {name:?}{state}\n",
        style(plain(&workflow.resource.id)).bold()
    );
    match (&workflow.undo, &workflow.why_not) {
        (Some(difference), _) if difference.is_empty() => {
            text.push_str("    undo would change nothing that counts\n");
        }
        (Some(difference), _) => {
            text.push_str("    undo would do this:\n");
            let lines = diff_text(difference);
            text.extend(lines.lines().map(|line| format!("    {line}\n")));
        }
        (None, why) => text.push_str(&format!(
            "    what undo would do is not known: {}\n",
            plain_long(why.as_deref().unwrap_or_default())
        )),
    }
    text
}
