use super::{Flow, Known, Reading, load};
use crate::vocabulary::{Fact, Vocabulary, Words};
use serde_json::json;

fn vocabulary() -> Vocabulary {
    Vocabulary::new(Words {
        facts: ["resource", "check"]
            .map(|name| Fact {
                name,
                check: |_, _| Vec::new(),
            })
            .to_vec(),
        reports: vec!["made"],
        ..Words::default()
    })
    .unwrap()
}

fn read(fields: &str) -> Result<Flow, Vec<String>> {
    let text = format!(
        "name: t\nstages: [one]\nblocked: stuck\nfields:\n{fields}steps:\n  - id: first\n    gate: 'true'\n    otherwise: {{end: {{outcome: failed, message: \"'no'\"}}}}\n"
    );
    let known = Known {
        vocabulary: Some(&vocabulary()),
        ..Known::default()
    };
    load(&text, "flow.yaml", known)
        .map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

const ALL: &str =
    "  thing: {kind: object, writers: [a], fact: resource, report: made, summary: [id, name]}
  verdict: {kind: object, writers: [a], fact: check}
  scope: {kind: replace, writers: [a], guards: scope}
  why: {kind: object, writers: [a], analysis: cause}
  lessons: {kind: append, writers: [a], analysis: learnings}
  plain: {kind: object, writers: [a]}
";

#[test]
fn a_field_says_what_it_means() {
    let flow = read(ALL).unwrap();
    let facts: Vec<_> = flow.facts().collect();
    assert_eq!(facts, [("thing", "resource"), ("verdict", "check")]);
    assert_eq!(
        [
            flow.fact_field("check"),
            flow.scope_field(),
            flow.report_field("made"),
            flow.report_field("other"),
            flow.read_field(Reading::Cause),
            flow.read_field(Reading::Learnings),
        ],
        [
            Some("verdict"),
            Some("scope"),
            Some("thing"),
            None,
            Some("why"),
            Some("lessons")
        ]
    );
    let summary = flow.fields["thing"].meaning.summary.as_deref();
    assert_eq!(summary, Some(&["id".to_owned(), "name".to_owned()][..]));
    assert_eq!(flow.fields["plain"].meaning, super::Meaning::default());
    let state = json!({"thing": {"id": "7"}, "verdict": {"id": "8"}});
    assert_eq!(flow.resource_id(state.as_object().unwrap()), Some("7"));
}

#[test]
fn a_meaning_that_there_is_not_is_refused_with_its_place_and_the_known_ones() {
    for (field, told) in [
        (
            "thing: {kind: object, writers: [a], fact: resorce}",
            "flow.yaml:5:45: there is no `fact: resorce`; there is resource, check; did you mean \"resource\"?",
        ),
        (
            "thing: {kind: replace, writers: [a], guards: all}",
            "flow.yaml:5:48: there is no `guards: all`; there is scope",
        ),
        (
            "thing: {kind: object, writers: [a], report: mode}",
            "flow.yaml:5:47: there is no `report: mode`; there is made; did you mean \"made\"?",
        ),
        (
            "thing: {kind: object, writers: [a], analysis: blame}",
            "flow.yaml:5:49: there is no `analysis: blame`; there is cause, learnings",
        ),
        (
            "thing: {kind: object, writers: [a], summary: {id: 1}}",
            "flow.yaml:5:48: `summary` must be a list of names",
        ),
        (
            "thing: {kind: object, writers: [a], summary: [id, name, id]}",
            "flow.yaml:5:59: the field \"thing\": `summary` names the key \"id\" twice",
        ),
        (
            "thing: {kind: append, writers: [a], fact: check}",
            "flow.yaml:5:45: the field \"thing\" is of kind append; `fact` needs kind object",
        ),
        (
            "thing: {kind: append, writers: [a], guards: scope}",
            "flow.yaml:5:47: the field \"thing\" is of kind append; `guards` needs kind replace",
        ),
        (
            "thing: {kind: scalar, writers: [a], summary: [id]}",
            "flow.yaml:5:48: the field \"thing\" is of kind scalar; `summary` needs kind object",
        ),
        (
            "thing: {kind: replace, writers: [a], report: made}",
            "flow.yaml:5:48: the field \"thing\" is of kind replace; `report` needs kind object",
        ),
        (
            "thing: {kind: object, writers: [a], analysis: learnings}",
            "flow.yaml:5:49: the field \"thing\" is of kind object; `analysis` needs kind append or replace",
        ),
        (
            "thing: {kind: object, writers: [a], fields: {x: {kind: object, fact: check}}}",
            "flow.yaml:5:66: the field \"x\" has the unknown key \"fact\"; it may have kind, fields",
        ),
    ] {
        assert_eq!(
            read(&format!("  {field}\n")).unwrap_err(),
            [told],
            "{field}"
        );
    }
}

#[test]
fn no_two_fields_mean_the_same() {
    for (kind, said) in [
        ("object", "fact: check"),
        ("replace", "guards: scope"),
        ("object", "report: made"),
        ("object", "analysis: cause"),
        ("append", "analysis: learnings"),
    ] {
        let field = |name: &str| format!("  {name}: {{kind: {kind}, writers: [a], {said}}}\n");
        let found = read(&(field("one") + &field("two"))).unwrap_err();
        let [told] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert!(
            told.starts_with("flow.yaml:6:")
                && told.ends_with(&format!(
                    "`{said}` stands at two fields; \"one\" says it in line 5"
                )),
            "{told}"
        );
    }
}

#[test]
fn a_flow_keeps_what_its_base_says_of_the_same_fields_unless_it_says_it_otherwise() {
    let base = read(ALL).unwrap();
    let mut silent = read(
        "  thing: {kind: object, writers: [a]}\n  verdict: {kind: object, writers: [a]}\n  scope: {kind: replace, writers: [a]}\n  why: {kind: object, writers: [a]}\n  lessons: {kind: append, writers: [a]}\n",
    )
    .unwrap();
    silent.inherit(&base);
    for (field, spec) in &silent.fields {
        assert_eq!(spec.meaning, base.fields[field].meaning, "{field}");
    }
    let mut other = read(
        "  thing: {kind: object, writers: [a], summary: [name]}\n  scope: {kind: replace, writers: [a]}\n  area: {kind: replace, writers: [a], guards: scope}\n  judged: {kind: object, writers: [a], fact: check}\n  verdict: {kind: object, writers: [a]}\n",
    )
    .unwrap();
    other.inherit(&base);
    let facts: Vec<_> = other.facts().collect();
    assert_eq!(facts, [("thing", "resource"), ("judged", "check")]);
    assert_eq!(other.scope_field(), Some("area"));
    assert!(!other.fields["scope"].meaning.is_scope);
    let summary = other.fields["thing"].meaning.summary.as_deref();
    assert_eq!(summary, Some(&["name".to_owned()][..]));
    assert_eq!(other.report_field("made"), Some("thing"));
}
