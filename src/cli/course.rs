//! What a person sees of a run's phases without asking for more: one line for each when it is over, with what came of it. All of it
//! stands in the journal.

use super::cases;
use super::plain::plain;
use agentctl_base::counted::counted;
use agentctl_base::question::{AnsweredBy, Outcome};
use agentctl_engine::store::event::{Change, Event};
use console::style;
use serde_json::{Map, Value};

/// More names of what was found than these are counted.
const MOST_NAMED: usize = 6;

/// What came of a run so far.
#[derive(Debug, Default)]
pub struct Course {
    /// The phase that is worked on; empty: not known.
    phase: String,
    asked: usize,
    taken: usize,
    answered: usize,
    steps: usize,
    calls: usize,
    found: Map<String, Value>,
    decided: Map<String, Value>,
    changes: Vec<Change>,
    checked: Map<String, Value>,
    /// What must come out of what, as it is understood.
    cases: Vec<String>,
}

impl Course {
    /// The phase that is worked on.
    pub fn phase(&self) -> &str {
        &self.phase
    }

    /// The line of a phase that is over with this event.
    pub fn told(&mut self, event: &Event) -> Option<String> {
        self.note(event);
        match event {
            Event::StageChanged { from, to } => {
                let line = self.line(from, to == "blocked");
                to.clone_into(&mut self.phase);
                (self.steps, self.calls) = (0, 0);
                Some(line)
            }
            Event::StatePatched { patch, .. } => self.expected(patch),
            Event::ActivationEnded { outcome, .. } if !self.phase.is_empty() => {
                self.stopped(*outcome)
            }
            _ => None,
        }
    }

    /// What must come out of what, before anything is built; told once.
    fn expected(&mut self, patch: &Map<String, Value>) -> Option<String> {
        let cases = cases::in_words(cases::of_state(patch));
        if cases.is_empty() || cases == self.cases {
            return None;
        }
        let lines: Vec<String> = cases
            .iter()
            .map(|case| format!("    case {case}"))
            .collect();
        self.cases = cases;
        Some(lines.join("\n"))
    }

    fn note(&mut self, event: &Event) {
        match event {
            Event::QuestionAsked { question, .. } if question.approves.is_none() => self.asked += 1,
            Event::AnswerGiven {
                by, question_id, ..
            } if !question_id.starts_with("approve") => match by {
                AnsweredBy::Recommended => self.taken += 1,
                _ => self.answered += 1,
            },
            Event::StepFinished { .. } => self.steps += 1,
            Event::ToolFinished { change, .. } => {
                self.calls += 1;
                if let Some(change) = change {
                    self.changes.retain(|known| known.id() != change.id());
                    self.changes.push(change.clone());
                }
            }
            Event::StatePatched { patch, .. } => {
                let parts = [
                    ("research_findings", &mut self.found),
                    ("decision", &mut self.decided),
                    ("qa_report", &mut self.checked),
                ];
                for (field, kept) in parts {
                    let told = patch.get(field).and_then(Value::as_object);
                    kept.extend(told.cloned().unwrap_or_default());
                }
            }
            _ => {}
        }
    }

    fn line(&self, phase: &str, failed: bool) -> String {
        let mark = match failed {
            true => style("✗").for_stderr().red(),
            false => style("✓").for_stderr().green(),
        };
        let name = style(phase).for_stderr().bold();
        format!("{mark} {name}  {}", plain(&self.came(phase)))
    }

    /// Why a phase is not over.
    fn stopped(&self, outcome: Outcome) -> Option<String> {
        let why = match outcome {
            Outcome::Complete | Outcome::Draft | Outcome::Partial | Outcome::Cancelled => {
                return None;
            }
            Outcome::Waiting => "waits for your answer",
            Outcome::Interrupted => "interrupted",
            other => other.name(),
        };
        let mark = style("•").for_stderr().yellow();
        Some(format!(
            "{mark} {}  {why}",
            style(&self.phase).for_stderr().bold()
        ))
    }

    /// What came of a phase, in words.
    fn came(&self, phase: &str) -> String {
        let parts = match phase {
            "clarification" => self.clarified(),
            "research" => self.researched(),
            "decision" => self.chosen(),
            "build" => self.built(),
            "validate" => self.validated(),
            "test" => self.tested(),
            _ => Vec::new(),
        };
        match parts.is_empty() {
            true => [counted(self.steps, "step"), counted(self.calls, "call")].join(", "),
            false => parts.join(", "),
        }
    }

