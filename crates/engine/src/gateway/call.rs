//! One call through the door, from the model's text to the journaled result. The order is fixed: name, permission, arguments,
//! budget, guards, snapshot, intent, call, read back, result.

use super::approval::{Ask, Asked, Shown, settle_ask};
use super::record::shown;
use super::{CallContext, Gateway, Settled, strict_json};
use crate::guards::approved;
use crate::guards::rules::{self, deny};
use crate::redact::{Redactor, clean, clean_text, holds_mark};
use crate::store::event::MutationExpectation;
use crate::store::{Event, SnapshotRef};
use crate::toolset::{
    Act, Fault, Head, Keep, Outcome, Parsed, Plan, Reserved, ResourceMark, Toolset, Touches,
};
use agentctl_base::decision::Decision;
use agentctl_base::foreign::split_foreign;
use agentctl_base::model::{ToolCall, ToolResult};
use agentctl_base::question::{Glance, Question};
use serde_json::{Map, Value, json};

/// One of our own tools, permitted: its toolset, its arguments as an object, and what the policy says.
struct Permitted<'g> {
    toolset: &'g dyn Toolset,
    head: &'g Head,
    args: Map<String, Value>,
    decision: Decision,
}

/// What the decisions of one call come to.
pub(super) enum Verdict {
    Go(Decision),
    Refuse(Decision),
    Ask(Box<Question>),
}

impl Gateway {
    /// Makes the call, or says why not. Every call that is `Done` is in the journal, with exactly one result.
    pub async fn call(&self, cx: &mut CallContext<'_>, call: &ToolCall) -> Result<Settled, Fault> {
        let journaled = self.journaled(call);
        let restored = match self.restored(cx, call) {
            Ok(restored) => restored,
            Err(why) => return self.refuse(cx, &journaled, deny(rules::REDACTED, why)),
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
            Ok(settled) => {
                self.let_go(cx, &journaled);
                Ok(settled)
            }
            // A backend that could not be reached: the call is made again.
            Err(error) => Err(error),
        }
    }

    /// The result of a call that was [`Settled::Begun`], journaled. `came`: the output of its flow, or why there is none.
    pub fn came_of(
        &self,
        cx: &mut CallContext<'_>,
        call: &ToolCall,
        came: Result<Value, String>,
    ) -> Result<ToolResult, Fault> {
        let outcome = match came {
            Ok(output) => Outcome::Ok(output),
            Err(why) => Outcome::failed(why, "tools.flow", "tell the user that it did not work"),
        };
        match self.finish(cx, &self.journaled(call), Ok(outcome), None, false)? {
            Settled::Done(result) => Ok(result),
            // `finish` gives nothing else.
            Settled::NeedsApproval(_) | Settled::Begun => {
                Err(Fault::Kept("the result of a call was lost".to_owned()))
            }
        }
    }

