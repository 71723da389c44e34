//! The `steps` of flow.yaml that do something, and what all steps say about stages, fields, agents, tools and each other.

use super::model::{
    AgentSpec, AskSpec, Claim, FieldSpec, Limits, PROGRAM, QuestionSpec, Step, StepKind,
    ToolStepSpec,
};
use super::reader::Reader;
use super::scope::{CLAIM_VARIABLES, VARIABLES};
use crate::condition::Condition;
use crate::nearest::nearest;
use agentctl_base::foreign::split_foreign;
use agentctl_base::yaml::{Node, Place};
use indexmap::IndexMap;

pub(super) struct Steps<'r, 'k> {
    pub(super) reader: &'r mut Reader<'k>,
    pub(super) stages: &'r [String],
    pub(super) blocked: &'r str,
    pub(super) fields: &'r IndexMap<String, FieldSpec>,
    pub(super) limits: Limits,
    /// Id → where it was first used.
    pub(super) ids: IndexMap<String, Place>,
    /// Expressions to check against the ids, once all are known.
    pub(super) expressions: Vec<(Place, Condition)>,
    /// Loops around the place that is read now.
    pub(super) loops: Vec<String>,
    /// The furthest stage so far, in the order of the file.
    pub(super) furthest: usize,
}

const KINDS: &[&str] = &["agent", "ask", "tool", "route", "loop", "gate", "set"];
const READABLE: &[&str] = &["input", "answers", "run"];

impl<'r, 'k> Steps<'r, 'k> {
    pub fn new(
        reader: &'r mut Reader<'k>,
        stages: &'r [String],
        blocked: &'r str,
        fields: &'r IndexMap<String, FieldSpec>,
        limits: Limits,
    ) -> Self {
        Steps {
            reader,
            stages,
            blocked,
            fields,
            limits,
            ids: IndexMap::new(),
            expressions: Vec::new(),
            loops: Vec::new(),
            furthest: 0,
        }
    }

    pub fn read(&mut self, node: &Node, finish: Option<(&Node, &Condition)>) -> Vec<Step> {
        if let Some((node, condition)) = finish {
            self.expressions.push((node.place, condition.clone()));
        }
        let steps = self.list(node, "`steps`");
        self.check_expressions();
        steps
    }

    pub(super) fn list(&mut self, node: &Node, what: &str) -> Vec<Step> {
        let Some(items) = node.as_list().filter(|items| !items.is_empty()) else {
            self.add(node.place, format!("{what} must be a list of steps"));
            return Vec::new();
        };
        items.iter().filter_map(|item| self.step(item)).collect()
    }

    pub(super) fn add(&mut self, place: Place, message: impl Into<String>) {
        self.reader.problems.add(place, message);
    }

    pub(super) fn expression(&mut self, node: &Node) -> Option<Condition> {
        let condition = self.reader.condition(node, VARIABLES)?;
        self.expressions.push((node.place, condition.clone()));
        Some(condition)
    }

    fn expressions_of(&mut self, node: &Node, what: &str) -> IndexMap<String, Condition> {
        self.reader
            .map(node, what)
            .unwrap_or_default()
            .iter()
            .filter_map(|e| Some((e.key.clone(), self.expression(&e.value)?)))
            .collect()
    }

    fn step(&mut self, node: &Node) -> Option<Step> {
        let entries = self.reader.map(node, "a step")?;
        let kinds: Vec<_> = entries
            .iter()
            .filter(|e| KINDS.contains(&e.key.as_str()))
            .collect();
        let id = self
            .reader
            .required(node, "id", "the step")
            .and_then(|n| Some((n.place, self.reader.name(n, "a step")?)));
        if let Some((place, id)) = &id {
            if let Some(first) = self.ids.get(id) {
                let line = first.line;
                self.add(
                    *place,
                    format!("the step id {id:?} is used twice (first in line {line})"),
                );
            } else {
                self.ids.insert(id.clone(), *place);
            }
        }
        let id = id.map(|(_, id)| id).unwrap_or_default();
        let what = format!("the step {id:?}");
        let kind = match kinds.as_slice() {
            [kind] => *kind,
            [] => {
                self.add(
                    node.place,
                    format!("{what} has no kind: it needs one of {}", KINDS.join(", ")),
                );
                return None;
            }
            [_, second, ..] => {
                self.add(
                    second.key_place,
                    format!(
                        "{what} has two kinds; it may have one of {}",
                        KINDS.join(", ")
                    ),
                );
                return None;
            }
        };
        let when = node.get("when").and_then(|n| self.expression(n));
        let stage = node.get("stage").and_then(|n| self.stage(n));
        let continue_on_failure = node.get("on_failure").is_some_and(|n| match n.as_text() {
            Some("continue") => true,
            Some("stop") => false,
            _ => {
                self.add(n.place, "`on_failure` must be continue or stop");
                false
            }
        });
        let mut keys = vec!["id", "when", "stage", kind.key.as_str()];
        let kind = match kind.key.as_str() {
            "agent" => {
                keys.extend([
                    "task",
                    "instructions",
                    "reads",
                    "with",
                    "writes",
                    "contract",
                    "verify",
                    "max_turns",
                    "on_failure",
                ]);
                self.agent(node, &kind.value, &what).map(StepKind::Agent)
            }
            "ask" => self.ask(&kind.value).map(StepKind::Ask),
            "tool" => {
                keys.extend(["role", "args", "on_failure"]);
                self.tool(node, &kind.value, &what).map(StepKind::Tool)
            }
            "route" => {
                keys.push("by");
                self.route(node, &kind.value, &what).map(StepKind::Route)
            }
            "loop" => {
                keys.extend(["max", "until", "exhausted"]);
                self.cycles(node, &kind.value, &what, &id)
                    .map(StepKind::Loop)
            }
            "gate" => {
                keys.push("otherwise");
                self.gate(node, &kind.value, &what).map(StepKind::Gate)
            }
            _ => Some(StepKind::Set(self.set(&kind.value))),
        };
        self.reader.keys(node, &what, &keys);
        Some(Step {
            id,
            place: node.place,
            when,
            stage,
            continue_on_failure,
            kind: kind?,
        })
    }

