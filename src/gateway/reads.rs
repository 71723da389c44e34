//! Calls that change nothing: workflows, checks, nodes, skills, learnings, executions.

use super::content::{Outcome, backend_failure, head, knowledge_failure, page, summary, text_page};
use super::tools::{
    DEFAULT_HITS, DEFAULT_LIMIT, GetNode, GetWorkflow, ListWorkflows, MAX_LIMIT, Request, View,
};
use super::{CallContext, Gateway, guards};
use agentctl_n8n::catalog::Lookup;
use agentctl_n8n::fit::{Wanted, fit_score, listed_score};
use agentctl_n8n::rehearsal;
use agentctl_n8n_tools::backend::{
    BackendError, BackendErrorKind, ExecutionQuery, ListQuery, Listed, Stored, TemplateHead,
    list_all,
};
use serde_json::{Map, Value, json};

pub(super) type Answer = Result<Outcome, BackendError>;

/// So many workflows are read whole to see how well they fit.
const MOST_READ: usize = 40;

pub(super) fn limit(asked: Option<usize>) -> usize {
    asked.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT)
}

pub(super) fn bad_cursor(why: String) -> Outcome {
    Outcome::failed(
        why,
        "arguments",
        "use `next_cursor` as the answer before gave it",
    )
}

impl Gateway {
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
                let most = search.limit.unwrap_or(DEFAULT_HITS).clamp(1, MAX_LIMIT);
                Ok(Outcome::Ok(
                    json!({"nodes": self.node_hits(&search.query, most)}),
                ))
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

    pub(super) async fn stored(&self, reference: &str) -> Result<Stored, BackendError> {
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
        let Value::Object(mut document) = stored.workflow.into_value() else {
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

    async fn search_templates(&self, search: &super::tools::SearchTemplates) -> Answer {
        match self
            .backend
            .search_templates(&search.query, limit(search.limit))
            .await
        {
            Ok(found) if found.is_empty() && !self.backend.can().templates => Ok(Outcome::Ok(
                json!({"templates": [], "note": format!("the {} backend has no templates", self.backend.name())}),
            )),
            Ok(found) => Ok(Outcome::Ok(
                json!({"templates": scored(found, search.wanted.as_ref())}),
            )),
            Err(error) if error.kind == BackendErrorKind::Unsupported => {
                Ok(Outcome::Failed(backend_failure(&error)))
            }
            Err(error) => Err(error),
        }
    }

    /// What a model chooses by, and no more.
    fn node_hits(&self, query: &str, most: usize) -> Vec<Value> {
        let as_tool = query
            .split_whitespace()
            .any(|w| w.eq_ignore_ascii_case("tool"));
        let hits = self.catalog.search(query, most).into_iter();
        hits.map(|hit| {
            let mut map = Map::new();
            map.insert("node_type".into(), json!(hit.node_type));
            if let Lookup::Known(description) = self.catalog.lookup(&hit.node_type, None) {
                map.insert("version".into(), json!(description.version));
            }
            map.insert("label".into(), json!(hit.label));
            if hit.is_trigger {
                map.insert("is_trigger".into(), json!(true));
            }
            // An agent's tool is a type of its own, which no search lists.
            let tool = format!("{}Tool", hit.node_type);
            if as_tool && matches!(self.catalog.lookup(&tool, None), Lookup::Known(_)) {
                map.insert("as_tool".into(), json!(tool));
            }
            Value::Object(map)
        })
        .collect()
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
        content.insert("node_type".into(), json!(description.node_type));
        content.insert("version".into(), json!(description.version));
        let (resource, operation) = (of.resource.as_deref(), of.operation.as_deref());
        if let Some(parameter) = &of.parameter {
            return match description.parameter_in_full(parameter, resource, operation) {
                Some(text) => {
                    content.insert("parameter".into(), json!(text));
                    Outcome::Ok(Value::Object(content))
                }
                None => Outcome::failed(
                    format!("{} has no parameter {parameter:?}", of.node_type),
                    "catalog.parameter",
                    "name it as the recipe does, parts with dots: options.timeout",
                ),
            };
        }
        let recipe = description.recipe(resource, operation).to_string();
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

/// By name and node types, as workflows of a long list are; best first.
fn scored(found: Vec<TemplateHead>, wanted: Option<&Wanted>) -> Vec<Value> {
    let Some(wanted) = wanted else {
        return found.into_iter().map(|head| json!(head)).collect();
    };
    let mut scored: Vec<(u8, Value)> = found
        .into_iter()
        .map(|head| {
            let score = listed_score(wanted, &head.name, &head.node_types);
            let mut entry = json!(head);
            if let Value::Object(map) = &mut entry {
                map.insert("fit_score".into(), json!(score));
            }
            (score, entry)
        })
        .collect();
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored.into_iter().map(|(_, entry)| entry).collect()
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
