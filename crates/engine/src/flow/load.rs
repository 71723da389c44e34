//! flow.yaml → [`Flow`]. Every mistake of the file is reported in one pass, with its place. No IO: the text is passed in.

use super::load_all::{Written, load_with};
use super::load_steps::Steps;
use super::model::{FieldKind, FieldSpec, Flow, Limits, OutputSpec, PlanTools, Step};
use super::reach::unreached;
use super::reader::{Callees, Known, Reader, Said};
use super::schema::Schema;
use super::scope::VARIABLES;
use crate::policy::Outside;
use agentctl_base::yaml::{Node, Problem, Problems};
use indexmap::IndexMap;

/// Reads a flow that calls no other. On mistakes: all of them, in the order of the file.
pub fn load(text: &str, file: &str, known: Known<'_>) -> Result<Flow, Vec<Problem>> {
    load_with(Written::Text(text), file, known, &[])
}

/// One flow, when all that it may call are read.
pub(super) fn one(
    root: &Node,
    file: &str,
    known: Known<'_>,
    callees: &Callees,
) -> (Flow, Vec<Problem>) {
    let mut reader = Reader {
        problems: Problems::new(file),
        known,
        said: Said::new(),
        callees,
    };
    let flow = reader.flow(root);
    (flow, reader.problems.into_sorted())
}

const KEYS: &[&str] = &[
    "name",
    "stages",
    "blocked",
    "limits",
    "fields",
    "failures",
    "finish",
    "plan_tools",
    "input",
    "output",
    "steps",
    "retired",
];

