//! The post-mortem of a run with other tools than n8n's: the journal of a blocked run with the to-do lists of the engine's own tests.

use agentctl::analysis::{Kind, analyze, markdown};
use agentctl_base::question::Outcome;
use agentctl_engine::flow::{Flow, Known, load};
use agentctl_engine::store::Record;

const JOURNAL: &str = include_str!("../../crates/engine/tests/to_do/blocked.jsonl");
const FLOW: &str = include_str!("../../crates/engine/tests/to_do/pack/agents/flow.yaml");

/// What its fields mean; the function that its tools bring is not known here.
fn flow() -> Flow {
    let plain = FLOW.replace("open_items(steps.review.tools.check_list.items)", "[]");
    load(&plain, "flow.yaml", Known::default()).unwrap()
}

#[test]
fn the_post_mortem_reads_the_cause_and_the_lessons_where_the_flow_says() {
    let records = JOURNAL.lines().map(serde_json::from_str);
    let records: Vec<Record> = records.collect::<Result<_, _>>().unwrap();
    let analysis = analyze(&records, &flow(), "2027-01-15");
    assert_eq!(analysis.outcome, Some(Outcome::Blocked));
    assert_eq!(analysis.asked.request, "the house");
    let cause = analysis.root_cause.as_ref().unwrap();
    assert_eq!(cause.kind, Kind::Failed);
    assert!(
        cause.summary.contains("1 item(s) that nobody does"),
        "{}",
        cause.summary
    );
    // A sentence without evidence is dropped, with whatever tools the run was made.
    let word = analysis.word.as_ref().unwrap();
    assert_eq!(word.agent, "planner");
    assert_eq!(word.evidence, ["event 27 names the item that nobody does"]);
    assert_eq!(word.dropped, 1);
    let [lesson] = analysis.proposals.as_slice() else {
        panic!("{:?}", analysis.proposals)
    };
    assert_eq!(
        (lesson.by.as_str(), lesson.title.as_str()),
        ("planner", "Name an owner")
    );
    assert_eq!(lesson.evidence.events, [58]);
    let text = markdown(&analysis);
    for line in [
        "planner (event 58): nobody wants to cook",
        "create_list changed chores",
    ] {
        assert!(text.contains(line), "{text}");
    }
}
