//! How the offline model plays the tasks of the built-in flow: one handler for each task name of `flow.yaml`. It works
//! as any model does: it sees its task and what its tools answered, and returns tool calls or the step's final JSON.

use super::account::{self, Account};
use super::existing::{self, Existing};
use super::glance;
use super::plan::{Plan, Todo};
use super::read::by_topic;
use super::reuse::{self, services};
use super::{acceptance, compile, cover, draft, extend, gate, modify, pattern, read};
use super::{coverage, evidence, learned, talk, timezone, wish};
use agentctl_base::model::{
    Message, ModelAnswer, ModelError, ModelRequest, ToolCall, ToolResult, ToolSpec, ToolStatus,
    Usage,
};
use agentctl_base::question::Question;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n::edit;
use agentctl_n8n::workflow::Workflow;
use serde_json::{Map, Value, json};

/// The rule by which a change of a workflow that is not what was read is refused.
const STALE: &str = "guard.stale";
/// How often a change is planned again because the workflow was changed meanwhile.
const PLANNED_AGAIN: usize = 2;

/// What the tools answered so far in this step, in order.
pub(super) struct Seen<'a> {
    results: Vec<&'a ToolResult>,
    messages: &'a [Message],
    tools: &'a [ToolSpec],
}

impl<'a> Seen<'a> {
    fn new(messages: &'a [Message], tools: &'a [ToolSpec]) -> Self {
        let results = messages
            .iter()
            .flat_map(|m| {
                if let Message::Tool { results } = m {
                    results.as_slice()
                } else {
                    &[]
                }
            })
            .collect();
        Seen {
            results,
            messages,
            tools,
        }
    }
    /// Whether the step has the tool: what can do nothing here is not offered.
    fn has(&self, tool: &str) -> bool {
        self.tools.iter().any(|offered| offered.name == tool)
    }
    /// What was seen after the last change that was refused because somebody else had changed the workflow meanwhile: all that was
    /// planned before is of a workflow that is no more. None: no such refusal, or so many that somebody works on it right now.
    fn since_stale(&self) -> Option<Seen<'a>> {
        let stale = |result: &&&ToolResult| {
            let rule = result.content.get("rule").and_then(Value::as_str);
            result.status == ToolStatus::Refused && rule == Some(STALE)
        };
        let refused: Vec<&&ToolResult> = self.results.iter().filter(stale).collect();
        let last = refused.last().filter(|_| refused.len() <= PLANNED_AGAIN)?;
        let of_last = |message: &Message| match message {
            Message::Tool { results } => results.iter().any(|r| r.call_id == last.call_id),
            _ => false,
        };
        let at = self.messages.iter().position(of_last)?;
        Some(Seen::new(self.messages.get(at + 1..)?, self.tools))
    }
    /// Every call of a tool with its result, in order.
    pub fn calls(&self, tool: &str) -> Vec<(Value, &'a ToolResult)> {
        let made: Vec<_> = (self.messages.iter())
            .filter_map(|m| match m {
                Message::Assistant { tool_calls, .. } => Some(tool_calls),
                _ => None,
            })
            .flatten()
            .collect();
        let of_tool = self.results.iter().filter(|r| r.name == tool);
        of_tool
            .map(|result| {
                let call = made.iter().find(|call| call.id == result.call_id);
                let arguments = call.and_then(|call| serde_json::from_str(&call.arguments).ok());
                (arguments.unwrap_or_default(), *result)
            })
            .collect()
    }
    /// The last result of a tool, whatever its status.
    pub fn last(&self, tool: &str) -> Option<&'a ToolResult> {
        self.results.iter().rev().find(|r| r.name == tool).copied()
    }
    /// The content of the last successful call of a tool.
    pub fn ok(&self, tool: &str) -> Option<&'a Value> {
        self.results
            .iter()
            .rev()
            .find(|r| r.name == tool && r.status == ToolStatus::Ok)
            .map(|r| &r.content)
    }
    /// The tools that were called, in order.
    pub fn names(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.results.iter().map(|r| r.name.as_str())
    }
    pub fn all_ok(&self, tool: &'a str) -> impl Iterator<Item = &'a Value> + '_ {
        self.results
            .iter()
            .filter(move |r| r.name == tool && r.status == ToolStatus::Ok)
            .map(|r| &r.content)
    }
}

