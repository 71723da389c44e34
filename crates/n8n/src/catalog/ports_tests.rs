//! Ports that depend on parameters, against what n8n computes for the same parameters.

use serde_json::{Map, Value, json};

use super::*;

fn node(node_type: &str, version: f64) -> std::sync::Arc<NodeDescription> {
    Catalog::embedded()
        .lookup(node_type, Some(version))
        .known()
        .unwrap_or_else(|| panic!("{node_type} {version}"))
}

/// `kind:label`, `*` for required, `/1` for a limit.
fn told(ports: &[Port]) -> Vec<String> {
    ports
        .iter()
        .map(|p| {
            let label = p
                .label
                .as_deref()
                .map(|l| format!(":{l}"))
                .unwrap_or_default();
            let mark = if p.required { "*" } else { "" };
            let max = p.max.map(|m| format!("/{m}")).unwrap_or_default();
            format!("{}{label}{mark}{max}", p.kind)
        })
        .collect()
}

fn inputs(node_type: &str, version: f64, params: Value) -> Vec<String> {
    let params = params.as_object().cloned().unwrap_or_default();
    told(&node(node_type, version).inputs_for(&params))
}

fn outputs(node_type: &str, version: f64, params: Value) -> Vec<String> {
    let params = params.as_object().cloned().unwrap_or_default();
    told(&node(node_type, version).outputs_for(&params, &Map::new()))
}

#[test]
fn merge_has_as_many_inputs_as_asked_for() {
    let merge = "n8n-nodes-base.merge";
    assert_eq!(
        inputs(merge, 3.2, json!({})),
        ["main:Input 1", "main:Input 2"]
    );
    assert_eq!(
        inputs(merge, 3.2, json!({"mode": "append", "numberInputs": 3})),
        ["main:Input 1", "main:Input 2", "main:Input 3"]
    );
    // n8n drops a parameter that the mode does not show.
    assert_eq!(
        inputs(merge, 3.2, json!({"mode": "combine", "numberInputs": 3})).len(),
        2
    );
    assert_eq!(inputs(merge, 2.1, json!({"numberInputs": 3})).len(), 2);
}

#[test]
fn switch_has_an_output_per_rule() {
    let switch = "n8n-nodes-base.switch";
    let rules = json!({"values": [{"outputKey": "big", "renameOutput": true}, {}]});
    assert_eq!(
        outputs(switch, 3.4, json!({"rules": rules})),
        ["main:big", "main:1"]
    );
    assert_eq!(
        outputs(
            switch,
            3.4,
            json!({"rules": rules, "options": {"fallbackOutput": "extra"}})
        ),
        ["main:big", "main:1", "main:Fallback"]
    );
    assert_eq!(
        outputs(
            switch,
            3.4,
            json!({"rules": rules, "options": {"fallbackOutput": "extra", "renameFallbackOutput": "rest"}})
        ),
        ["main:big", "main:1", "main:rest"]
    );
    assert_eq!(
        outputs(
            switch,
            3.4,
            json!({"mode": "expression", "numberOutputs": 3})
        ),
        ["main:0", "main:1", "main:2"]
    );
    assert_eq!(outputs(switch, 1.0, json!({})).len(), 4);
    assert_eq!(
        outputs(
            switch,
            2.0,
            json!({"mode": "expression", "outputsAmount": 2})
        )
        .len(),
        2
    );
}

#[test]
fn an_error_output_is_added_and_the_only_output_renamed() {
    let on_error = json!({"onError": "continueErrorOutput"});
    let on_error = on_error.as_object().expect("object");
    let of = |node_type: &str, version: f64| {
        told(&node(node_type, version).outputs_for(&Map::new(), on_error))
    };
    assert_eq!(
        of("n8n-nodes-base.slack", 2.3),
        ["main:Success", "main:Error"]
    );
    assert_eq!(
        of("n8n-nodes-base.if", 2.2),
        ["main:true", "main:false", "main:Error"]
    );
}

#[test]
fn fixed_ports_carry_their_names() {
    assert_eq!(
        inputs("n8n-nodes-base.compareDatasets", 2.3, json!({})),
        ["main:Input A", "main:Input B"]
    );
    assert_eq!(
        outputs("n8n-nodes-base.compareDatasets", 2.3, json!({})),
        [
            "main:In A only",
            "main:Same",
            "main:Different",
            "main:In B only"
        ]
    );
    assert_eq!(
        outputs("n8n-nodes-base.splitInBatches", 3.0, json!({})),
        ["main:done", "main:loop"]
    );
    assert_eq!(
        outputs("n8n-nodes-base.splitInBatches", 2.0, json!({})),
        ["main:loop", "main:done"]
    );
}

