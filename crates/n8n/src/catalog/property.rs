//! One parameter of a node type as plain facts: its kind, choices, parts and display rules, and what is known of a list of them
//! before any value is. How that is worked out and used stands in `plan`, `display` and `values`. Pure.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use super::js_pattern;

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

impl Property {
    /// The way that takes an id, where an id has a form of its own; where it has none, it may be a name: of a table, of a model.
    pub(super) fn id_mode(&self) -> Option<&LocatorMode> {
        let mut all = self.modes.iter();
        all.find(|mode| mode.name == "id" && !mode.patterns.is_empty())
    }

    /// What stands by its name in a list that gives ids; None: it is an id, or may be one. Names are no ids where an id has a form that they do
    /// not have, and where what is shown of the chosen thing is the very value.
    pub fn name_for_id<'v>(&self, value: &'v Value) -> Option<&'v str> {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let id = self.id_mode()?;
        let name = text("value").filter(|_| text("mode") == Some("list"))?;
        // "My Drive": what n8n itself begins with.
        let own = self.default.get("value").and_then(Value::as_str) == Some(name);
        let by_name = self.modes.iter().any(|mode| mode.name == "name");
        let bare = !by_name && text("cachedResultName") == Some(name);
        (is_name(name) && !own && (bare || !id.accepts(name))).then_some(name)
    }
}

/// Whether a text is written as people name things, and no id: several words, or a capital, and no figure.
pub fn is_name(text: &str) -> bool {
    let plain = text
        .chars()
        .all(|c| c.is_alphabetic() || " -&'".contains(c));
    let capital = text.chars().next().is_some_and(char::is_uppercase);
    plain && (capital || text.trim().contains(' '))
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

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// Places in the order of resolution, some of them twice. None: the rules depend on each other in a circle.
    pub(super) order: Option<Vec<usize>>,
    /// By place: the slot, which parameters of one name share.
    pub(super) slots: Vec<u32>,
    /// By slot: the first parameter of the name.
    pub(super) first: Vec<u32>,
    /// By place: the next parameter of the same name.
    pub(super) next: Vec<u32>,
    /// Slots by the hash of their name; a power of two of them, at most half full.
    pub(super) buckets: Vec<u32>,
    /// By place: which of the list's distinct display rules the parameter has.
    pub(super) rules: Vec<u32>,
    pub(super) distinct: Vec<Rule>,
    /// What stands for resource locators that are not given, by place.
    pub(super) locators: Vec<(usize, Value)>,
    pub(super) checked: Vec<usize>,
    pub(super) chosen: Vec<usize>,
}

/// A display rule that at least one parameter has.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rule {
    /// A parameter that has it.
    pub(super) of: usize,
    /// Where each `show` and then each `hide` reads.
    pub(super) sources: Vec<Source>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Source {
    /// A value on the parameter's own level.
    Slot(usize),
    /// Anything else is looked for by its name.
    Named,
}
