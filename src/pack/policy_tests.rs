//! The built-in matrix, cell by cell.

use agentctl_base::decision::Decision;
use agentctl_engine::policy::Policy;
use agentctl_n8n_tools::capability as can;
use proptest::prelude::*;
use serde_json::Map;

fn built_in() -> Policy {
    super::built_in().unwrap_or_else(|p| panic!("{p}")).policy
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
            "draft_workflow",
            "get_node",
            "get_workflow",
            "list_workflows",
            "load_skill",
            "qa_workflows",
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
            "qa_workflows",
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
        (can::CREATE_WORKFLOW, "builder"),
        (can::UPDATE_WORKFLOW, "builder"),
        (can::AUTOFIX_WORKFLOW, "builder"),
        (can::ROLLBACK_WORKFLOW, "builder"),
        (can::DELETE_WORKFLOW, "builder"),
        (can::VALIDATE_DRAFT, "builder"),
        (can::VALIDATE_FINAL, "qa"),
        (can::ACTIVATE_WORKFLOW, "qa"),
        (can::TRIGGER_WORKFLOW, "qa"),
        (can::WRITE_LEARNINGS, "analyst"),
    ] {
        let who: Vec<&str> = policy
            .roles()
            .filter(|(_, can)| can.contains(&capability))
            .map(|(r, _)| r)
            // It works alone, where a project's settings say so (agents/settings.yaml); the program makes the final check after it.
            .filter(|r| *r != "single")
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

proptest! {
    /// No name, however close to a tool's, gets more than the tool itself would.
    #[test]
    fn what_is_not_granted_is_denied(role in "[a-z]{1,12}|builder|qa|Builder", tool in "[ -~]{0,20}|(mcp__)?[a-z_]{1,20}") {
        let policy = built_in();
        let decision = policy.decide(&role, &tool, &Map::new());
        let granted = policy.capability_of(&tool).is_some_and(|c| policy.grants(&role, c));
        prop_assert_eq!(word(&decision) == "deny", !granted);
    }
}
