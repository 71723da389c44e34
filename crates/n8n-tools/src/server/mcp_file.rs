//! The servers of the development n8n in `.mcp.json`, by the names of variables: no key is ever written there. Pure.

use super::keys::{API_KEY, API_URL, MCP_TOKEN, MCP_URL};
use serde_json::{Map, Value, json};

/// The release that agentctl is tried with.
const N8N_MCP: &str = "n8n-mcp@2.87.0";

/// The file with both servers, and the names of those that were added; what is there stays as it is.
pub fn with_servers(before: Option<&str>) -> Result<(String, Vec<&'static str>), String> {
    let mut whole = match before.map(str::trim).filter(|text| !text.is_empty()) {
        None => Map::new(),
        Some(text) => match serde_json::from_str(text) {
            Ok(Value::Object(whole)) => whole,
            Ok(_) => return Err("it is no JSON object".to_owned()),
            Err(error) => return Err(format!("it is not JSON: {error}")),
        },
    };
    let servers = whole.entry("mcpServers").or_insert_with(|| json!({}));
    let Value::Object(servers) = servers else {
        return Err("`mcpServers` is no object".to_owned());
    };
    let mut added = Vec::new();
    for (name, server) in [("n8n-mcp", n8n_mcp()), ("n8n", instance())] {
        if !servers.contains_key(name) {
            servers.insert(name.to_owned(), server);
            added.push(name);
        }
    }
    if let (true, Some(text)) = (added.is_empty(), before) {
        return Ok((text.to_owned(), added));
    }
    let mut text = serde_json::to_string_pretty(&whole).map_err(|e| e.to_string())?;
    text.push('\n');
    Ok((text, added))
}

fn reference(name: &str) -> String {
    format!("${{{name}}}")
}

fn n8n_mcp() -> Value {
    json!({
        "type": "stdio",
        "command": "npx",
        "args": ["-y", N8N_MCP],
        // The first start downloads it.
        "startupTimeoutMs": 300_000,
        "env": {
            API_URL: reference(API_URL),
            API_KEY: reference(API_KEY),
            "MCP_MODE": "stdio",
            "LOG_LEVEL": "error",
            "DISABLE_CONSOLE_OUTPUT": "true",
            "N8N_MCP_TELEMETRY_DISABLED": "true",
            // The development n8n is on the loopback interface, which its strict mode refuses.
            "WEBHOOK_SECURITY_MODE": "moderate",
        },
    })
}

/// n8n's own MCP server.
fn instance() -> Value {
    json!({
        "type": "http",
        "url": reference(MCP_URL),
        "headers": {"Authorization": format!("Bearer {}", reference(MCP_TOKEN))},
    })
}
