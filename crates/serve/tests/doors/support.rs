//! A server in this process with a small pack, and a client that writes its requests by hand.

use super::bell::Bell;
use super::letters::{Clock, Letters, Sent, vocabulary};
use agentctl_base::BoxFuture;
use agentctl_base::model::{Model, ModelAnswer, ModelError, ModelRequest, Usage};
use agentctl_engine::gateway::Gateway;
use agentctl_engine::pack::{BuiltIn, LoadOptions, load};
use agentctl_engine::run::{Budgets, ChosenModel};
use agentctl_engine::store::Project;
use agentctl_host::key::Key;
use agentctl_mcp::serve::listen::{Plain, Wires};
use agentctl_serve::{Client, Clients, How, Limits, May, Rate, Reads, ServedPack, Server};
use agentctl_sessions::{Marks, SqliteSessions};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinHandle;

pub const TOKEN: &str = "0123456789abcdef0123456789abcdef";
pub const OTHER: &str = "fedcba9876543210fedcba9876543210";

pub const MANIFEST: &str = "name: desk
title: Repeats what is said
channels:
  webhook:
    unwrap: body
    input: {chatInput: body.text, userId: body.from.id, tenantId: body.tenant, sessionId: body.conversation, event: body.event}
    required: [userId]
    message: chatInput
    id: body.id
    session: {tenant: tenantId, user: userId, conversation: sessionId}
  a2a:
    skills: [{id: repeat, name: Repeat, description: Says again what was said., tags: [echo]}]
    receivers: [desk-agent]
    task_types: [technical, support]
    input: {colour: message.data.colour}
  later: true
";
/// `slow …` asks the model, which answers when the test lets it; `which` asks the user; `letter …` is sent when that was approved; `mail`
/// waits for mail, which never comes.
/// What a body names as `place`, or in its metadata, goes with the reply.
const FLOW: &str = "name: desk
fields:
  plan: {kind: value, writers: [thinker]}
  mode: {kind: value, scope: session, writers: [program]}
