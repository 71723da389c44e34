//! A reply to a person against what was done: no promise, no act without its call, no failure passed over, no number that nobody gave.
//! Which sentence says what is the guard's of the kit; here the calls are gathered: those of the step, and of the flows that it called.

use super::RunError;
use super::driver::Driver;
use crate::flow::{AgentStep, PatchRefusal};
use crate::pack::ToolKind;
use crate::view::Call;
use agentctl_base::model::ToolStatus;
use agentctl_kit::guard::{Became, Evidence, Figures, Label, labels, made_up, tells_failure};
use serde_json::{Map, Value};

/// Longer sentences are cut where they are quoted, in characters.
const SHOWN: usize = 160;

impl Driver<'_> {
    /// What the reply says and may not; empty: the step makes no reply, or it is right.
    pub(super) fn reply_faults(
        &self,
        step: &AgentStep,
        answer: &Value,
    ) -> Result<Vec<PatchRefusal>, RunError> {
        let key = self.spec(step).and_then(|spec| spec.reply_guard.clone());
        let Some(key) = key else {
            return Ok(Vec::new());
        };
        let reply = answer
            .get(&*key)
            .and_then(Value::as_str)
            .unwrap_or_default();
        let evidence = self.evidence(&step.path);
        let refusal = |rule: &str, message: String| PatchRefusal {
            field: key.to_string(),
            rule: rule.to_owned(),
            message,
        };
        let mut faults = Vec::new();
        for (sentence, label) in labels(reply, &evidence) {
            let why = match label {
                Label::Fine => continue,
                Label::Promise => "promises something; do it first, or leave it out",
                Label::UnsupportedAct => {
                    "says that something was done that no successful call of this turn did"
                }
                Label::ContradictsFailure => {
                    "tells a success, and the call for it failed or its outcome is unknown"
                }
            };
            let rule = label.name();
            let shown: String = sentence.trim().chars().take(SHOWN).collect();
            faults.push(refusal(
                &format!("reply.{rule}"),
                format!("\"{shown}\" {why}"),
            ));
        }
        let unsettled = evidence.iter().enumerate().any(|(at, call)| {
            let later = evidence.iter().skip(at + 1).any(|other| {
                kind_of(&other.tool) == kind_of(&call.tool) && other.became == Became::Ok
            });
            call.changes && call.became != Became::Ok && !later
        });
        if unsettled && !tells_failure(reply) {
            faults.push(refusal(
                "reply.failure",
                "a call that changes something did not succeed, and the reply does not say so"
                    .to_owned(),
            ));
        }
        let unknown = made_up(reply, &self.known_figures(step, &evidence));
        if !unknown.is_empty() {
            let message = format!("no result and nobody's words hold {}", unknown.join(", "));
            faults.push(refusal("reply.number", message));
        }
        Ok(faults)
    }

    /// The calls of a step and of the flows below it, in order.
    fn evidence(&self, path: &str) -> Vec<Evidence> {
        let below = format!("{path}/");
        let calls = self.recorder.view.calls.iter();
        let calls = calls.filter(|call| call.step == path || call.step.starts_with(&below));
        let mut evidence: Vec<Evidence> = calls.filter_map(|call| self.evidence_of(call)).collect();
        // Beside answers of real tools, what a mock says it did was not done.
        if evidence
            .iter()
            .any(|call| !is_mock(call) && call.became == Became::Ok)
        {
            let mocks = evidence
                .iter_mut()
                .filter(|call| call.changes && is_mock(call));
            mocks.for_each(|call| call.became = Became::Refused);
        }
        evidence
    }

    /// None: a flow, whose own calls count.
    fn evidence_of(&self, call: &Call) -> Option<Evidence> {
        let declared = self.pack.tools.get(&call.tool);
        if declared.is_some_and(|tool| matches!(tool.kind, ToolKind::Flow { .. })) {
            return None;
        }
        let args = call.arguments();
        let named = declared.and_then(|tool| tool.requires.as_ref()?.id.clone());
        let named = named.and_then(|id| args.get(&id)?.as_str().map(str::to_owned));
        let reads = declared
            .and_then(|tool| tool.reads_when.as_ref())
            .is_some_and(|when| {
                let variables = Map::from_iter([("args".to_owned(), args.clone())]);
                when.holds(&variables).unwrap_or(false)
            });
        let result = call.result.as_ref().map(|returned| &returned.result);
        // A declared tool's result says what its call came to.
        let reads = reads
            || declared.is_some()
                && result
                    .is_some_and(|result| result.content.get("effect") == Some(&"reads".into()));
        let became = match result.map(|result| result.status) {
            Some(ToolStatus::Ok) => Became::Ok,
            Some(ToolStatus::Failed | ToolStatus::Cancelled) => Became::Failed,
            Some(ToolStatus::Refused) => Became::Refused,
            Some(ToolStatus::Unknown) | None => Became::Unknown,
        };
        Some(Evidence {
            tool: named.unwrap_or_else(|| call.tool.clone()),
            changes: !self.gateway.only_reads(&call.tool) && !reads,
            became,
            result: result
                .map(|result| result.content.clone())
                .unwrap_or_default(),
        })
    }

    /// The figures and ids that results hold, and what was said and asked.
    fn known_figures(&self, step: &AgentStep, evidence: &[Evidence]) -> Figures {
        let mut known = Figures::default();
        for call in evidence {
            known.add_text(&call.tool);
            known.add_value(&call.result);
        }
        // What a called flow gave stands in its own calls and in its output.
        let trace = self.recorder.view.trace(&step.path);
        let results = trace.into_iter().flat_map(|trace| trace.results.values());
        results.for_each(|result| known.add_value(&result.content));
        known.add_value(&Value::Object(step.input.clone()));
        let said = step.conversation.said.iter();
        said.for_each(|said| known.add_text(&said.text));
        known
    }
}

/// The tool without the number of the user's own one.
fn kind_of(tool: &str) -> &str {
    tool.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_')
}

fn is_mock(call: &Evidence) -> bool {
    call.result.get("mock") == Some(&Value::Bool(true))
}
