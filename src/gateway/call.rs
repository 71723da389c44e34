//! One call through the door, from the model's text to the journaled result. The order is fixed: name, permission, arguments,
//! budget, guards, snapshot, intent, call, read back, result.

use super::approval::{Ask, Asked, Shown, approved, settle_ask};
use super::ceiling;
use super::content::{Outcome, backend_failure, refusal};
use super::guards::{self, deny};
use super::plan::{Plan, Planned, bound};
use super::redact::{clean, clean_text, holds_mark};
use super::tools::{self, Request, Tool};
use super::{CallContext, Gateway, GatewayError, Settled, strict_json};
use agentctl_base::model::{ModelAnswer, ToolCall, ToolResult, ToolStatus};
use agentctl_base::question::Question;
use agentctl_base::untrusted;
use agentctl_base::{decision::Decision, foreign::split_foreign};
use agentctl_engine::policy::Carries;
use agentctl_engine::store::StoreError;
use agentctl_engine::store::event::{BaseHow, Change, Event, MutationExpectation};
use agentctl_n8n_tools::backend::{BackendError, BackendErrorKind};
use serde_json::{Map, Value, json};

/// Longer tool names are cut before they are journaled.
const MAX_NAME: usize = 120;

/// A decision to ask, with what the question is about.
pub(super) struct Reserved {
    pub decision: Decision,
    /// "delete the workflow "Orders"".
    pub what: String,
    pub subject: Value,
    pub recommended: Option<Value>,
}

impl Reserved {
    /// `about`: what a question would say is being done, and its subject. Most decisions ask nothing.
    pub fn new(decision: Decision, about: impl FnOnce() -> (String, Value)) -> Self {
        let (what, subject) = match decision {
            Decision::Ask { .. } => about(),
            Decision::Allow { .. } | Decision::Deny { .. } => Default::default(),
        };
        Reserved {
            decision,
            what,
            subject,
            recommended: None,
        }
    }
}

/// What is journaled before a call is made.
pub(super) struct Intent {
    pub decision: Decision,
    pub expect: Option<MutationExpectation>,
    pub mutates: bool,
    /// Of a call of another server's tool.
    pub carries: Option<Carries>,
}

/// What the decisions of one call come to.
pub(super) enum Verdict {
    Go(Decision),
    Refuse(Decision),
    Ask(Box<Question>),
}

impl Gateway {
    /// Makes the call, or says why not. Every call that is `Done` is in the journal, with exactly one result.
    pub async fn call(
        &self,
        cx: &mut CallContext<'_>,
        call: &ToolCall,
    ) -> Result<Settled, GatewayError> {
        let journaled = self.journaled(call);
        let restored = match self.restored(cx, call) {
            Ok(restored) => restored,
            Err(why) => return self.refuse(cx, &journaled, deny(guards::REDACTED, why)),
        };
        let exact = restored.as_ref().unwrap_or(call);
        let settled = match split_foreign(&call.name) {
            Some(_) => self.call_foreign(cx, exact, &journaled).await,
            None => self.call_native(cx, exact, &journaled).await,
        };
        match settled {
            Ok(Settled::NeedsApproval(mut question)) => {
                self.hold(cx, exact, &mut question);
                Ok(Settled::NeedsApproval(question))
            }
            Ok(Settled::Done(result)) => {
                self.let_go(cx, &journaled);
                Ok(Settled::Done(result))
            }
            // A backend that could not be reached: the call is made again.
            Err(error) => Err(error),
        }
    }

