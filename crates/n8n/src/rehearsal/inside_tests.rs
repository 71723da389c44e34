use super::*;
use crate::catalog::NodeKind;
use crate::rehearsal::fixture::node;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// The names of all parameters and choices, at every depth.
fn names(properties: &[Property], at: &str, into: &mut BTreeSet<String>) {
    for property in properties {
        let here = format!("{at}/{}", property.name);
        for option in &property.options {
            into.insert(format!("{here}={}", option.value));
        }
        for group in &property.groups {
            names(&group.values, &format!("{here}/{}", group.name), into);
        }
        into.insert(here);
    }
}

fn seen(row: &Row) -> String {
    let mut all = BTreeSet::new();
    for version in &row.versions {
        let kind = format!("{PACKAGE}{}", row.name);
        let known = Catalog::embedded().lookup(&kind, Some(*version)).known();
        names(&known.unwrap().properties, &version.to_string(), &mut all);
    }
    let text: Vec<String> = all.into_iter().collect();
    let digest = Sha256::digest(text.join("\n").as_bytes());
    digest.iter().take(6).map(|b| format!("{b:02x}")).collect()
}

/// The list says nothing that the compiled-in catalog does not: every type is there with exactly these versions, is no trigger, has
/// the parameters and values that are named, and no parameter or choice that nobody has looked at.
#[test]
fn the_list_and_the_compiled_in_catalog_agree() {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#')).count();
    assert_eq!(lines, ROWS.len(), "a line cannot be read");
    let mut wrong = Vec::new();
    for row in ROWS.iter() {
        let kind = format!("{PACKAGE}{}", row.name);
        let newest = Catalog::embedded().lookup(&kind, None).known();
        let newest = newest.unwrap_or_else(|| panic!("{kind} is not in the catalog"));
        assert_eq!(row.versions, newest.versions, "{kind}");
        assert_eq!(newest.kind, NodeKind::Action, "{kind}");
        for need in &row.needs {
            let (name, values): (&str, &[&str]) = match need {
                Need::OneOf(name, values) => (name, values),
                Need::Code(name) | Need::Literal(name) | Need::Answer(name, _) => (name, &[]),
            };
            let mut choices = BTreeSet::new();
            for version in &row.versions {
                let known = Catalog::embedded().lookup(&kind, Some(*version)).known();
                for (_, property) in known.unwrap().properties.named(name) {
                    choices.insert(String::new());
                    choices.extend(
                        property
                            .options
                            .iter()
                            .filter_map(|o| o.value.as_str().map(str::to_owned)),
                    );
                }
            }
            assert!(choices.contains(""), "{kind} has no {name}");
            for value in values {
                assert!(choices.contains(*value), "{kind}: {name} is never {value}");
            }
        }
        let now = seen(row);
        if now != row.seen {
            wrong.push(format!("{}\t{now}", row.name));
        }
    }
    assert!(
        wrong.is_empty(),
        "look at what is new in these types, then write the hash:\n{}",
        wrong.join("\n")
    );
}

fn judged(name: &str, version: f64, parameters: Value) -> Result<(), NotInside> {
    let kind = format!("n8n-nodes-base.{name}");
    inside(&serde_json::from_value(node("N", &kind, version, parameters)).unwrap())
}

fn parameter(name: &str) -> Result<(), NotInside> {
    Err(NotInside::Parameter(name.to_owned()))
}

#[test]
fn a_node_works_on_items_only_with_known_parameters_of_known_values() {
    assert_eq!(judged("merge", 3.2, json!({"mode": "append"})), Ok(()));
    assert_eq!(judged("merge", 3.2, json!({})), Ok(()));
    assert_eq!(
        judged(
            "merge",
            3.2,
            json!({"mode": "combineBySql", "query": "SELECT * FROM CSV('/etc/passwd')"})
        ),
        parameter("mode")
    );
    assert_eq!(
        judged("merge", 3.2, json!({"mode": "={{ 'combineBy' + 'Sql' }}"})),
        parameter("mode")
    );
    assert_eq!(
        judged("sort", 1.0, json!({"type": "code", "code": "return 0"})),
        parameter("type")
    );
    assert_eq!(judged("jwt", 1.0, json!({})), parameter("operation"));
    assert_eq!(
        judged("set", 3.4, json!({"newer": true})),
        parameter("newer")
    );
    assert_eq!(
        judged("switch", 3.2, json!({"options": {"newer": 1}})),
        parameter("options.newer")
    );
    // A version that the catalog does not know, none at all, and a type of another package.
    assert_eq!(judged("set", 9.0, json!({})), Err(NotInside::Unlisted));
    let mut unversioned: Node =
        serde_json::from_value(node("N", "n8n-nodes-base.set", 3.4, json!({}))).unwrap();
    unversioned.map_mut().shift_remove("typeVersion");
    assert_eq!(inside(&unversioned), Err(NotInside::Unlisted));
    let foreign = node("N", "n8n-nodes-evil.set", 3.4, json!({}));
    assert_eq!(
        inside(&serde_json::from_value(foreign).unwrap()),
        Err(NotInside::Unlisted)
    );
}

