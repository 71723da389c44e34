//! Records in services: pages, tasks, issues, contacts, events. Adapters for shapes that the catalog cannot tell.

use serde_json::{Map, Value, json};

use super::super::plan::{Arg, Role, Val, Verb};
use super::draft::{At, Draft};
use super::expr::expression;
use super::facts::Facts;
use super::message::take;
use super::service::Call;
use super::words::{self, capital, fold};

pub(super) fn lit(args: &[Arg], role: &Role) -> Option<String> {
    args.iter()
        .find(|a| a.role == *role)
        .and_then(|a| match &a.value {
            Val::Lit {
                value: Value::String(s),
            } => Some(s.clone()),
            Val::Lit { value } => Some(value.to_string()),
            _ => None,
        })
}

fn reading(verb: Verb) -> bool {
    matches!(
        verb,
        Verb::Get | Verb::GetMany | Verb::Search | Verb::Query | Verb::Download
    )
}

impl Draft<'_> {
    pub(super) fn records_before(
        &mut self,
        at: &At,
        call: &Call<'_>,
        args: &mut Vec<Arg>,
        params: &mut Map<String, Value>,
    ) {
        let set = |params: &mut Map<String, Value>, resource: &str, operation: &str| {
            params.insert("resource".into(), json!(resource));
            params.insert("operation".into(), json!(operation));
        };
        match call.short {
            "notion" => {
                let object = fold(call.object);
                if object.contains("block") || object.contains("user") {
                    return;
                }
                let operation = match call.verb {
                    Verb::GetMany | Verb::Search | Verb::Query => "getAll",
                    Verb::Get => {
                        if args.iter().any(|a| matches!(a.role, Role::Id | Role::Url)) {
                            "get"
                        } else {
                            "getAll"
                        }
                    }
                    Verb::Update | Verb::Set | Verb::Move | Verb::Publish => "update",
                    Verb::Delete | Verb::Remove => return,
                    _ => "create",
                };
                set(params, "databasePage", operation);
                self.notion(at, operation, args, params);
            }
            "airtable" => {
                let operation = match call.verb {
                    Verb::GetMany | Verb::Search | Verb::Query => "search",
                    Verb::Get => {
                        if args.iter().any(|a| a.role == Role::Id) {
                            "get"
                        } else {
                            "search"
                        }
                    }
                    Verb::Update | Verb::Set => "update",
                    Verb::Upsert => "upsert",
                    Verb::Delete | Verb::Remove => "deleteRecord",
                    _ => "create",
                };
                set(params, "record", operation);
                let base = take(args, &Role::Container);
                let table = take(args, &Role::Part);
                let named = |d: &mut Self, arg: Option<&Arg>, what: &str| -> Value {
                    let text = arg
                        .map(|a| d.text(at, &a.value))
                        .unwrap_or_else(|| format!("<{what}>"));
                    if text.starts_with("http") {
                        return json!({"__rl": true, "mode": "url", "value": text});
                    }
                    if text.starts_with("app") || text.starts_with("tbl") {
                        return json!({"__rl": true, "mode": "id", "value": text});
                    }
                    d.todo("id", "Airtable", format!("choose the {what} {text:?}"));
                    json!({"__rl": true, "mode": "list", "value": text, "cachedResultName": text})
                };
                let base_value = named(self, base.as_ref().or(table.as_ref()), "base");
                let table_value = named(self, table.as_ref().or(base.as_ref()), "table");
                params.insert("base".into(), base_value);
                params.insert("table".into(), table_value);
                if operation == "search" {
                    self.airtable_filter(at, args, params);
                }
            }
            "jira" if reading(call.verb) && call.verb != Verb::Get => {
                self.jira_search(at, args, params)
            }
            "jira"
                if matches!(
                    call.verb,
                    Verb::Create | Verb::Add | Verb::Post | Verb::Send | Verb::Other
                ) && !fold(call.object).contains("comment") =>
            {
                set(params, "issue", "create");
                let project = take(args, &Role::Container).or_else(|| take(args, &Role::Part));
                let key = project
                    .map(|p| self.text(at, &p.value))
                    .unwrap_or_else(|| "<project>".to_owned());
                self.todo("id", "Jira", format!("choose the project {key:?}"));
                params.insert(
                    "project".into(),
                    json!({"__rl": true, "mode": "list", "value": key, "cachedResultName": key}),
                );
                let kind = ["bug", "story", "epic", "task"]
                    .into_iter()
                    .find(|k| fold(call.object).contains(k))
                    .unwrap_or("task");
                let name = capital(kind);
                params.insert(
                    "issueType".into(),
                    json!({"__rl": true, "mode": "list", "value": name, "cachedResultName": name}),
                );
            }
            "googleCalendar" => self.calendar(at, call, args, params),
            "todoist" if !reading(call.verb) => self.todoist(at, call, args, params),
            "todoist" => {
                set(
                    params,
                    "task",
                    if call.verb == Verb::Get && args.iter().any(|a| a.role == Role::Id) {
                        "get"
                    } else {
                        "getAll"
                    },
                );
                if let Some(filter) = take(args, &Role::Query)
                    .or_else(|| take(args, &Role::Due))
                    .or_else(|| take(args, &Role::TimeRange))
                {
                    params.insert(
                        "filters".into(),
                        json!({"filter": self.text(at, &filter.value)}),
                    );
                }
                args.retain(|a| a.role != Role::Status);
            }
            "hubspot" => self.hubspot(at, call, args, params),
            "googleDocs"
                if !reading(call.verb)
                    && matches!(call.object, "row" | "text" | "entry" | "paragraph")
                    && args.iter().any(|a| a.role == Role::Container) =>
            {
                set(params, "document", "update");
                self.line_of_document(at, args, params);
            }
            "mailchimp"
                if matches!(
                    call.verb,
                    Verb::Create
                        | Verb::Add
                        | Verb::Append
                        | Verb::Insert
                        | Verb::Upsert
                        | Verb::Other
                ) =>
            {
                set(params, "member", "create");
                let list = take(args, &Role::Container).or_else(|| take(args, &Role::Part));
                let name = list
                    .map(|l| self.text(at, &l.value))
                    .unwrap_or_else(|| "<audience>".to_owned());
                self.todo("id", "Mailchimp", format!("choose the audience {name:?}"));
                params.insert("list".into(), json!(name));
                params.insert("status".into(), json!("subscribed"));
            }
            "googleAnalytics" => {
                set(params, "report", "get");
                params.insert("propertyType".into(), json!("ga4"));
            }
            "wordpress" if !reading(call.verb) => {
                let operation = if matches!(call.verb, Verb::Update | Verb::Publish | Verb::Set) {
                    "update"
                } else {
                    "create"
                };
                set(params, "post", operation);
                let status = if call.verb == Verb::Publish
                    || fold(call.said).contains("publish")
                        && call.verb != Verb::Draft
                        && !fold(call.said).contains("draft")
                {
                    "publish"
                } else {
                    "draft"
                };
                params.insert(
                    if operation == "create" {
                        "additionalFields"
                    } else {
                        "updateFields"
                    }
                    .into(),
                    json!({"status": status}),
                );
                args.retain(|a| a.role != Role::Status);
            }
            "linkedIn" if !reading(call.verb) && at.tool.is_none() => self.announce(at, args),
            super::graph::GRAPH
                if !reading(call.verb)
                    && !matches!(call.verb, Verb::Delete | Verb::Remove | Verb::Update) =>
            {
                self.graph_before(at, call, args, params);
            }
            // A post is no message to one person.
            "twitter"
                if !reading(call.verb)
                    && !matches!(call.verb, Verb::Delete | Verb::Remove | Verb::Add)
                    && !args
                        .iter()
                        .any(|a| matches!(a.role, Role::To | Role::Recipient)) =>
            {
                set(params, "tweet", "create");
                self.announce(at, args);
            }
            "twitter"
                if matches!(
                    call.verb,
                    Verb::Search | Verb::GetMany | Verb::Get | Verb::Query
                ) =>
            {
                set(params, "tweet", "search");
            }
            "salesforce"
                if call.verb == Verb::Query || (reading(call.verb) && call.verb != Verb::Get) =>
            {
                self.salesforce_list(at, call, args, params)
            }
            "freshdesk" if reading(call.verb) => {
                set(
                    params,
                    "ticket",
                    if args.iter().any(|a| a.role == Role::Id) {
                        "get"
                    } else {
                        "getAll"
                    },
                );
                args.retain(|a| a.role != Role::Status);
                params.insert("options".into(), json!({"include": ["stats", "requester"]}));
            }
            "okta" if reading(call.verb) => {
                set(params, "user", "getAll");
                let status = lit(args, &Role::Status);
                args.retain(|a| !matches!(a.role, Role::Status));
                if let Some(status) = status {
                    params.insert(
                        "searchQuery".into(),
                        json!(format!("status eq \"{}\"", status.to_uppercase())),
                    );
                }
            }
            _ => {}
        }
    }

    /// A line at the end of a document: the text that was said, else the fields one beside the other.
    fn line_of_document(&self, at: &At, args: &mut Vec<Arg>, params: &mut Map<String, Value>) {
        if let Some(document) = take(args, &Role::Container) {
            params.insert("documentURL".into(), self.value(at, &document.value));
        }
        let said = take(args, &Role::Text).map(|a| vec![a.value]);
        let mut parts = said.unwrap_or_default();
        if parts.is_empty() {
            args.retain(|a| {
                let field = matches!(a.role, Role::Field(_) | Role::Title);
                if field {
                    let gap = (!parts.is_empty()).then(|| Val::Lit {
                        value: json!(" \u{2013} "),
                    });
                    parts.extend(gap);
                    parts.push(a.value.clone());
                }
                !field
            });
        }
        if parts.is_empty() {
            return;
        }
        parts.push(Val::Lit { value: json!("\n") });
        let text = self.value(at, &Val::Template { parts });
        let field = json!({"object": "text", "action": "insert", "insertSegment": "body", "locationChoice": "endOfSegmentLocation", "text": text});
        params.insert("actionsUi".into(), json!({"actionFields": [field]}));
    }

    fn jira_search(&mut self, at: &At, args: &mut Vec<Arg>, params: &mut Map<String, Value>) {
        params.insert("resource".into(), json!("issue"));
        params.insert("operation".into(), json!("getAll"));
        if let Some(query) = take(args, &Role::Query) {
            let text = self.text(at, &query.value);
            params.insert("options".into(), json!({"jql": text}));
            return;
        }
        let mut parts = Vec::new();
        let project = take(args, &Role::Container).or_else(|| take(args, &Role::Part));
        if let Some(project) = project {
            parts.push(format!("project = \"{}\"", self.inline(at, &project.value)));
        }
        let closed = lit(args, &Role::Status).as_deref() == Some("closed");
        if let Some(range) = take(args, &Role::TimeRange)
            && let Some(start) = jql_start(&self.inline(at, &range.value))
        {
            let field = if closed { "resolved" } else { "created" };
            parts.push(format!("{field} >= {start}"));
        }
        args.retain(|a| {
            let value = match &a.role {
                Role::Field(_) | Role::Title | Role::MatchOn | Role::Subject | Role::Text => {
                    match (&a.role, &a.value) {
                        (Role::MatchOn, val) => {
                            let name = self.column_name(at, val);
                            format!("{{{{ {} }}}}", self.field(at, &name, None))
                        }
                        (_, val) => self.inline(at, val),
                    }
                }
                _ => return true,
            };
            parts.push(format!("summary ~ \"{value}\""));
            false
        });
        let jql = parts.join(" AND ");
        let jql = if jql.contains("{{") {
            format!("={jql}")
        } else {
            jql
        };
        if !jql.is_empty() {
            params.insert("options".into(), json!({"jql": jql}));
        }
    }

    pub(super) fn records_after(
        &mut self,
        at: &At,
        call: &Call<'_>,
        facts: &Facts,
        args: &mut Vec<Arg>,
        params: &mut Map<String, Value>,
        _node: &str,
    ) {
        match call.short {
            "googleAnalytics" => self.analytics(call, args, params),
            "quickbooks"
                if facts.property(params, "Line").is_some() && !params.contains_key("Line") =>
            {
                let amount = args
                    .iter()
                    .position(|a| matches!(&a.role, Role::Field(n) if matches!(words::words(n).first().map(String::as_str), Some("amount" | "total"))))
                    .map(|i| args.remove(i))
                    .map(|a| self.value(at, &a.value))
                    .or_else(|| {
                        let known = ["total", "amount", "value"];
                        let js = known.iter().find_map(|n| self.has_field(at, n))?;
                        Some(expression(&js))
                    });
                // What is sold has an item, what is bought an account.
                let sold = params.get("resource").and_then(Value::as_str) != Some("bill");
                let mut line = match sold {
                    true => {
                        json!({"DetailType": "SalesItemLineDetail", "itemId": "<item>", "LineNum": 1})
                    }
                    false => {
                        json!({"DetailType": "AccountBasedExpenseLineDetail", "accountId": "<expense account>", "LineNum": 1})
                    }
                };
                if let (Some(map), Some(amount)) = (line.as_object_mut(), amount) {
                    map.insert("Amount".into(), amount);
                }
                params.insert("Line".into(), json!([line]));
                self.todo("id", "QuickBooks", "choose what the line is about");
            }
            "wordpress" => {
                for (role, key) in [(Role::Text, "content"), (Role::Body, "content")] {
                    if let Some(arg) = take(args, &role) {
                        let value = self.value(at, &arg.value);
                        for slot in ["additionalFields", "updateFields"] {
                            if let Some(map) = params.get_mut(slot).and_then(Value::as_object_mut) {
                                map.insert(key.into(), value.clone());
                            }
                        }
                    }
                }
                let creating = params.get("operation") == Some(&json!("create"));
                if creating
                    && at.tool.is_none()
                    && let Some(js) = self.model_text(at)
                    && let Some(map) = params
                        .get_mut("additionalFields")
                        .and_then(Value::as_object_mut)
                {
                    map.entry("content").or_insert_with(|| expression(&js));
                }
                if params.get("operation") == Some(&json!("update"))
                    && !params.contains_key("postId")
                {
                    let js = self
                        .answer_id(at, "wordpress")
                        .unwrap_or_else(|| "$json.id".to_owned());
                    params.insert("postId".into(), expression(&js));
                }
            }
            "mailchimp"
                if params.get("operation") == Some(&json!("create"))
                    && params.get("resource") == Some(&json!("member")) =>
            {
                let mut list = Vec::new();
                args.retain(|a| match &a.role {
                    Role::Field(name) if !words::words(name).contains(&"email".to_owned()) => {
                        let tag = match words::fold(name).as_str() {
                            n if n.contains("first") || n == "name" => "FNAME".to_owned(),
                            n if n.contains("last") => "LNAME".to_owned(),
                            _ => words::snake(name).to_uppercase(),
                        };
                        list.push(json!({"name": tag, "value": self.value(at, &a.value)}));
                        false
                    }
                    _ => true,
                });
                if !list.is_empty() {
                    params.insert("mergeFieldsUi".into(), json!({"mergeFieldsValues": list}));
                }
            }
            _ => {}
        }
    }
}

/// A range in words as Jira's query language says its beginning.
fn jql_start(range: &str) -> Option<String> {
    let iso = super::sifted::start_of(range)?;
    let inside = |open: &str| {
        iso.split_once(open)
            .and_then(|(_, rest)| rest.split_once(['\'', ' ']))
            .map(|(word, _)| word.to_owned())
    };
    if iso.contains("minus") && iso.contains("startOf") {
        return Some("startOfDay(-1)".to_owned());
    }
    match inside("startOf('").as_deref() {
        Some("day") => Some("startOfDay()".to_owned()),
        Some("week") => Some("startOfWeek()".to_owned()),
        Some("month") => Some("startOfMonth()".to_owned()),
        Some(_) => None,
        None => {
            let (unit, rest) = iso.split_once("minus({ ")?.1.split_once(": ")?;
            let count = rest.split_once(' ')?.0;
            let letter = match unit {
                "hours" => "h",
                "weeks" => "w",
                "months" => return Some(format!("startOfMonth(-{count})")),
                "days" => "d",
                _ => return None,
            };
            Some(format!("-{count}{letter}"))
        }
    }
}