    fn stage(&mut self, node: &Node) -> Option<String> {
        let stage = self.reader.text(node, "a stage")?;
        if stage == self.blocked {
            return Some(stage);
        }
        match self.stages.iter().position(|s| *s == stage) {
            None => {
                let hint = nearest(&stage, self.stages.iter().map(String::as_str));
                self.add(node.place, format!("there is no stage {stage:?}{hint}"));
            }
            Some(index) if index < self.furthest => {
                let furthest = self.stages.get(self.furthest).cloned().unwrap_or_default();
                self.add(
                    node.place,
                    format!("the stage {stage:?} stands before {furthest:?}, which an earlier step enters; a stage only moves forward"),
                );
            }
            Some(index) => self.furthest = index,
        }
        Some(stage)
    }

    fn agent(&mut self, node: &Node, name: &Node, what: &str) -> Option<AgentSpec> {
        let agent = self.reader.text(name, "an agent")?;
        self.reader.agent(name.place, &agent, false);
        let task = self.reader.required(node, "task", what);
        let task = task.and_then(|n| self.reader.name(n, "a task"));
        let instructions = self.reader.required(node, "instructions", what);
        let instructions = instructions.and_then(|n| self.reader.text(n, "instructions"));
        let mut reads = Vec::new();
        if let Some(list) = node.get("reads") {
            for (place, field) in self.reader.names(list, "reads") {
                if !READABLE.contains(&field.as_str()) {
                    self.field(place, &field);
                }
                reads.push(field);
            }
        }
        let with = node
            .get("with")
            .map_or_else(IndexMap::new, |n| self.expressions_of(n, "`with`"));
        let mut writes = Vec::new();
        if let Some(list) = node.get("writes") {
            for (place, field) in self.reader.names(list, "writes") {
                if let Some(spec) = self.field(place, &field)
                    && !spec.writers.contains(&agent)
                {
                    let owners = spec.writers.join(", ");
                    self.add(
                        place,
                        format!("{agent} is no writer of {field:?} (writers: {owners})"),
                    );
                }
                writes.push(field);
            }
        }
        let contract = self.reader.required(node, "contract", what);
        let contract = contract.and_then(|n| {
            let properties = n.get("properties");
            for field in &writes {
                if n.get("type").and_then(Node::as_text) == Some("object")
                    && properties.is_none_or(|p| p.get(field).is_none())
                {
                    self.add(
                        n.place,
                        format!("{what} writes {field:?}, but its contract has no such property"),
                    );
                }
            }
            self.reader.schema(n)
        });
        let mut verify = Vec::new();
        for item in node
            .get("verify")
            .and_then(Node::as_list)
            .unwrap_or_default()
        {
            self.reader.keys(item, "a claim", &["that", "says"]);
            let that = self.reader.required(item, "that", "a claim");
            let that = that.and_then(|n| {
                let condition = self.reader.condition(n, CLAIM_VARIABLES)?;
                self.expressions.push((n.place, condition.clone()));
                Some(condition)
            });
            let says = self.reader.required(item, "says", "a claim");
            let says = says.and_then(|n| self.reader.text(n, "`says`"));
            if let (Some(that), Some(says)) = (that, says) {
                verify.push(Claim { that, says });
            }
        }
        let max_turns = node
            .get("max_turns")
            .and_then(|n| self.reader.count(n, "max_turns"));
        Some(AgentSpec {
            agent,
            task: task?,
            instructions: instructions?,
            reads,
            with,
            writes,
            contract: contract?,
            verify,
            max_turns,
        })
    }