    /// A call of one of our own tools. `journaled`: as the journal keeps it.
    async fn call_native(
        &self,
        cx: &mut CallContext<'_>,
        call: &ToolCall,
        journaled: &ToolCall,
    ) -> Result<Settled, GatewayError> {
        let (tool, args, decision) = match self.permit(cx, call) {
            Ok(permitted) => permitted,
            Err(decision) => return self.refuse(cx, journaled, decision),
        };
        let request = match tool.parse(args.clone()) {
            Ok(request) => request,
            Err(why) => return self.refuse(cx, journaled, deny("arguments", why)),
        };
        let budget = cx.guards.budget(cx.step, journaled, self.policy.limits());
        if matches!(budget, Decision::Deny { .. }) {
            return self.refuse(cx, journaled, budget);
        }
        if let Request::CreateWorkflow(create) = &request
            && let Some(id) = cx.guards.created_as(&create.name)
        {
            let reason = format!("this run created {:?} already, as `{id}`", create.name);
            return self.refuse(cx, journaled, deny(guards::REPEAT, reason));
        }
        let exact = json!({"role": cx.role, "tool": tool.name(), "arguments": args});
        let what = || format!("call {}", tool.name());

        if !tool.mutates() {
            let permission = Reserved::new(decision, || (what(), exact));
            return match self.verdict(cx, &[permission], journaled, None) {
                Verdict::Go(decision) => {
                    self.intent(cx, journaled, decision, None, false)?;
                    let outcome = self.read(cx, &request).await;
                    self.finish(cx, journaled, outcome, None, false)
                }
                Verdict::Refuse(decision) => self.refuse(cx, journaled, decision),
                Verdict::Ask(question) => Ok(Settled::NeedsApproval(question)),
            };
        }

        let unplanned = match self.plan(cx, &request, &exact).await {
            Ok(Ok(planned)) => Ok(planned),
            Ok(Err(Outcome::Refused(decision))) => return self.refuse(cx, journaled, decision),
            Ok(Err(outcome)) => Err(Ok(outcome)),
            // Stops the run, and is the call's result before.
            Err(GatewayError::Backend { error, .. }) => Err(Err(error)),
            Err(stops) => return Err(stops),
        };
        let planned = match unplanned {
            Ok(planned) => planned,
            Err(outcome) => {
                // Nothing will be changed, so there is nothing to ask the user for.
                let decision = match decision {
                    Decision::Ask { rule, .. } => guards::allow(&rule),
                    other => other,
                };
                self.intent(cx, journaled, decision, None, false)?;
                return self.finish(cx, journaled, outcome, None, false);
            }
        };
        let Planned {
            plan,
            mut reserved,
            expect,
            question,
        } = planned;
        // What may be done to a workflow may be done to it as it is now.
        let subject = || match plan.target() {
            Some(at) => bound(&exact, at),
            None => exact.clone(),
        };
        reserved.insert(0, Reserved::new(decision, || (what(), subject())));
        if let Some((existing, deletes)) = plan.touches() {
            let decision = guards::workflow(cx.guards.only_workflow(), existing, deletes);
            let what = "change another workflow".to_owned();
            reserved.push(Reserved::new(decision, || (what, exact)));
        }
        if let Plan::Replace { before, after, .. } = &plan
            && *after != before.workflow
            && cx.guards.made_by(cx.step, journaled, before)
        {
            // Its answer was lost, and it was sent again: what it does to a text, or undoes, it would do twice.
            let reason = "this very call made the workflow what it is now; with the graph hash of now as expect_hash it is made once more";
            let refused = deny(guards::REPEAT, reason);
            reserved.push(Reserved::new(refused, Default::default));
        }
        let decision = match self.verdict(cx, &reserved, journaled, Some(&plan)) {
            Verdict::Go(decision) => decision,
            Verdict::Refuse(decision) => return self.refuse(cx, journaled, decision),
            Verdict::Ask(question) => return Ok(Settled::NeedsApproval(question)),
        };
        if let Some(question) = question {
            return Ok(Settled::NeedsApproval(question));
        }
        self.carry_out(cx, journaled, (plan, expect), decision, None)
            .await
    }

    /// What everything allows: noted, snapshotted, journaled, done, read back, journaled again. `how`: the user makes the change,
    /// and accepts what comes of it.
    pub(super) async fn carry_out(
        &self,
        cx: &mut CallContext<'_>,
        call: &ToolCall,
        (plan, expect): (Plan, Option<MutationExpectation>),
        decision: Decision,
        how: Option<BaseHow>,
    ) -> Result<Settled, GatewayError> {
        let counted = expect.as_ref().and_then(|expect| expect.counted.as_ref());
        if let Err(refused) = self.note_left(&plan, counted) {
            return self.refuse(cx, call, refused);
        }
        let requested = counted.is_some_and(|counted| counted.requested);
        let how = how.or(requested.then_some(BaseHow::Requested));
        let acceptance = self.acceptance(&plan, &decision, how);
        let meant = expect.as_ref().and_then(|expect| expect.after.clone());
        let snapshot = self.snapshot(cx, &plan)?;
        self.intent(cx, call, decision, expect, true)?;
        let (outcome, change) = self.perform(plan, snapshot).await;
        let done = change.clone();
        let settled = self.finish(cx, call, outcome, change, true)?;
        let now = cx.recorder.now();
        self.note_done(done.as_ref(), meant.as_deref(), acceptance, now)
            .await?;
        Ok(settled)
    }

    /// The tool, its arguments as an object, and what the policy says of them. Err: refused.
    fn permit(
        &self,
        cx: &CallContext<'_>,
        call: &ToolCall,
    ) -> Result<(&'static Tool, Map<String, Value>, Decision), Decision> {
        let Some(tool) = tools::find(&call.name) else {
            return Err(deny(
                "tools.unknown",
                format!("there is no tool {:?}", shown(&call.name)),
            ));
        };
        let args = strict_json::object(&call.arguments);
        let none = Map::new();
        let shown = args.as_ref().unwrap_or(&none);
        let facts = cx.guards.facts();
        let decision = self.policy.decide_with(cx.role, tool.name(), shown, facts);
        if matches!(decision, Decision::Deny { .. }) {
            return Err(decision);
        }
        if cx
            .offered
            .is_some_and(|offered| !offered.iter().any(|name| name == tool.name()))
        {
            return Err(deny(
                "tools.not_offered",
                format!("the tool {} is not one of this step's", tool.name()),
            ));
        }
        let args = args.map_err(|why| deny("arguments", why))?;
        if tool.mutates() && holds_mark(&Value::Object(args.clone())) {
            return Err(deny(
                guards::REDACTED,
                "an argument holds the mark of a hidden value",
            ));
        }
        Ok((tool, args, decision))
    }

