//! A model's name as people write it: `provider::model`, or `offline`.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ModelName {
    /// The planner that needs no key and no network.
    Offline,
    At {
        provider: String,
        model: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no model; write `offline` or `provider::model`, e.g. `anthropic::claude-sonnet-4-5`"
)]
pub struct BadModelName(String);

impl FromStr for ModelName {
    type Err = BadModelName;

    fn from_str(text: &str) -> Result<Self, BadModelName> {
        if text == "offline" {
            return Ok(ModelName::Offline);
        }
        let (provider, model) = text
            .split_once("::")
            .ok_or_else(|| BadModelName(text.to_owned()))?;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let provider_is_name = !provider.is_empty() && provider.chars().all(plain);
        let model_is_name =
            !model.is_empty() && model.chars().all(|c| !c.is_whitespace() && !c.is_control());
        if !provider_is_name || !model_is_name {
            return Err(BadModelName(text.to_owned()));
        }
        Ok(ModelName::At {
            provider: provider.to_owned(),
            model: model.to_owned(),
        })
    }
}

impl TryFrom<String> for ModelName {
    type Error = BadModelName;
    fn try_from(text: String) -> Result<Self, BadModelName> {
        text.parse()
    }
}

impl From<ModelName> for String {
    fn from(name: ModelName) -> String {
        name.to_string()
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelName::Offline => f.write_str("offline"),
            ModelName::At { provider, model } => write!(f, "{provider}::{model}"),
        }
    }
}
