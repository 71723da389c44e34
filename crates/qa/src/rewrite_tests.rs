use super::*;
use proptest::prelude::*;
use serde_json::json;

const TEXT: &str = "{\n    \"name\": \"W\",\n    \"nodes\": [\n        { \"name\": \"A\", \"position\": [0, 0], \"parameters\": {\"url\": \"x\", \"b\": 1} },\n        { \"name\": \"B\", \"disabled\": true }\n    ],\n    \"empty\": {}\n}\n";

fn changed(change: impl FnOnce(&mut Value)) -> String {
    let old: Value = serde_json::from_str(TEXT).unwrap();
    let mut new = old.clone();
    change(&mut new);
    let text = rewrite(TEXT, &old, &new);
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), new);
    let diff = similar::TextDiff::from_lines(TEXT, text.as_str());
    diff.iter_all_changes()
        .filter(|c| c.tag() != similar::ChangeTag::Equal)
        .map(|c| format!("{}{}", c.tag(), c.value()))
        .collect()
}

#[test]
fn only_what_changed_differs() {
    assert_eq!(changed(|_| {}), "");
    assert_eq!(
        changed(|d| d["nodes"][0]["parameters"]["url"] = json!("=y")),
        "-        { \"name\": \"A\", \"position\": [0, 0], \"parameters\": {\"url\": \"x\", \"b\": 1} },\n+        { \"name\": \"A\", \"position\": [0, 0], \"parameters\": {\"url\": \"=y\", \"b\": 1} },\n"
    );
    assert_eq!(
        changed(|d| {
            d["nodes"][1].as_object_mut().unwrap().remove("disabled");
        }),
        "-        { \"name\": \"B\", \"disabled\": true }\n+        { \"name\": \"B\" }\n"
    );
    assert_eq!(
        changed(|d| d["active"] = json!([1])),
        "-    \"empty\": {}\n+    \"empty\": {},\n+    \"active\": [\n+        1\n+    ]\n"
    );
    assert_eq!(
        changed(|d| {
            d["nodes"].as_array_mut().unwrap().remove(1);
        }),
        "-        { \"name\": \"A\", \"position\": [0, 0], \"parameters\": {\"url\": \"x\", \"b\": 1} },\n-        { \"name\": \"B\", \"disabled\": true }\n+        { \"name\": \"A\", \"position\": [0, 0], \"parameters\": {\"url\": \"x\", \"b\": 1} }\n"
    );
    assert_eq!(
        changed(|d| d["empty"] = json!({"k": 1})),
        "-    \"empty\": {}\n+    \"empty\": {\n+        \"k\": 1\n+    }\n"
    );
}

#[test]
fn text_on_one_line_stays_on_one_line() {
    let text = "{\"a\":[1,2],\"b\":{}}";
    let old: Value = serde_json::from_str(text).unwrap();
    let new = json!({"a": [1, 2, {"c": 3}], "b": {"d": [4]}});
    assert_eq!(
        rewrite(text, &old, &new),
        "{\"a\":[1,2,{\"c\":3}],\"b\":{\"d\":[4]}}"
    );
}

#[test]
fn repeated_keys_do_not_lead_astray() {
    let text = "{\"a\": 1, \"a\": 2}\n";
    let old: Value = serde_json::from_str(text).unwrap();
    let new = json!({"a": 3});
    assert_eq!(
        serde_json::from_str::<Value>(&rewrite(text, &old, &new)).unwrap(),
        new
    );
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        (0..4i32).prop_map(Value::from),
        "[a\"\\\\{},é ]{0,3}".prop_map(Value::from)
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-d\"]{0,2}", inner), 0..4)
                .prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}

proptest! {
    /// Whatever was there and whatever it becomes, the text says what was meant.
    #[test]
    fn the_text_holds_the_new_document(old in json_value(), new in json_value(), pretty: bool) {
        let text = if pretty { serde_json::to_string_pretty(&old) } else { serde_json::to_string(&old) }.unwrap();
        let written = rewrite(&text, &old, &new);
        prop_assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), new.clone());
        if old == new {
            prop_assert_eq!(written, text);
        }
    }
}
