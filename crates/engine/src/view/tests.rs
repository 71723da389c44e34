use super::{By, RunView, Use};
use crate::store::ResourceId;
use crate::store::{Event, Record, event::Change, event::JOURNAL_VERSION};
use agentctl_base::decision::Decision;
use agentctl_base::model::{ModelAnswer, ToolCall, ToolResult, ToolStatus, Usage};
use agentctl_base::question::{AnsweredBy, Outcome, Question};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A record for each event, one second after the other.
fn records(events: Vec<Event>) -> Vec<Record> {
    let timed = events.into_iter().zip(0..);
    at(timed.map(|(event, second)| (second, event)).collect())
}

fn at(events: Vec<(i64, Event)>) -> Vec<Record> {
    let record = |((second, event), seq)| Record {
        seq,
        at: jiff::Timestamp::from_second(second).unwrap().to_string(),
        prev: String::new(),
        hash: String::new(),
        event,
    };
    events.into_iter().zip(1..).map(record).collect()
}

fn view(events: Vec<Event>) -> RunView {
    RunView::of(&records(events))
}

fn begun() -> Event {
    Event::RunStarted {
        journal_version: JOURNAL_VERSION,
        agentctl_version: "0".into(),
        run_id: "r".into(),
        flow: "f".into(),
        pack_hash: "p".into(),
        input: Map::new(),
    }
}

fn activation(number: u32) -> Event {
    Event::ActivationStarted {
        activation: number,
        kind: "start".into(),
        pid: 1,
        means: None,
        order: None,
        heard: None,
    }
}

fn rest(activation: u32) -> Event {
    Event::ActivationEnded {
        activation,
        outcome: Outcome::Waiting,
        reason: None,
    }
}

fn asked(step: &str, model: &str) -> Event {
    Event::ModelAsked {
        step: step.into(),
        turn: 1,
        model: model.into(),
        request_hash: String::new(),
    }
}

fn answered(step: &str, cost_usd: Option<f64>) -> Event {
    Event::ModelAnswered {
        step: step.into(),
        turn: 1,
        answer: ModelAnswer {
            text: String::new(),
            tool_calls: vec![],
            finish: Default::default(),
            usage: Usage {
                input_tokens: 10,
                output_tokens: 2,
                cached_tokens: 1,
                cache_write_tokens: 3,
                cost_usd,
            },
        }
        .into(),
    }
}

fn intent(step: &str, id: &str, mutates: bool) -> Event {
    Event::ToolIntent {
        step: step.into(),
        role: "maker".into(),
        call: ToolCall {
            id: id.into(),
            name: "write".into(),
            arguments: r#"{"x": 1}"#.into(),
        }
        .into(),
        decision: Decision::Allow { rule: "r".into() },
        mutates,
        expect: None,
        carries: None,
    }
}

fn finished(step: &str, id: &str, status: ToolStatus, change: Option<Change>) -> Event {
    Event::ToolFinished {
        step: step.into(),
        role: "maker".into(),
        result: ToolResult {
            call_id: id.into(),
            name: "write".into(),
            status,
            content: json!({"name": "Orders"}),
        }
        .into(),
        change,
    }
}

fn change(before: Option<&str>, after: Option<&str>) -> Change {
    Change {
        resource: ResourceId::new("thing", "w"),
        before: before.map(str::to_owned),
        after: after.map(str::to_owned),
        size: 2,
        snapshot: None,
    }
}

fn stage(to: &str) -> Event {
    Event::StageChanged {
        from: "one".into(),
        to: to.into(),
    }
}

#[test]
fn usage_is_summed_with_cache_writes_and_an_unknown_price_stays_unknown() {
    let run = view(vec![
        asked("work", "m"),
        answered("work", Some(0.5)),
        asked("work", "m"),
        answered("work", Some(0.25)),
    ]);
    assert_eq!(run.usage.cost_usd, Some(0.75));
    let run = view(vec![answered("work", Some(0.5)), answered("work", None)]);
    let usage = run.usage;
    assert_eq!(
        (usage.model_calls, usage.input_tokens, usage.cost_usd),
        (2, 20, None)
    );
    assert_eq!(usage.cache_write_tokens, 6);
    assert_eq!(run.usage_of["work"], usage);
}

