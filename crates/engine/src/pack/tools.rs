//! `tools/<id>/tool.yaml` (or tool.json): a tool as data. What it is told as, what a model fills in and what the program does, what it
//! changes, and what must have happened before. How a kind works is its toolset's; flows are the engine's own kind.

use super::keys;
use super::root::Root;
use super::source::Source;
use super::tool::{DeclaredTool, FLOW, Requires, ToolKind, ToolLimits};
use super::tool_calls::{TESTS_FILE, calls_of};
use super::tool_checks as checks;
use crate::condition::Condition;
use crate::flow::Schema;
use crate::nearest::nearest;
use crate::vocabulary::{DeclaredName, Vocabulary};
use agentctl_base::names::kept;
use agentctl_base::yaml::{self, Node, Place, Problem, Problems};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The folder of a pack's tools.
pub const TOOLS: &str = "tools";
/// What a tool answers where the real one is not used, unless its file names another.
const MOCK_FILE: &str = "mock.json";
/// What people read about a tool.
const README: &str = "README.md";
/// The file of a tool in its folder, in the order in which it is looked for.
pub const TOOL_FILES: [&str; 2] = ["tool.yaml", "tool.json"];

const KEYS: &[&str] = &[
    "tool_id",
    "name",
    "description",
    "category",
    "keywords",
    "acts",
    "parameters",
    "bind",
    "output_schema",
    "usage_examples",
    "kind",
    "effect",
    "reads_when",
    "requires",
    "limits",
    "cache",
    "mock",
];
/// What a bound value is computed from: the flow that the caller works in.
const BOUND_FROM: &[&str] = &["input", "session", "run", "pack"];
const TYPES: &[&str] = &["string", "integer", "number", "boolean", "object", "array"];
const MAX_TIMEOUT_S: u64 = 300;
const MAX_BYTES: u64 = 16 * 1024 * 1024;
const MAX_RETRIES: u64 = 5;

/// The tools of a pack, by id, with the sources for its hash.
pub(super) fn load(
    root: Root<'_>,
    vocabulary: &Vocabulary,
    problems: &mut Vec<Problem>,
) -> (IndexMap<String, DeclaredTool>, Vec<(String, Source)>) {
    let mut tools = IndexMap::new();
    let mut sources = Vec::new();
    // Where each tool says what it requires.
    let mut needing: IndexMap<String, Place> = IndexMap::new();
    for id in root.folders(TOOLS, &TOOL_FILES, problems) {
        let files = TOOL_FILES.iter().map(|file| format!("{TOOLS}/{id}/{file}"));
        let found = files
            .into_iter()
            .find_map(|path| Some((path.clone(), root.source(&path, problems)?)));
        let Some((path, source)) = found else {
            continue;
        };
        let node = match yaml::read(&source.text, &source.file) {
            Ok(node) => node,
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        let mut reader = Reader {
            problems: Problems::new(&source.file),
            vocabulary,
        };
        // A mock.json beside the file is its mock, named or not.
        let mock = match node.get("mock") {
            Some(_) => reader.mock_path(&node),
            None => Some(MOCK_FILE.to_owned()),
        };
        let mock = mock.map(|name| format!("{TOOLS}/{id}/{name}"));
        let mock = mock.and_then(|path| {
            let Some(source) = root.source(&path, problems) else {
                reader.no_mock(&node, &path);
                return None;
            };
            let read = yaml::read(&source.text, &source.file);
            let read = read.map_err(|p| problems.push(p)).ok()?;
            checks::mock(&read, &source.file, problems);
            sources.push((path, source));
            Some(read.to_json())
        });
        let tool = reader.tool(&node, &id, mock, &source.file);
        if let Some(requires) = node.get("requires") {
            needing.insert(id.clone(), requires.place);
        }
        problems.extend(reader.problems.into_sorted());
        let path_of_tests = format!("{TOOLS}/{id}/{TESTS_FILE}");
        let tests = root.source(&path_of_tests, problems);
        let readme = root.source(&format!("{TOOLS}/{id}/{README}"), problems);
        if let Some(mut tool) = tool {
            tool.readme = readme.map(|source| source.text.to_string());
            if let Some(source) = tests {
                tool.tests = calls_of(&source, problems);
                sources.push((path_of_tests, source));
            }
            tools.insert(id, tool);
        }
        if !source.is_built_in() {
            keys::in_text(&source.file, &source.text, problems);
        }
        sources.push((path, source));
    }
    for tool in tools.values() {
        let Some(needed) = tool.requires.as_ref().map(|r| &r.tool) else {
            continue;
        };
        let message = match tools.contains_key(needed) {
            true if needed == tool.id => {
                "it requires itself, so that it can never be called".to_owned()
            }
            true => continue,
            false => format!("it requires the tool {needed:?}, which the pack does not have"),
        };
        problems.push(Problem {
            file: tool.file.clone(),
            place: needing.get(tool.id).copied().unwrap_or(tool.place),
            message,
        });
    }
    (tools, sources)
}

/// What a policy and a flow may name: the vocabulary with these tools.
pub(super) fn named(
    tools: &IndexMap<String, DeclaredTool>,
    vocabulary: &Vocabulary,
    problems: &mut Vec<Problem>,
) -> Vocabulary {
    let declared: Vec<DeclaredName> = tools.values().map(DeclaredTool::declared).collect();
    let (vocabulary, taken) = vocabulary.with_declared(&declared);
    for tool in tools.values().filter(|tool| taken.contains(&tool.id)) {
        problems.push(Problem {
            file: tool.file.clone(),
            place: tool.place,
            message: format!(
                "{:?} is the name of a tool or a capability of the program; take another one",
                tool.id
            ),
        });
    }
    vocabulary
}

struct Reader<'a> {
    problems: Problems,
    vocabulary: &'a Vocabulary,
}

