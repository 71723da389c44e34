use super::*;
use crate::{
    arbitrary,
    edit::apply,
    finding::{Confidence, Severity},
};
use proptest::prelude::*;
use serde_json::json;

fn judged(document: Value) -> Vec<Finding> {
    validate_value(&document, Catalog::embedded())
}

/// One line per finding: severity, code, node, place, message, fix.
fn lines(document: Value) -> String {
    let line = |f: Finding| {
        let severity = match f.severity {
            Severity::Error => "E",
            Severity::Warning => "W",
            Severity::Info => "I",
        };
        let fix = f
            .fix
            .map_or(String::new(), |fix| format!(" [{}]", fix.title));
        let place = f
            .place
            .map_or(String::new(), |place| format!(" at {place}"));
        format!(
            "{severity} {} {} {}{place} | {}{fix}",
            f.code,
            f.node.unwrap_or_default(),
            f.pointer,
            f.message
        )
    };
    judged(document)
        .into_iter()
        .map(line)
        .collect::<Vec<_>>()
        .join("\n")
}

fn node(name: &str, node_type: &str, version: f64, parameters: Value) -> Value {
    json!({"id": format!("id of {name}"), "name": name, "type": node_type, "typeVersion": version, "position": [0, 0], "parameters": parameters})
}

fn hook(parameters: Value) -> Value {
    node("Hook", "n8n-nodes-base.webhook", 2.0, parameters)
}

/// A workflow whose nodes follow one another.
fn chain(nodes: Vec<Value>) -> Value {
    let names: Vec<String> = nodes
        .iter()
        .map(|n| n["name"].as_str().unwrap().to_owned())
        .collect();
    let mut connections = serde_json::Map::new();
    for pair in names.windows(2) {
        connections.insert(
            pair[0].clone(),
            json!({"main": [[{"node": pair[1], "type": "main", "index": 0}]]}),
        );
    }
    json!({"name": "Any", "nodes": nodes, "connections": connections, "settings": {}})
}

#[test]
fn a_sound_workflow_has_nothing_but_open_credentials() {
    let document = chain(vec![
        hook(json!({"path": "orders", "httpMethod": "POST"})),
        node(
            "Post",
            "n8n-nodes-base.slack",
            2.3,
            json!({"resource": "message", "operation": "post", "select": "channel",
            "channelId": {"__rl": true, "mode": "name", "value": "#sales"}, "text": "={{ $('Hook').item.json.body.id }}"}),
        ),
    ]);
    insta::assert_snapshot!(lines(document), @"W n8n/credential Post /nodes/1/credentials/slackApi | still to connect: Slack API");
}

