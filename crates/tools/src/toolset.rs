//! The declared tools as a toolset: heads for models and policies, and a call for each.

use crate::a2a::Remote;
use crate::builtin::{Library, Reader};
use crate::call::Call;
use crate::kind::{KINDS, Work};
use crate::mock::Mode;
use crate::n8n::Workflows;
use crate::pack::{Begun, CallOf, Packs};
use crate::registry::{Calls, Stands, in_order};
use crate::seen::Seen;
use agentctl_base::BoxFuture;
use agentctl_base::strict_json;
use agentctl_engine::flow::Schema;
use agentctl_engine::gateway::ForeignTools;
use agentctl_engine::guards::Memory;
use agentctl_engine::pack::{DeclaredTool, ToolKind};
use agentctl_engine::store::Event;
use agentctl_engine::store::event::Weighed;
use agentctl_engine::toolset::{Arguments, Cx, Fault, Head, Parsed, Settling, Toolset};
use agentctl_engine::vocabulary::Capability;
use agentctl_host::reach::Addresses;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

/// What the tools need of the machine.
pub struct Surroundings {
    pub mode: Mode,
    /// A variable of the environment; None: it is not set, or empty.
    pub variable: fn(&str) -> Option<String>,
    pub allow: Addresses,
    /// The servers of `.mcp.json` with what the user approved of their tools; None: no tool of the pack is of that kind.
    pub servers: Option<Arc<dyn ForeignTools>>,
    /// The workflows of the n8n that is connected; None: no tool of the pack is of that kind.
    pub workflows: Option<Arc<dyn Workflows>>,
    /// The other agents that tools of the pack are, by their names in the settings; Err: what keeps one from being asked, as a sentence
    /// without its end.
    pub agents: BTreeMap<String, Result<Remote, String>>,
    /// Other packs that a tool of this one talks with; None: no tool does.
    pub packs: Option<Arc<dyn Packs>>,
    /// The project's folder, where a tool may put files of the run; None: none is made.
    pub root: Option<PathBuf>,
    /// The folder whose files stand for the documents of the pack's own data.
    pub folder: Option<PathBuf>,
    /// The tool of kind `search` that the user has searches made with; None: documents are searched.
    pub engine: Option<String>,
    /// The program that reads files which are more than text; None: they are not read.
    pub reader: Option<Reader>,
}

/// Why a tool without a mock is not called where mocks were asked for.
const NO_MOCK: &str = "mocks were asked for, and it has none";

/// A tool that is not the real one, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mocked {
    pub tool: &'static str,
    /// What keeps the real one from being called, in words; None: mocks were asked for.
    pub lacks: Option<String>,
}

/// What calls share.
pub(crate) struct Shared {
    pub surroundings: Surroundings,
    pub library: Library,
    /// The search engine that stands in the place of a search in documents.
    pub engine: Option<Arc<Made>>,
    /// Answers of calls that change nothing, by tool, arguments and bound values, with when they came.
    pub cache: Mutex<BTreeMap<String, (Instant, Value)>>,
    /// When the calls of a tool with a rate limit were made.
    pub calls: Mutex<BTreeMap<&'static str, VecDeque<Instant>>>,
    /// What is known of calls that were begun before, by call.
    pub begun: Mutex<BTreeMap<String, Begun>>,
}

impl Shared {
    pub fn held(&self, key: &str) -> Option<Begun> {
        self.begun.lock().ok()?.get(key).cloned()
    }
    pub fn hold(&self, key: String, begun: Begun) {
        if let Ok(mut held) = self.begun.lock() {
            held.insert(key, begun);
        }
    }
    pub fn let_go(&self, key: &str) {
        if let Ok(mut held) = self.begun.lock() {
            held.remove(key);
        }
    }
}

pub(crate) struct Made {
    pub tool: DeclaredTool,
    /// None: it is a flow.
    pub work: Option<Box<dyn Work>>,
    schema: Result<Schema, String>,
}

impl Made {
    /// What keeps the real tool from being called, in words.
    pub fn lacks(&self, of: &Surroundings) -> Option<String> {
        self.work.as_ref()?.lacks(of)
    }

    fn is_engine(&self) -> bool {
        matches!(&self.tool.kind, ToolKind::Other { name, .. } if *name == crate::search::NAME)
    }

    /// What of the arguments does not fit.
    pub fn faults(&self, args: &Map<String, Value>) -> Vec<String> {
        match &self.schema {
            Ok(schema) => schema.faults(&Value::Object(args.clone())),
            Err(why) => vec![why.clone()],
        }
    }

    /// Whether a call is answered by the mock.
    pub fn is_mock(&self, of: &Surroundings) -> bool {
        self.work.is_some()
            && self.tool.mock.is_some()
            && match of.mode {
                Mode::Mock => true,
                Mode::Real => false,
                Mode::Auto => self.lacks(of).is_some(),
            }
    }

