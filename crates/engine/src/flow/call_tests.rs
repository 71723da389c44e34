//! Flows that call flows: paths, states of their own, what goes in and out, and the mistakes that loading finds.

use super::fixture::{Play, Run, drive, paths, say, started};
use super::{Flow, FlowFile, Known, RunLog, Written, load_with};
use crate::store::event::Event;
use agentctl_base::question::Outcome;
use serde_json::{Map, Value, json};

const MAIN: &str = "\
name: main
fields:
  found: {kind: append, writers: [program]}
  note: {kind: value, writers: [program], default: main's}
failures: troubles
steps:
  - id: rounds
    max: 2
    loop:
      - {id: search, call: search, with: {what: input.what, round: run.cycle}, take: {found: output.items}, on_failure: continue}
  - {id: told, say: {text: \"join(state.found, ' ') + ' ' + state.note + ' ' + steps.search.status\"}}
";
const SEARCH: &str = "\
name: search
input: {schema: {type: object, required: [what, round], additionalProperties: false, properties: {what: {type: string}, round: {type: integer}}}}
output: {value: \"{'items': [state.note + string(state.hits.n) + string(input.round)]}\", schema: {type: object, properties: {items: {type: array}}}}
fields:
  hits: {kind: object, writers: [a]}
  note: {kind: value, writers: [program]}
steps:
  - {id: note, set: {note: input.what}}
  - {id: search, call: look, with: {for: state.note}, take: {}}
  - {id: look, agent: a, task: look, instructions: i, reads: [note, input], writes: [hits], contract: {type: object, required: [hits], properties: {hits: {type: object}}}}
  - id: enough
    gate: state.hits.n < 9
    otherwise: {end: {outcome: refused, message: \"'too many'\"}}
  - {id: done, when: input.round == 2, end: true}
  - {id: on, say: {text: \"'round 1'\"}}
";
const LOOK: &str = "name: look\nfields: {note: {kind: value, writers: [program], default: look's}}\nsteps: [{id: note, say: {text: state.note}}]\n";

fn read(main: &str, others: &[(&str, &str)]) -> Result<Flow, Vec<String>> {
    let names: Vec<String> = others
        .iter()
        .map(|(name, _)| format!("{name}.flow.yaml"))
        .collect();
    let files: Vec<FlowFile<'_>> = others
        .iter()
        .zip(&names)
        .map(|((name, text), file)| {
            let of = Written::Text(text);
            FlowFile { name, file, of }
        })
        .collect();
    load_with(Written::Text(main), "flow.yaml", Known::default(), &files)
        .map_err(|all| all.iter().map(ToString::to_string).collect())
}

fn main_text() -> String {
    MAIN.replace("failures: troubles\n", "")
}

fn main_flow() -> Flow {
    read(&main_text(), &[("search", SEARCH), ("look", LOOK)]).unwrap_or_else(|e| panic!("{e:#?}"))
}

fn run_with(flow: &Flow, n: i64) -> Run {
    let plays = move |path: &str, _: &str, input: &Map<String, Value>| -> Play {
        assert_eq!(input["note"], "x", "{path}");
        assert!(input["input"]["round"].is_i64());
        say(json!({"hits": {"n": n}, "note": "not mine"}))
    };
    // What it may not write is another test's; here it keeps to its fields.
    let plays = move |path: &str, task: &str, input: &Map<String, Value>| {
        let mut play = plays(path, task, input);
        play.output.as_object_mut().unwrap().shift_remove("note");
        play
    };
    drive(
        flow,
        &[started(json!({"what": "x", "more": 1}))],
        &plays,
        &|_| None,
        200,
    )
}

fn said(events: &[Event]) -> Vec<&str> {
    let messages = events.iter().filter_map(|event| match event {
        Event::Said { text, .. } => Some(text.as_str()),
        _ => None,
    });
    messages.collect()
}

#[test]
fn a_called_flow_has_a_state_of_its_own_and_a_path_below_the_call() {
    let flow = main_flow();
    let run = run_with(&flow, 3);
    assert_eq!(run.end, Some((Outcome::Complete, String::new())));
    assert_eq!(
        paths(&run.events),
        [
            "rounds[1]/search",
            "rounds[1]/search/search",
            "rounds[1]/search/look",
            "rounds[2]/search",
            "rounds[2]/search/search",
            "rounds[2]/search/look",
        ]
    );
    assert_eq!(
        said(&run.events),
        ["look's", "round 1", "look's", "x31 x32 main's done"]
    );
    let log = RunLog::fold(&flow, &run.events).unwrap();
    assert_eq!(
        Value::Object(log.state().clone()),
        json!({"note": "main's", "found": ["x31", "x32"]})
    );
    assert_eq!(
        log.state_at("rounds[1]/search/look")["hits"],
        json!({"n": 3})
    );
    let (of, step) = flow.at("rounds[2]/search/search/note").unwrap();
    assert_eq!((of.name.as_str(), step.kind.name()), ("look", "say"));
    assert_eq!(
        flow.flows()
            .iter()
            .map(|f| f.name.as_str())
            .collect::<Vec<_>>(),
        ["main", "search", "look"]
    );
}

#[test]
fn a_flow_that_does_not_come_to_its_end_is_a_step_that_failed() {
    let flow = main_flow();
    let run = run_with(&flow, 9);
    assert_eq!(run.end.unwrap().0, Outcome::Complete);
    let failed: Vec<&str> = run
        .events
        .iter()
        .filter_map(|event| match event {
            Event::StepFailed { error, .. } => Some(error.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(failed, ["the flow search ended refused: too many"; 2]);
}

#[test]
fn cut_off_anywhere_in_called_flows_it_goes_on_as_it_was() {
    let flow = main_flow();
    for n in [3, 9] {
        let whole = run_with(&flow, n).events;
        for cut in 1..whole.len() {
            let plays = |_: &str, _: &str, _: &Map<String, Value>| say(json!({"hits": {"n": n}}));
            let again = drive(&flow, &whole[..cut], &plays, &|_| None, 200);
            assert_eq!(again.events, whole, "cut after {cut}");
        }
    }
}

#[test]
fn input_that_does_not_fit_fails_the_step_before_the_flow_begins() {
    let main = MAIN
        .replace("failures: troubles\n", "")
        .replace("what: input.what", "what: '1'");
    let flow = read(&main, &[("search", SEARCH), ("look", LOOK)]).unwrap();
    let run = run_with(&flow, 3);
    assert!(matches!(&run.events[2], Event::StepFailed { step, error }
        if step == "rounds[1]/search" && error.starts_with("the flow search cannot take its input: /what:")));
}

#[test]
fn the_mistakes_of_all_flows_are_found_in_one_pass() {
    let main = MAIN
        .replace("with: {what: input.what, round: run.cycle}", "with: {wat: input.what}")
        .replace("take: {found: output.items}", "take: {found: output.item, note: steps.nowhere.output, lost: '1'}")
        .replace("  note: {kind: value, writers: [program], default: main's}", "  note: {kind: value, writers: [a]}\n  hits: {kind: replace, writers: [a], guards: scope}")
        .replace("- {id: told,", "- {id: more, call: serch}\n  - {id: told,");
    let others = [("search", SEARCH), ("look", LOOK), ("broken", "steps: 1\n")];
    let found = read(&main, &others).unwrap_err();
    let expected = [
        (
            "flow.yaml:",
            "there is no flow \"serch\"; did you mean \"search\"?",
        ),
        ("broken.flow.yaml:", "`steps` must be a list of steps"),
        ("broken.flow.yaml:", "the flow has no \"name\""),
        ("flow.yaml:", "`failures` must name a field of kind append"),
        (
            "flow.yaml:",
            "the step \"search\" does not give \"what\", which the flow search needs",
        ),
        (
            "flow.yaml:",
            "the step \"search\" does not give \"round\", which the flow search needs",
        ),
        ("flow.yaml:", "the flow search takes no \"wat\""),
        ("flow.yaml:", "the flow's output has no \"item\""),
        (
            "flow.yaml:",
            "\"note\" has no writer \"program\", so `take` may not write it",
        ),
        ("flow.yaml:", "reads the unknown step \"nowhere\""),
        ("flow.yaml:", "there is no field \"lost\""),
        (
            "flow.yaml:",
            "the field \"hits\" of the flow search would be taken for what a fix cycle may change",
        ),
    ];
    for (file, part) in expected {
        assert!(
            found
                .iter()
                .any(|f| f.starts_with(file) && f.contains(part)),
            "{file} {part} in\n{}",
            found.join("\n")
        );
    }
    assert_eq!(found.len(), expected.len(), "{}", found.join("\n"));

    let look = LOOK.replace(
        "steps: [",
        "steps: [{id: round, call: search, with: {what: '1'}}, ",
    );
    let found = read(&main_text(), &[("search", SEARCH), ("look", &look)]).unwrap_err();
    assert_eq!(
        found,
        ["look.flow.yaml:3:27: the flow search would call itself: search → look → search"]
    );
}

#[test]
fn flows_below_one_another_have_an_end() {
    let call = |name: &str| format!("name: x\nsteps: [{{id: s, call: {name}}}]\n");
    let last = "name: x\nsteps: [{id: s, end: true}]\n".to_owned();
    let flows = [("a", call("b")), ("b", call("c")), ("c", last)];
    let flows: Vec<(&str, &str)> = flows.iter().map(|(n, t)| (*n, t.as_str())).collect();
    assert_eq!(read(&call("b"), &flows).unwrap().depth(), 3);
    assert_eq!(read(&call("a"), &flows).unwrap().depth(), 4);
    let z = call("a");
    let deeper = [flows.as_slice(), &[("z", z.as_str())]].concat();
    let found = read(&call("z"), &deeper).unwrap_err();
    assert!(
        found
            .iter()
            .any(|f| f.starts_with("flow.yaml:") && f.contains("3 deep below it; at most 4")),
        "{found:#?}"
    );
}
