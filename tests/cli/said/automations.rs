//! n8n's node types, its workflows in files, and a development n8n.

use crate::connected::editor;
use crate::support::Project;
use crate::wire::{Reply, Server};
use serde_json::json;

/// In a project that is connected to this n8n.
fn on(project: &Project, n8n: &Server, typed: &str) -> String {
    let mut command = project.command(&["--backend", "rest"]);
    command
        .env("N8N_API_URL", n8n.url(""))
        .env("N8N_API_KEY", "a-key");
    project.saying(command, typed)
}

/// The two answers that finding a workflow by its id takes: the list of those of this name, and the workflow.
fn orders() -> Vec<Reply> {
    let workflow = json!({
        "id": "w1", "name": "Orders", "active": false, "isArchived": false, "versionId": "v-1",
        "createdAt": "2026-01-01T00:00:00.000Z", "updatedAt": "2026-01-02T00:00:00.000Z",
        "nodes": [{"id": "n1", "name": "Start", "type": "n8n-nodes-base.manualTrigger", "typeVersion": 1, "position": [0, 0], "parameters": {}}],
        "connections": {}, "settings": {"executionOrder": "v1"}, "staticData": null, "meta": null, "pinData": null, "tags": []
    });
    let list = json!({"data": [], "nextCursor": null});
    [list, workflow]
        .iter()
        .map(|body| Reply::text(&body.to_string()))
        .collect()
}

/// The list, the workflow, and then the page that tells the release.
fn orders_and_release(release: &str) -> Vec<Reply> {
    let mut replies = orders();
    replies.push(editor(release));
    replies
}

