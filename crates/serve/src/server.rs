//! The server: what it serves, to whom, and how much at once.

use crate::a2a::Waiting;
use crate::answer::{Answer, Body};
use crate::asked::{Asked, Parent, Told};
use crate::clients::{Clients, is_handed_out};
use crate::live::Live;
use crate::mcp::McpDoor;
use crate::once::Onces;
use crate::paths::Paths;
use crate::push::Outbox;
use crate::router::Noted;
use crate::takeover::Lost;
use crate::threads::{Hands, Threads};
use crate::turning::Turns;
use crate::ui::Ui;
use agentctl_a2a::CardKey;
use agentctl_engine::gateway::Gateway;
use agentctl_engine::pack::Pack;
use agentctl_engine::run::{Budgets, Cancel, Effects, Models};
use agentctl_engine::store::Project;
use agentctl_host::key::Key;
use agentctl_host::reach::Addresses;
use agentctl_mcp::serve::listen::{Answers, ListenLimits, Wires, listen};
use agentctl_mcp::serve::{Guest, Hosts, Seats};
use agentctl_sessions::{Scope, SessionError, SessionKey, Sessions};
use agentctl_turns::{Host, TurnError, TurnReply};
use hyper::Request;
use hyper::body::Incoming;
use indexmap::IndexMap;
use serde_json::Value;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// A pack with all that a turn of it needs.
pub struct ServedPack {
    pub pack: Pack,
    pub project: Arc<Project>,
    pub gateway: Gateway,
    pub models: Box<dyn Models>,
    pub effects: Box<dyn Effects>,
    pub limits: Budgets,
    /// Calls of single tools for other agents; None: the pack offers none.
    pub tools: Option<Arc<dyn Hosts>>,
}

/// How much and how long.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Turns at once; others wait.
    pub turns: usize,
    /// For one turn; then it is cancelled at its next step.
    pub turn_timeout: Duration,
    /// For turns that are under way when the server is stopped.
    pub drain: Duration,
    /// Connections of callers that have shown who they are; as many more may wait for a place.
    pub connections: usize,
    pub of_connections: ListenLimits,
    /// The names, with ports, by which the server may be called; none: any.
    pub hosts: Vec<String>,
    /// Where others find the server, as its cards say.
    pub url: String,
    /// The origins of the server's own pages, from which any client may be spoken for; none: there are no pages.
    pub pages: Vec<String>,
    /// `GET /chat/{pack}` is a page to talk to each pack.
    pub chat_page: bool,
    /// A2A 0.3 is spoken over JSON-RPC, too.
    pub v0_3: bool,
}

/// Connections that have not shown yet who they are, as many as turns may wait: callers who come all at once are let in.
const STRANGERS: usize = 288;

impl Default for Limits {
    fn default() -> Self {
        Limits {
            turns: 32,
            turn_timeout: Duration::from_secs(110),
            drain: Duration::from_secs(30),
            connections: 4096,
            of_connections: ListenLimits {
                strangers: STRANGERS,
                token: Duration::from_secs(2),
                head: Duration::from_secs(10),
                write: Duration::from_secs(30),
                drain: Duration::from_secs(10),
                late: true,
            },
            hosts: Vec::new(),
            url: String::new(),
            pages: Vec::new(),
            chat_page: false,
            v0_3: false,
        }
    }
}

/// What became of a turn without an end.
#[derive(Debug, Clone, PartialEq)]
pub enum Settled {
    Ended(Box<TurnReply>),
    /// Another process takes it.
    UnderWay,
    Failed(String),
}

/// So many conversations are looked at, those that were used last.
const MOST_SETTLED: u32 = 100_000;

/// Is told of each request, and of what happens without one.
pub type Log = Box<dyn Fn(&Told) + Send + Sync>;

