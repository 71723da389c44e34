//! Triggers: which node starts the workflow, on what, and what its items look like.

use agentctl_n8n::short_type;
use serde_json::{Map, Value, json};

use super::super::plan::{Arg, Does, FormField, Plan, Role, Step, Trigger, Val, WebhookAuth};
use super::data::{Origin, Spelling};
use super::draft::{At, Draft};
use super::facts::{Facts, shown};
use super::fields::{github_origin, origin_of};
use super::fill::Target;
use super::place::object;
use super::words::{fold, words};
use super::{schedule, signal, signals};
use agentctl_n8n::catalog::PropertyKind;

const BASE: &str = "n8n-nodes-base.";
const AI: &str = "@n8n/n8n-nodes-langchain.";

/// Parameters that say which event a trigger waits for.
const EVENT_NAMES: &[&str] = &[
    "event",
    "events",
    "topic",
    "triggerOn",
    "trigger",
    "updates",
    "resources",
    "action",
    "entity",
    "actions",
    "firesOn",
    "watch",
    "watchFor",
    "object",
    "resource",
    "triggerMode",
    "eventType",
    "type",
];

/// Every step of a plan, branches and bodies included.
pub(super) fn every(steps: &[Step]) -> Vec<&Step> {
    let mut all = Vec::new();
    for step in steps {
        all.push(step);
        if let Does::NotIn { lookup, .. } = &step.does {
            all.push(lookup);
        }
        all.extend(step.ways().into_iter().flat_map(every));
    }
    all
}

fn has_respond(plan: &Plan) -> bool {
    let mut all = every(&plan.steps).into_iter();
    all.any(|s| matches!(s.does, Does::Respond { .. }))
}

/// The plan speaks of files that come with the items.
fn wants_files(plan: &Plan, event: &str) -> bool {
    let mut text = event.to_owned();
    for step in every(&plan.steps) {
        text.push(' ');
        text.push_str(&step.said);
        if matches!(step.does, Does::FromFile { .. } | Does::Transcribe { .. }) {
            return true;
        }
    }
    let text = fold(&text);
    [
        "attach",
        "anhang",
        "anhaenge",
        "adjunt",
        "piece jointe",
        "pieces jointes",
        "pdf",
    ]
    .iter()
    .any(|w| text.contains(w))
}

