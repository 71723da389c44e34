//! The built-in matrix, cell by cell, and what must hold for any policy.

use super::*;
use agentctl_base::decision::Decision;
use agentctl_base::foreign::{foreign_name, split_foreign};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

fn built_in() -> Policy {
    Policy::load(
        include_str!("../../../../agents/policy.yaml"),
        "agents/policy.yaml",
    )
    .unwrap_or_else(|p| panic!("{p:?}"))
}

fn word(decision: &Decision) -> &'static str {
    match decision {
        Decision::Allow { .. } => "allow",
        Decision::Ask { .. } => "ask",
        Decision::Deny { .. } => "deny",
    }
}

#[test]
fn the_matrix_is_that_of_the_design() {
    let policy = built_in();
    let may = |role: &str| -> Vec<String> { policy.allowed_tools(role) };
    assert_eq!(may("orchestrator"), ["get_workflow", "list_workflows"]);
    assert_eq!(
        may("architect"),
        [
            "load_skill",
            "read_learning",
            "read_skill_file",
            "search_learnings"
        ]
    );
    assert_eq!(
        may("researcher"),
        [
            "get_node",
            "get_template",
            "get_workflow",
            "list_workflows",
            "load_skill",
            "read_learning",
            "read_skill_file",
            "search_learnings",
            "search_nodes",
            "search_templates"
        ]
    );
    assert_eq!(
        may("builder"),
        [
            "autofix_workflow",
            "check_workflow",
            "create_workflow",
            "delete_workflow",
            "get_node",
            "get_workflow",
            "list_workflows",
            "load_skill",
            "read_learning",
            "read_skill_file",
            "rollback_workflow",
            "search_learnings",
            "update_workflow"
        ]
    );
    assert_eq!(
        may("qa"),
        [
            "activate_workflow",
            "deactivate_workflow",
            "get_execution",
            "get_workflow",
            "list_executions",
            "list_versions",
            "list_workflows",
            "load_skill",
            "read_learning",
            "read_skill_file",
            "rehearse_workflow",
            "search_learnings",
            "trigger_workflow",
            "validate_workflow"
        ]
    );
    assert_eq!(
        may("analyst"),
        [
            "get_execution",
            "get_workflow",
            "list_executions",
            "list_versions",
            "list_workflows",
            "load_skill",
            "read_learning",
            "read_skill_file",
            "search_learnings",
            "write_learning"
        ]
    );
    assert_eq!(may("nobody"), Vec::<String>::new());
}

#[test]
fn only_one_role_holds_each_dangerous_capability() {
    let policy = built_in();
    for (capability, role) in [
        (Capability::CreateWorkflow, "builder"),
        (Capability::UpdateWorkflow, "builder"),
        (Capability::AutofixWorkflow, "builder"),
        (Capability::RollbackWorkflow, "builder"),
        (Capability::DeleteWorkflow, "builder"),
        (Capability::ValidateDraft, "builder"),
        (Capability::ValidateFinal, "qa"),
        (Capability::ActivateWorkflow, "qa"),
        (Capability::TriggerWorkflow, "qa"),
        (Capability::WriteLearnings, "analyst"),
        (Capability::Delegate, "orchestrator"),
    ] {
        let who: Vec<&str> = policy
            .roles()
            .filter(|(_, can)| can.contains(&capability))
            .map(|(r, _)| r)
            .collect();
        assert_eq!(who, [role], "{capability:?}");
    }
}

#[test]
fn names_are_compared_byte_by_byte() {
    let policy = built_in();
    let decide = |tool: &str| word(&policy.decide("builder", tool, &Map::new()));
    assert_eq!(decide("create_workflow"), "allow");
    for tool in [
        "Create_Workflow",
        "create_workflow ",
        " create_workflow",
        "create-workflow",
        "create_workflow\u{200b}",
        "сreate_workflow",
        "",
    ] {
        assert_eq!(decide(tool), "deny", "{tool:?}");
    }
    assert_eq!(
        word(&policy.decide("Builder", "create_workflow", &Map::new())),
        "deny"
    );
}

#[test]
fn the_table_and_the_list_of_tools_agree() {
    assert!(
        NATIVE_TOOLS
            .iter()
            .all(|tool| capability_of(tool).is_some())
    );
    let sorted: BTreeSet<&&str> = NATIVE_TOOLS.iter().collect();
    assert_eq!(
        sorted.into_iter().collect::<Vec<_>>(),
        NATIVE_TOOLS.iter().collect::<Vec<_>>()
    );
    // Each capability but `delegate` has a tool, and its name reads back.
    for capability in CAPABILITIES {
        assert_eq!(Capability::from_name(capability.name()), Some(*capability));
        assert_eq!(
            serde_json::to_value(capability).unwrap(),
            json!(capability.name())
        );
        let has_tool = NATIVE_TOOLS
            .iter()
            .any(|t| capability_of(t) == Some(*capability));
        assert_eq!(
            has_tool,
            *capability != Capability::Delegate,
            "{capability:?}"
        );
    }
}

const RULES: &str = "\
roles:
  r: [list-workflows]
  s: []
rules:
  - id: read-issues
    effect: allow
    roles: [r]
    tools: [mcp__tracker__get_issue]
    when: args.project in ['A', 'B']
    reason: issues of two projects
    match: [{role: r, args: {project: A}}]
    not_match: [{role: r, args: {project: C}}, {role: s, args: {project: A}}, {role: r}]
  - id: ask-for-b
    effect: ask
    tools: [mcp__tracker__get_issue]
    when: args.project == 'B'
    reason: project B is confidential
    match: [{role: r, args: {project: B}}]
    not_match: [{role: r, args: {project: A}}]
  - id: no-secrets
    effect: deny
    tools: [mcp__tracker__get_issue, list_workflows]
    when: has(args.query) && args.query.contains('secret')
    reason: no search for secrets
    match: [{role: r, args: {query: my secret}}]
    not_match: [{role: r, args: {query: x}}, {role: r}]