pub struct Server {
    /// By name.
    pub packs: IndexMap<String, Arc<ServedPack>>,
    pub sessions: Box<dyn Sessions>,
    pub clients: Clients,
    pub limits: Limits,
    pub(crate) turns: Turns,
    pub(crate) live: Arc<Live>,
    pub(crate) lost: Lost,
    pub(crate) onces: Onces,
    /// Messages that wait for others.
    pub(crate) waiting: Arc<Waiting>,
    pub(crate) seats: Seats,
    pub(crate) mcp: Option<McpDoor>,
    /// None: there is no page of runs.
    pub(crate) ui: Option<Ui>,
    /// None: nobody is told of anything.
    pub(crate) outbox: Option<Arc<Outbox>>,
    /// Signs the cards; None: they carry no signature.
    pub(crate) card_key: Option<CardKey>,
    /// Folders of this machine that go out under other names.
    pub(crate) paths: Paths,
    pub(crate) started: Instant,
    /// Seconds since 1970: when it began.
    pub(crate) since: i64,
    log: Log,
}

impl Server {
    pub fn new(
        packs: Vec<ServedPack>,
        sessions: Box<dyn Sessions>,
        clients: Clients,
        limits: Limits,
        log: Log,
    ) -> Server {
        let mut paths = Paths::default();
        for pack in &packs {
            paths.add(pack.project.root(), "");
        }
        let named = packs.into_iter();
        let named = named.map(|pack| (pack.pack.manifest.name.clone(), Arc::new(pack)));
        Server {
            packs: named.collect(),
            sessions,
            clients,
            turns: Turns::new(limits.turns),
            seats: Seats::new(limits.connections),
            mcp: None,
            ui: None,
            outbox: None,
            card_key: None,
            paths,
            limits,
            live: Arc::default(),
            lost: Lost::default(),
            onces: Onces::default(),
            waiting: Arc::default(),
            started: Instant::now(),
            since: jiff::Timestamp::now().as_second(),
            log,
        }
    }

    /// Serves these tools at `/mcp`.
    #[must_use]
    pub fn with_mcp(mut self, door: McpDoor) -> Server {
        self.mcp = Some(door);
        self
    }

    /// Serves a page of runs at `/ui`.
    #[must_use]
    pub fn with_ui(mut self, ui: Ui) -> Server {
        self.ui = Some(ui);
        self
    }

    /// Tells others of tasks' events. `key` seals what they are told by; of this machine and of private networks `allow` alone is told.
    #[must_use]
    pub fn with_push(mut self, key: &Key, allow: Addresses) -> Server {
        self.outbox = Outbox::new(key, allow).map(Arc::new);
        self
    }

    /// Tells of this folder by another name.
    #[must_use]
    pub fn calling(mut self, folder: &Path, short: &str) -> Server {
        self.paths.add(folder, short);
        self
    }

    /// Signs the cards of A2A.
    #[must_use]
    pub fn with_card_key(mut self, key: CardKey) -> Server {
        self.card_key = Some(key);
        self
    }

    /// A line of the log.
    pub(crate) fn tell(&self, line: Value) {
        (self.log)(&Told::Other(line));
    }

    /// Settles the turns that an earlier process left without an end: each is gone on with where its pack says so, else cancelled, and
    /// what it did stays. What could not be settled is told by the conversation's id; one whose turn another process takes now is left
    /// to it.
    pub async fn settle(self: &Arc<Self>) -> Result<Vec<(String, Settled)>, SessionError> {
        let mut all = self.sessions.list(&Scope::Operator, MOST_SETTLED).await?;
        let mut settled = Vec::new();
        all.retain(|of| of.open_run.is_some() && !is_handed_out(&of.key.tenant));
        for open in all {
            let Some(pack) = self.packs.get(&open.key.pack) else {
                continue;
            };
            if let Some(done) = self.settle_open(pack, &open.key).await {
                settled.push((open.id, done));
            }
        }
        Ok(settled)
    }

    /// `finish`: goes on with it, for as long as a turn may take.
    pub(crate) async fn settle_one(
        self: &Arc<Self>,
        pack: &ServedPack,
        key: &SessionKey,
        finish: bool,
    ) -> Result<agentctl_turns::Settled, TurnError> {
        let cancel = Cancel::default();
        let Some(_under_way) = self.under_way(&cancel) else {
            return Ok(agentctl_turns::Settled::UnderWay);
        };
        let mut host = self.host(pack, &cancel);
        host.wait = Duration::ZERO;
        let mut watch = self.watching(&cancel, key);
        let settling = agentctl_turns::settle(&host, key, finish, &mut watch);
        self.in_time(&cancel, settling).await.0
    }

    /// How many turns are under way or wait.
    pub fn turns_under_way(&self) -> usize {
        self.turns.count()
    }

