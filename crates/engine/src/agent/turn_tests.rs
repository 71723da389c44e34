use super::{Input, Turn, TurnAction, TurnError};
use agentctl_base::model::{
    AgentTask, Finish, Message, ModelAnswer, ModelRequest, ToolCall, ToolResult, ToolSpec,
    ToolStatus, Usage,
};
use serde_json::{Map, json};

fn turn(max_turns: u32) -> Turn {
    turn_with(vec![], max_turns)
}

fn turn_with(tools: Vec<ToolSpec>, max_turns: u32) -> Turn {
    let task = AgentTask {
        agent: "a".into(),
        step: "one".into(),
        task: "count".into(),
        instructions: "Count.".into(),
        input: Map::new(),
    };
    let contract = json!({
        "type": "object", "required": ["n"], "additionalProperties": false,
        "properties": {"n": {"type": "integer", "minimum": 1}}
    });
    Turn::new(
        "m".into(),
        task,
        "system".into(),
        tools,
        contract,
        max_turns,
    )
}

fn says(text: &str) -> Input {
    Input::Answer(ModelAnswer {
        text: text.into(),
        tool_calls: vec![],
        finish: Default::default(),
        usage: Usage::default(),
    })
}

fn call(id: &str, name: &str) -> ToolCall {
    ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: "{}".into(),
    }
}

fn calls(text: &str, tool_calls: Vec<ToolCall>) -> Input {
    Input::Answer(ModelAnswer {
        text: text.into(),
        tool_calls,
        finish: Default::default(),
        usage: Usage::default(),
    })
}

fn result(id: &str, name: &str) -> ToolResult {
    ToolResult {
        call_id: id.into(),
        name: name.into(),
        status: ToolStatus::Ok,
        content: json!({"of": id}),
    }
}

fn request(action: TurnAction) -> ModelRequest {
    match action {
        TurnAction::CallModel(request) => *request,
        other => panic!("{other:?}"),
    }
}

