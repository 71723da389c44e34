//! The published schemas of answers: each command has one, and every answer in JSON that a test of this suite is given by
//! [`super::support::Project::run`] is held against it, whatever the test is about.

use super::support::{Project, Ran};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

/// Commands without an answer in JSON, and what they give instead.
const WITHOUT: &[(&str, &str)] = &[
    ("completions", "a script for a shell"),
    ("man", "files"),
    ("mcp serve", "the protocol"),
    (
        "schema",
        "a schema, or the list of them, which is its own test",
    ),
    ("worker", "turns, to whom Restate hands their replies"),
];

/// The name of what a command answers when it could not do its work.
const ERROR: &str = "error";

struct Schema {
    commands: Vec<String>,
    compiled: jsonschema::Validator,
}

/// By name.
static SCHEMAS: LazyLock<BTreeMap<String, Schema>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schemas");
    let mut schemas = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_str().unwrap();
        let Some(name) = file.strip_suffix(".schema.json") else {
            continue;
        };
        let text = std::fs::read_to_string(&path).unwrap();
        let mut schema: Value = serde_json::from_str(&text).unwrap();
        close(&mut schema);
        let commands = schema["x-commands"].as_array().into_iter().flatten();
        let commands = commands.map(|c| c.as_str().unwrap().to_owned()).collect();
        let compiled = jsonschema::validator_for(&schema).unwrap();
        schemas.insert(name.to_owned(), Schema { commands, compiled });
    }
    schemas
});

/// Programs that read an answer must bear keys that come in a later version; here each key has to be named.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            let of_object = map.get("type").is_some_and(|kind| {
                *kind == "object"
                    || kind
                        .as_array()
                        .is_some_and(|all| all.contains(&"object".into()))
            });
            let named = map.get("properties").is_some_and(Value::is_object);
            if of_object && named && !map.contains_key("additionalProperties") {
                map.insert("additionalProperties".into(), Value::Bool(false));
            }
            map.values_mut().for_each(close);
        }
        Value::Array(all) => all.iter_mut().for_each(close),
        _ => {}
    }
}

/// Of a run's question it answers as the run does, of a conversation's as the conversation does.
const SEVERAL: [&str; 1] = ["answer"];

/// The command that was typed, as the schemas call it.
fn command(args: &[&str]) -> Option<String> {
    const WITH_VALUE: [&str; 5] = [
        "--project",
        "--pack",
        "--output-format",
        "--backend",
        "--color",
    ];
    let mut words = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg {
            arg if WITH_VALUE.contains(arg) => drop(args.next()),
            arg if arg.starts_with('-') && words.is_empty() => {}
            arg => words.push(*arg),
        }
    }
    let known = SCHEMAS.values().flat_map(|schema| &schema.commands);
    let known: Vec<&str> = known
        .map(String::as_str)
        .chain(WITHOUT.iter().map(|(name, _)| *name))
        .collect();
    let typed = |length: usize| words.get(..length).map(|words| words.join(" "));
    let typed = [3, 2, 1].into_iter().filter_map(typed);
    // A command that answers in another form where it is told so.
    let way = (words.first() == Some(&"qa") && words.contains(&"--explain"))
        .then(|| "qa --explain".to_owned());
    way.into_iter()
        .chain(typed)
        .find(|typed| known.contains(&typed.as_str()))
}

/// Holds an answer against the schema of its command.
pub fn held(args: &[&str], ran: &Ran) {
    let is_json = args
        .windows(2)
        .any(|two| two == ["--output-format", "json"])
        || args.contains(&"--output-format=json");
    let Ok(answer) = serde_json::from_str::<Value>(&ran.stdout) else {
        return;
    };
    if !is_json {
        return;
    }
    let name = command(args);
    let is_error = answer["error"].is_object() && answer["type"] == "result";
    let schemas: Vec<_> = match (&name, is_error) {
        (_, true) => vec![SCHEMAS.get(ERROR).unwrap()],
        (Some(name), false) if WITHOUT.iter().any(|(without, _)| without == name) => return,
        (Some(name), false) => {
            let of = SCHEMAS.values();
            of.filter(|schema| schema.commands.contains(name)).collect()
        }
        (None, false) => panic!("{args:?} answers in JSON and has no schema: {answer:#}"),
    };
    // A command that answers in several forms answers in one of them.
    let wrong = schemas.iter().map(|schema| {
        let wrong = schema.compiled.iter_errors(&answer);
        wrong
            .map(|e| format!("{}: {e}", e.instance_path()))
            .collect::<Vec<_>>()
    });
    let least = wrong.min_by_key(Vec::len).unwrap();
    assert_eq!(least, [""; 0], "{args:?}: {answer:#}");
}

