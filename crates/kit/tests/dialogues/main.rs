//! The dialogues of packs/front-door/tests, played with the kit as the model: what share of their expectations holds.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod properties;
mod sim;

use serde_json::{Map, Value, json};
use sim::{Session, Turn, World, turn, yaml};
use std::path::{Path, PathBuf};

/// One expectation: what it is, and why it does not hold.
type Item = (String, Option<String>);

fn list(value: &Value) -> Vec<Value> {
    value
        .as_array()
        .cloned()
        .unwrap_or_else(|| vec![value.clone()])
}

fn same(a: &Value, b: &Value) -> bool {
    let bare = |v: &Value| {
        v.as_str()
            .map(|s| s.trim_end_matches(['.', '!']).to_lowercase())
    };
    a == b || bare(a).is_some() && bare(a) == bare(b)
}

/// Whether a value is as it is expected.
fn fits(spec: &Value, value: &Value) -> bool {
    let said = match value {
        Value::String(s) => s.clone(),
        Value::Array(list) => list
            .iter()
            .filter_map(Value::as_str)
            .collect::<Vec<_>>()
            .join(", "),
        other => other.to_string(),
    };
    match spec {
        Value::Null => value.is_null(),
        Value::Array(wanted) => {
            let has = list(value);
            has.len() == wanted.len() && wanted.iter().all(|w| has.iter().any(|h| same(w, h)))
        }
        Value::Object(spec) => spec.iter().all(|(key, wanted)| match key.as_str() {
            "matches" => regex::Regex::new(&format!("(?i){}", wanted.as_str().unwrap()))
                .unwrap()
                .is_match(&said),
            "contains" => list(wanted)
                .iter()
                .all(|w| list(value).iter().any(|v| same(v, w))),
            "any_of" => list(wanted).iter().any(|w| fits(w, value)),
            "present" => !value.is_null(),
            key => value.get(key).is_some_and(|v| fits(wanted, v)),
        }),
        spec => same(spec, value),
    }
}

fn check(expect: &Map<String, Value>, before: &Session, after: &Session, turn: &Turn) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    let mut item =
        |name: String, holds: bool, got: String| items.push((name, (!holds).then_some(got)));
    let route = turn.route.clone().map_or(Value::Null, Value::from);
    let all = turn.said.join("\n");
    let collected = |s: &Session| s.state["collected"].as_object().unwrap().clone();
    for (key, wanted) in expect {
        match key.as_str() {
            "route" => item(
                key.clone(),
                list(wanted).iter().any(|w| fits(w, &route)),
                format!("{route}"),
            ),
            "mode" => item(
                key.clone(),
                list(wanted).iter().any(|w| fits(w, &after.state["mode"])),
                after.state["mode"].to_string(),
            ),
            "team" => item(
                key.clone(),
                fits(wanted, &after.state["team"]),
                after.state["team"].to_string(),
            ),
            "fields" => {
                let fields = wanted.as_object().unwrap();
                if fields.is_empty() {
                    item(
                        "no fields".into(),
                        collected(after).is_empty(),
                        format!("{:?}", collected(after)),
                    );
                }
                for (name, spec) in fields {
                    let value = after.state["collected"]
                        .get(name)
                        .cloned()
                        .unwrap_or(Value::Null);
                    item(
                        format!("fields.{name}"),
                        fits(spec, &value),
                        format!("{value}, expected {spec}"),
                    );
                }
            }
            "unknown" => {
                let holds = fits(wanted, &after.state["unknown"]);
                item(key.clone(), holds, after.state["unknown"].to_string());
            }
            "kept" => {
                let but = wanted.get("but").map(list).unwrap_or_default();
                let names = collected(before)
                    .into_iter()
                    .filter(|(n, _)| n != "title" && !but.iter().any(|b| b == n));
                let lost: Vec<String> = names
                    .filter(|(n, v)| after.state["collected"].get(n) != Some(v))
                    .map(|(n, _)| n)
                    .collect();
                item(key.clone(), lost.is_empty(), format!("{lost:?}"));
            }
            "said" | "not_said" => {
                for spec in list(wanted) {
                    let spec = match spec {
                        Value::String(text) => json!({"matches": regex::escape(&text)}),
                        spec => spec,
                    };
                    let holds = fits(&spec, &Value::from(all.clone())) == (key == "said");
                    item(format!("{key} {spec}"), holds, all.clone());
                }
            }
            "cleared" => {
                let empty = collected(after).is_empty() && after.state["team"].is_null();
                item(
                    key.clone(),
                    empty && !collected(before).is_empty(),
                    format!("{:?}", collected(after)),
                );
            }
            "messages_kept" => {
                let more = after.messages.len() > before.messages.len();
                item(
                    key.clone(),
                    more == wanted.as_bool().unwrap(),
                    after.messages.len().to_string(),
                );
            }
            "model_calls" => item(
                key.clone(),
                json!(turn.model_calls) == *wanted,
                turn.model_calls.to_string(),
            ),
            "tool_calls" => {
                let made = &turn.tool_calls;
                let holds = match wanted {
                    Value::Array(calls) => {
                        calls.len() == made.len()
                            && calls.iter().zip(made).all(|(c, (tool, args))| {
                                c["tool"] == **tool
                                    && c.get("args").is_none_or(|wanted| fits(wanted, args))
                            })
                    }
                    n => json!(made.len()) == *n,
                };
                item(key.clone(), holds, format!("{made:?}"));
            }
            "submissions" => {}
            other => panic!("unknown expectation {other}"),
        }
    }
    item(
        "grounded".into(),
        turn.broken.is_empty(),
        turn.broken.join("; "),
    );
    items
}

