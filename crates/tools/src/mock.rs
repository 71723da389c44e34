//! What a tool answers where the real one is not used: `mock.json` in its folder. Every such answer says that it is one.

use agentctl_engine::condition::Condition;
use agentctl_engine::toolset::Outcome;
use serde_json::{Map, Value};

/// Which tools are real.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// Each that has what it needs of the environment.
    #[default]
    Auto,
    Real,
    Mock,
}

impl Mode {
    /// What `AGENTCTL_TOOLS` says; None: it is none of auto, real, mock.
    pub fn from_name(name: &str) -> Option<Mode> {
        match name {
            "" | "auto" => Some(Mode::Auto),
            "real" => Some(Mode::Real),
            "mock" => Some(Mode::Mock),
            _ => None,
        }
    }
}

/// The rule of a result where no mock answers.
pub(crate) const WRONG: &str = "tools.mock";

/// The first case of `{cases: [{when, answer or error, searched}], answer}` whose expression over `args` and `bound` holds, else `answer`; a
/// file without `cases` is the answer itself.
pub(crate) fn answer(
    mock: &Value,
    args: &Map<String, Value>,
    bound: &Map<String, Value>,
) -> Outcome {
    let Some(cases) = mock.get("cases").and_then(Value::as_array) else {
        return marked(mock.clone());
    };
    let mut variables = Map::new();
    variables.insert("args".into(), Value::Object(args.clone()));
    variables.insert("bound".into(), Value::Object(bound.clone()));
    for case in cases {
        let when = case.get("when").and_then(Value::as_str).unwrap_or("false");
        let compiled = match Condition::compile(when, &["args", "bound"]) {
            Ok(compiled) => compiled,
            Err(why) => return Outcome::failed(why.to_string(), WRONG, "mend mock.json"),
        };
        // An argument that is not there is no match.
        if compiled.holds(&variables).unwrap_or(false) {
            return of(case, &variables);
        }
    }
    of(mock, &variables)
}

fn of(case: &Value, variables: &Map<String, Value>) -> Outcome {
    match (
        case.get("answer"),
        case.get("error").and_then(Value::as_str),
    ) {
        (Some(answer), _) => {
            let mut answer = answer.clone();
            let words = case.get("searched").and_then(Value::as_str);
            let words = words.and_then(|words| Condition::compile(words, &["args", "bound"]).ok());
            // Without such an argument everything is found.
            let words = words.and_then(|words| words.text(variables).ok());
            if let Some(words) = words {
                search(&mut answer, &words);
            }
            marked(answer)
        }
        (None, Some(error)) => Outcome::failed(error, "tools.failed", "say that it did not work"),
        (None, None) => Outcome::failed(
            "the mock has no answer for this",
            WRONG,
            "add a case to mock.json",
        ),
    }
}

/// Keeps of each list of things those in which a word of the query stands, and sets the `total` beside.
fn search(answer: &mut Value, query: &str) {
    let Value::Object(map) = answer else { return };
    let mut found = None;
    for value in map.values_mut() {
        match value {
            Value::Array(items) if items.iter().all(Value::is_object) => {
                items.retain(|item| has_word(&item.to_string().to_lowercase(), query));
                found = Some(items.len());
            }
            other => search(other, query),
        }
    }
    if let (Some(found), Some(total)) = (found, map.get_mut("total")) {
        *total = found.into();
    }
}

/// Whether a word of the query, or the beginning of a long one, stands in a text.
fn has_word(text: &str, query: &str) -> bool {
    const SHORT: usize = 3;
    const STEM: usize = 5;
    let query = query.to_lowercase();
    let mut words = query
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() >= SHORT)
        .peekable();
    // What holds no word to look for finds all, as no query does.
    words.peek().is_none()
        || words.any(|word| text.contains(&word.chars().take(STEM).collect::<String>()))
}

fn marked(answer: Value) -> Outcome {
    let mut content = match answer {
        Value::Object(map) => map,
        other => Map::from_iter([("result".to_owned(), other)]),
    };
    content.insert("mock".into(), true.into());
    Outcome::Ok(Value::Object(content))
}

#[cfg(test)]
mod tests {
    use super::answer;
    use agentctl_engine::toolset::Outcome;
    use serde_json::{Map, Value, json};

    fn found(args: Value) -> Value {
        let pages =
            json!([{"id": "1", "title": "How we release"}, {"id": "2", "title": "Notes of May"}]);
        let mock = json!({"cases": [
            {"when": "true", "searched": "args.query", "answer": {"result": {"total": 2, "pages": pages}}}
        ]});
        let Value::Object(args) = args else { panic!() };
        match answer(&mock, &args, &Map::new()) {
            Outcome::Ok(content) => content["result"].clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_search_in_mock_data_finds_what_has_a_word_of_the_query() {
        let one = found(json!({"query": "pages about releases"}));
        assert_eq!(
            (&one["total"], &one["pages"][0]["id"]),
            (&json!(1), &json!("1"))
        );
        let none = found(json!({"query": "onboarding"}));
        assert_eq!(none, json!({"total": 0, "pages": []}));
        assert_eq!(found(json!({}))["total"], 2);
    }
}
