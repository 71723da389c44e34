//! The native tools: name, capability, description, schema, and the typed request that a call becomes.
//! One tool has one capability; none reads or writes by an argument. What is not in this table is no tool.

mod requests;
mod schema;

pub use requests::*;

use agentctl_base::model::ToolSpec;
use agentctl_engine::policy::Capability;
use agentctl_n8n_tools::vocabulary::capability;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub const GET_WORKFLOW: &str = "get_workflow";
pub const WRITE_LEARNING: &str = "write_learning";
pub const VALIDATE_WORKFLOW: &str = "validate_workflow";

/// A call, parsed: one variant for each tool.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    ListWorkflows(ListWorkflows),
    GetWorkflow(GetWorkflow),
    CreateWorkflow(Box<CreateWorkflow>),
    UpdateWorkflow(UpdateWorkflow),
    AutofixWorkflow(AutofixWorkflow),
    DeleteWorkflow(DeleteWorkflow),
    CheckWorkflow(CheckWorkflow),
    ValidateWorkflow(ValidateWorkflow),
    RehearseWorkflow(RehearseWorkflow),
    RollbackWorkflow(RollbackWorkflow),
    ActivateWorkflow(WorkflowRef),
    DeactivateWorkflow(WorkflowRef),
    TriggerWorkflow(TriggerWorkflow),
    ListExecutions(ListExecutions),
    GetExecution(GetExecution),
    ListVersions(WorkflowRef),
    SearchNodes(SearchNodes),
    GetNode(GetNode),
    SearchTemplates(SearchTemplates),
    GetTemplate(GetTemplate),
    LoadSkill(LoadSkill),
    ReadSkillFile(ReadSkillFile),
    SearchLearnings(SearchLearnings),
    ReadLearning(ReadLearning),
    WriteLearning(WriteLearning),
}

type Parse = fn(Map<String, Value>) -> Result<Request, String>;

/// One native tool.
pub struct Tool {
    name: &'static str,
    capability: Capability,
    mutates: bool,
    description: &'static str,
    schema: fn() -> Value,
    parse: Parse,
}

impl Tool {
    pub fn name(&self) -> &'static str {
        self.name
    }
    pub fn capability(&self) -> Capability {
        self.capability
    }
    /// True when a call changes something that stays: its intent is on the disk before it runs.
    pub fn mutates(&self) -> bool {
        self.mutates
    }
    pub fn description(&self) -> &'static str {
        self.description
    }
    /// As the model sees it.
    pub fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.name.to_owned(),
            description: self.description.to_owned(),
            parameters: (self.schema)(),
        }
    }
    /// The typed request; unknown keys and wrong types are refused with the reason.
    pub fn parse(&self, args: Map<String, Value>) -> Result<Request, String> {
        (self.parse)(args)
    }
}

fn typed<T: DeserializeOwned>(args: Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(args)).map_err(|e| e.to_string())
}

/// `$request` is the variant and the type of its content.
macro_rules! tool {
    ($name:literal, $capability:ident, $mutates:literal, $variant:ident, $schema:ident, $description:literal) => {
        Tool {
            name: $name,
            capability: capability::$capability,
            mutates: $mutates,
            description: $description,
            schema: schema::$schema,
            parse: |args| typed(args).map(Request::$variant),
        }
    };
}

