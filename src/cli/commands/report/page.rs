//! The page of a run, part by part. Every text goes through `text` or `lines`.

use super::checked::checked;
use super::{Told, ToldOf, drawable};
use crate::analysis::Moment;
use crate::cli::report as words;
use crate::cli::timeline::standing;
use agentctl_base::counted::counted;
use agentctl_base::model::ToolStatus;
use agentctl_base::question::{AnsweredBy, Outcome};
use agentctl_engine::redact::Redactor;
use agentctl_engine::run::{Compared, RunUsage};
use agentctl_engine::toolset::Document;
use agentctl_engine::view::RunView;
use agentctl_picture::page::{Page, figure, lines, table, text};
use agentctl_picture::{Style, Subject, svg};
use indexmap::IndexMap;
use serde_json::Value;
use std::collections::BTreeMap;

/// Of a long run the story is told to here; `agentctl log` has the rest.
const MOST_MOMENTS: usize = 500;

pub fn page(told: &Told, redactor: &Redactor) -> String {
    let mut page = Page::new(&format!("Run {}", told.report.run_id));
    page.push(&head(told));
    page.section(
        "Request",
        &format!("<pre>{}</pre>\n", lines(&told.report.request)),
    );
    page.section(
        "How it ended",
        &format!("<pre>{}</pre>\n", lines(&ending(told))),
    );
    if !told.view.questions.is_empty() {
        page.section("Questions", &questions(told));
    }
    page.section("Workflow", &workflows(told, redactor));
    if !told.linked.is_empty() {
        let linked = told.linked.iter().map(|one| linked(one, redactor));
        page.section("Runs that worked for it", &linked.collect::<String>());
    }
    if let Some(checked) = checked(told) {
        page.section("Findings and tests", &checked);
    }
    page.section("Refused", &refused(told));
    page.section("Phases", &phases(told));
    page.section("What happened", &moments(&told.moments));
    page.section("Cost", &cost(told));
    page.finish()
}

fn head(told: &Told) -> String {
    let came_to = told.report.outcome;
    let class = match came_to {
        Outcome::Complete if told.report.taken_back => "warning",
        Outcome::Complete => "good",
        Outcome::Draft | Outcome::Partial | Outcome::Waiting | Outcome::Interrupted => "warning",
        _ => "error",
    };
    let began = told
        .view
        .begun
        .as_ref()
        .map_or("", |point| point.at.as_str());
    let models: Vec<&str> = told.usage.models.keys().map(String::as_str).collect();
    let used = told.usage.total;
    let rows = [
        (
            "outcome",
            format!(
                "<span class=\"{class}\">{}</span>",
                text(&standing(Some(came_to), told.report.taken_back))
            ),
        ),
        ("began", moment(began)),
        (
            "ended",
            ended_at(&told.view).map_or_else(String::new, moment),
        ),
        (
            "taken back",
            taken_back_at(&told.view).map_or_else(String::new, moment),
        ),
        ("last record", moment(&told.view.at)),
        ("flow", text(&told.view.flow)),
        ("models", text(&models.join(", "))),
        (
            "used",
            format!(
                "{}, {}, {}",
                counted(used.model_calls, "model call"),
                counted(used.tool_calls, "tool call"),
                text(&price(&used))
            ),
        ),
    ];
    let rows: String = rows
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("<dt>{name}</dt><dd>{value}</dd>\n"))
        .collect();
    format!("<dl>\n{rows}</dl>\n")
}

/// When the run's own work was over.
fn ended_at(view: &RunView) -> Option<&str> {
    // An undo of a run that waited ends it.
    let ended = view.ended.as_ref().map(|end| &end.at);
    let undone = view.put_back.first().map(|back| &back.at);
    let first = ended.into_iter().chain(undone).min_by_key(|at| at.seq);
    first.map(|at| at.at.as_str())
}

/// When an undo took back the last of what the run changed.
fn taken_back_at(view: &RunView) -> Option<&str> {
    let last = view.put_back.last().filter(|_| view.is_taken_back());
    last.map(|back| back.at.at.as_str())
}

/// The report as the terminal shows it, without its colours.
fn ending(told: &Told) -> String {
    let told = words::text(&told.report, None);
    console::strip_ansi_codes(&told).into_owned()
}

fn questions(told: &Told) -> String {
    let row = |asked: &agentctl_engine::view::Asked| {
        let (answer, by) = match &asked.answer {
            None if asked.question.required => {
                ("<span class=\"warning\">open</span>".to_owned(), "")
            }
            None => ("left open (optional)".to_owned(), ""),
            Some((value, by)) => (text(&said(value)), by_whom(*by)),
        };
        let proposal = asked.question.proposal.is_some();
        let kind = if proposal { "approval" } else { "question" };
        vec![
            kind.to_owned(),
            text(&asked.question.text),
            answer,
            by.to_owned(),
        ]
    };
    table(
        &["what", "question", "answer", "by"],
        told.view.questions.iter().map(row),
    )
}

