//! A pack with tools of its own: what is called in which mode, what rules see of a call, and what a run's end says.

use crate::support::{Project, Ran};
use serde_json::{Value, json};

const PING: &str = "tool_id: ping\nname: Ping\ndescription: Asks the desk whether it is there. Use it when somebody wants to know.\nkeywords: [ping]\nparameters: {text: {type: string, required: true, description: What to say}}\nbind: {who: input.who}\nkind: http\neffect: reads\nhttp: {method: GET, url: \"${DESK_URL}/ping\", query: {q: \"{text}\"}, auth: {basic: {user_env: DESK_USER, password_env: DESK_PASSWORD}}}\n";
const ONE: &str = "name: one\nsteps:\n  - {id: ping, tool: ping, role: helper, args: {text: \"'hi'\"}, on_failure: continue}\noutput: {value: \"steps.ping.status == 'done' ? {'data': steps.ping.output} : {'data': {'error': 'tool_failed'}, 'why': steps.ping.error}\"}\n";

/// A project with the pack `desk`, whose helper may use the tool `ping`.
fn desk(tool: &str) -> Project {
    let project = Project::new();
    assert_eq!(project.run(&["packs", "new", "desk"]).code, 0);
    project.write("packs/desk/tools/ping/tool.yaml", tool);
    project.write("packs/desk/agents/one.flow.yaml", ONE);
    let policy = project.file("packs/desk/agents/policy.yaml");
    let text = std::fs::read_to_string(policy).unwrap();
    let text = text.replacen("[read-skills]", "[read-skills, ping]", 1);
    project.write("packs/desk/agents/policy.yaml", &text);
    project
}

fn with_mode(project: &Project, mode: &str, args: &[&str]) -> Ran {
    let mut command = project.command(args);
    command
        .env("AGENTCTL_TOOLS", mode)
        .env("DESK_URL", "https://desk.example.com")
        .env("DESK_USER", "me")
        .env("DESK_PASSWORD", "pw");
    Ran::from(command.output().unwrap())
}

const CALL: [&str; 6] = ["tools", "call", "ping", "--pack", "desk", "--arg"];

#[test]
fn where_mocks_are_asked_for_nothing_real_is_called() {
    let project = desk(PING);
    let call = [&CALL[..], &["text=hi", "--output-format", "json"]].concat();
    let failed = with_mode(&project, "mock", &call);
    assert_eq!(failed.code, 1, "{}{}", failed.stdout, failed.stderr);
    assert_eq!(
        failed.json()["content"]["error"],
        "ping was not called: AGENTCTL_TOOLS is mock, and it has no mock"
    );
    let list = ["tools", "list", "--pack", "desk"];
    let told = with_mode(&project, "mock", &list).stdout;
    assert!(
        told.contains("not called: mocks were asked for, and it has none"),
        "{told}"
    );
    // One that changes something is not called either, and nobody is told to ask for mocks.
    project.write(
        "packs/desk/tools/ping/tool.yaml",
        &PING.replace("effect: reads", "effect: changes"),
    );
    let changes = with_mode(&project, "mock", &call);
    assert_eq!(changes.code, 1, "{}", changes.stderr);
    assert!(!changes.stderr.contains("AGENTCTL_TOOLS=mock answers"));
    // A mock beside the file is its mock, whether the file names it or not.
    project.write("packs/desk/tools/ping/mock.json", "{\"pong\": true}");
    let mocked = with_mode(&project, "mock", &call);
    assert_eq!(mocked.code, 0, "{}", mocked.stderr);
    assert_eq!(
        mocked.json()["content"],
        json!({"pong": true, "mock": true, "effect": "changes"})
    );
}

