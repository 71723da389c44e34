//! `n8n/parameter`: n8n's check of parameter values, made on the values with defaults filled in. Required ones that are shown
//! and empty, resource locators against their mode's patterns, counts of fixed collections, values against their checked type.
//! The rules are n8n's to the letter, odd ones included (what is nested below nested collections is not looked at): a finding
//! here means that n8n refuses to publish the workflow.

use super::{
    field_type, js,
    js::is_truthy,
    path,
    report::{Draft, Report},
    subject::NodeView,
};
use crate::{
    catalog::{
        LocatorMode, NodeDescription, Property, PropertyGroup, PropertyKind, View, js_pattern,
    },
    finding::Severity,
};
use agentctl_base::counted::counted;
use serde_json::Value;

const CODE: &str = "n8n/parameter";

pub(super) fn check(node: &NodeView, report: &mut Report) {
    let Some(description) = node.description() else {
        return;
    };
    if let Some(error) = &node.fill_error {
        let message = format!("n8n cannot read the parameters: {error}");
        report.node(
            node,
            Draft::new(CODE, Severity::Error, "/parameters/", message),
        );
        return;
    }
    let mut issues = Issues {
        description,
        root: View::from(&node.filled),
        found: Vec::new(),
    };
    let mut checked = description.properties.checked();
    let read = checked.try_for_each(|(at, property)| {
        let value = description.value_of(at, &node.filled);
        // A name with dots in it may also be read as a path.
        let is_path = property.name.contains(['.', '[']);
        let by_path = || is_path.then(|| path::get(issues.root, &property.name));
        let value = value.or_else(|| by_path().flatten());
        let shown = description.is_shown(at, &node.filled);
        issues.property(property, "", value, shown)
    });
    match read {
        // n8n's own check fails on the values and says nothing else about the node.
        Err(Unreadable(pointer)) => {
            let message = format!(
                "n8n's own check fails on the value at {pointer}; set a value there or remove it"
            );
            report.node(
                node,
                Draft::new(CODE, Severity::Error, "/parameters/", message),
            );
        }
        Ok(()) => {
            for issue in issues.found {
                let message = issue.message.as_str();
                let draft = Draft::new(CODE, Severity::Error, issue.place, message);
                report.node(node, draft.named(issue.pointer).key(message));
            }
        }
    }
}

/// The place of a value on which n8n's check throws.
struct Unreadable(String);

/// Where a parameter's value stands: the path of its level, by n8n's way of writing, and its name.
#[derive(Clone, Copy)]
struct Spot<'s> {
    at: &'s str,
    name: &'s str,
}

impl Spot<'_> {
    fn pointer(self) -> String {
        path::pointer(self.at, self.name)
    }
    fn below(self, key: &str) -> String {
        path::joined(&self.pointer(), key)
    }
}

struct Issues<'a> {
    description: &'a NodeDescription,
    root: View<'a>,
    found: Vec<Issue>,
}

/// n8n names an issue by the parameter alone, however deep it stands: `/parameters/NAME`, `/parameters/NAME.FIELD` for a
/// mapped field. The place is where the value is.
struct Issue {
    pointer: String,
    place: String,
    message: String,
}

impl<'a> Issues<'a> {
    fn add(&mut self, spot: Spot<'_>, message: String) {
        self.add_at(spot.name, spot.pointer(), message);
    }

    fn add_at(&mut self, name: &str, place: String, message: String) {
        let known = |issue: &Issue| issue.place == place && issue.message == message;
        if !self.found.iter().any(known) {
            self.found.push(Issue {
                pointer: path::joined("/parameters", name),
                place,
                message,
            });
        }
    }

