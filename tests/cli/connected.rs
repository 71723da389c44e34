//! A project that is connected to an n8n: whose node types it works with.

use crate::support::{Project, Ran};
use crate::wire::{Reply, Server};
use serde_json::json;

const TYPES: &str = r#"[{"name": "n8n-nodes-base.noOp", "displayName": "No Operation", "version": 1, "defaultVersion": 1,
    "group": ["organization"], "inputs": ["main"], "outputs": ["main"], "properties": []}]"#;

/// The page that starts n8n's editor; it names the release, coded.
pub(crate) fn editor(release: &str) -> Reply {
    let coded = match release {
        "2.22.6" => "eyJkc24iOiAiIiwgInJlbGVhc2UiOiAibjhuQDIuMjIuNiJ9",
        "2.23.0" => "eyJkc24iOiAiIiwgInJlbGVhc2UiOiAibjhuQDIuMjMuMCJ9",
        "2.39.4" => "eyJkc24iOiAiIiwgInJlbGVhc2UiOiAibjhuQDIuMzkuNCJ9",
        other => panic!("no page for {other}"),
    };
    Reply::text(&format!(
        "<html><meta name=\"n8n:config:sentry\" content=\"{coded}\"></html>"
    ))
}

fn on(project: &Project, n8n: &Server, args: &[&str]) -> Ran {
    let mut all = vec!["--backend", "rest"];
    all.extend(args);
    let mut command = project.command(&all);
    command
        .env("N8N_API_URL", n8n.url(""))
        .env("N8N_API_KEY", "a-key");
    let ran = command.output().unwrap().into();
    crate::published::held(&all, &ran);
    ran
}

#[test]
fn the_connected_n8n_gives_its_node_types_and_another_release_is_told() {
    let project = Project::new();
    let n8n = Server::new(vec![Reply::text(TYPES), editor("2.22.6")]);
    let synced = on(
        &project,
        &n8n,
        &["catalog", "sync", "--output-format", "json"],
    );
    assert_eq!(synced.code, 0, "{}", synced.stderr);
    let told = synced.json();
    assert_eq!(
        json!([
            told["source"]["n8n_version"],
            told["source"]["types"],
            told["unchanged"]
        ]),
        json!(["2.22.6", 1, false])
    );
    let asked: Vec<String> = n8n.seen().into_iter().map(|seen| seen.path).collect();
    assert_eq!(asked, ["/types/nodes.json", "/"]);

    let n8n = Server::new(vec![Reply::text(TYPES), editor("2.22.6")]);
    let again = on(
        &project,
        &n8n,
        &["catalog", "sync", "--output-format", "json"],
    );
    assert_eq!(again.json()["unchanged"], json!(true), "{}", again.stderr);

    // The same release: nothing to say. Another one: which, and what to do.
    for (release, warned) in [("2.22.6", false), ("2.23.0", true)] {
        let n8n = Server::new(vec![
            Reply::text("{\"status\":\"ok\"}"),
            editor(release),
            Reply::text("{\"data\":[]}"),
            editor(release),
        ]);
        let doctor = on(&project, &n8n, &["doctor"]);
        let warning = "the node facts are those of n8n 2.22.6, the connected n8n is 2.23.0: versions that it lacks are left out by a table, its own nodes were not asked; `agentctl catalog sync` takes them over";
        assert_eq!(doctor.stdout.contains(warning), warned, "{}", doctor.stdout);
        assert!(doctor.stdout.contains("n8n 2.22.6: 1 node types"));
    }
}

#[test]
fn without_an_n8n_or_a_login_it_says_what_is_needed() {
    let project = Project::new();
    let none = project.run(&["catalog", "sync"]);
    assert_eq!(none.code, 2, "{}", none.stderr);
    assert!(
        none.stderr.contains("no n8n is connected")
            && none.stderr.contains("catalog sync URL|FILE"),
        "{}",
        none.stderr
    );
    let n8n = Server::new(vec![Reply::error(401, "Unauthorized")]);
    let closed = on(&project, &n8n, &["catalog", "sync"]);
    assert_eq!(closed.code, 1, "{}", closed.stderr);
    assert!(
        closed.stderr.contains("--auth-env VAR") && !closed.stderr.contains("a-key"),
        "{}",
        closed.stderr
    );
    assert!(!project.file("n8n-catalog.bin").exists());
}

