//! Flows that call flows, as whole runs: one journal, one undo, and a crash at any point of either.

use crate::crash::{begun, changes, cut};
use crate::support::{House, block_on, flow_calling, good, request};
use agentctl_base::question::Outcome;
use agentctl_engine::flow::Flow;
use agentctl_engine::run::{RunError, RunReport, start};
use agentctl_engine::store::Event;
use serde_json::json;

const HOUSE: &str = "\
name: house
input: {schema: {required: [request], properties: {request: {minLength: 2}}}}
output: {value: state.lists}
fields:
  lists: {kind: append, writers: [program]}
  left: {kind: scalar, writers: [program]}
steps:
  - {id: make, call: make, with: {name: input.request}, take: {lists: '[output.id]'}}
  - {id: count, call: count, with: {id: 'state.lists[0]'}, take: {left: output.left}}
  - {id: told, say: {text: \"string(state.left) + ' to do in ' + state.lists[0]\"}}
";
const MAKE: &str = "\
name: make
input: {schema: {required: [name], properties: {name: {type: string}}}}
output: {value: \"{'id': state.list.id}\"}
fields: {list: {kind: object, writers: [keeper], fact: resource}}
steps:
  - id: write
    agent: keeper
    task: write
    instructions: Write it.
    reads: [input]
    writes: [list]
    contract: {type: object, required: [list], properties: {list: {type: object}}}
    verify: [{that: changed != null, says: no list was written}]
";
const COUNT: &str = "\
name: count
output: {value: \"{'left': size(open_items(steps.read.output.items))}\"}
steps:
  - {id: read, tool: read_list, role: planner, args: {list_id: input.id}}
";

fn flow() -> Flow {
    flow_calling(HOUSE, &[("make", MAKE), ("count", COUNT)])
}

#[test]
fn what_called_flows_do_the_run_does() {
    let mut house = House::running(flow(), good);
    let report = house.start(request("Chores"));
    assert_eq!(report.outcome, Outcome::Complete, "{}", report.message);
    assert_eq!(report.messages[0].text, "2 to do in chores");
    assert_eq!(report.output, Some(json!(["chores"])));
    // What the agent left out of its claim was filled in from the call, also in the called flow.
    let patches: Vec<_> = house
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::StatePatched { step, patch, .. } => Some((step, patch)),
            _ => None,
        })
        .collect();
    assert_eq!(patches[0].0, "make/write");
    assert_eq!(patches[0].1["list"]["item_count"], 2);
    assert_eq!(patches[1].0, "make");
    assert_eq!(report.usage.tool_calls, 2);
}

const BRANCHES: &str = "\
name: house
fields:
  lists: {kind: append, writers: [program]}
  left: {kind: scalar, writers: [program]}
  intent: {kind: object, writers: [planner]}
steps:
  - id: begin
    parallel: {max_at_once: 2}
    branches:
      - {id: make, steps: [{id: make, call: make, with: {name: input.request}, take: {lists: '[output.id]'}}]}
      - {id: look, steps: [{id: look, tool: list_lists, role: planner}]}
      - id: intend
        steps: [{id: intend, agent: planner, task: intend, instructions: Say it., writes: [intent], contract: {type: object, properties: {intent: {type: object}}}}]
  - {id: count, call: count, with: {id: 'state.lists[0]'}, take: {left: output.left}}
  - {id: told, say: {text: \"string(state.left) + ' ' + state.intent.name\"}}
";

/// Three branches and two called flows, killed at every event.
#[test]
fn cut_after_every_event_branches_and_called_flows_come_to_the_same() {
    let flow = || flow_calling(BRANCHES, &[("make", MAKE), ("count", COUNT)]);
    let mut whole = House::running(flow(), good);
    let report = whole.start(request("Chores"));
    assert_eq!(report.messages[0].text, "2 Chores");
    same_wherever_it_is_cut(&whole, &report, flow);
}

#[test]
fn input_that_the_flow_does_not_take_begins_no_run() {
    let mut house = House::running(flow(), good);
    let refused = block_on(start(house.context(), request("x")));
    assert!(
        matches!(refused, Err(RunError::Usage(why)) if why.contains("cannot take this input: /request"))
    );
    assert!(house.project.run_ids().unwrap().is_empty());
}

#[test]
fn cut_after_every_event_called_flows_come_to_the_same() {
    let mut whole = House::running(flow(), good);
    let report = whole.start(request("Chores"));
    same_wherever_it_is_cut(&whole, &report, flow);
}

fn same_wherever_it_is_cut(whole: &House, report: &RunReport, flow: impl Fn() -> Flow) {
    let records = whole.records();
    let last = whole.list("chores").unwrap();
    let worlds = [None, Some(&last)];
    let done = changes(&records);
    assert_eq!(done.len(), 1);
    for at in 1..=records.len() {
        let so_far = &records[..at];
        let event = &records[at - 1].event;
        for world in &worlds[changes(so_far).len()..=begun(so_far)] {
            let new = House::running(flow(), good);
            let mut house = cut(new, whole, &report.run_id, so_far, *world);
            let again = house.resume(&report.run_id).unwrap();
            assert_eq!(again.outcome, Outcome::Complete, "cut after {event:?}");
            assert_eq!(again.state, report.state, "cut after {event:?}");
            assert_eq!(again.messages, report.messages, "cut after {event:?}");
            assert_eq!(again.output, report.output, "cut after {event:?}");
            assert_eq!(house.list("chores").as_ref(), Some(&last));
            assert_eq!(changes(&house.records()), done, "cut after {event:?}");
        }
    }
}