/// What a handler returns.
pub(super) enum Move {
    Call(Vec<(&'static str, Value)>),
    Done(Value),
}

/// One turn of the offline model.
pub fn play(request: &ModelRequest, catalog: &Catalog) -> Result<ModelAnswer, ModelError> {
    let seen = Seen::new(&request.messages, &request.tools);
    let parted = wish::apart(&request.task.input);
    let input = parted.as_ref().unwrap_or(&request.task.input);
    let step = match request.task.task.as_str() {
        "clarify" | "refine" => clarify(input, &seen, catalog),
        "research" => research(input, &seen),
        "decide" => reuse::decide(input),
        "blueprint" => blueprint(input, catalog),
        "build" => build(input, &seen, catalog),
        "validate" => validate(input),
        "research_fix" => research_fix(input, &seen),
        "fix" => fix(input, &seen),
        "test" => test(input, &seen),
        "post_mortem" => post_mortem(input),
        "supervise" => talk::supervise(input, catalog),
        "discover" => talk::discover(input, &seen, catalog),
        "structure" => talk::structure(input, &seen, catalog),
        "configure" => talk::configure(input, &seen, catalog),
        "respond" => talk::respond(input, catalog),
        "converse" => talk::converse(input, &seen, catalog),
        task => {
            return Err(ModelError::NoHandler {
                agent: request.task.agent.clone(),
                task: task.to_owned(),
            });
        }
    };
    let came_to_nothing = |result: &&ToolResult| result.status != ToolStatus::Ok;
    let step = step.map_err(
        |reason| match seen.results.last().is_some_and(came_to_nothing) {
            true => ModelError::GaveUp { reason },
            false => ModelError::Failed {
                model: "offline".into(),
                reason,
            },
        },
    )?;
    Ok(match step {
        Move::Done(value) => ModelAnswer {
            text: value.to_string(),
            tool_calls: Vec::new(),
            finish: Default::default(),
            usage: Usage::free(),
        },
        Move::Call(calls) => {
            let first = seen.results.len() + 1;
            let tool_calls = calls
                .into_iter()
                .enumerate()
                .map(|(i, (name, arguments))| ToolCall {
                    id: format!("call-{}", first + i),
                    name: name.to_owned(),
                    arguments: arguments.to_string(),
                })
                .collect();
            ModelAnswer {
                text: String::new(),
                tool_calls,
                finish: Default::default(),
                usage: Usage::free(),
            }
        }
    })
}

pub(super) fn text<'a>(map: &'a Map<String, Value>, key: &str) -> &'a str {
    map.get(key).and_then(Value::as_str).unwrap_or("")
}

pub(super) fn object<'a>(map: &'a Map<String, Value>, key: &str) -> Option<&'a Map<String, Value>> {
    map.get(key).and_then(Value::as_object)
}

/// Reads the request (with the answers that are there) into requirements; the plan rides along for the later steps.
fn clarify(input: &Map<String, Value>, seen: &Seen<'_>, catalog: &Catalog) -> Result<Move, String> {
    let request = text(input, "request");
    let answers = answers(input);
    if let Some(existing) = existing::given(input) {
        return change_wanted(input, &existing?, catalog);
    }
    let known = read::ReadContext {
        answers: by_topic(&own_answers(input)),
    };
    let mut reading = read::read(request, &known);
    let user_zone = text(input, "timezone");
    let zone = answers.get(timezone::TOPIC).and_then(Value::as_str);
    (reading.notes).extend(timezone::settled(&mut reading.plan, user_zone, zone));
    let services = services(&reading.plan);
    let built = compile::compile(&reading.plan, catalog);
    let types: Vec<String> = built
        .workflow
        .nodes
        .iter()
        .map(|n| n.node_type().to_owned())
        .collect();
    if reading.refusal.is_none()
        && let Some(calls) = pattern::look_up(input, request, &types, seen)
    {
        return Ok(Move::Call(calls));
    }
    let patterns = pattern::found(seen);
    let account = draft::account_of(request, &known, &reading, &built);
    let plans = pattern::plans(&patterns);
    let draft::Open {
        mut questions,
        mut refusal,
    } = draft::open(request, &known, &reading, &built, &account, plans);
    let wished = wished(input, built.workflow, catalog);
    questions.extend(wished.questions);
    questions.extend(timezone::question(&reading.plan, user_zone, zone.is_some()));
    refusal = refusal.or(wished.refusal);
    let mut requirements = requirements(
        request,
        &reading.plan,
        &questions,
        refusal.as_ref(),
        &answers,
    );
    let mut notes = reading.notes;
    notes.extend(pattern::plan_taken(&patterns, &answers));
    if let Value::Object(map) = &mut requirements {
        map.insert("notes".into(), json!(notes));
        map.insert("patterns".into(), json!(patterns));
        let cases = acceptance::cases(&asked(input));
        if !cases.is_empty() {
            map.insert("cases".into(), json!(cases));
        }
    }
    Ok(Move::Done(json!({
        "requirements": requirements,
        "research_request": {"services": services, "actions": reading.plan.steps.iter().map(|s| s.said.clone()).collect::<Vec<_>>()},
    })))
}