    /// A call of one of our own tools. `journaled`: as the journal keeps it.
    async fn call_native(
        &self,
        cx: &mut CallContext<'_>,
        call: &ToolCall,
        journaled: &ToolCall,
    ) -> Result<Settled, Fault> {
        let Permitted {
            toolset,
            head,
            args,
            decision,
        } = match self.permit(cx, call) {
            Ok(permitted) => permitted,
            Err(decision) => return self.refuse(cx, journaled, decision),
        };
        let parsed = match toolset.parse(head.name, args.clone()) {
            Ok(parsed) => parsed,
            Err(why) => return self.refuse(cx, journaled, deny("arguments", why)),
        };
        let budget = cx.guards.budget(cx.step, journaled, self.policy.limits());
        if matches!(budget, Decision::Deny { .. }) {
            return self.refuse(cx, journaled, budget);
        }
        let mut exact = json!({"role": cx.role, "tool": head.name, "arguments": args});
        // An approval is of the call with what the program fills in.
        if let (Some(bound), Value::Object(exact)) =
            (cx.bound.filter(|bound| !bound.is_empty()), &mut exact)
        {
            exact.insert("bound".into(), Value::Object(bound.clone()));
        }
        let what = || format!("call {}", head.name);
        let change = match parsed {
            Parsed::Read(_) if head.changes => {
                let why = "this call changes nothing, and its tool says that it does";
                return self.refuse(cx, journaled, deny("tools.unknown", why));
            }
            Parsed::Read(read) => {
                let permission = Reserved::new(decision, || (what(), exact));
                return match self.verdict(cx, &[permission], journaled, None) {
                    Verdict::Go(decision) => {
                        self.intent(cx, journaled, decision, None, false)?;
                        let outcome = read.run(&mut self.inner(cx, &journaled.id)).await;
                        self.finish(cx, journaled, outcome, None, false)
                    }
                    Verdict::Refuse(decision) => self.refuse(cx, journaled, decision),
                    Verdict::Ask(question) => Ok(Settled::NeedsApproval(question)),
                };
            }
            // What is told as a read is synced like one: it must not change anything.
            Parsed::Change(_) if !head.changes => {
                let why = "this call changes something, and its tool says that it does not";
                return self.refuse(cx, journaled, deny("tools.unknown", why));
            }
            Parsed::Change(change) => change,
            Parsed::Flow => {
                let permission = Reserved::new(decision, || (what(), exact));
                return match self.verdict(cx, &[permission], journaled, None) {
                    Verdict::Go(decision) => {
                        self.intent(cx, journaled, decision, None, false)?;
                        Ok(Settled::Begun)
                    }
                    Verdict::Refuse(decision) => self.refuse(cx, journaled, decision),
                    Verdict::Ask(question) => Ok(Settled::NeedsApproval(question)),
                };
            }
        };

        let unplanned = match change
            .plan(&mut self.inner(cx, &journaled.id), &exact)
            .await
        {
            Ok(Ok(plan)) => Ok(plan),
            Ok(Err(Outcome::Refused(decision))) => return self.refuse(cx, journaled, decision),
            Ok(Err(outcome)) => Err(Ok(outcome)),
            // Stops the run, and is the call's result before.
            Err(Fault::Backend { error, .. }) => Err(Err(error)),
            Err(stops) => return Err(stops),
        };
        let plan = match unplanned {
            Ok(plan) => plan,
            Err(outcome) => {
                // Nothing will be changed, so there is nothing to ask the user for.
                let decision = match decision {
                    Decision::Ask { rule, .. } => rules::allow(&rule),
                    other => other,
                };
                self.intent(cx, journaled, decision, None, false)?;
                return self.finish(cx, journaled, outcome, None, false);
            }
        };
        let Plan {
            act,
            mut reserved,
            expect,
            question,
        } = plan;
        let touches = act.touches();
        // What may be done to a thing may be done to it as it is now.
        let subject = || match touches.at() {
            Some(at) => bound(&exact, at),
            None => exact.clone(),
        };
        reserved.insert(0, Reserved::new(decision, || (what(), subject())));
        let is_asked = |r: &Reserved| matches!(r.decision, Decision::Ask { .. });
        // What is asked anyway shows the change too. A test on a copy leaves the document as it is.
        let shows = || act.diff(&self.redactor).is_some();
        if cx.guards.looks()
            && touches != Touches::Nothing
            && !reserved.iter().any(is_asked)
            && shows()
        {
            let kind = toolset.resources().map_or("resource", |own| own.kind());
            let what = match touches.at() {
                Some(at) => format!("change the {kind} {}", at.resource.id),
                None => format!("make this {kind}"),
            };
            let subject = subject();
            reserved.push(Reserved::new(rules::look(), || (what, subject)));
        }
        if touches != Touches::Nothing {
            let kind = toolset.resources().map_or("resource", |own| own.kind());
            let existing = touches.at().map(|at| at.resource.id.as_str());
            let deletes = matches!(touches, Touches::Deleted(_));
            let decision = rules::only(kind, cx.guards.only(), existing, deletes);
            let what = format!("change another {kind}");
            reserved.push(Reserved::new(decision, || (what, exact)));
        }
        if let Some(at) = touches.at().filter(|_| act.rewrites())
            && cx
                .guards
                .made_by(cx.step, journaled, &at.resource.id, &at.revision)
        {
            // Its answer was lost, and it was sent again: what it does to a text, or undoes, it would do twice.
            let kind = &at.resource.kind;
            let reason = format!("this very call made the {kind} what it is now");
            let refused = deny(rules::REPEAT, reason);
            reserved.push(Reserved::new(refused, Default::default));
        }
        let decision = match self.verdict(cx, &reserved, journaled, Some(act.as_ref())) {
            Verdict::Go(decision) => decision,
            Verdict::Refuse(decision) => return self.refuse(cx, journaled, decision),
            Verdict::Ask(question) => return Ok(Settled::NeedsApproval(question)),
        };
        if let Some(question) = question {
            return Ok(Settled::NeedsApproval(question));
        }
        self.carry_out(cx, journaled, (act, expect), decision, false)
            .await
    }

