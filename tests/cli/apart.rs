//! Agents of a team that are services of their own: served one by one, reached by an orchestrator over A2A, away where they are not what
//! was approved or give what nobody asked for.

use crate::serving::{Served, TOKEN};
use crate::support::{Project, Ran};
use serde_json::{Value, json};

const QUESTION: &str = "How long is the heating network of Norrfeld, and what did it cost?";

/// A command of a user whose own settings know the served agents as `tech` and `money`.
fn own(project: &Project, served: &Served, money: &str, args: &[&str]) -> Ran {
    let agent = |name: &str, of: &str| {
        let at = &served.address;
        format!(
            "[a2a.agents.{name}]\nurl = \"http://{at}/agents/{of}\"\ntoken_env = \"A2A_TOKEN\"\n"
        )
    };
    let settings = agent("tech", "technology-agent") + &agent("money", money);
    let config = project.home().join("config.toml");
    std::fs::write(&config, settings).unwrap();
    let mut command = project.command(args);
    command.env_remove("AGENTCTL_TOOLS");
    command
        .env("AGENTCTL_CONFIG", config)
        .env("A2A_TOKEN", TOKEN);
    let ran = command.output().unwrap().into();
    super::published::held(args, &ran);
    ran
}

fn orchestrator(project: &Project) {
    let file = json!({
        "id": "apart",
        "on_failure": "continue",
        "timeout_s": 60,
        "agents": {"technology-agent": {"a2a": "tech", "effect": "reads"}, "economic-agent": {"a2a": "money", "effect": "reads"}},
        "steps": [
            {"id": "plan", "pattern": "sequential", "agents": ["research-orchestrator-agent"], "on_failure": "stop"},
            {"id": "analyse", "pattern": "parallel", "agents": ["technology-agent", "economic-agent"]},
            {"id": "check", "pattern": "sequential", "agents": ["fact-checking-agent"]}
        ]
    });
    project.write("apart.json", &file.to_string());
}

/// Both cards are approved as they are.
fn approved(project: &Project, served: &Served, money: &str) {
    for name in ["tech", "money"] {
        let ran = own(project, served, money, &["a2a", "approve", name]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
}

fn researched(project: &Project, served: &Served, money: &str) -> Value {
    let args = [
        "run",
        "research",
        QUESTION,
        "--orchestrator",
        "apart.json",
        "--output-format",
        "json",
    ];
    let ran = own(project, served, money, &args);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    ran.json()["output"].clone()
}

fn status(output: &Value) -> [&str; 2] {
    ["technology-agent", "economic-agent"]
        .map(|name| output["agents"][name]["status"].as_str().unwrap())
}

#[test]
fn an_orchestrator_reaches_agents_that_are_services_of_their_own() {
    let (project, other) = (Project::new(), Project::new());
    let mut command = Served::command(&other);
    command.args(["--agents", "technology-agent,economic-agent"]);
    let served = Served::of(command);
    assert_eq!(served.packs, ["technology-agent", "economic-agent"]);
    orchestrator(&project);

    // Nobody approved the cards: both are away, and it is said why.
    let args = ["run", "research", QUESTION, "--orchestrator", "apart.json"];
    let ran = own(&project, &served, "economic-agent", &args);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    let why = "the card of the agent tech is not approved";
    assert!(ran.stderr.contains(why), "{}", ran.stderr);

    approved(&project, &served, "economic-agent");
    let output = researched(&project, &served, "economic-agent");
    assert_eq!(status(&output), ["completed", "completed"]);
    // The same as where all of them work here.
    let here = project.run(&[
        "run",
        "research",
        QUESTION,
        "--agents",
        "technology-agent,economic-agent",
        "--output-format",
        "json",
    ]);
    assert_eq!(output["claims"], here.json()["output"]["claims"]);

    let card = ["a2a", "card", "tech", "--output-format", "json"];
    assert_eq!(own(&project, &served, "economic-agent", &card).code, 0);
    // One agent by itself, asked in words.
    let ran = own(
        &project,
        &served,
        "economic-agent",
        &["a2a", "send", "tech", QUESTION, "--output-format", "json"],
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("148 kilometres"), "{}", ran.stdout);
}

#[test]
fn an_agent_that_gives_something_else_is_away_and_the_others_go_on() {
    let (project, other) = (Project::new(), Project::new());
    let mut command = Served::command(&other);
    command.args(["--agents", "technology-agent,research-orchestrator-agent"]);
    let served = Served::of(command);
    orchestrator(&project);
    // A plan is no list of claims.
    approved(&project, &served, "research-orchestrator-agent");
    let output = researched(&project, &served, "research-orchestrator-agent");
    assert_eq!(status(&output), ["completed", "failed"]);
    let report = output["report_markdown"].as_str().unwrap();
    assert!(
        report.contains("economic-agent: ") && report.contains("claims"),
        "{report}"
    );
}

#[test]
fn who_is_no_agent_of_a_team_is_not_served() {
    let project = Project::new();
    let ran = project.run(&["serve", "--check", "--agents", "technolgy-agent"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("did you mean \"technology-agent\"?"),
        "{}",
        ran.stderr
    );
    let ran = project.run(&["serve", "--check", "--agents", "technology-agent"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stdout.contains("A2A /agents/technology-agent"),
        "{}",
        ran.stdout
    );
}
