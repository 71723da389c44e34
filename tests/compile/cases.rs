//! Plans of many kinds and the workflows they become.

use crate::plans::*;
use serde_json::json;

#[test]
fn a_webhook_with_two_ways() {
    let c = built(json!({
        "triggers": [{"kind": "webhook", "method": "POST", "path": "/signup", "fields": ["email", "plan", "seats"], "auth": null}],
        "steps": [step("s1", json!({"does": "if",
            "condition": compare(field("seats"), "ge", lit(50)),
            "then": [
                call("s2", "HubSpot", "hubspot", "create", "deal", vec![arg("title", json!({"val": "template", "parts": [field("email"), lit(" – "), field("plan")]})), arg("stage", lit("qualifiedtobuy"))]),
                slack("s3", "#big-deals", json!({"val": "template", "parts": [lit("New signup: "), field("email")]})),
            ],
            "otherwise": [call("s4", "Mailchimp", "mailchimp", "add", "audience", vec![arg("container", lit("Self service"))])],
        }))],
    }));
    insta::assert_snapshot!(sketch(&c));
}

#[test]
fn a_schedule_reads_and_mails_one_list() {
    let c = built(json!({
        "triggers": [{"kind": "schedule", "rules": [{"every": "weeks", "n": 1, "weekdays": [1], "hour": 8, "minute": 30}]}],
        "timezone": "Europe/Berlin",
        "steps": [
            call("s1", "Google Sheets", "googleSheets", "get_many", "rows", vec![arg("container", lit("Stock")), arg("part", lit("Current")), named("Name", field("Name"))]),
            step("s2", json!({"does": "filter", "condition": compare(field("Quantity"), "lt", lit(5))})),
            step("s3", json!({"does": "aggregate", "format": "list"})),
            call("s4", "mail", "gmail", "send", "mail", vec![arg("to", lit("buying@example.org")), arg("subject", lit("Low stock"))]),
        ],
    }));
    insta::assert_snapshot!(sketch(&c));
}

#[test]
fn github_pushes_to_one_branch() {
    let c = built(json!({
        "triggers": [{"kind": "service", "service": service("GitHub", "githubTrigger"), "event": "push", "object": "push", "args": [arg("container", lit("acme/api"))]}],
        "steps": [
            step("s1", json!({"does": "filter", "condition": compare(field("branch"), "eq", lit("refs/heads/main"))})),
            slack("s2", "releases", json!({"val": "template", "parts": [field("pusher"), lit(" pushed: "), field("commit message")]})),
        ],
    }));
    insta::assert_snapshot!(sketch(&c));
}

#[test]
fn mail_attachments_to_a_folder() {
    let c = built(json!({
        "triggers": [{"kind": "service", "service": service("Gmail", "gmailTrigger"), "event": "new mail with attachments", "object": "mail", "args": [arg("label", lit("Contracts"))]}],
        "steps": [call("s1", "Google Drive", "googleDrive", "upload", "attachments", vec![arg("container", lit("Contracts 2026"))])],
    }));
    insta::assert_snapshot!(sketch(&c));
}

#[test]
fn an_approval_by_mail() {
    let c = built(json!({
        "triggers": [{"kind": "form", "title": "Purchase", "fields": [
            {"label": "E-Mail", "kind": "email", "options": [], "required": true},
            {"label": "Amount", "kind": "number", "options": [], "required": true},
            {"label": "Reason", "kind": "textarea", "options": [], "required": false}]}],
        "steps": [step("s1", json!({"does": "if", "condition": compare(field("amount"), "le", lit(200)),
            "then": [call("s2", "sheet", "googleSheets", "append", "row", vec![arg("part", lit("Approved"))])],
            "otherwise": [step("s3", json!({"does": "approval", "service": service("Gmail", "gmail"), "args": [arg("to", lit("boss@example.org"))],
                "approved": [call("s4", "sheet", "googleSheets", "append", "row", vec![arg("part", lit("Approved"))])],
                "rejected": [call("s5", "mail", "gmail", "send", "mail", vec![arg("to", field("e-mail")), arg("text", lit("Declined."))])]}))]}))],
    }));
    insta::assert_snapshot!(sketch(&c));
}

