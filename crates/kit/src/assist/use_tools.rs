//! `use_tools`: the listed tools of a user, one call after the other, then what came of them.

use super::delegate::texts;
use super::fill::Said;
use super::lexicon::Lexicon;
use super::parts::{apart, clauses, file_of, id_of, place_of};
use super::pick::{Listed, act_of, best};
use super::render::{lines, list, plain, thing};
use super::{Done, Next};
use crate::task::{KitError, Task};
use crate::texts::filled;
use serde_json::{Map, Value, json};

/// Looks in a row, before it is said that nothing was found.
const MAX_LOOKS: usize = 3;

struct Work<'a> {
    task: Task<'a>,
    language: &'a str,
    lexicon: Lexicon,
    acts: Vec<&'a str>,
    /// Concepts that say little of which tool is meant.
    weak: Vec<&'a str>,
    how: Value,
    tools: Vec<Listed<'a>>,
    /// What another agent hands over.
    content: Option<&'a str>,
    /// The instruction with the thing that it is about; what the user answered besides, by parameter.
    whole: String,
    answers: Map<String, Value>,
    clauses: Vec<String>,
    /// The tool that executes, and its two arguments.
    execute: (&'a str, &'a str, &'a str),
    /// The tools were listed once more, since one of them was gone.
    again: bool,
}

/// What stands between an instruction and what is handed over with it.
pub(super) const HANDED: &str = "\n\n---\n";

/// The rule of a call whose tool was not listed, or whose parameters do not fit what was listed.
const REQUIRES: &str = "tools.requires";

/// The rule of a call of a tool that the system no longer has.
const GONE: &str = "tools.gone";

pub(super) fn next<'a>(task: Task<'a>, done: &'a [Done]) -> Result<Next, KitError> {
    let list = task.entry()?.get("list").and_then(Value::as_str);
    let gone = done
        .iter()
        .position(|made| !made.ok && rule_of(made) == GONE);
    let (Some(list), Some(at)) = (list, gone) else {
        return Work::new(task)?.go(done);
    };
    // The tools are listed once more, and the call is made with what is listed now; a second time it failed.
    let (before, from) = done.split_at(at);
    match from.get(1) {
        None => Ok(Next::Call {
            tool: list.to_owned(),
            args: listing(&task),
        }),
        Some(listed) if listed.ok => {
            let rest = from.get(2..).unwrap_or_default();
            let mut work = Work::new(task)?;
            work.tools = Listed::all(listed.content.get("tools"));
            work.again = true;
            work.go(&[before, rest].concat())
        }
        Some(listed) => Work::new(task)?.failed(listed, &[]).map(Next::Answer),
    }
}

/// What the list is asked with: what the step reads under the names of `list_with`.
fn listing(task: &Task<'_>) -> Value {
    let names = task.entry().ok().and_then(|entry| entry.get("list_with"));
    let named = texts(names).into_iter();
    let values = named.filter_map(|name| Some((name.to_owned(), task.reads(name)?.clone())));
    Value::Object(values.collect())
}

fn rule_of(made: &Done) -> &str {
    let rule = made.content.get("rule").and_then(Value::as_str);
    rule.unwrap_or_default()
}

