use super::*;
use proptest::prelude::*;
use std::fs;
use std::path::PathBuf;

/// A home folder with a project in it.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("project")).unwrap();
        Place { dir }
    }
    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join("project").join(name)
    }
    fn write(&self, name: &str, text: &str) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fn all(&self, file: &str) -> Vec<ServerIdentity> {
        self.write(".mcp.json", file);
        let home = self.dir.path().display().to_string();
        identities_in(&self.at(""), file, &|name| match name {
            "HOME" => Some(home.clone()),
            "N8N_API_KEY" => Some("very-secret-key".to_owned()),
            "HOST" => Some("n8n.example".to_owned()),
            "PATH" => Some("/usr/bin:./tools".to_owned()),
            _ => None,
        })
        .unwrap()
    }
    fn one(&self, entry: &str) -> ServerIdentity {
        let mut all = self.all(&format!("{{\"mcpServers\": {{\"s\": {entry}}}}}"));
        assert_eq!(all.len(), 1, "{all:?}");
        all.pop().unwrap()
    }
    fn hash(&self, entry: &str) -> String {
        self.one(entry).hash
    }
}

fn told(identity: &ServerIdentity) -> String {
    let warnings = identity.warnings.iter().map(|w| format!("! {w}"));
    let lines: Vec<String> = identity.shown.iter().cloned().chain(warnings).collect();
    lines.join("\n")
}

