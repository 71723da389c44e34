//! From the catalog's facts of a parameter to the parameter itself.

use std::sync::{Arc, LazyLock};

use serde_json::Value;

use super::property::{
    DisplayOptions, LocatorMode, Plan, Property, PropertyGroup, PropertyKind, PropertyOption,
    TypeOptions,
};
use super::wire::{Choice, Mode, Prop, TypeOpts};

static NO_TYPE_OPTIONS: LazyLock<Arc<TypeOptions>> = LazyLock::new(Arc::default);

pub(super) fn property(p: Prop, filter_version: u32) -> Property {
    let group = |name, label, list| {
        let values = properties(list, filter_version);
        PropertyGroup {
            name,
            label,
            plan: Plan::new(&values, false),
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
        type_options: p.type_options.map_or_else(
            || NO_TYPE_OPTIONS.clone(),
            |t| Arc::new(type_options(*t, filter_version)),
        ),
        validate_type: p.validate_type,
        allow_arbitrary_values: p.arbitrary,
        data_path: p.data_path,
        node_setting: p.node_setting,
        credential_types: p.credential_types,
    }
}

pub(super) fn properties(list: Vec<Prop>, filter_version: u32) -> Vec<Property> {
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
