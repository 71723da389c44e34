//! Other agents that the flows of a pack call (`call: {a2a: NAME}`): each is made into a tool, whose calls the gateway decides on and
//! journals as any, and a flow around it for the steps to call. Where the agent is, the user's settings say.

use super::flows::Sources;
use super::orchestrators::Made;
use super::tool::{DeclaredTool, ToolKind, ToolLimits};
use crate::flow::{self, A2A, RemoteAgent, Written};
use crate::vocabulary::Vocabulary;
use agentctl_base::names::kept;
use agentctl_base::yaml::{Place, Problem};
use indexmap::IndexMap;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Of an answer, in bytes.
const MAX_BYTES: u64 = 4 * 1024 * 1024;
/// A step's own `timeout_s` may be shorter.
const TIMEOUT_S: u64 = 300;
/// Of one task, that the user is asked.
const QUESTIONS: usize = 8;

/// The other agents that flows call, each once.
pub(super) fn of(sources: &Sources, made: Option<&Made>) -> BTreeSet<RemoteAgent> {
    let chosen = made.map(|made| flow::called_by(Written::Tree(&made.root), &made.source.file));
    let called = sources.calls().chain(chosen).flatten();
    called
        .filter_map(|name| RemoteAgent::of_flow(&name))
        .collect()
}

/// The tools that they are, by id. A program that cannot reach other agents is told so.
pub(super) fn tools(
    remotes: &BTreeSet<RemoteAgent>,
    vocabulary: &Vocabulary,
    problems: &mut Vec<Problem>,
) -> IndexMap<String, DeclaredTool> {
    let kind = vocabulary.kinds().iter().find(|kind| kind.name == A2A);
    let Some(kind) = kind else {
        problems.extend(remotes.iter().map(|remote| Problem {
            file: remote.flow(),
            place: Place::default(),
            message: "no other agents are reached from here".to_owned(),
        }));
        return IndexMap::new();
    };
    let tool = |remote: &RemoteAgent| DeclaredTool {
        id: kept(&remote.tool()),
        name: remote.name.clone(),
        description: format!("The agent {} of the settings.", remote.name),
        category: String::new(),
        keywords: Vec::new(),
        acts: Vec::new(),
        parameters: Arc::new(json!({
            "type": "object",
            "properties": {
                "text": {"type": ["string", "null"]},
                "data": {"type": ["object", "null"]},
                "task": {"type": ["string", "null"]},
                "question": {"type": ["string", "null"]}
            },
            "additionalProperties": false
        })),
        output_schema: None,
        examples: Vec::new(),
        kind: ToolKind::Other {
            name: kind.name,
            section: json!({
                "agent": remote.name, "text": "{text}", "data": "{data}", "task": "{task}", "question": "{question}", "waits": "result"
            }),
        },
        bind: IndexMap::new(),
        changes: !remote.reads,
        reads_when: None,
        requires: None,
        limits: ToolLimits {
            timeout_s: TIMEOUT_S,
            max_bytes: MAX_BYTES,
            ..ToolLimits::default()
        },
        cache_s: None,
        mock: None,
        readme: None,
        tests: Vec::new(),
        file: remote.flow(),
        place: Place::default(),
    };
    remotes
        .iter()
        .map(|remote| (remote.tool(), tool(remote)))
        .collect()
}

/// An agent's name as the id of what it asks: in small letters, and with a letter first.
fn question_id(name: &str) -> String {
    let small = name.to_lowercase();
    match small.starts_with(|c: char| c.is_ascii_lowercase()) {
        true => small,
        false => format!("agent-{small}"),
    }
}

/// What steps call in the agent's place. `text` of what it is given is said, all of it goes along as data. What the agent asks, the
/// user of the run is asked, and the answer goes on in the agent's task. It gives the last data that the agent gave, or its text; that
/// has to fit what the flow gives that it stands for.
pub(super) fn flow_of(remote: &RemoteAgent, sources: &Sources) -> String {
    let schema = remote.like.as_deref().and_then(|flow| sources.output(flow));
    format!(
        r#"name: {flow:?}
fields:
  asked: {{kind: scalar, writers: [program], default: 0}}
  said: {{kind: value, writers: [program]}}
steps:
  - id: talk
    max: {rounds}
    loop:
      - id: ask
        tool: {tool:?}
        role: program
        args:
          text: "state.asked > 0 ? state.said.text : has(input.text) ? input.text : null"
          data: "state.asked == 0 && size(input) > (has(input.text) ? 1 : 0) ? input : null"
          task: "state.asked > 0 ? state.said.task : null"
          question: "state.asked > 0 ? state.said.question : null"
      - id: waits
        gate: has(steps.ask.output.waits)
        otherwise: {{leave: talk}}
      - id: bounded
        gate: state.asked < {QUESTIONS}
        otherwise: {{exhaust: talk}}
      - id: question
        ask: {{questions: [{{id: {id:?}, text: steps.ask.output.waits}}]}}
      - id: answered
        set:
          asked: state.asked + 1
          said: "{{'text': steps.question.output[keys(steps.question.output)[0]], 'task': steps.ask.output.task_id, 'question': steps.ask.output.question}}"
    exhausted:
      end: {{outcome: failed, message: "'the agent {name} asked more than {QUESTIONS} questions'"}}
output:
  value: "has(steps.ask.output.result.data) ? steps.ask.output.result.data[size(steps.ask.output.result.data) - 1] : {{'text': steps.ask.output.result.text}}"
  schema: {schema}
"#,
        rounds = QUESTIONS + 1,
        name = remote.name,
        id = question_id(&remote.name),
        flow = remote.flow(),
        tool = remote.tool(),
        schema = schema.unwrap_or_else(|| json!({"type": "object"})),
    )
}
