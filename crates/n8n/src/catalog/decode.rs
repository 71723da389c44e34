//! From the catalog's facts to descriptions: finds a type (or the type a tool variant is made from) and decodes one version.
//! Owns the few facts about node classes that do not stand in n8n's descriptions.

use std::collections::BTreeMap;

use super::decode_property::properties;
use super::description::{
    CredentialSlot, NodeDescription, NodeKind, Ports, PropertyList, TriggerKind,
};
use super::ports::Side;
use super::property::DisplayOptions;
use super::source::CatalogError;
use super::variants::{hitl_properties, make_hitl_tool, make_tool, tool_properties};
use super::wire::{self, Entry, EntryRef, Frame, Head, Slot, TypeEntry};

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
        let mut loaded = Loaded {
            head,
            body,
            names: Vec::new(),
        };
        loaded.name_types();
        Ok(loaded)
    }

    /// Lists the names of all types and of their tool variants, after the types were read or changed.
    pub fn name_types(&mut self) {
        let mut names = Vec::with_capacity(self.head.types.len() * 2);
        for (at, entry) in self.head.types.iter().enumerate() {
            let mut add = |suffix: &str, variant| {
                names.push(Name {
                    full: format!("{}{suffix}", entry.name),
                    at,
                    variant,
                });
            };
            let has = |of: fn(&EntryRef) -> bool| {
                let mut there = entry.entries.iter().filter(|e| !e.versions.is_empty());
                there.any(of)
            };
            add("", Variant::Plain);
            if has(|e| e.tool) {
                add("Tool", Variant::Tool);
            }
            if has(|e| e.hitl) {
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
        self.names = names;
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
    /// What the first description says, where these descriptions have it; else the newest.
    pub fn default_version(&self) -> f64 {
        let versions = self.versions();
        let said = self.entries().next().and_then(|e| e.default_version);
        said.filter(|version| versions.contains(version))
            .or_else(|| versions.last().copied())
            .unwrap_or(1.0)
    }
    pub fn facts_key(&self, entry: &EntryRef, version: f64) -> FactsKey {
        FactsKey {
            offset: entry.offset,
            filter_version: filter_version(&self.entry.name, version),
            variant: self.variant,
        }
    }
    pub fn entry(&self, version: f64) -> Option<&'a EntryRef> {
        self.entries().find(|e| e.versions.contains(&version))
    }
}

/// What distinguishes decoded facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FactsKey {
    offset: usize,
    filter_version: u32,
    variant: Variant,
}

/// A decoded description, shared by the versions that it serves.
pub struct Facts {
    entry: Entry,
    properties: PropertyList,
}

impl Facts {
    /// Decodes one description from the body. None if the body is damaged.
    pub fn read(body: &[u8], entry: &EntryRef, key: FactsKey) -> Option<Self> {
        let bytes = body.get(entry.offset..entry.offset.checked_add(entry.len)?)?;
        let mut entry: Entry = serde_json::from_slice(bytes).ok()?;
        let own = properties(std::mem::take(&mut entry.properties), key.filter_version);
        let list = match key.variant {
            Variant::Plain => own,
            Variant::Tool => tool_properties(own, entry.described),
            Variant::HitlTool => hitl_properties(own),
        };
        Some(Facts {
            entry,
            properties: PropertyList::new(list),
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

fn slot(s: Slot, labels: &BTreeMap<String, String>) -> CredentialSlot {
    CredentialSlot {
        type_label: labels.get(&s.name).cloned(),
        name: s.name,
        label: s.label,
        required: s.required,
        display: DisplayOptions::from_facts(s.show, s.hide),
    }
}
