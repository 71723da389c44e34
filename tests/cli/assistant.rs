//! The pack of a main agent with agents for several systems: its scenarios on mock data, and what leaves this machine on a real one.

use crate::support::{Project, Ran};
use agentctl_testkit::fake_http::{Request, response, serve};
use serde_json::{Value, json};

const PACK: &str = "assistant";

fn body(text: &str, user: &str, conversation: &str) -> Value {
    json!({
        "from": {"id": "29:x", "name": "Test User", "aadObjectId": user},
        "conversation": {"id": conversation, "tenantId": "t-1"},
        "text": text, "locale": "en-US"
    })
}

fn asked(project: &Project, body: &Value, env: &[(&str, &str)]) -> Value {
    let file = project.write("request.json", &body.to_string());
    let args = [
        "chat",
        PACK,
        "--input",
        file.to_str().unwrap(),
        "--output-format",
        "json",
    ];
    let mut command = project.command(&args);
    command
        .env_remove("INTEGRATION_URL")
        .env_remove("AGENTCTL_TOOLS");
    command.envs(env.iter().copied());
    let ran = Ran::from(command.output().unwrap());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    ran.json()["messages"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone()
}

fn mocked(project: &Project, text: &str, user: &str) -> Value {
    asked(
        project,
        &body(text, user, "c-1"),
        &[("AGENTCTL_TOOLS", "mock")],
    )
}

#[test]
fn one_system_two_in_sequence_and_none_that_is_set_up() {
    let project = Project::new();
    let one = mocked(&project, "Show me my open Jira tickets", "u-1");
    assert!(
        one["text"]
            .as_str()
            .unwrap()
            .starts_with("I have found 12 entries"),
        "{one}"
    );
    assert_eq!(one["data"]["mock"], true);
    let told = one["text"].as_str().unwrap();
    assert!(told.contains("\n\n(mock data: "), "{told}");
    let listed = mocked(&project, "Which workflows can you run for me?", "u-1");
    assert_eq!(listed["data"]["mock"], true, "{listed}");

    let two = mocked(
        &project,
        "Create a Confluence page from my current Jira sprint",
        "u-1",
    );
    let text = two["text"].as_str().unwrap();
    for said in ["23", "75", "87", "https://demo.example.com/wiki/12345"] {
        assert!(text.contains(said), "{said}: {text}");
    }

    let none = mocked(&project, "Show me my open Jira tickets", "without-jira");
    assert_eq!(
        none["data"],
        json!({"error": "no_tools", "integration": "Jira"})
    );
    assert!(
        none["text"]
            .as_str()
            .unwrap()
            .contains("set up a Jira integration"),
        "{none}"
    );
}

#[test]
fn what_is_missing_is_asked_and_the_answer_goes_on() {
    let project = Project::new();
    let asks = mocked(&project, "Create a bug: the gate camera is blurry", "u-1");
    assert_eq!(
        asks["data"],
        json!({"error": "missing_parameter", "parameter": "project"})
    );
    assert!(asks["text"].as_str().unwrap().contains('?'));
    let done = mocked(&project, "DEMO", "u-1");
    assert!(
        done["text"]
            .as_str()
            .unwrap()
            .starts_with("I created “the gate camera is blurry”"),
        "{done}"
    );
    // Another user's conversation of the same name knows nothing of it.
    let other = mocked(&project, "DEMO", "u-2");
    assert!(
        !other["text"].as_str().unwrap().contains("camera"),
        "{other}"
    );
}

#[test]
fn a_body_counts_wrapped_and_bare_and_one_without_a_user_is_told() {
    let project = Project::new();
    let wrapped = json!({"body": body("What can you help me with?", "u-1", "c-9")});
    let told = asked(&project, &wrapped, &[("AGENTCTL_TOOLS", "mock")]);
    assert!(told["text"].as_str().unwrap().contains("Jira"));
    let file = project.write("request.json", r#"{"text": "hello"}"#);
    let ran = project.run(&["chat", PACK, "--input", file.to_str().unwrap()]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("userId is required"), "{}", ran.stderr);
}

/// A platform with one tool for whoever asks.
fn platform(request: &Request) -> Vec<u8> {
    let json = |value: Value| {
        response(
            "200 OK",
            "content-type: application/json\r\n",
            value.to_string().as_bytes(),
        )
    };
    if request.line.starts_with("GET /base/api/integrations/t-1/?") {
        return json(json!([{
            "id": "jira_search_7", "name": "Jira search", "description": "Search Jira issues",
            "parameters": {"type": "object", "properties": {"assignee": {"type": "string"}, "status": {"enum": ["open", "any"]}}}
        }]));
    }
    json(
        json!({"success": true, "result": {"total": 1, "issues": [{"key": "NH-1", "summary": "One"}]}}),
    )
}

fn settings(project: &Project, text: &str) -> String {
    // The user's own, so it lies outside of the project.
    let path = project.home().join("config.toml");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_platform_is_asked_as_the_caller_and_only_where_the_user_allows() {
    let (address, log) = serve(platform).await;
    let project = Project::new();
    let url = format!("{address}/base/");
    let request = body("Show me my open Jira tickets", "a b/c", "c-1");
    let allowed = settings(&project, "[tools]\nallow_addresses = [\"127.0.0.1\"]\n");
    let env = |config: &str| {
        let env = [
            ("INTEGRATION_URL", url.clone()),
            ("INTEGRATION_USER", "me".into()),
            ("INTEGRATION_PASSWORD", "pw".into()),
            ("AGENTCTL_CONFIG", config.to_owned()),
        ];
        env.map(|(name, value)| (name.to_owned(), value))
    };
    let ask = |config: &str| {
        let env = env(config);
        let env: Vec<(&str, &str)> = env.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        asked(&project, &request, &env)
    };
    // Without the user's word nothing is sent to this machine.
    let refused = ask(&settings(&project, ""));
    assert_eq!(refused["data"]["error"], "refused");
    assert_eq!(refused["data"]["rule"], "guard.address");
    assert_eq!(log.lines(), [""; 0]);

    let allowed = ask(&{
        settings(&project, "[tools]\nallow_addresses = [\"127.0.0.1\"]\n");
        allowed
    });
    assert!(
        allowed["text"].as_str().unwrap().contains("NH-1"),
        "{allowed}"
    );
    assert_eq!(allowed["data"].get("mock"), None);
    assert_eq!(
        log.lines(),
        [
            "GET /base/api/integrations/t-1/?workflow_user_id=a+b%2Fc&tool_type=jira",
            "POST /base/api/integrations/t-1/execute?workflow_user_id=a+b%2Fc",
        ]
    );
    assert!(
        log.all()
            .iter()
            .all(|r| r.head.contains("authorization: basic bwu6chc=")),
        "{:?}",
        log.all()
    );
    assert_eq!(
        log.bodies()[1],
        json!({"tool_id": "jira_search_7", "parameters": {"assignee": "me", "status": "open"}})
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_is_not_followed_and_a_failure_is_told() {
    let (elsewhere, seen) = serve(platform).await;
    let to = format!("location: {elsewhere}/base/\r\n");
    let (address, _) = serve(move |_| response("302 Found", &to, b"")).await;
    let project = Project::new();
    let config = settings(&project, "[tools]\nallow_addresses = [\"127.0.0.1\"]\n");
    let env = [
        ("INTEGRATION_URL", address.as_str()),
        ("INTEGRATION_USER", "me"),
        ("INTEGRATION_PASSWORD", "pw"),
        ("AGENTCTL_CONFIG", &config),
    ];
    let told = asked(
        &project,
        &body("Show me my open Jira tickets", "u-1", "c-1"),
        &env,
    );
    assert_eq!(told["data"]["error"], "tool_failed");
    assert_eq!(seen.lines(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_whose_answer_is_lost_is_unknown_and_is_not_sent_again() {
    let tools = json!([{
        "id": "jira_create_issue_7", "name": "Jira create issue", "description": "Create a Jira issue",
        "parameters": {"type": "object", "properties": {"summary": {"type": "string"}}, "required": ["summary"]}
    }]);
    let (address, log) = serve(move |request| match request.line.starts_with("GET ") {
        true => response(
            "200 OK",
            "content-type: application/json\r\n",
            tools.to_string().as_bytes(),
        ),
        false => response("500 Internal Server Error", "", b"oops"),
    })
    .await;
    let project = Project::new();
    let config = settings(&project, "[tools]\nallow_addresses = [\"127.0.0.1\"]\n");
    let env = [
        ("INTEGRATION_URL", address.as_str()),
        ("INTEGRATION_USER", "me"),
        ("INTEGRATION_PASSWORD", "pw"),
        ("AGENTCTL_CONFIG", &config),
    ];
    let request = "Create a Jira ticket: the gate camera is broken";
    let told = asked(&project, &body(request, "u-1", "c-1"), &env);
    assert_eq!(told["data"]["error"], "unknown", "{told}");
    let text = told["text"].as_str().unwrap();
    assert!(text.contains("Please look there before you ask"), "{told}");
    let sent = log.lines().iter().filter(|l| l.starts_with("POST")).count();
    assert_eq!(sent, 1, "{:?}", log.lines());
}

#[test]
fn a_project_does_not_say_which_addresses_may_be_reached() {
    let project = Project::new();
    project.write(
        "agentctl.toml",
        "[tools]\nallow_addresses = [\"127.0.0.1\"]\n",
    );
    let ran = project.run(&["chat", PACK, "hello"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr
            .contains("a project does not say which addresses"),
        "{}",
        ran.stderr
    );
}

#[test]
fn as_workflows_of_n8n_it_has_no_error_and_only_the_task_is_the_models() {
    let project = Project::new();
    let ran = project.run(&["packs", "export", PACK, "--to", "n8n", "exported"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let read = |name: &str| -> Value {
        let path = project.file("exported").join(name);
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    let main = read("main_agent.json");
    let node = |workflow: &Value, name: &str| -> Value {
        let nodes = workflow["nodes"].as_array().unwrap();
        nodes.iter().find(|n| n["name"] == name).unwrap()["parameters"].clone()
    };
    let inputs = &node(&main, "Call 'Jira Agent'")["workflowInputs"]["value"];
    assert_eq!(
        inputs["tenantID"],
        "={{ $('SET USER').item.json.tenantId }}"
    );
    assert_eq!(inputs["userID"], "={{ $('SET USER').item.json.userID }}");
    assert_eq!(
        inputs["userPrompt"],
        "={{ $('SET USER').item.json.chatInput }}"
    );
    let of_model = inputs
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, v)| v.as_str().unwrap().contains("$fromAI"));
    assert_eq!(
        of_model.map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["taskDescription"]
    );
    let jira = read("jira_agent.json");
    assert_eq!(
        node(&main, "Call 'Jira Agent'")["workflowId"]["value"],
        jira["id"]
    );
    let tools = node(&jira, "CURRENT_USER_TOOLS");
    assert_eq!(
        tools["queryParameters"]["parameters"][1]["value"],
        "={{ 'jira' }}"
    );
    assert!(!tools.to_string().contains("$fromAI"), "{tools}");
    let files: Vec<String> = [
        "main",
        "jira",
        "confluence",
        "gitlab",
        "sharepoint",
        "trello",
        "system",
    ]
    .map(|name| format!("exported/{name}_agent.json"))
    .into();
    let mut args = vec!["qa", "--output-format", "json"];
    args.extend(files.iter().map(String::as_str));
    let checked = project.run(&args);
    assert_eq!(checked.code, 0, "{}", checked.stdout);
    assert!(checked.stdout.contains("still to connect"));

    let mut export = vec!["packs", "export", PACK, "exported"];
    for account in [
        "azureOpenAiApi=a1:Models",
        "httpBasicAuth=b2",
        "postgres=c3:Memory",
    ] {
        export.extend(["--credential", account]);
    }
    let ran = project.run(&export);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let checked = project.run(&[&args[..], &["--fail-on", "warning"]].concat());
    assert_eq!(checked.code, 0, "{}", checked.stdout);
    let memory = read("main_agent.json")["nodes"].clone();
    let memory = memory.as_array().unwrap().iter();
    let memory: Vec<&Value> = memory
        .filter_map(|node| node["credentials"].get("postgres"))
        .collect();
    assert_eq!(memory, [&json!({"id": "c3", "name": "Memory"})]);

    export.extend(["--credential", "slackApi=d4"]);
    let ran = project.run(&export);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr
            .contains("no node of these workflows asks for a credential of the type slackApi"),
        "{}",
        ran.stderr
    );
}

/// Offline: the copilot is a pack of its own, with its own run and its own conversation.
#[test]
fn a_workflow_is_built_and_asked_about_in_the_callers_own_conversation() {
    let project = Project::new();
    let wish =
        "Build a workflow: when a webhook is called, post its text to the Slack channel #support";
    let built = asked(&project, &body(wish, "u-1", "c-1"), &[]);
    assert_eq!(built["data"]["changed"], true, "{built}");
    let made: Vec<_> = std::fs::read_dir(project.file("workflows"))
        .unwrap()
        .collect();
    assert_eq!(made.len(), 1, "{built}");
    let run = built["data"]["run"].as_str().unwrap();
    let kept = project.run(&["runs", "show", run, "--output-format", "json"]);
    assert_eq!(kept.code, 0, "{}", kept.stderr);
    // Another user's conversation of the same name is about no workflow.
    let other = asked(
        &project,
        &body("Change the workflow: rename the webhook", "u-2", "c-1"),
        &[],
    );
    assert_ne!(other["data"]["changed"], true, "{other}");
}

/// Of three tools that the role may use one step offers two: those with the words of what was said. The journal says so, with the scores.
#[test]
fn a_step_offers_the_best_of_many_tools_and_says_why() {
    let project = Project::new();
    assert_eq!(project.run(&["packs", "new", "desk"]).code, 0);
    for (id, words) in [
        (
            "exchange_rates",
            "Gives exchange rates of currencies. Use it when the user asks what a currency costs.",
        ),
        (
            "opening_hours",
            "Gives the opening hours of the office. Use it when the user asks when it is open.",
        ),
        (
            "parking",
            "Says where one may park. Use it when the user asks for a place to park.",
        ),
    ] {
        project.write(
            &format!("packs/desk/tools/{id}/tool.yaml"),
            &format!("tool_id: {id}\nname: {id}\ndescription: {words}\nkind: http\neffect: reads\nhttp: {{method: GET, url: \"https://desk.example.com/{id}\", query: {{q: \"{{query}}\"}}}}\nparameters: {{query: {{type: string, required: true}}}}\n"),
        );
    }
    let changed = |file: &str, before: &str, after: &str| {
        let path = format!("packs/desk/agents/{file}");
        let text = std::fs::read_to_string(project.file(&path)).unwrap();
        assert!(text.contains(before), "{text}");
        project.write(&path, &text.replacen(before, after, 1));
    };
    let tools = "exchange_rates, opening_hours, parking";
    changed(
        "helper.md",
        "tools: load_skill",
        &format!("tools: load_skill, {tools}"),
    );
    changed(
        "policy.yaml",
        "[read-skills]",
        &format!("[read-skills, {tools}]"),
    );
    changed("policy.yaml", "limits:", "limits:\n  max_offered_tools: 2");
    let said = project.run(&[
        "chat",
        "desk",
        "When is the office open, and where can I park?",
        "--output-format",
        "json",
    ]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let reply = said.json();
    let run = reply["run_id"].as_str().unwrap();
    let log = project.run(&["log", run, "--output-format", "json"]);
    assert_eq!(log.code, 0, "{}", log.stderr);
    let offered = log.stdout.split("tools_offered").nth(1).unwrap_or_default();
    let names = |of: &str| {
        ["exchange_rates", "opening_hours", "parking"].map(|name| of.find(&format!("\"{name}\"")))
    };
    let [rates, hours, parking] = names(offered);
    assert!(
        rates > hours && rates > parking && hours.is_some(),
        "{}",
        log.stdout
    );
}

/// What an agent of a system and the main agent do with their requests, what must hold of every reply, and workflows.
#[test]
fn its_dialogues_hold() {
    let project = Project::new();
    let ran = project.run(&["packs", "test", PACK]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
}

#[test]
fn its_tools_do_what_their_tests_say_and_are_found_by_their_words() {
    let project = Project::new();
    let ran = project.run(&["tools", "test", "--pack", PACK]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.ends_with("13 calls, 0 wrong, 0 left out\n"),
        "{}",
        ran.stdout
    );
    let given = [
        "--arg",
        "tool_type=jira",
        "--bind",
        "tenantID=t",
        "--bind",
        "userID=without-jira",
        "--pack",
        PACK,
    ];
    let called = project.run(&[&["tools", "call", "current_user_tools"][..], &given].concat());
    assert_eq!(called.code, 0, "{}", called.stderr);
    assert!(
        called.stdout.contains("\"mock\": true"),
        "{}",
        called.stdout
    );
    let other = project.run(&[
        "tools",
        "call",
        "current_user_tools",
        "--arg",
        "tool_type=fax",
        "--pack",
        PACK,
    ]);
    assert_eq!(other.code, 5, "{}", other.stdout);
    let found = project.run(&[
        "tools",
        "discover",
        "sprint of a board in Trello",
        "--pack",
        PACK,
        "--role",
        "main_agent",
        "--explain",
    ]);
    assert!(
        found.stdout.lines().next().unwrap().contains("ask_trello"),
        "{}",
        found.stdout
    );
    let stats = project.run(&["tools", "stats", "--pack", PACK]);
    assert!(
        stats.stdout.contains("current_user_tools: 0 calls"),
        "{}{}",
        stats.stdout,
        stats.stderr
    );
}

#[test]
fn a_platform_whose_address_is_refused_is_told_with_the_rule_and_the_remedy() {
    let project = Project::new();
    let env = [
        ("INTEGRATION_URL", "http://127.0.0.1:9"),
        ("INTEGRATION_USER", "me"),
        ("INTEGRATION_PASSWORD", "pw"),
    ];
    let reply = asked(
        &project,
        &body("Show me my Jira tickets", "u-1", "c-2"),
        &env,
    );
    assert_eq!(reply["data"]["error"], "refused", "{reply}");
    assert_eq!(reply["data"]["rule"], "guard.address", "{reply}");
    let text = reply["text"].as_str().unwrap();
    assert!(text.contains("allow_addresses"), "{text}");
}

/// What the manual shows of building is understood, and afterwards another workflow can be asked about.
#[test]
fn the_builds_that_the_manual_shows_are_understood() {
    let manual = include_str!("../../docs/assistant.md");
    let shown = manual.lines().filter_map(|line| {
        let wish = line.strip_prefix("agentctl chat assistant \"Build ")?;
        Some(format!("Build {}", wish.split('"').next()?))
    });
    let shown: Vec<String> = shown.collect();
    assert!(!shown.is_empty(), "the manual builds something");
    for wish in shown {
        let project = Project::new();
        let reply = mocked(&project, &wish, "u-1");
        let text = reply["text"].as_str().unwrap();
        assert!(!text.contains("Not understood"), "{wish}: {text}");
        let other = mocked(&project, "Explain the workflow Weekly report", "u-1");
        assert_eq!(other["data"]["name"], "Weekly report", "{other}");
    }
}