fn begins(file: &Value, name: &Value) -> Session {
    let mut session = Session::new();
    let given = &file["given"][name.as_str().unwrap()];
    session.language = given["language"].as_str().unwrap().to_owned();
    for (key, value) in given["state"].as_object().unwrap() {
        session.state.insert(key.clone(), value.clone());
    }
    for message in given["messages"].as_array().unwrap() {
        session.messages.push(agentctl_kit::Said {
            by_user: message["role"] == "user",
            text: message["text"].as_str().unwrap().to_owned(),
        });
    }
    session
}

/// Plays a file: how many expectations hold of how many, and what does not.
fn play(world: &World, file: &Path, told: bool) -> (usize, usize, String) {
    let file = yaml(file);
    let (mut held, mut all, mut log) = (0, 0, String::new());
    for dialogue in file["dialogues"].as_array().unwrap() {
        let mut session = match &dialogue["begins"] {
            Value::Null => Session::new(),
            name => begins(&file, name),
        };
        for (n, spec) in dialogue["turns"].as_array().unwrap().iter().enumerate() {
            let before = session.clone();
            let turn = match spec.get("say").and_then(Value::as_str) {
                Some(say) => turn(world, &mut session, say, spec.get("fails").is_some()),
                None => Turn {
                    said: vec![
                        world.data["texts"]["welcome"]["en"]
                            .as_str()
                            .unwrap()
                            .to_owned(),
                    ],
                    ..Turn::default()
                },
            };
            for (name, why) in check(
                spec["expect"].as_object().unwrap(),
                &before,
                &session,
                &turn,
            ) {
                all += 1;
                held += usize::from(why.is_none());
                if let Some(why) = why.filter(|_| told) {
                    let title = dialogue["name"].as_str().unwrap();
                    log.push_str(&format!(
                        "{title} [{}] {name}: {why}\n     {spec}\n     => {:?} {:?}\n",
                        n + 1,
                        turn.route,
                        turn.said
                    ));
                }
            }
        }
    }
    (held, all, log)
}

fn tests() -> PathBuf {
    sim::pack().join("tests")
}

#[test]
fn the_packs_own_dialogues_hold() {
    let (mut held, mut all, mut log) = (0, 0, String::new());
    for file in ["happy.yaml", "details.yaml", "talk.yaml"] {
        let (h, a, l) = play(&World::new(), &tests().join(file), true);
        (held, all) = (held + h, all + a);
        log.push_str(&l);
    }
    assert!(held * 100 >= all * 95, "{held} of {all}\n{log}");
}

#[test]
fn those_that_nobody_looked_at_hold_as_well() {
    let (held, all, _) = play(&World::new(), &tests().join("blind.yaml"), false);
    assert!(held * 100 >= all * 95, "{held} of {all}");
}

#[test]
fn another_offices_fields_and_teams_need_no_other_program() {
    let office = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dialogues/office");
    let world = World::with(&office.join("data"));
    let (held, all, log) = play(&world, &office.join("dialogues.yaml"), true);
    assert_eq!(held, all, "{log}");
}

/// A file of `others/`: how many expectations hold of how many, and what does not.
fn other(name: &str) -> (usize, usize, String) {
    let others = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dialogues/others");
    let data = others.join(name).join("data");
    match data.exists() {
        true => play(
            &World::with(&data),
            &others.join(name).join("dialogues.yaml"),
            true,
        ),
        false => play(&World::new(), &others.join(name), true),
    }
}

#[test]
fn other_offices_and_other_voices_hold() {
    for name in [
        "voices.yaml",
        "fresh.yaml",
        "clinic",
        "town",
        "winery",
        "museum",
    ] {
        let (held, all, log) = other(name);
        assert!(held * 100 >= all * 95, "{name}: {held} of {all}\n{log}");
    }
}
