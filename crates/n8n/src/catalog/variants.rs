//! The tool variants that n8n makes of nodes: `…Tool`, callable by an agent, and `…HitlTool`, which asks a person first.
//! They stand in no published description; this derives the same facts by n8n's rules.

use serde_json::{Map, Value, json};

use super::decode_property::property;
use super::description::{
    NodeDescription, NodeKind, OMITTED_EXPRESSION, OMITTED_TEXT, Port, Ports,
};
use super::property::{Condition, DisplayOptions, Property, PropertyKind, PropertyOption};
use super::wire::Prop;

/// n8n's tool: no inputs, one tool output; a description for the model, set by hand where the node has operations.
pub fn make_tool(d: &mut NodeDescription, base: &str) {
    d.made_from = Some(base.to_owned());
    d.label.push_str(" Tool");
    d.kind = NodeKind::Tool;
    d.inputs = Ports::Fixed(Vec::new());
    d.outputs = Ports::Fixed(vec![Port::new("ai_tool")]);
    d.usable_as_tool = false;
}

/// The parameters of n8n's tool, from the node's own; `described`: n8n has a description of the node to take as default.
pub fn tool_properties(mut properties: Vec<Property>, described: bool) -> Vec<Property> {
    let named = |name: &str| properties.iter().any(|p| p.name == name);
    if named("toolDescription") {
        return properties;
    }
    let by_operation = named("resource") || named("operation");
    let mut tool_description = plain("toolDescription", "Description", PropertyKind::String);
    tool_description.required = true;
    tool_description.default = Value::String(if described {
        OMITTED_TEXT.to_owned()
    } else {
        String::new()
    });
    tool_description.default_omitted = described;
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
    properties
}

/// n8n's approval tool: a message, and the node's own parameters fixed on its send-and-wait operation.
pub fn make_hitl_tool(d: &mut NodeDescription, base: &str) {
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
}

/// The parameters of n8n's approval tool, from the node's own.
pub fn hitl_properties(own: Vec<Property>) -> Vec<Property> {
    let resource = own.iter().find_map(send_and_wait_resource);
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
    for property in own {
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
            _ => properties.push(property),
        }
    }
    properties
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
        Condition::Is(value) if !value.is_null() => Some(value.clone()),
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