fn by_whom(by: AnsweredBy) -> &'static str {
    match by {
        AnsweredBy::Terminal => "on the terminal",
        AnsweredBy::File => "a file of answers",
        AnsweredBy::Command => "agentctl answer",
        AnsweredBy::Recommended => "the recommendation",
    }
}

fn said(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn workflows(told: &Told, redactor: &Redactor) -> String {
    match &told.changed {
        Err(why) => format!(
            "<p><span class=\"warning\">The workflow could not be read:</span> {}</p>\n",
            text(why)
        ),
        Ok(changed) if changed.is_empty() => "<p>No workflow was changed.</p>\n".to_owned(),
        Ok(changed) => changed
            .iter()
            .map(|one| workflow(one, told, redactor))
            .collect(),
    }
}

/// A run that worked on a call: what it was asked, how it ended, and the pictures of what it changed.
fn linked(of: &ToldOf, redactor: &Redactor) -> String {
    let head = format!("<h3>{} ({})</h3>\n", text(&of.run_id), text(&of.pack));
    match &of.told {
        Err(why) => format!("{head}<p class=\"soft\">{}</p>\n", text(why)),
        Ok(told) => format!(
            "{head}<pre>{}</pre>\n<pre>{}</pre>\n{}",
            lines(&told.report.request),
            lines(&ending(told)),
            workflows(told, redactor)
        ),
    }
}

fn workflow(compared: &Compared, told: &Told, redactor: &Redactor) -> String {
    let mut part = format!("<h3>{}</h3>\n", text(&compared.resource.id));
    let (before, after) = &compared.documents;
    for (when, document) in [("Before", before), ("After", after)] {
        part.push_str(&match document {
            None => format!("<p class=\"soft\">{when}: there was no such workflow.</p>\n"),
            Some(document) => picture(when, document, told, redactor),
        });
    }
    let back = told.view.put_back.iter();
    let back = back.filter(|back| back.resource == compared.resource.id);
    for back in back {
        let at = moment(&back.at.at);
        part.push_str(&format!(
            "<p><span class=\"warning\">Put back</span> by an undo at {at}.</p>\n"
        ));
    }
    let difference = &compared.difference;
    if !difference.lines.is_empty() {
        let items: String = difference
            .lines
            .iter()
            .map(|line| format!("<li>{}</li>\n", text(line)))
            .collect();
        part.push_str(&format!("<ul>\n{items}</ul>\n"));
    }
    if !difference.diff.is_empty() {
        let diff = lines(&difference.diff);
        part.push_str(&format!(
            "<details><summary>The documents' lines</summary>\n<pre>{diff}</pre>\n</details>\n"
        ));
    }
    part
}

fn picture(when: &str, document: &Document, told: &Told, redactor: &Redactor) -> String {
    let Some((workflow, findings)) = drawable(document, told.catalog, redactor) else {
        return format!(
            "<p><span class=\"warning\">{when}: what was there is no workflow.</span></p>\n"
        );
    };
    let subject = Subject {
        workflow: &workflow,
        catalog: told.catalog,
        findings: &findings,
    };
    match svg(subject, Style::OnPage) {
        Ok(picture) => figure(
            &picture,
            &format!(
                "{when}: {}, {}",
                agentctl_picture::heading(workflow.name()),
                counted(document.size, "node")
            ),
        ),
        Err(why) => format!(
            "<p><span class=\"warning\">{when}:</span> {}</p>\n",
            text(&why.to_string())
        ),
    }
}

/// Calls and answers that a rule stopped, by rule.
fn refused(told: &Told) -> String {
    let mut by_rule: BTreeMap<String, (u64, String, String)> = BTreeMap::new();
    for (call, returned) in told.view.returned() {
        if returned.result.status != ToolStatus::Refused {
            continue;
        }
        let field = |key: &str| {
            returned
                .result
                .content
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or("")
        };
        let rule = if field("rule").is_empty() {
            "a rule"
        } else {
            field("rule")
        };
        let first = || (0, call.tool.clone(), field("error").to_owned());
        by_rule.entry(rule.to_owned()).or_insert_with(first).0 += 1;
    }
    for refused in &told.view.refused {
        let first = || {
            (
                0,
                format!("answer of {}", refused.step),
                refused.field.clone(),
            )
        };
        by_rule.entry(refused.rule.clone()).or_insert_with(first).0 += 1;
    }
    if by_rule.is_empty() {
        return "<p class=\"good\">Nothing.</p>\n".to_owned();
    }
    let rows = by_rule.iter().map(|(rule, (times, what, why))| {
        vec![
            format!("<code>{}</code>", text(rule)),
            times.to_string(),
            text(what),
            text(why),
        ]
    });
    table(&["rule", "times", "first at", "what it said"], rows)
}

/// How long each phase took, and what it used.
fn phases(told: &Told) -> String {
    let began = told.view.begun.iter().map(|point| ("", point.at.as_str()));
    let stages = told
        .view
        .stages
        .iter()
        .map(|change| (change.to.as_str(), change.at.at.as_str()));
    let starts: Vec<(&str, &str)> = began.chain(stages).collect();
    let end = ended_at(&told.view).unwrap_or(told.view.at.as_str());
    let ends = starts.iter().skip(1).map(|(_, at)| *at).chain([end]);
    let mut phases: IndexMap<&str, f64> = IndexMap::new();
    let first = told.usage.phases.keys().next().map_or("", String::as_str);
    let mut before = first;
    for ((stage, at), end) in starts.iter().zip(ends) {
        // What comes before the first change of stage belongs to the first stage.
        before = if stage.is_empty() { before } else { stage };
        *phases.entry(before).or_default() += seconds(at, end);
    }
    let longest = phases.values().copied().fold(0.001, f64::max);
    let rows = phases.iter().filter(|(name, took)| !name.is_empty() || **took >= 0.001).map(|(name, took)| {
        let used = told.usage.phases.get(*name).copied().unwrap_or_default();
        let width = (took / longest * 200.0).max(1.0);
        let bar = format!("<svg class=\"wf\" width=\"204\" height=\"14\" aria-hidden=\"true\"><rect class=\"port\" x=\"0\" y=\"2\" width=\"{width:.0}\" height=\"10\"/></svg>");
        let name = match name.is_empty() {
            true if phases.len() == 1 => "the whole run",
            true => "start",
            false => name,
        };
        vec![text(name), format!("{took:.1} s"), bar, used.model_calls.to_string(), used.tool_calls.to_string()]
    });
    table(
        &[
            "phase",
            "took",
            "of the longest",
            "calls of models",
            "calls of tools",
        ],
        rows,
    )
}

/// To the second.
fn moment(at: &str) -> String {
    let day = at.get(..19).map(|second| second.replacen('T', " ", 1));
    text(&day.map_or_else(|| at.to_owned(), |day| format!("{day} UTC")))
}

/// Between two moments, with the waiting in between; 0 where one is none.
fn seconds(from: &str, to: &str) -> f64 {
    let moment = |text: &str| text.parse::<jiff::Timestamp>().ok();
    match (moment(from), moment(to)) {
        (Some(from), Some(to)) => to.duration_since(from).as_secs_f64().max(0.0),
        _ => 0.0,
    }
}

fn moments(moments: &[Moment]) -> String {
    let row = |moment: &Moment| {
        vec![
            moment.event.to_string(),
            self::moment(&moment.at),
            text(&moment.text),
        ]
    };
    let mut part = table(
        &["record", "at", "what"],
        moments.iter().take(MOST_MOMENTS).map(row),
    );
    if let Some(more) = moments
        .len()
        .checked_sub(MOST_MOMENTS)
        .filter(|more| *more > 0)
    {
        part.push_str(&format!(
            "<p class=\"soft\">{more} more: agentctl log</p>\n"
        ));
    }
    part
}

fn cost(told: &Told) -> String {
    let mut rows = Vec::new();
    let usage = &told.usage;
    for (kind, list) in [("agent", &usage.agents), ("model", &usage.models)] {
        rows.extend(
            list.iter()
                .map(|(name, used)| used_row(&format!("{kind} {name}"), used)),
        );
    }
    rows.push(used_row("all", &usage.total));
    table(
        &[
            "who",
            "calls",
            "input tokens",
            "of these cached",
            "output tokens",
            "cost",
        ],
        rows,
    )
}

fn used_row(name: &str, used: &RunUsage) -> Vec<String> {
    let figures = [
        used.model_calls,
        used.input_tokens,
        used.cached_tokens,
        used.output_tokens,
    ];
    let mut row = vec![text(name)];
    row.extend(figures.map(|n| n.to_string()));
    row.push(text(&price(used)));
    row
}

fn price(used: &RunUsage) -> String {
    match used.cost_usd {
        Some(cost) => format!("${cost:.4}"),
        None if used.model_calls == 0 => "no cost".to_owned(),
        None => "unknown cost".to_owned(),
    }
}
