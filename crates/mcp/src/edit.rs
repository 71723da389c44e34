//! Switching servers on and off in `.mcp.json`: only the `disabled` keys change, every other byte stays. Pure.

use super::key_lines::key_lines;
use serde_json::{Map, Value};
use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("it is not JSON: {0}")]
    NotJson(String),
    #[error("the key {0:?} stands twice; keep one of them first")]
    Twice(String),
    #[error("it has no servers under `mcpServers`")]
    NoServers,
    #[error("there is no server {name:?}; there are {known}")]
    Unknown { name: String, known: String },
    #[error("it is written in a way that cannot be edited safely; change `disabled` by hand")]
    Strange,
}

/// The servers of the file as they stand there: (name, enabled, speaks to n8n).
pub fn switches(text: &str) -> Result<Vec<(String, bool, bool)>, EditError> {
    let (_, servers) = read(text)?;
    Ok(servers
        .iter()
        .map(|(name, server)| {
            let enabled = server.get("disabled") != Some(&Value::Bool(true));
            (name.clone(), enabled, speaks_to_n8n(name, server))
        })
        .collect())
}

/// The text with these servers switched on or off; the same text when they are so already.
pub fn switched(text: &str, wanted: &[(String, bool)]) -> Result<String, EditError> {
    let mut out = text.to_owned();
    let (mut goal, servers) = read(text)?;
    for (name, enabled) in wanted {
        let Some(Value::Object(server)) = servers.get(name) else {
            let known: Vec<&str> = servers.keys().map(String::as_str).collect();
            return Err(EditError::Unknown {
                name: name.clone(),
                known: known.join(", "),
            });
        };
        if (server.get("disabled") != Some(&Value::Bool(true))) == *enabled {
            continue;
        }
        out = one(&out, name, *enabled).ok_or(EditError::Strange)?;
        if let Some(Value::Object(server)) = goal
            .pointer_mut("/mcpServers")
            .and_then(|s| s.get_mut(name))
        {
            if *enabled {
                server.shift_remove("disabled");
            } else {
                server.insert("disabled".to_owned(), Value::Bool(true));
            }
        }
    }
    // What was edited as text must mean what was wanted, and nothing else.
    match read(&out) {
        Ok((whole, _)) if whole == goal => Ok(out),
        _ => Err(EditError::Strange),
    }
}

fn read(text: &str) -> Result<(Value, Map<String, Value>), EditError> {
    let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
    let whole: Value = serde_json::from_str(bare).map_err(|e| EditError::NotJson(e.to_string()))?;
    if let Some((pointer, _)) = key_lines(bare).duplicates.iter().next() {
        let key = pointer.rsplit('/').next().unwrap_or_default();
        return Err(EditError::Twice(key.to_owned()));
    }
    match whole.get("mcpServers") {
        Some(Value::Object(servers)) => {
            let servers = servers.clone();
            Ok((whole, servers))
        }
        _ => Err(EditError::NoServers),
    }
}

fn speaks_to_n8n(name: &str, server: &Value) -> bool {
    let named = name.to_ascii_lowercase().contains("n8n");
    let given = server
        .get("env")
        .and_then(Value::as_object)
        .is_some_and(|env| env.keys().any(|key| key.starts_with("N8N_")));
    let address = server
        .get("url")
        .and_then(Value::as_str)
        .is_some_and(|url| url.contains("/mcp-server/http"));
    named || given || address
}

fn one(text: &str, name: &str, enabled: bool) -> Option<String> {
    let root = text.find('{')?;
    let servers = value_of(text, root, "mcpServers")?;
    let server = value_of(text, servers.start, name)?;
    let members = members(text, server.start)?;
    let at = members.iter().position(|m| m.key == "disabled");
    let mut out = text.to_owned();
    match (at, enabled) {
        (Some(at), false) => out.replace_range(members.get(at)?.value.clone(), "true"),
        (Some(at), true) => {
            let gone = members.get(at)?;
            let range = match (members.get(at + 1), at.checked_sub(1)) {
                (Some(next), _) => gone.start..next.start,
                (None, Some(before)) => members.get(before)?.value.end..gone.value.end,
                (None, None) => gone.start..gone.value.end,
            };
            out.replace_range(range, "");
        }
        (None, false) => {
            let inside = server.start + 1;
            match members.first() {
                // In front of the first key, laid out as it is.
                Some(first) => {
                    let space = text.get(inside..first.start)?.to_owned();
                    let space = if space.is_empty() { " " } else { &space };
                    let separator = format!("\"disabled\": true,{space}");
                    out.insert_str(first.start, &separator);
                }
                None => out.replace_range(inside..server.end - 1, "\"disabled\": true"),
            }
        }
        (None, true) => {}
    }
    Some(out)
}

/// A key of an object with its value, as places in the text.
struct Member {
    key: String,
    start: usize,
    value: Range<usize>,
}

fn value_of(text: &str, object: usize, key: &str) -> Option<Range<usize>> {
    members(text, object)?
        .into_iter()
        .find(|m| m.key == key)
        .map(|m| m.value)
}

