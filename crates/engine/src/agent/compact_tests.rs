use super::{Input, Turn, TurnAction};
use agentctl_base::model::{
    AgentTask, Finish, Message, ModelAnswer, ModelRequest, Room, ToolCall, ToolResult, ToolSpec,
    ToolStatus, Usage,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn turn() -> Turn {
    let task = AgentTask {
        agent: "a".into(),
        step: "one".into(),
        task: "look".into(),
        instructions: "Look.".into(),
        input: Map::new(),
    };
    let tools = vec![ToolSpec {
        name: "look".into(),
        description: "Looks.".into(),
        parameters: json!({"type": "object"}),
    }];
    let mut turn = Turn::new(
        "m".into(),
        task,
        "system".into(),
        tools,
        json!({"type": "object"}),
        99,
    );
    turn.step(Input::Start).unwrap();
    turn
}

/// The model calls the tool, and gets this.
fn gets(turn: &mut Turn, id: &str, content: Value) {
    let call = ToolCall {
        id: id.into(),
        name: "look".into(),
        arguments: "{}".into(),
    };
    let answer = ModelAnswer {
        text: String::new(),
        tool_calls: vec![call],
        finish: Finish::Done,
        usage: Usage::default(),
    };
    turn.step(Input::Answer(answer)).unwrap();
    let result = ToolResult {
        call_id: id.into(),
        name: "look".into(),
        status: ToolStatus::Ok,
        content,
    };
    let next = turn.step(Input::Results(vec![result])).unwrap();
    assert!(matches!(next, TurnAction::CallModel(_)));
}

fn long(words: usize) -> Value {
    json!({"id": "w1", "nodes": [{"name": "Start"}, {"name": "Tell"}], "text": "word ".repeat(words)})
}

fn content(request: &ModelRequest, id: &str) -> Value {
    let results = request.messages.iter().filter_map(|message| match message {
        Message::Tool { results } => Some(results),
        _ => None,
    });
    let mut found = results.flatten().filter(|r| r.call_id == id);
    found.next().unwrap().content.clone()
}

#[test]
fn the_oldest_results_give_way_to_a_line_that_says_what_they_held() {
    let mut turn = turn();
    for id in ["c1", "c2", "c3"] {
        gets(&mut turn, id, long(400));
    }
    let tokens = turn.request().estimated_tokens();
    assert_eq!(turn.to_shorten(&Room::Endless), [""; 0]);
    assert_eq!(turn.to_shorten(&Room::Tokens(tokens)), [""; 0]);
    // One is enough to come down to half of the room; the newest was not answered to yet.
    assert_eq!(turn.to_shorten(&Room::Tokens(tokens - 1)), ["c1", "c2"]);
    turn.shorten(&["c1".to_owned()]);
    let asked = turn.request();
    insta::assert_snapshot!(
        content(asked, "c1").to_string(),
        @r#"{"summary":"id: w1, nodes: 2 items (Start, Tell), text: 2000 characters","bytes":2064,"stored":"agent_results","hint":"left out to save room; call the tool again if you need it whole"}"#
    );
    assert_eq!(content(asked, "c2"), long(400));
    assert_eq!(asked.shortened, ["c1"]);
    // What was shortened is not again, and the next request does not say that it was.
    gets(&mut turn, "c4", json!({}));
    assert_eq!(turn.request().shortened, [""; 0]);
    assert_eq!(turn.to_shorten(&Room::Tokens(10)), ["c2", "c3"]);
}

#[test]
fn a_conversation_that_did_not_grow_or_would_not_shrink_is_left_alone() {
    let mut turn = turn();
    gets(&mut turn, "c1", long(400));
    gets(&mut turn, "c2", long(400));
    turn.shorten(&["c1".to_owned()]);
    assert_eq!(
        turn.to_shorten(&Room::Tokens(10)),
        [""; 0],
        "it did not grow"
    );
    gets(&mut turn, "c3", json!({}));
    assert_eq!(turn.to_shorten(&Room::Tokens(10)), ["c2"]);

    let mut turn = self::turn();
    gets(&mut turn, "c1", json!({"short": "word ".repeat(20)}));
    gets(&mut turn, "c2", long(4000));
    assert_eq!(
        turn.to_shorten(&Room::Tokens(10)),
        [""; 0],
        "short results save nothing, and the last one is new"
    );
    gets(&mut turn, "c3", long(40_000));
    gets(&mut turn, "c4", json!({}));
    turn.shorten(&["c3".to_owned()]);
    gets(&mut turn, "c5", long(80_000));
    assert_eq!(
        turn.to_shorten(&Room::Tokens(10)),
        [""; 0],
        "less than a tenth"
    );
}

#[test]
fn a_replay_shortens_what_was_recorded() {
    let mut turn = turn();
    gets(&mut turn, "c1", long(400));
    gets(&mut turn, "c2", json!({}));
    let recorded = Room::Recorded(vec!["c1".into()]);
    assert_eq!(turn.to_shorten(&recorded), ["c1"]);
}

proptest! {
    /// Whatever was shortened when: fed the same answers, results and compactions again, the machine asks the same, the
    /// calls and their order stay, and no line is longer than what it stands for.
    #[test]
    fn a_conversation_is_rebuilt_as_it_was(
        sizes in prop::collection::vec(0usize..600, 1..12),
        room in 50u64..3000,
    ) {
        let mut first = turn();
        let mut kept: Vec<Vec<String>> = Vec::new();
        let mut asked: Vec<ModelRequest> = Vec::new();
        for (i, size) in sizes.iter().enumerate() {
            gets(&mut first, &format!("c{i}"), long(*size));
            let calls = first.to_shorten(&Room::Tokens(room));
            if !calls.is_empty() {
                let before = first.request().estimated_tokens();
                prop_assert!(before > room);
                first.shorten(&calls);
                let after = first.request().estimated_tokens();
                prop_assert!(after < before);
                prop_assert_eq!(first.to_shorten(&Room::Tokens(room)), Vec::<String>::new());
                let last = format!("c{i}");
                prop_assert!(!calls.contains(&last));
            }
            kept.push(calls);
            asked.push(first.request().clone());
        }
        let mut again = turn();
        for (i, size) in sizes.iter().enumerate() {
            gets(&mut again, &format!("c{i}"), long(*size));
            if !kept[i].is_empty() {
                again.shorten(&kept[i]);
            }
            prop_assert_eq!(again.request(), &asked[i]);
        }
        let ids = |request: &ModelRequest| -> Vec<String> {
            let results = request.messages.iter().filter_map(|message| match message {
                Message::Tool { results } => Some(results),
                _ => None,
            });
            results.flatten().map(|r| r.call_id.clone()).collect()
        };
        let all: Vec<String> = (0..sizes.len()).map(|i| format!("c{i}")).collect();
        prop_assert_eq!(ids(again.request()), all);
    }
}
