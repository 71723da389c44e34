//! Every rule there is: its code, how bad a match is, and why, with its page in crates/n8n/findings. The one place that lists them.

use crate::finding::Severity;

/// One kind of finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    pub code: &'static str,
    /// Of a sure match; a case that is less sure is reported one step lower.
    pub severity: Severity,
    /// Who can mend it: whoever joins nodes, or whoever sets their values.
    pub half: Half,
    /// One line.
    pub reason: &'static str,
    /// Markdown: what it means, an example, the fix.
    pub page: &'static str,
}

/// The two halves of a check. Each rule belongs to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    /// Nodes, their types, and connections.
    Structure,
    /// Values.
    Configuration,
}

macro_rules! rules {
    ($($name:ident $code:literal $half:ident $severity:ident $reason:literal;)*) => {
        $(pub(super) const $name: Rule = Rule {
            code: $code,
            severity: Severity::$severity,
            half: Half::$half,
            reason: $reason,
            page: include_str!(concat!("../../findings/", $code, ".md")),
        };)*
        /// All rules, n8n's own first.
        pub const RULES: &[Rule] = &[$($name),*];
    };
}

rules! {
    STRUCTURE "n8n/structure" Structure Error "n8n refuses to create, update or import a document of this shape";
    API "n8n/api" Structure Warning "n8n's API refuses the document, so it cannot be pushed; the editor imports it";
    NO_TRIGGER "n8n/no-trigger" Structure Error "n8n does not publish a workflow that nothing can start";
    UNKNOWN_TYPE "n8n/unknown-type" Structure Error "n8n does not have a node of this type";
    UNKNOWN_VERSION "n8n/unknown-version" Structure Error "n8n does not have this version of the node";
    PARAMETER "n8n/parameter" Configuration Error "n8n does not publish or run a node with this parameter issue";
    CREDENTIAL "n8n/credential" Configuration Warning "n8n does not publish a node whose account is not connected";

    CODE_SYNTAX "agentctl/code-syntax" Configuration Error "the code does not parse, so the node fails";
    EXPRESSION_SYNTAX "agentctl/expression-syntax" Configuration Error "the expression does not parse, so the node fails with \"invalid syntax\"";
    UNBALANCED_EXPRESSION "agentctl/unbalanced-expression" Configuration Error "an expression opens with {{ and never closes";
    MISSING_EXPRESSION_PREFIX "agentctl/missing-expression-prefix" Configuration Error "without a leading = n8n takes {{ }} as plain text";
    UNKNOWN_REFERENCE "agentctl/unknown-reference" Configuration Error "an expression names a node that does not exist, so it fails";
    REFERENCE_NOT_UPSTREAM "agentctl/reference-not-upstream" Configuration Error "an expression reads a node that has not run by then, so it fails";
    FROMAI_OUTSIDE_TOOL "agentctl/fromai-outside-tool" Configuration Error "$fromAI gets its value from an agent, and no agent calls this node";
    JSON_BODY_INVALID "agentctl/json-body-invalid" Configuration Error "the JSON does not parse, so the node fails";
    CREDENTIAL_NOT_CONNECTED "agentctl/credential-not-connected" Configuration Warning "the request ends with \"Credentials not found\"";
    HARDCODED_SECRET "agentctl/hardcoded-secret" Configuration Warning "a secret stands in the workflow, readable for everyone who sees it";
    CONSTANT_CONDITION "agentctl/constant-condition" Configuration Warning "the condition compares fixed values, so it always goes the same way";

    UNKNOWN_OPERATOR "agentctl/unknown-operator" Configuration Error "n8n has no such comparison, so the condition never holds";
    CODE_WITHOUT_RETURN "agentctl/code-without-return" Configuration Error "a Code node that returns nothing fails";
    CRON_NEVER_FIRES "agentctl/cron-never-fires" Configuration Error "n8n cannot start this time, or no day has it";
    FIELD_NOT_THERE "agentctl/field-not-there" Configuration Warning "the item cannot have the field that is read, so the value is empty";
    RETRIES_CAPPED "agentctl/retries-capped" Configuration Warning "n8n makes at most 5 tries and waits at most 5 seconds between two";

    INVALID_CONNECTION_TYPE "agentctl/invalid-connection-type" Structure Error "the node has no input or output of this type";
    CONNECTION_INDEX "agentctl/connection-index-out-of-range" Structure Error "the node has no input or output of this number, so no data passes";
    INPUT_SWITCHED_OFF "agentctl/input-switched-off" Structure Warning "the node does not use this input under its parameters";
    MISSING_AI_INPUT "agentctl/missing-ai-input" Structure Error "the node fails without this sub-node";
    MERGE_MISSING_INPUT "agentctl/merge-missing-input" Structure Warning "the merge has an input that gets no data";
    SUBNODE_NOT_CONNECTED "agentctl/subnode-not-connected" Structure Warning "a sub-node does nothing on its own";
    UNREACHABLE_NODE "agentctl/unreachable-node" Structure Warning "no trigger leads to the node, so it never runs";
    BRANCHES_MERGED "agentctl/branches-merged" Structure Warning "all branches hang on the first output, so no condition separates them";
    LOOP_WITHOUT_EXIT "agentctl/loop-without-exit" Structure Error "nothing in the loop can end it";
    LOOP_OUTPUTS_SWAPPED "agentctl/loop-outputs-swapped" Structure Error "the body of the loop hangs on the output \"done\"";
    LOOP_BODY_OPEN "agentctl/loop-body-open" Structure Warning "the body of the loop never comes back, so only the first batch is worked on";
    TRIGGER_STARTS_NOTHING "agentctl/trigger-starts-nothing" Structure Warning "the trigger is connected to nothing";
    BRANCH_WITHOUT_ANSWER "agentctl/branch-without-answer" Structure Warning "on this branch the webhook's caller gets no answer of the workflow";
    DISABLED_IN_PATH "agentctl/disabled-node-in-path" Structure Info "a disabled node passes its items on unchanged";

    RESPOND_NODE_MISSING "agentctl/respond-node-missing" Configuration Error "the webhook waits for a node that answers, and there is none";
    RESPOND_NODE_UNUSED "agentctl/respond-node-unused" Configuration Error "the webhook does not let the node answer, and fails for that";
    RESPOND_WITHOUT_WEBHOOK "agentctl/respond-without-webhook" Structure Error "there is nobody to answer, so the node fails";
    ANSWERS_WITH_HEADERS "agentctl/answers-with-headers" Configuration Warning "the webhook's caller is answered with all of the request, its headers included";
    WEBHOOK_PATH_CONFLICT "agentctl/webhook-path-conflict" Configuration Error "two webhooks claim one address, so n8n does not publish";

    OPTION_VALUE "agentctl/option-value" Configuration Error "the value is none of the parameter's choices";
    NAME_FOR_ID "agentctl/name-for-id" Configuration Info "a list gives an id, and a name stands in its place, so what it means must be chosen in n8n";
    UNKNOWN_PARAMETER_KEY "agentctl/unknown-parameter-key" Configuration Warning "n8n ignores a parameter that the node does not have";
    NODE_SETTING_INSIDE_PARAMETERS "agentctl/node-setting-inside-parameters" Configuration Warning "n8n ignores a node's setting among its parameters";
    EXCLUDED_BY_DEFAULT "agentctl/excluded-by-default" Structure Warning "a default n8n does not load this type of node";
}

/// The rule of this code.
pub fn rule(code: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.code == code)
}