fn last_user(action: TurnAction) -> String {
    match request(action).messages.pop() {
        Some(Message::User { text }) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_fitting_answer_is_done() {
    for text in [
        r#"{"n": 3}"#,
        "```json\n{\"n\": 3}\n```",
        "Here it is:\n```\n{\"n\": 3}\n```\nDone.",
        "The count is {\"n\": 3} as asked.",
    ] {
        let mut turn = turn(3);
        turn.step(Input::Start).unwrap();
        assert_eq!(
            turn.step(says(text)).unwrap(),
            TurnAction::Done(json!({"n": 3})),
            "{text}"
        );
    }
}

#[test]
fn faults_are_told_by_place_and_rule_and_two_repairs_are_all() {
    let mut turn = turn(9);
    turn.step(Input::Start).unwrap();
    let told = last_user(turn.step(says(r#"{"n": 0, "m": 1}"#)).unwrap());
    insta::assert_snapshot!(told, @r"
    Your answer was not accepted:
    - /n: 0 is less than the minimum of 1
    - /: Additional properties are not allowed ('m' was unexpected)
    Answer again with the whole JSON object, mended, and nothing else.
    ");
    let told = last_user(turn.step(says("  ")).unwrap());
    assert!(told.contains("- the answer was empty\n"), "{told}");
    let failed = turn.step(says("[1]")).unwrap();
    assert_eq!(
        failed,
        TurnAction::Failed {
            reason:
                "the answer was still not accepted after 2 repairs: the answer is not a JSON object"
                    .into()
        }
    );
    // Over is over.
    assert_eq!(
        turn.step(says("{}")).unwrap_err(),
        TurnError {
            step: "one".into(),
            waits: "nothing: it is over",
            fed: "a model's answer"
        }
    );
}

#[test]
fn a_refused_answer_counts_as_a_repair() {
    let mut turn = turn(9);
    turn.step(Input::Start).unwrap();
    turn.step(says(r#"{"n": 1}"#)).unwrap();
    let told = last_user(
        turn.step(Input::Refused(vec!["n: not yours".into()]))
            .unwrap(),
    );
    assert!(told.contains("- n: not yours\n"));
    turn.step(says("no")).unwrap();
    turn.step(says(r#"{"n": 1}"#)).unwrap();
    let failed = turn
        .step(Input::Refused(vec!["n: not yours".into()]))
        .unwrap();
    assert!(matches!(failed, TurnAction::Failed { reason } if reason.ends_with("n: not yours")));
}

#[test]
fn calls_come_before_the_text_beside_them() {
    let mut turn = turn(9);
    turn.step(Input::Start).unwrap();
    let action = turn
        .step(calls(
            r#"{"n": 7}"#,
            vec![call("c1", "look"), call("c2", "look")],
        ))
        .unwrap();
    assert_eq!(
        action,
        TurnAction::CallTools(vec![call("c1", "look"), call("c2", "look")])
    );
    // Results come in any order and one is missing: each call gets exactly one, in the calls' order.
    let messages = request(
        turn.step(Input::Results(vec![
            result("c2", "look"),
            result("zz", "x"),
        ]))
        .unwrap(),
    )
    .messages;
    let Some(Message::Tool { results }) = messages.last() else {
        panic!("{messages:?}")
    };
    let got: Vec<_> = results
        .iter()
        .map(|r| (r.call_id.as_str(), r.status))
        .collect();
    assert_eq!(got, [("c1", ToolStatus::Cancelled), ("c2", ToolStatus::Ok)]);
}

#[test]
fn ids_that_a_provider_leaves_out_or_uses_again_are_made_unique() {
    let mut turn = turn(9);
    turn.step(Input::Start).unwrap();
    let first = turn
        .step(calls(
            "",
            vec![call("", "look"), call("x", "look"), call("x", "see")],
        ))
        .unwrap();
    assert_eq!(
        first,
        TurnAction::CallTools(vec![
            call("look-1-1", "look"),
            call("x", "look"),
            call("see-1-3", "see")
        ])
    );
    turn.step(Input::Results(vec![])).unwrap();
    let second = turn.step(calls("", vec![call("x", "look")])).unwrap();
    assert_eq!(
        second,
        TurnAction::CallTools(vec![call("look-2-1", "look")])
    );
}

#[test]
fn the_last_turn_is_announced_and_then_over() {
    let mut turn = turn(2);
    turn.step(Input::Start).unwrap();
    turn.step(calls("", vec![call("c1", "look")])).unwrap();
    let told = last_user(
        turn.step(Input::Results(vec![result("c1", "look")]))
            .unwrap(),
    );
    assert!(told.starts_with("This is your last turn"), "{told}");
    turn.step(calls("", vec![call("c2", "look")])).unwrap();
    assert_eq!(
        turn.step(Input::Results(vec![])).unwrap(),
        TurnAction::Failed {
            reason: "no final answer within 2 turns of the model".into()
        }
    );
}

#[test]
fn a_stored_machine_goes_on_as_if_it_had_never_stopped() {
    let inputs = [
        Input::Start,
        calls("", vec![call("c1", "look")]),
        Input::Results(vec![result("c1", "look")]),
        says("{}"),
        says(r#"{"n": 2}"#),
    ];
    let mut kept = turn(9);
    let mut stored = turn(9);
    for input in inputs {
        let text = serde_json::to_string(&stored).unwrap();
        stored = serde_json::from_str(&text).unwrap();
        assert_eq!(kept.step(input.clone()), stored.step(input));
        assert_eq!(kept, stored);
    }
}

#[test]
fn a_contract_that_is_no_schema_fails_the_step() {
    let mut turn = Turn::new(
        "m".into(),
        AgentTask {
            agent: "a".into(),
            step: "one".into(),
            task: "t".into(),
            instructions: String::new(),
            input: Map::new(),
        },
        String::new(),
        vec![],
        json!({"type": 5}),
        3,
    );
    turn.step(Input::Start).unwrap();
    let action = turn.step(says("{}")).unwrap();
    assert!(
        matches!(action, TurnAction::Failed { reason } if reason.contains("not a JSON Schema"))
    );
}

/// Whatever it is fed, the machine never panics, never asks for more turns than it has, and is over after an end.
mod any_conversation {
    use super::*;
    use proptest::prelude::*;

    fn any_input() -> impl Strategy<Value = Input> {
        let text = prop_oneof![
            Just(r#"{"n": 1}"#.to_owned()),
            Just("```json\n{\"n\": 2}\n```".to_owned()),
            Just("}{".to_owned()),
            "\\PC{0,12}",
        ];
        let tool_calls = prop::collection::vec(("[ab]?", "look|see"), 0..3);
        let answer = (text, tool_calls).prop_map(|(text, list)| {
            calls(
                &text,
                list.iter().map(|(id, name)| call(id, name)).collect(),
            )
        });
        prop_oneof![
            1 => Just(Input::Start),
            4 => answer,
            3 => prop::collection::vec("[ab]?", 0..3)
                .prop_map(|ids| Input::Results(ids.iter().map(|id| result(id, "look")).collect())),
            1 => Just(Input::Refused(vec!["no".into()])),
        ]
    }

    proptest! {
        #[test]
        fn keeps_its_limits(max_turns in 0u32..5, inputs in prop::collection::vec(any_input(), 0..30)) {
            let mut turn = turn(max_turns);
            let mut asked = 0;
            let mut over = false;
            for input in std::iter::once(Input::Start).chain(inputs) {
                let before = turn.clone();
                match turn.step(input) {
                    Ok(action) => {
                        prop_assert!(!over, "nothing comes after an end");
                        match action {
                            TurnAction::CallModel(_) => asked += 1,
                            TurnAction::CallTools(list) => prop_assert!(!list.is_empty()),
                            TurnAction::Done(value) => prop_assert!(value["n"].is_i64()),
                            TurnAction::Failed { .. } => over = true,
                        }
                    }
                    Err(_) => prop_assert_eq!(&before, &turn, "a wrong input changes nothing"),
                }
                prop_assert!(asked <= max_turns);
                prop_assert_eq!(asked, turn.turn());
            }
        }
    }
}

fn cut(text: &str, finish: Finish) -> Input {
    match says(text) {
        Input::Answer(answer) => Input::Answer(ModelAnswer { finish, ..answer }),
        other => other,
    }
}

#[test]
fn an_answer_that_was_cut_off_or_refused_is_told_so_and_then_the_step_fails() {
    for (finish, said, why) in [
        (Finish::Length, "{\"n\": ", "cut off at the limit"),
        (
            Finish::Refused,
            "I would rather not.",
            "would not answer: I would rather not.",
        ),
        (Finish::Refused, "", "would not answer"),
    ] {
        let mut turn = turn(9);
        turn.step(Input::Start).unwrap();
        for _ in 0..2 {
            let told = last_user(turn.step(cut(said, finish)).unwrap());
            assert!(told.contains(why), "{told}");
        }
        match turn.step(cut(said, finish)).unwrap() {
            TurnAction::Failed { reason } => assert!(reason.contains(why), "{reason}"),
            other => panic!("{other:?}"),
        }
    }
    // What fits is taken, whatever the provider says of its end.
    let mut turn = turn(9);
    turn.step(Input::Start).unwrap();
    let done = turn.step(cut(r#"{"n": 3}"#, Finish::Length)).unwrap();
    assert_eq!(done, TurnAction::Done(json!({"n": 3})));
}

#[test]
fn nothing_of_a_call_that_was_cut_off_is_carried_out() {
    let mut turn = turn(9);
    turn.step(Input::Start).unwrap();
    let cut_off = ToolCall {
        arguments: "{\"id\": \"a".into(),
        ..call("1", "t")
    };
    let mut answer = match calls("", vec![call("0", "t"), cut_off]) {
        Input::Answer(answer) => answer,
        other => panic!("{other:?}"),
    };
    answer.finish = Finish::Length;
    let told = last_user(turn.step(Input::Answer(answer)).unwrap());
    assert!(told.contains("cut off at the limit"), "{told}");
}

#[test]
fn calls_that_cannot_be_made_are_told_twice_and_then_the_step_fails() {
    let broken = || {
        let call = ToolCall {
            arguments: "{oops".into(),
            ..call("", "t")
        };
        calls("", vec![call])
    };
    let unknown = || calls("", vec![call("", "nosuch")]);
    let with_tool = || {
        let tool = ToolSpec {
            name: "t".into(),
            description: String::new(),
            parameters: json!({}),
        };
        let mut turn = turn_with(vec![tool], 9);
        turn.step(Input::Start).unwrap();
        turn
    };
    let mut turn = with_tool();
    for input in [broken(), unknown()] {
        assert!(matches!(
            turn.step(input).unwrap(),
            TurnAction::CallTools(_)
        ));
        turn.step(Input::Results(vec![])).unwrap();
    }
    match turn.step(broken()).unwrap() {
        TurnAction::Failed { reason } => {
            assert!(
                reason.contains("the arguments of t are not JSON"),
                "{reason}"
            );
        }
        other => panic!("{other:?}"),
    }
    // A call that can be made in between wipes the slate.
    let mut turn = with_tool();
    for input in [
        broken(),
        unknown(),
        calls("", vec![call("", "t")]),
        broken(),
        unknown(),
    ] {
        assert!(matches!(
            turn.step(input).unwrap(),
            TurnAction::CallTools(_)
        ));
        turn.step(Input::Results(vec![])).unwrap();
    }
}
