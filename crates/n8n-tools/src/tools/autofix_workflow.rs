//! `autofix_workflow`: the fixes that are certain.

use super::content::counts;
use super::n8n::N8n;
use super::replace::Edited;
use crate::arguments::{arguments, expect_hash, workflow_id};
use crate::backend::Stored;
use crate::capability as can;
use crate::guards;
use crate::tool::{On, Tool};
use agentctl_base::BoxFuture;
use agentctl_base::decision::Decision;
use agentctl_engine::toolset::{Change, Cx, Fault, Head, Planning};
use agentctl_n8n::autofix::{self, Fixed};
use agentctl_n8n::{Finding, Workflow};
use serde_json::{Map, Value, json};
use std::sync::Arc;

arguments! {
    AutofixWorkflow {
        required workflow_id: String = workflow_id();
        /// Only these findings; all that have a certain fix when absent.
        optional finding_ids: Option<Vec<String>> = json!({"type": "array", "items": {"type": "string"}, "description": "only these; all with a certain fix when absent"});
        optional expect_hash: Option<String> = expect_hash();
    }
}

pub(super) fn tool() -> Tool<N8n> {
    Tool::change::<AutofixWorkflow>(Head {
        destructive: true,
        ..Head::new(
            "autofix_workflow",
            can::AUTOFIX_WORKFLOW,
            "Apply the fixes that are certain. Returns which findings were fixed, what changed, and what a check says of the rest.",
            AutofixWorkflow::schema,
        )
    })
}

impl Change for On<N8n, AutofixWorkflow> {
    fn plan<'a>(&'a self, cx: &'a mut Cx<'_>, exact: &'a Value) -> BoxFuture<'a, Planning> {
        Box::pin(self.on.plan_autofix(cx, &self.args, exact))
    }
}

impl N8n {
    async fn plan_autofix(
        self: &Arc<Self>,
        cx: &mut Cx<'_>,
        fix: &AutofixWorkflow,
        exact: &Value,
    ) -> Planning {
        let before = match self.current(&fix.workflow_id).await? {
            Ok(stored) => stored,
            Err(outcome) => return Ok(Err(outcome)),
        };
        let only = fix.finding_ids.as_deref();
        let result = self.fixed(cx, &before, only)?;
        let (errors, warnings, _) = counts(&result.left);
        let left = json!({"error_count": errors, "warning_count": warnings});
        let ids = |list: &[&Finding]| json!(list.iter().map(|f| &f.id).collect::<Vec<_>>());
        let fixed: Vec<&Finding> = result.fixed.iter().collect();
        let mut notes =
            Map::from_iter([("fixed".to_owned(), ids(&fixed)), ("left".to_owned(), left)]);
        // Certain, and yet not done: outside the edit scope, or it would have made something worse.
        let not_applied: Vec<&Finding> = result
            .left
            .iter()
            .filter(|f| autofix::is_sure(f) && only.is_none_or(|ids| ids.contains(&f.id)))
            .collect();
        if !not_applied.is_empty() {
            notes.insert("not_applied".to_owned(), ids(&not_applied));
        }
        let edited = Edited {
            credentials: guards::credentials(Some(&before.workflow), &result.workflow),
            after: result.workflow,
            notes,
            part: None,
        };
        self.plan_replace(cx, before, edited, fix.expect_hash.as_deref(), exact)
    }

    /// The workflow with every certain fix applied that stays in the edit scope.
    fn fixed(
        &self,
        cx: &mut Cx<'_>,
        before: &Stored,
        only: Option<&[String]>,
    ) -> Result<Fixed, Fault> {
        let scope = self.given_scope(cx, before)?;
        let allowed = |after: &Workflow| {
            scope.as_ref().is_none_or(|scope| {
                let decision = scope.judge(&before.workflow, after);
                !matches!(decision, Decision::Deny { .. })
            })
        };
        let rules = autofix::Rules {
            check: &|workflow| self.findings(workflow),
            wanted: &|finding| only.is_none_or(|ids| ids.contains(&finding.id)),
            allowed: &allowed,
        };
        Ok(autofix::fix(&before.workflow, &rules, &mut || {
            cx.recorder.new_id()
        }))
    }
}
