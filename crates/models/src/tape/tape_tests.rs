use super::*;
use agentctl_base::model::{AgentTask, ToolCall, Usage};
use serde_json::Map;

const ID: &str = "0191d6a0-0000-7000-8000-0000000000";

fn hide() -> Hide {
    Box::new(|text| text.replace("hunter2", "[redacted:known]"))
}

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        model: "m".into(),
        task: AgentTask {
            agent: "builder".into(),
            step: "build".into(),
            task: "build".into(),
            instructions: String::new(),
            input: Map::new(),
        },
        system: "You build.".into(),
        messages,
        tools: vec![],
        output_schema: json!({}),
        shortened: vec![],
        task_at: 0,
    }
}

fn user(text: &str) -> Message {
    Message::User { text: text.into() }
}

fn answer(text: &str) -> ModelAnswer {
    ModelAnswer {
        text: text.into(),
        tool_calls: vec![],
        usage: Usage::default(),
        finish: Default::default(),
    }
}

fn result(content: Value) -> ToolResult {
    ToolResult {
        call_id: "c1".into(),
        name: "get_workflow".into(),
        status: ToolStatus::Ok,
        content,
    }
}

/// Two turns with a tool call between them, in a world whose ids end in `nn`.
fn turns(nn: &str) -> [ModelRequest; 2] {
    let first = vec![user(&format!("Build {ID}{nn} with hunter2."))];
    let call = ToolCall {
        id: "c1".into(),
        name: "get_workflow".into(),
        arguments: "{}".into(),
    };
    let mut second = first.clone();
    second.push(Message::Assistant {
        text: String::new(),
        tool_calls: vec![call],
    });
    second.push(Message::Tool {
        results: vec![result(json!({"id": format!("{ID}{nn}")}))],
    });
    [request(first), request(second)]
}

fn recorded(path: &Path) -> String {
    let tape = Tape::record(path, hide()).unwrap();
    let [first, second] = turns("11");
    let mut with_call = answer("");
    with_call.tool_calls.push(ToolCall {
        id: "c1".into(),
        name: "get_workflow".into(),
        arguments: format!("{{\"id\": \"{ID}11\"}}"),
    });
    tape.taped(&first, &with_call).unwrap();
    tape.tool(
        "builder",
        "build",
        "get_workflow",
        &format!("{{\"id\": \"{ID}11\"}}"),
        &result(json!({"id": format!("{ID}11")})),
    );
    tape.taped(&second, &answer("done")).unwrap();
    tape.finish(true).unwrap();
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn a_recording_reads_well_and_holds_no_secret() {
    let dir = tempfile::tempdir().unwrap();
    let text = recorded(&dir.path().join("tape.json"));
    assert!(
        text.contains("Build ⟨id-1⟩ with [redacted:known]."),
        "{text}"
    );
    let call =
        "\"tool\": \"get_workflow\",\n        \"arguments\": {\n          \"id\": \"⟨id-1⟩\"\n";
    assert!(text.contains(call), "{text}");
    // A result that the tape has already is named, not written again.
    let named = "\"message 1, c1 of get_workflow\": \"as above\"";
    assert!(text.contains(named), "{text}");
    assert!(!text.contains("hunter2") && !text.contains(ID), "{text}");
}

/// Each turn of a conversation asks the same step anew.
#[test]
fn what_is_asked_at_one_step_again_and_again_is_answered_in_its_order() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tape.json");
    let said = [
        ("hello", "hi"),
        ("and now?", "later"),
        ("hello", "hi again"),
    ];
    let tape = Tape::record(&path, hide()).unwrap();
    for (question, reply) in said {
        tape.taped(&request(vec![user(question)]), &answer(reply))
            .unwrap();
        let told = result(json!({"heard": question}));
        tape.tool("builder", "build", "get_workflow", "{}", &told);
    }
    let follow = |tape: &Tape, many: usize| -> Vec<String> {
        let turns = said.iter().take(many).map(|(question, _)| {
            let reply = tape.follow(&request(vec![user(question)])).unwrap().text;
            let told = result(json!({"heard": question}));
            tape.tool("builder", "build", "get_workflow", "{}", &told);
            reply
        });
        turns.collect()
    };
    let tape = Tape::replay(&path, hide()).unwrap();
    assert_eq!(follow(&tape, 3), ["hi", "later", "hi again"]);
    tape.finish(true).unwrap();
    let tape = Tape::replay(&path, hide()).unwrap();
    assert_eq!(follow(&tape, 1), ["hi"]);
    let left = tape.finish(true).unwrap_err().to_string();
    assert!(left.contains("4 recorded calls were not made"), "{left}");
    let new = dir.path().join("new.json");
    let tape = Tape::renew(&path, &new, hide()).unwrap();
    assert_eq!(follow(&tape, 3), ["hi", "later", "hi again"]);
    let texts = [&path, &new].map(|path| std::fs::read_to_string(path).unwrap());
    assert_eq!(texts[0], texts[1]);
}

