//! From events to spans. Pure: time is the events' own, ids follow from the run's.

use agentctl_base::model::{Finish, ModelAnswer, ToolCall, ToolResult, ToolStatus};
use agentctl_base::{canonical::sha256_hex, question::Outcome};
use agentctl_engine::flow::{Flow, Step};
use agentctl_engine::store::{Event, Record};
use agentctl_models::ModelName;
use serde_json::json;
use std::time::SystemTime;

/// Which of the conventions' span kinds it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Internal,
    /// A request to another machine.
    Client,
    /// A request from one.
    Server,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Attribute {
    Text(String),
    Texts(Vec<String>),
    Count(i64),
    Number(f64),
}

impl From<&str> for Attribute {
    fn from(text: &str) -> Self {
        Attribute::Text(text.to_owned())
    }
}

impl From<u64> for Attribute {
    fn from(count: u64) -> Self {
        Attribute::Count(i64::try_from(count).unwrap_or(i64::MAX))
    }
}

/// A span that is over.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    pub trace_id: u128,
    pub id: u64,
    /// 0: the root.
    pub parent: u64,
    pub name: String,
    pub kind: Kind,
    pub begun: SystemTime,
    pub ended: SystemTime,
    pub attributes: Vec<(&'static str, Attribute)>,
    /// None: it went well.
    pub error: Option<String>,
}

#[derive(Debug)]
struct Open {
    id: u64,
    parent: u64,
    name: String,
    kind: Kind,
    begun: SystemTime,
    attributes: Vec<(&'static str, Attribute)>,
    of: Of,
}

/// What a span stands for.
#[derive(Debug, PartialEq, Eq)]
enum Of {
    Run,
    Phase,
    Agent { step: String },
    Model { step: String },
    Tool { call: String },
}

/// The spans of one run, over all its activations.
pub struct Spans<'a> {
    flow: &'a Flow,
    /// Words of the conversation go along.
    content: bool,
    run_id: String,
    stage: String,
    /// From the outermost to the innermost.
    open: Vec<Open>,
    over: Vec<Finished>,
}

impl<'a> Spans<'a> {
    pub fn new(flow: &'a Flow, content: bool) -> Self {
        Spans {
            flow,
            content,
            run_id: String::new(),
            stage: flow.first_stage().to_owned(),
            open: Vec::new(),
            over: Vec::new(),
        }
    }

    /// One more record; what ended with it.
    pub fn feed(&mut self, record: &Record) -> Vec<Finished> {
        let Ok(at) = record.at.parse::<jiff::Timestamp>() else {
            return Vec::new();
        };
        self.event(&record.event, record.seq, at.into());
        std::mem::take(&mut self.over)
    }

    fn event(&mut self, event: &Event, seq: u64, at: SystemTime) {
        match event {
            Event::RunStarted { run_id, .. } => {
                self.run_id.clone_from(run_id);
                self.begin_run(seq, at);
            }
            Event::ActivationStarted { activation, .. } => {
                // What is still open was killed with its process, and ended nobody knows when.
                if *activation > 1 {
                    self.open.clear();
                }
                self.begin_run(seq, at);
            }
            Event::ActivationEnded { outcome, .. } => {
                let outcome = word(*outcome);
                if let Some(run) = self.find(&Of::Run) {
                    run.attributes.push(("agentctl.outcome", outcome.into()));
                }
                let good =
                    ["complete", "draft", "partial", "waiting", "cancelled"].contains(&outcome);
                self.close(&Of::Run, at, (!good).then(|| outcome.to_owned()));
            }
            Event::StageChanged { to, .. } => {
                self.stage.clone_from(to);
                self.move_phase(seq, at);
            }
            Event::StepStarted { step } => {
                self.enter(step, seq, at);
            }
            Event::StepFinished { step, .. } => {
                self.close(&Of::Agent { step: step.clone() }, at, None);
            }
            Event::StepFailed { step, .. } => {
                let failed = Some("step_failed".to_owned());
                self.close(&Of::Agent { step: step.clone() }, at, failed);
            }
            Event::ModelAsked {
                step, turn, model, ..
            } => self.model(step, *turn, model, seq, at),
            Event::ModelRetried { step, attempt, .. } => {
                let of = Of::Model { step: step.clone() };
                if let Some(span) = self.find(&of) {
                    let attempt = u64::from(*attempt);
                    span.attributes.push(("agentctl.attempt", attempt.into()));
                }
                self.close(&of, at, Some("retried".to_owned()));
            }
            Event::ModelAnswered { step, answer, .. } => self.answered(step, answer, at),
            Event::ToolIntent { step, call, .. } => self.tool(step, call, seq, at),
            Event::ToolFinished { result, .. } => self.returned(result, at),
            _ => {}
        }
    }