#[test]
fn a_loop_with_a_pause_and_a_report() {
    let c = built(json!({
        "triggers": [{"kind": "manual"}],
        "steps": [
            call("s1", "Postgres", "postgres", "get_many", "rows", vec![arg("part", lit("crm.customers"))]),
            step("s2", json!({"does": "loop", "batch_size": 20, "body": [
                step("s3", json!({"does": "http", "method": "GET", "url": "https://api.example.org/score?mail={email}", "query": [], "body": [], "auth": "header", "save_as_file": false, "never_fail": true, "rate_per_second": 5.0})),
                call("s4", "Postgres", "postgres", "update", "row", vec![arg("part", lit("crm.customers")), arg("match_on", lit("id")), named("score", field("score"))]),
                step("s5", json!({"does": "wait", "seconds": 120})),
            ], "after": [
                step("s6", json!({"does": "aggregate", "format": "text"})),
                slack("s7", "#data", field("report")),
            ]})),
        ],
    }));
    insta::assert_snapshot!(sketch(&c));
}

#[test]
fn an_agent_with_tools_memory_and_knowledge() {
    let c = built(json!({
        "triggers": [{"kind": "chat", "public": true}],
        "steps": [step("s1", json!({"does": "agent", "provider": "Claude", "instructions": "Help customers.", "input": null,
            "tools": [
                {"name": "find_order", "purpose": "Look up an order", "step": step("t1", json!({"does": "http", "method": "GET", "url": "https://api.example.org/orders/{order_id}", "query": [], "body": [], "auth": null, "save_as_file": false, "never_fail": false, "rate_per_second": null})), "builtin": null, "inputs": ["order_id"], "approval": null},
                {"name": null, "purpose": "File a ticket", "step": call("t2", "Zendesk", "zendesk", "create", "ticket", vec![]), "builtin": null, "inputs": ["subject", "description"], "approval": null},
                {"name": null, "purpose": "calculator", "step": null, "builtin": "calculator", "inputs": [], "approval": null},
                {"name": "refund", "purpose": "Refund an order", "step": step("t3", json!({"does": "call_workflow", "reference": "wf_refund_9", "inputs": [], "wait": true})), "builtin": null, "inputs": ["order_id"],
                 "approval": step("a1", json!({"does": "approval", "service": service("Slack", "slack"), "args": [arg("channel", lit("#refunds"))], "approved": [], "rejected": []}))}
            ],
            "memory": {"store": "simple", "window": 8, "session": null},
            "knowledge": [{"store": {"said": "Qdrant", "node_types": ["@n8n/n8n-nodes-langchain.vectorStoreQdrant"]}, "collection": "handbook"}],
            "output_fields": []}))],
    }));
    insta::assert_snapshot!(sketch(&c));
}

#[test]
fn a_model_sorts_tickets() {
    let c = built(json!({
        "triggers": [{"kind": "service", "service": service("Zendesk", "zendeskTrigger"), "event": "new ticket", "object": "ticket", "args": []}],
        "steps": [
            step("s1", json!({"does": "llm", "task": {"task": "classify", "labels": ["billing", "bug", "other"]}, "provider": null, "instructions": "", "input": null})),
            step("s2", json!({"does": "switch", "on": field("category"), "cases": [
                {"label": "billing", "condition": null, "steps": [slack("s3", "#billing", field("subject"))]},
                {"label": "bug", "condition": null, "steps": [call("s4", "Linear", "linear", "create", "issue", vec![arg("title", field("subject"))])]},
                {"label": "other", "condition": null, "steps": [step("s5", json!({"does": "nothing"}))]}], "fallback": null})),
        ],
    }));
    insta::assert_snapshot!(sketch(&c));
}