/// The members of the object that begins at `object`; None when there is none. The text is known to be JSON.
fn members(text: &str, object: usize) -> Option<Vec<Member>> {
    let bytes = text.as_bytes();
    if bytes.get(object) != Some(&b'{') {
        return None;
    }
    let mut found = Vec::new();
    let mut at = space(bytes, object + 1);
    while bytes.get(at) == Some(&b'"') {
        let start = at;
        at = end_of_value(bytes, at)?;
        let key: String = serde_json::from_str(text.get(start..at)?).ok()?;
        at = space(bytes, space(bytes, at) + 1);
        let end = end_of_value(bytes, at)?;
        found.push(Member {
            key,
            start,
            value: at..end,
        });
        at = space(bytes, end);
        if bytes.get(at) == Some(&b',') {
            at = space(bytes, at + 1);
        }
    }
    Some(found)
}

fn space(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

fn end_of_value(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    loop {
        match bytes.get(at)? {
            b'"' => {
                at += 1;
                while *bytes.get(at)? != b'"' {
                    at += if *bytes.get(at)? == b'\\' { 2 } else { 1 };
                }
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += 1;
        let next = bytes.get(at);
        let ends =
            next.is_none_or(|b| matches!(b, b',' | b'}' | b']' | b':') || b.is_ascii_whitespace());
        if depth == 0 && ends {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    const TEXT: &str = "{\n  \"mcpServers\": {\n    \"n8n-mcp\": {\n      \"command\": \"npx\",\n      \"args\": [\"-y\", \"n8n-mcp\"], \"x\": \"}\\\"{\"\n    },\n    \"docs\": {\"type\": \"http\", \"url\": \"https://x.example\"},\n    \"empty\": {}\n  },\n  \"other\": [1, 2]\n}\n";

    fn set(text: &str, name: &str, enabled: bool) -> String {
        switched(text, &[(name.to_owned(), enabled)]).unwrap()
    }

    #[test]
    fn only_the_switch_changes() {
        let off = set(TEXT, "n8n-mcp", false);
        assert_eq!(
            off,
            TEXT.replacen("\"command\"", "\"disabled\": true,\n      \"command\"", 1)
        );
        assert_eq!(set(&off, "n8n-mcp", true), TEXT);
        let off = set(TEXT, "docs", false);
        assert!(
            off.contains("{\"disabled\": true, \"type\": \"http\""),
            "{off}"
        );
        assert_eq!(set(&off, "docs", true), TEXT);
        let off = set(TEXT, "empty", false);
        assert!(off.contains("\"empty\": {\"disabled\": true}"), "{off}");
        assert_eq!(set(&off, "empty", true), TEXT);
        assert_eq!(set(TEXT, "docs", true), TEXT);
        let last = TEXT.replace("\"x.example\"}", "").replace(
            "https://x.example\"",
            "https://x.example\", \"disabled\" : false ",
        );
        let off = set(&last, "docs", false);
        assert!(off.contains("\"disabled\" : true "), "{off}");
        assert!(set(&off, "docs", true).contains("\"https://x.example\" }"));
    }

    #[test]
    fn what_cannot_be_switched_is_told() {
        let wrong =
            |text: &str, name: &str| switched(text, &[(name.to_owned(), false)]).unwrap_err();
        assert_eq!(
            wrong(TEXT, "nobody").to_string(),
            "there is no server \"nobody\"; there are n8n-mcp, docs, empty"
        );
        assert_eq!(wrong("{}", "a"), EditError::NoServers);
        assert!(matches!(wrong("{", "a"), EditError::NotJson(_)));
        assert_eq!(
            wrong(r#"{"mcpServers":{"a":{"command":"x"},"a":{}}}"#, "a"),
            EditError::Twice("a".into())
        );
    }

    #[test]
    fn servers_of_n8n_are_known_by_what_they_say() {
        let text = json!({"mcpServers": {
            "n8n-mcp": {"command": "npx"},
            "flows": {"command": "x", "env": {"N8N_API_URL": "y"}},
            "own": {"type": "http", "url": "http://h/mcp-server/http", "disabled": true},
            "github": {"type": "http", "url": "https://g.example"},
        }});
        let found = switches(&text.to_string()).unwrap();
        let flat: Vec<(&str, bool, bool)> =
            found.iter().map(|(n, e, k)| (n.as_str(), *e, *k)).collect();
        assert_eq!(
            flat,
            [
                ("n8n-mcp", true, true),
                ("flows", true, true),
                ("own", false, true),
                ("github", true, false)
            ]
        );
    }

    proptest! {
        /// Whatever the file is like: off and on again gives the same meaning, and nothing but the switch differs in between.
        #[test]
        fn off_and_on_again_is_where_it_was(
            keys in prop::collection::btree_map("[a-z\"\\\\{} ]{1,6}", "[a-z\"\\\\,:{}\\[\\]]{0,8}", 0..4),
            pretty in any::<bool>(),
            last in any::<bool>(),
        ) {
            let mut server: Map<String, Value> = keys.into_iter().map(|(k, v)| (k, json!([v, {"a": 1}]))).collect();
            if last {
                server.insert("disabled".into(), json!(false));
            }
            let whole = json!({"a": "{", "mcpServers": {"x": {}, "it": server, "y": {"command": "z"}}});
            let text = if pretty { serde_json::to_string_pretty(&whole).unwrap() } else { whole.to_string() };
            let off = set(&text, "it", false);
            let mut goal = whole.clone();
            goal["mcpServers"]["it"]["disabled"] = json!(true);
            prop_assert_eq!(serde_json::from_str::<Value>(&off).unwrap(), goal.clone());
            let on: Value = serde_json::from_str(&set(&off, "it", true)).unwrap();
            goal["mcpServers"]["it"].as_object_mut().unwrap().remove("disabled");
            prop_assert_eq!(on, goal);
        }
    }
}
