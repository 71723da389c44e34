//! Messages: mail, chat, SMS. Adapters for what the catalog cannot tell (whom, which text, attachments), and the text
//! that a message gets when the request does not give one.

use serde_json::{Map, Value, json};

use super::super::plan::{Arg, Role, Val, Verb};
use super::draft::{At, Draft};
use super::facts::Facts;
use super::service::Call;
use super::words::{self, capital, fold};

const MAIL: &[&str] = &[
    "gmail",
    "emailSend",
    "microsoftOutlook",
    "sendGrid",
    "mailgun",
    "mailjet",
    "awsSes",
    "sendInBlue",
    "mandrill",
];
const CHAT: &[&str] = &[
    "slack",
    "telegram",
    "discord",
    "microsoftTeams",
    "mattermost",
    "rocketchat",
    "googleChat",
    "matrix",
    "zulip",
    "twist",
    "webexByCisco",
    "ciscoWebex",
    "whatsApp",
    "twilio",
    "messageBird",
    "vonage",
    "plivo",
    "msg91",
    "mocean",
    "pushover",
    "pushbullet",
    "gotify",
    "sms77",
    "signl4",
    "line",
    "spontit",
    "awsSns",
];

pub(super) fn is_mail(short: &str) -> bool {
    MAIL.contains(&short)
}
pub(super) fn is_message(short: &str) -> bool {
    is_mail(short) || CHAT.contains(&short)
}

fn sends(call: &Call<'_>) -> bool {
    is_message(call.short)
        && matches!(
            call.verb,
            Verb::Send
                | Verb::Post
                | Verb::Reply
                | Verb::Draft
                | Verb::Call
                | Verb::Create
                | Verb::Other
                | Verb::Publish
                | Verb::Add
                | Verb::Run
        )
        && !mentions(
            call.object,
            &[
                "label", "channel", "user", "chat", "contact", "list", "reaction",
            ],
        )
}

fn mentions(text: &str, any: &[&str]) -> bool {
    let found = words::words(text);
    any.iter().any(|w| found.iter().any(|f| f == w))
}

fn literal(val: &Val) -> Option<&str> {
    match val {
        Val::Lit {
            value: Value::String(s),
        } => Some(s),
        _ => None,
    }
}

pub(super) fn take(args: &mut Vec<Arg>, role: &Role) -> Option<Arg> {
    let at = args.iter().position(|a| a.role == *role)?;
    Some(args.remove(at))
}

