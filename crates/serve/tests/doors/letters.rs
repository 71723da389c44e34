//! A tool that sends letters, for packs that may not send one without being asked; and a clock that tests move.

use agentctl_base::BoxFuture;
use agentctl_engine::run::{Effects, System};
use agentctl_engine::store::{Event, SnapshotRef};
use agentctl_engine::toolset::{
    Act, Answer, Change, Cx, Fault, Head, Keep, Outcome, Parsed, Performed, Plan, Planning, Read,
    Settling, Toolset, Touches,
};
use agentctl_engine::vocabulary::{Capability, Does, NamedTool, Vocabulary, Words};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};
use std::future::ready;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

const TOOL: &str = "send_letter";
/// Nobody hears what became of it.
pub const LOST: &str = "letter that is lost";
const SENDS: Capability = Capability::named("send-letters");
/// Nobody ever writes, so this never answers.
const MAIL: &str = "read_mail";
const READS: Capability = Capability::named("read-mail");

pub fn vocabulary() -> Vocabulary {
    let named = NamedTool {
        name: TOOL,
        capability: SENDS,
        changes: true,
    };
    let mail = NamedTool {
        name: MAIL,
        capability: READS,
        changes: false,
    };
    Vocabulary::new(Words {
        tools: vec![named, mail],
        capabilities: vec![(SENDS, Does::Change), (READS, Does::Read)],
        ..Words::default()
    })
    .unwrap()
}

/// What was sent, and that mail is waited for.
pub type Sent = Arc<Mutex<Vec<String>>>;

pub struct Letters {
    heads: [Head; 2],
    sent: Sent,
}

impl Letters {
    pub fn new(sent: &Sent) -> Letters {
        let head = Head::new(
            TOOL,
            SENDS,
            "Send a letter.",
            || json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}),
        );
        let mail = Head::new(MAIL, READS, "Read the mail.", || json!({"type": "object"}));
        Letters {
            heads: [
                Head {
                    changes: true,
                    ..head
                },
                mail,
            ],
            sent: Arc::clone(sent),
        }
    }
}

struct Mail(Sent);

impl Read for Mail {
    fn run<'a>(&'a self, _: &'a mut Cx<'_>) -> BoxFuture<'a, Answer> {
        self.0.lock().unwrap().push(MAIL.to_owned());
        Box::pin(std::future::pending())
    }
}

struct Letter {
    text: String,
    sent: Sent,
}

impl Toolset for Letters {
    fn backend(&self) -> &str {
        "post"
    }
    fn tools(&self) -> &[Head] {
        &self.heads
    }
    fn parse(&self, tool: &str, args: Map<String, Value>) -> Result<Parsed, String> {
        if tool == MAIL {
            return Ok(Parsed::Read(Box::new(Mail(Arc::clone(&self.sent)))));
        }
        Ok(Parsed::Change(Box::new(Letter {
            text: args["text"].as_str().unwrap().to_owned(),
            sent: Arc::clone(&self.sent),
        })))
    }
    fn settle<'a>(
        &'a self,
        _: &'a mut Cx<'_>,
        _: &'a Event,
    ) -> BoxFuture<'a, Result<Settling, Fault>> {
        Box::pin(ready(Ok(Settling::Unknown("nobody knows".to_owned()))))
    }
}

impl Change for Letter {
    fn plan<'a>(&'a self, _: &'a mut Cx<'_>, _: &'a Value) -> BoxFuture<'a, Planning> {
        let sending = Letter {
            text: self.text.clone(),
            sent: Arc::clone(&self.sent),
        };
        Box::pin(ready(Ok(Ok(Plan::unguarded(Box::new(sending))))))
    }
}

impl Act for Letter {
    fn touches(&self) -> Touches {
        Touches::Nothing
    }
    fn keep(&self) -> Option<Keep> {
        None
    }
    fn perform<'a>(&'a mut self, _: Option<&'a SnapshotRef>) -> BoxFuture<'a, Performed> {
        self.sent.lock().unwrap().push(self.text.clone());
        if self.text == LOST {
            return Box::pin(std::future::pending());
        }
        Box::pin(ready((Ok(Outcome::Ok(json!({"sent": true}))), None)))
    }
}

/// The system's, so many seconds later.
#[derive(Default)]
pub struct Clock {
    system: System,
    later: Arc<AtomicI64>,
}

impl Clock {
    pub fn new(later: &Arc<AtomicI64>) -> Clock {
        Clock {
            later: Arc::clone(later),
            ..Clock::default()
        }
    }
}

impl Effects for Clock {
    fn now(&self) -> Timestamp {
        self.system.now() + SignedDuration::from_secs(self.later.load(Ordering::SeqCst))
    }
    fn new_id(&self) -> String {
        self.system.new_id()
    }
    fn pid(&self) -> u32 {
        self.system.pid()
    }
    fn elapsed_ms(&self) -> u64 {
        self.system.elapsed_ms()
    }
}
