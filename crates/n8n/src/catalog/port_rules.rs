//! The rules by which ports follow from parameters, one for each kind of node. Pure; expects defaults filled in.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde_json::Value;

use super::description::{Port, PortRule};
use super::ports::LC;
use super::values::View;

/// Completion models cannot hold a chat. The third name is spelled as n8n spells it.
const NOT_CHAT: [&str; 4] = [
    "@n8n/n8n-nodes-langchain.lmCohere",
    "@n8n/n8n-nodes-langchain.lmOllama",
    "n8n/n8n-nodes-langchain.lmOpenAi",
    "@n8n/n8n-nodes-langchain.lmOpenHuggingFaceInference",
];
const CONVERSATIONAL_MODELS: [&str; 17] = [
    "lmChatAnthropic",
    "lmChatAwsBedrock",
    "lmChatGroq",
    "lmChatLemonade",
    "lmChatOllama",
    "lmChatOpenAi",
    "lmChatGoogleGemini",
    "lmChatGoogleVertex",
    "lmChatMistralCloud",
    "lmChatMinimax",
    "lmChatMoonshot",
    "lmChatAzureOpenAi",
    "lmChatDeepSeek",
    "lmChatOpenRouter",
    "lmChatVercelAiGateway",
    "lmChatXAiGrok",
    "modelSelector",
];
const TOOL_MODELS: [&str; 16] = [
    "lmChatAnthropic",
    "lmChatAzureOpenAi",
    "lmChatAwsBedrock",
    "lmChatLemonade",
    "lmChatMistralCloud",
    "lmChatMinimax",
    "lmChatMoonshot",
    "lmChatOllama",
    "lmChatOpenAi",
    "lmChatGroq",
    "lmChatGoogleVertex",
    "lmChatGoogleGemini",
    "lmChatDeepSeek",
    "lmChatOpenRouter",
    "lmChatVercelAiGateway",
    "lmChatXAiGrok",
];

impl PortRule {
    /// The ports for a node with these parameters, defaults filled in.
    pub fn apply(self, params: View<'_>, version: f64) -> Vec<Port> {
        self.ports(&Params::new(params), version)
    }

