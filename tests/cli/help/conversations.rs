//! Help: packs, and conversations with them.

use super::help;

#[test]
fn chat() {
    insta::assert_snapshot!(help("chat"), @r#"
    Talk with a pack; the conversation is kept and goes on tomorrow

    Usage: agentctl chat [OPTIONS] [PACK] [MESSAGE]

    Arguments:
      [PACK]
              The pack (`agentctl packs list`); without it the one that talks for the default pack

      [MESSAGE]
              One message, for scripts; without it lines are read until /quit or the end of input

    Options:
          --session <NAME>
              Which conversation; a new name begins a new one

              [default: default]

          --event <EVENT>
              Something that happened instead of a message, e.g. `joined`

      -w, --workflow <FILE|ID>
              The workflow that the conversation is to be about, for a pack that works on one: a file,
              or the id of a workflow in the project; it counts at the first message

          --input <FILE|KEY=VALUE>...
              A request as the pack's webhook takes it (a JSON file; its user, conversation and message
              count), or KEY=VALUE that the flow sees as `input`; several may follow, and it may be
              given several times

          --events <WHICH>
              What --output-format stream-json tells of what happens

              Possible values:
              - user: What a person sees of it: what is said, the tools at work, what changed,
                questions, the end
              - all:  Everything

              [default: user]

          --model <MODEL>
              The model of all agents: `offline`, or `provider::model`; default: from agentctl.toml,
              else offline

          --model-for <AGENT=MODEL>
              The model of one agent

          --record <FILE>
              Keep what the models and tools are asked and answer in a new file, without secrets; with
              --replay: the old answers to what is asked now

          --replay <FILE>
              Take the models' answers from such a file; what is asked otherwise than there fails

          --max-cost <[AGENT=]USD>
              US dollars, of the run or of one agent; a model whose price is unknown is then not asked

          --max-tokens <[AGENT=]N>
              Tokens, input and output together

          --max-turns <[AGENT=]N>
              Model calls in one step

          --max-time <[AGENT=]TIME>
              Seconds of work, or like 90s, 10m, 1h; waiting for you does not count

    Examples:
      agentctl chat
      agentctl chat "When a form comes in, store it in Postgres and tell #sales on Slack"
      agentctl chat --workflow workflows/orders.json
      agentctl chat front-door --session helen
      agentctl chat front-door --session s1 --output-format json "I need a monthly report"
      agentctl chat my-pack --input request.json

    /help in a conversation lists what the program answers by itself; /quit or Ctrl-D ends it.
    "#);
}

