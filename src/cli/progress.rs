//! A run as it happens, on stderr: stages, agents, tools, questions, findings, cycles. With a terminal an indicatif
//! spinner stays below the lines; without one there are only lines. Journal events are the one source.

use super::course::{Course, changed};
use super::error::CliError;
use super::output::Output;
pub use super::plain::{plain, plain_long};
use super::spinner::spinner;
use super::streams;
use agentctl_base::counted::counted;
use agentctl_base::model::{ToolCall, ToolStatus};
use agentctl_base::question::AnsweredBy;
use agentctl_engine::run::Taken;
use agentctl_engine::store::event::{Change, Event, MutationExpectation, Record, Side, Weighed};
use agentctl_n8n_tools::noted::Noted;
use console::{Term, style, truncate_str};
use indicatif::ProgressBar;
use serde_json::{Map, Value};
use std::sync::{Mutex, PoisonError};

/// Writes lines for events; `spinner` only on a terminal.
pub struct Progress {
    out: Output,
    detail: Detail,
    spinner: Option<ProgressBar>,
    asked: Mutex<Vec<Asked>>,
    course: Mutex<Course>,
}

/// A question of the run, and its answer.
struct Asked {
    id: String,
    topic: String,
    text: String,
    approves: bool,
    given: Option<(Value, AnsweredBy)>,
}

impl Progress {
    pub fn new(out: &Output) -> Self {
        let wanted = Some("{spinner:.cyan} {msg:.dim}").filter(|_| !out.quiet);
        Progress {
            out: out.clone(),
            detail: match out.verbose {
                true => Detail::Every,
                false => Detail::Course,
            },
            spinner: wanted.and_then(spinner),
            asked: Mutex::default(),
            course: Mutex::default(),
        }
    }

    /// The same with every step and every call, whatever was said: for a log.
    pub fn log(out: &Output) -> Self {
        Progress {
            detail: Detail::Every,
            ..Progress::new(out)
        }
    }

    /// The same without what changes look like in a file, unless every step is to be seen: for a conversation.
    pub fn talk(out: &Output) -> Self {
        let progress = Progress::new(out);
        let detail = match progress.detail {
            Detail::Every => Detail::Every,
            _ => Detail::Talk,
        };
        Progress { detail, ..progress }
    }

    pub fn record(&self, record: &Record) {
        if let Event::ModelAsked { model, .. } = &record.event
            && let Some(bar) = &self.spinner
        {
            bar.set_message(format!("waiting for {model}"));
        }
        self.note_questions(&record.event);
        if let (Event::StepStarted { step }, Some(bar)) = (&record.event, &self.spinner) {
            bar.set_message(plain(step));
        }
        match self.detail {
            Detail::Every => self.told(line(&record.event).map(|told| fitted(&told))),
            Detail::Talk if matches!(record.event, Event::ToolIntent { .. }) => {}
            Detail::Course | Detail::Talk => {
                let mut so_far = self.course.lock().unwrap_or_else(PoisonError::into_inner);
                let over = so_far.told(&record.event);
                let phase = so_far.phase().to_owned();
                drop(so_far);
                self.told(course(&record.event, &phase));
                self.told(over);
            }
        }
    }

    fn note_questions(&self, event: &Event) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::QuestionAsked { question, .. } => asked.push(Asked {
                id: question.id.clone(),
                topic: question.topic.clone(),
                text: question.text.clone(),
                approves: question.approves.is_some(),
                given: None,
            }),
            Event::AnswerGiven {
                question_id,
                value,
                by,
                ..
            } => {
                let mut of_it = asked.iter_mut().rev();
                if let Some(asked) = of_it.find(|asked| asked.id == *question_id) {
                    asked.given = Some((value.clone(), *by));
                }
            }
            _ => {}
        }
    }

    /// The recommendations that were taken, each with its question.
    pub fn taken(&self) -> Vec<Taken> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = asked.iter().filter_map(|asked| match &asked.given {
            Some((value, AnsweredBy::Recommended)) => Some(Taken {
                topic: asked.topic.clone(),
                question: asked.text.clone(),
                value: value.clone(),
            }),
            _ => None,
        });
        taken.collect()
    }

    /// What the person at the terminal answered, by topic; approvals are for one call of one run.
    pub fn typed(&self) -> Map<String, Value> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let own = asked.iter().filter(|asked| !asked.approves);
        let typed = own.filter_map(|asked| match &asked.given {
            Some((value, AnsweredBy::Terminal)) => Some((asked.topic.clone(), value.clone())),
            _ => None,
        });
        typed.collect()
    }

    /// What a model is saying, beside the spinner.
    pub fn text(&self, delta: &str) {
        if let Some(bar) = &self.spinner {
            bar.set_message(plain(delta));
        }
    }

    fn told(&self, line: Option<String>) {
        if let Some(line) = line {
            self.line(&line);
        }
    }

    pub fn line(&self, text: &str) {
        if self.out.quiet {
            return;
        }
        let text = self.out.told(text);
        self.suspend(|| streams::tell(&format!("{text}\n")));
    }

    /// What is told with `--quiet` too.
    pub fn mistake(&self, text: &str) {
        self.suspend(|| self.out.mistake(&CliError::usage(text)));
    }

    /// Runs `f` with the spinner out of the way (a line, a question on the terminal).
    pub fn suspend<T>(&self, f: impl FnOnce() -> T) -> T {
        match &self.spinner {
            Some(bar) => bar.suspend(f),
            None => f(),
        }
    }

    pub fn finish(&self) {
        if let Some(bar) = &self.spinner {
            bar.finish_and_clear();
        }
    }
}

