//! `request:discover-tools`: the tools of a pack that other agents may use, in the form that seed systems have for them.

use super::read::Envelope;
use super::told::Reply;
use super::use_tool;
use crate::server::ServedPack;
use agentctl_engine::pack::DeclaredTool;
use serde_json::{Map, Value, json};

pub fn available(pack: &ServedPack, envelope: &Envelope) -> Reply {
    let category = envelope.payload.get("category_filter");
    let category = category.and_then(Value::as_str).filter(|c| !c.is_empty());
    let needs = envelope.payload.get("capability_requirements");
    let needs = needs.and_then(Value::as_array).into_iter().flatten();
    let needs: Vec<String> = needs
        .filter_map(Value::as_str)
        .map(str::to_lowercase)
        .collect();
    let offered = |tool: &DeclaredTool| use_tool::is_offered(pack, tool.id);
    let tools = pack.pack.tools.values().filter(|tool| {
        offered(tool)
            && category.is_none_or(|category| tool.category == category)
            && serves(tool, &needs)
    });
    let tools: Vec<Value> = tools.map(told).collect();
    let payload = json!({"in_reply_to": envelope.id, "tools": tools});
    Reply::plain(&pack.pack.manifest.name, envelope, &payload)
}

/// Whether a tool speaks of any of what is needed; of nothing needed each does.
fn serves(tool: &DeclaredTool, needs: &[String]) -> bool {
    let about = format!(
        "{} {} {} {}",
        tool.id,
        tool.name,
        tool.description,
        tool.keywords.join(" ")
    );
    let about = about.to_lowercase();
    let words = |need: &String| {
        let mut words = need.split(|c: char| !c.is_alphanumeric());
        words.any(|word| word.len() > 2 && about.contains(word))
    };
    needs.is_empty() || needs.iter().any(words)
}

fn told(tool: &DeclaredTool) -> Value {
    let of = |key: &str| tool.parameters.get(key);
    let required = of("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|all| all.iter().any(|one| one.as_str() == Some(name)));
    let parameters: Map<String, Value> = of("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(name, schema)| {
            let get = |key: &str| schema.get(key).cloned().unwrap_or_default();
            let told = json!({"type": get("type"), "required": is_required(name), "description": get("description")});
            (name.clone(), told)
        })
        .collect();
    json!({
        "tool_id": tool.id, "name": tool.name, "description": tool.description, "category": tool.category,
        "parameters": parameters, "output_schema": tool.output_schema, "usage_examples": tool.examples
    })
}
