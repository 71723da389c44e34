//! Cases 78–82: secrets are planted wherever they can come in, and looked for wherever something comes out.

use crate::attack::*;
use crate::support::*;
use agentctl_base::question::Outcome;
use agentctl_engine::redact::MARK;
use agentctl_engine::redact::Redactor;
use agentctl_engine::run::{Answering, RunOptions};
use agentctl_engine::store::Event;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use std::path::Path;

// Put together here, so that no scanner takes the test for a leak.
fn canary(name: &str) -> String {
    format!("canary{name}-{}", "Q7wZ2mK9xT4b")
}
fn shaped() -> String {
    format!("ghp_{}", "aB3dE6gH9jK2mN5pQ8sT1vX4zA7cF0hL4x9Y")
}

/// Every way in which a value could still be read from an output.
fn coats(value: &str) -> Vec<String> {
    let hex: String = value.bytes().map(|b| format!("{b:02x}")).collect();
    let base = STANDARD.encode(value);
    let base = base.trim_end_matches('=');
    vec![
        value.to_owned(),
        hex.to_uppercase(),
        hex,
        base[..base.len() - 1].to_owned(),
        value.chars().rev().collect(),
    ]
}

fn leaks(text: &str, canaries: &[String]) -> Vec<String> {
    canaries
        .iter()
        .flat_map(|canary| coats(canary))
        .filter(|coat| text.contains(coat.as_str()))
        .collect()
}

/// What may hold a secret, since it is the user's own: workflows and the exact copies of them that undo needs, and the
/// files in which the secrets were planted.
fn may_hold(name: &str) -> bool {
    name.starts_with("workflows/")
        || name.contains("/snapshots/")
        || name.starts_with("memory/versions/")
        || name == ".mcp.json"
        || name == "answers.json"
}

fn planted(folder: &Path) -> (Vec<String>, Vec<(&'static str, String)>) {
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let environment = [
        ("SLACK_BOT_TOKEN", canary("Env")),
        ("DB_PASSWORD", canary("Db")),
        ("MCP_VALUE", canary("Var")),
    ];
    write(
        ".mcp.json",
        json!({"mcpServers": {
            "files": {"command": "definitely-not-there", "args": [format!("--token={}", canary("Arg"))], "env": {"API_KEY": canary("McpEnv"), "OTHER": "${MCP_VALUE}"}},
            "remote": {"url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": format!("Bearer {}", canary("Header")), "X-Thing": canary("Plain")}},
        }})
        .to_string(),
    );
    let mut workflow = chain("orders", 4);
    let parameters = json!({
        "password": canary("Password"),
        "url": format!("https://user:{}@db.example.test/?k={}", canary("Url"), shaped()),
        "jsCode": format!("const key = '{}'; // {}", shaped(), canary("Env")),
        "headerParameters": {"parameters": [{"name": "X-API-Key", "value": canary("Pair")}]},
        "botToken": canary("Bot"),
        "list": [format!("{{\"clientSecret\":\"{}\"}}", canary("Env")), STANDARD.encode(canary("Db"))],
    });
    for (at, (key, value)) in parameters.as_object().unwrap().iter().enumerate() {
        workflow.nodes[at % 4]
            .map_mut()
            .get_mut("parameters")
            .unwrap()[key.as_str()] = value.clone();
    }
    workflow.nodes[1].map_mut().insert(
        "notes".into(),
        json!(format!("the token is {}", canary("Env"))),
    );
    workflow.nodes[2]
        .map_mut()
        .insert("typeVersion".into(), json!(99));
    workflow.nodes[3].map_mut().insert(
        "type".into(),
        json!(format!("n8n-nodes-base.{}", canary("Env"))),
    );
    write("workflows/orders.json", workflow.to_text());
    write(
        "answers.json",
        json!({"channel": canary("Env"), "decision": "build"}).to_string(),
    );
    let canaries = [
        "Env", "Db", "Var", "Arg", "McpEnv", "Header", "Plain", "Password", "Url", "Pair", "Bot",
        "Said",
    ];
    let mut all: Vec<String> = canaries.iter().map(|name| canary(name)).collect();
    all.push(shaped());
    (all, environment.to_vec())
}

