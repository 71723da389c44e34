//! Whose thing a clause speaks of when it names no service: the last service used that has such things, as the catalog
//! knows it ("create a person in Pipedrive … and add a deal"), or the one whose names look like that.

use super::*;
use agentctl_n8n::catalog::Catalog;

const ENTITY: &str = r"^(?:sensor|binary_sensor|light|switch|climate|cover|lock|fan|scene|script|input_\w+|media_player|device_tracker)\.\w+$";

/// The words of a name, without plural.
fn bare(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push(' ');
        }
        out.extend(c.to_lowercase());
    }
    out.trim_end_matches('s').to_owned()
}

/// The service has a resource of this name.
pub(super) fn has_resource(entry: &ServiceEntry, object: &str) -> bool {
    let catalog = Catalog::embedded();
    let object = bare(object);
    entry
        .actions
        .first()
        .and_then(|t| catalog.lookup(t, None).known())
        .is_some_and(|d| {
            d.properties
                .iter()
                .filter(|p| p.name == "resource")
                .flat_map(|p| &p.options)
                .any(|o| {
                    o.value.as_str().is_some_and(|v| bare(v) == object) || bare(&o.label) == object
                })
        })
}

/// The service whose thing is meant.
pub(super) fn owner_of(
    mem: &Memory<'_>,
    text: &str,
    verb: &VerbEntry,
) -> Option<&'static ServiceEntry> {
    let m = mem.m;
    if m.all(text, "d").iter().any(|e| has(ENTITY, &e.value)) {
        return lexicon::service("homeAssistant");
    }
    if verb.role != "action"
        || !services_in(m, text).is_empty()
        || unknown_service(mem, text).is_some()
    {
        return None;
    }
    // "create a record in table Bookings": where the tables before it were
    if m.after(
        r"\b(?:table|tab|worksheet|tabelle|tabla|feuille|hoja|base|database|datenbank)\s+(§[qd]\d+§)",
        text,
    )
    .is_some()
    {
        return mem
            .used
            .iter()
            .rev()
            .copied()
            .chain(mem.read.iter().rev().map(|(e, _)| *e))
            .find(|e| e.is("db") || e.is("base") || e.is("sheet"));
    }
    let object = object_in(text, "")?;
    if matches!(
        object.as_str(),
        "email" | "message" | "file" | "row" | "record"
    ) {
        return None;
    }
    mem.used
        .iter()
        .rev()
        .copied()
        .chain(mem.read.iter().rev().map(|(e, _)| *e))
        .chain(mem.trigger)
        .filter(|e| !(e.is("mail") || e.is("chat") || e.is("sms") || e.is("db")))
        .find(|e| has_resource(e, &object))
}
