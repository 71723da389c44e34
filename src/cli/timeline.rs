//! A journal told to a person on stdout: the lines of a running run (`progress`), with record numbers and times, the numbers
//! of changes, and, in a log, what a running run does not show: models, rules, costs, decisions of the flow.

use crate::cli::progress::{line, plain, plain_long};
use agentctl_base::counted::counted;
use agentctl_base::decision::Decision;
use agentctl_base::question::Outcome;
use agentctl_engine::run::{By, Made, Numbering};
use agentctl_engine::store::event::{Event, Record};
use console::style;
use serde_json::Value;

/// What the flow decided of a step whose `when` does not hold.
const SKIPPED: &str = "skipped";

/// How much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// What a running run shows.
    Progress,
    /// Everything that a person can follow, with record numbers.
    Whole,
}

/// Tells records in their order; it counts changes, so it must see all of them.
#[derive(Debug)]
pub struct Timeline {
    detail: Detail,
    numbering: Numbering,
    /// The day of the last record told.
    day: String,
    /// Records before this one are counted and not told.
    since: u64,
    /// Steps that did not apply, since the last line: told together.
    skipped: Vec<String>,
}

impl Timeline {
    pub fn new(detail: Detail) -> Self {
        // The lines are made for stderr; here they go to stdout, with its colours.
        console::set_colors_enabled_stderr(console::colors_enabled());
        Timeline {
            detail,
            numbering: Numbering::default(),
            day: String::new(),
            since: 0,
            skipped: Vec::new(),
        }
    }

    #[must_use]
    pub fn since(mut self, seq: u64) -> Self {
        self.since = seq;
        self
    }

    /// The lines of a record; empty when a person need not see it.
    pub fn lines(&mut self, record: &Record) -> String {
        let made = self.numbering.take("", record);
        if record.seq < self.since {
            return String::new();
        }
        if let Event::FlowDecided { step, decision } = &record.event
            && decision == SKIPPED
        {
            self.skipped.push(plain(step));
            return String::new();
        }
        let mut lines: Vec<String> = Vec::new();
        lines.extend(made.iter().filter(|m| m.by == By::Outside).map(change_line));
        let rest = made.iter().find(|m| m.by != By::Outside);
        match self.detail {
            Detail::Progress => lines.extend(line(&record.event)),
            Detail::Whole => lines.extend(whole(&record.event)),
        }
        lines.extend(rest.map(change_line));
        if lines.is_empty() {
            return String::new();
        }
        let mut text = String::new();
        let (day, time) = (record.at.get(..10), record.at.get(11..19));
        if let Some(day) = day.filter(|day| *day != self.day) {
            if self.detail == Detail::Whole {
                text.push_str(&format!("{}\n", style(format!("{} UTC", plain(day))).dim()));
            }
            self.day = day.to_owned();
        }
        let time = plain(time.unwrap_or_default());
        let mut head = match self.detail {
            Detail::Progress => time,
            Detail::Whole => format!("{:>4}  {time}", record.seq),
        };
        let indent = " ".repeat(head.chars().count());
        let skipped = std::mem::take(&mut self.skipped);
        if self.detail == Detail::Whole && !skipped.is_empty() {
            let told = format!("  {SKIPPED}: {}", skipped.join(", "));
            text.push_str(&format!("{indent} {}\n", style(told).dim()));
        }
        for line in lines.iter().flat_map(|l| l.lines()) {
            text.push_str(&format!("{} {line}\n", style(&head).dim()));
            head.clone_from(&indent);
        }
        text
    }
}

/// A change and its number, as `undo --to` takes it.
fn change_line(made: &Made) -> String {
    let number = style(format!("change {}", made.number)).cyan().bold();
    let change = &made.change;
    let id = plain(change.id());
    let what = match (&made.by, &change.before, &change.after) {
        (By::Outside, _, None) => "was deleted by somebody else".to_owned(),
        (By::Outside, None, _) => "was created by somebody else".to_owned(),
        (By::Outside, _, _) => "was changed by somebody else".to_owned(),
        (_, None, Some(_)) => format!("created, {}", counted(change.size, "node")),
        (_, _, None) => "deleted".to_owned(),
        _ => format!("now {}", counted(change.size, "node")),
    };
    format!("      {number}: {id} {what}")
}

/// One line for a change in a list of them: when, by whom, in which run.
pub fn history_line(made: &Made) -> String {
    let at = made.at.get(..19).unwrap_or_default().replacen('T', " ", 1);
    let by = match &made.by {
        By::Tool { role, tool } => format!("{} {}", plain(role), plain(tool)),
        By::Undo => "undo".to_owned(),
        By::Outside => "somebody else, seen".to_owned(),
    };
    format!(
        "{} {}  {by} in run {} (record {})\n",
        change_line(made).trim_start(),
        style(plain(&at)).dim(),
        plain(&made.run_id),
        made.seq
    )
}

