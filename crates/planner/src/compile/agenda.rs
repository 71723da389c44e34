//! Calendars and to-do lists: events with a start and an end, tasks with a due date, time ranges in words.

use serde_json::{Map, Value, json};

use super::super::plan::{Arg, Role, Val, Verb};
use super::draft::{At, Draft};
use super::expr::expression;
use super::message::take;
use super::records::lit;
use super::service::Call;
use super::words::fold;

impl Draft<'_> {
    pub(super) fn calendar(
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
            params.insert("additionalFields".into(), json!({
                "summary": "={{ $fromAI('summary', 'title of the event', 'string') }}",
                "description": "={{ $fromAI('description', 'what the event is about', 'string') }}",
            }));
        } else if operation == "create" {
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
    pub(super) fn exact_field(&self, at: &At, name: &str) -> Option<String> {
        at.seen.iter().rev().find_map(|&i| {
            let origin = self.origins.get(i)?;
            let (_, path) = origin
                .fields
                .iter()
                .find(|(said, _)| said.split('|').any(|s| fold(s) == name))?;
            Some(self.at_origin(at, i, path))
        })
    }

    pub(super) fn todoist(
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
    let said: Vec<&str> = said.split(|c: char| !c.is_alphanumeric()).collect();
    // "weekday", "morgens", "monatlich": whole words only.
    let has = |list: &[&str]| list.iter().any(|w| said.contains(w));
    if has(&["tomorrow", "morgen", "manana", "demain"]) {
        return (
            "$now.plus({ days: 1 }).startOf('day')".into(),
            "$now.plus({ days: 1 }).endOf('day')".into(),
        );
    }
    if has(&["week", "woche", "semana", "semaine"]) {
        return ("$now".into(), "$now.plus({ weeks: 1 })".into());
    }
    if has(&["month", "monat", "mes", "mois"]) {
        return ("$now.startOf('month')".into(), "$now.endOf('month')".into());
    }
    ("$now.startOf('day')".into(), "$now.endOf('day')".into())
}
