//! What is done with records: made again and again, changed or deleted without saying which, written twice.

use super::finished::{Finished, destroys, is_outside, parameters, text, texts};
use super::frames;
use crate::modify;
use agentctl_n8n::catalog::{Catalog, Property, PropertyKind};
use agentctl_n8n::{Node, short_type};
use serde_json::{Map, Value};

/// How the words begin by which triggers call what is new.
const NEW: &[&str] = &["creat", "new", "add"];
/// How the operations begin that change a record that is there.
const CHANGES: &[&str] = &["update", "upsert", "appendorupdate", "createorupdate"];
/// How the operations begin that add a record.
const ADDS: &[&str] = &["append", "create", "insert", "add"];
/// Parameters that say where records lie.
const PLACES: &[&str] = &[
    "documentId",
    "sheetName",
    "base",
    "table",
    "tableId",
    "dataTableId",
    "databaseId",
    "dataSourceId",
];

fn operation(node: &Node) -> String {
    text(node, "operation").to_lowercase()
}

fn begins(operation: &str, words: &[&str]) -> bool {
    words.iter().any(|word| operation.starts_with(word))
}

/// Whether a node makes what a trigger of its own service tells of being new: each one starts the workflow once more.
pub(super) fn makes_its_own_start(finished: &Finished<'_>, node: &Node) -> bool {
    let resource = text(node, "resource").to_lowercase();
    let short = short_type(node.node_type());
    let tells = |value: &str| {
        let value = value.to_lowercase();
        value.contains(&resource) && NEW.iter().any(|word| value.contains(word))
    };
    let own = |t: &&Node| short_type(t.node_type()).strip_suffix("Trigger") == Some(short);
    !resource.is_empty()
        && operation(node).starts_with("create")
        && finished
            .nodes()
            .filter(own)
            .any(|t| parameters(t).values().flat_map(texts).any(tells))
}

/// Whether a node changes a record and no field of it.
pub(super) fn changes_nothing(_: &Finished<'_>, node: &Node) -> bool {
    const FIELDS: &str = "updateFields";
    let known = Catalog::embedded()
        .lookup(node.node_type(), node.type_version())
        .known();
    let fields = |p: &&Property| p.name == FIELDS && p.kind == PropertyKind::Collection;
    let takes = known.is_some_and(|facts| {
        let shown = facts.visible_properties(parameters(node));
        shown.iter().any(fields)
    });
    let given = parameters(node).get(FIELDS).and_then(Value::as_object);
    operation(node).starts_with("update") && takes && given.is_none_or(Map::is_empty)
}

/// Whether a node changes or deletes one record, and its id is still to be filled in.
pub(super) fn changes_no_record(_: &Finished<'_>, node: &Node) -> bool {
    let resource = text(node, "resource").to_lowercase();
    let is_id = |name: &str| {
        let name = name.to_lowercase();
        let rest = name.strip_prefix(&resource).unwrap_or(&name);
        matches!(rest, "id" | "key")
    };
    let open = |value: &Value| {
        let held = value.as_str().or_else(|| value.get("value")?.as_str());
        held.is_some_and(modify::is_open)
    };
    let mut given = parameters(node).iter();
    (destroys(node) || begins(&operation(node), CHANGES))
        && given.any(|(name, value)| is_id(name) && open(value))
}

/// The columns that a node writes: what is matched on, and the values.
fn columns(node: &Node) -> Option<(&[Value], &Map<String, Value>)> {
    let columns = parameters(node).get("columns")?;
    let matching = columns.get("matchingColumns")?.as_array()?;
    Some((matching, columns.get("value")?.as_object()?))
}

/// Whether a node changes a row of a table, and no column says which, or it writes nothing but that column.
pub(super) fn matches_by_nothing(_: &Finished<'_>, node: &Node) -> bool {
    let key = |matching: &[Value], column: &String| {
        let own = |m: &Value| m.as_str() == Some(column);
        matching.iter().any(own)
    };
    begins(&operation(node), CHANGES)
        && columns(node).is_some_and(|(matching, values)| {
            let written = !values.is_empty() && values.keys().all(|c| key(matching, c));
            matching.is_empty() || written
        })
}

