//! `agentctl test WORKFLOW`: acceptance cases tried on the connected n8n, each by one real run of a temporary copy, as a run of its own
//! in the journal. What was expected stands in files; whether it came about the program says.

use crate::cli::args::ModelOptions;
use crate::cli::by_user::{self, Unmade};
use crate::cli::cases;
use crate::cli::connection::{connected, unavailable};
use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::plain::plain;
use crate::cli::progress::plain_long;
use crate::cli::runtime;
use crate::cli::session::Session;
use agentctl_base::counted::counted;
use agentctl_engine::gateway::ByUser;
use agentctl_engine::run::Answering;
use agentctl_n8n::rehearsal::Case;
use agentctl_n8n_tools::backend::Stored;
use agentctl_n8n_tools::tools::Tried;
use clap::Args;
use console::style;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Try a workflow on the connected n8n against cases: what goes in, what services answer, what must come out
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  agentctl test orders\n  agentctl test orders tests/big-order.case.yaml\n  agentctl test 7Hq2 --output-format json\n\nEach case runs on a temporary copy, which is removed again. Nodes that would act on the outside world are simulated: they hand on what the case says, and what they would have sent is worked out and compared.\nExit code 0: every case passed. 1: one failed, the run did not come to what it expects, or what it expects rests on items that the test made up. 2: a case that cannot be tried."
)]
pub struct TestArgs {
    /// The workflow on the connected n8n, by id or name
    #[arg(value_name = "WORKFLOW")]
    workflow: String,
    /// Files with a case each; default: those of tests/*.case.yaml that name this workflow, and those that its last build tried
    #[arg(value_name = "CASE")]
    cases: Vec<PathBuf>,
    /// Let the node of this name act on the outside world; can be given several times
    #[arg(long, value_name = "NODE")]
    let_act: Vec<String>,
}

pub fn test(root: &Path, args: &TestArgs, out: &Output) -> Result<Exit, CliError> {
    let given: Vec<(Option<String>, Case)> = (args.cases.iter())
        .map(|file| cases::read(file))
        .collect::<Result<_, _>>()?;
    let session = Session::open(root, &ModelOptions::offline(), out)?;
    let backend = connected(&session)?;
    let stored = runtime::block_on(async {
        let id = backend.resolve(&args.workflow).await?;
        backend.get(&id).await
    })?
    .map_err(unavailable)?;
    let tried = match given.is_empty() {
        true => cases::known(root, &session.project, &stored)?,
        false => own(given, &stored, out),
    };
    if tried.is_empty() {
        let name = plain(stored.workflow.name());
        return Err(CliError::usage(format!("there is no case for {name:?} in {}/*{}, and no build has tried one", cases::FOLDER, cases::ENDING)).hint(
            "write one: name, input, mocks, expect (docs/testing.md has an example), or name its file",
        ));
    }
    fits(&tried, &stored)?;
    let told = carry_out(session, args, &stored, tried)?;
    answer(out, &stored, &told)
}

/// The cases that were named. One that is written for another workflow is tried, and said to be.
fn own(given: Vec<(Option<String>, Case)>, stored: &Stored, out: &Output) -> Vec<Case> {
    let cases = given.into_iter().map(|(named, case)| {
        if let Some(named) = named.filter(|named| !cases::is_of(named, stored)) {
            let (case, named, name) = (
                plain(&case.name),
                plain(&named),
                plain(stored.workflow.name()),
            );
            out.note(&format!(
                "warning: the case {case:?} is written for the workflow {named:?}; it is tried on {name:?}"
            ));
        }
        case
    });
    cases.collect()
}

/// A case that is none of this workflow is a slip of whoever wrote it, and nothing is run.
fn fits(cases: &[Case], stored: &Stored) -> Result<(), CliError> {
    let wrong: Vec<String> = cases
        .iter()
        .map(|case| (case, case.wrong(&stored.workflow)))
        .filter(|(_, wrong)| !wrong.is_empty())
        .map(|(case, wrong)| {
            format!(
                "the case {:?} cannot be tried: {}",
                plain(&case.name),
                wrong.join("; ")
            )
        })
        .collect();
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(CliError::usage(plain_long(&wrong.join("; ")))
            .hint("mend the case; docs/testing.md says what one holds")),
    }
}

/// The cases, a few at a time, each lot a run; what each run's call said.
fn carry_out(
    session: Session,
    args: &TestArgs,
    stored: &Stored,
    cases: Vec<Case>,
) -> Result<Vec<(String, Value)>, CliError> {
    let allowed = (!args.let_act.is_empty()).then(|| ("approve-acts".to_owned(), json!("approve")));
    let answering = Answering {
        answers: allowed.into_iter().collect(),
        yes: false,
    };
    let cancel = session.cancel.clone();
    let n8n = Arc::clone(session.n8n()?);
    let serving = by_user::serving(session);
    runtime::block_on_until(&cancel, async {
        let mut told = Vec::new();
        for lot in cases.chunks(Tried::MOST) {
            let tried = Tried {
                workflow_id: stored.id.0.clone(),
                cases: lot.to_vec(),
                let_act: args.let_act.clone(),
            };
            let arguments = tried.arguments();
            let change = tried.on(&n8n);
            let own = ByUser {
                command: "test",
                name: Tried::NAME,
                arguments,
                change: change.as_ref(),
                allowing: &|_| "name the node with --let-act".to_owned(),
            };
            let done = by_user::make(&serving, &own, &answering, None).await;
            let done = done.map_err(Unmade::told)?;
            told.push((done.run_id, done.content));
        }
        n8n.backend().close().await;
        Ok(told)
    })
    .flatten()
}

