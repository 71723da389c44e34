//! A conversation that outgrows its model: old results give way, twice at most, and a resumed run asks what it asked before.

use crate::support::{Seen, Shop, calls, creation, good, request, says};
use agentctl_base::{
    model::{ModelAnswer, Room},
    question::Outcome,
};
use agentctl_engine::store::Event;
use serde_json::{Value, json};
use std::fs;

/// The maker changes and reads its workflow again and again; everybody else does well.
fn reader(seen: &Seen<'_>) -> ModelAnswer {
    if seen.task() != "make" {
        return good(seen);
    }
    let results = seen.results();
    let Some((_, _, made)) = results.first() else {
        return calls(&[("create_workflow", creation("Orders"))]);
    };
    let id = &made["id"];
    if results.len() > 16 {
        return says(json!({"workflow": {"id": id}}));
    }
    let note = format!("{} {}", results.len(), "long ".repeat(400));
    calls(&[
        (
            "update_workflow",
            json!({"workflow_id": id, "ops": [
                {"op": "set_parameter", "node": "Tell", "pointer": "/note", "value": note}
            ]}),
        ),
        ("get_workflow", json!({"workflow_id": id})),
    ])
}

fn compacted(events: &[Event]) -> Vec<(u32, Vec<String>, u64, u64)> {
    let made = events.iter().filter_map(|event| match event {
        Event::ConversationCompacted {
            step,
            agent,
            turn,
            calls,
            tokens_before,
            tokens_after,
        } => {
            assert_eq!((step.as_str(), agent.as_str()), ("make", "maker"));
            Some((*turn, calls.clone(), *tokens_before, *tokens_after))
        }
        _ => None,
    });
    made.collect()
}

fn hashes(events: &[Event]) -> Vec<(String, u32, String)> {
    let asked = events.iter().filter_map(|event| match event {
        Event::ModelAsked {
            step,
            turn,
            request_hash,
            ..
        } => Some((step.clone(), *turn, request_hash.clone())),
        _ => None,
    });
    asked.collect()
}

#[test]
fn old_results_give_way_twice_and_no_more_and_stand_whole_in_a_file() {
    let mut shop = Shop::new(reader).with_room(Room::Tokens(2_500), reader);
    let report = shop.start(request("orders")).unwrap();
    assert_eq!(report.outcome, Outcome::Complete, "{report:?}");
    let events = shop.journal();
    let made = compacted(&events);
    assert_eq!(made.len(), 2, "{made:?}");
    for (_, calls, before, after) in &made {
        assert!(
            !calls.is_empty() && *before > 2_500 && after < before,
            "{made:?}"
        );
    }
    assert_eq!(shop.watched.events, events);

    let file = fs::read_dir(shop.dir.path().join("memory/agent_results"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.to_string_lossy().contains("tool_results"))
        .unwrap();
    let stored: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let last = shop.asked.lock().unwrap();
    let last = last.iter().rfind(|r| r.task.task == "make").unwrap();
    let seen = Seen { request: last };
    let short: Vec<&Value> = seen
        .results()
        .into_iter()
        .map(|(_, _, content)| content)
        .filter(|content| content["stored"] == "agent_results")
        .collect();
    let all: Vec<&String> = made.iter().flat_map(|(_, calls, _, _)| calls).collect();
    assert_eq!(short.len(), all.len());
    for (call, short) in all.iter().zip(short) {
        let whole = &stored["tool_results"]["make"][call.as_str()]["content"];
        assert_eq!(
            whole.to_string().len() as u64,
            short["bytes"].as_u64().unwrap(),
            "{call}"
        );
    }
}

#[test]
fn without_a_limit_nothing_is_shortened() {
    let mut shop = Shop::new(reader);
    shop.start(request("orders")).unwrap();
    assert_eq!(compacted(&shop.journal()), vec![]);
}

/// Cut after every event of the step, with another limit by then: what was asked is asked again as it was.
#[test]
fn a_resumed_run_has_the_same_conversation() {
    let mut whole = Shop::new(reader).with_room(Room::Tokens(2_500), reader);
    let report = whole.start(request("orders")).unwrap();
    let events = whole.journal();
    let before = hashes(&events);
    let compactions = compacted(&events);
    let journal = whole.project.run(&report.run_id).unwrap().journal();
    let text = fs::read_to_string(journal).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let asked: Vec<usize> = (0..events.len())
        .filter(|at| matches!(&events[*at], Event::ModelAsked { step, .. } if step == "make"))
        .collect();
    for cut in asked {
        // The world as it is after the whole run: reads differ from here on, so only this turn is compared.
        let dir = tempfile::tempdir().unwrap();
        let mut shop = Shop::at(dir, reader).failing_at(1, reader);
        let path = shop.project.run(&report.run_id).unwrap().journal();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, lines[..cut].concat()).unwrap();
        shop.resume(Some(&report.run_id)).unwrap_err();
        let again = hashes(&shop.journal_of(&report.run_id));
        assert_eq!(again, before[..again.len()], "cut after {cut}");
        let kept: Vec<_> = compacted(&shop.journal_of(&report.run_id));
        assert_eq!(kept, compactions[..kept.len()], "cut after {cut}");
    }
}
