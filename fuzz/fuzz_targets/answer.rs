//! A model's final text: what is taken fits the step's contract and is one JSON object, whatever stands around it.
#![no_main]

use agentctl_engine::agent::Contract;
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use std::sync::LazyLock;

static ANY: LazyLock<Contract> =
    LazyLock::new(|| Contract::compile(&json!({"type": "object"})).expect("a schema"));
static STRICT: LazyLock<Contract> = LazyLock::new(|| {
    let schema = json!({
        "type": "object", "required": ["verdict"], "additionalProperties": false,
        "properties": {"verdict": {"enum": ["pass", "fail"]}, "scope": {"type": "array", "items": {"type": "string"}}},
    });
    Contract::compile(&schema).expect("a schema")
});

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let any = ANY.read(text);
    if let Ok(Value::Object(object)) = &any {
        // Said alone it is read as the same.
        let alone = Value::Object(object.clone());
        assert_eq!(ANY.read(&alone.to_string()).as_ref(), Ok(&alone));
    } else {
        assert!(any.is_err(), "{any:?} is no object");
    }
    match STRICT.read(text) {
        Ok(answer) => {
            assert_eq!(any.as_ref(), Ok(&answer));
            assert_eq!(STRICT.faults(&answer), Vec::<String>::new());
        }
        Err(faults) => assert!(!faults.is_empty() && faults.len() <= 16),
    }
});