#[test]
fn an_answer_sends_nobody_elsewhere() {
    let answer = |parameters| judged("respondToWebhook", 1.4, parameters);
    assert_eq!(
        answer(
            json!({"respondWith": "json", "responseBody": "={{ $json }}", "options": {"responseCode": 201}})
        ),
        Ok(())
    );
    assert_eq!(
        answer(json!({"respondWith": "redirect", "redirectURL": "https://evil.example"})),
        parameter("respondWith")
    );
    for code in [json!(302), json!("={{ 302 }}"), json!("302")] {
        let headers = json!({"entries": [{"name": "Location", "value": "https://evil.example"}]});
        assert_eq!(
            answer(
                json!({"respondWith": "text", "options": {"responseCode": code, "responseHeaders": headers}})
            ),
            parameter("responseCode")
        );
    }
}

/// Some nodes evaluate `{{ }}` in a text that begins with no `=`, and a template that is computed is evaluated twice.
#[test]
fn texts_are_looked_at_whether_or_not_they_begin_with_an_equals_sign() {
    let uses = |at: &str, what: &str| Err(NotInside::Code(at.to_owned(), what.to_owned()));
    let html = |text: &str| judged("html", 1.2, json!({"html": text}));
    assert_eq!(html("<b>{{ $json.name }}</b>"), Ok(()));
    assert_eq!(html("<b>{{ $env.KEY }}</b>"), uses("html", "uses `$env`"));
    assert_eq!(html("={{ $json.template }}"), parameter("html"));
    let raw = |text: &str| judged("set", 3.4, json!({"mode": "raw", "jsonOutput": text}));
    assert_eq!(
        raw("{\"a\": \"{{ $secrets.x }}\"}"),
        uses("jsonOutput", "uses `$secrets`")
    );
    assert_eq!(raw("=={{ $vars.x }}"), uses("jsonOutput", "uses `$vars`"));
    let keyed = json!({"assignments": {"={{ $env }}": 1}});
    assert_eq!(judged("set", 3.4, keyed), parameter("assignments"));
}

/// n8n's own process searches by a pattern for as long as the pattern likes.
#[test]
fn what_searches_by_a_pattern_does_not_count_as_inside() {
    let condition = |operation: &str| {
        let operator = json!({"type": "string", "operation": operation});
        let one =
            json!({"leftValue": "={{ $json.a }}", "operator": operator, "rightValue": "(a+)+$"});
        json!({"conditions": [one], "combinator": "and", "options": {}})
    };
    let rules = |operation: &str| json!({"values": [{"conditions": condition(operation)}]});
    let older = |operation: &str| json!({"string": [{"value1": "={{ $json.a }}", "operation": operation, "value2": "(a+)+$"}]});
    for (operation, inside) in [
        ("contains", true),
        ("equals", true),
        ("regex", false),
        ("notRegex", false),
        ("={{ 'reg' + 'ex' }}", false),
    ] {
        let expected = |name: &str| match inside {
            true => Ok(()),
            false => parameter(name),
        };
        for (name, version, parameters, key) in [
            (
                "filter",
                2.0,
                json!({"conditions": condition(operation)}),
                "conditions",
            ),
            (
                "if",
                2.2,
                json!({"conditions": condition(operation)}),
                "conditions",
            ),
            (
                "if",
                1.0,
                json!({"conditions": older(operation)}),
                "conditions",
            ),
            (
                "switch",
                3.2,
                json!({"mode": "rules", "rules": rules(operation)}),
                "rules",
            ),
        ] {
            let found = judged(name, version, parameters);
            assert_eq!(found, expected(key), "{name} {version} {operation}");
        }
    }
    let renamed = |replacement: Value| {
        let options = json!({"regexReplacement": {"replacements": [replacement]}});
        judged(
            "renameKeys",
            1.0,
            json!({"keys": {}, "additionalOptions": options}),
        )
    };
    assert_eq!(renamed(json!({"replaceRegex": "b"})), Ok(()));
    assert_eq!(
        renamed(json!({"searchRegex": "(a+)+$", "replaceRegex": "b"})),
        parameter("additionalOptions")
    );
}
