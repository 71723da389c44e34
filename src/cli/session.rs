//! What a run needs, put together from the project, the pack and the flags; and the ears and the mouth of a run on a terminal.

use super::args::{AnswerOptions, ModelOptions};
use super::ask;
use super::choose::{self, Chosen};
use super::error::{CliError, Exit};
use super::output::Output;
use super::progress::{Progress, plain_long};
use super::settings;
use super::traces::Traces;
use crate::backend::{self, Backend, Choice, Offered};
use crate::config::Config;
use crate::flow::StepKind;
use crate::gateway::{Gateway, Redactor};
use crate::knowledge::Knowledge;
use crate::mcp::{self, Pins, Servers};
use crate::model::ToolCall;
use crate::model::tape::Tape;
use crate::pack::{self, Pack};
use crate::policy::split_foreign;
use crate::run::{
    self, Answering, Asked, Asker, Budgets, Cancel, Cause, Observer, RunContext, RunError,
    RunReport, System,
};
use crate::store::{Event, Project, Question, Record};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// A project with its pack, backend and model: enough for any activation.
pub struct Session {
    pub project: Project,
    pub pack: Pack,
    pub gateway: Gateway,
    pub models: Chosen,
    /// What is recorded or replayed.
    pub tape: Option<Arc<Tape>>,
    pub effects: System,
    pub cancel: Cancel,
    /// Which n8n it works on, and why.
    pub choice: Choice,
    /// The limits of agentctl.toml.
    pub budgets: Budgets,
}

impl Session {
    pub fn open(root: &Path, model: &ModelOptions, out: &Output) -> Result<Session, CliError> {
        Self::with(root, model, &BTreeMap::new(), out)
    }

    /// For going on with a run (None: the active one), with the models that it has.
    pub fn reopen(
        root: &Path,
        run: Option<&str>,
        model: &ModelOptions,
        out: &Output,
    ) -> Result<Session, CliError> {
        let project = Project::open(root).map_err(|e| CliError::failed(e.to_string()))?;
        // What is wrong with the run is told when it is taken up.
        let kept = run::means(&project, run).ok().flatten().unwrap_or_default();
        Self::with(root, model, &kept.models, out)
    }

    fn with(
        root: &Path,
        model: &ModelOptions,
        kept: &BTreeMap<String, String>,
        out: &Output,
    ) -> Result<Session, CliError> {
        let project = Project::open(root).map_err(|e| CliError::failed(e.to_string()))?;
        let pack = load_pack(root, out)?;
        let config = settings::of_project(root)?;
        let catalog = crate::cli::catalog_file::of(root)?;
        let models = match &model.replay {
            Some(_) => None,
            None => Some(choose::choose(
                &pack,
                &model.names,
                kept,
                &config,
                catalog,
                out,
            )?),
        };
        // With the models' keys, which were just read.
        let redactor = (*out.redactor()).clone();
        let tape = tape(model, &redactor)?;
        let models = match (models, &tape) {
            (Some(models), Some(tape)) => models.recording(tape),
            (Some(models), None) => models,
            (None, Some(tape)) => Chosen::replaying(&pack, tape),
            (None, None) => return Err(CliError::new(Exit::Internal, "no model was chosen")),
        };
        let (choice, backend) = backend_of(root, out, &config)?;
        let skills: Vec<_> = pack
            .skills
            .iter()
            .map(crate::knowledge::Skill::from)
            .collect();
        let gateway = Gateway::new(&pack, backend, Knowledge::new(root, skills), catalog)
            .with_redactor(redactor);
        let gateway = match foreign_tools(root, &pack)? {
            Some(servers) => gateway.with_foreign(Arc::new(servers)),
            None => gateway,
        };
        Ok(Session {
            project,
            pack,
            gateway,
            models,
            tape,
            effects: System::default(),
            cancel: Cancel::default(),
            choice,
            budgets: config.limits,
        })
    }

