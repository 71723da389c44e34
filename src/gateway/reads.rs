//! Calls that change nothing: workflows, checks, nodes, skills, learnings, executions.

use super::content::{
    Outcome, backend_failure, counts, head, knowledge_failure, page, summary, text_page,
};
use super::created::fill_added_versions;
use super::tools::{
    CheckWorkflow, DEFAULT_LIMIT, GetNode, GetWorkflow, ListWorkflows, MAX_LIMIT, Request,
    ValidateWorkflow, View,
};
use super::{CallContext, Gateway, GuardState, guards};
use crate::backend::{
    BackendError, BackendErrorKind, ExecutionQuery, ListQuery, Listed, Stored, list_all,
};
use crate::n8n::catalog::Lookup;
use crate::n8n::edit::{self, EditOp};
use crate::n8n::fit::{fit_score, listed_score};
use crate::n8n::rehearsal;
use crate::n8n::validate::validate;
use crate::n8n::{Finding, Severity, Workflow, WorkflowId};
use serde_json::{Map, Value, json};

type Answer = Result<Outcome, BackendError>;

/// So many workflows are read whole to see how well they fit.
const MOST_READ: usize = 40;

pub(super) fn limit(asked: Option<usize>) -> usize {
    asked.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT)
}

fn bad_cursor(why: String) -> Outcome {
    Outcome::failed(
        why,
        "arguments",
        "use `next_cursor` as the answer before gave it",
    )
}

impl Gateway {
    /// What a check says of a workflow.
    pub(super) fn findings(&self, workflow: &Workflow) -> Vec<Finding> {
        validate(workflow, self.catalog)
    }

    pub(super) async fn read(&self, cx: &mut CallContext<'_>, request: &Request) -> Answer {
        match request {
            Request::ListWorkflows(list) => self.list_workflows(list).await,
            Request::GetWorkflow(get) => self.get_workflow(get).await,
            Request::CheckWorkflow(check) => self.check(cx, check).await,
            Request::ValidateWorkflow(validate) => self.validate(cx.guards, validate).await,
            Request::ListVersions(of) => {
                let id = self.backend.resolve(&of.workflow_id).await?;
                let versions = self.backend.versions(&id).await?;
                Ok(Outcome::Ok(json!({"id": id, "versions": versions})))
            }
            Request::ListExecutions(of) => {
                let id = match &of.workflow_id {
                    Some(reference) => Some(self.backend.resolve(reference).await?),
                    None => None,
                };
                let query = ExecutionQuery {
                    workflow: id,
                    status: of.status.clone(),
                    limit: limit(of.limit),
                };
                let list = self.backend.executions(&query).await?;
                Ok(Outcome::Ok(json!({"executions": list})))
            }
            Request::GetExecution(of) => self.told_execution(&of.execution_id).await,
            Request::SearchTemplates(search) => self.search_templates(search).await,
            Request::GetTemplate(of) => {
                let workflow = self.backend.template(&of.template_id).await?;
                Ok(Outcome::Ok(
                    json!({"template_id": of.template_id, "workflow": workflow}),
                ))
            }
            Request::SearchNodes(search) => {
                let hits = self.catalog.search(&search.query, limit(search.limit));
                Ok(Outcome::Ok(json!({"nodes": hits})))
            }
            Request::GetNode(of) => Ok(self.get_node(of)),
            Request::LoadSkill(of) => Ok(self.load_skill(&of.name, of.cursor.as_deref())),
            Request::ReadSkillFile(of) => {
                Ok(match self.knowledge.skill_file(&of.skill, &of.path) {
                    Ok(text) => paged(
                        json!({"skill": of.skill, "path": of.path}),
                        &text,
                        of.cursor.as_deref(),
                    ),
                    Err(error) => knowledge_failure(&error),
                })
            }
            Request::SearchLearnings(search) => Ok(self.search_learnings(search)),
            Request::ReadLearning(of) => Ok(self.read_learnings(of)),
            Request::CreateWorkflow(_)
            | Request::UpdateWorkflow(_)
            | Request::AutofixWorkflow(_)
            | Request::DeleteWorkflow(_)
            | Request::RehearseWorkflow(_)
            | Request::RollbackWorkflow(_)
            | Request::ActivateWorkflow(_)
            | Request::DeactivateWorkflow(_)
            | Request::TriggerWorkflow(_)
            | Request::WriteLearning(_) => Ok(Outcome::Refused(guards::deny(
                "tools.unknown",
                "this call changes something, and was to be made as a read",
            ))),
        }
    }

