//! What a node type looks like from outside: its parameters, credentials and ports, as plain facts.
//! Owns the public types of the catalog. Holds no prose and no code of n8n: a long default is replaced by a marker.

use std::ops::Deref;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use super::js_pattern;
use super::plan::Plan;
use super::ports::{Port, PortRule};

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
    /// The parameters with a closed list of choices, here or below, with their places.
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

/// n8n's parameter types.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum PropertyKind {
    String,
    Number,
    Boolean,
    Options,
    MultiOptions,
    Collection,
    FixedCollection,
    ResourceLocator,
    ResourceMapper,
    Filter,
    AssignmentCollection,
    Json,
    DateTime,
    Color,
    Notice,
    Callout,
    Hidden,
    Button,
    Credentials,
    CredentialsSelect,
    WorkflowSelector,
    AgentSelector,
    CurlImport,
    Icon,
    /// A type that this program does not know.
    Other(String),
}

impl PropertyKind {
    pub fn parse(name: &str) -> Self {
        match name {
            "string" => Self::String,
            "number" => Self::Number,
            "boolean" => Self::Boolean,
            "options" => Self::Options,
            "multiOptions" => Self::MultiOptions,
            "collection" => Self::Collection,
            "fixedCollection" => Self::FixedCollection,
            "resourceLocator" => Self::ResourceLocator,
            "resourceMapper" => Self::ResourceMapper,
            "filter" => Self::Filter,
            "assignmentCollection" => Self::AssignmentCollection,
            "json" => Self::Json,
            "dateTime" => Self::DateTime,
            "color" => Self::Color,
            "notice" => Self::Notice,
            "callout" => Self::Callout,
            "hidden" => Self::Hidden,
            "button" => Self::Button,
            "credentials" => Self::Credentials,
            "credentialsSelect" => Self::CredentialsSelect,
            "workflowSelector" => Self::WorkflowSelector,
            "agentSelector" => Self::AgentSelector,
            "curlImport" => Self::CurlImport,
            "icon" => Self::Icon,
            other => Self::Other(other.to_owned()),
        }
    }

    /// n8n's name of the type.
    pub fn name(&self) -> &str {
        match self {
            Self::String => "string",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Options => "options",
            Self::MultiOptions => "multiOptions",
            Self::Collection => "collection",
            Self::FixedCollection => "fixedCollection",
            Self::ResourceLocator => "resourceLocator",
            Self::ResourceMapper => "resourceMapper",
            Self::Filter => "filter",
            Self::AssignmentCollection => "assignmentCollection",
            Self::Json => "json",
            Self::DateTime => "dateTime",
            Self::Color => "color",
            Self::Notice => "notice",
            Self::Callout => "callout",
            Self::Hidden => "hidden",
            Self::Button => "button",
            Self::Credentials => "credentials",
            Self::CredentialsSelect => "credentialsSelect",
            Self::WorkflowSelector => "workflowSelector",
            Self::AgentSelector => "agentSelector",
            Self::CurlImport => "curlImport",
            Self::Icon => "icon",
            Self::Other(name) => name,
        }
    }

    /// Holds no value that a workflow author sets.
    pub fn is_decoration(&self) -> bool {
        matches!(
            self,
            Self::Notice | Self::Callout | Self::Button | Self::CurlImport
        )
    }
}

/// One parameter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Property {
    pub name: String,
    /// Empty for notices and the like, whose label is prose.
    pub label: String,
    pub kind: PropertyKind,
    /// Null when n8n declares none: see `has_default`.
    pub default: Value,
    pub has_default: bool,
    /// The default is (or holds) a long text or code that the catalog replaced by a marker; in n8n it is not empty.
    pub default_omitted: bool,
    pub required: bool,
    /// n8n strips the expression prefix: the value is always taken literally.
    pub no_expression: bool,
    pub display: Option<DisplayOptions>,
    /// The static choices of `options` and `multiOptions`.
    pub options: Vec<PropertyOption>,
    /// The parts of `collection` (one unnamed group) and `fixedCollection` (one group per part).
    pub groups: Vec<PropertyGroup>,
    /// The ways to give a resource locator's value.
    pub modes: Vec<LocatorMode>,
    /// Shared: most parameters have none.
    #[serde(serialize_with = "shared")]
    pub type_options: Arc<TypeOptions>,
    /// The type that n8n checks a set value against (`number`, `url`, `object`, …).
    pub validate_type: Option<String>,
    pub allow_arbitrary_values: bool,
    /// `single` or `multiple`: the value is a path into the items, not an expression.
    pub data_path: Option<String>,
    /// A key of the node itself, not of its parameters.
    pub node_setting: bool,
    /// Which credential types a `credentialsSelect` offers.
    pub credential_types: Vec<String>,
}

impl Property {
    /// The parameters inside a `collection`; empty for every other kind.
    pub fn children(&self) -> &[Property] {
        match (&self.kind, self.groups.first()) {
            (PropertyKind::Collection, Some(group)) => &group.values,
            _ => &[],
        }
    }
    /// The part of a `fixedCollection` with this name.
    pub fn group(&self, name: &str) -> Option<&PropertyGroup> {
        self.groups.iter().find(|g| g.name == name)
    }
    /// Choices come from the service at run time, so the static list is not all.
    pub fn has_dynamic_options(&self) -> bool {
        self.type_options.dynamic_options
    }
    /// The static list is all that there is to choose from.
    pub fn has_closed_choices(&self) -> bool {
        !self.options.is_empty() && !self.has_dynamic_options() && !self.allow_arbitrary_values
    }
    pub(super) fn is_list(&self) -> bool {
        self.type_options.multiple_values == Some(true)
    }
}

