//! A small pack, a scripted model, and a project in a temporary folder.

use agentctl_base::{
    BoxFuture,
    model::{
        Message, Model, ModelAnswer, ModelError, ModelRequest, Room, ToolCall, ToolStatus, Usage,
    },
};
use agentctl_engine::gateway::Gateway;
use agentctl_engine::run::{
    Asker, Cancel, ChosenModel, Counted, LimitOverrides, Observer, Resume, RunContext, RunError,
    RunOptions, RunReport, advance, answer, start,
};
use agentctl_engine::{
    flow,
    pack::{Pack, Tier},
    policy::Policy,
    store::{Event, Journal, Project, Record},
};
use agentctl_host::key::Key;
use agentctl_knowledge::{Knowledge, Skill};
use agentctl_n8n::{Workflow, catalog::Catalog, hash::graph_hash};
use agentctl_n8n_tools::backend::EmbeddedBackend;
use agentctl_n8n_tools::report::Built;
use indexmap::IndexMap;
use serde_json::{Value, json};
use std::{
    path::Path,
    sync::{Arc, LazyLock, Mutex},
};

pub const FLOW: &str = r#"
name: workshop
stages: [think, make, check, done]
blocked: stuck
fields:
  plan: {kind: object, writers: [thinker]}
  workflow: {kind: object, writers: [maker], fact: resource, report: workflow, summary: [id, name, node_count, graph_hash]}
  fixes_tried: {kind: append, writers: [maker]}
  qa_report: {kind: object, writers: [checker], fact: check, report: qa_report, summary: [status, error_count, warning_count, cycle, executed, execution, test_status, edit_scope]}
  edit_scope: {kind: replace, writers: [checker], guards: scope}
  errors: {kind: append, writers: [program]}
failures: errors
finish: "'made ' + state.workflow.name"
steps:
  - id: think
    stage: think
    agent: thinker
    task: think
    instructions: Think about the request.
    reads: [input]
    writes: [plan]
    contract: &plan
      type: object
      required: [plan]
      additionalProperties: false
      properties:
        plan: {type: object, required: [name], properties: {name: {type: string}}}
  - id: allowed
    gate: "!has(state.plan.refusal)"
    otherwise: {end: {outcome: refused, message: state.plan.refusal}}
  - id: ask
    ask: {from: "has(state.plan.questions) ? state.plan.questions : []"}
  - id: make
    stage: make
    agent: maker
    task: make
    instructions: Make it.
    reads: [plan, answers]
    writes: [workflow]
    contract:
      type: object
      required: [workflow]
      properties: {workflow: {type: object}}
  - id: mend
    stage: check
    max: max_cycles
    loop:
      - id: look
        agent: checker
        task: look
        instructions: Look at it.
        reads: [workflow, run]
        writes: [qa_report, edit_scope]
        contract:
          type: object
          required: [qa_report, edit_scope]
          properties:
            qa_report: {type: object, required: [status]}
            edit_scope: {type: array}
      - id: good
        gate: "state.qa_report.status == 'fail'"
        otherwise: {leave: mend}
      - id: fix
        agent: maker
        task: fix
        instructions: Fix it.
        reads: [workflow, qa_report, run]
        writes: [workflow, fixes_tried]
        contract:
          type: object
          properties: {workflow: {type: object}, fixes_tried: {type: array}}
    exhausted:
      end: {outcome: blocked, message: "'still failing after ' + string(run.cycle) + ' cycles'"}
"#;

const POLICY: &str = r#"
roles:
  thinker: [read-skills]
  maker: [get-workflow, list-workflows, create-workflow, update-workflow, delete-workflow, rollback-workflow]
  checker: [get-workflow, validate-final]
limits: {max_turns: 12, max_model_calls: 60}
"#;

static PACK: LazyLock<Pack> = LazyLock::new(make_pack);