/// What a change asks for, and what has to be asked about it. Where not all was read that it speaks of, the builder reads on and
/// nothing is asked.
fn change_wanted(
    input: &Map<String, Value>,
    existing: &Existing,
    catalog: &Catalog,
) -> Result<Move, String> {
    let request = text(input, "request");
    let asked = asked(input);
    let mut change = modify::modify(&existing.workflow, &asked, catalog);
    let repaired = evidence::repair(input).is_some();
    if repaired || existing.lacks(&asked, &change) {
        // What an execution's own error says needs no question.
        change.questions.clear();
    } else if let Some(why) = existing.cut_off(&change) {
        return Err(why);
    }
    evidence::tell(input, &mut change.questions);
    existing.tell(&mut change.questions, &change.language);
    let wished = wished(input, with_change(&existing.workflow, &change), catalog);
    change.questions.extend(wished.questions);
    change.refusal = change.refusal.or(wished.refusal);
    let mut requirements = requirements(
        request,
        &Plan::default(),
        &change.questions,
        change.refusal.as_ref(),
        &answers(input),
    );
    if let (true, Value::Object(requirements)) = (repaired, &mut requirements) {
        requirements.insert("repair".into(), json!(true));
    }
    Ok(Move::Done(json!({
        "requirements": requirements,
        "research_request": {"services": [], "actions": [request]},
    })))
}

/// The user's answers by topic. The state has each twice, by id and by topic: a topic says what it answers.
fn answers(input: &Map<String, Value>) -> Map<String, Value> {
    let all = object(input, "answers").cloned().unwrap_or_default();
    let asked = object(input, "requirements")
        .and_then(|r| r.get("questions"))
        .and_then(Value::as_array);
    let ids: Vec<&str> = asked
        .into_iter()
        .flatten()
        .filter(|q| q.get("id") != q.get("topic"))
        .filter_map(|q| q.get("id").and_then(Value::as_str))
        .collect();
    all.into_iter()
        .filter(|(key, _)| key != DECISION && !ids.contains(&key.as_str()))
        .collect()
}

/// The answers to questions about the request itself.
fn own_answers(input: &Map<String, Value>) -> Map<String, Value> {
    let all = answers(input).into_iter();
    all.filter(|(topic, _)| !wish::is_about_wish(topic) && topic != timezone::TOPIC)
        .collect()
}

/// What the user wanted otherwise after a look, as changes of what was proposed.
fn wished(input: &Map<String, Value>, proposed: Workflow, catalog: &Catalog) -> wish::Wished {
    wish::applied(
        proposed,
        &wish::of(input),
        &by_topic(&answers(input)),
        catalog,
    )
}

/// The workflow with a change made, as far as it can be.
fn with_change(existing: &Workflow, change: &modify::Modification) -> Workflow {
    let mut next = 0;
    let mut new_id = || {
        next += 1;
        format!("new-{next}")
    };
    edit::apply(existing, &change.ops, &mut new_id).unwrap_or_else(|_| existing.clone())
}

