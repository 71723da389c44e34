use super::super::build::build;
use super::*;
use serde_json::json;

fn catalog(nodes: &Value) -> Catalog {
    let package = json!({"name": "n8n-nodes-ours", "version": "1.0.0"});
    let files = [
        ("package.json".to_owned(), package.to_string().into_bytes()),
        ("nodes.json".to_owned(), nodes.to_string().into_bytes()),
    ];
    Catalog::from_bytes(&build(&files).unwrap()).unwrap()
}

fn node(name: &str, versions: Value, properties: Value) -> Value {
    json!({"name": name, "displayName": name, "group": ["transform"], "version": versions, "defaults": {"name": name}, "inputs": ["main"], "outputs": ["main"], "properties": properties})
}

fn lines(old: &Catalog, new: &Catalog, used: &[(&str, f64)]) -> Vec<String> {
    let used: Vec<(String, Option<f64>)> = used
        .iter()
        .map(|(name, version)| (format!("n8n-nodes-ours.{name}"), Some(*version)))
        .collect();
    changes(old, new, &used)
        .iter()
        .map(|c| {
            let mark = if c.what.breaks() { "!" } else { "+" };
            format!(
                "{mark} {} {} {} > {}",
                c.what.words(),
                c.place,
                c.before,
                c.after
            )
        })
        .collect()
}

#[test]
fn only_types_in_use_are_compared_and_what_breaks_comes_first() {
    let field = |name: &str, kind: &str| json!({"name": name, "displayName": name, "type": kind, "default": ""});
    let choice = |values: &[&str]| {
        let options: Vec<Value> = values
            .iter()
            .map(|v| json!({"name": v, "value": v}))
            .collect();
        json!({"name": "operation", "displayName": "Operation", "type": "options", "options": options, "default": "send"})
    };
    let mut required = field("to", "string");
    required["required"] = json!(true);
    let old = catalog(&json!([
        node(
            "mail",
            json!([1, 2]),
            json!([
                choice(&["send", "drop"]),
                field("to", "string"),
                field("size", "string"),
                field("old", "string")
            ])
        ),
        node("gone", json!(1), json!([])),
        node("unused", json!(1), json!([field("a", "string")])),
    ]));
    let new = catalog(&json!([
        node(
            "mail",
            json!([2, 3]),
            json!([
                choice(&["send", "keep"]),
                required,
                field("size", "number"),
                field("fresh", "string")
            ])
        ),
        node("unused", json!(1), json!([])),
    ]));
    assert_eq!(
        lines(&old, &new, &[("mail", 2.0), ("gone", 1.0)]),
        [
            "! type removed  gone > ",
            "! parameter removed old  > ",
            "! choices removed operation drop > ",
            "! now required to  > ",
            "! other type size string > number",
            "+ versions added   > 3",
            "+ other default version  2 > 3",
            "+ parameter added fresh  > ",
            "+ choices added operation  > keep",
        ]
    );
    assert_eq!(
        lines(&old, &new, &[("mail", 1.0)])
            .first()
            .map(String::as_str),
        Some("! version removed  1 > 2, 3")
    );
    assert!(changes(&old, &old, &[("n8n-nodes-ours.mail".into(), None)]).is_empty());
}

#[test]
fn a_project_s_own_catalog_stands_in_front_of_ours() {
    let own = catalog(&json!([node("mail", json!(1), json!([]))])).over(Catalog::embedded());
    let known = |name: &str| own.lookup(name, None).known().is_some();
    assert!(known("n8n-nodes-ours.mail") && known("n8n-nodes-base.set"));
    assert!(!known("n8n-nodes-ours.other"));
    assert!(own.types().any(|t| t == "n8n-nodes-ours.mail"));
    let hits: Vec<String> = own
        .search("gmail", 20)
        .into_iter()
        .map(|h| h.node_type)
        .collect();
    assert_eq!(
        hits.first().map(String::as_str),
        Some("n8n-nodes-base.gmail")
    );
    // A package that the overlay knows is its alone: a type that it lacks is unknown.
    let base = json!({"name": "n8n-nodes-base", "version": "1.0.0"});
    let files = [
        ("package.json".to_owned(), base.to_string().into_bytes()),
        (
            "nodes.json".to_owned(),
            json!([node("set", json!(9), json!([]))])
                .to_string()
                .into_bytes(),
        ),
    ];
    let own = Catalog::from_bytes(&build(&files).unwrap())
        .unwrap()
        .over(Catalog::embedded());
    assert_eq!(
        own.lookup("n8n-nodes-base.set", None)
            .known()
            .map(|d| d.version),
        Some(9.0)
    );
    assert!(own.lookup("n8n-nodes-base.slack", None).known().is_none());
}
