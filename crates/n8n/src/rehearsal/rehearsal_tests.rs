use super::effect::{Effect, effect};
use super::fixture::*;
use super::*;
use crate::catalog::Catalog;
use crate::validate::validate;
use crate::{Node, Severity, Workflow, arbitrary};
use proptest::prelude::*;
use serde_json::{Value, json};

fn does(kind: &str, version: f64, parameters: Value) -> Effect {
    let node: Node = serde_json::from_value(node("N", kind, version, parameters)).unwrap();
    effect(&node, &listing(&[]))
}

fn listing(hosts: &[&str]) -> Ground<'static> {
    Ground {
        hosts: hosts.iter().collect(),
        n8n: Some("http://localhost:5678"),
    }
}

#[test]
fn everything_but_work_on_items_is_simulated_whatever_it_says_it_does() {
    let acts = |what: &str| Effect::Simulated(Why::Acts(what.to_owned()));
    let base = |name: &str, version: f64, parameters: Value| {
        does(&format!("n8n-nodes-base.{name}"), version, parameters)
    };
    assert_eq!(base("set", 3.4, json!({})), Effect::Inside);
    for (resource, operation) in [("message", "post"), ("channel", "getAll")] {
        let parameters = json!({"resource": resource, "operation": operation});
        let wanted = acts(&format!("{resource} {operation}"));
        assert_eq!(base("slack", 2.3, parameters), wanted);
    }
    assert_eq!(
        base("mongoDb", 1.1, json!({"operation": "find"})),
        acts("document find")
    );
    // The operation that stands there when nothing is written.
    assert_eq!(base("gmail", 2.1, json!({})), acts("message send"));
    for query in [
        "SELECT id FROM orders;",
        "SELECT app.purge_users()",
        "=select 1{{ String.fromCharCode(59) }} {{ 'DEL'+'ETE' }} FROM users",
        "select/**/1;/**/drop table orders",
    ] {
        let parameters = json!({"operation": "executeQuery", "query": query});
        assert_eq!(
            base("postgres", 2.5, parameters),
            acts("database executeQuery")
        );
    }
    assert_eq!(base("wait", 1.1, json!({})), Effect::Simulated(Why::Waits));
    let unknown = Effect::Simulated(Why::Unknown);
    assert_eq!(base("executeCommand", 1.0, json!({})), unknown);
    assert_eq!(
        does("n8n-nodes-somebody.thing", 1.0, json!({"operation": "get"})),
        unknown
    );
    assert_eq!(
        does("@n8n/n8n-nodes-langchain.agent", 2.0, json!({})),
        Effect::Simulated(Why::AsksModel)
    );
}

#[test]
fn an_account_on_a_node_is_reason_enough() {
    for credentials in [
        json!({"crypto": {"id": "c1", "name": "Key"}}),
        json!({"x": null}),
        json!(["c1"]),
    ] {
        let mut hash: Node =
            serde_json::from_value(node("N", "n8n-nodes-base.crypto", 1.0, json!({}))).unwrap();
        assert_eq!(effect(&hash, &listing(&[])), Effect::Inside);
        hash.set("credentials", credentials);
        assert!(matches!(
            effect(&hash, &listing(&[])),
            Effect::Simulated(Why::Account(_))
        ));
    }
}