/// The flow's own question, whether to change or to build: its answer says nothing of the workflow that is wanted.
const DECISION: &str = "decision";

/// The request with the answers that were given to its questions.
fn asked(input: &Map<String, Value>) -> String {
    read::with_answers(text(input, "request"), &by_topic(&own_answers(input)))
}

fn requirements(
    request: &str,
    plan: &Plan,
    questions: &[Question],
    refusal: Option<&super::plan::Refusal>,
    answers: &Map<String, Value>,
) -> Value {
    let open: Vec<&Question> = questions
        .iter()
        .filter(|q| !answers.contains_key(&q.id) && !answers.contains_key(&q.topic))
        .collect();
    let mut requirements = json!({
        "goal": request,
        "trigger": plan.triggers.first(),
        "steps": plan.steps.iter().map(|s| s.said.clone()).collect::<Vec<_>>(),
        "services": services(plan),
        "values": {},
        "constraints": [],
        "questions": open,
        "plan": plan,
    });
    if let (Some(refusal), Value::Object(map)) = (refusal, &mut requirements) {
        map.insert("refusal".into(), json!(refusal));
    }
    requirements
}

/// Where the requirements keep the plan.
fn plan(input: &Map<String, Value>) -> Plan {
    input
        .get("requirements")
        .and_then(|r| r.get("plan"))
        .and_then(|p| serde_json::from_value(p.clone()).ok())
        .unwrap_or_default()
}

/// The plan, compiled, and corrected by the patterns that fit the request.
fn planned(input: &Map<String, Value>, catalog: &Catalog) -> compile::Compiled {
    let compiled = compile::compile(&plan(input), catalog);
    let patterns = object(input, "requirements")
        .and_then(|r| r.get("patterns"))
        .and_then(Value::as_array);
    match patterns.filter(|list| !list.is_empty()) {
        Some(patterns) => pattern::correct(compiled, patterns, &asked(input), catalog),
        None => compiled,
    }
}

/// The index of learnings, the project's workflows with their fit, one search for each service.
fn research(input: &Map<String, Value>, seen: &Seen<'_>) -> Result<Move, String> {
    let plan = plan(input);
    let services = services(&plan);
    if seen.results.is_empty() {
        let wanted = reuse::wanted(&plan, text(input, "request"));
        let mut calls = vec![
            ("list_workflows", json!({"wanted": wanted})),
            (
                "search_templates",
                json!({"query": template_words(&services, text(input, "request")), "wanted": wanted, "limit": 5}),
            ),
        ];
        calls.extend(
            services
                .iter()
                .take(8)
                .map(|s| ("search_nodes", json!({"query": s, "limit": 3}))),
        );
        calls.extend(learned::look_up(input, &services));
        calls.retain(|(tool, _)| seen.has(tool));
        return Ok(Move::Call(calls));
    }
    if let Some(calls) = learned::read_found(seen) {
        return Ok(Move::Call(calls));
    }
    let listed = seen
        .ok("list_workflows")
        .and_then(|c| c.get("workflows"))
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    let mut existing: Vec<Value> = listed
        .iter()
        .filter(|w| is_named(w) || w.get("fit_score").and_then(Value::as_u64).is_some_and(|s| s > 0))
        .map(|w| json!({"id": w["id"], "name": w["name"], "fit_score": w["fit_score"], "evidence": w["fit_parts"], "named": is_named(w)}))
        .collect();
    let fit = |w: &Value| w.get("fit_score").and_then(Value::as_u64);
    existing.sort_by_key(|w| std::cmp::Reverse((is_named(w), fit(w))));
    existing.truncate(5);
    let mut nodes = Vec::new();
    for found in seen.all_ok("search_nodes") {
        let Some(hits) = found
            .get("nodes")
            .or_else(|| found.get("results"))
            .and_then(Value::as_array)
        else {
            continue;
        };
        if let Some(hit) = hits.iter().find(|h| {
            services
                .iter()
                .any(|s| h.get("node_type").and_then(Value::as_str) == Some(s))
        }) {
            nodes.push(json!({"type": hit.get("node_type"), "label": hit.get("label")}));
        }
    }
    let templates = seen.ok("search_templates").and_then(|c| c.get("templates"));
    let templates = templates.cloned().unwrap_or_else(|| json!([]));
    Ok(Move::Done(
        json!({"research_findings": {"existing": existing, "templates": templates, "nodes": nodes, "guidance": learned::guidance(seen)}}),
    ))
}

