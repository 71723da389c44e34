//! What a person sees of a turn: what is said, which tools work, what became other than it was, what is asked, and the end. What
//! agents say to the program, and what tools were given and gave, never. Pure; every door that has such a view tells this one.

use crate::TurnReply;
use agentctl_base::model::ToolResult;
use agentctl_engine::store::event::Change;
use agentctl_engine::store::{Event, Record};
use serde_json::{Map, Value, json};

/// One thing to see.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// `message`, `tool`, `workflow-updated`, `question` or `done`.
    pub kind: String,
    pub data: Map<String, Value>,
}

impl Seen {
    fn new(kind: impl Into<String>, data: Value) -> Seen {
        let data = match data {
            Value::Object(data) => data,
            other => Map::from_iter([("data".to_owned(), other)]),
        };
        Seen {
            kind: kind.into(),
            data,
        }
    }

    /// As a line of a stream: its kind is `type`.
    pub fn line(self) -> Value {
        let mut line = Map::from_iter([("type".to_owned(), Value::String(self.kind))]);
        line.extend(self.data);
        Value::Object(line)
    }
}

/// Words of a message as they come. They are a preview: the message that follows counts.
pub fn words(delta: &str) -> Seen {
    Seen::new("message.delta", json!({"text": delta}))
}

/// What a person sees of a record; nothing of most.
pub fn seen(record: &Record) -> Vec<Seen> {
    match &record.event {
        Event::Said {
            text,
            data,
            attachment,
            ..
        } => {
            let mut told = json!({"text": text});
            if let Value::Object(told) = &mut told {
                if !data.is_null() {
                    told.insert("data".to_owned(), data.clone());
                }
                if let Some(place) = attachment {
                    told.insert("attachment".to_owned(), place.as_str().into());
                }
            }
            vec![Seen::new("message", told)]
        }
        Event::ToolIntent { call, .. } => vec![tool(&call.name, "running".into())],
        Event::ToolFinished { result, change, .. } => {
            let mut all = vec![tool(&result.name, json!(result.status))];
            all.extend(change.as_ref().map(|change| updated(change, result)));
            all
        }
        Event::QuestionAsked { question, .. } => vec![Seen::new(
            "question",
            json!({"id": question.id, "text": question.text, "options": question.options, "approval": question.approves.is_some()}),
        )],
        Event::RunEnded {
            outcome, message, ..
        } => vec![Seen::new(
            "done",
            json!({"outcome": outcome, "message": message}),
        )],
        _ => Vec::new(),
    }
}

/// The end of a turn, for who began it: what became of it, and of the pack's output what names a resource.
pub fn done(reply: &TurnReply) -> Seen {
    let mut told = json!({
        "outcome": reply.outcome, "message": reply.message, "exit_code": reply.exit_code,
        "run_id": reply.run_id, "session_id": reply.session_id, "expects": reply.expects,
    });
    let workflow = reply.output.get("workflow").filter(|w| w.is_object());
    if let (Value::Object(told), Some(workflow)) = (&mut told, workflow) {
        told.insert("workflow".to_owned(), workflow.clone());
    }
    Seen::new("done", told)
}

fn tool(name: &str, status: Value) -> Seen {
    Seen::new(
        "tool",
        json!({"name": name, "title": title(name), "status": status}),
    )
}

/// `update_node_parameters` → `Update node parameters`; of another server's tool `mcp__jira__get_issue` → `jira: get issue`.
fn title(name: &str) -> String {
    let foreign = name.strip_prefix("mcp__").and_then(|n| n.split_once("__"));
    if let Some((server, tool)) = foreign {
        return format!("{server}: {}", tool.replace('_', " "));
    }
    let mut letters = name.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + &letters.as_str().replace('_', " ")
}

/// What became of a resource. `diff`: line by line, as the tool told it; null where it told nothing (it was made, or is gone).
fn updated(change: &Change, result: &ToolResult) -> Seen {
    let lines = result.content.get("changes").filter(|c| c.is_array());
    Seen::new(
        format!("{}-updated", change.resource.kind),
        json!({"id": change.resource.id, "graph_hash": change.after, "diff": lines}),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use agentctl_base::decision::Decision;
    use agentctl_base::model::{ToolCall, ToolStatus};
    use agentctl_base::question::Outcome;
    use agentctl_engine::store::ResourceId;

    fn lines(event: Event) -> Vec<Value> {
        let record = Record {
            seq: 1,
            at: String::new(),
            prev: String::new(),
            hash: String::new(),
            event,
        };
        seen(&record).into_iter().map(Seen::line).collect()
    }

    #[test]
    fn a_person_sees_words_tools_changes_and_the_end() {
        let said = |data, attachment| Event::Said {
            step: "s".into(),
            text: "Done.".into(),
            data,
            attachment,
        };
        assert_eq!(
            lines(said(Value::Null, None)),
            [json!({"type": "message", "text": "Done."})]
        );
        assert_eq!(
            lines(said(json!({"n": 1}), Some("a.pdf".into()))),
            [json!({"type": "message", "text": "Done.", "data": {"n": 1}, "attachment": "a.pdf"})]
        );
        let call = |name: &str| Event::ToolIntent {
            step: "s".into(),
            role: "r".into(),
            call: ToolCall {
                id: "c".into(),
                name: name.into(),
                arguments: "{\"secret\": 1}".into(),
            }
            .into(),
            decision: Decision::Allow { rule: "r".into() },
            mutates: true,
            expect: None,
            carries: None,
        };
        assert_eq!(
            lines(call("add_nodes")),
            [
                json!({"type": "tool", "name": "add_nodes", "title": "Add nodes", "status": "running"})
            ]
        );
        assert_eq!(
            lines(call("mcp__jira__get_issue"))[0]["title"],
            "jira: get issue"
        );
        let finished = |content, change| Event::ToolFinished {
            step: "s".into(),
            role: "r".into(),
            result: ToolResult {
                call_id: "c".into(),
                name: "add_nodes".into(),
                status: ToolStatus::Ok,
                content,
            }
            .into(),
            change,
        };
        let change = Change {
            resource: ResourceId::new("workflow", "orders"),
            before: Some("a".into()),
            after: Some("b".into()),
            size: 2,
            snapshot: None,
        };
        assert_eq!(
            lines(finished(
                json!({"changes": ["+ node \"If\""], "inner": "x"}),
                Some(change.clone())
            )),
            [
                json!({"type": "tool", "name": "add_nodes", "title": "Add nodes", "status": "ok"}),
                json!({"type": "workflow-updated", "id": "orders", "graph_hash": "b", "diff": ["+ node \"If\""]}),
            ]
        );
        assert_eq!(
            lines(finished(json!({}), Some(change)))[1]["diff"],
            Value::Null
        );
        assert_eq!(lines(finished(json!({}), None)).len(), 1);
        let ended = Event::RunEnded {
            outcome: Outcome::Complete,
            exit_code: 0,
            message: String::new(),
        };
        assert_eq!(
            lines(ended),
            [json!({"type": "done", "outcome": "complete", "message": ""})]
        );
    }

    #[test]
    fn what_agents_say_to_the_program_is_not_seen() {
        let model = Event::StepFinished {
            step: "s".into(),
            output: json!({"summary": "inner words"}),
        };
        assert_eq!(lines(model), [Value::Null; 0]);
    }
}
