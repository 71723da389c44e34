//! Conditions: what they give, and what is refused when they are compiled.

use super::*;
use serde_json::json;

const VARS: &[&str] = &["a", "b"];

fn eval(source: &str, variables: Value) -> Result<Value, ConditionError> {
    Condition::compile(source, VARS)?.value(variables.as_object().unwrap())
}

#[test]
fn values_come_back_as_json() {
    let vars = json!({"a": {"n": 2, "list": [{"v": "x", "s": 70}, {"v": "y", "s": 10}], "nothing": null}, "b": 1.5});
    for (source, expected) in [
        ("a.n + 1", json!(3)),
        ("a.n >= 2 && b < 2.0", json!(true)),
        ("has(a.missing)", json!(false)),
        ("a.nothing == null", json!(true)),
        ("a.list != null", json!(true)),
        ("a != null", json!(true)),
        (
            "a.list.filter(x, x.s > 50).map(x, {'value': x.v, 'label': x.v + '!'})",
            json!([{"label": "x!", "value": "x"}]),
        ),
        ("a.list.exists(x, x.v == 'y')", json!(true)),
        ("size(a.list) > 0 ? a.list[0].v : 'none'", json!("x")),
        ("'n: ' + string(a.n)", json!("n: 2")),
        ("'abc'.matches('^a.c$')", json!(true)),
        ("'n' in a", json!(true)),
    ] {
        assert_eq!(eval(source, vars.clone()), Ok(expected), "{source}");
    }
}

/// What stands in a pack's data is evaluated over what it is told, bounded by itself, and never stops the flow.
#[test]
fn an_expression_of_data_gives_its_value_or_why_there_is_none() {
    let vars = json!({"a": {"when": "f.n > 1", "input": {"m": "f.t + '!'", "yes": "true"}, "long": "f.t + f.t + f.t + f.t", "deep":
        "f.l.all(a, f.l.all(b, f.l.all(c, f.l.all(d, a == b))))", "again": "evaluated('1', {}).value"},
        "b": {"n": 2, "t": "x".repeat(400), "l": (0..30).collect::<Vec<_>>()}});
    let of = |what: &str| eval(&format!("evaluated({what}, {{'f': b}})"), vars.clone()).unwrap();
    assert_eq!(of("a.when"), json!({"value": true}));
    assert_eq!(
        of("a.input"),
        json!({"value": {"m": "x".repeat(400) + "!", "yes": true}})
    );
    for (what, why) in [
        ("'f.none'", "none"),
        ("'g'", "unknown variable"),
        ("'f.'", "not valid"),
        ("{'m': 1}", "no expression"),
        ("a.long", "more than it is given"),
        ("a.deep", "steps"),
        ("a.again", "steps"),
    ] {
        let error = of(what)["error"].as_str().unwrap_or_default().to_owned();
        assert!(error.contains(why), "{what}: {error}");
    }
}

#[test]
fn a_toolset_brings_functions_of_its_own() {
    let vocabulary = crate::vocabulary::fixture::vocabulary();
    let compile = |source| Condition::compile_with(source, VARS, &[], vocabulary.functions());
    let vars = json!({"a": [1, {"x": "y"}], "b": null});
    let eval = |source| compile(source).unwrap().value(vars.as_object().unwrap());
    assert_eq!(
        eval("a.map(item, pair(item, 'z'))"),
        Ok(json!([[1, "z"], [{"x": "y"}, "z"]]))
    );
    for (source, part) in [
        ("pair(b, 1)", "there is no first"),
        ("pair(1)", "expected 2"),
        ("pair(1, 2, 3)", "expected 2"),
    ] {
        let told = eval(source).unwrap_err().to_string();
        assert!(told.to_lowercase().contains(part), "{part} in {told}");
    }
    // Only who is told of them may call them.
    let told = Condition::compile("pair(1, 2)", VARS)
        .unwrap_err()
        .to_string();
    assert!(told.contains("unknown function `pair`"), "{told}");
    // They cost what their arguments are.
    let loops = (0..8).fold("pair(a, a)".to_owned(), |inner, i| {
        format!("a.map(x{i}, {inner})")
    });
    assert!(matches!(compile(&loops), Err(ConditionError::Cost { .. })));
}

