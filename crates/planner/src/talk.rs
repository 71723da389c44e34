//! How the offline model plays the tasks of a conversation about one workflow (the pack n8n-copilot): which phase a message is for, which
//! node types it needs, the structure, the values, the answer. All of them read the message in the same way, so they agree.

mod alone;
mod answer;
#[cfg(test)]
mod talk_tests;

use super::draft::{creation, does_nothing};
use super::modify::{self, begins, is_said, tidy};
use super::read::{self, ReadContext};
use super::roles::{Move, Seen, text};
use super::{compile, cover, gate};
use agentctl_base::model::ToolStatus;
use agentctl_n8n::catalog::{Catalog, Lookup, NodeDescription, Port, structure};
use agentctl_n8n::finding::{Finding, Severity};
use agentctl_n8n::validate::validate;
use agentctl_n8n::workflow::RUN_SETTINGS;
use agentctl_n8n::{EditOp, Node, Workflow, edit};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

pub(super) use alone::{converse, turn};
pub(super) use answer::respond;

/// A message of at most so many words says one thing.
const SHORT: usize = 7;

/// What a message comes to.
enum Meant {
    Change(Box<Wanted>),
    /// Nothing is changed; this is asked.
    Ask(String),
    /// Nothing is changed; this is why.
    Refuse(String),
}

/// The workflow as the message wants it.
struct Wanted {
    workflow: Workflow,
    /// What the user must still fill in, what was decided, and what was not understood.
    open: Vec<String>,
    not_understood: Vec<String>,
}

/// The document of the workflow that the conversation is about, as the turn began.
fn document(input: &Map<String, Value>, key: &str) -> Option<Workflow> {
    let document = input.get(key).filter(|value| value.is_object())?;
    Workflow::from_value(document.clone()).ok()
}

/// Reads a message, on the workflow that there is.
fn meant(message: &str, before: Option<&Workflow>, catalog: &Catalog) -> Meant {
    match before {
        Some(before) => changed(message, before, catalog),
        None => made(message, catalog),
    }
}

fn made(message: &str, catalog: &Catalog) -> Meant {
    let reading = read::read(message, &ReadContext::default());
    if let Some(refusal) = reading.refusal {
        return Meant::Refuse(refusal.reason);
    }
    let language = &reading.plan.language;
    let built = compile::compile(&reading.plan, catalog);
    let account = gate::judge(
        message,
        &IndexMap::new(),
        language,
        &[&built.workflow],
        false,
        &built.made,
    );
    if does_nothing(&reading.plan) || gate::too_little(&account) {
        return Meant::Ask(gate::question(message, &account, language).text);
    }
    let mut questions = reading.questions;
    if questions.is_empty() {
        questions.extend(cover::question(
            &cover::unused(message, &[&built.workflow]),
            language,
        ));
    }
    let needed: Vec<String> = questions
        .into_iter()
        .filter(|question| question.required)
        .map(|question| question.text)
        .collect();
    if !needed.is_empty() {
        return Meant::Ask(needed.join("\n"));
    }
    let todo = built
        .todo
        .into_iter()
        .map(|item| format!("{}: {}", item.node, item.text));
    Meant::Change(Box::new(Wanted {
        workflow: built.workflow,
        open: todo.chain(built.notes).collect(),
        not_understood: account.missing,
    }))
}

fn changed(message: &str, before: &Workflow, catalog: &Catalog) -> Meant {
    let change = modify::modify(before, message, catalog);
    if let Some(refusal) = change.refusal {
        return Meant::Refuse(refusal.reason);
    }
    let questions: Vec<String> = change.questions.iter().map(|q| q.text.clone()).collect();
    if change.ops.is_empty() || !change.unread.is_empty() || !questions.is_empty() {
        return Meant::Ask(questions.join("\n"));
    }
    let mut next = 0;
    let mut new_id = || {
        next += 1;
        format!("new-{next}")
    };
    let ops = pinned(before, change.ops);
    match edit::apply(before, &ops, &mut new_id) {
        Ok(workflow) => {
            // What would bring an error that was not there is not done, and is asked about.
            let new = new_errors(before, &workflow, catalog);
            if !new.is_empty() {
                return Meant::Ask(answer::would_break(&new, &change.language));
            }
            let todo = change
                .todo
                .into_iter()
                .map(|item| format!("{}: {}", item.node, item.text));
            Meant::Change(Box::new(Wanted {
                workflow,
                open: todo.chain(change.notes).collect(),
                not_understood: Vec::new(),
            }))
        }
        Err(error) => Meant::Refuse(error.to_string()),
    }
}

