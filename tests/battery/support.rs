//! What the cases attack with: a model that has been taken over (`Shop`, whole runs with a scripted model), a backend that
//! lies (`MemoryBackend`), and the gateway alone on a bench (`Bench`) under the built-in pack's policy.

#[path = "../../src/gateway/fixture/mod.rs"]
mod bench;
#[path = "../run/support.rs"]
mod shop;

pub use bench::*;
pub use shop::*;

use agentctl::model::{ModelAnswer, ToolCall};
use agentctl::pack::Pack;
use serde_json::Value;
use std::path::Path;
use std::sync::{Arc, LazyLock};

static BUILT_IN: LazyLock<Pack> =
    LazyLock::new(|| agentctl::pack::load(Path::new("no-such-folder")).unwrap());

/// The pack that is compiled into the program.
pub fn built_in() -> &'static Pack {
    &BUILT_IN
}

pub const ROLES: [&str; 6] = [
    "orchestrator",
    "architect",
    "researcher",
    "builder",
    "qa",
    "analyst",
];

/// The built-in policy over a backend in memory that holds `orders`: a chain of ten nodes, made before the run.
pub fn attacked() -> (Bench, Arc<MemoryBackend>) {
    let (bench, backend) = Bench::in_memory(built_in().policy.clone());
    backend.put("orders", chain("orders", 10), false);
    (bench, backend)
}

/// Calls exactly as a model wrote them: names and arguments are raw text.
pub fn raw_calls(list: &[(&str, &str)]) -> ModelAnswer {
    let mut answer = says(Value::Null);
    answer.text = String::new();
    answer.tool_calls = list
        .iter()
        .enumerate()
        .map(|(i, (name, arguments))| ToolCall {
            id: format!("c{i}"),
            name: (*name).to_owned(),
            arguments: (*arguments).to_owned(),
        })
        .collect();
    answer
}
