//! What a node type looks like from outside: its parameters, credentials and ports, as plain facts.
//! Owns the public types of the catalog. Holds no prose and no code of n8n: a long default is replaced by a marker.

use std::ops::Deref;
use std::sync::Arc;

use serde::Serialize;

use super::property::{DisplayOptions, Plan, Property};

/// Stands in for a default text that the catalog does not carry (it is not empty in n8n). Never write it into a workflow.
pub const OMITTED_TEXT: &str = "(n8n's own text)";
/// The same for a default that n8n evaluates as an expression.
pub const OMITTED_EXPRESSION: &str = "=(n8n's own expression)";

/// How a workflow meets the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// Starts a workflow.
    Trigger(TriggerKind),
    /// Does something with the items of a main connection.
    Action,
    /// Serves another node over an `ai_*` connection (models, memories, parsers, …).
    SubNode,
    /// A sub-node that an agent calls.
    Tool,
}

/// What wakes a trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TriggerKind {
    Webhook,
    Poll,
    /// A running listener, timer or event source.
    Event,
    /// A person, or another workflow; never by itself.
    Manual,
}

/// What it takes for a start to begin, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Begins {
    /// A person presses it.
    ByHand,
    /// Another workflow calls it.
    Called,
    /// A time, a request or an event.
    ByItself,
}

/// Of the manual triggers, the one that a person does not press.
const CALLED: &str = "n8n-nodes-base.executeWorkflowTrigger";

impl NodeDescription {
    /// None: a run cannot begin here. A node that only waits for an answer (send and wait) is no start.
    pub fn begins(&self) -> Option<Begins> {
        match self.kind {
            NodeKind::Trigger(TriggerKind::Manual) if self.node_type == CALLED => {
                Some(Begins::Called)
            }
            NodeKind::Trigger(TriggerKind::Manual) => Some(Begins::ByHand),
            NodeKind::Trigger(_) => Some(Begins::ByItself),
            _ => None,
        }
    }
}

/// One version of one node type.
#[derive(Debug, Clone, Serialize)]
pub struct NodeDescription {
    pub node_type: String,
    pub label: String,
    /// The name that n8n gives a new node of this type.
    pub default_name: String,
    pub version: f64,
    pub default_version: f64,
    /// Every version the type has, ascending.
    pub versions: Vec<f64>,
    pub group: Vec<String>,
    pub kind: NodeKind,
    pub inputs: Ports,
    pub outputs: Ports,
    pub properties: PropertyList,
    pub credentials: Vec<CredentialSlot>,
    pub categories: Vec<String>,
    pub aliases: Vec<String>,
    pub usable_as_tool: bool,
    pub hidden: bool,
    /// The node can start a workflow in n8n's eyes: it has a trigger, a poll or a webhook method (send-and-wait nodes too).
    pub trigger_like: bool,
    /// The class is versioned: n8n's server refuses versions it does not know. Otherwise it takes the newest for them.
    pub versioned: bool,
    /// n8n has a description text for the node (tool variants use it as a default).
    pub has_description: bool,
    /// At most this many of the type in one workflow.
    pub max_nodes: Option<u32>,
    /// For a tool variant that n8n derives: the type it is made from.
    pub made_from: Option<String>,
}

/// The parameters of a type, shared between the versions that have the same ones.
#[derive(Debug, Clone)]
pub struct PropertyList {
    list: Arc<Vec<Property>>,
    plan: Arc<Plan>,
}

impl PropertyList {
    pub(super) fn new(list: Vec<Property>) -> Self {
        PropertyList {
            plan: Arc::new(Plan::new(&list, true)),
            list: Arc::new(list),
        }
    }
    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }
    /// The parameters at which n8n's check of values can find something, with their places.
    pub fn checked(&self) -> impl Iterator<Item = (usize, &Property)> {
        self.plan.checked(&self.list)
    }
    /// The parameters with a closed list of choices, or with a list that gives ids, here or below, with their places.
    pub fn chosen(&self) -> impl Iterator<Item = (usize, &Property)> {
        self.plan.chosen(&self.list)
    }
    /// The parameters of this name, with their places.
    pub fn named<'p>(
        &'p self,
        name: &str,
    ) -> impl Iterator<Item = (usize, &'p Property)> + use<'p> {
        self.plan.named(&self.list, name)
    }
}

impl Serialize for PropertyList {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        self.list.serialize(s)
    }
}

impl Deref for PropertyList {
    type Target = [Property];
    fn deref(&self) -> &[Property] {
        &self.list
    }
}
impl<'a> IntoIterator for &'a PropertyList {
    type Item = &'a Property;
    type IntoIter = std::slice::Iter<'a, Property>;
    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

/// Inputs or outputs as the type declares them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ports {
    Fixed(Vec<Port>),
    /// They depend on parameters; see `NodeDescription::inputs_for` and `outputs_for`.
    Rule(PortRule),
    /// They depend on parameters in a way this catalog does not know.
    Dynamic,
}

/// One input or output.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Port {
    /// `main`, `ai_tool`, `ai_languageModel`, …
    pub kind: String,
    pub label: Option<String>,
    /// n8n flags the node when nothing is connected here.
    pub required: bool,
    /// At most so many connections.
    pub max: Option<u32>,
    /// Only these node types may be connected (empty: any).
    pub only: Vec<String>,
    /// These node types may not.
    pub except: Vec<String>,
    /// The output that carries failed items.
    pub error: bool,
}

/// How ports follow from parameters (defaults filled in).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PortRule {
    /// `numberInputs` main inputs, two if unset.
    NumberedMain,
    /// `numberInputs` language models, all required.
    NumberedModels,
    /// One output for each routing rule, and perhaps a fallback; or `numberOutputs`.
    SwitchRules,
    /// The same before version 3: no fallback, `outputsAmount`.
    SwitchRulesOld,
    /// One output for each HTTP method.
    WebhookMethods,
    /// A second output with the response: always in 1.3, from 1.4 if `enableResponseOutput`.
    RespondOutputs,
    /// A model where the metric is judged by one.
    EvaluationInputs,
    /// Two outputs for `checkIfEvaluating`.
    EvaluationOutputs,
    /// Tools for a text message.
    MessageTools,
    /// OpenAI: tools and memory for assistants, tools for text.
    OpenAiInputs,
    /// An agent before version 2, by its kind of agent.
    AgentByKind,
    /// An agent: chat model (and fallback), memory, tools, output parser.
    Agent,
    /// The same without a main input.
    AgentWithoutMain,
    SummarizationInputs,
    ChainInputs,
    /// One output per comma-separated sentiment.
    SentimentOutputs,
    /// One output per category, and perhaps `Other`.
    CategoryOutputs,
    /// LangChain code: declared by the user.
    DeclaredInputs,
    DeclaredOutputs,
    /// A text splitter unless splitting is `simple`.
    TextSplitter,
    /// A model if the parser fixes its input.
    AutoFixModel,
    /// A memory if the chat loads its previous session from one.
    ChatTriggerMemory,
    ChatMemory,
    VectorStoreInputs,
    VectorStoreOutputs,
    /// A model if a check needs one.
    GuardrailInputs,
    /// A model unless the operation only sanitizes.
    GuardrailInputsOld,
    GuardrailOutputs,
}

/// A credential that the node can use.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CredentialSlot {
    pub name: String,
    /// The slot's own label; n8n's messages fall back to the name.
    pub label: Option<String>,
    /// The credential type's label, where the build was given `credentials.json`.
    pub type_label: Option<String>,
    pub required: bool,
    pub display: Option<DisplayOptions>,
}
