//! What a conversation needs of a flow: fields that last and are cleared, messages, ends, several actions on one step, and an agent
//! that chooses among cases.

use super::fixture::{Play, drive, say, started};
use super::{Action, Flow, Known, RunLog, load, next};
use crate::store::event::Event;
use agentctl_base::question::Outcome;
use serde_json::{Map, Value, json};
use std::sync::Arc;

fn data() -> Arc<Map<String, Value>> {
    let data = json!({
        "fields": [{"name": "title", "type": "text"}, {"name": "risk", "type": "choice", "values": ["one", "all"]}],
        "texts": {"bye": "Cleared."},
    });
    Arc::new(data.as_object().unwrap().clone())
}

fn read(text: &str) -> Result<Flow, Vec<String>> {
    let data = data();
    let known = Known {
        data: Some(&data),
        ..Known::default()
    };
    load(text, "f", known).map_err(|all| all.iter().map(ToString::to_string).collect())
}

const TALK: &str = "\
name: talk
fields:
  mode: {kind: value, scope: session, writers: [program], default: CHAT, schema: {enum: [CHAT, REVIEW]}}
  collected: {kind: object, group: request, writers: [elicit], skip_empty: true, schema: {from: fields}}
  unknown: {kind: set, group: request, writers: [elicit], skip_empty: true, schema: {items: {enum: {names_of: fields}}}}
  team: {kind: value, group: request, writers: [program]}