fn make_pack() -> Pack {
    let built_in = agentctl::pack::built_in().unwrap();
    let agent = |name: &str, tools: &[&str]| {
        let mut agent = built_in.agents[0].clone();
        agent.name = name.to_owned();
        agent.tier = Tier::Sonnet;
        agent.tools = tools.iter().map(|t| (*t).to_owned()).collect();
        agent.skills = vec![];
        agent.max_turns = 12;
        agent.prompt = format!("You are the {name}.");
        (name.to_owned(), agent)
    };
    let agents = IndexMap::from_iter([
        agent("thinker", &[]),
        agent(
            "maker",
            &[
                "get_workflow",
                "create_workflow",
                "update_workflow",
                "delete_workflow",
            ],
        ),
        agent("checker", &["get_workflow", "validate_workflow"]),
    ]);
    Pack {
        agents,
        flow: flow::load(FLOW, "flow.yaml", flow::Known::default()).unwrap(),
        policy: Policy::load(POLICY, "policy.yaml", agentctl_n8n_tools::vocabulary::n8n()).unwrap(),
        skills: vec![],
        hash: "pack-1".into(),
        warnings: vec![],
        overrides: vec![],
        flows: IndexMap::new(),
        ..built_in
    }
}

/// What the model sees of its step so far.
pub struct Seen<'a> {
    pub request: &'a ModelRequest,
}

impl Seen<'_> {
    pub fn task(&self) -> &str {
        &self.request.task.task
    }
    /// Tool results of this step, in order: (tool, status, content).
    pub fn results(&self) -> Vec<(&str, ToolStatus, &Value)> {
        self.request
            .messages
            .iter()
            .filter_map(|m| match m {
                Message::Tool { results } => Some(results),
                _ => None,
            })
            .flatten()
            .map(|r| (r.name.as_str(), r.status, &r.content))
            .collect()
    }
    /// What the program told it after its first message.
    pub fn told(&self) -> Vec<&str> {
        self.request
            .messages
            .iter()
            .skip(1)
            .filter_map(|m| match m {
                Message::User { text } => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }
    pub fn cycle(&self) -> u64 {
        self.request.task.input["run"]["cycle"].as_u64().unwrap()
    }
}

pub fn says(value: Value) -> ModelAnswer {
    ModelAnswer {
        text: value.to_string(),
        tool_calls: vec![],
        finish: Default::default(),
        usage: Usage {
            input_tokens: 10,
            output_tokens: 1,
            cached_tokens: 0,
            cache_write_tokens: 0,
            cost_usd: Some(0.125),
        },
    }
}

pub fn calls(list: &[(&str, Value)]) -> ModelAnswer {
    let mut answer = says(Value::Null);
    answer.text = String::new();
    answer.tool_calls = list
        .iter()
        .enumerate()
        .map(|(i, (name, arguments))| ToolCall {
            id: format!("c{i}"),
            name: (*name).to_owned(),
            arguments: arguments.to_string(),
        })
        .collect();
    answer
}

type Script = dyn Fn(&Seen<'_>) -> ModelAnswer + Send + Sync;

/// Answers by a function of what it is shown, and remembers what it was asked.
pub struct Scripted {
    script: Box<Script>,
    pub asked: Arc<Mutex<Vec<ModelRequest>>>,
    /// Fails instead of answering this call (counted from 1).
    fail_at: Option<usize>,
    /// Requests a stop while answering this call.
    stop_at: Option<(usize, Cancel)>,
    /// How long its conversations may become.
    room: Room,
}

impl Model for Scripted {
    fn is_paid(&self) -> bool {
        true
    }
    fn room(&self, _: &ModelRequest) -> Room {
        self.room.clone()
    }
    fn call<'a>(
        &'a self,
        request: &'a ModelRequest,
        sink: &'a (dyn Fn(&str) + Send + Sync),
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        let mut asked = self.asked.lock().unwrap();
        asked.push(request.clone());
        if self.fail_at == Some(asked.len()) {
            return Box::pin(async move {
                Err(ModelError::Failed {
                    model: "test".into(),
                    reason: "no answer".into(),
                })
            });
        }
        if let Some((at, cancel)) = &self.stop_at
            && *at == asked.len()
        {
            cancel.request(agentctl_engine::run::Cause::Interrupt);
        }
        let answer = (self.script)(&Seen { request });
        sink(&answer.text);
        Box::pin(async move { Ok(answer) })
    }
}

/// Everything that a run showed to whoever watched.
#[derive(Default)]
pub struct Watched {
    pub events: Vec<Event>,
    pub notes: Vec<String>,
    pub text: String,
}
impl Observer for Watched {
    fn event(&mut self, record: &Record) {
        self.events.push(record.event.clone());
    }
    fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
    }
    fn text(&mut self, delta: &str, _: bool) {
        self.text.push_str(delta);
    }
}