#[test]
fn sources_side_by_side_become_one_summary() {
    let c = built(json!({
        "triggers": [{"kind": "schedule", "rules": [{"every": "weeks", "n": 1, "weekdays": [0], "hour": 20, "minute": 0}]}],
        "steps": [
            step("s1", json!({"does": "gather", "branches": [
                [call("s2", "Google Calendar", "googleCalendar", "get_many", "events", vec![arg("time_range", lit("next week"))])],
                [call("s3", "Todoist", "todoist", "get_many", "tasks", vec![])]]})),
            step("s4", json!({"does": "llm", "task": {"task": "summarize"}, "provider": "chatgpt", "instructions": "", "input": null})),
            call("s5", "Telegram", "telegram", "send", "message", vec![arg("recipient", lit("123456"))]),
        ],
    }));
    insta::assert_snapshot!(sketch(&c));
}

#[test]
fn an_api_with_checks() {
    let c = built(json!({
        "triggers": [{"kind": "webhook", "method": "POST", "path": "quote", "fields": ["sku", "qty"], "auth": "header"}],
        "steps": [step("s1", json!({"does": "if", "condition": {"cond": "any", "of": [compare(field("sku"), "missing", lit("")), compare(field("qty"), "missing", lit(""))]},
            "then": [step("s2", json!({"does": "respond", "status": 400, "body": [named("error", lit("sku and qty are needed"))], "as_text": null}))],
            "otherwise": [
                call("s3", "Postgres", "postgres", "get", "price", vec![arg("part", lit("prices")), named("sku", field("sku"))]),
                step("s4", json!({"does": "if", "condition": compare(field("price"), "missing", lit("")),
                    "then": [step("s5", json!({"does": "respond", "status": 404, "body": [named("error", lit("unknown sku"))], "as_text": null}))],
                    "otherwise": [
                        step("s6", json!({"does": "set_fields", "fields": [named("net", json!({"val": "expr", "code": "$json.price * $('Webhook').item.json.body.qty"}))]})),
                        step("s7", json!({"does": "respond", "status": 200, "body": [named("net", field("net"))], "as_text": null}))]}))]}))],
    }));
    insta::assert_snapshot!(sketch(&c));
}

#[test]
fn two_tables_compared_and_uploaded() {
    let c = built(json!({
        "triggers": [{"kind": "manual"}],
        "steps": [
            step("s1", json!({"does": "join",
                "left": [call("s2", "Postgres", "postgres", "get_many", "rows", vec![arg("part", lit("crm.customers"))])],
                "right": [call("s3", "MySQL", "mySql", "get_many", "rows", vec![arg("part", lit("shop.users"))])],
                "on": "email", "keep": "left_only"})),
            step("s4", json!({"does": "to_file", "format": "csv", "file_name": {"val": "template", "parts": [lit("missing_"), {"val": "now", "offset_seconds": 0, "format": "yyyy-MM-dd"}, lit(".csv")]}})),
            call("s5", "S3", "awsS3", "upload", "file", vec![arg("container", lit("diffs"))]),
        ],
    }));
    insta::assert_snapshot!(sketch(&c));
}

#[test]
fn retries_and_an_alert() {
    let c = built(json!({
        "triggers": [{"kind": "schedule", "rules": [{"every": "days", "n": 1, "hour": 3, "minute": 30}]}],
        "timezone": "UTC",
        "retry": {"max_tries": 3, "wait_seconds": null},
        "on_error": [slack("e1", "#ops", json!({"val": "template", "parts": [lit("Backup failed: "), field("error message")]}))],
        "steps": [
            call("s1", "SSH", "ssh", "run", "command", vec![arg("command", lit("/opt/backup.sh"))]),
            call("s2", "SSH", "ssh", "download", "file", vec![arg("path", lit("/tmp/backup.sql.gz"))]),
            call("s3", "S3", "awsS3", "upload", "file", vec![arg("container", lit("backups"))]),
        ],
    }));
    insta::assert_snapshot!(sketch(&c));
}

