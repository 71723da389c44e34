use super::*;
use crate::arbitrary;
use crate::workflow::NodeId;
use proptest::prelude::*;
use serde_json::json;

fn length(node: &Node) -> usize {
    written_length_of_map(node.map())
}

/// All parts in their order.
fn read(parts: &Parts<'_>, head: usize, most: usize) -> Vec<Part> {
    let mut all = vec![parts.part(None, head, most, &length).unwrap()];
    while let Some(next) = all.last().and_then(|part| part.next) {
        all.push(parts.part(Some(next), head, most, &length).unwrap());
    }
    all
}

fn chain(count: usize) -> Workflow {
    let mut workflow = Workflow::empty("Chain");
    for i in 0..count {
        let parameters = json!({"url": format!("https://example.com/{i}"), "limit": i % 7});
        let parameters = parameters.as_object().cloned().unwrap();
        let kind = match i % 2 {
            0 => "n8n-nodes-base.httpRequest",
            _ => "n8n-nodes-base.noOp",
        };
        let id = NodeId(format!("id-{i}"));
        workflow
            .nodes
            .push(Node::new(id, format!("Part {i}"), kind, 1.0, parameters));
        if i > 0 {
            workflow.connect(
                &format!("Part {}", i - 1),
                "main",
                0,
                &format!("Part {i}"),
                0,
            );
        }
    }
    workflow
}

proptest! {
    #[test]
    fn each_node_and_each_connection_is_in_exactly_one_part(
        mut workflow in arbitrary::workflow(60),
        most in 0usize..6_000,
        head in 0usize..3_000,
        about in prop::option::of("(Node [0-9]{1,2}|any|the|x| |\"a b\"){0,6}"),
        twins in any::<bool>(),
    ) {
        if twins && workflow.nodes.len() > 1 {
            workflow.nodes[1].set("name", json!("Node 0"));
        }
        workflow.connect("Nobody", "main", 0, "Node 0", 0);
        let parts = Parts::of(&workflow, about.as_deref());
        let all = read(&parts, head, most);
        let mut seen: Vec<usize> = all.iter().flat_map(|part| part.nodes.clone()).collect();
        prop_assert_eq!(parts.left(&all[0]).nodes + all[0].nodes.len(), seen.len());
        seen.sort_unstable();
        prop_assert_eq!(seen, (0..workflow.nodes.len()).collect::<Vec<_>>());
        let mut links: Vec<String> = Vec::new();
        for part in &all {
            let mut alone = Workflow::empty("");
            alone.connections = parts.connections(part);
            links.extend(alone.edges().map(|edge| format!("{edge:?}")));
            let bytes: usize = part.nodes.iter().map(|i| length(&workflow.nodes[*i])).sum();
            prop_assert!(bytes <= most || part.nodes.len() == 1);
            prop_assert!(part.head == (part == &all[0]));
        }
        let mut wanted: Vec<String> = workflow.edges().map(|edge| format!("{edge:?}")).collect();
        links.sort();
        wanted.sort();
        prop_assert_eq!(links, wanted);
        prop_assert!(parts.part(Some(workflow.nodes.len()), head, most, &length).is_none());
    }
}

#[test]
fn what_the_text_speaks_of_comes_first_with_what_stands_beside_it() {
    let workflow = chain(5_000);
    let about = "In \"Part 2345\" set the url to https://example.com/new";
    let parts = Parts::of(&workflow, Some(about));
    let first = parts.part(None, 0, 100_000, &length).unwrap();
    // It, its neighbours, the start, the end, two of each type; not `Part 2`, `Part 23` or `Part 234`.
    assert_eq!(first.nodes, [0, 1, 2, 3, 2344, 2345, 2346, 4999]);
    assert_eq!(
        parts.left(&first),
        Left {
            nodes: 4992,
            named: 0,
            of_kind: 2500 - 4
        }
    );
    let (incoming, all) = parts.incoming(&first);
    let from: Vec<&str> = incoming.keys().map(String::as_str).collect();
    assert_eq!((from, all), (vec!["Part 2343", "Part 4998"], true));
    let held = Parts::of(
        &workflow,
        Some("replace https://example.com/777 by another"),
    );
    let first = held.part(None, 0, 100_000, &length).unwrap();
    assert!(first.nodes.contains(&777));
    // The number of a few is a value, that of many is none.
    let many = Parts::of(&workflow, Some("raise the limit from 3 to 4"));
    assert_eq!(many.named.len(), 0);
}

#[test]
fn nodes_of_a_type_that_the_text_names_come_before_the_others() {
    let workflow = chain(1_000);
    let parts = Parts::of(&workflow, Some("retry every HTTP request three times"));
    let all = read(&parts, 0, 20_000);
    assert_eq!(parts.left(&all[0]).of_kind, 500 - 2);
    let behind = &parts.order[parts.focus..];
    let kinds: Vec<bool> = behind.iter().map(|i| i % 2 == 0).collect();
    assert!(kinds.is_sorted_by(|a, b| a >= b), "{kinds:?}");
    for (said, short) in [
        ("the sheet", "googleSheets"),
        ("jede Slack-Nachricht", "slack"),
        ("the rocket chat post", "rocketchat"),
    ] {
        let mut workflow = chain(4);
        workflow.nodes[2].set("type", json!(format!("n8n-nodes-base.{short}")));
        let parts = Parts::of(&workflow, Some(said));
        assert_eq!(parts.of_kind, BTreeSet::from([2]), "{said}");
    }
}

#[test]
fn quotes_and_apostrophes_are_told_apart() {
    let mut workflow = chain(3);
    workflow.nodes[1].set("parameters", json!({"text": "it is late"}));
    for (said, found) in [
        ("say 'it is late' no more", true),
        ("say «it is late» no more", true),
        ("don't say it is late, it's wrong", false),
    ] {
        let parts = Parts::of(&workflow, Some(said));
        assert_eq!(parts.named.contains(&1), found, "{said}");
    }
}
