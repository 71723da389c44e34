//! A project folder that an earlier agentctl left (`tests/project_of_today/README.md`) is read, resumed and undone. Nothing in it is
//! made anew: what these tests show is that runs, approvals and learnings of a user outlive an update.

use super::old_folder::{fixture, names, today};
use super::support::{Project, Ran};
use std::fs;

const BLOCKED: &str = "20261122-122017-06ee7e";
const CHANGED: &str = "20261122-122036-9dc021";
const KILLED: &str = "20261122-122240-02fa9e";
const STOPPED: &str = "20261122-122243-5ead52";
const DAILY: &str = "workflows/every-day-at-9-00-tell-the-team-how.json";

/// Everything that a command said, and its exit code. Nobody trusts the folder for this command: its user did so before.
fn told(project: &Project, args: &[&str]) -> String {
    let Ran {
        code,
        stdout,
        stderr,
    } = project.stranger(args).output().unwrap().into();
    let mut text = format!("$ agentctl {}\n{stdout}", args.join(" "));
    if !stderr.is_empty() {
        text.push_str(&format!("--- stderr\n{stderr}"));
    }
    text.push_str(&format!("--- exit code {code}\n"));
    let place = project.path().canonicalize().unwrap();
    text.replace(place.to_str().unwrap(), "[project]")
}

/// The same command for each run, the oldest first.
fn told_of_each(project: &Project, command: &[&str]) -> String {
    let runs = names(&fixture().join("project/memory/runs"));
    let told = runs
        .iter()
        .map(|run| told(project, &[command, &[run]].concat()));
    told.collect::<Vec<_>>().join("\n")
}