    /// The run's surroundings, with these eyes and this mouth.
    pub fn context<'a>(
        &'a self,
        observer: &'a mut dyn Observer,
        asker: Option<&'a mut dyn Asker>,
    ) -> RunContext<'a> {
        RunContext {
            project: &self.project,
            pack: &self.pack,
            gateway: &self.gateway,
            models: &self.models,
            effects: &self.effects,
            cancel: &self.cancel,
            observer,
            asker,
        }
    }

    /// The first line of `stream-json`.
    pub fn init(&self, command: &str, out: &Output) -> Result<(), CliError> {
        out.stream(&json!({
            "type": "init",
            "agentctl": env!("CARGO_PKG_VERSION"),
            "command": command,
            "flow": self.pack.flow.name,
            "model": self.models.names().join(", "),
            "backend": self.gateway.backend().name(),
            "backend_why": self.choice.why,
            "capabilities": ["questions", "resume", "undo"],
        }))
    }
}

/// Which n8n the project works on. Nothing is reached or started by choosing.
pub fn choice(root: &Path, out: &Output, config: &Config) -> Result<Choice, CliError> {
    let variable = |name: &str| std::env::var(name).ok();
    let embedded = backend::BackendName::Embedded;
    let files = out.backend.or(config.backend) == Some(embedded);
    let servers = match files {
        true => None, // the file need not even be readable
        false => mcp::read(root, &variable).map_err(|e| {
            CliError::usage(e.to_string()).hint("mend it, or go on without n8n: --backend embedded")
        })?,
    };
    let offered = Offered {
        flag: out.backend,
        settings: config.backend,
        servers: servers.as_ref(),
        variable: &variable,
    };
    backend::choose(&offered).map_err(|e| CliError::new(Exit::Backend, e.message).hint(e.hint))
}

/// The project's backend, with the choice that led to it; one that is not the files is said on stderr.
pub fn backend_of(
    root: &Path,
    out: &Output,
    config: &Config,
) -> Result<(Choice, Arc<dyn Backend>), CliError> {
    let choice = choice(root, out, config)?;
    let opened = choice.target.open(root);
    let opened = opened.map_err(|e| {
        let told = CliError::new(Exit::Backend, e.to_string());
        match e.hint {
            Some(hint) => told.hint(hint),
            None => told,
        }
    })?;
    if choice.target != backend::Target::Embedded {
        out.note(&format!("n8n: {} ({})", opened.name(), choice.why));
    }
    Ok((choice, opened))
}

/// The recording that is to be made or followed.
fn tape(options: &ModelOptions, redactor: &Redactor) -> Result<Option<Arc<Tape>>, CliError> {
    let redactor = redactor.clone();
    let hide = Box::new(move |text: &str| redactor.text(text));
    let opened = match (&options.record, &options.replay) {
        (Some(new), Some(old)) => Tape::renew(old, new, hide),
        (Some(path), None) => Tape::record(path, hide),
        (None, Some(path)) => Tape::replay(path, hide),
        (None, None) => return Ok(None),
    };
    opened.map(Some).map_err(|e| CliError::usage(e.to_string()))
}

/// The servers of `.mcp.json`, when some agent may call a tool of theirs; each is started at its first call.
fn foreign_tools(root: &Path, pack: &Pack) -> Result<Option<Servers>, CliError> {
    let steps = pack.flow.all_steps();
    let by_flow = steps.iter().filter_map(|step| match &step.kind {
        StepKind::Tool(called) => Some(&called.tool),
        _ => None,
    });
    let by_agents = pack.agents.values().flat_map(|agent| &agent.tools);
    if !by_agents
        .chain(by_flow)
        .any(|tool| split_foreign(tool).is_some())
    {
        return Ok(None);
    }
    let config = mcp::read(root, &|name| std::env::var(name).ok())
        .map_err(|e| CliError::usage(e.to_string()))?;
    let pins = Pins::read(root).map_err(|e| CliError::usage(e.to_string()))?;
    Ok(config.map(|config| Servers::new(&config, pins)))
}

