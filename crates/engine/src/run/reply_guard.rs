//! A reply to a person against what was done: no promise, no act without its call, no failure passed over, no number that nobody gave.
//! Which sentence says what is the guard's of the kit; here the calls are gathered: those of the step, and of the flows that it called.

use super::RunError;
use super::driver::Driver;
use crate::agent::Contract;
use crate::flow::{AgentStep, PatchRefusal};
use crate::pack::ToolKind;
use crate::view::Call;
use agentctl_base::model::ToolStatus;
use agentctl_kit::guard::{Became, Evidence, Figures, Label, labels, made_up, tells_failure, told};
use agentctl_kit::language::detected;
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

    /// The answer with what the program says of the calls in the place of a reply that is not accepted after its repairs. None: the
    /// answer is accepted, or is not for another reason, or the flow says what comes after a failure of the step.
    pub(super) fn in_own_words(
        &self,
        step: &AgentStep,
        answer: &Value,
    ) -> Result<Option<Value>, RunError> {
        let of = self.recorder.flow.step_at(&step.path);
        let key = self.spec(step).and_then(|spec| spec.reply_guard.clone());
        let Some(key) = key.filter(|_| of.is_some_and(|of| !of.continue_on_failure)) else {
            return Ok(None);
        };
        if self.reply_faults(step, answer)?.is_empty() {
            return Ok(None);
        }
        let evidence = self.evidence(&step.path);
        let said = step.conversation.said.last();
        let language = said.and_then(|said| detected(&said.text)).unwrap_or("en");
        let mut own = answer.clone();
        if let Value::Object(map) = &mut own {
            map.insert(key.to_string(), told(&evidence, language).into());
        }
        let contract =
            Contract::compile(&step.contract).map_err(|e| RunError::Pack(e.to_string()))?;
        let fits = contract.faults(&own).is_empty();
        let others = self.judge(step, &mut own.clone(), false)?.0;
        Ok((fits && others.is_empty()).then_some(own))
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
        let about = named.as_deref().and_then(|id| self.listed_as(call, id));
        let about = about.or_else(|| declared.map(|tool| tool.description.clone()));
        Some(Evidence {
            about: about.unwrap_or_default(),
            acts: declared.map(|tool| tool.acts.clone()).unwrap_or_default(),
            tool: named.unwrap_or_else(|| call.tool.clone()),
            changes: !self.gateway.only_reads(&call.tool) && !reads,
            became,
            result: result
                .map(|result| result.content.clone())
                .unwrap_or_default(),
        })
    }

    /// What a list of tools, asked for before in the same step or beside it, says of one of them.
    fn listed_as(&self, call: &Call, id: &str) -> Option<String> {
        let requires = self.pack.tools.get(&call.tool)?.requires.as_ref()?;
        let beside = |step: &str| {
            step.rsplit_once('/')
                .map_or("", |(flow, _)| flow)
                .to_owned()
        };
        let lists = self.recorder.view.calls.iter().rev();
        let mut lists = lists
            .filter(|list| list.tool == requires.tool && beside(&list.step) == beside(&call.step));
        lists.find_map(|list| {
            let result = &list.result.as_ref()?.result.content;
            let mut tools = result.get("tools")?.as_array()?.iter();
            let one = tools.find(|tool| tool.get("id").and_then(Value::as_str) == Some(id))?;
            one.get("description")?.as_str().map(str::to_owned)
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