impl Draft<'_> {
    /// Writes all triggers; the place after them.
    pub(super) fn triggers(&mut self) -> At {
        let plan = self.plan;
        let places: Vec<At> = plan
            .triggers
            .iter()
            .map(|trigger| self.trigger(trigger))
            .collect();
        if places.is_empty() {
            return self.trigger(&Trigger::Manual);
        }
        let polled = plan.triggers.len() == 1;
        let place = self.meet(places);
        if polled && let Some(Trigger::Poll { step, .. }) = plan.triggers.first() {
            return self.step(step, place);
        }
        place
    }

    fn trigger(&mut self, trigger: &Trigger) -> At {
        let start = At::start();
        match trigger {
            Trigger::Manual => {
                let node = self.lone("Run manually", &format!("{BASE}manualTrigger"), Map::new());
                self.opened(
                    &start,
                    &node,
                    Origin {
                        closed: true,
                        ..Origin::default()
                    },
                )
            }
            Trigger::SubWorkflow { inputs } => self.sub_workflow(inputs),
            Trigger::Schedule { rules } => {
                let params = object(&[("rule", schedule::rule(rules))]);
                let node = self.lone("Schedule", &format!("{BASE}scheduleTrigger"), params);
                let origin = Origin {
                    closed: true,
                    ..Origin::default()
                }
                .field("run timestamp|run time", "timestamp");
                self.opened(&start, &node, origin)
            }
            Trigger::Poll { every, .. } => self.trigger(&Trigger::Schedule {
                rules: vec![every.clone()],
            }),
            Trigger::Webhook {
                method,
                path,
                fields,
                auth,
                file,
            } => {
                let at = self.webhook(method, path.as_deref(), fields, *auth);
                At {
                    file: *file || at.file,
                    ..at
                }
            }
            Trigger::Form { title, fields } => self.form(title, fields),
            Trigger::Chat { public } => {
                let mut params = object(&[("options", json!({}))]);
                if *public {
                    params.insert("public".into(), Value::Bool(true));
                    params.insert("mode".into(), json!("hostedChat"));
                }
                let node_type = format!("{AI}chatTrigger");
                let node = self.lone("Chat message", &node_type, params);
                self.set_webhook_id(&node);
                let at = self.opened(&start, &node, origin_of(&node_type, "message"));
                At { many: false, ..at }
            }
            Trigger::McpServer { tools, auth, path } => {
                let mut params = Map::new();
                let authentication = match auth {
                    Some(WebhookAuth::Header) => "headerAuth",
                    Some(_) => "bearerAuth",
                    None => "none",
                };
                params.insert("authentication".into(), json!(authentication));
                let path = path
                    .clone()
                    .unwrap_or_else(|| super::words::snake(self.workflow.name()).replace('_', "-"));
                params.insert("path".into(), json!(path.trim_matches('/')));
                let node = self.lone("MCP server", &format!("{AI}mcpTrigger"), params);
                self.set_webhook_id(&node);
                self.hang_tools(tools, &node, &start);
                // nothing follows an MCP server: its tools are its output
                At::start()
            }
            Trigger::Error => {
                let node_type = format!("{BASE}errorTrigger");
                let node = self.lone("On error", &node_type, Map::new());
                self.opened(&start, &node, origin_of(&node_type, "error"))
            }
            Trigger::Service {
                service,
                event,
                object,
                args,
            } => self.service_trigger(
                &service.node_types,
                &service.said,
                event,
                object.as_deref().unwrap_or(""),
                args,
            ),
        }
    }

    fn opened(&mut self, start: &At, node: &str, origin: Origin) -> At {
        self.produce(start, node, None, origin)
    }

    pub(super) fn set_webhook_id(&mut self, node: &str) {
        let id = self.id(&format!("webhook {node}"));
        self.set(node, "webhookId", Value::String(id));
    }

    fn sub_workflow(&mut self, inputs: &[String]) -> At {
        let mut params = Map::new();
        let mut origin = Origin::default().about("workflow input");
        if inputs.is_empty() {
            params.insert("inputSource".into(), json!("passthrough"));
        } else {
            let values: Vec<Value> = inputs.iter().map(|n| json!({"name": n})).collect();
            params.insert("inputSource".into(), json!("workflowInputs"));
            params.insert("workflowInputs".into(), json!({"values": values}));
            for input in inputs {
                origin = origin.field(input, input);
            }
        }
        let node = self.lone(
            "When called by another workflow",
            &format!("{BASE}executeWorkflowTrigger"),
            params,
        );
        self.opened(&At::start(), &node, origin)
    }

    fn webhook(
        &mut self,
        method: &str,
        path: Option<&str>,
        fields: &[String],
        auth: Option<WebhookAuth>,
    ) -> At {
        let method = if method.is_empty() {
            "POST".to_owned()
        } else {
            method.to_uppercase()
        };
        let path = match path {
            Some(path) => path.trim_matches('/').to_owned(),
            None => super::words::snake(self.workflow.name()).replace('_', "-"),
        };
        let mode = if has_respond(self.plan) {
            "responseNode"
        } else {
            "onReceived"
        };
        let mut params = object(&[("httpMethod", json!(method)), ("path", json!(path))]);
        match auth {
            Some(WebhookAuth::Header) => {
                params.insert("authentication".into(), json!("headerAuth"))
            }
            Some(WebhookAuth::Basic) => params.insert("authentication".into(), json!("basicAuth")),
            // a bearer token is a header of its own
            Some(WebhookAuth::Bearer) => {
                params.insert("authentication".into(), json!("headerAuth"))
            }
            Some(WebhookAuth::Jwt) => params.insert("authentication".into(), json!("jwtAuth")),
            None => None,
        };
        params.insert("responseMode".into(), json!(mode));
        params.insert("options".into(), json!({}));
        let node = self.lone("Webhook", &format!("{BASE}webhook"), params);
        self.set_webhook_id(&node);
        let mut origin = Origin::default()
            .base(if method == "GET" { "query" } else { "body" })
            .about("webhook request payload caller");
        for field in fields {
            origin = origin.field(field, field);
        }
        self.opened(&At::start(), &node, origin)
    }

    fn form(&mut self, title: &str, fields: &[FormField]) -> At {
        let node_type = format!("{BASE}formTrigger");
        let title = if title.is_empty() {
            self.workflow.name().to_owned()
        } else {
            title.to_owned()
        };
        let mut values = Vec::new();
        let mut origin = Origin::default()
            .about("form answer response submission")
            .spelled(Spelling::AsSaid);
        for field in fields {
            let kind = match field.kind.as_str() {
                "email" | "number" | "date" | "textarea" | "dropdown" | "file" | "checkbox"
                | "password" => field.kind.as_str(),
                "radio" => "radio",
                _ => "text",
            };
            let mut value = object(&[
                ("fieldLabel", json!(field.label)),
                ("fieldType", json!(kind)),
            ]);
            if matches!(kind, "dropdown" | "checkbox" | "radio") {
                let options: Vec<Value> =
                    field.options.iter().map(|o| json!({"option": o})).collect();
                value.insert("fieldOptions".into(), json!({"values": options}));
            }
            if field.required {
                value.insert("requiredField".into(), Value::Bool(true));
            }
            values.push(Value::Object(value));
            origin = origin.field(&field.label, &field.label);
        }
        if values.is_empty() {
            self.gap(&title.to_lowercase());
        }
        let params = object(&[
            ("formTitle", json!(title)),
            ("formFields", json!({"values": values})),
            ("options", json!({})),
        ]);
        let node = self.lone("Form", &node_type, params);
        self.set_webhook_id(&node);
        let at = self.opened(&At::start(), &node, origin);
        match fields.iter().find(|f| f.kind == "file") {
            Some(file) => At {
                file: true,
                binary: file.label.replace(' ', "_"),
                ..at
            },
            None => at,
        }
    }

    fn service_trigger(
        &mut self,
        types: &[String],
        said: &str,
        event: &str,
        of: &str,
        args: &[Arg],
    ) -> At {
        let node_type = types
            .iter()
            .flat_map(|t| [t.clone(), format!("{t}Trigger")])
            .filter(|t| t.to_lowercase().contains("trigger") || t.ends_with("emailReadImap"))
            .find(|t| self.exists(t))
            .or_else(|| types.iter().find(|t| self.exists(t)).cloned());
        let Some(node_type) = node_type else {
            self.note(format!(
                "n8n has no trigger for {said:?}: a webhook takes its place"
            ));
            return self.webhook("POST", None, &[], None);
        };
        let Some(facts) = self.facts(&node_type) else {
            return self.webhook("POST", None, &[], None);
        };
        let mut params = Map::new();
        let words_of_event = format!("{} {of}", signal::without_places(event));
        self.trigger_adapter(&node_type, &words_of_event, args, &mut params);
        self.trigger_events(&facts, (event, &words_of_event), &mut params);
        if self.hears_any_change(event, &params) || self.misses_the_act(event, &params) {
            self.gap(event);
        }
        let name = if event.trim().is_empty() {
            facts.0.default_name.clone()
        } else {
            format!("{}: {}", self.label(&node_type), event.trim())
        };
        let node = self.lone(&name, &node_type, params.clone());
        let start = At::start();
        let args: Vec<Arg> = args
            .iter()
            .filter(|a| !params_hold(&params, &a.value))
            .cloned()
            .collect();
        let args = self.trigger_things(&facts, &mut params, &args);
        self.trigger_needs(&facts, &mut params, &node);
        self.fill(
            &start,
            &facts,
            &mut params,
            &args,
            Target {
                node_type: &node_type,
                name: &node,
            },
        );
        self.note_unplaced(&args, &params, &node);
        if let Some(n) = self.workflow.node_by_name_mut(&node) {
            n.edit_parameters(|p| *p = params);
        }
        if facts.0.kind
            == agentctl_n8n::catalog::NodeKind::Trigger(agentctl_n8n::catalog::TriggerKind::Webhook)
        {
            self.set_webhook_id(&node);
        }
        let kind = match node_type.ends_with("githubTrigger") {
            true => signals::row(&node_type, &words_of_event),
            false => None,
        };
        let origin = match kind {
            Some(kind) => github_origin(&node_type, of, kind),
            None => origin_of(&node_type, of),
        };
        let at = self.opened(&start, &node, origin);
        let mail = node_type.ends_with("gmailTrigger")
            || node_type.ends_with("emailReadImap")
            || node_type.ends_with("microsoftOutlookTrigger")
                && wants_files(self.plan, &words_of_event);
        if mail {
            return At {
                binary: "attachment_0".to_owned(),
                ..at
            };
        }
        at
    }

    /// Whether the trigger tells of any change where the request tells of one, and nothing after it tests which.
    fn hears_any_change(&self, event: &str, params: &Map<String, Value>) -> bool {
        let changes = |text: &str| {
            let stems = [
                "updat", "chang", "edit", "modif", "aender", "cambi", "actualiz", "move", "versch",
                "bewegt", "muev", "deplac",
            ];
            stems.iter().any(|s| text.contains(s))
        };
        let chosen = EVENT_NAMES.iter().filter_map(|name| params.get(*name));
        let any = chosen.into_iter().any(|v| match v {
            Value::String(s) => s.to_lowercase().contains("updated"),
            Value::Array(all) => {
                let one = |v: &Value| v.as_str().is_some_and(|s| s.contains("updated"));
                all.len() == 1 && all.iter().any(one)
            }
            _ => false,
        });
        any && !self.tests_first() && !event.trim().is_empty() && !changes(&fold(event))
    }

    /// "someone comments on a page": what people do to a thing, where the trigger tells of the thing alone.
    fn misses_the_act(&self, event: &str, params: &Map<String, Value>) -> bool {
        const ACTS: &[&str] = &["comment", "komment", "coment", "reaction", "reacts"];
        let said = fold(event);
        let chosen = fold(&Value::Object(params.clone()).to_string());
        let in_any = |text: &str| ACTS.iter().any(|act| text.contains(act));
        in_any(&said) && !in_any(&chosen) && !self.tests_first()
    }

    /// Whether the plan tests what came before it does anything with it.
    fn tests_first(&self) -> bool {
        let tests = |s: &Step| {
            matches!(
                s.does,
                Does::Filter { .. } | Does::If { .. } | Does::Switch { .. }
            )
        };
        self.plan.steps.iter().take(2).any(tests)
    }

    /// What a single trigger needs beyond its event and its filters.
    fn trigger_adapter(
        &mut self,
        node_type: &str,
        event: &str,
        args: &[Arg],
        params: &mut Map<String, Value>,
    ) {
        let lit = |role: &Role| {
            args.iter()
                .find(|a| a.role == *role)
                .and_then(|a| match &a.value {
                    Val::Lit {
                        value: Value::String(s),
                    } => Some(s.clone()),
                    Val::Lit { value } => Some(value.to_string()),
                    _ => None,
                })
        };
        let container = lit(&Role::Container);
        match short_type(node_type) {
            "gmailTrigger" => {
                params.insert("simple".into(), Value::Bool(false));
                let mut filters = Map::new();
                let folded = fold(event);
                if ["star", "stern", "destac", "favori"]
                    .iter()
                    .any(|w| folded.contains(w))
                {
                    filters.insert("labelIds".into(), json!(["STARRED"]));
                    filters.insert("readStatus".into(), json!("both"));
                }
                if let Some(label) = lit(&Role::Label) {
                    let starred = fold(&label).contains("star");
                    filters.insert(
                        "labelIds".into(),
                        json!([if starred { "STARRED".to_owned() } else { label }]),
                    );
                }
                if let Some(from) = lit(&Role::From) {
                    filters.insert("sender".into(), json!(from));
                }
                let mut query: Vec<String> = lit(&Role::Query).into_iter().collect();
                if let Some(subject) = lit(&Role::Subject) {
                    query.push(format!("subject:({subject})"));
                }
                let files = wants_files(self.plan, event);
                if files {
                    query.push("has:attachment".to_owned());
                    params.insert("options".into(), json!({"downloadAttachments": true}));
                }
                if !query.is_empty() {
                    filters.insert("q".into(), json!(query.join(" ")));
                }
                params.insert("filters".into(), Value::Object(filters));
            }
            "emailReadImap" => {
                // this format brings the attachments along
                params.insert("format".into(), json!("resolved"));
                // What a mailbox calls labels are folders of it.
                if let Some(folder) = lit(&Role::Label).or(container) {
                    params.insert("mailbox".into(), json!(folder));
                }
                // The rules of a search, as the mailbox takes them.
                if let Some(from) = lit(&Role::From) {
                    let rules = json!(["UNSEEN", ["FROM", from]]).to_string();
                    params.insert("options".into(), json!({"customEmailConfig": rules}));
                }
            }
            "microsoftOutlookTrigger" if wants_files(self.plan, event) => {
                params.insert("options".into(), json!({"downloadAttachments": true}));
            }
            "githubTrigger" | "gitlabTrigger" => {
                let locator = node_type.ends_with("githubTrigger");
                let (owner, repository) =
                    match container.as_deref().and_then(|c| c.rsplit_once('/')) {
                        Some((owner, repository)) => (
                            owner.rsplit('/').next().unwrap_or(owner).to_owned(),
                            repository.to_owned(),
                        ),
                        None => {
                            self.todo("id", node_type, "set the repository and its owner");
                            (
                                "<owner>".to_owned(),
                                container
                                    .clone()
                                    .unwrap_or_else(|| "<repository>".to_owned()),
                            )
                        }
                    };
                let value = |text: String| {
                    if locator && text.starts_with('<') {
                        // No name of an owner or a repository may hold these signs.
                        json!({"__rl": true, "mode": "list", "value": text, "cachedResultName": text})
                    } else if locator {
                        json!({"__rl": true, "mode": "name", "value": text})
                    } else {
                        json!(text)
                    }
                };
                params.insert("owner".into(), value(owner));
                params.insert("repository".into(), value(repository));
                if lit(&Role::Branch).is_some()
                    && !words(event).iter().any(|w| w == "push")
                    && event.trim().is_empty()
                {
                    params.insert("events".into(), json!(["push"]));
                }
            }
            "telegramTrigger" => {
                params.insert("updates".into(), json!(["message"]));
                let mut more = Map::new();
                if let Some(id) = lit(&Role::Recipient)
                    .or_else(|| lit(&Role::From))
                    .or_else(|| lit(&Role::Id))
                {
                    more.insert("userIds".into(), json!(id));
                }
                if let Some(id) = lit(&Role::Channel) {
                    more.insert("chatIds".into(), json!(id));
                }
                params.insert("additionalFields".into(), Value::Object(more));
            }
            "mailchimpTrigger" => {
                let folded = fold(event);
                let kind = if folded.contains("unsub") || folded.contains("abmeld") {
                    "unsubscribe"
                } else {
                    "subscribe"
                };
                params.insert("events".into(), json!([kind]));
                params.insert("sources".into(), json!(["user", "admin", "api"]));
            }
            "zendeskTrigger" => {
                params.insert(
                    "conditions".into(),
                    json!({"all": [{"resource": "ticket", "field": "status", "operation": "value", "value": "new"}]}),
                );
            }
            "calendlyTrigger" => {
                let folded = fold(event);
                let kind = if folded.contains("cancel")
                    || folded.contains("storn")
                    || folded.contains("absag")
                {
                    "invitee.canceled"
                } else {
                    "invitee.created"
                };
                params.insert("events".into(), json!([kind]));
                params.insert("scope".into(), json!("user"));
            }
            "googleDriveTrigger" => {
                let folded = fold(event);
                let kind = if folded.contains("updat")
                    || folded.contains("chang")
                    || folded.contains("aender")
                {
                    "fileUpdated"
                } else {
                    "fileCreated"
                };
                params.insert("triggerOn".into(), json!("specificFolder"));
                let folder = container.unwrap_or_else(|| "<Folder>".to_owned());
                if folder.starts_with('<') {
                    self.todo("id", node_type, "choose the folder to watch");
                }
                let mode = if folder.starts_with("http") {
                    "url"
                } else {
                    "list"
                };
                let mut locator = object(&[
                    ("__rl", json!(true)),
                    ("mode", json!(mode)),
                    ("value", json!(folder)),
                ]);
                if mode == "list" {
                    locator.insert("cachedResultName".into(), json!(folder));
                }
                params.insert("folderToWatch".into(), Value::Object(locator));
                params.insert("event".into(), json!(kind));
            }
            "googleSheetsTrigger" => {
                let folded = fold(event);
                let updated = folded.contains("updat")
                    || folded.contains("chang")
                    || folded.contains("edit")
                    || folded.contains("aender");
                params.insert(
                    "event".into(),
                    json!(if updated { "rowUpdate" } else { "rowAdded" }),
                );
                if lit(&Role::Part).is_none() {
                    params.insert("sheetName".into(), json!({"__rl": true, "mode": "list", "value": "gid=0", "cachedResultName": "Sheet1"}));
                }
            }
            "rssFeedReadTrigger" => {
                if let Some(url) = lit(&Role::Url).or(container) {
                    params.insert("feedUrl".into(), json!(url));
                }
            }
            "localFileTrigger" => {
                let folded = fold(event);
                let says = |stems: &[&str]| stems.iter().any(|s| folded.contains(s));
                let path = lit(&Role::Path)
                    .or(container)
                    .unwrap_or_else(|| "<Path>".to_owned());
                if path.starts_with('<') {
                    self.todo("value", node_type, "name the folder to watch");
                }
                let file = path
                    .rsplit('/')
                    .next()
                    .is_some_and(|n| n.contains('.') && !n.starts_with('.'));
                params.insert(
                    "triggerOn".into(),
                    json!(if file { "file" } else { "folder" }),
                );
                params.insert("path".into(), json!(path));
                if !file {
                    let kind = if says(&["delet", "remov", "loesch", "elimin", "borr", "supprim"]) {
                        "unlink"
                    } else if says(&["chang", "modif", "updat", "aender", "cambi", "actualiz"]) {
                        "change"
                    } else {
                        "add"
                    };
                    params.insert("events".into(), json!([kind]));
                }
            }
            _ => {}
        }
    }

    /// `said`: the event in the words of the request. `event`: the same without places, with what it happens to.
    fn trigger_events(
        &mut self,
        facts: &Facts,
        (said, event): (&str, &str),
        params: &mut Map<String, Value>,
    ) {
        for _ in 0..2 {
            let open: Vec<_> = shown(facts, params)
                .into_iter()
                .filter(|p| EVENT_NAMES.contains(&p.name.as_str()) && !params.contains_key(&p.name))
                .cloned()
                .collect();
            for property in open {
                match property.kind {
                    PropertyKind::Options => {
                        if let Some(choice) = signals::meant(facts, &property, said) {
                            params.insert(property.name.clone(), choice);
                        } else if let Some((value, score)) = signal::event(&property, event) {
                            if score > 0.2
                                || (property.required && property.default.as_str() == Some(""))
                            {
                                params.insert(property.name.clone(), value);
                            }
                        } else if property.required
                            && property.default.as_str() == Some("")
                            && let Some(first) = property.options.first()
                        {
                            params.insert(property.name.clone(), first.value.clone());
                        }
                    }
                    PropertyKind::MultiOptions => {
                        let values = match signals::meant(facts, &property, said) {
                            Some(choice) => vec![choice],
                            None => signal::events(&property, event),
                        };
                        if !values.is_empty() {
                            params.insert(property.name.clone(), Value::Array(values));
                        }
                    }
                    _ => {}
                }
            }
        }
        // events in a list of rules (`eventsUi`)
        let list = shown(facts, params)
            .into_iter()
            .find(|p| {
                p.kind == PropertyKind::FixedCollection
                    && p.name.to_lowercase().starts_with("event")
                    && !params.contains_key(&p.name)
            })
            .cloned();
        if let Some(list) = list
            && let Some(group) = list.groups.first()
            && let Some(kind) = group
                .values
                .iter()
                .find(|p| p.kind == PropertyKind::Options && !p.options.is_empty())
            && let Some((value, _)) = signal::event(kind, event)
        {
            let mut entry = Map::new();
            if value
                .as_str()
                .is_some_and(|v| v.ends_with("propertyChange"))
                && let Some(property) = changed_property(event)
            {
                entry.insert("property".into(), json!(property));
            }
            entry.insert(kind.name.clone(), value);
            params.insert(list.name.clone(), json!({group.name.as_str(): [entry]}));
        }
    }
}

