//! A run's records as events of the AG-UI protocol, 1.0. Pure. What a run waits for ends the AG-UI run as interrupted; when it is gone on with, a
//! run of the same id begins, as the protocol has it. What a tool was given and gave is told only to who may see every record.

use crate::files::Attached;
use agentctl_base::question::{Outcome, Question};
use agentctl_engine::store::{Event, Record};
use serde_json::{Value, json};

pub struct AgUi {
    run: String,
    thread: String,
    /// Arguments and results of tools are told too.
    all: bool,
    /// Between RUN_STARTED and what closes it.
    is_running: bool,
    /// It was begun at least once.
    has_begun: bool,
    /// The reader was told that it runs.
    is_told: bool,
    /// Steps that have no end yet, outermost first.
    steps: Vec<String>,
    /// Calls that have no end yet: id and tool.
    calls: Vec<(String, String)>,
    /// What waits for an answer.
    questions: Vec<Question>,
}

impl AgUi {
    pub fn new(run: &str, thread: &str, all: bool) -> AgUi {
        AgUi {
            run: run.to_owned(),
            thread: thread.to_owned(),
            all,
            is_running: false,
            has_begun: false,
            is_told: false,
            steps: Vec::new(),
            calls: Vec::new(),
            questions: Vec::new(),
        }
    }

    /// Whether what was begun is closed, so that nothing comes unless somebody goes on with it.
    pub fn is_over(&self) -> bool {
        self.has_begun && !self.is_running
    }

    /// The events of a record; none of them are for the reader unless it `is_new`. A reader that comes back is told first that the
    /// run runs, and in which steps and calls.
    pub fn told(&mut self, record: &Record, is_new: bool, attached: &Attached) -> Vec<Value> {
        if !is_new {
            drop(self.of(record, attached));
            return Vec::new();
        }
        let mut told = Vec::new();
        if self.is_running && !self.is_told {
            told.push(self.started());
            told.extend(self.steps.iter().map(|step| begun(step)));
            told.extend(self.calls.iter().map(|(id, name)| called(id, name)));
        }
        told.extend(self.of(record, attached));
        self.is_told = self.is_running;
        let at = record.at.parse::<jiff::Timestamp>();
        if let Ok(at) = at {
            for event in &mut told {
                if let Value::Object(event) = event {
                    event.insert("timestamp".into(), at.as_millisecond().into());
                }
            }
        }
        told
    }

    fn started(&self) -> Value {
        json!({"type": "RUN_STARTED", "threadId": self.thread, "runId": self.run})
    }

