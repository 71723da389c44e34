//! `agentctl serve` as its users run it: ready, asked, stopped; and what it refuses to serve.

use super::support::Project;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

pub const TOKEN: &str = "0123456789abcdef0123456789abcdef";

pub struct Served {
    child: Child,
    pub address: String,
    /// What it serves, by name.
    pub packs: Vec<String>,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Served {
    pub fn start(project: &Project) -> Served {
        let served = Served::of(Served::command(project));
        let all = [
            "assistant",
            "front-door",
            "n8n-builder",
            "n8n-copilot",
            "research",
        ];
        assert_eq!(served.packs, all);
        served
    }

    pub fn command(project: &Project) -> Command {
        let mut command = project.command(&["serve", "--listen", "127.0.0.1:0", "--ready-json"]);
        command.env("AGENTCTL_SERVE_TOKEN", TOKEN);
        command
    }

    pub fn of(mut command: Command) -> Served {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        let address = ready["address"].as_str().unwrap();
        let address = address.strip_prefix("http://").unwrap().to_owned();
        let packs = ready["packs"].as_array().unwrap().iter();
        let packs = packs.map(|name| name.as_str().unwrap().to_owned());
        Served {
            child,
            address,
            packs: packs.collect(),
        }
    }

    fn post(&self, path: &str, body: &str) -> (String, Value) {
        self.post_with("", path, body)
    }

    /// The same of A2A.
    pub fn call(&self, path: &str, body: &str) -> (String, Value) {
        self.post_with("a2a-version: 1.0\r\n", path, body)
    }

    fn post_with(&self, headers: &str, path: &str, body: &str) -> (String, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\nauthorization: Bearer {TOKEN}\r\n\
             {headers}content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), serde_json::from_str(body).unwrap())
    }

    /// Asks it to stop; its exit code and what it said on stderr.
    pub fn stop(mut self) -> (Option<i32>, String) {
        let pid = nix::unistd::Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
        let mut said = String::new();
        let mut err = self.child.stderr.take().unwrap();
        err.read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code(), said)
    }
}