/// How much a running run shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// As `Course`, without the text of files: the reply says what became other than it was.
    Talk,
    /// Its phases, what was found, changed and checked, and what went wrong.
    Course,
    /// Every step and every call too.
    Every,
}

/// Of a call's line as much as the terminal has room for; a diff below it is whole.
fn fitted(told: &str) -> String {
    if !console::user_attended_stderr() {
        return told.to_owned();
    }
    let width = usize::from(Term::stderr().size().1);
    match told.split_once('\n') {
        None => truncate_str(told, width, "…").into_owned(),
        Some((first, rest)) => format!("{}\n{rest}", truncate_str(first, width, "…")),
    }
}

/// What a person sees of a run without asking for more, besides its phases. A question is told where it is asked, a read by what it
/// leads to, what was made and checked by its phase.
fn course(event: &Event, phase: &str) -> Option<String> {
    match event {
        Event::StageChanged { .. } => None,
        Event::StatePatched { patch, .. } => findings_line(patch).filter(|_| has_errors(patch)),
        Event::StepStarted { .. }
        | Event::SnapshotTaken { .. }
        | Event::ConversationCompacted { .. }
        | Event::ToolsOffered { .. }
        | Event::QuestionAsked { .. }
        // The answer has the whole of it.
        | Event::Said { .. } => None,
        Event::ToolIntent { expect, .. } => {
            let told = expectation(expect.as_ref());
            (!told.is_empty()).then_some(told)
        }
        Event::ToolFinished { result, change, .. } => match (change, result.status) {
            (Some(_), _) if phase == "build" => None,
            (Some(change), _) => Some(changed_line(change)),
            (None, ToolStatus::Refused) => Some(tool_line(result)),
            (None, _) => None,
        },
        _ => line(event),
    }
}

fn names_of(tools: &[Weighed]) -> String {
    let names: Vec<&str> = tools.iter().map(|weighed| weighed.tool.as_str()).collect();
    names.join(", ")
}

/// What became of a workflow.
fn changed_line(change: &Change) -> String {
    let mark = style("✓").for_stderr().green();
    format!("    {mark} {}", changed(change))
}

