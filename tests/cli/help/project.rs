//! Help: a project folder, its pack and this machine.

use super::help;

#[test]
fn init() {
    insta::assert_snapshot!(help("init"), @r"
    Set up a project folder: workflows/, memory/, .gitignore, .mcp.json.example

    Usage: agentctl init [OPTIONS] [DIR]

    Arguments:
      [DIR]
              The folder to set up (made when it is not there); default: the project folder

    Example:
      agentctl init my-automations
    ");
}

#[test]
fn bench() {
    insta::assert_snapshot!(help("bench"), @r"
    Run the requests of a file with a model, and score what it builds

    Usage: agentctl bench [OPTIONS] <FILE>

    Arguments:
      <FILE>
              The requests with what a right answer must hold: a JSON list (`-`: stdin)

    Options:
          --of <FILE>
              FILE says the requests of this one in other words

          --ids <ID,…>
              Only these requests

          --kind <KIND>
              Only requests of this kind

              [possible values: build, modify, clarify, refuse]

          --jobs <N>
              So many requests at once

              [default: 1]

      -y, --yes
              Take every recommendation instead of ending with a question

          --keep <DIR>
              Keep each answer as DIR/ID.json: the workflow, the questions or the refusal

          --total-cost <USD>
              Begin no request once all of them have cost so many US dollars: exit code 8

          --min <PERCENT>
              Exit code 1 when fewer of the items are met

          --model <MODEL>
              The model of all agents: `offline`, or `provider::model`; default: from agentctl.toml,
              else offline

          --model-for <AGENT=MODEL>
              The model of one agent

          --max-cost <[AGENT=]USD>
              US dollars, of the run or of one agent; a model whose price is unknown is then not asked

          --max-tokens <[AGENT=]N>
              Tokens, input and output together

          --max-turns <[AGENT=]N>
              Model calls in one step

          --max-time <[AGENT=]TIME>
              Seconds of work, or like 90s, 10m, 1h; waiting for you does not count

    Examples:
      agentctl bench requests.json
      agentctl bench requests.json --model anthropic::claude-sonnet-4-6 --jobs 4 --total-cost 5
      agentctl bench requests.json --ids r01,r07 --keep answers --output-format json
      agentctl bench again.json --of requests.json --min 80

    Each request runs in an empty folder that is deleted afterwards; the project, its workflows and its
    n8n are not touched. docs/bench.md says how a file is written and what is counted.
    ");
}

#[test]
fn models() {
    insta::assert_snapshot!(help("models"), @r"
    Which model plays which agent, what it costs, and whether it answers

    Usage: agentctl models [OPTIONS]

    Options:
          --model <MODEL>
              The model of all agents: `offline`, or `provider::model`; default: from agentctl.toml,
              else offline

          --model-for <AGENT=MODEL>
              The model of one agent

          --no-call
              Only list; ask nobody

    Examples:
      agentctl models
      agentctl models --no-call --model anthropic::claude-sonnet-4-5

    Models are set in agentctl.toml: [models] opus, sonnet, haiku, default; [models.agents];
    [providers.NAME].
    Keys come from the environment or a command, never from a file. Each model is asked one short
    question.
    Exit code 6: one does not answer.
    ");
}

#[test]
fn agents() {
    insta::assert_snapshot!(help("agents"), @r"
    The agents of the pack

    Usage: agentctl agents [OPTIONS] <COMMAND>

    Commands:
      list   The agents: role, model tier, tools, skills
      show   One agent with its prompt and the tools it may use
      check  Check agents, flow, policy and skills; every mistake with file and line
      help   Print this message or the help of the given subcommand(s)

    Example:
      agentctl agents list
    ");
    insta::assert_snapshot!(help("agents list"), @r"
    The agents: role, model tier, tools, skills

    Usage: agentctl agents list [OPTIONS]

    Example:
      agentctl agents list
    ");
    insta::assert_snapshot!(help("agents show"), @r"
    One agent with its prompt and the tools it may use

    Usage: agentctl agents show [OPTIONS] <NAME>

    Arguments:
      <NAME>

    Example:
      agentctl agents show builder
    ");
    insta::assert_snapshot!(help("agents check"), @r"
    Check agents, flow, policy and skills; every mistake with file and line

    Usage: agentctl agents check [OPTIONS]

    Example:
      agentctl agents check --project .
    ");
}

#[test]
fn skills() {
    insta::assert_snapshot!(help("skills"), @r"
    The skills that agents can load

    Usage: agentctl skills [OPTIONS] <COMMAND>

    Commands:
      list  The skills, where they come from and who has them
      show  A skill's text, or one of its files
      help  Print this message or the help of the given subcommand(s)

    Example:
      agentctl skills list
    ");
    insta::assert_snapshot!(help("skills list"), @r"
    The skills, where they come from and who has them

    Usage: agentctl skills list [OPTIONS]

    Example:
      agentctl skills list
    ");
    insta::assert_snapshot!(help("skills show"), @r"
    A skill's text, or one of its files

    Usage: agentctl skills show [OPTIONS] <NAME> [FILE]

    Arguments:
      <NAME>


      [FILE]
              A file inside the skill's folder

    Example:
      agentctl skills show n8n-expression-syntax
    ");
}

#[test]
fn flow() {
    insta::assert_snapshot!(help("flow"), @r"
    Check or draw the flow

    Usage: agentctl flow [OPTIONS] <COMMAND>

    Commands:
      check  Check the flow file; every mistake with file and line
      graph  Draw the flow as a Mermaid diagram
      help   Print this message or the help of the given subcommand(s)

    Example:
      agentctl flow graph > flow.mmd
    ");
    insta::assert_snapshot!(help("flow check"), @r"
    Check the flow file; every mistake with file and line

    Usage: agentctl flow check [OPTIONS]

    Example:
      agentctl flow check
    ");
    insta::assert_snapshot!(help("flow graph"), @r"
    Draw the flow as a Mermaid diagram

    Usage: agentctl flow graph [OPTIONS]

    Example:
      agentctl flow graph > flow.mmd
    ");
}

#[test]
fn policy() {
    insta::assert_snapshot!(help("policy"), @r"
    Show the permission matrix, or explain one decision

    Usage: agentctl policy [OPTIONS] <COMMAND>

    Commands:
      show   The permission matrix and the limits in force
      check  What would be decided for a call, and by which rule
      help   Print this message or the help of the given subcommand(s)

    Example:
      agentctl policy check builder update_workflow
    ");
    insta::assert_snapshot!(help("policy show"), @r"
    The permission matrix and the limits in force

    Usage: agentctl policy show [OPTIONS]

    Example:
      agentctl policy show
    ");
    insta::assert_snapshot!(help("policy check"), @r#"
    What would be decided for a call, and by which rule

    Usage: agentctl policy check [OPTIONS] <ROLE> <TOOL> [ARGS-JSON]

    Arguments:
      <ROLE>


      <TOOL>


      [ARGS-JSON]
              The call's arguments as a JSON object

    Options:
          --facts <FILE>
              What the run knows: a JSON object with `request`, `answers`, `calls`, `grants`, `bound`

    Example:
      agentctl policy check qa delete_workflow '{"workflow_id":"orders"}'
    "#);
}

#[test]
fn trust() {
    insta::assert_snapshot!(help("trust"), @r"
    Say that what a project folder overrides may count: its servers, agents, flow, policy, skills,
    catalog and settings

    Usage: agentctl trust [OPTIONS] [PATH]

    Arguments:
      [PATH]
              The folder; default: the project folder

    Options:
          --show
              Only show what would come into force, and the hash for AGENTCTL_TRUST

          --revoke
              Forget what was approved of the folder: it is restricted again

          --yes
              Do not ask, on a terminal either

    Examples:
      agentctl trust --show
      agentctl trust
      agentctl trust ~/projects/shop --yes
      agentctl trust --revoke

    A folder that was never trusted works restricted: files instead of a live n8n, the built-in agents,
    flow, policy, skills and catalog, no server started, no variable filled in. What you approve is kept
    in your home by the folder's real path and a hash of each item; one that changes is asked about
    again. For CI: AGENTCTL_TRUST=HASH, as --show prints it. Exit code 5: an item cannot be trusted.
    ");
}

#[test]
fn doctor() {
    insta::assert_snapshot!(help("doctor"), @r"
    Check this machine and this project: what works, what does not, what to do

    Usage: agentctl doctor [OPTIONS]

    Example:
      agentctl doctor
    ");
}

#[test]
fn completions() {
    insta::assert_snapshot!(help("completions"), @"
    Print a shell completion script: it also completes run ids, workflow files, finding codes, packs and
    node types

    Usage: agentctl completions [OPTIONS] <SHELL>

    Arguments:
      <SHELL>
              [possible values: bash, elvish, fish, powershell, zsh]

    Examples:
      source <(agentctl completions bash)
      agentctl completions fish > ~/.config/fish/completions/agentctl.fish

    The first stands in ~/.bashrc, or with zsh in ~/.zshrc. The script asks the agentctl in your PATH;
    print it anew after an update.
    ");
}

#[test]
fn man() {
    insta::assert_snapshot!(help("man"), @r"
    Print the manual page, or write one page for each command

    Usage: agentctl man [OPTIONS]

    Options:
          --dir <DIR>
              Write agentctl.1, agentctl-build.1, … into this folder

    Examples:
      agentctl man | man -l -
      agentctl man --dir share/man/man1
    ");
}

#[test]
fn tools() {
    insta::assert_snapshot!(help("tools"), @"
    The tools that a pack's files declare

    Usage: agentctl tools [OPTIONS] <COMMAND>

    Commands:
      list      The tools of the pack, with what kind each is and whether it is the real one here
      show      One tool as models are told of it, and what its file says besides
      check     Look at the tool files: mistakes, descriptions that say too little, and variables that
                are not set
      test      Make the calls of the tools' tests.yaml, and say which came to what it says
      call      Make one call of a tool, outside of any run
      discover  Which tool fits a need best: by its words, its health, and what came of its calls
      stats     What came of each tool's calls in this project's runs
      guard     Read sentences of replies with the calls behind them (JSON lines on stdin), and say of
                each whether it may be said
      help      Print this message or the help of the given subcommand(s)

    Examples:
      agentctl tools list --pack my-pack
      agentctl tools check --pack my-pack
      agentctl tools test --pack my-pack
    ");
    insta::assert_snapshot!(help("tools list"), @"
    The tools of the pack, with what kind each is and whether it is the real one here

    Usage: agentctl tools list [OPTIONS]

    Example:
      agentctl tools list --pack my-pack
    ");
    insta::assert_snapshot!(help("tools show"), @"
    One tool as models are told of it, and what its file says besides

    Usage: agentctl tools show [OPTIONS] <TOOL>

    Arguments:
      <TOOL>

    Example:
      agentctl tools show my_tool --pack my-pack
    ");
    insta::assert_snapshot!(help("tools check"), @"
    Look at the tool files: mistakes, descriptions that say too little, and variables that are not set

    Usage: agentctl tools check [OPTIONS]

    Options:
          --strict
              Fail where a file gives cause for a remark; what is missing on this machine is told, and
              is no fault of a file

    Examples:
      agentctl tools check --pack my-pack
      agentctl tools check --pack my-pack --strict

    Exit code 0, also with remarks; with --strict 1 where a file gives cause for one. 2: a mistake in a
    file.
    ");
    insta::assert_snapshot!(help("tools guard"), @r#"
    Read sentences of replies with the calls behind them (JSON lines on stdin), and say of each whether
    it may be said

    Usage: agentctl tools guard [OPTIONS]

    Example:
      agentctl tools guard < sentences.jsonl

    A line in: {"id", "sentence", "evidence": [{"tool", "effect": "reads|changes", "status":
    "ok|failed|refused|unknown", "result" or "error"}]}
    With "description" or "acts": ["book"] a call says what its tool does where the name does not.
    A line out: {"id", "label": "promise|unsupported_act|contradicts_failure|fine"}
    "#);
}

#[test]
fn tools_calls_and_figures() {
    insta::assert_snapshot!(help("tools test"), @"
    Make the calls of the tools' tests.yaml, and say which came to what it says

    Usage: agentctl tools test [OPTIONS] [TOOL]

    Arguments:
      [TOOL]
              One tool; without it all of the pack

    Options:
          --yes
              Also make the calls that change something real

    Examples:
      agentctl tools test --pack my-pack
      AGENTCTL_TOOLS=real agentctl tools test my_tool --pack my-pack

    Mock data answers unless AGENTCTL_TOOLS=real; a call that changes something real is left out without
    --yes.
    Exit code 0: all came to what they should; 1: one did not; 2: a mistake in a file.
    ");
    insta::assert_snapshot!(help("tools call"), @"
    Make one call of a tool, outside of any run

    Usage: agentctl tools call [OPTIONS] <TOOL>

    Arguments:
      <TOOL>


    Options:
          --arg <NAME=VALUE>
              An argument; may be given several times

          --json <JSON>
              All arguments as one JSON object

          --bind <NAME=VALUE>
              What the program would bind in a run; may be given several times

          --after <NAME=VALUE>
              An argument of the tool that must answer before; may be given several times

          --yes
              Make it also where it changes something

    Example:
      agentctl tools call my_tool --pack my-pack --arg query=leave --bind userID=me

    An argument is text, or JSON where it begins with a bracket, a quotation mark or a digit. What a
    tool requires before is called with --after.
    Exit code 0: it answered; 1: it failed, or nobody knows; 5: it was refused.
    ");
    insta::assert_snapshot!(help("tools discover"), @r#"
    Which tool fits a need best: by its words, its health, and what came of its calls

    Usage: agentctl tools discover [OPTIONS] <NEED>

    Arguments:
      <NEED>
              What is to be done, in words

    Options:
          --role <ROLE>
              Only the tools that this role may use

          --task <STEP-TASK>
              As for a step with this task (serve, execute): how much a tool helped in that one counts
              most

          --top <N>
              So many at most

              [default: 5]

          --explain
              Say what each score is made of

    Example:
      agentctl tools discover "open tickets" --pack my-pack --explain
    "#);
    insta::assert_snapshot!(help("tools stats"), @"
    What came of each tool's calls in this project's runs

    Usage: agentctl tools stats [OPTIONS]

    Example:
      agentctl tools stats --pack my-pack
    ");
}