impl<'a> Work<'a> {
    fn new(task: Task<'a>) -> Result<Work<'a>, KitError> {
        let entry = task.entry()?;
        let given = task.reads("task").and_then(Value::as_str);
        let given = given.ok_or_else(|| task.lacks("it reads no task"))?;
        let (instruction, content) = match given.split_once(HANDED) {
            Some((instruction, content)) => (instruction, Some(content)),
            None => (given, None),
        };
        let text = |key: &'a str| entry.get(key).and_then(Value::as_str);
        let lexicon = Lexicon::of(task.offline.get("concepts"));
        let acts = texts(task.offline.get("acts"));
        let tools = Listed::all(task.reads("tools"));
        let names: Vec<&str> = tools
            .iter()
            .flat_map(|tool| tool.properties())
            .map(|(name, _)| name.as_str())
            .collect();
        let (instruction, subject, answers) = apart(instruction, &names);
        let said = task
            .reads("said")
            .and_then(Value::as_str)
            .unwrap_or(instruction);
        let locale = task
            .reads("locale")
            .and_then(Value::as_str)
            .unwrap_or_default();
        Ok(Work {
            language: super::language::language(said, locale, &lexicon, &acts),
            whole: [Some(instruction), subject]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join("\n"),
            answers,
            clauses: clauses(instruction, &lexicon, &acts),
            how: task.offline.get("parameters").cloned().unwrap_or_default(),
            tools,
            execute: (
                text("tool").ok_or_else(|| task.lacks("`tool` names what executes"))?,
                text("id").unwrap_or("tool_id"),
                text("parameters").unwrap_or("parameters"),
            ),
            again: false,
            task,
            lexicon,
            acts,
            weak: texts(task.offline.get("weak")),
            content,
        })
    }

    fn go(&self, done: &[Done]) -> Result<Next, KitError> {
        let mut at = 0;
        let mut told: Vec<(&Done, &str)> = Vec::new();
        for clause in &self.clauses {
            // What was called for this clause: looks that did not help, then the call itself.
            let mut looks: Vec<&Done> = Vec::new();
            loop {
                let step = self.of_clause(clause, &looks)?;
                let call = match step {
                    Step::Call(tool, parameters) => (tool, parameters),
                    Step::Enough => break,
                    Step::Answer(answer) => return Ok(Next::Answer(self.with(answer, &told)?)),
                };
                let Some(made) = done.get(at) else {
                    let (tool, id, parameters) = self.execute;
                    return Ok(Next::Call {
                        tool: tool.to_owned(),
                        args: json!({id: call.0, parameters: call.1}),
                    });
                };
                at += 1;
                if !made.ok {
                    return self.failed(made, &told).map(Next::Answer);
                }
                looks.push(made);
            }
            if let Some(last) = looks.last() {
                told.push((last, clause));
            }
        }
        self.answer(&told).map(Next::Answer)
    }

    /// The tool that a result is of.
    fn tool_of(&self, made: &Done) -> Option<&Listed<'a>> {
        let id = made.args.get(self.execute.1)?.as_str()?;
        self.tools.iter().find(|tool| tool.id == id)
    }

