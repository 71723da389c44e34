//! Building a catalog from descriptions of our own: what is kept, what is dropped, same bytes for the same input.

use serde_json::{Value, json};

use super::build::{build, build_for};
use super::*;

/// Two nodes of an invented package, with everything that must not get in.
fn nodes() -> Value {
    json!([
        {
            "name": "parcel", "displayName": "Parcel", "group": ["output"], "version": [1, 1.1],
            "description": "Sends parcels to people who wait for them",
            "subtitle": "={{ $parameter.operation }}",
            "defaults": {"name": "Parcel"}, "inputs": ["main"], "outputs": ["main", "main"],
            "outputNames": ["sent", "lost"], "usableAsTool": true,
            "iconUrl": "icons/n8n-nodes-parcel/dist/parcel.svg",
            "webhooks": [{"name": "default", "path": "={{ $nodeId }}"}],
            "codex": {"categories": ["Logistics"], "alias": ["post", "mail"]},
            "credentials": [{"name": "parcelApi", "required": true,
                "displayOptions": {"show": {"authentication": ["key"]}}}],
            "properties": [
                {"displayName": "Read the manual before you send anything at all", "name": "hello", "type": "notice", "default": ""},
                {"displayName": "Operation", "name": "operation", "type": "options", "noDataExpression": true,
                    "options": [
                        {"name": "Send", "value": "send", "description": "Send one parcel to one address"},
                        {"name": "sendAndWait", "value": "sendAndWait"}],
                    "default": "send", "description": "What shall be done with the parcel"},
                {"displayName": "Address", "name": "address", "type": "string", "default": "", "required": true,
                    "placeholder": "12 Long Street", "hint": "Ask the person for it first",
                    "displayOptions": {"show": {"operation": ["send"], "@version": [{"_cnd": {"gte": 1.1}}]}}},
                {"displayName": "Letter", "name": "letter", "type": "string",
                    "default": "Dear customer, your parcel is on its way"},
                {"displayName": "Script", "name": "script", "type": "string", "default": "={{ $json.items.map(i => i.id) }}"},
                {"displayName": "Body", "name": "body", "type": "json", "default": "{\n  \"a\": 1\n}"},
                {"displayName": "Count", "name": "count", "type": "number", "default": 3,
                    "typeOptions": {"minValue": 1, "maxValue": 9}},
                {"displayName": "Nothing", "name": "nothing", "type": "string"}
            ]
        },
        {
            "name": "parcelTrigger", "displayName": "Parcel Trigger", "group": ["trigger"], "version": 1,
            "description": "", "defaults": {"name": "When a parcel comes"},
            "inputs": [], "outputs": "={{ (() => ['main'])() }}", "polling": true, "properties": []
        }
    ])
}

fn file(name: &str, value: &Value) -> (String, Vec<u8>) {
    (name.to_owned(), serde_json::to_vec(value).expect("json"))
}

fn catalog() -> Catalog {
    let bytes = build_for(&[file("nodes.json", &nodes())], Some("9.9.9")).expect("built");
    Catalog::from_bytes(&bytes).expect("read back")
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let files = [
        file(
            "package.json",
            &json!({"name": "n8n-nodes-parcel", "version": "1.2.3"}),
        ),
        file("nodes.json", &nodes()),
        file(
            "credentials.json",
            &json!([{"name": "parcelApi", "displayName": "Parcel API"}, {"name": "unused", "displayName": "Unused"}]),
        ),
    ];
    let first = build(&files).expect("built");
    assert_eq!(first, build(&files).expect("built again"));
    let source = Catalog::from_bytes(&first).expect("read").source().clone();
    assert_eq!(
        source,
        CatalogSource {
            n8n_version: None,
            packages: vec![PackageVersion {
                name: "n8n-nodes-parcel".into(),
                version: Some("1.2.3".into()),
            }],
            types: 2,
            type_versions: 3,
            sha256: source.sha256.clone(),
        }
    );
    assert_eq!(source.sha256.len(), 64);
}

#[test]
fn the_package_is_told_by_the_icons_and_variants_are_derived() {
    let catalog = catalog();
    assert_eq!(
        catalog.types().collect::<Vec<_>>(),
        [
            "n8n-nodes-parcel.parcel",
            "n8n-nodes-parcel.parcelHitlTool",
            "n8n-nodes-parcel.parcelTool",
            "n8n-nodes-parcel.parcelTrigger",
        ]
    );
}

#[test]
fn a_running_n8n_gives_the_same_facts_as_the_package() {
    let mut list = nodes();
    for node in list.as_array_mut().expect("array") {
        let name = node["name"].as_str().expect("name").to_owned();
        node["name"] = format!("n8n-nodes-parcel.{name}").into();
    }
    let mut tool = list[0].clone();
    tool["name"] = "n8n-nodes-parcel.parcelTool".into();
    tool["inputs"] = json!([]);
    list.as_array_mut().expect("array").push(tool);
    let running = build(&[file("types/nodes.json", &list)]).expect("built");
    let package = build(&[file("nodes.json", &nodes())]).expect("built");
    let [running, package] = [running, package].map(|b| Catalog::from_bytes(&b).expect("read"));
    assert_eq!(running.source(), package.source());
}

