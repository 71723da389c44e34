//! The reader against requests of its own: what starts the workflow, what it does, and that a plan always compiles.
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::type_complexity,
    reason = "tests and measurements fail loudly"
)]

mod plain;
mod summary;

use agentctl_n8n::catalog::Catalog;
use agentctl_planner::compile::compile;
use agentctl_planner::plan::{Does, ScheduleRule, Step, Trigger};
use agentctl_planner::read::{ReadContext, Reading, read};

fn plan(request: &str) -> Reading {
    read(request, &ReadContext::default())
}

/// Node names (or kinds) of the steps, branches in brackets.
fn outline(steps: &[Step]) -> String {
    steps
        .iter()
        .map(|s| match &s.does {
            Does::Service { service, verb, .. } => {
                let node = service
                    .node_types
                    .first()
                    .map_or("?", |t| t.rsplit('.').next().unwrap_or(t));
                format!("{node}.{verb:?}")
            }
            Does::If {
                then, otherwise, ..
            } => format!("if[{} | {}]", outline(then), outline(otherwise)),
            Does::Switch { cases, .. } => format!(
                "switch[{}]",
                cases
                    .iter()
                    .map(|c| outline(&c.steps))
                    .collect::<Vec<_>>()
                    .join(" | ")
            ),
            Does::Loop {
                batch_size,
                body,
                after,
            } => format!("loop{batch_size}[{} | {}]", outline(body), outline(after)),
            Does::Approval {
                approved, rejected, ..
            } => format!("ask[{} | {}]", outline(approved), outline(rejected)),
            other => serde_json::to_value(other)
                .ok()
                .and_then(|v| v.get("does").and_then(|d| d.as_str()).map(str::to_owned))
                .unwrap_or_default(),
        })
        .collect::<Vec<_>>()
        .join(", ")
}

/// Each request gives these steps, and nothing must be asked before.
fn outlined(cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(request, expected)| {
            let reading = plan(request);
            let got = outline(&reading.plan.steps);
            let asks = reading.questions.iter().any(|q| q.required);
            (got != *expected || asks)
                .then(|| format!("{request}\n    want {expected}\n    got  {got} {asks}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn plain_requests_in_four_languages() {
    let cases = [
        (
            "When a new row is added to the Airtable base 'Leads', create a contact in Pipedrive and send a welcome email via Gmail.",
            "pipedrive.Create, gmail.Send",
        ),
        (
            "Ein Formular für Feedback (Name, Bewertung, Kommentar). Bewertung unter 3: Nachricht an #beschwerden, sonst in Google Sheet 'Feedback' eintragen.",
            "if[slack.Send | googleSheets.Append]",
        ),
        (
            "Cada lunes a las 9 obtén las facturas vencidas de QuickBooks y envíalas en un solo correo a cobros@acme.es",
            "quickbooks.GetMany, aggregate, emailSend.Send",
        ),
        (
            "Quand un nouveau contact est créé dans HubSpot, ajoute-le à la liste Mailchimp « Clients »",
            "mailchimp.Create",
        ),
    ];
    outlined(&cases);
}

#[test]
fn what_starts_it() {
    let cases: [(&str, fn(&Trigger) -> bool); 8] = [
        (
            "Every 20 minutes get https://x.io/a and save it in Notion",
            |t| {
                *t == Trigger::Schedule {
                    rules: vec![ScheduleRule::Minutes { n: 20 }],
                }
            },
        ),
        (
            "When a deal is won in Pipedrive, tell #sales on Slack",
            |t| matches!(t, Trigger::Service { service, .. } if service.node_types == ["n8n-nodes-base.pipedriveTrigger"]),
        ),
        (
            "If an email from boss@corp.com arrives, text it to +491701234567",
            |t| matches!(t, Trigger::Service { service, .. } if service.node_types == ["n8n-nodes-base.emailReadImap"]),
        ),
        (
            "When the n8n workflow fails, send the error message to #alerts in Slack",
            |t| *t == Trigger::Error,
        ),
        (
            "A chatbot for our website that can create Freshdesk tickets",
            |t| matches!(t, Trigger::Chat { .. }),
        ),
        ("On demand: delete all Trello cards in list Done", |t| {
            *t == Trigger::Manual
        }),
        (
            "GET webhook /health that answers with JSON {status}",
            |t| matches!(t, Trigger::Webhook { method, path: Some(p), .. } if method == "GET" && p == "/health"),
        ),
        (
            "Kafka topic orders → insert into Snowflake table DWH.ORDERS",
            |t| matches!(t, Trigger::Service { service, .. } if service.node_types == ["n8n-nodes-base.kafkaTrigger"]),
        ),
    ];
    for (request, fits) in cases {
        let reading = plan(request);
        assert!(
            reading.plan.triggers.first().is_some_and(fits),
            "{request}: {:?}",
            reading.plan.triggers
        );
    }
}

/// Every request of the list gives a whole workflow: known node types, unique names, connections that resolve.
#[test]
fn every_plan_compiles_to_a_whole_workflow() {
    let catalog = Catalog::embedded();
    for request in include_str!("requests.txt")
        .lines()
        .filter(|l| !l.is_empty())
    {
        let reading = plan(request);
        assert!(
            !reading.questions.iter().any(|q| q.required),
            "{request}: {:?}",
            reading.questions
        );
        let workflow = serde_json::to_value(compile(&reading.plan, catalog).workflow).unwrap();
        let nodes = workflow["nodes"].as_array().unwrap();
        let mut names: Vec<&str> = nodes.iter().filter_map(|n| n["name"].as_str()).collect();
        assert!(names.len() >= 2, "{request}");
        for n in nodes {
            let kind = n["type"].as_str().unwrap();
            assert!(
                catalog.lookup(kind, None).known().is_some(),
                "{request}: {kind}"
            );
        }
        for (from, outputs) in workflow["connections"].as_object().unwrap() {
            assert!(names.contains(&from.as_str()), "{request}: {from}");
            for to in outputs
                .as_object()
                .unwrap()
                .values()
                .flat_map(|o| o.as_array().unwrap())
                .flat_map(|o| o.as_array().into_iter().flatten())
            {
                assert!(
                    names.contains(&to["node"].as_str().unwrap()),
                    "{request}: {to}"
                );
            }
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "{request}");
    }
}

#[test]
fn reading_is_deterministic_and_never_panics_on_odd_text() {
    for text in [
        "",
        "?",
        "§q0§",
        "→ → →",
        "a, b and",
        "if",
        "\"",
        "((((",
        "if if if then else",
        "🙂 → 🙂",
        "every every every day",
        "Wenn, dann.",
        "{} {} <> ``",
    ] {
        assert_eq!(plan(text), plan(text), "{text}");
    }
}
