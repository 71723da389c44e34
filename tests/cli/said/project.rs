//! The project folder and this machine.

use crate::support::Project;

#[test]
fn init() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("init shop"), @r#"
    exit code 0
    set up shop:
      shop/workflows
      shop/memory
      shop/memory/README.md
      shop/memory/.gitignore
      shop/.mcp.json.example
      shop/.mcp.json.full.example
      shop/agentctl.toml
      shop/memory/schemas/settings.schema.json
      shop/.gitignore
    next: cd shop && agentctl build "Every day at 9:00 post the open Jira bugs to Slack #dev"
    "#);
    insta::assert_snapshot!(project.said("init shop"), @r#"
    exit code 0
    shop is set up already
    next: cd shop && agentctl build "Every day at 9:00 post the open Jira bugs to Slack #dev"
    "#);
    project.write("taken", "a file");
    insta::assert_snapshot!(project.said("init taken"), @r"
    exit code 1
    -- stderr --
    error: cannot read taken/.gitignore: Not a directory (os error 20)
    ");
}

#[test]
fn trust() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("trust --show"), @r"
    exit code 0
    .: nothing to trust
    ");
    project.write(
        "skills/mine/SKILL.md",
        "---\nname: mine\ndescription: What is mine\n---\nKeep it.\n",
    );
    insta::assert_snapshot!(project.said("trust --show"), @r"
    exit code 0
    .: restricted
      skills/mine (skill) new
        texts that agents are given
    for CI: AGENTCTL_TRUST=[HASH]
    let them: agentctl trust
    ");
    insta::assert_snapshot!(project.said("trust --yes"), @r"
    exit code 0
    .: trusted
      skills/mine (skill) trusted
        texts that agents are given
    for CI: AGENTCTL_TRUST=[HASH]
    ");
    insta::assert_snapshot!(project.said("trust --show"), @r"
    exit code 0
    .: trusted
      skills/mine (skill) trusted
        texts that agents are given
    for CI: AGENTCTL_TRUST=[HASH]
    ");
    insta::assert_snapshot!(project.said("trust --revoke"), @r"
    exit code 0
    .: not trusted any more; it works restricted
    ");
    insta::assert_snapshot!(project.said("trust --yes nowhere"), @r"
    exit code 2
    -- stderr --
    error: there is no folder nowhere
    ");
}

#[test]
fn doctor() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("doctor"), @"
    exit code 0
    agentctl [VERSION]
    ✓ project: [PROJECT]
    ✓ trust: the folder overrides nothing
    ✓ pack assistant: 8 agents (0 of this project), 8 skills, flow assistant
    - tools of assistant: current_user_execute_tool, current_user_tools: INTEGRATION_URL, INTEGRATION_USER and INTEGRATION_PASSWORD are not set
      hint: until then their mocks answer
    ✓ pack front-door: 6 agents (0 of this project), 8 skills, flow front-door
    ✓ pack n8n-builder: 6 agents (0 of this project), 8 skills, flow n8n-builder
    ✓ pack n8n-copilot: 6 agents (0 of this project), 8 skills, flow n8n-copilot
    ✓ pack research: 5 agents (0 of this project), 8 skills, flow research
    ✓ searches of research: in its own documents, or those of --corpus
      hint: AGENTCTL_WEB_SEARCH=duckduckgo|google_cse|searxng|tavily searches the web
    ✓ catalog: n8n 2.39.4: 565 node types, 1001 type-version pairs
    ✓ model: offline (no key, no network; reads plain requests)
    ✓ backend: embedded (no .mcp.json names an n8n): workflow files in workflows/; it cannot execute workflows, tests are reported as not executed
    - runs: none yet
    ✓ sessions: in memory/agentctl.db
    ✓ serve: assistant, front-door, n8n-builder, n8n-copilot, research on http://127.0.0.1:[PORT]; clients: local (bearer)
      hint: agentctl serve --check tells each door
    - mcp: no .mcp.json; the embedded backend needs none
    ");
    project.write("agentctl.toml", "[models]\ndefault = 7\n");
    insta::assert_snapshot!(project.said("doctor"), @"
    exit code 1
    agentctl [VERSION]
    ✓ project: [PROJECT]
    ✓ trust: trusted, the one item of it
    ✓ pack assistant: 8 agents (0 of this project), 8 skills, flow assistant
    ✓ pack front-door: 6 agents (0 of this project), 8 skills, flow front-door
    ✓ pack n8n-builder: 6 agents (0 of this project), 8 skills, flow n8n-builder
    ✓ pack n8n-copilot: 6 agents (0 of this project), 8 skills, flow n8n-copilot
    ✓ pack research: 5 agents (0 of this project), 8 skills, flow research
    ✓ searches of research: in its own documents, or those of --corpus
      hint: AGENTCTL_WEB_SEARCH=duckduckgo|google_cse|searxng|tavily searches the web
    ✓ catalog: n8n 2.39.4: 565 node types, 1001 type-version pairs
    - model: the agents cannot be read
    ✗ backend: ./agentctl.toml:2: invalid type: integer `7`, expected a string
      hint: what can stand there: docs/models.md
    - runs: none yet
    ✗ sessions: ./agentctl.toml:2: invalid type: integer `7`, expected a string
      hint: what can stand there: docs/models.md
    ! serve: ./agentctl.toml:2: invalid type: integer `7`, expected a string
      hint: what can stand there: docs/models.md
    - mcp: no .mcp.json; the embedded backend needs none
    ");
}

#[test]
fn completions_and_man() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("completions tcsh"), @r"
    exit code 2
    -- stderr --
    error: invalid value 'tcsh' for '<SHELL>'
      [possible values: bash, elvish, fish, powershell, zsh]

      tip: a similar value exists: 'zsh'

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(project.said("man --dir man1"), @r"exit code 0");
    project.write("taken", "a file");
    insta::assert_snapshot!(project.said("man --dir taken"), @r"
    exit code 1
    -- stderr --
    error: cannot make the folder taken: File exists (os error 17)
    ");
    insta::assert_snapshot!(project.said("no-such-command"), @r"
    exit code 2
    -- stderr --
    error: unrecognized subcommand 'no-such-command'

    Usage: agentctl [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
}

#[test]
fn bench() {
    let project = Project::new();
    project.write("requests.json", crate::bench::REQUESTS);
    insta::assert_snapshot!(project.said("bench requests.json"), @r"
    exit code 0
    model offline

                        requests  whole     items met
    all                        3      2      16 of 17   94.1 %

    kind build                 2      1      11 of 12   91.7 %
    kind modify                1      1        5 of 5  100.0 %

    lang de                    1      1        5 of 5  100.0 %
    lang en                    2      1      11 of 12   91.7 %

    not whole:
    r02  5/6  nodes[0]
    -- stderr --
    1 of 3: r01 6/6
    2 of 3: r02 5/6
    3 of 3: r03 5/5
    ");
    project.write(
        "requests.json",
        "[\n  {\"id\": \"a\", \"kind\": \"built\"}\n]",
    );
    insta::assert_snapshot!(project.said("bench requests.json"), @r"
    exit code 2
    -- stderr --
    error: requests.json:2:29: unknown variant `built`, expected one of `build`, `modify`, `clarify`, `refuse`
    hint: docs/bench.md says what a request and its expectations are made of
    ");
}

#[test]
fn schema() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("schema"), @"
    exit code 0
    a2a-approve          agentctl a2a approve --output-format json
    a2a-card             agentctl a2a card --output-format json
    a2a-envelope         Messages of the envelope façade of agentctl serve (docs/a2a.md)
    a2a-keygen           agentctl a2a keygen --output-format json
    a2a-sign-card        agentctl a2a sign-card --output-format json
    a2a-task             agentctl a2a send, get, watch, cancel --output-format json
    a2a-verify           agentctl a2a verify --output-format json
    accept               agentctl accept --output-format json
    agents-check         agentctl agents check --output-format json
    agents-list          agentctl agents list --output-format json
    agents-show          agentctl agents show --output-format json
    analyze              agentctl analyze --output-format json
    answers              A file for --answers
    approvals-show       agentctl approvals show --output-format json
    bench                agentctl bench --output-format json
    build                agentctl build, resume, answer, status, run --output-format json
    catalog-build        agentctl catalog build --output-format json
    catalog-diff         agentctl catalog diff --output-format json
    catalog-search       agentctl catalog search --output-format json
    catalog-show         agentctl catalog show --output-format json
    catalog-sync         agentctl catalog sync --output-format json
    chat                 agentctl chat --output-format json, and agentctl answer of a turn's question
    credentials-list     agentctl credentials list --output-format json
    diff                 agentctl diff --output-format json
    doctor               agentctl doctor --output-format json
    error                What any command prints with --output-format json when it could not do its work
    events               A line of agentctl's stream-json, for runs (build, resume, answer) and turns (chat)
    executions-list      agentctl executions list --output-format json
    explain              agentctl explain --output-format json
    flow                 agents/flow.yaml, agents/NAME.flow.yaml
    flow-check           agentctl flow check --output-format json
    graph                agentctl packs graph, orchestrators graph, flow graph --output-format json
    init                 agentctl init --output-format json
    learnings-add        agentctl learnings add --output-format json
    learnings-check      agentctl learnings check --output-format json
    learnings-edit       agentctl learnings edit, learnings retire --output-format json
    learnings-import     agentctl learnings import --output-format json
    learnings-index      agentctl learnings index --output-format json
    learnings-search     agentctl learnings search --output-format json
    learnings-show       agentctl learnings show --output-format json
    learnings-stats      agentctl learnings stats --output-format json
    log                  agentctl log --output-format json
    mcp-approve          agentctl mcp approve --output-format json
    mcp-call             agentctl mcp call --output-format json
    mcp-list             agentctl mcp list --output-format json
    mcp-switch           agentctl mcp enable, mcp disable, mcp switch --output-format json
    mcp-tools            agentctl mcp tools --output-format json
    models               agentctl models --output-format json
    n8n-down             agentctl n8n down --output-format json
    n8n-status           agentctl n8n status --output-format json
    n8n-up               agentctl n8n up --output-format json
    orchestrator         A file for run --orchestrator
    orchestrators-check  agentctl orchestrators check --output-format json
    orchestrators-list   agentctl orchestrators list --output-format json
    orchestrators-new    agentctl orchestrators new --output-format json
    pack                 pack.yaml
    packs-check          agentctl packs check --output-format json
    packs-export         agentctl packs export --output-format json
    packs-list           agentctl packs list --output-format json
    packs-new            agentctl packs new --output-format json
    packs-show           agentctl packs show --output-format json
    packs-test           agentctl packs test --output-format json
    policy               agents/policy.yaml
    policy-check         agentctl policy check --output-format json
    policy-show          agentctl policy show --output-format json
    pull                 agentctl pull --output-format json
    push                 agentctl push --output-format json
    qa                   agentctl qa --output-format json
    qa-explain           agentctl qa --explain --output-format json
    report               agentctl report --output-format json
    runs                 agentctl runs list --output-format json
    runs-adopt           agentctl runs adopt --output-format json
    runs-export          agentctl runs export --output-format json
    runs-import          agentctl runs import --output-format json
    runs-prune           agentctl runs prune --output-format json
    runs-show            agentctl runs show --output-format json
    runs-verify          agentctl runs verify --output-format json
    serve                agentctl serve --output-format json
    sessions-adopt       agentctl sessions adopt --output-format json
    sessions-clear       agentctl sessions clear --output-format json
    sessions-delete      agentctl sessions delete --output-format json
    sessions-export      agentctl sessions export --output-format json
    sessions-import      agentctl sessions import --output-format json
    sessions-list        agentctl sessions list --output-format json
    sessions-show        agentctl sessions show --output-format json
    settings             agentctl.toml
    show                 agentctl show --output-format json
    skills-list          agentctl skills list --output-format json
    skills-show          agentctl skills show --output-format json
    test                 agentctl test --output-format json
    tool                 tools/NAME/tool.yaml
    tools-call           agentctl tools call --output-format json
    tools-check          agentctl tools check --output-format json
    tools-discover       agentctl tools discover --output-format json
    tools-guard          agentctl tools guard --output-format json
    tools-list           agentctl tools list --output-format json
    tools-show           agentctl tools show --output-format json
    tools-stats          agentctl tools stats --output-format json
    tools-test           agentctl tools test --output-format json
    trust                agentctl trust --output-format json
    undo                 agentctl undo --output-format json
    usage                agentctl usage --output-format json
    workflows-activate   agentctl workflows activate, workflows deactivate --output-format json
    workflows-list       agentctl workflows list --output-format json
    ");
    insta::assert_snapshot!(project.said("schema qaa"), @r#"
    exit code 2
    -- stderr --
    error: there is no schema "qaa"; did you mean "qa"?
    hint: agentctl schema lists them, each with what it is of
    "#);
}