    /// The paths below a node's parameters that its ports follow from, as they are now; a path stands for all that is below it.
    pub(super) fn reads(self, params: View<'_>, version: f64) -> BTreeSet<&'static str> {
        let p = Params::new(params);
        self.ports(&p, version);
        p.read.into_inner()
    }

    fn ports(self, p: &Params<'_>, version: f64) -> Vec<Port> {
        match self {
            PortRule::NumberedMain => numbered(p.count("numberInputs").unwrap_or(2))
                .map(|i| Port::labelled("main", format!("Input {}", i + 1)))
                .collect(),
            PortRule::NumberedModels => numbered(p.count("numberInputs").unwrap_or(2))
                .map(|i| {
                    Port::labelled("ai_languageModel", format!("Model {}", i + 1))
                        .required()
                        .one()
                })
                .collect(),
            PortRule::SwitchRules => switch(p),
            PortRule::SwitchRulesOld => switch_old(p),
            PortRule::WebhookMethods => match p.get("httpMethod") {
                Some(Value::Array(list)) => list
                    .iter()
                    .map(|m| Port::labelled("main", m.as_str().unwrap_or_default()))
                    .collect(),
                method => vec![Port::labelled(
                    "main",
                    method.and_then(Value::as_str).unwrap_or_default(),
                )],
            },
            PortRule::RespondOutputs => {
                if version == 1.3 || (version >= 1.4 && p.truthy("enableResponseOutput")) {
                    vec![
                        Port::labelled("main", "Input Data"),
                        Port::labelled("main", "Response"),
                    ]
                } else {
                    vec![Port::main()]
                }
            }
            PortRule::EvaluationInputs => {
                let mut ports = vec![Port::main()];
                if p.is("operation", "setMetrics")
                    && p.one_of("metric", &["correctness", "helpfulness"])
                {
                    ports.push(Port::labelled("ai_languageModel", "Model").one());
                }
                ports
            }
            PortRule::EvaluationOutputs => {
                if p.is("operation", "checkIfEvaluating") {
                    vec![
                        Port::labelled("main", "Evaluation"),
                        Port::labelled("main", "Normal"),
                    ]
                } else {
                    vec![Port::main()]
                }
            }
            PortRule::MessageTools => {
                let mut ports = vec![Port::main()];
                if p.is("resource", "text") && p.is("operation", "message") {
                    ports.push(Port::labelled("ai_tool", "Tools"));
                }
                ports
            }
            PortRule::OpenAiInputs => openai(p),
            PortRule::AgentByKind => agent_by_kind(p),
            PortRule::Agent => agent(p, true),
            PortRule::AgentWithoutMain => agent(p, false),
            PortRule::SummarizationInputs => {
                let mut ports = vec![Port::main(), model("Model")];
                if p.is("operationMode", "documentLoader") {
                    ports.push(Port::labelled("ai_document", "Document").required().one());
                } else if p.is("chunkingMode", "advanced") {
                    ports.push(Port::labelled("ai_textSplitter", "Text Splitter").one());
                }
                ports
            }
            PortRule::ChainInputs => {
                let mut ports = vec![Port::main(), model("Model")];
                if p.get("needsFallback") == Some(&Value::Bool(true)) {
                    ports.push(model("Fallback Model"));
                }
                if p.absent_or_true("hasOutputParser") {
                    ports.push(Port::labelled("ai_outputParser", "Output Parser").one());
                }
                ports
            }
            PortRule::SentimentOutputs => p
                .get("options.categories")
                .and_then(Value::as_str)
                .unwrap_or("Positive, Neutral, Negative")
                .split(',')
                .map(|name| Port::labelled("main", name.trim()))
                .collect(),
            PortRule::CategoryOutputs => {
                let mut ports: Vec<Port> = p
                    .list("categories.categories")
                    .map(|c| Port::labelled("main", text_of(c.get("category"))))
                    .collect();
                if p.is("options.fallback", "other") {
                    ports.push(Port::labelled("main", "Other"));
                }
                ports
            }
            PortRule::DeclaredInputs => declared(p, "inputs.input", true),
            PortRule::DeclaredOutputs => declared(p, "outputs.output", false),
            PortRule::TextSplitter => {
                let mode = p.get("textSplittingMode");
                if mode.is_none_or(|m| !truthy(m) || m.as_str() == Some("custom")) {
                    vec![
                        Port::labelled("ai_textSplitter", "Text Splitter")
                            .required()
                            .one(),
                    ]
                } else {
                    Vec::new()
                }
            }
            PortRule::AutoFixModel => {
                if p.truthy("autoFix") {
                    vec![model("Model")]
                } else {
                    Vec::new()
                }
            }
            PortRule::ChatTriggerMemory => {
                if p.one_of("mode", &["hostedChat", "webhook"])
                    && p.is("options.loadPreviousSession", "memory")
                {
                    vec![Port::labelled("ai_memory", "Memory").required().one()]
                } else {
                    Vec::new()
                }
            }
            PortRule::ChatMemory => {
                let mut ports = vec![Port::main()];
                if p.truthy("options.memoryConnection") {
                    ports.push(Port::labelled("ai_memory", "Memory").one());
                }
                ports
            }
            PortRule::VectorStoreInputs => vector_store_inputs(p),
            PortRule::VectorStoreOutputs => match p.text("mode").unwrap_or("retrieve") {
                "retrieve-as-tool" => vec![Port::labelled("ai_tool", "Tool")],
                "retrieve" => vec![Port::labelled("ai_vectorStore", "Vector Store")],
                _ => vec![Port::main()],
            },
            PortRule::GuardrailInputs => {
                let checks = p.get("guardrails").and_then(Value::as_object);
                let judged = ["nsfw", "topicalAlignment", "custom", "jailbreak"];
                let needs_model = checks.is_some_and(|c| judged.iter().any(|k| c.contains_key(*k)));
                guardrail_inputs(needs_model)
            }
            PortRule::GuardrailInputsOld => guardrail_inputs(!p.is("operation", "sanitize")),
            PortRule::GuardrailOutputs => {
                if p.text("operation").unwrap_or("classify") == "classify" {
                    vec![
                        Port::labelled("main", "Pass"),
                        Port::labelled("main", "Fail"),
                    ]
                } else {
                    vec![Port::main()]
                }
            }
        }
    }
}

/// A typo in a parameter must not make thousands of ports.
fn numbered(count: usize) -> std::ops::Range<usize> {
    0..count.min(1000)
}

fn model(label: &str) -> Port {
    Port::labelled("ai_languageModel", label).required().one()
}

fn chat_model(label: &str) -> Port {
    Port {
        except: NOT_CHAT.map(str::to_owned).to_vec(),
        ..model(label)
    }
}

fn guardrail_inputs(needs_model: bool) -> Vec<Port> {
    let mut ports = vec![Port::main()];
    if needs_model {
        ports.push(chat_model("Chat Model"));
    }
    ports
}

fn switch(p: &Params) -> Vec<Port> {
    if p.is("mode", "expression") {
        return outputs_by_number(p.count("numberOutputs"));
    }
    let mut ports: Vec<Port> = p
        .list("rules.values")
        .enumerate()
        .map(|(i, rule)| {
            let key = text_of(rule.get("outputKey"));
            let label = if key.is_empty() { i.to_string() } else { key };
            Port::labelled("main", label)
        })
        .collect();
    if p.is("options.fallbackOutput", "extra") {
        let name = p.text("options.renameFallbackOutput").unwrap_or_default();
        ports.push(Port::labelled(
            "main",
            if name.is_empty() { "Fallback" } else { name },
        ));
    }
    ports
}

fn switch_old(p: &Params) -> Vec<Port> {
    if p.is("mode", "expression") {
        return outputs_by_number(p.count("outputsAmount"));
    }
    p.list("rules.rules")
        .map(|rule| Port::labelled("main", text_of(rule.get("outputKey"))))
        .collect()
}

fn outputs_by_number(count: Option<usize>) -> Vec<Port> {
    numbered(count.unwrap_or(0))
        .map(|i| Port::labelled("main", i.to_string()))
        .collect()
}

fn openai(p: &Params) -> Vec<Port> {
    let mut ports = vec![Port::main()];
    let operation = p.text("operation").unwrap_or_default();
    match p.text("resource").unwrap_or_default() {
        "assistant" if operation == "message" => {
            ports.push(Port::labelled("ai_tool", "Tools"));
            if !p.is("memory", "threadId") {
                ports.push(Port::labelled("ai_memory", "Memory").one());
            }
        }
        "text" if ["message", "response"].contains(&operation) && !p.is("hideTools", "hide") => {
            ports.push(Port::labelled("ai_tool", "Tools"));
        }
        _ => {}
    }
    ports
}

fn agent(p: &Params, has_main: bool) -> Vec<Port> {
    let mut ports = Vec::new();
    if has_main {
        ports.push(Port::main());
    }
    ports.push(chat_model("Chat Model"));
    if p.get("needsFallback") == Some(&Value::Bool(true)) {
        ports.push(chat_model("Fallback Model"));
    }
    ports.push(Port::labelled("ai_memory", "Memory").one());
    ports.push(Port::labelled("ai_tool", "Tool"));
    if p.absent_or_true("hasOutputParser") {
        ports.push(Port::labelled("ai_outputParser", "Output Parser").one());
    }
    ports
}

fn agent_by_kind(p: &Params) -> Vec<Port> {
    let names = |list: &[&str]| list.iter().map(|n| format!("{LC}{n}")).collect();
    let memory = || Port::labelled("ai_memory", "Memory").one();
    let tool = || Port::labelled("ai_tool", "Tool");
    let parser = || Port::labelled("ai_outputParser", "Output Parser").one();
    let chat = |only: Vec<String>| Port {
        only,
        ..model("Chat Model")
    };
    let mut ports = vec![Port::main()];
    // Not n8n's `required: true` on tools: its mapping keeps the flag for models only.
    match p.text("agent").unwrap_or_default() {
        "conversationalAgent" => ports.extend([
            chat(names(&CONVERSATIONAL_MODELS)),
            memory(),
            tool(),
            parser(),
        ]),
        "toolsAgent" => ports.extend([chat(names(&TOOL_MODELS)), memory(), tool(), parser()]),
        "openAiFunctionsAgent" => ports.extend([
            chat(names(&["lmChatOpenAi", "lmChatAzureOpenAi"])),
            memory(),
            tool(),
            parser(),
        ]),
        "reActAgent" | "planAndExecuteAgent" => {
            ports.extend([model("Model"), tool(), parser()]);
        }
        "sqlAgent" => ports.extend([model("Model"), memory()]),
        _ => {}
    }
    if !p.absent_or_true("hasOutputParser") {
        ports.retain(|port| port.kind != "ai_outputParser");
    }
    ports
}

fn vector_store_inputs(p: &Params) -> Vec<Port> {
    let mode = p.text("mode").unwrap_or_default();
    let mut ports = vec![Port::labelled("ai_embedding", "Embedding").required().one()];
    if ["load", "retrieve", "retrieve-as-tool"].contains(&mode) && p.truthy("useReranker") {
        ports.push(Port::labelled("ai_reranker", "Reranker").required().one());
    }
    if ["insert", "load", "update"].contains(&mode) {
        ports.push(Port::main());
    }
    if mode == "insert" {
        ports.push(Port::labelled("ai_document", "Document").required().one());
    }
    ports
}

fn declared(p: &Params, path: &'static str, is_input: bool) -> Vec<Port> {
    p.list(path)
        .map(|value| {
            let kind = text_of(value.get("type"));
            let label = match kind.as_str() {
                "ai_chain" => Some("Chain"),
                "ai_document" => Some("Document"),
                "ai_embedding" => Some("Embedding"),
                "ai_languageModel" => Some("Language Model"),
                "ai_memory" => Some("Memory"),
                "ai_outputParser" => Some("Output Parser"),
                "ai_textSplitter" => Some("Text Splitter"),
                "ai_tool" => Some("Tool"),
                "ai_vectorStore" => Some("Vector Store"),
                _ => None,
            };
            Port {
                kind,
                label: label.map(str::to_owned),
                required: is_input && value.get("required") == Some(&Value::Bool(true)),
                max: value
                    .get("maxConnections")
                    .filter(|_| is_input)
                    .and_then(Value::as_u64)
                    .and_then(|n| u32::try_from(n).ok()),
                ..Port::default()
            }
        })
        .collect()
}

fn text_of(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(s)) => s.clone(),
        Some(Value::Number(n)) => n.to_string(),
        _ => String::new(),
    }
}

