//! Records in services: pages, tasks, issues, contacts, events. Adapters for shapes that the catalog cannot tell.

use serde_json::{Map, Value, json};

use super::super::plan::{Arg, Role, Val, Verb};
use super::draft::{At, Draft};
use super::expr::expression;
use super::facts::Facts;
use super::message::take;
use super::service::Call;
use super::words::{self, capital, fold};

fn lit(args: &[Arg], role: &Role) -> Option<String> {
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
            "twitter" | "linkedIn"
                if !reading(call.verb)
                    && at.tool.is_none()
                    && args
                        .iter()
                        .all(|a| !matches!(a.role, Role::Text | Role::Body | Role::Title)) =>
            {
                if let Some(text) = self.announcement(at) {
                    args.push(Arg {
                        role: Role::Text,
                        value: super::message::raw(&text),
                    });
                }
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
            "xero" if reading(call.verb) => {
                let all = fold(&format!("{} {}", call.said, call.object));
                if ["open", "offen", "unpaid", "overdue", "pendient", "impay"]
                    .iter()
                    .any(|w| all.contains(w))
                {
                    params.insert("options".into(), json!({"statuses": ["AUTHORISED"]}));
                    args.retain(|a| a.role != Role::Status);
                }
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

    fn notion(
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
        } else if operation == "create" && at.tool.is_some() {
            for (key, what) in [
                ("start", "start of the event, ISO 8601"),
                ("end", "end of the event, ISO 8601"),
            ] {
                params.insert(
                    key.into(),
                    json!(format!("={{{{ $fromAI('{key}', '{what}', 'string') }}}}")),
                );
            }
            params.insert("additionalFields".into(), json!({"summary": "={{ $fromAI('summary', 'title of the event', 'string') }}", "description": "={{ $fromAI('description', 'what the event is about', 'string') }}"}));
        } else if operation == "create" {
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

    fn airtable_filter(&mut self, at: &At, args: &mut Vec<Arg>, params: &mut Map<String, Value>) {
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
        let status = take(args, &Role::Status)
            .map(|s| self.inline(at, &s.value))
            .unwrap_or_else(|| "open".to_owned());
        match fold(&status).as_str() {
            "open" | "offen" | "unresolved" | "abierto" | "ouvert" => {
                parts.push("statusCategory != Done".to_owned())
            }
            _ => parts.push(format!("status = \"{status}\"")),
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
        params.insert("options".into(), json!({"jql": jql}));
    }

    fn calendar(
        &mut self,
        at: &At,
        call: &Call<'_>,
        args: &mut Vec<Arg>,
        params: &mut Map<String, Value>,
    ) {
        params.insert("resource".into(), json!("event"));
        let operation = match call.verb {
            Verb::GetMany | Verb::Search | Verb::Query => "getAll",
            Verb::Get => {
                if args.iter().any(|a| a.role == Role::Id) {
                    "get"
                } else {
                    "getAll"
                }
            }
            Verb::Update | Verb::Set => "update",
            Verb::Delete | Verb::Remove => "delete",
            _ => "create",
        };
        params.insert("operation".into(), json!(operation));
        let name = take(args, &Role::Container)
            .or_else(|| take(args, &Role::Part))
            .map(|c| self.text(at, &c.value))
            .unwrap_or_else(|| "primary".to_owned());
        let mode = if name.contains('@') { "id" } else { "list" };
        if name != "primary" && mode == "list" {
            self.todo(
                "id",
                "Google Calendar",
                format!("choose the calendar {name:?}"),
            );
        }
        params.insert(
            "calendar".into(),
            json!({"__rl": true, "mode": mode, "value": name, "cachedResultName": name}),
        );
        if operation == "getAll" {
            if at.tool.is_some() {
                params.insert(
                    "timeMin".into(),
                    json!("={{ $fromAI('after', 'start of the time range, ISO 8601', 'string') }}"),
                );
                params.insert(
                    "timeMax".into(),
                    json!("={{ $fromAI('before', 'end of the time range, ISO 8601', 'string') }}"),
                );
                return;
            }
            let range = take(args, &Role::TimeRange)
                .map(|r| (lit(std::slice::from_ref(&r), &Role::TimeRange), r));
            let text = fold(&format!(
                "{} {}",
                call.said,
                range
                    .as_ref()
                    .and_then(|(l, _)| l.clone())
                    .unwrap_or_default()
            ));
            let (from, to) = time_range(&text, range.as_ref().map(|(_, a)| &a.value));
            params.insert("timeMin".into(), expression(&from));
            params.insert("timeMax".into(), expression(&to));
        } else if operation == "create" && at.tool.is_none() {
            for (key, hints) in [
                (
                    "start",
                    &["start", "from", "begin", "von", "desde", "inicio", "debut"][..],
                ),
                (
                    "end",
                    &["end", "to", "until", "till", "bis", "hasta", "fin"][..],
                ),
            ] {
                let index = args.iter().position(|a| match &a.role {
                    Role::Field(name) => hints.contains(&fold(name).as_str()) || hints.iter().any(|h| fold(name).starts_with(&format!("{h} "))),
                    Role::From => key == "start",
                    Role::To => key == "end" && !matches!(&a.value, Val::Lit { value: Value::String(s) } if s.contains('@')),
                    Role::Due => key == "start",
                    _ => false,
                });
                let value = match index {
                    Some(i) => {
                        let arg = args.remove(i);
                        Some(self.value(at, &arg.value))
                    }
                    None => hints
                        .iter()
                        .find_map(|h| self.exact_field(at, h))
                        .map(|js| expression(&js)),
                };
                if let Some(value) = value {
                    params.insert(key.to_owned(), value);
                }
            }
            let mut more = Map::new();
            if let Some(title) = take(args, &Role::Title).or_else(|| take(args, &Role::Subject)) {
                more.insert("summary".into(), self.value(at, &title.value));
            } else {
                let name = self
                    .has_field(at, "name")
                    .map(|js| format!("={{{{ {js} }}}}"));
                more.insert(
                    "summary".into(),
                    json!(name.unwrap_or_else(|| self.workflow.name().to_owned())),
                );
            }
            if let Some(text) = take(args, &Role::Text).or_else(|| take(args, &Role::Body)) {
                more.insert("description".into(), self.value(at, &text.value));
            }
            params.insert("additionalFields".into(), Value::Object(more));
        }
    }

    /// A field of the data at hand with exactly this name.
    fn exact_field(&self, at: &At, name: &str) -> Option<String> {
        at.seen.iter().rev().find_map(|&i| {
            let origin = self.origins.get(i)?;
            let (_, path) = origin
                .fields
                .iter()
                .find(|(said, _)| said.split('|').any(|s| fold(s) == name))?;
            Some(self.at_origin(at, i, path))
        })
    }

    fn todoist(
        &mut self,
        at: &At,
        call: &Call<'_>,
        args: &mut Vec<Arg>,
        params: &mut Map<String, Value>,
    ) {
        let operation = match call.verb {
            Verb::Update | Verb::Set => "update",
            Verb::Delete | Verb::Remove => "delete",
            Verb::Move => "move",
            _ => "create",
        };
        params.insert("resource".into(), json!("task"));
        params.insert("operation".into(), json!(operation));
        if operation != "create" {
            return;
        }
        if let Some(title) = take(args, &Role::Title).or_else(|| take(args, &Role::Subject)) {
            params.insert("content".into(), self.value(at, &title.value));
        } else if let Some(text) = take(args, &Role::Text) {
            params.insert("content".into(), self.value(at, &text.value));
        } else if at.tool.is_none()
            && let Some(subject) = self.subject(at)
        {
            params.insert("content".into(), expression(&self.gist(at, subject)));
        }
        let project = take(args, &Role::Container)
            .or_else(|| take(args, &Role::Part))
            .map(|p| self.text(at, &p.value));
        let name = project.unwrap_or_else(|| "Inbox".to_owned());
        params.insert(
            "project".into(),
            json!({"__rl": true, "mode": "list", "value": name, "cachedResultName": name}),
        );
        if let Some(due) = take(args, &Role::Due) {
            let words_only = matches!(&due.value, Val::Lit { .. });
            let value = self.value(at, &due.value);
            let key = if words_only {
                "dueString"
            } else {
                "dueDateTime"
            };
            params.insert("options".into(), json!({key: value}));
        }
    }

    fn hubspot(
        &mut self,
        at: &At,
        call: &Call<'_>,
        args: &mut Vec<Arg>,
        params: &mut Map<String, Value>,
    ) {
        params.insert("authentication".into(), json!("appToken"));
        let object = fold(call.object);
        if object.contains("deal")
            && matches!(
                call.verb,
                Verb::Create | Verb::Add | Verb::Insert | Verb::Post | Verb::Other
            )
        {
            params.insert("resource".into(), json!("deal"));
            params.insert("operation".into(), json!("create"));
            let mut more = Map::new();
            if let Some(title) = take(args, &Role::Title)
                .or_else(|| take(args, &Role::Subject))
                .or_else(|| take(args, &Role::Field("name".into())))
            {
                more.insert("dealName".into(), self.value(at, &title.value));
            }
            params.insert("additionalFields".into(), Value::Object(more));
        } else if (object.contains("contact")
            || object.is_empty()
            || object.contains("lead")
            || object.contains("contacto"))
            && matches!(
                call.verb,
                Verb::Create
                    | Verb::Add
                    | Verb::Insert
                    | Verb::Upsert
                    | Verb::Update
                    | Verb::Append
                    | Verb::Set
                    | Verb::Other
            )
        {
            params.insert("resource".into(), json!("contact"));
            params.insert("operation".into(), json!("upsert"));
            let email = args.iter().position(|a| matches!(&a.role, Role::To | Role::MatchOn | Role::Recipient) || matches!(&a.role, Role::Field(n) if words::words(n).contains(&"email".to_owned())));
            if let Some(i) = email {
                let arg = args.remove(i);
                let value = match (&arg.role, &arg.value) {
                    (
                        Role::MatchOn,
                        Val::Lit {
                            value: Value::String(name),
                        },
                    ) => match self.has_field(at, name) {
                        Some(js) => expression(&js),
                        None => expression(&self.field(at, "email", None)),
                    },
                    (_, val) => self.value(at, val),
                };
                params.insert("email".into(), value);
            }
            // the fields that came in under common names
            if at.tool.is_none() {
                let mut more = Map::new();
                for (field, key) in [
                    ("first name", "firstName"),
                    ("last name", "lastName"),
                    ("name", "firstName"),
                    ("company", "companyName"),
                    ("phone", "phoneNumber"),
                    ("message", "message"),
                    ("country", "country"),
                ] {
                    if more.contains_key(key)
                        || args.iter().any(
                            |a| matches!(&a.role, Role::Field(n) if words::similar(n, field) > 0.8),
                        )
                    {
                        continue;
                    }
                    if let Some(js) = self.has_field(at, field) {
                        more.insert(key.to_owned(), expression(&js));
                    }
                }
                params.insert("additionalFields".into(), Value::Object(more));
            }
        }
    }

    fn salesforce_list(
        &mut self,
        at: &At,
        call: &Call<'_>,
        args: &mut Vec<Arg>,
        params: &mut Map<String, Value>,
    ) {
        if let Some(query) = take(args, &Role::Query) {
            let text = self.text(at, &query.value);
            if fold(&text).starts_with("select") {
                params.insert("resource".into(), json!("search"));
                params.insert("operation".into(), json!("query"));
                params.insert("query".into(), json!(text));
                return;
            }
        }
        let said = fold(&format!("{} {}", call.said, call.object));
        let Some(days) = idle_days(&said) else {
            return;
        };
        let object = if said.contains("opportun") {
            "Opportunity"
        } else if said.contains("lead") {
            "Lead"
        } else {
            "Account"
        };
        let fields = match object {
            "Opportunity" => {
                "Id, Name, StageName, Amount, CloseDate, LastActivityDate, Owner.Name, Owner.Email"
            }
            _ => "Id, Name, LastActivityDate, Owner.Name, Owner.Email",
        };
        let open = if object == "Opportunity" {
            "IsClosed = false AND "
        } else {
            ""
        };
        params.insert("resource".into(), json!("search"));
        params.insert("operation".into(), json!("query"));
        params.insert(
            "query".into(),
            json!(format!("SELECT {fields} FROM {object} WHERE {open}(LastActivityDate < LAST_N_DAYS:{days} OR LastActivityDate = null)")),
        );
        args.retain(|a| !matches!(a.role, Role::TimeRange | Role::Status | Role::Field(_)));
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
                    .or_else(|| self.has_field(at, "total").map(|js| expression(&js)));
                let mut line = json!({"DetailType": "AccountBasedExpenseLineDetail", "accountId": "<expense account>", "LineNum": 1});
                if let (Some(map), Some(amount)) = (line.as_object_mut(), amount) {
                    map.insert("Amount".into(), amount);
                }
                params.insert("Line".into(), json!([line]));
                self.todo("id", "QuickBooks", "choose vendor and account of the line");
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

    fn analytics(&mut self, call: &Call<'_>, args: &mut Vec<Arg>, params: &mut Map<String, Value>) {
        let said = fold(&format!("{} {}", call.said, call.object));
        let mut wanted: Vec<&str> = Vec::new();
        for (word, metric) in [
            ("session", "sessions"),
            ("conversion", "conversions"),
            ("user", "totalUsers"),
            ("view", "screenPageViews"),
            ("bounce", "bounceRate"),
            ("revenue", "totalRevenue"),
            ("event", "eventCount"),
        ] {
            let named = said.contains(word)
                || args
                    .iter()
                    .any(|a| matches!(&a.role, Role::Field(n) if fold(n).contains(word)));
            if named {
                wanted.push(metric);
            }
        }
        args.retain(|a| !matches!(a.role, Role::Field(_)));
        if wanted.is_empty() {
            wanted.push("totalUsers");
        }
        let list: Vec<Value> = wanted
            .iter()
            .map(|m| match *m {
                "sessions" | "totalUsers" | "screenPageViews" | "eventCount" => {
                    json!({"listName": m})
                }
                other => json!({"listName": "other", "name": other}),
            })
            .collect();
        params.insert("metricsGA4".into(), json!({"metricValues": list}));
        params.insert(
            "dimensionsGA4".into(),
            json!({"dimensionValues": [{"listName": "date"}]}),
        );
        let range = lit(args, &Role::TimeRange)
            .map(|t| fold(&t))
            .unwrap_or(said);
        let value = if range.contains("30") {
            "last30days"
        } else if range.contains("yesterday") || range.contains("gestern") {
            "yesterday"
        } else if range.contains("today") {
            "today"
        } else if range.contains("month") {
            "lastCalendarMonth"
        } else {
            "last7days"
        };
        params.insert("dateRange".into(), json!(value));
        args.retain(|a| a.role != Role::TimeRange);
    }

    /// What a model wrote before this place.
    pub(super) fn model_text(&self, at: &At) -> Option<String> {
        let answers = |judges: bool| {
            at.seen.iter().rev().find_map(|&i| {
                let origin = self.origins.get(i)?;
                let (_, path) = origin
                    .fields
                    .iter()
                    .find(|(said, _)| said.starts_with("text|answer"))?;
                let is_judge = origin.about.iter().any(|w| {
                    matches!(
                        w.as_str(),
                        "critique"
                            | "criticise"
                            | "criticize"
                            | "review"
                            | "check"
                            | "feedback"
                            | "rate"
                    )
                });
                (is_judge == judges).then(|| self.at_origin(at, i, path))
            })
        };
        // a judgement of a text is not the text
        answers(false).or_else(|| answers(true))
    }

    /// A line about what was published before: its title and its link.
    fn announcement(&self, at: &At) -> Option<String> {
        let (index, path) = at.seen.iter().rev().find_map(|&i| {
            let origin = self.origins.get(i).filter(|o| o.acting)?;
            let (_, path) = origin
                .fields
                .iter()
                .find(|(said, _)| said.split('|').any(|s| s == "link" || s == "post url"))?;
            Some((i, path.clone()))
        })?;
        let link = self.at_origin(at, index, &path);
        let title = self.subject_title(at);
        Some(match title {
            Some(title) => format!("{{{{ {title} }}}} {{{{ {link} }}}}"),
            None => format!("{{{{ {link} }}}}"),
        })
    }

    /// The title of the first thing that has one.
    fn subject_title(&self, at: &At) -> Option<String> {
        at.seen.iter().find_map(|&i| {
            let origin = self.origins.get(i).filter(|o| !o.acting)?;
            let (_, path) = origin
                .fields
                .iter()
                .find(|(said, _)| said.split('|').any(|s| s == "title"))?;
            Some(self.at_origin(at, i, path))
        })
    }

    /// The id that an earlier node of this service answered with.
    fn answer_id(&self, at: &At, short: &str) -> Option<String> {
        at.seen.iter().rev().find_map(|&i| {
            let origin = self.origins.get(i)?;
            let node = self.workflow.node_by_name(&origin.node)?;
            (super::service::short_of(node.node_type()) == short)
                .then(|| self.at_origin(at, i, "id"))
        })
    }
}

/// "without activity for 30 days" → 30.
fn idle_days(said: &str) -> Option<u32> {
    let idle = [
        "without activity",
        "no activity",
        "sans activite",
        "ohne aktivitaet",
        "sin actividad",
        "inactive",
        "inaktiv",
        "stale",
        "untouched",
    ];
    if !idle.iter().any(|w| said.contains(w)) {
        return None;
    }
    said.split(|c: char| !c.is_ascii_digit())
        .find_map(|n| n.parse().ok())
}

/// Start and end of a time range in words.
fn time_range(said: &str, given: Option<&Val>) -> (String, String) {
    if let Some(Val::Now { offset_seconds, .. }) = given {
        let other = super::expr::now(*offset_seconds);
        return if *offset_seconds < 0 {
            (other, "$now".to_owned())
        } else {
            ("$now".to_owned(), other)
        };
    }
    let has = |list: &[&str]| list.iter().any(|w| said.contains(w));
    if has(&["tomorrow", "morgen", "manana", "demain"]) && !has(&["morgens"]) {
        return (
            "$now.plus({ days: 1 }).startOf('day')".into(),
            "$now.plus({ days: 1 }).endOf('day')".into(),
        );
    }
    if has(&[
        "next week",
        "coming week",
        "naechste woche",
        "kommende woche",
        "proxima semana",
        "semaine prochaine",
        "week",
    ]) {
        return ("$now".into(), "$now.plus({ weeks: 1 })".into());
    }
    if has(&["month", "monat", "mois"]) {
        return ("$now.startOf('month')".into(), "$now.endOf('month')".into());
    }
    if has(&["today", "heute", "hoy", "aujourd"]) {
        return ("$now.startOf('day')".into(), "$now.endOf('day')".into());
    }
    ("$now.startOf('day')".into(), "$now.endOf('day')".into())
}