#[test]
fn the_example_is_answered_in_one_conversation_over_a_restart() {
    let project = Project::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/webhook.json");
    let example = std::fs::read_to_string(example).unwrap();
    let served = Served::start(&project);
    let (head, said) = served.post("/hooks/assistant", &example);
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    assert!(
        said["output"].as_str().unwrap().contains("12 entries"),
        "{said}"
    );
    let (code, log) = served.stop();
    assert_eq!(code, Some(143), "{log}");
    let line = log.lines().find(|line| line.contains("/hooks/")).unwrap();
    let line: Value = serde_json::from_str(line).unwrap();
    assert_eq!(
        (&line["status"], &line["client"]),
        (&json!(200), &json!("local"))
    );
    assert!(
        !log.contains("Jira tickets") && !log.contains(TOKEN),
        "{log}"
    );

    let served = Served::start(&project);
    let more = example.replace("Show me my open Jira tickets", "/log");
    let (_, told) = served.post("/hooks/assistant", &more);
    let run = line["run"].as_str().unwrap();
    assert!(told["output"].as_str().unwrap().starts_with(run), "{told}");
    assert_eq!(served.stop().0, Some(143));
    let shown = project.run(&["runs", "show", run]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
}

#[cfg(unix)]
#[test]
fn the_steps_of_the_page_lead_to_an_answer() {
    let page = include_str!("../../docs/webhooks.md");
    let block = page.split("```sh\n").nth(1).unwrap();
    let block = block.split("```").next().unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    let here = block.replace("127.0.0.1:8137", &address);
    let here = here.replace(
        "agentctl serve &",
        &format!("agentctl serve --listen {address} &"),
    );
    assert_eq!(here.matches(&address).count(), 2, "{here}");
    let project = Project::new();
    let bin = tempfile::tempdir().unwrap();
    let binary = env!("CARGO_BIN_EXE_agentctl");
    std::os::unix::fs::symlink(binary, bin.path().join("agentctl")).unwrap();
    let path = format!(
        "{}:{}",
        bin.path().display(),
        std::env::var("PATH").unwrap()
    );
    let ran = Command::new("bash")
        .args(["-e", "-c", &here])
        .current_dir(project.path())
        .env_remove("AGENTCTL_TRUST")
        .env("PATH", path)
        .env("AGENTCTL_HOME", project.home())
        .env("AGENTCTL_CONFIG", project.file("no-such-settings.toml"))
        .output()
        .unwrap();
    let (out, err) = (
        ran.stdout,
        String::from_utf8_lossy(&ran.stderr).into_owned(),
    );
    let out = String::from_utf8(out).unwrap();
    assert!(ran.status.success(), "{out}{err}");
    assert!(
        out.contains("{\"output\":\"I have found 12 entries"),
        "{out}{err}"
    );
}

#[test]
fn a_port_that_is_taken_is_told() {
    let project = Project::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ran = project.run(&["serve", "--listen", &address]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("cannot listen on"), "{}", ran.stderr);
}

#[test]
fn what_is_not_safe_or_not_there_is_not_served() {
    let project = Project::new();
    let refused = |settings: &str, args: &[&str], part: &str| {
        project.write("agentctl.toml", settings);
        let mut command = project.command(&[&["serve", "--check"], args].concat());
        command.env("SHORT", "demo").env("LONG", TOKEN);
        let out = command.output().unwrap();
        let said = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(2), "{settings}: {said}");
        assert!(said.contains(part), "{settings}: {said}");
        assert!(!said.contains(TOKEN), "{said}");
    };
    let wide = "[serve]\nlisten = \"0.0.0.0:0\"\n";
    let short = "[serve.clients.a]\nbasic = {user = \"a\", password_env = \"SHORT\"}\n";
    let long = "[serve.clients.a]\nbearer_env = \"LONG\"\n";
    refused(wide, &[], "no client is named");
    refused("", &["--listen", "0.0.0.0:0"], "no client is named");
    refused(&format!("{wide}{long}"), &[], "behind_proxy = true");
    let tls = "tls = {cert = \"cert.pem\", key = \"key.pem\"}\n";
    refused(&format!("{wide}{tls}{long}"), &[], "cert.pem: ");
    refused(
        "[serve.mcp]\nrole = \"nobody\"\n",
        &[],
        "there is no role \"nobody\"",
    );
    refused(
        "[serve.mcp]\nrole = \"builder\"\nworkflow = \"none\"\n",
        &[],
        "none",
    );
    refused(
        &format!("{wide}behind_proxy = true\n{short}"),
        &[],
        "16 characters or more",
    );
    refused(
        "[serve]\npacks = [\"front-dor\"]\n",
        &[],
        "did you mean \"front-door\"?",
    );
    refused("", &["--pack", "nobody"], "there is no pack \"nobody\"");
    refused("", &["--listen", "8137"], "is no address to listen on");
    let client = |more: &str| format!("[serve.clients.a]\n{more}\n");
    refused(&client("per_minute = 5"), &[], "says once how it is known");
    refused(
        &client("bearer_env = \"NOT_SET\""),
        &[],
        "NOT_SET, which is not set",
    );
    refused(
        &client("bearer_env = \"SHORT\""),
        &[],
        "a token has 32 or more characters",
    );
    refused(
        &client("bearer_env = \"LONG\"\nbasic = {user = \"a\", password_env = \"SHORT\"}"),
        &[],
        "says once",
    );
    refused(
        &client("bearer_env = \"LONG\"\nmay = [\"fly\"]"),
        &[],
        "not \"fly\"",
    );
    refused(
        &format!(
            "[serve]\npacks = [\"front-door\"]\n{}",
            client("bearer_env = \"LONG\"\npacks = [\"n8n-builder\"]")
        ),
        &[],
        "\"n8n-builder\" is not served",
    );
    refused(
        &client("basic = {user = \"a:b\", password_env = \"SHORT\"}"),
        &[],
        "without a colon",
    );
    refused(&client("token = \"x\""), &[], "unknown field");
    let signed = "jwt = {jwks_file = \"keys.json\", issuer = \"https://id.example\", audience = \"agentctl\"}";
    refused(&client(signed), &[], "keys.json: ");
    project.write(
        "keys.json",
        "{\"keys\": [{\"kty\": \"oct\", \"k\": \"c2VjcmV0\", \"kid\": \"shared\"}]}",
    );
    refused(&client(signed), &[], "the key shared is a shared secret");
    refused(
        &client(&format!("{signed}\nbearer_env = \"LONG\"")),
        &[],
        "says once",
    );
    refused(
        &format!("{wide}behind_proxy = true\npage = true\n{long}"),
        &[],
        "public_url",
    );
    refused(
        &client("bearer_command = [\"false\"]"),
        &[],
        "the token of the client \"a\": the command \"false\" failed",
    );
    refused(
        &client("bearer_env = \"A\"\nbearer_command = [\"true\"]"),
        &[],
        "must be named once",
    );
    refused(
        &client("bearer_command = [\"echo\", \"short\"]"),
        &[],
        "32 or more characters",
    );
    let file = project.write("token", TOKEN);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        refused(
            &client("bearer_file = \"token\""),
            &[],
            "others may read it (mode 644)",
        );
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    let printed = client("basic = {user = \"u\", password_command = [\"cat\", \"token\"]}");
    project.write("agentctl.toml", &printed);
    let checked = project.run(&["serve", "--check"]);
    assert_eq!(checked.code, 0, "{}", checked.stderr);
    assert!(checked.stdout.contains("a (basic)"), "{}", checked.stdout);
    assert!(!(checked.stdout + &checked.stderr).contains(TOKEN));
    project.write(
        "agentctl.toml",
        &client("bearer_file = \"token\"\ntenants = [\"acme\"]"),
    );
    insta::assert_snapshot!(project.said("serve --check"), @r#"
    exit code 0
    listens on 127.0.0.1:[PORT]
    sessions: in memory/agentctl.db
    turns: 32 at once, each for at most 110 s; 30 s to end when it is stopped
    packs: assistant, front-door, n8n-builder, n8n-copilot, research
      assistant: POST /hooks/assistant, POST /chat/assistant, model "assistant" of /v1, A2A /agents/assistant
      front-door: POST /hooks/front-door, POST /chat/front-door, model "front-door" of /v1, A2A /agents/front-door
      n8n-builder: POST /chat/n8n-builder, model "n8n-builder" of /v1, A2A /agents/n8n-builder
      n8n-copilot: POST /chat/n8n-copilot, model "n8n-copilot" of /v1, A2A /agents/n8n-copilot
      research: POST /chat/research, model "research" of /v1, A2A /agents/research
      of all: GET /v1/models, /runs, /sessions, /files, /a2a, /.well-known/agent-card.json, /healthz, /readyz
      /mcp: off ([serve.mcp] says whose tools)
    clients:
      a (bearer): all packs; may turn, read; speaks for acme; 600 requests a minute
    -- stderr --
    tools: current_user_execute_tool, current_user_tools answer from mock data (INTEGRATION_URL, INTEGRATION_USER and INTEGRATION_PASSWORD are not set)
    tools: agent_workflows, run_workflow answer from mock data (the embedded backend executes no workflows (agentctl doctor says how an n8n is connected))
    "#);
}

#[test]
fn settings_with_which_nothing_could_work_are_refused_with_their_line() {
    let project = Project::new();
    let long = "[serve.clients.a]\nbearer_env = \"LONG\"\n";
    let same = "[serve.clients.b]\nbearer_env = \"LONG\"\n";
    let basic = |name: &str| {
        format!("[serve.clients.{name}]\nbasic = {{user = \"u\", password_env = \"SHORT\"}}\n")
    };
    for (settings, line, part) in [
        (
            format!("{long}{same}"),
            3,
            "has the same token as [serve.clients.a] (",
        ),
        (
            format!("{}{}", basic("a"), basic("b")),
            3,
            "has the same user and password as",
        ),
        (
            "[serve]\npublic_url = \"agents.example.com\"\n".into(),
            2,
            "begins with https://",
        ),
        (
            "[serve]\npublic_url = \"http://agents.example.com\"\n".into(),
            2,
            "without TLS",
        ),
        (
            "[serve]\npublic_url = \"https://u:p@a.example\"\n".into(),
            2,
            "no password",
        ),
        (format!("{long}origins = [\"*\"]\n"), 3, "every page"),
        (
            format!("{long}origins = [\n  \"chat.example.com\"]\n"),
            4,
            "no origin of a page",
        ),
        (
            format!("{long}origins = [\"https://chat.example.com/x\"]\n"),
            3,
            "no origin",
        ),
        (
            "[serve]\nturn_timeout = 0\n".into(),
            2,
            "from 1 to 86400, not 0",
        ),
        (
            "[serve]\nmax_turns_at_once = 0\n".into(),
            2,
            "from 1 to 4096, not 0",
        ),
        (
            "[serve]\ndrain = 99999999999\n".into(),
            2,
            "from 0 to 86400",
        ),
        ("[serve]\ndrain = \"soon\"\n".into(), 2, "docs/serve.md"),
        ("[serve]\npacks = []\n".into(), 2, "empty list"),
        (
            format!("{long}per_minute = 0\n"),
            3,
            "per_minute is a number from 1",
        ),
        (format!("{long}may = []\n"), 3, "may is an empty list"),
        (format!("{long}packs = []\n"), 3, "packs is an empty list"),
        (
            format!("{long}tenants = []\n"),
            3,
            "tenants is an empty list",
        ),
        (format!("{long}tenants = [\"\"]\n"), 3, "empty name"),
        // A client that says nothing is one all the same: nobody else is let in in its place.
        (
            "[serve.clients.demo]\n".into(),
            1,
            "says once how it is known",
        ),
        (
            "[serve.clients.a]\nbasic = {user = \"a\"}\n".into(),
            1,
            "by …_command",
        ),
        (
            "[serve]\nsign_cards = true\n[a2a]\nv0_3 = true\n".into(),
            0,
            "exclude one another",
        ),
        (
            "[sessions]\nurl_env = \"NOT_SET_AT_ALL\"\n".into(),
            0,
            "NOT_SET_AT_ALL",
        ),
    ] {
        project.write("agentctl.toml", &settings);
        for args in [
            &["serve", "--check"][..],
            &["serve", "--listen", "127.0.0.1:0"],
        ] {
            let mut command = project.command(args);
            let out = command
                .env("SHORT", "demo")
                .env("LONG", TOKEN)
                .output()
                .unwrap();
            let said = String::from_utf8(out.stderr).unwrap();
            assert_eq!(out.status.code(), Some(2), "{settings}: {said}");
            assert!(said.contains(part), "{settings}: {said}");
            let place = format!("agentctl.toml:{line}: ");
            assert!(line == 0 || said.contains(&place), "{settings}: {said}");
        }
    }
}

#[test]
fn a_check_names_the_numbers_the_pages_and_the_public_address() {
    let project = Project::new();
    project.write(
        "agentctl.toml",
        "[limits]\nmax_tokens = 500\n[sessions]\nurl_env = \"STORE\"\n\
         [serve]\npublic_url = \"https://agents.example.com\"\npacks = [\"front-door\"]\nmax_turns_at_once = 3\nturn_timeout = 7\ndrain = 0\n\
         [serve.clients.a]\nbearer_env = \"LONG\"\nper_minute = 9\norigins = [\"https://Chat.example.com:443/\"]\n",
    );
    let ask = |args: &[&str]| {
        let mut command = project.command(args);
        command
            .env("LONG", TOKEN)
            .env("STORE", "postgres://u:p@nowhere.invalid/x");
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let said = ask(&["serve", "--check"]);
    for line in [
        "called https://agents.example.com\n",
        "sessions: in the Postgres that STORE names\n",
        "turns: 3 at once, each for at most 7 s; 0 s to end when it is stopped\n",
        "    limits of a turn: {\"run\":{\"max_tokens\":500}}\n",
        "; 9 requests a minute; pages of https://chat.example.com\n",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    let shown = ask(&["--output-format", "json", "serve", "--check"]);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(
        shown["clients"][0]["origins"],
        json!(["https://chat.example.com"])
    );
    assert_eq!(shown["clients"][0]["per_minute"], 9);
    let numbers = [
        &shown["max_turns_at_once"],
        &shown["turn_timeout"],
        &shown["drain"],
    ];
    assert_eq!(numbers, [3, 7, 0]);
    assert_eq!(shown["public_url"], "https://agents.example.com");
    assert!(!said.contains("nowhere.invalid") && !shown.to_string().contains("nowhere.invalid"));
}

#[test]
fn a_broken_pack_of_the_project_is_told_and_keeps_nobody_from_the_others() {
    let project = Project::new();
    project.write(
        "packs/filer/pack.yaml",
        "name: filer\ntitle: Files\nchannels: {}\nwrong: 1\n",
    );
    let place = "packs/filer/pack.yaml:4";
    let checked = project.run(&["serve", "--check"]);
    assert_eq!(checked.code, 2, "{}", checked.stderr);
    let hint = "agentctl packs check filer";
    assert!(
        checked.stderr.contains(place) && checked.stderr.contains(hint),
        "{}",
        checked.stderr
    );
    let listed = project.run(&["doctor"]).stdout;
    assert!(listed.contains(place) && listed.contains(hint), "{listed}");
    let served = Served::start(&project);
    let (_, said) = served.stop();
    assert!(
        said.contains("warning: the pack filer cannot be served"),
        "{said}"
    );
    assert!(said.contains(place), "{said}");
    project.write("agentctl.toml", "[serve]\npacks = [\"filer\"]\n");
    let named = project.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(named.code, 2, "{}", named.stderr);
    assert!(named.stderr.contains(place), "{}", named.stderr);
}

#[test]
fn who_waits_for_it_is_told_the_public_address_beside_its_own() {
    let project = Project::new();
    project.write(
        "agentctl.toml",
        "[serve]\npublic_url = \"https://agents.example.com\"\n",
    );
    let mut child = Served::command(&project);
    let mut child = child
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let ready: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(ready["public_url"], "https://agents.example.com");
    assert!(
        ready["address"]
            .as_str()
            .unwrap()
            .starts_with("http://127.0.0.1:"),
        "{ready}"
    );
}

#[test]
fn a_folder_that_is_not_trusted_names_no_clients() {
    let project = Project::new();
    project.write("agentctl.toml", "[serve]\nlisten = \"0.0.0.0:0\"\nbehind_proxy = true\n[serve.clients.a]\nbearer_env = \"PATH\"\n");
    let said = project.saying(project.stranger(&["serve", "--check"]), "");
    assert!(said.contains("listens on 127.0.0.1:[PORT]"), "{said}");
    assert!(said.contains("local (bearer)"), "{said}");
}

#[cfg(unix)]
#[test]
fn tls_and_the_tools_of_a_role_are_shown_and_a_key_that_others_may_read_is_refused() {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::new();
    let rcgen::CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let pem = |what: &str, der: &[u8]| {
        let text = STANDARD.encode(der);
        format!("-----BEGIN {what}-----\n{text}\n-----END {what}-----\n")
    };
    project.write("cert.pem", &pem("CERTIFICATE", cert.der()));
    project.write("key.pem", &pem("PRIVATE KEY", &signing_key.serialize_der()));
    project.write("token", TOKEN);
    let mode = |file: &str, mode| {
        let path = project.file(file);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("token", 0o600);
    project.write(
        "agentctl.toml",
        "[serve]\nlisten = \"0.0.0.0:0\"\npacks = [\"front-door\"]\ntls = {cert = \"cert.pem\", key = \"key.pem\"}\n\
         [serve.mcp]\nrole = \"builder\"\n[serve.clients.a]\nbearer_file = \"token\"\npacks = [\"n8n-builder\"]\n",
    );
    mode("key.pem", 0o640);
    let refused = project.run(&["serve", "--check"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("others may read it (mode 640)"),
        "{}",
        refused.stderr
    );
    mode("key.pem", 0o600);
    let checked = project.run(&["serve", "--check"]);
    assert_eq!(checked.code, 0, "{}", checked.stderr);
    for line in [
        "listens on 0.0.0.0:0, with TLS\n",
        "  /mcp: tools of builder\n",
        "  a (bearer): n8n-builder; may turn, read; speaks for itself alone; 600 requests a minute\n",
    ] {
        assert!(checked.stdout.contains(line), "{}", checked.stdout);
    }
}
