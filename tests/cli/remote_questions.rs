//! Another agent that asks something before it says anything: the run waits with its question, the answer goes on in its task, and a
//! process that is killed in between loses neither.

use crate::support::{Project, Ran};
use agentctl_testkit::fake_http::{Asked, Request, response, serve};
use serde_json::{Value, json};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const QUESTION: &str = "How long is the heating network of Norrfeld?";

/// How the agent's one task stands.
#[derive(Clone, Copy, PartialEq)]
enum Stands {
    Asks(&'static str),
    Works,
    Done,
}

/// The agent: asks two questions, and works on the second answer until it is let go.
struct Peer {
    task: Mutex<Stands>,
    /// It comes to its end by itself.
    at_once: bool,
}

impl Peer {
    fn answers(&self, request: &Request) -> Vec<u8> {
        if request.line.starts_with("GET") {
            return ok(&card(request));
        }
        let mut task = self.task.lock().unwrap();
        let message = &request.body["params"]["message"];
        let text = message["parts"][0]["text"].as_str().unwrap_or_default();
        let sends = request.body["method"] == "SendMessage";
        match (sends, message["taskId"].as_str(), text, *task) {
            (false, ..) => {}
            (true, None, ..) => *task = Stands::Asks("Which network do you mean?"),
            (true, Some("t-1"), "that of Norrfeld", Stands::Asks("Which network do you mean?")) => {
                *task = Stands::Asks("Heat or power? And your password?");
            }
            (true, Some("t-1"), _, Stands::Asks("Heat or power? And your password?")) => {
                *task = match self.at_once {
                    true => Stands::Done,
                    false => Stands::Works,
                };
            }
            _ => return response("400 Bad Request", "", b""),
        }
        let whole = told(*task);
        let result = match sends {
            true => json!({"task": whole}),
            false => whole,
        };
        ok(&json!({"jsonrpc": "2.0", "id": request.body["id"], "result": result}))
    }
}

fn ok(value: &Value) -> Vec<u8> {
    let head = "content-type: application/json\r\n";
    response("200 OK", head, value.to_string().as_bytes())
}

fn card(request: &Request) -> Value {
    let mut lines = request.head.lines();
    let host = lines.find_map(|line| line.strip_prefix("host: ")).unwrap();
    json!({
        "name": "tech", "description": "Answers.", "version": "1", "capabilities": {},
        "supportedInterfaces": [{"url": format!("http://{host}/a2a"), "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]
    })
}

fn told(task: Stands) -> Value {
    let claim = json!({"id": "heat-01#1", "text": "The district heating network of Norrfeld is 148 kilometres long.", "sources": ["heat-01#1"]});
    let (status, artifacts) = match task {
        Stands::Asks(words) => {
            let message =
                json!({"messageId": words, "role": "ROLE_AGENT", "parts": [{"text": words}]});
            (
                json!({"state": "TASK_STATE_INPUT_REQUIRED", "message": message}),
                json!([]),
            )
        }
        Stands::Works => (json!({"state": "TASK_STATE_WORKING"}), json!([])),
        Stands::Done => (
            json!({"state": "TASK_STATE_COMPLETED"}),
            json!([{"artifactId": "a", "parts": [{"data": {"claims": [claim]}}]}]),
        ),
    };
    json!({"id": "t-1", "contextId": "c-1", "status": status, "artifacts": artifacts})
}

/// A project whose team has the agent in it.
struct Team {
    project: Project,
    peer: Arc<Peer>,
    log: Asked,
}

impl Team {
    async fn new(at_once: bool) -> Team {
        let peer = Arc::new(Peer {
            task: Mutex::new(Stands::Works),
            at_once,
        });
        let script = Arc::clone(&peer);
        let (address, log) = serve(move |request| script.answers(request)).await;
        let project = Project::new();
        let file = json!({
            "id": "asking",
            "agents": {"technology-agent": {"a2a": "tech", "effect": "reads"}},
            "steps": [
                {"id": "analyse", "pattern": "parallel", "agents": ["technology-agent", "economic-agent"]},
                {"id": "check", "pattern": "sequential", "agents": ["fact-checking-agent"]}
            ]
        });
        project.write("asking.json", &file.to_string());
        let settings = format!("[a2a.agents.tech]\nurl = \"{address}\"\n");
        std::fs::write(project.home().join("config.toml"), settings).unwrap();
        let team = Team { project, peer, log };
        assert_eq!(team.run(&["a2a", "approve", "tech"]).code, 0);
        team
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.project.command(args);
        command.env_remove("AGENTCTL_TOOLS");
        command.env("AGENTCTL_CONFIG", self.project.home().join("config.toml"));
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.command(args).output().unwrap().into()
    }

    /// Begins, and answers the first question.
    fn asked_twice(&self) {
        let begun = self.run(&["run", "research", QUESTION, "--orchestrator", "asking.json"]);
        waits(&begun, "Which network do you mean?");
        let again = self.run(&["answer", "tech=that of Norrfeld"]);
        waits(&again, "Heat or power? And your password?");
        let whose = "This question comes from the agent tech, not from agentctl.";
        let all = format!("{}{}", again.stdout, again.stderr);
        assert!(
            all.contains(whose) && all.contains("Warning: it asks for a password"),
            "{all}"
        );
    }

    /// What was said in the task, in order: its id and the words.
    fn said(&self) -> Vec<(Value, Value)> {
        let bodies = self.log.bodies().into_iter();
        let messages = bodies.filter(|body| body["method"] == "SendMessage");
        messages
            .map(|body| {
                let message = &body["params"]["message"];
                (
                    message["taskId"].clone(),
                    message["parts"][0]["text"].clone(),
                )
            })
            .collect()
    }

    fn times(&self, method: &str) -> usize {
        let bodies = self.log.bodies().into_iter();
        bodies.filter(|body| body["method"] == method).count()
    }
}

fn waits(ran: &Ran, words: &str) {
    let all = format!("{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.code, 4, "{all}");
    assert!(all.contains(words), "{all}");
}

fn researched(ran: &Ran) {
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let output = &ran.json()["output"];
    assert_eq!(output["agents"]["technology-agent"]["status"], "completed");
    assert_eq!(output["agents"]["economic-agent"]["status"], "completed");
    assert_eq!(output["claims"][0]["verdict"], "supported", "{output:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_agent_asks_the_user_is_asked_and_the_answer_goes_on_in_its_task() {
    let team = Team::new(true).await;
    team.asked_twice();
    let done = team.run(&["answer", "tech=heat", "--output-format", "json"]);
    researched(&done);
    // What is typed where a stranger asks for a password goes nowhere.
    assert_eq!(
        team.said(),
        [
            (Value::Null, QUESTION.into()),
            ("t-1".into(), "that of Norrfeld".into()),
            ("t-1".into(), "[redacted:answer]".into())
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_killed_with_the_answer_on_its_way_answers_once() {
    let team = Team::new(false).await;
    team.asked_twice();
    let looked = team.times("GetTask");
    let mut child = team.command(&["answer", "tech=heat"]);
    let mut child = child
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let late = Instant::now() + Duration::from_secs(60);
    // Once before the answer, which is taken by then; and it waits for what comes of it.
    while team.times("GetTask") < looked + 2 {
        assert!(Instant::now() < late, "the answer never came");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    child.kill().unwrap();
    child.wait().unwrap();
    *team.peer.task.lock().unwrap() = Stands::Done;

    researched(&team.run(&["resume", "--output-format", "json"]));
    assert_eq!(team.said().len(), 3, "{:?}", team.said());
    let verified = team.run(&["runs", "verify"]);
    assert_eq!(verified.code, 0, "{}", verified.stdout);
}
