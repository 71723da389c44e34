//! Home Assistant: one state is read by its entity, a device is switched with a service call.

use serde_json::{Map, Value, json};

use super::super::plan::{Arg, Role, Val, Verb};
use super::draft::Draft;
use super::service::Call;
use super::words::fold;

/// Words for a service of a domain; the first that fits.
const SERVICES: &[(&str, &[&str])] = &[
    (
        "turn_off",
        &[
            "turn off",
            "switch off",
            "turns off",
            "shut off",
            "ausschalt",
            "schalte aus",
            " aus",
            "apaga",
            "desactiva",
            "eteins",
            "eteindre",
            "desactive",
        ],
    ),
    (
        "turn_on",
        &[
            "turn on",
            "switch on",
            "turns on",
            "einschalt",
            " an",
            " ein",
            "enciende",
            "encender",
            "activa",
            "allume",
            "start",
        ],
    ),
    ("toggle", &["toggle", "umschalt", "alterna", "bascule"]),
    ("open_cover", &["open", "oeffn", "abre", "ouvre"]),
    ("close_cover", &["close", "schliess", "cierra", "ferme"]),
    (
        "unlock",
        &["unlock", "entriegel", "desbloquea", "deverrouille"],
    ),
    ("lock", &["lock", "verriegel", "bloquea", "verrouille"]),
];

impl Draft<'_> {
    /// Sets resource and operation where an entity is named.
    pub(super) fn device_before(
        &self,
        call: &Call<'_>,
        args: &mut Vec<Arg>,
        params: &mut Map<String, Value>,
    ) {
        if call.short != "homeAssistant" {
            return;
        }
        let named = |a: &Arg| matches!(&a.role, Role::Named(k) if k == "entity");
        let entity = args.iter().find(|a| named(a)).and_then(|a| match &a.value {
            Val::Lit { value } => value.as_str().map(str::to_owned),
            _ => None,
        });
        let Some(entity) = entity else {
            return;
        };
        let domain = entity
            .split('.')
            .next()
            .unwrap_or("homeassistant")
            .to_owned();
        args.retain(|a| !matches!(a.role, Role::Container | Role::Part | Role::Path) && !named(a));
        if matches!(
            call.verb,
            Verb::Get | Verb::GetMany | Verb::Search | Verb::Query | Verb::Download
        ) {
            params.insert("resource".into(), json!("state"));
            params.insert("operation".into(), json!("get"));
            params.insert("entityId".into(), json!(entity));
            return;
        }
        let said = format!(" {} ", fold(call.said));
        let behind = |word: &str| said.contains(&format!("{} {word} ", fold(&entity)));
        let service = if behind("on") {
            Some("turn_on")
        } else if behind("off") {
            Some("turn_off")
        } else {
            None
        };
        let service = service.or_else(|| {
            SERVICES
                .iter()
                .find(|(_, words)| words.iter().any(|w| said.contains(w)))
                .map(|(s, _)| *s)
        });
        match service {
            Some(service) => {
                params.insert("resource".into(), json!("service"));
                params.insert("operation".into(), json!("call"));
                params.insert("domain".into(), json!(domain));
                params.insert("service".into(), json!(service));
                params.insert(
                    "serviceAttributes".into(),
                    json!({"attributes": [{"name": "entity_id", "value": entity}]}),
                );
            }
            None => {
                params.insert("resource".into(), json!("state"));
                params.insert("operation".into(), json!("upsert"));
                params.insert("entityId".into(), json!(entity));
            }
        }
    }
}