/// The commands that `--help` lists, down to those that have none below them.
fn walk(project: &Project, above: &[&str], found: &mut Vec<String>) {
    let help = project.run(&[above, &["--help"]].concat()).stdout;
    let mut lines = help.lines().skip_while(|line| *line != "Commands:");
    lines.next();
    let below: Vec<String> = lines
        .take_while(|line| line.is_empty() || line.starts_with(' '))
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect();
    if below.is_empty() {
        found.push(above.join(" "));
    }
    for name in &below {
        walk(project, &[above, &[name.as_str()]].concat(), found);
    }
}

#[test]
fn every_command_has_one_schema_or_says_why_not() {
    let project = Project::new();
    let mut commands = Vec::new();
    walk(&project, &[], &mut commands);
    assert!(commands.len() > 100, "{commands:?}");
    let of = |command: &str| {
        let with = SCHEMAS.iter();
        let with = with.filter(|(_, schema)| schema.commands.iter().any(|c| c == command));
        let without = WITHOUT.iter().filter(|(name, _)| *name == command);
        with.map(|(name, _)| name.clone())
            .chain(without.map(|(_, why)| (*why).to_owned()))
            .collect::<Vec<_>>()
    };
    let wrong: Vec<(&String, Vec<String>)> = commands
        .iter()
        .map(|command| (command, of(command)))
        .filter(|(command, of)| of.len() != 1 + usize::from(SEVERAL.contains(&command.as_str())))
        .collect();
    assert!(wrong.is_empty(), "not one schema each: {wrong:#?}");
    // None is of a command that there is not.
    for schema in SCHEMAS.values() {
        for command in &schema.commands {
            let (command, _) = command.split_once(" --").unwrap_or((command, ""));
            assert!(commands.iter().any(|known| known == command), "{command}");
        }
    }
}

#[test]
fn the_page_lists_every_schema_as_the_command_does() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schemas/README.md");
    let page = std::fs::read_to_string(page).unwrap();
    let project = Project::new();
    let listed = project.run(&["schema", "--output-format", "json"]).json();
    let listed = listed["schemas"].as_array().unwrap();
    let rows: Vec<String> = listed
        .iter()
        .map(|one| {
            let (name, of) = (one["name"].as_str().unwrap(), one["of"].as_str().unwrap());
            format!("| [{name}]({name}.schema.json) | {of} |")
        })
        .collect();
    assert!(
        page.contains(&rows.join("\n")),
        "the table of docs/schemas/README.md:\n{}",
        rows.join("\n")
    );
    let of_command = project.run(&["schema", "runs list"]);
    let by_name = project.run(&["schema", "runs"]);
    assert_eq!((of_command.code, &of_command.stdout), (0, &by_name.stdout));
}

/// What goes wrong at an n8n.
#[derive(Default)]
pub struct Trouble {
    /// Somebody changes the workflow right after it was read for the so-and-so-manieth time; 0: nobody.
    pub changed_after: AtomicUsize,
    /// What is written is taken and forgotten.
    pub forgets: AtomicBool,
}

fn n8n() -> String {
    n8n_with(Arc::default())
}

