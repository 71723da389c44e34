//! Record and replay: what a run asked its models, as hashes, what came back, and every tool call with its result, in a file
//! that reads well in a diff. A replay answers from the file, by agent, step and turn; when a run asks something else than was
//! recorded, it fails and says what differs. Tools run as always in a replay; their results are compared.
//!
//! A tape that no longer fits (a prompt or a tool's description was changed on purpose) is renewed: followed without comparing, and
//! written anew with what is asked now. What that changed is in the diff of the two files.
//!
//! Ids and times differ from run to run; they are kept as marks (`⟨id-1⟩`), numbered as they come up, and put back on replay.
//! Secrets are hidden before anything is written. Must never be read as instructions, and holds no key.

mod asked;
mod form;
mod marks;

#[cfg(test)]
mod tape_tests;

use agentctl_base::canonical::{canonical, sha256_hex};
use agentctl_base::{
    BoxFuture,
    model::{
        Cost, Message, Model, ModelAnswer, ModelError, ModelRequest, Room, ToolResult, ToolStatus,
    },
};
use form::{Said, difference, map_texts, spread};
use indexmap::IndexMap;
use marks::Marks;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    collections::VecDeque,
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

const VERSION: u32 = 3;
/// The form of before holds each request whole. It is read, and renewed in the form of now.
const OLDEST: u32 = 2;
/// Where an entry names the calls whose results were shortened before it.
const SHORTENED: &str = "shortened";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Entry {
    Tape {
        version: u32,
    },
    Model {
        agent: String,
        step: String,
        /// The call's number within its step, from 1.
        turn: u64,
        asks: Value,
        answer: Said,
    },
    Tool {
        role: String,
        step: String,
        call_id: String,
        tool: String,
        arguments: Value,
        status: ToolStatus,
        result: Value,
    },
}

#[derive(Debug, thiserror::Error)]
pub enum TapeError {
    #[error("cannot {doing} the recording {}: {error}", path.display())]
    Io {
        doing: &'static str,
        path: PathBuf,
        error: std::io::Error,
    },
    #[error("the recording {} cannot be read: {reason}", path.display())]
    Broken { path: PathBuf, reason: String },
    #[error("{0}")]
    Differs(String),
}

type Hide = Box<dyn Fn(&str) -> String + Send + Sync>;

/// A recording, being written or being followed.
pub struct Tape {
    path: PathBuf,
    hide: Hide,
    inner: Mutex<Inner>,
}

struct Inner {
    marks: Marks,
    mode: Mode,
    /// Tool results on the tape, by step and call: a model that is told one is not written down with all of it again.
    results: IndexMap<(String, String), Value>,
    /// The first thing that went wrong.
    fault: Option<String>,
}

/// What was recorded, by agent, step and turn (or call): each turn of a conversation asks the same step again, so the same name holds
/// its entries in the order in which they were made.
type Entries = IndexMap<String, VecDeque<Entry>>;

/// The next entry of a name; a name that has no more is gone.
fn take(entries: &mut Entries, key: &str) -> Option<Entry> {
    let queue = entries.get_mut(key)?;
    let next = queue.pop_front();
    if queue.is_empty() {
        entries.shift_remove(key);
    }
    next
}

enum Mode {
    Write(File),
    Follow(Entries),
    /// Answers from the entries, everything else as it is now, into a new file.
    Renew(File, Entries),
}

impl Tape {
    /// A new recording; the file must not exist. `hide` takes secrets out of a text.
    pub fn record(path: &Path, hide: Hide) -> Result<Arc<Self>, TapeError> {
        Ok(Self::new(path, hide, Mode::Write(begun(path)?)))
    }

    pub fn replay(path: &Path, hide: Hide) -> Result<Arc<Self>, TapeError> {
        Ok(Self::new(path, hide, Mode::Follow(entries(path)?)))
    }

    /// A new recording with the answers of an old one.
    pub fn renew(old: &Path, new: &Path, hide: Hide) -> Result<Arc<Self>, TapeError> {
        let entries = entries(old)?;
        Ok(Self::new(old, hide, Mode::Renew(begun(new)?, entries)))
    }

