//! The native tools and their one capability each. Code, not configuration: a pack cannot make a tool mean something else.

use super::Capability;

const TABLE: &[(&str, Capability)] = &[
    ("activate_workflow", Capability::ActivateWorkflow),
    ("autofix_workflow", Capability::AutofixWorkflow),
    ("check_workflow", Capability::ValidateDraft),
    ("create_workflow", Capability::CreateWorkflow),
    ("deactivate_workflow", Capability::ActivateWorkflow),
    ("delete_workflow", Capability::DeleteWorkflow),
    ("get_execution", Capability::ReadExecutions),
    ("get_node", Capability::NodeSchema),
    ("get_template", Capability::SearchTemplates),
    ("get_workflow", Capability::GetWorkflow),
    ("list_executions", Capability::ReadExecutions),
    ("list_versions", Capability::ReadVersions),
    ("list_workflows", Capability::ListWorkflows),
    ("load_skill", Capability::ReadSkills),
    ("read_learning", Capability::ReadLearnings),
    ("read_skill_file", Capability::ReadSkills),
    ("rehearse_workflow", Capability::TriggerWorkflow),
    ("rollback_workflow", Capability::RollbackWorkflow),
    ("search_learnings", Capability::ReadLearnings),
    ("search_nodes", Capability::SearchNodes),
    ("search_templates", Capability::SearchTemplates),
    ("trigger_workflow", Capability::TriggerWorkflow),
    ("update_workflow", Capability::UpdateWorkflow),
    ("validate_workflow", Capability::ValidateFinal),
    ("write_learning", Capability::WriteLearnings),
];

/// Sorted by name.
pub const NATIVE_TOOLS: &[&str] = &[
    "activate_workflow",
    "autofix_workflow",
    "check_workflow",
    "create_workflow",
    "deactivate_workflow",
    "delete_workflow",
    "get_execution",
    "get_node",
    "get_template",
    "get_workflow",
    "list_executions",
    "list_versions",
    "list_workflows",
    "load_skill",
    "read_learning",
    "read_skill_file",
    "rehearse_workflow",
    "rollback_workflow",
    "search_learnings",
    "search_nodes",
    "search_templates",
    "trigger_workflow",
    "update_workflow",
    "validate_workflow",
    "write_learning",
];

/// By the exact bytes of the name: no trimming, no case folding, no Unicode normalisation.
pub fn capability_of(tool: &str) -> Option<Capability> {
    TABLE
        .iter()
        .find(|(name, _)| *name == tool)
        .map(|(_, capability)| *capability)
}
