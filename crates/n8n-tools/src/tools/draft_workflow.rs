//! `draft_workflow`: what the offline planner makes of a request in plain words, for a client's model to begin with. Nothing is written.

use super::content::head;
use super::findings::brief;
use super::n8n::N8n;
use crate::arguments::{arguments, text};
use crate::capability as can;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_base::question::Question;
use agentctl_engine::toolset::{Answer, Cx, Head, Outcome, PAGE_BYTES, Read};
use agentctl_planner::draft::{self, Draft};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

/// Characters; as many as a request of `build` may have.
const MOST_ASKED: usize = 20_000;
/// Of what was left out, is asked, is to do or was noted: more is counted.
const MOST_TOLD: usize = 20;

arguments! {
    DraftWorkflow {
        required request: String = json!({
            "type": "string", "minLength": 1, "maxLength": MOST_ASKED,
            "description": "what starts the workflow and what it does, in order, in the user's own words; or what should change",
        });
        optional workflow_id: Option<String> = text("draft a change of this workflow, not a new one");
        #[serde(default)]
        optional answers: IndexMap<String, String> = json!({
            "type": "object", "additionalProperties": {"type": "string"}, "description": "answers to `questions` of a draft before, by topic",
        });
    }
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::read::<DraftWorkflow>(Head {
        for_clients: true,
        returns: Some(returns),
        ..Head::new(
            "draft_workflow",
            can::DRAFT_WORKFLOW,
            "Draft a workflow from a request in plain words (English, German, Spanish, French), by rules and without a model; nothing is written. `create` is what create_workflow takes, `update` what update_workflow takes; look at it, mend it, then call that. `not_understood` quotes what is not in it, `questions` what only the user knows.",
            DraftWorkflow::schema,
        )
    })
}

fn returns() -> Value {
    let texts = || json!({"type": "array", "items": {"type": "string"}});
    json!({
        "type": "object",
        "required": ["complete", "not_understood", "questions", "todo", "notes"],
        "properties": {
            "complete": {"type": "boolean", "description": "all of the request is in it, and nothing is asked"},
            "create": {"type": "object", "description": "arguments of create_workflow"},
            "update": {"type": "object", "description": "arguments of update_workflow"},
            "check": {"type": "object", "description": "what a check says of the workflow as it would be"},
            "not_understood": texts(),
            "questions": {"type": "array", "items": {"type": "object", "required": ["topic", "text"], "properties": {
                "topic": {"type": "string"}, "text": {"type": "string"}, "options": {"type": "array"}, "recommended": {}, "required": {"type": "boolean"},
            }}},
            "refused": {"type": "string", "description": "why nothing is drafted"},
            "alternatives": texts(),
            "todo": {"type": "array", "items": {"type": "string"}, "description": "what the user must still fill in or attach; create_workflow and update_workflow take it"},
            "notes": texts(),
            "more": {"type": "object", "description": "how many of a list are left out here"},
        },
    })
}

impl Read for On<N8n, DraftWorkflow> {
    fn run<'a>(&'a self, _: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        Box::pin(self.on.draft(&self.args))
    }
}

impl N8n {
    async fn draft(&self, asked: &DraftWorkflow) -> Answer {
        let length = asked.request.chars().count();
        if asked.request.trim().is_empty() || length > MOST_ASKED {
            let why = format!("the request has {length} characters, of 1 to {MOST_ASKED}");
            return Ok(Outcome::failed(why, "arguments", "say it in fewer words"));
        }
        let (content, draft) = match &asked.workflow_id {
            None => self.new_one(asked),
            Some(id) => self.change(id, asked).await?,
        };
        Ok(told(content, draft))
    }

    fn new_one(&self, asked: &DraftWorkflow) -> (Map<String, Value>, Draft) {
        let draft = draft::of_request(&asked.request, asked.answers.clone(), self.catalog);
        let mut content = Map::new();
        if let Some(workflow) = &draft.workflow {
            content.insert("create".into(), draft::creation(workflow));
            content.insert("check".into(), brief(&self.findings(workflow)));
        }
        (content, draft)
    }

    async fn change(
        &self,
        id: &str,
        asked: &DraftWorkflow,
    ) -> Result<(Map<String, Value>, Draft), crate::backend::BackendError> {
        let stored = self.stored(id).await?;
        let draft = draft::of_change(
            &stored.workflow,
            &asked.request,
            &asked.answers,
            self.catalog,
        );
        let mut content = head(&stored);
        if !draft.ops.is_empty() {
            let update = json!({"workflow_id": stored.id, "ops": draft.ops, "expect_hash": stored.graph_hash});
            content.insert("update".into(), update);
            let mut next = 0;
            let mut id = || {
                next += 1;
                format!("new-{next}")
            };
            if let Ok(after) = agentctl_n8n::edit::apply(&stored.workflow, &draft.ops, &mut id) {
                content.insert("check".into(), brief(&self.findings(&after)));
            }
        }
        Ok((content, draft))
    }
}

fn told(mut content: Map<String, Value>, draft: Draft) -> Outcome {
    let is_made = content.contains_key("create") || content.contains_key("update");
    let open = draft.questions.iter().any(|question| question.required);
    let complete = is_made && !open && draft.not_understood.is_empty();
    content.insert("complete".into(), Value::Bool(complete));
    let mut more = Map::new();
    let mut list = |key: &str, all: Vec<Value>| {
        if all.len() > MOST_TOLD {
            more.insert(key.into(), json!(all.len() - MOST_TOLD));
        }
        let first: Vec<Value> = all.into_iter().take(MOST_TOLD).collect();
        content.insert(key.into(), Value::Array(first));
    };
    let texts = |all: Vec<String>| all.into_iter().map(Value::String).collect::<Vec<_>>();
    list("not_understood", texts(draft.not_understood));
    list("questions", draft.questions.iter().map(question).collect());
    let todo = draft.todo.into_iter();
    let todo = todo.map(|todo| format!("{}: {}", todo.node, todo.text));
    list("todo", texts(todo.collect()));
    list("notes", texts(draft.notes));
    if let Some(refusal) = draft.refusal {
        content.insert("refused".into(), json!(refusal.reason));
        content.insert("alternatives".into(), json!(refusal.alternatives));
    }
    if !more.is_empty() {
        content.insert("more".into(), Value::Object(more));
    }
    let content = Value::Object(content);
    let length = agentctl_base::length::written_length(&content);
    if length > PAGE_BYTES {
        return Outcome::failed(
            format!("the draft has {length} bytes, and an answer at most {PAGE_BYTES}"),
            "too-large",
            "ask for a part of it, and add the others by drafts of changes",
        );
    }
    Outcome::Ok(content)
}

/// What a client's model needs of it to ask its user.
fn question(question: &Question) -> Value {
    let mut told =
        json!({"topic": question.topic, "text": question.text, "required": question.required});
    if let Value::Object(told) = &mut told {
        if !question.options.is_empty() {
            let options = question.options.iter().map(|option| option.value.clone());
            told.insert("options".into(), options.collect());
        }
        if let Some(recommended) = &question.recommended {
            told.insert("recommended".into(), recommended.clone());
        }
    }
    told
}
