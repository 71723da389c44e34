//! Of this toolset and of the library's, which has the same shape.

use super::*;
use crate::fixture::toolsets;
use serde_json::json;

fn all() -> Vec<Head> {
    let sets = toolsets();
    sets.iter().flat_map(|set| set.tools().to_vec()).collect()
}

#[test]
fn the_vocabulary_has_every_tool() {
    let heads = all();
    assert_eq!(heads.len(), crate::vocabulary::n8n().tools().len());
    for head in &heads {
        let named = crate::vocabulary::n8n().tool(head.name).unwrap();
        assert_eq!(
            (head.capability, head.changes),
            (named.capability, named.changes),
            "{}",
            head.name
        );
    }
}

#[test]
fn every_schema_is_closed_and_every_required_field_is_known() {
    for tool in all() {
        let schema = tool.spec().parameters;
        assert!(jsonschema::validator_for(&schema).is_ok(), "{}", tool.name);
        assert_eq!(schema["additionalProperties"], false, "{}", tool.name);
        for field in schema["required"].as_array().unwrap() {
            assert!(
                !schema["properties"][field.as_str().unwrap()].is_null(),
                "{} {field}",
                tool.name
            );
        }
    }
}

/// A value that the schema of a property allows.
fn example(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].as_array().and_then(|list| list.first()) {
        return first.clone();
    }
    // Of several types the first.
    let kind = schema["type"].get(0).unwrap_or(&schema["type"]);
    match kind.as_str() {
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(true),
        Some("object") => match schema["properties"].as_object() {
            Some(properties) => properties
                .iter()
                .map(|(key, p)| (key.clone(), example(p)))
                .collect(),
            None => json!({}),
        },
        Some("array") => {
            if schema["items"]["properties"]["op"].is_object() {
                return json!([{"op": "set_name", "name": "x"}]);
            }
            let count = schema["minItems"].as_u64().unwrap_or(1) as usize;
            Value::Array(vec![example(&schema["items"]); count])
        }
        _ => json!("text"),
    }
}

#[test]
fn what_a_schema_offers_the_request_takes_and_nothing_else() {
    for (set, tool) in toolsets()
        .iter()
        .flat_map(|set| set.tools().iter().map(move |tool| (set, tool)))
    {
        let schema = tool.spec().parameters;
        let Value::Object(mut args) = example(&schema) else {
            panic!()
        };
        assert!(
            jsonschema::is_valid(&schema, &Value::Object(args.clone())),
            "{}: {args:?}",
            tool.name
        );
        match set.parse(tool.name, args.clone()) {
            Ok(parsed) => {
                assert_eq!(
                    matches!(parsed, Parsed::Change(_)),
                    tool.changes,
                    "{}",
                    tool.name
                );
            }
            Err(why) => panic!("{}: {why}", tool.name),
        }
        for field in schema["required"].as_array().unwrap() {
            let mut less = args.clone();
            less.shift_remove(field.as_str().unwrap());
            assert!(set.parse(tool.name, less).is_err(), "{} {field}", tool.name);
        }
        let mut least = args.clone();
        least.retain(|key, _| schema["required"].as_array().unwrap().contains(&json!(key)));
        assert!(set.parse(tool.name, least).is_ok(), "{}", tool.name);
        args.insert("unknown_key".into(), json!(1));
        assert!(set.parse(tool.name, args).is_err(), "{}", tool.name);
    }
}

#[test]
fn each_operation_of_the_edit_engine_is_in_the_schema() {
    let schema = update_workflow::tool().spec().parameters;
    let listed = schema["properties"]["ops"]["items"]["properties"]["op"]["enum"].clone();
    let error =
        serde_json::from_value::<agentctl_n8n::EditOp>(json!({"op": "no_such"})).unwrap_err();
    for name in listed.as_array().unwrap() {
        assert!(
            error
                .to_string()
                .contains(&format!("`{}`", name.as_str().unwrap())),
            "{name}"
        );
    }
    assert_eq!(
        error.to_string().matches('`').count() / 2,
        listed.as_array().unwrap().len() + 1
    );
}

#[test]
fn a_schema_is_small() {
    for tool in all() {
        let size = serde_json::to_string(&tool.spec()).unwrap().len();
        assert!(size < 4_500, "{} has {size} bytes", tool.name);
    }
}
