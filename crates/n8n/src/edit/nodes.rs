//! Operations on nodes: adding, removing, renaming, and setting what belongs to one node.

use super::{NewNode, address, connections, merge, pointer, references, refusal::Refusal};
use crate::workflow::{Node, NodeId, RUN_SETTINGS, Workflow, number};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// Node-level keys that say nothing about a run, and that no other operation sets.
const OTHER_SETTINGS: [&str; 3] = ["notes", "notesInFlow", "webhookId"];
const ON_ERROR: [&str; 3] = [
    "stopWorkflow",
    "continueRegularOutput",
    "continueErrorOutput",
];
/// Tries of the caller's id source before giving up: it repeats itself.
const ID_TRIES: usize = 8;
/// Bytes. A name stands again wherever an expression or a connection speaks of the node.
const LONGEST_NAME: usize = 512;
/// What objects and functions have by these names in JavaScript, whatever is put into them.
const EVERY_OBJECTS: [&str; 13] = [
    "__proto__",
    "constructor",
    "prototype",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
];
/// Bytes by which one operation may grow a text beyond the first place that it replaces: a list of operations must not be able
/// to make more text than there is memory.
const MOST_GROWTH: usize = 64 * 1024;

pub(super) fn add(
    workflow: &mut Workflow,
    new: &NewNode,
    ids: &mut dyn FnMut() -> String,
    unplaced: &mut Vec<NodeId>,
) -> Result<(), Refusal> {
    check_free_name(workflow, &new.name)?;
    if !new.node_type.contains('.') {
        return Err(format!(
            "{:?} is no full node type; write it with its package, like \"n8n-nodes-base.slack\"",
            new.node_type
        ));
    }
    let id = free_id(workflow, new.id.as_deref(), ids)?;
    let mut node = Node::new(
        id.clone(),
        new.name.as_str(),
        new.node_type.as_str(),
        1.0,
        new.parameters.clone(),
    );
    match new.type_version {
        Some(version) => set_version(&mut node, version)?,
        None => {
            node.map_mut().shift_remove("typeVersion");
        }
    }
    match new.position {
        Some(position) => place(&mut node, position)?,
        None => {
            node.map_mut().shift_remove("position");
            unplaced.push(id);
        }
    }
    let mut settings = new.settings.clone();
    match settings.shift_remove("disabled") {
        None | Some(Value::Null | Value::Bool(false)) => {}
        Some(Value::Bool(true)) => node.set("disabled", Value::Bool(true)),
        Some(_) => return Err("`disabled` is not true or false; write one of them".to_owned()),
    }
    check_settings(&settings)?;
    merge(node.map_mut(), &settings);
    workflow.nodes.push(node);
    Ok(())
}

pub(super) fn remove(workflow: &mut Workflow, address: &str) -> Result<(), Refusal> {
    let at = address::resolve(workflow, address)?;
    let name = address::node_at(workflow, at)?.name().to_owned();
    workflow.nodes.remove(at);
    // A namesake keeps the edges: they are kept by name, and dropping them would cut the node that stays.
    if workflow.node_by_name(&name).is_none() {
        connections::forget(workflow, &name);
    }
    Ok(())
}

pub(super) fn rename(workflow: &mut Workflow, address: &str, new: &str) -> Result<(), Refusal> {
    let at = address::resolve(workflow, address)?;
    let old = address::node_at(workflow, at)?.name().to_owned();
    if old == new {
        return Err(format!(
            "the node is already named {new:?}; leave this operation out"
        ));
    }
    check_free_name(workflow, new)?;
    let names: HashSet<String> = workflow.nodes.iter().map(|n| n.name().to_owned()).collect();
    address::node_at(workflow, at)?.set("name", Value::from(new));
    // With a namesake left, edges and expressions keep meaning that one: renaming is how duplicates are resolved.
    if workflow.node_by_name(&old).is_none() {
        connections::rename(workflow, &old, new);
        for node in &mut workflow.nodes {
            references::rename_in_node(node, (&old, new), &|name| names.contains(name));
        }
    }
    Ok(())
}

pub(super) fn set_parameter(
    workflow: &mut Workflow,
    address: &str,
    pointer: &str,
    value: &Value,
) -> Result<(), Refusal> {
    let at = address::resolve(workflow, address)?;
    address::node_at(workflow, at)?
        .edit_parameters(|parameters| pointer::set(parameters, pointer, value))
}

pub(super) fn replace_text(
    workflow: &mut Workflow,
    address: &str,
    pointer: &str,
    find: &str,
    replace: &str,
) -> Result<(), Refusal> {
    if find.is_empty() {
        return Err("`find` is empty; give the text to replace, or use set_parameter".to_owned());
    }
    let at = address::resolve(workflow, address)?;
    let node = address::node_at(workflow, at)?;
    let place = node
        .map_mut()
        .get_mut("parameters")
        .and_then(|p| p.pointer_mut(pointer));
    match place {
        Some(Value::String(text)) if text.contains(find) => {
            let places = text.matches(find).count();
            let more = replace.len().saturating_sub(find.len());
            if more.saturating_mul(places - 1) > MOST_GROWTH {
                return Err(format!(
                    "{find:?} is {places} times in {pointer:?}, which would grow too much; use set_parameter"
                ));
            }
            *text = text.replace(find, replace);
            Ok(())
        }
        Some(Value::String(_)) => Err(format!(
            "the text {find:?} is not in {pointer:?}; read the node again and copy the text exactly"
        )),
        Some(other) => Err(format!(
            "{pointer:?} holds {}, not a text; use set_parameter",
            pointer::kind_of(other)
        )),
        None => Err(format!(
            "there is nothing at {pointer:?}; read the node again, or use set_parameter"
        )),
    }
}

