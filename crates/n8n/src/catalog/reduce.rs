//! Reduces one of n8n's parameter descriptions to interface facts: no descriptions, hints, placeholders, texts or code.
//! Owns the rule which default is kept and which becomes a marker.

use serde_json::{Map, Value};

use super::description::{OMITTED_EXPRESSION, OMITTED_TEXT};
use super::published::{display, objects, strings, text};
use super::wire::{Choice, Group, Mode, Prop, TypeOpts};

/// Labels of these are sentences.
const DECORATION: [&str; 4] = ["notice", "callout", "button", "curlImport"];

pub fn reduce_property(p: &Map<String, Value>) -> Prop {
    let kind = text(p, "type").unwrap_or_default().to_owned();
    let label = if DECORATION.contains(&kind.as_str()) {
        String::new()
    } else {
        text(p, "displayName").unwrap_or_default().to_owned()
    };
    let (show, hide) = display(p);
    let (default, default_omitted) = match p.get("default") {
        Some(value) => {
            let (value, omitted) = reduce_default(value);
            (Some(value), omitted)
        }
        None => (None, false),
    };
    let mut prop = Prop {
        name: text(p, "name").unwrap_or_default().to_owned(),
        label,
        required: p.get("required") == Some(&Value::Bool(true)),
        no_expression: p.get("noDataExpression") == Some(&Value::Bool(true)),
        show,
        hide,
        default,
        default_omitted,
        modes: objects(p, "modes").map(mode).collect(),
        type_options: type_options(p),
        validate_type: text(p, "validateType").map(str::to_owned),
        arbitrary: p.get("allowArbitraryValues") == Some(&Value::Bool(true)),
        data_path: text(p, "requiresDataPath").map(str::to_owned),
        node_setting: p.get("isNodeSetting") == Some(&Value::Bool(true)),
        credential_types: strings(p.get("credentialTypes")),
        ..Prop::default()
    };
    match kind.as_str() {
        "collection" => prop.children = objects(p, "options").map(reduce_property).collect(),
        "fixedCollection" => prop.groups = objects(p, "options").map(group).collect(),
        _ if DECORATION.contains(&kind.as_str()) => {}
        _ => prop.options = objects(p, "options").filter_map(choice).collect(),
    }
    prop.kind = kind;
    prop
}

fn group(g: &Map<String, Value>) -> Group {
    Group {
        name: text(g, "name").unwrap_or_default().to_owned(),
        label: text(g, "displayName").unwrap_or_default().to_owned(),
        values: objects(g, "values").map(reduce_property).collect(),
    }
}

fn choice(o: &Map<String, Value>) -> Option<Choice> {
    let value = o.get("value")?.clone();
    let label = text(o, "name").or(text(o, "displayName"))?.to_owned();
    if let (None, None) = display(o) {
        return Some(if value.as_str() == Some(&label) {
            Choice::Same((label,))
        } else {
            Choice::Labelled((value, label))
        });
    }
    let (show, hide) = display(o);
    Some(Choice::Shown((
        value,
        label,
        show.unwrap_or_default(),
        hide.unwrap_or_default(),
    )))
}

fn mode(m: &Map<String, Value>) -> Mode {
    let patterns = objects(m, "validation")
        .filter(|v| text(v, "type") == Some("regex"))
        .filter_map(|v| {
            v.get("properties")?
                .get("regex")?
                .as_str()
                .map(str::to_owned)
        })
        .collect();
    Mode {
        name: text(m, "name").unwrap_or_default().to_owned(),
        label: text(m, "displayName").unwrap_or_default().to_owned(),
        kind: text(m, "type").unwrap_or_default().to_owned(),
        patterns,
    }
}

fn type_options(p: &Map<String, Value>) -> Option<Box<TypeOpts>> {
    let t = p.get("typeOptions")?.as_object()?;
    let flag = |key: &str| t.get(key) == Some(&Value::Bool(true));
    let count = |key: &str| {
        t.get(key)
            .and_then(Value::as_u64)
            .and_then(|n| u32::try_from(n).ok())
    };
    let mapper = t.get("resourceMapper").and_then(Value::as_object);
    let options = TypeOpts {
        multiple_values: t.get("multipleValues").and_then(Value::as_bool),
        min_value: t.get("minValue").and_then(Value::as_f64),
        max_value: t.get("maxValue").and_then(Value::as_f64),
        precision: count("numberPrecision"),
        max_length: count("maxLength"),
        min_required_fields: count("minRequiredFields"),
        max_allowed_fields: count("maxAllowedFields"),
        pattern: text(t, "regex").map(str::to_owned),
        password: flag("password"),
        date_only: flag("dateOnly"),
        dynamic_options: t.contains_key("loadOptionsMethod") || t.contains_key("loadOptions"),
        editor: text(t, "editor")
            .or(text(t, "codeAutocomplete"))
            .map(str::to_owned),
        mapper_mode: mapper.and_then(|m| text(m, "mode")).map(str::to_owned),
        mapper_auto: mapper.is_some_and(|m| m.get("supportAutoMap") != Some(&Value::Bool(false))),
        filter_version: t.get("filter").map(|f| {
            f.get("version")
                .and_then(Value::as_u64)
                .and_then(|n| u32::try_from(n).ok())
                .unwrap_or(0)
        }),
    };
    (options != TypeOpts::default()).then(|| Box::new(options))
}

/// A default with every long text or piece of code in it replaced by a marker of the same nature.
pub fn reduce_default(value: &Value) -> (Value, bool) {
    match value {
        Value::String(s) if is_prose_or_code(s) => (Value::String(marker(s).to_owned()), true),
        Value::Array(list) => {
            let parts: Vec<(Value, bool)> = list.iter().map(reduce_default).collect();
            let omitted = parts.iter().any(|(_, o)| *o);
            let list = parts.into_iter().map(|(v, _)| v).collect();
            (Value::Array(list), omitted)
        }
        Value::Object(map) => {
            let mut omitted = false;
            let mut out = Map::new();
            for (key, value) in map {
                let (value, o) = reduce_default(value);
                omitted |= o;
                out.insert(key.clone(), value);
            }
            (Value::Object(out), omitted)
        }
        other => (other.clone(), false),
    }
}

fn is_prose_or_code(s: &str) -> bool {
    let words = s
        .split_whitespace()
        .filter(|w| w.chars().filter(|c| c.is_alphabetic()).count() >= 2)
        .count();
    let calls = s.starts_with('=') && s.contains('(');
    words >= 4 || calls || s.contains('\n') || s.chars().count() > 120
}

/// What stays true of the text: an expression, a JSON object, a JSON array, or some text.
fn marker(s: &str) -> &'static str {
    if s.starts_with('=') {
        return OMITTED_EXPRESSION;
    }
    match serde_json::from_str::<Value>(s) {
        Ok(Value::Object(_)) => "{}",
        Ok(Value::Array(_)) => "[]",
        _ => OMITTED_TEXT,
    }
}
