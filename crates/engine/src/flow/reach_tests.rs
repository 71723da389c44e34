//! What a check of a flow finds besides mistakes of a line, and what its drawing shows of the kinds of steps that hold others.

use super::{FlowFile, Known, Written, load, load_with, mermaid};

fn problems(steps: &str) -> Vec<String> {
    let text = format!("name: t\nsteps:\n{steps}");
    match load(&text, "f", Known::default()) {
        Ok(_) => Vec::new(),
        Err(all) => all.iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn a_step_that_nothing_leads_to_is_a_mistake() {
    let set = |id: &str| format!("{{id: {id}, say: {{text: \"'x'\"}}}}");
    let cases = [
        // Behind an end, alone or among other actions.
        (
            format!("  - {{id: a, end: true}}\n  - {}\n", set("b")),
            Some(("b", "a")),
        ),
        (
            format!(
                "  - {{id: a, say: {{text: \"'x'\"}}, end: true}}\n  - {}\n",
                set("b")
            ),
            Some(("b", "a")),
        ),
        // With a condition it goes on.
        (
            format!("  - {{id: a, when: 'true', end: true}}\n  - {}\n", set("b")),
            None,
        ),
        // Every case ends, and one is always taken.
        (
            format!(
                "  - {{id: r, route: [{{case: x, when: 'true', steps: [{{id: e1, end: true}}]}}, {{case: y, else: true, steps: [{{id: e2, end: true}}]}}]}}\n  - {}\n",
                set("b")
            ),
            Some(("b", "r")),
        ),
        (
            format!(
                "  - {{id: r, route: [{{case: x, when: 'true', steps: [{{id: e1, end: true}}]}}]}}\n  - {}\n",
                set("b")
            ),
            None,
        ),
        // A loop that nothing leaves but its exhaustion, after which the flow ends.
        (
            format!(
                "  - {{id: l, max: 2, loop: [{}], exhausted: {{end: {{outcome: failed, message: \"'x'\"}}}}}}\n  - {}\n",
                set("i"),
                set("b")
            ),
            Some(("b", "l")),
        ),
        (
            format!(
                "  - {{id: l, max: 2, loop: [{}, {{id: g, gate: 'false', otherwise: {{leave: l}}}}], exhausted: {{end: {{outcome: failed, message: \"'x'\"}}}}}}\n  - {}\n",
                set("i"),
                set("b")
            ),
            None,
        ),
        // Inside of a branch, and inside of a case.
        (
            format!(
                "  - {{id: s, when: 'true', steps: [{{id: a, end: true}}, {}]}}\n",
                set("b")
            ),
            Some(("b", "a")),
        ),
    ];
    for (steps, wanted) in cases {
        let found = problems(&steps);
        let wanted: Vec<String> = wanted
            .iter()
            .map(|(step, before)| {
                format!("the step {step:?} is never reached: behind {before:?} nothing goes on")
            })
            .collect();
        assert_eq!(found.len(), wanted.len(), "{steps}\n{found:?}");
        for (found, wanted) in found.iter().zip(&wanted) {
            assert!(found.ends_with(wanted), "{steps}\n{found}");
        }
    }
}

const MAIN: &str = "\
name: main
fields: {found: {kind: append, writers: [program]}}
steps:
  - id: both
    parallel: {join: {at_least: 1}}
    branches:
      - {id: left, when: 'true', steps: [{id: l, set: {found: '[0]'}}]}
      - {id: right, steps: [{id: r, set: {found: '[1]'}}]}
  - id: each
    for_each: {of: state.found, as: item}
    steps: [{id: again, set: {found: '[item]'}}]
  - id: chosen
    route: {by: {agent: a, otherwise: y}}
    cases: [{case: x, means: m, steps: [{id: bye, say: {text: \"'x'\"}, end: true}]}, {case: y, means: m, steps: [{id: forget, clear: {fields: [found]}}]}]
  - {id: once, call: look-up}
  - {id: twice, call: look-up}
";
const LOOK_UP: &str =
    "name: look-up\nsteps: [{id: start, say: {text: \"'x'\"}}, {id: stop, end: true}]\n";

#[test]
fn a_drawing_shows_branches_lists_choices_and_each_called_flow_once() {
    let others = [FlowFile {
        name: "look-up",
        file: "look-up",
        of: Written::Text(LOOK_UP),
    }];
    let flow = load_with(Written::Text(MAIN), "main", Known::default(), &others).unwrap();
    insta::assert_snapshot!(mermaid(&flow), @r#"
flowchart TD
  start([start])
  both{{"at once: both"}}
  start --> both
  both_join{{"join at least 1"}}
  l["set found"]
  both -- "left, when true" --> l
  l --> both_join
  r["set found"]
  both -- "right" --> r
  r --> both_join
  subgraph each["each: each of state.found"]
    each_item(("item"))
    again["set found"]
    each_item --> again
  end
  both_join --> each_item
  each_join{{"join all"}}
  again --> each_join
  chosen{"a chooses: chosen"}
  each_join --> chosen
  bye_say["say: bye.say"]
  chosen -- "x" --> bye_say
  bye_end(["complete"])
  bye_say --> bye_end
  forget["clear found"]
  chosen -- "y" --> forget
  once[["once: the flow look-up"]]
  forget --> once
  twice[["twice: the flow look-up"]]
  once --> twice
  finish(["end"])
  twice --> finish
  subgraph flow_look_up["the flow look-up"]
    look_up__begin([start])
    look_up__start["say: start"]
    look_up__begin --> look_up__start
    look_up__stop(["complete"])
    look_up__start --> look_up__stop
  end
  once -.-> look_up__begin
  twice -.-> look_up__begin
"#);
}