#[test]
fn its_runs_are_its_users_and_whole() {
    let project = today();
    insta::assert_snapshot!(told(&project, &["status"]), @r"
    $ agentctl status
    run 20261122-122243-5ead52 · stage clarification · waiting
    in place of the built-in pack: agents/policy.yaml
    ? waiting for answers
      source (source) Where does new customers come from: which system, file or source holds it, and what exactly belongs to it?
      recipient (recipient) How and where should it be delivered: which channel (e-mail, Slack, Telegram …) and which address or person?
    next: agentctl answer 20261122-122243-5ead52 source=… recipient=…
    --- exit code 0
    ");
    insta::assert_snapshot!(told(&project, &["runs", "list"]), @"
    $ agentctl runs list
    * 20261122-122243-5ead52  2026-11-22 12:22  waiting      Every Monday send the new customers somewhere
      20261122-122240-02fa9e  2026-11-22 12:22  unfinished   post to #returns instead of #shipping
      20261122-122036-9dc021  2026-11-22 12:20  complete     run it at 8:30 instead of 9:00  → every-day-at-9-00-tell-the-team-how
      20261122-122032-fc7ce5  2026-11-22 12:20  complete     post to #shipping instead of #orders  → orders
      20261122-122027-de6e9b  2026-11-22 12:20  complete     post to #urgent instead of #support  → support-intake
      20261122-122021-296548  2026-11-22 12:20  complete     Every day at 9:00 tell the team how many orders are open  → every-day-at-9-00-tell-the-team-how
      20261122-122019-f018ef  2026-11-22 12:20  complete     post to #orders instead of #sales  → orders
      20261122-122017-06ee7e  2026-11-22 12:20  blocked      post to #orders instead of #sales  → orders
      20261122-122015-37c613  2026-11-22 12:20  complete     Only notify Slack when the priority is urgent, everything else should go by e-mail to support-digest…  → support-intake
    --- exit code 0
    ");
    insta::assert_snapshot!(told(&project, &["runs", "verify"]), @r"
    $ agentctl runs verify
    ✓ 20261122-122015-37c613: 101 records, the chain is whole
    ✓ 20261122-122017-06ee7e: 162 records, the chain is whole
    ✓ 20261122-122019-f018ef: 141 records, the chain is whole
    ✓ 20261122-122021-296548: 107 records, the chain is whole
    ✓ 20261122-122027-de6e9b: 99 records, the chain is whole
    ✓ 20261122-122032-fc7ce5: 103 records, the chain is whole
    ✓ 20261122-122036-9dc021: 95 records, the chain is whole
    ✓ 20261122-122240-02fa9e: 58 records, the chain is whole
    ✓ 20261122-122243-5ead52: 19 records, the chain is whole
    --- exit code 0
    ");
    insta::assert_snapshot!(told(&project, &["usage"]), @"
    $ agentctl usage
    run 20261122-122243-5ead52
    agent             calls   input  cached   output     cost
    researcher            0       0       0        0        -
    architect             1       0       0        0  $0.0000

    phase             calls   input  cached   output     cost
    clarification         1       0       0        0  $0.0000

    model             calls   input  cached   output     cost
    offline               1       0       0        0  $0.0000
    total                 1       0       0        0  $0.0000

    tool              calls  not ok          ≈tokens
    search_learnings      1       0               72
    --- exit code 0
    ");
    // A run whose folder lay elsewhere is foreign: without its user's home nothing of this holds.
    fs::remove_dir_all(project.home()).unwrap();
    assert_eq!(project.run(&["runs", "verify"]).code, 5);
}

#[test]
fn what_its_user_trusts_and_approved_is_in_force() {
    let project = today();
    insta::assert_snapshot!(told(&project, &["trust", "--show"]), @r#"
    $ agentctl trust --show
    .: trusted
      the server "docs" of .mcp.json (server) trusted
        starts sh server.sh
        may run code of the project folder: 3 files count, a change of one asks again
        warning: server.sh of the project is run or read by it
      agents/policy.yaml (policy) trusted
        who may do what
    for CI: AGENTCTL_TRUST=b97f00524b91ca9e35c237be9b7bb238cc44e2df1fc970aaaa3a9be08b8fd224
    --- exit code 0
    "#);
    insta::assert_snapshot!(told(&project, &["mcp", "tools", "docs"]), @r"
    $ agentctl mcp tools docs
    find (approved) Finds a page.
    --- exit code 0
    ");
    insta::assert_snapshot!(told(&project, &["policy", "check", "builder", "rollback_workflow"]), @r#"
    $ agentctl policy check builder rollback_workflow
    ask: rollback_workflow for builder
      decided by going-back
      a rule of agents/policy.yaml in this folder, not one of agentctl's own, asks for your word; it says: "an older version may lack what was put right by hand"
      - rollback_workflow needs rollback-workflow: granted to builder
      - effect: change
      - rule going-back (ask) matches
    guards (edit scope, wipe, stale, …) decide on the workflow as it is, at the call
    --- exit code 4
    "#);
}

#[test]
fn each_run_is_told_as_it_was() {
    let project = today();
    insta::assert_snapshot!("log", told_of_each(&project, &["log"]));
    insta::assert_snapshot!("runs_show", told_of_each(&project, &["runs", "show"]));
    insta::assert_snapshot!("usage", told_of_each(&project, &["usage"]));
    insta::assert_snapshot!("diff", told_of_each(&project, &["diff"]));
}

#[test]
fn each_run_is_analyzed_and_its_learnings_are_read() {
    let project = today();
    insta::assert_snapshot!("analyze", told_of_each(&project, &["analyze"]));
    insta::assert_snapshot!(told(&project, &["learnings", "check"]), @r"
    $ agentctl learnings check
    nothing to mend
    --- exit code 0
    ");
    insta::assert_snapshot!(told(&project, &["learnings", "stats"]), @"
    $ agentctl learnings stats
    2 active entries, 0 retired
    LEARNINGS-INDEX.md: 80 tokens (what an agent reads first), 0 pages
    LEARNINGS.md: 300 tokens
    9 runs
    L-001 n8n/unknown-version on slack: the checker's likely fix is right: read by 2 runs: 2 passed, 0 blocked
    read by no run: 1 active entry
    --- exit code 0
    ");
    // Accepted once, the proposal of the blocked run is not written again.
    let learnings = fs::read(project.file("docs/learning/LEARNINGS.md")).unwrap();
    let accept = ["analyze", BLOCKED, "--accept-learnings"];
    let json = told(
        &project,
        &[&accept[..], &["--output-format", "json"]].concat(),
    );
    // A proposal has the day on which it is made.
    let today = |line: &str| match line.trim_start().starts_with("\"date\": ") {
        true => "      \"date\": \"[TODAY]\",".to_owned(),
        false => line.to_owned(),
    };
    let json: Vec<String> = json.lines().map(today).collect();
    insta::assert_snapshot!("analyze_json", json.join("\n"));
    assert_eq!(
        fs::read(project.file("docs/learning/LEARNINGS.md")).unwrap(),
        learnings
    );
}

#[test]
fn the_stopped_run_goes_on_with_its_answers() {
    let project = today();
    project.write(
        "answers.json",
        r##"{"source": "Shopify", "recipient": "Slack #customers"}"##,
    );
    let resume = [
        "resume",
        "--answers",
        "answers.json",
        "--yes",
        "--no-input",
        "--allow-pack-change",
    ];
    insta::assert_snapshot!(told(&project, &resume), @r#"
    $ agentctl resume --answers answers.json --yes --no-input --allow-pack-change
    built 2 of 3 parts; not understood: 'new', 'somewhere'

    Shopify to Slack (3 nodes)

    Schedule · scheduleTrigger
    └─ Shopify: Get many · shopify (order, getAll)
       └─ Slack: Send message · slack (message, post, #customers, =Order number: {{ $json.order_numbe…)

    file: workflows/shopify-to-slack.json (imports into n8n as it is)
    checked: structure, node types and versions, parameters, connections, expressions: 0 errors, 2 warnings
    not checked: it was not executed (no step of the run executed it)
      warning n8n/credential [Shopify: Get many] still to connect: Shopify API
      warning n8n/credential [Slack: Send message] still to connect: Slack API
    still yours to do:
      - [Shopify: Get many] connect a credential: Shopify API
      - [Slack: Send message] connect a credential: Slack API
    good to know:
      - its time of day is in n8n's own timezone
    in place of the built-in pack: agents/policy.yaml
    next: agentctl build --workflow workflows/shopify-to-slack.json "…" to change it, agentctl undo 20261122-122243-5ead52 to take it back
    --- stderr
    this folder overrides the built-in pack: agents/policy.yaml
        ✓ source: Shopify (file)
        ✓ recipient: Slack #customers (file)
    ✓ clarification  2 questions answered
    ✓ research  2 node types: Shopify, Slack, 3 workflows that could be changed
        ✓ decision: build (recommended)
    ✓ decision  a new workflow
    ✓ build  shopify-to-slack: made, 3 nodes
    ✓ validate  0 errors, 2 warnings
    ✓ test  not executed
    --- exit code 9
    "#);
    insta::assert_snapshot!(told(&project, &["runs", "verify", STOPPED]), @"
    $ agentctl runs verify 20261122-122243-5ead52
    ✓ 20261122-122243-5ead52: 134 records, the chain is whole
    --- exit code 0
    ");
}

#[test]
fn the_killed_run_is_settled_and_ends() {
    let project = today();
    let written = fs::read(project.file("workflows/orders.json")).unwrap();
    let resume = [
        "resume",
        KILLED,
        "--yes",
        "--no-input",
        "--allow-pack-change",
    ];
    insta::assert_snapshot!(told(&project, &resume), @r#"
    $ agentctl resume 20261122-122240-02fa9e --yes --no-input --allow-pack-change
    Orders (2 nodes)

    Webhook · webhook (POST, orders)
    └─ Post · slack (message, post, #returns, new order)

    file: workflows/orders.json (imports into n8n as it is)
    checked: structure, node types and versions, parameters, connections, expressions: 0 errors, 1 warning
    not checked: it was not executed (no step of the run executed it)
      warning n8n/credential [Post] still to connect: Slack API
    still yours to do:
      - 1 node had no credential before this change either: Post
    in place of the built-in pack: agents/policy.yaml
    next: agentctl build --workflow workflows/orders.json "…" to change it, agentctl undo 20261122-122240-02fa9e to take it back
    --- stderr
    this folder overrides the built-in pack: agents/policy.yaml
    run 20261122-122243-5ead52 waits for an answer; it is kept, `agentctl resume 20261122-122243-5ead52` goes on with it
        ✓ orders: written, 2 nodes
    ✓ build  orders: written, 2 nodes
    ✓ validate  0 errors, 1 warning
    ✓ test  not executed
    --- exit code 0
    "#);
    // What was written before it was killed is not written again.
    assert_eq!(
        fs::read(project.file("workflows/orders.json")).unwrap(),
        written
    );
    insta::assert_snapshot!(told(&project, &["runs", "verify", KILLED]), @"
    $ agentctl runs verify 20261122-122240-02fa9e
    ✓ 20261122-122240-02fa9e: 118 records, the chain is whole
    --- exit code 0
    ");
    insta::assert_snapshot!(told(&project, &["undo", KILLED]), @r##"
    $ agentctl undo 20261122-122240-02fa9e
    ~ "Post" channelId value: "#returns" → "#shipping"

    @@ -31,7 +31,7 @@
             "channelId": {
               "__rl": true,
               "mode": "name",
    -          "value": "#returns"
    +          "value": "#shipping"
             },
             "text": "new order",
             "otherOptions": {}
    orders: put back as it was before the run
      as it was a moment ago: memory/runs/20261122-122240-02fa9e/snapshots/002-orders-c3e66d69.json
    next: agentctl undo 20261122-122240-02fa9e --to 1 takes this undo back
    --- stderr
    this folder overrides the built-in pack: agents/policy.yaml
        orders put back to 001-orders-5631f9e8.json
    --- exit code 0
    "##);
}

#[test]
fn the_last_change_is_undone_and_brought_back() {
    let project = today();
    let left = fs::read(project.file(DAILY)).unwrap();
    insta::assert_snapshot!(told(&project, &["undo", CHANGED]), @r#"
    $ agentctl undo 20261122-122036-9dc021
    ~ "Schedule" rule interval 0 triggerAtHour: 8 → 9
    ~ "Schedule" rule interval 0 triggerAtMinute: 30 → 0

    @@ -16,8 +16,8 @@
                 {
                   "field": "days",
                   "daysInterval": 1,
    -              "triggerAtHour": 8,
    -              "triggerAtMinute": 30
    +              "triggerAtHour": 9,
    +              "triggerAtMinute": 0
                 }
               ]
             }
    every-day-at-9-00-tell-the-team-how: put back as it was before the run
      as it was a moment ago: memory/runs/20261122-122036-9dc021/snapshots/002-every-day-at-9-00-tell-the-team-how-79792e7f.json
    next: agentctl undo 20261122-122036-9dc021 --to 1 takes this undo back
    --- stderr
    this folder overrides the built-in pack: agents/policy.yaml
    run 20261122-122243-5ead52 waits for an answer; it is kept, `agentctl resume 20261122-122243-5ead52` goes on with it
        every-day-at-9-00-tell-the-team-how put back to 001-every-day-at-9-00-tell-the-team-how-6fe8200e.json
    --- exit code 0
    "#);
    let before = format!(
        "memory/runs/{CHANGED}/snapshots/001-every-day-at-9-00-tell-the-team-how-6fe8200e.json"
    );
    assert_eq!(
        fs::read(project.file(DAILY)).unwrap(),
        fs::read(project.file(&before)).unwrap()
    );
    insta::assert_snapshot!(told(&project, &["undo", CHANGED, "--to", "1"]), @r#"
    $ agentctl undo 20261122-122036-9dc021 --to 1
    ~ "Schedule" rule interval 0 triggerAtHour: 9 → 8
    ~ "Schedule" rule interval 0 triggerAtMinute: 0 → 30

    @@ -16,8 +16,8 @@
                 {
                   "field": "days",
                   "daysInterval": 1,
    -              "triggerAtHour": 9,
    -              "triggerAtMinute": 0
    +              "triggerAtHour": 8,
    +              "triggerAtMinute": 30
                 }
               ]
             }
    every-day-at-9-00-tell-the-team-how: put back as change 1 left it
      as it was a moment ago: memory/runs/20261122-122036-9dc021/snapshots/003-every-day-at-9-00-tell-the-team-how-6fe8200e.json
    next: agentctl undo 20261122-122036-9dc021 --to 2 takes this undo back
    --- stderr
    this folder overrides the built-in pack: agents/policy.yaml
        every-day-at-9-00-tell-the-team-how put back to 002-every-day-at-9-00-tell-the-team-how-79792e7f.json
    --- exit code 0
    "#);
    assert_eq!(fs::read(project.file(DAILY)).unwrap(), left);
    assert_eq!(project.run(&["runs", "verify"]).code, 0);
}

#[test]
fn a_workflow_is_taken_back_over_all_its_runs() {
    let project = today();
    let ended = project.run(&[
        "resume",
        KILLED,
        "--yes",
        "--no-input",
        "--allow-pack-change",
    ]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    insta::assert_snapshot!(told(&project, &["log", "--workflow", "support-intake"]), @r"
    $ agentctl log --workflow support-intake
    change 1: support-intake now 5 nodes 2026-11-22 12:20:16  builder update_workflow in run 20261122-122015-37c613 (record 67)
    change 2: support-intake now 5 nodes 2026-11-22 12:20:31  builder update_workflow in run 20261122-122027-de6e9b (record 63)
    next: agentctl undo --workflow support-intake --to N puts it as change N left it (0: as before the first)
    --- stderr
    this folder overrides the built-in pack: agents/policy.yaml
    --- exit code 0
    ");
    insta::assert_snapshot!(told(&project, &["diff", "--workflow", "orders", "--from", "0"]), @r##"
    $ agentctl diff --workflow orders --from 0
    --- orders, before the first change
    +++ orders, now
    ~ "Post" typeVersion: 2.95 → 2.7
    ~ "Post" channelId value: "#sales" → "#returns"

    @@ -19,7 +19,7 @@
           "id": "post",
           "name": "Post",
           "type": "n8n-nodes-base.slack",
    -      "typeVersion": 2.95,
    +      "typeVersion": 2.7,
           "position": [
             200,
             0
    @@ -31,7 +31,7 @@
             "channelId": {
               "__rl": true,
               "mode": "name",
    -          "value": "#sales"
    +          "value": "#returns"
             },
             "text": "new order",
             "otherOptions": {}
    --- stderr
    this folder overrides the built-in pack: agents/policy.yaml
    --- exit code 0
    "##);
    insta::assert_snapshot!(told(&project, &["undo", "--workflow", "orders", "--to", "0"]), @r##"
    $ agentctl undo --workflow orders --to 0
    ~ "Post" typeVersion: 2.7 → 2.95
    ~ "Post" channelId value: "#returns" → "#sales"

    @@ -19,7 +19,7 @@
           "id": "post",
           "name": "Post",
           "type": "n8n-nodes-base.slack",
    -      "typeVersion": 2.7,
    +      "typeVersion": 2.95,
           "position": [
             200,
             0
    @@ -31,7 +31,7 @@
             "channelId": {
               "__rl": true,
               "mode": "name",
    -          "value": "#returns"
    +          "value": "#sales"
             },
             "text": "new order",
             "otherOptions": {}
    orders: put back as it was before the first change that is kept
      as it was a moment ago: memory/runs/20261122-122240-02fa9e/snapshots/002-orders-c3e66d69.json
    next: agentctl undo 20261122-122240-02fa9e --to 1 takes this undo back
    --- stderr
    this folder overrides the built-in pack: agents/policy.yaml
        orders put back to 003-orders-53615b23.json
    --- exit code 0
    "##);
    assert_eq!(project.run(&["runs", "verify"]).code, 0);
}

#[test]
fn losses_are_counted_from_what_its_user_accepted_then() {
    let project = today();
    insta::assert_snapshot!(told(&project, &["accept", "support-intake", "--yes"]), @r"
    $ agentctl accept support-intake --yes
    accepted: losses of support-intake are counted from its 5 nodes of now
    --- stderr
    this folder overrides the built-in pack: agents/policy.yaml
    Support intake: nothing of it is lost, counted from 2026-11-22, when agentctl was about to change it for the first time
    --- exit code 0
    ");
}
