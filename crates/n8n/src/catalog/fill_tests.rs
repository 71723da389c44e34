//! Defaults and visibility, on descriptions of our own. The expected values are what n8n's code gives for the same input.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::build::build;
use super::from_ai::is_one_from_ai_call;
use super::*;

/// A node `t.probe` with these parameters, in version 2.
fn probe(properties: Value) -> std::sync::Arc<NodeDescription> {
    let nodes = json!([{
        "name": "t.probe", "displayName": "Probe", "group": ["transform"], "version": 2, "description": "x",
        "defaults": {"name": "Probe"}, "inputs": ["main"], "outputs": ["main"], "properties": properties,
    }]);
    let bytes = build(&[("nodes.json".to_owned(), nodes.to_string().into_bytes())]).expect("built");
    Catalog::from_bytes(&bytes)
        .expect("read")
        .lookup("t.probe", None)
        .known()
        .expect("known")
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().expect("an object")
}

fn filled(properties: Value, params: Value) -> Value {
    Value::Object(
        probe(properties)
            .try_fill_defaults(&object(params))
            .expect("filled"),
    )
}

fn property(name: &str, kind: &str, default: Value, display: Value) -> Value {
    let mut p = json!({"displayName": name, "name": name, "type": kind, "default": default});
    if !display.is_null() {
        p["displayOptions"] = display;
    }
    p
}

#[test]
fn absent_parameters_take_defaults_and_hidden_ones_go() {
    let properties = json!([
        property("mode", "options", json!("a"), Value::Null),
        property(
            "forA",
            "string",
            json!("x"),
            json!({"show": {"mode": ["a"]}})
        ),
        property(
            "forB",
            "string",
            json!("y"),
            json!({"show": {"mode": ["b"]}})
        ),
        property("notB", "number", json!(1), json!({"hide": {"mode": ["b"]}})),
    ]);
    assert_eq!(
        filled(properties.clone(), json!({})),
        json!({"mode": "a", "forA": "x", "notB": 1})
    );
    assert_eq!(
        filled(properties.clone(), json!({"mode": "b", "forA": "kept?"})),
        json!({"mode": "b", "forB": "y"})
    );
    // An expression may be anything, so what depends on it is shown; `hide` needs the value itself.
    assert_eq!(
        filled(properties, json!({"mode": "={{ $json.m }}"})),
        json!({"mode": "={{ $json.m }}", "forA": "x", "forB": "y", "notB": 1})
    );
}

#[test]
fn null_keeps_its_place_only_where_n8n_keeps_it() {
    let properties = json!([
        property("flag", "boolean", json!(true), Value::Null),
        property("text", "string", json!("d"), Value::Null),
    ]);
    assert_eq!(
        filled(properties, json!({"flag": null, "text": null})),
        json!({"flag": null, "text": "d"})
    );
}

#[test]
fn the_twin_that_is_shown_gives_the_value() {
    let properties = json!([
        property(
            "operation",
            "options",
            json!("get"),
            json!({"show": {"resource": ["user"]}})
        ),
        property(
            "operation",
            "options",
            json!("send"),
            json!({"show": {"resource": ["mail"]}})
        ),
        property("resource", "options", json!("mail"), Value::Null),
    ]);
    assert_eq!(
        filled(properties.clone(), json!({})),
        json!({"operation": "send", "resource": "mail"})
    );
    assert_eq!(
        filled(properties, json!({"resource": "user"})),
        json!({"operation": "get", "resource": "user"})
    );
}