#[test]
fn a_request_runs_for_a_listed_host_and_nothing_computed() {
    let ground = listing(&[
        "api.example.com",
        "localhost:5678",
        "127.0.0.1:5678",
        "api.example.com:8443",
    ]);
    let asked = |version: f64, parameters: Value| {
        let kind = "n8n-nodes-base.httpRequest";
        let node: Node = serde_json::from_value(node("N", kind, version, parameters)).unwrap();
        effect(&node, &ground)
    };
    let get = |url: &str| asked(4.2, json!({"url": url, "options": {}}));
    let reads = |host: &str| Effect::Reads(host.to_owned());
    let acts = |what: &str| Effect::Simulated(Why::Acts(what.to_owned()));
    let host = |host: &str| Effect::Simulated(Why::Host(host.to_owned()));
    assert_eq!(
        get("https://api.example.com/rates?base=EUR"),
        reads("api.example.com")
    );
    assert_eq!(get("http://api.example.com:80"), reads("api.example.com"));
    assert_eq!(
        get("https://API.example.com:8443/x"),
        reads("api.example.com:8443")
    );
    for elsewhere in [
        "evil.example",
        "api.example.com.evil.example",
        "xapi.example.com",
        "example.com",
        "api.example.com:8080",
    ] {
        assert_eq!(get(&format!("https://{elsewhere}/x")), host(elsewhere));
    }
    // The n8n itself, by any of its names, listed or not.
    for own in [
        "localhost",
        "127.0.0.1",
        "127.1",
        "2130706433",
        "x.localhost",
        "0.0.0.0",
    ] {
        assert_eq!(
            get(&format!("http://{own}:5678/webhook/x")),
            acts("a GET request to the n8n itself")
        );
    }
    for unclear in [
        "https://api.example.com@evil.example/",
        "https://api.example.com\\@evil.example/",
        "https://api.example.com#@evil.example/",
        "//api.example.com/",
        "ftp://api.example.com/",
        "https:api.example.com",
        " https://api.example.com/",
        "https://[::1]/",
        "https://api.example.com\t.evil.example/",
        "https://api。example.com/",
        "",
    ] {
        assert_eq!(get(unclear), acts("a GET request"), "{unclear}");
    }
    for computed in [
        "=https://api.example.com/{{ $json.x }}",
        "https://api.example.com/{{ $json.x }}",
        "={{ $json.url }}",
    ] {
        assert_eq!(
            get(computed),
            acts("a GET request with computed values"),
            "{computed}"
        );
    }
    let with = |key: &str, value: Value| {
        let mut parameters = json!({"url": "https://api.example.com/x", "options": {}});
        parameters[key] = value;
        asked(4.2, parameters)
    };
    assert_eq!(with("method", json!("GET")), reads("api.example.com"));
    assert_eq!(with("method", json!("DELETE")), acts("DELETE request"));
    assert_eq!(with("method", json!("HEAD")), acts("HEAD request"));
    assert_eq!(
        with("method", json!("={{ 'GET' }}")),
        acts("a request of a computed method")
    );
    assert_eq!(
        with("method", json!(1)),
        acts("a request of a computed method")
    );
    assert_eq!(
        with("sendBody", json!(true)),
        acts("a GET request with a body")
    );
    assert_eq!(
        with("requestMethod", json!("POST")),
        acts("a GET request with \"requestMethod\"")
    );
    for kind in [
        "genericCredentialType",
        "predefinedCredentialType",
        "={{ 'none' }}",
    ] {
        assert_eq!(
            with("authentication", json!(kind)),
            Effect::Simulated(Why::Account("of the request".into()))
        );
    }
    for option in [
        "proxy",
        "pagination",
        "allowUnauthorizedCerts",
        "sendCredentialsOnCrossOriginRedirect",
    ] {
        let said = format!("a GET request with the option {option:?}");
        assert_eq!(with("options", json!({option: {}})), acts(&said));
    }
    let header = |name: &str| {
        with(
            "headerParameters",
            json!({"parameters": [{"name": name, "value": "x"}]}),
        )
    };
    assert_eq!(header("Accept"), reads("api.example.com"));
    for name in ["Host", "X-HTTP-Method-Override", "Authorization", ""] {
        assert_eq!(header(name), acts("a GET request with headers of its own"));
    }
    let query = json!({"parameters": [{"name": "q", "value": "={{ $json.secret }}"}]});
    assert_eq!(
        with("queryParameters", query),
        acts("a GET request with computed values")
    );
    // The first versions name their parameters otherwise.
    for version in [1.0, 2.0] {
        let parameters =
            json!({"url": "https://api.example.com/x", "method": "GET", "requestMethod": "DELETE"});
        assert_eq!(asked(version, parameters), acts("a request"));
    }
}

#[test]
fn a_host_is_a_name_and_nothing_else() {
    for good in [
        "api.example.com",
        "API.Example.com:8080",
        "10.0.0.1",
        "localhost:3000",
    ] {
        assert_eq!(Hosts::host(good), Ok(good.to_ascii_lowercase()));
    }
    for bad in [
        "",
        "*",
        "*.example.com",
        "https://example.com",
        "example.com/x",
        "a b",
        "example.com:0",
        "example.com:99999",
        "a..b",
        ":80",
        "user@host",
        "[::1]",
        "exa_mple.com",
    ] {
        assert_eq!(Hosts::host(bad), Err(NoHost(bad.to_owned())), "{bad}");
    }
}