/// Whether a node changes a row of its own service that was read before, and takes which one from what another service answered in
/// between.
pub(super) fn changes_by_an_answer(finished: &Finished<'_>, node: &Node) -> bool {
    if !begins(&operation(node), CHANGES) {
        return false;
    }
    let Some(source) = finished.source(node).filter(|s| is_outside(s)) else {
        return false;
    };
    let own = |n: &Node| n.node_type() == node.node_type();
    let read = |n: &&Node| own(n) && super::finished::reads(n);
    let between = !own(source) && finished.ancestors(node).iter().any(read);
    let maps = parameters(node)
        .get("columns")
        .and_then(|c| c.get("mappingMode")?.as_str());
    let keyed = columns(node).is_some_and(|(matching, values)| {
        let of = |m: &Value| values.get(m.as_str()?)?.as_str();
        let mut keys = matching.iter().filter_map(of);
        keys.any(|value| value.starts_with("={{ $json"))
    });
    let id = |(name, value): (&String, &Value)| {
        let value = value.as_str().or_else(|| value.get("value")?.as_str());
        let id = name.to_lowercase();
        (id == "id" || id.ends_with("id"))
            && value.is_some_and(|v| v.starts_with("={{ $json.id }}"))
    };
    between && (maps == Some("autoMapInputData") || keyed || parameters(node).iter().any(id))
}

/// Whether two nodes write to the same table.
fn share_a_place(one: &Node, other: &Node) -> bool {
    let at = |node: &Node, name: &str| {
        let value = parameters(node).get(name)?;
        Some(value.get("value").unwrap_or(value).clone())
    };
    let mut named = PLACES.iter().map(|name| (at(one, name), at(other, name)));
    one.node_type() == other.node_type() && named.all(|(one, other)| one == other)
}

/// Whether a node writes back into a column what it read there.
pub(super) fn gives_back_what_it_read(finished: &Finished<'_>, node: &Node) -> bool {
    let Some((matching, values)) = columns(node).filter(|_| begins(&operation(node), CHANGES))
    else {
        return false;
    };
    let Some(read) = finished
        .source(node)
        .filter(|read| share_a_place(read, node))
    else {
        return false;
    };
    let same = |column: &str, value: &Value| {
        let key = matching.iter().any(|m| m.as_str() == Some(column));
        let value = value.as_str().unwrap_or_default();
        let item = [
            "$json".to_owned(),
            format!("$('{}').item.json", read.name()),
        ];
        let of = |item: &String| {
            value == format!("={{{{ {item}.{column} }}}}")
                || value == format!("={{{{ {item}['{column}'] }}}}")
        };
        !key && item.iter().any(of)
    };
    values.iter().any(|(column, value)| same(column, value))
}

/// Whether a node writes what the one before it wrote, or adds rows and changes them in two steps where one does both.
pub(super) fn writes_twice(finished: &Finished<'_>, node: &Node) -> bool {
    let own = operation(node);
    let acts = begins(&own, CHANGES) || begins(&own, ADDS);
    let again = |before: &Node| {
        let first = operation(before);
        let both = begins(&own, CHANGES) && begins(&first, ADDS)
            || begins(&own, ADDS) && begins(&first, CHANGES);
        let rows = columns(node).is_some() && columns(before).is_some();
        before.node_type() == node.node_type()
            && (before.parameters() == node.parameters()
                || both && rows && share_a_place(before, node))
    };
    acts && finished.before(node).any(again)
}

/// Whether a node destroys something, and no verb of the part of the request that it was made of says so.
pub(super) fn destroys_unasked(finished: &Finished<'_>, node: &Node) -> bool {
    let Some(part) = finished.part(node).filter(|_| destroys(node)) else {
        return false;
    };
    let asked = |item: &crate::chart::Item| {
        let verb = item.verb();
        verb.is_some_and(|v| v.says.iter().any(|frame| frames::is_destroying(frame)))
    };
    !part.chart.items.iter().any(asked)
}