#[test]
fn a_call_counts_with_its_result_once_and_also_when_it_was_refused() {
    let mut events = vec![begun(), intent("work", "c1", true)];
    let cut_off = view(events.clone());
    assert_eq!(cut_off.usage.tool_calls, 0);
    assert_eq!(cut_off.unsettled().len(), 1);
    // It is begun again after a question, then answered; another one is refused before it was begun.
    events.extend([
        intent("work", "c1", true),
        finished("work", "c1", ToolStatus::Ok, None),
        finished("work", "c2", ToolStatus::Refused, None),
    ]);
    let run = view(events);
    assert_eq!(run.usage.tool_calls, 2);
    assert_eq!(run.unsettled(), []);
    let calls: Vec<_> = run
        .calls
        .iter()
        .map(|call| (call.id.as_str(), call.arguments(), call.mutates()))
        .collect();
    assert_eq!(
        calls,
        [("c1", json!({"x": 1}), true), ("c2", Value::Null, false)]
    );
    let intent = run.calls[0].intent.as_ref().unwrap();
    assert_eq!((intent.at.seq, run.returned()[0].1.at.seq), (3, 4));
}

#[test]
fn what_was_used_says_in_which_stage_and_by_which_model() {
    let run = view(vec![
        begun(),
        asked("think", "small"),
        answered("think", None),
        stage("two"),
        intent("work", "c", false),
        finished("work", "c", ToolStatus::Failed, None),
        asked("work", "large"),
        Event::ModelRetried {
            step: "work".into(),
            turn: 1,
            attempt: 1,
            reason: String::new(),
            wait_ms: 1,
        },
        asked("work", "large"),
        answered("work", None),
    ]);
    let uses = run.uses();
    let uses: Vec<_> = uses
        .iter()
        .map(|used| match used {
            Use::Model(call, _) => (used.stage(), call.model.as_str()),
            Use::Tool(call, _) => (used.stage(), call.tool.as_str()),
        })
        .collect();
    assert_eq!(
        uses,
        [
            (None, "small"),
            (Some("two"), "write"),
            (Some("two"), "large")
        ]
    );
    assert_eq!((run.retries, run.model_calls.len()), (1, 3));
}

/// Two activations with a day between them: only the work counts.
#[test]
fn waiting_between_activations_is_no_work() {
    let step = |step: &str| Event::StepStarted { step: step.into() };
    let done = |step: &str| Event::StepFinished {
        step: step.into(),
        output: Value::Null,
    };
    let run = RunView::of(&at(vec![
        (0, begun()),
        (0, activation(1)),
        (1, step("a")),
        (3, done("a")),
        (4, step("b")),
        (7, rest(1)),
        (
            86_000,
            Event::Adopted {
                from: 1,
                snapshots: BTreeMap::new(),
            },
        ),
        (86_400, activation(2)),
        (86_401, asked("b", "m")),
        (86_403, rest(2)),
    ]));
    assert_eq!(run.worked.total(), 10_000);
    let of = run.worked.of_steps();
    assert_eq!((of["a"], of["b"]), (2_000, 5_000));
    // Of a killed activation only what it wrote is known.
    let killed = RunView::of(&at(vec![
        (0, begun()),
        (0, activation(1)),
        (1, step("a")),
        (2, asked("a", "m")),
        (50, activation(2)),
        (51, asked("a", "m")),
    ]));
    assert_eq!(killed.worked.total(), 3_000);
    assert_eq!(killed.worked.of_steps()["a"], 1_000);
}

#[test]
fn an_answer_belongs_to_the_question_asked_last_under_its_id() {
    let question = |text: &str| Event::QuestionAsked {
        step: "ask".into(),
        question: Question {
            id: "q".into(),
            text: text.into(),
            ..question()
        },
    };
    let run = view(vec![
        question("first"),
        question("again"),
        Event::AnswerGiven {
            step: "ask".into(),
            question_id: "q".into(),
            value: json!("yes"),
            by: AnsweredBy::Command,
        },
    ]);
    let open: Vec<&str> = run
        .open_questions()
        .map(|asked| asked.question.text.as_str())
        .collect();
    assert_eq!(open, ["first"]);
    let answered = run.questions[1].answered.as_ref().unwrap();
    assert_eq!((answered.seq, run.questions[1].at.seq), (3, 2));
}

fn question() -> Question {
    Question {
        id: String::new(),
        topic: "t".into(),
        text: String::new(),
        options: vec![],
        recommended: None,
        required: true,
        schema: json!({}),
        approves: None,
        proposal: None,
        asked_by: None,
        asks_secret: false,
    }
}

