//! What each agent of the built-in pack is told, as a file that a person reads: `tests/prompts/AGENT.md` has its system prompt, its
//! tools, and the task and contract of each of its steps. Recordings hold hashes of these parts; the hash stands behind each heading.
//!
//! A prompt that changes on purpose makes these fail. `RENEW_CONVERSATIONS=1 cargo test --test cli prompts` writes the files anew, and
//! their diff is the change.

use agentctl_base::canonical::{canonical, sha256_hex};
use agentctl_base::model::AgentTask;
use agentctl_engine::agent::{Skill, system_prompt, task_message};
use agentctl_engine::flow::StepKind;
use agentctl_engine::gateway::Gateway;
use agentctl_engine::pack::{Agent, Pack};
use agentctl_knowledge::Knowledge;
use agentctl_n8n::catalog::Catalog;
use agentctl_n8n_tools::backend::EmbeddedBackend;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What stands in a recording for a part: agent, part, hash.
type Known = BTreeSet<(String, String, String)>;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// As the tape shortens it.
fn hash(text: &str) -> String {
    sha256_hex(text.as_bytes())[..11].to_owned()
}

struct Page<'a> {
    agent: &'a str,
    text: String,
    known: Known,
}

impl Page<'_> {
    fn heading(&mut self, level: &str, part: &str, hash: String) {
        self.text.push_str(&format!("\n{level} {part} `{hash}`\n"));
        self.known
            .insert((self.agent.to_owned(), part.to_owned(), hash));
    }

    fn block(&mut self, kind: &str, text: &str) {
        let text = text.trim_end();
        self.text.push_str(&format!("````{kind}\n{text}\n````\n"));
    }

    fn json(&mut self, value: &Value) {
        self.block("json", &format!("{value:#}"));
    }
}

/// The page of an agent; None: no step of the flow is its.
fn page<'a>(agent: &'a Agent, pack: &Pack, gateway: &Gateway) -> Option<Page<'a>> {
    let skills: Vec<Skill<'_>> = (pack.skills.iter())
        .filter(|skill| agent.skills.contains(&skill.name))
        .map(|skill| Skill {
            name: &skill.name,
            description: &skill.description,
        })
        .collect();
    let mut page = Page {
        agent: &agent.name,
        text: format!("# What `{}` is told\n", agent.name),
        known: Known::new(),
    };
    let talks = pack.flow.talks(&agent.name);
    let system = system_prompt(&agent.prompt, &skills, pack.policy.vocabulary(), talks);
    page.heading("##", "system prompt", hash(&system));
    page.block("markdown", &system);
    for tool in gateway.tools_for(&agent.name, &agent.tools) {
        let part = format!("tool {}", tool.name);
        page.heading("##", &part, hash(&canonical(&json!(tool))));
        page.text.push_str(&format!("{}\n\n", tool.description));
        page.json(&tool.parameters);
    }
    let mut steps = 0;
    for step in pack.flow.steps_of_all() {
        let StepKind::Agent(spec) = &step.kind else {
            continue;
        };
        if spec.agent != agent.name {
            continue;
        }
        steps += 1;
        let task = AgentTask {
            agent: agent.name.clone(),
            step: step.id.clone(),
            task: spec.task.clone(),
            instructions: spec.instructions.clone(),
            input: Map::new(),
        };
        let contract = spec.contract.value();
        let whole = task_message(&task, contract);
        let (told, _) = whole.split_once("# Answer").unwrap();
        let lines: Vec<&str> = told.lines().collect();
        let part = format!("message 1, Task: {}", spec.task);
        page.heading("##", &part, hash(&canonical(&json!(lines))));
        page.block("markdown", told);
        let fields = [spec.reads.clone(), spec.with.keys().cloned().collect()].concat();
        page.text
            .push_str(&format!("\nInput: {}.\n", fields.join(", ")));
        page.heading("###", "contract", hash(&contract.to_string()));
        page.json(contract);
    }
    (steps > 0).then_some(page)
}

/// The pages of all agents that have a step.
fn with_pages(check: impl FnOnce(Vec<Page<'_>>)) {
    let project = tempfile::tempdir().unwrap();
    let pack = agentctl::pack::built_in().unwrap();
    let skills: Vec<_> = pack
        .skills
        .iter()
        .map(agentctl_knowledge::Skill::from)
        .collect();
    let knowledge = Knowledge::new(project.path(), skills);
    let backend = Arc::new(EmbeddedBackend::new(project.path()).unwrap());
    let gateway = agentctl_n8n_tools::fixture::gateway_on(
        pack.policy.clone(),
        backend,
        knowledge,
        Catalog::embedded(),
    );
    let agents = pack.agents.values();
    check(
        agents
            .filter_map(|agent| page(agent, &pack, &gateway))
            .collect(),
    );
}

#[test]
fn what_each_agent_is_told_is_reviewed() {
    with_pages(|pages| {
        for page in pages {
            let file = folder("tests/prompts").join(format!("{}.md", page.agent));
            if std::env::var_os("RENEW_CONVERSATIONS").is_some() {
                std::fs::write(&file, &page.text).unwrap();
                continue;
            }
            let before = std::fs::read_to_string(&file).unwrap_or_default();
            let diff = agentctl_base::line_diff::unified(&before, &page.text, 3, None);
            assert!(
                before == page.text,
                "{} is told something else than {} says; if that is meant: RENEW_CONVERSATIONS=1 cargo test --test cli\n{}",
                page.agent,
                file.display(),
                diff
            );
        }
    });
}

/// So a changed hash in a recording is explained by the diff of a page.
#[test]
fn each_part_of_a_recording_stands_on_a_page() {
    if std::env::var_os("RENEW_CONVERSATIONS").is_some() {
        return;
    }
    with_pages(|pages| {
        let known: Known = pages.into_iter().flat_map(|page| page.known).collect();
        let mut checked = 0;
        for folder in std::fs::read_dir(folder("tests/conversations")).unwrap() {
            let folder = folder.unwrap().path();
            let ways = ["recording.json", "one-agent.json"].map(|way| folder.join(way));
            for path in ways.into_iter().filter(|path| path.exists()) {
                let text = std::fs::read_to_string(&path).unwrap();
                let entries = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
                for entry in entries.map(Result::unwrap) {
                    let Some(parts) = entry["asks"]["parts"].as_object() else {
                        continue;
                    };
                    let agent = entry["agent"].as_str().unwrap();
                    for (part, hash) in parts {
                        let prompt = ["system prompt", "contract"].contains(&part.as_str())
                            || part.starts_with("tool ")
                            || part.starts_with("message 1, Task: ");
                        let hash = hash.as_str().unwrap();
                        let one = (agent.to_owned(), part.clone(), hash.to_owned());
                        assert!(
                            !prompt || known.contains(&one),
                            "{}: {one:?}",
                            path.display()
                        );
                        checked += usize::from(prompt);
                    }
                }
            }
        }
        assert!(checked > 390, "{checked} parts");
    });
}