#[test]
fn run() {
    insta::assert_snapshot!(help("run"), @r#"
    Run a flow of a pack once

    Usage: agentctl run [OPTIONS] <PACK[/FLOW]> [MESSAGE]

    Arguments:
      <PACK[/FLOW]>
              The pack, or one of its flows

      [MESSAGE]
              What the flow sees as `input.message` (`-`: read it from stdin)

    Options:
          --input <FILE|KEY=VALUE>...
              What else it sees as `input`: KEY=VALUE (JSON, else text), or a JSON file; several may
              follow, and it may be given several times

          --orchestrator <NAME|FILE>
              Which of the pack's orchestrators works (`agentctl orchestrators list`), or a JSON file of
              your own

          --agents <NAME,...>
              The agents that are asked; default: all that the orchestrator names

          --corpus <DIR>
              A folder of documents (md, html, txt, csv, pdf, docx, xlsx) that the pack's tools read in
              place of the pack's own

      -y, --yes
              Take every recommendation; a required question without one still stops the run

          --answers <FILE>
              Answers given ahead: a JSON object, question id or topic → answer (`-`: stdin)

          --no-input
              Never ask on the terminal: stop with exit code 4 instead

          --model <MODEL>
              The model of all agents: `offline`, or `provider::model`; default: from agentctl.toml,
              else offline

          --model-for <AGENT=MODEL>
              The model of one agent

          --record <FILE>
              Keep what the models and tools are asked and answer in a new file, without secrets; with
              --replay: the old answers to what is asked now

          --replay <FILE>
              Take the models' answers from such a file; what is asked otherwise than there fails

          --max-cost <[AGENT=]USD>
              US dollars, of the run or of one agent; a model whose price is unknown is then not asked

          --max-tokens <[AGENT=]N>
              Tokens, input and output together

          --max-turns <[AGENT=]N>
              Model calls in one step

          --max-time <[AGENT=]TIME>
              Seconds of work, or like 90s, 10m, 1h; waiting for you does not count

    Examples:
      agentctl run front-door "I need a monthly report"
      agentctl run my-pack/check --input customer=42 region=north input.json
    "#);
}

#[test]
fn sessions() {
    insta::assert_snapshot!(help("sessions"), @"
    The conversations that are kept

    Usage: agentctl sessions [OPTIONS] <COMMAND>

    Commands:
      list    All conversations, the one that was used last first
      show    One conversation: what is collected, and its messages
      clear   Forget what was said and collected in a conversation
      delete  Erase a conversation with its runs
      adopt   Make a conversation yours that somebody else's agentctl wrote
      export  Write a conversation to a file, or into n8n's chat memory
      import  Read a conversation from a file, or from n8n's chat memory
      help    Print this message or the help of the given subcommand(s)

    Example:
      agentctl sessions list
    ");
    insta::assert_snapshot!(help("sessions list"), @"
    All conversations, the one that was used last first

    Usage: agentctl sessions list [OPTIONS]

    Example:
      agentctl sessions list
    ");
    insta::assert_snapshot!(help("sessions show"), @"
    One conversation: what is collected, and its messages

    Usage: agentctl sessions show [OPTIONS] <SESSION>

    Arguments:
      <SESSION>
              Its name, or its id

    Example:
      agentctl sessions show helen
    ");
    insta::assert_snapshot!(help("sessions clear"), @"
    Forget what was said and collected in a conversation

    Usage: agentctl sessions clear [OPTIONS] <SESSION>

    Arguments:
      <SESSION>
              Its name, or its id

    Example:
      agentctl sessions clear helen
    ");
    insta::assert_snapshot!(help("sessions delete"), @"
    Erase a conversation with its runs

    Usage: agentctl sessions delete [OPTIONS] <SESSION>

    Arguments:
      <SESSION>
              Its name, or its id

    Options:
      -y, --yes
              Do not ask

    Example:
      agentctl sessions delete helen --yes
    ");
    insta::assert_snapshot!(help("sessions adopt"), @"
    Make a conversation yours that somebody else's agentctl wrote

    Usage: agentctl sessions adopt [OPTIONS] <SESSION>

    Arguments:
      <SESSION>
              Its name, or its id

    Example:
      agentctl sessions adopt helen
    ");
    insta::assert_snapshot!(help("sessions export"), @"
    Write a conversation to a file, or into n8n's chat memory

    Usage: agentctl sessions export [OPTIONS] <SESSION>

    Arguments:
      <SESSION>
              Its name, or its id

    Options:
          --to <FILE>
              A new JSON file

          --n8n-session <KEY>
              The session's key in n8n's Postgres Chat Memory, in the database of `[sessions] url_env`

          --n8n-history <TABLE>
              Its table

              [default: n8n_chat_histories]

    Examples:
      agentctl sessions export helen --to helen.json
      agentctl sessions export helen --n8n-session user-7
    ");
    insta::assert_snapshot!(help("sessions import"), @"
    Read a conversation from a file, or from n8n's chat memory

    Usage: agentctl sessions import [OPTIONS] <PACK> <SESSION>

    Arguments:
      <PACK>
              The pack that it is a conversation with

      <SESSION>
              The name of a conversation that has no messages yet

    Options:
          --from <FILE>
              A file of `sessions export`

          --n8n-session <KEY>
              The session's key in n8n's Postgres Chat Memory, in the database of `[sessions] url_env`

          --n8n-history <TABLE>
              Its table

              [default: n8n_chat_histories]

    Examples:
      agentctl sessions import front-door helen --from helen.json
      agentctl sessions import front-door helen --n8n-session user-7
    ");
}

#[test]
fn packs() {
    insta::assert_snapshot!(help("packs"), @"
    The packs: agent systems that run on the same engine

    Usage: agentctl packs [OPTIONS] <COMMAND>

    Commands:
      list    Every pack, built in or of this project
      show    One pack: its flows, agents, data, and which of its files are this project's
      check   Check every file of a pack, or of all; every mistake with file and line
      graph   Draw a flow of a pack as a Mermaid diagram
      new     Make a small pack in this project, to begin with
      export  Write a pack of a main agent and agents that it calls as workflows of n8n
      test    Play the dialogues of a pack, and say which of their expectations hold
      help    Print this message or the help of the given subcommand(s)

    Example:
      agentctl packs list
    ");
    insta::assert_snapshot!(help("packs list"), @"
    Every pack, built in or of this project

    Usage: agentctl packs list [OPTIONS]

    Example:
      agentctl packs list
    ");
    insta::assert_snapshot!(help("packs show"), @"
    One pack: its flows, agents, data, and which of its files are this project's

    Usage: agentctl packs show [OPTIONS] <PACK>

    Arguments:
      <PACK>
              Its name

    Example:
      agentctl packs show n8n-builder
    ");
    insta::assert_snapshot!(help("packs check"), @"
    Check every file of a pack, or of all; every mistake with file and line

    Usage: agentctl packs check [OPTIONS] [PACK]

    Arguments:
      [PACK]
              Its name; without it every pack is checked

    Example:
      agentctl packs check
    ");
    insta::assert_snapshot!(help("packs graph"), @"
    Draw a flow of a pack as a Mermaid diagram

    Usage: agentctl packs graph [OPTIONS] <PACK[/FLOW]>

    Arguments:
      <PACK[/FLOW]>
              The pack, or one of its flows: PACK/FLOW

    Example:
      agentctl packs graph n8n-builder > flow.mmd
    ");
    insta::assert_snapshot!(help("packs new"), @"
    Make a small pack in this project, to begin with

    Usage: agentctl packs new [OPTIONS] <NAME>

    Arguments:
      <NAME>
              Its name: small letters, digits and hyphens

    Example:
      agentctl packs new helpdesk

    It has a flow, an agent, a skill, texts and a dialogue, and works at once:
    agentctl packs test helpdesk, agentctl chat helpdesk. docs/packs.md explains each file.
    ");
    insta::assert_snapshot!(help("packs test"), @"
    Play the dialogues of a pack, and say which of their expectations hold

    Usage: agentctl packs test [OPTIONS] [PACK] [FILE]...

    Arguments:
      [PACK]
              Its name; without it the dialogues of every pack are played

      [FILE]...
              Only these files: names in the pack's tests/, or files elsewhere

    Options:
          --only <TEXT>
              Only dialogues whose name has this in it

          --report <KIND=FILE>
              Write a report for CI: `junit=FILE`

          --min <PERCENT>
              Exit code 1 when fewer of the expectations hold

              [default: 100]

          --model <MODEL>
              The model of all agents: `offline`, or `provider::model`; default: from agentctl.toml,
              else offline

          --model-for <AGENT=MODEL>
              The model of one agent

          --record <FILE>
              Keep what the models and tools are asked and answer in a new file, without secrets; with
              --replay: the old answers to what is asked now

          --replay <FILE>
              Take the models' answers from such a file; what is asked otherwise than there fails

    Examples:
      agentctl packs test
      agentctl packs test front-door --min 95
      agentctl packs test front-door happy.yaml --only German
      agentctl packs test front-door --report junit=packs.xml
      agentctl packs test helpdesk ../more.yaml --model anthropic::claude-sonnet-4-6 --record tape.json
      agentctl packs test helpdesk ../more.yaml --replay tape.json

    Each dialogue is played in an empty folder that is deleted afterwards, with the offline model unless
    one is named.
    Exit code 0: enough of the expectations hold; 1: not enough; 2: a mistake in a file.
    ");
}

#[test]
fn serve() {
    insta::assert_snapshot!(help("serve"), @"
    Serve packs over HTTP: webhooks, chat, OpenAI clients, agents

    Usage: agentctl serve [OPTIONS]

    Options:
          --listen <ADDRESS:PORT>
              Where to listen; port 0 takes a free one

          --agents <AGENTS>
              Serve these agents of orchestrators, each by itself, in place of packs: NAME,NAME

          --check
              Say what would be served, to whom and where, and serve nothing

          --migrate
              Bring the tables of the Postgres of [sessions] and [journal] to this version first; no
              older agentctl works with them then

          --ready-json
              Print one line of JSON with the address to stdout when it is ready, for scripts

          --model <MODEL>
              The model of all agents: `offline`, or `provider::model`; default: from agentctl.toml,
              else offline

          --model-for <AGENT=MODEL>
              The model of one agent

          --record <FILE>
              Keep what the models and tools are asked and answer in a new file, without secrets; with
              --replay: the old answers to what is asked now

          --replay <FILE>
              Take the models' answers from such a file; what is asked otherwise than there fails

          --max-cost <[AGENT=]USD>
              US dollars, of the run or of one agent; a model whose price is unknown is then not asked

          --max-tokens <[AGENT=]N>
              Tokens, input and output together

          --max-turns <[AGENT=]N>
              Model calls in one step

          --max-time <[AGENT=]TIME>
              Seconds of work, or like 90s, 10m, 1h; waiting for you does not count

    Examples:
      agentctl serve
      agentctl serve --listen 127.0.0.1:8137
      agentctl serve --check

    Without clients in agentctl.toml it listens on the loopback interface only and wants a bearer token:
    the one in AGENTCTL_SERVE_TOKEN, else a new one that it prints once to stderr.
    One line of JSON for each request goes to stderr. SIGTERM: no new turns, those under way get their
    reply, exit code 143.
    ");
}

#[test]
fn worker() {
    insta::assert_snapshot!(help("worker"), @r#"
    Do what a Restate server hands out: turns that go on where a worker died

    Usage: agentctl worker [OPTIONS] --restate <URL>

    Options:
          --restate <URL>
              The admin address of the Restate server, where the worker says where it is

          --listen <ADDRESS:PORT>
              Where to listen for the Restate server; port 0 takes a free one

              [default: 127.0.0.1:9080]

          --url <URL>
              Where the Restate server finds this worker, or the one name of several; default: where it
              listens

          --identity-key <KEY>
              The public key of the one Restate server that may call; needed to listen to other machines

          --may-approve
              Who comes through Restate may approve what runs want to do

          --ready-json
              Print one line of JSON with the address to stdout when it is ready, for scripts

          --model <MODEL>
              The model of all agents: `offline`, or `provider::model`; default: from agentctl.toml,
              else offline

          --model-for <AGENT=MODEL>
              The model of one agent

          --record <FILE>
              Keep what the models and tools are asked and answer in a new file, without secrets; with
              --replay: the old answers to what is asked now

          --replay <FILE>
              Take the models' answers from such a file; what is asked otherwise than there fails

          --max-cost <[AGENT=]USD>
              US dollars, of the run or of one agent; a model whose price is unknown is then not asked

          --max-tokens <[AGENT=]N>
              Tokens, input and output together

          --max-turns <[AGENT=]N>
              Model calls in one step

          --max-time <[AGENT=]TIME>
              Seconds of work, or like 90s, 10m, 1h; waiting for you does not count

    Examples:
      agentctl worker --restate http://127.0.0.1:9070
      agentctl worker --restate http://restate:9070 --listen 0.0.0.0:9080 --url http://workers:9080
      --identity-key publickeyv1_…
      curl localhost:8080/Session/front-door:c1/start --json '{"message": "Hello"}'

    It needs a program with the feature `restate` and a Restate server (docs/restate.md). It serves the
    packs that `agentctl serve` would.
    SIGTERM: no new turns, those under way stop at a step and are handed to another worker, exit code
    143.
    "#);
}

#[test]
fn packs_export() {
    insta::assert_snapshot!(help("packs export"), @"
    Write a pack of a main agent and agents that it calls as workflows of n8n

    Usage: agentctl packs export [OPTIONS] <PACK> <DIR>

    Arguments:
      <PACK>
              Its name

      <DIR>
              The folder for the workflows; files of the same names in it are written anew, with the
              credentials that their nodes have

    Options:
          --to <TO>
              What it becomes

              [default: n8n]
              [possible values: n8n]

          --set <NAME=VALUE>
              Write the value of a variable into the workflows, which otherwise read it from n8n's
              environment

          --credential <TYPE=ID[:NAME]>
              Connect the nodes that ask for a credential of this type with the one that has this id on
              your n8n

          --push
              Send them to the connected n8n as well, each as `agentctl push` would

          --force
              With --push: over what was changed on n8n since the file was pushed or pulled

          --allow <GUARD>
              With --push: allow what a guard would ask: wipe, publish, credentials

              [possible values: wipe, publish, credentials]

    Examples:
      agentctl packs export assistant --to n8n n8n-assistant
      agentctl qa n8n-assistant/*.json
      agentctl packs export assistant --to n8n n8n-assistant --push --set
      INTEGRATION_URL=https://platform.example.com --set ASSISTANT_MODEL=gpt-4

    The workflows of the called agents come first; n8n has to know them before the main one.
    With --push each is created, or updated where its file follows one; each push is a run that
    `agentctl undo RUN` takes back. Nothing is published.
    Exit code 2: the pack has no such agents, a tool that n8n has no node for, or no node that asks for
    a credential of such a type; 5: a workflow was changed on n8n since (--force), or a guard asks
    (--allow).
    ");
}

#[test]
fn orchestrators() {
    insta::assert_snapshot!(help("orchestrators"), @"
    Orchestrators: which agents of a pack work on a request, and in which order

    Usage: agentctl orchestrators [OPTIONS] <COMMAND>

    Commands:
      list   List them, with who may work in one
      check  Check one of a pack, or a file; without a name all of all packs; every mistake with file
             and line
      graph  Draw one as a Mermaid diagram: the flow that it is run as
      new    Write a new file, as a copy of one of the pack's, to change
      help   Print this message or the help of the given subcommand(s)

    Examples:
      agentctl orchestrators list
      agentctl orchestrators new mine.json
      agentctl orchestrators check mine.json
      agentctl orchestrators graph basic

    A pack with orchestrators is named by --pack; where only one has some, it need not be.
    ");
    insta::assert_snapshot!(help("orchestrators list"), @"
    List them, with who may work in one

    Usage: agentctl orchestrators list [OPTIONS]

    Example:
      agentctl orchestrators list
    ");
    insta::assert_snapshot!(help("orchestrators check"), @"
    Check one of a pack, or a file; without a name all of all packs; every mistake with file and line

    Usage: agentctl orchestrators check [OPTIONS] [NAME|FILE]

    Arguments:
      [NAME|FILE]
              Its name, or a JSON file

    Examples:
      agentctl orchestrators check
      agentctl orchestrators check mine.json
    ");
    insta::assert_snapshot!(help("orchestrators graph"), @"
    Draw one as a Mermaid diagram: the flow that it is run as

    Usage: agentctl orchestrators graph [OPTIONS] [NAME|FILE]

    Arguments:
      [NAME|FILE]
              Its name, or a JSON file; default: the one in force

    Example:
      agentctl orchestrators graph mine.json > mine.mmd
    ");
    insta::assert_snapshot!(help("orchestrators new"), @"
    Write a new file, as a copy of one of the pack's, to change

    Usage: agentctl orchestrators new [OPTIONS] <FILE>

    Arguments:
      <FILE>
              The file, which must not be there

    Options:
          --like <NAME>
              Which one is copied; default: the one in force

    Example:
      agentctl orchestrators new mine.json --like basic
    ");
}