";

#[test]
fn deny_beats_ask_beats_allow_and_foreign_tools_need_a_rule() {
    let policy = Policy::load(RULES, "p").unwrap_or_else(|p| panic!("{p:?}"));
    let decide = |role: &str, tool: &str, args: Value| {
        let decision = policy.decide(role, tool, args.as_object().unwrap());
        format!("{} {}", word(&decision), decision.rule())
    };
    let tool = "mcp__tracker__get_issue";
    assert_eq!(
        decide("r", tool, json!({"project": "A"})),
        "allow read-issues"
    );
    assert_eq!(decide("r", tool, json!({"project": "B"})), "ask ask-for-b");
    assert_eq!(
        decide("r", tool, json!({"project": "B", "query": "secret"})),
        "deny no-secrets"
    );
    assert_eq!(
        decide("r", tool, json!({"project": "C"})),
        "deny foreign-tools"
    );
    assert_eq!(decide("r", tool, json!({})), "deny foreign-tools");
    assert_eq!(
        decide("s", tool, json!({"project": "A"})),
        "deny foreign-tools"
    );
    assert_eq!(
        decide("r", "mcp__tracker__delete_issue", json!({"project": "A"})),
        "deny foreign-tools"
    );
    assert_eq!(
        decide("r", "mcp__other__get_issue", json!({"project": "A"})),
        "deny foreign-tools"
    );
    assert_eq!(decide("x", tool, json!({"project": "A"})), "deny role");
    assert_eq!(
        decide("r", "list_workflows", json!({})),
        "allow r: list-workflows"
    );
    assert_eq!(
        decide("r", "list_workflows", json!({"query": "a secret"})),
        "deny no-secrets"
    );
    assert_eq!(
        decide("r", "get_workflow", json!({})),
        "deny r: no get-workflow"
    );
    // A rule that cannot be evaluated on these arguments stops the call rather than letting it pass.
    assert_eq!(
        decide("r", "list_workflows", json!({"query": 5})),
        "deny no-secrets"
    );
    assert_eq!(
        policy.allowed_tools("r"),
        ["list_workflows", "mcp__tracker__get_issue"]
    );
}

#[test]
fn the_explanation_shows_the_way_to_the_decision() {
    let policy = Policy::load(RULES, "p").unwrap();
    let args = json!({"project": "B"});
    let text = policy
        .explain(
            "r",
            "mcp__tracker__get_issue",
            args.as_object().unwrap(),
            &Facts::default(),
        )
        .to_string();
    insta::assert_snapshot!(text, @r"
    ask: mcp__tracker__get_issue for r
      decided by ask-for-b
      project B is confidential
      - get_issue of the server tracker: denied unless a rule allows it
      - effect: change
      - origin of project: model
      - rule read-issues (allow) matches
      - rule ask-for-b (ask) matches
      - rule no-secrets (deny) does not match
    ");
}

#[test]
fn a_foreign_name_splits_at_the_first_double_underscore() {
    assert_eq!(
        split_foreign(&foreign_name("srv", "do__it")),
        Some(("srv", "do__it"))
    );
    for name in [
        "mcp__", "mcp__a", "mcp__a__", "mcp____b", "a__b", "mcp_a__b",
    ] {
        assert_eq!(split_foreign(name), None, "{name}");
    }
}

fn any_decision() -> impl Strategy<Value = Decision> {
    prop_oneof![
        "[a-c]".prop_map(|rule| Decision::Allow { rule }),
        "[a-c]".prop_map(|rule| Decision::Ask {
            rule,
            reason: "r".into()
        }),
        "[a-c]".prop_map(|rule| Decision::Deny {
            rule,
            reason: "r".into()
        }),
    ]
}

proptest! {
    #[test]
    fn together_the_stricter_decides(decisions in prop::collection::vec(any_decision(), 1..6)) {
        let rank = |d: &Decision| ["allow", "ask", "deny"].iter().position(|w| *w == word(d));
        let strictest = decisions.iter().map(rank).max().flatten();
        let mut all = decisions.clone().into_iter();
        let first = all.next().unwrap();
        prop_assert_eq!(rank(&all.fold(first, Decision::and)), strictest);
    }

    /// No name, however close to a tool's, gets more than the tool itself would.
    #[test]
    fn what_is_not_granted_is_denied(role in "[a-z]{1,12}|builder|qa|Builder", tool in "[ -~]{0,20}|(mcp__)?[a-z_]{1,20}") {
        let policy = built_in();
        let decision = policy.decide(&role, &tool, &Map::new());
        let granted = capability_of(&tool).is_some_and(|c| policy.grants(&role, c));
        prop_assert_eq!(word(&decision) == "deny", !granted);
    }

    /// A tool that is not shown is never allowed, whatever the arguments.
    #[test]
    fn what_is_not_shown_is_denied(role in "r|s|x", tool in "list_workflows|get_workflow|mcp__tracker__get_issue|mcp__tracker__x", project in "A|B|C", query in "secret|x") {
        let policy = Policy::load(RULES, "p").unwrap();
        let args = json!({"project": project, "query": query});
        let decision = policy.decide(&role, &tool, args.as_object().unwrap());
        if !policy.allowed_tools(&role).contains(&tool) {
            prop_assert_eq!(word(&decision), "deny");
        }
    }
}
