use super::*;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::{Workflow, arbitrary};
use proptest::prelude::*;
use serde_json::{Value, json};

fn node(name: &str, node_type: &str, at: [i32; 2], parameters: Value) -> Value {
    json!({"id": name, "name": name, "type": node_type, "position": at, "parameters": parameters})
}

fn links(to: &[&str]) -> Value {
    let links = to
        .iter()
        .map(|to| json!({"node": to, "type": "main", "index": 0}));
    Value::Array(links.collect())
}

fn sample() -> Workflow {
    let base = "n8n-nodes-base.";
    let mut call = node(
        "Call",
        &format!("{base}httpRequest"),
        [480, 0],
        json!({"url": "https://x.test"}),
    );
    call["onError"] = json!("continueErrorOutput");
    Workflow::from_value(json!({
        "name": "Orders & <more>",
        "nodes": [
            node("Hook", &format!("{base}webhook"), [0, 0], json!({"path": "orders"})),
            node("Loop", &format!("{base}splitInBatches"), [240, 0], json!({})),
            call,
            node("Agent", "@n8n/n8n-nodes-langchain.agent", [720, 0], json!({})),
            node("Model", "@n8n/n8n-nodes-langchain.lmChatOpenAi", [720, 192], json!({})),
            node("Alert", &format!("{base}slack"), [720, 400], json!({})),
            {"id": "n", "name": "Note", "type": "n8n-nodes-base.stickyNote", "position": [0, 200], "parameters": {"content": "## Why\nask <Ada>"}}
        ],
        "connections": {
            "Hook": {"main": [links(&["Loop"])]},
            "Loop": {"main": [[], links(&["Call"])]},
            "Call": {"main": [links(&["Agent"]), links(&["Alert"])]},
            "Agent": {"main": [links(&["Loop"])]},
            "Model": {"ai_languageModel": [[{"node": "Agent", "type": "ai_languageModel", "index": 0}]]}
        }
    }))
    .unwrap()
}

fn drawn(workflow: &Workflow, findings: &[Finding]) -> String {
    let subject = Subject {
        workflow,
        catalog: Catalog::embedded(),
        findings,
    };
    svg(subject, Style::Alone).unwrap()
}

fn finding(node: &str, message: &str) -> Finding {
    let value = json!({"id": "1", "code": "n8n/parameter", "severity": "error", "node": node, "node_id": null, "pointer": "/nodes/0", "message": message});
    serde_json::from_value(value).unwrap()
}

#[test]
fn branches_loops_notes_and_what_serves_are_drawn() {
    let svg = drawn(&sample(), &[]);
    let labels = [
        ">loop<",
        ">done<",
        ">Error<",
        ">model<",
        ">ask &lt;Ada&gt;<",
        ">Orders &amp; &lt;more&gt;<",
    ];
    for label in labels {
        assert!(svg.contains(label), "{label}: {svg}");
    }
    assert_eq!(svg.matches("class=\"wire Main\"").count(), 4);
    assert_eq!(svg.matches("class=\"wire Error\"").count(), 1);
    assert_eq!(svg.matches("class=\"wire Serves\"").count(), 1);
    // Back to the loop goes around below: level, down, level, up.
    let back = svg
        .lines()
        .find(|line| line.contains("wire Main") && line.contains('V'))
        .unwrap();
    assert_eq!(back.matches('H').count(), 3, "{back}");
}

#[test]
fn a_finding_is_marked_on_its_node_and_written_below() {
    let svg = drawn(
        &sample(),
        &[
            finding("Call", "no <b>such</b> thing"),
            finding("Call", "two"),
        ],
    );
    let node = svg
        .lines()
        .find(|line| line.contains("<title>Call"))
        .unwrap();
    assert!(node.starts_with("<g class=\"node error\">"), "{node}");
    assert!(svg.contains("class=\"badge error\"") && svg.contains(">2</text>"));
    assert!(svg.contains("[Call] error n8n/parameter: no &lt;b&gt;such&lt;/b&gt; thing"));
}

