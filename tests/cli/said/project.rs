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
    ✓ pack front-door: 6 agents (0 of this project), 8 skills, flow front-door
    ✓ pack n8n-builder: 5 agents (0 of this project), 8 skills, flow n8n-builder
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
    ✓ pack n8n-builder: 5 agents (0 of this project), 8 skills, flow n8n-builder
    ✓ pack n8n-copilot: 6 agents (0 of this project), 8 skills, flow n8n-copilot
    ✓ pack research: 5 agents (0 of this project), 8 skills, flow research
    ✓ searches of research: in its own documents, or those of --corpus
      hint: AGENTCTL_WEB_SEARCH=duckduckgo|google_cse|searxng|tavily searches the web
    ✓ catalog: n8n 2.39.4: 565 node types, 1001 type-version pairs
    - model: the agents cannot be read
    ✗ backend: ./agentctl.toml:2: invalid type: integer `7`, expected a string
      hint: what can stand there: docs/models.md ([models], [providers.NAME], [prices]) and docs/qa.md ([[qa.waiver]])
    - runs: none yet
    ✗ sessions: ./agentctl.toml:2: invalid type: integer `7`, expected a string
      hint: what can stand there: docs/models.md ([models], [providers.NAME], [prices]) and docs/qa.md ([[qa.waiver]])
    ! serve: ./agentctl.toml:2: invalid type: integer `7`, expected a string
      hint: what can stand there: docs/models.md ([models], [providers.NAME], [prices]) and docs/qa.md ([[qa.waiver]])
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
    a2a-envelope  a message of the envelope at the A2A door of serve
    answers       a file for --answers
    build         build, resume, answer, status with --output-format json
    events        a line of build, resume, answer with --output-format stream-json
    flow          agents/flow.yaml and agents/NAME.flow.yaml
    orchestrator  a file for run --orchestrator
    pack          pack.yaml
    policy        agents/policy.yaml
    qa            qa with --output-format json
    runs          runs list with --output-format json
    settings      agentctl.toml, and the user's own config.toml
    show          show with --output-format json
    tool          tools/NAME/tool.yaml of a pack
    usage         usage with --output-format json
    ");
    insta::assert_snapshot!(project.said("schema qaa"), @r#"
    exit code 2
    -- stderr --
    error: there is no schema "qaa"; did you mean "qa"?
    hint: there are: a2a-envelope, answers, build, events, flow, orchestrator, pack, policy, qa, runs, settings, show, tool, usage
    "#);
}