    fn of(&mut self, record: &Record, attached: &Attached) -> Vec<Value> {
        let mut told = Vec::new();
        if let Event::AnswerGiven { question_id, .. } = &record.event {
            self.questions.retain(|open| open.id != *question_id);
        }
        if !self.is_running {
            let begins = matches!(
                record.event,
                Event::RunStarted { .. } | Event::ActivationStarted { .. }
            );
            if !begins {
                return told;
            }
            (self.is_running, self.has_begun) = (true, true);
            told.push(self.started());
        }
        match &record.event {
            Event::StepStarted { step } if !self.steps.contains(step) => {
                told.push(begun(step));
                self.steps.push(step.clone());
            }
            Event::StepFinished { step, .. } | Event::StepFailed { step, .. }
                if self.steps.contains(step) =>
            {
                self.steps.retain(|open| open != step);
                told.push(ended(step));
            }
            Event::Said {
                text,
                data,
                attachment,
                ..
            } => {
                let id = format!("{}-{}", self.run, record.seq);
                if !text.is_empty() {
                    told.extend([
                        json!({"type": "TEXT_MESSAGE_START", "messageId": id, "role": "assistant"}),
                        json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": text}),
                        json!({"type": "TEXT_MESSAGE_END", "messageId": id}),
                    ]);
                }
                if !data.is_null() || attachment.is_some() {
                    let with = json!({"messageId": id, "data": data, "attachment": attached.of(attachment.as_deref())});
                    told.push(json!({"type": "CUSTOM", "name": "agentctl.with", "value": with}));
                }
            }
            Event::ToolIntent { call, .. } => {
                self.calls.push((call.id.clone(), call.name.clone()));
                told.push(called(&call.id, &call.name));
                if self.all && !call.arguments.is_empty() {
                    told.push(json!({"type": "TOOL_CALL_ARGS", "toolCallId": call.id, "delta": call.arguments}));
                }
            }
            Event::ToolFinished { result, .. } => {
                let id = &result.call_id;
                if !self.calls.iter().any(|(open, _)| open == id) {
                    told.push(called(id, &result.name));
                }
                self.calls.retain(|(open, _)| open != id);
                told.push(json!({"type": "TOOL_CALL_END", "toolCallId": id}));
                let content = match self.all {
                    true => json!({"status": result.status, "content": result.content}),
                    false => json!({"status": result.status}),
                };
                told.push(json!({
                    "type": "TOOL_CALL_RESULT", "messageId": format!("{}-{}", self.run, record.seq), "toolCallId": id,
                    "role": "tool", "content": content.to_string()
                }));
            }
            Event::QuestionAsked { question, .. } => self.questions.push(question.clone()),
            Event::ActivationEnded {
                outcome: Outcome::Waiting,
                ..
            } if !self.questions.is_empty() => {
                let outcome = json!({"type": "interrupt", "interrupts": self.interrupts()});
                told.extend(self.closed());
                told.push(self.finished(outcome, None));
            }
            Event::RunEnded {
                outcome, message, ..
            } => {
                told.extend(self.closed());
                let result = json!({"outcome": outcome, "message": message});
                told.push(match outcome {
                    Outcome::Failed | Outcome::Budget => {
                        let told = if message.is_empty() {
                            outcome.name()
                        } else {
                            message
                        };
                        json!({"type": "RUN_ERROR", "message": told, "code": outcome.name()})
                    }
                    Outcome::Cancelled | Outcome::Interrupted => {
                        self.finished(json!({"type": "cancelled"}), None)
                    }
                    Outcome::Complete
                    | Outcome::Draft
                    | Outcome::Partial
                    | Outcome::Blocked
                    | Outcome::Waiting
                    | Outcome::Refused => self.finished(json!({"type": "success"}), Some(result)),
                });
            }
            _ => {}
        }
        told
    }

    /// Ends what is open: nothing may be when a run is closed.
    fn closed(&mut self) -> Vec<Value> {
        self.is_running = false;
        let calls = std::mem::take(&mut self.calls).into_iter();
        let calls = calls.map(|(id, _)| json!({"type": "TOOL_CALL_END", "toolCallId": id}));
        let steps = std::mem::take(&mut self.steps).into_iter().rev();
        calls.chain(steps.map(|step| ended(&step))).collect()
    }

    fn finished(&self, outcome: Value, result: Option<Value>) -> Value {
        let mut event = json!({"type": "RUN_FINISHED", "threadId": self.thread, "runId": self.run, "outcome": outcome});
        if let (Value::Object(event), Some(result)) = (&mut event, result) {
            event.insert("result".into(), result);
        }
        event
    }

    fn interrupts(&self) -> Vec<Value> {
        let each = self.questions.iter().map(|question| {
            let reason = match question.approves {
                Some(_) => "approval",
                None => "question",
            };
            json!({"id": question.id, "reason": reason, "message": question.text, "responseSchema": question.schema})
        });
        each.collect()
    }
}

fn begun(step: &str) -> Value {
    json!({"type": "STEP_STARTED", "stepName": step})
}

fn ended(step: &str) -> Value {
    json!({"type": "STEP_FINISHED", "stepName": step})
}

fn called(id: &str, name: &str) -> Value {
    json!({"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": name})
}
