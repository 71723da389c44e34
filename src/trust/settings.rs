//! What `agentctl.toml` overrides: all of it but `[qa]` and `[limits]`, which are in force in every folder. A waiver only hides a
//! finding and is counted, and a limit only lowers.

use agentctl_base::canonical::canonical;
use agentctl_base::secrets;
use serde_json::{Map, Value};

/// In force without trust.
const HARMLESS: [&str; 2] = ["qa", "limits"];

/// The bytes that are hashed, and a line for each setting; None: nothing that overrides. A file that is no TOML is hashed as it
/// is: whoever trusts it is told its mistake by the reader.
pub fn overriding(bytes: &[u8]) -> Option<(Vec<u8>, Vec<String>)> {
    let parsed = std::str::from_utf8(bytes)
        .ok()
        .and_then(|text| toml::from_str::<toml::Table>(text).ok())
        .and_then(|table| serde_json::to_value(table).ok());
    let Some(Value::Object(mut sections)) = parsed else {
        return Some((bytes.to_owned(), vec!["cannot be read as TOML".to_owned()]));
    };
    for section in HARMLESS {
        sections.shift_remove(section);
    }
    // An empty table below a section may say something by its name alone: `[serve.clients.demo]`.
    sections.retain(|_, value| !matches!(value, Value::Object(map) if map.is_empty()));
    if sections.is_empty() {
        return None;
    }
    let mut lines = Vec::new();
    for (section, value) in &sections {
        match value {
            Value::Object(map) => leaves(section, map, &mut lines),
            other => lines.push(format!("{section} = {}", shown(other))),
        }
    }
    let canonical = canonical(&Value::Object(sections));
    Some((canonical.into_bytes(), lines))
}

/// `[providers.mine] base_url = "http://…"`: one line for each value.
fn leaves(section: &str, map: &Map<String, Value>, lines: &mut Vec<String>) {
    for (key, value) in map {
        match value {
            Value::Object(inner) if inner.is_empty() => {
                lines.push(format!("[{section}.{key}] (empty)"));
            }
            Value::Object(inner) => leaves(&format!("{section}.{key}"), inner, lines),
            other => lines.push(format!("[{section}] {key} = {}", shown(other))),
        }
    }
}

/// A key that was written here by mistake is not repeated.
fn shown(value: &Value) -> String {
    secrets::mask(&value.to_string()).into_owned()
}