impl Reader<'_> {
    fn tool(
        &mut self,
        node: &Node,
        id: &str,
        mock: Option<Value>,
        file: &str,
    ) -> Option<DeclaredTool> {
        let kind = self.kind(node)?;
        let section_key = kind.name();
        for entry in node.as_map().unwrap_or_default() {
            if !KEYS.contains(&entry.key.as_str()) && entry.key != section_key {
                let hint = nearest(&entry.key, KEYS.iter().copied());
                self.problems.add(
                    entry.key_place,
                    format!("a tool has no {:?}{hint}", entry.key),
                );
            }
        }
        let named = self.text(node, "tool_id").unwrap_or_default();
        let good = id.starts_with(|c: char| c.is_ascii_lowercase())
            && id.len() <= 64
            && id
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        let place = node.get("tool_id").map_or(node.place, |n| n.place);
        if named != id || !good {
            let message = format!(
                "tool_id is {named:?}, its folder {id:?}; they must be the same, of at most 64 of a-z, 0-9 and _, a letter first"
            );
            self.problems.add(place, message);
        }
        let parameters = self.parameters(node.get("parameters"));
        let bind = self.bind(node.get("bind"), &parameters);
        let values = parameters.get("properties").and_then(Value::as_object);
        let values: Vec<String> = (values.into_iter().flat_map(Map::keys))
            .chain(bind.keys())
            .cloned()
            .collect();
        self.section(node, &kind, &values);
        let changes = match self.optional(node, "effect").as_deref() {
            None | Some("changes") => true,
            Some("reads") => false,
            Some(other) => {
                let at = node.get("effect").map_or(node.place, |n| n.place);
                let message = format!("effect is reads or changes, not {other:?}");
                self.problems.add(at, message);
                true
            }
        };
        let reads_when = node
            .get("reads_when")
            .and_then(|n| self.condition(n, &["args"]));
        if let (Some(condition), Some(n)) = (&reads_when, node.get("reads_when")) {
            checks::arguments(condition, n.place, &values, &mut self.problems);
        }
        checks::lists(node, &mut self.problems);
        checks::category(node.get("category"), &mut self.problems);
        if let Some(schema) = node.get("output_schema") {
            checks::types(schema, TYPES, &mut self.problems);
        }
        checks::examples(node.get("usage_examples"), &values, &mut self.problems);
        let requires = node.get("requires").and_then(|n| self.requires(n, &values));
        let limits = self.limits(node.get("limits"));
        let cache_s = node
            .get("cache")
            .and_then(|n| self.number(n, "seconds", 0, 86_400));
        if cache_s.is_some() && changes {
            let at = node.get("cache").map_or(place, |n| n.place);
            self.problems
                .add(at, "only a tool with effect: reads may have a cache");
        }
        Some(DeclaredTool {
            id: kept(id),
            name: self.text(node, "name")?,
            description: self.text(node, "description")?,
            category: self.optional(node, "category").unwrap_or_default(),
            keywords: self.texts(node.get("keywords")),
            acts: self.acts(node.get("acts")),
            parameters: Arc::new(parameters),
            output_schema: node.get("output_schema").map(Node::to_json),
            examples: node
                .get("usage_examples")
                .and_then(Node::as_list)
                .map_or_else(Vec::new, |l| l.iter().map(Node::to_json).collect()),
            kind,
            bind,
            changes,
            reads_when,
            requires,
            limits,
            cache_s,
            mock,
            readme: None,
            tests: Vec::new(),
            file: file.to_owned(),
            place,
        })
    }

    fn kind(&mut self, node: &Node) -> Option<ToolKind> {
        if node.as_map().is_none() {
            self.problems.add(
                node.place,
                "a tool is a map of tool_id, name, description, kind and more",
            );
            return None;
        }
        let name = self.text(node, "kind")?;
        let place = node.get("kind").map_or(node.place, |n| n.place);
        if name == FLOW {
            let flow = self.text(node, FLOW)?;
            return Some(ToolKind::Flow { flow });
        }
        let known = self
            .vocabulary
            .kinds()
            .iter()
            .find(|kind| kind.name == name);
        let Some(known) = known else {
            let mut names: Vec<&str> = vec![FLOW];
            names.extend(self.vocabulary.kinds().iter().map(|kind| kind.name));
            let message = format!(
                "{name:?} is no kind of tool; there are {}",
                names.join(", ")
            );
            self.problems.add(place, message);
            return None;
        };
        let section = node
            .get(known.name)
            .map_or_else(|| json!({}), Node::to_json);
        Some(ToolKind::Other {
            name: known.name,
            section,
        })
    }

    fn section(&mut self, node: &Node, kind: &ToolKind, values: &[String]) {
        let known = self
            .vocabulary
            .kinds()
            .iter()
            .find(|known| known.name == kind.name());
        let Some(known) = known else { return };
        match node.get(known.name) {
            Some(section) => {
                for (place, message) in (known.check)(section, values) {
                    self.problems.add(place, message);
                }
            }
            None => self.problems.add(
                node.place,
                format!("a tool of this kind needs {:?}", known.name),
            ),
        }
    }

    /// The form of a tool definition (`{name: {type, required, description, …}}`) as a JSON Schema.
    fn parameters(&mut self, node: Option<&Node>) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for entry in node.and_then(Node::as_map).unwrap_or_default() {
            let Value::Object(mut schema) = entry.value.to_json() else {
                self.problems.add(
                    entry.value.place,
                    "a parameter is a map of type, required and description",
                );
                continue;
            };
            let kind = schema.get("type").and_then(Value::as_str);
            if !kind.is_some_and(|kind| TYPES.contains(&kind)) {
                let message = format!("the type of a parameter is one of {}", TYPES.join(", "));
                self.problems.add(entry.value.place, message);
            }
            match schema.shift_remove("required") {
                Some(Value::Bool(true)) => required.push(Value::from(entry.key.clone())),
                None | Some(Value::Bool(false)) => {}
                Some(_) => self
                    .problems
                    .add(entry.value.place, "required is true or false"),
            }
            let schema = Value::Object(schema);
            if let Err(why) = Schema::compile(schema.clone()) {
                self.problems
                    .add(entry.value.place, format!("the parameter is {why}"));
            }
            properties.insert(entry.key.clone(), schema);
        }
        if let Some(node) = node.filter(|n| n.as_map().is_none()) {
            self.problems.add(
                node.place,
                "parameters is a map of name to {type, required, description}",
            );
        }
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    }

    fn bind(&mut self, node: Option<&Node>, parameters: &Value) -> IndexMap<String, Condition> {
        let mut bind = IndexMap::new();
        if let Some(node) = node.filter(|n| n.as_map().is_none()) {
            let form = "bind is a map of name to the expression that it is computed from";
            self.problems.add(node.place, form);
        }
        for entry in node.and_then(Node::as_map).unwrap_or_default() {
            let properties = parameters.get("properties");
            if properties.is_some_and(|p| p.get(&entry.key).is_some()) {
                let message = format!(
                    "{:?} is bound by the program, so it is no parameter of a model",
                    entry.key
                );
                self.problems.add(entry.key_place, message);
            }
            if let Some(condition) = self.condition(&entry.value, BOUND_FROM) {
                bind.insert(entry.key.clone(), condition);
            }
        }
        bind
    }

    fn requires(&mut self, node: &Node, values: &[String]) -> Option<Requires> {
        if let Some(tool) = node.as_text() {
            return Some(Requires {
                tool: tool.to_owned(),
                id: None,
                parameters: None,
            });
        }
        let mut value = |key: &str| {
            let name = node.get(key)?;
            let text = name.as_text().map(str::to_owned);
            if !text.as_ref().is_some_and(|text| values.contains(text)) {
                let message = format!("{key} must name a parameter of the tool");
                self.problems.add(name.place, message);
            }
            text
        };
        let (id, parameters) = (value("id"), value("parameters"));
        Some(Requires {
            tool: self.text(node, "tool")?,
            id,
            parameters,
        })
    }

    fn limits(&mut self, node: Option<&Node>) -> ToolLimits {
        let mut limits = ToolLimits::default();
        let Some(node) = node else { return limits };
        for (key, least, most, into) in [
            ("timeout_s", 1, MAX_TIMEOUT_S, &mut limits.timeout_s),
            ("max_bytes", 1, MAX_BYTES, &mut limits.max_bytes),
            ("retries", 0, MAX_RETRIES, &mut limits.retries),
        ] {
            if let Some(n) = self.number(node, key, least, most) {
                *into = n;
            }
        }
        limits.per_minute = self.number(node, "per_minute", 1, 100_000);
        let known = ["timeout_s", "max_bytes", "retries", "per_minute"];
        for entry in node.as_map().unwrap_or_default() {
            if !known.contains(&entry.key.as_str()) {
                let message = format!("limits has no {:?}; it has {}", entry.key, known.join(", "));
                self.problems.add(entry.key_place, message);
            }
        }
        limits
    }

    fn number(&mut self, of: &Node, key: &str, least: u64, most: u64) -> Option<u64> {
        let node = of.get(key)?;
        let number = node.as_u64().filter(|n| (least..=most).contains(n));
        if number.is_none() {
            let message = match least {
                0 => format!("{key} must be a whole number of at most {most}"),
                _ => format!("{key} must be a whole number from {least} to {most}"),
            };
            self.problems.add(node.place, message);
        }
        number
    }

    fn mock_path(&mut self, node: &Node) -> Option<String> {
        let mock = node.get("mock")?;
        let name = mock.as_text().filter(|name| {
            name.ends_with(".json") && !name.starts_with('.') && !name.contains(['/', '\\'])
        });
        if name.is_none() {
            self.problems.add(
                mock.place,
                "mock names a JSON file in the tool's own folder, e.g. mock.json",
            );
        }
        name.map(str::to_owned)
    }

    /// A mock that the file names has to be there; mock.json is looked for unnamed too.
    fn no_mock(&mut self, node: &Node, path: &str) {
        if let Some(mock) = node.get("mock") {
            let message = format!("there is no {path}; the tool would have no mock");
            self.problems.add(mock.place, message);
        }
    }

    fn condition(&mut self, node: &Node, variables: &[&str]) -> Option<Condition> {
        let Some(source) = node.as_text() else {
            self.problems
                .add(node.place, "here must stand an expression");
            return None;
        };
        let compiled = Condition::compile(source.trim(), variables);
        let compiled = compiled.map_err(|e| self.problems.add(node.place, e.to_string()));
        compiled.ok()
    }

    fn text(&mut self, of: &Node, key: &str) -> Option<String> {
        let Some(node) = of.get(key) else {
            self.problems
                .add(of.place, format!("a tool has no {key:?}"));
            return None;
        };
        let text = node
            .as_text()
            .map(str::trim)
            .filter(|text| !text.is_empty());
        if text.is_none() {
            self.problems.add(node.place, format!("{key} must be text"));
        }
        text.map(str::to_owned)
    }

    fn optional(&mut self, of: &Node, key: &str) -> Option<String> {
        of.get(key).and_then(|_| self.text(of, key))
    }

    /// Verbs that say what a call does.
    fn acts(&mut self, node: Option<&Node>) -> Vec<String> {
        let acts = self.texts(node);
        let good = |act: &String| !act.trim().is_empty() && act.len() <= 40;
        if let Some(node) = node
            && (acts.is_empty() || !acts.iter().all(good))
        {
            let form = "acts is a list of verbs that say what a call does, e.g. [book]";
            self.problems.add(node.place, form);
        }
        acts
    }

    fn texts(&mut self, node: Option<&Node>) -> Vec<String> {
        let items = node.and_then(Node::as_list).unwrap_or_default();
        items
            .iter()
            .filter_map(|item| item.as_text().map(str::to_owned))
            .collect()
    }
}
