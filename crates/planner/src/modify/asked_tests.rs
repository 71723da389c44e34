//! Requests as people type them, on four small workflows, and what each changes.

use super::modify;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::{EditOp, Workflow};
use serde_json::{Value, json};

pub(super) type Part<'a> = (&'a str, &'a str, f64, Value);

pub(super) fn chain(name: &str, parts: &[Part<'_>]) -> Workflow {
    let nodes: Vec<Value> = parts
        .iter()
        .enumerate()
        .map(|(i, (name, kind, version, parameters))| {
            json!({"id": format!("n{i}"), "name": name, "type": kind, "typeVersion": version, "position": [i * 200, 0], "parameters": parameters})
        })
        .collect();
    let connections: serde_json::Map<String, Value> = parts
        .windows(2)
        .map(|pair| {
            (
                pair[0].0.to_owned(),
                json!({"main": [[{"node": pair[1].0, "type": "main", "index": 0}]]}),
            )
        })
        .collect();
    Workflow::from_value(
        json!({"name": name, "nodes": nodes, "connections": connections, "settings": {}}),
    )
    .unwrap()
}

fn revenue() -> Workflow {
    chain(
        "Revenue",
        &[
            (
                "Monday 9:00",
                "n8n-nodes-base.scheduleTrigger",
                1.2,
                json!({"rule": {"interval": [{"field": "weeks", "triggerAtDay": [1], "triggerAtHour": 9}]}}),
            ),
            (
                "Revenue of the week",
                "n8n-nodes-base.postgres",
                2.6,
                json!({"operation": "executeQuery", "query": "SELECT sum(total) AS revenue FROM orders", "options": {}}),
            ),
            (
                "Mail finance",
                "n8n-nodes-base.gmail",
                2.1,
                json!({"sendTo": "finance@x.com", "subject": "Revenue", "emailType": "text", "message": "=Revenue: {{ $json.revenue }}", "options": {}}),
            ),
        ],
    )
}

fn sync() -> Workflow {
    chain(
        "Sync",
        &[
            (
                "Every hour",
                "n8n-nodes-base.scheduleTrigger",
                1.2,
                json!({"rule": {"interval": [{"field": "hours"}]}}),
            ),
            (
                "Get tickets",
                "n8n-nodes-base.httpRequest",
                4.2,
                json!({"url": "https://api.acme.example/tickets", "options": {}}),
            ),
            (
                "Each ticket",
                "n8n-nodes-base.splitOut",
                1.0,
                json!({"fieldToSplitOut": "tickets", "options": {}}),
            ),
            (
                "Save",
                "n8n-nodes-base.googleSheets",
                4.5,
                json!({"operation": "append", "documentId": {"__rl": true, "mode": "list", "value": "doc1"}, "sheetName": {"__rl": true, "mode": "name", "value": "Tickets"}, "columns": {"mappingMode": "autoMapInputData", "value": {}}, "options": {}}),
            ),
        ],
    )
}

pub(super) fn orders() -> Workflow {
    let mut workflow = chain(
        "Orders",
        &[
            (
                "Order in",
                "n8n-nodes-base.webhook",
                2.0,
                json!({"httpMethod": "POST", "path": "orders", "options": {}}),
            ),
            (
                "Over 100?",
                "n8n-nodes-base.if",
                2.2,
                json!({"conditions": {"options": {"version": 2}, "conditions": [{"id": "c", "leftValue": "={{ $json.body.total }}", "rightValue": 100, "operator": {"type": "number", "operation": "gt"}}], "combinator": "and"}, "options": {}}),
            ),
            (
                "Tell sales",
                "n8n-nodes-base.slack",
                2.3,
                json!({"resource": "message", "operation": "post", "select": "channel", "channelId": {"__rl": true, "mode": "name", "value": "#sales"}, "text": "=New order {{ $json.body.id }}", "otherOptions": {}}),
            ),
            (
                "Append row",
                "n8n-nodes-base.googleSheets",
                4.5,
                json!({"operation": "append", "documentId": {"__rl": true, "mode": "list", "value": "doc1"}, "sheetName": {"__rl": true, "mode": "name", "value": "Orders"}, "columns": {"mappingMode": "autoMapInputData", "value": {}}, "options": {}}),
            ),
        ],
    );
    // nothing is done with the small ones yet
    if let Some(Some(outputs)) = workflow
        .connections
        .get_mut("Over 100?")
        .map(|kinds| kinds.get_mut("main"))
    {
        outputs.push(Some(Vec::new()));
    }
    workflow
}

fn support() -> Workflow {
    let mut workflow = chain(
        "Support",
        &[
            (
                "New mail",
                "n8n-nodes-base.gmailTrigger",
                1.2,
                json!({"simple": false, "filters": {}, "options": {}}),
            ),
            (
                "Agent",
                "@n8n/n8n-nodes-langchain.agent",
                2.0,
                json!({"promptType": "define", "text": "={{ $json.text }}", "options": {"systemMessage": "You help."}}),
            ),
            (
                "Reply",
                "n8n-nodes-base.gmail",
                2.1,
                json!({"operation": "reply", "messageId": "={{ $('New mail').item.json.id }}", "message": "={{ $json.output }}", "options": {}}),
            ),
        ],
    );
    workflow.nodes.push(
        serde_json::from_value(json!({"id": "m", "name": "GPT", "type": "@n8n/n8n-nodes-langchain.lmChatOpenAi", "typeVersion": 1.2, "position": [200, 200], "parameters": {"model": {"__rl": true, "mode": "list", "value": "gpt-4o"}, "options": {}}})).unwrap(),
    );
    workflow.connect("GPT", "ai_languageModel", 0, "Agent", 0);
    workflow
}

/// The operations in short: what is set where, what comes, what goes, what is wired.
pub(super) fn told(workflow: &Workflow, request: &str) -> String {
    let answer = modify(workflow, request, Catalog::embedded());
    let mut lines = vec![format!("# {request}")];
    lines.extend(answer.ops.iter().map(|op| match op {
        EditOp::SetParameter {
            node,
            pointer,
            value,
        } => format!("{node}{pointer} = {value}"),
        EditOp::SetNodeSettings { node, settings } => {
            format!("{node} {}", Value::Object(settings.clone()))
        }
        EditOp::AddNode { node } => {
            format!("+ {} {}", node.name, Value::Object(node.parameters.clone()))
        }
        EditOp::RemoveNode { node } => format!("- {node}"),
        EditOp::Connect {
            from, to, output, ..
        } => format!("{from} [{output}] → {to}"),
        EditOp::Disconnect {
            from, to, output, ..
        } => format!("{from} [{output}] ✂ {to}"),
        other => serde_json::to_string(other).unwrap(),
    }));
    lines.extend(answer.notes.iter().map(|n| format!("note: {n}")));
    // Where nothing changed, the question says it.
    let left_out = answer.unread.iter().filter(|_| !answer.ops.is_empty());
    lines.extend(left_out.map(|n| format!("not understood: {n}")));
    lines.extend(answer.questions.iter().map(|q| format!("? {}", q.text)));
    lines.push(String::new());
    lines.join("\n")
}

/// Read each line before you accept the snapshot: it says what agentctl does to somebody's workflow.
fn snapshot(workflow: &Workflow, requests: &[&str]) -> String {
    requests
        .iter()
        .map(|request| told(workflow, request))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn changes_of_revenue() {
    let requests = [
        r#"Send it on Friday at 17:00 instead of Monday."#,
        r#"Friday 17:00 instead of Monday, please."#,
        r#"cfo@x.com should get the mail as well."#,
        r#"Also send the mail to cfo@x.com."#,
        r#"Add cfo@x.com in cc."#,
        r#"New subject: Weekly revenue"#,
        r#"The subject should be "Weekly revenue" and run it daily at 7."#,
        r#"Mail it to boss@x.com instead of finance and additionally post it to Slack #finance."#,
        r#"Only send the mail if the revenue is below 1000."#,
        r#"Use Outlook instead of Gmail."#,
        r#"Run it every 15 minutes."#,
        r#"If the query fails, tell me on Slack #alerts."#,
        r#"Retry the query up to 3 times with 10 seconds in between."#,
        r#"Friday 17:00 instead of Monday, and cfo@x.com should get the mail as well. New subject: Weekly revenue. Query and mail text stay."#,
        r#"Friday 17:00 instead of Monday."#,
        r#"Friday 17:00 instead of Monday, and the subject should be "X y"."#,
    ];
    insta::assert_snapshot!(snapshot(&revenue(), &requests));
}

#[test]
fn changes_of_orders() {
    let requests = [
        r#"Raise the threshold to 250."#,
        r#"Orders under 100 go to Slack #small-orders."#,
        r#"Orders that are not over 100 should be mailed to ops@x.com."#,
        r#"Skip the sheet."#,
        r#"Remove the Slack step, the sheet and the condition."#,
        r#"Remove the Slack step and the Trello step."#,
        r#"Remove the Google Sheets step and add a Postgres insert into table orders instead."#,
        r#"Post to #big-deals rather than #sales and write to the tab "2026"."#,
        r#"Before posting to Slack, wait 5 minutes."#,
        r#"Write into the Postgres table orders instead of the sheet."#,
        r#"The webhook path should be new-order."#,
        r#"The webhook should answer with {"ok": true} after the row was written."#,
        r#"Only orders from Germany should be posted."#,
        r#"Also require that the country is DE."#,
        r#"Change the Slack message to "Order {id} from {name}"."#,
        r#"Everything else goes to #other-orders."#,
        r#"Use a POST webhook at /new-orders."#,
        "If anything fails, tell Slack #ops.",
        "Add an error notification to Slack #ops.",
        "Füge eine Fehlerbenachrichtigung an Slack #ops hinzu.",
        "Ajoute une notification d'erreur sur Slack #ops.",
        "Add an error notification.",
    ];
    insta::assert_snapshot!(snapshot(&orders(), &requests));
}

#[test]
fn changes_of_sync() {
    let requests = [
        r#"Process the tickets in batches of 20 with a pause of 15 seconds."#,
        r#"After the last ticket post one message to Slack #imports."#,
        r#"Drop tickets whose status is closed before saving."#,
        r#"The request should use the header X-Api-Version: 2."#,
        r#"Fetch https://api.acme.example/v2/tickets instead."#,
        r#"The request gets 3 attempts; if it still fails, tell #import-errors."#,
        r#"Save only the 10 newest tickets."#,
        r#"Remove duplicates by id before saving."#,
        r#"Sort the tickets by created_at descending first."#,
        r#"Save into the Postgres table shop_orders instead of the sheet (upsert, key order_id)."#,
        r#"Only tickets with total above 0, in batches of 20 with 15 seconds between the batches, and after the last batch a single message to Slack #imports."#,
        r#"The fetch gets 3 attempts; if it still fails, tell #import-errors."#,
        r#"Call the API with POST."#,
        r#"Send the header X-Api-Version: 2 with the request."#,
    ];
    insta::assert_snapshot!(snapshot(&sync(), &requests));
}

#[test]
fn changes_of_support() {
    let requests = [
        r#"Use gpt-4.1-mini."#,
        r#"Give the agent a tool for our docs search https://docs.acme.example/api/search."#,
        r#"Ask for approval in Slack #support-review before the reply goes out."#,
        r#"Replies must not go out on their own any more: first ask for approval in Slack #support-review (the message shows the drafted answer). Declined → open a Zendesk ticket."#,
        r#"Give the agent a memory of the last 20 messages."#,
        r#"Set the temperature to 0 and change the system prompt to "You are Ada, the support agent.""#,
        r#"Create a draft instead of sending the reply."#,
        r#"Only answer mails from customers@acme.example."#,
        r#"Log each answer in the Google Sheet "Answers"."#,
    ];
    insta::assert_snapshot!(snapshot(&support(), &requests));
}

/// What a change says of a time of day is done, beside what else it says, and the days stay.
#[test]
fn a_time_of_day_is_changed_and_nothing_else_of_the_schedule() {
    let made = |requests: &[&str]| {
        let told: Vec<String> = requests.iter().map(|r| told(&revenue(), r)).collect();
        told.join("\n")
    };
    for request in [
        "at 10:00, not 9:00",
        "and at 10:00 instead of 9:00",
        "Mail it to boss@x.com instead of finance@x.com and at 10:00 instead of 9:00",
        "Schick es um 10:00 statt um 9:00",
        "Mail it to boss@x.com instead of finance@x.com, at 10:00",
        "Mail it to boss@x.com instead of finance@x.com, and every Monday at 10:00",
        "Schick es an boss@x.com statt an finance@x.com, um 10 Uhr",
    ] {
        let told = made(&[request]);
        // A rule that is said anew ("every Monday at") also says of how many weeks it is, which is one.
        let rule = r#""triggerAtDay":[1],"triggerAtHour":10"#;
        assert!(
            told.contains(r#"[{"field":"weeks","#) && told.contains(rule),
            "{request}: {told}"
        );
        assert!(!told.contains("not understood"), "{request}: {told}");
    }
    for request in [
        "Mail it to boss@x.com instead of finance@x.com and at 10:00 instead of 9:00",
        "Mail it to boss@x.com instead of finance@x.com, at 10:00",
        "Schick es an boss@x.com statt an finance@x.com, um 10 Uhr",
    ] {
        let both = made(&[request]);
        assert!(both.contains("= \"boss@x.com\""), "{both}");
    }
}

/// A time of day that no step which was changed holds is no change that was done.
#[test]
fn a_time_of_day_that_is_not_set_is_named() {
    let answer = modify(
        &sync_without_time(),
        "Post it to #orders instead of #tickets, at 10:00",
        Catalog::embedded(),
    );
    let open = answer.unread.join(" ");
    assert!(open.contains("10:00"), "{:?}", answer);
}

fn sync_without_time() -> Workflow {
    chain(
        "Tickets",
        &[
            (
                "New ticket",
                "n8n-nodes-base.webhook",
                2.0,
                json!({"path": "tickets", "httpMethod": "POST", "options": {}}),
            ),
            (
                "Tell them",
                "n8n-nodes-base.slack",
                2.3,
                json!({"resource": "message", "operation": "post", "select": "channel",
                    "channelId": {"__rl": true, "mode": "name", "value": "#tickets"}, "text": "new", "otherOptions": {}}),
            ),
        ],
    )
}
