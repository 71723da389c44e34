//! Writing into a workflow that is there already: what its nodes give out is read off the document, then steps are
//! compiled behind, before or below its nodes. Nodes that are there keep their ids, names, parameters and credentials.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::super::plan::{Cond, Memory, Plan, Service, Step, Todo, Tool, Verb};
use super::data::{Origin, Spelling};
use super::draft::{At, Draft, End};
use super::facts::prune;
use super::fields::{answer_of, origin_of};
use super::service::{Call, short_of};
use super::words;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::{Node, Workflow};

/// A workflow being changed.
#[derive(Clone)]
pub(crate) struct Patch<'a> {
    pub(super) draft: Draft<'a>,
    pub(super) old: HashSet<String>,
}

/// Nodes that pass their items on as they are.
pub(super) fn passes(short: &str) -> bool {
    matches!(
        short,
        "if" | "switch"
            | "filter"
            | "merge"
            | "wait"
            | "limit"
            | "sort"
            | "removeDuplicates"
            | "noOp"
            | "splitInBatches"
            | "respondToWebhook"
            | "textClassifier"
    )
}

impl<'a> Patch<'a> {
    pub(crate) fn on(existing: &Workflow, plan: &'a Plan, catalog: &'a Catalog) -> Self {
        let mut draft = Draft::new(plan, catalog, existing.name());
        draft.workflow = existing.clone();
        Patch {
            old: existing.nodes.iter().map(|n| n.name().to_owned()).collect(),
            draft,
        }
    }

