//! From the catalog's facts to descriptions: finds a type (or the type a tool variant is made from) and decodes one version.
//! Owns the derivation of n8n's tool variants and the facts that do not stand in n8n's descriptions.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::CatalogError;
use super::description::{
    CredentialSlot, DisplayOptions, LocatorMode, NodeDescription, NodeKind, OMITTED_EXPRESSION,
    OMITTED_TEXT, Ports, Property, PropertyGroup, PropertyKind, PropertyList, PropertyOption,
    TriggerKind, TypeOptions,
};
use super::fill::Plan;
use super::ports::{Port, Side};
use super::wire::{
    self, Choice, Entry, EntryRef, Frame, Head, Mode, Prop, Slot, TypeEntry, TypeOpts,
};

/// In the group `trigger`, but without a method that starts anything: only an evaluation runs it.
const TRIGGERS_WITHOUT_A_METHOD: [&str; 1] = ["n8n-nodes-base.evaluationTrigger"];
/// Versioned classes with a single description.
const VERSIONED_WITH_ONE: [&str; 2] = ["n8n-nodes-base.mattermost", "n8n-nodes-base.syncroMsp"];
/// Triggers that a person or another workflow starts.
const MANUAL: [&str; 5] = [
    "n8n-nodes-base.manualTrigger",
    "n8n-nodes-base.executeWorkflowTrigger",
    "n8n-nodes-base.evaluationTrigger",
    "n8n-nodes-base.start",
    "@n8n/n8n-nodes-langchain.manualChatTrigger",
];

/// The decoded first frame.
#[derive(Default)]
pub struct Loaded {
    pub head: Head,
    pub body: Frame,
    /// Sorted by full name.
    pub names: Vec<Name>,
}

pub struct Name {
    pub full: String,
    at: usize,
    variant: Variant,
}

/// A type itself, or what n8n makes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    Plain,
    /// Callable by an agent.
    Tool,
    /// Asks a person before another tool runs.
    HitlTool,
}

impl Loaded {
    pub fn read(bytes: &[u8]) -> Result<Self, CatalogError> {
        let (head, body) = wire::frames(bytes)?;
        let head: Head = serde_json::from_slice(&wire::unpack(bytes, head)?)
            .map_err(|_| CatalogError::Damaged("its index does not parse"))?;
        let mut names = Vec::with_capacity(head.types.len() * 2);
        for (at, entry) in head.types.iter().enumerate() {
            let mut add = |suffix: &str, variant| {
                names.push(Name {
                    full: format!("{}{suffix}", entry.name),
                    at,
                    variant,
                });
            };
            add("", Variant::Plain);
            if entry.entries.iter().any(|e| e.tool) {
                add("Tool", Variant::Tool);
            }
            if entry.entries.iter().any(|e| e.hitl) {
                add("HitlTool", Variant::HitlTool);
            }
        }
        // Stable: a real type stands before a variant that would take its name.
        names.sort_by(|a, b| {
            a.full
                .cmp(&b.full)
                .then_with(|| (a.variant != Variant::Plain).cmp(&(b.variant != Variant::Plain)))
        });
        names.dedup_by(|b, a| a.full == b.full);
        Ok(Loaded { head, body, names })
    }

    pub fn find<'a>(&'a self, node_type: &str) -> Option<Found<'a>> {
        let at = self
            .names
            .binary_search_by(|name| name.full.as_str().cmp(node_type))
            .ok()?;
        let name = self.names.get(at)?;
        Some(Found {
            full: &name.full,
            entry: self.head.types.get(name.at)?,
            variant: name.variant,
        })
    }
}

/// A type that exists.
pub struct Found<'a> {
    full: &'a str,
    entry: &'a TypeEntry,
    variant: Variant,
}

