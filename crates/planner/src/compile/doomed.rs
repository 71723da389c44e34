//! Which rows of a database are deleted: those that the request names, else the row at hand. Nothing is deleted without a condition.

use super::super::plan::Arg;
use super::draft::{At, Draft};
use super::expr::expression;
use super::facts::Facts;
use super::service::{Call, short_of};
use serde_json::{Map, Value, json};

impl Draft<'_> {
    /// Fills in the condition of an operation that deletes rows. Where neither words nor data say which, the step is not told: an
    /// empty condition takes the whole table.
    pub(super) fn doomed_rows(
        &mut self,
        at: &At,
        call: &Call<'_>,
        facts: &Facts,
        args: &mut Vec<Arg>,
        params: &mut Map<String, Value>,
    ) {
        let said = self.sql_filters(at, args);
        let mut rows = match said.is_empty() {
            true => self.row_at_hand(at, call.short).into_iter().collect(),
            false => said,
        };
        if rows.is_empty() {
            self.gap(call.said);
            // A draft takes nothing either.
            rows.push(("<column>".to_owned(), json!("<value>")));
        }
        if call.short == "mongoDb" {
            params.insert("query".into(), super::database::mongo_query(&rows));
        } else if facts.property(params, "where").is_some() {
            let row =
                |(column, value)| json!({"column": column, "condition": "equal", "value": value});
            let list: Vec<Value> = rows.into_iter().map(row).collect();
            params.insert("where".into(), json!({"values": list}));
        } else if let [(column, Value::String(value))] = rows.as_slice()
            && facts.property(params, "deleteKey").is_some()
            && *value == expression(&format!("$json.{column}"))
        {
            // It takes the value out of the item.
            params.insert("deleteKey".into(), json!(column));
        } else {
            self.gap(call.said);
        }
    }

    /// By what the row at hand is found in the table: its own id where it was read there, else what identifies it elsewhere.
    fn row_at_hand(&mut self, at: &At, short: &str) -> Option<(String, Value)> {
        let subject = self.subject(at)?;
        let origin = self.origins.get(subject)?;
        let node = origin.again.as_ref().unwrap_or(&origin.node);
        let node = self.workflow.node_by_name(node)?;
        let (column, js) = match short_of(node.node_type()) == short {
            true => {
                let id = if short == "mongoDb" { "_id" } else { "id" };
                (id.to_owned(), self.at_origin(at, subject, id))
            }
            false => self.key_at_hand(at)?,
        };
        self.todo(
            "value",
            short,
            format!("check the column \"{column}\": by it the rows to delete are found"),
        );
        Some((column, expression(&js)))
    }
}