/// What a test asks of a listed host goes to no other one.
#[test]
fn a_request_of_a_test_follows_no_redirect() {
    let get = json!({"url": "https://api.example.com/x", "options": {"timeout": 5000}});
    let workflow = chain(vec![
        webhook("orders"),
        node("Get", "n8n-nodes-base.httpRequest", 4.2, get),
    ]);
    let wishes = Wishes {
        path: "k3",
        ground: listing(&["api.example.com"]),
        ..Wishes::default()
    };
    let rehearsal = rehearse(&workflow, Catalog::embedded(), &wishes).unwrap();
    let get = rehearsal
        .parts
        .iter()
        .find(|part| part.node == "Get")
        .unwrap();
    assert_eq!(
        (&get.part, &get.leaves),
        (
            &Part::Run,
            &Some(Leaves::Host {
                host: "api.example.com".into()
            })
        )
    );
    assert_eq!(
        rehearsal
            .copy
            .node_by_name("Get")
            .unwrap()
            .parameters()
            .unwrap()["options"],
        json!({"timeout": 5000, "redirect": {"redirect": {"followRedirects": false}}})
    );
    assert!(
        !rehearsal.fits_as_it_is(&workflow),
        "the workflow itself would follow"
    );
    let silent = Wishes {
        path: "k3",
        ..Wishes::default()
    };
    let rehearsal = rehearse(&workflow, Catalog::embedded(), &silent).unwrap();
    assert!(matches!(part(&rehearsal, "Get"), Part::Simulated { .. }));
}

/// A connection of another kind, a switched-off root, a second node of the same name, another catalog: none of them makes a node run.
#[test]
fn no_shape_of_the_workflow_makes_a_node_run() {
    let post = |name: &str| {
        node(
            name,
            "n8n-nodes-base.httpRequest",
            4.2,
            json!({"method": "POST", "url": "https://evil.example"}),
        )
    };
    let runs = |workflow: &Workflow| -> Vec<String> {
        let rehearsal = tried(workflow);
        let copy = rehearsal.copy.nodes.iter();
        copy.filter(|n| n.node_type().ends_with("httpRequest"))
            .map(|n| n.name().to_owned())
            .collect()
    };
    // In the line of items, and said to serve a node that is switched off.
    let mut serving = chain(vec![
        webhook("orders"),
        post("Post"),
        set("Shape", "x", "1"),
    ]);
    serving
        .nodes
        .push(serde_json::from_value(set("Off", "x", "1")).unwrap());
    serving
        .node_by_name_mut("Off")
        .unwrap()
        .set("disabled", json!(true));
    serving.connect("Post", "ai_tool", 0, "Off", 0);
    assert_eq!(runs(&serving), Vec::<String>::new());
    // Only serving it.
    let mut only = chain(vec![webhook("orders"), set("Off", "x", "1")]);
    only.node_by_name_mut("Off")
        .unwrap()
        .set("disabled", json!(true));
    only.nodes
        .push(serde_json::from_value(post("Post")).unwrap());
    only.connect("Post", "ai_tool", 0, "Off", 0);
    assert_eq!(runs(&only), Vec::<String>::new());
    // Two of one name: whichever n8n takes.
    let mut twice = chain(vec![webhook("orders"), post("Same")]);
    twice
        .nodes
        .push(serde_json::from_value(set("Same", "x", "1")).unwrap());
    assert_eq!(runs(&twice), Vec::<String>::new());
    let wishes = Wishes {
        path: "k3",
        allowed: ["Same".to_owned()].into(),
        ..Wishes::default()
    };
    let allowed = rehearse(&twice, Catalog::embedded(), &wishes).unwrap();
    assert!(
        allowed
            .copy
            .nodes
            .iter()
            .all(|n| !n.node_type().ends_with("httpRequest"))
    );
    // Switched off, it stays off, and nothing of it is on the copy.
    let mut off = chain(vec![webhook("orders"), post("Post")]);
    off.node_by_name_mut("Post")
        .unwrap()
        .set("disabled", json!(true));
    assert_eq!(runs(&off), Vec::<String>::new());
}