    fn clarified(&self) -> Vec<String> {
        let open = self.asked.saturating_sub(self.taken + self.answered);
        let mut parts = Vec::new();
        if self.taken > 0 {
            parts.push(format!("{} taken", counted(self.taken, "recommendation")));
        }
        if self.answered > 0 {
            parts.push(format!("{} answered", counted(self.answered, "question")));
        }
        if open > 0 {
            parts.push(format!("{} left open", counted(open, "question")));
        }
        if parts.is_empty() {
            parts.push("no questions".to_owned());
        }
        parts
    }

    fn researched(&self) -> Vec<String> {
        let list = |key: &str| self.found.get(key).and_then(Value::as_array);
        let size = |key: &str| list(key).map_or(0, Vec::len);
        let mut names: Vec<&str> = Vec::new();
        for node in list("nodes").into_iter().flatten() {
            let name = node.get("label").or_else(|| node.get("type"));
            let name = name.and_then(Value::as_str).unwrap_or_default();
            let name = name.rsplit('.').next().unwrap_or(name);
            if !name.is_empty() && !names.contains(&name) {
                names.push(name);
            }
        }
        let mut parts = Vec::new();
        if !names.is_empty() {
            let (all, more) = (names.len(), names.len() > MOST_NAMED);
            names.truncate(MOST_NAMED);
            let more = if more { " …" } else { "" };
            parts.push(format!(
                "{}: {}{more}",
                counted(all, "node type"),
                names.join(", ")
            ));
        }
        if size("templates") > 0 {
            parts.push(counted(size("templates"), "template"));
        }
        if size("existing") > 0 {
            let there = counted(size("existing"), "workflow");
            parts.push(format!("{there} that could be changed"));
        }
        if parts.is_empty() {
            parts.push(match self.calls {
                0 => "nothing to look up".to_owned(),
                calls => format!("nothing found in {}", counted(calls, "call")),
            });
        }
        parts
    }

    fn chosen(&self) -> Vec<String> {
        let text = |key: &str| self.decided.get(key).and_then(Value::as_str);
        match (text("choice"), text("workflow_id")) {
            (Some("build"), _) => vec!["a new workflow".to_owned()],
            (Some("modify"), Some(id)) => vec![format!("change {id}")],
            _ => Vec::new(),
        }
    }

    fn built(&self) -> Vec<String> {
        match self.changes.is_empty() {
            true => vec!["nothing was changed".to_owned()],
            false => self.changes.iter().map(changed).collect(),
        }
    }

    fn validated(&self) -> Vec<String> {
        let count = |key: &str| self.checked.get(key).and_then(Value::as_u64);
        let (Some(errors), Some(warnings)) = (count("error_count"), count("warning_count")) else {
            return Vec::new();
        };
        let mut parts = vec![counted(errors, "error"), counted(warnings, "warning")];
        if let Some(cycle) = count("cycle").filter(|cycle| *cycle > 1) {
            parts.push(format!("after {cycle} cycles"));
        }
        parts
    }

    fn tested(&self) -> Vec<String> {
        let text = |key: &str| self.checked.get(key).and_then(Value::as_str);
        let executed = self.checked.get("executed").and_then(Value::as_bool);
        let told = match (executed, text("test_status")) {
            (Some(true), Some("pass")) => "executed, it came through".to_owned(),
            (Some(true), Some("fail")) => "executed, it failed".to_owned(),
            (Some(true), _) => "executed".to_owned(),
            _ => match text("not_executed") {
                Some(why) => format!("not executed: {}", why.trim_end_matches(": not executed")),
                None => "not executed".to_owned(),
            },
        };
        vec![told]
    }
}

/// What became of a workflow.
pub fn changed(change: &Change) -> String {
    let what = match (&change.before, &change.after) {
        (None, Some(_)) => format!("made, {}", counted(change.size, "node")),
        (_, None) => "deleted".to_owned(),
        _ => format!("written, {}", counted(change.size, "node")),
    };
    format!("{}: {what}", plain(change.id()))
}
