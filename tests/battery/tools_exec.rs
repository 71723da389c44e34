//! Case 114: a tool that is a program of this machine, and a model that wants more of it than its file says.

use crate::tools::{Given, Turn, call, good, tried};
use crate::tools_pack::{Files, with};
use serde_json::{Value, json};

const HTTP: &str = "kind: http\neffect: reads\nhttp: {method: GET, url: \"${PLATFORM_URL}/list/{userID}\", answer: {lists: tools, error: [error]}}\nlimits: {timeout_s: 2, retries: 0}\n";

/// The pack, whose tool `list_things` is this script.
fn running(program: &str, script: &str, more: &Value) -> Files {
    let mut exec = json!({"program": program, "args": ["-c", script]});
    exec.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    let kind = format!(
        "kind: exec\neffect: reads\nexec: {exec}\nlimits: {{timeout_s: 3, max_bytes: 2000}}\n"
    );
    with(&[("tools/list_things/tool.yaml", HTTP, kind.as_str())])
}

/// What came of one call of the script: `status rule content`.
async fn came(program: &str, script: &str, more: Value) -> (String, Value) {
    let turns = vec![
        call("list_things", json!({"kind": "$(cat /etc/passwd); --help"})),
        Turn::Says("That is all."),
    ];
    let given = Given {
        files: running(program, script, &more),
        env: vec![("TOLD", "yes"), ("NOT_TOLD", "seed")],
        ..Given::default()
    };
    let tried = tried(turns, good, given).await;
    assert!(!tried.calls.is_empty(), "{}", tried.stderr);
    (tried.results().remove(0), tried.calls[0].4.clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn case_114_a_program_reaches_nothing_but_what_its_file_names() {
    let secret = tempfile::tempdir().unwrap();
    let file = secret.path().join("key");
    std::fs::write(&file, "seed").unwrap();
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let script = format!(
        "read -r given; out=; cat {file} 2>/dev/null && out=read; echo x 2>/dev/null >{file}.new && out=wrote; (exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null && out=net; kill -0 {pid} 2>/dev/null && out=kill; printf '{{\"given\": %s, \"out\": \"%s\", \"env\": \"%s%s\"}}' \"$given\" \"$out\" \"$TOLD\" \"$NOT_TOLD\"",
        file = file.display(),
        port = server.local_addr().unwrap().port(),
        pid = std::process::id(),
    );
    let (told, content) = came("/bin/bash", &script, json!({"env": ["TOLD"]})).await;
    assert_eq!(told, "list_things: ok", "{content}");
    // The words of the model are data, the bound value is the program's.
    let given = json!({"kind": "$(cat /etc/passwd); --help", "userID": "u1"});
    assert_eq!(
        content["result"],
        json!({"given": given, "out": "", "env": "yes"})
    );
    assert_eq!(std::fs::read_dir(secret.path()).unwrap().count(), 1);

    let (flood, _) = came("/bin/bash", "yes", json!({})).await;
    assert_eq!(flood, "list_things: failed tools.failed");
    let (slow, _) = came("/bin/bash", "sleep 600", json!({})).await;
    assert_eq!(slow, "list_things: failed tools.timeout");
    let (words, content) = came("/bin/bash", "echo not json", json!({})).await;
    assert_eq!(words, "list_things: failed tools.failed", "{content}");
}

#[tokio::test(flavor = "multi_thread")]
async fn case_114_a_program_by_a_short_name_or_with_a_loaders_variable_is_no_tool() {
    for (program, more) in [
        ("bash", json!({})),
        ("/bin/bash", json!({"env": ["LD_PRELOAD"]})),
    ] {
        let given = Given {
            files: running(program, "true", &more),
            ..Given::default()
        };
        let tried = tried(vec![Turn::Says("Hello.")], good, given).await;
        assert_eq!(tried.code, 2, "{}", tried.stderr);
        assert!(
            tried.stderr.contains("list_things/tool.yaml:"),
            "{}",
            tried.stderr
        );
    }
}

#[test]
fn case_114_in_a_folder_that_nobody_trusts_there_is_no_program() {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in running("/bin/bash", "echo 1", &json!({})) {
        let path = folder.path().join("packs/tried").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_agentctl"));
    command
        .current_dir(folder.path())
        .args(["tools", "call", "list_things", "--pack", "tried"])
        .env_remove("AGENTCTL_TRUST")
        .env("AGENTCTL_HOME", crate::attack::own_folder());
    let done = command.output().unwrap();
    assert_eq!(done.status.code(), Some(2), "{done:?}");
    assert!(done.stdout.is_empty(), "{done:?}");
}