#[test]
fn nodes_stand_where_n8n_shows_them_unless_two_share_a_place() {
    let mut workflow = sample();
    let places = |workflow: &Workflow| {
        let subject = Subject {
            workflow,
            catalog: Catalog::embedded(),
            findings: &[],
        };
        let scene = Scene::of(subject).unwrap();
        let mut at: Vec<(f64, f64)> = scene.nodes.iter().map(|n| (n.x, n.y)).collect();
        let first = at[0];
        for place in &mut at {
            *place = (place.0 - first.0, place.1 - first.1);
        }
        (at, scene.notes.len(), scene.notes_left)
    };
    let (at, notes, left) = places(&workflow);
    assert_eq!(at[2], (480.0, 0.0));
    assert_eq!((notes, left), (1, 0));
    workflow.nodes[2].set_position(0.0, 8.0);
    let (at, notes, left) = places(&workflow);
    assert_ne!(at[2], (0.0, 8.0));
    assert_eq!((notes, left), (0, 1));
    let notes = "1 sticky note is not shown";
    assert!(drawn(&workflow, &[]).contains(notes));
    let subject = Subject {
        workflow: &workflow,
        catalog: Catalog::embedded(),
        findings: &[],
    };
    assert!(crate::workflow_page(subject).unwrap().contains(notes));
}

/// What breaks out of an element, an attribute, a label or a page.
const HOSTILE: [&str; 6] = [
    "</text></svg><script>alert(1)</script>",
    "\" onload=\"alert(1)",
    "]]><!--",
    "\u{0}\u{ffff}\u{202e}gnp.exe",
    "a\"]; click n0 href \"javascript:alert(1)\"\n%%{init: {}}%%",
    "&#60;script&#62;",
];

#[test]
fn no_name_leaves_its_place() {
    for hostile in HOSTILE {
        let mut workflow = sample();
        workflow.set_name(hostile);
        for node in &mut workflow.nodes {
            node.edit_parameters(|p| p.insert("url".into(), hostile.into()));
        }
        let old = "Call";
        workflow
            .node_by_name_mut(old)
            .unwrap()
            .set("name", hostile.into());
        let moved = workflow.connections.shift_remove(old).unwrap();
        workflow.connections.insert(hostile.to_owned(), moved);
        let found = [finding(hostile, hostile)];
        let subject = Subject {
            workflow: &workflow,
            catalog: Catalog::embedded(),
            findings: &found,
        };
        let alone = svg(subject, Style::Alone).unwrap();
        let page = crate::workflow_page(subject).unwrap();
        for text in [&alone, &page] {
            assert!(
                !text.contains("<script") && !text.contains("<!--") && !text.contains("]]>"),
                "{hostile}: {text}"
            );
            assert!(
                !text.contains("\" onload") && !text.contains(['\u{0}', '\u{202e}', '\u{ffff}'])
            );
            assert_eq!(text.matches("<svg ").count(), 1);
            assert_eq!(text.matches("</svg>").count(), 1);
        }
        let chart = crate::mermaid(subject);
        assert!(
            !chart.contains("click") || !chart.contains("href \""),
            "{chart}"
        );
        for line in chart
            .lines()
            .skip(1)
            .filter(|line| !line.contains("classDef"))
        {
            assert!(
                line.starts_with("  n") && line.matches('"').count() <= 2,
                "{line}"
            );
            assert!(!line.contains(['%', '`', '\u{202e}']), "{line}");
        }
    }
}

#[test]
fn a_page_has_a_heading_and_a_picture_that_can_be_read() {
    let mut workflow = sample();
    let page = |workflow: &Workflow| {
        crate::workflow_page(Subject {
            workflow,
            catalog: Catalog::embedded(),
            findings: &[],
        })
        .unwrap()
    };
    for (name, heading) in [
        ("", "Workflow without a name".to_owned()),
        (" ", "Workflow without a name".to_owned()),
        (&"x".repeat(3_000), format!("{}…", "x".repeat(120))),
    ] {
        workflow.set_name(name);
        let page = page(&workflow);
        for text in ["title", "h1"] {
            let wanted = format!("<{text}>{heading}</{text}>");
            assert!(page.contains(&wanted), "no {wanted}");
        }
    }
    let call = |n: i32| {
        let name = format!("Call {n}");
        node(&name, "n8n-nodes-base.httpRequest", [n * 200, 0], json!({}))
    };
    let nodes: Vec<Value> = (0..60).map(call).collect();
    let chain = json!({"name": "Chain", "nodes": nodes, "connections": {}});
    let page = page(&Workflow::from_value(chain).unwrap());
    let width = |class: &str| -> f64 {
        let (_, rest) = page.split_once(class).unwrap();
        let (_, rest) = rest.split_once(" width=\"").unwrap();
        rest.split_once('"').unwrap().0.parse().unwrap()
    };
    let (picture, least) = (width("class=\"wf\""), width("class=\"least\""));
    assert!(picture > 10_000.0, "{picture}");
    assert!((least - 0.6 * picture).abs() < 1.0, "{least} of {picture}");
}