/// The errors of a changed workflow that were not there before.
fn new_errors(before: &Workflow, after: &Workflow, catalog: &Catalog) -> Vec<String> {
    let errors = |workflow: &Workflow| -> Vec<Finding> {
        let found = validate(workflow, catalog).into_iter();
        found.filter(|f| f.severity == Severity::Error).collect()
    };
    let known = errors(before);
    let is_new = |error: &Finding| {
        let place = spot(error);
        known.iter().all(|known| spot(known) != place)
    };
    let new = errors(after).into_iter().filter(is_new);
    new.map(|error| error.message).collect()
}

/// What makes two findings the same one, whatever value they are about: the code, the node and the place in it, not where the node
/// stands in the document.
pub(super) fn spot(finding: &Finding) -> (&str, Option<&str>, &str) {
    let place = finding.place.as_deref().unwrap_or(&finding.pointer);
    let below = place
        .strip_prefix("/nodes/")
        .map(|rest| match rest.find('/') {
            Some(end) => rest.get(end..).unwrap_or_default(),
            None => "",
        });
    (
        &finding.code,
        finding.node_id.as_deref(),
        below.unwrap_or(place),
    )
}

/// Whether a message asks for nothing to be done: a question that is no polite wish, a word of thanks.
fn only_talks(message: &str, workflow: Option<&Workflow>, language: &str) -> bool {
    // "Could you tell me where it goes?" is a question though it is asked kindly; "tell me on Slack" is none.
    let elsewhere = tells_where(message, language);
    let polite = is_said(message, language, "polite")
        && (elsewhere || !is_said(message, language, "inform"));
    let tidied = tidy(message, None, language);
    // "Quand un formulaire est envoyé, ajoute une ligne" begins like a question, and tells when.
    let tells_when = begins(&tidied, language, "if")
        && (tidied.contains(", ") || tidied.split_whitespace().count() > SHORT);
    let wishes = begins(&tidied, language, "wish");
    let begins_so = begins(&tidied, language, "ask") && !tells_when && !wishes;
    // "… to Big one?" ends with a name.
    let end = message.trim_end();
    let named = |node: &Node| node.name().ends_with('?') && end.ends_with(node.name());
    let marked = end.ends_with('?') && !workflow.is_some_and(|w| w.nodes.iter().any(named));
    (marked && !polite) || begins_so || begins(&tidied, language, "thanks")
}

/// Whether a message names a place by its address, its channel or a text.
fn tells_place(message: &str, language: &str) -> bool {
    let items = super::chart::chart(message, language).items;
    { items.iter() }.any(super::chart::Item::literal)
}

/// Whether a message names a service or an address, to which something may go.
fn tells_where(message: &str, language: &str) -> bool {
    let items = super::chart::chart(message, language).items;
    { items.iter() }.any(|item| item.service().is_some() || item.literal())
}

/// Which case a message is: taken back, or the first phase that it needs; `responder` for all else.
pub(super) fn supervise(input: &Map<String, Value>, catalog: &Catalog) -> Result<Move, String> {
    let message = text(input, "message");
    let language = modify::spoken(message);
    let chosen = |case: &str, why: &str| Ok(Move::Done(json!({"reasoning": why, "case": case})));
    let offers = |case: &str| input.get(case).and_then(Value::as_bool) == Some(true);
    let before = document(input, "workflow");
    if only_talks(message, before.as_ref(), language) {
        return chosen("responder", "it asks, and wants nothing changed");
    }
    let tidied = tidy(message, None, language);
    let says = |class: &str| is_said(&tidied, language, class) || is_said(message, language, class);
    // "Put it back" says nothing else; a longer message says what is to be put back where.
    let back = says("back")
        && message.split_whitespace().count() <= SHORT
        && !tells_place(message, language);
    // "No, keep it" says nothing else at all; "keep it in #sales" does.
    let keeps = modify::says_only(&tidied, language, "keep");
    // "When an order is cancelled, tell #ops" takes nothing back.
    let tells_when = begins(&tidied, language, "if") && tidied.split_whitespace().count() > SHORT;
    let undoes = says("undo") && !tells_when && !tells_place(message, language);
    if (says("redo") || back) && offers("redo") {
        return chosen("redo", "it wants what was taken back again");
    }
    if (undoes || back || keeps) && offers("undo") {
        return chosen("undo", "it takes the last change back");
    }
    let wanted = match meant(message, before.as_ref(), catalog) {
        Meant::Change(wanted) => wanted,
        Meant::Ask(_) => return chosen("responder", "it is not clear enough to act on"),
        Meant::Refuse(_) => return chosen("responder", "it is not done"),
    };
    let Some(before) = before else {
        return chosen("discovery", "a new workflow");
    };
    let ops = modify::between(&before, &wanted.workflow);
    let adds = ops.iter().any(|op| matches!(op, EditOp::AddNode { .. }));
    let builds = ops.iter().any(|op| {
        !matches!(
            op,
            EditOp::SetParameter { .. }
                | EditOp::ReplaceParameters { .. }
                | EditOp::ReplaceText { .. }
                | EditOp::SetNodeSettings { .. }
        )
    });
    match (adds, builds) {
        (true, _) => chosen("discovery", "it needs a node that is not there yet"),
        (false, true) => chosen(
            "builder",
            "it changes which nodes there are, or how they are joined",
        ),
        (false, false) => chosen("configurator", "it changes values of nodes that are there"),
    }
}

