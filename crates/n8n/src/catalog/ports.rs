//! Inputs and outputs of a node: what they are, and which rule of ours gives them where they depend on parameters.
//! n8n computes those with JavaScript in its descriptions; the catalog file only says that they are computed.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::description::{NodeDescription, Port, PortRule, Ports};
use super::values::View;
use super::wire::{PortFact, PortFacts};

impl Port {
    pub fn new(kind: &str) -> Self {
        Port {
            kind: kind.to_owned(),
            ..Port::default()
        }
    }
    pub fn main() -> Self {
        Port::new("main")
    }
    pub(super) fn labelled(kind: &str, label: impl Into<String>) -> Self {
        Port {
            label: Some(label.into()),
            ..Port::new(kind)
        }
    }
    pub(super) fn required(mut self) -> Self {
        self.required = true;
        self
    }
    pub(super) fn one(mut self) -> Self {
        self.max = Some(1);
        self
    }
}

pub(super) const LC: &str = "@n8n/n8n-nodes-langchain.";
/// Which side of the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Inputs,
    Outputs,
}

/// The rule for a type whose ports n8n computes. None: a type that we do not know.
fn rule_for(node_type: &str, version: f64, side: Side) -> Option<PortRule> {
    use PortRule as R;
    use Side::{Inputs, Outputs};
    if let Some(name) = node_type.strip_prefix("n8n-nodes-base.") {
        return Some(match (name, side) {
            ("merge", Inputs) => R::NumberedMain,
            ("switch", Outputs) if version < 3.0 => R::SwitchRulesOld,
            ("switch", Outputs) => R::SwitchRules,
            ("webhook", Outputs) => R::WebhookMethods,
            ("respondToWebhook", Outputs) => R::RespondOutputs,
            ("evaluation", Inputs) => R::EvaluationInputs,
            ("evaluation", Outputs) => R::EvaluationOutputs,
            _ => return None,
        });
    }
    let name = node_type.strip_prefix(LC)?;
    Some(match (name, side) {
        (
            "alibabaCloud" | "minimax" | "moonshot" | "anthropic" | "googleGemini" | "ollama",
            Inputs,
        ) => R::MessageTools,
        ("openAi", Inputs) => R::OpenAiInputs,
        ("agent", Inputs) if version < 2.0 => R::AgentByKind,
        ("agent", Inputs) => R::Agent,
        ("agentTool" | "microsoftAgent365Trigger", Inputs) => R::AgentWithoutMain,
        ("chainSummarization", Inputs) => R::SummarizationInputs,
        ("chainLlm", Inputs) => R::ChainInputs,
        ("sentimentAnalysis", Outputs) => R::SentimentOutputs,
        ("textClassifier", Outputs) => R::CategoryOutputs,
        ("code", Inputs) => R::DeclaredInputs,
        ("code", Outputs) => R::DeclaredOutputs,
        ("documentDefaultDataLoader" | "documentGithubLoader", Inputs) => R::TextSplitter,
        ("outputParserStructured", Inputs) => R::AutoFixModel,
        ("chatTrigger", Inputs) => R::ChatTriggerMemory,
        ("chat", Inputs) => R::ChatMemory,
        ("modelSelector", Inputs) => R::NumberedModels,
        ("guardrails", Inputs) if version < 2.0 => R::GuardrailInputsOld,
        ("guardrails", Inputs) => R::GuardrailInputs,
        ("guardrails", Outputs) => R::GuardrailOutputs,
        _ if name.starts_with("vectorStore") || name.starts_with("chatHubVectorStore") => {
            match side {
                Inputs => R::VectorStoreInputs,
                Outputs => R::VectorStoreOutputs,
            }
        }
        _ => return None,
    })
}

impl Ports {
    pub(super) fn from_facts(
        facts: &PortFacts,
        names: &[String],
        node_type: &str,
        version: f64,
        side: Side,
    ) -> Self {
        let PortFacts::List(list) = facts else {
            return rule_for(node_type, version, side).map_or(Ports::Dynamic, Ports::Rule);
        };
        let ports = list.iter().enumerate().map(|(i, fact)| {
            let mut port = match fact {
                PortFact::Kind(kind) => Port::new(kind),
                PortFact::Full(full) => Port {
                    kind: full.kind.clone(),
                    label: full.label.clone(),
                    required: full.required,
                    max: full.max,
                    only: full.only.clone(),
                    except: full.except.clone(),
                    error: false,
                },
            };
            if port.label.is_none() {
                port.label = names.get(i).cloned();
            }
            port
        });
        Ports::Fixed(ports.collect())
    }
}

impl NodeDescription {
    /// The inputs under these parameters (absent ones take their defaults). Empty where nothing is known (`Ports::Dynamic`).
    pub fn inputs_for<'v>(&'v self, params: impl Into<View<'v>>) -> Cow<'v, [Port]> {
        self.ports(&self.inputs, params.into())
    }

    /// The outputs under these parameters; `node` is the node's own JSON object (its `onError` can add an error output).
    pub fn outputs_for<'v>(
        &'v self,
        params: impl Into<View<'v>>,
        node: &Map<String, Value>,
    ) -> Cow<'v, [Port]> {
        let mut ports = self.ports(&self.outputs, params.into());
        if node.get("onError").and_then(Value::as_str) == Some("continueErrorOutput") {
            let ports = ports.to_mut();
            if let [only] = ports.as_mut_slice() {
                only.label = Some("Success".to_owned());
            }
            ports.push(Port {
                error: true,
                ..Port::labelled("main", "Error")
            });
        }
        ports
    }

    fn ports<'v>(&'v self, ports: &'v Ports, params: View<'v>) -> Cow<'v, [Port]> {
        match ports {
            Ports::Fixed(list) => Cow::Borrowed(list),
            Ports::Rule(rule) => Cow::Owned(match self.filled(params) {
                Ok(filled) => rule.apply(View::from(&filled), self.version),
                Err(_) => rule.apply(params, self.version),
            }),
            Ports::Dynamic => Cow::Borrowed(&[]),
        }
    }
}
