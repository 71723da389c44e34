//! Notion pages and Airtable records: properties by type, filters.

use serde_json::{Map, Value, json};

use super::super::plan::{Arg, Role, Val};
use super::draft::{At, Draft};
use super::expr::expression;
use super::message::take;
use super::words::{capital, fold};

impl Draft<'_> {
    pub(super) fn notion(
        &mut self,
        at: &At,
        operation: &str,
        args: &mut Vec<Arg>,
        params: &mut Map<String, Value>,
    ) {
        let database = take(args, &Role::Container).or_else(|| take(args, &Role::Part));
        if operation == "update" || operation == "get" {
            let page = take(args, &Role::Id).or_else(|| take(args, &Role::Url));
            let value = match page {
                Some(arg) => self.text(at, &arg.value),
                None => {
                    let js = self
                        .has_field(at, "page id")
                        .unwrap_or_else(|| "$json.id".to_owned());
                    format!("={{{{ {js} }}}}")
                }
            };
            let mode = if value.starts_with("http") {
                "url"
            } else {
                "id"
            };
            params.insert(
                "pageId".into(),
                json!({"__rl": true, "mode": mode, "value": value}),
            );
        } else {
            let name = database
                .map(|d| self.text(at, &d.value))
                .unwrap_or_else(|| "<database>".to_owned());
            let mode = if name.starts_with('=') || (name.len() >= 32 && !name.contains(' ')) {
                "id"
            } else {
                "list"
            };
            self.todo("id", "Notion", format!("choose the database {name:?}"));
            params.insert(
                "dataSourceId".into(),
                json!({"__rl": true, "mode": mode, "value": name, "cachedResultName": name}),
            );
        }
        if operation == "getAll" {
            let mut conditions = Vec::new();
            args.retain(|a| {
                let (name, kind) = match &a.role {
                    Role::Status => ("Status".to_owned(), "status"),
                    Role::Stage => ("Stage".to_owned(), "status"),
                    Role::Priority => ("Priority".to_owned(), "select"),
                    Role::Field(name) => (capital(name), "rich_text"),
                    _ => return true,
                };
                if let Val::Field { .. } = a.value {
                    return false;
                }
                let value = self.value(at, &a.value);
                let (value_key, value) = match kind {
                    "status" => ("statusValue", value),
                    "select" => ("selectValue", value),
                    _ => ("richTextValue", value),
                };
                conditions.push(json!({"key": format!("{name}|{kind}"), "condition": "equals", value_key: value}));
                false
            });
            if !conditions.is_empty() {
                params.insert("filterType".into(), json!("manual"));
                params.insert("matchType".into(), json!("allFilters"));
                params.insert("filters".into(), json!({"conditions": conditions}));
            }
            if let Some(limit) = take(args, &Role::Limit) {
                params.insert("returnAll".into(), Value::Bool(false));
                params.insert("limit".into(), self.value(at, &limit.value));
            }
            return;
        }
        // properties: title apart, the rest by name and type
        let mut properties = Vec::new();
        let mut title = None;
        args.retain(|a| {
            let (name, kind, slot) = match &a.role {
                Role::Title | Role::Subject if operation == "create" && title.is_none() => {
                    title = Some(self.value(at, &a.value));
                    return false;
                }
                Role::Due => ("Due".to_owned(), "date", "date"),
                Role::Status => ("Status".to_owned(), "status", "statusValue"),
                Role::Stage => ("Stage".to_owned(), "status", "statusValue"),
                Role::Priority => ("Priority".to_owned(), "select", "selectValue"),
                Role::Url => ("URL".to_owned(), "url", "urlValue"),
                Role::Label => ("Tags".to_owned(), "multi_select", "multiSelectValue"),
                Role::Text | Role::Body => ("Text".to_owned(), "rich_text", "textContent"),
                Role::Field(name) => {
                    let lower = fold(name);
                    if lower.contains("date") || lower.contains("datum") || lower.contains("fecha")
                    {
                        (capital(name), "date", "date")
                    } else if lower.contains("mail") {
                        (capital(name), "email", "emailValue")
                    } else if lower == "status" {
                        (capital(name), "status", "statusValue")
                    } else {
                        (capital(name), "rich_text", "textContent")
                    }
                }
                _ => return true,
            };
            let value = self.value(at, &a.value);
            let mut property = json!({"key": format!("{name}|{kind}"), slot: value});
            if kind == "date"
                && let Some(map) = property.as_object_mut()
            {
                map.insert("includeTime".into(), Value::Bool(false));
            }
            properties.push(property);
            false
        });
        if let Some(title) = title {
            params.insert("title".into(), title);
        } else if operation == "create" && at.tool.is_none() {
            let js = match self.subject(at) {
                Some(subject) => expression(&self.gist(at, subject)),
                None => json!("New page"),
            };
            params.insert("title".into(), js);
        }
        if !properties.is_empty() {
            params.insert("propertiesUi".into(), json!({"propertyValues": properties}));
        }
    }

    pub(super) fn airtable_filter(
        &mut self,
        at: &At,
        args: &mut Vec<Arg>,
        params: &mut Map<String, Value>,
    ) {
        let mut parts = Vec::new();
        let mut dynamic = false;
        args.retain(|a| {
            let column = match &a.role {
                Role::Field(name) => name.clone(),
                Role::Status => "Status".to_owned(),
                Role::MatchOn => {
                    let column = self.column_name(at, &a.value);
                    let js = self.field(at, &column, None);
                    dynamic = true;
                    parts.push(format!("{{{column}}} = '{{{{ {js} }}}}'"));
                    return false;
                }
                _ => return true,
            };
            let text = self.inline(at, &a.value);
            dynamic |= text.contains("{{");
            parts.push(format!("{{{column}}} = '{text}'"));
            false
        });
        let formula = match parts.as_slice() {
            [] => return,
            [one] => one.clone(),
            many => format!("AND({})", many.join(", ")),
        };
        let formula = if dynamic {
            format!("={formula}")
        } else {
            formula
        };
        params.insert("filterByFormula".into(), json!(formula));
    }
}