fn truthy(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Number(n) => n.as_f64() != Some(0.0),
        Value::String(s) => !s.is_empty(),
        _ => true,
    }
}

/// Reads parameters by path, and keeps which ones.
struct Params<'a> {
    values: View<'a>,
    read: RefCell<BTreeSet<&'static str>>,
}

impl<'a> Params<'a> {
    fn new(values: View<'a>) -> Self {
        Params {
            values,
            read: RefCell::default(),
        }
    }
    fn get(&self, path: &'static str) -> Option<&'a Value> {
        self.read.borrow_mut().insert(path);
        self.values.at_path(path)
    }
    fn text(&self, path: &'static str) -> Option<&'a str> {
        self.get(path).and_then(Value::as_str)
    }
    fn is(&self, path: &'static str, value: &str) -> bool {
        self.text(path) == Some(value)
    }
    fn one_of(&self, path: &'static str, values: &[&str]) -> bool {
        self.text(path).is_some_and(|v| values.contains(&v))
    }
    fn truthy(&self, path: &'static str) -> bool {
        self.get(path).is_some_and(truthy)
    }
    fn absent_or_true(&self, path: &'static str) -> bool {
        self.get(path).is_none_or(|v| v == &Value::Bool(true))
    }
    /// A positive count; numbers in text count too. None for zero, expressions and nonsense.
    fn count(&self, path: &'static str) -> Option<usize> {
        let number = match self.get(path)? {
            Value::Number(n) => n.as_f64()?,
            Value::String(s) => s.trim().parse().ok()?,
            _ => return None,
        };
        (number >= 1.0).then_some(number as usize)
    }
    fn list(&self, path: &'static str) -> impl Iterator<Item = &'a Value> + use<'a> {
        self.get(path)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    }
}