    /// What everything allows: noted, snapshotted, journaled, done, read back, journaled again. `by_person`: a command of the user's
    /// makes the change.
    pub(super) async fn carry_out(
        &self,
        cx: &mut CallContext<'_>,
        call: &ToolCall,
        (mut act, expect): (Box<dyn Act>, Option<MutationExpectation>),
        decision: Decision,
        by_person: bool,
    ) -> Result<Settled, Fault> {
        if let Err(refused) = act.before(&decision, by_person)? {
            return self.refuse(cx, call, refused);
        }
        let changes_what_is_there =
            act.touches().at().is_some() && expect.as_ref().is_some_and(|e| e.before != e.after);
        let snapshot = match act.keep() {
            None if changes_what_is_there => {
                let why = "what would be changed is not kept first, so it could not be taken back";
                return self.refuse(cx, call, deny("tools.snapshot", why));
            }
            Some(state) => Some(self.snapshot(cx, &state)?),
            None => None,
        };
        self.intent(cx, call, decision, expect, true)?;
        let (outcome, change) = act.perform(snapshot.as_ref()).await;
        if let Some(link) = act.linked() {
            cx.record(Event::Linked(link), false)?; // the durable result that follows takes this line with it
        }
        if let Some(asked) = act.asks()
            && let Verdict::Ask(question) = self.verdict(cx, &[asked], call, None)
        {
            return Ok(Settled::NeedsApproval(question));
        }
        let done = change.clone();
        let settled = self.finish(cx, call, outcome, change, true)?;
        let now = cx.recorder.now();
        act.after(done.as_ref(), now).await?;
        Ok(settled)
    }

    /// Writes the state before the change to disk and journals it. A failure stops the run: no change without its snapshot.
    fn snapshot(&self, cx: &mut CallContext<'_>, state: &Keep) -> Result<SnapshotRef, Fault> {
        let taken = cx.recorder.snapshot(&state.mark, &state.text)?;
        cx.record(
            taken.clone().into(),
            false, // the file is on the disk; the durable intent that follows takes this line with it
        )?;
        Ok(taken)
    }

