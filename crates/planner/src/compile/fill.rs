//! Maps a step's arguments onto a node's parameters by role, kind and name, and fills required ones that are left.
//! Catalog-driven: it sets only parameters that are shown under what is set already. Adapters run before it.

use serde_json::{Map, Value, json};

use super::super::plan::{Arg, Role};
use super::draft::{At, Draft};
use super::facts::{Facts, shown};
use super::place::{self, shape};
use super::roles::{self, fit};
use super::words::{self, words};
use agentctl_n8n::catalog::{Property, PropertyKind};

const ROOT: f64 = 0.62;
const PART: f64 = 0.6;

/// Parameters that arguments never land in.
fn reserved(name: &str) -> bool {
    matches!(
        name,
        "resource"
            | "operation"
            | "authentication"
            | "requestOptions"
            | "simple"
            | "simplify"
            | "returnAll"
            | "jsonParameters"
            | "options.appendAttribution"
    )
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(s) => s.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => match map.get("value") {
            Some(inner) if map.contains_key("mode") => is_empty(inner),
            _ => map.is_empty(),
        },
        _ => false,
    }
}

/// One argument on its way to a parameter.
struct Wish<'a> {
    arg: &'a Arg,
    value: Value,
    done: bool,
}

/// The node whose parameters are filled.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target<'a> {
    pub node_type: &'a str,
    /// What it is called where something of it is left to do.
    pub name: &'a str,
}