#[test]
fn mistakes_are_found_when_the_expression_is_compiled() {
    for (source, part) in [
        ("a ==", "is not valid"),
        ("c.x == 1", "unknown variable `c`"),
        ("a.list.exists(x, y.z)", "unknown variable `y`"),
        ("frob(a)", "unknown function `frob`"),
        ("a.x.matches('(')", "not a regular expression"),
    ] {
        let message = Condition::compile(source, VARS).unwrap_err().to_string();
        assert!(message.contains(part), "{source}: {message}");
    }
}

#[test]
fn a_condition_that_is_no_truth_value_is_an_error() {
    let vars = json!({"a": 1});
    let vars = vars.as_object().unwrap();
    assert!(Condition::compile("a", VARS).unwrap().holds(vars).is_err());
    assert!(
        Condition::compile("a.b", VARS)
            .unwrap()
            .holds(vars)
            .is_err()
    );
    assert!(Condition::compile("b", VARS).unwrap().holds(vars).is_err());
}

#[test]
fn paths_name_what_an_expression_reads() {
    let condition = Condition::compile("has(a.x.y) && a.list.all(i, i.z > b)", VARS).unwrap();
    let paths = condition.paths();
    for path in [vec!["a", "x", "y"], vec!["a", "list"], vec!["b"]] {
        let path: Vec<String> = path.into_iter().map(str::to_owned).collect();
        assert!(paths.contains(&path), "{path:?} in {paths:?}");
    }
    assert_eq!(paths.len(), 3, "{paths:?}");
}

#[test]
fn a_pattern_is_found_wherever_it_stands_and_must_be_written_out() {
    let vars = json!({"a": {"list": ["x1", "y2"], "x": "x1"}, "b": 1});
    for (source, expected) in [
        ("matches(a.x, '^x')", json!(true)),
        ("a.list.map(t, t.matches('^x'))", json!([true, false])),
        ("[a.x.matches('1$')][0]", json!(true)),
        ("{'k': a.x.matches('2$')}.k", json!(false)),
        (
            "a.x.matches('^x') && !(a.x.matches('^x') ? a.x.matches('z') : true)",
            json!(true),
        ),
    ] {
        assert_eq!(eval(source, vars.clone()), Ok(expected), "{source}");
    }
    for wrong in [
        "a.x.matches(a.x)",
        "a.list.all(p, 'x'.matches(p))",
        "a.x.matches()",
        "matches('^x')",
        "a.x.matches('^x', '^y')",
        "a.x.matches(['^x'])",
    ] {
        let told = Condition::compile(wrong, VARS).unwrap_err().to_string();
        assert!(told.contains("must be written out"), "{wrong}: {told}");
    }
    assert!(Condition::compile("@matches(a.x, '^x')", VARS).is_err());
    // Only texts have patterns.
    assert!(eval("b.matches('1')", vars).is_err());
}

#[test]
fn a_large_pattern_costs_more_the_longer_the_text_is() {
    let large = "a.matches('[ab]*a[ab]{400}c')";
    let costs =
        |source: &str, bytes: usize| match eval(source, json!({"a": "ab".repeat(bytes / 2)})) {
            Ok(_) => false,
            Err(ConditionError::Cost { .. }) => true,
            Err(other) => panic!("{other}"),
        };
    assert!(!costs(large, 256 * 1024));
    assert!(costs(large, 4 * 1024 * 1024));
    assert!(!costs("a.matches('\\\\w+@\\\\w+')", 4 * 1024 * 1024));
    // In loops it is counted for each round.
    let vars = |n: usize| json!({"a": vec!["ab"; n]});
    let pairs = "a.all(x, a.all(y, !(x + y).matches('[ab]*a[ab]{400}c')))";
    assert_eq!(eval(pairs, vars(20)), Ok(json!(true)));
    let told = eval(pairs, vars(2_000)).unwrap_err();
    assert!(matches!(told, ConditionError::Cost { .. }), "{told}");
    let nested = "a.all(x, b.all(y, a.all(z, b.all(w, (x+y+z+w).matches('[ab]*a[ab]{400}c')))))";
    assert!(Condition::compile(nested, VARS).is_err());
}