#[test]
fn a_stand_in_evaluates_nothing() {
    let mut workflow = chain(vec![
        webhook("orders"),
        slack(),
        node(
            "Right?",
            "n8n-nodes-base.if",
            2.2,
            json!({"conditions": {"combinator": "and", "conditions": [
            {"leftValue": "={{ $json.answer }}", "rightValue": "{{ $env.KEY }}", "operator": {"type": "string", "operation": "equals"}}]}}),
        ),
    ]);
    workflow.connect("Tell sales", "main", 0, "Right?", 0);
    let rehearsal = tried(&workflow);
    let stand_in = rehearsal.copy.node_by_name("Tell sales").unwrap();
    let output = stand_in.parameters().unwrap()["jsonOutput"]
        .as_str()
        .unwrap();
    assert_eq!(output, r#"{"answer":"\u007b\u007b $env.KEY }}"}"#);
    assert_eq!(
        serde_json::from_str::<Value>(output).unwrap(),
        json!({"answer": "{{ $env.KEY }}"})
    );
}

#[test]
fn what_acts_is_simulated_under_its_own_name_and_the_rest_runs() {
    let mut workflow = chain(vec![
        webhook("orders"),
        set("Shape", "total", "={{ $json.body.total }}"),
        slack(),
        set("After", "ts", "={{ $json.ts }}"),
    ]);
    workflow.head.insert(
        "settings".into(),
        json!({"executionOrder": "v1", "timezone": "Europe/Berlin", "errorWorkflow": "w9"}),
    );
    let rehearsal = tried(&workflow);
    assert_eq!(part(&rehearsal, "Webhook"), &Part::Start);
    assert_eq!(part(&rehearsal, "Shape"), &Part::Run);
    assert_eq!(part(&rehearsal, "After"), &Part::Run);
    assert_eq!(
        part(&rehearsal, "Tell sales"),
        &Part::Simulated {
            why: vec![
                Why::Acts("message post".into()),
                Why::NoCredential("slackApi".into())
            ],
            because: "it would reach outside of n8n (message post); its credential (slackApi) is not connected".into(),
            hands_on: Some(json!({"ts": "Sample ts"})),
        }
    );
    let stand_in = rehearsal.copy.node_by_name("Tell sales").unwrap();
    assert_eq!(stand_in.node_type(), "n8n-nodes-base.set");
    assert_eq!(stand_in.id().0, "id-Tell sales");
    assert_eq!(
        rehearsal.copy.node_by_name("Shape"),
        workflow.node_by_name("Shape")
    );
    assert_eq!(
        rehearsal.copy.head["settings"],
        json!({"executionOrder": "v1", "timezone": "Europe/Berlin",
        "saveDataSuccessExecution": "all", "saveDataErrorExecution": "all", "executionTimeout": 120})
    );
    assert!(
        rehearsal
            .changes
            .contains(&"the error workflow is not called".to_owned())
    );
    let entry = rehearsal.copy.node_by_name("Rehearsal start").unwrap();
    assert_eq!(entry.parameters().unwrap()["path"], json!("k3"));
    let edges: Vec<(String, String)> = rehearsal
        .copy
        .edges()
        .map(|(a, _, _, l)| (a.to_owned(), l.node.clone()))
        .collect();
    let wanted = [
        ("Webhook", "Shape"),
        ("Shape", "Tell sales would send"),
        ("Shape", "Tell sales"),
        ("Tell sales", "After"),
        ("Rehearsal start", "Webhook"),
    ];
    assert_eq!(edges, wanted.map(|(a, b)| (a.to_owned(), b.to_owned())));
    assert!(!rehearsal.fits_as_it_is(&workflow));
    let findings = validate(&rehearsal.copy, Catalog::embedded());
    assert!(
        findings.iter().all(|f| f.severity != Severity::Error),
        "{findings:?}"
    );
}

#[test]
fn a_node_that_the_user_allows_runs_when_its_account_is_there() {
    let mut workflow = chain(vec![webhook("orders"), slack()]);
    let mut wishes = Wishes {
        path: "k3",
        allowed: ["Tell sales".to_owned()].into(),
        ..Wishes::default()
    };
    let only_missing = Part::Simulated {
        why: vec![Why::NoCredential("slackApi".into())],
        because: "its credential (slackApi) is not connected".into(),
        hands_on: Some(json!({})),
    };
    assert_eq!(
        part(
            &rehearse(&workflow, Catalog::embedded(), &wishes).unwrap(),
            "Tell sales"
        ),
        &only_missing
    );
    workflow.node_by_name_mut("Tell sales").unwrap().set(
        "credentials",
        json!({"slackApi": {"id": "c1", "name": "Sales"}}),
    );
    assert_eq!(
        part(
            &rehearse(&workflow, Catalog::embedded(), &wishes).unwrap(),
            "Tell sales"
        ),
        &Part::Run
    );
    // It names one that this n8n does not have.
    wishes.credentials = Some([("slackApi".to_owned(), "c2".to_owned())].into());
    assert_eq!(
        part(
            &rehearse(&workflow, Catalog::embedded(), &wishes).unwrap(),
            "Tell sales"
        ),
        &only_missing
    );
    wishes.allowed = ["Tell everybody".to_owned()].into();
    let refused = rehearse(&workflow, Catalog::embedded(), &wishes).unwrap_err();
    assert_eq!(refused, NoRehearsal::NoSuchNode("Tell everybody".into()));
}

#[test]
fn an_agent_is_simulated_with_all_that_serves_it() {
    let mut workflow = chain(vec![
        webhook("ask"),
        node(
            "Agent",
            "@n8n/n8n-nodes-langchain.agent",
            2.0,
            json!({"promptType": "define", "text": "={{ $json.body.question }}"}),
        ),
        set("Answer", "text", "={{ $json.output }}"),
    ]);
    for (name, kind, port) in [
        (
            "Model",
            "@n8n/n8n-nodes-langchain.lmChatOpenAi",
            "ai_languageModel",
        ),
        ("Mail", "n8n-nodes-base.gmailTool", "ai_tool"),
    ] {
        workflow
            .nodes
            .push(serde_json::from_value(node(name, kind, 1.0, json!({}))).unwrap());
        workflow.connect(name, port, 0, "Agent", 0);
    }
    let rehearsal = tried(&workflow);
    let Part::Simulated { why, hands_on, .. } = part(&rehearsal, "Agent") else {
        panic!("{:?}", rehearsal.parts)
    };
    assert_eq!(why[0], Why::AsksModel);
    assert!(
        why.contains(&Why::Through("Mail".into())) && why.contains(&Why::Through("Model".into())),
        "{why:?}"
    );
    assert_eq!(hands_on, &Some(json!({"output": "Sample output"})));
    let gone = Part::LeftOut {
        because: "a sub-node of a simulated node".into(),
    };
    assert_eq!(
        (part(&rehearsal, "Model"), part(&rehearsal, "Mail")),
        (&gone, &gone)
    );
    assert!(rehearsal.copy.edges().all(|(_, kind, _, _)| kind == "main"));
}

#[test]
fn the_trigger_that_reaches_most_is_tried_unless_another_is_named() {
    let mut workflow = chain(vec![
        node("Daily", "n8n-nodes-base.scheduleTrigger", 1.2, json!({})),
        set("A", "x", "1"),
        set("B", "x", "2"),
    ]);
    workflow
        .nodes
        .push(serde_json::from_value(webhook("late")).unwrap());
    workflow.connect("Webhook", "main", 0, "B", 0);
    let rehearsal = tried(&workflow);
    assert_eq!(rehearsal.start.node, "Daily");
    assert_eq!(rehearsal.start.method, None);
    assert!(matches!(part(&rehearsal, "Webhook"), Part::LeftOut { .. }));
    let named = |start| {
        rehearse(
            &workflow,
            Catalog::embedded(),
            &Wishes {
                path: "k",
                start: Some(start),
                ..Wishes::default()
            },
        )
    };
    assert_eq!(named("Webhook").unwrap().start.node, "Webhook");
    assert_eq!(
        named("B").unwrap_err(),
        NoRehearsal::NoSuchTrigger("B".into())
    );
    assert_eq!(
        rehearse(
            &Workflow::empty("x"),
            Catalog::embedded(),
            &Wishes::default()
        )
        .unwrap_err(),
        NoRehearsal::NothingStarts
    );
}

#[test]
fn a_workflow_of_its_own_webhook_that_only_computes_fits_as_it_is() {
    let workflow = chain(vec![
        webhook("sum"),
        set("Sum", "total", "={{ $json.body.a }}"),
    ]);
    assert!(tried(&workflow).fits_as_it_is(&workflow));
    let mut locked = workflow.clone();
    locked.nodes[0].edit_parameters(|p| p.insert("authentication".into(), json!("headerAuth")));
    assert!(!tried(&locked).fits_as_it_is(&locked));
    // It would call another workflow when it fails, compute an address, or send its caller elsewhere.
    let mut calling = workflow.clone();
    calling
        .head
        .insert("settings".into(), json!({"errorWorkflow": "w9"}));
    assert!(!tried(&calling).fits_as_it_is(&calling));
    for (key, value) in [
        ("path", json!("={{ $env.X }}")),
        ("responseCode", json!(302)),
        ("options", json!({"responseHeaders": {}})),
    ] {
        let mut odd = workflow.clone();
        odd.nodes[0].edit_parameters(|p| p.insert(key.into(), value));
        assert!(!tried(&odd).fits_as_it_is(&odd), "{key}");
    }
}

#[test]
fn the_payload_has_what_the_workflow_reads_and_lets_conditions_hold() {
    let mut workflow = chain(vec![
        webhook("orders"),
        node(
            "Large?",
            "n8n-nodes-base.if",
            2.2,
            json!({"conditions": {"combinator": "and", "conditions": [
            {"leftValue": "={{ $json.body.order.total }}", "rightValue": 100, "operator": {"type": "number", "operation": "gt"}},
            {"leftValue": "={{ $json.body.country }}", "rightValue": "DE", "operator": {"type": "string", "operation": "equals"}}]}}),
        ),
        node(
            "Lines",
            "n8n-nodes-base.splitOut",
            1.0,
            json!({"fieldToSplitOut": "body.lines"}),
        ),
        set(
            "Line",
            "sku",
            "={{ $json.sku }} {{ $('Webhook').item.json.body.email }}",
        ),
    ]);
    workflow.nodes.push(serde_json::from_value(node("Code", "n8n-nodes-base.code", 2.0, json!({"jsCode":
        "const body = $input.first().json.body;\nreturn [{json: {tags: body.tags.map(t => t), when: body.createdAt, q: $input.first().json.query.page}}];"}))).unwrap());
    workflow.connect("Large?", "main", 1, "Code", 0);
    let rehearsal = tried(&workflow);
    assert_eq!(
        Value::Object(payload(&workflow, &rehearsal, 0)),
        json!({
            "body": {
                "order": {"total": 101},
                "lines": [{"sku": "1001"}],
                "country": "DE",
                "email": "sample@example.com",
                "tags": [{"id": "1001", "name": "Sample"}],
                "createdAt": "2026-01-15T09:00:00.000Z",
            },
            "query": {"page": "Sample page"},
            "headers": {},
            "params": {},
        })
    );
}

#[test]
fn a_trigger_that_declares_its_fields_gets_them() {
    let workflow = chain(vec![
        node(
            "Sub",
            "n8n-nodes-base.executeWorkflowTrigger",
            1.1,
            json!({"workflowInputs": {"values": [{"name": "amount", "type": "number"}, {"name": "who"}]}}),
        ),
        set("Use", "x", "={{ $json.note }}"),
    ]);
    assert_eq!(
        Value::Object(payload(&workflow, &tried(&workflow), 0)),
        json!({"amount": 42, "who": "Sample who", "note": "Sample note"})
    );
}

proptest! {
    /// Whatever the workflow: what runs on the copy does not act, and every node is accounted for under its own name.
    #[test]
    fn nothing_acts_on_a_copy(mut workflow in arbitrary::workflow(7), kinds in prop::collection::vec(0usize..9, 8)) {
        let types = [
            ("n8n-nodes-base.set", 3.4), ("n8n-nodes-base.slack", 2.3), ("n8n-nodes-base.httpRequest", 4.2),
            ("n8n-nodes-base.if", 2.2), ("n8n-nodes-base.scheduleTrigger", 1.2), ("n8n-nodes-base.postgres", 2.5),
            ("n8n-nodes-base.code", 2.0), ("community.unheardOf", 1.0), ("n8n-nodes-base.wait", 1.1),
        ];
        for (node, kind) in workflow.nodes.iter_mut().zip(&kinds) {
            node.set("type", json!(types[*kind].0));
            node.set("typeVersion", json!(types[*kind].1));
        }
        let catalog = Catalog::embedded();
        match rehearse(&workflow, catalog, &Wishes { path: "p", ..Wishes::default() }) {
            Err(why) => prop_assert_eq!(why, NoRehearsal::NothingStarts),
            Ok(rehearsal) => {
                prop_assert_eq!(rehearsal.parts.len(), workflow.nodes.len());
                for node in rehearsal.copy.nodes.iter().filter(|n| !n.disabled() && n.name() != "Rehearsal start") {
                    prop_assert_eq!(effect(node, &Ground::default()), Effect::Inside);
                    if !rehearsal.shadows.iter().any(|shadow| shadow.name == node.name()) {
                        prop_assert_eq!(workflow.node_by_name(node.name()).map(Node::id), Some(node.id()));
                    }
                }
                for (from, _, _, link) in rehearsal.copy.edges() {
                    prop_assert!(rehearsal.copy.node_by_name(from).is_some());
                    prop_assert!(rehearsal.copy.node_by_name(&link.node).is_some());
                }
                let again = rehearse(&workflow, catalog, &Wishes { path: "p", ..Wishes::default() }).unwrap();
                prop_assert_eq!(again, rehearsal);
            }
        }
    }
}
