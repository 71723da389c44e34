//! A task of a pack that works offline: what `agents/offline.yaml` says of it, what its step reads, what was said.

use crate::fields::{Field, Fields, fields};
use crate::reading::{Context, Reading};
use crate::talk::{Said, Talk};
use agentctl_base::worded::in_language;
use serde_json::{Map, Value};
use std::sync::Arc;

/// A task that is to be answered.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// Its name in the flow.
    pub name: &'a str,
    /// The pack's `agents/offline.yaml`.
    pub offline: &'a Value,
    /// The pack's data files, by name.
    pub data: &'a Map<String, Value>,
    /// What the step reads.
    pub input: &'a Map<String, Value>,
    /// The conversation; the user's last message is the one to answer.
    pub said: &'a [Said],
    /// JSON Schema of the answer.
    pub contract: &'a Value,
}

/// Why a task has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KitError {
    /// The task does not stand in `offline.yaml`.
    #[error("offline.yaml has no task {0:?}; add it below `tasks`, or set a model")]
    NoTask(String),
    #[error(
        "task {task:?}: there is no skill {skill:?}; one of route, extract, match, act, compose is meant"
    )]
    NoSkill { task: String, skill: String },
    /// Something that the skill needs is not there.
    #[error("task {task:?}: {lacks}")]
    Lacks { task: String, lacks: String },
}

impl<'a> Task<'a> {
    /// What `offline.yaml` says of the task.
    pub fn entry(&self) -> Result<&'a Map<String, Value>, KitError> {
        let tasks = self.offline.get("tasks");
        let entry = tasks
            .and_then(|t| t.get(self.name))
            .and_then(Value::as_object);
        entry.ok_or_else(|| KitError::NoTask(self.name.to_owned()))
    }

    pub(crate) fn lacks(&self, lacks: impl Into<String>) -> KitError {
        KitError::Lacks {
            task: self.name.to_owned(),
            lacks: lacks.into(),
        }
    }

    /// A setting of the task, or what stands for it.
    fn named(&self, setting: &'a str) -> &'a str {
        let entry = self.offline.get("tasks").and_then(|t| t.get(self.name));
        let named = entry.and_then(|e| e.get(setting)).and_then(Value::as_str);
        named.unwrap_or(setting)
    }

    /// What the step reads under the name that the setting has.
    pub(crate) fn reads(&self, setting: &'a str) -> Option<&'a Value> {
        self.input.get(self.named(setting)).filter(|v| !v.is_null())
    }

    pub(crate) fn object(&self, setting: &'a str) -> Map<String, Value> {
        let value = self.reads(setting).and_then(Value::as_object);
        value.cloned().unwrap_or_default()
    }

    pub(crate) fn list(&self, setting: &'a str) -> Vec<&'a str> {
        let value = self.reads(setting).and_then(Value::as_array);
        value
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }

    /// A data file that the task works on.
    pub(crate) fn data(&self, setting: &'a str) -> Option<&'a Value> {
        self.data.get(self.named(setting))
    }

    pub(crate) fn fields(&self) -> Arc<Fields> {
        self.data("fields").map(fields).unwrap_or_default()
    }

    /// A text by its name: of `offline.yaml`, else of the pack's texts.
    pub(crate) fn text(&self, name: &str) -> Option<&'a Value> {
        let own = self.offline.get("texts").and_then(|t| t.get(name));
        own.or_else(|| self.data("texts")?.get(name))
    }

    pub(crate) fn text_in(&self, name: &str, language: &str) -> Result<&'a str, KitError> {
        let text = self.text(name).and_then(|t| in_language(t, language));
        text.ok_or_else(|| {
            self.lacks(format!(
                "there is no text {name:?}, neither in offline.yaml nor in the pack's texts"
            ))
        })
    }

    /// The text that the task says on an occasion: `say: {occasion: name}`, else the text of the occasion's own name.
    pub(crate) fn says(&self, occasion: &str, language: &str) -> Result<&'a str, KitError> {
        let say = self.entry()?.get("say").and_then(|s| s.get(occasion));
        self.text_in(say.and_then(Value::as_str).unwrap_or(occasion), language)
    }

    /// The answer without what the contract does not know.
    pub(crate) fn answered(&self, answer: Map<String, Value>) -> Value {
        let known = self.contract.get("properties").and_then(Value::as_object);
        let kept = answer
            .into_iter()
            .filter(|(key, _)| known.is_none_or(|k| k.contains_key(key)));
        Value::Object(kept.collect())
    }
}

/// A task with its fields, its conversation, and what is known.
pub(crate) struct Scene<'a> {
    pub task: Task<'a>,
    pub talk: Talk<'a>,
    pub fields: Arc<Fields>,
    pub collected: Map<String, Value>,
    pub unknown: Vec<&'a str>,
    /// What the last reply asked for.
    pub asked: Vec<usize>,
    pub asked_before: Vec<usize>,
}

impl<'a> Scene<'a> {
    pub fn new(task: Task<'a>) -> Scene<'a> {
        let talk = Talk::new(task.said);
        let fields = task.fields();
        let asked_in = |reply: &str| {
            let asked = fields
                .iter()
                .enumerate()
                .filter(|(_, f)| f.is_asked_in(reply));
            asked.map(|(at, _)| at).collect::<Vec<_>>()
        };
        Scene {
            asked: asked_in(&talk.last_reply()),
            asked_before: asked_in(&talk.reply_before()),
            collected: task.object("collected"),
            unknown: task.list("unknown"),
            task,
            talk,
            fields,
        }
    }

    /// What the user's own words of the last message say.
    pub fn reading(&self) -> Reading<'_> {
        self.reading_of(&self.talk.own, &self.asked)
    }

    pub fn reading_of<'s>(&'s self, own: &'s str, asked: &'s [usize]) -> Reading<'s> {
        Reading::new(
            own,
            Context {
                fields: &self.fields,
                asked,
                collected: &self.collected,
                languages: &self.talk.languages,
            },
        )
    }

    /// Whether a field has a value or is marked unknown.
    pub fn is_answered(&self, field: &Field) -> bool {
        self.collected.contains_key(&field.name) || self.unknown.contains(&field.name.as_str())
    }
}
