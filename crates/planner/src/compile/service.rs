//! A step on a service: node type, operation, parameters. Adapters (messages, sheets, databases, files) set what the
//! catalog cannot tell; the rest is chosen and filled from the catalog.

use agentctl_n8n::short_type;
use serde_json::{Map, Value, json};

use super::super::plan::{Arg, Does, Role, Service, Step, Val, Verb};
use super::choose::{self, Choice};
use super::draft::{At, Draft};
use super::facts::{Facts, shown};
use super::fields::{answer_of, origin_of};
use super::fill::Target;
use super::place::object;
use super::words::{capital, fold};
use agentctl_n8n::catalog::Property;

pub(crate) static SAID_IN: crate::lex::Table = crate::lex::Table {
    file: "said_in.tsv",
    text: include_str!("../../knowledge/said_in.tsv"),
    columns: 1,
};

/// What an adapter may know about the step.
pub(super) struct Call<'a> {
    pub node_type: &'a str,
    pub short: &'a str,
    pub verb: Verb,
    pub object: &'a str,
    /// The part of the request, with the service's name.
    pub said: &'a str,
    /// The part of the request alone; empty where a change of a workflow asks for it.
    pub order: &'a str,
}

fn lexicon_entry(node_type: &str) -> Option<&'static crate::lexicon::ServiceEntry> {
    crate::lexicon::acting(|t| t == node_type).next()
}

pub(super) fn short_of(node_type: &str) -> &str {
    let short = short_type(node_type);
    short.strip_suffix("Tool").unwrap_or(short)
}

/// The node reads (its items are data), it does not act.
fn reads(verb: Verb, choice: &Choice) -> bool {
    let operation = choice.operation.as_deref().unwrap_or("");
    let by_operation = [
        "get",
        "read",
        "search",
        "select",
        "list",
        "find",
        "download",
        "lookup",
        "history",
        "query",
        "load",
        "keys",
        "llen",
        "current",
        "forecast",
        "5DayForecast",
        "report",
    ]
    .iter()
    .any(|p| operation.starts_with(p));
    let by_verb = matches!(
        verb,
        Verb::Get | Verb::GetMany | Verb::Search | Verb::Query | Verb::Download
    );
    by_operation
        || (by_verb
            && !["create", "send", "post", "update", "delete"]
                .iter()
                .any(|p| operation.starts_with(p)))
}

/// Many items may come out.
fn lists(verb: Verb, choice: &Choice) -> bool {
    let operation = choice.operation.as_deref().unwrap_or("");
    matches!(verb, Verb::GetMany | Verb::Search | Verb::Query)
        || [
            "getAll",
            "getMany",
            "search",
            "list",
            "read",
            "select",
            "executeQuery",
            "find",
            "history",
        ]
        .contains(&operation)
}

