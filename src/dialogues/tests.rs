//! What a value must be, case by case.

use super::spec::Spec;
use agentctl_base::yaml::{self, Problems};
use serde_json::{Value, json};

fn spec(text: &str, read: impl Fn(&yaml::Node, &mut Problems) -> Spec) -> Spec {
    let mut problems = Problems::new("f");
    let spec = read(&yaml::read(text, "f").unwrap(), &mut problems);
    assert!(problems.is_empty(), "{text}");
    spec
}

#[test]
fn a_value_is_as_it_must_be_or_it_is_not() {
    let cases: &[(&str, &[Value], &[Value])] = &[
        ("null", &[Value::Null], &[json!(""), json!(0)]),
        (
            "Yes",
            &[json!("yes"), json!("YES.")],
            &[json!("yes please"), json!(true)],
        ),
        ("3", &[json!(3)], &[json!("3"), json!(4)]),
        (
            "[a, b]",
            &[json!(["B", "a"])],
            &[json!(["a"]), json!(["a", "b", "c"]), json!("a")],
        ),
        ("[a]", &[json!("a"), json!(["A!"])], &[Value::Null]),
        (
            "{contains: [a]}",
            &[json!(["b", "a"])],
            &[json!(["b"]), Value::Null],
        ),
        (
            "{any_of: [a, null]}",
            &[json!("a"), Value::Null],
            &[json!("b")],
        ),
        ("{matches: '^a.c$'}", &[json!("ABC")], &[json!("abcd")]),
        (
            "{matches: a, not_matches: b}",
            &[json!("a")],
            &[json!("ab"), json!("c")],
        ),
        ("{present: true}", &[json!(0), json!("")], &[Value::Null]),
        ("{present: false}", &[Value::Null], &[json!(1)]),
        (
            "{id: x, name: {matches: y}}",
            &[json!({"id": "x", "name": "xyz"})],
            &[json!({"id": "x"}), json!("x")],
        ),
        ("{}", &[json!(1), Value::Null], &[]),
    ];
    for (text, fit, not) in cases {
        let spec = spec(text, Spec::read);
        for value in *fit {
            assert!(spec.holds(value), "{text} and {value}");
        }
        for value in *not {
            assert!(!spec.holds(value), "{text} and {value}");
        }
    }
}

#[test]
fn a_text_alone_stands_somewhere_and_several_stand_in_their_order() {
    let said = json!("One, two (2) and three");
    assert!(spec("two (2)", Spec::of_text).holds(&said));
    assert!(spec("{any_of: [four, three]}", Spec::of_text).holds(&said));
    assert!(!spec("four", Spec::of_text).holds(&said));
    let text = said.as_str().unwrap();
    let two = spec("two", Spec::of_text).found_after(text, 0).unwrap();
    assert!(
        spec("THREE", Spec::of_text)
            .found_after(text, two)
            .is_some()
    );
    assert!(spec("one", Spec::of_text).found_after(text, two).is_none());
}
