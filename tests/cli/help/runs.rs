//! Help: beginning runs, looking at them, taking them back.

use super::help;

#[test]
fn build() {
    insta::assert_snapshot!(help("build"), @r#"
    Build a workflow from a request, or change an existing one with --workflow

    Usage: agentctl build [OPTIONS] [REQUEST]

    Arguments:
      [REQUEST]
              What to build or to change, in plain words (`-`: read it from stdin; `@FILE`: from a file)

    Options:
      -f, --file <FILE>
              Read the request from a text file

      -w, --workflow <FILE|ID>
              The workflow to change: a file, or the id of a workflow in the project

          --let-act <NODE>
              Let this node act on the outside world in the test run instead of simulating it; may be
              given several times

          --plan-tools
              Let a model read out of the request, before any tool is called, which tools of other
              servers the run needs; it gets no others

          --grants <FILE>
              The same list from your own JSON file: {"tools": [{"tool": …, "times": …, "args": {…}}]}

          --outside-plan <WHAT>
              What becomes of a call outside of that list

              Possible values:
              - ask:  You are asked; without a terminal the run waits, exit code 4
              - deny: It is refused, and the run goes on

          --test-host <HOST>
              Let the test run read this host (a GET without an account and without computed values);
              may be given several times

          --account <TYPE=NAME>
              Connect new nodes of a service to this account of the n8n, by the credential's type and
              name; may be given several times

          --explain
              Show what became of each word of the request (`agentctl explain` shows it without
              building)

          --plan
              Look first: take every recommendation, show the workflow as it would be with the diff and
              what would be left to do, and write nothing before your yes. Without a terminal the run
              waits for it

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
      agentctl build "When a webhook receives an order over 100 EUR, post it to Slack #sales"
      agentctl build --workflow workflows/orders.json "post to #orders instead of #sales"
      agentctl build --plan "Every Monday at 8 mail the open Xero invoices to ap@example.com"
      agentctl build --yes --output-format json "Every Monday at 8 mail the open Xero invoices to
      ap@example.com"
      agentctl build --answers answers.json "Tell me when a build fails"

    On a terminal a change of a workflow that is there is shown before it is written, as with --plan;
    --yes writes at once.
    Without a terminal, unanswered questions end the run with exit code 4; go on with
    `agentctl answer RUN ID=VALUE` or `agentctl resume --answers FILE`.
    "#);
}

#[test]
fn explain() {
    insta::assert_snapshot!(help("explain"), @r#"
    Show what the offline planner makes of each word of a request; builds nothing

    Usage: agentctl explain [OPTIONS] <REQUEST>

    Arguments:
      <REQUEST>
              What would be built, in plain words (`-`: read it from stdin)

    Examples:
      agentctl explain "When a webhook receives an order over 100 EUR, post it to Slack #sales"
      agentctl explain --output-format json - < request.txt

    Each word that carries meaning is built (which node answers for it), context (it needs no node, and
    why) or not understood.
    An answer to a question of the build is no part of it; `agentctl build --explain` shows the same of
    a workflow that was built.
    "#);
}

#[test]
fn resume() {
    insta::assert_snapshot!(help("resume"), @r"
    Go on with a run that was interrupted or waits for answers

    Usage: agentctl resume [OPTIONS] [RUN]

    Arguments:
      [RUN]
              The run; default: the active one

    Options:
          --allow-pack-change
              Go on although agents, flow or policy changed since the run began

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
      agentctl resume
      agentctl resume 019a… --answers answers.json
    ");
}

#[test]
fn answer() {
    insta::assert_snapshot!(help("answer"), @"
    Answer the questions of a waiting run, and go on with it

    Usage: agentctl answer [OPTIONS] [[RUN] ID=VALUE]...

    Arguments:
      [[RUN] ID=VALUE]...
              The run that waits (default: the active one), then answers, each as ID=VALUE or
              TOPIC=VALUE

    Options:
          --answers <FILE>
              More answers from a JSON file (`-`: stdin)

      -y, --yes
              Take the recommendation of every other question; it approves nothing: what waits for a yes
              or a no waits on

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
      agentctl answer channel=#sales
      agentctl answer 019a… channel=#sales
      agentctl answer 019a… --answers answers.json --yes
    ");
}

#[test]
fn status() {
    insta::assert_snapshot!(help("status"), @r"
    What the active run is doing, or how it ended

    Usage: agentctl status [OPTIONS]

    Example:
      agentctl status --output-format json
    ");
}

#[test]
fn runs() {
    insta::assert_snapshot!(help("runs"), @r"
    List, show, verify, move and prune runs

    Usage: agentctl runs [OPTIONS] <COMMAND>

    Commands:
      list    All runs of the project, newest first
      show    One run: what was asked, what happened, how it ended
      adopt   Make a run yours that your agentctl did not write, after looking at what it would let
              happen
      prune   Take away runs that nothing needs any more: journals, snapshots, results, versions
      export  Write a run into a file: its journal to the byte, its snapshots and files
      import  Bring in runs that were exported: into this folder, and where [journal] names a Postgres
              into that
      verify  Check the hash chain of a journal, and whose it is (all runs when none is named)
      help    Print this message or the help of the given subcommand(s)

    Example:
      agentctl runs list
    ");
    insta::assert_snapshot!(help("runs list"), @"
    All runs of the project, newest first

    Usage: agentctl runs list [OPTIONS]

    Options:
      -n, --limit <N>
              The newest so many; 0: all

              [default: 0]

          --status <STATUS>
              Only runs that stand so: complete, draft, waiting, blocked, refused, failed, cancelled …;
              `taken-back` by an undo; `open`: running now, or killed

    Examples:
      agentctl runs list
      agentctl runs list --limit 10 --status waiting
    ");
    insta::assert_snapshot!(help("runs show"), @r"
    One run: what was asked, what happened, how it ended

    Usage: agentctl runs show [OPTIONS] <RUN>

    Arguments:
      <RUN>

    Example:
      agentctl runs show 019a…
    ");
    insta::assert_snapshot!(help("runs adopt"), @r"
    Make a run yours that your agentctl did not write, after looking at what it would let happen

    Usage: agentctl runs adopt [OPTIONS] <RUN>

    Arguments:
      <RUN>


    Options:
      -y, --yes
              Do not ask

    Example:
      agentctl runs adopt 019a…

    Such a run came with the folder, was written by an older agentctl, or without a folder of your own
    (AGENTCTL_HOME). Until it is adopted it is shown and nothing is done with it: resume, answer and
    undo end with exit code 5.
    ");
    insta::assert_snapshot!(help("runs prune"), @r"
    Take away runs that nothing needs any more: journals, snapshots, results, versions

    Usage: agentctl runs prune [OPTIONS]

    Options:
          --older-than <DAYS>
              Only runs of which nothing was written for so many days

          --keep <N>
              Not the newest N runs

      -y, --yes
              Do it

    Examples:
      agentctl runs prune --keep 100
      agentctl runs prune --older-than 30 --yes

    Without --yes it only says what would go, and how much that is. What stays: the active run, runs
    that have not ended, the last run that changed a workflow, runs whose snapshots are needed to take
    another one back, runs that are not yours or cannot be read.
    ");
    insta::assert_snapshot!(help("runs export"), @r"
    Write a run into a file: its journal to the byte, its snapshots and files

    Usage: agentctl runs export [OPTIONS] [RUN] [FILE]

    Arguments:
      [RUN]


      [FILE]
              The file, which must not be there

    Options:
          --all <DIR>
              All runs, each into a file of its own in this folder

    Examples:
      agentctl runs export 019a… run.jsonl
      agentctl runs export --all runs/

    The file holds what was asked, worked on and answered. The chain of hashes stays as it is; `agentctl
    runs import` brings it in elsewhere.
    ");
    insta::assert_snapshot!(help("runs import"), @r"
    Bring in runs that were exported: into this folder, and where [journal] names a Postgres into that

    Usage: agentctl runs import [OPTIONS] <FILE>...

    Arguments:
      <FILE>...
              Files of exported runs, or folders of such

    Examples:
      agentctl runs import run.jsonl
      agentctl runs import runs/

    Of a folder the files are taken whose first line says that they are exported runs. A run that is
    here already, the same, stays. One that carries your marks is yours here, too; any other is shown,
    and nothing is done with it (agentctl runs adopt).
    ");
    insta::assert_snapshot!(help("runs verify"), @r"
    Check the hash chain of a journal, and whose it is (all runs when none is named)

    Usage: agentctl runs verify [OPTIONS] [RUN]

    Arguments:
      [RUN]

    Example:
      agentctl runs verify
    ");
}

#[test]
fn approvals() {
    insta::assert_snapshot!(help("approvals"), @r"
    Look at the calls that wait for your word

    Usage: agentctl approvals [OPTIONS] <COMMAND>

    Commands:
      show  The calls that a run waits with, each with what it would change
      help  Print this message or the help of the given subcommand(s)

    Example:
      agentctl approvals show --reveal
    ");
    insta::assert_snapshot!(help("approvals show"), @r"
    The calls that a run waits with, each with what it would change

    Usage: agentctl approvals show [OPTIONS] [RUN]

    Arguments:
      [RUN]
              The run; default: the active one

    Options:
          --reveal
              Show the values that are hidden in the calls too: on a terminal only, and nowhere kept

    Examples:
      agentctl approvals show
      agentctl approvals show 019a… --reveal
    ");
}

#[test]
fn usage() {
    insta::assert_snapshot!(help("usage"), @r"
    What a run used: tokens, cache hits and cost by agent, phase, model and tool

    Usage: agentctl usage [OPTIONS] [RUN]

    Arguments:
      [RUN]
              The run; default: the active one

    Examples:
      agentctl usage
      agentctl usage 019a… --output-format json
    ");
}

#[test]
fn undo() {
    insta::assert_snapshot!(help("undo"), @"
    Take back what a run changed, all of it or down to one of its changes

    Usage: agentctl undo [OPTIONS] [RUN]

    Arguments:
      [RUN]
              The run whose changes are taken back; default: the active run

    Options:
          --workflow <ID|FILE>
              Take back what the last run did to this workflow, instead of a whole run

          --to <N>
              Put it as change N left it (0: as before the first change); default: as before the run

          --force
              Also when the workflow was changed since by somebody else

          --allow <GUARD>
              Allow what would be asked: publish (the workflow is active, so that the change is live at
              once)

              [possible values: publish]

          --target <NAME>
              The n8n that it was pushed to, a target of agentctl.toml; without RUN: the last push to it

          --plan
              Look first: show what would be taken back and what would be left to do. On a terminal you
              then say yes or no; elsewhere nothing is changed

          --no-input
              Never ask on the terminal

    Examples:
      agentctl undo
      agentctl undo 20261121-1009 --to 2
      agentctl undo --plan
      agentctl undo --workflow orders
      agentctl undo --workflow orders --to 0
      agentctl undo --target prod --plan

    Changes are numbered from 1; `agentctl log RUN` and `agentctl log --workflow ID` show the numbers.
    State N is what change N left, 0 is what was there before the first. An undo is a change too: `--to`
    a later number brings back what was undone.
    ");
}

#[test]
fn accept() {
    insta::assert_snapshot!(help("accept"), @r"
    Say that a workflow is as you want it: what agents take away is counted from there

    Usage: agentctl accept [OPTIONS] <WORKFLOW>

    Arguments:
      <WORKFLOW>
              The workflow: its id, or its file

    Options:
          --yes
              Do not ask

    Examples:
      agentctl accept orders
      agentctl accept orders --yes

    Agents may take away at most half of the nodes of the last state that you accepted, over all runs
    and sessions; more is asked.
    Shows what was lost since, and asks. Without a terminal: --yes.
    ");
}

#[test]
fn diff() {
    insta::assert_snapshot!(help("diff"), @r"
    Show what changed between two states of a workflow, or between two files

    Usage: agentctl diff [OPTIONS] [RUN|FILE FILE]...

    Arguments:
      [RUN|FILE FILE]...
              A run (default: the active one): from what it started from to what it left; or two files

    Options:
          --workflow <ID|FILE>
              A workflow: from before the last run that changed it to how it is now

          --from <N>
              From the state that change N left; 0: from before the first

          --to <N>
              To the state that change N left

    Examples:
      agentctl diff
      agentctl diff 20261121-1009 --from 1 --to 2
      agentctl diff --workflow orders
      agentctl diff old.json new.json

    Numbers are those of `agentctl log`: state N is what change N left, 0 is what was there before the
    first.
    ");
}

#[test]
fn log() {
    insta::assert_snapshot!(help("log"), @r"
    Read a run's journal as a story: who did what, when, by which rule, at what cost

    Usage: agentctl log [OPTIONS] [RUN]

    Arguments:
      [RUN]
              The run; default: the active one

    Options:
          --workflow <ID|FILE>
              The numbered changes of this workflow over all runs, instead of a run

      -f, --follow
              Go on with what comes, until the run ends or stops

          --since <N>
              Only records from this number on

              [default: 1]

    Examples:
      agentctl log
      agentctl log 20261121-1009 --since 40
      agentctl log --follow
      agentctl log --workflow orders

    With --follow it ends when the run ends, waits for an answer, or is found dead.
    ");
}
