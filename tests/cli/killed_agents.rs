//! A server of agents that is killed in the middle of a stream, and while a task asks something: the next one goes on with the task, and
//! nothing is done twice. What is pushed meanwhile: `pushed.rs`.

use crate::serving::{Served, TOKEN};
use crate::support::Project;
use crate::wire::{Reply, Server};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;

const CALL: &str = "/agents/slow/a2a";
const FILES: [(&str, &str); 4] = [
    (
        "pack.yaml",
        "name: slow\ntitle: Looks something up\nchannels: {on_restart: finish}\n",
    ),
    (
        "agents/flow.yaml",
        "name: slow
steps:
  - {id: asked, when: input.message == 'ask', ask: {questions: [{id: colour, topic: colour, text: \"'Which colour?'\"}]}}
  - {id: look, when: input.message == 'look', tool: look, role: program, args: {}}
  - {id: told, say: {text: \"has(answers.colour) ? 'In ' + answers.colour : 'Looked up'\"}}
",
    ),
    (
        "agents/policy.yaml",
        "roles: {program: [look]}\nrules: []\nlimits: {max_approval_seconds: 60}\n",
    ),
    (
        "tools/look/tool.yaml",
        "tool_id: look\nname: Look\ndescription: Looks something up. Use it to look.\ncategory: processing\nkeywords: [look]
parameters: {}\nkind: http\neffect: reads\nhttp: {method: GET, url: \"${LOOK_URL}/look\"}\nlimits: {timeout_s: 60}\n",
    ),
];

struct Agents {
    project: Project,
    url: String,
}

impl Agents {
    fn new(looked: &Server) -> Agents {
        let project = Project::new();
        for (path, text) in FILES {
            project.write(&format!("packs/slow/{path}"), text);
        }
        project.write("agentctl.toml", "[serve]\npacks = [\"slow\"]\n");
        let own = "[tools]\nallow_addresses = [\"127.0.0.1\"]\n";
        std::fs::write(project.home().join("config.toml"), own).unwrap();
        let url = looked.url("").trim_end_matches('/').to_owned();
        Agents { project, url }
    }

    fn serve(&self) -> Served {
        let mut command = Served::command(&self.project);
        command.env_remove("AGENTCTL_TOOLS");
        command.env("AGENTCTL_CONFIG", self.project.home().join("config.toml"));
        command.env("LOOK_URL", &self.url);
        Served::of(command)
    }
}

fn said(text: &str, id: &str, task: Option<&str>) -> Value {
    json!({"message": {"messageId": id, "taskId": task, "role": "ROLE_USER", "parts": [{"text": text}]}})
}

fn asked(served: &Served, method: &str, params: &Value) -> Value {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    served.call(CALL, &call.to_string()).1["result"].clone()
}

/// The events of a stream, until it ends or breaks off.
fn events(served: &Served, method: &str, params: &Value) -> impl Iterator<Item = Value> + use<> {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let mut stream = TcpStream::connect(&served.address).unwrap();
    write!(
        stream,
        "POST {CALL} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\nauthorization: Bearer {TOKEN}\r\na2a-version: 1.0\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{call}",
        served.address,
        call.len()
    )
    .unwrap();
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    lines.filter_map(|line| {
        let event: Value = serde_json::from_str(line.strip_prefix("data:")?).unwrap();
        Some(event["result"].clone())
    })
}

#[test]
fn a_task_whose_server_was_killed_in_the_middle_of_its_stream_is_watched_to_its_end() {
    let looked = Server::new(vec![
        Reply::text("{}").hanging(),
        Reply::text("{\"found\": true}"),
    ]);
    let agents = Agents::new(&looked);
    let first = agents.serve();
    let message = said("look", "m-1", None);
    let mut stream = events(&first, "SendStreamingMessage", &message);
    let task = stream.next().unwrap()["task"].clone();
    while looked.seen().is_empty() {
        std::thread::yield_now();
    }
    // SIGKILL, with the call on its way and the stream open.
    drop(first);
    let state = |event: &Value| event["statusUpdate"]["status"]["state"].clone();
    assert!(stream.all(|event| state(&event) != "TASK_STATE_COMPLETED"));

    let second = agents.serve();
    let told: Vec<Value> = events(&second, "SubscribeToTask", &json!({"id": task["id"]})).collect();
    let done = asked(&second, "GetTask", &json!({"id": task["id"]}));
    assert_eq!(done["status"]["state"], "TASK_STATE_COMPLETED", "{done}");
    assert_eq!(done["artifacts"][0]["parts"][0]["text"], "Looked up");
    // It was at its end already, or was told first and then to its end.
    assert!(
        told.iter().all(Value::is_null)
            || told[0]["task"]["id"] == task["id"]
                && told.last().map(state) == Some("TASK_STATE_COMPLETED".into()),
        "{told:#?}"
    );
    // The same message is the same task, and nothing more is looked up.
    let again = asked(&second, "SendMessage", &message);
    assert_eq!(again["task"]["id"], task["id"]);
    assert_eq!(looked.seen().len(), 2);
}

#[test]
fn a_question_outlives_the_server_that_asked_it() {
    let agents = Agents::new(&Server::new(Vec::new()));
    let first = agents.serve();
    let waits = asked(&first, "SendMessage", &said("ask", "m-1", None))["task"].clone();
    assert_eq!(waits["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
    drop(first);

    let second = agents.serve();
    let stands = asked(&second, "GetTask", &json!({"id": waits["id"]}));
    assert_eq!(stands["status"], waits["status"]);
    let answer = said("blue", "m-2", waits["id"].as_str());
    let done = asked(&second, "SendMessage", &answer)["task"].clone();
    drop(second);

    let third = agents.serve();
    let stands = asked(&third, "GetTask", &json!({"id": waits["id"]}));
    assert_eq!(
        (
            &stands["status"]["state"],
            &stands["artifacts"][0]["parts"][0]["text"]
        ),
        (&json!("TASK_STATE_COMPLETED"), &json!("In blue"))
    );
    // The answer that is sent again, since nobody knows whether it came, is the same one.
    assert_eq!(asked(&third, "SendMessage", &answer)["task"], done);
}
