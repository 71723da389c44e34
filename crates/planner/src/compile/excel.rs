//! Excel workbooks in OneDrive: rows of a worksheet are read, appended, updated. Owns workbook, worksheet, columns and key.

use serde_json::{Map, Value, json};

use super::super::plan::{Arg, Role, Val, Verb};
use super::draft::{At, Draft};
use super::message::take;
use super::roles;
use super::service::Call;
use super::words::fold;

fn locator(text: &str) -> Value {
    json!({"__rl": true, "mode": "list", "value": text, "cachedResultName": text})
}

impl Draft<'_> {
    /// Everything about rows of a worksheet; false where a whole workbook is meant.
    pub(super) fn excel_before(
        &mut self,
        at: &At,
        call: &Call<'_>,
        args: &mut Vec<Arg>,
        params: &mut Map<String, Value>,
    ) -> bool {
        let object = fold(call.object);
        if call.short != "microsoftExcel"
            || at.tool.is_some()
            || !(object.is_empty() || object.contains("row") || object.contains("record"))
        {
            return false;
        }
        let matched = take(args, &Role::MatchOn).map(|a| self.text(at, &a.value));
        let operation = match call.verb {
            Verb::Get | Verb::GetMany | Verb::Search | Verb::Query | Verb::Download => "readRows",
            Verb::Upsert => "upsert",
            Verb::Update | Verb::Set => "update",
            Verb::Delete | Verb::Remove => return false,
            _ if matched.is_some() => "upsert",
            _ => "append",
        };
        params.insert("resource".into(), json!("worksheet"));
        params.insert("operation".into(), json!(operation));
        let container = take(args, &Role::Container).map(|a| self.text(at, &a.value));
        let part = take(args, &Role::Part).map(|a| self.text(at, &a.value));
        // "the workbook 'Transfers', sheet Log": the sheet may have been read as a document of its own
        let sheet = args
            .iter()
            .filter(|a| matches!(&a.role, Role::Named(k) if k == "sheet" || k == "tab"))
            .map(|a| self.text(at, &a.value))
            .find(|name| container.as_ref() != Some(name));
        args.retain(|a| !matches!(&a.role, Role::Named(k) if k == "sheet" || k == "tab"));
        let workbook = container.unwrap_or_else(|| {
            self.todo("id", "Microsoft Excel", "choose the workbook");
            "<workbook>".to_owned()
        });
        params.insert("workbook".into(), locator(&workbook));
        let worksheet = part.or(sheet).unwrap_or_else(|| "Sheet1".to_owned());
        params.insert("worksheet".into(), locator(&worksheet));
        if operation == "readRows" {
            args.retain(|a| !matches!((&a.role, &a.value), (Role::Field(_), Val::Field { .. })));
            return true;
        }
        let mut columns: Vec<(String, Value)> = Vec::new();
        args.retain(|a| {
            if !roles::is_content(&a.role) {
                return true;
            }
            columns.push((roles::as_field(&a.role), self.value(at, &a.value)));
            false
        });
        if operation != "append" {
            let key = matched
                .or_else(|| columns.first().map(|(n, _)| n.clone()))
                .unwrap_or_else(|| "id".to_owned());
            params.insert("columnToMatchOn".into(), json!(key));
            if !columns.is_empty() {
                let value = super::expr::expression(&self.field(at, &key, None));
                params.insert("valueToMatchOn".into(), value);
            }
        }
        if columns.is_empty() {
            params.insert("dataMode".into(), json!("autoMap"));
        } else {
            let values: Vec<Value> = columns
                .into_iter()
                .map(|(column, value)| json!({"column": column, "fieldValue": value}))
                .collect();
            params.insert("dataMode".into(), json!("define"));
            params.insert("fieldsUi".into(), json!({"values": values}));
        }
        true
    }
}