#[test]
fn case_078_a_planted_secret_comes_out_nowhere() {
    let dir = tempfile::tempdir().unwrap();
    let (canaries, environment) = planted(dir.path());
    let known = canary("Env");
    let said = format!(
        "When a webhook receives an order, log in with the password {} and post {known} to Slack #sales",
        canary("Said")
    );
    let rename = format!("Rename the workflow to {known}");
    let odd_name = format!("workflows/{known}.json");
    let mut commands: Vec<Vec<&str>> = vec![
        vec!["build", "--yes", &said],
        vec!["build", "--yes", &said, "--output-format", "stream-json"],
        vec![
            "build",
            &said,
            "--answers",
            "answers.json",
            "--output-format",
            "json",
        ],
        vec![
            "build",
            "--yes",
            "--workflow",
            "workflows/orders.json",
            &rename,
            "--output-format",
            "stream-json",
        ],
        vec![
            "build",
            "--yes",
            "--workflow",
            "workflows/orders.json",
            "Disable the node Node 1",
        ],
        vec!["build", "--yes", "--workflow", &odd_name, "Rename it"],
        vec![
            "qa",
            "workflows",
            "--report",
            "sarif=out.sarif",
            "--report",
            "junit=out.xml",
            "--report",
            "github",
            "--write-baseline",
            "--baseline",
            "base.json",
        ],
        vec!["qa", "--fix", "--dry-run", "workflows"],
        vec!["qa", &odd_name],
        vec!["doctor"],
        vec!["doctor", "--output-format", "json"],
        vec!["undo"],
        vec!["runs", "show", &known],
        vec!["answer", &known, &known],
        vec!["--model", &known, "build", "x"],
    ];
    for format in ["text", "json", "stream-json"] {
        for command in [
            vec!["qa", "workflows"],
            vec!["runs", "list"],
            vec!["status"],
            vec!["runs", "verify"],
        ] {
            commands.push([command, vec!["--output-format", format]].concat());
        }
    }
    let mut shown = 0;
    for args in &commands {
        let mut command = agentctl(dir.path(), args);
        command.envs(environment.iter().map(|(name, value)| (*name, value)));
        let (code, stdout, stderr) = ran(command);
        assert_ne!(code, 70, "{args:?}: {stderr}");
        for text in [&stdout, &stderr] {
            assert_eq!(
                leaks(text, &canaries),
                Vec::<String>::new(),
                "{args:?}: {text}"
            );
            shown += text.matches(MARK).count();
        }
        if args.contains(&"json") && !stdout.is_empty() {
            assert!(
                serde_json::from_str::<Value>(&stdout).is_ok(),
                "{args:?}: {stdout}"
            );
        }
    }
    assert!(shown > 0, "the secrets met some output");
    // The runs themselves, shown one by one.
    for run in std::fs::read_dir(dir.path().join("memory/runs")).unwrap() {
        let run = run.unwrap().file_name().into_string().unwrap();
        let mut command = agentctl(
            dir.path(),
            &["runs", "show", &run, "--output-format", "json"],
        );
        command.envs(environment.iter().map(|(name, value)| (*name, value)));
        let (_, stdout, stderr) = ran(command);
        assert_eq!(leaks(&(stdout + &stderr), &canaries), Vec::<String>::new());
    }
    let files = files_below(dir.path());
    assert!(
        files.iter().any(|(name, _)| name == "out.sarif")
            && files.iter().any(|(name, _)| name == "out.xml")
    );
    for (name, bytes) in files.iter().filter(|(name, _)| !may_hold(name)) {
        let text = String::from_utf8_lossy(bytes);
        assert_eq!(
            leaks(&text, &canaries),
            Vec::<String>::new(),
            "{name}: {text}"
        );
    }
}

