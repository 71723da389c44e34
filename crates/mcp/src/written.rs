//! A command line of `.mcp.json` as the file has it. What it says, and not what variables fill in, decides where it starts.

use super::ground::{Ground, Plan, plan};
use super::variables::with_defaults;
use serde_json::{Map, Value};
use std::path::Path;

/// A command line as the file has it, with the defaults of its variables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Written {
    pub command: String,
    args: Vec<String>,
    env: Vec<(String, String)>,
    folder: Option<String>,
}

impl Written {
    pub fn of(map: &Map<String, Value>) -> Self {
        let text = |key: &str| map.get(key).and_then(Value::as_str).map(with_defaults);
        let args = map.get("args").and_then(Value::as_array);
        let env = map.get("env").and_then(Value::as_object);
        Written {
            command: text("command").unwrap_or_default(),
            args: args
                .into_iter()
                .flatten()
                .filter_map(|arg| arg.as_str().map(with_defaults))
                .collect(),
            env: env
                .into_iter()
                .flatten()
                .filter_map(|(name, value)| Some((name.clone(), with_defaults(value.as_str()?))))
                .collect(),
            folder: text("cwd"),
        }
    }

    /// How it would run when no variable is set. What is shown and what is done both follow this, so that no value of a variable,
    /// which a file of the project may be named after, makes a difference between them.
    pub fn plan(&self, ground: &Ground, neutral: Option<&Path>) -> Plan {
        plan(
            ground,
            neutral,
            &self.command,
            &self.args,
            &self.env,
            self.folder.as_deref(),
        )
    }
}
