//! The analysis as a page for people: Markdown, every claim with its events and findings.

use super::{Analysis, Effect, Evidence, Kind, Trends};
use std::fmt::Write as _;

/// One line; what would open a heading, a list or HTML is plain text.
fn plain(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.replace('<', "&lt;")
}

fn shown(evidence: &Evidence) -> String {
    let events: Vec<String> = evidence.events.iter().map(u64::to_string).collect();
    let mut parts = Vec::new();
    if !events.is_empty() {
        parts.push(format!("events {}", events.join(", ")));
    }
    if !evidence.findings.is_empty() {
        parts.push(format!("findings {}", evidence.findings.join(", ")));
    }
    format!("[{}]", parts.join("; "))
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Inherited => "already in the workflow",
        Kind::Built => "built in by the run",
        Kind::Regression => "brought by a repair",
        Kind::Budget => "budget",
        Kind::Refused => "refused",
        Kind::Unanswered => "unanswered",
        Kind::Failed => "failed",
        Kind::Interrupted => "interrupted",
    }
}

pub fn markdown(analysis: &Analysis) -> String {
    let mut page = format!("# Run {}\n\n", analysis.run_id);
    _ = writeln!(page, "Asked: {}", plain(&analysis.asked.request));
    if let Some(workflow) = &analysis.asked.workflow {
        _ = writeln!(page, "Workflow: {}", plain(workflow));
    }
    for (question, answer) in &analysis.asked.questions {
        let answer = answer
            .as_ref()
            .map_or("no answer".to_owned(), ToString::to_string);
        _ = writeln!(page, "- {} → {}", plain(question), plain(&answer));
    }
    let outcome = analysis
        .outcome
        .map_or("unfinished".to_owned(), |o| format!("{o:?}").to_lowercase());
    _ = writeln!(page, "Ended: {outcome}. {}", plain(&analysis.message));

    page.push_str("\n## Root cause\n\n");
    match &analysis.root_cause {
        Some(cause) => {
            _ = writeln!(
                page,
                "{} ({}) {}",
                plain(&cause.summary),
                kind(cause.kind),
                shown(&cause.evidence)
            );
        }
        None => page.push_str("Nothing went wrong.\n"),
    }
    for claim in &analysis.followed {
        _ = writeln!(
            page,
            "- follows from it: {} {}",
            plain(&claim.text),
            shown(&claim.evidence)
        );
    }
    if let Some(word) = &analysis.word {
        match &word.summary {
            Some(summary) => {
                _ = writeln!(
                    page,
                    "\n{} (event {}): {}",
                    word.agent,
                    word.event,
                    plain(summary)
                )
            }
            None => {
                _ = writeln!(
                    page,
                    "\n{} (event {}) named no evidence that the journal has.",
                    word.agent, word.event
                )
            }
        }
        for line in &word.evidence {
            _ = writeln!(page, "- {}", plain(line));
        }
        if word.dropped > 0 {
            _ = writeln!(page, "- {} claims without evidence left out", word.dropped);
        }
    }

    if !analysis.attempts.is_empty() {
        page.push_str("\n## Attempts\n\n");
    }
    for (index, attempt) in analysis.attempts.iter().enumerate() {
        let effect = match attempt.effect {
            Effect::Cleared => "cleared",
            Effect::Helped => "helped",
            Effect::Missed => "missed",
            Effect::Worse => "made it worse",
            Effect::Nothing => "changed nothing",
        };
        _ = writeln!(
            page,
            "{}. {}: {effect}. {} {}",
            index + 1,
            attempt.what,
            plain(&attempt.why),
            shown(&attempt.evidence)
        );
    }
    if !analysis.prevention.is_empty() {
        page.push_str("\n## What would have prevented it\n\n");
    }
    for claim in &analysis.prevention {
        _ = writeln!(page, "- {} {}", plain(&claim.text), shown(&claim.evidence));
    }
    if !analysis.stopped.is_empty() {
        page.push_str("\n## Stopped by rules\n\n");
    }
    for stop in &analysis.stopped {
        _ = writeln!(
            page,
            "- {}: {} ({}) [event {}]",
            stop.rule,
            plain(&stop.what),
            plain(&stop.reason),
            stop.event
        );
    }
    if !analysis.gaps.is_empty() {
        page.push_str("\n## Research gaps\n\n");
    }
    for gap in &analysis.gaps {
        _ = writeln!(
            page,
            "- {} was used, and no call of the run looked it up [event {}]",
            gap.node_type, gap.event
        );
    }
    page.push_str("\n## Cost\n\n");
    let cost = &analysis.cost;
    _ = writeln!(
        page,
        "{} model calls, {} tool calls, {} tokens in, {} out, {}",
        cost.model_calls,
        cost.tool_calls,
        cost.input_tokens,
        cost.output_tokens,
        price(cost.cost_usd)
    );
    if !analysis.read.is_empty() {
        _ = writeln!(page, "Learnings read: {}", analysis.read.join(", "));
    }
    page.push_str("\n## Timeline\n\n");
    for moment in &analysis.timeline {
        let time = moment.at.get(11..19).unwrap_or("");
        _ = writeln!(page, "- {} {time} {}", moment.event, plain(&moment.text));
    }
    page
}

fn price(cost: Option<f64>) -> String {
    cost.map_or("price unknown".to_owned(), |usd| format!("{usd:.4} USD"))
}

pub fn trends_markdown(trends: &Trends, since: &str) -> String {
    let mut page = format!(
        "# Runs since {since}\n\n{} runs: {} complete, {} blocked, {} open, {} other\n{} rounds of repair, {} brought new errors\n{} model calls, {} tool calls, {}\n",
        trends.runs,
        trends.complete,
        trends.blocked,
        trends.open,
        trends.other,
        trends.repairs,
        trends.regressions,
        trends.model_calls,
        trends.tool_calls,
        price(trends.cost_usd)
    );
    let mut section = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            _ = write!(page, "\n## {title}\n\n{}\n", lines.join("\n"));
        }
    };
    section(
        "First causes",
        trends
            .causes
            .iter()
            .map(|(k, code, n)| match code {
                Some(code) => format!("- {n} × {code}, {}", kind(*k)),
                None => format!("- {n} × {}", kind(*k)),
            })
            .collect(),
    );
    let counted = |list: &[(String, usize)]| {
        list.iter()
            .map(|(what, n)| format!("- {n} × {}", plain(what)))
            .collect()
    };
    section("Stopped by rules", counted(&trends.stopped));
    section("Used without a look-up", counted(&trends.gaps));
    section(
        "Learnings read",
        trends
            .learnings
            .iter()
            .map(|(id, read, passed)| format!("- {id}: {passed} of {read} runs passed"))
            .collect(),
    );
    page
}