/// The lines of a log: those of a running run, and more.
fn whole(event: &Event) -> Option<String> {
    let dim = |text: String| style(text).dim().to_string();
    match event {
        Event::RunStarted { input, .. } => {
            let asked = |key: &str| input.get(key).and_then(Value::as_str).unwrap_or_default();
            let mut told = line(event)?;
            for (what, text) in [
                ("request", asked("request")),
                ("workflow", asked("workflow")),
            ] {
                if !text.is_empty() {
                    told.push_str(&format!("\n  {what}: {}", plain_long(text)));
                }
            }
            Some(told)
        }
        Event::ToolIntent { decision, .. } => {
            let told = line(event)?;
            // The rule stands by the call, before the diff.
            let (call, diff) = told.split_once('\n').unwrap_or((&told, ""));
            Some(format!("{call}\n      {}\n{diff}", ruled(decision)))
        }
        Event::ModelAsked { model, turn, .. } => {
            Some(dim(format!("    asks {} (turn {turn})", plain(model))))
        }
        Event::ModelAnswered { answer, .. } => {
            let usage = &answer.usage;
            let calls = match answer.tool_calls.len() {
                0 => String::new(),
                n => format!(", wants {}", counted(n, "tool call")),
            };
            let tokens = match usage.input_tokens + usage.output_tokens {
                0 => String::new(),
                _ => format!(
                    ", {} tokens in ({} cached), {} out",
                    usage.input_tokens, usage.cached_tokens, usage.output_tokens
                ),
            };
            let cost = match usage.cost_usd {
                None => ", cost unknown".to_owned(),
                Some(0.0) => String::new(),
                Some(cost) => format!(", ${cost:.4}"),
            };
            Some(dim(format!("    answered{calls}{tokens}{cost}")))
        }
        Event::FlowDecided { step, decision } => {
            Some(dim(format!("  {}: {}", plain(step), plain(decision))))
        }
        Event::StatePatched { agent, patch, .. } => {
            let fields: Vec<&str> = patch.keys().map(String::as_str).collect();
            let wrote = dim(format!(
                "    {} wrote {}",
                plain(agent),
                plain(&fields.join(", "))
            ));
            Some(match line(event) {
                Some(findings) => format!("{wrote}\n{findings}"),
                None => wrote,
            })
        }
        Event::ActivationStarted {
            activation,
            kind,
            pid,
            ..
        } => Some(dim(format!(
            "activation {activation}: {} (process {pid})",
            plain(kind)
        ))),
        Event::ActivationEnded {
            activation,
            outcome: came_to,
            reason,
        } => {
            let why = reason.iter().map(|why| format!(" ({})", plain_long(why)));
            Some(dim(format!(
                "activation {activation} ended: {}{}",
                outcome(Some(*came_to)),
                why.collect::<String>()
            )))
        }
        Event::RunEnded {
            outcome: came_to,
            exit_code,
            message,
        } => Some(format!(
            "{} {} (exit code {exit_code})",
            style(format!("{}:", outcome(Some(*came_to)))).bold(),
            plain_long(message)
        )),
        Event::BranchesJoined { step, done, .. } => Some(dim(format!(
            "  {}: joined {}",
            plain(step),
            plain(&done.join(", "))
        ))),
        Event::SessionLoaded {
            conversation,
            messages,
            ..
        } => Some(dim(format!(
            "    a turn of {}, {} before it",
            plain(conversation),
            counted(messages.len(), "message")
        ))),
        Event::Cleared {
            fields, messages, ..
        } => {
            let mut what = fields.clone();
            what.extend(messages.then(|| "the messages".to_owned()));
            Some(dim(format!("    cleared {}", plain(&what.join(", ")))))
        }
        Event::StepFinished { .. } => None,
        _ => line(event),
    }
}

/// What was decided about a call, and by which rule; a refusal stands out.
fn ruled(decision: &Decision) -> String {
    match decision {
        Decision::Allow { rule } => style(format!("allowed by {}", plain(rule)))
            .dim()
            .to_string(),
        Decision::Ask { rule, reason } => format!(
            "{} {}: {}",
            style("asks").yellow().bold(),
            plain(rule),
            plain_long(reason)
        ),
        Decision::Deny { rule, reason } => format!(
            "{} {}: {}",
            style("denied by").red().bold(),
            plain(rule),
            plain_long(reason)
        ),
    }
}

/// How a run, or a part of it, came out.
pub fn outcome(outcome: Option<Outcome>) -> &'static str {
    outcome.map_or("unfinished", Outcome::name)
}

/// How a run stands, where an undo may have followed.
pub fn standing(ended: Option<Outcome>, taken_back: bool) -> String {
    match taken_back {
        true => format!("{}, {TAKEN_BACK}", outcome(ended)),
        false => outcome(ended).to_owned(),
    }
}

/// Of a run all of whose changes an undo took back.
pub const TAKEN_BACK: &str = "taken back";