/// The pack of a project; all of its mistakes at once, its warnings on stderr.
pub fn load_pack(root: &Path, out: &Output) -> Result<Pack, CliError> {
    let options = pack::LoadOptions {
        allow_loosen: out.allow_loose_policy,
    };
    let pack = pack::load_with(root, options).map_err(|errors| CliError::usage(errors.to_string()).hint("agentctl agents check lists the same; a project file overrides the built-in one of the same name"))?;
    for loosened in pack.policy.loosened() {
        out.note(&format!(
            "warning: the project loosens the policy: {loosened}"
        ));
    }
    for warning in &pack.warnings {
        out.note(&format!("warning: {warning}"));
    }
    Ok(pack)
}

/// Answers given ahead: a JSON object, question id or topic → answer.
pub fn read_answers(path: Option<&Path>) -> Result<Map<String, Value>, CliError> {
    let Some(path) = path else {
        return Ok(Map::new());
    };
    let shown = path.display();
    let text = if path == Path::new("-") {
        read_stdin()?
    } else {
        std::fs::read_to_string(path)
            .map_err(|e| CliError::usage(format!("cannot read the answers {shown}: {e}")))?
    };
    match serde_json::from_str::<Value>(&text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(CliError::usage(format!(
            "{shown}: expected a JSON object, question id or topic → answer"
        ))),
        Err(e) => Err(CliError::usage(format!(
            "{shown}:{}:{}: not valid JSON: {e}",
            e.line(),
            e.column()
        ))
        .hint("an answers file looks like {\"channel\": \"#sales\"}")),
    }
}

pub fn read_stdin() -> Result<String, CliError> {
    let mut text = String::new();
    std::io::stdin()
        .lock()
        .read_to_string(&mut text)
        .map_err(|e| CliError::failed(format!("cannot read stdin: {e}")))?;
    Ok(text)
}

pub fn answering(options: &AnswerOptions) -> Result<Answering, CliError> {
    Ok(Answering {
        answers: read_answers(options.answers.as_deref())?,
        yes: options.yes,
    })
}

/// Runs an activation on a runtime of its own; Ctrl-C and SIGTERM stop it between two actions, a second one at once.
pub fn block_on<T>(cancel: &Cancel, work: impl Future<Output = T>) -> Result<T, CliError> {
    let broken =
        |e: std::io::Error| CliError::new(Exit::Internal, format!("cannot start the runtime: {e}"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(broken)?;
    listen(cancel.clone()).map_err(broken)?;
    let done = runtime.block_on(work);
    // A thread that still waits for a line of stdin is not waited for.
    runtime.shutdown_background();
    Ok(done)
}

/// Signals are heard on a thread of their own: the run's may be busy, or stuck in a write that nobody reads. When this comes
/// back they are heard.
fn listen(cancel: Cancel) -> std::io::Result<()> {
    let (ready, is_ready) = std::sync::mpsc::channel();
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            match runtime {
                Ok(runtime) => runtime.block_on(watch_signals(cancel, &ready)),
                Err(error) => drop(ready.send(Err(error))),
            }
        })?;
    // A listener that is gone without a word has failed.
    is_ready
        .recv()
        .unwrap_or_else(|_| Err(std::io::Error::other("no signals can be heard")))
}

async fn watch_signals(cancel: Cancel, ready: &std::sync::mpsc::Sender<std::io::Result<()>>) {
    use tokio::signal::unix::{SignalKind, signal};
    let both = signal(SignalKind::interrupt())
        .and_then(|interrupt| Ok((interrupt, signal(SignalKind::terminate())?)));
    let (mut interrupt, mut terminate) = match both {
        Ok(both) => both,
        Err(error) => return drop(ready.send(Err(error))),
    };
    if ready.send(Ok(())).is_err() {
        return;
    }
    loop {
        let cause = tokio::select! {
            _ = interrupt.recv() => Cause::Interrupt,
            _ = terminate.recv() => Cause::Terminate,
        };
        if !cancel.request(cause) {
            // The second request: everything that was promised is on the disk already.
            std::process::exit(match cause {
                Cause::Interrupt => Exit::Interrupted.code().into(),
                Cause::Terminate => Exit::Terminated.code().into(),
            });
        }
        eprintln!("stopping after this step; again to stop at once");
    }
}