/// An n8n with one workflow, one execution and one credential, as its API gives them; its address.
pub fn n8n_with(trouble: Arc<Trouble>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut workflow = json!({
            "id": "w1", "name": "Orders", "active": false, "isArchived": false, "versionId": "v1", "tags": [],
            "createdAt": "2026-11-01T00:00:00.000Z", "updatedAt": "2026-11-01T00:00:00.000Z", "settings": {},
            "nodes": [{"id": "1", "name": "Start", "type": "n8n-nodes-base.manualTrigger", "typeVersion": 1, "position": [0, 0], "parameters": {}}],
            "connections": {},
        });
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut line = String::new();
            stream.read_line(&mut line).unwrap();
            let mut words = line.split_whitespace();
            let (method, path) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
            let (mut length, mut head) = (0, String::new());
            while stream.read_line(&mut head).is_ok_and(|read| read > 2) {
                let (name, value) = head.split_once(':').unwrap_or(("", ""));
                if name.eq_ignore_ascii_case("content-length") {
                    length = value.trim().parse().unwrap();
                }
                head.clear();
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).unwrap();
            let path = path
                .split('?')
                .next()
                .unwrap()
                .trim_start_matches("/api/v1");
            let page = |of: Value| json!({"data": of, "nextCursor": null});
            let answer = match (method, path) {
                ("GET", "/workflows") => page(json!([workflow])),
                ("GET", "/executions") => page(
                    json!([{"id": 7, "workflowId": "w1", "status": "success", "finished": true, "mode": "manual",
                    "startedAt": "2026-11-01T00:00:00.000Z", "stoppedAt": "2026-11-01T00:00:01.000Z"}]),
                ),
                ("GET", "/credentials") => {
                    page(json!([{"id": "c1", "name": "Slack", "type": "slackApi"}]))
                }
                ("GET", "/tags") => page(json!([])),
                ("GET", "/workflows/w1") => {
                    let read = workflow.clone();
                    let left = trouble.changed_after.load(Ordering::SeqCst);
                    trouble
                        .changed_after
                        .store(left.saturating_sub(1), Ordering::SeqCst);
                    if left == 1 {
                        workflow["versionId"] = json!("v9");
                        workflow["nodes"][0]["notes"] = json!("by somebody else");
                    }
                    read
                }
                ("PUT", "/workflows/w1") if trouble.forgets.load(Ordering::SeqCst) => {
                    workflow.clone()
                }
                ("PUT", "/workflows/w1") => {
                    let new: Value = serde_json::from_slice(&body).unwrap();
                    for key in ["name", "nodes", "connections", "settings"] {
                        workflow[key] = new[key].clone();
                    }
                    workflow["versionId"] = json!("v2");
                    workflow.clone()
                }
                ("POST", way) if way.ends_with("activate") => {
                    workflow["active"] = json!(!way.ends_with("deactivate"));
                    workflow.clone()
                }
                _ => workflow.clone(),
            };
            let text = answer.to_string();
            let _gone = write!(
                stream.get_mut(),
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{text}",
                text.len()
            );
        }
    });
    address
}

/// Runs a command in JSON, which must end with this code, and holds its answer.
fn answered(project: &Project, code: i32, envs: &[(&str, &str)], typed: &[&str]) -> Value {
    let args = [&["--output-format", "json"], typed].concat();
    let mut command = project.command(&args);
    command.envs(envs.iter().copied());
    let ran: Ran = command.output().unwrap().into();
    assert_eq!(ran.code, code, "{typed:?}: {}\n{}", ran.stdout, ran.stderr);
    held(&args, &ran);
    ran.json()
}

#[test]
fn what_is_said_of_a_connected_n8n_fits() {
    let project = Project::new();
    let address = n8n();
    let envs = [("N8N_API_URL", address.as_str()), ("N8N_API_KEY", "a-key")];
    let ok = |typed: &[&str]| {
        answered(
            &project,
            0,
            &envs,
            &[&["--backend", "rest"], typed].concat(),
        )
    };
    assert_eq!(ok(&["workflows", "list"])["workflows"][0]["id"], "w1");
    assert_eq!(
        ok(&["executions", "list"])["executions"][0]["status"],
        "success"
    );
    assert_eq!(
        ok(&["credentials", "list"])["credentials"][0]["name"],
        "Slack"
    );
    ok(&["pull", "w1"]);
    ok(&["pull", "--all"]);
    let file = project.workflows().remove(0);
    let path = format!("workflows/{file}");
    let mut workflow = project.read_json(&path);
    workflow["nodes"][0]["name"] = json!("Begin");
    project.write(&path, &workflow.to_string());
    ok(&["push", &path, "--dry-run"]);
    ok(&["push", &path]);
    ok(&["push", "workflows"]);
    ok(&["qa", "--all"]);
    ok(&["workflows", "activate", "w1", "--yes"]);
    ok(&["workflows", "deactivate", "w1", "--yes"]);
}

