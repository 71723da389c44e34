//! Messages and artifacts, and the parts that both are made of.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    #[serde(rename = "ROLE_USER")]
    User,
    #[serde(rename = "ROLE_AGENT")]
    Agent,
}

/// What a part holds: one of these.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Content {
    Text(String),
    /// Base64.
    Raw(String),
    Url(String),
    Data(Value),
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    #[serde(flatten)]
    pub content: Content,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub filename: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub media_type: String,
}

impl Part {
    pub fn text(text: impl Into<String>) -> Part {
        Part::of(Content::Text(text.into()), "")
    }

    pub fn data(value: Value) -> Part {
        Part::of(Content::Data(value), "application/json")
    }

    /// What is had from an address.
    pub fn file(url: &str, filename: &str, media_type: &str) -> Part {
        let part = Part::of(Content::Url(url.to_owned()), media_type);
        Part {
            filename: filename.to_owned(),
            ..part
        }
    }

    fn of(content: Content, media_type: &str) -> Part {
        Part {
            content,
            metadata: Map::new(),
            filename: String::new(),
            media_type: media_type.to_owned(),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PartRead {
    text: Option<String>,
    raw: Option<String>,
    url: Option<String>,
    /// Null is a value, too.
    #[serde(default, deserialize_with = "there")]
    data: Option<Value>,
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
    #[serde(default)]
    filename: Option<String>,
    #[serde(default)]
    #[serde(alias = "media_type")]
    media_type: Option<String>,
}

fn there<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Part, D::Error> {
        let read = PartRead::deserialize(from)?;
        let contents = [
            read.text.map(Content::Text),
            read.raw.map(Content::Raw),
            read.url.map(Content::Url),
            read.data.map(Content::Data),
        ];
        let mut contents = contents.into_iter().flatten();
        let (Some(content), None) = (contents.next(), contents.next()) else {
            return Err(D::Error::custom(
                "a part has exactly one of text, raw, url and data",
            ));
        };
        Ok(Part {
            content,
            metadata: read.metadata.unwrap_or_default(),
            filename: read.filename.unwrap_or_default(),
            media_type: read.media_type.unwrap_or_default(),
        })
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    #[serde(alias = "message_id")]
    pub message_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "context_id")]
    pub context_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "task_id")]
    pub task_id: Option<String>,
    pub role: Role,
    pub parts: Vec<Part>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extensions: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(alias = "reference_task_ids")]
    pub reference_task_ids: Option<Vec<String>>,
}

impl Message {
    pub fn new(id: impl Into<String>, role: Role, parts: Vec<Part>) -> Message {
        Message {
            message_id: id.into(),
            context_id: None,
            task_id: None,
            role,
            parts,
            metadata: None,
            extensions: None,
            reference_task_ids: None,
        }
    }

    /// The text parts, a line each.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match &part.content {
            Content::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// What a task gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    #[serde(alias = "artifact_id")]
    pub artifact_id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    pub parts: Vec<Part>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_part_has_one_content_and_is_written_as_it_was_read() {
        for part in [
            json!({"text": "a"}),
            json!({"data": null}),
            json!({"data": {"a": [1]}, "mediaType": "application/json"}),
            json!({"url": "https://example.com/a", "filename": "a.txt", "metadata": {"n": 1}}),
            json!({"raw": "YQ=="}),
        ] {
            let read: Part = serde_json::from_value(part.clone()).unwrap();
            assert_eq!(serde_json::to_value(&read).unwrap(), part);
        }
        for wrong in [
            json!({}),
            json!({"kind": "text"}),
            json!({"text": "a", "data": 1}),
            json!({"text": 1}),
        ] {
            assert!(serde_json::from_value::<Part>(wrong).is_err());
        }
        let known = json!({"text": "a", "of_tomorrow": true});
        assert_eq!(
            serde_json::from_value::<Part>(known).unwrap(),
            Part::text("a")
        );
    }
}