/// What another project learned of the release counts here too: the facts of a release are the same everywhere.
#[test]
fn facts_of_the_release_in_the_users_cache_are_taken() {
    let project = Project::new();
    let cache = project.home().join("cache");
    let kept = cache.join("catalogs/n8n-2.23.0.bin");
    std::fs::create_dir_all(kept.parent().unwrap()).unwrap();
    std::fs::write(project.file("types.json"), TYPES).unwrap();
    let (types, kept) = (project.file("types.json"), kept.display().to_string());
    let types = types.display().to_string();
    let made = project.run(&[
        "catalog",
        "build",
        &types,
        "-o",
        &kept,
        "--n8n-version",
        "2.23.0",
    ]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    for (release, warned) in [("2.23.0", false), ("2.22.6", true)] {
        let n8n = Server::new(vec![
            Reply::text("{\"status\":\"ok\"}"),
            editor(release),
            Reply::text("{\"data\":[]}"),
            editor(release),
        ]);
        let mut command = project.command(&["--backend", "rest", "doctor"]);
        command
            .env("N8N_API_URL", n8n.url(""))
            .env("N8N_API_KEY", "a-key")
            .env("AGENTCTL_CACHE", &cache);
        let doctor: Ran = command.output().unwrap().into();
        let warning =
            format!("the node facts are those of n8n 2.39.4, the connected n8n is {release}");
        assert_eq!(
            doctor.stdout.contains(&warning),
            warned,
            "{}",
            doctor.stdout
        );
    }
}

#[test]
fn what_answers_with_something_else_is_no_n8n() {
    let project = Project::new();
    let n8n = Server::new(vec![Reply::text("{\"ok\":true}"); 3]);
    let doctor = on(&project, &n8n, &["doctor"]);
    assert_eq!(doctor.code, 1, "{}", doctor.stdout);
    let told: Vec<&str> = (doctor.stdout.lines())
        .filter(|line| line.contains("n8n: ") && !line.contains("catalog"))
        .map(|line| line.split(" at http").next().unwrap_or(line))
        .collect();
    assert_eq!(
        told,
        [
            "✓ n8n: reachable: something answers",
            "✗ n8n: key: the answer is no list of n8n's API, so it may be no n8n",
        ]
    );
}

/// It gives an empty list to whatever it is asked.
#[test]
fn what_gives_a_list_to_every_question_is_no_n8n() {
    let project = Project::new();
    let n8n = Server::new(vec![Reply::text("{\"data\":[]}"); 3]);
    let doctor = on(&project, &n8n, &["doctor"]);
    assert_eq!(doctor.code, 1, "{}", doctor.stdout);
    assert!(
        doctor
            .stdout
            .contains("✗ n8n: key: it does not say of itself what an n8n says")
            && !doctor.stdout.contains("takes the API key"),
        "{}",
        doctor.stdout
    );
}

/// An n8n-mcp that nothing here works with may be an install of minutes.
#[test]
fn a_server_of_another_backend_is_not_started() {
    let project = Project::new();
    let started = project.file("started");
    let servers = json!({"mcpServers": {"old": {"command": "touch", "args": [started, "n8n-mcp"], "env": {"N8N_API_KEY": "k", "N8N_API_URL": "http://127.0.0.1:9"}}}});
    std::fs::write(project.file(".mcp.json"), servers.to_string()).unwrap();
    let n8n = Server::new(vec![
        Reply::text("{\"status\":\"ok\"}"),
        editor("2.22.6"),
        Reply::text("{\"data\":[]}"),
        editor("2.22.6"),
    ]);
    let doctor = on(&project, &n8n, &["doctor"]);
    assert!(
        doctor
            .stdout
            .contains("- mcp: old: not started, another backend is in use (--backend rest)"),
        "{}",
        doctor.stdout
    );
    assert!(!started.exists());
}
