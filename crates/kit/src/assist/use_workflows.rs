//! `use_workflows`: workflows that were listed by their names are told, explained or run; what wants one made or changed is handed on word
//! for word to the tool that does such things.

use super::delegate::texts;
use super::fill::{Said, unquoted};
use super::language::language;
use super::lexicon::Lexicon;
use super::parts::apart;
use super::pick::Listed;
use super::render::{in_marks, lines, list, plain, thing};
use super::{Done, Next};
use crate::task::{KitError, Task};
use crate::texts::filled;
use crate::words::fold;
use serde_json::{Map, Value, json};

/// Nodes of a workflow that are told, at most.
const MAX_STEPS: usize = 12;

/// One that was listed.
struct Known<'a> {
    name: &'a str,
    nodes: Vec<&'a str>,
    tool: Listed<'a>,
}

struct Work<'a> {
    task: Task<'a>,
    wish: &'a str,
    language: &'static str,
    lexicon: Lexicon,
    known: Vec<Known<'a>>,
    /// What the user answered when asked for it.
    answers: Map<String, Value>,
}

pub(super) fn next(task: Task<'_>, done: &[Done]) -> Result<Next, KitError> {
    let wish = task.reads("task").and_then(Value::as_str);
    let wish = wish.ok_or_else(|| task.lacks("it reads no task"))?;
    let listed = task.reads("tools").and_then(Value::as_array);
    let known = listed.into_iter().flatten().filter_map(|tool| {
        let nodes = tool.get("nodes").and_then(Value::as_array);
        Some(Known {
            name: tool.get("name")?.as_str()?,
            nodes: nodes
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect(),
            tool: Listed::of(tool)?,
        })
    });
    let known: Vec<Known<'_>> = known.collect();
    let properties = known.iter().flat_map(|one| one.tool.properties());
    let names: Vec<&str> = properties.map(|(name, _)| name.as_str()).collect();
    let (wish, _, answers) = apart(wish, &names);
    let lexicon = Lexicon::of(task.offline.get("concepts"));
    let work = Work {
        wish,
        language: language(
            task.reads("said").and_then(Value::as_str).unwrap_or(wish),
            task.reads("locale")
                .and_then(Value::as_str)
                .unwrap_or_default(),
            &lexicon,
            &texts(task.offline.get("acts")),
        ),
        lexicon,
        known,
        answers,
        task,
    };
    match done.last() {
        None => work.begin(),
        Some(made) => work.came(made).map(Next::Answer),
    }
}

impl<'a> Work<'a> {
    fn begin(&self) -> Result<Next, KitError> {
        let named = self.named();
        if let Some(one) = named
            && self.wants("runs")
        {
            return self.run(one);
        }
        if self.wants("builds") {
            return Ok(Next::Call {
                tool: self.way("build", "tool")?.to_owned(),
                args: json!({self.way("build", "message")?: self.wish}),
            });
        }
        // "Which ones can you run?" asks for the list.
        if named.is_none() && self.wants("runs") && !self.wants("asks") {
            return self.which().map(Next::Answer);
        }
        match named {
            Some(one) => self.explained(one),
            None => self.all(),
        }
        .map(Next::Answer)
    }

    /// Whether a word outside of the names says it.
    fn wants(&self, what: &str) -> bool {
        let concepts = self.task.entry().ok().and_then(|entry| entry.get(what));
        let concepts = texts(concepts);
        let plain = self.without_name(&unquoted(self.wish));
        let hits = self.lexicon.hits(&plain);
        hits.iter()
            .any(|hit| concepts.contains(&hit.concept.as_str()))
    }