static TOOLS: &[Tool] = &[
    tool!(
        "activate_workflow",
        ACTIVATE_WORKFLOW,
        true,
        ActivateWorkflow,
        workflow_ref,
        "Publish a workflow, so that its trigger fires. Returns the state as read back."
    ),
    tool!(
        "autofix_workflow",
        AUTOFIX_WORKFLOW,
        true,
        AutofixWorkflow,
        autofix_workflow,
        "Apply the fixes that are certain. Returns which findings were fixed, what changed, and what a check says of the rest."
    ),
    tool!(
        "check_workflow",
        VALIDATE_DRAFT,
        false,
        CheckWorkflow,
        check_workflow,
        "Check a draft: a stored workflow, optionally as it would be after a list of operations. Returns findings; this is not the final verdict."
    ),
    tool!(
        "create_workflow",
        CREATE_WORKFLOW,
        true,
        CreateWorkflow,
        create_workflow,
        "Create a workflow from all its nodes and connections (or from a list of operations). Ids and positions may be left out. Returns id, file, node count and graph hash as read back, and what a check says of it."
    ),
    tool!(
        "deactivate_workflow",
        ACTIVATE_WORKFLOW,
        true,
        DeactivateWorkflow,
        workflow_ref,
        "Unpublish a workflow, so that its trigger no longer fires. Returns the state as read back."
    ),
    tool!(
        "delete_workflow",
        DELETE_WORKFLOW,
        true,
        DeleteWorkflow,
        delete_workflow,
        "Delete a workflow. One that this run did not create is deleted only with the user's word."
    ),
    tool!(
        "get_execution",
        READ_EXECUTIONS,
        false,
        GetExecution,
        get_execution,
        "Read one execution: status, the node that failed, its error."
    ),
    tool!(
        "get_node",
        NODE_SCHEMA,
        false,
        GetNode,
        get_node,
        "What a node type takes for one resource and operation, a line for each parameter: name (* required), type, choices, {parts}, = default, [if it is shown only then]. Without an operation also the list of resources and operations. `+3` means three more: ask for that `parameter`."
    ),
    tool!(
        "get_template",
        SEARCH_TEMPLATES,
        false,
        GetTemplate,
        get_template,
        "Read one template as a workflow."
    ),
    tool!(
        "get_workflow",
        GET_WORKFLOW,
        false,
        GetWorkflow,
        get_workflow,
        "Read a workflow. view `full` (default): the document, node by node; `summary`: names, types and connections. Returns its graph hash, which later edits are checked against."
    ),
    tool!(
        "list_executions",
        READ_EXECUTIONS,
        false,
        ListExecutions,
        list_executions,
        "List executions, newest first."
    ),
    tool!(
        "list_versions",
        READ_VERSIONS,
        false,
        ListVersions,
        workflow_ref,
        "List the kept earlier versions of a workflow, newest first."
    ),
    tool!(
        "list_workflows",
        LIST_WORKFLOWS,
        false,
        ListWorkflows,
        list_workflows,
        "List the workflows: id, name, active, node count, node types. Files that cannot be read are listed as broken."
    ),
    tool!(
        "load_skill",
        READ_SKILLS,
        false,
        LoadSkill,
        load_skill,
        "Read a skill's text and the names of its further files."
    ),
    tool!(
        "read_learning",
        READ_LEARNINGS,
        false,
        ReadLearning,
        read_learning,
        "Read learnings (L-001) and patterns (P-001) by their ids, as search_learnings names them."
    ),
    tool!(
        "read_skill_file",
        READ_SKILLS,
        false,
        ReadSkillFile,
        read_skill_file,
        "Read one file of a skill, by its path inside the skill."
    ),
    tool!(
        "rehearse_workflow",
        TRIGGER_WORKFLOW,
        true,
        RehearseWorkflow,
        rehearse_workflow,
        "Test a workflow by one real run on a temporary copy, which is removed again. Nodes that would act on the outside world, and those without their credential, are simulated. Returns which nodes ran, were simulated or not reached, the execution, and findings. On a backend that cannot execute it fails and says: not executed."
    ),
    tool!(
        "rollback_workflow",
        ROLLBACK_WORKFLOW,
        true,
        RollbackWorkflow,
        rollback_workflow,
        "Put a workflow back to a snapshot that this run took of it; the newest one when none is named."
    ),
    tool!(
        "search_learnings",
        READ_LEARNINGS,
        false,
        SearchLearnings,
        search_learnings,
        "Search past lessons. An empty query gives the index; words, or code:CODE, node:TYPE, tag:NAME, give ids with one line each; `plan_for` gives the patterns that fit a request."
    ),
    tool!(
        "search_nodes",
        SEARCH_NODES,
        false,
        SearchNodes,
        search_nodes,
        "Find node types for a service or an action, best first, each with its newest version."
    ),
    tool!(
        "search_templates",
        SEARCH_TEMPLATES,
        false,
        SearchTemplates,
        search_templates,
        "Find templates, where the backend has them."
    ),
    tool!(
        "trigger_workflow",
        TRIGGER_WORKFLOW,
        true,
        TriggerWorkflow,
        trigger_workflow,
        "Call an active workflow's webhook, form or chat once with a payload. Returns the execution. On a backend that cannot execute it fails and says: not executed."
    ),
    tool!(
        "update_workflow",
        UPDATE_WORKFLOW,
        true,
        UpdateWorkflow,
        update_workflow,
        "Change a workflow by a list of operations, all or none. Returns what changed and the graph hash, as read back, and what a check says of it."
    ),
    tool!(
        "validate_workflow",
        VALIDATE_FINAL,
        false,
        ValidateWorkflow,
        validate_workflow,
        "The final check of a workflow. Returns findings with stable ids, the counts, and what was fixed, stayed or is new since the last check of this run."
    ),
    tool!(
        "write_learning",
        WRITE_LEARNINGS,
        true,
        WriteLearning,
        write_learning,
        "Record a lesson: what one sees, why, what to do, and where it was seen. Returns its id."
    ),
];

/// Every native tool, sorted by name.
pub fn all() -> impl Iterator<Item = &'static Tool> {
    TOOLS.iter()
}

/// The tool of exactly this name, byte for byte.
pub fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

#[cfg(test)]
mod tools_tests;
