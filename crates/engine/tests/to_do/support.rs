//! A project in a temporary folder, a scripted model, and the answers that a run of the pack is made of.

use crate::packs::chores;
use crate::store::{List, Store};
use crate::tools::ToDo;
use agentctl_base::BoxFuture;
use agentctl_base::model::{
    Message, Model, ModelAnswer, ModelError, ModelRequest, ToolCall, ToolStatus, Usage,
};
use agentctl_engine::flow::{self, Flow, FlowFile, Known, Written};
use agentctl_engine::gateway::Gateway;
use agentctl_engine::pack::Pack;
use agentctl_engine::run::{
    Cancel, ChosenModel, Counted, Resume, RunContext, RunError, RunOptions, RunReport, Unobserved,
    advance, answer, start,
};
use agentctl_engine::store::{Event, Journal, Project, Record};
use agentctl_host::key::Key;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};

type Script = dyn Fn(&Seen<'_>) -> ModelAnswer + Send + Sync;

/// What the model sees of its step so far.
pub struct Seen<'a>(&'a ModelRequest);

impl Seen<'_> {
    pub fn task(&self) -> &str {
        &self.0.task.task
    }
    /// A key of an input of the step.
    pub fn input(&self, name: &str, key: &str) -> &Value {
        let input = self.0.task.input.get(name);
        input
            .and_then(|input| input.get(key))
            .unwrap_or(&Value::Null)
    }
    /// The contents of the step's results so far.
    pub fn results(&self) -> Vec<&Value> {
        let results = self.0.messages.iter().filter_map(|message| match message {
            Message::Tool { results } => Some(results),
            _ => None,
        });
        results.flatten().map(|result| &result.content).collect()
    }
    pub fn request(&self) -> &ModelRequest {
        self.0
    }
    /// How often its answer was refused in this step.
    pub fn told(&self) -> usize {
        let told = |message: &&Message| matches!(message, Message::User { .. });
        let since = self.0.messages.get(self.0.task_at..).unwrap();
        since.iter().filter(told).count() - 1
    }
}

struct Scripted {
    script: Box<Script>,
    asked: Arc<Mutex<usize>>,
}

impl Model for Scripted {
    fn is_paid(&self) -> bool {
        true
    }
    fn call<'a>(
        &'a self,
        request: &'a ModelRequest,
        _: &'a (dyn Fn(&str) + Send + Sync),
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        *self.asked.lock().unwrap() += 1;
        let answer = (self.script)(&Seen(request));
        Box::pin(std::future::ready(Ok(answer)))
    }
}

pub fn says(value: Value) -> ModelAnswer {
    ModelAnswer {
        text: value.to_string(),
        tool_calls: vec![],
        finish: Default::default(),
        usage: Usage::default(),
    }
}

pub fn calls(name: &str, arguments: Value) -> ModelAnswer {
    ModelAnswer {
        text: String::new(),
        tool_calls: vec![ToolCall {
            id: "c1".to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_string(),
        }],
        ..says(Value::Null)
    }
}

pub struct House {
    pub dir: tempfile::TempDir,
    pub project: Project,
    pub pack: Pack,
    pub gateway: Gateway,
    pub effects: Counted,
    models: ChosenModel,
    asked: Arc<Mutex<usize>>,
    cancel: Cancel,
    observer: Unobserved,
}