#[test]
fn agents_take_models_memory_tools_and_parsers() {
    let agent = "@n8n/n8n-nodes-langchain.agent";
    assert_eq!(
        inputs(agent, 3.1, json!({})),
        [
            "main",
            "ai_languageModel:Chat Model*/1",
            "ai_memory:Memory/1",
            "ai_tool:Tool"
        ]
    );
    assert_eq!(
        inputs(
            agent,
            2.2,
            json!({"hasOutputParser": true, "needsFallback": true})
        ),
        [
            "main",
            "ai_languageModel:Chat Model*/1",
            "ai_languageModel:Fallback Model*/1",
            "ai_memory:Memory/1",
            "ai_tool:Tool",
            "ai_outputParser:Output Parser/1"
        ]
    );
    assert_eq!(
        inputs(agent, 1.6, json!({"agent": "sqlAgent"})),
        ["main", "ai_languageModel:Model*/1", "ai_memory:Memory/1"]
    );
    assert_eq!(
        inputs(
            agent,
            1.6,
            json!({"agent": "reActAgent", "hasOutputParser": true})
        ),
        [
            "main",
            "ai_languageModel:Model*/1",
            "ai_tool:Tool",
            "ai_outputParser:Output Parser/1"
        ]
    );
    assert_eq!(
        inputs("@n8n/n8n-nodes-langchain.agentTool", 3.0, json!({})),
        [
            "ai_languageModel:Chat Model*/1",
            "ai_memory:Memory/1",
            "ai_tool:Tool"
        ]
    );
    let (chat, nothing) = (node(agent, 3.1), Map::new());
    let chat = chat.inputs_for(&nothing);
    assert!(
        chat[1]
            .except
            .contains(&"@n8n/n8n-nodes-langchain.lmOllama".to_owned())
    );
}

#[test]
fn vector_stores_change_with_their_mode() {
    let store = "@n8n/n8n-nodes-langchain.vectorStorePinecone";
    let embedding = "ai_embedding:Embedding*/1";
    assert_eq!(
        inputs(store, 1.3, json!({"mode": "insert"})),
        [embedding, "main", "ai_document:Document*/1"]
    );
    assert_eq!(
        inputs(store, 1.3, json!({"mode": "load"})),
        [embedding, "main"]
    );
    assert_eq!(
        inputs(
            store,
            1.3,
            json!({"mode": "retrieve-as-tool", "useReranker": true})
        ),
        [embedding, "ai_reranker:Reranker*/1"]
    );
    assert_eq!(
        outputs(store, 1.3, json!({"mode": "retrieve-as-tool"})),
        ["ai_tool:Tool"]
    );
    assert_eq!(
        outputs(store, 1.3, json!({"mode": "retrieve"})),
        ["ai_vectorStore:Vector Store"]
    );
    assert_eq!(outputs(store, 1.3, json!({"mode": "insert"})), ["main"]);
    assert_eq!(
        outputs(store, 1.3, json!({})),
        ["ai_vectorStore:Vector Store"]
    );
}

#[test]
fn classifiers_have_an_output_per_category() {
    let classifier = "@n8n/n8n-nodes-langchain.textClassifier";
    let categories = json!({"categories": [{"category": "bug"}, {"category": "wish"}]});
    assert_eq!(
        outputs(
            classifier,
            1.1,
            json!({"categories": categories, "options": {"fallback": "other"}})
        ),
        ["main:bug", "main:wish", "main:Other"]
    );
    assert_eq!(
        outputs("@n8n/n8n-nodes-langchain.sentimentAnalysis", 1.1, json!({})),
        ["main:Positive", "main:Neutral", "main:Negative"]
    );
    assert_eq!(
        outputs(
            "@n8n/n8n-nodes-langchain.sentimentAnalysis",
            1.1,
            json!({"options": {"categories": "good, bad"}})
        ),
        ["main:good", "main:bad"]
    );
}

