//! Packs by name: a folder of their own, several flows, data, and a project's files over them.

use super::{BuiltIn, LoadOptions, Pack, PackErrors, PackFiles, load};
use crate::vocabulary::Vocabulary;
use std::borrow::Cow;

const MANIFEST: &str =
    "name: desk\ntitle: Takes requests\nentry: turn\ndata: {teams: data/teams.yaml}\n";
const TURN: &str = "name: desk\nsteps:\n  - {id: hello, say: {text: \"pack.teams[0].name\"}}\n";
const OTHER: &str = "name: other\nsteps:\n  - {id: bye, say: {text: \"'bye'\"}}\n";
const POLICY: &str = "roles: {}\n";
const TEAMS: &str = "- {id: a, name: Team A}\n- {id: b, name: Team B}\n";
const SCHEMA: &str = r#"{"type": "array", "items": {"type": "object", "required": ["id", "name"], "properties": {"id": {"type": "string"}}}}"#;

fn files(more: &[(&str, &'static str)]) -> Vec<(String, Cow<'static, [u8]>)> {
    let mut files = vec![
        ("pack.yaml", MANIFEST),
        ("agents/turn.flow.yaml", TURN),
        ("agents/other.flow.yaml", OTHER),
        ("agents/policy.yaml", POLICY),
        ("data/teams.yaml", TEAMS),
        ("data/teams.schema.json", SCHEMA),
    ];
    files.extend_from_slice(more);
    let files = files.into_iter();
    files
        .map(|(path, text)| (path.to_owned(), Cow::Borrowed(text.as_bytes())))
        .collect()
}

fn desk() -> BuiltIn {
    BuiltIn::named("desk", Vocabulary::default(), files(&[]))
}

fn in_project(own: &[(&str, &str)], built_in: &BuiltIn) -> Result<Pack, PackErrors> {
    let project = tempfile::tempdir().unwrap();
    for (path, text) in own {
        let path = project.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    load(built_in, None, project.path(), &LoadOptions::all())
}

fn told(result: Result<Pack, PackErrors>) -> String {
    result.map(|pack| pack.hash).unwrap_err().to_string()
}

#[test]
fn a_pack_has_several_flows_and_begins_with_the_one_it_names() {
    let pack = in_project(&[], &desk()).unwrap();
    assert_eq!(pack.manifest.name, "desk");
    assert_eq!(pack.flow.name, "desk");
    assert_eq!(pack.named.as_deref(), Some("desk"));
    assert_eq!(pack.flows.keys().collect::<Vec<_>>(), ["other", "turn"]);
    assert_eq!(pack.data["teams"][1]["id"], "b");
    assert!(pack.overrides.is_empty());
    let other = pack.clone().with_flow("other").unwrap();
    assert_eq!(other.flow.name, "other");
    assert_eq!(other.named.as_deref(), Some("desk/other"));
    assert_eq!(
        pack.clone().with_flow("turn").unwrap().named.as_deref(),
        Some("desk")
    );
    assert!(pack.with_flow("missing").is_none());
}

#[test]
fn a_projects_file_stands_for_the_one_of_the_same_path() {
    let before = in_project(&[], &desk()).unwrap();
    let own = [
        ("packs/desk/data/teams.yaml", "- {id: c, name: Team C}\n"),
        // Not the pack's: the folder of another one.
        ("agents/policy.yaml", "roles: {}\n"),
        ("data/teams.yaml", "[]\n"),
    ];
    let pack = in_project(&own, &desk()).unwrap();
    assert_eq!(pack.overrides, ["packs/desk/data/teams.yaml"]);
    assert_eq!(pack.data["teams"][0]["id"], "c");
    assert_ne!(pack.hash, before.hash);
    assert_eq!(pack.agents.len(), 0);
}

#[test]
fn a_folder_that_does_not_count_overrides_nothing() {
    let project = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(project.path().join("packs/desk/data")).unwrap();
    std::fs::write(project.path().join("packs/desk/data/teams.yaml"), "[]\n").unwrap();
    let restricted = load(&desk(), None, project.path(), &LoadOptions::default()).unwrap();
    assert_eq!(restricted.data["teams"][0]["id"], "a");
    let left_out = LoadOptions {
        files: PackFiles {
            left_out: ["packs/desk".to_owned()].into(),
            ..PackFiles::all()
        },
        ..LoadOptions::default()
    };
    let pack = load(&desk(), None, project.path(), &left_out).unwrap();
    assert_eq!(pack.data["teams"][0]["id"], "a");
    assert!(
        pack.warnings.iter().any(|w| w.contains("packs/desk")),
        "{:?}",
        pack.warnings
    );
}

#[test]
fn a_project_may_bring_a_pack_of_its_own() {
    let own = files(&[]);
    let own: Vec<(String, String)> = own
        .into_iter()
        .map(|(path, text)| {
            (
                format!("packs/desk/{path}"),
                String::from_utf8_lossy(&text).into_owned(),
            )
        })
        .collect();
    let own: Vec<(&str, &str)> = own.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect();
    let nothing = BuiltIn::named("desk", Vocabulary::default(), []);
    let pack = in_project(&own, &nothing).unwrap();
    assert_eq!(pack.flow_file, "packs/desk/agents/turn.flow.yaml");
    assert!(pack.overrides.contains(&"packs/desk/pack.yaml".to_owned()));
    assert!(told(in_project(&[], &nothing)).contains("packs/desk/pack.yaml"));
}

#[test]
fn wrong_data_is_told_at_its_line() {
    let own = [(
        "packs/desk/data/teams.yaml",
        "- {id: a, name: A}\n- name: B\n- {id: 3, name: C}\n",
    )];
    let told = told(in_project(&own, &desk()));
    assert!(told.contains("packs/desk/data/teams.yaml:2:"), "{told}");
    assert!(told.contains("packs/desk/data/teams.yaml:3:"), "{told}");
    // The shape is the pack's, whatever the folder brings.
    let own = [
        ("packs/desk/data/teams.yaml", "- name: B\n"),
        ("packs/desk/data/teams.schema.json", "{}"),
    ];
    assert!(self::told(in_project(&own, &desk())).contains("teams.yaml:1:"));
}

#[test]
fn every_mistake_of_a_manifest_is_told_in_one_pass() {
    let wrong = "name: Desk!\nentry: missing\ncolour: red\nrequires: n8n\ndata: {a: ../secrets.yaml, b: data/none.yaml}\nchat: Other one\ncommands: {undo: takes back}\n";
    let own = [("packs/desk/pack.yaml", wrong)];
    let told = told(in_project(&own, &desk()));
    for part in [
        "pack.yaml:1:",
        "\"Desk!\"",
        "pack.yaml:3:",
        "\"colour\"",
        "requires is a list",
        "below the pack's folder",
        "\"Other one\" is no name of a pack",
        "a command is a word like /undo",
        "packs/desk/data/none.yaml",
        "agents/missing.flow.yaml",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn a_step_of_any_flow_that_its_role_may_never_take_is_a_mistake() {
    let flow = "name: other\nsteps:\n  - {id: t, tool: mcp__x__y, role: nobody, args: {}}\n";
    let own = [("packs/desk/agents/other.flow.yaml", flow)];
    let told = told(in_project(&own, &desk()));
    assert!(told.contains("packs/desk/agents/other.flow.yaml"), "{told}");
}
