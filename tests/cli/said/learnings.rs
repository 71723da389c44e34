//! What runs taught.

use crate::support::Project;

#[test]
fn entries() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("learnings add 'Sheet tabs are locators' --problem 'sheetName is reported as empty' --cause 'it is a resource locator' --solution 'set mode and value' --node n8n-nodes-base.googleSheets --code n8n/parameter --tag locator"), @r"
    exit code 0
    L-001: Sheet tabs are locators
    ");
    insta::assert_snapshot!(project.said("learnings add 'No problem'"), @r"
    exit code 2
    -- stderr --
    error: the following required arguments were not provided:
      --problem <TEXT>
      --cause <TEXT>
      --solution <TEXT>

    Usage: agentctl learnings add --problem <TEXT> --cause <TEXT> --solution <TEXT> <TITLE>

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(project.said("learnings show L-001"), @r"
    exit code 0
    ## L-001: Sheet tabs are locators
    - date: [DAY]
    - workflow: -
    - node types: n8n-nodes-base.googleSheets
    - finding codes: n8n/parameter
    - tags: locator
    - problem: sheetName is reported as empty
    - cause: it is a resource locator
    - solution: set mode and value
    - evidence: written by hand
    - status: active
    (read by no run yet)
    ");
    insta::assert_snapshot!(project.said("learnings show L-009"), @r"
    exit code 2
    -- stderr --
    error: there is no learning `L-009`
    hint: agentctl learnings search WORDS lists ids
    ");
    insta::assert_snapshot!(project.said("learnings edit L-001 --set tags=locator,sheets"), @r"
    exit code 0
    changed L-001: Sheet tabs are locators
    ");
    insta::assert_snapshot!(project.said("learnings edit L-001 --set colour=red"), @r"
    exit code 2
    -- stderr --
    error: the learning is not acceptable: there is no field `colour`; the fields are title, date, workflow, node types, finding codes, tags, problem, cause, solution, evidence, fix, status, notes
    ");
    insta::assert_snapshot!(project.said("learnings search locator"), @r"
    exit code 0
    L-001 Sheet tabs are locators · googleSheets · n8n/parameter
    ");
    insta::assert_snapshot!(project.said("learnings search code:nothing"), @r"
    exit code 0
    nothing fits; agentctl learnings index shows the groups
    ");
    insta::assert_snapshot!(project.said("learnings retire L-001 --reason 'fixed in n8n 2.40'"), @r"
    exit code 0
    retired L-001: Sheet tabs are locators
    ");
    insta::assert_snapshot!(project.said("learnings retire L-009 --reason 'not there'"), @r"
    exit code 2
    -- stderr --
    error: there is no learning `L-009`
    hint: agentctl learnings search WORDS lists ids
    ");
}

#[test]
fn keeping_them() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("learnings stats"), @"
    exit code 0
    0 active entries, 0 retired
    LEARNINGS-INDEX.md: 19 tokens (what an agent reads first), 0 pages
    LEARNINGS.md: 0 tokens
    0 runs
    read by no run: 0 active entries
    ");
    insta::assert_snapshot!(project.said("learnings index"), @r"
    exit code 0
    # Learnings index
    Generated: agentctl learnings index. Read by id.
    -- stderr --
    the index was up to date
    ");
    insta::assert_snapshot!(project.said("learnings check"), @r"
    exit code 0
    nothing to mend
    ");
    project.write("notes.md", "## L-042: Labels are lists\n\nProblem: a label is refused\nCause: it is a list\nSolution: write a list\n");
    insta::assert_snapshot!(project.said("learnings import notes.md"), @"
    exit code 0
    1 entry imported, 0 there already
    L-042: Labels are lists
    ");
    insta::assert_snapshot!(project.said("learnings import nowhere.md"), @r"
    exit code 1
    -- stderr --
    error: cannot read nowhere.md: No such file or directory (os error 2)
    ");
    insta::assert_snapshot!(project.said("learnings index --check"), @r"
    exit code 0
    the index is up to date
    ");
    insta::assert_snapshot!(project.said("learnings check"), @r"
    exit code 0
    nothing to mend
    ");
    insta::assert_snapshot!(project.said("learnings check --fail-on sometimes"), @r"
    exit code 2
    -- stderr --
    error: invalid value 'sometimes' for '--fail-on <LEVEL>'
      [possible values: error, warning, never]

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(project.said("learnings stats colour"), @r"
    exit code 2
    -- stderr --
    error: unexpected argument 'colour' found

    Usage: agentctl learnings stats [OPTIONS]

    For more information, try '--help'.
    ");
}