/// Which property of a CRM record the words say has changed.
fn changed_property(event: &str) -> Option<&'static str> {
    let said = fold(event);
    let deal = said.contains("deal");
    const NAMES: &[(&str, &str)] = &[
        ("amount", "amount"),
        ("owner", "hubspot_owner_id"),
        ("close date", "closedate"),
        ("lead status", "hs_lead_status"),
        ("email", "email"),
        ("phone", "phone"),
        ("priority", "hs_priority"),
    ];
    let named = NAMES
        .iter()
        .find(|(w, _)| said.contains(w))
        .map(|(_, n)| *n);
    let staged = [
        "stage", "moves", "moved", "wechsel", "pasa", "passe", "closed", "won", "lost", "status",
    ]
    .iter()
    .any(|w| said.contains(w));
    if said.contains("lifecycle")
        || staged && said.contains("contact") && !said.contains("lead status")
    {
        return Some("lifecyclestage");
    }
    named.or((staged && deal).then_some("dealstage"))
}

/// The literal is in the parameters already.
fn params_hold(params: &Map<String, Value>, val: &Val) -> bool {
    let Val::Lit { value } = val else {
        return false;
    };
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    let last = text.rsplit('/').next().unwrap_or(&text).to_owned();
    let blob = Value::Object(params.clone()).to_string();
    !text.is_empty() && (blob.contains(&text) || (text.contains('/') && blob.contains(&last)))
}
