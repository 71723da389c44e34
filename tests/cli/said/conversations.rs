//! Packs, and conversations with them.

use crate::support::Project;

#[test]
fn packs() {
    let project = Project::new();
    insta::assert_snapshot!(project.said("packs list"), @"
    exit code 0
    front-door
      Front door for change requests
    n8n-builder (default)
      Builds, changes and checks n8n workflows
    n8n-copilot
      Copilot for one n8n workflow
    ");
    insta::assert_snapshot!(project.said("packs show front-door"), @"
    exit code 0
    front-door: Front door for change requests
    begins with the flow: turn
    flows: turn
    agents: chat, elicitation, matcher, no_match, reviewer, supervisor
    data: fields (data/fields.yaml), teams (data/teams.yaml), texts (data/texts.yaml)
    requires: none
    files of this project: none
    ");
    insta::assert_snapshot!(project.said("packs show font-door"), @r#"
    exit code 2
    -- stderr --
    error: there is no pack "font-door"
    hint: packs: front-door, n8n-builder, n8n-copilot; did you mean "front-door"?
    "#);
    insta::assert_snapshot!(project.said("packs check"), @"
    exit code 0
    front-door: 1 flows, 6 agents, 3 files of data: no mistakes, 0 warnings
    n8n-builder: 1 flows, 5 agents, 0 files of data: no mistakes, 0 warnings
    n8n-copilot: 1 flows, 5 agents, 0 files of data: no mistakes, 0 warnings
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
    hint: packs: front-door, n8n-builder, n8n-copilot
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
    hint: packs: front-door, n8n-builder, n8n-copilot
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
    0 messages were written to ann.json
    ");
    insta::assert_snapshot!(project.said("sessions import front-door bob --from ann.json"), @"
    exit code 0
    0 messages were read into bob
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
