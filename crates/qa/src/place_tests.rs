use super::*;
use proptest::prelude::*;
use serde_json::Value;

fn at(text: &str, pointer: &str) -> (usize, usize, usize, usize) {
    let places = locate(text, [pointer]);
    let p = places[0];
    (p.line, p.column, p.end_line, p.end_column)
}

const TEXT: &str = "\n{\n  \"näme\": \"é\\\"x\",\n  \"nodes\": [ {\"a\": 1, \"a/b\": [true]},\n    {\"a\": 2, \"a\": {\"b\" : null}} ]\n}\n";

#[test]
fn a_pointer_leads_to_its_key_and_value() {
    assert_eq!(at(TEXT, ""), (2, 1, 2, 2));
    assert_eq!(at(TEXT, "/näme"), (3, 3, 3, 17));
    assert_eq!(at(TEXT, "/nodes"), (4, 3, 4, 13));
    assert_eq!(at(TEXT, "/nodes/0"), (4, 14, 4, 15));
    assert_eq!(at(TEXT, "/nodes/0/a~1b/0"), (4, 31, 4, 35));
}

#[test]
fn what_is_missing_is_looked_for_in_what_is_there() {
    assert_eq!(at(TEXT, "/nodes/1/parameters/url"), at(TEXT, "/nodes/1"));
    assert_eq!(at(TEXT, "/nodes/7"), at(TEXT, "/nodes"));
    assert_eq!(at(TEXT, "/connections"), at(TEXT, ""));
    assert_eq!(at(TEXT, "/näme/x"), at(TEXT, "/näme"));
}

#[test]
fn of_repeated_keys_the_last_counts() {
    assert_eq!(at(TEXT, "/nodes/1/a/b"), (5, 20, 5, 30));
}

#[test]
fn text_that_is_no_json_has_places_too() {
    for text in [
        "",
        "{",
        "{\"a\"",
        "{\"a\":",
        "[",
        "[1,",
        "\"",
        "{a:1}",
        "{\"a\" 1}",
        "]",
    ] {
        for pointer in ["", "/a", "/0", "/a/b"] {
            let _ = at(text, pointer);
        }
    }
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z\"\\\\\n{}\\[\\],:é ]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec(("[a-c\"/~\\\\é]{0,3}", inner), 0..5)
                .prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}

fn pointers(value: &Value, at: &str, out: &mut Vec<(String, Value)>) {
    out.push((at.to_owned(), value.clone()));
    match value {
        Value::Object(map) => {
            for (key, item) in map {
                let token = key.replace('~', "~0").replace('/', "~1");
                pointers(item, &format!("{at}/{token}"), out);
            }
        }
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                pointers(item, &format!("{at}/{i}"), out);
            }
        }
        _ => {}
    }
}

proptest! {
    /// Every pointer into a document, pretty or not, leads to text that ends with the value (or opens it).
    #[test]
    fn places_hold_what_the_pointer_names(value in json(), pretty: bool) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        let mut wanted = Vec::new();
        pointers(&value, "", &mut wanted);
        let places = locate(&text, wanted.iter().map(|(p, _)| p.as_str()));
        let lines: Vec<Vec<char>> = text.split('\n').map(|l| l.chars().collect()).collect();
        for (place, (pointer, value)) in places.iter().zip(&wanted) {
            prop_assert_eq!(place.line, place.end_line, "{}", pointer);
            let seen: String = lines[place.line - 1][place.column - 1..place.end_column - 1].iter().collect();
            let shown = match value {
                Value::Object(_) => "{".to_owned(),
                Value::Array(_) => "[".to_owned(),
                scalar => scalar.to_string(),
            };
            prop_assert!(seen.ends_with(&shown), "{:?} does not end with {:?}", seen, shown);
        }
    }
}
