//! Changes: looked at, accepted, taken back.

use super::built;
use crate::support::Project;

#[test]
fn diff() {
    const OLD: &str = r#"{"name": "a", "nodes": [{"id": "1", "name": "Start", "type": "n8n-nodes-base.manualTrigger", "typeVersion": 1, "position": [0, 0], "parameters": {}}], "connections": {}}"#;
    let project = Project::new();
    project.write("old.json", OLD);
    project.write("new.json", &OLD.replace("Start", "Begin"));
    insta::assert_snapshot!(project.said("diff old.json new.json"), @r#"
    exit code 0
    --- old.json
    +++ new.json
    ~ node "Start" renamed "Begin"

    @@ -3,7 +3,7 @@
       "nodes": [
         {
           "id": "1",
    -      "name": "Start",
    +      "name": "Begin",
           "type": "n8n-nodes-base.manualTrigger",
           "typeVersion": 1,
           "position": [
    "#);
    insta::assert_snapshot!(project.said("diff old.json nowhere.json"), @r"
    exit code 2
    -- stderr --
    error: cannot read nowhere.json: No such file or directory (os error 2)
    ");
    insta::assert_snapshot!(project.said("diff"), @r"
    exit code 2
    -- stderr --
    error: this project has no active run yet; `agentctl build` starts one (a push, a test or an MCP session is meant only when it is named, see `agentctl runs list`)
    ");
}

#[test]
fn accept_and_undo() {
    let project = built();
    let file = format!("workflows/{}", project.workflows()[0]);
    insta::assert_snapshot!(project.said(&format!("accept {file} --yes")), @r"
    exit code 0
    accepted: losses of orders-over-100-eur-to-slack are counted from its 3 nodes of now
    -- stderr --
    Orders over 100 EUR to Slack: agentctl has changed nothing of it yet
    ");
    insta::assert_snapshot!(project.said("accept no-such-workflow"), @"
    exit code 2
    -- stderr --
    error: there is no workflow `no-such-workflow` (workflows/no-such-workflow.json)
    hint: there are workflows/orders-over-100-eur-to-slack.json
    ");
    insta::assert_snapshot!(project.said("undo --no-input --to 7"), @r"
    exit code 2
    -- stderr --
    error: there is no change 7 of run [RUN]: it has change 1 only; 0 is the state before the first
    hint: the last run that changed something is [RUN]: agentctl undo [RUN]
    ");
    insta::assert_snapshot!(project.said("undo --no-input"), @r##"
    exit code 0
    - node "Webhook"
    - node "Only amount > 100"
    - node "Slack: Send message"
    - "Only amount > 100" → "Slack: Send message"
    - "Webhook" → "Only amount > 100"
    ~ settings executionOrder: "v1" removed
    ~ workflow name: "Orders over 100 EUR to Slack" removed

    @@ -1,107 +1,4 @@
     {
    -  "name": "Orders over 100 EUR to Slack",
    -  "nodes": [
    -    {
    -      "id": "[UUID]",
    -      "name": "Webhook",
    -      "type": "n8n-nodes-base.webhook",
    -      "typeVersion": 2.1,
    -      "position": [
    -        0,
    -        0
    -      ],
    -      "parameters": {
    -        "httpMethod": "POST",
    -        "path": "orders-over-100-eur-to-slack",
    -        "responseMode": "onReceived",
    -        "options": {}
    -      },
    -      "webhookId": "[UUID]"
    -    },
    -    {
    -      "id": "[UUID]",
    -      "name": "Only amount > 100",
    -      "type": "n8n-nodes-base.filter",
    -      "typeVersion": 2.3,
    -      "position": [
    -        240,
    -        0
    -      ],
    -      "parameters": {
    -        "conditions": {
    -          "options": {
    -            "caseSensitive": false,
    -            "leftValue": "",
    -            "typeValidation": "loose",
    -            "version": 3
    -          },
    -          "conditions": [
    -            {
    -              "id": "[UUID]",
    -              "leftValue": "={{ $json.body.amount }}",
    -              "rightValue": 100,
    -              "operator": {
    -                "type": "number",
    -                "operation": "gt"
    -              }
    -            }
    -          ],
    -          "combinator": "and"
    -        },
    -        "looseTypeValidation": true,
    -        "options": {
    -          "ignoreCase": true
    -        }
    -      }
    -    },
    -    {
    -      "id": "[UUID]",
    -      "name": "Slack: Send message",
    -      "type": "n8n-nodes-base.slack",
    -      "typeVersion": 2.7,
    -      "position": [
    -        480,
    -        0
    -      ],
    -      "parameters": {
    -        "resource": "message",
    -        "operation": "post",
    -        "select": "channel",
    -        "channelId": {
    -          "__rl": true,
    -          "mode": "name",
    -          "value": "#sales"
    -        },
    -        "text": "={{ JSON.stringify($json.body, null, 2) }}",
    -        "otherOptions": {}
    -      }
    -    }
    -  ],
    -  "connections": {
    -    "Webhook": {
    -      "main": [
    -        [
    -          {
    -            "node": "Only amount > 100",
    -            "type": "main",
    -            "index": 0
    -          }
    -        ]
    -      ]
    -    },
    -    "Only amount > 100": {
    -      "main": [
    -        [
    -          {
    -            "node": "Slack: Send message",
    -            "type": "main",
    -            "index": 0
    -          }
    -        ]
    -      ]
    -    }
    -  },
    -  "settings": {
    -    "executionOrder": "v1"
    -  }
    +  "nodes": [],
    +  "connections": {}
     }
    orders-over-100-eur-to-slack: removed: the run had created it
      as it was a moment ago: memory/runs/[RUN]/snapshots/001-orders-over-100-eur-to-slack-3b068641.json
    next: agentctl undo [RUN] --to 1 takes this undo back
    -- stderr --
        orders-over-100-eur-to-slack put back: it was not there before
    "##);
    insta::assert_snapshot!(project.said("undo"), @r"
    exit code 0
    orders-over-100-eur-to-slack: already as it was before the run
    -- stderr --
        orders-over-100-eur-to-slack put back: it was not there before
    ");
    insta::assert_snapshot!(project.said("status"), @"
    exit code 0
    run [RUN] · stage complete · complete, taken back
    taken back: an undo put back what this run changed; agentctl log [RUN] shows its changes, agentctl undo [RUN] --to 1 brings them back
    ");
    let analysis = project.run(&["analyze"]).stdout;
    let ended = analysis.lines().find(|line| line.starts_with("Ended:"));
    assert_eq!(
        ended,
        Some("Ended: complete. checked; not executed; an undo took back what it changed")
    );
    insta::assert_snapshot!(project.said("resume"), @"
    exit code 0
    taken back: an undo put back what this run changed; agentctl log [RUN] shows its changes, agentctl undo [RUN] --to 1 brings them back
    ");
    insta::assert_snapshot!(project.said("runs list --status taken-back"), @"
    exit code 0
    * [RUN]  [DAY] [TIME]  taken back   When a webhook receives an order over 100 EUR, post it to Slack #sales  → orders-over-100-eur-to-slack
    ");
    insta::assert_snapshot!(project.said("runs list --status complete"), @"
    exit code 0
    no such runs
    ");
    let project = Project::new();
    insta::assert_snapshot!(project.said("undo"), @r"
    exit code 2
    -- stderr --
    error: this project has no active run yet; `agentctl build` starts one (a push, a test or an MCP session is meant only when it is named, see `agentctl runs list`)
    ");
}
