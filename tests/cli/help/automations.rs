//! Help: n8n, its node types and its workflows; MCP servers.

use super::help;

#[test]
fn catalog() {
    insta::assert_snapshot!(help("catalog"), @r"
    Look up n8n's node types; no n8n needed

    Usage: agentctl catalog [OPTIONS] <COMMAND>

    Commands:
      search  Find node types by name, operation or synonym
      show    A node type: its operations, or the parameters of one operation
      sync    Take the node types of your own n8n, community nodes included, into this project's catalog
      diff    What changed between two catalogs for the node types that your workflows use
      build   Make a catalog file from n8n's published node descriptions
      help    Print this message or the help of the given subcommand(s)

    Example:
      agentctl catalog show n8n-nodes-base.slack --resource message --operation post
    ");
    insta::assert_snapshot!(help("catalog search"), @r#"
    Find node types by name, operation or synonym

    Usage: agentctl catalog search [OPTIONS] <WORDS>...

    Arguments:
      <WORDS>...


    Options:
          --limit <N>
              At most this many

              [default: 10]

    Example:
      agentctl catalog search "append google sheet"
    "#);
    insta::assert_snapshot!(help("catalog show"), @r"
    A node type: its operations, or the parameters of one operation

    Usage: agentctl catalog show [OPTIONS] <TYPE>

    Arguments:
      <TYPE>


    Options:
          --version <N>


          --resource <RESOURCE>


          --operation <OPERATION>

    Examples:
      agentctl catalog show slack
      agentctl catalog show n8n-nodes-base.slack --resource message --operation post
    ");
    insta::assert_snapshot!(help("catalog sync"), @r"
    Take the node types of your own n8n, community nodes included, into this project's catalog

    Usage: agentctl catalog sync [OPTIONS] [URL|FILE]...

    Arguments:
      [URL|FILE]...
              An n8n's address, or files: its `types/nodes.json`, a community package's (after its
              package.json), `credentials.json`; default: the connected n8n

    Options:
          --n8n-version <VERSION>
              The n8n release, e.g. 2.39.4; default: what the n8n says

          --auth-env <VAR>
              The environment variable that holds a header to send, e.g. `Cookie: n8n-auth=…`

          --data <DIR>
              Where its data lies; default: .agentctl/n8n of the project

    Examples:
      agentctl catalog sync
      agentctl catalog sync https://n8n.example.com --auth-env N8N_LOGIN
      agentctl catalog sync nodes.json credentials.json --n8n-version 2.39.4

    Writes n8n-catalog.bin into the project. A package that it knows is its alone; other types stay
    those that agentctl brings.
    ");
    insta::assert_snapshot!(help("catalog diff"), @r"
    What changed between two catalogs for the node types that your workflows use

    Usage: agentctl catalog diff [OPTIONS] <A> <B>

    Arguments:
      <A>
              The catalog before: a file, `embedded` (compiled in) or `project`

      <B>
              The catalog after

    Options:
          --workflows <PATH>...
              Workflow files or folders; default: workflows/ of the project

    Examples:
      agentctl catalog diff embedded project
      agentctl catalog diff old.bin new.bin --workflows workflows/
    ");
    insta::assert_snapshot!(help("catalog build"), @r"
    Make a catalog file from n8n's published node descriptions

    Usage: agentctl catalog build [OPTIONS] --output <OUT> <FILE>...

    Arguments:
      <FILE>...
              `dist/types/nodes.json` of a package, or a running n8n's `types/nodes.json`

    Options:
      -o, --output <OUT>
              Where the catalog goes

          --n8n-version <VERSION>
              The n8n release that the descriptions belong to, e.g. 2.39.4

    Example:
      npm pack n8n-nodes-base@2.39.2 && tar xzf n8n-nodes-base-2.39.2.tgz
      agentctl catalog build package/dist/types/nodes.json -o catalog.bin
    ");
}

#[test]
fn pull() {
    insta::assert_snapshot!(help("pull"), @r#"
    Write workflows of the connected n8n as files that git can keep

    Usage: agentctl pull [OPTIONS] [ID] [FILE]

    Arguments:
      [ID]
              The workflow: its id, or the name that only it has

      [FILE]
              Where it goes; default: workflows/ of the project, named after the workflow

    Options:
          --all
              Every workflow of the n8n that is not archived

          --pinned
              With the data that is pinned in n8n's editor

          --force
              Over a file that has other changes or follows another workflow

          --dry-run
              Show what would change, and write nothing

    Examples:
      agentctl pull Xk2fTq0sOmW9aLcD
      agentctl pull "Order intake" workflows/orders.json
      agentctl pull --all

    The file is what n8n imports, without what belongs to that n8n alone. Pinned data stays out unless
    --pinned is given; static data always does. --all writes each workflow into the file of workflows/
    that follows it, else into one named after it. Exit code 5: a file has changes that were not pushed;
    7: n8n is not there.
    "#);
}

#[test]
fn push() {
    insta::assert_snapshot!(help("push"), @r"
    Send workflow files to the connected n8n: update the workflows that they follow, or create them

    Usage: agentctl push [OPTIONS] <FILE|FOLDER>...

    Arguments:
      <FILE|FOLDER>...
              Workflow files, or folders of them

    Options:
          --id <ID>
              The workflow to update; default: the one that the file follows, else a new one

          --target <NAME>
              Another n8n, as `[targets.NAME]` of agentctl.toml describes it: with ids of its own, and
              its credentials by type and name

          --force
              Over what was changed on n8n since the file was pulled

          --new
              Create a new workflow where the one that the file follows is gone, as after `agentctl
              undo` of its creation

          --allow <GUARD>
              Allow what a guard would ask: wipe, publish, credentials, versions

              [possible values: wipe, publish, credentials, versions]

          --dry-run
              Show the workflow as it would be, the diff and what would be left to do, and change
              nothing

    Examples:
      agentctl push workflows/orders.json --dry-run
      agentctl push workflows/orders.json
      agentctl push workflows/ --target prod --dry-run
      agentctl push workflows/orders.json --allow publish

    Shows the diff. Refused (exit code 5): the workflow was changed on n8n since the file was pulled
    (--force), most of its nodes would go (--allow wipe), the n8n has no such node or not in that
    version (--allow versions), it is active and the change goes live (--allow publish), credentials
    change, or a target has none of that type and name (--allow credentials).
    Each push is a run: `agentctl undo RUN` takes it back.
    ");
}

#[test]
fn mcp() {
    insta::assert_snapshot!(help("mcp"), @r"
    The MCP servers of .mcp.json: what they are, their tools, calls by hand

    Usage: agentctl mcp [OPTIONS] <COMMAND>

    Commands:
      list     The servers of .mcp.json, started or not; none is started for this
      serve    Serve agentctl's own tools to another agent, as one role and behind the same guards
      tools    Start a server and show its tools: approved, new, or changed since they were approved
      call     Call a tool yourself: no agent, no policy, but the same limits; secrets are hidden
      approve  Approve a server's tools as they are described now; agents can call no other
      enable   Switch a server on in .mcp.json
      disable  Switch a server off in .mcp.json; it stays in the file
      switch   Switch between the servers of n8n only and all servers
      help     Print this message or the help of the given subcommand(s)

    Example:
      agentctl mcp list
    ");
    insta::assert_snapshot!(help("mcp list"), @r"
    The servers of .mcp.json, started or not; none is started for this

    Usage: agentctl mcp list [OPTIONS]

    Example:
      agentctl mcp list
    ");
    insta::assert_snapshot!(help("mcp serve"), @r#"
    Serve agentctl's own tools to another agent, as one role and behind the same guards

    Usage: agentctl mcp serve [OPTIONS] --role <ROLE>

    Options:
          --role <ROLE>
              The role whose tools are served (`agentctl agents list`)

          --workflow <ID>
              Only this workflow may be changed, none created or deleted

          --scope <NODE>...
              Only these nodes may be changed, by id or name; of the one workflow that has them all,
              unless --workflow says which

          --http [<ADDRESS:PORT>]
              Listen for HTTP on this loopback address instead of stdio; port 0 takes a free one

          --print-config [<CLIENT>]
              Print what to paste into a client's configuration, and serve nothing

              Possible values:
              - claude: Claude Code: a command to run
              - codex:  Codex: a part of config.toml
              - goose:  goose: a part of config.yaml
              - cursor: Cursor: .cursor/mcp.json
              - vscode: VS Code: .vscode/mcp.json
              - json:   Clients that read "mcpServers", like Claude Code's .mcp.json

    Examples:
      agentctl mcp serve --role builder
      agentctl mcp serve --role builder --workflow orders --scope "Post to Slack"
      agentctl mcp serve --role qa --http 127.0.0.1:8137
      agentctl mcp serve --role builder --print-config claude

    Over stdio a client starts it; it ends with its client (exit code 0). Over HTTP it listens on the
    loopback interface only and wants a bearer token: the one in AGENTCTL_MCP_TOKEN, else a new one that
    it prints once to stderr.
    Each session is a run of its own: `agentctl runs list`, `agentctl runs show RUN`, `agentctl undo
    RUN`.
    "#);
    insta::assert_snapshot!(help("mcp tools"), @r"
    Start a server and show its tools: approved, new, or changed since they were approved

    Usage: agentctl mcp tools [OPTIONS] <SERVER>

    Arguments:
      <SERVER>

    Example:
      agentctl mcp tools context7
    ");
    insta::assert_snapshot!(help("mcp call"), @r#"
    Call a tool yourself: no agent, no policy, but the same limits; secrets are hidden

    Usage: agentctl mcp call [OPTIONS] <SERVER> <TOOL> [JSON]

    Arguments:
      <SERVER>


      <TOOL>


      [JSON]
              The arguments as a JSON object (`-`: stdin); default: none

    Examples:
      agentctl mcp call n8n-mcp search_nodes '{"query":"slack"}'
      agentctl mcp call n8n-mcp n8n_health_check
    "#);
    insta::assert_snapshot!(help("mcp approve"), @r"
    Approve a server's tools as they are described now; agents can call no other

    Usage: agentctl mcp approve [OPTIONS] <SERVER> [TOOL]

    Arguments:
      <SERVER>


      [TOOL]
              Only this tool; default: all of them

    Examples:
      agentctl mcp approve context7
      agentctl mcp approve context7 get-library-docs

    What is approved is shown. A tool whose description or schema changes later needs approval again.
    ");
    insta::assert_snapshot!(help("mcp enable"), @r"
    Switch a server on in .mcp.json

    Usage: agentctl mcp enable [OPTIONS] <SERVER>

    Arguments:
      <SERVER>

    Example:
      agentctl mcp enable github
    ");
    insta::assert_snapshot!(help("mcp disable"), @r"
    Switch a server off in .mcp.json; it stays in the file

    Usage: agentctl mcp disable [OPTIONS] <SERVER>

    Arguments:
      <SERVER>

    Example:
      agentctl mcp disable github
    ");
    insta::assert_snapshot!(help("mcp switch"), @r"
    Switch between the servers of n8n only and all servers

    Usage: agentctl mcp switch [OPTIONS] <WHICH>

    Arguments:
      <WHICH>
              Possible values:
              - minimal: The servers of n8n; all others are switched off
              - full:    All servers of the file

    Example:
      agentctl mcp switch minimal
    ");
}

#[test]
fn n8n() {
    insta::assert_snapshot!(help("n8n"), @r"
    A throw-away n8n of your own to develop against: install, start, stop

    Usage: agentctl n8n [OPTIONS] <COMMAND>

    Commands:
      up      Install n8n from npm (once, some minutes and 2.5 GB), start it on the loopback interface
              and make its keys
      down    Stop it; its data stays for the next start
      status  Whether it runs, where, and as which process
      help    Print this message or the help of the given subcommand(s)

    Example:
      agentctl n8n up && source .agentctl/n8n/env
    ");
    insta::assert_snapshot!(help("n8n up"), @r"
    Install n8n from npm (once, some minutes and 2.5 GB), start it on the loopback interface and make
    its keys

    Usage: agentctl n8n up [OPTIONS]

    Options:
          --port <N>
              The port; n8n also uses the one after it. Default: that of last time, else the first free
              from 5678 on

          --n8n-version <VERSION>
              Which release of n8n, e.g. 1.123.81. Default: that of last time, else 2.22.6, the one that
              agentctl is tried on

          --wait <SECONDS>
              How long n8n may take to be ready, in seconds

              [default: 180]

          --write-mcp
              Add its MCP servers to .mcp.json, by the names of variables and never with a key

          --cache <DIR>
              Where n8n is installed; default: agentctl's folder in your cache

          --data <DIR>
              Where its data lies; default: .agentctl/n8n of the project

    Examples:
      agentctl n8n up
      agentctl n8n up --port 5690 --write-mcp
      source .agentctl/n8n/env && agentctl doctor

    Needs npm. n8n's data and keys stay in .agentctl/n8n/ of the project, which git passes over; the
    installation is shared by your projects. Run again, it says where n8n is. Exit code 1: not installed
    or no port; 7: n8n does not start.
    ");
    insta::assert_snapshot!(help("n8n down"), @r"
    Stop it; its data stays for the next start

    Usage: agentctl n8n down [OPTIONS]

    Options:
          --delete
              Forget its workflows, executions and keys

          --data <DIR>
              Where its data lies; default: .agentctl/n8n of the project

    Examples:
      agentctl n8n down
      agentctl n8n down --delete
    ");
    insta::assert_snapshot!(help("n8n status"), @r"
    Whether it runs, where, and as which process

    Usage: agentctl n8n status [OPTIONS]

    Options:
          --data <DIR>
              Where its data lies; default: .agentctl/n8n of the project

    Example:
      agentctl n8n status --output-format json

    Exit code 0: it runs and answers; 7: it does not.
    ");
}

#[test]
fn workflows() {
    insta::assert_snapshot!(help("workflows"), @"
    Workflows of the connected n8n: list them, publish one, take one out of service

    Usage: agentctl workflows [OPTIONS] <COMMAND>

    Commands:
      list        All of them, by name
      activate    Publish a workflow, so that its trigger fires
      deactivate  Take a workflow out of service
      help        Print this message or the help of the given subcommand(s)

    Examples:
      agentctl workflows list --active
      agentctl workflows activate orders
      agentctl workflows deactivate 7Hq2 --yes
    ");
}

#[test]
fn workflows_list() {
    insta::assert_snapshot!(help("workflows list"), @"
    All of them, by name

    Usage: agentctl workflows list [OPTIONS]

    Options:
          --tag <TAG>
              Only those with this tag

          --active
              Only those that are active

    Example:
      agentctl workflows list --tag sales --output-format json
    ");
}

#[test]
fn workflows_activate() {
    insta::assert_snapshot!(help("workflows activate"), @"
    Publish a workflow, so that its trigger fires

    Usage: agentctl workflows activate [OPTIONS] <WORKFLOW>

    Arguments:
      <WORKFLOW>
              The workflow, by id or name

    Options:
          --yes
              Do it without asking; needed where nobody can be asked

    Example:
      agentctl workflows activate orders --yes
    ");
}

#[test]
fn workflows_deactivate() {
    insta::assert_snapshot!(help("workflows deactivate"), @"
    Take a workflow out of service

    Usage: agentctl workflows deactivate [OPTIONS] <WORKFLOW>

    Arguments:
      <WORKFLOW>
              The workflow, by id or name

    Options:
          --yes
              Do it without asking; needed where nobody can be asked

    Example:
      agentctl workflows deactivate orders
    ");
}

#[test]
fn executions() {
    insta::assert_snapshot!(help("executions"), @"
    Executions of the connected n8n

    Usage: agentctl executions [OPTIONS] <COMMAND>

    Commands:
      list  All of them, or those of one workflow, newest first
      help  Print this message or the help of the given subcommand(s)

    Example:
      agentctl executions list orders --status error

    `agentctl analyze --workflow ID --executions 20` says why they failed.
    ");
}

#[test]
fn executions_list() {
    insta::assert_snapshot!(help("executions list"), @"
    All of them, or those of one workflow, newest first

    Usage: agentctl executions list [OPTIONS] [WORKFLOW]

    Arguments:
      [WORKFLOW]
              Only those of this workflow, by id or name

    Options:
          --status <STATUS>
              Only those that stand so

              [possible values: success, error, waiting, running, canceled, crashed]

          --limit <N>
              At most so many

              [default: 20]

    Examples:
      agentctl executions list
      agentctl executions list orders --status error --limit 5
    ");
}

#[test]
fn credentials() {
    insta::assert_snapshot!(help("credentials"), @"
    Credentials of the connected n8n: names, types and ids, never what they hold

    Usage: agentctl credentials [OPTIONS] <COMMAND>

    Commands:
      list  All of them, or those of one type
      help  Print this message or the help of the given subcommand(s)

    Example:
      agentctl credentials list --type slackApi
    ");
}

#[test]
fn credentials_list() {
    insta::assert_snapshot!(help("credentials list"), @"
    All of them, or those of one type

    Usage: agentctl credentials list [OPTIONS]

    Options:
          --type <CREDENTIAL>
              Only those of this type

    Examples:
      agentctl credentials list
      agentctl credentials list --type slackApi
    ");
}