    /// The run's span of this activation, and in it the phase that the run is in.
    fn begin_run(&mut self, seq: u64, at: SystemTime) {
        if self.find(&Of::Run).is_some() {
            return;
        }
        let flow = self.flow.name.clone();
        let attributes = vec![
            ("gen_ai.operation.name", "invoke_workflow".into()),
            ("gen_ai.workflow.name", flow.as_str().into()),
        ];
        self.begin(
            Of::Run,
            format!("invoke_workflow {flow}"),
            seq,
            at,
            attributes,
        );
        self.begin_phase(seq, at);
    }

    fn begin_phase(&mut self, seq: u64, at: SystemTime) {
        let stage = self.stage.clone();
        let attributes = vec![("agentctl.phase", stage.as_str().into())];
        self.begin(Of::Phase, format!("phase {stage}"), seq, at, attributes);
    }

    /// The next phase. An agent that is at work stays in the one in which it began.
    fn move_phase(&mut self, seq: u64, at: SystemTime) {
        let Some(place) = self.open.iter().position(|span| span.of == Of::Phase) else {
            return;
        };
        let phase = self.open.remove(place);
        self.finish(phase, at, None);
        let work = self.open.split_off(place);
        self.begin_phase(seq, at);
        self.open.extend(work);
    }

    fn enter(&mut self, step: &str, seq: u64, at: SystemTime) {
        let of = Of::Agent {
            step: step.to_owned(),
        };
        let Some(agent) = self.flow.step_at(step).and_then(Step::agent) else {
            return;
        };
        if self.find(&of).is_some() {
            return;
        }
        let attributes = vec![
            ("gen_ai.operation.name", "invoke_agent".into()),
            ("gen_ai.agent.name", agent.into()),
            ("agentctl.step", step.into()),
        ];
        self.begin(of, format!("invoke_agent {agent}"), seq, at, attributes);
    }

    fn model(&mut self, step: &str, turn: u32, model: &str, seq: u64, at: SystemTime) {
        // A resumed step does not begin again.
        self.enter(step, seq, at);
        let (provider, name) = match model.parse() {
            Ok(ModelName::At { provider, model }) => (provider_name(&provider).to_owned(), model),
            _ => ("agentctl".to_owned(), model.to_owned()),
        };
        let attributes = vec![
            ("gen_ai.operation.name", "chat".into()),
            ("gen_ai.provider.name", provider.as_str().into()),
            ("gen_ai.request.model", name.as_str().into()),
            ("agentctl.turn", u64::from(turn).into()),
        ];
        let of = Of::Model {
            step: step.to_owned(),
        };
        self.begin(of, format!("chat {name}"), seq, at, attributes);
        if provider != "agentctl"
            && let Some(span) = self.open.last_mut()
        {
            span.kind = Kind::Client;
        }
    }

    fn answered(&mut self, step: &str, answer: &ModelAnswer, at: SystemTime) {
        let of = Of::Model {
            step: step.to_owned(),
        };
        let content = self.content;
        if let Some(span) = self.find(&of) {
            let used = &answer.usage;
            let reason = match answer.finish {
                Finish::Length => "length",
                Finish::Refused => "content_filter",
                Finish::Done if answer.tool_calls.is_empty() => "stop",
                Finish::Done => "tool_call",
            };
            span.attributes.extend([
                ("gen_ai.usage.input_tokens", used.input_tokens.into()),
                ("gen_ai.usage.output_tokens", used.output_tokens.into()),
                (
                    "gen_ai.usage.cache_read.input_tokens",
                    used.cached_tokens.into(),
                ),
                (
                    "gen_ai.usage.cache_creation.input_tokens",
                    used.cache_write_tokens.into(),
                ),
                (
                    "gen_ai.response.finish_reasons",
                    Attribute::Texts(vec![reason.to_owned()]),
                ),
            ]);
            if let Some(cost) = used.cost_usd {
                span.attributes
                    .push(("agentctl.cost_usd", Attribute::Number(cost)));
            }
            if content {
                let said = said(answer, reason);
                span.attributes
                    .push(("gen_ai.output.messages", Attribute::Text(said)));
            }
        }
        self.close(&of, at, None);
    }