/// What templates are looked for by: the services, else what the request says most of.
fn template_words(services: &[String], request: &str) -> String {
    let names: Vec<&str> = services
        .iter()
        .filter_map(|service| service.rsplit('.').next())
        .take(3)
        .collect();
    match names.as_slice() {
        [] => request.chars().take(100).collect(),
        names => names.join(" "),
    }
}

/// The workflow that the user named.
pub(super) fn named(input: &Map<String, Value>) -> Option<String> {
    let given = object(input, "input")
        .and_then(|i| i.get("workflow"))
        .and_then(Value::as_str);
    given.filter(|id| !id.is_empty()).map(str::to_owned)
}

/// Name and nodes of what will be built; a change is worked out by the builder, on the workflow as it is then.
fn blueprint(input: &Map<String, Value>, catalog: &Catalog) -> Result<Move, String> {
    if let Some(id) = to_change(input) {
        let name = input
            .get("existing")
            .and_then(|e| e.pointer("/workflow/name").or_else(|| e.get("name")))
            .and_then(Value::as_str)
            .unwrap_or(&id)
            .to_owned();
        return Ok(Move::Done(
            json!({"blueprint": {"name": name, "changes": [text(input, "request")]}}),
        ));
    }
    let compiled = planned(input, catalog);
    let nodes: Vec<Value> = compiled
        .workflow
        .nodes
        .iter()
        .map(|n| json!({"name": n.name(), "type": n.node_type(), "version": n.type_version()}))
        .collect();
    Ok(Move::Done(
        json!({"blueprint": {"name": compiled.workflow.name(), "nodes": nodes, "open": compiled.todo}}),
    ))
}

/// Builds the workflow, or changes the existing one, through the tools.
fn build(input: &Map<String, Value>, seen: &Seen<'_>, catalog: &Catalog) -> Result<Move, String> {
    if let Some(id) = to_change(input) {
        return change(input, &id, seen, catalog);
    }
    let compiled = planned(input, catalog);
    let wished = wished(input, compiled.workflow.clone(), catalog);
    if let Some(made) = seen.last("create_workflow") {
        let Plan {
            language, unread, ..
        } = plan(input);
        let mut account = judged(
            input,
            &language,
            &[&compiled.workflow],
            false,
            &compiled.made,
        )
        .without_gaps((&asked(input), &language), &unread, &compiled);
        let assumed = account::assumptions(&asked(input), &language, &compiled);
        let mut said = notes(input, compiled.notes);
        said.extend(wished.notes.clone());
        said.extend(assumed);
        if !account.judged {
            let unused = cover::unused(&asked(input), &[&compiled.workflow]);
            said.extend(cover::note(&unused, &language));
        }
        account.add(wished.account.clone());
        let todo = wished.left(compiled.todo);
        let todo = glance::left(todo, None, &wished.workflow, catalog);
        let todo = untold(todo, made);
        let made_of = json!(compiled.made);
        return built(made, json!(todo), json!(said), &account, Some(made_of));
    }
    Ok(Move::Call(vec![(
        "create_workflow",
        draft::creation(&wished.workflow),
    )]))
}

/// The account of the request, with the answers that were given, against what was built.
fn judged(
    input: &Map<String, Value>,
    language: &str,
    workflows: &[&Workflow],
    change: bool,
    made: &[compile::Made],
) -> Account {
    let answers = by_topic(&own_answers(input));
    gate::judge(
        text(input, "request"),
        &answers,
        language,
        workflows,
        change,
        made,
    )
}

/// The account of a change: what it left out, and what neither the workflow before nor the one after answers for. A repair is read
/// out of an execution's error, so there the request says little and is not judged.
fn changed(
    input: &Map<String, Value>,
    existing: &Workflow,
    modification: &modify::Modification,
) -> Account {
    if evidence::repair(input).is_none() {
        let answers = by_topic(&own_answers(input));
        return draft::account_of_change(text(input, "request"), &answers, existing, modification);
    }
    let mut account = Account::unjudged();
    account.leaves_out(&modification.unread);
    account
}