#[test]
fn catalog_search_and_show() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("catalog search google sheet"), @r#"
    exit code 0
    100  n8n-nodes-base.googleSheets  Google Sheets  label "Google Sheets"
     91  n8n-nodes-base.googleSheetsTrigger  Google Sheets Trigger trigger  label "Google Sheets Trigger"
     68  n8n-nodes-base.dataTable  Data table  alias "sheet"
     68  n8n-nodes-base.microsoftExcel  Microsoft Excel (OneDrive)  alias "Sheet"
     68  n8n-nodes-base.microsoftExcelSharePoint  Microsoft Excel (SharePoint)  alias "Sheet"
     53  n8n-nodes-base.spreadsheetFile  Spreadsheet File  alias "Sheet"
     34  n8n-nodes-base.googleAds  Google Ads  matches google
     34  n8n-nodes-base.googleChat  Google Chat  matches google
     34  n8n-nodes-base.googleDocs  Google Docs  matches google
     34  n8n-nodes-base.googleBooks  Google Books  matches google
    "#);
    insta::assert_snapshot!(project.said("catalog search xyzzy"), @r#"
    exit code 0
    no node type matches "xyzzy"; an HTTP Request node (n8n-nodes-base.httpRequest) reaches any web API
    "#);
    insta::assert_snapshot!(project.said("catalog search"), @r"
    exit code 2
    -- stderr --
    error: the following required arguments were not provided:
      <WORDS>...

    Usage: agentctl catalog search <WORDS>...

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(project.said("catalog show slack"), @r"
    exit code 0
    Slack (n8n-nodes-base.slack)
    versions 1, 2, 2.1, 2.2, 2.3, 2.4, 2.5, 2.6, 2.7 (default 2.7, shown 2.7)

    operations:
      channel: archive, close, create, get, getAll, history, invite, join, kick, leave, member, open, rename, replies, setPurpose, setTopic, unarchive
      file: get, getAll, upload
      message: delete, deleteScheduled, getManyScheduled, getPermalink, schedule, search, post, sendAndWait, update
      reaction: add, get, remove
      star: add, delete, getAll
      user: info, getAll, getProfile, getPresence, lookupByEmail, updateProfile
      userGroup: updateUsers, create, disable, enable, getAll, getUsers, update

    next: agentctl catalog show n8n-nodes-base.slack --resource channel --operation archive
    ");
    insta::assert_snapshot!(project.said("catalog show slack --resource message --operation post"), @r"
    exit code 0
    n8n-nodes-base.slack v2.7 (Slack) resource=message operation=post
    credentials: slackApi*, slackOAuth2Api* [if authentication=oAuth2]
    - authentication options accessToken|oAuth2 = accessToken
    - select* options channel|user
    - channelId* resourceLocator mode list|id|name|url [if select=channel]
    - user resourceLocator mode list|id|username [if select=user]
    - messageType options text|block|attachment = text
    - text* string
    - blocksUi* string [if messageType=block]
    - attachments collection {fallback, text, title, title_link, color, pretext, author_name, author_link, author_icon, image_url, thumb_url, footer, +3} [if messageType=attachment]
    - otherOptions collection {includeLinkToWorkflow, botProfile, link_names, thread_ts, mrkdwn, unfurl_links, unfurl_media, ephemeral, sendAsUser}
    ");
    insta::assert_snapshot!(project.said("catalog show slakc"), @r#"
    exit code 2
    -- stderr --
    error: the catalog has no node type "slakc"
    hint: did you mean n8n-nodes-base.slack, n8n-nodes-base.slackTrigger?
    "#);
}

#[test]
fn catalog_build_sync_and_diff() {
    let project = Project::new();
    const TYPES: &str = r#"[{"name": "acme.noOp", "displayName": "Acme", "version": 1, "defaultVersion": 1, "group": ["organization"], "inputs": ["main"], "outputs": ["main"], "properties": []}]"#;
    project.write("nodes.json", TYPES);
    const USES: &str = r#"{"name": "a", "nodes": [{"id": "1", "name": "A", "type": "acme.noOp", "typeVersion": 1, "position": [0, 0], "parameters": {}}], "connections": {}}"#;
    project.write("workflows/a.json", USES);
    insta::assert_snapshot!(project.said("catalog build nodes.json -o catalog.bin --n8n-version 2.39.4"), @r"
    exit code 0
    catalog.bin: 1 node types, 1 type-version pairs, 290 bytes, sha-256 of the facts [HASH]
    ");
    insta::assert_snapshot!(project.said("catalog build nowhere.json -o catalog.bin"), @r"
    exit code 1
    -- stderr --
    error: cannot read nowhere.json: No such file or directory (os error 2)
    ");
    insta::assert_snapshot!(project.said("catalog sync"), @r"
    exit code 2
    -- stderr --
    error: no n8n is connected, so there is none to ask for its node types
    hint: name its address or its types/nodes.json: agentctl catalog sync URL|FILE; or its release: --n8n-version 2.39.4; or connect one (docs/live.md)
    ");
    insta::assert_snapshot!(project.said("catalog sync nodes.json --n8n-version 2.39.4"), @r"
    exit code 0
    ./n8n-catalog.bin: n8n 2.39.4, 1 node types (1 that agentctl does not know by itself)
    it counts once this folder is trusted: agentctl trust
    ");
    insta::assert_snapshot!(project.said("catalog diff embedded project"), @"
    exit code 0
    acme.noOp
      + type added : Acme
    1 workflow with 1 type-version pair: 1 change, 0 of them may break a workflow
    ");
    insta::assert_snapshot!(project.said("catalog diff embedded nowhere.bin"), @r"
    exit code 1
    -- stderr --
    error: cannot read nowhere.bin: No such file or directory (os error 2)
    ");
}

#[test]
fn pull() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("pull w1"), @r"
    exit code 2
    -- stderr --
    error: no n8n is connected: this project works on the embedded backend
    hint: name one in .mcp.json, or with --backend; `agentctl n8n up --write-mcp` starts one to develop against
    ");
    let n8n = Server::new(orders());
    insta::assert_snapshot!(on(&project, &n8n, "pull w1"), @"
    exit code 0
    ./workflows/orders.json: written (Orders, 1 node, `w1`)
    -- stderr --
    n8n: rest (--backend rest)
    ");
    let n8n = Server::new(vec![orders().remove(0), Reply::error(404, "not found")]);
    insta::assert_snapshot!(on(&project, &n8n, "pull w2"), @r"
    exit code 1
    -- stderr --
    n8n: rest (--backend rest)
    error: n8n has no workflow `w2`
    hint: `agentctl workflows list` shows the workflows that exist
    ");
}

#[test]
fn push() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("push nowhere.json"), @r"
    exit code 2
    -- stderr --
    error: nowhere.json is not there
    ");
    let n8n = Server::new(orders());
    let pulled = on(&project, &n8n, "pull w1 orders.json");
    assert!(pulled.starts_with("exit code 0"), "{pulled}");
    let text = std::fs::read_to_string(project.file("orders.json")).unwrap();
    project.write("orders.json", &text.replace("Start", "Begin"));
    let n8n = Server::new(orders_and_release("2.39.4"));
    insta::assert_snapshot!(on(&project, &n8n, "push orders.json --dry-run"), @r#"
    exit code 0

    Orders (1 node)

    Begin · manualTrigger

    ~ node "Start" renamed "Begin"

    @@ -3,7 +3,7 @@
       "nodes": [
         {
           "id": "n1",
    -      "name": "Start",
    +      "name": "Begin",
           "type": "n8n-nodes-base.manualTrigger",
           "typeVersion": 1,
           "position": [

    warning: n8n/no-trigger the workflow starts by hand only; n8n publishes it once it has a trigger such as a schedule or a webhook
    orders.json: would be updated `w1`
    -- stderr --
    n8n: rest (--backend rest)
    "#);
    // A version that this n8n lacks.
    let newer = text.replace("manualTrigger", "httpRequest");
    project.write(
        "orders.json",
        &newer.replace("\"typeVersion\": 1", "\"typeVersion\": 9.9"),
    );
    let n8n = Server::new(orders_and_release("2.39.4"));
    let refused = on(&project, &n8n, "push orders.json");
    assert!(refused.starts_with("exit code 5"), "{refused}");
    assert!(
        refused.contains("n8n-nodes-base.httpRequest has no version 9.9"),
        "{refused}"
    );
    assert!(refused.contains("--allow versions"), "{refused}");
}

/// A new workflow is shown as a tree with what is left to do: the lines of its whole document say no more.
#[test]
fn a_push_of_a_new_workflow_is_shown_as_it_would_be() {
    let project = Project::new();
    let request = "When a webhook receives an order over 100 EUR, post it to Slack #sales";
    assert_eq!(project.run(&["build", "--yes", request]).code, 0);
    let file = format!("workflows/{}", project.workflows().first().unwrap());
    let list = Reply::text(&json!({"data": [], "nextCursor": null}).to_string());
    let n8n = Server::new(vec![list, editor("2.39.4")]);
    insta::assert_snapshot!(on(&project, &n8n, &format!("push {file} --dry-run")), @r#"
    exit code 0

    Orders over 100 EUR to Slack (3 nodes)

    Webhook · webhook (POST, orders-over-100-eur-to-slack)
    └─ Only amount > 100 · filter
       └─ Slack: Send message · slack (message, post, #sales, ={{ JSON.stringify($json.body, null…)

    left to do: [Slack: Send message] connect a credential: Slack API
    warning: n8n/credential [Slack: Send message] still to connect: Slack API
    workflows/orders-over-100-eur-to-slack.json: would be created
    -- stderr --
    n8n: rest (--backend rest)
    "#);
}

#[test]
fn n8n() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("n8n status"), @r"
    exit code 7
    no development n8n here; `agentctl n8n up` starts one
    ");
    insta::assert_snapshot!(project.said("n8n down"), @r"
    exit code 0
    n8n was not running
    ");
    let mut command = project.command(&[]);
    command.env("PATH", project.path());
    insta::assert_snapshot!(project.saying(command, "n8n up --cache cache"), @r"
    exit code 1
    -- stderr --
    fetching Node.js for n8n (node-[PLATFORM]@24)
    error: npm is missing: n8n is installed with it
    hint: install Node.js 22.16 or newer, which brings npm (nodejs.org)
    ");
}

#[test]
fn test() {
    let project = Project::new();
    project.write("odd.case.yaml", "name: odd\nexpect:\n  state: 200\n");
    insta::assert_snapshot!(project.said("test Orders odd.case.yaml"), @"
    exit code 2
    -- stderr --
    error: odd.case.yaml:3:3: unknown field `state`, expected one of status, answer, answer_has, answer_not, nodes at line 3, column 3
    hint: a case has name, expect, and where it needs them workflow, start, input, mocks (docs/testing.md)
    ");
    project.write("good.case.yaml", "name: good\nexpect: {status: 200}\n");
    insta::assert_snapshot!(project.said("test Orders good.case.yaml"), @"
    exit code 2
    -- stderr --
    error: no n8n is connected: this project works on the embedded backend
    hint: name one in .mcp.json, or with --backend; `agentctl n8n up --write-mcp` starts one to develop against
    ");
    let n8n = Server::new(orders());
    insta::assert_snapshot!(on(&project, &n8n, "test w1"), @r#"
    exit code 2
    -- stderr --
    n8n: rest (--backend rest)
    error: there is no case for "Orders" in tests/*.case.yaml, and no build has tried one
    hint: write one: name, input, mocks, expect (docs/testing.md has an example), or name its file
    "#);
}

/// A list of the API.
fn listed(data: serde_json::Value) -> Vec<Reply> {
    vec![Reply::text(
        &json!({"data": data, "nextCursor": null}).to_string(),
    )]
}

#[test]
fn workflows() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("workflows list"), @"
    exit code 2
    -- stderr --
    error: no n8n is connected: this project works on the embedded backend
    hint: name one in .mcp.json, or with --backend; `agentctl n8n up --write-mcp` starts one to develop against
    ");
    let one = |id: &str, name: &str, active: bool| json!({"id": id, "name": name, "active": active, "isArchived": false, "nodes": [], "connections": {}, "settings": {}, "tags": []});
    let n8n = Server::new(listed(json!([
        one("w2", "Zeta", false),
        one("w1", "Alpha", true)
    ])));
    insta::assert_snapshot!(on(&project, &n8n, "workflows list"), @"
    exit code 0
    w1  Alpha  active    0 nodes
    w2  Zeta   inactive  0 nodes
    -- stderr --
    n8n: rest (--backend rest)
    ");
    let n8n = Server::new(orders());
    insta::assert_snapshot!(on(&project, &n8n, "workflows activate w1"), @r#"
    exit code 5
    -- stderr --
    n8n: rest (--backend rest)
    error: refused (guard.publish): the trigger of "Orders" fires from then on; that needs the user's word, and nobody can be asked here: the user can do it in n8n, or with `agentctl build --workflow ID "…"`, which asks
    hint: --yes does it without asking
    "#);
    let n8n = Server::new(orders());
    insta::assert_snapshot!(on(&project, &n8n, "workflows deactivate w1"), @r#"
    exit code 5
    -- stderr --
    n8n: rest (--backend rest)
    error: refused (guard.owner): the workflow "Orders" is not one that this run made and nobody else changed; that needs the user's word, and nobody can be asked here: the user can do it in n8n, or with `agentctl build --workflow ID "…"`, which asks
    hint: --yes does it without asking
    "#);
}

#[test]
fn executions_and_credentials() {
    let project = Project::new();
    let ran = json!([{"id": 7, "workflowId": "w1", "status": "error", "startedAt": "2026-01-02T00:00:00.000Z", "stoppedAt": null, "finished": false, "mode": "webhook"}]);
    let n8n = Server::new(listed(ran));
    insta::assert_snapshot!(on(&project, &n8n, "executions list --status error"), @"
    exit code 0
    7  error  [MOMENT]  w1
    -- stderr --
    n8n: rest (--backend rest)
    ");
    let n8n = Server::new(listed(
        json!([{"id": "c1", "name": "Sales", "type": "slackApi"}, {"id": "c2", "name": "CRM", "type": "httpHeaderAuth"}]),
    ));
    insta::assert_snapshot!(on(&project, &n8n, "credentials list --type slackApi"), @"
    exit code 0
    c1  slackApi  Sales
    -- stderr --
    n8n: rest (--backend rest)
    ");
}