    fn new(path: &Path, hide: Hide, mode: Mode) -> Arc<Self> {
        Arc::new(Tape {
            path: path.to_owned(),
            hide,
            inner: Mutex::new(Inner {
                marks: Marks::default(),
                mode,
                results: IndexMap::new(),
                fault: None,
            }),
        })
    }

    /// A tool call of the run with its result, as the journal has them.
    pub fn tool(&self, role: &str, step: &str, name: &str, arguments: &str, result: &ToolResult) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let arguments = serde_json::from_str(arguments).unwrap_or_else(|_| json!(arguments));
        let key = format!("{name} ({}) at {step}", result.call_id);
        let told = self.shaped(result.content.clone());
        if let Mode::Renew(_, entries) = &mut inner.mode
            && let Some(Entry::Tool { result: old, .. }) = take(entries, &key)
        {
            inner.marks.bind(&old, &told);
        }
        let entry = Entry::Tool {
            role: role.to_owned(),
            step: step.to_owned(),
            call_id: result.call_id.clone(),
            tool: name.to_owned(),
            arguments: inner.marked(self.shaped(arguments)),
            status: result.status,
            result: inner.marked(told),
        };
        if let Entry::Tool { result: told, .. } = &entry {
            let place = (step.to_owned(), result.call_id.clone());
            inner.results.insert(place, told.clone());
        }
        let fault = match &mut inner.mode {
            Mode::Write(file) | Mode::Renew(file, _) => self.write(file, &entry).err(),
            Mode::Follow(entries) => match take(entries, &key) {
                Some(recorded) if recorded == entry => None,
                Some(recorded) => Some(format!(
                    "the tool call {name} at {step} went otherwise (- recorded, + now):\n{}",
                    difference(&recorded, &entry)
                )),
                None => Some(format!("the recording has no call of {name} at {step}")),
            },
        };
        if let Some(fault) = fault {
            inner.fault.get_or_insert(fault);
        }
    }

    /// What went wrong, and (for a replay of a whole run) what was never asked for.
    pub fn finish(&self, whole: bool) -> Result<(), TapeError> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fault) = &inner.fault {
            return Err(TapeError::Differs(fault.clone()));
        }
        if let (true, Mode::Follow(entries)) = (whole, &inner.mode)
            && let Some(left) = entries.keys().next()
        {
            return Err(TapeError::Differs(format!(
                "the run ended, and {} recorded calls were not made, the first one {left}",
                entries.values().map(VecDeque::len).sum::<usize>()
            )));
        }
        Ok(())
    }

    /// Without secrets, and for reading.
    fn shaped(&self, value: Value) -> Value {
        spread(map_texts(value, &mut |text| (self.hide)(text)))
    }

    fn write(&self, file: &mut File, entry: &Entry) -> Result<(), String> {
        file.write_all(written(entry).as_bytes())
            .map_err(|e| format!("cannot write the recording {}: {e}", self.path.display()))
    }

    /// What the request asks, beyond what was asked in the turns before it.
    fn asks(&self, inner: &mut Inner, request: &ModelRequest) -> Value {
        let said = |m: &Message| matches!(m, Message::Assistant { .. });
        let before = request.messages.iter().rposition(said);
        let new = request.messages.get(before.map_or(0, |at| at + 1)..);
        let mut asks = serde_json::Map::new();
        let contract = request.output_schema.to_string();
        if before.is_none() {
            let system = (self.hide)(&request.system);
            asks.insert("system".into(), short_hash(&system).into());
            let tools: Vec<String> = request
                .tools
                .iter()
                .map(|tool| format!("{} {}", tool.name, short_hash(&canonical(&json!(tool)))))
                .collect();
            asks.insert("tools".into(), json!(tools));
            asks.insert("contract".into(), short_hash(&contract).into());
        }
        let step = &request.task.step;
        let messages = new.unwrap_or_default().iter().map(|message| match message {
            Message::User { text } => {
                let text = text.replace(&contract, "(the contract)");
                json!({"user": self.shaped(text.into())})
            }
            Message::Assistant { .. } => Value::Null,
            Message::Tool { results } => {
                let results = results.iter().map(|result| {
                    let told = self.shaped(result.content.clone());
                    let marked = inner.marked(told.clone());
                    let place = (step.clone(), result.call_id.clone());
                    if inner.results.get(&place) == Some(&marked) {
                        return json!(format!("{} of {}, as above", result.call_id, result.name));
                    }
                    json!({"call_id": result.call_id, "tool": result.name, "status": result.status, "result": told})
                });
                json!({"results": results.collect::<Vec<_>>()})
            }
        });
        asks.insert("messages".into(), messages.collect());
        if !request.shortened.is_empty() {
            asks.insert(SHORTENED.into(), json!(request.shortened));
        }
        Value::Object(asks)
    }

    fn taped(&self, request: &ModelRequest, answer: &ModelAnswer) -> Result<(), String> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let asks = self.asks(&mut inner, request);
        self.keep(&mut inner, request, asks, answer)
    }

    fn keep(
        &self,
        inner: &mut Inner,
        request: &ModelRequest,
        asks: Value,
        answer: &ModelAnswer,
    ) -> Result<(), String> {
        let asks = inner.marked(asks);
        let marks = &inner.marks;
        let entry = Entry::Model {
            agent: request.task.agent.clone(),
            step: request.task.step.clone(),
            turn: turn(request),
            asks: asked::summary(&asks),
            answer: Said::of(answer, &mut |text| marks.put(&(self.hide)(text))),
        };
        match &mut inner.mode {
            Mode::Write(file) | Mode::Renew(file, _) => self.write(file, &entry),
            Mode::Follow(_) => Ok(()),
        }
    }

    /// The old results that were shortened before the same turn of the recording.
    fn room(&self, request: &ModelRequest) -> Room {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let (Mode::Follow(entries) | Mode::Renew(_, entries)) = &inner.mode else {
            return Room::Endless;
        };
        let key = model_key(&request.task.agent, &request.task.step, turn(request));
        let Some(Entry::Model { asks, .. }) = entries.get(&key).and_then(VecDeque::front) else {
            return Room::Endless;
        };
        let calls = asks.get(SHORTENED).and_then(Value::as_array);
        let calls = calls.into_iter().flatten().filter_map(Value::as_str);
        Room::Recorded(calls.map(|call| inner.marks.take(call)).collect())
    }

    fn follow(&self, request: &ModelRequest) -> Result<ModelAnswer, String> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let inner = &mut *inner;
        if let Some(fault) = &inner.fault {
            return Err(fault.clone());
        }
        let asks = self.asks(inner, request);
        let (agent, step, turn) = (&request.task.agent, &request.task.step, turn(request));
        let (entries, renews) = match &mut inner.mode {
            Mode::Follow(entries) => (entries, false),
            Mode::Renew(_, entries) => (entries, true),
            Mode::Write(_) => return Err("the recording is being written".to_owned()),
        };
        let Some(Entry::Model {
            asks: recorded,
            answer,
            ..
        }) = take(entries, &model_key(agent, step, turn))
        else {
            return Err(format!(
                "the recording {} has no turn {turn} of {agent} at {step}",
                self.path.display()
            ));
        };
        if renews {
            inner.marks.bind(&recorded, &asks);
            let answer = answer.answer(&mut |text| inner.marks.take(text));
            self.keep(inner, request, asks, &answer)?;
            return Ok(answer);
        }
        let asks = inner.marked(asks);
        if let Some(changed) = asked::changed(&recorded, &asks) {
            return Err(format!(
                "turn {turn} of {agent} at {step} asks something else than was recorded (if that is meant, --replay with --record \
                 renews the recording):\n{changed}"
            ));
        }
        Ok(answer.answer(&mut |text| inner.marks.take(text)))
    }
}

