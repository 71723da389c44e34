//! The built-in prompts keep to their form: short, with two worked examples each, and every example is one that the program
//! would take. An example is the JSON block after a paragraph that begins with the task or the tool that it is of.

use agentctl_engine::agent::Contract;
use agentctl_engine::flow::{AgentSpec, Step, StepKind};
use agentctl_engine::toolset::Head;
use agentctl_n8n_tools::fixture::toolsets;
use agentctl_n8n_tools::tools;
use indexmap::IndexMap;
use serde_json::Value;

struct Example {
    head: String,
    value: Value,
}

fn examples(prompt: &str) -> Vec<Example> {
    let (_, part) = prompt.split_once("\n# Examples\n").unwrap();
    let mut found = Vec::new();
    let mut rest = part;
    while let Some((before, after)) = rest.split_once("```json\n") {
        let (block, next) = after.split_once("\n```").unwrap();
        let head = before.trim().rsplit("\n\n").next().unwrap();
        // After a block the next head may follow without an empty line.
        let head = head.rsplit_once("\n**").map_or(head, |(_, tail)| tail);
        let head = head.trim_start_matches('*').to_owned();
        let value = serde_json::from_str(block).unwrap_or_else(|e| panic!("{head}: {e}"));
        found.push(Example { head, value });
        rest = next;
    }
    found
}

fn agent_steps(steps: &[Step]) -> Vec<&AgentSpec> {
    let inner = steps.iter().flat_map(|step| match &step.kind {
        StepKind::Agent(agent) => vec![agent],
        _ => step.children().into_iter().flat_map(agent_steps).collect(),
    });
    inner.collect()
}

/// The agents of the flow with five of them. The one that works alone has no examples: its conversations are recorded (tests/conversations).
fn of_the_team<A>(agents: &IndexMap<String, A>) -> impl Iterator<Item = (&String, &A)> {
    agents.iter().filter(|(name, _)| *name != "single")
}

/// The word in backticks after `kind`: ``Task `clarify` ``.
fn heads() -> Vec<Head> {
    let mut all = tools::heads();
    all.extend(agentctl_n8n_tools::library::heads());
    all
}

fn named<'h>(head: &'h str, kind: &str) -> Option<&'h str> {
    let rest = head.strip_prefix(kind)?.trim_start().strip_prefix('`')?;
    rest.split_once('`').map(|(name, _)| name)
}

#[test]
fn the_worked_examples_of_every_prompt_are_answers_and_calls_that_the_program_takes() {
    let dir = tempfile::tempdir().unwrap();
    let pack = super::load(dir.path(), &super::LoadOptions::all())
        .unwrap_or_else(|errors| panic!("{errors}"));
    let steps = agent_steps(&pack.flow.steps);
    for (name, agent) in of_the_team(&pack.agents) {
        let examples = examples(&agent.prompt);
        assert!(examples.len() >= 2, "{name} has {}", examples.len());
        for Example { head, value } in examples {
            if let Some(tool) = named(&head, "Call") {
                let heads = heads();
                let tool = heads
                    .iter()
                    .find(|head| head.name == tool)
                    .unwrap_or_else(|| panic!("{name}: {head}"));
                assert!(agent.tools.iter().any(|t| t == tool.name), "{name}: {head}");
                let schema = tool.spec().parameters;
                let faults = Contract::compile(&schema).unwrap().faults(&value);
                assert_eq!(faults, Vec::<String>::new(), "{name}: {head}");
                let Value::Object(args) = value else { panic!() };
                toolsets()
                    .iter()
                    .find(|set| set.tools().iter().any(|head| head.name == tool.name))
                    .unwrap()
                    .parse(tool.name, args)
                    .map(|_| ())
                    .unwrap_or_else(|e| panic!("{name}: {head}: {e}"));
                continue;
            }
            let task = named(&head, "Task").unwrap_or_else(|| panic!("{name}: {head}"));
            let contract = match steps.iter().find(|s| s.agent == *name && s.task == task) {
                Some(step) => {
                    let patch = value.as_object().unwrap().keys();
                    for key in patch.filter(|key| pack.flow.fields.contains_key(*key)) {
                        assert!(step.writes.contains(key), "{name}: {head}: {key}");
                    }
                    step.contract.value().clone()
                }
                None => panic!("{name} has no task {task}"),
            };
            let faults = Contract::compile(&contract).unwrap().faults(&value);
            assert_eq!(faults, Vec::<String>::new(), "{name}: {head}");
        }
    }
}

#[test]
fn a_prompt_is_short_and_names_every_field_and_no_other_agents_tool() {
    let dir = tempfile::tempdir().unwrap();
    let pack = super::load(dir.path(), &super::LoadOptions::all())
        .unwrap_or_else(|errors| panic!("{errors}"));
    for (name, agent) in of_the_team(&pack.agents) {
        // Four bytes a token: a thousand tokens at most.
        assert!(
            agent.prompt.len() <= 4_400,
            "{name}: {}",
            agent.prompt.len()
        );
        let owned = pack.flow.fields.iter().filter(|(field, spec)| {
            spec.writers.iter().any(|writer| writer == name) && *field != "memory"
        });
        for (field, _) in owned {
            assert!(
                agent.prompt.contains(&format!("`{field}")),
                "{name}: {field}"
            );
        }
        let words = agent
            .prompt
            .split(|c: char| !(c.is_alphanumeric() || c == '_'));
        for tool in words.filter(|word| heads().iter().any(|head| head.name == *word)) {
            let own = agent.tools.iter().any(|t| t == tool);
            assert!(own, "{name} speaks of {tool}, which it does not have");
        }
    }
}