#[test]
fn every_change_is_told_and_what_stands_can_be_claimed() {
    let undone = |to| Event::Undone {
        resource: ResourceId::new("thing", "w"),
        to_snapshot: String::new(),
        to,
        change: Some(change(Some("b"), Some("a"))),
    };
    let mut events = vec![
        begun(),
        finished("s", "c1", ToolStatus::Ok, Some(change(None, Some("a")))),
        finished(
            "s",
            "c2",
            ToolStatus::Unknown,
            Some(change(Some("a"), Some("b"))),
        ),
        undone(Some(1)),
    ];
    let run = view(events.clone());
    let told = |run: &RunView| -> Vec<(u64, bool)> {
        run.changes.iter().map(|c| (c.seq, c.stands)).collect()
    };
    assert_eq!(told(&run), [(2, true), (3, false), (4, true)]);
    assert_eq!(run.changes[2].by, By::Undo);
    assert_eq!(
        (run.undone.as_slice(), run.is_taken_back()),
        (&[][..], false)
    );
    assert_eq!(run.name_of("w"), Some("Orders"));
    assert_eq!(run.last_change(Some("w")).unwrap().seq, 4);
    events.push(undone(Some(0)));
    let run = view(events);
    assert_eq!(run.undone, ["w"]);
    assert!(run.is_taken_back());
    assert_eq!(run.last_change(None).unwrap().seq, 4);
}

#[test]
fn a_snapshots_hash_is_what_was_said_when_it_was_taken_else_what_the_user_took_over() {
    let taken = |file: &str, sha256: Option<&str>| Event::SnapshotTaken {
        resource: ResourceId::new("thing", "w"),
        file: file.into(),
        revision: "g".into(),
        size: 1,
        sha256: sha256.map(str::to_owned),
    };
    let both = ["1.json", "2.json"].map(|file| (file.to_owned(), "adopted".to_owned()));
    let run = view(vec![
        taken("1.json", None),
        taken("2.json", Some("said")),
        Event::Adopted {
            from: 1,
            snapshots: BTreeMap::from(both),
        },
        taken("3.json", None),
    ]);
    let sha256 = |file| run.snapshot(file).unwrap().sha256.as_deref();
    assert_eq!(sha256("1.json"), Some("adopted"));
    assert_eq!(sha256("2.json"), Some("said"));
    assert_eq!(sha256("3.json"), None);
}

/// What a session holds between two calls does not grow with the calls that are settled, and what counts for the next one stays.
#[test]
fn what_is_settled_is_forgotten_and_what_is_under_way_is_not() {
    let step = |number: usize| format!("mcp[{number}]");
    let intent = |number, mutates| Event::ToolIntent {
        step: step(number),
        role: "r".into(),
        call: ToolCall {
            id: format!("c{number}"),
            name: "look".into(),
            arguments: format!("{{\"n\": {number}}}"),
        }
        .into(),
        decision: Decision::Allow { rule: "r".into() },
        mutates,
        expect: None,
        carries: None,
    };
    let finished = |number, change| Event::ToolFinished {
        step: step(number),
        role: "r".into(),
        result: ToolResult {
            call_id: format!("c{number}"),
            name: "look".into(),
            status: ToolStatus::Ok,
            content: json!({"text": "x".repeat(100)}),
        }
        .into(),
        change,
    };
    let change = Change {
        resource: ResourceId::new("thing", "w"),
        before: None,
        after: Some("g".into()),
        size: 1,
        snapshot: None,
    };
    let mut events = vec![activation(1), intent(0, true), finished(0, Some(change))];
    for number in 1..100 {
        events.extend([intent(number, false), finished(number, None)]);
    }
    // Cut off within a change.
    events.push(intent(100, true));
    let mut run = view(events);
    let before = run.clone();
    run.forget_settled();
    assert_eq!((run.calls.len(), run.open.len()), (1, 1));
    assert_eq!((run.activations.len(), run.usage_of.len()), (0, 0));
    assert_eq!(run.unsettled(), before.unsettled());
    assert_eq!(run.unsettled().len(), 1);
    assert_eq!(
        (run.usage, run.activation, &run.changes, run.last),
        (before.usage, 1, &before.changes, before.last)
    );
    run.apply(&records(vec![finished(100, None)])[0]);
    run.forget_settled();
    assert_eq!((run.calls.len(), run.open.len()), (0, 0));
}