impl Inner {
    fn marked(&mut self, value: Value) -> Value {
        map_texts(value, &mut |text| self.marks.learn(text))
    }
}

fn begun(path: &Path) -> Result<File, TapeError> {
    let io = |doing| {
        move |error| TapeError::Io {
            doing,
            path: path.to_owned(),
            error,
        }
    };
    let mut file = File::create_new(path).map_err(io("create"))?;
    let head = Entry::Tape { version: VERSION };
    file.write_all(written(&head).as_bytes())
        .map_err(io("write"))?;
    Ok(file)
}

/// No recording is longer.
const MAX_BYTES: u64 = 1024 * 1024 * 1024;

fn entries(path: &Path) -> Result<Entries, TapeError> {
    let text =
        agentctl_host::files::read_given_text(path, MAX_BYTES).map_err(|error| TapeError::Io {
            doing: "read",
            path: path.to_owned(),
            error,
        })?;
    let broken = |reason: String| TapeError::Broken {
        path: path.to_owned(),
        reason,
    };
    let mut entries = Entries::new();
    let mut begun = false;
    for entry in serde_json::Deserializer::from_str(&text).into_iter::<Entry>() {
        let entry = entry.map_err(|e| broken(e.to_string()))?;
        match &entry {
            Entry::Tape { version } if !(OLDEST..=VERSION).contains(version) => {
                return Err(broken(format!(
                    "it was made by another agentctl (version {version} of the form; this one reads {OLDEST} to {VERSION}); record it again"
                )));
            }
            Entry::Tape { .. } => begun = true,
            _ if !begun => return Err(broken("it does not begin as a recording".into())),
            _ => {
                entries.entry(key(&entry)).or_default().push_back(entry);
            }
        }
    }
    if !begun {
        return Err(broken("it is empty".into()));
    }
    Ok(entries)
}