    /// Mocks were asked for and it has none, so that nothing is called.
    pub fn is_without_mock(&self, of: &Surroundings) -> bool {
        let outside = self.work.as_ref().is_some_and(|work| !work.stays_inside());
        of.mode == Mode::Mock && outside && self.tool.mock.is_none()
    }

    /// What keeps a call from being made here, in words; None: the real tool or its mock answers.
    pub fn keeps(&self, of: &Surroundings) -> Option<String> {
        match self.is_without_mock(of) {
            true => Some(NO_MOCK.to_owned()),
            false => self.lacks(of).filter(|_| !self.is_mock(of)),
        }
    }
}

/// Reads what came of the tools' calls; slow.
type Counting = Box<dyn Fn() -> BTreeMap<String, Calls> + Send + Sync>;

pub struct Tools {
    heads: Vec<Head>,
    made: BTreeMap<&'static str, Arc<Made>>,
    shared: Arc<Shared>,
    counting: Option<Counting>,
    figures: OnceLock<BTreeMap<String, Calls>>,
}

impl Tools {
    /// `data`: the data files of the pack, by name.
    pub fn new<'t>(
        tools: impl IntoIterator<Item = &'t DeclaredTool>,
        data: Arc<Map<String, Value>>,
        surroundings: Surroundings,
    ) -> Tools {
        let made = tools.into_iter().map(|tool| {
            let work = match &tool.kind {
                ToolKind::Flow { .. } => None,
                ToolKind::Other { name, section } => {
                    let kind = KINDS.iter().find(|kind| kind.name == *name);
                    kind.map(|kind| (kind.make)(section))
                }
            };
            let made = Made {
                work,
                schema: Schema::compile((*tool.parameters).clone()),
                tool: tool.clone(),
            };
            (tool.id, Arc::new(made))
        });
        let made: BTreeMap<&'static str, Arc<Made>> = made.collect();
        Tools {
            heads: made.values().map(|made| head(&made.tool)).collect(),
            counting: None,
            figures: OnceLock::new(),
            shared: Arc::new(Shared {
                engine: (surroundings.engine.as_deref())
                    .and_then(|engine| made.get(engine))
                    .map(Arc::clone),
                library: Library::new(
                    surroundings.folder.clone(),
                    surroundings.reader.clone(),
                    data,
                ),
                surroundings,
                cache: Mutex::default(),
                begun: Mutex::default(),
                calls: Mutex::default(),
            }),
            made,
        }
    }

    /// With what came of the tools' calls, which is read once, when tools have to be weighed.
    #[must_use]
    pub fn counting(
        mut self,
        figures: impl Fn() -> BTreeMap<String, Calls> + Send + Sync + 'static,
    ) -> Tools {
        self.counting = Some(Box::new(figures));
        self
    }

    /// How a tool stands here. A flow is as healthy as what it calls.
    pub fn stands(&self, tool: &DeclaredTool) -> Stands {
        let of = &self.shared.surroundings;
        match self.made.get(tool.id) {
            Some(made) if made.is_mock(of) => Stands::Mock,
            Some(made) if made.keeps(of).is_some() => Stands::Not,
            _ => Stands::Real,
        }
    }

    /// Whether it is a search engine that nobody chose, so that nothing is asked of it.
    pub fn is_spare(&self, tool: &str) -> bool {
        let chosen = self.shared.engine.as_ref().map(|made| made.tool.id);
        self.made.get(tool).is_some_and(|made| made.is_engine()) && chosen != Some(tool)
    }

    /// The tools that are not real ones here.
    pub fn mocked(&self) -> Vec<Mocked> {
        let of = &self.shared.surroundings;
        let mocked = self.made.values().filter(|made| made.is_mock(of));
        mocked
            .map(|made| Mocked {
                tool: made.tool.id,
                lacks: made.lacks(of),
            })
            .collect()
    }

    pub(crate) fn made(&self, tool: &str) -> Option<&Arc<Made>> {
        self.made.get(tool)
    }

    pub(crate) fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    /// What keeps a tool from being the real one here, in words.
    pub fn lacks(&self, tool: &str) -> Option<String> {
        self.made.get(tool)?.lacks(&self.shared.surroundings)
    }

    /// Why the address of the real tool is refused here, as far as that shows before a call.
    pub fn refused(&self, tool: &str) -> Option<String> {
        let made = self.made.get(tool)?;
        let of = &self.shared.surroundings;
        made.work
            .as_ref()?
            .refused(of)
            .filter(|_| !made.is_mock(of))
    }

    /// What keeps it from being called here at all, in words; None: the real one answers, or its mock.
    pub fn keeps(&self, tool: &str) -> Option<String> {
        self.made.get(tool)?.keeps(&self.shared.surroundings)
    }

    /// Whether mocks were asked for.
    pub fn are_mocks(&self) -> bool {
        self.shared.surroundings.mode == Mode::Mock
    }
}