    pub(crate) fn workflow(&self) -> &Workflow {
        &self.draft.workflow
    }
    pub(crate) fn workflow_mut(&mut self) -> &mut Workflow {
        &mut self.draft.workflow
    }
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.draft.note(text);
    }
    pub(crate) fn notes(&self) -> &[String] {
        &self.draft.notes
    }

    /// Sources of a node's main inputs.
    pub(crate) fn sources(&self, name: &str) -> Vec<(String, u32, u32)> {
        self.draft
            .workflow
            .edges()
            .filter(|(_, kind, _, link)| *kind == "main" && link.node == name)
            .map(|(from, _, output, link)| (from.to_owned(), output, link.index))
            .collect()
    }
    /// Targets of a node's main outputs.
    pub(crate) fn targets(&self, name: &str) -> Vec<(u32, String, u32)> {
        self.draft
            .workflow
            .edges()
            .filter(|(from, kind, _, _)| *from == name && *kind == "main")
            .map(|(_, _, output, link)| (output, link.node.clone(), link.index))
            .collect()
    }

    pub(super) fn cut(&mut self, from: &str, output: u32, to: &str, input: u32) {
        let buckets = self
            .draft
            .workflow
            .connections
            .get_mut(from)
            .and_then(|kinds| kinds.get_mut("main"));
        if let Some(Some(links)) = buckets.and_then(|b| b.get_mut(output as usize)) {
            links.retain(|l| !(l.node == to && l.index == input));
        }
    }

    /// The place behind a node's output, with what lies before it.
    pub(super) fn place(&mut self, anchor: &str, output: u32) -> At {
        let mut order = Vec::new();
        self.before(anchor, &mut order);
        let mut at = At::start();
        for name in order {
            let Some(node) = self.draft.workflow.node_by_name(&name).cloned() else {
                continue;
            };
            if let Some(origin) = self.origin(&node) {
                let index = self.draft.origins.len();
                self.draft.origins.push(Origin {
                    node: name.clone(),
                    ..origin
                });
                at.seen.push(index);
                at.json = Some(index);
            }
        }
        at.ends = vec![End {
            node: anchor.to_owned(),
            output,
        }];
        at
    }

    /// Ancestors of a node and the node itself, sources first.
    fn before(&self, name: &str, order: &mut Vec<String>) {
        if order.iter().any(|n| n == name) || order.len() > 200 {
            return;
        }
        // marks the node against loops; its place is fixed after its sources
        order.push(name.to_owned());
        for (source, _, _) in self.sources(name) {
            self.before(&source, order);
        }
        order.retain(|n| n != name);
        order.push(name.to_owned());
    }

    /// What a node gives out, by its type and by how other nodes use it.
    fn origin(&self, node: &Node) -> Option<Origin> {
        let node_type = node.node_type();
        let short = short_of(node_type);
        if passes(short) {
            return None;
        }
        let empty = serde_json::Map::new();
        let params = node.parameters().unwrap_or(&empty);
        let text = |key: &str| {
            params
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or("")
                .to_owned()
        };
        let mut origin = match short {
            "webhook" => Origin::default()
                .base(
                    if text("httpMethod") == "POST" || text("httpMethod") == "PUT" {
                        "body"
                    } else {
                        "query"
                    },
                )
                .about("webhook request"),
            "formTrigger" => {
                let mut origin = Origin::default().about("form").spelled(Spelling::AsSaid);
                let fields = params
                    .get("formFields")
                    .and_then(|f| f.get("values"))
                    .and_then(Value::as_array);
                for field in fields.into_iter().flatten() {
                    if let Some(label) = field.get("fieldLabel").and_then(Value::as_str) {
                        origin = origin.field(label, label);
                    }
                }
                origin
            }
            "set" => {
                let mut origin = Origin::default();
                let list = params
                    .get("assignments")
                    .and_then(|a| a.get("assignments"))
                    .and_then(Value::as_array);
                for part in list.into_iter().flatten() {
                    if let Some(name) = part.get("name").and_then(Value::as_str) {
                        origin = origin.field(name, name);
                    }
                }
                origin
            }
            "agent" => Origin::default()
                .about("agent answer")
                .field("text|answer|output|reply|response|result", "output"),
            "chainLlm" | "chainSummarization" => Origin::default()
                .about("text")
                .field("text|answer|output|summary|reply|result", "text"),
            "informationExtractor" => Origin::default().base("output"),
            "scheduleTrigger" | "manualTrigger" => Origin {
                closed: true,
                ..Origin::default()
            },
            "httpRequest" | "code" => Origin::default().about(node.name()),
            // items of the list that was cut: nearer than what the list came from
            "splitOut" => {
                Origin::default().about(&format!("{} {}", node.name(), text("fieldToSplitOut")))
            }
            _ => {
                let operation = text("operation");
                let reads = node_type.to_lowercase().contains("trigger")
                    || [
                        "get",
                        "read",
                        "search",
                        "select",
                        "list",
                        "find",
                        "download",
                        "executeQuery",
                        "query",
                    ]
                    .iter()
                    .any(|p| operation.starts_with(p))
                    || short == "emailReadImap"
                    || short == "rssFeedRead";
                let object = text("resource");
                if reads {
                    origin_of(node_type, &object)
                } else {
                    answer_of(node_type, &object)
                }
            }
        };
        for path in self.used_paths(node.name()) {
            let below = match origin.base.as_str() {
                "" => path.clone(),
                base => match path.strip_prefix(&format!("{base}.")) {
                    Some(rest) => rest.to_owned(),
                    None => continue,
                },
            };
            let said = below.rsplit('.').next().unwrap_or(&below).to_owned();
            if !origin.fields.iter().any(|(_, p)| *p == below) {
                origin.fields.push((said, below));
            }
        }
        Some(origin)
    }

    /// Paths that expressions read of a node: by name anywhere, by `$json` in what follows it.
    fn used_paths(&self, name: &str) -> Vec<String> {
        let mut found = Vec::new();
        let by_name = format!("$('{name}')");
        let next: Vec<String> = self
            .targets(name)
            .into_iter()
            .map(|(_, to, _)| to)
            .collect();
        for node in &self.draft.workflow.nodes {
            let blob = node
                .parameters()
                .map(|p| Value::Object(p.clone()).to_string())
                .unwrap_or_default();
            let mut starts: Vec<&str> = Vec::new();
            if next.iter().any(|n| n == node.name()) {
                starts.push("$json.");
            }
            for start in starts {
                collect_paths(&blob, start, &mut found);
            }
            if let Some(at) = blob.find(&by_name) {
                collect_paths(blob.get(at..).unwrap_or(""), ".json.", &mut found);
            }
        }
        found
    }

    /// Compiles steps behind a node. `inline`: between it and what follows; else beside it.
    pub(crate) fn after(&mut self, anchor: &str, output: u32, steps: &[Step], inline: bool) {
        let at = self.place(anchor, output);
        let follow: Vec<(u32, String, u32)> = self
            .targets(anchor)
            .into_iter()
            .filter(|(o, _, _)| inline && *o == output)
            .collect();
        for (o, to, input) in &follow {
            self.cut(anchor, *o, to, *input);
        }
        let known = self.names();
        let end = self.draft.steps(steps, at);
        if self.gives_own_data(&known) {
            for (_, to, _) in &follow {
                self.pin(to, anchor);
            }
        }
        for (_, to, input) in &follow {
            self.draft.link(&end, to, *input);
        }
    }

    /// Compiles steps between a node and what leads to it. Where a step gives out something of its own, the node goes on
    /// reading what it read before; `keep`: without a change of its parameters.
    pub(crate) fn ahead(&mut self, target: &str, steps: &[Step], keep: bool) {
        let sources = self.sources(target);
        let Some((first, output, _)) = sources.first().cloned() else {
            return;
        };
        let mut at = self.place(&first, output);
        at.ends.clear();
        for (from, output, input) in &sources {
            self.cut(from, *output, target, *input);
            at.ends.push(End {
                node: from.clone(),
                output: *output,
            });
        }
        let known: HashSet<String> = self.names();
        let mut end = self.draft.steps(steps, at);
        if self.gives_own_data(&known) {
            if keep {
                end = self.as_before(&end, &first);
            } else {
                self.pin(target, &first);
            }
        }
        self.draft.link(&end, target, 0);
    }

    /// Lets a node run only under a condition; the rest goes another way.
    pub(crate) fn gate(&mut self, target: &str, cond: &Cond, otherwise: &[Step]) {
        let sources = self.sources(target);
        let Some((first, output, _)) = sources.first().cloned() else {
            self.note(format!(
                "nothing leads to {target}: a condition cannot stand before it"
            ));
            return;
        };
        let mut at = self.place(&first, output);
        at.ends.clear();
        for (from, output, input) in &sources {
            self.cut(from, *output, target, *input);
            at.ends.push(End {
                node: from.clone(),
                output: *output,
            });
        }
        let node_type = if otherwise.is_empty() {
            "n8n-nodes-base.filter"
        } else {
            "n8n-nodes-base.if"
        };
        let params = self.draft.condition_params(&at, node_type, cond);
        let text: String = words::capital(&super::branch::short_cond(cond))
            .chars()
            .take(40)
            .collect();
        let name = self
            .draft
            .node(&at, &format!("{}?", text.trim()), node_type, params);
        self.draft.workflow.connect(&name, "main", 0, target, 0);
        if !otherwise.is_empty() {
            self.draft.steps(otherwise, at.from(&name, 1));
        }
    }

    /// Steps for what a filter with one condition holds back, behind one that asks the opposite. False: it has no opposite.
    pub(crate) fn opposite(&mut self, filter: &str, steps: &[Step]) -> bool {
        const OPPOSITES: [(&str, &str); 9] = [
            ("gt", "lte"),
            ("gte", "lt"),
            ("equals", "notEquals"),
            ("contains", "notContains"),
            ("startsWith", "notStartsWith"),
            ("endsWith", "notEndsWith"),
            ("exists", "notExists"),
            ("empty", "notEmpty"),
            ("true", "false"),
        ];
        let sources = self.sources(filter);
        let Some((first, output, input)) = sources.first().cloned() else {
            return false;
        };
        let Some(node) = self.draft.workflow.node_by_name(filter) else {
            return false;
        };
        let mut params = node.parameters().cloned().unwrap_or_default();
        let node_type = node.node_type().to_owned();
        let conditions = params.get_mut("conditions");
        let list = conditions.and_then(|all| all.get_mut("conditions")?.as_array_mut());
        let Some([only]) = list.map(Vec::as_mut_slice) else {
            return false;
        };
        let Some(asked) = only.pointer_mut("/operator/operation") else {
            return false;
        };
        let turned = OPPOSITES.iter().find_map(|(a, b)| match asked.as_str() {
            Some(said) if said == *a => Some(*b),
            Some(said) if said == *b => Some(*a),
            _ => None,
        });
        let Some(turned) = turned else {
            return false;
        };
        *asked = json!(turned);
        let at = self.place(&first, output);
        let name = format!("{} ({turned})", filter.trim_end_matches('?'));
        let name = self.draft.node(&at, &name, &node_type, params);
        for (from, output, _) in &sources {
            self.draft
                .workflow
                .connect(from, "main", *output, &name, input);
        }
        self.draft.steps(steps, at.from(&name, 0));
        true
    }

    /// Puts another chat model in the place of one.
    pub(crate) fn model(&mut self, old: &str, provider: &str) {
        let parents: Vec<(String, u32)> = self
            .draft
            .workflow
            .edges()
            .filter(|(from, kind, _, _)| *from == old && *kind == "ai_languageModel")
            .map(|(_, _, _, link)| (link.node.clone(), link.index))
            .collect();
        self.remove(old);
        let mut made: Option<String> = None;
        for (parent, index) in parents {
            match &made {
                None => made = Some(self.draft.hang_model(Some(provider), &parent)),
                Some(node) => {
                    let node = node.clone();
                    self.draft
                        .workflow
                        .connect(&node, "ai_languageModel", 0, &parent, index);
                }
            }
        }
        if made.is_none() {
            self.note(format!("{old} was connected to nothing"));
        }
    }

    /// Gives an agent a memory in the place of the one it had.
    pub(crate) fn memory(&mut self, old: Option<&str>, agent: &str, memory: &Memory) {
        let mut parents = vec![agent.to_owned()];
        let mut kept = Value::Null;
        if let Some(old) = old {
            parents = self
                .draft
                .workflow
                .edges()
                .filter(|(from, kind, _, _)| *from == old && *kind == "ai_memory")
                .map(|(_, _, _, link)| link.node.clone())
                .collect();
            if let Some(params) = self
                .draft
                .workflow
                .node_by_name(old)
                .and_then(Node::parameters)
            {
                kept = Value::Object(params.clone());
            }
            self.remove(old);
        }
        let Some(first) = parents.first().cloned() else {
            return;
        };
        let at = self.place(&first, 0);
        let before: HashSet<String> = self
            .draft
            .workflow
            .nodes
            .iter()
            .map(|n| n.name().to_owned())
            .collect();
        self.draft.hang_memory(memory, &first, &at);
        let made = self
            .draft
            .workflow
            .nodes
            .iter()
            .map(|n| n.name().to_owned())
            .find(|n| !before.contains(n));
        let Some(made) = made else {
            return;
        };
        // whose talk it is, and how much of it, stays unless the request says otherwise
        if let Some(node) = self.draft.workflow.node_by_name_mut(&made) {
            node.edit_parameters(|params| {
                for key in ["sessionIdType", "sessionKey", "contextWindowLength"] {
                    if let Some(value) = kept.get(key)
                        && (key != "contextWindowLength" || memory.window.is_none())
                    {
                        params.insert(key.to_owned(), value.clone());
                    }
                }
            });
        }
        for other in parents.iter().skip(1) {
            self.draft.workflow.connect(&made, "ai_memory", 0, other, 0);
        }
    }

    pub(crate) fn tool(&mut self, agent: &str, tool: &Tool) {
        let at = self.place(agent, 0);
        self.draft
            .hang_tools(std::slice::from_ref(tool), agent, &at);
    }

    /// Removes a node; what led to it leads to what followed it.
    pub(crate) fn remove(&mut self, name: &str) {
        let sources = self.sources(name);
        let targets = self.targets(name);
        let workflow = &mut self.draft.workflow;
        workflow.nodes.retain(|n| n.name() != name);
        workflow.connections.shift_remove(name);
        for kinds in workflow.connections.values_mut() {
            for buckets in kinds.values_mut() {
                for links in buckets.iter_mut().flatten() {
                    links.retain(|l| l.node != name);
                }
            }
        }
        for (from, output, _) in &sources {
            for (out, to, input) in &targets {
                if *out == 0 {
                    workflow.connect(from, "main", *output, to, *input);
                }
            }
        }
    }

    /// Another service in the place of a node: same place, same message.
    pub(crate) fn replace_service(
        &mut self,
        old: &str,
        service: &Service,
        verb: Verb,
        args: &[super::super::plan::Arg],
    ) -> Option<String> {
        let node_type = self.draft.action_type(service)?;
        let sources = self.sources(old);
        let targets = self.targets(old);
        let anchor = sources.first().cloned();
        let at = match &anchor {
            Some((from, output, _)) => self.place(from, *output),
            None => At::start(),
        };
        let short = short_of(&node_type).to_owned();
        let call = Call {
            node_type: &node_type,
            short: &short,
            verb,
            object: "",
            said: &service.said,
            order: "",
        };
        let (params, _, name) = self.draft.configure(&at, &node_type, &call, args);
        self.remove(old);
        for (from, output, _) in &sources {
            for (out, to, input) in &targets {
                if *out == 0 {
                    self.cut(from, *output, to, *input);
                }
            }
        }
        let node = self.draft.lone(&name, &node_type, params);
        for (from, output, input) in &sources {
            self.draft
                .workflow
                .connect(from, "main", *output, &node, *input);
        }
        for (output, to, input) in &targets {
            self.draft
                .workflow
                .connect(&node, "main", *output, to, *input);
        }
        Some(node)
    }

    /// What nodes do when they fail: steps behind their error output.
    pub(crate) fn on_error(&mut self, nodes: &[String], steps: &[Step]) {
        let Some(first) = nodes.first().cloned() else {
            return;
        };
        let mut at = self.place(&first, 1);
        let origin = Origin::default()
            .about("error failure")
            .field("error|error message|message|reason", "error");
        let index = self.draft.origins.len();
        self.draft.origins.push(origin);
        at.json = Some(index);
        at.seen.push(index);
        at.ends = nodes
            .iter()
            .map(|n| End {
                node: n.clone(),
                output: 1,
            })
            .collect();
        for node in nodes {
            self.draft
                .set(node, "onError", json!("continueErrorOutput"));
        }
        self.draft.steps(steps, at);
    }

    /// A node that gives out again what an earlier node said (a chat answers with the last node's output).
    pub(crate) fn repeat(&mut self, of: &str, field: &str) {
        let ends: Vec<End> = self
            .draft
            .workflow
            .nodes
            .iter()
            .filter(|n| !self.old.contains(n.name()))
            .map(|n| n.name().to_owned())
            .filter(|n| self.targets(n).is_empty() && !self.sources(n).is_empty())
            .map(|node| End { node, output: 0 })
            .collect();
        if ends.is_empty() {
            return;
        }
        let at = At {
            ends,
            ..At::start()
        };
        let value =
            super::expr::expression(&format!("$({}).item.json.{field}", words::js_string(of)));
        self.draft
            .set_fields(&at, "Answer", &[(field.to_owned(), value)]);
    }

    /// The changed workflow; new nodes are checked against the catalog.
    pub(crate) fn finish(mut self) -> (Workflow, Vec<Todo>, Vec<String>) {
        for index in 0..self.draft.workflow.nodes.len() {
            let Some(node) = self.draft.workflow.nodes.get(index) else {
                continue;
            };
            if self.old.contains(node.name()) {
                continue;
            }
            let Some(facts) = self.draft.facts(node.node_type()) else {
                continue;
            };
            if let Some(node) = self.draft.workflow.nodes.get_mut(index) {
                node.edit_parameters(|params| prune(&facts, params));
            }
        }
        (self.draft.workflow, self.draft.todo, self.draft.notes)
    }
}

fn collect_paths(blob: &str, start: &str, found: &mut Vec<String>) {
    let mut rest = blob;
    while let Some(at) = rest.find(start) {
        rest = rest.get(at + start.len()..).unwrap_or("");
        let path: String = rest
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))
            .collect();
        let path = path.trim_end_matches('.').to_owned();
        if !path.is_empty() && !found.contains(&path) {
            found.push(path);
        }
    }
}