fn list<'v>(told: &'v Value, key: &str) -> &'v [Value] {
    told.get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn answer(out: &Output, stored: &Stored, told: &[(String, Value)]) -> Result<Exit, CliError> {
    let all = |key: &'static str| told.iter().flat_map(move |(_, told)| list(told, key));
    let is_passed = |case: &&Value| {
        case.get("outcome") == Some(&json!("passed"))
            && case.get("test_status") == Some(&json!("pass"))
    };
    let (passed, count) = (all("cases").filter(is_passed).count(), all("cases").count());
    let exit = match passed == count {
        true => Exit::Complete,
        false => Exit::Failed,
    };
    let left: Vec<&Value> = told
        .iter()
        .filter_map(|(_, told)| told.get("left_behind"))
        .collect();
    out.answer(
        exit,
        || {
            let mut text = String::new();
            let nodes: Vec<&Value> = all("nodes").collect();
            for case in all("cases") {
                text.push_str(&told_case(case, &nodes));
            }
            let failed = all("findings").filter(|f| f.get("code") != Some(&json!("run/case")));
            for finding in failed.filter(|f| f.get("severity") == Some(&json!("error"))) {
                text.push_str(&format!("  {}\n", line(finding, "message")));
            }
            for what in &left {
                text.push_str(&format!("{}\n", plain_long(what.as_str().unwrap_or_default())));
            }
            text.push_str(&format!("{}: {passed} of {} passed\n", style(plain(stored.workflow.name())).bold(), counted(count, "case")));
            text
        },
        || {
            let cases: Vec<&Value> = all("cases").collect();
            let findings: Vec<&Value> = all("findings").collect();
            let runs: Vec<&String> = told.iter().map(|(run, _)| run).collect();
            let nodes = all("nodes").map(|node| (line(node, "node"), node.get("because").cloned()));
            let because: Map<String, Value> = nodes.filter_map(|(name, why)| Some((name, why?))).collect();
            json!({"workflow": {"id": stored.id, "name": stored.workflow.name()}, "passed": passed, "of": count,
                "cases": cases, "simulated_because": because, "findings": findings, "left_behind": left, "runs": runs})
        },
    )
}

fn line(of: &Value, key: &str) -> String {
    plain_long(of.get(key).and_then(Value::as_str).unwrap_or_default())
}

/// What ran in a case, and what did not: its word goes as far as that.
fn came_to(case: &Value, nodes: &[&Value]) -> String {
    let named = |key: &str| -> Vec<String> {
        let names = list(case, key).iter().filter_map(Value::as_str);
        names.map(plain).collect()
    };
    let because = |name: &String| {
        let mut of = nodes.iter().filter(|node| line(node, "node") == *name);
        let why = of
            .find_map(|node| node.get("because"))
            .and_then(Value::as_str);
        match why {
            Some(why) => format!("{name} ({})", plain_long(why)),
            None => name.clone(),
        }
    };
    let untried = named("untried");
    let missed = named("not_reached").into_iter();
    let missed: Vec<String> = missed.filter(|name| !untried.contains(name)).collect();
    let lines = [
        ("ran", named("ran")),
        (
            "simulated",
            named("simulated").iter().map(because).collect(),
        ),
        ("not reached", missed),
        (
            "untried, they act outside",
            untried.iter().map(because).collect(),
        ),
    ];
    let lines = lines.iter().filter(|(_, names)| !names.is_empty());
    let lines = lines.map(|(what, names)| format!("    {what}: {}\n", names.join(", ")));
    lines.collect()
}

fn told_case(case: &Value, nodes: &[&Value]) -> String {
    let outcome = line(case, "outcome");
    let passed = case.get("test_status") == Some(&json!("pass"));
    let because = format!("not told: {}", line(case, "inconclusive_because"));
    let (mark, how) = match (outcome.as_str(), passed) {
        ("passed", true) => (style("✓").green(), "passed"),
        ("passed", false) => (style("?").yellow(), because.as_str()),
        ("not_reached", _) => (style("?").yellow(), "not reached"),
        ("inconclusive", _) => (style("?").yellow(), "inconclusive"),
        _ => (style("✗").red(), "failed"),
    };
    let mut text = format!(
        "{mark} {}: {how} (execution {})\n",
        line(case, "name"),
        line(case, "execution")
    );
    for check in list(case, "checks") {
        if check.get("outcome") != Some(&json!("passed")) {
            text.push_str(&format!(
                "    {}: {}\n",
                line(check, "what"),
                line(check, "why")
            ));
        }
    }
    text.push_str(&came_to(case, nodes));
    text
}