impl<'a> Found<'a> {
    fn entries(&self) -> impl Iterator<Item = &'a EntryRef> + use<'a> {
        let variant = self.variant;
        self.entry.entries.iter().filter(move |e| match variant {
            Variant::Plain => true,
            Variant::Tool => e.tool,
            Variant::HitlTool => e.hitl,
        })
    }
    pub fn versions(&self) -> Vec<f64> {
        let mut all: Vec<f64> = self.entries().flat_map(|e| e.versions.clone()).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }
    /// What the first description says, else the newest.
    pub fn default_version(&self) -> f64 {
        self.entries()
            .next()
            .and_then(|e| e.default_version)
            .or_else(|| self.versions().last().copied())
            .unwrap_or(1.0)
    }
    /// The version of filter values that this version of the node writes, where its description computes it.
    pub fn filter_version(&self, version: f64) -> u32 {
        filter_version(&self.entry.name, version)
    }
    pub fn entry(&self, version: f64) -> Option<&'a EntryRef> {
        self.entries().find(|e| e.versions.contains(&version))
    }
}

/// A decoded description, shared by the versions that it serves.
pub struct Facts {
    entry: Entry,
    properties: PropertyList,
}

impl Facts {
    /// Decodes one description from the body. None if the body is damaged.
    pub fn read(body: &[u8], entry: &EntryRef, filter_version: u32) -> Option<Self> {
        let bytes = body.get(entry.offset..entry.offset.checked_add(entry.len)?)?;
        let mut entry: Entry = serde_json::from_slice(bytes).ok()?;
        let list = std::mem::take(&mut entry.properties);
        Some(Facts {
            entry,
            properties: PropertyList::new(properties(list, filter_version)),
        })
    }
}

/// The description of one version.
pub fn describe(
    found: &Found<'_>,
    entry: &EntryRef,
    version: f64,
    facts: &Facts,
    labels: &BTreeMap<String, String>,
) -> NodeDescription {
    let (facts, properties) = (&facts.entry, facts.properties.clone());
    let base = found.entry;
    let node_type = base.name.as_str();
    let trigger_method = facts.poll
        || facts.webhook
        || (facts.group.iter().any(|g| g == "trigger")
            && !TRIGGERS_WITHOUT_A_METHOD.contains(&node_type));
    let inputs = Ports::from_facts(
        &facts.inputs,
        &facts.input_names,
        node_type,
        version,
        Side::Inputs,
    );
    let outputs = Ports::from_facts(
        &facts.outputs,
        &facts.output_names,
        node_type,
        version,
        Side::Outputs,
    );
    let kind = kind(node_type, facts, &outputs);
    let mut description = NodeDescription {
        node_type: found.full.to_owned(),
        default_name: facts
            .default_name
            .clone()
            .unwrap_or_else(|| facts.label.clone()),
        label: facts.label.clone(),
        version,
        default_version: found.default_version(),
        versions: found.versions(),
        group: facts.group.clone(),
        kind,
        inputs,
        outputs,
        properties,
        credentials: facts
            .credentials
            .iter()
            .map(|s| slot(s.clone(), labels))
            .collect(),
        categories: base.categories.clone(),
        aliases: base.aliases.clone(),
        usable_as_tool: entry.tool,
        hidden: facts.hidden,
        trigger_like: trigger_method,
        versioned: base.entries.len() > 1 || VERSIONED_WITH_ONE.contains(&node_type),
        has_description: facts.described,
        max_nodes: facts.max_nodes,
        made_from: None,
    };
    match found.variant {
        Variant::Plain => {}
        Variant::Tool => make_tool(&mut description, node_type),
        Variant::HitlTool => make_hitl_tool(&mut description, node_type),
    }
    description
}

fn kind(node_type: &str, facts: &Entry, outputs: &Ports) -> NodeKind {
    if facts.group.iter().any(|g| g == "trigger") {
        return NodeKind::Trigger(if MANUAL.contains(&node_type) {
            TriggerKind::Manual
        } else if facts.poll {
            TriggerKind::Poll
        } else if facts.webhook {
            TriggerKind::Webhook
        } else {
            TriggerKind::Event
        });
    }
    match outputs {
        Ports::Fixed(ports) if !ports.is_empty() && ports.iter().all(|p| p.kind == "ai_tool") => {
            NodeKind::Tool
        }
        Ports::Fixed(ports) if !ports.is_empty() && ports.iter().all(|p| p.kind != "main") => {
            NodeKind::SubNode
        }
        _ => NodeKind::Action,
    }
}