fn shared<S: serde::Serializer>(options: &Arc<TypeOptions>, s: S) -> Result<S::Ok, S::Error> {
    options.as_ref().serialize(s)
}

/// A static choice.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PropertyOption {
    pub label: String,
    pub value: Value,
    pub display: Option<DisplayOptions>,
}

/// A named part of a `fixedCollection` (name empty: the children of a `collection`).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PropertyGroup {
    pub name: String,
    pub label: String,
    pub values: Vec<Property>,
    #[serde(skip)]
    pub(super) plan: Plan,
}

impl PropertyGroup {
    /// As `PropertyList::checked`.
    pub fn checked(&self) -> impl Iterator<Item = (usize, &Property)> {
        self.plan.checked(&self.values)
    }
    /// As `PropertyList::chosen`.
    pub fn chosen(&self) -> impl Iterator<Item = (usize, &Property)> {
        self.plan.chosen(&self.values)
    }
    /// As `PropertyList::named`.
    pub fn named<'p>(
        &'p self,
        name: &str,
    ) -> impl Iterator<Item = (usize, &'p Property)> + use<'p> {
        self.plan.named(&self.values, name)
    }
}

/// One way to give a resource locator's value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LocatorMode {
    pub name: String,
    pub label: String,
    /// `list` or `string`.
    pub kind: String,
    /// Patterns that the whole value must match, in JavaScript's syntax.
    pub patterns: Vec<String>,
}

impl LocatorMode {
    /// Whether the value matches every pattern, whole. A pattern that cannot be run refuses nothing.
    pub fn accepts(&self, value: &str) -> bool {
        self.patterns.iter().all(|pattern| {
            // As n8n joins it: no group around, so an alternative is anchored on one side only.
            js_pattern::found(&format!("^{pattern}$"), value).unwrap_or(true)
        })
    }
}

/// The type options that change what a value may be.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TypeOptions {
    pub multiple_values: Option<bool>,
    pub min_value: Option<f64>,
    pub max_value: Option<f64>,
    pub precision: Option<u32>,
    pub max_length: Option<u32>,
    pub min_required_fields: Option<u32>,
    pub max_allowed_fields: Option<u32>,
    pub pattern: Option<String>,
    pub password: bool,
    pub date_only: bool,
    /// Choices or fields are loaded from the service.
    pub dynamic_options: bool,
    /// `jsEditor`, `sqlEditor`, `htmlEditor`, …
    pub editor: Option<String>,
    /// `add`, `update`, `upsert`, `map`.
    pub mapper_mode: Option<String>,
    /// The resource mapper can map incoming fields by name.
    pub mapper_auto: bool,
    /// The `options.version` that this node version writes into a filter value.
    pub filter_version: Option<u32>,
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

/// When a parameter, option or credential is shown: every `show` rule matches and no `hide` rule does.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize)]
pub struct DisplayOptions {
    pub show: Vec<(String, Vec<Condition>)>,
    pub hide: Vec<(String, Vec<Condition>)>,
}

/// One allowed value of a display rule.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    Is(Value),
    Eq(Value),
    Not(Value),
    Gte(Value),
    Lte(Value),
    Gt(Value),
    Lt(Value),
    /// From and to, both included.
    Between(Box<(Value, Value)>),
    Includes(String),
    StartsWith(String),
    EndsWith(String),
    /// JavaScript's syntax, unanchored.
    Regex(String),
    Exists,
    /// An operator that this program does not know: never matches, as in n8n.
    Unknown,
}

impl DisplayOptions {
    /// From n8n's `show` and `hide` objects.
    pub(super) fn from_facts(
        show: Option<Map<String, Value>>,
        hide: Option<Map<String, Value>>,
    ) -> Option<Self> {
        if show.is_none() && hide.is_none() {
            return None;
        }
        let rules = |map: Option<Map<String, Value>>| -> Vec<(String, Vec<Condition>)> {
            map.into_iter()
                .flatten()
                .map(|(name, values)| {
                    let list = match values {
                        Value::Array(list) => list,
                        single => vec![single],
                    };
                    (name, list.into_iter().map(Condition::from_fact).collect())
                })
                .collect()
        };
        Some(DisplayOptions {
            show: rules(show),
            hide: rules(hide),
        })
    }
}

impl Condition {
    fn from_fact(value: Value) -> Self {
        let operator = match &value {
            Value::Object(map) if map.len() == 1 => map.get("_cnd").and_then(Value::as_object),
            _ => None,
        };
        let Some((key, target)) = operator.and_then(|o| o.iter().next()) else {
            return Condition::Is(value);
        };
        let target = target.clone();
        let text = |v: Value| match v {
            Value::String(s) => Some(s),
            _ => None,
        };
        match key.as_str() {
            "eq" => Condition::Eq(target),
            "not" => Condition::Not(target),
            "gte" => Condition::Gte(target),
            "lte" => Condition::Lte(target),
            "gt" => Condition::Gt(target),
            "lt" => Condition::Lt(target),
            "between" => {
                let part = |k: &str| target.get(k).cloned().unwrap_or(Value::Null);
                Condition::Between(Box::new((part("from"), part("to"))))
            }
            "includes" => text(target).map_or(Condition::Unknown, Condition::Includes),
            "startsWith" => text(target).map_or(Condition::Unknown, Condition::StartsWith),
            "endsWith" => text(target).map_or(Condition::Unknown, Condition::EndsWith),
            "regex" => text(target).map_or(Condition::Unknown, Condition::Regex),
            "exists" => Condition::Exists,
            _ => Condition::Unknown,
        }
    }
}