#[test]
fn chains_and_parsers() {
    let lc = |name: &str| format!("@n8n/n8n-nodes-langchain.{name}");
    assert_eq!(
        inputs(&lc("chainLlm"), 1.7, json!({})),
        ["main", "ai_languageModel:Model*/1"]
    );
    assert_eq!(
        inputs(&lc("chainLlm"), 1.7, json!({"hasOutputParser": true})),
        [
            "main",
            "ai_languageModel:Model*/1",
            "ai_outputParser:Output Parser/1"
        ]
    );
    assert_eq!(
        inputs(
            &lc("chainSummarization"),
            2.1,
            json!({"operationMode": "documentLoader"})
        ),
        [
            "main",
            "ai_languageModel:Model*/1",
            "ai_document:Document*/1"
        ]
    );
    assert_eq!(
        inputs(
            &lc("chainSummarization"),
            2.1,
            json!({"chunkingMode": "advanced"})
        ),
        [
            "main",
            "ai_languageModel:Model*/1",
            "ai_textSplitter:Text Splitter/1"
        ]
    );
    assert!(inputs(&lc("outputParserStructured"), 1.3, json!({})).is_empty());
    assert_eq!(
        inputs(&lc("outputParserStructured"), 1.3, json!({"autoFix": true})),
        ["ai_languageModel:Model*/1"]
    );
    assert_eq!(
        inputs(&lc("documentDefaultDataLoader"), 1.0, json!({})),
        ["ai_textSplitter:Text Splitter*/1"]
    );
    assert!(
        inputs(
            &lc("documentDefaultDataLoader"),
            1.1,
            json!({"textSplittingMode": "simple"})
        )
        .is_empty()
    );
    assert_eq!(
        inputs(
            &lc("openAi"),
            1.8,
            json!({"resource": "assistant", "operation": "message"})
        ),
        ["main", "ai_tool:Tools", "ai_memory:Memory/1"]
    );
    assert_eq!(
        inputs(&lc("openAi"), 2.1, json!({"resource": "image"})),
        ["main"]
    );
    assert_eq!(
        inputs(&lc("modelSelector"), 1.0, json!({"numberInputs": 3}))
            .last()
            .map(String::as_str),
        Some("ai_languageModel:Model 3*/1")
    );
    assert_eq!(
        outputs(&lc("guardrails"), 2.0, json!({"operation": "classify"})),
        ["main:Pass", "main:Fail"]
    );
    assert_eq!(
        outputs(&lc("guardrails"), 2.0, json!({"operation": "sanitize"})),
        ["main"]
    );
    for (check, expected) in [("jailbreak", 2), ("keywords", 1)] {
        let params = json!({"guardrails": {check: {"value": {}}}});
        let found = inputs(&lc("guardrails"), 2.0, params);
        assert_eq!(found.len(), expected, "{check}");
    }
    assert_eq!(
        inputs(
            &lc("chatTrigger"),
            1.3,
            json!({"public": true, "mode": "hostedChat", "options": {"loadPreviousSession": "memory"}})
        ),
        ["ai_memory:Memory*/1"]
    );
    assert_eq!(
        inputs(
            &lc("code"),
            1.0,
            json!({"inputs": {"input": [{"type": "main"}, {"type": "ai_tool", "required": true, "maxConnections": 2}]}})
        ),
        ["main", "ai_tool:Tool*/2"]
    );
}

#[test]
fn webhooks_and_responses() {
    assert_eq!(
        outputs("n8n-nodes-base.webhook", 2.1, json!({"httpMethod": "POST"})),
        ["main:POST"]
    );
    assert_eq!(
        outputs(
            "n8n-nodes-base.webhook",
            2.1,
            json!({"multipleMethods": true, "httpMethod": ["GET", "PUT"]})
        ),
        ["main:GET", "main:PUT"]
    );
    let respond = "n8n-nodes-base.respondToWebhook";
    assert_eq!(outputs(respond, 1.1, json!({})), ["main"]);
    assert_eq!(
        outputs(respond, 1.3, json!({})),
        ["main:Input Data", "main:Response"]
    );
    assert_eq!(outputs(respond, 1.5, json!({})), ["main"]);
    assert_eq!(
        outputs(respond, 1.5, json!({"enableResponseOutput": true})).len(),
        2
    );
    assert_eq!(
        outputs(
            "n8n-nodes-base.evaluation",
            4.8,
            json!({"operation": "checkIfEvaluating"})
        ),
        ["main:Evaluation", "main:Normal"]
    );
}
