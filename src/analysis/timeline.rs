//! What happened, in order: what says something to a person.

use agentctl_base::counted::counted;
use agentctl_base::model::ToolStatus;
use agentctl_engine::view::{Point, Returned, RunView};
use serde::Serialize;
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Moment {
    pub event: u64,
    /// UTC, RFC 3339.
    pub at: String,
    pub text: String,
}

pub(super) fn of(run: &RunView) -> Vec<Moment> {
    let mut moments = course(run);
    for asked in &run.questions {
        moments.push(at(&asked.at, format!("asked: {}", asked.question.text)));
        if let (Some(point), Some((value, _))) = (&asked.answered, &asked.answer) {
            let text = format!("answered {}: {value}", asked.question.id);
            moments.push(at(point, text));
        }
    }
    let in_full = run.stages.is_empty();
    for (_, returned) in run.returned() {
        moments.extend(result(returned, in_full).map(|text| at(&returned.at, text)));
    }
    for said in &run.said {
        let first = said.text.trim().lines().next().unwrap_or_default();
        moments.push(at(&said.at, format!("said: {first}")));
    }
    for refused in &run.refused {
        let text = format!("answer refused: {} ({})", refused.field, refused.rule);
        moments.push(at(&refused.at, text));
    }
    for failed in &run.failed {
        let text = format!("{} failed: {}", failed.step, failed.error);
        moments.push(at(&failed.at, text));
    }
    for undone in &run.put_back {
        let text = format!("{} was put back", undone.resource);
        moments.push(at(&undone.at, text));
    }
    moments.sort_by_key(|moment| moment.event);
    moments
}

fn at(point: &Point, text: String) -> Moment {
    Moment {
        event: point.seq,
        at: point.at.clone(),
        text,
    }
}

/// The run's beginning and end, and what it went through.
fn course(run: &RunView) -> Vec<Moment> {
    let begun = run
        .begun
        .iter()
        .map(|point| at(point, "the run began".to_owned()));
    let later = run.activations.iter().filter(|began| began.number > 1);
    let later = later.map(|began| at(&began.at, format!("went on ({})", began.kind)));
    let stages = run.stages.iter();
    let stages = stages.map(|change| at(&change.at, format!("stage {}", change.to)));
    let pinned = run.pinned.iter().map(|pinned| {
        let text = format!(
            "the tools of other servers were settled by the {}",
            pinned.by
        );
        at(&pinned.at, text)
    });
    let stopped = run.stopped.iter();
    let stopped = stopped.map(|stop| at(&stop.at, format!("it stopped: {}", stop.reason)));
    let ended = run.ended.iter();
    let ended = ended.map(|end| at(&end.at, ended_with(&end.message)));
    begun
        .chain(later)
        .chain(stages)
        .chain(pinned)
        .chain(stopped)
        .chain(ended)
        .collect()
}

fn ended_with(message: &str) -> String {
    match message {
        "" => "the run ended".to_owned(),
        message => format!("the run ended: {message}"),
    }
}

/// `in_full`: nothing else tells how far the run is.
fn result(returned: &Returned, in_full: bool) -> Option<String> {
    let result = &returned.result;
    let number = |key: &str| result.content.get(key).and_then(Value::as_u64);
    Some(match (result.status, &returned.change) {
        (ToolStatus::Refused, _) => {
            let rule = result.content.get("rule").and_then(Value::as_str);
            format!("{} refused by {}", result.name, rule.unwrap_or("a rule"))
        }
        (ToolStatus::Ok, Some(change)) => {
            format!("{} changed {}", result.name, change.id())
        }
        (ToolStatus::Ok, None) if result.name == "validate_workflow" => {
            format!(
                "check: {}",
                counted(number("error_count").unwrap_or(0), "error")
            )
        }
        (ToolStatus::Failed | ToolStatus::Unknown, _) => format!("{} failed", result.name),
        (ToolStatus::Ok, None) if in_full => format!("{} answered", result.name),
        _ => return None,
    })
}