/// The line for an event, or none when a person need not see it.
pub fn line(event: &Event) -> Option<String> {
    match event {
        Event::RunStarted { run_id, flow, .. } => Some(format!(
            "{} {run_id} ({flow})",
            style("run").for_stderr().bold()
        )),
        Event::SessionOpened {
            role,
            client,
            client_version,
            ..
        } => Some(format!(
            "  session of {} as {role}",
            plain(&format!("{client} {client_version}"))
        )),
        Event::StageChanged { to, .. } => Some(format!(
            "{} {}",
            style("▶").for_stderr().cyan().bold(),
            style(to).for_stderr().bold()
        )),
        Event::StepStarted { step } => Some(format!("  {}", style(plain(step)).for_stderr().dim())),
        Event::ToolIntent {
            role, call, expect, ..
        } => Some(intent_line(role, call, expect.as_ref())),
        Event::ToolFinished { result, .. } => Some(tool_line(result)),
        Event::SnapshotTaken { resource, size, .. } => Some(format!(
            "    snapshot of {} ({})",
            plain(&resource.id),
            counted(size, "node")
        )),
        Event::QuestionAsked { question, .. } => Some(format!(
            "    {} {}{}",
            style("?").for_stderr().yellow().bold(),
            match &question.asked_by {
                Some(by) => format!("[{}] ", plain(by)),
                None => String::new(),
            },
            plain(&question.text)
        )),
        Event::AnswerGiven {
            question_id,
            value,
            by,
            ..
        } => Some(answer_line(question_id, value, *by)),
        Event::PatchRefused {
            agent, field, rule, ..
        } => Some(format!(
            "    {} {agent} may not write {}: {}",
            style("✗").for_stderr().red(),
            plain(field),
            plain(rule)
        )),
        Event::StatePatched { patch, .. } => findings_line(patch),
        Event::StepFailed { step, error } => Some(format!(
            "    {} {step}: {}",
            style("✗").for_stderr().red(),
            plain(error)
        )),
        Event::ModelRetried {
            reason, wait_ms, ..
        } => Some(format!(
            "    {} {}; asking again in {:.1} s",
            style("↻").for_stderr().yellow(),
            plain(reason),
            std::time::Duration::from_millis(*wait_ms).as_secs_f64()
        )),
        Event::ConversationCompacted {
            agent,
            calls,
            tokens_before,
            tokens_after,
            ..
        } => Some(format!(
            "    {} {}'s conversation: {} shortened, about {tokens_before} tokens → {tokens_after}",
            style("↧").for_stderr().dim(),
            plain(agent),
            counted(calls.len(), "old result")
        )),
        Event::ToolsOffered {
            agent,
            tools,
            left_out,
            ..
        } => Some(format!(
            "    {} {} is offered {} of {} tools: {}",
            style("↧").for_stderr().dim(),
            plain(agent),
            tools.len(),
            tools.len() + left_out.len(),
            plain(&names_of(tools))
        )),
        Event::CallsTurnedAway { rule, count, .. } => Some(format!(
            "    {} {} turned away in all: {}",
            style("✗").for_stderr().red(),
            counted(count, "call"),
            plain(rule)
        )),
        Event::Said {
            text, attachment, ..
        } => {
            let said = first_line(text);
            Some(match attachment {
                None => said,
                Some(place) => format!("{said}\n{}", plain(place)),
            })
        }
        Event::GrantsPinned { by, grants } => Some(pinned_lines(by, grants)),
        Event::Undone {
            resource,
            to_snapshot,
            ..
        } => Some(undone_line(&resource.id, to_snapshot)),
        Event::Adopted { from, .. } => Some(format!(
            "    {} you took the run over: from record {from} on your agentctl had not written it",
            style("!").for_stderr().yellow()
        )),
        Event::Linked(link) => Some(match link.side {
            Side::Child => format!(
                "    {} worked on it in run {}",
                plain(&link.pack),
                plain(&link.run_id)
            ),
            Side::Parent => format!(
                "    for run {} ({})",
                plain(&link.run_id),
                plain(&link.pack)
            ),
        }),
        Event::RunEnded { .. }
        | Event::ActivationStarted { .. }
        | Event::ActivationEnded { .. }
        | Event::FlowDecided { .. }
        | Event::BranchesJoined { .. }
        | Event::Cleared { .. }
        | Event::SessionLoaded { .. }
        | Event::ModelAsked { .. }
        | Event::ModelAnswered { .. }
        | Event::StepFinished { .. } => None,
    }
}

fn intent_line(role: &str, call: &ToolCall, expect: Option<&MutationExpectation>) -> String {
    let text = format!(
        "    {role} → {} {}",
        plain(&call.name),
        style(arguments(&call.arguments)).for_stderr().dim()
    );
    match expectation(expect) {
        told if told.is_empty() => text,
        told => format!("{text}\n{told}"),
    }
}

/// What a change takes away, and its diff.
fn expectation(expect: Option<&MutationExpectation>) -> String {
    let mut told: Vec<String> = Vec::new();
    let counted = expect.and_then(|e| Noted::in_expectation(e).counted);
    if let Some(counted) = counted.filter(|counted| counted.lost > 0) {
        let lost = format!("loses {}", super::words::lost(&counted));
        told.push(format!("      {}", style(lost).for_stderr().dim()));
    }
    let diff = expect.and_then(|e| e.diff.as_deref());
    if let Some(diff) = diff.filter(|diff| !diff.is_empty()) {
        told.push(colour_diff(diff).trim_end().to_owned());
    }
    told.join("\n")
}

fn answer_line(question_id: &str, value: &Value, by: AnsweredBy) -> String {
    let by = serde_json::to_value(by).unwrap_or_default();
    format!(
        "    {} {}: {} ({})",
        style("✓").for_stderr().green(),
        plain(question_id),
        plain(&answered(value)),
        by.as_str().unwrap_or_default()
    )
}

/// Without a snapshot: the workflow was not there.
fn undone_line(id: &str, to_snapshot: &str) -> String {
    let to = match to_snapshot {
        "" => ": it was not there before".to_owned(),
        snapshot => format!(" to {}", plain(snapshot)),
    };
    format!("    {} put back{to}", plain(id))
}