#[test]
fn malformed_documents_have_structure_findings() {
    insta::assert_snapshot!(lines(json!([])), @"E n8n/structure   | the document is no JSON object");
    insta::assert_snapshot!(lines(json!({"nodes": 3})), @r#"
    E n8n/structure  /connections | `connections` is missing; write {} when there are none
    E n8n/structure  /nodes | `nodes` is no array; it lists the nodes
    "#);
    let document = json!({"nodes": [1, {"name": "", "type": 5, "position": [0], "parameters": [], "id": 1, "typeVersion": "1", "disabled": 0}, {"name": "A", "type": "t", "position": [0, "1"]}],
        "connections": {"A": {"main": [null, [{"node": "B", "type": "main", "index": -1}], 7]}, "B": []}});
    insta::assert_snapshot!(lines(document), @r#"
    E n8n/structure A /connections/A/main/1/0/index | the target's index is no whole number from 0
    E n8n/structure A /connections/A/main/2 | the output is neither a list of targets nor null
    E n8n/structure B /connections/B | the source's connections are no object keyed by type, like {"main": [...]}
    E n8n/no-trigger  /nodes | no enabled node can start the workflow; add a trigger such as a schedule or a webhook
    E n8n/structure  /nodes/0 | the node is no JSON object
    E n8n/structure  /nodes/1/disabled | `disabled` of the node is not true or false
    E n8n/structure  /nodes/1/id | `id` of the node is not a text
    E n8n/structure  /nodes/1/name | the node's name is empty
    E n8n/structure  /nodes/1/parameters | `parameters` of the node is not an object
    E n8n/structure  /nodes/1/position | the node's position is not two numbers [x, y]
    E n8n/structure  /nodes/1/type | the node's type is no text
    E n8n/structure  /nodes/1/typeVersion | `typeVersion` of the node is not a number
    E n8n/structure A /nodes/2/position/1 | the coordinate is no number
    E n8n/unknown-type  /nodes/1/type | the node type "" is not known; look it up with `agentctl catalog search`
    E n8n/unknown-type A /nodes/2/type | the node type "t" is not known; look it up with `agentctl catalog search`
    "#);
    let document = json!({"nodes": [{"name": "A", "type": "n8n-nodes-base.noOp", "position": [0, 0], "id": "1"}, {"name": "A", "type": "n8n-nodes-base.noOp", "position": [0, 0], "id": "1"}],
        "connections": {"X/Y": {"main": [[{"node": "Z", "type": "main", "index": 0}]]}}});
    insta::assert_snapshot!(lines(document), @r#"
    E n8n/structure X/Y /connections/X~1Y | connections start at "X/Y", which is no node's name
    E n8n/structure X/Y /connections/X~1Y/main/0/0/node | the connection leads to "Z", which is no node's name
    E n8n/no-trigger  /nodes | no enabled node can start the workflow; add a trigger such as a schedule or a webhook
    E n8n/structure A /nodes/1/id | the nodes "A" and "A" have the same id "1"
    E n8n/structure A /nodes/1/name | another node is named "A" too; names are unique
    "#);
}

#[test]
fn types_and_versions_are_those_of_the_catalog() {
    let mut off = node("Off", "n8n-nodes-base.slack", 9.0, json!({}));
    off["disabled"] = json!(true);
    let document = chain(vec![
        hook(json!({"path": "x"})),
        node("A", "n8n-nodes-base.googleSheet", 1.0, json!({})),
        node("B", "n8n-nodes-base.slack", 2.9, json!({})),
        off,
    ]);
    insta::assert_snapshot!(lines(document), @r#"
    E n8n/unknown-type A /nodes/1/type | the node type "n8n-nodes-base.googleSheet" is not known; similar: n8n-nodes-base.googleSheets, n8n-nodes-base.googleSheetsTrigger, n8n-nodes-base.dataTable
    E n8n/unknown-version B /nodes/2/typeVersion | n8n-nodes-base.slack has no version 2.9; it has 1, 2, 2.1, 2.2, 2.3, 2.4, 2.5, 2.6, 2.7 [use version 2.7]
    E n8n/unknown-version Off /nodes/3/typeVersion | n8n-nodes-base.slack has no version 9.0; it has 1, 2, 2.1, 2.2, 2.3, 2.4, 2.5, 2.6, 2.7 [use version 2.7]
    "#);
}

#[test]
fn parameters_are_judged_as_n8n_does() {
    let document = chain(vec![
        hook(json!({})),
        node(
            "Page",
            "n8n-nodes-base.notion",
            2.2,
            json!({"resource": "databasePage", "operation": "create", "databaseId": {"__rl": true, "mode": "url", "value": "https://example.com"}}),
        ),
        node(
            "Call",
            "n8n-nodes-base.httpRequest",
            4.2,
            json!({"url": ""}),
        ),
    ]);
    insta::assert_snapshot!(lines(document), @r#"
    W n8n/credential Page /nodes/1/credentials/notionApi | still to connect: Notion API
    E n8n/parameter Page /nodes/1/parameters/databaseId | "Database" (databaseId): "https://example.com" is no valid value by "Link"
    E n8n/parameter Call /nodes/2/parameters/url | "URL" (url) is required and empty; set it
    "#);
}

#[test]
fn what_n8n_itself_trips_over_is_one_finding_of_the_node() {
    let sheet = |columns: Value| {
        let document = json!({"__rl": true, "mode": "id", "value": "1"});
        node(
            "Sheet",
            "n8n-nodes-base.googleSheets",
            4.5,
            json!({"operation": "append", "documentId": document, "sheetName": {"__rl": true, "mode": "name", "value": "A"}, "columns": columns}),
        )
    };
    let nested = json!({"formTitle": "A", "formFields": {"values": [{"fieldLabel": "Name"}, {"fieldLabel": ""}]}});
    let document = chain(vec![
        node("Form", "n8n-nodes-base.formTrigger", 2.2, nested),
        sheet(
            json!({"mappingMode": "defineBelow", "value": {"a": "x", "b": "five"}, "schema": [{"id": "a", "type": "string"}, {"id": "b", "type": "number"}]}),
        ),
        node(
            "If",
            "n8n-nodes-base.if",
            2.2,
            json!({"conditions": {"combinator": "and", "conditions": "x"}}),
        ),
        node(
            "Model",
            "@n8n/n8n-nodes-langchain.lmChatOpenAi",
            1.2,
            json!({"model": null}),
        ),
        node(
            "Set",
            "n8n-nodes-base.set",
            1.0,
            json!({"values": {"string": 1}}),
        ),
    ]);
    let text = lines(document);
    let parameters: Vec<&str> = text
        .lines()
        .filter(|l| l.contains(" n8n/parameter "))
        .collect();
    insta::assert_snapshot!(parameters.join("\n"), @r#"
    E n8n/parameter Form /nodes/0/parameters/fieldLabel at /nodes/0/parameters/formFields/values/1/fieldLabel | "Field Name" (fieldLabel) is required and empty; set it
    E n8n/parameter Sheet /nodes/1/parameters/columns.b at /nodes/1/parameters/columns/value/b | the field "b" expects a number, not "five"
    E n8n/parameter Sheet /nodes/1/parameters/documentId | "Document" (documentId): "1" is no valid value by "By ID"
    E n8n/parameter If /nodes/2/parameters/ | n8n's own check fails on the value at /parameters/conditions/conditions; set a value there or remove it
    E n8n/parameter Model /nodes/3/parameters/ | n8n's own check fails on the value at /parameters/model; set a value there or remove it
    E n8n/parameter Set /nodes/4/parameters/ | n8n cannot read the parameters: the list `values.string` holds something that is not a list; give it an array
    "#);
}

#[test]
fn expressions_are_read_with_their_references() {
    let set = |name: &str, value: &str| {
        node(
            name,
            "n8n-nodes-base.set",
            3.4,
            json!({"assignments": {"assignments": [{"id": "1", "name": "a", "type": "string", "value": value}]}}),
        )
    };
    let document = chain(vec![
        hook(json!({"path": "x"})),
        set(
            "Known",
            "={{ $('Hook').item.json.a }} {{ $node[\"Hook\"].json.b }}",
        ),
        set("Unknown", "={{ $('Hok').item.json.a }}"),
        set("Later", "={{ $('Last').item.json.a }}"),
        set("Plain", "Hello {{ $json.name }}"),
        set("Open", "={{ $json.a }"),
        set("Ai", "={{ $fromAI('a', 'b') }}"),
        node(
            "Code",
            "n8n-nodes-base.code",
            2.0,
            json!({"jsCode": "// $('Comment')\nreturn $('Gone').all();"}),
        ),
        set("Last", "plain {{ name }} and $('Hok') as text"),
    ]);
    insta::assert_snapshot!(lines(document), @r#"
    W agentctl/field-not-there Known /nodes/1/parameters/assignments/assignments/0/value | reads $json.a, which the item from "Hook" cannot have: what was sent is at $json.body.a
    W agentctl/field-not-there Known /nodes/1/parameters/assignments/assignments/0/value | reads $json.b, which the item from "Hook" cannot have: what was sent is at $json.body.b
    E agentctl/unknown-reference Unknown /nodes/2/parameters/assignments/assignments/0/value | refers to the node "Hok", which does not exist; did you mean "Hook"? [refer to "Hook"]
    E agentctl/reference-not-upstream Later /nodes/3/parameters/assignments/assignments/0/value | refers to "Last", which runs only after this node
    E agentctl/missing-expression-prefix Plain /nodes/4/parameters/assignments/assignments/0/value | holds {{ $json.name }} but does not start with "=", so n8n takes it as plain text [put "=" in front]
    E agentctl/unbalanced-expression Open /nodes/5/parameters/assignments/assignments/0/value | an expression starts with {{ and has no closing }}, so the rest of the text is code, which does not parse: Unexpected token (line 1, column 10, near "$json.a }")
    E agentctl/fromai-outside-tool Ai /nodes/6/parameters/assignments/assignments/0/value | $fromAI is filled in by an agent that calls the node as a tool; no agent calls this node, so the value stays empty
    E agentctl/unknown-reference Code /nodes/7/parameters/jsCode | refers to the node "Gone", which does not exist
    "#);
}

#[test]
fn connections_fit_the_ports() {
    let mut document = chain(vec![
        hook(json!({"path": "x"})),
        node("If", "n8n-nodes-base.if", 2.2, json!({})),
        node(
            "Agent",
            "@n8n/n8n-nodes-langchain.agent",
            2.0,
            json!({"promptType": "define", "text": "={{ $json.a }}"}),
        ),
        node(
            "Model",
            "@n8n/n8n-nodes-langchain.lmChatOpenAi",
            1.2,
            json!({"model": {"__rl": true, "mode": "list", "value": "gpt-4o"}}),
        ),
        node(
            "Parser",
            "@n8n/n8n-nodes-langchain.outputParserStructured",
            1.2,
            json!({}),
        ),
        node(
            "Memory",
            "@n8n/n8n-nodes-langchain.memoryBufferWindow",
            1.3,
            json!({}),
        ),
        node("Alone", "n8n-nodes-base.noOp", 1.0, json!({})),
    ]);
    let link = |to: &str, kind: &str, index: u32| json!({"node": to, "type": kind, "index": index});
    document["connections"] = json!({
        "Hook": {"main": [[link("If", "main", 1)], [link("If", "main", 0)]], "error": [[link("If", "main", 0)]]},
        "If": {"main": [[link("Agent", "main", 0)], [link("Model", "main", 0)], [link("Hook", "main", 0)]]},
        "Agent": {"ai_languageModel": [[link("Model", "ai_languageModel", 0)]]},
        "Parser": {"ai_outputParser": [[link("Agent", "ai_outputParser", 0)]]}
    });
    insta::assert_snapshot!(lines(document), @r#"
    E agentctl/invalid-connection-type Hook /connections/Hook/error/0/0 | "error" is no connection type of n8n; failed items leave by the last main output when the node's onError is "continueErrorOutput"
    E agentctl/connection-index-out-of-range Hook /connections/Hook/main/0/0 | there is no input 1; its only index is 0
    E agentctl/connection-index-out-of-range Hook /connections/Hook/main/1/0 | there is no output 1; its only index is 0
    E agentctl/invalid-connection-type If /connections/If/main/1/0 | "Model" has no main input (its inputs: none)
    E agentctl/connection-index-out-of-range If /connections/If/main/2/0 | there is no output 2; indexes are 0 to 1
    E agentctl/invalid-connection-type If /connections/If/main/2/0 | "Hook" has no main input (its inputs: none)
    E agentctl/invalid-connection-type Agent /connections/Agent/ai_languageModel/0/0 | "Agent" has no ai_languageModel output (its outputs: main); connect it the other way round: the sub-node is the source
    W agentctl/input-switched-off Agent /connections/Parser/ai_outputParser/0/0 | "Agent" takes no ai_outputParser while its parameter "hasOutputParser" is off, so the connection does nothing [turn hasOutputParser on]
    E agentctl/missing-ai-input Agent /nodes/2 | needs a node connected to its input "Chat Model" (ai_languageModel)
    W n8n/credential Model /nodes/3/credentials/openAiApi | still to connect: OpenAI
    W agentctl/subnode-not-connected Memory /nodes/5 | serves other nodes but is connected to none; connect it to the node that uses it, or remove it
    W agentctl/unreachable-node Alone /nodes/6 | no trigger leads to this node, so it never runs
    "#);
}

#[test]
fn values_keys_and_contents_are_looked_at() {
    let key = format!("sk-proj-{}", "aB3".repeat(12));
    let document = chain(vec![
        hook(
            json!({"path": "x", "responseMode": "responseNode", "onError": "continueRegularOutput", "pth": 1}),
        ),
        node(
            "Post",
            "n8n-nodes-base.slack",
            2.3,
            json!({"resource": "mesage", "operation": "post"}),
        ),
        node(
            "Call",
            "n8n-nodes-base.httpRequest",
            4.2,
            json!({"url": "https://example.com", "method": "POST", "sendBody": true, "specifyBody": "json", "jsonBody": "{\"a\": 1,}",
            "sendHeaders": true, "headerParameters": {"parameters": [{"name": "Authorization", "value": format!("Bearer {key}")}, {"name": "X-API-Key", "value": "0f8fad5bd9cb469fa16570867728950e"}]}}),
        ),
        node(
            "Fine",
            "n8n-nodes-base.httpRequest",
            4.2,
            json!({"url": "https://example.com", "method": "POST", "sendBody": true, "specifyBody": "json", "jsonBody": "={ \"a\": \"{{ $json.a }}\", \"b\": {{ $json.b }} }",
            "sendHeaders": true, "headerParameters": {"parameters": [{"name": "Authorization", "value": "Bearer YOUR_TOKEN_GOES_HERE"}]}}),
        ),
    ]);
    let text = lines(document);
    assert!(!text.contains(&key));
    insta::assert_snapshot!(text, @r#"
    W agentctl/node-setting-inside-parameters Hook /nodes/0/parameters/onError | "onError" is a setting of the node, not a parameter; here n8n ignores it [move it beside the parameters]
    W agentctl/unknown-parameter-key Hook /nodes/0/parameters/pth | no parameter is named "pth"; n8n ignores it; did you mean "path"?
    E agentctl/respond-node-missing Hook /nodes/0/parameters/responseMode | answers by a "Respond to Webhook" node, but none is behind it; add one or set responseMode to "onReceived" or "lastNode" [answer with the last node's data]
    W n8n/credential Post /nodes/1/credentials/slackApi | still to connect: Slack API
    E agentctl/option-value Post /nodes/1/parameters/resource | "mesage" is no choice for "resource"; choices are "channel", "file", "message", "reaction", "star", "user", "userGroup" [use "message"]
    W agentctl/hardcoded-secret Call /nodes/2/parameters/headerParameters/parameters/0/value | holds what looks like a real key; keep it in a credential of n8n and revoke this one
    W agentctl/hardcoded-secret Call /nodes/2/parameters/headerParameters/parameters/1/value | holds a fixed value where a secret belongs; keep it in a credential of n8n
    E agentctl/json-body-invalid Call /nodes/2/parameters/jsonBody | is no valid JSON: trailing comma at line 1 column 9
    "#);
}

#[test]
fn a_function_item_node_has_no_mode_to_be_told_of() {
    let code = node(
        "F",
        "n8n-nodes-base.functionItem",
        1.0,
        json!({"functionCode": "return [{json: {a: 1}}];"}),
    );
    let told = lines(chain(vec![hook(json!({})), code]));
    assert!(
        told.contains("a Function Item node takes one item") && !told.contains("mode"),
        "{told}"
    );
}

#[test]
fn without_a_trigger_nothing_starts() {
    insta::assert_snapshot!(lines(chain(vec![node("A", "n8n-nodes-base.noOp", 1.0, json!({}))])), @"E n8n/no-trigger  /nodes | no enabled node can start the workflow; add a trigger such as a schedule or a webhook");
    insta::assert_snapshot!(lines(chain(vec![node("Click", "n8n-nodes-base.manualTrigger", 1.0, json!({}))])), @"W n8n/no-trigger  /nodes | the workflow starts by hand only; n8n publishes it once it has a trigger such as a schedule or a webhook");
}

/// It is an error by itself, whatever the type's own ways, and no second one that the workflow has no trigger.
#[test]
fn a_version_that_the_n8n_lacks_is_one_error() {
    let schedule = node("Daily", "n8n-nodes-base.scheduleTrigger", 1.9, json!({}));
    insta::assert_snapshot!(lines(chain(vec![schedule])), @"E n8n/unknown-version Daily /nodes/0/typeVersion | n8n-nodes-base.scheduleTrigger has no version 1.9; it has 1, 1.1, 1.2, 1.3, 1.4 [use version 1.4]");
}

#[test]
fn ids_survive_unrelated_changes() {
    let broken = || {
        node(
            "Call",
            "n8n-nodes-base.httpRequest",
            4.2,
            json!({"url": "", "method": "{{ $json.m }}"}),
        )
    };
    let first = judged(chain(vec![hook(json!({"path": "x"})), broken()]));
    let later = judged(chain(vec![
        hook(json!({"path": "y"})),
        node("New", "n8n-nodes-base.noOp", 1.0, json!({})),
        broken(),
    ]));
    let ids = |findings: &[Finding]| findings.iter().map(|f| f.id.clone()).collect::<Vec<_>>();
    assert!(!first.is_empty());
    assert_eq!(ids(&first), ids(&later));
    let unique: std::collections::HashSet<String> = ids(&first).into_iter().collect();
    assert_eq!(unique.len(), first.len());
}

#[test]
fn sure_fixes_remove_their_finding() {
    let document = chain(vec![
        hook(json!({"path": "x", "onError": "continueRegularOutput"})),
        node(
            "Call",
            "n8n-nodes-base.httpRequest",
            4.2,
            json!({"url": "https://example.com/{{ $json.id }}", "sendQuery": true, "queryParameters": {"parameters": [{"name": "a", "value": "{{ $json.a }}"}]}}),
        ),
    ]);
    let sure = |findings: &[Finding]| -> Vec<crate::EditOp> {
        let fixes = findings.iter().filter_map(|f| f.fix.clone());
        fixes
            .filter(|fix| fix.confidence == Confidence::Sure)
            .flat_map(|fix| fix.ops)
            .collect()
    };
    let workflow = Workflow::from_value(document).unwrap();
    let ops = sure(&validate(&workflow, Catalog::embedded()));
    assert_eq!(ops.len(), 4);
    let fixed = apply(&workflow, &ops, &mut || "x".to_owned()).unwrap();
    assert_eq!(validate(&fixed, Catalog::embedded()), []);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        prop::sample::select(vec![
            "",
            "=",
            "={{ $('A",
            "main",
            "A",
            "n8n-nodes-base.if",
            "n8n-nodes-base.slack"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        let key = prop::sample::select(vec![
            "nodes",
            "connections",
            "name",
            "type",
            "typeVersion",
            "position",
            "parameters",
            "credentials",
            "main",
            "A",
            "node",
            "index",
            "id",
            "conditions",
            "value",
            "mode",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..5).prop_map(|pairs| pairs
                .into_iter()
                .map(|(k, v)| (k.to_owned(), v))
                .collect::<Value>()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn no_document_panics(nodes in prop::collection::vec(any_json(), 0..4), connections in any_json(), whole in any_json()) {
        judged(whole);
        judged(json!({"nodes": nodes, "connections": connections}));
    }

    #[test]
    fn no_parameters_panic(node_type in prop::sample::select(Catalog::embedded().types().collect::<Vec<_>>()), parameters in any_json()) {
        let mut bare = node("A", node_type, 1.0, json!({}));
        bare.as_object_mut().unwrap().remove("typeVersion");
        bare["parameters"] = parameters;
        judged(chain(vec![bare]));
    }

    #[test]
    fn a_verdict_does_not_depend_on_the_order_of_keys(workflow in arbitrary::workflow(5)) {
        let mut turned = workflow.clone();
        turned.connections.reverse();
        let mut verdicts: Vec<Vec<String>> = [workflow, turned]
            .iter()
            .map(|w| validate(w, Catalog::embedded()).into_iter().map(|f| f.id).collect())
            .collect();
        verdicts.iter_mut().for_each(|v| v.sort());
        prop_assert_eq!(&verdicts[0], &verdicts[1]);
    }
}
