//! flow.yaml → [`Flow`]. Every mistake of the file is reported in one pass, with its place. No IO: the text is passed in.

use super::load_steps::Steps;
use super::meaning;
use super::model::{FieldKind, FieldSpec, Flow, Limits, Meaning, PlanTools};
use super::reader::{Known, Reader, Said};
use super::scope::VARIABLES;
use crate::policy::Outside;
use agentctl_base::yaml::{self, Entry, Node, Problem, Problems};
use indexmap::IndexMap;

/// Reads a flow. On mistakes: all of them, in the order of the file.
pub fn load(text: &str, file: &str, known: Known<'_>) -> Result<Flow, Vec<Problem>> {
    let root = yaml::read(text, file).map_err(|problem| vec![problem])?;
    let mut reader = Reader {
        problems: Problems::new(file),
        known,
        said: Said::new(),
    };
    let flow = reader.flow(&root);
    if reader.problems.is_empty() {
        Ok(flow)
    } else {
        Err(reader.problems.into_sorted())
    }
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
    "steps",
];

impl Reader<'_> {
    fn flow(&mut self, root: &Node) -> Flow {
        self.keys(root, "the flow", KEYS);
        let stages = self.stages(root);
        let blocked = self.required(root, "blocked", "the flow");
        let blocked_stage = blocked
            .and_then(|n| self.name(n, "a stage"))
            .unwrap_or_default();
        if let Some(node) = blocked
            && stages.contains(&blocked_stage)
        {
            self.problems.add(
                node.place,
                "the blocked stage must not be one of `stages`: it is reached from every one of them",
            );
        }
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
        let mut steps = Vec::new();
        if let Some(node) = self.required(root, "steps", "the flow") {
            let mut reading = Steps::new(self, &stages, &blocked_stage, &fields, limits);
            steps = reading.read(node, finish_node.zip(finish.as_ref()));
        }
        Flow {
            name,
            stages,
            blocked_stage,
            fields,
            steps,
            limits,
            finish,
            failures,
            plan_tools,
        }
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

    fn stages(&mut self, root: &Node) -> Vec<String> {
        let Some(node) = self.required(root, "stages", "the flow") else {
            return Vec::new();
        };
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

    fn field(&mut self, entry: &Entry, top: bool) -> Option<FieldSpec> {
        let what = format!("the field {:?}", entry.key);
        let keys: &[&str] = if top {
            &["kind", "writers", "schema", "fields"]
        } else {
            &["kind", "fields"]
        };
        let meanings: &[&str] = if top { &meaning::KEYS } else { &[] };
        self.keys(&entry.value, &what, &[keys, meanings].concat());
        let kind_node = self.required(&entry.value, "kind", &what)?;
        let kind = match kind_node.as_text() {
            Some("object") => FieldKind::Object,
            Some("append") => FieldKind::Append,
            Some("replace") => FieldKind::Replace,
            Some("scalar") => FieldKind::Scalar,
            _ => {
                self.problems.add(
                    kind_node.place,
                    format!("{what}: kind must be object, append, replace or scalar"),
                );
                return None;
            }
        };
        let mut writers = Vec::new();
        if top && let Some(node) = self.required(&entry.value, "writers", &what) {
            for (place, name) in self.names(node, "writers") {
                self.agent(place, &name, true);
                writers.push(name);
            }
        }
        let schema = entry.value.get("schema").and_then(|n| self.schema(n));
        let mut children = IndexMap::new();
        if let Some(node) = entry.value.get("fields") {
            if kind != FieldKind::Object {
                self.problems.add(
                    node.place,
                    format!("{what} is no object, so it has no fields inside"),
                );
            }
            for child in self.map(node, "`fields`").unwrap_or_default() {
                if let Some(spec) = self.field(child, false) {
                    children.insert(child.key.clone(), spec);
                }
            }
        }
        let meaning = match top {
            true => self.meaning(entry, kind),
            false => Meaning::default(),
        };
        Some(FieldSpec {
            kind,
            writers,
            schema,
            children,
            meaning,
        })
    }
}
