//! `agentctl usage [RUN]`: tokens, cache hits and cost of a run, by agent, phase, model and tool.

use crate::cli::error::{CliError, Exit};
use crate::cli::output::Output;
use crate::cli::progress::plain;
use crate::cli::project;
use crate::cli::session;
use crate::run::{self, RunUsage, UsageReport};
use clap::Args;
use indexmap::IndexMap;
use std::fmt::Write;
use std::path::Path;

/// What a run used: tokens, cache hits and cost by agent, phase, model and tool
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  agentctl usage\n  agentctl usage 019a… --output-format json")]
pub struct UsageArgs {
    /// The run; default: the active one
    #[arg(value_name = "RUN")]
    run: Option<String>,
}

pub fn usage(root: &Path, args: &UsageArgs, out: &Output) -> Result<Exit, CliError> {
    let project = project::open(root)?;
    let pack = session::load_pack(root, out)?;
    let report =
        run::usage(&project, &pack, args.run.as_deref()).map_err(|e| session::run_error(&e))?;
    out.answer(
        Exit::Complete,
        || text(&report),
        || serde_json::to_value(&report).unwrap_or_default(),
    )
}

fn text(report: &UsageReport) -> String {
    let mut text = format!("run {}\n", report.run_id);
    for (title, lines) in [
        ("agent", &report.agents),
        ("phase", &report.phases),
        ("model", &report.models),
    ] {
        table(&mut text, title, lines, &report.total);
    }
    if !report.tools.is_empty() {
        line(&mut text, ["tool", "calls", "not ok", "", "≈tokens", ""]);
        for (name, tool) in &report.tools {
            let [calls, not_ok, tokens] =
                [tool.calls, tool.not_ok, tool.result_tokens].map(|n| n.to_string());
            line(&mut text, [&plain(name), &calls, &not_ok, "", &tokens, ""]);
        }
    }
    if report.total.cache_write_tokens > 0 {
        text.push_str(&format!(
            "\nput into caches: {} of the input tokens\n",
            report.total.cache_write_tokens
        ));
    }
    if report.retries > 0 {
        text.push_str(&format!("\nasked again: {} times\n", report.retries));
    }
    text
}

fn table(text: &mut String, title: &str, lines: &IndexMap<String, RunUsage>, total: &RunUsage) {
    let heads = ["calls", "input", "cached", "output", "cost"];
    let [a, b, c, d, e] = heads;
    line(text, [title, a, b, c, d, e]);
    let total = (title == "model").then(|| ("total".to_owned(), *total));
    let lines = lines.iter().map(|(name, usage)| (plain(name), *usage));
    for (name, usage) in lines.chain(total) {
        let cost = match usage.cost_usd {
            Some(cost) => format!("${cost:.4}"),
            None if usage.model_calls == 0 => "-".to_owned(),
            None => "unknown".to_owned(),
        };
        let [calls, input, cached, output] = [
            usage.model_calls,
            usage.input_tokens,
            usage.cached_tokens,
            usage.output_tokens,
        ]
        .map(|n| n.to_string());
        line(text, [&name, &calls, &input, &cached, &output, &cost]);
    }
    text.push('\n');
}

fn line(text: &mut String, [name, a, b, c, d, e]: [&str; 6]) {
    let line = format!("{name:<28}{a:>7}{b:>10}{c:>10}{d:>10}{e:>12}");
    if writeln!(text, "{}", line.trim_end()).is_err() {
        // A String takes everything.
    }
}
