//! A rename changes names and nothing else: the same graph by ids, every reference in every node still means the same node,
//! other text stays as it is, and the way back leads to the same document.

use super::references::apart;
use super::*;
use crate::workflow::Node;
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeSet;

/// The name as a JavaScript literal; written here a second time, so that the engine is not measured by itself.
fn literal(name: &str, quote: char) -> String {
    let mut text = name.replace('\\', "\\\\");
    text = text.replace(quote, &format!("\\{quote}"));
    if quote == '`' {
        text = text.replace('$', "\\$");
    }
    format!("{quote}{text}{quote}")
}

/// JavaScript that refers to each of the names in every quoted way, among text that only looks like it.
fn code(names: &[String]) -> String {
    let mut code = String::from("// the node's name alone: ");
    for name in names {
        let (single, double, back) = (literal(name, '\''), literal(name, '"'), literal(name, '`'));
        code.push_str(&format!(
            "{name}\nconst a = $({single}).first().json, b = $( {double} ).all(), c = $({back});\n\
             let d = $node[{double}].json, e = $node[ {single} ].json.x, f = $items({single}, 0, 1), g = $items({double});\n\
             const text = {double}, jq$ = f2({single}), $x = my$({single}); // "
        ));
    }
    code
}

fn workflow(names: &[String], edges: &[(usize, usize, u32)]) -> Workflow {
    let mut workflow = Workflow::empty("W");
    for (i, name) in names.iter().enumerate() {
        let parameters = json!({
            "jsCode": code(names),
            "pythonCode": format!("x = _({}).first()", literal(&names[0], '\'')),
            "text": format!("={{{{ $({}).item.json.a }}}} by {name}", literal(name, '\'')),
            "rules": {"values": [{"left": format!("={{{{ $node[{}].json.b }}}}", literal(&names[0], '"'))}]},
        });
        let Value::Object(parameters) = parameters else {
            panic!()
        };
        let id = NodeId(format!("id-{i}"));
        workflow.nodes.push(Node::new(
            id,
            name.as_str(),
            "n8n-nodes-base.code",
            2.0,
            parameters,
        ));
    }
    for (from, to, output) in edges {
        let name = |i: &usize| names[i % names.len()].as_str();
        workflow.connect(name(from), "main", *output, name(to), 0);
    }
    workflow.head.insert(
        "pinData".into(),
        json!({names[0].as_str(): [{"json": {"a": 1}}]}),
    );
    workflow
}

fn id_of(workflow: &Workflow, name: &str) -> String {
    workflow
        .node_by_name(name)
        .map_or_else(|| format!("nobody: {name}"), |n| n.id().0)
}

fn edges(workflow: &Workflow) -> BTreeSet<(String, String, u32, String, u32)> {
    workflow
        .edges()
        .map(|(from, kind, output, link)| {
            (
                id_of(workflow, from),
                kind.to_owned(),
                output,
                id_of(workflow, &link.node),
                link.index,
            )
        })
        .collect()
}