/// What the node version writes into `options.version` of a filter value, where it depends on the version.
fn filter_version(node_type: &str, version: f64) -> u32 {
    let (second, third) = match node_type {
        "n8n-nodes-base.switch" => (3.2, 3.4),
        "n8n-nodes-base.if" | "n8n-nodes-base.filter" => (2.2, 2.3),
        _ => return 1,
    };
    if version >= third {
        3
    } else if version >= second {
        2
    } else {
        1
    }
}

/// n8n's tool: no inputs, one tool output, and a description for the model, set by hand where the node has operations.
fn make_tool(d: &mut NodeDescription, base: &str) {
    d.made_from = Some(base.to_owned());
    d.label.push_str(" Tool");
    d.kind = NodeKind::Tool;
    d.inputs = Ports::Fixed(Vec::new());
    d.outputs = Ports::Fixed(vec![Port::new("ai_tool")]);
    d.usable_as_tool = false;
    let mut properties = d.properties.to_vec();
    let named = |name: &str| properties.iter().any(|p| p.name == name);
    if named("toolDescription") {
        return;
    }
    let by_operation = named("resource") || named("operation");
    let mut tool_description = plain("toolDescription", "Description", PropertyKind::String);
    tool_description.required = true;
    tool_description.default = Value::String(if d.has_description {
        OMITTED_TEXT.to_owned()
    } else {
        String::new()
    });
    tool_description.default_omitted = d.has_description;
    let after_callouts = properties
        .iter()
        .rposition(|p| p.kind == PropertyKind::Callout)
        .map_or(0, |at| at + 1);
    if by_operation {
        let mut show = Map::new();
        show.insert("descriptionType".into(), json!(["manual"]));
        tool_description.display = DisplayOptions::from_facts(Some(show), None);
    }
    properties.insert(after_callouts, tool_description);
    if by_operation {
        let choice = |label: &str, value: &str| PropertyOption {
            label: label.to_owned(),
            value: value.into(),
            display: None,
        };
        properties.insert(
            after_callouts,
            Property {
                default: "auto".into(),
                no_expression: true,
                options: vec![
                    choice("Set Automatically", "auto"),
                    choice("Set Manually", "manual"),
                ],
                ..plain("descriptionType", "Tool Description", PropertyKind::Options)
            },
        );
    }
    d.properties = PropertyList::new(properties);
}

/// n8n's approval tool: a message, and the node's own parameters fixed on its send-and-wait operation.
fn make_hitl_tool(d: &mut NodeDescription, base: &str) {
    d.made_from = Some(base.to_owned());
    d.kind = NodeKind::Tool;
    d.default_name = d.label.clone();
    d.has_description = true;
    d.inputs = Ports::Fixed(vec![Port {
        label: Some("Tool".into()),
        required: true,
        ..Port::new("ai_tool")
    }]);
    d.outputs = Ports::Fixed(vec![Port {
        label: Some("Human review".into()),
        only: vec![
            "@n8n/n8n-nodes-langchain.agent".into(),
            "@n8n/n8n-nodes-langchain.agentTool".into(),
        ],
        ..Port::new("ai_tool")
    }]);
    let resource = d.properties.iter().find_map(send_and_wait_resource);
    let hidden = |name: &str, label: &str, value: Value| Property {
        default: value,
        ..plain(name, label, PropertyKind::Hidden)
    };
    let mut properties = vec![Property {
        required: true,
        default: OMITTED_EXPRESSION.into(),
        default_omitted: true,
        ..plain("message", "Message", PropertyKind::String)
    }];
    for property in &d.properties {
        match property.name.as_str() {
            "message" => {}
            "resource" => properties.extend(
                resource
                    .clone()
                    .map(|value| hidden("resource", "Resource", value)),
            ),
            "operation" => properties.push(hidden("operation", "Operation", "sendAndWait".into())),
            "responseType" => {
                properties.push(hidden("responseType", "Response Type", "approval".into()));
            }
            _ => properties.push(property.clone()),
        }
    }
    d.properties = PropertyList::new(properties);
}