/// What the run may use from here on.
fn pinned_lines(by: &str, grants: &Value) -> String {
    let lines = agentctl_engine::policy::Grants::parse(grants).map(|grants| grants.lines());
    let lines = lines.unwrap_or_default();
    let whose = match by {
        "user" => "the user's own list",
        _ => "planned from the request",
    };
    let mut text = format!(
        "    {} tools of other servers for this run, {whose}:",
        style("▣").for_stderr().cyan()
    );
    if lines.is_empty() {
        text.push_str(" none");
    }
    for line in lines {
        text.push_str(&format!("\n      {}", plain(&line)));
    }
    text
}

/// Colours a unified diff: added green, removed red, places cyan. What would steer a terminal is made harmless.
pub fn colour_diff(diff: &str) -> String {
    let coloured = diff.lines().map(|line| {
        let line = plain_long(line);
        match line.chars().next() {
            Some('+') => format!("{}\n", style(line).for_stderr().green()),
            Some('-') => format!("{}\n", style(line).for_stderr().red()),
            Some('@') => format!("{}\n", style(line).for_stderr().cyan()),
            _ => format!("{line}\n"),
        }
    });
    coloured.collect()
}

fn tool_line(result: &agentctl_base::model::ToolResult) -> String {
    use agentctl_base::model::ToolStatus as S;
    let (mark, text) = match result.status {
        S::Ok => (style("✓").for_stderr().green(), summary(&result.content)),
        S::Refused => (
            style("refused").for_stderr().red().bold(),
            message(&result.content),
        ),
        S::Failed => (
            style("failed").for_stderr().yellow(),
            message(&result.content),
        ),
        S::Cancelled => (style("cancelled").for_stderr().yellow(), String::new()),
        S::Unknown => (
            style("unknown").for_stderr().red(),
            "it may have happened; it will be read back".to_owned(),
        ),
    };
    format!(
        "    {mark} {} {}",
        plain(&result.name),
        style(plain(&text)).for_stderr().dim()
    )
}

/// A verdict that leads to another cycle.
fn has_errors(patch: &Map<String, Value>) -> bool {
    let report = patch.get("qa_report");
    report.and_then(|r| r.get("status")).and_then(Value::as_str) == Some("fail")
}

/// QA's verdict, when a patch carries one with its count of errors.
fn findings_line(patch: &serde_json::Map<String, Value>) -> Option<String> {
    let report = patch.get("qa_report")?.as_object()?;
    let status = report.get("status")?.as_str()?;
    let count = |key: &str| report.get(key).and_then(Value::as_u64);
    let mut text = format!(
        "    qa: {}, {}, {}",
        plain(status),
        counted(count("error_count")?, "error"),
        counted(count("warning_count").unwrap_or(0), "warning")
    );
    if let Some(cycle) = report.get("cycle").and_then(Value::as_u64) {
        text.push_str(&format!(" (cycle {cycle})"));
    }
    Some(text)
}

fn arguments(raw: &str) -> String {
    match serde_json::from_str::<Value>(raw) {
        Ok(Value::Object(map)) => plain(
            &map.iter()
                .map(|(k, v)| format!("{k}={}", shown(v)))
                .collect::<Vec<_>>()
                .join(" "),
        ),
        _ => plain(raw),
    }
}

/// Of what the flow says as it goes: the whole of it stands in the answer.
fn first_line(text: &str) -> String {
    match text.trim_end().split_once('\n') {
        None => plain_long(text),
        Some((first, _)) => format!("{} …", plain_long(first.trim_end())),
    }
}

/// An answer in words: several choices as a list.
pub fn answered(value: &Value) -> String {
    match value.as_array() {
        Some(items) if items.iter().all(Value::is_string) => {
            let items: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            items.join(", ")
        }
        _ => shown(value),
    }
}

/// A JSON value in a few words.
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(s) => s.clone(),
        Value::Array(list) => format!("[{}]", list.len()),
        Value::Object(map) if map.len() > 3 => format!("{{{} keys}}", map.len()),
        other => other.to_string(),
    }
}

fn message(content: &Value) -> String {
    content
        .get("error")
        .and_then(Value::as_str)
        .map_or_else(|| content.to_string(), str::to_owned)
}

fn summary(content: &Value) -> String {
    match content {
        Value::Object(map) => map
            .iter()
            .filter(|(_, v)| !v.is_null())
            .take(4)
            .map(|(k, v)| match v {
                Value::Array(list) => format!("{}: {}", k, list.len()),
                other => format!("{k}: {}", shown(other)),
            })
            .collect::<Vec<_>>()
            .join(", "),
        other => shown(other),
    }
}