#[test]
fn a_replay_gives_the_answers_in_the_ids_of_now() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tape.json");
    recorded(&path);
    let tape = Tape::replay(&path, hide()).unwrap();
    let [first, second] = turns("22");
    let answer = tape.follow(&first).unwrap();
    assert_eq!(
        answer.tool_calls[0].arguments,
        format!("{{\"id\":\"{ID}22\"}}")
    );
    tape.tool(
        "builder",
        "build",
        "get_workflow",
        &answer.tool_calls[0].arguments,
        &result(json!({"id": format!("{ID}22")})),
    );
    assert_eq!(tape.follow(&second).unwrap().text, "done");
    tape.finish(true).unwrap();
}

#[test]
fn a_replay_that_asks_something_else_fails_with_the_difference() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tape.json");
    recorded(&path);
    let follow = |change: &dyn Fn(&mut ModelRequest)| {
        let tape = Tape::replay(&path, hide()).unwrap();
        let [mut first, _] = turns("22");
        change(&mut first);
        tape.follow(&first).unwrap_err()
    };
    let other = follow(&|r| r.messages = vec![user("Build something else.")]);
    assert!(
        other.contains("turn 1 of builder at build asks something else"),
        "{other}"
    );
    assert!(
        other.contains("--replay with --record renews the recording"),
        "{other}"
    );
    let now = "\nmessage 1: changed\n  Build something else.";
    assert!(other.ends_with(now), "{other}");
    let other = follow(&|r| r.system.push('!'));
    assert!(other.ends_with("\nsystem prompt: changed"), "{other}");
    assert!(
        follow(&|r| r.task.step = "other".into()).contains("has no turn 1 of builder at other")
    );
}

/// A recording of the form of before, with its requests in full.
fn old_form(dir: &Path) -> std::path::PathBuf {
    let path = dir.join("old-form.json");
    std::fs::write(&path, include_str!("old_form.json")).unwrap();
    path
}

#[test]
fn a_recording_of_the_form_of_before_is_replayed_and_compared() {
    let dir = tempfile::tempdir().unwrap();
    let path = old_form(dir.path());
    let tape = Tape::replay(&path, hide()).unwrap();
    let [first, second] = turns("22");
    let arguments = tape.follow(&first).unwrap().tool_calls[0].arguments.clone();
    assert_eq!(arguments, format!("{{\"id\":\"{ID}22\"}}"));
    let found = result(json!({"id": format!("{ID}22")}));
    tape.tool("builder", "build", "get_workflow", &arguments, &found);
    assert_eq!(tape.follow(&second).unwrap().text, "done");
    tape.finish(true).unwrap();
    let tape = Tape::replay(&path, hide()).unwrap();
    let [mut first, _] = turns("22");
    first.messages = vec![user("Build something else.")];
    let other = tape.follow(&first).unwrap_err();
    for line in [
        "-      \"user\": \"Build ⟨id-1⟩ with [redacted:known].\"",
        "+      \"user\": \"Build something else.\"",
    ] {
        assert!(other.contains(line), "{other}");
    }
    let newer = include_str!("old_form.json").replace("\"version\": 2", "\"version\": 4");
    std::fs::write(&path, newer).unwrap();
    let refused = Tape::replay(&path, hide()).err().unwrap().to_string();
    assert!(
        refused.contains("version 4 of the form; this one reads 2 to 3"),
        "{refused}"
    );
}