/// The first resource under which the operation can be chosen.
fn send_and_wait_resource(property: &Property) -> Option<Value> {
    let offers =
        property.name == "operation" && property.options.iter().any(|o| o.value == "sendAndWait");
    if !offers {
        return None;
    }
    let display = property.display.as_ref()?;
    let (_, values) = display.show.iter().find(|(name, _)| name == "resource")?;
    match values.first()? {
        super::Condition::Is(value) if !value.is_null() => Some(value.clone()),
        _ => None,
    }
}

fn plain(name: &str, label: &str, kind: PropertyKind) -> Property {
    Property {
        has_default: true,
        ..property(
            Prop {
                name: name.to_owned(),
                label: label.to_owned(),
                kind: kind.name().to_owned(),
                ..Prop::default()
            },
            0,
        )
    }
}

fn property(p: Prop, filter_version: u32) -> Property {
    let group = |name, label, list| {
        let values = properties(list, filter_version);
        PropertyGroup {
            name,
            label,
            plan: Plan::new(&values),
            values,
        }
    };
    let mut groups: Vec<PropertyGroup> = p
        .groups
        .into_iter()
        .map(|g| group(g.name, g.label, g.values))
        .collect();
    if !p.children.is_empty() {
        groups.push(group(String::new(), String::new(), p.children));
    }
    Property {
        kind: PropertyKind::parse(&p.kind),
        name: p.name,
        label: p.label,
        has_default: p.default.is_some(),
        default: p.default.unwrap_or(Value::Null),
        default_omitted: p.default_omitted,
        required: p.required,
        no_expression: p.no_expression,
        display: DisplayOptions::from_facts(p.show, p.hide),
        options: p.options.into_iter().map(choice).collect(),
        groups,
        modes: p.modes.into_iter().map(mode).collect(),
        type_options: p
            .type_options
            .map(|t| type_options(*t, filter_version))
            .unwrap_or_default(),
        validate_type: p.validate_type,
        allow_arbitrary_values: p.arbitrary,
        data_path: p.data_path,
        node_setting: p.node_setting,
        credential_types: p.credential_types,
    }
}

fn properties(list: Vec<Prop>, filter_version: u32) -> Vec<Property> {
    list.into_iter()
        .map(|p| property(p, filter_version))
        .collect()
}

fn choice(c: Choice) -> PropertyOption {
    match c {
        Choice::Same((label,)) => PropertyOption {
            value: Value::String(label.clone()),
            label,
            display: None,
        },
        Choice::Labelled((value, label)) => PropertyOption {
            label,
            value,
            display: None,
        },
        Choice::Shown((value, label, show, hide)) => PropertyOption {
            label,
            value,
            display: DisplayOptions::from_facts(
                (!show.is_empty()).then_some(show),
                (!hide.is_empty()).then_some(hide),
            ),
        },
    }
}

fn mode(m: Mode) -> LocatorMode {
    LocatorMode {
        name: m.name,
        label: m.label,
        kind: m.kind,
        patterns: m.patterns,
    }
}

fn type_options(t: TypeOpts, filter_version: u32) -> TypeOptions {
    TypeOptions {
        multiple_values: t.multiple_values,
        min_value: t.min_value,
        max_value: t.max_value,
        precision: t.precision,
        max_length: t.max_length,
        min_required_fields: t.min_required_fields,
        max_allowed_fields: t.max_allowed_fields,
        pattern: t.pattern,
        password: t.password,
        date_only: t.date_only,
        dynamic_options: t.dynamic_options,
        editor: t.editor,
        mapper_mode: t.mapper_mode,
        mapper_auto: t.mapper_auto,
        filter_version: t
            .filter_version
            .map(|v| if v == 0 { filter_version } else { v }),
    }
}

fn slot(s: Slot, labels: &BTreeMap<String, String>) -> CredentialSlot {
    CredentialSlot {
        type_label: labels.get(&s.name).cloned(),
        name: s.name,
        label: s.label,
        required: s.required,
        display: DisplayOptions::from_facts(s.show, s.hide),
    }
}
