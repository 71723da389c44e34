//! Spreadsheets: Google Sheets (and Excel) rows. Owns documents, tabs, columns and the key to match on.

use serde_json::{Map, Value, json};

use super::super::plan::{Arg, Role, Val, Verb};
use super::data::{Origin, Spelling};
use super::draft::{At, Draft};
use super::expr::expression;
use super::facts::Facts;
use super::message::take;
use super::roles;
use super::service::Call;
use super::words::fold;
use agentctl_n8n::catalog::PropertyKind;

impl Draft<'_> {
    pub(super) fn sheet_before(
        &mut self,
        at: &At,
        call: &Call<'_>,
        args: &mut Vec<Arg>,
        params: &mut Map<String, Value>,
    ) -> bool {
        if call.short != "googleSheets" {
            return false;
        }
        let object = fold(call.object);
        let whole = (object.contains("spreadsheet") || object == "document")
            && matches!(call.verb, Verb::Create)
            && args
                .iter()
                .all(|a| !matches!(a.role, Role::Container | Role::Part));
        if whole {
            return false;
        }
        let matched = args.iter().any(|a| a.role == Role::MatchOn);
        let operation = match call.verb {
            Verb::Get | Verb::GetMany | Verb::Search | Verb::Query | Verb::Download => "read",
            Verb::Upsert => "appendOrUpdate",
            Verb::Update | Verb::Set => "update",
            Verb::Delete | Verb::Remove => "delete",
            _ if matched => "appendOrUpdate",
            _ => "append",
        };
        params.insert("resource".into(), json!("sheet"));
        params.insert("operation".into(), json!(operation));
        let container = take(args, &Role::Container).or_else(|| sheet_url(args));
        let part = take(args, &Role::Part);
        // "append to the sheet 'Approved'": one name is the tab's as well as the document's
        let document = container
            .as_ref()
            .or(part.as_ref())
            .map(|a| self.value(at, &a.value));
        let tab = part.as_ref().map(|a| self.value(at, &a.value));
        params.insert("documentId".into(), self.document(document.as_ref()));
        let tab = match (&tab, &document) {
            (Some(tab), _) => locate_tab(tab),
            (None, _) => {
                json!({"__rl": true, "mode": "list", "value": "gid=0", "cachedResultName": "Sheet1"})
            }
        };
        params.insert("sheetName".into(), tab);
        if operation == "delete" {
            match self.has_field(at, "row number") {
                Some(row) => {
                    params.insert("toDelete".into(), json!("rows"));
                    params.insert("startIndex".into(), super::expr::expression(&row));
                    params.insert("numberToDelete".into(), json!(1));
                }
                // Without a row it would be the first that goes.
                None => self.gap(call.said),
            }
        }
        true
    }

    fn document(&mut self, said: Option<&Value>) -> Value {
        let text = said.and_then(Value::as_str).unwrap_or("");
        let other_url = text.starts_with("http") && !text.contains("docs.google.com");
        if text.is_empty() || other_url {
            // "write it back": the document that was read
            if let Some(used) = self.used_before("googleSheets", "documentId") {
                return used;
            }
            self.todo("id", "Google Sheets", "choose the spreadsheet");
            return json!({"__rl": true, "mode": "list", "value": "<spreadsheet>", "cachedResultName": "<spreadsheet>"});
        }
        if text.starts_with("http") {
            return json!({"__rl": true, "mode": "url", "value": text});
        }
        let id =
            text.len() >= 20 && !text.contains(' ') && text.chars().any(|c| c.is_ascii_digit());
        if id || text.starts_with('=') {
            return json!({"__rl": true, "mode": "id", "value": text});
        }
        self.todo(
            "id",
            "Google Sheets",
            format!("choose the spreadsheet {text:?}"),
        );
        json!({"__rl": true, "mode": "list", "value": text, "cachedResultName": text})
    }

    /// A parameter as the last node of this kind has it, unless that is a placeholder.
    pub(super) fn used_before(&self, short: &str, key: &str) -> Option<Value> {
        self.workflow.nodes.iter().rev().find_map(|n| {
            if super::service::short_of(n.node_type()) != short {
                return None;
            }
            let value = n.parameters()?.get(key)?;
            let text = value.get("value").and_then(Value::as_str)?;
            (!text.starts_with('<')).then(|| value.clone())
        })
    }

    /// The last origin that was read from this kind of node.
    pub(super) fn read_from(&self, at: &At, short: &str) -> Option<usize> {
        at.seen.iter().rev().copied().find(|i| {
            self.origins.get(*i).is_some_and(|o| {
                !o.acting
                    && self
                        .workflow
                        .node_by_name(&o.node)
                        .is_some_and(|n| super::service::short_of(n.node_type()) == short)
            })
        })
    }

    pub(super) fn sheet_after(
        &mut self,
        at: &At,
        call: &Call<'_>,
        facts: &Facts,
        args: &mut Vec<Arg>,
        params: &mut Map<String, Value>,
        node: &str,
    ) {
        if call.short != "googleSheets" || params.get("resource") != Some(&json!("sheet")) {
            return;
        }
        let operation = params
            .get("operation")
            .and_then(Value::as_str)
            .unwrap_or("")
            .to_owned();
        if operation == "read" {
            let mut filters = Vec::new();
            args.retain(|a| {
                let key = match &a.role {
                    Role::Field(name) => name.clone(),
                    Role::Status => "Status".to_owned(),
                    _ => return true,
                };
                // a column that is only named is not a filter
                if let Val::Field { name, .. } = &a.value
                    && fold(name) == fold(&key)
                {
                    return false;
                }
                filters.push((key, a.value.clone()));
                false
            });
            if !filters.is_empty() {
                let values: Vec<Value> = filters
                    .iter()
                    .map(|(column, val)| json!({"lookupColumn": column, "lookupValue": self.value(at, val)}))
                    .collect();
                params.insert("filtersUI".into(), json!({"values": values}));
            }
            return;
        }
        if !matches!(operation.as_str(), "append" | "appendOrUpdate" | "update") {
            return;
        }
        let match_on = take(args, &Role::MatchOn).map(|a| self.column_name(at, &a.value));
        let mut columns: Vec<(String, Value)> = Vec::new();
        args.retain(|a| {
            if roles::is_content(&a.role) || matches!(a.role, Role::Id | Role::Recipient | Role::To)
            {
                columns.push((roles::as_field(&a.role), self.value(at, &a.value)));
                return false;
            }
            true
        });
        let mut matching: Vec<String> = match_on.into_iter().collect();
        // Nothing is said of what is written: all that is at hand, by the column that says which row.
        let whole = columns.is_empty() && !matching.is_empty() && at.tool.is_none();
        if whole {
            columns = self.all_columns(at);
        }
        if operation != "append" && matching.is_empty() {
            let from_sheet = at.seen.iter().rev().any(|i| {
                self.origins
                    .get(*i)
                    .is_some_and(|o| o.fields.iter().any(|(_, p)| p == "row_number"))
            });
            let key = if from_sheet {
                Some("row_number".to_owned())
            } else {
                columns.first().map(|(n, _)| n.clone())
            };
            matching.extend(key);
        }
        let flat = whole && columns.is_empty();
        if operation != "append" && !flat {
            for key in &matching {
                if !columns.iter().any(|(name, _)| name == key) && at.tool.is_none() {
                    let js = match self.read_from(at, "googleSheets") {
                        Some(rows) => self.at_origin(at, rows, key),
                        None => self.field(at, key, None),
                    };
                    columns.insert(0, (key.clone(), expression(&js)));
                }
            }
        }
        let Some(mapper) = facts
            .property(params, "columns")
            .filter(|p| p.kind == PropertyKind::ResourceMapper)
            .cloned()
        else {
            return;
        };
        if columns.is_empty() && !flat {
            columns = self.all_columns(at);
            let open = |i: usize| {
                self.origins
                    .get(i)
                    .is_some_and(|o| o.base == "body" && !o.closed)
            };
            if !columns.is_empty() && self.subject(at).is_some_and(open) {
                let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
                let text = format!(
                    "add the other columns: the request names only {}",
                    names.join(", ")
                );
                self.todo("text", node, text);
            }
        }
        let value = if columns.is_empty() {
            json!({"mappingMode": "autoMapInputData", "value": {}, "matchingColumns": matching, "schema": []})
        } else {
            self.mapper(at, &mapper, columns, matching)
        };
        params.insert("columns".into(), value);
    }

    /// The name of a column given as a literal or as a field.
    pub(super) fn column_name(&self, at: &At, val: &Val) -> String {
        match val {
            Val::Field { name, .. } => name.clone(),
            other => self.text(at, other),
        }
    }

    /// Columns for all known fields of the data at hand, when there are some that we know.
    pub(super) fn all_columns(&self, at: &At) -> Vec<(String, Value)> {
        let Some(subject) = self.subject(at) else {
            return Vec::new();
        };
        let Some(origin) = self.origins.get(subject) else {
            return Vec::new();
        };
        // the item itself can be mapped by n8n when it is flat and at hand
        let flat = at.json == Some(subject)
            && origin.base.is_empty()
            && origin
                .fields
                .iter()
                .all(|(_, p)| !p.contains('.') && !p.contains('['));
        if flat {
            return Vec::new();
        }
        origin
            .fields
            .iter()
            // which row it was is no column
            .filter(|(_, path)| !path.is_empty() && path != "row_number")
            .take(8)
            .map(|(said, path)| {
                let name = said.split('|').next().unwrap_or(said).to_owned();
                (name, expression(&self.at_origin(at, subject, path)))
            })
            .collect()
    }

    /// Rows have the columns that the request speaks of.
    pub(super) fn read_origin(&mut self, call: &Call<'_>, args: &[Arg], origin: Origin) -> Origin {
        let mut origin = origin;
        let table = matches!(
            call.short,
            "googleSheets"
                | "airtable"
                | "microsoftExcel"
                | "postgres"
                | "mySql"
                | "mongoDb"
                | "notion"
                | "supabase"
                | "googleBigQuery"
        );
        if table {
            for arg in args {
                match &arg.role {
                    Role::Field(name) => {
                        origin = origin.field(
                            name,
                            super::words::js_path("", name).trim_start_matches('.'),
                        )
                    }
                    Role::Container | Role::Part => {
                        if let Val::Lit {
                            value: Value::String(s),
                        } = &arg.value
                            && !s.starts_with("http")
                        {
                            origin = origin.about(s);
                        }
                    }
                    _ => {}
                }
            }
        }
        if matches!(call.short, "googleSheets" | "airtable") {
            origin = origin.spelled(Spelling::AsSaid);
        }
        if call.short == "airtable" {
            // records come out flat in the current versions
            origin.base = String::new();
        }
        origin
    }
}

fn locate_tab(tab: &Value) -> Value {
    let text = tab.as_str().unwrap_or("");
    if text.starts_with("gid=") {
        return json!({"__rl": true, "mode": "id", "value": text});
    }
    json!({"__rl": true, "mode": "name", "value": text})
}

/// An address of a spreadsheet; other addresses are data.
fn sheet_url(args: &mut Vec<Arg>) -> Option<Arg> {
    let at = args.iter().position(|a| {
        a.role == Role::Url
            && matches!(&a.value, Val::Lit { value: Value::String(s) } if s.contains("docs.google.com"))
    })?;
    Some(args.remove(at))
}