steps:
  - {id: think, when: \"input.message.startsWith('slow')\", agent: thinker, task: think, instructions: Think., writes: [plan], contract: {type: object, required: [plan], properties: {plan: {type: string}}}}
  - {id: which, when: \"input.message == 'which'\", ask: {from: \"[{'id': 'colour', 'topic': 'colour', 'text': 'Which colour?', 'options': [{'value': 'red', 'label': 'Red'}, {'value': 'blue', 'label': 'Blue'}], 'schema': {'enum': ['red', 'blue']}}]\"}}
  - {id: letter, when: \"has_text(input.message) && input.message.startsWith('letter')\", tool: send_letter, role: program, on_failure: continue, args: {text: input.message}}
  - {id: mail, when: \"input.message == 'mail'\", tool: read_mail, role: program, args: {}}
  - {id: told, say: {text: \"'You said: ' + input.message\", data: \"{'before': size(session.messages)}\", attachment: \"has(input.place) ? input.place : has(input.metadata) && has(input.metadata.place) ? input.metadata.place : null\"}}
  - {id: order, when: \"input.message.startsWith('order')\", set: {mode: \"'ASKS'\"}}
  - {id: ordered, when: \"input.message == 'that is all'\", set: {mode: \"'DONE'\"}}
";
/// Another flow of the pack, which only commands run.
const OTHER_FLOW: &str = "name: other
steps:
  - {id: hello, say: {text: \"'Another flow, asked for ' + input.message\"}}
  - {id: size, ask: {from: \"[{'id': 'size', 'topic': 'size', 'text': 'Which size?', 'schema': {'type': 'string'}}]\"}}
";
const AGENT: &str = "---\nname: thinker\ndescription: Thinks.\nmodel: haiku\n---\nThink.\n";
const POLICY: &str = "roles: {thinker: [], program: [send-letters, read-mail]}
rules:
  - {id: letters, effect: ask, tools: [send_letter], when: \"args.text != 'test' && args.text != 'letter that is lost'\", reason: a letter cannot be taken back, match: [{role: program, tool: send_letter, args: {text: letter}}], not_match: [{role: program, tool: send_letter, args: {text: test}}]}
limits: {max_approval_seconds: 60}
";

/// A model that answers when it is let.
pub struct Slow {
    /// One permit for each call that has begun.
    pub asked: Semaphore,
    /// One permit for each answer.
    pub let_go: Semaphore,
}

impl Model for Slow {
    fn is_paid(&self) -> bool {
        false
    }
    fn call<'a>(
        &'a self,
        _: &'a ModelRequest,
        _: &'a (dyn Fn(&str) + Send + Sync),
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        Box::pin(async {
            self.asked.add_permits(1);
            self.let_go.acquire().await.unwrap().forget();
            Ok(ModelAnswer {
                text: "{\"plan\": \"p\"}".to_owned(),
                tool_calls: Vec::new(),
                usage: Usage::default(),
                finish: agentctl_base::model::Finish::default(),
            })
        })
    }
}

pub struct Desk {
    pub server: Arc<Server>,
    pub address: SocketAddr,
    pub model: Arc<Slow>,
    pub log: Arc<Mutex<Vec<String>>>,
    pub sent: Sent,
    /// So many seconds later than the system's clock is that of the packs.
    pub later: Arc<AtomicI64>,
    _folder: Arc<tempfile::TempDir>,
    stop: Option<oneshot::Sender<()>>,
    served: Option<JoinHandle<io::Result<()>>>,
}

pub fn client(name: &str, how: How) -> Client {
    Client {
        name: name.to_owned(),
        how,
        packs: None,
        tenants: None,
        may: May::ALL.into_iter().map(|(may, _)| may).collect(),
        origins: Vec::new(),
        rate: Rate::new(6000),
        reads: Reads::default(),
        keys: None,
    }
}

pub fn two() -> Vec<Client> {
    vec![
        client("one", How::bearer(TOKEN)),
        client("two", How::basic("demo", "demo")),
    ]
}

fn pack(
    folder: &std::path::Path,
    model: Arc<Slow>,
    manifest: &'static str,
    (sent, later): (&Sent, &Arc<AtomicI64>),
) -> ServedPack {
    let files = [
        ("pack.yaml", manifest),
        ("agents/flow.yaml", FLOW),
        ("agents/other.flow.yaml", OTHER_FLOW),
        ("agents/thinker.md", AGENT),
        ("agents/policy.yaml", POLICY),
    ];
    let files = files.map(|(path, text)| (path.to_owned(), Cow::Borrowed(text.as_bytes())));
    let built_in = BuiltIn::named("desk", vocabulary(), files);
    let pack = load(&built_in, None, folder, &LoadOptions::default()).unwrap();
    let gateway = Gateway::new(&pack, vec![Arc::new(Letters::new(sent))]);
    ServedPack {
        project: Arc::new(
            Project::open(folder)
                .unwrap()
                .with_key(Some(Key::fixed([7; Key::BYTES]))),
        ),
        gateway,
        pack,
        models: Box::new(ChosenModel {
            name: "offline".to_owned(),
            model,
        }),
        effects: Box::new(Clock::new(later)),
        limits: Budgets::default(),
        tools: Some(Arc::new(Bell::default())),
    }
}

impl Desk {
    pub async fn open() -> Desk {
        Desk::with(two(), |_| {}).await
    }

    pub async fn with(clients: Vec<Client>, change: impl FnOnce(&mut Limits)) -> Desk {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        Desk::again(folder, clients, change).await
    }

    /// In a folder where one was before.
    pub async fn again(
        folder: Arc<tempfile::TempDir>,
        clients: Vec<Client>,
        change: impl FnOnce(&mut Limits),
    ) -> Desk {
        Desk::of(MANIFEST, folder, clients, change).await
    }

    /// Of a pack with this pack.yaml.
    pub async fn of(
        manifest: &'static str,
        folder: Arc<tempfile::TempDir>,
        clients: Vec<Client>,
        change: impl FnOnce(&mut Limits),
    ) -> Desk {
        Desk::over(Plain, manifest, folder, clients, change, |server| server).await
    }

    /// Spoken with over these wires, with what `more` adds to the server.
    pub async fn over(
        wires: impl Wires,
        manifest: &'static str,
        folder: Arc<tempfile::TempDir>,
        clients: Vec<Client>,
        change: impl FnOnce(&mut Limits),
        more: impl FnOnce(Server) -> Server,
    ) -> Desk {
        let (sent, later) = (Sent::default(), Arc::default());
        let model = Arc::new(Slow {
            asked: Semaphore::new(0),
            let_go: Semaphore::new(0),
        });
        let real = folder.path().canonicalize().unwrap();
        let marks = Marks::of(Some(Key::fixed([7; Key::BYTES])), &real);
        let sessions = SqliteSessions::open(&real.join("memory"), marks)
            .await
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut limits = Limits {
            hosts: vec![address.to_string()],
            url: format!("http://{address}"),
            ..Limits::default()
        };
        change(&mut limits);
        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let noted = Arc::clone(&log);
        let server = Server::new(
            vec![pack(&real, Arc::clone(&model), manifest, (&sent, &later))],
            Box::new(sessions),
            Clients::new(clients),
            limits,
            Box::new(move |told| noted.lock().unwrap().push(told.line())),
        );
        let server = Arc::new(more(server));
        let (stop, stopped) = oneshot::channel();
        let stopped = async {
            let _ = stopped.await;
        };
        let served = agentctl_serve::serve(listener, wires, Arc::clone(&server), stopped);
        Desk {
            address,
            model,
            log,
            sent,
            later,
            _folder: folder,
            stop: Some(stop),
            served: Some(tokio::spawn(served)),
            server,
        }
    }

    /// Asks the server to stop; returns what is ready when it has.
    pub fn stop(&mut self) -> JoinHandle<io::Result<()>> {
        self.stop.take().unwrap().send(()).unwrap();
        self.served.take().unwrap()
    }

    /// A POST of JSON, as the client with the token.
    pub async fn post(&self, path: &str, body: &Value) -> Got {
        self.post_as(&[("authorization", &format!("Bearer {TOKEN}"))], path, body)
            .await
    }

    pub async fn post_as(&self, headers: &[(&str, &str)], path: &str, body: &Value) -> Got {
        let with = [headers, &[("content-type", "application/json")]].concat();
        self.ask("POST", path, &with, body.to_string().as_bytes())
            .await
    }

    pub async fn get(&self, path: &str) -> Got {
        let header = format!("Bearer {TOKEN}");
        self.ask("GET", path, &[("authorization", &header)], b"")
            .await
    }

    pub async fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Got {
        let mut stream = self.begin(method, path, headers, body).await;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        Got::read(&answer)
    }

    /// Sends a request and reads nothing.
    pub async fn begin(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "host") {
            head += &format!("host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        if !body.is_empty() {
            head += &format!("content-length: {}\r\n", body.len());
        }
        stream
            .write_all(format!("{head}\r\n").as_bytes())
            .await
            .unwrap();
        stream.write_all(body).await.unwrap();
        stream
    }
}

/// An answer.
#[derive(Debug)]
pub struct Got {
    pub status: u16,
    pub head: String,
    pub text: String,
}

impl Got {
    pub fn read(answer: &[u8]) -> Got {
        let answer = String::from_utf8_lossy(answer);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|s| s.parse().ok());
        Got {
            status: status.unwrap_or(0),
            head: head.to_lowercase(),
            text: body.to_owned(),
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().skip(1);
        lines.find_map(|line| line.strip_prefix(&format!("{name}: ")))
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// The data of each event, without the lengths between which they stand.
    pub fn events(&self) -> Vec<String> {
        let lines = self.text.lines();
        lines
            .filter_map(|line| line.strip_prefix("data: "))
            .map(str::to_owned)
            .collect()
    }
}

/// Longer than any of these tests takes; a limit that none of them reaches.
pub const LONG: Duration = Duration::from_secs(60);

pub fn may(what: &[May]) -> BTreeSet<May> {
    what.iter().copied().collect()
}