/// The node types that the message needs and the workflow lacks, with the versions that the catalog has.
pub(super) fn discover(
    input: &Map<String, Value>,
    seen: &Seen<'_>,
    catalog: &Catalog,
) -> Result<Move, String> {
    // It is told the workflow in short, and reads the message on the whole of it.
    let id = text(input, "workflow_id");
    let before = match (id.is_empty(), seen.ok("get_workflow")) {
        (true, _) => None,
        (false, Some(read)) => read.as_object().and_then(|read| document(read, "workflow")),
        (false, None) if seen.last("get_workflow").is_some() => {
            return Err("the workflow cannot be read".to_owned());
        }
        (false, None) => {
            let args = json!({"workflow_id": id});
            return Ok(Move::Call(vec![("get_workflow", args)]));
        }
    };
    let Meant::Change(wanted) = meant(text(input, "message"), before.as_ref(), catalog) else {
        return Err("the offline model read no change out of the message".to_owned());
    };
    let mut found: Vec<Value> = Vec::new();
    for node in added(before.as_ref(), &wanted.workflow) {
        let one = json!({
            "nodeName": node.node_type(),
            "version": node.type_version(),
            "reasoning": node.name(),
            "connectionChangingParameters": changing(node, catalog),
        });
        if !found.contains(&one) {
            found.push(one);
        }
    }
    if seen.last("check_nodes").is_none() {
        let args = json!({"nodes_found": found});
        return Ok(Move::Call(vec![("check_nodes", args)]));
    }
    let names: Vec<&str> = found
        .iter()
        .filter_map(|f| f.get("nodeName").and_then(Value::as_str))
        .map(agentctl_n8n::short_type)
        .collect();
    let summary = names.join(", ");
    Ok(Move::Done(
        json!({"nodes_found": found, "summary": summary}),
    ))
}

/// The parameters that change which connections a node has, with the values that it is to have.
fn changing(node: &Node, catalog: &Catalog) -> Vec<Value> {
    let known = catalog.lookup(node.node_type(), node.type_version());
    let (Some(known), Some(values)) = (known.known(), node.parameters()) else {
        return Vec::new();
    };
    // As check_nodes looks: from a node without values.
    let named = known.possible_port_parameters(&Map::new()).into_iter();
    let set = named.filter_map(|name| {
        let value = values.get(&name)?;
        let plain = !value.is_object() && !value.is_array();
        plain.then(|| json!({"name": name, "possibleValues": [value]}))
    });
    set.collect()
}

/// The nodes that are new.
fn added<'w>(before: Option<&Workflow>, wanted: &'w Workflow) -> Vec<&'w Node> {
    let old = |node: &Node| before.is_some_and(|b| b.nodes.iter().any(|n| n.id() == node.id()));
    wanted.nodes.iter().filter(|node| !old(node)).collect()
}

