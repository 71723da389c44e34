use super::*;
use agentctl_engine::pack::{SkillSource, Tier};
use agentctl_knowledge::KnowledgeError;

fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    dir
}

#[test]
fn the_built_in_pack_loads_without_a_warning() {
    let dir = project(&[]);
    let pack = load(dir.path(), &LoadOptions::all()).unwrap_or_else(|errors| panic!("{errors}"));
    let names: Vec<&str> = pack.agents.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "analyst",
            "architect",
            "builder",
            "qa",
            "researcher",
            "single"
        ]
    );
    assert_eq!(pack.warnings, Vec::<String>::new());
    assert_eq!(pack.skills.len(), 8);
    assert_eq!(
        pack.hash,
        load(dir.path(), &LoadOptions::all()).unwrap().hash
    );
    let architect = pack.agents.get("architect").unwrap();
    assert_eq!(
        architect.tools,
        [
            "load_skill",
            "read_learning",
            "read_skill_file",
            "search_learnings"
        ]
    );
    assert_eq!((architect.tier, architect.max_turns), (Tier::Opus, 12));
}

#[test]
fn the_front_door_asks_a_model_in_exactly_six_places() {
    let dir = project(&[]);
    let pack = named("front-door", dir.path(), &LoadOptions::all());
    let pack = pack.unwrap_or_else(|error| panic!("{error}"));
    let steps = pack.flow.steps_of_all().into_iter();
    let mut asked: Vec<&str> = steps.filter_map(|step| step.agent()).collect();
    asked.sort_unstable();
    assert_eq!(
        asked,
        [
            "chat",
            "elicitation",
            "matcher",
            "no_match",
            "reviewer",
            "supervisor"
        ]
    );
}

const AGENT: &str = "---\nname: builder\ndescription: Builds.\nmodel: haiku\ntools:\n  - create_workflow\n  - validate_workflow\n  - Read\ncolor: red\n---\nBuild.\n";

#[test]
fn a_project_file_stands_for_the_built_in_one() {
    let dir = project(&[("agents/builder.md", AGENT)]);
    let pack = load(dir.path(), &LoadOptions::all()).unwrap_or_else(|errors| panic!("{errors}"));
    let builder = pack.agents.get("builder").unwrap();
    assert_eq!(
        (
            builder.tier,
            builder.prompt.as_str(),
            builder.source.as_str()
        ),
        (Tier::Haiku, "Build.", "agents/builder.md")
    );
    assert_eq!(builder.tools, ["create_workflow"]);
    assert_eq!(
        pack.warnings,
        [
            "agents/builder.md:9: the key \"color\" is not known and has no effect",
            "agents/builder.md:7: the policy does not grant validate_workflow to builder; the agent will not see it",
            "agents/builder.md:8: there is no tool \"Read\"; the agent will not see it",
        ]
    );
    assert_ne!(
        pack.hash,
        load(project(&[]).path(), &LoadOptions::all()).unwrap().hash
    );
}

#[test]
fn every_mistake_is_reported_in_one_pass_with_its_line() {
    let dir = project(&[
        (
            "agents/builder.md",
            "---\nname: Builder\nmodel: gpt\nmaxTurns: many\n---\n",
        ),
        (
            "agents/extra.md",
            "---\nname: extra\ndescription: d\nskills: nothing-such\n---\nText\n",
        ),
        ("agents/plain.md", "no head\n"),
        ("skills/one/SKILL.md", "---\nname: two\n---\nbody\n"),
        (
            "agents/policy.yaml",
            "roles:\n  qa: [create-workflow]\nlimits:\n  max_turns: 31\n",
        ),
    ]);
    let errors = load(dir.path(), &LoadOptions::all()).unwrap_err();
    let found: Vec<String> = errors
        .problems
        .iter()
        .filter(|p| !p.file.starts_with("built-in"))
        .map(|p| format!("{}:{}", p.file, p.place.line))
        .collect();
    assert_eq!(
        found,
        [
            "agents/builder.md:0",
            "agents/builder.md:1",
            "agents/builder.md:2",
            "agents/builder.md:3",
            "agents/builder.md:4",
            "agents/extra.md:4",
            "agents/plain.md:1",
            "agents/policy.yaml:2",
            "agents/policy.yaml:4",
            "skills/one/SKILL.md:1",
            "skills/one/SKILL.md:2",
        ],
        "{errors}"
    );
    assert!(
        errors
            .to_string()
            .contains("the pack has no agent \"builder\""),
        "{errors}"
    );
}

#[test]
fn a_loosening_project_policy_needs_the_flag() {
    let dir = project(&[(
        "agents/policy.yaml",
        "roles:\n  qa: [list-workflows, get-workflow, validate-final, read-executions, create-workflow]\n",
    )]);
    assert!(
        load(dir.path(), &LoadOptions::all())
            .unwrap_err()
            .to_string()
            .contains("may only tighten")
    );
    let pack = load(
        dir.path(),
        &LoadOptions {
            allow_loosen: true,
            ..LoadOptions::all()
        },
    )
    .unwrap();
    assert_eq!(pack.policy.loosened(), ["qa would get create-workflow"]);
    assert_eq!(
        pack.agents.get("qa").unwrap().tools,
        [
            "get_execution",
            "get_workflow",
            "list_executions",
            "list_workflows",
            "validate_workflow"
        ]
    );
}