    fn value(&self, name: &str, at: &str) -> Option<&'a Value> {
        if at.is_empty() {
            path::get(self.root, name)
        } else {
            path::get(self.root, &format!("{at}.{name}"))
        }
    }

    fn shown(&self, property: &Property, at: &str) -> bool {
        let object = |path: &str| {
            let value = path::get(self.root, path).and_then(Value::as_object);
            value.map(View::from)
        };
        let level = if at.is_empty() {
            Some(self.root)
        } else {
            object(at)
        };
        // Below a parameter named `parameters`, n8n takes that one for the root.
        let root = match at.split('.').next() {
            Some("parameters") => object("parameters"),
            _ => Some(self.root),
        };
        let root = root.or(level).unwrap_or(self.root);
        self.description
            .displayed(property.display.as_ref(), level, root)
    }

    fn property(
        &mut self,
        property: &Property,
        at: &str,
        value: Option<&Value>,
        shown: bool,
    ) -> Result<(), Unreadable> {
        let spot = Spot {
            at,
            name: &property.name,
        };
        if property.required && shown {
            self.required(property, value, spot)?;
        }
        match property.kind {
            // Hidden ones are checked only for their type, as everything else.
            _ if !shown && is_composite(&property.kind) => {
                self.checked_type(property, value, spot);
            }
            PropertyKind::ResourceLocator
            | PropertyKind::WorkflowSelector
            | PropertyKind::AgentSelector => self.locator(property, value, spot),
            PropertyKind::ResourceMapper => self.mapper(property, value, spot)?,
            PropertyKind::Filter => filter(value, spot)?,
            _ => self.checked_type(property, value, spot),
        }
        self.children(property, at, shown)
    }

    fn inside(&mut self, group: &PropertyGroup, at: &str) -> Result<(), Unreadable> {
        group.checked().try_for_each(|(_, child)| {
            let shown = self.shown(child, at);
            let value = self.value(&child.name, at);
            self.property(child, at, value, shown)
        })
    }

    fn required(
        &mut self,
        property: &Property,
        value: Option<&Value>,
        spot: Spot<'_>,
    ) -> Result<(), Unreadable> {
        let empty = if property.type_options.multiple_values.is_some() {
            let mut empty = false;
            for single in value.and_then(Value::as_array).into_iter().flatten() {
                empty |= is_missing(property, Some(single), spot)?;
            }
            empty
        } else {
            is_missing(property, value, spot)?
        };
        if empty {
            let name = label(property);
            let message = format!("{name} is required and empty; set it");
            self.add(spot, message);
        }
        Ok(())
    }

    fn locator(&mut self, property: &Property, value: Option<&Value>, spot: Spot<'_>) {
        let Some(Value::Object(locator)) = value else {
            return;
        };
        let (Some(given), Some(mode)) = (locator.get("value"), locator.get("mode")) else {
            return;
        };
        let Some(mode) = property.modes.iter().find(|m| mode == m.name.as_str()) else {
            return;
        };
        let text = match given {
            Value::Null => String::new(),
            given => js::text(given),
        };
        if !text.starts_with('=') && !fits(mode, &text) {
            let (name, mode) = (label(property), &mode.label);
            let message = format!("{name}: {text:?} is no valid value by {mode:?}");
            self.add(spot, message);
        }
    }

    fn mapper(
        &mut self,
        property: &Property,
        value: Option<&Value>,
        spot: Spot<'_>,
    ) -> Result<(), Unreadable> {
        let Some(Value::Object(mapper)) = value else {
            return Ok(());
        };
        let (Some(mode), Some(schema), Some(values)) = (
            mapper.get("mappingMode"),
            mapper.get("schema"),
            mapper.get("value"),
        ) else {
            return Ok(());
        };
        if mode == "autoMapInputData" {
            return Ok(());
        }
        let Some(schema) = schema.as_array() else {
            return Err(Unreadable(spot.below("schema")));
        };
        let checks_required = property.type_options.mapper_mode.as_deref() == Some("add");
        for field in schema {
            if field.is_null() {
                return Err(Unreadable(spot.below("schema")));
            }
            self.mapped_field(field, values, checks_required, spot)?;
        }
        Ok(())
    }

    fn mapped_field(
        &mut self,
        field: &Value,
        values: &Value,
        checks_required: bool,
        spot: Spot<'_>,
    ) -> Result<(), Unreadable> {
        let id = field.get("id").map_or("undefined".to_owned(), js::text);
        let given = match is_truthy(values) {
            true => member(values, &id),
            false => Some(Value::Null),
        };
        let name = format!("{}.{id}", spot.name);
        let place = || path::joined(&spot.below("value"), &id);
        let required = checks_required && field.get("required").is_some_and(is_truthy);
        if required && (values.is_null() || given.is_none()) {
            let message = format!("the field {id:?} is required; map a value to it");
            self.add_at(&name, place(), message);
        }
        let kind = field.get("type").filter(|kind| is_truthy(kind));
        let (Some(given), Some(kind)) = (given, kind) else {
            return Ok(());
        };
        if given.is_null() || js::starts_an_expression(&given) {
            return Ok(());
        }
        let unreadable = || Unreadable(spot.below("schema"));
        let kind = kind.as_str().ok_or_else(unreadable)?;
        let choices = match field.get("options") {
            None | Some(Value::Null) => &[],
            Some(Value::Array(choices)) => choices.as_slice(),
            Some(_) if kind.eq_ignore_ascii_case("options") => return Err(unreadable()),
            Some(_) => &[],
        };
        if let Some(problem) = field_type::problem(&given, kind, choices) {
            self.add_at(&name, place(), format!("the field {id:?} {problem}"));
        }
        Ok(())
    }

    fn checked_type(&mut self, property: &Property, value: Option<&Value>, spot: Spot<'_>) {
        let (Some(kind), Some(value)) = (property.validate_type.as_deref(), value) else {
            return;
        };
        let choices = property.options.iter();
        let choices = choices.filter(|_| kind.eq_ignore_ascii_case("options"));
        let choices: Vec<Value> = choices
            .map(|option| serde_json::json!({"value": option.value}))
            .collect();
        if let Some(problem) = field_type::problem(value, kind, &choices) {
            let message = format!("{} {problem}", label(property));
            self.add(spot, message);
        }
    }

    fn children(&mut self, property: &Property, at: &str, shown: bool) -> Result<(), Unreadable> {
        // n8n does not add the collection's own name: what is required inside is looked for beside it.
        let base = if at.is_empty() {
            String::new()
        } else {
            format!("{at}.")
        };
        match property.kind {
            PropertyKind::Collection => property
                .groups
                .first()
                .map_or(Ok(()), |group| self.inside(group, &base)),
            PropertyKind::FixedCollection if shown => {
                let base = if base.is_empty() {
                    property.name.clone()
                } else {
                    base
                };
                for group in &property.groups {
                    self.group(property, group, &base, at)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn group(
        &mut self,
        property: &Property,
        group: &PropertyGroup,
        base: &str,
        at: &str,
    ) -> Result<(), Unreadable> {
        let spot = Spot {
            at,
            name: &property.name,
        };
        let value = self.value(&group.name, base);
        let count = value.and_then(Value::as_array).map_or(0, Vec::len);
        let options = &property.type_options;
        if let Some(least) = options.min_required_fields.filter(|n| count < *n as usize) {
            let message = format!(
                "{} needs at least {}",
                label(property),
                counted(least, "field")
            );
            self.add(spot, message);
        }
        if let Some(most) = options
            .max_allowed_fields
            .filter(|n| *n > 0 && count > *n as usize)
        {
            let message = format!(
                "{} takes at most {}",
                label(property),
                counted(most, "field")
            );
            self.add(spot, message);
        }
        let Some(value) = value else { return Ok(()) };
        let at = format!("{base}.{}", group.name);
        if options.multiple_values.is_some() {
            for i in 0..value.as_array().map_or(0, Vec::len) {
                self.inside(group, &format!("{at}[{i}]"))?;
            }
            return Ok(());
        }
        self.inside(group, &at)
    }
}

/// n8n types a filter's conditions but never reports what it finds; it only trips over a list that is none.
fn filter(value: Option<&Value>, spot: Spot<'_>) -> Result<(), Unreadable> {
    match value {
        Some(Value::Object(filter)) if filter.contains_key("combinator") => {
            match filter.get("conditions") {
                None | Some(Value::Array(_)) => Ok(()),
                Some(_) => Err(Unreadable(spot.below("conditions"))),
            }
        }
        _ => Ok(()),
    }
}

/// `values[id]`; texts and lists have numbered members.
fn member(values: &Value, id: &str) -> Option<Value> {
    match values {
        Value::Object(map) => map.get(id).cloned(),
        Value::Array(list) => list.get(id.parse::<usize>().ok()?).cloned(),
        Value::String(text) => {
            let letter = text.chars().nth(id.parse().ok()?)?;
            Some(Value::String(letter.to_string()))
        }
        _ => None,
    }
}

fn label(property: &Property) -> String {
    if property.label.is_empty() || property.label == property.name {
        format!("{:?}", property.name)
    } else {
        format!("{:?} ({})", property.label, property.name)
    }
}

fn is_composite(kind: &PropertyKind) -> bool {
    matches!(
        kind,
        PropertyKind::ResourceLocator
            | PropertyKind::WorkflowSelector
            | PropertyKind::AgentSelector
            | PropertyKind::ResourceMapper
            | PropertyKind::Filter
    )
}

/// What n8n takes for "required but empty", by kind of parameter; other kinds are never missing.
fn is_missing(
    property: &Property,
    value: Option<&Value>,
    spot: Spot<'_>,
) -> Result<bool, Unreadable> {
    let is_empty_text = value.is_none_or(|v| v.as_str() == Some(""));
    Ok(match property.kind {
        PropertyKind::String | PropertyKind::DateTime | PropertyKind::Options => is_empty_text,
        PropertyKind::MultiOptions => value.and_then(Value::as_array).is_some_and(Vec::is_empty),
        PropertyKind::ResourceLocator
        | PropertyKind::WorkflowSelector
        | PropertyKind::AgentSelector => match value {
            None => true,
            Some(Value::Null) => return Err(Unreadable(spot.pointer())),
            Some(Value::Object(locator)) => {
                let value = locator.get("value");
                !value.is_some_and(|v| v.is_number() || is_truthy(v))
            }
            Some(Value::Array(_)) => true,
            Some(other) => !is_truthy(other),
        },
        _ => false,
    })
}

/// Whether the whole text fits every pattern of the mode. A pattern that cannot be read here refuses nothing.
fn fits(mode: &LocatorMode, text: &str) -> bool {
    mode.patterns
        .iter()
        .all(|pattern| js_pattern::found(&format!("^{pattern}$"), text).unwrap_or(true))
}