    fn tool(&mut self, step: &str, call: &ToolCall, seq: u64, at: SystemTime) {
        self.enter(step, seq, at);
        let mut attributes = vec![
            ("gen_ai.operation.name", "execute_tool".into()),
            ("gen_ai.tool.name", call.name.as_str().into()),
            ("gen_ai.tool.call.id", call.id.as_str().into()),
            ("gen_ai.tool.type", "function".into()),
        ];
        if self.content {
            attributes.push(("gen_ai.tool.call.arguments", call.arguments.as_str().into()));
        }
        let of = Of::Tool {
            call: call.id.clone(),
        };
        // Asked for an approval, the same call comes a second time.
        self.close(&of, at, None);
        self.begin(
            of,
            format!("execute_tool {}", call.name),
            seq,
            at,
            attributes,
        );
    }

    fn returned(&mut self, result: &ToolResult, at: SystemTime) {
        let of = Of::Tool {
            call: result.call_id.clone(),
        };
        if self.content
            && let Some(span) = self.find(&of)
        {
            let text = Attribute::Text(result.content.to_string());
            span.attributes.push(("gen_ai.tool.call.result", text));
        }
        let error = (result.status != ToolStatus::Ok).then(|| result.status.name().to_owned());
        self.close(&of, at, error);
    }

    fn find(&mut self, of: &Of) -> Option<&mut Open> {
        self.open.iter_mut().find(|span| span.of == *of)
    }

    fn begin(
        &mut self,
        of: Of,
        name: String,
        seq: u64,
        at: SystemTime,
        mut attributes: Vec<(&'static str, Attribute)>,
    ) {
        attributes.push(("gen_ai.conversation.id", self.run_id.as_str().into()));
        let parent = self.open.last().map_or(0, |span| span.id);
        // The name tells spans apart that begin with the same record.
        let id = number(&format!("{} {seq} {name}", self.run_id), 16);
        self.open.push(Open {
            id: u64::try_from(id).unwrap_or(1),
            parent,
            name,
            kind: Kind::Internal,
            begun: at,
            attributes,
            of,
        });
    }

    /// Ends the span, and all within it.
    fn close(&mut self, of: &Of, at: SystemTime, error: Option<String>) {
        let Some(place) = self.open.iter().position(|span| span.of == *of) else {
            return;
        };
        for (depth, span) in self.open.split_off(place).into_iter().enumerate().rev() {
            // What an error leaves open was cut off with it; the phase is not to blame.
            let cut_off = error.is_some() && span.of != Of::Phase;
            let error = match depth {
                0 => error.clone(),
                _ => cut_off.then(|| "cut_off".to_owned()),
            };
            self.finish(span, at, error);
        }
    }

    fn finish(&mut self, span: Open, ended: SystemTime, error: Option<String>) {
        let mut attributes = span.attributes;
        if let Some(error) = &error {
            attributes.push(("error.type", error.as_str().into()));
        }
        self.over.push(Finished {
            trace_id: number(&self.run_id, 32),
            id: span.id,
            parent: span.parent,
            name: span.name,
            kind: span.kind,
            begun: span.begun,
            ended: ended.max(span.begun),
            attributes,
            error,
        });
    }
}

/// The first hexadecimal `digits` of the text's hash; never 0, which is no id.
fn number(text: &str, digits: usize) -> u128 {
    let hash = sha256_hex(text.as_bytes());
    let head = hash.get(..digits).unwrap_or_default();
    u128::from_str_radix(head, 16).unwrap_or(1).max(1)
}

/// Providers by the conventions' names for them; others by their own.
fn provider_name(provider: &str) -> &str {
    match provider {
        "openai_resp" => "openai",
        "azure" => "azure.ai.openai",
        "bedrock" | "bedrock_api" => "aws.bedrock",
        "gemini" | "google" => "gcp.gemini",
        "vertex" => "gcp.vertex_ai",
        "mistral" => "mistral_ai",
        "xai" => "x_ai",
        other => other,
    }
}

fn said(answer: &ModelAnswer, reason: &str) -> String {
    let mut parts = Vec::new();
    if !answer.text.is_empty() {
        parts.push(json!({"type": "text", "content": answer.text}));
    }
    parts.extend(answer.tool_calls.iter().map(|call| {
        json!({"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments})
    }));
    json!([{"role": "assistant", "parts": parts, "finish_reason": reason}]).to_string()
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Complete => "complete",
        Outcome::Draft => "draft",
        Outcome::Partial => "partial",
        Outcome::Blocked => "blocked",
        Outcome::Waiting => "waiting",
        Outcome::Refused => "refused",
        Outcome::Failed => "failed",
        Outcome::Budget => "budget",
        Outcome::Cancelled => "cancelled",
        Outcome::Interrupted => "interrupted",
    }
}