#[test]
fn collections_hold_what_was_given() {
    let inner = |name: &str| property(name, "string", json!("d"), Value::Null);
    let properties = json!([
        {"displayName": "o", "name": "options", "type": "collection", "default": {}, "options": [inner("a"), inner("b")]},
        {"displayName": "l", "name": "list", "type": "fixedCollection", "default": {}, "typeOptions": {"multipleValues": true},
            "options": [{"displayName": "I", "name": "items", "values": [inner("a"), inner("b")]}]},
        {"displayName": "s", "name": "single", "type": "fixedCollection", "default": {},
            "options": [{"displayName": "I", "name": "item", "values": [inner("a")]}]},
    ]);
    assert_eq!(
        filled(properties.clone(), json!({})),
        json!({"options": {}, "list": {}, "single": {}})
    );
    assert_eq!(
        filled(
            properties.clone(),
            json!({"options": {"a": "1", "other": 2}, "list": {"items": [{"b": "2"}], "gone": []}, "single": {"item": {}}})
        ),
        json!({"options": {"a": "1"}, "list": {"items": [{"a": "d", "b": "2"}]}, "single": {"item": {"a": "d"}}})
    );
    let refused =
        probe(properties).try_fill_defaults(&object(json!({"list": {"items": {"a": "1"}}})));
    assert_eq!(refused, Err(FillError::NotAList("list.items".into())));
}

#[test]
fn a_single_part_in_a_default_cannot_be_filled() {
    let properties = json!([
        {"displayName": "s", "name": "single", "type": "fixedCollection", "default": {"item": {"a": "d"}},
            "options": [{"displayName": "I", "name": "item", "values": [property("a", "string", json!(""), Value::Null)]}]},
    ]);
    assert_eq!(
        probe(properties.clone()).try_fill_defaults(&Map::new()),
        Err(FillError::NoValueForPart("single".into()))
    );
    assert_eq!(probe(properties).fill_defaults(&Map::new()), Map::new());
}

#[test]
fn locators_and_filters_are_completed() {
    let properties = json!([
        property(
            "sheet",
            "resourceLocator",
            json!({"mode": "list", "value": ""}),
            Value::Null
        ),
        property("where", "filter", json!({}), Value::Null),
    ]);
    assert_eq!(
        filled(
            properties,
            json!({"where": {"conditions": [], "options": {"version": 2}}})
        ),
        json!({
            "sheet": {"__rl": true, "mode": "list", "value": ""},
            "where": {"conditions": [], "combinator": "and", "options":
                {"caseSensitive": true, "leftValue": "", "typeValidation": "strict", "version": 2}},
        })
    );
}

#[test]
fn rules_read_versions_roots_locators_and_operators() {
    let shown = |display: Value, params: Value| {
        let d = probe(json!([
            property("p", "string", json!(""), display),
            property(
                "sheet",
                "resourceLocator",
                json!({"mode": "list", "value": ""}),
                Value::Null
            ),
            property("n", "number", json!(5), Value::Null),
            property("tags", "multiOptions", json!([]), Value::Null),
        ]));
        d.visible_property("p", &object(params)).is_some()
    };
    let cases = [
        (json!({"show": {"@version": [2]}}), json!({}), true),
        (
            json!({"show": {"@version": [{"_cnd": {"gt": 2}}]}}),
            json!({}),
            false,
        ),
        (
            json!({"show": {"@version": [{"_cnd": {"between": {"from": 1.5, "to": 2}}}]}}),
            json!({}),
            true,
        ),
        (json!({"show": {"@tool": [true]}}), json!({}), false),
        (json!({"show": {"/n": [5]}}), json!({}), true),
        (json!({"hide": {"sheet": [""]}}), json!({}), false),
        (
            json!({"hide": {"sheet": [""]}}),
            json!({"sheet": {"__rl": true, "mode": "id", "value": "x"}}),
            true,
        ),
        (
            json!({"show": {"tags": ["b"]}}),
            json!({"tags": ["a", "b"]}),
            true,
        ),
        (
            json!({"show": {"tags": [{"_cnd": {"not": "b"}}]}}),
            json!({"tags": ["a", "b"]}),
            false,
        ),
        (
            json!({"show": {"tags": [{"_cnd": {"not": "b"}}]}}),
            json!({}),
            true,
        ),
        (
            json!({"hide": {"tags": [{"_cnd": {"not": "b"}}]}}),
            json!({}),
            true,
        ),
        (
            json!({"show": {"n": [{"_cnd": {"gte": 5}}]}}),
            json!({"n": "7"}),
            true,
        ),
        (
            json!({"show": {"n": [{"_cnd": {"exists": true}}]}}),
            json!({"n": ""}),
            false,
        ),
        (json!({"show": {"n": ["5"]}}), json!({}), false),
        (
            json!({"show": {"absent": [{"_cnd": {"regex": "^a"}}]}}),
            json!({}),
            false,
        ),
    ];
    for (display, params, expected) in cases {
        assert_eq!(
            shown(display.clone(), params.clone()),
            expected,
            "{display} on {params}"
        );
    }
}

