//! `agentctl usage [RUN]`: tokens, cache hits and cost of a run, by agent, phase, model and tool.

use crate::cli::error::{CliError, Exit};
use crate::cli::fit;
use crate::cli::layout::table;
use crate::cli::output::Output;
use crate::cli::progress::plain;
use crate::cli::project;
use crate::cli::session;
use agentctl_base::counted::counted;
use agentctl_engine::run::{self, RunUsage, UsageReport, UsedByLinked};
use clap::Args;
use console::measure_text_width;
use indexmap::IndexMap;
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
    let project = project::open(root, out)?;
    let pack = session::load_pack(root, out)?;
    let report =
        run::usage(&project, &pack, args.run.as_deref()).map_err(|e| session::run_error(&e))?;
    out.answer(
        Exit::Complete,
        || text(&report),
        || serde_json::to_value(&report).unwrap_or_default(),
    )
}

/// The least width of each column; the figures' columns with the blanks before them.
const WIDTHS: [u16; 6] = [14, 7, 8, 8, 8, 9];
/// The figures beside a name, as wide as they mostly are.
const FIGURES: u16 = 7 + 8 + 8 + 8 + 9;

fn text(report: &UsageReport) -> String {
    let mut rows: Vec<[String; 6]> = Vec::new();
    for (title, lines) in [
        ("agent", &report.agents),
        ("phase", &report.phases),
        ("model", &report.models),
    ] {
        let total = (title == "model").then_some(&report.total);
        rows.extend(section(title, lines, total));
    }
    if !report.tools.is_empty() {
        rows.push(["tool", "calls", "not ok", "", "≈tokens", ""].map(str::to_owned));
        for (name, tool) in &report.tools {
            let [calls, not_ok, tokens] =
                [tool.calls, tool.not_ok, tool.result_tokens].map(|n| n.to_string());
            let none = String::new;
            rows.push([plain(name), calls, not_ok, none(), tokens, none()]);
        }
    }
    if let Some(together) = &report.together {
        let of = |used: &UsedByLinked| (format!("{} ({})", used.run_id, used.pack), used.total);
        let used: IndexMap<String, RunUsage> = report.linked.iter().map(of).collect();
        rows.extend(section("run that worked for it", &used, Some(together)));
    }
    let lines = lines(rows, fit::columns());
    let mut text = format!("run {}\n{lines}", report.run_id);
    if report.total.cache_write_tokens > 0 {
        text.push_str(&format!(
            "\nput into caches: {} of the input tokens\n",
            report.total.cache_write_tokens
        ));
    }
    if report.retries > 0 {
        text.push_str(&format!(
            "\nasked again: {}\n",
            counted(report.retries, "time")
        ));
    }
    text
}

/// The rows as lines. A name that would make its column too wide for the terminal stands above its figures; None: any name fits.
fn lines(mut rows: Vec<[String; 6]>, columns: Option<u16>) -> String {
    let room = columns.map(|columns| usize::from(columns.saturating_sub(FIGURES)));
    let mut above = Vec::with_capacity(rows.len());
    for [name, ..] in &mut rows {
        let is_long = room.is_some_and(|room| measure_text_width(name) > room);
        above.push(is_long.then(|| std::mem::take(name)));
    }
    let mut text = String::new();
    let figures = table(WIDTHS, rows);
    for (line, name) in figures.lines().zip(above) {
        let name = name.map(|name| name + "\n");
        text.push_str(&format!("{}{line}\n", name.unwrap_or_default()));
    }
    text
}

/// What one kind of thing used, below its heads, with an empty line behind.
fn section(
    title: &str,
    lines: &IndexMap<String, RunUsage>,
    total: Option<&RunUsage>,
) -> Vec<[String; 6]> {
    let heads = [title, "calls", "input", "cached", "output", "cost"].map(str::to_owned);
    let total = total.map(|usage| row("total".to_owned(), usage));
    let lines = lines.iter().map(|(name, usage)| row(plain(name), usage));
    let end = [const { String::new() }; 6];
    [heads]
        .into_iter()
        .chain(lines)
        .chain(total)
        .chain([end])
        .collect()
}

fn row(name: String, usage: &RunUsage) -> [String; 6] {
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
    [name, calls, input, cached, output, cost]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_stands_above_its_figures_where_they_would_not_fit_beside_it() {
        let model = |name: &str, input: &str| {
            let row = [name, "12", input, "0", "412", "$0.0210"];
            row.map(str::to_owned)
        };
        let rows = || {
            vec![
                model("claude-haiku-4-5", "1204556"),
                model("anthropic::claude-sonnet-4-5-20250929", "98221"),
            ]
        };
        insta::assert_snapshot!(lines(rows(), Some(60)), @"
        claude-haiku-4-5     12  1204556       0     412  $0.0210
        anthropic::claude-sonnet-4-5-20250929
                             12    98221       0     412  $0.0210
        ");
        insta::assert_snapshot!(lines(rows(), None), @"
        claude-haiku-4-5                          12  1204556       0     412  $0.0210
        anthropic::claude-sonnet-4-5-20250929     12    98221       0     412  $0.0210
        ");
    }
}
