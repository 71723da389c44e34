//! Customer records: HubSpot contacts and deals, Salesforce lists.

use serde_json::{Map, Value, json};

use super::super::plan::{Arg, Role, Val, Verb};
use super::draft::{At, Draft};
use super::expr::expression;
use super::message::take;
use super::service::Call;
use super::words::{self, fold};

impl Draft<'_> {
    pub(super) fn hubspot(
        &mut self,
        at: &At,
        call: &Call<'_>,
        args: &mut Vec<Arg>,
        params: &mut Map<String, Value>,
    ) {
        params.insert("authentication".into(), json!("appToken"));
        let object = fold(call.object);
        let reads = matches!(
            call.verb,
            Verb::Get | Verb::GetMany | Verb::Search | Verb::Query
        );
        if reads && let Some(key) = take(args, &Role::MatchOn) {
            let name = self.column_name(at, &key.value);
            let value = expression(&self.field(at, &name, None));
            let filter =
                json!({"propertyName": words::snake(&name), "operator": "EQ", "value": value});
            params.insert("resource".into(), json!("contact"));
            params.insert("operation".into(), json!("search"));
            params.insert(
                "filterGroupsUi".into(),
                json!({"filterGroupsValues": [{"filtersUi": {"filterValues": [filter]}}]}),
            );
            return;
        }
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
                    if more.contains_key(key) {
                        continue;
                    }
                    let given = args.iter().position(
                        |a| matches!(&a.role, Role::Field(n) if words::similar(n, field) > 0.8),
                    );
                    if let Some(given) = given {
                        let given = args.remove(given);
                        more.insert(key.to_owned(), self.value(at, &given.value));
                    } else if let Some(js) = self.has_field(at, field) {
                        more.insert(key.to_owned(), expression(&js));
                    }
                }
                params.insert("additionalFields".into(), Value::Object(more));
            }
        }
    }

    pub(super) fn salesforce_list(
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
