//! Against figures that scipy 1.x and numpy gave for the same numbers (`scipy.json`).

use super::Answered;
use super::statistics::statistics;
use serde_json::{Value, json};

fn reckoned(args: &Value) -> Answered {
    statistics(args.as_object().unwrap())
}

#[test]
fn figures_are_those_of_scipy() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("scipy.json")).unwrap();
    assert!(cases.len() > 15);
    for case in &cases {
        let found = reckoned(&case["args"]).unwrap();
        for (path, want) in case["want"].as_object().unwrap() {
            let (got, want) = (
                found.pointer(&format!("/{path}")).and_then(Value::as_f64),
                want.as_f64().unwrap(),
            );
            let near = got.is_some_and(|got| (got - want).abs() <= 1e-9 * want.abs().max(1e-3));
            assert!(near, "{} {path}: {got:?}, scipy {want}", case["args"]);
        }
    }
}

#[test]
fn what_cannot_be_reckoned_says_why() {
    for (args, why) in [
        (
            json!({"what": "mode", "x": [1, 2]}),
            "there is no statistic",
        ),
        (json!({"what": "describe"}), "x is missing"),
        (json!({"what": "describe", "x": []}), "at least 1"),
        (json!({"what": "describe", "x": [1, "two"]}), "no number"),
        (
            json!({"what": "regression", "x": [1, 2, 3], "y": [1, 2]}),
            "at least 3",
        ),
        (
            json!({"what": "correlation", "x": [1, 2, 3], "y": [1, 2]}),
            "pairs",
        ),
        (
            json!({"what": "correlation", "x": [1, 1, 1], "y": [1, 2, 3]}),
            "everywhere",
        ),
        (json!({"what": "t_test", "x": [4, 4, 4]}), "do not vary"),
        (
            json!({"what": "chi_square", "x": [1, 2], "y": [1, 1]}),
            "in all",
        ),
        (
            json!({"what": "chi_square", "table": [[1, 2], [3]]}),
            "each row",
        ),
        (
            json!({"what": "quantiles", "x": [1], "probabilities": [1.5]}),
            "between 0 and 1",
        ),
        (
            json!({"what": "chi_square", "x": [-1, 2]}),
            "no number is below 0",
        ),
        (
            json!({"what": "confidence_interval", "x": [1, 2], "level": 95}),
            "between 0 and 1",
        ),
    ] {
        let (said, hint) = reckoned(&args).unwrap_err();
        assert!(said.contains(why) && !hint.is_empty(), "{args}: {said}");
    }
}
