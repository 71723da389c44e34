//! A pack is read with the words of the toolset that it is for.

use super::{BuiltIn, LoadOptions, Pack, load};
use crate::vocabulary::fixture::vocabulary;
use std::path::Path;

const FLOW: &str = "\
name: t
stages: [one]
blocked: stuck
fields:
  note: {kind: object, writers: [keeper]}
steps:
  - id: look
    stage: one
    tool: list_items
    role: keeper
  - id: first
    agent: keeper
    task: t
    when: size(pair(1, 2)) == 2
    instructions: do it
    writes: [note]
    contract: {type: object, properties: {note: {type: object}}}
";

const POLICY: &str = "roles:\n  keeper: [list-items, hand-over]\n";

fn read(flow: &str, policy: &str) -> Result<Pack, String> {
    let agent = "---\nname: keeper\ndescription: Keeps items.\nmodel: haiku\ntools: list_items, mow_lawn\n---\n\nYou keep items.\n";
    let files = [
        ("agents/keeper.md", agent),
        ("agents/flow.yaml", flow),
        ("agents/policy.yaml", policy),
    ];
    let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec().into()));
    let built_in = BuiltIn::new(vocabulary(), files);
    load(&built_in, None, Path::new(""), &LoadOptions::default())
        .map_err(|errors| errors.to_string())
}

#[test]
fn a_pack_names_what_its_toolset_brings_and_is_told_what_is_retired() {
    let pack = read(FLOW, POLICY).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(pack.agents["keeper"].tools, ["list_items"]);
    assert_eq!(
        pack.warnings,
        [
            "built-in agents/policy.yaml:2: the capability \"hand-over\" is no more and gives \"keeper\" nothing: no tool ever needed it",
            "built-in agents/keeper.md:5: there is no tool \"mow_lawn\"; the agent will not see it",
        ]
    );
}

#[test]
fn what_another_toolset_brings_is_no_name_here() {
    let told = read(
        &FLOW
            .replace("list_items", "list_things")
            .replace("pair(1, 2)", "merge(1, 2)"),
        &POLICY.replace("hand-over", "get-items"),
    )
    .unwrap_err();
    for part in [
        "built-in agents/flow.yaml:9:11: there is no tool \"list_things\"; did you mean \"list_items\"?",
        "built-in agents/flow.yaml:14:11: the expression `size(merge(1, 2)) == 2` calls the unknown function `merge`",
        "built-in agents/policy.yaml:2:24: \"get-items\" is no capability; there are list-items, get-item, create-item",
        "; did you mean \"get-item\"?",
    ] {
        assert!(told.contains(part), "{part} in\n{told}");
    }
}
