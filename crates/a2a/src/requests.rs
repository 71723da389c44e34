//! What a client asks, the same in both bindings.

use crate::message::Message;
use crate::task::{Task, TaskState};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SendMessage {
    pub message: Message,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<Configuration>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Configuration {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "accepted_output_modes")]
    pub accepted_output_modes: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "task_push_notification_config")]
    pub task_push_notification_config: Option<PushConfig>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "history_length")]
    pub history_length: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "return_immediately")]
    pub return_immediately: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GetTask {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "history_length")]
    pub history_length: Option<i64>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListTasks {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "context_id")]
    pub context_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<TaskState>,
    /// 1 to 100; 50 where it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "page_size")]
    pub page_size: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "page_token")]
    pub page_token: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "history_length")]
    pub history_length: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "status_timestamp_after")]
    pub status_timestamp_after: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "include_artifacts")]
    pub include_artifacts: Option<bool>,
}

/// The answer to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskList {
    pub tasks: Vec<Task>,
    /// Empty: there are no more.
    #[serde(alias = "next_page_token")]
    pub next_page_token: String,
    #[serde(alias = "page_size")]
    pub page_size: i64,
    #[serde(alias = "total_size")]
    pub total_size: i64,
}

/// Who is told of a task's events: `TaskPushNotificationConfig`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PushConfig {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "task_id")]
    pub task_id: Option<String>,
    #[serde(default)]
    pub url: String,
    /// Shown to the receiver, so that it knows who tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authentication: Option<PushAuthentication>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushAuthentication {
    #[serde(default)]
    pub scheme: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<String>,
}

/// One receiver of a task: what is got, and what is deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PushOf {
    #[serde(alias = "task_id")]
    pub task_id: String,
    pub id: String,
}

/// All of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PushesOf {
    #[serde(alias = "task_id")]
    pub task_id: String,
    #[serde(default, alias = "page_size", skip_serializing_if = "Option::is_none")]
    pub page_size: Option<i64>,
    #[serde(default, alias = "page_token", skip_serializing_if = "Option::is_none")]
    pub page_token: Option<String>,
}

/// A page of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PushList {
    pub configs: Vec<PushConfig>,
    #[serde(alias = "next_page_token")]
    pub next_page_token: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelTask {
    pub id: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubscribeToTask {
    pub id: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_field_is_read_by_its_name_in_the_proto_too_and_never_by_both() {
        let proto = json!({
            "message": {
                "message_id": "m", "context_id": "c", "task_id": "t", "role": "ROLE_USER", "reference_task_ids": ["r"],
                "parts": [{"data": {"task_id": 1}, "media_type": "application/json"}],
                "metadata": {"history_length": 2}
            },
            "configuration": {
                "accepted_output_modes": ["text/plain"], "history_length": 3, "return_immediately": true,
                "task_push_notification_config": {"task_id": "t", "url": "https://example.com"}
            }
        });
        let read: SendMessage = serde_json::from_value(proto).unwrap();
        assert_eq!(
            serde_json::to_value(&read).unwrap(),
            json!({
                "message": {
                    "messageId": "m", "contextId": "c", "taskId": "t", "role": "ROLE_USER", "referenceTaskIds": ["r"],
                    "parts": [{"data": {"task_id": 1}, "mediaType": "application/json"}],
                    "metadata": {"history_length": 2}
                },
                "configuration": {
                    "acceptedOutputModes": ["text/plain"], "historyLength": 3, "returnImmediately": true,
                    "taskPushNotificationConfig": {"taskId": "t", "url": "https://example.com"}
                }
            })
        );
        let both = json!({"id": "t", "history_length": 1, "historyLength": 1});
        assert!(serde_json::from_value::<GetTask>(both).is_err());
    }
}
