use super::*;
use agentctl_n8n_tools::vocabulary;
use serde_json::json;

#[test]
fn the_table_is_the_vocabularys_table() {
    let names = vocabulary::n8n().tools().iter().map(|tool| tool.name);
    assert_eq!(
        all().map(Tool::name).collect::<Vec<_>>(),
        names.collect::<Vec<_>>()
    );
    for tool in all() {
        let named = vocabulary::n8n().tool(tool.name()).unwrap();
        assert_eq!(tool.capability(), named.capability, "{}", tool.name());
        assert_eq!(tool.mutates(), named.changes, "{}", tool.name());
    }
}

#[test]
fn every_schema_is_closed_and_every_required_field_is_known() {
    for tool in all() {
        let schema = tool.spec().parameters;
        assert!(
            jsonschema::validator_for(&schema).is_ok(),
            "{}",
            tool.name()
        );
        assert_eq!(schema["additionalProperties"], false, "{}", tool.name());
        for field in schema["required"].as_array().unwrap() {
            assert!(
                !schema["properties"][field.as_str().unwrap()].is_null(),
                "{} {field}",
                tool.name()
            );
        }
    }
}

/// A value that the schema of a property allows.
fn example(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].as_array().and_then(|list| list.first()) {
        return first.clone();
    }
    match schema["type"].as_str() {
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
    for tool in all() {
        let schema = tool.spec().parameters;
        let Value::Object(mut args) = example(&schema) else {
            panic!()
        };
        assert!(
            jsonschema::is_valid(&schema, &Value::Object(args.clone())),
            "{}: {args:?}",
            tool.name()
        );
        let parsed = tool.parse(args.clone());
        assert!(parsed.is_ok(), "{}: {parsed:?}", tool.name());
        args.insert("unknown_key".into(), json!(1));
        assert!(tool.parse(args).is_err(), "{}", tool.name());
    }
}

#[test]
fn each_operation_of_the_edit_engine_is_in_the_schema() {
    let schema = find("update_workflow").unwrap().spec().parameters;
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
        assert!(size < 4_500, "{} has {size} bytes", tool.name());
    }
}