impl House {
    pub fn new(script: impl Fn(&Seen<'_>) -> ModelAnswer + Send + Sync + 'static) -> House {
        House::at(tempfile::tempdir().unwrap(), script)
    }

    pub fn at(
        dir: tempfile::TempDir,
        script: impl Fn(&Seen<'_>) -> ModelAnswer + Send + Sync + 'static,
    ) -> House {
        let asked = Arc::new(Mutex::new(0));
        let model = Scripted {
            script: Box::new(script),
            asked: Arc::clone(&asked),
        };
        let pack = chores();
        House {
            project: Project::new(dir.path()).with_key(Some(Key::fixed([7; 32]))),
            gateway: gateway(dir.path(), &pack),
            pack,
            effects: Counted::from(1_800_000_000),
            models: ChosenModel {
                name: "test".into(),
                model: Arc::new(model),
            },
            asked,
            cancel: Cancel::default(),
            observer: Unobserved,
            dir,
        }
    }

    /// With this flow in place of the pack's own.
    pub fn running(
        flow: Flow,
        script: impl Fn(&Seen<'_>) -> ModelAnswer + Send + Sync + 'static,
    ) -> House {
        let mut house = House::new(script);
        house.pack.flow = flow;
        house
    }

    /// The same folder, with another model, some days later.
    pub fn later(self, script: impl Fn(&Seen<'_>) -> ModelAnswer + Send + Sync + 'static) -> House {
        House {
            effects: Counted::from(1_900_000_000),
            ..House::at(self.dir, script)
        }
    }

    pub fn context(&mut self) -> RunContext<'_> {
        RunContext {
            project: &self.project,
            pack: &self.pack,
            gateway: &self.gateway,
            models: &self.models,
            effects: &self.effects,
            cancel: &self.cancel,
            observer: &mut self.observer,
            asker: None,
        }
    }

    pub fn start(&mut self, options: RunOptions) -> RunReport {
        block_on(start(self.context(), options)).unwrap()
    }

    pub fn resume(&mut self, run: &str) -> Result<RunReport, RunError> {
        block_on(advance(self.context(), Some(run), Resume::default()))
    }

    pub fn answer(&mut self, answers: Value) -> RunReport {
        let answers = answers.as_object().unwrap().clone();
        block_on(answer(self.context(), None, answers, Resume::default())).unwrap()
    }

    pub fn asked_count(&self) -> usize {
        *self.asked.lock().unwrap()
    }

    /// Everything in the newest journal.
    pub fn records(&self) -> Vec<Record> {
        let run = self.project.run_ids().unwrap().pop().unwrap();
        let path = self.project.run(&run).unwrap().journal();
        Journal::read(&path).unwrap().records
    }

    pub fn events(&self) -> Vec<Event> {
        self.records()
            .into_iter()
            .map(|record| record.event)
            .collect()
    }

    pub fn list(&self, id: &str) -> Option<List> {
        Store::new(self.dir.path()).find(id).unwrap()
    }

    pub fn put(&self, id: &str, list: &List) {
        Store::new(self.dir.path()).put(id, Some(list)).unwrap();
    }

    /// The rules that refused a call or a claim, in order.
    pub fn refusals(&self) -> Vec<String> {
        let rule = |event: Event| match event {
            Event::PatchRefused { rule, .. } => Some(rule),
            Event::ToolFinished { result, .. } if result.status == ToolStatus::Refused => {
                Some(result.content["rule"].as_str()?.to_owned())
            }
            _ => None,
        };
        self.events().into_iter().filter_map(rule).collect()
    }
}

/// A flow of the pack's agents over the pack's tools.
pub fn flow_of(text: &str) -> Flow {
    flow_calling(text, &[])
}

/// The same, which calls these, by name.
pub fn flow_calling(text: &str, others: &[(&str, &str)]) -> Flow {
    let others: Vec<FlowFile<'_>> = others
        .iter()
        .map(|(name, text)| FlowFile {
            name,
            file: name,
            of: Written::Text(text),
        })
        .collect();
    let pack = chores();
    let agents: Vec<String> = pack.agents.keys().cloned().collect();
    let known = Known {
        agents: Some(&agents),
        vocabulary: Some(pack.policy.vocabulary()),
        data: None,
    };
    let read = flow::load_with(Written::Text(text), "flow.yaml", known, &others);
    read.unwrap_or_else(|problems| panic!("{problems:#?}"))
}

pub fn gateway(project: &Path, pack: &Pack) -> Gateway {
    Gateway::new(pack, vec![Arc::new(ToDo::new(project))])
}

pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

pub fn request(text: &str) -> RunOptions {
    RunOptions {
        request: text.to_owned(),
        ..RunOptions::default()
    }
}

/// A request about a list that is there.
pub fn request_on(list: &str) -> RunOptions {
    let mut options = request("work on it");
    options.input.insert("list".into(), json!(list));
    options
}

/// A list of these items, each somebody's.
pub fn list_of(name: &str, items: &[&str]) -> List {
    let mut list = List {
        name: name.to_owned(),
        items: Vec::new(),
    };
    for item in items {
        list.add(item, Some("ann"));
    }
    list
}

/// Writes a list with an item that nobody does, has it found, mends it: two changes, two cycles.
pub fn good(seen: &Seen<'_>) -> ModelAnswer {
    let results = seen.results();
    let id = seen.input("list", "id");
    match (seen.task(), results.len()) {
        ("intend", _) => says(json!({"intent": {"name": "Chores", "questions": []}})),
        ("write", 0) => calls(
            "create_list",
            json!({"name": "Chores", "items": [
                {"text": "sweep", "owner": "ann"}, {"text": "cook"}
            ]}),
        ),
        ("write", _) => says(json!({"list": {"id": results[0]["id"]}})),
        ("review", 0) => calls("check_list", json!({"list_id": id})),
        ("review", _) if results[0]["error_count"] == 0 => {
            says(json!({"verdict": {"status": "pass"}, "may_change": []}))
        }
        ("review", _) => says(json!({"verdict": {"status": "fail"}, "may_change": ["cook"]})),
        ("fix", 0) => calls("read_list", json!({"list_id": id})),
        ("fix", 1) => calls(
            "edit_list",
            json!({"list_id": id, "ops": [{"op": "set", "item": "cook", "owner": "bob"}]}),
        ),
        ("fix", _) => says(json!({"list": {"id": id}, "attempts": [{"change": "an owner"}]})),
        ("look_back", _) => says(json!({
            "reason": {
                "summary": "nobody wants to cook",
                "evidence": ["event 27 names the item that nobody does", "they are lazy"],
            },
            "lessons": [{"title": "Name an owner", "problem": "nobody cooks", "solution": "ask who"}],
        })),
        (task, _) => panic!("{task}: {results:?}"),
    }
}