/// The same node with what belongs to the structure alone; of one that was there before the values stay as they were.
fn skeleton(node: &Node, old: Option<&Node>, catalog: &Catalog) -> Node {
    let whole = node.parameters().cloned().unwrap_or_default();
    let was = old.and_then(Node::parameters).cloned().unwrap_or_default();
    let mut bare = node.clone();
    let parameters = match catalog.lookup(node.node_type(), node.type_version()) {
        Lookup::Known(known)
            if old.is_none() || ports(&known, &was, node) != ports(&known, &whole, node) =>
        {
            let mut paths = known.structural(&whole);
            paths.extend(known.structural(&was));
            over(
                structure::elsewhere(&was, &paths),
                structure::at(&whole, &paths),
            )
        }
        Lookup::Known(_) => was,
        _ if old.is_some() => was,
        _ => structure::at(&whole, &structure::ABOUT.into()),
    };
    bare.edit_parameters(|bare| *bare = parameters);
    for key in RUN_SETTINGS.into_iter().filter(|key| *key != "onError") {
        match old.and_then(|old| old.map().get(key)) {
            Some(value) => bare.set(key, value.clone()),
            None => drop(bare.map_mut().shift_remove(key)),
        }
    }
    bare
}

/// The ports that a node has with these parameters.
fn ports(known: &NodeDescription, parameters: &Map<String, Value>, node: &Node) -> [Vec<Port>; 2] {
    [
        known.inputs_for(parameters).into_owned(),
        known.outputs_for(parameters, node.map()).into_owned(),
    ]
}

/// Objects in objects are put together, of all else the second counts.
fn over(mut values: Map<String, Value>, with: Map<String, Value>) -> Map<String, Value> {
    for (key, value) in with {
        match (values.get_mut(&key), value) {
            (Some(Value::Object(under)), Value::Object(value)) => {
                *under = over(std::mem::take(under), value)
            }
            (_, value) => drop(values.insert(key, value)),
        }
    }
    values
}

/// What the last change of this step came to: its result, or why it was not made; None: none was tried.
fn made_by<'a>(seen: &Seen<'a>, tool: &str) -> Option<Result<&'a Value, String>> {
    let result = seen.last(tool)?;
    if result.status == ToolStatus::Ok {
        return Some(Ok(&result.content));
    }
    let why = result.content.get("error").and_then(Value::as_str);
    let why = why.unwrap_or("no reason given");
    Some(Err(format!("{} did not succeed: {why}", result.name)))
}

/// With what holds each node that a new connection leads to where it stands: what is not said to change does not, its place included.
fn pinned(before: &Workflow, mut ops: Vec<EditOp>) -> Vec<EditOp> {
    let led_to = ops.iter().filter_map(|op| match op {
        EditOp::Connect { to, .. } => before.node_by_name(to),
        _ => None,
    });
    let stay = |node: &Node| {
        let position = node.position()?;
        let node = node.id_text().to_owned();
        Some(EditOp::MoveNode {
            node,
            position: position.into(),
        })
    };
    let pins: Vec<EditOp> = led_to.filter_map(stay).collect();
    for pin in pins {
        if !ops.contains(&pin) {
            ops.push(pin);
        }
    }
    ops
}

/// Nodes and connections, without the values.
pub(super) fn structure(
    input: &Map<String, Value>,
    seen: &Seen<'_>,
    catalog: &Catalog,
) -> Result<Move, String> {
    let before = document(input, "workflow");
    let message = text(input, "message");
    let Meant::Change(wanted) = meant(message, before.as_ref(), catalog) else {
        return Err("the offline model read no change out of the message".to_owned());
    };
    let mut bare = wanted.workflow.clone();
    for node in &mut bare.nodes {
        let old = before.as_ref().and_then(|b| b.node(&node.id()));
        *node = skeleton(node, old, catalog);
    }
    let Some(before) = before else {
        return match made_by(seen, "new_workflow") {
            None => Ok(Move::Call(vec![("new_workflow", creation(&bare))])),
            Some(Ok(result)) => {
                let id = result.get("id").or(result.get("workflow_id"));
                let id = id.cloned().unwrap_or_default();
                checked(seen, "validate_structure", &id, || structured(&[], &bare))
            }
            Some(Err(why)) => Ok(not_made(&why)),
        };
    };
    let id = json!(text(input, "workflow_id"));
    let ops = pinned(&before, modify::between(&before, &bare));
    match made_by(seen, "edit_structure") {
        Some(Err(why)) => return Ok(not_made(&why)),
        None if !ops.is_empty() => {}
        _ => {
            return checked(seen, "validate_structure", &id, || structured(&ops, &bare));
        }
    }
    Ok(Move::Call(vec![(
        "edit_structure",
        json!({"workflow_id": id, "ops": ops}),
    )]))
}

/// The answer where nothing was made. The flow takes none without a check that passed, so the phase fails and the user is told.
fn not_made(why: &str) -> Move {
    Move::Done(json!({"summary": why}))
}

