//! Turns of a conversation, killed at any point: what a turn leaves to be kept is the same, whatever its journal had by then, and is the
//! same again when it is asked for twice.

use crate::crash::{begun, changes, cut};
use crate::support::{House, Seen, block_on, flow_calling, request, says};
use agentctl_base::model::ModelAnswer;
use agentctl_base::question::Outcome;
use agentctl_engine::flow::Flow;
use agentctl_engine::run::{Left, Resume, RunOptions, RunReport, SessionGiven, Turn};
use agentctl_engine::store::{Event, Record};
use serde_json::{Value, json};

/// A message begins a list: an agent chooses the case, a called flow makes it, two branches look after it, and the turn forgets.
const TURN: &str = "\
name: turn
fields:
  mode: {kind: value, scope: session, writers: [program], default: idle}
  lists: {kind: append, scope: session, group: made, writers: [program]}
  old: {kind: value, scope: session, group: made, writers: [program], default: none}
  notes: {kind: set, scope: session, writers: [planner, program]}
steps:
  - id: choose
    route: {by: {agent: planner, conversation: {history: session.messages, message: input.message}, otherwise: talk}}
    cases:
      - case: make
        means: the user wants a list
        when: state.mode == 'idle'
        steps:
          - {id: clean, clear: {groups: [made], messages: true}}
          - {id: make, call: make, with: {name: input.message}, take: {lists: '[output.id]'}}
          - {id: made, set: {mode: \"'busy'\"}, say: {text: \"'made ' + state.lists[0]\"}}
      - {case: talk, means: anything else, steps: [{id: talk, say: {text: \"'hm'\"}}]}
  - id: after
    parallel: {}
    branches:
      - {id: look, steps: [{id: look, tool: list_lists, role: planner}, {id: seen, set: {notes: \"['seen']\"}}]}
      - id: think
        steps:
          - {id: think, agent: planner, task: think, instructions: Think., writes: [notes], contract: {type: object, required: [notes], properties: {notes: {type: array}}}}
  - {id: told, say: {text: \"join(state.notes, ' ') + ' ' + string(size(session.messages))\"}}
";
const MAKE: &str = "\
name: make
output: {value: steps.create.output}
steps:
  - {id: create, tool: create_list, role: keeper, args: {name: input.name, items: '[]'}}
";

fn flow() -> Flow {
    flow_calling(TURN, &[("make", MAKE)])
}

fn script(seen: &Seen<'_>) -> ModelAnswer {
    match seen.task() {
        "think" => says(json!({"notes": ["thought"]})),
        _ => says(json!({"case": "make", "reasoning": "a list"})),
    }
}

fn message(text: &str) -> RunOptions {
    let mut options = request(text);
    options.input.insert("message".into(), json!(text));
    options.session = Some(Box::new(SessionGiven {
        id: "s1".into(),
        version: 3,
        fields: json!({"lists": ["older"], "old": "x"})
            .as_object()
            .unwrap()
            .clone(),
        messages: vec![json!({"role": "user", "text": "hello"})],
        parent: None,
    }));
    options
}

fn again(house: &mut House, run: &str) -> (RunReport, Left) {
    block_on(async {
        let turn = Turn::reopen(house.context(), run, Resume::default()).unwrap();
        turn.unwrap().drive().await.unwrap()
    })
}

#[test]
fn killed_after_every_event_a_turn_leaves_the_same() {
    let mut whole = House::running(flow(), script);
    let (report, left) = block_on(async {
        let turn = Turn::begin(whole.context(), message("Chores")).unwrap();
        turn.drive().await.unwrap()
    });
    assert_eq!(report.outcome, Outcome::Complete, "{}", report.message);
    let said: Vec<&str> = left.said.iter().map(|said| said.text.as_str()).collect();
    assert_eq!(said, ["made chores", "seen thought 0"]);
    assert_eq!(
        Value::Object(left.fields.clone()),
        json!({"mode": "busy", "lists": ["chores"], "old": "none", "notes": ["seen", "thought"]})
    );
    assert_eq!(
        (left.cleared, left.route.as_deref(), left.version),
        (true, Some("make"), 3)
    );

    let records = whole.records();
    let list = whole.list("chores").unwrap();
    let worlds = [None, Some(&list)];
    let done = changes(&records);
    assert_eq!(done.len(), 1);
    // A turn has begun, and its conversation knows of it, once its journal says of what it is a turn.
    let begins = |record: &Record| matches!(record.event, Event::SessionLoaded { .. });
    let begun_at = records.iter().position(begins).unwrap() + 1;
    for at in begun_at..=records.len() {
        let so_far = &records[..at];
        let event = &records[at - 1].event;
        // The change may have happened or not when the program was killed.
        for world in &worlds[changes(so_far).len()..=begun(so_far)] {
            let new = House::running(flow(), script);
            let mut house = cut(new, &whole, &report.run_id, so_far, *world);
            let (resumed, what) = again(&mut house, &report.run_id);
            assert_eq!(resumed.outcome, Outcome::Complete, "cut after {event:?}");
            assert_eq!(what, left, "cut after {event:?}");
            assert_eq!(
                house.list("chores").as_ref(),
                Some(&list),
                "cut after {event:?}"
            );
            assert_eq!(changes(&house.records()), done, "cut after {event:?}");
            // No answer that was journaled is asked for again, and nothing is said twice.
            let of = |records: &[Record], wanted: fn(&Event) -> bool| {
                records.iter().filter(|r| wanted(&r.event)).count()
            };
            let answered = |e: &Event| matches!(e, Event::ModelAnswered { .. });
            assert_eq!(
                of(so_far, answered) + house.asked_count(),
                of(&records, answered),
                "cut after {event:?}"
            );
            let said = |e: &Event| matches!(e, Event::Said { .. });
            assert_eq!(of(&house.records(), said), 2, "cut after {event:?}");
            // Its end was not kept: it is asked for again.
            assert_eq!(
                again(&mut house, &report.run_id).1,
                left,
                "cut after {event:?}"
            );
        }
    }
}
