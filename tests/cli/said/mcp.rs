//! MCP servers, and agentctl as one.

use crate::mcp;
use crate::support::Project;

/// In a project with servers whose variables are set.
fn said(project: &Project, typed: &str) -> String {
    let mut command = project.command(&[]);
    command
        .env("MCP_TEST_KEY", mcp::KEY)
        .env("N8N_TEST_KEY", mcp::KEY);
    project.saying(command, typed)
}

#[test]
fn servers() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("mcp list"), @r"
    exit code 2
    -- stderr --
    error: there is no .mcp.json in .
    hint: agentctl init writes .mcp.json.example; copy it to .mcp.json and fill it in
    ");
    let project = mcp::project();
    insta::assert_snapshot!(said(&project, "mcp list"), @r"
    exit code 0
    n8n-mcp: no-such-command
    docs: sh
    web: disabled
    ");
    insta::assert_snapshot!(said(&project, "mcp enable web"), @r"
    exit code 0
    enabled web
    ");
    insta::assert_snapshot!(said(&project, "mcp disable no-such-server"), @r#"
    exit code 2
    -- stderr --
    error: .mcp.json: there is no server "no-such-server"; there are n8n-mcp, docs, web
    "#);
    insta::assert_snapshot!(said(&project, "mcp disable docs"), @r"
    exit code 0
    disabled docs
    ");
    insta::assert_snapshot!(said(&project, "mcp switch minimal"), @r"
    exit code 0
    disabled web
    ");
    insta::assert_snapshot!(said(&project, "mcp switch nothing"), @r"
    exit code 2
    -- stderr --
    error: invalid value 'nothing' for '<WHICH>'
      [possible values: minimal, full]

    For more information, try '--help'.
    ");
}

#[test]
fn tools() {
    let project = mcp::project();
    insta::assert_snapshot!(said(&project, "mcp tools docs"), @r"
    exit code 0
    find (new) Finds a page.
    other (new) Other.
    approve what agents may call: agentctl mcp approve docs [TOOL]
    -- stderr --
    warning: docs sent 1 lines on its stdout that are no messages
    ");
    insta::assert_snapshot!(said(&project, "mcp approve docs find"), @r#"
    exit code 0
    find approved
        Finds a page.
        {
          "type": "object",
          "properties": {
            "q": {
              "type": "string"
            }
          }
        }
    -- stderr --
    warning: docs sent 1 lines on its stdout that are no messages
    "#);
    insta::assert_snapshot!(said(&project, "mcp approve docs no-such-tool"), @r#"
    exit code 2
    -- stderr --
    warning: docs sent 1 lines on its stdout that are no messages
    error: docs has no tool "no-such-tool"
    hint: tools: find, other
    "#);
    insta::assert_snapshot!(said(&project, "mcp tools n8n-mcp"), @r#"
    exit code 7
    -- stderr --
    error: the MCP server "n8n-mcp": cannot start the command: No such file or directory (os error 2)
    hint: install it, or correct `command` in the file; no program is looked for inside the project unless `command` is its path
    "#);
    insta::assert_snapshot!(said(&project, "mcp call docs find '{}'"), @r"
    exit code 0
    found with [redacted:known] �[2J
    -- stderr --
    warning: docs sent 1 lines on its stdout that are no messages
    ");
    insta::assert_snapshot!(said(&project, "mcp call docs find ["), @r"
    exit code 2
    -- stderr --
    error: the arguments are not acceptable JSON: EOF while parsing a list at line 1 column 1
    hint: write the arguments as a JSON object
    ");
}

#[test]
fn serve() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("mcp serve --role nobody"), @r#"
    exit code 2
    -- stderr --
    error: there is no role "nobody"; roles: analyst, architect, builder, qa, researcher, single
    "#);
    insta::assert_snapshot!(project.said("mcp serve --role builder --print-config codex"), @r#"
    exit code 0
    # ~/.codex/config.toml
    [mcp_servers.agentctl]
    command = "[AGENTCTL]"
    args = ["--project", "[PROJECT]", "mcp", "serve", "--role", "builder"]
    "#);
    insta::assert_snapshot!(project.said("mcp serve --role builder --http 10.0.0.1:80"), @r"
    exit code 2
    -- stderr --
    error: invalid value '10.0.0.1:80' for '--http [<ADDRESS:PORT>]': only a loopback address is listened on, for example 127.0.0.1

    For more information, try '--help'.
    ");
}