/// The same with a model that puts what it knows into every text that it may write.
#[test]
fn case_078_a_model_that_repeats_a_secret_everywhere_leaves_it_nowhere() {
    let secret = canary("Env");
    let told = secret.clone();
    let mut shop = Shop::new(move |seen| match (seen.task(), seen.results().len()) {
        ("think", _) => says(
            json!({"plan": {"name": told, told.clone(): [told], "questions": [
                {"id": "q1", "topic": "t", "text": told, "options": [{"value": told, "label": told}], "recommended": told}
            ]}}),
        ),
        ("make", 0) => calls(&[
            (told.as_str(), json!({})),
            ("get_workflow", json!({"workflow_id": told})),
            ("get_workflow", json!({told.clone(): told})),
            ("create_workflow", creation("Orders")),
        ]),
        ("make", _) if seen.told().is_empty() => {
            says(json!({"workflow": {"id": told}, told.clone(): 1}))
        }
        ("look", 1) => {
            says(json!({"qa_report": {"status": "fail", "summary": told}, "edit_scope": [told]}))
        }
        ("fix", _) => says(json!({"fixes_tried": [{"change": told}]})),
        ("make", _) => {
            let made = seen
                .results()
                .last()
                .map(|(_, _, content)| content["id"].clone());
            says(
                json!({"workflow": {"id": made, "notes": [STANDARD.encode(&told), told.split_at(9).0, told.split_at(9).1]}}),
            )
        }
        _ => good(seen),
    });
    shop.gateway =
        gateway(shop.dir.path(), &shop.pack).with_redactor(Redactor::new([secret.clone()]));
    let options = RunOptions {
        request: format!("use {secret} for it"),
        answering: Answering {
            yes: true,
            ..Answering::default()
        },
        ..RunOptions::default()
    };
    let report = shop.start(options).unwrap();
    assert_eq!(report.outcome, Outcome::Blocked, "{:?}", report.errors);
    let shown = serde_json::to_string(&report).unwrap()
        + &json!(report.state).to_string()
        + &shop.watched.notes.join("\n");
    assert_eq!(
        leaks(&shown, std::slice::from_ref(&secret)),
        Vec::<String>::new()
    );
    for (name, bytes) in files_below(shop.dir.path()) {
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(
            leaks(&text, std::slice::from_ref(&secret)),
            Vec::<String>::new(),
            "{name}: {text}"
        );
    }
    assert_eq!(
        report.state["workflow"]["notes"][1],
        json!("[redacted:split]")
    );
    // The model was never shown what the user had typed.
    let asked = serde_json::to_string(&*shop.asked.lock().unwrap()).unwrap();
    let request = asked.split("\"request\"").nth(1).unwrap_or_default();
    assert!(
        request.contains(MARK) || !request.contains(&secret),
        "{request}"
    );
    assert!(shop.journal().iter().all(|e| !matches!(e, Event::RunStarted { input, .. } if json!(input).to_string().contains(&secret))));
}

#[test]
fn case_079_a_secret_in_another_coat_is_hidden_from_the_model() {
    let key = shaped();
    let hex = |text: &str| text.bytes().map(|b| format!("{b:02x}")).collect::<String>();
    let percent = |text: &str| {
        text.bytes()
            .map(|b| format!("%{b:02X}"))
            .collect::<String>()
    };
    let (start, end) = SECRET.split_at(7);
    let parameters = json!({
        "plain": SECRET, "inside": format!("x={SECRET};"), "key": key,
        "base64": STANDARD.encode(SECRET), "url": URL_SAFE_NO_PAD.encode(format!("a:{SECRET}?>")), "basic": STANDARD.encode(format!("user:{SECRET}")),
        "hex": hex(SECRET), "upper": hex(SECRET).to_uppercase(), "percent": percent(SECRET),
        "json": json!({"deep": json!({"x": SECRET}).to_string()}).to_string(),
        "key64": STANDARD.encode(format!("token {key} end")), "keyhex": hex(&format!("k {key}")), "keypercent": percent(&key),
        "first": start, "second": end, "parts": ["a", start, end], "keyparts": [&key[..15], &key[15..]],
    });
    let held = block_on(async {
        let (mut bench, backend) = attacked();
        let mut workflow = chain("orders", 2);
        workflow.nodes[0]
            .map_mut()
            .insert("parameters".into(), parameters.clone());
        backend.put("orders", workflow, false);
        bench
            .ok("qa", "get_workflow", json!({"workflow_id": "orders"}))
            .await
    });
    let seen = &held["workflow"]["nodes"][0]["parameters"];
    for (name, was) in parameters.as_object().unwrap() {
        let now = &seen[name];
        assert_ne!(now, was, "{name}");
        assert!(now.to_string().contains(MARK), "{name}: {now}");
    }
    assert_eq!(
        seen["parts"],
        json!(["a", "[redacted:split]", "[redacted:split]"])
    );
    let text = held.to_string();
    assert!(
        !text.contains(SECRET) && !text.contains(&key) && !text.contains(&hex(SECRET)),
        "{text}"
    );
}

/// Names that any program needs to start; see the list in the code that starts servers.
const USUAL: [&str; 24] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "TMP",
    "TEMP",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
];

