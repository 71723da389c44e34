//! States of flows that call flows, against a model that knows no paths and no frames: any program of sets, conditions and calls comes to
//! what plain recursion comes to, and so does one that is cut off anywhere.

use super::fixture::{drive, say, started};
use super::{Flow, FlowFile, Known, RunLog, Written, load_with};
use crate::store::event::Event;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

#[derive(Debug, Clone, Copy)]
enum Op {
    /// `v` becomes the input with this behind it.
    Set(u8),
    /// `l` gets what is in `v`.
    Append,
    /// The same, while `l` has an even number of items.
    AppendIfEven,
    /// The next flow, with another input; its `l` and `v` go into `l`.
    Call(u8),
}

const NAMES: [&str; 3] = ["main", "middle", "inner"];

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        (0..10u8).prop_map(Op::Set),
        Just(Op::Append),
        Just(Op::AppendIfEven),
        (0..10u8).prop_map(Op::Call),
    ]
}

/// A program: the steps of three flows, of which each calls the next one.
fn program() -> impl Strategy<Value = [Vec<Op>; 3]> {
    let steps = || proptest::collection::vec(op(), 1..5);
    [steps(), steps(), steps()]
}

fn text(program: &[Vec<Op>; 3], n: usize) -> String {
    let mut text = format!(
        "name: {}\nfields: {{v: {{kind: value, writers: [program], default: d}}, l: {{kind: append, writers: [program]}}}}\noutput: {{value: \"{{'l': state.l, 'v': state.v}}\"}}\nsteps:\n",
        NAMES[n]
    );
    for (op, at) in program[n].iter().zip(0..) {
        let step = match op {
            Op::Set(k) => format!("set: {{v: \"input.n + '{k}'\"}}"),
            Op::Append => "set: {l: '[state.v]'}".to_owned(),
            Op::AppendIfEven => "when: size(state.l) % 2 == 0, set: {l: '[state.v]'}".to_owned(),
            // The last one calls nothing.
            Op::Call(_) if n == 2 => "set: {l: '[input.n]'}".to_owned(),
            Op::Call(k) => format!(
                "call: {}, with: {{n: \"input.n + '.{k}'\"}}, take: {{l: 'output.l + [output.v]'}}",
                NAMES[n + 1]
            ),
        };
        writeln!(text, "  - {{id: s{at}, {step}}}").unwrap();
    }
    text
}

fn flow(program: &[Vec<Op>; 3]) -> Flow {
    let texts: Vec<String> = (0..3).map(|n| text(program, n)).collect();
    let others: Vec<FlowFile<'_>> = (1..3)
        .map(|n| FlowFile {
            name: NAMES[n],
            file: NAMES[n],
            of: Written::Text(&texts[n]),
        })
        .collect();
    let read = load_with(Written::Text(&texts[0]), "main", Known::default(), &others);
    read.unwrap_or_else(|problems| panic!("{problems:#?}\n{texts:#?}"))
}

/// What `v` and `l` come to.
fn model(program: &[Vec<Op>; 3], n: usize, input: &str) -> (String, Vec<String>) {
    let (mut v, mut l) = ("d".to_owned(), Vec::new());
    for op in &program[n] {
        match op {
            Op::Set(k) => v = format!("{input}{k}"),
            Op::AppendIfEven if l.len() % 2 == 1 => {}
            Op::Append | Op::AppendIfEven => l.push(v.clone()),
            Op::Call(_) if n == 2 => l.push(input.to_owned()),
            Op::Call(k) => {
                let (inner_v, inner_l) = model(program, n + 1, &format!("{input}.{k}"));
                l.extend(inner_l);
                l.push(inner_v);
            }
        }
    }
    (v, l)
}

fn run(flow: &Flow, events: &[Event]) -> Vec<Event> {
    let nobody = |_: &str, _: &str, _: &Map<String, Value>| say(json!({}));
    drive(flow, events, &nobody, &|_| None, 2000).events
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn calls_come_to_what_recursion_comes_to(program in program(), cut in any::<prop::sample::Index>()) {
        let flow = flow(&program);
        let whole = run(&flow, &[started(json!({"n": "i"}))]);
        let log = RunLog::fold(&flow, &whole).unwrap();
        let (v, l) = model(&program, 0, "i");
        prop_assert_eq!(log.state().get("v").cloned().unwrap_or_default(), json!(v));
        prop_assert_eq!(log.state().get("l").cloned().unwrap_or_else(|| json!([])), json!(l));
        // Each call keeps the state that it came to, and its input.
        for (op, at) in program[0].iter().zip(0..) {
            if let Op::Call(k) = op {
                let (v, _) = model(&program, 1, &format!("i.{k}"));
                let state = log.state_at(&format!("s{at}/s0"));
                prop_assert_eq!(state.get("v").cloned().unwrap_or_default(), json!(v));
            }
        }
        let so_far = 1 + cut.index(whole.len());
        prop_assert_eq!(run(&flow, &whole[..so_far]), whole);
    }
}
