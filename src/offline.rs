//! The offline model of a pack with an `agents/offline.yaml`: each task is answered by a skill of the kit, from the pack's data and
//! what was said. No network, no key, the same answer each time.

use agentctl_base::BoxFuture;
use agentctl_base::model::{
    Finish, Message, Model, ModelAnswer, ModelError, ModelRequest, ToolCall, ToolStatus, Usage,
};
use agentctl_kit::assist::{Done, Next, next};
use agentctl_kit::{Said, Task};
use serde_json::{Map, Value};
use std::sync::Arc;

pub struct PackModel {
    offline: Arc<Value>,
    data: Arc<Map<String, Value>>,
}

impl PackModel {
    pub fn new(offline: Arc<Value>, data: Arc<Map<String, Value>>) -> PackModel {
        PackModel { offline, data }
    }

    fn answered(&self, request: &ModelRequest) -> Result<ModelAnswer, ModelError> {
        let said: Vec<Said> = request.conversation().iter().filter_map(spoken).collect();
        let task = Task {
            name: &request.task.task,
            offline: &self.offline,
            data: &self.data,
            input: &request.task.input,
            said: &said,
            contract: &request.output_schema,
        };
        let tools: Vec<String> = request.tools.iter().map(|tool| tool.name.clone()).collect();
        let done = done(request);
        let next = next(task, &tools, &done);
        let next = next.map_err(|error| ModelError::Unavailable {
            model: request.model.clone(),
            reason: error.to_string(),
        })?;
        let (text, tool_calls) = match next {
            Next::Answer(answer) => (answer.to_string(), Vec::new()),
            Next::Call { tool, args } => {
                let call = ToolCall {
                    id: format!("call-{}", done.len() + 1),
                    name: tool,
                    arguments: args.to_string(),
                };
                (String::new(), vec![call])
            }
        };
        Ok(ModelAnswer {
            text,
            tool_calls,
            usage: Usage::free(),
            finish: Finish::Done,
        })
    }
}

impl Model for PackModel {
    fn is_paid(&self) -> bool {
        false
    }
    fn call<'a>(
        &'a self,
        request: &'a ModelRequest,
        _: &'a (dyn Fn(&str) + Send + Sync),
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        Box::pin(std::future::ready(self.answered(request)))
    }
}

/// The calls of this step so far, with what came of them.
fn done(request: &ModelRequest) -> Vec<Done> {
    let of_step = request.messages.iter().skip(request.task_at);
    let mut asked: Vec<&ToolCall> = Vec::new();
    let mut done = Vec::new();
    for message in of_step {
        match message {
            Message::Assistant { tool_calls, .. } => asked.extend(tool_calls),
            Message::Tool { results } => {
                for result in results {
                    let call = asked.iter().find(|call| call.id == result.call_id);
                    let args = call.and_then(|call| serde_json::from_str(&call.arguments).ok());
                    done.push(Done {
                        tool: result.name.clone(),
                        args: args.unwrap_or_default(),
                        ok: result.status == ToolStatus::Ok,
                        content: result.content.clone(),
                    });
                }
            }
            Message::User { .. } => {}
        }
    }
    done
}

fn spoken(message: &Message) -> Option<Said> {
    match message {
        Message::User { text } => Some(Said {
            by_user: true,
            text: text.clone(),
        }),
        Message::Assistant { text, .. } => Some(Said {
            by_user: false,
            text: text.clone(),
        }),
        Message::Tool { .. } => None,
    }
}