#[test]
fn the_official_entry_is_shown_with_its_variables_and_its_package() {
    let place = Place::new();
    place.write("node_modules/n8n-mcp/package.json", "{}");
    place.write(".npmrc", "registry=http://evil.example");
    let all = place.all(include_str!("../../../.mcp.json.example"));
    insta::assert_snapshot!(told(&all[0]), @r"
    starts npx -y n8n-mcp@2.87.0
    npx fetches n8n-mcp@2.87.0 from the npm registry of your own settings; it starts in an empty folder, so no package and no settings of the project count
    node_modules/n8n-mcp of this folder is not what runs
    .npmrc of this folder does not count
    the file itself sets its variables MCP_MODE, LOG_LEVEL, DISABLE_CONSOLE_OUTPUT, N8N_MCP_TELEMETRY_DISABLED, WEBHOOK_SECURITY_MODE
    gets $N8N_API_URL in its variable N8N_API_URL
    gets $N8N_API_KEY in its variable N8N_API_KEY
    ! PATH leads into the project (tools): the server gets it without that; name a program there by its path
    ");
    assert_eq!(
        all[0].address,
        Some(ServerAddress {
            written: "${N8N_API_URL:-http://localhost:5678}/".to_owned(),
            host: Some("localhost:5678".to_owned()),
        })
    );
    assert_eq!(all[0].name, "n8n-mcp");
}

#[test]
fn what_a_virtual_environment_of_the_project_holds_under_a_name_of_the_entry_counts() {
    let place = Place::new();
    let package = ".venv/lib/python3.12/site-packages/my_server/__init__.py";
    for (name, text) in [
        (".venv/pyvenv.cfg", "home = /usr/bin"),
        (".venv/bin/my-server", "#!x"),
        (package, "1"),
        (".venv/lib/python3.12/site-packages/other/__init__.py", "1"),
    ] {
        place.write(name, text);
    }
    for (entry, counts) in [
        (
            r#"{"command": "uv", "args": ["run", "my-server"]}"#,
            &[".venv/pyvenv.cfg", ".venv/bin/my-server", package][..],
        ),
        (
            r#"{"command": ".venv/bin/python", "args": ["-m", "my_server.main"]}"#,
            &[".venv/pyvenv.cfg", package],
        ),
    ] {
        let before = place.hash(entry);
        for name in counts {
            let text = fs::read_to_string(place.at(name)).unwrap();
            place.write(name, "other");
            assert_ne!(place.hash(entry), before, "{name}");
            place.write(name, &text);
        }
        place.write(".venv/lib/python3.12/site-packages/other/__init__.py", "2");
        assert_eq!(
            place.hash(entry),
            before,
            "not bound: docs/trust.md says so"
        );
    }
}

#[test]
fn a_registry_that_the_entry_names_is_not_called_the_users() {
    let place = Place::new();
    let first = |entry: &str| place.one(entry).shown[1].clone();
    for (entry, from) in [
        (
            r#"{"command": "npx", "args": ["-y", "a@1.0.0"]}"#,
            "the npm registry of your own settings;",
        ),
        (
            r#"{"command": "npx", "args": ["--registry", "https://r.example", "a@1.0.0"]}"#,
            "the npm registry that its --registry names;",
        ),
        (
            r#"{"command": "npx", "args": ["a@1.0.0"], "env": {"npm_config_registry": "https://r.example"}}"#,
            "the npm registry that its variable npm_config_registry names;",
        ),
        (
            r#"{"command": "uvx", "args": ["--extra-index-url=https://r.example", "a==1.0"]}"#,
            "the Python registry of your own settings and the one that its --extra-index-url names;",
        ),
    ] {
        let told = first(entry);
        assert!(told.contains(from), "{told}");
    }
}

#[test]
fn no_value_of_a_variable_and_no_secret_of_the_file_is_shown() {
    let place = Place::new();
    let identity = place.one(
        r#"{"command": "srv", "args": ["--api-key", "hunter2hunter2", "--token=swordfish", "-k", "ghp_0123456789abcdefghijABCDEFGHIJ012345", "${N8N_API_KEY}"],
            "env": {"N8N_API_KEY": "literal-key-0815", "X": "a\u001b[2J\u202eb"}}"#,
    );
    let whole = format!("{identity:?}");
    for secret in [
        "hunter2",
        "swordfish",
        "ghp_0123",
        "very-secret-key",
        "literal-key",
        "\\u{1b}",
        "\\u{202e}",
    ] {
        assert!(!whole.contains(secret), "{secret}: {whole}");
    }
    assert!(
        identity.shown[0].starts_with("starts srv --api-key (hidden) --token=(hidden) -k "),
        "{:?}",
        identity.shown
    );
    let http = place.one(r#"{"type": "http", "url": "http://user:pw-pw-pw@${HOST}/x?key=sesame&v=${N8N_API_KEY}", "headers": {"A": "b"}}"#);
    let whole = format!("{http:?}");
    for secret in ["pw-pw-pw", "sesame", "very-secret"] {
        assert!(!whole.contains(secret), "{secret}: {whole}");
    }
    assert_eq!(
        http.address,
        Some(ServerAddress {
            written: "http://${HOST}/x".to_owned(),
            host: None
        }),
        "a secret in it hides the whole"
    );
    let plain = place.one(r#"{"type": "http", "url": "https://${HOST}/x"}"#);
    assert_eq!(
        plain.address.unwrap().host.as_deref(),
        Some("n8n.example:443")
    );
}

#[test]
fn a_package_of_the_folder_that_would_run_is_named_and_counts() {
    let place = Place::new();
    place.write(
        "node_modules/n8n-mcp/package.json",
        "{\"bin\": \"index.js\"}",
    );
    place.write("node_modules/n8n-mcp/index.js", "1");
    place.write(
        ".npmrc",
        "registry=http://evil.example\n//evil.example/:_authToken=abcdef",
    );
    let entry = r#"{"command": "npx", "args": ["-y", "n8n-mcp"], "cwd": "."}"#;
    let identity = place.one(entry);
    insta::assert_snapshot!(told(&identity), @r#"
    starts npx -y n8n-mcp
    may run code of the project folder: 1 files count, a change of one asks again
    ! it runs in the project folder, so what lies there counts: the entry names a folder (`cwd`)
    ! .npmrc of the project decides where packages come from or what is loaded (registry=http://evil.example)
    ! npx would run node_modules/n8n-mcp of this folder, not the published package
    ! it may load code of node_modules, which is looked at by its lock file only
    ! PATH leads into the project (tools): the server gets it without that; name a program there by its path
    "#);
    let before = identity.hash;
    for (name, text) in [
        ("node_modules/n8n-mcp/index.js", "2"),
        ("node_modules/n8n-mcp/package.json", "{}"),
        (".npmrc", ""),
        ("package.json", "{}"),
        ("node_modules/.bin/node", "#!/bin/sh"),
        ("node_modules/.package-lock.json", "{}"),
    ] {
        let old = fs::read_to_string(place.at(name)).ok();
        place.write(name, text);
        assert_ne!(place.hash(entry), before, "{name}");
        match old {
            Some(old) => place.write(name, &old),
            None => fs::remove_file(place.at(name)).unwrap(),
        }
        if name == "node_modules/.bin/node" {
            fs::remove_dir(place.at("node_modules/.bin")).unwrap();
        }
        assert_eq!(place.hash(entry), before, "{name}");
    }
}

#[test]
fn what_runs_of_the_project_counts_by_its_content() {
    let place = Place::new();
    place.write("server.sh", "1");
    place.write("lib/a.js", "1");
    place.write("tool/run.js", "1");
    place.write("data.json", "1");
    for (entry, counts) in [
        (
            r#"{"command": "./server.sh"}"#,
            &["server.sh", "lib/a.js"][..],
        ),
        (
            r#"{"command": "sh", "args": ["-c", "cd x; exec n8n-mcp"]}"#,
            &["server.sh", "lib/a.js", "tool/run.js"],
        ),
        (
            r#"{"command": "/bin/foreign", "args": ["--config=data.json"]}"#,
            &["data.json"],
        ),
        (
            r#"{"command": "/bin/foreign", "env": {"NODE_OPTIONS": "--require ./lib/a.js"}}"#,
            &["lib/a.js"],
        ),
        (
            r#"{"command": "/bin/foreign", "env": {"PYTHONPATH": "/x:lib"}}"#,
            &["lib/a.js"],
        ),
        (
            r#"{"command": "/usr/bin/python3.12", "args": ["-m", "tool"]}"#,
            &["tool/run.js"],
        ),
        (
            r#"{"command": "node", "args": ["index.js"], "cwd": "tool"}"#,
            &["tool/run.js"],
        ),
        (r#"{"command": "${NOT_SET:-./server.sh}"}"#, &["server.sh"]),
        (
            r#"{"command": "npx", "args": ["${PACKAGE:-./tool}"]}"#,
            &["tool/run.js"],
        ),
    ] {
        let before = place.hash(entry);
        assert_eq!(place.hash(entry), before);
        for name in counts {
            place.write(name, "2");
            assert_ne!(place.hash(entry), before, "{entry} {name}");
            place.write(name, "1");
        }
        assert_eq!(place.hash(entry), before);
    }
    // A published package, a program of the system and an address have nothing to do with the project's files.
    for entry in [
        r#"{"command": "npx", "args": ["n8n-mcp"]}"#,
        r#"{"command": "/bin/foreign"}"#,
        r#"{"type": "http", "url": "https://h/"}"#,
    ] {
        let before = place.hash(entry);
        place.write("server.sh", "3");
        place.write(".npmrc", "registry=x");
        assert_eq!(place.hash(entry), before, "{entry}");
        place.write("server.sh", "1");
        fs::remove_file(place.at(".npmrc")).unwrap();
    }
}

const BASE: [(&str, &str); 5] = [
    ("type", r#""stdio""#),
    ("command", r#""foreign""#),
    ("args", r#"["a", "${B}"]"#),
    ("env", r#"{"C": "${D}", "E": "f"}"#),
    ("cwd", r#""sub""#),
];

fn entry(pairs: &[(&str, &str)]) -> String {
    let pairs: Vec<String> = pairs.iter().map(|(k, v)| format!("\"{k}\": {v}")).collect();
    format!("{{{}}}", pairs.join(", "))
}

#[test]
fn a_change_of_any_part_is_another_server_and_what_is_no_part_is_not() {
    let place = Place::new();
    let base = place.hash(&entry(&BASE));
    for (key, other) in [
        ("command", r#""foreign2""#),
        ("args", r#"["a"]"#),
        ("args", r#"["${B}", "a"]"#),
        ("args", r#"["a ${B}"]"#),
        ("args", r#"["a", "${C}"]"#),
        ("args", r#"["a", "${B:-x}"]"#),
        ("env", r#"{"C": "${D}"}"#),
        ("env", r#"{"C": "${D}", "E": "g"}"#),
        ("env", r#"{"C": "${E}", "E": "f"}"#),
        ("env", r#"{"C2": "${D}", "E": "f"}"#),
        ("cwd", r#""sub2""#),
    ] {
        let changed = BASE.map(|(k, v)| (k, if k == key { other } else { v }));
        assert_ne!(place.hash(&entry(&changed)), base, "{key}: {other}");
    }
    let http = |url: &str, headers: &str| {
        place.hash(&format!(
            r#"{{"type": "http", "url": "{url}", "headers": {headers}}}"#
        ))
    };
    let first = http("https://h/a", r#"{"X": "${Y}"}"#);
    for (url, headers) in [
        ("https://h/b", r#"{"X": "${Y}"}"#),
        ("https://h:444/a", r#"{"X": "${Y}"}"#),
        ("http://h/a", r#"{"X": "${Y}"}"#),
        ("https://${H:-h}/a", r#"{"X": "${Y}"}"#),
        ("https://h/a", r#"{"X": "${Z}"}"#),
        ("https://h/a", r#"{"X2": "${Y}"}"#),
        ("https://h/a", "{}"),
    ] {
        assert_ne!(http(url, headers), first, "{url} {headers}");
    }
    let with = |more: (&'static str, &'static str)| {
        let pairs: Vec<_> = BASE.into_iter().chain([more]).collect();
        place.hash(&entry(&pairs))
    };
    for more in [
        ("startupTimeoutMs", "1"),
        ("description", "\"x\""),
        ("required", "true"),
        ("enabledTools", "[]"),
        ("disabled", "false"),
    ] {
        assert_eq!(with(more), base, "{more:?}");
    }
    let named = place.all(&format!(
        "{{\"mcpServers\": {{\"other\": {}}}}}",
        entry(&BASE)
    ));
    assert_ne!(named[0].hash, base, "another name");
    let off = place.all(&format!(
        "{{\"mcpServers\": {{\"s\": {}}}}}",
        entry(&[("disabled", "true")])
    ));
    assert_eq!(off, []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_order_of_keys_and_the_blanks_do_not_count(
        order in Just(BASE.to_vec()).prop_shuffle(),
        blanks in "[ \n\t]{0,4}",
    ) {
        let place = Place::new();
        let env = r#"{"E": "f", "C": "${D}"}"#;
        let order: Vec<_> = order.into_iter().map(|(k, v)| (k, if k == "env" { env } else { v })).collect();
        let text = entry(&order).replace(", \"", &format!(",{blanks}\""));
        prop_assert_eq!(place.hash(&text), place.hash(&entry(&BASE)));
    }

    #[test]
    fn no_two_command_lines_are_the_same(
        a in prop::collection::vec("[a-c =\"]{0,3}", 0..4),
        b in prop::collection::vec("[a-c =\"]{0,3}", 0..4),
    ) {
        let place = Place::new();
        let hash = |args: &[String]| place.hash(&serde_json::json!({"command": "foreign", "args": args}).to_string());
        prop_assert_eq!(hash(&a) == hash(&b), a == b);
    }

    #[test]
    fn no_text_of_an_entry_is_too_odd_to_be_told(text in "\\PC{0,40}", other in "\\PC{0,40}") {
        let place = Place::new();
        let entry = serde_json::json!({"command": text, "args": [other, "${X", "${:-}"], "env": {"A": other}, "cwd": text});
        let identity = place.one(&entry.to_string());
        prop_assert!(identity.shown.iter().chain(&identity.warnings).all(|line| !line.contains('\n')));
    }
}
