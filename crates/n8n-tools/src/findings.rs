//! What a check's findings say against the ones before: fixed, still there, new. By the findings' ids, never by their words.

use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Ids of findings, each list sorted. A `new` finding after an edit is a regression.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compared {
    pub fixed: Vec<String>,
    pub still: Vec<String>,
    pub new: Vec<String>,
}

impl Compared {
    pub fn to_json(&self) -> Value {
        let ids = |list: &[String]| Value::Array(list.iter().cloned().map(Value::String).collect());
        let mut map = Map::new();
        map.insert("fixed".to_owned(), ids(&self.fixed));
        map.insert("still".to_owned(), ids(&self.still));
        map.insert("new".to_owned(), ids(&self.new));
        Value::Object(map)
    }
}

/// Each finding is an object with an `id`; one without an id is left out.
pub fn compare_findings(previous: &[Value], current: &[Value]) -> Compared {
    let before = ids(previous);
    let now = ids(current);
    let list = |set: BTreeSet<&str>| set.into_iter().map(str::to_owned).collect();
    Compared {
        fixed: list(before.difference(&now).copied().collect()),
        still: list(before.intersection(&now).copied().collect()),
        new: list(now.difference(&before).copied().collect()),
    }
}

fn ids(findings: &[Value]) -> BTreeSet<&str> {
    findings
        .iter()
        .filter_map(|f| f.get("id").and_then(Value::as_str))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn findings_are_compared_by_id() {
        let previous = [json!({"id": "a", "message": "x"}), json!({"id": "b"})];
        let current = [
            json!({"id": "c"}),
            json!({"id": "b", "message": "other words"}),
            json!({"code": "no id"}),
        ];
        assert_eq!(
            compare_findings(&previous, &current),
            Compared {
                fixed: vec!["a".into()],
                still: vec!["b".into()],
                new: vec!["c".into()]
            }
        );
        assert_eq!(compare_findings(&[], &[]), Compared::default());
    }
}
