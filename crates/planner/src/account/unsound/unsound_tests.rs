use super::unsound;
use crate::compile::{Compiled, Made};
use agentctl_n8n::Workflow;
use agentctl_n8n::catalog::Catalog;
use serde_json::{Value, json};

/// A workflow of these nodes in a row; each is of the part of the request beside it.
fn row(nodes: &[(&str, Value, &str)]) -> Compiled {
    let mut workflow = Vec::new();
    let mut made = Vec::new();
    let mut links = serde_json::Map::new();
    for (at, (kind, parameters, said)) in nodes.iter().enumerate() {
        let name = format!("N{at}");
        let kind = match kind.contains('.') {
            true => (*kind).to_owned(),
            false => format!("n8n-nodes-base.{kind}"),
        };
        let known = Catalog::embedded().lookup(&kind, None).known().unwrap();
        workflow.push(json!({"name": name, "type": kind, "typeVersion": known.version, "position": [0, 0], "parameters": parameters}));
        if at + 1 < nodes.len() {
            let next = json!([[{"node": format!("N{}", at + 1), "type": "main", "index": 0}]]);
            links.insert(name.clone(), json!({"main": next}));
        }
        if !said.is_empty() {
            made.push(Made {
                said: (*said).to_owned(),
                nodes: vec![name],
            });
        }
    }
    let document = json!({"name": "W", "nodes": workflow, "connections": links});
    Compiled {
        workflow: Workflow::from_value(document).unwrap(),
        todo: Vec::new(),
        notes: Vec::new(),
        gaps: Vec::new(),
        made,
    }
}

/// What is unsound of a row of nodes, in a language.
fn found_in(request: &str, language: &str, nodes: &[(&str, Value, &str)]) -> Vec<String> {
    unsound(request, language, &row(nodes))
}

fn found(nodes: &[(&str, Value, &str)]) -> Vec<String> {
    found_in("", "en", nodes)
}

const NONE: [&str; 0] = [];

fn rows(operation: &str, value: Value, matching: Value) -> Value {
    let columns = json!({"mappingMode": "defineBelow", "value": value, "matchingColumns": matching, "schema": []});
    json!({"resource": "record", "operation": operation, "base": {"__rl": true, "mode": "id", "value": "app1"}, "table": {"__rl": true, "mode": "id", "value": "tbl1"}, "columns": columns})
}

fn schedule() -> (&'static str, Value, &'static str) {
    ("scheduleTrigger", json!({"rule": {"interval": [{}]}}), "")
}

#[test]
fn what_is_left_out_of_the_flow_is_deleted_nowhere() {
    let seen = json!({"operation": "removeItemsSeenInPreviousExecutions", "dedupeValue": "={{ $json.link }}"});
    let feed = json!({"url": "https://x.com/feed", "options": {}});
    let said = "Every hour read our blog RSS feed";
    assert_eq!(
        found_in(
            said,
            "en",
            &[
                schedule(),
                ("rssFeedRead", feed, said),
                ("removeDuplicates", seen, said)
            ]
        ),
        NONE
    );
}

#[test]
fn what_starts_the_workflow_is_not_made_by_it() {
    let start = ("wooCommerceTrigger", json!({"event": "order.created"}), "");
    let make = |resource: &str| {
        let parameters = json!({"resource": resource, "operation": "create"});
        ("wooCommerce", parameters, "make one")
    };
    assert_eq!(found(&[start.clone(), make("order")]), ["make one"]);
    assert_eq!(found(&[start, make("product")]), NONE);
}

#[test]
fn a_change_says_of_which_record_and_what() {
    let card = |id: &str, fields: Value| {
        let parameters = json!({"resource": "card", "operation": "update", "id": {"__rl": true, "mode": "id", "value": id}, "updateFields": fields});
        ("trello", parameters, "move the card")
    };
    let list = json!({"idList": "5f1c"});
    assert_eq!(found(&[card("<Card>", list.clone())]), ["move the card"]);
    assert_eq!(found(&[card("5f1c", json!({}))]), ["move the card"]);
    assert_eq!(found(&[card("5f1c", list)]), NONE);
}

#[test]
fn a_row_is_changed_by_a_column_that_says_which() {
    let update = |value: Value, matching: Value| {
        (
            "airtable",
            rows("update", value, matching),
            "set the status",
        )
    };
    let status = json!({"status": "sent"});
    assert_eq!(found(&[update(status, json!([]))]), ["set the status"]);
    let named = json!({"id": "rec1", "status": "sent"});
    assert_eq!(found(&[update(named, json!(["id"]))]), NONE);
    let key = json!({"id": "rec1"});
    assert_eq!(found(&[update(key, json!(["id"]))]), ["set the status"]);
}

#[test]
fn a_column_does_not_get_back_what_was_read_from_it() {
    let mut read = rows("search", json!({}), json!([]));
    read.as_object_mut().unwrap().remove("columns");
    let read = ("airtable", read, "read them");
    let update = |value: &str| {
        let value = json!({"id": "={{ $json.id }}", "state": value});
        (
            "airtable",
            rows("update", value, json!(["id"])),
            "change them",
        )
    };
    let both = |value: &str| found(&[schedule(), read.clone(), update(value)]);
    assert_eq!(both("={{ $json.state }}"), ["change them"]);
    assert_eq!(both("sent"), NONE);
}