    fn field(&mut self, place: Place, name: &str) -> Option<&'r FieldSpec> {
        let found = self.fields.get(name);
        if found.is_none() {
            let hint = nearest(name, self.fields.keys().map(String::as_str));
            self.add(place, format!("there is no field {name:?}{hint}"));
        }
        found
    }

    fn ask(&mut self, node: &Node) -> Option<AskSpec> {
        self.reader.keys(node, "`ask`", &["from", "questions"]);
        match (node.get("from"), node.get("questions")) {
            (Some(from), None) => self.expression(from).map(AskSpec::From),
            (None, Some(list)) => {
                let items = list.as_list().unwrap_or_default();
                if items.is_empty() {
                    self.add(list.place, "`questions` must be a list of questions");
                }
                Some(AskSpec::Questions(
                    items.iter().filter_map(|q| self.question(q)).collect(),
                ))
            }
            _ => {
                self.add(
                    node.place,
                    "`ask` needs either `from` (an expression) or `questions`",
                );
                None
            }
        }
    }

    fn question(&mut self, node: &Node) -> Option<QuestionSpec> {
        let what = "a question";
        let keys = [
            "id",
            "topic",
            "text",
            "options",
            "recommended",
            "required",
            "schema",
        ];
        self.reader.keys(node, what, &keys);
        let id = self.reader.required(node, "id", what);
        let id = id.and_then(|n| self.reader.name(n, what));
        let text = self.reader.required(node, "text", what);
        let text = text.and_then(|n| self.expression(n));
        let topic = node
            .get("topic")
            .and_then(|n| self.reader.name(n, "a topic"));
        let options = node.get("options").and_then(|n| self.expression(n));
        let recommended = node.get("recommended").and_then(|n| self.expression(n));
        let schema = node.get("schema").and_then(|n| self.reader.schema(n));
        let required = node.get("required").is_none_or(|n| {
            n.as_bool().unwrap_or_else(|| {
                self.add(n.place, "`required` must be true or false");
                true
            })
        });
        let id = id?;
        Some(QuestionSpec {
            topic: topic.unwrap_or_else(|| id.clone()),
            id,
            text: text?,
            options,
            recommended,
            required,
            schema: schema.map(|s| s.value().clone()),
        })
    }

    fn tool(&mut self, node: &Node, name: &Node, what: &str) -> Option<ToolStepSpec> {
        let tool = self.reader.text(name, "a tool")?;
        if let Some(vocabulary) = self.reader.known.vocabulary
            && !vocabulary.is_tool(&tool)
            // Which tools another server has is not known here; the policy must name them.
            && split_foreign(&tool).is_none()
        {
            let hint = nearest(&tool, vocabulary.tools().iter().map(|tool| tool.name));
            self.add(name.place, format!("there is no tool {tool:?}{hint}"));
        }
        let role = self.reader.required(node, "role", what);
        let role = role.and_then(|n| {
            let role = self.reader.text(n, "a role")?;
            self.reader.agent(n.place, &role, false);
            Some(role)
        });
        let args = node
            .get("args")
            .map_or_else(IndexMap::new, |n| self.expressions_of(n, "`args`"));
        Some(ToolStepSpec {
            tool,
            role: role?,
            args,
        })
    }

    fn set(&mut self, node: &Node) -> IndexMap<String, Condition> {
        for entry in self.reader.map(node, "`set`").unwrap_or_default() {
            if let Some(spec) = self.field(entry.key_place, &entry.key)
                && !spec.writers.iter().any(|w| w == PROGRAM)
            {
                self.add(
                    entry.key_place,
                    format!(
                        "{:?} has no writer {PROGRAM:?}, so `set` may not write it",
                        entry.key
                    ),
                );
            }
        }
        self.expressions_of(node, "`set`")
    }

    /// `state.x` must be a field, `steps.x` a step.
    fn check_expressions(&mut self) {
        for (place, condition) in std::mem::take(&mut self.expressions) {
            for path in condition.paths() {
                let (Some(root), Some(name)) = (path.first(), path.get(1)) else {
                    continue;
                };
                let source = condition.source();
                if root == "state" && !self.fields.contains_key(name) {
                    let hint = nearest(name, self.fields.keys().map(String::as_str));
                    self.add(
                        place,
                        format!("the expression `{source}` reads the unknown field {name:?}{hint}"),
                    );
                }
                if root == "steps" && !self.ids.contains_key(name) {
                    let hint = nearest(name, self.ids.keys().map(String::as_str));
                    self.add(
                        place,
                        format!("the expression `{source}` reads the unknown step {name:?}{hint}"),
                    );
                }
            }
        }
    }
}