    /// The workflow whose whole name the wish holds; of several the one with the longest.
    fn named(&self) -> Option<&Known<'a>> {
        let wish = fold(self.wish);
        let said = self
            .known
            .iter()
            .filter(|one| wish.contains(&fold(one.name)));
        said.max_by_key(|one| one.name.len())
    }

    fn without_name(&self, text: &str) -> String {
        let Some(one) = self.named() else {
            return text.to_owned();
        };
        let at = text.to_lowercase().find(&one.name.to_lowercase());
        let parts = at.and_then(|at| Some((text.get(..at)?, text.get(at + one.name.len()..)?)));
        parts.map_or_else(
            || text.to_owned(),
            |(before, behind)| format!("{before} {behind}"),
        )
    }

    fn way(&self, what: &str, key: &str) -> Result<&'a str, KitError> {
        let entry = self.task.entry()?;
        let way = entry.get(what).and_then(|way| way.get(key)?.as_str());
        way.ok_or_else(|| {
            self.task
                .lacks(format!("`{what}` has no `{key}` in offline.yaml"))
        })
    }

    fn run(&self, one: &Known<'a>) -> Result<Next, KitError> {
        let clause = self.without_name(self.wish);
        let properties = one.tool.properties();
        let how: Map<String, Value> = (properties.iter())
            .map(|(name, _)| {
                (
                    (*name).clone(),
                    json!({"from": ["label", "quoted"], "labels": [name]}),
                )
            })
            .collect();
        let (how, none) = (Value::Object(how), Map::new());
        let said = Said {
            clause: &clause,
            whole: self.wish,
            answers: &self.answers,
            lexicon: &self.lexicon,
            content: None,
            how: &how,
            listed: &none,
            found: &none,
        };
        let mut parameters = Map::new();
        for (name, schema) in properties {
            if let Some(value) = said.value(name, schema, true) {
                parameters.insert(name.clone(), value);
            } else if one.tool.required().contains(&name.as_str()) {
                return self.missing(name).map(Next::Answer);
            }
        }
        Ok(Next::Call {
            tool: self.way("run", "tool")?.to_owned(),
            args: json!({self.way("run", "id")?: one.tool.id, self.way("run", "parameters")?: parameters}),
        })
    }

    fn text(&self, name: &str) -> Result<&'a str, KitError> {
        self.task.text_in(name, self.language)
    }

    fn marked(&self, text: &str) -> String {
        in_marks(text, self.language)
    }

    fn missing(&self, parameter: &str) -> Result<Value, KitError> {
        let output = filled(self.text("ask_any")?, |place| {
            (place == "parameter").then(|| parameter.replace('_', " "))
        });
        Ok(
            json!({"output": output, "data": {"error": "missing_parameter", "parameter": parameter}, "attachment": null}),
        )
    }

    /// Which one is to be run is not said.
    fn which(&self) -> Result<Value, KitError> {
        if self.known.is_empty() {
            return self.all();
        }
        let names: Vec<&str> = self.known.iter().map(|one| one.name).collect();
        let output = filled(self.text("which_workflow")?, |place| {
            (place == "names").then(|| names.join(", "))
        });
        Ok(
            json!({"output": output, "data": {"error": "missing_parameter", "parameter": "workflow"}, "attachment": null}),
        )
    }

    fn all(&self) -> Result<Value, KitError> {
        let head = match self.known.is_empty() {
            true => self.text("no_workflows")?,
            false => self.text("workflows_are")?,
        };
        let told = self
            .known
            .iter()
            .map(|one| match one.tool.description.trim() {
                "" => format!("- {}", self.marked(one.name)),
                about => format!(
                    "- {}: {}",
                    self.marked(one.name),
                    self.marked(&first_line(about))
                ),
            });
        let lines: Vec<String> = std::iter::once(head.to_owned()).chain(told).collect();
        let names: Vec<&str> = self.known.iter().map(|one| one.name).collect();
        let data = Self::marked_data(json!({"workflows": names}), self.is_mock());
        Ok(json!({"output": lines.join("\n"), "data": data, "attachment": null}))
    }

    fn explained(&self, one: &Known<'a>) -> Result<Value, KitError> {
        let properties = one.tool.properties();
        let takes: Vec<&str> = properties.iter().map(|(name, _)| name.as_str()).collect();
        let steps: Vec<&str> = one.nodes.iter().take(MAX_STEPS).copied().collect();
        let quoted = |of: Vec<&str>| match of.is_empty() {
            true => "-".to_owned(),
            false => self.marked(&of.join(", ")),
        };
        let (takes, steps) = (quoted(takes), quoted(steps));
        let output = filled(self.text("workflow_is")?, |place| {
            Some(match place {
                "name" => one.name.to_owned(),
                "about" => first_line(one.tool.description),
                "takes" => takes.clone(),
                "steps" => steps.clone(),
                _ => return None,
            })
        });
        let data = json!({"workflow": one.tool.id, "name": one.name, "nodes": one.nodes, "parameters": one.tool.parameters});
        let data = Self::marked_data(data, self.is_mock());
        Ok(json!({"output": output, "data": data, "attachment": null}))
    }

    /// Whether the list of workflows is a mock's.
    fn is_mock(&self) -> bool {
        self.task.reads("mock").and_then(Value::as_bool) == Some(true)
    }

    /// What came of a mock says so.
    fn marked_data(mut data: Value, mock: bool) -> Value {
        if let (Some(data), true) = (data.as_object_mut(), mock) {
            data.insert("mock".into(), true.into());
        }
        data
    }

    fn came(&self, made: &Done) -> Result<Value, KitError> {
        let rule = made.content.get("rule").and_then(Value::as_str);
        if !made.ok {
            let (text, error) = match rule.unwrap_or_default() {
                "tools.timeout" => ("timed_out", "timeout"),
                "tools.unknown_outcome" | "settle" => ("unknown_outcome", "unknown"),
                "tools.requires" | "guard.address" => ("was_refused", "refused"),
                _ => ("did_not_work", "tool_failed"),
            };
            let why = made.content.get("error").map(plain).unwrap_or_default();
            let output = filled(self.text(text)?, |place| {
                (place == "why").then(|| why.replace(['"', '“', '”'], "'"))
            });
            return Ok(json!({"output": output, "data": {"error": error}, "attachment": null}));
        }
        if made.tool == self.way("build", "tool")? {
            let of = |key: &str| made.content.get(key).cloned().unwrap_or_default();
            return Ok(
                json!({"output": of("output"), "data": {"run": of("run"), "changed": of("changed"), "details": of("data")}, "attachment": of("attachment")}),
            );
        }
        let id = made
            .args
            .get(self.way("run", "id")?)
            .and_then(Value::as_str);
        let one = self.known.iter().find(|one| Some(one.tool.id) == id);
        let execution = made.content.get("execution").cloned().unwrap_or_default();
        let result = made.content.get("result").unwrap_or(&Value::Null);
        let head = filled(self.text("ran_workflow")?, |place| {
            Some(match place {
                "name" => one.map(|one| one.name.to_owned()).unwrap_or_default(),
                "execution" => execution.get("id").map(plain).unwrap_or_default(),
                _ => return None,
            })
        });
        let told = match list(result) {
            Some((items, _)) => lines(&items, self.language),
            None => thing(result, self.wish, self.language),
        };
        let output = [vec![head], told].concat().join("\n");
        let data = json!({"result": result, "execution": execution});
        let data = Self::marked_data(data, made.content.get("mock").is_some());
        Ok(json!({"output": output, "data": data, "attachment": null}))
    }
}

fn first_line(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    line.replace(['"', '“', '”', '„', '«', '»'], "'")
}