pub struct Shop {
    pub dir: tempfile::TempDir,
    pub project: Project,
    pub pack: Pack,
    pub gateway: Gateway,
    pub models: ChosenModel,
    pub asked: Arc<Mutex<Vec<ModelRequest>>>,
    pub effects: Counted,
    pub cancel: Cancel,
    pub watched: Watched,
}

impl Shop {
    pub fn new(script: impl Fn(&Seen<'_>) -> ModelAnswer + Send + Sync + 'static) -> Shop {
        Shop::at(tempfile::tempdir().unwrap(), script)
    }

    pub fn at(
        dir: tempfile::TempDir,
        script: impl Fn(&Seen<'_>) -> ModelAnswer + Send + Sync + 'static,
    ) -> Shop {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let cancel = Cancel::default();
        let model = Scripted {
            script: Box::new(script),
            asked: asked.clone(),
            fail_at: None,
            stop_at: None,
            room: Room::Endless,
        };
        let pack = PACK.clone();
        Shop {
            project: project(dir.path()),
            gateway: gateway(dir.path(), &pack),
            models: ChosenModel {
                name: "test".into(),
                model: Arc::new(model),
            },
            asked,
            effects: Counted::from(1_800_000_000),
            cancel,
            watched: Watched::default(),
            pack,
            dir,
        }
    }

    /// The model fails at its n-th call.
    pub fn failing_at(
        self,
        n: usize,
        script: impl Fn(&Seen<'_>) -> ModelAnswer + Send + Sync + 'static,
    ) -> Shop {
        let model = Scripted {
            script: Box::new(script),
            asked: self.asked.clone(),
            fail_at: Some(n),
            stop_at: None,
            room: Room::Endless,
        };
        Shop {
            models: ChosenModel {
                name: "test".into(),
                model: Arc::new(model),
            },
            ..self
        }
    }

    /// The model's conversations may become so long.
    pub fn with_room(
        self,
        room: Room,
        script: impl Fn(&Seen<'_>) -> ModelAnswer + Send + Sync + 'static,
    ) -> Shop {
        let model = Scripted {
            script: Box::new(script),
            asked: self.asked.clone(),
            fail_at: None,
            stop_at: None,
            room,
        };
        Shop {
            models: ChosenModel {
                name: "test".into(),
                model: Arc::new(model),
            },
            ..self
        }
    }

    /// A stop is requested during the model's n-th call.
    pub fn stopped_at(
        self,
        n: usize,
        script: impl Fn(&Seen<'_>) -> ModelAnswer + Send + Sync + 'static,
    ) -> Shop {
        let stop_at = Some((n, self.cancel.clone()));
        let model = Scripted {
            script: Box::new(script),
            asked: self.asked.clone(),
            fail_at: None,
            stop_at,
            room: Room::Endless,
        };
        Shop {
            models: ChosenModel {
                name: "test".into(),
                model: Arc::new(model),
            },
            ..self
        }
    }

    pub fn context<'a>(&'a mut self, asker: Option<&'a mut dyn Asker>) -> RunContext<'a> {
        RunContext {
            project: &self.project,
            pack: &self.pack,
            gateway: &self.gateway,
            models: &self.models,
            effects: &self.effects,
            cancel: &self.cancel,
            observer: &mut self.watched,
            asker,
        }
    }

    pub fn start(&mut self, options: RunOptions) -> Result<RunReport, RunError> {
        block_on(start(self.context(None), options))
    }

    pub fn resume(&mut self, run: Option<&str>) -> Result<RunReport, RunError> {
        block_on(advance(self.context(None), run, Resume::default()))
    }

    pub fn resume_with(&mut self, limits: LimitOverrides) -> Result<RunReport, RunError> {
        let resume = Resume {
            limits: limits.into(),
            ..Resume::default()
        };
        block_on(advance(self.context(None), None, resume))
    }

    pub fn answer(&mut self, answers: Value) -> Result<RunReport, RunError> {
        let Value::Object(answers) = answers else {
            panic!()
        };
        block_on(answer(self.context(None), None, answers, Resume::default()))
    }

    pub fn asked_count(&self) -> usize {
        self.asked.lock().unwrap().len()
    }

    /// Everything in the newest journal.
    pub fn journal(&self) -> Vec<Event> {
        let run = self.project.run_ids().unwrap().pop().unwrap();
        self.journal_of(&run)
    }
    pub fn journal_of(&self, run: &str) -> Vec<Event> {
        let path = self.project.run(run).unwrap().journal();
        Journal::read(&path)
            .unwrap()
            .records
            .into_iter()
            .map(|r| r.event)
            .collect()
    }

    /// As it is after a kill: a journal that a test cuts is shorter than the summary that the whole run wrote.
    pub fn without_summary(&self) {
        std::fs::remove_file(self.project.state_file()).unwrap();
    }

    /// (file name, graph hash) of every workflow in the project.
    pub fn workflows(&self) -> Vec<(String, String)> {
        let Ok(entries) = std::fs::read_dir(self.dir.path().join("workflows")) else {
            return vec![];
        };
        let mut found: Vec<(String, String)> = entries
            .map(|e| e.unwrap().path())
            .filter(|p| p.extension().is_some_and(|e| e == "json"))
            .map(|p| {
                let text = std::fs::read_to_string(&p).unwrap();
                let workflow: Workflow = serde_json::from_str(&text).unwrap();
                (
                    p.file_name().unwrap().to_str().unwrap().to_owned(),
                    graph_hash(&workflow),
                )
            })
            .collect();
        found.sort();
        found
    }
}

/// The key of the tests' user.
pub const KEY: [u8; 32] = [7; 32];

pub fn key() -> Key {
    Key::fixed(KEY)
}

/// A project of that user.
pub fn project(root: &Path) -> Project {
    Project::new(root).with_key(Some(key()))
}

pub fn gateway(root: &Path, pack: &Pack) -> Gateway {
    agentctl_n8n_tools::fixture::gateway_on(
        pack.policy.clone(),
        Arc::new(EmbeddedBackend::new(root).unwrap()),
        Knowledge::new(root, Vec::<Skill>::new()),
        Catalog::embedded(),
    )
}

pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

/// The report's sections about the workflow.
pub fn built(report: &RunReport) -> Built {
    Built::of(&report.made, &report.lost)
}

pub fn request(text: &str) -> RunOptions {
    RunOptions {
        request: text.to_owned(),
        ..RunOptions::default()
    }
}

/// The arguments of a call that creates a small workflow.
pub fn creation(name: &str) -> Value {
    json!({
        "name": name,
        "nodes": [
            {"name": "Start", "type": "n8n-nodes-base.manualTrigger", "typeVersion": 1, "parameters": {}},
            {"name": "Tell", "type": "n8n-nodes-base.noOp", "typeVersion": 1, "parameters": {}}
        ],
        "connections": {"Start": {"main": [[{"node": "Tell", "type": "main", "index": 0}]]}}
    })
}

/// Makes a workflow, finds it wanting once, mends it, passes it: two mutations, two cycles.
pub fn good(seen: &Seen<'_>) -> ModelAnswer {
    let results = seen.results();
    match (seen.task(), results.last()) {
        ("think", _) => says(json!({"plan": {"name": "Orders"}})),
        ("make", None) => calls(&[("create_workflow", creation("Orders"))]),
        ("make", Some((_, _, content))) => says(json!({"workflow": {"id": content["id"]}})),
        ("look", None) => {
            let id = &seen.request.task.input["workflow"]["id"];
            calls(&[("validate_workflow", json!({"workflow_id": id}))])
        }
        ("look", Some(_)) if seen.cycle() == 1 => {
            says(json!({"qa_report": {"status": "fail"}, "edit_scope": ["Tell"]}))
        }
        ("look", Some(_)) => says(json!({"qa_report": {"status": "pass"}, "edit_scope": []})),
        ("fix", None) => {
            let id = &seen.request.task.input["workflow"]["id"];
            calls(&[("get_workflow", json!({"workflow_id": id}))])
        }
        ("fix", Some(("get_workflow", _, content))) => calls(&[(
            "update_workflow",
            json!({"workflow_id": content["id"], "ops": [
                {"op": "set_parameter", "node": "Tell", "pointer": "/note", "value": "mended"}
            ]}),
        )]),
        ("fix", Some((_, _, content))) => says(json!({
            "workflow": {"id": content["id"]},
            "fixes_tried": [{"change": "a note"}]
        })),
        (task, last) => panic!("{task}: {last:?}"),
    }
}
