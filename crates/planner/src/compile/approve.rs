//! Approvals: send a question, wait for the answer, go one of two ways.

use serde_json::{Map, Value, json};

use super::super::plan::{Arg, Role, Service, Step, Val, Verb};
use super::data::Origin;
use super::draft::{At, Draft};
use super::fill::Target;
use super::message::{raw, take};
use super::place::object;
use super::service::{Call, short_of};

/// How long an answer may take.
fn whole_seconds(val: &Val) -> Option<u64> {
    match val {
        Val::Lit { value } => value.as_u64(),
        _ => None,
    }
}

const IF: &str = "n8n-nodes-base.if";

impl Draft<'_> {
    /// Parameters of a send-and-wait node; none when the service cannot wait.
    pub(super) fn ask_params(
        &mut self,
        at: &At,
        node_type: &str,
        said: &str,
        args: &[Arg],
    ) -> Option<Map<String, Value>> {
        let facts = self.facts(node_type)?;
        let can = facts.0.properties.iter().any(|p| {
            p.name == "operation"
                && p.options
                    .iter()
                    .any(|o| o.value.as_str() == Some("sendAndWait"))
        });
        if !can {
            return None;
        }
        let short = short_of(node_type).to_owned();
        let mut args = args.to_vec();
        let mut params = Map::new();
        if facts.0.properties.iter().any(|p| {
            p.name == "resource"
                && p.options
                    .iter()
                    .any(|o| o.value.as_str() == Some("message"))
        }) {
            params.insert("resource".into(), json!("message"));
        }
        // targets are the same as of a message that is sent
        let call = Call {
            node_type,
            short: &short,
            verb: Verb::Send,
            object: "message",
            said,
            order: said,
        };
        if args.iter().all(|a| a.role != Role::Text) {
            let about = self.about_item(at, said);
            let ask = match self.plan.language.as_str() {
                "de" => "Bitte genehmigen oder ablehnen:",
                "es" => "Por favor, aprueba o rechaza:",
                "fr" => "Merci d'approuver ou de refuser :",
                _ => "Please approve or decline:",
            };
            args.push(Arg {
                role: Role::Text,
                value: raw(&format!("{ask}\n{about}")),
            });
        }
        self.message_before(at, &call, &mut args, &mut params);
        params.insert("operation".into(), json!("sendAndWait"));
        if let Some(text) = take(&mut args, &Role::Text) {
            params.insert("message".into(), self.value(at, &text.value));
        }
        params.insert("responseType".into(), json!("approval"));
        params.insert(
            "approvalOptions".into(),
            json!({"values": {"approvalType": "double"}}),
        );
        let limit = args
            .iter()
            .position(|a| a.role == Role::TimeRange)
            .map(|i| args.remove(i));
        self.fill(
            at,
            &facts,
            &mut params,
            &args,
            Target {
                node_type,
                name: &short,
            },
        );
        let options = params.entry("options").or_insert_with(|| json!({}));
        if let (Some(seconds), Some(options)) = (
            limit.and_then(|a| whole_seconds(&a.value)),
            options.as_object_mut(),
        ) {
            let (amount, unit) = match seconds {
                s if s % 86_400 == 0 => (s / 86_400, "days"),
                s if s % 3_600 == 0 => (s / 3_600, "hours"),
                s => (s.div_ceil(60), "minutes"),
            };
            options.insert("limitWaitTime".into(), json!({"values": {"limitType": "afterTimeInterval", "resumeAmount": amount, "resumeUnit": unit}}));
        }
        Some(params)
    }

    pub(super) fn approval_step(
        &mut self,
        step: &Step,
        service: &Service,
        args: &[Arg],
        approved: &[Step],
        rejected: &[Step],
        at: At,
    ) -> At {
        let mut types: Vec<String> = service.node_types.clone();
        types.push("n8n-nodes-base.gmail".to_owned());
        let mut made = None;
        for node_type in &types {
            if node_type.ends_with("Trigger") {
                continue;
            }
            if let Some(params) = self.ask_params(&at, node_type, &step.said, args) {
                made = Some((node_type.clone(), params));
                break;
            }
        }
        let Some((node_type, params)) = made else {
            self.note("no service was found that can ask for an approval");
            return at;
        };
        let label = self.label(&node_type);
        let wish = self.wish(step, format!("{label}: ask for approval"));
        let node = self.node(&at, &wish, &node_type, params);
        self.set_webhook_id(&node);
        let origin = Origin {
            acting: true,
            closed: true,
            ..Origin::default()
        }
        .about("approval answer decision")
        .field("approved|approval|decision", "data.approved");
        let asked = self.produce(&at, &node, Some(&step.id), origin);
        let version = self.facts(IF).map_or(2, |f| f.filter_version());
        let id = self.part_id();
        let conditions = json!({
            "options": {"caseSensitive": true, "leftValue": "", "typeValidation": "loose", "version": version},
            "conditions": [{"id": id, "leftValue": "={{ $json.data?.approved }}", "rightValue": "", "operator": {"type": "boolean", "operation": "true", "singleValue": true}}],
            "combinator": "and",
        });
        let params = object(&[
            ("conditions", conditions),
            ("looseTypeValidation", Value::Bool(true)),
            ("options", json!({})),
        ]);
        let check = self.node(&asked, "Approved?", IF, params);
        let many = at.many;
        let asked = At { many, ..asked };
        let yes = self.steps(approved, asked.from(&check, 0));
        let no = self.steps(rejected, asked.from(&check, 1));
        // a refusal with nothing to do ends here; what follows is for what was approved
        if rejected.is_empty() {
            return yes;
        }
        if approved.is_empty() {
            return self.meet_or_end(at, vec![yes, no]);
        }
        self.meet_or_end(at, vec![yes, no])
    }
}