/// Enough to see that a prompt or a schema is another one.
fn short_hash(text: &str) -> String {
    let hash = sha256_hex(text.as_bytes());
    hash.get(..11).unwrap_or_default().to_owned()
}

fn turn(request: &ModelRequest) -> u64 {
    let said = |m: &&Message| matches!(m, Message::Assistant { .. });
    request.messages.iter().filter(said).count() as u64 + 1
}

fn key(entry: &Entry) -> String {
    match entry {
        Entry::Tape { .. } => String::new(),
        Entry::Model {
            agent, step, turn, ..
        } => model_key(agent, step, *turn),
        Entry::Tool {
            step,
            call_id,
            tool,
            ..
        } => format!("{tool} ({call_id}) at {step}"),
    }
}

fn model_key(agent: &str, step: &str, turn: u64) -> String {
    format!("turn {turn} of {agent} at {step}")
}

fn written(entry: &Entry) -> String {
    let mut text = serde_json::to_string_pretty(entry).unwrap_or_default();
    text.push('\n');
    text
}

/// Answers from a recording, or records what another model answers.
pub struct Taped {
    tape: Arc<Tape>,
    /// None: replay.
    inner: Option<Arc<dyn Model>>,
}

impl Taped {
    pub fn recording(tape: Arc<Tape>, inner: Arc<dyn Model>) -> Self {
        Taped {
            tape,
            inner: Some(inner),
        }
    }

    pub fn replaying(tape: Arc<Tape>) -> Self {
        Taped { tape, inner: None }
    }
}

impl Model for Taped {
    fn is_paid(&self) -> bool {
        self.inner.as_ref().is_some_and(|inner| inner.is_paid())
    }

    fn cost_of_input(&self, tokens: u64) -> Cost {
        match &self.inner {
            Some(inner) => inner.cost_of_input(tokens),
            None => Cost::Known(0.0),
        }
    }

    fn room(&self, request: &ModelRequest) -> Room {
        match &self.inner {
            Some(inner) => inner.room(request),
            None => self.tape.room(request),
        }
    }

    fn call<'a>(
        &'a self,
        request: &'a ModelRequest,
        sink: &'a (dyn Fn(&str) + Send + Sync),
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        Box::pin(async move {
            let failed = |reason| ModelError::Failed {
                model: request.model.clone(),
                reason,
            };
            match &self.inner {
                None => self.tape.follow(request).map_err(failed),
                Some(inner) => {
                    let answer = inner.call(request, sink).await?;
                    self.tape.taped(request, &answer).map_err(failed)?;
                    Ok(answer)
                }
            }
        })
    }
}
