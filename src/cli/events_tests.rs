//! `docs/schemas/events.schema.json` and docs/events.md against every kind of event that there is.

use agentctl_base::decision::Decision;
use agentctl_base::model::{Finish, ModelAnswer, ToolCall, ToolResult, ToolStatus, Usage};
use agentctl_base::question::{AnsweredBy, Outcome, Question};
use agentctl_engine::policy::{Carries, Does};
use agentctl_engine::store::ResourceId;
use agentctl_engine::store::event::JOURNAL_VERSION;
use agentctl_engine::store::event::{Change, MutationExpectation, Weighed};
use agentctl_engine::store::{Budgets, Event, LimitOverrides, Link, Means, Record, Side};
use agentctl_n8n_tools::noted::{BaseHow, Counted, CreateMark, Noted, Rehearsing};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// One of each kind, with all its fields.
fn samples() -> Vec<Event> {
    let change = || Change {
        resource: ResourceId::new("workflow", "w"),
        before: Some("a".into()),
        after: None,
        size: 3,
        snapshot: Some("s.json".into()),
    };
    let call = || ToolCall {
        id: "c".into(),
        name: "get_workflow".into(),
        arguments: "{}".into(),
    };
    let weighed = || Weighed {
        tool: "t".into(),
        score: 0.5,
        why: "w".into(),
    };
    let limits = LimitOverrides {
        max_model_calls: Some(1),
        max_tool_calls: Some(2),
        max_tokens: Some(3),
        max_cost_usd: Some(0.5),
        max_turns: Some(4),
        max_seconds: Some(5),
    };
    let question: Question =
        serde_json::from_value(json!({"id": "q", "topic": "t", "text": "?"})).unwrap();
    let step = || "qa_loop[2]/validate".to_owned();
    vec![
        Event::RunStarted {
            journal_version: JOURNAL_VERSION,
            agentctl_version: "0".into(),
            run_id: "r".into(),
            flow: "f".into(),
            pack_hash: "p".into(),
            input: Map::new(),
        },
        Event::SessionOpened {
            role: "qa".into(),
            client: "x".into(),
            client_version: "1".into(),
            transport: "stdio".into(),
            only: Some(ResourceId::new("workflow", "w")),
            scope: Some(vec!["n".into()]),
        },
        Event::ActivationStarted {
            activation: 1,
            kind: "start".into(),
            pid: 1,
            means: Some(Box::new(Means {
                limits: Budgets {
                    run: limits,
                    agents: [("qa".to_owned(), limits)].into(),
                },
                pack: Some("desk/turn".into()),
                orchestrator: None,
                models: [("qa".to_owned(), "offline".to_owned())].into(),
            })),
            order: Some(1),
            heard: Some("m-1".into()),
        },
        Event::ActivationEnded {
            activation: 1,
            outcome: Outcome::Failed,
            reason: Some("the model mine::x did not answer".into()),
        },
        Event::StageChanged {
            from: "a".into(),
            to: "b".into(),
        },
        Event::StepStarted { step: step() },
        Event::FlowDecided {
            step: step(),
            decision: "skipped".into(),
        },
        Event::ModelAsked {
            step: step(),
            turn: 1,
            model: "offline".into(),
            request_hash: "h".into(),
        },
        Event::ModelRetried {
            step: step(),
            turn: 1,
            attempt: 1,
            reason: "429".into(),
            wait_ms: 5,
        },
        Event::ModelAnswered {
            step: step(),
            turn: 1,
            answer: ModelAnswer {
                text: "x".into(),
                tool_calls: vec![call()],
                usage: Usage {
                    input_tokens: 4,
                    output_tokens: 3,
                    cached_tokens: 2,
                    cache_write_tokens: 1,
                    cost_usd: None,
                },
                finish: Finish::Length,
            }
            .into(),
        },
        Event::ConversationCompacted {
            step: step(),
            agent: "qa".into(),
            turn: 3,
            calls: vec!["c".into()],
            tokens_before: 9,
            tokens_after: 4,
        },
        Event::ToolsOffered {
            step: step(),
            agent: "qa".into(),
            tools: vec![weighed()],
            left_out: vec![weighed()],
        },
        Event::ToolIntent {
            step: step(),
            role: "qa".into(),
            call: call().into(),
            decision: Decision::Deny {
                rule: "r".into(),
                reason: "no".into(),
            },
            mutates: true,
            carries: Some(Carries {
                effect: Does::Egress,
                keys: ["note".to_owned()].into(),
            }),
            expect: Some(MutationExpectation {
                resource: None,
                before: None,
                after: Some("b".into()),
                diff: Some("+".into()),
                more: Noted {
                    rehearsal: Some(Rehearsing {
                        copy: "n".into(),
                        activates: true,
                    }),
                    created: Some(CreateMark {
                        name: "n".into(),
                        known: vec!["k".into()],
                        nodes: vec!["i".into()],
                    }),
                    counted: Some(Counted {
                        how: BaseHow::Accepted,
                        since: Some("2026-01-01T00:00:00Z".into()),
                        lost: 1,
                        total: 2,
                        requested: false,
                    }),
                }
                .written(),
            }),
        },
        Event::ToolFinished {
            step: step(),
            role: "qa".into(),
            result: ToolResult {
                call_id: "c".into(),
                name: "get_workflow".into(),
                status: ToolStatus::Unknown,
                content: json!({}),
            }
            .into(),
            change: Some(change()),
        },
        Event::SnapshotTaken {
            resource: ResourceId::new("workflow", "w"),
            file: "f".into(),
            revision: "h".into(),
            size: 1,
            sha256: Some("s".into()),
        },
        Event::QuestionAsked {
            step: step(),
            question,
        },
        Event::AnswerGiven {
            step: step(),
            question_id: "q".into(),
            value: json!(3),
            by: AnsweredBy::Recommended,
        },
        Event::StatePatched {
            step: step(),
            agent: "qa".into(),
            patch: Map::new(),
        },
        Event::PatchRefused {
            step: step(),
            agent: "qa".into(),
            field: "f".into(),
            rule: "r".into(),
        },
        Event::SessionLoaded {
            conversation: "s".into(),
            version: 3,
            fields: Map::new(),
            messages: vec![json!({"role": "user", "text": "t"})],
        },
        Event::BranchesJoined {
            step: step(),
            done: vec!["a".into()],
            output: json!({}),
        },
        Event::Said {
            step: step(),
            text: "t".into(),
            data: json!({"n": 1}),
            attachment: Some("a".into()),
        },
        Event::Cleared {
            step: step(),
            fields: vec!["f".into()],
            messages: true,
        },
        Event::StepFinished {
            step: step(),
            output: json!({}),
        },
        Event::StepFailed {
            step: step(),
            error: "e".into(),
        },
        Event::Undone {
            resource: ResourceId::new("workflow", "w"),
            to_snapshot: String::new(),
            to: Some(0),
            change: Some(change()),
        },
        Event::RunEnded {
            outcome: Outcome::Complete,
            exit_code: 0,
            message: "m".into(),
        },
        Event::Adopted {
            from: 1,
            snapshots: [("f".to_owned(), "s".to_owned())].into(),
        },
        Event::GrantsPinned {
            by: "user".into(),
            grants: json!({"outside": "ask", "tools": []}),
        },
        Event::Linked(Link {
            side: Side::Child,
            run_id: "r".into(),
            pack: "p".into(),
            step: step(),
            call_id: "c".into(),
        }),
        Event::CallsTurnedAway {
            role: "builder".into(),
            rule: "budget.tool_calls".into(),
            count: 8,
        },
    ]
}