    pub(crate) fn now(&self) -> i64 {
        jiff::Timestamp::now().as_second()
    }

    /// Milliseconds since 1970.
    pub(crate) fn now_ms(&self) -> i64 {
        jiff::Timestamp::now().as_millisecond()
    }

    pub(crate) fn host<'a>(&'a self, pack: &'a ServedPack, cancel: &'a Cancel) -> Host<'a> {
        Host {
            project: &pack.project,
            pack: &pack.pack,
            gateway: &pack.gateway,
            models: &*pack.models,
            effects: &*pack.effects,
            cancel,
            sessions: &*self.sessions,
            limits: pack.limits.clone(),
            wait: self.limits.turn_timeout,
        }
    }
}

/// The server as connections see it: their threads read and write, and what they ask for is done by others.
struct Doors {
    server: Arc<Server>,
    hands: Hands,
}

/// The status, in the log, of a request whose caller went away before its answer; it is sent to nobody.
const GONE: u16 = 499;

/// A request as the log will have it: with its answer, or without one where its caller went away.
struct Noting {
    server: Arc<Server>,
    asked: Option<Asked>,
    noted: Noted,
    at: Instant,
}

impl Noting {
    fn answered(mut self, answer: &Answer) {
        if let Some(asked) = &mut self.asked {
            let of = |name| answer.headers().get(name).and_then(|v| v.to_str().ok());
            asked.status = answer.status().as_u16();
            asked.run = of("x-run-id").map(str::to_owned);
        }
    }
}

impl Drop for Noting {
    fn drop(&mut self) {
        if let Some(mut asked) = self.asked.take() {
            asked.took = self.at.elapsed();
            asked.client = self.noted.client.take();
            (self.server.log)(&Told::Asked(asked));
        }
    }
}

impl Answers for Doors {
    type Body = Body;

    async fn answer(self: Arc<Self>, request: Request<Incoming>, guest: Arc<Guest>) -> Answer {
        let mut noting = Noting {
            server: Arc::clone(&self.server),
            asked: Some(Asked {
                begun: SystemTime::now(),
                took: Duration::ZERO,
                method: request.method().as_str().to_owned(),
                // Without its query, which may hold what is nobody's business.
                path: Asked::path(request.uri().path()),
                client: None,
                status: GONE,
                run: None,
                parent: Parent::of(request.headers()),
            }),
            noted: Noted::default(),
            at: Instant::now(),
        };
        let noted = &mut noting.noted;
        let answer = self.server.route(request, &guest, noted, &self.hands);
        let answer = answer.await;
        noting.answered(&answer);
        answer
    }

    async fn finish(&self) {
        let turns = self.server.turns.finish(self.server.limits.drain);
        match &self.server.mcp {
            Some(door) => drop(tokio::join!(turns, door.finish())),
            None => turns.await,
        }
    }
}

/// Serves until `stop` is ready, and then until the turns under way have their replies. Fails where no thread can be had.
pub async fn serve(
    listener: TcpListener,
    wires: impl Wires,
    server: Arc<Server>,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let limits = server.limits.of_connections;
    let (at_doors, readers) = (Threads::at_doors()?, Threads::readers()?);
    let hands = Hands {
        works: Handle::current(),
        reads: readers.handle.clone(),
    };
    let doors = Arc::new(Doors {
        server: Arc::clone(&server),
        hands,
    });
    let (end, ended) = oneshot::channel();
    let ended = async { drop(ended.await) };
    let mut taken = JoinSet::new();
    let listener = at_doors.hand(listener)?;
    let telling = tokio::spawn(crate::push::look_after(Arc::clone(&doors.server)));
    let looking = tokio::spawn(crate::takeover::look_after(Arc::clone(&doors.server)));
    let taking = listen(listener, wires, limits, doors, ended);
    taken.spawn_on(taking, &at_doors.handle);
    stop.await;
    let _ = end.send(());
    let ended = taken.join_next().await;
    looking.abort();
    telling.abort();
    // What they held of the server is let go of.
    let _ = (looking.await, telling.await);
    crate::push::rest(&server).await;
    match ended {
        Some(Err(broke)) => Err(io::Error::other(broke)),
        _ => Ok(()),
    }
}
