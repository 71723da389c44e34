//! Events of triggers that are called otherwise than people call them (`knowledge/signals.tsv`).

use super::facts::Facts;
use super::words::plain;
use crate::lex::Table;
use agentctl_n8n::catalog::{Property, PropertyOption};
use agentctl_n8n::short_type;
use serde_json::Value;

pub(crate) static SIGNALS: Table = Table {
    file: "signals.tsv",
    text: include_str!("../../knowledge/signals.tsv"),
    columns: 4,
};

/// The choice of a trigger's parameter that the words of an event mean: one that they name as the service does
/// ("invoice.payment_failed"), else that of a row.
pub(super) fn meant(facts: &Facts, property: &Property, said: &str) -> Option<Value> {
    let lower = said.to_lowercase();
    let named = |o: &&PropertyOption| {
        let value = o.value.as_str().unwrap_or_default();
        value.contains(['.', '_', '/', ':']) && lower.split_whitespace().any(|w| w == value)
    };
    match property.options.iter().find(named) {
        Some(option) => Some(option.value.clone()),
        None => row(&facts.0.node_type, said).map(Value::from),
    }
}

/// The choice of the first row that fits.
pub(super) fn row(node_type: &str, event: &str) -> Option<&'static str> {
    let short = short_type(node_type);
    let said = plain(event);
    let begins = |beginning: &str| match beginning.strip_suffix('$') {
        Some(whole) => said.iter().any(|w| w == whole),
        None => said.iter().any(|w| w.starts_with(beginning)),
    };
    let says = |cell: &str| cell == "*" || cell.split('|').any(begins);
    let mut rows = SIGNALS.rows().filter(|row| row.at(0) == short);
    let row = rows.find(|row| says(row.at(1)) && says(row.at(2)))?;
    Some(row.at(3))
}

#[cfg(test)]
mod tests {
    use super::{PropertyOption, SIGNALS};
    use agentctl_n8n::catalog::Catalog;

    #[test]
    fn each_choice_is_one_of_its_trigger() {
        let catalog = Catalog::embedded();
        for row in SIGNALS.rows() {
            let node_type = format!("n8n-nodes-base.{}", row.at(0));
            let facts = catalog.lookup(&node_type, None).known();
            let facts = facts.unwrap_or_else(|| panic!("{node_type} is no node"));
            let mut choices = facts.properties.iter().flat_map(|p| &p.options);
            let is = |o: &PropertyOption| o.value.as_str() == Some(row.at(3));
            // Bitbucket's are asked of the account.
            let asked = row.at(0) == "bitbucketTrigger";
            assert!(asked || choices.any(is), "{}: {}", row.at(0), row.at(3));
        }
    }
}
