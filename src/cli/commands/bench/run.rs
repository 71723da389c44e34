//! The runs of a bench: each request in a temporary folder, several at once, all of them stopped by one signal.

use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::runtime;
use crate::cli::session::Elsewhere;
use agentctl_base::question::{Outcome, Question};
use agentctl_bench::{Answer, Request, Scored, score};
use agentctl_engine::run::{Answering, Budgets, Cancel, RunOptions, RunReport, RunUsage};
use agentctl_host::files::read_regular;
use agentctl_n8n_tools::report::{Built, WORKFLOW as SECTION};
use agentctl_n8n_tools::tools::WORKFLOW;
use serde_json::{Map, Value, json};
use std::path::Path;
use std::rc::Rc;
use tokio::task::{JoinSet, LocalSet};

const MAX_WORKFLOW: u64 = 64 * 1024 * 1024;
/// Where the workflow that is to be changed lies in the temporary folder.
const EXISTING: &str = "workflows/existing.json";

/// What all requests are run with.
pub struct Runner {
    pub elsewhere: Elsewhere,
    pub limits: Budgets,
    pub yes: bool,
    /// At once.
    pub jobs: usize,
    /// In US dollars, of all requests together.
    pub total_cost: Option<f64>,
}

/// Why a request was not run to an end of its own.
#[derive(Debug, Clone)]
pub struct Trouble {
    pub exit: Exit,
    pub why: String,
}

pub struct Ran {
    pub scored: Scored,
    pub answer: Option<Answer>,
    pub trouble: Option<Trouble>,
    pub usage: RunUsage,
}

impl Ran {
    pub fn to_value(&self) -> Value {
        let mut value = json!(self.scored);
        if let Value::Object(map) = &mut value {
            let error = self.trouble.as_ref().map(|t| t.why.as_str());
            map.insert("error".into(), json!(error));
            map.insert("usage".into(), json!(self.usage));
        }
        value
    }
}

/// What all of them used together.
pub fn used(ran: &[Ran]) -> RunUsage {
    ran.iter().fold(RunUsage::default(), |mut sum, ran| {
        let usage = &ran.usage;
        sum.cost_usd = match (sum.model_calls, usage.model_calls) {
            (_, 0) => sum.cost_usd,
            (0, _) => usage.cost_usd,
            _ => sum.cost_usd.zip(usage.cost_usd).map(|(a, b)| a + b),
        };
        sum.model_calls += usage.model_calls;
        sum.tool_calls += usage.tool_calls;
        sum.input_tokens += usage.input_tokens;
        sum.output_tokens += usage.output_tokens;
        sum.cached_tokens += usage.cached_tokens;
        sum.cache_write_tokens += usage.cache_write_tokens;
        sum
    })
}

/// Runs and scores all of them; the result has the requests' order.
pub fn all(runner: Runner, requests: Vec<Request>, out: &Output) -> Result<Vec<Ran>, CliError> {
    let cancel = Cancel::default();
    let stop = cancel.clone();
    let work = LocalSet::new();
    let every = each(Rc::new(runner), requests, stop, out);
    runtime::block_on_until(&cancel, work.run_until(every))?
}

async fn each(
    runner: Rc<Runner>,
    requests: Vec<Request>,
    cancel: Cancel,
    out: &Output,
) -> Result<Vec<Ran>, CliError> {
    let (count, mut open) = (requests.len(), requests.into_iter().enumerate());
    let mut under_way = JoinSet::new();
    let mut done: Vec<(usize, Ran)> = Vec::new();
    loop {
        while under_way.len() < runner.jobs
            && let Some((at, request)) = open.next()
        {
            let spent: f64 = done.iter().filter_map(|(_, ran)| ran.usage.cost_usd).sum();
            let (runner, cancel) = (Rc::clone(&runner), cancel.clone());
            under_way
                .spawn_local(async move { (at, one(&runner, &request, &cancel, spent).await) });
        }
        let Some(next) = under_way.join_next().await else {
            break;
        };
        let (at, ran) = next.map_err(|e| CliError::new(Exit::Internal, e.to_string()))?;
        let scored = &ran.scored;
        let error = ran.trouble.as_ref().map(|t| format!(" ({})", t.why));
        out.note(&format!(
            "{} of {count}: {} {}/{}{}",
            done.len() + 1,
            scored.id,
            scored.passed,
            scored.total,
            error.unwrap_or_default()
        ));
        let mut event = ran.to_value();
        if let Value::Object(map) = &mut event {
            map.insert("type".into(), "bench.request".into());
        }
        out.stream(&event)?;
        done.push((at, ran));
    }
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, ran)| ran).collect())
}