    fn of_clause(&self, clause: &str, looks: &[&Done]) -> Result<Step, KitError> {
        let (listed, found) = self.learned(clause, looks);
        let said = Said {
            clause,
            whole: &self.whole,
            answers: &self.answers,
            lexicon: &self.lexicon,
            content: self.content,
            how: &self.how,
            listed: &listed,
            found: &found,
        };
        let lacks = |tool: &Listed<'a>| -> Vec<&'a str> {
            let required = tool.required().into_iter();
            let properties = tool.properties();
            required
                .filter(|name| {
                    let schema = properties.iter().find(|(n, _)| n == name).map(|(_, s)| *s);
                    said.value(name, schema.unwrap_or(&Value::Null), true)
                        .is_none()
                })
                .collect()
        };
        let fits = |tool: &Listed<'a>| match (tool.required().len(), lacks(tool).len()) {
            (0, _) => 0,
            (_, 0) => 3,
            // A look that needs what nobody said is worse than one that needs nothing; of a change the user is asked.
            (_, missing) => {
                let looks = act_of(tool, &self.lexicon, &self.acts).is_none();
                let each = if looks { -4 } else { -2 };
                each * i64::try_from(missing).unwrap_or(1)
            }
        };
        let Some(tool) = best(
            &self.concepts(clause),
            &self.tools,
            &self.lexicon,
            (&self.acts, &self.weak),
            fits,
        ) else {
            return Ok(Step::Answer(self.refused()?));
        };
        // A search whose first hit can be read is read.
        let tool = self.deeper(tool, looks, clause).unwrap_or(tool);
        if let Some(last) = looks.last()
            && self.tool_of(last).is_some_and(|of| of.id == tool.id)
        {
            return Ok(self.look_again(tool, &said, looks));
        }
        let missing = lacks(tool);
        let Some(first) = missing.first() else {
            return Ok(Step::Call(
                tool.id.to_owned(),
                self.parameters(tool, &said, 0),
            ));
        };
        if let Some(look) = self.look_for(first, tool, looks) {
            if let Some(lacking) = lacks(look).first() {
                return Ok(Step::Answer(self.missing(lacking, look)?));
            }
            return Ok(Step::Call(
                look.id.to_owned(),
                self.parameters(look, &said, 0),
            ));
        }
        Ok(Step::Answer(self.missing(first, tool)?))
    }

    /// What a clause says, concept for concept. What only puts together what is there makes something of what was handed over, and is a
    /// look where nothing was.
    fn concepts(&self, clause: &str) -> Vec<String> {
        let digest = self.task.offline.get("digest");
        let named = |key: &str| digest.and_then(|of| of.get(key)?.as_str());
        let stands = named(if self.content.is_some() {
            "with"
        } else {
            "without"
        });
        let hits = self.lexicon.hits(clause).into_iter();
        hits.map(|hit| match (named("concept"), stands) {
            (Some(concept), Some(stands)) if hit.concept == concept => stands.to_owned(),
            _ => hit.concept,
        })
        .collect()
    }

    /// A search without a hit is made once more in other words.
    fn look_again(&self, tool: &Listed<'a>, said: &Said<'_>, looks: &[&Done]) -> Step {
        let empty = looks.last().is_some_and(|made| {
            let result = made.content.get("result").unwrap_or(&Value::Null);
            list(result).is_some_and(|(items, _)| items.is_empty())
        });
        if empty && looks.len() < MAX_LOOKS && tool.required().contains(&"query") {
            let other = self.parameters(tool, said, looks.len());
            let asked = |made: &&&Done| {
                made.args.get(self.execute.2) == Some(&Value::Object(other.clone()))
            };
            if !other.is_empty() && looks.iter().find(asked).is_none() {
                return Step::Call(tool.id.to_owned(), other);
            }
        }
        Step::Enough
    }

    /// Names and ids that the looks found: a name that the clause says, and the first id of a search.
    fn learned(&self, clause: &str, looks: &[&Done]) -> (Map<String, Value>, Map<String, Value>) {
        let (mut listed, mut found) = (Map::new(), Map::new());
        let said = crate::words::fold(clause);
        for made in looks {
            let result = made.content.get("result").unwrap_or(&Value::Null);
            let Some((items, _)) = list(result) else {
                continue;
            };
            for tool in &self.tools {
                for (name, _) in tool.properties() {
                    if let Some(id) = items.first().and_then(|item| id_of(item, name)) {
                        found.insert(name.clone(), id);
                    }
                }
            }
            for (parameter, how) in self.how.as_object().into_iter().flatten() {
                let keys = how
                    .get("keys")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten();
                for key in keys.filter_map(Value::as_str) {
                    let values = items.iter().filter_map(|item| item.get(key));
                    let values = values
                        .flat_map(|v| v.as_array().cloned().unwrap_or_else(|| vec![v.clone()]));
                    let mut named = values.filter_map(|v| v.as_str().map(str::to_owned));
                    if let Some(name) =
                        named.find(|v| v.len() > 1 && said.contains(&crate::words::fold(v)))
                    {
                        listed.entry(parameter.clone()).or_insert(name.into());
                    }
                }
            }
        }
        (listed, found)
    }

    /// Of a search whose first hit has the one id that another tool needs: that tool.
    fn deeper<'t>(
        &'t self,
        tool: &Listed<'a>,
        looks: &[&Done],
        clause: &str,
    ) -> Option<&'t Listed<'a>> {
        let last = looks.last()?;
        if self.tool_of(last)?.id != tool.id || self.lexicon.has(clause, "only_list") {
            return None;
        }
        let result = last.content.get("result")?;
        let (items, _) = list(result)?;
        let first = items.first()?;
        self.tools.iter().find(|other| {
            let required = other.required();
            other.id != tool.id
                && act_of(other, &self.lexicon, &self.acts).is_none()
                && matches!(required.as_slice(), [one] if one.ends_with("_id") && id_of(first, one).is_some())
        })
    }

    /// A tool that only reads and may tell what is missing: a search for an id, a list of names.
    fn look_for<'t>(
        &'t self,
        missing: &str,
        tool: &Listed<'a>,
        looks: &[&Done],
    ) -> Option<&'t Listed<'a>> {
        let how = self.how.get(missing);
        let wants_list = how.is_some_and(|h| h.get("keys").is_some());
        let wants_id = missing.ends_with("_id") && missing != "tool_id";
        if looks.len() >= MAX_LOOKS || !wants_list && !wants_id {
            return None;
        }
        self.tools.iter().find(|other| {
            let required = other.required();
            let used = looks
                .iter()
                .any(|made| self.tool_of(made).is_some_and(|of| of.id == other.id));
            other.id != tool.id
                && !used
                && act_of(other, &self.lexicon, &self.acts).is_none()
                && match wants_id {
                    true => required.as_slice() == ["query"],
                    false => required.is_empty(),
                }
        })
    }

    /// `other`: the how-many-th try with other words.
    fn parameters(&self, tool: &Listed<'a>, said: &Said<'_>, other: usize) -> Map<String, Value> {
        let required = tool.required();
        let mut parameters = Map::new();
        for (name, schema) in tool.properties() {
            let value = match (name.as_str(), other) {
                ("query", other) if other > 0 => self.other_words(said, other),
                _ => said.value(name, schema, required.contains(&name.as_str())),
            };
            if let Some(value) = value {
                parameters.insert(name.clone(), value);
            }
        }
        parameters
    }

    /// One word that carries meaning, the longest first.
    fn other_words(&self, said: &Said<'_>, other: usize) -> Option<Value> {
        let rest = said.value("query", &json!({"type": "string"}), true)?;
        let mut words: Vec<String> = rest
            .as_str()?
            .split_whitespace()
            .map(str::to_owned)
            .collect();
        words.sort_by_key(|word| std::cmp::Reverse(word.chars().count()));
        words.get(other - 1).map(|word| Value::from(word.clone()))
    }

    fn text(&self, name: &str) -> Result<&'a str, KitError> {
        self.task.text_in(name, self.language)
    }

    fn missing(&self, parameter: &str, tool: &Listed<'_>) -> Result<Value, KitError> {
        let question = self
            .text(&format!("ask_{parameter}"))
            .or_else(|_| self.text("ask_any"))?;
        let output = filled(question, |place| match place {
            "parameter" => Some(parameter.replace('_', " ")),
            "tool" => Some(tool.words()),
            _ => None,
        });
        Ok(
            json!({"output": output, "data": {"error": "missing_parameter", "parameter": parameter}, "attachment": null}),
        )
    }

    fn refused(&self) -> Result<Value, KitError> {
        let output = self.placed("no_tool_for_it", &[])?;
        let error = if self.again { "tool_failed" } else { "refused" };
        Ok(json!({"output": output, "data": {"error": error}, "attachment": null}))
    }

    fn failed(&self, made: &Done, told: &[(&Done, &str)]) -> Result<Value, KitError> {
        let (text, error) = match rule_of(made) {
            "tools.timeout" => ("timed_out", "timeout"),
            "tools.unknown_outcome" | "settle" => ("unknown_outcome", "unknown"),
            REQUIRES => return self.did_not_fit(made, told),
            "guard.address" => ("was_refused", "refused"),
            _ => ("did_not_work", "tool_failed"),
        };
        let why = made
            .content
            .get("error")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let output = self.placed(text, &[("why", &why.replace(['"', '“', '”'], "'"))])?;
        self.with(
            json!({"output": output, "data": {"error": error}, "attachment": null}),
            told,
        )
    }

    /// The parameters of a call did not fit the schema: one that is lacking is asked for. The words of a schema are no reply.
    fn did_not_fit(&self, made: &Done, told: &[(&Done, &str)]) -> Result<Value, KitError> {
        let given = made.args.get(self.execute.2);
        if let Some(tool) = self.tool_of(made) {
            let mut required = tool.required().into_iter();
            let lacking = required.find(|name| given.is_none_or(|of| of.get(name).is_none()));
            if let Some(lacking) = lacking {
                return self.with(self.missing(lacking, tool)?, told);
            }
        }
        let output = self.placed("did_not_fit", &[])?;
        self.with(
            json!({"output": output, "data": {"error": "refused"}, "attachment": null}),
            told,
        )
    }

    /// An answer about what did not work, with what did before.
    fn with(&self, answer: Value, told: &[(&Done, &str)]) -> Result<Value, KitError> {
        if told.is_empty() {
            return Ok(answer);
        }
        let before = self.answer(told)?;
        let both = [&before, &answer].map(|a| a.get("output").map(plain).unwrap_or_default());
        let mut answer = answer;
        if let Value::Object(map) = &mut answer {
            map.insert("output".into(), both.join("\n\n").into());
        }
        Ok(answer)
    }

    fn answer(&self, told: &[(&Done, &str)]) -> Result<Value, KitError> {
        let mut texts = Vec::new();
        let mut data = Map::new();
        let mut attachment = Value::Null;
        for (made, clause) in told {
            let result = made.content.get("result").unwrap_or(&Value::Null);
            texts.push(self.said_of(made, result, clause)?);
            if let Value::Object(map) = result {
                data.extend(map.clone());
            } else {
                data.insert("items".into(), result.clone());
            }
            if let Some(place) = file_of(result) {
                attachment = place.into();
            }
        }
        if told
            .iter()
            .any(|(made, _)| made.content.get("mock").is_some())
        {
            data.insert("mock".into(), true.into());
        }
        Ok(json!({"output": texts.join("\n\n"), "data": data, "attachment": attachment}))
    }

    fn said_of(&self, made: &Done, result: &Value, clause: &str) -> Result<String, KitError> {
        let tool = self.tool_of(made);
        let act = tool.and_then(|tool| act_of(tool, &self.lexicon, &self.acts));
        if let Some(act) = act {
            let text = self
                .text(&format!("did_{act}"))
                .or_else(|_| self.text("did"))?;
            let given = made.args.get(self.execute.2).cloned().unwrap_or_default();
            return Ok(
                filled(text, |place| Some(place_of(place, &given, result))).replace("  ", " ")
            );
        }
        if let Some((items, total)) = list(result) {
            let name = match (items.len(), total) {
                (0, _) => "found_nothing",
                (1, 1) => "found_one",
                _ => "found",
            };
            let text = self.placed(name, &[("n", &total.to_string())])?;
            let mut told = vec![text];
            told.extend(self.share(result, clause)?);
            told.extend(lines(&items, self.language));
            return Ok(told.join("\n"));
        }
        if result.is_null() {
            return self.placed("found_nothing", &[]);
        }
        let mut told = vec![self.placed("read", &[])?];
        told.extend(self.share(result, clause)?);
        told.extend(thing(result, clause, self.language));
        Ok(told.join("\n"))
    }

    /// A text of the pack, with what stands in it: `{where}` is the system, as the pack calls it.
    fn placed(&self, name: &str, values: &[(&str, &str)]) -> Result<String, KitError> {
        let system = self.task.reads("tool_type").and_then(Value::as_str);
        let system = system.and_then(|of| self.task.offline.get("systems")?.get(of)?.as_str());
        let place = match system {
            Some(system) => filled(self.text("where")?, |place| {
                (place == "system").then(|| system.to_owned())
            }),
            None => String::new(),
        };
        Ok(filled(self.text(name)?, |wanted| {
            if wanted == "where" {
                return Some(place.clone());
            }
            let value = values.iter().find(|(name, _)| *name == wanted);
            value.map(|(_, value)| (*value).to_owned())
        }))
    }

    /// How many of the things in a result have the status that was asked about; None: it was not asked, or nothing has one.
    fn share(&self, result: &Value, clause: &str) -> Result<Option<String>, KitError> {
        let values = self.how.get("status").and_then(|how| how.get("values"));
        let named = Lexicon::of(values).first(clause);
        let Some(status) = named.filter(|_| self.lexicon.has(clause, "how_many")) else {
            return Ok(None);
        };
        let lists = result.as_object().into_iter().flatten();
        let lists = lists.filter_map(|(_, of)| of.as_array());
        let found = lists.into_iter().find_map(|items| {
            let of: Vec<&str> = items
                .iter()
                .filter_map(|item| item.get("status")?.as_str())
                .collect();
            (!of.is_empty()).then_some(of)
        });
        let Some(all) = found else {
            return Ok(None);
        };
        let same = |of: &&&str| crate::words::fold(of) == crate::words::fold(&status);
        let some = all.iter().filter(same).count();
        let shown = all.iter().find(same).map_or(status.as_str(), |of| *of);
        let values = [
            ("n", &*some.to_string()),
            ("total", &*all.len().to_string()),
            ("status", shown),
        ];
        self.placed("share", &values).map(Some)
    }
}

enum Step {
    Call(String, Map<String, Value>),
    /// What was called is enough.
    Enough,
    Answer(Value),
}