pub(super) fn move_to(
    workflow: &mut Workflow,
    address: &str,
    position: [f64; 2],
) -> Result<(), Refusal> {
    let at = address::resolve(workflow, address)?;
    place(address::node_at(workflow, at)?, position)
}

pub(super) fn set_disabled(
    workflow: &mut Workflow,
    address: &str,
    disabled: bool,
) -> Result<(), Refusal> {
    let at = address::resolve(workflow, address)?;
    let node = address::node_at(workflow, at)?;
    if disabled {
        node.set("disabled", Value::Bool(true));
    } else {
        node.map_mut().shift_remove("disabled");
    }
    Ok(())
}

pub(super) fn set_settings(
    workflow: &mut Workflow,
    address: &str,
    settings: &Map<String, Value>,
) -> Result<(), Refusal> {
    let at = address::resolve(workflow, address)?;
    check_settings(settings)?;
    merge(address::node_at(workflow, at)?.map_mut(), settings);
    Ok(())
}

pub(super) fn set_credential(
    workflow: &mut Workflow,
    address: &str,
    credential_type: &str,
    id: &str,
    name: &str,
) -> Result<(), Refusal> {
    let at = address::resolve(workflow, address)?;
    if credential_type.is_empty() || id.is_empty() {
        return Err("a credential needs its type and the id of one that exists in n8n; leave it open when there is none yet".to_owned());
    }
    let node = address::node_at(workflow, at)?;
    let mut credentials = node.credentials().cloned().unwrap_or_default();
    credentials.insert(credential_type.to_owned(), json!({"id": id, "name": name}));
    node.set("credentials", Value::Object(credentials));
    Ok(())
}

pub(super) fn set_type_version(
    workflow: &mut Workflow,
    address: &str,
    version: f64,
) -> Result<(), Refusal> {
    let at = address::resolve(workflow, address)?;
    set_version(address::node_at(workflow, at)?, version)
}

fn set_version(node: &mut Node, version: f64) -> Result<(), Refusal> {
    if !version.is_finite() || version <= 0.0 {
        return Err(format!(
            "{version} is no type version; versions are numbers above 0"
        ));
    }
    node.set("typeVersion", number(version));
    Ok(())
}

fn place(node: &mut Node, [x, y]: [f64; 2]) -> Result<(), Refusal> {
    if !x.is_finite() || !y.is_finite() {
        return Err("the position is not two finite numbers; write [x, y] in pixels".to_owned());
    }
    node.set_position(x, y);
    Ok(())
}

/// Why no new node may be named so; what a document already holds may stay.
pub fn check_name(name: &str) -> Result<(), Refusal> {
    if name.trim().is_empty() {
        return Err("the node's name is empty; give it a name".to_owned());
    }
    if name.len() > LONGEST_NAME {
        return Err(format!(
            "the node's name has {} bytes, and {LONGEST_NAME} are enough; shorten it",
            name.len()
        ));
    }
    if EVERY_OBJECTS.contains(&name) {
        return Err(format!(
            "n8n keeps connections in JavaScript objects by name, and {name:?} is every object's own; use another name"
        ));
    }
    Ok(())
}

fn check_free_name(workflow: &Workflow, name: &str) -> Result<(), Refusal> {
    check_name(name)?;
    if workflow.node_by_name(name).is_none() {
        return Ok(());
    }
    let free = (1u32..)
        .map(|i| format!("{name}{i}"))
        .find(|candidate| workflow.node_by_name(candidate).is_none())
        .unwrap_or_default();
    Err(format!(
        "a node named {name:?} exists already; use another name, like {free:?}"
    ))
}

fn free_id(
    workflow: &Workflow,
    wanted: Option<&str>,
    ids: &mut dyn FnMut() -> String,
) -> Result<NodeId, Refusal> {
    let taken = |id: &str| workflow.nodes.iter().any(|n| n.id().0 == id);
    match wanted {
        Some("") => Err("the id is empty; leave it out and one is given".to_owned()),
        Some(id) if taken(id) => Err(format!(
            "a node with the id {id:?} exists already; leave the id out and one is given"
        )),
        Some(id) => Ok(NodeId(id.to_owned())),
        None => std::iter::repeat_with(ids)
            .take(ID_TRIES)
            .find(|id| !id.is_empty() && !taken(id))
            .map(NodeId)
            .ok_or_else(|| "no free node id was given; pass one with the node".to_owned()),
    }
}

/// Node-level keys that n8n's API accepts beside those with operations of their own.
fn settable() -> impl Iterator<Item = &'static str> {
    RUN_SETTINGS.into_iter().chain(OTHER_SETTINGS)
}

fn check_settings(settings: &Map<String, Value>) -> Result<(), Refusal> {
    for (key, value) in settings {
        if !settable().any(|setting| setting == key) {
            return Err(format!("{key:?} is no node setting; {}", right_place(key)));
        }
        if key == "onError" && !value.is_null() && !ON_ERROR.iter().any(|allowed| value == allowed)
        {
            return Err(format!(
                "onError {value} is unknown; use one of {}",
                ON_ERROR.join(", ")
            ));
        }
    }
    Ok(())
}

fn right_place(key: &str) -> String {
    let operation = match key {
        "name" => "rename_node",
        "parameters" => "set_parameter",
        "position" => "move_node",
        "credentials" => "set_credential",
        "typeVersion" => "set_type_version",
        "disabled" => "disable_node or enable_node",
        "id" | "type" => {
            return "a node keeps its id and type; add another node instead".to_owned();
        }
        _ => {
            return format!(
                "settings are {}; a parameter is set with set_parameter",
                settable().collect::<Vec<_>>().join(", ")
            );
        }
    };
    format!("use {operation}")
}