/// What was assumed while reading, and what was decided while compiling.
fn notes(input: &Map<String, Value>, compiled: Vec<String>) -> Vec<String> {
    let read = object(input, "requirements")
        .and_then(|r| r.get("notes"))
        .and_then(Value::as_array);
    let mut all: Vec<String> = read
        .into_iter()
        .flatten()
        .filter_map(|n| n.as_str().map(str::to_owned))
        .collect();
    for note in compiled {
        if !all.contains(&note) {
            all.push(note);
        }
    }
    all
}

/// The id of the workflow that the decision (or the user) wants changed.
fn to_change(input: &Map<String, Value>) -> Option<String> {
    let decided = object(input, "decision").filter(|d| text(d, "choice") == "modify")?;
    Some(text(decided, "workflow_id").to_owned()).filter(|id| !id.is_empty())
}

fn change(
    input: &Map<String, Value>,
    id: &str,
    seen: &Seen<'_>,
    catalog: &Catalog,
) -> Result<Move, String> {
    let since = seen.since_stale();
    let seen = since.as_ref().unwrap_or(seen);
    let asked = asked(input);
    let about = [vec![asked.as_str()], wish::of(input)].concat().join(". ");
    let read = match existing::read(id, &about, seen)? {
        Ok(read) => read,
        Err(call) => return Ok(Move::Call(vec![call])),
    };
    let existing = &read.existing;
    let repair = evidence::repair(input);
    let (repaired, named) = (repair.is_some(), named(input).is_some());
    let modification = if let Some(repair) = repair {
        repair
    } else if named {
        modify::modify(&existing.workflow, &asked, catalog)
    } else {
        let compiled = planned(input, catalog);
        let mut extended = extend::extend(&existing.workflow, &compiled.workflow);
        extended.todo = compiled.todo;
        extended.notes.extend(compiled.notes);
        extended.language = plan(input).language;
        extended
    };
    let wished = wished(
        input,
        with_change(&existing.workflow, &modification),
        catalog,
    );
    let ops = [modification.ops.clone(), wished.ops.clone()].concat();
    // What a new plan is laid over counts as a whole.
    let whole = !named && !repaired;
    let more = (!repaired).then(|| read.more(&about, whole, &modification));
    if seen.last("update_workflow").is_none() {
        if let Some(call) = more.flatten() {
            return Ok(Move::Call(vec![call]));
        }
        if let Some(why) = existing.cut_off(&modification).filter(|_| !repaired) {
            return Err(why);
        }
    }
    if let Some(made) = seen.last("update_workflow") {
        let mut account = changed(input, &existing.workflow, &modification);
        account.add(wished.account.clone());
        let todo = wished.left(modification.todo);
        // A repair begins with what this run itself wrote.
        let before = (!repaired).then_some(&existing.workflow);
        let todo = glance::left(todo, before, &wished.workflow, catalog);
        let todo = untold(todo, made);
        let notes = [modification.notes, wished.notes].concat();
        return built(made, json!(todo), json!(notes), &account, None);
    }
    if !ops.is_empty() {
        return Ok(Move::Call(vec![(
            "update_workflow",
            json!({"workflow_id": id, "ops": ops}),
        )]));
    }
    if let Some(open) = evidence::unmended(input) {
        return Err(open);
    }
    if named {
        return Err(format!(
            "the offline model could not read a change of the workflow {id} out of the request; say what to change in plain words, or use a model"
        ));
    }
    let mut notes = modification.notes;
    notes.push(format!(
        "{id} does all of this already; nothing was changed"
    ));
    Ok(Move::Done(
        json!({"workflow": {"id": id, "todo": modification.todo, "notes": notes}}),
    ))
}

/// Without the credentials that the program found, or looked for: these are told by it.
fn untold(mut todo: Vec<Todo>, made: &ToolResult) -> Vec<Todo> {
    let told = made.content.get("credentials").and_then(Value::as_array);
    let told_of = |node: &str| {
        told.is_some_and(|list| list.iter().any(|c| c.get("node") == Some(&json!(node))))
    };
    todo.retain(|item| item.kind != "credential" || !told_of(&item.node));
    todo
}

