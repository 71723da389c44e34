//! Long journals and many runs, written like real ones: for tests of what must not grow with them, and for its measurement.

use crate::store::event::{Event, JOURNAL_VERSION, StepPath};
use crate::store::{Journal, Project, Record};
use agentctl_base::decision::Decision;
use agentctl_base::model::{ModelAnswer, ToolCall, ToolResult, ToolStatus, Usage};
use serde_json::json;

/// Whose processor time is told.
#[derive(Debug, Clone, Copy)]
pub enum Of {
    /// This process.
    Own,
    /// Its children that have ended.
    Children,
}

/// The processor time that was used so far, in ms; a tick of Linux's clock is 10 of them.
pub fn processor(of: Of) -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields = stat.rsplit_once(')').unwrap().1.split_whitespace();
    let first = match of {
        Of::Own => 11,
        Of::Children => 13,
    };
    let ticks = fields.skip(first).take(2);
    ticks.map(|ticks| ticks.parse::<u64>().unwrap() * 10).sum()
}

/// Writes the journal of run `run_id`: these records, as if they were that run's own and made in the project's turn `order`. In the
/// first step of an agent that has a patch, `turns` more turns of the model come before it: four records each, half a kilobyte
/// a record.
pub fn write_run(project: &Project, records: &[Record], run_id: &str, order: u64, turns: u64) {
    let path = project.run(run_id).unwrap().journal();
    let journal = Journal::create_on(project.disk().clone(), &path).unwrap();
    let mut journal = journal.marked(project.marks(run_id));
    let mut turns = 0..turns;
    for Record { at, event, .. } in records {
        let at = at.parse().unwrap();
        if let Event::StatePatched { step, agent, .. } = event
            && agent != "program"
        {
            for event in turns.by_ref().flat_map(|turn| of_turn(step, agent, turn)) {
                journal.append(at, event, false).unwrap();
            }
        }
        journal
            .append(at, as_of(event, run_id, order), false)
            .unwrap();
    }
    journal.sync().unwrap();
}

fn as_of(event: &Event, run: &str, turn: u64) -> Event {
    let mut event = event.clone();
    match &mut event {
        Event::RunStarted { run_id, .. } => run.clone_into(run_id),
        Event::ActivationStarted { order, .. } => *order = Some(turn),
        _ => {}
    }
    event
}

/// The first event of a run's journal.
pub fn begun(run_id: &str) -> Event {
    Event::RunStarted {
        journal_version: JOURNAL_VERSION,
        agentctl_version: "1".into(),
        run_id: run_id.into(),
        flow: "f".into(),
        pack_hash: "p".into(),
        input: serde_json::Map::new(),
    }
}

/// A model that reads once more.
pub fn of_turn(step: &StepPath, role: &str, turn: u64) -> [Event; 4] {
    let (step, role) = (step.clone(), role.to_owned());
    let call = ToolCall {
        id: format!("more-{turn}"),
        name: "read_list".to_owned(),
        arguments: json!({"list_id": "chores", "page": turn, "of": "x".repeat(200)}).to_string(),
    };
    let asked = u32::try_from(turn).unwrap_or(u32::MAX).saturating_add(1000);
    [
        Event::ModelAsked {
            step: step.clone(),
            turn: asked,
            model: "test".to_owned(),
            request_hash: format!("{turn:064x}"),
        },
        Event::ModelAnswered {
            step: step.clone(),
            turn: asked,
            answer: ModelAnswer {
                text: String::new(),
                tool_calls: vec![call.clone()],
                finish: Default::default(),
                usage: Usage::default(),
            }.into(),
        },
        Event::ToolIntent {
            step: step.clone(),
            role: role.clone(),
            call: call.clone().into(),
            decision: Decision::Allow {
                rule: "role.test".to_owned(),
            },
            mutates: false,
            expect: None,
            carries: None,
        },
        Event::ToolFinished {
            step,
            role,
            result: ToolResult {
                call_id: call.id,
                name: call.name,
                status: ToolStatus::Ok,
                content: json!({"page": turn, "items": ["sweep", "cook", "y".repeat(180)], "more": true}),
            }.into(),
            change: None,
        },
    ]
}
