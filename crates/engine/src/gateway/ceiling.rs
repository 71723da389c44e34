//! The most that one answer of a tool may hold. Lists and texts come in pages before this; here a single thing that is larger
//! than a page (a node with a book in it, a template, many long learnings) is cut, and the answer says so, and where. Pure.

use crate::toolset::PAGE_BYTES;
use agentctl_base::length::{longest_length, written_length};
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

/// So many of the places that were cut are named.
const MOST_NAMED: usize = 20;

/// The content as it is when it fits; else with its long texts and lists cut: `cut` says so, `cut_at` has the JSON pointers of the
/// first places.
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
        let mut cutting = Cutting {
            chars,
            items,
            places: Vec::new(),
        };
        let mut smaller = match cutting.cut(&content, &mut String::new()) {
            Value::Object(map) => map,
            other => Map::from_iter([("answer".to_owned(), other)]),
        };
        smaller.insert("cut".into(), told(chars, items).into());
        smaller.insert("cut_at".into(), cutting.places.into());
        let smaller = Value::Object(smaller);
        if written_length(&smaller) <= MOST_BYTES {
            return smaller;
        }
    }
    json!({"cut": format!("the answer has {bytes} bytes, too many parts to show any; ask for less")})
}

struct Cutting {
    chars: usize,
    items: usize,
    places: Vec<String>,
}

impl Cutting {
    fn cut(&mut self, value: &Value, at: &mut String) -> Value {
        match value {
            Value::String(text) => match text.char_indices().nth(self.chars) {
                None => value.clone(),
                Some((end, _)) => {
                    self.name(at);
                    format!("{}… (cut)", text.get(..end).unwrap_or_default()).into()
                }
            },
            Value::Array(list) => {
                if list.len() > self.items {
                    self.name(at);
                }
                let kept = list.iter().take(self.items).enumerate();
                kept.map(|(i, item)| self.below(at, &i.to_string(), item))
                    .collect()
            }
            Value::Object(map) => map
                .iter()
                .map(|(key, item)| (key.clone(), self.below(at, key, item)))
                .collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    fn below(&mut self, at: &mut String, key: &str, value: &Value) -> Value {
        let end = at.len();
        at.push('/');
        at.push_str(&key.replace('~', "~0").replace('/', "~1"));
        let cut = self.cut(value, at);
        at.truncate(end);
        cut
    }

    fn name(&mut self, at: &str) {
        if self.places.len() < MOST_NAMED {
            self.places.push(at.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_stays_and_what_does_not_is_cut_and_says_so() {
        let small = json!({"text": "word ".repeat(PAGE_BYTES / 5)});
        assert_eq!(within(small.clone()), small);

        let node = json!({"id": "w", "nodes": [{"name": "Code", "js/x": "ä".repeat(MOST_BYTES)}]});
        let shown = within(node);
        assert_eq!(shown["id"], "w");
        assert_eq!(
            shown["nodes"][0]["js/x"].as_str().unwrap(),
            format!("{}… (cut)", "ä".repeat(20_000))
        );
        assert!(shown["cut"].as_str().unwrap().contains("20000 characters"));
        assert_eq!(shown["cut_at"], json!(["/nodes/0/js~1x"]));
        assert!(shown.pointer("/nodes/0/js~1x").is_some());

        let list = within(json!({"found": vec!["a name of some length"; 100_000]}));
        assert_eq!(list["found"].as_array().unwrap().len(), 1_000);
        assert_eq!(list["cut_at"], json!(["/found"]));

        let map: Map<String, Value> = (0..90_000).map(|n| (format!("k{n}"), json!(n))).collect();
        assert!(within(Value::Object(map)).to_string().len() < 200);
    }
}
