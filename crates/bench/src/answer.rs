//! What was made of a request: a workflow, questions, a refusal, or some of them.

use crate::graph::is_sticky;
use serde_json::{Value, json};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// The whole workflow after the work, as n8n would import it.
    pub workflow: Option<Value>,
    /// Each question in one text, its options behind it.
    pub questions: Vec<String>,
    /// Why it was refused, with what was suggested in its place. None: it was not.
    pub refusal: Option<String>,
    /// What else was said about the workflow.
    pub notes: Vec<String>,
}

impl Answer {
    pub fn to_value(&self) -> Value {
        match (&self.refusal, &self.workflow) {
            (Some(reason), None) => json!({"kind": "refuse", "reason": reason}),
            (None, None) => json!({"kind": "clarify", "questions": self.questions}),
            (refusal, Some(workflow)) => {
                let mut whole =
                    json!({"workflow": workflow, "notes": self.notes, "questions": self.questions});
                if let (Some(reason), Value::Object(map)) = (refusal, &mut whole) {
                    map.insert("reason".into(), reason.as_str().into());
                }
                whole
            }
        }
    }

    /// Notes beside the workflow and on its canvas.
    pub(crate) fn all_notes(&self) -> Vec<&str> {
        let nodes = self.workflow.as_ref().and_then(|w| w.get("nodes"));
        let nodes = nodes.and_then(Value::as_array).into_iter().flatten();
        let on_canvas = nodes.flat_map(|node| {
            let content = node
                .pointer("/parameters/content")
                .filter(|_| is_sticky(node));
            [content, node.get("notes")]
        });
        let on_canvas = on_canvas.flatten().filter_map(Value::as_str);
        let beside = self.notes.iter().map(String::as_str);
        beside
            .chain(on_canvas)
            .filter(|note| !note.trim().is_empty())
            .collect()
    }

    /// All that was said to the user, without the workflow.
    pub(crate) fn said(&self) -> String {
        let refusal = self.refusal.as_deref().into_iter();
        let questions = self.questions.iter().map(String::as_str);
        let said = refusal.chain(self.all_notes()).chain(questions);
        said.collect::<Vec<_>>().join("\n")
    }
}
