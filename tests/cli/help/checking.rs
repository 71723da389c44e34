//! Help: checking workflows, and what runs taught.

use super::help;

#[test]
fn test() {
    insta::assert_snapshot!(help("test"), @"
    Try a workflow on the connected n8n against cases: what goes in, what services answer, what must
    come out

    Usage: agentctl test [OPTIONS] <WORKFLOW> [CASE]...

    Arguments:
      <WORKFLOW>
              The workflow on the connected n8n, by id or name

      [CASE]...
              Files with a case each; default: those of tests/*.case.yaml that name this workflow, and
              those that its last build tried

    Options:
          --let-act <NODE>
              Let the node of this name act on the outside world; can be given several times

    Examples:
      agentctl test orders
      agentctl test orders tests/big-order.case.yaml
      agentctl test 7Hq2 --output-format json

    Each case runs on a temporary copy, which is removed again. Nodes that would act on the outside
    world are simulated: they hand on what the case says, and what they would have sent is worked out
    and compared.
    Exit code 0: every case passed. 1: one failed, the run did not come to what it expects, or what it
    expects rests on items that the test made up. 2: a case that cannot be tried.
    ");
}

#[test]
fn qa() {
    insta::assert_snapshot!(help("qa"), @"
    Check workflow files, or the workflows of the connected n8n

    Usage: agentctl qa [OPTIONS] [PATH]...

    Arguments:
      [PATH]...
              Workflow files or folders (`-`: stdin)

    Options:
          --workflow <ID>
              A workflow of the connected n8n, by id or name, instead of files; n8n is only read

          --all
              All workflows of the connected n8n

          --tag <TAG>
              The workflows of the connected n8n that have this tag

          --explain <CODE>
              Print what a code means, with examples and the fix, and check nothing

          --fail-on <SEVERITY>
              The lowest severity that fails the check

              [default: error]
              [possible values: error, warning, never]

          --only <CODE>
              Only these codes, or families of codes (`n8n/`)

          --ignore <CODE>
              Not these codes, or families of codes

          --report <KIND[=FILE]>
              Write a report for CI: `sarif=FILE`, `junit=FILE`, or `github` for annotations

          --html <FILE>
              Write a page for people: totals, and all findings in a table to sort and filter

          --baseline <FILE>
              Known findings, which do not fail the check

          --write-baseline
              Make what is found now the baseline

          --fix
              Apply the fixes that are sure, and show the diff

          --dry-run
              With --fix: show the diff and change nothing

          --changed-since <REV>
              Only files that differ from where the branch left this git revision

          --staged
              Only what the next commit would add or change, as it is staged, whatever stands in the
              folder beside it

    Examples:
      agentctl qa workflows/
      agentctl qa --output-format json --fail-on warning flow.json
      cat flow.json | agentctl qa -
      agentctl qa --fix workflows/
      agentctl qa --baseline qa-baseline.json --write-baseline workflows/
      agentctl qa --changed-since origin/main --report github --report sarif=qa.sarif .
      agentctl qa --all --report junit=qa.xml
      agentctl qa --html qa.html workflows/
      agentctl qa --explain agentctl/unknown-reference

    Waivers stand in agentctl.toml ([[qa.waiver]]: code or id, path, node, reason, expires).
    Exit code 0: nothing at or above the threshold; 1: findings; 2: usage.
    ");
}

#[test]
fn analyze() {
    insta::assert_snapshot!(help("analyze"), @r"
    Why a run went as it did, and what can be learned from it; reads only

    Usage: agentctl analyze [OPTIONS] [RUN]

    Arguments:
      [RUN]
              The run; default: the newest

    Options:
          --workflow <ID>
              This workflow: its versions, its changes, and the newest run that changed it

          --executions <N>
              Its last executions as well (200 at most), where the backend executes

          --since <WHEN>
              All runs since then together: 30d, 12h, 2w or YYYY-MM-DD

          --accept-learnings
              Write the proposed learnings, and name them at the patterns that they belong to

          --explain
              One call of a model on top: claims that name no event, finding or execution of the journal
              are left out

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
      agentctl analyze
      agentctl analyze 019a… --accept-learnings
      agentctl analyze --since 30d
      agentctl analyze --workflow orders --executions 20
      agentctl analyze --explain --model provider::model
    ");
}

#[test]
fn learnings() {
    insta::assert_snapshot!(help("learnings"), @r"
    What runs taught: add, find, check and index entries of docs/learning/

    Usage: agentctl learnings [OPTIONS] <COMMAND>

    Commands:
      add     Add an entry; the same lesson twice is kept once
      edit    Change fields of an entry
      show    Entries and patterns by id, with how often they helped
      search  Find entries by words, tag:NAME, code:CODE or node:TYPE
      index   Print the index and write its files anew
      check   Find broken forms, copies, contradictions, dead links, long and unread entries
      stats   How many entries, what an agent reads first, and which entries helped
      import  Take over a hand-written file (`## L-042: …`, `### [date] title` and others)
      retire  Take an entry out of the index; it stays readable by its id
      help    Print this message or the help of the given subcommand(s)

    Example:
      agentctl learnings search code:n8n/parameter
    ");
    insta::assert_snapshot!(help("learnings add"), @r#"
    Add an entry; the same lesson twice is kept once

    Usage: agentctl learnings add [OPTIONS] --problem <TEXT> --cause <TEXT> --solution <TEXT> <TITLE>

    Arguments:
      <TITLE>


    Options:
          --problem <TEXT>
              What one sees

          --cause <TEXT>
              Why

          --solution <TEXT>
              What to do

          --evidence <TEXT>
              Where it was seen: run and event, finding id, documentation

              [default: "written by hand"]

          --workflow <ID>
              The workflow it was seen in

          --node <TYPE>
              Full node type, e.g. n8n-nodes-base.slack

          --code <CODE>
              Finding code, e.g. n8n/parameter

          --tag <TAG>


          --fix <FIX>
              `checker` (the checker's likely fix is right), or edit operations as JSON

          --date <DATE>
              YYYY-MM-DD; default: today

    Example:
      agentctl learnings add "Sheet tabs are locators" --problem "sheetName is reported as empty" \
        --cause "it is a resource locator" --solution "set mode and value" --node
        n8n-nodes-base.googleSheets --code n8n/parameter --tag locator
    "#);
    insta::assert_snapshot!(help("learnings edit"), @r#"
    Change fields of an entry

    Usage: agentctl learnings edit [OPTIONS] --set <FIELD=VALUE> <ENTRY>

    Arguments:
      <ENTRY>


    Options:
          --set <FIELD=VALUE>
              title, date, workflow, node types, finding codes, tags, problem, cause, solution,
              evidence, fix, status or notes

    Example:
      agentctl learnings edit L-003 --set solution="take values from the schema" --set tags=slack,labels
    "#);
    insta::assert_snapshot!(help("learnings show"), @r"
    Entries and patterns by id, with how often they helped

    Usage: agentctl learnings show [OPTIONS] <ENTRY>...

    Arguments:
      <ENTRY>...

    Example:
      agentctl learnings show L-001 L-004 P-002
    ");
    insta::assert_snapshot!(help("learnings search"), @r"
    Find entries by words, tag:NAME, code:CODE or node:TYPE

    Usage: agentctl learnings search [OPTIONS] <WORDS>...

    Arguments:
      <WORDS>...


    Options:
          --limit <N>
              At most this many

              [default: 20]

          --retired
              Retired entries too

    Examples:
      agentctl learnings search resource locator
      agentctl learnings search code:n8n/parameter node:slack
    ");
    insta::assert_snapshot!(help("learnings index"), @r"
    Print the index and write its files anew

    Usage: agentctl learnings index [OPTIONS]

    Options:
          --check
              Write nothing; fail when the index is stale

    Examples:
      agentctl learnings index
      agentctl learnings index --check

    Exit code of --check: 0 the index is what LEARNINGS.md makes of it, 1 it is stale.
    ");
    insta::assert_snapshot!(help("learnings check"), @r"
    Find broken forms, copies, contradictions, dead links, long and unread entries

    Usage: agentctl learnings check [OPTIONS]

    Options:
          --fix
              Mend what needs no judgement: missing status, date and evidence, exact copies, the index

          --fail-on <LEVEL>
              The lowest level that fails the check

              [default: error]
              [possible values: error, warning, never]

    Examples:
      agentctl learnings check
      agentctl learnings check --fix

    Exit code 0: nothing at or above the threshold; 1: something is.
    ");
    insta::assert_snapshot!(help("learnings stats"), @r"
    How many entries, what an agent reads first, and which entries helped

    Usage: agentctl learnings stats [OPTIONS]

    Example:
      agentctl learnings stats
    ");
    insta::assert_snapshot!(help("learnings import"), @r"
    Take over a hand-written file (`## L-042: …`, `### [date] title` and others)

    Usage: agentctl learnings import [OPTIONS] <FILE>

    Arguments:
      <FILE>

    Example:
      agentctl learnings import notes/LEARNINGS.md

    The source stays as it is. What has no field goes to the entry's notes; what could not be read is
    listed.
    ");
    insta::assert_snapshot!(help("learnings retire"), @r#"
    Take an entry out of the index; it stays readable by its id

    Usage: agentctl learnings retire [OPTIONS] --reason <TEXT> <ENTRY>

    Arguments:
      <ENTRY>


    Options:
          --reason <TEXT>

    Example:
      agentctl learnings retire L-006 --reason "fixed in n8n 2.40"
    "#);
}

#[test]
fn show() {
    insta::assert_snapshot!(help("show"), @r#"
    Show a workflow: as a tree, a chart for Markdown, a picture, or a page

    Usage: agentctl show [OPTIONS] <FILE|ID>

    Arguments:
      <FILE|ID>
              A workflow file (`-`: stdin), or a workflow of the project or of the connected n8n, by id
              or name

    Options:
          --format <FORMAT>
              What it is shown as, on stdout

              Possible values:
              - tree:    Lines of text
              - mermaid: A flow chart for Markdown
              - svg:     A picture, light or dark as its reader likes
              - html:    A page in one file: picture, findings, text

              [default: tree]

          --name <NAME>
              The workflow of this name, of an export that holds several

    Examples:
      agentctl show workflows/orders.json
      agentctl show orders --format svg > orders.svg
      agentctl show orders --format html > orders.html
      agentctl show --name "Daily report" --format mermaid export.json

    A picture shows nodes where n8n shows them; a workflow whose nodes have no places of their own is
    laid out anew. What `agentctl qa` finds is marked on its node.
    "#);
}

#[test]
fn report() {
    insta::assert_snapshot!(help("report"), @"
    Write a run as a page: request, questions, phases, pictures before and after, findings, refusals,
    cost

    Usage: agentctl report [OPTIONS] --html <FILE> [RUN]

    Arguments:
      [RUN]
              The run; default: the active one

    Options:
          --html <FILE>
              The file to write

    Examples:
      agentctl report --html run.html
      agentctl report 019a… --html run.html

    The page is one file: it loads nothing, sends nothing, and its policy (CSP) allows neither. What
    looks like a secret is hidden in it.
    ");
}

#[test]
fn schema() {
    insta::assert_snapshot!(help("schema"), @r#"
    Print the JSON Schema of an answer or a file, for programs that read or write it

    Usage: agentctl schema [OPTIONS] [SCHEMA]

    Arguments:
      [SCHEMA]
              Which one; without it they are listed

    Examples:
      agentctl schema
      agentctl schema qa > qa.schema.json
      agentctl schema "runs list"

    SCHEMA may be the command that prints it, in quotes. The same files stand in docs/schemas. Keys that
    a schema does not name may come in a later version where it says so; names and meanings stay.
    "#);
}