#[test]
fn texts_and_code_do_not_get_in() {
    let bytes = build(&[file("nodes.json", &nodes())]).expect("built");
    let (head, body) = wire::frames(&bytes).expect("frames");
    let mut text = wire::unpack(&bytes, head).expect("head");
    text.extend(wire::unpack(&bytes, body).expect("body"));
    let text = String::from_utf8(text).expect("utf-8");
    for forbidden in [
        "manual",
        "people",
        "Send one",
        "What shall",
        "Long Street",
        "Ask",
        "Dear",
        "=>",
        "$nodeId",
    ] {
        assert!(!text.contains(forbidden), "{forbidden} got in: {text}");
    }
}

#[test]
fn facts_come_back_as_they_went_in() {
    let catalog = catalog();
    let d = catalog
        .lookup("n8n-nodes-parcel.parcel", Some(1.1))
        .known()
        .expect("known");
    let defaults: Vec<(&str, Value, bool, bool)> = d
        .properties
        .iter()
        .map(|p| {
            (
                p.name.as_str(),
                p.default.clone(),
                p.has_default,
                p.default_omitted,
            )
        })
        .collect();
    assert_eq!(
        defaults,
        [
            ("hello", json!(""), true, false),
            ("operation", json!("send"), true, false),
            ("address", json!(""), true, false),
            ("letter", json!(OMITTED_TEXT), true, true),
            ("script", json!(OMITTED_EXPRESSION), true, true),
            ("body", json!("{}"), true, true),
            ("count", json!(3), true, false),
            ("nothing", Value::Null, false, false),
        ]
    );
    assert_eq!(
        (d.label.as_str(), d.version, d.default_version),
        ("Parcel", 1.1, 1.1)
    );
    assert_eq!(d.kind, NodeKind::Action);
    assert!(d.trigger_like, "send and wait has a webhook");
    assert!(!d.versioned && d.usable_as_tool && !d.hidden && d.has_description);
    assert_eq!(d.properties[0].label, "");
    assert_eq!(d.properties[6].type_options.min_value, Some(1.0));
    assert_eq!(
        d.outputs,
        Ports::Fixed(vec![
            Port {
                label: Some("sent".into()),
                ..Port::main()
            },
            Port {
                label: Some("lost".into()),
                ..Port::main()
            },
        ])
    );
    let trigger = catalog
        .lookup("n8n-nodes-parcel.parcelTrigger", None)
        .known()
        .expect("known");
    assert_eq!(trigger.kind, NodeKind::Trigger(TriggerKind::Poll));
    assert_eq!(trigger.default_name, "When a parcel comes");
    assert_eq!(trigger.outputs, Ports::Dynamic);
    assert!(!trigger.has_description);
}

#[test]
fn what_is_not_there_is_told_apart() {
    let catalog = catalog();
    assert!(matches!(
        catalog.lookup("n8n-nodes-parcel.letter", None),
        Lookup::UnknownType
    ));
    match catalog.lookup("n8n-nodes-parcel.parcel", Some(2.0)) {
        Lookup::UnknownVersion { known, default } => {
            assert_eq!((known, default), (vec![1.0, 1.1], 1.1));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn bad_files_are_refused_with_the_reason() {
    let refuse = |name: &str, bytes: &[u8]| {
        build(&[(name.to_owned(), bytes.to_vec())])
            .expect_err("refused")
            .to_string()
    };
    assert_eq!(
        refuse("a.json", b"[]"),
        "no node types in the files given; expected a package's dist/types/nodes.json"
    );
    assert!(
        refuse("b.json", b"nonsense").starts_with("cannot read b.json as node facts: not JSON")
    );
    assert_eq!(
        refuse(
            "c.json",
            br#"[{"name":"x","group":[],"version":1,"properties":[]}]"#
        ),
        "cannot read c.json as node facts: cannot tell the package of these nodes; put its package.json before it"
    );
}

#[test]
fn a_damaged_catalog_is_refused() {
    let good = build(&[file("nodes.json", &nodes())]).expect("built");
    assert_eq!(
        Catalog::from_bytes(b"hello").err(),
        Some(CatalogError::NotACatalog)
    );
    assert_eq!(
        Catalog::from_bytes(&good[..good.len() - 1]).err(),
        Some(CatalogError::Damaged("the sizes do not fit the file"))
    );
    let whole = Catalog::from_bytes(&good).expect("whole");
    for at in 24..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 0x40;
        match Catalog::from_bytes(&bad) {
            Err(CatalogError::Damaged(_)) => {}
            // A few bits of a frame say nothing; then the facts are the same to the letter.
            Ok(catalog) => assert_eq!(catalog.source(), whole.source(), "byte {at}"),
            Err(other) => panic!("byte {at}: {other}"),
        }
    }
}
