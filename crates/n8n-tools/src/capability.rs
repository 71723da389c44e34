//! What the tools do. The matrix in `policy.yaml` grants these to roles.

use agentctl_engine::vocabulary::Capability;

pub const LIST_WORKFLOWS: Capability = Capability::named("list-workflows");
pub const GET_WORKFLOW: Capability = Capability::named("get-workflow");
pub const CREATE_WORKFLOW: Capability = Capability::named("create-workflow");
pub const UPDATE_WORKFLOW: Capability = Capability::named("update-workflow");
/// Nodes and connections, no values.
pub const EDIT_STRUCTURE: Capability = Capability::named("edit-structure");
/// Values of nodes, and nothing else.
pub const EDIT_PARAMETERS: Capability = Capability::named("edit-parameters");
/// Single values of nodes.
pub const READ_PARAMETERS: Capability = Capability::named("read-parameters");
/// One half of a check, for whoever can mend what it finds.
pub const VALIDATE_PART: Capability = Capability::named("validate-part");
pub const AUTOFIX_WORKFLOW: Capability = Capability::named("autofix-workflow");
/// The note beside a workflow of what is still to do: for flows.
pub const NOTE_TODO: Capability = Capability::named("note-todo");
pub const ROLLBACK_WORKFLOW: Capability = Capability::named("rollback-workflow");
/// To a state of an earlier run: for flows, which keep which one.
pub const RESTORE_WORKFLOW: Capability = Capability::named("restore-workflow");
pub const SHOW_WORKFLOW: Capability = Capability::named("show-workflow");
pub const DELETE_WORKFLOW: Capability = Capability::named("delete-workflow");
pub const VALIDATE_DRAFT: Capability = Capability::named("validate-draft");
/// What the offline planner makes of a request.
pub const DRAFT_WORKFLOW: Capability = Capability::named("draft-workflow");
pub const QA_WORKFLOWS: Capability = Capability::named("qa-workflows");
pub const VALIDATE_FINAL: Capability = Capability::named("validate-final");
pub const ACTIVATE_WORKFLOW: Capability = Capability::named("activate-workflow");
pub const TRIGGER_WORKFLOW: Capability = Capability::named("trigger-workflow");
pub const READ_EXECUTIONS: Capability = Capability::named("read-executions");
pub const READ_VERSIONS: Capability = Capability::named("read-versions");
pub const SEARCH_NODES: Capability = Capability::named("search-nodes");
pub const SEARCH_TEMPLATES: Capability = Capability::named("search-templates");
pub const NODE_SCHEMA: Capability = Capability::named("node-schema");
pub const CHECK_NODES: Capability = Capability::named("check-nodes");
pub const READ_SKILLS: Capability = Capability::named("read-skills");
/// How workflows of a kind are built.
pub const BEST_PRACTICES: Capability = Capability::named("best-practices");
pub const READ_LEARNINGS: Capability = Capability::named("read-learnings");
pub const SUBMIT_REQUEST: Capability = Capability::named("submit-request");
pub const WRITE_LEARNINGS: Capability = Capability::named("write-learnings");