/// The builder's answer after its call: what the program saw, what stays for the user, and which nodes were made of which part of
/// the request.
fn built(
    made: &ToolResult,
    todo: Value,
    notes: Value,
    account: &Account,
    parts: Option<Value>,
) -> Result<Move, String> {
    if made.status != ToolStatus::Ok {
        return Err(format!(
            "{} did not succeed: {}",
            made.name,
            made.content
                .get("error")
                .and_then(Value::as_str)
                .unwrap_or("no reason given")
        ));
    }
    let id = made
        .content
        .get("workflow_id")
        .or_else(|| made.content.get("id"))
        .cloned()
        .unwrap_or_default();
    let mut workflow = Map::new();
    workflow.insert("id".into(), id);
    workflow.insert("todo".into(), todo);
    workflow.insert("notes".into(), notes);
    workflow.extend(parts.map(|parts| ("made".to_owned(), parts)));
    Ok(Move::Done(
        json!({"workflow": gate::verdict(workflow, account)}),
    ))
}

/// The id of the workflow in hand.
fn workflow_id(input: &Map<String, Value>) -> Result<String, String> {
    object(input, "workflow")
        .map(|w| text(w, "id").to_owned())
        .filter(|id| !id.is_empty())
        .ok_or_else(|| "there is no workflow to work on".to_owned())
}

/// The verdict of the final check: the nodes with errors are what a fix may touch. What each requirement became stands beside it.
fn validate(input: &Map<String, Value>) -> Result<Move, String> {
    let check = input.get("check").ok_or("there is no check to judge by")?;
    let findings = check.get("findings").and_then(Value::as_array);
    let errors = check.get("error_count").and_then(Value::as_u64);
    let status = if errors == Some(0) { "pass" } else { "fail" };
    Ok(Move::Done(json!({
        "qa_report": {"status": status},
        "coverage": coverage::of(input),
        "edit_scope": scope_of(findings.map_or(&[], Vec::as_slice)),
    })))
}

/// L2: what was learnt about the codes of the findings, and what the checker itself would change.
fn research_fix(input: &Map<String, Value>, seen: &Seen<'_>) -> Result<Move, String> {
    let findings = errors(input);
    if seen.results.is_empty() {
        let mut codes: Vec<&str> = findings
            .iter()
            .filter_map(|f| f.get("code").and_then(Value::as_str))
            .collect();
        codes.sort_unstable();
        codes.dedup();
        let calls: Vec<_> = codes
            .iter()
            .take(5)
            .map(|code| ("search_learnings", json!({"query": code})))
            .collect();
        // The flow has looked already, when it says so.
        if !calls.is_empty() && !input.contains_key("learnings") {
            return Ok(Move::Call(calls));
        }
    }
    let field = |f: &Value, key: &str| f.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
    let guidance: Vec<String> = findings
        .iter()
        .map(|f| match f.pointer("/fix/title").and_then(Value::as_str) {
            Some(title) => format!("{}: {title}", field(f, "node")),
            None => format!(
                "{}: {} has no known fix; only the user can supply it: {}",
                field(f, "node"),
                field(f, "code"),
                field(f, "message")
            ),
        })
        .collect();
    Ok(Move::Done(
        json!({"research_findings": {"guidance": guidance}}),
    ))
}

/// The error findings of the last check: as the checker gave them, else as the QA report has them.
fn errors(input: &Map<String, Value>) -> Vec<Value> {
    let checked = input.get("findings").and_then(Value::as_array);
    let reported = object(input, "qa_report")
        .and_then(|r| r.get("findings"))
        .and_then(Value::as_array);
    checked
        .or(reported)
        .into_iter()
        .flatten()
        .filter(|f| f["severity"] == "error")
        .cloned()
        .collect()
}