    /// Err: refused.
    fn permit<'g>(
        &'g self,
        cx: &CallContext<'_>,
        call: &ToolCall,
    ) -> Result<Permitted<'g>, Decision> {
        let Some((toolset, head)) = self.found(&call.name) else {
            return Err(deny(
                "tools.unknown",
                format!("there is no tool {:?}", shown(&call.name)),
            ));
        };
        let args = strict_json::object(&call.arguments);
        let none = Map::new();
        let shown = args.as_ref().unwrap_or(&none);
        let known = cx.guards.facts();
        let with_bound = cx.bound.map(|bound| known.with_bound(bound));
        let facts = with_bound.as_ref().unwrap_or(known);
        let decision = self.policy.decide_with(cx.role, head.name, shown, facts);
        if matches!(decision, Decision::Deny { .. }) {
            return Err(decision);
        }
        if cx
            .offered
            .is_some_and(|offered| !offered.iter().any(|name| name == head.name))
        {
            return Err(deny(
                "tools.not_offered",
                format!("the tool {} is not one of this step's", head.name),
            ));
        }
        let args = args.map_err(|why| deny("arguments", why))?;
        if head.changes && holds_mark(&Value::Object(args.clone())) {
            return Err(deny(
                rules::REDACTED,
                "an argument holds the mark of a hidden value",
            ));
        }
        Ok(Permitted {
            toolset,
            head,
            args,
            decision,
        })
    }

    /// Denials first; then each decision to ask must have its answer, one question at a time. `act`: what the call would do.
    pub(super) fn verdict(
        &self,
        cx: &CallContext<'_>,
        reserved: &[Reserved],
        call: &ToolCall,
        act: Option<&dyn Act>,
    ) -> Verdict {
        let denied = |r: &&Reserved| matches!(r.decision, Decision::Deny { .. });
        if let Some(refused) = reserved.iter().find(denied) {
            return Verdict::Refuse(refused.decision.clone());
        }
        let unasked = (!cx.can_ask).then(|| self.resources().client_words().unasked);
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
            let looks = rule == rules::LOOK;
            let open = || {
                let shown = self.shown(cx, call, act, looks);
                (shown, self.expiry(now))
            };
            match settle_ask(cx.guards, unasked, now, &ask, open) {
                Asked::Allowed => approvals.push(rule.clone()),
                Asked::Refused(decision) => return Verdict::Refuse(decision),
                Asked::Open(mut question) => {
                    question.text = clean_text(&self.redactor, &question.text);
                    return Verdict::Ask(question);
                }
            }
        }
        if !approvals.is_empty() {
            return Verdict::Go(rules::allow(&approved(&approvals)));
        }
        match allowed_by {
            Some(decision) => Verdict::Go(decision),
            None => Verdict::Refuse(deny("policy", "nothing decided this call")),
        }
    }

    /// The call as the user is shown it. `call` is what the journal keeps: its secrets are hidden. `looks`: with the document that
    /// it would leave.
    fn shown(
        &self,
        cx: &CallContext<'_>,
        call: &ToolCall,
        act: Option<&dyn Act>,
        looks: bool,
    ) -> Shown {
        let arguments: Value = serde_json::from_str(&call.arguments)
            .unwrap_or_else(|_| Value::String(call.arguments.clone()));
        Shown {
            role: cx.role.to_owned(),
            tool: call.name.clone(),
            diff: act.and_then(|act| act.diff(&self.redactor)),
            after: act
                .filter(|_| looks)
                .and_then(Act::after_it)
                .map(|after| clean(&self.redactor, after)),
            glance: act
                .filter(|_| looks)
                .and_then(|act| act.glance(&cx.guards.wanted(&arguments)))
                .map(|glance| cleaned(&self.redactor, glance)),
            arguments: clean(&self.redactor, arguments),
        }
    }
}

/// With its secrets hidden.
fn cleaned(redactor: &Redactor, glance: Glance) -> Glance {
    let all = |values: Vec<Value>| -> Vec<Value> {
        let values = values.into_iter();
        values.map(|value| clean(redactor, value)).collect()
    };
    let texts = |texts: Vec<String>| -> Vec<String> {
        let texts = texts.iter();
        texts.map(|text| clean_text(redactor, text)).collect()
    };
    Glance {
        todo: all(glance.todo),
        findings: all(glance.findings),
        not_covered: texts(glance.not_covered),
        notes: texts(glance.notes),
        cases: all(glance.cases),
    }
}

/// An approval's subject: the exact call on the thing as it is now.
pub(super) fn bound(exact: &Value, at: &ResourceMark) -> Value {
    json!({"call": exact, (at.resource.kind.clone()): at.resource.id, "graph": at.revision})
}
