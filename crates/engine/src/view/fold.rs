//! The fold itself.

use super::{
    Activation, Asked, Changed, Ended, Failed, Patched, Pinned, Point, PutBack, Refused, RunUsage,
    Said, SessionOf, StageChange, Stopped, Worked,
    calls::{Begun, Call, Intent, ModelCall, Repeated, Repeats, Returned, Trace},
};
use crate::flow::within;
use crate::store::{Event, Link, Means, Record, Shared, SnapshotRef, event::StepPath};
use agentctl_base::{model::ToolResult, question::Outcome};
use indexmap::IndexMap;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A run, from its records in their order. What is only needed while a step is open is forgotten with its end.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunView {
    /// The first record; None: there is none yet.
    pub begun: Option<Point>,
    pub run_id: String,
    pub flow: String,
    pub pack_hash: String,
    pub input: Map<String, Value>,
    /// Set when the run is a session of another agent's tool calls: then no flow drives it.
    pub session: Option<SessionOf>,
    /// It is a turn of a conversation.
    pub is_turn: bool,
    /// The number of the last activation, from 1.
    pub activation: u32,
    pub activations: Vec<Activation>,
    /// The project's turn in which the last activation was made; None: no record says it.
    pub order: Option<u64>,
    /// How the last activation ended; None: it runs, or was killed.
    pub activation_outcome: Option<Outcome>,
    /// Activations that came to no end of the run, and why.
    pub stopped: Vec<Stopped>,
    /// What was said last about limits and models; None: nothing was.
    pub means: Option<Means>,
    pub ended: Option<Ended>,
    pub stages: Vec<StageChange>,
    pub model_calls: Vec<ModelCall>,
    /// Attempts of models' calls that failed for now and were made again.
    pub retries: u64,
    /// In the order in which they began.
    pub calls: Vec<Call>,
    pub questions: Vec<Asked>,
    pub usage: RunUsage,
    /// Calls that were refused unread because the limits were used up. They count as no use.
    pub turned_away: u64,
    /// The same by step.
    pub usage_of: BTreeMap<StepPath, RunUsage>,
    pub worked: Worked,
    pub patches: Vec<Patched>,
    /// The messages of the run's reply, in order.
    pub said: Vec<Said>,
    pub refused: Vec<Refused>,
    pub failed: Vec<Failed>,
    /// The failures, as the report has them.
    pub errors: Vec<Value>,
    /// Every change, in order, also what does not stand.
    pub changes: Vec<Changed>,
    /// What the toolset noted of each resource that the run was about to change, by id; of each key what was noted last.
    pub noted: BTreeMap<String, Map<String, Value>>,
    pub snapshots: Vec<SnapshotRef>,
    /// Every resource that an undo looked at, in order.
    pub put_back: Vec<PutBack>,
    /// Resources put back as they were before the run, by id.
    pub undone: Vec<String>,
    /// How often conversations of an agent were shortened.
    pub compactions: BTreeMap<String, u32>,
    /// The whole results that a line stands for in a conversation, by step and call.
    pub put_aside: BTreeMap<StepPath, IndexMap<String, Shared<ToolResult>>>,
    /// The call that came back most often with the same arguments and the same result.
    pub most_repeated: Option<Repeated>,
    /// What the run may use of other servers' tools, as it was pinned.
    pub grants: Vec<Value>,
    pub pinned: Vec<Pinned>,
    /// The runs that it belongs together with, each once.
    pub links: Vec<Link>,
    /// The number of the last record.
    pub last: u64,
    /// When it was written: UTC, RFC 3339.
    pub at: String,
    repeats: Repeats,
    /// Where the calls stand that have no result yet, in their order.
    unanswered: Vec<usize>,
    /// Steps that are under way.
    pub(super) open: IndexMap<StepPath, Trace>,
}