/// L1: applies the fixes that are certain, then those that an accepted learning names. What has none is left as it is.
fn fix(input: &Map<String, Value>, seen: &Seen<'_>) -> Result<Move, String> {
    let id = workflow_id(input)?;
    let Some(result) = seen.last("autofix_workflow") else {
        return Ok(Move::Call(vec![(
            "autofix_workflow",
            json!({"workflow_id": id}),
        )]));
    };
    let findings = errors(input);
    let mut tried: Vec<Value> = match result.status {
        ToolStatus::Ok => findings
            .iter()
            .filter(|f| f.pointer("/fix/confidence").and_then(Value::as_str) == Some("sure"))
            .map(|f| json!({"finding": f["id"], "change": f.pointer("/fix/title"), "why": "the checker is sure of it"}))
            .collect(),
        _ => Vec::new(),
    };
    match learned::repair(input, &id, &findings, seen) {
        learned::Repair::Call(call) => return Ok(Move::Call(vec![call])),
        learned::Repair::Done(fixes) => tried.extend(fixes),
    }
    Ok(Move::Done(
        json!({"workflow": {"id": id}, "fixes_tried": tried}),
    ))
}

/// Tries the workflow out once where the backend can; says why not where it cannot. What the run found is passed on as it is.
fn test(input: &Map<String, Value>, seen: &Seen<'_>) -> Result<Move, String> {
    let id = workflow_id(input)?;
    let Some(result) = seen.last("rehearse_workflow") else {
        let mut asked = json!({"workflow_id": id});
        if let (Some(again), Value::Object(asked)) =
            (input.get("replay").filter(|id| id.is_string()), &mut asked)
        {
            asked.insert("execution".into(), again.clone());
        }
        let cases = object(input, "requirements").and_then(|r| r.get("cases"));
        if let (Some(cases), Value::Object(asked)) = (cases, &mut asked) {
            asked.insert("cases".into(), cases.clone());
        }
        return Ok(Move::Call(vec![("rehearse_workflow", asked)]));
    };
    let findings = result.content.get("findings").and_then(Value::as_array);
    let findings = findings.cloned().unwrap_or_default();
    if result.status != ToolStatus::Ok {
        let why = result.content.get("error").and_then(Value::as_str);
        let why = why.unwrap_or("the backend did not run it");
        return Ok(Move::Done(json!({
            "qa_report": {"executed": false, "not_executed": why},
            "edit_scope": scope_of(&findings),
            "findings": findings,
        })));
    }
    Ok(Move::Done(json!({
        "qa_report": {"executed": true, "execution": result.content.get("execution"), "test_status": result.content.get("test_status")},
        "edit_scope": scope_of(&findings),
        "findings": findings,
    })))
}

/// The request names this workflow as the one to change.
fn is_named(workflow: &Value) -> bool {
    workflow.get("named") == Some(&Value::Bool(true))
}

/// The nodes whose change can clear the errors.
fn scope_of(findings: &[Value]) -> Vec<Value> {
    let mut scope: Vec<Value> = Vec::new();
    for finding in findings.iter().filter(|f| f["severity"] == "error") {
        if let Some(node) = finding.get("node_id").filter(|n| n.is_string())
            && !scope.contains(node)
        {
            scope.push(node.clone());
        }
    }
    scope
}

/// L4: what the state itself shows about why the run was blocked.
fn post_mortem(input: &Map<String, Value>) -> Result<Move, String> {
    let open = errors(input);
    let field = |key: &str| {
        open.first()
            .and_then(|f| f.get(key))
            .and_then(Value::as_str)
            .unwrap_or("")
            .to_owned()
    };
    let summary = if open.is_empty() {
        "the run was blocked without an open error finding".to_owned()
    } else {
        format!(
            "{} error findings stayed after all QA cycles; the first is {} on node {:?}: {}",
            open.len(),
            field("code"),
            field("node"),
            field("message")
        )
    };
    let ids: Vec<String> = open
        .iter()
        .filter_map(|f| f.get("id").and_then(Value::as_str).map(str::to_owned))
        .collect();
    Ok(Move::Done(json!({
        "root_cause": {
            "summary": summary,
            "where": field("node"),
            "evidence": ids,
            "failed_fixes": input.get("fixes_tried").cloned().unwrap_or_else(|| json!([])),
            "prevention": "a request that names every value the node needs, or a model that can look the node up",
        },
        // What a lesson could be is read from the whole journal (`agentctl analyze`), which this task does not see.
        "proposed_learnings": [],
    })))
}