/// One request, scored. What it cannot be run for is told in its result.
async fn one(runner: &Runner, request: &Request, cancel: &Cancel, spent: f64) -> Ran {
    let (answer, trouble, usage) = match answered(runner, request, cancel, spent).await {
        Ok((answer, usage)) => (answer, None, usage),
        Err((trouble, usage)) => (None, Some(trouble), usage),
    };
    Ran {
        scored: score(request, answer.as_ref(), runner.elsewhere.catalog()),
        answer,
        trouble,
        usage,
    }
}

type Answered = Result<(Option<Answer>, RunUsage), (Trouble, RunUsage)>;

async fn answered(runner: &Runner, request: &Request, cancel: &Cancel, spent: f64) -> Answered {
    let trouble = |error: CliError| {
        let trouble = Trouble {
            exit: error.exit,
            why: error.message,
        };
        (trouble, RunUsage::default())
    };
    if let Some(cause) = cancel.cause() {
        return Err(trouble(CliError::new(cause.into(), "not begun")));
    }
    let left = runner.total_cost.map(|total| total - spent);
    if left.is_some_and(|left| left <= 0.0) {
        return Err(trouble(CliError::new(
            Exit::Budget,
            "not begun: --total-cost is spent",
        )));
    }
    let folder = tempfile::tempdir()
        .map_err(|e| CliError::failed(format!("cannot make a temporary folder: {e}")))
        .map_err(trouble)?;
    let options = options(runner, request, folder.path(), left).map_err(trouble)?;
    let report = runner.elsewhere.run(folder.path(), cancel, options).await;
    let report = report.map_err(trouble)?;
    if matches!(
        report.outcome,
        Outcome::Failed | Outcome::Budget | Outcome::Cancelled | Outcome::Interrupted
    ) {
        let failed = Trouble {
            exit: Exit::from_code(report.exit_code),
            why: report.message.clone(),
        };
        return Err((failed, report.usage));
    }
    Ok((Some(answer(folder.path(), &report)), report.usage))
}

fn options(
    runner: &Runner,
    request: &Request,
    folder: &Path,
    left: Option<f64>,
) -> Result<RunOptions, CliError> {
    let mut input = Map::new();
    let existing = request.existing.as_ref().map(|existing| {
        let file = folder.join(EXISTING);
        let written = std::fs::create_dir_all(folder.join("workflows"))
            .and_then(|()| std::fs::write(&file, existing.to_string()));
        written.map_err(|e| CliError::io("write", &file, &e))
    });
    existing.transpose()?;
    let named = request.existing.as_ref().map(|_| EXISTING);
    input.insert(WORKFLOW.into(), json!(named));
    let mut limits = runner.limits.clone();
    if let Some(left) = left {
        let of_one = limits.run.max_cost_usd.unwrap_or(left);
        limits.run.max_cost_usd = Some(of_one.min(left));
    }
    Ok(RunOptions {
        request: request.request.clone(),
        input,
        answering: Answering {
            yes: runner.yes,
            ..Answering::default()
        },
        limits,
        ..RunOptions::default()
    })
}

/// What the run made, asked or refused.
fn answer(folder: &Path, report: &RunReport) -> Answer {
    let requirements = report.state.get("requirements");
    let refusal = requirements
        .and_then(|r| r.get("refusal"))
        .filter(|_| report.outcome == Outcome::Refused);
    let made = !matches!(report.outcome, Outcome::Refused | Outcome::Waiting);
    let section = report.sections.get(SECTION);
    let notes = section.and_then(|w| w.get("notes")).map(texts);
    Answer {
        workflow: made.then(|| workflow(folder, report)).flatten(),
        questions: report.questions.iter().map(asked).collect(),
        refusal: (report.outcome == Outcome::Refused).then(|| match refusal {
            Some(refusal) => texts(refusal).join("\n"),
            None => report.message.clone(),
        }),
        notes: notes.unwrap_or_default(),
    }
}

fn workflow(folder: &Path, report: &RunReport) -> Option<Value> {
    let file = Built::of(&report.made, &report.lost).workflow?.file?;
    let bytes = read_regular(&folder.join(file), MAX_WORKFLOW).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// A question with its options, as somebody reads it.
fn asked(question: &Question) -> String {
    let options = question.options.iter().map(|o| o.label.as_str());
    let parts = [question.text.as_str()].into_iter().chain(options);
    parts.collect::<Vec<_>>().join(" ")
}

/// All texts in a value, in their order.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => vec![text.clone()],
        Value::Array(list) => list.iter().flat_map(texts).collect(),
        Value::Object(map) => map.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}
