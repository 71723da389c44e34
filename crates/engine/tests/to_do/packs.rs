//! The pack of the to-do lists, read as any pack is read.

use crate::words::to_do;
use agentctl_engine::pack::{self, BuiltIn, FLOW_FILE, LoadOptions, Pack};
use std::borrow::Cow;
use std::path::Path;
use std::sync::LazyLock;

const FLOW: &str = include_str!("pack/agents/flow.yaml");

static BUILT_IN: LazyLock<BuiltIn> = LazyLock::new(|| {
    let files = [
        (FLOW_FILE, FLOW),
        (
            "agents/policy.yaml",
            include_str!("pack/agents/policy.yaml"),
        ),
        ("agents/planner.md", include_str!("pack/agents/planner.md")),
        ("agents/keeper.md", include_str!("pack/agents/keeper.md")),
    ];
    let files = files.map(|(path, text)| (path.to_owned(), Cow::Borrowed(text.as_bytes())));
    BuiltIn::new(to_do().clone(), files)
});

static PACK: LazyLock<Pack> = LazyLock::new(|| {
    pack::load(&BUILT_IN, None, Path::new(""), &LoadOptions::default())
        .unwrap_or_else(|e| panic!("{e}"))
});

pub fn chores() -> Pack {
    PACK.clone()
}

#[test]
fn the_pack_is_read_without_a_warning() {
    let pack = chores();
    assert_eq!(pack.warnings, Vec::<String>::new());
    assert_eq!(pack.flow.scope_field(), Some("may_change"));
    assert_eq!(pack.flow.report_field("review"), Some("verdict"));
    let tools = |agent: &str| pack.agents[agent].tools.join(" ");
    assert_eq!(tools("planner"), "check_list list_lists read_list");
    assert_eq!(
        tools("keeper"),
        "create_list delete_list edit_list read_list"
    );
}

/// A flow of a project's own that does not say what its fields mean keeps what the pack says of fields of the same name: else the
/// scope would guard nothing. The pack's flow calls a function of the toolset, as that of n8n does.
#[test]
fn a_flow_of_the_projects_own_keeps_what_the_fields_mean() {
    let dir = tempfile::tempdir().unwrap();
    let own = FLOW
        .replace(", guards: scope", "")
        .replace("fact: review, ", "");
    assert_ne!(own, FLOW);
    std::fs::create_dir(dir.path().join("agents")).unwrap();
    std::fs::write(dir.path().join(FLOW_FILE), own).unwrap();
    let pack = pack::load(&BUILT_IN, None, dir.path(), &LoadOptions::all()).unwrap();
    assert_eq!(pack.overrides, [FLOW_FILE]);
    assert_eq!(pack.flow.scope_field(), Some("may_change"));
    assert_eq!(pack.flow.fact_field("review"), Some("verdict"));
}

/// What another toolset brings is nothing here: tools, capabilities, facts and sections are those of this one.
#[test]
fn what_these_tools_do_not_bring_is_a_mistake_of_the_pack() {
    let wrong = FLOW
        .replace("fact: review", "fact: check")
        .replace("report: list", "report: workflow")
        .replace("tool: read_list", "tool: get_workflow");
    let files = [(FLOW_FILE.to_owned(), Cow::Owned(wrong.into_bytes()))];
    let broken = BuiltIn::new(to_do().clone(), files);
    let errors = pack::load(&broken, None, Path::new(""), &LoadOptions::default()).unwrap_err();
    let said = errors.to_string();
    for message in [
        "there is no `fact: check`; there is resource, review",
        "there is no `report: workflow`; there is list, review",
        "get_workflow",
    ] {
        assert!(said.contains(message), "{said}");
    }
}
