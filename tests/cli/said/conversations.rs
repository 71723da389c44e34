//! Packs, and conversations with them.

use crate::support::{Project, Ran};
use std::io::Write as _;
use std::process::Stdio;

#[test]
fn packs() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("packs list"), @"
    exit code 0
    assistant
      Assistant with agents for Jira, Confluence, GitLab, SharePoint and Trello
    front-door
      Front door for change requests
    n8n-builder (default)
      Builds, changes and checks n8n workflows
    n8n-copilot
      Copilot for one n8n workflow
    research
      Research team that checks what sources say
    ");
    insta::assert_snapshot!(project.said("packs show front-door"), @"
    exit code 0
    front-door: Front door for change requests
    begins with the flow: turn
    flows: turn
    agents: chat, elicitation, matcher, no_match, reviewer, supervisor
    orchestrators: none
    data: fields (data/fields.yaml), teams (data/teams.yaml), texts (data/texts.yaml)
    requires: none
    files of this project: none
    ");
    insta::assert_snapshot!(project.said("packs show font-door"), @r#"
    exit code 2
    -- stderr --
    error: there is no pack "font-door"
    hint: packs: assistant, front-door, n8n-builder, n8n-copilot, research; did you mean "front-door"?
    "#);
    insta::assert_snapshot!(project.said("packs check"), @"
    exit code 0
    assistant: 8 flows, 8 agents, 1 data file: no mistakes, 0 warnings
    front-door: 1 flow, 6 agents, 3 data files: no mistakes, 0 warnings
    n8n-builder: 2 flows, 6 agents, 1 data file: no mistakes, 0 warnings
    n8n-copilot: 5 flows, 6 agents, 1 data file: no mistakes, 0 warnings
    research: 7 flows, 5 agents, 2 data files: no mistakes, 0 warnings
    ");
    project.write(
        "packs/front-door/data/teams.yaml",
        "- {id: a, name: A}\n- [1, 2\n",
    );
    insta::assert_snapshot!(project.said("packs check front-door"), @"
    exit code 2
    -- stderr --
    error: packs/front-door/data/teams.yaml:2:3: cannot read the YAML: unclosed bracket '[' at line 2, column 3
    ");
    insta::assert_snapshot!(project.said("packs graph nobody"), @r#"
    exit code 2
    -- stderr --
    error: there is no pack "nobody"
    hint: packs: assistant, front-door, n8n-builder, n8n-copilot, research
    "#);
}

#[test]
fn one_turn_and_what_is_kept_of_it() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("chat front-door --session ann --quiet hello"), @"
    exit code 0
    Hello! What can I do for you?
    ");
    insta::assert_snapshot!(project.said("chat front-door --session ann --quiet /help"), @"
    exit code 0
    /clear    forget this conversation: messages and what was collected
    /compact  forget all but the last messages
    /log      the turns of this conversation
    /usage    what it has used
    /help     this
    ");
    insta::assert_snapshot!(project.said("chat back-door --session ann hello"), @r#"
    exit code 2
    -- stderr --
    error: there is no pack "back-door"
    hint: packs: assistant, front-door, n8n-builder, n8n-copilot, research
    "#);
    insta::assert_snapshot!(project.said("sessions show bob"), @r#"
    exit code 2
    -- stderr --
    error: there is no conversation "bob"
    hint: agentctl sessions list names them; agentctl chat PACK begins one
    "#);
    insta::assert_snapshot!(project.said("sessions clear ann"), @"
    exit code 0
    cleared: 2 messages and what was collected are gone; the journals of its runs stay until `agentctl sessions delete`
    ");
    insta::assert_snapshot!(project.said("sessions export ann --to ann.json"), @"
    exit code 0
    written to ann.json: 0 messages
    ");
    insta::assert_snapshot!(project.said("sessions import front-door bob --from ann.json"), @"
    exit code 0
    read into bob: 0 messages
    ");
    insta::assert_snapshot!(project.said("sessions adopt ann"), @"
    exit code 0
    ann is yours: its 0 messages and what it collected count from now on
    ");
    insta::assert_snapshot!(project.said("sessions delete ann"), @"
    exit code 4
    -- stderr --
    error: nothing was erased
    hint: --yes erases without asking
    ");
    insta::assert_snapshot!(project.said("sessions delete ann --yes"), @"
    exit code 0
    erased: 0 messages, 2 runs. What its runs handed on (files in memory/requests, calls of services) stays
    ");
    insta::assert_snapshot!(project.said("sessions list"), @"
    exit code 0
    [UUID]  bob  front-door, 0 messages, [DAY] [TIME]
    ");
}

#[test]
fn a_pack_of_ones_own() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("packs new desk"), @"
    exit code 0
    a new pack:
      packs/desk/pack.yaml
      packs/desk/agents/turn.flow.yaml
      packs/desk/agents/helper.md
      packs/desk/agents/policy.yaml
      packs/desk/agents/offline.yaml
      packs/desk/data/texts.yaml
      packs/desk/skills/house-rules/SKILL.md
      packs/desk/tests/first.yaml
    next: agentctl trust, then agentctl packs test desk, agentctl chat desk
    ");
    insta::assert_snapshot!(project.said("packs test desk"), @"
    exit code 0
    packs/desk/tests/first.yaml: 2 dialogues, 11 of 11
    2 dialogues: 11 of 11 expectations met
    -- stderr --
    the pack is this folder's own: packs/desk/agents/helper.md, packs/desk/agents/offline.yaml, packs/desk/agents/policy.yaml, packs/desk/agents/turn.flow.yaml, packs/desk/data/texts.yaml, packs/desk/pack.yaml, packs/desk/skills/house-rules/SKILL.md
    ");
}

#[test]
fn a_flow_once() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("run front-door/missing hello"), @r#"
    exit code 2
    -- stderr --
    error: the pack front-door has no flow "missing"
    hint: its flows: turn
    "#);
    insta::assert_snapshot!(project.said("run front-door --input nothing.json hello"), @"
    exit code 2
    -- stderr --
    error: cannot read the input nothing.json: No such file or directory (os error 2)
    ");
}

#[test]
fn tools_list_show_and_check() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("tools list --pack assistant"), @"
    exit code 0
    agent_workflows [n8n, mock] Lists the published n8n workflows with the tag agent-tool, each with its id, its name, what it does, its nodes and the JSON Schema of what it takes.
    ask_confluence [flow, real] Use this tool when the user wants something in Confluence.
    ask_gitlab [flow, real] Use this tool when the user wants something in GitLab.
    ask_jira [flow, real] Use this tool when the user wants something in Jira.
    ask_sharepoint [flow, real] Use this tool when the user wants something in SharePoint.
    ask_system [flow, real] Use this tool when the user wants something in PDF files and the company's notes.
    ask_trello [flow, real] Use this tool when the user wants something in Trello.
    ask_workflows [flow, real] Use this tool when the user wants something with workflows or automation in n8n.
    build_workflow [pack, real] Hands a wish to the copilot, which builds an n8n workflow from it, changes the one that it built in this conversation, or answers a question about it.
    current_user_execute_tool [http, mock] Executes one of the tools that current_user_tools listed for this user, for example to search issues, read or create pages, move cards or make a PDF.
    current_user_tools [http, mock] Always call this first to see which tools the current user has in a system.
    run_workflow [n8n, mock] Runs one of the workflows that agent_workflows listed and waits for its end.
    ");
    insta::assert_snapshot!(project.said("tools list --pack front-door"), @r#"
    exit code 0
    hand_over [pack, real] Hands a submitted request to another pack, which drafts what was asked for in a run of its own.
    "#);
    insta::assert_snapshot!(project.said("tools show ask_jira --pack assistant"), @r#"
    exit code 0
    ask_jira (flow, changes, real)
    Use this tool when the user wants something in Jira. This includes:
    - searching for issues, tickets, bugs and tasks
    - reading an issue, its status and its comments
    - creating issues, adding comments, assigning, moving to another status
    - reading a sprint with its tickets and story points
    The agent remembers nothing: taskDescription must say the whole task, with all facts from the conversation and from other agents.
    parameters: {"type":"object","properties":{"taskDescription":{"type":"string","description":"What this agent shall do, with everything that it needs to know","minLength":1}},"required":["taskDescription"],"additionalProperties":false}
    bound by the program: tenantID = has(input.tenantId) ? input.tenantId : 'local', userID = has(input.userId) ? input.userId : 'you', locale = has(input.locale) ? input.locale : 'en-US', userPrompt = input.message
    file: built-in packs/assistant/tools/ask_jira/tool.yaml

    # ask_jira
    The agent for Jira: tickets, comments, transitions, assignees and sprints.

    It is the flow `jira` (`agents/sub_agent.flow.yaml`). The main agent says `taskDescription`; tenant, user, language and the user's own words are bound. The agent remembers nothing, so the task has to hold every fact.

    **Gives** `{output, data, attachment}`. `data.error` says what kept it: `missing_parameter` (with `parameter`), `no_tools`, `tool_failed`, `timeout`, `refused`, `unknown`.

    **Tests.** A flow works only in a run: `agentctl packs test assistant` (`tests/scenarios.yaml`).
    "#);
    insta::assert_snapshot!(project.said("tools show ask_nobody --pack assistant"), @r#"
    exit code 2
    -- stderr --
    error: the pack has no tool "ask_nobody"
    hint: its tools: agent_workflows, ask_confluence, ask_gitlab, ask_jira, ask_sharepoint, ask_system, ask_trello, ask_workflows, build_workflow, current_user_execute_tool, current_user_tools, run_workflow
    "#);
    insta::assert_snapshot!(project.said("tools check --pack assistant"), @"
    exit code 0
    built-in packs/assistant/tools/agent_workflows/tool.yaml: the embedded backend executes no workflows (agentctl doctor says how an n8n is connected), so the real tool cannot be called here
    built-in packs/assistant/tools/current_user_execute_tool/tool.yaml: INTEGRATION_URL, INTEGRATION_USER and INTEGRATION_PASSWORD are not set, so the real tool cannot be called here
    built-in packs/assistant/tools/current_user_tools/tool.yaml: INTEGRATION_URL, INTEGRATION_USER and INTEGRATION_PASSWORD are not set, so the real tool cannot be called here
    built-in packs/assistant/tools/run_workflow/tool.yaml: the embedded backend executes no workflows (agentctl doctor says how an n8n is connected), so the real tool cannot be called here
    12 tools, 4 remarks
    ");
    project.write(
        "packs/assistant/tools/ask_jira/tool.yaml",
        "tool_id: ask_jira\nname: Jira\ndescription: Jira integration\nkind: flows\n",
    );
    insta::assert_snapshot!(project.said("tools check --pack assistant"), @r#"
    exit code 2
    -- stderr --
    error: built-in packs/assistant/agents/policy.yaml:3:41: "ask_jira" is no capability; there are list-workflows, get-workflow, create-workflow, update-workflow, edit-structure, edit-parameters, read-parameters, validate-part, autofix-workflow, note-todo, rollback-workflow, restore-workflow, show-workflow, delete-workflow, validate-draft, draft-workflow, qa-workflows, validate-final, activate-workflow, trigger-workflow, read-executions, read-versions, search-nodes, search-templates, node-schema, check-nodes, read-skills, best-practices, read-learnings, write-learnings, submit-request, agent_workflows, ask_confluence, ask_gitlab, ask_sharepoint, ask_system, ask_trello, ask_workflows, build_workflow, current_user_execute_tool, current_user_tools, run_workflow, delegate; did you mean "ask_gitlab"?
    packs/assistant/tools/ask_jira/tool.yaml:4:7: "flows" is no kind of tool; there are flow, http, builtin, mcp, n8n, exec, a2a, pack, search, fetch
    hint: agentctl packs check assistant lists the same; a project file overrides the built-in one of the same name
    "#);
}

#[test]
fn tools_guard() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("tools guard"), @"exit code 0");
    let say = |lines: &str| {
        let mut command = project.command(&["tools", "guard"]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(lines.as_bytes())
            .unwrap();
        let ran = Ran::from(child.wait_with_output().unwrap());
        format!("exit code {}\n{}{}", ran.code, ran.stdout, ran.stderr)
    };
    let lines = [
        r#"{"id": 1, "sentence": "I'll do it at once."}"#,
        r#"{"id": 2, "sentence": "I created the page.", "evidence": [{"tool": "create_page", "effect": "changes", "status": "unknown"}]}"#,
        r#"{"id": 3, "sentence": "I created the page.", "evidence": [{"tool": "create_page", "effect": "changes", "status": "ok"}]}"#,
    ];
    insta::assert_snapshot!(say(&lines.join("\n")), @r#"
    exit code 0
    {"id":1,"label":"promise"}
    {"id":2,"label":"contradicts_failure"}
    {"id":3,"label":"fine"}
    "#);
    insta::assert_snapshot!(say("{"), @"
    exit code 2
    error: line 1: EOF while parsing an object at line 1 column 1
    ");
}

#[cfg(not(feature = "restate"))]
#[test]
fn a_worker_that_was_not_built() {
    insta::assert_snapshot!(Project::new().said("worker --restate http://127.0.0.1:9070"), @"
    exit code 2
    -- stderr --
    error: this agentctl was built without workers of Restate
    hint: cargo install --path . --features restate builds one that has them (docs/restate.md)
    ");
}

#[test]
fn what_would_be_served() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("serve --check"), @r#"
    exit code 0
    listens on 127.0.0.1:[PORT]
    sessions: in memory/agentctl.db
    turns: 32 at once, each for at most 110 s; 30 s to end when it is stopped
    packs: assistant, front-door, n8n-builder, n8n-copilot, research
      assistant: POST /hooks/assistant, POST /chat/assistant, model "assistant" of /v1, A2A /agents/assistant
      front-door: POST /hooks/front-door, POST /chat/front-door, model "front-door" of /v1, A2A /agents/front-door
      n8n-builder: POST /chat/n8n-builder, model "n8n-builder" of /v1, A2A /agents/n8n-builder
      n8n-copilot: POST /chat/n8n-copilot, model "n8n-copilot" of /v1, A2A /agents/n8n-copilot
      research: POST /chat/research, model "research" of /v1, A2A /agents/research
      of all: GET /v1/models, /runs, /sessions, /files, /a2a, /.well-known/agent-card.json, /healthz, /readyz
      /mcp: off ([serve.mcp] says whose tools)
    clients:
      local (bearer): all packs; may turn, read, approve, cancel, admin, oversee; speaks for itself alone; any number of requests
    -- stderr --
    tools: current_user_execute_tool, current_user_tools answer from mock data (INTEGRATION_URL, INTEGRATION_USER and INTEGRATION_PASSWORD are not set)
    tools: agent_workflows, run_workflow answer from mock data (the embedded backend executes no workflows (agentctl doctor says how an n8n is connected))
    "#);
}

#[test]
fn tools_that_are_called_and_found() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("tools test --pack assistant"), @"
    exit code 0
    agent_workflows · those that may be run: ok
    build_workflow · a wish, whole: ok
    build_workflow · nothing is wished: ok
    current_user_execute_tool · the open tickets: ok
    current_user_execute_tool · a required parameter is not there: ok
    current_user_execute_tool · a tool of another system: ok
    current_user_execute_tool · nothing was listed before: ok
    current_user_tools · the tools of a user who has Jira: ok
    current_user_tools · nothing is set up: ok
    current_user_tools · a system that there is not: ok
    run_workflow · the weekly report of a team: ok
    run_workflow · without what it takes: ok
    run_workflow · one that was not listed: ok
    13 calls, 0 wrong, 0 left out
    ");
    insta::assert_snapshot!(project.said("tools call ask_jira --pack assistant"), @r#"
    exit code 2
    -- stderr --
    error: ask_jira is a flow, which works only in a run
    hint: agentctl chat PACK "…" has agents call it
    "#);
    insta::assert_snapshot!(project.said("tools call current_user_tools --arg tool_type=jira --bind tenantID=t --bind userID=without-jira --pack assistant"), @r#"
    exit code 0
    ok
    {   "tools": [],   "mock": true,   "effect": "reads" }
    "#);
    insta::assert_snapshot!(project.said("tools discover trello --pack assistant --explain"), @"
    exit code 0
    0.768 ask_trello  = 4.18 (words) × 1.00 (health) × 0.21 (useful at least) − 0.10 (cost, time)
    ");
    insta::assert_snapshot!(project.said("tools stats --pack assistant"), @"
    exit code 0
    agent_workflows: 0 calls in 0 steps, 0 ok, 0 refused, helped 0 (at least 0.21), 0 ms
    ask_confluence: 0 calls in 0 steps, 0 ok, 0 refused, helped 0 (at least 0.21), 0 ms
    ask_gitlab: 0 calls in 0 steps, 0 ok, 0 refused, helped 0 (at least 0.21), 0 ms
    ask_jira: 0 calls in 0 steps, 0 ok, 0 refused, helped 0 (at least 0.21), 0 ms
    ask_sharepoint: 0 calls in 0 steps, 0 ok, 0 refused, helped 0 (at least 0.21), 0 ms
    ask_system: 0 calls in 0 steps, 0 ok, 0 refused, helped 0 (at least 0.21), 0 ms
    ask_trello: 0 calls in 0 steps, 0 ok, 0 refused, helped 0 (at least 0.21), 0 ms
    ask_workflows: 0 calls in 0 steps, 0 ok, 0 refused, helped 0 (at least 0.21), 0 ms
    build_workflow: 0 calls in 0 steps, 0 ok, 0 refused, helped 0 (at least 0.21), 0 ms
    current_user_execute_tool: 0 calls in 0 steps, 0 ok, 0 refused, helped 0 (at least 0.21), 0 ms
    current_user_tools: 0 calls in 0 steps, 0 ok, 0 refused, helped 0 (at least 0.21), 0 ms
    run_workflow: 0 calls in 0 steps, 0 ok, 0 refused, helped 0 (at least 0.21), 0 ms
    ");
    insta::assert_snapshot!(project.said("packs export assistant --to n8n exported"), @"
    exit code 0
    exported/confluence_agent.json
    exported/gitlab_agent.json
    exported/jira_agent.json
    exported/sharepoint_agent.json
    exported/system_agent.json
    exported/trello_agent.json
    exported/main_agent.json
    next: agentctl qa exported/*.json; import them into n8n in this order, choose the credentials there (or name them with --credential), and set INTEGRATION_URL and ASSISTANT_MODEL for it (or write them in with --set)
    -- stderr --
    left out: built-in packs/assistant/tools/build_workflow/tool.yaml: n8n has no node for a tool of the kind pack
    ");
    insta::assert_snapshot!(project.said("packs export front-door --to n8n exported"), @"
    exit code 2
    -- stderr --
    error: the pack front-door has no agent that calls other agents, so there is no main agent to begin with
    ");
}
