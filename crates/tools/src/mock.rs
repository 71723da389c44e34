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

/// The first case of `{cases: [{when, answer or error}], answer}` whose expression over `args` and `bound` holds, else `answer`; a
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
            return of(case);
        }
    }
    of(mock)
}

fn of(case: &Value) -> Outcome {
    match (
        case.get("answer"),
        case.get("error").and_then(Value::as_str),
    ) {
        (Some(answer), _) => marked(answer.clone()),
        (None, Some(error)) => Outcome::failed(error, "tools.failed", "say that it did not work"),
        (None, None) => Outcome::failed(
            "the mock has no answer for this",
            WRONG,
            "add a case to mock.json",
        ),
    }
}

fn marked(answer: Value) -> Outcome {
    let mut content = match answer {
        Value::Object(map) => map,
        other => Map::from_iter([("result".to_owned(), other)]),
    };
    content.insert("mock".into(), true.into());
    Outcome::Ok(Value::Object(content))
}