/// A new kind does not compile before it has its place here, and so a sample above.
fn place(event: &Event) -> usize {
    match event {
        Event::RunStarted { .. } => 0,
        Event::SessionOpened { .. } => 1,
        Event::ActivationStarted { .. } => 2,
        Event::ActivationEnded { .. } => 3,
        Event::StageChanged { .. } => 4,
        Event::StepStarted { .. } => 5,
        Event::FlowDecided { .. } => 6,
        Event::ModelAsked { .. } => 7,
        Event::ModelRetried { .. } => 8,
        Event::ModelAnswered { .. } => 9,
        Event::ConversationCompacted { .. } => 10,
        Event::ToolIntent { .. } => 11,
        Event::ToolFinished { .. } => 12,
        Event::SnapshotTaken { .. } => 13,
        Event::QuestionAsked { .. } => 14,
        Event::AnswerGiven { .. } => 15,
        Event::StatePatched { .. } => 16,
        Event::PatchRefused { .. } => 17,
        Event::StepFinished { .. } => 18,
        Event::StepFailed { .. } => 19,
        Event::Undone { .. } => 20,
        Event::RunEnded { .. } => 21,
        Event::Adopted { .. } => 22,
        Event::GrantsPinned { .. } => 23,
        Event::CallsTurnedAway { .. } => 24,
        Event::Said { .. } => 25,
        Event::Cleared { .. } => 26,
        Event::SessionLoaded { .. } => 27,
        Event::BranchesJoined { .. } => 28,
        Event::ToolsOffered { .. } => 29,
        Event::Linked(_) => 30,
    }
}
const KINDS: usize = 31;

