//! Which accounts a node needs, and which it has. Names and types only: nothing here has ever seen a credential's content.

use super::catalog::{Catalog, CredentialSlot, DisplayOptions, NodeDescription, View};
use super::workflow::{Node, Workflow};
use serde::Serialize;
use serde_json::{Map, Value};

/// One credential that a node asks for under its parameters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Need {
    pub node: String,
    pub credential_type: String,
    /// The id that the node names; None: still to be connected.
    pub id: Option<String>,
}

/// The credentials that the node cannot do without.
pub fn needs(node: &Node, catalog: &Catalog) -> Vec<Need> {
    let Some(description) = catalog
        .lookup(node.node_type(), node.type_version())
        .known()
    else {
        return Vec::new();
    };
    let none = Map::new();
    let filled = description.fill_defaults(node.parameters().unwrap_or(&none));
    let mut types: Vec<String> = description
        .credentials
        .iter()
        .filter(|slot| slot.required || is_by_authentication(slot))
        .filter(|slot| description.credential_visible(slot, &filled))
        .map(|slot| slot.name.clone())
        .collect();
    if let Some(chosen) = chosen(|key| filled.get(key))
        && !types.iter().any(|known| known == chosen)
    {
        types.push(chosen.to_owned());
    }
    types
        .into_iter()
        .map(|credential_type| Need {
            node: node.name().to_owned(),
            id: connected(node, &credential_type),
            credential_type,
        })
        .collect()
}

/// n8n does not call it required, and the authentication that shows it does not work without it.
pub(crate) fn is_by_authentication(slot: &CredentialSlot) -> bool {
    let shows =
        |display: &DisplayOptions| display.show.iter().any(|(name, _)| name == AUTHENTICATION);
    !slot.required && slot.display.as_ref().is_some_and(shows)
}

const AUTHENTICATION: &str = "authentication";

/// Whether the node takes a credential of this type under its parameters, whether it can do without it or not. `filled`: these, with
/// defaults.
pub(crate) fn takes<'v>(
    description: &NodeDescription,
    filled: impl Into<View<'v>>,
    credential_type: &str,
) -> bool {
    let filled = filled.into();
    let shown = description
        .credentials
        .iter()
        .any(|slot| slot.name == credential_type && description.credential_visible(slot, filled));
    shown || chosen(|key| filled.get(key)) == Some(credential_type)
}

/// The credential type that a request's own parameters choose by its authentication; None: they choose none, or it is computed. `parameter`:
/// one of them, with defaults.
pub(crate) fn chosen<'v>(parameter: impl Fn(&str) -> Option<&'v Value>) -> Option<&'v str> {
    let text = |key: &str| parameter(key).and_then(Value::as_str);
    let chosen = match text("authentication")? {
        "predefinedCredentialType" => text("nodeCredentialType"),
        "genericCredentialType" => text("genericAuthType"),
        _ => None,
    };
    chosen.filter(|c| !c.is_empty() && !c.starts_with('='))
}

/// Every need of the nodes that are switched on.
pub fn all_needs(workflow: &Workflow, catalog: &Catalog) -> Vec<Need> {
    let on = workflow.nodes.iter().filter(|node| !node.disabled());
    on.flat_map(|node| needs(node, catalog)).collect()
}

fn connected(node: &Node, credential_type: &str) -> Option<String> {
    let id = node.credentials()?.get(credential_type)?.get("id")?;
    let id = match id {
        Value::String(id) => id.clone(),
        Value::Number(id) => id.to_string(),
        _ => return None,
    };
    (!id.is_empty()).then_some(id)
}
