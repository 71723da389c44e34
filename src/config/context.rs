//! `[models.context]`: how much a model can read at once, and how much of that a conversation may fill before old tool results
//! in it are shortened.

use agentctl_models::ModelName;
use indexmap::IndexMap;
use serde::Deserialize;

/// Tokens that nearly every hosted model of today can read.
const WINDOW: u64 = 128_000;
/// Percent of the window: the rest is for the answer, and because tokens are only estimated.
const FILL: u64 = 70;

/// ```toml
/// [models.context]
/// window = 200000
/// fill = 60                          # percent
/// [models.context.windows]
/// "local::qwen3:8b" = 32768
/// ```
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Context {
    /// Tokens.
    window: Option<Window>,
    fill: Option<Fill>,
    /// By `provider::model`.
    #[serde(default)]
    windows: IndexMap<NamedModel, Window>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u64")]
struct Window(u64);
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u64")]
struct Fill(u64);
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "String")]
struct NamedModel(String);

impl TryFrom<u64> for Window {
    type Error = &'static str;
    fn try_from(tokens: u64) -> Result<Self, Self::Error> {
        match tokens {
            1_000..=100_000_000 => Ok(Window(tokens)),
            _ => Err("a window is a number of tokens, 1000 or more"),
        }
    }
}

impl TryFrom<u64> for Fill {
    type Error = &'static str;
    fn try_from(percent: u64) -> Result<Self, Self::Error> {
        match percent {
            10..=100 => Ok(Fill(percent)),
            _ => Err("`fill` is a number of percent, 10 to 100"),
        }
    }
}

impl TryFrom<String> for NamedModel {
    type Error = String;
    fn try_from(name: String) -> Result<Self, String> {
        match name.parse::<ModelName>() {
            Ok(_) => Ok(NamedModel(name)),
            Err(e) => Err(e.to_string()),
        }
    }
}

impl Context {
    /// The tokens that a conversation with the model may have before it is shortened.
    pub fn room(&self, model: &ModelName) -> u64 {
        let of_model = self.windows.get(&NamedModel(model.to_string()));
        let window = of_model.or(self.window.as_ref()).map_or(WINDOW, |w| w.0);
        window * self.fill.map_or(FILL, |fill| fill.0) / 100
    }

    /// What is set here, else what is set there.
    #[must_use]
    pub fn over(self, base: Context) -> Self {
        let mut windows = base.windows;
        windows.extend(self.windows);
        Context {
            window: self.window.or(base.window),
            fill: self.fill.or(base.fill),
            windows,
        }
    }
}
