//! What the journal is given of a call: the intent before it, the result after it, both with their secrets hidden. Must never make
//! a call or decide one.

use super::{CallContext, Gateway, Settled, ceiling, untrusted};
use crate::guards::GuardState;
use crate::policy::Carries;
use crate::redact::{clean, clean_text};
use crate::store::StoreError;
use crate::store::event::{Change, Event, MutationExpectation};
use crate::toolset::{Answer, BackendErrorKind, Fault, Outcome, backend_failure, error_content};
use agentctl_base::decision::Decision;
use agentctl_base::model::{ModelAnswer, ToolCall, ToolResult, ToolStatus};
use serde_json::Value;

/// Longer tool names are cut before they are journaled.
const MAX_NAME: usize = 120;

/// The rule that lets a call go.
const LATE: &str = "step.timeout";

/// What is journaled before a call is made.
pub(super) struct Intent {
    pub decision: Decision,
    pub expect: Option<MutationExpectation>,
    pub mutates: bool,
    /// Of a call of another server's tool.
    pub carries: Option<Carries>,
}

impl Gateway {
    pub(super) fn intent(
        &self,
        cx: &mut CallContext<'_>,
        call: &ToolCall,
        decision: Decision,
        expect: Option<MutationExpectation>,
        mutates: bool,
    ) -> Result<(), Fault> {
        let intent = Intent {
            decision,
            expect,
            mutates,
            carries: None,
        };
        self.intend(cx, call, intent)
    }

    pub(super) fn intend(
        &self,
        cx: &mut CallContext<'_>,
        call: &ToolCall,
        intent: Intent,
    ) -> Result<(), Fault> {
        let Intent {
            decision,
            expect,
            mutates,
            carries,
        } = intent;
        let event = Event::ToolIntent {
            step: cx.step.to_owned(),
            role: cx.role.to_owned(),
            call: call.clone().into(),
            decision: self.cleaned(decision),
            mutates,
            expect,
            carries,
        };
        cx.record(event, mutates)?;
        Ok(())
    }

    pub(super) fn refuse(
        &self,
        cx: &mut CallContext<'_>,
        call: &ToolCall,
        decision: Decision,
    ) -> Result<Settled, Fault> {
        self.intent(cx, call, decision.clone(), None, false)?;
        self.finish(cx, call, Ok(Outcome::Refused(decision)), None, false)
    }

    /// Redacts, journals and returns. A backend that cannot be reached is journaled too, and then stops the run.
    pub(super) fn finish(
        &self,
        cx: &mut CallContext<'_>,
        call: &ToolCall,
        outcome: Answer,
        change: Option<Change>,
        durable: bool,
    ) -> Result<Settled, Fault> {
        let (status, content, fatal) = match outcome {
            Ok(Outcome::Ok(content)) => (ToolStatus::Ok, content, None),
            Ok(Outcome::Failed(content)) => (ToolStatus::Failed, content, None),
            Ok(Outcome::Unknown(content)) => (ToolStatus::Unknown, content, None),
            Ok(Outcome::Unread(error)) => {
                (ToolStatus::Unknown, backend_failure(&error), Some(error))
            }
            Ok(Outcome::Refused(decision)) => (ToolStatus::Refused, self.refusal(&decision), None),
            Err(error) => {
                let content = backend_failure(&error);
                let fatal = (error.kind == BackendErrorKind::Unavailable).then_some(error);
                (ToolStatus::Failed, content, fatal)
            }
        };
        let result = ToolResult {
            call_id: call.id.clone(),
            name: call.name.clone(),
            status,
            content: ceiling::within(clean(&self.redactor, content)),
        };
        let event = Event::ToolFinished {
            step: cx.step.to_owned(),
            role: cx.role.to_owned(),
            result: result.into(),
            change,
        };
        let recorded = cx.record(event, durable)?;
        match (fatal, recorded) {
            (Some(error), _) => Err(Fault::Backend {
                backend: self.backend_of(&call.name),
                error,
            }),
            (None, Event::ToolFinished { result, .. }) => Ok(Settled::Done(result.into_inner())),
            (None, _) => Err(Fault::Store(StoreError::Encode {
                what: "a call's result",
                reason: "the journal gave back another event".to_owned(),
            })),
        }
    }

    /// The refusal of a call when the run's limits leave room for none. It is not journaled.
    pub(crate) fn spent(&self, guards: &GuardState, call: &str) -> Option<(Decision, ToolResult)> {
        let decision = guards.spent(self.policy.limits())?;
        let result = ToolResult {
            call_id: String::new(),
            name: shown(call),
            status: ToolStatus::Refused,
            content: self.refusal(&decision),
        };
        Some((decision, result))
    }

    /// A call that changes nothing and took too long: its result is that nobody waited for it.
    pub fn let_it_go(
        &self,
        cx: &mut CallContext<'_>,
        call: &ToolCall,
    ) -> Result<ToolResult, Fault> {
        let why = "it took longer than the step may take";
        let result = ToolResult {
            call_id: call.id.clone(),
            name: shown(&call.name),
            status: ToolStatus::Cancelled,
            content: error_content(why, LATE, ""),
        };
        cx.record(
            Event::ToolFinished {
                step: cx.step.to_owned(),
                role: cx.role.to_owned(),
                result: result.clone().into(),
                change: None,
            },
            false,
        )?;
        Ok(result)
    }

    /// What the tool of this name works on.
    fn backend_of(&self, tool: &str) -> String {
        let found = self.found(tool).map(|(toolset, _)| toolset);
        let any = || self.toolsets().first().map(|toolset| toolset.as_ref());
        found
            .or_else(any)
            .map_or_else(String::new, |toolset| toolset.backend().to_owned())
    }

    fn refusal(&self, decision: &Decision) -> Value {
        let reason = match decision {
            Decision::Allow { .. } => "",
            Decision::Ask { reason, .. } | Decision::Deny { reason, .. } => reason.as_str(),
        };
        error_content(reason, decision.rule(), self.hint(decision.rule()))
    }

    /// A reason may quote what a model or a workflow said.
    fn cleaned(&self, decision: Decision) -> Decision {
        let clean = |reason: String| clean_text(&self.redactor, &reason);
        match decision {
            Decision::Allow { rule } => Decision::Allow { rule },
            Decision::Ask { rule, reason } => Decision::Ask {
                rule,
                reason: clean(reason),
            },
            Decision::Deny { rule, reason } => Decision::Deny {
                rule,
                reason: clean(reason),
            },
        }
    }

    /// A model's answer as the journal may keep it: a secret in it is hidden, everything else stays as it came.
    pub fn journaled_answer(&self, answer: &ModelAnswer) -> ModelAnswer {
        ModelAnswer {
            text: self.redactor.arguments(&answer.text),
            tool_calls: answer
                .tool_calls
                .iter()
                .map(|call| ToolCall {
                    arguments: self.redactor.arguments(&call.arguments),
                    ..call.clone()
                })
                .collect(),
            finish: answer.finish,
            usage: answer.usage,
        }
    }

    /// The call as the journal may keep it.
    pub(super) fn journaled(&self, call: &ToolCall) -> ToolCall {
        ToolCall {
            id: call.id.clone(),
            name: shown(&call.name),
            arguments: untrusted::text(&self.redactor.arguments(&call.arguments)).into_owned(),
        }
    }
}

/// The name of a tool, as a message or the journal may hold it.
pub(super) fn shown(name: &str) -> String {
    untrusted::text(name).chars().take(MAX_NAME).collect()
}