/// Every text of a node, its references as the ids that they mean and everything between them as it stands.
fn meaning(workflow: &Workflow, node: &Node) -> Vec<Vec<String>> {
    fn texts<'v>(value: &'v Value, key: &'v str, out: &mut Vec<(&'v str, &'v str)>) {
        match value {
            Value::String(text) => out.push((key, text)),
            Value::Array(list) => list.iter().for_each(|item| texts(item, key, out)),
            Value::Object(map) => map.iter().for_each(|(key, item)| texts(item, key, out)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    texts(&node.map()["parameters"], "", &mut found);
    let read = |(key, text): &(&str, &str)| {
        let mut parts = Vec::new();
        let mut rest = *text;
        // A reference is cut out by its literal, which is looked for from the back so that offsets stay.
        let is_node = |name: &str| workflow.node_by_name(name).is_some();
        for reference in apart(text, *key == "pythonCode", is_node).iter().rev() {
            let from = reference.offset();
            let quote = text[from..].chars().next().unwrap();
            let length = literal(&reference.node, quote).len();
            parts.push(rest[from + length..].to_owned());
            parts.push(id_of(workflow, &reference.node));
            rest = &rest[..from];
        }
        parts.push(rest.to_owned());
        parts
    };
    found.iter().map(read).collect()
}

fn rename(workflow: &Workflow, node: &str, name: &str) -> Workflow {
    let op = EditOp::RenameNode {
        node: node.to_owned(),
        name: name.to_owned(),
    };
    apply(workflow, &[op], &mut String::new).unwrap()
}

fn names() -> impl Strategy<Value = Vec<String>> {
    let name = prop_oneof![
        "[A-Z][a-z]{0,4}",
        // What itself begins a reference, and a literal.
        "[$_(`'\"{a)]{1,6}",
        "[A-Za-z0-9'\"`\\\\$ é.(){}\\[\\]€]{1,10}"
    ];
    prop::collection::hash_set(name, 5)
        .prop_map(|set| set.into_iter().collect())
        .prop_filter("no name is empty", |names: &Vec<String>| {
            names.iter().all(|n| !n.trim().is_empty())
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_rename_changes_names_and_nothing_else(
        names in names(),
        edges_ in prop::collection::vec((0usize..4, 0usize..4, 0u32..3), 0..8),
        at in 0usize..4,
    ) {
        // The fifth name is the new one: no node has it, and no text mentions it.
        let new = &names[4];
        let before = workflow(&names[..4], &edges_);
        let after = rename(&before, &format!("id-{at}"), new);
        prop_assert_eq!(after.nodes[at].name(), new);
        prop_assert_eq!(edges(&after), edges(&before));
        for (old, renamed) in before.nodes.iter().zip(&after.nodes) {
            prop_assert_eq!(old.id(), renamed.id());
            prop_assert_eq!(meaning(&after, renamed), meaning(&before, old));
        }
        let pinned = &after.head["pinData"];
        prop_assert!(!pinned[after.nodes[0].name()].is_null());
        // By name, which is resolved once, and back.
        prop_assert_eq!(&rename(&before, &names[at], new), &after);
        prop_assert_eq!(rename(&after, new, &names[at]), before);
    }
}

/// The names that proptest found this with: the ends of one name and the code behind it look like a reference to nobody.
#[test]
fn a_name_that_begins_like_a_reference_is_renamed() {
    for name in ["$(`{a')", "'(')[`$(`))", "$\"($(", ")$('", "$('A')"] {
        let names: Vec<String> = [name, "A", "$(`))", "E"].map(str::to_owned).to_vec();
        let before = workflow(&names, &[(0, 1, 0), (1, 2, 1), (2, 3, 0)]);
        for id in ["id-0", "id-1", "id-2"] {
            let there = rename(&before, id, "N");
            for (old, renamed) in before.nodes.iter().zip(&there.nodes) {
                assert_eq!(
                    meaning(&there, renamed),
                    meaning(&before, old),
                    "{name} {id}"
                );
            }
        }
    }
}

#[test]
fn names_change_places_by_way_of_a_third() {
    let names: Vec<String> = ["It's", "a \"b\"", "C\\d", "E"].map(str::to_owned).to_vec();
    let before = workflow(&names, &[(0, 1, 0), (1, 2, 1), (2, 3, 0), (3, 0, 2)]);
    let there = rename(
        &rename(&rename(&before, "id-0", "free"), "id-1", "It's"),
        "id-0",
        "a \"b\"",
    );
    assert_eq!(edges(&there), edges(&before));
    for (old, renamed) in before.nodes.iter().zip(&there.nodes) {
        assert_eq!(meaning(&there, renamed), meaning(&before, old));
    }
}

#[test]
fn a_dotted_reference_keeps_its_meaning_when_the_name_no_longer_fits_it() {
    let mut before = workflow(&["Hook".to_owned(), "B".to_owned()], &[]);
    before.nodes[1].edit_parameters(|p| p.insert("x".into(), json!("={{ $node.Hook.json.y }}")));
    let there = rename(&before, "Hook", "It's");
    assert_eq!(
        there.nodes[1].parameters().unwrap()["x"],
        "={{ $node[\"It's\"].json.y }}"
    );
    let back = rename(&there, "It's", "Hook");
    assert_eq!(
        back.nodes[1].parameters().unwrap()["x"],
        "={{ $node[\"Hook\"].json.y }}"
    );
}
