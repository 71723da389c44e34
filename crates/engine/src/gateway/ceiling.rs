//! The most that one answer of a tool may hold. Lists and texts come in pages before this; here a single thing that is larger
//! than a page (a node with a book in it, a template, many long learnings) is cut, and the answer says so. Pure.

use crate::toolset::{PAGE_BYTES, longest_length, written_length};
use serde_json::{Map, Value, json};

/// A page, and what stands around it.
const MOST_BYTES: usize = PAGE_BYTES + PAGE_BYTES / 2;

/// Characters of a text and items of a list that are left, step by step until it fits.
const LEFT: [(usize, usize); 5] = [
    (20_000, 1_000),
    (4_000, 400),
    (1_000, 100),
    (200, 40),
    (80, 10),
];

/// The content as it is when it fits; else with its long texts and lists cut.
pub(super) fn within(content: Value) -> Value {
    if longest_length(&content) <= MOST_BYTES {
        return content;
    }
    let bytes = written_length(&content);
    if bytes <= MOST_BYTES {
        return content;
    }
    let told = |chars: usize, items: usize| {
        format!(
            "the answer has {bytes} bytes; texts of more than {chars} characters and lists of more than {items} items are cut"
        )
    };
    for (chars, items) in LEFT {
        let mut smaller = match cut(&content, chars, items) {
            Value::Object(map) => map,
            other => Map::from_iter([("answer".to_owned(), other)]),
        };
        smaller.insert("cut".into(), told(chars, items).into());
        let smaller = Value::Object(smaller);
        if written_length(&smaller) <= MOST_BYTES {
            return smaller;
        }
    }
    json!({"cut": format!("the answer has {bytes} bytes, too many parts to show any; ask for less")})
}

fn cut(value: &Value, chars: usize, items: usize) -> Value {
    match value {
        Value::String(text) => match text.char_indices().nth(chars) {
            None => value.clone(),
            Some((at, _)) => format!("{}… (cut)", text.get(..at).unwrap_or_default()).into(),
        },
        Value::Array(list) => list
            .iter()
            .take(items)
            .map(|item| cut(item, chars, items))
            .collect(),
        Value::Object(map) => map
            .iter()
            .map(|(key, item)| (key.clone(), cut(item, chars, items)))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 5, |inner| {
            let map = prop::collection::hash_map(any::<String>(), inner.clone(), 0..5);
            prop_oneof![
                prop::collection::vec(inner, 0..5).prop_map(Value::Array),
                map.prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest::proptest! {
        #[test]
        fn a_length_is_that_of_the_text(map in any_value(), text: String, n: f64, i: i64) {
            let value = json!({"map": map, "list": [text.clone(), n, i, true, false, null], (text): [], "o": {}});
            proptest::prop_assert_eq!(written_length(&value), value.to_string().len());
            proptest::prop_assert!(longest_length(&value) >= value.to_string().len());
        }
    }

    #[test]
    fn what_fits_stays_and_what_does_not_is_cut_and_says_so() {
        let small = json!({"text": "word ".repeat(PAGE_BYTES / 5)});
        assert_eq!(within(small.clone()), small);

        let node = json!({"id": "w", "nodes": [{"name": "Code", "js": "ä".repeat(MOST_BYTES)}]});
        let shown = within(node);
        assert_eq!(shown["id"], "w");
        assert_eq!(
            shown["nodes"][0]["js"].as_str().unwrap(),
            format!("{}… (cut)", "ä".repeat(20_000))
        );
        assert!(shown["cut"].as_str().unwrap().contains("20000 characters"));

        let list = json!({"found": vec!["a name of some length"; 100_000]});
        assert_eq!(within(list)["found"].as_array().unwrap().len(), 1_000);

        let map: Map<String, Value> = (0..90_000).map(|n| (format!("k{n}"), json!(n))).collect();
        assert!(within(Value::Object(map)).to_string().len() < 200);
    }
}