impl RunView {
    pub fn of<'r>(records: impl IntoIterator<Item = &'r Record>) -> Self {
        let mut view = RunView::default();
        for record in records {
            view.apply(record);
        }
        view
    }

    /// Forgets what only a reader of the whole run asks for: calls that are settled, activations that are over, what was used by
    /// step. The changes, the totals and what is under way stay, so a run that goes on from here comes to the same.
    pub fn forget_settled(&mut self) {
        self.open
            .retain(|_, trace| trace.unsettled().next().is_some());
        let open = &self.open;
        self.calls
            .retain(|call| call.result.is_none() || open.contains_key(&call.step));
        let calls = self.calls.iter().enumerate();
        let unanswered = calls.filter(|(_, call)| call.result.is_none());
        self.unanswered = unanswered.map(|(at, _)| at).collect();
        self.activations.clear();
        self.usage_of.clear();
        self.repeats = Repeats::default();
    }

    /// Takes the next record in.
    pub fn apply(&mut self, record: &Record) {
        let at = Point::from(record);
        self.last = record.seq;
        self.worked.take(record);
        self.at.clone_from(&record.at);
        let turn = self.order;
        self.changes
            .extend(Changed::of(record).map(|changed| Changed { turn, ..changed }));
        match &record.event {
            Event::ModelAsked { .. }
            | Event::ModelRetried { .. }
            | Event::ModelAnswered { .. }
            | Event::ToolsOffered { .. }
            | Event::ConversationCompacted { .. } => self.take_conversation(&record.event, at),
            Event::ToolIntent { .. } => self.take_intent(&record.event, at),
            Event::ToolFinished { .. } => self.take_result(&record.event, at),
            Event::CallsTurnedAway { count, .. } => self.turned_away = *count,
            Event::QuestionAsked { .. } | Event::AnswerGiven { .. } => {
                self.take_question(&record.event, at);
            }
            Event::StatePatched { .. }
            | Event::PatchRefused { .. }
            | Event::Said { .. }
            | Event::StepFinished { .. }
            | Event::BranchesJoined { .. }
            | Event::StepFailed { .. } => self.take_step(&record.event, at),
            Event::SnapshotTaken { .. } | Event::Adopted { .. } | Event::Undone { .. } => {
                self.take_states(&record.event, at);
            }
            Event::RunStarted { .. }
            | Event::SessionOpened { .. }
            | Event::SessionLoaded { .. }
            | Event::ActivationStarted { .. }
            | Event::ActivationEnded { .. }
            | Event::StageChanged { .. }
            | Event::GrantsPinned { .. }
            | Event::Linked(_)
            | Event::RunEnded { .. } => self.take_course(&record.event, at),
            Event::StepStarted { .. } | Event::FlowDecided { .. } | Event::Cleared { .. } => {}
        }
    }

    fn take_course(&mut self, event: &Event, at: Point) {
        match event {
            Event::RunStarted {
                run_id,
                flow,
                pack_hash,
                input,
                ..
            } => {
                self.begun = Some(at);
                self.run_id.clone_from(run_id);
                self.flow.clone_from(flow);
                self.pack_hash.clone_from(pack_hash);
                self.input.clone_from(input);
            }
            Event::SessionOpened {
                role,
                client,
                client_version,
                ..
            } => {
                self.session = Some(SessionOf {
                    role: role.clone(),
                    client: client.clone(),
                    client_version: client_version.clone(),
                });
            }
            Event::SessionLoaded { .. } => self.is_turn = true,
            Event::ActivationStarted {
                activation,
                kind,
                pid,
                means,
                order,
                ..
            } => {
                self.activation = *activation;
                self.order = order.or(self.order);
                self.activation_outcome = None;
                if let Some(means) = means {
                    self.means = Some((**means).clone());
                }
                self.activations.push(Activation {
                    at,
                    number: *activation,
                    kind: kind.clone(),
                    pid: *pid,
                });
            }
            Event::ActivationEnded {
                outcome, reason, ..
            } => {
                self.activation_outcome = Some(*outcome);
                self.stopped.extend(reason.iter().map(|reason| Stopped {
                    at: at.clone(),
                    reason: reason.clone(),
                }));
            }
            Event::StageChanged { to, .. } => self.stages.push(StageChange { at, to: to.clone() }),
            Event::GrantsPinned { by, grants } => {
                self.grants.push(grants.clone());
                self.pinned.push(Pinned { at, by: by.clone() });
            }
            Event::Linked(link) if !self.links.iter().any(|known| known.run_id == link.run_id) => {
                self.links.push(link.clone());
            }
            Event::RunEnded {
                outcome,
                exit_code,
                message,
            } => {
                self.ended = Some(Ended {
                    at,
                    outcome: *outcome,
                    exit_code: *exit_code,
                    message: message.clone(),
                });
            }
            _ => {}
        }
    }

    fn take_conversation(&mut self, event: &Event, at: Point) {
        match event {
            Event::ModelAsked {
                step, turn, model, ..
            } => self.model_calls.push(ModelCall {
                step: step.clone(),
                turn: *turn,
                model: model.clone(),
                stage: None,
                asked: Some(at),
                answered: None,
                usage: None,
            }),
            Event::ModelRetried { .. } => self.retries += 1,
            Event::ModelAnswered { step, turn, answer } => {
                self.usage.add_answer(&answer.usage);
                let of_step = self.usage_of.entry(step.clone()).or_default();
                of_step.add_answer(&answer.usage);
                let stage = self.stage().map(str::to_owned);
                let mut calls = self.model_calls.iter_mut().rev();
                let open = calls.find(|call| call.step == *step);
                match open.filter(|call| call.answered.is_none()) {
                    Some(call) => {
                        call.stage = stage;
                        call.answered = Some(at);
                        call.usage = Some(answer.usage);
                    }
                    None => {
                        let model = self.model_calls.last().map(|call| call.model.clone());
                        self.model_calls.push(ModelCall {
                            step: step.clone(),
                            turn: *turn,
                            model: model.unwrap_or_default(),
                            stage,
                            asked: None,
                            answered: Some(at),
                            usage: Some(answer.usage),
                        });
                    }
                }
                let trace = self.open.entry(step.clone()).or_default();
                trace.answers.insert(*turn, answer.clone());
            }
            Event::ToolsOffered { step, left_out, .. } => {
                let trace = self.open.entry(step.clone()).or_default();
                let names = left_out.iter().map(|weighed| weighed.tool.clone());
                trace.left_out = Some(names.collect());
            }
            Event::ConversationCompacted {
                step,
                agent,
                turn,
                calls,
                ..
            } => {
                *self.compactions.entry(agent.clone()).or_default() += 1;
                let trace = self.open.entry(step.clone()).or_default();
                trace.shortened.insert(*turn, calls.clone());
                let results = calls
                    .iter()
                    .filter_map(|id| trace.results.get_key_value(id));
                let aside = self.put_aside.entry(step.clone()).or_default();
                aside.extend(results.map(|(id, result)| (id.clone(), result.clone())));
            }
            _ => {}
        }
    }

    fn take_intent(&mut self, event: &Event, at: Point) {
        let Event::ToolIntent {
            step,
            role,
            call,
            mutates,
            expect,
            ..
        } = event
        else {
            return;
        };
        if let Some(expect) = expect.as_ref().filter(|expect| !expect.more.is_empty())
            && let Some(id) = expect.id()
        {
            let noted = self.noted.entry(id.to_owned()).or_default();
            noted.extend(expect.more.clone());
        }
        let trace = self.open.entry(step.clone()).or_default();
        let begun = Begun {
            mutates: *mutates,
            intent: Some(Box::new(event.clone())),
        };
        trace.begun.insert(call.id.clone(), begun);
        let intent = Intent {
            at,
            call: Shared::clone(call),
            mutates: *mutates,
        };
        // One that was cut off before anything happened is begun again.
        let known = self.unanswered(step, &call.id);
        match known.and_then(|at| self.calls.get_mut(at)) {
            Some(open) => open.intent = Some(intent),
            None => {
                self.unanswered.push(self.calls.len());
                self.calls.push(Call {
                    step: step.clone(),
                    role: role.clone(),
                    id: call.id.clone(),
                    tool: call.name.clone(),
                    stage: None,
                    intent: Some(intent),
                    result: None,
                });
            }
        }
    }

    fn take_result(&mut self, event: &Event, at: Point) {
        let Event::ToolFinished {
            step,
            role,
            result,
            change,
        } = event
        else {
            return;
        };
        self.usage.tool_calls += 1;
        self.usage_of.entry(step.clone()).or_default().tool_calls += 1;
        let trace = self.open.entry(step.clone()).or_default();
        if let Some(call) = trace.take(result) {
            let times = self
                .repeats
                .count(&call.name, &call.arguments, &result.content);
            let most = self.most_repeated.as_ref();
            if most.is_none_or(|most| times > most.times) {
                self.most_repeated = Some(Repeated {
                    tool: call.name.clone(),
                    times,
                });
            }
        }
        let stage = self.stage().map(str::to_owned);
        let returned = Returned {
            at,
            result: result.clone(),
            change: change.clone().map(Box::new),
        };
        let known = self.unanswered(step, &result.call_id);
        self.unanswered.retain(|at| Some(*at) != known);
        match known.and_then(|at| self.calls.get_mut(at)) {
            Some(open) => {
                open.stage = stage;
                open.result = Some(returned);
            }
            None => self.calls.push(Call {
                step: step.clone(),
                role: role.clone(),
                id: result.call_id.clone(),
                tool: result.name.clone(),
                stage,
                intent: None,
                result: Some(returned),
            }),
        }
    }

    /// Where the last call of this step and id stands that has no result.
    fn unanswered(&self, step: &str, id: &str) -> Option<usize> {
        let is = |at: &&usize| {
            let call = self.calls.get(**at);
            call.is_some_and(|call| call.step == step && call.id == id)
        };
        self.unanswered.iter().rev().find(is).copied()
    }

    fn take_question(&mut self, event: &Event, at: Point) {
        match event {
            Event::QuestionAsked { step, question } => self.questions.push(Asked {
                at,
                step: step.clone(),
                question: question.clone(),
                answer: None,
                answered: None,
            }),
            Event::AnswerGiven {
                step,
                question_id,
                value,
                by,
            } => {
                let mut asked = self.questions.iter_mut().rev();
                if let Some(asked) =
                    asked.find(|a| a.step == *step && a.question.id == *question_id)
                {
                    asked.answer = Some((value.clone(), *by));
                    asked.answered = Some(at);
                }
            }
            _ => {}
        }
    }

    fn take_step(&mut self, event: &Event, at: Point) {
        match event {
            Event::StatePatched { step, agent, patch } => {
                let trace = self.open.entry(step.clone()).or_default();
                trace.patched = Some(patch.clone());
                self.patches.push(Patched {
                    at,
                    step: step.clone(),
                    agent: agent.clone(),
                    patch: patch.clone(),
                });
            }
            Event::PatchRefused {
                step, field, rule, ..
            } => self.refused.push(Refused {
                at,
                step: step.clone(),
                field: field.clone(),
                rule: rule.clone(),
            }),
            Event::Said {
                step,
                text,
                data,
                attachment,
            } => self.said.push(Said {
                at,
                step: step.clone(),
                text: text.clone(),
                data: data.clone(),
                attachment: attachment.clone(),
            }),
            Event::StepFailed { step, error } => {
                self.close(step);
                self.errors
                    .push(serde_json::json!({"step": step, "error": error}));
                self.failed.push(Failed {
                    at,
                    step: step.clone(),
                    error: error.clone(),
                });
            }
            Event::StepFinished { step, .. } | Event::BranchesJoined { step, .. } => {
                self.close(step);
            }
            _ => {}
        }
    }

    /// What only a step under way needs, of this one and of what was given up with it.
    fn close(&mut self, step: &str) {
        self.open.retain(|open, _| !within(open, step));
    }

    fn take_states(&mut self, event: &Event, at: Point) {
        match event {
            Event::SnapshotTaken {
                resource,
                file,
                revision,
                size,
                sha256,
            } => self.snapshots.push(SnapshotRef {
                resource: resource.clone(),
                file: file.clone(),
                revision: revision.clone(),
                size: *size,
                sha256: sha256.clone(),
            }),
            Event::Adopted { snapshots, .. } => {
                for taken in &mut self.snapshots {
                    // What was said when it was taken holds; the user's word is for what was not said.
                    if taken.sha256.is_none() {
                        taken.sha256 = snapshots.get(&taken.file).cloned();
                    }
                }
            }
            Event::Undone { resource, to, .. } => {
                let id = &resource.id;
                self.undone.retain(|undone| undone != id);
                if !matches!(to, Some(1..)) {
                    self.undone.push(id.clone());
                }
                self.put_back.push(PutBack {
                    at,
                    resource: id.clone(),
                });
            }
            _ => {}
        }
    }
}