/// The answer, once what was made was checked. Where the check did not pass the flow does not take the answer, and the phase fails.
fn checked(
    seen: &Seen<'_>,
    tool: &'static str,
    id: &Value,
    answer: impl FnOnce() -> Move,
) -> Result<Move, String> {
    if seen.last(tool).is_none() {
        return Ok(Move::Call(vec![(tool, json!({"workflow_id": id}))]));
    }
    Ok(answer())
}

fn structured(ops: &[EditOp], bare: &Workflow) -> Move {
    let summary = match ops.is_empty() {
        true => {
            let names: Vec<&str> = bare.nodes.iter().map(Node::name).collect();
            format!("+ {}", names.join(", "))
        }
        false => answer::told(ops).join("; "),
    };
    Move::Done(json!({"summary": summary}))
}

/// The values, on the structure that is there now.
pub(super) fn configure(
    input: &Map<String, Value>,
    seen: &Seen<'_>,
    catalog: &Catalog,
) -> Result<Move, String> {
    let now = document(input, "workflow").ok_or("there is no workflow to set values in")?;
    // Where the structure stays, the workflow is as the turn found it.
    let made = input.get("made").and_then(Value::as_bool) == Some(true);
    let before = match input.get("before") {
        Some(Value::Object(was)) => as_it_was(&now, was),
        _ => (!made).then(|| now.clone()),
    };
    let Meant::Change(wanted) = meant(text(input, "message"), before.as_ref(), catalog) else {
        return Err("the offline model read no change out of the message".to_owned());
    };
    let values: Vec<Value> = now
        .nodes
        .iter()
        .filter_map(|node| values_of(node, wanted.workflow.node_by_name(node.name())?))
        .collect();
    let id = text(input, "workflow_id");
    let made = made_by(seen, "update_node_parameters");
    if let Some(Err(why)) = made {
        // Nothing was changed, so no check is missing: the user is told by what stays open.
        return Ok(Move::Done(json!({"summary": why, "open": [why]})));
    }
    if !values.is_empty() && made.is_none() {
        return Ok(Move::Call(vec![(
            "update_node_parameters",
            json!({"workflow_id": id, "nodes": values}),
        )]));
    }
    let mut open = wanted.open;
    let missing = wanted.not_understood;
    if !missing.is_empty() {
        let language = modify::spoken(text(input, "message"));
        open.push(format!(
            "{}: {}",
            answer::not_understood(language),
            missing.join(", ")
        ));
    }
    let mut set: Vec<&str> = now.nodes.iter().map(Node::name).collect();
    if let Some(before) = &before {
        set.retain(|name| before.node_by_name(name) != wanted.workflow.node_by_name(name));
    }
    let answer = json!({"summary": set.join(", "), "open": open});
    checked(seen, "validate_configuration", &json!(id), || {
        Move::Done(answer)
    })
}

/// The workflow before its structure was changed: out of the nodes that are as they were, the others as they were, and the connections.
fn as_it_was(now: &Workflow, was: &Map<String, Value>) -> Option<Workflow> {
    let kept = was.get("kept").and_then(Value::as_array)?;
    let mut before = now.clone();
    before
        .nodes
        .retain(|node| kept.iter().any(|name| name == node.name()));
    let others = was.get("nodes").cloned().unwrap_or_default();
    before
        .nodes
        .extend(serde_json::from_value::<Vec<Node>>(others).ok()?);
    before.connections = serde_json::from_value(was.get("connections")?.clone()).ok()?;
    Some(before)
}

/// What has to be set in a node so that it has the values that are meant; None: it has them.
fn values_of(now: &Node, meant: &Node) -> Option<Value> {
    let (mut parameters, mut settings) = (Map::new(), Map::new());
    let empty = Map::new();
    let was = now.parameters().unwrap_or(&empty);
    let is = meant.parameters().unwrap_or(&empty);
    for key in is
        .keys()
        .chain(was.keys().filter(|key| !is.contains_key(*key)))
    {
        if was.get(key) != is.get(key) {
            let value = is.get(key).cloned().unwrap_or_default();
            parameters.insert(key.clone(), value);
        }
    }
    for key in RUN_SETTINGS {
        if let Some(value) = meant
            .map()
            .get(key)
            .filter(|v| now.map().get(key) != Some(v))
        {
            settings.insert(key.to_owned(), value.clone());
        }
    }
    if parameters.is_empty() && settings.is_empty() {
        return None;
    }
    Some(json!({"node": now.name(), "parameters": parameters, "settings": settings}))
}
