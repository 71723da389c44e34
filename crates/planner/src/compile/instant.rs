//! Dates that a service gives as a count since 1970: they are made dates before they are compared.

use super::super::plan::Val;
use super::draft::{At, Draft};
use crate::lex::Table;
use agentctl_n8n::short_type;

pub(crate) const INSTANTS: Table = Table {
    file: "instants.tsv",
    text: include_str!("../../knowledge/instants.tsv"),
    columns: 3,
};

/// What of Luxon reads a field of a node's items; none where it is a date as it stands.
fn reader(short: &str, path: &str) -> Option<&'static str> {
    let has = |cell: &str, one: &str| cell.split('|').any(|c| c == one);
    let mut rows = INSTANTS.rows();
    let row = rows.find(|row| has(row.at(0), short) && has(row.at(1), path))?;
    match row.at(2) {
        "seconds" => Some("fromSeconds"),
        "milliseconds" => Some("fromMillis"),
        _ => None,
    }
}

impl Draft<'_> {
    /// A field that is such a count, as an ISO date. Of a date that nobody named it is the first of `others` that is known.
    pub(super) fn instant(&self, at: &At, val: &Val, others: &[&str]) -> Option<String> {
        let Val::Field { name, of } = val else {
            return None;
        };
        let known = |name: &str| self.locate(at, name, of.as_deref()).filter(|found| found.2);
        let mut others = others.iter().filter(|_| name == "date" && of.is_none());
        let found = known(name).or_else(|| others.find_map(|name| known(name)));
        let (index, path, _) = found.or_else(|| self.locate(at, name, of.as_deref()))?;
        let origin = self.origins.get(index)?;
        let node = origin.again.as_ref().unwrap_or(&origin.node);
        let node = self.workflow.node_by_name(node)?;
        let reader = reader(short_type(node.node_type()), &path)?;
        let js = self.at_origin(at, index, &path);
        Some(format!("DateTime.{reader}({js}).toISO()"))
    }
}