#[test]
fn what_no_other_test_is_told_in_json_fits() {
    let project = Project::new();
    let ok = |typed: &[&str]| answered(&project, 0, &[], typed);
    ok(&["init"]);
    ok(&[
        "build",
        "--yes",
        "When a webhook receives an order, post it to Slack #sales",
    ]);
    let path = format!("workflows/{}", project.workflows().remove(0));
    for typed in [
        &["accept", &path, "--yes"][..],
        &[
            "catalog",
            "show",
            "slack",
            "--resource",
            "message",
            "--operation",
            "post",
        ],
        &["catalog", "show", "slack"],
        &["catalog", "diff", "embedded", "embedded"],
        &["qa", "--explain", "n8n/credential"],
        &["approvals", "show"],
        &["explain", "Every day at 9:00 post hello to Slack #dev"],
        &["packs", "list"],
        &["packs", "new", "mine"],
        &["packs", "show", "mine"],
        &["packs", "check", "mine"],
        &["packs", "graph", "mine"],
        &["packs", "export", "assistant", "--to", "n8n"],
        &["orchestrators", "list"],
        &["orchestrators", "check"],
        &["orchestrators", "graph", "basic"],
        &["orchestrators", "new", "team.json"],
        &["orchestrators", "check", "team.json"],
        &["--pack", "assistant", "tools", "list"],
        &["--pack", "assistant", "tools", "test"],
        &["--pack", "assistant", "flow", "check"],
        &["--pack", "assistant", "flow", "graph"],
        &["agents", "list"],
        &["agents", "show", "builder"],
        &["agents", "check"],
        &["skills", "list"],
        &["skills", "show", "n8n-workflow-patterns"],
        &["policy", "show"],
        &["policy", "check", "builder", "create_workflow"],
        &["models"],
        &["learnings", "stats"],
        &["learnings", "check"],
        &["learnings", "index"],
        &["learnings", "search", "sheet"],
        &["mcp", "disable", "none"],
        &["sessions", "list"],
        &["a2a", "keygen"],
        &["n8n", "down"],
        &["doctor"],
        &["trust", "--show"],
        &["trust", "--revoke"],
        &["analyze"],
        &["log"],
        &["diff"],
        &["report", "--html", "run.html"],
        &["show", &path],
        &["usage"],
        &["runs", "prune", "--keep", "1"],
        &["runs", "verify"],
        &["undo", "--plan"],
        &["undo"],
    ] {
        let mut command = project.command(&[&["--output-format", "json"], typed].concat());
        let ran: Ran = command.output().unwrap().into();
        held(&[&["--output-format", "json"], typed].concat(), &ran);
        assert_ne!(ran.code, 70, "{typed:?}: {}", ran.stderr);
    }
    // Where an editor looks for it.
    let first = |file: &str| {
        let text = std::fs::read_to_string(project.file(file)).unwrap();
        text.lines().next().unwrap().to_owned()
    };
    for (file, line) in [
        (
            "agentctl.toml",
            "#:schema memory/schemas/settings.schema.json",
        ),
        (
            "packs/mine/agents/policy.yaml",
            "# yaml-language-server: $schema=../../../memory/schemas/policy.schema.json",
        ),
    ] {
        assert_eq!(first(file), line);
        let schema = line.rsplit(['=', ' ']).next().unwrap();
        let folder = project.file(file).parent().unwrap().to_owned();
        assert!(folder.join(schema).is_file(), "{file}: {schema}");
    }
    let team = project.read_json("team.json");
    assert_eq!(team["$schema"], "memory/schemas/orchestrator.schema.json");
}
