use super::fold::worked_ms;
use agentctl_base::question::Outcome;
use agentctl_engine::store::{Event, Journal, event::JOURNAL_VERSION};
use serde_json::Map;

/// Two activations with a day between them: only the work counts.
#[test]
fn waiting_between_activations_is_no_work() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.jsonl");
    let mut journal = Journal::create(&path).unwrap();
    let activation = |activation| Event::ActivationStarted {
        activation,
        kind: "start".into(),
        pid: 1,
        means: None,
    };
    let ended = |activation| Event::ActivationEnded {
        activation,
        outcome: Outcome::Waiting,
    };
    let begun = Event::RunStarted {
        journal_version: JOURNAL_VERSION,
        agentctl_version: "0".into(),
        run_id: "r".into(),
        flow: "f".into(),
        pack_hash: "p".into(),
        input: Map::new(),
    };
    for (second, event) in [
        (0, begun),
        (0, activation(1)),
        (7, ended(1)),
        (86_400, activation(2)),
        (86_403, ended(2)),
    ] {
        let at = jiff::Timestamp::from_second(second).unwrap();
        journal.append(at, event, false).unwrap();
    }
    assert_eq!(worked_ms(&Journal::read(&path).unwrap()), 10_000);
}
