//! Items as a whole: collect, split, sort, limit, drop repeats, set fields.

use serde_json::{Map, Value, json};

use super::super::plan::{Arg, Measure, Role, Step, Val};
use super::data::{Origin, Spelling};
use super::draft::{At, Draft};
use super::place::object;
use super::roles;
use super::words;

impl Draft<'_> {
    /// All items in one, in a field `data`. The fields of the items stay known.
    pub(super) fn collect(&mut self, at: &At, step: Option<&Step>) -> At {
        let mut params = object(&[
            ("aggregate", json!("aggregateAllItemData")),
            ("destinationFieldName", json!("data")),
        ]);
        let options = if at.file {
            json!({"includeBinaries": true})
        } else {
            json!({})
        };
        params.insert("options".into(), options);
        let wish = step.map_or_else(
            || "Collect into one item".to_owned(),
            |s| self.wish(s, "Collect into one item"),
        );
        let node = self.node(at, &wish, "n8n-nodes-base.aggregate", params);
        let next = self.listed(at, &node, "data", step);
        At {
            list: Some("data".to_owned()),
            ..next
        }
    }

    /// The place behind a node that made one item of many; `field` holds them.
    fn listed(&mut self, at: &At, node: &str, field: &str, step: Option<&Step>) -> At {
        let from = self.subject(at).and_then(|i| self.origins.get(i)).cloned();
        let mut origin = match from {
            Some(o) => Origin {
                base: String::new(),
                acting: false,
                closed: false,
                ..o
            },
            None => Origin::default(),
        };
        if let Some(subject) = self.subject(at)
            && let Some(o) = self.origins.get(subject)
            && !o.base.is_empty()
        {
            let base = o.base.clone();
            for (_, path) in &mut origin.fields {
                *path = format!("{base}.{path}");
            }
        }
        let next = self.produce(at, node, step.map(|s| s.id.as_str()), origin);
        At {
            paired: false,
            many: false,
            list: Some(field.to_owned()),
            ..next
        }
    }

    pub(super) fn aggregate_step(
        &mut self,
        step: &Step,
        format: &str,
        group_by: Option<&Val>,
        at: At,
    ) -> At {
        if let Some(key) = group_by {
            return self.group_step(step, key, format, at);
        }
        match format {
            "html_table" | "table" | "html" => {
                let params = object(&[
                    ("operation", json!("convertToHtmlTable")),
                    ("options", json!({"capitalize": true})),
                ]);
                let wish = self.wish(step, "HTML table");
                let node = self.node(&at, &wish, "n8n-nodes-base.html", params);
                let next = self.produce(
                    &at,
                    &node,
                    Some(&step.id),
                    Origin::default()
                        .about("table list report")
                        .field("text|answer|table|html|list|report", "table"),
                );
                At {
                    paired: false,
                    many: false,
                    list: Some("table".into()),
                    ..next
                }
            }
            "text" => self.text_step(step, at),
            _ => self.collect(&at, Some(step)),
        }
    }

    /// One text with a line for each item.
    fn text_step(&mut self, step: &Step, at: At) -> At {
        let line = self.line_of(&at, "item");
        let code = format!(
            "const lines = $input.all().map(({{ json: item }}) => {line});\nreturn [{{ json: {{ count: lines.length, text: lines.join('\\n') }} }}];"
        );
        let wish = self.wish(step, "Write one text");
        let node = self.code(&at, &wish, &code, false);
        let origin = Origin::default()
            .about("list report summary")
            .field("text|answer|list|report|summary", "text")
            .field("count|number", "count");
        let next = self.produce(&at, &node, Some(&step.id), origin);
        At {
            paired: false,
            many: false,
            list: Some("text".into()),
            ..next
        }
    }

    /// A JavaScript expression for one line about an item.
    fn line_of(&self, at: &At, item: &str) -> String {
        let origin = self.subject(at).and_then(|i| self.origins.get(i));
        let fields: Vec<String> = origin
            .map(|o| {
                o.fields
                    .iter()
                    .filter(|(_, p)| !p.is_empty() && !p.contains('[') && !o.numbers_rows(p))
                    .take(4)
                    .map(|(_, p)| {
                        let base = words::js_path(item, &o.base);
                        words::js_path(&base, p)
                            .replace('.', "?.")
                            .replacen("?.", ".", 1)
                    })
                    .collect()
            })
            .unwrap_or_default();
        if fields.is_empty() {
            format!(
                "'• ' + Object.entries({item}).map(([key, value]) => `${{key}}: ${{value}}`).join(', ')"
            )
        } else {
            format!("'• ' + [{}].filter(Boolean).join(' – ')", fields.join(", "))
        }
    }

    /// One item for each value of a key, with its items in a list and a text about them.
    fn group_step(&mut self, step: &Step, key: &Val, _format: &str, at: At) -> At {
        let path = match key {
            Val::Field { name, of } => {
                self.locate(&at, name, of.as_deref())
                    .map(|(index, path, _)| {
                        (
                            self.origins
                                .get(index)
                                .map(|o| o.base.clone())
                                .unwrap_or_default(),
                            path,
                            name.clone(),
                        )
                    })
            }
            _ => None,
        };
        let (base, path, said) =
            path.unwrap_or_else(|| (String::new(), "id".to_owned(), "key".to_owned()));
        let item = words::js_path("item", &base);
        let key_js = words::js_path(&item, &path)
            .replace('.', "?.")
            .replacen("?.", ".", 1);
        let line = self.line_of(&at, "item");
        let code = format!(
            "const groups = new Map();\nfor (const {{ json: item }} of $input.all()) {{\n  const key = {key_js};\n  if (!groups.has(key)) groups.set(key, []);\n  groups.get(key).push(item);\n}}\nreturn [...groups].map(([key, items]) => ({{\n  json: {{ key, count: items.length, items, text: items.map((item) => {line}).join('\\n') }},\n}}));"
        );
        let wish = self.wish(step, format!("One list per {said}"));
        let node = self.code(&at, &wish, &code, false);
        let origin = Origin::default()
            .about("list group summary")
            .field("text|answer|list|summary|report|items", "text")
            .field(
                &format!("{said}|key|email|owner|owner email|recipient"),
                "key",
            )
            .field("count|number", "count");
        let next = self.produce(&at, &node, Some(&step.id), origin);
        At {
            paired: false,
            many: true,
            list: Some("text".into()),
            ..next
        }
    }

    pub(super) fn split_step(&mut self, step: &Step, field: &Val, at: At) -> At {
        let (path, said) = match field {
            Val::Field { name, of } => {
                let path = match self.locate(&at, name, of.as_deref()) {
                    Some((index, path, _)) => {
                        let base = self
                            .origins
                            .get(index)
                            .map(|o| o.base.clone())
                            .unwrap_or_default();
                        if base.is_empty() {
                            path
                        } else {
                            format!("{base}.{path}")
                        }
                    }
                    None => words::snake(name),
                };
                (path, name.clone())
            }
            Val::Expr { code } => (
                code.trim_start_matches("$json.").to_owned(),
                "items".to_owned(),
            ),
            other => {
                let text = self.text(&at, other);
                (text.clone(), text)
            }
        };
        let params = object(&[("fieldToSplitOut", json!(path)), ("options", json!({}))]);
        let wish = self.wish(step, format!("Split {said}"));
        let node = self.node(&at, &wish, "n8n-nodes-base.splitOut", params);
        let origin = Origin::default().about(&said);
        let next = self.produce(&at, &node, Some(&step.id), origin);
        At { many: true, ..next }
    }

    /// A Set node. Other fields stay.
    pub(super) fn set_fields(&mut self, at: &At, wish: &str, fields: &[(String, Value)]) -> String {
        let assignments: Vec<Value> = fields
            .iter()
            .map(|(name, value)| {
                let kind = match value {
                    Value::Number(_) => "number",
                    Value::Bool(_) => "boolean",
                    Value::Array(_) => "array",
                    Value::Object(_) => "object",
                    Value::String(s) if s.starts_with("={{") && computes(s) => "number",
                    _ => "string",
                };
                json!({"id": self.part_id(), "name": name, "value": value, "type": kind})
            })
            .collect();
        let params = object(&[
            ("assignments", json!({"assignments": assignments})),
            ("includeOtherFields", Value::Bool(false)),
            ("options", json!({})),
        ]);
        self.node(at, wish, "n8n-nodes-base.set", params)
    }

    /// A Set node that gives out what the expression holds, and nothing else.
    pub(super) fn give(&mut self, at: &At, wish: &str, js: &str) -> String {
        let params = object(&[
            ("mode", json!("raw")),
            ("jsonOutput", super::expr::expression(js)),
            ("options", json!({})),
        ]);
        self.node(at, wish, "n8n-nodes-base.set", params)
    }

    /// Where n8n is to map what comes in by itself: the item that the flow is about, and not the envelope in which it came or
    /// the answer of the step before.
    pub(super) fn plain_item(&mut self, at: At, params: &Map<String, Value>) -> At {
        let by_itself = |v: &Value| v == "autoMapInputData" || v == "autoMap";
        let mapped = params.iter().any(|(key, value)| match key.as_str() {
            "dataMode" => by_itself(value),
            _ => value.get("mappingMode").is_some_and(by_itself),
        });
        let reads = Value::Object(params.clone()).to_string().contains("$json");
        if !mapped || reads || at.tool.is_some() || at.list.is_some() || at.is_dead() {
            return at;
        }
        let Some(subject) = self.subject(&at) else {
            return at;
        };
        let Some(origin) = self.origins.get(subject).cloned() else {
            return at;
        };
        if origin.acting || (at.json == Some(subject) && origin.base.is_empty()) {
            return at;
        }
        let item = self.at_origin(&at, subject, "");
        let node = self.give(&at, "Take the data", &item);
        let plain = Origin {
            base: String::new(),
            ..origin
        };
        self.produce(&at, &node, None, plain)
    }

    pub(super) fn set_step(&mut self, step: &Step, fields: &[Arg], at: At) -> At {
        let mut origin = self
            .subject(&at)
            .filter(|i| at.json == Some(*i))
            .and_then(|i| self.origins.get(i))
            .cloned()
            .unwrap_or_default();
        origin.acting = false;
        origin.closed = false;
        let mut pairs = Vec::new();
        for arg in fields {
            let said = roles::as_field(&arg.role);
            let name = if words::is_key(&said) {
                said.clone()
            } else {
                words::snake(&said)
            };
            pairs.push((name.clone(), self.value(&at, &arg.value)));
            // a new value goes before the old one of the same name
            origin.fields.insert(0, (format!("{said}|{name}"), name));
        }
        let wish = self.wish(step, "Set fields");
        let node = self.set_fields(&at, &wish, &pairs);
        if let Some(n) = self.workflow.node_by_name_mut(&node) {
            n.edit_parameters(|p| p.insert("includeOtherFields".into(), Value::Bool(true)));
        }
        // fields set here lie at the top, the rest where it was
        if !origin.base.is_empty() {
            let base = std::mem::take(&mut origin.base);
            let new = pairs.len();
            for (_, path) in origin.fields.iter_mut().skip(new) {
                *path = format!("{base}.{path}");
            }
        }
        let many = at.many;
        let next = self.produce(&at, &node, Some(&step.id), origin);
        At { many, ..next }
    }

    pub(super) fn sort_step(&mut self, step: &Step, by: &Val, descending: bool, at: At) -> At {
        let field = self.key_path(&at, by);
        let order = if descending {
            "descending"
        } else {
            "ascending"
        };
        let params = object(&[
            (
                "sortFieldsUi",
                json!({"sortField": [{"fieldName": field, "order": order}]}),
            ),
            ("options", json!({})),
        ]);
        let wish = self.wish(step, format!("Sort by {field}"));
        let node = self.node(&at, &wish, "n8n-nodes-base.sort", params);
        at.from(&node, 0)
    }

    /// The path of a field in the item at hand.
    fn key_path(&self, at: &At, val: &Val) -> String {
        match val {
            Val::Field { name, of } => match self.locate(at, name, of.as_deref()) {
                Some((index, path, _)) => {
                    let base = self
                        .origins
                        .get(index)
                        .map(|o| o.base.as_str())
                        .unwrap_or("");
                    if base.is_empty() {
                        path
                    } else {
                        format!("{base}.{path}")
                    }
                }
                None => words::snake(name),
            },
            other => self.text(at, other),
        }
    }

    pub(super) fn limit_step(&mut self, step: &Step, n: u32, at: At) -> At {
        let params = object(&[("maxItems", json!(n))]);
        let wish = self.wish(step, format!("First {n}"));
        let node = self.node(&at, &wish, "n8n-nodes-base.limit", params);
        At {
            many: n != 1,
            ..at.from(&node, 0)
        }
    }

    pub(super) fn dedupe_step(
        &mut self,
        step: &Step,
        key: &Val,
        window_seconds: Option<u64>,
        at: At,
    ) -> At {
        // What has no id is known by where it is.
        let value = self.value_or(&at, key, "id", &["path", "key", "link"]);
        let mut params: Map<String, Value> = object(&[
            ("operation", json!("removeItemsSeenInPreviousExecutions")),
            ("logic", json!("removeItemsWithAlreadySeenKeyValues")),
            ("dedupeValue", value),
            ("options", json!({})),
        ]);
        if let Some(seconds) = window_seconds {
            // n8n keeps a count of keys, not a time: the window is a part of the key
            let js = self.js(&at, key);
            let window = seconds.max(1) * 1000;
            params.insert(
                "dedupeValue".into(),
                super::expr::expression(&format!(
                    "{js} + '|' + Math.floor($now.toMillis() / {window})"
                )),
            );
            self.note("repeats are dropped within fixed time windows; a store with an expiry (Redis) gives sliding ones");
        }
        let wish = self.wish(step, "Only new items");
        let node = self.node(&at, &wish, "n8n-nodes-base.removeDuplicates", params);
        at.from(&node, 0)
    }

    /// Repeats within this run.
    pub(super) fn unique_step(&mut self, step: &Step, by: &[Val], at: At) -> At {
        let fields: Vec<String> = by.iter().map(|v| self.key_path(&at, v)).collect();
        let params = if fields.is_empty() {
            object(&[
                ("operation", json!("removeDuplicateInputItems")),
                ("compare", json!("allFields")),
                ("options", json!({})),
            ])
        } else {
            object(&[
                ("operation", json!("removeDuplicateInputItems")),
                ("compare", json!("selectedFields")),
                ("fieldsToCompare", json!(fields.join(", "))),
                ("options", json!({})),
            ])
        };
        let wish = self.wish(step, "Remove duplicates");
        let node = self.node(&at, &wish, "n8n-nodes-base.removeDuplicates", params);
        at.from(&node, 0)
    }

    /// One item for each value of the fields in `by`, with its figures.
    pub(super) fn summarize_step(
        &mut self,
        step: &Step,
        measures: &[Measure],
        by: &[Val],
        at: At,
    ) -> At {
        let groups: Vec<String> = by.iter().map(|v| self.key_path(&at, v)).collect();
        let mut origin = Origin::default()
            .about("summary report")
            .spelled(Spelling::Snake);
        let mut values = Vec::new();
        for measure in measures {
            // any field will do for a count of items: the group's own is always there
            let path = match (measure.op.as_str(), groups.first()) {
                ("count", Some(group)) => group.clone(),
                _ => self.key_path(&at, &measure.of),
            };
            let said = match &measure.of {
                Val::Field { name, .. } => name.clone(),
                _ => path.clone(),
            };
            let prefix = match measure.op.as_str() {
                "count" => "count",
                "average" => "average",
                "min" => "min",
                "max" => "max",
                _ => "sum",
            };
            let name = format!("{prefix}_{}", path.replace('.', "_"));
            origin = origin.field(
                &format!("{said}|{} {said}|{prefix}|total|amount|value", measure.op),
                &name,
            );
            values.push(json!({"aggregation": prefix, "field": path}));
        }
        for (group, val) in groups.iter().zip(by) {
            let said = match val {
                Val::Field { name, .. } => name.clone(),
                _ => group.clone(),
            };
            origin = origin.field(&said, &group.replace('.', "_"));
        }
        let params = object(&[
            ("fieldsToSummarize", json!({"values": values})),
            ("fieldsToSplitBy", json!(groups.join(", "))),
            ("options", json!({})),
        ]);
        let wish = self.wish(step, "Summarize");
        let node = self.node(&at, &wish, "n8n-nodes-base.summarize", params);
        let next = self.produce(&at, &node, Some(&step.id), origin);
        At {
            paired: false,
            many: true,
            ..next
        }
    }

    /// Fields for a node that reads them from the item itself (MongoDB).
    pub(super) fn flatten(&mut self, at: &At, fields: &[(String, Val)]) -> At {
        let pairs: Vec<(String, Value)> = fields
            .iter()
            .map(|(n, v)| (n.clone(), self.value(at, v)))
            .collect();
        let node = self.set_fields(at, "Pick fields", &pairs);
        let mut origin = Origin::default().spelled(Spelling::Snake);
        for (name, _) in &pairs {
            origin = origin.field(name, name);
        }
        let many = at.many;
        let next = self.produce(at, &node, None, origin);
        At { many, ..next }
    }

    /// Arguments as key-value pairs of a body.
    pub(super) fn body_pairs(&self, at: &At, args: &[Arg]) -> Vec<(String, Value)> {
        args.iter()
            .map(|a| {
                let name = match &a.role {
                    Role::Field(name) => name.clone(),
                    other => roles::as_field(other),
                };
                let name = if words::is_key(&name) || name.contains('-') {
                    name
                } else {
                    words::snake(&name)
                };
                (name, self.value(at, &a.value))
            })
            .collect()
    }
}

/// The expression is arithmetic.
fn computes(expression: &str) -> bool {
    [" * ", " / ", " - ", "Math.", "Number("]
        .iter()
        .any(|sign| expression.contains(sign))
        && !expression.contains(".toFormat(")
}
