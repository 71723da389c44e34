//! The servers of `.mcp.json` as items: what each would start or reach, and the names of the variables that it would be given. No
//! variable is looked up for this, and no value is shown.

use super::inventory::{Item, Kind, hashed};
use crate::secrets;
use crate::store::canonical;
use serde_json::{Map, Value};

pub const FILE: &str = ".mcp.json";

/// The name of a server's item.
pub fn item_name(server: &str) -> String {
    format!("{FILE}/{server}")
}

/// One item a server, disabled ones too: switching one on is a change like any other. A file that is no JSON is one item.
pub fn server_items(bytes: &[u8]) -> Vec<Item> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let Ok(whole) = serde_json::from_slice::<Value>(bytes) else {
        return vec![Item {
            kind: Kind::Server,
            name: FILE.to_owned(),
            shows: vec!["cannot be read as JSON".to_owned()],
            hash: Ok(hashed(Kind::Server, bytes)),
        }];
    };
    let servers = whole.get("mcpServers").and_then(Value::as_object);
    servers
        .into_iter()
        .flatten()
        .map(|(name, entry)| Item {
            kind: Kind::Server,
            name: item_name(name),
            shows: entry.as_object().map(lines).unwrap_or_default(),
            hash: Ok(hashed(Kind::Server, canonical(entry).as_bytes())),
        })
        .collect()
}

fn lines(entry: &Map<String, Value>) -> Vec<String> {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let mut lines = Vec::new();
    if entry.get("disabled") == Some(&Value::Bool(true)) {
        lines.push("disabled".to_owned());
    }
    if let Some(command) = text("command") {
        let args = entry.get("args").and_then(Value::as_array);
        let words: Vec<String> = std::iter::once(command)
            .chain(args.into_iter().flatten().filter_map(Value::as_str))
            .map(|word| match secrets::mask(word).into_owned() {
                word if word.is_empty() || word.contains(char::is_whitespace) => {
                    format!("{word:?}")
                }
                word => word,
            })
            .collect();
        lines.push(format!("starts {}", words.join(" ")));
    }
    if let Some(url) = text("url") {
        lines.push(format!("reaches {}", secrets::mask(url)));
    }
    for (key, called) in [("env", "variable"), ("headers", "header")] {
        let pairs = entry.get(key).and_then(Value::as_object);
        for (name, value) in pairs.into_iter().flatten() {
            let value = value.as_str().unwrap_or_default();
            let from = variables(value);
            lines.push(match from.as_slice() {
                [] => match address(value) {
                    Some(address) => format!("gets the {called} {name}: {address}"),
                    None => format!("gets the {called} {name}, as the file has it"),
                },
                from => format!("gets the {called} {name}, from your {}", from.join(", ")),
            });
        }
    }
    lines
}

/// Where a value that is an address leads; what is behind the host may be secret.
fn address(value: &str) -> Option<String> {
    let url = url::Url::parse(value).ok()?;
    let is_web = matches!(url.scheme(), "http" | "https");
    is_web.then(|| url.origin().ascii_serialization())
}

/// The names in `${NAME}` and `${NAME:-default}`.
fn variables(text: &str) -> Vec<String> {
    text.split("${")
        .skip(1)
        .filter_map(|rest| rest.split_once('}'))
        .map(|(inside, _)| inside.split(":-").next().unwrap_or(inside).to_owned())
        .collect()
}
