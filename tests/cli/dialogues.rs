//! `agentctl packs test` and `packs new`: the dialogues of the packs hold, what does not hold is told with its place, and a new pack
//! works from its first moment.

use crate::support::Project;
use serde_json::{Value, json};
use std::path::Path;

/// The expectations of one of the front door's files that hold, of how many; and what does not.
fn held(file: &str) -> (u64, u64, String) {
    held_in(&Project::new(), file)
}

fn held_in(project: &Project, file: &str) -> (u64, u64, String) {
    let ran = project.run(&[
        "packs",
        "test",
        "front-door",
        file,
        "--min",
        "0",
        "--output-format",
        "json",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let json = ran.json();
    let count = |key: &str| json[key].as_u64().unwrap();
    let told = project.run(&["packs", "test", "front-door", file, "--min", "0"]);
    (count("held"), count("expectations"), told.stdout)
}

#[test]
fn the_front_door_does_what_its_dialogues_say() {
    let (mut held_of_all, mut all, mut told) = (0, 0, String::new());
    for file in ["happy.yaml", "details.yaml", "talk.yaml"] {
        let (held, count, text) = held(file);
        (held_of_all, all) = (held_of_all + held, all + count);
        told += &text;
    }
    assert!(all > 400 && held_of_all * 100 >= all * 95, "{told}");
}

#[test]
fn those_that_nobody_looked_at_hold_as_well() {
    let (held, all, _) = held("blind.yaml");
    assert!(all > 150 && held * 100 >= all * 95, "{held} of {all}");
}

/// Every type of field there is, in the whole program: a review shows numbers and truths too.
#[test]
fn other_offices_dialogues_hold_in_their_projects() {
    let others = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/kit/tests/dialogues/others");
    for office in ["clinic", "town", "winery", "museum"] {
        let project = Project::new();
        for file in ["fields.yaml", "teams.yaml"] {
            let text = std::fs::read_to_string(others.join(office).join("data").join(file));
            project.write(&format!("packs/front-door/data/{file}"), &text.unwrap());
        }
        let dialogues = others.join(office).join("dialogues.yaml");
        let (held, all, told) = held_in(&project, dialogues.to_str().unwrap());
        assert!(all > 60 && held * 100 >= all * 93, "{office}: {told}");
    }
}

fn new_pack() -> Project {
    let project = Project::new();
    let ran = project.run(&["packs", "new", "helpdesk"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    project
}

#[test]
fn a_new_pack_loads_talks_and_holds_what_its_dialogues_say() {
    let project = new_pack();
    let ran = project.run(&["packs", "check", "helpdesk"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (
            0,
            "helpdesk: 1 flow, 1 agent, 1 data file: no mistakes, 0 warnings\n"
        )
    );
    let ran = project.run(&["packs", "test", "helpdesk"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (
            0,
            "packs/helpdesk/tests/first.yaml: 2 dialogues, 11 of 11\n2 dialogues: 11 of 11 expectations met\n"
        )
    );
    let ran = project.run(&[
        "chat",
        "helpdesk",
        "Good morning",
        "--output-format",
        "json",
    ]);
    assert_eq!(ran.json()["state"]["asked"], json!(["Good morning"]));
    // What it makes is trusted where all was before; nothing is ever overwritten.
    let stranger = Project::new();
    assert_eq!(
        stranger.stranger(&["init"]).status().unwrap().code(),
        Some(0)
    );
    assert_eq!(
        stranger
            .stranger(&["packs", "new", "desk"])
            .status()
            .unwrap()
            .code(),
        Some(0)
    );
    assert_eq!(
        stranger
            .stranger(&["packs", "test", "desk"])
            .status()
            .unwrap()
            .code(),
        Some(0)
    );
    for (name, why) in [
        ("helpdesk", "there is a pack helpdesk already"),
        ("front-door", "there is a pack front-door already"),
        ("Help Desk", "is no name for a pack"),
    ] {
        let ran = project.run(&["packs", "new", name]);
        assert!(ran.code == 2 && ran.stderr.contains(why), "{}", ran.stderr);
    }
}

/// Dialogues of which some expectations do not hold.
const WRONG: &str = "\
given:
  before: {asked: [when], messages: [{role: user, text: when}, {role: assistant, text: never}]}
dialogues:
  - name: what was given stands
    begins: before
    turns:
      - {say: Good morning, expect: {asked: [when, Good morning], messages_kept: true, model_calls: [1, 2]}}
  - name: some of it is <wrong>
    turns:
      - say: Good morning
        expect: {said: Bye, not_said: hello, order: [like, hello], asked: {contains: [nothing]}, tool_calls: [{tool: load_skill}], outcome: failed, route: null}
";

#[test]
fn what_does_not_hold_is_told_with_its_place_to_people_and_to_ci() {
    let project = new_pack();
    project.write("packs/helpdesk/tests/wrong.yaml", WRONG);
    let report = project.file("report.xml");
    let junit = format!("junit={}", report.display());
    let ran = project.run(&[
        "packs",
        "test",
        "helpdesk",
        "wrong.yaml",
        "--report",
        &junit,
    ]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    insta::assert_snapshot!(ran.stdout, @r#"
    packs/helpdesk/tests/wrong.yaml: 2 dialogues, 4 of 10
      some of it is <wrong> (packs/helpdesk/tests/wrong.yaml:8)
        turn 1, "Good morning": said does not hold: Hello! What would you like to know?
        turn 1, "Good morning": not_said does not hold: Hello! What would you like to know?
        turn 1, "Good morning": order does not hold: Hello! What would you like to know?
        turn 1, "Good morning": asked does not hold: Good morning
        turn 1, "Good morning": tool_calls does not hold: 
        turn 1, "Good morning": outcome does not hold: complete
    2 dialogues: 4 of 10 expectations met
    "#);
    let xml = std::fs::read_to_string(report).unwrap();
    for part in [
        "<testsuites name=\"agentctl packs test\" tests=\"2\" failures=\"1\" errors=\"0\" time=\"0\">",
        "<testcase classname=\"packs/helpdesk/tests/wrong.yaml\" name=\"what was given stands\" time=\"0\"/>",
        "name=\"some of it is &lt;wrong&gt;\"",
        "<failure type=\"expectation\" message=\"6 expectations do not hold\">",
        "packs/helpdesk/tests/wrong.yaml:11: turn 1: said does not hold: Hello!",
    ] {
        assert!(xml.contains(part), "{part} in\n{xml}");
    }
    let ran = project.run(&[
        "packs",
        "test",
        "helpdesk",
        "wrong.yaml",
        "--min",
        "40",
        "--output-format",
        "json",
    ]);
    assert_eq!(ran.code, 0);
    let json = ran.json();
    let failed = &json["files"][0]["dialogues"][1]["turns"][0]["failed"];
    assert_eq!(
        failed[0],
        json!({"expectation": "said", "line": 11, "got": "Hello! What would you like to know?"})
    );
    let only = project.run(&["packs", "test", "helpdesk", "wrong.yaml", "--only", "given"]);
    assert_eq!(only.code, 0, "{}", only.stdout);
    // Nothing of it is kept in the project.
    let ran = project.run(&["sessions", "list", "--output-format", "json"]);
    assert_eq!(ran.json()["sessions"], Value::Array(vec![]));
}

#[test]
fn a_mistake_in_a_file_of_dialogues_is_told_with_its_place_before_anything_is_played() {
    let project = new_pack();
    let mistakes = "\
fields: nothing
given: {x: {colour: red}}
dialogues:
  - name: a
    begins: y
    turns:
      - {say: hi, expect: {askd: [], said: {matches: '('}, cleared: [group]}, fails: [no_such_tool]}
      - {expect: {fields: {}}}
  - {turns: [], colour: red}
";
    project.write("packs/helpdesk/tests/broken.yaml", mistakes);
    let ran = project.run(&["packs", "test", "helpdesk"]);
    assert_eq!(ran.code, 2);
    for part in [
        "broken.yaml:1:9: `fields` must name a field that the pack's flow keeps for a session",
        "\"colour\" is nothing that can be expected",
        "`begins` names nothing that is `given`",
        "did you mean \"asked\"?",
        "this is no pattern",
        "there is no group of fields \"group\"",
        "`fails` names \"no_such_tool\", and there is no such tool",
        "a turn needs `say` or `event`",
        "a dialogue has the unknown key \"colour\"",
        "a dialogue needs `turns`",
    ] {
        assert!(ran.stderr.contains(part), "{part} in\n{}", ran.stderr);
    }
    let ran = project.run(&["packs", "test", "helpdesk", "no-such.yaml"]);
    assert!(
        ran.code == 2 && ran.stderr.contains("broken.yaml, first.yaml"),
        "{}",
        ran.stderr
    );
    let ran = project.run(&["packs", "test", "n8n-builder"]);
    assert!(
        ran.code == 2 && ran.stderr.contains("has no dialogues to play"),
        "{}",
        ran.stderr
    );
}
