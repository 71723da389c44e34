//! Six dialogues with the front door whose models' answers a capable mind gave by hand, replayed turn by turn through the whole program
//! without a network: `tests/dialogues/NAME/` has the dialogue, with what must hold after each turn, and the recording.
//!
//! A prompt or a contract that changes on purpose makes these fail with the part that differs. Then
//! `RENEW_CONVERSATIONS=1 cargo test --test cli` writes the recordings anew, with the same answers to what is asked now.

use crate::support::{Project, Ran, is_harmless};
use agentctl_base::own_words::own_words;
use serde_json::Value;
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/dialogues")
        .join(name)
}

fn renewing() -> bool {
    std::env::var_os("RENEW_CONVERSATIONS").is_some()
}

fn play(project: &Project, name: &str, dialogue: &Path, more: &[&str]) -> Ran {
    let recording = folder(name).join("recording.json");
    let (dialogue, recording) = (dialogue.to_str().unwrap(), recording.to_str().unwrap());
    let mut args = vec!["packs", "test", "front-door", dialogue];
    args.extend(["--replay", recording, "--output-format", "json"]);
    args.extend(more);
    project.run(&args)
}

fn replays(name: &str) {
    let project = Project::new();
    let dialogue = folder(name).join("dialogue.yaml");
    if renewing() {
        let new = project.file("renewed.json");
        let ran = play(
            &project,
            name,
            &dialogue,
            &["--record", new.to_str().unwrap()],
        );
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        std::fs::copy(&new, folder(name).join("recording.json")).unwrap();
        return;
    }
    let ran = play(&project, name, &dialogue, &[]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let told = ran.json();
    let held = told["held"].as_u64().unwrap();
    assert!(
        held > 20 && told["held"] == told["expectations"],
        "{}",
        ran.stdout
    );
    let turns = told["files"][0]["dialogues"][0]["turns"]
        .as_array()
        .unwrap();
    let said: Vec<String> = turns
        .iter()
        .filter_map(|turn| turn["say"].as_str())
        .map(own_words)
        .collect();
    assert!(grounded(name, &said) > 0);
}

/// Each value that the mind gave has words of the user's own behind it, letter by letter. How many there are.
fn grounded(name: &str, said: &[String]) -> usize {
    let text = std::fs::read_to_string(folder(name).join("recording.json")).unwrap();
    let entries = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    let mut values = 0;
    for entry in entries.map(Result::unwrap) {
        let answer = &entry["answer"]["text"];
        let Some(updates) = answer["updates"].as_object() else {
            assert_ne!(entry["agent"], "elicitation", "{entry}");
            continue;
        };
        let unknown = answer["marked_unknown"].as_array().unwrap().iter();
        let names = updates.keys().map(String::as_str);
        for field in names.chain(unknown.map(|name| name.as_str().unwrap())) {
            // The one field that is never asked for is inferred.
            if field == "title" {
                continue;
            }
            let quote = answer["quotes"][field].as_str().unwrap_or("");
            let own = said.iter().any(|own| own.contains(quote));
            assert!(!quote.is_empty() && own, "{name}: {field}: {quote:?}");
            values += 1;
        }
    }
    values
}

macro_rules! dialogues {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            replays(&stringify!($name).replace('_', "-"));
        })*
        #[test]
        fn each_recorded_dialogue_is_a_test_and_has_no_secret() {
            let mut names: Vec<String> = std::fs::read_dir(folder("")).unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            let mut tested = [$(stringify!($name).replace('_', "-")),*];
            tested.sort();
            assert_eq!(names, tested);
            for name in names {
                if renewing() {
                    continue;
                }
                let recording = std::fs::read_to_string(folder(&name).join("recording.json")).unwrap();
                is_harmless(&recording, &name);
            }
        }
    };
}

dialogues! {
    corrected_and_submitted
    failed_submission
    given_up_twice
    hostile_and_quoted
    no_team
    side_questions
}

#[test]
fn a_dialogue_that_says_something_else_fails_with_the_difference() {
    if renewing() {
        return;
    }
    let project = Project::new();
    let name = "no-team";
    let text = std::fs::read_to_string(folder(name).join("dialogue.yaml")).unwrap();
    let other = project.write("other.yaml", &text.replace("Claire Dumas", "Chloé Dumas"));
    let ran = play(&project, name, &other, &[]);
    assert_eq!(ran.code, 6, "{}{}", ran.stdout, ran.stderr);
    let told = &ran.stderr;
    assert!(
        told.contains("turn 2 of supervisor at supervise asks something else than was recorded"),
        "{told}"
    );
    assert!(told.contains("Chloé Dumas"), "{told}");
}

#[test]
fn a_recording_is_of_one_pack() {
    let project = Project::new();
    let ran = project.run(&["packs", "test", "--replay", "recording.json"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    insta::assert_snapshot!(ran.stderr, @r#"
    error: a recording is of one pack, and none is named
    hint: agentctl packs test PACK FILE --replay RECORDING
    "#);
}
