//! Checking workflows.

use crate::support::Project;

#[test]
fn qa() {
    let project = Project::new();
    const CLEAN: &str = r#"{"name": "a", "nodes": [{"id": "1", "name": "Start", "type": "n8n-nodes-base.manualTrigger", "typeVersion": 1, "position": [0, 0], "parameters": {}}], "connections": {}}"#;
    project.write("w/a.json", CLEAN);
    insta::assert_snapshot!(project.said("qa w"), @"
    exit code 0
    w/a.json · a
      warning n8n/no-trigger the workflow starts by hand only; n8n publishes it once it has a trigger such as a schedule or a webhook
              1:15 /nodes

    1 workflow, 0 clean, 0 errors, 1 warning
    ");
    project.write("w/b.json", &CLEAN.replace("manualTrigger", "noSuchNode"));
    insta::assert_snapshot!(project.said("qa w"), @r#"
    exit code 1
    w/a.json · a
      warning n8n/no-trigger the workflow starts by hand only; n8n publishes it once it has a trigger such as a schedule or a webhook
              1:15 /nodes

    w/b.json · a
      error   n8n/no-trigger no enabled node can start the workflow; add a trigger such as a schedule or a webhook
              1:15 /nodes
      error   n8n/unknown-type [Start] the node type "n8n-nodes-base.noSuchNode" is not known; similar: n8n-nodes-base.noOp
              1:54 /nodes/0/type

    2 workflows, 0 clean, 2 errors, 1 warning
    "#);
    insta::assert_snapshot!(project.said("qa"), @r"
    exit code 2
    -- stderr --
    error: the following required arguments were not provided:
      <PATH>...

    Usage: agentctl qa <PATH>...

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(project.said("qa nowhere"), @r"
    exit code 2
    -- stderr --
    error: nowhere is not there
    hint: name a workflow file or a folder
    ");
    insta::assert_snapshot!(project.said("qa --explain no-such-code"), @r#"
    exit code 2
    -- stderr --
    error: no finding has the code "no-such-code"; did you mean agentctl/input-switched-off?
    hint: the codes are agentctl/answers-with-headers, agentctl/branch-without-answer, agentctl/branches-merged, agentctl/code-syntax, agentctl/code-without-return, agentctl/connection-index-out-of-range, agentctl/constant-condition, agentctl/credential-not-connected, agentctl/cron-never-fires, agentctl/disabled-node-in-path, agentctl/excluded-by-default, agentctl/expression-syntax, agentctl/field-not-there, agentctl/file-encoding, agentctl/file-too-deep, agentctl/file-too-large, agentctl/file-unreadable, agentctl/file-unwritable, agentctl/fromai-outside-tool, agentctl/hardcoded-secret, agentctl/input-switched-off, agentctl/internal-error, agentctl/invalid-connection-type, agentctl/json-body-invalid, agentctl/loop-body-open, agentctl/loop-outputs-swapped, agentctl/loop-without-exit, agentctl/merge-missing-input, agentctl/missing-ai-input, agentctl/missing-expression-prefix, agentctl/name-for-id, agentctl/node-setting-inside-parameters, agentctl/option-value, agentctl/reference-not-upstream, agentctl/respond-node-missing, agentctl/respond-node-unused, agentctl/respond-without-webhook, agentctl/retries-capped, agentctl/subnode-not-connected, agentctl/trigger-starts-nothing, agentctl/unbalanced-expression, agentctl/unknown-operator, agentctl/unknown-parameter-key, agentctl/unknown-reference, agentctl/unreachable-node, agentctl/webhook-path-conflict, n8n/api, n8n/credential, n8n/no-trigger, n8n/parameter, n8n/structure, n8n/unknown-type, n8n/unknown-version
    "#);
    insta::assert_snapshot!(project.said("qa --all"), @r"
    exit code 2
    -- stderr --
    error: no n8n is connected: this project works on the embedded backend
    hint: name one in .mcp.json, or with --backend; `agentctl n8n up --write-mcp` starts one to develop against
    ");
}

#[test]
fn analyze() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("analyze"), @r#"
    exit code 2
    -- stderr --
    error: there is no run yet
    hint: agentctl build "…" starts one
    "#);
    let project = super::built();
    insta::assert_snapshot!(project.said("analyze"), @"
    exit code 0
    # Run [RUN]

    Asked: When a webhook receives an order over 100 EUR, post it to Slack #sales
    Ended: complete. checked; not executed

    ## Root cause

    Nothing went wrong.

    ## Research gaps

    - n8n-nodes-base.filter was used, and no call of the run looked it up [event 66]
    - n8n-nodes-base.webhook was used, and no call of the run looked it up [event 66]

    ## Cost

    7 model calls, 6 tool calls, 0 tokens in, 0 out, 0.0000 USD

    ## Timeline

    - 1 [TIME] the run began
    - 31 [TIME] stage research
    - 54 [TIME] stage decision
    - 61 [TIME] stage build
    - 66 [TIME] create_workflow changed orders-over-100-eur-to-slack
    - 75 [TIME] stage validate
    - 78 [TIME] check: 0 errors
    - 105 [TIME] stage test
    - 106 [TIME] stage complete
    - 107 [TIME] the run ended: checked; not executed

    ## Proposed learnings

    Nothing that would hold for other workflows.
    ");
    insta::assert_snapshot!(project.said("analyze --since sometime"), @r#"
    exit code 2
    -- stderr --
    error: "sometime" is no time
    hint: write 30d, 12h, 2w or a date like [DAY]
    "#);
    insta::assert_snapshot!(project.said("analyze no-such-run"), @r#"
    exit code 2
    -- stderr --
    error: no run "no-such-run" in this project; `agentctl runs list` shows what there is
    hint: agentctl runs list
    "#);
}