#[test]
fn a_literal_parameter_loses_the_expression_mark() {
    let mut p = property("resource", "options", json!("a"), Value::Null);
    p["noDataExpression"] = true.into();
    let of = |value: &str| filled(json!([p]), json!({"resource": value}));
    assert_eq!(of("={{ $json.x }}"), json!({"resource": "{{ $json.x }}"}));
    assert_eq!(
        of("={{ $fromAI('r') }}"),
        json!({"resource": "={{ $fromAI('r') }}"})
    );
}

#[test]
fn one_from_ai_call_is_told_from_code() {
    for call in [
        "{{ $fromAI('name') }}",
        "$fromai ( \"a\", `b`, 'string', -1.5 )",
        "{{ /*n8n-auto-generated-fromAI-override*/ $fromAI('to', ``, 'string') }}",
        r"{{ $fromAI('it\'s (fine)') }}",
    ] {
        assert!(is_one_from_ai_call(call), "{call}");
    }
    for code in [
        "{{ $fromAI('name') + 1 }}",
        "{{ $fromAI(other('x')) }}",
        "{{ $fromAI(`${x}`) }}",
        "{{ $fromAI(a`b`) }}",
        "{{ $fromAI('open' }}",
        "{{ $json.x }}",
        "",
    ] {
        assert!(!is_one_from_ai_call(code), "{code}");
    }
}

#[test]
fn rules_in_a_circle_are_resolved_in_turn() {
    let wait = |name: &str, others: [&str; 2]| {
        let show: Map<String, Value> = others
            .map(|o| (o.to_owned(), json!([1])))
            .into_iter()
            .collect();
        property(name, "number", json!(1), json!({"show": show}))
    };
    let circle = json!([
        wait("a", ["b", "c"]),
        wait("b", ["a", "c"]),
        wait("c", ["a", "b"])
    ]);
    assert_eq!(filled(circle, json!({})), json!({"a": 1, "b": 1, "c": 1}));
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..100).prop_map(Value::from),
        "[a-z=]{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(
                "(values|parameters|options|mode|value|interval)",
                inner,
                0..4
            )
            .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Whatever stands in a file: no panic, and no parameter that the node does not have.
    #[test]
    fn filling_is_total(
        node_type in prop::sample::select(vec![
            "n8n-nodes-base.httpRequest", "n8n-nodes-base.scheduleTrigger", "n8n-nodes-base.set",
            "n8n-nodes-base.googleSheets", "n8n-nodes-base.switch", "n8n-nodes-base.slackTool",
        ]),
        picks in prop::collection::vec((any::<prop::sample::Index>(), any_value()), 0..6),
    ) {
        let d = Catalog::embedded().lookup(node_type, None).known().expect("known");
        let mut params = Map::new();
        for (pick, value) in picks {
            params.insert(pick.get(&d.properties).name.clone(), value);
        }
        if let Ok(once) = d.try_fill_defaults(&params) {
            let known: Vec<&str> = d.properties.iter().map(|p| p.name.as_str()).collect();
            prop_assert!(once.keys().all(|k| known.contains(&k.as_str())));
            d.inputs_for(&params);
            d.outputs_for(&params, &Map::new());
            d.visible_properties(&params);
        }
    }
}
