//! What a recipe says beside a parameter's name and choices: the shape of a value that is an object of n8n's own, when a part is shown,
//! and the inputs and outputs of a node that has others than the plain ones.

use super::comparisons::{ANY, OF_ANY_TYPE, OPERATIONS};
use super::description::Port;
use super::property::{Condition, DisplayOptions, PropertyKind};
use super::recipe::short;

/// The value of a parameter of this kind, by an example. None: a plain one, or one whose parts say it.
pub(super) fn shape(kind: &PropertyKind) -> Vec<String> {
    let example = match kind {
        PropertyKind::Filter => {
            r#"{"combinator": "and", "conditions": [{"leftValue": "={{ $json.amount }}", "rightValue": 100, "operator": {"type": "number", "operation": "gt"}}], "options": {"caseSensitive": true, "leftValue": "", "typeValidation": "loose", "version": 2}}"#
        }
        PropertyKind::ResourceMapper => {
            r#"{"mappingMode": "defineBelow", "value": {"COLUMN": "={{ $json.field }}"}, "matchingColumns": ["COLUMN"], "schema": []}; "mappingMode": "autoMapInputData" takes the item's own fields"#
        }
        PropertyKind::AssignmentCollection => {
            r#"{"assignments": [{"id": "1", "name": "field", "value": "={{ $json.other }}", "type": "string"}]}; type string, number, boolean, array or object"#
        }
        PropertyKind::ResourceLocator => r#"{"__rl": true, "mode": "id", "value": "…"}"#,
        _ => return Vec::new(),
    };
    let mut lines = vec![format!("like {example}")];
    if *kind == PropertyKind::Filter {
        let of_type = OPERATIONS
            .iter()
            .map(|(kind, names)| format!("operations of {kind}: {}", names.join(", ")));
        lines.extend(of_type);
        lines.push(format!(
            "of each type, and of {ANY}: {}",
            OF_ANY_TYPE.join(", ")
        ));
    }
    lines
}

/// When a part is shown, as far as plain values say it: `object=text & action=insert|create`.
pub(super) fn shown_if(display: Option<&DisplayOptions>) -> Option<String> {
    let rules = display?.show.iter().filter_map(|(name, conditions)| {
        let values = conditions.iter().map(|condition| match condition {
            Condition::Is(value) | Condition::Eq(value) => Some(short(value)),
            _ => None,
        });
        let values: Vec<String> = values.collect::<Option<_>>()?;
        let name = name.trim_start_matches('/');
        // Of which version a part is the recipe has settled.
        (!name.starts_with('@')).then(|| format!("{name}={}", values.join("|")))
    });
    let rules: Vec<String> = rules.collect();
    (!rules.is_empty()).then(|| rules.join(" & "))
}

/// Ports in words, in their order: `0 done, 1 loop`; of one plain port, and of none, nothing. `*`: something must be connected.
pub(super) fn ports(ports: &[Port], is_output: bool) -> Vec<String> {
    let is_main = |port: &Port| port.kind == "main";
    if ports.len() <= 1 && ports.iter().all(is_main) {
        return Vec::new();
    }
    let mut mains = 0..;
    let several = ports.iter().filter(|port| is_main(port)).count() > 1;
    let told = ports.iter().map(|port| {
        let label = port.label.as_deref().filter(|label| !label.is_empty());
        let mark = if port.required { "*" } else { "" };
        let one = if port.max == Some(1) && !is_output {
            " (one)"
        } else {
            ""
        };
        match (is_main(port), several) {
            (true, true) => {
                let at: usize = mains.next().unwrap_or_default();
                format!("{at} {}{mark}", label.unwrap_or("main"))
            }
            _ => format!("{}{mark}{one}", port.kind),
        }
    });
    told.collect()
}
