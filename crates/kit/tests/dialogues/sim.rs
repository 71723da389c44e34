//! A stand-in for the engine: what `packs/front-door/agents/turn.flow.yaml` does in a turn, with the kit as its model. It goes when
//! the pack's dialogues are played by the engine.

use agentctl_kit::{Said, Task, answer};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

pub fn pack() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packs/front-door")
}

pub fn yaml(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let node = agentctl_base::yaml::read(&text, &path.display().to_string()).unwrap();
    node.to_json()
}

pub struct World {
    pub offline: Value,
    pub data: Map<String, Value>,
}

impl World {
    pub fn new() -> World {
        World::with(&pack().join("data"))
    }
    pub fn with(data: &Path) -> World {
        let files = ["fields", "teams", "texts"].map(|name| {
            let own = data.join(format!("{name}.yaml"));
            let there = if own.exists() {
                own
            } else {
                pack().join("data").join(format!("{name}.yaml"))
            };
            (name.to_owned(), yaml(&there))
        });
        World {
            offline: yaml(&pack().join("agents/offline.yaml")),
            data: files.into_iter().collect(),
        }
    }
    fn text(&self, name: &str, language: &str) -> String {
        let text = &self.data["texts"][name];
        let said = text.as_str().or_else(|| text.get(language)?.as_str());
        said.or_else(|| text["en"].as_str())
            .unwrap_or("")
            .to_owned()
    }
    fn fields(&self) -> &Vec<Value> {
        self.data["fields"].as_array().unwrap()
    }
}

#[derive(Clone)]
pub struct Session {
    pub state: Map<String, Value>,
    pub messages: Vec<Said>,
    /// Messages before this one belong to an earlier request.
    pub told: usize,
    pub language: String,
}

#[derive(Default, Debug)]
pub struct Turn {
    pub route: Option<String>,
    pub said: Vec<String>,
    pub model_calls: u64,
    pub tool_calls: Vec<(String, Value)>,
    /// Rules of the program that an answer broke.
    pub broken: Vec<String>,
}

impl Session {
    pub fn new() -> Session {
        let state = json!({"mode": "CHAT", "collected": {}, "unknown": [], "team": null, "item_url": null, "submission": null});
        Session {
            state: state.as_object().unwrap().clone(),
            messages: Vec::new(),
            told: 0,
            language: "en".into(),
        }
    }
    fn mode(&self) -> String {
        self.state["mode"].as_str().unwrap().to_owned()
    }
    fn clear(&mut self) {
        let language = std::mem::take(&mut self.language);
        let messages = std::mem::take(&mut self.messages);
        *self = Session::new();
        self.language = language;
        self.told = messages.len() + 1;
        self.messages = messages;
    }
}

/// One turn: the message, and whether submitting fails.
pub fn turn(world: &World, session: &mut Session, message: &str, fails: bool) -> Turn {
    let mut turn = Turn::default();
    if message.trim().is_empty() {
        return turn;
    }
    if message.trim().to_lowercase() == "clear context" {
        *session = Session::new();
        turn.said.push(world.text("cleared", "en"));
        return turn;
    }
    play(world, session, message, fails, &mut turn);
    session.messages.push(Said {
        by_user: true,
        text: message.to_owned(),
    });
    for text in &turn.said {
        session.messages.push(Said {
            by_user: false,
            text: text.clone(),
        });
    }
    turn
}

fn ask(
    world: &World,
    session: &mut Session,
    message: &str,
    task: &str,
    contract: Value,
    turn: &mut Turn,
) -> Value {
    turn.model_calls += 1;
    let from = session.told.min(session.messages.len());
    let mut said = session.messages[from..].to_vec();
    said.push(Said {
        by_user: true,
        text: message.to_owned(),
    });
    let answer = answer(Task {
        name: task,
        offline: &world.offline,
        data: &world.data,
        input: &session.state,
        said: &said,
        contract: &contract,
    })
    .unwrap();
    if let Some(language) = answer.get("language").and_then(Value::as_str) {
        session.language = language.to_owned();
    }
    answer
}

fn play(world: &World, session: &mut Session, message: &str, fails: bool, turn: &mut Turn) {
    let cases = match session.mode().as_str() {
        "REVIEW" => json!(["review", "chat"]),
        _ => json!(["elicitation", "chat"]),
    };
    let contract = json!({"properties": {"case": {"enum": cases}, "reasoning": {}}});
    let case = ask(world, session, message, "supervise", contract, turn)["case"].clone();
    turn.route = case.as_str().map(str::to_owned);
    match case.as_str().unwrap() {
        "chat" => {
            let reply = ask(world, session, message, "chat", Value::Null, turn);
            turn.said.push(reply["reply"].as_str().unwrap().to_owned());
        }
        "review" => review(world, session, message, fails, turn),
        _ => elicit(world, session, message, turn),
    }
}

fn review(world: &World, session: &mut Session, message: &str, fails: bool, turn: &mut Turn) {
    let act = ask(world, session, message, "review", Value::Null, turn);
    let said = act["response_to_user"].as_str().unwrap().to_owned();
    match act["action_type"].as_str().unwrap() {
        "confirm" => {
            let args = json!({"team_id": session.state["team"]["id"], "fields": session.state["collected"]});
            turn.tool_calls.push(("submit_request".into(), args));
            if fails {
                turn.said.push(world.text("try_again", &session.language));
            } else {
                let text = world.text("submitted", &session.language);
                turn.said.push(format!("{text} memory/requests/item.json"));
                session.clear();
            }
        }
        "modify" => {
            session.state.insert("mode".into(), "ELICITATION".into());
            if act["changes"] == true {
                elicit(world, session, message, turn);
            } else {
                turn.said.push(said);
            }
        }
        "abandon" => {
            turn.said.push(said);
            session.clear();
        }
        _ => turn.said.push(said),
    }
}