impl Reader<'_> {
    fn flow(&mut self, root: &Node) -> Flow {
        self.keys(root, "the flow", KEYS);
        let stages = root.get("stages").map_or_else(Vec::new, |n| self.stages(n));
        let blocked_stage = root
            .get("blocked")
            .and_then(|node| self.blocked(node, &stages));
        let name = self
            .required(root, "name", "the flow")
            .and_then(|n| self.text(n, "the flow's name"))
            .unwrap_or_default();
        let limits = self.limits(root.get("limits"));
        let fields = root
            .get("fields")
            .map_or_else(IndexMap::new, |n| self.fields(n));
        let failures = root.get("failures").and_then(|node| {
            let field = self.name(node, "a field")?;
            if fields
                .get(&field)
                .is_none_or(|f: &FieldSpec| f.kind != FieldKind::Append)
            {
                self.problems.add(
                    node.place,
                    format!("`failures` must name a field of kind append; {field:?} is none"),
                );
            }
            Some(field)
        });
        let plan_tools = root.get("plan_tools").and_then(|n| self.plan_tools(n));
        let finish_node = root.get("finish");
        let finish = finish_node.and_then(|n| self.condition(n, VARIABLES));
        let input = root.get("input").and_then(|n| self.input(n));
        let output = root.get("output").and_then(|n| self.output(n));
        let mut about = Vec::new();
        about.extend(finish_node.zip(finish.as_ref()));
        let value = root.get("output").and_then(|n| n.get("value"));
        about.extend(value.zip(output.as_ref().map(|of| &of.value)));
        let mut steps = Vec::new();
        if let Some(node) = self.required(root, "steps", "the flow") {
            let mut reading = Steps::new(self, &stages, blocked_stage.as_deref(), &fields, limits);
            steps = reading.read(node, &about);
        }
        for (place, message) in unreached(&steps) {
            self.problems.add(place, message);
        }
        let mut flow = Flow {
            name,
            stages,
            blocked_stage,
            fields,
            steps,
            retired: Vec::new(),
            limits,
            finish,
            failures,
            plan_tools,
            data: self.known.data.cloned().unwrap_or_default(),
            input,
            output,
        };
        if let Some(node) = root.get("retired") {
            self.retired(node, &mut flow);
        }
        flow
    }

    /// Ids of steps that are gone. Nothing else in the file may name them.
    fn retired(&mut self, node: &Node, flow: &mut Flow) {
        let Some(items) = node.as_list() else {
            let why = "`retired` must be a list of the ids of steps that the flow has no more";
            self.problems.add(node.place, why);
            return;
        };
        for item in items {
            let Some(id) = self.name(item, "a step") else {
                continue;
            };
            match flow.step(&id) {
                Some(step) => {
                    let line = step.place.line;
                    let why = format!(
                        "there is a step {id:?} (line {line}): one that is retired is gone"
                    );
                    self.problems.add(item.place, why);
                }
                None => flow.retired.push(Step::retired(id, item.place)),
            }
        }
    }

    fn input(&mut self, node: &Node) -> Option<Schema> {
        self.keys(node, "`input`", &["schema"]);
        let schema = self.required(node, "schema", "`input`")?;
        self.schema(schema)
    }

    fn output(&mut self, node: &Node) -> Option<OutputSpec> {
        self.keys(node, "`output`", &["value", "schema"]);
        let value = self.required(node, "value", "`output`")?;
        Some(OutputSpec {
            value: self.condition(value, VARIABLES)?,
            schema: node.get("schema").and_then(|n| self.schema(n)),
        })
    }

    fn blocked(&mut self, node: &Node, stages: &[String]) -> Option<String> {
        let stage = self.name(node, "a stage")?;
        if stages.contains(&stage) {
            self.problems.add(
                node.place,
                "the blocked stage must not be one of `stages`: it is reached from every one of them",
            );
        } else if stages.is_empty() {
            self.problems.add(
                node.place,
                "a flow without `stages` has no blocked stage either",
            );
        }
        Some(stage)
    }

    /// `true`, or a map of `agent` and `outside`.
    fn plan_tools(&mut self, node: &Node) -> Option<PlanTools> {
        if let Some(wanted) = node.as_bool() {
            return wanted.then_some(PlanTools {
                agent: None,
                outside: Outside::Ask,
            });
        }
        self.keys(node, "`plan_tools`", &["agent", "outside"]);
        let agent = node.get("agent").and_then(|n| {
            let agent = self.text(n, "an agent")?;
            self.agent(n.place, &agent, false);
            Some(agent)
        });
        let outside = node.get("outside").map_or(Outside::default(), |n| {
            let said = n.as_text().and_then(Outside::from_name);
            said.unwrap_or_else(|| {
                self.problems
                    .add(n.place, "`outside` of `plan_tools` must be ask or deny");
                Outside::Deny
            })
        });
        Some(PlanTools { agent, outside })
    }

    fn stages(&mut self, node: &Node) -> Vec<String> {
        let Some(items) = node.as_list().filter(|items| !items.is_empty()) else {
            self.problems.add(
                node.place,
                "`stages` must be a list of names, in forward order",
            );
            return Vec::new();
        };
        let mut stages: Vec<String> = Vec::new();
        for item in items {
            if let Some(stage) = self.name(item, "a stage") {
                if stages.contains(&stage) {
                    self.problems
                        .add(item.place, format!("the stage {stage:?} is listed twice"));
                }
                stages.push(stage);
            }
        }
        stages
    }

    fn limits(&mut self, node: Option<&Node>) -> Limits {
        let mut limits = Limits {
            max_cycles: 3,
            max_turns: 20,
        };
        if let Some(node) = node {
            self.keys(node, "`limits`", &["max_cycles", "max_turns"]);
            if let Some(n) = node
                .get("max_cycles")
                .and_then(|n| self.count(n, "max_cycles"))
            {
                limits.max_cycles = n;
            }
            if let Some(n) = node
                .get("max_turns")
                .and_then(|n| self.count(n, "max_turns"))
            {
                limits.max_turns = n;
            }
        }
        limits
    }

    fn fields(&mut self, node: &Node) -> IndexMap<String, FieldSpec> {
        let Some(entries) = self.map(node, "`fields`") else {
            return IndexMap::new();
        };
        let mut fields = IndexMap::new();
        for entry in entries {
            if ["stage", "input", "answers", "run"].contains(&entry.key.as_str()) {
                self.problems.add(
                    entry.key_place,
                    format!(
                        "{:?} is the program's own name; call the field something else",
                        entry.key
                    ),
                );
            }
            if let Some(spec) = self.field(entry, true) {
                fields.insert(entry.key.clone(), spec);
            }
        }
        fields
    }
}