#[test]
fn a_page_lets_nothing_in() {
    let workflow = sample();
    let subject = Subject {
        workflow: &workflow,
        catalog: Catalog::embedded(),
        findings: &[],
    };
    let page = crate::workflow_page(subject).unwrap();
    assert!(page.contains("default-src 'none'; style-src 'sha256-"));
    assert!(page.contains("script-src 'none'"));
    assert_eq!(page.matches("<style>").count(), 1);
    assert!(
        !page.contains("style=\"")
            && !page.contains("http-equiv=\"refresh")
            && !page.contains("src=")
    );
}

#[test]
fn too_many_nodes_are_refused() {
    let mut workflow = Workflow::empty("Long");
    for at in 0..=crate::MOST_NODES {
        let one = node(&format!("N {at}"), "x.y", [0, 0], json!({}));
        workflow
            .nodes
            .push(one.as_object().cloned().unwrap().into());
    }
    let subject = Subject {
        workflow: &workflow,
        catalog: Catalog::embedded(),
        findings: &[],
    };
    assert_eq!(svg(subject, Style::Alone), Err(TooLarge { nodes: 1_001 }));
}

#[test]
fn a_chart_names_branches_and_marks_findings() {
    let workflow = sample();
    let found = [finding("Call", "x")];
    let subject = Subject {
        workflow: &workflow,
        catalog: Catalog::embedded(),
        findings: &found,
    };
    insta::assert_snapshot!(crate::mermaid(subject), @r#"
    flowchart LR
      n0(["Hook<br/>webhook"])
      n1["Loop<br/>splitInBatches"]
      n2["Call<br/>httpRequest"]:::error
      n3["Agent<br/>agent"]
      n4(("Model<br/>lmChatOpenAi"))
      n5["Alert<br/>slack"]
      n0 --> n1
      n1 -- "loop" --> n2
      n2 -- "Success" --> n3
      n2 -- "Error" --> n5
      n3 --> n1
      n4 -. "ai_languageModel" .-> n3
      classDef error stroke:#c4232f,stroke-width:3px
      classDef warning stroke:#9a6200,stroke-width:3px
    "#);
}

proptest! {
    #[test]
    fn every_node_and_every_edge_is_drawn(workflow in arbitrary::workflow(12)) {
        let subject = Subject { workflow: &workflow, catalog: Catalog::embedded(), findings: &[] };
        let svg = svg(subject, Style::OnPage).unwrap();
        prop_assert_eq!(svg.matches("<g class=\"node").count(), workflow.nodes.len());
        prop_assert_eq!(svg.matches("class=\"wire ").count(), workflow.edges().count());
        prop_assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}

#[test]
fn an_output_whose_name_has_no_room_says_all_of_it_as_its_tip() {
    let rule = |name: &str| json!({"outputKey": name, "renameOutput": true, "conditions": {}});
    let long = "Customers that waited for more than a week";
    let parameters = json!({"rules": {"values": [rule("short"), rule(long)]}});
    let workflow = Workflow::from_value(json!({
        "name": "Cases",
        "nodes": [node("Sort", "n8n-nodes-base.switch", [0, 0], parameters)],
        "connections": {},
    }))
    .unwrap();
    let svg = drawn(&workflow, &[]);
    assert_eq!(
        svg.matches(&format!("<title>{long}</title>Customers"))
            .count(),
        1,
        "{svg}"
    );
    assert_eq!(svg.matches("<title>short</title>").count(), 0, "{svg}");
    assert!(svg.contains(">short</text>"), "{svg}");
}