impl Draft<'_> {
    /// Completes `params` of a node from the arguments and the data at hand. `object` helps to name what is missing.
    pub(super) fn fill(
        &mut self,
        at: &At,
        facts: &Facts,
        params: &mut Map<String, Value>,
        args: &[Arg],
        node: Target<'_>,
    ) {
        let mut wishes: Vec<Wish<'_>> = args
            .iter()
            .map(|arg| Wish {
                arg,
                value: self.value(at, &arg.value),
                done: false,
            })
            .collect();
        for _ in 0..4 {
            if !self.fill_root(facts, params, &mut wishes) {
                break;
            }
        }
        self.fill_collections(facts, params, &mut wishes);
        self.fill_mapper(at, facts, params, &mut wishes);
        self.fill_pairs(facts, params, &mut wishes);
        self.fill_required(at, facts, params, node);
        for wish in wishes.iter().filter(|w| !w.done) {
            if let Role::Field(name) = &wish.arg.role {
                self.note(format!(
                    "{}: no parameter for {name:?} was found",
                    node.name
                ));
            }
        }
    }

    fn fill_root(
        &self,
        facts: &Facts,
        params: &mut Map<String, Value>,
        wishes: &mut [Wish<'_>],
    ) -> bool {
        let mut any = false;
        loop {
            let free: Vec<&Property> = shown(facts, params)
                .into_iter()
                .filter(|p| {
                    !params.contains_key(&p.name)
                        && !reserved(&p.name)
                        && !matches!(
                            p.kind,
                            PropertyKind::Hidden
                                | PropertyKind::Collection
                                | PropertyKind::FixedCollection
                                | PropertyKind::ResourceMapper
                                | PropertyKind::Filter
                                | PropertyKind::AssignmentCollection
                        )
                })
                .collect();
            let mut best: Option<(usize, &Property, Value, f64)> = None;
            for (index, wish) in wishes.iter().enumerate() {
                if wish.done {
                    continue;
                }
                for property in &free {
                    let mut score = fit(&wish.arg.role, property);
                    if property.required {
                        score += 0.05;
                    }
                    if score < ROOT || score <= best.as_ref().map_or(0.0, |b| b.3) {
                        continue;
                    }
                    if let Some(value) = shape(property, &wish.value) {
                        best = Some((index, property, value, score));
                    }
                }
            }
            let Some((index, property, value, _)) = best else {
                return any;
            };
            params.insert(property.name.clone(), value);
            if property.name == "limit" && facts.property(params, "returnAll").is_some() {
                params.insert("returnAll".into(), Value::Bool(false));
            }
            if let Some(wish) = wishes.get_mut(index) {
                wish.done = true;
            }
            any = true;
        }
    }

    fn fill_collections(
        &self,
        facts: &Facts,
        params: &mut Map<String, Value>,
        wishes: &mut [Wish<'_>],
    ) {
        for wish in wishes.iter_mut().filter(|w| !w.done) {
            let mut best: Option<(String, String, Value, f64)> = None;
            for collection in shown(facts, params) {
                if collection.kind != PropertyKind::Collection
                    || collection.name == "requestOptions"
                {
                    continue;
                }
                for child in facts.children(collection, params) {
                    let taken = params
                        .get(&collection.name)
                        .and_then(|c| c.get(&child.name))
                        .is_some();
                    if taken || matches!(child.kind, PropertyKind::Hidden) {
                        continue;
                    }
                    let mut score = fit(&wish.arg.role, child);
                    if collection.name == "options" {
                        score -= 0.03;
                    }
                    if score < PART || score <= best.as_ref().map_or(0.0, |b| b.3) {
                        continue;
                    }
                    let value = shape(child, &wish.value).or_else(|| wrapped(child, &wish.value));
                    if let Some(value) = value {
                        best = Some((collection.name.clone(), child.name.clone(), value, score));
                    }
                }
            }
            if let Some((collection, child, value, _)) = best {
                let slot = params
                    .entry(collection)
                    .or_insert_with(|| Value::Object(Map::new()));
                if let Some(map) = slot.as_object_mut() {
                    map.insert(child, value);
                    wish.done = true;
                }
            }
        }
    }

    /// Columns: what the request names, else all fields that come in.
    fn fill_mapper(
        &mut self,
        at: &At,
        facts: &Facts,
        params: &mut Map<String, Value>,
        wishes: &mut [Wish<'_>],
    ) {
        let Some(mapper) = shown(facts, params)
            .into_iter()
            .find(|p| p.kind == PropertyKind::ResourceMapper && !params.contains_key(&p.name))
        else {
            return;
        };
        let mut columns = Vec::new();
        let mut match_on = Vec::new();
        for wish in wishes.iter_mut().filter(|w| !w.done) {
            if wish.arg.role == Role::MatchOn {
                if let Some(name) = wish.value.as_str() {
                    match_on.push(name.trim_start_matches('=').to_owned());
                }
                wish.done = true;
            } else if roles::is_content(&wish.arg.role) {
                columns.push((roles::as_field(&wish.arg.role), wish.value.clone()));
                wish.done = true;
            }
        }
        // A record that was read is changed by its id.
        let changes = params.get("operation").and_then(Value::as_str) == Some("update");
        if changes
            && match_on.is_empty()
            && !columns.is_empty()
            && let Some(read) = self.read_from(at, super::service::short_of(&facts.0.node_type))
        {
            let id = super::expr::expression(&self.at_origin(at, read, "id"));
            columns.insert(0, ("id".to_owned(), id));
            match_on.push("id".to_owned());
        }
        let value = self.mapper(at, mapper, columns, match_on);
        params.insert(mapper.name.clone(), value);
    }

    /// A resource mapper's value.
    pub(super) fn mapper(
        &self,
        at: &At,
        mapper: &Property,
        columns: Vec<(String, Value)>,
        match_on: Vec<String>,
    ) -> Value {
        if columns.is_empty() && at.tool.is_none() && mapper.type_options.mapper_auto {
            return json!({"mappingMode": "autoMapInputData", "value": {}, "matchingColumns": match_on, "schema": []});
        }
        let mut columns = columns;
        for key in &match_on {
            if !columns.iter().any(|(name, _)| name == key) {
                let value = super::expr::expression(&self.field(at, key, None));
                columns.insert(0, (key.clone(), value));
            }
        }
        let schema: Vec<Value> = columns
            .iter()
            .map(|(name, _)| {
                json!({"id": name, "displayName": name, "required": false, "defaultMatch": match_on.contains(name), "display": true, "type": "string", "canBeUsedToMatch": true})
            })
            .collect();
        let value: Map<String, Value> = columns.into_iter().collect();
        json!({"mappingMode": "defineBelow", "value": value, "matchingColumns": match_on, "schema": schema, "attemptToConvertTypes": false, "convertFieldsToString": false})
    }

    /// Custom fields as pairs: a fixed collection whose parts are a name and a value.
    fn fill_pairs(&self, facts: &Facts, params: &mut Map<String, Value>, wishes: &mut [Wish<'_>]) {
        if wishes
            .iter()
            .all(|w| w.done || !matches!(w.arg.role, Role::Field(_)))
        {
            return;
        }
        let mut slot: Option<(Option<String>, Property)> = None;
        for property in shown(facts, params) {
            match property.kind {
                PropertyKind::FixedCollection if pair_names(property).is_some() => {
                    slot = Some((None, property.clone()));
                    break;
                }
                PropertyKind::Collection => {
                    let child = facts.children(property, params).into_iter().find(|c| {
                        c.kind == PropertyKind::FixedCollection && pair_names(c).is_some()
                    });
                    if let (None, Some(child)) = (&slot, child) {
                        slot = Some((Some(property.name.clone()), child.clone()));
                    }
                }
                _ => {}
            }
        }
        let Some((parent, property)) = slot else {
            return;
        };
        let Some((group, key, value_name)) = pair_names(&property) else {
            return;
        };
        if ["id", "fieldId", "customFieldId"].contains(&key.as_str()) {
            // A name is no id of a field: what has no field of its own is told in the text.
            self.fill_text(facts, params, wishes);
            return;
        }
        let mut list = Vec::new();
        for wish in wishes
            .iter_mut()
            .filter(|w| !w.done && matches!(w.arg.role, Role::Field(_)))
        {
            let name = roles::as_field(&wish.arg.role);
            list.push(json!({key.as_str(): name, value_name.as_str(): wish.value}));
            wish.done = true;
        }
        if list.is_empty() {
            return;
        }
        let pairs = json!({group: list});
        match parent {
            None => {
                params.entry(property.name).or_insert(pairs);
            }
            Some(parent) => {
                let slot = params
                    .entry(parent)
                    .or_insert_with(|| Value::Object(Map::new()));
                if let Some(map) = slot.as_object_mut() {
                    map.insert(property.name, pairs);
                }
            }
        }
    }

    /// What has no field of its own, as lines of the text that a record has.
    fn fill_text(&self, facts: &Facts, params: &mut Map<String, Value>, wishes: &mut [Wish<'_>]) {
        const TEXTS: &[&str] = &["description", "content", "body", "text", "notes"];
        let text = |p: &&Property| {
            p.kind == PropertyKind::String
                && TEXTS.contains(&p.name.as_str())
                && !params.contains_key(&p.name)
        };
        let Some(place) = shown(facts, params)
            .into_iter()
            .find(text)
            .map(|p| p.name.clone())
        else {
            return;
        };
        let mut lines = Vec::new();
        for wish in wishes
            .iter_mut()
            .filter(|w| !w.done && matches!(w.arg.role, Role::Field(_)))
        {
            let name = crate::lexicon::capital(&roles::as_field(&wish.arg.role));
            let value = wish
                .value
                .as_str()
                .map_or_else(|| wish.value.to_string(), str::to_owned);
            lines.push(format!("{name}: {}", value.trim_start_matches('=')));
            wish.done = true;
        }
        let lines = lines.join("\n");
        let sign = if lines.contains("{{") { "=" } else { "" };
        params.insert(place, Value::String(format!("{sign}{lines}")));
    }

    /// What n8n asks for and nobody gave: from the data when a field fits, else a placeholder and a word about it.
    pub(super) fn fill_required(
        &mut self,
        at: &At,
        facts: &Facts,
        params: &mut Map<String, Value>,
        node: Target<'_>,
    ) {
        for _ in 0..3 {
            let missing: Vec<Property> = shown(facts, params)
                .into_iter()
                .filter(|p| {
                    (p.required || asks(p))
                        && !params.contains_key(&p.name)
                        && is_empty(&p.default)
                        && !p.kind.is_decoration()
                        && p.kind != PropertyKind::Hidden
                })
                .cloned()
                .collect();
            if missing.is_empty() {
                return;
            }
            for property in missing {
                if let Some(value) = self.guess(at, &property, node) {
                    params.insert(property.name.clone(), value);
                }
            }
        }
    }

    /// The data at hand, where it is of a node's own service: another's ids say nothing there.
    fn own_subject(&self, at: &At, node_type: &str) -> Option<usize> {
        self.subject(at).filter(|i| self.is_of(*i, node_type))
    }

    /// Whether an origin is a node of this type.
    pub(super) fn is_made_by(&self, origin: usize, node_type: &str) -> bool {
        let name = self.origins.get(origin).map(|o| o.node.as_str());
        let made = self.workflow.nodes.iter().find(|n| Some(n.name()) == name);
        made.is_some_and(|n| n.node_type() == node_type)
    }

    fn is_of(&self, origin: usize, node_type: &str) -> bool {
        let name = self
            .origins
            .get(origin)
            .map(|o| o.again.as_ref().unwrap_or(&o.node).as_str());
        let made = self.workflow.nodes.iter().find(|n| Some(n.name()) == name);
        let service = |t: &str| {
            let mut all = crate::lexicon::services().iter();
            all.find(|s| s.has_node(t)).map(|s| s.key.as_str())
        };
        made.is_none_or(|n| {
            n.node_type() == node_type || service(n.node_type()) == service(node_type)
        })
    }

    /// The id of the record at hand, where a label asks for one of its kind ("File", "Deal to Update").
    fn own_id(&self, at: &At, label: &str, node_type: &str) -> Option<String> {
        let subject = self.own_subject(at, node_type)?;
        let kind = self.origins.get(subject)?.about.first()?;
        let asked = words(label).into_iter().any(|w| w == *kind);
        asked.then(|| self.has_field(at, "id")).flatten()
    }

    fn guess(&mut self, at: &At, property: &Property, target: Target<'_>) -> Option<Value> {
        let node = target.name;
        let label = if property.label.is_empty() {
            property.name.clone()
        } else {
            property.label.clone()
        };
        let label = label
            .replace(" Name or ID", "")
            .replace(" Names or IDs", "");
        if let Some(inputs) = &at.tool {
            let textual = matches!(
                property.kind,
                PropertyKind::String
                    | PropertyKind::DateTime
                    | PropertyKind::Number
                    | PropertyKind::Json
            );
            if textual {
                let js = self.from_ai(inputs, &label);
                return shape(property, &super::expr::expression(&js));
            }
        }
        match property.kind {
            PropertyKind::String
            | PropertyKind::DateTime
            | PropertyKind::Json
            | PropertyKind::Number => {
                let found = self
                    .has_field(at, &property.name)
                    .or_else(|| self.has_field(at, &label));
                if let Some(js) = found {
                    return shape(property, &super::expr::expression(&js));
                }
                let id = words(&property.name).last().is_some_and(|w| w == "id")
                    || words(&label).iter().any(|w| w == "id");
                if id && let Some(subject) = self.own_subject(at, target.node_type) {
                    let js = self.at_origin(at, subject, "id");
                    return shape(property, &super::expr::expression(&js));
                }
                let textual = [
                    "text",
                    "message",
                    "body",
                    "content",
                    "prompt",
                    "description",
                    "title",
                    "subject",
                    "name",
                    "summary",
                ]
                .iter()
                .any(|w| {
                    // `cityName` is no place for a title
                    let parts = words::plain(&property.name);
                    parts.iter().any(|p| p == w) && (*w != "name" || parts.len() == 1)
                });
                let subject = self
                    .subject(at)
                    .filter(|i| self.origins.get(*i).is_some_and(|o| !o.closed));
                if textual && let Some(subject) = subject {
                    let js = self.gist(at, subject);
                    return shape(property, &super::expr::expression(&js));
                }
                if property.kind == PropertyKind::Number {
                    return None;
                }
                self.todo("value", node, format!("fill in {label:?}"));
                Some(Value::String(format!("<{label}>")))
            }
            PropertyKind::Options => {
                let filled = |o: &&agentctl_n8n::catalog::PropertyOption| o.value != json!("");
                if let Some(first) = property.options.iter().find(filled)
                    && !property.has_dynamic_options()
                {
                    return Some(first.value.clone());
                }
                self.todo("value", node, format!("choose {label:?}"));
                Some(Value::String(format!("<{label}>")))
            }
            PropertyKind::MultiOptions => {
                if let Some(first) = property.options.first() {
                    return Some(json!([first.value]));
                }
                self.todo("value", node, format!("choose {label:?}"));
                None
            }
            PropertyKind::ResourceLocator => {
                if let Some(js) = self.own_id(at, &label, target.node_type) {
                    let value = super::expr::expression(&js);
                    return Some(json!({"__rl": true, "mode": "id", "value": value}));
                }
                self.todo("id", node, format!("choose {label:?}"));
                Some(place::locator(
                    property,
                    &Value::String(format!("<{label}>")),
                ))
            }
            _ => None,
        }
    }

    /// A short text about an item of an origin.
    pub(super) fn gist(&self, at: &At, origin: usize) -> String {
        let item = self.item(at, origin);
        let Some(known) = self.origins.get(origin) else {
            return format!("{item}.toJsonString()");
        };
        let telling = [
            "title", "subject", "summary", "headline", "text", "message", "name",
        ];
        for want in telling {
            let hit = known
                .fields
                .iter()
                .find(|(said, _)| said.split('|').any(|s| s == want));
            if let Some((_, path)) = hit {
                return self.at_origin(at, origin, path);
            }
        }
        format!("JSON.stringify({})", self.at_origin(at, origin, ""))
    }
}

/// Not marked as required, but n8n fails without it.
fn asks(property: &Property) -> bool {
    property.kind == PropertyKind::ResourceLocator
}

/// A value inside a fixed collection with a single field, or a locator.
fn wrapped(property: &Property, value: &Value) -> Option<Value> {
    if property.kind != PropertyKind::FixedCollection {
        return None;
    }
    let group = property.groups.first()?;
    let fields: Vec<&Property> = group
        .values
        .iter()
        .filter(|p| !p.kind.is_decoration())
        .collect();
    // Beside the value only choices with a default: a list of addresses, each with a label.
    let only = match fields.as_slice() {
        [only] => only,
        several => {
            let mut texts = several.iter().filter(|p| p.kind == PropertyKind::String);
            let value = texts.clone().find(|p| {
                matches!(
                    p.name.as_str(),
                    "value" | "email" | "phone" | "number" | "address"
                )
            })?;
            if texts.any(|p| p.name != value.name && p.required) {
                return None;
            }
            value
        }
    };
    let inner = shape(only, value)?;
    let part = json!({only.name.as_str(): inner});
    let multiple = property.type_options.multiple_values == Some(true);
    Some(json!({group.name.as_str(): if multiple { json!([part]) } else { part }}))
}

/// (group, name of the key, name of the value) of a list of custom fields.
fn pair_names(property: &Property) -> Option<(String, String, String)> {
    let group = property.groups.first()?;
    let keys = [
        "fieldId",
        "name",
        "key",
        "field",
        "property",
        "fieldName",
        "id",
        "columnName",
        "column",
        "customFieldId",
        "label",
    ];
    let values = ["fieldValue", "value", "values", "columnValue"];
    let find = |list: &[&str]| {
        list.iter()
            .find_map(|n| {
                group.values.iter().find(|p| {
                    p.name == *n && matches!(p.kind, PropertyKind::String | PropertyKind::Options)
                })
            })
            .map(|p| p.name.clone())
    };
    let list = property.type_options.multiple_values == Some(true);
    if !list {
        return None;
    }
    let lower = property.name.to_lowercase();
    let custom = lower.contains("field")
        || lower.contains("propert")
        || lower.contains("custom")
        || lower.contains("metadata");
    if !custom {
        return None;
    }
    Some((group.name.clone(), find(&keys)?, find(&values)?))
}