#[test]
fn an_mcp_server() {
    let c = built(json!({
        "triggers": [{"kind": "mcp_server", "auth": "bearer", "path": null, "tools": [
            {"name": "get_balance", "purpose": "Days left", "step": call("t1", "Postgres", "postgres", "get", "row", vec![arg("part", lit("balance"))]), "builtin": null, "inputs": ["email"], "approval": null},
            {"name": "request_days", "purpose": "Ask for days off", "step": step("t2", json!({"does": "call_workflow", "reference": "wf_days", "inputs": [], "wait": true})), "builtin": null, "inputs": ["employee", "from", "to"], "approval": null}]}],
    }));
    insta::assert_snapshot!(sketch(&c));
}

#[test]
fn zipped_tables_are_unpacked() {
    let c = built(json!({
        "triggers": [{"kind": "schedule", "rules": [{"every": "hours", "n": 4, "minute": 0}]}],
        "steps": [
            call("s1", "SFTP", "ftp", "get_many", "files", vec![arg("container", lit("/in"))]),
            call("s2", "SFTP", "ftp", "download", "file", vec![]),
            step("s3", json!({"does": "from_file", "format": "zip", "options": []})),
            step("s4", json!({"does": "from_file", "format": "csv", "options": [named("delimiter", lit(";"))]})),
            step("s5", json!({"does": "if", "condition": compare(field("sku"), "exists", lit("")),
                "then": [call("s6", "Postgres", "postgres", "insert", "rows", vec![arg("part", lit("staging.sales"))])],
                "otherwise": [step("s7", json!({"does": "to_file", "format": "csv", "file_name": null})), call("s8", "S3", "awsS3", "upload", "file", vec![arg("container", lit("rejects"))])]})),
            call("s9", "SFTP", "ftp", "move", "file", vec![arg("path", lit("/done"))]),
        ],
    }));
    insta::assert_snapshot!(sketch(&c));
}

#[test]
fn repeats_are_dropped_and_a_mood_is_read() {
    let c = built(json!({
        "triggers": [{"kind": "schedule", "rules": [{"every": "minutes", "n": 30}]}],
        "steps": [
            call("s1", "X", "twitter", "search", "tweets", vec![arg("query", lit("cold brew"))]),
            step("s2", json!({"does": "dedupe", "key": field("tweet id"), "window_seconds": null})),
            step("s3", json!({"does": "llm", "task": {"task": "sentiment"}, "provider": null, "instructions": "", "input": null})),
            call("s4", "Airtable", "airtable", "create", "record", vec![arg("container", lit("Mentions")), named("Text", field("text")), named("Sentiment", field("sentiment"))]),
            step("s5", json!({"does": "filter", "condition": compare(field("sentiment"), "eq", lit("negative"))})),
            slack("s6", "#brand", field("text")),
        ],
    }));
    insta::assert_snapshot!(sketch(&c));
}

#[test]
fn a_telegram_bot_that_hears() {
    let c = built(json!({
        "triggers": [{"kind": "service", "service": service("Telegram", "telegramTrigger"), "event": "message", "object": null, "args": [arg("recipient", lit("4711"))]}],
        "steps": [
            step("s1", json!({"does": "if", "condition": compare(field("voice message"), "exists", lit("")), "then": [step("s2", json!({"does": "transcribe", "provider": null}))], "otherwise": []})),
            step("s3", json!({"does": "agent", "provider": null, "instructions": "Assist.", "input": null,
                "tools": [
                    {"name": null, "purpose": "Read events", "step": call("t1", "Google Calendar", "googleCalendar", "get_many", "events", vec![]), "builtin": null, "inputs": [], "approval": null},
                    {"name": null, "purpose": "Create events", "step": call("t2", "Google Calendar", "googleCalendar", "create", "event", vec![]), "builtin": null, "inputs": [], "approval": null},
                    {"name": null, "purpose": "Create drafts", "step": call("t3", "Gmail", "gmail", "draft", "draft", vec![]), "builtin": null, "inputs": [], "approval": null},
                    {"name": null, "purpose": "Add tasks", "step": call("t4", "Todoist", "todoist", "add", "task", vec![]), "builtin": null, "inputs": [], "approval": null}],
                "memory": {"store": "postgres", "window": null, "session": field("chat id")}, "knowledge": [], "output_fields": []})),
            call("s4", "Telegram", "telegram", "reply", "answer", vec![]),
        ],
    }));
    insta::assert_snapshot!(sketch(&c));
}