impl Draft<'_> {
    /// The first node type that exists, acting ones before triggers.
    pub(super) fn action_type(&self, service: &Service) -> Option<String> {
        let acts = |t: &&String| {
            !t.ends_with("Trigger") && !t.ends_with("emailReadImap") && self.exists(t)
        };
        service.node_types.iter().find(acts).cloned()
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the parts of one step, taken apart by the dispatch"
    )]
    pub(super) fn service_step(
        &mut self,
        step: &Step,
        service: &Service,
        verb: Verb,
        object: &str,
        args: &[Arg],
        once: bool,
        at: At,
    ) -> At {
        let Some(node_type) = self.action_type(service) else {
            return self.unknown_service(step, service, verb, object, args, at);
        };
        let at = if once && at.many && at.list.is_none() && !at.is_dead() && !at.file {
            self.collect(&at, None)
        } else {
            at
        };
        // the service's name may say more than the node type (SFTP)
        let said = format!("{} {}", step.said, service.said);
        let call = Call {
            node_type: &node_type,
            short: short_of(&node_type),
            verb,
            object,
            said: &said,
            order: &step.said,
        };
        if let Some(fetched) = self.fetch_files(step, &call, args, &at) {
            return fetched;
        }
        let at = self.prepare_files(&call, args, at);
        let (params, choice, name) = self.configure(&at, &node_type, &call, args);
        if !reads(verb, &choice) && self.says_nothing(&node_type, &params, &choice) {
            self.gap(&step.said);
        }
        // What a model is to do is a task of its own; an operation that only its words suggest is none.
        if lexicon_entry(&node_type).is_some_and(|s| s.is("llm")) {
            self.gap(&step.said);
        }
        let at = self.plain_item(at, &params);
        let wish = self.wish(step, name);
        let node = self.node(&at, &wish, &node_type, params);
        self.settle_names(&wish, &node);
        if node_type.ends_with("openAi") || node_type.contains("langchain") {
            self.note(format!(
                "{node}: check the model's answer before you rely on it"
            ));
        }
        let many = at.many;
        let subject = if object.is_empty() {
            choice.resource.clone().unwrap_or_default()
        } else {
            object.to_owned()
        };
        if reads(verb, &choice) {
            let mut origin = origin_of(&node_type, &subject);
            origin = self.read_origin(&call, args, origin);
            let next = self.produce(&at, &node, Some(&step.id), origin);
            let file = verb == Verb::Download
                || choice
                    .operation
                    .as_deref()
                    .is_some_and(|o| o.starts_with("download"));
            let next = At {
                many: many || lists(verb, &choice),
                file: file || at.file,
                ..next
            };
            return if file {
                At {
                    binary: "data".into(),
                    ..next
                }
            } else {
                next
            };
        }
        let origin = answer_of(&node_type, &subject);
        let node = self.graph_after(&at, &call, &node).unwrap_or(node);
        let next = self.produce(&at, &node, Some(&step.id), origin);
        At {
            many,
            file: false,
            ..next
        }
    }

    /// Whether a node that sends or posts has a place for what it says, and nothing in it.
    fn says_nothing(&self, node_type: &str, params: &Map<String, Value>, choice: &Choice) -> bool {
        let operation = choice.operation.as_deref().unwrap_or("");
        let says = ["send", "post", "create", "reply", "publish"];
        let mut services = crate::lexicon::acting(|t| t == node_type);
        let speaks = services.any(|s| s.is_any(&["chat", "mail", "sms", "social"]));
        if !speaks || !says.iter().any(|s| operation.starts_with(s)) {
            return false;
        }
        let Some(facts) = self.facts(node_type) else {
            return false;
        };
        let names: Vec<&str> = SAID_IN.rows().map(|row| row.at(0)).collect();
        let mut places = shown(&facts, params)
            .into_iter()
            .filter(|p| names.contains(&p.name.as_str()))
            .peekable();
        let empty = |p: &Property| {
            let value = params.get(&p.name);
            value.is_none_or(|v| v.as_str().is_some_and(|text| text.trim().is_empty()))
        };
        places.peek().is_some() && places.all(empty)
    }

    /// Placeholder texts were filed under the wished name; the node may have got a number.
    fn settle_names(&mut self, wish: &str, node: &str) {
        if wish != node {
            let count = self.todo.len();
            if let Some(last) = self.todo.get_mut(count.saturating_sub(4)..) {
                for todo in last.iter_mut().filter(|t| t.node == wish) {
                    node.clone_into(&mut todo.node);
                }
            }
        }
    }

    /// Parameters, choice and name of a node for a call on a service. Used for steps and for tools.
    pub(super) fn configure(
        &mut self,
        at: &At,
        node_type: &str,
        call: &Call<'_>,
        args: &[Arg],
    ) -> (Map<String, Value>, Choice, String) {
        let Some(facts) = self.facts(node_type) else {
            return (Map::new(), Choice::default(), capital(call.short));
        };
        let label = self.label(node_type);
        let said = args;
        let mut args: Vec<Arg> = args.to_vec();
        let mut params = Map::new();
        self.adapt_before(at, call, &mut args, &mut params);
        if !params.contains_key("operation") || !params.contains_key("resource") {
            let choice = choose::operation(&facts, call.verb, call.object, call.said, &params);
            if let Some(resource) = choice.resource
                && !params.contains_key("resource")
            {
                params.insert("resource".into(), json!(resource));
            }
            if let Some(operation) = choice.operation
                && !params.contains_key("operation")
            {
                params.insert("operation".into(), json!(operation));
            }
        }
        let text =
            |p: &Map<String, Value>, k: &str| p.get(k).and_then(Value::as_str).map(str::to_owned);
        let choice = Choice {
            resource: text(&params, "resource"),
            operation: text(&params, "operation").or_else(|| {
                facts
                    .property(&params, "operation")
                    .and_then(|p| p.default.as_str().map(str::to_owned))
            }),
            score: 1.0,
        };
        let name = name_of(&facts, &label, &params, &choice);
        self.adapt_after(at, call, &facts, &mut args, &mut params, &name);
        self.place_named(at, &facts, &mut params, &mut args, &name);
        let reading = reads(call.verb, &choice);
        let state = said.iter().find(|a| a.role == Role::Status);
        let state = state.and_then(|a| match &a.value {
            Val::Lit { value } => value.as_str(),
            _ => None,
        });
        if reading && state.is_some_and(|s| crate::states::shows(call.short, s)) {
            args.retain(|a| a.role != Role::Status);
        }
        self.fill(
            at,
            &facts,
            &mut params,
            &args,
            Target {
                node_type: call.node_type,
                name: &name,
            },
        );
        self.sift(&facts, said, &mut params);
        if reading {
            crate::states::narrow(call.short, call.object, call.said, state, &mut params);
        }
        self.finish_params(at, call, &facts, &mut params, &choice);
        if at.tool.is_none() {
            self.note_unplaced(said, &params, &name);
        }
        (params, choice, name)
    }

    /// A name that the request gives and no parameter took is said, not dropped.
    pub(super) fn note_unplaced(&mut self, said: &[Arg], params: &Map<String, Value>, node: &str) {
        let blob = fold(&Value::Object(params.clone()).to_string());
        for a in said {
            let what = match &a.role {
                Role::Named(kind) if kind == "pages" => continue,
                Role::Named(kind) => kind.as_str(),
                Role::Container | Role::Part => "name",
                Role::Label => "label",
                Role::Stage => "stage",
                Role::Template => "template",
                Role::Priority => "priority",
                _ => continue,
            };
            let Val::Lit { value } = &a.value else {
                continue;
            };
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            let text = text.trim().trim_matches('/').to_owned();
            let parts: Vec<&str> = text.split('/').collect();
            let placed = parts.iter().all(|p| blob.contains(&fold(p)));
            let told = self
                .notes
                .iter()
                .chain(self.todo.iter().map(|t| &t.text))
                .any(|n| n.contains(&text));
            let tested = || {
                let mut steps = super::trigger::every(&self.plan.steps).into_iter();
                steps.any(|s| match &s.does {
                    Does::If { condition, .. } | Does::Filter { condition } => json!(condition)
                        .to_string()
                        .contains(&json!(text).to_string()),
                    _ => false,
                })
            };
            // "the rows in the table orders to Slack": the table is that of another node.
            let elsewhere = || {
                let nodes = self.workflow.nodes.iter().filter(|n| n.name() != node);
                let mut held = nodes.filter_map(|n| n.parameters());
                held.any(|p| fold(&Value::Object(p.clone()).to_string()).contains(&fold(&text)))
            };
            if text.chars().count() > 1 && !placed && !told && !tested() && !elsewhere() {
                self.gap(&text);
                self.note(format!(
                    "{node}: the {what} {text:?} fits no parameter of this node; set it by hand where it belongs"
                ));
            }
        }
    }

    fn adapt_before(
        &mut self,
        at: &At,
        call: &Call<'_>,
        args: &mut Vec<Arg>,
        params: &mut Map<String, Value>,
    ) {
        self.device_before(call, args, params);
        if self.message_before(at, call, args, params) {
            return;
        }
        if self.excel_before(at, call, args, params) || self.sheet_before(at, call, args, params) {
            return;
        }
        if self.database_before(at, call, args, params) {
            return;
        }
        if self.hosts_before(at, call, args, params) {
            return;
        }
        self.files_before(at, call, args, params);
        self.records_before(at, call, args, params);
    }

    fn adapt_after(
        &mut self,
        at: &At,
        call: &Call<'_>,
        facts: &Facts,
        args: &mut Vec<Arg>,
        params: &mut Map<String, Value>,
        node: &str,
    ) {
        self.message_after(at, call, facts, args, params, node);
        self.sheet_after(at, call, facts, args, params, node);
        self.database_after(at, call, facts, args, params, node);
        self.records_after(at, call, facts, args, params, node);
    }

    /// What every node gets: all pages of a list, empty option collections, the file at hand.
    fn finish_params(
        &mut self,
        at: &At,
        call: &Call<'_>,
        facts: &Facts,
        params: &mut Map<String, Value>,
        choice: &Choice,
    ) {
        let properties: Vec<_> = shown(facts, params).into_iter().cloned().collect();
        for property in properties {
            if params.contains_key(&property.name) {
                continue;
            }
            match property.name.as_str() {
                "returnAll" if !matches!(call.verb, Verb::Get) && lists(call.verb, choice) => {
                    params.insert("returnAll".into(), Value::Bool(true));
                    params.remove("limit");
                }
                "binaryData" | "binaryDataUpload" | "sendBinaryData"
                    if at.file
                        && matches!(
                            call.verb,
                            Verb::Upload | Verb::Create | Verb::Add | Verb::Send
                        ) =>
                {
                    params.insert(property.name.clone(), Value::Bool(true));
                }
                "inputDataFieldName" | "binaryPropertyName" | "binaryProperty"
                | "inputBinaryField"
                    if at.tool.is_none() =>
                {
                    let keep = matches!(choice.operation.as_deref(), Some(o) if o.starts_with("download") || o.starts_with("get"));
                    if !keep && at.binary != "data" {
                        params.insert(property.name.clone(), json!(at.binary));
                    }
                }
                "options" | "additionalFields" | "otherOptions" | "updateFields" => {
                    params.insert(property.name.clone(), json!({}));
                }
                _ => {}
            }
        }
        if params.get("binaryData") == Some(&Value::Bool(true))
            && shown(facts, params)
                .iter()
                .any(|p| p.name == "binaryPropertyName")
        {
            params
                .entry("binaryPropertyName")
                .or_insert_with(|| json!(at.binary));
        }
    }

    /// No node for the service: a plain HTTP call to be completed.
    fn unknown_service(
        &mut self,
        step: &Step,
        service: &Service,
        verb: Verb,
        object: &str,
        args: &[Arg],
        at: At,
    ) -> At {
        let said = if service.said.is_empty() {
            "the service"
        } else {
            &service.said
        };
        self.note(format!(
            "n8n has no node for {said}: an HTTP Request takes its place"
        ));
        let method = match verb {
            Verb::Get | Verb::GetMany | Verb::Search | Verb::Query | Verb::Download => "GET",
            Verb::Update => "PATCH",
            Verb::Set | Verb::Upsert => "PUT",
            Verb::Delete | Verb::Remove => "DELETE",
            _ => "POST",
        };
        let url = args
            .iter()
            .find(|a| a.role == Role::Url)
            .map(|a| self.text(&at, &a.value));
        let mut params = object_params(method);
        let name = format!(
            "{}: {}",
            capital(said),
            if object.is_empty() {
                format!("{verb:?}").to_lowercase()
            } else {
                object.to_owned()
            }
        );
        let wish = self.wish(step, name);
        match url {
            Some(url) => {
                params.insert("url".into(), json!(url));
            }
            None => {
                let host = fold(said).replace(' ', "-");
                params.insert("url".into(), json!(format!("https://<{host} API address>")));
                self.todo(
                    "value",
                    &wish,
                    format!("set the address of the API of {said}"),
                );
            }
        }
        params.insert("authentication".into(), json!("genericCredentialType"));
        params.insert("genericAuthType".into(), json!("httpHeaderAuth"));
        let pairs: Vec<(String, Value)> = args
            .iter()
            .filter(|a| a.role != Role::Url)
            .map(|a| {
                (
                    super::words::snake(&super::roles::as_field(&a.role)),
                    self.value(&at, &a.value),
                )
            })
            .collect();
        self.http_pairs(
            &mut params,
            if method == "GET" { "Query" } else { "Body" },
            &pairs,
        );
        let node_type = "n8n-nodes-base.httpRequest";
        let node = self.node(&at, &wish, node_type, params);
        let reads = method == "GET";
        let mut origin = origin_of(node_type, object);
        origin.acting = !reads;
        let next = self.produce(&at, &node, Some(&step.id), origin);
        At {
            many: at.many || reads,
            ..next
        }
    }
}

fn object_params(method: &str) -> Map<String, Value> {
    object(&[("method", json!(method)), ("options", json!({}))])
}

/// "Google Sheets: Append Row".
fn name_of(facts: &Facts, label: &str, params: &Map<String, Value>, choice: &Choice) -> String {
    let operation = choice.operation.as_deref().and_then(|operation| {
        facts.property(params, "operation").and_then(|p| {
            p.options
                .iter()
                .find(|o| o.value.as_str() == Some(operation))
                .map(|o| o.label.clone())
        })
    });
    let resource = choice.resource.as_deref().and_then(|resource| {
        facts.property(params, "resource").and_then(|p| {
            p.options
                .iter()
                .find(|o| o.value.as_str() == Some(resource))
                .map(|o| o.label.clone())
        })
    });
    match (resource, operation) {
        (Some(resource), Some(operation)) if operation.split_whitespace().count() < 2 => {
            format!("{label}: {operation} {}", fold(&resource))
        }
        (_, Some(operation)) => format!("{label}: {}", capital(&fold(&operation))),
        (Some(resource), None) => format!("{label}: {}", fold(&resource)),
        (None, None) => label.to_owned(),
    }
}