    async fn list_workflows(&self, list: &ListWorkflows) -> Answer {
        let listing = list_all(self.backend.as_ref(), &ListQuery::default()).await?;
        let words: Vec<String> = list
            .query
            .iter()
            .flat_map(|q| q.split_whitespace())
            .map(str::to_lowercase)
            .collect();
        let mut workflows: Vec<Value> = Vec::new();
        let mut matching: Vec<&Listed> = listing
            .workflows
            .iter()
            .filter(|w| {
                let (types, tags) = (w.node_types.join(" "), w.tags.join(" "));
                let text = format!("{} {} {types} {tags}", w.id, w.name).to_lowercase();
                words.iter().all(|word| text.contains(word)) && !w.name.starts_with(rehearsal::COPY)
            })
            .collect();
        if let Some(wanted) = &list.wanted
            && matching.len() > MOST_READ
        {
            // Each one that is scored is read whole; of many only those that look like it are.
            matching.sort_by_cached_key(|w| {
                std::cmp::Reverse(listed_score(wanted, &w.name, &w.node_types))
            });
        }
        for (at, found) in matching.into_iter().enumerate() {
            let mut entry = json!(found);
            if let Some(wanted) = list.wanted.as_ref().filter(|_| at < MOST_READ) {
                // One that vanished or broke since it was listed simply does not fit.
                let fit = match self.backend.get(&found.id).await {
                    Ok(stored) => fit_score(wanted, &stored.workflow),
                    Err(error) if error.kind == BackendErrorKind::Unavailable => return Err(error),
                    Err(_) => continue,
                };
                if let Value::Object(entry) = &mut entry {
                    entry.insert("fit_score".into(), json!(fit.score));
                    entry.insert("fit_parts".into(), json!(fit.parts));
                }
            }
            workflows.push(entry);
        }
        if list.wanted.is_some() {
            workflows
                .sort_by_key(|w| std::cmp::Reverse(w.get("fit_score").and_then(Value::as_u64)));
        }
        let page = match page(workflows, list.cursor.as_deref()) {
            Ok(page) => page,
            Err(why) => return Ok(bad_cursor(why)),
        };
        let mut content = Map::new();
        content.insert("workflows".into(), Value::Array(page.items));
        content.insert("total".into(), json!(page.total));
        if !listing.broken.is_empty() {
            content.insert("broken".into(), json!(listing.broken));
        }
        if let Some(next) = page.next {
            content.insert("next_cursor".into(), json!(next));
        }
        Ok(Outcome::Ok(Value::Object(content)))
    }

    async fn stored(&self, reference: &str) -> Result<Stored, BackendError> {
        let id = self.backend.resolve(reference).await?;
        self.backend.get(&id).await
    }

    async fn get_workflow(&self, get: &GetWorkflow) -> Answer {
        let stored = self.stored(&get.workflow_id).await?;
        let mut content = head(&stored);
        if get.view == View::Summary {
            let (nodes, connections) = summary(&stored.workflow);
            let page = match page(nodes, get.cursor.as_deref()) {
                Ok(page) => page,
                Err(why) => return Ok(bad_cursor(why)),
            };
            content.insert("nodes".into(), Value::Array(page.items));
            content.insert("connections".into(), json!(connections));
            if let Some(next) = page.next {
                content.insert("next_cursor".into(), json!(next));
            }
            return Ok(Outcome::Ok(Value::Object(content)));
        }
        let Value::Object(mut document) = stored.workflow.to_value() else {
            return Err(BackendError::rejected("the workflow is no document"));
        };
        let nodes = match document.get_mut("nodes").map(Value::take) {
            Some(Value::Array(nodes)) => nodes,
            _ => Vec::new(),
        };
        let page = match page(nodes, get.cursor.as_deref()) {
            Ok(page) => page,
            Err(why) => return Ok(bad_cursor(why)),
        };
        document.insert("nodes".into(), Value::Array(page.items));
        content.insert("workflow".into(), Value::Object(document));
        if let Some(next) = page.next {
            content.insert("next_cursor".into(), json!(next));
        }
        Ok(Outcome::Ok(Value::Object(content)))
    }