#[test]
fn skills_of_the_project_come_first_and_stay_inside_their_folder() {
    let skill = "---\nname: n8n-code-python\ndescription: Ours.\nx-other: 1\n---\nOur text\n";
    let dir = project(&[
        (".claude/skills/n8n-code-python/SKILL.md", skill),
        (".claude/skills/n8n-code-python/references/a.md", "A"),
        ("secret.txt", "secret"),
    ]);
    let pack = load(dir.path(), &LoadOptions::all()).unwrap_or_else(|errors| panic!("{errors}"));
    let ours = pack.skill("n8n-code-python").unwrap();
    assert_eq!(
        (ours.body.as_str(), &ours.source),
        ("Our text", &SkillSource::Project(".claude/skills".into()))
    );
    assert_eq!(ours.place.files(), ["references/a.md"]);
    assert_eq!(ours.place.read("references/a.md").unwrap(), "A");
    for path in ["../../../secret.txt", "/etc/hosts", "a/../../b", ""] {
        assert!(
            matches!(ours.place.read(path), Err(KnowledgeError::Outside { .. })),
            "{path}"
        );
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(
            dir.path().join("secret.txt"),
            dir.path()
                .join(".claude/skills/n8n-code-python")
                .join("link.md"),
        )
        .unwrap();
        assert!(ours.place.read("link.md").is_err());
    }
    let built_in = pack.skill("n8n-expression-syntax").unwrap();
    assert!(built_in.body.starts_with("# "));
    let first = built_in.place.files().first().cloned();
    if let Some(file) = first {
        assert!(!built_in.place.read(&file).unwrap().is_empty());
    }
    assert!(matches!(
        built_in.place.read("none.md"),
        Err(KnowledgeError::NotFound { .. })
    ));
}

#[test]
fn the_built_in_policy_copied_into_a_project_changes_nothing() {
    let dir = project(&[(
        "agents/policy.yaml",
        include_str!("../../agents/policy.yaml"),
    )]);
    let pack = load(dir.path(), &LoadOptions::all()).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(
        pack.policy,
        load(project(&[]).path(), &LoadOptions::all())
            .unwrap()
            .policy
    );
}

#[test]
fn line_endings_and_a_byte_order_mark_make_no_difference() {
    let text = format!("\u{feff}{}", AGENT.replace('\n', "\r\n"));
    let dir = project(&[("agents/builder.md", &text)]);
    let pack = load(dir.path(), &LoadOptions::all()).unwrap_or_else(|errors| panic!("{errors}"));
    let builder = pack.agents.get("builder").unwrap();
    assert_eq!(
        (builder.description.as_str(), builder.prompt.as_str()),
        ("Builds.", "Build.")
    );
    let dir = project(&[("agents/builder.md", "---\nname: builder\n")]);
    assert!(
        load(dir.path(), &LoadOptions::all())
            .unwrap_err()
            .to_string()
            .contains("agents/builder.md:1:1: the head is not closed")
    );
}

#[test]
fn a_flow_of_the_project_is_checked_against_agents_and_policy() {
    let flow = "name: t\nstages: [one]\nblocked: stuck\nsteps:\n  - {id: s, tool: create_workflow, role: qa}\n  - {id: t, tool: get_workflow, role: nobody}\n";
    let dir = project(&[("agents/flow.yaml", flow)]);
    let text = load(dir.path(), &LoadOptions::all())
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("agents/flow.yaml:6:39: the pack has no agent \"nobody\""),
        "{text}"
    );
    let flow = flow.replace("nobody", "qa");
    let dir = project(&[("agents/flow.yaml", &flow)]);
    let text = load(dir.path(), &LoadOptions::all())
        .unwrap_err()
        .to_string();
    assert_eq!(
        text,
        "agents/flow.yaml:5:5: the step \"s\" calls create_workflow as qa, which the policy denies"
    );
}

#[test]
fn a_flow_that_does_not_say_what_its_fields_mean_keeps_the_guards_of_the_built_in_one() {
    let own = "name: mine\nstages: [one]\nblocked: stuck\nfields:\n  workflow: {kind: object, writers: [builder]}\n  edit_scope: {kind: replace, writers: [qa]}\n  verdict: {kind: object, writers: [qa], fact: check}\nsteps:\n  - id: ok\n    gate: 'true'\n    otherwise: {end: {outcome: failed, message: \"'no'\"}}\n";
    let dir = project(&[("agents/flow.yaml", own)]);
    let flow = load(dir.path(), &LoadOptions::all()).unwrap().flow;
    let facts: Vec<_> = flow.facts().collect();
    assert_eq!(facts, [("workflow", "resource"), ("verdict", "check")]);
    assert_eq!(
        [flow.scope_field(), flow.report_field("workflow")],
        [Some("edit_scope"), Some("workflow")]
    );
    let dir = project(&[("agents/flow.yaml", &own.replace("check", "chek"))]);
    let errors = load(dir.path(), &LoadOptions::all()).unwrap_err();
    assert_eq!(
        errors.to_string(),
        "agents/flow.yaml:7:48: there is no `fact: chek`; there is resource, check; did you mean \"check\"?"
    );
}
