use super::{Flow, Known, load};

const GOOD: &str = "\
name: t
stages: [one, two]
blocked: stuck
fields:
  note: {kind: object, writers: [a, program]}
  list: {kind: append, writers: [a]}
steps:
  - id: first
    stage: one
    agent: a
    task: t
    instructions: do it
    writes: [note]
    contract: {type: object, properties: {note: {type: object}}}
";

fn read(text: &str) -> Result<Flow, Vec<String>> {
    let agents = ["a".to_owned(), "writer".to_owned()];
    let vocabulary = crate::vocabulary::fixture::vocabulary();
    let known = Known {
        agents: Some(&agents),
        vocabulary: Some(&vocabulary),
        data: None,
    };
    load(text, "flow.yaml", known)
        .map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

#[test]
fn a_good_flow_loads() {
    let flow = read(GOOD).unwrap();
    assert_eq!(
        (flow.name.as_str(), flow.steps.len(), flow.limits.max_cycles),
        ("t", 1, 3)
    );
}

#[test]
fn every_mistake_is_reported_in_one_pass_with_its_place() {
    let text = "\
name: t
stages: [one, two, three, one]
blocked: three
colour: red
failures: note
fields:
  note: {kind: object, writers: [nobody]}
  pile: {kind: heap, writers: [a]}
  bad: {kind: scalar, writers: [a], schema: {type: strin}}
steps:
  - id: first
    stage: two
    agent: writr
    task: t
    instructions: x
    reads: [nota]
    writes: [note]
    contract: {type: object}
  - id: first
    stage: one
    gate: \"state.nota == 1\"
    otherwise: {leave: nowhere}
  - id: second
    when: \"1 +\"
    set: {note: steps.third.output}
  - id: round
    loop:
      - id: ask
        ask: {from: stat.x}
  - id: both
    tool: get_ite
    agent: a
  - id: tool
    tool: get_ite
    role: b
";
    let found = read(text).unwrap_err();
    let expected = [
        ("flow.yaml:2:", "listed twice"),
        ("flow.yaml:3:", "must not be one of `stages`"),
        ("flow.yaml:4:", "unknown key \"colour\""),
        ("flow.yaml:5:", "kind append"),
        ("flow.yaml:7:", "no agent \"nobody\""),
        ("flow.yaml:8:", "kind must be"),
        ("flow.yaml:9:", "not a JSON Schema"),
        (
            "flow.yaml:13:",
            "no agent \"writr\"; did you mean \"writer\"?",
        ),
        ("flow.yaml:16:", "no field \"nota\"; did you mean \"note\"?"),
        ("flow.yaml:17:", "writr is no writer of \"note\""),
        ("flow.yaml:18:", "its contract has no such property"),
        ("flow.yaml:19:", "used twice (first in line 11)"),
        ("flow.yaml:20:", "a stage only moves forward"),
        ("flow.yaml:21:", "unknown field \"nota\""),
        ("flow.yaml:22:", "no loop around this gate"),
        ("flow.yaml:24:", "is not valid"),
        ("flow.yaml:25:", "has no writer \"program\""),
        ("flow.yaml:25:", "unknown step \"third\""),
        ("flow.yaml:26:", "has no \"max\""),
        ("flow.yaml:29:", "unknown variable `stat`"),
        ("flow.yaml:32:", "two kinds"),
        (
            "flow.yaml:34:",
            "no tool \"get_ite\"; did you mean \"get_item\"?",
        ),
        ("flow.yaml:35:", "no agent \"b\""),
    ];
    for (place, part) in expected {
        assert!(
            found
                .iter()
                .any(|f| f.starts_with(place) && f.contains(part)),
            "{place} {part} in\n{}",
            found.join("\n")
        );
    }
    assert_eq!(found.len(), expected.len(), "{}", found.join("\n"));
}

#[test]
fn a_step_that_is_retired_is_gone() {
    for (retired, told) in [
        (
            "[s]",
            "flow.yaml:3:11: there is a step \"s\" (line 5): one that is retired is gone",
        ),
        (
            "[a, a]",
            "flow.yaml:3:14: there is a step \"a\" (line 3): one that is retired is gone",
        ),
        (
            "a",
            "flow.yaml:3:10: `retired` must be a list of the ids of steps that the flow has no more",
        ),
        (
            "[A]",
            "flow.yaml:3:11: \"A\" is no name for a step: use a-z, 0-9, _ and -, a letter first",
        ),
    ] {
        let text = format!(
            "name: t\nfields: {{n: {{kind: scalar, writers: [program]}}}}\nretired: {retired}\nsteps:\n  - {{id: s, set: {{n: '1'}}}}\n"
        );
        assert_eq!(read(&text).unwrap_err(), [told]);
    }
    let text = "name: t\nfields: {n: {kind: scalar, writers: [program]}}\nretired: [gone]\nsteps:\n  - {id: s, set: {n: 'steps.gone.status'}}\n";
    let told = read(text).unwrap_err();
    assert!(told[0].contains("unknown step \"gone\""), "{told:?}");
}

#[test]
fn a_flow_without_its_parts_says_what_is_missing() {
    let found = read("colour: red\n").unwrap_err().join("\n");
    for part in ["\"name\"", "\"steps\""] {
        assert!(found.contains(part), "{part} in {found}");
    }
    assert!(read("- a\n").unwrap_err()[0].contains("must be a map"));
    assert!(read("a: [").unwrap_err()[0].starts_with("flow.yaml:"));
}

#[test]
fn routes_have_named_cases_and_one_else_at_the_end() {
    let route = |cases: &str| read(&format!("{GOOD}  - id: way\n    route:\n{cases}"));
    assert!(route("      - {case: x, when: 'true'}\n      - {case: y, else: true}\n").is_ok());
    let wrong = route("      - {case: y, else: true}\n      - {case: y}\n")
        .unwrap_err()
        .join("\n");
    for part in ["must be the last one", "stands twice", "needs `when`"] {
        assert!(wrong.contains(part), "{part} in {wrong}");
    }
}