#[test]
fn nothing_is_written_twice_in_a_row() {
    let row = || json!({"id": "7", "name": "Ada"});
    let step = |operation: &str, said| ("airtable", rows(operation, row(), json!(["id"])), said);
    let both = [step("create", "add it"), step("update", "change it")];
    assert_eq!(found(&both), ["change it"]);
    let same = [step("create", "add it"), step("create", "once more")];
    assert_eq!(found(&same), ["once more"]);
    assert_eq!(found(&[step("upsert", "put it there")]), NONE);
}

#[test]
fn what_is_deleted_was_to_be_deleted() {
    let delete = |said| {
        let parameters = json!({"resource": "contact", "operation": "delete", "contactId": "={{ $json.body.id }}"});
        [
            ("webhook", json!({"path": "a"}), ""),
            ("salesforce", parameters, said),
        ]
    };
    assert_eq!(found(&delete("mark the contact")), ["mark the contact"]);
    assert_eq!(found(&delete("remove the contact")), NONE);
}

#[test]
fn a_rhythm_has_nothing_to_tell() {
    let say = |text: &str| {
        (
            "slack",
            json!({"resource": "message", "operation": "post", "text": text}),
            "tell it",
        )
    };
    let alone = |text: &str| found(&[schedule(), say(text)]);
    assert_eq!(alone("={{ JSON.stringify($json, null, 2) }}"), ["tell it"]);
    assert_eq!(alone("Good morning"), NONE);
    let read = ("httpRequest", json!({"url": "https://a.test"}), "");
    let later = [
        schedule(),
        read,
        say("={{ JSON.stringify($json, null, 2) }}"),
    ];
    assert_eq!(found(&later), NONE);
}

#[test]
fn what_a_model_answers_is_read_by_somebody() {
    let extract = || {
        let attributes = json!({"attributes": [{"name": "total"}]});
        let parameters = json!({"text": "={{ $json.body }}", "schemaType": "fromAttributes", "attributes": attributes});
        (
            "@n8n/n8n-nodes-langchain.informationExtractor",
            parameters,
            "extract the total",
        )
    };
    let open = || {
        (
            "extractFromFile",
            json!({"operation": "pdf", "binaryPropertyName": "data"}),
            "open it",
        )
    };
    let store = |total: &str| {
        let value = json!({"total": total});
        ("airtable", rows("create", value, json!([])), "store it")
    };
    let hook = || ("webhook", json!({"path": "a"}), "");
    let lost = [hook(), extract(), open(), store("={{ $json.text }}")];
    assert_eq!(found(&lost), ["extract the total"]);
    let kept = [
        hook(),
        open(),
        extract(),
        store("={{ $json.output.total }}"),
    ];
    assert_eq!(found(&kept), NONE);
}

#[test]
fn a_word_for_any_field_is_none() {
    let hook = || ("webhook", json!({"path": "a"}), "");
    let tell = |text: &str| {
        (
            "slack",
            json!({"resource": "message", "operation": "post", "text": text}),
            "tell it",
        )
    };
    let told = |text: &str| found(&[hook(), tell(text)]);
    assert_eq!(told("={{ $json.body.column }}"), ["tell it"]);
    assert_eq!(told("={{ $json.body.anything }}"), ["tell it"]);
    assert_eq!(told("={{ $json.body.json_body }}"), ["tell it"]);
    assert_eq!(told("={{ $json.body.score }}"), NONE);
    assert_eq!(told("={{ JSON.stringify($json.body) }}"), NONE);
}

#[test]
fn an_amount_is_neither_true_nor_false() {
    let test = |field: &str| {
        let condition = json!({"leftValue": format!("={{{{ $json.body.{field} }}}}"), "rightValue": "false", "operator": {"type": "string", "operation": "equals"}});
        let parameters = json!({"conditions": {"conditions": [condition], "combinator": "and"}});
        [
            ("webhook", json!({"path": "a"}), ""),
            ("filter", parameters, "only unpaid ones"),
            ("noOp", json!({}), ""),
        ]
    };
    assert_eq!(found(&test("amount")), ["only unpaid ones"]);
    assert_eq!(found(&test("paid")), NONE);
}

#[test]
fn what_is_looked_up_is_looked_up_by_something() {
    let hook = || ("webhook", json!({"path": "a"}), "");
    let look = |filter: Value, said| {
        let parameters = json!({"resource": "contact", "operation": "search", "returnAll": true, "filterGroupsUi": filter});
        [hook(), ("hubspot", parameters, said)]
    };
    let by = "look up the customer in HubSpot by email";
    assert_eq!(found(&look(json!({}), by)), [by]);
    let filter = json!({"filterGroupsValues": [{"filtersUi": {"filterValues": [{"propertyName": "email", "operator": "EQ", "value": "={{ $json.body.email }}"}]}}]});
    assert_eq!(found(&look(filter, by)), NONE);
    assert_eq!(
        found(&look(json!({}), "get all customers from HubSpot")),
        NONE
    );
}

#[test]
fn a_trigger_hears_the_event_that_was_told_of() {
    let request = "When an event in Google Calendar is cancelled, tell Slack #team.";
    let hears = |event: &str| {
        let parameters =
            json!({"triggerOn": event, "calendarId": {"__rl": true, "mode": "id", "value": "a"}});
        found_in(request, "en", &[("googleCalendarTrigger", parameters, "")])
    };
    let clause = "When an event in Google Calendar is cancelled";
    assert_eq!(hears("eventUpdated"), [clause]);
    assert_eq!(hears("eventCancelled"), NONE);
}