#[test]
fn known_ones_are_looked_up() {
    let c = built(json!({
        "triggers": [{"kind": "schedule", "rules": [{"every": "minutes", "n": 2}]}],
        "steps": [
            step("s1", json!({"does": "http", "method": "GET", "url": "https://prom.example.org/api/v1/query?query=up", "query": [], "body": [], "auth": null, "save_as_file": false, "never_fail": false, "rate_per_second": null})),
            step("s2", json!({"does": "split", "field": {"val": "expr", "code": "data.result"}})),
            step("s3", json!({"does": "filter", "condition": compare(json!({"val": "expr", "code": "$json.value[1]"}), "eq", lit("0"))})),
            step("s4", json!({"does": "not_in", "key": {"val": "expr", "code": "$json.metric.instance"}, "lookup": call("s5", "Jira", "jira", "search", "issues", vec![arg("container", lit("OPS")), arg("status", lit("open")), arg("title", json!({"val": "expr", "code": "$json.metric.instance"}))])})),
            call("s6", "Jira", "jira", "create", "bug", vec![arg("container", lit("OPS")), arg("title", json!({"val": "template", "parts": [lit("Down: "), field("metric.instance")]}))]),
        ],
    }));
    insta::assert_snapshot!(sketch(&c));
}

#[test]
fn content_is_written_checked_and_published() {
    let c = built(json!({
        "triggers": [{"kind": "schedule", "rules": [{"every": "weeks", "n": 1, "weekdays": [1, 4], "hour": 10, "minute": 0}]}],
        "steps": [
            call("s1", "Notion", "notion", "get", "entry", vec![arg("container", lit("Backlog")), arg("status", lit("Idea")), arg("limit", lit(1))]),
            step("s2", json!({"does": "agent", "provider": null, "instructions": "Research and write 900 words.", "input": null, "tools": [{"name": null, "purpose": "search the web", "step": null, "builtin": "serpapi", "inputs": [], "approval": null}], "memory": null, "knowledge": [], "output_fields": []})),
            step("s3", json!({"does": "llm", "task": {"task": "write"}, "provider": null, "instructions": "Critique the article", "input": field("article")})),
            step("s4", json!({"does": "generate_image", "provider": "openai", "prompt": "A header image"})),
            call("s5", "WordPress", "wordpress", "draft", "post", vec![]),
            step("s6", json!({"does": "approval", "service": service("Telegram", "telegram"), "args": [arg("channel", lit("-100200"))],
                "approved": [call("s7", "WordPress", "wordpress", "publish", "post", vec![]), call("s8", "X", "twitter", "post", "tweet", vec![])],
                "rejected": [call("s9", "Notion", "notion", "update", "entry", vec![arg("status", lit("Idea"))])]})),
        ],
    }));
    insta::assert_snapshot!(sketch(&c));
}

#[test]
fn rows_that_map_themselves_come_from_the_item_and_not_from_its_envelope_or_an_answer() {
    let to_sheet = |id| {
        call(
            id,
            "Google Sheets",
            "googleSheets",
            "append",
            "row",
            vec![arg("container", lit("Orders"))],
        )
    };
    let taken = |steps: serde_json::Value| {
        let c = built(json!({
            "triggers": [{"kind": "webhook", "method": "POST", "path": "/orders", "fields": [], "auth": null}],
            "steps": steps,
        }));
        let node = c.workflow.node_by_name("Take the data").cloned();
        let parameters = node.as_ref().and_then(|node| node.parameters());
        parameters.map(|p| p["jsonOutput"].clone())
    };
    let after_an_answer = json!([slack("s1", "#sales", lit("An order")), to_sheet("s2")]);
    assert_eq!(
        taken(after_an_answer),
        Some(json!("={{ $('Webhook').item.json.body }}"))
    );
    assert_eq!(
        taken(json!([to_sheet("s1")])),
        Some(json!("={{ $json.body }}"))
    );
}
