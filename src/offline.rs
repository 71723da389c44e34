//! The offline model of a pack with an `agents/offline.yaml`: each task is answered by a skill of the kit, from the pack's data and
//! what was said. No network, no key, the same answer each time.

use agentctl_base::BoxFuture;
use agentctl_base::model::{Finish, Message, Model, ModelAnswer, ModelError, ModelRequest, Usage};
use agentctl_kit::{Said, Task, answer};
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
        let answered = answer(Task {
            name: &request.task.task,
            offline: &self.offline,
            data: &self.data,
            input: &request.task.input,
            said: &said,
            contract: &request.output_schema,
        });
        let answered = answered.map_err(|error| ModelError::Unavailable {
            model: request.model.clone(),
            reason: error.to_string(),
        })?;
        Ok(ModelAnswer {
            text: answered.to_string(),
            tool_calls: Vec::new(),
            usage: Usage::default(),
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