#[test]
fn every_kind_of_event_stands_in_the_schema_and_in_the_docs() {
    let samples = samples();
    let places: BTreeSet<usize> = samples.iter().map(place).collect();
    assert_eq!(places, (0..KINDS).collect());

    let schema: Value =
        serde_json::from_str(include_str!("../../docs/schemas/events.schema.json")).unwrap();
    let docs = include_str!("../../docs/events.md");
    let kinds = schema["oneOf"].as_array().unwrap();
    let mut known: BTreeSet<&str> = kinds.iter().map(|k| k["title"].as_str().unwrap()).collect();
    let whole = jsonschema::validator_for(&schema).unwrap();
    for (seq, event) in (1..).zip(samples) {
        let record = Record {
            seq,
            at: "2026-01-01T00:00:00Z".into(),
            prev: String::new(),
            hash: String::new(),
            event,
        };
        let line = record.line();
        let kind = line["type"].as_str().unwrap().to_owned();
        assert!(whole.is_valid(&line), "{line}");
        assert!(known.remove(kind.as_str()), "{kind} is not in the schema");
        assert!(
            docs.contains(&format!("`{kind}`")),
            "{kind} is not in docs/events.md"
        );
        // Each field is described.
        let described = kinds.iter().find(|k| k["title"] == kind.as_str()).unwrap();
        for field in line.as_object().unwrap().keys() {
            let property = &described["properties"][field];
            assert!(!property.is_null(), "{kind}.{field} is not in the schema");
        }
        // And a line without one of those that must be there is not taken.
        for field in described["required"].as_array().unwrap() {
            let mut short = line.clone();
            short
                .as_object_mut()
                .unwrap()
                .shift_remove(field.as_str().unwrap());
            assert!(!whole.is_valid(&short), "{kind} without {field}");
        }
    }
    // What is no record of a journal.
    let others = ["init", "init (log)", "model.text", "result", "result (log)"];
    assert_eq!(known, others.into_iter().chain(USERS_VIEW).collect());
}

const USERS_VIEW: [&str; 6] = [
    "message",
    "message.delta",
    "tool",
    "workflow-updated",
    "question",
    "done",
];

#[test]
fn each_line_of_the_users_view_stands_in_the_schema_and_in_the_docs() {
    let schema: Value =
        serde_json::from_str(include_str!("../../docs/schemas/events.schema.json")).unwrap();
    let whole = jsonschema::validator_for(&schema).unwrap();
    let docs = include_str!("../../docs/events.md");
    let mut told = BTreeSet::new();
    let records = samples().into_iter().map(|event| Record {
        seq: 1,
        at: "2026-01-01T00:00:00Z".into(),
        prev: String::new(),
        hash: String::new(),
        event,
    });
    let seen = records.flat_map(|record| agentctl_turns::seen(&record));
    for seen in seen.chain([agentctl_turns::words("a")]) {
        // The end of a turn is told by its reply, which a test of the command holds against the schema.
        if seen.kind == "done" {
            continue;
        }
        let kind = seen.kind.clone();
        let line = seen.line();
        assert!(whole.is_valid(&line), "{line}");
        assert!(docs.contains(&format!("`{kind}`")), "{kind}");
        told.insert(kind);
    }
    let without_end = USERS_VIEW.into_iter().filter(|kind| *kind != "done");
    assert_eq!(told, without_end.map(str::to_owned).collect());
}
