//! Beginning runs, going on with them, looking at them.

use super::built;
use crate::support::Project;
use serde_json::json;

#[test]
fn explain() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("explain 'When a webhook receives an order over 100 EUR, frobnicate it and post it to Slack #sales'"), @r"
    exit code 0
    webhook     built           Webhook
    receives    built           Webhook
    order       built           Webhook
    over        built           Only amount > 100
    100         built           value
    frobnicate  not understood
    post        built           Slack: Send message
    Slack       built           Slack: Send message
    #sales      built           value

    1 of 2 parts built, 95 % of the words' weight explained

    read as:
      WHEN receive:RECEIVE  [webhook]  /  [order] [<over> EUR 100] ,[frobnicate] [~it]
      post:NOTIFY    /  [~it] [to $slack '#sales']
    ");
    insta::assert_snapshot!(project.said("explain ''"), @r#"
    exit code 2
    -- stderr --
    error: the request is empty
    hint: say what to build: agentctl build "Every day at 9:00 …"
    "#);
}

#[test]
fn build() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("build --yes 'When a webhook receives an order over 100 EUR, post it to Slack #sales'"), @r#"
    exit code 0
    Orders over 100 EUR to Slack (3 nodes)

    Webhook · webhook (POST, orders-over-100-eur-to-slack)
    └─ Only amount > 100 · filter
       └─ Slack: Send message · slack (message, post, #sales, ={{ JSON.stringify($json.body, null…)

    file: workflows/orders-over-100-eur-to-slack.json (imports into n8n as it is)
    checked: structure, node types and versions, parameters, connections, expressions: 0 errors, 1 warning
    not checked: it was not executed (the embedded backend cannot execute workflows: not executed)
      warning n8n/credential [Slack: Send message] still to connect: Slack API
    still yours to do:
      - [Slack: Send message] connect a credential: Slack API
    good to know:
      - Only amount > 100: taken for granted that Webhook gives "amount", which the request does not name
    next: agentctl build --workflow workflows/orders-over-100-eur-to-slack.json "…" to change it, agentctl undo [RUN] to take it back
    -- stderr --
    model: offline (no key needed; it reads plain requests and asks about the rest)
    run [RUN] (n8n-builder)
    ✓ clarification  no questions
    ✓ research  1 node type: Slack
    ✓ decision  a new workflow
    ✓ build  orders-over-100-eur-to-slack: made, 3 nodes
    ✓ validate  0 errors, 1 warning
    ✓ test  not executed: the embedded backend cannot execute workflows
    "#);
    insta::assert_snapshot!(project.said("build ''"), @r#"
    exit code 2
    -- stderr --
    error: the request is empty
    hint: say what to build: agentctl build "Every day at 9:00 …"
    "#);
    insta::assert_snapshot!(project.said("build --workflow nowhere.json 'post to #orders instead of #sales'"), @"
    exit code 2
    -- stderr --
    model: offline (no key needed; it reads plain requests and asks about the rest)
    error: there is no workflow `nowhere.json` (nowhere.json)
    hint: there are workflows/orders-over-100-eur-to-slack.json
    ");
}

#[test]
fn answer_and_resume() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("build --no-input 'Tell me when a build fails'"), @r#"
    exit code 4
    ? waiting for answers
      source (source) Where is "build" kept, or where does it come from: which system, tool, list or file holds it?
      detect (detect) How is "a build fails" recognised: which check, value or deadline tells it, from which threshold on, and how often should it look?
      recipient (recipient) How should it reach people: through which channel (e-mail, SMS, Slack, Telegram, WhatsApp …), and who or which address should receive it?
      timing (timing) When should it start: on a schedule (how often, at what time), or on which event (trigger), and how long before or after it?
      action (action) What exactly should happen with "build", step by step: which text, accounts, commands or offers, and what should the person receive?
    next: agentctl answer [RUN] source=… detect=… recipient=… timing=… action=…
    -- stderr --
    model: offline (no key needed; it reads plain requests and asks about the rest)
    run [RUN] (n8n-builder)
    "#);
    insta::assert_snapshot!(project.said("answer"), @"
    exit code 2
    -- stderr --
    error: no answer was given
    hint: agentctl answer [RUN] ID=VALUE; the questions are in agentctl runs show [RUN]; --yes takes the recommendations
    ");
    insta::assert_snapshot!(project.said("answer no-such-run channel=#dev"), @r#"
    exit code 2
    -- stderr --
    error: no run "no-such-run" in this project; `agentctl runs list` shows what there is
    "#);
    insta::assert_snapshot!(project.said("resume no-such-run"), @r#"
    exit code 2
    -- stderr --
    error: no run "no-such-run" in this project; `agentctl runs list` shows what there is
    "#);
    insta::assert_snapshot!(project.said("resume --no-input"), @r#"
    exit code 4
    ? waiting for answers
      source (source) Where is "build" kept, or where does it come from: which system, tool, list or file holds it?
      detect (detect) How is "a build fails" recognised: which check, value or deadline tells it, from which threshold on, and how often should it look?
      recipient (recipient) How should it reach people: through which channel (e-mail, SMS, Slack, Telegram, WhatsApp …), and who or which address should receive it?
      timing (timing) When should it start: on a schedule (how often, at what time), or on which event (trigger), and how long before or after it?
      action (action) What exactly should happen with "build", step by step: which text, accounts, commands or offers, and what should the person receive?
    next: agentctl answer [RUN] source=… detect=… recipient=… timing=… action=…
    "#);
    let runs = project
        .run(&["runs", "list", "--output-format", "json"])
        .json();
    let run = runs["runs"][0]["run_id"].as_str().unwrap();
    let typed = format!("answer {run} 'timing=every day at 9:00'");
    insta::assert_snapshot!(project.said(&typed), @r#"
    exit code 4
    ? waiting for answers
      source (source) Where is "build" kept, or where does it come from: which system, tool, list or file holds it?
      detect (detect) How is "a build fails" recognised: which check, value or deadline tells it, from which threshold on, and how often should it look?
      recipient (recipient) How should it reach people: through which channel (e-mail, SMS, Slack, Telegram, WhatsApp …), and who or which address should receive it?
      action (action) What exactly should happen with "build", step by step: which text, accounts, commands or offers, and what should the person receive?
    next: agentctl answer [RUN] source=… detect=… recipient=… action=…
    -- stderr --
        ✓ timing: every day at 9:00 (command)
    "#);
    let answers = json!({
        "recipient": "Slack #dev",
        "source": "GitHub",
        "detect": "the build fails",
        "action": "post the name of the build",
    });
    project.write("answers.json", &answers.to_string());
    insta::assert_snapshot!(project.said("resume --answers answers.json"), @r#"
    exit code 9
    built 4 of 7 parts; not understood: 'build name', 'Tell me', 'when a build fails'

    GitHub to Slack (5 nodes)

    Schedule · scheduleTrigger
    └─ GitHub: Get many · github (release, getAll)
       └─ Collect into one item · aggregate
          └─ Slack: Send message · slack (message, post, <#channel>, ={{ $json.data.map((item) => `build…)
             └─ Error → Slack: Send message 1 · slack (message, post, #dev, =Error: {{ $json.error }} Text: {{ …)

    file: workflows/github-to-slack.json (imports into n8n as it is)
    checked: structure, node types and versions, parameters, connections, expressions: 0 errors, 3 warnings
    not checked: it was not executed (the embedded backend cannot execute workflows: not executed)
      warning n8n/credential [GitHub: Get many] still to connect: GitHub API
      warning n8n/credential [Slack: Send message] still to connect: Slack API
      warning n8n/credential [Slack: Send message 1] still to connect: Slack API
    still yours to do:
      - [GitHub: Get many] choose the owner
      - [GitHub: Get many] choose the repository
      - [Slack] choose the channel
      - [GitHub: Get many] connect a credential: GitHub API
      - [Slack: Send message] connect a credential: Slack API
      - [Slack: Send message 1] connect a credential: Slack API
    good to know:
      - its time of day is in n8n's own timezone
    next: agentctl build --workflow workflows/github-to-slack.json "…" to change it, agentctl undo [RUN] to take it back
    -- stderr --
        ✓ source: GitHub (file)
        ✓ detect: the build fails (file)
        ✓ recipient: Slack #dev (file)
        ✓ action: post the name of the build (file)
    ✓ clarification  4 questions answered
    ✓ research  2 node types: GitHub, Slack
    ✓ decision  a new workflow
    ✓ build  github-to-slack: made, 5 nodes
    ✓ validate  0 errors, 3 warnings
    ✓ test  not executed: the embedded backend cannot execute workflows
    "#);
}

#[test]
fn status_of_nothing() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("status"), @r"
    exit code 2
    -- stderr --
    error: this project has no active run yet; `agentctl build` starts one (a push, a test or an MCP session is meant only when it is named, see `agentctl runs list`)
    ");
}

/// One build is enough for all commands that only look.
#[test]
fn status_runs_approvals_and_usage() {
    let project = built();
    insta::assert_snapshot!(project.said("status"), @r#"
    exit code 0
    run [RUN] · stage complete · complete
    Orders over 100 EUR to Slack (3 nodes)

    Webhook · webhook (POST, orders-over-100-eur-to-slack)
    └─ Only amount > 100 · filter
       └─ Slack: Send message · slack (message, post, #sales, ={{ JSON.stringify($json.body, null…)

    file: workflows/orders-over-100-eur-to-slack.json (imports into n8n as it is)
    checked: structure, node types and versions, parameters, connections, expressions: 0 errors, 1 warning
    not checked: it was not executed (the embedded backend cannot execute workflows: not executed)
      warning n8n/credential [Slack: Send message] still to connect: Slack API
    still yours to do:
      - [Slack: Send message] connect a credential: Slack API
    good to know:
      - Only amount > 100: taken for granted that Webhook gives "amount", which the request does not name
    next: agentctl build --workflow workflows/orders-over-100-eur-to-slack.json "…" to change it, agentctl undo [RUN] to take it back
    "#);
    insta::assert_snapshot!(project.said("runs list"), @"
    exit code 0
    * [RUN]  [DAY] [TIME]  complete     When a webhook receives an order over 100 EUR, post it to Slack #sales  → orders-over-100-eur-to-slack
    ");
    insta::assert_snapshot!(project.said("runs show no-such-run"), @r#"
    exit code 2
    -- stderr --
    error: no run "no-such-run" in this project; `agentctl runs list` shows what there is
    "#);
    insta::assert_snapshot!(project.said("runs verify"), @"
    exit code 0
    ✓ [RUN]: 108 records, the chain is whole
    ");
    insta::assert_snapshot!(project.said("runs verify no-such-run"), @r#"
    exit code 1
    ✗ no-such-run: no run "no-such-run" in this project; `agentctl runs list` shows what there is
    "#);
    let run = project
        .run(&["runs", "list", "--output-format", "json"])
        .json();
    let run = run["runs"][0]["run_id"].as_str().unwrap().to_owned();
    insta::assert_snapshot!(project.said(&format!("runs show {run}")), @r#"
    exit code 0
    run [RUN] · stage complete · complete

    [TIME] run [RUN] (n8n-builder)
    [TIME]   learned
    [TIME]     researcher → search_learnings query=
    [TIME]     ✓ search_learnings index: # Learnings index Generated: agentctl learnings index. Read by id. , plans: 0, learnings: 0
    [TIME]   clarify
    [TIME]   questions
    [TIME] ▶ research
    [TIME]   research
    [TIME]     researcher → list_workflows wanted={4 keys}
    [TIME]     ✓ list_workflows workflows: 0, total: 0
    [TIME]     researcher → search_nodes query=n8n-nodes-base.slack limit=3
    [TIME]     ✓ search_nodes nodes: 3
    [TIME] ▶ decision
    [TIME]   blueprint
    [TIME] ▶ build
    [TIME]   build
    [TIME]     builder → create_workflow name=Orders over 100 EUR to Slack nodes=[3] connections={"Webhook":{"main":[[{"node":"Only amount > …
    [TIME]     ✓ create_workflow id: orders-over-100-eur-to-slack, name: Orders over 100 EUR to Slack, active: false, file: workflows…
                   change 1: orders-over-100-eur-to-slack created, 3 nodes
    [TIME] ▶ validate
    [TIME]   qa_loop[1]/final
    [TIME]     qa → validate_workflow workflow_id=orders-over-100-eur-to-slack
    [TIME]     ✓ validate_workflow id: orders-over-100-eur-to-slack, name: Orders over 100 EUR to Slack, active: false, file: workflows…
    [TIME]   qa_loop[1]/look
    [TIME]     qa → get_workflow workflow_id=orders-over-100-eur-to-slack view=review
    [TIME]     ✓ get_workflow id: orders-over-100-eur-to-slack, name: Orders over 100 EUR to Slack, active: false, node_count: 3
    [TIME]   qa_loop[1]/validate
    [TIME]     qa: pass, 0 errors, 1 warning (cycle 1)
    [TIME] ▶ test
    [TIME] ▶ complete

    checked: structure, node types and versions, parameters, connections, expressions: 0 errors, 1 warning
    not checked: it was not executed (the embedded backend cannot execute workflows: not executed)
      warning n8n/credential [Slack: Send message] still to connect: Slack API
    still yours to do:
      - [Slack: Send message] connect a credential: Slack API
    good to know:
      - Only amount > 100: taken for granted that Webhook gives "amount", which the request does not name
    next: agentctl build --workflow workflows/orders-over-100-eur-to-slack.json "…" to change it, agentctl undo [RUN] to take it back
    "#);
    insta::assert_snapshot!(project.said(&format!("runs adopt {run}")), @r"
    exit code 0
    run [RUN] is yours already
    ");
    insta::assert_snapshot!(project.said("runs adopt no-such-run"), @r#"
    exit code 2
    -- stderr --
    error: no run "no-such-run" in this project; `agentctl runs list` shows what there is
    "#);
    insta::assert_snapshot!(project.said("runs export --all exported"), @r#"
    exit code 0
    1 run exported
    "#);
    insta::assert_snapshot!(project.said("runs import exported"), @r#"
    exit code 0
    0 runs imported, 1 here already
    "#);
    insta::assert_snapshot!(project.said("runs prune"), @r"
    exit code 2
    -- stderr --
    error: it is not said which runs may go
    hint: --keep N, --older-than DAYS, or both
    ");
    insta::assert_snapshot!(project.said("runs prune --keep 0"), @r"
    exit code 0
    would go: 0 runs, 0 results, 0 versions of workflows; 0 kB
    stay: 1 active
    ");
    insta::assert_snapshot!(project.said("approvals show"), @r"
    exit code 0
    run [RUN] waits for no approval
    ");
    insta::assert_snapshot!(project.said("approvals show no-such-run"), @r#"
    exit code 2
    -- stderr --
    error: no run "no-such-run" in this project; `agentctl runs list` shows what there is
    "#);
    insta::assert_snapshot!(project.said("usage"), @"
    exit code 0
    run [RUN]
    agent              calls   input  cached   output     cost
    researcher             2       0       0        0  $0.0000
    architect              2       0       0        0  $0.0000
    builder                2       0       0        0  $0.0000
    qa                     1       0       0        0  $0.0000

    phase              calls   input  cached   output     cost
    clarification          1       0       0        0  $0.0000
    research               2       0       0        0  $0.0000
    decision               1       0       0        0  $0.0000
    build                  2       0       0        0  $0.0000
    validate               1       0       0        0  $0.0000

    model              calls   input  cached   output     cost
    offline                7       0       0        0  $0.0000
    total                  7       0       0        0  $0.0000

    tool               calls  not ok          ≈tokens
    search_learnings       1       0               27
    list_workflows         1       0                7
    search_nodes           1       0               64
    create_workflow        1       0               91
    validate_workflow      1       0              157
    get_workflow           1       0              304
    ");
    insta::assert_snapshot!(project.said("usage no-such-run"), @r#"
    exit code 2
    -- stderr --
    error: no run "no-such-run" in this project; `agentctl runs list` shows what there is
    "#);
}

#[test]
fn log() {
    let project = built();
    insta::assert_snapshot!(project.said("log"), @r#"
    exit code 0
    [DAY] UTC
       1  [TIME] run [RUN] (n8n-builder)
                     request: When a webhook receives an order over 100 EUR, post it to Slack #sales
       2  [TIME] activation 1: start (process [ID])
                     skipped: existing, failures, failed_run
       6  [TIME]   learned
       7  [TIME]     researcher → search_learnings query=
                         allowed by researcher: read-learnings
       8  [TIME]     ✓ search_learnings index: # Learnings index Generated: agentctl learnings index. Read by id. , plans: 0, learnings: 0
                     skipped: there, alone
      12  [TIME]   clarify: taken
      13  [TIME]   clarify
      14  [TIME]     asks offline (turn 1)
      15  [TIME]     answered
      16  [TIME]     architect wrote requirements, research_request
      18  [TIME]   acceptable: passed
      19  [TIME]   questions
                     skipped: taken, refine, alone_with, alone_on
      25  [TIME]   still_acceptable: passed
                     skipped: assess, assessed, searched, listed
      30  [TIME]   research: taken
      31  [TIME] ▶ research
      32  [TIME]   research
      33  [TIME]     asks offline (turn 1)
      34  [TIME]     answered, wants 2 tool calls
      35  [TIME]     researcher → list_workflows wanted={4 keys}
                         allowed by researcher: list-workflows
      36  [TIME]     ✓ list_workflows workflows: 0, total: 0
      37  [TIME]     researcher → search_nodes query=n8n-nodes-base.slack limit=3
                         allowed by researcher: search-nodes
      38  [TIME]     ✓ search_nodes nodes: 3
      39  [TIME]     asks offline (turn 2)
      40  [TIME]     answered
      41  [TIME]     researcher wrote research_findings
                     skipped: recipes, named, named_there
      46  [TIME]   nothing_to_change: taken
      47  [TIME]     program wrote decision
                     skipped: chosen_alone, decide, choose, chosen, current
      53  [TIME]   blueprint: taken
      54  [TIME] ▶ decision
      55  [TIME]   blueprint
      56  [TIME]     asks offline (turn 1)
      57  [TIME]     answered
      58  [TIME]     architect wrote blueprint
      60  [TIME]   build: taken
      61  [TIME] ▶ build
      62  [TIME]   build
      63  [TIME]     asks offline (turn 1)
      64  [TIME]     answered, wants 1 tool call
      65  [TIME]     builder → create_workflow name=Orders over 100 EUR to Slack nodes=[3] connections={"Webhook":{"main":[[{"node":"Only amount > …
                         allowed by builder: create-workflow
      66  [TIME]     ✓ create_workflow id: orders-over-100-eur-to-slack, name: Orders over 100 EUR to Slack, active: false, file: workflows…
                         change 1: orders-over-100-eur-to-slack created, 3 nodes
      67  [TIME]     asks offline (turn 2)
      68  [TIME]     answered
      69  [TIME]     builder wrote workflow
                     skipped: built_alone
      72  [TIME]   built: taken
      73  [TIME]     program wrote workflow
      74  [TIME]   qa_loop: cycle 1
      75  [TIME] ▶ validate
      76  [TIME]   qa_loop[1]/final
      77  [TIME]     qa → validate_workflow workflow_id=orders-over-100-eur-to-slack
                         allowed by qa: validate-final
      78  [TIME]     ✓ validate_workflow id: orders-over-100-eur-to-slack, name: Orders over 100 EUR to Slack, active: false, file: workflows…
      80  [TIME]   qa_loop[1]/look
      81  [TIME]     qa → get_workflow workflow_id=orders-over-100-eur-to-slack view=review
                         allowed by qa: get-workflow
      82  [TIME]     ✓ get_workflow id: orders-over-100-eur-to-slack, name: Orders over 100 EUR to Slack, active: false, node_count: 3
      84  [TIME]     program wrote qa_report
      85  [TIME]   qa_loop[1]/validate: taken
      86  [TIME]   qa_loop[1]/validate
      87  [TIME]     asks offline (turn 1)
      88  [TIME]     answered
      89  [TIME]     qa wrote qa_report, edit_scope
                     skipped: qa_loop[1]/judged_alone
      92  [TIME]   qa_loop[1]/judged: taken
      93  [TIME]     program wrote qa_report
                     skipped: qa_loop[1]/test, qa_loop[1]/test_alone, qa_loop[1]/tried, qa_loop[1]/tried_alone
      98  [TIME]     program wrote qa_report
                       qa: pass, 0 errors, 1 warning (cycle 1)
      99  [TIME]   qa_loop[1]/failed: stopped
     100  [TIME]   qa_loop: left
                     skipped: weigh, note
     103  [TIME]   understood: passed
     104  [TIME]   covered: passed
     105  [TIME] ▶ test
     106  [TIME] ▶ complete
     107  [TIME] complete: checked; not executed (exit code 0)
     108  [TIME] activation 1 ended: complete
    run [RUN]: complete; 108 records, 7 model calls, 6 tool calls
    next: agentctl undo [RUN] --to N puts things as change N left them (1 to 1; 0: as before the run)
    "#);
    insta::assert_snapshot!(project.said("log no-such-run"), @r#"
    exit code 2
    -- stderr --
    error: no run "no-such-run" in this project; `agentctl runs list` shows what there is
    "#);
    insta::assert_snapshot!(project.said("log --workflow no-such-workflow"), @r#"
    exit code 2
    -- stderr --
    error: no run of this project changed a workflow "no-such-workflow"
    "#);
}