steps:
  - id: cleared
    when: lower(trim(input.message)) == 'clear context'
    clear: {groups: [request], fields: [mode], messages: true}
    say: {text: pack.texts.bye, data: '{\"mode\": state.mode}'}
    end: true
  - id: supervise
    route: {by: {agent: boss, reads: [mode], otherwise: chat}}
    cases:
      - {case: review, when: state.mode == 'REVIEW', means: \"the user\\n  confirms\", steps: []}
      - case: elicit
        means: the user gives details
        when: input.message != 'hi'
        steps:
          - id: ask
            agent: elicit
            task: ask
            instructions: i
            writes: [collected, unknown]
            maps: {collected: output.updates, unknown: output.not_known}
            contract: {type: object, required: [updates, not_known, words]}
          - id: shown
            when: has_text(state.collected.title)
            set: {mode: \"'REVIEW'\", team: \"{'id': 'ops'}\"}
            say: {text: steps.ask.output.words, attachment: \"'file://x'\"}
      - {case: chat, means: anything else, steps: [{id: talk, say: {text: \"'hello'\"}}]}
";

fn plays(path: &str, _: &str, _: &Map<String, Value>) -> Play {
    match path {
        "supervise" => say(json!({"reasoning": "r", "case": "elicit"})),
        "supervise/ask" => say(
            json!({"updates": {"title": "Bot", "risk": " "}, "not_known": ["risk", "risk", ""], "words": "noted"}),
        ),
        other => panic!("{other}"),
    }
}

fn run(flow: &Flow, message: &str) -> (Vec<Event>, RunLog, Option<(Outcome, String)>) {
    let begun = [started(json!({"message": message}))];
    let run = drive(flow, &begun, &plays, &|_| None, 100);
    let log = RunLog::fold(flow, &run.events).unwrap();
    (run.events, log, run.end)
}

fn said(events: &[Event]) -> Vec<(&str, &Value, Option<&str>)> {
    let messages = events.iter().filter_map(|event| match event {
        Event::Said {
            text,
            data,
            attachment,
            ..
        } => Some((text.as_str(), data, attachment.as_deref())),
        _ => None,
    });
    messages.collect()
}

#[test]
fn a_turn_collects_says_and_ends_without_stages() {
    let flow = read(TALK).unwrap();
    let (events, log, end) = run(&flow, "a bot");
    assert_eq!(end, Some((Outcome::Complete, String::new())));
    assert_eq!(said(&events), [("noted", &Value::Null, Some("file://x"))]);
    // Blank values never reach the state, and a set holds each item once.
    assert_eq!(
        Value::Object(log.state().clone()),
        json!({"mode": "REVIEW", "collected": {"title": "Bot"}, "unknown": ["risk"], "team": {"id": "ops"}})
    );
    // What stands under other names in the answer stays there.
    assert_eq!(log.output("supervise/ask").unwrap()["words"], "noted");
    assert_eq!(log.stage(), "");
}

#[test]
fn clearing_puts_defaults_back_and_an_end_leaves_the_rest_out() {
    let flow = read(TALK).unwrap();
    let (mut events, ..) = run(&flow, "a bot");
    // As if the state of that turn were this one's: what is cleared is what is there.
    events.push(Event::Cleared {
        step: "cleared/cleared.clear".into(),
        fields: vec![
            "collected".into(),
            "unknown".into(),
            "team".into(),
            "mode".into(),
        ],
        messages: true,
    });
    let log = RunLog::fold(&flow, &events).unwrap();
    assert_eq!(Value::Object(log.state().clone()), json!({"mode": "CHAT"}));

    let (events, log, end) = run(&flow, "  Clear CONTEXT ");
    assert_eq!(end, Some((Outcome::Complete, String::new())));
    assert_eq!(
        said(&events),
        [("Cleared.", &json!({"mode": "CHAT"}), None)]
    );
    assert!(events.contains(&Event::Cleared {
        step: "cleared/cleared.clear".into(),
        fields: vec![
            "collected".into(),
            "unknown".into(),
            "team".into(),
            "mode".into()
        ],
        messages: true,
    }));
    assert_eq!(log.status("supervise"), None);
}

#[test]
fn an_agent_is_offered_the_cases_that_can_be_and_nobody_is_asked_about_one() {
    let flow = read(TALK).unwrap();
    let log = RunLog::fold(
        &flow,
        &[
            started(json!({"message": "a bot"})),
            Event::FlowDecided {
                step: "cleared".into(),
                decision: "skipped".into(),
            },
            Event::StepStarted {
                step: "supervise".into(),
            },
        ],
    )
    .unwrap();
    let Action::Agent(step) = next(&flow, &log).unwrap() else {
        panic!("no agent")
    };
    assert_eq!(
        (
            step.agent.as_str(),
            step.task.as_str(),
            step.tools,
            &step.input
        ),
        (
            "boss",
            "route",
            false,
            json!({"mode": "CHAT"}).as_object().unwrap()
        )
    );
    assert_eq!(
        step.instructions,
        "Choose the one case that fits. Say first, in one sentence, what speaks for it. The cases:\n- elicit: the user gives details\n- chat: anything else\n"
    );
    assert_eq!(
        step.contract,
        json!({"type": "object", "required": ["reasoning", "case"], "additionalProperties": false,
            "properties": {"reasoning": {"type": "string"}, "case": {"enum": ["elicit", "chat"]}}})
    );

    let (events, log, _) = run(&flow, "hi");
    assert_eq!(said(&events), [("hello", &Value::Null, None)]);
    assert_eq!(log.output("supervise"), None);
}

#[test]
fn an_agent_that_cannot_choose_leaves_it_to_otherwise() {
    let flow = read(TALK).unwrap();
    let cannot = |_: &str, _: &str, _: &Map<String, Value>| Play {
        error: Some("the answer was still not accepted after 2 repairs"),
        ..Play::default()
    };
    let run = drive(
        &flow,
        &[started(json!({"message": "x"}))],
        &cannot,
        &|_| None,
        100,
    );
    assert_eq!(run.end, Some((Outcome::Complete, String::new())));
    assert_eq!(said(&run.events), [("hello", &Value::Null, None)]);
}

/// Cut off anywhere, a turn goes on to the same end.
#[test]
fn a_turn_that_is_cut_off_goes_on_as_it_was() {
    let flow = read(TALK).unwrap();
    for message in ["a bot", "clear context", "hi"] {
        let (whole, ..) = run(&flow, message);
        for cut in 1..whole.len() {
            let again = drive(&flow, &whole[..cut], &plays, &|_| None, 100);
            assert_eq!(again.events, whole, "{message}, cut after {cut}");
        }
    }
}

#[test]
fn the_mistakes_of_these_kinds_are_found() {
    let text = "\
name: t
blocked: stuck
fields:
  a: {kind: value, writers: [x], scope: forever, default: 1, schema: {type: string}, group: g}
  b: {kind: set, writers: [x], skip_empty: maybe, schema: {from: nothing}}
  c: {kind: replace, writers: [x], guards: scope}
steps:
  - {id: s1, say: {data: '1'}, end: true, set: {a: '1'}}
  - {id: s2, clear: {groups: [h], fields: [c]}}
  - {id: s3, clear: {}}
  - {id: s4, end: {outcome: blocked}}
  - {id: s5, agent: x, say: {text: \"''\"}}
  - id: s6
    route: {by: {agent: x, otherwise: none}}
    cases: [{case: one, steps: []}, {case: two, means: m, else: true}]
  - id: s7
    route: {by: {agent: x, otherwise: one}}
    cases: [{case: one, when: 'true', means: m}]
  - {id: s8, agent: x, task: t, instructions: i, writes: [a, b], maps: {a: output.a, c: output.c}, contract: {type: object}}
  - {id: s9, set: {a: pack.nothing.x}}
  - {id: s10, agent: x, task: t, instructions: i, writes: [a], contract: {type: object, required: [a, b], properties: {a: {}, b: {}}}}
";
    let problems = read(text).unwrap_err();
    let problems: Vec<&str> = problems
        .iter()
        .map(|p| p.trim_start_matches("f:"))
        .collect();
    insta::assert_snapshot!(problems.join("\n"), @r#"
    2:10: a flow without `stages` has no blocked stage either
    4:41: the field "a": `scope` must be session or turn
    4:59: the field "a": its default cannot be: "a" does not fit its schema at /: 1 is not of type "string"
    5:44: `skip_empty` must be true or false
    5:59: the pack has no data "nothing"
    8:19: `say` has no "text"
    8:32: `end` must be the last action of its step: nothing is done after it
    8:49: "a" has no writer "program", so `set` may not write it
    9:5: the step "s2" is never reached: behind "s1" nothing goes on
    9:21: "c" says what a fix cycle may change, so it cannot be cleared
    9:31: no field is of the group "h"
    10:21: `clear` needs `groups`, `fields`, or `messages: true`
    11:19: `end` has no "message": the user must learn why it ended so
    12:24: the step "s5" has two kinds; it may have one of agent, ask, tool, call, parallel, for_each, route, loop, gate, set, say, clear, end, steps, or several of set, say, clear, end
    15:12: `otherwise` of the step "s6" names no case: "none"
    15:13: the case "one" needs `means`: what the agent chooses by
    15:37: in the step "s6" an agent chooses; name the case that is taken else in `otherwise` of `by`
    18:12: the case "one" is what the step "s7" takes when nothing else is taken, so it can have no `when`
    19:72: `maps` must name each field that the step writes; "b" is not there
    19:86: "c" is not among the fields that the step writes
    19:110: the step "s8" writes "b", but its contract has no such property
    20:20: "a" has no writer "program", so `set` may not write it
    20:23: the expression `pack.nothing.x` reads the data "nothing", which the pack does not have
    21:103: the step "s10" must answer "b", which is a field that it does not write: add it to `writes`, or give the key another name
    "#);
}