    async fn check(&self, cx: &mut CallContext<'_>, check: &CheckWorkflow) -> Answer {
        let mut stored = self.stored(&check.workflow_id).await?;
        if !check.ops.is_empty() {
            match edit::apply(&stored.workflow, &check.ops, &mut || cx.recorder.new_id()) {
                Ok(mut after) => {
                    fill_added_versions(&stored.workflow, &mut after, self.catalog);
                    stored.graph_hash = crate::n8n::hash::graph_hash(&after);
                    stored.workflow = after;
                }
                Err(error) => {
                    return Ok(Outcome::failed(
                        error.to_string(),
                        "edit",
                        "correct this operation",
                    ));
                }
            }
        }
        let findings = self.findings(&stored.workflow);
        let mut content = head(&stored);
        if !check.ops.is_empty() {
            content.insert("draft".into(), Value::Bool(true));
        }
        Ok(report(content, &findings, check.cursor.as_deref()))
    }

    async fn validate(&self, guards: &GuardState, validate: &ValidateWorkflow) -> Answer {
        let stored = self.stored(&validate.workflow_id).await?;
        let findings = self.findings(&stored.workflow);
        let mut content = head(&stored);
        let now: Vec<&str> = findings.iter().map(|f| f.id.as_str()).collect();
        if let Some(last) = guards.last_validation(&WorkflowId(stored.id.0.clone())) {
            let before: Vec<&str> = last.finding_ids.iter().map(String::as_str).collect();
            let only = |a: &[&str], b: &[&str]| -> Vec<String> {
                a.iter()
                    .filter(|id| !b.contains(id))
                    .map(|id| (*id).to_owned())
                    .collect()
            };
            let still: Vec<&&str> = now.iter().filter(|id| before.contains(id)).collect();
            content.insert("fixed".into(), json!(only(&before, &now)));
            content.insert("still".into(), json!(still));
            content.insert("new".into(), json!(only(&now, &before)));
        }
        content.insert("finding_ids".into(), json!(now));
        content.insert("edit_scope".into(), json!(scope_of(&findings)));
        Ok(report(content, &findings, validate.cursor.as_deref()))
    }

    async fn search_templates(&self, search: &super::tools::SearchTemplates) -> Answer {
        match self
            .backend
            .search_templates(&search.query, limit(search.limit))
            .await
        {
            Ok(found) if found.is_empty() && !self.backend.can().templates => Ok(Outcome::Ok(
                json!({"templates": [], "note": format!("the {} backend has no templates", self.backend.name())}),
            )),
            Ok(found) => Ok(Outcome::Ok(json!({"templates": found}))),
            Err(error) if error.kind == BackendErrorKind::Unsupported => {
                Ok(Outcome::Failed(backend_failure(&error)))
            }
            Err(error) => Err(error),
        }
    }

    fn get_node(&self, of: &GetNode) -> Outcome {
        let description = match self.catalog.lookup(&of.node_type, of.version) {
            Lookup::Known(description) => description,
            Lookup::UnknownVersion { known, default } => {
                return Outcome::failed(
                    format!(
                        "{} has no version {}",
                        of.node_type,
                        of.version.unwrap_or(default)
                    ),
                    "catalog.version",
                    &format!("versions: {known:?}; the default is {default}"),
                );
            }
            Lookup::UnknownType => {
                let near: Vec<String> = self
                    .catalog
                    .search(of.node_type.rsplit('.').next().unwrap_or(""), 5)
                    .into_iter()
                    .map(|hit| hit.node_type)
                    .collect();
                return Outcome::failed(
                    format!("there is no node type {:?}", of.node_type),
                    "catalog.type",
                    &format!("search_nodes finds types; near: {}", near.join(", ")),
                );
            }
        };
        let mut content = Map::new();
        let recipe = description.recipe(of.resource.as_deref(), of.operation.as_deref());
        content.insert("recipe".into(), json!(recipe));
        if of.operation.is_none() {
            let operations: Vec<Value> = description
                .operations()
                .into_iter()
                .map(|(resource, list)| {
                    let names: Vec<String> = list.into_iter().map(|(value, _)| value).collect();
                    json!({"resource": resource, "operations": names})
                })
                .collect();
            if !operations.is_empty() {
                content.insert("operations".into(), json!(operations));
            }
        }
        Outcome::Ok(Value::Object(content))
    }

