//! Databases: Postgres, MySQL, MongoDB, BigQuery, Redis and relatives. Owns tables, columns, conditions and queries.

use serde_json::{Map, Value, json};

use super::super::plan::{Arg, Role, Val, Verb};
use super::draft::{At, Draft};
use super::expr::expression;
use super::facts::Facts;
use super::message::take;
use super::roles;
use super::service::Call;
use super::words::{self, fold};

const SQL: &[&str] = &[
    "postgres",
    "mySql",
    "microsoftSql",
    "snowflake",
    "crateDb",
    "questDb",
    "timescaleDb",
    "oracleDatabase",
    "googleBigQuery",
];

fn is_sql(short: &str) -> bool {
    SQL.contains(&short)
}

/// A name that SQL takes without quotes.
fn plain_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))
}

impl Draft<'_> {
    pub(super) fn database_before(
        &mut self,
        at: &At,
        call: &Call<'_>,
        args: &mut Vec<Arg>,
        params: &mut Map<String, Value>,
    ) -> bool {
        match call.short {
            short if is_sql(short) => self.sql(at, call, args, params),
            "mongoDb" => {
                params.insert("resource".into(), json!("document"));
                let operation = match call.verb {
                    Verb::Insert
                    | Verb::Create
                    | Verb::Add
                    | Verb::Append
                    | Verb::Post
                    | Verb::Send
                    | Verb::Set => "insert",
                    Verb::Update | Verb::Upsert => "update",
                    Verb::Delete | Verb::Remove => "delete",
                    _ => "find",
                };
                params.insert("operation".into(), json!(operation));
                // the collection is the part when a database is named too
                if let Some(part) = take(args, &Role::Part).or_else(|| take(args, &Role::Container))
                {
                    params.insert("collection".into(), self.value(at, &part.value));
                }
            }
            "redis" => self.redis(at, call, args, params),
            "ssh" => {
                let file = matches!(call.verb, Verb::Download | Verb::Get | Verb::Upload)
                    || fold(call.object).contains("file");
                if file {
                    params.insert("resource".into(), json!("file"));
                    params.insert(
                        "operation".into(),
                        json!(if call.verb == Verb::Upload {
                            "upload"
                        } else {
                            "download"
                        }),
                    );
                } else {
                    params.insert("resource".into(), json!("command"));
                    params.insert("operation".into(), json!("execute"));
                }
            }
            _ => return false,
        }
        true
    }

    /// What goes onto a list or a queue: the one field named, the named fields as JSON, else the item.
    fn payload(&mut self, at: &At, args: &[Arg]) -> Value {
        let named: Vec<(String, Value)> = args
            .iter()
            .filter(|a| matches!(a.role, Role::Field(_) | Role::Text | Role::Body))
            .map(|a| (roles::as_field(&a.role), self.value(at, &a.value)))
            .collect();
        match named.as_slice() {
            [] => json!("={{ JSON.stringify($json) }}"),
            [(_, one)] => one.clone(),
            many => {
                let pairs: Vec<String> = many
                    .iter()
                    .map(|(name, value)| {
                        let text = value
                            .as_str()
                            .map_or_else(|| value.to_string(), str::to_owned);
                        let js = text
                            .strip_prefix("={{")
                            .and_then(|t| t.strip_suffix("}}"))
                            .map_or_else(|| json!(text).to_string(), |t| t.trim().to_owned());
                        format!("{}: {js}", json!(words::snake(name)))
                    })
                    .collect();
                json!(format!(
                    "={{{{ JSON.stringify({{ {} }}) }}}}",
                    pairs.join(", ")
                ))
            }
        }
    }

    fn redis(
        &mut self,
        at: &At,
        call: &Call<'_>,
        args: &mut Vec<Arg>,
        params: &mut Map<String, Value>,
    ) {
        let said = words::plain(call.said);
        let says = |list: &[&str]| said.iter().any(|w| list.contains(&w.as_str()));
        let on_list = says(&["list", "liste", "lista", "queue", "warteschlange", "cola"]);
        let reading = matches!(
            call.verb,
            Verb::Get | Verb::Search | Verb::Query | Verb::GetMany
        );
        let operation = match call.verb {
            _ if reading && says(&["pop", "rpop", "lpop"]) => "pop",
            _ if reading && says(&["length", "size", "laenge", "longueur"]) && on_list => "llen",
            _ if reading => "get",
            Verb::Delete | Verb::Remove => "delete",
            _ if says(&["publish", "veroeffentliche", "publica", "publie"]) => "publish",
            _ if says(&[
                "increment",
                "increase",
                "incr",
                "erhoehe",
                "incrementa",
                "count",
                "counter",
            ]) && !on_list =>
            {
                "incr"
            }
            _ if says(&["push", "append", "enqueue", "lpush", "rpush"]) || on_list => "push",
            Verb::Append | Verb::Add if fold(call.object).contains("list") => "push",
            _ => "set",
        };
        params.insert("operation".into(), json!(operation));
        if matches!(operation, "push" | "publish" | "pop" | "llen") {
            let named = args
                .iter()
                .position(|a| matches!(&a.role, Role::Named(k) if matches!(k.as_str(), "list" | "queue" | "key" | "stream" | "topic")))
                .map(|i| args.remove(i))
                .or_else(|| take(args, &Role::Channel))
                .or_else(|| take(args, &Role::Container))
                .or_else(|| take(args, &Role::Title));
            let target = if operation == "publish" {
                "channel"
            } else {
                "list"
            };
            if let Some(named) = named {
                params.insert(target.into(), self.value(at, &named.value));
            }
            if matches!(operation, "push" | "publish") {
                let value = self.payload(at, args);
                params.insert("messageData".into(), value);
            }
            args.clear();
            return;
        }
        let key = take(args, &Role::Id)
            .or_else(|| take(args, &Role::MatchOn))
            .or_else(|| take(args, &Role::Title))
            .or_else(|| take(args, &Role::Field("key".into())));
        if let Some(key) = key {
            let value = self.value(at, &key.value);
            params.insert("key".into(), value);
        }
        if operation == "get" {
            params.insert("propertyName".into(), json!("value"));
        }
        if operation == "set" {
            if let Some(ttl) = take(args, &Role::TimeRange)
                .or_else(|| take(args, &Role::Field("ttl".into())))
                .or_else(|| take(args, &Role::Field("TTL".into())))
            {
                params.insert("expire".into(), Value::Bool(true));
                params.insert("ttl".into(), self.value(at, &ttl.value));
            }
            if let Some(value) = take(args, &Role::Body)
                .or_else(|| take(args, &Role::Text))
                .or_else(|| take(args, &Role::Field("value".into())))
            {
                params.insert("value".into(), self.value(at, &value.value));
            } else {
                params.insert("value".into(), json!("={{ $now.toISO() }}"));
            }
            params.insert("keyType".into(), json!("string"));
        }
    }

    fn sql(
        &mut self,
        at: &At,
        call: &Call<'_>,
        args: &mut Vec<Arg>,
        params: &mut Map<String, Value>,
    ) {
        let query = args
            .iter()
            .position(|a| a.role == Role::Query || a.role == Role::Command);
        let query = query.map(|i| args.remove(i));
        let table = self.table_of(at, args);
        if let Some(query) = query {
            let text = self.text(at, &query.value);
            let is_sql = [
                "select", "insert", "update", "delete", "with", "call", "refresh", "merge",
                "truncate", "create", "vacuum", "exec", "begin", "=",
            ]
            .iter()
            .any(|w| fold(text.trim_start()).starts_with(w));
            if is_sql || table.is_none() {
                params.insert("operation".into(), json!("executeQuery"));
                params.insert("query".into(), json!(text));
                if call.short == "googleBigQuery" {
                    params.insert("sqlQuery".into(), json!(text));
                    params.remove("query");
                    self.project(params);
                }
                return;
            }
        }
        let operation = match call.verb {
            Verb::Get | Verb::GetMany | Verb::Search | Verb::Query | Verb::Download => "select",
            Verb::Update | Verb::Set => "update",
            Verb::Upsert => "upsert",
            Verb::Delete | Verb::Remove if call.short == "microsoftSql" => "delete",
            Verb::Delete | Verb::Remove => "deleteTable",
            Verb::Run => "executeQuery",
            _ => "insert",
        };
        if call.short == "googleBigQuery" {
            if operation == "deleteTable" {
                // Its operations insert rows and run queries; a query that deletes is nothing to guess.
                self.gap(call.said);
            }
            self.big_query(at, operation, table.as_deref(), args, params);
            return;
        }
        params.insert("operation".into(), json!(operation));
        if operation == "deleteTable" {
            params.insert("deleteCommand".into(), json!("delete"));
        }
        let supported = matches!(call.short, "postgres" | "mySql");
        match table {
            Some(table) => {
                let (schema, name) = match table.rsplit_once('.') {
                    Some((schema, name)) => (Some(schema.to_owned()), name.to_owned()),
                    None => (None, table.clone()),
                };
                if call.short == "postgres" {
                    let schema = schema.clone().unwrap_or_else(|| "public".to_owned());
                    params.insert(
                        "schema".into(),
                        json!({"__rl": true, "mode": "name", "value": schema}),
                    );
                    params.insert(
                        "table".into(),
                        json!({"__rl": true, "mode": "name", "value": name}),
                    );
                } else if call.short == "mySql" {
                    params.insert(
                        "table".into(),
                        json!({"__rl": true, "mode": "name", "value": table}),
                    );
                } else if supported || operation != "select" {
                    params.insert("table".into(), json!(table));
                } else {
                    params.insert("operation".into(), json!("executeQuery"));
                    params.insert("query".into(), json!(format!("SELECT * FROM {table}")));
                }
            }
            None if operation == "executeQuery" => {}
            None => {
                params.insert(
                    "table".into(),
                    json!({"__rl": true, "mode": "name", "value": "<table>"}),
                );
                self.todo("value", call.short, "name the table");
            }
        }
    }

    fn project(&mut self, params: &mut Map<String, Value>) {
        params.insert("projectId".into(), json!({"__rl": true, "mode": "list", "value": "<project>", "cachedResultName": "<project>"}));
        self.todo("id", "BigQuery", "choose the Google Cloud project");
    }

    fn big_query(
        &mut self,
        at: &At,
        operation: &str,
        table: Option<&str>,
        args: &mut Vec<Arg>,
        params: &mut Map<String, Value>,
    ) {
        self.project(params);
        let table = table.unwrap_or("<table>");
        if matches!(operation, "insert" | "upsert" | "update") {
            params.insert("operation".into(), json!("insert"));
            let (dataset, name) = table.rsplit_once('.').unwrap_or(("<dataset>", table));
            params.insert(
                "datasetId".into(),
                json!({"__rl": true, "mode": "id", "value": dataset}),
            );
            params.insert(
                "tableId".into(),
                json!({"__rl": true, "mode": "id", "value": name}),
            );
            return;
        }
        params.insert("operation".into(), json!("executeQuery"));
        let mut query = format!("SELECT * FROM `{table}`");
        if let Some(limit) = take(args, &Role::Limit) {
            query.push_str(&format!(" LIMIT {}", self.inline(at, &limit.value)));
        }
        params.insert("sqlQuery".into(), json!(query));
    }

    fn table_of(&mut self, at: &At, args: &mut Vec<Arg>) -> Option<String> {
        let part = take(args, &Role::Part);
        let container = take(args, &Role::Container);
        let text = |d: &Self, a: &Arg| d.text(at, &a.value);
        match (part, container) {
            (Some(part), Some(container)) => {
                let part = text(self, &part);
                let container = text(self, &container);
                // a schema goes before the table; a database is the credential's
                Some(
                    if part.contains('.')
                        || !plain_name(&container)
                        || fold(&container) == fold(&part)
                    {
                        part
                    } else {
                        format!("{container}.{part}")
                    },
                )
            }
            (Some(one), None) | (None, Some(one)) => Some(text(self, &one)),
            (None, None) => None,
        }
    }

    pub(super) fn database_after(
        &mut self,
        at: &At,
        call: &Call<'_>,
        facts: &Facts,
        args: &mut Vec<Arg>,
        params: &mut Map<String, Value>,
        _node: &str,
    ) {
        let operation = params
            .get("operation")
            .and_then(Value::as_str)
            .unwrap_or("")
            .to_owned();
        if (call.short == "mongoDb" || is_sql(call.short))
            && matches!(operation.as_str(), "delete" | "deleteTable")
        {
            self.doomed_rows(at, call, facts, args, params);
            return;
        }
        if call.short == "mongoDb" {
            self.mongo_after(at, call, &operation, args, params);
            return;
        }
        if !is_sql(call.short) {
            return;
        }
        match operation.as_str() {
            "select" if facts.property(params, "where").is_some() => {
                let mut filters = self.sql_filters(at, args);
                if filters.is_empty() && at.tool.is_none() && looks_up(call) {
                    filters.extend(
                        self.key_at_hand(at)
                            .map(|(name, js)| (name, expression(&js))),
                    );
                }
                if !filters.is_empty() {
                    let list: Vec<Value> = filters
                        .into_iter()
                        .map(|(column, value)| json!({"column": column, "value": value}))
                        .collect();
                    params.insert("where".into(), json!({"values": list}));
                }
                if let Some(limit) = take(args, &Role::Limit) {
                    params.insert("returnAll".into(), Value::Bool(false));
                    params.insert("limit".into(), self.value(at, &limit.value));
                } else {
                    params.insert("returnAll".into(), Value::Bool(call.verb != Verb::Get));
                }
            }
            "insert" | "update" | "upsert" => {
                let match_on: Vec<String> = take(args, &Role::MatchOn)
                    .map(|a| words::snake(&self.column_name(at, &a.value)))
                    .into_iter()
                    .collect();
                let mut columns: Vec<(String, Value)> = Vec::new();
                args.retain(|a| {
                    if roles::is_content(&a.role)
                        || matches!(a.role, Role::Id | Role::Recipient | Role::To)
                    {
                        let name = roles::as_field(&a.role);
                        let name = if words::is_key(&name) {
                            name
                        } else {
                            words::snake(&name)
                        };
                        columns.push((name, self.value(at, &a.value)));
                        return false;
                    }
                    true
                });
                if columns.is_empty() && at.tool.is_none() {
                    columns = self
                        .all_columns(at)
                        .into_iter()
                        .map(|(name, value)| (words::snake(&name), value))
                        .collect();
                }
                let mut match_on = match_on;
                if operation != "insert" && match_on.is_empty() {
                    // a flag that is set says nothing of the row: its key does
                    let constant = columns
                        .iter()
                        .all(|(_, v)| !v.as_str().is_some_and(|t| t.contains("{{")));
                    if constant && operation == "update" {
                        match_on.push("id".to_owned());
                    } else {
                        match_on.extend(columns.first().map(|(n, _)| n.clone()));
                    }
                }
                if let Some(mapper) = facts.property(params, "columns").cloned() {
                    if mapper.kind == agentctl_n8n::catalog::PropertyKind::ResourceMapper {
                        let value = if columns.is_empty() && at.tool.is_none() {
                            json!({"mappingMode": "autoMapInputData", "value": {}, "matchingColumns": match_on, "schema": []})
                        } else {
                            self.mapper(at, &mapper, columns, match_on)
                        };
                        params.insert("columns".into(), value);
                    } else {
                        let names: Vec<String> = columns.iter().map(|(n, _)| n.clone()).collect();
                        params.insert("columns".into(), json!(names.join(",")));
                    }
                } else if facts.property(params, "dataMode").is_some() {
                    if columns.is_empty() {
                        params.insert("dataMode".into(), json!("autoMapInputData"));
                    } else {
                        params.insert("dataMode".into(), json!("defineBelow"));
                        let list: Vec<Value> = columns
                            .into_iter()
                            .map(|(column, value)| json!({"column": column, "value": value}))
                            .collect();
                        params.insert("valuesToSend".into(), json!({"values": list}));
                        if let Some(key) = match_on.first() {
                            params.insert("columnToMatchOn".into(), json!(key));
                            let js = self.key_of_row(at, call.node_type, key);
                            params.insert("valueToMatchOn".into(), expression(&js));
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// The key of a row that was read from the same service, whatever an address answered since.
    fn key_of_row(&self, at: &At, node_type: &str, key: &str) -> String {
        let read = |i: &usize| {
            let open = self.origins.get(*i).is_some_and(|o| !o.acting);
            open && self.is_made_by(*i, node_type)
        };
        match at.seen.iter().rev().copied().find(read) {
            Some(own) if at.json != Some(own) => self.at_origin(at, own, key),
            _ => self.field(at, key, None),
        }
    }

    /// A field of the data at hand that identifies things: what a lookup without a condition goes by.
    pub(super) fn key_at_hand(&self, at: &At) -> Option<(String, String)> {
        let subject = self.subject(at)?;
        let origin = self.origins.get(subject)?;
        let keys = [
            "sku", "email", "id", "code", "number", "isbn", "ean", "key", "username", "phone",
            "domain",
        ];
        keys.iter().find_map(|key| {
            origin.fields.iter().find_map(|(said, path)| {
                let name = said.split('|').next().unwrap_or(said);
                let found = words::words(name);
                found
                    .iter()
                    .any(|w| w == key)
                    .then(|| (words::snake(name), self.at_origin(at, subject, path)))
            })
        })
    }

    /// Conditions of a lookup: column and value.
    pub(super) fn sql_filters(&mut self, at: &At, args: &mut Vec<Arg>) -> Vec<(String, Value)> {
        let mut filters = Vec::new();
        args.retain(|a| {
            let column = match &a.role {
                Role::Field(name) => words::snake(name),
                Role::MatchOn => {
                    let column = words::snake(&self.column_name(at, &a.value));
                    let value = match &at.tool {
                        Some(inputs) => expression(&self.from_ai(inputs, &column)),
                        None => expression(&self.field(at, &column, None)),
                    };
                    filters.push((column, value));
                    return false;
                }
                Role::Id => "id".to_owned(),
                Role::Status => "status".to_owned(),
                Role::Recipient | Role::To => "email".to_owned(),
                _ => return true,
            };
            filters.push((column, self.value(at, &a.value)));
            false
        });
        filters
    }

    fn mongo_after(
        &mut self,
        at: &At,
        call: &Call<'_>,
        operation: &str,
        args: &mut Vec<Arg>,
        params: &mut Map<String, Value>,
    ) {
        match operation {
            "insert" | "update" => {
                let mut fields = Vec::new();
                let key = take(args, &Role::MatchOn).map(|a| self.column_name(at, &a.value));
                args.retain(|a| {
                    if roles::is_content(&a.role) {
                        fields.push((words::snake(&roles::as_field(&a.role)), a.value.clone()));
                        return false;
                    }
                    true
                });
                let mut names: Vec<String> = fields.iter().map(|(n, _)| n.clone()).collect();
                if names.is_empty()
                    && let Some(origin) = self.subject(at).and_then(|i| self.origins.get(i))
                {
                    names = origin
                        .fields
                        .iter()
                        .map(|(_, p)| p.clone())
                        .filter(|p| words::is_identifier(p))
                        .collect();
                }
                if names.is_empty() {
                    self.gap(call.said);
                }
                params.insert("fields".into(), json!(names.join(",")));
                if operation == "update"
                    && let Some(key) = key.or_else(|| names.first().cloned())
                {
                    params.insert("updateKey".into(), json!(key));
                }
            }
            "find" => {
                let filters = self.sql_filters(at, args);
                if !filters.is_empty() {
                    params.insert("query".into(), mongo_query(&filters));
                }
            }
            _ => {}
        }
    }

    /// MongoDB takes its fields from the item: they must lie at the top of it.
    pub(super) fn needs_flat_fields(
        &self,
        at: &At,
        call: &Call<'_>,
        args: &[Arg],
    ) -> Option<Vec<(String, Val)>> {
        if call.short != "mongoDb"
            || !matches!(
                call.verb,
                Verb::Insert
                    | Verb::Create
                    | Verb::Add
                    | Verb::Append
                    | Verb::Update
                    | Verb::Upsert
                    | Verb::Set
                    | Verb::Send
                    | Verb::Post
            )
        {
            return None;
        }
        let named: Vec<(String, Val)> = args
            .iter()
            .filter(|a| roles::is_content(&a.role))
            .map(|a| (words::snake(&roles::as_field(&a.role)), a.value.clone()))
            .collect();
        if !named.is_empty() {
            return Some(named);
        }
        let subject = self.subject(at)?;
        let origin = self.origins.get(subject)?;
        if at.json == Some(subject) && origin.base.is_empty() {
            return None;
        }
        let fields: Vec<(String, Val)> = origin
            .fields
            .iter()
            .map(|(said, path)| {
                let name = said.split('|').next().unwrap_or(said);
                let code = self.at_origin(at, subject, path);
                (words::snake(name), Val::Expr { code })
            })
            .collect();
        if fields.is_empty() {
            None
        } else {
            Some(fields)
        }
    }
}

/// Documents whose fields have these values, as MongoDB asks for them.
pub(super) fn mongo_query(filters: &[(String, Value)]) -> Value {
    let body: Vec<String> = filters
        .iter()
        .map(|(column, value)| {
            let text = value.as_str().unwrap_or("");
            match text.strip_prefix('=') {
                Some(inner) => format!("\"{column}\": \"{inner}\""),
                None => format!("\"{column}\": {value}"),
            }
        })
        .collect();
    let joined = format!("{{ {} }}", body.join(", "));
    match joined.contains("{{") {
        true => json!(format!("={joined}")),
        false => json!(joined),
    }
}

/// One thing is looked up, not a table read.
fn looks_up(call: &Call<'_>) -> bool {
    let said = fold(call.said);
    call.verb == Verb::Get
        || [
            "look",
            "nachschlag",
            "nachschau",
            "busca",
            "consulta",
            "cherche",
            "check",
            "find the",
            "get the",
            "such",
        ]
        .iter()
        .any(|w| said.contains(w))
}