    /// Denials first; then each decision to ask must have its answer, one question at a time. `plan`: what the call would do.
    pub(super) fn verdict(
        &self,
        cx: &CallContext<'_>,
        reserved: &[Reserved],
        call: &ToolCall,
        plan: Option<&Plan>,
    ) -> Verdict {
        let denied = |r: &&Reserved| matches!(r.decision, Decision::Deny { .. });
        if let Some(refused) = reserved.iter().find(denied) {
            return Verdict::Refuse(refused.decision.clone());
        }
        let mut allowed_by = None;
        let mut approvals: Vec<String> = Vec::new();
        for item in reserved {
            let (rule, reason) = match &item.decision {
                Decision::Ask { rule, reason } => (rule, reason),
                other => {
                    // The first is the policy's own: it names the line that allows the call.
                    allowed_by.get_or_insert_with(|| other.clone());
                    continue;
                }
            };
            let ask = Ask {
                rule,
                reason,
                what: &item.what,
                subject: &item.subject,
                recommended: item.recommended.as_ref(),
            };
            let now = cx.recorder.now();
            let open = || (self.shown(cx.role, call, plan), self.expiry(now));
            match settle_ask(cx.guards, cx.can_ask, now, &ask, open) {
                Asked::Allowed => approvals.push(rule.clone()),
                Asked::Refused(decision) => return Verdict::Refuse(decision),
                Asked::Open(mut question) => {
                    question.text = clean_text(&self.redactor, &question.text);
                    return Verdict::Ask(question);
                }
            }
        }
        if !approvals.is_empty() {
            return Verdict::Go(guards::allow(&approved(&approvals)));
        }
        match allowed_by {
            Some(decision) => Verdict::Go(decision),
            None => Verdict::Refuse(deny("policy", "nothing decided this call")),
        }
    }

    /// The call as the user is shown it. `call` is what the journal keeps: its secrets are hidden.
    fn shown(&self, role: &str, call: &ToolCall, plan: Option<&Plan>) -> Shown {
        let arguments = serde_json::from_str(&call.arguments)
            .unwrap_or_else(|_| Value::String(call.arguments.clone()));
        Shown {
            role: role.to_owned(),
            tool: call.name.clone(),
            arguments: clean(&self.redactor, arguments),
            diff: plan.and_then(|plan| self.plan_diff(plan)),
        }
    }

    pub(super) fn expiry(&self, now: jiff::Timestamp) -> jiff::Timestamp {
        let seconds = i64::try_from(self.policy.limits().max_approval_seconds).unwrap_or(i64::MAX);
        now.checked_add(jiff::SignedDuration::from_secs(seconds))
            .unwrap_or(jiff::Timestamp::MAX)
    }

    pub(super) fn intent(
        &self,
        cx: &mut CallContext<'_>,
        call: &ToolCall,
        decision: Decision,
        expect: Option<MutationExpectation>,
        mutates: bool,
    ) -> Result<(), GatewayError> {
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
    ) -> Result<(), GatewayError> {
        let Intent {
            decision,
            expect,
            mutates,
            carries,
        } = intent;
        let event = Event::ToolIntent {
            step: cx.step.to_owned(),
            role: cx.role.to_owned(),
            call: call.clone(),
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
    ) -> Result<Settled, GatewayError> {
        self.intent(cx, call, decision.clone(), None, false)?;
        self.finish(cx, call, Ok(Outcome::Refused(decision)), None, false)
    }

    /// Redacts, journals and returns. A backend that cannot be reached is journaled too, and then stops the run.
    pub(super) fn finish(
        &self,
        cx: &mut CallContext<'_>,
        call: &ToolCall,
        outcome: Result<Outcome, BackendError>,
        change: Option<Change>,
        durable: bool,
    ) -> Result<Settled, GatewayError> {
        let (status, content, fatal) = match outcome {
            Ok(Outcome::Ok(content)) => (ToolStatus::Ok, content, None),
            Ok(Outcome::Failed(content)) => (ToolStatus::Failed, content, None),
            Ok(Outcome::Unknown(content)) => (ToolStatus::Unknown, content, None),
            Ok(Outcome::Refused(decision)) => (ToolStatus::Refused, refusal(&decision), None),
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
            result,
            change,
        };
        let recorded = cx.record(event, durable)?;
        match (fatal, recorded) {
            (Some(error), _) => Err(self.unavailable(error)),
            (None, Event::ToolFinished { result, .. }) => Ok(Settled::Done(result)),
            (None, _) => Err(GatewayError::Store(StoreError::Encode {
                what: "a call's result",
                reason: "the journal gave back another event".to_owned(),
            })),
        }
    }

    pub(super) fn unavailable(&self, error: BackendError) -> GatewayError {
        GatewayError::Backend {
            backend: self.backend.name().to_owned(),
            error,
        }
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

fn shown(name: &str) -> String {
    untrusted::text(name).chars().take(MAX_NAME).collect()
}