    fn load_skill(&self, name: &str, cursor: Option<&str>) -> Outcome {
        match self.knowledge.load_skill(name) {
            Ok(skill) => paged(
                json!({"name": skill.name, "description": skill.description, "files": skill.files}),
                &skill.body,
                cursor,
            ),
            Err(error) => knowledge_failure(&error),
        }
    }
}

fn paged(content: Value, text: &str, cursor: Option<&str>) -> Outcome {
    let (text, next) = match text_page(text, cursor) {
        Ok(page) => page,
        Err(why) => return bad_cursor(why),
    };
    let Value::Object(mut map) = content else {
        return Outcome::Ok(content);
    };
    map.insert("text".into(), Value::String(text));
    if let Some(next) = next {
        map.insert("next_cursor".into(), json!(next));
    }
    Outcome::Ok(Value::Object(map))
}

fn report(mut content: Map<String, Value>, findings: &[Finding], cursor: Option<&str>) -> Outcome {
    let (errors, warnings, infos) = counts(findings);
    content.insert("passed".into(), Value::Bool(errors == 0));
    content.insert("error_count".into(), json!(errors));
    content.insert("warning_count".into(), json!(warnings));
    content.insert("info_count".into(), json!(infos));
    let page = match page(findings.iter().map(|f| json!(f)).collect(), cursor) {
        Ok(page) => page,
        Err(why) => return bad_cursor(why),
    };
    content.insert("findings".into(), Value::Array(page.items));
    if let Some(next) = page.next {
        content.insert("next_cursor".into(), json!(next));
    }
    Outcome::Ok(Value::Object(content))
}

/// The nodes that a fix of these findings would have to touch: where each finding is, and what its known fix names. Findings
/// that only inform are left out; a finding on no node puts the document itself into the scope.
fn scope_of(findings: &[Finding]) -> Vec<String> {
    let mut scope: Vec<String> = Vec::new();
    let mut add = |entry: &str| {
        if !entry.is_empty() && !scope.iter().any(|known| known == entry) {
            scope.push(entry.to_owned());
        }
    };
    for finding in findings.iter().filter(|f| f.severity > Severity::Info) {
        match (&finding.node_id, &finding.node) {
            (Some(id), _) if !id.is_empty() => add(id),
            (_, Some(name)) => add(name),
            _ => add(guards::WORKFLOW_ENTRY),
        }
        for op in finding.fix.iter().flat_map(|fix| &fix.ops) {
            for node in touched(op) {
                add(node);
            }
        }
    }
    scope
}

/// The existing nodes that an operation names.
fn touched(op: &EditOp) -> Vec<&str> {
    match op {
        EditOp::AddNode { .. } => Vec::new(),
        EditOp::RemoveNode { node }
        | EditOp::SetParameter { node, .. }
        | EditOp::ReplaceParameters { node, .. }
        | EditOp::ReplaceText { node, .. }
        | EditOp::RenameNode { node, .. }
        | EditOp::MoveNode { node, .. }
        | EditOp::EnableNode { node }
        | EditOp::DisableNode { node }
        | EditOp::SetNodeSettings { node, .. }
        | EditOp::SetCredential { node, .. }
        | EditOp::SetTypeVersion { node, .. } => vec![node],
        EditOp::Connect { from, to, .. } | EditOp::Disconnect { from, to, .. } => vec![from, to],
        EditOp::Rewire {
            from, to, new_to, ..
        } => vec![from, to, new_to],
        EditOp::SetSettings { .. } | EditOp::SetName { .. } => vec![guards::WORKFLOW_ENTRY],
    }
}