#[test]
fn all_that_a_tool_lacks_is_told_and_what_its_file_lacks_fails_a_strict_check() {
    let project = desk(&PING.replace("keywords: [ping]\n", ""));
    let check = |more: &[&str]| {
        let args = [&["tools", "check", "--pack", "desk"][..], more].concat();
        project.run(&args)
    };
    let told = check(&[]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    for remark in [
        "DESK_URL, DESK_USER and DESK_PASSWORD are not set",
        "it has no keywords",
        "its folder has no README.md",
    ] {
        assert!(told.stdout.contains(remark), "{remark}: {}", told.stdout);
    }
    assert_eq!(check(&["--strict"]).code, 1);
    project.write("packs/desk/tools/ping/tool.yaml", PING);
    project.write("packs/desk/tools/ping/README.md", "# ping\nSays hello.\n");
    let strict = check(&["--strict"]);
    // What this machine lacks is no fault of the file.
    assert_eq!(strict.code, 0, "{}", strict.stdout);
    assert!(strict.stdout.contains("are not set"), "{}", strict.stdout);
    let shown = project.run(&["tools", "show", "ping", "--pack", "desk"]);
    assert!(shown.stdout.contains("Says hello."), "{}", shown.stdout);
    let doctor = project.run(&["doctor", "--pack", "assistant"]);
    let needed = "INTEGRATION_URL, INTEGRATION_USER and INTEGRATION_PASSWORD are not set";
    assert!(doctor.stdout.contains(needed), "{}", doctor.stdout);
}

#[test]
fn a_rule_sees_what_the_program_binds() {
    let project = desk(PING);
    project.write("packs/desk/tools/ping/mock.json", "{\"pong\": true}");
    let path = "packs/desk/agents/policy.yaml";
    let policy = std::fs::read_to_string(project.file(path)).unwrap();
    let rule = |when: &str, example: &str| {
        format!(
            "rules:\n  - id: not-them\n    effect: deny\n    tools: [ping]\n    when: \"{when}\"\n    reason: they may not\n    match: [{{role: helper, tool: ping, args: {{text: a}}, {example}: {{who: blocked}}}}]\n    not_match: [{{role: helper, tool: ping, args: {{text: a}}}}]\n"
        )
    };
    let ruled = |when: &str, example: &str| {
        let text = policy.replacen("rules: []\n", &rule(when, example), 1);
        assert_ne!(text, policy);
        project.write(path, &text);
    };
    let run = |who: &str| {
        let args = ["run", "desk/one", "--input", who, "--output-format", "json"];
        with_mode(&project, "mock", &args)
    };
    ruled("has(bound.who) && bound.who == 'blocked'", "bound");
    let let_pass = run("who=anna");
    assert_eq!(let_pass.code, 0, "{}", let_pass.stderr);
    assert_eq!(let_pass.json()["output"]["data"]["pong"], true);
    let stopped = run("who=blocked");
    assert!(
        stopped.json()["output"]["why"]
            .as_str()
            .unwrap()
            .contains("they may not"),
        "{}",
        stopped.stdout
    );
    // A rule about an argument that no call ever has is a mistake.
    ruled("has(args.who) && args.who == 'blocked'", "bound");
    let mistaken = run("who=blocked");
    assert_eq!(mistaken.code, 2, "{}", mistaken.stdout);
    assert!(
        mistaken
            .stderr
            .contains("who is bound by the program and no argument: write bound.who"),
        "{}",
        mistaken.stderr
    );
    ruled("has(bound.text) && bound.text == 'x'", "bound");
    assert!(run("who=a").stderr.contains("none of its tools binds text"));
}

#[test]
fn a_run_whose_output_says_that_a_tool_failed_ends_with_one() {
    let project = desk(PING);
    let args = [
        "run",
        "desk/one",
        "--input",
        "who=a",
        "--output-format",
        "json",
    ];
    let ran = with_mode(&project, "mock", &args);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let report = ran.json();
    assert_eq!(report["output"]["data"]["error"], "tool_failed");
    assert_eq!(report["exit_code"], 1);
    assert!(
        ran.stderr.contains("data.error is tool_failed"),
        "{}",
        ran.stderr
    );
    // The assistant with its platform down: a turn of a conversation has its reply, a run did not do what it was for.
    let down = |command: &str| {
        let mut command = project.command(&[
            command,
            "assistant",
            "Show me my open Jira tickets",
            "--input",
            "tenantId=t",
            "userId=u",
        ]);
        command
            .env("AGENTCTL_TOOLS", "real")
            .env("INTEGRATION_URL", "https://platform.invalid")
            .env("INTEGRATION_USER", "me")
            .env("INTEGRATION_PASSWORD", "pw");
        Ran::from(command.output().unwrap()).code
    };
    assert_eq!((down("run"), down("chat")), (1, 0));
}

#[test]
fn a_url_that_leads_elsewhere_is_a_mistake_of_the_file() {
    let project = desk(PING);
    for (url, why) in [
        (
            "https://desk.example.com/{text}/../b",
            "a path goes down only",
        ),
        (
            "https://desk.example.com/a/%2E%2e/{text}",
            "a path goes down only",
        ),
        ("${DESK_URL}/{text}/..", "a path goes down only"),
        ("http://desk.example.com/{text}", "is asked by https"),
        (
            "https://me:pw@desk.example.com/{text}",
            "no user and no password",
        ),
    ] {
        let tool = PING.replace("${DESK_URL}/ping", url);
        project.write("packs/desk/tools/ping/tool.yaml", &tool);
        let ran = project.run(&["tools", "list", "--pack", "desk"]);
        assert_eq!(ran.code, 2, "{url}: {}", ran.stdout);
        assert!(ran.stderr.contains(why), "{url}: {}", ran.stderr);
    }
    let near = PING.replace("${DESK_URL}/ping", "http://127.0.0.1:8099/{text}");
    project.write("packs/desk/tools/ping/tool.yaml", &near);
    let ran = project.run(&["tools", "list", "--pack", "desk"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

#[test]
fn files_are_searched_in_the_folder_that_the_tools_file_names() {
    let look = |folder: &str| {
        format!(
            "tool_id: ping\nname: Look\ndescription: Looks for words in the team's notes. Use it when somebody asks about them.\nkeywords: [notes]\nparameters: {{query: {{type: string, required: true, description: Words}}}}\nkind: builtin\neffect: reads\nbuiltin: {{function: search_files, folder: {folder}}}\n"
        )
    };
    let project = desk(&look("notes"));
    project.write("notes/a.md", "The gate opens at 6.\n");
    project.write("other.md", "The gate is green.\n");
    let call = [&CALL[..], &["query=gate", "--output-format", "json"]].concat();
    // It leaves the machine for nothing, so it is the real one in each mode.
    let found = with_mode(&project, "mock", &call);
    assert_eq!(found.code, 0, "{}{}", found.stdout, found.stderr);
    assert_eq!(
        found.json()["content"]["matches"],
        json!([{"file": "a.md", "line": 1, "text": "The gate opens at 6."}])
    );
    for folder in ["../notes", "/etc", ".git", "memory", ""] {
        project.write(
            "packs/desk/tools/ping/tool.yaml",
            &look(&Value::from(folder).to_string()),
        );
        let ran = with_mode(&project, "mock", &call);
        assert_eq!(ran.code, 2, "{folder}: {}", ran.stdout);
        assert!(
            ran.stderr.contains("a folder below the project"),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn an_address_that_is_refused_is_told_before_a_call_and_names_its_remedy() {
    let project = desk(PING);
    let with = |args: &[&str]| {
        let mut command = project.command(args);
        command
            .env("DESK_URL", "http://127.0.0.1:9")
            .env("DESK_USER", "me")
            .env("DESK_PASSWORD", "pw");
        Ran::from(command.output().unwrap())
    };
    let why = "127.0.0.1 is an address of this machine or of a private network; your own config.toml may list it: [tools] allow_addresses = [\"127.0.0.1:9\"]";
    let checked = with(&["tools", "check", "--pack", "desk"]);
    assert!(
        checked.stdout.contains("each call is refused: ") && checked.stdout.contains(why),
        "{}",
        checked.stdout
    );
    let doctor = with(&["doctor"]);
    assert!(
        format!("{}{}", doctor.stdout, doctor.stderr).contains("guard.address"),
        "{}",
        doctor.stdout
    );
    let call = [
        &CALL[..],
        &["text=hi", "--bind", "who=me", "--output-format", "json"],
    ]
    .concat();
    let called = with(&call);
    assert_eq!(called.code, 5, "{}", called.stderr);
    assert_eq!(called.json()["content"]["rule"], "guard.address");
    assert!(called.stdout.contains("may list it"), "{}", called.stdout);
}

#[test]
fn a_role_that_there_is_not_and_a_value_that_nobody_binds_are_told() {
    let project = desk(PING);
    let discover = [
        "tools", "discover", "desk", "--pack", "desk", "--role", "helpr",
    ];
    let unknown = project.run(&discover);
    assert_eq!(unknown.code, 2, "{}", unknown.stdout);
    assert!(
        unknown
            .stderr
            .contains("no role \"helpr\"; did you mean \"helper\"?"),
        "{}",
        unknown.stderr
    );
    let call = [&CALL[..], &["text=hi", "--bind", "text=ho"]].concat();
    let bound = project.run(&call);
    assert_eq!(bound.code, 2, "{}", bound.stdout);
    assert!(
        bound.stderr.contains("ping binds no \"text\""),
        "{}",
        bound.stderr
    );
}