/// What is renewed has the form of now, however old its answers are.
#[test]
fn a_recording_of_the_form_of_before_is_renewed_in_the_form_of_now() {
    let dir = tempfile::tempdir().unwrap();
    let (now, new) = (dir.path().join("now.json"), dir.path().join("new.json"));
    let tape = Tape::renew(&old_form(dir.path()), &new, hide()).unwrap();
    let [first, second] = turns("11");
    let arguments = tape.follow(&first).unwrap().tool_calls[0].arguments.clone();
    let found = result(json!({"id": format!("{ID}11")}));
    tape.tool("builder", "build", "get_workflow", &arguments, &found);
    tape.follow(&second).unwrap();
    tape.finish(true).unwrap();
    assert_eq!(std::fs::read_to_string(new).unwrap(), recorded(&now));
}

#[test]
fn a_tool_that_answers_otherwise_and_a_call_that_is_left_over_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tape.json");
    recorded(&path);
    let tape = Tape::replay(&path, hide()).unwrap();
    let [first, second] = turns("22");
    tape.follow(&first).unwrap();
    tape.tool(
        "builder",
        "build",
        "get_workflow",
        &format!("{{\"id\": \"{ID}22\"}}"),
        &result(json!({"id": "other"})),
    );
    assert!(tape.follow(&second).unwrap_err().contains("went otherwise"));
    assert!(tape.finish(false).is_err());
    let tape = Tape::replay(&path, hide()).unwrap();
    tape.follow(&first).unwrap();
    tape.finish(false).unwrap();
    assert!(
        tape.finish(true)
            .unwrap_err()
            .to_string()
            .contains("2 recorded calls were not made")
    );
}

/// A renewed tape answers as before, in the ids of now, and holds what is asked now; renewed without a change it is the same file.
#[test]
fn a_tape_is_renewed_with_what_is_asked_now() {
    let dir = tempfile::tempdir().unwrap();
    let old = dir.path().join("old.json");
    recorded(&old);
    let renew = |name: &str, hello: &str| {
        let path = dir.path().join(name);
        let tape = Tape::renew(&old, &path, hide()).unwrap();
        let [mut first, mut second] = turns("33");
        for request in [&mut first, &mut second] {
            if let Some(Message::User { text }) = request.messages.first_mut() {
                text.insert_str(0, hello);
            }
        }
        let answer = tape.follow(&first).unwrap();
        let arguments = answer.tool_calls[0].arguments.clone();
        assert_eq!(arguments, format!("{{\"id\":\"{ID}33\"}}"));
        let content = json!({"id": format!("{ID}33")});
        tape.tool(
            "builder",
            "build",
            "get_workflow",
            &arguments,
            &result(content),
        );
        assert_eq!(tape.follow(&second).unwrap().text, "done");
        tape.finish(true).unwrap();
        std::fs::read_to_string(path).unwrap()
    };
    assert_eq!(
        renew("same.json", ""),
        std::fs::read_to_string(&old).unwrap()
    );
    let new = renew("other.json", "0191d6a0-0000-7000-8000-000000000099 says:\n");
    assert!(
        new.contains("\"⟨id-1⟩ says:\"") && new.contains("\"Build ⟨id-2⟩"),
        "{new}"
    );
    assert!(new.contains("\"id\": \"⟨id-2⟩\""), "{new}");
    assert!(matches!(
        Tape::renew(&old, &old, hide()),
        Err(TapeError::Io {
            doing: "create",
            ..
        })
    ));
}