impl Draft<'_> {
    /// True when the service is a message service: no other adapter needs to look.
    pub(super) fn message_before(
        &mut self,
        at: &At,
        call: &Call<'_>,
        args: &mut Vec<Arg>,
        params: &mut Map<String, Value>,
    ) -> bool {
        if call.short == "slack"
            && matches!(call.verb, Verb::GetMany | Verb::Get)
            && let Some(i) = args.iter().position(|a| a.role == Role::Channel)
        {
            // what was said in a channel is its history; messages themselves can only be searched
            let channel = self.text(at, &args.remove(i).value);
            let channel = channel.trim_start_matches('#');
            params.insert("resource".into(), json!("channel"));
            params.insert("operation".into(), json!("history"));
            params.insert(
                "channelId".into(),
                json!({"__rl": true, "mode": "list", "value": channel, "cachedResultName": channel}),
            );
            return true;
        }
        if !sends(call) {
            return is_message(call.short) && !matches!(call.short, "awsSns");
        }
        let set = |params: &mut Map<String, Value>, resource: &str, operation: &str| {
            params.insert("resource".into(), json!(resource));
            params.insert("operation".into(), json!(operation));
        };
        match call.short {
            "gmail" => match call.verb {
                Verb::Draft => set(params, "draft", "create"),
                _ if fold(call.object).contains("draft") => set(params, "draft", "create"),
                Verb::Reply => {
                    set(params, "message", "reply");
                    if args.iter().all(|a| a.role != Role::Id) {
                        let id = self
                            .has_field(at, "message id")
                            .unwrap_or_else(|| "$json.id".to_owned());
                        params.insert("messageId".into(), super::expr::expression(&id));
                    }
                    // a reply goes to who wrote
                    args.retain(|a| !matches!(a.role, Role::To | Role::Subject));
                }
                _ => set(params, "message", "send"),
            },
            "microsoftOutlook" => match call.verb {
                _ if fold(call.object).contains("draft") => set(params, "draft", "create"),
                Verb::Draft => set(params, "draft", "create"),
                Verb::Reply => set(params, "message", "reply"),
                _ => set(params, "message", "send"),
            },
            "slack" => {
                let file = at.file
                    && (args.iter().any(|a| a.role == Role::Attachment)
                        || matches!(call.verb, Verb::Upload));
                if file {
                    set(params, "file", "upload");
                    if let Some(channel) = take(args, &Role::Channel) {
                        let text = self.text(at, &channel.value);
                        params.insert("options".into(), json!({"channelId": text}));
                    }
                } else {
                    set(params, "message", "post");
                    self.slack_target(at, args, params);
                }
            }
            "telegram" => {
                let operation = if at.file && args.iter().any(|a| a.role == Role::Attachment) {
                    "sendDocument"
                } else {
                    "sendMessage"
                };
                set(params, "message", operation);
                if operation == "sendDocument" {
                    params.insert("binaryData".into(), Value::Bool(true));
                }
                if args
                    .iter()
                    .all(|a| !matches!(a.role, Role::Channel | Role::Recipient | Role::To))
                    && at.tool.is_none()
                {
                    match self.has_field(at, "chat id") {
                        Some(js) => {
                            params.insert("chatId".into(), super::expr::expression(&js));
                        }
                        None => {
                            self.todo("value", "Telegram", "set the chat id");
                        }
                    }
                }
            }
            "discord" => {
                set(params, "message", "send");
                params.insert("sendTo".into(), json!("channel"));
            }
            "microsoftTeams" => {
                let direct = args.iter().any(|a| matches!(a.role, Role::Recipient))
                    && args.iter().all(|a| a.role != Role::Channel);
                set(
                    params,
                    if direct {
                        "chatMessage"
                    } else {
                        "channelMessage"
                    },
                    "create",
                );
            }
            "twilio" => {
                let calls =
                    call.verb == Verb::Call || mentions(call.object, &["call", "phone", "voice"]);
                let (resource, operation) = if calls {
                    ("call", "make")
                } else {
                    ("sms", "send")
                };
                set(params, resource, operation);
                if args.iter().all(|a| a.role != Role::From) {
                    params.insert("from".into(), json!("<your Twilio number>"));
                    self.todo("value", "Twilio", "set the Twilio number that sends");
                }
            }
            "whatsApp" => {
                let template = args.iter().any(|a| a.role == Role::Template);
                set(
                    params,
                    "message",
                    if template { "sendTemplate" } else { "send" },
                );
                params.insert("phoneNumberId".into(), json!("<sender phone number id>"));
                self.todo("value", "WhatsApp", "choose the sender's phone number");
            }
            "sendGrid" => {
                set(params, "mail", "send");
                if take_template(args, params, |text| (json!(true), json!(text))) {
                    params.insert("dynamicTemplateFields".into(), json!({}));
                }
            }
            "emailSend" | "mailgun" | "awsSes" | "mailjet" | "mandrill" => {}
            _ => {}
        }
        // the sender: a mail needs one where the account does not give it
        if matches!(
            call.short,
            "emailSend" | "sendGrid" | "mailgun" | "awsSes" | "mailjet" | "mandrill" | "sendInBlue"
        ) && args.iter().all(|a| a.role != Role::From)
        {
            args.push(Arg {
                role: Role::From,
                value: Val::Lit {
                    value: json!("<sender@example.com>"),
                },
            });
            self.todo("value", call.short, "set the sender's address");
        }
        let templated =
            args.iter().any(|a| a.role == Role::Template) || params.contains_key("templateId");
        if at.tool.is_none() && !templated {
            self.complete_message(at, call, args, params);
        }
        true
    }

    fn slack_target(&mut self, at: &At, args: &mut Vec<Arg>, params: &mut Map<String, Value>) {
        if let Some(thread) = take(args, &Role::Named("thread".into())) {
            let ts = self.value(at, &thread.value);
            params.insert(
                "otherOptions".into(),
                json!({"thread_ts": {"replyValues": {"thread_ts": ts}}}),
            );
        }
        let channel = take(args, &Role::Channel);
        let person = take(args, &Role::Recipient).or_else(|| take(args, &Role::To));
        match (channel, person) {
            (Some(channel), _) => {
                let value = self.value(at, &channel.value);
                let user = value.as_str().is_some_and(|s| s.starts_with('@'));
                if user {
                    self.slack_user(&value, params);
                } else {
                    params.insert("select".into(), json!("channel"));
                    params.insert("channelId".into(), slack_channel(&value));
                }
            }
            (None, Some(person)) => {
                let value = self.value(at, &person.value);
                self.slack_user(&value, params);
            }
            (None, None) => {
                params.insert("select".into(), json!("channel"));
                match self.has_field(at, "channel id").filter(|_| {
                    at.seen.iter().any(|i| {
                        self.origins
                            .get(*i)
                            .is_some_and(|o| o.about.iter().any(|w| w == "slack"))
                    })
                }) {
                    Some(js) => {
                        params.insert("channelId".into(), json!({"__rl": true, "mode": "id", "value": format!("={{{{ {js} }}}}")}));
                    }
                    None => {
                        params.insert(
                            "channelId".into(),
                            json!({"__rl": true, "mode": "name", "value": "<#channel>"}),
                        );
                        self.todo("value", "Slack", "choose the channel");
                    }
                }
            }
        }
    }

    fn slack_user(&mut self, value: &Value, params: &mut Map<String, Value>) {
        params.insert("select".into(), json!("user"));
        let text = value.as_str().unwrap_or("").to_owned();
        let expression = text.starts_with('=');
        let id = text.len() > 7
            && text.starts_with('U')
            && text
                .chars()
                .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
        let locator = if expression || id {
            json!({"__rl": true, "mode": "id", "value": text})
        } else {
            let name = if text.starts_with('@') {
                text
            } else {
                format!("@{text}")
            };
            json!({"__rl": true, "mode": "username", "value": name})
        };
        params.insert("user".into(), locator);
    }

    pub(super) fn message_after(
        &mut self,
        at: &At,
        call: &Call<'_>,
        facts: &Facts,
        args: &mut Vec<Arg>,
        params: &mut Map<String, Value>,
        _node: &str,
    ) {
        if !sends(call) {
            return;
        }
        let text_at = args.iter().position(|a| a.role == Role::Text);
        let html = text_at
            .and_then(|i| args.get(i))
            .map(|a| self.text(at, &a.value))
            .is_some_and(|t| {
                t.contains("</") || t.contains("<br") || t.contains(".table") || t.contains("html")
            });
        match call.short {
            "gmail" if facts.property(params, "emailType").is_some() => {
                params.insert(
                    "emailType".into(),
                    json!(if html { "html" } else { "text" }),
                );
            }
            "emailSend" => {
                params.insert(
                    "emailFormat".into(),
                    json!(if html { "html" } else { "text" }),
                );
            }
            "microsoftTeams" => {
                params.insert("contentType".into(), json!("text"));
            }
            "sendGrid" if !params.contains_key("templateId") => {
                params.insert(
                    "contentType".into(),
                    json!(if html { "text/html" } else { "text/plain" }),
                );
                if let Some(i) = text_at {
                    let arg = args.remove(i);
                    params.insert("contentValue".into(), self.value(at, &arg.value));
                }
            }
            "microsoftOutlook" => {
                if let Some(i) = text_at
                    && facts.property(params, "bodyContent").is_some()
                {
                    let arg = args.remove(i);
                    params.insert("bodyContent".into(), self.value(at, &arg.value));
                }
            }
            "whatsApp" => {
                if let Some(template) = take(args, &Role::Template) {
                    params.insert("template".into(), self.value(at, &template.value));
                }
            }
            _ => {}
        }
        let wants = args.iter().any(|a| a.role == Role::Attachment);
        args.retain(|a| a.role != Role::Attachment);
        if (wants || at.file) && is_mail(call.short) {
            self.attach_file(at, call, params);
        }
    }

    fn attach_file(&mut self, at: &At, call: &Call<'_>, params: &mut Map<String, Value>) {
        let name = at.binary.clone();
        let (slot, key, value) = match call.short {
            "gmail" => (
                "options",
                "attachmentsUi",
                json!({"attachmentsBinary": [{"property": name}]}),
            ),
            "emailSend" => ("options", "attachments", json!(name)),
            "microsoftOutlook" => (
                "additionalFields",
                "attachments",
                json!({"attachments": [{"binaryPropertyName": name}]}),
            ),
            "sendGrid" => ("additionalFields", "attachments", json!(name)),
            "mailgun" => {
                params.insert("attachments".into(), json!(name));
                return;
            }
            _ => return,
        };
        let slot = params
            .entry(slot)
            .or_insert_with(|| Value::Object(Map::new()));
        if let Some(map) = slot.as_object_mut() {
            map.insert(key.to_owned(), value);
        }
    }

    /// Adds the text and the subject that a message lacks, from the named fields or from the data at hand.
    fn complete_message(
        &mut self,
        at: &At,
        call: &Call<'_>,
        args: &mut Vec<Arg>,
        params: &Map<String, Value>,
    ) {
        let mut lines: Vec<(String, Val)> = Vec::new();
        // A title and a priority are lines of the text where the node has no place for them.
        let facts = self.facts(call.node_type);
        let takes = |role: &Role| {
            let name = super::roles::as_field(role);
            let shown = facts.iter().flat_map(|f| super::facts::shown(f, params));
            shown
                .into_iter()
                .any(|p| p.name == name || p.children().iter().any(|child| child.name == name))
        };
        args.retain(|a| match &a.role {
            Role::Title | Role::Priority if takes(&a.role) => true,
            Role::Field(name) => {
                lines.push((name.clone(), a.value.clone()));
                false
            }
            Role::Title if !is_mail(call.short) => {
                lines.insert(0, (String::new(), a.value.clone()));
                false
            }
            Role::Body => {
                lines.push((String::new(), a.value.clone()));
                false
            }
            Role::Url | Role::Status | Role::Priority | Role::Due => {
                lines.push((super::roles::as_field(&a.role), a.value.clone()));
                false
            }
            _ => true,
        });
        let text = args.iter().position(|a| a.role == Role::Text);
        let listed = at.list.as_deref().filter(|_| lines.is_empty());
        if let Some(list) = listed
            && let Some(arg) = text.and_then(|i| args.get_mut(i))
            && let Some(each) = super::expr::per_item(list, &self.inline(at, &arg.value))
        {
            arg.value = raw(&each);
            return;
        }
        match text {
            Some(_) if lines.is_empty() => {}
            Some(i) => {
                if let Some(arg) = args.get_mut(i) {
                    let head = self.inline(at, &arg.value);
                    let rest = self.lines(at, &lines);
                    arg.value = raw(&format!("{head}\n{rest}"));
                }
            }
            None => {
                let body = if lines.is_empty() {
                    let order = call.order.trim();
                    let body =
                        self.about_item(at, if order.is_empty() { call.said } else { order });
                    if body == order {
                        // An order is no message: what it is to say, nobody said.
                        self.gap(order);
                        self.todo("value", call.short, "write the message");
                        // What it names is kept as a note of what to write; not the request as a whole.
                        let whole = self.plan.steps.iter().all(|s| s.said.trim() == order);
                        match whole {
                            true => "<message>".to_owned(),
                            false => format!("<{order}>"),
                        }
                    } else {
                        body
                    }
                } else {
                    self.lines(at, &lines)
                };
                args.push(Arg {
                    role: Role::Text,
                    value: raw(&body),
                });
            }
        }
        if is_mail(call.short)
            && call.verb != Verb::Reply
            && args
                .iter()
                .all(|a| !matches!(a.role, Role::Subject | Role::Title))
        {
            args.push(Arg {
                role: Role::Subject,
                value: Val::Lit {
                    value: json!(self.workflow.name()),
                },
            });
        }
        if is_mail(call.short) {
            // a mail's title is its subject
            for arg in args.iter_mut().filter(|a| a.role == Role::Title) {
                arg.role = Role::Subject;
            }
        }
    }

    fn lines(&self, at: &At, lines: &[(String, Val)]) -> String {
        let out: Vec<String> = lines
            .iter()
            .map(|(name, val)| {
                let value = self.inline(at, val);
                if name.is_empty() {
                    value
                } else {
                    format!("{}: {value}", capital(name))
                }
            })
            .collect();
        out.join("\n")
    }

    /// What is worth saying about the item at hand: its known telling fields, or all of it.
    pub(super) fn about_item(&self, at: &At, said: &str) -> String {
        if let Some(list) = &at.list {
            return self.about_list(at, list);
        }
        let Some(subject) = self.subject(at) else {
            return said.trim().to_owned();
        };
        let Some(origin) = self.origins.get(subject) else {
            return said.trim().to_owned();
        };
        if origin.closed && origin.fields.len() <= 1 {
            return said.trim().to_owned();
        }
        // a model's answer speaks for itself
        let answer = origin
            .fields
            .iter()
            .find(|(said, _)| said.starts_with("text|answer"));
        if let Some((_, path)) = answer {
            return format!("{{{{ {} }}}}", self.at_origin(at, subject, path));
        }
        let telling: Vec<&(String, String)> = origin
            .fields
            .iter()
            .filter(|(_, path)| !path.is_empty() && path != "row_number")
            .take(5)
            .collect();
        if telling.is_empty() {
            return format!(
                "{{{{ JSON.stringify({}, null, 2) }}}}",
                self.at_origin(at, subject, "")
            );
        }
        telling
            .iter()
            .map(|(said, path)| {
                let name = said.split('|').next().unwrap_or(said);
                format!(
                    "{}: {{{{ {} }}}}",
                    capital(name),
                    self.at_origin(at, subject, path)
                )
            })
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// All items of a collected list, one line each.
    pub(super) fn about_list(&self, at: &At, list: &str) -> String {
        if list == "text" || list == "html" || list == "table" {
            return format!("{{{{ $json.{list} }}}}");
        }
        let fields: Vec<String> = self
            .subject(at)
            .and_then(|i| self.origins.get(i))
            .map(|o| {
                o.fields
                    .iter()
                    .filter(|(_, p)| !p.is_empty() && !p.starts_with('[') && !o.numbers_rows(p))
                    .take(4)
                    .map(|(_, p)| words::js_path("item", p))
                    .collect()
            })
            .unwrap_or_default();
        let line = if fields.is_empty() {
            "Object.entries(item).map(([key, value]) => `${key}: ${value}`).join(', ')".to_owned()
        } else {
            format!("[{}].filter(Boolean).join(' – ')", fields.join(", "))
        };
        format!("{{{{ $json.{list}.map((item) => '• ' + {line}).join('\\n') }}}}")
    }
}

