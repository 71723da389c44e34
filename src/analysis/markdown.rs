//! The analysis as a page for people: Markdown, every claim with its events and findings.

use super::{Analysis, Effect, Evidence, Explained, History, Kind, Trends};
use agentctl_base::counted::counted;
use std::fmt::Write as _;

/// A section of trends has no more lines than people read.
const MOST_LINES: usize = 20;

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
    if !evidence.executions.is_empty() {
        parts.push(format!("executions {}", evidence.executions.join(", ")));
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
        Kind::Partial => "partly built",
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
        "{}, {}, {} tokens in, {} out, {}",
        counted(cost.model_calls, "model call"),
        counted(cost.tool_calls, "tool call"),
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

/// What a model made of it.
pub fn explained_markdown(explained: &Explained) -> String {
    let mut page = format!("\n## In the words of {}\n\n", plain(&explained.model));
    for claim in &explained.claims {
        _ = writeln!(page, "- {} {}", plain(&claim.text), shown(&claim.evidence));
    }
    match explained.dropped {
        0 if explained.claims.is_empty() => page.push_str("It said nothing.\n"),
        0 => {}
        n => _ = writeln!(page, "- {n} claims without evidence left out"),
    }
    page
}

/// What became of a workflow, beside its runs.
pub fn history_markdown(history: &History) -> String {
    let mut page = format!("# Workflow {}\n\n", plain(&history.workflow));
    if let Some(list) = &history.executions {
        let failed = list
            .iter()
            .filter(|e| e.error.is_some() || e.status == "error");
        _ = writeln!(
            page,
            "{}, {} failed",
            counted(list.len(), "execution"),
            failed.count()
        );
    }
    if let Some(list) = &history.versions {
        _ = writeln!(page, "{}", counted(list.len(), "earlier version"));
    }
    _ = writeln!(page, "{} by runs", counted(history.changes.len(), "change"));
    for line in &history.unread {
        _ = writeln!(page, "- {}", plain(line));
    }
    if let Some(cause) = &history.root_cause {
        page.push_str("\n## Why executions fail\n\n");
        _ = writeln!(page, "{} {}", plain(&cause.text), shown(&cause.evidence));
        for claim in &history.prevention {
            _ = writeln!(page, "- {}", plain(&claim.text));
        }
    }
    let versions = history.versions.as_deref().unwrap_or_default();
    if !versions.is_empty() {
        page.push_str("\n## Versions, newest first\n\n");
    }
    for version in versions {
        let changed = match version.changed.as_deref() {
            None => "not read".to_owned(),
            Some([]) => "nothing but places changed after it".to_owned(),
            Some(names) => format!("changed after it: {}", names.join(", ")),
        };
        let by = match &version.replaced_by {
            Some((run, event)) => format!(" [run {run}, event {event}]"),
            None => " (not by a run that is known)".to_owned(),
        };
        _ = writeln!(
            page,
            "- {} · {} · {}{by}",
            plain(&version.id),
            counted(version.node_count, "node"),
            plain(&changed)
        );
    }
    if !history.timeline.is_empty() {
        page.push_str("\n## Changes and executions\n\n");
    }
    for happened in &history.timeline {
        let at = happened.at.as_deref().unwrap_or("-");
        let at = at.get(..19).unwrap_or(at).replace('T', " ");
        let what = match (&happened.execution, &happened.event) {
            (Some(id), _) => format!("execution {id}"),
            (_, Some((run, event))) => format!("run {run}, event {event}"),
            _ => "somebody".to_owned(),
        };
        _ = writeln!(page, "- {at} {}: {}", plain(&what), plain(&happened.text));
    }
    page
}

fn price(cost: Option<f64>) -> String {
    cost.map_or("price unknown".to_owned(), |usd| format!("{usd:.4} USD"))
}

pub fn trends_markdown(trends: &Trends, since: &str) -> String {
    let mut page = format!(
        "# Runs since {since}\n\n{}: {} complete, {} draft, {} blocked, {} open, {} other\n{} of repair, {} brought new errors\n{}, {}, {}\n",
        counted(trends.runs, "run"),
        trends.complete,
        trends.draft,
        trends.blocked,
        trends.open,
        trends.other,
        counted(trends.repairs, "round"),
        trends.regressions,
        counted(trends.model_calls, "model call"),
        counted(trends.tool_calls, "tool call"),
        price(trends.cost_usd)
    );
    let mut section = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            let shown = lines.get(..MOST_LINES).unwrap_or(&lines).join("\n");
            _ = write!(page, "\n## {title}\n\n{shown}\n");
            if lines.len() > MOST_LINES {
                _ = writeln!(
                    page,
                    "- and {} more (--output-format json)",
                    lines.len() - MOST_LINES
                );
            }
        }
    };
    if trends.weeks.len() > 1 {
        let line = |w: &super::Week| {
            format!(
                "- {}: {}, {} complete, {} blocked",
                w.monday,
                counted(w.runs, "run"),
                w.complete,
                w.blocked
            )
        };
        section(
            "By week, from Monday",
            trends.weeks.iter().map(line).collect(),
        );
    }
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
    let times = |list: &[(String, usize)]| {
        list.iter()
            .map(|(what, n)| format!("- {n} × {}", plain(what)))
            .collect()
    };
    section("Stopped by rules", times(&trends.stopped));
    section("Used without a look-up", times(&trends.gaps));
    section(
        "Learnings read",
        trends
            .learnings
            .iter()
            .map(|(id, read, passed)| {
                format!("- {id}: {passed} of {} passed", counted(read, "run"))
            })
            .collect(),
    );
    page
}
