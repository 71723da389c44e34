//! A tool of kind http as n8n's HTTP Request Tool: what is bound comes from the trigger, what the flow says is written out, the rest is the
//! model's (`$fromAI`).

use super::TRIGGER;
use super::settings::Settings;
use agentctl_engine::flow::{Step, StepKind};
use agentctl_engine::pack::{DeclaredTool, ToolKind};
use serde_json::{Map, Value, json};

/// What a model says with a call: name and schema.
pub(super) fn parameters(tool: &DeclaredTool) -> impl Iterator<Item = (&String, &Value)> {
    let properties = tool.parameters.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten()
}

/// `$fromAI('name', 'what it is', 'type')`.
pub(super) fn from_ai(name: &str, schema: &Value) -> String {
    let kind = match schema.get("type").and_then(Value::as_str) {
        Some("integer" | "number") => "number",
        Some("boolean") => "boolean",
        Some("object" | "array") => "json",
        _ => "string",
    };
    let about = schema
        .get("description")
        .and_then(Value::as_str)
        .unwrap_or(name);
    format!("$fromAI({}, {}, '{kind}')", quoted(name), quoted(about))
}

/// As a text of JavaScript.
fn quoted(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    format!(
        "'{}'",
        line.replace('\\', "\\\\")
            .replace('\'', "\\'")
            .replace("}}", "} }")
    )
}

/// What stands for a value of the call.
fn value(name: &str, tool: &DeclaredTool, steps: &[Step]) -> String {
    if tool.bind.contains_key(name) {
        return format!("$('{TRIGGER}').item.json.{name}");
    }
    // What the flow calls it with, where that is a text of its own.
    let said = steps.iter().find_map(|step| match &step.kind {
        StepKind::Tool(spec) if spec.tool == tool.id => spec.args.get(name),
        _ => None,
    });
    let said = said.map(|condition| condition.source().trim());
    if let Some(text) = said.and_then(|text| text.strip_prefix('\'')?.strip_suffix('\'')) {
        return quoted(text);
    }
    let empty = Value::Null;
    let schema = parameters(tool)
        .find(|(of, _)| *of == name)
        .map(|(_, schema)| schema);
    from_ai(name, schema.unwrap_or(&empty))
}

/// A text with places as an expression of n8n; `encode`: as segments of a path.
fn text(written: &str, encode: bool, of: &impl Fn(&str) -> String, settings: &Settings) -> String {
    let mut out = String::from("=");
    let mut rest = written;
    while let Some((before, from)) = rest.split_once('{') {
        let Some((name, behind)) = from.split_once('}') else {
            break;
        };
        match before.strip_suffix('$') {
            Some(before) => out += &format!("{before}{}", settings.within(name)),
            None if encode => out += &format!("{before}{{{{ encodeURIComponent({}) }}}}", of(name)),
            None => out += &format!("{before}{{{{ {} }}}}", of(name)),
        }
        rest = behind;
    }
    out + rest
}

/// A body as an expression of JavaScript.
fn body(shape: &Value, of: &impl Fn(&str) -> String) -> String {
    match shape {
        Value::String(written) => {
            let place = written
                .strip_prefix('{')
                .and_then(|rest| rest.strip_suffix('}'));
            match place.filter(|name| !name.contains(['{', '}'])) {
                Some(name) => of(name),
                None => quoted(written),
            }
        }
        Value::Object(map) => {
            let parts = map
                .iter()
                .map(|(key, item)| format!("{key}: {}", body(item, of)));
            format!("{{ {} }}", parts.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => {
            let parts = items.iter().map(|item| body(item, of));
            format!("[{}]", parts.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// The parameters of the node. Err: the tool is of another kind.
pub(super) fn request(
    tool: &DeclaredTool,
    steps: &[Step],
    settings: &Settings,
) -> Result<Value, String> {
    let section = match &tool.kind {
        ToolKind::Other {
            name: "http",
            section,
        } => section,
        other => {
            return Err(format!(
                "n8n has no node for a tool of the kind {}",
                other.name()
            ));
        }
    };
    let of = |name: &str| value(name, tool, steps);
    let said = |key: &str| section.get(key).and_then(Value::as_str);
    let mut node = Map::new();
    node.insert("toolDescription".into(), tool.told().into());
    node.insert("method".into(), said("method").unwrap_or("GET").into());
    node.insert(
        "url".into(),
        text(said("url").unwrap_or_default(), true, &of, settings).into(),
    );
    let auth = section.get("auth").and_then(Value::as_object);
    if let Some(kind) = auth.and_then(|auth| auth.keys().next()) {
        let generic = match kind.as_str() {
            "basic" => "httpBasicAuth",
            "bearer" => "httpBearerAuth",
            _ => "httpHeaderAuth",
        };
        node.insert("authentication".into(), "genericCredentialType".into());
        node.insert("genericAuthType".into(), generic.into());
    }
    if let Some(query) = section.get("query").and_then(Value::as_object) {
        let pairs = query.iter().map(|(key, written)| {
            json!({"name": key, "value": text(written.as_str().unwrap_or_default(), false, &of, settings)})
        });
        node.insert("sendQuery".into(), true.into());
        node.insert(
            "queryParameters".into(),
            json!({"parameters": pairs.collect::<Vec<_>>()}),
        );
    }
    if let Some(shape) = section.get("body") {
        node.insert("sendBody".into(), true.into());
        node.insert("specifyBody".into(), "json".into());
        let body = format!("={{{{ JSON.stringify({}) }}}}", body(shape, &of));
        node.insert("jsonBody".into(), body.into());
    }
    node.insert("options".into(), json!({}));
    Ok(Value::Object(node))
}