#[cfg(unix)]
#[test]
fn case_080_a_server_gets_the_variables_that_it_was_given_and_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let seen = dir.path().join("seen.txt");
    let config = json!({"mcpServers": {"spy": {
        "command": "/bin/sh", "args": ["-c", format!("env > '{}'", seen.display())],
        "env": {"DECLARED": "yes", "FILLED": "${MINE}"}
    }}});
    std::fs::write(dir.path().join(".mcp.json"), config.to_string()).unwrap();
    let mut command = agentctl(dir.path(), &["doctor"]);
    command
        .env("SLACK_BOT_TOKEN", canary("Env"))
        .env("MINE", "mine")
        .env("LD_PRELOAD", "")
        .env("NODE_OPTIONS", "--x")
        .env("AWS_SECRET_ACCESS_KEY", canary("Db"));
    ran(command);
    let text = std::fs::read_to_string(&seen).unwrap();
    let names: Vec<&str> = text
        .lines()
        .filter_map(|line| Some(line.split_once('=')?.0))
        .collect();
    assert!(
        text.contains("DECLARED=yes\n") && text.contains("FILLED=mine\n"),
        "{text}"
    );
    // The shell itself sets a few.
    let own = ["DECLARED", "FILLED", "PWD", "OLDPWD", "SHLVL", "_"];
    for name in names {
        assert!(
            USUAL.contains(&name) || own.contains(&name),
            "{name} was handed on"
        );
    }
    assert!(!text.contains("canary"), "{text}");
}

#[test]
fn case_081_a_key_in_a_pack_is_a_mistake_told_by_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let clean = ran(agentctl(dir.path(), &["agents", "check"]));
    assert_eq!(clean.0, 0, "{}", clean.2);
    let key = shaped();
    write(
        "agents/scout.md",
        format!("---\nname: scout\ndescription: d\n---\nYou scout.\nUse {key} for GitHub.\n"),
    );
    write("agents/policy.yaml", format!("# key: {key}\nroles: {{}}\n"));
    write(
        "skills/own/SKILL.md",
        format!(
            "---\nname: own\ndescription: d\n---\nbody\n\npassword = {}\n",
            canary("Skill")
        ),
    );
    write("skills/own/references/a.md", format!("see\n  {key}\n"));
    let (code, stdout, stderr) = ran(agentctl(dir.path(), &["agents", "check"]));
    assert_eq!(code, 2, "{stdout}{stderr}");
    for place in [
        "agents/scout.md:6:5:",
        "agents/policy.yaml:1:8:",
        "skills/own/SKILL.md:7:",
        "skills/own/references/a.md:2:3:",
    ] {
        assert!(stderr.contains(place), "{place}: {stderr}");
    }
    assert!(
        !stderr.contains(&key) && !stderr.contains("canary"),
        "{stderr}"
    );
    // And no run begins with it.
    let (code, _, _) = ran(agentctl(
        dir.path(),
        &["build", "--yes", "Every day at 9 post hello to Slack #dev"],
    ));
    assert_eq!(code, 2);
    assert!(!dir.path().join("memory").exists());
}

/// A recording is made to be kept and shared: the same planted secrets, looked for in the tape of a change and of a build.
#[test]
fn case_082_a_recording_holds_no_secret() {
    let dir = tempfile::tempdir().unwrap();
    let (canaries, environment) = planted(dir.path());
    let said = format!(
        "When a webhook receives an order post {} to Slack #sales",
        canary("Env")
    );
    let mut calls = 0;
    for (tape, args) in [
        ("build.jsonl", vec![said.as_str()]),
        (
            "change.jsonl",
            vec![
                "--workflow",
                "workflows/orders.json",
                "Disable the node Node 1",
            ],
        ),
    ] {
        let all = [vec!["build", "--yes", "--record", tape], args].concat();
        let mut command = agentctl(dir.path(), &all);
        command.envs(environment.iter().map(|(name, value)| (*name, value)));
        let (_, _, stderr) = ran(command);
        let text = std::fs::read_to_string(dir.path().join(tape))
            .unwrap_or_else(|e| panic!("{tape}: {e}: {stderr}"));
        assert_eq!(leaks(&text, &canaries), Vec::<String>::new(), "{tape}");
        calls += text.matches("get_workflow").count();
    }
    assert!(calls > 0, "the workflow with the secrets was read on tape");
}