#[test]
fn lists_and_texts_have_functions_of_the_engines_own() {
    let vars = json!({
        "a": {
            "said": [{"role": "user", "text": "We need a Bot for the invoices.\n> sponsor: Ann"}, {"role": "assistant", "text": "Who pays?"}, "Bob pays it"],
            "defs": [{"name": "title"}, {"name": "benefits"}, {"id": "risk", "name": "Risk"}],
            "values": {"title": "Bot", "benefits": " null ", "goals": ["growth", 2]},
            "none": null,
            "text": {"en": "Hello", "de": "Hallo"},
            "name": {"es": "Ann"},
        },
        "b": 1,
    });
    for (source, expected) in [
        ("last(a.defs, 1)", json!([{"id": "risk", "name": "Risk"}])),
        (
            "last(a.defs, 9) == a.defs && last(a.none, 1) == []",
            json!(true),
        ),
        (
            "lower(trim('  CLEAR Context ')) == 'clear context'",
            json!(true),
        ),
        ("lower(a.none)", json!("")),
        ("join(a.values.goals, ', ')", json!("growth, 2")),
        ("keys(a.values)", json!(["benefits", "goals", "title"])),
        ("flat([a.values.goals, [], [3]])", json!(["growth", 2, 3])),
        ("flat(a.none)", json!([])),
        (
            "has_text(a.values.title) && !has_text(a.values.benefits)",
            json!(true),
        ),
        (
            "a.defs.filter(d, has_text(a.values[d.name])).map(d, d.name)",
            json!(["title"]),
        ),
        (
            "missing(a.defs, a.values, ['risk']).map(d, d.name)",
            json!(["benefits"]),
        ),
        ("missing(a.defs, a.none, []).size()", json!(3)),
        ("percent(1, 3)", json!(33)),
        ("percent(0, 0)", json!(100)),
        ("in_language(a.text, 'de')", json!("Hallo")),
        // English where the language is missing or none, else whatever there is.
        ("in_language(a.text, 'fr')", json!("Hello")),
        ("in_language(a.text, a.none)", json!("Hello")),
        ("in_language({'es': 'Hola'}, 'de')", json!("Hola")),
        ("in_language({}, 'de')", Value::Null),
        // One text is said in every language.
        (
            "in_language('Hi', 'de') + ' ' + in_language(a.name, 'de')",
            json!("Hi Ann"),
        ),
        ("quote_in('need a  bot', a.said)", json!(true)),
        ("quote_in(['a bot', 'bob'], a.said)", json!(true)),
        (
            "quote_in('ann', a.said) || quote_in('who pays', a.said)",
            json!(false),
        ),
        (
            "quote_in('voice', a.said) || quote_in('', a.said) || quote_in(a.none, a.said)",
            json!(false),
        ),
    ] {
        assert_eq!(eval(source, vars.clone()), Ok(expected), "{source}");
    }
    assert!(eval("last(a.values, 1)", vars.clone()).is_err());
    assert!(eval("flat(['one'])", vars.clone()).is_err());
    assert!(eval("percent(-1, 3)", vars).is_err());
}

#[test]
fn what_the_engines_functions_cost_is_bounded() {
    let join = "a.map(x, join(a, join(a, join(a, b))))";
    let vars = json!({"a": vec!["x".repeat(100); 1000], "b": "y".repeat(1000)});
    assert!(matches!(eval(join, vars), Err(ConditionError::Cost { .. })));
    let flat = "flat(a.map(x, a)).map(y, flat(a.map(z, b)))";
    let vars = json!({"a": vec![1; 2000], "b": vec![1; 2000]});
    assert!(matches!(eval(flat, vars), Err(ConditionError::Cost { .. })));
    let found = "a.all(x, a.all(y, quote_in(a, a)))";
    let vars = json!({"a": vec!["x".repeat(1000); 300], "b": 0});
    assert!(matches!(
        eval(found, vars),
        Err(ConditionError::Cost { .. })
    ));
}