/// Sees a run's events: progress on stderr, or lines of `stream-json` on stdout.
pub struct Watcher<'a> {
    pub out: &'a Output,
    pub progress: Arc<Progress>,
    /// What stdout refused; told at the end.
    pub failed: Option<CliError>,
    tape: Option<Arc<Tape>>,
    traces: Traces<'a>,
    /// The call whose result comes next.
    begun: Option<ToolCall>,
}

impl<'a> Watcher<'a> {
    pub fn new(out: &'a Output, tape: Option<Arc<Tape>>) -> Self {
        Watcher {
            out,
            progress: Arc::new(Progress::new(out)),
            failed: None,
            tape,
            traces: Traces::default(),
            begun: None,
        }
    }

    /// Tells a collector too.
    #[must_use]
    pub fn traced(mut self, traces: Traces<'a>) -> Self {
        self.traces = traces;
        self
    }

    /// Nothing more comes: what stdout refused.
    pub fn finish(self) -> Option<CliError> {
        self.traces.finish(self.out);
        self.failed
    }

    fn keep_on_tape(&mut self, event: &Event) {
        let Some(tape) = &self.tape else { return };
        match event {
            Event::ToolIntent { call, .. } => self.begun = Some(call.clone()),
            Event::ToolFinished {
                step, role, result, ..
            } => {
                let begun = self.begun.take().filter(|call| call.id == result.call_id);
                let arguments = begun.map(|call| call.arguments).unwrap_or_default();
                tape.tool(role, step, &result.name, &arguments, result);
            }
            _ => {}
        }
    }
}

impl Observer for Watcher<'_> {
    fn event(&mut self, record: &Record) {
        self.progress.record(record);
        self.keep_on_tape(&record.event);
        self.traces.record(record);
        if let Err(error) = self.out.stream(&stream_event(record)) {
            self.failed.get_or_insert(error);
        }
    }
    fn text(&mut self, delta: &str) {
        self.progress.text(delta);
        let line = json!({"type": "model.text", "text": delta});
        if let Err(error) = self.out.stream(&line) {
            self.failed.get_or_insert(error);
        }
    }
    fn note(&mut self, text: &str) {
        self.progress.line(&plain_long(text));
    }
}

/// A journal record as a line of `stream-json`: `type` with dots, `seq`, `at` and the event's own fields.
pub fn stream_event(record: &Record) -> Value {
    let mut event = match serde_json::to_value(&record.event) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    };
    let kind = event
        .shift_remove("type")
        .and_then(|t| t.as_str().map(|t| t.replacen('_', ".", 1)))
        .unwrap_or_default();
    let mut line = Map::new();
    line.insert("type".into(), kind.into());
    line.insert("seq".into(), record.seq.into());
    line.insert("at".into(), record.at.clone().into());
    line.append(&mut event);
    Value::Object(line)
}

/// A person at the terminal.
pub struct Terminal {
    pub progress: Arc<Progress>,
}

impl Asker for Terminal {
    fn ask(&mut self, question: &Question) -> Result<Asked, String> {
        self.progress.suspend(|| ask::ask(question))
    }
    fn refuse(&mut self, _question: &Question, why: &str) {
        self.progress
            .line(&format!("that answer does not fit: {}", plain_long(why)));
    }
}

/// How a run that could not be carried through is told.
pub fn run_error(error: &RunError) -> CliError {
    let exit = Exit::from_code(error.exit_code());
    let mut told = CliError::new(exit, error.to_string());
    if let Some(hint) = error.hint() {
        told = told.hint(hint);
    }
    if exit == Exit::Internal {
        told = told.hint("this is a bug in agentctl; the run is saved, `agentctl runs show` tells how far it came");
    }
    told
}

/// The exit of a run that came to an end, good or not.
pub fn exit_of(report: &RunReport) -> Exit {
    Exit::from_code(report.exit_code)
}