fn take_template(
    args: &mut Vec<Arg>,
    params: &mut Map<String, Value>,
    make: impl Fn(&str) -> (Value, Value),
) -> bool {
    let Some(arg) = take(args, &Role::Template) else {
        return false;
    };
    let text = literal(&arg.value).unwrap_or("<template>").to_owned();
    let (dynamic, id) = make(&text);
    params.insert("dynamicTemplate".into(), dynamic);
    params.insert("templateId".into(), id);
    true
}

fn slack_channel(value: &Value) -> Value {
    let text = value.as_str().unwrap_or("").to_owned();
    if text.starts_with('=') {
        return json!({"__rl": true, "mode": "id", "value": text});
    }
    let id = text.len() >= 9
        && text.starts_with(['C', 'G'])
        && text
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
    if id {
        return json!({"__rl": true, "mode": "id", "value": text});
    }
    let name = if text.starts_with('#') || text.starts_with('<') {
        text
    } else {
        format!("#{text}")
    };
    json!({"__rl": true, "mode": "name", "value": name})
}

/// A text that may already hold `{{ }}`.
pub(super) fn raw(text: &str) -> Val {
    if text.contains("{{") {
        Val::Lit {
            value: Value::String(format!("={text}")),
        }
    } else {
        Val::Lit {
            value: Value::String(text.to_owned()),
        }
    }
}