/// What the program holds against the answer of an elicitation.
fn broken(world: &World, session: &Session, message: &str, answer: &Value) -> Vec<String> {
    let own: String = session
        .messages
        .iter()
        .skip(session.told)
        .filter(|s| s.by_user)
        .map(|s| s.text.as_str())
        .chain([message])
        .map(agentctl_base::own_words::own_words)
        .collect::<Vec<_>>()
        .join("\n\n");
    let quoted = |name: &str| {
        let quote = answer["quotes"][name].as_str().unwrap_or("");
        !quote.trim().is_empty() && own.contains(quote)
    };
    let mut broken = Vec::new();
    for (name, value) in answer["updates"].as_object().unwrap() {
        let field = world.fields().iter().find(|f| f["name"] == **name).unwrap();
        if field["ask"] != false && !quoted(name) {
            broken.push(format!("{name} has no quote: {value}"));
        }
        let listed = |v: &Value| {
            let values = field["values"].as_array().unwrap();
            values.iter().any(|l| l == v || l["value"] == *v)
        };
        let fits = match field["type"].as_str().unwrap() {
            "choice" => listed(value),
            "choices" => value.as_array().unwrap().iter().all(listed),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            _ => value.as_str().is_some_and(|v| !v.trim().is_empty()),
        };
        if !fits {
            broken.push(format!("{name} is not of the data: {value}"));
        }
    }
    for name in answer["marked_unknown"].as_array().unwrap() {
        if !quoted(name.as_str().unwrap()) {
            broken.push(format!("{name} is marked unknown without a quote"));
        }
    }
    broken
}

fn elicit(world: &World, session: &mut Session, message: &str, turn: &mut Turn) {
    session.state.insert("mode".into(), "ELICITATION".into());
    let answer = ask(world, session, message, "elicit", Value::Null, turn);
    turn.broken.extend(broken(world, session, message, &answer));
    let said = answer["followup_response"].as_str().unwrap().to_owned();
    turn.said.push(said);
    if answer["user_wants_to_abandon"] == true {
        session.clear();
        return;
    }
    let updates = answer["updates"].as_object().unwrap().clone();
    let marked = answer["marked_unknown"].as_array().unwrap().clone();
    let mut unknown = session.state["unknown"].as_array().unwrap().clone();
    let collected = session.state["collected"].as_object_mut().unwrap();
    for name in &marked {
        collected.remove(name.as_str().unwrap());
    }
    unknown.extend(
        marked
            .into_iter()
            .filter(|m| !unknown.contains(m))
            .collect::<Vec<_>>(),
    );
    unknown.retain(|u| !updates.contains_key(u.as_str().unwrap()));
    collected.extend(updates);
    let known = collected.clone();
    let missing = world.fields().iter().any(|f| {
        let name = f["name"].as_str().unwrap();
        f["required"] == true && !known.contains_key(name) && !unknown.iter().any(|u| u == name)
    });
    session.state.insert("unknown".into(), unknown.into());
    if !missing {
        matched(world, session, message, turn);
    }
}

fn matched(world: &World, session: &mut Session, message: &str, turn: &mut Turn) {
    let team = ask(world, session, message, "match_team", Value::Null, turn)["team_id"].clone();
    let teams = world.data["teams"].as_array().unwrap();
    let Some(team) = teams.iter().find(|t| t["id"] == team) else {
        let reply = ask(world, session, message, "no_match", Value::Null, turn);
        turn.said.push(reply["reply"].as_str().unwrap().to_owned());
        session.state.insert("team".into(), Value::Null);
        session.state.insert("mode".into(), "CHAT".into());
        return;
    };
    let language = session.language.clone();
    let of = |text: &Value| {
        let said = text.as_str().or_else(|| text.get(&language)?.as_str());
        said.or_else(|| text["en"].as_str())
            .unwrap_or("")
            .to_owned()
    };
    let mut lines = vec![world.text("review", &language)];
    for field in world.fields() {
        let name = field["name"].as_str().unwrap();
        let value = match &session.state["collected"][name] {
            Value::String(text) => text.clone(),
            Value::Array(list) => {
                let words: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
                words.join(", ")
            }
            value @ (Value::Number(_) | Value::Bool(_)) => value.to_string(),
            _ if session.state["unknown"]
                .as_array()
                .unwrap()
                .iter()
                .any(|u| u == name) =>
            {
                world.text("unknown", &language)
            }
            _ => continue,
        };
        lines.push(format!("- **{}:** {value}", of(&field["label"])));
    }
    lines.push(format!(
        "- **{}:** {}",
        world.text("team", &language),
        team["name"].as_str().unwrap()
    ));
    lines.push(world.text("happy", &language));
    turn.said.push(lines.join("\n"));
    session.state.insert(
        "team".into(),
        json!({"id": team["id"], "name": team["name"]}),
    );
    session.state.insert("mode".into(), "REVIEW".into());
}