fn head(tool: &DeclaredTool) -> Head {
    let is_flow = matches!(tool.kind, ToolKind::Flow { .. });
    Head {
        changes: tool.changes && !is_flow,
        open_world: true,
        idempotent: !tool.changes,
        schema: Arguments::Given(Arc::clone(&tool.parameters)),
        description: agentctl_base::names::kept(&tool.told()),
        ..Head::new(tool.id, Capability::named(tool.id), "", || json!({}))
    }
}

impl Toolset for Tools {
    fn backend(&self) -> &str {
        "tools"
    }
    fn tools(&self) -> &[Head] {
        &self.heads
    }
    fn parse(&self, tool: &str, args: Map<String, Value>) -> Result<Parsed, String> {
        let made = self.made.get(tool);
        let made = made.ok_or_else(|| format!("there is no tool {tool:?}"))?;
        let faults = made.faults(&args);
        if !faults.is_empty() {
            return Err(faults.join("; "));
        }
        let call = |made: &Arc<Made>| Call {
            made: Arc::clone(made),
            shared: Arc::clone(&self.shared),
            args,
            found: None,
            of: None,
        };
        Ok(match (&made.work, made.tool.changes) {
            (None, _) => Parsed::Flow,
            (_, false) => Parsed::Read(Box::new(call(made))),
            (_, true) => Parsed::Change(Box::new(call(made))),
        })
    }
    fn weighed(&self, need: &str, task: &str, tools: &[&str]) -> Option<Vec<Weighed>> {
        let counting = || {
            self.counting
                .as_ref()
                .map(|count| count())
                .unwrap_or_default()
        };
        let figures = self.figures.get_or_init(counting);
        let own = self.made.values().map(|made| &made.tool);
        let own = own.filter(|tool| tools.contains(&tool.id));
        let order = in_order(need, Some(task), own, figures, |tool| self.stands(tool));
        let weighed = order.iter().map(|scored| Weighed {
            tool: scored.tool.id.to_owned(),
            score: scored.score,
            why: scored.why(),
        });
        Some(weighed.collect())
    }
    fn memory(&self) -> Option<Box<dyn Memory>> {
        let needed = self
            .made
            .values()
            .filter_map(|made| made.tool.requires.as_ref());
        let seen = Seen::of(needed.map(|requires| requires.tool.clone()));
        Some(Box::new(seen))
    }
    fn hint(&self, rule: &str) -> Option<&'static str> {
        match rule {
            crate::call::ADDRESS => Some(
                "tell the user; only the user's own settings allow such an address: [tools] allow_addresses",
            ),
            crate::a2a::CARD => Some(
                "tell the user: `agentctl a2a card AGENT` shows what changed, `agentctl a2a approve AGENT` approves it",
            ),
            crate::call::REQUIRES => {
                Some("list the tools first, take an id from that list, and fit its parameters")
            }
            crate::answer::GONE => Some(
                "list the tools once more, and try once with an id of the new list; then say that it did not work",
            ),
            _ => None,
        }
    }
    /// What was sent cannot be asked after: nobody keeps it. Another pack's turn is gone on with; what it comes to is what the call,
    /// which is made again, comes to.
    fn settle<'a>(
        &'a self,
        cx: &'a mut Cx<'_>,
        intent: &'a Event,
    ) -> BoxFuture<'a, Result<Settling, Fault>> {
        let why = "the run was interrupted during this call; it may have happened";
        let unknown = Settling::Unknown(why.to_owned());
        let bound = cx.bound.cloned().unwrap_or_default();
        Box::pin(async move {
            let Some(call) = self.call_of(intent) else {
                return Ok(unknown);
            };
            let packs = self.shared.surroundings.packs.as_ref();
            let with = call.talk().and_then(|talk| talk.with(&call.args, &bound));
            let Some((packs, with)) = packs.zip(with) else {
                return Ok(unknown);
            };
            let of = CallOf {
                run_id: cx.recorder.run_id().to_owned(),
                step: cx.step.to_owned(),
                call_id: cx.call_id.to_owned(),
            };
            match packs.begun(with, of).await {
                Ok(told) => {
                    if let Some(told) = told {
                        let key = call.held_key(cx.step, &bound);
                        self.shared.hold(key, Begun::of(told));
                    }
                    Ok(Settling::NotDone)
                }
                Err(_) => Ok(unknown),
            }
        })
    }
}

impl Tools {
    /// The call that was intended; None: it is none of these tools.
    fn call_of(&self, intent: &Event) -> Option<Call> {
        let Event::ToolIntent { call, .. } = intent else {
            return None;
        };
        Some(Call {
            made: Arc::clone(self.made.get(call.name.as_str())?),
            shared: Arc::clone(&self.shared),
            args: strict_json::object(&call.arguments).ok()?,
            found: None,
            of: None,
        })
    }
}
