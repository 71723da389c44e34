use super::noted::{BaseHow, Counted, CreateMark, Noted, Rehearsing};
use serde_json::{Value, json};

#[test]
fn what_is_noted_stands_under_the_keys_that_journals_have() {
    let noted = Noted {
        rehearsal: Some(Rehearsing {
            copy: "c".into(),
            activates: true,
        }),
        created: Some(CreateMark {
            name: "Orders".into(),
            known: vec!["k".into()],
            nodes: vec!["n".into()],
        }),
        counted: Some(Counted {
            how: BaseHow::RunStart,
            since: None,
            lost: 1,
            total: 2,
            requested: false,
        }),
    };
    let written = noted.written();
    assert_eq!(
        Value::Object(written.clone()),
        json!({
            "rehearsal": {"copy": "c", "activates": true},
            "created": {"name": "Orders", "known": ["k"], "nodes": ["n"]},
            "counted": {"how": "run_start", "lost": 1, "total": 2},
        })
    );
    assert_eq!(Noted::read(&written).unwrap(), noted);
    assert!(Noted::default().written().is_empty());
}

#[test]
fn what_is_not_of_its_form_is_an_error_and_shown_as_nothing() {
    let Value::Object(more) = json!({"rehearsal": {"copy": 7}, "other": 1}) else {
        panic!()
    };
    assert!(Noted::read(&more).is_err());
    assert_eq!(Noted::shown(&more), Noted::default());
}
